"""Settings of what is measured in pictures without a language model: film grammar, text, people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from shotad.core.settings import Settings
from shotad.core.trust import ANY_FILE, UserOnly


class ComputeSettings(Settings):
    """Where models run that use torch. Others always run on the CPU."""

    device: Annotated[str, ANY_FILE] = "auto"
    """``auto`` (a GPU if there is one), ``cpu``, ``cuda``, ``cuda:1``, ``mps``."""
    precision: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """``auto``: bfloat16 where it is faster; on a GPU without it language models and training take float16.
    With ``float16`` these do so on any device, and other networks use float32."""
    batch: int = Field(8, ge=1, le=4096)
    """Frames that a model processes at once."""


@dataclass(frozen=True, slots=True)
class ThreadRules:
    """What ``threads.rules`` stands for."""

    span: Literal["shot", "clipped"] = "shot"  # frames of the whole shot, or of the part shown
    both_ways: bool = False  # mean of both directions


THREAD_RULES: Mapping[str, ThreadRules] = {
    "paper": ThreadRules(),
    "code": ThreadRules(span="clipped", both_ways=True),
}


class ThreadSettings(Settings):
    """Which shots share a camera set-up, a thread (Shot-by-Shot, section 3.1, equations 3 to 5)."""

    features: Annotated[str, UserOnly(harmless=r"auto|grid|none|dinov2-[\w-]+")] = "auto"
    """Features by which frames are compared: ``auto`` (DINOv2 if its weights are here, else ``grid``),
    ``grid``, ``none`` (no threads), ``dinov2-small`` … ``dinov2-giant-registers``, ``timm:NAME``,
    ``hub:OWNER/NAME`` or a folder."""
    frames: Literal["side", "mid", "all"] = "side"
    """Frames to compare. ``side``: the last of the earlier shot with the first of the later; ``mid``: the
    middle ones; ``all``: the best pair of first, middle and last."""
    match: Literal["patches", "whole"] = "patches"
    """``patches``: compare patch by patch; ``whole``: the cosine of the CLS tokens, the paper's baseline."""
    rules: Literal["paper", "code"] = "paper"
    """``paper``: frames of the whole shot, equation 4 in one direction. ``code``, as published: frames of the
    part shown, the mean of both directions."""
    threshold: float | None = Field(None, ge=-1, le=1)
    """Score above which two shots are joined. None: the default of the features (0.3 for DINOv2)."""

    @property
    def by_rules(self) -> ThreadRules:
        """What ``rules`` stands for."""
        return THREAD_RULES[self.rules]


class ScaleSettings(Settings):
    """How close the camera is to what it shows (Shot-by-Shot, section 3.1)."""

    method: Literal["auto", "classifier", "by-face", "none"] = "auto"
    """``auto``: the classifier if ``checkpoint`` is set, else ``by-face``."""
    checkpoint: Annotated[str | None, UserOnly()] = None
    """A file from ``shotad train scale``, or a name in the manifest of weights."""


@dataclass(frozen=True, slots=True)
class CastRules:
    """What ``cast.rules`` stands for."""

    detection: float | None = None  # least score of a face; None: measured for the models
    margin: float | None = None  # how much less the second best must be alike; None: measured for the models
    decide: Literal["track", "frame"] = "track"  # for a face followed through a shot, or for each frame alone
    first: int | None = None  # only so many of the cast, in its order, that have a usable photo
    from_film: bool = True  # faces of the film that are matched beyond doubt count as photos
    smallest: float = 0.04  # height of the smallest face that is given a name, as a fraction of the picture's
    colours: Literal["film", "clip"] = "film"  # a mark is one person's in the film, or goes by the clip


CAST_RULES: Mapping[str, CastRules] = {
    "ours": CastRules(),
    "paper": CastRules(
        detection=0.4, margin=0.0, decide="frame", first=10, from_film=False, smallest=0.0, colours="clip"
    ),
}


class CastSettings(Settings):
    """How faces are recognised (AutoAD-Zero, section 3.2). Used if a cast is given."""

    faces: Literal["sface", "buffalo_l"] = "sface"
    """Face models. ``sface``: YuNet and SFace, free to use; ``buffalo_l``: InsightFace's, not for commercial
    use."""
    threshold: float | None = Field(None, ge=-1, le=1)
    """Least likeness (cosine) to a member of the cast. None: the value measured for these models."""
    rules: Literal["ours", "paper"] = "ours"
    """``ours``: faces are followed through a shot, certain matches serve as further photos, and faces lower
    than 4 % of the picture get no name. ``paper``, as AutoAD-Zero: each frame alone, the first ten of the
    cast with a photo, colours of marks by first appearance in the clip."""

    @property
    def by_rules(self) -> CastRules:
        """What ``rules`` stands for."""
        return CAST_RULES[self.rules]
