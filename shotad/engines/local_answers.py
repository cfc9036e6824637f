"""Answers of a loaded model to many requests: batches, end tokens, lengths, memory, drawn tokens.

Tokens are drawn so that an answer depends on its own seed, and not on what else is in the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from shotad.core import (
    Reply,
    Request,
    ShotadError,
    Usage,
)
from shotad.core.errors import EngineError
from shotad.core.memory_errors import is_out_of_memory
from shotad.core.model_batches import Batch, BatchLimit, ClipSize, batches
from shotad.core.model_cache import CACHE, Loaded, MemoryMeter, free_on_cards
from shotad.core.model_loading import require_module, require_torch
from shotad.engines.local_loading import PURPOSE, context_of
from shotad.engines.thoughts import is_mark
from shotad.script.reasons import in_english

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
    "<|end_of_turn|>",
)  # fmt: skip
"""By which chat models end a turn (Llama 3; Qwen, SmolLM; Phi; Gemma; …), where the template does not say."""

_HARMONY_MARKS = ("<|channel|>", "<|message|>")
_HARMONY_ENDS = ("<|return|>", "<|call|>")
"""In the harmony format (gpt-oss) ``<|end|>`` ends a message, such as the analysis before the final one; a
turn ends with one of these (https://cookbook.openai.com/articles/openai-harmony, "Special tokens")."""


def answers(
    loaded: Loaded, tokenizer: Any, requests: Sequence[Request], lengths: Sequence[int], collate: Collate,
    *, most: int, turn_end: str = "",
) -> list[Reply]:  # fmt: skip
    """One reply for each request, in order.

    ``lengths`` are those of the prompts in tokens; ``collate`` makes the model's input of those that go
    together, in a thread, while the model works. A batch has at most ``most`` requests, and as many tokens
    as memory holds (`BatchLimit`). ``turn_end`` is the token that ends a turn by the chat template.

    A prompt too long for the model, and one that its code fails on, is a failed reply. Raises EngineError.
    """
    replies: dict[int, Reply] = {}
    fitting: list[int] = []
    for index, request in enumerate(requests):
        length, answer, context = lengths[index], request.sampling.max_tokens, context_of(loaded.model.config)
        if context is None or length + answer <= context:
            fitting.append(index)
            continue
        error = in_english(
            "failure.prompt_length", number=length, fitting=answer, limit=context, model=loaded.label
        )
        replies[index] = Reply("", "error", error=error)
    run = _Run(loaded, tokenizer, requests, lengths, collate, most, turn_end)
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


def end_tokens(loaded: Loaded, tokenizer: Any, turn_end: str) -> tuple[int, ...]:
    """Ids of all tokens by which the model may end its turn.

    They are named by its configurations, of which some miss one, as Meta-Llama-3's first did; and by the chat
    template, which writes ``turn_end`` behind what the assistant said. Where it writes none, those that the
    vocabulary has of the usual ones count.
    """
    config = loaded.model.config
    named: list[Any] = [tokenizer.eos_token_id]
    for part in (loaded.model.generation_config, config, config.get_text_config()):
        ids = getattr(part, "eos_token_id", None)
        named += ids if isinstance(ids, list | tuple) else [ids]
    added = tokenizer.get_added_vocab()
    named += [added.get(token) for token in ([turn_end] if turn_end else _TURN_ENDS)]
    ends = {int(token) for token in named if token is not None}
    if all(mark in added for mark in _HARMONY_MARKS):
        ends.update(added[end] for end in _HARMONY_ENDS if end in added)
        ends.discard(added.get("<|end|>", -1))
    return tuple(sorted(ends))


def pad_token(tokenizer: Any, ends: Sequence[int]) -> int:
    """The id that fills rows up. Any will do, for it is masked."""
    return int(next(iter(ends), 0) if tokenizer.pad_token_id is None else tokenizer.pad_token_id)


class _Run:
    """One call of `answers`."""

    def __init__(
        self, loaded: Loaded, tokenizer: Any, requests: Sequence[Request], lengths: Sequence[int],
        collate: Collate, most: int, turn_end: str,
    ) -> None:  # fmt: skip
        self._loaded, self._tokenizer = loaded, tokenizer
        self._requests, self._lengths, self._collate, self._most = requests, lengths, collate, most
        self._sizes: list[ClipSize] = [
            () if request.clip is None else request.clip.images.shape[:3] for request in requests
        ]
        self._limits = loaded.limits
        for size in self._sizes:
            self._limits.setdefault(size, BatchLimit())
        self._ends = end_tokens(loaded, tokenizer, turn_end)
        self._pad = pad_token(tokenizer, self._ends)

    def all_of(self, indices: Sequence[int]) -> dict[int, Reply]:
        """The replies to the requests at ``indices``; the next batch's input is made meanwhile."""
        replies: dict[int, Reply] = {}
        waiting = self._batches(indices)
        prepared: dict[tuple[int, ...], Future[ModelBatch]] = {}
        with ThreadPoolExecutor(1, thread_name_prefix="preparing") as pool:
            while waiting:
                for batch in waiting[:2]:
                    if batch.indices not in prepared:
                        prepared[batch.indices] = pool.submit(self._collate, batch.indices)
                batch = waiting.pop(0)
                new_replies = self._answer(batch, prepared.pop(batch.indices))
                replies.update(new_replies)
                unanswered = [index for waiting_batch in waiting for index in waiting_batch.indices]
                unanswered += [index for index in batch.indices if index not in new_replies]
                # How many go together may have changed; what was prepared is of use where they did not.
                waiting = self._batches(unanswered)
                following = waiting[0].indices if waiting else ()
                prepared = {key: value for key, value in prepared.items() if key == following}
        return replies

    def _batches(self, indices: Sequence[int]) -> list[Batch]:
        answer = max((self._requests[index].sampling.max_tokens for index in indices), default=0)
        free = free_on_cards(self._loaded)
        return batches(indices, self._lengths, self._sizes, answer, self._limits, free, self._most)

    def _answer(self, batch: Batch, prepared: Future[ModelBatch]) -> dict[int, Reply]:
        """Replies to the requests of a batch, by index; none where memory ran out and fewer have to be tried.

        Where the model's code fails, each request is asked alone.
        """
        limit, rows = self._limits[batch.clip_size], len(batch.indices)
        outcome = self._try(batch.indices, prepared.result, limit)
        del prepared  # with its tensors
        if isinstance(outcome, list):
            limit.went_through(rows, batch.row_tokens, is_full=batch.is_full)
            return dict(zip(batch.indices, outcome, strict=True))
        if rows > 1 and outcome.is_out_of_memory:
            limit.ran_out(rows, batch.row_tokens)
            return {}
        if rows == 1:
            (index,) = batch.indices
            return {index: self._reply_after(outcome, index, limit)}
        return {
            index: self._reply_after(
                self._try((index,), partial(self._collate, (index,)), limit), index, limit
            )
            for index in batch.indices
        }

    def _reply_after(self, outcome: list[Reply] | _Failure, index: int, limit: BatchLimit) -> Reply:
        """The reply to a request that was asked alone, after a second try where memory ran out."""
        if isinstance(outcome, _Failure) and outcome.is_out_of_memory:
            limit.ran_out(1, self._lengths[index] + self._requests[index].sampling.max_tokens)
            outcome = self._try((index,), partial(self._collate, (index,)), limit)
        if isinstance(outcome, list):
            return outcome[0]
        if outcome.is_out_of_memory:
            error = in_english("failure.memory", number=self._lengths[index])
            return Reply("", "error", error=error, notes={"problem": outcome.why.partition("\n")[0]})
        return Reply("", "error", error=outcome.why)

    def _try(
        self, indices: Sequence[int], make_input: Callable[[], ModelBatch], limit: BatchLimit
    ) -> list[Reply] | _Failure:
        """The replies to these requests, or why there are none. Raises ShotadError.

        Where memory ran out, all else has left it afterwards.
        """
        try:
            return self._replies(indices, make_input(), limit)
        except ShotadError:
            raise
        except Exception as error:  # noqa: BLE001  whatever a model's code raises is these requests' failure
            failure = _Failure(f"{type(error).__name__}: {error}", is_out_of_memory(error))
            is_fatal = isinstance(error, getattr(torch, "AcceleratorError", ())) or "CUDA error" in str(error)
            if is_fatal and not failure.is_out_of_memory:
                # It leaves the GPU useless until the program ends (a device-side assert).
                raise EngineError(
                    f"The GPU has stopped working: {str(error).partition(chr(10))[0]}.",
                    "Start again: lines that are done are kept. If it comes back, try compute.device cpu.",
                ) from None
        # Outside the except block: a caught error keeps its frames, and with them their tensors.
        if failure.is_out_of_memory:
            CACHE.keep_only(self._loaded)
        return failure

    def _replies(self, indices: Sequence[int], batch: ModelBatch, limit: BatchLimit) -> list[Reply]:
        requests = [self._requests[index] for index in indices]
        choice = SeededChoice(requests)
        transformers = require_module("transformers", PURPOSE)
        config = transformers.GenerationConfig(
            do_sample=False,
            max_new_tokens=max(request.sampling.max_tokens for request in requests),
            eos_token_id=list(self._ends) or None,
            pad_token_id=self._pad,
        )
        with MemoryMeter(self._loaded.cards) as meter:
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
        for card, peak in meter.peaks.items():
            limit.took(str(card), ids.numel(), peak)
        written = ids[:, batch["input_ids"].shape[1] :].tolist()
        together = tuple(request.slot_id for request in requests) if len(requests) > 1 else ()
        replies = []
        for request, index, row in zip(requests, indices, written, strict=True):
            words = row[: request.sampling.max_tokens]
            end = next((place for place, token in enumerate(words) if token in self._ends), None)
            text = text_of(self._tokenizer, words[:end])
            usage = Usage(self._lengths[index], len(words) if end is None else end + 1)
            replies.append(Reply(text.strip(), "length" if end is None else "stop", usage, batch=together))
        return replies


def text_of(tokenizer: Any, ids: Sequence[int]) -> str:
    """The text of an answer's tokens without special tokens, but for marks of thoughts and channels.

    Those of Magistral, Cohere, Gemma 4 and gpt-oss are special tokens. Without them nobody could tell thought
    and answer apart.
    """
    added_tokens = getattr(tokenizer, "added_tokens_decoder", {})  # mistral-common's tokenizer has none
    special = {token_id for token_id, token in added_tokens.items() if token.special}
    marks = {token_id for token_id in special.intersection(ids) if is_mark(str(added_tokens[token_id]))}
    if marks:
        ids = [token_id for token_id in ids if token_id not in special or token_id in marks]
    text: str = tokenizer.decode(ids, skip_special_tokens=not marks, clean_up_tokenization_spaces=False)
    return text


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a batch has no replies."""

    why: str
    is_out_of_memory: bool


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
