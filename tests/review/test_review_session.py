"""A session: each act is on the disk and done once, others' work is taken in, nothing is lost or overwritten, not even
where programs are killed; its history counts every row; a line that is split and joined is the line that it was."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Interval
from shotad.core.errors import (
    EditConflict,
    OutdatedLine,
    ReviewError,
    WorkFolderError,
)
from shotad.review.history import History, LineStep, Step
from shotad.review.keeping import TrackFile
from shotad.review.session import Session
from shotad.script import (
    Cue,
    Track,
    import_into,
    load_track,
)
from shotad.script.newer import content_stamp
from shotad.script.track import FilmId, to_json
from shotad.script.track_files import SCRIPTS_RECORD, TRACK
from tests.handmade import look
from tests.rendering.described import LINES, change, retrack
from tests.review.reviewed import reviewed
from tests.review.sessions import Tabs, session_of

CAT, DOOR, RAIN = "s00001000", "s00009000", "s00014000"
TAB = "a tab"


def on_disk(place: Path) -> Track:
    return load_track(place / TRACK)


def raw(place: Path) -> bytes:
    return (place / TRACK).read_bytes()


def text_of(track: Track, name: str) -> str:
    return next(cue.text for cue in track.cues if cue.id == name)


def test_undo_and_redo_over_a_restart(place: Path, session: Session) -> None:
    first = raw(place)
    session.act("write", CAT, {"text": "A cat wakes."})
    session.act("split", DOOR, {"at": 10})
    session.act("accept", RAIN, {})
    last = raw(place)
    session.close()
    again = session_of(place)
    while again.next_steps["undo"]:
        again.undo()
    assert raw(place) == first
    again.close()
    third = session_of(place)
    assert third.next_steps["undo"] is None
    while third.next_steps["redo"]:
        third.redo()
    assert raw(place) == last
    with pytest.raises(ReviewError, match="Nothing was undone"):
        third.redo()
    third.close()


def test_what_others_change_in_the_file_is_a_conflict_and_undo_passes_over_it(
    place: Path, session: Session
) -> None:
    seen = content_stamp(session.cue(RAIN))
    change(place / TRACK, LINES[14.0], "Rain stops.")
    with pytest.raises(OutdatedLine):
        session.act("write", RAIN, {"text": "Hail."}, seen_stamp=seen)
    assert session.cue(RAIN).text == "Rain stops."
    told = session.refresh()
    assert told is not None
    assert [cue.id for cue in told.cues] == [RAIN]
    assert session.refresh() is None
    session.act("write", CAT, {"text": "A cat wakes."})
    session.act("write", RAIN, {"text": "Hail."})
    change(place / TRACK, "Hail.", "Snow.")
    with pytest.raises(OutdatedLine, match=RAIN):
        session.undo()
    session.undo()
    assert (session.cue(CAT).text, session.cue(RAIN).text) == (LINES[1.0], "Snow.")


def test_a_script_that_contradicts_the_track_blocks_no_other(place: Path) -> None:
    tabs, first = Tabs(), session_of(place)
    first.act("write", RAIN, {"text": "Rain stops."})
    rewritten, kept = next(place.glob("*.dapt.xml")), next(place.glob("*.csv"))
    theirs = rewritten.read_text(encoding="utf-8").replace("Rain falls", "Hail falls")
    first.close()
    rewritten.write_text(theirs, encoding="utf-8")
    change(kept, "A cat sleeps", "A dog sleeps")
    session = session_of(place, tabs=tabs)
    assert text_of(session.track, CAT) == "A dog sleeps by the window."
    assert text_of(session.track, RAIN) == "Rain stops."
    session.close()
    assert ["Hail" in data["what"] for data in tabs.of("trouble")] == [True]
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
    (place / SCRIPTS_RECORD).write_text(json.dumps({"scripts": hashes}))
    session_of(place).close()
    assert all(b"A cat wakes." in path.read_bytes() for path in scripts)


def test_a_broken_file_is_told_and_left_until_it_is_mended(place: Path) -> None:
    tabs, path = Tabs(), place / TRACK
    session = session_of(place, tabs=tabs)
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
    assert [bool(data["what"]) for data in tabs.of("trouble")][-2:] == [True, False]


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
    before = raw(place)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        for act in (("write", CAT, {"text": "A cat wakes."}), ("add_slot", "", {"start": 19.0, "end": 20.0})):
            with pytest.raises(WorkFolderError, match="No space left") as told:
                session.act(*act)
            assert "disk is full" in told.value.hint
    assert raw(place) == before
    assert session.track == on_disk(place)
    assert session.next_steps["undo"] is None
    assert not list(place.glob(".tmp-*"))
    assert not (place / "slots.hand.json").exists()
    session.act("write", CAT, {"text": "A cat wakes."})
    assert text_of(on_disk(place), CAT) == "A cat wakes."


def again(place: Path, session: Session) -> Session:
    """The session of a server that was started anew."""
    session.close()
    return session_of(place)


@pytest.mark.parametrize("restarted", [False, True])
def test_an_act_that_is_asked_for_again_is_not_done_again(place: Path, restarted: bool) -> None:
    session = session_of(place)
    seen = content_stamp(session.cue(CAT))

    def ask_all() -> set[str]:
        done = [
            session.act("shift", CAT, {"by": 0.5}, seen_stamp=seen, request_id=(TAB, 1)),
            session.act("drop", DOOR, {}, request_id=(TAB, 2)),
            session.act("unaccept", RAIN, {}, request_id=(TAB, 3)),  # changes nothing
            session.act("accept", RAIN, {}, request_id=(TAB, 4)),
            session.undo(request_id=(TAB, 5)),
            session.act("remove_slot", RAIN, {}, request_id=(TAB, 6)),
        ]
        return {one.message for one in done}

    assert len(ask_all()) > 3
    before = raw(place)
    if restarted:
        session = again(place, session)
    assert ask_all() == {""}
    assert raw(place) == before
    session.act("shift", CAT, {"by": 0.5}, request_id=("another tab", 1))
    assert raw(place) != before
    session.close()


@pytest.mark.parametrize("restarted", [False, True])
def test_what_a_tab_did_itself_is_no_news_to_it(place: Path, restarted: bool) -> None:
    """Its later acts were asked for before it knew how the line came out of the earlier ones."""
    session = session_of(place)
    seen = content_stamp(session.cue(CAT))
    session.act("write", CAT, {"text": "A dog"}, seen_stamp=seen, request_id=(TAB, 1), group="typing")
    middle = content_stamp(session.cue(CAT))
    session.act("write", CAT, {"text": "A dog sleeps."}, seen_stamp=seen, request_id=(TAB, 2), group="typing")
    session.act("drop", CAT, {}, seen_stamp=seen, request_id=(TAB, 3))
    session.undo(request_id=(TAB, 4))
    if restarted:
        session = again(place, session)
    with pytest.raises(OutdatedLine):
        session.act("accept", CAT, {}, seen_stamp=seen, request_id=("another tab", 1))
    session.act("accept", CAT, {}, seen_stamp=middle, request_id=(TAB, 5))
    session.act("unaccept", CAT, {}, request_id=("another tab", 2))
    session.act("shift", CAT, {"by": 0.5}, request_id=("another tab", 3))
    with pytest.raises(OutdatedLine):
        session.act("drop", CAT, {}, seen_stamp=seen, request_id=(TAB, 6))
    session.close()


def test_a_batch_is_done_in_order_and_each_act_is_answered(place: Path) -> None:
    with reviewed(place) as (_, page):
        seen = page.line(CAT)["stamp"]
        acts = [
            {"number": 1, "act": "write", "line": CAT, "seen": seen, "args": {"text": "A dog sleeps."}},
            {"number": 2, "act": "split", "line": CAT, "seen": seen, "args": {"at": 5}},
            {"number": 3, "act": "choose", "line": CAT, "seen": seen, "args": {"number": 9}},
            {"number": 4, "act": "drop", "line": DOOR, "seen": "of long ago"},
            {"number": 5, "act": "undo"},
            {"number": 6, "act": "accept", "line": CAT, "seen": seen},
        ]
        body = {"tab": TAB, "acts": [{"tab": TAB, **act} for act in acts]}
        for done in (True, False):
            answers = page.post("/api/acts", body).json["answers"]
            assert ["changed" in one for one in answers] == [True, True, False, False, True, True]
            assert "no candidate 9" in answers[2]["refused"]["what"]
            assert [line["id"] for line in answers[3]["lines"]] == [DOOR]
            assert [bool(one["changed"]["said"]) for one in answers if "changed" in one] == [done] * 4
        assert (page.line(CAT)["text"], page.line(CAT)["state"]) == ("A dog sleeps.", "accepted")
        assert len(page.film()["lines"]) == 3


def test_where_nothing_can_be_written_the_rest_is_not_tried(place, monkeypatch):
    write, free = TrackFile.write, [1]

    def full(self: TrackFile, track: Any) -> None:
        if not free:
            raise WorkFolderError("The disk is full.", "Free some space.")
        free.pop()
        write(self, track)

    with reviewed(place) as (_, page):
        body = {
            "tab": TAB,
            "acts": [{"number": n, "act": "accept", "line": line} for n, line in ((1, CAT), (2, RAIN))],
        }
        with monkeypatch.context() as patched:
            patched.setattr(TrackFile, "write", full)
            answer = page.post("/api/acts", body).json
        assert ["changed" in one for one in answer["answers"]] == [True]
        assert answer["error"] == {"what": "The disk is full.", "hint": "Free some space."}
        assert [line["state"] for line in page.film()["lines"]] == ["accepted", "machine", "machine"]
        assert len(page.post("/api/acts", body).json["answers"]) == 2
        assert page.line(RAIN)["state"] == "accepted"


# Split and join


@pytest.mark.parametrize("before", [(), ("shift", "accept"), ("write",)])
@pytest.mark.parametrize("restarted", [False, True])
def test_split_and_join_give_back_the_line(place: Path, before: tuple[str, ...], restarted: bool) -> None:
    text = "A cat sleeps.\nThe window\u00a0is  open."
    retrack(
        place, lambda cue: replace(cue, text=text, candidates=("A cat sleeps.",)) if cue.id == CAT else cue
    )
    session = session_of(place)
    for name in before:
        session.act(name, CAT, {"by": 0.5, "text": "A cat\nwakes up."})
    was, state = raw(place), session.cue(CAT).state
    split = session.act("split", CAT, {"at": 8})
    assert split.focus == CAT
    first, second = split.cues
    assert {first.slot_id, second.slot_id} == {CAT}
    session.act("accept", DOOR, {})  # what is done to other lines does not matter
    session.undo()
    if restarted:
        session = again(place, session)
    joined = session.act("join", CAT, {})
    assert joined.message == "Joined with the next line."
    assert joined.focus == CAT
    assert raw(place) == was
    assert session.cue(CAT).state is state
    session.undo()
    assert session.cue(second.id) == second
    session.undo()
    assert raw(place) == was
    session.redo()
    session.redo()
    assert raw(place) == was
    session.close()


def test_a_half_that_was_changed_is_joined_as_it_is(place: Path, session: Session) -> None:
    (_, second) = session.act("split", CAT, {"at": 13}).cues
    session.act("write", second.id, {"text": "under the roof."})
    session.act("join", CAT, {})
    joined = session.cue(CAT)
    assert joined.text == "A cat sleeps under the roof."
    assert (joined.interval.start, joined.slot_id, joined.candidates) == (1.0, CAT, ())
    assert second.id not in {cue.id for cue in session.track.cues}


def test_both_halves_show_what_the_model_saw_and_said_of_their_slot(place: Path) -> None:
    record = look(CAT, raw="A cat.", steps={"Who": "A cat."})
    (place / "stage1.jsonl").write_text(json.dumps(record) + "\n")
    with reviewed(place) as (_, page):
        shown = page.get(f"/api/lines/{CAT}").json
        assert shown["stage1"]["text"] == "1. Who: A cat."
        split = page.act("split", CAT, {"at": 8}).json
        second = next(line["id"] for line in split["lines"] if line["id"].startswith("h"))
        for name in (CAT, second):
            half = page.get(f"/api/lines/{name}").json
            assert (half["stage1"], half["frames"]) == (shown["stage1"], shown["frames"])
            assert page.line(name)["slot"] == CAT


# The history


SLEEPS = Cue("s00001000", "s00001000", Interval(1, 2), "A cat.", candidates=("A cat.", "A dog."), chosen=0)
BARKS = replace(SLEEPS, text="A dog.", chosen=1)


def step_of(before: Cue | None, after: Cue | None, said: str = "Done.", group: str = "") -> Step:
    return Step(said, (LineStep.of(SLEEPS.id, before, after),), None, group)


def track_with(cue: Cue) -> Track:
    return Track(FilmId("a.mp4", "f", 20.0), "en", (), "0.1", ()).with_cues([cue])


def test_typing_is_joined_only_where_it_follows(tmp_path: Path) -> None:
    history = History(tmp_path)
    texts = [replace(SLEEPS, text=text, chosen=None) for text in ("A", "A b", "A bi")]
    history.add(step_of(SLEEPS, texts[0], "One.", "g"))
    history.add(step_of(texts[0], texts[1], "Two.", "g"))
    whole = history.last("undo")
    assert whole is not None
    assert whole.lines[0].inverse().applied(texts[1], "en") == SLEEPS
    history.add(step_of(texts[2], SLEEPS, "Three.", "g"))  # another hand was between
    history.add("undo")
    assert history.next_steps["undo"] == "Two."
    history.add("undo")
    assert History(tmp_path).next_steps["undo"] is None


def test_a_step_is_on_the_disk_before_the_note_that_it_was_begun_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    sync, unlink = os.fsync, Path.unlink

    def noted_sync(number: int) -> None:
        happened.append(f"synced {Path(os.readlink(f'/proc/self/fd/{number}')).name}")
        sync(number)

    def noted_unlink(path: Path, missing_ok: bool = False) -> None:
        happened.append(f"removed {path.name}")
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(Path, "unlink", noted_unlink)
    step = step_of(SLEEPS, replace(SLEEPS, text="A dog.", chosen=None))
    history = History(tmp_path)
    history.begin(step)
    history.add(step)
    assert happened.index("synced review.jsonl") < happened.index("removed review.begun.json")


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
        again.finish_begun(track_with(cue), ())
        assert again.knows(("tab", 7)) is held
        assert (again.next_steps["undo"] == "One.") is ((begun == "undo") is not held)
        assert not again.is_open
    # The row was added and the note of it left, or half of the row.
    (tmp_path / "review.begun.json").write_bytes(killed)
    History(tmp_path).finish_begun(track_with(after), ())
    (tmp_path / "review.begun.json").write_bytes(killed)
    whole = again.path.read_bytes()
    again.path.write_bytes(whole[:-9])
    History(tmp_path).finish_begun(track_with(after), ())
    assert again.path.read_bytes().endswith(whole.splitlines(keepends=True)[-1])
    assert History(tmp_path).next_steps["undo"] == (None if begun == "undo" else "One.")


def test_a_spoilt_note_and_rows_are_passed_over_and_a_history_that_was_taken_away_begins_anew(
    tmp_path: Path,
) -> None:
    for spoilt in (b"", b"[]", b'{"at": 0, "row": {"step": "done"}}', b'{"at": 0}', b"\xff"):
        (tmp_path / "review.begun.json").write_bytes(spoilt)
        history = History(tmp_path)
        history.finish_begun(track_with(SLEEPS), ())
        assert (history.next_steps["undo"], history.is_open) == (None, False)
    (tmp_path / "review.jsonl").write_bytes(b'\xff\n[]\n{"step": "undo"}\n{"step": "done"}\n\n{"step"')
    history = History(tmp_path)
    assert history.next_steps["undo"] is None
    history.add(step_of(SLEEPS, BARKS, "One."))
    assert History(tmp_path).next_steps["undo"] == "One."
    history.path.unlink()
    history.sync()
    assert history.next_steps["undo"] is None
    history.add(step_of(SLEEPS, BARKS, "Two."))
    assert History(tmp_path).next_steps["undo"] == "Two."


def test_a_track_older_than_what_the_page_wrote_is_not_opened(place: Path) -> None:
    older = (place / TRACK).read_bytes()
    session = session_of(place)
    session.act("write", CAT, {"text": "A cat wakes."})
    session.close()
    (place / TRACK).write_bytes(older)
    with pytest.raises(EditConflict, match=r"newer than .*track\.json: .*'A cat wakes\.'"):
        session_of(place)
    (script,) = place.glob("*.ad.vtt")
    assert "A cat wakes." in script.read_text()
    import_into(place, script, None)
    assert text_of(session_of(place).track, CAT) == "A cat wakes."


def test_slots_that_the_page_added_and_that_are_lost_are_missed(place: Path) -> None:
    session = session_of(place)
    session.act("add_slot", "", {"start": 19.0, "end": 20.0})
    session.close()
    session_of(place).close()
    (place / "slots.hand.json").unlink()
    with pytest.raises(EditConflict, match=r"slots\.hand\.json is not there.*0:19\.00"):
        session_of(place)
