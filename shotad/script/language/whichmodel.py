"""Which embedding model a name means, said without loading it: for what is kept of its vectors.

As `make_embedder` reads names: of the manifest, of a folder, of a repository of the hub.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from shotad.core import (
    WANTED_WITH_WORDS,
    Progress,
    WeightsError,
    manifest,
    model_folder,
    weights,
    weights_folder,
)

DEFAULT = "minilm"
"""all-MiniLM-L6-v2 of the manifest, 384 dimensions (Wang et al. 2020; sentence-transformers)."""
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
