"""What models need to be loaded: libraries, a device, a precision, files of the hub, and quiet.

Nothing here imports torch before it is asked for; where a library is missing, the error names the extra.
Of models of the Hugging Face hub only safetensors are fetched and looked for: other checkpoints are
pickles, which can run code.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.metadata
import importlib.util
import io
import json
import os
import re
import struct
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import ConfigError, ShotadError, WeightsError, did_you_mean
from shotad.core.installation import install_command
from shotad.core.progress import NoProgress, Progress
from shotad.core.system import ROOT

if TYPE_CHECKING:
    import torch

_BFLOAT16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
"""Names by which Linux says that the processor multiplies bfloat16 (Intel and AMD; Intel; Arm)."""
_BFLOAT16_CAPABILITY = (8, 0)
"""The CUDA capability from which on GPUs multiply bfloat16: Ampere."""


def require_torch(purpose: str, extra: str = "models") -> Any:
    """The module torch. Raises ShotadError, naming ``purpose`` and the extra, where it is missing."""
    return require_module("torch", purpose, extra)


def require_module(module: str, purpose: str, extra: str = "models") -> Any:
    """A module of an extra, imported. Raises ShotadError that says what needs it and how to get it.

    >>> require_module("json", "an example").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except (ImportError, RuntimeError, OSError) as error:
        raise unusable_library(f"{purpose} needs {module}", error, extra) from None


def unusable_library(need: str, error: Exception, extra: str = "models") -> ShotadError:
    """What to raise where a library could not be imported: it is missing, or does not fit another.

    ``need`` begins the message ("Threads need torch"), ``extra`` is the extra of this package that brings the
    library. Transformers hides the cause behind a ModuleNotFoundError of its own, which names no module.
    """
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and isinstance(
        cause, Exception
    ):
        causes.append(cause)
    first = causes[-1]
    if isinstance(first, ModuleNotFoundError) and first.name is not None:
        return ShotadError(
            f"{need}, which is not installed ({first}).",
            f"Install it: {install_command(f'shotad[{extra}]')}.",
        )
    if any("torchvision" in str(cause) for cause in causes):
        return ShotadError(
            f"{need}, but the torchvision that is installed does not fit torch: {first_message_line(first)}.",
            _torchvision_hint(),
        )
    return ShotadError(
        f"{need}, which is installed but cannot be loaded: {first}.",
        f"Install builds that fit each other: {install_command(f'shotad[{extra}]')} in a new environment.",
    )


def is_library_error(error: Exception) -> bool:
    """True where a library is at fault that is missing or does not fit another, not a model's files."""
    causes = _causes(error)
    return any(isinstance(cause, ImportError) or "torchvision" in str(cause) for cause in causes)


def _causes(error: Exception) -> list[Exception]:
    """The error, what it was raised from, and so on."""
    causes = [error]
    while isinstance(cause := causes[-1].__cause__ or causes[-1].__context__, Exception):
        causes.append(cause)
    return causes


def _torchvision_hint() -> str:
    """What to do about a torchvision that does not fit torch.

    Release 0.n of torchvision is built for torch 2.(n - 15), each for one kind of processor (the table in
    torchvision's README).
    """
    torch_version = importlib.metadata.version("torch")
    release = re.match(r"2\.([0-9]+)", torch_version)
    requirement = f"torchvision==0.{int(release[1]) + 15}.*" if release else "torchvision"
    return (
        "Take it away (pip uninstall torchvision): Qwen's models do without it. Or install the one that was "
        f"built for torch {torch_version}, from where torch came from: {install_command(requirement)}."
    )


def device_of(settings: ComputeSettings) -> torch.device:
    """Where models run: the device asked for, or the best there is (CUDA, then MPS, then CPU).

    Raises ConfigError for a name that is none and for a device that this machine does not have.
    """
    torch = require_torch("A model")
    if settings.device == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device(name)
    parts = re.fullmatch(r"(cpu|cuda|mps)(?::([0-9]+))?", settings.device)
    if parts is None:
        meant = did_you_mean(settings.device, ["auto", "cpu", "cuda", "mps"])
        raise ConfigError(
            f"compute.device = {settings.device!r} is no device.",
            f"{meant}Known: auto, cpu, cuda, cuda:1, mps.",
        )
    count = {
        "cpu": 1,
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
    }[parts[1]]
    if int(parts[2] or 0) >= count:
        devices_here = (
            f"this machine shows {count} of that kind" if count else "torch finds none on this machine"
        )
        problem = f"compute.device = {settings.device!r} cannot be used: {devices_here}."
        raise ConfigError(problem, "Use auto or cpu.")
    return torch.device(settings.device)


def dtype_of(settings: ComputeSettings, device: torch.device, root: Path = ROOT) -> torch.dtype:
    """The precision of a network's matrix products: bfloat16 if asked for or if the machine gains by it.

    It gains on GPUs of CUDA capability 8 and above, and on processors with bfloat16 instructions
    (benchmarks/LOG.md); elsewhere bfloat16 is emulated, and slower than float32. Never float16, which is for
    `language_model_dtype` and for training: the networks that ask here are small. ``root`` is where the
    kernel's files lie, by which Linux tells of its processors.
    """
    torch = require_torch("A model")
    if settings.precision != "auto":
        gains = settings.precision == "bfloat16"
    elif device.type == "cuda":
        gains = torch.cuda.get_device_capability(device) >= _BFLOAT16_CAPABILITY
    else:
        gains = device.type == "cpu" and bool(_cpu_flags(root) & _BFLOAT16_FLAGS)
    return torch.bfloat16 if gains else torch.float32


def language_model_dtype(settings: ComputeSettings, device: torch.device, root: Path = ROOT) -> torch.dtype:
    """The precision of a language model's weights: that of the settings, or with ``auto`` that of ``device``.

    On a GPU always 16 bits, for models of this kind fill its memory: bfloat16, in which they were trained;
    float16 where the GPU has no bfloat16. These are NVIDIA's of CUDA capability below 8.0 (V100, T4, RTX 20;
    torch counts in bfloat16 on them too, but slowly: pytorch #148322) and Apple's below macOS 14 (pytorch
    #119641). Of several cards the first decides.

    A processor without bfloat16 instructions gets float32, see `dtype_of`.
    """
    torch = require_torch("A model")
    if settings.precision != "auto":
        return getattr(torch, settings.precision)
    if device.type == "cuda":
        capability = torch.cuda.get_device_capability(device)
        return torch.bfloat16 if capability >= _BFLOAT16_CAPABILITY else torch.float16
    if device.type == "mps":
        return torch.bfloat16 if torch.backends.mps.is_macos_or_newer(14, 0) else torch.float16
    return dtype_of(settings, device, root)


@cache
def _cpu_flags(root: Path) -> frozenset[str]:
    """What the first processor can do, as Linux lists it; empty where it cannot be read."""
    try:
        text = (root / "proc" / "cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return frozenset()
    line = next((row for row in text.splitlines() if row.startswith(("flags", "Features"))), "")
    return frozenset(line.partition(":")[2].split())


_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_SAFETENSORS = "*.safetensors"
WANTED = ("config.json", _SAFETENSORS, _INDEX)
"""The files of a model that has neither words nor a processor."""
SMALL_FILES = ("*.json", "*.jinja", "*.model", "merges.txt", "vocab.txt")
"""The files of one that has, without the weights: configuration, tokenizer, chat template, processor."""
TEXT_MODEL_FILES = (_SAFETENSORS, *SMALL_FILES)
"""All the files of one that has."""

NETWORK_HINT = (
    "Check the network (HF_HUB_OFFLINE forbids it, HF_ENDPOINT names a mirror), copy the hub's cache of "
    "another machine (HF_HOME)"
)
"""The beginning of a hint for a model that cannot be had."""


@dataclass(frozen=True, slots=True)
class HubModel:
    """A published model. ``bytes`` is what its weights take as they are published."""

    name: str
    repo: str
    bytes: int
    role: str
    licence: str
    credit: str
    wanted: tuple[str, ...] = WANTED
    hint: str = ""
    """What to do where it cannot be had; empty: the usual."""

    def folder(self, revision: str | None = None, progress: Progress | None = None) -> Path:
        """Its folder, see `model_folder`."""
        return model_folder(self.repo, revision, progress, patterns=self.wanted, hint=self.hint)


def cache_place() -> Path:
    """The folder in which the hub's library keeps models; made at the first fetch."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home, "hub")).expanduser().absolute()


def is_model_folder(folder: Path) -> bool:
    """True where a folder holds ``config.json`` and all of its safetensors."""
    return (folder / "config.json").is_file() and bool(weight_files(folder))


def weight_files(folder: Path) -> list[Path]:
    """The safetensors of a model folder, sorted; empty where one of them is missing."""
    if (folder / _WEIGHTS).is_file():
        return [folder / _WEIGHTS]
    try:
        index = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
        files = sorted({folder / name for name in index["weight_map"].values()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return files if all(path.is_file() for path in files) else []


def tensor_sizes(folder: Path) -> dict[str, int]:
    """How many numbers each tensor of a model's safetensors has, by its name, from the files' headers.

    Raises WeightsError for damaged files.
    """
    sizes: dict[str, int] = {}
    for path in weight_files(folder):
        stat = path.stat()
        sizes |= _tensor_sizes_in(path, stat.st_size, stat.st_mtime_ns)
    return sizes


@cache
def _tensor_sizes_in(path: Path, _size: int, _modified: int) -> dict[str, int]:
    """As `tensor_sizes`, of one file. Kept, for as long as the file is the same."""
    try:
        with path.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            header = json.loads(stream.read(min(length, 100_000_000)))
        return {name: prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__"}
    except (OSError, ValueError, struct.error, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(
            f"The weights {path.name} are damaged: {first_message_line(error)}.",
            "Fetch or save it again, whole.",
        ) from None


def read_settings(file: Path) -> dict[str, Any]:
    """A JSON object of a model's folder; empty where the file is missing or holds no object."""
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return settings if isinstance(settings, dict) else {}


def cached_model_folder(repo: str, revision: str | None = None) -> Path | None:
    """The folder of a model in the hub's cache, whole; None where it is not there. Touches no network.

    Without a revision that is the branch main as it was last fetched, else the newest copy of any.
    """
    if importlib.util.find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import constants, try_to_load_from_cache

    config_file = try_to_load_from_cache(repo, "config.json", revision=revision)
    if isinstance(config_file, str) and is_model_folder(Path(config_file).parent):
        return Path(config_file).parent
    if revision is not None:
        return None
    snapshots = Path(constants.HF_HUB_CACHE, f"models--{repo.replace('/', '--')}", "snapshots")
    whole = [path for path in snapshots.glob("*") if is_model_folder(path)]
    return max(whole, key=lambda path: (path.stat().st_mtime_ns, path.name), default=None)


def model_folder(
    repo: str,
    revision: str | None = None,
    progress: Progress | None = None,
    *,
    patterns: Sequence[str] = WANTED,
    hint: str = "",
) -> Path:
    """The folder of a model, fetched from the hub if it is not in the cache.

    ``patterns`` say which files to fetch (``*.json``); where they leave out the weights, the folder may be
    without. ``hint`` is what to do where it cannot be had. Raises WeightsError where it is neither here nor
    to be had, ShotadError without the hub's library.
    """
    return cached_model_folder(repo, revision) or _fetch(
        repo,
        revision,
        progress or NoProgress(),
        patterns,
        hint or f"{NETWORK_HINT}, or give a folder with the model.",
    )


def first_message_line(error: Exception) -> str:
    """The first line of what a library says, without its full stop."""
    return str(error).strip().removeprefix("Got: ").partition("\n")[0].rstrip(".") or type(error).__name__


def damaged_model_errors(purpose: str) -> tuple[type[Exception], ...]:
    """What the libraries raise for a model whose files are damaged, or do not fit each other."""
    strict = getattr(require_module("huggingface_hub.errors", purpose), "StrictDataclassError", ValueError)
    damaged = require_module("safetensors", purpose).SafetensorError
    return (OSError, ValueError, RuntimeError, LookupError, TypeError, damaged, strict)


def _fetch(repo: str, revision: str | None, progress: Progress, patterns: Sequence[str], hint: str) -> Path:
    from tqdm import tqdm

    hub = require_module("huggingface_hub", f"Fetching {repo}")

    class Bar(tqdm):  # type: ignore[type-arg]
        """What the hub takes for a progress bar: shows nothing, and counts bytes into the task."""

        def __init__(self, *args: Any, **options: Any) -> None:
            # Several bars count one download; the one of bytes on disk stands in all versions.
            self.counts = options.get("unit") == "B" and options.get("desc") != "Downloading bytes"
            options["disable"] = True
            super().__init__(*args, **{k: v for k, v in options.items() if k != "name"})

        def update(self, n: float | None = 1) -> bool | None:
            if self.counts and n:
                task.advance(n)
            return super().update(n)

    http_error = hub.errors.HfHubHTTPError
    version = f" in revision {revision}" if revision else ""
    task = progress.task(f"Fetching {repo}", None, "B")
    try:
        snapshot = hub.snapshot_download(
            repo, revision=revision, allow_patterns=list(patterns), tqdm_class=Bar
        )
    except (http_error, *http_error.__bases__, OSError, ValueError) as error:
        raise WeightsError(
            f"The model {repo}{version} could not be fetched from the hub: {first_message_line(error)}.",
            hint,
            again=True,
        ) from None
    finally:
        task.done()
    folder = Path(snapshot)
    is_whole = is_model_folder(folder) if _SAFETENSORS in patterns else (folder / "config.json").is_file()
    if not is_whole:
        raise WeightsError(f"The hub's {repo}{version} holds no safetensors with a config.json.", hint)
    return folder


def fingerprint(files: Iterable[Path], weights: Iterable[Path]) -> str:
    """``files:`` and 16 digits by which one saved model is told from another.

    ``files`` are hashed whole. Of ``weights``, often many GB, it takes the size and 65 blocks of 4 KiB:
    the beginning (where safetensors and GGUF list the tensors) and 64 spread evenly. A model that was
    trained further differs in nearly every block; a file of which single bytes were changed may not.
    """
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    for path in weights:
        stat = path.stat()
        digest.update(f"{path.name}\0".encode() + _sampled(path, stat.st_size, stat.st_mtime_ns))
    return f"files:{digest.hexdigest()[:16]}"


_BLOCK = 4096
_BLOCKS = 64


@cache
def _sampled(path: Path, size: int, modified: int) -> bytes:
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as stream:
        for start in (0, *(size * i // _BLOCKS for i in range(_BLOCKS))):
            stream.seek(start)
            digest.update(stream.read(_BLOCK))
    return digest.digest()


_stderr_lock = threading.Lock()
_stderr_users: list[int] = []
"""What standard error really is, once for each who keeps it quiet."""
_loading = threading.RLock()


@contextmanager
def silence_native_output() -> Iterator[None]:
    """Send what native code writes to standard error nowhere, for the time of loading a model.

    Several threads may do so at once. Python's own ``sys.stderr`` is flushed before; errors raised by the
    libraries still come through.
    """
    with _stderr_lock:
        sys.stderr.flush()
        _stderr_users.append(_stderr_users[0] if _stderr_users else os.dup(2))
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        with _stderr_lock:
            saved = _stderr_users.pop()
            if not _stderr_users:
                os.dup2(saved, 2)
                os.close(saved)


@contextmanager
def silence_transformers(transformers: Any) -> Iterator[None]:
    """No bars and no reports of transformers while a model is loaded; what matters is raised."""
    logging = transformers.utils.logging
    # One at a time: torch's usual precision and standard error are those of all threads.
    with _loading:
        level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity(logging.CRITICAL)
        logging.disable_progress_bar()
        try:
            # Weights of GGUF are counted by a bar that obeys neither.
            with contextlib.redirect_stderr(io.StringIO()):
                yield
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()


@contextmanager
def hold_model_loading() -> Iterator[None]:
    """For a model at work while another thread may load one, under another precision of torch's."""
    with _loading:
        yield
