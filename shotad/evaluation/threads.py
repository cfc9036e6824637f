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
    setup: ThreadSetup,
    clips: Sequence[LabelledClip],
    scores_of_clips: Sequence[Scores],
    threshold: float | None,
) -> tuple[Json, list[Json]]:
    """Counts and figures of one set-up over all ``clips`` with these scores, at ``threshold``, and those of
    each clip, as in ``threads.json``. None takes the threshold with the best F1: ``tuned``, found by looking
    at the labels."""
    truths = [together_pairs(clip.clusters, len(clip.shots)) for clip in clips]
    # The zeros give an array of the right type even where no clip could be scored.
    score_parts, truth_parts = [np.zeros(0)], [np.zeros(0, bool)]
    for values, pairs in zip(scores_of_clips, truths, strict=True):
        if not isinstance(values, str):
            score_parts.append(values)
            truth_parts.append(pairs)
    scores, together = np.concatenate(score_parts), np.concatenate(truth_parts)
    missed = sum(int(np.count_nonzero(pairs)) for pairs in truths) - int(np.count_nonzero(together))
    best = best_threshold(scores, together, missed)
    if threshold is not None:
        chosen = threshold
    elif best:
        chosen = best[0]
    else:
        chosen = float("inf")  # nothing belongs together: nothing is joined
    rows, counts_of_clips = list[Json](), list[Counts]()
    for clip, values, pairs in zip(clips, scores_of_clips, truths, strict=True):
        row_head = {"labels": clip.name, "clip": clip.clip, **asdict(setup)}
        if isinstance(values, str):
            row_head["failed"], counts = values, count_clip(None, chosen, clip.clusters, len(clip.shots))
            ap = 0.0 if counts["together"] else None
        else:
            counts = count_clip(values, chosen, clip.clusters, len(clip.shots))
            ap = average_precision(values, pairs)
        rows.append({**row_head, **figures_of(ap, counts), **counts})
        counts_of_clips.append(counts)
    total = {name: sum(counts[name] for counts in counts_of_clips) for name in counts_of_clips[0]}
    # The mean of each figure over the clips that have it, and over how many that is.
    defined = {name: [row[name] for row in rows if row[name] is not None] for name in FIGURES}
    overall = {
        **asdict(setup),
        "threshold": chosen if np.isfinite(chosen) else None,
        "tuned": threshold is None,
        "best": {"threshold": best[0], "f1": best[1]} if best else None,
        "pooled": figures_of(average_precision(scores, together, missed), total),
        "mean": {name: sum(values) / len(values) if values else None for name, values in defined.items()},
        "mean_over": {name: len(values) for name, values in defined.items()},
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
    _, hits, pairs_taken = _score_steps(scores, together)
    positives = int(np.count_nonzero(together)) + unscored
    if positives == 0:
        return None
    return float(np.sum(hits / pairs_taken * np.diff(hits, prepend=0)) / positives)


def best_threshold(scores: Floats, together: Bools, unscored: int = 0) -> tuple[float, float] | None:
    """The threshold with the greatest F1 over these pairs, half-way between two scores, of equals the top;
    and that F1. None where no scored pair belongs together."""
    levels, hits, pairs_taken = _score_steps(scores, together)
    positives = int(np.count_nonzero(together)) + unscored
    if not np.any(together):
        return None
    f1 = 2 * hits / (pairs_taken + positives)
    best = int(np.argmax(f1))
    below = levels[best + 1] if best + 1 < len(levels) else levels[best] - 1
    return float(levels[best] + below) / 2, float(f1[best])


def _score_steps(scores: Floats, together: Bools) -> tuple[Floats, Floats, Floats]:
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
    is_together: Bools = label[i] == label[j]
    return is_together


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
    right = wrong = pure = predicted_clusters = 0
    if scores is not None:
        matrix: Any = np.eye(shots)
        matrix[i, j] = matrix[j, i] = scores
        predicted, joined = labels_of(threads_of(matrix, threshold), shots), scores > threshold
        right = int(np.count_nonzero(joined & together))
        wrong = int(np.count_nonzero(joined)) - right
        pure, predicted_clusters = pure_shots(predicted.tolist(), truth.tolist()), len(np.unique(predicted))
    return {
        "right": right,
        "wrong": wrong,
        "missed": count - right,
        "shots": shots,
        "pairs": len(i),
        "together": count,
        "pure": pure,
        "clusters": predicted_clusters,
        "true_clusters": len(np.unique(truth)),
    }


SCHEMA = 1
"""Version of ``threads.json``."""


def threads_text(record: Json) -> str:
    """Each set-up pooled and as mean of clips, the paper's rows, clips one by one, and a legend."""
    overall, n, rows = record["overall"], record["n"]["clips"], []
    for setup in overall:
        threshold = float("inf") if setup["threshold"] is None else setup["threshold"]
        tuned_mark = ", tuned" if setup["tuned"] else ""
        rows.append(_setup_row(setup, f"pooled, > {threshold:.3g}{tuned_mark}", setup["pooled"]))
        rows.append(_setup_row(setup, "mean of clips", setup["mean"]))
    paper_rows = [_setup_row(setup, f"paper: {setup['features']}", setup) for setup in PAPER]
    listed = table_lines(_HEADS, [*rows, *paper_rows], range(3, len(_HEADS)))
    counts, and_more = overall[0]["counts"], "  … the others stand in threads.json."
    lines = [
        f"Clips: {n}. Shots: {counts['shots']}. Pairs of shots: {counts['pairs']}, from one "
        f"camera set-up: {counts['together']}. Features: {record['features']}."
    ]
    failed = [f"  {clip['labels']}: {clip['reason']}" for clip in record["failed"]]
    if failed:
        failed_title = "clips failed; in all figures they count as nothing found:"
        lines += [f"{len(failed)} of {n} {failed_title}", *failed[:LISTED]]
        lines += [and_more] if len(failed) > LISTED else []
    lines += ["", *listed[: -len(paper_rows)], ""]
    lines += ["For comparison, the paper's Table 1: Thread-Safe, about 4,700 clips, its own features."]
    lines += listed[-len(paper_rows) :]
    if len(overall) == 1:
        lines += ["", f"By clip, {overall[0]['frames']} {overall[0]['match']}:"]
        for row in record["clips"][:LISTED]:
            if "failed" not in row:
                ap, precision, recall, wcp = (_figure_text(row[name]) for name in FIGURES)
                lines.append(
                    f"  {row['labels']}: AP {ap}, P {precision}, R {recall}, WCP {wcp}; {row['shots']} "
                    f"shots, {row['clusters']} threads for {row['true_clusters']}."
                )
        lines += [and_more] if n > LISTED else []
    return "\n".join([*lines, "", *LEGEND, *([TUNED] if any(setup["tuned"] for setup in overall) else [])])


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
    records = []
    for setup in setups:
        # For whole frames the paper names none, and cosines of whole frames mean other things than scores.
        threshold = maker.threshold if setup.match == "patches" else None
        if setup.match == config.threads.match and config.threads.threshold is not None:
            threshold = config.threads.threshold
        records.append(setup_record(setup, clips, scores[setup], threshold))
    rows = records[0][1]
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
        "overall": [overall for overall, _ in records],
        "failed": [{"labels": row["labels"], "clip": row["clip"], "reason": row["failed"]} for row in failed],
        "paper": list(PAPER),
        "clips": [row for _, clip_rows in records for row in clip_rows],
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


def _setup_row(setup: Json, figures_title: str, figures: Json) -> tuple[str, ...]:
    return (
        setup["frames"],
        setup["match"],
        figures_title,
        *(_figure_text(figures[name]) for name in FIGURES),
    )


LEGEND = (
    "AP, P, R: average precision, precision and recall over pairs of shots, each pair by its own score.",
    "WCP: weighted clustering purity; it is 1 when every shot is alone, so read it with R.",
)

TUNED = (
    "Tuned: no threshold is known for whole frames, so the one with the best F1 on these very labels "
    "is taken; only AP is a fair figure there."
)


def _figure_text(value: float | None) -> str:
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
    scores_by_setup: dict[ThreadSetup, list[Scores]] = {setup: [] for setup in setups}
    with progress_task(progress, "Scoring clips", len(clips), "clips") as task:
        for clip in clips:
            shots = [[shot.start, shot.end] for shot in clip.shots]
            rate = str(clip.frame_rate) if clip.frame_rate else None
            by_patches = [RADIUS, TEMPERATURE, config.threads.by_rules.both_ways]
            keys: dict[ThreadSetup, str] = {}
            new_scores: dict[ThreadSetup, Floats] = {}
            try:
                with _open_clip(clip, reader) as film:
                    clip_key = (THREADS_STEP, film.info.fingerprint, rate, reader, shots, maker.identity)
                    for setup in setups:
                        match_key = by_patches if setup.match == "patches" else []
                        keys[setup] = hash_key(*clip_key, [setup.frames, setup.match, *match_key])
                    if lacking := [setup for setup in setups if log.get(keys[setup]) is None]:
                        new_scores = _score_clip(clip, lacking, film, maker, config)
            except FilmError as error:
                progress.note(f"{clip.name}: {error}")
                for setup in setups:
                    scores_by_setup[setup].append(str(error))
            else:
                for setup, scores in new_scores.items():
                    if not np.isfinite(scores).all():
                        raise ValueError(f"{maker.identity} gives scores of {clip.name} that are not numbers")
                    place = {"labels": clip.name, "clip": clip.clip, **asdict(setup)}
                    log.add(keys[setup], {**place, "scores": [round(float(s), DECIMALS) for s in scores]})
                for setup in setups:
                    scores_by_setup[setup].append(np.asarray(log.record(keys[setup])["scores"], np.float64))
            task.advance()
    return scores_by_setup


def _open_clip(clip: LabelledClip, reader: str) -> Film:
    """The film of a clip. Raises FilmError for what is not there or cannot be read."""
    if not clip.path.exists():
        message = f"The film {clip.clip} of {clip.name} is not there: {clip.path}."
        raise FilmError(message, 'Correct "clip": it is relative to the label file.')
    try:
        return open_film(clip.path, reader=reader, frame_rate=clip.frame_rate)
    except UsageError:
        if clip.frame_rate is not None:
            raise
        message = f"The film {clip.clip} of {clip.name} is a row of pictures."
        raise FilmError(message, 'Add its "frame_rate" to the labels.') from None


def _score_clip(
    clip: LabelledClip, setups: Sequence[ThreadSetup], film: Film, maker: FeatureMaker, config: Config
) -> dict[ThreadSetup, Floats]:
    """Scores float64 ``[n (n - 1) / 2]`` of one clip for each set-up."""
    shot_count = len(clip.shots)
    if shot_count < 2:
        return {setup: np.zeros(0) for setup in setups}
    frame_positions = sorted({place for setup in setups for place in positions_for(setup.frames)})
    length, rate = film.info.duration, film.info.frame_rate or USUAL_RATE
    for number, shot in enumerate(clip.shots):
        if length and shot.end > length + SLACK:
            raise _outside_film(clip, number, f"which is {length:.2f} s long")
    all_moments = [moments_of(shot, rate) for shot in clip.shots]
    moments = [moment for moment in all_moments if moment is not None]
    seconds_by_position: dict[FramePosition, Seconds] = {}
    for position in frame_positions:
        seconds_by_position[position] = np.array([getattr(moment, position) for moment in moments])
    features = _frame_features(clip, film, seconds_by_position, maker, config.compute.batch)
    grid = next(iter(features.values())).grid
    scores_by_setup: dict[ThreadSetup, Floats] = {}
    for setup in setups:
        if setup.match == "whole":
            scores = whole_scores(features, setup.frames)
        else:
            matching = matching_of(maker, grid, config.threads.by_rules.both_ways)
            scores = shot_scores(features, matching, setup.frames)
        scores_by_setup[setup] = np.asarray(scores[np.triu_indices(shot_count, 1)], np.float64)
    return scores_by_setup


def _outside_film(clip: LabelledClip, number: int, reason: str) -> FilmError:
    return FilmError(
        f"Shot {number} {clip.shots[number]} of {clip.name} lies outside the film {clip.clip}, {reason}.",
        "Shots are seconds from the film's start: correct them, or the film.",
    )


def _frame_features(
    clip: LabelledClip,
    film: Film,
    seconds_by_position: dict[FramePosition, Seconds],
    maker: FeatureMaker,
    batch_size: int,
) -> dict[FramePosition, Features]:
    """Features of the frames of each place, made ``size`` at a time; a frame that several moments mean is
    made into features once. Raises FilmError where a shot has no picture of its own."""
    step = float(1 / (film.info.frame_rate or USUAL_RATE))
    # For each moment its shot's number, and the second at or after which its frame must begin.
    begins: dict[float, tuple[int, float]] = {}
    for seconds in seconds_by_position.values():
        for number, second in enumerate(seconds.tolist()):
            begins[second] = number, clip.shots[number].start - step
    # By the second at which a frame is shown: the features of its batch, and its place there.
    features_by_second: dict[float, tuple[Features, int]] = {}
    shown: dict[float, float] = {}  # that second, by moment
    batch: dict[float, Image] = {}

    def make_batch() -> None:
        features = maker.of(list(batch.values()))
        for place, second in enumerate(batch):
            features_by_second[second] = features, place
        batch.clear()

    for picture in film.pictures(sorted(begins)):
        number, earliest = begins[picture.wanted]
        if picture.seconds < earliest:
            raise _outside_film(
                clip, number, f"whose last picture before that comes at {picture.seconds:.2f} s"
            )
        shown[picture.wanted] = picture.seconds
        if picture.seconds not in features_by_second:
            batch[picture.seconds] = picture.image
        if len(batch) == batch_size:
            make_batch()
    if len(shown) < len(begins):
        first_missing = min(second for second in begins if second not in shown)
        raise _outside_film(clip, begins[first_missing][0], "which cannot be read that far")
    if batch:
        make_batch()
    features_by_position = {}
    for place, seconds in seconds_by_position.items():
        parts = [features_by_second[shown[second]] for second in seconds.tolist()]
        xp = array_namespace(parts[0][0].patches)
        patches = xp.stack([features.patches[k, ...] for features, k in parts])
        whole = xp.stack([features.whole[k, ...] for features, k in parts])
        features_by_position[place] = Features(patches, whole, parts[0][0].grid)
    return features_by_position
