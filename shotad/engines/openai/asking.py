"""One request from beginning to end: sent, sent again, said otherwise, and what the outcome means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from shotad.core.config import EndpointSettings
from shotad.core.engine import Reply, Request
from shotad.core.errors import EngineError
from shotad.core.progress import Progress
from shotad.engines.openai.address import unhinted
from shotad.engines.openai.client import Broken, ChatClient
from shotad.engines.openai.dialect import Dialect
from shotad.engines.openai.rate_limiter import RateLimiter, asked_pause, pauses
from shotad.engines.openai.server_error import Raw, ServerError, shortened, trouble_in
from shotad.engines.openai.wire import Answer, Body, answer_in, body_of, seed_of

_MOST_MISSES = 3
"""Requests in a row that came to nothing, each after all its repeats: the server is not well."""
_LATER = "What is done is kept: the same command goes on from here."
_WORTH_A_WORD = 10.0
"""Seconds; a longer pause that the server asks for is reported."""
_CUT_OFF = ("length", "max_tokens", "max_output_tokens")
_UNWANTED = ("content_filter", "safety", "refusal", "prohibited_content", "blocklist")


@dataclass(frozen=True, slots=True)
class _Passing:
    """A failure that may pass. ``pause`` is what the server asks for; ``down``: it takes nothing at all."""

    what: str
    pause: float | None = None
    down: bool = False


class Asking:
    """Asks a server on behalf of an engine. All that it keeps is shared by the engine's threads."""

    def __init__(
        self,
        line: ChatClient,
        dialect: Dialect,
        gate: RateLimiter,
        settings: EndpointSettings,
        model: str,
        progress: Progress,
    ) -> None:
        self._line = line
        self._dialect = dialect
        self._gate = gate
        self._settings = settings
        self._model = model
        self._progress = progress
        self._server = line.address.shown

    def reply(self, request: Request) -> Reply:
        """The reply to one request, failed or not. Raises EngineError for what stops the run."""
        calls = 1
        with self._gate.place():
            body = body_of(request, self._model, self._settings)
            found = self._answer(body, request.seed)
            if isinstance(found, Answer) and _is_empty(found):
                # With the same seed a greedy model would say nothing once more.
                again = self._answer({**body, "seed": seed_of(request.seed + 1)}, request.seed + 1)
                found, calls = replace(again, usage=found.usage + again.usage), 2
        reply = found if isinstance(found, Reply) else _reply(found, request.sampling.max_tokens)
        return replace(reply, calls=calls)

    def _answer(self, body: Body, seed: int) -> Answer | Reply:
        """The answer, or the failed reply where none is to be had."""
        steps = pauses(seed, self._settings.longest_pause)
        self._gate.come_back()
        found = self._once(body)
        for _ in range(self._settings.retries):
            if not isinstance(found, _Passing):
                return found
            self._pause(found, next(steps))
            found = self._once(body)
        return self._gave_up(found) if isinstance(found, _Passing) else found

    def _once(self, body: Body) -> Answer | Reply | _Passing:
        """One attempt; several calls only where the server has to be told things otherwise."""
        changes = self._dialect.known
        while True:
            self._gate.check()
            try:
                raw = self._line.ask(self._dialect.said(body, changes))
            except Broken as broken:
                return _Passing(str(broken), down=not broken.reached)
            trouble = trouble_in(raw)
            if trouble is None:
                return self._read(raw, changes)
            more = self._dialect.next_try(body, changes, trouble) if _is_about_form(trouble) else None
            if more is None:
                return self._judged(trouble, raw, body)
            changes = more

    def _read(self, raw: Raw, changes: frozenset[str]) -> Answer | _Passing:
        answer = answer_in(raw.document)
        if answer is None or answer.finish == "error":
            start = shortened(raw.body[:2000].decode("utf-8", "replace"))[:80]
            return _Passing(f"its answer is no chat completion ({start!r})")
        self._dialect.keep(changes)
        self._gate.answered()
        return answer

    def _judged(self, trouble: ServerError, raw: Raw, body: Body) -> Reply | _Passing:
        said = f"{self._server} says ({trouble.status}): {trouble.message.rstrip('.')}."
        match trouble.meaning:
            case "again":
                pause = asked_pause(raw.headers, self._gate.clock())
                what = f"it answers {trouble.status}: {trouble.message.rstrip('.')}"
                return _Passing(what, pause, down=trouble.status in (429, 503))
            case "refused":
                self._gate.answered()
                return Reply(trouble.message, "refused")
            case "too long":
                self._gate.answered()
                hint = "Lower frames.inside and frames.outside, or give the server a longer context."
                return Reply("", "error", error=f"The request is too long for the model. {said} {hint}")
            case "slot":
                self._gate.answered()
                return Reply("", "error", error=said)
        raise self._gate.stop(self._stopping(trouble, raw, said))

    def _stopping(self, trouble: ServerError, raw: Raw, said: str) -> EngineError:
        name = self._settings.key_name
        match trouble.meaning:
            case "quota":
                return EngineError(
                    f"The quota at {self._server} is spent. {said}", f"Top it up. {_LATER}", again=False
                )
            case "key":
                return EngineError(
                    f"{self._server} refuses the key in the environment variable {name}. {unhinted(said)}",
                    f"Set {name} to a key that may use this model. {_LATER}",
                    again=False,
                )
            case "blind":
                return EngineError(
                    f"The model {self._model} takes no images. {said}",
                    "Choose one with vision as stage1.model.",
                    again=False,
                )
            case "moved":
                host = urlsplit(raw.headers.get("location", "")).hostname or "another address"
                return EngineError(
                    f"{self._server} sends calls on to {host}.",
                    "Nothing was sent there. If it is the right one, set openai.base_url to it.",
                    again=False,
                )
        known = self._line.models()
        has = (
            f"It has: {', '.join(known)}."
            if known
            else "Does openai.base_url end as it should, mostly in /v1?"
        )
        return EngineError(
            f"The model {self._model} was not found. {said}", f"{has} Set openai.model.", again=False
        )

    def _pause(self, passing: _Passing, step: float) -> None:
        """Waits as long as the server asks for, or a growing while."""
        asked = passing.pause
        if asked is None:
            self._gate.come_back(step)
            return
        if asked > self._settings.longest_pause:
            what = f"{self._server} asks for a pause of {asked:.0f} s: {passing.what}."
            hint = f"Wait so long, or raise openai.longest_pause ({self._settings.longest_pause:g}). {_LATER}"
            raise self._gate.stop(EngineError(what, hint))
        if asked >= _WORTH_A_WORD:
            self._progress.note(f"{self._server} asks for a pause of {asked:.0f} s.")
        self._gate.close_for(asked)
        # A little more, so that those who were told to wait do not all come at once.
        self._gate.come_back(asked + min(step, asked / 10))

    def _gave_up(self, passing: _Passing) -> Reply:
        """What is left after the last repeat: this slot's failure, or the end of the run."""
        asked = "once" if not self._settings.retries else f"{self._settings.retries + 1} times"
        what = f"{self._server} gave no answer, asked {asked}: {passing.what}."
        if passing.down or self._gate.missed() >= _MOST_MISSES:
            raise self._gate.stop(EngineError(what, f"Is it running, and has it room? {_LATER}"))
        return Reply("", "error", error=what)


def _is_about_form(trouble: ServerError) -> bool:
    return trouble.status in (400, 422) and trouble.meaning == "slot"


def _is_empty(answer: Answer) -> bool:
    return not answer.text and not answer.refusal and answer.finish not in (*_CUT_OFF, *_UNWANTED)


def _reply(answer: Answer, limit: int) -> Reply:
    if answer.refusal or answer.finish in _UNWANTED:
        return Reply(answer.refusal or answer.text, "refused", answer.usage)
    if answer.text:
        return Reply(answer.text, "length" if answer.finish in _CUT_OFF else "stop", answer.usage)
    if answer.finish in _CUT_OFF:
        why = f"empty answer: all {limit} tokens went before a word; raise the stage's sampling.max_tokens"
        return Reply("", "error", answer.usage, why)
    return Reply("", "error", answer.usage, error="empty answer")
