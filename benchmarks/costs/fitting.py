"""Units from measured runs, and what they say of a film that they were not taken from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from costs.formula import Asking, Hour, Units, around, asked, bytes_kept, bytes_sent, preparing
from costs.measuring import Run


@dataclass(frozen=True)
class Films:
    """All runs, by film and way."""

    runs: tuple[Run, ...]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(run.film for run in self.runs))

    def of(self, film: str, way: str) -> Run:
        return next(run for run in self.runs if (run.film, run.way) == (film, way))

    def without(self, film: str) -> Films:
        return Films(tuple(run for run in self.runs if run.film != film))

    def every(self, way: str) -> list[Run]:
        return [run for run in self.runs if run.way == way]

    def more(self, film: str, way: str, than: str) -> float:
        """Core seconds that one way takes more than another."""
        return self.of(film, way).cpu - self.of(film, than).cpu


def units_of(films: Films) -> Units:
    """What a unit takes in these films: sums over sums, so that long films count more."""
    second, pixels = _by_size(films.every("prepare"))
    served = films.every("server")
    frames = sum(run.server["frames"] for run in served)
    calls = sum(run.server["calls1"] + run.server["calls2"] for run in served)
    drawn = [films.of(name, "sheet") for name in films.names]
    slots = sum(run.slots for run in served)
    seconds = sum(run.seconds for run in served)
    return Units(
        second=second,
        pixels=pixels,
        credits=_each(films, "credits", "prepare", lambda run: run.moments),
        slot=_each(films, "slots", "prepare", lambda run: run.slots),
        grammar=_each(films, "grammar", "slots", lambda run: run.slots),
        sheet=_each(films, "sheet", "slots", lambda run: run.slots),
        embedded=_each(films, "embedded", "slots", lambda run: run.slots),
        records=sum(run.kept["records"] + run.kept["track"] for run in served) / slots,
        drawn=sum(run.kept["drawn"] for run in drawn) / slots,
        shot=sum(run.kept["shots"] for run in served) / sum(run.shots for run in served),
        kept=sum(run.most for run in served) / seconds,
        sent=sum(run.server["frame_bytes"] for run in served) / frames,
        letter=sum(run.server["letter_bytes"] for run in served) / calls,
    )


def asking_of(films: Films) -> Asking:
    """What prompts are like, by ``--estimate`` on these films."""
    found = [run.foreseen for run in films.every("server")]
    looks, lines = sum(one["calls1"] for one in found), sum(one["calls2"] for one in found)
    frames = sum(one["frames"] for one in found)
    usual = Asking()
    return Asking(
        frames=round(frames / looks),
        frame_tokens=sum(one["frame_tokens"] for one in found) / frames,
        words1=sum(one["words1"] for one in found) / looks,
        words2=sum(one["words2"] for one in found) / lines - usual.answer1,
    )


def _each(films: Films, way: str, than: str, number: Callable[[Run], int]) -> float:
    more = sum(films.more(name, way, than) for name in films.names)
    return max(more, 0.0) / sum(number(films.of(name, than)) for name in films.names)


def _by_size(runs: Sequence[Run]) -> tuple[float, float]:
    """Core seconds for a second and for 10^9 pixels; neither is less than nothing."""
    sizes = np.array([[run.seconds, run.gigapixels] for run in runs])
    weights = 1 / np.array([run.cpu for run in runs])
    found, _ = nnls(sizes * weights[:, None], np.ones(len(runs)))
    return float(found[0]), float(found[1])


@dataclass(frozen=True)
class Line:
    """Something of a film: as the model says, and as measured."""

    what: str
    film: str
    predicted: float
    measured: float

    @property
    def ratio(self) -> float | None:
        return self.predicted / self.measured if self.measured else None


def compared(films: Films) -> Iterator[Line]:
    """The model's word on each film, by units that come from the others, beside what was measured."""
    for name in films.names:
        others = films.without(name)
        units, how = units_of(others), asking_of(others)
        yield from _film(films, name, units, how)


def _film(films: Films, name: str, units: Units, how: Asking) -> Iterator[Line]:
    served, drawn = films.of(name, "server"), films.of(name, "sheet")
    # Only the pixels of the film matter, not how they lie.
    rate = served.gigapixels * 1e3 / served.seconds
    hour = Hour(served.slots, served.shots, 1000, 1000, rate, served.seconds, served.moments)
    yield Line("preparing, core s", name, preparing(hour, units), films.of(name, "credits").cpu)
    slots = around(hour, units, sheet=False)
    yield Line("slots and grammar, core s", name, slots, films.more(name, "grammar", "prepare"))
    yield Line("embedded, core s", name, hour.slots * units.embedded, films.more(name, "embedded", "slots"))
    yield Line("overview, core s", name, hour.slots * units.sheet, films.more(name, "sheet", "slots"))
    kept = served.kept["records"] + served.kept["track"] + served.kept["shots"]
    yield Line("records, kB", name, bytes_kept(hour, units, sheet=False) / 1e3, kept / 1e3)
    yield Line("overview, kB", name, hour.slots * units.drawn / 1e3, drawn.kept["drawn"] / 1e3)
    yield Line("disk at most, MB", name, units.kept * served.seconds / 1e6, served.most / 1e6)
    found, seen, said = asked(served.slots, how), served.server, served.foreseen
    yield Line("calls", name, found.calls1 + found.calls2, seen["calls1"] + seen["calls2"])
    yield Line("frames sent", name, found.frames, seen["frames"])
    yield Line("tokens in (by --estimate)", name, found.tokens_in1 + found.tokens_in2,
               said["words1"] + said["frame_tokens"] + said["words2"])  # fmt: skip
    yield Line("sent, kB", name, bytes_sent(found, units) / 1e3, seen["bytes"] / 1e3)
