"""A work folder in a store and its copy: what comes down, what goes up, and what others wrote meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from shotad.batch import staging as leases
from shotad.batch.mirror import Kind, Mirror, kind_of
from shotad.batch.staging import NAME, Lease, staged
from shotad.batch.store import Store
from shotad.core import InUse, NoProgress, StorageError
from shotad.script import edited_scripts, load_track
from tests.catalogue.storage_bucket import (
    FILM,
    PLACE,
    Bucket,
    described,
    edited,
    lines,
    memory_bucket,
    mirror,
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
        ("overview/shot-00001.webp", Kind.OVERVIEW),
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
    (first.folder / "stage1.jsonl").write_text(lines("a", "b"))
    first.sync()
    # It was killed after it had sent these, before it wrote that down, and with one more answer.
    first.notes.unlink()
    (first.folder / "stage1.jsonl").write_text(lines("a", "b", "c"))
    second = mirror(tmp_path)
    second.bring_down()
    second.sync()
    assert bucket.get("stage1.jsonl") == lines("a", "b", "c")


THEIRS = [
    "stage1.jsonl", "log.txt", "grammar.json", "new.json", "settings.json", "x.mix.mp3", "sheet/line-1.png",
    "track.json", "scripts.json", "x.ad.srt", "track.de.json", "done.json",
]  # fmt: skip


@pytest.mark.parametrize("name", THEIRS)
@pytest.mark.parametrize("also_here", [False, True])
def test_what_others_write_meanwhile_stays_and_the_run_is_refused(
    bucket: Bucket, tmp_path: Path, name: str, also_here: bool
) -> None:
    described(bucket, tmp_path, "One.", "Two.")
    for one in set(THEIRS) - {"new.json"} - set(bucket.names):
        bucket.put(one, "1\n")
    side = mirror(tmp_path, name="b", media=True)
    side.bring_down()
    bucket.put(name, "theirs\n")
    (side.folder / "stage2.jsonl").write_text(lines("paid"))
    if also_here:
        (side.folder / "sheet").mkdir(exist_ok=True)
        (side.folder / name).write_text("ours\n")
    for _ in range(2):
        with pytest.raises(StorageError, match=rf"{name} was changed by others.*[Rr]un again") as caught:
            side.sync()
    assert caught.value.again
    assert bucket.get(name) == "theirs\n"
    assert bucket.get("stage2.jsonl") == lines("paid"), "what was answered goes up all the same"

    for machine in ("b", "c"):
        again = mirror(tmp_path, name=machine, media=True)
        again.bring_down()
        assert (again.folder / "stage2.jsonl").read_text() == lines("paid")
        assert name == "sheet/line-1.png" or (again.folder / name).read_text() == "theirs\n"
        again.sync()
        assert bucket.get(name) == "theirs\n"
        assert not again.unsent


def test_track_and_scripts_go_up_together_or_not_at_all(bucket: Bucket, tmp_path: Path) -> None:
    side, before = described(bucket, tmp_path, "One.", "Two.")
    bucket.put("x.ad.srt", bucket.get("x.ad.srt").replace("Two.", "Two by hand."))
    with pytest.raises(StorageError, match=r"x\.ad\.srt was changed by others"):
        side.sync()
    again = mirror(tmp_path)
    again.bring_down()
    assert "Two by hand." in (again.folder / "x.ad.srt").read_text()
    for name in ("track.json", "scripts.json", "x.ad.vtt"):
        assert bucket.get(name) == (before / name).read_text()
        assert (again.folder / name).read_bytes() == (before / name).read_bytes(), "the set stays one"


def test_a_film_is_not_marked_as_done_while_something_of_others_waits(bucket: Bucket, tmp_path: Path) -> None:
    side = mirror(tmp_path)
    side.bring_down()
    bucket.put("slots.hand.json", "by hand")
    (side.folder / "done.json").write_text("{}")
    with pytest.raises(StorageError, match=r"slots\.hand\.json was changed by others"):
        side.sync()
    assert "done.json" not in bucket.names
    assert side.unsent


def test_a_sending_whose_answer_is_lost_is_not_taken_for_that_of_others(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = mirror(tmp_path)
    side.bring_down()
    for name in ("stage1.jsonl", "shots.json", "track.json"):
        (side.folder / name).write_text(lines("a"))
        write = Store.write

        def lost(store: Store, place: str, data: bytes, *, over: str | None, write: Any = write) -> str:
            write(store, place, data, over=over)
            raise StorageError("The network is gone.", again=True)

        with monkeypatch.context() as patch:
            patch.setattr(Store, "write", lost)
            with pytest.raises(StorageError, match="network"):
                side.sync()
    (side.folder / "stage1.jsonl").write_text(lines("a", "b"))
    side.sync()
    assert bucket.get("stage1.jsonl") == lines("a", "b")
    assert not side.unsent


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("before", [(), ("One.", "Two.")])
def test_a_run_may_be_killed_before_any_request(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: tuple[str, ...]
) -> None:
    """Whoever goes on, here or elsewhere, finds no record lost, no edit that nobody made, and no film that is
    marked as done and is not."""
    write, ends = Store.write, 0
    while True:
        home = tmp_path / str(ends)
        home.mkdir()
        for one in bucket.names:
            bucket.remove(one)
        side, _ = described(bucket, home, *before)
        for name in ("stage1.jsonl", "stage2.jsonl", "log.txt"):
            (side.folder / name).write_text(lines("a", "b"))
        (side.folder / "done.json").write_text("{}")
        asked = 0

        def counted(store: Store, place: str, data: bytes, *, over: str | None, end: int = ends) -> str:
            nonlocal asked
            asked += 1
            if asked > end:
                raise Killed
            return write(store, place, data, over=over)

        with monkeypatch.context() as patch:
            patch.setattr(Store, "write", counted)
            patch.setattr(Mirror, "_remember", lambda _: None)
            try:
                side.sync()
            except Killed:
                pass
            else:
                break
        for again in (mirror(home, name="other"), mirror(home)):
            again.bring_down()
            assert not edited_scripts(again.folder, "x.mp4")
            track = again.folder / "track.json"
            texts = [line.text for line in load_track(track).cues] if track.exists() else []
            assert texts in (list(before), ["One anew.", "Two anew."])
            if (again.folder / "done.json").exists() and "done.json" in bucket.names:
                assert texts == ["One anew.", "Two anew."]
                assert bucket.get("stage2.jsonl") == lines("a", "b")
        again.sync()
        for name in ("stage1.jsonl", "stage2.jsonl", "log.txt"):
            assert bucket.get(name) == lines("a", "b"), f"killed before request {ends + 1}"
        assert not again.unsent
        ends += 1
    assert ends >= 10, "records, scripts.json, four scripts, the track, the mark"


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


def test_a_person_who_writes_between_the_look_and_the_sending_is_seen(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side, _ = described(bucket, tmp_path, "One.", "Two.")
    write, waiting = Store.write, [True]

    def late(store: Store, place: str, data: bytes, *, over: str | None) -> str:
        if place.endswith("track.json") and waiting:
            waiting.clear()
            bucket.put("track.json", edited(bucket.get("track.json"), "One.", "One by hand."))
        return write(store, place, data, over=over)

    monkeypatch.setattr(Store, "write", late)
    with pytest.raises(StorageError, match=r"track\.json was changed by others"):
        side.sync()
    assert "One by hand." in bucket.get("track.json")
    again = mirror(tmp_path)
    again.bring_down()
    assert [line.text for line in load_track(again.folder / "track.json").cues] == ["One by hand.", "Two."]
    assert not edited_scripts(again.folder, "x.mp4"), "only the track is somebody's work"


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
