"""A line as the audience will hear it: from two seconds before it until the film is back at its level.

Fitted, spoken, levelled, placed and ducked by the same rules and from the same takes as `shotad render`, but
only the line with its neighbours and only the seconds around it. What that cannot know at once it says: the
level of the whole film, the length of neighbours that nobody has spoken yet.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from shotad.config import Config
from shotad.config.sound import MixSettings
from shotad.errors import FilmError, ReviewError, ShotadError, VoiceError
from shotad.film.audio import Samples
from shotad.film.reader import Film, open_film
from shotad.prepare import Prepared
from shotad.rendering.voicing import WORDLESS, has_words
from shotad.review.hearing.heardfiles import HeardFiles
from shotad.review.hearing.listening import Listening
from shotad.review.hearing.speaking import InTurn, Speaking
from shotad.review.kinds import Json
from shotad.script.cue import Cue
from shotad.script.track import Track
from shotad.sound.fitting.nearby import MOST, Neighbourhood, Placed, fit_near, neighbourhood
from shotad.sound.kinds import Spoken, Take, Unspoken
from shotad.sound.mixing.excerpt import Excerpt, foreseen_make_up, limit_of
from shotad.sound.mixing.prepare import lay
from shotad.sound.mixing.programme import Programme, no_programme, programme_of
from shotad.sound.mixing.takes import loudness_of
from shotad.sound.studio import Keeping
from shotad.types import Interval, SpeechKind
from shotad.workfolder import key_of

Kind = Literal["mix", "voice", "programme"]
KINDS: tuple[Kind, ...] = ("mix", "voice", "programme")

FORMAT = 1
"""Raised when sounds are made in another way."""

BEFORE = 2.0
"""Seconds that are heard before a line's first sound."""

AFTER = 1.5
"""Seconds that are heard after its last, or until the film is back at its level."""

PATIENCE = 0.8
"""Seconds for which neighbours may still be spoken while a person waits."""

REVIEW = "review"
HEARD = "heard"
LOUDNESS = "loudness.json"
"""In the work folder: ``review/heard/KEY.wav`` and ``review/loudness.json``."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A sound for the page. ``start`` is the film second of its first sample; ``line`` when the voice is
    heard, in film seconds, None: it is not. ``text`` is what it says, ``steps`` how it was made to fit."""

    path: Path
    start: float
    seconds: float
    line: tuple[float, float] | None
    warnings: tuple[str, ...] = ()
    text: str = ""
    steps: tuple[str, ...] = ()
    settled: bool = True


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
    ) -> None:
        """``prepared`` gives speech and slots as they are now; ``settled`` is called from a thread when the
        level of the whole film gets known. Nothing is loaded before it is needed."""
        self._path, self._folder, self._config, self._prepared = film, folder, config, prepared
        self._speaking = Speaking(folder, config.voice, config.language)
        self._files = HeardFiles(folder / REVIEW / HEARD)
        self._listening = Listening(folder / REVIEW / LOUDNESS, settled)
        self._lock = threading.Lock()
        self._source: _Source | None = None
        self._loud: dict[str, float | None] = {}
        self._ahead: list[tuple[str, Keeping]] = []
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def hear(self, track: Track, line_id: str, kind: Kind) -> Heard:
        """One line: ``mix`` as the audience hears it, ``voice`` its take alone, as loud, ``programme`` the
        film alone for the same seconds.

        A line that a render would leave unspoken has no voice in its mix, and the reason is among the
        warnings; its voice can be heard all the same. Raises ReviewError for a line or kind that there is
        not, VoiceError where it cannot be spoken, FilmError and WorkFolderError.
        """
        if kind not in KINDS:
            raise ReviewError(f"{kind!r} is nothing that can be heard.", f"There are {', '.join(KINDS)}.")
        cue = next((cue for cue in track.cues if cue.id == line_id), None)
        if cue is None:
            raise ReviewError(f"There is no line {line_id}.", "It may have been removed: look at the list.")
        with self._listening.aside():
            return self._made(track, cue, kind)

    def warm(self) -> None:
        """Load the voice and listen to the film in the background, so that the first line is heard soon."""
        threading.Thread(target=self._warm, name="warming voice", daemon=True).start()

    def voices(self) -> Json:
        """The voice, and those that could take its place (`Speaking.view`)."""
        return self._speaking.view()

    def set_voice(self, name: str, speed: float = 1.0) -> Json:
        """Another voice or pace from now on; the new view. Raises VoiceError or ReviewError where it cannot
        be, and nothing has changed."""
        self._speaking.choose(name, speed)
        return self.voices()

    @property
    def config(self) -> Config:
        """The settings, with the voice that was chosen."""
        return self._config.model_copy(update={"voice": self._speaking.settings})

    def wait(self, seconds: float | None = None) -> None:
        """Until the whole film was listened to and no line is to be spoken ahead."""
        self._listening.wait(seconds)
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        """Stop what runs in the background, and let go of the film."""
        self._closed.set()
        self._listening.close()
        with self._lock:
            source, self._source = self._source, None
        if source is not None and source.film is not None:
            source.film.close()

    def _made(self, track: Track, cue: Cue, kind: Kind) -> Heard:
        source = self._open(track.film.duration)
        place = self._placed(track, cue, kind)
        own, settled = self._listening.of(source.programme, track.film.fingerprint, place.stretch)
        make_up = foreseen_make_up(own, _times(track), place.speech, self._config.mix, track.film.duration)
        stretch = _after_ducking(place.stretch, self._config.mix) if place.spoken else place.stretch
        programme = source.programme
        if kind == "voice":
            stretch = _only(place)
            programme = replace(
                programme, total=max(programme.total, round(stretch.end * programme.rate) + 1)
            )
        laid = lay(programme, own, place.heard(kind), place.speech, self._config.mix, self._loudness)
        rate = programme.rate
        first, end = round(stretch.start * rate), round(stretch.end * rate)
        if kind != "voice":
            end = max(first + 1, min(end, programme.total))
        excerpt = Excerpt(laid, first, end, make_up, limit_of(own, self._config.mix))
        key = _key(excerpt, track.film.fingerprint, kind)
        path = self._files.find(key) or self._files.keep(key, _samples(excerpt, kind), rate)
        warnings = (*source.warnings, *place.warnings(kind))
        if not settled and kind != "programme":
            warnings += ("The level is not settled yet: the whole film is still being listened to.",)
        if self._config.mix.profile != "source" and kind == "mix":
            warnings += (f"The loudness of {self._config.mix.profile} is foreseen, not measured.",)
        line = place.interval if kind != "programme" else None
        return Heard(
            path,
            first / rate,
            (end - first) / rate,
            None if line is None else (line.start, line.end),
            warnings,
            place.spoken.text if place.spoken else "",
            place.spoken.steps if place.spoken else (),
            settled,
        )

    def _placed(self, track: Track, cue: Cue, kind: Kind) -> _Place:
        prepared = self._prepared()
        speech = _speech(prepared, over_lyrics=self._config.speech.over_lyrics)
        try:
            return self._fitted(track, cue, kind, prepared, speech)
        except VoiceError:
            if kind != "programme":
                raise
            return _Place(cue, None, (), speech, track.film.duration)

    def _fitted(
        self,
        track: Track,
        cue: Cue,
        kind: Kind,
        prepared: Prepared,
        speech: tuple[Interval, ...],
    ) -> _Place:
        studio = self._speaking.studio()
        turn, duration = InTurn(self._speaking, studio), track.film.duration
        worded = has_words(studio.sent(cue.text))
        if not worded and kind == "voice":
            what = f"The line {cue.id} has no words that could be spoken."
            raise VoiceError(what, f"It is {cue.text!r}." if cue.text else "Write some first.")
        if not worded or not cue.heard:
            why = WORDLESS if cue.heard else cue.reason or f"it is {cue.status}"
            beside = self._beside(track, cue, prepared, speech, turn) if kind == "mix" else None
            place = _Place(cue, None, (), speech, duration, Unspoken(cue.id, cue.text, why))
            if kind == "voice":
                return replace(place, whole=_unfitted(cue, turn))
            return place if beside is None else replace(place, around=beside.heard, missing=beside.missing)
        near = self._near(track, cue, prepared, speech, turn)
        own = next((line for line in near.heard if line.id == cue.id), None)
        left = next((line for line in near.left if line.id == cue.id), None)
        whole = own or (_unfitted(cue, turn) if kind == "voice" else None)
        extended = self._config.extended.on
        return _Place(cue, own, near.heard, speech, duration, left, whole, near.missing, extended)

    def _near(
        self, track: Track, cue: Cue, prepared: Prepared, speech: tuple[Interval, ...], turn: InTurn
    ) -> _Near:
        """A line and its neighbours, fitted; those that nobody wanted to wait for are spoken afterwards."""
        near = neighbourhood(
            _without_wordless(track, cue, turn.studio),
            cue.id,
            speech,
            {slot.id: slot.interval for slot in prepared.slots},
            self._config.fit,
            margin=self._config.speech.margin,
            before=BEFORE + self._config.mix.hold,
            after=AFTER + self._config.mix.hold,
        )
        placed = fit_near(near, turn, self._config.fit, until=time.monotonic() + PATIENCE)
        self._speak_ahead(near, placed, turn.studio)
        spoken = tuple(line for line in placed.fitting.spoken if line.id not in placed.guessed)
        return _Near(spoken, placed.fitting.unspoken, len(placed.guessed))

    def _beside(
        self, track: Track, cue: Cue, prepared: Prepared, speech: tuple[Interval, ...], turn: InTurn
    ) -> _Near | None:
        """What is heard around a line that is not."""
        around = Interval(max(0.0, cue.interval.start - BEFORE) - 1, cue.interval.end + AFTER + 1)
        others = [
            one
            for one in track.heard
            if one.interval.overlaps(around) and has_words(turn.studio.sent(one.text))
        ]
        nearest = min(others, key=lambda one: abs(one.interval.middle - cue.interval.middle), default=None)
        return None if nearest is None else self._near(track, nearest, prepared, speech, turn)

    def _open(self, duration: float) -> _Source:
        """The film's sound; silence where the film is gone or has none. A replaced one is opened again."""
        state = _state(self._path)
        with self._lock:
            source = self._source
            if source is not None and source.state == state:
                return source
            if source is not None and source.film is not None:
                source.film.close()
            self._source = self._opened(duration, state)
            return self._source

    def _opened(self, duration: float, state: object) -> _Source:
        rate, name = self._config.mix.rate, self._path.name
        silence = no_programme(duration, rate)
        if state is None:
            return _Source(None, silence, state, (f"The film {name} is gone: only the voice is heard.",))
        if self._path.is_dir():
            return _Source(None, silence, state, (f"{name} has no sound: only the voice is heard.",))
        try:
            film = open_film(self._path, reader=self._config.film.reader)
            programme = programme_of(film, self._config.film.audio_track, rate)
        except FilmError as error:
            return _Source(None, silence, state, (f"{error.what} Only the voice is heard.",))
        if programme.track is None:
            return _Source(film, programme, state, (f"{name} has no sound: only the voice is heard.",))
        return _Source(film, programme, state)

    def _loudness(self, take: Take) -> float | None:
        """How loud a take is; measured once."""
        if take.key not in self._loud:
            self._loud[take.key] = loudness_of(take)
        return self._loud[take.key]

    def _warm(self) -> None:
        # What goes wrong is told when a line is heard.
        with suppress(ShotadError):
            self._speaking.voice()
        with suppress(ShotadError):
            info = self._prepared().info
            self._listening.begin(self._open(info.duration).programme, info.fingerprint)

    def _speak_ahead(self, near: Neighbourhood, placed: Placed, studio: Keeping) -> None:
        """Let those neighbours be spoken in the background for which nobody wanted to wait."""
        missing = [line.text for line in near.by_nearness() if line.id in placed.guessed]
        if not missing:
            return
        with self._lock:
            self._ahead = [(text, studio) for text in missing]
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run_ahead, name="speaking ahead", daemon=True)
                self._thread.start()

    def _run_ahead(self) -> None:
        while not self._closed.is_set():
            with self._lock:
                if not self._ahead:
                    return
                text, studio = self._ahead[0]
            try:
                while not self._speaking.ahead(text, studio):
                    if self._closed.wait(0.02):
                        return
            except ShotadError:
                return  # Told when it is heard.
            with self._lock:
                self._ahead = [one for one in self._ahead if one != (text, studio)]


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """The film's sound, and what is to be said of it. ``state`` tells whether the file was replaced."""

    film: Film | None
    programme: Programme
    state: object
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Near:
    """Neighbours fitted: who is heard, who has no place, and how many nobody has spoken yet."""

    heard: tuple[Spoken, ...]
    left: tuple[Unspoken, ...]
    missing: int


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
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


def _speech(prepared: Prepared, *, over_lyrics: bool) -> tuple[Interval, ...]:
    """When the film is not lowered, as `shotad.rendering.materials.Materials.speech`."""
    heard = (one for one in prepared.speech if not (over_lyrics and one.kind is SpeechKind.LYRICS))
    return tuple(one.interval for one in heard)


def _without_wordless(track: Track, cue: Cue, studio: Keeping) -> Track:
    """The lines near one, of those that a voice can say."""
    at = track.cues.index(cue)
    near = track.cues[max(0, at - 2 * MOST) : at + 2 * MOST + 1]
    return replace(track, cues=tuple(one for one in near if has_words(studio.sent(one.text))))


def _times(track: Track) -> list[Interval]:
    """When each line is heard, as far as that is known."""
    spoken = ((cue.spoken, cue.interval) for cue in track.heard)
    times = (at if made is None else made.interval for made, at in spoken)
    return [at for at in times if at is not None]


def _after_ducking(stretch: Interval, settings: MixSettings) -> Interval:
    """Longer where the film takes longer to come back."""
    return Interval(stretch.start, stretch.end + max(0.0, settings.fade_in + 0.5 - AFTER))


def _only(place: _Place) -> Interval:
    """From the first to the last sound of the voice."""
    if place.whole is None:
        raise VoiceError(f"The line {place.cue.text!r} cannot be spoken.", "Give it words.")
    return place.whole.interval


def _samples(excerpt: Excerpt, kind: Kind) -> Samples:
    return {"mix": excerpt.mixed, "voice": excerpt.alone, "programme": excerpt.film}[kind]()


def _key(excerpt: Excerpt, fingerprint: str, kind: Kind) -> str:
    """A hash of all that changes the sound."""
    recipe = excerpt.laid.recipe
    programme, begin, end = recipe.programme, excerpt.first / excerpt.rate, excerpt.end / excerpt.rate
    sound = [fingerprint, programme.track, programme.rate, programme.layout, excerpt.first, excerpt.end]
    takes = [
        [take.first, take.end, take.line.take.key, take.line.take.rate, round(take.gain, 6)]
        for take in excerpt.laid.takes
        if take.line.start < end and take.line.interval.end > begin - 2
    ]
    gains = [[round(p.seconds, 6), round(p.decibels, 6)] for p in recipe.gains]
    spread = [round(float(one), 6) for one in recipe.spread]
    own = [] if kind == "programme" else [takes, spread, round(excerpt.make_up, 3), excerpt.true_peak]
    return key_of(FORMAT, kind, sound, own, gains if kind == "mix" else [])


def _unfitted(cue: Cue, turn: InTurn) -> Spoken:
    """A line as it is, at its own time."""
    return Spoken(cue.id, cue.text, cue.interval.start, turn.say(_plain(cue.text)))


def _plain(text: str) -> str:
    """A line as it is fitted and spoken: in one row."""
    return " ".join(text.split())


def _state(path: Path) -> object:
    """By which a replaced film is known; None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns)
