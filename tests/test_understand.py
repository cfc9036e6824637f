"""The second act on film: whose frames are compared, what the prompts say of it, what is kept and redone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shotad.description.clip_builder
from shotad.core import Image, RunInputs
from shotad.core.errors import WeightsError
from shotad.description import DescribeResult
from shotad.engines.fake import FakeEngine
from shotad.film.sampling import Moment
from shotad.grammar import Features
from shotad.grammar.features import ScaleGuess
from tests.cli.program import invoke
from tests.made_weights import use_manifest
from tests.media import FilmSpec, make_film, read_number
from tests.runs import rows, run as talked

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
def readers(monkeypatch: pytest.MonkeyPatch) -> tuple[Maker, Scales]:
    maker, scales = Maker(), Scales()
    monkeypatch.setattr(shotad.description.clip_builder, "make_feature_maker", lambda *_: maker)
    monkeypatch.setattr(shotad.description.clip_builder, "make_scale_reader", lambda *_: scales)
    return maker, scales


def run(
    out: Path, *assignments: str, slots: str | None = None
) -> tuple[DescribeResult, list[dict[str, Any]]]:
    """One run into ``out``; the outcome and Stage I's records. The shots are given, and are true."""
    shots, given_slots = out.parent / "shots.csv", out.parent / "slots.csv"
    pairs = (f"{first / 25},{after / 25}" for first, after in pairwise((0, *CUTS, 500)))
    shots.write_text("\n".join(["start,end", *pairs]) + "\n")
    given_slots.write_text(slots or "")
    given = RunInputs(shots=shots, slots=given_slots if slots else None)
    engines: dict[str, Any] = {"looks": FakeEngine(), "writes": FakeEngine()}
    outcome, _, _ = talked(out, *assignments, given=given, film=make_film(SPEC).path, **engines)
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
    _, records = run(tmp_path / "w")
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
    _, records = run(tmp_path / "w", "threads.threshold=1")
    assert len(maker.frames) == seen
    assert all(record["threads"] == [] for record in records)
    assert grammar(tmp_path / "w")["threshold"] == 1
    run(tmp_path / "w", "threads.rules=code")
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
    tmp_path: Path, readers: tuple[Maker, Scales], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shotad.film.sampling.CURRENT_REACH", 1.0)
    slots = "start,end\n8.1,8.2\n8.3,8.4\n"
    _, records = run(tmp_path / "w", "threads.rules=code", slots=slots)
    record = grammar(tmp_path / "w")
    assert [row["slot"] for row in record["shots"] if row["index"] == 4] == ["s00008100", "s00008300"]
    for row, end in zip([r for r in record["shots"] if r["index"] == 4], (9.2, 9.4), strict=True):
        assert row["first"] == pytest.approx(8.0)
        assert row["last"] == pytest.approx(8.0 + (end - 8.0) * 31 / 32)
        assert row["middle"] == pytest.approx(8.0 + (end - 8.0) * 15 / 32)
    assert [r["threads"] for r in records] == [threads_by_eye(r) for r in records]
    frames = len(readers[0].frames)
    run(tmp_path / "w", "threads.rules=code", slots=slots)
    assert len(readers[0].frames) == frames


def test_a_stopped_run_goes_on(
    tmp_path: Path, readers: tuple[Maker, Scales], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shotad.description.clip_builder, "SAVE_EVERY", 1)
    run(tmp_path / "whole")
    maker, whole = readers[0], len(readers[0].frames)

    maker.stop_at = whole + 12
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "w", "compute.batch=4")
    assert 0 < len(grammar(tmp_path / "w")["shots"]) < 10
    maker.stop_at = None
    stopped = len(maker.frames)
    run(tmp_path / "w", "compute.batch=4")
    assert 0 < len(maker.frames) - stopped < whole
    assert grammar(tmp_path / "w") == grammar(tmp_path / "whole")


def test_the_command_reads_all_shots_without_slots(tmp_path: Path, readers: tuple[Maker, Scales]) -> None:
    spoken = tmp_path / "spoken.srt"
    spoken.write_text("1\n00:00:00,000 --> 00:00:20,000\nOn and on.\n")
    film, out = str(make_film(SPEC).path), str(tmp_path / "w")
    (tmp_path / "shots.csv").write_text("start,end\n" + "".join(f"{n},{n + 2}\n" for n in range(0, 20, 2)))
    words = [film, "--out", out, "--subtitles", str(spoken), "--shots", str(tmp_path / "shots.csv"), "--json"]
    told = json.loads(invoke("grammar", *words).stdout)
    assert [row["index"] for row in told["shots"]] == list(range(10))
    assert [row["scale"] for row in told["shots"]] == [NAMES[scale] for scale in SCALES]
    threads = {row["index"]: row["thread"] for row in told["shots"]}
    near = {(i, j) for i in range(10) for j in range(i + 1, 10) if j - i < 5 and SET_UPS[i] == SET_UPS[j]}
    assert all(threads[i] == threads[j] is not None for i, j in near)
    assert threads[4] is None
    # What is known is not read again, and a run that describes wants no more than it did.
    seen = len(readers[0].frames)
    invoke("grammar", *words)
    assert len(readers[0].frames) == seen == 20


def test_scales_that_cannot_be_had_are_left_out_with_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_manifest(tmp_path / "weights", monkeypatch, dict.fromkeys(("yunet", "sface"), ("faces", None)))
    outcome, records = run(tmp_path / "w", "threads.features=grid", "scale.method=auto")
    assert any("Shot scales were not read" in warning for warning in outcome.warnings)
    assert all(r["scales"] == {} and r["effective_scale"] == 2 for r in records)
    with pytest.raises(WeightsError, match="could not be fetched"):
        run(tmp_path / "v", "threads.features=grid", "scale.method=by-face")
    # Nor can a file be read that is no model.
    (tmp_path / "faces.onnx").write_bytes(b"no model")
    use_manifest(
        tmp_path / "broken",
        monkeypatch,
        dict.fromkeys(("yunet", "sface"), ("faces", tmp_path / "faces.onnx")),
    )
    outcome, _ = run(tmp_path / "x", "threads.features=grid", "scale.method=auto")
    assert any("Shot scales were not read" in warning for warning in outcome.warnings)
    with pytest.raises(WeightsError, match=r"faces\.onnx"):
        run(tmp_path / "y", "threads.features=grid", "scale.method=by-face")
