"""A server of files on this machine that misbehaves on purpose: an author's place, a package index, a proxy.

::

    with FileServer({"/a.onnx": Page(b"content")}) as server:
        ...  # server.url is http://127.0.0.1:PORT; server.asked lists the paths in the order in which they came

A path that is not in ``pages`` is answered 404. With ``certificate`` it speaks TLS. A client that takes it for its
proxy sends whole addresses, which may be keys of ``pages`` too.
"""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal


@dataclass
class Page:
    """What is behind a path.

    ``end``: ``whole``; ``cut`` breaks the connection in the middle of the body; ``stall`` sends half of it and
    then nothing; ``hang`` sends nothing at all. ``wait`` is called before the answer.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    end: Literal["whole", "cut", "stall", "hang"] = "whole"
    wait: Callable[[], object] | None = None


def redirect(address: str) -> Page:
    return Page(status=302, headers={"Location": address})


class FileServer:
    """Serves ``pages``, which may be changed while it runs. Closing breaks every connection."""

    def __init__(self, pages: dict[str, Page], certificate: Path | None = None) -> None:
        self.pages = pages
        self.asked: list[str] = []
        self.half_sent = threading.Event()
        """Set once half of a page that stalls is sent."""
        self._closing = threading.Event()
        server = self

        class Handler(_Handler):
            owner = server

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Broken connections are the point of this server."""

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self._scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # The handshake belongs to the connection's own thread, not to the one that accepts.
            self._http.socket = context.wrap_socket(
                self._http.socket, server_side=True, do_handshake_on_connect=False
            )
            self._scheme = "https"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> FileServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    owner: FileServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Says nothing."""

    def do_GET(self) -> None:
        self.owner.asked.append(self.path)
        page = self.owner.pages.get(self.path, Page(b"no such page", 404))
        if page.wait is not None:
            page.wait()
        if page.end == "hang":
            self.owner._closing.wait()
            return
        self.send_response(page.status)
        for name, value in {"Content-Length": str(len(page.body)), **page.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        half = len(page.body) // 2
        self.wfile.write(page.body if page.end == "whole" else page.body[:half])
        self.wfile.flush()
        if page.end == "stall":
            self.owner.half_sent.set()
            self.owner._closing.wait()
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def refusing_address() -> str:
    """The address of a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def make_certificate(path: Path) -> Path:
    """A certificate for 127.0.0.1 that nobody has signed, with its key, in one file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private)
    return path
