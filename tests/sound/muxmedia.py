"""Films with many tracks, sound with bursts of noise, and how those are found again."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core import Interval
from shotad.core.config.sound import ContainerSettings
from shotad.film import Film, SoundBlock, open_film, sound_blocks
from shotad.script import Finding
from shotad.sound.ad_tracks import AdSound
from shotad.sound.check_film import check_film
from shotad.sound.mux_film import write_film
from tests.media import FilmSpec, SoundSpec, make_film, media_folder
from tests.sound.tones import Samples, blocks, noise, onset, whole

RATE = 48000
CUES = ((Interval(0.25, 1.0), "A man & his <dog> run."), (Interval(1.25, 1.75), "They stop.\nThey wait."))
ONSETS = (0.2567, 1.1004, 1.6)
METADATA = {"comment": "Audio description made by machine.", "reviewer": "Ann"}


def stereo(**more: Any) -> SoundSpec:
    return SoundSpec(layout="stereo", language="eng", default=True, **more)


H264 = {
    "plain": FilmSpec(b_frames=2, sounds=(stereo(),)),
    "late": FilmSpec(suffix=".mkv", shift=5.368, b_frames=2, sounds=(stereo(start=0.3, duration=1.7),)),
    "vfr": FilmSpec(
        times=tuple(0.04 * i + (0.013 if i % 3 else 0) + (0.3 if i > 30 else 0) for i in range(42)),
        time_base=Fraction(1, 1000),
        sounds=(stereo(),),
    ),
    "5.1": FilmSpec(
        suffix=".mkv", sounds=(SoundSpec(layout="5.1", codec="ac3", language="eng", default=True),)
    ),
    "silent": FilmSpec(),
    "ntsc": FilmSpec(rate=Fraction(30000, 1001), frames=60, b_frames=2, sounds=(stereo(rate=44100),)),
    "broadcast": FilmSpec(
        suffix=".ts", shift=1.72, b_frames=2, sounds=(SoundSpec(layout="stereo", codec="ac3"),)
    ),
}
VP8 = {
    name: replace(
        film, suffix=".webm", codec="libvpx", b_frames=0,
        sounds=tuple(replace(sound, codec="libopus", rate=48000) for sound in film.sounds),
    )
    for name, film in H264.items()
    if name != "broadcast"
}  # fmt: skip
TWO = FilmSpec(
    suffix=".mkv",
    b_frames=2,
    shift=2.0,
    sounds=(
        SoundSpec(language="ger", title="Deutsch", codec="ac3", layout="stereo"),
        SoundSpec(language="eng", title="English", default=True),
    ),
)


def copied(
    source: Path,
    target: Path,
    change: Callable[[Any], Any] = lambda packet: packet,
    *,
    keep: Callable[[Any], bool] = lambda stream: True,
    add: Callable[[Any, dict[int, Any]], None] = lambda film, tracks: None,
    **options: Any,
) -> Path:
    """A copy through PyAV: of the tracks that are kept each packet, changed (None: left out). ``add`` gets the new
    film and its tracks by their numbers in the old one, before any packet."""
    import av

    with av.open(str(source)) as old, av.open(str(target), "w", **options) as new:
        ways: dict[int, Any] = {}
        for stream in filter(keep, old.streams):
            ways[stream.index] = way = new.add_stream_from_template(stream, opaque=True)
            way.disposition = stream.disposition
            way.metadata.update(stream.metadata)
        add(new, ways)
        for packet in old.demux():
            if packet.size and packet.stream.index in ways and (changed := change(packet)) is not None:
                changed.stream = ways[packet.stream.index]
                new.mux(changed)
    return target


def add_cues(film: Any, words: Any, cues: Iterable[tuple[int, bytes]], length: int) -> None:
    """Packets of subtitles at these milliseconds."""
    from av import Packet

    words.time_base = Fraction(1, 1000)
    for start, data in cues:
        packet = Packet(data)
        packet.stream, packet.time_base, packet.duration = words, words.time_base, length
        packet.pts = packet.dts = start
        film.mux(packet)


@functools.cache
def rich_film() -> Path:
    """Two sounds, subtitles, chapters, an attachment, a cover: Matroska that starts at 2 s."""
    import cv2
    from av.stream import Disposition

    def add(film: Any, tracks: dict[int, Any]) -> None:
        tracks[1].disposition = tracks[1].disposition | Disposition.original
        words = film.add_mux_stream("subrip")
        words.time_base, words.disposition = Fraction(1, 1000), Disposition.hearing_impaired
        words.metadata.update({"language": "eng", "title": "SDH"})
        film.add_attachment("font.ttf", "application/x-truetype-font", b"no font" * 100)
        picture = cv2.imencode(".jpg", np.full((320, 320, 3), 200, np.uint8))[1].tobytes()
        film.add_attachment("cover.jpg", "image/jpeg", picture)
        film.metadata.update({"title": "Two of them", "artist": "Ann", "IMDB": "tt1"})
        base = Fraction(1, 1000)
        film.set_chapters([
            {"id": 1, "start": 2000, "end": 3000, "time_base": base, "metadata": {"title": "One"}},
            {"id": 2, "start": 3000, "end": 4000, "time_base": base, "metadata": {"title": "Two"}},
        ])  # fmt: skip
        add_cues(film, words, ((2400, b"<i>Oh</i> & no"), (3300, b"Two\nlines")), 500)

    return copied(make_film(TWO).path, media_folder() / "rich.mkv", add=add)


def film_for(name: str, ending: str) -> Path:
    """The film of that name, in codecs that a container with this ending holds."""
    if name == "two":
        return rich_film()
    return make_film((VP8 if ending == ".webm" else H264)[name]).path


@functools.cache
def burst() -> Samples:
    """``float32[n]``: noise of 0.2 s, like nothing but itself."""
    return np.asarray(noise(0.2, 7)[:, 0] * 0.2, np.float32)


def ad_sound(parts: Iterable[SoundBlock], layout: str = "stereo") -> AdSound:
    """Blocks at 48 kHz as the sound of an AD track."""
    return AdSound(parts, layout, RATE)


def bursts(seconds: float, layout: str) -> Samples:
    """``float32[n, channels]``: silence with a burst at each of `ONSETS`, on all channels alike."""
    from av import AudioLayout

    samples = np.zeros((round(seconds * RATE), AudioLayout(layout).nb_channels), np.float32)
    for second in ONSETS:
        at = round(second * RATE)
        part = burst()[: max(0, len(samples) - at)]
        samples[at : at + len(part)] = part[:, None]
    return samples


def written(
    source: Path,
    target: Path,
    layout: str = "stereo",
    language: str = "en-GB",
    *,
    parts: Iterable[SoundBlock] | None = None,
    with_sound: bool = True,
    metadata: Mapping[str, str] = METADATA,
    **settings: Any,
) -> Any:
    """The film at ``source`` described with cues, and with bursts or the ``parts`` of another sound, at ``target``;
    what came of it."""
    with open_film(source) as film:
        sound = None
        if with_sound:
            sound = ad_sound(parts or blocks(bursts(film.info.duration, layout)), layout)
        return write_film(
            film, target, sound=sound, text=CUES, language=language, settings=ContainerSettings(**settings),
            metadata=metadata,
        )  # fmt: skip


def checked(target: Path, film: Film, assembly: Any, **expected: Any) -> tuple[Finding, ...]:
    """What is wrong with a described film, which is to be as it was written, or otherwise."""
    assembly = copy.copy(assembly)
    for name, value in expected.items():
        assert hasattr(assembly, name)
        setattr(assembly, name, value)
    return check_film(target, film, assembly)


def findings_on(source: Path, target: Path, assembly: Any, **expected: Any) -> list[str]:
    """The messages of rule A2 on a described film."""
    with open_film(source) as film:
        findings = checked(target, film, assembly, **expected)
    assert all(finding.rule == "A2" for finding in findings)
    return [finding.message for finding in findings]


def burst_shifts(path: Path, track: int, channel: int = 0) -> list[float]:
    """Seconds by which each burst in a track of sound is off its place, by cross-correlation."""
    with open_film(path) as film:
        wave = whole(sound_blocks(film, track, RATE, "native"))
    return [onset(wave[:, channel], burst(), round(at * RATE)) / RATE - at for at in ONSETS]


def frame_seconds(path: Path) -> list[float]:
    """Seconds of all pictures."""
    with open_film(path) as film:
        return [frame.seconds for frame in film.frames()]


@dataclass(frozen=True)
class Track:
    """A track as a file shows it. ``marks`` are ffmpeg's names of its dispositions."""

    number: int
    kind: str
    codec: str
    language: str
    title: str
    handler: str
    marks: tuple[str, ...]


def describe_tracks(path: Path) -> list[Track]:
    """All tracks of a film file, in order."""
    import av
    from av.stream import Disposition

    tracks = []
    with av.open(str(path)) as film:
        for stream in film.streams:
            context = stream.codec_context
            codec = context.codec.canonical_name if context is not None else getattr(stream, "name", None)
            tags = {key.lower(): value for key, value in stream.metadata.items()}
            language = tags.get("language", "").replace("und", "")
            title = tags.get("title") or tags.get("name") or ""
            marks = tuple(flag.name for flag in Disposition if stream.disposition & flag and flag.name)
            handler = tags.get("handler_name", "")
            tracks.append(Track(stream.index, stream.type, str(codec), language, title, handler, marks))
    return tracks
