"""Who speaks on the page: a voice that is loaded when it is first needed, and can be another at any time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shotad.core import (
    SETTINGS,
    CastError,
    ReviewError,
    VoiceError,
    VoiceSettings,
    build_settings,
    native_quiet,
    read_settings,
)
from shotad.review.kinds import Json
from shotad.sound import (
    AUTO,
    NOTHING,
    VOICES,
    Keeping,
    Lexicon,
    Speaker,
    Take,
    VoiceInfo,
    make_voice,
    pronunciations,
    voices,
)

SLOWEST, FASTEST = 0.5, 2.0
"""Paces that can be set."""

LONGEST = 60.0
"""Seconds that a line waits for another one to be spoken."""

_HIDDEN = ("fake",)
"""Kinds that are no choice for people."""


@dataclass(frozen=True, slots=True, eq=False)
class _Cast:
    """Where a voice stands, and with which settings it was made."""

    settings: VoiceSettings
    voice: Speaker


class Speaking:
    """The voice of one session and its takes, which a render finds again. May be used by several threads."""

    def __init__(self, folder: Path, settings: VoiceSettings, language: str) -> None:
        """``folder`` is the work folder; ``language`` that of its track."""
        self._folder, self._settings, self._language = folder, settings, language
        self._lock, self._loading = threading.Lock(), threading.Lock()
        self._turn = threading.Lock()
        self._waiting = 0
        self._made: _Cast | None = None
        self._names: tuple[object, Lexicon] | None = None
        self._studios: dict[object, Keeping] = {}

    @property
    def settings(self) -> VoiceSettings:
        """As they are now."""
        return self._settings

    def speak_in(self, language: str) -> None:
        """The language of the track from now on; where it changes the voice is looked for anew."""
        with self._loading:
            if language != self._language:
                self._language, self._made = language, None

    @property
    def loaded(self) -> bool:
        """Whether the voice is there."""
        made = self._made
        return made is not None and made.settings == self._settings

    def voice(self) -> Speaker:
        """The voice, loaded if it is not. Raises VoiceError."""
        with self._loading:
            made = self._made
            if made is None or made.settings != self._settings:
                made = self._made = self._load(self._settings)
            return made.voice

    def choose(self, name: str, speed: float) -> None:
        """Another voice or another pace from now on.

        Raises VoiceError for a voice that is not known, not there, or does not speak the language,
        ReviewError for a pace out of range; nothing is changed then.
        """
        if not SLOWEST <= speed <= FASTEST:
            what = f"A pace of {speed:g} cannot be spoken."
            raise ReviewError(what, f"It must lie between {SLOWEST:g} and {FASTEST:g}; 1 is as AD is spoken.")
        tree = self._settings.model_dump(mode="json") | {"name": name.strip() or AUTO, "speed": speed}
        wanted = build_settings(VoiceSettings, tree)
        with self._loading:
            made = self._made
            if made is not None and made.settings.name == wanted.name:
                self._made = _Cast(wanted, made.voice)
            else:
                self._made = self._load(wanted)
            self._settings = wanted

    def studio(self) -> Keeping:
        """Where lines are spoken, with the cast's names said as a render says them. Raises VoiceError."""
        voice, settings, lexicon = self.voice(), self._settings, self._lexicon()
        key = (voice.identity, settings.model_dump_json(), id(lexicon), self._language)
        with self._lock:
            if key not in self._studios:
                self._studios = {
                    key: Keeping(voice, self._folder / VOICES, settings, self._language, lexicon)
                }
            return self._studios[key]

    @contextmanager
    def turn(self) -> Iterator[None]:
        """One line is spoken at a time; who waits for one goes before who speaks ahead (`ahead`).

        Raises VoiceError where the voice has still not ended another line after `LONGEST`.
        """
        with self._lock:
            self._waiting += 1
        try:
            if not self._turn.acquire(timeout=LONGEST):
                what = f"The voice has been busy with another line for {LONGEST:g} seconds."
                raise VoiceError(what, "Hear it again in a while, or choose another voice.")
            try:
                yield
            finally:
                self._turn.release()
        finally:
            with self._lock:
                self._waiting -= 1

    def ahead(self, text: str, studio: Keeping) -> bool:
        """Speak a line before it is asked for; False: somebody waits for another."""
        if self._waiting or not self._turn.acquire(blocking=False):
            return False
        try:
            studio.say(text)
        finally:
            self._turn.release()
        return True

    def view(self) -> Json:
        """The voice and those that could take its place, for the page; no model is loaded."""
        made, settings = self._made, self._settings
        name = made.voice.name if made is not None and made.settings == settings else settings.name
        found = [one for one in voices() if one.kind not in _HIDDEN or name.startswith(one.kind)]
        speaking = [one for one in found if one.speaks(self._language)]
        others = [one for one in found if not one.speaks(self._language) and one.kind == "hibari"]
        if name in ("", AUTO):
            first = next((one for one in speaking if one.installed and one.kind != "openai"), None)
            name = AUTO if first is None else first.name
        return {
            "name": name,
            "title": title_of(name),
            "speed": settings.speed,
            "sends_to": made.voice.sends_to if made is not None else "",
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
            "licence": one.licence,
        }

    def _load(self, settings: VoiceSettings) -> _Cast:
        with native_quiet():
            return _Cast(settings, make_voice(settings, self._language))

    def _lexicon(self) -> Lexicon:
        """Pronunciations of the cast, read again where its files changed."""
        state = _cast_state(self._folder)
        with self._lock:
            if self._names is not None and self._names[0] == state:
                return self._names[1]
        try:
            lexicon = pronunciations(self._folder)
        except (CastError, OSError):
            # A cast that cannot be read is told where it is shown; lines are heard all the same.
            lexicon = NOTHING
        with self._lock:
            self._names = (state, lexicon)
        return lexicon


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
        """Name of the voice."""
        return self.studio.voice

    def say(self, text: str, speed: float = 1.0) -> Take:
        """The take of a text. Raises VoiceError."""
        with self.speaking.turn():
            return self.studio.say(text, speed)


def _cast_state(folder: Path) -> object:
    """What changes whenever the cast of a run does."""
    if not (folder / SETTINGS).is_file():
        return None
    given = read_settings(folder).given.cast
    if given is None or not given.path.exists():
        return None
    files = [given.path, *(sorted(given.path.glob("*.y*ml")) if given.path.is_dir() else ())]
    return [(str(one), one.stat().st_mtime_ns) for one in files]
