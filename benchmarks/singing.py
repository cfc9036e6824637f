"""How often slots with a voice in them are marked, and others are not: songs, shouts, playbacks, film sound.

    python benchmarks/singing.py [--films FOLDER]

First the sounds of tests/labels/songs.yaml in windows of 5 s, one every 2.5 s: how many are marked of those
that hold a second of singing at least, and of those of instruments, speech, a crowd. Then singing alone over
film sound (that of speech.py), at several levels. Then the slots of real clips, planned as `shotad describe`
plans them where nothing but the sound is known. Last what it costs.

Beside it stands what speech detection alone would say: `speech`, a second of the window is taken for speech,
so that no slot would lie there; and `Silero low`, the same with a quarter of its threshold.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import clips
import numpy as np
import yaml
from common import DATA, LABELS, Share, command_line, cpu, sound_of
from speech import RATE, Signal, backgrounds, hear, ours, rms

from shotad.core import (
    Interval,
    Shot,
    Utterance,
    weight_store as weights,
)
from shotad.core.config.film import SlotSettings, SpeechSettings
from shotad.core.errors import WeightsError
from shotad.core.types import SlotVoice
from shotad.film import VoiceTimes, free_time, plan_slots
from shotad.film.singing import mark_slots, seconds_shared, voices_in
from shotad.film.speech import LEVELS, SPEECH_WEIGHTS, WINDOW, Leveller, Vad, speech_intervals
from shotad.film.voice_net import VoiceNet

LENGTH = 5.0
SUNG = 1.0
"""Seconds of singing from which a window counts as sung."""
DECIBELS = (5, 0, -5)
"""Of the singing over film sound."""
VOCAL_FLOOR = -14.0
"""Decibels of the voices under the whole song from which they count as sung: below it lies what the separator
left of the instruments."""
Test = Callable[[Interval], bool]


def voices_of(sound: Signal) -> VoiceTimes:
    net = VoiceNet()
    return voices_in(np.concatenate([net.feed(sound), net.finish()]), len(sound) / RATE)


def silero_low(sound: Signal) -> tuple[Interval, ...]:
    """What Silero takes for speech with a quarter of our threshold."""
    vad, leveller = Vad(weights.weights_file(SPEECH_WEIGHTS[0]), channels=len(LEVELS)), Leveller()
    padded = np.pad(sound, (0, -len(sound) % WINDOW))
    chances = np.concatenate([vad.feed(leveller.feed(padded)), vad.feed(leveller.finish())]).mean(axis=1)
    return speech_intervals(chances, len(sound) / RATE, threshold=0.1, release=0.05)


def marks(sound: Signal) -> dict[str, Test]:
    """What is said of a time in this sound, by name."""
    voices, speech, low = voices_of(sound), ours(sound), silero_low(sound)

    def marked(voice: SlotVoice) -> Test:
        return lambda time: mark_slots([_slot(time)], voices)[0].voice is voice

    return {
        "song": marked(SlotVoice.SONG),
        "shout": marked(SlotVoice.SHOUT),
        "speech": lambda time: seconds_shared(speech, time) >= 1,
        "Silero low": lambda time: seconds_shared(low, time) >= 1,
    }


def _slot(time: Interval) -> Any:
    return plan_slots([time], [], SlotSettings(minimum=2), film=Interval(0, time.end + 1))[0]


def windows(length: float) -> Iterator[Interval]:
    start = 0.0
    while start == 0 or start + LENGTH <= length:
        yield Interval(start, min(start + LENGTH, length))
        start += LENGTH / 2


def sung_steps(vocals: Signal, song: Signal) -> Signal:
    """Where somebody sings, every hundredth of a second: 1 or 0."""

    def loudness(sound: Signal) -> Signal:
        frames = sound[: len(sound) // 160 * 160].reshape(-1, 160).astype(np.float64)
        power = np.convolve((frames**2).mean(axis=1), np.full(3, 1 / 3), "same")
        return np.asarray(np.sqrt(power), np.float32)

    length = min(len(vocals), len(song))
    voice, whole = loudness(vocals[:length]), loudness(song[:length])
    share = 20 * np.log10(voice / np.maximum(whole, 1e-6) + 1e-9)
    loud = (voice > 0.1 * np.percentile(voice, 95)) & (voice > 1e-3)
    return np.asarray((share > VOCAL_FLOOR) & loud, np.float32)


def is_sung(steps: Signal, time: Interval) -> bool:
    return float(steps[round(time.start * 100) : round(time.end * 100)].sum()) / 100 >= SUNG


def fetched(row: dict[str, Any]) -> Path | None:
    try:
        return weights.checked_file(clips._file(row), clips.NoProgress())
    except WeightsError as error:
        print(f"left out: {row['name']}: {error.what}", file=sys.stderr)
        return None


def count(title: str, tests: dict[str, list[bool]]) -> None:
    shares = [f"{name} {Share(sum(hits), len(hits))}" for name, hits in tests.items()]
    print(f"{title:24s} {'; '.join(shares)}", flush=True)


def sounds_part(rows: Sequence[dict[str, Any]]) -> dict[str, list[Signal]]:
    """Prints the windows of each kind; the voices of songs that have them apart, by half."""
    found: dict[tuple[str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    singing: dict[str, list[Signal]] = defaultdict(list)
    cases: Counter[tuple[str, str]] = Counter()
    for row in rows:
        path = fetched(row)
        if path is None:
            continue
        sound = sound_of(path, RATE)
        steps = None
        if "vocals" in row:
            apart = fetched({**row, **row["vocals"], "name": f"{row['name']}-vocals"})
            if apart is None:
                continue
            vocals = sound_of(apart, RATE)
            steps = sung_steps(vocals, sound)
            singing[row["half"]].append(vocals)
        kind = (row["half"], row["kind"])
        cases[kind] += 1
        tests = marks(sound)
        for time in windows(len(sound) / RATE):
            if steps is None or is_sung(steps, time):
                for name, test in tests.items():
                    found[kind][name].append(test(time))
    for (half, kind), hits in sorted(found.items(), reverse=True):
        count(f"{half}, {cases[half, kind]} {kind}", hits)
    return singing


def mixes_part(singing: dict[str, list[Signal]], films: Path) -> None:
    """Prints how much singing over film sound is marked, and how much of that film sound alone."""
    grounds = backgrounds(films)
    for ground_name, ground in grounds.items():
        tests = marks(ground)
        times = list(windows(len(ground) / RATE))
        count(f"{ground_name} alone", {name: [test(time) for time in times] for name, test in tests.items()})
    for half, every in sorted(singing.items(), reverse=True):
        for decibels in DECIBELS:
            hits: dict[str, list[bool]] = defaultdict(list)
            for vocals in every:
                for ground in grounds.values():
                    under = np.tile(ground, -(-len(vocals) // len(ground)))[: len(vocals)]
                    steps = sung_steps(vocals, vocals)
                    sung = np.repeat(steps, 160) > 0
                    gain = 10 ** (decibels / 20) * rms(under) / rms(vocals[: len(sung)][sung])
                    tests = marks(np.asarray(under + gain * vocals, np.float32))
                    for time in windows(len(vocals) / RATE):
                        if is_sung(steps, time):
                            for name, test in tests.items():
                                hits[name].append(test(time))
            count(f"{half}, sung {decibels:+d} dB", hits)


def films_part(labels: dict[str, Any], films: Path) -> None:
    """Prints what became of the slots of real clips."""
    known = clips.read_clips()
    unseen = {row["name"]: row for row in yaml.safe_load((LABELS / "unseen.yaml").read_text("utf-8"))}
    total: Counter[str] = Counter()
    seconds = taken = 0.0
    for name, label in labels.items():
        if name in known:
            try:
                path: Path | None = clips.film_of(known[name])
            except WeightsError as error:
                print(f"left out: {name}: {error.what}", file=sys.stderr)
                continue
        else:
            path = fetched(unseen[name]) if name in unseen else films / "films" / name
        if path is None or not path.exists():
            continue
        sound = hear(path)
        film = Interval(0, len(sound) / RATE)
        speech = tuple(map(Utterance, ours(sound)))
        slots = plan_slots(
            free_time(speech, film.end, SpeechSettings()), [Shot(0, film)], SlotSettings(), film=film
        )
        voices: list[VoiceTimes] = []
        taken += cpu(lambda sound=sound, voices=voices: voices.append(voices_of(sound)))  # type: ignore[misc]
        seconds += film.end
        for slot in mark_slots(slots, voices[0]):
            true = truth(slot.interval, label)
            total[f"{true}, {slot.voice or 'not marked'}"] += 1
            if slot.voice or true in ("song", "shout"):
                print(f"  {name:26s} {slot.interval} {true:8s} {slot.voice or 'not marked'}")
    print(f"{len(labels)} clips: " + "; ".join(f"{what} {number}" for what, number in sorted(total.items())))
    print(f"cost: {100 * taken / seconds:.2f} % of {seconds:.0f} s, processor time")


def truth(time: Interval, label: dict[str, Any]) -> str:
    """What sounds in a slot: song, shout, unsure or none."""
    for kind, least in (("song", 1.0), ("shout", 0.4), ("unsure", 0.2)):
        stretches = [Interval(*pair) for pair in label.get(kind, ())]
        if seconds_shared(stretches, time) >= least:
            return kind
    return "none"


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--films", type=Path, default=DATA, help="the folder that holds films/")
    films = parser.parse_args().films
    labels = yaml.safe_load((LABELS / "songs.yaml").read_text("utf-8"))
    singing = sounds_part(labels["sounds"])
    if (films / "films").is_dir():
        mixes_part(singing, films)
    films_part(labels["films"], films)


if __name__ == "__main__":
    main()
