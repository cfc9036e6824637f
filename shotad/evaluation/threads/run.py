"""Scoring the pairs of shots of labelled clips: one clip at a time, each kept as soon as it is done.

A clip is opened once and its frames are read in one ascending pass; features are made once for a frame,
whatever the number of set-ups. What is kept in ``threads.jsonl`` are the scores of the pairs, so that
another threshold, or corrected clusters, cost nothing. The same scores come out of a run that was killed
and one that was not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import (
    FilmError,
    NoProgress,
    Progress,
    RecordLog,
    Seconds,
    ThreadSettings,
    UsageError,
    WorkFolder,
    key_of,
    reported,
)
from shotad.evaluation.threads.labels import LabelledClip
from shotad.evaluation.threads.metrics import Floats
from shotad.evaluation.threads.results import ClipScores, Setup
from shotad.film import ShotMoments, moments_of
from shotad.grammar import RADIUS, TEMPERATURE, FeatureMaker, Features

if TYPE_CHECKING:
    from shotad.film import Film, Picture
    from shotad.grammar import Place, ShotFeatures

SCORES = 1
"""Goes up when the way of scoring changes, so that kept scores are made again."""

DECIMALS = 6
"""Of the scores, so that a record reads back as it was."""

SLACK = 0.5
"""Seconds by which a shot may end after the film by its container, whose length is rounded."""

USUAL_RATE = Fraction(25)
"""Frames a second where a film tells none: only how far from its borders a shot is looked at."""


@dataclass(frozen=True, slots=True)
class ThreadBench:
    """What scoring needs beside the clips: who makes features, how they are matched, where results go.

    ``flat`` is the threshold that the mend for flat frames goes by. ``reader`` and ``batch`` are the
    settings ``film.reader`` and ``compute.batch``.
    """

    maker: FeatureMaker
    settings: ThreadSettings
    folder: WorkFolder
    reader: str = "pyav"
    batch: int = 8
    flat: float = 0.3
    progress: Progress = field(default_factory=NoProgress)


def score_clips(
    clips: Sequence[LabelledClip], setups: Sequence[Setup], bench: ThreadBench
) -> dict[Setup, list[ClipScores]]:
    """The scores of all pairs of each clip, in order, for each set-up.

    A film that cannot be read is a failed clip, told at once and tried again by the next run; everything
    else that goes wrong (no weights, a full disk) ends the run, whose results so far are kept.
    """
    log = bench.folder.log_of_records("threads")
    found: dict[Setup, list[ClipScores]] = {setup: [] for setup in setups}
    with reported(bench.progress, "Scoring clips", len(clips), "clips") as task:
        for clip in clips:
            try:
                scores = _score_clip(clip, setups, bench, log)
            except FilmError as error:
                bench.progress.note(f"{clip.name}: {error}")
                scores = {}
                for setup in setups:
                    found[setup].append(ClipScores(clip, None, str(error)))
            for setup, values in scores.items():
                found[setup].append(ClipScores(clip, values))
            task.advance()
    return found


def _score_clip(
    clip: LabelledClip, setups: Sequence[Setup], bench: ThreadBench, log: RecordLog
) -> dict[Setup, Floats]:
    """Scores float64 ``[n (n - 1) / 2]`` of one clip for each set-up, kept or made."""
    with _opened(clip, bench.reader) as film:
        keys = {setup: _key(clip, film.info.fingerprint, setup, bench) for setup in setups}
        lacking = [setup for setup in setups if log.get(keys[setup]) is None]
        made = _made(clip, lacking, film, bench) if lacking else {}
    for setup, scores in made.items():
        if not np.isfinite(scores).all():
            raise ValueError(f"{bench.maker.identity} gives scores of {clip.name} that are not numbers")
        place = {"labels": clip.name, "clip": clip.clip, "frames": setup.frames, "match": setup.match}
        log.add(keys[setup], {**place, "scores": [round(float(s), DECIMALS) for s in scores]})
    return {setup: np.asarray(log.record(keys[setup])["scores"], np.float64) for setup in setups}


def _opened(clip: LabelledClip, reader: str) -> Film:
    """The film of a clip. Raises FilmError for what is not there or cannot be read."""
    from shotad.film import open_film

    if not clip.path.exists():
        what = f"The film {clip.clip} of {clip.name} is not there: {clip.path}."
        raise FilmError(what, 'Correct "clip": it is relative to the label file.')
    try:
        return open_film(clip.path, reader=reader, frame_rate=clip.frame_rate)
    except UsageError:
        if clip.frame_rate is not None:
            raise
        what = f"The film {clip.clip} of {clip.name} is a row of pictures."
        raise FilmError(what, 'Add its "frame_rate" to the labels.') from None


def _key(clip: LabelledClip, fingerprint: str, setup: Setup, bench: ThreadBench) -> str:
    """Names all that changes the scores of a clip."""
    settings = bench.settings
    how: list[Any] = [setup.frames, setup.match]
    if setup.match == "patches":
        how += [RADIUS, TEMPERATURE, settings.both_ways]
        how += [bench.flat] if settings.mend_flat else []
    shots = [[shot.start, shot.end] for shot in clip.shots]
    rate = str(clip.frame_rate) if clip.frame_rate else None
    return key_of("threads", SCORES, fingerprint, rate, bench.reader, shots, bench.maker.identity, how)


def _made(clip: LabelledClip, setups: Sequence[Setup], film: Film, bench: ThreadBench) -> dict[Setup, Floats]:
    """Scores of one clip for each set-up, from its frames."""
    from shotad.grammar import ShotFeatures, places

    n = len(clip.shots)
    if n < 2:
        return {setup: np.zeros(0) for setup in setups}
    wanted = sorted({place for setup in setups for place in places(setup.frames)})
    _check_end(clip, film)
    moments = _moments(clip, film)
    asked = {place: np.array([getattr(m, place) for m in moments]) for place in wanted}
    made, frame = _features(clip, film, asked, bench)
    kinds = ShotFeatures(
        **{place: _gathered(made, [frame[m] for m in asked[place].tolist()], bench.batch) for place in wanted}
    )
    return {setup: _pairs(kinds, setup, made[0].grid, bench) for setup in setups}


def _pairs(kinds: ShotFeatures, setup: Setup, grid: tuple[int, int], bench: ThreadBench) -> Floats:
    """Scores float64 ``[n (n - 1) / 2]``, by rows, of shots with these features."""
    from shotad.grammar import Matching, shot_scores, whole_scores

    settings = bench.settings
    if setup.match == "whole":
        scores = whole_scores(kinds, setup.frames)
    else:
        matching = Matching(grid, both_ways=settings.both_ways, mend_flat=settings.mend_flat, flat=bench.flat)
        scores = shot_scores(kinds, matching, setup.frames)
    return np.asarray(scores[np.triu_indices(len(scores), 1)], np.float64)


def _moments(clip: LabelledClip, film: Film) -> list[ShotMoments]:
    rate = film.info.frame_rate or USUAL_RATE
    moments = [moments_of(shot, rate) for shot in clip.shots]
    return [found for found in moments if found is not None]


def _check_end(clip: LabelledClip, film: Film) -> None:
    """Refuse shots that end after the film."""
    length = film.info.duration
    for number, shot in enumerate(clip.shots):
        if length and shot.end > length + SLACK:
            raise _outside(clip, number, f"which is {length:.2f} s long")


def _outside(clip: LabelledClip, number: int, why: str) -> FilmError:
    return FilmError(
        f"Shot {number} {clip.shots[number]} of {clip.name} lies outside the film {clip.clip}, {why}.",
        "Shots are seconds from the film's start: correct them, or the film.",
    )


def _features(
    clip: LabelledClip, film: Film, asked: dict[Place, Seconds], bench: ThreadBench
) -> tuple[list[Features], dict[float, int]]:
    """Features of all frames that are asked for, batch by batch, and the number of each moment's frame.

    A frame that several moments mean is made into features once. Raises FilmError where a shot has no
    picture of its own.
    """
    begins = _begins(clip, film, asked)
    made: list[Features] = []
    frame: dict[float, int] = {}
    batch: list[Picture] = []
    frames, shown = 0, -math.inf
    for picture in film.pictures(sorted(begins)):
        number, earliest = begins[picture.wanted]
        if picture.seconds < earliest:
            raise _outside(clip, number, f"whose last picture before that comes at {picture.seconds:.2f} s")
        if picture.seconds > shown:
            batch.append(picture)
            frames, shown = frames + 1, picture.seconds
        frame[picture.wanted] = frames - 1
        if len(batch) == bench.batch:
            made.append(bench.maker.of([p.image for p in batch]))
            batch = []
    if len(frame) < len(begins):
        first = min(second for second in begins if second not in frame)
        raise _outside(clip, begins[first][0], "which cannot be read that far")
    if batch:
        made.append(bench.maker.of([p.image for p in batch]))
    return made, frame


def _begins(clip: LabelledClip, film: Film, asked: dict[Place, Seconds]) -> dict[float, tuple[int, float]]:
    """For each moment its shot's number and the second at or after which its frame must begin."""
    frame = float(1 / (film.info.frame_rate or USUAL_RATE))
    return {
        second: (number, clip.shots[number].start - frame)
        for seconds in asked.values()
        for number, second in enumerate(seconds.tolist())
    }


def _gathered(made: Sequence[Features], frames: Iterable[int], batch: int) -> Features:
    """The features of these frames, in this order, of batches of ``batch`` frames."""
    from array_api_compat import array_namespace

    xp = array_namespace(made[0].patches)
    places = [(made[number // batch], number % batch) for number in frames]
    return Features(
        xp.stack([part.patches[k, ...] for part, k in places]),
        xp.stack([part.whole[k, ...] for part, k in places]),
        made[0].grid,
    )
