"""What `cost_model.py` found, as blocks of a page: how the model was checked, the units, the catalogue."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import fields

from costs.fitting import Films, Line, asking_of, compared, units_of
from costs.formula import Asking, Units

UNITS = {
    "second": ("core seconds for a second of film, whatever its size", 1, ".3f"),
    "pixels": ("core seconds for 10⁹ pixels decoded and scored", 1, ".2f"),
    "credits": ("core seconds for a moment looked at for rolling credits", 1, ".2f"),
    "slot": ("core seconds for a slot: its frames, records, line", 1, ".2f"),
    "grammar": ("core seconds for a slot's film grammar", 1, ".2f"),
    "sheet": ("core seconds for a slot's part of the overview", 1, ".2f"),
    "embedded": ("core seconds of the embedded engine for a slot", 1, ".2f"),
    "records": ("kB kept for a slot: records, track, scripts", 1e3, ".1f"),
    "drawn": ("kB of the overview for a slot", 1e3, ".0f"),
    "shot": ("bytes kept for a shot", 1, ".0f"),
    "kept": ("kB on the disk at most for a second of film, while it runs", 1e3, ".0f"),
    "sent": ("kB of a frame that is sent to a server", 1e3, ".1f"),
    "letter": ("kB of a request beside its frames", 1e3, ".1f"),
}
"""Field of `Units` → what it is, by what it is divided, and how it is written."""


def checked(lines: Iterable[Line]) -> str:
    """A row for each thing: the model's word over the truth, and both for the film that has most of it."""
    by_what: dict[str, list[Line]] = {}
    for line in lines:
        by_what.setdefault(line.what, []).append(line)
    rows = [
        "| part | model / measured: median (range), films | where most: model / measured |",
        "|---|---|---|",
    ]
    for what, some in by_what.items():
        ratios = [line.ratio for line in some if line.ratio is not None]
        most = max(some, key=lambda line: line.measured)
        told = "–"
        if ratios:
            middle = statistics.median(ratios)
            told = f"{middle:.2f} ({min(ratios):.2f} to {max(ratios):.2f}), {len(ratios)}"
        rows.append(f"| {what} | {told} | {most.predicted:,.1f} / {most.measured:,.1f} |")
    return "\n".join(rows)


def units_told(units: Units, how: Asking) -> str:
    """A row for each unit, and what a prompt is like."""
    rows = ["| unit | all films together |", "|---|---|"]
    for field in fields(units):
        what, by, digits = UNITS[field.name]
        value = getattr(units, field.name) / by
        rows.append(f"| {what} | {value:{digits}} |")
    rows.append(
        f"| tokens of a prompt of Stage I, of a frame ({how.frames} of them), of a prompt of Stage II "
        f"| {how.words1:.0f}, {how.frame_tokens:.0f}, {how.words2:.0f} and the description |"
    )
    return "\n".join(rows)


def blocks_of(films: Films, catalogue: Iterable[str]) -> dict[str, str]:
    """What stands in the blocks of a page, by their names."""
    runs = films.every("server")
    names = ", ".join(f"{run.film} ({run.seconds:.0f} s, {run.slots} slots)" for run in runs)
    return {
        "checked": f"Measured on {names}.\n\n{checked(compared(films))}",
        "units": units_told(units_of(films), asking_of(films)),
        "catalogue": "```\n" + "\n".join(catalogue) + "\n```",
    }
