"""The words by which a model may speak of the marks on one clip, ``dashed red`` held together as one.

While a text is cleaned, a style and its colour are joined by a sign that no text holds (`leaks.plain` lets
none through), so that the patterns for ``red`` serve for ``dashed red`` too and two people marked in red
stay two. `MarkWords.parted` undoes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from shotad.core import Mark
from shotad.description.leakwords import any_of
from shotad.film import COLOURS

HOLD = "\ue010"
"""Stands between a style and its colour."""

_SAID = {
    "dashed": r"(?:dashed|dotted|broken|dash(?:ed)?[- ]lined?)",
    "double": r"(?:doubled?|double[- ]lined?|concentric|twin)",
}
_ALIKE = {
    "pink": ("magenta", "purple", "fuchsia", "violet"),
    "cyan": ("turquoise", "teal", "aqua", "light blue"),
    "green": ("lime", "lime green"),
}
"""What models call these colours too; like the colours of other marks taken only together with a circle."""

_BEFORE_TAG = ("tag", "tagged", "label", "labelled", "labeled", "number", "numbered")

ROUND = r"(?:circles?|ellipses?|ovals?|outlines?|bounding box(?:es)?)"
"""Shapes that are hardly ever things of a film."""


@dataclass(frozen=True, slots=True)
class MarkWords:
    """``colours`` of the marks, lower case; ``alike`` are further words for these; ``styles`` and ``tags``
    those of the marks; ``boxes`` where people are marked by boxes.
    """

    colours: tuple[str, ...]
    alike: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    boxes: bool = True

    @property
    def shown(self) -> tuple[str, ...]:
        """Everything that may stand before ``circle``, styles and colours held together."""
        plain = (*self.colours, *self.alike)
        held = tuple(f"{style}{HOLD}{colour}" for style, colour in product(self.styles, ("", *plain)))
        return (*plain, *held)

    def join(self, text: str) -> str:
        """The text with each style held to its colour, or to nothing where only the style is named."""
        for pattern, instead in _joining(self):
            text = pattern.sub(instead, text)
        return text

    def unquoted(self, text: str) -> str:
        """The text with no quotation marks around a colour before a circle, and around a tag after "tag"."""
        for pattern in _quoted(self):
            text = pattern.sub(r"\g<bare>", text)
        return text


def parted(text: str) -> str:
    """Undoes `MarkWords.join`."""
    return text.replace(f"{HOLD} ", " ").replace(HOLD, " ")


def mark_words(marks: Iterable[Mark], colours: Sequence[str] = (), *, boxes: bool = True) -> MarkWords:
    """The words for these marks, and for plain ``colours``."""
    given = list(marks)
    names = dict.fromkeys(colour.lower() for colour in (*(mark.colour for mark in given), *colours))
    said = (other for colour in names for other in _ALIKE.get(colour, ()))
    alike = dict.fromkeys(other for other in (*said, *COLOURS) if given and other not in names)
    styles = dict.fromkeys(mark.style for mark in given if mark.style != "solid")
    tags = dict.fromkeys(mark.tag for mark in given if mark.tag)
    return MarkWords(tuple(names), tuple(alike), tuple(styles), tuple(tags), boxes)


@lru_cache(maxsize=64)
def _joining(words: MarkWords) -> tuple[tuple[re.Pattern[str], str], ...]:
    """``dashed red`` everywhere; other orders and words only beside a shape, since they are not put back."""
    found: list[tuple[str, str]] = []
    colour = any_of((*words.colours, *words.alike)) if words.colours else ""
    shape = rf"(?:{ROUND}|borders?|boxes|box|rings?)"
    for style in words.styles if colour else ():
        said = _SAID[style]
        found += [
            (rf"\b({style}) (?={colour}\b)", rf"\1{HOLD}"),
            (rf"\b{said}(?:[- ]|, )(?P<c>{colour})(?=[- ](?:colou?red )?{shape}\b)", rf"{style}{HOLD}\g<c>"),
            (rf"(?<!{HOLD})\b(?P<c>{colour})(?:[- ]|, ){said}(?= {shape}\b|[)\]])", rf"{style}{HOLD}\g<c>"),
            (rf"\b({style})(?= {ROUND}\b)", rf"\1{HOLD}"),
        ]
    return tuple((re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in found)


@lru_cache(maxsize=64)
def _quoted(words: MarkWords) -> tuple[re.Pattern[str], ...]:
    start, end = "[\"'“‘]", "[\"'”’]"
    found = []
    if words.colours:
        colour = any_of((*words.colours, *words.alike))
        found.append(rf"{start}(?P<bare>{colour}){end}(?= {ROUND}\b)")
    if words.tags:
        tag = any_of(words.tags)
        found += [rf"(?<=\b{said} ){start}(?P<bare>{tag}){end}" for said in _BEFORE_TAG]
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in found)
