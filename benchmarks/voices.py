"""How well the voices are understood: lines of human AD are spoken, transcribed back, and compared.

    python benchmarks/voices.py [--voices NAME …] [--lines N] [--speed S …]

The lines are spread evenly over the human ADs of Elephants Dream and CMD-AD in ``../shared/data``. Prints
for each voice and speed the pace in words a minute (as T3 counts them: with pauses inside a line, none
around it), the processor's time for a second of speech (its programs' too), and, as recogniser.py hears it,
the word error rate and the share of lines without an error. By the pace at speed 1 each kind is set to that
of AD (`shotad.sound.kinds.PACE`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import gcd

import numpy as np
from common import DESCRIBERS, DREAM, cmd_ad, command_line, words_changed
from heardwords import plain_words
from recogniser import RATE, Whisper
from scipy.signal import resample_poly

from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import VoiceError
from shotad.script import count_words, read_cues
from shotad.sound import make_voice
from shotad.sound.pronunciation import spoken_text

FEWEST, MOST = 5, 40
"""Words of a line that is worth transcribing, and that the recogniser hears at once (30 s)."""


def lines_of(number: int) -> list[str]:
    """Human AD, half of Elephants Dream and half of CMD-AD, evenly spread."""
    dream = [cue.text for name in DESCRIBERS.values() for cue in read_cues(DREAM / name)]
    films, half, found = [row["text"] for clip in cmd_ad() for row in clip], number // 2, []
    for texts, some in ((dream, half), (films, number - half)):
        lines = [" ".join(text.split()) for text in texts]
        long = [line for line in lines if FEWEST <= count_words(line) <= MOST and "NOTE" not in line]
        found += [long[round(i * (len(long) - 1) / max(some - 1, 1))] for i in range(min(some, len(long)))]
    return found


def told(name: str, speed: float, lines: Sequence[str], ear: Whisper) -> str:
    """What is heard of all lines as one voice speaks them."""
    voice = make_voice(VoiceSettings(name=name), "en")
    sent = [spoken_text(line, "en", reads=voice.reads) for line in lines]
    voice.speak(sent[0], speed)  # loads what it needs
    before = sum(os.times()[:4])
    takes = voice.speak_all(sent, speed)
    processor = sum(os.times()[:4]) - before
    words = wrong = whole = 0
    for line, take in zip(lines, takes, strict=True):
        common = gcd(take.rate, RATE)
        sound = resample_poly(take.samples, RATE // common, take.rate // common)
        heard = ear.hear(np.pad(sound, RATE // 2).astype(np.float32))
        reference = plain_words(line)
        missed = words_changed(reference, plain_words(" ".join(word.text for word in heard)))
        words, wrong, whole = words + len(reference), wrong + missed, whole + (missed == 0)
    spoken = sum(take.seconds for take in takes)
    pace = 60 * sum(map(count_words, lines)) / spoken
    share = f"{wrong / words:.1%} ({wrong} of {words})"
    cost = f"{processor / spoken:.2f} s of processor for a second"
    clear = f"word error rate {share}, {whole} lines whole"
    return f"{name} at {speed:g}: {pace:.0f} words a minute, {cost}; {clear}"


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--voices", nargs="+", default=["hibari", "piper", "kokoro", "espeak-ng:en-us"])
    parser.add_argument("--lines", type=int, default=60)
    parser.add_argument("--speed", type=float, nargs="+", default=[1.0])
    options = parser.parse_args()
    lines, ear = lines_of(options.lines), Whisper()
    for name in options.voices:
        for speed in options.speed:
            try:
                print(told(name, speed, lines, ear), flush=True)
            except VoiceError as error:
                print(f"{name}: {error}")


if __name__ == "__main__":
    main()
