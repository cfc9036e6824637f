"""Against an S3 server of our own: conditions, parts, what can go wrong with a network, the web, a whole batch."""

from __future__ import annotations

import http.server
import itertools
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from shotad.batch import describe_film, find_films, read_text
from shotad.batch.downloads import fetch_film
from shotad.batch.jobs import FilmJob
from shotad.batch.staging import staged
from shotad.batch.store import Store, WriteRefused, check_target
from shotad.core import Config, NoProgress
from shotad.core.errors import FolderInUse, StorageError
from shotad.core.settings import load_settings
from tests.cli.program import Shotad
from tests.conftest import needed
from tests.media import FilmSpec, make_film
from tests.shotad_process import PLAIN

needed("s3fs", "moto")
pytestmark = pytest.mark.slow

KEYS = {
    "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hidden-secret", "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}  # fmt: skip


CARELESS = "careless"
"""A bucket that takes writes under conditions, and pays no heed to these."""


class Server:
    """An S3 server that can be stopped and started again, with what it holds."""

    def __init__(self) -> None:
        import boto3

        self.port = 0
        self.start()
        self.client = boto3.client("s3", endpoint_url=self.url)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve, at the same address as before."""
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        moto = DomainDispatcherApplication(create_backend_app)

        def app(environ: dict[str, Any], start_response: Any) -> Any:
            if environ["PATH_INFO"].startswith(f"/{CARELESS}/"):
                for condition in ("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH"):
                    environ.pop(condition, None)
            return moto(environ, start_response)

        self._http = make_server("127.0.0.1", self.port, app, threaded=True)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()
        self.port = self._http.server_port

    def stop(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def post(self, path: str, data: bytes = b"") -> None:
        """Tell the server itself something: ``reset``."""
        asked = urllib.request.Request(f"{self.url}/moto-api/{path}", data, {"Content-Type": "text/plain"})
        urllib.request.urlopen(asked).close()

    def put(self, name: str, data: bytes | str, bucket: str = "described") -> None:
        body = data.encode() if isinstance(data, str) else data
        self.client.put_object(Bucket=bucket, Key=name, Body=body)

    def replace(self, name: str, data: bytes, bucket: str) -> None:
        """As `put`, with a mark that is known: moto computes it late, and wrongly while others read."""
        from moto.core import DEFAULT_ACCOUNT_ID
        from moto.s3.models import s3_backends

        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].put_object(bucket, name, data, etag=f"{len(data):032x}")

    def get(self, name: str, bucket: str = "described") -> bytes:
        data: bytes = self.client.get_object(Bucket=bucket, Key=name)["Body"].read()
        return data

    def names(self, bucket: str = "described") -> list[str]:
        return [one["Key"] for one in self.client.list_objects_v2(Bucket=bucket).get("Contents", [])]


def forget_connections() -> None:
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture(scope="module")
def started() -> Iterator[Server]:
    """A server, and an environment that names it, with keys that it takes."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("AWS_", "FSSPEC_")):
                patch.delenv(name)
        for name, value in KEYS.items():
            patch.setenv(name, value)
        server = Server()
        patch.setenv("AWS_ENDPOINT_URL", server.url)
        forget_connections()
        yield server
        server.stop()
        forget_connections()


FILM = bytes(range(256)) * 4096
PART = 8 << 20
"""Bytes of one part of a film that is fetched."""
LARGE = FILM * 65
"""A film that is fetched in nine parts, six of them side by side."""
FOLDER = "s3://described/x.shotad"


@pytest.fixture
def server(started: Server) -> Server:
    started.post("reset")
    for bucket in ("films", "described", CARELESS):
        started.client.create_bucket(Bucket=bucket)
    started.put("in/a film ü.mp4", FILM, "films")
    return started


class Counting(Store):
    """A store that knows which parts of a film were fetched, and calls ``before`` each with its number."""

    def __init__(self, place: str, **more: Any) -> None:
        super().__init__(place, **more)
        self.parts: list[int] = []
        self.before: Callable[[int], None] = lambda part: None

    def read(self, place: str, start: int | None = None, end: int | None = None) -> bytes:
        if start is not None:
            self.before(start // PART)
        data = super().read(place, start, end)
        if start is not None:
            self.parts.append(start // PART)
        return data


PLACE = "s3://films/in/a film ü.mp4"


def staging_of(place: str, folder: str, scratch: Path, **more: Any) -> AbstractContextManager[Any]:
    return staged(place, folder, scratch, progress=NoProgress(), **more)


def test_conditions_that_do_not_hold_are_refused_and_ages_told_by_the_store(server: Server) -> None:
    store, place = Store(FOLDER), f"{FOLDER}/track.json"
    first = store.write(place, b"1", over=None)
    with pytest.raises(WriteRefused):
        store.write(place, b"2", over=None)
    second = store.write(place, b"2", over=first)
    with pytest.raises(WriteRefused):
        store.write(place, b"3", over=first)
    assert store.find(place) is not None
    assert store.write(place, b"3", over=second) != second
    store.check_conditions(place)
    assert store.keeps_conditions
    assert server.get("x.shotad/track.json") == b"3", "asking changes nothing"
    store.remove(place)
    with pytest.raises(WriteRefused):
        store.write(place, b"4", over=second)
    # Ages are told by the clock of the store.
    store.write(place, b"5", over=None)
    age = store.age(place)
    assert age is not None
    assert -2 <= age <= 30
    assert store.age(f"{FOLDER}/none") is None


LEASE = ".shotad.lease"


def test_in_a_store_that_knows_no_conditions_two_runs_are_kept_apart(server: Server, tmp_path: Path) -> None:
    folder = f"s3://{CARELESS}/x.shotad"
    with staging_of(PLACE, folder, tmp_path / "a"):
        with pytest.raises(FolderInUse), staging_of(PLACE, folder, tmp_path / "b"):
            pytest.fail("two at a time")
        store = Store(folder)
        store.check_conditions(f"{folder}/{LEASE}")
        assert not store.keeps_conditions
    mark = store.write(f"{folder}/a.json", b"1", over=None)
    with pytest.raises(WriteRefused):
        store.write(f"{folder}/a.json", b"2", over=None)
    assert store.write(f"{folder}/a.json", b"2", over=mark)


KILLED = """
import os, signal, sys
from shotad.batch.staging import staged
from shotad.core.progress import NoProgress
film, folder, scratch = sys.argv[1:]
from pathlib import Path
with staged(film, folder, Path(scratch), progress=NoProgress()) as here:
    (here.folder / "stage1.jsonl").write_text('{"key": "paid"}\\n')
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_gone_on_with_at_once(server: Server, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, PLACE, FOLDER, str(tmp_path)]
    killed = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert killed.stderr is not None
    said = killed.stderr.read()
    until = time.monotonic() + 60
    while os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        assert time.monotonic() < until, said
    # The dead process is not yet cleared away by us, its parent.
    assert server.names() == [f"x.shotad/{LEASE}"], said
    with staging_of(PLACE, FOLDER, tmp_path) as here:
        assert (here.folder / "stage1.jsonl").read_text() == '{"key": "paid"}\n'
    assert server.names() == ["x.shotad/stage1.jsonl"]
    assert killed.wait() == -signal.SIGKILL
    killed.stderr.close()


def test_what_was_rendered_keeps_its_time_by_which_it_is_known(server: Server, tmp_path: Path) -> None:
    with staging_of(PLACE, FOLDER, tmp_path) as here:
        (here.folder / "x.mix.mp3").write_bytes(b"sound")
        state = (here.folder / "x.mix.mp3").stat()
    with staging_of(PLACE, FOLDER, tmp_path, media=True) as here:
        again = (here.folder / "x.mix.mp3").stat()
        assert (again.st_size, again.st_mtime_ns) == (state.st_size, state.st_mtime_ns)
    with staging_of(PLACE, FOLDER, tmp_path) as here:
        assert not (here.folder / "x.mix.mp3").exists()
    assert server.get("x.shotad/x.mix.mp3") == b"sound"


def test_a_large_file_goes_in_parts(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "x.described.mp4"
    file.write_bytes(os.urandom(1 << 20) * 33)
    store, place, counted = Store(FOLDER), f"{FOLDER}/x.described.mp4", [0.0]
    mark = store.send(file, place, over=None, note={"n": "1"}, done=counted.append)
    assert mark.endswith("-3"), "the mark of an object that was sent in three parts"
    assert sum(counted) == 33 << 20
    assert server.get("x.shotad/x.described.mp4") == file.read_bytes()
    assert store.note_of(place) == {"n": "1"}
    with pytest.raises(WriteRefused):
        store.send(file, place, over=None, note={}, done=lambda _: None)


@pytest.fixture
def large_film(server: Server) -> bytes:
    """The film is the large one."""
    server.put("in/a film ü.mp4", LARGE, "films")
    return LARGE


@pytest.mark.usefixtures("large_film")
def test_a_fetch_that_the_network_breaks_off_goes_on_where_it_was(server: Server, tmp_path: Path) -> None:
    store = Counting(PLACE, patience=0.0)

    def cut_off(part: int) -> None:
        # Two are on the disk when this one is asked for, and six are under way.
        if part == 8:
            server.stop()

    store.before = cut_off
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        fetch_film(store, PLACE, tmp_path / "x.mp4")
    assert "what is done is kept" in caught.value.hint
    assert not (tmp_path / "x.mp4").exists()
    server.start()
    store.before = lambda part: None
    fetch_film(store, PLACE, tmp_path / "x.mp4")
    assert (tmp_path / "x.mp4").read_bytes() == LARGE
    assert set(store.parts) == set(range(9))
    assert [store.parts.count(part) for part in (0, 1)] == [1, 1], "what was here was not fetched again"
    fetched = len(store.parts)
    fetch_film(store, PLACE, tmp_path / "x.mp4")
    assert len(store.parts) == fetched, "the film that is here is not fetched again"


@pytest.mark.usefixtures("large_film")
@pytest.mark.parametrize(
    "other", [LARGE[::-1], LARGE[: 3 * PART], FILM], ids=["other", "shorter", "one part"]
)
def test_a_film_that_changes_while_it_is_fetched_is_fetched_again(
    server: Server, tmp_path: Path, other: bytes
) -> None:
    store = Counting(PLACE)

    def change(part: int) -> None:
        if part == 7:
            server.replace("in/a film ü.mp4", other, "films")

    store.before = change
    fetch_film(store, PLACE, tmp_path / "x.mp4")
    assert (tmp_path / "x.mp4").read_bytes() == other


@pytest.mark.usefixtures("large_film")
def test_a_film_that_changes_each_time_is_not_whole_yet(server: Server, tmp_path: Path) -> None:
    store, sizes = Counting(PLACE), itertools.count(8, -1)

    def shrink(part: int) -> None:
        if part == 2:
            parts_left = next(sizes)
            server.replace("in/a film ü.mp4", LARGE[: parts_left * PART], "films")

    store.before = shrink
    with pytest.raises(StorageError, match="it changed each time"):
        fetch_film(store, PLACE, tmp_path / "x.mp4")


@pytest.mark.usefixtures("large_film")
def test_a_film_that_does_not_fit_is_refused_and_left_films_make_room(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = [(512 << 20) + len(LARGE) - 1]

    class Usage:
        @property
        def free(self) -> int:
            return free[0] + (0 if left.exists() else 1)

    left = tmp_path / f"old-{'0' * 16}" / "film"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage())
    left.mkdir(parents=True)
    left.parent.with_suffix(".lock").touch()
    with staging_of(PLACE, str(tmp_path / "local"), tmp_path):
        assert not left.exists(), "a film of a run that has ended went"
    free[0] -= 1
    with (
        pytest.raises(StorageError, match=r"does not fit on the disk of .*: 68.2 MB are to be fetched"),
        staging_of(PLACE, str(tmp_path / "local"), tmp_path),
    ):
        pytest.fail("fetched")


@pytest.mark.parametrize(("place", "said"), [
    ("s3://films/none.mp4", r"There is no s3://films/none\.mp4"),
    ("s3://no-such/x.mp4", "There is no bucket no-such"),
    ("s3://A_b c!/x.mp4", "Invalid bucket name"),
])  # fmt: skip
def test_what_is_not_there_is_told_by_its_part(server: Server, tmp_path: Path, place: str, said: str) -> None:
    for bring in (
        lambda: find_films([place]),
        lambda: staging_of(place, str(tmp_path), tmp_path).__enter__(),
    ):
        with pytest.raises(StorageError, match=said):
            bring()


def test_a_bucket_that_is_not_there_cannot_be_written(server: Server, tmp_path: Path) -> None:
    place, file = "s3://no-such/x.shotad", tmp_path / "x.mp4"
    file.write_bytes(b"film")
    for write in (
        lambda: Store(place).write(f"{place}/a.json", b"1", over=None),
        lambda: Store(place).send(file, f"{place}/x.mp4", over=None, note={}, done=lambda _: None),
        lambda: check_target(place),
    ):
        with pytest.raises(StorageError, match="There is no bucket no-such"):
            write()
    check_target("s3://described/x.shotad")


def test_who_may_not_is_told_so_without_any_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.post("reset-auth", b"0")
    try:
        for ask in (lambda: find_films(["s3://films/in"]), lambda: read_text(PLACE)):
            with pytest.raises(StorageError, match="not accepted|denied") as caught:
                ask()
            assert "hidden-secret" not in f"{caught.value}{caught.value.__cause__}"
    finally:
        server.post("reset-auth", b"inf")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    forget_connections()
    with pytest.raises(StorageError, match=r"There are no credentials for s3://films.*AWS_PROFILE"):
        find_films(["s3://films/in"])
    forget_connections()


@pytest.mark.usefixtures("large_film")
def test_a_film_is_read_from_a_signed_web_address(server: Server, tmp_path: Path) -> None:
    key = {"Bucket": "films", "Key": "in/a film ü.mp4"}
    place = server.client.generate_presigned_url("get_object", Params=key)
    assert "Signature" in place
    with staging_of(place, str(tmp_path / "ad"), tmp_path / "scratch") as here:
        assert here.film.name == "a film ü.mp4"
        assert here.film.read_bytes() == LARGE
    with pytest.raises(StorageError, match="not there|denied|There is no") as caught:
        fetch_film(Store(place), place.replace("a%20film", "none"), tmp_path / "y.mp4")
    assert place.partition("Signature=")[2][:12] not in str(caught.value)


class Plain(http.server.SimpleHTTPRequestHandler):
    """A web server that knows no ranges."""

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "a film.mp4").write_bytes(LARGE)
    handler = partial(Plain, directory=str(tmp_path / "web"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as plain:
        thread = threading.Thread(target=plain.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{plain.server_port}"
        plain.shutdown()
        thread.join()


def test_a_web_server_without_ranges_gives_one_stream(web: str, tmp_path: Path) -> None:
    place = f"{web}/a%20film.mp4"
    store = Counting(place)
    (film,) = find_films([place])
    assert film.size == len(LARGE)
    fetch_film(store, place, tmp_path / "x.mp4")
    assert (tmp_path / "x.mp4").read_bytes() == LARGE
    assert store.parts == []
    with pytest.raises(StorageError, match=r"There is no http://127\.0\.0\.1:\d+/none\.mp4"):
        find_films([f"{web}/none.mp4"])


def test_a_network_may_return(server: Server) -> None:
    store = Store(PLACE, patience=60.0)
    server.stop()
    timer = threading.Timer(0.5, server.start)
    timer.start()
    assert store.read(PLACE, 0, 4) == FILM[:4]
    timer.join()


SETTINGS = ("engine=fake", *PLAIN)
PATHS_OR_TIMES = {"log.txt", "settings.json", "done.json"}


def batch(shotad: Shotad, scratch: Path) -> tuple[int, dict[str, str], str]:
    """The exit code of a run, what became of each film, and all that was said."""
    words = ["--scratch", scratch / "scratch", "--report", scratch / "report.json", "--jobs", 1, "--no-sheet"]
    words += [word for setting in SETTINGS for word in ("--set", setting)]
    done = shotad("batch", "s3://films/in", "--out", "s3://described/ad", "--min-free", "off", *words)
    said = done.out + done.err
    assert (scratch / "report.json").exists(), said
    rows = json.loads((scratch / "report.json").read_text())["films"]
    return done.code, {row["film"]: row["state"] for row in rows}, said


def test_a_batch_from_bucket_to_bucket_is_as_on_disk_and_done_once(
    server: Server, shotad: Shotad, tmp_path: Path
) -> None:
    film = make_film(FilmSpec(frames=120, cuts=(60,))).path
    name = f"in/a film ü{film.suffix}"
    server.client.delete_object(Bucket="films", Key="in/a film ü.mp4")
    server.put(name, film.read_bytes(), "films")
    server.put("in/broken.mp4", "no film", "films")
    code, states, said = batch(shotad, tmp_path)
    assert states == {f"s3://films/{name}": "done", "s3://films/in/broken.mp4": "failed"}, said
    assert code != 0, "a film failed"
    assert "hidden-secret" not in said + (tmp_path / "report.json").read_text()

    local = tmp_path / f"a film ü{film.suffix}"
    local.write_bytes(film.read_bytes())
    config = load_settings(Config, (), SETTINGS)
    result = describe_film(FilmJob(str(local), str(tmp_path / "ad"), config, sheet=False), NoProgress())
    assert result.state == "done", result.error
    there = {one.removeprefix("ad/a film ü.shotad/"): one for one in server.names() if "/a film" in one}
    here = {path.relative_to(tmp_path / "ad").as_posix(): path for path in (tmp_path / "ad").rglob("*")}
    kept = {one for one, path in here.items() if path.is_file() and not one.startswith((".", "frames."))}
    assert set(there) == kept
    for one in kept - PATHS_OR_TIMES:
        assert server.get(there[one]) == here[one].read_bytes(), one
    kind = server.client.head_object(Bucket="described", Key=there["a film ü.ad.vtt"])["ContentType"]
    assert kind == "text/vtt; charset=utf-8"

    def written() -> dict[str, Any]:
        heads = {one: server.client.head_object(Bucket="described", Key=one) for one in there.values()}
        return {one: head["LastModified"] for one, head in heads.items()}

    before = written()
    _, states, said = batch(shotad, tmp_path)
    assert states[f"s3://films/{name}"] == "skipped", said
    assert written() == before
    assert [path for path in (tmp_path / "scratch").rglob("*") if path.name != ".lock"] == []


def test_a_backslash_is_a_letter_of_a_name_like_others(server: Server, tmp_path: Path) -> None:
    place = "s3://described/back\\slash.shotad"
    for text in ("1", "2"):
        with staging_of(PLACE, place, tmp_path / text) as here:
            assert [one.name for one in here.folder.glob("back*")] == ["back\\slash.ad.vtt"] * (text == "2")
            (here.folder / "back\\slash.ad.vtt").write_text(text)
    assert server.get("back\\slash.shotad/back\\slash.ad.vtt") == b"2"
