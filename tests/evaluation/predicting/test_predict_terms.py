"""What makes a line stale, and what does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import ConfigError, Interval, load_config
from shotad.description import Engines
from shotad.engines.fake import FakeEngine
from shotad.evaluation import ahead_of
from shotad.evaluation.datasets.dataset import Ad
from shotad.evaluation.predicting.lines import leans_on_others, line_key, terms_of


def terms(*settings: str, engines: Engines | None = None) -> str:
    return terms_of(load_config(None, settings), engines or Engines(FakeEngine(), FakeEngine()))


@pytest.mark.parametrize(
    "setting",
    [
        "seed=7", "slots.seconds_per_word=0.5", "slots.budget=paper", "prompt.medium=TV series", "context.past=1",
        "frames.inside=8", "stage2.candidates=5", "stage2.sampling.temperature=1.5", "threads.features=grid",
        "scale.method=none", "compute.precision=float32", "stage2.attempts=1", "film.reader=decord",
    ],
)  # fmt: skip
def test_what_may_change_a_line_makes_it_stale(setting: str) -> None:
    assert terms(setting) != terms()


@pytest.mark.parametrize(
    "setting",
    [
        "engine=fake", "openai.timeout=7", "openai.in_flight=9", "openai.price_in=3", "measures.missing=skip",
        "compute.batch=3", "compute.device=cpu", "stage1.attempts=5", "local.batch=1", "stage2.base_url=http://x",
    ],
)  # fmt: skip
def test_what_changes_no_line_leaves_it(setting: str) -> None:
    assert terms(setting) == terms()


@pytest.mark.parametrize("stage", ["looks", "writes"])
def test_another_engine_makes_lines_stale(stage: str) -> None:
    other = FakeEngine()
    other.identity = replace(other.identity, revision="2")
    engines = replace(Engines(FakeEngine(), FakeEngine()), **{stage: other})
    assert terms(engines=engines) != terms()


def test_changed_examples_make_lines_stale(tmp_path: Path) -> None:
    file = tmp_path / "examples.txt"
    setting = f"prompt.example_file={file}"
    with pytest.raises(ConfigError, match=r"examples\.txt"):
        terms(setting)
    file.write_text("He waits.\n")
    before = terms(setting)
    file.write_text("She waits.\n")
    assert terms(setting) != before


def ad(name: str = "1", start: float = 2.0, length: float = 2.0) -> Ad:
    return Ad(name, "film", "clip", Interval(60.0, 60.0 + length), Interval(start, start + 2), "He waits.")


def test_each_thing_that_changes_a_line_changes_its_key() -> None:
    shots = (Interval(0.0, 9.0),)
    keys = [
        line_key("t", ad(), "video", shots=None),
        line_key("u", ad(), "video", shots=None),
        line_key("t", ad("2"), "video", shots=None),
        line_key("t", ad(start=2.5), "video", shots=None),
        line_key("t", ad(length=1.5), "video", shots=None),
        line_key("t", ad(), "another", shots=None),
        line_key("t", ad(), "video", shots=shots),
        line_key("t", ad(), "video", shots=None, cast="bank"),
        line_key("t", ad(), "video", shots=None, beside=[ad("3", 5.0)]),
    ]
    assert len(set(keys)) == len(keys)
    assert line_key("t", ad(), "video", shots=shots) == keys[6]


def test_when_a_line_depends_on_its_neighbours() -> None:
    engines, plain = Engines(FakeEngine(), FakeEngine()), load_config()
    assert not leans_on_others(plain, engines, cast=False)
    assert leans_on_others(plain, engines, cast=True)
    assert leans_on_others(load_config(None, ["stage2.candidates=2"]), engines, cast=False)
    assert leans_on_others(load_config(None, ["story.on=true"]), engines, cast=False)
    remembers = FakeEngine()
    remembers.abilities = replace(remembers.abilities, uses_history=True)
    assert leans_on_others(plain, Engines(engines.looks, remembers), cast=False)


def test_models_of_this_machine_take_longer_turns() -> None:
    two = Engines.of(load_config(None, ["stage1.engine=qwen2-vl", "stage2.engine=llama3"]))
    assert ahead_of(two) > 1
    assert ahead_of(Engines(two.looks, two.looks)) == 1, "one model does both"
    assert ahead_of(Engines(two.looks, FakeEngine())) == 1
    assert ahead_of(Engines(FakeEngine(), FakeEngine())) == 1
