"""Accepted lines: kept by every run, told in every export, and given back byte for byte by undo."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval, ReviewError
from shotad.review.session import Session
from shotad.script import (
    FORMATS,
    REDO,
    TRACK,
    Cue,
    CueStatus,
    Edit,
    EditField,
    FilmId,
    LineState,
    Track,
    accept,
    derive,
    is_by_hand,
    load_track,
    redone,
    respeak,
    script_format,
)
from shotad.script.edits import import_script
from shotad.script.formats import read_script
from tests.rendering.described import write_folder
from tests.review.sessions import session_of

FILM = FilmId("a.mp4", "f", 20.0)


def line(start: float, text: str, **more: Any) -> Cue:
    name = f"s{round(start * 1000):08d}"
    return Cue(name, name, Interval(start, start + 2), text, candidates=(text, "Or this."), chosen=0, **more)


def track(*cues: Cue, **more: Any) -> Track:
    return Track(FILM, "en", (), "0.1", (), **more).with_cues(cues)


CAT, RAIN = line(1.0, "A cat sleeps."), line(9.0, "Rain falls.")
ANN = accept(CAT, "Ann", "review page")


def test_an_accepted_line_outlives_a_run_and_keeps_its_end_but_not_being_described_anew() -> None:
    other = replace(CAT, text="A dog.", candidates=("A dog.",))
    kept = derive(track(ANN, RAIN), track(other, RAIN)).track.cues[0]
    assert (kept.text, kept.state) == ("A cat sleeps.", LineState.ACCEPTED)
    assert kept.machine is not None
    assert kept.machine.text == "A dog."
    assert "A dog." in kept.candidates
    new = redone(track(ANN, RAIN), [other]).track.cues[0]
    assert new.state is LineState.EDITED
    assert not is_by_hand(new)
    assert is_by_hand(accept(new, "Ann", "review page"))
    assert accept(new, "Ann", "x").edited == Edit((EditField.TEXT, EditField.ACCEPTED), REDO, new.machine)
    own = replace(CAT, text="One two three four five six.", edited=Edit((EditField.TEXT,), "x", None))
    slots = {CAT.id: Interval(1.0, 5.0)}
    assert respeak(track(own), slots, 0.375).cues[0].interval.end == 1 + 6 * 0.375
    assert respeak(track(accept(own, "", "x")), slots, 0.375).cues[0].interval.end == 3.0


@pytest.mark.parametrize(("cues", "reviewed", "says"), [
    ((CAT, RAIN), (), "Not reviewed by a person."),
    ((ANN, RAIN), (), "1 of 2 lines accepted by Ann."),
    ((ANN, accept(RAIN, "Bob", "x")), (), "Reviewed line by line by Ann, Bob."),
    ((ANN, RAIN), ("Cy",), "1 of 2 lines accepted by Ann. Reviewed by Cy."),
    ((ANN, replace(RAIN, status=CueStatus.DROPPED)), (), "Reviewed line by line by Ann."),
])  # fmt: skip
def test_the_statement_says_who_read_what(cues, reviewed, says):
    statement = track(*cues, reviewed_by=reviewed).statement
    assert statement.endswith(f"). {says}")
    assert "edited" not in statement


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_script_of_accepted_lines_comes_back_as_it_is(name: str, tmp_path: Path) -> None:
    own = track(ANN, accept(RAIN, "=Eve", "review page"))
    form = script_format(name)
    path = tmp_path / f"a.{form.ending}"
    path.write_bytes(form.encode(own))
    done = import_script(own, read_script(path, name), path.name)
    assert (done.track, done.changed) == (own, ())


TIMES = st.floats(0, 25, allow_nan=False)
ARGS = st.fixed_dictionaries(
    {
        "number": st.integers(0, 3), "at": st.integers(-2, 60), "by": st.floats(-9, 9, allow_nan=False),
        "text": st.sampled_from(["", "Smoke.", "One two three four five six seven eight.", "A cat sleeps.", "Ä\n=b"]),
        "start": TIMES, "end": TIMES,
    }
)  # fmt: skip
NAMES = st.sampled_from(
    ["choose", "write", "accept", "unaccept", "drop", "restore", "split", "join", "move", "shift", "add",
     "remove", "machine", "undo", "redo"]
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("acts") / "w")


def done(session: Session, name: str, number: int, args: dict[str, Any]) -> None:
    cues = session.track.cues
    try:
        if name in ("undo", "redo"):
            getattr(session, name)()
        else:
            group = "g" if name == "write" else ""
            session.act(name, cues[number % len(cues)].id if name != "add" else "", args, group=group)
    except ReviewError:
        return


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(NAMES, st.integers(0, 9), ARGS), max_size=14))
def test_any_acts_undone_give_back_the_very_track(folder: Path, acts: list[Any]) -> None:
    (folder / "review.jsonl").unlink(missing_ok=True)
    session = session_of(folder)
    first = (folder / TRACK).read_bytes()
    for name, number, args in acts:
        done(session, name, number, args)
        assert load_track(folder / TRACK) == session.track
        spans = sorted((cue.interval.start, cue.interval.end) for cue in session.track.heard)
        assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))
    last = (folder / TRACK).read_bytes()
    steps = 0
    while session.next_steps["undo"]:
        session.undo()
        steps += 1
    assert (folder / TRACK).read_bytes() == first
    for _ in range(steps):
        session.redo()
    assert (folder / TRACK).read_bytes() == last
    while session.next_steps["undo"]:
        session.undo()
    session.close()
