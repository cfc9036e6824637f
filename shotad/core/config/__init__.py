"""The settings, typed, with every default defined once, in this package.

Precedence: default < ``--config`` (a later one wins) < the file of a dataset, wherever it is named <
``--set`` < flags. Unknown keys are refused with the nearest valid name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from shotad.core.config.film import (
    ContextSettings,
    FilmSettings,
    FrameSettings,
    OverlaySettings,
    ShotSettings,
    SlotSettings,
    SpeechSettings,
    TranscriptSettings,
)
from shotad.core.config.languages import language_of
from shotad.core.config.measures import MeasureSettings
from shotad.core.config.sight import (
    CastSettings,
    ComputeSettings,
    ScaleSettings,
    ThreadSettings,
)
from shotad.core.config.sound import (
    ContainerSettings,
    ExtendedSettings,
    FitSettings,
    LintSettings,
    MixSettings,
    VoiceSettings,
)
from shotad.core.config.words import (
    EndpointSettings,
    LocalSettings,
    PromptSettings,
    Stage1Settings,
    Stage2Settings,
    StorySettings,
    TranslateSettings,
    VerifySettings,
)
from shotad.core.errors import ConfigError, UsageError
from shotad.core.settings import Settings, assignments_of, load_settings
from shotad.core.trust import ANY_FILE, LOCAL_PRESETS, UserOnly

ExistingMode = Literal["stop", "complete", "ignore"]


class Config(Settings):
    """Everything that can be set, in one record."""

    engine: Annotated[str, UserOnly(harmless=LOCAL_PRESETS)] = "auto"
    """A preset: the engines of Stage I and Stage II (``--engine``)."""
    language: Annotated[str, ANY_FILE] = "en"
    """Language of the description, a BCP 47 tag (``de``, ``pt-BR``)."""
    existing: Annotated[ExistingMode, ANY_FILE] = "stop"
    """What a run does where the film has an audio description in this language already (``--existing``).
    `stop`: describes nothing and says what there is. `complete`: keeps its lines as a person's and describes
    only slots without one. `ignore`: describes the film all the same."""
    seed: int = Field(42, ge=0, le=2**63 - 1)
    """Seed of everything random, such as an engine's sampling and the choice of examples. Each slot's own
    seed is derived from it."""
    film: FilmSettings = FilmSettings()
    shots: ShotSettings = ShotSettings()
    speech: SpeechSettings = SpeechSettings()
    transcript: TranscriptSettings = TranscriptSettings()
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
    measures: MeasureSettings = MeasureSettings()
    voice: VoiceSettings = VoiceSettings()
    fit: FitSettings = FitSettings()
    mix: MixSettings = MixSettings()
    container: ContainerSettings = ContainerSettings()
    extended: ExtendedSettings = ExtendedSettings()
    lint: LintSettings = LintSettings()
    translate: TranslateSettings = TranslateSettings()

    @field_validator("language")
    @classmethod
    def _known_language(cls, tag: str) -> str:
        """The tag in its usual letters. An error that is no ValueError keeps its hint on the way out."""
        try:
            return language_of(tag).tag
        except UsageError as trouble:
            raise ConfigError(f"language = {tag!r} cannot be used: {trouble.what}", trouble.hint) from None


ConfigNames = str | os.PathLike[str] | Config | Sequence[str | os.PathLike[str] | Config] | None
"""What ``config=`` takes: names, files, or settings that are there already; one or several."""


def load_config(
    name_or_file: ConfigNames = None,
    assignments: Mapping[str, Any] | Iterable[str] | None = None,
    **flags: Any,
) -> Config:
    """Resolve settings and check them. Assignments win over files, and flags over both.

    Args:
        name_or_file: A preset (``"paper"``), a YAML file, a `Config` to start from, or a list of these.
        assignments: Single settings: ``{"slots.minimum": 3}`` or ``["slots.minimum=3"]``.
        flags: Single settings by keyword, with two underscores for a dot: ``slots__minimum=3``. None is
            ignored.

    Returns:
        The settings, with defaults for all that is not set.

    Raises:
        ConfigError: A name or key is unknown, or a value is out of range.

    >>> load_config(None, ["slots.minimum=3"]).slots.minimum
    3.0
    >>> load_config(["paper", "tv-ad"]).prompt.medium
    'TV series'
    """
    configs = config_names(name_or_file)
    bases = [config for config in configs if isinstance(config, Config)]
    if len(bases) > 1:
        raise ConfigError(f"{len(bases)} Config objects are given.", "Give one; what differs as settings.")
    files = [config for config in configs if isinstance(config, str)]
    under = bases[0] if bases else None
    settings: Config = load_settings(Config, files, assignments_of(assignments), under=under, **flags)
    return settings


def config_names(name_or_config: ConfigNames) -> tuple[str | Config, ...]:
    """What is given as config, one or several: names, files, or settings that are there already."""
    if name_or_config is None:
        return ()
    configs = [name_or_config] if isinstance(name_or_config, str | os.PathLike | Config) else name_or_config
    try:
        return tuple(config if isinstance(config, Config) else os.fspath(config) for config in configs)
    except TypeError:
        problem = f"config = {repr(name_or_config)[:80]} cannot be used."
        raise ConfigError(problem, "Give a name, a file, a Config, or several of these.") from None
