"""Decoding by a graphics device, through ffmpeg's hardware decoders; frames come back as planes.

What the device gives is brought back to the layout that the processors' decoders give, which changes no
sample. H.264, HEVC, VP9 and AV1 leave a decoder no freedom, so all that is made of the frames is the same;
older codecs do (their inverse transforms may round differently), and are left to the processors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shotad.core import FilmError

if TYPE_CHECKING:
    from av import VideoFrame
    from av.codec.hwaccel import HWAccel

    from shotad.film.container import Media

EXACT_CODECS = frozenset({"h264", "hevc", "vp9", "av1", "libdav1d"})
"""Codecs whose decoders must agree to the last bit."""

PREFERRED = ("cuda", "videotoolbox", "vaapi", "d3d11va", "qsv")
"""Devices in the order in which ``auto`` tries them."""

_PLANES = {"nv12": "yuv420p", "p010le": "yuv420p10le", "p012le": "yuv420p12le"}


def hardware_for(media: Media, stream: int, wanted: str) -> tuple[HWAccel | None, str | None]:
    """The device that decodes a film's picture, if one does, and what a user should be told if not.

    ``wanted`` is ``cpu``, ``auto`` or a device's name. It is tried with the film's first frame.
    """
    if wanted == "cpu":
        return None, None
    from av.codec.hwaccel import hwdevices_available

    there = hwdevices_available()
    reasons = []
    for name in PREFERRED if wanted == "auto" else (wanted,):
        reason = _trouble(media, stream, name) if name in there else "this build of ffmpeg has no such device"
        if reason is None:
            return _device(name), None
        reasons.append(f"{name}: {reason}")
    told = f"The picture is decoded by the processors, for no device can ({'; '.join(reasons)})."
    return None, told


def planes_of(frame: VideoFrame) -> VideoFrame:
    """A device's frame with planes as the processors' decoders give them; any other frame as it is."""
    wanted = _PLANES.get(frame.format.name)
    return frame if wanted is None else frame.reformat(format=wanted)


def _device(name: str) -> HWAccel:
    from av.codec.hwaccel import HWAccel

    return HWAccel(device_type=name, allow_software_fallback=True)


def _trouble(media: Media, stream: int, name: str) -> str | None:
    """Why a device cannot decode the film; None where it can."""
    import av

    try:
        with media.open(_device(name)) as container:
            video: Any = container.streams.video[stream]
            if video.codec_context.name not in EXACT_CODECS:
                return f"{video.codec_context.name} is left to the processors"
            if not video.codec_context.is_hwaccel:
                return f"it does not decode {video.codec_context.name}"
            frame = next(container.decode(video), None)
            return None if frame is not None and frame.format.name in _PLANES else "it gives no frame"
    except FilmError:
        return "it cannot be opened on this machine"
    except (av.error.FFmpegError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        return str(getattr(error, "strerror", None) or error)
