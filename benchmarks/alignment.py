"""How near `shotad align` comes to the truth: recordings that are cut, sped up, narrated and coded by this
script.

    python benchmarks/alignment.py [--set tuning|judging] [--kind KIND]... [--long]

A case is a film's sound and a recording made of it. The truth is which second of the film each second of the
recording holds. Every 50 ms of the film that the recording holds are asked for: how many are covered, and by
how many milliseconds the answer is wrong. "False" is film that is covered although the recording lacks it.

The sounds are those of films in shared/data and of the sample, and made ones: scenes of music, voices,
surroundings and events by turns. The narrator is hibari, who reads human AD of Elephants Dream over the film,
which is lowered under it by 12 to 20 dB. `--long` aligns two hours and says what that takes.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import av
import av.filter
import numpy as np
import numpy.typing as npt
from common import DREAM, FILMS, ROOT, command_line, described_lines, sound_of

from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import SoundError
from shotad.film import SoundBlock
from shotad.sound import make_voice
from shotad.sound.alignment import Alignment, align_recording
from shotad.sound.alignment.fingerprints import RATE as LISTENING_RATE, Fingerprint, fingerprint

RATE = 48_000
Sound = npt.NDArray[np.float32]
"""``float32[n]`` at `RATE`."""
Random = np.random.Generator


@dataclass
class Part:
    """Seconds of the film that stand in the recording one after the other; ``film`` None: something else."""

    film: tuple[float, float] | None
    recording: tuple[float, float]


@dataclass
class Recording:
    """A recording that is being made: its sound, and what of the film its parts are."""

    sound: Sound
    parts: list[Part]


# --- sounds ---


def smooth_noise(random: Random, count: int, low: float, high: float) -> Sound:
    """Noise between two frequencies, RMS 1."""
    spectrum = np.fft.rfft(random.standard_normal(count))
    hertz = np.fft.rfftfreq(count, 1 / RATE)
    spectrum[(hertz < low) | (hertz > high)] = 0
    noise = np.fft.irfft(spectrum, count)
    return (noise / (noise.std() + 1e-9)).astype(np.float32)


def music(random: Random, seconds: float) -> Sound:
    """Chords and beats that repeat, as music does."""
    count = round(seconds * RATE)
    sound = np.zeros(count, np.float32)
    beat = 60 / random.uniform(70, 140)
    root = random.uniform(90, 220)
    chords = [root * 2 ** (np.array(random.choice(12, 3, replace=False)) / 12) for _ in range(4)]
    for number in range(int(seconds / beat)):
        first = round(number * beat * RATE)
        length = min(round(random.choice([0.5, 1, 2]) * beat * RATE), count - first)
        moments = np.arange(length) / RATE
        decay = np.exp(-moments * random.uniform(2, 6))
        for note in chords[number // 4 % 4]:
            if random.random() < 0.8:
                tone = sum(np.sin(2 * np.pi * note * part * moments) / part for part in range(1, 7))
                sound[first : first + length] += (tone * decay * random.uniform(0.3, 1)).astype(np.float32)
        hit = min(RATE // 10, count - first)
        drum = smooth_noise(random, RATE // 10, 100, 8000)[:hit] * np.exp(-np.arange(hit) / (RATE * 0.02))
        sound[first : first + hit] += (drum * random.uniform(0.2, 1)).astype(np.float32)
    return sound / (sound.std() + 1e-9)


def voices(random: Random, seconds: float) -> Sound:
    """Syllables of a buzz through three resonances each, with pauses."""
    count = round(seconds * RATE)
    sound = np.zeros(count, np.float32)
    pitch = random.uniform(90, 230)
    at = 0.0
    while at < seconds - 0.5:
        for _ in range(random.integers(3, 14)):
            length = round(random.uniform(0.09, 0.28) * RATE)
            first = round(at * RATE)
            if first + length >= count:
                break
            moments = np.arange(length) / RATE
            phase = 2 * np.pi * np.cumsum(pitch * (1 + 0.1 * np.sin(2 * np.pi * 3 * moments))) / RATE
            formants = random.uniform([300, 900, 2200], [900, 2200, 3500])
            buzz = np.zeros(length)
            for part in range(1, 30):
                hertz = pitch * part
                gain = sum(1 / (1 + ((hertz - formant) / 120) ** 2) for formant in formants)
                buzz += gain * np.sin(part * phase)
            hiss = smooth_noise(random, length, 3000, 9000) * random.choice([0, 0, 0.6])
            shape = np.hanning(length) ** 0.5
            sound[first : first + length] += ((buzz + hiss) * shape).astype(np.float32)
            at += length / RATE
        at += random.uniform(0.2, 2.5)
    return sound / (sound.std() + 1e-9)


def surroundings(random: Random, seconds: float) -> Sound:
    """Wind or a street: noise that comes and goes, and steps, doors, calls."""
    count = round(seconds * RATE)
    knots = np.exp(random.normal(0, 0.6, max(4, int(seconds * 1.5))))
    course = np.interp(np.linspace(0, len(knots) - 1, count), np.arange(len(knots)), knots)
    sound = smooth_noise(random, count, 80, random.uniform(800, 9000)) * course
    for _ in range(int(seconds * random.uniform(0.2, 1.5))):
        length = round(random.uniform(0.05, 0.6) * RATE)
        first = random.integers(0, max(1, count - length))
        event = smooth_noise(random, length, random.uniform(80, 1500), random.uniform(2000, 10000))
        event *= np.exp(-np.arange(length) / (length * 0.2)) * random.uniform(1, 6)
        sound[first : first + length] += event[: count - first]
    return (sound / (sound.std() + 1e-9)).astype(np.float32)


def made_sound(seed: int, seconds: float) -> Sound:
    """Scenes of 8 to 40 seconds, each of one to three of the kinds above at levels of its own."""
    random = np.random.default_rng(seed)
    scenes: list[Sound] = []
    total = 0.0
    while total < seconds:
        length = min(random.uniform(8, 40), seconds - total + 0.1)
        scene = np.zeros(round(length * RATE), np.float32)
        for kind in random.choice([music, voices, surroundings], random.integers(1, 4), replace=False):
            scene += kind(random, length)[: len(scene)] * 10 ** (random.uniform(-40, -20) / 20)
        scenes.append(scene)
        total += length
    return np.concatenate(scenes)[: round(seconds * RATE)]


def film_sound(name: str) -> Sound:
    return sound_of(FILMS / name if name != "sample.mp4" else ROOT / "tests" / "sample" / name, RATE)


# --- what is done to a recording ---


def whole(sound: Sound) -> Recording:
    seconds = len(sound) / RATE
    return Recording(sound.copy(), [Part((0.0, seconds), (0.0, seconds))])


def between(recording: Recording, start: float, end: float) -> Recording:
    """What a recording holds from ``start`` to ``end``."""
    parts = []
    for part in recording.parts:
        first, last = max(start, part.recording[0]), min(end, part.recording[1])
        if first < last:
            film = None
            if part.film is not None:
                speed = (part.film[1] - part.film[0]) / (part.recording[1] - part.recording[0])
                begin = part.film[0] + (first - part.recording[0]) * speed
                film = (begin, begin + (last - first) * speed)
            parts.append(Part(film, (first - start, last - start)))
    return Recording(recording.sound[round(start * RATE) : round(end * RATE)], parts)


def joined(*recordings: Recording) -> Recording:
    """Recordings one after the other."""
    parts, at = [], 0.0
    for recording in recordings:
        for part in recording.parts:
            parts.append(Part(part.film, (part.recording[0] + at, part.recording[1] + at)))
        at += len(recording.sound) / RATE
    return Recording(np.concatenate([recording.sound for recording in recordings]), parts)


def other_sound(random: Random, seconds: float) -> Recording:
    sound = made_sound(int(random.integers(1 << 30)), seconds)
    return Recording(sound, [Part(None, (0.0, len(sound) / RATE))])


def moment(seconds: float) -> float:
    """The next moment at which a sample stands."""
    return round(seconds * RATE) / RATE


def shifted(recording: Recording, random: Random) -> Recording:
    """Something else before the film, or the film's begin missing."""
    seconds = len(recording.sound) / RATE
    if random.random() < 0.5:
        return joined(other_sound(random, random.uniform(0.4, 20)), recording)
    return between(recording, moment(random.uniform(0.3, min(10, seconds / 4))), seconds)


def cut(recording: Recording, random: Random, scenes: int) -> Recording:
    """``scenes`` parts of the film of up to 20 seconds taken out."""
    seconds = len(recording.sound) / RATE
    share = seconds / (scenes + 1)
    pieces: list[Recording] = []
    at = 0.0
    for number in range(scenes):
        out = random.uniform(min(2, share / 4), min(20, share / 2.5))
        middle = share * (number + 1) + random.uniform(-0.1, 0.1) * share
        pieces.append(between(recording, at, moment(middle - out / 2)))
        at = moment(middle + out / 2)
    return joined(*pieces, between(recording, at, seconds))


def with_advert(recording: Recording, random: Random) -> Recording:
    """Something else put in between."""
    seconds = len(recording.sound) / RATE
    at = moment(random.uniform(0.3, 0.7) * seconds)
    advert = other_sound(random, random.uniform(4, 30))
    return joined(between(recording, 0.0, at), advert, between(recording, at, seconds))


def at_speed(recording: Recording, sound: Sound, speed: float) -> Recording:
    parts = [
        Part(part.film, (part.recording[0] / speed, part.recording[1] / speed)) for part in recording.parts
    ]
    return replace(recording, sound=sound, parts=parts)


def resampled(recording: Recording, rate: int) -> Recording:
    """The sound as if it had been recorded at ``rate``: faster and higher where that is more than `RATE`."""
    resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
    frame = av.AudioFrame.from_ndarray(recording.sound[None], format="flt", layout="mono")
    frame.sample_rate = rate
    out = [*resampler.resample(frame), *resampler.resample(None)]
    return at_speed(recording, np.concatenate([part.to_ndarray()[0] for part in out]), rate / RATE)


def stretched(recording: Recording, speed: float) -> Recording:
    """Faster at the same pitch, by ffmpeg's atempo."""
    graph = av.filter.Graph()
    source = graph.add_abuffer(sample_rate=RATE, format="flt", layout="mono", time_base=Fraction(1, RATE))
    tempo, sink = graph.add("atempo", f"{speed:.8f}"), graph.add("abuffersink")
    source.link_to(tempo)
    tempo.link_to(sink)
    graph.configure()
    out: list[Sound] = []

    def drain() -> None:
        while True:
            try:
                out.append(sink.pull().to_ndarray()[0])
            except (av.error.BlockingIOError, av.error.EOFError):
                return

    for first in range(0, len(recording.sound), RATE):
        frame = av.AudioFrame.from_ndarray(recording.sound[None, first : first + RATE], "flt", "mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, first, Fraction(1, RATE)
        source.push(frame)
        drain()
    source.push(None)
    drain()
    return at_speed(recording, np.concatenate(out), speed)


@lru_cache(maxsize=64)
def spoken(text: str) -> Sound:
    voice = make_voice(VoiceSettings(name="hibari"), "en")
    take = voice.speak(text)
    moments = np.arange(round(len(take.samples) * RATE / take.rate)) * take.rate / RATE
    return np.interp(moments, np.arange(len(take.samples)), take.samples).astype(np.float32)


@lru_cache
def lines() -> tuple[str, ...]:
    cues = described_lines(DREAM / "descriptions-jjhunt.en.vtt")
    return tuple(text for _, text in cues if len(text) < 120)


def narrated(recording: Recording, random: Random, share: float = 0.4) -> Recording:
    """A narrator over about that share of the film, which is lowered by 12 to 20 dB with ramps of 0.3 s."""
    sound = recording.sound.copy()
    level = max(float(np.sqrt(np.mean(np.square(sound)))), 10 ** (-35 / 20))
    gain = np.ones(len(sound), np.float32)
    voice = np.zeros(len(sound), np.float32)
    at = random.uniform(0.5, 4.0)
    ramp = round(0.3 * RATE)
    while True:
        take = spoken(lines()[random.integers(min(40, len(lines())))])
        first = round(at * RATE)
        if first + len(take) + ramp >= len(sound):
            break
        loud = take / (np.sqrt(np.mean(np.square(take))) + 1e-9) * level * 10 ** (random.uniform(3, 9) / 20)
        voice[first : first + len(take)] += loud
        low = 10 ** (-random.uniform(12, 20) / 20)
        start = max(0, first - ramp)
        course = np.ones(first + len(take) + ramp - start, np.float32)
        course[: first - start] = np.linspace(1, low, first - start)
        course[first - start : first - start + len(take)] = low
        course[first - start + len(take) :] = np.linspace(low, 1, ramp)
        gain[start : start + len(course)] = np.minimum(gain[start : start + len(course)], course)
        at += len(take) / RATE / share * random.uniform(0.6, 1.4)
    return replace(recording, sound=sound * gain + voice)


def noisy(recording: Recording, random: Random) -> Recording:
    level = float(np.sqrt(np.mean(np.square(recording.sound)))) * 10 ** (-random.uniform(15, 25) / 20)
    noise = smooth_noise(random, len(recording.sound), 20, 12_000) * level
    return replace(recording, sound=recording.sound + noise)


def filtered(recording: Recording, random: Random) -> Recording:
    """Bass and treble turned by up to 9 dB, another loudness."""
    spectrum = np.fft.rfft(recording.sound)
    octaves = np.log2(np.maximum(20, np.fft.rfftfreq(len(recording.sound), 1 / RATE)) / 1000)
    tilt = random.uniform(-3, 3) * np.clip(octaves, -3, 3) + random.uniform(-10, 3)
    sound = np.fft.irfft(spectrum * 10 ** (tilt / 20), len(recording.sound))
    return replace(recording, sound=sound.astype(np.float32))


CODERS = {"mp3": ("libmp3lame", "mp3", "fltp", 64_000), "opus": ("libopus", "ogg", "flt", 24_000)}


def coded(recording: Recording, name: str) -> Recording:
    codec, muxer, pixels, bits = CODERS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"coded.{name}"
        with av.open(str(path), "w", format=muxer) as container:
            stream: Any = container.add_stream(codec, rate=RATE, layout="mono")
            stream.codec_context.format = pixels
            stream.codec_context.bit_rate = bits
            peak = max(1.0, float(np.abs(recording.sound).max()))
            frame = av.AudioFrame.from_ndarray(recording.sound[None] / peak, format="flt", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = RATE, 0, Fraction(1, RATE)
            container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
        return replace(recording, sound=sound_of(path, RATE))


# --- cases ---

Change = Callable[[Recording, Random], Recording]


def _speed(random: Random) -> float:
    return float(random.choice([25 / 24, 24 / 25, 1001 / 1000, 25 * 1001 / 24000]))


KINDS: dict[str, list[Change]] = {
    "shifted": [shifted],
    "25/24, pitch up": [lambda r, _: resampled(r, 50_000)],
    "25/24, pitch kept": [lambda r, _: stretched(r, 25 / 24)],
    "24/25, pitch kept": [lambda r, _: stretched(r, 24 / 25)],
    "1001/1000": [lambda r, _: resampled(r, 48_048)],
    "drift": [lambda r, random: resampled(r, RATE + int(random.integers(-48, 49)))],
    "one scene out": [lambda r, random: cut(r, random, 1)],
    "three scenes out": [lambda r, random: cut(r, random, 3)],
    "advert in": [with_advert],
    "narrated": [narrated],
    "mp3 64k": [lambda r, _: coded(r, "mp3")],
    "opus 24k": [lambda r, _: coded(r, "opus")],
    "noise": [noisy],
    "filter": [filtered],
    "narrated, scene out": [lambda r, random: cut(r, random, 1), narrated],
    "narrated, advert in": [with_advert, narrated],
    "narrated, pitch kept, mp3": [
        narrated,
        lambda r, random: stretched(r, _speed(random)),
        lambda r, _: coded(r, "mp3"),
    ],
    "all of it": [
        lambda r, random: cut(r, random, 1),
        with_advert,
        shifted,
        narrated,
        filtered,
        lambda r, random: resampled(r, round(RATE * _speed(random))),
        noisy,
        lambda r, _: coded(r, "opus"),
    ],
}

SETS: dict[str, list[str | int]] = {
    "tuning": ["sintel-trailer.mp4", "sample.mp4", 1, 2],
    "judging": ["tears-of-steel-battle.webm", "sintel-excerpt.mp4", "rabbit/video.mp4", 101, 102, 103],
}
"""Films, and seeds of made sounds of one and a half to three minutes."""


@dataclass(frozen=True)
class Outcome:
    """``errors`` in ms where the film is covered that the recording holds; the shares are of the film."""

    errors: npt.NDArray[np.float64]
    held: int
    false: int
    lacking: int
    refusal: str = ""


def film_second_truth(parts: list[Part], second: float) -> float | None:
    """Where in the recording a second of the film stands; None: it lacks it."""
    for part in parts:
        if part.film is not None and part.film[0] <= second < part.film[1]:
            share = (second - part.film[0]) / (part.film[1] - part.film[0])
            return part.recording[0] + share * (part.recording[1] - part.recording[0])
    return None


def judged(alignment: Alignment, recording: Recording) -> Outcome:
    errors, held, false, lacking = [], 0, 0, 0
    for second in np.arange(0.025, alignment.film_duration, 0.05).tolist():
        truth = film_second_truth(recording.parts, second)
        piece = alignment.piece_at(second)
        if truth is None:
            lacking += 1
            false += piece is not None
        else:
            held += 1
            if piece is not None:
                errors.append(1000 * abs(piece.recording_second(second) - truth))
    return Outcome(np.array(errors), held, false, lacking)


def listened(sound: Sound) -> Sound:
    """The sound as it is listened to."""
    resampler = av.AudioResampler(format="flt", layout="mono", rate=LISTENING_RATE)
    frame = av.AudioFrame.from_ndarray(sound[None], format="flt", layout="mono")
    frame.sample_rate = RATE
    out = [*resampler.resample(frame), *resampler.resample(None)]
    return np.concatenate([part.to_ndarray()[0] for part in out])


def heard(sound: Sound) -> Fingerprint:
    """The fingerprint of a sound, as of a file."""
    return fingerprint([SoundBlock(0.0, listened(sound))])


def sounds(names: list[str | int]) -> Iterator[tuple[str, Sound]]:
    for name in names:
        if isinstance(name, str):
            yield name, film_sound(name)
        else:
            yield f"made {name}", made_sound(name, float(np.random.default_rng(name).uniform(90, 180)))


def case(sound: Sound, kind: str, seed: int) -> Recording:
    random = np.random.default_rng([seed, sorted(KINDS).index(kind)])
    recording = whole(sound)
    for change in KINDS[kind]:
        recording = change(recording, random)
    return recording


def compare(name: str, kinds: list[str], verbose: bool) -> None:
    outcomes: dict[str, list[Outcome]] = {kind: [] for kind in kinds}
    for number, (label, sound) in enumerate(sounds(SETS[name])):
        film = heard(sound)
        for kind in kinds:
            recording = case(sound, kind, 1000 * number + (7 if name == "judging" else 0))
            try:
                alignment = align_recording(film, heard(recording.sound))
            except SoundError as error:
                held = sum(
                    film_second_truth(recording.parts, s) is not None
                    for s in np.arange(0, len(sound) / RATE, 0.05)
                )
                outcomes[kind].append(Outcome(np.array([]), held, 0, 0, str(error)))
                print(f"  {label}, {kind}: refused: {error}", flush=True)
                continue
            outcome = judged(alignment, recording)
            outcomes[kind].append(outcome)
            if verbose:
                print(f"  {label}, {kind}: {row([outcome])}", flush=True)
                for piece in alignment.pieces:
                    print(f"      {piece.film} {piece.recording} {piece.speed:.5f} {piece.confidence:.2f}")
                print("      truth:", [(p.film, p.recording) for p in recording.parts])
    print(f"{'kind':28} {'median':>7} {'95 %':>7} {'max':>8} {'>50 ms':>7} {'covered':>8} {'false':>6}")
    for kind, results in outcomes.items():
        print(f"{kind:28} {row(results)}")
    print(f"{'all':28} {row([result for results in outcomes.values() for result in results])}")


def row(outcomes: list[Outcome]) -> str:
    errors = np.concatenate([outcome.errors for outcome in outcomes])
    if not len(errors):
        return "nothing"
    held = sum(outcome.held for outcome in outcomes)
    lacking = sum(outcome.lacking for outcome in outcomes)
    false = sum(outcome.false for outcome in outcomes) / lacking if lacking else 0.0
    median, most = np.percentile(errors, [50, 95])
    beyond = float(np.mean(errors > 50))
    return (
        f"{median:7.1f} {most:7.1f} {errors.max():8.1f} {beyond:7.2%} {len(errors) / held:8.1%} {false:6.1%}"
    )


def long_film(parts: int = 12) -> None:
    """Two hours, of which the recording lacks ten minutes, at 25/24 and with noise."""
    base = made_sound(77, 600.0)

    def part(number: int) -> Sound:
        """Ten minutes at a speed of their own, so that they sound like no others."""
        speed = 0.75 + 0.05 * number
        moments = np.arange(int(len(base) / speed)) * speed
        sound = np.interp(moments, np.arange(len(base)), base).astype(np.float32)
        return sound[::-1].copy() if number % 2 else sound

    def film_blocks() -> Iterator[SoundBlock]:
        for number in range(parts):
            yield SoundBlock(0.0, listened(part(number)))

    def recording_blocks() -> Iterator[SoundBlock]:
        random = np.random.default_rng(1)
        for number in range(parts):
            if number != parts // 2:
                recording = resampled(noisy(whole(part(number)), random), 50_000)
                yield SoundBlock(0.0, listened(recording.sound))

    begin = time.process_time()
    film, recording = fingerprint(film_blocks()), fingerprint(recording_blocks())
    before = time.process_time()
    peak_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    alignment = align_recording(film, recording)
    seconds = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{film.duration / 60:.0f} minutes of film, {recording.duration / 60:.0f} of recording:")
    print(f"making and fingerprints {before - begin:.0f} s, fitting {seconds:.0f} s of one core")
    print(f"peak {peak_before:.0f} MB before fitting (with the sounds that are made), {peak:.0f} MB after")
    for piece in alignment.pieces:
        print(f"  {piece.film} {piece.recording} {piece.speed:.5f} {piece.confidence:.2f}")


def main(arguments: list[str]) -> None:
    parser = command_line(__doc__)
    parser.add_argument("--set", choices=list(SETS), default="tuning")
    parser.add_argument("--kind", action="append", choices=list(KINDS))
    parser.add_argument("--verbose", action="store_true", help="every case, with its pieces and the truth")
    parser.add_argument("--long", action="store_true", help="two hours")
    options = parser.parse_args(arguments)
    if options.long:
        long_film()
    else:
        compare(options.set, options.kind or list(KINDS), options.verbose)


if __name__ == "__main__":
    main(sys.argv[1:])
