"""Rendering a described film, beside copying it, and beside copying it with its sound coded once more.

The films have a small picture (it is copied, so its size hardly counts), sound all along, a line of AD every
12 seconds and speech between them; the fake voice speaks, and its own time is taken off.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from table_parts.contests import LENGTHS, Contest, Done, Entrant, Stage, Steps, growth

MINUTES, GROWN = 10.0, 1.0
"""Length of the film of the contest, and of the shortest of the growth."""
LAYOUT, RATE, RASTER = "stereo", 48000, 25
LOOP = 64
"""Seconds of film that are encoded, then repeated: whole packets of sound and picture."""
EVERY, SPEECH = 12.0, (6.0, 11.0)
"""Seconds from line to line, and when people speak between them."""


def plan(stage: Stage) -> Iterator[Contest]:
    """The three ways for a film of ten minutes; growth of rendering."""
    given, seconds = _film(stage, MINUTES)
    film = {"film": given["film"]}
    entrants = [
        Entrant("render --make film", "ours", ours, given),
        Entrant("copying it with its sound coded anew", "limit", copying, {**film, "again": True}),
        Entrant("copying its packets", "limit", copying, film),
    ]
    name = f"film of {seconds / 60:.0f} minutes, {LAYOUT}"
    yield Contest("rendering", name, entrants, seconds, turns=3)
    if stage.grows:
        films = [_film(stage, n * GROWN) for n in LENGTHS]
        texts = [given for given, _ in films]
        yield growth("rendering", "render --make film", ours, texts, "s of film", films[0][1], 2)


def _film(stage: Stage, minutes: float) -> tuple[dict[str, Path], float]:
    """A film of about so many minutes, whole loops, with the work folder of a run; and its length."""
    from bench_film import repeated

    loops, reel = max(1, round(minutes * 60 / LOOP)), stage.folder / "sound.mkv"
    if not reel.exists():
        _encode(reel)
    # A little less than whole loops, so that rounding never adds one.
    film = repeated(reel, stage.folder / f"sound-{loops}.mkv", (loops - 0.5) * LOOP)
    folder = film.with_suffix(".shotad")
    if not (folder / "track.json").exists():
        _describe(film, folder, loops * LOOP)
    return {"film": film, "folder": folder}, float(loops * LOOP)


def _describe(film: Path, folder: Path, seconds: float) -> None:
    """A run with slots and speech that are given."""
    import shotad
    from shotad.script.cue import timecode

    def script(name: str, start: float, end: float) -> Path:
        """A cue for each line, from and to so many seconds after its start."""
        path = film.with_name(f"{film.stem}.{name}.vtt")
        lines = [0.5 + EVERY * number for number in range(int((seconds - 0.5) / EVERY))]
        cues = (f"{timecode(at + start)} --> {timecode(at + end)}\nWords." for at in lines)
        path.write_text("\n\n".join(["WEBVTT", *cues]) + "\n")
        return path

    slots, speech = script("slots", 0.0, SPEECH[0] - 1), script("speech", *SPEECH)
    settings = {"engine": "fake", "threads.features": "none", "scale.method": "none"}
    shotad.describe(film, out=folder, slots=slots, subtitles=speech, settings=settings, worksheet=False)


def _encode(path: Path) -> None:
    """One loop: the colour of the picture changes each second; noise that comes and goes, and peaks."""
    import av
    import numpy as np

    generator = np.random.default_rng(1)
    with av.open(str(path), "w") as out:
        picture: Any = out.add_stream("libx264", rate=RASTER, options={"preset": "ultrafast", "g": "50"})
        picture.width, picture.height, picture.pix_fmt = 160, 90, "yuv420p"
        sound: Any = out.add_stream("ac3", rate=RATE, layout=LAYOUT)
        sound.bit_rate = 192000
        for second in range(LOOP):
            image = av.VideoFrame.from_ndarray(np.full((90, 160, 3), second * 37 % 256, np.uint8), "rgb24")
            for number in range(RASTER):
                image.pts = second * RASTER + number
                out.mux(picture.encode(image))
            loud = 0.02 + 0.1 * (SPEECH[0] <= second % EVERY < SPEECH[1])
            block = generator.standard_normal((2, RATE)).astype(np.float32) * loud
            block[:, :: RATE // 3] *= 6
            heard = av.AudioFrame.from_ndarray(np.clip(block, -1, 1), "fltp", LAYOUT)
            heard.sample_rate, heard.pts = RATE, second * RATE
            out.mux(sound.encode(heard))
        out.mux(picture.encode(None))
        out.mux(sound.encode(None))


# Works


def ours(scratch: Path, film: str, folder: str) -> Steps:
    """`shotad render --make film` on a work folder as `shotad describe` leaves it."""
    from shotad.core import NoProgress, WorkFolder, load_config
    from shotad.film import open_film
    from shotad.sound import Take, run_render
    from shotad.sound.outputs import parse_wanted, wanted_files
    from shotad.sound.own_voices import FakeVoice

    place = Path(shutil.copytree(folder, scratch / "work"))
    spent = [0.0, 0.0]

    class Timed(FakeVoice):
        """A voice that notes how long it spoke, by the clock and on the processor."""

        def speak(self, text: str, speed: float = 1.0) -> Take:
            wall, cpu = time.perf_counter(), time.thread_time()
            take = super().speak(text, speed)
            spent[:] = spent[0] + time.perf_counter() - wall, spent[1] + time.thread_time() - cpu
            return take

    yield None
    with open_film(Path(film)) as opened, WorkFolder(place) as work:
        wanted = wanted_files(parse_wanted(["film"]), Path(film).name, place)
        run_render(opened, work, load_config(None, ()), wanted, NoProgress(), voice=Timed(), force=True)
    yield Done(less_wall=spent[0], less_cpu=spent[1])


def copying(scratch: Path, film: str, again: bool = False) -> Steps:
    """All packets into another file; ``again``: and beside them the sound decoded and coded once more."""
    import av

    yield None
    with av.open(film) as source, av.open(str(scratch / "copy.mkv"), "w") as out:
        streams: dict[int, Any] = {s.index: out.add_stream_from_template(s) for s in source.streams}
        added: Any = out.add_stream("ac3", rate=RATE, layout=LAYOUT) if again else None
        for packet in source.demux():
            if again and packet.stream.type == "audio":
                for frame in packet.decode():
                    out.mux(added.encode(frame))
            if packet.dts is not None:
                packet.stream = streams[packet.stream.index]
                out.mux(packet)
        if again:
            out.mux(added.encode(None))
    yield Done()
