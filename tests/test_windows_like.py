"""Commands as somebody runs them on Windows: `windows_like/sitecustomize.py` refuses them, on Linux, what is not there.

The same programs were run by a Windows' Python (docs/troubleshooting.md says what and how).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.catalogue.batch_workers import MARK
from tests.cli.program import FAKE, Said
from tests.media import FilmSpec, SoundSpec, make_film
from tests.python_path import ROOT, python_path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="painted over Linux")

FILM = FilmSpec(frames=300, cuts=(60, 130, 200, 250), sounds=(SoundSpec(duration=12.0),))
WAIT = 200.0

WAITING = """
from tests.catalogue.batch_workers import FakeEngine
import os, pathlib, time

class Waits(FakeEngine):
    def generate(self, requests):
        pathlib.Path(os.environ["BEGUN"], f"{os.getpid()}").touch()
        until = time.monotonic() + 100
        while not pathlib.Path(os.environ["BEGUN"], "go").exists() and time.monotonic() < until:
            time.sleep(0.05)
        return super().generate(requests)
"""
"""An engine that says that it was asked, and answers when it may."""


@pytest.fixture
def engines(tmp_path: Path) -> Path:
    """A folder with modules of engines."""
    folder = tmp_path / "engines"
    folder.mkdir()
    (folder / "waiting.py").write_text(WAITING, encoding="utf-8")
    return folder


def start(*words: object, more: Path | None = None, **environment: str) -> subprocess.Popen[str]:
    """Starts a program of Python as Windows would run it; the caller waits for it."""
    folders = [ROOT / "tests" / "windows_like", *([more] if more else [])]
    known = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    ours = {
        "PYTHONPATH": python_path(*folders),
        "PYTHONWARNDEFAULTENCODING": "1",
        "PYTHONIOENCODING": "cp1252",  # what is piped has the old encoding of the country
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.Popen(
        [sys.executable, *map(str, words)], env={**known, **ours, **environment}, encoding="cp1252",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=os.environ.get("SHOTAD_CONFIG"),
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> Said:
    try:
        out, err = process.communicate(timeout=WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert "Traceback" not in err, err[-4000:]
    return Said(process.returncode, out, err)


def shotad(*words: object, more: Path | None = None, **environment: str) -> Said:
    """Runs a command to its end."""
    return ended(start("-m", "shotad", *words, more=more, **environment))


def good(said: Said) -> Said:
    assert said.code == 0, said.err[-4000:]
    return said


def until(*files: Path, process: subprocess.Popen[str]) -> None:
    """Waits until there are these files."""
    deadline = time.monotonic() + WAIT
    while not all(file.exists() for file in files):
        assert process.poll() is None, ended(process)
        assert time.monotonic() < deadline, "nothing happens"
        time.sleep(0.05)


def records(folder: Path) -> dict[str, bytes]:
    """What a run leaves, but for the times of day."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name not in ("log.txt", ".lock")}


def in_system(code: str, *words: object, more: Path | None = None) -> str:
    """What code says to which `system` is ``shotad.core.system`` on Windows."""
    return good(ended(start("-c", f"from shotad.core import system\n{code}", *words, more=more))).out


def test_the_first_commands_answer() -> None:
    assert good(shotad("--version")).out.startswith("shotad, version")
    doctor = good(shotad("doctor")).out
    (processor,) = [line for line in doctor.splitlines() if "Processor" in line]
    assert " cores" in processor
    (memory,) = [line for line in doctor.splitlines() if "Memory" in line]
    assert re.search(r"[1-9]\d*(\.\d)? [GT]iB", memory)


def test_a_film_is_described_as_elsewhere_rendered_reviewed_and_gone_on_with(tmp_path: Path) -> None:
    film = tmp_path / "Zoë's film.mp4"
    shutil.copyfile(make_film(FILM).path, film)
    # Two folders one after the other, for records name the film's.
    here, there = tmp_path / "here", tmp_path / "there"
    describe = ("describe", film, *FAKE, "--out")
    good(shotad(*describe, there))
    known = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, "-m", "shotad", *map(str, describe), str(here)],
        env=known,
        check=True,
        capture_output=True,
    )
    assert records(there) == records(here)
    assert b"\r" not in (there / "track.json").read_bytes() + (there / "answers.jsonl").read_bytes()

    good(shotad("render", there, "--voice", "fake", "--make", "film", "--make", "ad"))
    assert {path.name for path in there.glob("Zoë*")} >= {"Zoë's film.described.mp4", "Zoë's film.ad.vtt"}
    # Again, over what is there.
    good(shotad("render", there, "--voice", "fake", "--make", "film", "--force"))

    # Half of the last record, as a run that is killed leaves it.
    answers = there / "answers.jsonl"
    whole = answers.read_bytes()
    answers.write_bytes(whole[:-20])
    good(shotad(*describe, there))
    assert answers.read_bytes() == whole


def test_a_run_that_was_ended_by_force_is_gone_on_with(tmp_path: Path, engines: Path) -> None:
    film = tmp_path / "film.mp4"
    shutil.copyfile(make_film(FILM).path, film)
    without_engine = FAKE[FAKE.index("fake") + 1 :]
    words = (
        "describe",
        film,
        *without_engine,
        "--set",
        "stage1.engine=fake",
        "--set",
        "stage2.engine=waiting:Waits",
    )
    process = start("-m", "shotad", *words, "--out", tmp_path / "killed", more=engines, BEGUN=str(engines))
    until(engines / str(process.pid), process=process)
    process.kill()
    process.communicate()
    asked_before = (tmp_path / "killed" / "answers.jsonl").read_bytes()
    assert asked_before
    (engines / "go").touch()
    for out in ("killed", "whole"):
        good(shotad(*words, "--out", tmp_path / out, more=engines, BEGUN=str(engines)))
    assert records(tmp_path / "killed") == records(tmp_path / "whole")


def test_a_review_is_served_until_it_is_asked_to_end(tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    shutil.copyfile(make_film(FILM).path, film)
    good(shotad("describe", film, *FAKE))
    folder = tmp_path / "film.shotad"
    process = start("-m", "shotad", "review", folder, "--no-open")
    try:
        assert process.stdout is not None
        address = next(match[0] for line in process.stdout if (match := re.search(r"http://\S+", line)))
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=60) as answer:
            assert answer.status == 200
        # Another run writes the track that the server has read.
        good(shotad("describe", film, *FAKE, "--force"))
        second = shotad("review", folder, "--no-open")
        assert second.code == 1
        assert "is open already at" in second.err
        process.send_signal(signal.SIGHUP)  # Ctrl-Break
        said = ended(process)
    finally:
        process.kill()
    assert "Every change is saved" in said.err
    assert not (folder / ".review.address").exists()


@pytest.fixture
def films(tmp_path: Path) -> Path:
    folder = tmp_path / "films"
    folder.mkdir()
    for name in ("one", "two", "three"):
        shutil.copyfile(make_film(FILM).path, folder / f"{name}.mp4")
    return folder


def test_two_films_at_once_are_stopped_tidily_and_gone_on_with(films: Path, engines: Path) -> None:
    without_engine = FAKE[FAKE.index("fake") + 1 :]
    words = ("batch", films, "--jobs", 2, *without_engine, "--set", "stage1.engine=waiting:Waits")
    words += ("--set", "stage2.engine=fake")
    process = start("-m", "shotad", *words, more=engines, BEGUN=str(engines))
    deadline = time.monotonic() + WAIT
    while len(workers := [path.name for path in engines.iterdir() if path.name.isdigit()]) < 2:
        assert process.poll() is None, ended(process)
        assert time.monotonic() < deadline, "nothing happens"
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said = ended(process)
    assert said.code == 130, said.err[-3000:]
    assert not [worker for worker in workers if Path("/proc", worker).exists()]
    # A run that was ended by force would have left what it was writing.
    assert not list(films.glob("*.shotad/.tmp-*"))
    (engines / "go").touch()
    said = good(shotad(*words, more=engines, BEGUN=str(engines)))
    assert "3 films: 3 done" in said.out


def test_a_worker_that_is_ended_by_force_is_told_and_its_film_begun_again(
    films: Path, tmp_path: Path
) -> None:
    without_engine = FAKE[FAKE.index("fake") + 1 :]
    engine = ("--set", "stage1.engine=tests.catalogue.batch_workers:Once", "--set", "stage2.engine=fake")
    said = shotad(
        "batch", films, "--jobs", 2, *without_engine, *engine, **{MARK: str(tmp_path / "asked.txt")}
    )
    assert good(said).out.count("done") >= 3
    assert "The process at work on it was ended by force." in said.err


def test_a_file_that_is_open_elsewhere_is_waited_for_and_told_of(tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    shutil.copyfile(make_film(FILM).path, film)
    good(shotad("describe", film, *FAKE))
    script = tmp_path / "film.shotad" / "film.ad.vtt"
    with script.open("rb"):
        said = shotad("export", tmp_path / "film.shotad", "--format", "vtt", "--overwrite")
        assert said.code == 1
        assert "film.ad.vtt cannot be written" in said.err
        assert "If another program has it open, close it there" in said.err
    code = (
        "import sys, threading, pathlib\n"
        "file = open(sys.argv[1], 'rb')\n"
        "threading.Timer(0.3, file.close).start()\n"
        "from shotad.core.files import write_text\n"
        "write_text(pathlib.Path(sys.argv[1]), 'new')\n"
    )
    in_system(code, script)
    assert script.read_text(encoding="utf-8") == "new"


def test_names_from_elsewhere_become_names_of_files() -> None:
    names = ["a:b?.mp4", "aux.mp4", "con", "lpt1.tar.gz", "film.", "film ", "ok.mp4", "consul.mp4", "x\\y"]
    code = f"import json\nprint(json.dumps([[system.can_be_named(n), system.usable_name(n)] for n in {names!r}]))"
    can, usable = zip(*json.loads(in_system(code)), strict=True)
    assert [name for name, fits in zip(names, can, strict=True) if fits] == ["ok.mp4", "consul.mp4"]
    assert usable == (
        "a_b_.mp4", "aux_.mp4", "con_", "lpt1_.tar.gz", "film_", "film_", "ok.mp4", "consul.mp4", "x_y",
    )  # fmt: skip


def test_commands_and_addresses_are_read_and_written_as_there() -> None:
    command = r'"C:\Program Files\vllm.exe" serve {model} --port {port}'
    words, urls = (
        ["shotad", "lint", r"C:\My films\a b.shotad"],
        ["/C:/films/a.mp4", "C:/films/a.mp4", "server/films/a.mp4"],
    )
    code = (
        "import json\n"
        f"print(json.dumps([system.split_command({command!r}), system.quoted({words!r}),\n"
        f"    *map(system.path_of_url, {urls!r})]))"
    )
    assert json.loads(in_system(code)) == [
        ["C:\\Program Files\\vllm.exe", "serve", "{model}", "--port", "{port}"],
        'shotad lint "C:\\My films\\a b.shotad"',
        "C:/films/a.mp4",
        "C:/films/a.mp4",
        "//server/films/a.mp4",
    ]


def test_a_program_in_the_current_folder_is_not_taken_for_an_installed_one(tmp_path: Path) -> None:
    for folder in ("here", "installed"):
        program = tmp_path / folder / "espeak-ng"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n", encoding="ascii")
        program.chmod(0o755)
    code = (
        "import os, sys\n"
        "os.chdir(sys.argv[1])\n"
        "os.environ['PATH'] = os.pathsep.join(['.', '', sys.argv[2]])\n"
        "print(system.find_program('espeak-ng'), system.find_program('piper'))"
    )
    said = in_system(code, tmp_path / "here", tmp_path / "installed")
    assert said.split() == [str(tmp_path / "installed" / "espeak-ng"), "None"]


def test_a_server_that_was_started_apart_ends_with_all_that_it_started() -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = 'import time; time.sleep(300)'\n"
        'parent = f\'import subprocess, sys; p = subprocess.Popen([sys.executable, "-c", {child!r}]); '
        "print(p.pid, flush=True); p.wait()'\n"
        "server = system.start_apart([sys.executable, '-c', parent], stdout=subprocess.PIPE)\n"
        "number = int(server.stdout.readline())\n"
        "assert system.is_running(number)\n"
        "system.end_apart(server, 1.0)\n"
        "server.stdout.close()\n"
        "until = time.monotonic() + 20\n"
        "while system.is_running(number) and time.monotonic() < until: time.sleep(0.05)\n"
        "print(system.is_running(number), server.poll() is not None)"
    )
    assert in_system(code).split() == ["False", "True"]
