"""Settings of how a track is translated."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from shotad.core.config.words import SamplingSettings
from shotad.core.settings import Settings


class TranslateSettings(Settings):
    """How ``shotad translate`` asks. The engine is that of Stage II."""

    lines: int = Field(8, ge=1, le=50)
    """Lines that are asked for in one request."""
    quotes: Literal["translate", "keep"] = "translate"
    """What stands in quotation marks, which is read from the screen. Translated by default: who hears AD in a
    language need not know that of the sign. ``keep``: as it stands in the film."""
    sampling: SamplingSettings = SamplingSettings(temperature=0.0, top_p=1.0, max_tokens=2048)

    former: ClassVar[dict[str, Any]] = {"before": 4, "after": 2, "attempts": 3}
