"""Scoring labelled clips: the frames that are compared, what is kept, what happens to broken films, and the table."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Config, Image, Interval, NoProgress, WorkFolder, load_config
from shotad.evaluation import TABLE, Setup, evaluate_threads, read_thread_labels, threads_text
from shotad.evaluation.thread_labels import LabelledClip
from shotad.evaluation.threads import ClipScores, Json, score_clips, setup_record, threads_record
from shotad.grammar import Features, threads_of
from tests.media import FilmSpec, make_film, read_number

SIDE, MID, ALL, WHOLE = TABLE
GRID = (4, 4)


@dataclass
class FakeMaker:
    """Features that depend on which scene a test frame belongs to, and that count what they are shown.

    ``scene_of`` maps a frame's number to its scene; frames of one scene have equal features.
    """

    scenes: dict[int, int]
    identity: str = "fake 1"
    threshold: float = 0.3
    agreeing: bool = False
    seen: list[int] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)

    def of(self, images: Sequence[Image]) -> Features:
        numbers = [read_number(image) for image in images]
        self.seen += numbers
        self.batches.append(len(numbers))
        found = [self._feature(self.scenes[number]) for number in numbers]
        return Features(np.stack([p for p, _ in found]), np.stack([w for _, w in found]), GRID)

    def _feature(self, scene: int) -> tuple[Any, Any]:
        # Each patch of each scene has a direction of its own: alike scores about 1, unlike 1/16.
        directions = np.eye(160, dtype=np.float32)
        return directions[16 * scene : 16 * scene + 16], directions[scene]


SHOTS = ((0, 10), (10, 30), (30, 31), (31, 60))
"""Frames of the test film's shots, the end left out; one has a single frame."""


def scenes(*of_shots: int) -> dict[int, int]:
    return {n: scene for (a, b), scene in zip(SHOTS, of_shots, strict=True) for n in range(a, b)}


@pytest.fixture
def film(tmp_path: Path) -> Path:
    path = tmp_path / "film.mp4"
    shutil.copy(make_film(FilmSpec(frames=60, gop=60)).path, path)
    return path


def clip_of(film: Path, **changes: Any) -> LabelledClip:
    shots = tuple(Interval(a / 25, b / 25) for a, b in SHOTS)
    given: dict[str, Any] = {"shots": shots, "clusters": ((0, 2), (1, 3)), **changes}
    return LabelledClip("a.json", film.name, film, **given)


def run(
    clips: Sequence[LabelledClip], setups: Sequence[Setup], maker: FakeMaker, out: Path, **settings: Any
) -> dict[Setup, list[ClipScores]]:
    with WorkFolder(out) as folder:
        named = {f"threads__{name}": value for name, value in settings.items()}
        config = load_config(None, (), compute__batch=3, **named)
        return score_clips(clips, setups, config, folder, maker, NoProgress())


def alike(found: ClipScores, threshold: float = 0.3) -> list[bool]:
    assert found.scores is not None
    return (found.scores > threshold).tolist()


def test_all_set_ups_in_one_pass_with_each_frame_once(film: Path, tmp_path: Path) -> None:
    of = scenes(5, 6, 7, 8) | {5: 1, 45: 1}
    maker = FakeMaker(of)
    found = run([clip_of(film)], TABLE, maker, tmp_path / "out")
    assert maker.seen == [0, 5, 9, 10, 20, 29, 30, 31, 45, 59]
    assert alike(found[SIDE][0]) == [False] * 6
    assert alike(found[MID][0]) == alike(found[ALL][0]) == [False, False, True, False, False, False]
    assert found[WHOLE][0].scores is not None
    assert np.all(np.abs(found[WHOLE][0].scores) < 0.99)


@pytest.mark.parametrize("shift", [-0.0006, 0.0006])
def test_times_rounded_to_milliseconds_mean_the_same_frames(film: Path, tmp_path: Path, shift: float) -> None:
    shots = tuple(Interval(max(a / 25 + shift, 0), b / 25 + shift) for a, b in SHOTS)
    maker = FakeMaker(scenes(1, 2, 1, 2))
    run([clip_of(film, shots=shots)], [SIDE], maker, tmp_path / "out")
    assert maker.seen == [0, 9, 10, 29, 30, 31, 59]


def test_what_changes_the_scores_makes_them_anew(film: Path, tmp_path: Path) -> None:
    maker = FakeMaker(scenes(1, 2, 1, 2))
    run([clip_of(film)], [SIDE, WHOLE], maker, tmp_path / "out")
    maker.seen.clear()
    run([clip_of(film)], [WHOLE], maker, tmp_path / "out", rules="code")
    assert maker.seen == []
    run([clip_of(film)], [SIDE], maker, tmp_path / "out", rules="code")
    assert maker.seen


def test_a_run_that_was_killed_goes_on(film: Path, tmp_path: Path) -> None:
    class Stops(FakeMaker):
        def of(self, images: Sequence[Image]) -> Features:
            if len(self.batches) >= 3:
                raise KeyboardInterrupt
            return super().of(images)

    other = tmp_path / "other.mp4"
    shutil.copy(make_film(FilmSpec(frames=61, gop=60)).path, other)
    clips = [clip_of(film), clip_of(other)]
    with pytest.raises(KeyboardInterrupt):
        run(clips, [SIDE], Stops(scenes(1, 2, 1, 2)), tmp_path / "out")
    with (tmp_path / "out" / "threads.jsonl").open("ab") as log:
        log.write(b'{"key": "half')
    maker = FakeMaker(scenes(1, 2, 1, 2))
    went_on = run(clips, [SIDE], maker, tmp_path / "out")
    assert maker.seen == [0, 9, 10, 29, 30, 31, 59]
    fresh = run(clips, [SIDE], FakeMaker(scenes(1, 2, 1, 2)), tmp_path / "fresh")
    for one, two in zip(went_on[SIDE], fresh[SIDE], strict=True):
        assert one.scores is not None
        assert two.scores is not None
        assert one.scores.tolist() == two.scores.tolist()
    logs = [(tmp_path / place / "threads.jsonl").read_bytes() for place in ("out", "fresh")]
    assert logs[0] == logs[1]


@pytest.mark.parametrize(
    ("change", "needles"),
    [
        ({"path": Path("none.mp4")}, ["is not there", "none.mp4", "relative to the label file"]),
        ({"shots": (Interval(0, 1), Interval(2, 9))}, ["Shot 1 [2.000, 9.000)", "2.40 s long"]),
        ({"shots": (Interval(0, 1), Interval(2.5, 2.8))}, ["Shot 1 [2.500, 2.800)", "outside the film"]),
    ],
)
def test_failures_say_why(film: Path, tmp_path: Path, change: dict[str, Any], needles: list[str]) -> None:
    values = {name: getattr(clip_of(film), name) for name in LabelledClip.__dataclass_fields__}
    clips = [LabelledClip(**{**values, "clusters": (), **change}), clip_of(film)]
    found = run(clips, [SIDE], FakeMaker(scenes(1, 2, 1, 2)), tmp_path / "out")
    bad, good = found[SIDE]
    assert bad.scores is None
    for needle in ["a.json", *needles]:
        assert needle in bad.failure
    assert good.scores is not None


def test_a_film_that_was_cut_off_fails_rather_than_being_scored_with_stale_frames(tmp_path: Path) -> None:
    whole = make_film(FilmSpec(suffix=".mkv", frames=300, gop=10)).path.read_bytes()
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(whole[: len(whole) // 2])
    clip = clip_of(cut, shots=(Interval(0, 1), Interval(1, 2), Interval(11, 12)), clusters=())
    maker = FakeMaker(dict.fromkeys(range(300), 1))
    (found,) = run([clip], [SIDE], maker, tmp_path / "out")[SIDE]
    assert found.scores is None
    assert "cut.mkv" in found.failure


def test_scores_that_are_not_numbers_are_not_kept(film: Path, tmp_path: Path) -> None:
    class Broken(FakeMaker):
        def of(self, images: Sequence[Image]) -> Features:
            made = super().of(images)
            return Features(made.patches * np.float32("nan"), made.whole, GRID)

    with pytest.raises(ValueError, match="fake 1 gives scores of a.json"):
        run([clip_of(film)], [SIDE], Broken(scenes(1, 2, 1, 2)), tmp_path / "out")
    assert not (tmp_path / "out" / "threads.jsonl").exists()


def test_numbered_pictures_need_their_rate(tmp_path: Path) -> None:
    from PIL import Image as Pillow

    from tests.media import draw

    folder = tmp_path / "stills"
    folder.mkdir()
    for n in range(60):
        Pillow.fromarray(draw(n, 192, 108)).save(folder / f"{n:05}.png")
    maker = FakeMaker(scenes(1, 2, 1, 2))
    clip = clip_of(folder, frame_rate=Fraction(25))
    (found,) = run([clip], [SIDE], maker, tmp_path / "out")[SIDE]
    assert maker.seen == [0, 9, 10, 29, 30, 31, 59]
    assert found.scores is not None
    (found,) = run([clip_of(folder)], [SIDE], maker, tmp_path / "out")[SIDE]
    assert 'Add its "frame_rate"' in found.failure


def evaluated(
    folder: Path, out: Path, maker: FakeMaker, setups: Sequence[Setup] = (SIDE,), **flags: Any
) -> Json:
    with WorkFolder(out) as place:
        labels = read_thread_labels(folder, out)
        return evaluate_threads(labels, setups, load_config(None, (), **flags), place, maker)


def write_labels(film: Path, *clusters: list[list[int]]) -> None:
    shots = [[a / 25, b / 25] for a, b in SHOTS]
    records = [{"clip": film.name, "shots": shots, "clusters": each} for each in clusters]
    (film.parent / "labels.json").write_text(json.dumps(records), encoding="utf-8")


def test_figures_of_two_clips_by_hand(film: Path, tmp_path: Path) -> None:
    # Found in both: {0, 2}, {1, 3}. True: the same; and {0, 1, 2}.
    write_labels(film, [[0, 2], [1, 3]], [[0, 1, 2]])
    maker = FakeMaker(scenes(1, 2, 1, 2))
    found = evaluated(tmp_path, tmp_path / "out", maker)
    assert maker.seen == [0, 9, 10, 29, 30, 31, 59], "one film, one set of shots: scored once"
    one, two = found["clips"]
    assert (one["precision"], one["recall"], one["wcp"]) == (1.0, 1.0, 1.0)
    assert one["ap"] == 1.0
    # Right 02, wrong 13, missed 01 and 12; pure: 2 of {0, 2}, 1 of {1, 3}.
    assert (two["precision"], two["recall"], two["wcp"]) == (0.5, pytest.approx(1 / 3), 0.75)
    pooled, mean = found["overall"][0]["pooled"], found["overall"][0]["mean"]
    assert (pooled["precision"], pooled["recall"], pooled["wcp"]) == (0.75, pytest.approx(3 / 5), 7 / 8)
    assert (mean["precision"], mean["recall"], mean["wcp"]) == (0.75, pytest.approx(2 / 3), 7 / 8)
    record = json.loads((tmp_path / "out" / "threads.json").read_text(encoding="utf-8"))
    assert set(record["overall"][0]["mean_over"].values()) == {2}
    assert record["n"] == {"clips": 2, "scored": 2, "failed": 0}
    total = record["overall"][0]["counts"]
    assert {key: sum(row[key] for row in record["clips"]) for key in total} == total
    assert total["pairs"] == 12
    assert record["overall"][0]["threshold"] == 0.3
    assert record["features"] == "fake 1"
    paper = {"features": "DINOv2-g14", "frames": "side", "match": "patches"}
    assert record["paper"][-1] == {**paper, "ap": 0.902, "precision": 0.878, "recall": 0.799, "wcp": 0.965}


def test_thresholds(film: Path, tmp_path: Path) -> None:
    write_labels(film, [[0, 2], [1, 3]])
    maker = FakeMaker(scenes(1, 2, 1, 2))
    side, whole = evaluated(tmp_path, tmp_path / "out", maker, [SIDE, WHOLE])["overall"]
    assert (side["threshold"], side["tuned"]) == (0.3, False)
    assert whole["tuned"]
    assert (whole["pooled"]["precision"], whole["pooled"]["recall"]) == (1.0, 1.0)
    given = evaluated(tmp_path, tmp_path / "out", maker, [SIDE, WHOLE], threads__threshold=1.0)["overall"]
    assert (given[0]["threshold"], given[0]["tuned"], given[1]["tuned"]) == (1.0, False, True)
    assert given[0]["pooled"]["precision"] is None
    flags = {"threads__threshold": -1.0, "threads__match": "whole"}
    (lax,) = evaluated(tmp_path, tmp_path / "out", maker, [WHOLE], **flags)["overall"]
    assert (lax["threshold"], lax["tuned"]) == (-1.0, False)
    assert lax["pooled"]["recall"] == 1.0
    assert lax["pooled"]["precision"] == pytest.approx(2 / 6)


def test_what_is_not_defined(film: Path, tmp_path: Path) -> None:
    shots = tuple(Interval(k, k + 1) for k in range(3))
    scores = ClipScores(LabelledClip("a", "a.mp4", Path("a.mp4"), shots, ()), np.array([0.9, 0.1, 0.2]))
    told = setup_record(SIDE, [scores], 0.95, threads_of)
    text = threads_text(threads_record([told], "grid 1", Config()))
    assert "a: AP –, P –, R –, WCP 1.000" in text
    # A clip of one shot has no scores.
    clip = clip_of(film, shots=(Interval(0, 1),), clusters=())
    (found,) = run([clip], [SIDE], FakeMaker({}), tmp_path / "out")[SIDE]
    assert found.scores is not None
    assert found.scores.tolist() == []
    # A set-up that is none is refused.
    with pytest.raises(ValueError, match="both"):
        Setup("both", "patches")  # type: ignore[arg-type]
