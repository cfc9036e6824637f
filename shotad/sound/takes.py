"""A take's samples: spoken faster with the pitch kept, kept as FLAC of 16 bits; and the studio (`Keeping`),
by which lines are spoken once, kept in the work folder, and not spoken again.

Faster is waveform-similarity overlap-add (WSOLA: Verhelst and Roelands 1993): the sound is laid out again in
windows that overlap by half, each taken from near its place where it goes on most like what stands there
already, so that the periods of the voice meet. A voice's own speed costs another call and its length cannot
be foretold (the embedded voice, asked for 1.15, came out 0.03 to 0.5 s too long); ffmpeg's atempo is as
clear, but 7 ms short to 16 ms long, and gives nothing for very short sound.
"""

from __future__ import annotations

import hashlib
import io
import re
import threading
import wave
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shotad.core import (
    NoProgress,
    Progress,
    Task,
    VoiceError,
    VoiceSettings,
    WorkFolderError,
    key_of,
    own_files,
    read_file,
    read_text_file,
    reported,
    sweep,
    write_bytes,
)
from shotad.film import Samples
from shotad.sound.kinds import Stored, Take
from shotad.sound.pronunciation import NOTHING, Lexicon, parse_lexicon, said
from shotad.sound.speaking import Checker, speak_all_checked, speak_checked
from shotad.sound.voice_engines import Speaker

WINDOW = 0.04
"""Seconds: two periods or more of a voice down to 50 Hz."""

SEARCH = 0.01
"""Seconds to both sides in which a window is looked for: a period down to 50 Hz."""


def to_length(take: Take, seconds: float) -> Take:
    """The take in ``seconds``, never longer, its ``speed`` raised by as much. Raises ValueError for 0.

    Nothing is stretched, and nothing held, until the samples are asked for.
    """
    number = int(seconds * take.rate + 1e-6)
    if number < 1:
        raise ValueError(f"a take must last one sample at least, got {seconds} s at {take.rate}")
    if number == take.size:
        return take
    speed = take.speed * take.size / number
    sound = Stored(number, f"{take.key} in {number}", lambda: stretched(take.samples, take.rate, number))
    return Take(sound, take.rate, speed)


def stretched(samples: Samples, rate: int, number: int) -> Samples:
    """``float32[n]`` said faster or slower: ``float32[number]``.

    The pitch stays. The first and the last samples are those of the original, so that the ends are as clean
    as they were.
    """
    if number == samples.size:
        return samples.copy()
    half = max(2, round(WINDOW * rate / 2))
    search = min(round(SEARCH * rate), half)
    padded = np.pad(samples.astype(np.float64), half + search)
    window = 0.5 - 0.5 * np.cos(np.pi * (np.arange(2 * half) + 0.5) / half)
    out = np.zeros(number + 2 * half)
    weight = np.zeros_like(out)
    before: int | None = None
    # Where the windows' middles stand in the result: one at each end, and half a window apart.
    first = number % half
    inner = list(range(first + half if first < half // 2 else first, number, half))
    for middle in [0, *inner, number]:
        # Where its middle is taken from, in `padded` the start of its window.
        at = round(middle * samples.size / number) + search
        if before is not None and middle < number:
            at = _most_alike(padded, before + half, at, 2 * half, search)
        elif before is not None:
            at = samples.size + search
        out[middle : middle + 2 * half] += window * padded[at : at + 2 * half]
        weight[middle : middle + 2 * half] += window
        before = at
    made = out[half : half + number] / weight[half : half + number]
    return made.astype(np.float32)


def _most_alike(sound: npt.NDArray[np.float64], natural: int, wanted: int, size: int, search: int) -> int:
    """The start, near ``wanted``, of what is most like what naturally comes next, at ``natural``."""
    first = max(0, min(wanted - search, sound.size - size))
    last = max(first, min(wanted + search, sound.size - size))
    natural = min(natural, sound.size - size)
    target = sound[natural : natural + size]
    near = sound[first : last + size]
    likeness = np.correlate(near, target, "valid")
    squares = np.concatenate(([0.0], np.cumsum(near * near)))
    energy = squares[size:] - squares[: squares.size - size]
    likeness /= np.sqrt(np.maximum(energy, _SILENT * size))
    best = likeness.max()
    # Of equals the nearest to where it is wanted.
    equal = np.flatnonzero(likeness >= best - 1e-9 * abs(best))
    return first + int(equal[np.argmin(np.abs(equal + first - wanted))])


_SILENT = 1e-8
"""Mean square below which sound is silence."""

Integers = npt.NDArray[np.int16]

_SCALE = 32768
_BLOCK = 4096
_HASH = "SAMPLES-SHA256"


def _kept(path: Path, size: int, key: str) -> Stored:
    """The samples in a file, which are not held. ``key`` is the SHA-256 of its 16-bit samples."""

    def read() -> Samples:
        found = _decoded(path)
        if found is None or found[1] != key:
            what = f"{path} is gone or was changed while it was in use."
            raise VoiceError(what, "Run again: only what is missing is spoken.")
        return np.asarray(found[0] / np.float32(_SCALE), np.float32)

    return Stored(size, key, read)


def write_take(path: Path, take: Take) -> Take:
    """Write a FLAC file, whole or not at all; the take as it is kept there. Raises WorkFolderError."""
    data = _integers(take.samples)
    write_bytes(path, [_flac(data, take)])
    return Take(_kept(path, data.size, _hash(data)), take.rate, take.speed)


def flac(take: Take) -> bytes:
    return _flac(_integers(take.samples), take)


def _flac(data: Integers, take: Take) -> bytes:
    import av

    out = io.BytesIO()
    with av.open(out, "w", format="flac", container_options={"fflags": "+bitexact"}) as container:
        container.metadata.update({_HASH: _hash(data), "SPEED": repr(take.speed)})
        stream = container.add_stream("flac", rate=take.rate, layout="mono", options={"flags": "+bitexact"})
        for start in range(0, data.size, _BLOCK):
            frame = av.AudioFrame.from_ndarray(data[None, start : start + _BLOCK], "s16", "mono")
            frame.sample_rate, frame.pts = take.rate, start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return out.getvalue()


def wav(samples: Samples, rate: int) -> bytes:
    """A WAV file of 16 bits of ``float32[n]`` or ``float32[n, channels]``; what is over full scale is cut."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1 if samples.ndim == 1 else samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(_integers(samples).astype("<i2").tobytes())
    return out.getvalue()


def read_take(path: Path) -> Take | None:
    """The take in a file, which is read through once and not held; None where there is none that is whole."""
    found = _decoded(path)
    if found is None:
        return None
    data, key, rate, speed = found
    return Take(_kept(path, data.size, key), rate, speed)


def _decoded(path: Path) -> tuple[Integers, str, int, float] | None:
    """Samples, their hash, rate and speed of a file; None where these are not what was written."""
    import av

    try:
        with av.open(io.BytesIO(read_file(path)), "r") as container:
            told, speed = container.metadata.get(_HASH, ""), float(container.metadata.get("SPEED", "1"))
            rate = container.streams.audio[0].rate
            parts = [frame.to_ndarray()[0] for frame in container.decode(audio=0)]
    except (OSError, WorkFolderError, av.FFmpegError, ValueError, IndexError):
        return None
    data = np.concatenate(parts) if parts else np.zeros(0, np.int16)
    if data.dtype != np.int16 or data.size == 0 or _hash(data) != told:
        return None
    return data, told, rate, speed


def _integers(samples: Samples) -> Integers:
    scaled = np.clip(np.round(samples * np.float32(_SCALE)), -_SCALE, _SCALE - 1)
    return np.asarray(scaled, np.int16)


def _hash(data: Integers) -> str:
    return hashlib.sha256(data.astype("<i2").tobytes()).hexdigest()


TAKE_STEP = "take/1"
"""The step that speaks, and its version: raise it when takes are made in another way (see `key_of`)."""
_ENDING = ".flac"
_TAKE = re.compile(rf"[0-9a-f]{{16}}\{_ENDING}")
"""Names of the files of takes."""
_TEMPORARY = re.compile(r"\.tmp-.+")
"""Of those that a killed run was writing."""


def forget_takes(folder: Path) -> None:
    """Remove the takes in a folder, and the folder where nothing else is in it."""
    for path in own_files(folder, _TAKE):
        path.unlink(missing_ok=True)
    if not folder.is_symlink():
        with suppress(OSError):  # it is not there, or holds what is not ours
            folder.rmdir()


class Keeping:
    """A `Studio` that keeps its takes as FLAC files in a folder.

    A take is found by all that changes it: the voice's identity, the text as it is sent to the voice, the
    speed. Neither it nor the takes that it gives hold samples. May be used by several threads.
    """

    def __init__(
        self,
        voice: Speaker,
        folder: Path,
        settings: VoiceSettings,
        language: str,
        lexicon: Lexicon = NOTHING,
        *,
        force: bool = False,
    ) -> None:
        """``folder`` is that of the takes, and is made with the first. ``lexicon`` is the cast's; that of the
        settings goes before it. ``force`` speaks again whatever is asked for, once.

        Raises VoiceError for a lexicon that cannot be read.
        """
        self._voice, self._folder, self._settings, self._language = voice, folder, settings, language
        self._lexicon = lexicon.joined(read_lexicon(settings.lexicon))
        self._checker = Checker(voice.name, language)
        self._force = force
        self._spoken: set[str] = set()
        self._used: dict[str, Take] = {}
        self._lock = threading.Lock()

    @property
    def spoken(self) -> int:
        """How many takes the voice has spoken here."""
        return len(self._spoken)

    @property
    def taken(self) -> int:
        """How many different takes were asked for and were there already."""
        return len(self._used.keys() - self._spoken)

    def sent(self, text: str) -> str:
        """What is sent to the voice for a line."""
        return said(text, self._language, self._lexicon, self._voice.reads)

    def kept(self, text: str) -> Take | None:
        """The take of a line, if it is there already; nothing is spoken."""
        sent, pace, path = self._asked(text)
        return self._kept(path, sent, pace)

    def say(self, text: str) -> Take:
        """The take of a line at the pace of the settings. Raises VoiceError.

        The take's own ``speed`` is that which was reached: a voice that cannot go as fast says so there.
        """
        sent, pace, path = self._asked(text)
        kept = self._kept(path, sent, pace)
        if kept is not None:
            return kept
        return self._keep(path, speak_checked(self._voice, sent, pace, self._checker))

    def say_all(self, texts: Iterable[str], progress: Progress | None = None) -> None:
        """Speak all lines that are not kept yet, several at once where the voice can; `say` then finds them.

        Raises VoiceError for the first that cannot be spoken; what is spoken by then is kept.
        """
        missing: dict[Path, str] = {}
        for text in texts:
            sent, pace, path = self._asked(text)
            if path not in missing and self._kept(path, sent, pace) is None:
                missing[path] = text
        lines = list(missing.values())
        with reported(progress or NoProgress(), "Speaking", len(lines), "lines") as task:
            size = min(self._voice.together, -(-len(lines) // self._voice.at_once)) if lines else 1
            groups = [lines[at : at + size] for at in range(0, len(lines), max(size, 1))]
            jobs = [partial(self._speak, group, task) for group in groups]
            # All jobs, several at once; the first error ends what has not begun
            if self._voice.at_once <= 1:
                for job in jobs:
                    job()
            else:
                pool = ThreadPoolExecutor(self._voice.at_once)
                try:
                    for done in as_completed([pool.submit(job) for job in jobs]):
                        done.result()
                finally:
                    pool.shutdown(cancel_futures=True)

    def keep_used(self) -> None:
        """Remove all takes that were not asked for here."""
        for path in own_files(self._folder, _TAKE):
            if path.name not in self._used:
                path.unlink(missing_ok=True)
        for leftover in own_files(self._folder, _TEMPORARY):
            sweep(leftover)

    def _asked(self, text: str) -> tuple[str, float, Path]:
        sent, pace = self.sent(text), round(self._settings.speed, 4)
        name = key_of(TAKE_STEP, self._voice.identity, sent, pace) + _ENDING
        return sent, pace, self._folder / name

    def _kept(self, path: Path, sent: str, pace: float) -> Take | None:
        """The take in a file, which is checked at its first use; None for one that cannot be whole."""
        if self._force and path.name not in self._spoken:
            return None
        known = self._used.get(path.name)
        if known is not None and path.exists():
            return known
        found = read_take(path)
        if found is not None and self._voice.speaks_words and self._checker.problem(sent, found, pace):
            return None
        if found is not None:
            self._checker.add(sent, found, pace)
            with self._lock:
                self._used[path.name] = found
        return found

    def _keep(self, path: Path, take: Take) -> Take:
        made = write_take(path, take)
        with self._lock:
            self._used[path.name] = made
            self._spoken.add(path.name)
        return made

    def _speak(self, lines: Sequence[str], task: Task) -> None:
        asked = [self._asked(text) for text in lines]
        sent = [text for text, _, _ in asked]
        takes = speak_all_checked(self._voice, sent, asked[0][1], self._checker)
        for (_, _, path), take in zip(asked, takes, strict=True):
            self._keep(path, take)
            with self._lock:
                task.advance()


class Foreseeing:
    """A `Studio` in which nothing is spoken: takes are those that are there, or as long as they are expected
    to be and without sound.

    ``guessed`` are the texts of which it was expected.
    """

    def __init__(self, studio: Keeping | None, seconds: Callable[[str], float]) -> None:
        """``studio`` has the takes (None: the voice is not known yet); ``seconds`` expects how long a text
        takes to say."""
        self._studio, self._seconds = studio, seconds
        self.guessed: set[str] = set()

    def sent(self, text: str) -> str:
        return text if self._studio is None else self._studio.sent(text)

    def say(self, text: str) -> Take:
        kept = None if self._studio is None else self._studio.kept(text)
        if kept is not None:
            return kept
        self.guessed.add(text)
        size = max(1, round(self._seconds(text) * _GUESSED_RATE))
        return Take(Stored(size, f"expected: {text}", lambda: np.zeros(size, np.float32)), _GUESSED_RATE)


_GUESSED_RATE = 1000
"""Samples a second of a take that nobody has spoken: lines are fitted in milliseconds."""


def read_lexicon(file: str | None) -> Lexicon:
    """The lexicon in a file; none for None. Raises VoiceError."""
    if file is None:
        return NOTHING
    hint = "Name a text file in UTF-8: voice.lexicon."
    path = Path(file).expanduser()
    return parse_lexicon(read_text_file(path, "lexicon", VoiceError, hint=hint, encoding="utf-8").text, file)
