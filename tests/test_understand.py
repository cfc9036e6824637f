"""How clips of a film are built: whose frames are compared, what the prompts say of it, what is kept and redone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Image, NoProgress, RunInputs, WorkFolder, load_config
from shotad.core.errors import WeightsError
from shotad.description import DescribeResult, Engines, RunContext, plan_clips, prepare, write_slots
from shotad.engines.fake import FakeEngine
from shotad.film import open_film
from shotad.film.sampling import Moment
from shotad.grammar import Features, GrammarModels
from shotad.grammar.features import ScaleGuess
from tests.cli.program import invoke
from tests.decodes import counted_decodes
from tests.made_weights import use_manifest
from tests.media import FilmSpec, make_film, read_number
from tests.runs import QUICK, SMALL, rows, run as talked

CUTS = (50, 100, 150, 200, 250, 300, 350, 400, 450)
SPEC = FilmSpec(frames=500, cuts=CUTS)
"""Ten shots of two seconds."""
SET_UPS = (0, 1, 0, 1, 2, 0, 1, 3, 4, 3)
"""The camera of each shot: what `Maker` sees in its frames."""
SCALES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 2)


def shot_of(image: Image) -> int:
    return int(np.searchsorted(CUTS, read_number(image), "right"))


@dataclass
class Maker:
    """Features that are alike where the camera is."""

    identity: str = "maker/1"
    threshold: float = 0.3
    agreeing: bool = False
    frames: list[int] = field(default_factory=list)
    stop_at: int | None = None

    def of(self, images: Sequence[Image]) -> Features:
        if self.stop_at is not None and len(self.frames) >= self.stop_at:
            raise KeyboardInterrupt
        self.frames += [read_number(image) for image in images]
        made = [np.random.default_rng(SET_UPS[shot_of(image)]).normal(size=(48, 64)) for image in images]
        patches = np.stack([m / np.linalg.norm(m, axis=1, keepdims=True) for m in made]).astype(np.float32)
        return Features(patches, patches[:, 0], (6, 8))


@dataclass
class Scales:
    """Tells each shot's scale, two to one against the next closer one."""

    identity: str = "scales/1"
    moments: tuple[Moment, ...] = ("middle",)
    frames: list[int] = field(default_factory=list)

    def of(self, images: Sequence[Image]) -> list[ScaleGuess | None]:
        self.frames += [read_number(image) for image in images]
        found: list[ScaleGuess | None] = []
        for image in images:
            sure = [0.0] * 5
            sure[SCALES[shot_of(image)]] += 0.75
            sure[max(SCALES[shot_of(image)] - 1, 0)] += 0.25
            found.append(ScaleGuess(tuple(sure)))  # type: ignore[arg-type]
        return found


@pytest.fixture
def readers() -> tuple[Maker, Scales]:
    return Maker(), Scales()


EDGES = tuple(edge / 25 for edge in (0, *CUTS, 500))
"""Where shots begin and end, in seconds."""


def run(
    out: Path,
    readers: tuple[Maker, Scales],
    *assignments: str,
    slots: str | None = None,
    edges: Sequence[float] = EDGES,
) -> list[dict[str, Any]]:
    """One run into ``out``, whose film grammar is read by these readers; Stage I's records. The shots are given."""
    shots, given_slots = out.parent / "shots.csv", out.parent / "slots.csv"
    rows_of_shots = (f"{first},{after}" for first, after in pairwise(edges))
    shots.write_text("\n".join(["start,end", *rows_of_shots]) + "\n")
    given_slots.write_text(slots or "")
    inputs = RunInputs(shots=shots, slots=given_slots if slots else None)
    config = load_config(None, (*QUICK, "speech.source=none", *SMALL, *assignments))
    engines = Engines(FakeEngine(), FakeEngine())
    with open_film(make_film(SPEC).path) as film, WorkFolder(out) as folder:
        context = RunContext.of(film, folder, config, inputs, NoProgress())
        prepared = prepare(context)
        models = GrammarModels(*readers)
        plans, _ = plan_clips(prepared, context, engines.stage1.abilities, models=models)
        write_slots(plans, len(plans), prepared, context, engines)
    return rows(out, "stage1")


def described(out: Path, *assignments: str) -> tuple[DescribeResult, list[dict[str, Any]]]:
    """What comes of ``describe``, and Stage I's records."""
    outcome, _, _ = talked(out, *assignments, film=make_film(SPEC).path)
    return outcome, rows(out, "stage1")


def grammar(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "grammar.json").read_text()))


def threads_by_eye(record: dict[str, Any]) -> list[list[int]]:
    """The threads of a clip as its shots' cameras tell, by painted number."""
    groups: dict[int, list[int]] = {}
    for shot in record["shots"]:
        groups.setdefault(SET_UPS[shot["shot"]], []).append(shot["number"])
    return [group for group in groups.values() if len(group) > 1]


def test_prompts_and_records_follow_threads_and_scales(tmp_path: Path, readers: tuple[Maker, Scales]) -> None:
    maker, scales = readers
    records = run(tmp_path / "w", readers)
    # First, middle and last frames of whole shots are read once. Frames stand 40 ms apart, the grid's
    # moments 125 ms: up to three frames lie between.
    read, edges = [row["index"] for row in grammar(tmp_path / "w")["shots"]], (0, *CUTS, 500)
    assert len(maker.frames) == 2 * len(read)
    assert len(scales.frames) == len(read)
    for k, shot in enumerate(read):
        assert edges[shot] <= maker.frames[2 * k] <= edges[shot] + 3
        assert edges[shot + 1] - 4 <= maker.frames[2 * k + 1] < edges[shot + 1]
        assert abs(scales.frames[k] - (edges[shot] + edges[shot + 1]) / 2) <= 3
    assert len(records) >= 2
    assert any(record["threads"] for record in records)
    for record in records:
        assert record["threads"] == threads_by_eye(record)
        prompt = record["prompt"][-1]["text"]
        named = ["[" + ", ".join(f"Shot {n}" for n in thread) + "]" for thread in record["threads"]]
        assert all(name in prompt for name in named)
        assert ("camera" in prompt) == bool(named)
        numbers = {shot["number"]: SCALES[shot["shot"]] for shot in record["shots"]}
        assert {int(n): name for n, name in record["scales"].items()} == {
            n: NAMES[scale] for n, scale in numbers.items()
        }
        current = [numbers[s["number"]] for s in record["shots"] if s["role"] == "current"]
        assert record["effective_scale"] == pytest.approx(np.mean(current))
        assert record["factors"] == factors(float(np.mean(current)))
        assert record["overlay"] == "number"
    # A new threshold changes threads unseen.
    seen = len(maker.frames)
    records = run(tmp_path / "w", readers, "threads.threshold=1")
    assert len(maker.frames) == seen
    assert all(record["threads"] == [] for record in records)
    assert grammar(tmp_path / "w")["threshold"] == 1
    run(tmp_path / "w", readers, "threads.rules=code")
    assert len(maker.frames) > seen


NAMES = ("extreme close-up", "close-up", "medium", "full", "long")


def factors(scale: float) -> list[str]:
    """The paper's rule, written out."""
    if scale <= 1.5:
        return ["face"]
    if 2 <= scale <= 3:
        return ["object"]
    return ["environment"] if scale >= 3.5 else []


def test_the_published_code_looks_at_the_part_that_is_shown(
    tmp_path: Path, readers: tuple[Maker, Scales]
) -> None:
    slots, edges = "start,end\n4.1,4.2\n4.3,4.4\n", (0.0, 2.0, 4.0, 10.0, 12.0, 20.0)
    run(tmp_path / "w", readers, "threads.rules=code", slots=slots, edges=edges)
    of_long_shot = [row for row in grammar(tmp_path / "w")["shots"] if row["index"] == 2]
    assert [row["slot"] for row in of_long_shot] == ["s00004100", "s00004300"]
    # It reaches three seconds beyond the slot.
    for row, end in zip(of_long_shot, (7.2, 7.4), strict=True):
        assert row["first"] == pytest.approx(4.0)
        assert row["last"] == pytest.approx(4.0 + (end - 4.0) * 31 / 32)
        assert row["middle"] == pytest.approx(4.0 + (end - 4.0) * 15 / 32)
    frames = len(readers[0].frames)
    run(tmp_path / "w", readers, "threads.rules=code", slots=slots, edges=edges)
    assert len(readers[0].frames) == frames
    records = run(tmp_path / "v", readers, "threads.rules=code", slots="start,end\n8.1,8.2\n8.3,8.4\n")
    assert any(record["threads"] for record in records)
    assert [record["threads"] for record in records] == [threads_by_eye(record) for record in records]


def test_a_stopped_run_goes_on(tmp_path: Path, readers: tuple[Maker, Scales]) -> None:
    run(tmp_path / "whole", readers)
    maker, whole = readers[0], len(readers[0].frames)

    maker.stop_at = whole + 12
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "w", readers, "compute.batch=4")
    assert 0 < len(grammar(tmp_path / "w")["shots"]) < 10
    maker.stop_at = None
    stopped = len(maker.frames)
    run(tmp_path / "w", readers, "compute.batch=4")
    assert 0 < len(maker.frames) - stopped < whole
    assert grammar(tmp_path / "w") == grammar(tmp_path / "whole")


def test_the_command_reads_all_shots_without_slots(tmp_path: Path) -> None:
    spoken = tmp_path / "spoken.srt"
    spoken.write_text("1\n00:00:00,000 --> 00:00:20,000\nOn and on.\n")
    film, out = str(make_film(SPEC).path), str(tmp_path / "w")
    (tmp_path / "shots.csv").write_text("start,end\n" + "".join(f"{n},{n + 2}\n" for n in range(0, 20, 2)))
    words = [film, "--out", out, "--subtitles", str(spoken), "--shots", str(tmp_path / "shots.csv"), "--json"]
    for setting in ("threads.features=grid", "threads.threshold=-1", "scale.method=none"):
        words += ["--set", setting]
    with counted_decodes() as decodes:
        told = json.loads(invoke("grammar", *words).stdout)
        assert [row["index"] for row in told["shots"]] == list(range(10))
        assert {row["thread"] for row in told["shots"]} == {told["shots"][0]["thread"]} != {None}
        pairs = grammar(Path(out))["pairs"]
        assert len(pairs) == sum(1 for i in range(10) for j in range(i + 1, 10) if j - i < 5)
        # What is known is not read again.
        read = decodes.frames
        assert json.loads(invoke("grammar", *words).stdout) == told
        assert decodes.frames == read > 0


def test_scales_that_cannot_be_had_are_left_out_with_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_manifest(tmp_path / "weights", monkeypatch, dict.fromkeys(("yunet", "sface"), ("faces", None)))
    outcome, records = described(tmp_path / "w", "threads.features=grid", "scale.method=auto")
    assert any("Shot scales were not read" in warning for warning in outcome.warnings)
    assert all(r["scales"] == {} and r["effective_scale"] == 2 for r in records)
    with pytest.raises(WeightsError, match="could not be fetched"):
        described(tmp_path / "v", "threads.features=grid", "scale.method=by-face")
    # Nor can a file be read that is no model.
    (tmp_path / "faces.onnx").write_bytes(b"no model")
    use_manifest(
        tmp_path / "broken",
        monkeypatch,
        dict.fromkeys(("yunet", "sface"), ("faces", tmp_path / "faces.onnx")),
    )
    outcome, _ = described(tmp_path / "x", "threads.features=grid", "scale.method=auto")
    assert any("Shot scales were not read" in warning for warning in outcome.warnings)
    with pytest.raises(WeightsError, match=r"faces\.onnx"):
        described(tmp_path / "y", "threads.features=grid", "scale.method=by-face")
