"""Settings: defaults in one place, precedence, and refusals that help."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import (
    Config,
    ConfigError,
    PromptError,
    SlotSettings,
    UsageError,
    data_root,
    key_of,
    load_config,
    prompt_text,
)
from tools.write_settings import ROOT, default_yaml, groups, settings_page


def write(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_later_sources_win(tmp_path: Path) -> None:
    """Default < file < ``--set`` < flag, key by key."""
    file = write(tmp_path, "slots: {minimum: 5, seconds_per_word: 0.5}\ncontext: {past: 1}\n")
    assert load_config().slots.minimum == 4
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
    # Empty file is the default.
    assert load_config(write(tmp_path, "# nothing\n")) == Config()
    # A ring of bases is refused.
    (tmp_path / "a.yaml").write_text("base: b.yaml\n")
    (tmp_path / "b.yaml").write_text("base: a.yaml\n")
    with pytest.raises(ConfigError, match="builds on itself"):
        load_config(str(tmp_path / "a.yaml"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("base: mine.yaml\n", "builds on itself"),
        ("base: papr\n", "no config 'papr'"),
        ("base: 3\n", "base = 3"),
        ("base: [paper, 3]\n", "base = "),
        ("dataset: [a]\n", "dataset = "),
        ("- a\n- b\n", "not a mapping"),
        ("a: [\n", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load_config(write(tmp_path, text))


def test_on_is_a_word_and_a_key(tmp_path: Path) -> None:
    """YAML 1.1 takes a bare on, off, yes or no for a truth value, also where it is a key."""
    config = load_config(write(tmp_path, "story: {on: true}\nverify: {on: on}\nslots: {detail: rich}\n"))
    assert (config.story.on, config.verify.on, config.slots.detail) == (True, True, "rich")
    assert load_config(None, ["prompt.verbs=[go, no, 'on']"]).prompt.verbs == ("go", "no", "on")


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("slots.minimun", "slots.minimum"),
        ("frame.inside", "frames.inside"),
        ("stage2.sampling.temprature", "stage2.sampling.temperature"),
    ],
)
def test_unknown_key_gives_the_nearest_name(key: str, nearest: str) -> None:
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")) as caught:
        load_config(None, [f"{key}=1"])
    assert nearest in caught.value.hint
    assert isinstance(caught.value, UsageError)
    assert caught.value.exit_code == 2


def test_what_was_a_setting_once_is_good_at_the_value_that_it_had_and_no_other(tmp_path: Path) -> None:
    old = write(tmp_path, "slots: {breath: 0.5, minimum: 5}\nspeech: {lead: 0.3}\n")
    assert load_config(old) == load_config(None, ["slots.minimum=5"])
    with pytest.raises(ConfigError, match=r"slots.breath = 0.7 cannot be set any more: it is always 0.5"):
        load_config(old, ["slots.breath=0.7"])
    with pytest.raises(ConfigError, match=r"There is no setting text.foo"):
        load_config(None, ("text.foo=3",))
    # Settings that rules stand for are good where they are those of one value.
    code = "{span: clipped, both_ways: true}"
    assert load_config(write(tmp_path, f"threads: {code}\n")).threads.rules == "code"
    assert load_config(None, ["threads.span=shot"]) == load_config()
    assert load_config("reference-code", ["threads.both_ways=true"]) == load_config("reference-code")
    with pytest.raises(ConfigError, match=r"threads.span = 'clipped' cannot be set by itself") as caught:
        load_config(None, ["threads.span=clipped"])
    assert caught.value.hint == "Set threads.rules: paper or code."
    code = "{action: {rules: code}, recall: {windows: full, k: 2}, judge: {lowest: 0}}"
    several = load_config(write(tmp_path, f"measures: {code}\n")).measures
    assert (several.rules, several.recall.k) == ("code", 2)
    assert load_config(None, ["measures.recall.windows=all"]) == load_config()
    with pytest.raises(ConfigError, match=r"measures.judge.lowest = 0 cannot be set by itself") as caught:
        load_config(None, ["measures.judge.lowest=0"])
    assert caught.value.hint == "Set measures.rules: paper or code."
    with pytest.raises(ConfigError, match=r"threads.rules = 'mine' cannot be used"):
        load_config(None, ["threads.rules=mine"])
    # Keys of records hold what was a setting once.
    # The hash of all settings when each was one still: records made then stay good.
    assert key_of(load_config(None, ["shots.detector=adaptive"])) == "55defcc82b251dc0"
    assert key_of(load_config("reference-code")) == "707e25a97be83f15"
    left = SlotSettings().with_former({"minimum": True, "breath": True})
    assert left.keys() == SlotSettings.model_fields.keys() - {"minimum"} | SlotSettings.former.keys() - {
        "breath"
    }


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("frames.max_pixels=12", "784"),
        ("context.past=two", "valid integer"),
        ("overlay.label=ring", "'number', 'box' or 'none'"),
        ("frames.sampling=random", "'reference'"),
        ("stage2.candidates=11", "10"),
        ("slots=5", "slots"),
        ("frames.max_pixels=99999", "min_pixels 100352 is above max_pixels 99999"),
    ],
)
def test_value_out_of_range_is_refused_with_key_and_value(assignment: str, words: str) -> None:
    key, _, value = assignment.partition("=")
    with pytest.raises(ConfigError) as caught:
        load_config(None, [assignment])
    assert key.split(".")[0] in caught.value.what
    assert value in caught.value.what
    assert words in caught.value.what


@pytest.mark.parametrize(
    ("assignments", "words"),
    [(["slots.minimum"], "not KEY=VALUE"), (["seed=3", "seed.more=1"], "single value")],
)
def test_an_assignment_that_is_none_is_refused(assignments: list[str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load_config(None, assignments)


@pytest.mark.parametrize(
    ("tag", "hint"),
    [
        ("german", "Did you mean de (German)?"),
        ("en-UK", "Did you mean en-GB?"),
        ("de-XX", "as in de-CH"),
        ("", "Correct the value"),
    ],
)
def test_what_is_no_language_is_refused_with_the_nearest(tag: str, hint: str) -> None:
    with pytest.raises(ConfigError, match="language = ") as refused:
        load_config(None, [f"language={tag}"])
    assert hint in refused.value.hint


def test_every_setting_says_what_it_does_in_the_files_that_list_them() -> None:
    assert [key.name for group in groups(Config()) for key in group.keys if not key.text] == []
    for name, text in (("configs/default.yaml", default_yaml()), ("docs/settings.md", settings_page())):
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run tools/write_settings.py"


def test_persons_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prompts" / "stage1").mkdir(parents=True)
    (tmp_path / "prompts" / "stage1" / "mine.txt").write_text("Zoë runs.\n", encoding="utf-8")
    monkeypatch.setenv("SHOTAD_DATA", str(tmp_path))
    assert data_root() == tmp_path
    assert prompt_text("stage1/mine") == "Zoë runs.\n"
    with pytest.raises(PromptError, match="stage1/base cannot be read"):
        prompt_text("stage1/base")
