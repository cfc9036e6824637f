"""Engines for an endpoint, for tests: time that stands still until somebody waits, and requests to send."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from shotad.core import (
    Clip,
    Config,
    Message,
    Reply,
    Request,
)
from shotad.core.config.words import SamplingSettings
from shotad.core.engine import Stage
from shotad.core.settings import build_settings
from shotad.engines import OpenAI
from tests.bad_server import BadServer, Script, Seen

SCHEMA = {"type": "object", "properties": {"summarized_AD": {"type": "string"}}}
NOON = 1_790_000_000.0
"""A moment, in seconds since 1970: 2026-09-21 13:33:20 UTC."""


class StoppedTime:
    """A clock that moves only by sleeping; ``slept`` are the pauses in seconds."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._now = NOON
        self._lock = threading.Lock()

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)
            self._now += seconds

    def clock(self) -> float:
        with self._lock:
            return self._now


def engine_for(
    url: str | None, time: StoppedTime | None = None, stage: Stage = "stage1", **settings: Any
) -> OpenAI:
    """An engine whose pauses take no time; ``settings`` are those of the group ``openai``."""
    return engine_with({"openai": {"base_url": url, "model": "tiny", **settings}}, time, stage)


def engine_with(tree: dict[str, Any], time: StoppedTime | None = None, stage: Stage = "stage1") -> OpenAI:
    time = time or StoppedTime()
    return OpenAI(build_settings(Config, tree), stage, sleep=time.sleep, clock=time.clock)


def ask(
    script: Script, asked: Request | None = None, time: StoppedTime | None = None, **settings: Any
) -> tuple[Reply, list[Seen]]:
    """The reply to one request of an engine of its own, and all requests that its server saw."""
    with BadServer(script) as server:
        (reply,) = engine_for(server.url, time, **settings).generate([asked or request()])
        return reply, server.requests


def request(text: str = "What is seen?", *, frames: int = 0, schema: bool = False, **rest: Any) -> Request:
    """A question, with a clip of grey frames of growing brightness where ``frames`` are asked for."""
    clip = None
    if frames:
        levels = np.linspace(40, 200, frames).astype(np.uint8)[:, None, None, None]
        images = np.broadcast_to(levels, (frames, 24, 32, 3)).copy()
        clip = Clip(images, np.arange(frames, dtype=np.float64), np.zeros(frames, np.int64))
    messages = (Message("system", "You describe films."), Message("user", text))
    return Request(
        **{"slot_id": "s00001000", "messages": messages, "clip": clip, "seed": 0xFFFF_FFFF, **rest},
        schema=SCHEMA if schema else None,
    )


def greedy(max_tokens: int = 64) -> SamplingSettings:
    return SamplingSettings(temperature=0.0, top_p=1.0, max_tokens=max_tokens)
