"""Names that the dialogue holds near a clip, as hints for whoever looks at it. Pure logic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Heard:
    """A name near the clip: ``spoken`` in the dialogue, or that of the ``speaker`` in the subtitles."""

    name: str
    how: Literal["spoken", "speaker"]
    seconds: float
