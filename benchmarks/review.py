"""How fast the review page is: first page, scrolling, key to saved edit, memory.

    python benchmarks/review.py [--lines 2000] [--rounds 5] [--json FILE] [--folder KEPT]

A film with so many lines is made, `shotad review` serves it from a process of its own, and Chromium, driven
by Playwright, opens it. Measured, each beside a limit or rival of the same run:

- first page: from opening the address to the last line's row, beside a page of the same rows as bare HTML
- scrolling: the time between frames while the list is scrolled from end to end, beside that bare page
- key to saved edit: from pressing 1 to 5 until the answer that the track is on the disk, beside writing a
file
  as large as the track to the disk alone
- memory of the server after the first hundred edits, and after a thousand more
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, Page, sync_playwright
from review_folder import make_review_folder

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
SIZE = {"width": 1440, "height": 900}

_FRAMES = """
async (selector) => {
  const list = document.querySelector(selector);
  const times = [];
  let last = performance.now();
  const steps = 120;
  for (let i = 0; i <= steps; i++) {
    list.scrollTop = (list.scrollHeight - list.clientHeight) * i / steps;
    await new Promise((go) => requestAnimationFrame(go));
    const now = performance.now();
    times.push(now - last);
    last = now;
  }
  return times;
}
"""

_KEY = """
async (key) => {
  const start = performance.now();
  const answered = new Promise((done) => {
    const own = window.fetch;
    window.fetch = async (...given) => {
      const answer = await own(...given);
      if (String(given[0]).includes("/api/act")) {
        window.fetch = own;
        done([performance.now() - start, answer.status]);
      }
      return answer;
    };
  });
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
  return answered;
}
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure and the one it is held against, in the same unit."""

    name: str
    value: float
    rival: str
    beside: float
    unit: str = "ms"

    def __str__(self) -> str:
        ratio = f"{self.value / self.beside:.1f} times {self.rival} ({self.beside:.1f} {self.unit})"
        return f"{self.name:32} {self.value:8.1f} {self.unit}   {ratio}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--folder", type=Path, help="where the film is made and kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        place = given.folder or Path(passing)
        place.mkdir(parents=True, exist_ok=True)
        folder = make_review_folder(place, given.lines)
        figures = list(_measured(folder, given.lines, given.rounds))
    print(f"{given.lines} lines, medians of {given.rounds} rounds\n")
    for figure in figures:
        print(figure)
    if given.json:
        given.json.write_text(
            json.dumps([_as_json(figure) for figure in figures], indent=2), encoding="utf-8"
        )


def _as_json(figure: Measured) -> dict[str, Any]:
    return {
        "name": figure.name, "value": figure.value, "rival": figure.rival, "beside": figure.beside,
        "ratio": figure.value / figure.beside, "unit": figure.unit,
    }  # fmt: skip


def _measured(folder: Path, lines: int, rounds: int) -> Iterator[Measured]:
    with _server(folder) as (process, address), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_browser(), args=["--no-sandbox"])
        bare = _bare_page(folder, lines)
        yield Measured(
            "first page",
            statistics.median(_first_page(browser, address, lines) for _ in range(rounds)),
            "bare HTML",
            statistics.median(_first_bare(browser, bare, lines) for _ in range(rounds)),
        )
        page = _opened(browser, address, lines)
        plain = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        plain.goto(bare.as_uri())
        own = [t for _ in range(rounds) for t in page.evaluate(_FRAMES, "#list")]
        rival = [t for _ in range(rounds) for t in plain.evaluate(_FRAMES, "#list")]
        yield Measured(
            "scrolling, frame, median", statistics.median(own), "bare HTML", statistics.median(rival)
        )
        yield Measured("scrolling, frame, 95 of 100", _percentile(own), "bare HTML", _percentile(rival))
        plain.close()
        times = _edits(page, 20 * rounds)
        disk = [_disk(folder) for _ in range(20)]
        yield Measured(
            "key to saved edit, median", statistics.median(times), "the disk alone", statistics.median(disk)
        )
        yield Measured(
            "key to saved edit, 95 of 100", _percentile(times), "the disk alone", _percentile(disk)
        )
        before = _memory(process)
        _edits(page, 1000)
        yield Measured("memory after 1000 edits more", _memory(process), "before them", before, "MB")
        browser.close()


@contextmanager
def _server(folder: Path) -> Iterator[tuple[psutil.Process, str]]:
    """The program, and its address with the token."""
    command = [sys.executable, "-m", "shotad.cli.main", "review", str(folder), "--no-open", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            told = "".join(iter(process.stdout.readline, "}\n")) + "}"
            yield psutil.Process(process.pid), json.loads(told)["address"]
        finally:
            process.terminate()
            process.wait(30)


def _browser() -> str:
    named = os.environ.get("SHOTAD_CHROMIUM")
    found = next((path for path in (named, *BROWSERS) if path and Path(path).exists()), None)
    if found is None:
        raise SystemExit("No Chromium was found: name one in SHOTAD_CHROMIUM.")
    return found


def _opened(browser: Browser, address: str, lines: int) -> Page:
    page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
    page.goto(address)
    page.wait_for_function("n => document.querySelectorAll('#list [role=option]').length >= n", arg=lines)
    return page


def _first_page(browser: Browser, address: str, lines: int) -> float:
    """Milliseconds, in a browser's context without a cache."""
    context = browser.new_context(viewport=SIZE)  # type: ignore[arg-type]
    page = context.new_page()
    start = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_function("n => document.querySelectorAll('#list [role=option]').length >= n", arg=lines)
    page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
    took = (time.perf_counter() - start) * 1000
    context.close()
    return took


def _bare_page(folder: Path, lines: int) -> Path:
    """A page of as many rows, without script or style worth the name."""
    texts = [cue["text"] for cue in json.loads((folder / "track.json").read_text(encoding="utf-8"))["cues"]]
    rows = "\n".join(f"<p role=option>{i}: {texts[i]}</p>" for i in range(lines))
    path = folder.parent / "bare.html"
    head = "<!doctype html><title>bare</title><style>#list{height:800px;overflow:auto}</style>"
    path.write_text(f"{head}<div id=list>{rows}</div>", encoding="utf-8")
    return path


def _first_bare(browser: Browser, path: Path, lines: int) -> float:
    return _first_page(browser, path.as_uri(), lines)


def _edits(page: Page, count: int) -> list[float]:
    """Milliseconds from a key that chooses a candidate to the answer, line after line."""
    page.focus("#list [role=option][tabindex='0']")
    times = []
    for number in range(count):
        took, status = page.evaluate(_KEY, "21345"[number % 5])
        if status != 200:
            raise SystemExit(f"An edit was answered with {status}.")
        times.append(took)
        if number % 5 == 4:
            page.keyboard.press("ArrowDown")
    return times


def _disk(folder: Path) -> float:
    """Milliseconds to write as much as the track to the disk, and to wait for it."""
    data = (folder / "track.json").read_bytes()
    path = folder / "disk.tmp"
    start = time.perf_counter()
    with path.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    path.unlink()
    return (time.perf_counter() - start) * 1000


def _memory(process: psutil.Process) -> float:
    every = [process, *process.children(recursive=True)]
    return sum(one.memory_info().rss for one in every) / 1e6


def _percentile(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    main()
