"""L11: text on the screen that nobody reads out. Pure logic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from shotad.core import Interval, TextFact, Utterance
from shotad.script.english.smallwords import FUNCTION_WORDS
from shotad.script.lint.lines import Material, TrackLine
from shotad.script.rules import Finding, Level, quotations

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
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
    """L11 for titles and signs of which no line and nobody in the film says half the words, from `WINDOW`
    seconds before they are shown to `WINDOW` after. Credits, subtitles, doubtful readings are left out."""
    for text in _once(fact for fact in material.texts or () if _counts(fact)):
        shown = Interval(text.first, max(text.last, text.first + 0.001))
        around = Interval(shown.start - WINDOW, shown.end + WINDOW)
        heard = " ".join(_heard(around, material.lines, material.speech or ()))
        if not _is_read(text.text, heard):
            what = f"{text.kind} that nobody reads out, at {shown}: {_short(text.text)!r}"
            yield Finding("L11", Level.WARNING, what, when=shown)


def read_from(line: TrackLine, texts: Sequence[TextFact]) -> float | None:
    """The second from which the words that a line reads out stand on the screen nearby; None where it reads
    none, or they were not found there."""
    quoted = " ".join(line.text[start:end] for start, end in quotations(line.text))
    read = (text for text in texts if _counts(text) and _is_read(text.text, quoted)) if quoted else ()
    return min((t.first for t in read if abs(t.first - line.heard.start) <= _SAME), default=None)


def _counts(text: TextFact) -> bool:
    letters = sum(character.isalpha() for character in text.text)
    return text.kind in ("title", "sign") and text.sure >= _SURE and letters >= 3


def _once(texts: Iterable[TextFact]) -> list[TextFact]:
    """Each text once, however many clips show it, from where it is first to where it is last seen."""
    found: list[TextFact] = []
    for text in sorted(texts, key=lambda text: (text.first, text.text)):
        for i, known in enumerate(found):
            if text.first - known.last <= _SAME and _like(known.text.lower(), text.text.lower()):
                found[i] = replace(known, last=max(known.last, text.last))
                break
        else:
            found.append(text)
    return found


def _heard(around: Interval, lines: Sequence[TrackLine], speech: Sequence[Utterance]) -> Iterator[str]:
    yield from (line.said for line in lines if line.heard.overlaps(around))
    yield from (spoken.text for spoken in speech if spoken.interval.overlaps(around))


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


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59].rstrip()}…"
