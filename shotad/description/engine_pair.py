"""The engines of both stages: what they need, what users should know of them, their prices, what a run
used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shotad.core import (
    Config,
    Engine,
    Progress,
    Usage,
)
from shotad.core.config.languages import language_of
from shotad.core.engine import (
    Stage,
    SupportsCounting,
    SupportsEstimates,
    SupportsPreparing,
)
from shotad.core.errors import EngineError
from shotad.core.weight_store import weights_file, weights_folder
from shotad.engines import (
    AskingPool,
    Memory,
    StageUsage,
    check_fits,
    chosen_model,
    make_engine,
    privacy_notice,
    stage_engines,
)
from shotad.engines.answer_log import identity_record
from shotad.engines.openai_engine import silent_servers
from shotad.engines.pool import are_local_models
from shotad.engines.table import is_running
from shotad.script import Maker
from shotad.script.embeddings import DEFAULT_EMBEDDER as EMBEDDINGS, check_installed

STAGE_NAMES: Mapping[Stage, str] = {"stage1": "Stage I", "stage2": "Stage II"}
"""What the stages are called in messages."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The engine that answers the questions of a stage, and what it costs.

    Prices are of a million tokens, in any currency; ``image_tokens`` gives the tokens of a clip by width,
    height and number of frames, None where the engine cannot tell. ``free``: its answers cost nothing.
    ``reads`` is False for one that reads no prompts and so has no tokens. ``most_calls`` and ``token_growth``
    are those of its `Abilities`.
    """

    engine: str
    image_tokens: Callable[[int, int, int], int] | None = None
    price_in: float | None = None
    price_out: float | None = None
    free: bool = True
    reads: bool = True
    most_calls: int = 1
    token_growth: int = 1

    @staticmethod
    def of(engine: Engine, config: Config) -> Terms:
        """The terms of an engine under these settings; only an endpoint has prices."""
        counts = engine.image_tokens if isinstance(engine, SupportsCounting) else None
        identity = engine.identity
        name = identity.engine
        if identity.model and identity.model != identity.engine:
            name = f"{identity.engine} ({identity.model})"
        if identity.engine != "openai":
            terms = Terms(name, counts, reads=engine.abilities.converses)
        else:
            terms = Terms(name, counts, config.openai.price_in, config.openai.price_out, free=False)
        abilities = engine.abilities
        return replace(terms, most_calls=abilities.most_calls, token_growth=abilities.token_growth)

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """What so many tokens cost; None where a price is missing."""
        if self.free:
            return 0.0
        if self.price_in is None or self.price_out is None:
            return None
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


@dataclass(frozen=True, slots=True)
class StageUsed:
    """What the engine of one stage was asked, and what it took."""

    terms: Terms
    calls: int
    tokens: Usage

    @property
    def cost(self) -> float | None:
        """None where a price is missing."""
        return self.terms.cost(self.tokens.tokens_in, self.tokens.tokens_out)


@dataclass(frozen=True, slots=True)
class EngineUsage:
    """Calls, tokens and cost of a run, by the stage whose engine was asked."""

    stages: Mapping[Stage, StageUsed]

    @property
    def calls(self) -> int:
        return sum(stage.calls for stage in self.stages.values())

    @property
    def tokens(self) -> Usage:
        """Of both stages."""
        return sum((stage.tokens for stage in self.stages.values()), Usage())

    @property
    def cost(self) -> float | None:
        """Of both stages; None where a price is missing for one that was asked."""
        return total(stage.cost for stage in self.stages.values() if stage.calls)

    def lines(self) -> list[str]:
        """Plain lines for the summary; none of engines that read no prompts, such as the embedded ones."""
        lines = [
            f"Used by {STAGE_NAMES[name]}, {stage.terms.engine}: {stage.calls:,} "
            f"call{'s' * (stage.calls != 1)}, {stage.tokens.tokens_in:,} tokens in, "
            f"{stage.tokens.tokens_out:,} out."
            for name, stage in self.stages.items()
            if stage.terms.reads and stage.tokens != Usage()
        ]
        if not lines:
            return []
        if all(stage.terms.free for stage in self.stages.values() if stage.calls) or self.cost is None:
            return lines
        return [*lines, f"Cost: {money(self.cost)}."]

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""

        def row(usage: EngineUsage | StageUsed) -> dict[str, Any]:
            cost = None if usage.cost is None else round(usage.cost, 6)
            return {"calls": usage.calls, **asdict(usage.tokens), "cost": cost}

        stages = {name: {"engine": stage.terms.engine, **row(stage)} for name, stage in self.stages.items()}
        return {**row(self), "stages": stages}


def engine_usage(usage: Mapping[Stage, StageUsage], terms: Mapping[Stage, Terms]) -> EngineUsage:
    """What the engines of a pool took (`AskingPool.usage`), on these terms."""
    return EngineUsage(
        {
            stage: StageUsed(terms[stage], usage[stage].calls, usage[stage].tokens)
            for stage in terms
            if stage in usage
        }
    )


def total(costs: Iterable[float | None]) -> float | None:
    """The sum; None where one is not known."""
    amount: float = 0  # not 0.0: JSON of a run that asks nothing has 0
    for cost in costs:
        if cost is None:
            return None
        amount += cost
    return amount


def money(amount: float) -> str:
    """An amount with cents, or with more places where it is smaller.

    >>> money(1234.5), money(0.00312)
    ('1,234.50', '0.0031')
    """
    return f"{amount:,.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.4f}"


_INSTEAD = (
    "Choose the engine embedded, which runs on any computer, or openai with a server; with the settings of "
    "the paper also threads.features=auto, or 4.5 GB are fetched for threads."
)


def prepare_engine(engine: Engine, progress: Progress) -> None:
    """Refuse what cannot work and fetch the weights it needs; the engine's identity is final afterwards."""
    if isinstance(engine, SupportsPreparing):
        engine.get_ready(progress)
    for name in engine.abilities.weights:
        weights_file(name, progress)


def prepare_local_engines(engine: Engine) -> None:
    """The same for an estimate, where nothing has to be fetched for it."""
    if isinstance(engine, SupportsEstimates):
        engine.ready_if_here()


@dataclass(frozen=True, slots=True)
class Engines:
    """The engines of both stages: ``stage1`` describes the clips, ``stage2`` writes the lines."""

    stage1: Engine
    stage2: Engine

    @staticmethod
    def of(config: Config) -> Engines:
        """The engines that the settings name."""
        names = stage_engines(config)
        return Engines(
            make_engine(names.stage1, config, "stage1"), make_engine(names.stage2, config, "stage2")
        )

    def check_machine(self, config: Config) -> None:
        """Refuse models that this machine lacks and cannot run, before all else. Raises EngineError."""
        models = [*getattr(self.stage1, "to_fetch", ()), *getattr(self.stage2, "to_fetch", ())]
        check_fits(models, config, _INSTEAD)

    def get_ready(self, config: Config, progress: Progress) -> None:
        """Refuse what cannot work and fetch the weights it needs. Raises EngineError, WeightsError,
        ShotadError.
        """
        self.check_machine(config)
        for engine in (self.stage1, self.stage2):
            prepare_engine(engine, progress)
        if config.verify.on and not self.stage1.abilities.converses:
            raise EngineError(
                f"verify.on asks the engine of Stage I, but {self.stage1.identity.engine} answers no "
                "questions.",
                "Choose a vision-language model for Stage I, or leave --verify away.",
                again=False,
            )
        # The model that compares lines with each other (`choice.by_sequence`)
        if config.stage2.select == "sequence":
            check_installed()
            weights_folder(EMBEDDINGS, progress)
        if config.story.on and not self.stage2.abilities.converses:
            raise EngineError(
                f"story.on gives the engine of Stage II what came before, but "
                f"{self.stage2.identity.engine} reads no prompts.",
                "Choose a language model for Stage II, or leave --context away.",
                again=False,
            )

    def ready_if_here(self) -> None:
        """Make ``identity`` final where that needs nothing to be fetched."""
        for engine in (self.stage1, self.stage2):
            prepare_local_engines(engine)

    def in_turn(self, config: Config) -> bool:
        """Whether a line's question depends on the lines before it."""
        return self.stage2.abilities.uses_history or config.story.on

    def terms(self, config: Config) -> dict[Stage, Terms]:
        """The prices of each stage's engine."""
        return {"stage1": Terms.of(self.stage1, config), "stage2": Terms.of(self.stage2, config)}

    @property
    def makers(self) -> tuple[Maker, ...]:
        """Both engines as the track names them."""
        identities = {"Stage I": self.stage1.identity, "Stage II": self.stage2.identity}
        return tuple(Maker(stage, **identity_record(identity)) for stage, identity in identities.items())

    @property
    def take_turns(self) -> bool:
        """Whether both are models of this machine. They are not loaded in turn for each slot: Stage II begins
        when Stage I is done."""
        return are_local_models([self.stage1, self.stage2])

    def pool(self, config: Config, memory: Memory) -> AskingPool:
        """A pool that asks both engines; ``memory`` has what they answered before."""
        # Calls to one server share its limit, whichever stage makes them.
        usual = config.openai.base_url
        one_server = (config.stage1.base_url or usual) == (config.stage2.base_url or usual)
        is_same_engine = self.stage1.identity.engine == self.stage2.identity.engine
        return AskingPool(
            {"stage1": self.stage1, "stage2": self.stage2},
            memory,
            shared=one_server and is_same_engine,
            take_turns=self.take_turns,
        )


EMBEDDED = (
    "Engine: embedded. It reads out titles and captions and says who of the cast appears; the rest that it "
    "measures is material for you, in the worksheet. A vision-language model describes what happens: "
    "--engine paper on a GPU, or --engine openai with a server (docs/engines.md)."
)

WITHOUT_CLASSIFIER = (
    "Shot scales come from faces, because no trained classifier is set: the paper's cannot be fetched. "
    "Train one (shotad train scale) and give it as --set scale.checkpoint=FILE."
)

ONLY_ENGLISH = (
    "Stage I describes in English, Stage II is asked for lines in language = {language}; a line that plainly "
    "comes in another one fails. The examples and the rules on words are English: the rules are left out."
)


def open_engines(config: Config, folder: Path, engines: Engines) -> list[str]:
    """Lines for the start of a run: the work folder, what leaves the machine, and warnings on the engines."""
    leaving = privacy_notice(engines.stage1, engines.stage2)
    return [f"Work folder: {folder}", *leaving, *engine_warnings(config, engines)]


def engine_names(engines: Engines) -> list[str]:
    """The engines of both stages and their models, in a line; none for the embedded ones, which
    `engine_warnings` tells of."""
    stage1, stage2 = _named_with_model(engines.stage1), _named_with_model(engines.stage2)
    if (stage1, stage2) == _EMBEDDED:
        return []
    if stage1 == stage2:
        return [f"Engine: {stage1}."]
    return [f"Engines: {stage1} describes the clips (Stage I), {stage2} writes the lines (Stage II)."]


def _named_with_model(engine: Engine) -> str:
    identity = engine.identity
    has_model = identity.model not in ("", identity.engine) and identity.engine not in _EMBEDDED
    return f"{identity.engine} ({identity.model})" if has_model else identity.engine


_EMBEDDED = ("observer", "narrator")


def engine_warnings(config: Config, engines: Engines) -> list[str]:
    """Lines that a user should read of the engines before a run: what they cannot do, what is missing."""
    lines = []
    stages = stage_engines(config)
    if config.engine == "auto" and (model := chosen_model()) and not is_running(model):
        lines.append(f"{model}, which you chose for auto, does not answer: is its server running?")
    lines += [
        f"No server answers at {server} yet. Start it now: without it the run ends at the first slot."
        for server in silent_servers(engines.stage1, engines.stage2)
    ]
    if stages.stage1 == "observer":
        lines.append(EMBEDDED)
    if config.prompt.factor == "auto" and config.scale.checkpoint is None and stages.stage1 == "qwen2-vl":
        lines.append(WITHOUT_CLASSIFIER)
    if not language_of(config.language).english and engines.stage2.abilities.converses:
        lines.append(ONLY_ENGLISH.format(language=config.language))
    max_words, word_count = config.prompt.note_words, len(config.prompt.note.split())
    if word_count > max_words:
        lines.append(
            f"The note on the film has {word_count} words; {max_words} are used (prompt.note_words)."
        )
    return lines
