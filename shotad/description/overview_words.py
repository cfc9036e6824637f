"""The overview's words: statuses, roles, scales, threads, people and times in plain English."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shotad.core import Interval, ShotScale
from shotad.description.overview_data import SlotView, Subject
from shotad.script import Cue, CueStatus, is_changed, timecode

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


def status_name(cue: Cue) -> str:
    """What became of a line, without the reason."""
    return _STATUS[cue.status]


def seen_by(look: SlotView) -> str:
    """Who saw the frames, how large, and what was painted on them."""
    size = f" of {look.size[0]} x {look.size[1]} pixels" if look.size else ""
    faces = " The marks around faces are left out here." if any(one.mark for one in look.people) else ""
    marks = _MARKS.get(look.overlay or "", "without marks")
    return f"Seen by {look.engine}, in frames{size} {marks}.{faces}"


def people_words(look: SlotView) -> str:
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
