"""Settings of what the models are asked, translation included, and of the engines that answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from shotad.core.settings import Settings
from shotad.core.trust import ANY_FILE, LOCAL_ENGINES, PLAIN_NAME, UserOnly


@dataclass(frozen=True, slots=True)
class PromptRules:
    """What ``prompt.rules`` stands for."""

    factor_rule: Literal["paper", "code"] = "paper"  # borders of the effective scale
    circle_note: Literal["auto", "always"] = "auto"  # auto: only where characters are marked with circles
    thread_sentence_first: bool = False  # before the note on circles
    stress_steps: bool = False  # with words that stress steps 2 and 3 in Stage II
    example_choice: Literal["random", "length", "published"] = "length"  # see `prompts.draw_examples`
    names: Literal["spoken", "full"] = "spoken"  # what Stage I hears people called
    stage2_names: bool = True  # Stage II is told what to call the people of the clip
    heard_names: bool = True  # names that given subtitles hold near the clip are hints for Stage I


_PAPER = PromptRules(
    circle_note="always", example_choice="random", names="full", stage2_names=False, heard_names=False
)
_CODE = replace(
    _PAPER, factor_rule="code", thread_sentence_first=True, stress_steps=True, example_choice="published"
)
PROMPT_RULES: Mapping[str, PromptRules] = {"ours": PromptRules(), "paper": _PAPER, "code": _CODE}


class PromptSettings(Settings):
    """What the prompts say (Algorithms 1 and 2)."""

    medium: Literal["movie", "TV series"] = "movie"
    """What the prompts call the film."""
    factor: Literal["auto", "none", "face", "object", "environment", "all"] = "auto"
    """What Stage I is told to look for: ``auto`` goes by the shots' scales."""
    verbs: Annotated[tuple[str, ...], ANY_FILE] = (
        "look", "turn", "take", "hold", "pull", "walk", "run", "watch",
        "stare", "grab", "fall", "get", "go", "open", "smile",
    )  # fmt: skip
    """Verbs that Stage II is given as usual: those most frequent in the AD of a dataset."""
    example_count: int = Field(10, ge=0, le=1000)
    """Example ADs that Stage II is shown; 0: none."""
    example_file: Annotated[str | None, UserOnly(inside=True)] = None
    """A file of example ADs instead: plain text, a line each, or CSV with a column ``text_gt_wo_char``,
    ``text`` or ``text_gt``."""
    note: Annotated[str, ANY_FILE] = ""
    """The user's own note on the film: names, place, tone. The prompts of both stages carry it."""
    note_words: int = Field(250, ge=0, le=100_000)
    """Words of the note that are used."""
    characters: Literal["apart", "clip", "current"] = "apart"
    """People that Stage I gets: ``apart``, those of the current shots first and the others of the clip after;
    ``clip``, all in one list; ``current``, those of the current shots alone."""
    rules: Literal["ours", "paper", "code"] = "ours"
    """``ours``: people by the names to speak, names in given subtitles as hints, Stage II told what to call
    whom, examples of about the length wanted, the second of each frame. ``paper``: people by full names,
    circles spoken of in any case, examples at random, no times but those that Qwen's own video has. ``code``:
    as ``paper``, with the published code's borders of the effective scale, order and stress, and examples
    within one word of the length, drawn with replacement."""

    @property
    def by_rules(self) -> PromptRules:
        """What ``rules`` stands for."""
        return PROMPT_RULES[self.rules]

    @property
    def times(self) -> bool:
        """Whether models are told when each frame stands."""
        return self.rules == "ours"


class SamplingSettings(Settings):
    """How an engine draws its tokens."""

    temperature: float = Field(0.0, ge=0, le=10)
    """0: the likeliest token each time; more: freer answers."""
    top_p: float = Field(1.0, ge=0.0001, le=1)
    """Share of the likeliest tokens, by chance, from which one is drawn."""
    max_tokens: int = Field(512, ge=1, le=1_000_000)
    """Tokens of an answer at most; it is cut off there."""


class GreedySettings(Settings):
    """How long an answer may be that is the likeliest one: of equal questions equal answers."""

    max_tokens: int = Field(512, ge=1, le=1_000_000)
    """Tokens of an answer at most; it is cut off there."""

    @property
    def likeliest(self) -> SamplingSettings:
        """As an engine is asked."""
        return SamplingSettings(temperature=0.0, top_p=1.0, max_tokens=self.max_tokens)


class Stage1Settings(Settings):
    """The engine that describes the clip. None: the preset's."""

    engine: Annotated[str | None, UserOnly(harmless=LOCAL_ENGINES)] = None
    """Its name (docs/engines.md); None: the preset's."""
    model: Annotated[str | None, UserOnly(harmless=PLAIN_NAME)] = None
    """The engine's model: a name, a repository of the hub or a folder; None: the engine's own."""
    revision: Annotated[str | None, UserOnly()] = None
    """Revision of the model on its hub; None: the newest that is here."""
    base_url: Annotated[str | None, UserOnly()] = None
    """The endpoint for this stage; None: ``openai.base_url``."""
    sampling: GreedySettings = GreedySettings(max_tokens=512)
    attempts: int = Field(3, ge=1, le=10)
    """How often a slot is asked about, where no answer can be used."""


class Stage2Settings(Settings):
    """The engine that writes the AD sentence. None: the preset's."""

    engine: Annotated[str | None, UserOnly(harmless=LOCAL_ENGINES)] = None
    """Its name (docs/engines.md); None: the preset's."""
    model: Annotated[str | None, UserOnly(harmless=PLAIN_NAME)] = None
    """As in Stage I."""
    revision: Annotated[str | None, UserOnly()] = None
    """Revision of the model on its hub; None: the newest that is here."""
    base_url: Annotated[str | None, UserOnly()] = None
    """The endpoint for this stage; None: ``openai.base_url``."""
    sampling: SamplingSettings = SamplingSettings(temperature=0.6, top_p=0.9, max_tokens=256)
    attempts: int = Field(3, ge=1, le=10)
    """How often a line is asked for, where no answer can be used."""
    repair: Literal["all", "failed", "none"] = "all"
    """What is asked for again: ``all`` is also a line that breaks a rule or its budget (once), ``failed``
    only an answer without a line, ``none`` nothing."""
    candidates: int = Field(1, ge=1, le=10)
    """Lines that are written for each slot; one is chosen, all are kept."""
    draw: Literal["joint", "independent"] = "joint"
    """Ask for all candidates at once, or one by one (Shot-by-Shot, Table 9)."""
    select: Literal["single", "sequence", "engine"] = "single"
    """Who chooses among candidates: stated rules for each slot alone; along the film the one that adds
    most to what was said, by embeddings; or the engine of Stage II, along the film."""
    history: int = Field(5, ge=0, le=1000)
    """How many of the last lines the narrator knows."""
    fit: Literal["words", "none"] = "words"
    """``words``: a line above its budget loses sentences, then clauses, else is dropped; ``none``: stays."""

    @property
    def lines_an_answer(self) -> int:
        """How many lines one answer is to have: all candidates, or one where each has a run of its own."""
        return self.candidates if self.draw == "joint" else 1


class LocalSettings(Settings):
    """Models that run on this machine through transformers; where and how precisely stands in ``compute``."""

    quantise: Literal["none", "8bit", "4bit"] = "none"
    """Weights in fewer bits (bitsandbytes); the vision tower is left as it is."""
    batch: int = Field(16, ge=1, le=4096)
    """Requests that are handed over together; 1 gives the same bytes whatever else is asked."""


class EndpointSettings(Settings):
    """A server that speaks OpenAI's chat protocol: vLLM, Ollama, llama.cpp, LM Studio, OpenAI."""

    base_url: Annotated[str | None, UserOnly()] = None
    """None: the environment's ``OPENAI_BASE_URL``, else OpenAI's own."""
    model: Annotated[str | None, ANY_FILE] = None
    """The model's name on the server; without one here each stage must have its own."""
    key_name: Annotated[str, UserOnly()] = "OPENAI_API_KEY"
    """The environment variable that holds the key. The key itself is never a setting."""
    detail: Literal["low", "high", "auto"] = "low"
    """How closely the server looks at each frame; a higher one costs more tokens."""
    in_flight: int = Field(4, ge=1, le=256)
    """Requests that are under way at once."""
    timeout: float = Field(120.0, ge=0.01, le=86_400)
    """Seconds that a server may take for an answer."""
    retries: int = Field(5, ge=0, le=1000)
    """How often a call is repeated after 408, 409, 429, 5xx and broken connections."""
    longest_pause: float = Field(60.0, ge=0.001, le=86_400)
    """Seconds; the pauses between grow up to it. A longer ``Retry-After`` stops the run."""
    price_in: float | None = Field(None, ge=0, le=1_000_000)
    """Price of a million tokens read, in any currency."""
    price_out: float | None = Field(None, ge=0, le=1_000_000)
    """Price of a million tokens written, in the same."""


class StorySettings(Settings):
    """What Stage II gets of the film beyond the clip. Off by default, and in the paper's configs.

    Tokens are estimated, see `shotad.description.story`.
    """

    on: bool = False
    """Whether Stage II gets the story so far (``--context``)."""


class VerifySettings(Settings):
    """A second look at each line: is what it states to be seen? Off by default and in the paper's configs."""

    on: bool = False
    """Whether there is a second look (``--verify``)."""


class TranslateSettings(Settings):
    """How ``shotad translate`` asks. The engine is that of Stage II."""

    quotes: Literal["translate", "keep"] = "translate"
    """Text in quotation marks, which is read from the screen: translate it, because listeners need not know
    the language of the sign, or keep it as the film shows it."""
