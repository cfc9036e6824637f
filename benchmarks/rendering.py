"""How long it takes to render a described film, and whether memory stays flat with the film's length.

    python benchmarks/rendering.py                              # made films of 10 and 60 minutes
    python benchmarks/rendering.py --minutes 10 180 --layouts 5.1 --makes film --folder KEPT

The made films have a small picture (it is copied, so its size hardly counts), sound all along in stereo and
in 5.1, a line of AD every 12 seconds and speech between them; the fake voice speaks. Everything is made by
`shotad.sound.render`, each time by a process of its own. Its time by the clock and on the
processors is told as a share of the film's length, without the voice's own, beside that of a plain copy of
the film's packets, with the most memory that it had at once. The target is a tenth of the length (on the
processors, for the clock tells of what else runs there), and memory that differs by at most 15 % between the
shortest and the longest film.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from table_parts.usage import peak

from shotad.core import (
    Given,
    Interval,
    Shot,
    Slot,
    Utterance,
    WorkFolder,
    load_config,
    shot_rows,
    slot_id,
    slot_rows,
    utterance_rows,
    write_settings,
)
from shotad.film import open_film
from shotad.script import Cue, FilmId, Track, save_track
from shotad.sound import Take, parse_wanted, wanted_files
from shotad.sound.fake_voice import FakeVoice
from shotad.sound.render import render

TENTH, FLAT = 0.1, 0.15
RATE, RASTER = 48000, 25
LOOP = 64.0
"""Seconds of film that are encoded, then repeated: whole packets of sound and picture."""
EVERY, SPEECH = 12.0, (6.0, 11.0)
"""Seconds from line to line, and when people speak between them."""
LINES = (
    "She opens the old door, and a lamp goes out.",
    "Rain falls on the empty street.",
    "A tall man in a grey coat walks past the burning house.",
    "Close by, a person looks up.",
    "He turns away.",
)
CHANNELS = {"stereo": 2, "5.1": 6}


def make_film(path: Path, minutes: float, layout: str) -> Path:
    """A film of about so many minutes: one loop encoded, its packets repeated."""
    count = max(1, round(minutes * 60 / LOOP))
    with tempfile.TemporaryDirectory() as folder:
        loop = Path(folder) / "loop.mkv"
        _encode(loop, layout)
        with av.open(str(loop)) as source, av.open(str(path), "w") as out:
            streams = {s.index: out.add_stream_from_template(s) for s in source.streams}
            for turn in range(count):
                source.seek(0)
                for packet in source.demux():
                    if packet.pts is None or not 0 <= float(packet.pts * packet.time_base) < LOOP - 1e-3:
                        continue
                    for_loop = round(turn * LOOP / packet.time_base)
                    packet.pts, packet.dts = packet.pts + for_loop, packet.dts + for_loop
                    packet.stream = streams[packet.stream.index]
                    out.mux(packet)
    return path


def _encode(path: Path, layout: str) -> None:
    with av.open(str(path), "w") as out:
        picture = out.add_stream("libx264", rate=RASTER, options={"preset": "ultrafast", "g": "50"})
        picture.width, picture.height, picture.pix_fmt = 160, 90, "yuv420p"
        sound = out.add_stream("ac3", rate=RATE, layout=layout)
        sound.bit_rate = 192000 * CHANNELS[layout] // 2
        for number in range(round(LOOP * RASTER)):
            image = np.full((90, 160, 3), number // RASTER * 37 % 256, np.uint8)
            frame = av.VideoFrame.from_ndarray(image, "rgb24")
            out.mux(picture.encode(frame))
        out.mux(picture.encode(None))
        for at, block in enumerate(_sound(CHANNELS[layout])):
            heard = av.AudioFrame.from_ndarray(np.ascontiguousarray(block.T), "fltp", layout)
            heard.sample_rate, heard.pts = RATE, at * RATE
            out.mux(sound.encode(heard))
        out.mux(sound.encode(None))


def _sound(channels: int) -> Iterator[npt.NDArray[np.float32]]:
    """A second after the other, ``float32[RATE, channels]``: noise that comes and goes, and peaks."""
    generator = np.random.default_rng(1)
    for second in range(round(LOOP)):
        loud = 0.02 + 0.1 * (SPEECH[0] <= second % EVERY < SPEECH[1])
        block = generator.standard_normal((RATE, channels)) * loud
        block[:: RATE // 3] *= 6
        yield np.clip(block, -1, 1).astype(np.float32)


def write_folder(place: Path, film: Path) -> int:
    """A work folder as a run would leave it; how many lines it has."""
    with open_film(film) as opened:
        info = opened.info
    starts = np.arange(0.5, info.duration - EVERY, EVERY).tolist()
    slots = [Slot(slot_id(at), Interval(at, at + SPEECH[0] - 1), 13) for at in starts]
    cues = tuple(
        Cue(slot.id, slot.id, Interval(slot.interval.start, slot.interval.start + 3), LINES[i % len(LINES)])
        for i, slot in enumerate(slots)
    )
    speech = [Interval(at + SPEECH[0], at + SPEECH[1]) for at in starts]
    with WorkFolder(place) as folder:
        write_settings(folder, load_config(None, ()), film, Given())
        shots = shot_rows((Shot(0, Interval(0.0, info.duration)),), [])
        folder.write_json("shots.json", {"end": info.duration, "shots": shots})
        folder.write_json(
            "speech.json", {"key": "k", "speech": utterance_rows([Utterance(one, "words") for one in speech])}
        )
        folder.write_json("slots.json", {"slots": slot_rows(slots)})
        track = Track(FilmId(film.name, info.fingerprint, info.duration), "en", (), "0.1.0", cues)
        save_track(track, folder.path, film.name)
    return len(cues)


class Timed(FakeVoice):
    """A voice that says how long it spoke, by the clock and on the processor."""

    def __init__(self) -> None:
        super().__init__()
        self.wall = self.cpu = 0.0

    def speak(self, text: str, speed: float = 1.0) -> Take:
        """See `FakeVoice`."""
        wall, cpu = time.perf_counter(), time.thread_time()
        take = super().speak(text, speed)
        self.wall, self.cpu = self.wall + time.perf_counter() - wall, self.cpu + time.thread_time() - cpu
        return take


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock and on the processors without the voice's, and MB at most; the voice's seconds."""

    wall: float
    cpu: float
    memory: float
    voice: float


def render_voiced(film: Path, place: Path, make: str) -> Timed:
    """One file, in this process; the voice that spoke."""
    voice, config = Timed(), load_config(None, ())
    with open_film(film) as opened, WorkFolder(place) as folder:
        wanted = wanted_files(parse_wanted([make]), film.name, place)
        render(opened, folder, config, wanted, voice=voice, force=True)
    return voice


def render_one(film: Path, place: Path, make: str) -> Cost:
    """One file, in this process, and what it cost."""
    wall, cpu = time.perf_counter(), time.process_time()
    voice = render_voiced(film, place, make)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Cost(wall - voice.wall, cpu - voice.cpu, peak(), voice.wall)


def copy_one(film: Path, place: Path) -> Cost:
    """The film's packets, copied into another file."""
    wall, cpu = time.perf_counter(), time.process_time()
    with av.open(str(film)) as source, av.open(str(place / f"copy{film.suffix}"), "w") as out:
        streams = {s.index: out.add_stream_from_template(s) for s in source.streams}
        for packet in source.demux():
            if packet.dts is not None:
                packet.stream = streams[packet.stream.index]
                out.mux(packet)
    return Cost(time.perf_counter() - wall, time.process_time() - cpu, peak(), 0.0)


def measured(film: Path, place: Path, make: str) -> Cost:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--one", str(film), str(place), make]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return Cost(**found)


def report(folder: Path, minutes: Sequence[float], layout: str, makes: Sequence[str]) -> bool:
    """Print what each file costs with this sound; whether all targets are met."""
    memory: dict[str, list[float]] = {make: [] for make in makes}
    met = True
    for length in minutes:
        film = folder / f"made-{layout}-{length:g}.mkv"
        if not film.exists():
            make_film(film, length, layout)
        place = folder / f"{film.stem}-work"
        lines, seconds = write_folder(place, film), _length(film)
        print(f"{layout}, {seconds / 60:.1f} minutes, {lines} lines:")
        for make in ("copy", *makes):
            cost = measured(film, place, make)
            print(
                f"  {make:5} {cost.wall:6.1f} s ({cost.wall / seconds:.2%} of the length), "
                f"{cost.cpu:6.1f} s of processor ({cost.cpu / seconds:.2%}), {cost.memory:.0f} MB"
                + (f"; the voice {cost.voice:.1f} s" if cost.voice else ""),
                flush=True,
            )
            if make in memory:
                memory[make].append(cost.memory)
                met = met and cost.cpu <= TENTH * seconds
    for make, used in memory.items():
        grown = max(used) / min(used) - 1
        met = met and grown <= FLAT
        print(f"  memory for {make}: {', '.join(f'{mb:.0f}' for mb in used)} MB, {grown:.0%} apart")
    return met


def _length(film: Path) -> float:
    with open_film(film) as opened:
        return float(opened.info.duration)


def main() -> None:
    """Print a paragraph for each film; exit code 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", nargs="+", type=float, default=[10.0, 60.0])
    parser.add_argument("--layouts", nargs="+", choices=list(CHANNELS), default=list(CHANNELS))
    parser.add_argument("--makes", nargs="+", default=["film", "ad", "mix"])
    parser.add_argument("--folder", type=Path, help="where made films are kept for the next time")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        film, place, make = Path(chosen.one[0]), Path(chosen.one[1]), chosen.one[2]
        cost = copy_one(film, place) if make == "copy" else render_one(film, place, make)
        print(json.dumps(asdict(cost)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        met = [report(folder, chosen.minutes, layout, chosen.makes) for layout in chosen.layouts]
    print("All targets are met." if all(met) else "A target is MISSED.")
    sys.exit(not all(met))


if __name__ == "__main__":
    main()
