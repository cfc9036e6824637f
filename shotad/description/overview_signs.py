"""The overview's words and signs, the same in pictures and on the page.

Each sign has a form or a letter of its own besides its colour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from PIL import Image, ImageDraw

from shotad.core import Interval, Role, ShotScale, SpeechKind, Utterance
from shotad.description.overview_data import Line, Look, Piece, Subject
from shotad.film import (
    BLACK,
    BLUE,
    FAINT,
    INK,
    PAPER,
    SKY_BLUE,
    WASH,
    YELLOW,
    Colour,
    ink_on,
    lettering,
    thread_colour,
    write,
)
from shotad.script import Cue, CueStatus, is_changed, timecode

_STATUS = {
    CueStatus.PLACED: "spoken",
    CueStatus.SHORTENED: "spoken, shortened to fit",
    CueStatus.DROPPED: "not spoken: dropped",
    CueStatus.FAILED: "not spoken: failed",
    CueStatus.SILENT: "left silent",
}
_ROLES = {Role.PAST: "past", Role.CURRENT: "current", Role.FUTURE: "future"}


def status_words(cue: Cue) -> str:
    """What became of a line, and why: ``left silent (nothing worth saying)``."""
    edited = ", edited by a person" if is_changed(cue) else ""
    reason = f" ({cue.reason.rstrip('.')})" if cue.reason else ""
    return f"{_STATUS[cue.status]}{edited}{reason}"


def status_name(cue: Cue) -> str:
    """What became of a line, without the reason."""
    return _STATUS[cue.status]


def role_words(role: Role) -> str:
    """``past``, ``current`` or ``future``."""
    return _ROLES[role]


def clip_facts(line: Line) -> str:
    """What the clip's grammar is, in one line: ``effective scale 2.0, factor object; thread A: 0, 2``."""
    look = line.look
    if look is None:
        return "What the engine saw is not recorded."
    if not look.pieces:
        return "No frame was shown."
    parts = [people_words(look), scale_words(look), thread_words(look)]
    return "; ".join(part for part in parts if part) + f". {seen_by(look)}"


def seen_by(look: Look) -> str:
    """Who saw the frames, how large, and what was painted on them."""
    size = f" of {look.size[0]} x {look.size[1]} pixels" if look.size else ""
    faces = " The marks around faces are left out here." if any(one.mark for one in look.people) else ""
    return f"Seen by {look.engine}, in frames{size} {overlay_words(look)}.{faces}"


def people_words(look: Look) -> str:
    """``Thom (red) and Celia (dashed green), elsewhere in the clip Barley (blue)``; nothing where nobody was
    recognised.
    """
    current, others = (
        listed(
            [
                f"{one.called} ({one.mark})" if one.mark else one.called
                for one in look.people
                if one.current is now
            ]
        )
        for now in (True, False)
    )
    return ", ".join([current] * bool(current) + [f"elsewhere in the clip {others}"] * bool(others))


def recognised_words(subject: Subject) -> str:
    """``Thom in 5 clips, Celia in 1 clip``, the most seen first; nothing where there was no cast."""
    clips = Counter(
        called for line in subject.lines if line.look for called in {one.called for one in line.look.people}
    )
    ranked = sorted(clips.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{called} in {plural(count, 'clip')}" for called, count in ranked)


def scale_words(look: Look) -> str:
    """``effective scale 2.0 (from 0 extreme close-up to 4 long), factor object``."""
    parts = []
    if look.effective_scale is not None:
        known = any(piece.scale for piece in look.pieces)
        parts.append(f"effective scale {look.effective_scale:.2f}{'' if known else ' (no scale known)'}")
    if look.factors:
        parts.append(f"factor{'s' if len(look.factors) > 1 else ''} {', '.join(look.factors)}")
    return ", ".join(parts)


def thread_words(look: Look) -> str:
    """``thread A: Shots 0 and 2; thread B: Shots 1 and 3``, or that there is none."""
    names = {piece.number: piece.thread or "" for piece in look.pieces}
    parts = [
        f"thread {names.get(thread[0], '')}: {listed([f'Shot {n}' for n in thread])}"
        for thread in look.threads
    ]
    return "; ".join(parts) or "no threads in this clip"


def overlay_words(look: Look) -> str:
    """How shots were marked on the frames."""
    if look.overlay == "number":
        return "that carry the number of their shot"
    if look.overlay == "box":
        return "that have a red border in current shots"
    return "without marks"


def frames_words(piece: Piece, shown: int) -> str:
    """``5 of 12 frames``."""
    frames = f"{piece.frames} frame{'s' if piece.frames > 1 else ''}"
    return frames if shown == piece.frames else f"{shown} of {frames}"


def listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def plural(number: int, one: str, many: str = "") -> str:
    """``1 shot``, ``2 shots``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def short_time(second: float) -> str:
    """To the nearest tenth, without hours where there are none: ``83.16 → 01:23.2``."""
    return timecode(round(second, 1))[:-2].removeprefix("00:")


def span_words(interval: Interval) -> str:
    """``01:23.1 to 01:28.4``."""
    return f"{short_time(interval.start)} to {short_time(interval.end)}"


def minutes(seconds: float) -> str:
    """``70.5 s``, ``1 h 23 min``."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{rest // 60} min {rest % 60} s"


def scales_words(subject: Subject) -> str:
    """``close-up 3, medium 5, unknown 2``; scales that no shot has are left out."""
    counted = subject.scales
    parts = [f"{scale.value} {counted[scale]}" for scale in ShotScale if counted[scale]]
    if counted[None]:
        parts.append(f"unknown {counted[None]}")
    return ", ".join(parts)


Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels, all inside."""


class Kind(StrEnum):
    """What a span of time is."""

    SPEECH = "speech"
    LYRICS = "lyrics"
    SLOT = "slot"
    HEARD = "heard"
    UNHEARD = "unheard"
    THREAD = "thread"


Sample = tuple[Kind, str]
"""A sign and the words for it in a legend."""


def spoken(utterance: Utterance) -> Kind:
    """The sign for a stretch of speech."""
    return Kind.LYRICS if utterance.kind is SpeechKind.LYRICS else Kind.SPEECH


def span(draw: ImageDraw.ImageDraw, box: Box, kind: Kind) -> None:
    """A span of time. Speech is striped /, sung words \\, a slot plain, a line that is heard filled, one
    that is not struck through.
    """
    left, top, right, bottom = box
    if kind is Kind.SPEECH:
        draw.rectangle(box, fill=(64, 64, 64), outline=INK)
        _stripes(draw, box, (150, 150, 150), rising=True)
    elif kind is Kind.LYRICS:
        draw.rectangle(box, fill=PAPER, outline=INK)
        _stripes(draw, box, (64, 64, 64), rising=False)
    elif kind is Kind.SLOT:
        draw.rectangle(box, fill=SKY_BLUE, outline=BLUE)
    elif kind is Kind.HEARD:
        draw.rectangle(box, fill=YELLOW, outline=BLACK)
    elif kind is Kind.UNHEARD:
        draw.rectangle(box, fill=WASH, outline=FAINT)
        draw.line((left, (top + bottom) // 2, right, (top + bottom) // 2), fill=FAINT, width=2)


def _stripes(draw: ImageDraw.ImageDraw, box: Box, ink: Colour, *, rising: bool) -> None:
    """Diagonal stripes every 6 pixels inside a box, at the same places whatever the box."""
    left, top, right, bottom = box[0] + 1, box[1] + 1, box[2] - 1, box[3] - 1
    for y in range(top, bottom + 1):
        lean = y if rising else -y
        for x in range(left + (-left - lean) % 6, right + 1, 6):
            draw.point((x, y), fill=ink)


def badge(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], letters: str, size: int, *, right: bool = False
) -> int:
    """A thread's letters on its colour; ``at`` is the top left corner, or the top right with ``right``.

    Returns its width in pixels.
    """
    drawn = lettering(letters, size - 4)
    width = max(size + 2, round(drawn.width(letters)) + 10)
    left = at[0] - width if right else at[0]
    colour = thread_colour(letters)
    draw.rounded_rectangle((left, at[1], left + width, at[1] + size + 2), 5, fill=colour, outline=BLACK)
    middle = (left + width / 2, at[1] + (size + 2) / 2)
    draw.text(middle, letters, fill=ink_on(colour), font=drawn.font, anchor="mm")
    return width


def border(draw: ImageDraw.ImageDraw, box: Box, thread: str | None) -> None:
    """Around a frame: thick in the thread's colour between black lines, or one thin grey line."""
    left, top, right, bottom = box
    if thread is None:
        draw.rectangle((left - 1, top - 1, right, bottom), outline=FAINT)
        return
    draw.rectangle((left - 4, top - 4, right + 3, bottom + 3), fill=thread_colour(thread), outline=BLACK)


def role_border(draw: ImageDraw.ImageDraw, box: Box, role: Role) -> None:
    """Around frames of a clip: double for current shots, dotted for past, dashed for future ones."""
    left, top, right, bottom = box
    if role is Role.CURRENT:
        draw.rectangle((left - 2, top - 2, right + 1, bottom + 1), outline=INK, width=2)
        draw.rectangle((left - 5, top - 5, right + 4, bottom + 4), outline=INK, width=1)
        return
    on, off = (2, 3) if role is Role.PAST else (9, 5)
    for x in range(left - 3, right + 3):
        if (x - left) % (on + off) < on:
            draw.line((x, top - 3, x, top - 2), fill=INK)
            draw.line((x, bottom + 1, x, bottom + 2), fill=INK)
    for y in range(top - 3, bottom + 3):
        if (y - top) % (on + off) < on:
            draw.line((left - 3, y, left - 2, y), fill=INK)
            draw.line((right + 1, y, right + 2, y), fill=INK)


def legend(draw: ImageDraw.ImageDraw, at: tuple[int, int], samples: Sequence[Sample]) -> None:
    """Signs with the words for them, in one line."""
    x, y = at
    for kind, words in samples:
        if kind is Kind.THREAD:
            x += badge(draw, (x, y), "A", 18) + 8
        else:
            span(draw, (x, y + 2, x + 34, y + 17), kind)
            x += 42
        x += round(write(draw, (x, y + 1), words, 16)) + 28


def thumbnail(image: Image.Image, pixels: int) -> Image.Image:
    """``image`` shrunk to about ``pixels`` in all, in its own shape; never enlarged."""
    size = thumbnail_size(image.size, pixels)
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS)


def thumbnail_size(size: tuple[int, int], pixels: int) -> tuple[int, int]:
    """Width and height at about ``pixels`` in all: ``(1920, 1080), 20736 → (192, 108)``."""
    width, height = size
    scale = min(1.0, (pixels / (width * height)) ** 0.5)
    return max(1, round(width * scale)), max(1, round(height * scale))
