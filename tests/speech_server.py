"""A speech server for tests, on this machine and in this process, that answers as it is told.

::

    with SpeechServer([refusal(400, "Unknown parameter: speed"), sound(tone(0.5))]) as server:
        ...  # server.url is the base URL (it ends in /v1), server.asked what came in

The acts follow the requests in their order; the last goes on for ever.
"""

from __future__ import annotations

import io
import json
import threading
import wave
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import numpy.typing as npt

Tone = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Act:
    """One answer. ``cut`` closes the connection before half of the body is sent."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


def tone(seconds: float, rate: int = 24000, hertz: float = 440.0) -> Tone:
    """A tone at half of full scale."""
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def wav(samples: Tone, rate: int = 24000, *, streamed: bool = False) -> bytes:
    """A WAV file of 16 bits; a ``streamed`` one has no length in its head."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.round(samples * 32767).astype("<i2").tobytes())
    data = out.getvalue()
    return data[:4] + b"\xff" * 4 + data[8:40] + b"\xff" * 4 + data[44:] if streamed else data


def sound(samples: Tone, rate: int = 24000, *, streamed: bool = False) -> Act:
    """A WAV file as an answer."""
    return Act(200, wav(samples, rate, streamed=streamed), {"Content-Type": "audio/wav"})


def refusal(status: int, message: str, **headers: str) -> Act:
    """An error as OpenAI words it."""
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()
    return Act(status, body, {"Content-Type": "application/json", **headers})


class SpeechServer:
    """The server. ``asked`` are the requests' bodies, ``keys`` what came as ``Authorization``."""

    def __init__(self, acts: Sequence[Act] | Callable[[dict[str, Any]], Act]) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.paths: list[str] = []
        self._acts, self._lock = acts, threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                owner._answer(self)

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> SpeechServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        with self._lock:
            number = len(self.asked)
            self.asked.append(body)
            self.keys.append(request.headers.get("Authorization", ""))
            self.paths.append(request.path)
        act = self._acts(body) if callable(self._acts) else self._acts[min(number, len(self._acts) - 1)]
        request.send_response(act.status)
        for name, value in act.headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(act.body)))
        request.end_headers()
        request.wfile.write(act.body[: len(act.body) // 2] if act.cut else act.body)
        if act.cut:
            request.close_connection = True
            request.wfile.flush()
