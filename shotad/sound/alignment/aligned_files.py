"""What is made of a recording that was fitted to a film: the film with it as a track, sound files, a
script."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shotad import __version__
from shotad.core import Config, Interval, Progress, WorkFolder
from shotad.core.errors import UsageError
from shotad.core.progress import printable
from shotad.film import Film, SoundBlock
from shotad.film.transcript import Recogniser
from shotad.sound.ad_tracks import AdSound
from shotad.sound.alignment.exact_fit import exact_fit
from shotad.sound.alignment.fitted_sound import Fit, fitted_blocks
from shotad.sound.alignment.narrator import Narrator, find_lone_narrator, find_narrator
from shotad.sound.alignment.narrator_script import NarratorScript, check_track, write_script
from shotad.sound.alignment.pieces import SAME_LENGTH, Alignment
from shotad.sound.alignment.recording import Recording
from shotad.sound.check_film import check_film
from shotad.sound.file_maker import MONO
from shotad.sound.files import write_sound
from shotad.sound.kinds import Spoken, Take
from shotad.sound.loudness import DOWNMIXED_PEAK, Limiter, limited
from shotad.sound.mix import Mix, prepare_mix
from shotad.sound.mux_film import write_film
from shotad.sound.outputs import Json, Kind, MadeFile, OutputFile, parse_wanted, wanted_files
from shotad.sound.programme import RATE, Programme, programme_of
from shotad.sound.render import check_wanted
from shotad.sound.takes import write_take

SCRIPT = "script"
"""What is made besides files of sound and film: the narrator's lines in the track."""
TAG = "aligned"
"""In the names of the files, so that none is taken for a render: ``movie.aligned.ad.wav``."""
_MEANINGS = {
    Kind.FILM: "the film with the fitted recording as another audio track",
    Kind.MIX: "the fitted recording alone, as long as the film",
    Kind.AD: "the narrator alone",
    SCRIPT: "the narrator's words as lines of the track",
}
GOOD_SUPPRESSION = 15.0
"""dB; where the film was lowered by less, it can be heard behind the narrator."""


@dataclass(frozen=True, slots=True)
class AlignedFiles:
    """What was made of a recording.

    ``suppression``: dB by which the film's sound was lowered beside the narrator (None: not measured).
    ``pitch_kept``: the recording's speed was changed without its pitch.
    """

    files: tuple[MadeFile, ...] = ()
    script: NarratorScript | None = None
    suppression: float | None = None
    pitch_kept: bool = False
    notes: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(file.output.path for file in self.files)

    @property
    def failed(self) -> bool:
        """Whether a file has an error that must not be delivered."""
        return any(finding.level == "error" for file in self.files for finding in file.findings)

    @property
    def summary(self) -> str:
        """Plain lines for people."""
        lines = [f"{file.output.kind}: {file.output.path}" for file in self.files]
        for file in self.files:
            lines += [str(finding) for finding in file.findings] + list(file.warnings)
        if self.script is not None:
            lines.append(self.script.summary)
        return "\n".join([*lines, *self.notes])

    def as_json(self) -> Json:
        """What ``--json`` prints of it."""
        script: dict[str, Any] | None = None
        if self.script is not None:
            counts = ("added", "wordless", "dialogue", "kept", "dropped")
            script = {name: getattr(self.script, name) for name in counts}
            script["recogniser"] = self.script.recogniser
        return {
            "files": [{"kind": file.output.kind.value, "path": str(file.output.path)} for file in self.files],
            "script": script,
            "film_lowered_by": None if self.suppression is None else round(self.suppression, 1),
            "pitch_kept": self.pitch_kept,
            "notes": list(self.notes),
        }


def parse_makes(texts: Sequence[str]) -> tuple[list[tuple[Kind, str | None]], bool]:
    """``film``, ``mix:mp3``, ``ad`` … as kinds and endings, and whether ``script`` is among them.

    Raises UsageError for what cannot be made of a recording.
    """
    names = [text for text in texts if text.lower() != SCRIPT]
    for text in names:
        name = text.lower().partition(":")[0]
        if name == SCRIPT:
            raise UsageError(f"{text!r}: a script has no ending.", f"Write --make {SCRIPT}")
        if name not in _MEANINGS:
            meanings = "; ".join(f"{kind}: {meaning}" for kind, meaning in _MEANINGS.items())
            hint = f"There is {meanings}."
            if name in set(Kind):
                hint += f" shotad render makes {name} of the script."
            raise UsageError(f"{text!r} is not made of a recording.", hint)
    return (parse_wanted(names) if names else []), len(names) < len(texts)


def check_makes(makes: Sequence[str], recogniser: Recogniser | None) -> None:
    """Raise UsageError for what cannot be made of any recording, or not with what is installed.

    Raises ValueError for a script without a recogniser.
    """
    _, wants_script = parse_makes(makes)
    if wants_script and recogniser is None:
        raise ValueError("a script needs a recogniser")
    missing = recogniser.missing() if wants_script and recogniser is not None else ""
    if missing:
        raise UsageError(f"{missing}.", "Without it --make ad gives the narrator's voice alone.")


def make_from_alignment(
    film: Film,
    folder: WorkFolder,
    recording: Recording,
    alignment: Alignment | None,
    makes: Sequence[str],
    config: Config,
    progress: Progress,
    *,
    language: str,
    recogniser: Recogniser | None = None,
    out: Path | None = None,
) -> AlignedFiles:
    """Make the files that ``makes`` asks for, in the words of `parse_makes`; ``folder`` is open.

    Arguments:
        alignment: how the recording lies in the film. None: it has the description alone, without the film's
            sound, and begins with the film.
        language: of the narrator, a BCP 47 tag.
        recogniser: writes down the narrator's words; needed for a script alone.
        out: another folder than the work folder or, for one file, its path.

    What cannot be made raises before the long work. Raises UsageError, SoundError, FilmError,
    WorkFolderError, ScriptError, EditConflict, WeightsError.
    """
    check_makes(makes, recogniser)
    kinds, wants_script = parse_makes(makes)
    wanted = wanted_files(kinds, film.info.name, folder.path, out=out, tag=TAG, language=language)
    check_wanted(film, wanted, config, language)
    if alignment is None:
        _check_length(film, recording)
    if wants_script:
        check_track(folder, film.info, language)
    programme = programme_of(film, config.film.audio_track)
    fit = None if alignment is None else exact_fit(alignment, recording, programme, progress)
    with tempfile.TemporaryDirectory(prefix=".tmp-", dir=folder.path) as directory:
        workshop = _Workshop(film, recording, fit, programme, config, progress, language, Path(directory))
        needs_narrator = wants_script or fit is None or config.container.sound == "alone"
        if needs_narrator or any(output.kind is Kind.AD for output in wanted):
            workshop.find_narrator()
            # Before anything is written: it may not be worth the wait.
            for warning in _film_left(workshop.narrator):
                progress.note(warning)
        files = tuple(workshop.make(output) for output in wanted)
        script = None
        narrator = workshop.narrator
        if wants_script and narrator is not None and recogniser is not None:
            whole = Interval(0.0, film.info.duration)
            held = [whole] if alignment is None else [piece.film for piece in alignment.pieces]
            script = write_script(
                narrator, recogniser, folder, film.info, recording.name, held, language, progress
            )
    if files:
        folder.note(f"made of {recording.name}: {', '.join(file.output.path.name for file in files)}")
    suppression = None if narrator is None else narrator.suppression
    pitch_kept = fit is not None and fit.pitch_kept
    return AlignedFiles(files, script, suppression, pitch_kept, tuple(_notes(narrator, pitch_kept)))


def _check_length(film: Film, recording: Recording) -> None:
    difference = recording.duration - film.info.duration
    if abs(difference) > SAME_LENGTH:
        raise UsageError(
            f"{recording.name} is {abs(difference):.1f} s {'longer' if difference > 0 else 'shorter'} than "
            f"{film.info.name}, and nothing in it says where it belongs.",
            "A recording of the description alone has to begin and end with its film: cut it, or fill it up.",
        )


def _notes(narrator: Narrator | None, pitch_kept: bool) -> Iterator[str]:
    if pitch_kept:
        yield "The recording's speed was changed without its pitch, so it is stretched back."
    if narrator is None:
        return
    if not narrator.lines:
        yield "No narrator was found in the recording."
    yield from _film_left(narrator)


def _film_left(narrator: Narrator | None) -> Iterator[str]:
    """Whether much of the film was left beside the narrator."""
    suppression = None if narrator is None else narrator.suppression
    if suppression is not None and suppression < GOOD_SUPPRESSION:
        yield (
            f"The film's sound could be lowered by {suppression:.0f} dB only, and may be heard behind the "
            "narrator. The recording holds another mix of it, or its speed was changed without its pitch."
        )


@dataclass(slots=True)
class _Workshop:
    """Makes each file. ``fit`` None: the recording has the description alone. ``directory`` is for files that
    nobody keeps."""

    film: Film
    recording: Recording
    fit: Fit | None
    programme: Programme
    config: Config
    progress: Progress
    language: str
    directory: Path
    narrator: Narrator | None = None
    _mix: Mix | None = None

    def find_narrator(self) -> None:
        duration = self.film.info.duration
        if self.fit is None:
            self.narrator = find_lone_narrator(self.recording, duration, self.progress)
        else:
            place = self.directory / "narrator.flac"
            self.narrator = find_narrator(self.recording, self.fit, self.programme, place, self.progress)

    def make(self, output: OutputFile) -> MadeFile:
        if output.kind is Kind.FILM:
            return self._write_film(output)
        blocks, layout = self._alone() if output.kind is Kind.AD else self._described()
        write_sound(output.path, blocks, layout=layout, tags=self._tags(output.kind))
        return MadeFile(output)

    def _write_film(self, output: OutputFile) -> MadeFile:
        blocks, layout = self._alone() if self.config.container.sound == "alone" else self._described()
        written = write_film(
            self.film,
            output.path,
            sound=AdSound(blocks, layout, RATE),
            text=None,
            language=self.language,
            settings=self.config.container,
            metadata=self._tags(output.kind),
            progress=self.progress,
        )
        findings = check_film(output.path, self.film, written)
        return MadeFile(output, findings, tuple(written.warnings))

    def _alone(self) -> tuple[Iterator[SoundBlock], str]:
        """The narrator alone, and the layout."""
        assert self.narrator is not None
        return self.narrator.blocks(self.programme.total), MONO

    def _described(self) -> tuple[Iterator[SoundBlock], str]:
        """Film and narrator, and the layout: the recording's own mix, else one that is made as of spoken
        lines."""
        if self.fit is not None:
            fitted = fitted_blocks(self.recording, self.fit, self.programme)
            return limited(fitted, Limiter(DOWNMIXED_PEAK)), self.recording.layout
        if self._mix is None:
            self._mix = self._mixed()
        return iter(self._mix.mixed()), self._mix.layout

    def _mixed(self) -> Mix:
        assert self.narrator is not None
        track = self.config.film.audio_track
        return prepare_mix(
            self.film, self._spoken(), (), self.config.mix, audio_track=track, progress=self.progress
        )

    def _spoken(self) -> list[Spoken]:
        """The narrator's lines as takes, each in a file of its own: all of them would take much memory."""
        assert self.narrator is not None
        spoken: list[Spoken] = []
        held: list[SoundBlock] = []
        lines = list(self.narrator.lines)
        for block in self.narrator.blocks(self.programme.total):
            held.append(block)
            end = block.seconds + len(block.samples) / RATE
            while lines and (lines[0].end <= end or end * RATE >= self.programme.total):
                line = lines.pop(0)
                name = f"line{len(spoken):05}.flac"
                samples = np.concatenate([part.samples for part in held])
                first = round((line.start - held[0].seconds) * RATE)
                take = Take(samples[first : first + round(line.duration * RATE)], RATE)
                spoken.append(Spoken(name, "", line.start, write_take(self.directory / name, take)))
            needed_from = lines[0].start if lines else end
            held = [part for part in held if part.seconds + len(part.samples) / RATE > needed_from]
        return spoken

    def _tags(self, kind: Kind) -> dict[str, str]:
        statement = f"Audio description of {printable(self.recording.name)}, fitted to this film."
        tags = {"audio_description": statement, "encoder": f"shotad {__version__}"}
        if not kind.is_film:
            tags["title"] = f"{printable(Path(self.film.info.name).stem)}: audio description"
            tags["language"] = self.language
        return tags
