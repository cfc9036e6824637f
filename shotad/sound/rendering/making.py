"""From placed lines to files: each wanted file is made, or left where all it is made of is as it was."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from types import TracebackType
from typing import Self

from shotad import __version__
from shotad.core import Interval, Progress, Task, printable, reported
from shotad.film import Film, SoundBlock, open_film
from shotad.script import Finding, Track
from shotad.sound.checking import Expected, check_film
from shotad.sound.decoded import ROOM, DecodedMeter, measure_file
from shotad.sound.extended.copying import write_copy
from shotad.sound.extended.timemap import TimeMap
from shotad.sound.files import kind_of, write_sound
from shotad.sound.kinds import Spoken
from shotad.sound.mixing.mix import Mix
from shotad.sound.mixing.prepare import prepare_mix
from shotad.sound.mixing.profiles import PEAK_SLACK
from shotad.sound.mixing.report import FileSound, MixReport
from shotad.sound.mux.containers import container_for
from shotad.sound.mux.kinds import AdSound, AdText
from shotad.sound.mux.voice_track import choose_coding
from shotad.sound.mux.write import write_film
from shotad.sound.rendering.materials import Materials
from shotad.sound.rendering.outputs import OTHERWISE, Kind, Wanted
from shotad.sound.rendering.proof import loudness_findings, loudness_told, off_target, over_peak
from shotad.sound.rendering.voicing import Voicing

MONO = "mono"

TEXT_TITLE = "{} (text)"
"""Title of the text track, by that of the track of sound."""


ROUNDS = 4
"""Times that a file is written at most until its peaks and its loudness are what was asked for."""

MARGIN = 0.1
"""dB by which peaks are lowered further than they were too high: coded again, they fall elsewhere."""


@dataclass(frozen=True, slots=True)
class Product:
    """A file that was made, what is wrong with it, and what the user should know of it.

    ``sound`` is how it is heard, decoded (None: there is no voice in it, or it cannot be read back), ``told``
    the same in plain lines.
    """

    wanted: Wanted
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    sound: FileSound | None = None
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A film to lay lines over (or its copy that pauses), and the lines and the speech on its time."""

    film: Film
    spoken: tuple[Spoken, ...]
    speech: tuple[Interval, ...]
    texts: tuple[tuple[Interval, str], ...]


@dataclass(slots=True)
class Workshop:
    """Where files are made. A context manager, for a copy of the film that pauses lives only in it.

    ``voicing`` is None where nothing is spoken and films get a text track alone. ``sounds_as`` is the
    container of the copy that sounds are taken from where the film pauses: best one that is made anyway.
    """

    materials: Materials
    voicing: Voicing | None
    progress: Progress
    sounds_as: str = OTHERWISE
    _open: ExitStack = field(default_factory=ExitStack)
    _scenes: dict[str, Scene] = field(default_factory=dict)
    _mixes: dict[str, Mix] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def make(self, wanted: Wanted) -> Product:
        """Make one file. Raises SoundError, FilmError, WorkFolderError.

        What is heard in it is measured, and where it passes the limit of peaks or misses its loudness it is
        written again, lower or louder by as much.
        """
        if not wanted.kind.is_heard:
            return self._film(wanted, None)
        mix = self.mix(wanted.ending if wanted.kind.is_film else self.sounds_as)
        given: Mix | None = mix.lower(ROOM.get(self._encoder(wanted, mix), 0.0))
        product = Product(wanted)
        for number in range(ROUNDS):
            if given is None:
                break
            if number:
                self.progress.note(f"{wanted.path.name}, decoded, is not within its limits: written again.")
            product = self._film(wanted, given) if wanted.kind.is_film else self._sound_file(wanted, given)
            given = _better(given, product.sound)
        if product.sound is None:
            return product
        name = wanted.path.name
        findings = (*product.findings, *loudness_findings(mix.report, product.sound, name))
        return replace(product, findings=findings, told=(loudness_told(mix.report, product.sound, name),))

    def _encoder(self, wanted: Wanted, mix: Mix) -> str:
        """ffmpeg's name of what will code the sound of a file."""
        if not wanted.kind.is_film:
            return kind_of(wanted.path).codec
        settings, film = self.materials.config.container, self.scene(wanted.ending).film
        sound = self._sound(mix)
        container = container_for(wanted.path)
        return choose_coding(sound, container, film.info, settings.codec, settings.bit_rate).encoder

    def _sound_file(self, wanted: Wanted, mix: Mix) -> Product:
        alone = wanted.kind is Kind.AD
        blocks, layout = (mix.alone(), MONO) if alone else (mix.mixed(), mix.layout)
        with reported(self.progress, f"Writing {wanted.path.name}", mix.duration, "s") as task:
            write_sound(
                wanted.path,
                _counted(blocks, mix.rate, task),
                layout=layout,
                rate=mix.rate,
                tags=self._tags(wanted.kind),
                true_peak=mix.true_peak,
            )
        loudness, course = measure_file(wanted.path)
        return Product(wanted, sound=mix.heard(loudness, None if alone else course))

    def mix(self, ending: str) -> Mix:
        """The mix over the scene of a container."""
        config = self.materials.config
        name = ending if self._pauses else ""
        if name not in self._mixes:
            scene = self.scene(ending)
            self._mixes[name] = prepare_mix(
                scene.film,
                scene.spoken,
                scene.speech,
                config.mix,
                audio_track=config.film.audio_track,
                progress=self.progress,
            )
        return self._mixes[name]

    def report(self) -> MixReport:
        """How the mix came out, over whichever scene was mixed already."""
        mixed = next(iter(self._mixes.values()), None)
        return (mixed or self.mix(self.sounds_as)).report

    def scene(self, ending: str) -> Scene:
        """What lines are laid over for a film of this ending: where it pauses, a copy of that kind."""
        materials, voicing = self.materials, self.voicing
        if voicing is None:
            return Scene(materials.film, (), materials.speech, written_lines(materials.track))
        if not voicing.pauses:
            return _scene(materials.film, voicing.fitting.spoken, materials.speech)
        if ending not in self._scenes:
            self._scenes[ending] = self._paused(voicing, ending)
        return self._scenes[ending]

    @property
    def _pauses(self) -> bool:
        return self.voicing is not None and bool(self.voicing.pauses)

    def _paused(self, voicing: Voicing, ending: str) -> Scene:
        place = Path(
            self._open.enter_context(
                tempfile.TemporaryDirectory(prefix=".tmp-", dir=self.materials.folder.path)
            )
        )
        config, times = self.materials.config, TimeMap(voicing.pauses)
        copy = write_copy(
            self.materials.film, voicing.pauses, place / f"copy.{ending}", config.extended, self.progress
        )
        film = self._open.enter_context(open_film(copy))
        speech = tuple(times.interval(spoken) for spoken in self.materials.speech)
        return _scene(film, times.fitting(voicing.fitting).spoken, speech)

    def _film(self, wanted: Wanted, mix: Mix | None) -> Product:
        config = self.materials.config
        scene = self.scene(wanted.ending)
        sound = None if mix is None else self._sound(mix)
        text = None if wanted.kind is Kind.FILM else self._text(scene)
        written = write_film(
            scene.film,
            wanted.path,
            sound=sound,
            text=text,
            settings=config.container,
            metadata=self._tags(wanted.kind),
            progress=self.progress,
        )
        track = self.materials.track
        expected = Expected(
            track.language,
            sound.title if sound else "",
            default=config.container.default_track,
            sound=sound is not None,
            cues=text.cues if text else None,
            text_title=text.title if text else "",
            written=written,
        )
        meter = DecodedMeter()
        findings = check_film(wanted.path, scene.film, expected, meter)
        found = meter.result()
        if mix is None or found is None:
            return Product(wanted, findings, written.warnings)
        loudness, course = found
        heard = mix.heard(loudness, None if config.container.sound == "alone" else course)
        return Product(wanted, findings, written.warnings, heard)

    def _sound(self, mix: Mix) -> AdSound:
        settings, track = self.materials.config.container, self.materials.track
        alone = settings.sound == "alone"
        return AdSound(
            mix.alone() if alone else mix.mixed(),
            MONO if alone else mix.layout,
            mix.rate,
            track.language,
            settings.title or track_title(track.language),
        )

    def _text(self, scene: Scene) -> AdText:
        language = self.materials.track.language
        return AdText(scene.texts, language, TEXT_TITLE.format(track_title(language)))

    def _tags(self, kind: Kind) -> Mapping[str, str]:
        return tags_of(self.materials.track, self._voice, kind)

    @property
    def _voice(self) -> str:
        return "" if self.voicing is None else self.voicing.voice


def _better(mix: Mix, sound: FileSound | None) -> Mix | None:
    """What to write in place of a file of this mix that sounds like that; None: it is as was asked for."""
    if sound is None:
        return None
    over, off = over_peak(mix.report, sound), off_target(mix.report, sound)
    if over <= PEAK_SLACK and off == 0:
        return None
    return mix.lower(max(0.0, over + MARGIN)).louder(-off)


def _counted(blocks: Iterable[SoundBlock], rate: int, task: Task) -> Iterator[SoundBlock]:
    for block in blocks:
        yield block
        task.advance(len(block.samples) / rate)


def written_lines(track: Track) -> tuple[tuple[Interval, str], ...]:
    """When each line is to be read and what: as it was last spoken where that is known, else as it stands."""
    found = []
    for cue in track.heard:
        spoken = cue.spoken
        if spoken is None:
            found.append((cue.interval, cue.text))
        elif spoken.interval is not None and not spoken.pause:
            found.append((spoken.interval, spoken.text))
    return apart(found)


def apart(lines: Sequence[tuple[Interval, str]]) -> tuple[tuple[Interval, str], ...]:
    """The lines in order, each ended where the next begins."""
    ordered = sorted(lines, key=lambda line: line[0])
    kept: list[tuple[Interval, str]] = []
    for (interval, text), after in zip_longest(ordered, ordered[1:]):
        end = interval.end if after is None else min(interval.end, after[0].start)
        if end > interval.start:
            kept.append((Interval(interval.start, end), text))
    return tuple(kept)


_TITLES = {
    "cs": "Audiopopis", "da": "Synstolkning", "de": "Audiodeskription", "es": "Audiodescripción",
    "fi": "Kuvailutulkkaus", "fr": "Audiodescription", "it": "Audiodescrizione", "ja": "音声解説",
    "nl": "Audiodescriptie", "no": "Synstolking", "pl": "Audiodeskrypcja", "pt": "Audiodescrição",
    "sv": "Syntolkning",
}  # fmt: skip
"""What the trade calls it where it has a word of its own."""


def track_title(language: str) -> str:
    """What players show of the AD track; many find it by ``Audio Description`` or ``AD``: ``de →
    Audiodeskription (AD)``."""
    title = _TITLES.get(language.lower().split("-")[0])
    return f"{title} (AD)" if title else "Audio Description"


def tags_of(track: Track, voice: str, kind: Kind) -> dict[str, str]:
    """Metadata of a file: that the description was made by machine, who reviewed it, who speaks."""
    spoken = f" Spoken by {voice}." if voice else ""
    tags = {"audio_description": f"{track.statement}{spoken}", "encoder": f"shotad {__version__}"}
    if not kind.is_film:
        tags["title"] = f"{printable(Path(track.film.name).stem)}: audio description"
        tags["language"] = track.language
    return tags


def _scene(film: Film, spoken: Sequence[Spoken], speech: Sequence[Interval]) -> Scene:
    return Scene(film, tuple(spoken), tuple(speech), apart([(line.interval, line.text) for line in spoken]))
