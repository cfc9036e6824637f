"""What became of the lines, on the track: how each was spoken. What people own in it stays as it is."""

from __future__ import annotations

from dataclasses import replace

from shotad.core import Interval
from shotad.script import Cue, Track, Voiced, line_stamp
from shotad.sound.kinds import Fitting, Spoken, Unspoken

UNTRIED = "not spoken: it was not among the lines that were fitted"


def voiced_of(line_id: str, fitting: Fitting, voice: str, stamp: str) -> Voiced:
    """How a line was spoken, or why it was not (the last of its steps).

    ``stamp`` is the `line_stamp` of its cue. Times are in whole milliseconds, as tracks are written.
    """
    for line in fitting.spoken:
        if line.id == line_id:
            return _of_spoken(line, voice, stamp)
    for left in fitting.unspoken:
        if left.id == line_id:
            return _of_unspoken(left, voice, stamp)
    return Voiced(voice, "", None, stamp, steps=(UNTRIED,))


def apply(track: Track, fitting: Fitting, voice: str) -> Track:
    """The track with how each line that is heard was spoken, and with its measured length.

    Text, time and status of the lines stay as they are.
    """
    spoken = {line.id: line for line in fitting.spoken}
    left = {line.id: line for line in fitting.unspoken}

    def with_voice(cue: Cue) -> Cue:
        if not cue.heard:
            return cue
        stamp = line_stamp(cue.interval, cue.text)
        if (line := spoken.get(cue.id)) is not None:
            length = round(line.take.seconds, 3)
            return replace(cue, voiced=_of_spoken(line, voice, stamp), spoken_length=length)
        if (other := left.get(cue.id)) is not None:
            return replace(cue, voiced=_of_unspoken(other, voice, stamp))
        return replace(cue, voiced=Voiced(voice, "", None, stamp, steps=(UNTRIED,)))

    return track.with_cues(map(with_voice, track.cues))


def _of_spoken(line: Spoken, voice: str, stamp: str) -> Voiced:
    start, end = round(line.interval.start * 1000), round(line.interval.end * 1000)
    interval = Interval(start / 1000, max(end, start + 1) / 1000)
    return Voiced(voice, line.text, interval, stamp, line.take.speed, line.steps, line.pause)


def _of_unspoken(line: Unspoken, voice: str, stamp: str) -> Voiced:
    return Voiced(voice, "", None, stamp, steps=(*line.steps, f"not spoken: {line.reason}"))
