"""From placed lines to files.

`FileMaker` makes each wanted file. `RenderRecord` is ``render.json``: it says of what each file was made, so
that a file whose parts are all unchanged need not be made again.
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
from shotad.core import Interval, Progress
from shotad.core.files import write_text
from shotad.core.progress import printable, progress_task
from shotad.core.workfolder import hash_key
from shotad.film import open_film
from shotad.script import Finding, Track
from shotad.script.guidelines import finding_of, finding_row
from shotad.script.track import to_json
from shotad.script.track_texts import texts_in
from shotad.sound.ad_tracks import AdSound, Coding, choose_coding
from shotad.sound.check_film import check_film
from shotad.sound.containers import MKV, container_for
from shotad.sound.files import sound_kind, write_sound
from shotad.sound.film_copy import write_copy
from shotad.sound.levels import PEAK_SLACK
from shotad.sound.loudness import PEAK_RISE, DecodedMeter, measure_file
from shotad.sound.mix import (
    FileSound,
    Mix,
    MixReport,
    counted,
    loudness_findings,
    loudness_sentence,
    off_target,
    over_peak,
    prepare_mix,
)
from shotad.sound.mux_film import write_film
from shotad.sound.outputs import OTHERWISE, Json, Kind, MadeFile, OutputFile, Rendered, SoundSummary
from shotad.sound.pauses import TimeMap
from shotad.sound.programme import RATE
from shotad.sound.sidecar import write_sidecar
from shotad.sound.spoken_lines import Materials, blocking_findings
from shotad.sound.spoken_subtitles import SpokenSubtitles

MONO = "mono"

MAX_WRITES = 4
"""Times that a file is written at most until its peaks and its loudness are what was asked for."""

PEAK_MARGIN = 0.1
"""dB by which peaks are lowered further than they were too high: coded again, they fall elsewhere."""


@dataclass(slots=True)
class FileMaker:
    """Makes the files of a render. Copies of the film that pauses are removed when ``copies`` is closed.

    Where the film pauses, sound files are made of its copy in the container ``copy_ending``: best one that a
    film is made of anyway, for a copy takes long.
    """

    materials: Materials
    progress: Progress
    copies: ExitStack
    copy_ending: str = OTHERWISE
    _scenes: dict[str, Materials] = field(default_factory=dict)
    _mixes: dict[str, Mix] = field(default_factory=dict)

    def make(self, output: OutputFile) -> MadeFile:
        """Make one file. Raises SoundError, FilmError, WorkFolderError.

        Its sound is decoded and measured. A file whose peaks are over their limit, or that misses its
        loudness, is written again, lower or louder by the difference, at most `MAX_WRITES` times.
        """
        if not output.kind.is_heard:
            made_file, _ = self._write_film(output, None)
            return made_file
        name, is_film = output.path.name, output.kind.is_film
        mix = self.mix(output.ending if is_film else self.copy_ending)
        # The mix that is written: its peaks are lower by what the coder will raise them.
        written_mix = mix.with_lower_peaks(PEAK_RISE.get(self._encoder(output, mix), 0.0))
        for write in range(MAX_WRITES):
            if write > 0:
                self.progress.note(f"{name}, decoded, is not within its limits: written again.")
            if is_film:
                made_file, sound = self._write_film(output, written_mix)
            else:
                made_file, sound = self._write_sound(output, written_mix)
            if sound is None:
                return made_file
            peak_excess = over_peak(written_mix.report, sound)
            difference = off_target(written_mix.report, sound)
            if peak_excess <= PEAK_SLACK and difference == 0:
                break
            lower = max(0.0, peak_excess + PEAK_MARGIN)
            written_mix = written_mix.with_lower_peaks(lower).louder(-difference)
        assert sound is not None
        findings = (*made_file.findings, *loudness_findings(mix.report, sound, name))
        sentences = (loudness_sentence(mix.report, sound, name),)
        return replace(made_file, findings=findings, sound=asdict(sound), lines=sentences)

    def _encoder(self, output: OutputFile, mix: Mix) -> str:
        """ffmpeg's name of the encoder of a file's sound."""
        if not output.kind.is_film and output.kind is not Kind.SIDECAR:
            return sound_kind(output.path).codec
        return self._coding(output, mix).encoder

    def _coding(self, output: OutputFile, mix: Mix) -> Coding:
        """How the AD track of a film, or of a sidecar, is coded."""
        codec = self.materials.config.container.codec
        if output.kind is Kind.SIDECAR:
            info, container = self.scene(self.copy_ending).film.info, MKV
        else:
            info, container = self.scene(output.ending).film.info, container_for(output.path)
        return choose_coding(self._ad_sound(mix), container, info, codec)

    def _write_sound(self, output: OutputFile, mix: Mix) -> tuple[MadeFile, FileSound]:
        """Write a sound file, and measure it as players decode it."""
        if output.kind is Kind.SIDECAR:
            return self._write_sidecar(output, mix)
        is_alone = output.kind is Kind.AD
        blocks, layout = (mix.alone(), MONO) if is_alone else (mix.mixed(), mix.layout)
        with progress_task(self.progress, f"Writing {output.path.name}", mix.duration, "s") as task:
            write_sound(
                output.path,
                counted(blocks, task),
                layout=layout,
                tags=tags_of(self.materials.track, self.materials.voice, output.kind),
                true_peak=mix.true_peak,
            )
        loudness, course = measure_file(output.path)
        return MadeFile(output), mix.file_sound(loudness, None if is_alone else course)

    def _write_sidecar(self, output: OutputFile, mix: Mix) -> tuple[MadeFile, FileSound]:
        """Write the described sound as a track beside the film, and measure it."""
        track, sound = self.materials.track, self._ad_sound(mix)
        write_sidecar(
            output.path,
            sound,
            self._coding(output, mix),
            seconds=mix.duration,
            language=track.language,
            tags=tags_of(track, self.materials.voice, output.kind),
            progress=self.progress,
        )
        loudness, course = measure_file(output.path)
        is_alone = self.materials.config.container.sound == "alone"
        warnings: tuple[str, ...] = ()
        film = self.materials.film.info.path
        if film is not None and output.path.parent.resolve() != film.parent.resolve():
            warnings = (f"Put {output.path.name} beside the film: media servers look for it there.",)
        made_file = MadeFile(output, warnings=warnings)
        return made_file, mix.file_sound(loudness, None if is_alone else course)

    def mix(self, ending: str) -> Mix:
        """The mix for a file of this ending; prepared once, and once for each copy where the film pauses."""
        config = self.materials.config
        key = ending if self.materials.fitting.pauses else ""
        if key not in self._mixes:
            scene = self.scene(ending)
            self._mixes[key] = prepare_mix(
                scene.film,
                scene.heard_lines,
                scene.kept_speech,
                config.mix,
                audio_track=config.film.audio_track,
                progress=self.progress,
            )
        return self._mixes[key]

    def report(self) -> MixReport:
        """The figures of the mix: of any copy's that was prepared already, for they hardly differ."""
        prepared = next(iter(self._mixes.values()), None)
        return (prepared or self.mix(self.copy_ending)).report

    def scene(self, ending: str) -> Materials:
        """What a file of this ending is made of, on its own time.

        Where the film pauses that is a copy of it in that container, with lines and speech moved to the
        copy's time; else the materials as they are.
        """
        materials = self.materials
        pauses = materials.fitting.pauses
        if not pauses:
            return materials
        if ending not in self._scenes:
            directory = tempfile.TemporaryDirectory(prefix=".tmp-", dir=materials.folder.path)
            copy_path = Path(self.copies.enter_context(directory), f"copy.{ending}")
            write_copy(materials.film, pauses, copy_path, materials.config.extended, self.progress)
            times = TimeMap(pauses)
            self._scenes[ending] = replace(
                materials,
                film=self.copies.enter_context(open_film(copy_path)),
                speech=tuple(map(times.interval, materials.speech)),
                fitting=times.fitting(materials.fitting),
                subtitles=_on_copy(materials.subtitles, times),
            )
        return self._scenes[ending]

    def _write_film(self, output: OutputFile, mix: Mix | None) -> tuple[MadeFile, FileSound | None]:
        """Write a film, read it back, and measure its AD track; ``mix`` None: a text track alone."""
        config = self.materials.config
        scene = self.scene(output.ending)
        track = self.materials.track
        text = None
        if output.kind is not Kind.FILM:
            spoken = [(line.interval, line.text) for line in scene.fitting.spoken]
            text = without_overlaps(spoken) if scene.voice else written_lines(track)
        written = write_film(
            scene.film,
            output.path,
            sound=None if mix is None else self._ad_sound(mix),
            text=text,
            language=track.language,
            settings=config.container,
            metadata=tags_of(track, self.materials.voice, output.kind),
            progress=self.progress,
        )
        meter = DecodedMeter()
        findings = check_film(output.path, scene.film, written, meter)
        made_file = MadeFile(output, findings, tuple(written.warnings))
        measured = meter.result()
        if mix is None or measured is None:
            return made_file, None
        loudness, course = measured
        is_alone = config.container.sound == "alone"
        return made_file, mix.file_sound(loudness, None if is_alone else course)

    def _ad_sound(self, mix: Mix) -> AdSound:
        """The sound of a film's AD track, by ``container.sound``."""
        if self.materials.config.container.sound == "alone":
            return AdSound(mix.alone(), MONO, RATE, mix.true_peak)
        return AdSound(mix.mixed(), mix.layout, RATE, mix.true_peak)


def _on_copy(subtitles: SpokenSubtitles | None, times: TimeMap) -> SpokenSubtitles | None:
    """Spoken subtitles on the time of a copy that pauses."""
    if subtitles is None:
        return None
    return replace(subtitles, spoken=tuple(map(times.line, subtitles.spoken)))


def written_lines(track: Track) -> tuple[tuple[Interval, str], ...]:
    """Interval and text of each heard line: as it was last spoken where that is known, else as in the track.

    Lines that found no place are left out, and those that need a pause, which players of text do not make.
    """
    lines: list[tuple[Interval, str]] = []
    for cue in track.heard:
        spoken = cue.spoken
        if spoken is None:
            lines.append((cue.interval, cue.text))
        elif spoken.interval is not None and not spoken.pause:
            lines.append((spoken.interval, spoken.text))
    return without_overlaps(lines)


def without_overlaps(lines: Sequence[tuple[Interval, str]]) -> tuple[tuple[Interval, str], ...]:
    """The lines in order, each ended where the next begins; a line that has no time left is dropped."""
    ordered = sorted(lines, key=lambda line: line[0])
    shortened: list[tuple[Interval, str]] = []
    for (interval, text), following in zip_longest(ordered, ordered[1:]):
        end = interval.end if following is None else min(interval.end, following[0].start)
        if end > interval.start:
            shortened.append((Interval(interval.start, end), text))
    return tuple(shortened)


def tags_of(track: Track, voice: str, kind: Kind) -> dict[str, str]:
    """Metadata of a file: how the description was made and reviewed, who speaks, the program's version."""
    texts = texts_in(track.language)
    statement = track.statement
    if voice:
        statement = f"{statement} {texts('statement.spoken_by', voice=voice)}"
    tags = {texts("statement.tag"): statement, "encoder": f"shotad {__version__}"}
    if not kind.is_film:
        tags["title"] = texts("script.film_with_title", film=printable(Path(track.film.name).stem))
        tags["language"] = track.language
    return tags


RECORD = "render.json"
RENDER_STEP = "render/3"
"""The step that makes files, and its version: raise it when they are made in another way (see `hash_key`)."""


_ROW_KEYS = {"path", "key", "state", "findings", "warnings", "sound", "told"}
"""What the record must say of each file to be of use."""


class RenderRecord:
    """The record of what was made, and of what (``render.json``). It is written after each file."""

    def __init__(self, materials: Materials, *, force: bool = False) -> None:
        """Read the record of earlier renders; with ``force`` nothing of it counts."""
        self._materials = materials
        self._name = f"render.{materials.track.language}.json" if materials.is_translation else RECORD
        earlier = {} if force else materials.folder.read_json(self._name) or {}
        self._rows = _rows_by_path(earlier.get("made"), materials.folder.path.absolute())
        side_files = earlier.get("beside")
        self._side_files: dict[str, Any] = dict(side_files) if isinstance(side_files, dict) else {}
        self._fresh: set[str] = set()
        self._mix_key = _mix_key(materials)
        self._earlier_voice = earlier.get("voice")
        sound = earlier.get("sound")
        is_same_mix = isinstance(sound, dict) and sound.get("key") == self._mix_key and materials.voice
        self.sound: SoundSummary | None = SoundSummary.from_row(sound) if is_same_mix and sound else None
        """How the mix came out, now or in an earlier render of the very same mix; None: not known."""

    def has(self, output: OutputFile) -> bool:
        """Whether the file exists, untouched, and was made of just what it would be made of now."""
        row = self._rows.get(str(output.path.absolute()))
        return row is not None and row["key"] == self._key(output) and row["state"] == _state(output.path)

    def add(self, made_file: MadeFile) -> None:
        """Write down a file that was made."""
        output = made_file.output
        path = output.path.absolute()
        folder = self._materials.folder.path.absolute()
        self._fresh.add(str(path))
        self._rows[str(path)] = {
            "path": str(path),
            # By this a file in the work folder is found after the folder was moved.
            "within": path.relative_to(folder).as_posix() if path.is_relative_to(folder) else None,
            "kind": output.kind.value,
            "key": self._key(output),
            "state": _state(output.path),
            "findings": [finding_row(finding) for finding in made_file.findings],
            "warnings": list(made_file.warnings),
            "sound": made_file.sound,
            "told": list(made_file.lines),
        }
        self._write({})

    def put_beside(self, path: Path, sound: Path, script: Callable[[], str]) -> None:
        """Write what ``script`` returns to a side file of ``sound``, unless that file exists, untouched, and
        was made of the same track and mix."""
        key = hash_key(RENDER_STEP, __version__, sound.name, self._mix_key, to_json(self._materials.track))
        state = _state(path)
        if state is None or self._side_files.get(path.name) != [key, state]:
            write_text(path, script())
            self._side_files[path.name] = [key, _state(path)]

    def rendered(
        self,
        outputs: Sequence[OutputFile],
        side_files: Sequence[Path],
        failures: Mapping[OutputFile, str],
        notes: Sequence[str],
    ) -> Rendered:
        """The result of the render, which is also written to the record.

        ``outputs`` are all files that could be made or were kept; ``notes`` become warnings.
        """
        materials, voice = self._materials, self._materials.voice
        made_files = [self._made(output) for output in outputs]
        warnings = list(notes)
        if voice and isinstance(self._earlier_voice, str) and self._earlier_voice != voice:
            warnings.append(f"The render before was spoken by {self._earlier_voice}, this one by {voice}.")
        findings: list[Finding] = []
        sound = self.sound
        if sound is not None:
            # With the figures of the first file that has the mix.
            mix_sounds = [
                made_file.sound for made_file in made_files if made_file.sound and made_file.sound["mix"]
            ]
            measured = mix_sounds[0] if mix_sounds else {"loudness": None, "reached": None}
            measures = {**sound.measures, "mix": measured["loudness"], "reached": measured["reached"]}
            sound = replace(sound, measures=measures)
            findings += sound.findings
        for made_file in made_files:
            findings += made_file.findings
            warnings += made_file.warnings
        findings += blocking_findings(materials.track, materials.fitting.unspoken, "is not heard")
        result = Rendered(
            track=materials.track,
            voice=voice or None,
            made=tuple(made_files),
            takes_spoken=materials.takes_spoken,
            takes_kept=materials.takes_kept,
            sound=sound,
            pauses=materials.fitting.pauses,
            findings=tuple(findings),
            # Each once: several files may warn of the same.
            warnings=tuple(dict.fromkeys(warnings)),
            files=tuple(side_files),
            edited_lines=dict(materials.edited_lines),
            subtitles=materials.subtitles,
            left_out=dict(materials.left_out),
            failures=failures,
        )
        self._write(result.as_json())
        return result

    def _made(self, output: OutputFile) -> MadeFile:
        """What the record says of a file."""
        path = str(output.path.absolute())
        row = self._rows[path]
        return MadeFile(
            output=output,
            findings=tuple(map(finding_of, row["findings"])),
            warnings=tuple(row["warnings"]),
            sound=row["sound"],
            lines=tuple(row["told"]),
            fresh=path in self._fresh,
        )

    def _write(self, result: Json) -> None:
        """Write the record; ``result`` is `Rendered.as_json`, or empty while files are still made."""
        present = [{**row, "path": path} for path, row in self._rows.items() if Path(path).exists()]
        sound = None if self.sound is None else {"key": self._mix_key, **self.sound.as_json()}
        record = {**result, "sound": sound, "made": present, "beside": self._side_files}
        self._materials.folder.write_json(self._name, record)

    def _key(self, output: OutputFile) -> str:
        """A key of all that a file is made of."""
        config, track = self._materials.config, self._materials.track
        tags = tags_of(track, self._materials.voice, output.kind)
        parts: list[Any] = [RENDER_STEP, __version__, output.kind.value, tags]
        if output.kind.is_film:
            parts += [config.container, config.extended, track.language]
        if output.kind is Kind.TEXT:
            # Without a voice: its lines are read, and no mix changes it.
            lines = [[interval.start, interval.end, text] for interval, text in written_lines(track)]
            return hash_key(*parts, self._materials.prepared.info.fingerprint, lines)
        return hash_key(*parts, self._mix_key)


def _rows_by_path(rows: object, folder: Path) -> dict[str, Json]:
    """What a record says of each file, by absolute path; rows that are damaged are left out.

    ``folder`` is the work folder as it is called now.
    """
    by_path: dict[str, Json] = {}
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and row.keys() >= _ROW_KEYS:
            within = row.get("within")
            path = row["path"] if within is None else str(folder / within)
            by_path[path] = row
    return by_path


def _mix_key(materials: Materials) -> str:
    """A key of all that changes the mix: the film, every take and its place, the settings of the mix."""
    fitting, config = materials.fitting, materials.config
    film = [materials.prepared.info.fingerprint, config.film.audio_track]
    takes = [[line.id, round(line.start, 6), line.take.key, line.take.rate] for line in materials.heard_lines]
    pauses = [[pause.at, pause.length, pause.cue_id] for pause in fitting.pauses]
    speech = [[interval.start, interval.end] for interval in materials.speech]
    return hash_key(RENDER_STEP, film, takes, pauses, speech, config.mix)


def _state(path: Path) -> list[int] | None:
    """Size and time of the last change (ns), by which a file is known to be untouched; None: not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]
