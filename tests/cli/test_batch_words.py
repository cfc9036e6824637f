"""What ``shotad batch`` says before any film is begun, and with ``--ray``, without a cluster."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from shotad.batch import PlannedFilm, PrivacyNotices, load_ray_settings, servers_asked
from shotad.batch.jobs import FilmJob
from shotad.core import Config, Reply, Request, load_config
from shotad.core.trust import trust
from shotad.engines.fake import FakeEngine
from tests import fake_ray
from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, make_film
from tests.python_path import python_path


def write_films(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"film")


@pytest.fixture
def films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_films(tmp_path, "a.mp4", "b.mp4", "c.mp4")


class Interrupted(FakeEngine):
    """Ctrl-C is pressed while it is asked about a film whose note says so."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.is_interrupted = config.prompt.note == "Ctrl-C"

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        if self.is_interrupted:
            raise KeyboardInterrupt
        return super().generate(requests)


@pytest.mark.usefixtures("films")
def test_each_film_is_told_as_it_ends_and_a_run_that_is_stopped_tells_what_became_of_each(
    shotad, monkeypatch
):
    pytest.importorskip("pyarrow", reason='clips travel by it: pip install "shotad[ray]"')
    fake_ray.install(monkeypatch)
    for name in ("a.mp4", "c.mp4"):
        shutil.copyfile(make_film(FilmSpec(frames=160, cuts=(60, 110))).path, name)
    Path("b.mp4").write_text("This was to be a film.\n" * 50)
    said = shotad("batch", "a.mp4", "b.mp4", "--ray", "--plain", *FAKE)
    assert said.code == 1
    assert "a.mp4: done, 1 line in 1 slot" in said.err
    assert "b.mp4: failed. " in said.err
    assert "b.mp4 is a text file, not a film. Give the film itself." in said.err
    assert "2 films: 1 done, 1 failed." in said.out
    Path("c.note.txt").write_text("Ctrl-C")
    engine = ("--set", f"stage1.engine={__name__}:Interrupted", "--force")
    said = shotad("batch", "a.mp4", "b.mp4", "c.mp4", "--ray", *FAKE, *engine)
    assert said.code == 130
    assert "3 films: 1 done, 1 failed, 1 stopped." in said.out
    assert '"ended": true' in Path("shotad-batch.json").read_text()


OPENAI = ("engine=openai", "openai.model=tiny", "openai.base_url=http://usual.example/v1")


def notices(cluster: Sequence[str], *assignments: str) -> list[str]:
    """What leaves the machine, by the settings of a cluster and of the films."""
    config = load_config((), (*OPENAI, *assignments))
    films = [PlannedFilm(FilmJob(f"{name}.mp4", name, config)) for name in "ab"]
    return PrivacyNotices().of(servers_asked(films, load_ray_settings((), cluster)))


def test_whom_frames_are_sent_to_is_whom_the_cluster_asks() -> None:
    pool = ("servers=[https://one.example/v1, https://two.example/v1]",)
    assert ["usual.example" in line for line in notices(())] == [True, True]
    lines = notices(pool)
    assert [("one" in line, "two" in line) for line in lines] == [(True, False), (False, True)]
    assert "usual" not in "".join(lines)
    with_writer = notices(pool, "stage2.base_url=https://writer.example/v1")
    assert any("no frames" in line and "writer.example" in line for line in with_writer)
    assert notices([f"{team}.serve.command=serve" for team in ("looking", "writing")]) == []


STAND_IN = """
import os, sys, types

class exceptions: RayError = RuntimeError

def is_initialized(): return False

def shutdown(): pass

def init(**_):
    {init}

worker = types.ModuleType("ray._private.worker")
worker.print_to_stdstream = None
sys.modules["ray._private"] = types.ModuleType("ray._private")
sys.modules["ray._private"].worker = sys.modules["ray._private.worker"] = worker
sys.modules["ray.data"] = data = types.ModuleType("ray.data")
"""
"""A library that ends as Ray does; it is found before the real one."""


@pytest.mark.parametrize(("init", "told"), [
    ("os.write(2, b'RAW TEXT'); os._exit(1)", "Error: The Ray cluster has ended"),
    ("raise Exception('It timed out.')", "Error: Ray could not be started on this machine: It timed out."),
])  # fmt: skip
def test_one_message_says_that_ray_has_ended_or_did_not_begin(tmp_path: Path, init: str, told: str) -> None:
    (tmp_path / "ray.py").write_text(STAND_IN.format(init=init))
    film = make_film(FilmSpec(frames=50)).path
    words = ["batch", str(film), "--out", str(tmp_path), "--ray", "--engine", "fake", "--plain"]
    done = subprocess.run(
        [sys.executable, "-m", "shotad", *words],
        env={**os.environ, "PYTHONPATH": python_path(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("Error: ")) == (1, 1)
    assert told in done.stderr
    assert not {"RAW TEXT", "Traceback"} & set(done.stderr.split("\n"))


LOST = """
    import subprocess
    words = ["batch", {film!r}, "--report", "other.json", *{more!r}]
    subprocess.run([sys.executable, "-m", "shotad", *words], check=True, stdout=2)
    os._exit(1)
"""
"""A worker describes a film, and the cluster ends before the run knows of it."""


@pytest.mark.slow
def test_a_run_that_loses_its_cluster_reports_what_is_done(tmp_path: Path) -> None:
    spec = FilmSpec(frames=160, cuts=(60, 110))
    films = [tmp_path / name for name in ("a.mp4", "b.mp4", "c.mp4")]
    for film in films:
        shutil.copyfile(make_film(spec).path, film)
    stand_in = STAND_IN.format(init=LOST.strip().format(film=str(films[1]), more=list(FAKE)))
    (tmp_path / "ray.py").write_text(stand_in)
    (tmp_path / "report.json").write_text('{"films": [{"film": "/x.mp4", "state": "done"}]}')
    environment = {**os.environ, "PYTHONPATH": python_path(tmp_path)}
    command = [sys.executable, "-m", "shotad", "batch", *map(str, films), *FAKE, "--plain"]
    options = ["--ray", "--report", "report.json"]
    done = subprocess.run(
        [*command, *options], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "3 films: 1 done, 2 failed." in done.stdout
    assert "run the same command again" in done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    states = [(Path(film["film"]).name, film["state"]) for film in report["films"]]
    assert states == [("x.mp4", "done"), ("a.mp4", "failed"), ("b.mp4", "done"), ("c.mp4", "failed")]
    assert report["ended"]


def test_a_dry_run_tells_films_folders_and_what_goes_with_them(shotad: Shotad, tmp_path: Path) -> None:
    write_films(tmp_path, "a/movie.mp4", "b/movie.mp4")
    (tmp_path / "a" / "movie.srt").write_text("")
    (tmp_path / "list.txt").write_text("# all\na\nb/movie.mp4\nb/gone.mp4\n")
    said = shotad("batch", "--list", tmp_path / "list.txt", "--out", tmp_path / "out", "--dry-run", *FAKE)
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0] == f"1. a/movie.mp4: to be described, into {tmp_path}/out/movie.shotad, with movie.srt."
    assert lines[1] == f"2. b/movie.mp4: to be described, into {tmp_path}/out/b-movie.shotad."
    assert lines[2].startswith("3. gone.mp4: cannot be described. There is no ")
    assert lines[3].startswith("3 films: 2 to describe")
    assert not (tmp_path / "out").exists()
    found = json.loads(shotad("batch", tmp_path, "--out", tmp_path / "out", "--dry-run", "--json", *FAKE).out)
    assert [film["state"] for film in found["films"]] == ["to_do", "to_do"]
    (tmp_path / "done.json").write_text('{"films": [{"film": "/x.mp4", "state": "done"}]}')
    said = shotad("batch", "--only-failed", "--report", tmp_path / "done.json")
    assert (said.code, said.out) == (0, "No film has failed.\n")


def test_what_leaves_the_machine_is_said_also_where_only_one_film_sends_it(shotad, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("SHOTAD_CONFIG", str(tmp_path / "config"))
    write_films(tmp_path, "a.mp4", "b.mp4")
    said = shotad("batch", tmp_path, "--dry-run", "--plain", *FAKE)
    assert "leave" not in said.err
    (tmp_path / "b.yaml").write_text(
        "stage1: {engine: openai}\nopenai: {base_url: 'https://models.example/v1', model: any}\n"
    )
    trust(str(tmp_path))
    rest = FAKE[FAKE.index("fake") + 1 :]
    (tmp_path / "base.yaml").write_text("engine: fake\n")
    said = shotad("batch", tmp_path, "--dry-run", "--plain", "--config", tmp_path / "base.yaml", *rest)
    assert said.err.count("models.example") == 1, said
    assert "b.mp4: Frames of the film leave this machine" in said.err
    assert "a.mp4: Engine: fake." in said.err
    # An engine that the command names is that of all films.
    said = shotad("batch", tmp_path, "--dry-run", "--plain", *FAKE)
    assert "models.example" not in said.err


@pytest.mark.usefixtures("films")
def test_a_mistake_in_settings_beside_a_film_names_their_file(shotad):
    Path("a.yaml").write_text("slots: {minimun: 3}\n")
    Path("b.yaml").write_text("slots: [3\n")
    said = shotad("batch", "a.mp4", "b.mp4", "--dry-run", *FAKE)
    assert "a.yaml: There is no setting slots.minimun. Did you mean slots.minimum?" in said.out
    assert f"cannot be described. The config {Path('b.yaml').absolute()} cannot be read: line 2" in said.out
