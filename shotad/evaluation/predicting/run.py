"""Runs the pipeline over the clips of a dataset, many side by side, and writes their lines to a file.

`choose_clips` selects the ADs, `predict` describes them. Engines are made once, and the questions about all
clips go through one pool, so that batches are full whatever the length of a clip. The lines of a clip are
written as soon as it and those before it are done. Where a video is missing or damaged the clip's lines have
failed, and the run goes on; an engine that is gone or a full disk ends the run, and the next one continues
from there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence, Set

from shotad.core import RunInputs, WorkFolder
from shotad.core.errors import UsageError
from shotad.core.progress import plural, progress_task
from shotad.core.runsettings import write_settings
from shotad.core.workfolder import work_folder_of
from shotad.description.clip_builder import check_readers
from shotad.description.engine_pair import EngineUsage, engine_usage
from shotad.description.prompts import check_prompts
from shotad.engines import NoMemory
from shotad.evaluation.datasets.dataset import WHOLE, Ad, Dataset, Shard
from shotad.evaluation.predicting.clip import ClipAds, Predicted, terms_of
from shotad.evaluation.predicting.job import Job
from shotad.evaluation.predicting.ledger import Ledger
from shotad.evaluation.predicting.paper_differences import differences_text
from shotad.evaluation.predicting.parts import DescribedPart, PartDescriber, clips_at_once, parts_of

_NAMED = 5
"""How many unknown names an error lists."""


def choose_clips(
    dataset: Dataset,
    shard: Shard = WHOLE,
    *,
    ids: Set[str] | None = None,
    films: Set[str] | None = None,
    limit: int | None = None,
) -> tuple[ClipAds, ...]:
    """The ADs to describe, by clip, in the dataset's order.

    Of the ADs with these ``ids`` and of these ``films`` (None: all) the first ``limit`` are taken, and of
    their clips those of the shard: shards have no clip in common. Raises UsageError for ids and films that
    the dataset does not have.
    """
    _check_names("ids", ids, (ad.id for ad in dataset.ads), dataset)
    _check_names("films", films, (ad.film for ad in dataset.ads), dataset)
    chosen = []
    for ad in dataset.ads:
        if (ids is None or ad.id in ids) and (films is None or ad.film in films):
            chosen.append(ad)
    clips: dict[str, list[Ad]] = {}
    for ad in chosen[:limit]:
        clips.setdefault(ad.clip, []).append(ad)
    largest_first = sorted(clips, key=lambda clip: -len(clips[clip]))
    clips_of_shard = shard.of_groups({clip: len(clips[clip]) for clip in largest_first})
    return tuple(tuple(ads) for clip, ads in clips.items() if clip in clips_of_shard)


def _check_names(
    kind: str, requested: Set[str] | None, dataset_names: Iterable[str], dataset: Dataset
) -> None:
    """Raise UsageError where some ``requested`` names are not the dataset's; ``kind`` is ids or films."""
    unknown = sorted((requested or frozenset()) - set(dataset_names))
    if unknown:
        examples = ", ".join(unknown[:_NAMED]) + (", …" if len(unknown) > _NAMED else "")
        raise UsageError(
            f"{dataset.title} has not all of the {kind} asked for: {examples} ({len(unknown)} in all).",
            f"shotad datasets check {dataset.name} says what there is.",
        )


def predict(job: Job, clips: Sequence[ClipAds]) -> Predicted:
    """Describe the clips and write their lines to ``job.out``.

    Raises ShotadError for an error that ends the run; lines that are written stay.
    """
    job = begun(job)
    terms = ready_terms(job)
    with (
        WorkFolder(work_folder_of(job.out)) as folder,
        progress_task(job.progress, "Describing clips", sum(map(len, clips)), "ADs") as task,
    ):
        results = Results(job, folder, terms)
        parts = parts_of(job, clips)
        with job.engines.pool(job.config, NoMemory()) as pool:
            describer = PartDescriber(job, folder.path, results.ledger, terms, pool, folder.note)
            at_once = clips_at_once(parts, job.engines)
            for described in pool.map(describer.describe, parts, workers=at_once):
                results.keep(described)
                task.advance(len(described.part.ads))
            used = engine_usage(pool.usage, job.engines.terms(job.config))
        return results.finished(clips, used)


def begun(job: Job) -> Job:
    """The job with the dataset's examples for Stage II. What in it is not as in the paper is reported."""
    job = job.with_published_examples()
    differences = differences_text(job.differences())
    if differences:
        job.progress.note(differences)
    return job


def ready_terms(job: Job) -> str:
    """Check what the run needs, and fetch it; returns the hash of `terms_of`. Raises ShotadError."""
    check_prompts()
    job.engines.get_ready(job.config, job.progress)
    check_readers(job.reader_config, job.progress)
    # After `get_ready`: only then are the engines' identities final.
    return terms_of(job.config, job.engines)


class Results:
    """The lines of a run, written to the file of ``job`` as they come; ``folder`` is its work folder."""

    def __init__(self, job: Job, folder: WorkFolder, terms: str) -> None:
        write_settings(folder, job.config, None, RunInputs())
        self.ledger = Ledger(job.out, [ad.id for ad in job.dataset.ads], terms)
        if self.ledger.moved:
            aside = job.out.with_suffix(".aside.jsonl").name
            job.progress.note(
                f"{plural(self.ledger.moved, 'line')} in {job.out.name} of other settings or another "
                f"dataset: moved to {aside}."
            )
        self._job, self._folder = job, folder
        self._shown_warnings: set[str] = set()
        self._predicted = Predicted(differs=job.differences())

    def keep(self, described: DescribedPart) -> None:
        """Put the lines of a part into the ledger."""
        self.ledger.add(described.lines)
        # Only now: a run that is killed before goes on with the replies in the folder.
        if described.done_folder is not None:
            shutil.rmtree(described.done_folder, ignore_errors=True)
        if described.is_new:
            self._predicted.new_ids |= {line.id for line in described.lines}
        for warning in described.warnings:  # each is shown once, with the first clip that has it
            if warning not in self._shown_warnings:
                self._shown_warnings.add(warning)
                self._job.progress.note(f"{described.part.ads[0].clip}: {warning}")

    def finished(self, clips: Sequence[ClipAds], used: EngineUsage) -> Predicted:
        """The result of the run. Puts the ledger in order, and deletes the work folders if no line failed."""
        self.ledger.tidy()
        ids: set[str] = set()
        for ads in clips:
            ids.update(ad.id for ad in ads)
        self._predicted.lines = tuple(line for line in self.ledger.lines if line.id in ids)
        self._predicted.clips = len(clips)
        self._predicted.stages = used.stages if used.calls else {}
        if not self._predicted.failed and self._job.work is None:
            shutil.rmtree(self._folder.path / "work", ignore_errors=True)
        return self._predicted
