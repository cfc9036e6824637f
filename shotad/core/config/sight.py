"""Settings of what is measured in pictures without a language model: film grammar, text, people."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from shotad.core.settings import Settings


class ComputeSettings(Settings):
    """Where torch models run. Models that need no torch run on the CPU whatever stands here."""

    device: str = "auto"
    """``auto`` (a GPU if there is one), ``cpu``, ``cuda``, ``cuda:1``, ``mps``."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """``auto``: bfloat16 where the machine gains by it."""
    batch: int = Field(8, ge=1)
    """Frames at once."""

    former: ClassVar[dict[str, Any]] = {"overlap": "auto"}


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


class NarratorSettings(Settings):
    """The embedded narrator: what it says, and how much of it in one sentence."""

    always: bool = False
    """True: where it would be silent, it says what was measured all the same, though that is worth little or
    was said in the last lines. For benchmarks, where silence counts as a wrong line; in predict.yaml."""

    former: ClassVar[dict[str, Any]] = {"sure": 0.5, "worth": 20.0, "statements": 3}


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
    """Seconds; who is seen for less in the whole film is left out."""
    pictures: int = Field(6, ge=1)
    """Face pictures kept of a person, at most."""

    former: ClassVar[dict[str, Any]] = {"looks": 3.0}
