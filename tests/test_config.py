"""Settings: precedence, refusals that help, and every number of the paper's method, written out by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from shotad.batch import load_ray_settings
from shotad.core import (
    Config,
    Settings,
    load_config,
)
from shotad.core.errors import (
    ConfigError,
    PromptError,
    UsageError,
)
from shotad.core.settings import (
    bounds_of,
    data_root,
    load_settings,
    manifest_path,
    number_settings,
    prompt_file,
    read_settings_yaml,
)
from shotad.description import Engines
from shotad.description.prompts import FACTORS, factors_for
from shotad.evaluation.datasets.dataset import DatasetDescription, read_description
from shotad.grammar import ScaleTraining
from tools.write_settings import ROOT, default_yaml, groups, settings_page


def write(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_later_sources_win(tmp_path: Path) -> None:
    """Default < file < ``--set`` < flag, key by key."""
    file = write(tmp_path, "slots: {minimum: 5, seconds_per_word: 0.5}\ncontext: {past: 1}\n")
    assert load_config().slots.minimum == 2
    assert load_config(file).slots.minimum == 5
    assert load_config(file, ["slots.minimum=6"]).slots.minimum == 6
    config = load_config(file, ["slots.minimum=6"], slots__minimum=7)
    assert (config.slots.minimum, config.slots.seconds_per_word) == (7, 0.5)
    assert (config.context.past, config.context.future) == (1, 2)
    # A file builds on its bases.
    write(tmp_path, "base: paper\nslots: {minimum: 5}\n")
    (tmp_path / "more").mkdir()
    top = tmp_path / "more" / "top.yaml"
    top.write_text("base: [../mine.yaml, tv-ad]\nprompt: {medium: movie}\n")
    config = load_config(str(top))
    assert (config.slots.minimum, config.slots.budget, config.slots.seconds_per_word) == (5, "paper", 0.2695)
    assert config.prompt.medium == "movie", "what a file says itself wins over its bases, a dataset's too"
    assert load_config(["paper", "paper"]) == load_config("paper")
    # Empty file is the default.
    assert load_config(write(tmp_path, "# nothing\n")) == Config()


def test_a_file_that_cannot_be_meant_is_refused(tmp_path: Path) -> None:
    for text, words in (
        ("base: mine.yaml\n", "builds on itself"),
        ("base: papr\n", "no config 'papr'"),
        ("base: [paper, 3]\n", "base = "),
        ("dataset: [a]\n", "dataset = "),
        ("- a\n- b\n", "not a mapping"),
        ("a: [\n", "cannot be read"),
        ("slots: {minimum: 3}\nslots: {detail: rich}\n", "line 2, column 1: 'slots' stands here a second"),
        ("prompt: {own_words: {Thom: Dad, Thom: Papa}}\n", "'Thom' stands here a second time"),
    ):
        with pytest.raises(ConfigError, match=words):
            load_config(write(tmp_path, text))


def test_on_is_a_word_and_a_key(tmp_path: Path) -> None:
    """YAML 1.1 takes a bare on, off, yes or no for a truth value, also where it is a key."""
    config = load_config(write(tmp_path, "story: {on: true}\nverify: {on: on}\nslots: {detail: rich}\n"))
    assert (config.story.on, config.verify.on, config.slots.detail) == (True, True, "rich")
    assert load_config(None, ["prompt.verbs=[go, no, 'on']"]).prompt.verbs == ("go", "no", "on")


@pytest.mark.parametrize(
    "written",
    ["0", "007", "1.10", "1e5", "0x1f", "1_000", "1:30", "2026-11-29", "2026-99-99", "true", "-inf"],
)
def test_text_stays_as_it_is_written(tmp_path: Path, written: str) -> None:
    """Servers name models by numbers, and revisions are dates; YAML alone would turn them into other values."""
    keys = ("stage2.model", "stage1.revision", "prompt.note")
    from_assignments = load_config(None, [f"{key}={written}" for key in keys])
    file = write(
        tmp_path, f"stage2: {{model: {written}}}\nstage1:\n  revision: {written}\nprompt: {{note: {written}}}"
    )
    for config in (from_assignments, load_config(file), load_config(None, [f"stage2={{model: {written}}}"])):
        assert config.stage2.model == written
    for config in (from_assignments, load_config(file)):
        assert (config.stage1.revision, config.prompt.note) == (written, written)
    words = load_config(None, [f"lint.words=[{written}, tower]"]).lint.words
    assert words == (written, "tower")
    assert load_ray_settings(assignments=[f"servers=[{written}]"]).servers == (written,)


def test_a_column_of_a_dataset_may_be_a_number(tmp_path: Path) -> None:
    file = write(
        tmp_path, "annotation: {files: [2015.csv], text: [3], start: [1.0], end: [no]}\ntitle: 2001\n"
    )
    described = read_description(file)
    assert (described.annotation.text, described.annotation.start) == (("3",), ("1.0",))
    assert (described.annotation.end, described.title) == (("no",), "2001")


def test_text_that_is_null_is_not_set() -> None:
    config = load_config(
        None, ["openai.model=m", "openai.model=null", "stage1.model=", "stage2.model='null'"]
    )
    assert (config.openai.model, config.stage1.model, config.stage2.model) == (None, None, "null")
    # A shared part of a file, of which YAML makes one mapping.
    shared = "stage1: &both {model: 0}\nstage2: {<<: *both, revision: 2}\n"
    assert read_settings_yaml(Config, shared)["stage2"] == {"model": "0", "revision": "2"}


def test_unknown_key_gives_the_nearest_name() -> None:
    for key, nearest in (
        ("frame.inside", "frames.inside"),
        ("stage2.sampling.temprature", "stage2.sampling.temperature"),
    ):
        with pytest.raises(UsageError, match=key.replace(".", r"\.")) as caught:
            load_config(None, [f"{key}=1"])
        assert nearest in caught.value.hint
        assert caught.value.exit_code == 2


def test_rules_are_set_as_a_whole() -> None:
    ours, code = load_config().prompt, load_config(None, ["prompt.rules=code"]).prompt
    assert (ours.by_rules.example_choice, code.by_rules.example_choice) == ("length", "published")
    assert (ours.times, code.times) == (True, False)
    for assignment in ("threads.span=clipped", "context.inclusive=true", "measures.recall.windows=full"):
        with pytest.raises(ConfigError, match=r"There is no setting"):
            load_config(None, [assignment])
    with pytest.raises(ConfigError, match=r"threads.rules = 'mine' cannot be used"):
        load_config(None, ["threads.rules=mine"])


def test_value_out_of_range_is_refused_with_key_and_value() -> None:
    for assignment, words in (
        ("frames.max_pixels=12", "784"),
        ("context.past=two", "a whole number"),
        ("overlay.label=ring", "'number', 'box' or 'none'"),
        ("slots=5", "slots"),
        ("frames.max_pixels=99999", "min_pixels 100352 is above max_pixels 99999"),
    ):
        key, _, value = assignment.partition("=")
        with pytest.raises(ConfigError) as caught:
            load_config(None, [assignment])
        assert key.split(".")[0] in caught.value.what
        assert value in caught.value.what
        assert words in caught.value.what


ODD_NUMBERS = ("nan", "inf", "-1", "0", "1e-320", "1e308", "true")


def loaded(model: type[Settings], key: str, written: str) -> Any:
    """The value of a setting that is written so, or the error with which it is refused."""
    try:
        value: Any = load_settings(model, (), [f"{key}={written}"])
    except ConfigError as error:
        return error
    for part in key.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize(
    "model", [Config, ScaleTraining, type(load_ray_settings()), DatasetDescription], ids=str
)
def test_every_number_is_finite_and_bounded(model: type[Settings]) -> None:
    numbers = number_settings(model)
    assert numbers
    for key, field in numbers.items():
        lowest, highest = bounds_of(field)
        assert lowest is not None, key
        assert highest is not None, key
        for written in ODD_NUMBERS:
            value = loaded(model, key, written)
            if isinstance(value, ConfigError):
                assert key in value.what, (key, written)
            else:
                assert not isinstance(value, bool), (key, written)
                assert lowest <= value <= highest, (key, written)
    for written in ("9" * 5000, "1e400", "-inf", "[1]", "2026-99-99"):
        error = loaded(model, next(iter(numbers)), written)
        assert isinstance(error, ConfigError), written
        assert len(str(error)) < 500, written


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -1, 0, 1e-320, 1e308, True, 10**5000, {}, [], None, "a\0b"], ids=type
)
def test_a_number_that_cannot_be_is_refused_in_python_too(value: Any) -> None:
    for settings in ({"slots.minimum": value}, {"slots": {"seconds_per_word": value}}):
        with pytest.raises(ConfigError):
            load_config(None, settings)


def test_what_is_no_config_and_no_settings_is_refused() -> None:
    for config, settings in (
        (3, None),
        ([3], None),
        (None, 3),
        (None, [3]),
        (None, {"voice.lexicon": "a\0b"}),
    ):
        with pytest.raises(ConfigError, match="cannot be used"):
            load_config(config, settings)  # type: ignore[arg-type]


def test_an_assignment_that_is_none_is_refused() -> None:
    for assignments, words in (
        (["slots.minimum"], "not KEY=VALUE"),
        (["seed=3", "seed.more=1"], "single value"),
    ):
        with pytest.raises(ConfigError, match=words):
            load_config(None, assignments)


def test_what_is_no_language_is_refused_with_the_nearest() -> None:
    for tag, hint in (
        ("german", "Did you mean de (German)?"),
        ("en-UK", "Did you mean en-GB?"),
        ("de-XX", "as in de-CH"),
        ("", "Correct the value"),
    ):
        with pytest.raises(ConfigError, match="language = ") as refused:
            load_config(None, [f"language={tag}"])
        assert hint in refused.value.hint


def test_every_setting_says_what_it_does_in_the_files_that_list_them() -> None:
    assert [key.name for group in groups(Config()) for key in group.keys if not key.text] == []
    for name, text in (("configs/default.yaml", default_yaml()), ("docs/settings.md", settings_page())):
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run tools/write_settings.py"


def test_persons_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "stage1.j2").write_text("Zoë runs.\n", encoding="utf-8")
    monkeypatch.setenv("SHOTAD_DATA", str(tmp_path))
    assert data_root() == tmp_path
    assert prompt_file("stage1.j2") == (tmp_path / "prompts" / "stage1.j2", "Zoë runs.\n")
    # What is not there is the program's.
    assert prompt_file("stage2.j2")[0] == ROOT / "prompts" / "stage2.j2"
    assert manifest_path() == ROOT / "models" / "manifest.yaml"
    assert load_config("paper").prompt.rules == "paper"
    with pytest.raises(PromptError, match=r"nothing\.j2 cannot be read"):
        prompt_file("nothing.j2")


# The paper's settings
CMD_VERBS = "look turn take hold pull walk run watch stare grab fall get go open smile"
TV_VERBS = "look walk turn stare take hold smile leave pull watch open go step get enter"
MAD_VERBS = "look turn sit walk take stand watch hold pull see go open smile run get"

PAPER: dict[str, Any] = {
    "engine": "paper", "seed": 42, "shots.detector": "adaptive", "shots.adaptive_threshold": 3.0,
    "shots.min_scene_len": 15, "shots.window_width": 2, "shots.path": "exact",
    "slots.minimum": 4.0, "slots.seconds_per_word": 0.375, "slots.budget": "paper", "context.past": 2, "context.future": 2,
    "context.rules": "paper", "frames.inside": 16, "frames.outside": 16, "frames.sampling": "slot",
    "frames.max_pixels": 151_200, "frames.min_pixels": 100_352, "frames.short_side": None,
    "overlay.label": "number", "overlay.characters": "ellipses", "threads.features": "dinov2-giant-registers",
    "threads.frames": "side", "threads.match": "patches", "threads.rules": "paper", "threads.threshold": 0.3,
    "scale.method": "auto", "cast.faces": "buffalo_l", "cast.threshold": 0.2, "cast.rules": "paper",
    "prompt.medium": "movie", "prompt.factor": "auto", "prompt.rules": "paper",
    "prompt.verbs": tuple(CMD_VERBS.split()), "prompt.example_count": 10, "prompt.note": "",
    "prompt.characters": "clip", "stage1.engine": None, "stage1.sampling.max_tokens": 512,
    "stage2.engine": None, "stage2.sampling.temperature": 0.6, "stage2.sampling.top_p": 0.9,
    "stage2.sampling.top_k": None,
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
    "stage2.sampling.top_k": 50,
    "measures.embedding.instruction": "code", "measures.rules": "code", "measures.critic.rules": "code",
}  # fmt: skip

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


@pytest.mark.parametrize("name", OWN)
def test_the_table_holds_every_setting_that_a_file_names(name: str) -> None:
    """And the file names every one of the table, also where our default is the same."""
    assert set(named_in(name)) == set(OWN[name])


def test_the_engines_models_are_the_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named by the engines, not by the config, so that a flag for another engine brings its own model."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    paper, gpt = Engines.of(load_config("paper")), Engines.of(load_config("gpt-4o"))
    assert paper.stage1.identity.model == "Qwen/Qwen2-VL-7B-Instruct"
    assert paper.stage2.identity.model == "meta-llama/Meta-Llama-3-8B-Instruct"
    assert gpt.stage1.identity.model == gpt.stage2.identity.model == "gpt-4o-2024-08-06"


def test_borders_of_the_effective_scale() -> None:
    borders = (
        (1.0, "face", None), (1.5, "face", "object"), (1.75, None, "object"), (2.0, "object", "object"),
        (2.9, "object", "object"), (3.0, "object", None), (3.25, None, None), (3.5, "environment", "environment"),
    )  # fmt: skip
    for scale, *both in borders:
        for name, factor in zip(("paper", "reference-code"), both, strict=True):
            assert factors_for(scale, load_config(name).prompt) == ((factor,) if factor else ()), scale
    assert set(FACTORS) == {"face", "object", "environment"}
