"""How well dissolves and fades are found, made by ffmpeg between real clips in which nothing changes.

    python benchmarks/dissolves.py [--half tuning|judging] [--films N] [--keep FOLDER] [--set shots.KEY=VALUE]

Each film is five pieces of 3 to 5 s of different clips of one half (tests/labels/clips.yaml; those for which
cuts.yaml knows no change at all), joined by ffmpeg's `xfade`: dissolves, fades through black and through
white, 6 to 60 frames long. Which pieces, which joins and how long is drawn once, by a fixed seed. Counted as
in benchmarks/cuts.py, by the length and the kind of the change; every cut elsewhere is false. Of the pairs of
shots that threads by `grid` join, those of two pieces are wrong.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import get_args

import yaml
from clips import Clip, Half, chosen
from common import command_line
from cuts import Count, Truth, count, truths

from shotad.core import Interval, Shot
from shotad.core.config.film import ShotSettings
from shotad.film import detect_shots_in_pass, moments_of, open_film
from shotad.film.frame_cache import PIXELS
from shotad.grammar import Features, matching_of, shot_scores
from shotad.grammar.grid_features import GridFeatures

RATE = 25
SIZE = "640:360"
PIECES = 5
LEAST = 5.2
"""Seconds that a clip must last to give a piece."""
KINDS = ("fade", "fade", "fade", "fadeblack", "fadewhite")
"""ffmpeg's names; `fade` is a dissolve."""
FRAMES = (6, 10, 16, 25, 40, 60)
"""Lengths of a change."""


@dataclass(frozen=True)
class Change:
    """A change from frame ``first`` up to ``last``."""

    kind: str
    first: int
    last: int


@dataclass(frozen=True)
class Plan:
    """A film: from which clips, from which second, for how long, and what joins them."""

    pieces: Sequence[tuple[Clip, float, float]]
    changes: Sequence[Change]


def plans(half: Half, films: int) -> list[Plan]:
    """The films of a half, the same at each call where the same clips are here."""
    known = truths()
    quiet = [name for name, truth in known.items() if not (truth.hard or truth.gradual or truth.either)]
    clips = [clip for clip in chosen(half, quiet) if clip.file and clip.end - clip.start >= LEAST]
    draw, found = random.Random(half), []
    for _ in range(films):
        pieces, changes, until = [], [], 0.0
        for clip in draw.sample(clips, PIECES):
            length = draw.uniform(3.0, 5.0)
            pieces.append((clip, draw.uniform(clip.start, clip.end - length - 0.1), length))
        for _, _, length in pieces[:-1]:
            frames = draw.choice(FRAMES)
            first = round((until + length) * RATE) - frames
            changes.append(Change(draw.choice(KINDS), first, first + frames))
            until = first / RATE
        found.append(Plan(pieces, changes))
    return found


def make(plan: Plan, path: Path) -> None:
    """Write the film of a plan."""
    words: list[str] = []
    parts: list[str] = []
    for number, (clip, start, length) in enumerate(plan.pieces):
        words += ["-ss", f"{start:.3f}", "-t", f"{length + 0.5:.3f}", "-i", str(clip.path)]
        parts.append(
            f"[{number}:v]fps={RATE},scale={SIZE}:force_original_aspect_ratio=increase,crop={SIZE},setsar=1,"
            f"format=yuv420p,tpad=stop_mode=clone:stop_duration=6,settb=1/{RATE},setpts=PTS-STARTPTS[p{number}]"
        )
    last = "p0"
    for number, change in enumerate(plan.changes, 1):
        seconds, start = (change.last - change.first) / RATE, change.first / RATE
        parts.append(
            f"[{last}][p{number}]xfade=transition={change.kind}:duration={seconds:.3f}:offset={start:.3f}[x{number}]"
        )
        last = f"x{number}"
    end = plan.changes[-1].first / RATE + plan.pieces[-1][2]
    words += ["-filter_complex", ";".join(parts), "-map", f"[{last}]", "-t", f"{end:.3f}"]
    words += ["-c:v", "libx264", "-crf", "20", "-preset", "veryfast", "-pix_fmt", "yuv420p", str(path)]
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", *words], check=True)


def joined(path: Path, shots: Sequence[Shot], parts: Sequence[Interval]) -> list[tuple[Shot, Shot]]:
    """The pairs of shots of a film that threads by `grid` join, by the first and last frames of ``parts``."""
    maker = GridFeatures()
    moments = [found for part in parts if (found := moments_of(part, Fraction(RATE)))]
    sides = [[m.first for m in moments], [m.last for m in moments]]
    wanted = sorted({second for side in sides for second in side})
    with open_film(path) as film:
        made = maker.of([picture.image for picture in film.pictures(wanted, max_pixels=PIXELS)])
    at = [[wanted.index(second) for second in side] for side in sides]
    first, last = (Features(made.patches[places], made.whole[places], made.grid) for places in at)
    scores = shot_scores({"first": first, "last": last}, matching_of(maker, made.grid))
    pairs = combinations(range(len(shots)), 2)
    return [(shots[i], shots[j]) for i, j in pairs if scores[i, j] > maker.threshold]


def piece_of(plan: Plan, shot: Shot) -> int:
    """The piece that the middle of a shot shows."""
    return sum((change.first + change.last) / 2 / RATE <= shot.interval.middle for change in plan.changes)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("--half", choices=get_args(Half))
    parser.add_argument("--films", type=int, default=20)
    parser.add_argument(
        "--keep", type=Path, help="where the films are left; one that is there is not made again"
    )
    parser.add_argument("--set", action="append", default=[], metavar="shots.KEY=VALUE")
    options = parser.parse_args(arguments)
    given = (pair.removeprefix("shots.").split("=", 1) for pair in options.set)
    settings = ShotSettings.model_validate({key: yaml.safe_load(value) for key, value in given})
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for half in [options.half] if options.half else get_args(Half):
            total = Count()
            by_kind: defaultdict[str, Count] = defaultdict(Count)
            pairs: Counter[str] = Counter()
            wrong: Counter[str] = Counter()
            for number, plan in enumerate(plans(half, options.films)):
                path = folder / f"{half}-{number:02}.mp4"
                if not path.is_file():
                    make(plan, path)
                with open_film(path) as film:
                    found = detect_shots_in_pass(film, settings)
                done = count(found.cuts, Truth(gradual=[(c.first, c.last) for c in plan.changes]))
                total += done
                shots = found.shots
                alone = [shot.unmixed or shot.interval for shot in shots]
                for way, parts in (("unmixed", alone), ("whole", [shot.interval for shot in shots])):
                    for earlier, later in joined(path, shots, parts):
                        pairs[way] += 1
                        wrong[way] += piece_of(plan, earlier) != piece_of(plan, later)
                if done.wrong:
                    print(f"{path.name}: {', '.join(done.wrong)}", flush=True)
                for change in plan.changes:
                    one = count(found.cuts, Truth(gradual=[(change.first, change.last)]))
                    for key in (change.kind, f"{change.last - change.first:2} frames"):
                        by_kind[key] += Count(gradual=1, gradual_found=one.gradual_found)
            for key, some in sorted(by_kind.items()):
                print(f"    {half}, {key:10} {some.gradual_found} of {some.gradual}")
            print(f"{half}: {total.gradual_found} of {total.gradual} found, {total.false} false cuts")
            for way in ("whole", "unmixed"):
                print(f"{half}, threads by {way} shots: {pairs[way]} pairs joined, {wrong[way]} wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
