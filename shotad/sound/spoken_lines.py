"""From the track to spoken lines in their places: `gather` reads what a render needs, `speak` has every line
spoken and fitted, with pauses of the film where the settings allow them.

How each line was spoken is written on the track. Text, time and status of the lines stay unchanged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from shotad.core import (
    Config,
    Interval,
    Progress,
    WorkFolder,
)
from shotad.core.files import (
    inner_folder,
    read_file,
    write_text,
)
from shotad.core.profiling import time_step
from shotad.core.runsettings import read_settings
from shotad.core.workfolder import SETTINGS_FILE
from shotad.film import (
    Film,
    Prepared,
    read_prepared,
)
from shotad.film.slots import no_line_times
from shotad.script import (
    Cue,
    Finding,
    Level,
    Track,
    save_track,
    track_lock,
)
from shotad.script.cue import (
    SpokenTake,
    line_stamp,
    timecode,
)
from shotad.script.fit import Shorten
from shotad.script.reasons import in_english, reason_in
from shotad.script.track import to_json
from shotad.script.track_files import (
    TRACK,
    is_translation,
    load_track_of_film,
    save_translation,
    scripts_of,
    with_edited_scripts,
)
from shotad.sight import load_cast
from shotad.sound.checked_takes import MAX_SECONDS, is_speakable
from shotad.sound.film_lexicon import film_lexicon
from shotad.sound.fitted_takes import fit
from shotad.sound.kinds import AS_THE_FILM, Fitting, LineToSpeak, Spoken, Unspoken, delivery_of
from shotad.sound.pauses import PausePlanner
from shotad.sound.placement import lines_of
from shotad.sound.pronunciation import EMPTY_LEXICON, Lexicon, lexicon_of
from shotad.sound.spoken_subtitles import SpokenSubtitles, speech_not_under
from shotad.sound.takes import CachingStudio, EstimatingStudio
from shotad.sound.voice_engines import Speaker


@dataclass(frozen=True, slots=True)
class Materials:
    """What a render works with. `speak` adds how the lines are spoken; `FileMaker.scene` moves them to the
    time of a copy of the film that pauses.

    ``file`` is that of the track, ``speech`` when somebody speaks in ``film`` (seconds).
    ``edited_lines`` counts lines that people changed in scripts, by file name; ``file_hashes`` are the
    SHA-256 of the track's files as they were read. ``voice`` is empty where nothing is spoken.
    ``takes_spoken`` counts takes that were spoken now, ``takes_kept`` those from before.
    ``edited_meanwhile``: the track was saved again while its lines were spoken, and those edits are not in
    here. ``subtitles`` are those that are spoken too. ``left_out`` are the words of spoken lines that their
    voice has no sound for, by the line's id.
    """

    film: Film
    folder: WorkFolder
    config: Config
    track: Track
    file: Path
    prepared: Prepared
    speech: tuple[Interval, ...]
    edited_lines: Mapping[str, int]
    file_hashes: Mapping[Path, str]
    fitting: Fitting = field(default_factory=Fitting)
    voice: str = ""
    takes_spoken: int = 0
    takes_kept: int = 0
    edited_meanwhile: bool = False
    subtitles: SpokenSubtitles | None = None
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def heard_lines(self) -> tuple[Spoken, ...]:
        """The lines of the description and spoken subtitles, ascending by start."""
        subtitles = () if self.subtitles is None else self.subtitles.spoken
        return tuple(sorted((*self.fitting.spoken, *subtitles), key=lambda line: line.start))

    @property
    def kept_speech(self) -> tuple[Interval, ...]:
        """When somebody speaks and the film is not lowered: all speech but that under spoken subtitles."""
        if self.subtitles is None:
            return self.speech
        return speech_not_under(self.speech, self.subtitles.intervals, self.film.info.duration)

    @property
    def is_translation(self) -> bool:
        """Whether the track is a translation, and not the film's own track."""
        return self.file.name != TRACK

    @property
    def is_current(self) -> bool:
        """Whether the track and its scripts are still what was read: nobody has saved others since."""
        return _hashes_of(self.file_hashes) == self.file_hashes

    def save(self) -> None:
        """Write the track with how its lines were spoken, and its scripts where it is the film's own.

        Edits that were saved since the track was read are kept.
        """
        track = self.track
        is_in_folder = self.file.parent.resolve() == self.folder.path.resolve()
        with track_lock(self.folder.path):
            if not self.is_current:
                track = self._newest_with_voiced()
            if not self.is_translation:
                # A film that was renamed keeps its scripts' names: edits are looked for under those.
                save_track(track, self.folder.path, track.film.name)
            elif is_translation(self.file, track) and is_in_folder:
                save_translation(track, self.folder)
            else:
                write_text(self.file, to_json(track))

    def _newest_with_voiced(self) -> Track:
        """The track that is now on the disk, with how each line was spoken that has not changed since."""
        newest = _read_track(self.film, self.folder, self.file)[0]
        rendered = {cue.id: cue for cue in self.track.cues}
        cues: list[Cue] = []
        for cue in newest.cues:
            rendered_cue = rendered.get(cue.id, cue)
            voiced_cue = replace(
                cue, stored_take=rendered_cue.stored_take, spoken_length=rendered_cue.spoken_length
            )
            # `Cue.spoken` is None where the text or time is another than that which was spoken.
            is_unchanged = cue.heard and voiced_cue.spoken is not None
            cues.append(voiced_cue if is_unchanged else cue)
        return newest.with_cues(cues)


def gather(film: Film, folder: WorkFolder, config: Config, file: Path | None = None) -> Materials:
    """Read what a render of the track in ``file`` (None: the film's own) needs.

    Raises WorkFolderError for a track of another film, ScriptError for one that cannot be read, EditConflict
    where people changed the same line in two places.
    """
    file = file or folder.path / TRACK
    track, edited_lines, file_hashes = _read_track(film, folder, file)
    prepared = read_prepared(folder, film.info, config, described=(folder.path / SETTINGS_FILE).is_file())
    speech = no_line_times(prepared.speech, config.speech)
    return Materials(film, folder, config, track, file, prepared, speech, edited_lines, file_hashes)


def _read_track(film: Film, folder: WorkFolder, file: Path) -> tuple[Track, dict[str, int], dict[Path, str]]:
    """The track in ``file`` with the edits in its scripts, the number of edited lines by script, and the
    hashes of all these files."""
    # Hashed before it is read: a file that changes in between counts as changed, and is read again.
    hashes = _hashes_of([file])
    track = load_track_of_film(film.info, file, "Name its film with --film, or describe this one.")
    scripts = [path for _, path in scripts_of(track, folder.path, file.name)]
    hashes |= _hashes_of(scripts)
    edited_track, edited_lines = with_edited_scripts(track, folder, track_file_name=file.name)
    return edited_track, edited_lines, hashes


def _hashes_of(files: Iterable[Path]) -> dict[Path, str]:
    """SHA-256 of the files' content by path; an empty string for a file that does not exist."""
    hashes: dict[Path, str] = {}
    for file in files:
        hashes[file] = hashlib.sha256(read_file(file, follow=True)).hexdigest() if file.is_file() else ""
    return hashes


NO_WORDS = in_english("reason.no_word")
"""Why a line without a letter or a digit is not spoken."""

ENDLESS = in_english("reason.endless", minutes=f"{MAX_SECONDS / 60:.0f}")
"""Why a line that is far too long is not spoken."""

VOICES = "voice"
"""The folder of takes in the work folder."""


@time_step("voice")
def speak(
    materials: Materials,
    voice: Speaker,
    progress: Progress,
    *,
    shorten: Shorten | None = None,
    force: bool = False,
) -> Materials:
    """Speak and fit every line of the track.

    The result has the fitting, and the track says of each line how it is spoken, or why it is not.
    ``force`` speaks lines again whose takes are kept. Raises VoiceError.
    """
    config, track = materials.config, materials.track
    takes_folder = f"{VOICES}.{track.language}" if materials.is_translation else VOICES
    studio = CachingStudio(
        voice,
        inner_folder(materials.folder.path, takes_folder),
        config.voice,
        track.language,
        pronunciations(materials.folder.path),
        force=force,
    )
    # A recorded line needs no voice; one with a voice or pace of its own is spoken when it is fitted.
    as_the_film = [cue for cue in track.heard if delivery_of(cue) == AS_THE_FILM]
    texts = [" ".join(cue.text.split()) for cue in as_the_film]
    speakable = [text for text in texts if not unspeakable_reason(studio.sent(text), track.language)]
    # All lines as they are first, several at once; fitting then asks for shorter ones bit by bit.
    studio.say_all(speakable, progress=progress)
    # What people say goes first: lines are fitted around spoken subtitles as around speech.
    subtitles = () if materials.subtitles is None else materials.subtitles.intervals
    speech = (*materials.speech, *subtitles)
    fitting = fit_track(track, speech, materials.prepared, studio, config, shorten=shorten)
    cues = {cue.id: cue for cue in track.heard}
    left_out: dict[str, tuple[str, ...]] = {}
    for line in fitting.spoken:
        words = studio.left_out(line.text, delivery_of(cues[line.id]))
        if words:
            left_out[line.id] = words
    if force:
        # Otherwise takes of older lines and other voices stay: they may have cost money.
        studio.remove_unused()
    return replace(
        materials,
        track=with_voiced(track, fitting, voice.name),
        fitting=fitting,
        voice=voice.name,
        takes_spoken=studio.spoken,
        takes_kept=studio.reused,
        left_out=left_out,
    )


def fit_track(
    track: Track,
    speech: Sequence[Interval],
    prepared: Prepared,
    studio: CachingStudio | EstimatingStudio,
    config: Config,
    *,
    shorten: Shorten | None = None,
) -> Fitting:
    """Fit every line of a track that is heard: its place, or why it has none; with pauses of the film where
    the settings allow them.

    ``speech`` is when somebody speaks (film seconds). With a `EstimatingStudio` studio the result is what a
    render is expected to come to, and nothing is spoken. Raises VoiceError.
    """
    slots = {slot.id: slot.interval for slot in prepared.slots}
    lines: list[LineToSpeak] = []
    unspeakable: list[Unspoken] = []
    for line in lines_of(track, speech, slots, config.fit, margin=config.speech.margin):
        reason = unspeakable_reason(studio.sent(line.text), track.language)
        if reason:
            unspeakable.append(Unspoken(line.id, reason))
        else:
            lines.append(line)
    fitting = fit(lines, studio, config.fit, shorten=shorten)
    fitting = replace(fitting, unspoken=(*fitting.unspoken, *unspeakable))
    if not config.extended.on:
        return fitting
    planner = PausePlanner(
        lines, fitting, studio, prepared.shots, config.extended, config.fit, prepared.end, speech
    )
    return planner.fitting()


def blocking_findings(track: Track, unspoken: Iterable[Unspoken], what_becomes: str) -> tuple[Finding, ...]:
    """A finding T4 for each line that leaves another no time, for all ``unspoken`` lines.

    ``what_becomes`` ends the message's sentence on the other line: ``is not heard``.
    """
    cues = {cue.id: cue for cue in track.cues}
    findings: list[Finding] = []
    for unspoken_line in unspoken:
        cue = cues[unspoken_line.id]
        text = " ".join(cue.text.split())
        quote = text if len(text) <= _MAX_QUOTE else f"{text[: _MAX_QUOTE - 1]}…"
        message = (
            f"leaves no time for the line at {timecode(cue.interval.start)} (“{quote}”), which {what_becomes}"
        )
        for taker_id in unspoken_line.taken_by:
            findings.append(Finding("T4", Level.WARNING, message, taker_id))
    return tuple(findings)


_MAX_QUOTE = 60
"""Letters of the other line that a finding repeats."""


def unspeakable_reason(text: str, language: str) -> str:
    """Why ``text``, as it is sent to a voice, cannot be spoken; empty where it can."""
    if not any(character.isalnum() for character in text):
        return NO_WORDS
    return "" if is_speakable(text, language) else ENDLESS


def cast_is_gone(folder: Path) -> bool:
    """Whether the cast that the run was given is no longer at its path."""
    cast = read_settings(folder).given.cast if (folder / SETTINGS_FILE).is_file() else None
    return cast is not None and not cast.path.exists()


def pronunciations(folder: Path) -> Lexicon:
    """How words of the film are said: names as its cast has them, and over them the film's own lexicon."""
    return _names_of_cast(folder).joined(film_lexicon(folder))


def _names_of_cast(folder: Path) -> Lexicon:
    """How the names of the run's cast are said; empty where the run had no cast, or its file is gone."""
    cast = read_settings(folder).given.cast if (folder / SETTINGS_FILE).is_file() else None
    if cast is None or not cast.path.exists():
        return EMPTY_LEXICON
    return lexicon_of(load_cast(cast.path, key=cast.key, photos=cast.photos).members)


def with_voiced(track: Track, fitting: Fitting, voice: str) -> Track:
    """The track with how each heard line was spoken (`Cue.stored_take`) and its measured length.

    Every heard line must be in ``fitting``. Text, time and status of the lines stay unchanged.
    """
    spoken = {line.id: line for line in fitting.spoken}
    unspoken = {line.id: line for line in fitting.unspoken}
    cues: list[Cue] = []
    for cue in track.cues:
        if not cue.heard:
            cues.append(cue)
            continue
        stamp = line_stamp(cue.interval, cue.text)
        spoken_line = spoken.get(cue.id)
        if spoken_line is None:
            unspoken_line = unspoken[cue.id]
            reason = in_english("reason.not_spoken", reason=unspoken_line.reason)
            steps = _in_language((*unspoken_line.steps, reason), track.language)
            cues.append(replace(cue, stored_take=SpokenTake(voice, "", None, stamp, steps=steps)))
            continue
        # Whole milliseconds, as tracks are written; the shortest take still lasts one.
        start = round(spoken_line.interval.start * 1000)
        end = max(round(spoken_line.interval.end * 1000), start + 1)
        interval = Interval(start / 1000, end / 1000)
        take = spoken_line.take
        voiced = SpokenTake(
            take.voice or voice,
            spoken_line.text,
            interval,
            stamp,
            take.speed,
            _in_language(spoken_line.steps, track.language),
            spoken_line.pause,
        )
        cues.append(replace(cue, stored_take=voiced, spoken_length=round(take.seconds, 3)))
    return track.with_cues(cues)


def _in_language(steps: Iterable[str], language: str) -> tuple[str, ...]:
    """What was done to make a line fit, in the language of the track."""
    return tuple(reason_in(step, language) for step in steps)
