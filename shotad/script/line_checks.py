"""Check lines against the film, and their sentences by parsing.

Against the film: pace (T3), dialogue and subtitles (L10, L12), text on the screen (L11). Sentences: tense and
passive (L1), and pronouns with an unclear antecedent (L6).

L1 finds past and future tense, and the passive. Only the verb of a main clause counts, not one in a clause
that says which or when (``the man who stole it``).
"""

from __future__ import annotations

import importlib.util
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache, partial
from itertools import accumulate, pairwise
from typing import Generic, Protocol, TypeVar

from shotad.core import Interval, Utterance
from shotad.core.cast import SENTENCE_STARTERS
from shotad.core.config.languages import is_english
from shotad.core.config.sound import LintSettings
from shotad.core.engine import TextFact
from shotad.core.errors import quoted
from shotad.core.installation import install_command
from shotad.core.types import time_range
from shotad.core.weight_store import is_fetched
from shotad.script.cast_members import listed_gender
from shotad.script.cue import count_words
from shotad.script.english_words import (
    FUNCTION_WORDS,
    NO_ARTICLE,
    OWNED,
    THIRD_PERSON_VERBS,
    VERB_BASES,
    listed,
    listed_in,
    past_forms,
)
from shotad.script.guidelines import Material, TrackLine
from shotad.script.line_mentions import Mention, NameToken, find_mentions, index_names, tokens_of
from shotad.script.names import people_named
from shotad.script.pace import tempo, usual_words
from shotad.script.parser import Parse, Parser, find_parser
from shotad.script.rules import Finding, Level, Limits, check_rate, quotations, unquoted


def check_pace(line: TrackLine, limits: Limits) -> Iterator[Finding]:
    """T3 for the line as it was spoken, or else as it would have to be spoken in its time."""
    is_spoken = line.take is not None and line.take.interval is not None
    words = usual_words(line.spoken_text, line.language)
    if not is_spoken and is_english(line.language):
        # Its time was planned by counting words, and a voice may need more or less for them.
        words = min(words, count_words(line.spoken_text))
    prefix = "spoken at " if is_spoken else "would have to be spoken at "
    return check_rate(tempo(words, line.spoken_interval.duration), limits, prefix)


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_MIN_COMMON_WORDS = 4
"""Words in a row: a line and the dialogue share fewer by chance."""
_MIN_WHOLE_LINE = 3
"""Words of a line that the dialogue contains as a whole; shorter ones are too common."""
_MIN_CONTENT_WORDS = 2
"""How many of the common words must be no function words."""


def check_dialogue(line: TrackLine, speech: Sequence[Utterance], window: float) -> Iterator[Finding]:
    """L10: ``line`` has words in a row that somebody says within ``window`` seconds before or after it.

    At least four words, two of them no function words. Utterances without words are ignored.
    """
    nearby: list[str] = []
    for utterance in speech:
        if utterance.text and _gap_seconds(utterance.interval, line.spoken_interval) <= window:
            nearby.append(utterance.text)
    return _check_repeated_words(line, nearby, "L10", Level.WARNING, "is said in the dialogue too")


def check_subtitles(line: TrackLine, texts: Sequence[TextFact], window: float) -> Iterator[Finding]:
    """L12: as L10, for subtitles in the picture within ``window`` seconds of the line."""
    nearby: list[str] = []
    for text in texts:
        if text.kind == "subtitle" and _gap_seconds(_shown_interval(text), line.spoken_interval) <= window:
            nearby.append(text.text)
    return _check_repeated_words(line, nearby, "L12", Level.ERROR, "stands in the subtitles of the picture")


def _shown_interval(text: TextFact) -> Interval:
    """When a text is on the screen; 1 ms at least, since one seen in a single frame has no length."""
    return Interval(text.first, max(text.last, text.first + 0.001))


def _gap_seconds(first: Interval, second: Interval) -> float:
    """Seconds between two intervals; 0 where they touch or overlap."""
    return max(0.0, first.start - second.end, second.start - first.end)


def _check_repeated_words(
    line: TrackLine, texts: Sequence[str], rule: str, level: Level, prefix: str
) -> Iterator[Finding]:
    """A finding for the longest run of words that the line shares with one of ``texts``.

    Of equal runs the earliest; no finding if it is too short. A line of three words must be shared as a
    whole; shorter ones are ignored.
    """
    function_words = _function_words(line.language)
    matches = list(_WORD.finditer(line.text))
    line_words = [_normalized(match[0]) for match in matches]
    spans: list[tuple[int, int]] = []
    for text in texts:
        text_words = [_normalized(word) for word in _WORD.findall(text)]
        run = SequenceMatcher(None, line_words, text_words, autojunk=False).find_longest_match()
        end = run.a + run.size
        content_words = sum(1 for word in line_words[run.a : end] if word not in function_words)
        is_whole_line = run.size == len(line_words) >= _MIN_WHOLE_LINE and content_words > 0
        if is_whole_line or (run.size >= _MIN_COMMON_WORDS and content_words >= _MIN_CONTENT_WORDS):
            spans.append((matches[run.a].start(), matches[end - 1].end()))
    span = max(spans, key=lambda span: (span[1] - span[0], -span[0]), default=None)
    if span is not None:
        yield Finding(rule, level, f"{prefix}: {quoted(line.text[slice(*span)])}", span=span)


@cache
def _function_words(language: str) -> frozenset[str]:
    """The function words of a language (a tag); none where we have no list of them."""
    if is_english(language):
        return FUNCTION_WORDS
    code = language.lower().replace("_", "-").split("-")[0]
    return listed_in(f"function_words_{code}") if code in _LANGUAGES_WITH_FUNCTION_WORDS else frozenset()


_LANGUAGES_WITH_FUNCTION_WORDS = ("de", "fr", "es")


def _normalized(word: str) -> str:
    """The word in small letters, with a straight apostrophe."""
    return word.lower().replace("’", "'")


_MIN_CONFIDENCE = 0.8
"""Of a text read from the picture: below, it may be no text at all, and nobody could read it out."""
_MIN_SHARE_SPOKEN = 0.5
"""Share of the words of a text that must be spoken."""
_SHORT_TEXT = 2
"""Words of a text of which all must be spoken: one of two is soon said by chance."""
_MAX_WORDS_REQUIRED = 6
"""Words of a long text, such as a letter or a newspaper, after which no more must be spoken."""
_SIMILAR_TEXTS = 0.8
"""Similarity from which two texts are one: text recognition misreads letters."""
_SIMILAR_WORDS = 0.75
"""The same for two words: one letter of four may differ."""
_SAME_TEXT_SECONDS = 30.0
"""Within these a text that is shown again is the same text."""

TEXT_WINDOW = 20.0
"""Seconds before and after a text is shown within which it should be read out."""


def check_texts(material: Material) -> Iterator[Finding]:
    """L11: texts on the screen that no line and nobody in the film reads out.

    Checked are titles, captions and text that fills the picture, of which half the words must be spoken from
    `TEXT_WINDOW` seconds before they are shown to `TEXT_WINDOW` after. Credits, subtitles, other lettering in
    the scene and doubtful readings are left out.
    """
    for text in _merged_texts(filter(_is_to_be_read, material.texts or ())):
        shown = _shown_interval(text)
        window = Interval(shown.start - TEXT_WINDOW, shown.end + TEXT_WINDOW)
        spoken = [line.spoken_text for line in material.lines if line.spoken_interval.overlaps(window)]
        spoken += [
            utterance.text for utterance in material.speech or () if utterance.interval.overlaps(window)
        ]
        if not _is_read_out(text.text, " ".join(spoken)):
            short_text = text.text if len(text.text) <= 60 else f"{text.text[:59].rstrip()}…"
            message = f"{text.kind} that nobody reads out ({time_range(shown)}): {quoted(short_text)}"
            yield Finding("L11", Level.WARNING, message, when=shown)


def _merged_texts(texts: Iterable[TextFact]) -> list[TextFact]:
    """Each text once, however many clips show it, from the second where it is first seen to the last."""
    merged: list[TextFact] = []
    for text in sorted(texts, key=lambda text: (text.first, text.text)):
        for position, earlier in enumerate(merged):
            is_soon_after = text.first - earlier.last <= _SAME_TEXT_SECONDS
            if is_soon_after and _is_similar(earlier.text.lower(), text.text.lower(), _SIMILAR_TEXTS):
                merged[position] = replace(earlier, last=max(earlier.last, text.last))
                break
        else:
            merged.append(text)
    return merged


def quoted_text_start(line: TrackLine, texts: Sequence[TextFact]) -> float | None:
    """The second from which a text that the line reads out is on the screen.

    None where the line quotes nothing, or no text nearby has the words.
    """
    quotation = " ".join(line.text[start:end] for start, end in quotations(line.text))
    if not quotation:
        return None
    starts: list[float] = []
    for text in texts:
        is_near = abs(text.first - line.spoken_interval.start) <= _SAME_TEXT_SECONDS
        if is_near and _is_to_be_read(text) and _is_read_out(text.text, quotation):
            starts.append(text.first)
    return min(starts, default=None)


def _is_to_be_read(text: TextFact) -> bool:
    """Whether a line should read the text out: it is meant for viewers, legible, and has letters."""
    letters = sum(1 for char in text.text if char.isalpha())
    return text.is_for_viewers and text.sure >= _MIN_CONFIDENCE and letters >= 3


def _is_read_out(text: str, speech: str) -> bool:
    """Whether ``speech`` has enough words of ``text``, or words like them."""
    words, spoken_words = _content_words(text), set(_content_words(speech))
    if not words:
        return True
    spoken = 0
    for word in words:
        if word in spoken_words or any(
            _is_similar(word, spoken_word, _SIMILAR_WORDS) for spoken_word in spoken_words
        ):
            spoken += 1
    if len(words) <= _SHORT_TEXT:
        return spoken >= len(words)
    return spoken >= _MIN_SHARE_SPOKEN * min(len(words), 2 * _MAX_WORDS_REQUIRED)


def _content_words(text: str) -> list[str]:
    """Its words, each once, without function words and words of two letters, unless there are no others."""
    words = list(dict.fromkeys(match.lower() for match in _WORD.findall(text)))
    return [word for word in words if len(word) > 2 and word not in FUNCTION_WORDS] or words


def _is_similar(first: str, second: str, threshold: float) -> bool:
    """Whether two texts share most letters in the same order (`difflib`, 0 to 1)."""
    return first == second or SequenceMatcher(None, first, second, autojunk=False).ratio() >= threshold


Item = TypeVar("Item")


class IntervalIndex(Generic[Item]):
    """Items sorted by the start of the interval that ``when`` returns; equal starts keep their order."""

    def __init__(self, items: Iterable[Item], when: Callable[[Item], Interval]) -> None:
        self.items = sorted(items, key=lambda item: when(item).start)
        intervals = [when(item) for item in self.items]
        self._starts = [interval.start for interval in intervals]
        self._latest_ends = list(accumulate((interval.end for interval in intervals), max))
        """The latest end of each item and all before it; unlike the ends themselves these ascend."""

    def near(self, interval: Interval, window: float = 0.0) -> list[Item]:
        """All items within ``window`` seconds of ``interval``; some shorter ones among them may be further
        away."""
        first = bisect_left(self._latest_ends, interval.start - window)
        end = bisect_right(self._starts, interval.end + window)
        return self.items[first:end]


SENTENCE_MODEL = "en_core_web_sm"
"""The spaCy model for tense and passive; ``benchmarks/lint.py`` measures it."""
_SUBJECTS = ("nsubj", "nsubjpass", "expl")
_SUBORDINATE_LABELS = ("relcl", "acl", "ccomp", "pcomp", "xcomp", "csubj", "parataxis")
"""Dependency labels of clauses that say which, or what somebody says: neither is what happens now."""
_SUBORDINATE_OR_ADVERBIAL_LABELS = (*_SUBORDINATE_LABELS, "advcl")
"""The same, with clauses that say when and why: tense counts in the main clause only."""
_CLEARLY_PAST = listed_in("past_forms")
"""Past forms that are no participles."""
_NOT_PAST = listed("re 'd ' s got")
"""Parts of split words that the tagger takes for the past, and ``got``, which is as often ``has got``."""
_FIRST_AND_SECOND_PERSON = listed("i we you")
_PAST_FORMS = (
    frozenset(form for base in VERB_BASES for form in past_forms(base) if form != base) | _CLEARLY_PAST
)
_PERHAPS_PAST_OR_FUTURE = re.compile(r"\w+ed|had|did|was|were|been|will|shall|'ll|'d", re.IGNORECASE)
_ANY_WORD = re.compile(r"'?\w+")
_LEFT_SIDE = re.compile(r"\b(?:the|his|her|its|their|far|to|right and) left\b", re.IGNORECASE)
"""``left`` as a side, not as the past of ``leave``."""


class ParsedLine:
    """A parsed line. ``word_spans`` are the half-open spans of its words, in characters."""

    def __init__(self, parse: Parse) -> None:
        self.parse = parse
        word_spans: list[tuple[int, int]] = []
        start = 0
        for token in parse.tokens:
            word_spans.append((start, start + len(token.text)))
            start += len(token.text) + token.space
        self.word_spans = tuple(word_spans)

    def merge_findings(self, findings: Sequence[Finding], events: frozenset[str]) -> tuple[Finding, ...]:
        """Findings of the word lists, corrected and completed for L1 by the parse.

        Those of L1 in a subordinate clause are left out, and those that only the parse shows are added.
        ``events`` are the verbs that are no states.
        """
        main_findings = [
            finding for finding in findings if finding.rule != "L1" or not self._is_subordinate(finding)
        ]
        l1_spans = [finding.span for finding in main_findings if finding.rule == "L1" and finding.span]
        added: list[Finding] = []
        for finding in self._check_verbs(events):
            if finding.span is None:
                continue
            start, end = finding.span
            # The word lists have found this one already.
            if not any(l1_start < end and start < l1_end for l1_start, l1_end in l1_spans):
                added.append(finding)
        return (*main_findings, *added)

    def _check_verbs(self, events: frozenset[str]) -> Iterator[Finding]:
        """L1: past tense, then future, then passive."""
        tokens = self.parse.tokens
        for position, token in enumerate(tokens):
            is_main_verb = token.tag == "VBD" and self._is_main(position, _SUBORDINATE_OR_ADVERBIAL_LABELS)
            if is_main_verb and self._is_past(position):
                yield self._finding(position, position, "not in the present tense")
        for position, token in enumerate(tokens):
            is_will = token.tag == "MD" and token.lemma in ("will", "shall") and token.dep == "aux"
            # With a capital letter it may be the name Will, or begins a question.
            if not is_will or token.text[0] in "WS":
                continue
            if not self._is_main(token.head, _SUBORDINATE_OR_ADVERBIAL_LABELS):
                continue
            children = [tokens[child] for child in self.parse.children[token.head]]
            subjects = {child.text.lower() for child in children if child.dep in _SUBJECTS}
            # Descriptions speak of others: a line with "I" or "you" repeats what somebody says.
            if not subjects & _FIRST_AND_SECOND_PERSON:
                yield self._finding(position, token.head, "not in the present tense")
        for position, token in enumerate(tokens):
            verb = tokens[token.head]
            is_passive = token.dep == "auxpass" and token.lemma in ("be", "get", "'s", "’s")
            is_event = verb.tag == "VBN" and verb.text.lower() in events
            if is_passive and is_event and self._is_main(token.head, _SUBORDINATE_LABELS):
                yield self._finding(position, token.head, "passive")

    def _is_past(self, position: int) -> bool:
        """Whether a verb that the tagger takes for the past is in the past.

        It needs a subject before it, and is neither a present form nor a participle (``his face pressed to
        the floor``).
        """
        tokens, children = self.parse.tokens, self.parse.children
        token = tokens[position]
        word = token.text.lower()
        if token.dep == "aux":
            return word == "had" and tokens[token.head].tag == "VBN"
        labels = {tokens[child].dep for child in children[position]}
        subjects = [child for child in children[position] if tokens[child].dep in _SUBJECTS]
        subject = next((child for child in subjects if child < position), None)
        if subject is None or word in (token.lemma, *_NOT_PAST) or labels & {"aux", "auxpass"}:
            return False
        if word in _CLEARLY_PAST or "neg" in labels:
            return True
        # ``picked up by``: the particle belongs to the verb.
        has_particle = position + 1 < len(tokens) and tokens[position + 1].tag == "RP"
        next_position = position + 2 if has_particle else position + 1
        is_before_by = next_position < len(tokens) and tokens[next_position].text.lower() == "by"
        if "agent" in labels or is_before_by:
            return False
        # ``his arms folded``: more often a participle.
        has_possessive = any(tokens[child].text.lower() in OWNED for child in children[subject])
        has_complement = bool(labels & {"dobj", "acomp", "attr"})
        if has_complement and (token.dep == "ROOT" or not has_possessive):
            return True
        is_bare_noun = tokens[subject].tag in ("NN", "NNS") and not children[subject]
        is_after_comma = tokens[position - 1].text in (",", ";", "-", "–", "—")
        return not (has_possessive or is_bare_noun or is_after_comma or token.dep != "ROOT")

    def _is_main(self, position: int, excluded: Sequence[str]) -> bool:
        """Whether a word stands in no clause with one of the ``excluded`` dependency labels."""
        tokens = self.parse.tokens
        while tokens[position].dep not in excluded:
            # The root of a sentence is its own head.
            if tokens[position].head == position:
                return True
            position = tokens[position].head
        return False

    def _is_subordinate(self, finding: Finding) -> bool:
        """Whether all verbs in the span of a finding stand in subordinate clauses."""
        span_start, span_end = finding.span or (0, 0)
        verbs: list[int] = []
        for position, (start, end) in enumerate(self.word_spans):
            is_inside = span_start <= start and end <= span_end
            if is_inside and self.parse.tokens[position].pos in ("VERB", "AUX"):
                verbs.append(position)
        is_passive = finding.message.startswith("passive")
        excluded = _SUBORDINATE_LABELS if is_passive else _SUBORDINATE_OR_ADVERBIAL_LABELS
        return bool(verbs) and not any(self._is_main(position, excluded) for position in verbs)

    def _finding(self, position: int, other_position: int, prefix: str) -> Finding:
        """An L1 finding on the words from one position to the other, in either order."""
        first, last = sorted((position, other_position))
        words = self.parse.text(range(first, last + 1))
        span = (self.word_spans[first][0], self.word_spans[last][1])
        return Finding("L1", Level.WARNING, f"{prefix}: {quoted(words)}", span=span)


SentenceReader = Callable[[Sequence[TrackLine], frozenset[str]], Mapping[str, ParsedLine]]
"""Parses lines, given the verbs that are no states; returns the parsed lines by id.

Only English lines that may break L1 are parsed, without their quotations. Raises WeightsError for a model
that does not load."""


class SentenceParser(Protocol):
    """What parses texts, such as `Parser`."""

    def of(self, texts: Sequence[str]) -> Iterator[Parse]:
        """The parse of each text, in order."""


def sentence_reader(load: Callable[[], SentenceParser]) -> SentenceReader:
    """A reader that parses with what ``load`` returns; it is called at the first line that needs it."""
    load_parser = cache(load)

    def read(lines: Sequence[TrackLine], events: frozenset[str]) -> Mapping[str, ParsedLine]:
        texts: dict[str, str] = {}
        for line in lines:
            if is_english(line.language):
                texts[line.id] = unquoted(line.text)
        to_parse = {line_id: text for line_id, text in texts.items() if may_break_l1(text, events)}
        if not to_parse:
            return {}
        parses = load_parser().of(list(to_parse.values()))
        return {line_id: ParsedLine(parse) for line_id, parse in zip(to_parse, parses, strict=True)}

    return read


def may_break_l1(text: str, events: frozenset[str]) -> bool:
    """Whether parsing can change the findings: a word may be past or future, or is one of ``events``.

    Most lines of AD have none, and a track without any needs no parser.
    """
    words = [match[0].lower() for match in _ANY_WORD.finditer(_LEFT_SIDE.sub(" ", text))]
    return any(
        word in _PAST_FORMS or word in events or _PERHAPS_PAST_OR_FUTURE.fullmatch(word) for word in words
    )


def make_sentence_reader(settings: LintSettings) -> tuple[SentenceReader | None, str]:
    """The sentence reader for these settings, or None and a note for the user why there is none.

    ``words``: None, without a note. ``auto`` downloads nothing: None where spaCy or its model is not
    installed. ``spacy`` downloads a missing model, and raises ShotadError where that fails.
    """
    if settings.parse == "words":
        return None, ""
    if settings.parse == "auto":
        if importlib.util.find_spec("spacy") is None:
            how = install_command("shotad[evaluate]")
            return None, _ONLY_WORD_LISTS.format(f"spaCy is not installed ({how})")
        is_installed = importlib.util.find_spec(SENTENCE_MODEL) is not None
        if not is_installed and not is_fetched(SENTENCE_MODEL.replace("_", "-")):
            return None, _ONLY_WORD_LISTS.format(
                f"the model {SENTENCE_MODEL} is not here (--set lint.parse=spacy gets it)"
            )
    return sentence_reader(partial(Parser, find_parser(SENTENCE_MODEL))), ""


_ONLY_WORD_LISTS = "L1 used only word lists, which find less: {}."


_ANTECEDENT_LINES = 3
"""How many lines before a pronoun may name whom it means."""
_ANTECEDENT_SECONDS = 90.0
"""How long before the line of a pronoun they may end."""


def check_pronouns(lines: Sequence[TrackLine]) -> tuple[tuple[Finding, ...], ...]:
    """L6: the findings of each of ``lines``, which ascend by start.

    ``he`` and ``she`` need somebody whom they may mean, ``they`` several people or things: in the same line,
    before or after (``As he runs, Tom …``), or in one of the last lines. A pronoun counts for the lines after
    it, clear or not, so that of a run of lines only the first has a finding. ``it`` is not checked: it means
    too many things that are no people.
    """
    tokens_of_lines = [tokens_of(line.text) for line in lines]
    index = index_names((), tokens_of_lines)
    history: list[tuple[Interval, frozenset[str]]] = []
    findings_of_lines: list[tuple[Finding, ...]] = []
    for line, tokens in zip(lines, tokens_of_lines, strict=True):
        line_mentions = find_mentions(tokens, (), index)
        antecedents = [mention for mention in line_mentions if mention.kind != "pronoun"]
        other_pronouns = _pronouns_for_unlisted(line.text, tokens)
        clear_pronouns = set(other_pronouns | _pronouns_for(antecedents, tokens))
        for interval, pronouns in history[-_ANTECEDENT_LINES:]:
            if line.spoken_interval.start - interval.end <= _ANTECEDENT_SECONDS:
                clear_pronouns |= pronouns
        first_uses: dict[str, Mention] = {}
        for mention in line_mentions:
            if mention.kind == "pronoun":
                first_uses.setdefault(mention.pronoun, mention)
        findings: list[Finding] = []
        for pronoun, mention in first_uses.items():
            if pronoun not in clear_pronouns:
                start, end = tokens[mention.start].start, tokens[mention.end - 1].end
                message = f"pronoun with an unclear antecedent: {quoted(line.text[start:end])}"
                findings.append(Finding("L6", Level.WARNING, message, span=(start, end)))
        findings_of_lines.append(tuple(findings))
        history.append((line.spoken_interval, _pronouns_for(line_mentions, tokens) | other_pronouns))
    return tuple(findings_of_lines)


def _pronouns_for_unlisted(text: str, tokens: Sequence[NameToken]) -> frozenset[str]:
    """The pronouns that may mean animals, and people whose name no list has: ``Dev holds up his hands``."""
    if any(token.key in _ANIMALS for token in tokens):
        return _ANY_PRONOUN
    # A set of letters, not a comparison of spans: a line may name hundreds of people.
    letters_of_names: set[int] = set()
    for start, end in people_named(text):
        letters_of_names.update(range(start, end))
    names = [token.key for token in tokens if token.start in letters_of_names]
    for token, next_token in pairwise(tokens):
        # A word that may have its capital letter from the sentence it begins, but acts or owns as people do.
        acts_or_owns = token.possessive or (
            next_token.key in THIRD_PERSON_VERBS and not next_token.gap.strip()
        )
        if token.text[0].isupper() and acts_or_owns and token.key not in _CAPITALS_NO_NAMES:
            names.append(token.key)
    pronouns: set[str] = set()
    for name in names:
        pronouns |= _PRONOUNS_OF_NAMES[listed_gender(name)]
    return frozenset(pronouns)


def _pronouns_for(line_mentions: Sequence[Mention], tokens: Sequence[NameToken]) -> frozenset[str]:
    """Those of ``he``, ``she`` and ``they`` that may mean somebody mentioned."""
    pronouns: set[str] = set()
    for mention in line_mentions:
        if not mention.pronoun:
            pronouns |= _ANY_PRONOUN
        elif mention.kind != "pronoun":
            pronouns |= {mention.pronoun, "they"}
        elif mention.pronoun == "they":
            # One of them may be meant next.
            pronouns |= _ANY_PRONOUN
        else:
            pronouns.add(mention.pronoun)
    # A word may name several things: ``cards``, ``two``. Verbs in -s look the same, and count as well.
    if any(token.key in _PLURAL_WORDS or _PLURAL.search(token.key) for token in tokens):
        pronouns.add("they")
    return frozenset(pronouns)


_ANY_PRONOUN = frozenset(("he", "she", "they"))
_PRONOUNS_OF_NAMES = {"he": frozenset(("he", "they")), "she": frozenset(("she", "they")), "": _ANY_PRONOUN}
"""By the pronoun of a listed given name; empty for a name on no list."""
_PLURAL = re.compile(r"\w\w[^sui\W]s$")
_CAPITALS_NO_NAMES = FUNCTION_WORDS | SENTENCE_STARTERS | NO_ARTICLE | {"it", "text"}
"""Words that begin a sentence with a capital letter, but are no names."""
_ANIMALS = listed_in("animals")
_PLURAL_WORDS = listed("two three four five six seven both several all others")
