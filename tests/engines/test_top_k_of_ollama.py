"""Ollama's own protocol has top_k among its options (docs.ollama.com/api, "Valid parameters and values")."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from shotad.core import Config
from shotad.core.config.words import SamplingSettings
from shotad.core.settings import build_settings
from shotad.engines import make_engine
from tests.endpoint import request

pytest.importorskip("httpx", reason="the extra openai is not installed")

ANSWERS: dict[str, dict[str, Any]] = {
    "/api/show": {"model_info": {"llama.context_length": 8192}, "capabilities": ["completion"]},
    "/api/chat": {
        "message": {"role": "assistant", "content": "Rain falls."},
        "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 3,
    },
}  # fmt: skip


@pytest.fixture
def chats() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a server, and the bodies of the chats that it gets."""
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path == "/api/chat":
                bodies.append(body)
            answer = json.dumps(ANSWERS[self.path]).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1", bodies
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("top_k", [None, 50])
def test_it_is_sent_where_it_is_set(chats: tuple[str, list[dict[str, Any]]], top_k: int | None) -> None:
    address, bodies = chats
    settings = {"engine": "ollama:tiny", "openai": {"base_url": address}}
    engine = make_engine("ollama", build_settings(Config, settings), "stage2")
    sampling = SamplingSettings(temperature=1.5, top_p=0.95, top_k=top_k)
    (reply,) = engine.generate([request(sampling=sampling)])
    assert reply.text == "Rain falls."
    (body,) = bodies
    options = body["options"]
    assert options.get("top_k") == top_k
    assert (options["temperature"], options["top_p"]) == (1.5, 0.95)
