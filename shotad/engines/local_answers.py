"""Answers of a loaded model to many requests: batches, end tokens, lengths, memory, drawn tokens.

Tokens are drawn so that an answer depends on its own seed, and not on what else is in the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from shotad.core import (
    Reply,
    Request,
    ShotadError,
    Usage,
)
from shotad.core.errors import EngineError
from shotad.core.memory_errors import is_out_of_memory
from shotad.core.model_loading import require_module, require_torch
from shotad.engines.local_loading import PURPOSE, Loaded, context_of, keep_only

if TYPE_CHECKING:
    import torch
else:
    torch = require_torch(PURPOSE)

ModelBatch = Mapping[str, Any]
"""What ``generate`` takes, tensors on the CPU: ids and mask ``[n, length]``, padded on the left, pixels."""

Collate = Callable[[Sequence[int]], ModelBatch]
"""The batch of the requests at these indices, in this order. Called in another thread."""

_TURN_ENDS = (
    "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|im_end|>", "<|endoftext|>", "<|end|>", "<end_of_turn>",
    "<|end_of_turn|>", "<|return|>",
)  # fmt: skip
"""By which chat models end a turn (Llama 3; Qwen, SmolLM; Phi; Gemma; …), where the tokenizer has them."""


TOKENS = 32768
"""That go through a model at once, padding and answers included: ten clips of the paper's size, or less."""


def answers(
    loaded: Loaded, tokenizer: Any, requests: Sequence[Request], lengths: Sequence[int], collate: Collate,
    *, most: int, tokens: int = TOKENS,
) -> list[Reply]:  # fmt: skip
    """One reply for each request, in order.

    ``lengths`` are those of the prompts in tokens; ``collate`` makes the model's input of those that go
    together, in a thread, while the model works. ``tokens`` and ``most`` are a batch's limits (`groups`).
    A prompt too long for the model, and one that its code fails on, is a failed reply. Raises EngineError.
    """
    replies: dict[int, Reply] = {}
    fitting: list[int] = []
    for index, request in enumerate(requests):
        length, answer, context = lengths[index], request.sampling.max_tokens, context_of(loaded.model.config)
        if context is None or length + answer <= context:
            fitting.append(index)
            continue
        why = f"the prompt has {length} tokens; with {answer} for the answer that is more than "
        replies[index] = Reply("", "error", error=f"{why}the {context} that {loaded.label} takes")
    run = _Run(loaded, tokenizer, requests, lengths, collate, tokens, most)
    replies.update(run.all_of(fitting))
    return [replies[index] for index in range(len(requests))]


def padded(rows: Sequence[Sequence[int]], pad: int) -> dict[str, torch.Tensor]:
    """``input_ids`` and ``attention_mask`` ``[n, longest]`` of token ids, padded on the left.

    >>> padded([[5, 6], [7]], pad=0)["input_ids"].tolist()
    [[5, 6], [0, 7]]
    """
    longest = max(len(row) for row in rows)
    ids = [[pad] * (longest - len(row)) + list(row) for row in rows]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
    return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask)}


def end_tokens(loaded: Loaded, tokenizer: Any) -> tuple[int, ...]:
    """Ids of all tokens by which the model may end; configurations miss some, as Meta-Llama-3's first did."""
    config = loaded.model.config
    named: list[Any] = [tokenizer.eos_token_id]
    for part in (loaded.model.generation_config, config, config.get_text_config()):
        ids = getattr(part, "eos_token_id", None)
        named += ids if isinstance(ids, list | tuple) else [ids]
    added = tokenizer.get_added_vocab()
    named += [added.get(word) for word in _TURN_ENDS]
    return tuple(sorted({int(token) for token in named if token is not None}))


def pad_token(loaded: Loaded, tokenizer: Any) -> int:
    """The id that fills rows up. Any will do, for it is masked."""
    if tokenizer.pad_token_id is not None:
        return int(tokenizer.pad_token_id)
    return next(iter(end_tokens(loaded, tokenizer)), 0)


class _Run:
    """One call of `answers`."""

    def __init__(
        self, loaded: Loaded, tokenizer: Any, requests: Sequence[Request], lengths: Sequence[int],
        collate: Collate, tokens: int, most: int,
    ) -> None:  # fmt: skip
        self._loaded, self._tokenizer = loaded, tokenizer
        self._requests, self._lengths, self._collate = requests, lengths, collate
        self._tokens, self._most = tokens, most
        self._ends = end_tokens(loaded, tokenizer)
        self._pad = pad_token(loaded, tokenizer)

    def all_of(self, indices: Sequence[int]) -> dict[int, Reply]:
        """The replies to the requests at ``indices``; the next group's input is made meanwhile."""
        replies: dict[int, Reply] = {}
        waiting = self._grouped(indices)
        with ThreadPoolExecutor(1, thread_name_prefix="preparing") as pool:
            batches = [pool.submit(self._collate, group) for group in waiting[:1]]
            while waiting:
                group, before = waiting.pop(0), self._loaded.limit
                batches += [pool.submit(self._collate, following) for following in waiting[:1]]
                replies.update(zip(group, self._of_group(group, batches.pop(0)), strict=True))
                if self._loaded.limit != before:
                    # Memory ran out: what is left is grouped again, smaller.
                    waiting = self._grouped([index for others in waiting for index in others])
                    batches = [pool.submit(self._collate, following) for following in waiting[:1]]
        return replies

    def _grouped(self, indices: Sequence[int]) -> list[list[int]]:
        answer = max((self._requests[i].sampling.max_tokens for i in indices), default=0)
        tokens = min(self._tokens, self._loaded.limit or self._tokens)
        batches = groups([self._lengths[i] for i in indices], answer, tokens, self._most)
        return [sorted(indices[place] for place in group) for group in batches]

    def _of_group(
        self, group: list[int], batch: Future[ModelBatch] | None = None, *, last: bool = False
    ) -> list[Reply]:
        """Replies to those of a group: in halves where memory runs out, one by one where the model's code
        fails. What does not fit alone is tried once more (``last``) when all else has left the memory."""
        try:
            return self._replies(group, self._collate(group) if batch is None else batch.result())
        except ShotadError:
            raise
        except Exception as error:  # noqa: BLE001  whatever a model's code raises is these requests' failure
            is_full, why = is_out_of_memory(error), f"{type(error).__name__}: {error}"
            is_fatal = isinstance(error, getattr(torch, "AcceleratorError", ())) or "CUDA error" in str(error)
            if is_fatal and not is_full:
                # It leaves the GPU useless until the program ends (a device-side assert).
                raise EngineError(
                    f"The GPU has stopped working: {str(error).partition(chr(10))[0]}.",
                    "Start again: lines that are done are kept. If it comes back, try compute.device cpu.",
                ) from None
        # Outside the except block: a caught error keeps its frames, and with them their tensors.
        batch = None
        if is_full:
            longest = max(self._lengths[i] + self._requests[i].sampling.max_tokens for i in group)
            if len(group) > 1:
                half = max(1, longest * len(group) // 2)
                self._loaded.limit = min(half, self._loaded.limit or half)
            keep_only(self._loaded)
            if len(group) == 1 and not last:
                return self._of_group(group, last=True)
            length = self._lengths[group[0]]
            why = f"memory ran out on a prompt of {length} tokens alone ({why.partition(chr(10))[0]})"
        if len(group) == 1:
            return [Reply("", "error", error=why)]
        size = (len(group) + 1) // 2 if is_full else 1
        parts = (group[start : start + size] for start in range(0, len(group), size))
        return [reply for part in parts for reply in self._of_group(part)]

    def _replies(self, indices: Sequence[int], batch: ModelBatch) -> list[Reply]:
        requests = [self._requests[index] for index in indices]
        choice = SeededChoice(requests)
        transformers = require_module("transformers", PURPOSE)
        config = transformers.GenerationConfig(
            do_sample=False,
            max_new_tokens=max(request.sampling.max_tokens for request in requests),
            eos_token_id=list(self._ends) or None,
            pad_token_id=self._pad,
        )
        # The batch on the model's device, numbers with a fraction in its precision
        placed, device, dtype = dict(batch), self._loaded.device, self._loaded.dtype
        for name, value in batch.items():
            if isinstance(value, torch.Tensor):
                placed[name] = value.to(device, dtype if value.is_floating_point() else value.dtype)
        with torch.inference_mode():
            ids = self._loaded.model.generate(
                **placed,
                generation_config=config,
                logits_processor=[choice] if choice.draws else [],
            )
        written = ids[:, batch["input_ids"].shape[1] :].tolist()
        together = tuple(request.slot_id for request in requests) if len(requests) > 1 else ()
        replies = []
        for request, index, row in zip(requests, indices, written, strict=True):
            words = row[: request.sampling.max_tokens]
            end = next((place for place, token in enumerate(words) if token in self._ends), None)
            text = self._tokenizer.decode(
                words[:end], skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            usage = Usage(self._lengths[index], len(words) if end is None else end + 1)
            replies.append(Reply(text.strip(), "length" if end is None else "stop", usage, batch=together))
        return replies


def groups(lengths: Sequence[int], answer: int, tokens: int, most: int) -> list[list[int]]:
    """Indices of ``lengths`` in groups of like length, the longest first: memory runs out at once or never.

    All of a group are padded to its longest; that and ``answer`` more tokens each, times their number, is
    at most ``tokens``, and their number at most ``most``. One that alone is above ``tokens`` is alone.

    >>> groups([5, 90, 6, 80], answer=10, tokens=200, most=8)
    [[1, 3], [2, 0]]
    """
    batches: list[list[int]] = []
    group_size = 0
    for index in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if not batches or len(batches[-1]) >= group_size:
            batches.append([])
            group_size = min(most, max(1, tokens // max(1, lengths[index] + answer)))
        batches[-1].append(index)
    return batches


class SeededChoice:
    """A logits processor of transformers that makes the greedy choice a draw, row by row.

    Each row has its own generator, seeded by its request. Temperature, top-k and top-p come first, in the
    order of transformers (``GenerationMixin._get_logits_processor``), then noise
    after Gumbel: the greatest of ``score + noise`` is a draw from the softmax of the scores (Gumbel-max;
    see Maddison et al. 2014, arXiv 1411.0030), so that ``generate(do_sample=False)`` takes it. A row of
    temperature 0 stays; where all do (`draws` is False), none is needed. One object is for one ``generate``;
    other kinds of devices draw other tokens.
    """

    def __init__(self, requests: Sequence[Request]) -> None:
        """A row for each of ``requests``."""
        self._rows = [row for row, request in enumerate(requests) if request.sampling.temperature > 0]
        self._drawing = [requests[row] for row in self._rows]
        self._here: tuple[torch.Tensor, torch.Tensor, torch.Tensor, list[torch.Generator]] | None = None
        """Rows ``[n]``, temperatures and top-p ``[n, 1]``, and a generator for each row, on their device."""
        self._top_ks: torch.Tensor | None = None
        """Top-k ``[n, 1]`` on their device, all words where a row has no limit; None where no row has one."""

    @property
    def draws(self) -> bool:
        """False where all rows are greedy."""
        return bool(self._rows)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """``[rows, words]`` scores → scores whose greatest is the word drawn."""
        if self._here is None:
            # Once, not at each word: a copy to a GPU makes the program wait for all that is under way there.
            device, samplings = scores.device, [request.sampling for request in self._drawing]
            self._here = (
                torch.tensor(self._rows, device=device),
                torch.tensor([sampling.temperature for sampling in samplings], device=device)[:, None],
                torch.tensor([sampling.top_p for sampling in samplings], device=device)[:, None],
                [torch.Generator(device).manual_seed(request.seed) for request in self._drawing],
            )
            words = scores.shape[-1]
            if any(sampling.top_k is not None for sampling in samplings):
                top_ks = [min(sampling.top_k or words, words) for sampling in samplings]
                self._top_ks = torch.tensor(top_ks, device=device)[:, None]
        rows, temperatures, top_ps, generators = self._here
        heated = scores[rows] / temperatures
        is_whole = all(request.sampling.top_p >= 1 for request in self._drawing)
        if not is_whole or self._top_ks is not None:
            ordered, places = heated.sort(dim=-1, descending=True, stable=True)
            if self._top_ks is not None:
                # Words below the last of the ``top_k`` likeliest go to minus infinity; its equals stay.
                ordered = ordered.masked_fill(ordered < ordered.gather(1, self._top_ks - 1), float("-inf"))
            # All words but the likeliest that make up ``top_p`` go there too; the likeliest stays.
            shares = ordered.softmax(dim=-1)
            above = shares.cumsum(dim=-1) - shares
            out = (above >= top_ps) & (top_ps < 1) | ordered.isneginf()
            out[:, 0] = False
            heated = heated.masked_fill(torch.zeros_like(out).scatter(1, places, out), float("-inf"))
        # Times from the exponential distribution, ``[n, words]``; minus their logarithm is Gumbel noise.
        waits = torch.empty(heated.shape, dtype=torch.float32, device=scores.device)
        for row, generator in zip(waits, generators, strict=True):
            row.exponential_(generator=generator).clamp_min_(torch.finfo(torch.float32).tiny)
        return scores.index_copy(0, rows, heated - waits.log_())
