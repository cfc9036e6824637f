"""What the parts of the table share: the films, how much is measured, and commands in fresh processes.

The parts import what is heavy where they use it: what a measurement has loaded counts as its memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from table_parts.kinds import LENGTHS, Contest, Entrant, Growth
from table_parts.running import ROOT, Done, Ready

LOOP = 15.0
"""Seconds of the sample from which films of other sizes are made: three cuts, and one where it repeats."""


@dataclass(frozen=True)
class FilmAt:
    """A film to be measured on, and what it is like in words: size, codec, bit rate."""

    path: Path
    label: str
    seconds: float
    height: int
    cost: str = ""


def look(path: Path, label: str = "") -> FilmAt:
    """What a film is like."""
    import av

    with av.open(str(path)) as container:
        video = container.streams.video[0]
        seconds = float((container.duration or 0) / 1_000_000)
        rate = f", {(container.bit_rate or 0) / 1e6:.1f} Mbit/s"
        kind = f"{video.codec_context.name}, {video.width}x{video.height}{rate}, {seconds:.0f} s"
    return FilmAt(path, label or path.name, seconds, video.height, kind)


@dataclass(frozen=True)
class Plan:
    """What a part measures; ``left_out`` are things with the reason why they are not measured."""

    contests: tuple[Contest, ...] = ()
    growths: tuple[Growth, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Stage:
    """Where and how much is measured; ``own`` are the user's films, which take the place of made ones."""

    folder: Path
    own: tuple[FilmAt, ...] = ()
    data: Path | None = None
    threads: int = 2
    runs: int = 5
    grows: bool = True
    """Whether growth is measured at all."""

    def turns(self, most: int) -> int:
        """How often something costly is run."""
        return min(self.runs, most)

    def made(self, height: int, seconds: float) -> FilmAt:
        """A film of so many lines and about so many seconds, made once per folder."""
        from bench_film import bench_film

        return look(bench_film(self.folder, height, seconds, LOOP), f"made film, {height}p")

    def films(self, *wanted: tuple[int, float]) -> Sequence[FilmAt]:
        """The user's films, or made ones of these lines and seconds."""
        return self.own or [self.made(height, seconds) for height, seconds in wanted]

    def longer(self, times: int, base: float) -> FilmAt:
        """A film so many times as long as about ``base`` seconds: loops of the user's first film, else of the
        sample or, where that is too long, of its beginning."""
        from bench_film import SAMPLE, bench_film, repeated

        made = SAMPLE if base >= 40 else bench_film(self.folder, 360, base, base)
        reel = self.own[0].path if self.own else made
        length = look(reel).seconds
        loops = max(1, round(base / length)) * times
        path = self.folder / f"{reel.stem}-{loops}{reel.suffix}"
        # A little less than whole loops, so that rounding never adds one.
        repeated(reel, path, (loops - 0.5) * length)
        return look(path, f"{reel.stem}, {loops * length:.0f} s")

    def growth(
        self,
        part: str,
        name: str,
        work: str,
        given: Callable[[FilmAt], Mapping[str, Any]] = lambda film: {"film": str(film.path)},
        *,
        base: float = 12.0,
        turns: int = 2,
        more: Mapping[str, Any] | None = None,
    ) -> tuple[Growth, ...]:
        """One work on a film and on films 2, 4 and 8 times as long; none where no growth is measured."""
        if not self.grows:
            return ()
        films = [self.longer(n, base) for n in LENGTHS]
        entrants = by_length(work, [{**given(film), **(more or {})} for film in films])
        seconds = round(films[0].seconds, 1)
        return (Growth(part, name, "s of film", seconds, entrants, turns=self.turns(turns)),)


def by_length(work: str, given: Sequence[Mapping[str, Any]]) -> tuple[Entrant, ...]:
    """One work at each length."""
    return tuple(Entrant(f"{n} times", "ours", work, one) for n, one in zip(LENGTHS, given, strict=True))


def command(given: Mapping[str, Any], scratch: Path) -> Ready:
    """A work: the program ``given["words"]``, run in the scratch folder; ``{out}`` there stands for a folder
    in it. Nothing is imported beforehand, so that the most memory is that of the program."""
    words = [str(word).replace("{out}", str(scratch / "out")) for word in given["words"]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def run() -> Done:
        done = subprocess.run(
            words, cwd=scratch, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-300:] or f"exit code {done.returncode}")
        return Done()

    return run


def shotad(*words: str | Path) -> dict[str, Any]:
    """What `command` is given for a command of shotad."""
    code = "from shotad.cli.main import main; main()"
    return {"words": [sys.executable, "-c", code, *map(str, words)]}
