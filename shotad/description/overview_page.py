"""The overview's page: lines first, the rest folded away; for eyes, ears and paper, without scripts."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from shotad.core import Interval
from shotad.description import overview_words as words
from shotad.description.overview_data import OverviewLine, Subject
from shotad.description.overview_timeline import timeline
from shotad.film import Colour, colour_of, css, ink_on, page_environment, thread_colour
from shotad.script import is_changed, timecode

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "overview_templates"
_QUALITY = 64
_CHUNK = 1000
"""Pieces of a template that are encoded together."""


@dataclass(frozen=True, slots=True)
class Photo:
    """A picture of the page: a file beside it, or inside it. ``width`` and ``height`` are in CSS pixels."""

    uri: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class _Event:
    interval: Interval
    what: str
    words: str


def webp(picture: Image.Image) -> bytes:
    """A frame of film for the page."""
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=_QUALITY, method=2)
    return out.getvalue()


def embedded(picture: Image.Image) -> Photo:
    """A frame of film inside the page."""
    data = base64.b64encode(webp(picture)).decode("ascii")
    return Photo(f"data:image/webp;base64,{data}", *picture.size)


def overview(
    subject: Subject,
    strip: Mapping[int, Photo],
    frames: Mapping[str, Photo],
) -> Iterator[bytes]:
    """The page in pieces, UTF-8.

    ``strip`` are the middle frames by shot index, ``frames`` those of lines by id. What is missing in them is
    shown as lost.
    """
    stream = _environment().get_template("page.html.j2").stream(
        subject=subject,
        lead=lead(subject),
        summary=summary(subject),
        timeline=timeline(subject),
        events=_events(subject),
        strip=strip,
        frames=frames,
        tables={line.id: table for line in subject.lines if (table := score_table(line, subject))},
    )  # fmt: skip
    stream.enable_buffering(_CHUNK)
    for part in stream:
        yield part.encode("utf-8", "replace")


def lead(subject: Subject) -> str:
    """The film in one sentence."""
    heard = sum(line.cue.heard for line in subject.lines)
    parts = [
        f"{words.minutes(subject.end)} long",
        words.plural(len(subject.shots), "shot"),
        f"{words.plural(len(subject.slots), 'slot')} for audio description",
        f"{words.plural(heard, 'line')} spoken" if subject.track else "not described yet",
    ]
    return f"{subject.name}: {', '.join(parts)}."


def summary(subject: Subject) -> list[tuple[str, str]]:
    """What the summary table says, row by row."""
    shots, mean = len(subject.shots), subject.end / len(subject.shots)
    spoken = sum(u.interval.duration for u in subject.speech)
    free = sum(slot.interval.duration for slot in subject.slots)
    rows = [
        ("Length", f"{words.minutes(subject.end)} (to {timecode(subject.end)})"),
        ("Shots", f"{shots}, {mean:.1f} s long on average"),
        ("Threads", _threads(subject)),
        ("Shot scales", words.scales_words(subject) + _by(subject.scale_method)),
        ("Speech", _speech(subject, spoken)),
        ("Slots", f"{len(subject.slots)}, {free:.1f} s together"),
    ]
    if subject.track is not None:
        engines = "; ".join(dict.fromkeys(maker.name for maker in subject.track.makers)) or "none named"
        rows += [("Lines", _lines(subject.lines)), ("Engines", engines)]
        if people := words.recognised_words(subject):
            rows.append(("Recognised", people))
        rows.append(("Reviewed by", words.listed(subject.track.reviewed_by) or "nobody yet"))
        stretches = "; ".join(map(words.span_words, subject.silences)) or "never"
        rows.append(("Without speech or line for over 45 s", stretches))
    return rows


def _threads(subject: Subject) -> str:
    threads = subject.threads
    if not threads:
        return "none known" + _by(subject.features)
    joined = sum(len(shots) for shots in threads.values())
    limit = "" if subject.threshold is None else f", scores above {subject.threshold:g}"
    return f"{len(threads)}, with {joined} shots together{_by(subject.features)}{limit}"


def _by(maker: str | None) -> str:
    return f"; told by {maker}" if maker else ""


def _speech(subject: Subject, spoken: float) -> str:
    source = f"; {subject.speech_source}" if subject.speech_source else ""
    if not subject.speech:
        return f"none{source}"
    stretches = words.plural(len(subject.speech), "stretch", "stretches")
    return f"{stretches}, {spoken:.1f} s, {100 * spoken / subject.end:.0f} % of the film{source}"


def _lines(lines: Sequence[OverviewLine]) -> str:
    counts: dict[str, int] = {}
    for line in lines:
        status = words.status_name(line.cue)
        counts[status] = counts.get(status, 0) + 1
    edited = sum(is_changed(line.cue) for line in lines)
    parts = [f"{number} {status}" for status, number in counts.items()]
    return ", ".join([*parts, *([f"{edited} edited by a person"] if edited else [])]) or "none"


def _events(subject: Subject) -> list[_Event]:
    found = [_Event(u.interval, u.kind.value, u.text) for u in subject.speech]
    found += [_Event(s.interval, "slot", f"at most {s.max_words} words") for s in subject.slots]
    found += [
        _Event(line.interval, f"line, {words.status_name(line.cue)}", line.cue.text) for line in subject.lines
    ]
    return sorted(found, key=lambda event: (event.interval, event.what))


def _environment() -> Environment:
    return page_environment(
        _TEMPLATES,
        time=timecode,
        span=words.span_words,
        status=words.status_words,
        people_words=words.people_words,
        scale_words=words.scale_words,
        thread_words=words.thread_words,
        frames_words=lambda piece: words.plural(piece.frames, "frame"),
        seen_by=words.seen_by,
        thread_colours=lambda letters: _colours(thread_colour(letters)),
        score_colours=lambda value: _colours(colour_of(value)),
    )


def _colours(ground: Colour) -> str:
    """A colour, and white to write on it where black (the page's own for these) is not to be read, as CSS."""
    ink = css(ink_on(ground))
    return f"background:{css(ground)}" + (f";color:{ink}" if ink != "#000000" else "")


@dataclass(frozen=True, slots=True)
class Score:
    """One cell: None where the two shots were not compared; ``joined`` where they share a set-up."""

    value: float | None
    joined: bool = False

    @property
    def words(self) -> str:
        return "" if self.value is None else f"{self.value:.2f}"


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores of a clip: ``cells[i][j]`` is that of its shots ``i`` and ``j``, which ``names`` names."""

    names: tuple[str, ...]
    cells: tuple[tuple[Score, ...], ...]
    threshold: float | None


def score_table(line: OverviewLine, subject: Subject) -> ScoreTable | None:
    """The scores of the clip of ``line``; None where not one pair of its shots was compared."""
    look = line.look
    if look is None:
        return None
    slot = line.cue.slot_id or ""
    shots = {piece.number: piece.shot for piece in look.pieces}
    cells = tuple(
        tuple(_cell(subject, slot, shots[a], shots[b]) if a != b else Score(None) for b in shots)
        for a in shots
    )
    if all(score.value is None for row in cells for score in row):
        return None
    names = tuple(f"Shot {piece.number} {piece.thread or ''}".rstrip() for piece in look.pieces)
    return ScoreTable(names, cells, subject.threshold)


def _cell(subject: Subject, slot: str, one: int, other: int) -> Score:
    value = subject.score(one, other, slot)
    if value is None:
        return Score(None)
    return Score(value, subject.threshold is not None and value > subject.threshold)
