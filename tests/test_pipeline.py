"""The whole way with the fake engine: what is written, what is kept, what is redone."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Given, Request, data_root
from shotad.description import Outcome
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film.pyav_reader import PyavFilm
from tests.media import make_film, read_number
from tests.runs import SPEC, rows, run as talked, slots, tree


def film_path() -> Path:
    return make_film(SPEC).path


def run(out: Path, *assignments: str, **options: Any) -> tuple[Outcome, FakeEngine, FakeEngine]:
    """One run with fake engines, which count their calls."""
    return talked(out, *assignments, **{"looks": FakeEngine(), "writes": FakeEngine(), **options})


First = tuple[Path, Outcome, FakeEngine, FakeEngine]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> First:
    """The folder of a run with nothing set, what it came to, and its engines."""
    out = tmp_path_factory.mktemp("first") / "w"
    return out, *run(out)


@pytest.fixture
def w(first: First, tmp_path: Path) -> Path:
    """A copy of that folder, to be changed."""
    return Path(shutil.copytree(first[0], tmp_path / "w"))


def test_a_run_writes_the_track_its_scripts_and_the_records(first: First) -> None:
    out, outcome, looks, writes = first
    names, stem = {p.name for p in out.iterdir()}, film_path().stem
    assert {"shots.json", "speech.json", "slots.json", "stage1.jsonl", "stage2.jsonl", "track.json"} <= names
    assert {f"{stem}.ad.vtt", f"{stem}.ad.srt", f"{stem}.ad.dapt.xml", f"{stem}.ad.csv"} <= names
    shots = json.loads((out / "shots.json").read_text())["shots"]
    assert {0, 100, 330} <= {row["frame"] for row in shots}
    assert looks.calls == writes.calls == len(slots(out)) == len(outcome.track.cues) >= 2
    assert all(cue.heard for cue in outcome.track.cues)


@pytest.mark.parametrize(
    ("given", "context"),
    [(False, True), (True, False)],
    ids=["planned slots, on the grid", "given slots, exact"],
)
def test_frames_are_those_of_the_planned_moments(tmp_path: Path, given: bool, context: bool) -> None:
    made = make_film(SPEC)
    seen: dict[str, Request] = {}

    def remember(request: Request) -> str:
        seen[request.slot_id] = request
        return plain_answer(request)

    def shown(second: float) -> int:
        return made.number_at(second if given else math.floor(second * 8 + 0.5) / 8)

    (tmp_path / "slots.csv").write_text("start,end\n1.0,1.5\n4.0,7.0\n")
    fixed = Given(slots=tmp_path / "slots.csv") if given else None
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


def test_a_second_run_does_nothing_twice_also_where_the_film_was_copied(w: Path, tmp_path: Path) -> None:
    before = tree(w)
    _, looks, writes = run(w)
    assert (looks.calls, writes.calls) == (0, 0)
    assert tree(w) == before
    _, looks, _ = run(w, film=Path(shutil.copy(film_path(), tmp_path / "copy.mp4")))
    assert looks.calls == 0


@pytest.mark.parametrize(
    ("change", "redone"),
    [
        ("seed=7", (True, True)),
        ("prompt.verbs=[jump]", (False, True)),
        ("overlay.label=box", (True, False)),
        ("stage2.history=3", (False, False)),
    ],
)
def test_a_change_redoes_what_depends_on_it_alone(w: Path, change: str, redone: tuple[bool, bool]) -> None:
    _, looks, writes = run(w, change)
    assert (looks.calls > 0, writes.calls > 0) == redone


def test_a_changed_prompt_file_redoes_its_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_only_the_part_asked_for_is_described_with_the_same_slots(
    first: First, w: Path, tmp_path: Path
) -> None:
    whole, half = first[1].track.cues, Given(start=6.0, end=14.0)
    part, looks, _ = run(tmp_path / "b", given=half)
    expected = [cue.id for cue in whole if 6 <= cue.interval.start < 14]
    assert [cue.id for cue in part.track.cues] == expected
    assert looks.calls == len(expected) > 0
    rest, looks, _ = run(tmp_path / "b")
    assert looks.calls == len(whole) - len(expected)
    assert [cue.id for cue in rest.track.cues] == [cue.id for cue in whole]
    trial, _, _ = run(w, "seed=9", given=half)
    assert [cue.id for cue in trial.track.cues] == [cue.id for cue in whole], "the lines of the rest are kept"


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


def test_given_slots_and_shots_are_used_as_they_are(tmp_path: Path) -> None:
    given = Given(slots=tmp_path / "slots.csv", shots=tmp_path / "shots.csv")
    (tmp_path / "shots.csv").write_text("start,end\n0,10\n10,20\n")
    (tmp_path / "slots.csv").write_text("id,start,end\nfirst,1.0,1.5\n,4.0,7.0\n,19.0,25.0\n,30,31\n")
    outcome, _, _ = run(tmp_path / "w", given=given)
    assert len(json.loads((tmp_path / "w" / "shots.json").read_text())["shots"]) == 2
    assert [cue.id for cue in outcome.track.cues] == ["s00001000", "s00004000", "s00019000"]
    assert [name for name, _ in outcome.failed_slots] == ["s00030000"]
    rows = json.loads((tmp_path / "w" / "slots.json").read_text())["slots"]
    assert [row.get("label", "") for row in rows] == ["first", "", ""]
    assert any("cut to" in warning for warning in outcome.warnings)


def test_what_a_killed_run_has_kept_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(request: Request) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "w", looks=FakeEngine(answer=stop))
    assert (tmp_path / "w" / "frames.pack").stat().st_size > 0
    monkeypatch.setattr(PyavFilm, "frames_at", lambda self, seconds: iter(()))
    outcome, looks, _ = run(tmp_path / "w")
    assert looks.calls == len(outcome.track.heard) > 0
    assert not list((tmp_path / "w").glob("frames.*"))
