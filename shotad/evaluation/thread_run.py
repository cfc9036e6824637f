"""``evaluate threads``: labels in, figures out, beside the paper's own (Shot-by-Shot, section 5.3, Table 1).

A clip is opened once and its frames are read in one ascending pass; features are made once for a frame,
whatever the number of set-ups. What is kept in ``threads.jsonl`` are the scores of the pairs, so that
another threshold, or corrected clusters, cost nothing. The same scores come out of a run that was killed
and one that was not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad import __version__
from shotad.core import (
    Config,
    FilmError,
    NoProgress,
    Progress,
    RecordLog,
    Seconds,
    ThreadSettings,
    UsageError,
    WorkFolder,
    aligned,
    key_of,
    reported,
)
from shotad.evaluation.thread_figures import (
    ClipRow,
    ClipScores,
    Floats,
    Json,
    Match,
    Setup,
    SetupResult,
    setup_result,
)
from shotad.evaluation.thread_labels import LabelledClip, ThreadLabels
from shotad.film import moments_of
from shotad.grammar import RADIUS, TEMPERATURE, FeatureMaker, Features

if TYPE_CHECKING:
    from shotad.film import Film, Picture
    from shotad.grammar import Kinds, Place

SCHEMA = 1
"""Version of ``threads.json``."""


@dataclass(frozen=True, slots=True)
class ThreadEvaluation:
    """The figures of each set-up, and what they were made from."""

    labels: ThreadLabels
    results: tuple[SetupResult, ...]
    features: str
    config: Config

    @property
    def failed(self) -> int:
        """How many clips could not be scored."""
        return sum(bool(row.failure) for row in self.results[0].rows)

    @property
    def text(self) -> str:
        """All of it for people."""
        return table(self.results, self.features)

    def record(self) -> Json:
        """All of it as it stands in ``threads.json``."""
        settings = self.config.threads
        rows = self.results[0].rows
        return {
            "version": SCHEMA,
            "shotad": __version__,
            "features": self.features,
            "settings": {
                "both_ways": settings.by_rules.both_ways,
                "mend_flat": False,
                "reader": self.config.film.reader,
            },
            "n": {"clips": len(rows), "scored": len(rows) - self.failed, "failed": self.failed},
            "overall": [result.record() for result in self.results],
            "failed": [
                {"labels": row.clip.name, "clip": row.clip.clip, "reason": row.failure}
                for row in rows
                if row.failure
            ],
            "ignored": list(self.labels.ignored),
            "paper": [row.record() for row in PAPER],
            "clips": [row.record(result.setup) for result in self.results for row in result.rows],
        }


def evaluate_threads(
    labels: ThreadLabels,
    setups: Sequence[Setup],
    config: Config,
    folder: WorkFolder,
    maker: FeatureMaker,
    progress: Progress | None = None,
) -> ThreadEvaluation:
    """Score all clips and write ``threads.json`` into ``folder``; see `score_clips` for what is kept."""
    from shotad.grammar import threads_of

    context = ThreadContext(
        maker,
        config.threads,
        folder,
        reader=config.film.reader,
        batch=config.compute.batch,
        progress=progress or NoProgress(),
    )
    scores = score_clips(labels.clips, setups, context)
    results = tuple(
        setup_result(setup, scores[setup], _threshold(setup, config, maker), threads_of) for setup in setups
    )
    evaluation = ThreadEvaluation(labels, results, maker.identity, config)
    folder.write_json("threads.json", evaluation.record())
    return evaluation


def feature_maker(config: Config, progress: Progress) -> FeatureMaker:
    """The maker that the settings ask for. Raises UsageError where they ask for no features."""
    from shotad.grammar import make_feature_maker

    maker = make_feature_maker(config.threads, config.compute, progress)
    if maker is None:
        raise UsageError("threads.features = none makes no threads.", "Name features, such as grid.")
    return maker


def _threshold(setup: Setup, config: Config, maker: FeatureMaker) -> float | None:
    """The threshold that was set for this kind of match, else that of the features; None: none is known.

    For whole frames the paper names none, and cosines of whole frames mean other things than scores.
    """
    if setup.match == config.threads.match and config.threads.threshold is not None:
        return config.threads.threshold
    return maker.threshold if setup.match == "patches" else None


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One row of Table 1 of Shot-by-Shot (section 5.3): measured on Thread-Safe, by its authors."""

    features: str
    setup: Setup
    ap: float
    precision: float
    recall: float
    wcp: float

    def record(self) -> Json:
        """One line of ``threads.json``."""
        told = asdict(self)
        return {"features": self.features, **told.pop("setup"), **told}


_WHOLE: Match = "whole"

PAPER = (
    PaperRow("CLIP-L14", Setup("side", _WHOLE), 0.705, 0.691, 0.635, 0.922),
    PaperRow("DINOv2-L14", Setup("side", _WHOLE), 0.788, 0.759, 0.683, 0.933),
    PaperRow("DINOv2-g14", Setup("side", _WHOLE), 0.786, 0.761, 0.675, 0.936),
    PaperRow("DINOv2-g14", Setup("mid", "patches"), 0.822, 0.808, 0.717, 0.953),
    PaperRow("DINOv2-g14", Setup("all", "patches"), 0.896, 0.870, 0.795, 0.964),
    PaperRow("DINOv2-g14", Setup("side", "patches"), 0.902, 0.878, 0.799, 0.965),
)

LISTED = 20
"""How many clips are listed one by one."""

_HEADS = ("frames", "match", "what", "AP", "P", "R", "WCP")


def table(results: Sequence[SetupResult], features: str) -> str:
    """All of it: each set-up pooled and as mean of clips, the paper's rows, clips one by one, a legend."""
    first = results[0]
    rows = []
    for result in results:
        how = ", tuned" if result.tuned else ""
        rows.append(_row(result.setup, f"pooled, > {result.threshold:.3g}{how}", *astuple(result.pooled)))
        rows.append(_row(result.setup, "mean of clips", *astuple(result.mean[0])))
    papers = [
        _row(row.setup, f"paper: {row.features}", row.ap, row.precision, row.recall, row.wcp) for row in PAPER
    ]
    listed = aligned(_HEADS, [*rows, *papers], range(3, len(_HEADS)))
    lines = [*_opening(first, features), "", *listed[: -len(papers)]]
    lines += ["", "For comparison, the paper's Table 1: Thread-Safe, about 4,700 clips, its own features."]
    lines += listed[-len(papers) :]
    if len(results) == 1:
        lines += ["", f"By clip, {first.setup}:", *_clips(first.rows)]
    lines += ["", *LEGEND]
    if any(result.tuned for result in results):
        lines.append(TUNED)
    return "\n".join(lines)


def _row(setup: Setup, what: str, *figures: float | None) -> tuple[str, ...]:
    return (setup.frames, setup.match, what, *map(shown, figures))


LEGEND = (
    "AP, P, R: average precision, precision and recall over pairs of shots, each pair by its own score.",
    "WCP: weighted clustering purity; it is 1 when every shot is alone, so read it with R.",
)

TUNED = (
    "Tuned: no threshold is known for whole frames, so the one with the best F1 on these very labels "
    "is taken; only AP is a fair figure there."
)


def _opening(result: SetupResult, features: str) -> list[str]:
    counts = result.counts
    failed = [row for row in result.rows if row.failure]
    lines = [
        f"Clips: {len(result.rows)}. Shots: {counts.shots}. Pairs of shots: {counts.pairs}, from one camera "
        f"set-up: {counts.together}. Features: {features}."
    ]
    if failed:
        lines.append(
            f"{len(failed)} of {len(result.rows)} clips failed; in all figures they count as nothing found:"
        )
        lines += [f"  {row.clip.name}: {row.failure}" for row in failed[:LISTED]]
        if len(failed) > LISTED:
            lines.append("  … the others stand in threads.json.")
    return lines


def _clips(rows: Sequence[ClipRow]) -> list[str]:
    lines = [
        f"  {row.clip.name}: AP {shown(row.ap)}, P {shown(row.figures.precision)}, "
        f"R {shown(row.figures.recall)}, WCP {shown(row.figures.wcp)}; {row.counts.shots} shots, "
        f"{row.counts.clusters} threads for {row.counts.true_clusters}."
        for row in rows[:LISTED]
        if not row.failure
    ]
    return [*lines, "  … the others stand in threads.json."] if len(rows) > LISTED else lines


def shown(value: float | None) -> str:
    """A figure; a dash where it is not defined."""
    return "–" if value is None else f"{value:.3f}"


SCORES = 1
"""Goes up when the way of scoring changes, so that kept scores are made again."""

DECIMALS = 6
"""Of the scores, so that a record reads back as it was."""

SLACK = 0.5
"""Seconds by which a shot may end after the film by its container, whose length is rounded."""

USUAL_RATE = Fraction(25)
"""Frames a second where a film gives none: only how far from its borders a shot is looked at."""


@dataclass(frozen=True, slots=True)
class ThreadContext:
    """What scoring needs beside the clips: who makes features, how they are matched, where results go.

    ``reader`` and ``batch`` are the settings ``film.reader`` and ``compute.batch``.
    """

    maker: FeatureMaker
    settings: ThreadSettings
    folder: WorkFolder
    reader: str = "pyav"
    batch: int = 8
    progress: Progress = field(default_factory=NoProgress)


def score_clips(
    clips: Sequence[LabelledClip], setups: Sequence[Setup], context: ThreadContext
) -> dict[Setup, list[ClipScores]]:
    """The scores of all pairs of each clip, in order, for each set-up.

    A film that cannot be read is a failed clip, told at once and tried again by the next run; everything
    else that goes wrong (no weights, a full disk) ends the run, whose results so far are kept.
    """
    log = context.folder.log_of_records("threads")
    found: dict[Setup, list[ClipScores]] = {setup: [] for setup in setups}
    with reported(context.progress, "Scoring clips", len(clips), "clips") as task:
        for clip in clips:
            try:
                scores = _score_clip(clip, setups, context, log)
            except FilmError as error:
                context.progress.note(f"{clip.name}: {error}")
                scores = {}
                for setup in setups:
                    found[setup].append(ClipScores(clip, None, str(error)))
            for setup, values in scores.items():
                found[setup].append(ClipScores(clip, values))
            task.advance()
    return found


def _score_clip(
    clip: LabelledClip, setups: Sequence[Setup], context: ThreadContext, log: RecordLog
) -> dict[Setup, Floats]:
    """Scores float64 ``[n (n - 1) / 2]`` of one clip for each set-up, kept or made."""
    with _opened(clip, context.reader) as film:
        keys = {setup: _key(clip, film.info.fingerprint, setup, context) for setup in setups}
        lacking = [setup for setup in setups if log.get(keys[setup]) is None]
        made = _made(clip, lacking, film, context) if lacking else {}
    for setup, scores in made.items():
        if not np.isfinite(scores).all():
            raise ValueError(f"{context.maker.identity} gives scores of {clip.name} that are not numbers")
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


def _key(clip: LabelledClip, fingerprint: str, setup: Setup, context: ThreadContext) -> str:
    """Names all that changes the scores of a clip."""
    settings = context.settings
    how: list[Any] = [setup.frames, setup.match]
    if setup.match == "patches":
        how += [RADIUS, TEMPERATURE, settings.by_rules.both_ways]
    shots = [[shot.start, shot.end] for shot in clip.shots]
    rate = str(clip.frame_rate) if clip.frame_rate else None
    return key_of("threads", SCORES, fingerprint, rate, context.reader, shots, context.maker.identity, how)


def _made(
    clip: LabelledClip, setups: Sequence[Setup], film: Film, context: ThreadContext
) -> dict[Setup, Floats]:
    """Scores of one clip for each set-up, from its frames."""
    from shotad.grammar import places

    n = len(clip.shots)
    if n < 2:
        return {setup: np.zeros(0) for setup in setups}
    wanted = sorted({place for setup in setups for place in places(setup.frames)})
    length, rate = film.info.duration, film.info.frame_rate or USUAL_RATE
    for number, shot in enumerate(clip.shots):
        if length and shot.end > length + SLACK:
            raise _outside(clip, number, f"which is {length:.2f} s long")
    moments = [found for shot in clip.shots if (found := moments_of(shot, rate)) is not None]
    asked = {place: np.array([getattr(m, place) for m in moments]) for place in wanted}
    made, frame = _features(clip, film, asked, context)
    kinds = {
        place: _gathered(made, [frame[m] for m in asked[place].tolist()], context.batch) for place in wanted
    }
    return {setup: _pairs(kinds, setup, made[0].grid, context) for setup in setups}


def _pairs(kinds: Kinds, setup: Setup, grid: tuple[int, int], context: ThreadContext) -> Floats:
    """Scores float64 ``[n (n - 1) / 2]``, by rows, of shots with these features."""
    from shotad.grammar import matching_of, shot_scores, whole_scores

    settings = context.settings
    if setup.match == "whole":
        scores = whole_scores(kinds, setup.frames)
    else:
        matching = matching_of(context.maker, grid, settings.by_rules.both_ways)
        scores = shot_scores(kinds, matching, setup.frames)
    return np.asarray(scores[np.triu_indices(len(scores), 1)], np.float64)


def _outside(clip: LabelledClip, number: int, why: str) -> FilmError:
    return FilmError(
        f"Shot {number} {clip.shots[number]} of {clip.name} lies outside the film {clip.clip}, {why}.",
        "Shots are seconds from the film's start: correct them, or the film.",
    )


def _features(
    clip: LabelledClip, film: Film, asked: dict[Place, Seconds], context: ThreadContext
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
        if len(batch) == context.batch:
            made.append(context.maker.of([p.image for p in batch]))
            batch = []
    if len(frame) < len(begins):
        first = min(second for second in begins if second not in frame)
        raise _outside(clip, begins[first][0], "which cannot be read that far")
    if batch:
        made.append(context.maker.of([p.image for p in batch]))
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
