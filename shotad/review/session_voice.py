"""The voice of a review session: its takes, where lines are heard, and what a render would leave unspoken.

A voice is loaded when it is first needed. Its takes are those that `shotad render` finds again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from shotad.core import (
    Config,
    Interval,
    Progress,
    WorkFolder,
)
from shotad.core.errors import (
    CastError,
    VoiceError,
)
from shotad.core.files import (
    inner_folder,
)
from shotad.core.model_loading import silence_native_output
from shotad.film import (
    Prepared,
)
from shotad.film.slots import no_line_times
from shotad.review.english_sentences import finding_message, notice_message, reason_message
from shotad.review.events import Json
from shotad.review.messages import (
    Message,
    Sentence,
    joined,
    message,
    sentence_view,
    with_texts,
)
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
    Speaker,
    Spoken,
    fit_track,
    make_voice,
    voices,
)
from shotad.sound.fitted_takes import (
    MAX_NEIGHBOURS,
    fit,
    neighbourhood,
)
from shotad.sound.kinds import delivery_of
from shotad.sound.levels import DUCKING_HOLD
from shotad.sound.pronunciation import EMPTY_LEXICON
from shotad.sound.render import speak_film_subtitles
from shotad.sound.spoken_lines import (
    NO_WORDS,
    VOICES,
    blocking_findings,
    pronunciations,
    unspeakable_reason,
)
from shotad.sound.spoken_subtitles import SpokenSubtitles, speech_not_under
from shotad.sound.voice_engines import (
    AUTO,
    VOICE_KINDS,
    privacy_notes,
)

BEFORE = 2.0
"""Seconds that are heard before a line's first sound."""

AFTER = 1.5
"""Seconds that are heard after its last, or until the film is back at its level."""


def _sentence(step: str) -> Sentence:
    """What was done to make a line fit, as a sentence."""
    reason = reason_message(step)
    return (
        message("note.reason", reason=reason)
        if isinstance(reason, Message)
        else f"{step[0].upper()}{step[1:]}."
    )


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


class SessionVoice:
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
        voices_of_language = [voice for voice in listed_voices if voice.speaks(self._language)]
        voices_of_other_languages = [
            voice for voice in listed_voices if not voice.speaks(self._language) and voice.kind == "hibari"
        ]
        if name in ("", AUTO):
            first = next(
                (voice for voice in voices_of_language if voice.installed and voice.kind != "openai"), None
            )
            name = AUTO if first is None else first.name
        notice: Sentence = ""
        if name.partition(":")[0] == "openai":
            with suppress(VoiceError):  # who cannot speak sends nothing
                notice = joined(map(notice_message, privacy_notes(self.voice())))
        choices = []
        for voice in (*voices_of_language, *voices_of_other_languages):
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
        """When somebody speaks, as `shotad.sound.spoken_lines.Materials.speech`."""
        return no_line_times(self._prepared().speech, self._config.speech)

    def kept_speech(self) -> tuple[Interval, ...]:
        """When the film is not lowered, as `shotad.sound.spoken_lines.Materials.kept_speech`."""
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
            raise with_texts(
                VoiceError,
                "hear.cannot",
                line=cue.id,
                reason=reason_message(why_not),
                text=repr(cue.text[:80]),
            )
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
