"""``evaluate threads``: labels in, figures out (Shot-by-Shot, section 5.3 and Table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shotad import __version__
from shotad.core.config import Config
from shotad.core.errors import UsageError
from shotad.core.progress import NoProgress, Progress
from shotad.core.workfolder import WorkFolder
from shotad.evaluation.threads.labels import ThreadLabels
from shotad.evaluation.threads.results import Json, Setup, SetupResult, setup_result
from shotad.evaluation.threads.run import ThreadBench, score_clips
from shotad.evaluation.threads.table import PAPER, table
from shotad.grammar.base import RADIUS, TEMPERATURE, FeatureMaker

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
    from shotad.grammar.threads import threads_of

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
    from shotad.grammar.features import make_feature_maker

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
