"""Spoken subtitles (EN 301 549, 7.1.5): subtitles of foreign dialogue, read out by a second voice.

`find_subtitles` finds them: in a file, or, for ``auto``, those that are always shown (forced): beside the
film (``film.forced.srt``), else as a track in it. `speak_subtitles` has them spoken and places them.

The rule of who wins: **what people say comes before what is described.** A subtitle is spoken from its own
time on; it waits only for the subtitle before it. To end in time it is spoken faster, a little so that it
ends with what it translates, more where the next one presses. One that would come more than `MAX_WAIT` late
is left out and listed. No word of a subtitle is left out otherwise. Lines of description are fitted around
all that, as around speech: they are moved, shortened, or left out and listed, and never heard at the same
time.

The film is lowered under a subtitle although somebody speaks there: the voice in the other language stays
audible behind it, as in interviews on the radio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shotad.core import Config, FilmInfo, Interval, Utterance, WorkFolder
from shotad.core.config.languages import language_of
from shotad.core.errors import SubtitleError, UsageError, quoted
from shotad.core.files import inner_folder
from shotad.core.progress import Progress, plural
from shotad.core.types import SpeechKind
from shotad.film import read_subtitles
from shotad.film.beside import comparable
from shotad.film.slots import subtract
from shotad.film.subtitles import forced_track
from shotad.script.cue import EARLIEST_CUE, milliseconds
from shotad.sound.kinds import Spoken, Unspoken
from shotad.sound.pronunciation import Lexicon
from shotad.sound.takes import CachingStudio, to_length
from shotad.sound.voice_engines import (
    AUTO,
    VOICE_KINDS,
    Speaker,
    make_voice,
    plain_language,
    voices,
)

FORCED_WORDS = ("forced", "foreign")
"""Words in the name of a file of subtitles that are always shown, as media servers know them."""

_ENDINGS = (".srt", ".vtt", ".ass", ".ssa", ".ttml", ".dfxp", ".smi", ".sbv", ".sub")

MAX_WAIT = 3.0
"""Seconds after its time at which a subtitle may begin. Later it would seem to be what somebody else says."""
BETWEEN_SUBTITLES = 0.15
"""Seconds between two subtitles: those of a dialogue follow each other closely."""
OVERHANG = 0.5
"""Seconds after its time by which a subtitle should have ended."""
EASY_SPEED, MAX_SUBTITLE_SPEED = 1.15, 1.4
"""Times the voice's pace: nobody notices the first, and everybody still understands the second."""
AROUND_DUCKING = 0.5
"""Seconds before and after a subtitle in which the film may go down and come back although people speak."""

TAKES_OF_SUBTITLES = "voice.subtitles"
"""The folder of their takes in the work folder."""


@dataclass(frozen=True, slots=True)
class ForeignSubtitles:
    """Subtitles to be spoken. ``source`` says where they come from, ``sung`` how many of a song were left."""

    source: str
    language: str
    utterances: tuple[Utterance, ...]
    sung: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SpokenSubtitles:
    """Subtitles in their places, in film seconds: ascending, none over another."""

    source: str
    voice: str
    spoken: tuple[Spoken, ...] = ()
    unspoken: tuple[Unspoken, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    """Id and text of each subtitle, also of those that are not spoken."""
    notes: tuple[str, ...] = ()

    @property
    def intervals(self) -> tuple[Interval, ...]:
        return tuple(line.interval for line in self.spoken)


def find_subtitles(
    info: FilmInfo, source: str, language: str, *, encoding: str | None = None
) -> ForeignSubtitles:
    """The subtitles that ``source`` names: ``auto``, or a file. ``language`` is that of the description.

    Raises SubtitleError where there are none.
    """
    if source != AUTO:
        return _of_file(Path(source).expanduser(), info, language, encoding)
    beside = _forced_beside(info.path, language)
    if beside is not None:
        return _of_file(beside, info, language, encoding)
    inside = None if info.path is None else forced_track(info.path, plain_language(language))
    if inside is None:
        stem = "FILM" if info.path is None else info.path.stem
        raise SubtitleError(
            f"No forced subtitles in {language!r} were found, neither beside {info.name} nor as text in it.",
            f"Name a file (--speak-subtitles FILE.srt), or call it {stem}.forced.srt. Subtitles that are "
            "pictures cannot be read.",
        )
    subtitles, name = inside
    return _without_songs(f"{name} of {info.name}", language, subtitles.utterances, subtitles.notes)


def _of_file(path: Path, info: FilmInfo, language: str, encoding: str | None) -> ForeignSubtitles:
    subtitles = read_subtitles(path, encoding=encoding, frame_rate=info.frame_rate)
    named = _language_in(path)
    return _without_songs(path.name, named or language, subtitles.utterances, subtitles.notes)


def _without_songs(
    source: str, language: str, utterances: Sequence[Utterance], notes: tuple[str, ...]
) -> ForeignSubtitles:
    spoken = tuple(
        utterance for utterance in utterances if utterance.kind is SpeechKind.SPEECH and utterance.text
    )
    sung = sum(1 for utterance in utterances if utterance.kind is not SpeechKind.SPEECH)
    if not spoken:
        raise SubtitleError(f"{source} holds no subtitle that could be spoken.", "Is it the right one?")
    return ForeignSubtitles(source, language, spoken, sung, notes)


def _forced_beside(film: Path | None, language: str) -> Path | None:
    """``film.forced.srt`` or ``film.en.forced.vtt`` beside a film; that of the language first."""
    if film is None or not film.parent.is_dir():
        return None
    candidates: list[tuple[bool, str, Path]] = []
    stem = comparable(film.stem)
    for path in sorted(film.parent.iterdir()):
        name = comparable(path.name)
        is_of_film = name.startswith(f"{stem}.")
        if not is_of_film or path.suffix.lower() not in _ENDINGS or not path.is_file():
            continue
        words = name[len(stem) :].split(".")
        named = _language_in(path)
        is_other = named is not None and plain_language(named) != plain_language(language)
        if any(word in FORCED_WORDS for word in words) and not is_other:
            candidates.append((named is None, path.name, path))
    return min(candidates)[2] if candidates else None


def _language_in(path: Path) -> str | None:
    """The language that a file's name says: ``film.de.forced.srt → de``; None where it says none."""
    for word in path.stem.lower().split(".")[1:]:
        if word in FORCED_WORDS or len(word) not in (2, 3, 5):
            continue
        try:
            return language_of(word).code
        except UsageError:
            continue
    return None


def subtitle_voice(config: Config, language: str, description_voice: str) -> Speaker:
    """The voice of subtitles: the one that the settings name, else another than that of the description.

    Where no other speaks the language, it is the same. Raises VoiceError.
    """
    name = config.voice.subtitle_voice
    if name == AUTO:
        others = [
            info.name
            for info in voices(language)
            if info.installed
            and VOICE_KINDS[info.kind].in_auto
            and description_voice not in (info.name, info.sounds_like)
        ]
        # Another voice of the same kind sounds as good; a kind's own name may mean the same voice.
        kind = description_voice.partition(":")[0]
        others = [name for name in others if name != kind]
        same_kind = [name for name in others if name.partition(":")[0] == kind]
        name = next(iter([*same_kind, *others]), description_voice)
    return make_voice(config.voice.model_copy(update={"name": name}), language)


def speak_subtitles(
    subtitles: ForeignSubtitles,
    voice: Speaker,
    folder: WorkFolder,
    config: Config,
    duration: float,
    lexicon: Lexicon,
    progress: Progress | None = None,
    *,
    description_voice: str = "",
) -> SpokenSubtitles:
    """Have all subtitles spoken, and place them. Raises VoiceError."""
    takes_folder = inner_folder(folder.path, TAKES_OF_SUBTITLES)
    studio = CachingStudio(voice, takes_folder, config.voice, subtitles.language, lexicon)
    texts = [utterance.text for utterance in subtitles.utterances]
    studio.say_all([text for text in texts if _has_words(text)], progress=progress)
    notes = list(subtitles.notes)
    if subtitles.sung:
        notes.append(f"{plural(subtitles.sung, 'subtitle')} of songs in {subtitles.source}: not spoken.")
    if voice.name == description_voice:
        notes.append(
            f"Subtitles and description have one voice, {voice.name}: name another with --subtitle-voice."
        )
    placed = place_subtitles(subtitles.utterances, studio, duration)
    left_out = [word for line in placed.spoken for word in studio.left_out(line.text)]
    if left_out:
        words = ", ".join(dict.fromkeys(left_out))
        notes.append(
            f"{voice.name} has no sound for words of the subtitles and leaves them out: {quoted(words)}. "
            "Write how they are said: --say-as WORD=SAYING."
        )
    return replace(placed, source=subtitles.source, voice=voice.name, notes=tuple(notes))


def place_subtitles(
    utterances: Sequence[Utterance], studio: CachingStudio, duration: float
) -> SpokenSubtitles:
    """Each subtitle at its time, or after the one before it; faster where that is needed."""
    spoken: list[Spoken] = []
    unspoken: list[Unspoken] = []
    texts: list[tuple[str, str]] = []
    free_from = min(EARLIEST_CUE, duration / 2)
    for index, utterance in enumerate(utterances):
        wanted = utterance.interval.start
        name = f"u{milliseconds(wanted):08d}-{index}"
        texts.append((name, utterance.text))
        start = max(wanted, free_from)
        if not _has_words(utterance.text):
            unspoken.append(Unspoken(name, "there is no word in it"))
            continue
        if start - wanted > MAX_WAIT:
            late = f"it would begin {start - wanted:.1f} s late, after the subtitles before it"
            unspoken.append(Unspoken(name, late))
            continue
        take = studio.say(utterance.text)
        next_start = duration
        if index + 1 < len(utterances):
            next_start = min(duration, utterances[index + 1].interval.start)
        speed = _speed(take.seconds, start, utterance.interval.end, next_start)
        steps: list[str] = []
        if speed > 1:
            take = to_length(take, take.seconds / speed)
            steps.append(f"spoken {speed:.2f} times faster")
        if start - wanted >= 0.05:
            steps.append(f"moved {start - wanted:.2f} s later")
        if start + take.seconds > duration:
            unspoken.append(Unspoken(name, "the film ends before it could be said", tuple(steps)))
            continue
        spoken.append(Spoken(name, utterance.text, start, take, tuple(steps)))
        free_from = start + take.seconds + BETWEEN_SUBTITLES
    return SpokenSubtitles("", "", tuple(spoken), tuple(unspoken), tuple(texts))


def _speed(seconds: float, start: float, end: float, next_start: float) -> float:
    """How many times faster a take of so many seconds is spoken, see the module."""
    easy_end = end + OVERHANG
    pressed_end = next_start - BETWEEN_SUBTITLES
    speed = 1.0
    if easy_end > start:
        speed = min(EASY_SPEED, seconds / (easy_end - start))
    if start + seconds / max(speed, 1.0) > pressed_end:
        available = max(pressed_end - start, seconds / MAX_SUBTITLE_SPEED)
        speed = max(speed, min(MAX_SUBTITLE_SPEED, seconds / available))
    return round(max(1.0, speed), 4)


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def speech_not_under(
    speech: Sequence[Interval], subtitles: Sequence[Interval], duration: float
) -> tuple[Interval, ...]:
    """``speech`` without the time of spoken subtitles and `AROUND_DUCKING` around it: there the film is
    lowered."""
    widened: list[Interval] = []
    for interval in subtitles:
        start = max(0.0, interval.start - AROUND_DUCKING)
        widened.append(Interval(start, min(duration, interval.end + AROUND_DUCKING)))
    kept: list[Interval] = []
    for talk in speech:
        kept += subtract(talk, widened)
    return tuple(kept)
