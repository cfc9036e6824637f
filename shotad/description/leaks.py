"""What of the prompt's devices leaked into a description: circles, their colours, shot numbers, the camera.

Stage I marks people with coloured circles and shots with numbers, and asks never to mention them; models do
so all the same. What can be taken out with the sentence still whole is taken out ("The clip shows a man
running" becomes "A man is running"); the rest is named, so that it is asked again. Things of the story (a
gunshot, a red car, a camera in a hand) stay: where it cannot be told which is meant, the text is left as it
is. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from shotad.core import Description, Mark
from shotad.description import leakwords as found_in
from shotad.description.leakwords import (
    PAPER,
    TAGGED,
    CirclePatterns,
    MarkWords,
    circle_patterns,
    mark_words,
    parted,
)
from shotad.script import (
    ARTICLES,
    LINKING,
    NOUNS_IN_ING,
    PERHAPS_NOUNS_IN_ING,
    PLURALS,
    POSSESSIVES,
    listed,
    main_verb,
    quotations,
    split_sentences,
)

_MARK = "\ue000"
"""Stands for a text in quotation marks while the rest is cleaned; `plain` lets no such sign through."""


def clean(
    description: Description,
    *,
    shots: Sequence[int],
    marks: Iterable[Mark] = (),
    colours: Sequence[str] = (),
    names: Sequence[str] = (),
    boxes: bool = True,
) -> tuple[Description, tuple[str, ...]]:
    """The description without what leaked into its steps, and what could not be taken out, a phrase each.

    ``shots`` are the numbers painted on the frames, ``marks`` what is drawn around people, or ``colours``
    where only those are known (neither: colour words are left alone), ``boxes`` whether it may be boxes;
    ``names`` of people stay even if they are colours. A step of which nothing is left falls out, unless
    nothing would be left at all. The explanation and the raw answer are untouched.
    """
    called = {word.lower() for name in names for word in name.split()}
    words = mark_words(marks, colours, boxes=boxes)
    cleaner = _Cleaner(
        found_in.patterns(tuple(shots)),
        circle_patterns(words, tuple(colour for colour in words.colours if colour in called)),
        words,
        tuple(names),
    )
    steps: dict[str, str] = {}
    remains: list[str] = []
    for heading, text in description.steps.items():
        cleaned = cleaner.cleaned(text)
        if cleaned.text:
            steps[heading] = cleaned.text
            remains += cleaned.remains
    if not steps:
        whole = _shortened(" ".join(description.steps.values()))
        return description, (whole,) if whole else ()
    return replace(description, steps=steps), tuple(dict.fromkeys(remains))


@dataclass(frozen=True, slots=True)
class _Cleaned:
    text: str
    remains: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Cleaner:
    patterns: found_in.Patterns
    circles: CirclePatterns | None
    words: MarkWords
    names: tuple[str, ...]

    def cleaned(self, text: str) -> _Cleaned:
        unquoted = self.words.unquoted(self.patterns.label_in_quotes.sub(r"\1", text))
        hidden, quoted = _hide_quotations(self.patterns.label_within.sub("", unquoted))
        kept = [line for sentence in split_sentences(hidden) if (line := self._sentence(sentence))]
        joined = _told_apart(" ".join(kept))
        remains = tuple(dict.fromkeys(_shortened(parted(phrase)) for phrase in self._remains(joined)))
        return _Cleaned(_show_quotations(parted(joined), quoted), remains)

    def _sentence(self, sentence: str) -> str:
        """The sentence without what leaked, or nothing where it told of nothing else."""
        if len(sentence) > _LONGEST:
            return sentence
        line = start = sentence if PAPER.search(sentence) else self.words.join(sentence)
        for _ in range(_MOST_PASSES):
            before = line
            if self._is_about_marks(line):
                return ""
            line = self._once(line)
            if line == before:
                break
        return sentence if line == start else _whole(line)

    def _is_about_marks(self, line: str) -> bool:
        circles = self.circles is not None and not PAPER.search(line) and self.circles.about.search(line)
        return bool(circles) or self.patterns.about_marks.search(line) is not None

    def _once(self, line: str) -> str:
        """The sentence with each pattern used once; exactly as it was where none is found."""
        of_screen = found_in.SCREEN.search(line) is not None
        changed = self._without_circles(line)
        for pattern in self.patterns.openings:
            if match := pattern.match(changed):
                changed = _capital(changed[match.end() :])
        asides = self.patterns.asides if of_screen else (*self.patterns.asides, *found_in.MEDIA_ASIDES)
        for pattern in asides:
            changed = pattern.sub("", changed)
        for pattern, instead in found_in.PLACES:
            changed = pattern.sub(instead, changed)
        changed = self._restated(changed, of_screen)
        return line if changed == line else _tidy(changed)

    def _restated(self, line: str, of_screen: bool) -> str:
        if match := self.patterns.set_in.match(line):
            return set_in(match["where"])
        shown = None if of_screen else self.patterns.presents.match(line)
        shown = shown or self.patterns.numbered_presents.match(line)
        return restated(shown["rest"], self.names) if shown else line

    def _without_circles(self, line: str) -> str:
        if self.circles is None or PAPER.search(line):
            return line
        if match := self.circles.only_marked.match(line):
            return present(match["who"], match["be"])
        for pattern, instead in self.circles.gone:
            line = pattern.sub(instead, line)
        return line

    def _remains(self, text: str) -> Iterator[str]:
        patterns = list(self.patterns.remains)
        if self.circles is not None and not PAPER.search(text):
            patterns += self.circles.remains
            text = self.words.join(text)
        if not found_in.SCREEN.search(text):
            patterns.append(found_in.MEDIA_REMAINS)
        for pattern in patterns:
            for match in pattern.finditer(text):
                yield match["leak"] if "leak" in pattern.groupindex else match[0]


_MOST_PASSES = 4
"""A sentence may hold one leak in another: an opening, then "the clip shows", then a circle."""

_LONGEST = 1000
"""Characters of a sentence; a model that repeats itself without an end writes longer ones."""

_TAG = "\ue001"
_OTHER = {"the ": "the other ", "The ": "The other ", "a ": "another ", "A ": "Another "}


def _told_apart(text: str) -> str:
    """Of people told by two colours the second is "the other"; a third keeps its circle, a leak still."""
    if _TAG not in text:
        return text
    told: dict[str, list[str]] = {}
    for match in TAGGED.finditer(text):
        seen = told.setdefault(match["who"].lower(), [])
        if _mark_told(match) not in seen:
            seen.append(_mark_told(match))

    def instead(match: re.Match[str]) -> str:
        article, who = match["article"] or "", match["who"]
        place = told[who.lower()].index(_mark_told(match))
        if place > 1:
            return f"{article}{who} {_mark_told(match)}"
        return f"{_OTHER.get(article, article) if place else article}{who}"

    return TAGGED.sub(instead, text)


def _mark_told(match: re.Match[str]) -> str:
    """The mark by which somebody was told, in words."""
    colour, tag = match["colour"].lower(), match["tag"] or ""
    if colour == "tagged":
        return f"tagged {tag}"
    return f"in the {colour} circle" + (f" tagged {tag}" if tag else "")


def _hide_quotations(text: str) -> tuple[str, list[str]]:
    parts: list[str] = []
    quoted: list[str] = []
    at = 0
    for start, end in quotations(text):
        parts += [text[at:start], _MARK]
        quoted.append(text[start:end])
        at = end
    return "".join((*parts, text[at:])), quoted


def _show_quotations(text: str, quoted: Sequence[str]) -> str:
    shown = iter(quoted)
    return re.sub(_MARK, lambda _: next(shown, ""), text)


def _tidy(line: str) -> str:
    """Blanks and commas as they should be after something was taken out."""
    line = re.sub(r"\s+", " ", line).strip()
    line = re.sub(r"(?<!\s)\s+([,.;:!?])", r"\1", line)
    line = re.sub(r"(?:[,;:] ?)+(?=[,;:.!?])", "", line)
    line = re.sub(r"\(\s*\)|\[\s*\]", "", line)
    line = re.sub(r"^[\s,;:.–—-]+", "", line)
    return re.sub(r"\s+", " ", line).strip()


def _capital(line: str) -> str:
    line = line.lstrip(" ,;:–—-")
    return line[:1].upper() + line[1:]


def _whole(line: str) -> str:
    """The sentence if it still is one: two words at least, a capital, an end."""
    line = _capital(line)
    if sum(any(c.isalnum() or c == _MARK for c in word) for word in line.split()) < 1:
        return ""
    return line if line.endswith((".", "!", "?", "…", _MARK, '"', "'")) else f"{line.rstrip(' ,;:')}."


def _shortened(phrase: str) -> str:
    words = phrase.split()
    return " ".join(words[:8]).strip(" ,.;:")


_BEFORE_NOUN = ARTICLES | POSSESSIVES | LINKING | listed("in on this that some another")
"""Words after which a form in -ing is a noun; after "two" and "near" it may be what the subject does."""
_PREPOSITION = (
    r"(?:with|of|in|on|at|near|from|by|inside|outside|behind|beside|under|over|through|among|between)"
)
_NUMBERS = (
    r"(?:two|three|four|five|six|seven|eight|several|many|some|both|various|multiple|numerous|few|a few)"
)


def restated(rest: str, names: Sequence[str] = ()) -> str:
    """What stands after ``The clip shows``, as a sentence of its own.

    ``a man who runs → A man runs``, ``Ann opening a gate → Ann is opening a gate``,
    ``a gun → There is a gun``, ``the gun → The gun can be seen``.
    """
    text = _VIEW_OF.sub("", rest.strip())
    head, comma, tail = _split(text)
    at = _participle(head)
    if head.lower().startswith("that "):
        said = head[5:]
    elif match := _WHO_DOES.match(head):
        said = f"{match['who']} {match['does']}"
    elif at is not None:
        words = head.split()
        said = f"{' '.join(words[:at])} {_be(words[:at], names)} {' '.join(words[at:])}"
    elif _finite(head):
        said = head
    else:
        said = _there(head, names)
    sentence = f"{said}{comma}{tail}"
    return sentence[:1].upper() + sentence[1:]


def present(who: str, be: str) -> str:
    """Somebody of whom no more is said: ``a man → There is a man.``, ``Ann → Ann is there.``"""
    if re.match(rf"(?:an?|{_NUMBERS})\b", who, re.IGNORECASE):
        return f"There {be} {who[0].lower()}{who[1:]}."
    return f"{who} {be} there."


def set_in(where: str) -> str:
    """``in a forest. → The setting is a forest.``"""
    return f"The setting is {re.sub(r'^(?:in|at) ', '', where)}"


_VIEW_OF = re.compile(
    r"^(?:an? |the )?(?:(?:extreme|wide|medium|long|full|close|aerial|overhead|brief|tracking) )*"
    r"(?:close-ups?(?: (?:shots?|views?))?|shots?) of (?!\w+ glass)",
    re.IGNORECASE,
)
_WHO_DOES = re.compile(r"(?P<who>[^,;]+?),? (?:who|which) (?P<does>.+)")
_AS_THEY = re.compile(r" as (?:he|she|they|it) (?=\w)")
_CLAUSE = re.compile(r"[,;] (?=while |as |and (?:he|she|they|it|then)\b|before )|(?<=\w)[.!?…]\W*$")


def _split(text: str) -> tuple[str, str, str]:
    """Before and after the first comma that begins a clause of its own, or the sentence's end."""
    text = _AS_THEY.sub(" who ", text, count=1) if _participle(text) is None else text
    found = _CLAUSE.search(text)
    return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")


_CLAUSE_WORDS = listed("where who that which when is are has have while as")
"""Words after which a verb in -ing is no longer what the subject does."""


def _participle(head: str) -> int | None:
    """Where the first verb in -ing stands after its subject, as an index of words."""
    words = head.split()
    for at, word in enumerate(words):
        plain = word.strip(",;:").lower()
        before = words[at - 1].lower() if at else ""
        after = words[at + 1].lower() if at + 1 < len(words) else "of"
        noun = plain in NOUNS_IN_ING or (plain in PERHAPS_NOUNS_IN_ING and re.fullmatch(_PREPOSITION, after))
        if plain in _CLAUSE_WORDS:
            return None
        if at and plain.endswith("ing") and len(plain) > 4 and not noun and before not in _BEFORE_NOUN:
            return at
    return None


def _finite(head: str) -> bool:
    """True where a verb stands that is not in a clause on the last noun."""
    main = re.split(r"\b(?:where|that|which|when)\b", head, maxsplit=1)[0]
    return (
        re.search(r"\b(?:is|are|has|have|does|can)\b", main) is not None
        or main_verb(main.split()) is not None
    )


def _there(head: str, names: Sequence[str]) -> str:
    words = head.split()
    first = words[0].lower() if words else ""
    if first in ("a", "an") or re.match(_NUMBERS, head, re.IGNORECASE):
        return f"There {_be(words, names)} {head[0].lower()}{head[1:]}"
    return f"{head} can be seen"


def _be(subject: Sequence[str], names: Sequence[str]) -> str:
    """``is`` or ``are`` for this subject: ``Ann and Bo`` are, ``a man with flowers`` is."""
    phrase = re.split(rf"\b{_PREPOSITION}\b", " ".join(subject), maxsplit=1)[0].strip(" ,")
    last = phrase.split()[-1].strip(",") if phrase.split() else ""
    if re.search(r"\band\b", phrase) or re.match(rf"{_NUMBERS}\b", phrase, re.IGNORECASE):
        return "are"
    if last in names or re.match(r"(?:an?|one|this|that|he|she|it)\b", phrase, re.IGNORECASE):
        return "is"
    plural = last.lower() in PLURALS | {"they"} or (
        last[:1].islower() and re.search(r"[^sui]s$", last) is not None
    )
    return "are" if plural else "is"
