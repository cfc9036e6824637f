"""How full the batches of `shotad predict` are, and how long an engine waits for frames.

The ADs and shots of CMD-AD and TV-AD are those of their annotation; of MAD-Eval only the numbers are known
here (10 films, 6,520 ADs), and its films are taken to be read whole. What runs is the pool of `predict` and
its choice of how many clips are under way. The engine is a stand-in that sleeps for a fixed time at each call
(`--call`), both stages on one card, 16 requests at a time; or a server that takes 16 calls at once. Decoding
is a stand-in too: it sleeps for as long as one of `--cores` processors took to prepare and to read a real
clip of 848x480, which is measured first. The clock runs `--speed` times as fast as it should:
the faster, the more the work of the pool itself and of other programs counts as idle time.

"Before" is what a pool for each clip makes of the same ADs, computed: a batch ends with its clip, and a clip
is prepared before its first question while nothing else goes on. In both a clip is prepared by one processor:
that ffmpeg can decode a film in several threads is left out.

    python benchmarks/batches.py                    # all datasets, both kinds of engine
    python benchmarks/batches.py --dataset tv-ad --engine server --speed 10
"""

from __future__ import annotations

import json
import math
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from common import DATA, FILMS, command_line, cpu

from shotad.core import (
    Abilities,
    Clip,
    Config,
    Identity,
    Interval,
    NoProgress,
    Reply,
    Request,
    RunInputs,
    Shot,
    WorkFolder,
    load_config,
)
from shotad.description import Engines, RunContext, plan_clips, prepare
from shotad.description.stage1 import clip_of
from shotad.engines import AskingPool, ClipOnDemand, NoMemory
from shotad.engines.fake import FakeEngine
from shotad.engines.pool import workers_of
from shotad.evaluation import Dataset, choose_clips, load_dataset
from shotad.evaluation.datasets.dataset import Ad
from shotad.evaluation.predicting.parts import PREPARED_AT_ONCE, ClipPart, clips_at_once
from shotad.film import context_shots, open_film
from shotad.film.slots import join_intervals

BATCH = 16
"""Requests in a call of a model, and calls at once of a server."""
MAD_FILMS = (437, 898)
"""ADs of the shortest and of the longest film of MAD-Eval."""
MAD_ADS, MAD_COUNT, MAD_SECONDS = 6520, 10, 7200.0
GAP = 5.0
"""Seconds between two moments that are decoded through, not sought."""
KEY_FRAME = 2.0
"""Seconds that are decoded in vain after a seek, to the first frame that is wanted."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Processor seconds: to prepare a second of film, and to read and paint the frames of one AD."""

    prepare: float
    read: float


def measured_costs() -> Costs:
    """The costs of a real clip of 848x480, with ADs of 2.5 s and shots of 3.5 s, as CMD-AD has on average."""
    config = load_config(["paper", "cmd-ad"], ["engine=fake", "threads.features=grid", "scale.method=none"])
    film_path = FILMS / "sintel-excerpt.mp4"
    looks = FakeEngine(answer=lambda request: "")
    looks.abilities = Abilities(accepts_images=True)
    with tempfile.TemporaryDirectory() as place, open_film(film_path) as film:
        end = film.info.duration
        inputs = RunInputs(
            slots=_rows(Path(place, "slots.json"), 2.5, end), shots=_rows(Path(place, "shots.json"), 3.5, end)
        )
        with WorkFolder(Path(place, "work")) as folder:
            context = RunContext.of(film, folder, config, inputs, NoProgress())
            plans, _ = plan_clips(prepare(context), context, looks.abilities)  # loads what is loaded once
            context.close()
        with (
            WorkFolder(Path(place, "again")) as folder,
            RunContext.of(film, folder, config, inputs, NoProgress()) as context,
        ):
            preparing = cpu(lambda: plan_clips(prepare(context), context, looks.abilities))
            reading = cpu(lambda: [clip_of(plan, context, looks).read() for plan in plans])
    return Costs(preparing / end, reading / len(plans))


def _rows(path: Path, length: float, end: float) -> Path:
    """A file of intervals of this length, one after the other, up to ``end``."""
    starts = [number * length for number in range(int(end / length))]
    rows = [{"start": f"{start}", "end": f"{start + length}"} for start in starts]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True)
class Video:
    """A part as the simulation takes it: its ADs, and the processor seconds of its preparation and of reading
    each AD."""

    part: ClipPart
    preparing: float
    reading: float


def videos_of(name: str, costs: Costs) -> list[Video]:
    """The videos of a dataset."""
    if name == "mad-eval":
        sizes = np.linspace(*MAD_FILMS, MAD_COUNT)
        sizes = np.round(sizes * MAD_ADS / sizes.sum()).astype(int)
        return [_made_film(number, int(size), costs) for number, size in enumerate(sizes)]
    dataset = load_dataset(name, DATA / name)
    config = load_config(["paper", name])
    videos = []
    for ads in choose_clips(dataset):
        if name == "tv-ad":
            # Its clips are single frames, which are read when they are shown.
            videos.append(Video(ClipPart(None, ads), 0.0, costs.read))
        else:
            seconds = _decoded_seconds(dataset, ads, config)
            videos.append(Video(ClipPart(None, ads), seconds * costs.prepare, costs.read))
    return videos


def _made_film(number: int, size: int, costs: Costs) -> Video:
    time_of_ad = Interval(0.0, 1.0)
    ads = [
        Ad(f"{number}-{ad}", f"film{number}", f"film{number}", time_of_ad, time_of_ad, "")
        for ad in range(size)
    ]
    return Video(ClipPart(None, tuple(ads)), MAD_SECONDS * costs.prepare, costs.read)


def _decoded_seconds(dataset: Dataset, ads: Sequence[Ad], config: Config) -> float:
    """Seconds of a clip that are decoded: its ADs with the shots around them, and what lies between where
    seeking is not worth it."""
    published = dataset.shots.get(ads[0].clip, ())
    shots = [Shot(number, interval) for number, interval in enumerate(published)]
    spans = []
    for ad in ads:
        around = [piece.clipped for piece in context_shots(ad.slot, shots, config.context)] if shots else []
        spans += [Interval(span.start, span.end + GAP) for span in [*around, ad.slot]]
    return sum(span.duration - GAP + KEY_FRAME for span in join_intervals(spans))


@dataclass(eq=False)
class FixedCost:
    """An engine that takes ``seconds`` for each call; ``sizes`` are the numbers of requests in its calls."""

    abilities: Abilities
    seconds: float
    identity: Identity = field(default_factory=lambda: Identity("fixed"))
    sizes: list[int] = field(default_factory=list)
    busy: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        began = time.monotonic()
        time.sleep(self.seconds)
        with self.lock:
            self.sizes.append(len(requests))
            self.busy += time.monotonic() - began
        return [Reply(request.slot_id) for request in requests]


@dataclass(frozen=True, slots=True)
class Figures:
    """``calls`` of both stages, the share of them that is full, the share of time in which the engine, or a
    place at the server, is idle, and the ``seconds`` that the run takes."""

    calls: int
    full: float
    idle: float
    seconds: float


def after(videos: Sequence[Video], kind: str, call: float, cores: int, speed: float) -> Figures:
    """What the pool of `predict` makes of the videos."""
    abilities = Abilities(accepts_images=True, batch=BATCH)
    if kind == "server":
        abilities = Abilities(accepts_images=True, in_flight=BATCH, sends_to="server")
    engines = Engines(FixedCost(abilities, call / speed), FixedCost(abilities, call / speed))
    processors = threading.Semaphore(cores)

    def work(seconds: float) -> None:
        with processors:
            time.sleep(seconds / speed)

    def read(video: Video) -> Clip:
        work(video.reading)
        return Clip(np.zeros((1, 2, 2, 3), np.uint8), np.zeros(1), np.zeros(1, np.int64))

    def describe(video: Video) -> None:
        """As `shotad.evaluation.predicting.clip.describe_clip` does, with stand-ins for all but the pool."""
        ads = video.part.ads

        def plans() -> Iterator[Ad]:
            for ad in ads:
                with preparing:
                    work(video.preparing / len(ads))
                yield ad

        with films.nested() as pool:

            def look(ad: Ad) -> Ad:
                pool.ask("stage1", Request(ad.id, ()), ClipOnDemand(ad.id, partial(read, video)))
                return ad

            def write(ad: Ad) -> None:
                pool.ask("stage2", Request(ad.id, ()))

            looked = pool.map(look, plans(), workers=min(pool.workers("stage1"), len(ads)))
            for _ in pool.map(write, looked, workers=min(64, len(ads))):
                pass

    at_once = clips_at_once([video.part for video in videos], engines)
    # As `Engines.pool` makes it: two models of one card take turns, both stages share a server's places.
    is_server = kind == "server"
    with AskingPool(
        {"stage1": engines.stage1, "stage2": engines.stage2},
        NoMemory(),
        shared=is_server,
        take_turns=not is_server,
    ) as films:
        preparing = films.limit(PREPARED_AT_ONCE)
        began = time.monotonic()
        for _ in films.map(describe, videos, workers=at_once):
            pass
        lasted = time.monotonic() - began
    sizes = [*engines.stage1.sizes, *engines.stage2.sizes]  # type: ignore[attr-defined]
    busy = engines.stage1.busy + engines.stage2.busy  # type: ignore[attr-defined]
    places = BATCH if is_server else 1
    full = sum(size == BATCH for size in sizes) / len(sizes)
    waiting_at_most = max(workers_of(engines.stage1), workers_of(engines.stage2))
    print(f"  {at_once} clips under way, the frames of {waiting_at_most} ADs in memory at most", flush=True)
    return Figures(len(sizes), full, 1 - busy / (lasted * places), lasted * speed)


def before(videos: Sequence[Video], kind: str, call: float) -> Figures:
    """What a pool for each clip makes of them."""
    calls = full = 0
    busy = lasted = 0.0
    for video in videos:
        ads = len(video.part.ads)
        rounds = math.ceil(ads / BATCH)
        calls += 2 * (ads if kind == "server" else rounds)
        full += 2 * (ads // BATCH)
        # Frames of the first round are read before it; those of the others meanwhile.
        first = video.preparing + video.reading * min(ads, BATCH)
        lasted += first + 2 * rounds * call
        busy += 2 * call * (ads / BATCH if kind == "server" else rounds)
    return Figures(calls, full / calls, 1 - busy / lasted, lasted)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--dataset", choices=["cmd-ad", "tv-ad", "mad-eval"], action="append")
    parser.add_argument("--engine", choices=["model", "server"], action="append")
    parser.add_argument("--call", type=float, default=1.0, help="seconds of a call (1)")
    parser.add_argument("--cores", type=int, default=2, help="processors that decode (2)")
    parser.add_argument("--speed", type=float, default=5.0, help="how much faster the clock runs (5)")
    parser.add_argument("--videos", type=int, metavar="N", help="only the first N videos of each dataset")
    words = parser.parse_args()
    costs = measured_costs()
    print(
        f"848x480: {1000 * costs.prepare:.0f} ms of a processor to prepare a second of film, "
        f"{1000 * costs.read:.0f} ms to read the frames of an AD."
    )
    for name in words.dataset or ["cmd-ad", "tv-ad", "mad-eval"]:
        videos = videos_of(name, costs)[: words.videos]
        ads = sum(len(video.part.ads) for video in videos)
        decoding = sum(video.preparing + video.reading * len(video.part.ads) for video in videos)
        for kind in words.engine or ["model", "server"]:
            print(f"{name}, {kind}: {len(videos):,} videos, {ads:,} ADs", flush=True)
            work = decoding / words.cores
            engine = 2 * ads / BATCH * words.call
            print(f"  at least {engine:,.0f} s of the engine, {work:,.0f} s of {words.cores} processors")
            for label, figures in (
                ("before", before(videos, kind, words.call)),
                ("after", after(videos, kind, words.call, words.cores, words.speed)),
            ):
                full = "" if kind == "server" else f"{figures.full:.1%} full, "
                idle = f"idle {figures.idle:.1%}, {figures.seconds:,.0f} s"
                print(f"  {label}: {figures.calls:,} calls, {full}{idle}", flush=True)


if __name__ == "__main__":
    main()
