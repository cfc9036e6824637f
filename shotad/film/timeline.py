"""One timeline for a film whose clock jumps.

Two recordings that were joined (``cat a.ts b.ts``), a receiver that was started again, a disc's titles in one
file: in such a file the clock begins again, or runs ahead over nothing. ``find_timeline`` reads every packet
once, undecoded, and parts the file into sections of one clock each. Every section but the first is moved so
that it begins where all before it ends; picture, sound and subtitles of a section are moved by the same time,
so that they stay together. FFmpeg's own programs do the like (``-dts_delta_threshold``).

Sections are found from the order in which packets stand in the file. So a film with a timeline is always read
from its beginning: after a seek nobody knows which section a packet is of.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

AHEAD = 10.0
"""Seconds. When all tracks go on later by more than this, the clock has jumped; FFmpeg's own threshold. What
is less is a gap in the recording."""

BACK = 0.1
"""Seconds by which a decoding time may lie before the one before, as damaged streams have it."""

REORDERED = 1.0
"""The same for a presentation time: coders put pictures in another order, by less than this."""

APART = 2.0
"""Seconds between the times of decoding and showing that no coder needs."""

SURE = 1.0
"""Seconds between two packets of a track that leave no doubt that they are of one section."""

RECENT = 8
"""Sections to which a track may come back. A single wrong time makes one, and the next packet comes back."""


LASTING = 0.5
"""Seconds of a section that is worth a word."""

MOST = 2000
"""Sections of a film. One with more is so damaged that the rest is taken as it comes."""


@dataclass(frozen=True, slots=True)
class ClockTimeline:
    """How the packets of a film are moved on to one clock, that of its first section.

    ``moves`` has for each stream the numbers of the packets from which on a shift counts, and the shift in
    ticks of that stream. ``start`` and ``ends`` are seconds on that clock: where the film begins, and where
    each stream of picture or sound ends. ``jumps`` counts the sections after the first that last; a single
    packet with a wrong time is none. ``has_decoding_times``: whether the container has them.
    """

    moves: Mapping[int, tuple[tuple[int, int], ...]]
    start: Fraction
    ends: Mapping[int, Fraction]
    jumps: int
    has_decoding_times: bool

    @property
    def end(self) -> Fraction:
        """The second at which the last of picture and sound ends."""
        return max(self.ends.values())


class PacketMover:
    """Moves the packets of a film that is read from its beginning; each must be given once, in order."""

    def __init__(self, timeline: ClockTimeline) -> None:
        self._moves, self._has_decoding_times = timeline.moves, timeline.has_decoding_times
        self._packets: dict[int, int] = {}
        self._place: dict[int, int] = {}

    def move(self, packet: Any) -> None:
        """Put the packet's times on to the film's one clock."""
        if not packet.size:
            return
        stream = packet.stream_index
        number = self._packets.get(stream, 0)
        self._packets[stream] = number + 1
        moves = self._moves.get(stream, ())
        place = self._place.get(stream, 0)
        while place < len(moves) and moves[place][0] <= number:
            place += 1
        self._place[stream] = place
        shift = moves[place - 1][1] if place else 0
        if shift and packet.pts is not None:
            packet.pts += shift
        if shift and packet.dts is not None:
            packet.dts += shift
        if packet.dts is None or packet.pts is None or not packet.time_base:
            return
        # Where ffmpeg guesses decoding times it does so from before a joint, and after it too.
        apart = abs(packet.pts - packet.dts) * packet.time_base
        if apart > APART or not self._has_decoding_times:
            packet.dts = None


@dataclass(slots=True)
class _Section:
    """A part of the file with one clock; seconds on that clock.

    ``latest`` is the decoding time of its last packet so far; ``first`` and ``ends`` are when each stream
    begins in it and how far it has come, in the stream's ticks; ``before`` is where each earlier section had
    ended when this one began. ``shift`` puts it on the film's clock, not yet to the tick.
    """

    latest: float
    shift: float = 0.0
    first: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    before: tuple[Fraction | None, ...] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a track has come to: its last packet's decoding time and end, on the clock of a section."""

    section: int
    last: float
    end: float

    def leads_to(self, seconds: float, back: float, ahead: float) -> bool:
        """Whether a packet at ``seconds`` may come next."""
        return seconds - self.last >= -back and seconds - self.end <= ahead


@dataclass(frozen=True, slots=True)
class _Doubted:
    """A packet whose time of showing was not believed: that time, in ticks, and where its track was."""

    shown: int
    place: _Place
    sure: _Place | None


@dataclass(slots=True)
class _Track:
    """A stream of picture or sound while packets are read. ``changes`` are the packets with which other
    sections begin; ``sure`` is the place before the last packet, where that one came unexpectedly.
    ``doubted`` is the last packet, where it was not believed when it is shown."""

    base: Fraction
    place: _Place
    changes: list[tuple[int, int]]
    sure: _Place | None = None
    doubted: _Doubted | None = None

    def change(self, number: int, section: int) -> None:
        """From this packet on the track is in that section."""
        if section != (self.changes[-1][1] if self.changes else 0):
            self.changes.append((number, section))


class SectionFinder:
    """Parts the packets of a film, in their order in the file, into sections of one clock each."""

    def __init__(self, timed: Iterable[int], *, jumps_ahead: bool, has_decoding_times: bool) -> None:
        """``timed`` are the streams of picture and sound.

        ``jumps_ahead``: whether a clock that runs ahead in all of them has jumped, or just nothing happens
        there; ``has_decoding_times``: whether the container has them, or ffmpeg guesses.
        """
        self._timed = frozenset(timed)
        self._has_decoding_times = has_decoding_times
        self._ahead = AHEAD if jumps_ahead else math.inf
        self._sections: list[_Section] = []
        self._tracks: dict[int, _Track] = {}
        self._others: dict[int, tuple[Fraction, list[tuple[int, int]]]] = {}
        self._count: dict[int, int] = {}

    def add(self, packet: Any) -> None:
        """Take the next packet of the file."""
        if not packet.size:
            return
        stream, base = packet.stream_index, packet.time_base
        number = self._count.get(stream, 0)
        self._count[stream] = number + 1
        shown_ticks = packet.dts if packet.pts is None else packet.pts
        if shown_ticks is None or not base:
            return
        is_told = self._has_decoding_times and packet.dts is not None
        decoded_ticks = packet.dts if is_told else shown_ticks
        tick = base.numerator / base.denominator
        shown, decoded = shown_ticks * tick, decoded_ticks * tick
        if stream not in self._timed:
            self._add_other(stream, number, base, decoded)
            return
        track = self._tracks.get(stream)
        if track is None:
            section = self._nearest(decoded) if self._sections else self._begin(decoded, shown)
            track = self._tracks[stream] = _Track(base, _Place(section, decoded, decoded), [])
            track.change(number, section)
        elif abs(shown - decoded) > APART and not self._bears_out(track, stream, number, shown, tick):
            # One of the two times is wrong: damage. The other tells where the packet belongs.
            if track.place.leads_to(shown, REORDERED, SURE):
                decoded = shown
            else:
                track.doubted = _Doubted(shown_ticks, track.place, track.sure)
                shown_ticks = decoded_ticks
                self._go_on(track, stream, number, decoded, decoded, BACK)
        elif abs(shown - decoded) > APART:
            decoded = shown
            self._go_on(track, stream, number, shown, shown, REORDERED)
        else:
            self._bears_out(track, stream, number, shown, tick)
            back = BACK if is_told else REORDERED
            self._go_on(track, stream, number, decoded, shown, back)
        length = packet.duration or 0
        section = track.place.section
        track.place = _Place(section, decoded, decoded + length * tick)
        if track.doubted is None or stream not in self._sections[section].ends:
            self._note(self._sections[section], stream, decoded, shown_ticks, shown_ticks + length)

    def _bears_out(self, track: _Track, stream: int, number: int, shown: float, tick: float) -> bool:
        """Whether the packet before was doubted, and is shown just before this one after all.

        Then its decoding time was wrong, which ffmpeg guesses from before a joint where the container has
        none; the packet is put where it says that it is shown.
        """
        doubted, track.doubted = track.doubted, None
        if doubted is None or not -REORDERED <= shown - doubted.shown * tick <= SURE:
            return False
        before = doubted.shown * tick
        track.place, track.sure = doubted.place, doubted.sure
        track.change(number - 1, track.place.section)
        self._go_on(track, stream, number - 1, before, before, REORDERED)
        section = track.place.section
        track.place = _Place(section, before, before)
        self._note(self._sections[section], stream, before, doubted.shown, doubted.shown)
        return True

    def _go_on(
        self, track: _Track, stream: int, number: int, decoded: float, shown: float, back: float
    ) -> None:
        """Put a track into the section of its next packet, which is decoded and shown at these moments."""
        place = track.place
        if place.leads_to(decoded, back, SURE):
            track.sure = place if decoded - place.end > BACK else None
            return
        if track.sure is not None and track.sure.leads_to(decoded, back, SURE):
            # Only the packet before this one was wrong. It is moved to where it was expected.
            if place.section == track.sure.section:
                wrong = self._begin(place.last, place.last)
                ticks = round(place.last / track.base)
                self._note(self._sections[wrong], stream, place.last, ticks, ticks)
                track.change(number - 1, wrong)
            track.place, track.sure = track.sure, None
            track.change(number, track.place.section)
            return
        section = self._section_of(place, decoded, back)
        if section is None:
            section = self._begin(decoded, shown)
        track.place, track.sure = _Place(section, decoded, decoded), place
        track.change(number, section)

    @staticmethod
    def _note(section: _Section, stream: int, seconds: float, shown: int, end: int) -> None:
        """Remember how far a section has come."""
        section.latest = max(section.latest, seconds)
        section.first.setdefault(stream, shown)
        if stream not in section.ends or end > section.ends[stream]:
            section.ends[stream] = end

    def _section_of(self, place: _Place, seconds: float, back: float) -> int | None:
        """The section of a track's next packet, where it is its own or one that has begun."""
        own = self._sections[place.section]
        fitting: list[tuple[float, int]] = []
        recent = range(max(0, len(self._sections) - RECENT), len(self._sections))
        for number in sorted({place.section, *recent}):
            section = self._sections[number]
            shown = seconds + section.shift
            if shown - (place.last + own.shift) < -back:
                continue
            # Another track may have gone on while this one paused.
            near = abs(seconds - section.latest) <= AHEAD
            goes_on = number == place.section and seconds - place.end <= self._ahead
            # A picture of a transport stream is known to be whole only when the next one comes. Of pictures
            # that stay for long, that is long after the sound around them.
            is_late = (
                number == place.section == len(self._sections) - 1 and place.end <= seconds <= section.latest
            )
            if near or goes_on or is_late:
                fitting.append((abs(shown - (place.end + own.shift)), number))
        return min(fitting)[1] if fitting else None

    def _begin(self, seconds: float, shown: float) -> int:
        """A new section, which begins where all before it ends; its first packet is decoded at ``seconds``
        and shown at ``shown``."""
        if len(self._sections) >= MOST:
            return len(self._sections) - 1
        before = tuple(max(self._seconds(section.ends).values(), default=None) for section in self._sections)
        ends = [
            float(end) + section.shift
            for end, section in zip(before, self._sections, strict=True)
            if end is not None
        ]
        shift = max(ends) - shown if ends else 0.0
        self._sections.append(_Section(seconds, shift, before=before))
        return len(self._sections) - 1

    def _nearest(self, seconds: float) -> int:
        """The section by whose clock a packet comes nearest to what is being shown."""
        newest = self._sections[-1]
        now = newest.latest + newest.shift
        first = max(0, len(self._sections) - RECENT)
        numbers = range(len(self._sections) - 1, first - 1, -1)
        return min(numbers, key=lambda number: abs(seconds + self._sections[number].shift - now))

    def _add_other(self, stream: int, number: int, base: Fraction, seconds: float) -> None:
        """Subtitles and data come seldom: each goes with the pictures and sounds around it."""
        if not self._sections:
            return
        _, changes = self._others.setdefault(stream, (base, []))
        section = self._nearest(seconds)
        if section != (changes[-1][1] if changes else 0):
            changes.append((number, section))

    def timeline(self) -> ClockTimeline | None:
        """The film's one timeline; None where its clock does not jump."""
        if len(self._sections) < 2:
            return None
        shifts = [Fraction(0)]
        for section in self._sections[1:]:
            ends = [end + shift for end, shift in zip(section.before, shifts, strict=True) if end is not None]
            shifts.append(max(ends) - min(self._seconds(section.first).values()))
        changes = {stream: (track.base, track.changes) for stream, track in self._tracks.items()}
        changes |= self._others
        moves = {
            stream: tuple((number, round(shifts[section] / base)) for number, section in section_shifts)
            for stream, (base, section_shifts) in changes.items()
        }
        ends_of: dict[int, Fraction] = {}
        for section, shift in zip(self._sections, shifts, strict=True):
            for stream, end in self._seconds(section.ends).items():
                ends_of[stream] = max(end + shift, ends_of.get(stream, end + shift))
        start = min(self._seconds(self._sections[0].first).values())
        jumps = 0
        for section in self._sections[1:]:
            begin = min(self._seconds(section.first).values())
            jumps += max(self._seconds(section.ends).values()) - begin >= LASTING
        return ClockTimeline(moves, start, ends_of, jumps, self._has_decoding_times)

    def _seconds(self, ticks: Mapping[int, int]) -> dict[int, Fraction]:
        """Ticks of streams as seconds."""
        return {stream: number * self._tracks[stream].base for stream, number in ticks.items()}
