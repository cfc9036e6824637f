"""A session: each act is on the disk, others' work is taken in, nothing is lost or overwritten; its history counts
every row."""

from __future__ import annotations

import errno
import hashlib
import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Interval, OutOfDate, ReviewError, WorkFolderError, read_settings
from shotad.review.history import History, LineStep, Step, stamp_of
from shotad.review.session import Session
from shotad.script import TRACK, WRITTEN, Cue, FilmId, Track, edited_scripts, import_into, load_track, to_json
from tests.review.boardfilm import Tabs
from tests.review.sessions import session_of

CAT, DOOR, RAIN = "s00001000", "s00009000", "s00014000"


def on_disk(place: Path) -> Track:
    return load_track(place / TRACK)


def text_of(track: Track, name: str) -> str:
    return next(cue.text for cue in track.cues if cue.id == name)


def rewrite(place: Path, name: str, text: str) -> None:
    """A person with an editor."""
    path = place / TRACK
    raw = json.loads(path.read_text(encoding="utf-8"))
    next(cue for cue in raw["cues"] if cue["id"] == name)["text"] = text
    path.write_text(json.dumps(raw), encoding="utf-8")


def test_undo_and_redo_over_a_restart(place: Path, session: Session) -> None:
    first = (place / TRACK).read_bytes()
    session.act("write", CAT, {"text": "A cat wakes."})
    session.act("split", DOOR, {"at": 10})
    session.act("accept", RAIN, {})
    last = (place / TRACK).read_bytes()
    session.close()
    again = session_of(place)
    while again.next_steps["undo"]:
        again.undo()
    assert (place / TRACK).read_bytes() == first
    again.close()
    third = session_of(place)
    assert third.next_steps["undo"] is None
    while third.next_steps["redo"]:
        third.redo()
    assert (place / TRACK).read_bytes() == last
    with pytest.raises(ReviewError, match="Nothing was undone"):
        third.redo()
    third.close()


def test_an_edit_in_the_file_under_the_persons_hands_is_a_conflict(place: Path, session: Session) -> None:
    seen = stamp_of(session.cue(RAIN))
    rewrite(place, RAIN, "Rain stops.")
    with pytest.raises(OutOfDate):
        session.act("write", RAIN, {"text": "Hail."}, seen=seen)
    assert session.cue(RAIN).text == "Rain stops."
    told = session.refresh()
    assert told is not None
    assert [cue.id for cue in told.change.cues] == [RAIN]
    assert session.refresh() is None


def test_undo_passes_over_what_others_changed(place: Path, session: Session) -> None:
    session.act("write", CAT, {"text": "A cat wakes."})
    session.act("write", RAIN, {"text": "Hail."})
    rewrite(place, RAIN, "Snow.")
    with pytest.raises(OutOfDate, match=RAIN):
        session.undo()
    session.undo()
    assert (session.cue(CAT).text, session.cue(RAIN).text) == ("A cat sleeps by the window.", "Snow.")


def test_a_script_that_contradicts_the_track_blocks_no_other(place: Path) -> None:
    hub, run = Tabs(), read_settings(place)
    first = session_of(place)
    first.act("write", RAIN, {"text": "Rain stops."})
    rewritten, kept = next(place.glob("*.dapt.xml")), next(place.glob("*.csv"))
    theirs = rewritten.read_text(encoding="utf-8").replace("Rain falls", "Hail falls")
    first.close()
    rewritten.write_text(theirs, encoding="utf-8")
    kept.write_text(
        kept.read_text(encoding="utf-8").replace("A cat sleeps", "A dog sleeps"), encoding="utf-8"
    )
    session = Session(place, first.film, run, hub=hub)
    assert text_of(session.track, CAT) == "A dog sleeps by the window."
    assert text_of(session.track, RAIN) == "Rain stops."
    session.close()
    assert ["Hail" in data["what"] for kind, data in hub.told if kind == "trouble"] == [True]
    assert rewritten.read_text(encoding="utf-8") == theirs
    assert "A dog sleeps" in next(place.glob("*.vtt")).read_text(encoding="utf-8")
    rewritten.unlink()
    session_of(place).close()
    assert "Rain stops." in rewritten.read_text(encoding="utf-8")


def test_what_a_killed_page_left_undone_is_written_by_the_next(place: Path) -> None:
    session = session_of(place)
    scripts = {path: path.read_bytes() for path in place.glob("*.ad.*")}
    session.act("write", CAT, {"text": "A cat wakes."})
    session.close()
    for path, data in scripts.items():
        path.write_bytes(data)
    hashes = {path.name: hashlib.sha256(data).hexdigest() for path, data in scripts.items()}
    (place / WRITTEN).write_text(json.dumps({"scripts": hashes}))
    session_of(place).close()
    assert all(b"A cat wakes." in path.read_bytes() for path in scripts)


def test_a_broken_file_is_told_and_left_until_it_is_mended(place: Path) -> None:
    hub, path = Tabs(), place / TRACK
    session = Session(place, session_of(place).film, read_settings(place), hub=hub)
    good = path.read_text(encoding="utf-8")
    path.write_text(good.replace('"cues": [', '"cues": [,'), encoding="utf-8")
    broken = path.read_text(encoding="utf-8")
    for attempt in (lambda: session.act("drop", CAT, {}), session.undo, session.refresh):
        with pytest.raises(ReviewError, match=r"line \d+"):
            attempt()
    assert path.read_text(encoding="utf-8") == broken
    path.write_text(good.replace("Rain falls", "Hail falls"), encoding="utf-8")
    session.act("drop", CAT, {})
    assert text_of(on_disk(place), RAIN).startswith("Hail falls")
    session.close()
    assert [bool(data["what"]) for kind, data in hub.told if kind == "trouble"][-2:] == [True, False]


def test_another_films_track_is_refused(place: Path, session: Session) -> None:
    track = on_disk(place)
    other = to_json(replace(track, film=replace(track.film, fingerprint="other")))
    (place / TRACK).write_text(other, encoding="utf-8")
    for _ in range(2):
        with pytest.raises(ReviewError, match="another film"):
            session.act("drop", CAT, {})
    assert (place / TRACK).read_text(encoding="utf-8") == other
    with pytest.raises(WorkFolderError, match="another film"):
        session_of(place)


def test_an_import_and_a_person_at_once_lose_nothing(place: Path, session: Session, tmp_path: Path) -> None:
    script = tmp_path / "mine.csv"
    session.close()
    old = next(place.glob("*.csv")).read_text(encoding="utf-8")

    def importing() -> None:
        for number in range(5):
            script.write_text(old.replace("Rain falls", f"Rain {number} falls"), encoding="utf-8")
            import_into(place, script, None)

    writer = threading.Thread(target=importing)
    writer.start()
    for number in range(25):
        session.act("write", CAT, {"text": f"A cat wakes {number} times."}, group="g")
    writer.join()
    session.refresh()
    assert text_of(on_disk(place), CAT) == "A cat wakes 24 times."
    assert text_of(on_disk(place), RAIN) == "Rain 4 falls on the empty street."


def test_slots_come_and_go_with_undo(place: Path, session: Session) -> None:
    session.act("remove_slot", RAIN, {})
    assert RAIN not in {cue.id for cue in session.track.cues}
    done = session.act("add_slot", "", {"start": 17.5, "end": 19.5})
    name = done.change.focus
    assert name in {slot.id for slot in session.prepared.slots}
    session.undo()
    assert name not in {slot.id for slot in session.prepared.slots}
    assert name not in {cue.id for cue in session.track.cues}
    session.redo()
    assert name in {cue.id for cue in session.track.cues}
    session.undo()
    session.undo()
    assert session.cue(RAIN).text == "Rain falls on the empty street."
    assert RAIN in {slot.id for slot in session.prepared.slots}


def test_a_folder_that_was_renamed_is_told_and_not_made_anew(place: Path) -> None:
    session = session_of(place)
    session.act("write", CAT, {"text": "A cat wakes."})
    moved = place.rename(place.with_name("moved"))
    with pytest.raises(WorkFolderError, match="not there any more"):
        session.act("write", CAT, {"text": "A cat sits."})
    assert session.cue(CAT).text == "A cat wakes."
    session.close()
    assert not place.exists()
    moved.rename(place)
    assert text_of(on_disk(place), CAT) == "A cat wakes."


def test_a_full_disk_refuses_the_act_and_nothing_is_changed(place, session, monkeypatch):
    before = (place / TRACK).read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        for act in (("write", CAT, {"text": "A cat wakes."}), ("add_slot", "", {"start": 19.0, "end": 20.0})):
            with pytest.raises(WorkFolderError, match="No space left") as told:
                session.act(*act)
            assert "disk is full" in told.value.hint
    assert (place / TRACK).read_bytes() == before
    assert session.track == on_disk(place)
    assert session.next_steps["undo"] is None
    assert not list(place.glob(".tmp-*"))
    assert not (place / "slots.hand.json").exists()
    session.act("write", CAT, {"text": "A cat wakes."})
    assert text_of(on_disk(place), CAT) == "A cat wakes."


def test_scripts_that_contradict_are_told_and_left(place: Path) -> None:
    hub, run = Tabs(), read_settings(place)
    first = session_of(place)
    first.close()
    session = Session(place, first.film, run, hub=hub)
    texts = {}
    for ending, word in (("vtt", "Hail"), ("csv", "Snow")):
        script = next(place.glob(f"*.{ending}"))
        texts[script] = script.read_text(encoding="utf-8").replace("Rain falls", f"{word} falls")
        script.write_text(texts[script], encoding="utf-8")
    session.act("write", CAT, {"text": "A cat wakes."})
    session.act("accept", CAT, {})
    session.close()
    assert [kind for kind, _ in hub.told] == ["trouble"]
    assert "Hail" in hub.told[0][1]["what"]
    assert all(script.read_text(encoding="utf-8") == text for script, text in texts.items())
    assert text_of(on_disk(place), CAT) == "A cat wakes."
    for ending in ("srt", "xml"):
        assert "A cat wakes." in next(place.glob(f"*.{ending}")).read_text(encoding="utf-8")
    assert {path for _, path in edited_scripts(place, first.film.name)} == texts.keys()


SLEEPS = Cue("s00001000", "s00001000", Interval(1, 2), "A cat.", candidates=("A cat.", "A dog."), chosen=0)
BARKS = replace(SLEEPS, text="A dog.", chosen=1)


def step_of(before: Cue | None, after: Cue | None, said: str = "Done.", group: str = "") -> Step:
    return Step(said, (LineStep.of(SLEEPS.id, before, after),), None, group)


def track_of(cue: Cue) -> Track:
    return Track(FilmId("a.mp4", "f", 20.0), "en", (), "0.1", ()).with_cues([cue])


def test_typing_is_joined_only_where_it_follows(tmp_path: Path) -> None:
    history = History(tmp_path)
    texts = [replace(SLEEPS, text=text, chosen=None) for text in ("A", "A b", "A bi")]
    history.add(step_of(SLEEPS, texts[0], "One.", "g"))
    history.add(step_of(texts[0], texts[1], "Two.", "g"))
    whole = history.last("undo")
    assert whole is not None
    assert whole.lines[0].backwards().applied(texts[1], "en") == SLEEPS
    history.add(step_of(texts[2], SLEEPS, "Three.", "g"))  # another hand was between
    history.add("undo")
    assert history.next_steps["undo"] == "Two."
    history.add("undo")
    assert History(tmp_path).next_steps["undo"] is None


def test_a_half_row_is_passed_over(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.add(step_of(SLEEPS, BARKS, "One."))
    history.add(step_of(BARKS, SLEEPS, "Two."))
    data = history.path.read_bytes()
    history.path.write_bytes(data[:-20])
    cut = History(tmp_path)
    assert cut.next_steps["undo"] == "One."
    cut.add(step_of(BARKS, SLEEPS, "Three."))
    cut.add("undo")
    for one in (cut, History(tmp_path)):
        assert (one.next_steps["undo"], one.next_steps["redo"]) == ("One.", "Three.")


@pytest.mark.parametrize("begun", ["done", "undo", "redo"])
def test_what_was_begun_counts_where_the_track_holds_it(begun: str, tmp_path: Path) -> None:
    history, changed = History(tmp_path), replace(SLEEPS, text="A dog.", chosen=None)
    if begun != "done":
        history.add(step_of(SLEEPS, changed, "One."))
    if begun == "redo":
        history.add("undo")
    history.begin(step_of(SLEEPS, changed, "One.") if begun == "done" else begun, ("tab", 7))  # type: ignore[arg-type]
    before, after = (changed, SLEEPS) if begun == "undo" else (SLEEPS, changed)
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
    history.settle(track_of(SLEEPS), ())
    assert (history.next_steps["undo"], history.is_open) == (None, False)


def test_a_history_of_no_rows_or_that_was_taken_away_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "review.jsonl").write_bytes(b'\xff\n[]\n{"step": "undo"}\n{"step": "done"}\n\n')
    history = History(tmp_path)
    assert history.next_steps["undo"] is None
    history.add(step_of(SLEEPS, BARKS, "One."))
    assert History(tmp_path).next_steps["undo"] == "One."
    history.path.unlink()
    history.sync()
    assert history.next_steps["undo"] is None
    history.add(step_of(SLEEPS, BARKS, "Two."))
    assert History(tmp_path).next_steps["undo"] == "Two."
