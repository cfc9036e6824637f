"""How quick the review page is: opening, going from line to line, typing, with few and with many lines.

    python benchmarks/page.py [--lines 900,10000]

The page runs in Chromium, with a server in this process. Opening is the time until the first row is on the
screen; a step is ArrowDown in the list until the next row is open; an edit is a letter in the text until the
server has saved it and the row shows it. Medians of 15. The last column is the ratio of last to first.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from common import command_line

from tests.browser import chromium
from tests.media import FilmSpec, make_film
from tests.rendering.described import write_folder
from tests.review.pages import served, until

REPEATS = 15
SPACING = 2.5
"""Seconds from line to line, which last 2 s each: 10,000 lines are 7 hours."""

PLACE = "document.querySelector('#list [aria-selected=true]')?.ariaLabel?.split(' ')[1]"
FIELD = "document.getElementById('line-text')"


def median_ms(measure: Callable[[], float]) -> float:
    """The median of some measurements, in milliseconds."""
    return statistics.median(measure() for _ in range(REPEATS)) * 1000


def measured(page: Any, action: Callable[[], None], is_done: str) -> float:
    """Seconds from an action until a script is true."""
    begun = time.perf_counter()
    action()
    until(page, is_done)
    return time.perf_counter() - begun


def figures(browser: Any, folder: Path) -> dict[str, float]:
    """Milliseconds of each kind, of one described folder."""
    with served(folder) as address:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        begun = time.perf_counter()
        page.goto(address)
        page.wait_for_selector(".row")
        opening = (time.perf_counter() - begun) * 1000
        until(page, f"{FIELD}?.value !== ''")
        page.wait_for_timeout(3000)  # findings come once; they are no part of a step
        page.focus("#list [aria-selected=true]")

        def step() -> float:
            before = int(page.evaluate(PLACE))
            return measured(page, lambda: page.keyboard.press("ArrowDown"), f"{PLACE} === '{before + 1}'")

        def edit() -> float:
            length = page.evaluate(f"{FIELD}.value.length")
            shown = "document.querySelector('#list [aria-selected=true] .text').textContent.length"
            return measured(page, lambda: page.keyboard.type("a"), f"{shown} > {length}")

        steps = median_ms(step)
        page.focus("#line-text")
        page.keyboard.press("End")
        edits = median_ms(edit)
        page.close()
    return {"opening": opening, "step": steps, "edit": edits}


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--lines", default="900,10000", help="numbers of lines, with commas")
    counts = [int(word) for word in parser.parse_args().lines.split(",")]
    results: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        for count in counts:
            seconds = round(count * SPACING) + 10
            film = make_film(FilmSpec(rate=Fraction(1), frames=seconds)).path
            lines = {1 + i * SPACING: f"A cat crosses street number {i}." for i in range(count)}
            folder = write_folder(Path(place) / f"{count}", film, lines, speech=())
            results[count] = figures(browser, folder)
    print("| | " + " | ".join(f"{count:,} lines" for count in counts) + " | ratio |")
    print("|---" * (len(counts) + 2) + "|")
    for kind in ("opening", "step", "edit"):
        row = [results[count][kind] for count in counts]
        print(f"| {kind}, ms | " + " | ".join(f"{ms:.0f}" for ms in row) + f" | {row[-1] / row[0]:.1f} |")


if __name__ == "__main__":
    main()
