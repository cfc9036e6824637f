"""The paper's settings: every number of the method, written out by hand, against what the configs come to."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from shotad.core import Config, data_root, load_config
from shotad.description import Engines
from shotad.description.prompts import FACTORS, factors_for
from shotad.film import sampling, word_budget
from shotad.grammar import ScaleTraining
from shotad.grammar.features import MEAN, PATCH, STD, THREAD_SIZE

CMD_VERBS = "look turn take hold pull walk run watch stare grab fall get go open smile"
TV_VERBS = "look walk turn stare take hold smile leave pull watch open go step get enter"
MAD_VERBS = "look turn sit walk take stand watch hold pull see go open smile run get"

PAPER: dict[str, Any] = {
    "engine": "paper", "seed": 42, "shots.detector": "adaptive", "shots.adaptive_threshold": 3.0,
    "shots.min_scene_len": 15, "shots.window_width": 2, "shots.path": "exact",
    "slots.seconds_per_word": 0.375, "slots.budget": "paper", "context.past": 2, "context.future": 2,
    "context.rules": "paper", "frames.inside": 16, "frames.outside": 16, "frames.sampling": "slot",
    "frames.max_pixels": 151_200, "frames.min_pixels": 100_352, "frames.short_side": None,
    "overlay.label": "number", "overlay.characters": "ellipses", "threads.features": "dinov2-giant-registers",
    "threads.frames": "side", "threads.match": "patches", "threads.rules": "paper", "threads.threshold": 0.3,
    "scale.method": "auto", "cast.faces": "buffalo_l", "cast.threshold": 0.2, "cast.rules": "paper",
    "prompt.medium": "movie", "prompt.factor": "auto", "prompt.rules": "paper",
    "prompt.verbs": tuple(CMD_VERBS.split()), "prompt.example_count": 10, "prompt.note": "",
    "prompt.characters": "clip", "stage1.engine": None, "stage1.sampling.max_tokens": 512,
    "stage2.engine": None, "stage2.sampling.temperature": 0.6, "stage2.sampling.top_p": 0.9,
    "stage2.sampling.max_tokens": 256, "stage2.repair": "failed", "stage2.candidates": 1,
    "stage2.draw": "joint", "stage2.select": "single", "stage2.history": 0, "stage2.fit": "none",
    "story.on": False, "verify.on": False, "measures.missing": "zero",
    "measures.embedding.model": "Alibaba-NLP/gte-Qwen2-7B-instruct",
    "measures.embedding.instruction": "paper", "measures.parser.model": "en_core_web_lg",
    "measures.rules": "paper", "measures.critic.resolver": "fastcoref", "measures.critic.rules": "paper",
    "measures.recall.k": 1, "measures.recall.neighbours": 5, "measures.recall.model": "roberta-large",
}  # fmt: skip

CODE: dict[str, Any] = {
    "context.rules": "code", "frames.sampling": "reference", "threads.rules": "code", "prompt.rules": "code",
    "stage1.attempts": 1, "stage2.repair": "none", "stage2.attempts": 1,
    "measures.embedding.instruction": "code", "measures.rules": "code", "measures.critic.rules": "code",
}  # fmt: skip

BY_RULES: dict[str, dict[str, Any]] = {
    "context": {"keep_current": (True, False), "inclusive": (False, True)},
    "threads": {"span": ("shot", "clipped"), "both_ways": (False, True)},
    "cast": {
        "detection": (0.4, 0.4), "margin": (0.0, 0.0), "decide": ("frame", "frame"), "first": (10, 10),
        "from_film": (False, False), "smallest": (0.0, 0.0), "colours": ("clip", "clip"),
    },
    "prompt": {
        "factor_rule": ("paper", "code"), "circle_note": ("always", "always"),
        "thread_sentence_first": (False, True), "stress_steps": (False, True),
        "example_choice": ("random", "published"), "names": ("full", "full"), "stage2_names": (False, False),
        "heard_names": (False, False),
    },
}  # fmt: skip
"""What the rules of the paper and of the published code stand for."""

GPT_4O: dict[str, Any] = {
    "engine": "gpt-4o", "frames.short_side": 336, "openai.model": "gpt-4o-2024-08-06", "openai.detail": "low",
}  # fmt: skip

DATASETS: dict[str, dict[str, Any]] = {
    "cmd-ad": {
        "shots.detector": "adaptive", "shots.adaptive_threshold": 3.0, "shots.min_scene_len": 15, "shots.window_width": 2,
        "slots.seconds_per_word": 0.275, "prompt.medium": "movie", "prompt.verbs": tuple(CMD_VERBS.split()),
    },
    "tv-ad": {
        "shots.detector": "adaptive", "shots.adaptive_threshold": 1.5, "shots.min_scene_len": 2, "shots.window_width": 1,
        "slots.seconds_per_word": 0.2695, "prompt.medium": "TV series", "prompt.characters": "apart",
        "prompt.verbs": tuple(TV_VERBS.split()),
    },
    "mad-eval": {
        "shots.detector": "adaptive", "shots.adaptive_threshold": 1.5, "shots.min_scene_len": 15, "shots.window_width": 2,
        "slots.seconds_per_word": 0.5102, "prompt.medium": "movie", "prompt.verbs": tuple(MAD_VERBS.split()),
        "measures.recall.k": 5, "measures.recall.neighbours": 16,
    },
}  # fmt: skip

SYSTEMS = {"paper": PAPER, "reference-code": {**PAPER, **CODE}, "gpt-4o": {**PAPER, **GPT_4O}}
OWN = {"paper": PAPER, "reference-code": CODE, "gpt-4o": GPT_4O, **DATASETS}
"""What each file itself is to say."""


def value_of(config: Config, key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        value = getattr(value, part)
    return value


def named_in(name: str) -> dict[str, Any]:
    """All settings that a file of ours names, by dotted key, as YAML has them."""
    tree = yaml.safe_load((data_root() / "configs" / f"{name}.yaml").read_text(encoding="utf-8"))

    def walk(inner: dict[Any, Any], prefix: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in inner.items():
            # YAML 1.1 takes the key `on` for true; the product does not, this reader does.
            dotted = prefix + ("on" if key is True else str(key))
            found |= walk(value, f"{dotted}.") if isinstance(value, dict) else {dotted: value}
        return found

    return {key: value for key, value in walk(tree, "").items() if key not in ("base", "dataset")}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("dataset", [None, *DATASETS])
def test_every_number_of_the_method_stands(name: str, dataset: str | None) -> None:
    config = load_config([name, dataset] if dataset else name)
    expected = {**SYSTEMS[name], **DATASETS.get(dataset or "", {})}
    found = {key: value_of(config, key) for key in expected}
    assert found == expected


@pytest.mark.parametrize(("name", "place"), [("paper", 0), ("reference-code", 1)])
def test_the_rules_are_those_of_the_method(name: str, place: int) -> None:
    config = load_config(name)
    for group, rules in BY_RULES.items():
        found = getattr(config, group).by_rules.model_dump()
        assert found == {key: both[place] for key, both in rules.items()}, group


def test_reaches_and_sizes_that_are_no_settings() -> None:
    """3 s beyond the slot, and 3 + 2 x 8 s for context (9 and 57 frames of TV-AD); pieces of 0.4 s are dropped."""
    assert (sampling.CURRENT_REACH, sampling.CONTEXT_REACH, sampling.SHORTEST) == (9 / 3, 57 / 3, 0.4)
    # 224 x 168 pixels are 12 rows of 16 patches; shot scale sees 448 x 336; ImageNet's normalisation.
    assert (THREAD_SIZE, PATCH) == ((224, 168), 14)
    assert (THREAD_SIZE[0] // PATCH) * (THREAD_SIZE[1] // PATCH) == 192
    assert (MEAN, STD) == ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    net = ScaleTraining().net
    assert (net.backbone, net.tuned_blocks, net.long_side, net.short_side) == ("dinov2-base", 6, 448, 336)


@pytest.mark.parametrize("name", OWN)
def test_the_table_holds_every_setting_that_a_file_names(name: str) -> None:
    """And the file names every one of the table, also where our default is the same."""
    assert set(named_in(name)) == set(OWN[name])


def test_the_engines_models_are_the_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named by the engines, not by the config, so that a flag for another engine brings its own model."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    paper, gpt = Engines.of(load_config("paper")), Engines.of(load_config("gpt-4o"))
    assert paper.looks.identity.model == "Qwen/Qwen2-VL-7B-Instruct"
    assert paper.writes.identity.model == "meta-llama/Meta-Llama-3-8B-Instruct"
    assert gpt.looks.identity.model == gpt.writes.identity.model == "gpt-4o-2024-08-06"


@pytest.mark.parametrize(
    ("name", "seconds", "words"),
    [
        ("paper", 3.0, 9),
        ("cmd-ad", 2.468, 9),
        ("tv-ad", 1.906, 8),
        ("mad-eval", 3.989, 8),
        ("cmd-ad", 0.1, 1),
    ],
)
def test_the_word_budget_is_one_more_than_fits(name: str, seconds: float, words: int) -> None:
    """Algorithm 2: int(duration / speed factor + 1)."""
    assert word_budget(seconds, load_config(["paper", name]).slots) == words


@pytest.mark.parametrize(
    ("scale", "paper", "code"),
    [
        (0.9, "face", "face"), (1.0, "face", None), (1.5, "face", "object"), (1.75, None, "object"),
        (2.0, "object", "object"), (2.9, "object", "object"), (3.0, "object", None), (3.25, None, None),
        (3.5, "environment", "environment"), (4.0, "environment", "environment"),
    ],
)  # fmt: skip
def test_borders_of_the_effective_scale(scale: float, paper: str | None, code: str | None) -> None:
    for name, factor in (("paper", paper), ("reference-code", code)):
        assert factors_for(scale, load_config(name).prompt) == ((factor,) if factor else ())
    assert set(FACTORS) == {"face", "object", "environment"}
