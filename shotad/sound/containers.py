"""The containers that a described film can be written to, what each holds, and its codes of languages
(ISO 639-2).

Codecs are ffmpeg's names. A codec stands in a container's list where its players know it there, which is
less than ffmpeg's muxers would write: PCM in MP4 and Opus in MOV are written by ffmpeg and read by few.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from shotad.core import SoundError, UsageError, language_of, languages

_PCM = (f"pcm_{bits}{end}" for bits in ("s16", "s24", "s32", "f32", "f64") for end in ("le", "be"))
PCM = frozenset((*_PCM, "pcm_u8", "pcm_s8"))


@dataclass(frozen=True, slots=True)
class Container:
    """A kind of file. ``muxer`` is ffmpeg's; sets are of codecs' names.

    ``speech`` are the codecs that the AD may have by itself, the first where the film's own is none of them;
    ``text`` that of the text track (None: there can be none). ``hides``: it can say that the first samples
    of a track are not to be heard, as coders need, for tracks that are coded here; ``boxes``: it is made as
    MP4 is, and can say so for all. ``flagged`` and ``flagged_text``: whether the marks of AD survive on sound
    and on text; ``titled``: tracks have titles; ``named_subtitles``: subtitles have a
    language. ``tags``: the keys of the file's metadata that survive (None:
    all).
    """

    name: str
    muxer: str
    endings: tuple[str, ...]
    video: frozenset[str]
    audio: frozenset[str]
    subtitles: frozenset[str]
    speech: tuple[str, ...]
    text: str | None
    tags: frozenset[str] | None
    hides: bool = True
    flagged: bool = True
    flagged_text: bool = True
    chapters: bool = True
    attachments: bool = False
    covers: bool = True
    titled: bool = True
    named_subtitles: bool = True
    boxes: bool = False
    data: frozenset[str] = frozenset()
    options: tuple[tuple[str, str], ...] = ()

    def holds(self, kind: str, codec: str) -> bool:
        """Whether a track of that kind (video, audio, subtitle) and codec can be in it."""
        return codec in {"video": self.video, "audio": self.audio, "subtitle": self.subtitles}.get(kind, ())


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MP4_TAGS = _names(
    "title artist album_artist composer album date comment genre copyright grouping lyrics description "
    "synopsis show episode_id network keywords season_number episode_sort media_type hd_video compilation"
)
"""What libavformat writes into ``ilst`` (movenc.c); all else would need QuickTime's own table of keys, and
with that players no longer find these."""

_FASTSTART = ("movflags", "+faststart")

MP4 = Container(
    name="MP4",
    muxer="mp4",
    endings=(".mp4", ".m4v"),
    video=_names("h264 hevc vvc av1 vp9 mpeg4 mpeg2video mpeg1video mjpeg png jpeg2000"),
    audio=_names("aac ac3 eac3 mp3 mp2 opus flac alac dts vorbis"),
    subtitles=_names("mov_text dvd_subtitle ttml"),
    speech=("aac",),
    text="mov_text",
    boxes=True,
    tags=_MP4_TAGS,
    options=(_FASTSTART,),
)
MOV = Container(
    name="MOV",
    muxer="mov",
    endings=(".mov",),
    video=_names(
        "h264 hevc mpeg4 mpeg2video mpeg1video mjpeg png jpeg2000 prores dnxhd dvvideo cinepak svq1 svq3 "
        "qtrle v210 h263 cfhd rpza"
    ),
    audio=_names("aac ac3 eac3 mp3 mp2 alac amr_nb amr_wb pcm_mulaw pcm_alaw adpcm_ima_qt qdm2 mace6") | PCM,
    subtitles=_names("mov_text eia_608"),
    speech=("aac",),
    text="mov_text",
    boxes=True,
    tags=_names("title artist album composer date comment genre copyright"),
    covers=False,
    options=(_FASTSTART,),
)
MKV = Container(
    name="MKV",
    muxer="matroska",
    endings=(".mkv",),
    video=_names(
        "h264 hevc vvc av1 vp8 vp9 mpeg4 mpeg2video mpeg1video msmpeg4v3 prores mjpeg theora ffv1 dirac "
        "jpeg2000"
    ),
    audio=_names("aac ac3 eac3 dts truehd mlp mp1 mp2 mp3 opus vorbis flac alac tta wavpack")
    | PCM - {"pcm_f32be", "pcm_f64be", "pcm_s8"},
    subtitles=_names(
        "subrip ass ssa webvtt text dvd_subtitle hdmv_pgs_subtitle hdmv_text_subtitle dvb_subtitle "
        "arib_caption"
    ),
    speech=("aac", "ac3", "eac3", "opus", "flac", "mp3"),
    text="subrip",
    tags=None,
    attachments=True,
    options=(("default_mode", "passthrough"),),
)
WEBM = Container(
    name="WebM",
    muxer="webm",
    endings=(".webm",),
    video=_names("vp8 vp9 av1"),
    audio=_names("opus vorbis"),
    subtitles=_names("webvtt"),
    speech=("opus",),
    text="webvtt",
    tags=None,
    flagged=False,
    covers=False,
    options=(("default_mode", "passthrough"),),
)
TS = Container(
    name="MPEG-TS",
    muxer="mpegts",
    endings=(".ts",),
    video=_names("h264 hevc vvc mpeg4 mpeg2video mpeg1video vc1 dirac cavs"),
    audio=_names("aac aac_latm ac3 eac3 dts truehd mp1 mp2 mp3 opus s302m pcm_bluray"),
    subtitles=_names("dvb_subtitle dvb_teletext"),
    speech=("aac", "ac3", "eac3", "mp2"),
    text=None,
    tags=frozenset(),
    hides=False,
    flagged_text=False,
    chapters=False,
    covers=False,
    titled=False,
    data=_names("klv timed_id3 smpte_klv"),
    # Receivers need the clock ahead of the pictures; the libraries by themselves leave no room for it.
    options=(("max_delay", "700000"),),
)
M2TS = replace(
    TS,
    name="M2TS",
    endings=(".m2ts", ".mts"),
    subtitles=_names("hdmv_pgs_subtitle"),
    named_subtitles=False,
    # Players of discs and cameras' files know no AAC.
    speech=("ac3", "eac3", "aac", "mp2"),
    options=(*TS.options, ("mpegts_m2ts_mode", "1")),
)
"""MPEG-TS as discs and cameras have it. In plain MPEG-TS nobody finds a disc's subtitles again."""

CONTAINERS = (MP4, MKV, TS, M2TS, MOV, WEBM)


def container_for(target: Path) -> Container:
    """The container that a path's ending means. Raises SoundError for endings that mean none."""
    ending = target.suffix.lower()
    for container in CONTAINERS:
        if ending in container.endings:
            return container
    known = ", ".join(ending for container in CONTAINERS for ending in container.endings)
    raise SoundError(f"A film cannot be written as {ending or 'a file without ending'}.", f"Use {known}.")


def first_endings(containers: Iterable[Container]) -> str:
    """The usual ending of each, one for those of a kind: ``.mp4 or .ts``."""
    endings: dict[str, str] = {}
    for container in containers:
        endings.setdefault(container.muxer, container.endings[0])
    return " or ".join(endings.values())


def track_language(language: str, container: Container) -> str:
    """A BCP 47 tag or a code as the container has it: ``de-CH`` is ``ger`` in Matroska, ``deu`` elsewhere.

    A tag that is not known gives ``und``; a code of three letters stays as it is where it is not known.
    """
    short = _short().get(language.lower(), language)
    try:
        known = language_of(short)
    except UsageError:
        return language if len(language) == 3 else "und"
    return known.bibliographic if container.muxer in ("matroska", "webm") else known.alpha3


def same_language(one: str, other: str) -> bool:
    """Whether two codes or tags mean one language: ``ger``, ``deu`` and ``de-CH`` do."""
    return _plain(one) == _plain(other)


def _plain(language: str) -> str:
    base = language.lower().replace("_", "-").partition("-")[0]
    return _short().get(base, "" if base == "und" else base)


@cache
def _short() -> dict[str, str]:
    """Code of three letters → the short one."""
    known = [language_of(code) for code in languages()]
    return {code: each.code for each in known for code in (each.bibliographic, each.alpha3)}
