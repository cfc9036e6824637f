"""The containers that a described film can be written to, what each holds, its codes of languages (ISO
639-2), and which of a film's tracks go into one, with which metadata, by the keys that it keeps.

Codecs are ffmpeg's names. A codec stands in a container's list where its players know it there, which is
less than ffmpeg's muxers would write: PCM in MP4 and Opus in MOV are written by ffmpeg and read by few.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from shotad.core.config.languages import language_of, languages
from shotad.core.errors import SoundError, UsageError
from shotad.core.progress import printable
from shotad.film.container import (
    TEXT_CODECS,
    is_cover,
    readable_metadata,
)
from shotad.script.english_words import listed
from shotad.script.track_texts import in_all_languages, texts_in

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


_MP4_TAGS = listed(
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
    video=listed("h264 hevc vvc av1 vp9 mpeg4 mpeg2video mpeg1video mjpeg png jpeg2000"),
    audio=listed("aac ac3 eac3 mp3 mp2 opus flac alac dts vorbis"),
    subtitles=listed("mov_text dvd_subtitle ttml"),
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
    video=listed(
        "h264 hevc mpeg4 mpeg2video mpeg1video mjpeg png jpeg2000 prores dnxhd dvvideo cinepak svq1 svq3 "
        "qtrle v210 h263 cfhd rpza"
    ),
    audio=listed("aac ac3 eac3 mp3 mp2 alac amr_nb amr_wb pcm_mulaw pcm_alaw adpcm_ima_qt qdm2 mace6") | PCM,
    subtitles=listed("mov_text eia_608"),
    speech=("aac",),
    text="mov_text",
    boxes=True,
    tags=listed("title artist album composer date comment genre copyright"),
    covers=False,
    options=(_FASTSTART,),
)
MKV = Container(
    name="MKV",
    muxer="matroska",
    endings=(".mkv",),
    video=listed(
        "h264 hevc vvc av1 vp8 vp9 mpeg4 mpeg2video mpeg1video msmpeg4v3 prores mjpeg theora ffv1 dirac "
        "jpeg2000"
    ),
    audio=listed("aac ac3 eac3 dts truehd mlp mp1 mp2 mp3 opus vorbis flac alac tta wavpack")
    | PCM - {"pcm_f32be", "pcm_f64be", "pcm_s8"},
    subtitles=listed(
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
    video=listed("vp8 vp9 av1"),
    audio=listed("opus vorbis"),
    subtitles=listed("webvtt"),
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
    video=listed("h264 hevc vvc mpeg4 mpeg2video mpeg1video vc1 dirac cavs"),
    audio=listed("aac aac_latm ac3 eac3 dts truehd mp1 mp2 mp3 opus s302m pcm_bluray"),
    subtitles=listed("dvb_subtitle dvb_teletext"),
    speech=("aac", "ac3", "eac3", "mp2"),
    text=None,
    tags=frozenset(),
    hides=False,
    flagged_text=False,
    chapters=False,
    covers=False,
    titled=False,
    data=listed("klv timed_id3 smpte_klv"),
    # Receivers need the clock ahead of the pictures; the libraries by themselves leave no room for it.
    options=(("max_delay", "700000"),),
)
M2TS = replace(
    TS,
    name="M2TS",
    endings=(".m2ts", ".mts"),
    subtitles=listed("hdmv_pgs_subtitle"),
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
    endings = ", ".join(ending for container in CONTAINERS for ending in container.endings)
    raise SoundError(f"A film cannot be written as {ending or 'a file without ending'}.", f"Use {endings}.")


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
    code = _short_codes().get(language.lower(), language)
    try:
        entry = language_of(code)
    except UsageError:
        return language if len(language) == 3 else "und"
    return entry.bibliographic if container.muxer in ("matroska", "webm") else entry.alpha3


def same_language(first: str, second: str) -> bool:
    """Whether two codes or tags mean one language: ``ger``, ``deu`` and ``de-CH`` do."""
    return _short_code(first) == _short_code(second)


def _short_code(language: str) -> str:
    base = language.lower().replace("_", "-").partition("-")[0]
    return _short_codes().get(base, "" if base == "und" else base)


@cache
def _short_codes() -> dict[str, str]:
    """Code of three letters → the short one."""
    entries = [language_of(code) for code in languages()]
    return {code: entry.code for entry in entries for code in (entry.bibliographic, entry.alpha3)}


_REWRITTEN_DATA = frozenset({"bin_data", "epg"})
"""Data that is no track of its own: chapters in MP4, rewritten; programme guides."""


Treatment = Literal["copied", "converted", "attached"]


@dataclass(frozen=True, slots=True, eq=False)
class KeptTrack:
    """A track that goes along. ``stream`` is the film's, ``codec`` what it is in the described film."""

    stream: Any
    how: Treatment
    codec: str


def plan_tracks(
    source: Any, container: Container, without: Collection[int] = ()
) -> tuple[tuple[KeptTrack, ...], tuple[str, ...]]:
    """All tracks of an open film that go along, in its order, and sentences on what does not. Those of the
    numbers ``without`` stay behind.

    Picture and sound are copied or the film is refused (SoundError, with the track and the containers that
    hold it); subtitles in text are converted; other tracks that do not fit are left out with a warning.
    """
    kept_tracks, warnings = [], []
    for stream in source.streams:
        if stream.index in without:
            continue
        context = stream.codec_context
        if stream.type == "audio" and context is not None and not context.sample_rate:
            # As where sound begins minutes into a recording. No container can be told of it in its head.
            warnings.append(
                f"{track_name(stream)} is left out: the film's beginning does not say how it is coded."
            )
            continue
        track = _plan_track(stream, container)
        if isinstance(track, KeptTrack):
            kept_tracks.append(track)
            language = track_metadata(stream).get("language", "und")
            if track.how == "converted" and codec_of(stream) in ("ass", "ssa"):
                warnings.append(
                    f"{track_name(stream)} becomes {track.codec}: its words stay, most of its looks do not."
                )
            if stream.type == "subtitle" and not container.named_subtitles and language != "und":
                warnings.append(
                    f"{track_name(stream)} is copied, but {container.name} does not say its language."
                )
        elif track:
            warnings.append(track)
    if not container.chapters and source.chapters():
        warnings.append(
            f"{container.name} holds no chapters: the film's {len(source.chapters())} are left out."
        )
    return tuple(kept_tracks), tuple(warnings)


def _plan_track(stream: Any, container: Container) -> KeptTrack | str:
    """The track as it goes along, or why it does not (empty: nothing that anybody misses)."""
    codec = codec_of(stream)
    if stream.type == "attachment":
        fits = container.attachments
    elif stream.type == "video" and is_cover(stream):
        fits = container.covers and (container.holds("video", codec) or container.attachments)
    else:
        fits = codec in container.data if stream.type == "data" else container.holds(stream.type, codec)
    if fits:
        if container.attachments and stream.type == "video" and is_cover(stream):
            return KeptTrack(stream, "attached", codec)
        return KeptTrack(stream, "copied", codec)
    if stream.type == "subtitle":
        if codec in TEXT_CODECS and container.text is not None:
            return KeptTrack(stream, "converted", container.text)
        endings = first_endings(other for other in CONTAINERS if other.holds("subtitle", codec))
        hint = f" ({endings} can)" if endings else ""
        return f"{track_name(stream)} is left out: {container.name} cannot hold it{hint}."
    if stream.type in ("video", "audio") and not is_cover(stream):
        # Which track it is, and what holds all of them.
        tracks = [s for s in stream.container.streams if s.type in ("video", "audio") and not is_cover(s)]
        endings = first_endings(c for c in CONTAINERS if all(c.holds(s.type, codec_of(s)) for s in tracks))
        raise SoundError(
            f"{container.name} cannot hold {track_name(stream)} of the film.",
            f"Write {endings} instead."
            if endings
            else "Convert the film first: no container here holds all of it.",
        )
    if is_remade(stream, container):
        return ""
    return f"{track_name(stream)} is left out: {container.name} cannot hold it."


def is_remade(stream: Any, container: Container) -> bool:
    """Whether what a track of data says is written in another way, so that nothing of it is lost.

    Chapters are, and programme guides say nothing of the film. A time code is a word of the picture's own
    metadata, from which MP4 and MOV get such a track again; MPEG-TS has no place for it.
    """
    if stream.type != "data":
        return False
    is_timecode = "timecode" in track_metadata(stream)
    return codec_of(stream) in _REWRITTEN_DATA or (is_timecode and container.tags != frozenset())


def codec_of(stream: Any) -> str:
    context = stream.codec_context
    name = context.codec.canonical_name if context is not None else getattr(stream, "name", None)
    if not name and stream.type == "data" and "timecode" in track_metadata(stream):
        return "time code"
    return str(name or "unknown")


def track_metadata(stream: Any) -> dict[str, str]:
    """What a track says of itself, by keys in small letters."""
    return {key.lower(): value for key, value in readable_metadata(stream.metadata).items()}


def track_name(stream: Any) -> str:
    """A track for people: ``subtitle track 4 (eng, 'Signs', ass)``."""
    metadata = track_metadata(stream)
    parts = [metadata.get("language"), metadata.get("title"), codec_of(stream)]
    if stream.type == "video" and is_cover(stream):
        return f"cover picture {stream.index} ({codec_of(stream)})"
    return f"{stream.type} track {stream.index} ({', '.join(str(word) for word in parts if word)})"


def add_track(output: Any, kept_track: KeptTrack, container: Container, default: bool | None) -> Any:
    """The track in the film that is written. ``default`` None: as it is in the film."""
    from av.stream import Disposition

    source = kept_track.stream
    stream = output.add_stream_from_template(source, opaque=True)
    if source.time_base:
        stream.time_base = source.time_base
    if source.type == "video" and source.codec_context is not None:
        context, origin = stream.codec_context, source.codec_context
        if source.sample_aspect_ratio:
            context.sample_aspect_ratio = source.sample_aspect_ratio
        if source.average_rate:
            context.framerate = source.average_rate
        # Apple's players take HEVC under this name alone; the others take both.
        if container.boxes and kept_track.codec == "hevc" and origin.codec_tag not in ("hev1", "dvhe"):
            context.codec_tag = "hvc1"
        elif container.boxes and kept_track.codec in ("prores", "dnxhd") and origin.codec_tag.isalnum():
            context.codec_tag = origin.codec_tag
    flags = Disposition(source.disposition)
    if default is not None:
        flags = flags | Disposition.default if default else flags & ~Disposition.default
    stream.disposition = flags
    stream.metadata.update(track_tags(source, container))
    if container.muxer == "mpegts" and source.container.format.name == "mpegts":
        stream.id = source.id
    return stream


MADE_HERE = frozenset(in_all_languages("statement.made_here"))
"""The remarks on tracks of AD that are made here. By them a later run knows its own (`existing`)."""

_MP4_TRACK_KEYS = ("handler_name", "vendor_id")
"""What MP4 and MOV say of each track, and what means nothing elsewhere."""

_FILE_KEYS = frozenset({"major_brand", "minor_version", "compatible_brands", "encoder", "duration"})
"""Metadata that describes the file it stands in, not the film."""

_TITLE_KEYS = frozenset({"comment", "title", "language"})


def track_tags(source: Any, container: Container) -> dict[str, str]:
    tags = {
        key: value
        for key, value in readable_metadata(source.metadata).items()
        if key.lower() not in _FILE_KEYS
    }
    if tags.get("language"):
        tags["language"] = track_language(tags["language"], container)
    if tags.get("name") and "mov" in source.container.format.name:
        tags.setdefault("title", tags.pop("name"))
    if container.boxes:
        # Many players show this name in place of the title.
        if tags.get("title") and not tags.get("handler_name"):
            tags["handler_name"] = tags["title"]
        return tags
    return {key: value for key, value in tags.items() if key.lower() not in _MP4_TRACK_KEYS}


def film_tags(
    source: Mapping[str, str], new_tags: Mapping[str, str], container: Container, name: str
) -> dict[str, str]:
    """The file's metadata: the film's own and over it ``new_tags``, by the keys that the container keeps.

    New tags under other keys go into the comment as ``key: value``, so that they are not lost. ``name``
    is that of the film's file.
    """
    name = printable(Path(name).stem)
    tags = {key: value for key, value in readable_metadata(source).items() if key.lower() not in _FILE_KEYS}
    by_lower = {key.lower(): key for key in tags}
    for key, value in new_tags.items():
        tags.pop(by_lower.get(key.lower(), ""), None)
        tags[key] = value
    if container.tags is None:
        return tags
    if container.muxer == "mpegts":
        # It names a service and who provides it, and keeps nothing else: the remarks go to the second. Both
        # names share a descriptor of 255 bytes (ETSI EN 300 468, service descriptor).
        remark_parts = (
            f"{key.replace('_', ' ')}: {value}" for key, value in tags.items() if key not in _TITLE_KEYS
        )
        remarks = "; ".join(filter(None, [tags.get("comment", ""), *remark_parts]))
        service = {"service_name": (tags.get("title") or name, 80), "service_provider": (remarks, 160)}
        return {
            key: text.encode()[:size].decode(errors="ignore") for key, (text, size) in service.items() if text
        }
    kept_tags = {
        key: value for key, value in tags.items() if key.lower() in (*container.tags, "creation_time")
    }
    unplaced = [
        f"{key.replace('_', ' ')}: {value}"
        for key, value in new_tags.items()
        if key.lower() not in container.tags and key.lower() != "encoder"
    ]
    if "comment" in container.tags and unplaced:
        # A film that was described before has the same remarks there already.
        new_keys = [remark.partition(": ")[0] for remark in unplaced]
        earlier_remarks = [
            remark
            for remark in kept_tags.get("comment", "").split("; ")
            if remark and remark.partition(": ")[0] not in new_keys
        ]
        kept_tags["comment"] = "; ".join([*earlier_remarks, *unplaced])
    if container.boxes:
        # FFmpeg before 6 takes a track's title for that of a film that has none.
        kept_tags.setdefault("title", name)
    return kept_tags


_AD_TITLES = {
    "cs": "Audiopopis", "da": "Synstolkning", "de": "Audiodeskription", "es": "Audiodescripción",
    "fi": "Kuvailutulkkaus", "fr": "Audiodescription", "it": "Audiodescrizione", "ja": "音声解説",
    "nl": "Audiodescriptie", "no": "Synstolking", "pl": "Audiodeskrypcja", "pt": "Audiodescrição",
    "sv": "Syntolkning",
}  # fmt: skip
"""What the trade calls it where it has a word of its own."""


def track_title(language: str, *, is_text: bool = False) -> str:
    """What players show of the AD track; many find it by ``Audio Description`` or ``AD``: ``de →
    Audiodeskription (AD)``."""
    ad_word = _AD_TITLES.get(language.lower().split("-")[0])
    title = f"{ad_word} (AD)" if ad_word else "Audio Description"
    return f"{title} ({texts_in(language)('script.text')})" if is_text else title


def ad_track_tags(language: str, title: str, container: Container) -> dict[str, str]:
    """Metadata of a track of AD that is made here."""
    remark = texts_in(language)("statement.made_here")
    tags = {"language": track_language(language, container), "title": title, "comment": remark}
    return {**tags, "handler_name": title} if container.boxes else tags
