"""``evaluate threads``: how well threads are found, beside the paper's figures (Shot-by-Shot, section
5.3).

A pair of shots of one clip is *together* where people put both into one cluster, and *joined* where its score
is above the threshold. Undefined figures are None, never 0 or 1. *Pooled* figures are over all pairs (AP,
precision, recall) and all shots (WCP) of all clips; *means* are over the clips for which a figure is defined.
The paper does not say which of the two it reports. A clip that failed counts as nothing found in both.

Features are made once for a frame, whatever the number of set-ups. What is kept in ``threads.jsonl`` are the
scores of the pairs, so that another threshold, or corrected clusters, cost nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace

from shotad import __version__
from shotad.core import (
    Config,
    Image,
    NoProgress,
    Progress,
    WorkFolder,
)
from shotad.core.errors import FilmError, UsageError
from shotad.core.progress import progress_task, table_lines
from shotad.core.types import Seconds
from shotad.core.workfolder import hash_key
from shotad.evaluation.thread_labels import LabelledClip
from shotad.film import Film, moments_of, open_film
from shotad.grammar import (
    RADIUS,
    TEMPERATURE,
    FeatureMaker,
    Features,
    FramePosition,
    make_feature_maker,
    matching_of,
    positions_for,
    shot_scores,
    threads_of,
    whole_scores,
)

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Frames = Literal["side", "mid", "all"]
Match = Literal["patches", "whole"]


@dataclass(frozen=True, slots=True)
class ThreadSetup:
    """One row of Table 1: which frames of two shots are compared, and what of them."""

    frames: Frames
    match: Match


THREAD_SETUPS = (
    ThreadSetup("side", "patches"),
    ThreadSetup("mid", "patches"),
    ThreadSetup("all", "patches"),
    ThreadSetup("side", "whole"),
)
"""What Table 1 of the paper compares, for one kind of features."""


Scores = Floats | str
"""A score for each pair of one clip, float64 ``[n (n - 1) / 2]`` in the order of `together_pairs`; or why it
failed."""
FIGURES = ("ap", "precision", "recall", "wcp")
"""Of a clip or of many; each is None where it is not defined."""


def setup_record(
    setup: ThreadSetup, clips: Sequence[LabelledClip], found: Sequence[Scores], threshold: float | None
) -> tuple[Json, list[Json]]:
    """Counts and figures of one set-up over all ``clips``, of which this was ``found``, at ``threshold``, and
    those of each clip, as in ``threads.json``. None takes the threshold with the best F1: ``tuned``, found by
    looking at the labels."""
    truths = [together_pairs(clip.clusters, len(clip.shots)) for clip in clips]
    told = zip(found, truths, strict=True)
    scored = [(scores, pairs) for scores, pairs in told if not isinstance(scores, str)]
    scores = np.concatenate([np.zeros(0), *(values for values, _ in scored)])
    together = np.concatenate([np.zeros(0, bool), *(pairs for _, pairs in scored)])
    missed = sum(int(np.count_nonzero(pairs)) for pairs in truths) - int(np.count_nonzero(together))
    best = best_threshold(scores, together, missed)
    chosen = threshold if threshold is not None else best[0] if best else float("inf")
    rows, every = list[Json](), list[Counts]()
    for clip, values, pairs in zip(clips, found, truths, strict=True):
        of = {"labels": clip.name, "clip": clip.clip, **asdict(setup)}
        if isinstance(values, str):
            of["failed"], counts = values, count_clip(None, chosen, clip.clusters, len(clip.shots))
            ap = 0.0 if counts["together"] else None
        else:
            counts = count_clip(values, chosen, clip.clusters, len(clip.shots))
            ap = average_precision(values, pairs)
        rows.append({**of, **figures_of(ap, counts), **counts})
        every.append(counts)
    total = {name: sum(counts[name] for counts in every) for name in every[0]}
    # The mean of each figure over the clips that have it, and over how many that is.
    known = {name: [row[name] for row in rows if row[name] is not None] for name in FIGURES}
    overall = {
        **asdict(setup),
        "threshold": chosen if np.isfinite(chosen) else None,
        "tuned": threshold is None,
        "best": {"threshold": best[0], "f1": best[1]} if best else None,
        "pooled": figures_of(average_precision(scores, together, missed), total),
        "mean": {name: sum(values) / len(values) if values else None for name, values in known.items()},
        "mean_over": {name: len(values) for name, values in known.items()},
        "counts": total,
    }
    return overall, rows


def figures_of(ap: float | None, counts: Counts) -> Json:
    """AP, which comes from the scores themselves, and the figures that follow from counts.

    Precision is the share of the joined pairs that belong together, recall that of the pairs that belong
    together which were joined. WCP is weighted clustering purity, of predicted clusters, weighted by their
    sizes (Tapaswi et al.: Total Cluster, ICVGIP 2014). It is 1 for shots that are all alone, so it is read
    beside recall and the number of clusters.
    """
    right = counts["right"]
    return {
        "ap": ap,
        "precision": share(right, right + counts["wrong"]),
        "recall": share(right, right + counts["missed"]),
        "wcp": share(counts["pure"], counts["shots"]),
    }


Counts = dict[str, int]
"""Raw counts of one clip or of many: they add up.

Pairs of shots are joined where their own score is above the threshold: ``right``, or ``wrong``; others that
belong together are ``missed``. ``pure`` is the number of shots that belong to the largest true share of their
predicted cluster. Beside these ``shots``, ``pairs``, ``together``, ``clusters`` and ``true_clusters``.
"""


def share(part: int, whole: int) -> float | None:
    """``part / whole``; None of nothing."""
    return part / whole if whole else None


def average_precision(scores: Floats, together: Bools, unscored: int = 0) -> float | None:
    """Area under the precision-recall steps of ``[n]`` pairs, by the definition of scikit-learn's
    ``average_precision_score``: equal scores are one step, nothing is interpolated. ``unscored`` pairs belong
    together but are never found. None where no pair belongs together."""
    _, found, taken = _steps(scores, together)
    positives = int(np.count_nonzero(together)) + unscored
    if positives == 0:
        return None
    return float(np.sum(found / taken * np.diff(found, prepend=0)) / positives)


def best_threshold(scores: Floats, together: Bools, unscored: int = 0) -> tuple[float, float] | None:
    """The threshold with the greatest F1 over these pairs, half-way between two scores, of equals the top;
    and that F1. None where no scored pair belongs together."""
    levels, found, taken = _steps(scores, together)
    positives = int(np.count_nonzero(together)) + unscored
    if not np.any(together):
        return None
    f1 = 2 * found / (taken + positives)
    best = int(np.argmax(f1))
    below = levels[best + 1] if best + 1 < len(levels) else levels[best] - 1
    return float(levels[best] + below) / 2, float(f1[best])


def _steps(scores: Floats, together: Bools) -> tuple[Floats, Floats, Floats]:
    """The distinct scores, highest first; how many pairs that belong together, and how many in all, have
    at least that score: three arrays ``[levels]``."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], np.ones(min(len(ranked), 1), bool)))
    return ranked[ends], np.cumsum(together[order])[ends].astype(np.float64), (ends + 1).astype(np.float64)


def together_pairs(clusters: Iterable[Collection[int]], shots: int) -> Bools:
    """For each pair i < j of ``shots`` shots, by rows, whether one cluster holds both: bool
    ``[n (n - 1) / 2]``. For clusters [0, 2] of three shots: [False, True, False]."""
    label = labels_of(clusters, shots)
    i, j = np.triu_indices(shots, 1)
    found: Bools = label[i] == label[j]
    return found


def labels_of(clusters: Iterable[Collection[int]], shots: int) -> npt.NDArray[np.int64]:
    """For each of ``shots`` shots the number of its cluster; shots in none get numbers of their own."""
    label = np.full(shots, -1, dtype=np.int64)
    for number, cluster in enumerate(clusters, shots):
        label[list(cluster)] = number
    alone = label < 0
    label[alone] = np.flatnonzero(alone)
    return label


def pure_shots(predicted: Sequence[int], truth: Sequence[int]) -> int:
    """Shots that agree with most of their predicted cluster; both give a cluster's number for each shot: for
    predicted 0 0 0 1 and truth 5 5 6 6 it is 2 + 1 = 3."""
    shared = Counter(zip(predicted, truth, strict=True))
    best: dict[int, int] = {}
    for (cluster, _), number in shared.items():
        best[cluster] = max(best.get(cluster, 0), number)
    return sum(best.values())


def count_clip(
    scores: Floats | None,
    threshold: float,
    clusters: Iterable[Collection[int]],
    shots: int,
) -> Counts:
    """The counts of one clip. ``scores`` None: it could not be scored. Then nothing is joined and nothing is
    pure, so that a failure never raises a figure."""
    truth = labels_of(clusters, shots)
    i, j = np.triu_indices(shots, 1)
    together = truth[i] == truth[j]
    count = int(np.count_nonzero(together))
    right = wrong = pure = found = 0
    if scores is not None:
        matrix: Any = np.eye(shots)
        matrix[i, j] = matrix[j, i] = scores
        predicted, joined = labels_of(threads_of(matrix, threshold), shots), scores > threshold
        right = int(np.count_nonzero(joined & together))
        wrong = int(np.count_nonzero(joined)) - right
        pure, found = pure_shots(predicted.tolist(), truth.tolist()), len(np.unique(predicted))
    return {
        "right": right,
        "wrong": wrong,
        "missed": count - right,
        "shots": shots,
        "pairs": len(i),
        "together": count,
        "pure": pure,
        "clusters": found,
        "true_clusters": len(np.unique(truth)),
    }


SCHEMA = 1
"""Version of ``threads.json``."""


def threads_text(record: Json) -> str:
    """Each set-up pooled and as mean of clips, the paper's rows, clips one by one, and a legend."""
    overall, n, rows = record["overall"], record["n"]["clips"], []
    for one in overall:
        threshold = float("inf") if one["threshold"] is None else one["threshold"]
        how = ", tuned" if one["tuned"] else ""
        rows.append(_row(one, f"pooled, > {threshold:.3g}{how}", one["pooled"]))
        rows.append(_row(one, "mean of clips", one["mean"]))
    papers = [_row(one, f"paper: {one['features']}", one) for one in PAPER]
    listed = table_lines(_HEADS, [*rows, *papers], range(3, len(_HEADS)))
    counts, more = overall[0]["counts"], "  … the others stand in threads.json."
    lines = [
        f"Clips: {n}. Shots: {counts['shots']}. Pairs of shots: {counts['pairs']}, from one "
        f"camera set-up: {counts['together']}. Features: {record['features']}."
    ]
    if failed := [f"  {one['labels']}: {one['reason']}" for one in record["failed"]]:
        what = "clips failed; in all figures they count as nothing found:"
        lines += [f"{len(failed)} of {n} {what}", *failed[:LISTED]]
        lines += [more] if len(failed) > LISTED else []
    lines += ["", *listed[: -len(papers)], ""]
    lines += ["For comparison, the paper's Table 1: Thread-Safe, about 4,700 clips, its own features."]
    lines += listed[-len(papers) :]
    if len(overall) == 1:
        lines += ["", f"By clip, {overall[0]['frames']} {overall[0]['match']}:"]
        for row in record["clips"][:LISTED]:
            if "failed" not in row:
                ap, precision, recall, wcp = (_shown(row[name]) for name in FIGURES)
                lines.append(
                    f"  {row['labels']}: AP {ap}, P {precision}, R {recall}, WCP {wcp}; {row['shots']} "
                    f"shots, {row['clusters']} threads for {row['true_clusters']}."
                )
        lines += [more] if n > LISTED else []
    return "\n".join([*lines, "", *LEGEND, *([TUNED] if any(one["tuned"] for one in overall) else [])])


def evaluate_threads(
    clips: Sequence[LabelledClip],
    setups: Sequence[ThreadSetup],
    config: Config,
    folder: WorkFolder,
    maker: FeatureMaker,
    progress: Progress | None = None,
) -> Json:
    """Score all clips (at least one) and write ``threads.json`` into ``folder``, which comes back. The
    threshold is the one that was set for this kind of match, else that of the features."""
    scores = score_clips(clips, setups, config, folder, maker, progress or NoProgress())
    found = []
    for setup in setups:
        # For whole frames the paper names none, and cosines of whole frames mean other things than scores.
        threshold = maker.threshold if setup.match == "patches" else None
        if setup.match == config.threads.match and config.threads.threshold is not None:
            threshold = config.threads.threshold
        found.append(setup_record(setup, clips, scores[setup], threshold))
    rows = found[0][1]
    failed = [row for row in rows if "failed" in row]
    record = {
        "version": SCHEMA,
        "shotad": __version__,
        "features": maker.identity,
        "settings": {
            "both_ways": config.threads.by_rules.both_ways,
            "mend_flat": False,
            "reader": config.film.reader,
        },
        "n": {"clips": len(rows), "scored": len(rows) - len(failed), "failed": len(failed)},
        "overall": [overall for overall, _ in found],
        "failed": [{"labels": row["labels"], "clip": row["clip"], "reason": row["failed"]} for row in failed],
        "paper": list(PAPER),
        "clips": [row for _, those in found for row in those],
    }
    folder.write_json("threads.json", record)
    return record


def feature_maker(config: Config, progress: Progress) -> FeatureMaker:
    """The maker that the settings ask for. Raises UsageError where they ask for no features."""
    maker = make_feature_maker(config.threads, config.compute, progress)
    if maker is None:
        raise UsageError("threads.features = none makes no threads.", "Name features, such as grid.")
    return maker


PAPER: tuple[Json, ...] = tuple(
    {"features": features, "frames": frames, "match": match, **dict(zip(FIGURES, figures, strict=True))}
    for features, frames, match, *figures in (
        ("CLIP-L14", "side", "whole", 0.705, 0.691, 0.635, 0.922),
        ("DINOv2-L14", "side", "whole", 0.788, 0.759, 0.683, 0.933),
        ("DINOv2-g14", "side", "whole", 0.786, 0.761, 0.675, 0.936),
        ("DINOv2-g14", "mid", "patches", 0.822, 0.808, 0.717, 0.953),
        ("DINOv2-g14", "all", "patches", 0.896, 0.870, 0.795, 0.964),
        ("DINOv2-g14", "side", "patches", 0.902, 0.878, 0.799, 0.965),
    )
)
"""Table 1 of Shot-by-Shot (section 5.3), by features: measured on Thread-Safe, by its authors."""

LISTED = 20
"""How many clips are listed one by one."""

_HEADS = ("frames", "match", "what", "AP", "P", "R", "WCP")


def _row(setup: Json, what: str, figures: Json) -> tuple[str, ...]:
    return (setup["frames"], setup["match"], what, *(_shown(figures[name]) for name in FIGURES))


LEGEND = (
    "AP, P, R: average precision, precision and recall over pairs of shots, each pair by its own score.",
    "WCP: weighted clustering purity; it is 1 when every shot is alone, so read it with R.",
)

TUNED = (
    "Tuned: no threshold is known for whole frames, so the one with the best F1 on these very labels "
    "is taken; only AP is a fair figure there."
)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


THREADS_STEP = "threads/1"
"""The step that scores pairs of shots, and its version: raise it when the way of scoring changes."""

DECIMALS = 6
"""Of the scores, so that a record reads back as it was."""

SLACK = 0.5
"""Seconds by which a shot may end after the film by its container, whose length is rounded."""

USUAL_RATE = Fraction(25)
"""Frames a second where a film gives none: only how far from its borders a shot is looked at."""


def score_clips(
    clips: Sequence[LabelledClip],
    setups: Sequence[ThreadSetup],
    config: Config,
    folder: WorkFolder,
    maker: FeatureMaker,
    progress: Progress,
) -> dict[ThreadSetup, list[Scores]]:
    """The scores of all pairs of each clip, in order, for each set-up, kept or made. A film that cannot be
    read is a failed clip, told at once and tried again by the next run."""
    log, reader = folder.log_of_records("threads"), config.film.reader
    found: dict[ThreadSetup, list[Scores]] = {setup: [] for setup in setups}
    with progress_task(progress, "Scoring clips", len(clips), "clips") as task:
        for clip in clips:
            shots = [[shot.start, shot.end] for shot in clip.shots]
            rate = str(clip.frame_rate) if clip.frame_rate else None
            by_patches = [RADIUS, TEMPERATURE, config.threads.by_rules.both_ways]
            keys: dict[ThreadSetup, str] = {}
            made: dict[ThreadSetup, Floats] = {}
            try:
                with _opened(clip, reader) as film:
                    of = (THREADS_STEP, film.info.fingerprint, rate, reader, shots, maker.identity)
                    for setup in setups:
                        how = by_patches if setup.match == "patches" else []
                        keys[setup] = hash_key(*of, [setup.frames, setup.match, *how])
                    if lacking := [setup for setup in setups if log.get(keys[setup]) is None]:
                        made = _made(clip, lacking, film, maker, config)
            except FilmError as error:
                progress.note(f"{clip.name}: {error}")
                for setup in setups:
                    found[setup].append(str(error))
            else:
                for setup, scores in made.items():
                    if not np.isfinite(scores).all():
                        raise ValueError(f"{maker.identity} gives scores of {clip.name} that are not numbers")
                    place = {"labels": clip.name, "clip": clip.clip, **asdict(setup)}
                    log.add(keys[setup], {**place, "scores": [round(float(s), DECIMALS) for s in scores]})
                for setup in setups:
                    found[setup].append(np.asarray(log.record(keys[setup])["scores"], np.float64))
            task.advance()
    return found


def _opened(clip: LabelledClip, reader: str) -> Film:
    """The film of a clip. Raises FilmError for what is not there or cannot be read."""
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


def _made(
    clip: LabelledClip, setups: Sequence[ThreadSetup], film: Film, maker: FeatureMaker, config: Config
) -> dict[ThreadSetup, Floats]:
    """Scores float64 ``[n (n - 1) / 2]`` of one clip for each set-up."""
    n = len(clip.shots)
    if n < 2:
        return {setup: np.zeros(0) for setup in setups}
    wanted = sorted({place for setup in setups for place in positions_for(setup.frames)})
    length, rate = film.info.duration, film.info.frame_rate or USUAL_RATE
    for number, shot in enumerate(clip.shots):
        if length and shot.end > length + SLACK:
            raise _outside(clip, number, f"which is {length:.2f} s long")
    moments = [found for shot in clip.shots if (found := moments_of(shot, rate)) is not None]
    asked = {place: np.array([getattr(m, place) for m in moments]) for place in wanted}
    kinds = _features(clip, film, asked, maker, config.compute.batch)
    grid = next(iter(kinds.values())).grid
    done: dict[ThreadSetup, Floats] = {}
    for setup in setups:
        if setup.match == "whole":
            scores = whole_scores(kinds, setup.frames)
        else:
            matching = matching_of(maker, grid, config.threads.by_rules.both_ways)
            scores = shot_scores(kinds, matching, setup.frames)
        done[setup] = np.asarray(scores[np.triu_indices(n, 1)], np.float64)
    return done


def _outside(clip: LabelledClip, number: int, why: str) -> FilmError:
    return FilmError(
        f"Shot {number} {clip.shots[number]} of {clip.name} lies outside the film {clip.clip}, {why}.",
        "Shots are seconds from the film's start: correct them, or the film.",
    )


def _features(
    clip: LabelledClip, film: Film, asked: dict[FramePosition, Seconds], maker: FeatureMaker, size: int
) -> dict[FramePosition, Features]:
    """Features of the frames of each place, made ``size`` at a time; a frame that several moments mean is
    made into features once. Raises FilmError where a shot has no picture of its own."""
    step = float(1 / (film.info.frame_rate or USUAL_RATE))
    # For each moment its shot's number, and the second at or after which its frame must begin.
    begins = {
        second: (number, clip.shots[number].start - step)
        for seconds in asked.values()
        for number, second in enumerate(seconds.tolist())
    }
    made: dict[float, tuple[Features, int]] = {}  # by the second at which a frame is shown
    shown: dict[float, float] = {}  # that second, by moment
    batch: dict[float, Image] = {}

    def make() -> None:
        features = maker.of(list(batch.values()))
        made.update((second, (features, place)) for place, second in enumerate(batch))
        batch.clear()

    for picture in film.pictures(sorted(begins)):
        number, earliest = begins[picture.wanted]
        if picture.seconds < earliest:
            raise _outside(clip, number, f"whose last picture before that comes at {picture.seconds:.2f} s")
        shown[picture.wanted] = picture.seconds
        if picture.seconds not in made:
            batch[picture.seconds] = picture.image
        if len(batch) == size:
            make()
    if len(shown) < len(begins):
        first = min(second for second in begins if second not in shown)
        raise _outside(clip, begins[first][0], "which cannot be read that far")
    if batch:
        make()
    found = {}
    for place, seconds in asked.items():
        parts = [made[shown[second]] for second in seconds.tolist()]
        xp = array_namespace(parts[0][0].patches)
        patches = xp.stack([features.patches[k, ...] for features, k in parts])
        whole = xp.stack([features.whole[k, ...] for features, k in parts])
        found[place] = Features(patches, whole, parts[0][0].grid)
    return found
