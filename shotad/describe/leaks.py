"""What of the prompt's devices leaked into a description: circles, their colours, shot numbers, the camera.

Stage I marks people with coloured circles and shots with numbers, and asks never to mention them; models
do so all the same. What can be taken out with the sentence still whole is taken out; the rest is named, so
that it is asked again. Things of the story (a gunshot, a red car, a camera in a hand) stay: where it cannot
be told which is meant, the text is left as it is. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from shotad.describe import leakwords as found_in
from shotad.describe.fit import split_sentences
from shotad.describe.restate import restated
from shotad.script.rules import quotations
from shotad.types import Description

_MARK = "\ue000"
"""Stands for a text in quotation marks while the rest is cleaned; `plain` lets no such sign through."""


def clean(
    description: Description, *, shots: Sequence[int], colours: Sequence[str], names: Sequence[str] = ()
) -> tuple[Description, tuple[str, ...]]:
    """The description without what leaked into its steps, and what could not be taken out, a phrase each.

    ``shots`` are the numbers painted on the frames, ``colours`` those of the circles (none: colour words are
    left alone), ``names`` of people, which stay even if they are colours. A step of which nothing is left
    falls out, unless nothing would be left at all. The explanation and the raw answer are untouched.
    """
    patterns = found_in.patterns(tuple(shots), _colours(colours, names))
    steps: dict[str, str] = {}
    remains: list[str] = []
    for heading, text in description.steps.items():
        cleaned = _Cleaner(patterns, tuple(names)).cleaned(text)
        if cleaned.text:
            steps[heading] = cleaned.text
            remains += cleaned.remains
    if not steps:
        whole = " ".join(description.steps.values())
        return description, (_shortened(whole),)
    return replace(description, steps=steps), tuple(dict.fromkeys(remains))


@dataclass(frozen=True, slots=True)
class _Cleaned:
    text: str
    remains: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Cleaner:
    patterns: found_in.Patterns
    names: tuple[str, ...]

    def cleaned(self, text: str) -> _Cleaned:
        hidden, quoted = _hide_quotations(self.patterns.label_in_quotes.sub(r"\1", text))
        kept = [line for sentence in split_sentences(hidden) if (line := self._sentence(sentence))]
        joined = self._told_apart(" ".join(kept))
        remains = tuple(dict.fromkeys(_shortened(phrase) for phrase in self._remains(joined)))
        return _Cleaned(_show_quotations(joined, quoted), remains)

    def _sentence(self, sentence: str) -> str:
        """The sentence without what leaked, or nothing where it told of nothing else."""
        if self.patterns.about_marks.search(sentence):
            return ""
        line = sentence
        for _ in range(4):
            before = line
            line = self._once(line)
            if line == before:
                break
        if line == sentence:
            return sentence
        return _whole(line)

    def _once(self, line: str) -> str:
        of_screen = found_in.SCREEN.search(line) is not None
        line = self._without_circles(line)
        for pattern in self.patterns.openings:
            line = _capital(pattern.sub("", line, count=1))
        for pattern in self.patterns.asides:
            line = pattern.sub("", line)
        if not of_screen:
            for pattern in found_in.MEDIA_ASIDES:
                line = pattern.sub("", line)
        for pattern, instead in found_in.PLACES:
            line = pattern.sub(instead, line)
        for pattern in () if of_screen else (self.patterns.presents,):
            if match := pattern.match(line):
                line = restated(match["rest"], self.names)
        if match := self.patterns.numbered_presents.match(line):
            line = restated(match["rest"], self.names)
        return _tidy(line)

    def _without_circles(self, line: str) -> str:
        if found_in.PAPER.search(line):
            return line
        for pattern, instead in self.patterns.circles:
            line = pattern.sub(instead, line)
        return line

    def _told_apart(self, text: str) -> str:
        """``the man⟨red⟩ … the man⟨green⟩`` → ``the man … the other man``; a third is named by its circle."""
        colours: dict[str, list[str]] = {}
        for match in found_in.TAGGED.finditer(text):
            seen = colours.setdefault(match["who"].lower(), [])
            if match["colour"] not in seen:
                seen.append(match["colour"])

        def instead(match: re.Match[str]) -> str:
            article, who, colour = match["article"] or "", match["who"], match["colour"]
            place = colours[who.lower()].index(colour)
            if place == 0 or not article.lower().startswith(("the", "a")):
                return f"{article}{who}" if place < 2 else f"{article}{who} in the {colour} circle"
            if place == 1:
                other = {"the ": "the other ", "The ": "The other ", "a ": "another ", "A ": "Another "}
                return f"{other.get(article, article)}{who}"
            return f"{article}{who} in the {colour} circle"

        return found_in.TAGGED.sub(instead, text)

    def _remains(self, text: str) -> Iterator[str]:
        of_screen = found_in.SCREEN.search(text) is not None
        on_paper = found_in.PAPER.search(text) is not None
        for pattern in self.patterns.remains:
            for match in pattern.finditer(text):
                yield match[0]
        if not on_paper:
            for pattern in self.patterns.circle_remains:
                for match in pattern.finditer(text):
                    yield match[0]
        if not of_screen:
            for match in found_in.MEDIA_REMAINS.finditer(text):
                yield match[0]


def _colours(colours: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    called = {word.lower() for name in names for word in name.split()}
    return tuple(dict.fromkeys(colour.lower() for colour in colours if colour.lower() not in called))


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
    line = re.sub(r"\s+([,.;:!?])", r"\1", line)
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
