"""The history: every row counts, and none that is damaged hurts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Interval
from shotad.review.history import History, LineStep, Step
from shotad.script import Cue, FilmId, Track

CAT = Cue("s00001000", "s00001000", Interval(1, 2), "A cat.", candidates=("A cat.", "A dog."), chosen=0)
DOG = replace(CAT, text="A dog.", chosen=1)


def step(before: Cue | None, after: Cue | None, said: str = "Done.", group: str = "") -> Step:
    return Step(said, (LineStep.of(CAT.id, before, after),), None, group)


def track_of(cue: Cue) -> Track:
    return Track(FilmId("a.mp4", "f", 20.0), "en", (), "0.1", ()).with_cues([cue])


def test_typing_is_joined_only_where_it_follows(tmp_path: Path) -> None:
    history = History(tmp_path)
    texts = [replace(CAT, text=text, chosen=None) for text in ("A", "A b", "A bi")]
    history.add(step(CAT, texts[0], "One.", "g"))
    history.add(step(texts[0], texts[1], "Two.", "g"))
    whole = history.last("undo")
    assert whole is not None
    assert whole.lines[0].backwards().applied(texts[1], "en") == CAT
    history.add(step(texts[2], CAT, "Three.", "g"))  # another hand was between
    history.add("undo")
    assert history.next_steps["undo"] == "Two."
    history.add("undo")
    assert History(tmp_path).next_steps["undo"] is None


def test_a_half_row_is_passed_over(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.add(step(CAT, DOG, "One."))
    history.add(step(DOG, CAT, "Two."))
    data = history.path.read_bytes()
    history.path.write_bytes(data[:-20])
    cut = History(tmp_path)
    assert cut.next_steps["undo"] == "One."
    cut.add(step(DOG, CAT, "Three."))
    cut.add("undo")
    for one in (cut, History(tmp_path)):
        assert (one.next_steps["undo"], one.next_steps["redo"]) == ("One.", "Three.")


def test_rows_that_are_no_rows(tmp_path: Path) -> None:
    (tmp_path / "review.jsonl").write_bytes(b'\xff\n[]\n{"step": "undo"}\n{"step": "done"}\n\n')
    history = History(tmp_path)
    assert history.next_steps["undo"] is None
    history.add(step(CAT, DOG, "One."))
    assert History(tmp_path).next_steps["undo"] == "One."


@pytest.mark.parametrize("begun", ["done", "undo", "redo"])
def test_what_was_begun_counts_where_the_track_holds_it(begun: str, tmp_path: Path) -> None:
    history, changed = History(tmp_path), replace(CAT, text="A dog.", chosen=None)
    if begun != "done":
        history.add(step(CAT, changed, "One."))
    if begun == "redo":
        history.add("undo")
    history.begin(step(CAT, changed, "One.") if begun == "done" else begun, ("tab", 7))  # type: ignore[arg-type]
    before, after = (changed, CAT) if begun == "undo" else (CAT, changed)
    killed = (tmp_path / "review.begun.json").read_bytes()
    for cue, held in ((before, False), (after, True)):
        (tmp_path / "review.begun.json").write_bytes(killed)
        again = History(tmp_path)
        again.settle(track_of(cue), ())
        assert again.knows(("tab", 7)) is held
        assert (again.next_steps["undo"] == "One.") is ((begun == "undo") is not held)
        assert not again.is_open
    # The row was added and the note of it left, or half of the row.
    (tmp_path / "review.begun.json").write_bytes(killed)
    History(tmp_path).settle(track_of(after), ())
    (tmp_path / "review.begun.json").write_bytes(killed)
    whole = again.path.read_bytes()
    again.path.write_bytes(whole[:-9])
    History(tmp_path).settle(track_of(after), ())
    assert again.path.read_bytes().endswith(whole.splitlines(keepends=True)[-1])
    assert History(tmp_path).next_steps["undo"] == (None if begun == "undo" else "One.")


@pytest.mark.parametrize("spoilt", [b"", b"[]", b'{"at": 0, "row": {"step": "done"}}', b'{"at": 0}', b"\xff"])
def test_a_spoilt_note_of_what_was_begun_is_passed_over(spoilt: bytes, tmp_path: Path) -> None:
    (tmp_path / "review.begun.json").write_bytes(spoilt)
    history = History(tmp_path)
    history.settle(track_of(CAT), ())
    assert (history.next_steps["undo"], history.is_open) == (None, False)


def test_a_history_that_was_taken_away_begins_anew(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.add(step(CAT, DOG, "One."))
    history.path.unlink()
    history.sync()
    assert history.next_steps["undo"] is None
    history.add(step(CAT, DOG, "Two."))
    assert History(tmp_path).next_steps["undo"] == "Two."
