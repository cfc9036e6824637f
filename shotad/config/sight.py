"""Settings of what is measured in pictures without a language model: film grammar, text, people."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from shotad.settings import Settings


class ComputeSettings(Settings):
    """Where torch models run. Models that need no torch run on the CPU whatever stands here."""

    device: str = "auto"
    """``auto`` (a GPU if there is one), ``cpu``, ``cuda``, ``cuda:1``, ``mps``."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """``auto``: bfloat16 where the machine gains by it."""
    batch: int = Field(8, ge=1)
    """Frames at once."""
    overlap: Literal["auto", "early", "acts", "none"] = "auto"
    """``none``: one step after the other; ``acts``: film grammar, Stage I and Stage II at once; ``early``:
    Stage I also looks at slots while shots are still being found; ``auto``: that too where it spares time."""


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
    threshold: float | None = Field(None, ge=-1, le=1)
    """Score above which two shots are joined; None: that of the features (0.3 for DINOv2)."""
    mend_flat: bool = False
    """True lets flat and black frames match what looks the same; by the formula they match nothing."""

    former: ClassVar[dict[str, Any]] = {"radius": 2, "temperature": 0.1}


class ScaleSettings(Settings):
    """How close the camera is (Shot-by-Shot, section 3.1)."""

    method: Literal["auto", "classifier", "by-face", "none"] = "auto"
    """``auto``: the classifier where a checkpoint is set, else ``by-face``."""
    checkpoint: str | None = None
    """A file from ``shotad train scale``, or a name in the manifest of weights."""
    value: Literal["class", "expected"] = "class"
    """What the effective scale is the mean of: the most probable classes, or expected values. The doubt of
    ``by-face`` draws the latter to the middle: with it the classes are better (benchmarks/scales.py)."""


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
    always: bool = False
    """True: where it would be silent, it says what was measured all the same, though that is worth little or
    was said in the last lines. For benchmarks, where silence counts as a wrong line; in predict.yaml."""


class CastSettings(Settings):
    """Whose the faces are (AutoAD-Zero, section 3.2). Used where a cast is given."""

    faces: Literal["sface", "buffalo_l"] = "sface"
    """``sface``: YuNet and SFace, free to use; ``buffalo_l``: InsightFace's, not for commercial use."""
    detection: float | None = Field(None, gt=0, lt=1)
    """Least score of a face; None: what was measured to be right for the models."""
    threshold: float | None = Field(None, ge=-1, le=1)
    """Least likeness (cosine) to somebody of the cast; None: what was measured to be right for the models."""
    margin: float | None = Field(None, ge=0, le=1)
    """How much less the second best must be alike; None: what was measured to be right for the models."""
    pool: Literal["mean", "set"] = "mean"
    """A person's photos count as their mean, or each for itself."""
    decide: Literal["track", "frame"] = "track"
    """Who somebody is is decided for a face followed through a shot, or for each frame alone."""
    first: int | None = Field(None, ge=1)
    """Only so many of the cast, in its order, that have a usable photo."""
    from_film: bool = True
    """Whether faces of the film that are matched beyond doubt count as photos for the others."""
    smallest: float = Field(0.04, ge=0, lt=1)
    """Height of the smallest face that is given a name, as a fraction of the picture's."""
    colours: Literal["film", "clip"] = "film"
    """``film``: a person's mark is the same throughout; ``clip``: marks go by first appearance in the clip,
    as in the published code."""

    former: ClassVar[dict[str, Any]] = {"looks": 4.0}


class DiscoverSettings(Settings):
    """How the people of a whole film are found (``shotad cast discover``)."""

    join: float | None = Field(None, ge=-1, le=1)
    """Likeness above which two groups of faces are one person; None: what was measured for the models."""
    least_seconds: float = Field(1.0, ge=0)
    """Who is seen for less in the whole film is left out."""
    pictures: int = Field(6, ge=1)
    """Face pictures kept of a person, at most."""

    former: ClassVar[dict[str, Any]] = {"looks": 3.0}
