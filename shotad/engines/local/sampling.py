"""Drawing tokens so that an answer depends on its own seed, and not on what else is in the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shotad.core import Request, need_torch

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch("A local model")


class SeededChoice:
    """A logits processor of transformers that makes the greedy choice a draw, row by row.

    Each row has its own generator, seeded by its request. Temperature and top-p come first, then noise
    after Gumbel: the greatest of ``score + noise`` is a draw from the softmax of the scores (Gumbel-max;
    see Maddison et al. 2014, arXiv 1411.0030), so that ``generate(do_sample=False)`` takes it. A row of
    temperature 0 is left as it is. One object is for one call of ``generate``; the same seed draws other
    tokens on another kind of device.
    """

    def __init__(self, requests: Sequence[Request]) -> None:
        """A row for each of ``requests``."""
        self._rows = [row for row, request in enumerate(requests) if request.sampling.temperature > 0]
        drawing = [requests[row] for row in self._rows]
        self._seeds = [request.seed for request in drawing]
        self._temperatures = [request.sampling.temperature for request in drawing]
        self._top_ps = [request.sampling.top_p for request in drawing]
        self._on_device: _OnDevice | None = None

    @property
    def draws(self) -> bool:
        """False where all rows are greedy."""
        return bool(self._rows)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """``[rows, words]`` scores → scores whose greatest is the word drawn."""
        if not self._rows:
            return scores
        if self._on_device is None:
            self._on_device = self._put_on(scores.device)
        here = self._on_device
        heated = scores[here.rows] / here.temperatures
        kept = heated if min(self._top_ps) >= 1 else _nucleus(heated, here.top_ps)
        waits = torch.stack([_waits(generator, scores) for generator in here.generators])
        return scores.index_copy(0, here.rows, kept - waits.log_())

    def _put_on(self, device: torch.device) -> _OnDevice:
        # Once, not at each word: a copy to a GPU makes the program wait for all that is under way there.
        return _OnDevice(
            torch.tensor(self._rows, device=device),
            torch.tensor(self._temperatures, device=device)[:, None],
            torch.tensor(self._top_ps, device=device)[:, None],
            [torch.Generator(device).manual_seed(seed) for seed in self._seeds],
        )


@dataclass(frozen=True, slots=True)
class _OnDevice:
    """What is drawn with: rows ``[n]``, temperatures and top-p ``[n, 1]``, a generator for each row."""

    rows: torch.Tensor
    temperatures: torch.Tensor
    top_ps: torch.Tensor
    generators: list[torch.Generator]


def _waits(generator: torch.Generator, scores: torch.Tensor) -> torch.Tensor:
    """``[words]`` times drawn from the exponential distribution; minus their logarithm is Gumbel noise."""
    waits = torch.empty(scores.shape[1], dtype=torch.float32, device=scores.device)
    return waits.exponential_(generator=generator).clamp_min_(torch.finfo(torch.float32).tiny)


def _nucleus(scores: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """Scores with all words at minus infinity that are not among the likeliest that make up ``top_p``.

    ``scores`` is ``[rows, words]``, ``top_p`` ``[rows, 1]``; the likeliest word always stays.
    """
    ordered, places = scores.sort(dim=-1, descending=True, stable=True)
    shares = ordered.softmax(dim=-1)
    above = shares.cumsum(dim=-1) - shares
    out = (above >= top_p) & (top_p < 1)
    out[:, 0] = False
    return scores.masked_fill(torch.zeros_like(out).scatter(1, places, out), float("-inf"))
