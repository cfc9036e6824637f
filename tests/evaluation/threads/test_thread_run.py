"""Labels of threads and the converter of annotations; figures of threads by hand; scoring labelled clips: the frames that
are compared, what is kept, broken films, and the table."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    Image,
    Interval,
    NoProgress,
    WorkFolder,
    load_config,
)
from shotad.core.errors import DatasetError
from shotad.evaluation import evaluate_threads
from shotad.evaluation.thread_labels import LabelledClip, read_thread_labels
from shotad.evaluation.threads import (
    THREAD_SETUPS,
    Json,
    Scores,
    ThreadSetup,
    average_precision,
    best_threshold,
    score_clips,
    threads_text,
)
from shotad.grammar import Features
from tests.cli.program import Shotad
from tests.media import FilmSpec, make_film, make_stills, read_number

GOOD: dict[str, Any] = {"clip": "films/a.mp4", "shots": [[0, 1.5], [1.5, 2], [2, 4.25]], "clusters": [[2, 0]]}


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def read(folder: Path, value: Any, name: str = "a.json") -> list[LabelledClip]:
    write(folder / name, value)
    return read_thread_labels(folder)[0]


def test_a_file_for_one_clip(tmp_path: Path) -> None:
    (clip,) = read(tmp_path, GOOD, "series/a.json")
    assert clip.name == "series/a.json"
    assert clip.path == tmp_path / "series" / "films" / "a.mp4"
    assert clip.shots == (Interval(0, 1.5), Interval(1.5, 2), Interval(2, 4.25))
    assert clip.clusters == ((0, 2),)
    assert clip.frame_rate is None

    # Files of many clips come in the order of names.
    write(tmp_path / "b.json", GOOD)
    write(tmp_path / "a" / "z.json", [GOOD, {**GOOD, "frame_rate": "24000/1001", "note": "kept"}])
    clips, _ = read_thread_labels(tmp_path)
    assert [clip.name for clip in clips] == ["a/z.json[0]", "a/z.json[1]", "b.json", "series/a.json"]
    assert clips[1].frame_rate == Fraction(24000, 1001)


def test_what_is_no_label_is_left_alone_and_named(tmp_path: Path) -> None:
    write(tmp_path / "a.json", GOOD)
    write(tmp_path / "settings.json", {"shots": []})
    write(tmp_path / "list.json", [1, 2])
    write(tmp_path / "film.shotad" / "shots.json", "not even JSON")
    write(tmp_path / ".hidden" / "x.json", "{")
    write(tmp_path / "out" / "threads.json", {"clip": 3})
    clips, ignored = read_thread_labels(tmp_path, outside=tmp_path / "out")
    assert [clip.name for clip in clips] == ["a.json"]
    assert ignored == ["list.json", "settings.json"]


@pytest.mark.parametrize(
    ("change", "needles"),
    [
        ({"clip": 7}, ["a.json", '"clip"', "7"]),
        ({"shots": []}, ['"shots"', "[]"]),
        ({"shots": [[0, 1], [1]]}, ["shot 1", "[1]"]),
        ({"shots": [[0, 1], [True, 2]]}, ["shot 1", "true"]),
        ({"shots": [[0, 1], [2, 2]]}, ["shot 1", "[2.0, 2.0)", "before it ends"]),
        ({"shots": [[0, 1e999]]}, ["shot 0", "inf"]),
        ({"shots": [[0, 2], [1, 3]]}, ["shot 1", "before shot 0", "sort them"]),
        ({"clusters": [0, 1]}, ['"clusters"', "[0, 1]"]),
        ({"clusters": [[0, 3]]}, ["cluster 0 names shot 3", "0 to 2", "counted from 0"]),
        ({"clusters": [[0.0, 1]]}, ["names shot 0.0"]),
        ({"clusters": [[0, 1], [1, 2]]}, ["shot 1 stands in clusters 0 and 1", "keep one"]),
        ({"clusters": [[0, 1, 1]]}, ["shot 1 stands in cluster 0 twice"]),
        ({"frame_rate": 0}, ['"frame_rate" 0', "24000/1001"]),
        ({"frame_rate": "fast"}, ['"frame_rate" "fast"']),
    ],
)
def test_wrong_labels_are_refused(tmp_path: Path, change: dict[str, Any], needles: list[str]) -> None:
    with pytest.raises(DatasetError) as error:
        read(tmp_path, {**GOOD, **change})
    for needle in ["a.json", *needles]:
        assert needle in str(error.value)


def test_a_folder_without_labels_is_refused_and_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="holds no labels"):
        read_thread_labels(tmp_path)
    with pytest.raises(DatasetError, match="not a folder"):
        read_thread_labels(tmp_path / "none")
    write(tmp_path / "a.json", [GOOD, {**GOOD, "clusters": [[9]]}, {"clip": "x", "shots": [[0, 1]]}])
    write(tmp_path / "b.json", "{")
    write(tmp_path / "c.json", [GOOD, 5])
    with pytest.raises(DatasetError) as error:
        read_thread_labels(tmp_path)
    said = str(error.value)
    assert said.startswith("4 labels of threads")
    for needle in ("a.json[1]", "a.json[2] has no 'clusters'", "b.json is not JSON", "c.json[1]"):
        assert needle in said


@pytest.mark.parametrize(
    ("words", "rows", "expected"),
    [
        # The test film has 25 frames a second; frame 25 begins at second 1.
        (("--units", "frames"), "0,25 25,50", [(0, 1), (1, 2)]),
        (("--units", "frames", "--first-frame", "1", "--last-included"), "1,25 26,50", [(0, 1), (1, 2)]),
        (("--units", "frames", "--fps", "24000/1001"), "0,24 24,40", [(0, 1.001), (1.001, 1.668333)]),
    ],
)
def test_frame_numbers_become_seconds(
    shotad: Shotad, tmp_path: Path, words: tuple[str, ...], rows: str, expected: list[tuple[float, float]]
) -> None:
    (tmp_path / "films").mkdir()
    shutil.copy(make_film(FilmSpec(frames=50)).path, tmp_path / "films" / "hug.mp4")
    source, out = tmp_path / "threads.csv", tmp_path / "out"
    source.write_text("clip,start,end,thread\n" + "\n".join(f"hug,{row},1" for row in rows.split()))
    done = shotad("evaluate", "thread-labels", source, "--films", tmp_path / "films", "--out", out, *words)
    assert done.code == 0, done.err
    assert done.out == f"1 clips, 2 shots, 1 threads of two or more: {out}\n"
    ((clip,), _) = read_thread_labels(out)
    assert [(shot.start, shot.end) for shot in clip.shots] == expected


def test_a_matlab_file_with_other_names_is_read(shotad: Shotad, tmp_path: Path) -> None:
    savemat = pytest.importorskip("scipy.io", reason="MATLAB files need scipy").savemat
    shutil.copy(make_film(FilmSpec(frames=50)).path, tmp_path / "hug.mp4")
    clip = {"video": "hug", "shots": np.array([[0.0, 0.5], [0.5, 1.0], [1.0, 2.0]]), "threads": [1, -1, 1]}
    savemat(tmp_path / "threads.mat", {"annotation": clip, "remark": 1})
    words = (
        "evaluate",
        "thread-labels",
        tmp_path / "threads.mat",
        "--films",
        tmp_path,
        "--out",
        tmp_path / "out",
    )
    assert "Choose one with --variable" in shotad(*words).err
    refused = shotad(*words, "--variable", "annotation")
    assert refused.code == 1
    assert "has no field 'clip'" in refused.err
    assert shotad(*words, "--variable", "annotation", "--field", "video=clip").code == 2
    done = shotad(*words, "--variable", "annotation", "--field", "clip=video")
    assert done.code == 0, done.err
    ((label,), _) = read_thread_labels(tmp_path / "out")
    assert label.clusters == ((0, 2),)
    assert label.path.samefile(tmp_path / "hug.mp4")


def test_clips_that_are_not_there_are_named(shotad: Shotad, tmp_path: Path) -> None:
    (tmp_path / "threads.csv").write_text("clip;start;end;thread\nhug;0;1;a\nhug;1;2;a\n", encoding="utf-8")
    words = (
        "evaluate",
        "thread-labels",
        tmp_path / "threads.csv",
        "--films",
        tmp_path,
        "--out",
        tmp_path / "out",
    )
    done = shotad(*words)
    assert done.code == 1
    assert f"Not there: {tmp_path / 'hug'}" in done.err
    assert (tmp_path / "out/hug.json").is_file()
    (tmp_path / "threads.csv").write_text("clip;start;end\nhug;0;1\n", encoding="utf-8")
    assert "has no column thread" in shotad(*words).err


def ap(scores: list[float], together: list[int], unscored: int = 0) -> float | None:
    return average_precision(np.array(scores, float), np.array(together, bool), unscored)


@pytest.mark.parametrize(
    ("scores", "together", "expected"),
    [
        # The four scores of scikit-learn's own example: ranks 1, 3 are right: 1/2 * 1 + 1/2 * 2/3.
        ([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 5 / 6),
        # Right, wrong, right, wrong, right: 1/3 (1/1 + 2/3 + 3/5).
        ([0.9, 0.8, 0.7, 0.6, 0.5], [1, 0, 1, 0, 1], (1 + 2 / 3 + 3 / 5) / 3),
        # All equal: one step with the share of right ones as its precision.
        ([0.5, 0.5, 0.5, 0.5], [1, 0, 0, 0], 0.25),
        # Two equal at the top, one of them right, then the other right one at rank 3: 1/2 * 1/2 + 1/2 * 2/3.
        ([0.7, 0.7, 0.2], [1, 0, 1], 1 / 4 + 1 / 3),
        # Scores below zero rank as well.
        ([-1.0, -0.5], [0, 1], 1.0),
    ],
)
def test_average_precision_by_hand(scores: list[float], together: list[int], expected: float) -> None:
    assert ap(scores, together) == pytest.approx(expected)


def test_pairs_that_cannot_be_found() -> None:
    assert ap([0.5, 0.1], [0, 0]) is None
    assert ap([], []) is None
    # One of two right pairs is found at once, the other never.
    assert ap([0.9, 0.1], [1, 0], unscored=1) == pytest.approx(0.5)
    assert ap([], [], unscored=3) == 0.0


def test_the_best_threshold_by_hand() -> None:
    # From the top: F1 is 2/3 (1 of 1, 1 of 2), 1/2, 4/5 (2 of 3, 2 of 2), 2/3.
    best = best_threshold(np.array([0.9, 0.7, 0.5, 0.1]), np.array([1, 0, 1, 0], bool))
    assert best is not None
    assert best == pytest.approx((0.3, 0.8))
    last = best_threshold(np.array([0.4, 0.4]), np.array([1, 1], bool), unscored=2)
    assert last is not None
    assert last[0] < 0.4
    assert last[1] == pytest.approx(2 / 3)
    assert best_threshold(np.array([0.4]), np.array([0], bool)) is None
    assert best_threshold(np.zeros(0), np.zeros(0, bool), unscored=2) is None


# --- runs
SIDE, MID, ALL, WHOLE = THREAD_SETUPS
GRID = (4, 4)


@dataclass
class FakeMaker:
    """Features by the scene of a test frame, told by the frame's number; counts what it is shown."""

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
    clips: Sequence[LabelledClip], setups: Sequence[ThreadSetup], maker: FakeMaker, out: Path, **settings: Any
) -> dict[ThreadSetup, list[Scores]]:
    with WorkFolder(out) as folder:
        named = {f"threads__{name}": value for name, value in settings.items()}
        config = load_config(None, (), compute__batch=3, **named)
        return score_clips(clips, setups, config, folder, maker, NoProgress())


def alike(scores: Scores, threshold: float = 0.3) -> list[bool]:
    assert not isinstance(scores, str)
    return (scores > threshold).tolist()


def test_all_set_ups_in_one_pass_with_each_frame_once(film: Path, tmp_path: Path) -> None:
    of = scenes(5, 6, 7, 8) | {5: 1, 45: 1}
    maker = FakeMaker(of)
    scores = run([clip_of(film)], THREAD_SETUPS, maker, tmp_path / "out")
    assert maker.seen == [0, 5, 9, 10, 20, 29, 30, 31, 45, 59]
    assert alike(scores[SIDE][0]) == [False] * 6
    assert alike(scores[MID][0]) == alike(scores[ALL][0]) == [False, False, True, False, False, False]
    assert np.all(np.abs(np.asarray(scores[WHOLE][0])) < 0.99)


def test_times_rounded_to_milliseconds_mean_the_same_frames(film: Path, tmp_path: Path) -> None:
    for shift in (-0.0006, 0.0006):
        shots = tuple(Interval(max(a / 25 + shift, 0), b / 25 + shift) for a, b in SHOTS)
        maker = FakeMaker(scenes(1, 2, 1, 2))
        run([clip_of(film, shots=shots)], [SIDE], maker, tmp_path / f"{shift}")
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
    assert list(map(alike, went_on[SIDE])) == list(map(alike, fresh[SIDE]))
    logs = [(tmp_path / place / "threads.jsonl").read_bytes() for place in ("out", "fresh")]
    assert logs[0] == logs[1]


def test_failures_say_why_and_the_others_are_scored(film: Path, tmp_path: Path) -> None:
    whole, cut = (
        make_film(FilmSpec(suffix=".mkv", frames=300, gop=10)).path.read_bytes(),
        tmp_path / "cut.mkv",
    )
    cut.write_bytes(whole[: len(whole) // 2])
    stills = make_stills(tmp_path / "stills", 60)
    plain = clip_of(film, clusters=())
    bad = {
        "is not there: none.mp4": replace(plain, path=Path("none.mp4")),
        "Shot 1 [2.000, 9.000)": replace(plain, shots=(Interval(0, 1), Interval(2, 9))),
        "Shot 1 [2.500, 2.800)": replace(plain, shots=(Interval(0, 1), Interval(2.5, 2.8))),
        # Rather than being scored with stale frames.
        "cut.mkv": clip_of(cut, shots=(Interval(0, 1), Interval(1, 2), Interval(11, 12)), clusters=()),
        'Add its "frame_rate"': clip_of(stills),
    }
    clips = [*bad.values(), clip_of(stills, frame_rate=Fraction(25)), clip_of(film)]
    maker = FakeMaker(scenes(1, 2, 1, 2) | dict.fromkeys(range(60, 300), 1))
    scores = run(clips, [SIDE], maker, tmp_path / "out")[SIDE]
    for why, failure in zip(bad, scores, strict=False):
        assert isinstance(failure, str)
        assert "a.json" in failure
        assert why in failure
    assert list(map(alike, scores[len(bad) :])) == [[False, True, False, False, True, False]] * 2


def test_scores_that_are_not_numbers_are_not_kept(film: Path, tmp_path: Path) -> None:
    class Broken(FakeMaker):
        def of(self, images: Sequence[Image]) -> Features:
            made = super().of(images)
            return Features(made.patches * np.float32("nan"), made.whole, GRID)

    with pytest.raises(ValueError, match="fake 1 gives scores of a.json"):
        run([clip_of(film)], [SIDE], Broken(scenes(1, 2, 1, 2)), tmp_path / "out")
    assert not (tmp_path / "out" / "threads.jsonl").exists()


def evaluated(
    folder: Path, out: Path, maker: FakeMaker, setups: Sequence[ThreadSetup] = (SIDE,), **flags: Any
) -> Json:
    with WorkFolder(out) as place:
        clips, _ = read_thread_labels(folder, out)
        return evaluate_threads(clips, setups, load_config(None, (), **flags), place, maker)


def write_labels(film: Path, *clusters: list[list[int]]) -> None:
    shots = [[a / 25, b / 25] for a, b in SHOTS]
    records = [{"clip": film.name, "shots": shots, "clusters": each} for each in clusters]
    (film.parent / "labels.json").write_text(json.dumps(records), encoding="utf-8")


def test_figures_of_two_clips_by_hand(film: Path, tmp_path: Path) -> None:
    # Found in both: {0, 2}, {1, 3}. True: the same; and {0, 1, 2}.
    write_labels(film, [[0, 2], [1, 3]], [[0, 1, 2]])
    maker = FakeMaker(scenes(1, 2, 1, 2))
    record = evaluated(tmp_path, tmp_path / "out", maker)
    assert maker.seen == [0, 9, 10, 29, 30, 31, 59], "one film, one set of shots: scored once"
    first, second = record["clips"]
    assert (first["precision"], first["recall"], first["wcp"]) == (1.0, 1.0, 1.0)
    assert first["ap"] == 1.0
    # Right 02, wrong 13, missed 01 and 12; pure: 2 of {0, 2}, 1 of {1, 3}.
    assert (second["precision"], second["recall"], second["wcp"]) == (0.5, pytest.approx(1 / 3), 0.75)
    pooled, mean = record["overall"][0]["pooled"], record["overall"][0]["mean"]
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
    write_labels(film, [])
    text = threads_text(evaluated(tmp_path, tmp_path / "all", FakeMaker(scenes(1, 2, 3, 4))))
    assert "labels.json[0]: AP –, P –, R –, WCP 1.000" in text
    # A clip of one shot has no scores.
    clip = clip_of(film, shots=(Interval(0, 1),), clusters=())
    (scores,) = run([clip], [SIDE], FakeMaker({}), tmp_path / "out")[SIDE]
    assert len(scores) == 0
