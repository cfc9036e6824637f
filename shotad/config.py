"""The settings, typed, with every default defined once, here.

Files in ``configs/`` hold only what differs. Precedence: default < ``--config`` < ``--set`` < flags.
Unknown keys are refused with the nearest valid name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from shotad.settings import Settings, load_settings


class FilmSettings(Settings):
    """Which reader opens the film, and how deep its frames are kept."""

    reader: Literal["pyav", "decord"] = "pyav"
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
    """False drops current pieces as short as ``shortest`` too, as the published code does."""
    inclusive: bool = False
    """True: touching is overlapping, as with the published shot lists and their 10 ms inset."""


class FrameSettings(Settings):
    """How many frames of a clip are shown, where, how large (Shot-by-Shot, section 3.1)."""

    inside: int = Field(16, ge=1)
    outside: int = Field(16, ge=0)
    sampling: Literal["slot", "uniform", "reference"] = "slot"
    """``slot``: inside and outside of the slot apart; ``uniform``: evenly over the clip;
    ``reference``: the published code's, snapped to 32 positions a shot."""
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


class ComputeSettings(Settings):
    """Where torch models run. Models that need no torch run on the CPU whatever stands here."""

    device: str = "auto"
    """``auto`` (a GPU if there is one), ``cpu``, ``cuda``, ``cuda:1``, ``mps``."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """``auto``: bfloat16 where the machine gains by it."""
    batch: int = Field(8, ge=1)
    """Frames at once."""


class ThreadSettings(Settings):
    """Which shots share a camera set-up (Shot-by-Shot, section 3.1, equations 3 to 5)."""

    features: str = "auto"
    """``auto`` (DINOv2 if its weights are at hand, else ``grid``), ``grid``, ``none`` (no threads),
    ``dinov2-small`` … ``dinov2-giant-registers``, ``timm:NAME``, or a folder with a DINOv2 model."""
    revision: str | None = None
    """Of the model on its hub; None: the newest that is at hand."""
    frames: Literal["side", "mid", "all"] = "side"
    """``side``: the last frame of the earlier shot with the first of the later; ``mid``: the middle ones;
    ``all``: the best of all pairs of first, middle and last."""
    match: Literal["patches", "whole"] = "patches"
    """``whole``: cosine of the CLS tokens, the paper's baseline."""
    span: Literal["shot", "clipped"] = "shot"
    """Frames are those of the whole shot, or of the part shown, as in the published code."""
    both_ways: bool = False
    """True: mean of both directions, as in the published code."""
    radius: int = Field(2, ge=0)
    """Patches by which a match may be displaced, in both directions: 2 is a window of 5 x 5."""
    temperature: float = Field(0.1, gt=0)
    threshold: float | None = Field(None, ge=-1, le=1)
    """Score above which two shots are joined; None: that of the features (0.3 for DINOv2)."""
    mend_flat: bool = False
    """True lets flat and black frames match what looks the same; by the formula they match nothing."""


class ScaleSettings(Settings):
    """How close the camera is (Shot-by-Shot, section 3.1)."""

    method: Literal["auto", "classifier", "by-face", "none"] = "auto"
    """``auto``: the classifier where a checkpoint is set, else ``by-face``."""
    checkpoint: str | None = None
    """A file from ``shotad train scale``, or a name in the manifest of weights."""
    value: Literal["class", "expected"] = "class"
    """What the effective scale is the mean of: the most probable classes, or expected values. The doubt of
    ``by-face`` draws the latter to the middle: with it the classes are better (benchmarks/scales.py)."""


class PromptSettings(Settings):
    """What the prompts say (Algorithms 1 and 2)."""

    medium: Literal["movie", "TV series"] = "movie"
    factor: Literal["auto", "none", "face", "object", "environment", "all"] = "auto"
    factor_rule: Literal["paper", "code"] = "paper"
    """Borders of the effective scale: the paper's, or those of the published code."""
    circle_note: Literal["auto", "always"] = "auto"
    """``auto``: coloured circles are spoken of only where characters are marked with them."""
    thread_sentence_first: bool = False
    """True puts the thread sentence before the note on circles, as the published code does."""
    stress_steps: bool = False
    """True adds the published code's words that stress steps 2 and 3 in Stage II."""
    verbs: tuple[str, ...] = (
        "look", "turn", "take", "hold", "pull", "walk", "run", "watch",
        "stare", "grab", "fall", "get", "go", "open", "smile",
    )  # fmt: skip
    examples: tuple[str, ...] = ()
    """Example ADs for Stage II; the built-in ones are used where this is empty."""
    example_count: int = Field(10, ge=0)
    example_choice: Literal["random", "length"] = "random"
    """``random``: any, each once; ``length``: within one word of the expected length, drawn with
    replacement, as in the published code."""


class SamplingSettings(Settings):
    """How an engine draws its tokens."""

    temperature: float = Field(0.0, ge=0)
    top_p: float = Field(1.0, gt=0, le=1)
    max_tokens: int = Field(512, ge=1)


class Stage1Settings(Settings):
    """The engine that describes the clip. None: the preset's."""

    engine: str | None = None
    sampling: SamplingSettings = SamplingSettings()


class Stage2Settings(Settings):
    """The engine that writes the AD sentence. None: the preset's."""

    engine: str | None = None
    sampling: SamplingSettings = SamplingSettings(temperature=0.6, top_p=0.9, max_tokens=256)
    candidates: Literal[1, 5] = 1
    history: int = Field(5, ge=0)
    """How many of the last lines the narrator knows."""
    fit: Literal["words", "none"] = "words"
    """``words``: a line above its budget loses sentences, then clauses, else is dropped; ``none``: stays."""


class TextSettings(Settings):
    """How text on the screen is found and read; the thresholds of detection are RapidOCR's own."""

    pixels: int = Field(640 * 360, ge=32 * 32)
    """About how many pixels the detector sees of each picture; its cost grows with them."""
    threads: int = Field(1, ge=1)
    pixel_threshold: float = Field(0.3, gt=0, lt=1)
    box_threshold: float = Field(0.5, gt=0, lt=1)
    unclip: float = Field(1.6, gt=0)
    """How far a line reaches beyond the core that is detected: area x this / perimeter."""
    min_height: float = Field(0.03, ge=0, lt=1)
    """Height of the smallest line that is read, as a fraction of the picture's."""
    max_height: float = Field(0.5, gt=0, le=1)
    """Height of the largest; beyond it the detector takes figures and trees for single letters."""
    min_score: float = Field(0.6, ge=0, lt=1)
    """Lines read with less are nothing; what is said aloud needs more (``observer.text_score``)."""
    same_picture: float = Field(6.0, ge=0)
    """Luma levels (of 255) by which no 8 x 8 block has changed in a picture that is not looked at again."""
    same_line: float = Field(12.0, ge=0)
    """The same for one line."""


class ObserverSettings(Settings):
    """The embedded observer: when a thing seen is sure enough to be said."""

    people_score: float = Field(0.72, gt=0, lt=1)
    """Best score of a body without a face. Pillars and statues reach 0.66 (benchmarks/observer.py)."""
    face_score: float = Field(0.75, gt=0, lt=1)
    thing_score: float = Field(0.88, gt=0, lt=1)
    """Both detectors' score for a thing with a name. Dunes reach 0.82 in both as a bed."""
    text_score: float = Field(0.9, gt=0, lt=1)
    threads: int = Field(2, ge=1)


class NarratorSettings(Settings):
    """The embedded narrator: what it says, and how much of it in one sentence."""

    sure: float = Field(0.5, ge=0, le=1)
    """Facts less sure than this are not said."""
    worth: float = Field(20.0, ge=0)
    """Silence below this (title 100, someone enters 60, someone is there 34; less when just said)."""
    statements: int = Field(3, ge=1, le=4)
    """Statements that one sentence may join."""


class Config(Settings):
    """Everything that can be set, in one record."""

    engine: str = "auto"
    """A preset: names the pair of engines."""
    language: str = "en"
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
    text: TextSettings = TextSettings()
    observer: ObserverSettings = ObserverSettings()
    narrator: NarratorSettings = NarratorSettings()


def load_config(name_or_file: str | None = None, assignments: Iterable[str] = (), **flags: Any) -> Config:
    """Settings from a named or given YAML file, ``KEY=VALUE`` assignments, and flags by dotted key.

    >>> load_config(None, ["slots.minimum=3"]).slots.minimum
    3.0

    Raises ConfigError for unknown names, unknown keys and values out of range.
    """
    files = ["default"] if name_or_file is None else ["default", name_or_file]
    return load_settings(Config, files, assignments, **flags)
