"""Models of the Hugging Face hub: which of them are in the user's cache, how others get there.

Needs ``huggingface_hub`` (it comes with transformers) but no torch. Only safetensors are fetched and
looked for: other checkpoints are pickles, which can run code.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from shotad.core.compute import need
from shotad.core.errors import WeightsError
from shotad.core.progress import NoProgress, Progress, Task

_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
WANTED = ("config.json", "*.safetensors", _INDEX)
"""The files of a model that has neither words nor a processor."""
WANTED_WITH_WORDS = (*WANTED, "*.json", "*.jinja", "*.model", "merges.txt", "vocab.txt")
"""The files of one that has: tokenizer, chat template, processor."""

NETWORK = (
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
        return model_folder(self.repo, revision, progress, wanted=self.wanted, hint=self.hint)


def has_hub() -> bool:
    """True where the hub's library is installed."""
    return importlib.util.find_spec("huggingface_hub") is not None


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


def cached(repo: str, revision: str | None = None) -> Path | None:
    """The folder of a model in the hub's cache, whole; None where it is not there. Touches no network.

    Without a revision that is the branch main as it was last fetched, else the newest copy of any.
    """
    if not has_hub():
        return None
    from huggingface_hub import constants, try_to_load_from_cache

    found = try_to_load_from_cache(repo, "config.json", revision=revision)
    if isinstance(found, str) and is_model_folder(Path(found).parent):
        return Path(found).parent
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
    wanted: Sequence[str] = WANTED,
    hint: str = "",
) -> Path:
    """The folder of a model, fetched from the hub if it is not in the cache.

    ``wanted`` are patterns of the files to fetch, ``hint`` is what to do where it cannot be had. Raises
    WeightsError where it is neither here nor to be had, ShotadError without the hub's library.
    """
    return cached(repo, revision) or _fetch(
        repo,
        revision,
        progress or NoProgress(),
        wanted,
        hint or f"{NETWORK}, or give a folder with the model.",
    )


def reason(error: Exception) -> str:
    """The first line of what a library says, without its full stop."""
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def broken(purpose: str) -> tuple[type[Exception], ...]:
    """What the libraries raise for a model whose files are damaged, or do not fit each other."""
    strict = getattr(need("huggingface_hub.errors", purpose), "StrictDataclassError", ValueError)
    damaged = need("safetensors", purpose).SafetensorError
    return (OSError, ValueError, RuntimeError, LookupError, TypeError, damaged, strict)


def _fetch(repo: str, revision: str | None, progress: Progress, wanted: Sequence[str], hint: str) -> Path:
    hub = need("huggingface_hub", f"Fetching {repo}")
    http_error = hub.errors.HfHubHTTPError
    version = f" in revision {revision}" if revision else ""
    task = progress.task(f"Fetching {repo}", None, "B")
    try:
        found = hub.snapshot_download(
            repo, revision=revision, allow_patterns=list(wanted), tqdm_class=_bar_class(task)
        )
    except (http_error, *http_error.__bases__, OSError, ValueError) as error:
        raise WeightsError(
            f"The model {repo}{version} could not be fetched from the hub: {reason(error)}.", hint, again=True
        ) from None
    finally:
        task.done()
    folder = Path(found)
    if not is_model_folder(folder):
        raise WeightsError(f"The hub's {repo}{version} holds no safetensors with a config.json.", hint)
    return folder


def _bar_class(task: Task) -> Any:
    """A class that the hub takes for a progress bar: shows nothing, and counts bytes into ``task``."""
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **options: Any) -> None:
            # Several bars count one download; the one of bytes on disk stands in all versions.
            self.counts = options.get("unit") == "B" and options.get("desc") != "Downloading bytes"
            options["disable"] = True
            super().__init__(*args, **{k: v for k, v in options.items() if k != "name"})

        def update(self, n: float | None = 1) -> bool | None:
            if self.counts and n:
                task.advance(n)
            return super().update(n)

    return Bar


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
