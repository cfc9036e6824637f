"""How well the voices are understood: lines of human AD are spoken, transcribed back, and compared.

    python benchmarks/voices.py [--model tiny.en.pt] [--voices NAME …] [--lines N] [--speed S …]

The lines are spread evenly over the human ADs of Elephants Dream and CMD-AD in ``../shared/data``. Prints for
each voice and speed the pace in words a minute (as T3 counts them: with pauses inside a line, none around it)
and how long the voice took; with a model, which needs openai-whisper, the word error rate, the share of lines
without an error, and the words that went wrong most often. By the pace at speed 1 each kind is set to that of
AD (`shotad.sound.kinds.PACE`).
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np
import pysubs2
from scipy.signal import resample_poly

from shotad.core import VoiceError, VoiceSettings
from shotad.script import count_words
from shotad.sound import Take, make_voice, said

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_RATE = 16000
_FEWEST = 5
"""Words of a line that is worth transcribing."""


@dataclass
class Count:
    """What became of the lines of one voice: ``words`` that were compared, ``spoken`` those of T3."""

    words: int = 0
    spoken: int = 0
    wrong: int = 0
    lines: int = 0
    whole: int = 0
    seconds: float = 0.0
    took: float = 0.0
    slips: Counter[str] = field(default_factory=Counter)


def lines_of(number: int) -> list[str]:
    """Human AD, half of Elephants Dream and half of CMD-AD, evenly spread."""
    folder = DATA / "ad-text" / "elephants-dream"
    dream = [
        " ".join(event.plaintext.split())
        for name in ("descriptions.en.vtt", "descriptions-jjhunt.en.vtt")
        for event in pysubs2.load(str(folder / name))
    ]
    with (DATA / "cmd-ad" / "cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        films = [" ".join(row["text"].split()) for row in csv.DictReader(file)]
    return [*_spread(dream, number // 2), *_spread(films, number - number // 2)]


def _spread(texts: Sequence[str], number: int) -> list[str]:
    long = [text for text in texts if count_words(text) >= _FEWEST and "NOTE" not in text]
    return [long[round(i * (len(long) - 1) / max(number - 1, 1))] for i in range(min(number, len(long)))]


def slips(reference: Sequence[str], heard: Sequence[str]) -> tuple[int, list[str]]:
    """Word errors of the best alignment, and what they were: ``said → heard``."""
    table = np.zeros((len(reference) + 1, len(heard) + 1), int)
    table[:, 0], table[0, :] = np.arange(len(reference) + 1), np.arange(len(heard) + 1)
    for i, one in enumerate(reference, 1):
        for j, other in enumerate(heard, 1):
            change = table[i - 1, j - 1] + (one != other)
            table[i, j] = min(change, table[i - 1, j] + 1, table[i, j - 1] + 1)
    i, j, found = len(reference), len(heard), []
    while i or j:
        if i and j and table[i, j] == table[i - 1, j - 1] + (reference[i - 1] != heard[j - 1]):
            i, j = i - 1, j - 1
            if reference[i] != heard[j]:
                found.append(f"{reference[i]} → {heard[j]}")
        elif i and table[i, j] == table[i - 1, j] + 1:
            i -= 1
            found.append(f"{reference[i]} → nothing")
        else:
            j -= 1
            found.append(f"nothing → {heard[j]}")
    return int(table[-1, -1]), found


def measure(name: str, speed: float, lines: Sequence[str], ear: Any, options: argparse.Namespace) -> Count:
    """Speak all lines with one voice, and transcribe them where there is an ``ear``: a model and its norm."""
    voice = make_voice(VoiceSettings(name=name), options.language)
    count = Count(spoken=sum(map(count_words, lines)), lines=len(lines))
    began = time.perf_counter()
    sent = [said(line, options.language, reads=voice.reads) for line in lines]
    together = getattr(voice, "speak_all", None)
    takes = together(sent, speed) if together else [voice.speak(text, speed) for text in sent]
    count.took = time.perf_counter() - began
    count.seconds = sum(take.seconds for take in takes)
    model, normal = ear or (None, None)
    for line, take in zip(lines, takes if ear else (), strict=bool(ear)):
        heard = model.transcribe(_ready(take), language=options.language, temperature=0.0, fp16=False)["text"]
        reference, found = normal(line).split(), normal(heard).split()
        wrong, which = slips(reference, found)
        count.words += len(reference)
        count.wrong += wrong
        count.whole += wrong == 0
        count.slips.update(which)
        if options.show and wrong:
            print(f"    {line}\n      {heard.strip()}")
    return count


def _ready(take: Take) -> Any:
    """At the rate of the recogniser, with half a second of silence around."""
    common = gcd(take.rate, _RATE)
    sound = resample_poly(take.samples, _RATE // common, take.rate // common)
    return np.pad(sound, _RATE // 2).astype(np.float32)


def main() -> None:
    """Print one paragraph for each voice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--voices", nargs="+", default=["hibari", "piper", "espeak-ng:en-us"])
    parser.add_argument("--model", help="of openai-whisper, by path or name")
    parser.add_argument("--lines", type=int, default=60)
    parser.add_argument("--speed", type=float, nargs="+", default=[1.0])
    parser.add_argument("--language", default="en")
    parser.add_argument("--show", action="store_true", help="print each line that was heard otherwise")
    options = parser.parse_args()
    lines = lines_of(options.lines)
    ear = None
    if options.model:
        import whisper
        from whisper.normalizers import EnglishTextNormalizer

        ear = whisper.load_model(options.model, device="cpu"), EnglishTextNormalizer()
    print(f"{len(lines)} lines of human AD, {sum(map(count_words, lines))} words.")
    for name in options.voices:
        for speed in options.speed:
            try:
                _tell(f"{name} at {speed:g}", measure(name, speed, lines, ear, options))
            except VoiceError as error:
                print(f"{name}: {error}")


def _tell(who: str, count: Count) -> None:
    pace = 60 * count.spoken / count.seconds
    print(f"{who}: {pace:.0f} words a minute, {count.seconds:.0f} s of speech made in {count.took:.1f} s.")
    if count.words:
        share = count.wrong / count.words
        print(f"  Word error rate {share:.1%} ({count.wrong} of {count.words}), {count.whole} lines whole.")
        print("  Most often: " + "; ".join(f"{what} ({n})" for what, n in count.slips.most_common(15)))


if __name__ == "__main__":
    main()
