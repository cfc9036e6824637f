"""Draws: by the right distribution, and by the row's own seed alone."""

from __future__ import annotations

import pytest
import torch

from shotad.core import Request, SamplingSettings
from shotad.engines.local_answers import SeededChoice

SCORES = torch.tensor([2.0, 1.0, 0.5, 0.0, -1.0, -3.0])


def request(seed: int, temperature: float = 1.0, top_p: float = 1.0) -> Request:
    return Request("s1", (), sampling=SamplingSettings(temperature=temperature, top_p=top_p), seed=seed)


def drawn(requests: list[Request], steps: int, scores: torch.Tensor = SCORES) -> torch.Tensor:
    """``[rows, steps]`` words."""
    choice = SeededChoice(requests)
    rows = scores.expand(len(requests), -1)
    return torch.stack([choice(torch.empty(0), rows).argmax(-1) for _ in range(steps)], dim=1)


def expected(temperature: float, top_p: float) -> torch.Tensor:
    """What the shares ought to be, worked out word by word."""
    shares = (SCORES / temperature).softmax(-1)
    kept, mass = [], 0.0
    for word in sorted(range(len(SCORES)), key=lambda word: -float(shares[word])):
        if mass < top_p:
            kept.append(word)
        mass += float(shares[word])
    found = torch.zeros_like(shares)
    found[kept] = shares[kept]
    return found / found.sum()


@pytest.mark.parametrize(
    ("temperature", "top_p"), [(1.0, 1.0), (0.6, 0.9), (1.5, 0.95), (0.6, 0.5), (3.0, 1.0)]
)
def test_words_are_drawn_as_often_as_they_ought(temperature: float, top_p: float) -> None:
    count = 6000
    words = drawn([request(seed, temperature, top_p) for seed in range(count)], steps=1).flatten()
    found = torch.bincount(words, minlength=len(SCORES)).double()
    wanted = expected(temperature, top_p).double() * count
    assert found[wanted == 0].sum() == 0
    possible = wanted > 0
    chi = float(((found - wanted)[possible] ** 2 / wanted[possible]).sum())
    # The 0.999 quantiles of chi-square for 0 to 5 degrees of freedom; seeds are fixed, so it holds for ever.
    assert chi < [1e-9, 10.8, 13.8, 16.3, 18.5, 20.5][int(possible.sum()) - 1]


def test_the_steps_of_one_row_are_independent_draws_too() -> None:
    words = drawn([request(7)], steps=6000).flatten()
    wanted = expected(1.0, 1.0).double() * 6000
    found = torch.bincount(words, minlength=len(SCORES)).double()
    assert float(((found - wanted) ** 2 / wanted).sum()) < 20.5
    pairs = torch.bincount(words[:-1] * len(SCORES) + words[1:], minlength=36).double()
    both = torch.outer(wanted, wanted).flatten() / 6000
    # 35 degrees of freedom, 0.999.
    assert float(((pairs - both) ** 2 / both).sum()) < 66.6


def test_a_row_draws_the_same_alone_and_among_others() -> None:
    torch.manual_seed(3)
    scores = torch.randn(5, 300)
    settings = [(0.6, 0.9), (1.0, 1.0), (0.0, 1.0), (1.5, 0.95), (0.3, 0.2)]
    requests = [request(seed, *one) for seed, one in enumerate(settings)]
    together = SeededChoice(requests)
    alone = [SeededChoice([one]) for one in requests]
    backwards = SeededChoice(requests[::-1])
    for _ in range(40):
        found = together(torch.empty(0), scores).argmax(-1)
        turned = backwards(torch.empty(0), scores.flip(0)).argmax(-1).flip(0)
        single = [one(torch.empty(0), scores[row : row + 1]).argmax(-1) for row, one in enumerate(alone)]
        assert found.tolist() == torch.cat(single).tolist() == turned.tolist()
