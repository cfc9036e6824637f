"""Timestamps of copied packets: on film time, each with a decoding time that a muxer takes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shotad.sound.mux.containers import Container

if TYPE_CHECKING:
    from av import Packet

LONGEST = 64
"""Packets that are held at most until one says when it is decoded: four times as far as coders reorder."""


class Clock:
    """Puts one track's packets on film time, which is the container's less its ``start`` (exact seconds).

    Where packets do not say when they are to be decoded (Matroska does not), that is worked out from those
    that do; a decoding time that does not ascend, which no muxer takes, is moved behind the one before.
    """

    def __init__(self, start: Fraction, time_base: Fraction, rate: Fraction | None) -> None:
        self._shift = round(start / time_base)
        self._step = max(1, round(1 / (rate * time_base))) if rate else 1
        self._held: deque[Packet[Any]] = deque()
        self._last: int | None = None

    def take(self, packet: Packet[Any]) -> Iterator[Packet[Any]]:
        """The packets that can be written after one more has come."""
        if packet.pts is not None:
            packet.pts -= self._shift
        if packet.dts is not None:
            packet.dts -= self._shift
        if self._last is None and packet.dts is None and len(self._held) < LONGEST:
            self._held.append(packet)
            return
        yield from self._released(packet.dts)
        yield self._mended(packet)

    def rest(self) -> Iterator[Packet[Any]]:
        """What is still held at the end."""
        yield from self._released(None)

    def _released(self, known: int | None) -> Iterator[Packet[Any]]:
        """Held packets, decoded just before ``known``; where that is None, as late as their display lets."""
        held = list(self._held)
        self._held.clear()
        times = _backwards(held, known, self._step) if known is not None else _by_display(held)
        for packet, moment in zip(held, times, strict=True):
            packet.dts = moment
            yield self._mended(packet)

    def _mended(self, packet: Packet[Any]) -> Packet[Any]:
        if packet.dts is None and self._last is None:
            # A cover, which is outside of time.
            packet.dts = packet.pts or 0
        elif packet.dts is None and self._last is not None:
            after = self._last + (packet.duration or self._step)
            packet.dts = after if packet.pts is None else min(after, packet.pts)
        if self._last is not None and packet.dts is not None and packet.dts <= self._last:
            packet.dts = self._last + 1
        if packet.pts is None or (packet.dts is not None and packet.pts < packet.dts):
            packet.pts = packet.dts
        self._last = packet.dts
        return packet


def unheard(stream: Any, packet: Packet[Any], start: Fraction, hidden: bool) -> bool:
    """Whether a packet is one of sound that ends before the film starts and could only be heard by mistake.

    MP4 and MOV hide what coders need before the first sample, and what was cut away, by a list of edits.
    ``hidden``: the new container does so too. Elsewhere such packets would put all else later by their length
    (an AAC coder's 1024 or 2112 samples), so they are left out there; no player lets them be heard.
    """
    if hidden or stream.type != "audio" or packet.pts is None or not packet.time_base:
        return False
    base, end = packet.time_base, packet.pts + (packet.duration or 0)
    return end * base.numerator * start.denominator <= start.numerator * base.denominator


def hides(stream: Any, container: Container) -> bool:
    """Whether a container can say of a copied track of sound that its beginning is not to be heard.

    Matroska can for as many samples as the coder needs, which the libraries know where the film says it.
    """
    known = stream.codec_context is not None and stream.codec_context.delay > 0
    return container.boxes or (container.hides and known)


def _backwards(packets: list[Packet[Any]], known: int, step: int) -> list[int]:
    """Decoding times of packets that come just before the one that is decoded at ``known``."""
    times: list[int] = []
    for packet in reversed(packets):
        known -= packet.duration or step
        times.insert(0, known)
    return times


def _by_display(packets: list[Packet[Any]]) -> list[int | None]:
    """Decoding times out of display times: these in order, so much earlier that none is late."""
    shown = [packet.pts for packet in packets if packet.pts is not None]
    if len(shown) < len(packets):
        return [None] * len(packets)
    ordered = sorted(shown)
    early = max((due - at for due, at in zip(ordered, shown, strict=True)), default=0)
    return [due - early for due in ordered]
