"""How many requests a local model answers at once: by the memory that is free, and by what was tried.

On a GPU the first batch of each clip size is measured; from then on a batch takes what is free. Where memory
runs out all the same, the batch size is halved, and later raised again step by step, for another program may
have had the memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

ClipSize = tuple[int, ...]
"""Frames, height and width of a clip; empty for requests without one."""

TOKENS = 32768
"""Tokens in a batch while nothing has been measured, padding and answers included: eight clips of the paper's
size. Also the most where free memory cannot be asked for (CPU, MPS)."""

MEMORY_SHARE = 0.85
"""Of the free memory that a batch may take. The rest is for what a measurement does not see: gaps between
tensors, and matrix libraries that take memory of their own."""

PATIENCE = 4
"""Full batches that go through before a larger one is tried."""
MAX_PATIENCE = 64
"""The same after larger ones have failed several times: a failed try costs the time of a batch."""


@dataclass(slots=True)
class BatchLimit:
    """How many tokens go through a model at once, for clips of one size.

    Tokens are rows times the tokens of the longest row, with its answer. `rows` turns them into requests.
    """

    tokens: int | None = None
    """The limit that was found by trying; None: memory has never run out."""
    measured: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Of the largest batch on each GPU, its tokens and the bytes that it took."""
    _fitted: int = 0
    """Tokens of the largest batch that went through since memory was last found to be smaller."""
    _failed: int = 0
    """Tokens of the last batch for which memory ran out."""
    _full_batches: int = 0
    """Batches at the limit that went through since it last changed."""
    _patience: int = PATIENCE

    def by_memory(self, free: Mapping[str, int]) -> int:
        """Tokens that fit into ``free`` bytes on each GPU; `TOKENS` where nothing has been measured."""
        fitting = [
            int(MEMORY_SHARE * free[device] * tokens / peak)
            for device, (tokens, peak) in self.measured.items()
            if device in free and peak > 0
        ]
        return min(fitting, default=TOKENS)

    def took(self, device: str, tokens: int, peak: int) -> None:
        """A batch of ``tokens`` took ``peak`` bytes on ``device``, on top of what was there before."""
        # Small batches say little: what does not grow with them weighs most there.
        self.measured[device] = max(self.measured.get(device, (0, 0)), (tokens, peak))

    def rows(self, row_tokens: int) -> int | None:
        """Rows of this length that the limit allows; None where memory has never run out.

        Rounded to the nearest number: the words around clips of one size differ a little.
        """
        return None if self.tokens is None else max(1, round(self.tokens / row_tokens))

    def went_through(self, rows: int, row_tokens: int, *, is_full: bool) -> None:
        """A batch was answered. ``is_full``: the limit allowed no row more."""
        tokens = rows * row_tokens
        self._fitted = max(self._fitted, tokens)
        if self.tokens is None or not is_full:
            return
        if tokens >= self._failed:
            # What failed before fits now: there is more memory than there was.
            self._failed, self._patience = 0, PATIENCE
        self._full_batches += 1
        if self._full_batches < self._patience:
            return
        self._full_batches = 0
        halfway = (tokens + self._failed) // 2 if self._failed else 2 * tokens
        self.tokens = max(halfway, tokens + row_tokens)

    def ran_out(self, rows: int, row_tokens: int) -> None:
        """Memory ran out in a batch; the next has fewer rows, one at least."""
        if round(self._fitted / row_tokens) >= rows:
            self._fitted = 0  # what fitted before does not fit now: there is less memory than there was
        elif self._fitted:
            self._patience = min(2 * self._patience, MAX_PATIENCE)
        self._failed = rows * row_tokens
        self._full_batches = 0
        half = (rows + 1) // 2 * row_tokens
        self.tokens = max(half, self._fitted)


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests that go through a model together.

    ``indices`` are in rising order; ``row_tokens`` are those of the longest request with its answer.
    ``is_full``: one row more would be above the limit that was found by trying.
    """

    indices: tuple[int, ...]
    row_tokens: int
    clip_size: ClipSize
    is_full: bool


def batches(
    indices: Sequence[int],
    lengths: Sequence[int],
    sizes: Sequence[ClipSize],
    answer: int,
    limits: Mapping[ClipSize, BatchLimit],
    free: Mapping[str, int],
    most: int,
) -> list[Batch]:
    """The requests at ``indices`` in batches of like length, the longest first: memory runs out at once or
    never.

    ``lengths`` are the tokens of all requests, ``sizes`` those of their clips, ``answer`` the tokens of the
    longest answer, ``free`` the bytes on each GPU. A batch has at most ``most`` requests. One that alone is
    above its limit is alone.

    >>> pair = batches([0, 1, 2, 3], [5, 90, 6, 80], [()] * 4, 10, {(): BatchLimit(200)}, {}, most=8)
    >>> [batch.indices for batch in pair]
    [(1, 3), (0, 2)]
    """
    batch_list: list[Batch] = []
    waiting = sorted(indices, key=lambda index: (-lengths[index], index))
    while waiting:
        row_tokens = max(1, lengths[waiting[0]] + answer)
        size = sizes[waiting[0]]
        limit = limits[size]
        most_rows = min(most, max(1, limit.by_memory(free) // row_tokens))
        tried = limit.rows(row_tokens)
        rows = most_rows if tried is None else min(most_rows, tried)
        batch_indices, waiting = waiting[:rows], waiting[rows:]
        is_full = rows == tried and len(batch_indices) == rows < most_rows
        batch_list.append(Batch(tuple(sorted(batch_indices)), row_tokens, size, is_full))
    return batch_list
