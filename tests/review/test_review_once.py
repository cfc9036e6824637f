"""Acts that a page sends again are done once; a line that is split and joined is the line that it was."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import OutOfDate, WorkFolderError
from shotad.review.history import stamp_of
from shotad.review.keeping import TrackFile
from shotad.review.session import Session
from shotad.script import TRACK, Cue, load_track, save_track
from tests.review.reviewed import reviewed
from tests.review.sessions import session_of

CAT, DOOR, RAIN = "s00001000", "s00009000", "s00014000"
TAB = "a tab"


def on_disk(place: Path) -> bytes:
    return (place / TRACK).read_bytes()


def again(place: Path, session: Session) -> Session:
    """The session of a server that was started anew."""
    session.close()
    return session_of(place)


@pytest.mark.parametrize("restarted", [False, True])
def test_an_act_that_is_asked_for_again_is_not_done_again(place: Path, restarted: bool) -> None:
    session = session_of(place)
    shift: dict[str, Any] = {"seen": stamp_of(session.cue(CAT)), "asked": (TAB, 1)}
    session.act("shift", CAT, {"by": 0.5}, **shift)
    session.act("drop", DOOR, {}, asked=(TAB, 2))
    session.act("unaccept", RAIN, {}, asked=(TAB, 3))  # changes nothing
    session.act("accept", RAIN, {}, asked=(TAB, 4))
    session.undo(asked=(TAB, 5))
    session.act("remove_slot", RAIN, {}, asked=(TAB, 6))
    before = on_disk(place)
    if restarted:
        session = again(place, session)
    said = [
        session.act("shift", CAT, {"by": 0.5}, **shift),
        session.act("drop", DOOR, {}, asked=(TAB, 2)),
        session.act("unaccept", RAIN, {}, asked=(TAB, 3)),
        session.act("accept", RAIN, {}, asked=(TAB, 4)),
        session.undo(asked=(TAB, 5)),
        session.act("remove_slot", RAIN, {}, asked=(TAB, 6)),
    ]
    assert on_disk(place) == before
    assert {one.change.said for one in said} == {""}
    session.act("shift", CAT, {"by": 0.5}, asked=("another tab", 1))
    assert on_disk(place) != before
    session.close()


@pytest.mark.parametrize("restarted", [False, True])
def test_what_a_tab_did_itself_is_no_news_to_it(place: Path, restarted: bool) -> None:
    """Its later acts were asked for before it knew how the line came out of the earlier ones."""
    session = session_of(place)
    seen = stamp_of(session.cue(CAT))
    session.act("write", CAT, {"text": "A dog"}, seen=seen, asked=(TAB, 1), group="typing")
    middle = stamp_of(session.cue(CAT))
    session.act("write", CAT, {"text": "A dog sleeps."}, seen=seen, asked=(TAB, 2), group="typing")
    session.act("drop", CAT, {}, seen=seen, asked=(TAB, 3))
    session.undo(asked=(TAB, 4))
    if restarted:
        session = again(place, session)
    with pytest.raises(OutOfDate):
        session.act("accept", CAT, {}, seen=seen, asked=("another tab", 1))
    session.act("accept", CAT, {}, seen=middle, asked=(TAB, 5))
    session.act("unaccept", CAT, {}, asked=("another tab", 2))
    session.act("shift", CAT, {"by": 0.5}, asked=("another tab", 3))
    with pytest.raises(OutOfDate):
        session.act("drop", CAT, {}, seen=seen, asked=(TAB, 6))
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


def arranged(place: Path, change: Any) -> None:
    """Gives the first line of a folder's track another form."""
    track = load_track(place / TRACK)
    first = change(track.cues[0])
    save_track(track.with_cues([first, *track.cues[1:]]), place, track.film.name)


def two_lines(cue: Cue) -> Cue:
    return replace(cue, text="A cat sleeps.\nThe window\u00a0is  open.", candidates=("A cat sleeps.",))


@pytest.mark.parametrize("before", [(), ("accept",), ("shift",), ("shift", "accept"), ("write",)])
@pytest.mark.parametrize("restarted", [False, True])
def test_split_and_join_give_back_the_line(place: Path, before: tuple[str, ...], restarted: bool) -> None:
    arranged(place, two_lines)
    session = session_of(place)
    for name in before:
        session.act(name, CAT, {"by": 0.5, "text": "A cat\nwakes up."})
    was, state = on_disk(place), session.cue(CAT).state
    split = session.act("split", CAT, {"at": 8})
    assert split.change.focus == CAT
    first, second = split.change.cues
    assert {first.slot_id, second.slot_id} == {CAT}
    session.act("accept", DOOR, {})  # what is done to other lines does not matter
    session.undo()
    if restarted:
        session = again(place, session)
    joined = session.act("join", CAT, {})
    assert joined.change.said == "Joined with the next line."
    assert joined.change.focus == CAT
    assert on_disk(place) == was
    assert session.cue(CAT).state is state
    session.undo()
    assert session.cue(second.id) == second
    session.undo()
    assert on_disk(place) == was
    session.redo()
    session.redo()
    assert on_disk(place) == was
    session.close()


def test_a_half_that_was_changed_is_joined_as_it_is(place: Path, session: Session) -> None:
    (_, second) = session.act("split", CAT, {"at": 13}).change.cues
    session.act("write", second.id, {"text": "under the roof."})
    session.act("join", CAT, {})
    joined = session.cue(CAT)
    assert joined.text == "A cat sleeps under the roof."
    assert (joined.interval.start, joined.slot_id, joined.candidates) == (1.0, CAT, ())
    assert second.id not in {cue.id for cue in session.track.cues}


def test_both_halves_show_what_the_model_saw_and_said_of_their_slot(place: Path) -> None:
    record = {"key": "k", "slot": CAT, "raw": "A cat.", "steps": {"Who": "A cat."}, "engine": "fake"}
    (place / "stage1.jsonl").write_text(json.dumps({**record, "frames": [1.5, 2.5]}) + "\n")
    with reviewed(place) as (_, page):
        shown = page.get(f"/api/lines/{CAT}").json
        assert shown["stage1"]["text"] == "1. Who: A cat."
        split = page.act("split", CAT, {"at": 8}).json
        second = next(line["id"] for line in split["lines"] if line["id"].startswith("h"))
        for name in (CAT, second):
            half = page.get(f"/api/lines/{name}").json
            assert (half["stage1"], half["frames"]) == (shown["stage1"], shown["frames"])
            assert page.line(name)["slot"] == CAT
