"""The settings, typed, with every default defined once, in this package.

Precedence: default < ``--config`` (a later one wins) < the file of a dataset, wherever it is named <
``--set`` < flags. Unknown keys are refused with the nearest valid name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from pydantic import Field, field_validator

from shotad.config.film import (
    ContextSettings,
    FilmSettings,
    FrameSettings,
    OverlaySettings,
    ShotSettings,
    SlotSettings,
    SpeechSettings,
)
from shotad.config.languages import language_of
from shotad.config.measures import MeasureSettings
from shotad.config.sight import (
    CastSettings,
    ComputeSettings,
    DiscoverSettings,
    NarratorSettings,
    ScaleSettings,
    ThreadSettings,
)
from shotad.config.sound import (
    ContainerSettings,
    ExtendedSettings,
    FitSettings,
    LintSettings,
    MixSettings,
    VoiceSettings,
)
from shotad.config.translating import TranslateSettings
from shotad.config.words import (
    EndpointSettings,
    LocalSettings,
    PromptSettings,
    SamplingSettings,
    Stage1Settings,
    Stage2Settings,
    StorySettings,
    VerifySettings,
)
from shotad.errors import ConfigError, UsageError
from shotad.settings import Settings, load_settings

__all__ = [
    "CastSettings",
    "ComputeSettings",
    "Config",
    "ContainerSettings",
    "ContextSettings",
    "DiscoverSettings",
    "EndpointSettings",
    "ExtendedSettings",
    "FilmSettings",
    "FitSettings",
    "FrameSettings",
    "LintSettings",
    "LocalSettings",
    "MeasureSettings",
    "MixSettings",
    "NarratorSettings",
    "OverlaySettings",
    "PromptSettings",
    "SamplingSettings",
    "ScaleSettings",
    "ShotSettings",
    "SlotSettings",
    "SpeechSettings",
    "Stage1Settings",
    "Stage2Settings",
    "StorySettings",
    "ThreadSettings",
    "TranslateSettings",
    "VerifySettings",
    "VoiceSettings",
    "load_config",
]


class Config(Settings):
    """Everything that can be set, in one record."""

    engine: str = "auto"
    """A preset: names the pair of engines."""
    language: str = "en"
    """Of the description: a tag of BCP 47 (``de``, ``pt-BR``), which gets its usual letters."""
    seed: int = Field(42, ge=0)
    film: FilmSettings = FilmSettings()
    shots: ShotSettings = ShotSettings()
    speech: SpeechSettings = SpeechSettings()
    slots: SlotSettings = SlotSettings()
    context: ContextSettings = ContextSettings()
    frames: FrameSettings = FrameSettings()
    overlay: OverlaySettings = OverlaySettings()
    compute: ComputeSettings = ComputeSettings()
    threads: ThreadSettings = ThreadSettings()
    scale: ScaleSettings = ScaleSettings()
    prompt: PromptSettings = PromptSettings()
    stage1: Stage1Settings = Stage1Settings()
    stage2: Stage2Settings = Stage2Settings()
    local: LocalSettings = LocalSettings()
    openai: EndpointSettings = EndpointSettings()
    story: StorySettings = StorySettings()
    verify: VerifySettings = VerifySettings()
    cast: CastSettings = CastSettings()
    discover: DiscoverSettings = DiscoverSettings()
    narrator: NarratorSettings = NarratorSettings()
    measures: MeasureSettings = MeasureSettings()
    voice: VoiceSettings = VoiceSettings()
    fit: FitSettings = FitSettings()
    mix: MixSettings = MixSettings()
    container: ContainerSettings = ContainerSettings()
    extended: ExtendedSettings = ExtendedSettings()
    lint: LintSettings = LintSettings()
    translate: TranslateSettings = TranslateSettings()

    former: ClassVar[dict[str, Any]] = {
        "text": {
            "pixels": 230400,
            "threads": 1,
            "pixel_threshold": 0.3,
            "box_threshold": 0.5,
            "unclip": 1.6,
            "min_height": 0.03,
            "max_height": 0.5,
            "min_score": 0.6,
            "same_picture": 6.0,
            "same_line": 12.0,
        },
        "observer": {
            "people_score": 0.72,
            "face_score": 0.75,
            "thing_score": 0.88,
            "text_score": 0.9,
            "threads": 2,
        },
    }

    @field_validator("language")
    @classmethod
    def _known_language(cls, tag: str) -> str:
        """The tag in its usual letters. An error that is no ValueError keeps its hint on the way out."""
        try:
            return language_of(tag).tag
        except UsageError as trouble:
            raise ConfigError(f"language = {tag!r} cannot be used: {trouble.what}", trouble.hint) from None


def load_config(
    name_or_file: str | Sequence[str] | None = None, assignments: Iterable[str] = (), **flags: Any
) -> Config:
    """Settings from named or given YAML files, ``KEY=VALUE`` assignments, and flags by dotted key.

    >>> load_config(None, ["slots.minimum=3"]).slots.minimum
    3.0
    >>> load_config(["paper", "tv-ad"]).prompt.medium
    'TV series'

    Raises ConfigError for unknown names, unknown keys and values out of range.
    """
    given = [name_or_file] if isinstance(name_or_file, str) else name_or_file or ()
    found: Config = load_settings(Config, ["default", *given], assignments, **flags)
    return found
