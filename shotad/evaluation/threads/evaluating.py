"""``evaluate threads``: labels in, figures out (Shot-by-Shot, section 5.3 and Table 1).

The result of thread evaluation for people to read, with the paper's own rows beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shotad import __version__
from shotad.core import Config, NoProgress, Progress, UsageError, WorkFolder
from shotad.evaluation.threads.labels import ThreadLabels
from shotad.evaluation.threads.results import ClipRow, Figures, Json, Match, Setup, SetupResult, setup_result
from shotad.evaluation.threads.run import ThreadBench, score_clips
from shotad.grammar import RADIUS, TEMPERATURE, FeatureMaker


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One row of Table 1 of Shot-by-Shot (section 5.3): measured on Thread-Safe, by its authors."""

    features: str
    setup: Setup
    precision: float
    recall: float
    ap: float
    wcp: float

    def record(self) -> Json:
        """One line of ``threads.json``."""
        return {
            "features": self.features,
            "frames": self.setup.frames,
            "match": self.setup.match,
            "ap": self.ap,
            "precision": self.precision,
            "recall": self.recall,
            "wcp": self.wcp,
        }


_WHOLE: Match = "whole"

PAPER = (
    PaperRow("CLIP-L14", Setup("side", _WHOLE), 0.691, 0.635, 0.705, 0.922),
    PaperRow("DINOv2-L14", Setup("side", _WHOLE), 0.759, 0.683, 0.788, 0.933),
    PaperRow("DINOv2-g14", Setup("side", _WHOLE), 0.761, 0.675, 0.786, 0.936),
    PaperRow("DINOv2-g14", Setup("mid", "patches"), 0.808, 0.717, 0.822, 0.953),
    PaperRow("DINOv2-g14", Setup("all", "patches"), 0.870, 0.795, 0.896, 0.964),
    PaperRow("DINOv2-g14", Setup("side", "patches"), 0.878, 0.799, 0.902, 0.965),
)

LISTED = 20
"""How many clips are listed one by one."""

_HEAD = "  ".join(
    [
        f"{'frames':6}",
        f"{'match':7}",
        f"{'what':24}",
        *(f"{n:>6}" for n in ("AP", "P", "R", "WCP", "P thr", "R thr")),
    ]
)


def table(results: Sequence[SetupResult], features: str) -> str:
    """All of it: each set-up pooled and as mean of clips, clips one by one, the paper's rows, a legend."""
    first = results[0]
    lines = [*_opening(first, features), "", _HEAD]
    for result in results:
        mean, _ = result.mean
        how = ", tuned" if result.tuned else ""
        lines.append(_line(result.setup, f"pooled, > {result.threshold:.3g}{how}", result.pooled))
        lines.append(_line(result.setup, "mean of clips", mean))
    lines += ["", "For comparison, the paper's Table 1: Thread-Safe, about 4,700 clips, its own features."]
    lines += [_paper_line(row) for row in PAPER]
    if len(results) == 1:
        lines += ["", f"By clip, {first.setup}:", *_clips(first.rows)]
    lines += ["", *LEGEND]
    if any(result.tuned for result in results):
        lines.append(TUNED)
    return "\n".join(lines)


LEGEND = (
    "AP, P, R: average precision, precision and recall over pairs of shots, each pair by its own score.",
    "P thr, R thr: the same when threads are closed: all pairs within a thread count as joined.",
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
        f"  {row.clip.name}: {_figure_words(row.figures)}; {row.counts.shots} shots, "
        f"{row.counts.clusters} threads for {row.counts.true_clusters}."
        for row in rows[:LISTED]
        if not row.failure
    ]
    return [*lines, "  … the others stand in threads.json."] if len(rows) > LISTED else lines


def _figure_words(figures: Figures) -> str:
    named = {"AP": figures.ap, "P": figures.precision, "R": figures.recall, "WCP": figures.wcp}
    return ", ".join(f"{name} {shown(value).strip()}" for name, value in named.items())


def _line(setup: Setup, what: str, figures: Figures) -> str:
    cells = (figures.ap, figures.precision, figures.recall, figures.wcp)
    closed = (figures.closed_precision, figures.closed_recall)
    return "  ".join([f"{setup.frames:6}", f"{setup.match:7}", f"{what:24}", *map(shown, (*cells, *closed))])


def _paper_line(row: PaperRow) -> str:
    cells = map(shown, (row.ap, row.precision, row.recall, row.wcp))
    return "  ".join(
        [f"{row.setup.frames:6}", f"{row.setup.match:7}", f"{'paper: ' + row.features:24}", *cells]
    )


def shown(value: float | None) -> str:
    """A figure in six columns; a dash where it is not defined."""
    return f"{'–':>6}" if value is None else f"{value:6.3f}"


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
                "radius": RADIUS,
                "temperature": TEMPERATURE,
                "both_ways": settings.both_ways,
                "mend_flat": settings.mend_flat,
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

    bench = ThreadBench(
        maker,
        config.threads,
        folder,
        reader=config.film.reader,
        batch=config.compute.batch,
        flat=_patch_threshold(config, maker),
        progress=progress or NoProgress(),
    )
    scores = score_clips(labels.clips, setups, bench)
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


def _patch_threshold(config: Config, maker: FeatureMaker) -> float:
    given = config.threads.threshold if config.threads.match == "patches" else None
    return maker.threshold if given is None else given
