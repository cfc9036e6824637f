"""Settings of what the models are asked, translation included, and of the engines that answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field, JsonValue, field_validator

from shotad.core.settings import Settings
from shotad.core.trust import ANY_FILE, LOCAL_ENGINES, PLAIN_NAME, UserOnly


@dataclass(frozen=True, slots=True)
class PromptRules:
    """What ``prompt.rules`` stands for."""

    factor_rule: Literal["paper", "code"] = "paper"  # borders of the effective scale
    circle_note: Literal["auto", "always"] = "auto"  # auto: only where characters are marked with circles
    thread_sentence_first: bool = False  # before the note on circles
    stress_steps: bool = False  # with words that stress steps 2 and 3 in Stage II
    example_choice: Literal["random", "length", "published"] = "length"  # see `description.prompts`
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


Focus = Literal["people", "actions", "places", "looks", "objects", "text"]


class PromptSettings(Settings):
    """What the prompts say (Shot-by-Shot, Algorithms 1 and 2)."""

    medium: Literal["movie", "TV series"] = "movie"
    """What the prompts call the film."""
    factor: Literal["auto", "none", "face", "object", "environment", "all"] = "auto"
    """What Stage I is told to look for. ``auto``: depends on the shots' scales."""
    verbs: Annotated[tuple[str, ...], ANY_FILE] = (
        "look", "turn", "take", "hold", "pull", "walk", "run", "watch",
        "stare", "grab", "fall", "get", "go", "open", "smile",
    )  # fmt: skip
    """Verbs that Stage II is given as typical: the most frequent in the AD of a dataset."""
    example_count: int = Field(10, ge=0, le=1000)
    """How many example ADs Stage II is shown; 0: none."""
    example_file: Annotated[str | None, UserOnly(inside=True)] = None
    """File of example ADs to use instead: plain text with one on each line, or CSV with a column
    ``text_gt_wo_char``, ``text`` or ``text_gt``."""
    note: Annotated[str, ANY_FILE] = ""
    """Your note on the film: names, place, tone. The prompts of both stages contain it (``--note``)."""
    note_words: int = Field(250, ge=0, le=100_000)
    """Words of the note that are used."""
    characters: Literal["apart", "clip", "current"] = "apart"
    """Which people Stage I is told of. ``apart``: those of the slot's shots first, then the others of the
    clip; ``clip``: all in one list; ``current``: only those of the slot's shots."""
    focus: tuple[Focus, ...] = ()
    """What your listeners want most to hear of; Stage II puts its weight there, in this order. Empty: on what
    draws the eye most."""
    own_words: Annotated[Mapping[str, str], ANY_FILE] = {}
    """Words for lines to use in place of others, such as ``{"Thom": "Dad"}``. Quoted text stays as it is."""
    rules: Literal["ours", "paper", "code"] = "ours"
    """``ours``: the names to speak, hints from names in given subtitles, names for Stage II too, examples of
    about the wanted length, the time of each frame. ``paper``: full names, circles mentioned always, random
    examples, only the times of Qwen's own video. ``code``: as ``paper``, with the published code's limits of
    the effective scale, its order and emphasis, and examples within one word of the length, drawn with
    replacement."""

    @field_validator("own_words")
    @classmethod
    def _words_on_both_sides(cls, own_words: Mapping[str, str]) -> Mapping[str, str]:
        for word, instead in own_words.items():
            if not any(map(str.isalnum, word)) or not any(map(str.isalnum, instead)):
                raise ValueError(f"{word!r}: {instead!r} has no word on both sides")
        words = Counter(word.casefold() for word in own_words)
        twice = [word for word in own_words if words[word.casefold()] > 1]
        if twice:
            raise ValueError(f"{' and '.join(map(repr, twice))} are one word")
        return own_words

    @property
    def by_rules(self) -> PromptRules:
        """What ``rules`` stands for."""
        return PROMPT_RULES[self.rules]

    @property
    def times(self) -> bool:
        """Whether models are told when each frame stands."""
        return self.rules == "ours"


class SamplingSettings(Settings):
    """How an engine samples its tokens."""

    temperature: float = Field(0.0, ge=0, le=10)
    """0: always the likeliest token; higher: more varied answers."""
    top_p: float = Field(1.0, ge=0.0001, le=1)
    """Share of probability: a token is drawn from the likeliest that together reach it."""
    top_k: int | None = Field(None, ge=1, le=1_000_000)
    """A token is drawn from this many of the likeliest, before ``top_p``. None: no limit here, and a server's
    own default there."""
    max_tokens: int = Field(512, ge=1, le=1_000_000)
    """Tokens of an answer, at most; a longer one is cut off."""


class GreedySettings(Settings):
    """Stage I always takes the likeliest token, so equal questions get equal answers. Only the length can be
    set."""

    max_tokens: int = Field(512, ge=1, le=1_000_000)
    """Tokens of an answer, at most; a longer one is cut off."""

    @property
    def likeliest(self) -> SamplingSettings:
        """As an engine is asked."""
        return SamplingSettings(temperature=0.0, top_p=1.0, max_tokens=self.max_tokens)


class Stage1Settings(Settings):
    """The engine that describes the clip."""

    engine: Annotated[str | None, UserOnly(harmless=LOCAL_ENGINES)] = None
    """Name of the engine (docs/engines.md). None: the preset's."""
    model: Annotated[str | None, UserOnly(harmless=PLAIN_NAME)] = None
    """Model of the engine: a name, a repository on the hub or a folder. None: the engine's default."""
    revision: Annotated[str | None, UserOnly()] = None
    """Revision of the model on its hub. None: the newest that is here."""
    base_url: Annotated[str | None, UserOnly()] = None
    """Address of the server for this stage. None: ``openai.base_url``."""
    sampling: GreedySettings = GreedySettings(max_tokens=512)
    attempts: int = Field(3, ge=1, le=10)
    """How often to ask about a slot while no answer can be used, at most."""


class Stage2Settings(Settings):
    """The engine that writes the AD sentence."""

    engine: Annotated[str | None, UserOnly(harmless=LOCAL_ENGINES)] = None
    """Name of the engine (docs/engines.md). None: the preset's."""
    model: Annotated[str | None, UserOnly(harmless=PLAIN_NAME)] = None
    """Model of the engine, as in ``stage1.model``."""
    revision: Annotated[str | None, UserOnly()] = None
    """Revision of the model on its hub. None: the newest that is here."""
    base_url: Annotated[str | None, UserOnly()] = None
    """Address of the server for this stage. None: ``openai.base_url``."""
    sampling: SamplingSettings = SamplingSettings(temperature=0.6, top_p=0.9, max_tokens=256)
    attempts: int = Field(3, ge=1, le=10)
    """How often to ask for a line while no answer can be used, at most."""
    repair: Literal["all", "failed", "none"] = "all"
    """What to ask for again. ``all``: answers without a line and, once, lines that break a rule or their word
    budget; ``failed``: only answers without a line, or with one in another language; ``none``: nothing."""
    candidates: int = Field(1, ge=1, le=10)
    """Lines to write for each slot; one is chosen, all are kept (``--candidates``)."""
    draw: Literal["joint", "independent"] = "joint"
    """``joint``: ask for all candidates at once; ``independent``: one by one (Shot-by-Shot, Table 9)."""
    select: Literal["single", "sequence", "engine"] = "single"
    """How a candidate is chosen. ``single``: by rules, for each slot alone; ``sequence``: along the film, the
    one that adds most to earlier lines, by embeddings; ``engine``: along the film, by the engine of Stage
    II."""
    history: int = Field(5, ge=0, le=1000)
    """How many of the last lines the embedded narrator knows."""
    fit: Literal["words", "none"] = "words"
    """``words``: a line over its word budget loses sentences, then clauses; if it still does not fit, it is
    dropped. ``none``: it stays."""

    @property
    def lines_an_answer(self) -> int:
        """How many lines one answer is to have: all candidates, or one where each has a run of its own."""
        return self.candidates if self.draw == "joint" else 1


class LocalSettings(Settings):
    """Models that run on this machine through transformers. Device and precision are in ``compute``."""

    quantise: Literal["none", "8bit", "4bit"] = "none"
    """Load weights with fewer bits (bitsandbytes), except those of the vision part."""
    batch: int = Field(16, ge=1, le=4096)
    """How many requests are answered together, at most. With 1 an answer never depends on the other requests,
    to the byte."""


class EndpointSettings(Settings):
    """A server that speaks OpenAI's chat protocol: vLLM, Ollama, llama.cpp, LM Studio, OpenAI."""

    base_url: Annotated[str | None, UserOnly()] = None
    """Address of the server. None: ``OPENAI_BASE_URL`` of the environment, else OpenAI's."""
    model: Annotated[str | None, ANY_FILE] = None
    """Name of the model on the server. Without it, each stage must set its own."""
    key_name: Annotated[str, UserOnly()] = "OPENAI_API_KEY"
    """The environment variable that holds the key. The key itself is never a setting."""
    detail: Literal["low", "high", "auto"] = "low"
    """Resolution at which the server reads each frame; ``high`` costs more tokens."""
    in_flight: int = Field(4, ge=1, le=256)
    """How many requests may be open at once."""
    timeout: float = Field(120.0, ge=0.01, le=86_400)
    """Seconds to wait for an answer."""
    retries: int = Field(5, ge=0, le=1000)
    """How often to repeat a call after 408, 409, 429, 5xx and broken connections."""
    longest_pause: float = Field(60.0, ge=0.001, le=86_400)
    """Seconds of the longest pause before a call is repeated. A longer ``Retry-After`` stops the run."""
    thinking: Literal["lowest", "server"] = "lowest"
    """How much models think before they answer. ``lowest``: not at all, or as little as they can;
    ``server``: as the server is set up."""
    extra: Annotated[dict[str, JsonValue], UserOnly()] = Field(default_factory=dict)
    """Fields to add to each request, such as ``{top_k: 20}``; they win over all others, and are never left
    out. Not ``model``, ``messages`` and ``stream``."""
    price_in: float | None = Field(None, ge=0, le=1_000_000)
    """Price of a million tokens read, in any currency."""
    price_out: float | None = Field(None, ge=0, le=1_000_000)
    """Price of a million tokens written, in the same currency."""

    @field_validator("extra")
    @classmethod
    def _extra_is_extra(cls, fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
        own = [name for name in ("model", "messages", "stream") if name in fields]
        if own:
            raise ValueError(f"{' and '.join(own)} cannot be among them")
        try:
            json.dumps(fields, allow_nan=False)
        except ValueError:
            raise ValueError("It holds a number that JSON does not have") from None
        return fields


class StorySettings(Settings):
    """What Stage II gets of the film beyond the clip. Off by default and in the paper's configs."""

    on: bool = False
    """Whether Stage II gets the last lines, the dialogue around the slot and the story so far
    (``--context``)."""


class VerifySettings(Settings):
    """Checks each line against the frames again. Off by default and in the paper's configs."""

    on: bool = False
    """Whether each line is checked (``--verify``)."""


class TranslateSettings(Settings):
    """How ``shotad translate`` asks. It uses the engine of Stage II."""

    quotes: Literal["translate", "keep"] = "translate"
    """Quoted text from the screen. ``translate``: listeners may not know the language of the sign; ``keep``:
    as the film shows it."""
    lines: int = Field(8, ge=1, le=64)
    """Lines in one request. A small model may join lines or leave some out: ask it for fewer at once."""
