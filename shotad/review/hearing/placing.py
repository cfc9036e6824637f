"""A line in its place among its neighbours, as a render of the whole track would put it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from shotad.core import Config, Interval, SpeechKind, VoiceError
from shotad.film import Prepared
from shotad.review.hearing.ahead import SpeakingAhead
from shotad.review.hearing.speaking import InTurn, Speaking
from shotad.script import Cue, Track
from shotad.sound import MOST, SLOPES, WORDLESS, Keeping, Spoken, Unspoken, fit_near, has_words, neighbourhood

Kind = Literal["mix", "voice", "programme"]
KINDS: tuple[Kind, ...] = ("mix", "voice", "programme")

BEFORE = 2.0
"""Seconds that are heard before a line's first sound."""

AFTER = 1.5
"""Seconds that are heard after its last, or until the film is back at its level."""

PATIENCE = 0.8
"""Seconds for which neighbours may still be spoken while a person waits."""


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Neighbours fitted: who is heard, who has no place, and how many nobody has spoken yet."""

    heard: tuple[Spoken, ...]
    left: tuple[Unspoken, ...]
    missing: int


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A line in its place: ``spoken`` as it is fitted (None: it is not), with ``around`` all lines that are
    heard near it; ``whole`` is its take for itself. ``missing`` lines around it have not been spoken yet."""

    cue: Cue
    spoken: Spoken | None
    around: tuple[Spoken, ...]
    speech: tuple[Interval, ...]
    duration: float
    left: Unspoken | None = None
    whole: Spoken | None = None
    missing: int = 0
    extended: bool = False

    @property
    def interval(self) -> Interval | None:
        """When the voice is heard in the film."""
        return self.spoken.interval if self.spoken else None

    @property
    def stretch(self) -> Interval:
        """What is to be heard of the film."""
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
        """What was done to the line, as sentences."""
        if kind == "programme":
            return ()
        told = [f"{step[0].upper()}{step[1:]}." for step in (self.spoken.steps if self.spoken else ())]
        if self.left is not None:
            told.append(f"Not spoken in the film: {self.left.reason}.")
            told += [f"{step[0].upper()}{step[1:]}." for step in self.left.steps]
            if self.extended:
                told.append("The film may pause for it when it is rendered (extended).")
        if self.missing and kind == "mix":
            lines = "One line near it is" if self.missing == 1 else f"{self.missing} lines near it are"
            told.append(f"{lines} not spoken yet and left out; hear it again in a moment.")
        return tuple(told)


class Placing:
    """Puts lines of one film into their places. May be used by several threads."""

    def __init__(
        self, config: Config, prepared: Callable[[], Prepared], speaking: Speaking, ahead: SpeakingAhead
    ) -> None:
        self._config, self._prepared, self._speaking, self._ahead = config, prepared, speaking, ahead

    def placed(self, track: Track, cue: Cue, kind: Kind) -> Place:
        """One line, spoken and fitted as ``kind`` needs it. Raises VoiceError."""
        prepared = self._prepared()
        speech = _speech(prepared, over_lyrics=self._config.speech.over_lyrics)
        try:
            return self._fitted(track, cue, kind, prepared, speech)
        except VoiceError:
            if kind != "programme":
                raise
            return Place(cue, None, (), speech, track.film.duration)

    def _fitted(
        self,
        track: Track,
        cue: Cue,
        kind: Kind,
        prepared: Prepared,
        speech: tuple[Interval, ...],
    ) -> Place:
        studio = self._speaking.studio()
        turn, duration = InTurn(self._speaking, studio), track.film.duration
        worded = has_words(studio.sent(cue.text))
        if not worded and kind == "voice":
            what = f"The line {cue.id} has no words that could be spoken."
            raise VoiceError(what, f"It is {cue.text!r}." if cue.text else "Write some first.")
        if not worded or not cue.heard:
            why = WORDLESS if cue.heard else cue.reason or f"it is {cue.status}"
            beside = self._beside(track, cue, prepared, speech, turn) if kind == "mix" else None
            place = Place(cue, None, (), speech, duration, Unspoken(cue.id, cue.text, why))
            if kind == "voice":
                return replace(place, whole=_unfitted(cue, turn))
            return place if beside is None else replace(place, around=beside.heard, missing=beside.missing)
        near = self._near(track, cue, prepared, speech, turn)
        own = next((line for line in near.heard if line.id == cue.id), None)
        left = next((line for line in near.left if line.id == cue.id), None)
        whole = own or (_unfitted(cue, turn) if kind == "voice" else None)
        extended = self._config.extended.on
        return Place(cue, own, near.heard, speech, duration, left, whole, near.missing, extended)

    def _near(
        self, track: Track, cue: Cue, prepared: Prepared, speech: tuple[Interval, ...], turn: InTurn
    ) -> Near:
        """A line and its neighbours, fitted; those that nobody wanted to wait for are spoken afterwards."""
        near = neighbourhood(
            _without_wordless(track, cue, turn.studio),
            cue.id,
            speech,
            {slot.id: slot.interval for slot in prepared.slots},
            self._config.fit,
            margin=self._config.speech.margin,
            before=BEFORE + SLOPES.hold,
            after=AFTER + SLOPES.hold,
        )
        placed = fit_near(near, turn, self._config.fit, until=time.monotonic() + PATIENCE)
        self._ahead.of(near, placed, turn.studio)
        spoken = tuple(line for line in placed.fitting.spoken if line.id not in placed.guessed)
        return Near(spoken, placed.fitting.unspoken, len(placed.guessed))

    def _beside(
        self, track: Track, cue: Cue, prepared: Prepared, speech: tuple[Interval, ...], turn: InTurn
    ) -> Near | None:
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
    return Spoken(cue.id, cue.text, cue.interval.start, turn.say(_plain(cue.text)))


def _plain(text: str) -> str:
    """A line as it is fitted and spoken: in one row."""
    return " ".join(text.split())
