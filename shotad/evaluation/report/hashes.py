"""Names of files and of texts by their content."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from shotad.core import EvaluationError
from shotad.evaluation.measure.items import Corpus


def file_hash(path: Path) -> str:
    """SHA-256 of the file's bytes, in hex. Raises EvaluationError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}.") from None


def texts_hash(corpus: Corpus) -> str:
    """SHA-256 of all ids and human ADs, in hex; the order of the items does not matter."""
    lines = sorted(
        json.dumps([item.id, item.film, list(item.references)], ensure_ascii=True) for item in corpus.items
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def actions_hash(corpus: Corpus) -> str:
    """SHA-256 of all ids and the human ADs' actions, in hex; empty where none are known."""
    known = sorted((item.id, *item.actions) for item in corpus.items if item.actions)
    return hashlib.sha256(json.dumps(known).encode()).hexdigest() if known else ""


def casts_hash(corpus: Corpus) -> str:
    """SHA-256 of the characters' names of the corpus's films, in hex; empty where none are known."""
    films = {item.film for item in corpus.items}
    known = sorted((film, *names) for film, names in corpus.casts.items() if film in films and names)
    return hashlib.sha256(json.dumps(known).encode()).hexdigest() if known else ""
