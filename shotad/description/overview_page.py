"""The overview: ``overview.html``, a film's lines, shots, threads, scales, speech and slots on one page.

Lines come first, the rest is folded away; it is for eyes, ears and paper, without scripts.

The film is read once, in order of time. Its small pictures, the middle of each shot and one frame of each
line, are files in the folder ``overview`` beside the page, or stand in the page itself.
"""

from __future__ import annotations

import base64
import io
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from shotad.core import (
    Clip,
    Config,
    Interval,
    NoProgress,
    OverlaySettings,
    Progress,
    Role,
    ShotScale,
    SpeechKind,
    inner_folder,
    own_files,
    plural,
    reported,
    span,
    spanned,
    write_bytes,
)
from shotad.description.overview_data import (
    Piece,
    SheetShot,
    SlotView,
    Subject,
    read_subject,
)
from shotad.film import (
    Colour,
    Picture,
    Pictures,
    colour_of,
    css,
    fit,
    ink_on,
    page_environment,
    paint,
    thread_colour,
    vlm_size,
)
from shotad.script import Cue, CueStatus, is_changed, timecode

_TEMPLATES = Path(__file__).parent / "overview_templates"
_QUALITY = 64
_CHUNK = 1000
"""Pieces of a template that are encoded together."""


PAGE, PICTURES = "overview.html", "overview"

_PICTURE = re.compile(r"(?:shot|line)-\d{5,}\.webp")
"""Names of the pictures that `write_sheet` writes."""

PIXELS = 20_000
"""Of a frame on the page: 189 x 106 for 16:9."""


Photo = dict[str, Any]
"""A picture of the page: its ``uri``, a file beside it or data, ``width`` and ``height`` in CSS pixels."""


@span("sheet")
def write_sheet(
    folder: Path,
    pictures: Pictures,
    config: Config,
    progress: Progress | None = None,
    *,
    single_file: bool = False,
) -> Path:
    """Write ``overview.html`` from the records in ``folder`` and return its path.

    ``pictures`` give the frames as the engines saw them. The same records and pictures give the same bytes.
    ``single_file``: the pictures stand in the page. Raises WorkFolderError, ScriptError for a bad track.
    """
    subject = read_subject(folder)
    shots: dict[float, list[SheetShot]] = defaultdict(list)
    for shot in subject.shots:
        shots[shot.middle].append(shot)
    leads: dict[float, list[tuple[int, SlotView, Piece]]] = defaultdict(list)
    for number, cue in enumerate(subject.lines):
        if (look := subject.look(cue)) is not None and look.pieces:
            # The middle frame of the current shot with the most frames stands for a line.
            shown = [piece for piece in look.pieces if piece.role is Role.CURRENT] or look.pieces
            piece = max(shown, key=lambda piece: piece.frames)
            second = piece.seconds[len(piece.seconds) // 2]
            leads[second].append((number, look, piece))
    written: set[Path] = set()
    place = inner_folder(folder, PICTURES)

    def kept(name: str, image: Image.Image) -> Photo:
        small, out = thumbnail(image), io.BytesIO()
        small.save(out, "WEBP", quality=_QUALITY, method=2)
        uri = f"{PICTURES}/{name}"
        if single_file:
            uri = f"data:image/webp;base64,{base64.b64encode(out.getvalue()).decode('ascii')}"
        else:
            written.add(place / name)
            write_bytes(place / name, [out.getvalue()])
        return {"uri": uri, "width": small.width, "height": small.height}

    strip: dict[int, Photo] = {}
    frames: dict[str, Photo] = {}
    moments = sorted({*shots, *leads})
    with reported(progress or NoProgress(), "Drawing the overview", len(moments), "frames") as task:
        for picture in spanned("frames", pictures(moments)):
            for shot in shots.get(picture.wanted, ()):
                strip[shot.index] = kept(f"shot-{shot.index:05}.webp", Image.fromarray(picture.image))
            for number, look, piece in leads.get(picture.wanted, ()):
                seen = as_seen(picture, piece, look, config)
                frames[subject.lines[number].id] = kept(f"line-{number:05}.webp", seen)
            task.advance()
    write_bytes(folder / PAGE, overview(subject, strip, frames))
    for old in {*own_files(place, _PICTURE)} - written:
        old.unlink()
    if single_file:
        with suppress(OSError):  # it was never made, or holds what is not ours
            place.rmdir()
    return folder / PAGE


def as_seen(picture: Picture, piece: Piece, look: SlotView, config: Config) -> Image.Image:
    """The frame as the engine got it: at its size and with the marks of its run, or raw."""
    if look.overlay is None:
        return Image.fromarray(picture.image)
    height, width = picture.image.shape[:2]
    size = look.size or vlm_size(width, height, config.frames)
    one = Clip(
        fit(picture.image[np.newaxis], size), np.array([picture.seconds]), np.array([piece.number], np.int64)
    )
    painted = paint(one, OverlaySettings(label=look.overlay), current=look.current)
    return Image.fromarray(painted.images[0])


def thumbnail(image: Image.Image) -> Image.Image:
    """``image`` shrunk to about `PIXELS` in all, in its own shape; never enlarged."""
    scale = min(1.0, (PIXELS / (image.width * image.height)) ** 0.5)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def overview(subject: Subject, strip: Mapping[int, Photo], frames: Mapping[str, Photo]) -> Iterator[bytes]:
    """The page in pieces, UTF-8; what is not in ``strip``, by shot, or ``frames``, by line, shows as lost."""
    events = [(u.interval, u.kind.value, u.text) for u in subject.speech]
    events += [(s.interval, "slot", f"at most {s.max_words} words") for s in subject.slots]
    events += [(cue.interval, f"line, {_STATUS[cue.status]}", cue.text) for cue in subject.lines]
    environment = page_environment(
        _TEMPLATES,
        time=timecode,
        span=span_words,
        status=status_words,
        people_words=people_words,
        scale_words=scale_words,
        thread_words=thread_words,
        frames_words=lambda piece: plural(piece.frames, "frame"),
        seen_by=seen_by,
        thread_colours=lambda letters: _colours(thread_colour(letters)),
        score_colours=lambda value: _colours(colour_of(value)),
    )
    stream = environment.get_template("page.html.j2").stream(
        subject=subject,
        lead=lead(subject),
        summary=summary(subject),
        timeline=timeline(subject),
        events=sorted(events, key=lambda event: event[:2]),
        strip=strip,
        frames=frames,
        tables={cue.id: table for cue in subject.lines if (table := score_table(cue, subject))},
        slots={slot.id: slot for slot in subject.slots},
    )  # fmt: skip
    stream.enable_buffering(_CHUNK)
    for part in stream:
        yield part.encode("utf-8", "replace")


def lead(subject: Subject) -> str:
    """The film in one sentence."""
    heard = sum(cue.heard for cue in subject.lines)
    parts = [
        f"{minutes(subject.end)} long",
        plural(len(subject.shots), "shot"),
        f"{plural(len(subject.slots), 'slot')} for audio description",
        f"{plural(heard, 'line')} spoken" if subject.track else "not described yet",
    ]
    return f"{subject.name}: {', '.join(parts)}."


def summary(subject: Subject) -> list[tuple[str, str]]:
    """What the summary table says, row by row."""
    shots, mean = len(subject.shots), subject.end / len(subject.shots)
    free = sum(slot.interval.duration for slot in subject.slots)
    threads = f"none known{_by(subject.features)}"
    if subject.threads:
        joined = sum(map(len, subject.threads.values()))
        limit = "" if subject.threshold is None else f", scores above {subject.threshold:g}"
        threads = f"{len(subject.threads)}, with {joined} shots together{_by(subject.features)}{limit}"
    speech = "none"
    if subject.speech:
        spoken = sum(u.interval.duration for u in subject.speech)
        stretches = plural(len(subject.speech), "stretch", "stretches")
        speech = f"{stretches}, {spoken:.1f} s, {100 * spoken / subject.end:.0f} % of the film"
    rows = [
        ("Length", f"{minutes(subject.end)} (to {timecode(subject.end)})"),
        ("Shots", f"{shots}, {mean:.1f} s long on average"),
        ("Threads", threads),
        ("Shot scales", scales_words(subject) + _by(subject.scale_method)),
        ("Speech", speech + (f"; {subject.speech_source}" if subject.speech_source else "")),
        ("Slots", f"{len(subject.slots)}, {free:.1f} s together"),
    ]
    if subject.track is not None:
        lines = Counter(_STATUS[cue.status] for cue in subject.lines)
        parts = [f"{number} {status}" for status, number in lines.items()]
        if edited := sum(map(is_changed, subject.lines)):
            parts.append(f"{edited} edited by a person")
        engines = "; ".join(dict.fromkeys(maker.name for maker in subject.track.makers)) or "none named"
        rows += [("Lines", ", ".join(parts) or "none"), ("Engines", engines)]
        if people := recognised_words(subject):
            rows.append(("Recognised", people))
        rows.append(("Reviewed by", listed(subject.track.reviewed_by) or "nobody yet"))
        stretches = "; ".join(map(span_words, subject.silences)) or "never"
        rows.append(("Without speech or line for over 45 s", stretches))
    return rows


def _by(maker: str | None) -> str:
    return f"; told by {maker}" if maker else ""


def _colours(ground: Colour) -> str:
    """A colour, and white to write on it where black (the page's own for these) is not to be read, as CSS."""
    ink = css(ink_on(ground))
    return f"background:{css(ground)}" + (f";color:{ink}" if ink != "#000000" else "")


def score_table(cue: Cue, subject: Subject) -> tuple[list[str], list[list[float | None]]] | None:
    """Names of the shots in a line's clip and a row of scores for each; None where none was compared."""
    if (look := subject.look(cue)) is None:
        return None
    pieces, slot = look.pieces, cue.slot_id or ""
    rows = [
        [None if one is other else subject.score(one.shot, other.shot, slot) for other in pieces]
        for one in pieces
    ]
    if all(score is None for row in rows for score in row):
        return None
    return [f"Shot {piece.number} {piece.thread or ''}".rstrip() for piece in pieces], rows


_LENGTHS = (15, 30, 60, 120, 300, 600)
"""Seconds that a row may have."""
_FEW_ROWS, _MANY_ROWS = 6, 72
_MOST_SHOTS = 34
"""Shots of mean length in a row whose number and letter can still be read."""
_TICKS = (1, 5, 10, 30, 60)
_MOST_TICKS = 16
_LETTER, _EDGES = 0.9, 0.5
"""Percent of a row that a letter and a span's edges take, at the least width that a row has."""
_NARROWEST_TEXT = 4.0


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a row: where it begins and how wide it is, in percent. ``kind`` is its CSS class."""

    kind: str
    left: float
    width: float
    words: str = ""
    thread: str | None = None
    language: str = ""


def timeline(subject: Subject) -> list[dict[str, Any]]:
    """The rows of the film from its start to its end.

    Of each its ``words``, ``ticks`` (times with their places in percent), spans of ``shots``, ``speech``,
    ``slots``, ``lines`` and ``texts``, and the film's ``end`` in percent (above 100 but in the last).
    """
    rows = []
    for time in row_times(subject.end, len(subject.shots)):
        said = [("lyrics" if u.kind is SpeechKind.LYRICS else "speech", u.interval) for u in subject.speech]
        slots = [("slot", slot.interval) for slot in subject.slots]
        lines = [("heard" if cue.heard else "unheard", cue.interval) for cue in subject.lines]
        rows.append(
            {
                "words": row_words(time, subject),
                "ticks": list(_ticks(time, subject.end)),
                "shots": [part for shot in subject.shots for part in _shot(shot, time)],
                "speech": [part for kind, interval in said for part in _span(kind, interval, time)],
                "slots": [part for kind, interval in slots for part in _span(kind, interval, time)],
                "lines": [part for kind, interval in lines for part in _span(kind, interval, time)],
                "texts": list(_texts(subject, time)),
                "end": _percent(subject.end, time),
            }
        )
    return rows


def row_times(end: float, shots: int) -> list[Interval]:
    """The times of the rows of a film of ``end`` seconds and ``shots`` shots, all of one length.

    As six rows ask for, shorter where shots are short, but no more than 72 rows (of 600 s at most).

    >>> row_times(70.0, 17)[-1]
    Interval(start=60.0, end=75.0)
    """
    for_few = next((n for n in _LENGTHS if end / n <= _FEW_ROWS), _LENGTHS[-1])
    for_shots = max((n for n in _LENGTHS if n * shots / end <= _MOST_SHOTS), default=_LENGTHS[0])
    for_many = next((n for n in _LENGTHS if end / n <= _MANY_ROWS), _LENGTHS[-1])
    length = max(min(for_few, for_shots), for_many)
    return [Interval(float(k * length), float((k + 1) * length)) for k in range(math.ceil(end / length))]


def row_words(time: Interval, subject: Subject) -> str:
    """What a row of the time line shows, in words."""
    end = min(time.end, subject.end)
    shots = [shot for shot in subject.shots if shot.interval.overlaps(time)]
    spoken = sum(p.duration for u in subject.speech if (p := u.interval.clip(time)))
    slots = [slot for slot in subject.slots if slot.interval.overlaps(time)]
    heard = [cue for cue in subject.lines if cue.heard and cue.interval.overlaps(time)]
    first, last = (shots[0].index, shots[-1].index) if shots else (0, 0)
    named = f"shot {first}" if first == last else f"shots {first} to {last}"
    return (
        f"{span_words(Interval(time.start, end))}: {named}, {spoken:.1f} s of speech, "
        f"{plural(len(slots), 'slot')}, {plural(len(heard), 'spoken line')}."
    )


def _percent(second: float, time: Interval) -> float:
    return (second - time.start) / time.duration * 100


def _ticks(time: Interval, end: float) -> Iterator[tuple[float, str]]:
    step = next((t for t in _TICKS if time.duration / t <= _MOST_TICKS), _TICKS[-1])
    for k in range(round(time.duration / step)):
        second = time.start + k * step
        if second <= end:
            yield _percent(second, time), timecode(second)[:-4].removeprefix("00:")


def _span(kind: str, interval: Interval, time: Interval) -> Iterator[Span]:
    """The part of ``interval`` in the row, if there is one."""
    if inside := interval.clip(time):
        left = _percent(inside.start, time)
        yield Span(kind, left, _percent(inside.end, time) - left)


def _shot(shot: SheetShot, time: Interval) -> Iterator[Span]:
    """The shot with its number and the letters of its thread, where there is room for them."""
    labels = (f"{shot.index} {shot.thread or ''}".rstrip(), shot.thread or str(shot.index))
    for part in _span("shot", shot.interval, time):
        fitting = [label for label in labels if _LETTER * len(label) + _EDGES <= part.width]
        yield replace(part, words=fitting[0] if fitting else "", thread=shot.thread)


def _texts(subject: Subject, time: Interval) -> Iterator[Span]:
    """The text of each line in the row in which it begins, or in the next where that has no room for it."""
    starts = [*(cue.interval.start for cue in subject.lines), math.inf]
    for cue, (start, after) in zip(subject.lines, pairwise(starts), strict=True):
        if not cue.interval.overlaps(time):
            continue
        left, right = max(0.0, _percent(start, time)), min(100.0, _percent(after, time))
        before = _percent(min(after, time.start), time) - _percent(start, time)
        if right - left >= _NARROWEST_TEXT > before:
            kind, words = ("heard", cue.text) if cue.heard else ("unheard", cue.status.value)
            yield Span(kind, left, right - left, words, language=cue.language)


_STATUS = {
    CueStatus.PLACED: "spoken",
    CueStatus.SHORTENED: "spoken, shortened to fit",
    CueStatus.DROPPED: "not spoken: dropped",
    CueStatus.FAILED: "not spoken: failed",
    CueStatus.SILENT: "left silent",
}

_MARKS = {
    "number": "that carry the number of their shot",
    "box": "that have a red border in current shots",
    "text": "of which words told the shots",
}


def status_words(cue: Cue) -> str:
    """What became of a line, and why: ``left silent (nothing worth saying)``."""
    edited = ", edited by a person" if is_changed(cue) else ""
    reason = f" ({cue.reason.rstrip('.')})" if cue.reason else ""
    return f"{_STATUS[cue.status]}{edited}{reason}"


def seen_by(look: SlotView) -> str:
    """Who saw the frames, how large, and what was painted on them."""
    size = f" of {look.size[0]} x {look.size[1]} pixels" if look.size else ""
    faces = " The marks around faces are left out here." if any(mark for _, mark, _ in look.people) else ""
    marks = _MARKS.get(look.overlay or "", "without marks")
    return f"Seen by {look.engine}, in frames{size} {marks}.{faces}"


def people_words(look: SlotView) -> str:
    """``Thom (red) and Celia (dashed green), elsewhere in the clip Barley (blue)``; nothing for nobody."""
    names = [(f"{called} ({mark})" if mark else called, current) for called, mark, current in look.people]
    current, others = (listed([name for name, now in names if now is which]) for which in (True, False))
    return ", ".join([current] * bool(current) + [f"elsewhere in the clip {others}"] * bool(others))


def recognised_words(subject: Subject) -> str:
    """``Thom in 5 clips, Celia in 1 clip``, the most seen first; nothing where there was no cast."""
    clips = Counter(
        called
        for cue in subject.lines
        if (look := subject.look(cue))
        for called in {called for called, _, _ in look.people}
    )
    ranked = sorted(clips.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{called} in {plural(count, 'clip')}" for called, count in ranked)


def scale_words(look: SlotView) -> str:
    """``effective scale 2.0 (from 0 extreme close-up to 4 long), factor object``."""
    parts = []
    if look.effective_scale is not None:
        known = any(piece.scale for piece in look.pieces)
        parts.append(f"effective scale {look.effective_scale:.2f}{'' if known else ' (no scale known)'}")
    if look.factors:
        parts.append(f"factor{'s' if len(look.factors) > 1 else ''} {', '.join(look.factors)}")
    return ", ".join(parts)


def thread_words(look: SlotView) -> str:
    """``thread A: Shots 0 and 2; thread B: Shots 1 and 3``, or that there is none."""
    names = {piece.number: piece.thread or "" for piece in look.pieces}
    parts = [
        f"thread {names.get(thread[0], '')}: {listed([f'Shot {n}' for n in thread])}"
        for thread in look.threads
    ]
    return "; ".join(parts) or "no threads in this clip"


def listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def span_words(interval: Interval) -> str:
    """To the nearest tenth, without hours where there are none: ``01:23.1 to 01:28.4``."""
    ends = (timecode(round(second, 1))[:-2].removeprefix("00:") for second in (interval.start, interval.end))
    return " to ".join(ends)


def minutes(seconds: float) -> str:
    """``70.5 s``, ``1 h 23 min``."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{rest // 60} min {rest % 60} s"


def scales_words(subject: Subject) -> str:
    """``close-up 3, medium 5, unknown 2``; scales that no shot has are left out."""
    counted = Counter(shot.scale for shot in subject.shots)
    parts = [f"{scale.value} {counted[scale]}" for scale in ShotScale if counted[scale]]
    if counted[None]:
        parts.append(f"unknown {counted[None]}")
    return ", ".join(parts)
