"""Make a line short enough without a model: drop sentences, then clauses and phrases, else give up.

The order is the one listeners prefer. What is left must be a whole sentence with its verb; where that is not
sure the line is not cut. A phrase is never cut in two, and a quotation stays whole. Lines in other languages
than English lose sentences and what follows a comma, and get the signs of their own script. A writer may be
asked for a shorter line (`Shorten`).

Where an English sentence may be cut is found by word lists alone, without a parser, so precision goes before
recall. In the examples ``|`` marks the cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from shotad.core.config.languages import is_english
from shotad.script import english_words as en
from shotad.script.english_words import OWNED, PREPOSITIONS, lemma, listed
from shotad.script.pace import has_blanks, spoken_words
from shotad.script.rules import ARTICLES, quotations
from shotad.script.track_texts import has_texts, texts_in

_SENTENCE = re.compile(r"""(?<=[.!?…])["”']?\s+(?=["“']?[A-Z0-9])""")
_ANY_SENTENCE = re.compile(r"""(?<=[.!?…؟۔।])["”“’»«]?\s+|(?<=[。！？])["”」』]?\s*(?=\S)""")
"""Of scripts with capitals and without; those of East Asia have no blank between sentences."""
_ORDINAL = re.compile(r"\d\.$")
_OPENING = "\"'“„«‘‚¿¡「『"
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sgt|Lt|Capt|Col|Gen|Jr|Sr|vs|No)\.$")
_BORDER = re.compile(r"[,;:]\s+|(?<!\s)\s+[–—-]\s+")
_LONGEST_ABBREVIATION = 8
_MIN_WORDS = 3
"""Words that a shortened line must still have to be worth saying."""

_MAX_EXAMINED = 150
"""Words of a sentence, and sentences, that are looked at; only a model that repeats itself writes more."""

_MARK = "\ue000"
"""Stands for a blank inside quotation marks, so that a quotation is one word while a line is cut."""


@dataclass(frozen=True, slots=True)
class FittedText:
    """A line that fits, and what was done to make it so (empty: nothing)."""

    text: str
    steps: tuple[str, ...] = ()


def variants(text: str, *, language: str = "en") -> Iterator[FittedText]:
    """The line as it is, then ever shorter whole forms of it, each said in less time than the one before.

    First sentences go, the last one first. Of English lines clauses and phrases are dropped where what stays
    is sure to be a sentence; of others only what follows a comma.
    """
    yield FittedText(text)
    fewest_words = spoken_words(text, language)
    for fitted in _shorter_lines(text, language):
        words = spoken_words(fitted.text, language)
        if 0 < words < fewest_words:
            yield fitted
            fewest_words = words


def fit_spoken(text: str, max_words: int, *, language: str = "en") -> FittedText | None:
    """``text`` in the time of at most ``max_words`` English words (`spoken_words`), or None where nothing
    whole is short enough."""
    for fitted in variants(text, language=language):
        words = spoken_words(fitted.text, language)
        if words > max_words:
            continue
        # Too few words say nothing; a language without blanks has no words to count.
        fewest = min(_MIN_WORDS, max_words) if has_blanks(language) else 1
        is_cut_too_short = bool(fitted.steps) and words < fewest
        return None if is_cut_too_short else fitted
    return None


def _shorter_lines(text: str, language: str) -> Iterator[FittedText]:
    """Beginnings of a line, the longest first, and what can be made of its first sentence alone."""
    is_wide = not has_blanks(language)
    parts = _WIDE_END.split(text) if is_wide else split_sentences(text, language)
    sentences = [part for part in parts if part.strip()]
    separator = "" if is_wide else " "
    for number in range(min(len(sentences) - 1, _MAX_EXAMINED), 0, -1):
        yield FittedText(separator.join(sentences[:number]).strip(), ("dropped sentences",))
    if not sentences:
        return
    steps = ("dropped sentences",) if len(sentences) > 1 else ()
    sentence = sentences[0]
    if is_english(language):
        for shorter in _shorter_sentences(sentence):
            yield FittedText(shorter, (*steps, "dropped clauses"))
        return
    # Beginnings that end before a comma or a dash, the longest first.
    border, full_stop = (_WIDE_BORDER, "。") if is_wide else (_BORDER, ".")
    for match in reversed(list(border.finditer(sentence))):
        head = sentence[: match.start()].strip().rstrip(" ,;:–—-")
        if _has_closed_quotes(head):
            yield FittedText(f"{head}{full_stop}", (*steps, "dropped clauses"))


def split_sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a line; a full stop after a title such as "Mr." ends none, and outside English none
    after a figure: ``Er kommt am 3. Mai``.
    """
    sentences: list[str] = []
    start = 0
    is_in_english = is_english(language)
    for match in (_SENTENCE if is_in_english else _ANY_SENTENCE).finditer(text):
        sentence = text[start : match.end()].strip()
        if not is_in_english:
            following = text[match.end() :].lstrip(_OPENING)
            if following[:1].islower() or _ORDINAL.search(sentence):
                continue
        has_abbreviation = _ABBREVIATION.search(sentence[-_LONGEST_ABBREVIATION:]) is not None
        if not has_abbreviation and _has_closed_quotes(sentence):
            sentences.append(sentence)
            start = match.end()
    last_sentence = text[start:].strip()
    return [*sentences, last_sentence] if last_sentence else sentences


def _shorter_sentences(sentence: str) -> Iterator[str]:
    """Whole sentences made by dropping what leads in or what trails, the longest first; of equals the one
    that keeps most of the sentence's beginning."""
    # Each quotation becomes one word, so that none is cut.
    parts: list[str] = []
    position = 0
    for start, end in quotations(sentence):
        parts += [sentence[position:start], re.sub(r"\s", _MARK, sentence[start:end])]
        position = end
    parts.append(sentence[position:])
    words = "".join(parts).split()
    if len(words) > _MAX_EXAMINED:
        return
    texts: set[str] = set()
    for main_clause in _main_clauses(words):
        texts.add(" ".join(main_clause))
        texts.update(" ".join(beginning) for beginning in _whole_beginnings(main_clause))
    ranked: list[tuple[int, int, str]] = []
    for text in texts:
        pairs = zip(text.split(), words, strict=False)
        common_words = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        ranked.append((spoken_words(text.replace(_MARK, " ")), common_words, text))
    for word_count, _, text in sorted(ranked, reverse=True):
        if word_count >= _MIN_WORDS:
            # With a capital first and a full stop last.
            shown = text.replace(_MARK, " ").rstrip(" ,;:–—-")
            full_stop = "" if re.search(r"[.!?…][\"”')]*$", shown) else "."
            yield f"{shown[:1].upper()}{shown[1:]}{full_stop}"


def _main_clauses(words: list[str]) -> Iterator[list[str]]:
    """The sentence, and it without what leads in or stands between its subject and its verb."""
    yield words
    commas = [position for position, word in enumerate(words) if word.endswith(",")]
    if not commas:
        return
    first_part, after_first = words[: commas[0] + 1], words[commas[0] + 1 :]
    # ``In the hall, | Ann sits down.``
    if is_lead_in(first_part) and after_first and begins_a_clause(after_first):
        yield after_first
    # ``Ann, | now in a coat, | sits down.``
    if len(commas) >= 2 and not is_lead_in(words) and main_verb(first_part) is None:
        aside, after_aside = words[commas[0] + 1 : commas[1] + 1], words[commas[1] + 1 :]
        subject = [*first_part[:-1], first_part[-1].rstrip(",")]
        is_aside = is_lead_in(aside) or bare_word(aside[0]) in _BEGIN_ASIDES
        if after_aside and is_aside and len(subject) <= _MAX_SUBJECT_WORDS and _begins_with_verb(after_aside):
            yield [*subject, *after_aside]


_BEGIN_ASIDES = listed("who his her their now still whose")


def _whole_beginnings(words: list[str]) -> Iterator[list[str]]:
    """Beginnings of a sentence that are sentences themselves; of ``A, B, and C`` also ``A and B``."""
    verb = main_verb(words)
    if verb is None:
        return
    for position in range(verb + 1, len(words)):
        head, tail = words[:position], words[position:]
        ends_with_sign = _BORDER.fullmatch(f"{head[-1][-1]} ") or head[-1] in {"–", "—", "-"}
        if ends_with_sign:
            last_word = head[-1].rstrip(",;:–—-")
            head = [*head[:-1], last_word] if last_word else head[:-1]
            may_cut = _may_cut_at_comma(head, tail, verb)
        else:
            may_cut = cut_before(words, position, verb)
        sentence = _with_list_joined(head, tail, verb, bool(ends_with_sign)) if may_cut else None
        if sentence:
            yield sentence


_MAY_BEGIN_TAIL = listed(
    "and then but or so yet while as before until when where who which whose with without one each both "
    "still now his her their its a an the arms hands head eyes lips"
)


def _may_cut_at_comma(head: list[str], tail: Sequence[str], verb: int) -> bool:
    """Whether ``tail`` may go, which a comma or a dash parts from ``head``."""
    first, begins_with_verb = bare_word(tail[0]), _begins_with_verb(tail)
    is_clear = (
        first in _MAY_BEGIN_TAIL
        or first in PREPOSITIONS
        or first.endswith(("ing", "ed", "ly"))
        or begins_with_verb
    )
    if not is_clear or len(head) <= verb or not may_end(head):
        return False
    # ``…, held by two hoists, swings out``: the words before were the subject of what follows.
    comma = next((position for position, word in enumerate(tail) if word.endswith(",")), None)
    if comma is None or comma + 1 >= len(tail) or first in {"and", "then", "but"}:
        return True
    return begins_with_verb or not _begins_with_verb(tail[comma + 1 :])


def _with_list_joined(
    head: list[str], tail: Sequence[str], verb: int, cut_at_comma: bool
) -> list[str] | None:
    """The head, its last comma made an "and" where it stood in a list; None where that is not sure.

    ``sits, eats, | and sleeps`` → ``sits and eats``. ``verb`` is the position of the main verb.
    """
    commas = [position for position, word in enumerate(head[:-1]) if word.endswith(",") and position >= verb]
    if not commas:
        return head
    comma = commas[-1]
    last_member = head[comma + 1 :]
    joined = [*head[:comma], head[comma].rstrip(","), "and", *last_member]
    first = bare_word(last_member[0])
    if _begins_with_verb(last_member):
        is_joined_already = any(bare_word(word) in {"and", "then"} for word in last_member)
        return head if is_joined_already else joined
    is_no_member = (
        first in PREPOSITIONS or first in _SUBORDINATING_WORDS or first.endswith(("ing", "ed", "ly"))
    )
    if not is_no_member and not cut_at_comma:
        return None
    conjunctions = [position for position, word in enumerate(tail) if bare_word(word) in {"and", "or"}]
    if is_no_member or not conjunctions:
        return head
    conjunction = conjunctions[0]
    if _begins_with_verb(tail[conjunction + 1 :]):
        # An apposition or a state, ``Bob, the driver``; what begins otherwise may be another verb.
        return head if conjunction == 0 and first in _BEGIN_APPOSITIONS else None
    is_short_list = conjunction == 0 and len(last_member) <= _MAX_MEMBER_WORDS and len(commas) == 1
    return joined if is_short_list else None


_BEGIN_APPOSITIONS = ARTICLES | OWNED
_MAX_MEMBER_WORDS = 3
_SUBORDINATING_WORDS = listed("while as who which when where but then and")


def _has_closed_quotes(text: str) -> bool:
    """Whether every quotation mark that opens in ``text`` is closed there."""
    if text.count('"') % 2:
        return False
    pairs = (("“", "”"), ("「", "」"), ("『", "』"))
    return all(text.count(opening) == text.count(closing) for opening, closing in pairs)


_WIDE_END = re.compile(r"(?<=[。！？])")
_WIDE_BORDER = re.compile(r"[，、；]")
_CJK = r"[\u3040-\u30ff\u3400-\u9fff]"
_NOUN_CAPITALS = frozenset(("de", "lb", "gsw", "nds"))
"""Languages that write every noun with a capital letter."""


def with_native_punctuation(text: str, language: str) -> str:
    """The line with the full stops and commas of its own script, where reading the answer made them plain.

    >>> with_native_punctuation("他打开门, 走进去.", "zh")
    '他打开门，走进去。'
    >>> with_native_punctuation("वह दरवाज़ा खोलती है।.", "hi")
    'वह दरवाज़ा खोलती है।'
    >>> with_native_punctuation('Auf dem Schild steht "Ausgang".', "de")
    'Auf dem Schild steht „Ausgang“.'
    """
    if is_english(language):
        return text
    text = re.sub(r"([।॥。！？؟۔])\.$", r"\1", text)
    text = re.sub(r'"\s++([^"]+)(?<=\s)"', lambda match: f'"{match[1].rstrip()}"', text)
    code = language.lower().split("-")[0]
    if code in ("zh", "yue", "cmn", "ja"):
        comma = "、" if code == "ja" else "，"
        text = re.sub(rf"(?<={_CJK}),\s*|(?<=[\w\"]),\s*(?={_CJK})", comma, text)
        text = re.sub(rf"(?<={_CJK})\.\s*|(?<=\")\.$", "。", text)
    if has_texts(language):
        texts = texts_in(language)
        text = re.sub(r'"([^"]+)"', lambda match: texts("quote.marks", words=match[1]), text)
    if code == "fr":
        text = re.sub(r"(?<=\w) (?=[:;!?](?:\s|$))", "\N{NO-BREAK SPACE}", text)
    return text


def capitals_are_names(language: str) -> bool:
    """Whether a capital letter within a sentence is a name's."""
    return language.lower().split("-")[0] not in _NOUN_CAPITALS


@dataclass(frozen=True, slots=True)
class ShortenedLine:
    """A writer's line, and what is wrong with it (nothing: it may be spoken)."""

    text: str
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShortenRequest:
    """A line that is to be said in at most ``words`` words.

    Words are English ones, or as many as take as long in ``language`` (`shotad.script.pace`). ``previous`` is
    the last answer, if it was no use.
    """

    id: str
    text: str
    words: int
    language: str = "en"
    previous: ShortenedLine | None = None

    def __post_init__(self) -> None:
        if self.words < 1:
            raise ValueError(f"a line must be allowed at least one word, got words = {self.words}")


Shorten = Callable[[Sequence[ShortenRequest]], Sequence[ShortenedLine | None]]
"""One answer for each request, in order; None where there is none. Never raises for a line that failed."""


_FINITE = en.THIRD_PERSON_VERBS | en.AUXILIARIES
_PAST = en.PARTICIPLES - en.PLAIN_VERBS - {"ground", "hidden"}
"""What follows one of these belongs to it: ``a box done up | in a bow``."""
_NOUNS_IN_ING = en.NOUNS_IN_ING | en.PERHAPS_NOUNS_IN_ING
_BEFORE_NOUNS = en.DETERMINERS | en.OTHER_WORDS
_PLURALS = en.PLURAL_DETERMINERS | en.IRREGULAR_PLURALS | {"they", "others"}
"""Subjects in the plural without an ending in -s."""
_MAX_SUBJECT_WORDS = 4
_PREPOSITIONS = en.PREPOSITIONS - {"out"}
"""``out`` belongs to the verb: ``comes out | from behind a hut``."""
_SAFE_PREPOSITIONS = en.PREPOSITIONS - listed(
    "of by for between out up down off without before upon via like atop"
)
"""Their phrases are rarely what the verb or the noun before them needs."""
_OTHER_CLAUSES = listed("and to that who as is are for")
"""Where one of these stands between, what follows may belong to another clause."""
_SIGNS = re.compile(r"[^\w'’-]+")


def bare_word(word: str) -> str:
    """The word in small letters, without signs."""
    return _SIGNS.sub("", word).replace("’", "'").lower()


def is_verb(words: Sequence[str], position: int) -> bool:
    """Whether the word at ``position`` is a verb in the third person; what may be a noun needs an object."""
    word = bare_word(words[position])
    if word not in _FINITE:
        return False
    following = bare_word(words[position + 1]) if position + 1 < len(words) else ""
    previous = bare_word(words[position - 1]) if position else ""
    follows_capital = position > 0 and words[position - 1][:1].isupper()
    if previous in _BEFORE_NOUNS - en.FLOATING_QUANTIFIERS:
        return False
    if previous in _PREPOSITIONS and word not in en.AUXILIARIES:
        return False
    # ``a red looks`` is none; ``Mr. Black looks`` is. The first word of a line has a capital letter anyway.
    if previous in en.ADJECTIVES and not (follows_capital and position > 1):
        return False
    if word in en.MOSTLY_NOUNS:
        has_subject = previous in en.NOMINATIVE_PRONOUNS or previous == "who"
        acts = follows_capital and following in en.AFTER_A_VERB
        return following in en.OBJECT_STARTERS or has_subject or acts
    return True


def _begins_with_verb(words: Sequence[str]) -> bool:
    """Whether words go on with a verb where a subject stood before them: ``swings out`` after ``he``."""
    return bool(words) and is_verb(["he", *words], 1)


def main_verb(words: Sequence[str]) -> int | None:
    """The position of the first finite verb after a subject, or None where none is sure."""
    if not words or len(words) < 2:
        return None
    first = bare_word(words[0])
    if first in en.OPENERS:
        verb = main_verb(words[1:])
        return None if verb is None else verb + 1
    # These lead in: the first verb is not the main one.
    is_participle = first.endswith("ing") and first not in _NOUNS_IN_ING
    if is_participle or first in _PREPOSITIONS | en.SUBORDINATING:
        return None
    is_in_relative_clause = False
    for position in range(1, len(words)):
        word = bare_word(words[position])
        if word in {"who", "that", "which", "where", "whose"}:
            is_in_relative_clause = True
        if is_verb(words, position):
            if not is_in_relative_clause:
                return position
            # Its verb ends the clause, as far as this can be known.
            is_in_relative_clause = False
        is_plain_verb = word in en.PLAIN_VERBS and words[position][:1].islower()
        if is_plain_verb and not is_in_relative_clause and _has_plural_subject(words[:position]):
            return position
    return None


def _has_plural_subject(words: Sequence[str]) -> bool:
    """Whether a verb after ``words`` has no ending: ``They``, ``Ann and Bo``, ``The agents slowly``."""
    while len(words) > 1:
        last = bare_word(words[-1])
        if not last.endswith("ly") and last not in en.FLOATING_QUANTIFIERS:
            break
        words = words[:-1]
    bare_words = [bare_word(word) for word in words]
    last = bare_words[-1]
    if last in en.BEFORE_A_NOUN:
        return last in {"they", "others"}
    if bare_words[0] in _PLURALS or last in _PLURALS or "and" in bare_words:
        return True
    is_plural_noun = re.search(r"[^su'i]s$", last) is not None and (
        last not in _FINITE or last in en.NOUNS_TOO
    )
    has_preposition = any(word in _PREPOSITIONS for word in bare_words)
    return is_plural_noun and len(words) <= _MAX_SUBJECT_WORDS and not has_preposition


def is_lead_in(words: Sequence[str]) -> bool:
    """Whether words before a comma only say where, when or during what."""
    first = bare_word(words[0]) if words else ""
    if first in _PREPOSITIONS | en.SUBORDINATING | en.ADVERBS_FIRST:
        return True
    if first.endswith("ing") and first not in _NOUNS_IN_ING and len(first) > 4:
        return True
    return first.endswith("ly") and len(words) == 1


def begins_a_clause(words: Sequence[str]) -> bool:
    """Whether a subject that can be recognised stands first and a verb follows."""
    if not words:
        return False
    first = bare_word(words[0])
    is_pronoun_or_determiner = first in en.NOMINATIVE_PRONOUNS | _BEFORE_NOUNS
    has_subject = is_pronoun_or_determiner or words[0][:1].isupper() or first.endswith("'s")
    return has_subject and main_verb(words) is not None


def may_end(words: Sequence[str]) -> bool:
    """False where the last word cannot be the last one: ``he walks to``, ``she takes the old``."""
    last = bare_word(words[-1])
    previous = bare_word(words[-2]) if len(words) > 1 else ""
    if last in en.NOT_LAST or last.endswith("'s") or not any(char.isalnum() for char in words[-1]):
        return False
    if last in {"other", "another"} and previous in {"each", "one"}:
        return True
    is_adjective = last in en.ADJECTIVES or en.ADJECTIVE_ENDINGS.search(last) is not None
    is_before_noun = previous in en.ADJECTIVES or any(
        bare_word(word) in _BEFORE_NOUNS for word in words[-4:-1]
    )
    return not (is_adjective and is_before_noun)


def cut_before(words: Sequence[str], start: int, verb: int) -> bool:
    """Whether all from ``words[start]`` on may go; no comma stands before it, ``verb`` is the main verb."""
    word, previous = bare_word(words[start]), bare_word(words[start - 1])
    if start <= verb or not may_end(words[:start]):
        return False
    if word in _NOT_AFTER:
        # ``as he turns`` is a clause, ``as a doctor`` is none.
        is_clause = word != "as" or begins_a_clause(list(words[start + 1 :]))
        return is_clause and previous not in _NOT_AFTER[word]
    if word in {"and", "but", "then"}:
        return _is_another_clause(words, start, is_plural=bare_word(words[verb]) in en.PLAIN_VERBS)
    if word == "to" and _is_purpose(words, start, verb):
        return True
    if word.endswith("ing"):
        return _is_loose_participle(words, start, verb)
    return _is_loose_phrase(words, start, verb)


_NOT_AFTER = {
    "while": listed("a the little short long"),
    "until": listed("not"),
    "before": listed("just seconds moments ever never long shortly right from"),
    "when": listed("except just even only"),
    "as": listed("just even same such as so well soon long"),
    "who": listed("those one anyone everyone someone man people"),
}
"""Words that begin a clause, and those after which they do not."""


def _is_another_clause(words: Sequence[str], start: int, *, is_plural: bool) -> bool:
    """Whether a verb follows the "and" at ``start``, with or without a subject of its own.

    ``and opens the door``, ``then runs``, ``and he smiles``, ``and the car stops``; ``is_plural``: the main
    verb is one of several people.
    """
    clause = list(words[start + 1 :])
    if bare_word(words[start]) in {"and", "but"} and clause and bare_word(clause[0]) == "then":
        del clause[0]
    while clause and bare_word(clause[0]).endswith("ly"):
        del clause[0]
    if not clause:
        return False
    first = bare_word(clause[0])
    if first in en.NOMINATIVE_PRONOUNS:
        return main_verb(clause) is not None
    if first in _BEFORE_NOUNS:
        # ``between the door and the window …``: the "and" joins nouns.
        joins_nouns = any(bare_word(word) in {"between", "both", "of"} for word in words[:start])
        return not joins_nouns and main_verb(clause) is not None
    second = bare_word(clause[1]) if len(clause) > 1 else None
    if is_plural and first in en.PLAIN_VERBS:
        return second is not None and second in en.AFTER_A_VERB
    if first in en.MOSTLY_NOUNS:
        return second is not None and second in en.OBJECT_STARTERS | en.WAYS
    return _begins_with_verb(clause)


def _is_purpose(words: Sequence[str], start: int, verb: int) -> bool:
    """Whether the "to" at ``start`` says what for, after an object: ``lifts his leg | to pee on flames``."""
    if start - verb < 3 or start + 2 >= len(words):
        return False
    if lemma(bare_word(words[verb])) in en.NEEDS_INFINITIVE:
        return False
    infinitive, following = bare_word(words[start + 1]), bare_word(words[start + 2])
    if infinitive not in en.PLAIN_VERBS or following not in en.AFTER_A_VERB:
        return False
    between = {bare_word(word) for word in words[verb + 1 : start]}
    # ``…, trying to pull``: the infinitive belongs to the participle.
    belongs_to_participle = any(
        word.endswith("ing") and lemma(word) in en.NEEDS_INFINITIVE for word in between
    )
    return not belongs_to_participle and not between & _OTHER_CLAUSES


def _is_loose_participle(words: Sequence[str], start: int, verb: int) -> bool:
    """Whether the form in -ing at ``start`` begins a clause that may go: ``sits there | eating his soup``."""
    word, previous = bare_word(words[start]), bare_word(words[start - 1])
    if word in _NOUNS_IN_ING or len(word) < 5 or start + 1 >= len(words):
        return False
    if previous in _PREPOSITIONS | _BEFORE_NOUNS | en.ADJECTIVES | {"and", "or", "not"}:
        return False
    # ``starts eating``: the verb is not whole without it.
    if any(bare_word(earlier) in en.TAKES_ING | {"and"} for earlier in words[verb:start]):
        return False
    if _is_form_of_a_verb(words, start - 1) or previous.endswith("ing"):
        return False
    return bare_word(words[start + 1]) in en.OBJECT_STARTERS | _PREPOSITIONS | en.PARTICLES


def _is_loose_phrase(words: Sequence[str], start: int, verb: int) -> bool:
    """Whether a phrase with a preposition follows something that completes the verb.

    ``takes a book | from the shelf``
    """
    word, previous = bare_word(words[start]), bare_word(words[start - 1])
    if word not in _SAFE_PREPOSITIONS or start + 1 >= len(words) or start - verb < 2:
        return False
    # The last verb before: a form in -ing after a comma, ``…, plunging the knife | into …``, or the main one.
    last_verb = verb
    for position in range(start - 1, verb, -1):
        if words[position - 1].endswith(",") and bare_word(words[position]) in en.GERUNDS:
            last_verb = position
            break
    if _is_needed(words, start, verb) or _is_needed(words, start, last_verb):
        return False
    if previous in _PREPOSITIONS | _PAST or previous.endswith(("ed", "ly", "ing")):
        return False
    if _is_form_of_a_verb(words, start - 1):
        return False
    # Another clause stands between: the phrase may be part of that one.
    begin_clauses = {"and", "but", "then", "who", "that", "as", "to"}
    return not any(bare_word(between) in begin_clauses for between in words[verb + 1 : start])


def _is_needed(words: Sequence[str], start: int, verb: int) -> bool:
    """Whether the verb at ``verb`` is not whole without the phrase that begins at ``words[start]``."""
    word, infinitive = bare_word(words[start]), lemma(bare_word(words[verb]))
    between = {bare_word(word_between) for word_between in words[verb + 1 : start]}
    if infinitive in {"be", "have"}:
        return True
    if word == "to" and bare_word(words[start + 1]) in en.PLAIN_VERBS:
        return infinitive in en.NEEDS_INFINITIVE or bare_word(words[start - 1]) not in en.WAYS
    if between & en.REFLEXIVE and infinitive not in en.WHOLE_WITH_ITSELF:
        return True
    # ``turns from one to the other``
    if word == "to" and "from" in between:
        return True
    if between & _SAFE_PREPOSITIONS:
        return False
    if infinitive in en.PUTS_SOMEWHERE:
        return not (infinitive in _WHOLE_WITHOUT_FROM and word == "from")
    # Where something goes: what is done to it is not clear without, ``nudges his car | into the next``.
    return word in {"into", "onto"} and not between & (en.WAYS | en.ADVERBS | _FURTHER)


_FURTHER = listed("forward forwards further straight along")
_WHOLE_WITHOUT_FROM = listed("take draw lift pull")
"""Verbs that say enough without where from."""


def _is_form_of_a_verb(words: Sequence[str], position: int) -> bool:
    """Whether a word is a verb in the third person, or a base form that is no noun in a phrase."""
    word = bare_word(words[position])
    previous = bare_word(words[position - 1]) if position else ""
    follows_noun_marker = previous in _BEFORE_NOUNS | en.LINKING | en.ADJECTIVES or previous.endswith("'s")
    # ``a strong hook``, ``the crowded square``: a word on no list may stand between.
    is_in_phrase = (
        position > 1
        and bare_word(words[position - 2]) in _BEFORE_NOUNS
        and not words[position - 1].endswith(",")
    )
    if word in _FINITE and not (word in en.NOUNS_TOO and (follows_noun_marker or is_in_phrase)):
        return True
    is_lower_case = words[position][:1].islower()
    is_base = word in en.PLAIN_VERBS - en.MASS_NOUNS and is_lower_case and not follows_noun_marker
    return is_base and (word in en.NEEDS_PLACE | en.ADVERBS or not is_in_phrase)
