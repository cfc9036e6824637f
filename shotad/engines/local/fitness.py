"""Whether this machine can run a model that is not here yet: told before it is fetched, without torch."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Sequence

from shotad.core import Config, EngineError, HubModel, cache_place, gpu_memory, memory_total

ROOM = 1.2
"""Bytes of memory for a byte of weights: frames and answers come on top."""
BEARABLE = 10e9
"""Bytes of weights up to which a model is fetched for a machine without a GPU, where larger ones take
minutes for an answer (compute.device = cpu asks for it all the same)."""
_SHARE = {"none": 1.0, "8bit": 0.55, "4bit": 0.33}
"""Bytes of a quantised weight for each byte of a published one, on average, with what stays whole."""
_PACKAGES = ("torch", "transformers")


def check_fits(models: Sequence[HubModel], config: Config, instead: str) -> None:
    """Refuse ``models``, which would have to be fetched, where this machine cannot run them.

    They are loaded one after the other, so the largest counts. ``instead`` begins the hint. Raises
    EngineError that says all that is missing.
    """
    models = list(dict.fromkeys(models))
    if not models or not (lacking := [*_packages(), *_memory(models, config), *_disk(models)]):
        return
    names = " and ".join(model.repo for model in models)
    size = sum(model.bytes for model in models)
    raise EngineError(
        f"This machine cannot run {names}. Missing: {'; '.join(lacking)}. "
        f"Nothing was fetched; it would have been {_gb(size)}.",
        f"{instead} A smaller model can be named, and compute.device=cpu does without a GPU, "
        "minutes for each answer (docs/engines.md).",
    )


def _packages() -> list[str]:
    absent = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    return [f'{" and ".join(absent)} (pip install "shotad[models]")'] if absent else []


def _memory(models: Sequence[HubModel], config: Config) -> list[str]:
    """The GPU that is missing or too small; of a machine that is to do without, its memory."""
    largest = max(model.bytes for model in models)
    wanted = int(largest * ROOM * _SHARE[config.local.quantise])
    device, there = config.compute.device, gpu_memory()
    if device not in ("auto", "cpu"):
        # One that is named and not there is told by torch.
        return []
    if device == "cpu" or (device == "auto" and there == 0 and largest <= BEARABLE):
        have = memory_total()
        short = have is not None and have < largest * ROOM
        return [f"{_gb(int(largest * ROOM))} of memory (there are {_gb(have)})"] if short and have else []
    if there is None or there >= wanted:
        return []
    return [f"a GPU with {_gb(wanted)} of memory ({f'there are {_gb(there)}' if there else 'there is none'})"]


def _disk(models: Sequence[HubModel]) -> list[str]:
    place, size = cache_place(), sum(model.bytes for model in models)
    free = shutil.disk_usage(next(one for one in (place, *place.parents) if one.is_dir())).free
    return [f"{_gb(size)} of disk below {place} ({_gb(free)} are free)"] if free < size else []


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
