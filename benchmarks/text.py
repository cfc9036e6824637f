"""Text on the screen: how much of it is read, how much that is read is right, and what it costs.

    python benchmarks/text.py [FOLDER]      films to read, default ../shared/data/films

Truth: tests/labels/texts.json (what stands in the supplied films, by eye), and lines rendered here on plain
ground and, where the films are at hand, on their frames. A text is right if its words are, case, final
marks and spaces between words included; "near" allows one edit in twenty letters.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import av
import cv2
import numpy as np
from PIL import Image as Picture, ImageDraw, ImageFont

sys.path.insert(0, str(Path(__file__).parents[1]))

from shotad.core import Image, TextFact
from shotad.sight import FrameText, TextReader, looks_like_credits, texts_of_shots
from shotad.sight.inscriptions import joined_rows, likeness

ROOT = Path(__file__).parents[1]
STEP = 0.5
SIZES = (10, 12, 16, 20, 28, 44, 80)
LINES = (
    "Thirty years later", "THE LAST HARBOUR", "a film by Anna Kovacs", "Chapter 12: The Storm",
    "Don't look back, John!", "Paris, 1943", "MISSING", "NO ENTRY", "City Hospital",
)  # fmt: skip


@dataclass(frozen=True)
class Label:
    first: float
    last: float
    kind: str
    text: str


def frames(path: Path, step: float) -> Iterator[tuple[float, Image]]:
    """One frame in each ``step`` seconds, with its second."""
    with av.open(str(path)) as container:
        start, due = (container.start_time or 0) / av.time_base, 0.0
        for frame in container.decode(video=0):
            second = float(frame.time) - start
            if second + 1e-6 >= due:
                due += step
                yield second, frame.to_ndarray(format="rgb24")


def compare(facts: Sequence[TextFact], labels: Sequence[Label]) -> tuple[int, int, int]:
    """How many labels are met exactly, how many nearly, and how many of the facts met none."""
    exact = near = 0
    left = list(facts)
    for label in labels:
        best = max(left, key=lambda fact: likeness(fact.text, label.text), default=None)
        if best is None or likeness(best.text, label.text) < 0.5:
            print(f"    missed: {label.text[:60]}")
            continue
        left.remove(best)
        exact += best.text == label.text
        if best.text != label.text:
            print(f"    read: {best.text}\n    is:   {label.text}")
        near += likeness(best.text, label.text) >= 0.95
        if best.kind != label.kind:
            print(f"    kind {best.kind}, is {label.kind}: {label.text[:60]}")
    for fact in left:
        print(f"    false: {fact.text} ({fact.kind}, {fact.first:.1f} s)")
    return exact, near, len(left)


def films(folder: Path, reader: TextReader) -> None:
    totals = np.zeros(4, int)
    for entry in json.loads((ROOT / "tests/labels/texts.json").read_text(encoding="utf-8")):
        path = folder / entry["film"]
        if not path.exists():
            print(f"  {path} is not here")
            continue
        labels = [Label(**label) for label in entry["texts"]]
        seconds, pictures = zip(*frames(path, STEP), strict=True)
        began = time.process_time()
        lines = list(reader.read_all(pictures))
        cost = time.process_time() - began
        seen = [FrameText(0, at, found) for at, found in zip(seconds, lines, strict=True)]
        facts = texts_of_shots(seen)
        exact, near, false = compare(facts, labels)
        totals += (len(labels), exact, near, false)
        raw = sum(
            bool(found) and not any(one.first - STEP <= at <= one.last + STEP for one in labels)
            for at, found in zip(seconds, lines, strict=True)
        )
        rolls = sum(looks_like_credits(seen[i : i + 4]) for i in range(len(seen)))
        print(
            f"  {entry['film']}: {exact} of {len(labels)} right, {near} near, {false} false; "
            f"{len(seen)} frames, {raw} without text had raw lines, {rolls} windows of 2 s are credits; "
            f"{cost / seconds[-1]:.2f} CPU seconds per second of film"
        )
    labels_, exact_, near_, false_ = totals
    print(f"  all: recall {exact_}/{labels_} (near {near_}/{labels_}), false texts {false_}")


def rendered(folder: Path, reader: TextReader) -> None:
    grounds: list[Image] = [np.zeros((480, 854, 3), np.uint8)]
    for name in ("tears-of-steel-battle.webm", "sintel-excerpt.mp4"):
        if (folder / name).exists():
            taken = [cv2.resize(image, (854, 480)) for _, image in frames(folder / name, 6.0)]
            grounds += [np.asarray(image, np.uint8) for image in taken]
    for size in SIZES:
        font, right, near = ImageFont.load_default(size), 0, 0
        total = 0
        for i, ground in enumerate(grounds):
            text = LINES[(i * 5 + size) % len(LINES)]
            if font.getlength(text) > 0.95 * ground.shape[1]:
                continue
            rows = joined_rows(reader.read(draw(ground, text, font)))
            lines = [row.text for row in rows if row.score >= 0.9]
            best = max((likeness(line, text) for line in lines), default=0.0)
            total, right, near = total + 1, right + (best == 1.0), near + (best >= 0.95)
        print(f"  {size:3d} pixels high of 480: {right} of {total} right, {near} near")


def draw(ground: Image, text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> Image:
    """White ``text`` with a thin dark edge in the middle of ``ground``, through JPEG as video would be."""
    picture = Picture.fromarray(ground)
    place = (ground.shape[1] // 2, ground.shape[0] // 2)
    ImageDraw.Draw(picture).text(
        place, text, font=font, fill=(235, 235, 235), stroke_width=1, stroke_fill=(0, 0, 0), anchor="mm"
    )
    _, packed = cv2.imencode(".jpg", np.asarray(picture), [cv2.IMWRITE_JPEG_QUALITY, 65])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)


def cost() -> None:
    picture = draw(np.zeros((480, 854, 3), np.uint8), "THE LAST HARBOUR", ImageFont.load_default(44))
    empty = np.full((480, 854, 3), 60, np.uint8)
    reader = TextReader()
    for name, image in (("no text", empty), ("one line", picture)):
        reader.read(image)
        walls = []
        began = time.process_time()
        for _ in range(8):
            start = time.perf_counter()
            reader.read(image)
            walls.append(time.perf_counter() - start)
        cpu = (time.process_time() - began) / 8
        print(f"  {name}: {1000 * min(walls):.0f} ms a frame, {1000 * cpu:.0f} ms of CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT.parent / "shared/data/films")
    folder = parser.parse_args().folder
    reader = TextReader()
    print(f"Films, one frame in {STEP} s:")
    films(folder, reader)
    print("Rendered lines:")
    rendered(folder, reader)
    print("Cost at 854 x 480:")
    cost()


if __name__ == "__main__":
    main()
