"""What all engines on this machine share: how their model is named, found, fetched, and whether it fits.

A model is named by a short name (`MODELS`), its repository on the hub, a folder, a GGUF file, or by its name
in the manifest of weights. Nothing here imports torch.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad.core import Config, Progress
from shotad.core.errors import (
    EngineError,
    WeightsError,
    did_you_mean,
)
from shotad.core.installation import install_command
from shotad.core.model_loading import (
    NETWORK_HINT,
    TEXT_MODEL_FILES,
    HubModel,
    cache_place,
    cached_model_folder,
    fingerprint,
    is_model_folder,
    model_folder,
    read_settings,
    weight_files,
)
from shotad.core.progress import size_text
from shotad.core.system import gpu_memories, gpu_shares_memory, memory_total
from shotad.core.weight_store import (
    Weights,
    manifest,
    weights_file,
)

_GATED = (
    "Check the network. Its makers give it only to those who accept their licence: accept it on the model's "
    "page of the hub, then log in with `hf auth login` or set HF_TOKEN. Or name a model that is free, such "
    "as qwen2.5-7b, or a folder that holds one."
)
_HINT = f"{NETWORK_HINT}, or name a folder that holds the model."

_VISION = "looks and describes (qwen2-vl)"
_TEXT = "writes the lines (llama3)"
_QWEN = "Qwen team, Alibaba"
_LLAMA_8B = 16_060_522_496
"""Bytes of all Llama models of 8 billion parameters in bfloat16."""


def _looks(name: str, repo: str, size: int) -> HubModel:
    return HubModel(name, repo, size, _VISION, "Apache-2.0", _QWEN, TEXT_MODEL_FILES, _HINT)


def _writes(
    name: str, repo: str, size: int, licence: str = "Apache-2.0", credit: str = _QWEN, hint: str = _HINT
) -> HubModel:
    return HubModel(name, repo, size, _TEXT, licence, credit, TEXT_MODEL_FILES, hint)


MODELS: dict[str, HubModel] = {
    model.name: model
    for model in (
        _looks("qwen2-vl-7b", "Qwen/Qwen2-VL-7B-Instruct", 16_582_751_232),
        _looks("qwen2-vl-2b", "Qwen/Qwen2-VL-2B-Instruct", 4_417_971_200),
        _looks("qwen2.5-vl-7b", "Qwen/Qwen2.5-VL-7B-Instruct", 16_584_333_312),
        _looks("qwen3-vl-8b", "Qwen/Qwen3-VL-8B-Instruct", 17_534_247_392),
        _looks("qwen3-vl-4b", "Qwen/Qwen3-VL-4B-Instruct", 8_875_631_616),
        _looks("qwen3-vl-2b", "Qwen/Qwen3-VL-2B-Instruct", 4_255_064_064),
        _writes("llama3-8b", "meta-llama/Meta-Llama-3-8B-Instruct", _LLAMA_8B, "Llama 3", "Meta AI", _GATED),
        _writes("llama3.1-8b", "meta-llama/Llama-3.1-8B-Instruct", _LLAMA_8B, "Llama 3.1", "Meta AI", _GATED),
        _writes(
            "llama3.2-3b", "meta-llama/Llama-3.2-3B-Instruct", 6_425_499_648, "Llama 3.2", "Meta AI", _GATED
        ),
        _writes("qwen2.5-7b", "Qwen/Qwen2.5-7B-Instruct", 15_231_233_024),
        _writes("qwen3-8b", "Qwen/Qwen3-8B", 16_381_470_720),
    )
}
"""The published models that have short names here. Bytes are those of bfloat16."""


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """A model that is on this machine. ``label`` and ``revision`` say which it is, and name no path.

    ``folder`` holds its configuration, words and weights; ``gguf`` is the file in it where it is a GGUF.
    ``revision`` is the hub's commit, the hash of the manifest, or a fingerprint, see `fingerprint`.
    """

    folder: Path
    label: str
    revision: str
    gguf: str | None = None


def resolve(
    model: str,
    revision: str | None = None,
    progress: Progress | None = None,
    *,
    files: Sequence[str] = TEXT_MODEL_FILES,
) -> ModelPlace:
    """The place of ``model``, fetched first if it is not here.

    ``model``: a short name, a name of the manifest, a folder, a ``.gguf`` file, or ``owner/name`` on the
    hub, looked at in this order. ``files`` are the patterns of those that are fetched from the hub:
    `SMALL_FILES` are enough to see what a model is. Raises WeightsError for a model that cannot be had, with
    what to do.
    """
    if (entry := _in_manifest(model)) is not None:
        return _of_manifest(entry, weights_file(entry.name, progress))
    if (place := _on_disk(model)) is not None:
        return place
    repo, hint = _repository(model)
    folder = model_folder(repo, revision, progress, patterns=files, hint=hint)
    return ModelPlace(folder, repo, folder.name)


def place_on_disk(model: str, revision: str | None = None) -> ModelPlace | None:
    """As `resolve`, but None where the model would have to be fetched. Touches no network."""
    if (entry := _in_manifest(model)) is not None:
        return _of_manifest(entry, entry.path) if entry.path.is_file() else None
    if (place := _on_disk(model)) is not None:
        return place
    repo, _ = _repository(model)
    folder = cached_model_folder(repo, revision)
    return None if folder is None else ModelPlace(folder, repo, folder.name)


def to_fetch(model: str, revision: str | None = None) -> HubModel | None:
    """The published model that `resolve` would fetch; None where it is here or its size is not known."""
    if place_on_disk(model, revision) is not None:
        return None
    return MODELS.get(model) or next(
        (published for published in MODELS.values() if published.repo == model), None
    )


def listed(place: ModelPlace) -> HubModel | None:
    """A model of which the small files are here but the weights are not, with its size by the list of them.

    None where there is no such list: the weights are one file. As in `MODELS`, the size is that of 2 bytes
    for each weight.
    """
    metadata = read_settings(place.folder / "model.safetensors.index.json").get("metadata")
    size = metadata.get("total_size") if isinstance(metadata, dict) else None
    if not isinstance(size, int) or is_model_folder(place.folder):
        return None
    config = read_settings(place.folder / "config.json")
    # Where nothing is said, in a half precision: so most are published.
    is_float32 = config.get("dtype", config.get("torch_dtype")) == "float32"
    return HubModel(place.label, place.label, size // 2 if is_float32 else size, "", "", "")


def label_of(model: str) -> str:
    """What the model is called in records, be it here or not; never a path.

    >>> label_of("llama3-8b")
    'meta-llama/Meta-Llama-3-8B-Instruct'
    """
    if (entry := _in_manifest(model)) is not None:
        return entry.name
    path = Path(model).expanduser()
    if model not in MODELS and path.exists():
        return path.resolve().name
    return _repository(model)[0]


_SMALL_SUFFIXES = (".json", ".jinja", ".model", ".txt")
"""How the files of a model folder end that are small and change its answers."""
_REPO = re.compile(r"[\w.-]+/[\w.-]+")


def _in_manifest(model: str) -> Weights | None:
    if model in MODELS:
        return None
    entry = manifest().get(model)
    return entry if entry is not None and entry.file.endswith(".gguf") else None


def _of_manifest(entry: Weights, path: Path) -> ModelPlace:
    return ModelPlace(path.parent, entry.name, f"sha256:{entry.sha256[:16]}", path.name)


def _on_disk(model: str) -> ModelPlace | None:
    """The place of a folder or file; None where ``model`` is no path of this machine."""
    path = Path(model).expanduser()
    if model in MODELS or not path.exists():
        return None
    path = path.resolve()
    if path.is_file() and path.suffix != ".gguf":
        raise WeightsError(
            f"{model} is neither a model's folder nor a GGUF file.",
            "Name the folder that holds the model, or a file that ends in .gguf.",
        )
    if path.is_file():
        return ModelPlace(path.parent, path.name, fingerprint((), (path,)), path.name)
    if not is_model_folder(path):
        raise WeightsError(
            f"The folder {model} holds no whole model: config.json and all of its safetensors are needed.",
            "Give the folder that save_pretrained of transformers wrote, or that of a model's repository.",
        )
    small = (file for file in sorted(path.iterdir()) if file.suffix in _SMALL_SUFFIXES and file.is_file())
    return ModelPlace(path, path.name, fingerprint(small, weight_files(path)))


def _repository(model: str) -> tuple[str, str]:
    """The repository on the hub, and what to do where it cannot be had."""
    if model in MODELS:
        return MODELS[model].repo, MODELS[model].hint
    by_repo = {published.repo: published for published in MODELS.values()}
    if model in by_repo:
        return model, by_repo[model].hint
    if _REPO.fullmatch(model):
        return model, f"Check the name; if its makers want their licence accepted first: {_GATED} {_HINT}"
    names = [*MODELS, *(name for name, entry in manifest().items() if entry.file.endswith(".gguf"))]
    raise WeightsError(
        f"There is no model called {model!r}.",
        f"{did_you_mean(model, names)}Known: {', '.join(names)}; a repository of the hub "
        "(owner/name), a folder, or a .gguf file.",
    )


MEMORY_FACTOR = 1.2
"""Bytes of memory for a byte of weights: frames and answers come on top."""
BEARABLE = 10e9
"""Bytes of weights up to which a model is fetched for a machine without a GPU: larger ones take minutes."""
_QUANTISED_SHARE = {"none": 1.0, "8bit": 0.55, "4bit": 0.33}
"""Bytes of a quantised weight for each byte of a published one, on average, with what stays whole."""
_PACKAGES = ("torch", "transformers")


def check_fits(models: Sequence[HubModel], config: Config, instead: str) -> None:
    """Refuse ``models`` to fetch whose largest cannot run here; ``instead`` begins the error's hint."""
    models = list(dict.fromkeys(models))
    if not models:
        return
    lacking, size = [], sum(model.bytes for model in models)
    if absent := [name for name in _PACKAGES if importlib.util.find_spec(name) is None]:
        lacking.append(f"{' and '.join(absent)} ({install_command('shotad[models]')})")
    lacking += _memory(max(model.bytes for model in models), config)
    place = cache_place()
    free = shutil.disk_usage(next(folder for folder in (place, *place.parents) if folder.is_dir())).free
    if free < size:
        lacking.append(f"{size_text(size)} of disk below {place} ({size_text(free)} are free)")
    if not lacking:
        return
    names = " and ".join(model.repo for model in models)
    raise EngineError(
        f"This machine cannot run {names}. Missing: {'; '.join(lacking)}. "
        f"Nothing was fetched; it would have been {size_text(size)}.",
        f"{instead} A smaller model can be named, and compute.device=cpu does without a GPU, "
        "minutes for each answer (docs/engines.md).",
    )


def _memory(largest: int, config: Config) -> list[str]:
    """The GPU that is missing or too small; of a machine that is to do without, its memory.

    ``largest`` is in bytes as published, 2 for each weight. As many it takes on every GPU (in bfloat16, or in
    float16 where there is no other), and at least as many on a processor, where a model that does not fit in
    float32 is loaded in bfloat16; twice as many where the settings ask for float32.
    """
    precision, quantise, device = config.compute.precision, config.local.quantise, config.compute.device
    in_memory = int(largest * MEMORY_FACTOR) * (2 if precision == "float32" else 1)
    in_float32 = " in float32" if precision == "float32" else ""
    cards = gpu_memories()
    no_gpu = cards is not None and sum(cards) == 0
    if device == "cpu" or (device == "auto" and no_gpu and largest <= BEARABLE):
        have = memory_total()
        if have is None or have >= in_memory:
            return []
        return [f"{size_text(in_memory)} of memory{in_float32} (there are {size_text(have)})"]
    if cards is None:
        # A Mac's GPU shares the machine's memory; of others nothing is known.
        have = memory_total() if gpu_shares_memory() else None
        if have is None or have >= in_memory:
            return []
        return [f"{size_text(in_memory)} of memory{in_float32} (there are {size_text(have)})"]
    number = re.fullmatch(r"cuda:([0-9]+)", device)
    if number is not None:
        cards = cards[int(number[1]) :][:1]
    if sum(cards) == 0 and device != "auto":
        # One that is named and not there is told by torch.
        return []
    on_gpu = in_memory if quantise == "none" else int(largest * MEMORY_FACTOR * _QUANTISED_SHARE[quantise])
    if sum(cards) >= on_gpu:
        return []
    have_text = "there is none"
    if sum(cards):
        together = f" on {len(cards)} GPUs together" if len(cards) > 1 else ""
        have_text = f"there are {size_text(sum(cards))}{together}"
    smaller = {"local.quantise=4bit": int(largest * MEMORY_FACTOR * _QUANTISED_SHARE["4bit"])}
    if precision == "float32":
        smaller = {"compute.precision=auto": int(largest * MEMORY_FACTOR), **smaller}
    enough = [
        f"; with {setting} {size_text(size)} are enough"
        for setting, size in smaller.items()
        if size <= sum(cards)
    ]
    suggestion = enough[0] if enough and quantise == "none" else ""
    memory_text = f"{size_text(on_gpu)} of memory{in_float32 if quantise == 'none' else ''}"
    return [f"a GPU with {memory_text} ({have_text}{suggestion})"]
