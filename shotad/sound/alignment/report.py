"""An alignment for people: a table, and a picture."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from shotad.core import Interval
from shotad.core.types import clock_time
from shotad.sound.alignment.pieces import AlignedPiece, Alignment

_NAMED_SPEEDS = (
    (25 / 24, "24 frames a second shown at 25"),
    (25 * 1001 / 24000, "23.976 frames a second shown at 25"),
    (24 / 25, "25 frames a second shown at 24"),
    (24000 / 1001 / 25, "25 frames a second shown at 23.976"),
    (1001 / 1000, "23.976 frames a second shown at 24"),
    (1000 / 1001, "24 frames a second shown at 23.976"),
)
_SAME_SPEED = 0.0001
"""How much two speeds may differ and still be called the same."""
_SHOWN_GAP = 0.1
"""Seconds from which a part that is missing on one side is listed."""
_SHOWN_ERROR = 0.1
"""Seconds by which a cut may be off, from which it has to be checked."""
_SHOWN_PAIR = 3.0
"""Seconds of film and recording between two pieces, from which they may have been the same."""


def speed_words(speed: float) -> str:
    """What a speed means: ``as fast as the film``, ``4.2 % faster (24 frames a second shown at 25)``."""
    if abs(speed - 1) < _SAME_SPEED:
        return "as fast as the film"
    change = abs(speed - 1) * 100
    digits = 1 if change >= 1 else 2
    words = f"{change:.{digits}f} % {'faster' if speed > 1 else 'slower'}"
    for named, meaning in _NAMED_SPEEDS:
        if abs(speed - named) < _SAME_SPEED:
            return f"{words} ({meaning})"
    return words


def alignment_text(alignment: Alignment) -> str:
    """The pieces in a table, then what is missing on either side, and one line that sums up."""
    lines = [f"{'film':>23}  {'recording':>23}  {'offset':>10}  {'speed':>7}  {'error':>6}  sure"]
    for piece in alignment.pieces:
        offset = piece.recording.start - piece.film.start
        lines.append(
            f"{_times(piece.film):>23}  {_times(piece.recording):>23}  {offset:>+9.3f}s  {piece.speed:>7.5f}"
            f"  {piece.residual * 1000:>3.0f} ms  {piece.confidence:>4.0%}"
        )
    for gap in alignment.missing:
        if gap.duration >= _SHOWN_GAP:
            lines.append(f"Not in the recording: film {_times(gap)} ({gap.duration:.1f} s).")
    for gap in alignment.added:
        if gap.duration >= _SHOWN_GAP:
            lines.append(f"Only in the recording: {_times(gap)} ({gap.duration:.1f} s).")
    lines += _doubts(alignment)
    count = len(alignment.pieces)
    pieces = "1 piece" if count == 1 else f"{count} pieces"
    speed = speed_words(alignment.speed)
    lines.append(f"The recording holds {alignment.coverage:.0%} of the film, in {pieces}, {speed}.")
    return "\n".join(lines)


def _doubts(alignment: Alignment) -> Iterator[str]:
    """What has to be checked by ear: ends of pieces that may be off, and parts of both that may belong
    together."""
    film_end = recording_end = 0.0
    end_error = 0.0
    ends = (alignment.film_duration, alignment.recording_duration)
    for piece in [*alignment.pieces, None]:
        film_start, recording_start = (piece.film.start, piece.recording.start) if piece else ends
        error = max(end_error, piece.start_error if piece else 0.0)
        if error >= _SHOWN_ERROR:
            places = " and ".join(dict.fromkeys([clock_time(film_end, 2), clock_time(film_start, 2)]))
            yield f"Check by ear: the cut at {places} of the film may be up to {error:.1f} s off."
        if min(film_start - film_end, recording_start - recording_end) >= _SHOWN_PAIR:
            yield (
                f"Check by ear: film {_times(Interval(film_end, film_start))} and recording "
                f"{_times(Interval(recording_end, recording_start))} do not sound alike. They may be other "
                "scenes, or the same under the narrator."
            )
        if piece:
            film_end, recording_end, end_error = piece.film.end, piece.recording.end, piece.end_error
    for part in alignment.ambiguous:
        middle = (part.start + part.end) / 2
        is_placed = any(piece.recording.contains(middle) for piece in alignment.pieces)
        placed = "It was put where the sound beside it goes on." if is_placed else "It was left out."
        yield (
            f"Check by ear: the sound of the recording at {_times(part)} comes back in the film and fits "
            f"several places of it. {placed}"
        )


def _times(interval: Interval) -> str:
    return f"{clock_time(interval.start, 2)}-{clock_time(interval.end, 2)}"


def alignment_json(alignment: Alignment) -> dict[str, Any]:
    """An alignment for programs, times in seconds."""
    return {
        "coverage": round(alignment.coverage, 4),
        "speed": alignment.speed,
        "film_duration": alignment.film_duration,
        "recording_duration": alignment.recording_duration,
        "pieces": [
            {
                "film": [piece.film.start, piece.film.end],
                "recording": [piece.recording.start, piece.recording.end],
                "offset": piece.recording.start - piece.film.start,
                "speed": piece.speed,
                "confidence": piece.confidence,
                "residual": piece.residual,
                "start_error": piece.start_error,
                "end_error": piece.end_error,
            }
            for piece in alignment.pieces
        ],
        "missing": [[gap.start, gap.end] for gap in alignment.missing],
        "added": [[gap.start, gap.end] for gap in alignment.added],
        "ambiguous": [[part.start, part.end] for part in alignment.ambiguous],
    }


_WIDTH, _HEIGHT = 1200, 640
_LEFT, _RIGHT, _TOP, _BOTTOM = 110, 40, 110, 150
_INK, _GREY, _RULE = (30, 30, 30), (110, 110, 110), (220, 220, 220)
_SURE_COLOUR, _UNSURE_COLOUR = (0, 90, 181), (220, 50, 32)
"""Blue and red that colour-blind people tell apart."""
_MISSING_COLOUR = (255, 226, 170)
_SURE = 0.5


def alignment_picture(alignment: Alignment, film: str, recording: str) -> bytes:
    """A PNG: how much later the recording is than the film, over the film's time.

    ``film`` and ``recording`` are names. A level line is a part at the film's speed, a step is a cut, a slope
    another speed. Yellow is film that the recording lacks.
    """
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (_WIDTH, _HEIGHT), (255, 255, 255))
    draw = ImageDraw.Draw(picture)
    title, text = ImageFont.load_default(24), ImageFont.load_default(17)
    lowest, highest = _offset_range(alignment)
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def across(second: float) -> float:
        return _LEFT + width * second / alignment.film_duration

    def down(offset: float) -> float:
        return _TOP + height * (highest - offset) / (highest - lowest)

    draw.text((_LEFT, 18), f"{_short(recording)} fitted to {_short(film)}", _INK, title)
    speed = speed_words(alignment.speed)
    pieces = "1 piece" if len(alignment.pieces) == 1 else f"{len(alignment.pieces)} pieces"
    sentence = f"{alignment.coverage:.0%} of the film is in the recording, in {pieces}, {speed}."
    draw.text((_LEFT, 52), sentence, _INK, text)
    draw.text((_LEFT, 80), "Seconds by which the recording is later than the film:", _GREY, text)
    for gap in alignment.missing:
        left = across(gap.start)
        draw.rectangle((left, _TOP, max(left + 2, across(gap.end)), _TOP + height), fill=_MISSING_COLOUR)
    for offset in _marks(lowest, highest, 6):
        draw.line((_LEFT, down(offset), _LEFT + width, down(offset)), _RULE)
        draw.text((_LEFT - 10, down(offset)), f"{offset:+.6g} s", _GREY, text, anchor="rm")
    for second in _marks(0.0, alignment.film_duration, 8):
        draw.line((across(second), _TOP + height, across(second), _TOP + height + 6), _GREY)
        draw.text((across(second), _TOP + height + 10), clock_time(second), _GREY, text, anchor="ma")
    draw.rectangle((_LEFT, _TOP, _LEFT + width, _TOP + height), outline=_GREY)
    for piece in alignment.pieces:
        start, end = _offsets(piece)
        colour = _SURE_COLOUR if piece.confidence >= _SURE else _UNSURE_COLOUR
        ends = (across(piece.film.start), down(start), across(piece.film.end), down(end))
        draw.line(ends, colour, 4)
        for x, y in (ends[:2], ends[2:]):
            draw.ellipse((x - 5, y - 5, x + 5, y + 5), fill=colour)
        words = f"{piece.speed:.4f}, ±{piece.residual * 1000:.0f} ms"
        middle = (ends[0] + ends[2]) / 2
        if draw.textlength(words, text) < ends[2] - ends[0]:
            above = min(ends[1], ends[3]) - 12
            draw.text((middle, above), words, colour, text, anchor="mb")
    draw.text((_LEFT + width / 2, _TOP + height + 36), "time in the film", _GREY, text, anchor="ma")
    legend = (
        (_SURE_COLOUR, "same sound: a level line is the film's speed, a step a cut"),
        (_UNSURE_COLOUR, "same sound, less sure"),
        (_MISSING_COLOUR, "not in the recording"),
    )
    x = float(_LEFT)
    for colour, words in legend:
        y = _HEIGHT - 46
        draw.rectangle((x, y, x + 26, y + 18), fill=colour)
        draw.text((x + 36, y + 9), words, _INK, text, anchor="lm")
        x += 36 + draw.textlength(words, text) + 40
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _offsets(piece: AlignedPiece) -> tuple[float, float]:
    return piece.recording.start - piece.film.start, piece.recording.end - piece.film.end


def _offset_range(alignment: Alignment) -> tuple[float, float]:
    """The lowest and the highest offset that the picture shows, at least half a second apart."""
    offsets = [offset for piece in alignment.pieces for offset in _offsets(piece)]
    lowest, highest = min(offsets), max(offsets)
    margin = max(0.25, 0.1 * (highest - lowest))
    return lowest - margin, highest + margin


def _marks(lowest: float, highest: float, most: int) -> list[float]:
    """Round numbers between two, ``most`` at the most."""
    steps = [digit * 10.0**power for power in range(-3, 5) for digit in (1, 2, 5)]
    step = next((step for step in steps if (highest - lowest) / step <= most), steps[-1])
    first = int(-(-lowest // step))
    return [number * step for number in range(first, int(highest // step) + 1)]


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
