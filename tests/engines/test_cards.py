"""Several GPUs in one machine: where models go, what cannot be held, and batches by the memory that is free."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("accelerate")

import torch

from shotad.core import Config, Message, Reply, Request
from shotad.core.config.words import SamplingSettings
from shotad.core.errors import EngineError
from shotad.core.model_cache import CACHE
from shotad.core.settings import build_settings
from shotad.engines import make_engine
from tests.gpus import Card, Cards
from tests.language_models import add_ballast, make_llama

GB = 10**9
SAYS = {"sees": "He opens the door.", "writes": "A woman crosses."}


@pytest.fixture(autouse=True)
def _nothing_loaded() -> Iterator[None]:
    CACHE.clear()
    yield
    CACHE.clear()


@pytest.fixture
def model(tmp_path: Path) -> Callable[[str, float], Path]:
    """A tiny model whose file says that its weights take so many gigabytes in float32."""

    def make(name: str, gigabytes: float) -> Path:
        folder = make_llama(tmp_path / name, says=SAYS[name])
        add_ballast(folder, int(gigabytes * GB))
        return folder

    return make


ANSWER = 400
"""Tokens that an answer may take: they count for a batch, though these models say less."""


def ask(folder: Path, count: int = 1, device: str = "cuda", batch: int = 16) -> list[Reply]:
    stage = {"model": str(folder), "sampling": {"max_tokens": 40}}
    compute = {"device": device, "precision": "float32"}
    config = build_settings(Config, {"stage2": stage, "compute": compute, "local": {"batch": batch}})
    sampling = SamplingSettings(max_tokens=ANSWER, temperature=0.0)
    messages = (Message("user", "What falls?"),)
    requests = [Request(f"s{number}", messages, sampling=sampling) for number in range(count)]
    return make_engine("llama3", config, "stage2").generate(requests)


def say(folder: Path, **options: Any) -> str:
    (reply,) = ask(folder, **options)
    assert reply.error is None
    return reply.text


def gigabytes_of(name: str, sizes: dict[str, float]) -> int:
    return int(sizes[name] * GB)


def cards_with(
    monkeypatch: pytest.MonkeyPatch, sizes: dict[str, float], *memories: float, **options: Any
) -> Cards:
    cards = [Card(int(memory * GB)) for memory in memories]
    return Cards(monkeypatch, cards, lambda name: gigabytes_of(name, sizes), **options)


def places(cards: Cards, name: str) -> set[int]:
    """The numbers of the cards to which a model went."""
    return {device.index for device in cards.device_maps[name].values()}


def test_the_second_model_goes_to_the_second_card_and_both_stay(
    monkeypatch: pytest.MonkeyPatch, model: Callable[[str, float], Path]
) -> None:
    sizes = {"sees": 16.6, "writes": 16.1}
    sees, writes = (model(name, size) for name, size in sizes.items())
    cards = cards_with(monkeypatch, sizes, 24, 24)
    assert [say(folder) for folder in (sees, writes, sees, writes)] == [*SAYS.values()] * 2
    assert (places(cards, "sees"), places(cards, "writes")) == ({0}, {1})
    assert cards.loads == ["sees", "writes"], "each is loaded once"


def test_the_card_with_the_most_free_memory_is_taken(
    monkeypatch: pytest.MonkeyPatch, model: Callable[[str, float], Path]
) -> None:
    sizes = {"writes": 5.0}
    cards = cards_with(monkeypatch, sizes, 24, 16)
    cards.cards[0].taken_by_others = 20 * GB
    say(model("writes", 5.0))
    assert places(cards, "writes") == {1}


def test_a_card_that_can_do_less_than_the_first_and_one_that_was_not_named_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, model: Callable[[str, float], Path]
) -> None:
    sizes = {"writes": 5.0, "sees": 5.0}
    cards = cards_with(monkeypatch, sizes, 12, 24)
    cards.cards[1].capability = (6, 1)
    say(model("writes", 5.0))
    assert places(cards, "writes") == {0}
    cards.cards[1].capability = (8, 0)
    say(model("sees", 5.0), device="cuda:0")
    assert places(cards, "sees") == {0}


def test_a_model_too_large_for_one_card_is_spread_and_leaves_memory_to_work_with(
    monkeypatch: pytest.MonkeyPatch, model: Callable[[str, float], Path]
) -> None:
    sizes = {"sees": 16.6, "writes": 16.6}
    sees, writes = (model(name, size) for name, size in sizes.items())
    cards = cards_with(monkeypatch, sizes, 16, 16)
    assert say(sees) == SAYS["sees"]
    assert places(cards, "sees") == {0, 1}
    assert all(isinstance(place, torch.device) for place in cards.device_maps["sees"].values())
    # The other takes its turn, for both are on both cards.
    assert say(writes) == SAYS["writes"]
    assert [card.weights for card in cards.cards] == [{"writes": int(8.3 * GB)}] * 2


def test_a_model_makes_others_leave_only_the_card_that_it_takes(
    monkeypatch: pytest.MonkeyPatch, model: Callable[[str, float], Path], tmp_path: Path
) -> None:
    SAYS["judges"] = "They run."
    sizes = {"sees": 16.0, "writes": 10.0, "judges": 17.0}
    folders = {name: model(name, size) for name, size in sizes.items()}
    cards = cards_with(monkeypatch, sizes, 24, 16)
    for name in sizes:
        assert say(folders[name]) == SAYS[name]
    assert [set(card.weights) for card in cards.cards] == [{"judges"}, {"writes"}]


def test_what_the_cards_cannot_hold_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch, model: Callable[[str, float], Path]
) -> None:
    sizes = {"sees": 33.0}
    folder = model("sees", 33.0)
    cards = cards_with(monkeypatch, sizes, 16, 12)
    with pytest.raises(EngineError) as caught:
        ask(folder)
    assert "about 33.0 GB in float32" in caught.value.what
    assert "16.0 GB on cuda:0, 12.0 GB on cuda:1. Nothing was read." in caught.value.what
    with pytest.raises(EngineError, match=r"there are 12\.0 GB on cuda:1\. Nothing was read"):
        ask(folder, device="cuda:1")
    assert cards.loads == []


def test_without_accelerate_nothing_is_spread(
    monkeypatch: pytest.MonkeyPatch, model: Callable[[str, float], Path]
) -> None:
    import sys

    sizes = {"sees": 18.0}
    folder = model("sees", 18.0)
    cards_with(monkeypatch, sizes, 16, 16)
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(EngineError, match=r"about 18\.0 GB.*16\.0 GB on cuda:0") as caught:
        ask(folder)
    assert "pip install accelerate" in caught.value.hint


# Batches by free memory
def test_a_batch_takes_what_is_free(
    monkeypatch: pytest.MonkeyPatch, model: Callable[[str, float], Path]
) -> None:
    """The first is measured: afterwards none is so large that memory runs out, and none smaller than need be."""
    sizes = {"writes": 1.0}
    cards = cards_with(monkeypatch, sizes, 4, bytes_per_token=10**6)
    folder = model("writes", 1.0)
    replies = ask(folder, 1)
    row_tokens = replies[0].usage.tokens_in + ANSWER
    fitting = int(0.85 * 3 * GB / 10**6) // row_tokens
    assert fitting > 4
    cards.sizes.clear()
    assert all(reply.error is None for reply in ask(folder, 3 * fitting, batch=200))
    assert cards.sizes == [fitting] * 3
    # Another program takes memory: batches are smaller before it runs out.
    cards.cards[0].taken_by_others = 2 * GB
    cards.sizes.clear()
    ask(folder, fitting, batch=200)
    smaller = int(0.85 * GB / 10**6) // row_tokens
    assert cards.sizes[:2] == [smaller, smaller]
    assert cards.failed == []


def test_a_large_card_takes_more_than_the_usual_batch(
    monkeypatch: pytest.MonkeyPatch, model: Callable[[str, float], Path]
) -> None:
    cards = cards_with(monkeypatch, {"writes": 16.0}, 80, bytes_per_token=2 * 10**5)
    folder = model("writes", 16.0)
    replies = ask(folder, 200, batch=200)
    row_tokens = replies[0].usage.tokens_in + ANSWER
    first = cards.sizes[0]
    assert first == 32768 // row_tokens
    assert cards.sizes[1] == 200 - first, "the rest fits at once"


def test_memory_is_measured_on_each_card_of_a_spread_model(
    monkeypatch: pytest.MonkeyPatch, model: Callable[[str, float], Path]
) -> None:
    cards = cards_with(monkeypatch, {"sees": 16.0}, 16, 16, bytes_per_token=10**6)
    folder = model("sees", 16.0)
    row_tokens = ask(folder, 1)[0].usage.tokens_in + ANSWER
    cards.cards[1].taken_by_others = 6 * GB
    cards.sizes.clear()
    ask(folder, 100, batch=100)
    assert cards.sizes[0] == int(0.85 * 2 * GB / 10**6) // row_tokens, "the fuller card counts"
