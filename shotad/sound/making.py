"""From placed lines to files: each wanted file is made, or left where all it is made of is as it was.

`FileMaker` makes them; `RenderRecord` is ``render.json``, which says which files were made of what.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.core import Interval, Progress, key_of, printable, reported, write_text
from shotad.film import open_film
from shotad.script import Track, finding_of, finding_row, to_json
from shotad.sound.ad_tracks import AdSound, choose_coding
from shotad.sound.check_film import check_film
from shotad.sound.containers import container_for
from shotad.sound.files import kind_of, write_sound
from shotad.sound.film_copy import write_copy
from shotad.sound.levels import PEAK_SLACK
from shotad.sound.loudness import ROOM, DecodedMeter, measure_file
from shotad.sound.mix import (
    FileSound,
    Mix,
    MixReport,
    counted,
    loudness_findings,
    loudness_told,
    off_target,
    over_peak,
    prepare_mix,
)
from shotad.sound.mux_film import write_film
from shotad.sound.outputs import OTHERWISE, Json, Kind, Made, OutputFile, Rendered, Sound
from shotad.sound.pauses import TimeMap
from shotad.sound.programme import RATE
from shotad.sound.voicing import Materials, takers_findings

MONO = "mono"

ROUNDS = 4
"""Times that a file is written at most until its peaks and its loudness are what was asked for."""

MARGIN = 0.1
"""dB by which peaks are lowered further than they were too high: coded again, they fall elsewhere."""


@dataclass(slots=True)
class FileMaker:
    """Where files are made. A copy of the film that pauses lives as long as ``open`` is not closed.

    Where nothing is spoken films get a text track alone. ``sounds_as`` is the container of the copy that
    sounds are taken from where the film pauses: best one that is made anyway.
    """

    materials: Materials
    progress: Progress
    open: ExitStack
    sounds_as: str = OTHERWISE
    _scenes: dict[str, Materials] = field(default_factory=dict)
    _mixes: dict[str, Mix] = field(default_factory=dict)

    def make(self, wanted: OutputFile) -> Made:
        """Make one file. Raises SoundError, FilmError, WorkFolderError.

        What is heard in it is measured, and where it passes the limit of peaks or misses its loudness it is
        written again, lower or louder by as much.
        """
        if not wanted.kind.is_heard:
            return self._film(wanted, None)[0]
        is_film = wanted.kind.is_film
        mix = self.mix(wanted.ending if is_film else self.sounds_as)
        if is_film:
            codec, info = self.materials.config.container.codec, self.scene(wanted.ending).film.info
            encoder = choose_coding(self._sound(mix), container_for(wanted.path), info, codec).encoder
        else:
            encoder = kind_of(wanted.path).codec
        given, name = mix.lower(ROOM.get(encoder, 0.0)), wanted.path.name
        for number in range(ROUNDS):
            if number:
                self.progress.note(f"{name}, decoded, is not within its limits: written again.")
            made, sound = self._film(wanted, given) if is_film else self._sound_file(wanted, given)
            if sound is None:
                return made
            over, off = over_peak(given.report, sound), off_target(given.report, sound)
            if over <= PEAK_SLACK and off == 0:
                break
            given = given.lower(max(0.0, over + MARGIN)).louder(-off)
        assert sound is not None
        findings = (*made.findings, *loudness_findings(mix.report, sound, name))
        told = (loudness_told(mix.report, sound, name),)
        return replace(made, findings=findings, sound=asdict(sound), told=told)

    def _sound_file(self, wanted: OutputFile, mix: Mix) -> tuple[Made, FileSound]:
        alone = wanted.kind is Kind.AD
        blocks, layout = (mix.alone(), MONO) if alone else (mix.mixed(), mix.layout)
        with reported(self.progress, f"Writing {wanted.path.name}", mix.duration, "s") as task:
            write_sound(
                wanted.path,
                counted(blocks, task),
                layout=layout,
                tags=tags_of(self.materials.track, self.materials.voice, wanted.kind),
                true_peak=mix.true_peak,
            )
        loudness, course = measure_file(wanted.path)
        return Made(wanted), mix.heard(loudness, None if alone else course)

    def mix(self, ending: str) -> Mix:
        config = self.materials.config
        name = ending if self.materials.fitting.pauses else ""
        if name not in self._mixes:
            scene = self.scene(ending)
            self._mixes[name] = prepare_mix(
                scene.film,
                scene.fitting.spoken,
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

    def scene(self, ending: str) -> Materials:
        """The film that lines are laid over for one of this ending: where it pauses, a copy of that kind;
        with the lines and the speech on its time."""
        materials = self.materials
        if not (pauses := materials.fitting.pauses):
            return materials
        if ending not in self._scenes:
            beside = tempfile.TemporaryDirectory(prefix=".tmp-", dir=materials.folder.path)
            place, times = Path(self.open.enter_context(beside), f"copy.{ending}"), TimeMap(pauses)
            copy = write_copy(materials.film, pauses, place, materials.config.extended, self.progress)
            film = self.open.enter_context(open_film(copy))
            speech, fitting = tuple(map(times.interval, materials.speech)), times.fitting(materials.fitting)
            self._scenes[ending] = replace(materials, film=film, speech=speech, fitting=fitting)
        return self._scenes[ending]

    def _film(self, wanted: OutputFile, mix: Mix | None) -> tuple[Made, FileSound | None]:
        config = self.materials.config
        scene = self.scene(wanted.ending)
        sound = None if mix is None else self._sound(mix)
        track = self.materials.track
        text = None
        if wanted.kind is not Kind.FILM:
            spoken = [(line.interval, line.text) for line in scene.fitting.spoken]
            text = apart(spoken) if scene.voice else written_lines(track)
        written = write_film(
            scene.film,
            wanted.path,
            sound=sound,
            text=text,
            language=track.language,
            settings=config.container,
            metadata=tags_of(track, self.materials.voice, wanted.kind),
            progress=self.progress,
        )
        meter = DecodedMeter()
        findings = check_film(wanted.path, scene.film, written, meter)
        found, made = meter.result(), Made(wanted, findings, tuple(written.warnings))
        if mix is None or found is None:
            return made, None
        loudness, course = found
        return made, mix.heard(loudness, None if config.container.sound == "alone" else course)

    def _sound(self, mix: Mix) -> AdSound:
        if self.materials.config.container.sound == "alone":
            return AdSound(mix.alone(), MONO, RATE, mix.true_peak)
        return AdSound(mix.mixed(), mix.layout, RATE, mix.true_peak)


def written_lines(track: Track) -> tuple[tuple[Interval, str], ...]:
    """When to read each line, and what: as it was last spoken where that is known, else as it stands."""
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


def tags_of(track: Track, voice: str, kind: Kind) -> dict[str, str]:
    """Metadata of a file: that the description was made by machine, who reviewed it, who speaks."""
    spoken = f" Spoken by {voice}." if voice else ""
    tags = {"audio_description": f"{track.statement}{spoken}", "encoder": f"shotad {__version__}"}
    if not kind.is_film:
        tags["title"] = f"{printable(Path(track.film.name).stem)}: audio description"
        tags["language"] = track.language
    return tags


RECORD = "render.json"
RENDER_STEP = "render/3"
"""The step that makes files, and its version: raise it when they are made in another way (see `key_of`)."""


class RenderRecord:
    """What a run has made, and what of that still stands. Every file is noted as soon as it is made."""

    def __init__(self, materials: Materials, *, force: bool = False) -> None:
        self._materials = materials
        self._name = f"render.{materials.track.language}.json" if materials.is_translation else RECORD
        before = {} if force else materials.folder.read_json(self._name) or {}
        rows, shape = before.get("made"), {"path", "key", "state", "findings", "warnings", "sound", "told"}
        folder = materials.folder.path.absolute()
        # A damaged row is as if there were none.
        self._rows: dict[str, Json] = {
            row["path"] if (within := row.get("within")) is None else str(folder / within): row
            for row in (rows if isinstance(rows, list) else ())
            if isinstance(row, dict) and shape <= row.keys()
        }
        beside = before.get("beside")
        self._beside: dict[str, Any] = dict(beside) if isinstance(beside, dict) else {}
        self._fresh: set[str] = set()
        # All that changes what is heard: the film, every take and its place, the settings of the mix
        fitting, config = materials.fitting, materials.config
        takes = [[line.id, round(line.start, 6), line.take.key, line.take.rate] for line in fitting.spoken]
        pauses = [[pause.at, pause.length, pause.cue_id] for pause in fitting.pauses]
        speech = [[one.start, one.end] for one in materials.speech]
        film = [materials.prepared.info.fingerprint, config.film.audio_track]
        self._heard = key_of(RENDER_STEP, film, takes, pauses, speech, config.mix)
        self._voice_before = before.get("voice")
        kept = before.get("sound")
        same = isinstance(kept, dict) and kept.get("key") == self._heard and materials.voice
        self.sound: Sound | None = Sound.of(kept) if same and kept else None
        """How the mix came out: this run's, or an earlier one's of the very same lines; None: not known."""

    def has(self, wanted: OutputFile) -> bool:
        """Whether the file is there, untouched, and made of just what it would be made of now."""
        row = self._rows.get(str(wanted.path.absolute()))
        return row is not None and row["key"] == self._key(wanted) and row["state"] == _state(wanted.path)

    def add(self, made: Made) -> None:
        wanted = made.wanted
        path = str(wanted.path.absolute())
        self._fresh.add(path)
        folder, place = self._materials.folder.path.absolute(), wanted.path.absolute()
        self._rows[path] = {
            "path": path,
            # In the work folder, which may be moved.
            "within": str(place.relative_to(folder)) if place.is_relative_to(folder) else None,
            "kind": wanted.kind.value,
            "key": self._key(wanted),
            "state": _state(wanted.path),
            "findings": [finding_row(finding) for finding in made.findings],
            "warnings": list(made.warnings),
            "sound": made.sound,
            "told": list(made.told),
        }
        self._write({})

    def put_beside(self, path: Path, sound: Path, script: Callable[[], str]) -> None:
        """Write a side file, unless it is there, untouched, and made of the track and ``sound`` of now."""
        key = key_of(RENDER_STEP, __version__, sound.name, self._heard, to_json(self._materials.track))
        state = _state(path)
        if state is None or self._beside.get(path.name) != [key, state]:
            write_text(path, script())
            self._beside[path.name] = [key, _state(path)]

    def rendered(
        self,
        wanted: Sequence[OutputFile],
        files: Sequence[Path],
        failures: Mapping[OutputFile, str],
        notes: Sequence[str],
    ) -> Rendered:
        """What the run came to; it is kept as ``render.json``."""
        materials, made = self._materials, []
        for one in wanted:
            path = str(one.path.absolute())
            row = self._rows[path]
            findings, warnings = map(finding_of, row["findings"]), tuple(row["warnings"])
            told, is_fresh = tuple(row["told"]), path in self._fresh
            made.append(Made(one, tuple(findings), warnings, row["sound"], told, is_fresh))
        before, voice, sound = self._voice_before, materials.voice, self.sound
        if voice and isinstance(before, str) and before != voice:
            notes = (*notes, f"The render before was spoken by {before}, this one by {voice}.")
        if sound is not None:
            # With the figures of the first file that has the mix.
            sounds = (one.sound for one in made if one.sound and one.sound["mix"])
            first = next(sounds, {"loudness": None, "reached": None})
            measures = {**sound.measures, "mix": first["loudness"], "reached": first["reached"]}
            sound = replace(sound, measures=measures)
        done = Rendered(
            track=materials.track,
            voice=voice or None,
            made=tuple(made),
            anew=materials.anew,
            kept=materials.kept,
            sound=sound,
            pauses=materials.fitting.pauses,
            findings=(
                *(sound.findings if sound else ()),
                *(finding for one in made for finding in one.findings),
                *takers_findings(materials.track, materials.fitting.unspoken, "is not heard"),
            ),
            warnings=tuple(dict.fromkeys((*notes, *(text for one in made for text in one.warnings)))),
            files=tuple(files),
            brought=dict(materials.brought),
            failures=failures,
        )
        self._write(done.as_json())
        return done

    def _write(self, more: Json) -> None:
        present = [{**row, "path": path} for path, row in self._rows.items() if Path(path).exists()]
        sound = None if self.sound is None else {"key": self._heard, **self.sound.as_json()}
        record = {**more, "sound": sound, "made": present, "beside": self._beside}
        self._materials.folder.write_json(self._name, record)

    def _key(self, wanted: OutputFile) -> str:
        config, track = self._materials.config, self._materials.track
        tags = tags_of(track, self._materials.voice, wanted.kind)
        parts: list[Any] = [RENDER_STEP, __version__, wanted.kind.value, tags]
        if wanted.kind.is_film:
            parts += [config.container, config.extended, track.language]
        if wanted.kind is Kind.TEXT:
            lines = [[at.start, at.end, text] for at, text in written_lines(track)]
            return key_of(*parts, self._materials.prepared.info.fingerprint, lines)
        return key_of(*parts, self._heard)


def _state(path: Path) -> list[int] | None:
    """By which a file is known to be untouched: its size and when it was last written, in ns."""
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]
