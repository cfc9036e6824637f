"""The ways of packets into a described film: out of the film's tracks, and woven together by their time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shotad.sound.mux.kinds import Copied
from shotad.sound.mux.payload import Payload, is_pause
from shotad.sound.mux.text_track import Converter
from shotad.sound.mux.timing import Clock

if TYPE_CHECKING:
    from av import Packet

MICROSECOND = Fraction(1, 1_000_000)


@dataclass(slots=True, eq=False)
class Way:
    """The way of one of the film's tracks into the described film."""

    stream: Any
    clock: Clock
    payload: Payload
    converter: Converter | None
    source: int
    kind: str
    hidden: bool

    def send(self, packet: Packet[Any]) -> Iterator[Packet[Any]]:
        """What goes into the new track for a packet of the old one."""
        if self.converter is not None:
            yield from self.converter.convert(packet)
            return
        if is_pause(self.payload.codec, memoryview(packet)):
            return
        self.payload.add(memoryview(packet))
        packet.stream = self.stream
        yield packet

    def copied(self) -> Copied:
        """What was copied so far."""
        found = self.payload
        return Copied(self.source, self.kind, found.codec, found.packets, found.digest)


class Woven:
    """Packets of several tracks in the order of their time, each taken when it is wanted."""

    def __init__(self, tracks: Iterable[Iterator[Packet[Any]]]) -> None:
        self._next = [(iterator, next(iterator, None)) for iterator in tracks]

    def until(self, moment: float) -> Iterator[Packet[Any]]:
        """All packets that are decoded before film second ``moment``."""
        while waiting := [
            (second_of(packet), place)
            for place, (_, packet) in enumerate(self._next)
            if packet is not None and second_of(packet) < moment
        ]:
            place = min(waiting)[1]
            iterator, packet = self._next[place]
            assert packet is not None
            yield packet
            self._next[place] = (iterator, next(iterator, None))


def second_of(packet: Packet[Any]) -> float:
    """When a packet is decoded."""
    moment = packet.dts if packet.dts is not None else packet.pts
    base = packet.time_base or MICROSECOND
    return (moment or 0) * base.numerator / base.denominator
