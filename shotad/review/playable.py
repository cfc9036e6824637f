"""What today's browsers play: by container, codecs and clock of the film.

``True`` is said only of what Chromium, Firefox and Safari all play since 2023 or so; ``None`` where some do,
which the page asks its browser (``canPlayType`` with the media type, then the video element's ``error``).
``False`` is also said of films that would *seem* to play: Chromium plays a film whose sound it cannot
decode without sound, and one whose picture it cannot decode as sound alone, and reports no error; and of
films whose second 0 browsers put elsewhere than `shotad` does, so that lines would stand beside their
pictures.

Codec strings: RFC 6381; ISO/IEC 14496-15 (``avcC``); AV1 in ISOBMFF (``av1C``); VP Codec ISO Media Binding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from shotad.core import Config, FilmError, FilmInfo
from shotad.film import choose_track, find_media, is_cover

if TYPE_CHECKING:
    from av.container import InputContainer

Clock = Literal["same", "other"]

MOST_OFF = 0.02
"""Seconds by which the browser's second 0 may lie beside the film's: half a frame of 25 a second."""


@dataclass(frozen=True, slots=True)
class Playable:
    """Whether browsers play a film as it is (None: some do), as which media type, and why not."""

    plays: bool | None
    media_type: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    """Picture or sound: its codec in a media type, and how sure it is to be played."""

    codec: str
    plays: bool | None
    why: str = ""


def browser_kind(info: FilmInfo, config: Config | None = None) -> Playable:
    """Whether browsers play the film that ``info`` is of, with the run's audio track.

    Reads the head of the film. A film that cannot be read any more is not played.
    """
    if info.path is None or info.video_codec == "stills":
        return Playable(False, why="The film is a row of pictures.")
    try:
        media = find_media(info.path)
        head = media.read_at(0, 64)
        container = media.open()
    except (FilmError, OSError) as trouble:
        return Playable(False, why=getattr(trouble, "what", None) or str(trouble))
    try:
        wanted = config.film.audio_track if config is not None else None
        return _kind(info, container, head, wanted)
    finally:
        container.close()


def _kind(info: FilmInfo, container: InputContainer, head: bytes, wanted: int | None) -> Playable:
    found = _container(container.format.name, head)
    if found is None:
        return Playable(
            False, why=f"Browsers do not play files of this kind ({_kind_name(container, head)})."
        )
    picture = _picture(container, found)
    sound = _sound(info, container, found, wanted)
    parts = [part for part in (picture, sound) if part is not None]
    media_type = f'{found}; codecs="{", ".join(part.codec for part in parts)}"'
    refused = next((part for part in parts if part.plays is False), None)
    if refused is not None:
        return Playable(False, media_type, refused.why)
    if trouble := _clock_trouble(info):
        return Playable(False, media_type, trouble)
    unsure = next((part for part in parts if part.plays is None), None)
    return Playable(None, media_type, unsure.why) if unsure else Playable(True, media_type)


def plays_picture(container: InputContainer) -> bool:
    """Whether all browsers play the picture of an open film, were it in MP4."""
    return _picture(container, "video/mp4").plays is True


def _container(name: str, head: bytes) -> str | None:
    """The media type of a container, or None. WebM and Matroska differ by what their head says."""
    if "mp4" in name.split(","):
        return "video/mp4"
    return "video/webm" if "webm" in name.split(",") and b"\x42\x82\x84webm" in head else None


def _kind_name(container: InputContainer, head: bytes) -> str:
    name = container.format.name
    return "Matroska" if "matroska" in name else str(container.format.long_name or name)


def _clock_trouble(info: FilmInfo) -> str:
    """Why the browser's clock is not the film's, or nothing."""
    if abs(info.start) > MOST_OFF:
        return f"Its clock begins at {float(info.start):.2f} s, from which browsers count differently."
    return ""


# ---- picture


def _picture(container: InputContainer, found: str) -> _Part:
    streams = [s for s in container.streams.video if not is_cover(s)]
    if len(streams) != 1:
        return _Part("", False, f"It has {len(streams)} tracks of picture.")
    context: Any = streams[0].codec_context
    if context is None:
        return _Part("", False, "Its picture is coded in a way that is not known here.")
    bits = 10 if "10" in context.pix_fmt else 12 if "12" in context.pix_fmt else 8
    plain = context.pix_fmt in ("yuv420p", "yuvj420p")
    name, extra = context.name, bytes(context.extradata or b"")
    make = {"h264": _avc, "vp8": _vp8, "libvpx": _vp8, "vp9": _vp9, "libvpx-vp9": _vp9}.get(name)
    if name in ("av1", "libdav1d", "libaom-av1"):
        return _av1(extra, bits)
    if make is None or (found == "video/webm" and make is _avc) or (found == "video/mp4" and make is _vp8):
        return _Part(_unplayed(name), False, f"Browsers do not all play this picture ({name}).")
    part = make(extra, bits)
    if make is _avc and not plain:
        return _Part(
            part.codec, False, f"Browsers play H.264 with 8 bits and 4:2:0 only, not {context.pix_fmt}."
        )
    return part


def _unplayed(name: str) -> str:
    return {"hevc": "hvc1", "mpeg4": "mp4v.20.9", "prores": "apcn"}.get(name, name)


def _avc(extra: bytes, bits: int) -> _Part:
    """``avc1.PPCCLL``, of which each is two hex digits of ``avcC``."""
    if len(extra) < 4 or extra[0] != 1:
        return _Part("avc1", None, "The film does not say which profile of H.264 it has.")
    profile = extra[1]
    known = profile in (66, 77, 88, 100)
    why = "" if known else f"Browsers do not play H.264 of profile {profile}."
    return _Part(f"avc1.{extra[1]:02X}{extra[2]:02X}{extra[3]:02X}", known, why)


def _vp8(extra: bytes, bits: int) -> _Part:
    return _Part("vp8", True)


def _vp9(extra: bytes, bits: int) -> _Part:
    if bits == 8:
        return _Part("vp09.00.51.08", True)
    return _Part(f"vp09.02.51.{bits:02d}", None, f"Not all browsers play VP9 with {bits} bits.")


def _av1(extra: bytes, bits: int) -> _Part:
    """``av01.P.LLT.DD``: profile, level and tier of ``av1C``, bits."""
    if len(extra) >= 4 and extra[0] == 0x81:
        profile, level, tier = extra[1] >> 5, extra[1] & 31, "H" if extra[2] >> 7 else "M"
    else:
        profile, level, tier = 0, 8, "M"
    return _Part(
        f"av01.{profile}.{level:02d}{tier}.{bits:02d}", None, "Safari plays AV1 on new devices only."
    )


# ---- sound

_SOUNDS: dict[str, dict[str, bool | None]] = {
    "video/mp4": {"aac": True, "mp3": True, "mp3float": True, "opus": None, "libopus": None, "flac": None},
    "video/webm": {"vorbis": True, "libvorbis": True, "opus": True, "libopus": True},
}


def _sound(info: FilmInfo, container: InputContainer, found: str, wanted: int | None) -> _Part | None:
    track = choose_track(info, wanted)
    if track is None:
        return None
    context: Any = container.streams.audio[track.number].codec_context
    codec = _sound_codec(track.codec, bytes(context.extradata or b"") if context is not None else b"")
    if track.number != 0:
        return _Part(codec, False, f"Browsers play its first audio track, the lines were made for {track}.")
    known = _SOUNDS[found]
    if track.codec not in known:
        return _Part(codec, False, f"Browsers do not all play this sound ({track.codec}).")
    plays = known[track.codec]
    return _Part(codec, plays, "" if plays else f"Not all browsers play {track.codec} in MP4.")


def _sound_codec(name: str, extra: bytes) -> str:
    """The codec in a media type: of AAC the kind of object stands in the first five bits of its config."""
    if name == "aac":
        return f"mp4a.40.{extra[0] >> 3 if extra and extra[0] >> 3 != 31 else 2}"
    plain = {"mp3float": "mp3", "libopus": "opus", "libvorbis": "vorbis", "ac3": "ac-3", "eac3": "ec-3"}
    return plain.get(name, name)
