"""Settings of what is read from the film: pictures, shots, speech, slots, and the clips shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from shotad.core.errors import ConfigError, UsageError
from shotad.core.settings import Settings
from shotad.core.text_files import check_encoding
from shotad.core.trust import ANY_FILE


class FilmSettings(Settings):
    """Which reader opens the film, and how deep its frames are kept."""

    reader: Literal["pyav", "decord"] = "pyav"
    """``decord`` needs its extra; its pixels differ by a level or two."""
    decoder: Literal["cpu", "auto", "cuda", "vaapi", "qsv", "videotoolbox", "d3d11va"] = "cpu"
    """What decodes the picture in the pass that finds shots: the processors, or a device by ffmpeg's name;
    ``auto`` takes the first device that can. If none can, the processors do, and a note says so."""
    audio_track: int | None = Field(None, ge=0, le=1000)
    """Number of the audio track, from 0; None takes the container's default."""
    grid_height: int = Field(480, ge=16, le=4320)
    """Lines of the kept frames, at most."""


class ShotSettings(Settings):
    """How shots are found; the numbers are PySceneDetect's own defaults (Shot-by-Shot, section 3.1)."""

    detector: Literal["learned", "adaptive"] = "learned"
    """``learned``: motion decides, and TransNet V2 where that is in doubt and of dissolves and fades; shots
    may be shorter than ``min_scene_len`` then. ``adaptive``: the cuts of PySceneDetect's AdaptiveDetector."""
    adaptive_threshold: float = Field(3.0, ge=0.01, le=1000)
    """Times the score of its neighbours that the score of a cut has at least."""
    min_scene_len: int = Field(15, ge=1, le=100_000)
    """Frames of a shot, at least."""
    window_width: int = Field(2, ge=1, le=1000)
    """Frames on each side that a frame's score is held against."""
    path: Literal["fast", "exact"] = "fast"
    """``fast`` shrinks the planes before colour conversion; ``exact`` scores as the library does."""


class SpeechSettings(Settings):
    """What counts as speech, and how far from it a voice must stay."""

    source: Literal["auto", "subtitles", "sound", "none"] = "auto"
    """``auto``: subtitles if given or embedded as text, compared with the sound; else the sound. With
    ``subtitles`` nobody listens."""
    encoding: Annotated[str | None, ANY_FILE] = None
    """Of subtitle files that are not in Unicode: cp1251, gbk, shift_jis. None: found from the bytes."""
    margin: float = Field(0.25, ge=0, le=60)
    """Seconds kept free at each side of speech."""
    over_lyrics: bool = False
    """True lets a voice speak over sung words, and has lines written in slots where song is likely; over a
    song's instrumental part it always may."""

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


class SlotSettings(Settings):
    """How free time becomes slots. Below 2 s a pause is unusable by WCAG F113; describers use nearly every
    longer one (`benchmarks/slots.py`)."""

    minimum: float = Field(2.0, ge=0.1, le=3600)
    """Seconds of free time that a slot needs, 2 at least. Fewer slots cost fewer calls of a model."""
    find_credits: bool = True
    """Whether the roll of end credits is looked for; it needs the weights that read text."""
    detail: Literal["brief", "normal", "rich"] = "normal"
    """How many slots a gap gets; each level keeps those of the one below. ``brief`` leaves out gaps under
    4 s."""
    seconds_per_word: float = Field(0.375, ge=0.05, le=10)
    """Seconds that a spoken word takes: 160 words a minute; the benchmarks bring their own speed factor."""
    budget: Literal["fit", "paper", "paper+3"] = "fit"
    """``fit``: the words that can be spoken in the slot; ``paper``: one more (Shot-by-Shot, Algorithm 2);
    ``paper+3``: three more than that, as the published code gives GPT-4o on MAD-Eval."""


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
    """Which shots around a slot are shown (Shot-by-Shot, section 3.1)."""

    past: int = Field(2, ge=0, le=100)
    """Shots before the slot that are shown."""
    future: int = Field(2, ge=0, le=100)
    """Shots after the slot that are shown."""
    rules: Literal["paper", "code"] = "paper"
    """``code``, as published: current pieces of 0.4 s or less are dropped as well, unless none would be left,
    and a slot overlaps the shots that it touches, in lists with a gap at each cut (CMD-AD, MAD-Eval)."""

    @property
    def by_rules(self) -> ContextRules:
        """What ``rules`` stands for."""
        return CONTEXT_RULES[self.rules]


class FrameSettings(Settings):
    """How many frames of a clip are shown, where, how large (Shot-by-Shot, section 3.1)."""

    inside: int = Field(16, ge=1, le=1024)
    """Frames of the slot itself."""
    outside: int = Field(16, ge=0, le=1024)
    """Frames of the rest of the clip."""
    sampling: Literal["slot", "uniform", "reference"] = "slot"
    """``slot``: inside and outside of the slot apart; ``uniform``: evenly over the clip;
    ``reference``: the published code's, snapped to 32 positions a shot; at 3 frames a second or fewer whole
    frames, spread over the current shots."""
    max_pixels: int = Field(360 * 420, ge=28 * 28, le=8192 * 8192)
    """Pixels of a frame that a model sees, at most: more costs memory and tokens."""
    min_pixels: int = Field(128 * 28 * 28, ge=28 * 28, le=8192 * 8192)
    """Pixels of a frame, at least; a smaller one is enlarged."""
    short_side: int | None = Field(None, ge=56, le=8192)
    """Lines of the shorter side, as for GPT-4o; None: the bounds on pixels above give the size."""

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.min_pixels > self.max_pixels:
            raise ValueError(f"min_pixels {self.min_pixels} is above max_pixels {self.max_pixels}")
        return self


ShotLabel = Literal["text", "number", "box", "none"]


class OverlaySettings(Settings):
    """What is painted on the frames."""

    label: ShotLabel = "number"
    """``number``: the shot's number top left; ``box``: a red border on frames of current shots; ``text``:
    nothing, the prompt says which frames are of which shot."""
    characters: Literal["ellipses", "boxes", "none"] = "ellipses"
    """How recognised people are marked, where a cast is given."""
