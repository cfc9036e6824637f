"""How a mix came out: told in plain lines, and against rules A1 (loudness, true peak) and A3 (audible)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from shotad.config import Config
from shotad.rendering.rendered import Sound
from shotad.script.rules import Finding, Level
from shotad.script.timecode import timecode
from shotad.sound.mixing.profiles import PROFILES
from shotad.sound.mixing.report import LineLevel, MixReport

PEAK_SLACK = 0.1
"""dB by which meters of true peak differ."""


def heard(report: MixReport, config: Config) -> Sound:
    """What people and programs want to know of a mix, with what is wrong with it."""
    findings = (*_loudness(report), *_audible(report, config))
    measures = json.loads(json.dumps(asdict(report)))
    return Sound(tuple(_told(report)), measures, findings)


def _told(report: MixReport) -> Iterator[str]:
    target = "as loud as the film" if report.target is None else f"target {report.target:g} LUFS"
    yield (
        f"Loudness, {report.profile} ({target}): film {_lufs(report.programme.integrated)}, "
        f"with description {_lufs(report.mix.integrated)}{_while_spoken(report)}, "
        f"peaks {_peak(report.mix.true_peak)}."
    )
    over = [line.over for line in report.lines if line.over is not None]
    if over:
        least, most = f"{min(over):.0f}", f"{max(over):.0f}"
        far = least if least == most else f"{least} to {most}"
        yield f"The voice stands {far} LU over the film around it."
    if report.lines and not over:
        yield "The film is silent where the voice speaks."


def _while_spoken(report: MixReport) -> str:
    """What counts for the target, where that is not the loudness of the whole."""
    by_speech = report.target is not None and PROFILES[report.profile].dialogue
    if not by_speech or report.reached is None or report.target != PROFILES[report.profile].target:
        return ""
    return f" ({report.reached:.1f} LUFS while somebody speaks, which counts)"


def _loudness(report: MixReport) -> Iterator[Finding]:
    """A1. With the profile ``source`` there is no target, and peaks may be as high as the film's own."""
    profile, reached = PROFILES[report.profile], report.reached
    if report.target is not None and reached is not None:
        off = reached - report.target
        if abs(off) > profile.tolerance + 0.05:
            yield Finding(
                "A1",
                Level.ERROR,
                f"the described sound is at {reached:.1f} LUFS, not at {report.target:g} "
                f"±{profile.tolerance:g} ({report.profile})",
            )
    peak = report.mix.true_peak
    if peak is not None and peak > report.true_peak + PEAK_SLACK:
        what = f"its peaks reach {peak:.1f} dBTP, over {report.true_peak:.1f} ({report.profile})"
        yield Finding("A1", Level.ERROR, what)


def _audible(report: MixReport, config: Config) -> Iterator[Finding]:
    least = config.lint.over
    for line in report.lines:
        if least and line.over is not None and line.over < least:
            yield Finding("A3", Level.ERROR, _hidden(line, least), line.id)


def _hidden(line: LineLevel, least: float) -> str:
    return (
        f"the voice at {timecode(line.interval.start)} stands {line.over:.1f} LU over the film, under "
        f"{least:g}: let the film be lowered further (mix.deepest)"
    )


def _lufs(value: float | None) -> str:
    return "silent" if value is None else f"{value:.1f} LUFS"


def _peak(value: float | None) -> str:
    return "none" if value is None else f"{value:.1f} dBTP"
