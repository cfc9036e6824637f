"""How a mix and its files came out, in figures and in plain lines, and against rules A1 (loudness and
true peak of each file) and A3 (audible).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from shotad.core import Interval
from shotad.script import Finding, Level, timecode
from shotad.sound.levels import PEAK_SLACK, PROFILES
from shotad.sound.loudness import Loudness
from shotad.sound.outputs import Sound

OVER = 4.0
"""LU over the programme under which a line counts as covered (A3): it is then followed with effort."""


@dataclass(frozen=True, slots=True)
class LineLevel:
    """How one line stands in the mix, before the make-up gain, which moves all alike.

    ``voice`` is its loudness in LUFS, ``programme`` that of the film meanwhile as it is, ``ducked`` as it is
    lowered; both None: silence. ``depth`` is how far it was to be lowered, dB. ``over`` is how many LU the
    line stands over the ducked programme; None: over silence.
    """

    id: str
    interval: Interval
    voice: float
    programme: float | None
    ducked: float | None
    depth: float

    @property
    def over(self) -> float | None:
        """LU."""
        return None if self.ducked is None else self.voice - self.ducked


@dataclass(frozen=True, slots=True)
class MixReport:
    """A mix in figures, before it is written. ``programme`` is the film's own sound, ``voice`` all lines by
    themselves (with the make-up gain).

    ``target`` is LUFS, None: as the film; ``of_dialogue``: it is meant of dialogue alone. ``make_up`` is the
    gain in dB on all, ``true_peak`` in dBTP what no file's peaks may pass.
    """

    profile: str
    target: float | None
    of_dialogue: bool
    programme: Loudness
    voice: Loudness
    make_up: float
    true_peak: float
    lines: tuple[LineLevel, ...]


@dataclass(frozen=True, slots=True)
class FileSound:
    """How the sound in a finished file is heard, decoded as players do. ``mix``: the film's sound is in it;
    else it is the description alone. ``reached`` is what is compared with the target, which for profiles that
    count dialogue is the loudness of dialogue; None: silence, or the description alone."""

    loudness: Loudness
    mix: bool
    reached: float | None


def heard(report: MixReport) -> Sound:
    """What people and programs want to know of a mix, with what is wrong with it."""
    over = [line.over for line in report.lines if line.over is not None]
    told = ("The film is silent where the voice speaks.",) if report.lines else ()
    if over:
        least, most = f"{min(over):.0f}", f"{max(over):.0f}"
        far = least if least == most else f"{least} to {most}"
        told = (f"The voice is {far} LU louder than the film around it.",)
    return Sound(told, json.loads(json.dumps(asdict(report))), tuple(_audible(report)))


def loudness_told(report: MixReport, sound: FileSound, name: str) -> str:
    figures = _lufs(sound.loudness.integrated)
    # What counts for the target, where that is not the loudness of the whole.
    if report.of_dialogue and sound.reached is not None:
        figures += f" ({sound.reached:.1f} LUFS while somebody speaks, which counts)"
    figures += f", peaks {_peak(sound.loudness.true_peak)}."
    if not sound.mix:
        return f"Loudness of the description alone: {name} {figures}"
    target = "as loud as the film" if report.target is None else f"target {report.target:g} LUFS"
    film = _lufs(report.programme.integrated)
    return f"Loudness, {report.profile} ({target}): film {film}, {name} {figures}"


def over_peak(report: MixReport, sound: FileSound) -> float:
    """dB by which a file's peaks are over their limit; less than 0: under it."""
    peak = sound.loudness.true_peak
    return -math.inf if peak is None else peak - report.true_peak


def off_target(report: MixReport, sound: FileSound) -> float:
    """LU by which a file is louder than its target; 0: within what the profile bears, or without target."""
    if report.target is None or sound.reached is None:
        return 0.0
    off = sound.reached - report.target
    return off if abs(off) > PROFILES[report.profile].tolerance + 0.05 else 0.0


def loudness_findings(report: MixReport, sound: FileSound, name: str) -> Iterator[Finding]:
    """A1, of a finished file. With the profile ``source`` there is no target, and peaks may be as high as the
    film's own."""
    profile = PROFILES[report.profile]
    if off_target(report, sound):
        yield Finding(
            "A1",
            Level.ERROR,
            f"{name} is at {sound.reached:.1f} LUFS, not at {report.target:g} "
            f"±{profile.tolerance:g} ({report.profile})",
        )
    if over_peak(report, sound) > PEAK_SLACK:
        what = f"the peaks of {name} reach {_peak(sound.loudness.true_peak)}, over {report.true_peak:.1f}"
        yield Finding("A1", Level.ERROR, f"{what} ({report.profile})")


def _audible(report: MixReport) -> Iterator[Finding]:
    for line in report.lines:
        if line.over is not None and line.over < OVER:
            stands = f"the voice at {timecode(line.interval.start)} stands {line.over:.1f} LU over the film"
            what = f"{stands}, under {OVER:g}: let the film be lowered further (mix.duck)"
            yield Finding("A3", Level.ERROR, what, line.id)


def _lufs(value: float | None) -> str:
    return "silent" if value is None else f"{value:.1f} LUFS"


def _peak(value: float | None) -> str:
    return "none" if value is None else f"{value:.1f} dBTP"
