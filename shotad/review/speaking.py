"""Who speaks on the page, and where a line is heard among its neighbours, as a render of the track would
put it.

A voice is loaded when it is first needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from shotad.core import (
    CastError,
    Config,
    Interval,
    SpeechKind,
    VoiceError,
    VoiceSettings,
    native_quiet,
)
from shotad.film import Prepared
from shotad.review.kinds import Json
from shotad.script import Cue, Track
from shotad.sound import (
    AUTO,
    HOLD,
    MOST,
    NOTHING,
    VOICES,
    WORDLESS,
    Fitting,
    Keeping,
    Lexicon,
    Speaker,
    Spoken,
    Take,
    Unspoken,
    VoiceInfo,
    fit,
    has_words,
    make_voice,
    neighbourhood,
    notice,
    pronunciations,
    voices,
)

_HIDDEN = ("fake",)
"""Kinds that are no choice for people."""


class Speaking:
    """The voice of one session and its takes, which a render finds again. May be used by several threads."""

    def __init__(self, folder: Path, settings: VoiceSettings, language: str) -> None:
        """``folder`` is the work folder; ``language`` that of its track."""
        self._folder, self._settings, self._language = folder, settings, language
        self._lock, self._loading = threading.Lock(), threading.Lock()
        self.turn = threading.Lock()
        self._made: Speaker | None = None
        self._studio: tuple[object, Keeping] | None = None

    def speak_in(self, language: str) -> None:
        """The language of the track from now on; where it changes the voice is looked for again."""
        with self._loading:
            if language != self._language:
                self._language, self._made = language, None

    def voice(self) -> Speaker:
        """The voice, loaded if it is not. Raises VoiceError."""
        with self._loading:
            if self._made is None:
                with native_quiet():
                    self._made = make_voice(self._settings, self._language)
            return self._made

    def studio(self) -> Keeping:
        """Where lines are spoken, with the cast's names said as a render says them. Raises VoiceError."""
        voice, lexicon = self.voice(), self._lexicon()
        key = (voice.identity, lexicon, self._language)
        with self._lock:
            if self._studio is None or self._studio[0] != key:
                studio = Keeping(voice, self._folder / VOICES, self._settings, self._language, lexicon)
                self._studio = (key, studio)
            return self._studio[1]

    def view(self) -> Json:
        """The voice, what of the lines it sends away, and those that could take its place, for the page; no
        model is loaded."""
        name = self._made.name if self._made is not None else self._settings.name
        found = [one for one in voices() if one.kind not in _HIDDEN or name.startswith(one.kind)]
        speaking = [one for one in found if one.speaks(self._language)]
        others = [one for one in found if not one.speaks(self._language) and one.kind == "hibari"]
        if name in ("", AUTO):
            first = next((one for one in speaking if one.installed and one.kind != "openai"), None)
            name = AUTO if first is None else first.name
        told = ""
        if name.partition(":")[0] == "openai":
            with suppress(VoiceError):  # who cannot speak sends nothing
                told = " ".join(notice(self.voice()))
        return {
            "name": name,
            "notice": told,
            "choices": [self._choice(one) for one in (*speaking, *others)],
        }

    def _choice(self, one: VoiceInfo) -> Json:
        speaks = one.speaks(self._language)
        why = "" if speaks else f"It speaks {', '.join(one.languages)}, not {self._language}."
        if speaks and not one.installed:
            why = one.note
        return {
            "name": one.name,
            "title": title_of(one.name),
            "speaks": speaks and one.installed,
            "why": why,
        }

    def _lexicon(self) -> Lexicon:
        """Pronunciations of the cast as it is now."""
        try:
            return pronunciations(self._folder)
        except (CastError, OSError):
            # A cast that cannot be read is told where it is shown; lines are heard all the same.
            return NOTHING


def title_of(name: str) -> str:
    """A voice for people: ``hibari:heart → heart (hibari)``."""
    kind, _, which = name.partition(":")
    return f"{which} ({kind})" if which else kind


@dataclass(frozen=True, slots=True, eq=False)
class InTurn:
    """A `Studio` of which one line at a time is spoken."""

    speaking: Speaking
    studio: Keeping

    @property
    def voice(self) -> str:
        return self.studio.voice

    def say(self, text: str, speed: float = 1.0) -> Take:
        """The take of a text. Raises VoiceError."""
        with self.speaking.turn:
            return self.studio.say(text, speed)


Kind = Literal["mix", "voice", "programme"]
KINDS: tuple[Kind, ...] = ("mix", "voice", "programme")

BEFORE = 2.0
"""Seconds that are heard before a line's first sound."""

AFTER = 1.5
"""Seconds that are heard after its last, or until the film is back at its level."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedLine:
    """A line in its place: ``spoken`` as it is fitted (None: it is not), with ``around`` all lines that are
    heard near it; ``whole`` is its take for itself."""

    cue: Cue
    spoken: Spoken | None
    around: tuple[Spoken, ...]
    speech: tuple[Interval, ...]
    duration: float
    left: Unspoken | None = None
    whole: Spoken | None = None
    extended: bool = False

    @property
    def interval(self) -> Interval | None:
        """When the voice is heard in the film."""
        return self.spoken.interval if self.spoken else None

    @property
    def stretch(self) -> Interval:
        """What is heard of the film."""
        at = self.interval or self.cue.interval
        end = min(at.end + AFTER, max(self.duration, at.start + 0.1))
        return Interval(max(0.0, at.start - BEFORE), end)

    @property
    def alone(self) -> Interval:
        """From the first to the last sound of the voice. Raises VoiceError where it has nothing to say."""
        if self.whole is None:
            raise VoiceError(f"The line {self.cue.text!r} cannot be spoken.", "Give it words.")
        return self.whole.interval

    def heard(self, kind: Kind) -> tuple[Spoken, ...]:
        """The lines that sound."""
        if kind == "programme":
            return ()
        return self.around if kind == "mix" else (self.whole,) if self.whole else ()

    def warnings(self, kind: Kind) -> tuple[str, ...]:
        if kind == "programme":
            return ()
        told = [f"{step[0].upper()}{step[1:]}." for step in (self.spoken.steps if self.spoken else ())]
        if self.left is not None:
            told.append(f"Not spoken in the film: {self.left.reason}.")
            told += [f"{step[0].upper()}{step[1:]}." for step in self.left.steps]
            if self.extended:
                told.append("The film may pause for it when it is rendered (extended).")
        return tuple(told)


class Placing:
    """Puts lines of one film into their places. May be used by several threads."""

    def __init__(self, config: Config, prepared: Callable[[], Prepared], speaking: Speaking) -> None:
        self._config, self._prepared, self._speaking = config, prepared, speaking

    def placed(self, track: Track, cue: Cue, kind: Kind) -> PlacedLine:
        """One line, spoken and fitted as ``kind`` needs it. Raises VoiceError."""
        prepared = self._prepared()
        speech = _speech(prepared, over_lyrics=self._config.speech.over_lyrics)
        try:
            return self._fitted(track, cue, kind, prepared, speech)
        except VoiceError:
            if kind != "programme":
                raise
            return PlacedLine(cue, None, (), speech, track.film.duration)

    def _fitted(
        self,
        track: Track,
        cue: Cue,
        kind: Kind,
        prepared: Prepared,
        speech: tuple[Interval, ...],
    ) -> PlacedLine:
        studio = self._speaking.studio()
        turn, duration = InTurn(self._speaking, studio), track.film.duration
        worded = has_words(studio.sent(cue.text))
        if not worded and kind == "voice":
            what = f"The line {cue.id} has no words that could be spoken."
            raise VoiceError(what, f"It is {cue.text!r}." if cue.text else "Write some first.")
        if not worded or not cue.heard:
            why = WORDLESS if cue.heard else cue.reason or f"it is {cue.status}"
            beside = self._beside(track, cue, prepared, speech, turn) if kind == "mix" else None
            place = PlacedLine(cue, None, (), speech, duration, Unspoken(cue.id, cue.text, why))
            if kind == "voice":
                return replace(place, whole=_unfitted(cue, turn))
            return place if beside is None else replace(place, around=beside.spoken)
        near = self._near(track, cue, prepared, speech, turn)
        own = next((line for line in near.spoken if line.id == cue.id), None)
        left = next((line for line in near.unspoken if line.id == cue.id), None)
        whole = own or (_unfitted(cue, turn) if kind == "voice" else None)
        extended = self._config.extended.on
        return PlacedLine(cue, own, near.spoken, speech, duration, left, whole, extended)

    def _near(
        self, track: Track, cue: Cue, prepared: Prepared, speech: tuple[Interval, ...], turn: InTurn
    ) -> Fitting:
        """A line and its neighbours, fitted."""
        near = neighbourhood(
            _without_wordless(track, cue, turn.studio),
            cue.id,
            speech,
            {slot.id: slot.interval for slot in prepared.slots},
            self._config.fit,
            margin=self._config.speech.margin,
            before=BEFORE + HOLD,
            after=AFTER + HOLD,
        )
        return fit(near, turn, self._config.fit)

    def _beside(
        self, track: Track, cue: Cue, prepared: Prepared, speech: tuple[Interval, ...], turn: InTurn
    ) -> Fitting | None:
        """What is heard around a line that is not."""
        around = Interval(max(0.0, cue.interval.start - BEFORE) - 1, cue.interval.end + AFTER + 1)
        others = [
            one
            for one in track.heard
            if one.interval.overlaps(around) and has_words(turn.studio.sent(one.text))
        ]
        nearest = min(others, key=lambda one: abs(one.interval.middle - cue.interval.middle), default=None)
        return None if nearest is None else self._near(track, nearest, prepared, speech, turn)


def _speech(prepared: Prepared, *, over_lyrics: bool) -> tuple[Interval, ...]:
    """When the film is not lowered, as `shotad.sound.voicing.Materials.speech`."""
    heard = (one for one in prepared.speech if not (over_lyrics and one.kind is SpeechKind.LYRICS))
    return tuple(one.interval for one in heard)


def _without_wordless(track: Track, cue: Cue, studio: Keeping) -> Track:
    """The lines near one, of those that a voice can say."""
    at = track.cues.index(cue)
    near = track.cues[max(0, at - 2 * MOST) : at + 2 * MOST + 1]
    return replace(track, cues=tuple(one for one in near if has_words(studio.sent(one.text))))


def _unfitted(cue: Cue, turn: InTurn) -> Spoken:
    """A line as it is, at its own time."""
    return Spoken(cue.id, cue.text, cue.interval.start, turn.say(" ".join(cue.text.split())))
