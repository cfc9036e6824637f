"""What a run on a cluster is made of, without one: its address and nodes, rows, register, parts, servers, a forced run."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest

from shotad import __version__
from shotad.batch import earlier_result, load_ray_settings
from shotad.batch.describing import describe_film
from shotad.batch.jobs import FilmJob, failure
from shotad.batch.ray.cluster import (
    ENDS_ALL,
    RaySettings,
    Register,
    ServeSettings,
    WorkerSettings,
    _own_words,
    connected,
    need_ray,
    quiet_data,
)
from shotad.batch.ray.rows import Parts, RayRow, columns, laid_together
from shotad.batch.ray.run import Node, _places, check_nodes, nodes_of, short_of
from shotad.batch.ray.servers import OwnServer, Pool, stage_engine
from shotad.batch.ray.steps import PreparedSlots, Stage1Answers, _Looked, begin_anew
from shotad.core import (
    Abilities,
    Clip,
    Identity,
    Message,
    Reply,
    Request,
    ShotadError,
    Usage,
    WorkFolder,
    load_config,
)
from shotad.core.errors import (
    ConfigError,
    EngineError,
    UsageError,
)
from shotad.core.settings import data_root
from shotad.engines import AnswerLog
from shotad.engines.asking import answer_record
from shotad.engines.fake import FakeEngine
from tests.media import FilmSpec, make_film
from tests.shotad_process import PLAIN

NEEDED = 'pip install "shotad[ray]"'


# Its address and nodes
SMALL = RaySettings(
    preparing=WorkerSettings(least=2, most=4, cpus=2),
    looking=WorkerSettings(least=1, most=1, cpus=1, gpus=1),
    writing=WorkerSettings(least=1, most=2, cpus=0.5),
)


@pytest.mark.parametrize(("nodes", "why"), [
    ([(4, 0), (2, 1)], ""),
    ([(8, 0)], "No node has the 1 CPU and 1 GPU that a worker of looking takes."),
    ([(1, 1), (1, 0)], "No node has the 2 CPUs that a worker of preparing takes."),
    ([(2, 0), (2, 1)],
     "The least workers of all kinds take 5.5 CPUs and 1 GPU; there are 2 nodes with 4 CPUs and 1 GPU."),
])  # fmt: skip
def test_least_workers_that_find_no_room_are_told(nodes: list[tuple[float, float]], why: str) -> None:
    assert short_of(SMALL, [Node("a", "10.0.0.1", cpus, gpus) for cpus, gpus in nodes]) == why


@dataclass
class Cluster:
    """Stands in for Ray: its nodes answer with what ``answers`` says of them, or not at all (None)."""

    answers: dict[str, tuple[str, list[str]] | None] = field(default_factory=dict)

    def nodes(self) -> list[dict[str, Any]]:
        alive = {"Alive": True, "Resources": {"CPU": 4.0}}
        rows = [{"NodeID": one * 56, "NodeManagerAddress": f"10.0.0.{one}", **alive} for one in self.answers]
        return [*rows, {"NodeID": "head", "Alive": True, "Resources": {}}, {"NodeID": "gone", "Alive": False}]

    def remote(self, **how: Any) -> Callable[[Any], Any]:
        name = how["scheduling_strategy"].node_id[0]
        return lambda _: SimpleNamespace(remote=lambda places: name)

    def wait(self, refs: list[str], **_: Any) -> tuple[list[str], list[str]]:
        there = [ref for ref in refs if self.answers[ref] is not None]
        return there, [ref for ref in refs if ref not in there]

    def get(self, ref: str) -> Any:
        return self.answers[ref]


@pytest.mark.parametrize(("answer", "why"), [
    (None, ""),
    (("0.0.1", []), r"Node 10.0.0.2 has shotad 0.0.1; this machine has"),
    (("", []), r"Node 10.0.0.2 has no shotad"),
    ((__version__, ["/films/a.mp4"]), r"Node 10.0.0.2 does not see /films/a.mp4"),
])  # fmt: skip
def test_a_node_of_another_shotad_or_no_films_is_named(
    answer: tuple[str, list[str]] | None, why: str
) -> None:
    pytest.importorskip("ray", reason=NEEDED)
    cluster = Cluster({"1": (__version__, []), "2": answer})
    told: AbstractContextManager[object] = (
        pytest.raises(EngineError, match=f"^{why}") if why else nullcontext()
    )
    with told:
        check_nodes(cluster, nodes_of(cluster), [FilmJob("/films/a.mp4", "/out/a.shotad")])


def test_nodes_are_asked_for_few_places_that_are_there(tmp_path: Path) -> None:
    jobs = []
    for number in range(60):
        folder = tmp_path / f"season {number}"
        folder.mkdir()
        (folder / "a.mp4").touch()
        jobs += [FilmJob(str(folder / name), str(folder / "x.shotad")) for name in ("a.mp4", "gone.mp4")]
    found = _places([*jobs, FilmJob("s3://films/b.mp4", "s3://films/b.shotad")])
    assert 1 <= len(found) <= 21
    assert all(Path(place).exists() for place in found)


REFUSED: list[tuple[str, type[ShotadError], str]] = [
    *((one, UsageError, "no address of a Ray cluster") for one in ("foo", "host:port", ":6379", "host:70000")),
    ("ray://host:10001", UsageError, "ray job submit"),
    ("", EngineError, "reached at 127.0.0.1:"),
    ("of the environment", EngineError, "reached at 127.0.0.1:"),
]  # fmt: skip


@pytest.mark.parametrize(("address", "kind", "why"), REFUSED)
def test_what_is_no_address_and_where_nobody_listens_is_said_at_once(
    address: str, kind: type[ShotadError], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason=NEEDED)
    before = SimpleNamespace(is_initialized=lambda: False)  # it must not be asked to connect
    monkeypatch.setattr("shotad.batch.ray.cluster.need_ray", lambda: before)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but it does not listen
        there = f"127.0.0.1:{taken.getsockname()[1]}"
        if " " in address:
            monkeypatch.setenv("RAY_ADDRESS", there)
        asked = None if " " in address else address or there
        with pytest.raises(kind, match=why), connected(asked, RaySettings()):
            pass


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_ray_keeps_no_figures_on_rows_nor_speaks_of_lost_workers(capsys: pytest.CaptureFixture[str]) -> None:
    ray = pytest.importorskip("ray", reason=NEEDED)
    pytest.importorskip("ray.data", reason=NEEDED)
    from ray._private import worker
    from ray.data._internal.execution.operators import map_operator
    from ray.data.block import BlockMetadata

    row = BlockMetadata(num_rows=1, size_bytes=5, input_files=[], exec_stats=None)
    line = {"lines": ["A worker died."], "pid": "raylet", "is_err": False}
    with _own_words(), quiet_data(ray):
        assert map_operator.to_stats([row]) == []
        worker.print_to_stdstream(line, ignore_prefix=False)
    assert capsys.readouterr() == ("", "")
    assert len(map_operator.to_stats([row])) == 1
    worker.print_to_stdstream(line, ignore_prefix=False)
    assert "A worker died." in capsys.readouterr().out


# Rows
def question(slot: str = "s1", text: str = "What is seen?") -> Request:
    return Request(slot, (Message("user", text),))


@pytest.mark.parametrize("shape", [(3, 8, 12, 3), (1, 1, 1, 3)])
def test_a_clip_is_carried_without_loss(shape: tuple[int, ...]) -> None:
    pytest.importorskip("pyarrow", reason=NEEDED)
    from shotad.batch.ray.rows import packed, unpacked

    images = np.random.default_rng(7).integers(0, 256, shape, dtype=np.uint8)
    clip = Clip(images.copy(), np.arange(shape[0]) / 3, np.arange(shape[0]) % 2)
    found = unpacked(packed(clip))
    assert found.images.dtype == np.uint8
    for one, other in ((found.images, images), (clip.images, images), (found.seconds, clip.seconds)):
        assert np.array_equal(one, other)
    assert np.array_equal(found.shot_numbers, clip.shot_numbers)


# The register
def arrive(register: Register, *names: str, number_of_others: int | None = None) -> list[bool]:
    found = [register.arrive(0, name, None, None) for name in names]
    return found if number_of_others is None else [*found, register.arrive(0, "end", number_of_others, None)]


def test_the_last_row_of_a_film_is_told_and_failures_end_a_run() -> None:
    assert arrive(Register(), "a", "b", number_of_others=2) == [False, False, True]
    register = Register()
    assert arrive(register, "a", "a", number_of_others=2) == [False, False, False], (
        "a row that comes twice counts once"
    )
    assert register.arrive(0, "b", None, None)
    assert not register.arrive(0, "a", None, None), "the film would be finished by two"
    assert register.arrive(0, "b", None, None), "a worker that died over it is handed it again"
    register.over(0)
    assert not register.arrive(0, "b", None, None)
    # A run ends when the engine fails for one film after another.
    register, error = Register(), failure(FilmJob("a.mp4", "a"), "gone", kind="EngineError")
    for _ in range(ENDS_ALL + 1):
        register.missed(0, error)
    assert register.stopped() is None, "one film's trouble"
    register.answered()
    for film in range(ENDS_ALL):
        assert register.stopped() is None
        register.missed(film, error)
    assert register.stopped() == error


# Parts
def stored(place: Path) -> str:
    pytest.importorskip("fsspec", reason='a store needs fsspec: pip install "shotad[s3]"')
    return f"memory://{place.name}/film.shotad"


@pytest.mark.parametrize("where", [str, stored])
def test_parts_are_found_again_by_slot(where: Callable[[Path], str], tmp_path: Path) -> None:
    folder = where(tmp_path)
    parts: Parts = Parts(folder)
    assert parts.of_slot("s1") == ()
    for number, key, error in ((2, "k2", None), (1, "k1", "none"), (1, "k1", None), (1, "k0", "other")):
        parts.add(f"s{number}", key, {"slot": f"s{number}", "error": error})
    again = Parts(folder)
    assert [record["key"] for record in again.of_slot("s2")] == ["k2"]
    assert {"key": "k1", "slot": "s1", "error": None} in again.of_slot("s1")
    assert [record["key"] for record in again.records()] == ["k1", "k0", "k2"]
    again.remove()
    assert list(again.records()) == []


def test_good_parts_are_laid_where_a_run_looks_for_them(tmp_path: Path) -> None:
    parts = Parts(str(tmp_path / "w"))
    good, failed = Reply("été", usage=Usage(1, 2)), Reply("", "error", error="no answer")
    parts.add("s1", "k1", answer_record("description", "stage1", question("s1"), Identity("e"), good))
    parts.add("s2", "k2", answer_record("description", "stage1", question("s2"), Identity("e"), failed))
    with WorkFolder(tmp_path / "w") as folder:
        for _ in range(2):
            assert [bad["slot"] for bad in laid_together(folder, parts)] == ["s2"], "nothing comes twice"
        assert AnswerLog(folder.log_of_records("answers")).get("k1") == good


def test_a_slot_that_failed_on_this_run_fails_in_the_same_words_and_asks_nobody() -> None:
    asked, engine = question("s1"), FakeEngine()
    broke = Reply("", "error", error="broke", calls=2)
    looked = _Looked(engine)
    record = answer_record("description", "stage1", asked, Identity("e"), broke)
    looked.failed = {("s1", asked.seed): record}
    assert looked.generate([question("s1", "Is a dog seen?")])[0].error is None, "not the question of Stage I"
    first, other = looked.generate([asked, question("s2")])
    assert first == broke
    assert "slot s2" in other.text
    assert engine.calls == 2, "one question besides, and another slot"


# Several servers
class Server(FakeEngine):
    """Takes two calls at once; ``broken`` fails as a whole."""

    def __init__(self, name: str, broken: bool = False, gate: threading.Event | None = None) -> None:
        super().__init__()
        self.abilities = Abilities(in_flight=2, sends_to=name)
        self.broken, self.gate = broken, gate

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        if self.gate is not None:
            self.gate.wait(20)
        if self.broken:
            raise EngineError("It is gone.", "Start it.")
        return super().generate(requests)


def test_calls_go_to_the_server_with_the_least_to_do() -> None:
    gate = threading.Event()
    servers = [Server("a:1", gate=gate), Server("b:1", gate=gate)]
    pool = Pool([lambda: servers[0], lambda: servers[1]])
    assert (pool.abilities.in_flight, pool.abilities.sends_to) == (4, "a:1, b:1")
    found: list[Reply] = []
    asked = [question(f"s{n}") for n in range(4)]
    asking = threading.Thread(target=lambda: found.extend(pool.generate(asked)))
    asking.start()
    until = time.monotonic() + 20
    while [one.busy for one in pool._servers] != [2, 2] and time.monotonic() < until:
        time.sleep(0.01)
    gate.set()
    asking.join()
    assert [server.calls for server in servers] == [2, 2]
    assert [f"slot s{n}" in reply.text for n, reply in enumerate(found)] == [True] * 4


def test_a_server_that_is_gone_rests_and_is_tried_again_later() -> None:
    now, made, well = [0.0], list[Server](), Server("b")

    def sick() -> Server:
        made.append(Server("a", broken=not made))
        return made[-1]

    pool = Pool([sick, lambda: well], rest=60, clock=lambda: now[0])
    assert [pool.generate([question()])[0].error for _ in range(2)] == [None, None]
    assert (well.calls, len(made)) == (2, 2)
    now[0] = 60.0
    pool.generate([question()])
    assert (well.calls, made[1].calls) == (2, 1), "the one that was made anew"
    with pytest.raises(EngineError, match="It is gone"):
        Pool([lambda: Server("a", broken=True)] * 2).generate([question()])


def test_a_server_that_fails_is_asked_no_more() -> None:
    def fail(_: Request) -> str:
        raise ValueError("cut off")

    sick, well = FakeEngine(answer=fail), FakeEngine()
    assert Pool([lambda: sick, lambda: well, lambda: sick]).generate([question()])[0].error is None
    assert (sick.calls, well.calls) == (1, 1)
    (reply,) = Pool([lambda: sick] * 3).generate([question()])
    assert (reply.error, sick.calls) == ("ValueError: cut off", 3)
    # Servers take the place of the usual one only.
    urls = ("http://a:1/v1", "http://b:1/v1")
    base = ("engine=openai", "openai.model=tiny", "openai.in_flight=3")
    found = stage_engine(load_config((), base), "stage1", urls)
    assert (found.abilities.in_flight, found.abilities.sends_to) == (6, "a:1, b:1")
    alone = stage_engine(load_config((), (*base, "openai.base_url=http://c:1/v1")), "stage1")
    assert found.identity == alone.identity, "records are found whichever server answers"
    own = load_config((), (*base, "stage2.base_url=http://d:1/v1"))
    assert stage_engine(own, "stage2", urls).abilities.sends_to == "d:1"
    assert isinstance(stage_engine(load_config((), ("engine=fake",)), "stage1", urls), FakeEngine)


# A server of one's own

SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/v1/models" else 404)
        self.end_headers()
    def log_message(self, *_): pass
assert sys.argv[2] == "a/model of mine"
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
WORKER = """
import sys, time
from shotad.batch.ray.servers import OwnServer
from shotad.batch.ray.cluster import ServeSettings
server = OwnServer(ServeSettings(command=sys.argv[1]), 'a/model of mine')
server.url; print(server._process.pid, flush=True); time.sleep(60)
"""


def serve(tmp_path: Path, code: str) -> ServeSettings:
    (tmp_path / "server.py").write_text(code)
    command = f"'{sys.executable}' '{tmp_path / 'server.py'}' {{port}} {{model}}"
    return ServeSettings(command=command, ready=60)


def test_a_worker_starts_its_model_server_and_says_why_it_does_not_come_up(tmp_path: Path) -> None:
    server = OwnServer(serve(tmp_path, SERVER), "a/model of mine")
    assert server.url == server.url, "one server, however often it is asked for"
    process = server._process
    assert process is not None
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children()]
    assert len(family) == 2
    server.close()
    assert psutil.wait_procs(family, 20)[1] == []
    broken = OwnServer(serve(tmp_path, "raise SystemExit('no GPU here')"), "m")
    missing = OwnServer(ServeSettings(command="no-such-program {port}", ready=60), "m")
    for server, why in ((broken, "no GPU here"), (missing, "no-such-program cannot be started")):
        with pytest.raises(EngineError, match=why):
            _ = server.url


@pytest.mark.slow
def test_a_model_server_ends_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WORKER, str(serve(tmp_path, SERVER).command)]
    with psutil.Popen(command, stdout=-1) as worker:
        guard = psutil.Process(int(worker.stdout.readline()))
        family = [guard, *guard.children()]
        worker.kill()
    assert psutil.wait_procs(family, 20)[1] == []


# Settings, and what is missing
def test_example_settings_can_be_used_and_wrong_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = sorted((data_root() / "configs/ray").glob("run-*.yaml"))
    assert examples
    for path in examples:
        load_ray_settings([str(path)])
    for setting, why in (("lookin.gpus=1", "lookin"), ("looking.least=2", "below least")):
        with pytest.raises(ConfigError, match=why):
            load_ray_settings((), (setting,))
    modules: Any = sys.modules
    monkeypatch.setitem(modules, "ray", None)
    with pytest.raises(ShotadError, match=r"shotad\[ray\]"):
        need_ray()


TOLD = {"stage1.jsonl", "stage1.aside.jsonl", "stage2.jsonl", "answers.jsonl", "done.json"}
SPOKEN = {"render.json", "voice/0123456789abcdef.flac"}
KEPT = {"track.json", "shots.json", "cast.yaml"}


def filled(folder: Path) -> None:
    for name in (*TOLD, *SPOKEN, *KEPT):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}\n")


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_was_spoken_goes_only_where_it_is_spoken_anew(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason='a store needs fsspec: pip install "shotad[s3]"')
    filled(tmp_path)
    Parts(str(tmp_path)).add("s1", "k", {"slot": "s1", "error": None})
    begin_anew(FilmJob("film.mp4", str(tmp_path)), tmp_path)
    assert files(tmp_path) == SPOKEN | KEPT
    begin_anew(FilmJob("film.mp4", str(tmp_path), makes=("film",)), tmp_path)
    assert files(tmp_path) == KEPT
    # A folder in a store loses the same as its copy.
    filled(tmp_path)
    store, place = fsspec.filesystem("memory"), f"/anew-{tmp_path.name}/film.shotad"
    store.put(str(tmp_path), place, recursive=True)
    begin_anew(FilmJob("film.mp4", f"memory:/{place}", makes=("film",)), tmp_path)
    assert {name.removeprefix(f"{place}/") for name in store.find(place)} == KEPT
    assert files(tmp_path) == KEPT


@pytest.mark.slow
def test_preparing_begins_anew_once_and_one_after_a_lost_attempt_keeps_what_was_told(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason=NEEDED)
    film = str(make_film(FilmSpec(frames=250, cuts=(60, 110, 200))).path)
    job = FilmJob(film, str(tmp_path / "w"), config=load_config((), ("engine=fake", *PLAIN)), force=True)
    assert describe_film(job).state == "done"
    assert earlier_result(replace(job, force=False)) is not None
    register: Any = Register()

    first = [row.question for row in PreparedSlots(register, RaySettings()).rows(0, job)]
    asked = [question for question in first if question is not None]
    assert asked
    assert all(question.clip is not None and not question.is_described for question in asked), "all again"
    assert earlier_result(replace(job, force=False)) is None, "who finishes the film would leave it alone"

    slot = asked[0].plan.slot.id
    assert not (tmp_path / "w/answers.jsonl").exists()
    row = RayRow(0, slot, replace(job, force=False), asked[0])
    list(Stage1Answers(register, RaySettings())(columns([row])))
    assert [record["slot"] for record in Parts(job.folder).records()] == [slot]
    again = [row.question for row in PreparedSlots(register, RaySettings()).rows(0, job)]
    assert [q.plan.slot.id for q in again if q is not None and q.is_described] == [slot]
