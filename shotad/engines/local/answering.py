"""Answers of a loaded model to many requests: batches, end tokens, lengths, memory that runs out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from shotad.core import EngineError, Reply, Request, ShotadError, Usage, need, need_torch
from shotad.engines.local import model_cache as shelf
from shotad.engines.local.batching import groups, in_groups
from shotad.engines.local.loading import PURPOSE, Loaded
from shotad.engines.local.memory import is_out_of_memory
from shotad.engines.local.sampling import SeededChoice

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch(PURPOSE)

Batch = Mapping[str, Any]
"""What ``generate`` takes: ``input_ids`` and ``attention_mask`` ``[n, length]``, padded on the left, and what
else the model wants (pixels), as tensors on the CPU."""

Collate = Callable[[Sequence[int]], Batch]
"""The batch of the requests at these indices, in this order. Called in another thread."""

_TURN_ENDS = (
    "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|im_end|>", "<|endoftext|>", "<|end|>", "<end_of_turn>",
    "<|end_of_turn|>", "<|return|>",
)  # fmt: skip
"""By which chat models end a turn (Llama 3; Qwen, SmolLM; Phi; Gemma; …), where the tokenizer has them."""


def answers(
    loaded: Loaded, tokenizer: Any, requests: Sequence[Request], lengths: Sequence[int], collate: Collate,
    *, tokens: int, most: int,
) -> list[Reply]:  # fmt: skip
    """One reply for each request, in order.

    ``lengths`` are those of the prompts in tokens, without padding; ``collate`` makes the model's input of
    those that go together, in a thread, while the model works on those before. ``tokens`` and ``most``
    are the limits of a batch (`groups`). A prompt too long for the model, and one that its code fails on,
    is a failed reply. Raises EngineError where the GPU is in a state that no further call survives.
    """
    replies: dict[int, Reply] = {}
    fitting: list[int] = []
    for index, request in enumerate(requests):
        why = too_long(loaded, lengths[index], request.sampling.max_tokens)
        if why is None:
            fitting.append(index)
        else:
            replies[index] = Reply("", "error", error=why)
    run = _Run(loaded, tokenizer, requests, lengths, collate, tokens, most)
    replies.update(run.all_of(fitting))
    return [replies[index] for index in range(len(requests))]


def too_long(loaded: Loaded, length: int, answer: int) -> str | None:
    """Why a prompt of ``length`` tokens cannot be answered in ``answer`` more; None where it can."""
    if loaded.context is None or length + answer <= loaded.context:
        return None
    return (
        f"the prompt has {length} tokens; with {answer} for the answer that is more than "
        f"the {loaded.context} that {loaded.label} takes"
    )


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
    """Ids of all tokens by which the model may end its answer, ascending.

    Those that its configuration names are often not all: Meta-Llama-3's first release named
    ``<|end_of_text|>`` alone, and its chat ends with ``<|eot_id|>``.
    """
    config = loaded.model.config
    named: list[Any] = [tokenizer.eos_token_id]
    for part in (loaded.model.generation_config, config, config.get_text_config()):
        ids = getattr(part, "eos_token_id", None)
        named += ids if isinstance(ids, list | tuple) else [ids]
    added = tokenizer.get_added_vocab()
    named += [added.get(word) for word in _TURN_ENDS]
    return tuple(sorted({int(one) for one in named if one is not None}))


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
        found: dict[int, Reply] = {}
        waiting = self._grouped(indices)
        with ThreadPoolExecutor(1, thread_name_prefix="preparing") as pool:
            prepared = pool.submit(self._collate, waiting[0]) if waiting else None
            while waiting:
                group, batch = waiting.pop(0), prepared
                prepared = pool.submit(self._collate, waiting[0]) if waiting else None
                before = self._loaded.limit
                found.update(self._of_group(group, batch))
                if self._loaded.limit != before and waiting:
                    # Memory ran out: what is left is grouped anew, smaller.
                    waiting = self._grouped([index for others in waiting for index in others])
                    prepared = pool.submit(self._collate, waiting[0])
        return found

    def _grouped(self, indices: Sequence[int]) -> list[list[int]]:
        answer = max((self._requests[i].sampling.max_tokens for i in indices), default=0)
        tokens = min(self._tokens, self._loaded.limit or self._tokens)
        found = groups([self._lengths[i] for i in indices], answer, tokens, self._most)
        return [sorted(indices[place] for place in group) for group in found]

    def _of_group(self, group: list[int], batch: Future[Batch] | None) -> dict[int, Reply]:
        """Replies to those of a group, whose input may be under way already."""
        ready = {tuple(group): batch} if batch is not None else {}

        def work(items: list[int]) -> list[Reply]:
            waited = ready.pop(tuple(items), None)
            return self._replies(items, waited.result() if waited is not None else self._collate(items))

        try:
            replies = in_groups(group, work, is_out_of_memory, self._no_memory, self._relieve)
        except ShotadError:
            raise
        except Exception as error:  # noqa: BLE001  whatever a model's code raises is these requests' failure
            _check_alive(error)
            if len(group) > 1:
                return {index: reply for one in group for index, reply in self._of_group([one], None).items()}
            replies = [Reply("", "error", error=f"{type(error).__name__}: {error}")]
        return dict(zip(group, replies, strict=True))

    def _replies(self, indices: Sequence[int], batch: Batch) -> list[Reply]:
        requests = [self._requests[index] for index in indices]
        choice = SeededChoice(requests)
        transformers = need("transformers", PURPOSE)
        config = transformers.GenerationConfig(
            do_sample=False,
            max_new_tokens=max(request.sampling.max_tokens for request in requests),
            eos_token_id=list(self._ends) or None,
            pad_token_id=self._pad,
        )
        with torch.inference_mode():
            ids = self._loaded.model.generate(
                **self._placed(batch),
                generation_config=config,
                logits_processor=[choice] if choice.draws else [],
            )
        written = ids[:, batch["input_ids"].shape[1] :].tolist()
        together = tuple(request.slot_id for request in requests) if len(requests) > 1 else ()
        return [
            self._reply(request, self._lengths[index], row, together)
            for request, index, row in zip(requests, indices, written, strict=True)
        ]

    def _placed(self, batch: Batch) -> dict[str, Any]:
        """The batch on the model's device, numbers with a fraction in its precision."""
        device, dtype = self._loaded.device, self._loaded.dtype
        return {
            name: value.to(device, dtype if value.is_floating_point() else value.dtype)
            if isinstance(value, torch.Tensor)
            else value
            for name, value in batch.items()
        }

    def _reply(self, request: Request, length: int, row: list[int], together: tuple[str, ...]) -> Reply:
        row = row[: request.sampling.max_tokens]
        end = next((place for place, token in enumerate(row) if token in self._ends), None)
        text = self._tokenizer.decode(row[:end], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        usage = Usage(length, len(row) if end is None else end + 1)
        return Reply(text.strip(), "length" if end is None else "stop", usage, batch=together)

    def _no_memory(self, index: int, why: str) -> Reply:
        return Reply(
            "", "error", error=f"memory ran out on a prompt of {self._lengths[index]} tokens alone ({why})"
        )

    def _relieve(self, indices: list[int]) -> None:
        longest = max(self._lengths[i] + self._requests[i].sampling.max_tokens for i in indices)
        if len(indices) > 1:
            half = max(1, longest * len(indices) // 2)
            self._loaded.limit = min(half, self._loaded.limit or half)
        shelf.keep_only(self._loaded)


def _check_alive(error: Exception) -> None:
    """Raise EngineError for what leaves the GPU useless until the program ends (a device-side assert)."""
    if isinstance(error, getattr(torch, "AcceleratorError", ())) or "CUDA error" in str(error):
        raise EngineError(
            f"The GPU has stopped working: {str(error).partition(chr(10))[0]}.",
            "Start again: lines that are done are kept. If it comes back, try compute.device cpu.",
        ) from None
