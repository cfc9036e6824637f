"""Lines against the film: pace (T3), dialogue and subtitles (L10, L12), text on the screen (L11)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Generic, TypeVar

from shotad.core import Interval, TextFact, Utterance, is_english
from shotad.script.checked_lines import Material, TrackLine
from shotad.script.cue import count_words
from shotad.script.english_words import FUNCTION_WORDS
from shotad.script.pace import tempo, usual_words
from shotad.script.rules import Finding, Level, Limits, quotations, too_fast


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
        yield Finding(rule, level, f"{what}: {line.text[slice(*span)]!r}", span=span)


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
    """L11 for titles, signs and other text of which no line and nobody in the film says half the words, from
    `WINDOW` seconds before they are shown to `WINDOW` after. Credits, subtitles, doubtful readings are left
    out."""
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
            what = f"{text.kind} that nobody reads out, at {shown}: {short!r}"
            yield Finding("L11", Level.WARNING, what, when=shown)


def read_from(line: TrackLine, texts: Sequence[TextFact]) -> float | None:
    """The second from which the words that a line reads out stand on the screen nearby; None where it reads
    none, or they were not found there."""
    quoted = " ".join(line.text[start:end] for start, end in quotations(line.text))
    read = (text for text in texts if _counts(text) and _is_read(text.text, quoted)) if quoted else ()
    return min((t.first for t in read if abs(t.first - line.heard.start) <= _SAME), default=None)


def _counts(text: TextFact) -> bool:
    letters = sum(character.isalpha() for character in text.text)
    return text.kind in ("title", "sign", "text") and text.sure >= _SURE and letters >= 3


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


@dataclass(frozen=True, slots=True)
class IntervalIndex(Generic[Item]):
    """Items in order of their starts, which are kept beside them with the latest end so far."""

    items: tuple[Item, ...]
    starts: tuple[float, ...]
    ends: tuple[float, ...]

    @staticmethod
    def of(items: Iterable[Item], when: Callable[[Item], Interval]) -> IntervalIndex[Item]:
        """The items, by when each is; those that begin together stay in order."""
        ordered = sorted(((when(item), item) for item in items), key=lambda pair: pair[0].start)
        ends = accumulate((time.end for time, _ in ordered), max)
        return IntervalIndex(
            tuple(item for _, item in ordered), tuple(time.start for time, _ in ordered), tuple(ends)
        )

    def near(self, time: Interval, window: float = 0.0) -> tuple[Item, ...]:
        """All items that lie within ``window`` seconds of ``time`` or touch that, and perhaps shorter ones
        between them that do not."""
        first = bisect_left(self.ends, time.start - window)
        return self.items[first : bisect_right(self.starts, time.end + window)]
