"""Which ADs are described by which shots, what makes a line stale, what of a file is taken up again; and the pipeline over
a dataset: every AD has its line, by its id, whatever the videos are like."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from shotad.core import (
    Abilities,
    Interval,
    NoProgress,
    Reply,
    Request,
    ShotadError,
    WorkFolder,
    load_config,
)
from shotad.core.errors import (
    ConfigError,
    EngineError,
    UsageError,
    WorkFolderError,
)
from shotad.core.progress import Task, plural
from shotad.core.types import Role
from shotad.description import Engines
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.evaluation import (
    Dataset,
    Job,
    Shard,
    choose_clips,
    load_dataset,
    predict,
    read_bank_of_films,
)
from shotad.evaluation.datasets.dataset import Ad
from shotad.evaluation.predicting.clip import ClipRequest, published_shots
from shotad.evaluation.predicting.parts import ClipPart, clips_at_once
from shotad.film import context_shots
from shotad.film.slots import fixed_slots
from shotad.grammar import vit_features as dinov2
from shotad.script.formats import given_shots, slot_cues
from tests.cmdad import DATA, cmdad, tvad
from tests.evaluation.predicting.minidataset import CLIPS, INSIDE, ONE, TWO, Runs, make_cmd, make_tv
from tests.media import make_film
from tests.shotad_process import PLAIN
from tests.tiny import make_backbone


def dataset(sizes: list[int]) -> Dataset:
    """Clip ``k`` of film ``k // 2`` with ``sizes[k]`` ADs."""
    ads = []
    for clip, size in enumerate(sizes):
        for n in range(size):
            time = Interval(float(n), n + 1.0)
            ads.append(Ad(str(len(ads)), f"film{clip // 2}", f"clip{clip}", time, time, "He waits."))
    return Dataset("made", "Made", Path("nowhere"), tuple(ads))


def ids(tasks: Iterable[Sequence[Ad]]) -> list[str]:
    return [ad.id for ads in tasks for ad in ads]


def test_ids_films_and_a_limit() -> None:
    data = dataset([2, 3, 1])
    assert ids(choose_clips(data, ids=frozenset({"1", "4"}))) == ["1", "4"]
    assert ids(choose_clips(data, films=frozenset({"film1"}))) == ["5"]
    assert ids(choose_clips(data, limit=3)) == ["0", "1", "2"]
    assert ids(choose_clips(data, ids=frozenset({"1", "4", "5"}), limit=2)) == ["1", "4"]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(1, 9))
def test_shards_are_the_whole_and_even(sizes: list[int], of: int) -> None:
    data = dataset(sizes)
    shards = [choose_clips(data, Shard(number, of)) for number in range(1, of + 1)]
    together = [name for shard in shards for name in ids(shard)]
    assert sorted(together, key=int) == ids(choose_clips(data))
    loads = [len(ids(shard)) for shard in shards]
    assert max(loads) - min(loads) <= max(sizes)


def test_what_is_no_shard_is_refused() -> None:
    assert Shard.parse("2/8") == Shard(2, 8)
    assert str(Shard(2, 8)) == "2/8"
    for text in ("0/3", "4/3", "2", "a/b", "1/0", ""):
        with pytest.raises(UsageError, match="no shard"):
            Shard.parse(text)


def parts(sizes: list[int]) -> list[ClipPart]:
    return [ClipPart(None, ads) for ads in choose_clips(dataset(sizes))]


def test_so_many_clips_are_under_way_that_the_engines_have_enough_to_do() -> None:
    alone, server = FakeEngine(), FakeEngine()
    server.abilities = Abilities(converses=True, in_flight=7, sends_to="example.org")
    few = clips_at_once(parts([3] * 100), Engines(alone, alone))
    many = clips_at_once(parts([3] * 100), Engines(server, server))
    assert few == 2 + 2, "two ADs for each stage, and two clips that are prepared meanwhile"
    assert many == 11 + 2
    assert clips_at_once(parts([3] * 50 + [1] * 50), Engines(server, server)) == 32 + 2, "short ones in a row"
    assert clips_at_once(parts([3] * 4), Engines(server, server)) == 4
    assert clips_at_once([], Engines(server, server)) == 1
    two = Engines.of(load_config(None, ["stage1.engine=qwen2-vl", "stage2.engine=llama3"]))
    assert clips_at_once(parts([10] * 100), two) == 40 + 2, "two models of this machine take long turns"
    assert clips_at_once(parts([10] * 100), Engines(two.stage1, server)) == 8 + 2


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
    pieces: dict[str, Pieces] = {}
    with WorkFolder(folder) as work:
        for clip, ads in by_clip.items():
            shots = data.shots[clip]
            duration = shots[-1].end + data.description.shots.gap / 2 if shots else 600.0
            shots, origin = published_shots(data, clip, duration, gaps=config.context.by_rules.inclusive)
            given = ClipRequest(tuple(ads), shots, origin, None, "", {}).given(work, ads)
            assert given.shots is not None
            assert given.slots is not None
            numbered = given_shots(given.shots, duration)
            for slot in fixed_slots(slot_cues(given.slots), Interval(0.0, duration), config.slots)[0]:
                context = context_shots(slot.interval, numbered, config.context)
                pieces[slot.label] = rounded(
                    (LABELS[s.role], s.clipped.start, s.clipped.end) for s in context
                )
    return pieces


@pytest.mark.long
def test_the_published_contexts_come_out_of_what_is_given(tmp_path: Path) -> None:
    """Every AD sees exactly what it saw there, where there is a list of shots; a clip without cuts is one shot here,
    and nothing but the AD itself there."""
    expected = {str(one.index): rounded(one.rows) for one in cmdad()}
    seen = pieces_seen("cmd-ad", tmp_path)
    assert sum(seen[name] == rows for name, rows in expected.items()) == len(expected) - 29


def test_the_published_contexts_of_numbered_frames_come_out(tmp_path: Path) -> None:
    expected = {str(one.index): rounded(one.rows) for one in tvad()}
    seen = pieces_seen("tv-ad", tmp_path)
    assert {name: [row for row in seen[name] if row in rows] for name, rows in expected.items()} == expected
    assert sum(map(len, seen.values())) == 15_460


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(make_cmd(tmp_path / "root"), tmp_path / "preds.jsonl")


NO_VIDEO = ("7",)
"""An AD whose clip has no video: its row is written without anything being described."""


def terms(runs: Runs, *settings: str) -> str:
    """The hash of what is the same for all lines of a run with these settings."""
    runs.run(*settings, ids=NO_VIDEO)
    (row,) = [row for row in runs.rows if row["id"] == "7"]
    return str(row["terms"])


def test_what_may_change_a_line_makes_it_stale(runs: Runs, tmp_path: Path) -> None:
    plain = terms(runs)
    for setting in (
        "seed=7", "slots.budget=paper", "prompt.medium=TV series", "context.past=1", "frames.inside=8",
        "stage2.candidates=5", "stage2.sampling.temperature=1.5", "stage2.sampling.top_k=50", "threads.features=none", "scale.method=by-face",
        "compute.precision=float32", "stage2.attempts=1",
    ):  # fmt: skip
        assert terms(runs, setting) != plain, setting
    # What chooses the same engine in another way does not.
    assert terms(runs, "stage2.engine=fake", "measures.rules=code") == plain
    # So do other engines.
    for stage in ("looks", "writes"):
        other = FakeEngine()
        other.identity = replace(other.identity, revision="2")
        assert terms(replace(runs, **{stage: other})) != plain
    # And changed examples.
    file = tmp_path / "examples.txt"
    setting = f"prompt.example_file={file}"
    with pytest.raises(ConfigError, match=r"examples\.txt"):
        terms(runs, setting)
    file.write_text("He waits.\n")
    before = terms(runs, setting)
    file.write_text("She waits.\n")
    assert terms(runs, setting) != before


TWO_ADS = ("9", "10")
"""Those of the clip 2002/two."""


def test_what_changes_a_line_makes_it_again(runs: Runs) -> None:
    runs.run(ids=TWO_ADS)
    runs.asked()

    def asked(*settings: str, ids: Sequence[str] = TWO_ADS) -> int:
        runs.run(*settings, ids=ids)
        return runs.asked()

    assert asked() == 0
    # Where a slot begins, then how long its AD is.
    table = runs.root / "cmdad_anno.csv"
    for before, after in (
        ("101.0,103.0,7212,1.0,3.0,2002/two", "101.0,103.0,7212,1.5,3.0,2002/two"),
        ("101.0,103.0,7212,1.5,3.0,2002/two", "101.0,102.5,7212,1.5,3.0,2002/two"),
    ):
        text = table.read_text(encoding="utf-8")
        assert text.count(before) == 1
        table.write_text(text.replace(before, after), encoding="utf-8")
        assert asked() > 0
        assert asked() == 0
    # Another video.
    video = runs.root / "2002/two.mp4"
    video.write_bytes(make_film(replace(TWO, frames=202)).path.read_bytes())
    assert asked() > 0
    assert asked() == 0
    # With several candidates a line depends on those beside it.
    several = "stage2.candidates=2"
    assert asked(several, ids=TWO_ADS[:1]) > 0
    assert asked(several, ids=TWO_ADS[:1]) == 0
    alone = asked(several, ids=TWO_ADS[1:])
    assert asked(several) > alone


def test_a_half_written_last_line_is_made_again(runs: Runs) -> None:
    runs.run(ids=TWO_ADS)
    whole = runs.out.read_bytes()
    first_line = whole.index(b"\n") + 1
    runs.asked()
    for size in (len(whole) - 1, len(whole) - 40, first_line, 30):
        runs.out.write_bytes(whole[:size])
        runs.run(ids=TWO_ADS)
        assert runs.asked() > 0
        assert runs.out.read_bytes() == whole


def test_a_file_of_something_else_is_left_alone(runs: Runs) -> None:
    for content in ("id,text\n1,She runs.\n", '{"id": "1", "text": "x"}\n'):
        runs.out.write_text(content)
        with pytest.raises(WorkFolderError, match="something else"):
            runs.run(ids=TWO_ADS)
        assert runs.out.read_text() == content


def answering(answer: Callable[[Request], str]) -> FakeEngine:
    engine = FakeEngine(answer=answer)
    engine.abilities = FakeEngine().abilities
    return engine


def by_id(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}


def test_what_no_video_shows_fails_and_the_run_goes_on(runs: Runs) -> None:
    done = runs.run()
    rows = by_id(runs.rows)
    # A slot beyond its video fails, and one that reaches beyond does not.
    failed = {
        "6": "lies outside the video, which ends at 12.000 s", "7": "The video of 2001/gone is missing",
        "8": "2001/gone.mp4", "11": "broken.mp4",
    }  # fmt: skip
    assert [name for name, row in rows.items() if row["text"] is None] == list(failed)
    for name, why in failed.items():
        assert why in rows[name]["failure"]
    assert [(clip, count) for clip, _, count in done.failures()] == [
        ("2001/one", 1), ("2001/gone", 2), ("2002/broken", 1),
    ]  # fmt: skip


def test_what_a_video_that_is_cut_off_does_not_show_fails(runs: Runs) -> None:
    """The reader shows a file's last frame at all later moments; lines must not be made of it."""
    video = runs.root / "2001/one.mp4"
    # An MP4 with its index at the front, as films from the web have it: half of it can still be opened
    whole = make_film(replace(ONE, muxer=(("movflags", "faststart"),))).path.read_bytes()
    video.write_bytes(whole[: len(whole) // 2])
    done = runs.run()
    rows = by_id(runs.rows)
    assert rows["0"]["text"] is not None
    for name in ("5", "6"):
        assert rows[name]["text"] is None, "the video's second half is not there"
        assert "of 12.0 s: the file is cut off or damaged" in rows[name]["failure"]
        assert not rows[name]["again"]
    told = [reason for clip, reason, _ in done.failures() if clip == "2001/one"]
    assert len(told) == 1, "one reason for all of the clip"
    said = [line.text for line in done.lines if line.clip == "2001/one" and line.text]
    assert 0 < len(said) < len(CLIPS["2001/one"][1]) - 1


class Notes(NoProgress):
    """Keeps what a run says."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        self.texts.append(text)


def test_the_same_again_and_in_shards_gives_the_same(runs: Runs, tmp_path: Path) -> None:
    runs.run()
    first, asked = runs.out.read_bytes(), runs.asked()
    done = runs.run()
    assert asked == 2 * INSIDE
    assert runs.asked() == 0
    assert runs.out.read_bytes() == first
    assert done.kept == INSIDE
    assert sorted(path.name for path in runs.out.parent.glob("preds*")) == ["preds.jsonl", "preds.shotad"]
    before = by_id(runs.rows)
    notes = Notes()
    runs.run("prompt.medium=TV series", progress=notes)
    # Those that failed and may do better are dropped instead.
    moved = plural(sum(not line["again"] for line in before.values()), "line")
    assert (
        f"{moved} in preds.jsonl of other settings or another dataset: moved to preds.aside.jsonl."
        in notes.texts
    )
    assert runs.asked() == 2 * INSIDE, "changed settings make every line anew, and come back for nothing"
    assert by_id(runs.rows)["0"]["terms"] != before["0"]["terms"]
    runs.run()
    assert runs.asked() == 0
    assert by_id(runs.rows) == before
    whole = runs.out.read_text().splitlines()
    parts: list[str] = []
    for number in (1, 2, 3):
        runs.out = tmp_path / f"part-{number}.jsonl"
        runs.run(shard=f"{number}/3")
        parts += runs.out.read_text().splitlines()
    assert sorted(parts) == sorted(whole)
    runs.out = tmp_path / "preds.jsonl"
    # Found shots when they are asked for.
    runs.run(published=False)
    rows = by_id(runs.rows)
    assert {row["shots"] for row in rows.values() if row["text"]} == {"found"}
    assert rows["0"]["terms"] == before["0"]["terms"]
    assert rows["0"]["key"] != before["0"]["key"]


def test_a_failed_answer_is_asked_for_again_and_nothing_else(runs: Runs) -> None:
    refused = {"s00004000"}

    def answer(request: Request) -> str:
        if request.slot_id in refused:
            raise RuntimeError("out of order")
        return plain_answer(request)

    runs.writes = answering(answer)
    done = runs.run()
    rows = by_id(runs.rows)
    assert "out of order" in rows["2"]["failure"]
    assert rows["2"]["text"] is None
    assert rows["2"]["description"] is not None
    assert rows["10"]["text"] is None, "the same second of another clip"
    assert done.failed == len(rows) - INSIDE + 2
    runs.asked()
    refused.clear()
    runs.run()
    assert runs.asked() == 2
    assert by_id(runs.rows)["2"]["text"] is not None
    assert list(by_id(runs.rows)) == [ad.id for ad in runs.dataset.ads]


def test_an_engine_that_is_gone_ends_the_run_and_the_next_goes_on(runs: Runs) -> None:
    class Gone(FakeEngine):
        left = 5

        def generate(self, requests: Any) -> Any:
            if self.calls >= self.left:
                raise EngineError("The server is gone.")
            return super().generate(requests)

    runs.writes = Gone()
    with pytest.raises(EngineError, match="gone"):
        runs.run()
    runs.writes = FakeEngine()
    runs.asked()
    runs.run()
    rows = by_id(runs.rows)
    assert sum(row["text"] is not None for row in rows.values()) == INSIDE
    assert runs.asked() <= 2 * INSIDE - 6


class Batches(FakeEngine):
    """An engine of this machine that takes four questions in a call; ``batches`` are their clips and slots."""

    def __init__(self, turns: list[str] | None = None, name: str = "", *, full: str = "") -> None:
        super().__init__()
        self.abilities = Abilities(accepts_images=True, batch=4)
        self.batches: list[list[str]] = []
        self._turns, self._name, self._full = turns if turns is not None else [], name, full

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        names = [request.slot_id for request in requests]
        if self._full in names:
            raise MemoryError("out of memory")
        self.batches.append(names)
        self._turns.append(self._name)
        return super().generate(requests)


ONE_ATTEMPT = ("stage1.attempts=1", "stage2.attempts=1")


def test_batches_are_filled_by_several_clips_and_the_same_in_every_run(runs: Runs, tmp_path: Path) -> None:
    outcomes = []
    for number in range(3):
        turns: list[str] = []
        runs.looks, runs.writes = Batches(turns, "looks"), Batches(turns, "writes")
        runs.out = tmp_path / f"{number}.jsonl"
        runs.run(*ONE_ATTEMPT)
        assert turns == ["looks"] * 2 + ["writes"] * 2, "two models are changed once"
        outcomes.append((runs.looks.batches, runs.writes.batches, runs.out.read_bytes()))
    assert outcomes[0] == outcomes[1] == outcomes[2]
    looked, written, _ = outcomes[0]
    assert [len(batch) for batch in looked] == [len(batch) for batch in written] == [4, 4]
    assert INSIDE == 8


def test_a_request_for_which_memory_is_short_fails_its_clip_alone(runs: Runs) -> None:
    runs.looks, runs.writes = Batches(full="s00007000"), Batches()
    done = runs.run(*ONE_ATTEMPT)
    rows = by_id(runs.rows)
    assert rows["0"]["text"] is None
    assert "Memory ran out" in rows["0"]["failure"]
    assert all(rows[name]["text"] for name in TWO_ADS), "another clip, whose questions were in its batches"
    assert done.failed == len(rows) - len(TWO_ADS)


class Interrupted(NoProgress):
    """A front end at which somebody presses Ctrl-C when the first clip is done."""

    def task(self, name: str, total: float | None, unit: str) -> Task:
        return self if name == "Describing clips" else NoProgress()

    def advance(self, amount: float = 1) -> None:
        raise KeyboardInterrupt


def test_an_interruption_writes_no_failures_and_the_next_run_goes_on(runs: Runs) -> None:
    with pytest.raises(KeyboardInterrupt):
        runs.run(progress=Interrupted())
    assert all(row["text"] or row["id"] == "6" for row in runs.rows)
    first = runs.asked()
    runs.run()
    assert first + runs.asked() == 2 * INSIDE
    assert sum(row["text"] is not None for row in runs.rows) == INSIDE


KILLED = """
import os, sys
from pathlib import Path
from shotad.engines.fake import FakeEngine
from tests.evaluation.predicting.minidataset import Runs

class Killed(FakeEngine):
    left = int(sys.argv[3])
    def generate(self, requests):
        if Killed.left == 0:
            os._exit(9)
        Killed.left -= 1
        return super().generate(requests)

Runs(Path(sys.argv[1]), Path(sys.argv[2]), looks=Killed(), writes=Killed()).run()
"""


def test_a_run_that_is_killed_at_any_question_goes_on_to_the_same_file(runs: Runs, tmp_path: Path) -> None:
    runs.run()
    whole, runs.out = runs.out.read_bytes(), tmp_path / "killed.jsonl"
    for answers in (3, 2, 4):
        words = [sys.executable, "-c", KILLED, str(runs.root), str(runs.out), str(answers)]
        assert subprocess.run(words, check=False).returncode == 9
    runs.asked()
    runs.run()
    assert runs.asked() == 2 * INSIDE - 9
    assert runs.out.read_bytes() == whole


class Mishap(NoProgress):
    """A front end with a fault that shows when the first step of a clip is announced."""

    broken = False

    def task(self, name: str, total: float | None, unit: str) -> Task:
        if name != "Describing clips" and not self.broken:
            self.broken = True
            raise IndexError("no such frame")
        return super().task(name, total, unit)


def test_a_mishap_in_one_clip_is_its_failure(runs: Runs) -> None:
    runs.run(progress=Mishap())
    rows = by_id(runs.rows)
    failed = {
        row["clip"] for row in rows.values() if row["failure"] == "unexpected IndexError: no such frame"
    }
    described = {row["clip"] for row in rows.values() if row["text"]}
    assert failed | described == {"2001/one", "2002/two"}
    assert len(failed) == 1, "that of which the steps are shown"
    assert "no such frame" in (runs.out.with_suffix(".shotad") / "log.txt").read_text()
    runs.run()
    assert sum(row["text"] is not None for row in runs.rows) == INSIDE


def test_frames_of_a_series_in_a_tar(tmp_path: Path) -> None:
    runs = Runs(make_tv(tmp_path / "root"), tmp_path / "tv.jsonl", "tv-ad")
    done = runs.run()
    assert done.failed == 0
    assert all(row["text"] for row in runs.rows)
    assert [[row[key] for key in ("film", "start", "end", "shots", "words")] for row in runs.rows] == [
        ["tt9e", 1.0, 3.0, "published", 4], ["tt9e", 5.0, 8.0, "published", 5],
    ], "words by the ADs' own 1.1 and 1.4 s"  # fmt: skip


def test_a_bank_names_whom_it_has_and_its_changes_are_noticed(tmp_path: Path) -> None:
    bank, photos = tmp_path / "bank.json", tmp_path / "photos"
    bank.write_text(json.dumps({"tt1": [{"id": "nm1", "name": "Ann Actor", "role": "Ann"}]}))
    banks = read_bank_of_films(bank, None)
    assert banks.cast_of("tt2") is None
    given = banks.cast_of("tt1")
    assert given is not None
    assert (given.path, given.key) == (bank, "tt1")
    photos.mkdir()
    keys = {read_bank_of_films(bank, photos).known_of("tt1")}
    for picture in (b"picture", b"another picture"):
        (photos / "nm1.jpg").write_bytes(picture)
        keys.add(read_bank_of_films(bank, photos).known_of("tt1"))
    assert len(keys) == 3
    # What is no bank is refused.
    for content in ("[]", '{"tt1": "Ann"}', "{"):
        bank.write_text(content)
        with pytest.raises(ShotadError, match=r"bank\.json"):
            read_bank_of_films(bank, None)


def test_a_model_of_grammar_loads_once(runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    real = dinov2.load_model
    monkeypatch.setattr(dinov2, "load_model", lambda folder: (loads.append(folder.name), real(folder))[1])
    model = make_backbone(tmp_path / "tiny", hidden=48, blocks=1, heads=3)
    settings = (f"threads.features={model}", "compute.device=cpu")
    runs.run(*settings, work=tmp_path / "work")
    assert loads == ["tiny"]
    first = runs.out.read_bytes()
    grammars = [path.read_text() for path in tmp_path.glob("work/*/grammar.json")]
    assert len(grammars) == 2
    assert all("dinov2:tiny@" in json.loads(grammar)["features"] for grammar in grammars)
    runs.run(*settings)
    assert loads == ["tiny"], "a second run loads nothing"
    assert runs.out.read_bytes() == first


BRIEF = (
    "threads.features=grid", "compute.device=cpu", "prompt.example_count=0", "stage1.attempts=1",
    "stage2.attempts=1", "stage1.sampling.max_tokens=16", "stage2.sampling.max_tokens=16",
)  # fmt: skip


@pytest.mark.slow
def test_the_models_are_loaded_once_for_many_clips(tmp_path: Path) -> None:
    from tests.language_models import CountedLlama, add_ballast, make_llama
    from tests.vision_models import qwen_folder

    sees = qwen_folder(tmp_path / "sees", "qwen2_vl")
    writes = make_llama(tmp_path / "writes", context=4096, counted=True)
    for folder in (sees, writes):
        add_ballast(folder)  # there is never room for both
    runs = Runs(make_cmd(tmp_path / "root"), tmp_path / "unused")
    names = (
        "stage1.engine=qwen2-vl", f"stage1.model={sees}", "stage2.engine=llama3", f"stage2.model={writes}",
    )  # fmt: skip
    config = load_config("cmd-ad", (*names, *BRIEF, *PLAIN, "compute.precision=float32"))
    files = []
    for number in range(2):
        CountedLlama.loads.clear()
        out = tmp_path / f"{number}.jsonl"
        done = predict(Job(runs.dataset, config, Engines.of(config), out), choose_clips(runs.dataset))
        assert sum(line.description is not None for line in done.lines) > 0
        files.append(out.read_bytes())
        assert CountedLlama.loads == ["writes"], "both clips are looked at before lines are written"
    assert files[0] == files[1]
