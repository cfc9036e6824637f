"""The overview: one page with everything in it, to be read by eye, by ear and on paper, without scripts."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from shotad.core import Interval
from shotad.description.sheet import wording
from shotad.description.sheet.scores import ScoreTable
from shotad.description.sheet.subject import Line, Subject
from shotad.film import css, ink_on, page_environment, thread_colour
from shotad.script import is_changed, timecode

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "overview"
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
        f"{wording.minutes(subject.end)} long",
        wording.plural(len(subject.shots), "shot"),
        f"{wording.plural(len(subject.slots), 'slot')} for audio description",
        f"{wording.plural(heard, 'line')} spoken" if subject.track else "not described yet",
    ]
    return f"{subject.name}: {', '.join(parts)}."


def summary(subject: Subject) -> list[tuple[str, str]]:
    """What the summary table says, row by row."""
    shots, mean = len(subject.shots), subject.end / len(subject.shots)
    spoken = sum(u.interval.duration for u in subject.speech)
    free = sum(slot.interval.duration for slot in subject.slots)
    rows = [
        ("Length", f"{wording.minutes(subject.end)} (to {timecode(subject.end)})"),
        ("Shots", f"{shots}, {mean:.1f} s long on average"),
        ("Threads", _threads(subject)),
        ("Shot scales", wording.scales_words(subject) + _by(subject.scale_method)),
        ("Speech", _speech(subject, spoken)),
        ("Slots", f"{len(subject.slots)}, {free:.1f} s together"),
    ]
    if subject.track is not None:
        rows += [("Lines", _lines(subject.lines)), ("Engines", _engines(subject))]
        if people := wording.recognised_words(subject):
            rows.append(("Recognised", people))
        rows.append(("Reviewed by", wording.listed(subject.track.reviewed_by) or "nobody yet"))
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
        f"{wording.span_words(Interval(time.start, end))}: {named}, {spoken:.1f} s of speech, "
        f"{wording.plural(len(slots), 'slot')}, {wording.plural(len(heard), 'spoken line')}."
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
    stretches = wording.plural(len(subject.speech), "stretch", "stretches")
    return f"{stretches}, {spoken:.1f} s, {100 * spoken / subject.end:.0f} % of the film{source}"


def _lines(lines: Sequence[Line]) -> str:
    counts: dict[str, int] = {}
    for line in lines:
        words = wording.status_name(line.cue)
        counts[words] = counts.get(words, 0) + 1
    edited = sum(is_changed(line.cue) for line in lines)
    parts = [f"{number} {words}" for words, number in counts.items()]
    return ", ".join([*parts, *([f"{edited} edited by a person"] if edited else [])]) or "none"


def _engines(subject: Subject) -> str:
    makers = subject.track.makers if subject.track else ()
    return "; ".join(str(maker) for maker in makers) or "none named"


def _stretches(silences: Sequence[Interval]) -> str:
    return "; ".join(wording.span_words(silence) for silence in silences) or "never"


def _events(subject: Subject) -> list[_Event]:
    found = [_Event(u.interval, u.kind.value, u.text) for u in subject.speech]
    found += [_Event(s.interval, "slot", f"at most {s.max_words} words") for s in subject.slots]
    found += [
        _Event(line.interval, f"line, {wording.status_name(line.cue)}", line.cue.text)
        for line in subject.lines
    ]
    return sorted(found, key=lambda event: (event.interval, event.what))


def _embedded(webp: bytes, size: tuple[int, int]) -> Embedded:
    return Embedded(f"data:image/webp;base64,{base64.b64encode(webp).decode('ascii')}", *size)


def _environment() -> Environment:
    return page_environment(
        _TEMPLATES,
        time=timecode,
        span=wording.span_words,
        status=wording.status_words,
        people_words=wording.people_words,
        scale_words=wording.scale_words,
        thread_words=wording.thread_words,
        frames_words=wording.frames_words,
        seen_by=wording.seen_by,
        thread_colour=lambda letters: css(thread_colour(letters)),
        thread_ink=lambda letters: css(ink_on(thread_colour(letters))),
    )
