"""Text in a film: the track of descriptions, and subtitles that are converted for another container."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shotad.sound.mux.kinds import AdText

if TYPE_CHECKING:
    from av import Packet

MILLISECOND = Fraction(1, 1000)

_HEADER = """[Script Info]
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
        stream.codec_context.subtitle_header = header or _HEADER.encode()
        stream.codec_context.time_base = MILLISECOND
    else:
        stream = output.add_mux_stream(codec)
    stream.time_base = MILLISECOND
    return stream


def text_packets(stream: Any, text: AdText, codec: str) -> Iterator[Packet[Any]]:
    """The descriptions as packets on film time, ascending."""
    for interval, words in text.cues:
        yield text_packet(stream, codec, words, round(interval.start * 1000), round(interval.end * 1000))


def text_packet(stream: Any, codec: str, words: str, start: int, end: int) -> Packet[Any]:
    """One cue, from and to whole milliseconds."""
    from av import Packet

    packet = Packet(coded_text(words, codec))
    packet.stream = stream
    packet.pts = packet.dts = start
    packet.duration, packet.time_base = max(1, end - start), MILLISECOND
    return packet


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


def decoded_text(data: bytes, codec: str) -> str:
    """The words of a packet of the text track, as `coded_text` wrote them."""
    if codec == "mov_text":
        return data[2 : 2 + int.from_bytes(data[:2])].decode("utf-8", "replace")
    plain = data.decode("utf-8", "replace").rstrip("\n")
    if codec == "webvtt":
        for mark, name in ((">", "&gt;"), ("<", "&lt;"), ("&", "&amp;")):
            plain = plain.replace(name, mark)
    return plain


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
        header = self._decoder.subtitle_header or _HEADER.encode()
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
        if not data or not _says(data, self.codec):
            return
        made = Made(data)
        made.stream = self.stream
        made.pts = made.dts = round(packet.pts * base / MILLISECOND)
        made.duration = max(1, round((packet.duration or 0) * base / MILLISECOND))
        made.time_base = MILLISECOND
        yield made


def _says(data: bytes, codec: str) -> bool:
    return data[:2] != b"\0\0" if codec == "mov_text" else bool(data.strip(b"\0 \r\n"))
