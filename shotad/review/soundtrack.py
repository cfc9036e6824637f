"""The film's sound with its lines, as one WAV file that is made while it is sent.

The file is as long as the rest of the film from a second on. Nothing of it is kept: a block of a second is
mixed when it is asked for, by the rules of `shotad render`, and the lines in it are spoken then, if they were
not before. A browser reads some seconds ahead, so lines are spoken ahead of what is heard.
"""

from __future__ import annotations

import hashlib
import struct
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from shotad.core import Config, Interval
from shotad.core.errors import VoiceError
from shotad.film import Samples
from shotad.script import Cue, Track
from shotad.script.edits import is_by_hand
from shotad.script.pace import spoken_words
from shotad.sound import MeasuredSound, Programme, Spoken, Take
from shotad.sound.levels import peak_limit
from shotad.sound.mix import PlacedTake, estimated_make_up, place_line, stream_mix, stream_programme
from shotad.sound.programme import RATE
from shotad.sound.takes import integers

STREAM_KINDS = ("mix", "programme")
"""The film with its lines, and the film alone."""

HEADER_BYTES = 44
FRAME_BYTES = 4
"""Bytes of a sample of both channels: 16 bits each."""
_LARGEST = 2**32 - 1
"""Sizes in a WAV file have 32 bits; a longer file says the largest (from 6 h 12 min on)."""

_RETRY_SECONDS = 5.0
"""Seconds after which a line that could not be spoken is tried again."""

_LONGER = 2.0
"""Times that a line may last what its words suggest."""

_INAUDIBLE = frozenset(
    {
        "kind",
        "status",
        "reason",
        "candidates",
        "chosen",
        "edited",
        "spoken_length",
        "fit_steps",
        "provenance",
        "stored_take",
        "accepted",
        "stored_doubt",
        "translation",
    }
)
"""Fields of a cue that change nothing of what is heard, but for whether a person wrote it (`is_by_hand`)."""

_AUDIBLE = tuple(field.name for field in fields(Cue) if field.name not in _INAUDIBLE)


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A line as it is heard: ``start`` to ``end`` in film seconds, and the words that are spoken then.

    ``id`` is empty for a subtitle, which is no line of the track.
    """

    id: str
    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class LineWindow:
    """The film seconds within which a line of the track may be heard."""

    cue: Cue
    start: float
    end: float


class Soundtrack:
    """The sound of one state of a track. May be used by several threads.

    ``version`` is another as soon as something is heard otherwise.
    """

    def __init__(
        self,
        track: Track,
        programme: Programme,
        config: Config,
        speech: Sequence[Interval],
        *,
        subtitles: Sequence[Spoken] = (),
        version: str,
        measured: Callable[[Interval], tuple[MeasuredSound, bool]],
        place: Callable[[Track, Cue], Spoken | None],
        loudness: Callable[[Take], float | None],
    ) -> None:
        """``speech`` is when the film is not lowered. ``subtitles`` are spoken too, in their places.
        ``measured`` gives how loud the film is around an
        interval, and whether all of it was measured; ``place`` speaks a line and says where it is heard, None
        where it is not (raises VoiceError); ``loudness`` is that of a take."""
        self.version = version
        self._track, self._programme, self._config, self._speech = track, programme, config, speech
        self._measured, self._place, self._loudness = measured, place, loudness
        self._subtitles = subtitles
        self._lock = threading.Lock()
        self._takes: dict[str, PlacedTake | None] = {}
        self._failures: dict[str, tuple[float, VoiceError]] = {}
        windows = sorted((self._window(cue) for cue in track.heard), key=lambda window: window.start)
        self._windows = windows
        self._starts = [window.start for window in windows]
        self._longest = max((window.end - window.start for window in windows), default=0.0)
        self._levels: tuple[float, float] | None = None

    @property
    def total(self) -> int:
        """Samples of the whole film."""
        return self._programme.total

    @property
    def problem(self) -> VoiceError | None:
        """Why a line could not be spoken, the latest; None where all could."""
        with self._lock:
            errors = sorted(self._failures.values(), key=lambda failure: failure[0])
        return errors[-1][1] if errors else None

    def samples(self, kind: str, first: int) -> Iterator[Samples]:
        """``float32[n, 2]`` or ``float32[n, 1]`` from sample ``first`` to the film's end, made as they are
        asked for; ``kind`` is one of `STREAM_KINDS`. Raises FilmError, WorkFolderError."""
        if kind == "programme":
            return stream_programme(self._programme, first)
        make_up, true_peak = self.whole_levels(first / RATE)
        return stream_mix(
            self._programme,
            first,
            self.takes_between,
            self._speech,
            self._config.mix,
            make_up=make_up,
            true_peak=true_peak,
        )

    def takes_between(self, start: float, end: float) -> list[PlacedTake]:
        """The lines and subtitles that sound between two film seconds, in order; lines that are not spoken
        yet are spoken now. One whose voice fails is left out, and `problem` says why."""
        takes: list[PlacedTake] = []
        for window in self._reaching(start, end):
            take = self._take(window.cue)
            if take is None:
                continue
            if take.line.interval.end > start and take.line.interval.start < end:
                takes.append(take)
        for subtitle in self._subtitles:
            if subtitle.interval.end > start and subtitle.interval.start < end:
                take = self._levelled(subtitle)
                if take is not None:
                    takes.append(take)
        return sorted(takes, key=lambda take: take.line.start)

    def spoken_between(self, start: float, end: float) -> list[SpokenLine]:
        """The lines and subtitles of `takes_between`, for captions."""
        subtitle_ids = {subtitle.id for subtitle in self._subtitles}
        lines: list[SpokenLine] = []
        for take in self.takes_between(start, end):
            line = take.line
            line_id = "" if line.id in subtitle_ids else line.id
            lines.append(SpokenLine(line_id, line.interval.start, line.interval.end, line.text))
        return lines

    def _window(self, cue: Cue) -> LineWindow:
        fit = self._config.fit
        seconds = max(1, spoken_words(cue.text, cue.language)) * self._config.slots.seconds_per_word
        start = cue.interval.start - fit.earlier
        end = max(cue.interval.start + fit.later, cue.interval.end) + _LONGER * seconds + 1.0
        return LineWindow(cue, start, end)

    def _reaching(self, start: float, end: float) -> list[LineWindow]:
        """The lines that may be heard between two film seconds."""
        first = bisect_left(self._starts, start - self._longest)
        last = bisect_left(self._starts, end)
        return [window for window in self._windows[first:last] if window.end > start]

    def _take(self, cue: Cue) -> PlacedTake | None:
        """A line at its place and level, the same each time; None where it is not spoken."""
        with self._lock:
            if cue.id in self._takes:
                return self._takes[cue.id]
            failed_at, _ = self._failures.get(cue.id, (-_RETRY_SECONDS, None))
        if time.monotonic() - failed_at < _RETRY_SECONDS:
            return None
        take: PlacedTake | None = None
        try:
            spoken = self._place(self._track, cue)
            if spoken is not None:
                take = self._at_level(spoken)
        except VoiceError as error:
            with self._lock:
                self._failures[cue.id] = (time.monotonic(), error)
            return None
        with self._lock:
            self._failures.pop(cue.id, None)
            # The first counts: a stream that has begun to play a line must not get it at another level.
            return self._takes.setdefault(cue.id, take)

    def _levelled(self, subtitle: Spoken) -> PlacedTake | None:
        """A subtitle at its place and level, the same each time; None where it lies outside of the film."""
        with self._lock:
            if subtitle.id in self._takes:
                return self._takes[subtitle.id]
        take = self._at_level(subtitle)
        with self._lock:
            return self._takes.setdefault(subtitle.id, take)

    def _at_level(self, spoken: Spoken) -> PlacedTake | None:
        film_sound, _ = self._measured(spoken.interval)
        return place_line(self._programme, film_sound, spoken, self._config.mix, self._loudness)

    def whole_levels(self, second: float) -> tuple[float, float]:
        """The make-up gain in dB and the limit of peaks in dBTP."""
        with self._lock:
            if self._levels is not None:
                return self._levels
        film_sound, _ = self._measured(Interval(second, second + 1.0))
        line_times: list[Interval] = []
        for cue in self._track.heard:
            time_spoken = cue.interval if cue.spoken is None else cue.spoken.interval
            if time_spoken is not None:
                line_times.append(time_spoken)
        line_times += [subtitle.interval for subtitle in self._subtitles]
        mix, duration = self._config.mix, self._track.film.duration
        make_up = estimated_make_up(film_sound, line_times, self._speech, mix, duration)
        with self._lock:
            self._levels = (make_up, peak_limit(film_sound, mix))
            return self._levels


def sound_version(track: Track, *more: object) -> str:
    """Names all that is heard of a track; ``more`` is what else changes it (voice, slots, film)."""
    digest = hashlib.sha256(repr((track.language, more)).encode())
    for cue in track.heard:
        values = [getattr(cue, name) for name in _AUDIBLE]
        digest.update(repr((values, is_by_hand(cue))).encode())
    return digest.hexdigest()[:16]


def wav_size(samples: int) -> int:
    """Bytes of the file of so many samples."""
    return HEADER_BYTES + FRAME_BYTES * samples


def wav_header(samples: int) -> bytes:
    """The head of a stereo WAV file of 16 bits (RIFF WAVE, format 1)."""
    size = FRAME_BYTES * samples
    channels, bits = 2, 16
    byte_rate = RATE * FRAME_BYTES
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, RATE, byte_rate, FRAME_BYTES, bits)
    riff = struct.pack("<4sI4s", b"RIFF", min(size + HEADER_BYTES - 8, _LARGEST), b"WAVE")
    return riff + form + struct.pack("<4sI", b"data", min(size, _LARGEST))


def wav_bytes(
    samples_from: Callable[[int], Iterator[Samples]], total: int, begin: int, end: int
) -> Iterator[bytes]:
    """Bytes ``[begin, end)`` of the file of ``total`` samples, made as they are asked for.

    ``samples_from(number)`` are the samples from a number on.
    """
    if begin < HEADER_BYTES:
        yield wav_header(total)[begin:end]
        begin = HEADER_BYTES
    if begin >= end:
        return
    first, skip = divmod(begin - HEADER_BYTES, FRAME_BYTES)
    left = end - begin
    for samples in samples_from(first):
        data = stereo_bytes(samples)[skip : skip + left]
        skip = 0
        left -= len(data)
        yield data
        if left <= 0:
            return
    while left > 0:  # the film has less sound than it says
        silence = bytes(min(left, FRAME_BYTES * RATE))
        left -= len(silence)
        yield silence


def stereo_bytes(samples: Samples) -> bytes:
    """``float32[n, 1 or 2]`` as samples of 16 bits in two channels, clipped at full scale."""
    if samples.shape[1] == 1:
        samples = np.repeat(samples, 2, axis=1)
    return integers(samples).astype("<i2").tobytes()
