"""A work folder in a store and its copy here: what comes down, what goes up, and what others wrote meanwhile."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from shotad.batch import describe_film, staging
from shotad.batch.jobs import FilmJob
from shotad.batch.mirror import Mirror
from shotad.batch.places import Addresses
from shotad.batch.staging import NAME, Lease, LeaseKeeper, Placed, staged
from shotad.batch.store import Store
from shotad.core import (
    Config,
    Interval,
    NoProgress,
)
from shotad.core.errors import (
    FolderInUse,
    ScriptError,
    StorageError,
)
from shotad.core.settings import load_settings
from shotad.script import (
    Cue,
    Maker,
    Provenance,
    Track,
    load_track,
    save_track,
)
from shotad.script.track import FilmId
from shotad.script.track_files import edited_scripts
from tests.media import FilmSpec, make_film
from tests.shotad_process import PLAIN

PLACE = "memory://ad/x.shotad"
FILM = "memory://films/x.mp4"


class Bucket:
    """The store as another sees it who reads and writes there."""

    def __init__(self) -> None:
        self._files = fsspec.filesystem("memory")

    def put(self, name: str, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        self._files.pipe_file(f"/ad/x.shotad/{name}", data)

    def remove(self, name: str) -> None:
        self._files.rm_file(f"/ad/x.shotad/{name}")

    def get(self, name: str) -> str:
        return self._files.cat_file(f"/ad/x.shotad/{name}").decode()

    @property
    def names(self) -> list[str]:
        return sorted(name.removeprefix("/ad/x.shotad/") for name in self._files.find("/ad"))


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """A bucket in memory with one film and no work folder; leases in it are not looked at twice."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pipe_file("/films/x.mp4", b"film" * 100)
    monkeypatch.setattr(staging, "_SETTLED", 0.0)
    yield Bucket()
    files.store.clear()


def mirror(tmp_path: Path, *, media: bool = False, name: str = "a") -> Mirror:
    folder = tmp_path / name / "x.shotad"
    addresses = Addresses({str(tmp_path / "x.mp4"): FILM, str(folder): PLACE})
    return Mirror(
        Store(PLACE), PLACE, folder, tmp_path / name / "seen.json", addresses, NoProgress(), media=media
    )


def run(scratch: Path, every: float = 30.0) -> AbstractContextManager[Placed]:
    """A run at the film and the work folder of the bucket."""
    return staged(FILM, PLACE, scratch, progress=NoProgress(), every=every)


@pytest.fixture
def side(bucket: Bucket, tmp_path: Path) -> Mirror:
    """The copy of the work folder, which is empty."""
    made = mirror(tmp_path)
    made.bring_down()
    return made


def lines(*keys: str) -> str:
    return "".join(f'{{"key": "{key}"}}\n' for key in keys)


FILM_ID = FilmId("x.mp4", "f" * 32, 60.0)
MAKER = Maker("Stage II", "fake", "fake", "1")


def cue(start: float, text: str) -> Cue:
    name, made = f"s{round(start * 1000):08d}", Provenance((MAKER,), "p", 0)
    return Cue(name, name, Interval(start, start + 3), text, candidates=(text,), chosen=0, provenance=made)


def track(*texts: str) -> Track:
    return Track(FILM_ID, "en", (MAKER,), "0", tuple(cue(5.0 * i, text) for i, text in enumerate(texts)))


def edited(text: str, before: str, after: str) -> str:
    """The JSON of a track in which a person put other words for a line."""
    tree = json.loads(text)
    for line in tree["cues"]:
        if line["text"] == before:
            line["text"] = after
    return json.dumps(tree)


def described(bucket: Bucket, tmp_path: Path, *texts: str) -> tuple[Mirror, Path]:
    """A film that was described before with these lines (none: never) and is again: its copy here, with a
    track of its own, and a folder with the track and scripts as they are in the bucket."""
    before = tmp_path / "before"
    before.mkdir()
    if texts:
        save_track(track(*texts), before, "x.mp4")
    for file in before.iterdir():
        bucket.put(file.name, file.read_bytes())
    side = mirror(tmp_path)
    side.bring_down()
    save_track(track("One anew.", "Two anew."), side.folder, "x.mp4")
    return side, before


def test_a_run_finds_what_is_there_and_sends_what_it_makes(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("stage1.jsonl", lines("a"))
    bucket.put("cast/one.jpg", b"picture")
    bucket.put("x.described.mp4", b"rendered")
    bucket.put("worksheet.html", b"drawn")
    side = mirror(tmp_path)
    side.bring_down()
    assert (side.folder / "stage1.jsonl").read_text() == lines("a")
    assert (side.folder / "cast/one.jpg").read_bytes() == b"picture"
    assert not (side.folder / "x.described.mp4").exists(), "it is not needed to describe"
    assert not (side.folder / "worksheet.html").exists(), "it is drawn anew"
    assert not side.unsent
    (side.folder / "stage1.jsonl").write_text(lines("a", "b") + '{"key": "ha')
    (side.folder / "frames.pack").write_bytes(b"frames")
    (side.folder / "worksheet.html").write_bytes(b"drawn anew")
    (side.folder / "x.described.mp4").write_bytes(b"rendered anew")
    side.sync()
    assert bucket.get("stage1.jsonl") == lines("a", "b"), "a half-written line waits"
    assert bucket.get("x.described.mp4") == "rendered anew"
    assert bucket.get("worksheet.html") == "drawn anew"
    assert "frames.pack" not in bucket.names


THEIRS = [
    "stage1.jsonl", "log.txt", "new.json", "settings.json", "x.mix.mp3", "sheet/line-1.png", "track.json",
    "scripts.json", "x.ad.srt", "done.json",
]  # fmt: skip


@pytest.mark.parametrize("name", THEIRS)
@pytest.mark.parametrize("also_here", [False, True])
def test_what_others_write_stays_alone(bucket: Bucket, tmp_path: Path, name: str, also_here: bool) -> None:
    _, before = described(bucket, tmp_path, "One.", "Two.")
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
    for one in {"track.json", "scripts.json", "x.ad.srt", "x.ad.vtt"} - {name}:
        assert bucket.get(one) == (before / one).read_text(), "track and scripts go up together or not at all"
    for machine in ("b", "c"):
        again = mirror(tmp_path, name=machine, media=True)
        again.bring_down()
        assert (again.folder / "stage2.jsonl").read_text() == lines("paid")
        assert name == "sheet/line-1.png" or (again.folder / name).read_text() == "theirs\n"
        again.sync()
        assert bucket.get(name) == "theirs\n"
        assert not again.unsent


def test_a_sending_whose_answer_is_lost_is_not_taken_for_that_of_others(
    bucket: Bucket, side: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_what_others_remove_stays_removed_and_what_this_run_does(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("old.json", "1")
    bucket.put("note.txt", "a person's")
    side = mirror(tmp_path)
    side.bring_down()
    (side.folder / "passing.json").write_text("x")
    side.sync()
    bucket.remove("old.json")
    (side.folder / "passing.json").unlink()
    (side.folder / "note.txt").unlink()
    side.sync()
    assert bucket.names == ["note.txt"], "only what this very run sent is removed"
    (side.folder / "stage1.jsonl").write_text(lines("a"))
    side.sync()
    bucket.remove("stage1.jsonl")
    side.sync()
    assert bucket.names == ["note.txt"], "untouched since: it stays removed"
    (side.folder / "stage1.jsonl").write_text(lines("a", "b"))
    side.sync()
    assert bucket.get("stage1.jsonl") == lines("a", "b"), "it is there anew where the run goes on writing it"


@pytest.mark.parametrize("name", ["../out.json", "a/../../out.json", "/etc/x", "a//b"])
def test_a_name_that_leads_elsewhere_is_not_brought(bucket: Bucket, tmp_path: Path, name: str) -> None:
    store = fsspec.filesystem("memory").store
    store[f"/ad/x.shotad/{name}"] = store["/films/x.mp4"]
    side = mirror(tmp_path)
    side.bring_down()
    assert list(side.folder.rglob("*.json")) == []
    assert not (tmp_path / "a" / "out.json").exists()


def test_a_link_is_not_followed_out_of_the_folder(
    bucket: Bucket, side: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (side.folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    side.sync()
    assert bucket.names == []
    # Nothing is written twice.
    (side.folder / "shots.json").write_text("{}")
    side.sync()
    monkeypatch.setattr(Store, "write", lambda *_, **__: pytest.fail("written again"))
    side.sync()
    again = mirror(tmp_path)
    monkeypatch.setattr(Store, "read", lambda *_, **__: pytest.fail("fetched again"))
    again.bring_down()
    again.sync()


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


@pytest.fixture
def leases_of_two(bucket: Bucket) -> tuple[Lease, Lease]:
    """Those of two runs on one folder; the first holds it."""
    store = Store(PLACE)
    first, second = Lease(store, PLACE, 90.0), Lease(store, PLACE, 90.0)
    first.take()
    return first, second


def test_a_lease_tells_two_machines_apart(bucket: Bucket, leases_of_two: tuple[Lease, Lease]) -> None:
    first, second = leases_of_two
    with pytest.raises(FolderInUse, match="is being written by") as caught:
        second.take()
    assert "its hold ends in" in caught.value.hint
    bucket.remove(NAME)
    first.renew()  # a person removed it
    first.release()
    assert bucket.names == []
    second.take()
    with pytest.raises(FolderInUse):
        first.renew()


def test_a_lease_ends_when_it_is_not_renewed_and_with_its_process(
    bucket: Bucket, leases_of_two: tuple[Lease, Lease], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = leases_of_two
    with monkeypatch.context() as patch:
        patch.setattr(Store, "age", lambda *_: 91.0)
        second.take()
        with pytest.raises(FolderInUse):
            first.renew()
    first.release()
    assert bucket.names == [NAME], "the lease of another is left alone"
    second.renew()
    staging._own.clear()  # a process that has ended here
    first.take()


def wait_until(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not done():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_run_sends_as_it_goes_alone_and_leaves_nothing_on_scratch(bucket: Bucket, tmp_path: Path) -> None:
    with run(tmp_path, every=0.02) as here:
        assert here.film.read_bytes() == b"film" * 100
        assert (here.film.name, here.folder.name) == ("x.mp4", "x.shotad")
        assert NAME in bucket.names
        (here.folder / "stage1.jsonl").write_text(lines("a"))
        wait_until(lambda: "stage1.jsonl" in bucket.names)
        with pytest.raises(FolderInUse), run(tmp_path):
            pytest.fail("two at a time")
        (here.folder / "track.json").write_text("{}")
    assert bucket.names == ["stage1.jsonl", "track.json"]
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_failed_run_sends_what_it_has_a_stopped_one_leaves_its_film(bucket: Bucket, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), run(tmp_path) as here:
        raise KeyboardInterrupt
    assert here.film.exists()
    assert bucket.names == []
    going = run(tmp_path)
    (going.__enter__().folder / "stage1.jsonl").write_text(lines("a"))
    assert not going.__exit__(ValueError, ValueError("broken"), None)
    assert bucket.names == ["stage1.jsonl"]
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_who_lost_the_lease_sends_nothing_more(bucket: Bucket, tmp_path: Path) -> None:
    other = {"token": "o", "host": "h2", "machine": "m", "process": 1, "seconds": 90}
    going = run(tmp_path, every=60)
    here = going.__enter__()
    (here.folder / "track.json").write_text("{}")
    bucket.put(NAME, json.dumps(other))
    with pytest.raises(FolderInUse, match="h2"):
        going.__exit__(None, None, None)
    assert bucket.names == [NAME]
    assert (here.folder / "track.json").exists(), "what could not be sent is kept"


def test_disk_trouble_is_told_and_not_fatal(
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
    keeper = LeaseKeeper(lease, side, 0.01, front)
    keeper.__enter__()
    wait_until(lambda: bool(said))
    full.clear()
    wait_until(lambda: "shots.json" in bucket.names)
    full.append(True)
    with pytest.raises(StorageError, match=r"cannot be used: No space left.*kept in"):
        keeper.__exit__(None, None, None)


def test_errors_and_settings_name_places_that_are_there_at_the_end(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("track.json", "{broken")
    with (
        pytest.raises(ScriptError, match=r"memory://ad/x\.shotad/track\.json, line 1") as caught,
        run(tmp_path) as here,
    ):
        load_track(here.folder / "track.json")
    assert str(tmp_path) not in f"{caught.value}{caught.value.what}{caught.value.hint}"
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
