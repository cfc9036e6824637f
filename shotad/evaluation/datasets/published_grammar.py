"""Shot scales and threads as published with Shot-by-Shot (``*_scale_thread.csv``), as a clip shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shotad.core import ContextShot, Grammar, Interval, ShotScale
from shotad.core.errors import DatasetError
from shotad.evaluation.datasets.dataset import FIRST_FRAME, Dataset, DatasetDescription
from shotad.evaluation.datasets.tables import columns_of_rows, list_in_cell, number, numbers, plain_id


@dataclass(frozen=True, slots=True)
class AdGrammar:
    """The published film grammar of one AD's clip.

    ``shots`` are in seconds of the clip, oldest first, each with its scale; ``threads`` are groups of places
    in ``shots`` that share a camera set-up.
    """

    shots: tuple[tuple[Interval, ShotScale], ...]
    threads: tuple[tuple[int, ...], ...]

    def of_clip(self, shown: Sequence[ContextShot], begins: float) -> Grammar:
        """The grammar of these shots by their places, which are the painted numbers.

        ``begins`` is the second of the clip at which the video begins. A shot gets what is published for the
        piece that it shares most time with: the published pieces end 10 ms early, and some were dropped.
        """
        scales: dict[int, ShotScale] = {}
        numbers_of_pieces: dict[int, list[int]] = {}
        for painted, shot in enumerate(shown):
            time = Interval(shot.clipped.start + begins, shot.clipped.end + begins)
            shared = [piece.clip(time) for piece, _ in self.shots]
            durations = [0.0 if part is None else part.duration for part in shared]
            longest = max(durations, default=0.0)
            if longest > 0:
                place = durations.index(longest)
                scales[painted] = self.shots[place][1]
                numbers_of_pieces.setdefault(place, []).append(painted)
        threads = []
        for thread in self.threads:
            painted_numbers = sorted(n for place in thread for n in numbers_of_pieces.get(place, ()))
            if len(painted_numbers) > 1:
                threads.append(tuple(painted_numbers))
        return Grammar(scales, tuple(threads))


def read_published_grammar(dataset: Dataset) -> dict[str, AdGrammar]:
    """The published grammar of each AD, by its id. Raises DatasetError where the dataset has no such table,
    or one that is not as published.

    The rows of an AD need not stand together; their order is that of its shots.
    """
    described = dataset.description or DatasetDescription()
    columns, path = described.grammar, dataset.files.get("grammar")
    if path is None:
        names = " or ".join(columns.files) or "no file is named in its description"
        raise DatasetError(
            f"{dataset.title} has no published shot scales and threads below {dataset.root}: {names}.",
            "Fetch it from the repository of Shot-by-Shot, or leave out --grammar published.",
        )
    times = (columns.frames,) if columns.frames else (columns.start, columns.end)
    shots: dict[str, list[tuple[Interval, ShotScale]]] = {}
    thread_cells: dict[str, tuple[int, str]] = {}
    for line, cells in columns_of_rows(path, (columns.id, *times, columns.scale, columns.threads)):
        ad_id = plain_id(cells[columns.id])
        try:
            if columns.frames:
                frames = numbers(cells[columns.frames])
                rate = described.videos.frames_per_second
                first, last = min(frames), max(frames)
                interval = Interval((first - FIRST_FRAME) / rate, (last - FIRST_FRAME + 1) / rate)
            else:
                interval = Interval(number(cells[columns.start]), number(cells[columns.end]))
            scale = _scale(cells[columns.scale])
        except ValueError as error:
            raise DatasetError(f"{path}, line {line}: {error}.", _EXPECTED) from None
        shots.setdefault(ad_id, []).append((interval, scale))
        thread_cells.setdefault(ad_id, (line, cells[columns.threads]))
    grammars = {}
    for ad_id, shots_of_ad in shots.items():
        line, cell = thread_cells[ad_id]
        try:
            grammars[ad_id] = AdGrammar(tuple(shots_of_ad), _threads(cell, len(shots_of_ad)))
        except ValueError as error:
            raise DatasetError(f"{path}, line {line}: {error}.", _EXPECTED) from None
    if not grammars:
        raise DatasetError(f"{path} has no rows.", _EXPECTED)
    return grammars


_EXPECTED = "Take the file as it was published with Shot-by-Shot."


def _scale(cell: str) -> ShotScale:
    """The scale of a class. Raises ValueError."""
    place = number(cell)
    if place not in range(len(ShotScale)):
        raise ValueError(f"the shot scale is {cell}, and must be 0 to {len(ShotScale) - 1}")
    return list(ShotScale)[int(place)]


def _threads(cell: str, count: int) -> tuple[tuple[int, ...], ...]:
    """The threads of an AD with ``count`` rows, single shots included. Raises ValueError."""
    threads = []
    for thread in list_in_cell(cell):
        if not isinstance(thread, list | tuple) or any(place not in range(count) for place in thread):
            raise ValueError(f"the thread {thread!r} is no list of the AD's {count} rows, counted from 0")
        threads.append(tuple(int(place) for place in thread))
    return tuple(threads)
