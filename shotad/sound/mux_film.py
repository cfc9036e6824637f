"""Writing a described film: everything of the film copied, the AD coded and woven in on the way.

`write_film` reads like the story: what becomes of AD that the film has already, which tracks are written,
their packets in the order of time, and the marks for players once the file is closed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import ContainerSettings, FilmInfo, NoProgress, Progress, SoundError, printable, reported
from shotad.film import Film, exact, is_cover, legible, packets_of
from shotad.sound.ad_tracks import (
    AdSound,
    AdText,
    Coding,
    Converter,
    Copied,
    Written,
    add_sound,
    add_text,
    choose_coding,
    sound_packets,
    text_packets,
)
from shotad.sound.containers import (
    CONTAINERS,
    M2TS,
    MKV,
    MOV,
    container_for,
    first_endings,
    same_language,
    track_language,
)
from shotad.sound.files import being_written
from shotad.sound.packets import MICROSECOND, Clock, Payload, Way, hides, unheard, write_woven
from shotad.sound.player_marks import TrackBoxes, mark_programme, mark_tracks
from shotad.sound.tracks import (
    MADE_HERE,
    Kept,
    add_track,
    codec_of,
    film_tags,
    own_tags,
    plan_tracks,
    track_name,
    track_tags,
)

if TYPE_CHECKING:
    from av import Packet


def write_film(
    film: Film,
    target: Path,
    *,
    sound: AdSound | None,
    text: AdText | None,
    settings: ContainerSettings,
    metadata: Mapping[str, str],
    progress: Progress | None = None,
) -> Written:
    """Write ``film`` to ``target`` with the AD as a track of sound, of text, or both.

    The container is that of the target's ending. The film's tracks are copied, never re-encoded; times count
    from its start, so a film whose own clock starts late starts at zero. ``metadata`` is the file's own, over
    what the film has. The target appears when it is whole; one that is there already is replaced then.

    Raises SoundError for what the container cannot hold (before anything is written), WorkFolderError for a
    target that cannot be written, FilmError for a film that cannot be read.
    """
    assert film.media is not None, "numbered frames have no tracks to copy"
    import av

    with film.media.open() as source:
        assembly = Assembly(film, target, source, sound, text, settings)
        container = assembly.container
        options = {**dict(container.options), "fflags": "+bitexact"}
        hint = "Convert the film to a usual codec first." if container is MKV else "Try .mkv instead."
        with being_written(target, hint) as part:
            place = f"file:{part.absolute()}"
            with av.open(place, "w", format=container.muxer, container_options=options) as output:
                assembly.write(output, metadata, progress or NoProgress())
            assembly.finish(part)
    codec = assembly.coding.codec if assembly.coding is not None else ""
    return Written(target, tuple(assembly.warnings), assembly.copied(), codec, assembly.replaced)


def check_container(
    film: Film, target: Path, *, sound: AdSound | None, text: AdText | None, settings: ContainerSettings
) -> tuple[str, ...]:
    """Raise what `write_film` would raise before it writes, without reading any of the film's packets.

    Costs a moment, so that nobody waits for voice and mix to be told that the film cannot be put into
    ``target``. Blocks of ``sound`` and cues of ``text`` are not looked at: empty ones serve, with the layout
    and the rate that the mix will have. A film to describe with pauses is another one in the end
    (its copy), so there is nothing to be checked here. Gives back the sentences for the user on what of the
    film is left out.
    """
    assert film.media is not None, "numbered frames have no tracks to copy"
    with film.media.open() as source:
        return tuple(Assembly(film, target, source, sound, text, settings).warnings)


def existing_description(
    source: Any, info: FilmInfo, sound: AdSound | None, text: AdText | None, settings: ContainerSettings
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """What becomes of the AD in an open film, by `ContainerSettings.existing`: the numbers of the tracks that
    the new AD takes the place of, and sentences for the user.

    Sound is replaced by sound and text by text, in the same language only; never the one sound that the film
    itself is listened to by. ``auto`` replaces what was made here, which is known by its remark
    (`MADE_HERE`), so that a described film which is rendered again has one AD and not two; a broadcaster's
    own stays, for people spoke it.
    """
    from av.stream import Disposition

    # The film's tracks of AD of the kinds that are made again, each with the new one's language.
    found: list[tuple[Any, str]] = []
    if sound is not None:
        for track in info.audio:
            stream = source.streams.audio[track.number]
            if (track.descriptive or _made_here(stream)) and track != info.default_audio:
                found.append((stream, sound.language))
    if text is not None:
        texts = source.streams.subtitles
        told = (s for s in texts if s.disposition & Disposition.descriptions or _made_here(s))
        found += [(stream, text.language) for stream in told]
    replaced, warnings = [], []
    for stream, language in found:
        own, said = _made_here(stream), legible(stream.metadata).get("language", "")
        name = f"{track_name(stream)} of the film is audio description already"
        where = " (made with shotad)" if own else ""
        matches = said in ("", "und") or same_language(said, language)
        if matches and (settings.existing == "replace" or (settings.existing == "auto" and own)):
            replaced.append(stream.index)
            warnings.append(f"{name}{where}: the new one takes its place.")
        else:
            hint = " (container.existing: replace leaves it out)" if matches else ""
            warnings.append(f"{name}{where}: it stays beside the new one{hint}.")
    return tuple(replaced), tuple(warnings)


def _made_here(stream: Any) -> bool:
    tags = {key.lower(): value for key, value in stream.metadata.items()}
    return bool(tags.get("comment") == MADE_HERE)


class Assembly:
    """A described film in the making. ``source`` is the film, open; ``warnings`` are for the user."""

    def __init__(
        self,
        film: Film,
        target: Path,
        source: Any,
        sound: AdSound | None,
        text: AdText | None,
        settings: ContainerSettings,
    ) -> None:
        """Raises SoundError for what the container cannot hold."""
        assert film.media is not None, "numbered frames have no tracks to copy"
        self._media, self._info, self._source = film.media, film.info, source
        self._output: Any = None
        self._sound, self._text, self._settings = sound, text, settings
        self.container = container = container_for(target)
        self.replaced, notes = existing_description(source, film.info, sound, text, settings)
        """Numbers of the film's tracks that the AD takes the place of."""
        self._kept, warnings = plan_tracks(source, container, self.replaced)
        self.warnings = [*notes, *warnings]
        self.coding: Coding | None = None
        if sound is not None:
            self.coding = choose_coding(sound, container, film.info, settings.codec)
        elif text is not None and container.text is None:
            raise SoundError(
                f"{container.name} holds no text track of descriptions.",
                f"Write {first_endings(other for other in CONTAINERS if other.text)} instead.",
            )
        self._ways: dict[int, Way] = {}
        self._own: list[Iterator[Packet[Any]]] = []
        self._boxes: dict[int, TrackBoxes] = {}

    def copied(self) -> tuple[Copied, ...]:
        """The film's tracks that were copied, with what was counted on the way."""
        return tuple(way.copied() for way in self._ways.values() if way.converter is None)

    def write(self, output: Any, metadata: Mapping[str, str], progress: Progress) -> None:
        """Everything that stands before the first packet (tracks, metadata, chapters), then all packets, with
        the AD's own between them where their time comes."""
        self._output, info, container = output, self._info, self.container
        described = self._sound is not None and (self._settings.default_track or not info.audio)
        # Of the film's sounds players start with one at most, with none where they start with the AD.
        listened, sounds = info.default_audio, self._source.streams.audio
        chosen = None if described or listened is None else sounds[listened.number].index
        defaults = {stream.index: stream.index == chosen for stream in sounds}
        for kept in self._kept:
            self._add_copied(kept, defaults)
        if self._sound is not None and self.coding is not None:
            self._add_sound(self._sound, self.coding, described)
        if self._text is not None:
            self._add_text(self._text)
        name = printable(info.name.rpartition(".")[0] or info.name)
        tags = film_tags(self._source.metadata, metadata, container, name)
        output.metadata.update(tags)
        chapters = []
        for chapter in self._source.chapters() if container.chapters else ():
            shift = round(info.start / chapter["time_base"])
            # What lies before the film's start is left out or begins with it.
            begin, end = max(0, chapter["start"] - shift), chapter["end"] - shift
            if end > begin:
                chapters.append({**chapter, "start": begin, "end": end})
        if container.chapters:
            output.set_chapters(chapters)
        output.start_encoding()
        with reported(progress, f"Writing {container.name}", info.duration, "s") as task:
            write_woven(output, [self._film_packets(), *self._own], info.duration, task)

    def finish(self, path: Path) -> None:
        """What is left to do once the file is closed."""
        container, sound = self.container, self._sound
        if self._boxes:
            mark_tracks(path, self._boxes)
        if container.muxer == "mpegts" and sound is not None:
            language = track_language(sound.language, container)
            mark_programme(path, language, self._settings.sound == "mix", container is M2TS)

    def _film_packets(self) -> Iterator[Packet[Any]]:
        """The film's packets as they are written: on film time, belonging to their new tracks."""
        for packet in self._read():
            way = self._ways[packet.stream.index]
            if unheard(packet.stream, packet, self._info.start, way.hidden):
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
        try:
            for packet in packets:
                if packet.pts is not None or packet.dts is not None or packet.size:
                    yield packet
        except (FFmpegError, OSError) as error:
            self.warnings.append(f"The film cannot be read to its end: {error.strerror or error}.")

    def _add_copied(self, kept: Kept, defaults: Mapping[int, bool]) -> None:
        from av.stream import Disposition

        source = kept.stream
        if kept.how == "attached":
            # A cover as Matroska has it: a file of that name (matroska.org, "Cover art").
            with self._media.open() as container:
                packets = packets_of(container, container.streams[source.index])
                picture = next((bytes(packet) for packet in packets if packet.size), None)
            if picture is not None:
                mime, ending = ("image/png", "png") if codec_of(source) == "png" else ("image/jpeg", "jpg")
                told = {key.lower(): value for key, value in legible(source.metadata).items()}
                name = told.get("filename", f"cover.{ending}")
                self._output.add_attachment(name, told.get("mimetype", mime), picture)
            return
        converter = Converter(source, kept.codec) if kept.how == "converted" else None
        if converter is None:
            stream = add_track(self._output, kept, self.container, defaults.get(source.index))
        else:
            stream = converter.add(self._output)
            stream.disposition = source.disposition
            stream.metadata.update(track_tags(source, self.container))
        if source.type == "attachment":
            return
        if not is_cover(source):
            shown = bool(source.disposition & Disposition.default) if source.type == "subtitle" else None
            self._reserve(stream, shown=shown)
        start = Fraction(0) if source.type == "video" and is_cover(source) else self._info.start
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
            hides(source, self.container),
        )

    def _reserve(
        self, stream: Any, describes: bool = False, role: bool = False, shown: bool | None = None
    ) -> None:
        """Remember what a track says of itself in boxes, and make room for it. Covers have no ``trak``."""
        if self.container.boxes:
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

        container = self.container
        # AC-3 says in each frame whom it is for (``bsmod``, ATSC A/52), which some receivers look at alone.
        options = {"audio_service_type": "vi"} if coding.codec == "ac3" else {}
        stream = add_sound(self._output, coding, **options)
        if taken := [other.id for other in self._output.streams if other.id]:
            stream.id = max(taken) + 1
        stream.disposition = Disposition.visual_impaired | Disposition.descriptions
        if self._settings.sound != "mix":
            stream.disposition = stream.disposition | Disposition.dependent
        if described:
            stream.disposition = stream.disposition | Disposition.default
        stream.metadata.update(own_tags(sound.language, sound.title or "Audio Description", container))
        self._reserve(stream, describes=True, role=container is MOV)
        seconds = self._info.duration
        self._own.append(sound_packets(stream, sound, coding, seconds, container.hides))
        if not container.flagged:
            self.warnings.append(
                f"{container.name} has no mark for audio description: players find the track by its title."
            )

    def _add_text(self, text: AdText) -> None:
        from av.stream import Disposition

        container = self.container
        if container.text is None:
            self.warnings.append(f"{container.name} holds no text track of descriptions: it is left out.")
            return
        stream = add_text(self._output, container.text)
        stream.disposition = Disposition.descriptions
        stream.metadata.update(own_tags(text.language, text.title or "Descriptions", container))
        self._reserve(stream, role=container is MOV, shown=False)
        self._own.append(text_packets(stream, text, container.text))
        if not container.flagged_text:
            self.warnings.append(f"{container.name} has no mark for description text: the title says it.")
