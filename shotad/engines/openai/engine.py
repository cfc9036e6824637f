"""The engine ``openai``: both stages through a server that speaks OpenAI's chat protocol."""

from __future__ import annotations

from collections.abc import Sequence

from shotad.core.config import Config, EndpointSettings
from shotad.core.engine import Abilities, Identity, Reply, Request, Stage
from shotad.core.errors import EngineError
from shotad.core.progress import NoProgress, Progress
from shotad.engines.background import in_order
from shotad.engines.openai.address import Address, address_of, key_from
from shotad.engines.openai.asking import Asking
from shotad.engines.openai.client import ChatClient, need_client
from shotad.engines.openai.dialect import Dialect
from shotad.engines.openai.rate_limiter import Clock, RateLimiter, Sleep
from shotad.engines.openai.tokens import tokens_per_image
from shotad.engines.openai.wire import JPEG_QUALITY


class OpenAI:
    """Asks one model of one server. Safe in threads; opens no connection before the first request.

    The key is read from the environment for each call, and is kept nowhere.
    """

    def __init__(
        self,
        settings: EndpointSettings,
        address: Address,
        identity: Identity,
        *,
        sleep: Sleep | None = None,
        clock: Clock | None = None,
    ) -> None:
        """``sleep`` and ``clock`` stand in for the real ones; see `for_stage`."""
        self.identity = identity
        self.address = address
        self.abilities = Abilities(
            accepts_images=True,
            in_flight=settings.in_flight,
            sends_to="" if address.is_local else address.shown,
        )
        self._settings = settings
        timing = {} if clock is None else {"clock": clock}
        self._gate = RateLimiter(settings.in_flight, settings.longest_pause, sleep=sleep, **timing)
        self._line = ChatClient(address, settings.key_name, settings.timeout)
        self._dialect = Dialect(schema_is_wanted=settings.structured == "on")
        self._progress: Progress = NoProgress()

    @classmethod
    def for_stage(
        cls, config: Config, stage: Stage, *, sleep: Sleep | None = None, clock: Clock | None = None
    ) -> OpenAI:
        """The engine of one stage, which may have a model and a server of its own.

        Raises EngineError for an endpoint that is no URL. A model that is not set is found missing by
        `get_ready`, or at the first request.
        """
        settings, own = config.openai, config.stage1 if stage == "stage1" else config.stage2
        address = address_of(own.base_url, settings.base_url)
        model = own.model or settings.model or ""
        revision = _revision(settings, own.revision, stage)
        return cls(settings, address, Identity("openai", model, revision), sleep=sleep, clock=clock)

    def get_ready(self, progress: Progress) -> None:
        """Refuses what cannot work: no client, no model, no key for OpenAI. Contacts no other machine.

        Raises ShotadError.
        """
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
        """One reply for each request, in order; up to ``openai.in_flight`` are under way at once.

        Raises EngineError for what makes all further calls useless; then no thread sends anything more.
        """
        if not self.identity.model:
            raise self._no_model(self._line.models())
        asking = Asking(
            self._line, self._dialect, self._gate, self._settings, self.identity.model, self._progress
        )
        if len(requests) == 1:
            return [asking.reply(requests[0])]
        return in_order(asking.reply, requests, self._settings.in_flight)

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """How many tokens OpenAI counts for a clip; other servers count in other ways."""
        return frames * tokens_per_image(self.identity.model, self._settings.detail, width, height)

    def _no_model(self, known: tuple[str, ...]) -> EngineError:
        has = f" {self.address.shown} has: {', '.join(known)}." if known else ""
        return EngineError(
            "No model is set for the endpoint.",
            f"Set openai.model, or stage1.model and stage2.model.{has}",
            again=False,
        )


def _revision(settings: EndpointSettings, revision: str | None, stage: Stage) -> str:
    """All besides the model's name that changes answers, in words; empty where nothing does."""
    parts = [] if revision is None else [revision]
    if stage == "stage1":
        parts += [f"detail={settings.detail}", f"jpeg={JPEG_QUALITY}"]
    if settings.structured != "auto":
        parts.append(f"structured={settings.structured}")
    return " ".join(parts)
