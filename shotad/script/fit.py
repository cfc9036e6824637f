"""Making a line short enough without a model: drop sentences, then clauses and phrases, else give up.

The order is the one listeners prefer. What is left must be a whole sentence with its verb: where that cannot
be told the line is not cut. A phrase is never cut in two, and what is quoted stays whole. Lines in other
languages than English lose sentences and what follows a comma, and get the signs of their own script. A
writer may be asked for a shorter line (`Shorten`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from shotad.core import is_english
from shotad.script import clauses
from shotad.script.english_words import OWNED, PREPOSITIONS, listed
from shotad.script.pace import rate_of, spoken_words
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
class Fitted:
    """A line that fits, and what was done to make it so (empty: nothing)."""

    text: str
    steps: tuple[str, ...] = ()


def variants(text: str, *, language: str = "en") -> Iterator[Fitted]:
    """The line as it is, then ever shorter whole forms of it, each said in less time than the one before.

    First sentences go, the last one first. Of English lines clauses and phrases are dropped where what stays
    is sure to be a sentence; of others only what follows a comma.
    """
    yield Fitted(text)
    least = spoken_words(text, language)
    for fitted in _forms(text, language):
        if 0 < (words := spoken_words(fitted.text, language)) < least:
            yield fitted
            least = words


def fit_spoken(text: str, max_words: int, *, language: str = "en") -> Fitted | None:
    """``text`` in the time of at most ``max_words`` English words (`spoken_words`), or None where nothing
    whole is short enough."""
    forms = variants(text, language=language)
    found = next((one for one in forms if spoken_words(one.text, language) <= max_words), None)
    fewest = min(_FEWEST, max_words) if rate_of(language).words else 1
    few = found is not None and found.steps and spoken_words(found.text, language) < fewest
    return None if few else found


def _forms(text: str, language: str) -> Iterator[Fitted]:
    """Beginnings of a line, the longest first, and what can be made of its first sentence alone."""
    wide = not rate_of(language).words
    parts = _WIDE_END.split(text) if wide else split_sentences(text, language)
    sentences = [part for part in parts if part.strip()]
    for number in range(min(len(sentences) - 1, _MOST), 0, -1):
        yield Fitted(("" if wide else " ").join(sentences[:number]).strip(), ("dropped sentences",))
    steps = ("dropped sentences",) if len(sentences) > 1 else ()
    for sentence in sentences[:1]:
        if is_english(language):
            yield from (Fitted(head, (*steps, "dropped clauses")) for head in _shorter(sentence))
            return
        # Beginnings that end before a comma or a dash, the longest first.
        border, stop = (_WIDE_BORDER, "。") if wide else (_BORDER, ".")
        for match in reversed(list(border.finditer(sentence))):
            head = sentence[: match.start()].strip().rstrip(" ,;:–—-")
            if _quotes_closed(head):
                yield Fitted(f"{head}{stop}", (*steps, "dropped clauses"))


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
    if commas and clauses.is_lead(words[: commas[0] + 1]):
        rest = words[commas[0] + 1 :]
        if rest and clauses.begins_a_clause(rest):
            yield rest
    if len(commas) >= 2 and not clauses.is_lead(words) and clauses.main_verb(words[: commas[0] + 1]) is None:
        aside, rest = words[commas[0] + 1 : commas[1] + 1], words[commas[1] + 1 :]
        subject = [*words[: commas[0]], words[commas[0]].rstrip(",")]
        is_aside = clauses.is_lead(aside) or clauses.bare(aside[0]) in _ASIDE
        if rest and is_aside and len(subject) <= 4 and clauses.is_verb(["he", *rest], 1):
            yield [*subject, *rest]


_ASIDE = listed("who his her their now still whose")


def _beginnings(words: list[str]) -> Iterator[list[str]]:
    """Beginnings of a sentence that are sentences themselves; of ``A, B, and C`` also ``A and B``."""
    verb = clauses.main_verb(words)
    if verb is None:
        return
    for at in range(verb + 1, len(words)):
        head = words[:at]
        if _BORDER.fullmatch(f"{head[-1][-1]} ") or head[-1] in {"–", "—", "-"}:
            head = [*head[:-1], head[-1].rstrip(",;:–—-")]
            head = head if head[-1] else head[:-1]
            if _cut_at_comma(head, words[at:], verb) and (joined := _joined(head, words[at:], verb, True)):
                yield joined
        elif clauses.cut_before(words, at, verb) and (joined := _joined(head, words[at:], verb, False)):
            yield joined


_STARTS = listed(
    "and then but or so yet while as before until when where who which whose with without one each both "
    "still now his her their its a an the arms hands head eyes lips"
)


def _cut_at_comma(head: list[str], rest: Sequence[str], verb: int) -> bool:
    first, is_deed = clauses.bare(rest[0]), clauses.is_verb(["he", *rest], 1)
    known = first in _STARTS or first in PREPOSITIONS or first.endswith(("ing", "ed", "ly")) or is_deed
    if not (known and len(head) > verb and clauses.may_end(head)):
        return False
    # ``…, held by two hoists, swings out``: the words before were the subject of what follows.
    end = next((at for at, word in enumerate(rest) if word.endswith(",")), None)
    if end is None or end + 1 >= len(rest) or first in {"and", "then", "but"}:
        return True
    return is_deed or not clauses.is_verb(["he", *rest[end + 1 :]], 1)


def _joined(head: list[str], rest: Sequence[str], verb: int, cut_at_comma: bool) -> list[str] | None:
    """The head, its last comma made an "and" where it stood in a list; None where that cannot be told."""
    commas = [at for at, word in enumerate(head[:-1]) if word.endswith(",") and at >= verb]
    if not commas:
        return head
    at = commas[-1]
    member = head[at + 1 :]
    joined = [*head[:at], head[at].rstrip(","), "and", *member]
    first = clauses.bare(member[0])
    if clauses.is_verb(["he", *member], 1):
        return head if any(clauses.bare(word) in {"and", "then"} for word in member) else joined
    known = first in PREPOSITIONS or first in _SUBORDINATE or first.endswith(("ing", "ed", "ly"))
    if not known and not cut_at_comma:
        return None
    ands = [i for i, word in enumerate(rest) if clauses.bare(word) in {"and", "or"}]
    if known or not ands:
        return head
    if clauses.is_verb(["he", *rest[ands[0] + 1 :]], 1):
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


def own_signs(text: str, language: str) -> str:
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
class Answer:
    """A writer's line, and what is wrong with it (nothing: it may be spoken)."""

    text: str
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """A line that is to be said in at most ``words`` words.

    Words are English ones, or as many as take as long in ``language`` (`shotad.script.pace`). ``before`` is
    the last answer, if it was no use.
    """

    id: str
    text: str
    words: int
    language: str = "en"
    before: Answer | None = None

    def __post_init__(self) -> None:
        if self.words < 1:
            raise ValueError(f"a line must be allowed at least one word, got words = {self.words}")


Shorten = Callable[[Sequence[Wish]], Sequence[Answer | None]]
"""One answer for each wish, in order; None where there is none. Never raises for a line that failed."""
