"""Settings of what is read from the film: pictures, shots, speech, slots, and the clips shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from shotad.core.config.languages import language_of
from shotad.core.errors import ConfigError, UsageError
from shotad.core.settings import Settings
from shotad.core.text_files import check_encoding
from shotad.core.trust import ANY_FILE, UserOnly


class FilmSettings(Settings):
    """Which library reads the film, and how large its kept frames are."""

    reader: Literal["pyav", "decord"] = "pyav"
    """``decord`` needs the extra ``decord``; its pixel values differ by one or two levels."""
    decoder: Literal["cpu", "auto", "cuda", "vaapi", "qsv", "videotoolbox", "d3d11va"] = "cpu"
    """What decodes the picture in the pass that finds shots: the CPU, or a device by ffmpeg's name. ``auto``
    takes the first device that can. If none can, the CPU decodes, and a note says so."""
    audio_track: int | None = Field(None, ge=0, le=1000)
    """Number of the audio track, counted from 0. None: the container's default."""
    grid_height: int = Field(480, ge=16, le=4320)
    """Lines of a kept frame, at most."""


class ShotSettings(Settings):
    """How shots are found. The numbers are PySceneDetect's defaults (Shot-by-Shot, section 3.1)."""

    detector: Literal["learned", "adaptive"] = "learned"
    """``learned``: motion decides; TransNet V2 decides doubtful cuts, dissolves and fades. Shots may then be
    shorter than ``min_scene_len``. ``adaptive``: the cuts of PySceneDetect's AdaptiveDetector."""
    adaptive_threshold: float = Field(3.0, ge=0.01, le=1000)
    """Times the score of its neighbours that a frame needs to be a cut."""
    min_scene_len: int = Field(15, ge=1, le=100_000)
    """Frames of a shot, at least."""
    window_width: int = Field(2, ge=1, le=1000)
    """Frames on each side with which a frame's score is compared."""
    path: Literal["fast", "exact"] = "fast"
    """``fast`` shrinks the picture before colour conversion; ``exact`` gives PySceneDetect's own scores."""


class SpeechSettings(Settings):
    """What counts as speech, and how far from it a line must stay."""

    source: Literal["auto", "subtitles", "sound", "none"] = "auto"
    """``auto``: subtitles that are given or embedded as text, compared with the sound; without them, the
    sound. ``subtitles``: the sound is not analysed. ``none``: no speech is looked for."""
    encoding: Annotated[str | None, ANY_FILE] = None
    """Encoding of subtitle files that are not in Unicode, such as cp1251, gbk, shift_jis. None: detected."""
    margin: float = Field(0.25, ge=0, le=60)
    """Seconds kept free before and after speech."""
    over_lyrics: bool = False
    """True: lines may be spoken over sung words, and slots with likely singing get lines. Instrumental music
    never prevents a line."""

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, name: str | None) -> str | None:
        """The name as it is. An error that is no ValueError keeps its hint on the way out."""
        if name is not None:
            try:
                check_encoding(name)
            except UsageError as trouble:
                raise ConfigError(f"speech.encoding cannot be used: {trouble.what}", trouble.hint) from None
        return name


class TranscriptSettings(Settings):
    """How dialogue without subtitles is written down (``shotad transcribe``). Nothing leaves this machine."""

    recogniser: Annotated[str, UserOnly(harmless=r"tiny\.en|fake")] = "tiny.en"
    """``tiny.en``: Whisper's smallest model, English only. Or a Whisper model of the Hugging Face hub
    (``openai/whisper-small``), a folder with one, or a class of your own as ``module:Class``."""
    language: Annotated[str, ANY_FILE] = "auto"
    """Language of the dialogue, a BCP 47 tag. ``auto``: the one that the model hears."""

    @field_validator("language")
    @classmethod
    def _known_language(cls, tag: str) -> str:
        """The tag in its usual letters. An error that is no ValueError keeps its hint on the way out."""
        if tag == "auto":
            return tag
        try:
            return language_of(tag).tag
        except UsageError as trouble:
            raise ConfigError(
                f"transcript.language = {tag!r} cannot be used: {trouble.what}", trouble.hint
            ) from None


class SlotSettings(Settings):
    """How free time becomes slots. WCAG F113 calls pauses under 2 s unusable; describers use nearly all
    longer ones (`benchmarks/slots.py`)."""

    minimum: float = Field(2.0, ge=0.1, le=3600)
    """Seconds of free time that a slot needs; below 2, 2 is used. A higher value saves calls of a model."""
    find_credits: bool = True
    """Whether to look for rolling end credits; needs the weights that read text."""
    detail: Literal["brief", "normal", "rich"] = "normal"
    """How many slots a gap gets. Each level includes the slots of the level below. ``brief`` leaves out gaps
    under 4 s."""
    seconds_per_word: float = Field(0.375, ge=0.05, le=10)
    """Seconds that a spoken word takes; 0.375 is 160 words a minute. The benchmarks set their own value."""
    budget: Literal["fit", "paper", "paper+3"] = "fit"
    """Words allowed in a slot. ``fit``: those that can be spoken in it; ``paper``: one more (Shot-by-Shot,
    Algorithm 2); ``paper+3``: three more than ``paper``, as the published code does for GPT-4o on
    MAD-Eval."""


@dataclass(frozen=True, slots=True)
class ContextRules:
    """What ``context.rules`` stands for."""

    keep_current: bool = True  # also current pieces that are as short as those of context that are dropped
    inclusive: bool = False  # a slot overlaps the shots that it touches, unless they meet without a gap


CONTEXT_RULES: Mapping[str, ContextRules] = {
    "paper": ContextRules(),
    "code": ContextRules(keep_current=False, inclusive=True),
}


class ContextSettings(Settings):
    """Which shots around a slot Stage I is shown (Shot-by-Shot, section 3.1)."""

    past: int = Field(2, ge=0, le=100)
    """Shots before the slot that are shown."""
    future: int = Field(2, ge=0, le=100)
    """Shots after the slot that are shown."""
    rules: Literal["paper", "code"] = "paper"
    """``paper``: the slot's own shots are always shown. ``code``, as published: their parts of 0.4 s or less
    are dropped too, unless none would be left; in shot lists with a gap at each cut (CMD-AD, MAD-Eval), a
    shot that the slot only touches counts as well."""

    @property
    def by_rules(self) -> ContextRules:
        """What ``rules`` stands for."""
        return CONTEXT_RULES[self.rules]


class FrameSettings(Settings):
    """How many frames of a clip Stage I is shown, from where, and how large (Shot-by-Shot, section 3.1)."""

    inside: int = Field(16, ge=1, le=1024)
    """Frames from inside the slot."""
    outside: int = Field(16, ge=0, le=1024)
    """Frames from the rest of the clip."""
    sampling: Literal["slot", "uniform", "reference"] = "slot"
    """``slot``: spread separately inside and outside the slot; ``uniform``: evenly over the clip;
    ``reference``: as the published code, at one of 32 positions in a shot (in films of 3 frames a second or
    fewer, at whole frames of the slot's shots)."""
    max_pixels: int = Field(360 * 420, ge=28 * 28, le=8192 * 8192)
    """Pixels of a frame, at most; more cost memory and tokens."""
    min_pixels: int = Field(128 * 28 * 28, ge=28 * 28, le=8192 * 8192)
    """Pixels of a frame, at least; smaller frames are enlarged."""
    short_side: int | None = Field(None, ge=56, le=8192)
    """Lines of the shorter side, as for GPT-4o. None: ``max_pixels`` and ``min_pixels`` set the size."""

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.min_pixels > self.max_pixels:
            raise ValueError(f"min_pixels {self.min_pixels} is above max_pixels {self.max_pixels}")
        return self


ShotLabel = Literal["text", "number", "box", "none"]


class OverlaySettings(Settings):
    """What is painted on the frames that a model sees."""

    label: ShotLabel = "number"
    """``number``: the shot's number, top left; ``box``: a red border on frames of the slot's shots; ``text``:
    nothing, the prompt says which frames belong to which shot."""
    characters: Literal["ellipses", "boxes", "none"] = "ellipses"
    """How recognised people are marked, if a cast is given."""
