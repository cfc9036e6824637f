"""Checks of lines against the film: pace (T3), dialogue and subtitles (L10, L12), text on the screen (L11);
and of their sentences: L1 on what was taken apart, and L6, a pronoun with an unclear antecedent.

L1: what is told of as past or to come, and what is done to somebody. A main verb counts: what was, in a
clause that only says which or when, does not (``the man who stole it``).
"""

from __future__ import annotations

import importlib.util
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache
from itertools import accumulate, pairwise
from typing import Generic, TypeVar

from shotad.core import (
    STARTERS,
    Interval,
    LintSettings,
    TextFact,
    Utterance,
    at_hand,
    is_english,
    quoted,
    time_range,
)
from shotad.script.cast_members import listed_as
from shotad.script.cue import count_words
from shotad.script.english_words import (
    BASES,
    FUNCTION_WORDS,
    NO_ARTICLE,
    OWNED,
    THIRD,
    listed,
    listed_in,
    pasts,
)
from shotad.script.guidelines import Material, TrackLine
from shotad.script.line_mentions import Mention, NameToken, book_of, mentions, tokens_of
from shotad.script.names import people_named
from shotad.script.pace import tempo, usual_words
from shotad.script.parsing import Parse, Parser, ParserModel, find_parser
from shotad.script.rules import Finding, Level, Limits, quotations, too_fast, unquoted


def check_pace(line: TrackLine, limits: Limits) -> Iterator[Finding]:
    """T3 for the line as it is heard, or as it would have to be spoken in its time."""
    is_spoken = line.voiced is not None and line.voiced.interval is not None
    words = usual_words(line.said, line.language)
    if not is_spoken and is_english(line.language):
        # Its time was planned by counting words, and a voice may need more or less for them.
        words = min(words, count_words(line.said))
    what = "spoken at " if is_spoken else "would have to be spoken at "
    return too_fast(tempo(words, line.heard.duration), limits, what)


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_RUN = 4
"""Words in a row that a line and what is spoken have in common by chance only where few of them mean much."""
_FEWEST = 3
"""Words of a line that is said as a whole, at least."""
_MEANING = 2
"""How many of them must mean something."""


def check_dialogue(line: TrackLine, speech: Sequence[Utterance], window: float) -> Iterator[Finding]:
    """L10: ``line`` has four words in a row, two of them no small ones, that somebody says within ``window``
    seconds before or after it. Utterances without words say nothing."""
    near = [u.text for u in speech if u.text and _apart(u.interval, line.heard) <= window]
    return _repeated(line, near, "L10", Level.WARNING, "is said in the dialogue too")


def check_subtitles(line: TrackLine, texts: Sequence[TextFact], window: float) -> Iterator[Finding]:
    """L12: as L10, of subtitles that stand in the picture within ``window`` seconds of the line."""
    near = [t.text for t in texts if t.kind == "subtitle" and _apart(_shown(t), line.heard) <= window]
    return _repeated(line, near, "L12", Level.ERROR, "stands in the subtitles of the picture")


def _shown(text: TextFact) -> Interval:
    return Interval(text.first, max(text.last, text.first + 0.001))


def _apart(one: Interval, other: Interval) -> float:
    """Seconds between two times; 0 where they touch or overlap."""
    return max(0.0, one.start - other.end, other.start - one.end)


def _repeated(line: TrackLine, heard: Sequence[str], rule: str, level: Level, what: str) -> Iterator[Finding]:
    """The longest run of words that a line shares with one of ``heard``, the earliest of equals.

    A line of three words must be said as a whole; shorter ones are let pass.
    """
    ours = list(_WORD.finditer(line.text))
    keys = [_key(match[0]) for match in ours]
    spans: list[tuple[int, int]] = []
    for one in heard:
        theirs = [_key(word) for word in _WORD.findall(one)]
        run = SequenceMatcher(None, keys, theirs, autojunk=False).find_longest_match()
        first, last = run.a, run.a + run.size
        meaning = sum(key not in FUNCTION_WORDS for key in keys[first:last])
        whole = last - first == len(keys) >= _FEWEST and meaning > 0
        if whole or (last - first >= _RUN and meaning >= _MEANING):
            spans.append((ours[first].start(), ours[last - 1].end()))
    span = max(spans, key=lambda span: (span[1] - span[0], -span[0]), default=None)
    if span is not None:
        yield Finding(rule, level, f"{what}: {quoted(line.text[slice(*span)])}", span=span)


def _key(word: str) -> str:
    return word.lower().replace("’", "'")


_SURE = 0.8
"""How sure a reading must be: a sign that is none would be asked for in vain."""
_ENOUGH = 0.5
"""Share of the words of a text that must be heard."""
_ALL_OF = 2
"""Words of a text of which all must be heard: one of two is soon said by chance."""
_AT_MOST = 6
"""Words of a long text, a letter or a newspaper, of which half must be heard: not more is asked for."""
_ALIKE = 0.8
"""How alike two texts must be to be one: letters are misread."""
_ALIKE_WORDS = 0.75
"""The same for two words: one letter of four."""
_SAME = 30.0
"""Seconds within which a text that is shown again is the same."""

WINDOW = 20.0
"""Seconds before and after a text is shown within which it is read out."""


def check_texts(material: Material) -> Iterator[Finding]:
    """L11 for titles, captions and text that fills the picture, of which no line and nobody in the film says
    half the words, from `WINDOW` seconds before they are shown to `WINDOW` after. Credits, subtitles, other
    lettering in the scene and doubtful readings are left out."""
    # Each text once, however many clips show it, from where it is first to where it is last seen.
    once: list[TextFact] = []
    counted = filter(_counts, material.texts or ())
    for text in sorted(counted, key=lambda text: (text.first, text.text)):
        for i, known in enumerate(once):
            if text.first - known.last <= _SAME and _like(known.text.lower(), text.text.lower()):
                once[i] = replace(known, last=max(known.last, text.last))
                break
        else:
            once.append(text)
    for text in once:
        shown = _shown(text)
        around = Interval(shown.start - WINDOW, shown.end + WINDOW)
        heard = [line.said for line in material.lines if line.heard.overlaps(around)]
        heard += [spoken.text for spoken in material.speech or () if spoken.interval.overlaps(around)]
        if not _is_read(text.text, " ".join(heard)):
            short = text.text if len(text.text) <= 60 else f"{text.text[:59].rstrip()}…"
            what = f"{text.kind} that nobody reads out ({time_range(shown)}): {quoted(short)}"
            yield Finding("L11", Level.WARNING, what, when=shown)


def read_from(line: TrackLine, texts: Sequence[TextFact]) -> float | None:
    """The second from which the words that a line reads out stand on the screen nearby; None where it reads
    none, or they were not found there."""
    quoted = " ".join(line.text[start:end] for start, end in quotations(line.text))
    read = (text for text in texts if _counts(text) and _is_read(text.text, quoted)) if quoted else ()
    return min((t.first for t in read if abs(t.first - line.heard.start) <= _SAME), default=None)


def _counts(text: TextFact) -> bool:
    letters = sum(character.isalpha() for character in text.text)
    return text.is_for_viewers and text.sure >= _SURE and letters >= 3


def _is_read(text: str, heard: str) -> bool:
    wanted, said = _words(text), set(_words(heard))
    if not wanted:
        return True
    found = sum(word in said or any(_like(word, other, _ALIKE_WORDS) for other in said) for word in wanted)
    few = len(wanted) <= _ALL_OF
    return found >= (len(wanted) if few else _ENOUGH * min(len(wanted), 2 * _AT_MOST))


def _words(text: str) -> list[str]:
    """Its words, each once, without the small ones (a letter or two, ``the``) unless there are no others."""
    words = list(dict.fromkeys(match.lower() for match in _WORD.findall(text)))
    return [word for word in words if len(word) > 2 and word not in FUNCTION_WORDS] or words


def _like(one: str, other: str, alike: float = _ALIKE) -> bool:
    return one == other or SequenceMatcher(None, one, other, autojunk=False).ratio() >= alike


Item = TypeVar("Item")


class IntervalIndex(Generic[Item]):
    """``items`` in order of their starts, by ``when`` each is; those that begin together stay in order."""

    def __init__(self, items: Iterable[Item], when: Callable[[Item], Interval]) -> None:
        self.items = sorted(items, key=lambda item: when(item).start)
        times = [when(item) for item in self.items]
        self._starts = [time.start for time in times]
        self._ends = list(accumulate((time.end for time in times), max))
        """The latest end so far."""

    def near(self, time: Interval, window: float = 0.0) -> list[Item]:
        """All items that lie within ``window`` seconds of ``time`` or touch that, and perhaps shorter ones
        between them that do not."""
        first = bisect_left(self._ends, time.start - window)
        return self.items[first : bisect_right(self._starts, time.end + window)]


MODEL = "en_core_web_sm"
"""spaCy's model that tense, passive and persons are read with; benchmarks/lint.py holds it."""
_SUBJECTS = ("nsubj", "nsubjpass", "expl")
_ASIDE = ("relcl", "acl", "ccomp", "pcomp", "xcomp", "csubj", "parataxis")
"""Clauses that say which, or what somebody says: neither is what happens now."""
_BY_THE_WAY = (*_ASIDE, "advcl")
"""The same, with clauses that say when and why: what was counts in the main clause only."""
_CLEARLY_PAST = listed_in("past_forms")
"""Past forms that no participle has."""
_NOT_PAST = listed("re 'd ' s got")
"""Leftovers of cut words, and what is as often ``has got``."""
_SPEAKERS = listed("i we you")
_PASTS = frozenset(form for base in BASES for form in pasts(base) if form != base) | _CLEARLY_PAST
_MAY_BE = re.compile(r"\w+ed|had|did|was|were|been|will|shall|'ll|'d", re.IGNORECASE)
_ANY_WORD = re.compile(r"'?\w+")
_SIDE = re.compile(r"\b(?:the|his|her|its|their|far|to|right and) left\b", re.IGNORECASE)
"""Where, not what was done."""


class Read:
    """A line taken apart: ``places`` are the spans of its words, in characters."""

    def __init__(self, parse: Parse) -> None:
        ends = accumulate((len(token.text) + token.space for token in parse.tokens), initial=0)
        spans = zip(ends, parse.tokens, strict=False)
        self.parse, self.places = parse, tuple((at, at + len(token.text)) for at, token in spans)

    def merged(self, wording: Sequence[Finding], events: frozenset[str]) -> tuple[Finding, ...]:
        """Findings of the word lists, less those of L1 that lie in a clause aside, and L1 as the sentences
        have it; ``events`` are the verbs that are no states."""
        kept = [finding for finding in wording if finding.rule != "L1" or not self._is_aside(finding)]
        spans = [finding.span for finding in kept if finding.rule == "L1" and finding.span]
        more = [
            finding
            for finding in self._l1(events)
            if finding.span and not any(s < finding.span[1] and finding.span[0] < e for s, e in spans)
        ]
        return (*kept, *more)

    def _l1(self, events: frozenset[str]) -> Iterator[Finding]:
        """What is told of as past, then what as to come, then what is done to somebody."""
        tokens = self.parse.tokens
        for place, token in enumerate(tokens):
            if token.tag == "VBD" and self._is_main(place, _BY_THE_WAY) and self._tells(place):
                yield self._found(place, place, "not in the present tense")
        for place, token in enumerate(tokens):
            is_will = token.tag == "MD" and token.lemma in ("will", "shall") and token.dep == "aux"
            if is_will and token.text[0] not in "WS" and self._is_main(token.head, _BY_THE_WAY):
                below = (tokens[child] for child in self.parse.children[token.head])
                # A subject in the third person.
                if not _SPEAKERS.intersection(one.text.lower() for one in below if one.dep in _SUBJECTS):
                    yield self._found(place, token.head, "not in the present tense")
        for place, token in enumerate(tokens):
            done = tokens[token.head]
            is_passive = token.dep == "auxpass" and token.lemma in ("be", "get", "'s", "’s")
            is_event = done.tag == "VBN" and done.text.lower() in events
            if is_passive and is_event and self._is_main(token.head, _ASIDE):
                yield self._found(place, token.head, "passive")

    def _tells(self, place: int) -> bool:
        """Whether a form that was taken for the past is it: it has a subject before it, is no present form,
        and no participle (``his face pressed to the floor``)."""
        tokens, below = self.parse.tokens, self.parse.children
        token, kinds = tokens[place], {tokens[child].dep for child in below[place]}
        subject = next((c for c in below[place] if tokens[c].dep in _SUBJECTS and c < place), None)
        if token.dep == "aux":
            return token.text.lower() == "had" and tokens[token.head].tag == "VBN"
        if subject is None or token.text.lower() in (token.lemma, *_NOT_PAST) or kinds & {"aux", "auxpass"}:
            return False
        if token.text.lower() in _CLEARLY_PAST or "neg" in kinds:
            return True
        after = place + 2 if tokens[place + 1 : place + 2] and tokens[place + 1].tag == "RP" else place + 1
        if "agent" in kinds or [one.text.lower() for one in tokens[after : after + 1]] == ["by"]:
            return False
        owned = any(tokens[c].text.lower() in OWNED for c in below[subject])
        if kinds & {"dobj", "acomp", "attr"} and (token.dep == "ROOT" or not owned):
            return True
        bare = tokens[subject].tag in ("NN", "NNS") and not below[subject]
        behind = tokens[place - 1].text in (",", ";", "-", "–", "—")
        return not (owned or bare or behind or token.dep != "ROOT")

    def _is_main(self, place: int, aside: Sequence[str]) -> bool:
        """Whether a word stands in no clause aside."""
        tokens = self.parse.tokens
        while tokens[place].dep not in aside:
            if tokens[place].head == place:
                return True
            place = tokens[place].head
        return False

    def _is_aside(self, finding: Finding) -> bool:
        """Whether the verb of a finding stands in a clause aside."""
        start, end = finding.span or (0, 0)
        inside = [i for i, (s, e) in enumerate(self.places) if start <= s and e <= end]
        verbs = [i for i in inside if self.parse.tokens[i].pos in ("VERB", "AUX")]
        aside = _ASIDE if finding.message.startswith("passive") else _BY_THE_WAY
        return bool(verbs) and not any(self._is_main(i, aside) for i in verbs)

    def _found(self, one: int, other: int, what: str) -> Finding:
        first, last = sorted((one, other))
        words = self.parse.text(range(first, last + 1))
        span = (self.places[first][0], self.places[last][1])
        return Finding("L1", Level.WARNING, f"{what}: {quoted(words)}", span=span)


SentenceReader = Callable[[Sequence[TrackLine], frozenset[str]], Mapping[str, Read]]
"""Of lines, and the verbs that are no states: what those lines are made of that are English and may break
L1, by their ids; quotations are left out. Raises WeightsError for a model that does not load."""


def sentence_reader(model: ParserModel) -> SentenceReader:
    """Takes lines apart with spaCy, which is loaded at the first line that needs it."""
    parser = cache(lambda: Parser(model))

    def read(lines: Sequence[TrackLine], events: frozenset[str]) -> Mapping[str, Read]:
        texts = {line.id: unquoted(line.text) for line in lines if is_english(line.language)}
        chosen = {name: text for name, text in texts.items() if may_matter(text, events)}
        if not chosen:
            return {}
        parses = parser().of(list(chosen.values()))
        return {name: Read(parse) for name, parse in zip(chosen, parses, strict=True)}

    return read


def may_matter(text: str, events: frozenset[str]) -> bool:
    """Whether a parse can change what is found in a text: it has a form of the past or the future, or a
    verb of ``events``. Most lines of AD have none, and a track without any needs no parser."""
    words = (match[0].lower() for match in _ANY_WORD.finditer(_SIDE.sub(" ", text)))
    return any(word in _PASTS or word in events or _MAY_BE.fullmatch(word) for word in words)


def reader_for(settings: LintSettings) -> tuple[SentenceReader | None, str]:
    """Who takes sentences apart by these settings, and what to say where nobody can.

    With ``auto`` nothing is fetched: without spaCy and a model of it that is here, word lists have to do,
    and that is said. With ``spacy`` a model that is not here is fetched; raises ShotadError where it cannot
    be had.
    """
    if settings.parse == "words":
        return None, ""
    if settings.parse == "auto":
        if importlib.util.find_spec("spacy") is None:
            return None, _BY_ANY_WORDS.format("spaCy is not installed (pip install 'shotad[evaluate]')")
        if importlib.util.find_spec(MODEL) is None and not at_hand(MODEL.replace("_", "-")):
            return None, _BY_ANY_WORDS.format(
                f"the model {MODEL} is not here (--set lint.parse=spacy gets it)"
            )
    return sentence_reader(find_parser(MODEL)), ""


_BY_ANY_WORDS = "L1 used only word lists, which find less: {}."


_REACH_LINES = 3
_REACH_SECONDS = 90.0
"""How far back somebody may have been named, before the pronoun."""


def check_pronouns(lines: Sequence[TrackLine]) -> tuple[tuple[Finding, ...], ...]:
    """What is wrong with the pronouns of each of ``lines``, which follow each other in time.

    ``he`` and ``she`` need somebody who may be meant, ``they`` several people or things: in the same line,
    before or after (``As he runs, Tom …``), or in the last ones. A pronoun that is understood, or was
    complained of, carries on whom it means, so of a run of lines only the first is found. ``it`` is not
    looked at: it means too many things that are no people.
    """
    tokens = [tokens_of(line.text) for line in lines]
    book = book_of((), tokens)
    told: list[tuple[Interval, frozenset[str]]] = []
    found: list[tuple[Finding, ...]] = []
    for line, words in zip(lines, tokens, strict=True):
        there = mentions(words, (), book)
        more = _who_else(line.text, words)
        recent = (who for time, who in told[-_REACH_LINES:] if line.heard.start - time.end <= _REACH_SECONDS)
        others = [mention for mention in there if mention.kind != "pronoun"]
        named = more.union(_who(others, words), *recent)
        # The first use of each pronoun that has nobody.
        first: dict[str, Mention] = {}
        for mention in there:
            if mention.kind == "pronoun":
                first.setdefault(mention.pronoun, mention)
        unclear: list[Finding] = []
        for pronoun, mention in first.items():
            if pronoun not in named:
                start, end = words[mention.start].at, words[mention.end - 1].end
                what = f"pronoun with an unclear antecedent: {quoted(line.text[start:end])}"
                unclear.append(Finding("L6", Level.WARNING, what, span=(start, end)))
        found.append(tuple(unclear))
        told.append((line.heard, _who(there, words) | more))
    return tuple(found)


def _who_else(text: str, words: Sequence[NameToken]) -> frozenset[str]:
    """As `_who`, of animals, and of names that no list has: ``Dev holds up his hands``."""
    if any(token.key in _ANIMALS for token in words):
        return _ANY
    # The places of letters: a line may name hundreds of people.
    named = {place for start, end in people_named(text) for place in range(start, end)}
    keys = [token.key for token in words if token.at in named]
    for one, after in pairwise(words):
        # A word that may have its capital letter from the sentence it begins acts as people do.
        acts = one.possessive or (after.key in THIRD and not after.gap.strip())
        if one.text[0].isupper() and acts and one.key not in _NO_NAMES:
            keys.append(one.key)
    return frozenset[str]().union(*(_AS[listed_as(key)] for key in keys))


def _who(there: Sequence[Mention], words: Sequence[NameToken]) -> frozenset[str]:
    """The pronouns by which those mentioned may be spoken of: ``he``, ``she``, ``they``."""
    may: set[str] = set()
    for mention in there:
        if mention.kind == "pronoun" and mention.pronoun == "they":
            may |= _ANY
        elif mention.pronoun:
            may |= {mention.pronoun, "they"} if mention.kind != "pronoun" else {mention.pronoun}
        else:
            may |= _ANY
    # A word may name several things: ``cards``, ``two``. Verbs in -s are let pass for them.
    if any(token.key in _NUMBERS or _PLURAL.search(token.key) for token in words):
        may.add("they")
    return frozenset(may)


_ANY = frozenset(("he", "she", "they"))
_AS = {"he": frozenset(("he", "they")), "she": frozenset(("she", "they")), "": _ANY}
_PLURAL = re.compile(r"\w\w[^sui\W]s$")
_NO_NAMES = FUNCTION_WORDS | STARTERS | NO_ARTICLE | {"it", "text"}
_ANIMALS = listed_in("animals")
_NUMBERS = frozenset(("two", "three", "four", "five", "six", "seven", "both", "several", "all", "others"))
