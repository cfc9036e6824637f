"""The film with its lines as the audience will hear them, and where in it a line is heard.

Fitted, spoken, levelled, placed and ducked by the same rules and from the same takes as `shotad render`, but
line by line, when the time of each comes (`shotad.review.soundtrack`). What that cannot know at once, the
level of the whole film, it says. The voice alone is a WAV file called by what is in it, of which the newest
are kept. A voice is loaded when it is first needed.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core import (
    Config,
    Interval,
    Progress,
    ShotadError,
    WorkFolder,
)
from shotad.core.errors import (
    CastError,
    FilmError,
    ReviewError,
    VoiceError,
    WorkFolderError,
    quoted,
)
from shotad.core.files import (
    inner_folder,
    own_files,
    read_file,
    remove_file,
    write_bytes,
    write_text,
)
from shotad.core.model_loading import silence_native_output
from shotad.core.records import parse_record
from shotad.core.system import yield_thread
from shotad.core.workfolder import hash_key, readable_json
from shotad.film import (
    Film,
    Prepared,
    open_film,
)
from shotad.film.slots import no_line_times
from shotad.review.english_sentences import finding_message, notice_message, reason_message
from shotad.review.events import Json
from shotad.review.keeping import Signature, signatures
from shotad.review.messages import (
    Message,
    Sentence,
    fault_view,
    joined,
    message,
    refusal,
    said_by,
    sentence_view,
    with_texts,
)
from shotad.review.soundtrack import STREAM_KINDS, Soundtrack, sound_version, wav_bytes, wav_size
from shotad.script import (
    Cue,
    Finding,
    Level,
    Track,
)
from shotad.script.pace import spoken_words
from shotad.sound import (
    CachingStudio,
    EstimatingStudio,
    Fitting,
    Loudness,
    LoudnessCurve,
    MeasuredSound,
    Programme,
    Speaker,
    Spoken,
    Take,
    excerpt,
    fit_track,
    make_voice,
    measure_whole,
    place_lines,
    programme_of,
    voices,
)
from shotad.sound.fitting import (
    MAX_NEIGHBOURS,
    fit,
    neighbourhood,
)
from shotad.sound.kinds import delivery_of
from shotad.sound.levels import DUCKING_HOLD
from shotad.sound.mix import (
    Part,
    estimate_loudness,
    loudness_of,
    measure_nearby,
)
from shotad.sound.programme import RATE, silent_programme
from shotad.sound.pronunciation import EMPTY_LEXICON
from shotad.sound.render import speak_film_subtitles
from shotad.sound.spoken_subtitles import SpokenSubtitles, speech_not_under
from shotad.sound.takes import wav
from shotad.sound.voice_engines import (
    AUTO,
    VOICE_KINDS,
    plain_language,
    privacy_notes,
)
from shotad.sound.voicing import (
    NO_WORDS,
    VOICES,
    blocking_findings,
    pronunciations,
    unspeakable_reason,
)

REVIEW = "review"
HEARD = "heard"
LOUDNESS = "loudness.json"
"""In the work folder: ``review/heard/KEY.wav`` and ``review/loudness.json``."""


def _sentence(step: str) -> Sentence:
    """What was done to make a line fit, as a sentence."""
    said = reason_message(step)
    return (
        message("note.reason", reason=said) if isinstance(said, Message) else f"{step[0].upper()}{step[1:]}."
    )


@dataclass(frozen=True, slots=True)
class LineSound:
    """Where a line is heard: from film second ``start`` to ``end`` of the film's sound with its lines.

    ``line`` is when the voice speaks, in film seconds, None: it does not; ``text`` the words that it speaks.
    ``settled``: the whole film was measured; until then levels may change a little. ``path`` is a file of
    the voice alone, from its first sound to its last.
    """

    start: float
    end: float
    line: tuple[float, float] | None
    text: str
    warnings: tuple[Sentence, ...] = ()
    settled: bool = True
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class WavStream:
    """A WAV file of ``size`` bytes that is made while it is read; ``parts(begin, end)`` are its bytes."""

    version: str
    size: int
    parts: Callable[[int, int], Generator[bytes, None, None]]


@dataclass(frozen=True, slots=True)
class VoiceLengths:
    """How long the voice takes: ``seconds`` of the texts that it has spoken, and its ``seconds_per_word``."""

    seconds: Mapping[str, float]
    seconds_per_word: float


MIN_PACE_WORDS = 30
"""Words of spoken lines from which on the pace of a voice is taken from them and not from the settings."""


def measured_lengths(
    track: Track, seconds_of_texts: Mapping[str, float], planned_pace: float
) -> VoiceLengths:
    """The lengths of what the voice has spoken, and the pace that follows from the lines of the track at the
    film's own pace; ``planned_pace``, seconds a word, where too few words were spoken."""
    words, seconds = 0, 0.0
    for cue in track.heard:
        text = " ".join(cue.text.split())
        if text in seconds_of_texts and cue.pace == 1 and cue.recording is None:
            words += spoken_words(text, track.language)
            seconds += seconds_of_texts[text]
    pace = seconds / words if words >= MIN_PACE_WORDS else planned_pace
    return VoiceLengths(seconds_of_texts, pace)


KINDS: tuple[Part, ...] = ("mix", "voice", "programme")

BEFORE = 2.0
"""Seconds that are heard before a line's first sound."""

AFTER = 1.5
"""Seconds that are heard after its last, or until the film is back at its level."""
_LAST_WORK = 20.0
"""Seconds that a voice may take to be loaded after the review was closed."""


class Hearing:
    """All sounds of one film's lines. May be used by several threads."""

    def __init__(
        self,
        film: Path,
        folder: Path,
        config: Config,
        prepared: Callable[[], Prepared],
        *,
        settled: Callable[[], None] = lambda: None,
        spoken: Callable[[], None] = lambda: None,
    ) -> None:
        """``config`` has the language of the track; ``prepared`` gives speech and slots as they are now;
        ``settled`` is called from a thread when the level of the whole film gets known, ``spoken`` when the
        voice is there, or new takes are: `foresee` then knows more. Nothing is loaded before it is needed."""
        self._path, self._config, self._prepared = film, config, prepared
        self._speaking = Speaking(folder, config, prepared)
        self.folder = inner_folder(folder, REVIEW, HEARD)
        self._listening = Listening(folder / REVIEW / LOUDNESS, settled)
        self._spoken = spoken
        self._lock, self._loud = threading.Lock(), dict[str, float | None]()
        self._film: Film | None = None
        self._programme: Programme | None = None
        self._signature: Signature = None
        self._soundtrack: Soundtrack | None = None
        self._silent: tuple[Sentence, ...] = ()
        self._warming: threading.Thread | None = None
        self._closed = False

    def hear(self, track: Track, line_id: str, kind: str) -> LineSound:
        """Where one line is heard, with its take made: ``mix`` as the audience hears it, ``programme`` the
        film alone for the same seconds; ``voice`` its take alone, as loud, as a file.

        A line that a render would leave unspoken has no voice in its mix, and the reason is among the
        warnings; its voice can be heard all the same. Raises ReviewError for a line or kind that there is
        not, VoiceError where it cannot be spoken, FilmError and WorkFolderError.
        """
        part = next((kind_of_sound for kind_of_sound in KINDS if kind_of_sound == kind), None)
        if part is None:
            raise ReviewError(
                f"{quoted(kind)} is nothing that can be heard.", f"There are {', '.join(KINDS)}."
            )
        cue = next((cue for cue in track.cues if cue.id == line_id), None)
        if cue is None:
            raise refusal("hear.no_line", line=quoted(line_id))
        self._speaking.speak_in(track.language)
        with self._telling_of_takes():
            return self._line_sound(track, cue, part)

    def soundtrack(self, track: Track) -> Soundtrack:
        """The film's sound with the lines of ``track``; the same object while nothing is heard otherwise."""
        self._speaking.speak_in(track.language)
        prepared = self._prepared()
        programme = self._sound(track.film.duration)
        fingerprint, slots = track.film.fingerprint, [(slot.id, slot.interval) for slot in prepared.slots]
        speech, subtitles = self._speaking.kept_speech(), self._speaking.subtitles
        settled = self._listening.is_settled(programme, fingerprint)
        subtitle_takes = [(subtitle.start, subtitle.text, subtitle.take.key) for subtitle in subtitles]
        version = sound_version(
            track, self._config.voice, slots, speech, subtitle_takes, programme.track, settled
        )
        with self._lock:
            current = self._soundtrack
        if current is not None and current.version == version:
            return current
        soundtrack = Soundtrack(
            track,
            programme,
            self._config,
            speech,
            subtitles=subtitles,
            version=version,
            measured=lambda around: self._listening.of(programme, fingerprint, around),
            place=self._speaking.place,
            loudness=self._loudness,
        )
        with self._lock:
            self._soundtrack = soundtrack
        return soundtrack

    def spoken_between(self, track: Track, start: float, end: float) -> Json:
        """The lines that are heard between two film seconds, spoken if they were not, with the version of
        the sound; ``problem``: why a line could not be spoken."""
        with self._telling_of_takes():
            soundtrack = self.soundtrack(track)
            lines = [asdict(line) for line in soundtrack.spoken_between(start, end)]
        problem = soundtrack.problem
        return {
            "version": soundtrack.version,
            "lines": lines,
            "warnings": [sentence_view(warning) for warning in self._silent],
            "problem": None if problem is None else fault_view(problem),
        }

    def stream(self, track: Track, kind: str, second: float) -> WavStream:
        """The sound of the film from a second to its end, as a WAV file that is made while it is read.

        Raises ReviewError for a kind or second that there is not, FilmError, WorkFolderError.
        """
        if kind not in STREAM_KINDS:
            raise ReviewError(f"There is no sound {quoted(kind)}.", f"There are {', '.join(STREAM_KINDS)}.")
        soundtrack = self.soundtrack(track)
        first = round(second * RATE)
        if not 0 <= first < soundtrack.total:
            raise refusal("hear.no_second", second=second)

        def parts(begin: int, end: int) -> Generator[bytes, None, None]:
            with self._telling_of_takes():
                yield from wav_bytes(
                    lambda number: soundtrack.samples(kind, first + number),
                    soundtrack.total - first,
                    begin,
                    end,
                )

        return WavStream(soundtrack.version, wav_size(soundtrack.total - first), parts)

    @contextmanager
    def _telling_of_takes(self) -> Iterator[None]:
        """Tell at the end of the block that new takes are there."""
        before = self._speaking.takes
        try:
            yield
        finally:
            if self._speaking.takes != before:
                self._spoken()

    def speak_subtitles(self, progress: Progress) -> SpokenSubtitles:
        """Speak the film's subtitles of foreign dialogue; from then on they are heard, and lines make way.

        Raises SubtitleError where there are none, VoiceError.
        """
        spoken = self._speaking.speak_subtitles(progress)
        self._spoken()
        return spoken

    def leave_subtitles(self) -> None:
        """Let subtitles not be heard any more."""
        self._speaking.leave_subtitles()
        self._spoken()

    def foresee(self, track: Track) -> tuple[Finding, ...]:
        """What a render would leave unspoken, as `Speaking.foresee`."""
        return self._speaking.foresee(track)

    @property
    def lengths(self) -> VoiceLengths:
        """How long the voice takes, as `foresee` found it last."""
        return self._speaking.lengths

    def take_seconds(self, text: str) -> float | None:
        """How long the voice took for a text; None where it has not spoken it."""
        return self.lengths.seconds.get(" ".join(text.split()))

    def warm(self) -> None:
        """Load the voice and listen to the film in the background, so that the first line is heard soon."""
        with self._lock:
            if self._closed or self._warming is not None:
                return
            self._warming = threading.Thread(target=self._warm, name="warming voice", daemon=True)
            self._warming.start()

    def voices(self) -> Json:
        return self._speaking.view()

    def close(self) -> None:
        """Stop what runs in the background, and let go of the film."""
        with self._lock:
            self._closed, warming = True, self._warming
        if warming is not None:
            warming.join(_LAST_WORK)  # a model that is being loaded when Python ends may bring it down
        self._listening.close()
        with self._lock:
            if self._film is not None:
                self._film.close()

    def _line_sound(self, track: Track, cue: Cue, kind: Part) -> LineSound:
        programme, mix, duration = self._sound(track.film.duration), self._config.mix, track.film.duration
        spoken: Spoken | None = None
        warnings: tuple[Sentence, ...] = ()
        is_written = bool(cue.text)
        if is_written or kind == "voice":
            try:
                spoken, warnings = self._speaking.placed(track, cue)
            except VoiceError:
                if kind != "programme":
                    raise
        if spoken is not None:
            at = spoken.interval
        elif is_written:
            at = cue.interval
        else:  # an empty slot: the film of the whole slot
            slots = {slot.id: slot.interval for slot in self._prepared().slots}
            at = slots.get(cue.slot_id or "", cue.interval)
        start, end = max(0.0, at.start - BEFORE), min(at.end + AFTER, max(duration, at.start + 0.1))
        film_sound, settled = self._listening.of(programme, track.film.fingerprint, Interval(start, end))
        line = None if spoken is None else (spoken.interval.start, spoken.interval.end)
        warnings = (*self._silent, *warnings)
        if kind == "programme":
            return LineSound(start, end, line, "", self._silent, settled)
        if is_written and plain_language(cue.language) != plain_language(track.language):
            warnings += (
                message("hear.other_language", language=repr(cue.language), voice=repr(track.language)),
            )
        if kind == "voice":
            own = spoken if spoken is not None else self._speaking.alone(track, cue)
            path = self._voice_file(track, own, film_sound)
            return LineSound(own.interval.start, own.interval.end, line, own.text, warnings, settled, path)
        if mix.profile != "source" and is_written:
            warnings += (message("hear.foreseen", profile=mix.profile),)
        text = "" if spoken is None else spoken.text
        return LineSound(start, end, line, text, warnings, settled)

    def _voice_file(self, track: Track, line: Spoken, film_sound: MeasuredSound) -> Path:
        """A line's voice alone, as loud as in the mix, from its first sound to its last."""
        first, end = round(line.interval.start * RATE), round(line.interval.end * RATE)
        programme = self._sound(track.film.duration)
        programme = replace(programme, total=max(programme.total, end + 1))
        speech, mix = self._speaking.kept_speech(), self._config.mix
        recipe = place_lines(programme, film_sound, [line], speech, mix, self._loudness)
        make_up, true_peak = self.soundtrack(track).whole_levels(line.interval.start)
        samples = excerpt(replace(recipe, make_up=make_up), first, end, true_peak, "voice")
        return keep_sound(self.folder, wav(samples, RATE))

    def _sound(self, duration: float) -> Programme:
        """The film's sound; silence, with a warning, where the film is gone or has none.

        Opened again when the file went, came back or was replaced since.
        """
        with self._lock:
            (signature,) = signatures([self._path])
            if self._programme is not None and signature == self._signature:
                return self._programme
            self._signature = signature
            if self._film is not None:
                self._film.close()
                self._film = None
            self._silent = ()
            why: Sentence = message("hear.no_sound", film=self._path.name)
            try:
                self._film = open_film(self._path, reader=self._config.film.reader)
                if self._film.info.fingerprint != self._prepared().info.fingerprint:
                    raise with_texts(FilmError, "hear.other_film", film=str(self._path))
                self._programme = programme_of(self._film, self._config.film.audio_track)
            except FilmError as error:
                self._programme = silent_programme(duration)
                why = why if self._path.is_dir() else said_by(error)
            if self._programme.track is None:
                self._silent = (message("hear.only_voice", reason=why),)
            return self._programme

    def _loudness(self, take: Take) -> float | None:
        """How loud a take is; measured once."""
        if take.key not in self._loud:
            self._loud[take.key] = loudness_of(take)
        return self._loud[take.key]

    def _warm(self) -> None:
        # What goes wrong is told when a line is heard.
        with suppress(ShotadError):
            self._speaking.voice()
        if self._closed:
            return
        self._spoken()
        with suppress(ShotadError):
            info = self._prepared().info
            self._listening.begin(self._sound(info.duration), info.fingerprint)


class Speaking:
    """The voice of one session and its takes, which a render finds again. May be used by several threads."""

    def __init__(self, folder: Path, config: Config, prepared: Callable[[], Prepared]) -> None:
        """``folder`` is the work folder; ``config`` has the language of its track; ``prepared`` gives speech
        and slots as they are now."""
        self._folder, self._config, self._prepared = folder, config, prepared
        self._language = config.language
        self._lock, self._loading, self._turn = threading.Lock(), threading.Lock(), threading.Lock()
        self._made: Speaker | None = None
        self._studio: tuple[object, CachingStudio] | None = None
        self._subtitles: SpokenSubtitles | None = None
        self.lengths = VoiceLengths({}, config.slots.seconds_per_word)

    def speak_in(self, language: str) -> None:
        """The language of the track from now on; where it changes the voice is looked for again."""
        with self._loading:
            if language != self._language:
                self._language, self._made = language, None

    def voice(self) -> Speaker:
        """The voice, loaded if it is not. Raises VoiceError."""
        with self._loading:
            if self._made is None:
                with silence_native_output():
                    self._made = make_voice(self._config.voice, self._language)
            return self._made

    def studio(self) -> CachingStudio:
        """Where lines are spoken, with the cast's names said as a render says them. Raises VoiceError."""
        voice, lexicon = self.voice(), EMPTY_LEXICON
        with suppress(CastError, OSError):  # told where the cast is shown; lines are heard all the same
            lexicon = pronunciations(self._folder)
        key = (voice.identity, lexicon, self._language)
        with self._lock:
            if self._studio is None or self._studio[0] != key:
                place, settings = inner_folder(self._folder, VOICES), self._config.voice
                self._studio = (key, CachingStudio(voice, place, settings, self._language, lexicon))
            return self._studio[1]

    @property
    def takes(self) -> int:
        """How many takes were spoken here."""
        with self._lock:
            return 0 if self._studio is None else self._studio[1].spoken

    def foresee(self, track: Track) -> tuple[Finding, ...]:
        """The lines that a render would leave unspoken, and beside each line that leaves another no time that
        it does: rule T4. Nothing is spoken for it.

        It is the computation of a render, from the takes that are there. Of lines that were not spoken yet
        it goes by how many words they have and says so; one that has too little time by that alone, and not
        by another line, is left out (its budget tells it).
        """
        studio = None
        if self._made is not None and self._language == track.language:
            with suppress(VoiceError):  # told when a line is heard
                studio = self.studio()
        pace = self.lengths.seconds_per_word

        def seconds(text: str) -> float:
            return max(1, spoken_words(text, track.language)) * pace

        foreseeing = EstimatingStudio(studio, seconds)
        fitting = fit_track(track, self.taken_times(), self._prepared(), foreseeing, self._config)
        self.lengths = measured_lengths(track, foreseeing.known, self._config.slots.seconds_per_word)
        texts = {cue.id: " ".join(cue.text.split()) for cue in track.heard}
        findings: list[Finding] = []
        for lost in fitting.unspoken:
            is_guessed = any(texts[name] in foreseeing.guessed for name in (lost.id, *lost.taken_by))
            if lost.reason == NO_WORDS or (is_guessed and not lost.taken_by):
                continue
            how = (
                " (by the number of words: not all of these lines have been spoken yet)" if is_guessed else ""
            )
            problem = f"would not be spoken: {lost.reason}{how}"
            findings.append(Finding("T4", Level.ERROR, problem, lost.id))
            findings += blocking_findings(track, [lost], f"would not be spoken{how}")
        return tuple(findings)

    def view(self) -> Json:
        """The voice, what of the lines it sends away, those that could take its place, and whether subtitles
        are spoken too, for the page; no model is loaded."""
        name = self._made.name if self._made is not None else self._config.voice.name
        listed_voices = [
            voice for voice in voices() if VOICE_KINDS[voice.kind].is_offered or name.startswith(voice.kind)
        ]
        speaking = [voice for voice in listed_voices if voice.speaks(self._language)]
        others = [
            voice for voice in listed_voices if not voice.speaks(self._language) and voice.kind == "hibari"
        ]
        if name in ("", AUTO):
            first = next((voice for voice in speaking if voice.installed and voice.kind != "openai"), None)
            name = AUTO if first is None else first.name
        notice: Sentence = ""
        if name.partition(":")[0] == "openai":
            with suppress(VoiceError):  # who cannot speak sends nothing
                notice = joined(map(notice_message, privacy_notes(self.voice())))
        choices = []
        for voice in (*speaking, *others):
            speaks = voice.speaks(self._language)
            why: Sentence = (
                ""
                if speaks
                else message("hear.speaks", languages=", ".join(voice.languages), language=self._language)
            )
            if speaks and not voice.installed:
                why = voice.note
            kind, _, which = voice.name.partition(":")
            title = f"{which} ({kind})" if which else kind  # hibari:heart → heart (hibari)
            ready = speaks and voice.installed
            choices.append({"name": voice.name, "title": title, "speaks": ready, "why": sentence_view(why)})
        return {
            "name": name,
            "notice": sentence_view(notice),
            "choices": choices,
            "subtitles": self._subtitles is not None,
        }

    @property
    def subtitles(self) -> tuple[Spoken, ...]:
        """The subtitles that are spoken, in their places; none while they are not wanted."""
        subtitles = self._subtitles
        return () if subtitles is None else subtitles.spoken

    def speak_subtitles(self, progress: Progress) -> SpokenSubtitles:
        """Speak the film's subtitles as a render does, and keep their takes for it. Raises SubtitleError,
        VoiceError."""
        info, folder = self._prepared().info, WorkFolder(self._folder)
        spoken = speak_film_subtitles(info, folder, self._config, self._language, self.voice(), progress)
        self._subtitles = spoken
        return spoken

    def leave_subtitles(self) -> None:
        self._subtitles = None

    def _speech(self) -> tuple[Interval, ...]:
        """When somebody speaks, as `shotad.sound.voicing.Materials.speech`."""
        return no_line_times(self._prepared().speech, self._config.speech)

    def kept_speech(self) -> tuple[Interval, ...]:
        """When the film is not lowered, as `shotad.sound.voicing.Materials.kept_speech`."""
        times = [subtitle.interval for subtitle in self.subtitles]
        return speech_not_under(self._speech(), times, self._prepared().info.duration)

    def taken_times(self) -> tuple[Interval, ...]:
        """When no line is spoken: what people say goes first, in the film or as a spoken subtitle."""
        return (*self._speech(), *(subtitle.interval for subtitle in self.subtitles))

    def place(self, track: Track, cue: Cue) -> Spoken | None:
        """Where a line is heard in the film, spoken if it was not; None: it is not heard. Raises
        VoiceError."""
        studio = self.studio()
        if unspeakable_reason(studio.sent(cue.text), track.language):
            return None
        fitting = self._near(track, cue, self.taken_times(), studio)
        return next((line for line in fitting.spoken if line.id == cue.id), None)

    def placed(self, track: Track, cue: Cue) -> tuple[Spoken | None, tuple[Sentence, ...]]:
        """Where a line is heard in the film (None: it is not), and what a person must know of it. Raises
        VoiceError."""
        studio = self.studio()
        why_not = unspeakable_reason(studio.sent(cue.text), track.language)
        if why_not or not cue.heard:
            if not cue.heard and not cue.reason:
                return None, (message("hear.not_heard"),)
            return None, (
                message("hear.not_spoken", reason=reason_message(why_not if cue.heard else cue.reason)),
            )
        near = self._near(track, cue, self.taken_times(), studio)
        own = next((line for line in near.spoken if line.id == cue.id), None)
        left = next((line for line in near.unspoken if line.id == cue.id), None)
        notes: list[Sentence] = [] if own is None else [_sentence(step) for step in own.steps]
        left_out = () if own is None else studio.left_out(own.text, delivery_of(cue))
        if left_out:
            words = ", ".join(f"“{word}”" for word in left_out)
            notes.append(message("hear.left_out", words=words))
        for neighbour in near.unspoken:
            if cue.id in neighbour.taken_by:
                (finding,) = blocking_findings(
                    track, [replace(neighbour, taken_by=(cue.id,))], "is not spoken"
                )
                notes.append(message("hear.in_the_film", finding=finding_message(finding.message)))
        if left is not None:
            notes.append(message("hear.not_spoken", reason=reason_message(left.reason)))
            notes += [_sentence(step) for step in left.steps]
            if self._config.extended.on:
                notes.append(message("hear.may_pause"))
        return own, tuple(notes)

    def alone(self, track: Track, cue: Cue) -> Spoken:
        """A line as it is, at its own time, for one that is not heard in the film. Raises VoiceError."""
        studio = self.studio()
        why_not = unspeakable_reason(studio.sent(cue.text), track.language)
        if why_not:
            if not cue.text:
                raise with_texts(VoiceError, "hear.no_words", line=cue.id)
            if why_not == NO_WORDS:
                raise with_texts(VoiceError, "hear.unspeakable", line=cue.id, text=repr(cue.text[:80]))
            raise with_texts(VoiceError, "hear.cannot", line=cue.id, reason=why_not, text=repr(cue.text[:80]))
        with self._turn:
            take = studio.say(" ".join(cue.text.split()), delivery_of(cue))
        return Spoken(cue.id, cue.text, cue.interval.start, take)

    def _near(self, track: Track, cue: Cue, speech: tuple[Interval, ...], studio: CachingStudio) -> Fitting:
        """A line and its neighbours, of those that a voice can say, fitted."""
        place = track.cues.index(cue)
        near = track.cues[max(0, place - 2 * MAX_NEIGHBOURS) : place + 2 * MAX_NEIGHBOURS + 1]
        speakable = tuple(
            line for line in near if not unspeakable_reason(studio.sent(line.text), track.language)
        )
        lines = neighbourhood(
            replace(track, cues=speakable),
            cue.id,
            speech,
            {slot.id: slot.interval for slot in self._prepared().slots},
            self._config.fit,
            margin=self._config.speech.margin,
            before=BEFORE + DUCKING_HOLD,
            after=AFTER + DUCKING_HOLD,
        )
        with self._turn:  # a voice speaks for one at a time
            return fit(lines, studio, self._config.fit)


FILES = 200
"""Sounds that are kept at most: about a megabyte each."""

_ENDING = ".wav"
_OWN = re.compile(rf"[0-9a-f]{{16}}\{_ENDING}")
"""Names of sounds: what is in them."""


def keep_sound(folder: Path, data: bytes, files: int = FILES) -> Path:
    """Write a sound, whole or not at all; one that is there is the newest now. Only so many ``files`` stay.

    May be called from several threads and processes. Raises WorkFolderError.
    """
    path = folder / f"{hashlib.sha256(data).hexdigest()[:16]}{_ENDING}"
    if path.is_file():
        os.utime(path)
        return path
    write_bytes(path, [data])
    for old in sorted(own_files(folder, _OWN), key=lambda one: one.stat().st_mtime_ns)[:-files]:
        with suppress(OSError):  # one that is being played cannot be removed on some systems
            remove_file(old)
    return path


KEPT = 4
"""Measures kept: other audio tracks, other rates."""
_PLACE = 20.0
"""Seconds of film that are listened to together."""
_FIGURES = ("integrated", "range", "true_peak", "momentary", "short_term")


class _Over(Exception):  # noqa: N818  no error: nobody listens any more
    """The page was closed."""


class Listening:
    """The loudness of one film's sound as a whole: heard once in the background, and kept. May be used by
    several threads.

    Levels of all lines follow from it. Until it is known a line's surroundings must do.
    """

    def __init__(self, file: Path, settled: Callable[[], None]) -> None:
        """``file`` is where measures are kept; ``settled`` is called when one is done."""
        self._file, self._settled = file, settled
        self._lock = threading.Lock()
        self._known: dict[str, MeasuredSound] = {}
        self._near: dict[tuple[str, int], MeasuredSound] = {}
        self._guesses: dict[str, Loudness] = {}
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def of(self, programme: Programme, fingerprint: str, around: Interval) -> tuple[MeasuredSound, bool]:
        """How loud the programme is, and whether that is of the whole: if not it is of some stretches of
        it and of what lies around an interval, and the whole is being listened to."""
        key = measure_key(programme, fingerprint)
        measured = self.known(key)
        if measured is not None:
            return measured, True
        if programme.track is None:
            count = max(0, int(programme.total / RATE * 10))
            nothing = np.full(count, -np.inf, np.float32)
            silence = MeasuredSound(Loudness(None, 0.0, None, None, None), LoudnessCurve(nothing))
            return self._note(key, silence), True
        self.begin(programme, fingerprint)
        # Lines of a third of a minute have one measure, so that they do not differ without need.
        place = int(around.middle // _PLACE)
        with self._lock:
            near, guess = self._near.get((key, place)), self._guesses.get(key)
        guess = guess or estimate_loudness(programme)
        near = near or measure_nearby(programme, Interval(place * _PLACE, (place + 1) * _PLACE))
        with self._lock:
            self._near[key, place], self._guesses[key] = near, guess
        return replace(near, loudness=guess), False

    def is_settled(self, programme: Programme, fingerprint: str) -> bool:
        """Whether the whole programme was measured; one without sound needs no measure."""
        return programme.track is None or self.known(measure_key(programme, fingerprint)) is not None

    def begin(self, programme: Programme, fingerprint: str) -> None:
        """Listen to the whole in the background, unless that is known or under way."""
        key = measure_key(programme, fingerprint)
        if self.known(key) is not None or programme.track is None:
            return
        with self._lock:
            if self._closed.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=self._listen, args=(programme, key), name="listening", daemon=True
            )
            self._thread.start()

    def known(self, key: str) -> MeasuredSound | None:
        """The measure with this key, of this session or kept from before."""
        with self._lock:
            if key in self._known:
                return self._known[key]
            row: Mapping[str, Any] = next((row for row in self._rows() if row.get("key") == key), {})
            # A row that is damaged is none.
            with suppress(KeyError, TypeError, ValueError):
                course = [-np.inf if level is None else int(level) / 1000 for level in row["course"]]
                levels = [row[name] if row[name] is None else float(row[name]) for name in _FIGURES]
                if levels[1] is not None:
                    self._known[key] = MeasuredSound(
                        Loudness(*levels), LoudnessCurve(np.array(course, np.float32))
                    )
            return self._known.get(key)

    def wait(self, seconds: float | None = None) -> None:
        """Until what is under way is done."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        self._closed.set()
        self.wait(5.0)

    def _listen(self, programme: Programme, key: str) -> None:
        yield_thread(10)
        try:
            heard = measure_whole(programme, self._pause)
        except (_Over, OSError):
            return
        self._note(key, heard)
        self._settled()

    def _pause(self, _: float) -> None:
        if self._closed.is_set():
            raise _Over

    def _note(self, key: str, heard: MeasuredSound) -> MeasuredSound:
        with self._lock:
            self._known[key] = heard
            # Figures as ffmpeg gives them, in thousandths
            levels = map(float, heard.curve.momentary)
            course = [None if np.isneginf(level) else round(level * 1000) for level in levels]
            figures = {name: getattr(heard.loudness, name) for name in _FIGURES}
            rows = [row for row in self._rows() if row.get("key") != key][-KEPT + 1 :]
            rows.append({"key": key, **figures, "course": course})
            write_text(self._file, readable_json({"measures": rows}))
        return heard

    def _rows(self) -> list[Mapping[str, Any]]:
        record: Mapping[str, Any] = {}
        with suppress(OSError, WorkFolderError):
            record = parse_record(LOUDNESS, read_file(self._file)) or {}
        rows = record.get("measures")
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def measure_key(programme: Programme, fingerprint: str) -> str:
    """By which a measure is known: all that changes it."""
    return hash_key("loudness/1", fingerprint, programme.track, RATE, programme.layout, programme.total)
