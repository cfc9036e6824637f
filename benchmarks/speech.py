"""How much speech is missed and how much is imagined: plain Silero against ours.

    python benchmarks/speech.py [--films FOLDER]

First the supplied clips, by the labels of tests/labels/speech.json; then mixes made here, voices over
film music and effects at several levels. Voices: the describer of the rabbit clip, the clean lines of
the Sintel trailer, and what synthesisers this machine has (espeak-ng, the hibari package).

open: seconds of speech that lie more than the margin outside what was found, so that AD could fall on them.
false: seconds found that lie more than the margin away from any speech.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from common import DATA, LABELS, command_line, sound_of

from shotad.core import Interval
from shotad.core.config.film import SpeechSettings
from shotad.core.weight_store import weights_file
from shotad.film import (
    SoundBlock,
    open_film,
    sound_blocks,
)
from shotad.film.slots import join_intervals, subtract
from shotad.film.speech import RATE, WINDOW, Signal, Vad, speech_in, speech_intervals

MARGIN = SpeechSettings().margin
LEVELS = (5, 0, -5)
"""Decibels of the voice over its surroundings."""
SENTENCES = (
    "I told you not to come back here after dark.",
    "The train leaves in ten minutes, hurry!",
    "Where have you been all this time?",
    "Nobody gets out of this city alive.",
    "Put it down. Slowly.",
    "We have to go, right now.",
)
Detector = Callable[[Signal], tuple[Interval, ...]]
Score = npt.NDArray[np.float64]
"""Seconds of speech, of it left open, and found where there is none."""


def plain(sound: Signal) -> tuple[Interval, ...]:
    """Silero as its own package uses it: 0.5, 0.35 to end, 0.1 s of silence, 0.25 s of speech, 0.03 s pad."""
    chances = Vad(weights_file("silero-vad")).feed(np.pad(sound, (0, -len(sound) % WINDOW))[None])[:, 0]
    length = len(sound) / RATE
    found = speech_intervals(chances, length, threshold=0.5, release=0.35, bridge=0.1, shortest=0.25, lead=0)
    return join_intervals(Interval(i.start - 0.03, i.end + 0.03) for i in found)


def ours(sound: Signal) -> tuple[Interval, ...]:
    """What `shotad describe` hears."""
    blocks = (SoundBlock(at / RATE, sound[at : at + RATE]) for at in range(0, len(sound), RATE))
    return speech_in(blocks, len(sound) / RATE) or ()


DETECTORS: dict[str, Detector] = {"plain Silero 0.5": plain, "ours": ours}


def score(found: Sequence[Interval], speech: Sequence[Interval]) -> Score:
    """Speech that nothing found covers, and what was found that no speech covers, but for the margin."""

    def outside(these: Sequence[Interval], those: Sequence[Interval]) -> float:
        wide = [Interval(i.start - MARGIN, i.end + MARGIN) for i in those]
        return sum(piece.duration for i in join_intervals(these) for piece in subtract(i, wide))

    return np.array([sum(i.duration for i in speech), outside(speech, found), outside(found, speech)])


def hear(path: Path) -> Signal:
    with open_film(path) as film:
        return np.concatenate([block.samples for block in sound_blocks(film)])


def voices(films: Path) -> list[Signal]:
    """Spoken lines, each of about 2 s, without silence around them."""
    describer = sound_of(films / "films/rabbit/audio-description.mp3", RATE)
    trailer = hear(films / "films/sintel-trailer.mp4")
    cut = [(describer, 0.3, 3.6), (describer, 4.25, 6.9), (describer, 10.6, 12.4)]
    cut += [(trailer, 12.3, 14.6), (trailer, 18.8, 20.2)]
    lines = [sound[round(a * RATE) : round(b * RATE)] for sound, a, b in cut]
    found = []
    for line in (*lines, *synthesised()):
        loud = np.flatnonzero(np.abs(line) > 0.02 * np.abs(line).max())
        found.append(line[loud[0] : loud[-1] + 1])
    return found


def synthesised() -> list[Signal]:
    found: list[Signal] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "line.wav"
        for voice, text in zip(("en-us", "en-gb+f3", "en-us+m3") * 2, SENTENCES, strict=True):
            if shutil.which("espeak-ng"):
                subprocess.run(["espeak-ng", "-v", voice, "-w", str(path), text], check=True)
                found.append(sound_of(path, RATE))
        if importlib.util.find_spec("hibari"):
            import hibari

            speak = hibari.Hibari()
            for text in SENTENCES:
                hibari.write_wav(str(path), speak(text))
                found.append(sound_of(path, RATE))
    return found


def backgrounds(films: Path) -> dict[str, Signal]:
    """Film sound without speech: a battle, a fight with wind, a trailer's music, a cartoon's meadow."""
    trailer = hear(films / "films/sintel-trailer.mp4")
    return {
        "battle": hear(films / "films/tears-of-steel-battle.webm"),
        "fight": 4 * hear(films / "films/sintel-excerpt.mp4"),
        "music": np.concatenate([trailer[24 * RATE : 36 * RATE], trailer[45 * RATE : 51 * RATE]]),
        "meadow": 4 * hear(films / "films/rabbit/video.mp4")[6 * RATE :],
    }


def mix(ground: Signal, lines: Sequence[Signal], decibels: float) -> tuple[Signal, list[Interval]]:
    """The lines 2 to 4 s apart over ``ground``, each so many decibels over what it covers."""
    rng = np.random.default_rng(3)
    length = sum(len(line) for line in lines) + 4 * RATE * (len(lines) + 1)
    sound = np.tile(ground, -(-length // len(ground)))[:length].astype(np.float32)
    at, speech = 2 * RATE, []
    for n in rng.permutation(len(lines)):
        line, under = lines[n], sound[at : at + len(lines[n])]
        gain = 10 ** (decibels / 20) * max(rms(under), 1e-3) / rms(line)
        sound[at : at + len(line)] += gain * line
        speech.append(Interval(at / RATE, (at + len(line)) / RATE))
        at += len(line) + round((2 + 2 * rng.random()) * RATE)
    return sound / max(1.0, float(np.abs(sound).max())), speech


def rms(sound: Signal) -> float:
    return float(np.sqrt(np.mean(np.square(sound, dtype=np.float64))))


def row(name: str, who: str, one: Score) -> None:
    speech, left, false = one
    share = f"{100 * left / speech:5.1f} %" if speech else "      -"
    print(f"{name:34s} {who:17s} {speech:6.1f} {left:6.2f} {share} {false:6.2f}", flush=True)


HEAD = f"{'':34s} {'':17s} speech   open   share  false"


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--films", type=Path, default=DATA, help="the folder that holds films/")
    films = parser.parse_args().films
    print(HEAD)
    for name, label in json.loads((LABELS / "speech.json").read_text())["clips"].items():
        if (films / name).exists():
            sound, speech = hear(films / name), [Interval(*pair) for pair in label["speech"]]
            for who, detect in DETECTORS.items():
                row(name, who, score(detect(sound), speech))
    lines, grounds = voices(films), backgrounds(films)
    print(f"\n{len(lines)} voices over {', '.join(grounds)}, voice over surroundings in dB\n{HEAD}")
    for decibels in LEVELS:
        total = {who: np.zeros(3) for who in DETECTORS}
        for name, ground in grounds.items():
            sound, speech = mix(ground, lines, decibels)
            for who, detect in DETECTORS.items():
                total[who] += (one := score(detect(sound), speech))
                row(f"  {name} {decibels:+d} dB", who, one)
        for who, whole in total.items():
            row(f"all {decibels:+d} dB", who, whole)


if __name__ == "__main__":
    main()
