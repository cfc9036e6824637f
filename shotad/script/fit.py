"""Making a line short enough without a model: drop sentences, then clauses and phrases, else give up.

The order is the one listeners prefer. What is left must be a whole sentence with its verb: where that cannot
be told the line is not cut. A phrase is never cut in two, and what is quoted stays whole. Lines in other
languages than English lose sentences and what follows a comma, and get the signs of their own script. A
writer may be asked for a shorter line (`Shorten`).

Where an English sentence may be cut is told by words alone, without a parser. High precision: what cannot be
told is not cut.
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

_SENTENCE = re.compile(r"""(?<=[.!?…])["”']?\s+(?=["“']?[A-Z0-9])""")
_ANY_SENTENCE = re.compile(r"""(?<=[.!?…؟۔।])["”“’»«]?\s+|(?<=[。！？])["”」』]?\s*(?=\S)""")
"""Of scripts with capitals and without; those of East Asia have no blank between sentences."""
_ORDINAL = re.compile(r"\d\.$")
_OPENING = "\"'“„«‘‚¿¡「『"
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sgt|Lt|Capt|Col|Gen|Jr|Sr|vs|No)\.$")
_BORDER = re.compile(r"[,;:]\s+|(?<!\s)\s+[–—-]\s+")
_LONGEST_ABBREVIATION = 8
_FEWEST = 3
"""Words that a shortened line must still have to be worth saying."""

_MOST = 150
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
    least = spoken_words(text, language)
    for fitted in _forms(text, language):
        if 0 < (words := spoken_words(fitted.text, language)) < least:
            yield fitted
            least = words


def fit_spoken(text: str, max_words: int, *, language: str = "en") -> FittedText | None:
    """``text`` in the time of at most ``max_words`` English words (`spoken_words`), or None where nothing
    whole is short enough."""
    forms = variants(text, language=language)
    found = next((one for one in forms if spoken_words(one.text, language) <= max_words), None)
    fewest = min(_FEWEST, max_words) if has_blanks(language) else 1
    few = found is not None and found.steps and spoken_words(found.text, language) < fewest
    return None if few else found


def _forms(text: str, language: str) -> Iterator[FittedText]:
    """Beginnings of a line, the longest first, and what can be made of its first sentence alone."""
    wide = not has_blanks(language)
    parts = _WIDE_END.split(text) if wide else split_sentences(text, language)
    sentences = [part for part in parts if part.strip()]
    for number in range(min(len(sentences) - 1, _MOST), 0, -1):
        yield FittedText(("" if wide else " ").join(sentences[:number]).strip(), ("dropped sentences",))
    steps = ("dropped sentences",) if len(sentences) > 1 else ()
    for sentence in sentences[:1]:
        if is_english(language):
            yield from (FittedText(head, (*steps, "dropped clauses")) for head in _shorter(sentence))
            return
        # Beginnings that end before a comma or a dash, the longest first.
        border, stop = (_WIDE_BORDER, "。") if wide else (_BORDER, ".")
        for match in reversed(list(border.finditer(sentence))):
            head = sentence[: match.start()].strip().rstrip(" ,;:–—-")
            if _quotes_closed(head):
                yield FittedText(f"{head}{stop}", (*steps, "dropped clauses"))


def split_sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a line; a full stop after a title such as "Mr." ends none, and outside English none
    after a figure: ``Er kommt am 3. Mai``.
    """
    parts: list[str] = []
    start = 0
    english = is_english(language)
    for match in (_SENTENCE if english else _ANY_SENTENCE).finditer(text):
        head = text[start : match.end()].strip()
        if not english and (text[match.end() :].lstrip(_OPENING)[:1].islower() or _ORDINAL.search(head)):
            continue
        if not _ABBREVIATION.search(head[-_LONGEST_ABBREVIATION:]) and _quotes_closed(head):
            parts.append(head)
            start = match.end()
    return [*parts, text[start:].strip()] if text[start:].strip() else parts


def _shorter(sentence: str) -> Iterator[str]:
    """Whole sentences made by dropping what leads in or what trails, the longest first; of equals the one
    that keeps most of the sentence's beginning."""
    parts: list[str] = []
    at = 0
    for start, end in quotations(sentence):
        parts += [sentence[at:start], re.sub(r"\s", _MARK, sentence[start:end])]
        at = end
    words = "".join((*parts, sentence[at:])).split()
    if len(words) > _MOST:
        return
    ordered: list[tuple[int, int, str]] = []
    for text in {" ".join(variant) for main in _mains(words) for variant in (main, *_beginnings(main))}:
        pairs = zip(text.split(), words, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        ordered.append((spoken_words(text.replace(_MARK, " ")), shared, text))
    for count, _, text in sorted(ordered, reverse=True):
        if count >= _FEWEST:
            # With a capital first and a full stop last.
            shown = text.replace(_MARK, " ").rstrip(" ,;:–—-")
            stop = "" if re.search(r"[.!?…][\"”')]*$", shown) else "."
            yield f"{shown[:1].upper()}{shown[1:]}{stop}"


def _mains(words: list[str]) -> Iterator[list[str]]:
    """The sentence, and it without what leads in or stands between its subject and its verb."""
    yield words
    commas = [at for at, word in enumerate(words) if word.endswith(",")]
    if commas and is_lead_in(words[: commas[0] + 1]):
        rest = words[commas[0] + 1 :]
        if rest and begins_a_clause(rest):
            yield rest
    if len(commas) >= 2 and not is_lead_in(words) and main_verb(words[: commas[0] + 1]) is None:
        aside, rest = words[commas[0] + 1 : commas[1] + 1], words[commas[1] + 1 :]
        subject = [*words[: commas[0]], words[commas[0]].rstrip(",")]
        is_aside = is_lead_in(aside) or bare_word(aside[0]) in _ASIDE
        if rest and is_aside and len(subject) <= 4 and is_verb(["he", *rest], 1):
            yield [*subject, *rest]


_ASIDE = listed("who his her their now still whose")


def _beginnings(words: list[str]) -> Iterator[list[str]]:
    """Beginnings of a sentence that are sentences themselves; of ``A, B, and C`` also ``A and B``."""
    verb = main_verb(words)
    if verb is None:
        return
    for at in range(verb + 1, len(words)):
        head = words[:at]
        if _BORDER.fullmatch(f"{head[-1][-1]} ") or head[-1] in {"–", "—", "-"}:
            head = [*head[:-1], head[-1].rstrip(",;:–—-")]
            head = head if head[-1] else head[:-1]
            if _cut_at_comma(head, words[at:], verb) and (joined := _joined(head, words[at:], verb, True)):
                yield joined
        elif cut_before(words, at, verb) and (joined := _joined(head, words[at:], verb, False)):
            yield joined


_STARTS = listed(
    "and then but or so yet while as before until when where who which whose with without one each both "
    "still now his her their its a an the arms hands head eyes lips"
)


def _cut_at_comma(head: list[str], rest: Sequence[str], verb: int) -> bool:
    first, is_deed = bare_word(rest[0]), is_verb(["he", *rest], 1)
    known = first in _STARTS or first in PREPOSITIONS or first.endswith(("ing", "ed", "ly")) or is_deed
    if not (known and len(head) > verb and may_end(head)):
        return False
    # ``…, held by two hoists, swings out``: the words before were the subject of what follows.
    end = next((at for at, word in enumerate(rest) if word.endswith(",")), None)
    if end is None or end + 1 >= len(rest) or first in {"and", "then", "but"}:
        return True
    return is_deed or not is_verb(["he", *rest[end + 1 :]], 1)


def _joined(head: list[str], rest: Sequence[str], verb: int, cut_at_comma: bool) -> list[str] | None:
    """The head, its last comma made an "and" where it stood in a list; None where that cannot be told."""
    commas = [at for at, word in enumerate(head[:-1]) if word.endswith(",") and at >= verb]
    if not commas:
        return head
    at = commas[-1]
    member = head[at + 1 :]
    joined = [*head[:at], head[at].rstrip(","), "and", *member]
    first = bare_word(member[0])
    if is_verb(["he", *member], 1):
        return head if any(bare_word(word) in {"and", "then"} for word in member) else joined
    known = first in PREPOSITIONS or first in _SUBORDINATE or first.endswith(("ing", "ed", "ly"))
    if not known and not cut_at_comma:
        return None
    ands = [i for i, word in enumerate(rest) if bare_word(word) in {"and", "or"}]
    if known or not ands:
        return head
    if is_verb(["he", *rest[ands[0] + 1 :]], 1):
        # An apposition or a state, ``Bob, the driver``; what begins otherwise may be a deed.
        return head if ands[0] == 0 and first in _APART else None
    return joined if ands[0] == 0 and len(member) <= _FEW and len(commas) == 1 else None


_APART = ARTICLES | OWNED
_FEW = 3
_SUBORDINATE = listed("while as who which when where but then and")


def _quotes_closed(text: str) -> bool:
    pairs = (("“", "”"), ("「", "」"), ("『", "』"))
    return text.count('"') % 2 == 0 and all(text.count(a) == text.count(b) for a, b in pairs)


_WIDE_END = re.compile(r"(?<=[。！？])")
_WIDE_BORDER = re.compile(r"[，、；]")
_CJK = r"[\u3040-\u30ff\u3400-\u9fff]"
_NOUN_CAPITALS = frozenset(("de", "lb", "gsw", "nds"))
"""Languages that write every noun with a capital letter."""


def with_native_punctuation(text: str, language: str) -> str:
    """The line with the full stops and commas of its own script, where reading the answer made them plain.

    >>> own_signs("他打开门, 走进去.", "zh"), own_signs("वह दरवाज़ा खोलती है।.", "hi")
    ('他打开门，走进去。', 'वह दरवाज़ा खोलती है।')
    """
    if is_english(language):
        return text
    text = re.sub(r"([।॥。！？؟۔])\.$", r"\1", text)
    text = re.sub(r'"\s++([^"]+)(?<=\s)"', lambda found: f'"{found[1].rstrip()}"', text)
    code = language.lower().split("-")[0]
    if code in ("zh", "yue", "cmn", "ja"):
        comma = "、" if code == "ja" else "，"
        text = re.sub(rf"(?<={_CJK}),\s*|(?<=[\w\"]),\s*(?={_CJK})", comma, text)
        text = re.sub(rf"(?<={_CJK})\.\s*|(?<=\")\.$", "。", text)
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
"""One answer for each wish, in order; None where there is none. Never raises for a line that failed."""


_FINITE = en.THIRD_PERSON_VERBS | en.AUXILIARIES
_PAST = en.PARTICIPLES - en.PLAIN_VERBS - {"ground", "hidden"}
"""What follows one of these belongs to it: ``a box done up | in a bow``."""
_NOUNS_IN_ING = en.NOUNS_IN_ING | en.PERHAPS_NOUNS_IN_ING
_BEFORE_NOUNS = en.DETERMINERS | en.OTHER_WORDS
_MANY = en.PLURAL_DETERMINERS | en.IRREGULAR_PLURALS | {"they", "others"}
"""Subjects in the plural without an ending in -s."""
_SHORT_SUBJECT = 4
_PREPOSITIONS = en.PREPOSITIONS - {"out"}
"""``out`` ends a deed: ``comes out | from behind a hut``."""
_SAFE_PREPOSITIONS = en.PREPOSITIONS - listed(
    "of by for between out up down off without before upon via like atop"
)
"""Their phrases are rarely what the verb or the noun before them needs."""
_OTHER_CLAUSES = listed("and to that who as is are for")
"""Where one of these stands between, what follows may belong to another clause."""
_LOWER = re.compile(r"[^\w'’-]+")


def bare_word(word: str) -> str:
    """The word in small letters, without signs."""
    return _LOWER.sub("", word).replace("’", "'").lower()


def is_verb(words: Sequence[str], at: int) -> bool:
    """True where ``words[at]`` is a verb in the third person; what may be a noun must have an object."""
    word = bare_word(words[at])
    if word not in _FINITE:
        return False
    after = bare_word(words[at + 1]) if at + 1 < len(words) else ""
    before = bare_word(words[at - 1]) if at else ""
    named = at > 1 and words[at - 1][:1].isupper()
    if before in _BEFORE_NOUNS - en.FLOATING_QUANTIFIERS or (
        before in _PREPOSITIONS and word not in en.AUXILIARIES
    ):
        return False
    if before in en.ADJECTIVES and not named:
        return False
    if word in en.MOSTLY_NOUNS:
        acts = at > 0 and words[at - 1][:1].isupper() and after in en.AFTER_A_VERB
        return after in en.OBJECT_STARTERS or before in en.NOMINATIVE_PRONOUNS or before == "who" or acts
    return True


def main_verb(words: Sequence[str]) -> int | None:
    """Where the first finite verb stands after a subject, or None where none is sure."""
    if not words or len(words) < 2:
        return None
    first = bare_word(words[0])
    if first in en.OPENERS:
        inner = main_verb(words[1:])
        return None if inner is None else inner + 1
    if first in _PREPOSITIONS | en.SUBORDINATING or (first.endswith("ing") and first not in _NOUNS_IN_ING):
        return None
    relative = False
    for at in range(1, len(words)):
        word = bare_word(words[at])
        relative = relative or word in {"who", "that", "which", "where", "whose"}
        if is_verb(words, at):
            if not relative:
                return at
            relative = False
        if (
            not relative
            and word in en.PLAIN_VERBS
            and words[at][:1].islower()
            and _has_plural_subject(words[:at])
        ):
            return at
    return None


def _has_plural_subject(words: Sequence[str]) -> bool:
    """True for ``They``, ``Ann and Bo``, ``The agents slowly``: a verb after it has no ending."""
    while len(words) > 1 and (
        bare_word(words[-1]).endswith("ly") or bare_word(words[-1]) in en.FLOATING_QUANTIFIERS
    ):
        words = words[:-1]
    last = bare_word(words[-1])
    if last in en.BEFORE_A_NOUN:
        return last in {"they", "others"}
    if bare_word(words[0]) in _MANY or last in _MANY or any(bare_word(word) == "and" for word in words):
        return True
    noun = re.search(r"[^su'i]s$", last) is not None and (last not in _FINITE or last in en.NOUNS_TOO)
    return (
        noun and len(words) <= _SHORT_SUBJECT and not any(bare_word(word) in _PREPOSITIONS for word in words)
    )


def is_lead_in(words: Sequence[str]) -> bool:
    """True for words before a comma that only say where, when or during what."""
    first = bare_word(words[0]) if words else ""
    return (
        first in _PREPOSITIONS | en.SUBORDINATING | en.ADVERBS_FIRST
        or (first.endswith("ing") and first not in _NOUNS_IN_ING and len(first) > 4)
        or (first.endswith("ly") and len(words) == 1)
    )


def begins_a_clause(words: Sequence[str]) -> bool:
    """True where a subject that can be told stands first and a verb follows."""
    if not words:
        return False
    first = bare_word(words[0])
    subject = (
        first in en.NOMINATIVE_PRONOUNS | _BEFORE_NOUNS or words[0][:1].isupper() or first.endswith("'s")
    )
    return subject and main_verb(words) is not None


def may_end(words: Sequence[str]) -> bool:
    """False where the last word cannot be the last one: ``he walks to``, ``she takes the old``."""
    last, before = bare_word(words[-1]), bare_word(words[-2]) if len(words) > 1 else ""
    if last in en.NOT_LAST or last.endswith("'s") or not any(c.isalnum() for c in words[-1]):
        return False
    if last in {"other", "another"} and before in {"each", "one"}:
        return True
    adjective = last in en.ADJECTIVES or en.ADJECTIVE_ENDINGS.search(last) is not None
    in_phrase = any(bare_word(word) in _BEFORE_NOUNS for word in words[-4:-1]) or before in en.ADJECTIVES
    return not (adjective and in_phrase)


def cut_before(words: Sequence[str], at: int, verb: int) -> bool:
    """True where all from ``words[at]`` on may go; no comma stands before it, ``verb`` is the main verb."""
    word, before = bare_word(words[at]), bare_word(words[at - 1])
    if at <= verb or not may_end(words[:at]):
        return False
    if word in _NOT_AFTER:
        clause = word != "as" or begins_a_clause(list(words[at + 1 :]))
        return clause and before not in _NOT_AFTER[word]
    if word in {"and", "but", "then"}:
        return _another_deed(words, at, plural=bare_word(words[verb]) in en.PLAIN_VERBS)
    if word == "to" and _purpose(words, at, verb):
        return True
    if word.endswith("ing"):
        return _participle(words, at, verb)
    return _phrase(words, at, verb)


_NOT_AFTER = {
    "while": listed("a the little short long"),
    "until": listed("not"),
    "before": listed("just seconds moments ever never long shortly right from"),
    "when": listed("except just even only"),
    "as": listed("just even same such as so well soon long"),
    "who": listed("those one anyone everyone someone man people"),
}
"""Words that begin a clause, and those after which they do not."""


def _another_deed(words: Sequence[str], at: int, *, plural: bool) -> bool:
    """``and opens the door``, ``then runs``, ``and he smiles``, ``and the car stops``."""
    rest = list(words[at + 1 :])
    if bare_word(words[at]) in {"and", "but"} and rest and bare_word(rest[0]) == "then":
        rest = rest[1:]
    while rest and bare_word(rest[0]).endswith("ly"):
        rest = rest[1:]
    if not rest:
        return False
    first = bare_word(rest[0])
    if first in en.NOMINATIVE_PRONOUNS or first in _BEFORE_NOUNS:
        between = any(bare_word(word) in {"between", "both", "of"} for word in words[:at])
        return (first in en.NOMINATIVE_PRONOUNS or not between) and main_verb(rest) is not None
    if plural and first in en.PLAIN_VERBS:
        return len(rest) > 1 and bare_word(rest[1]) in en.AFTER_A_VERB
    if first in en.MOSTLY_NOUNS:
        return len(rest) > 1 and bare_word(rest[1]) in en.OBJECT_STARTERS | en.WAYS
    return is_verb(["he", *rest], 1)


def _purpose(words: Sequence[str], at: int, verb: int) -> bool:
    """``lifts his leg | to pee on flames``: what a deed is done for, after its object."""
    if at - verb < 3 or at + 2 >= len(words) or lemma(bare_word(words[verb])) in en.NEEDS_DEED:
        return False
    doing, after = bare_word(words[at + 1]), bare_word(words[at + 2])
    between = {bare_word(word) for word in words[verb + 1 : at]}
    tried = any(word.endswith("ing") and lemma(word) in en.NEEDS_DEED for word in between)
    return doing in en.PLAIN_VERBS and after in en.AFTER_A_VERB and not tried and not between & _OTHER_CLAUSES


def _participle(words: Sequence[str], at: int, verb: int) -> bool:
    word, before = bare_word(words[at]), bare_word(words[at - 1])
    if word in _NOUNS_IN_ING or len(word) < 5 or at + 1 >= len(words):
        return False
    if before in _PREPOSITIONS | _BEFORE_NOUNS | en.ADJECTIVES | {"and", "or", "not"}:
        return False
    if any(bare_word(w) in en.TAKES_ING | {"and"} for w in words[verb:at]):
        return False
    if _is_form_of_a_verb(words, at - 1):
        return False
    return not before.endswith("ing") and bare_word(words[at + 1]) in (
        en.OBJECT_STARTERS | _PREPOSITIONS | en.PARTICLES
    )


def _phrase(words: Sequence[str], at: int, verb: int) -> bool:
    """A phrase with a preposition after something that completes the verb: ``… a book | from the shelf``."""
    word, before = bare_word(words[at]), bare_word(words[at - 1])
    if word not in _SAFE_PREPOSITIONS or at + 1 >= len(words) or at - verb < 2:
        return False
    # The last verb before: a form in -ing after a comma, ``…, plunging the knife | into …``, or the main one.
    later = range(at - 1, verb, -1)
    deed = next((i for i in later if words[i - 1].endswith(",") and bare_word(words[i]) in en.GERUNDS), verb)
    if any(_is_needed(words, at, one) for one in {verb, deed}):
        return False
    if before in _PREPOSITIONS | _PAST or before.endswith(("ed", "ly", "ing")):
        return False
    if _is_form_of_a_verb(words, at - 1):
        return False
    # Another deed stands between: what follows may be part of that one.
    return not any(
        bare_word(w) in {"and", "but", "then", "who", "that", "as", "to"} for w in words[verb + 1 : at]
    )


def _is_needed(words: Sequence[str], at: int, deed: int) -> bool:
    """True where a verb is not whole without the phrase that begins at ``words[at]``."""
    word, doing = bare_word(words[at]), lemma(bare_word(words[deed]))
    between = {bare_word(one) for one in words[deed + 1 : at]}
    if doing in {"be", "have"}:
        return True
    if word == "to" and bare_word(words[at + 1]) in en.PLAIN_VERBS:
        return doing in en.NEEDS_DEED or bare_word(words[at - 1]) not in en.WAYS
    if (between & en.REFLEXIVE and doing not in en.WHOLE_WITH_ITSELF) or (word == "to" and "from" in between):
        return True
    if between & _SAFE_PREPOSITIONS:
        return False
    if doing in en.PUTS_SOMEWHERE:
        return not (doing in _MAY_TAKE and word == "from")
    # Where something goes: what is done to it is not told without, ``nudges his car | into the next``.
    return word in {"into", "onto"} and not between & (en.WAYS | en.ADVERBS | _FURTHER)


_FURTHER = listed("forward forwards further straight along")
_MAY_TAKE = listed("take draw lift pull")
"""Verbs that say enough without where from."""


def _is_form_of_a_verb(words: Sequence[str], at: int) -> bool:
    """True for a verb in the third person or its base form that is no noun in a phrase."""
    word, before = bare_word(words[at]), bare_word(words[at - 1]) if at else ""
    noun = before in _BEFORE_NOUNS | en.LINKING | en.ADJECTIVES or before.endswith("'s")
    # ``a strong hook``, ``the crowded square``: a word of which no list knows may stand between.
    in_phrase = at > 1 and bare_word(words[at - 2]) in _BEFORE_NOUNS and not words[at - 1].endswith(",")
    if word in _FINITE and not (word in en.NOUNS_TOO and (noun or in_phrase)):
        return True
    base = word in en.PLAIN_VERBS - en.MASS_NOUNS and words[at][:1].islower() and not noun
    return base and (word in en.NEEDS_PLACE | en.ADVERBS or not in_phrase)
