"""Sentences as vectors, through sentence-transformers, by name or from a folder.

Only safetensors are loaded, and no code that comes with a model is run: a model that brings some
(gte-Qwen2-7B-instruct) runs with the library's own class, which knows ``is_causal`` of its config.

That model, the action score's, looks both ways and takes the vector of an end token that its own code puts
after each text. Attention both ways is the library's since transformers 5.2, by ``is_causal`` in the model's
config; older ones look back only and say nothing. The end token is left to us: the library's Qwen2 tokenizer
passes over ``add_eos_token`` (seen in transformers 5.23), and the vector would be that of a full stop.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from shotad.core import (
    WANTED_WITH_WORDS,
    ComputeSettings,
    Identity,
    Progress,
    WeightsError,
    broken,
    device_of,
    dtype_of,
    loading_quiet,
    manifest,
    model_folder,
    need,
    reason,
    weight_files,
    weights,
    weights_folder,
)

Vectors = npt.NDArray[np.float32]
"""float32[n, d], a unit vector to each text."""

EXTRA = "language"
"""The extra of the package that this room needs."""
DEFAULT = "minilm"
"""all-MiniLM-L6-v2 of the manifest, 384 dimensions (Wang et al. 2020; sentence-transformers)."""

PURPOSE = "Comparing sentences by meaning"
_ENGINE = "embeddings"
_MODULES = "modules.json"
_OWN = "sentence_transformers."
_SMALL = 1 << 30
"""Bytes of weights."""
_WHOLE = "Give a folder or repository with a whole sentence-transformers model, saved as safetensors."


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def identity(self) -> Identity:
        """Which model and revision."""
        ...

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        """float32[n, d], a unit vector to each text, in order.

        ``prompt`` is put before each text, for models that are told what the vectors are for.
        """
        ...


def make_embedder(
    name: str = DEFAULT,
    compute: ComputeSettings | None = None,
    progress: Progress | None = None,
    *,
    revision: str | None = None,
    batch: int = 32,
) -> Embedder:
    """The embedder ``name``: weights of the manifest, a local folder, or a repository of the hub.

    Fetches weights that are not here, and loads them. Raises ShotadError without the extra, WeightsError
    for a model that cannot be had or loaded.
    """
    need("sentence_transformers", PURPOSE, EXTRA)
    folder = embedding_folder(name, revision, progress)
    identity = Identity(_ENGINE, **embedding_model(name, revision, progress))
    _check(folder)
    check_both_ways(folder)
    model = _loaded(folder, compute or ComputeSettings())
    return _Transformer(model, identity, batch, ending(folder))


def check_installed() -> None:
    """Raise ShotadError that names the extra where it is missing; nothing is imported if it is there."""
    if importlib.util.find_spec("sentence_transformers") is None:
        need("sentence_transformers", PURPOSE, EXTRA)


class _Transformer:
    """A loaded model. Its lists are sorted by length and cut into batches, then put back in order.

    ``ending`` stands after each text: an end token that its tokenizer leaves out.
    """

    def __init__(self, model: Any, identity: Identity, batch: int, ending: str = "") -> None:
        self._model, self.identity, self._batch, self._ending = model, identity, batch, ending

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        if not texts:
            return self.of([""])[:0]
        found = self._model.encode(
            [text + self._ending for text in texts],
            prompt=prompt or None,
            batch_size=self._batch,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        vectors = np.asarray(found, np.float32)
        # Here and not in the model, which may count in bfloat16, where a norm is right to 1 % only.
        norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return np.ascontiguousarray(vectors / norms, np.float32)


def _check(folder: Path) -> None:
    """Refuse a folder whose loading would guess how words become a sentence, run code or read a pickle.

    sentence-transformers takes the mean of all words where ``modules.json`` is missing, which is wrong
    for models that use the last one; and of a local folder it would load module classes by any name.
    """
    path = folder / _MODULES
    try:
        modules = json.loads(path.read_text(encoding="utf-8"))
        kinds = [str(module["type"]) for module in modules]
        places = [folder / module["path"] for module in modules]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{path} cannot be read: {reason(error)}.", _WHOLE) from None
    foreign = [kind for kind in kinds if not kind.startswith(_OWN)]
    if foreign:
        raise WeightsError(
            f"The model in {folder} brings code of its own ({foreign[0]}), which is not run.",
            "Choose a model that sentence-transformers can load without.",
        )
    pickles = [place for place in places if any(place.glob("*.bin")) and not any(place.glob("*.safetensors"))]
    if pickles or not weight_files(folder):
        raise WeightsError(f"The model in {(pickles or [folder])[0]} has no safetensors.", _WHOLE)


def _loaded(folder: Path, compute: ComputeSettings) -> Any:
    library = need("sentence_transformers", PURPOSE, EXTRA)
    transformers = need("transformers", PURPOSE, EXTRA)
    device = device_of(compute)
    try:
        with loading_quiet(transformers):
            model = library.SentenceTransformer(
                str(folder),
                device=str(device),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": _dtype(folder, compute, device), "use_safetensors": True},
            )
    except broken(PURPOSE) as error:
        raise WeightsError(f"The model in {folder} cannot be loaded: {reason(error)}.", _WHOLE) from None
    return model.eval()


def _dtype(folder: Path, compute: ComputeSettings, device: Any) -> Any:
    """What is set; where that is ``auto``, float32 for small models, which are quick enough in it."""
    small = sum(path.stat().st_size for path in weight_files(folder)) < _SMALL
    exact = compute.model_copy(update={"precision": "float32"})
    return dtype_of(exact if small and compute.precision == "auto" else compute, device)


_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_COUNTED = (".json", ".safetensors", ".txt", ".model")


def embedding_model(
    name: str, revision: str | None = None, progress: Progress | None = None
) -> dict[str, str]:
    """Name and revision of the model, the same on every machine.

    The revision is the manifest's hash, the hub's commit (the model is fetched first if it is not here), or a
    hash over a folder's files. Raises WeightsError for a model that cannot be had.
    """
    if name in manifest():
        return {"model": name, "revision": weights(name).sha256[:16]}
    folder = embedding_folder(name, revision, progress)
    if Path(name).expanduser().is_dir():
        return {"model": folder.resolve().name, "revision": _hash(folder)}
    return {"model": name, "revision": folder.name[:16]}


def embedding_folder(name: str, revision: str | None = None, progress: Progress | None = None) -> Path:
    """The model's folder, fetched first if it is not here. Raises WeightsError for one that cannot be had."""
    if name in manifest():
        return weights_folder(name, progress)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if not _REPOSITORY.fullmatch(name):
        raise WeightsError(
            f"There is no embedding model {name!r}.",
            f"Known: {DEFAULT}, a folder with a sentence-transformers model, or a repository of the hub.",
        )
    return model_folder(name, revision, progress, wanted=WANTED_WITH_WORDS)


def _hash(folder: Path) -> str:
    """16 digits over the files that make the vectors."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _COUNTED and path.is_file():
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").digest()
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + content)
    return digest.hexdigest()[:16]


_BOTH_WAYS = (5, 2)
"""The first transformers that heed ``is_causal`` (its pull request 43705)."""


def check_both_ways(folder: Path) -> None:
    """Raise WeightsError where the model looks both ways and the installed library would not let it."""
    if _read(folder / "config.json").get("is_causal", True):
        return
    version = importlib.metadata.version("transformers")
    if tuple(int(part) for part in version.split(".")[:2]) < _BOTH_WAYS:
        raise WeightsError(
            f"The model in {folder} looks both ways (is_causal is false), and transformers {version} does "
            "not heed that: its vectors would be noise.",
            'Install a newer one: pip install "transformers>=5.2".',
        )


def ending(folder: Path) -> str:
    """What must be put after each text: the end token where the model wants one and its tokenizer, as it is
    loaded without the model's own code, puts none; else nothing."""
    if not _read(folder / "tokenizer_config.json").get("add_eos_token", False):
        return ""
    transformers = need("transformers", PURPOSE, EXTRA)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"The tokenizer in {folder} cannot be loaded: {reason(error)}.") from None
    ended = tokenizer("a")["input_ids"][-1] == tokenizer.eos_token_id
    return "" if ended or tokenizer.eos_token is None else str(tokenizer.eos_token)


def _read(path: Path) -> dict[str, Any]:
    """A JSON file of a model; empty where there is none."""
    if not path.is_file():
        return {}
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} cannot be read: {reason(error)}.") from None
    return found
