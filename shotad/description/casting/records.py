"""What is kept of faces in a work folder: the names of the records, and how the face on a photo is written.

All of it is biometric data or says whose it is, and all of it is removed by ``shotad cast forget``.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from shotad.sight import PhotoReading

FACES = "faces"
"""Of ``faces.jsonl``: the faces in the clips, a record for each shot."""
DISCOVERED = "discovered"
"""Of ``discovered.jsonl``: the same for the whole film, by discovery."""
PHOTOS = "cast-faces"
"""Of ``cast-faces.json``: the faces on the cast's photos."""
CHARACTERS = "characters"
"""Of ``characters.json``: whose each face was."""

_FLOAT = np.dtype("<f4")


def reading_row(reading: PhotoReading) -> dict[str, Any]:
    """A photo's face as JSON, to the bit."""
    if reading.embedding is None:
        return {"trouble": reading.trouble}
    data = np.ascontiguousarray(reading.embedding, _FLOAT).tobytes()
    return {"embedding": base64.b64encode(data).decode("ascii")}


def reading_of(row: Mapping[str, Any]) -> PhotoReading:
    """The reading that `reading_row` wrote."""
    if "embedding" not in row:
        return PhotoReading(None, row["trouble"])
    return PhotoReading(np.frombuffer(base64.b64decode(row["embedding"]), _FLOAT).astype(np.float32))
