"""The words of the dialogue where no subtitles give them: a speech recogniser writes them down.

The times of speech stay those that the detector found (`shotad.film.speech`). A recogniser is only listened
to there, and what it writes goes to the utterance in which it was heard. Recognisers invent words in silence
and over music; words beside the speech, the sentences that they are known to invent, and text that goes round
in circles are left out.

A recogniser is chosen by name (`RECOGNISERS`), by ``module:Class``, or as a Whisper model of the Hugging Face
hub.
"""

from __future__ import annotations

import importlib
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from shotad.core import Interval, NoProgress, Progress, Utterance
from shotad.core.config.film import TranscriptSettings
from shotad.core.errors import ConfigError, did_you_mean
from shotad.core.types import SpeechKind
from shotad.film.audio import SoundBlock, sound_blocks
from shotad.film.reader import Film

RATE = 16_000
"""Samples a second that a recogniser gets."""
MAX_SECONDS = 30.0
"""Seconds of sound that a recogniser gets at once, at most."""

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Word:
    """A word that was recognised, and when it begins and ends, in seconds of what was listened to."""

    text: str
    start: float
    end: float

    def later(self, seconds: float) -> Word:
        """The same word, so many seconds later."""
        return replace(self, start=self.start + seconds, end=self.end + seconds)


class Recogniser(Protocol):
    """Writes down what is said. Made with the settings; loads its model when it first listens."""

    name: str

    def __init__(self, settings: TranscriptSettings) -> None: ...

    def missing(self) -> str:
        """What has to be installed before it can work, in a sentence; empty: nothing."""

    def hear(self, samples: Samples) -> list[Word]:
        """The words in ``float32[n]`` at `RATE`, `MAX_SECONDS` at most, by their time."""


RECOGNISERS = {
    "tiny.en": "shotad.film.whisper:TinyEnglish",
    "fake": "shotad.film.transcript:FakeRecogniser",
}
"""The classes by name."""
_HUB = "shotad.film.whisper:HubWhisper"


def make_recogniser(settings: TranscriptSettings) -> Recogniser:
    """The recogniser that the settings name; no model is loaded yet. Raises ConfigError."""
    name = settings.recogniser
    path = RECOGNISERS.get(name, name)
    if ":" not in path:
        if "/" not in name:
            offered = [offered_name for offered_name in RECOGNISERS if offered_name != "fake"]
            raise ConfigError(
                f"transcript.recogniser = {name!r} is not known.",
                f"{did_you_mean(name, offered)}Known: {', '.join(offered)}, a Whisper model of the Hugging "
                "Face hub (openai/whisper-small), or a folder with one.",
            )
        path = _HUB
    module, _, attribute = path.partition(":")
    try:
        recogniser = getattr(importlib.import_module(module), attribute)(settings)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"transcript.recogniser = {name!r} cannot be loaded: {error}.") from None
    return cast(Recogniser, recogniser)


class FakeRecogniser:
    """Hears a numbered word each half second, whatever is said; for tests."""

    name = "fake"

    def __init__(self, settings: TranscriptSettings) -> None:
        self._heard = 0

    def missing(self) -> str:
        return ""

    def hear(self, samples: Samples) -> list[Word]:
        words = []
        for number in range(int(len(samples) / RATE / 0.5)):
            self._heard += 1
            words.append(Word(f"word{self._heard}", number * 0.5, number * 0.5 + 0.5))
        return words


# Listening

MARGIN = 0.2
"""Seconds that are listened to before and after speech: the first sound of a word is often missed."""
NEIGHBOURS = 1.5
"""Seconds between two utterances that are listened to together: words around it help to recognise a word."""
LONGEST_WINDOW = 28.0
"""Seconds that are listened to at once; below `MAX_SECONDS`."""
SHORTEST_PART = 14.0
"""Seconds before which speech that is longer than a window is not divided."""
_FRAME = 0.05
"""Seconds of sound whose level is measured when a pause is looked for."""


def wordless(utterances: Iterable[Utterance]) -> tuple[Utterance, ...]:
    """The utterances that a recogniser may give words to: spoken, without a text. Sung words it invents."""
    return tuple(
        utterance for utterance in utterances if not utterance.text and utterance.kind is SpeechKind.SPEECH
    )


def transcribe(
    film: Film,
    utterances: Sequence[Utterance],
    recogniser: Recogniser,
    track: int | None = None,
    progress: Progress | None = None,
) -> list[Word]:
    """The words that the recogniser hears in ``utterances``, in film seconds, ascending.

    Of what it invents only text that goes round in circles is left out; `with_words` leaves out the rest.

    ``track`` as for `sound_blocks`. Raises what the recogniser raises.
    """
    blocks = sound_blocks(film, track, RATE, "mono")
    intervals = [utterance.interval for utterance in utterances]
    return transcribe_blocks(
        blocks, intervals, film.info.duration, recogniser, "Transcribing dialogue", progress
    )


def transcribe_blocks(
    blocks: Iterator[SoundBlock],
    intervals: Sequence[Interval],
    duration: float,
    recogniser: Recogniser,
    title: str,
    progress: Progress | None = None,
) -> list[Word]:
    """As `transcribe`, of speech in any sound: mono, at `RATE`, from second 0. ``title`` names the task."""
    windows = listening_windows(intervals, duration)
    total = sum(window.duration for window in windows)
    task = (progress or NoProgress()).task(title, total or None, "s")
    words: list[Word] = []
    try:
        for window, samples in zip(windows, _window_sounds(blocks, windows), strict=True):
            for offset, part in split_at_pauses(samples):
                words_of_part = recogniser.hear(part)
                if not _is_circular(joined_words(words_of_part)):
                    words += [word.later(window.start + offset) for word in words_of_part]
                task.advance(len(part) / RATE)
    finally:
        task.done()
    return sorted(words, key=lambda word: word.start)


def listening_windows(intervals: Sequence[Interval], duration: float) -> list[Interval]:
    """What is listened to at once: intervals with a margin, joined with close neighbours up to a window."""
    windows: list[Interval] = []
    film = Interval(0.0, duration)
    for interval in sorted(intervals):
        window = Interval(interval.start - MARGIN, interval.end + MARGIN).clip(film)
        if window is None:
            continue
        last = windows[-1] if windows else None
        if last is not None:
            is_close = window.start - last.end <= NEIGHBOURS
            if is_close and max(last.end, window.end) - last.start <= LONGEST_WINDOW:
                windows[-1] = Interval(last.start, max(last.end, window.end))
                continue
            # Two windows share no sound: its words would be written twice.
            if window.start < last.end:
                if window.end <= last.end:
                    continue
                window = Interval(last.end, window.end)
        windows.append(window)
    return windows


def split_at_pauses(samples: Samples) -> Iterator[tuple[float, Samples]]:
    """The sound in parts of a window at most, each with its offset in seconds; cut where it is quietest."""
    start, longest = 0, int(LONGEST_WINDOW * RATE)
    frame = int(_FRAME * RATE)
    while len(samples) - start > longest:
        first = start + int(SHORTEST_PART * RATE)
        frames = samples[first : start + longest]
        powers = np.square(frames[: len(frames) // frame * frame].reshape(-1, frame)).mean(axis=1)
        cut = first + int(powers.argmin()) * frame + frame // 2
        yield start / RATE, samples[start:cut]
        start = cut
    yield start / RATE, samples[start:]


def _window_sounds(blocks: Iterator[SoundBlock], windows: Sequence[Interval]) -> Iterator[Samples]:
    """The sound in each of the ascending windows, by one pass; shorter where the sound ends before."""
    held: Samples = np.zeros(0, np.float32)
    held_from = 0
    for window in windows:
        first, last = round(window.start * RATE), round(window.end * RATE)
        while held_from + len(held) < last and (block := next(blocks, None)) is not None:
            unneeded = min(len(held), max(0, first - held_from))
            held = np.concatenate([held[unneeded:], block.samples.astype(np.float32, copy=False)])
            held_from += unneeded
        yield held[max(0, first - held_from) : max(0, last - held_from)]


# Words to utterances

BESIDE = 0.4
"""Seconds beside an utterance at which a word still belongs to it: the times of words are that inexact."""
MAX_COMPRESSION = 2.4
"""How much smaller a text may become by zlib; what repeats itself more is an invention. Whisper's own limit
(transcribe.py, ``compression_ratio_threshold``)."""
INVENTIONS = frozenset(
    (
        "thank you for watching", "thanks for watching", "thank you so much for watching",
        "thanks for watching and see you in the next video", "see you in the next video",
        "please subscribe", "please subscribe to my channel", "dont forget to like and subscribe",
        "subscribe", "like and subscribe", "subtitles by the amaraorg community",
        "subtitles by the amara org community", "transcription by castingwords", "you",
    )
)  # fmt: skip
"""What Whisper is known to write where nobody speaks, in small letters without marks."""

_NOISE = re.compile(r"\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|[♪♫]+|>>")
"""What a recogniser writes for sounds, such as ``[Music]``."""


def with_words(utterances: Sequence[Utterance], words: Sequence[Word]) -> tuple[Utterance, ...]:
    """The utterances, with the words that were heard in those without a text.

    A word belongs to the utterance that holds its middle, else to one at most `BESIDE` seconds away. All
    others were heard where nobody speaks.
    """
    candidates = sorted(wordless(utterances), key=lambda utterance: utterance.interval.start)
    starts = [utterance.interval.start for utterance in candidates]
    longest = max((utterance.interval.duration for utterance in candidates), default=0.0)
    by_utterance: dict[Utterance, list[Word]] = {}
    for word in words:
        # Only those around it: a long film has thousands of both.
        first = bisect_left(starts, word.start - longest - BESIDE)
        last = bisect_right(starts, word.end + BESIDE)
        utterance = _utterance_of(word, candidates[first:last])
        if utterance is not None:
            by_utterance.setdefault(utterance, []).append(word)
    return tuple(
        replace(utterance, text=dialogue_text(by_utterance[utterance]))
        if utterance in by_utterance
        else utterance
        for utterance in utterances
    )


def _utterance_of(word: Word, utterances: Sequence[Utterance]) -> Utterance | None:
    middle = (word.start + word.end) / 2
    nearest: tuple[float, Utterance] | None = None
    for utterance in utterances:
        interval = utterance.interval
        distance = max(interval.start - middle, middle - interval.end, 0.0)
        if distance <= BESIDE and (nearest is None or distance < nearest[0]):
            nearest = distance, utterance
    return None if nearest is None else nearest[1]


def dialogue_text(words: Sequence[Word]) -> str:
    """The words of one utterance as a text; empty where they are an invention."""
    text = " ".join(_NOISE.sub(" ", joined_words(words)).split())
    plain = " ".join(re.findall(r"\w+", text.replace("'", "").replace("’", "").lower()))
    if not plain or plain in INVENTIONS:
        return ""
    return text


def _is_circular(text: str) -> bool:
    """Whether a text of half a minute at most repeats itself as only an invention does."""
    data = text.encode()
    return len(data) / len(zlib.compress(data)) > MAX_COMPRESSION


def joined_words(words: Sequence[Word]) -> str:
    """Words with blanks between them; without where a language has none: ``鍵`` ``は`` → ``鍵は``."""
    text = ""
    for word in words:
        is_tight = bool(text) and _is_unspaced(text[-1]) and _is_unspaced(word.text[0])
        text += word.text if is_tight or not text else f" {word.text}"
    return text


def _is_unspaced(letter: str) -> bool:
    """Whether a letter is of Chinese, Japanese or Thai writing, or a mark of it."""
    code = ord(letter)
    return 0x3000 <= code <= 0x9FFF or 0xFF00 <= code <= 0xFFEF or 0x0E00 <= code <= 0x0E7F


LONGEST_CAPTION = 84
"""Characters of a caption: two lines of 42."""
_PAUSE = 1.0
"""Seconds between two words that begin a new caption."""


def captions(utterances: Sequence[Utterance], words: Sequence[Word]) -> list[tuple[Interval, str]]:
    """Captions of the words that ``utterances`` (without texts of their own) were given, ascending.

    Each is a sentence, or as much of it as two lines hold, inside its utterance.
    """
    words_by_utterance: dict[Utterance, list[Word]] = {}
    for word in words:
        utterance = _utterance_of(word, utterances)
        if utterance is not None:
            words_by_utterance.setdefault(utterance, []).append(word)
    rows: list[tuple[Interval, str]] = []
    for utterance, its_words in words_by_utterance.items():
        if not dialogue_text(its_words):
            continue
        for part in _caption_parts(its_words):
            text = dialogue_text(part)
            start = min(max(part[0].start, utterance.interval.start), utterance.interval.end - 0.001)
            end = max(min(part[-1].end, utterance.interval.end), start + 0.001)
            if text:
                rows.append((Interval(start, end), text))
    return sorted(rows, key=lambda row: row[0])


def _caption_parts(words: Sequence[Word]) -> Iterator[list[Word]]:
    part: list[Word] = []
    for word in words:
        ends_sentence = bool(part) and part[-1].text[-1:] in ".?!…。？！"
        is_long = len(joined_words([*part, word])) > LONGEST_CAPTION
        if part and (ends_sentence or is_long or word.start - part[-1].end > _PAUSE):
            yield part
            part = []
        part.append(word)
    if part:
        yield part
