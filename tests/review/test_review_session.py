"""Acts on the page: each is on the disk and done once, others' work is taken in, nothing is lost or overwritten, not even
where programs are killed; undo and redo outlive a restart; a line that is split and joined is the line that it was."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core.errors import EditConflict
from shotad.script import Track, import_into, load_track
from shotad.script.track import to_json
from shotad.script.track_files import SCRIPTS_RECORD, TRACK
from tests.handmade import look
from tests.rendering.described import LINES, change, retrack
from tests.review.asgi import WAIT, Answer, Listener
from tests.review.reviewed import Page, in_english, reviewed

CAT, DOOR, RAIN = "s00001000", "s00009000", "s00014000"
TAB = "a tab"


@contextlib.contextmanager
def opened_page(place: Path) -> Iterator[Page]:
    """The page of a folder, served without its film, which these tests do not need."""
    with reviewed(place, gone=True, reviewer="Ann") as (_, page):
        yield page


@pytest.fixture
def page(place: Path) -> Iterator[Page]:
    with opened_page(place) as page:
        yield page


def on_disk(place: Path) -> Track:
    return load_track(place / TRACK)


def raw(place: Path) -> bytes:
    return (place / TRACK).read_bytes()


def text_on_disk(place: Path, name: str) -> str:
    return next(cue.text for cue in on_disk(place).cues if cue.id == name)


def undo_all(page: Page) -> None:
    while page.film()["history"]["undo"]:
        page.do("undo")


def redo_all(page: Page) -> None:
    while page.film()["history"]["redo"]:
        page.do("redo")


def until_written(path: Path, text: str) -> None:
    """Waits until a script beside the track holds a text."""
    end = time.monotonic() + WAIT
    while text not in path.read_text(encoding="utf-8"):
        assert time.monotonic() < end, f"{path.name} is never written"
        time.sleep(0.02)


def test_undo_and_redo_over_a_restart(place: Path) -> None:
    first = raw(place)
    with opened_page(place) as page:
        page.do("write", CAT, text="A cat wakes.")
        page.do("split", DOOR, at=10)
        page.do("accept", RAIN)
    last = raw(place)
    with opened_page(place) as page:
        undo_all(page)
        assert raw(place) == first
        assert page.refused("undo") == "There is nothing to undo."
    with opened_page(place) as page:
        assert page.film()["history"]["undo"] is None
        redo_all(page)
        assert raw(place) == last
        assert page.refused("redo") == "Nothing was undone."


def test_what_others_change_in_the_file_is_a_conflict_and_undo_passes_over_it(
    place: Path, page: Page
) -> None:
    seen = page.line(RAIN)["stamp"]
    change(place / TRACK, LINES[14.0], "Rain stops.")
    answer = page.act("write", RAIN, {"text": "Hail."}, seen=seen)
    assert (answer.status, [line["text"] for line in answer.json["lines"]]) == (409, ["Rain stops."])
    with Listener(page) as tab:
        assert page.line(RAIN)["text"] == "Rain stops."
        (event,) = tab.until("change")
        page.film()
        assert tab.of("change") == [event], "it is told once"
    assert (event["origin"], "Rain stops." in str(event["lines"])) == ("disk", True)
    page.do("write", CAT, text="A cat wakes.")
    page.do("write", RAIN, text="Hail.")
    change(place / TRACK, "Hail.", "Snow.")
    answer = page.act("undo", "")
    assert (answer.status, RAIN in answer.json["error"]["what"]) == (409, True)
    page.do("undo")
    assert (page.line(CAT)["text"], page.line(RAIN)["text"]) == (LINES[1.0], "Snow.")


def test_a_script_that_contradicts_the_track_blocks_no_other(place: Path, page: Page) -> None:
    contradicting, other = next(place.glob("*.dapt.xml")), next(place.glob("*.csv"))
    theirs = contradicting.read_text(encoding="utf-8").replace("Rain falls", "Hail falls")
    page.do("write", RAIN, text="Rain stops.")
    until_written(contradicting, "Rain stops.")
    until_written(other, "Rain stops.")
    with Listener(page) as tab:
        contradicting.write_text(theirs, encoding="utf-8")
        change(other, "A cat sleeps", "A dog sleeps")
        assert page.line(CAT)["text"] == "A dog sleeps by the window."
        assert page.line(RAIN)["text"] == "Rain stops."
        (trouble,) = tab.until("trouble")
        assert "Hail" in trouble["what"]
    until_written(next(place.glob("*.vtt")), "A dog sleeps")
    assert contradicting.read_text(encoding="utf-8") == theirs
    contradicting.unlink()
    page.do("accept", CAT)
    end = time.monotonic() + WAIT
    while not contradicting.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    assert "Rain stops." in contradicting.read_text(encoding="utf-8")


def test_a_script_that_was_edited_before_the_page_was_opened_is_taken_in(place: Path) -> None:
    contradicting, other = next(place.glob("*.dapt.xml")), next(place.glob("*.csv"))
    theirs = contradicting.read_text(encoding="utf-8").replace("Rain falls", "Hail falls")
    with opened_page(place) as page:
        page.do("write", RAIN, text="Rain stops.")
    contradicting.write_text(theirs, encoding="utf-8")
    change(other, "A cat sleeps", "A dog sleeps")
    with opened_page(place) as page:
        for _ in range(2):
            assert "Hail falls" in page.film()["trouble"]["what"], "each tab that opens is told"
        assert page.line(CAT)["text"] == "A dog sleeps by the window."
        assert page.line(RAIN)["text"] == "Rain stops."
        with Listener(page) as tab:
            contradicting.unlink()
            page.film()
            (trouble,) = tab.until("trouble")
        assert trouble == page.film()["trouble"] == {"what": "", "hint": ""}
        contradicting.write_text(theirs, encoding="utf-8")
        page.film()
    assert contradicting.read_text(encoding="utf-8") == theirs
    contradicting.unlink()
    with opened_page(place):
        pass
    assert "Rain stops." in contradicting.read_text(encoding="utf-8")


def test_what_a_killed_page_left_undone_is_written_by_the_next(place: Path) -> None:
    scripts = {path: path.read_bytes() for path in place.glob("*.ad.*")}
    with opened_page(place) as page:
        page.do("write", CAT, text="A cat wakes.")
    for path, data in scripts.items():
        path.write_bytes(data)
    hashes = {path.name: hashlib.sha256(data).hexdigest() for path, data in scripts.items()}
    (place / SCRIPTS_RECORD).write_text(json.dumps({"scripts": hashes}))
    with opened_page(place):
        pass
    assert all(b"A cat wakes." in path.read_bytes() for path in scripts)


def test_a_broken_file_is_told_and_left_until_it_is_mended(place: Path, page: Page) -> None:
    path = place / TRACK
    good = path.read_text(encoding="utf-8")
    with Listener(page) as tab:
        path.write_text(good.replace('"cues": [', '"cues": [,'), encoding="utf-8")
        broken = path.read_text(encoding="utf-8")
        for act in ("drop", "undo"):
            assert "line " in page.refused(act, CAT)
        page.film()
        assert path.read_text(encoding="utf-8") == broken
        path.write_text(good.replace("Rain falls", "Hail falls"), encoding="utf-8")
        page.do("drop", CAT)
        assert text_on_disk(place, RAIN).startswith("Hail falls")
        troubles = tab.until("trouble", 2)
    assert [bool(trouble["what"]) for trouble in troubles] == [True, False]


def test_another_films_track_is_refused(place: Path, page: Page) -> None:
    track = on_disk(place)
    other = to_json(replace(track, film=replace(track.film, fingerprint="other")))
    (place / TRACK).write_text(other, encoding="utf-8")
    for _ in range(2):
        assert "another film" in page.refused("drop", CAT)
    assert (place / TRACK).read_text(encoding="utf-8") == other


def test_an_import_and_a_person_at_once_lose_nothing(place: Path, page: Page, tmp_path: Path) -> None:
    script = tmp_path / "mine.csv"
    old = next(place.glob("*.csv")).read_text(encoding="utf-8")

    def import_again_and_again() -> None:
        for number in range(5):
            script.write_text(old.replace("Rain falls", f"Rain {number} falls"), encoding="utf-8")
            import_into(place, script, None)

    importer = threading.Thread(target=import_again_and_again)
    importer.start()
    for number in range(25):
        page.act("write", CAT, {"text": f"A cat wakes {number} times."}, seen=None, group="g")
    importer.join()
    assert page.line(RAIN)["text"] == "Rain 4 falls on the empty street."
    assert text_on_disk(place, CAT) == "A cat wakes 24 times."
    assert text_on_disk(place, RAIN) == "Rain 4 falls on the empty street."


def test_a_folder_that_was_renamed_is_told_and_not_made_anew(place: Path) -> None:
    with opened_page(place) as page:
        page.do("write", CAT, text="A cat wakes.")
        moved = place.rename(place.with_name("moved"))
        answer = page.act("write", CAT, {"text": "A cat sits."}, seen=None)
        assert "not there any more" in answer.json["error"]["what"]
        assert page.line(CAT)["text"] == "A cat wakes."
    assert not place.exists()
    moved.rename(place)
    assert text_on_disk(place, CAT) == "A cat wakes."


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


class Disk:
    """Is full once it was written to as often as it `takes` (None: never)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.takes: int | None = None
        sync = os.fsync

        def sync_or_fail(number: int) -> None:
            if self.takes is not None:
                if self.takes <= 0:
                    raise OSError(errno.ENOSPC, "No space left on device")
                self.takes -= 1
            sync(number)

        monkeypatch.setattr("os.fsync", sync_or_fail)


def test_a_full_disk_refuses_the_act_and_nothing_is_changed(place: Path, page: Page, disk: Disk) -> None:
    before, lines = raw(place), page.film()["lines"]
    disk.takes = 0
    for name, line, args in (
        ("write", CAT, {"text": "A cat wakes."}),
        ("add_slot", "", {"start": 19.0, "end": 20.0}),
    ):
        answer = page.act(name, line, args, seen=None)
        assert "No space left" in answer.json["error"]["what"]
        assert "disk is full" in answer.json["error"]["hint"]
    disk.takes = None
    assert raw(place) == before
    assert page.film()["lines"] == lines
    assert page.film()["history"]["undo"] is None
    assert not list(place.glob(".tmp-*"))
    assert not (place / "slots.hand.json").exists()
    page.do("write", CAT, text="A cat wakes.")
    assert text_on_disk(place, CAT) == "A cat wakes."


def sent(page: Page, *acts: dict[str, Any], tab: str = TAB) -> list[Any]:
    """What came of acts that are sent together."""
    answer = page.post("/api/acts", {"tab": tab, "acts": list(acts)})
    assert answer.status == 200, answer.text
    return list(answer.json["answers"])


@contextlib.contextmanager
def again(place: Path, page: Page, restarted: bool) -> Iterator[Page]:
    """The page, or that of a server that was started again."""
    if restarted:
        with opened_page(place) as page_after_restart:
            yield page_after_restart
    else:
        yield page


@pytest.mark.parametrize("restarted", [False, True])
def test_an_act_that_is_asked_for_again_is_not_done_again(place: Path, page: Page, restarted: bool) -> None:
    seen = page.line(CAT)["stamp"]
    acts: list[dict[str, Any]] = [
        {"act": "shift", "line": CAT, "args": {"by": 0.5}, "seen": seen},
        {"act": "drop", "line": DOOR},
        {"act": "unaccept", "line": RAIN},  # changes nothing
        {"act": "accept", "line": RAIN},
        {"act": "undo"},
        {"act": "remove_slot", "line": RAIN},
    ]
    acts = [{"number": number, **act} for number, act in enumerate(acts, 1)]
    messages = {in_english(answer["changed"]["said"]) for answer in sent(page, *acts)}
    assert len(messages) > 3
    before = raw(place)
    with again(place, page, restarted) as page_now:
        assert {in_english(answer["changed"]["said"]) for answer in sent(page_now, *acts)} == {""}
        assert raw(place) == before
        sent(page_now, {"act": "shift", "line": CAT, "args": {"by": 0.5}, "number": 1}, tab="another tab")
        assert raw(place) != before


@pytest.mark.parametrize("restarted", [False, True])
def test_what_a_tab_did_itself_is_no_news_to_it(place: Path, page: Page, restarted: bool) -> None:
    """Its later acts were asked for before it knew how the line came out of the earlier ones."""

    def is_done(
        page: Page, number: int, act: str, seen: str | None = None, tab: str = TAB, **more: Any
    ) -> bool:
        (outcome,) = sent(page, {"act": act, "line": CAT, "number": number, "seen": seen, **more}, tab=tab)
        return "changed" in outcome

    seen = page.line(CAT)["stamp"]
    assert is_done(page, 1, "write", seen, args={"text": "A dog"}, group="typing")
    middle = page.line(CAT)["stamp"]
    assert is_done(page, 2, "write", seen, args={"text": "A dog sleeps."}, group="typing")
    assert is_done(page, 3, "drop", seen)
    assert is_done(page, 4, "undo")
    with again(place, page, restarted) as page_now:
        assert not is_done(page_now, 1, "accept", seen, tab="another tab")
        assert is_done(page_now, 5, "accept", middle)
        assert is_done(page_now, 2, "unaccept", tab="another tab")
        assert is_done(page_now, 3, "shift", args={"by": 0.5}, tab="another tab")
        assert not is_done(page_now, 6, "drop", seen)


def test_a_batch_is_done_in_order_and_each_act_is_answered(place: Path, page: Page) -> None:
    seen = page.line(CAT)["stamp"]
    acts = [
        {"number": 1, "act": "write", "line": CAT, "seen": seen, "args": {"text": "A dog sleeps."}},
        {"number": 2, "act": "split", "line": CAT, "seen": seen, "args": {"at": 5}},
        {"number": 3, "act": "choose", "line": CAT, "seen": seen, "args": {"number": 9}},
        {"number": 4, "act": "drop", "line": DOOR, "seen": "of long ago"},
        {"number": 5, "act": "undo"},
        {"number": 6, "act": "accept", "line": CAT, "seen": seen},
    ]
    for is_first in (True, False):
        answers = sent(page, *({"tab": TAB, **act} for act in acts))
        assert ["changed" in answer for answer in answers] == [True, True, False, False, True, True]
        assert "no candidate 9" in answers[2]["refused"]["what"]
        assert [line["id"] for line in answers[3]["lines"]] == [DOOR]
        messages = [in_english(answer["changed"]["said"]) for answer in answers if "changed" in answer]
        assert [bool(message) for message in messages] == [is_first] * 4
    assert (page.line(CAT)["text"], page.line(CAT)["state"]) == ("A dog sleeps.", "accepted")
    assert len(page.film()["lines"]) == 3


def test_where_nothing_can_be_written_the_rest_is_not_tried(page: Page, disk: Disk) -> None:
    acts = [{"number": n, "act": "accept", "line": line} for n, line in ((1, CAT), (2, RAIN), (3, DOOR))]
    body = {"tab": TAB, "acts": acts}

    def accepted() -> list[str]:
        return [line["id"] for line in page.film()["lines"] if line["state"] == "accepted"]

    # The first act is written whole, and the disk is full within the second.
    for takes in range(2, 12):
        disk.takes = takes
        answer = page.post("/api/acts", body).json
        disk.takes = None
        if answer["answers"]:
            break
        assert accepted() == []
    assert ["changed" in outcome for outcome in answer["answers"]] == [True]
    assert "No space left" in answer["error"]["what"]
    assert accepted() == [CAT]
    assert len(page.post("/api/acts", body).json["answers"]) == 3
    assert sorted(accepted()) == [CAT, DOOR, RAIN]


# Split and join


@pytest.mark.parametrize("before", [(), ("shift", "accept"), ("write",)])
@pytest.mark.parametrize("restarted", [False, True])
def test_split_and_join_give_back_the_line(place: Path, before: tuple[str, ...], restarted: bool) -> None:
    text = "A cat sleeps.\nThe window\u00a0is  open."
    retrack(
        place, lambda cue: replace(cue, text=text, candidates=("A cat sleeps.",)) if cue.id == CAT else cue
    )
    with opened_page(place) as page:
        for name in before:
            page.do(name, CAT, by=0.5, text="A cat\nwakes up.")
        was, state = raw(place), page.line(CAT)["state"]
        split = page.do("split", CAT, at=8)
        assert split["focus"] == CAT
        second = next(line for line in split["lines"] if line["id"].startswith("h"))
        assert {page.line(CAT)["slot"], second["slot"]} == {CAT}
        page.do("accept", DOOR)  # what is done to other lines does not matter
        page.do("undo")
        with again(place, page, restarted) as page_now:
            joined = page_now.do("join", CAT)
            assert (joined["said"]["text"], joined["focus"]) == ("Joined with the next line.", CAT)
            assert raw(place) == was
            assert page_now.line(CAT)["state"] == state
            page_now.do("undo")
            assert page_now.line(second["id"])["text"] == second["text"]
            assert page_now.line(second["id"])["stamp"] == second["stamp"]
            page_now.do("undo")
            assert raw(place) == was
            page_now.do("redo")
            page_now.do("redo")
            assert raw(place) == was


def test_a_half_that_was_changed_is_joined_as_it_is(page: Page) -> None:
    split = page.do("split", CAT, at=13)
    second = next(line["id"] for line in split["lines"] if line["id"].startswith("h"))
    page.do("write", second, text="under the roof.")
    page.do("join", CAT)
    joined = page.line(CAT)
    assert joined["text"] == "A cat sleeps under the roof."
    assert (joined["start"], joined["slot"], joined["candidates"]) == (1.0, CAT, [])
    assert second not in {line["id"] for line in page.film()["lines"]}


def test_both_halves_show_what_the_model_saw_and_said_of_their_slot(place: Path) -> None:
    record = look(CAT, raw="A cat.", steps={"Who": "A cat."})
    (place / "stage1.jsonl").write_text(json.dumps(record) + "\n")
    with reviewed(place) as (_, page):
        shown = page.get(f"/api/lines/{CAT}").json
        assert shown["stage1"]["text"] == "1. Who: A cat."
        split = page.do("split", CAT, at=8)
        second = next(line["id"] for line in split["lines"] if line["id"].startswith("h"))
        for name in (CAT, second):
            half = page.get(f"/api/lines/{name}").json
            assert (half["stage1"], half["frames"]) == (shown["stage1"], shown["frames"])
            assert page.line(name)["slot"] == CAT


# The history


def test_typing_is_one_step_unless_something_was_done_between(place: Path, page: Page) -> None:
    def type_text(text: str) -> Answer:
        return page.act("write", CAT, {"text": text}, seen=None, group="typing")

    before = raw(place)
    type_text("A d")
    type_text("A dog")
    page.do("undo")
    assert raw(place) == before, "both are undone together"
    type_text("A d")
    change(place / TRACK, '"A d"', '"A b"')  # another hand was between
    type_text("A bird")
    page.do("undo")
    assert page.line(CAT)["text"] == "A b"


def test_a_step_is_on_the_disk_before_the_note_that_it_was_begun_goes(
    page: Page, monkeypatch: pytest.MonkeyPatch
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
    page.do("write", CAT, text="A dog.")
    assert happened.index("synced review.jsonl") < happened.index("removed review.begun.json")


@pytest.fixture
def kills(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folder as a kill would leave it, at each moment from now on at which a file was just written."""
    copies: list[Path] = []
    numbers = itertools.count()
    sync = os.fsync

    def sync_and_copy(number: int) -> None:
        sync(number)
        if (place / "review.begun.json").exists():
            copies.append(Path(shutil.copytree(place, tmp_path / f"killed{next(numbers)}")))

    monkeypatch.setattr(os, "fsync", sync_and_copy)
    return copies


@pytest.mark.parametrize("begun", ["write", "undo", "redo"])
def test_what_was_begun_counts_where_the_track_holds_it(
    begun: str, place: Path, page: Page, kills: list[Path]
) -> None:
    act = {"act": begun, "number": 7}
    if begun == "write":
        act |= {"line": CAT, "args": {"text": "A dog."}}
    else:
        page.do("write", CAT, text="A dog.")
    if begun == "redo":
        page.do("undo")
    before = raw(place)
    kills.clear()
    sent(page, act)
    after = raw(place)
    assert {raw(killed) for killed in kills} == {before, after}, (
        "killed before the track is written, and after"
    )
    # Half of the last row was written, too.
    half = Path(shutil.copytree(kills[-1], kills[-1].with_name("half")))
    rows = half / "review.jsonl"
    rows.write_bytes(rows.read_bytes()[:-9])
    for killed in (*kills, half):
        is_held = raw(killed) == after
        with opened_page(killed) as page_after_kill:
            history = page_after_kill.film()["history"]
            assert (history["undo"] is not None) is ((begun == "undo") is not is_held)
            (answer,) = sent(page_after_kill, act)
            assert (in_english(answer["changed"]["said"]) == "") is is_held, "it is done once"
            assert raw(killed) == after
            undo_all(page_after_kill)
            assert page_after_kill.line(CAT)["text"] == LINES[1.0]
        assert not (killed / "review.begun.json").exists()


def test_a_spoilt_note_and_rows_are_passed_over_and_a_history_that_was_taken_away_begins_anew(
    place: Path,
) -> None:
    for spoilt in (b"", b"[]", b'{"at": 0, "row": {"step": "done"}}', b'{"at": 0}', b"\xff"):
        (place / "review.begun.json").write_bytes(spoilt)
        with opened_page(place) as page:
            assert page.film()["history"]["undo"] is None
        assert not (place / "review.begun.json").exists()
    rows = place / "review.jsonl"
    rows.write_bytes(b'\xff\n[]\n{"step": "undo"}\n{"step": "done"}\n\n{"step"')
    with opened_page(place) as page:
        assert page.film()["history"]["undo"] is None
        page.do("accept", CAT)
    with opened_page(place) as page:
        assert in_english(page.film()["history"]["undo"]) == "Accepted by Ann."
        rows.unlink()
        page.do("unaccept", CAT)
        page.do("undo")
        assert page.film()["history"]["undo"] is None
        page.do("accept", RAIN)
    with opened_page(place) as page:
        undo_all(page)
        assert [page.line(name)["state"] for name in (CAT, RAIN)] == ["accepted", "machine"]


def test_a_track_older_than_what_the_page_wrote_is_not_opened(place: Path) -> None:
    older = raw(place)
    with opened_page(place) as page:
        page.do("write", CAT, text="A cat wakes.")
    (place / TRACK).write_bytes(older)
    refused = pytest.raises(EditConflict, match=r"newer than .*track\.json: .*'A cat wakes\.'")
    with refused, opened_page(place):
        pass
    (script,) = place.glob("*.ad.vtt")
    assert "A cat wakes." in script.read_text()
    import_into(place, script, None)
    with opened_page(place) as page:
        assert page.line(CAT)["text"] == "A cat wakes."


def test_slots_that_the_page_added_and_that_are_lost_are_missed(place: Path) -> None:
    with opened_page(place) as page:
        page.do("add_slot", start=19.0, end=20.0)
    with opened_page(place):
        pass
    (place / "slots.hand.json").unlink()
    refused = pytest.raises(EditConflict, match=r"slots\.hand\.json is not there.*0:19\.00")
    with refused, opened_page(place):
        pass
