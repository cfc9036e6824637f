"""How well the narrator is told apart from the film in described recordings.

    python benchmarks/subtraction.py tune|judge

A synthesised narrator is mixed with a film in four ways: plainly; with the film 12 dB lower under the
narrator; so, coded as MP3 at 96 kbit/s; so, played 25/24 times as fast with the pitch that comes of it.
``tune`` has the Tears of Steel clip and the embedded voice, ``judge`` the Sintel trailer (music, dialogue)
and espeak-ng, and the rabbit clip as a human described it, with its description alone as the truth.

lowered: dB by which the film is softer where the narrator is silent, before that is made silent, as the
program measures it.
SI-SDR: of the recording, and of the result, against the narrator, where it speaks (le Roux and others, "SDR:
half-baked or well done?", 2019).
kept: seconds of the narrator's speech that are in the lines that were found, of all.
false: seconds of lines beside the narrator, by more than 0.5 s.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
from common import FILMS, command_line

from shotad.core import Interval, NoProgress
from shotad.film import Film, open_film, open_sound, sound_blocks
from shotad.film.slots import join_intervals, subtract
from shotad.sound.alignment import AlignedPiece, Alignment, Recording
from shotad.sound.alignment.exact_fit import exact_fit
from shotad.sound.alignment.narrator import find_narrator
from shotad.sound.programme import RATE, programme_of, stereo_matrix

SENTENCES = (
    "A man in a grey coat walks along the bridge and looks down at the water.",
    "Two soldiers lift the heavy gate while the others hide behind a burned car.",
    "She turns around, and a small dragon flies past the window of the tower.",
    "Snow falls on the roofs; far away a fire is burning in the dark.",
)
PAUSE = 5.0
"""Seconds between two sentences."""
OVER_FILM = 3.0
"""dB of the narrator over the film's mean level."""
SLACK = 0.5
KINDS = ("plain", "ducked", "ducked, MP3", "ducked, sped up")

Sound = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Spoken:
    """A narrator on film time, and when it speaks."""

    sound: Sound
    lines: tuple[Interval, ...]


def decoded(path: Path, layout: str = "mono") -> Sound:
    """``float32[n, channels]`` at `RATE`."""
    parts = []
    with av.open(str(path)) as container:
        resampler = av.AudioResampler(format="flt", layout=layout, rate=RATE)
        for frame in [*container.decode(audio=0), None]:
            if frame is not None:
                frame.pts = None
            for out in resampler.resample(frame):
                parts.append(out.to_ndarray().reshape(out.samples, -1))
    return np.concatenate(parts)


def write(path: Path, samples: Sound, rate: int = RATE, codec: str = "pcm_s16le") -> None:
    """A stereo file; MP3 at 96 kbit/s."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate, layout="stereo")
        if codec == "libmp3lame":
            stream.codec_context.bit_rate = 96_000
        context = stream.codec_context
        resampler = av.AudioResampler(format=context.format.name, layout="stereo", rate=rate)
        for first in range(0, len(samples), rate):
            part = np.ascontiguousarray(np.clip(samples[first : first + rate], -1, 1), np.float32)
            frame = av.AudioFrame.from_ndarray(part.reshape(1, -1), format="flt", layout="stereo")
            frame.sample_rate, frame.pts, frame.time_base = rate, first, Fraction(1, rate)
            for out in resampler.resample(frame):
                container.mux(stream.encode(out))
        container.mux(stream.encode(None))


def narrated(voice: str, total: int, folder: Path) -> Spoken:
    """Sentences of a voice (``hibari`` or ``espeak-ng``), `PAUSE` seconds apart, in as many samples as
    ``total``."""
    takes = []
    for number, text in enumerate(SENTENCES):
        path = folder / f"{voice}-{number}.wav"
        if voice == "hibari":
            import hibari

            hibari.write_wav(str(path), hibari.Hibari()(text))
        else:
            subprocess.run(["espeak-ng", "-v", "en-us", "-s", "165", "-w", str(path), text], check=True)
        take = decoded(path)[:, 0]
        loud = np.flatnonzero(np.abs(take) > 0.01 * np.abs(take).max())
        takes.append(take[loud[0] : loud[-1] + 1])
    sound = np.zeros(total, np.float32)
    lines = []
    start = round(4 * RATE)
    while start + len(take := takes[len(lines) % len(takes)]) < total - RATE:
        sound[start : start + len(take)] = take
        lines.append(Interval(start / RATE, (start + len(take)) / RATE))
        start += len(take) + round(PAUSE * RATE)
    return Spoken(sound, tuple(lines))


def ducking(lines: Sequence[Interval], total: int, depth: float) -> Sound:
    """The film's gain: ``depth`` dB lower in the lines, in 0.3 s and back in 0.4 s."""
    seconds = np.arange(total) / RATE
    share = np.zeros(total)
    for line in lines:
        ramps = np.minimum((seconds - line.start + 0.4) / 0.3, (line.end + 0.5 - seconds) / 0.4)
        share = np.maximum(share, np.clip(ramps, 0, 1))
    return np.asarray(10 ** (-depth * share / 20), np.float32)


def si_sdr(sound: Sound, truth: Sound) -> float:
    """dB of ``truth`` in ``sound``, at any level, over all else."""
    target = truth * (float(sound @ truth) / float(truth @ truth))
    return 10 * float(np.log10((target @ target) / max(1e-12, float(np.square(sound - target).sum()))))


def seconds_of(intervals: Sequence[Interval]) -> float:
    return sum(interval.duration for interval in intervals)


def judge(name: str, film: Film, path: Path, spoken: Spoken, speed: float, folder: Path) -> None:
    """Print one row."""
    programme = programme_of(film, None)
    file = open_sound(path)
    recording = Recording(file, file.audio[0])
    duration = min(film.info.duration, file.duration * speed)
    piece = AlignedPiece(Interval(0.0, duration), Interval(0.0, duration / speed), 1.0)
    fit = exact_fit(Alignment((piece,), film.info.duration, file.duration), recording, programme)
    narrator = find_narrator(recording, fit, programme, folder / "narrator.flac", NoProgress())
    sound = np.concatenate([block.samples for block in narrator.blocks(programme.total)])
    described = decoded(path)[:, 0] if speed == 1 else None
    spoken_samples = np.zeros(len(sound), bool)
    for line in spoken.lines:
        spoken_samples[round(line.start * RATE) : round(line.end * RATE)] = True
    count = min(len(sound), len(spoken.sound), len(sound) if described is None else len(described))
    inside = np.flatnonzero(spoken_samples[:count])
    before = "" if described is None else f"{si_sdr(described[inside], spoken.sound[inside]):.1f}"
    after = si_sdr(sound[inside], spoken.sound[inside])
    missed = sum(seconds_of(subtract(line, narrator.lines)) for line in spoken.lines)
    around = join_intervals(Interval(line.start - SLACK, line.end + SLACK) for line in spoken.lines)
    false = sum(seconds_of(subtract(line, around)) for line in narrator.lines)
    lowered = "" if narrator.suppression is None else f"{narrator.suppression:.0f}"
    total = seconds_of(spoken.lines)
    print(
        f"{name:40} lowered {lowered:>3}  SI-SDR {before:>5} to {after:5.1f}  kept {total - missed:5.1f} of "
        f"{total:5.1f} s  false {false:4.1f} s",
        flush=True,
    )


def made_cases(clip: str, voice: str, folder: Path) -> None:
    """The rows of a film with a synthesised narrator."""
    with open_film(FILMS / clip) as film:
        own = np.concatenate([block.samples for block in sound_blocks(film, None, RATE, "native")])
        names = ("FL", "FR") if own.shape[1] == 2 else ("FL", "FR", "FC", "LFE", "BL", "BR")
        stereo = own if own.shape[1] == 2 else own @ stereo_matrix(names)
        spoken = narrated(voice, len(own), folder)
        spoken_level = np.sqrt(np.square(spoken.sound[spoken.sound != 0]).mean())
        # Half as loud, so that nothing is cut off at full scale.
        level = 0.5 * float(np.sqrt(np.square(stereo).mean())) * 10 ** (OVER_FILM / 20) / spoken_level
        spoken = Spoken(spoken.sound * np.float32(level), spoken.lines)
        for kind in KINDS:
            depth = 0.0 if kind == "plain" else 12.0
            described = 0.5 * stereo * ducking(spoken.lines, len(own), depth)[:, None] + spoken.sound[:, None]
            path = folder / "recording.wav"
            speed = 1.0
            if kind == "ducked, MP3":
                path = folder / "recording.mp3"
                write(path, described, codec="libmp3lame")
            elif kind == "ducked, sped up":
                speed = 25 / 24
                # Played at a higher rate: what was 48,000 samples a second is 50,000.
                write(path, described, rate=round(RATE * speed))
            else:
                write(path, described)
            judge(f"{clip[:16]} {voice}, {kind}", film, path, spoken, speed, folder)


def real_case(folder: Path) -> None:
    """The row of the rabbit."""
    place = FILMS / "rabbit"
    truth = decoded(place / "audio-description.mp3")[:, 0]
    frame = RATE // 50
    levels = np.sqrt(np.square(truth[: len(truth) // frame * frame]).reshape(-1, frame).mean(axis=1))
    loud = np.flatnonzero(levels > 0.03 * levels.max()) / 50
    lines = join_intervals([Interval(float(second), float(second) + 0.02) for second in loud], 0.3)
    with open_film(place / "video.mp4") as film:
        judge("rabbit, human", film, place / "video-with-voiceover.mp4", Spoken(truth, lines), 1.0, folder)


def main() -> None:
    parser: argparse.ArgumentParser = command_line(__doc__)
    parser.add_argument("set", choices=("tune", "judge"))
    chosen = parser.parse_args().set
    folder = Path(tempfile.mkdtemp())
    try:
        if chosen == "tune":
            made_cases("tears-of-steel-battle.webm", "hibari", folder)
        else:
            made_cases("sintel-trailer.mp4", "espeak-ng", folder)
            real_case(folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
