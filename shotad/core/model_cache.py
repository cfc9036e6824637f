"""The loaded models of this process: one cache, in which a model makes room for the next.

Chat models, sentence embedders, encoders and coreference models are loaded by plans (`ModelPlan`), and models
with the same plan are one. Where another model does not fit beside those that are there, these are put away:
who uses one borrows it for a call (`ModelCache.lent`), and does not keep it. Whether a model can ever fit is
known from its size alone, before it is fetched or read (`check_needs`).

Nothing here imports torch before a model is used.
"""

from __future__ import annotations

import gc
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from shotad.core.errors import EngineError
from shotad.core.memory_errors import is_out_of_memory
from shotad.core.model_batches import Batch, BatchLimit, ClipSize, batches
from shotad.core.model_loading import cache_place, require_torch
from shotad.core.progress import size_text
from shotad.core.system import memory_free, memory_total

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

DeviceMap = dict[str, "torch.device"]
"""Where the parts of a model go, by their names; the empty name stands for the whole model."""

_WORKING_BYTES = 1 << 30
"""Bytes that a model needs to work on each device, on top of a tenth of its weights. Too little is no harm:
where memory runs out at work, the others are put away then (`ModelCache.keep_only`)."""


@dataclass(slots=True)
class Loaded:
    """A model that is ready to work.

    ``device`` takes its input, ``devices`` are all that hold parts of it. ``limits`` say how much goes
    through it at once, by the size of the clips.
    """

    model: Any
    device: torch.device
    dtype: torch.dtype
    label: str
    devices: tuple[torch.device, ...]
    limits: dict[ClipSize, BatchLimit] = field(default_factory=dict)

    @property
    def cards(self) -> tuple[torch.device, ...]:
        """Those of ``devices`` that are CUDA GPUs."""
        return tuple(device for device in self.devices if device.type == "cuda")


class ModelPlan(Protocol):
    """A model and how it is loaded: all by which one loaded model differs from another. Hashable.

    ``label`` is its name and no path, ``precision`` such as ``bfloat16 4bit``. ``smaller`` says what to do
    where it does not fit, as a sentence.
    """

    @property
    def label(self) -> str: ...
    @property
    def device(self) -> torch.device: ...
    @property
    def precision(self) -> str: ...
    @property
    def smaller(self) -> str: ...

    def weight_bytes(self) -> int:
        """What the weights take in memory, roughly. Raises WeightsError for damaged files."""
        ...

    def load(self, device_map: DeviceMap) -> Loaded:
        """The model, on its devices. Raises WeightsError for damaged files; want of memory passes."""
        ...

    def spread(self, bytes_needed: int, free: Mapping[torch.device, int]) -> DeviceMap | None:
        """The parts of the model over several GPUs; None where they do not fit, or it cannot be divided.

        ``bytes_needed`` are those of the weights, ``free`` those of each GPU that they may take.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelNeed:
    """What a model takes of this machine: by its plan (`need_of`), or by what is known before it is here.

    ``bytes`` are those of its weights in memory, ``download`` those still to be fetched. ``smaller`` is as in
    `ModelPlan`. ``divides``: it can be spread over several GPUs.
    """

    label: str
    device: torch.device
    precision: str
    bytes: int
    download: int = 0
    smaller: str = ""
    divides: bool = False


def need_of(plan: ModelPlan, *, divides: bool = False) -> ModelNeed:
    """What a model that is on this machine takes. Raises WeightsError for damaged files."""
    return ModelNeed(
        plan.label, plan.device, plan.precision, plan.weight_bytes(), smaller=plan.smaller, divides=divides
    )


def check_needs(needs: Sequence[ModelNeed]) -> None:
    """Refuse models that this machine cannot hold, each for itself, or cannot fetch for want of disk.

    Raises EngineError with the figures of all of them, and what to do. What this process holds on a GPU
    counts as free, since it can be put away.
    """
    needs = list(dict.fromkeys(needs))
    problems: list[str] = []
    hints: dict[str, None] = {}
    for need in needs:
        problem = memory_problem(need)
        if problem:
            problems.append(problem)
            hints[need.smaller] = None
    download = sum(need.download for need in needs)
    if download:
        place = cache_place()
        free = shutil.disk_usage(next(path for path in (place, *place.parents) if path.is_dir())).free
        if free < download:
            names = " and ".join(need.label for need in needs if need.download)
            problems.append(
                f"{names} take {size_text(download)} of disk below {place}, where {size_text(free)} are free."
            )
            hints["Free some space, or name another folder by HF_HOME."] = None
    if problems:
        raise EngineError(f"{' '.join(problems)} Nothing was fetched or read.", " ".join(hints), again=False)


def memory_problem(need: ModelNeed) -> str:
    """Why this machine cannot hold a model, with the figures, as a sentence; empty where it can."""
    takes = f"The model {need.label} does not fit: its weights take about {need.bytes / 1e9:.1f} GB"
    takes = f"{takes} in {need.precision}"
    if need.device.type == "cpu":
        memory = memory_total()
        if memory is None or need.bytes <= memory:
            return ""
        return f"{takes}, and this machine has {memory / 1e9:.1f} GB of memory."
    free = {card: _free_when_empty(card) for card in cards_for(need.device)}
    if not free or max(free.values()) >= need.bytes:
        return ""
    if need.divides and sum(map(_for_weights, free.values())) >= need.bytes:
        return ""
    figures = ", ".join(f"{size / 1e9:.1f} GB on {card}" for card, size in free.items())
    return f"{takes}, and there are {figures}."


def memory_left(device: torch.device) -> int | None:
    """Bytes of a GPU, or of this process, that can still be taken; None where that is not known."""
    torch = require_torch("A model")
    if device.type == "cuda":
        unused: int = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0]) + unused
    if device.type == "mps":
        return int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())
    return memory_free()


def cards_for(device: torch.device) -> list[torch.device]:
    """The CUDA GPUs that ``device`` means: the one that is named, else all that can do what the first can."""
    torch = require_torch("A model")
    if device.type != "cuda":
        return []
    if device.index is not None:
        return [device]
    cards = [torch.device("cuda", index) for index in range(torch.cuda.device_count())]
    least = torch.cuda.get_device_capability(cards[0])
    return [card for card in cards if torch.cuda.get_device_capability(card) >= least]


class ModelCache:
    """Loaded models by their plan. Threads may share it."""

    def __init__(self) -> None:
        self._loaded: dict[ModelPlan, Loaded] = {}
        self._lock = threading.RLock()

    @contextmanager
    def lent(self, plan: ModelPlan) -> Iterator[Loaded]:
        """The model for the time of a block, in which no other thread uses or changes the cache.

        It is loaded at first use. Raises as `ModelPlan.load`, and EngineError where it does not fit.
        """
        with self._lock:
            yield self._take(plan)

    def _take(self, plan: ModelPlan) -> Loaded:
        if plan in self._loaded:
            return self._loaded[plan]
        for _ in range(2 if self._loaded else 1):
            device_map = self._placement(plan)
            try:
                self._loaded[plan] = plan.load(device_map)
                return self._loaded[plan]
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
            # Outside the except block: a caught error keeps its frames, and with them what was read.
            self.clear()
        raise EngineError(
            f"The model {plan.label} does not fit into the memory of {plan.device} "
            f"(its weights alone take about {plan.weight_bytes() / 1e9:.1f} GB in {plan.precision}).",
            plan.smaller,
        )

    def _placement(self, plan: ModelPlan) -> DeviceMap:
        """Where the model goes, and put away what is in its way.

        Of several GPUs it goes to the one with the most free memory, beside no other model if it can; to one
        alone after others were put away; or is spread over all of them. Raises EngineError with the figures
        where the GPUs cannot hold it.
        """
        weights = plan.weight_bytes()
        comfortable = int(weights * 1.1) + _WORKING_BYTES
        cards = cards_for(plan.device)
        if not cards:
            free = memory_left(plan.device) if self._loaded else None
            if free is not None and free < comfortable:
                self.clear()
            if problem := memory_problem(need_of(plan)):
                raise EngineError(f"{problem} Nothing was read.", plan.smaller)
            return {"": plan.device}
        free_now = {card: memory_left(card) or 0 for card in cards}
        emptiest = max(cards, key=free_now.__getitem__)
        if free_now[emptiest] >= comfortable:
            return {"": emptiest}
        free_when_empty = {card: _free_when_empty(card) for card in cards}
        largest = max(cards, key=free_when_empty.__getitem__)
        if free_when_empty[largest] < comfortable and len(cards) > 1:
            for_weights = {card: _for_weights(size) for card, size in free_when_empty.items()}
            device_map = plan.spread(weights, for_weights)
            if device_map is not None:
                self.clear()
                return device_map
        if problem := memory_problem(need_of(plan)):
            raise EngineError(f"{problem} Nothing was read.", plan.smaller)
        self._put_away([model for model in self._loaded.values() if largest in model.devices])
        return {"": largest}

    def keep_only(self, loaded: Loaded) -> None:
        """Put away all others on its devices, and give back what torch keeps of freed tensors."""
        with self._lock:
            other_models = [model for model in self._loaded.values() if model is not loaded]
            self._put_away([model for model in other_models if set(model.devices) & set(loaded.devices)])

    def clear(self) -> None:
        """Put away all."""
        with self._lock:
            self._put_away(list(self._loaded.values()))

    def _put_away(self, models: list[Loaded]) -> None:
        for plan, loaded in list(self._loaded.items()):
            if any(loaded is model for model in models):
                # Whoever has a reference left (a thread that is about to end) must not keep the memory.
                self._loaded.pop(plan).model = None
        empty_cache()


def _free_when_empty(card: torch.device) -> int:
    """Bytes that are free once this process has put away all that it holds on a GPU."""
    torch = require_torch("A model")
    return int(torch.cuda.mem_get_info(card)[0]) + int(torch.cuda.memory_reserved(card))


def _for_weights(free: int) -> int:
    """Bytes of a GPU that the weights of a model which is spread over several may take."""
    return free * 9 // 10 - _WORKING_BYTES


def empty_cache() -> None:
    """Give back what torch keeps of freed tensors."""
    gc.collect()
    if "torch" not in sys.modules:
        return
    torch = sys.modules["torch"]
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


CACHE = ModelCache()
"""That of this process."""


class MemoryMeter:
    """Measures what a block takes on each of ``cards``, at most and on top of what was there before.

    ``peaks`` has bytes by card, after the block. Source: torch.cuda's ``max_memory_allocated``.
    """

    def __init__(self, cards: Sequence[torch.device]) -> None:
        self._torch = require_torch("A model")
        self._before: dict[torch.device, int] = dict.fromkeys(cards, 0)
        self.peaks: dict[torch.device, int] = {}

    def __enter__(self) -> Self:
        for card in self._before:
            self._torch.cuda.reset_peak_memory_stats(card)
            self._before[card] = self._torch.cuda.memory_allocated(card)
        return self

    def __exit__(self, *error: object) -> None:
        for card, before in self._before.items():
            self.peaks[card] = self._torch.cuda.max_memory_allocated(card) - before


def free_on_cards(loaded: Loaded) -> dict[str, int]:
    """Bytes that are free on each GPU of a model, by its name, where that is known."""
    free = {str(card): memory_left(card) for card in loaded.cards}
    return {card: size for card, size in free.items() if size is not None}


def run_in_batches(
    loaded: Loaded, lengths: Sequence[int], most: int, run: Callable[[Sequence[int]], None]
) -> None:
    """Call ``run`` with the indices of texts that go through an encoder together, until all were given.

    ``lengths`` are the texts' tokens. The longest go first. A batch has at most ``most`` texts, and as many
    tokens as memory holds (`BatchLimit`): where memory runs out, all other models leave the device and fewer
    texts are tried. Raises EngineError where it runs out on a text alone, and what ``run`` raises.
    """
    limit = loaded.limits.setdefault((), BatchLimit())
    sizes: list[ClipSize] = [()] * len(lengths)
    waiting: list[int] = list(range(len(lengths)))
    last_failed = False
    while waiting:
        batch = batches(waiting, lengths, sizes, 0, loaded.limits, free_on_cards(loaded), most)[0]
        rows = len(batch.indices)
        if _fits(loaded, batch, limit, run):
            limit.went_through(rows, batch.row_tokens, is_full=batch.is_full)
            done = set(batch.indices)
            waiting = [index for index in waiting if index not in done]
            last_failed = False
            continue
        limit.ran_out(rows, batch.row_tokens)
        CACHE.keep_only(loaded)
        if rows == 1 and last_failed:
            raise EngineError(
                f"Memory ran out on {loaded.device} while {loaded.label} read one text of "
                f"{batch.row_tokens} tokens.",
                "Close other programs that use this device, or name a smaller model.",
            )
        last_failed = rows == 1


def run_alone_if_needed(loaded: Loaded, run: Callable[[], T]) -> T:
    """The result of ``run``; where memory runs out, a second time when all other models left the device."""
    try:
        return run()
    except Exception as error:
        if not is_out_of_memory(error):
            raise
    # Outside the except block: a caught error keeps its frames, and with them their tensors.
    CACHE.keep_only(loaded)
    return run()


def _fits(loaded: Loaded, batch: Batch, limit: BatchLimit, run: Callable[[Sequence[int]], None]) -> bool:
    """Run a batch and measure it; False where memory ran out."""
    try:
        with MemoryMeter(loaded.cards) as meter:
            run(batch.indices)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return False
    for card, peak in meter.peaks.items():
        limit.took(str(card), len(batch.indices) * batch.row_tokens, peak)
    return True
