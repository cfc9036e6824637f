"""The audio description's own tracks in a described film: its sound, coded while the film is copied, and
its text.

Subtitles of the film that another container holds in another form are converted here, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shotad.core import FilmInfo, Interval
from shotad.core.errors import SoundError
from shotad.film import SoundBlock
from shotad.sound.containers import Container
from shotad.sound.layouts import possible_layouts, remixed
from shotad.sound.loudness import DOWNMIXED_PEAK

if TYPE_CHECKING:
    from av import Packet
    from av.audio.stream import AudioStream


@dataclass(frozen=True, slots=True, eq=False)
class AdSound:
    """The sound of the AD track: ``blocks`` follow each other without gap from film second 0.

    ``layout`` is ffmpeg's name of the channels (``stereo``, ``5.1(side)``), ``rate`` samples a second. Blocks
    are taken one by one, while the film is written. Where the codec has fewer channels, they are mixed and
    stay under ``true_peak`` dBTP.
    """

    blocks: Iterable[SoundBlock]
    layout: str
    rate: int
    true_peak: float = DOWNMIXED_PEAK


AdText = Sequence[tuple[Interval, str]]
"""A text track of descriptions: when (film seconds, ascending, none over another) and what."""


ENCODERS = {"opus": "libopus", "mp3": "libmp3lame", "vorbis": "libvorbis"}
"""ffmpeg's encoder where it is not called like the codec."""

_RATES = {
    "aac": (64, 48),
    "ac3": (96, 75),
    "eac3": (96, 64),
    "mp2": (128, 128),
    "opus": (64, 48),
    "mp3": (96, 96),
}
"""Thousand bits a second: of one channel, and of each where there are more."""

_AC3_RATES = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640)


@dataclass(frozen=True, slots=True)
class Coding:
    """How the AD is coded: codec, encoder, layout and rate that it takes, bits a second (0: its own).

    ``frame`` is the number of samples in a packet, ``delay`` that of the samples that the encoder adds
    before the first.
    """

    codec: str
    encoder: str
    layout: str
    rate: int
    bit_rate: int
    frame: int
    delay: int


def choose_coding(sound: AdSound, container: Container, info: FilmInfo, codec: str) -> Coding:
    """The coding for a container: that of ``codec`` or, where it is ``auto``, what players there know.

    Raises SoundError where the container or the encoder cannot take it.
    """
    if codec != "auto":
        name = {encoder: codec for codec, encoder in ENCODERS.items()}.get(codec, codec)
        if name not in container.audio:
            raise SoundError(
                f"{container.name} cannot hold a track of {codec}.",
                f"Set the codec to auto, or to one of {', '.join(sorted(container.audio))}.",
            )
        if (found_coding := find_coding(name, sound.layout, sound.rate)) is not None:
            return found_coding
        raise SoundError(
            f"{codec} cannot be written with {sound.layout} sound at {sound.rate} Hz.",
            "Set the codec to auto.",
        )
    own = info.default_audio.codec if info.default_audio is not None else ""
    first = [own] if own in container.speech else []
    for name in (*first, container.speech[0]):
        found_coding = find_coding(name, sound.layout, sound.rate)
        if found_coding is not None:
            return found_coding
    raise SoundError(
        f"Sound of {sound.layout} at {sound.rate} Hz cannot be written to {container.name}.",
        "Mix to stereo or 5.1.",
    )


def find_coding(codec: str, layout: str, rate: int, times: float = 1) -> Coding | None:
    """The coding of sound of this layout and rate, or of those nearest to it that players know, at so many
    ``times`` the usual bit rate; None where there is no encoder of the codec that takes it."""
    from av.codec.codec import UnknownCodecError

    encoder = ENCODERS.get(codec, codec)
    for samples in dict.fromkeys([rate, 48000]):
        for name in possible_layouts(codec, layout):
            bits = usual_bit_rate(codec, _channels(name), times)
            try:
                frame, delay = _test_encoder(encoder, name, samples, bits)
            except UnknownCodecError:
                return None
            except (ValueError, OSError):
                continue
            return Coding(codec, encoder, name, samples, bits, frame, delay)
    return None


def _channels(layout: str) -> int:
    from av import AudioLayout

    return AudioLayout(layout).nb_channels


def usual_bit_rate(codec: str, channels: int, times: float = 1) -> int:
    """Bits a second at which speech over a film's sound is clean, or so many ``times`` as many: ``aac``,
    6 channels → 288000."""
    if codec not in _RATES:
        return 0
    mono_rate, channel_rate = _RATES[codec]
    usual = (
        mono_rate
        if channels == 1
        else channel_rate * channels + (64 if channels == 2 and codec == "aac" else 0)
    )
    kilobits = round(usual * times)
    if codec in ("ac3", "eac3"):
        kilobits = min(_AC3_RATES, key=lambda size: (abs(size - kilobits), size))
    if codec in ("mp2", "mp3"):
        kilobits = min(kilobits, 192 if channels == 1 else 320)  # the most that the standard has
    return kilobits * 1000


def _test_encoder(encoder: str, layout: str, rate: int, bits: int) -> tuple[int, int]:
    """Samples in a packet and delay of an encoder, found by coding silence. Raises where it cannot."""
    from av import AudioFrame
    from av.audio.codeccontext import AudioCodecContext

    context = AudioCodecContext.create(encoder, "w")
    assert isinstance(context, AudioCodecContext), encoder
    formats = context.codec.audio_formats
    if formats:
        context.format = formats[0]
    _configure(context, layout, rate, bits)
    context.open()
    size = context.frame_size or 1024
    # Interleaved: of eight planes and more PyAV 18.1 reads one too many, and crashes.
    silence = np.zeros((1, size * _channels(layout)), np.float32)
    frame = AudioFrame.from_ndarray(silence, format="flt", layout=layout)
    frame.sample_rate, frame.time_base = rate, Fraction(1, rate)
    for count in range(16):
        frame.pts = count * size
        for packet in context.encode(frame):
            return size, -(packet.pts or 0)
    return size, 0


def _configure(context: Any, layout: str, rate: int, bits: int) -> None:
    context.layout, context.sample_rate, context.time_base = layout, rate, Fraction(1, rate)
    context.thread_count = 1
    if bits:
        context.bit_rate = bits


def sound_packets(
    stream: AudioStream, sound: AdSound, coding: Coding, seconds: float, hides: bool
) -> Iterator[Packet[Any]]:
    """Packets of ``sound`` on film time, ascending; ``stream`` is the one in the film that is written.

    Where the container cannot hide an encoder's first samples (``hides``), packets stand on a grid that has
    film second 0 on it, and what lies before is left out; else the encoder's own timestamps say what is to be
    skipped. ``seconds`` is the film's length, to which the sound is cut or filled with silence.
    """
    from av import AudioFrame

    blocks = remixed(sound.blocks, sound.layout, coding.layout, sound.true_peak)
    sound = replace(sound, blocks=blocks, layout=coding.layout)
    lead = 0
    if coding.frame and not hides:
        # Samples of silence before film second 0 which put that second between two packets.
        lead = round(-coding.delay % coding.frame * sound.rate / coding.rate)
    at = -lead
    for samples in _exactly(sound, lead, round(seconds * sound.rate)):
        woven = np.ascontiguousarray(samples.reshape(1, -1))
        # Named as the encoder names its channels: the same ones in the same order, so nothing is mixed.
        frame = AudioFrame.from_ndarray(woven, format="flt", layout=coding.layout)
        frame.sample_rate, frame.time_base = sound.rate, Fraction(1, sound.rate)
        frame.pts = at
        at += len(samples)
        yield from (packet for packet in stream.encode(frame) if hides or (packet.pts or 0) >= 0)
    yield from (packet for packet in stream.encode(None) if hides or (packet.pts or 0) >= 0)


def _exactly(sound: AdSound, lead: int, total: int) -> Iterator[npt.NDArray[np.float32]]:
    """The sound as ``total`` samples, with ``lead`` samples of silence before it."""
    channels = _channels(sound.layout)
    if lead:
        yield np.zeros((lead, channels), np.float32)
    sample_count = 0
    for block in sound.blocks:
        samples = block.samples.reshape(len(block.samples), -1)[: total - sample_count]
        if samples.shape[1] != channels:
            raise ValueError(f"a block must have {channels} channels, got shape {block.samples.shape}")
        samples = samples.astype(np.float32, copy=False)
        sample_count += len(samples)
        if len(samples):
            yield samples
        if sample_count >= total:
            return
    for start in range(sample_count, total, sound.rate):
        yield np.zeros((min(sound.rate, total - start), channels), np.float32)


def add_sound(output: Any, coding: Coding, **options: str) -> AudioStream:
    """A stream of sound in a film that is being written. No metadata is set yet."""
    stream: AudioStream = output.add_stream(coding.encoder, rate=coding.rate, options=options)
    _configure(stream.codec_context, coding.layout, coding.rate, coding.bit_rate)
    stream.time_base = Fraction(1, coding.rate)
    return stream


MILLISECOND = Fraction(1, 1000)

_ASS_HEADER = """[Script Info]
ScriptType: v4.00+
PlayResX: 384
PlayResY: 288

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, \
Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, \
MarginR, MarginV, Encoding
Style: Default,Arial,16,&Hffffff,&Hffffff,&H0,&H0,0,0,0,0,100,100,0,0,1,1,0,2,10,10,10,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""
"""What ffmpeg's encoders of text want to know of looks: plain, at the bottom."""


def add_text(output: Any, codec: str, header: bytes | None = None) -> Any:
    """A text stream of that codec in a film that is being written; ``header`` are the styles in ASS."""
    if codec == "mov_text":
        # Its encoder writes the sample description that players want.
        stream = output.add_stream(codec)
        stream.codec_context.subtitle_header = header or _ASS_HEADER.encode()
        stream.codec_context.time_base = MILLISECOND
    else:
        stream = output.add_mux_stream(codec)
    stream.time_base = MILLISECOND
    return stream


def text_packets(stream: Any, text: AdText, codec: str) -> Iterator[Packet[Any]]:
    """The descriptions as packets on film time, ascending."""
    from av import Packet

    for interval, words in text:
        start, end = round(interval.start * 1000), round(interval.end * 1000)
        packet = Packet(coded_text(words, codec))
        packet.stream = stream
        packet.pts = packet.dts = start
        packet.duration, packet.time_base = max(1, end - start), MILLISECOND
        yield packet


def coded_text(words: str, codec: str) -> bytes:
    """A cue's words as a codec carries them; blank lines, which end a cue in text files, are taken out."""
    plain = "\n".join(line for line in words.splitlines() if line.strip())
    if codec == "mov_text":
        data = plain.encode()
        return len(data).to_bytes(2) + data
    if codec == "webvtt":
        for mark, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
            plain = plain.replace(mark, name)
    return plain.encode()


class Converter:
    """Turns packets of one text codec into those of another, by ffmpeg's own subtitle coders."""

    def __init__(self, source: Any, codec: str) -> None:
        from av.codec.context import CodecContext

        self._decoder: Any = source.codec_context
        self._encoder: Any = CodecContext.create(codec, "w")
        self.codec = codec
        self.stream: Any = None

    def add(self, output: Any) -> Any:
        """The stream for it."""
        header = self._decoder.subtitle_header or _ASS_HEADER.encode()
        self._encoder.subtitle_header = header
        self._encoder.time_base = MILLISECOND
        self.stream = add_text(output, self.codec, header)
        return self.stream

    def convert(self, packet: Packet[Any]) -> Iterator[Packet[Any]]:
        """The packet in the other codec; nothing for one without text. Times are the packet's own."""
        from av import Packet as Made
        from av.error import FFmpegError

        base = packet.time_base or MILLISECOND
        if packet.pts is None or not packet.size:
            return
        try:
            decoded = self._decoder.decode2(packet)
            data = bytes(self._encoder.encode_subtitle(decoded)) if decoded is not None else b""
        except (FFmpegError, UnicodeError):
            return
        # Without a word: a length of 0, or nothing but blanks.
        if data[:2] == b"\0\0" if self.codec == "mov_text" else not data.strip(b"\0 \r\n"):
            return
        converted = Made(data)
        converted.stream = self.stream
        converted.pts = converted.dts = round(packet.pts * base / MILLISECOND)
        converted.duration = max(1, round((packet.duration or 0) * base / MILLISECOND))
        converted.time_base = MILLISECOND
        yield converted
