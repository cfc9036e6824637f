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

from shotad.core import CastError, Config, Interval, SpeechKind, VoiceError, native_quiet
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
    Speaker,
    Spoken,
    Take,
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

Kind = Literal["mix", "voice", "programme"]
KINDS: tuple[Kind, ...] = ("mix", "voice", "programme")

BEFORE = 2.0
"""Seconds that are heard before a line's first sound."""

AFTER = 1.5
"""Seconds that are heard after its last, or until the film is back at its level."""


@dataclass(frozen=True, slots=True, eq=False)
class _InTurn:
    """A `Studio` of which one line at a time is spoken."""

    studio: Keeping
    turn: threading.Lock

    @property
    def voice(self) -> str:
        return self.studio.voice

    def say(self, text: str, speed: float = 1.0) -> Take:
        with self.turn:
            return self.studio.say(text, speed)


class Speaking:
    """The voice of one session and its takes, which a render finds again. May be used by several threads."""

    def __init__(self, folder: Path, config: Config, prepared: Callable[[], Prepared]) -> None:
        """``folder`` is the work folder; ``config`` has the language of its track; ``prepared`` gives speech
        and slots as they are now."""
        self._folder, self._config, self._prepared = folder, config, prepared
        self._language = config.language
        self._lock, self._loading, self._turn = threading.Lock(), threading.Lock(), threading.Lock()
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
                    self._made = make_voice(self._config.voice, self._language)
            return self._made

    def studio(self) -> Keeping:
        """Where lines are spoken, with the cast's names said as a render says them. Raises VoiceError."""
        voice, lexicon = self.voice(), NOTHING
        with suppress(CastError, OSError):  # told where the cast is shown; lines are heard all the same
            lexicon = pronunciations(self._folder)
        key = (voice.identity, lexicon, self._language)
        with self._lock:
            if self._studio is None or self._studio[0] != key:
                place, settings = self._folder / VOICES, self._config.voice
                self._studio = (key, Keeping(voice, place, settings, self._language, lexicon))
            return self._studio[1]

    def view(self) -> Json:
        """The voice, what of the lines it sends away, and those that could take its place, for the page; no
        model is loaded."""
        name = self._made.name if self._made is not None else self._config.voice.name
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
        choices = []
        for one in (*speaking, *others):
            speaks = one.speaks(self._language)
            why = "" if speaks else f"It speaks {', '.join(one.languages)}, not {self._language}."
            if speaks and not one.installed:
                why = one.note
            kind, _, which = one.name.partition(":")
            title = f"{which} ({kind})" if which else kind  # hibari:heart → heart (hibari)
            ready = speaks and one.installed
            choices.append({"name": one.name, "title": title, "speaks": ready, "why": why})
        return {"name": name, "notice": told, "choices": choices}

    def speech(self) -> tuple[Interval, ...]:
        """When the film is not lowered, as `shotad.sound.voicing.Materials.speech`."""
        over = self._config.speech.over_lyrics
        heard = (u for u in self._prepared().speech if not (over and u.kind is SpeechKind.LYRICS))
        return tuple(u.interval for u in heard)

    def placed(
        self, track: Track, cue: Cue, kind: Kind, speech: tuple[Interval, ...]
    ) -> tuple[Interval | None, tuple[Spoken, ...], tuple[str, ...]]:
        """When the voice is heard in the film (None: it is not), the lines that sound where ``kind`` is
        heard, and warnings. Raises VoiceError."""
        studio = self.studio()
        worded = has_words(studio.sent(cue.text))
        if not worded and kind == "voice":
            what = f"The line {cue.id} has no words that could be spoken."
            raise VoiceError(what, f"It is {cue.text!r}." if cue.text else "Write some first.")
        near, own, told = Fitting(()), None, list[str]()
        if worded and cue.heard:
            near = self._near(track, cue, speech, studio)
            own = next((line for line in near.spoken if line.id == cue.id), None)
            left = next((line for line in near.unspoken if line.id == cue.id), None)
            told += own.steps if own is not None else ()
            if left is not None:
                told += (f"Not spoken in the film: {left.reason}", *left.steps)
                if self._config.extended.on:
                    told.append("The film may pause for it when it is rendered (extended)")
        else:
            why = WORDLESS if cue.heard else cue.reason or f"it is {cue.status}"
            told.append(f"Not spoken in the film: {why}")
            if kind == "mix":  # what is heard around it
                around = Interval(max(0.0, cue.interval.start - BEFORE) - 1, cue.interval.end + AFTER + 1)
                others = (one for one in track.heard if one.interval.overlaps(around))
                others = (one for one in others if has_words(studio.sent(one.text)))
                middle = cue.interval.middle
                other = min(others, key=lambda one: abs(one.interval.middle - middle), default=None)
                near = near if other is None else self._near(track, other, speech, studio)
        at = own.interval if own is not None else None
        if kind == "programme":
            return at, (), ()
        if kind == "voice" and own is None:  # as it is, at its own time
            take = _InTurn(studio, self._turn).say(" ".join(cue.text.split()))
            own = Spoken(cue.id, cue.text, cue.interval.start, take)
        sounding = (own,) if kind == "voice" and own is not None else near.spoken
        return at, sounding, tuple(f"{text[0].upper()}{text[1:]}." for text in told)

    def _near(self, track: Track, cue: Cue, speech: tuple[Interval, ...], studio: Keeping) -> Fitting:
        """A line and its neighbours, of those that a voice can say, fitted."""
        place = track.cues.index(cue)
        near = track.cues[max(0, place - 2 * MOST) : place + 2 * MOST + 1]
        lines = neighbourhood(
            replace(track, cues=tuple(one for one in near if has_words(studio.sent(one.text)))),
            cue.id,
            speech,
            {slot.id: slot.interval for slot in self._prepared().slots},
            self._config.fit,
            margin=self._config.speech.margin,
            before=BEFORE + HOLD,
            after=AFTER + HOLD,
        )
        return fit(lines, _InTurn(studio, self._turn), self._config.fit)
