"""Runs that keep to slots by hand: describe, describe again, redo, what is told, what stays as it was."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from shotad.core import (
    Interval,
    Request,
    RunInputs,
    Slot,
    WorkFolder,
    load_config,
)
from shotad.core.errors import WorkFolderError
from shotad.core.runsettings import read_settings
from shotad.description import Engines, describe
from shotad.description.linting.material import track_material
from shotad.description.pipeline import empty_line
from shotad.engines.fake import FakeEngine
from shotad.film import (
    HandSlots,
    SlotChange,
    open_film,
    read_prepared,
)
from shotad.film.slot_records import FILE, change_slots, hand_slot, read_hand_slots
from shotad.script import CueStatus, Track, save_track
from tests.cli.program import invoke
from tests.redo.redoing import SETTINGS, again, film_path, fresh, rows, run, track_of

SLOTS = load_config(None, SETTINGS).slots


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> RunInputs:
    """Three slots that leave time between them."""
    file = tmp_path_factory.mktemp("given") / "slots.csv"
    file.write_text("start,end\n1,5\n6,9\n12,16\n", encoding="utf-8")
    return RunInputs(slots=file)


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory, given: RunInputs) -> Path:
    run(place := tmp_path_factory.mktemp("described") / "w", given=given)
    return place


@pytest.fixture
def place(tmp_path: Path, described: Path) -> Path:
    """A folder in which they were described."""
    return Path(shutil.copytree(described, tmp_path / "w"))


def add(place: Path, start: float, end: float) -> Slot:
    """As the page adds a slot: its records, and an empty line."""
    slot = hand_slot(Interval(start, end), SLOTS)
    change_slots(place, SlotChange(added=(slot,)))
    track = track_of(place)
    save_track(track.with_cues((*track.cues, empty_line(slot, "en"))), place, track.film.name)
    return slot


def remove(place: Path, name: str) -> Slot:
    """As the page removes a slot, with its line."""
    slot = next(slot for slot in slots_of(place) if slot.id == name)
    change_slots(place, SlotChange(removed=(slot,)))
    track = track_of(place)
    save_track(track.with_cues(cue for cue in track.cues if cue.slot_id != name), place, track.film.name)
    return slot


def slots_of(place: Path) -> tuple[Slot, ...]:
    told = read_settings(place)
    with open_film(film_path()) as film:
        return read_prepared(WorkFolder(place), film.info, told.config).slots


def ids(track: Track) -> list[str]:
    return [cue.id for cue in track.cues]


def asked(place: Path, name: str = "stage1") -> dict[str, str]:
    """Records by slot, and their keys."""
    return {row["slot"]: row["key"] for row in rows(place, name)}


def test_a_slot_added_is_described_by_the_next_run_and_the_others_are_not_asked_again(place, given):
    before = asked(place)
    add(place, 9.5, 11.5)
    track = run(place, given=given)
    assert ids(track) == ["s00001000", "s00006000", "s00009500", "s00012000"]
    assert track.cues[2].heard
    assert track.cues[2].provenance is not None
    assert {name: key for name, key in asked(place).items() if name != "s00009500"} == before


def test_a_planned_slot_that_gives_way_is_told(place, given, tmp_path):
    add(place, 9.5, 11.5)
    other = tmp_path / "others.csv"
    other.write_text("start,end\n1,5\n11,14\n", encoding="utf-8")
    config = load_config(None, SETTINGS)
    with open_film(film_path()) as film, WorkFolder(place) as folder:
        done = describe(film, folder, config, RunInputs(slots=other), engines=Engines.of(config), sheet=False)
    assert ids(done.track) == ["s00001000", "s00009500"]
    assert any("s00011000" in text and "is left out" in text for text in done.warnings)
    assert "Kept to what a person did to the slots: 1 slot added." in done.warnings


@pytest.mark.parametrize("amid", [False, True], ids=["in the track", "added while a run was under way"])
def test_the_empty_line_is_described_anew_by_redo_and_is_then_a_persons_choice(place, given, amid):
    slot = add(place, 9.5, 11.5)
    track = track_of(place)
    empty = next(cue for cue in track.cues if cue.id == slot.id)
    assert (empty.status, empty.reason, empty.text) == (CueStatus.SILENT, "added by a person", "")
    if amid:
        save_track(track.with_cues(cue for cue in track.cues if cue.id != slot.id), place, track.film.name)
    done, *_ = again(place, slot.id)
    assert done.results[0].after is not None
    line = next(cue for cue in track_of(place).cues if cue.id == slot.id)
    assert line.heard
    assert line.interval.start == 9.5
    assert next(cue for cue in run(place, given=given).cues if cue.id == slot.id).text == line.text


def test_slots_by_hand_are_told_and_kept_in_a_file_that_people_can_read(place):
    add(place, 9.5, 11.5)
    record = json.loads((place / FILE).read_text(encoding="utf-8"))
    assert record == {"schema_version": 1, "added": [[9.5, 11.5]], "removed": []}
    gone = remove(place, "s00006000")
    assert read_hand_slots(place) == HandSlots((Interval(9.5, 11.5),), (gone,))
    material, _ = track_material(track_of(place), place)
    assert {line.slot for line in material.lines} == {Interval(1, 5), Interval(12, 16)}
    words = [str(film_path()), "--out", str(place), *(word for text in SETTINGS for word in ("--set", text))]
    done = invoke("slots", *words)
    assert done.exit_code == 0
    assert "s00009500, 5 words, added by a person" in done.output
    assert "By hand: 1 added, 1 removed (slots.hand.json)." in done.output
    (place / FILE).write_text(json.dumps({**record, "schema_version": 2}), encoding="utf-8")
    with pytest.raises(WorkFolderError, match=r"slots\.hand\.json is damaged: .* newer shotad"):
        read_hand_slots(place)


@pytest.mark.parametrize("overwritten", [False, True])
def test_slots_that_come_in_a_run_are_in_its_track(place: Path, given: RunInputs, overwritten: bool) -> None:
    """Also where the run writes its plan after that (``overwritten``)."""
    plan = (place / "slots.json").read_bytes()
    first, *_ = ids(track_of(place))
    did: list[Slot] = []

    def answer(request: Request) -> str:
        if not did:
            did.extend((add(place, 17.0, 19.0), remove(place, first)))
            if overwritten:
                (place / "slots.json").write_bytes(plan)
        return fresh(request)

    run(place, "seed=7", given=given, writes=FakeEngine(answer=answer))
    new, gone = did
    lines = {cue.id: cue for cue in track_of(place).cues}
    assert gone.id not in lines
    assert (lines[new.id].status, lines[new.id].text) == (CueStatus.SILENT, "")
    there = {slot.id for slot in slots_of(place)}
    assert {new.id} == there - {cue.slot_id for cue in lines.values() if cue.heard}
    assert gone.id not in there
    assert [slot.id for slot in read_hand_slots(place).removed] == [gone.id]
    run(place, "seed=8", given=given)
    lines = {cue.id: cue for cue in track_of(place).cues}
    assert lines[new.id].heard
    assert gone.id not in lines


def test_a_persons_slot_that_goes_while_a_run_is_under_way_takes_its_line(
    place: Path, given: RunInputs
) -> None:
    own = add(place, 17.0, 19.0)
    removed = remove(place, ids(track_of(place))[0])
    run(place, "seed=6", given=given)
    did: list[Slot] = []

    def answer(request: Request) -> str:
        if not did:
            did.append(remove(place, own.id))
            change_slots(place, SlotChange((removed,)))
        return fresh(request)

    run(place, "seed=7", given=given, writes=FakeEngine(answer=answer))
    lines = {cue.id: cue for cue in track_of(place).cues}
    assert own.id not in lines
    assert lines[removed.id].status is CueStatus.SILENT
    assert read_hand_slots(place) == HandSlots()
    assert own.id not in {slot.id for slot in slots_of(place)}
    assert removed.id in {slot.id for slot in slots_of(place)}
