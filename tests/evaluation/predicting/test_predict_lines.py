"""Which ADs are described by which shots, what makes a line stale, and what of a file is taken up again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from shotad.core import (
    ConfigError,
    Interval,
    Role,
    Shot,
    UsageError,
    WorkFolder,
    WorkFolderError,
    load_config,
)
from shotad.description import Engines
from shotad.engines.fake import FakeEngine
from shotad.evaluation import Dataset, Shard, ahead_of, choose, load_dataset
from shotad.evaluation.datasets.dataset import Ad
from shotad.evaluation.predicting.clip import (
    ClipAds,
    ClipRequest,
    PredictedLine,
    line_key,
    published_shots,
    terms_of,
)
from shotad.evaluation.predicting.run import Ledger
from shotad.film import context_shots, fixed_slots
from shotad.script import given_shots, slot_cues
from tests.cmdad import DATA, cmdad, tvad
from tests.evaluation.predicting.minidataset import make_cmd


def dataset(sizes: list[int]) -> Dataset:
    """Clip ``k`` of film ``k // 2`` with ``sizes[k]`` ADs."""
    ads = []
    for clip, size in enumerate(sizes):
        for n in range(size):
            time = Interval(float(n), n + 1.0)
            ads.append(Ad(str(len(ads)), f"film{clip // 2}", f"clip{clip}", time, time, "He waits."))
    return Dataset("made", "Made", Path("nowhere"), tuple(ads))


def ids(tasks: tuple[ClipAds, ...]) -> list[str]:
    return [ad.id for ads in tasks for ad in ads]


def test_ids_films_and_a_limit() -> None:
    data = dataset([2, 3, 1])
    assert ids(choose(data, ids=frozenset({"1", "4"}))) == ["1", "4"]
    assert ids(choose(data, films=frozenset({"film1"}))) == ["5"]
    assert ids(choose(data, limit=3)) == ["0", "1", "2"]
    assert ids(choose(data, ids=frozenset({"1", "4", "5"}), limit=2)) == ["1", "4"]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(1, 9))
def test_shards_are_the_whole_and_even(sizes: list[int], of: int) -> None:
    data = dataset(sizes)
    shards = [choose(data, Shard(number, of)) for number in range(1, of + 1)]
    together = [name for shard in shards for name in ids(shard)]
    assert sorted(together, key=int) == ids(choose(data))
    loads = [len(ids(shard)) for shard in shards]
    assert max(loads) - min(loads) <= max(sizes)


def test_what_is_no_shard_is_refused() -> None:
    assert Shard.parse("2/8") == Shard(2, 8)
    assert str(Shard(2, 8)) == "2/8"
    for text in ("0/3", "4/3", "2", "a/b", "1/0", ""):
        with pytest.raises(UsageError, match="no shard"):
            Shard.parse(text)


def terms(*settings: str, engines: Engines | None = None) -> str:
    return terms_of(load_config(None, settings), engines or Engines(FakeEngine(), FakeEngine()))


def test_what_may_change_a_line_makes_it_stale(tmp_path: Path) -> None:
    plain = terms()
    for setting in (
        "seed=7", "slots.budget=paper", "prompt.medium=TV series", "context.past=1", "frames.inside=8",
        "stage2.candidates=5", "stage2.sampling.temperature=1.5", "threads.features=grid", "scale.method=none",
        "compute.precision=float32", "stage2.attempts=1", "film.reader=decord",
    ):  # fmt: skip
        assert terms(setting) != plain, setting
    # So do other engines.
    other = FakeEngine()
    other.identity = replace(other.identity, revision="2")
    for engines in (Engines(FakeEngine(), other), Engines(other, FakeEngine())):
        assert terms(engines=engines) != plain
    # And changed examples.
    file = tmp_path / "examples.txt"
    setting = f"prompt.example_file={file}"
    with pytest.raises(ConfigError, match=r"examples\.txt"):
        terms(setting)
    file.write_text("He waits.\n")
    before = terms(setting)
    file.write_text("She waits.\n")
    assert terms(setting) != before


def ad(name: str = "1", start: float = 2.0, length: float = 2.0) -> Ad:
    return Ad(name, "film", "clip", Interval(60.0, 60.0 + length), Interval(start, start + 2), "He waits.")


def test_what_changes_a_line_changes_its_key() -> None:
    shots = (Interval(0.0, 9.0),)
    plain: dict[str, Any] = {"terms": "t", "ad": ad(), "fingerprint": "video", "shots": None}
    changes: list[dict[str, Any]] = [
        {}, {"terms": "u"}, {"ad": ad("2")}, {"ad": ad(start=2.5)}, {"ad": ad(length=1.5)}, {"fingerprint": "another"},
        {"shots": shots}, {"cast": "bank"}, {"beside": [ad("3", 5.0)]},
    ]  # fmt: skip
    keys = [line_key(**{**plain, **change}) for change in changes]
    assert len(set(keys)) == len(keys)
    assert line_key("t", ad(), "video", shots=shots) == keys[6]


def test_models_of_this_machine_take_longer_turns() -> None:
    two = Engines.of(load_config(None, ["stage1.engine=qwen2-vl", "stage2.engine=llama3"]))
    assert ahead_of(two) > 1
    assert ahead_of(Engines(two.looks, two.looks)) == 1, "one model does both"
    assert ahead_of(Engines(two.looks, FakeEngine())) == 1
    assert ahead_of(Engines(FakeEngine(), FakeEngine())) == 1


IDS = ["a", "b", "c", "d"]


def line(name: str) -> PredictedLine:
    return PredictedLine(
        id=name, film="film", clip="clip", start=1.0, end=2.5, text="She runs.", status="placed",
        terms="t", key=f"t-{name}", failure="",
    )  # fmt: skip


def test_a_half_written_last_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    Ledger(path, IDS, "t").add([line("a"), line("b")])
    whole = path.read_bytes()
    for cut in (1, 2, 40, len(whole) - whole.index(b"\n") - 1):
        path.write_bytes(whole[:-cut])
        assert [one.id for one in Ledger(path, IDS, "t").lines] == ["a"]
    path.write_bytes(whole[:30])
    ledger = Ledger(path, IDS, "t")
    assert ledger.lines == ()
    ledger.add([line("b")])
    assert [(row["id"], row["text"]) for row in map(json.loads, path.read_text().splitlines())] == [
        ("b", "She runs.")
    ]
    # A file of something else is left alone.
    for content in ("id,text\n1,She runs.\n", '{"id": "1", "text": "x"}\n'):
        path.write_text(content)
        with pytest.raises(WorkFolderError, match="something else"):
            Ledger(path, IDS, "t")
        assert path.read_text() == content


def test_published_shots_are_given_within_the_video_with_their_gaps_closed_or_kept(tmp_path: Path) -> None:
    lists = {"clip": (Interval(0, 3), Interval(3, 8), Interval(8, 20)), "bare": ()}
    data = replace(dataset([1]), shots=lists)

    def times(duration: float, begins: float = 0.0) -> list[tuple[float, float]]:
        shots, _ = published_shots(data, "clip", duration, begins)
        return [(round(shot.start, 6), round(shot.end, 6)) for shot in shots or ()]

    assert times(10.0) == [(0.0, 3.0), (3.0, 8.0), (8.0, 10.0)]
    assert times(4.0, begins=5.0) == [(0.0, 3.0), (3.0, 4.0)], "a video that begins later has its own seconds"
    assert published_shots(data, "bare", 10.0) == ((Interval(0.0, 10.0),), "one")
    data = load_dataset("cmd-ad", make_cmd(tmp_path))
    closed, what = published_shots(data, "2001/one", 12.0)
    kept, _ = published_shots(data, "2001/one", 12.0, gaps=True)
    assert what == "published"
    assert closed is not None
    assert kept is not None
    assert [shot.end for shot in closed[:-1]] == [shot.start for shot in closed[1:]]
    assert (closed[0].start, closed[-1].end) == (0.0, 12.0)
    assert [(shot.start, shot.end) for shot in kept][:2] == [(0.01, 2.39), (2.41, 5.19)]


LABELS = {Role.PAST: "l", Role.CURRENT: "m", Role.FUTURE: "r"}
Pieces = list[tuple[str, float, float]]


def rounded(rows: Iterable[tuple[str, float, float]]) -> Pieces:
    """Past, current or future, start and end of what is shown, in whole milliseconds."""
    return [(label[0], round(start, 3), round(end, 3)) for label, start, end in rows]


def pieces_seen(name: str, folder: Path) -> dict[str, Pieces]:
    """What each AD of a dataset is shown by the published code's rules, by what is given to the pipeline."""
    data, config = load_dataset(name, DATA / name), load_config(["reference-code", name])
    by_clip: dict[str, list[Ad]] = {}
    for ad in data.ads:
        by_clip.setdefault(ad.clip, []).append(ad)
    assert data.description is not None
    found: dict[str, Pieces] = {}
    with WorkFolder(folder) as work:
        for clip, ads in by_clip.items():
            known = data.shots[clip]
            duration = known[-1].end + data.description.shots.gap / 2 if known else 600.0
            shots, origin = published_shots(data, clip, duration, gaps=config.context.by_rules.inclusive)
            given = ClipRequest(tuple(ads), shots, origin, None, "", {}).given(work, ads)
            assert given.shots is not None
            assert given.slots is not None
            rows = given_shots(given.shots, duration)
            numbered = [Shot(row["index"], Interval(row["start"], row["end"])) for row in rows]
            for slot in fixed_slots(slot_cues(given.slots), Interval(0.0, duration), config.slots)[0]:
                seen = context_shots(slot.interval, numbered, config.context)
                found[slot.label] = rounded((LABELS[s.role], s.clipped.start, s.clipped.end) for s in seen)
    return found


def test_the_published_contexts_come_out_of_what_is_given(tmp_path: Path) -> None:
    """Every AD sees exactly what it saw there, where there is a list of shots; a clip without cuts is one shot here,
    and nothing but the AD itself there."""
    expected = {str(one.index): rounded(one.rows) for one in cmdad()}
    seen = pieces_seen("cmd-ad", tmp_path)
    assert sum(seen[name] == rows for name, rows in expected.items()) == len(expected) - 29
    # And of numbered frames.
    expected = {str(one.index): rounded(one.rows) for one in tvad()}
    seen = pieces_seen("tv-ad", tmp_path)
    assert {name: [row for row in seen[name] if row in rows] for name, rows in expected.items()} == expected
    assert sum(map(len, seen.values())) == 15_460
