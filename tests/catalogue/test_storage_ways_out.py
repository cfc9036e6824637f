"""What may go wrong while a work folder is sent, and how the next run goes on."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import fsspec
import pytest

from shotad.batch.describing import describe_film
from shotad.batch.jobs import FilmJob
from shotad.batch.mirror import Mirror
from shotad.batch.staging import NAME, Keeper, Lease, staged
from shotad.batch.store import Store
from shotad.core import Config, InUse, NoProgress, ScriptError, StorageError, load_settings
from shotad.script import load_track
from tests.catalogue.storage_bucket import FILM, PLACE, Bucket, edited, lines, memory_bucket, mirror
from tests.media import FilmSpec, make_film
from tests.shotad_process import PLAIN


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with memory_bucket() as bucket:
        yield bucket


def wait_until(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not done():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_media_that_both_sides_changed_are_never_read_into_memory(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = mirror(tmp_path, media=True)
    side.bring_down()
    (side.folder / "x.mix.mp3").write_bytes(b"ours")
    bucket.put("x.mix.mp3", b"theirs")
    with monkeypatch.context() as patch:
        patch.setattr(Store, "read", lambda _, place, *__: pytest.fail(f"{place} was read"))
        with pytest.raises(StorageError, match=r"x\.mix\.mp3 was changed by others"):
            side.sync()
    again = mirror(tmp_path, media=True)
    again.bring_down()
    assert (again.folder / "x.mix.mp3").read_bytes() == b"theirs"
    again.sync()
    assert bucket.get("x.mix.mp3") == "theirs"


def test_a_file_that_others_remove_while_the_run_writes_it_is_there_anew(
    bucket: Bucket, tmp_path: Path
) -> None:
    side = mirror(tmp_path)
    side.bring_down()
    (side.folder / "stage1.jsonl").write_text(lines("a"))
    side.sync()
    bucket.remove("stage1.jsonl")
    side.sync()
    assert bucket.names == [], "untouched since: it stays removed"
    (side.folder / "stage1.jsonl").write_text(lines("a", "b"))
    side.sync()
    assert bucket.get("stage1.jsonl") == lines("a", "b")


def test_a_lease_that_a_person_removes_is_written_anew(bucket: Bucket) -> None:
    store = Store(PLACE)
    mine, other = Lease(store, PLACE, 90.0), Lease(store, PLACE, 90.0)
    mine.take()
    bucket.remove(NAME)
    mine.renew()
    bucket.remove(NAME)
    other.take()
    with pytest.raises(InUse):
        mine.renew()


def test_trouble_with_the_disk_is_told_and_the_sending_goes_on(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side, said, full = mirror(tmp_path), [], [True]
    side.bring_down()
    (side.folder / "shots.json").write_text("{}")
    sync = Mirror.sync

    def failing(side: Mirror) -> None:
        if full:
            raise OSError(28, os.strerror(28))
        sync(side)

    monkeypatch.setattr(Mirror, "sync", failing)
    front = NoProgress()
    front.note = said.append  # type: ignore[method-assign]
    lease = Lease(side.store, PLACE, 90.0)
    lease.take()
    keeper = Keeper(lease, side, 0.01, front)
    keeper.__enter__()
    wait_until(lambda: bool(said))
    full.clear()
    wait_until(lambda: "shots.json" in bucket.names)
    full.append(True)
    with pytest.raises(StorageError, match=r"cannot be used: No space left.*kept in"):
        keeper.__exit__(None, None, None)


def test_errors_of_a_run_name_places_that_are_there_when_it_has_ended(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("track.json", "{broken")
    with (
        pytest.raises(ScriptError, match=r"memory://ad/x\.shotad/track\.json, line 1") as caught,
        staged(FILM, PLACE, tmp_path, progress=NoProgress()) as here,
    ):
        load_track(here.folder / "track.json")
    assert str(tmp_path) not in f"{caught.value}{caught.value.what}{caught.value.hint}"


def test_settings_name_what_was_fetched_by_where_it_came_from(bucket: Bucket, tmp_path: Path) -> None:
    scratch, folder = tmp_path / "scratch", tmp_path / "x.shotad"
    folder.mkdir()
    for place in (PLACE, str(folder)):
        with staged(FILM, place, scratch, progress=NoProgress()) as here:
            assert here.beside is not None
            given = {"film": {"path": str(here.film)}, "given": {"subtitles": str(here.beside / "x.srt")}}
            (here.folder / "settings.json").write_text(json.dumps(given))
    wanted = {"film": {"path": FILM}, "given": {"subtitles": "memory://films/x.srt"}}
    assert json.loads(bucket.get("settings.json")) == wanted
    assert json.loads((folder / "settings.json").read_text()) == wanted


def test_a_person_who_edits_while_a_run_is_at_the_folder_is_gone_on_from(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = make_film(FilmSpec(frames=250, cuts=(60, 110, 200))).path
    fsspec.filesystem("memory").put_file(str(film), "/films/x.mp4")
    config = load_settings(Config, (), ("engine=fake", *PLAIN))
    job = FilmJob(FILM, PLACE, config, sheet=False, scratch=str(tmp_path / "scratch"))
    assert describe_film(job).state == "done"
    line = next(cue for cue in json.loads(bucket.get("track.json"))["cues"] if cue["text"])["text"]
    sync = Mirror.sync

    def late(side: Mirror) -> None:
        bucket.put("track.json", edited(bucket.get("track.json"), line, "By hand."))
        sync(side)

    with monkeypatch.context() as patch:
        patch.setattr(Mirror, "sync", late)
        found = describe_film(replace(job, sheet=True))
    assert found.again
    assert found.error is not None
    assert "track.json was changed by others" in found.error[0]
    answers = bucket.get("stage2.jsonl")
    found = describe_film(replace(job, sheet=True))
    assert (found.state, found.edited) == ("done", 1)
    assert "By hand." in bucket.get("track.json")
    assert "By hand." in bucket.get("x.ad.vtt")
    assert bucket.get("stage2.jsonl") == answers, "nothing is asked twice"
