"""Settings of what is read from the film: pictures, shots, speech, slots, and the clips shown."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from shotad.settings import Settings


class FilmSettings(Settings):
    """Which reader opens the film, and how deep its frames are kept."""

    reader: Literal["pyav", "decord"] = "pyav"
    decoder: Literal["cpu", "auto", "cuda", "vaapi", "qsv", "videotoolbox", "d3d11va"] = "cpu"
    """What decodes the picture in the pass that finds shots: the processors, or a device by ffmpeg's name;
    ``auto`` takes the first device that can. Where none can, the processors do, and that is told."""
    audio_track: int | None = Field(None, ge=0)
    """Number of the audio track, from 0; None takes the container's default."""
    grid: int = Field(8, ge=1, le=120)
    """Ticks per second at which a frame is kept during the pass that finds shots (dense looking)."""
    grid_height: int = Field(480, ge=16)
    """Lines of the kept frames, at most."""
    grid_quality: int = Field(3, ge=2, le=31)
    """Of the JPEGs kept, on ffmpeg's scale: 2 is best."""


class ShotSettings(Settings):
    """PySceneDetect's AdaptiveDetector; the defaults are the library's own (Shot-by-Shot, section 3.1)."""

    adaptive_threshold: float = Field(3.0, gt=0)
    min_scene_len: int = Field(15, ge=1)
    """Frames."""
    window_width: int = Field(2, ge=1)
    min_content_val: float = Field(15.0, ge=0)
    path: Literal["fast", "exact"] = "fast"
    """``fast`` shrinks the planes before colour conversion; ``exact`` scores as the library does."""


class SpeechSettings(Settings):
    """What counts as speech, and how far from it a voice must stay."""

    source: Literal["auto", "subtitles", "sound", "none"] = "auto"
    """``auto``: subtitles if given or embedded as text, else the sound."""
    threshold: float = Field(0.4, gt=0, lt=1)
    """Chance of speech at which a stretch is believed (benchmarks/speech.py)."""
    release: float = Field(0.2, gt=0, lt=1)
    """Chance below which it ends."""
    bridge: float = Field(0.3, ge=0)
    """Seconds of pause inside one stretch of speech."""
    shortest: float = Field(0.25, ge=0)
    """Seconds; what is heard for less is a noise."""
    lead: float = Field(0.3, ge=0)
    """Seconds by which what is heard begins earlier: under music a voice is noticed late."""
    margin: float = Field(0.25, ge=0)
    """Seconds kept free at each side of speech."""
    over_lyrics: bool = False
    """True lets a voice speak over sung words; over a song's instrumental part it always may."""


class SlotSettings(Settings):
    """How free time becomes slots (below 2 s a pause is unusable by WCAG F113, 4 s is the usual minimum)."""

    hard_minimum: float = Field(2.0, gt=0)
    """Seconds below which no slot is planned whatever ``minimum`` says."""
    minimum: float = Field(4.0, gt=0)
    """Seconds of free time that a slot needs by default."""
    rich_minimum: float = Field(3.0, gt=0)
    """The same for ``rich``, which uses shorter gaps than the others."""
    preferred: float = Field(5.5, gt=0)
    """Seconds; in a long gap slots come near this (two describers: median 4 and 6, benchmarks/human_ad)."""
    maximum: float = Field(9.0, gt=0)
    """Seconds; a longer gap becomes several slots."""
    breath: float = Field(0.5, ge=0)
    """Seconds between two slots of one gap."""
    snap: float = Field(1.0, ge=0)
    """Seconds by which a slot may start later than its gap so as to start with a shot."""
    earliest: float = Field(0.2, gt=0)
    """Seconds of film before the first slot: players fire a cue at 0.000 before they play."""
    find_credits: bool = True
    """Whether the roll of end credits is looked for; it needs the weights that read text."""
    credits: float = Field(5.0, gt=0)
    """Seconds; the length of the one slot that a roll of end credits gets."""
    detail: Literal["brief", "normal", "rich"] = "normal"
    brief_share: float = Field(0.4, gt=0, le=1)
    """Share of the slots of a long gap that ``brief`` keeps."""
    normal_share: float = Field(0.7, gt=0, le=1)
    """The same for ``normal``; ``rich`` keeps all."""
    seconds_per_word: float = Field(0.375, gt=0)
    """160 words a minute; the benchmarks bring their own speed factor."""
    budget: Literal["fit", "paper"] = "fit"
    """``fit``: the words that can be spoken in the slot; ``paper``: one more (Shot-by-Shot, Algorithm 2)."""
    extra_words: int = Field(0, ge=0)
    """Words more than that; the published code gives GPT-4o three more on MAD-Eval."""


class ContextSettings(Settings):
    """Which shots around a slot are shown (Shot-by-Shot, section 3.1)."""

    past: int = Field(2, ge=0)
    future: int = Field(2, ge=0)
    internal_range: float = Field(3.0, ge=0)
    """Seconds by which current shots may reach beyond the slot."""
    external_range: float = Field(8.0, ge=0)
    """Seconds per neighbour: context reaches at most internal + 2 x external beyond the slot."""
    shortest: float = Field(0.4, ge=0)
    """Pieces of this many seconds or less are dropped."""
    keep_current: bool = True
    """False drops current pieces as short as ``shortest`` too, as the published code does, unless none would
    be left."""
    inclusive: bool = False
    """True: a slot overlaps the shots that it touches, in lists with a gap at each cut, as the published ones
    of CMD-AD and MAD-Eval. Where shots meet, as of numbered frames, touching is not overlapping."""


class FrameSettings(Settings):
    """How many frames of a clip are shown, where, how large (Shot-by-Shot, section 3.1)."""

    inside: int = Field(16, ge=1)
    outside: int = Field(16, ge=0)
    sampling: Literal["slot", "uniform", "reference"] = "slot"
    """``slot``: inside and outside of the slot apart; ``uniform``: evenly over the clip;
    ``reference``: the published code's, snapped to 32 positions a shot; at 3 frames a second or fewer whole
    frames, spread over the current shots."""
    margin_weight: float = Field(2.0, ge=0)
    """How much denser than context the current shots are shown beyond the slot."""
    lend: bool = False
    """A slot with fewer frames than ``inside``: True shows more of the rest of the clip, False shows
    the slot's frames more than once."""
    max_pixels: int = Field(360 * 420, ge=28 * 28)
    min_pixels: int = Field(128 * 28 * 28, ge=28 * 28)
    short_side: int | None = Field(None, ge=56)
    """Lines of the shorter side, as for GPT-4o; None: the bounds on pixels above give the size."""

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.min_pixels > self.max_pixels:
            raise ValueError(f"min_pixels {self.min_pixels} is above max_pixels {self.max_pixels}")
        return self


class OverlaySettings(Settings):
    """What is painted on the frames."""

    label: Literal["number", "box", "none"] = "number"
    """``number``: the shot's number top left; ``box``: a red border on frames of current shots."""
    characters: Literal["ellipses", "boxes", "none"] = "ellipses"
    """How recognised people are marked, where a cast is given."""
