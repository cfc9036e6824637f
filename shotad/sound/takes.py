"""Takes: stretched to a length with the pitch kept, stored as 16-bit FLAC, and the studios that give them.

`CachingStudio` has each line spoken once and keeps its take in the work folder; `EstimatingStudio` speaks
nothing.

Takes are stretched by waveform-similarity overlap-add (WSOLA: Verhelst and Roelands 1993): the result is put
together from windows of the take that overlap by half. Each is taken from near its place in the take, where
it continues best what the result has already, so that the periods of the voice meet. A voice's own speed
would cost another call, and its length cannot be foretold (the embedded voice, asked for 1.15, came out 0.03
to 0.5 s too long); ffmpeg's atempo is as clear, but 7 ms short to 16 ms long, and gives nothing for very
short sound.
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
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shotad.core import (
    NoProgress,
    Progress,
    Task,
)
from shotad.core.cancellation import in_context
from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import VoiceError, WorkFolderError
from shotad.core.files import (
    own_files,
    read_file,
    remove_file,
    remove_leftover,
    write_bytes,
)
from shotad.core.progress import progress_task
from shotad.core.text_files import read_text_file
from shotad.core.workfolder import hash_key
from shotad.film import Samples
from shotad.sound.checked_takes import Checker, speak_all_checked, speak_checked
from shotad.sound.kinds import AS_THE_FILM, OWN_VOICE, Delivery, Stored, Take
from shotad.sound.pronunciation import EMPTY_LEXICON, Lexicon, parse_lexicon, spoken_text
from shotad.sound.voice_engines import Speaker, make_voice

STRETCH_WINDOW = 0.04
"""Seconds: two periods or more of a voice down to 50 Hz."""

STRETCH_SEARCH = 0.01
"""Seconds to both sides in which a window is looked for: a period down to 50 Hz."""


def to_length(take: Take, seconds: float) -> Take:
    """The take stretched to ``seconds``, rounded down to whole samples, with the speed that it then has.

    Samples are read and stretched only when `Take.samples` is used. Raises ValueError for less than a sample.
    """
    size = int(seconds * take.rate + 1e-6)
    if size < 1:
        raise ValueError(f"a take must last one sample at least, got {seconds} s at {take.rate}")
    if size == take.size:
        return take
    speed = take.speed * take.size / size
    sound = Stored(size, f"{take.key} in {size}", lambda: stretched(take.samples, take.rate, size))
    return replace(take, sound=sound, speed=speed)


def stretched(samples: Samples, rate: int, size: int) -> Samples:
    """``float32[n]`` at ``rate`` samples a second, spoken faster or slower: ``float32[size]``.

    The pitch stays. The first and the last samples are those of the original, so that the ends are as clean
    as they were.
    """
    if size == samples.size:
        return samples.copy()
    half = max(2, round(STRETCH_WINDOW * rate / 2))
    search = min(round(STRETCH_SEARCH * rate), half)
    # Sample i is number `half + search + i` here, so that a window that starts at `i + search` has it in its
    # middle, and may be looked for beyond both ends.
    padded = np.pad(samples.astype(np.float64), half + search)
    window = 0.5 - 0.5 * np.cos(np.pi * (np.arange(2 * half) + 0.5) / half)
    windows_sum = np.zeros(size + 2 * half)
    weights_sum = np.zeros_like(windows_sum)
    # The windows' middles in the result: one at each end, the others half a window apart.
    first = size % half
    inner = range(first + half if first < half // 2 else first, size, half)
    start: int | None = None  # where the last window starts in `padded`
    for middle in [0, *inner, size]:
        expected_start = round(middle * samples.size / size) + search
        if start is None:
            start = expected_start
        elif middle < size:
            start = _best_start(padded, start + half, expected_start, 2 * half, search)
        else:
            start = samples.size + search
        windows_sum[middle : middle + 2 * half] += window * padded[start : start + 2 * half]
        weights_sum[middle : middle + 2 * half] += window
    result = windows_sum[half : half + size] / weights_sum[half : half + size]
    return result.astype(np.float32)


def _best_start(
    sound: npt.NDArray[np.float64], natural: int, expected_start: int, size: int, search: int
) -> int:
    """Where to take the next window of ``size`` samples from, at most ``search`` from the start
    ``expected_start``.

    It is the start of the samples most like those at ``natural``, which follow the last window in ``sound``.
    """
    first = max(0, min(expected_start - search, sound.size - size))
    last = max(first, min(expected_start + search, sound.size - size))
    natural = min(natural, sound.size - size)
    target = sound[natural : natural + size]
    near = sound[first : last + size]
    likeness = np.correlate(near, target, "valid")
    # Divided by each candidate's energy (differences of one running sum), so that loud ones do not win.
    squares_sum = np.concatenate(([0.0], np.cumsum(near * near)))
    energy = squares_sum[size:] - squares_sum[: squares_sum.size - size]
    likeness /= np.sqrt(np.maximum(energy, _SILENT_POWER * size))
    best = likeness.max()
    # In silence all are equal: the nearest to `wanted` then.
    equal = np.flatnonzero(likeness >= best - 1e-9 * abs(best))
    return first + int(equal[np.argmin(np.abs(equal + first - expected_start))])


_SILENT_POWER = 1e-8
"""Mean square below which sound is silence."""

Integers = npt.NDArray[np.int16]

_FULL_SCALE = 32768
_FRAME_SIZE = 4096
"""Samples in one frame of the file."""
_HASH_TAG = "SAMPLES-SHA256"


class _TakeFile(NamedTuple):
    """What a take's file holds: 16-bit samples, their SHA-256, samples a second, and the take's speed."""

    samples: Integers
    key: str
    rate: int
    speed: float


def _stored(path: Path, size: int, key: str) -> Stored:
    """The samples in a file, read at each use. ``key`` is the SHA-256 of its 16-bit samples."""

    def read() -> Samples:
        content = _read_take_file(path)
        if content is None or content.key != key:
            message = f"{path} is gone or was changed while it was in use."
            raise VoiceError(message, "Run again: only what is missing is spoken.")
        return np.asarray(content.samples / np.float32(_FULL_SCALE), np.float32)

    return Stored(size, key, read)


def write_take(path: Path, take: Take) -> Take:
    """Write the take to a FLAC file, whole or not at all; the result reads its samples from that file.

    Raises WorkFolderError.
    """
    samples = integers(take.samples)
    write_bytes(path, [_flac(samples, take)])
    return Take(_stored(path, samples.size, _hash(samples)), take.rate, take.speed)


def flac(take: Take) -> bytes:
    """The take as the bytes of a FLAC file."""
    return _flac(integers(take.samples), take)


def _flac(samples: Integers, take: Take) -> bytes:
    """A FLAC file of ``samples`` with the rate and speed of ``take``."""
    import av

    file = io.BytesIO()
    # Bit-exact: without the encoder's version, so that the same take is the same file.
    with av.open(file, "w", format="flac", container_options={"fflags": "+bitexact"}) as container:
        container.metadata.update({_HASH_TAG: _hash(samples), "SPEED": repr(take.speed)})
        stream = container.add_stream("flac", rate=take.rate, layout="mono", options={"flags": "+bitexact"})
        for start in range(0, samples.size, _FRAME_SIZE):
            frame = av.AudioFrame.from_ndarray(samples[None, start : start + _FRAME_SIZE], "s16", "mono")
            frame.sample_rate, frame.pts = take.rate, start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def wav(samples: Samples, rate: int) -> bytes:
    """A 16-bit WAV file of ``float32[n]`` or ``float32[n, channels]``, clipped at full scale."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1 if samples.ndim == 1 else samples.shape[1])
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(integers(samples).astype("<i2").tobytes())
    return file.getvalue()


def read_take(path: Path) -> Take | None:
    """The take in a file, which is read once to check it; None where it is missing or damaged."""
    content = _read_take_file(path)
    if content is None:
        return None
    return Take(_stored(path, content.samples.size, content.key), content.rate, content.speed)


def _read_take_file(path: Path) -> _TakeFile | None:
    """The content of a take's file; None where it cannot be read, or is not what was written."""
    import av

    try:
        with av.open(io.BytesIO(read_file(path)), "r") as container:
            key = container.metadata.get(_HASH_TAG, "")
            speed = float(container.metadata.get("SPEED", "1"))
            rate = container.streams.audio[0].rate
            parts = [frame.to_ndarray()[0] for frame in container.decode(audio=0)]
    except (OSError, WorkFolderError, av.FFmpegError, ValueError, IndexError):
        return None
    samples = np.concatenate(parts) if parts else np.zeros(0, np.int16)
    if samples.dtype != np.int16 or samples.size == 0 or _hash(samples) != key:
        return None
    return _TakeFile(samples, key, rate, speed)


def integers(samples: Samples) -> Integers:
    """``float32`` samples as 16 bits, clipped at full scale."""
    scaled = np.clip(np.round(samples * np.float32(_FULL_SCALE)), -_FULL_SCALE, _FULL_SCALE - 1)
    return np.asarray(scaled, np.int16)


def _hash(samples: Integers) -> str:
    # Little-endian on every machine, so that takes can be moved.
    return hashlib.sha256(samples.astype("<i2").tobytes()).hexdigest()


RECORDINGS = "own"
"""The folder of people's recordings, in the folder of takes."""

TAKE_STEP = "take/1"
"""The step that speaks, and its version: raise it when takes are made in another way (see `hash_key`)."""
_TAKE_ENDING = ".flac"
_TAKE_NAME = re.compile(rf"[0-9a-f]{{16}}\{_TAKE_ENDING}")
"""Names of the files of takes."""
_TEMPORARY_NAME = re.compile(r"\.tmp-.+")
"""Names of files that a killed run was writing."""


def forget_takes(folder: Path) -> None:
    """Remove the takes in a folder, and the folder where nothing else is in it."""
    for path in own_files(folder, _TAKE_NAME):
        remove_file(path)
    if not folder.is_symlink():
        with suppress(OSError):  # it does not exist, or holds files of others
            folder.rmdir()


class CachingStudio:
    """A `Studio` that keeps its takes as FLAC files in a folder.

    A take's file is named after all that changes it: the voice's identity, the text as it is sent to the
    voice, the speed. Neither the studio nor its takes hold samples. May be used by several threads.
    """

    def __init__(
        self,
        voice: Speaker,
        folder: Path,
        settings: VoiceSettings,
        language: str,
        lexicon: Lexicon = EMPTY_LEXICON,
        *,
        force: bool = False,
    ) -> None:
        """``folder`` is created with the first take. ``lexicon`` is the cast's; sayings in that of the
        settings replace its own. ``force`` speaks every text once more, whatever is kept.

        Raises VoiceError for a lexicon that cannot be read.
        """
        self._voice, self._folder, self._settings, self._language = voice, folder, settings, language
        self._lexicon = lexicon.joined(read_lexicon(settings.lexicon))
        self._force = force
        # By the name in `Delivery.voice`; empty for the film's own voice.
        self._speakers = {"": (voice, Checker(voice.name, language))}
        # By the names of their files: those that the voice spoke here, and the takes of all texts so far.
        self._spoken: set[str] = set()
        self._takes: dict[str, Take] = {}
        self._lock = threading.Lock()

    @property
    def spoken(self) -> int:
        """How many takes the voice has spoken here."""
        return len(self._spoken)

    @property
    def reused(self) -> int:
        """How many different takes of a voice were read from the folder instead of spoken."""
        spoken_earlier = self._takes.keys() - self._spoken
        return sum(1 for name in spoken_earlier if _TAKE_NAME.fullmatch(name))

    def sent(self, text: str, delivery: Delivery = AS_THE_FILM) -> str:
        """The text as it is sent to the voice: with numbers, abbreviations and names written out."""
        voice, _ = self._speaker(delivery)
        return spoken_text(text, self._language, self._lexicon, voice.reads)

    def left_out(self, text: str, delivery: Delivery = AS_THE_FILM) -> tuple[str, ...]:
        """The words of a line that its voice has no sound for; none of a recording."""
        if self._recorded(delivery) is not None:
            return ()
        voice, _ = self._speaker(delivery)
        return voice.left_out(self.sent(text, delivery))

    def kept_take(self, text: str, delivery: Delivery = AS_THE_FILM) -> Take | None:
        """The take of a line that is in the folder already; None where it is not. Nothing is spoken."""
        recorded = self._recorded(delivery)
        if recorded is not None:
            return recorded
        sent = self.sent(text, delivery)
        return self._by(delivery, self._read(self._path(sent, delivery), sent, delivery))

    def say(self, text: str, delivery: Delivery = AS_THE_FILM) -> Take:
        """The take of a line at the pace of the settings. Raises VoiceError.

        It is the recording that ``delivery`` names; where that is gone, the voice speaks. The take's own
        ``speed`` is that which was reached: a voice that cannot go as fast says so there.
        """
        take = self.kept_take(text, delivery)
        if take is None:
            sent = self.sent(text, delivery)
            voice, checker = self._speaker(delivery)
            spoken = speak_checked(voice, sent, self._pace(delivery), checker)
            take = self._by(delivery, self._write(self._path(sent, delivery), spoken))
        assert take is not None
        return take

    def _recorded(self, delivery: Delivery) -> Take | None:
        """A person's recording; None where there is none, or its file is gone or damaged."""
        if not delivery.recording:
            return None
        take = self._takes.get(delivery.recording)
        if take is None:
            take = read_take(self._folder / RECORDINGS / delivery.recording)
            if take is None:
                return None
            take = replace(take, voice=OWN_VOICE)
            with self._lock:
                self._takes[delivery.recording] = take
        return take

    def _speaker(self, delivery: Delivery) -> tuple[Speaker, Checker]:
        """Who speaks, and who checks the takes. Raises VoiceError."""
        name = delivery.voice
        with self._lock:
            if name not in self._speakers:
                settings = self._settings.model_copy(update={"name": name})
                voice = make_voice(settings, self._language)
                self._speakers[name] = (voice, Checker(voice.name, self._language))
            return self._speakers[name]

    def _by(self, delivery: Delivery, take: Take | None) -> Take | None:
        """The take with the name of its voice, where that is not the film's."""
        if take is None or not delivery.voice:
            return take
        voice, _ = self._speaker(delivery)
        return replace(take, voice=voice.name)

    def say_all(self, texts: Iterable[str], progress: Progress | None = None) -> None:
        """Speak all lines that are not kept yet, several at once where the voice can; `say` then finds them.

        Raises VoiceError for the first that cannot be spoken; what is spoken by then is kept.
        """
        missing: dict[Path, str] = {}
        for text in texts:
            sent = self.sent(text)
            path = self._path(sent)
            if path not in missing and self._read(path, sent, AS_THE_FILM) is None:
                missing[path] = sent
        sent_texts = list(missing.values())
        with progress_task(progress or NoProgress(), "Speaking", len(sent_texts), "lines") as task:
            # No larger than lets all of the voice's threads have work.
            share = -(-len(sent_texts) // self._voice.at_once)
            size = max(1, min(self._voice.together, share))
            groups = [sent_texts[first : first + size] for first in range(0, len(sent_texts), size)]
            jobs = [partial(self._speak, group, task) for group in groups]
            if self._voice.at_once <= 1:
                for job in jobs:
                    job()
                return
            pool = ThreadPoolExecutor(self._voice.at_once)
            try:
                for future in as_completed([pool.submit(in_context(job)) for job in jobs]):
                    future.result()
            finally:
                # After an error no further group is spoken; those that have begun end first.
                pool.shutdown(cancel_futures=True)

    def remove_unused(self) -> None:
        """Remove all takes whose texts were not asked for here, and what a killed run left half written."""
        for path in own_files(self._folder, _TAKE_NAME):
            if path.name not in self._takes:
                remove_file(path)
        for path in own_files(self._folder, _TEMPORARY_NAME):
            remove_leftover(path)

    def _pace(self, delivery: Delivery = AS_THE_FILM) -> float:
        # Rounded, for it is part of the takes' names.
        return round(self._settings.speed * delivery.pace, 4)

    def _path(self, sent: str, delivery: Delivery = AS_THE_FILM) -> Path:
        """The file of the take of a text as it is sent."""
        voice, _ = self._speaker(delivery)
        name = hash_key(TAKE_STEP, voice.identity, sent, self._pace(delivery)) + _TAKE_ENDING
        return self._folder / name

    def _read(self, path: Path, sent: str, delivery: Delivery) -> Take | None:
        """The take in a file, which is checked at its first use; None where it is missing or cut off."""
        if self._force and path.name not in self._spoken:
            return None
        checked = self._takes.get(path.name)
        if checked is not None and path.exists():
            return checked
        take = read_take(path)
        if take is None:
            return None
        voice, checker = self._speaker(delivery)
        pace = self._pace(delivery)
        if voice.speaks_words and checker.problem(sent, take, pace):
            return None
        checker.add(sent, take, pace)
        with self._lock:
            self._takes[path.name] = take
        return take

    def _write(self, path: Path, take: Take) -> Take:
        written = write_take(path, take)
        with self._lock:
            self._takes[path.name] = written
            self._spoken.add(path.name)
        return written

    def _speak(self, sent_texts: Sequence[str], task: Task) -> None:
        """Have the voice speak a group of texts, and keep each take."""
        voice, checker = self._speaker(AS_THE_FILM)
        takes = speak_all_checked(voice, sent_texts, self._pace(), checker)
        for sent, take in zip(sent_texts, takes, strict=True):
            self._write(self._path(sent), take)
            with self._lock:
                task.advance()


class EstimatingStudio:
    """A `Studio` that speaks nothing: its takes are those that are kept, or silence of the expected length.

    ``known`` are the seconds of the takes that are there, by text, ``guessed`` the texts whose length was
    only expected.
    """

    def __init__(self, studio: CachingStudio | None, seconds: Callable[[str], float]) -> None:
        """``studio`` has the kept takes (None: the voice is not known yet); ``seconds`` returns how long a
        text is expected to take."""
        self._studio, self._seconds = studio, seconds
        self.known: dict[str, float] = {}
        self.guessed: set[str] = set()

    def sent(self, text: str, delivery: Delivery = AS_THE_FILM) -> str:
        """The text as it is sent to the voice; unchanged where the voice is not known."""
        return text if self._studio is None else self._studio.sent(text, delivery)

    def say(self, text: str, delivery: Delivery = AS_THE_FILM) -> Take:
        """The kept take of a text, else silence of the expected length."""
        kept_take = None if self._studio is None else self._studio.kept_take(text, delivery)
        if kept_take is not None:
            self.known[text] = kept_take.seconds
            return kept_take
        if delivery.recording:
            return _silence(text, delivery.seconds, OWN_VOICE)
        self.guessed.add(text)
        return _silence(text, self._seconds(text) / delivery.pace)


def _silence(text: str, seconds: float, voice: str = "") -> Take:
    """A take of a text that lasts so long, and in which nothing is heard."""
    size = max(1, round(seconds * _GUESSED_RATE))
    silence = Stored(size, f"expected: {text}", lambda: np.zeros(size, np.float32))
    return Take(silence, _GUESSED_RATE, voice=voice)


_GUESSED_RATE = 1000
"""Samples a second of a take that nobody has spoken: lines are fitted in milliseconds."""


def read_lexicon(file: str | None) -> Lexicon:
    """The lexicon in a file; an empty one for None. Raises VoiceError."""
    if file is None:
        return EMPTY_LEXICON
    hint = "Name a text file in UTF-8: voice.lexicon."
    path = Path(file).expanduser()
    return parse_lexicon(read_text_file(path, "lexicon", VoiceError, hint=hint, encoding="utf-8").text, file)
