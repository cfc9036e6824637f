"""Drawing tokens so that an answer depends on its own seed, and not on what else is in the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shotad.compute import need_torch
from shotad.engines.base import Request

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
        self._seeds = [request.seed for request in requests]
        self._temperatures = [request.sampling.temperature for request in requests]
        self._top_ps = [request.sampling.top_p for request in requests]
        self._generators: list[torch.Generator] = []

    @property
    def draws(self) -> bool:
        """False where all rows are greedy."""
        return any(self._temperatures)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """``[rows, words]`` scores → scores whose greatest is the word drawn."""
        if not self._generators:
            device = scores.device
            self._generators = [torch.Generator(device).manual_seed(seed) for seed in self._seeds]
        drawing = [row for row, temperature in enumerate(self._temperatures) if temperature > 0]
        if not drawing:
            return scores
        chosen = torch.tensor(drawing, device=scores.device)
        heat = scores.new_tensor([self._temperatures[row] for row in drawing])
        kept = _nucleus(scores[chosen] / heat[:, None], scores.new_tensor([self._top_ps[r] for r in drawing]))
        noise = torch.stack([self._noise(row, scores) for row in drawing])
        return scores.index_copy(0, chosen, kept + noise)

    def _noise(self, row: int, scores: torch.Tensor) -> torch.Tensor:
        waits = torch.empty(scores.shape[1], dtype=torch.float32, device=scores.device)
        waits.exponential_(generator=self._generators[row])
        return -waits.clamp_min_(torch.finfo(torch.float32).tiny).log_()


def _nucleus(scores: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """Scores with all words at minus infinity that are not among the likeliest that make up ``top_p``.

    ``scores`` is ``[rows, words]``, ``top_p`` ``[rows]``; the likeliest word always stays.
    """
    if bool((top_p >= 1).all()):
        return scores
    ordered, places = scores.sort(dim=-1, descending=True, stable=True)
    shares = ordered.softmax(dim=-1)
    above = shares.cumsum(dim=-1) - shares
    out = (above >= top_p[:, None]) & (top_p[:, None] < 1)
    out[:, 0] = False
    return scores.masked_fill(torch.zeros_like(out).scatter(1, places, out), float("-inf"))
