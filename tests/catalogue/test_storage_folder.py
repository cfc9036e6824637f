"""A work folder in a store and its copy here: what comes down, what goes up, and what others wrote meanwhile."""

from __future__ import annotations

import errno
import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from shotad.batch import describe_film
from shotad.batch.jobs import FilmJob
from shotad.batch.mirror import Mirror
from shotad.batch.places import Addresses
from shotad.batch.staging import staged
from shotad.batch.store import Store
from shotad.core import (
    Config,
    Interval,
    NoProgress,
    Progress,
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
from tests.catalogue.meddled_store import MeddledStore, meddled
from tests.media import FilmSpec, make_film
from tests.runs import Heard
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
def store() -> Iterator[type[MeddledStore]]:
    """The store in memory, in whose requests the test may meddle."""
    with meddled() as made:
        yield made


@pytest.fixture
def bucket(store: type[MeddledStore]) -> Bucket:
    """A bucket in memory with one film and no work folder."""
    fsspec.filesystem("memory").pipe_file("/films/x.mp4", b"film" * 100)
    return Bucket()


def mirror(tmp_path: Path, *, media: bool = False, name: str = "a") -> Mirror:
    folder = tmp_path / name / "x.shotad"
    addresses = Addresses({str(tmp_path / "x.mp4"): FILM, str(folder): PLACE})
    return Mirror(
        Store(PLACE), PLACE, folder, tmp_path / name / "seen.json", addresses, NoProgress(), media=media
    )


def run(scratch: Path, every: float = 30.0, progress: Progress | None = None) -> AbstractContextManager[Any]:
    """A run at the film and the work folder of the bucket."""
    return staged(FILM, PLACE, scratch, progress=progress or NoProgress(), every=every)


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


@pytest.mark.parametrize(
    "error", [PermissionError(), OSError(errno.ECONNRESET, "reset")], ids=["refused", "reset"]
)
def test_a_sending_whose_answer_is_lost_is_not_taken_for_that_of_others(
    bucket: Bucket, store: type[MeddledStore], side: Mirror, error: OSError
) -> None:
    """What is refused ends the sending, and after a connection that was reset the same is asked again."""
    for name in ("stage1.jsonl", "shots.json", "track.json"):
        (side.folder / name).write_text(lines("a"))
        answers: list[OSError] = [error]

        def lose(path: str, answers: list[OSError] = answers) -> None:
            if answers:
                raise answers.pop()

        store.after_write = staticmethod(lose)
        if isinstance(error, PermissionError):
            with pytest.raises(StorageError, match="denied"):
                side.sync()
        else:
            side.sync()
        assert not answers
    store.let_all_pass()
    (side.folder / "stage1.jsonl").write_text(lines("a", "b"))
    side.sync()
    assert bucket.get("stage1.jsonl") == lines("a", "b")
    assert not side.unsent


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("before", [(), ("One.", "Two.")])
def test_a_run_may_be_killed_before_any_request(
    bucket: Bucket, store: type[MeddledStore], tmp_path: Path, before: tuple[str, ...]
) -> None:
    """Whoever goes on, here or elsewhere, finds no record lost, no edit that nobody made, and no film that is
    marked as done and is not."""
    ends = 0
    while True:
        home = tmp_path / str(ends)
        home.mkdir()
        for one in bucket.names:
            bucket.remove(one)
        side, _ = described(bucket, home, *before)
        for name in ("stage1.jsonl", "stage2.jsonl", "log.txt"):
            (side.folder / name).write_text(lines("a", "b"))
        (side.folder / "done.json").write_text("{}")
        notes, asked = side.notes.read_bytes(), 0

        def count(path: str, end: int = ends) -> None:
            nonlocal asked
            asked += 1
            if asked > end:
                raise Killed

        store.before_write = staticmethod(count)
        try:
            side.sync()
        except Killed:
            # What is noted of a sending is written after it.
            side.notes.write_bytes(notes)
        else:
            break
        finally:
            store.let_all_pass()
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
    bucket: Bucket, store: type[MeddledStore], side: Mirror, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (side.folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    side.sync()
    assert bucket.names == []
    # Nothing is written twice.
    (side.folder / "shots.json").write_text("{}")
    side.sync()
    store.before_write = staticmethod(lambda path: pytest.fail("written again"))
    side.sync()
    again = mirror(tmp_path)
    store.before_read = staticmethod(lambda path: pytest.fail("fetched again"))
    again.bring_down()
    again.sync()


def test_a_person_who_writes_between_the_look_and_the_sending_is_seen(
    bucket: Bucket, store: type[MeddledStore], tmp_path: Path
) -> None:
    side, _ = described(bucket, tmp_path, "One.", "Two.")
    waiting = [True]

    def write_before(path: str) -> None:
        """The last look at the track finds it as the person has just written it."""
        if path.endswith("track.json") and waiting:
            waiting.clear()
            bucket.put("track.json", edited(bucket.get("track.json"), "One.", "One by hand."))

    store.before_look = staticmethod(write_before)
    with pytest.raises(StorageError, match=r"track\.json was changed by others"):
        side.sync()
    assert "One by hand." in bucket.get("track.json")
    again = mirror(tmp_path)
    again.bring_down()
    assert [line.text for line in load_track(again.folder / "track.json").cues] == ["One by hand.", "Two."]
    assert not edited_scripts(again.folder, "x.mp4"), "only the track is somebody's work"


LEASE = ".shotad.lease"


def test_a_lease_keeps_two_runs_apart_and_is_renewed(bucket: Bucket, tmp_path: Path) -> None:
    with run(tmp_path / "a", every=0.02):
        with pytest.raises(FolderInUse, match="is being written by") as caught, run(tmp_path / "b"):
            pytest.fail("two at a time")
        assert "its hold ends in" in caught.value.hint
        bucket.remove(LEASE)  # a person removed it
        wait_until(lambda: LEASE in bucket.names)
    assert bucket.names == []
    with run(tmp_path / "b"):
        assert bucket.names == [LEASE]


def test_a_lease_ends_when_it_is_not_renewed_and_with_its_process(bucket: Bucket, tmp_path: Path) -> None:
    other = {"token": "o", "host": "h2", "machine": "m", "process": 1, "seconds": 90}
    with run(tmp_path):
        ours = json.loads(bucket.get(LEASE))
    still_held = (other, {**ours, "process": 1, "token": "p"})
    for lease in still_held:
        bucket.put(LEASE, json.dumps(lease))
        with pytest.raises(FolderInUse), run(tmp_path):
            pytest.fail("it is held")
    # Not renewed in time; of this process, which has let go of it; of one that is gone; damaged
    for lease in ({**other, "seconds": 0.001}, ours, {**ours, "process": 1 << 30, "token": "q"}, "{"):
        bucket.put(LEASE, lease if isinstance(lease, str) else json.dumps(lease))
        time.sleep(0.01)
        with run(tmp_path):
            assert json.loads(bucket.get(LEASE))["process"] == ours["process"]
        assert bucket.names == []


def wait_until(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not done():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_run_sends_as_it_goes_alone_and_leaves_nothing_on_scratch(bucket: Bucket, tmp_path: Path) -> None:
    with run(tmp_path, every=0.02) as here:
        assert here.film.read_bytes() == b"film" * 100
        assert (here.film.name, here.folder.name) == ("x.mp4", "x.shotad")
        assert LEASE in bucket.names
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


def test_a_run_whose_access_ends_keeps_what_it_has_and_the_next_sends_it(
    bucket: Bucket, store: type[MeddledStore], tmp_path: Path
) -> None:
    def refuse(path: str) -> None:
        raise PermissionError("the key has expired")

    going = run(tmp_path)
    here = going.__enter__()
    (here.folder / "stage2.jsonl").write_text(lines("paid"))
    store.before_write = staticmethod(refuse)
    with pytest.raises(StorageError, match=r"access is denied.*kept in .*run again on this machine"):
        going.__exit__(None, None, None)
    assert here.film.exists()
    store.let_all_pass()
    with run(tmp_path) as here:
        assert (here.folder / "stage2.jsonl").read_text() == lines("paid")
    assert bucket.get("stage2.jsonl") == lines("paid")
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_who_lost_the_lease_sends_nothing_more(bucket: Bucket, tmp_path: Path) -> None:
    other = {"token": "o", "host": "h2", "machine": "m", "process": 1, "seconds": 90}
    going = run(tmp_path, every=60)
    here = going.__enter__()
    (here.folder / "track.json").write_text("{}")
    bucket.put(LEASE, json.dumps(other))
    with pytest.raises(FolderInUse, match="h2"):
        going.__exit__(None, None, None)
    assert bucket.names == [LEASE]
    assert (here.folder / "track.json").exists(), "what could not be sent is kept"


def test_disk_trouble_is_told_and_not_fatal(
    bucket: Bucket, store: type[MeddledStore], tmp_path: Path
) -> None:
    progress = Heard()
    going = run(tmp_path, 0.01, progress)
    here = going.__enter__()
    first, second = here.folder / "features.json", here.folder / "shots.json"

    def spoil(path: str) -> None:
        """Write both before they are sent; while the first is sent, the second becomes one that cannot be read."""
        if path.endswith(LEASE):
            if second.is_dir():
                second.rmdir()
            first.write_text("{}")
            second.write_text("{}")
        elif path.endswith(first.name):
            second.unlink()
            second.mkdir()

    store.after_write = staticmethod(spoil)
    wait_until(lambda: bool(progress.notes))
    assert "cannot be used: Is a directory. It is tried again" in progress.notes[0]
    store.after_write = staticmethod(lambda path: None)
    wait_until(lambda: "features.json" in bucket.names)
    if second.is_dir():
        second.rmdir()
    second.write_text("{}")
    wait_until(lambda: "shots.json" in bucket.names)
    store.after_write = staticmethod(spoil)
    with pytest.raises(StorageError, match=r"cannot be used: Is a directory.*kept in"):
        going.__exit__(None, None, None)


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
    bucket: Bucket, store: type[MeddledStore], tmp_path: Path
) -> None:
    films = fsspec.filesystem("memory")
    films.put_file(str(make_film(FilmSpec(frames=250, cuts=(60, 110, 200))).path), "/films/x.mp4")
    films.pipe_file("/films/x.vtt", b"WEBVTT\n\n00:08.000 --> 00:09.000\nWhere is the key?\n")
    films.pipe_file("/films/x.cast/cast.yaml", b"people: [{id: nora, name: Nora}]\n")
    config = load_settings(Config, (), ("engine=fake", *(set(PLAIN) - {"speech.source=none"})))
    job = FilmJob(FILM, PLACE, config, sheet=False, scratch=str(tmp_path / "scratch"))
    job = replace(job, subtitles="memory://films/x.vtt", cast="memory://films/x.cast")
    result = describe_film(job)
    assert result.state == "done", result.error
    assert "Where is the key?" in bucket.get("speech.json")
    line = next(cue for cue in json.loads(bucket.get("track.json"))["cues"] if cue["text"])["text"]
    leases: list[str] = []

    def edit(path: str) -> None:
        """Write the track by hand while the run renews its lease, before it sends anything."""
        if path.endswith(LEASE):
            leases.append(path)
            if len(leases) == 2:
                bucket.put("track.json", edited(bucket.get("track.json"), line, "By hand."))

    store.after_write = staticmethod(edit)
    result = describe_film(replace(job, sheet=True))
    assert result.again
    assert result.error is not None
    assert "track.json was changed by others" in result.error[0]
    store.let_all_pass()
    answers = bucket.get("stage2.jsonl")
    result = describe_film(replace(job, sheet=True))
    assert (result.state, result.edited) == ("done", 1)
    assert "By hand." in bucket.get("track.json")
    assert "By hand." in bucket.get("x.ad.vtt")
    assert bucket.get("stage2.jsonl") == answers, "nothing is asked twice"
    # A cast that is not there
    result = describe_film(replace(job, cast="memory://films/none.cast"))
    assert (result.kind, "none.cast" in str(result.error)) == ("StorageError", True)
