"""How much faster lines must be spoken to find place, and no more than that. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from shotad.sound.fitting.forms import Form
from shotad.sound.fitting.placing import Window, earliest_starts

STEP = 0.01
"""Speeds are raised in steps that nobody can hear."""


def factors(windows: Sequence[Window], forms: Sequence[Form], between: int) -> list[float]:
    """How many times faster each line is spoken, 1 where it need not be.

    Lines that press on each other are sped up alike, as far as each may be; then each is given back, from the
    first to the last, what the others leave. The lines must be possible at their fastest.
    """
    found: list[float] = []
    for start, end in companies(windows, forms, between):
        found += _of_company(windows[start:end], forms[start:end], between)
    return found


def _of_company(windows: Sequence[Window], forms: Sequence[Form], between: int) -> list[float]:
    steps = _steps(max(form.factor for form in forms))

    def possible(speeds: Sequence[float]) -> bool:
        lengths = [form.at(speed) for form, speed in zip(forms, speeds, strict=True)]
        return earliest_starts(windows, lengths, between) is not None

    alike = next((speed for speed in steps if possible([speed] * len(forms))), steps[-1])
    speeds = [min(alike, form.factor) for form in forms]
    for at in range(len(forms)):
        for speed in steps:
            if speed >= speeds[at]:
                break
            if possible([*speeds[:at], speed, *speeds[at + 1 :]]):
                speeds[at] = speed
                break
    return speeds


def _steps(most: float) -> list[float]:
    """From 1 to ``most``, which is the last."""
    number = int((most - 1) / STEP + 1e-9)
    steps = [round(1 + STEP * k, 4) for k in range(number + 1)]
    return steps if steps[-1] >= most else [*steps, most]


def companies(windows: Sequence[Window], forms: Sequence[Form], between: int) -> list[tuple[int, int]]:
    """Runs of lines, ``[first, after the last)``, that can press on each other; nothing joins two runs."""
    starts = []
    reach: int | None = None
    for at, (window, form) in enumerate(zip(windows, forms, strict=True)):
        if reach is None or reach + between <= window.earliest:
            starts.append(at)
        latest = min(window.end, window.latest + form.length)
        reach = latest if reach is None else max(reach, latest)
    return list(zip(starts, [*starts[1:], len(windows)], strict=True)) if starts else []
