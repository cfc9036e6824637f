"""Runs of `describe` on a small film with engines that talk, and what they leave behind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shotad.core import (
    Abilities,
    Identity,
    NoProgress,
    Reply,
    Request,
    RunInputs,
    Task,
    Usage,
    WorkFolder,
    load_config,
)
from shotad.description import DescribeResult, Engines, describe
from shotad.engines.fake import plain_answer
from shotad.film import open_film
from tests.media import FilmSpec, make_film

SPEC = FilmSpec(frames=500, cuts=(100, 210, 330, 420))
QUICK = ("engine=fake", "shots.detector=adaptive", "slots.find_credits=false", "scale.method=none")
SMALL = ("frames.min_pixels=12544", "frames.max_pixels=25088")
"""Small frames, for what does not depend on their size."""

LINES = ("She lifts a lantern.", "He climbs the ladder.", "A cat jumps off the wall.", "They row across a lake.",
         "A clock falls from its hook.", "She folds the letter.", "He kicks the door shut.", "Rain fills the boat.",
         "They push the cart uphill.", "A kite tears loose.")  # fmt: skip


class Heard(NoProgress):
    """A front end that keeps the steps and the notes, and how far each step came (`advanced`) of how much (`totals`)."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.notes: list[str] = []
        self.totals: list[float | None] = []
        self.advanced: list[float] = []
        self.ended = 0

    def task(self, name: str, total: float | None, unit: str) -> Task:
        self.steps.append(name)
        self.totals.append(total)
        self.advanced.append(0)
        return super().task(name, total, unit)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def advance(self, amount: float = 1) -> None:
        self.advanced[-1] += amount

    def done(self) -> None:
        self.ended += 1


class Talker:
    """An engine that reads its prompts: it writes, looks, chooses and notes, each in its own words."""

    def __init__(self, name: str, **abilities: Any) -> None:
        self.identity = Identity("talker", name, "1")
        self.abilities = Abilities(accepts_images=True, **abilities)
        self.asked: list[Request] = []

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        replies = []
        for request in requests:
            self.asked.append(request)
            replies.append(Reply(self.answer(request), usage=Usage(100, 10)))
        return replies

    def answer(self, request: Request) -> str:
        keys = list((request.schema or {}).get("properties", {}))
        if keys == ["choice"]:
            return '{"choice": 2}'
        if keys and keys[0].startswith("summarized"):
            first = self.first_line(request)
            return json.dumps({key: LINES[(first + n) % len(LINES)] for n, key in enumerate(keys)})
        if "facts" in keys:
            return json.dumps({key: [] for key in keys} | {"facts": ["Somebody searches a house for a key."]})
        return json.dumps(dict.fromkeys(keys, "yes")) if keys else plain_answer(request)

    def first_line(self, request: Request) -> int:
        return int(request.slot_id[1:]) // 1000 + request.seed % 3

    @property
    def slots(self) -> list[str]:
        return [request.slot_id for request in self.asked]

    def texts(self) -> list[str]:
        return [request.messages[-1].text for request in self.asked]


def run(
    out: Path,
    *assignments: str,
    looks: Any = None,
    writes: Any = None,
    given: RunInputs | None = None,
    film: Path | None = None,
    force: bool = False,
    **options: Any,
) -> tuple[DescribeResult, Any, Any]:
    """One run into ``out``; the outcome and both engines, which know what they were asked."""
    engines = Engines(looks or Talker("looks"), writes or Talker("writes"))
    silent = () if given and given.subtitles else ("speech.source=none",)
    config = load_config(None, (*QUICK, *silent, *SMALL, *assignments))
    with open_film(film or make_film(SPEC).path) as film_, WorkFolder(out, force=force) as folder:
        outcome = describe(film_, folder, config, given, engines=engines, **{"sheet": False, **options})
    return outcome, engines.stage1, engines.stage2


def rows(out: Path, name: str) -> list[dict[str, Any]]:
    """The records of one stage, oldest first."""
    path = out / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def slots(folder: Path) -> list[str]:
    return [row["id"] for row in json.loads((folder / "slots.json").read_text())["slots"]]


def tree(folder: Path) -> dict[str, bytes]:
    """All files but the log, which holds clock times, and the lock."""
    files = (p for p in sorted(folder.iterdir()) if p.is_file() and p.name not in ("log.txt", ".lock"))
    return {p.name: p.read_bytes() for p in files}
