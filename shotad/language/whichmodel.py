"""Which embedding model a name means, said without loading it: for what is kept of its vectors."""

from __future__ import annotations

import hashlib
from pathlib import Path

from shotad.hub import WANTED_WITH_WORDS, model_folder
from shotad.progress import NoProgress, Progress
from shotad.weights import manifest, weights

_COUNTED = (".json", ".safetensors", ".txt", ".model")


def embedding_model(
    name: str, revision: str | None = None, progress: Progress | None = None
) -> dict[str, str]:
    """Name and revision of the model that `make_embedder` takes for ``name``, the same on every machine.

    The revision is the manifest's hash, the hub's commit (the model is fetched first if it is not here), or a
    hash over a folder's files. Raises WeightsError for a model that cannot be had.
    """
    if name in manifest():
        return {"model": name, "revision": weights(name).sha256[:16]}
    folder = Path(name).expanduser()
    if folder.is_dir():
        return {"model": folder.resolve().name, "revision": _hash(folder)}
    if "/" not in name:
        # No model at all: make_embedder says so, and what is known.
        return {"model": name, "revision": ""}
    found = model_folder(name, revision, progress or NoProgress(), wanted=WANTED_WITH_WORDS)
    return {"model": name, "revision": found.name[:16]}


def _hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _COUNTED and path.is_file():
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").digest()
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + content)
    return digest.hexdigest()[:16]
