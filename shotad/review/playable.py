"""What today's browsers play: by container, codecs and clock of the film.

Said to be played is what Chromium and Firefox play; a browser that does not (Safari plays AV1 on new devices
only) reports an error of the video element, and gets a copy. Not said to be is also what would only *seem* to
play: Chromium plays a film whose sound it cannot decode without sound, and one whose picture it cannot decode
as sound alone, and reports no error; and films whose second 0 browsers put elsewhere than `shotad` does, so
that lines would stand beside their pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shotad.core import Config, FilmError, FilmInfo
from shotad.film import choose_track, find_media, is_cover

if TYPE_CHECKING:
    from av.container import InputContainer

MOST_OFF = 0.02
"""Seconds by which the browser's second 0 may lie beside the film's: half a frame of 25 a second."""

_MP4, _WEBM = "video/mp4", "video/webm"

_PICTURES = {
    _MP4: ("h264", "vp9", "libvpx-vp9", "av1", "libdav1d", "libaom-av1"),
    _WEBM: ("vp8", "libvpx", "vp9", "libvpx-vp9", "av1", "libdav1d", "libaom-av1"),
}
_SOUNDS = {_MP4: ("aac", "mp3", "mp3float"), _WEBM: ("vorbis", "libvorbis", "opus", "libopus")}
_PROFILES = (66, 77, 88, 100)
"""Of H.264 (``avcC``, ISO/IEC 14496-15): baseline, main, extended, high."""


@dataclass(frozen=True, slots=True)
class Playable:
    """Whether browsers play a film as it is, its media type, and why not."""

    plays: bool
    media_type: str = ""
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
        name, names = container.format.long_name, container.format.name.split(",")
        # WebM and Matroska differ by what their head says
        if "mp4" in names:
            found = _MP4
        elif "webm" in names and b"\x42\x82\x84webm" in head:
            found = _WEBM
        else:
            name = "Matroska" if "matroska" in container.format.name else name
            return Playable(False, why=f"Browsers do not play files of this kind ({name}).")
        why = _picture(container, found)
    finally:
        container.close()
    if not why:
        track = choose_track(info, config.film.audio_track if config is not None else None)
        if track is not None and track.number != 0:
            why = f"Browsers play its first audio track, the lines were made for {track}."
        elif track is not None and track.codec not in _SOUNDS[found]:
            why = f"Browsers do not all play this sound ({track.codec})."
        elif abs(info.start) > MOST_OFF:
            why = f"Its clock begins at {float(info.start):.2f} s, from which browsers count differently."
    return Playable(not why, found, why)


def plays_picture(container: InputContainer) -> bool:
    """Whether browsers play the picture of an open film, were it in MP4."""
    return not _picture(container, _MP4)


def _picture(container: InputContainer, found: str) -> str:
    """Why browsers do not play the picture, or nothing."""
    streams = [s for s in container.streams.video if not is_cover(s)]
    if len(streams) != 1:
        return f"It has {len(streams)} tracks of picture."
    context: Any = streams[0].codec_context
    name = context.name if context is not None else "unknown"
    if name not in _PICTURES[found]:
        return f"Browsers do not all play this picture ({name})."
    extra = bytes(context.extradata or b"")
    if name == "h264" and context.pix_fmt not in ("yuv420p", "yuvj420p"):
        return f"Browsers play H.264 with 8 bits and 4:2:0 only, not {context.pix_fmt}."
    if name == "h264" and len(extra) >= 4 and extra[0] == 1 and extra[1] not in _PROFILES:
        return f"Browsers do not play H.264 of profile {extra[1]}."
    return ""
