"""The engine ``openai``: both stages through a server that speaks OpenAI's chat protocol.

Here a request goes from beginning to end: it is sent, repeated, rewritten where the server refuses its form
(`openai_changes`), and the answer or error becomes a reply. What is known of servers beforehand stands in
`openai_servers`. Tokens of an image are counted as OpenAI's guide to vision says, and
as the preprocessing of Qwen's models does.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from shotad.core import (
    Abilities,
    Config,
    Engine,
    Identity,
    NoProgress,
    Progress,
    Reply,
    Request,
)
from shotad.core.cancellation import in_context
from shotad.core.engine import Stage
from shotad.core.errors import EngineError, quoted
from shotad.engines import openai_wire as wire
from shotad.engines.openai_changes import (
    LEFT_OUT,
    MORE_TOKENS,
    SCHEMA_IN_OBJECT,
    changes_for,
    form_of,
    images_in,
    rewritten,
    token_limit,
)
from shotad.engines.openai_client import (
    CallFailed,
    ChatClient,
    address_of,
    api_key,
    key_name_of,
    require_httpx,
)
from shotad.engines.openai_servers import server_of
from shotad.engines.table import named
from shotad.script.reasons import in_english

_MAX_MISSES = 3
"""Requests in a row that failed after all their repeats: then the server is taken for broken, and the run
ends."""
_MOST_CALLS = 12
"""Calls of one attempt, each with another change of the request: a server that refuses what it named before
would have no end of them."""
_MOST_ANSWERS = 2
"""Answers that one request may take: the first, and another where that has no text or ignores the schema."""
_ADDRESS_HINT = "Is openai.base_url the address of its OpenAI-compatible interface? Mostly it ends in /v1."
_CONTINUE_HINT = "What is done is kept: the same command continues from here."
_REPORTED_PAUSE = 10.0
"""Seconds; a pause that the server asks for is reported to the user from this length on."""

_IMAGE_TOKENS = (
    ("gpt-4o-mini", 2833, 5667),
    ("gpt-5", 70, 140),
    ("o1", 75, 150),
    ("o3", 75, 150),
)
"""Beginnings of models' names, with the tokens of an image at low detail and of each tile at high detail."""
_DEFAULT_IMAGE_TOKENS = (85, 170)
"""The same for gpt-4o, gpt-4.1 and models that are not known."""

_QWEN_NAME = re.compile(r"qwen-?(\d)[\d.]*-?vl", re.IGNORECASE)


def tokens_per_image(model: str, detail: str, width: int, height: int) -> int:
    """Tokens of one image of ``width`` by ``height`` pixels. ``detail`` auto counts as high: the server
    chooses.

    At low detail any image costs the same. At high detail it is scaled down to fit a square of 2048 pixels,
    then to a short side of 768; each tile of 512 pixels costs extra. Qwen's models count squares of 28
    pixels, from Qwen3 on of 32, at any detail.

    >>> tokens_per_image("gpt-4o", "low", 4096, 8192), tokens_per_image("openai/gpt-4o-mini", "low", 8, 8)
    (85, 2833)
    >>> tokens_per_image("gpt-4o", "high", 1024, 1024), tokens_per_image("gpt-4o", "high", 2048, 4096)
    (765, 1105)
    >>> tokens_per_image("Qwen/Qwen2-VL-7B-Instruct", "low", 597, 336)
    254
    """
    if (qwen := _QWEN_NAME.search(model)) is not None:
        square = 28 if int(qwen[1]) < 3 else 32
        squares = max(1, round(width / square)) * max(1, round(height / square))
        return squares + 2  # a mark before the image and one after it
    model_name = model.rpartition("/")[2]  # gateways put the maker before it
    image_tokens, tile_tokens = _DEFAULT_IMAGE_TOKENS
    for beginning, low, tile in _IMAGE_TOKENS:
        if model_name.startswith(beginning):
            image_tokens, tile_tokens = low, tile
            break
    if detail == "low":
        return image_tokens
    scale = min(1.0, 2048 / max(width, height), 768 / min(width, height))
    # Rounded, so that a side of 512.0000001 is one tile.
    columns = math.ceil(round(width * scale, 6) / 512)
    rows = math.ceil(round(height * scale, 6) / 512)
    return image_tokens + tile_tokens * columns * rows


class OpenAI:
    """Asks one model of one server. May be used by several threads; connects at the first request.

    The key is read from the environment for each call, and is not stored.
    """

    name = "openai"
    client_class = ChatClient
    hears = False
    knows_one_schema_form = False
    """Whether the protocol has a single form for a schema, so that no other can be tried."""

    def __init__(
        self,
        config: Config,
        stage: Stage,
        *,
        sleep: wire.Sleep | None = None,
        clock: wire.Clock | None = None,
    ) -> None:
        """The engine of one stage, which may have a model and a server of its own.

        ``sleep`` and ``clock`` replace the real ones in tests. Raises EngineError for an endpoint that is not
        a URL. That no model is set is an error of `get_ready`, or of the first request.
        """
        settings = config.openai
        stage_settings = config.stage1 if stage == "stage1" else config.stage2
        self.address = address = address_of(stage_settings.base_url, settings.base_url)
        local_server = named(config.engine)
        kind = local_server[0].word if local_server is not None else ""
        # Of all servers only vLLM takes videos.
        self._video = stage == "stage1" and kind == "vllm"
        # The revision of the identity: everything beside the model's name that changes answers.
        revision = [] if stage_settings.revision is None else [stage_settings.revision]
        if stage == "stage1":
            revision += [f"detail={settings.detail}", f"jpeg={wire.JPEG_QUALITY}"]
            if self._video:
                revision.append("video")
            if self.hears:
                revision.append("sound")
        if settings.thinking != "lowest":
            revision.append(f"thinking={settings.thinking}")
        if settings.extra:
            revision.append(f"extra={json.dumps(settings.extra, sort_keys=True, separators=(',', ':'))}")
        # A classic address of Azure names the model too.
        model = stage_settings.model or settings.model or address.deployment
        self.identity = Identity(self.name, model, " ".join(revision))
        self._server = server_of(address, kind)
        self._thinking = self._thinking_fields(model) if settings.thinking == "lowest" else {}
        self.abilities = Abilities(
            accepts_images=True,
            max_images=None if self._video else self._server.max_images,
            in_flight=settings.in_flight,
            sends_to="" if address.is_local else address.shown,
            key_name=key_name_of(address, settings.key_name),
            hears=self.hears,
            most_calls=_MOST_ANSWERS,
            token_growth=MORE_TOKENS,
        )
        self._settings = settings
        self._limiter = wire.RateLimiter(settings.in_flight, settings.longest_pause, sleep=sleep, clock=clock)
        self._client = self.client_class(address, settings.key_name, settings.timeout)
        self._form = form_of(address.url, model, settings.extra)
        if self.abilities.max_images is not None:
            self._form.begin_with("images", self.abilities.max_images)
        self._first_try_of_schema = threading.Lock()
        """Taken for good by the first request that tries the other form of a schema."""
        self._progress: Progress = NoProgress()
        self._told_of_fewer_frames = False
        self._told_of_top_k = False

    @classmethod
    def for_stage(cls, config: Config, stage: Stage) -> Self:
        """The engine of one of the stages. Raises EngineError."""
        return cls(config, stage)

    def _thinking_fields(self, model: str) -> dict[str, Any]:
        """The fields that keep ``model`` from thinking, or let it think least."""
        return self._server.lowest_thinking(model)

    def get_ready(self, progress: Progress) -> None:
        """Check that there is a client, a model, and a key where the server is known to want one. Sends
        nothing to other machines.

        Raises ShotadError.
        """
        self._progress = progress
        require_httpx()
        if not self.identity.model:
            raise self._no_model_error(self._client.models() if self.address.is_local else ())
        wants_key = bool(self._server.hosts) and not self.address.is_local
        if wants_key and not api_key(self._settings.key_name) and self.address.login is None:
            raise EngineError(
                f"{self.address.shown} wants a key, and the environment has no {self._settings.key_name}.",
                "Set it, name another variable (openai.key_name), or another server (openai.base_url).",
                again=False,
            )

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order. Raises EngineError for errors that every further call would
        have."""
        if not self.identity.model:
            raise self._no_model_error(self._client.models())
        if len(requests) == 1:
            return [self._reply(requests[0])]
        return map_in_order(self._reply, requests, self._settings.in_flight)

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """The tokens of a clip as OpenAI counts them; other servers differ."""
        return frames * tokens_per_image(self.identity.model, self._settings.detail, width, height)

    def _reply(self, request: Request) -> Reply:
        """The reply to one request, failed or not. Raises EngineError for errors that stop the run."""
        with self._limiter.place():
            body, growth = self._body_of(request), self._form.growth
            reply = self._answer(body, request.seed)
            calls = 1
            problem = f"{reply.error} {reply.notes.get('problem', '')}"
            if "media_io_kwargs" in body and re.search("video|media_io_kwargs", problem):
                # The model or server takes no videos, now or later: send the frames as images.
                self._video = False
                body = self._body_of(request)
                reply = self._answer(body, request.seed)
            error = reply.error or ""
            if error.startswith(wire.CUT_IN_THOUGHT) and self._form.grow() > growth:
                reply = self._another(reply, body, request.seed)
                calls += 1
            elif error.startswith((wire.EMPTY, wire.ONLY_THOUGHT)):
                # With the same seed the answer might be empty again.
                seed = request.seed + 1
                reply = self._another(
                    reply, {**body, "seed": wire.seed_of(seed), **self._settings.extra}, seed
                )
                calls += 1
            ignores_schema = calls < _MOST_ANSWERS and self._ignores_schema(request, reply)
            if ignores_schema and self._first_try_of_schema.acquire(blocking=False):
                reply = self._try_other_schema_form(body, request, reply)
                calls += 1
        return replace(reply, calls=calls)

    def _body_of(self, request: Request) -> wire.Body:
        return wire.body_of(
            request, self.identity.model, self._settings, video=self._video, thinking=self._thinking
        )

    def _another(self, first: Reply, body: wire.Body, seed: int) -> Reply:
        """The reply to a request that is asked again, with the tokens of both."""
        second = self._answer(body, seed)
        return replace(second, usage=first.usage + second.usage)

    def _ignores_schema(self, request: Request, reply: Reply) -> bool:
        """Whether a reply shows that the server took the schema in OpenAI's form and did not hold to it."""
        if request.schema is None or reply.finish not in ("stop", "length") or self.knows_one_schema_form:
            return False
        # Asked without a schema, in the other form already, or as the user wants it.
        if "response_format" in self._form.changes or "response_format" in self._settings.extra:
            return False
        return not wire.fits_schema(reply, request.schema)

    def _try_other_schema_form(self, body: wire.Body, request: Request, reply: Reply) -> Reply:
        """The reply to the same request in the other form of a schema, which is kept where the server holds
        to it; else ``reply``. Either has the tokens of both.

        One call, without repeats: the request has a reply already.
        """
        other_body = rewritten(body, {**self._form.changes, "response_format": SCHEMA_IN_OBJECT})
        try:
            raw = self._client.ask(other_body)
        except CallFailed:
            return reply
        second = wire.reply_in(raw.document, token_limit(other_body))
        if second is None:
            return reply
        usage = reply.usage + second.usage
        if request.schema is not None and wire.fits_schema(second, request.schema):
            self._form.begin_with("response_format", SCHEMA_IN_OBJECT)
            return replace(second, usage=usage, shown=reply.shown)
        return replace(reply, usage=usage)

    def _answer(self, body: wire.Body, seed: int) -> Reply:
        """The reply to a request, repeated where that may help. Raises EngineError.

        ``seed`` is that of the pauses before repeats.
        """
        pauses = wire.pauses(seed, self._settings.longest_pause)
        self._limiter.wait_until_open()
        retries_left = self._settings.retries
        while True:
            answers = self._limiter.answers
            try:
                return self._attempt(body)
            except CallFailed as error:
                broken = error
            if not retries_left:
                break
            self._pause(broken, next(pauses))
            # Of the requests that wait for a limit of calls a minute, some are refused each time. They lose
            # nothing by it while others are answered.
            if broken.pause is None or self._limiter.answers == answers:
                retries_left -= 1
        # The last repeat has failed too: only this slot fails, unless the server takes nothing any more.
        key = "failure.no_answer.other" if self._settings.retries else "failure.no_answer.one"
        values = {"server": self.address.shown, "number": self._settings.retries + 1}
        problem = in_english(key, **values, error=broken)
        if broken.down or self._limiter.missed() >= _MAX_MISSES:
            raise self._limiter.stop(EngineError(f"{problem}.", f"{broken.hint} {_CONTINUE_HINT}"))
        sentence = in_english(key, **values, error=broken.sentence)
        return Reply("", "error", error=sentence, notes={"problem": problem})

    def _attempt(self, body: wire.Body) -> Reply:
        """The reply of one attempt. It takes several calls where the server refuses the form of the request.

        Raises CallFailed where another attempt may help, and EngineError.
        """
        form, fixed = self._form, self._settings.extra
        changes = form.changes
        guesses: list[str] = []
        named: set[str] = set()
        """Changes that errors asked for, not guesses."""
        calls = 0
        is_alone = False
        with ExitStack() as guessing:
            while True:
                self._limiter.check()
                request = rewritten(body, changes)
                raw = self._client.ask(request)
                error = wire.error_in(raw)
                if error is None:
                    reply = self._reply_in(raw, request)
                    form.accept(request, changes, guesses)
                    self._limiter.answered()
                    self._tell_of_top_k(request, body)
                    return replace(reply, shown=self._shown(request, body))
                more = changes_for(request, error, changes, fixed)
                form.learn({name: changes[name] for name in named - more.keys()}, error)
                if error.meaning == "cut":
                    # Only a request whose form is right is answered at all.
                    form.accept(request, changes, guesses)
                guess = None if more else form.guess(request, error, changes, fixed)
                if guess is not None and not is_alone:
                    # One thread guesses; the others wait, and begin with what it learned.
                    form.alone(guessing)
                    is_alone = True
                    more = {name: value for name, value in form.changes.items() if name not in changes}
                    guess = None if more else form.guess(request, error, changes, fixed)
                if guess is not None:
                    guesses.append(guess)
                    more = {guess: LEFT_OUT}
                else:
                    named |= more.keys()
                calls += 1
                if not more or calls == _MOST_CALLS:
                    if guesses:
                        form.stop_guessing()
                    return self._reply_to_error(error, raw, token_limit(request))
                changes = {**changes, **more}

    def _reply_in(self, raw: wire.ServerAnswer, request: wire.Body) -> Reply:
        """The reply that an answer holds. Raises CallFailed for an answer of another kind."""
        reply = wire.reply_in(raw.document, token_limit(request))
        if reply is None:
            start = wire.shortened(raw.body[:2000].decode("utf-8", "replace"))[:80]
            if raw.is_page:
                hint = f"{_ADDRESS_HINT} A page may also come from a proxy that wants a login."
                raise self._lasting_at_first(CallFailed("failure.page", hint=hint, text=start))
            raise CallFailed("failure.no_completion", text=start)
        return reply

    def _lasting_at_first(self, failed: CallFailed) -> CallFailed | EngineError:
        """The exception for what lasts if the server has never answered, and may pass if it has."""
        if self._limiter.answers:
            return failed
        problem = f"{self.address.shown}: {failed}."
        return self._limiter.stop(EngineError(problem, failed.hint, again=False))

    def _shown(self, request: wire.Body, body: wire.Body) -> str:
        """How the clip of ``body`` was shown in ``request``, for the record. Fewer frames are reported
        once."""
        shown, sent, frames = wire.shown_in(request), images_in(request), images_in(body)
        if sent == frames:
            return shown
        if not self._told_of_fewer_frames:
            self._told_of_fewer_frames = True
            self._progress.note(
                f"{self.address.shown} takes {sent} images in a request: it is shown {sent} of the {frames} "
                "frames of a clip."
            )
        return f"{shown}, {sent} of {frames} frames"

    def _tell_of_top_k(self, request: wire.Body, body: wire.Body) -> None:
        """Report once that the server knows no ``top_k``, where ``request`` goes without that of ``body``.

        OpenAI's own servers have no such field (platform.openai.com/docs/api-reference/chat).
        """
        if "top_k" in body and "top_k" not in request and not self._told_of_top_k:
            self._told_of_top_k = True
            self._progress.note(f"{self.address.shown} knows no top_k: tokens are drawn without that limit.")

    def _reply_to_error(self, error: wire.ServerError, raw: wire.ServerAnswer, limit: int) -> Reply:
        """The failed reply for an error of this request alone, whose answer may have ``limit`` tokens.

        Raises CallFailed for one that may pass, and EngineError for one that every request would have.
        """
        server, message = self.address.shown, error.message.rstrip(".")
        server_message = f"{server} says ({error.status}): {message}."
        if error.meaning in ("refused", "cut", "too long", "too large", "images", "slot"):
            self._limiter.answered()  # the server works; only this request fails
        match error.meaning:
            case "again":
                now = self._limiter.clock()
                if error.is_daily and wire.asked_pause(raw.headers, now) is None:
                    problem = f"A quota of {server} is spent that is counted by the day. {server_message}"
                    hint = f"Wait until it begins anew, or raise it. {_CONTINUE_HINT}"
                    raise self._limiter.stop(EngineError(problem, hint, again=False))
                pause = wire.asked_pause(raw.headers, now, error.answer)
                is_down = error.status in (429, 503)
                raise CallFailed("failure.status", pause, down=is_down, status=error.status, text=message)
            case "refused":
                return Reply(error.message, "refused")
            case "cut":
                return Reply("", "error", error=wire.cut_in_thought(limit))
            case "too long":
                return Reply(
                    "", "error", error=in_english("failure.request_length"), notes={"problem": server_message}
                )
            case "too large":
                return Reply(
                    "", "error", error=in_english("failure.request_size"), notes={"problem": server_message}
                )
            case "memory":
                hint = (
                    "Give it more memory, choose a smaller model, or lower frames.inside and frames.outside."
                )
                failed = CallFailed("failure.server_memory", hint=hint, status=error.status, text=message)
                raise self._lasting_at_first(failed)
            case "slot" | "images":
                problem = in_english(
                    "failure.server", server=server, status=error.status, text=quoted(message)
                )
                return Reply("", "error", error=problem, notes={"problem": server_message})
        raise self._limiter.stop(self._lasting_error(error, raw, server_message))

    def _lasting_error(
        self, error: wire.ServerError, raw: wire.ServerAnswer, server_message: str
    ) -> EngineError:
        """The error that every request would have, with what the user can do. ``server_message`` repeats what
        the server says."""
        name, server = self._settings.key_name, self.address.shown
        match error.meaning:
            case "quota":
                problem = f"The quota at {server} is spent. {server_message}"
                hint = f"Top it up. {_CONTINUE_HINT}"
            case "key":
                # Some servers show parts of the key: ``sk-1234***********cdef``.
                server_message = re.sub(r"(?:(?<![\w-])[\w-]+)?\*{3,}[\w-]*", "[secret]", server_message)
                problem = f"{server} refuses the key in the environment variable {name}. {server_message}"
                hint = f"Set {name} to a key that may use this model. {_CONTINUE_HINT}"
            case "place":
                problem = f"{server} does not serve the place that you call from. {server_message}"
                hint = "Take another server (openai.base_url)."
            case "policy":
                problem = (
                    f"The settings of the account at {server} leave nobody to serve {self.identity.model}. "
                    f"{server_message}"
                )
                hint = "Change them there, or choose another model."
            case "nowhere":
                problem = f"{server} has no chat at this address. {server_message}"
                hint = _ADDRESS_HINT
            case "blind":
                problem = f"The model {self.identity.model} takes no images. {server_message}"
                hint = "Choose one with vision as stage1.model."
            case "moved":
                try:
                    host = urlsplit(raw.headers.get("location", "")).hostname or "another address"
                except ValueError:  # not an address, or one in which a key was struck out
                    host = "another address"
                problem = f"{server} sends calls on to {host}."
                hint = "Nothing was sent there. If it is the right one, set openai.base_url to it."
            case _:
                problem = f"The model {self.identity.model} was not found. {server_message}"
                hint = "Does openai.base_url end as it should, mostly in /v1? Set openai.model."
                models = self._client.models()
                if self.identity.model in models and not error.denies_model:
                    problem = f"{server} has the model {self.identity.model} and does not serve it. "
                    problem += server_message
                    hint = "Look at what it says; else choose another model (openai.model)."
                elif models:
                    hint = f"It has: {', '.join(models)}. Set openai.model."
        return EngineError(problem, hint, again=False)

    def _pause(self, broken: CallFailed, usual_pause: float) -> None:
        """Wait for the pause that the server asks for, else for ``usual_pause``; both in seconds.

        Raises EngineError where it asks for more than ``openai.longest_pause``.
        """
        asked_pause = broken.pause
        if asked_pause is None:
            self._limiter.wait_until_open(usual_pause)
            return
        longest_pause = self._settings.longest_pause
        if asked_pause > longest_pause:
            problem = f"{self.address.shown} asks for a pause of {asked_pause:.0f} s: {broken}."
            hint = f"Wait so long, or raise openai.longest_pause ({longest_pause:g}). {_CONTINUE_HINT}"
            raise self._limiter.stop(EngineError(problem, hint))
        if asked_pause >= _REPORTED_PAUSE:
            self._progress.note(f"{self.address.shown} asks for a pause of {asked_pause:.0f} s.")
        self._limiter.close_for(asked_pause)
        # A little longer, by chance, so that the waiting threads do not all send at once.
        self._limiter.wait_until_open(asked_pause + min(usual_pause, asked_pause / 10))

    def _no_model_error(self, models: tuple[str, ...]) -> EngineError:
        """The error for settings without a model; ``models`` are those that the server has."""
        models_of_server = f" {self.address.shown} has: {', '.join(models)}." if models else ""
        hint = f"Set openai.model, or stage1.model and stage2.model.{models_of_server}"
        return EngineError("No model is set for the endpoint.", hint, again=False)


class OpenAIWithSound(OpenAI):
    """The same for a model that takes sound: the sound of a clip is sent with its frames.

    Used only where the settings name it: no preset does.
    """

    hears = True


def privacy_notice(stage1: Engine, stage2: Engine) -> list[str]:
    """Lines that say what leaves this machine, and to which host, for before the first call; else none."""
    stage1_host = stage1.abilities.destination if stage1.abilities.sends_to else ""
    stage2_host = stage2.abilities.destination if stage2.abilities.sends_to else ""
    content = "Frames and sound of the film" if stage1.abilities.hears else "Frames of the film"
    lines = []
    if stage1_host and stage1_host == stage2_host:
        lines.append(
            f"{content}, and descriptions of it, leave this machine: they are sent to {stage1_host}."
        )
    elif stage1_host:
        lines.append(f"{content} leave this machine: they are sent to {stage1_host}.")
    if stage2_host and stage2_host != stage1_host:
        lines.append(
            f"Descriptions of the film, but no frames, leave this machine: they are sent to {stage2_host}."
        )
    unencrypted: set[str] = set()
    for engine in (stage1, stage2):
        if isinstance(engine, OpenAI) and engine.address.is_open:
            unencrypted.add(engine.address.shown)
    for host in sorted(unencrypted):
        lines.append(f"The connection to {host} is not encrypted (http).")
    return lines


def silent_servers(stage1: Engine, stage2: Engine) -> list[str]:
    """The servers on this machine that the engines need and that do not answer now. Calls no other
    machine."""
    addresses = {engine.address for engine in (stage1, stage2) if isinstance(engine, OpenAI)}
    return sorted(
        {address.shown for address in addresses if address.is_local and not address.accepts_connections}
    )


Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_order(work: Callable[[Item], Result], items: Sequence[Item], number: int) -> list[Result]:
    """``work(item)`` for each item, in the order of the items; up to ``number`` run at once, in threads.

    After an exception no further item is begun, and it is raised when the others have ended. Ctrl-C waits for
    nothing, while a pool of `concurrent.futures` would wait for its threads.
    """
    futures: list[Future[Result]] = [Future() for _ in items]
    remaining = deque(zip(futures, items, strict=True))

    def work_on_items() -> None:
        while remaining:
            try:
                future, item = remaining.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                future.set_result(work(item))
            except BaseException as error:  # noqa: BLE001  raised again in the calling thread
                remaining.clear()
                future.set_exception(error)

    threads = [
        threading.Thread(target=in_context(work_on_items), name="asking", daemon=True)
        for _ in range(min(number, len(items)))
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:
        remaining.clear()
    for future in futures:
        # Raises the exception, if there was one. Items that were not begun after it have no result.
        if future.done():
            future.result()
    return [future.result() for future in futures]
