"""A small CMD-AD and a small TV-AD on disk, with films made for it, and predictions by engines that count."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shotad.core import Config, load_config
from shotad.description import Engines
from shotad.engines.fake import FakeEngine
from shotad.evaluation import Dataset, Job, Shard, choose_clips, load_dataset, predict
from tests.evaluation.datasets.datasetfiles import CMD_COLUMNS, TV_COLUMNS, cmd_row, table
from tests.media import FilmSpec, make_film, make_stills
from tests.shotad_process import PLAIN

ONE = FilmSpec(frames=300, cuts=(60, 130, 200, 250))
"""12 s."""
TWO = FilmSpec(frames=200, cuts=(75,), size=(128, 72))
"""8 s."""

CLIPS: dict[str, tuple[str, tuple[tuple[float, float], ...]]] = {
    "2001/one": (
        "tt1", ((0.5, 3.0), (2.5, 4.0), (4.0, 6.0), (4.0, 6.0), (7.0, 7.2), (11.5, 13.0), (20.0, 22.0)),
    ),
    "2001/gone": ("tt1", ((1.0, 2.0), (3.0, 4.0))),
    "2002/two": ("tt2", ((1.0, 3.0), (4.0, 7.0))),
    "2002/broken": ("tt2", ((1.0, 3.0),)),
}  # fmt: skip
"""Clip → film and slots in seconds: neighbours that overlap, two of the same time, a short one, one that
reaches beyond the video and one that lies beyond it; a clip without a video and one that is no video."""

SHOTS = {"2001/one": [(0.01, 2.39), (2.41, 5.19), (5.21, 7.99), (8.01, 11.99)], "2002/two": []}
"""Published lists, ending 10 ms early as those do; an empty one is a clip without cuts."""

INSIDE = 8
"""ADs that can be described; the others are beyond their video, or have none."""


def make_cmd(root: Path) -> Path:
    """The dataset below ``root``, as published."""
    for name, spec in (("2001/one", ONE), ("2002/two", TWO)):
        target = root / f"{name}.mp4"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(make_film(spec).path, target)
    (root / "2002/broken.mp4").write_bytes(b"no film at all" * 100)
    rows: list[Sequence[object]] = []
    for clip, (film, slots) in CLIPS.items():
        for start, end in slots:
            text = f"Somebody does thing {len(rows) + 1}."
            rows.append(cmd_row(text, 100 + start, 100 + end, (start, end), clip, film))
    table(root / "cmdad_anno.csv", CMD_COLUMNS, rows)
    shots = [[clip, repr(times)] for clip, times in SHOTS.items()]
    table(root / "cmdad_shot_info.csv", ["cmd_filename", "shot_list"], shots)
    return root


def make_tv(root: Path) -> Path:
    """One episode with one clip: a tar of 30 numbered frames, 3 to a second. Slots are longer than the ADs."""
    clip = "friends_s01e01_seg02_clip_00"
    folder = root / "tvad" / "friends_frames"
    made = make_stills(folder / "made", 30)
    with tarfile.open(folder / f"{clip}.tar", "w") as tar:
        tar.add(made, clip)
    shutil.rmtree(made)
    rows = []
    for first, last, length in ((4, 9, 1.1), (16, 24, 1.4)):
        index = [round(first + k * (last - first) / 15) for k in range(16)]
        start, end = (first - 1) / 3, last / 3
        ad = ["He waits.", 60 + start, 60 + start + length, "tt9", "tt9e", 1, 1]
        rows.append([*ad, end, start, 2, clip, index])
    table(root / "tvad_anno.csv", TV_COLUMNS, rows)
    table(root / "tvad_shot_info.csv", ["shot_list", "tvad_name"], [[[(1, 12), (13, 30)], clip]])
    return root


@dataclass
class Runs:
    """Runs over a dataset into one file; the engines count what they are asked."""

    root: Path
    out: Path
    name: str = "cmd-ad"
    looks: FakeEngine = field(default_factory=FakeEngine)
    writes: FakeEngine = field(default_factory=FakeEngine)

    @property
    def dataset(self) -> Dataset:
        return load_dataset(self.name, self.root)

    def run(
        self, *settings: str, shard: str | None = None, ids: Iterable[str] | None = None, **job: Any
    ) -> Any:
        """One run, of the ADs with these ``ids`` or of all, with its result; ``settings`` are those of the config,
        ``job`` fields of `Job`."""
        data = self.dataset
        config: Config = load_config(data.config, ("engine=fake", "threads.features=grid", *PLAIN, *settings))
        tasks = choose_clips(data, Shard.parse(shard or "1/1"), ids=None if ids is None else frozenset(ids))
        return predict(Job(data, config, Engines(self.looks, self.writes), self.out, **job), tasks)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The file as it stands."""
        return [json.loads(line) for line in self.out.read_text().splitlines()]

    def asked(self) -> int:
        """How many questions the engines have had since this was asked last."""
        count = self.looks.calls + self.writes.calls
        self.looks.calls = self.writes.calls = 0
        return count
