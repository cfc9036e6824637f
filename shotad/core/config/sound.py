"""Settings of what the audience hears: the voice, how lines fit, the mix, the files, the checks."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from shotad.core.settings import Settings
from shotad.core.trust import ANY_FILE, UserOnly

LoudnessProfile = Literal["source", "ebu-r128", "atsc-a85", "netflix", "web"]
LOUDNESS_PROFILES: tuple[LoudnessProfile, ...] = get_args(LoudnessProfile)
"""What the described sound is brought to; `shotad.sound.levels` has the figures."""


LOCAL_VOICES = (
    r"auto|fake(:[\w-]+)?|hibari(:\w+)?|kokoro(:\w+)?|espeak-ng(:[\w+.-]+)?|piper(:\w[\w-]*(#\d+)?)?"
    r"|(say|sapi)(:\w[\w (),.'’-]*)?"
)
"""Voices that speak on this machine, by name: of piper no voice by its path. Those of a system have names
such as ``Eddy (English (US))``."""


class VoiceSettings(Settings):
    """Which voice speaks, and at what pace."""

    name: Annotated[str, UserOnly(harmless=LOCAL_VOICES)] = "auto"
    """``auto``: the first installed voice of `shotad voices` that speaks the track's language, but no server.
    Or a name from that list: ``KIND`` or ``KIND:WHICH``, such as ``espeak-ng:de``."""
    speed: float = Field(1.0, ge=0.5, le=2.0)
    """Pace of all lines. 1 is the usual pace of AD, about 165 words a minute in English; for one behind a
    server or of Windows, its own pace."""
    lexicon: Annotated[str | None, UserOnly(inside=True)] = None
    """File of pronunciations, with ``word = as it is said`` on each line."""
    subtitles: Annotated[str | None, UserOnly(harmless="auto", inside=True)] = None
    """Subtitles that are spoken too (``--speak-subtitles``): ``auto`` for the film's forced ones, or a file.
    None: none."""
    subtitle_voice: Annotated[str, UserOnly(harmless=LOCAL_VOICES)] = "auto"
    """Voice of spoken subtitles. ``auto``: another than that of the description, if one is installed."""
    base_url: Annotated[str | None, UserOnly()] = None
    """Address of an OpenAI-compatible speech endpoint, for the kind ``openai``."""
    model: Annotated[str, ANY_FILE] = "gpt-4o-mini-tts"
    """The endpoint's model."""
    instructions: Annotated[str, ANY_FILE] = ""
    """How the voice should speak, for models that accept instructions."""


class FitSettings(Settings):
    """How far a spoken line may be changed to fit its gap. The order of the steps is fixed
    (docs/sound.md)."""

    fastest: float = Field(1.15, ge=1.0, le=1.5)
    """Times the usual pace of AD at which a line may be spoken, at most."""
    earlier: float = Field(1.0, ge=0, le=60)
    """Seconds by which a line may begin before the cue's time, within its gap."""
    later: float = Field(1.0, ge=0, le=60)
    """Seconds by which a line may begin after the cue's time."""
    ask: bool | None = None
    """Whether Stage II may be asked for a shorter line, which is a model call. None: only if a language model
    wrote the lines in the same run."""


class MixSettings(Settings):
    """How the film's sound and the description are mixed."""

    profile: LoudnessProfile = "source"
    """Loudness of the result: ``source`` keeps the film's; the others are delivery targets
    (docs/sound.md)."""
    duck: float = Field(9.0, ge=0, le=60)
    """dB by which the film is lowered under a line: less where it is quiet, and more where it is loud (20 dB
    at most), so that the line is 10 LU louder than it."""
    level: float = Field(0.0, ge=-20, le=20)
    """LU by which a line is louder than the whole film, in a scene of average loudness. The voice follows the
    scene, by 10 LU less to 3 LU more."""
    channels: Literal["auto", "centre", "front", "all"] = "auto"
    """Channels of the voice in 5.1 and wider. ``auto`` and ``centre``: the centre; ``front``: left, centre
    and right; ``all``: all but the bass. In stereo it is always on both sides."""
    true_peak: float | None = Field(None, ge=-20, le=0)
    """dBTP limit of the result. None: the profile's."""


class ContainerSettings(Settings):
    """How the described film is written to a file."""

    default_track: bool = False
    """Whether players start with the AD track (``--default``)."""
    sound: Literal["mix", "alone"] = "mix"
    """``mix``: film sound and AD in one track; ``alone``: only the AD, for players that mix it themselves."""
    codec: Annotated[str, ANY_FILE] = "auto"
    """Codec of the AD track: an ffmpeg name, or ``auto`` for one that the container's players support."""
    existing: Literal["auto", "keep", "replace"] = "auto"
    """What happens to AD in the same language that the film already has: ``keep`` or ``replace`` it. ``auto``
    replaces AD made by shotad and keeps all other."""


class ExtendedSettings(Settings):
    """Extended AD: the film pauses for lines that do not fit. Off by default. The limits hold for the
    machine's lines; a line that a person wrote, edited or accepted always gets its pause."""

    on: bool = False
    """Whether the film pauses (``--extended``)."""
    most: int = Field(20, ge=0, le=10_000)
    """How many pauses a film may get."""
    longest: float = Field(10.0, ge=0.1, le=600)
    """Seconds of a pause, at most."""
    picture: Literal["encode", "copy"] = "encode"
    """``encode``: encode the picture again, with the frame repeated through a pause; every player can play
    this. ``copy``: copy the picture and show the last frame before a pause longer. This is fast and lossless,
    also with HDR, but some players cannot play a frame of several seconds."""


class LintSettings(Settings):
    """Limits of the checks of ``shotad lint``."""

    rate_error: float = Field(200.0, ge=0, le=10_000)
    """Words a minute above which rule T3 reports an error; above 180 it warns. 0 disables both."""
    levels: Annotated[dict[str, Literal["error", "warning", "off"]], ANY_FILE] = Field(default_factory=dict)
    """Other levels for rules: ``{T2: off, L1: error}``. L13 (a title before a name) is off unless set
    here."""
    ignore: Annotated[tuple[str, ...], ANY_FILE] = ()
    """Findings to hide: a rule (``L4``), or a rule in one line (``L4:s00083120``)."""
    words: Annotated[tuple[str, ...], UserOnly(inside=True)] = ()
    """Files or folders with more words for the rules that use word lists."""
    parse: Literal["auto", "spacy", "words"] = "auto"
    """``auto``: spaCy if it is installed, else only word lists."""
