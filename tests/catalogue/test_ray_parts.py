"""Runs on a cluster, on one that is made of objects of this process: its address and nodes, what comes of
workers that are lost and of engines that fail, its servers, a forced run."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import psutil
import pytest

from shotad.batch import describe_film, describe_on_ray, load_ray_settings
from shotad.batch.jobs import FilmJob, FilmResult
from shotad.batch.ray.servers import Pool
from shotad.core import (
    Abilities,
    Clip,
    Config,
    Engine,
    Identity,
    Message,
    Reply,
    Request,
    ShotadError,
    load_config,
)
from shotad.core.engine import Stage
from shotad.core.errors import ConfigError, EngineError, UsageError
from shotad.core.settings import data_root
from shotad.engines.fake import FakeEngine
from shotad.script import load_track
from tests import fake_ray
from tests.bad_server import Act, BadServer, Seen, answer, status
from tests.conftest import ROOT
from tests.fake_ray import FakeNode, FakeRay, WorkerLost
from tests.media import FilmSpec, make_film
from tests.runs import Heard

NEEDS_RAY = 'pip install "shotad[ray]"'
SPEC = FilmSpec(frames=500, cuts=(100, 210, 330, 420))
FIRST, SECOND, THIRD = SLOTS = ("s00000200", "s00010240", "s00015360")
QUICK = (
    "engine=fake", "speech.source=none", "shots.detector=adaptive", "slots.find_credits=false", "scale.method=none",
    "frames.min_pixels=12544", "frames.max_pixels=25088",
)  # fmt: skip


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    return fake_ray.install(monkeypatch)


@dataclass
class Script:
    """What the engines of a test do, and what they were asked."""

    lose: list[str] = field(default_factory=list)
    """``STAGE-SLOT``: the worker is lost that is asked so; each entry counts once. ``start``: while one
    prepares the film."""
    fail: set[str] = field(default_factory=set)
    """``STAGE-SLOT``: the answer is an error."""
    broken: Sequence[str] = ()
    """Notes of films for which the engine fails as a whole."""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    """Stage, note of the film and slot of each call that was answered."""
    clips: list[Clip] = field(default_factory=list)
    """What Stage I was shown."""

    def has_to_lose(self, event: str) -> bool:
        if event in self.lose:
            self.lose.remove(event)
            return True
        return False


class Scripted(FakeEngine):
    """Does what the script of the test says."""

    script: ClassVar[Script]

    def __init__(self, config: Config, stage: Stage) -> None:
        super().__init__()
        self.stage, self.note = stage, config.prompt.note.strip()
        self.identity = Identity("scripted", "scripted", "1")
        # Stage II is asked with history, so its order counts.
        self.abilities = Abilities(accepts_images=True, converses=False, uses_history=True)

    @classmethod
    def for_stage(cls, config: Config, stage: Stage) -> Engine:
        return cls(config, stage)

    def ready_if_here(self) -> None:
        """Called when the film is prepared."""
        if self.script.has_to_lose("start"):
            raise WorkerLost

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        replies = []
        for request in requests:
            event = f"{self.stage}-{request.slot_id}"
            if self.script.has_to_lose(event):
                raise WorkerLost
            if self.note in self.script.broken:
                raise EngineError("The key is refused.", "Get another.")
            replies += super().generate([request])
            self.script.calls.append((self.stage, self.note, request.slot_id))
            if event in self.script.fail:
                replies[-1] = Reply("", "error", error=f"{request.slot_id} broke", calls=2)
            if request.clip is not None:
                self.script.clips.append(request.clip)
        return replies


@pytest.fixture
def script() -> Script:
    pytest.importorskip("pyarrow", reason=NEEDS_RAY)
    Scripted.script = Script()
    return Scripted.script


SCRIPTED = f"{__name__}:Scripted"


def job(folder: Path | str, note: str = "a", *assignments: str, **more: Any) -> FilmJob:
    """A film in three slots; its work folder is called as its note."""
    engines = (f"stage1.engine={SCRIPTED}", f"stage2.engine={SCRIPTED}")
    config = load_config(None, (*QUICK, *engines, f"prompt.note={note}", *assignments))
    film = more.pop("film", make_film(SPEC).path)
    return FilmJob(str(film), f"{folder}/{note}", config=config, **more)


def lost_film(name: str = "gone.mp4") -> FilmJob:
    """A film that is not there, with which no time is spent."""
    return FilmJob(f"/films/{name}", f"/out/{name}.shotad", config=load_config(None, ("engine=fake",)))


def records(folder: str) -> dict[str, bytes]:
    """The files of a work folder but the log and locks."""
    apart = ("log.txt", ".lock", ".track.lock")
    files = [path for path in Path(folder).rglob("*") if path.is_file() and path.name not in apart]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def line_states(result: FilmResult) -> list[tuple[str, str | None]]:
    """Status and reason of each line of the track."""
    return [(cue.status, cue.reason) for cue in load_track(Path(result.folder) / "track.json").cues]


# The cluster's address and nodes
SMALL_TEAMS = (
    "preparing.least=2", "preparing.most=4", "preparing.cpus=2", "looking.gpus=1", "writing.most=2",
    "writing.cpus=0.5",
)  # fmt: skip


@pytest.mark.parametrize(("nodes", "note"), [
    ([(4, 0), (2, 1)], ""),
    ([(8, 0)], "No node has the 1 CPU and 1 GPU that a worker of looking takes."),
    ([(1, 1), (1, 0)], "No node has the 2 CPUs that a worker of preparing takes."),
    ([(2, 0), (1, 1)],
     "The least workers of all kinds take 3.5 CPUs and 1 GPU; there are 2 nodes, 3 CPUs, 1 GPU."),
])  # fmt: skip
def test_workers_that_find_no_room_are_reported(
    cluster: FakeRay, nodes: list[tuple[float, float]], note: str
) -> None:
    cluster.nodes_there = [FakeNode(cpus, gpus) for cpus, gpus in nodes]
    settings, progress = load_ray_settings((), SMALL_TEAMS), Heard()
    (result,) = describe_on_ray([lost_film()], address="auto", settings=settings, progress=progress)
    assert result.kind == "FilmError"
    waits = "The run waits until nodes with that come."
    begins_later = "Some begin when others have ended, or when nodes come."
    waiting = [f"{note} {waits if note.startswith('No node') else begins_later}"] if note else []
    assert progress.notes[1:] == waiting
    # Nobody will add machines to a cluster that is started here.
    if note:
        with pytest.raises(EngineError, match="--ray-config") as caught:
            describe_on_ray([lost_film()], settings=settings)
        assert caught.value.what == note


@pytest.mark.parametrize(("node", "error"), [
    (FakeNode(shotad=None), ""),
    (FakeNode(shotad="0.0.1"), r"Node 10.0.0.2 has shotad 0.0.1; this machine has"),
    (FakeNode(shotad=""), r"Node 10.0.0.2 has no shotad"),
    (FakeNode(misses=["/films/a.mp4"]), r"Node 10.0.0.2 does not see /films/a.mp4"),
])  # fmt: skip
def test_a_node_of_another_shotad_or_without_the_films_is_named(
    cluster: FakeRay, node: FakeNode, error: str
) -> None:
    cluster.nodes_there.append(node)
    if not error:
        assert [result.kind for result in describe_on_ray([lost_film()])] == ["FilmError"]
        return
    with pytest.raises(EngineError, match=f"^{error}"):
        describe_on_ray([lost_film()])


def test_nodes_are_asked_for_few_places_that_are_there(cluster: FakeRay, tmp_path: Path) -> None:
    cluster.nodes_there = [FakeNode(shotad="0.0.1")]
    jobs = [FilmJob("s3://films/b.mp4", "s3://films/b.shotad")]
    for number in range(60):
        folder = tmp_path / f"season {number}"
        folder.mkdir()
        (folder / "a.mp4").touch()
        jobs += [FilmJob(str(folder / name), str(folder / "x.shotad")) for name in ("a.mp4", "gone.mp4")]
    with pytest.raises(EngineError):
        describe_on_ray(jobs)
    assert 1 <= len(cluster.places_looked_for) <= 21
    assert all(Path(place).exists() for place in cluster.places_looked_for)


@pytest.mark.parametrize(("address", "kind", "error"), [
    *((address, UsageError, "no address of a Ray cluster") for address in ("foo", "host:port", ":6379", "host:70000")),
    ("ray://host:10001", UsageError, "ray job submit"),
    ("nobody listens", EngineError, "reached at 127.0.0.1:"),
    ("nobody listens there by the environment", EngineError, "reached at 127.0.0.1:"),
])  # fmt: skip
def test_a_wrong_address_and_one_where_nobody_listens_are_refused_at_once(
    cluster: FakeRay, monkeypatch: pytest.MonkeyPatch, address: str, kind: type[ShotadError], error: str
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but it does not listen
        unheard = f"127.0.0.1:{taken.getsockname()[1]}"
        given: str | None = unheard if address.startswith("nobody") else address
        if "environment" in address:
            monkeypatch.setenv("RAY_ADDRESS", unheard)
            given = None
        with pytest.raises(kind, match=error):
            describe_on_ray([lost_film()], address=given)
    assert cluster.started_with is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_during_a_run_ray_keeps_no_figures_and_prints_nothing_of_lost_workers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray.data", reason=NEEDS_RAY)
    from ray._private import worker
    from ray.data._internal.execution.operators import map_operator
    from ray.data.block import BlockMetadata

    block = BlockMetadata(num_rows=1, size_bytes=5, input_files=[], exec_stats=None)
    line = {"lines": ["A worker died."], "pid": "raylet", "is_err": False}
    figures: list[list[Any]] = []

    def look() -> None:
        figures.append(map_operator.to_stats([block]))
        worker.print_to_stdstream(line, ignore_prefix=False)

    cluster = fake_ray.install(monkeypatch)
    cluster.on_start = look
    describe_on_ray([lost_film()])
    assert figures == [[]]
    assert capsys.readouterr() == ("", "")
    # Afterwards all is as it was.
    look()
    assert len(figures[1]) == 1
    assert "A worker died." in capsys.readouterr().out


def test_example_settings_can_be_used_and_wrong_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = sorted((data_root() / "configs/ray").glob("run-*.yaml"))
    assert examples
    for path in examples:
        load_ray_settings([str(path)])
    for setting, error in (("lookin.gpus=1", "lookin"), ("looking={least: 2, most: 1}", "below least")):
        with pytest.raises(ConfigError, match=error):
            load_ray_settings((), (setting,))
    modules: Any = sys.modules
    monkeypatch.setitem(modules, "ray", None)
    with pytest.raises(ShotadError, match=r"shotad\[ray\]"):
        describe_on_ray([lost_film()])
    assert describe_on_ray([]) == []


# A run
def test_films_of_a_cluster_are_to_the_byte_as_on_one_machine_whoever_is_lost(
    cluster: FakeRay, script: Script, tmp_path: Path
) -> None:
    alone = describe_film(job(tmp_path / "alone"))
    assert alone.state == "done"
    clips, script.clips = script.clips, []
    script.calls.clear()
    script.lose = ["start", f"stage1-{SECOND}", f"stage2-{SECOND}"]
    results: list[FilmResult] = []
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no film")
    jobs = [job(tmp_path / "many"), job(tmp_path / "many", "b", film=broken)]
    found = describe_on_ray(jobs, on_result=results.append)
    assert [(result.state, result.kind) for result in found] == [("done", ""), ("failed", "FilmError")]
    assert sorted(results, key=lambda result: result.folder) == found
    assert found[0].attempts == 2
    assert script.lose == [], "all three were lost"
    assert cluster.workers.count("PreparedSlots") == cluster.workers.count("Stage1Answers") == 2
    assert len(script.calls) == len(set(script.calls)) == 2 * len(SLOTS), "nothing was asked twice"
    assert records(found[0].folder) == records(alone.folder)
    # Frames travel without loss.
    assert len(clips) == len(script.clips) == len(SLOTS)
    for clip, other in zip(clips, script.clips, strict=True):
        assert other.images.dtype == np.uint8
        for values, other_values in (
            (clip.images, other.images), (clip.seconds, other.seconds), (clip.shot_numbers, other.shot_numbers),
        ):  # fmt: skip
            assert np.array_equal(values, other_values)
    # The next run has nothing to do.
    assert [result.state for result in describe_on_ray(jobs[:1])] == ["skipped"]
    assert len(script.calls) == 2 * len(SLOTS)


@pytest.fixture(params=["here", "in a store"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A folder for work folders, on this machine or in a store."""
    if request.param == "here":
        yield str(tmp_path)
        return
    fsspec = pytest.importorskip("fsspec", reason='a store needs fsspec: pip install "shotad[s3]"')
    store = fsspec.filesystem("memory")
    store.store.clear()
    yield "memory://ad"
    store.store.clear()


def files_in(place: str) -> dict[str, bytes]:
    """Names and content of all files below a place."""
    if not place.startswith("memory:"):
        return {f"{place}/{name}": data for name, data in records(place).items()}
    import fsspec

    store = fsspec.filesystem("memory")
    return {f"memory:/{name}": store.cat_file(name) for name in store.find(place)}


@pytest.mark.parametrize(("place", "stage", "error"), [
    ("here", "stage1", f"slot {SECOND} was lost 2 times"),
    ("in a store", "stage1", f"slot {SECOND} was lost 2 times"),
    ("here", "stage2", "writing its lines was lost 2 times"),
    ("here", "start", "preparing the film was lost 2 times"),
], indirect=["place"])  # fmt: skip
def test_a_film_over_which_workers_are_lost_again_and_again_fails_alone_and_keeps_its_answers(
    cluster: FakeRay, script: Script, place: str, tmp_path: Path, stage: str, error: str
) -> None:
    event = stage if stage == "start" else f"{stage}-{SECOND}"
    script.lose = [event] * 2
    settings = load_ray_settings((), ("attempts=2",))
    work = job(place, scratch=str(tmp_path / "scratch"))
    failed, done = describe_on_ray([work, job(tmp_path, "b")], settings=settings)
    assert (failed.kind, failed.attempts, done.state) == ("killed", 2, "done")
    assert error in str(failed.error)
    answered = [slot for called, note, slot in script.calls if (called, note) == ("stage1", "a")]
    assert answered == {"stage1": [FIRST, THIRD], "stage2": list(SLOTS), "start": []}[stage]
    script.calls.clear()
    (result,) = describe_on_ray([work], settings=settings)
    assert result.state == "done"
    answered = [slot for called, _, slot in script.calls if called == "stage1"]
    assert answered == {"stage1": [SECOND], "stage2": [], "start": list(SLOTS)}[stage], "only what is missing"
    assert not [name for name in files_in(place) if "stage1.parts" in name], "the track is made of them"


def test_a_slot_that_failed_is_asked_about_once_a_run(
    cluster: FakeRay, script: Script, place: str, tmp_path: Path
) -> None:
    script.fail = {f"stage1-{SECOND}"}
    work = job(place, scratch=str(tmp_path / "scratch"))
    for run in (1, 2):
        script.calls.clear()
        (result,) = describe_on_ray([work])
        assert (result.state, result.lines, result.amiss) == ("done", 2, 1)
        asked = [slot for stage, _, slot in script.calls if stage == "stage1"]
        assert asked == (list(SLOTS) if run == 1 else [SECOND])
        answers = next(data for name, data in files_in(place).items() if name.endswith("answers.jsonl"))
        assert f"{SECOND} broke".encode() in b"".join(files_in(place).values())
        assert len(answers.splitlines()) >= len(SLOTS)


def test_an_engine_that_fails_for_one_film_after_another_ends_the_run(
    cluster: FakeRay, script: Script, tmp_path: Path
) -> None:
    script.broken = ("b", "c", "e", "f", "g")
    found = describe_on_ray([job(tmp_path, note) for note in "abcdefghi"])
    states = {Path(result.folder).name: (result.state, result.kind) for result in found}
    failed, stopped = ("failed", "EngineError"), ("failed", "stopped")
    assert states == {
        "a": ("done", ""), "b": failed, "c": failed, "d": ("done", ""),
        "e": failed, "f": failed, "g": failed, "h": stopped, "i": stopped,
    }  # fmt: skip
    assert found[1].error == ("The key is refused.", "Get another.")
    assert found[-1].error == ("The run was ended: The key is refused.", "Get another.")


# Servers
def described(seen: Seen) -> Act:
    """An answer that depends on the question alone, whichever server is asked."""
    if seen.pictures:
        return answer(
            f"1. Main characters: A man.\n2. Actions: A man walks past {len(seen.pictures)} trees in a row."
        )
    return answer('{"summarized_AD": "A man walks past some trees."}')


OPENAI = (
    "stage1.engine=openai", "stage2.engine=openai", "openai.model=tiny", "openai.retries=0", "openai.in_flight=2",
    "prompt.example_count=0",
)  # fmt: skip


def test_calls_go_to_the_server_with_the_least_to_do_and_records_fit_any(
    cluster: FakeRay, script: Script, tmp_path: Path
) -> None:
    together = threading.Barrier(len(SLOTS))

    def wait_for_all(seen: Seen) -> Act:
        act = described(seen)
        return replace(act, wait=lambda: together.wait(20)) if seen.pictures else act

    with BadServer(wait_for_all) as first, BadServer(wait_for_all) as second, BadServer(described) as writer:
        servers = {"servers": (first.url, second.url), "batch": 4}
        settings = load_ray_settings().model_copy(update=servers)
        work = job(tmp_path, "a", *OPENAI, f"stage2.base_url={writer.url}", "stage2.model=tiny")
        (result,) = describe_on_ray([work], settings=settings)
        assert result.state == "done", result
        assert sorted(len(server.requests) for server in (first, second)) == [1, 2]
        assert writer.requests, "a stage with a server of its own asks that one"
        # Other servers of the same model: nothing is asked again.
        (Path(work.folder) / "track.json").unlink()
        alone = settings.model_copy(update={"servers": (writer.url,)})
        asked = len(writer.requests)
        assert describe_on_ray([work], settings=alone)[0].state == "done"
        assert len(writer.requests) == asked


def test_a_server_that_is_gone_or_fails_leaves_its_calls_to_the_others(
    cluster: FakeRay, script: Script, tmp_path: Path
) -> None:
    def gone_after_one(seen: Seen) -> Act:
        return replace(described(seen), end="die") if seen.number == 1 else described(seen)

    def one_refused(seen: Seen) -> Act:
        return status(400, "too long") if seen.number == 0 else described(seen)

    with BadServer(described) as well:
        for name, act in (("gone", gone_after_one), ("refused", one_refused)):
            with BadServer(act) as sick:
                settings = load_ray_settings().model_copy(update={"servers": (sick.url, well.url)})
                (result,) = describe_on_ray([job(tmp_path, name, *OPENAI)], settings=settings)
                assert (result.state, result.amiss) == ("done", 0), result
                assert sick.requests
    # Where all fail alike, it is the slot that fails, and where all are gone the film.
    refusing = status(400, "too long")
    with BadServer([refusing]) as first, BadServer([refusing]) as second:
        settings = load_ray_settings().model_copy(update={"servers": (first.url, second.url)})
        (result,) = describe_on_ray([job(tmp_path, "all", *OPENAI)], settings=settings)
        assert (result.state, "too long" in str(result.error)) == ("failed", True)
        asked = len(first.requests) + len(second.requests)
        assert asked == 2 * len(SLOTS), "each slot is asked about at two servers"
    (result,) = describe_on_ray([job(tmp_path, "none", *OPENAI)], settings=settings)
    assert result.kind == "EngineError"


class Server(FakeEngine):
    """``broken`` fails as a whole."""

    def __init__(self, broken: bool = False) -> None:
        super().__init__()
        self.broken = broken

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        if self.broken:
            raise EngineError("It is gone.", "Start it.")
        return super().generate(requests)


def test_a_server_that_is_gone_is_tried_again_after_a_rest() -> None:
    now, made, well = [0.0], list[Server](), Server()
    question = Request("s1", (Message("user", "What is seen?"),))

    def sick() -> Server:
        made.append(Server(broken=not made))
        return made[-1]

    pool = Pool([sick, lambda: well], rest=60, clock=lambda: now[0])
    assert [pool.generate([question])[0].error for _ in range(2)] == [None, None]
    assert (well.calls, len(made)) == (2, 2)
    now[0] = 60.0
    pool.generate([question])
    assert (well.calls, made[1].calls) == (2, 1), "the one that was made anew"


# A server of one's own
SERVER = """
import http.server, json, os, sys, time
from pathlib import Path
port, model, note, hangs = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4] == "hangs"
assert model == "a/model of mine"
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.say({"data": [{"id": model}]} if self.path == "/v1/models" else None)
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        note.write_text(f"{os.getpid()} {os.getppid()}")
        if hangs:
            time.sleep(600)
        text = "1. Main characters: A man.\\\\n2. Actions: A man walks."
        message = {"role": "assistant", "content": text}
        self.say({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]})
    def say(self, answer):
        body = json.dumps(answer).encode()
        self.send_response(404 if answer is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
""".replace("\\\\", "\\")
OWN = ("stage1.engine=openai", "openai.model=a/model of mine", "openai.retries=0", "prompt.example_count=0")


def command(tmp_path: Path, code: str = SERVER, *more: object) -> str:
    """The command of a server that runs ``code``."""
    (tmp_path / "server.py").write_text(code)
    words = " ".join(f"'{word}'" for word in more)
    return f"'{sys.executable}' '{tmp_path / 'server.py'}' {{port}} {{model}} {words}"


def served(serve: str, ready: float = 60) -> Any:
    """Settings by which workers of Stage I start their server so."""
    return load_ray_settings(
        (), (f"looking.serve.command={json.dumps(serve)}", f"looking.serve.ready={ready}")
    )


def processes(note: Path) -> list[psutil.Process]:
    """The server that has written the note, and what watches over it."""
    return [psutil.Process(int(number)) for number in note.read_text().split()]


def test_a_worker_starts_its_model_server_and_no_other_is_asked(
    cluster: FakeRay, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The usual address of the engine would want one.
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    note = tmp_path / "note"
    (result,) = describe_on_ray(
        [job(tmp_path, "a", *OWN)], settings=served(command(tmp_path, SERVER, note, "answers"))
    )
    family = processes(note)
    # As a worker does at its end
    os.killpg(family[1].pid, signal.SIGTERM)
    assert result.state == "done", result.error
    assert result.lines
    assert psutil.wait_procs(family, 20)[1] == []


@pytest.mark.parametrize(("code", "error"), [
    ("raise SystemExit('no GPU here')", "no GPU here"),
    ("print('loading weights', flush=True); import time; time.sleep(60)", "did not answer within 1 s: loading weights"),
    ("", "no-such-program cannot be started"),
])  # fmt: skip
def test_a_model_server_that_does_not_come_up_is_reported(
    cluster: FakeRay, script: Script, tmp_path: Path, code: str, error: str
) -> None:
    serve = command(tmp_path, code) if code else "no-such-program {port}"
    settings = served(serve, 1 if "sleep" in code else 60)
    (result,) = describe_on_ray([job(tmp_path, "a", *OWN)], settings=settings)
    assert result.kind == "EngineError"
    assert error in str(result.error)


def test_lines_are_not_verified_by_servers_that_only_the_workers_of_stage_one_reach(
    cluster: FakeRay, script: Script, tmp_path: Path
) -> None:
    verifying = job(tmp_path, "a", *OWN, "verify.on=true")
    with pytest.raises(ConfigError, match=r"only the workers of Stage I reach its servers") as caught:
        describe_on_ray([job(tmp_path, "b"), verifying], settings=served("no-such-program {port}"))
    assert "--verify" in caught.value.hint
    assert cluster.started_with is None
    # An engine that asks no server, and one with an address of its own, answer everywhere.
    elsewhere = job(
        tmp_path, "c", *OWN, "verify.on=true", "stage1.base_url=http://127.0.0.1:9/v1", film=tmp_path
    )
    for reachable in (job(tmp_path, "d", "verify.on=true", film=tmp_path), elsewhere):
        (result,) = describe_on_ray([reachable], settings=served("no-such-program {port}"))
        assert result.kind == "FilmError"


KILLED = """
import sys, pytest
from pathlib import Path
from tests import fake_ray
from tests.catalogue import test_ray_parts as parts
from shotad.batch import describe_on_ray
parts.Scripted.script = parts.Script()
folder, note = map(Path, sys.argv[1:])
with pytest.MonkeyPatch.context() as patch:
    fake_ray.install(patch)
    serve = parts.command(folder, parts.SERVER, note, "hangs")
    describe_on_ray([parts.job(folder, "a", *parts.OWN)], settings=parts.served(serve))
"""


@pytest.mark.slow
def test_a_model_server_ends_with_a_worker_that_is_killed(script: Script, tmp_path: Path) -> None:
    note, until = tmp_path / "note", time.monotonic() + 120
    environment = {**os.environ, "PYTHONPATH": ROOT}
    words = [sys.executable, "-c", KILLED, str(tmp_path), str(note)]
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE) as worker:
        while not (note.exists() and len(note.read_text().split()) == 2):
            assert worker.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        family = processes(note)
        worker.kill()
        with suppress(OSError):
            assert worker.stderr is not None
            worker.stderr.close()
    assert psutil.wait_procs(family, 20)[1] == []


# A forced run
@pytest.mark.slow
def test_a_forced_run_asks_anew_and_speaks_anew_only_where_it_is_spoken(
    cluster: FakeRay, script: Script, place: str, tmp_path: Path
) -> None:
    work = job(place, "a", "voice.name=fake", makes=("ad:wav",), scratch=str(tmp_path / "scratch"))
    assert describe_on_ray([work])[0].state == "done"
    before = files_in(place)
    spoken = {name for name in before if "/voice/" in name}
    assert spoken
    keep = next(iter(spoken))
    times = spoken_at(place)

    # Once: a worker that is lost does not make the next one ask what this run was told.
    script.calls.clear()
    script.lose = [f"stage1-{SECOND}"]
    (result,) = describe_on_ray([replace(work, makes=(), force=True)])
    assert result.state == "done"
    assert sorted(script.calls) == sorted({*script.calls}), "nothing twice"
    assert len(script.calls) == 2 * len(SLOTS), "all again"
    assert spoken_at(place) == times, f"{keep} stays: nothing would be put in its place"

    assert describe_on_ray([replace(work, force=True)])[0].state == "done"
    assert spoken_at(place).keys() == times.keys()
    assert not spoken_at(place).items() & times.items(), "spoken again"


def spoken_at(place: str) -> dict[str, Any]:
    """When each take was written."""
    if not place.startswith("memory:"):
        return {str(path): path.stat().st_mtime_ns for path in Path(place).rglob("voice/*") if path.is_file()}
    import fsspec

    store = fsspec.filesystem("memory")
    return {name: store.created(name) for name in store.find(place) if "/voice/" in name}
