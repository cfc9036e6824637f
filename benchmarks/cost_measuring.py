"""What the parts of a description really take: each film in each way of describing it, in one process.

Core seconds are those of the whole process (all threads). What a worker loads once, however many films it
describes, is left out: a short film goes through first.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from common import cpu

from shotad.core import NoProgress, RunInputs, WorkFolder, load_config
from shotad.description import RunContext, describe, estimate_run, prepare
from shotad.description.estimate import Count
from shotad.film import open_film
from shotad.sight.text import credit_moments
from tests.bad_server import Act, BadServer, Seen, answer

PLAIN = ("threads.features=none", "scale.method=none")
UNCREDITED = "slots.find_credits=false"
WAYS: dict[str, tuple[str, ...]] = {
    "prepare": (UNCREDITED,),
    "credits": (),
    "slots": ("engine=fake", *PLAIN, UNCREDITED),
    "grammar": ("engine=fake", UNCREDITED),
    "sheet": ("engine=fake", *PLAIN, UNCREDITED),
    "embedded": ("engine=embedded", *PLAIN, UNCREDITED),
    "server": ("engine=openai", "openai.model=qwen2-vl-7b", *PLAIN, UNCREDITED),
}
"""Ways to describe a film that differ by one part each."""
KINDS = {
    "records": (".jsonl", "settings.json", "speech.json", "slots.json", "grammar.json", "credits.json"),
    "track": ("track.json", "scripts.json", ".ad.vtt", ".ad.srt", ".ad.dapt.xml", ".ad.csv"),
    "shots": ("shots.json",),
    "drawn": (".html", ".png", ".jpg", ".webp", ".svg"),
}
STEPS = "Description:\n1. Actions: " + "she turns from the water and looks at him; " * 12
"""An answer of Stage I about as long as `shotad.description.estimate` assumes."""
LINE = '{"summarized_AD": "She hands him the letter and turns away."}'


def measure(way: str, films: Sequence[Path], scratch: Path) -> list[dict[str, Any]]:
    """A row for each film in this way; the first goes through once before, for what is loaded only once."""
    if way == "server":
        return [_by_server(path, scratch / f"{way}-{path.stem}") for path in films]
    _row(films[0], way, scratch / f"{way}-first")
    return [_row(path, way, scratch / f"{way}-{path.stem}") for path in films]


def _row(path: Path, way: str, out: Path, *more: str) -> dict[str, Any]:
    config = load_config(None, (*WAYS[way], *more))

    def work() -> None:
        if way in ("prepare", "credits"):
            prepare(RunContext.of(film, folder, config, RunInputs(), NoProgress()))
        else:
            describe(film, folder, config, sheet=way == "sheet")

    with open_film(path) as film, WorkFolder(out) as folder, watched(out) as most:
        spent, info = cpu(work), film.info
    shots = json.loads((out / "shots.json").read_text())
    slots = json.loads((out / "slots.json").read_text())["slots"]
    end = float(shots["end"])
    return {
        "film": path.name,
        "way": way,
        "cpu": spent,
        "seconds": end,
        "gigapixels": info.width * info.height * float(info.frame_rate or 24) * end / 1e9,
        "slots": len(slots),
        "shots": len(shots["shots"]),
        "moments": len(credit_moments(end)),
        "kept": kept(out),
        "most": most[0],
    }


def kept(folder: Path) -> dict[str, int]:
    """Bytes by kind of file."""
    found = dict.fromkeys([*KINDS, "other"], 0)
    for path, size in sizes(folder):
        if path.name != "log.txt":
            found[next((k for k, ends in KINDS.items() if path.name.endswith(ends)), "other")] += size
    return found


def sizes(folder: Path) -> Iterator[tuple[Path, int]]:
    """The files that are there just now, with their bytes."""
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file():
                yield path, path.stat().st_size


@contextmanager
def watched(folder: Path) -> Iterator[list[int]]:
    """The most bytes that a folder held meanwhile, looked at ten times a second."""
    most, enough = [0], threading.Event()

    def watch() -> None:
        while not enough.wait(0.1):
            most[0] = max(most[0], sum(size for _, size in sizes(folder)))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield most
    finally:
        enough.set()
        thread.join()


def _by_server(path: Path, out: Path) -> dict[str, Any]:
    """Through the openai engine, to a server on this machine that answers by script and counts the bytes."""
    sent: list[tuple[int, int, int]] = []

    def act(seen: Seen) -> Act:
        whole = next(int(v) for k, v in seen.headers.items() if k.lower() == "content-length")
        of_frames = sum(len(one) for one in seen.pictures)
        sent.append((len(seen.pictures), of_frames, whole - of_frames))
        return answer(STEPS if seen.pictures else LINE)

    with BadServer(act) as server:
        row = _row(path, "server", out, f"openai.base_url={server.url}")
    looks = sum(pictures > 0 for pictures, *_ in sent)
    row["server"] = {"calls1": looks, "calls2": len(sent) - looks}
    for number, name in enumerate(("frames", "frame_bytes", "letter_bytes")):
        row["server"][name] = sum(one[number] for one in sent)
    # What ``shotad describe --estimate`` says of the same run
    config = load_config(None, (*WAYS["server"], "openai.base_url=http://127.0.0.1:9/v1"))
    with open_film(path) as film, WorkFolder(out.with_name(f"{out.name}-estimate")) as folder:
        counts = {part.stage: part.likely for part in estimate_run(film, folder, config)}
    one, two = counts.get("stage1", Count()), counts.get("stage2", Count())
    row["foreseen"] = {
        "calls1": one.calls,
        "calls2": two.calls,
        "frames": one.frames,
        "words1": one.word_tokens,
        "frame_tokens": one.frame_tokens or 0,
        "words2": two.word_tokens,
    }
    return row
