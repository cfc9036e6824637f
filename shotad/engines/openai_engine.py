"""The engine ``openai``: both stages through a server that speaks OpenAI's chat protocol.

One request goes from beginning to end: sent, sent again, said otherwise, and what the outcome means. Tokens
of an image are as OpenAI's guide to vision has it, and as the preprocessing of Qwen's models cuts it.
"""

from __future__ import annotations

import math
import re
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Self, TypeVar
from urllib.parse import urlsplit

from shotad.core import (
    Abilities,
    Config,
    Engine,
    EngineError,
    Identity,
    NoProgress,
    Progress,
    Reply,
    Request,
    Stage,
)
from shotad.engines import openai_wire as wire
from shotad.engines.openai_client import (
    Broken,
    ChatClient,
    address_of,
    key_from,
    key_name_of,
    need_client,
)
from shotad.engines.table import named

_MOST_MISSES = 3
"""Requests in a row that came to nothing, each after all its repeats: the server is not well."""
_LATER = "What is done is kept: the same command continues from here."
_WORTH_A_WORD = 10.0
"""Seconds; a longer pause that the server asks for is reported."""

_COSTS = (
    ("gpt-4o-mini", 2833, 5667),
    ("gpt-5", 70, 140),
    ("o1", 75, 150),
    ("o3", 75, 150),
)
"""Models that differ, by the beginning of their names: an image at low detail, each tile at high."""
_USUAL = (85, 170)
"""gpt-4o, gpt-4.1 and whatever else."""

_QWEN = re.compile(r"qwen-?(\d)[\d.]*-?vl", re.IGNORECASE)


def tokens_per_image(model: str, detail: str, width: int, height: int) -> int:
    """Tokens of one image; ``auto`` counts as high, for the server chooses.

    At low detail any image costs the same. At high detail it is made to fit a square of 2048 pixels, then a
    short side of 768, and each tile of 512 that covers it is added. Qwen's models count squares of 28
    pixels, from Qwen3 on of 32, whatever the detail.

    >>> tokens_per_image("gpt-4o", "low", 4096, 8192), tokens_per_image("openai/gpt-4o-mini", "low", 8, 8)
    (85, 2833)
    >>> tokens_per_image("gpt-4o", "high", 1024, 1024), tokens_per_image("gpt-4o", "high", 2048, 4096)
    (765, 1105)
    >>> tokens_per_image("Qwen/Qwen2-VL-7B-Instruct", "low", 597, 336)
    254
    """
    if (qwen := _QWEN.search(model)) is not None:
        square = 28 if int(qwen[1]) < 3 else 32
        return max(1, round(width / square)) * max(1, round(height / square)) + 2  # marks
    own = model.rpartition("/")[2]  # gateways put the maker before it
    base, each = next(((low, tile) for name, low, tile in _COSTS if own.startswith(name)), _USUAL)
    if detail == "low":
        return base
    scale = min(1.0, 2048 / max(width, height), 768 / min(width, height))
    across, down = (math.ceil(round(side * scale, 6) / 512) for side in (width, height))
    return base + each * across * down


class OpenAI:
    """Asks one model of one server. Safe in threads; opens no connection before the first request.

    The key is read from the environment for each call, and is kept nowhere.
    """

    name = "openai"
    client = ChatClient
    hears = False

    def __init__(
        self,
        config: Config,
        stage: Stage,
        *,
        sleep: wire.Sleep | None = None,
        clock: wire.Clock | None = None,
    ) -> None:
        """The engine of one stage, which may have a model and a server of its own.

        ``sleep`` and ``clock`` stand in for the real ones. Raises EngineError for an endpoint that is no URL.
        A model that is not set is found missing by `get_ready`, or at the first request.
        """
        settings, own = config.openai, config.stage1 if stage == "stage1" else config.stage2
        self.address = address = address_of(own.base_url, settings.base_url)
        server = named(config.engine)
        # Whether the server takes videos
        self._video = stage == "stage1" and server is not None and server[0].word == "vllm"
        # All but the model's name that changes answers.
        words = [] if own.revision is None else [own.revision]
        if stage == "stage1":
            words += [f"detail={settings.detail}", f"jpeg={wire.JPEG_QUALITY}"]
            words += [word for word, on in (("video", self._video), ("sound", self.hears)) if on]
        self.identity = Identity(self.name, own.model or settings.model or "", " ".join(words))
        self.abilities = Abilities(
            accepts_images=True,
            in_flight=settings.in_flight,
            sends_to="" if address.is_local else address.shown,
            key_name=key_name_of(address, settings.key_name),
            hears=self.hears,
        )
        self._settings = settings
        self._gate = wire.RateLimiter(settings.in_flight, settings.longest_pause, sleep=sleep, clock=clock)
        self._line = self.client(address, settings.key_name, settings.timeout)
        self._changes: frozenset[str] = frozenset()
        """What this server was found to want said otherwise (`said_otherwise`)."""
        self._progress: Progress = NoProgress()

    @classmethod
    def for_stage(cls, config: Config, stage: Stage) -> Self:
        """The engine of one of the stages."""
        return cls(config, stage)

    def get_ready(self, progress: Progress) -> None:
        """Refuses what cannot work: no client, model, or key for OpenAI. Asks nobody. Raises ShotadError."""
        self._progress = progress
        need_client()
        if not self.identity.model:
            raise self._no_model(self._line.models() if self.address.is_local else ())
        if not key_from(self._settings.key_name) and self.address.is_own and self.address.login is None:
            raise EngineError(
                f"{self.address.shown} wants a key, and the environment has no {self._settings.key_name}.",
                "Set it, name another variable (openai.key_name), or another server (openai.base_url).",
                again=False,
            )

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order. Raises EngineError for what makes further calls useless."""
        if not self.identity.model:
            raise self._no_model(self._line.models())
        if len(requests) == 1:
            return [self._reply(requests[0])]
        return in_order(self._reply, requests, self._settings.in_flight)

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """How many tokens OpenAI counts for a clip; other servers count in other ways."""
        return frames * tokens_per_image(self.identity.model, self._settings.detail, width, height)

    def _reply(self, request: Request) -> Reply:
        """The reply to one request, failed or not. Raises EngineError for what stops the run."""
        calls = 1
        with self._gate.place():
            body = wire.body_of(request, self.identity.model, self._settings, video=self._video)
            reply = self._answer(body, request.seed)
            if "media_io_kwargs" in body and "video" in str(reply.error):
                self._video = False  # Of this model nothing but stills are taken.
                body = wire.body_of(request, self.identity.model, self._settings)
                reply = self._answer(body, request.seed)
            if reply.error == wire.EMPTY:
                # With the same seed a greedy model would say nothing once more.
                again = self._answer({**body, "seed": wire.seed_of(request.seed + 1)}, request.seed + 1)
                reply, calls = replace(again, usage=reply.usage + again.usage), 2
        timed = request.timed and request.clip is not None
        shown = "video" if "media_io_kwargs" in body else "stills" if timed else ""
        return replace(reply, calls=calls, shown=shown)

    def _answer(self, body: wire.Body, seed: int) -> Reply:
        """The reply, asked for again where that may help."""
        steps = wire.pauses(seed, self._settings.longest_pause)
        self._gate.come_back()
        for left in range(self._settings.retries, -1, -1):
            try:
                return self._once(body)
            except Broken as error:
                broken = error
            if left:
                self._pause(broken, next(steps))
        # After the last repeat: this slot's failure, or the end of the run.
        asked = "once" if not self._settings.retries else f"{self._settings.retries + 1} times"
        what = f"{self.address.shown} gave no answer, asked {asked}: {broken}."
        if broken.down or self._gate.missed() >= _MOST_MISSES:
            raise self._gate.stop(EngineError(what, f"Is it running, and has it room? {_LATER}"))
        return Reply("", "error", error=what)

    def _once(self, body: wire.Body) -> Reply:
        """One attempt; several calls only where the server has to be told things otherwise. Raises Broken."""
        changes = self._changes
        while True:
            self._gate.check()
            said = wire.said_otherwise(body, changes)
            raw = self._line.ask(said)
            trouble = wire.trouble_in(raw)
            if trouble is None:
                reply = wire.reply_in(raw.document, body["max_tokens"])
                if reply is None:
                    start = wire.shortened(raw.body[:2000].decode("utf-8", "replace"))[:80]
                    raise Broken(f"its answer is no chat completion ({start!r})")
                self._changes |= changes
                self._gate.answered()
                return reply
            change = wire.change_for(said, trouble)
            if change is None:
                return self._judged(trouble, raw)
            changes |= {change}

    def _judged(self, trouble: wire.ServerError, raw: wire.Raw) -> Reply:
        name, server, message = self._settings.key_name, self.address.shown, trouble.message.rstrip(".")
        said = f"{server} says ({trouble.status}): {message}."
        if trouble.meaning in ("refused", "too long", "slot"):
            self._gate.answered()
        match trouble.meaning:
            case "again":
                pause = wire.asked_pause(raw.headers, self._gate.clock())
                what = f"it answers {trouble.status}: {message}"
                raise Broken(what, pause, down=trouble.status in (429, 503))
            case "refused":
                return Reply(trouble.message, "refused")
            case "too long":
                hint = "Lower frames.inside and frames.outside, or give the server a longer context."
                return Reply("", "error", error=f"The request is too long for the model. {said} {hint}")
            case "slot":
                return Reply("", "error", error=said)
            case "quota":
                what, hint = f"The quota at {server} is spent. {said}", f"Top it up. {_LATER}"
            case "key":
                # Without what a server shows of a key between stars, ``sk-1234***********cdef``
                said = re.sub(r"(?:(?<![\w-])[\w-]+)?\*{3,}[\w-]*", "[secret]", said)
                what = f"{server} refuses the key in the environment variable {name}. {said}"
                hint = f"Set {name} to a key that may use this model. {_LATER}"
            case "blind":
                what = f"The model {self.identity.model} takes no images. {said}"
                hint = "Choose one with vision as stage1.model."
            case "moved":
                try:
                    host = urlsplit(raw.headers.get("location", "")).hostname or "another address"
                except ValueError:  # no address at all, or one that held a key
                    host = "another address"
                what = f"{server} sends calls on to {host}."
                hint = "Nothing was sent there. If it is the right one, set openai.base_url to it."
            case _:
                what = f"The model {self.identity.model} was not found. {said}"
                hint = "Does openai.base_url end as it should, mostly in /v1? Set openai.model."
                if known := self._line.models():
                    hint = f"It has: {', '.join(known)}. Set openai.model."
        raise self._gate.stop(EngineError(what, hint, again=False))

    def _pause(self, broken: Broken, step: float) -> None:
        """Waits as long as the server asks for, or a growing while."""
        asked = broken.pause
        if asked is None:
            self._gate.come_back(step)
            return
        if asked > self._settings.longest_pause:
            what = f"{self.address.shown} asks for a pause of {asked:.0f} s: {broken}."
            hint = f"Wait so long, or raise openai.longest_pause ({self._settings.longest_pause:g}). {_LATER}"
            raise self._gate.stop(EngineError(what, hint))
        if asked >= _WORTH_A_WORD:
            self._progress.note(f"{self.address.shown} asks for a pause of {asked:.0f} s.")
        self._gate.close_for(asked)
        # A little more, so that those who were told to wait do not all come at once.
        self._gate.come_back(asked + min(step, asked / 10))

    def _no_model(self, known: tuple[str, ...]) -> EngineError:
        has = f" {self.address.shown} has: {', '.join(known)}." if known else ""
        hint = f"Set openai.model, or stage1.model and stage2.model.{has}"
        return EngineError("No model is set for the endpoint.", hint, again=False)


class OpenAIWithSound(OpenAI):
    """The same for a model that hears: a clip's sound is sent with its frames, if it is named outright."""

    hears = True


def notice(stage1: Engine, stage2: Engine) -> list[str]:
    """What leaves this machine, and to whom, told before the first call; nothing where all stays."""
    looks, writes = (
        engine.abilities.destination if engine.abilities.sends_to else "" for engine in (stage1, stage2)
    )
    seen = "Frames and sound of the film" if stage1.abilities.hears else "Frames of the film"
    lines = []
    if looks and looks == writes:
        lines.append(f"{seen}, and descriptions of it, leave this machine: they are sent to {looks}.")
    elif looks:
        lines.append(f"{seen} leave this machine: they are sent to {looks}.")
    if writes and writes != looks:
        lines.append(
            f"Descriptions of the film, but no frames, leave this machine: they are sent to {writes}."
        )
    unsafe = {e.address.shown for e in (stage1, stage2) if isinstance(e, OpenAI) and e.address.is_open}
    return [*lines, *(f"The connection to {host} is not encrypted (http)." for host in sorted(unsafe))]


def silent_servers(stage1: Engine, stage2: Engine) -> list[str]:
    """The servers of this machine that are to answer and do not pick up now; no other machine is called."""
    asked = {engine.address for engine in (stage1, stage2) if isinstance(engine, OpenAI)}
    return sorted({one.shown for one in asked if one.is_local and not one.picks_up})


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def in_order(work: Callable[[_Item], _Result], items: Sequence[_Item], number: int) -> list[_Result]:
    """The result of each item, in order; up to ``number`` are worked on at once, in threads of their own.

    After an exception no further item is begun; it is raised when those under way have ended. After an
    interruption nothing is waited for, as a pool of `concurrent.futures` would till its threads end.
    """
    found: list[Future[_Result]] = [Future() for _ in items]
    left = deque(zip(found, items, strict=True))

    def work_through() -> None:
        while left:
            try:
                result, item = left.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                result.set_result(work(item))
            except BaseException as error:  # noqa: BLE001  handed over to who waits
                left.clear()
                result.set_exception(error)

    threads = [
        threading.Thread(target=work_through, name="asking", daemon=True)
        for _ in range(min(number, len(items)))
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:
        left.clear()
    for result in found:
        # What was not begun after an exception has no result, and waits for none.
        if result.done():
            result.result()
    return [result.result() for result in found]
