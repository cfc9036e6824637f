"""The film with its lines as the audience will hear them, and where in it a line is heard.

Fitted, spoken, levelled, placed and ducked by the same rules and from the same takes as `shotad render`, but
line by line, when the time of each comes (`shotad.review.soundtrack`). What that cannot know at once, the
level of the whole film, it says (`shotad.review.film_loudness`). The voice alone is a WAV file called by what
is in it, of which the newest are kept.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from shotad.core import (
    Config,
    Interval,
    Progress,
    ShotadError,
)
from shotad.core.errors import (
    FilmError,
    ReviewError,
    VoiceError,
    quoted,
)
from shotad.core.files import (
    inner_folder,
    own_files,
    remove_file,
    write_bytes,
)
from shotad.film import (
    Film,
    Prepared,
    open_film,
)
from shotad.review.events import Json
from shotad.review.film_loudness import LOUDNESS, FilmLoudness
from shotad.review.messages import (
    Sentence,
    fault_view,
    message,
    refusal,
    said_by,
    sentence_view,
    with_texts,
)
from shotad.review.session_files import Signature, signatures
from shotad.review.session_voice import AFTER, BEFORE, SessionVoice, VoiceLengths
from shotad.review.soundtrack import STREAM_KINDS, Soundtrack, sound_version, wav_bytes, wav_size
from shotad.script import (
    Cue,
    Finding,
    Track,
)
from shotad.sound import (
    MeasuredSound,
    Programme,
    Spoken,
    Take,
    excerpt,
    place_lines,
    programme_of,
)
from shotad.sound.mix import (
    Part,
    loudness_of,
)
from shotad.sound.programme import RATE, silent_programme
from shotad.sound.spoken_subtitles import SpokenSubtitles
from shotad.sound.takes import wav
from shotad.sound.voice_engines import (
    plain_language,
)

REVIEW = "review"
HEARD = "heard"
"""In the work folder: ``review/heard/KEY.wav``."""


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


KINDS: tuple[Part, ...] = ("mix", "voice", "programme")
"""What can be heard of a line (`LinePreview.hear`)."""

_LAST_WORK = 20.0
"""Seconds that a voice may take to be loaded after the review was closed."""


class LinePreview:
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
        self._voice = SessionVoice(folder, config, prepared)
        self.folder = inner_folder(folder, REVIEW, HEARD)
        self._film_loudness = FilmLoudness(folder / REVIEW / LOUDNESS, settled)
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
        self._voice.speak_in(track.language)
        with self._telling_of_takes():
            return self._line_sound(track, cue, part)

    def soundtrack(self, track: Track) -> Soundtrack:
        """The film's sound with the lines of ``track``; the same object while nothing is heard otherwise."""
        self._voice.speak_in(track.language)
        prepared = self._prepared()
        programme = self._sound(track.film.duration)
        fingerprint, slots = track.film.fingerprint, [(slot.id, slot.interval) for slot in prepared.slots]
        speech, subtitles = self._voice.kept_speech(), self._voice.subtitles
        settled = self._film_loudness.is_settled(programme, fingerprint)
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
            measured=lambda around: self._film_loudness.of(programme, fingerprint, around),
            place=self._voice.place,
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
        before = self._voice.takes
        try:
            yield
        finally:
            if self._voice.takes != before:
                self._spoken()

    def speak_subtitles(self, progress: Progress) -> SpokenSubtitles:
        """Speak the film's subtitles of foreign dialogue; from then on they are heard, and lines make way.

        Raises SubtitleError where there are none, VoiceError.
        """
        spoken = self._voice.speak_subtitles(progress)
        self._spoken()
        return spoken

    def leave_subtitles(self) -> None:
        """Let subtitles not be heard any more."""
        self._voice.leave_subtitles()
        self._spoken()

    def foresee(self, track: Track) -> tuple[Finding, ...]:
        """What a render would leave unspoken, as `SessionVoice.foresee`."""
        return self._voice.foresee(track)

    @property
    def lengths(self) -> VoiceLengths:
        """How long the voice takes, as `foresee` found it last."""
        return self._voice.lengths

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
        return self._voice.view()

    def close(self) -> None:
        """Stop what runs in the background, and let go of the film."""
        with self._lock:
            self._closed, warming = True, self._warming
        if warming is not None:
            warming.join(_LAST_WORK)  # a model that is being loaded when Python ends may bring it down
        self._film_loudness.close()
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
                spoken, warnings = self._voice.placed(track, cue)
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
        film_sound, settled = self._film_loudness.of(programme, track.film.fingerprint, Interval(start, end))
        line = None if spoken is None else (spoken.interval.start, spoken.interval.end)
        warnings = (*self._silent, *warnings)
        if kind == "programme":
            return LineSound(start, end, line, "", self._silent, settled)
        if is_written and plain_language(cue.language) != plain_language(track.language):
            warnings += (
                message("hear.other_language", language=repr(cue.language), voice=repr(track.language)),
            )
        if kind == "voice":
            own = spoken if spoken is not None else self._voice.alone(track, cue)
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
        speech, mix = self._voice.kept_speech(), self._config.mix
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
            self._voice.voice()
        if self._closed:
            return
        self._spoken()
        with suppress(ShotadError):
            info = self._prepared().info
            self._film_loudness.begin(self._sound(info.duration), info.fingerprint)


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
    for old in sorted(own_files(folder, _OWN), key=lambda path: path.stat().st_mtime_ns)[:-files]:
        with suppress(OSError):  # one that is being played cannot be removed on some systems
            remove_file(old)
    return path
