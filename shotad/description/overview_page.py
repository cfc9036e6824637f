"""The overview's page: everything in one file, to be read by eye, by ear and on paper, without scripts."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from shotad.core import Interval
from shotad.description import overview_signs as signs
from shotad.description.overview_data import Line, Look, Subject
from shotad.film import css, ink_on, matrix_image, page_environment, thread_colour
from shotad.script import is_changed, timecode

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "overview_templates"
_QUALITY = 64
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Embedded:
    """A picture inside the page. ``width`` and ``height`` are in CSS pixels."""

    uri: str
    width: int
    height: int


@dataclass(slots=True)
class Embeds:
    """The pictures of a page, collected while the film goes by.

    ``strip`` is by shot index; ``rows`` are those of the time line; ``frames`` are by line, painted
    number and second, ``matrices`` by line.
    """

    strip: dict[int, Embedded] = field(default_factory=dict)
    rows: list[tuple[Interval, Embedded]] = field(default_factory=list)
    frames: dict[str, dict[tuple[int, float], Embedded]] = field(default_factory=dict)
    matrices: dict[str, Embedded] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _TimelineRow:
    picture: Embedded
    words: str


@dataclass(frozen=True, slots=True)
class _Event:
    interval: Interval
    what: str
    words: str


def photo(picture: Image.Image) -> Embedded:
    """A frame of film for the page, as WebP."""
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=_QUALITY, method=2)
    return _embedded(out.getvalue(), picture.size)


def drawing(picture: Image.Image) -> Embedded:
    """A drawn picture for the page: WebP without loss."""
    out = io.BytesIO()
    picture.save(out, "WEBP", lossless=True, quality=60, method=4)
    return _embedded(out.getvalue(), picture.size)


def overview(
    subject: Subject,
    seconds: Mapping[str, Mapping[int, tuple[float, ...]]],
    tables: Mapping[str, ScoreTable],
    embeds: Embeds,
) -> Iterator[bytes]:
    """The page in pieces, UTF-8.

    ``seconds`` are the moments shown, by line and painted number; ``tables`` the scores by line.
    """
    stream = _environment().get_template("page.html.j2").generate(
        subject=subject,
        lead=lead(subject),
        summary=summary(subject),
        timeline=[_TimelineRow(picture, row_words(time, subject)) for time, picture in embeds.rows],
        events=_events(subject),
        strip=embeds.strip,
        frames=embeds.frames,
        matrices=embeds.matrices,
        seconds=seconds,
        tables=tables,
    )  # fmt: skip
    held: list[str] = []
    length = 0
    for part in stream:
        held.append(part)
        length += len(part)
        if length >= _CHUNK:
            yield "".join(held).encode("utf-8", "replace")
            held, length = [], 0
    yield "".join(held).encode("utf-8", "replace")


def lead(subject: Subject) -> str:
    """The film in one sentence."""
    heard = sum(line.cue.heard for line in subject.lines)
    parts = [
        f"{signs.minutes(subject.end)} long",
        signs.plural(len(subject.shots), "shot"),
        f"{signs.plural(len(subject.slots), 'slot')} for audio description",
        f"{signs.plural(heard, 'line')} spoken" if subject.track else "not described yet",
    ]
    return f"{subject.name}: {', '.join(parts)}."


def summary(subject: Subject) -> list[tuple[str, str]]:
    """What the summary table says, row by row."""
    shots, mean = len(subject.shots), subject.end / len(subject.shots)
    spoken = sum(u.interval.duration for u in subject.speech)
    free = sum(slot.interval.duration for slot in subject.slots)
    rows = [
        ("Length", f"{signs.minutes(subject.end)} (to {timecode(subject.end)})"),
        ("Shots", f"{shots}, {mean:.1f} s long on average"),
        ("Threads", _threads(subject)),
        ("Shot scales", signs.scales_words(subject) + _by(subject.scale_method)),
        ("Speech", _speech(subject, spoken)),
        ("Slots", f"{len(subject.slots)}, {free:.1f} s together"),
    ]
    if subject.track is not None:
        rows += [("Lines", _lines(subject.lines)), ("Engines", _engines(subject))]
        if people := signs.recognised_words(subject):
            rows.append(("Recognised", people))
        rows.append(("Reviewed by", signs.listed(subject.track.reviewed_by) or "nobody yet"))
        rows.append(("Without speech or line for over 45 s", _stretches(subject.silences)))
    return rows


def row_words(time: Interval, subject: Subject) -> str:
    """What a row of the time line shows, in words."""
    end = min(time.end, subject.end)
    shots = [shot for shot in subject.shots if shot.interval.overlaps(time)]
    spoken = sum(p.duration for u in subject.speech if (p := u.interval.clip(time)))
    slots = [slot for slot in subject.slots if slot.interval.overlaps(time)]
    heard = [line for line in subject.lines if line.cue.heard and line.interval.overlaps(time)]
    first, last = (shots[0].index, shots[-1].index) if shots else (0, 0)
    named = f"shot {first}" if first == last else f"shots {first} to {last}"
    return (
        f"{signs.span_words(Interval(time.start, end))}: {named}, {spoken:.1f} s of speech, "
        f"{signs.plural(len(slots), 'slot')}, {signs.plural(len(heard), 'spoken line')}."
    )


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
    stretches = signs.plural(len(subject.speech), "stretch", "stretches")
    return f"{stretches}, {spoken:.1f} s, {100 * spoken / subject.end:.0f} % of the film{source}"


def _lines(lines: Sequence[Line]) -> str:
    counts: dict[str, int] = {}
    for line in lines:
        words = signs.status_name(line.cue)
        counts[words] = counts.get(words, 0) + 1
    edited = sum(is_changed(line.cue) for line in lines)
    parts = [f"{number} {words}" for words, number in counts.items()]
    return ", ".join([*parts, *([f"{edited} edited by a person"] if edited else [])]) or "none"


def _engines(subject: Subject) -> str:
    makers = subject.track.makers if subject.track else ()
    return "; ".join(str(maker) for maker in makers) or "none named"


def _stretches(silences: Sequence[Interval]) -> str:
    return "; ".join(signs.span_words(silence) for silence in silences) or "never"


def _events(subject: Subject) -> list[_Event]:
    found = [_Event(u.interval, u.kind.value, u.text) for u in subject.speech]
    found += [_Event(s.interval, "slot", f"at most {s.max_words} words") for s in subject.slots]
    found += [
        _Event(line.interval, f"line, {signs.status_name(line.cue)}", line.cue.text) for line in subject.lines
    ]
    return sorted(found, key=lambda event: (event.interval, event.what))


def _embedded(webp: bytes, size: tuple[int, int]) -> Embedded:
    return Embedded(f"data:image/webp;base64,{base64.b64encode(webp).decode('ascii')}", *size)


def _environment() -> Environment:
    return page_environment(
        _TEMPLATES,
        time=timecode,
        span=signs.span_words,
        status=signs.status_words,
        people_words=signs.people_words,
        scale_words=signs.scale_words,
        thread_words=signs.thread_words,
        frames_words=signs.frames_words,
        seen_by=signs.seen_by,
        thread_colour=lambda letters: css(thread_colour(letters)),
        thread_ink=lambda letters: css(ink_on(thread_colour(letters))),
    )


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
    """Scores of a clip: ``cells[i][j]`` is that of the shots with painted numbers ``numbers[i]``, ``[j]``."""

    numbers: tuple[int, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[Score, ...], ...]
    threshold: float | None


def score_table(line: Line, subject: Subject) -> ScoreTable | None:
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
    return ScoreTable(tuple(shots), _names(look), cells, subject.threshold)


def score_picture(table: ScoreTable, title: str) -> Image.Image:
    """The same as a picture; pairs that share a set-up are framed."""
    values = np.array(
        [[np.nan if s.value is None else s.value for s in row] for row in table.cells], dtype=np.float64
    )
    joined = np.array([[score.joined for score in row] for row in table.cells])
    note = ""
    if table.threshold is not None:
        note = f"Framed: above {table.threshold:g}, so both shots share a camera set-up."
    return matrix_image(
        values,
        table.names,
        table.names,
        title=title,
        cells=[[score.words for score in row] for row in table.cells],
        marks=joined,
        note=note,
        low=0.0,
        high=1.0,
        text=18,
    )


def _cell(subject: Subject, slot: str, one: int, other: int) -> Score:
    value = subject.score(one, other, slot)
    if value is None:
        return Score(None)
    return Score(value, subject.threshold is not None and value > subject.threshold)


def _names(look: Look) -> tuple[str, ...]:
    return tuple(
        f"Shot {piece.number}" + (f" {piece.thread}" if piece.thread else "") for piece in look.pieces
    )
