"""The whole way with the fake engine: what is written, what is kept, what is redone."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Given, Request, WorkFolder, WorkFolderError, load_config
from shotad.description import Engines, Outcome, describe
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from tests.media import FilmSpec, make_film, read_number
from tests.runs import QUICK, SMALL, SPEC, rows, run as talked, tree


def film_path() -> Path:
    return make_film(SPEC).path


def run(out: Path, *assignments: str, **options: Any) -> tuple[Outcome, FakeEngine, FakeEngine]:
    """One run with fake engines, which count their calls."""
    return talked(out, *assignments, **{"looks": FakeEngine(), "writes": FakeEngine(), **options})


First = tuple[Path, Outcome]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> First:
    """The folder of a run with nothing set, and what it came to."""
    out = tmp_path_factory.mktemp("first") / "w"
    return out, run(out)[0]


@pytest.fixture
def w(first: First, tmp_path: Path) -> Path:
    """A copy of that folder, to be changed."""
    return Path(shutil.copytree(first[0], tmp_path / "w"))


def test_a_run_writes_the_track_its_scripts_and_the_records(tmp_path: Path) -> None:
    outcome, looks, writes = run(tmp_path / "w", sheet=True)
    names = {p.name for p in (tmp_path / "w").iterdir()}
    stem = film_path().stem
    assert {
        "shots.json", "speech.json", "slots.json", "stage1.jsonl", "stage2.jsonl", "track.json",
        "overview.html",
    } <= names  # fmt: skip
    assert {f"{stem}.ad.vtt", f"{stem}.ad.srt", f"{stem}.ad.dapt.xml", f"{stem}.ad.csv"} <= names
    shots = json.loads((tmp_path / "w" / "shots.json").read_text())["shots"]
    assert {0, 100, 330} <= {row["frame"] for row in shots}
    slots = json.loads((tmp_path / "w" / "slots.json").read_text())["slots"]
    assert len(slots) >= 2
    assert looks.calls == writes.calls == len(slots) == len(outcome.track.cues)
    assert all(cue.heard for cue in outcome.track.cues)


@pytest.mark.parametrize("context", [True, False], ids=["with context", "without"])
@pytest.mark.parametrize("given", [False, True], ids=["planned slots, on the grid", "given slots, exact"])
def test_frames_are_those_of_the_planned_moments(tmp_path: Path, given: bool, context: bool) -> None:
    made = make_film(SPEC)
    seen: dict[str, Request] = {}

    def remember(request: Request) -> str:
        seen[request.slot_id] = request
        return plain_answer(request)

    def shown(second: float) -> int:
        return made.number_at(second if given else math.floor(second * 8 + 0.5) / 8)

    slots = tmp_path / "slots.csv"
    slots.write_text("start,end\n1.0,1.5\n4.0,7.0\n")
    fixed = Given(slots=slots) if given else None
    engine = FakeEngine(answer=remember)
    engine.abilities = replace(engine.abilities, wants_context=context)
    run(tmp_path / "w", "overlay.label=none", looks=engine, given=fixed)
    for record in rows(tmp_path / "w", "stage1"):
        clip = seen[record["slot"]].clip
        assert clip is not None
        told = [shot for shot in record["shots"] if context or shot["role"] == "current"]
        assert context or len(told) < len(record["shots"])
        wanted = [shown(second) for shot in told for second in shot["seconds"]]
        assert [read_number(image) for image in clip.images] == wanted
    assert not list((tmp_path / "w").glob("frames.*"))


def test_a_second_run_does_nothing_twice_and_changes_nothing(w: Path) -> None:
    before = tree(w)
    _, looks, writes = run(w)
    assert (looks.calls, writes.calls) == (0, 0)
    assert tree(w) == before


def test_a_film_that_was_copied_and_renamed_keeps_its_records(w: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.mp4"
    shutil.copy(film_path(), copy)
    engines = Engines(FakeEngine(), FakeEngine())
    with open_film(copy) as film, WorkFolder(w) as folder:
        describe(film, folder, load_config(None, (*QUICK, *SMALL, "speech.source=none")), engines=engines)
    assert engines.looks.calls == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "redone"),
    [
        ("seed=7", (True, True)),
        ("prompt.medium=TV series", (True, True)),
        ("prompt.verbs=[jump]", (False, True)),
        ("overlay.label=box", (True, False)),
        ("stage2.sampling.temperature=1.5", (False, True)),
        ("frames.inside=8", (True, True)),
        ("stage2.history=3", (False, False)),
    ],
)
def test_a_change_redoes_what_depends_on_it_alone(w: Path, change: str, redone: tuple[bool, bool]) -> None:
    _, looks, writes = run(w, change)
    assert (looks.calls > 0, writes.calls > 0) == redone


def test_a_changed_prompt_file_redoes_its_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shotad.core import data_root

    data = tmp_path / "data"
    for name in ("prompts", "configs", "models"):
        shutil.copytree(data_root() / name, data / name)
    monkeypatch.setenv("SHOTAD_DATA", str(data))
    run(tmp_path / "w")
    system = data / "prompts" / "stage2" / "system.txt"
    system.write_text(system.read_text() + "\nBe kind.\n")
    _, looks, writes = run(tmp_path / "w")
    assert looks.calls == 0
    assert writes.calls > 0


def test_a_failed_answer_is_a_failed_line_and_asked_again(first: First, tmp_path: Path) -> None:
    def stumble(request: Request) -> str:
        if request.slot_id == bad:
            raise RuntimeError("out of luck")
        return plain_answer(request)

    bad = rows(first[0], "stage1")[1]["slot"]
    outcome, _, writes = run(tmp_path / "w", looks=FakeEngine(answer=stumble))
    cue = next(cue for cue in outcome.track.cues if cue.slot_id == bad)
    assert cue.status.value == "failed"
    assert "out of luck" in cue.reason
    assert outcome.counts["failed"] == 1
    assert writes.calls == len(outcome.track.cues) - 1
    outcome, looks, writes = run(tmp_path / "w")
    assert (looks.calls, writes.calls) == (1, 1)
    assert outcome.counts["failed"] == 0
    assert tree(tmp_path / "w") == tree(first[0])


def test_only_the_part_asked_for_is_described_with_the_same_slots(first: First, tmp_path: Path) -> None:
    whole = first[1]
    part, looks, _ = run(tmp_path / "b", given=Given(start=6.0, end=14.0))
    expected = [cue for cue in whole.track.cues if 6 <= cue.interval.start < 14]
    assert [cue.id for cue in part.track.cues] == [cue.id for cue in expected]
    assert looks.calls == len(expected) > 0
    rest, looks, _ = run(tmp_path / "b")
    assert looks.calls == len(whole.track.cues) - len(expected)
    assert [cue.id for cue in rest.track.cues] == [cue.id for cue in whole.track.cues]


def test_a_trial_of_a_part_keeps_the_lines_of_the_rest(first: First, w: Path) -> None:
    whole = first[1]
    part, _, _ = run(w, "seed=9", given=Given(start=6.0, end=14.0))
    assert [cue.id for cue in part.track.cues] == [cue.id for cue in whole.track.cues]


def test_edits_survive_a_second_run_and_a_changed_engine(first: First, w: Path) -> None:
    outcome = first[1]
    path = w / "track.json"
    old = outcome.track.cues[0].text
    path.write_text(path.read_text().replace(f'"text": {json.dumps(old)}', '"text": "A person wrote this."'))
    assert "A person wrote this." in path.read_text()
    for assignments in ((), ("seed=5",)):
        outcome, _, _ = run(w, *assignments)
        assert outcome.track.cues[0].text == "A person wrote this."
        assert outcome.track.cues[0].edited is not None
    assert "A person wrote this." in (w / f"{film_path().stem}.ad.vtt").read_text()
    outcome, _, _ = run(w, force=True)
    assert outcome.track.cues[0].text == "A person wrote this."
    outcome, _, _ = run(w, discard_edits=True)
    assert outcome.track.cues[0].text == old


def test_the_track_of_another_film_is_refused(w: Path) -> None:
    with (
        open_film(make_film(FilmSpec(frames=200)).path) as film,
        WorkFolder(w) as folder,
        pytest.raises(WorkFolderError, match="another film"),
    ):
        describe(film, folder, load_config(None, QUICK))


def test_given_slots_and_shots_are_used_as_they_are(tmp_path: Path) -> None:
    shots = tmp_path / "shots.csv"
    shots.write_text("start,end\n0,10\n10,20\n")
    slots = tmp_path / "slots.csv"
    slots.write_text("id,start,end\nfirst,1.0,1.5\n,4.0,7.0\n,19.0,25.0\n,30,31\n")
    outcome, _, _ = run(tmp_path / "w", given=Given(slots=slots, shots=shots))
    assert len(json.loads((tmp_path / "w" / "shots.json").read_text())["shots"]) == 2
    assert [cue.id for cue in outcome.track.cues] == ["s00001000", "s00004000", "s00019000"]
    assert [name for name, _ in outcome.failed_slots] == ["s00030000"]
    rows = json.loads((tmp_path / "w" / "slots.json").read_text())["slots"]
    assert [row.get("label", "") for row in rows] == ["first", "", ""]
    assert any("cut to" in warning for warning in outcome.warnings)


def test_what_a_killed_run_has_kept_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shotad.film.pyav_reader import PyavFilm

    def stop(request: Request) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "w", looks=FakeEngine(answer=stop))
    assert (tmp_path / "w" / "frames.pack").stat().st_size > 0
    monkeypatch.setattr(PyavFilm, "frames_at", lambda self, seconds: iter(()))
    outcome, looks, _ = run(tmp_path / "w")
    assert looks.calls == len(outcome.track.heard) > 0
    assert not list((tmp_path / "w").glob("frames.*"))
