"""A render on its way, from what is read to lines → takes → their places: who speaks, what fits, and where
the film waits.

What became of the lines stands on the track then; what people own in it stays as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from shotad.core import (
    SETTINGS,
    Config,
    Interval,
    Progress,
    WorkFolder,
    inner_folder,
    read_file,
    read_settings,
    span,
    write_text,
)
from shotad.film import Film, Prepared, kept_free, recorded
from shotad.script import (
    TRACK,
    Cue,
    Finding,
    Level,
    Shorten,
    Track,
    Voiced,
    is_translation,
    line_stamp,
    save_track,
    save_translation,
    scripts_of,
    timecode,
    to_json,
    track_lock,
    track_of,
    with_edited_scripts,
)
from shotad.sight import load_cast
from shotad.sound.fitting import fit
from shotad.sound.kinds import Fitting, Unspoken
from shotad.sound.pauses import PausePlanner
from shotad.sound.placing import lines_of
from shotad.sound.pronunciation import NOTHING, Lexicon, lexicon_of
from shotad.sound.speaking import LONGEST, is_speakable
from shotad.sound.takes import Foreseeing, Keeping
from shotad.sound.voice_engines import Speaker


@dataclass(frozen=True, slots=True)
class Materials:
    """What a render works with; `speak` adds how the lines are spoken, `FileMaker.scene` moves them to the
    time of a copy of the film that pauses.

    ``speech`` is when somebody speaks in ``film``; ``brought`` counts lines changed in scripts, by file;
    ``read`` names the content of the track's files as they were read. ``voice`` is empty where nothing is
    spoken; ``anew`` counts takes that it spoke, ``kept`` those it had spoken; ``late``: lines were edited
    since.
    """

    film: Film
    folder: WorkFolder
    config: Config
    track: Track
    file: Path
    prepared: Prepared
    speech: tuple[Interval, ...]
    brought: Mapping[str, int]
    read: Mapping[Path, str]
    fitting: Fitting = field(default_factory=Fitting)
    voice: str = ""
    anew: int = 0
    kept: int = 0
    late: bool = False

    @property
    def is_translation(self) -> bool:
        """Whether this is not the film's own track, but one made of it."""
        return self.file.name != TRACK

    @property
    def is_current(self) -> bool:
        """Whether the track and its scripts are still as they were read: nobody has saved another."""
        return _contents(self.read) == self.read

    def keep(self) -> None:
        """Write down how the lines of the track were spoken, with the scripts where it is the film's own.

        What others changed since the track was read stays as they left it.
        """
        track, is_beside = self.track, self.file.parent.resolve() == self.folder.path.resolve()
        with track_lock(self.folder.path):
            if not self.is_current:
                # The track as it now is on the disk, with how each line was spoken that is still the same.
                newest = _read(self.film, self.folder, self.file)[0]
                before, cues = {cue.id: cue for cue in track.cues}, []
                for cue in newest.cues:
                    said = before.get(cue.id, cue)
                    known = replace(cue, voiced=said.voiced, spoken_length=said.spoken_length)
                    cues.append(known if cue.heard and known.spoken is not None else cue)
                track = newest.with_cues(cues)
            if not self.is_translation:
                # A film that was renamed keeps its scripts' names: edits are looked for under those.
                save_track(track, self.folder.path, track.film.name)
            elif is_translation(self.file, track) and is_beside:
                save_translation(track, self.folder)
            else:
                write_text(self.file, to_json(track))


def gather(film: Film, folder: WorkFolder, config: Config, file: Path | None = None) -> Materials:
    """The materials of the track in ``file`` (None: the film's own).

    Raises WorkFolderError for a track of another film, ScriptError for one that cannot be read, EditConflict
    where people changed the same line in two places.
    """
    file = file or folder.path / TRACK
    track, brought, read = _read(film, folder, file)
    prepared = recorded(folder, film.info, config, described=(folder.path / SETTINGS).is_file())
    speech = kept_free(prepared.speech, config.speech)
    return Materials(film, folder, config, track, file, prepared, speech, brought, read)


def _read(film: Film, folder: WorkFolder, file: Path) -> tuple[Track, dict[str, int], dict[Path, str]]:
    """The track in ``file`` with what people changed in its scripts, how many lines in each, and what names
    the content that was read."""
    read = _contents([file])
    track = track_of(film.info, file, "Name its film with --film, or describe this one.")
    read |= _contents(path for _, path in scripts_of(track, folder.path, file.name))
    return *with_edited_scripts(track, folder, file=file.name), read


def _contents(files: Iterable[Path]) -> dict[Path, str]:
    """Names of what files hold; empty for those that are not there."""
    return {
        file: hashlib.sha256(read_file(file, follow=True)).hexdigest() if file.is_file() else ""
        for file in files
    }


WORDLESS = "there is no word in it"
"""Why a line of marks alone is not spoken."""

ENDLESS = f"it would take more than {LONGEST / 60:.0f} minutes to say"

VOICES = "voice"
"""The folder of takes in the work folder."""


@span("voice")
def speak(
    materials: Materials,
    voice: Speaker,
    progress: Progress,
    *,
    shorten: Shorten | None = None,
    force: bool = False,
) -> Materials:
    """Every line of the track, spoken and in its place, or without one and why, as the track then says of
    each. Raises VoiceError."""
    config, track = materials.config, materials.track
    takes = f"{VOICES}.{track.language}" if materials.is_translation else VOICES
    studio = Keeping(
        voice,
        inner_folder(materials.folder.path, takes),
        config.voice,
        track.language,
        pronunciations(materials.folder.path),
        force=force,
    )
    texts = [" ".join(cue.text.split()) for cue in track.heard]
    speakable = [text for text in texts if not why_unspeakable(studio.sent(text), track.language)]
    studio.say_all(speakable, progress=progress)
    fitting = fit_track(track, materials.speech, materials.prepared, studio, config, shorten=shorten)
    if force:
        # Otherwise takes of older lines and other voices stay: they may have cost money.
        studio.keep_used()
    return replace(
        materials,
        track=apply(track, fitting, voice.name),
        fitting=fitting,
        voice=voice.name,
        anew=studio.spoken,
        kept=studio.taken,
    )


def fit_track(
    track: Track,
    speech: Sequence[Interval],
    prepared: Prepared,
    studio: Keeping | Foreseeing,
    config: Config,
    *,
    shorten: Shorten | None = None,
) -> Fitting:
    """Every line of a track that is heard, in its place, or without one and why; with pauses where the
    settings want them.

    For a render, and with a `Foreseeing` studio for whoever wants to know before what it would come to.
    ``speech`` are the seconds in which somebody speaks. Raises VoiceError.
    """
    slots = {slot.id: slot.interval for slot in prepared.slots}
    given = lines_of(track, speech, slots, config.fit, margin=config.speech.margin)
    lines, mute = [], []
    for line in given:
        why_not = why_unspeakable(studio.sent(line.text), track.language)
        if why_not:
            mute.append(Unspoken(line.id, why_not))
        else:
            lines.append(line)
    fitting = fit(lines, studio, config.fit, shorten=shorten)
    fitting = replace(fitting, unspoken=(*fitting.unspoken, *mute))
    if not config.extended.on:
        return fitting
    planner = PausePlanner(
        lines, fitting, studio, prepared.shots, config.extended, config.fit, prepared.end, speech
    )
    return planner.fitting()


def takers_findings(track: Track, unspoken: Iterable[Unspoken], what_becomes: str) -> tuple[Finding, ...]:
    """T4 beside each line that leaves a neighbour no time; ``what_becomes`` of the neighbour: ``is not
    heard``."""
    cues = {cue.id: cue for cue in track.cues}
    findings: list[Finding] = []
    for lost in unspoken:
        neighbour = cues[lost.id]
        words = " ".join(neighbour.text.split())
        short = words if len(words) <= _WORDS_TOLD else f"{words[: _WORDS_TOLD - 1]}…"
        message = (
            f"leaves no time for the line at {timecode(neighbour.interval.start)} (“{short}”), "
            f"which {what_becomes}"
        )
        findings += [Finding("T4", Level.WARNING, message, taker) for taker in lost.taken_by]
    return tuple(findings)


_WORDS_TOLD = 60
"""Letters of a neighbour that a finding repeats."""


def why_unspeakable(text: str, language: str) -> str:
    """Why no voice is given a text, as it would be sent; empty where one may be."""
    if not any(character.isalnum() for character in text):
        return WORDLESS
    return "" if is_speakable(text, language) else ENDLESS


def cast_is_gone(folder: Path) -> bool:
    """Whether the run had a cast that is not where it was."""
    given = read_settings(folder).given.cast if (folder / SETTINGS).is_file() else None
    return given is not None and not given.path.exists()


def pronunciations(folder: Path) -> Lexicon:
    """How the names of the run's cast are said; nothing where it has none, or where that is gone."""
    given = read_settings(folder).given.cast if (folder / SETTINGS).is_file() else None
    if given is None or not given.path.exists():
        return NOTHING
    return lexicon_of(load_cast(given.path, key=given.key, photos=given.photos).members)


def apply(track: Track, fitting: Fitting, voice: str) -> Track:
    """The track with how each line that is heard was spoken, and with its measured length; all of them are in
    ``fitting``. Text, time and status of the lines stay as they are."""
    spoken = {line.id: line for line in fitting.spoken}
    left = {line.id: line for line in fitting.unspoken}

    def with_voice(cue: Cue) -> Cue:
        if not cue.heard:
            return cue
        stamp = line_stamp(cue.interval, cue.text)
        if (line := spoken.get(cue.id)) is not None:
            start, end = round(line.interval.start * 1000), round(line.interval.end * 1000)
            at = Interval(start / 1000, max(end, start + 1) / 1000)
            voiced = Voiced(voice, line.text, at, stamp, line.take.speed, line.steps, line.pause)
            return replace(cue, voiced=voiced, spoken_length=round(line.take.seconds, 3))
        steps = (*left[cue.id].steps, f"not spoken: {left[cue.id].reason}")
        return replace(cue, voiced=Voiced(voice, "", None, stamp, steps=steps))

    return track.with_cues(map(with_voice, track.cues))
