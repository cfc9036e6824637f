"""Putting a described film together: its tracks, the AD's, and their packets in the order of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import ContainerSettings, FilmInfo, Progress, printable, reported
from shotad.film import Media, exact, is_cover, packets_of
from shotad.sound.mux.boxes import TrackBoxes, mark_tracks
from shotad.sound.mux.containers import MOV, Container
from shotad.sound.mux.descriptors import mark_programme
from shotad.sound.mux.kinds import AdSound, AdText, Copied
from shotad.sound.mux.language_codes import track_language
from shotad.sound.mux.payload import Payload
from shotad.sound.mux.tags import film_tags, own_tags, shifted_chapters, track_tags
from shotad.sound.mux.text_track import Converter, add_text, text_packets
from shotad.sound.mux.timing import Clock, hides, unheard
from shotad.sound.mux.tracks import How, Kept, Plan, add_track, attach_cover, default_tracks
from shotad.sound.mux.voice_track import Coding, VoiceTrack, add_voice
from shotad.sound.mux.ways import MICROSECOND, Way, Woven, second_of

if TYPE_CHECKING:
    from av import Packet


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """All that goes into a described film. ``coding`` is there where ``sound`` is.

    ``replaced`` are the numbers of the film's tracks that the AD takes the place of.
    """

    info: FilmInfo
    container: Container
    plan: Plan
    sound: AdSound | None
    coding: Coding | None
    text: AdText | None
    settings: ContainerSettings
    metadata: Mapping[str, str]
    replaced: tuple[int, ...] = ()

    @property
    def mixed(self) -> bool:
        """Whether the AD's sound has the film's in it."""
        return self.settings.sound == "mix"


class Assembly:
    """A described film in the making. ``source`` is the film's ``media``, open; ``output`` the new one.

    ``warnings`` are sentences for the user; ``has_text``: there is a text track.
    """

    def __init__(self, media: Media, source: Any, output: Any, recipe: Recipe) -> None:
        self._media, self._source, self._output, self._recipe = media, source, output, recipe
        self.warnings: list[str] = []
        self.has_text = False
        self._ways: dict[int, Way] = {}
        self._own: list[Iterator[Packet[Any]]] = []
        self._boxes: dict[int, TrackBoxes] = {}

    def copied(self) -> tuple[Copied, ...]:
        """The film's tracks that were copied, with what was counted on the way."""
        return tuple(way.copied() for way in self._ways.values() if way.converter is None)

    def add_tracks(self) -> None:
        """Everything that stands before the first packet: tracks, metadata, chapters."""
        recipe = self._recipe
        described = recipe.sound is not None and (recipe.settings.default_track or not recipe.info.audio)
        defaults = default_tracks(self._source, recipe.info, described)
        for kept in recipe.plan.kept:
            self._add_copied(kept, defaults)
        if recipe.sound is not None and recipe.coding is not None:
            self._add_sound(recipe.sound, recipe.coding, described)
        if recipe.text is not None:
            self._add_text(recipe.text)
        name = printable(recipe.info.name.rpartition(".")[0] or recipe.info.name)
        tags = film_tags(self._source.metadata, recipe.metadata, recipe.container, name)
        self._output.metadata.update(tags)
        if recipe.container.chapters:
            self._output.set_chapters(shifted_chapters(self._source.chapters(), recipe.info.start))

    def run(self, progress: Progress) -> None:
        """Copy all packets, with the AD's own between them where their time comes."""
        self._output.start_encoding()
        own = Woven(self._own)
        info = self._recipe.info
        with reported(progress, f"Writing {self._recipe.container.name}", info.duration, "s") as task:
            done = 0.0
            for packet in self._film_packets():
                moment = second_of(packet)
                for made in own.until(moment):
                    self._output.mux(made)
                self._output.mux(packet)
                if done < moment <= info.duration:
                    task.advance(moment - done)
                    done = moment
            for made in own.until(float("inf")):
                self._output.mux(made)

    def finish(self, path: Path) -> None:
        """What is left to do once the file is closed."""
        recipe = self._recipe
        if self._boxes:
            mark_tracks(path, self._boxes)
        if recipe.container.muxer == "mpegts" and recipe.sound is not None:
            mark_programme(path, track_language(recipe.sound.language, recipe.container), recipe.mixed)

    def _film_packets(self) -> Iterator[Packet[Any]]:
        """The film's packets as they are written: on film time, belonging to their new tracks."""
        for packet in self._read():
            way = self._ways[packet.stream.index]
            if unheard(packet.stream, packet, self._recipe.info.start, way.hidden):
                continue
            for ready in way.clock.take(packet):
                yield from way.send(ready)
        for way in self._ways.values():
            for ready in way.clock.rest():
                yield from way.send(ready)

    def _read(self) -> Iterator[Packet[Any]]:
        from av.error import FFmpegError
        from av.stream import Discard

        for stream in self._source.streams:
            if stream.index not in self._ways:
                stream.discard = Discard.all
        packets = packets_of(self._source, *[self._source.streams[index] for index in self._ways])
        while True:
            try:
                packet = next(packets, None)
            except (FFmpegError, OSError) as error:
                self.warnings.append(f"The film cannot be read to its end: {error.strerror or error}.")
                return
            if packet is None:
                return
            if packet.pts is not None or packet.dts is not None or packet.size:
                yield packet

    def _add_copied(self, kept: Kept, defaults: Mapping[int, bool]) -> None:
        from av.stream import Disposition

        source, recipe = kept.stream, self._recipe
        if kept.how is How.ATTACHED:
            if picture := self._cover(source.index):
                attach_cover(self._output, source, picture)
            return
        converter = Converter(source, kept.codec) if kept.how is How.CONVERTED else None
        if converter is None:
            stream = add_track(self._output, kept, recipe.container, defaults.get(source.index))
        else:
            stream = converter.add(self._output)
            stream.disposition = source.disposition
            stream.metadata.update(track_tags(source, recipe.container))
        if source.type == "attachment":
            return
        if not is_cover(source):
            shown = bool(source.disposition & Disposition.default) if source.type == "subtitle" else None
            self._reserve(stream, shown=shown)
        start = Fraction(0) if source.type == "video" and is_cover(source) else recipe.info.start
        rate = exact(getattr(source, "average_rate", None))
        clock = Clock(start, exact(source.time_base) or MICROSECOND, rate)
        extra = source.codec_context.extradata if source.codec_context is not None else None
        self._ways[source.index] = Way(
            stream,
            clock,
            Payload(kept.codec, extra),
            converter,
            source.index,
            source.type,
            hides(source, recipe.container),
        )

    def _cover(self, number: int) -> bytes:
        """The picture in a track that has one only."""
        container = self._media.open()
        try:
            packet = next((p for p in packets_of(container, container.streams[number]) if p.size), None)
            return bytes(packet) if packet is not None else b""
        finally:
            container.close()

    def _reserve(
        self, stream: Any, describes: bool = False, role: bool = False, shown: bool | None = None
    ) -> None:
        """Remember what a track says of itself in boxes, and make room for it. Covers have no ``trak``."""
        if self._recipe.container.boxes:
            tags = {key.lower(): value for key, value in stream.metadata.items()}
            title = tags.get("title", "")
            boxes = TrackBoxes(
                title, describes, role, shown, tags.get("language", ""), tags.get("comment", "")
            )
            if title:
                stream.metadata["title"] = boxes.title_with_room
            self._boxes[len(self._boxes)] = boxes

    def _add_sound(self, sound: AdSound, coding: Coding, described: bool) -> None:
        from av.stream import Disposition

        container = self._recipe.container
        stream = add_voice(self._output, sound, coding)
        if taken := [other.id for other in self._output.streams if other.id]:
            stream.id = max(taken) + 1
        stream.disposition = Disposition.visual_impaired | Disposition.descriptions
        if not self._recipe.mixed:
            stream.disposition = stream.disposition | Disposition.dependent
        if described:
            stream.disposition = stream.disposition | Disposition.default
        stream.metadata.update(own_tags(sound.language, sound.title or "Audio Description", container))
        self._reserve(stream, describes=True, role=container is MOV)
        voice = VoiceTrack(stream, sound, coding, self._recipe.info.duration, container.hides)
        self._own.append(voice.packets())
        if not container.flagged:
            self.warnings.append(
                f"{container.name} has no mark for audio description: players find the track by its title."
            )

    def _add_text(self, text: AdText) -> None:
        from av.stream import Disposition

        container = self._recipe.container
        if container.text is None:
            self.warnings.append(f"{container.name} holds no text track of descriptions: it is left out.")
            return
        stream = add_text(self._output, container.text)
        stream.disposition = Disposition.descriptions
        stream.metadata.update(own_tags(text.language, text.title or "Descriptions", container))
        self._reserve(stream, role=container is MOV, shown=False)
        self._own.append(text_packets(stream, text, container.text))
        self.has_text = True
        if not container.flagged_text:
            self.warnings.append(f"{container.name} has no mark for text that describes: the title tells it.")
