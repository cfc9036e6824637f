"""Settings of what the audience hears: the voice, how lines fit, the mix, the files, the checks."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from shotad.core.settings import Settings
from shotad.core.trust import ANY_FILE, UserOnly

LoudnessProfile = Literal["source", "ebu-r128", "atsc-a85", "netflix", "web"]
LOUDNESS_PROFILES: tuple[LoudnessProfile, ...] = get_args(LoudnessProfile)
"""What the described sound is brought to; `shotad.sound.levels` has the figures."""


LOCAL_VOICES = r"auto|fake(:[\w-]+)?|hibari(:\w+)?|espeak-ng(:[\w+.-]+)?|piper(:\w[\w-]*(#\d+)?)?"
"""Voices that speak on this machine, by name: of piper no voice by its path."""


class VoiceSettings(Settings):
    """Who speaks, and at what pace."""

    name: Annotated[str, UserOnly(harmless=LOCAL_VOICES)] = "auto"
    """``auto``: the embedded voice if it speaks the track's language, else a program that is installed; or
    ``KIND`` or ``KIND:WHICH`` of `shotad voices`, such as ``espeak-ng:de``."""
    speed: float = Field(1.0, ge=0.5, le=2.0)
    """Pace at which every line is spoken: 1 is as AD is spoken, about 165 words a minute in English; of a
    voice behind a server, its own pace."""
    lexicon: Annotated[str | None, UserOnly(inside=True)] = None
    """A file of pronunciations, ``word = as it is said`` on each line."""
    base_url: Annotated[str | None, UserOnly()] = None
    """Address of an OpenAI-compatible speech endpoint, for the kind ``openai``."""
    model: Annotated[str, ANY_FILE] = "gpt-4o-mini-tts"
    """The endpoint's model."""
    instructions: Annotated[str, ANY_FILE] = ""
    """How the endpoint's voice is to speak, for models that take such words."""


class FitSettings(Settings):
    """How far a spoken line may be changed until it fits its gap; the ladder's order is fixed."""

    fastest: float = Field(1.15, ge=1.0, le=1.5)
    """Times faster than the pace of AD that a line may be spoken."""
    earlier: float = Field(1.0, ge=0, le=60)
    """Seconds by which a line may begin before its cue, within its gap."""
    later: float = Field(1.0, ge=0, le=60)
    """Seconds by which it may begin after it."""
    ask: bool | None = None
    """Whether Stage II may be asked for a shorter line, which is a model call. None: where a language model
    has just written the lines, and so is at hand."""


class MixSettings(Settings):
    """How programme and description are put together."""

    profile: LoudnessProfile = "source"
    """Loudness of the described sound: ``source`` keeps that of the film; the others are delivery targets."""
    duck: float = Field(9.0, ge=0, le=60)
    """dB by which the programme is lowered under a line; less where it is quiet, more where it is loud, so
    that the line stands 10 LU over it, but by 20 dB at most."""
    level: float = Field(0.0, ge=-20, le=20)
    """LU by which a line is louder than the programme as a whole, in a scene of usual loudness; the voice
    follows the scene, from 10 LU less to 3 LU more."""
    channels: Literal["auto", "centre", "front", "all"] = "auto"
    """Where the voice is heard in 5.1 and wider: ``auto`` and ``centre``: the centre; ``front``: left, centre
    and right; ``all``: everywhere but in the bass. Stereo: both sides alike."""
    true_peak: float | None = Field(None, ge=-20, le=0)
    """dBTP that the described sound stays under; None is the profile's own."""


class ContainerSettings(Settings):
    """How the described film is written."""

    default_track: bool = False
    """Whether players start with the AD track."""
    sound: Literal["mix", "alone"] = "mix"
    """``mix``: programme and AD in one track; ``alone``: AD only, for players that mix by themselves."""
    codec: Annotated[str, ANY_FILE] = "auto"
    """Of the AD track: ``auto`` takes what the container's players know, or an ffmpeg name."""
    existing: Literal["auto", "keep", "replace"] = "auto"
    """AD in the same language that the film has already: ``keep`` it beside the new one, or ``replace`` it;
    ``auto`` replaces what was made with shotad and keeps what anybody else made."""


class ExtendedSettings(Settings):
    """Extended AD: the film pauses for lines that do not fit (off by default). Limits are for the machine's
    lines: one that a person wrote, edited or accepted always gets its pause."""

    on: bool = False
    """Whether the film pauses for such lines (``--extended``)."""
    most: int = Field(20, ge=0, le=10_000)
    """Pauses in a film at most."""
    longest: float = Field(10.0, ge=0.1, le=600)
    """Seconds of a pause at most."""
    picture: Literal["encode", "copy"] = "encode"
    """``encode``: encode the picture again, the frame repeated through a pause, which every player takes.
    ``copy``: copy it, with the last frame before a pause shown longer: fast and without loss, HDR too, but
    some players stumble over a frame of several seconds."""


class LintSettings(Settings):
    """Where the checks of ``shotad lint`` draw their lines."""

    rate_error: float = Field(200.0, ge=0, le=10_000)
    """Words a minute; T3: a faster line is an error, one over 180 a warning; 0: neither."""
    levels: Annotated[dict[str, Literal["error", "warning", "off"]], ANY_FILE] = Field(default_factory=dict)
    """Another level for a rule: ``{T2: off, L1: error}``. L13, a title before a name, is off unless named."""
    ignore: Annotated[tuple[str, ...], ANY_FILE] = ()
    """Findings to hide: a rule (``L4``) or a rule in one line (``L4:s00083120``)."""
    words: Annotated[tuple[str, ...], UserOnly(inside=True)] = ()
    """Files or folders with more words for the rules on words."""
    parse: Literal["auto", "spacy", "words"] = "auto"
    """``auto``: spaCy where it is installed, else the word lists alone."""
