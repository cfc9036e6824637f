"""A work folder in a store and its copy: what comes down, what goes up, and what others wrote meanwhile."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from shotad.batch import staging as leases
from shotad.batch.mirror import Kind, in_order, is_as_written, kind_of
from shotad.batch.staging import NAME, Lease, Staged, staged
from shotad.batch.store import Store
from shotad.core import InUse, NoProgress, StorageError
from shotad.script import derive, load_track, save_track, to_json
from tests.catalogue.storage_bucket import (
    FILM,
    PLACE,
    Bucket,
    described,
    edited,
    lines,
    memory_bucket,
    mirror,
    track,
)


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with memory_bucket() as bucket:
        yield bucket


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("stage1.jsonl", Kind.LINES),
        ("log.txt", Kind.LINES),
        ("shots.json", Kind.RECORD),
        ("voice/ab.flac", Kind.MEDIA),
        ("x.described.mkv", Kind.MEDIA),
        ("overview.html", Kind.OVERVIEW),
        ("x.ad.vtt", Kind.SCRIPT),
        ("x.de.ad.dapt.xml", Kind.SCRIPT),
        ("scripts.de.json", Kind.WRITTEN),
        ("track.json", Kind.TRACK),
        ("track.de.json", Kind.TRACK),
        ("done.json", Kind.MARK),
        ("cast/track.json", Kind.RECORD),
        (".lock", None),
        ("frames.pack", None),
        ("shelf.pack", None),
        ("shelf.index", None),
        (".x.123.part.mp4", None),
        (NAME, None),
    ],
)
def test_kinds_of_files_are_told_by_name(name: str, kind: Kind | None) -> None:
    assert kind_of(name) is kind


def test_a_run_finds_what_is_there_and_sends_what_it_makes(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("stage1.jsonl", lines("a"))
    bucket.put("cast/one.jpg", b"picture")
    bucket.put("x.described.mp4", b"rendered")
    bucket.put("overview.html", b"drawn")
    side = mirror(tmp_path)
    side.bring_down()
    assert (side.folder / "stage1.jsonl").read_text() == lines("a")
    assert (side.folder / "cast/one.jpg").read_bytes() == b"picture"
    assert not (side.folder / "x.described.mp4").exists(), "it is not needed to describe"
    assert not (side.folder / "overview.html").exists(), "it is drawn anew"
    assert not side.unsent
    (side.folder / "stage1.jsonl").write_text(lines("a", "b") + '{"key": "ha')
    (side.folder / "frames.pack").write_bytes(b"frames")
    (side.folder / "overview.html").write_bytes(b"drawn anew")
    (side.folder / "x.described.mp4").write_bytes(b"rendered anew")
    side.sync()
    assert bucket.get("stage1.jsonl") == lines("a", "b"), "a half-written line waits"
    assert bucket.get("x.described.mp4") == "rendered anew"
    assert bucket.get("overview.html") == "drawn anew"
    assert "frames.pack" not in bucket.names


def test_nothing_is_written_twice(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    side = mirror(tmp_path)
    side.bring_down()
    (side.folder / "shots.json").write_text("{}")
    side.sync()
    monkeypatch.setattr(Store, "write", lambda *_, **__: pytest.fail("written again"))
    side.sync()
    again = mirror(tmp_path)
    monkeypatch.setattr(Store, "read", lambda *_, **__: pytest.fail("fetched again"))
    again.bring_down()
    again.sync()


def test_what_a_killed_run_could_not_send_is_sent_by_the_next(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("stage1.jsonl", lines("a"))
    first = mirror(tmp_path)
    first.bring_down()
    (first.folder / "stage1.jsonl").write_text(lines("a", "mine"))
    bucket.put("stage1.jsonl", lines("a", "theirs"))
    second = mirror(tmp_path)
    second.bring_down()
    second.sync()
    assert set(bucket.get("stage1.jsonl").splitlines()) == set(lines("a", "mine", "theirs").splitlines())


def test_lines_that_others_add_meanwhile_are_kept_each_time(bucket: Bucket, tmp_path: Path) -> None:
    side = mirror(tmp_path)
    side.bring_down()
    (side.folder / "stage2.jsonl").write_text(lines("mine"))
    side.sync()
    bucket.put("stage2.jsonl", lines("mine", "theirs"))
    side.sync()
    assert (side.folder / "stage2.jsonl").read_text() == lines("mine"), "a run has this file open"
    (side.folder / "stage2.jsonl").write_text(lines("mine", "more"))
    side.sync()
    assert bucket.get("stage2.jsonl") == lines("theirs", "mine", "more")
    side.sync()
    assert bucket.get("stage2.jsonl") == lines("theirs", "mine", "more")


def test_a_file_that_others_change_comes_down_and_one_both_change_is_refused(
    bucket: Bucket, tmp_path: Path
) -> None:
    bucket.put("slots.hand.json", "1")
    bucket.put("grammar.json", "1")
    side = mirror(tmp_path)
    side.bring_down()
    bucket.put("slots.hand.json", "by hand")
    bucket.put("grammar.json", "theirs")
    (side.folder / "grammar.json").write_text("ours")
    (side.folder / "shots.json").write_text("new")
    (side.folder / "done.json").write_text("{}")
    with pytest.raises(StorageError, match=r"grammar\.json was changed by others"):
        side.sync()
    assert (side.folder / "slots.hand.json").read_text() == "by hand"
    assert bucket.get("grammar.json") == "theirs"
    assert bucket.get("shots.json") == "new", "all else is sent"
    assert "done.json" not in bucket.names
    assert side.unsent


def test_the_same_change_on_both_sides_is_none(bucket: Bucket, tmp_path: Path) -> None:
    side = mirror(tmp_path)
    side.bring_down()
    bucket.put("shots.json", "same")
    (side.folder / "shots.json").write_text("same")
    side.sync()
    assert not side.unsent


def test_what_others_remove_stays_removed_and_what_this_run_removes_of_its_own_goes(
    bucket: Bucket, tmp_path: Path
) -> None:
    bucket.put("old.json", "1")
    bucket.put("note.txt", "a person's")
    side = mirror(tmp_path)
    side.bring_down()
    (side.folder / "passing.json").write_text("x")
    side.sync()
    fsspec.filesystem("memory").rm_file("/ad/x.shotad/old.json")
    (side.folder / "passing.json").unlink()
    (side.folder / "note.txt").unlink()
    side.sync()
    assert bucket.names == ["note.txt"], "only what this very run sent is removed"


@pytest.mark.parametrize("name", ["../out.json", "a/../../out.json", "/etc/x", "a//b"])
def test_a_name_that_leads_elsewhere_is_not_brought(bucket: Bucket, tmp_path: Path, name: str) -> None:
    fsspec.filesystem("memory").store[f"/ad/x.shotad/{name}"] = fsspec.filesystem("memory").store[
        "/films/x.mp4"
    ]
    side = mirror(tmp_path)
    side.bring_down()
    assert list(side.folder.rglob("*.json")) == []
    assert not (tmp_path / "a" / "out.json").exists()


def test_a_link_is_not_followed_out_of_the_folder(bucket: Bucket, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    side = mirror(tmp_path)
    side.bring_down()
    (side.folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    side.sync()
    assert bucket.names == []


def test_settings_name_the_film_by_its_address_in_the_store(bucket: Bucket, tmp_path: Path) -> None:
    side = mirror(tmp_path)
    side.bring_down()
    given = {"film": {"path": str(tmp_path / "x.mp4")}, "cast": str(side.folder / "cast"), "n": 1.5}
    (side.folder / "settings.json").write_text(json.dumps(given))
    side.sync()
    sent = {"film": {"path": FILM}, "cast": f"{PLACE}/cast", "n": 1.5}
    assert json.loads(bucket.get("settings.json")) == sent
    other = mirror(tmp_path, name="b")
    other.bring_down()
    assert json.loads((other.folder / "settings.json").read_text())["cast"] == str(other.folder / "cast")


def test_scripts_go_up_so_that_none_looks_edited_wherever_it_ends() -> None:
    def record(text: bytes, **before: list[str]) -> bytes:
        return json.dumps(
            {"scripts": {"x.ad.vtt": hashlib.sha256(text).hexdigest()}, "before": before}
        ).encode()

    there = {"scripts.json": record(b"old"), "x.ad.vtt": b"old", "track.json": b"t1"}
    texts = {"scripts.json": record(b"new"), "x.ad.vtt": b"new", "track.json": b"t2"}
    steps = list(in_order(texts, there.get))
    assert [name for name, _ in steps] == ["scripts.json", "x.ad.vtt", "scripts.json", "track.json"]
    for end in range(len(steps) + 1):
        now = {**there, **dict(steps[:end])}
        assert is_as_written("x.ad.vtt", now["x.ad.vtt"], [now["scripts.json"]]), end
    assert dict(steps) == texts


def test_scripts_that_are_the_first_go_up_after_what_says_how_they_were_written() -> None:
    record = json.dumps({"scripts": {"x.ad.vtt": hashlib.sha256(b"new").hexdigest()}}).encode()
    texts = {"scripts.json": record, "x.ad.vtt": b"new", "track.json": b"t"}
    steps = list(in_order(texts, {}.get))
    assert steps == [("scripts.json", record), ("x.ad.vtt", b"new"), ("track.json", b"t")]


def test_an_edit_before_the_run_writes_its_track_meets_the_usual_rules(
    bucket: Bucket, tmp_path: Path
) -> None:
    bucket.put("track.json", to_json(track("One.", "Two.")))
    side = mirror(tmp_path)
    side.bring_down()
    bucket.put("track.json", edited(bucket.get("track.json"), "Two.", "Two by hand."))
    side.sync()
    merged = derive(load_track(side.folder / "track.json"), track("One.", "Two anew.")).track
    save_track(merged, side.folder, "x.mp4")
    side.sync()
    kept = load_track(side.folder / "track.json").cues
    assert [line.text for line in kept] == ["One.", "Two by hand."]
    assert bucket.get("track.json") == (side.folder / "track.json").read_text()


def test_an_edit_after_the_run_wrote_its_track_is_laid_over_it(bucket: Bucket, tmp_path: Path) -> None:
    side, before = described(bucket, tmp_path)
    # A person edits the track on the review page of another machine, which writes the scripts too.
    other = tmp_path / "other"
    other.mkdir()
    (other / "track.json").write_text(edited((before / "track.json").read_text(), "Two.", "Two by hand."))
    save_track(load_track(other / "track.json"), other, "x.mp4")
    for file in other.iterdir():
        bucket.put(file.name, file.read_bytes())
    side.sync()
    assert [line.text for line in load_track(side.folder / "track.json").cues] == [
        "One anew.",
        "Two by hand.",
    ]
    assert "Two by hand." in bucket.get("x.ad.vtt")
    assert "One anew." in bucket.get("x.ad.vtt")
    assert bucket.get("track.json") == (side.folder / "track.json").read_text()
    line = load_track(side.folder / "track.json").cues[1]
    assert line.edited is not None
    assert line.edited.machine is not None
    assert line.edited.machine.text == "Two anew.", "what the machine says now is kept beside it"


def test_a_script_that_a_person_edits_meanwhile_is_never_written_over(bucket: Bucket, tmp_path: Path) -> None:
    side, before = described(bucket, tmp_path)
    (side.folder / "stage2.jsonl").write_text(lines("paid"))
    bucket.put("x.ad.srt", bucket.get("x.ad.srt").replace("Two.", "Two by hand."))
    with pytest.raises(StorageError, match=r"x\.ad\.srt was changed by others"):
        side.sync()
    assert "Two by hand." in bucket.get("x.ad.srt")
    assert bucket.get("track.json") == (before / "track.json").read_text(), "no half of the set is sent"
    assert bucket.get("stage2.jsonl") == lines("paid")


def test_a_person_who_writes_between_the_look_and_the_sending_is_seen(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put("track.json", to_json(track("One.", "Two.")))
    side = mirror(tmp_path)
    side.bring_down()
    save_track(track("One anew.", "Two anew."), side.folder, "x.mp4")
    write, waiting = Store.write, [True]

    def late(store: Store, place: str, data: bytes, *, over: str | None) -> str:
        if place.endswith("track.json") and waiting:
            waiting.clear()
            bucket.put("track.json", edited(bucket.get("track.json"), "One.", "One by hand."))
        return write(store, place, data, over=over)

    monkeypatch.setattr(Store, "write", late)
    side.sync()
    assert "One by hand." in bucket.get("track.json")
    assert "Two anew." in bucket.get("track.json")


def test_a_lease_tells_two_machines_apart(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(PLACE)
    first, second = Lease(store, PLACE, 90.0), Lease(store, PLACE, 90.0)
    first.take()
    with pytest.raises(InUse, match="is being written by") as caught:
        second.take()
    assert "its hold ends in" in caught.value.hint
    first.renew()
    first.release()
    assert bucket.names == []
    second.take()
    second.release()


def test_a_lease_ends_when_it_is_not_renewed(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(PLACE)
    first, second = Lease(store, PLACE, 90.0), Lease(store, PLACE, 90.0)
    first.take()
    monkeypatch.setattr(Store, "age", lambda *_: 91.0)
    second.take()
    with pytest.raises(InUse):
        first.renew()
    first.release()
    assert bucket.names == [NAME], "the lease of another is left alone"
    second.renew()


def test_a_lease_of_a_process_that_has_ended_here_is_taken_at_once(bucket: Bucket) -> None:
    store = Store(PLACE)
    dead = Lease(store, PLACE, 90.0)
    dead.take()
    leases._own.clear()
    Lease(store, PLACE, 90.0).take()
    assert NAME in bucket.names


def test_a_lease_that_cannot_be_read_is_no_hindrance_once_it_is_old(bucket: Bucket) -> None:
    bucket.put(NAME, "damaged")
    Lease(Store(PLACE), PLACE, 90.0).take()


def test_a_film_and_a_folder_of_this_machine_are_used_as_they_are(tmp_path: Path) -> None:
    film, folder = tmp_path / "x.mp4", tmp_path / "x.shotad"
    with staged(str(film), str(folder), tmp_path / "scratch", progress=NoProgress()) as here:
        assert here == Staged(film, folder)
    assert list(tmp_path.iterdir()) == []


def test_a_run_leaves_nothing_on_the_scratch_disk(bucket: Bucket, tmp_path: Path) -> None:
    with staged(FILM, PLACE, tmp_path, progress=NoProgress()) as here:
        assert here.film.read_bytes() == b"film" * 100
        assert here.film.name == "x.mp4"
        assert here.folder.name == "x.shotad"
        assert NAME in bucket.names
        (here.folder / "track.json").write_text("{}")
    assert bucket.names == ["track.json"]
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_run_that_fails_sends_what_it_has(bucket: Bucket, tmp_path: Path) -> None:
    run = staged(FILM, PLACE, tmp_path, progress=NoProgress())
    here = run.__enter__()
    (here.folder / "stage1.jsonl").write_text(lines("a"))
    error = ValueError("broken")
    assert not run.__exit__(ValueError, error, None)
    assert bucket.names == ["stage1.jsonl"]
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_run_that_is_stopped_leaves_its_film_for_the_next(bucket: Bucket, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), staged(FILM, PLACE, tmp_path, progress=NoProgress()) as here:
        raise KeyboardInterrupt
    assert here.film.exists()
    assert bucket.names == []


def test_one_film_is_worked_at_once_only_also_on_one_machine(bucket: Bucket, tmp_path: Path) -> None:
    with (
        staged(FILM, PLACE, tmp_path, progress=NoProgress()),
        pytest.raises(InUse),
        staged(FILM, PLACE, tmp_path, progress=NoProgress()),
    ):
        pytest.fail("two at a time")


def test_records_go_up_while_the_run_goes_on(bucket: Bucket, tmp_path: Path) -> None:
    import time

    with staged(FILM, PLACE, tmp_path, progress=NoProgress(), every=0.02) as here:
        (here.folder / "stage1.jsonl").write_text(lines("a"))
        until = time.monotonic() + 20
        while "stage1.jsonl" not in bucket.names and time.monotonic() < until:
            time.sleep(0.01)
        assert bucket.get("stage1.jsonl") == lines("a")


def test_who_lost_the_lease_sends_nothing_more(bucket: Bucket, tmp_path: Path) -> None:
    run = staged(FILM, PLACE, tmp_path, progress=NoProgress(), every=60)
    here = run.__enter__()
    (here.folder / "track.json").write_text("{}")
    other = {"token": "o", "host": "h2", "machine": "m", "process": 1, "seconds": 90}
    bucket.put(NAME, json.dumps(other))
    with pytest.raises(InUse, match="h2"):
        run.__exit__(None, None, None)
    assert bucket.names == [NAME]
    assert (here.folder / "track.json").exists(), "what could not be sent is kept"
