"""``shotad predict DATASET``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad import evaluation
from shotad.cli.lazy import HerePath
from shotad.cli.options import (
    PATH,
    Console,
    SectionedCommand,
    console_options,
    dataset_names_in_help,
    engine_option,
    report_failures,
    sampling_option,
    settings_options,
    strict_option,
    text_of,
)
from shotad.core import Config, load_config
from shotad.core.errors import UsageError
from shotad.core.progress import plural

_PREDICTIONS = HerePath(path_type=Path, dir_okay=False)
_SHOTS = click.Choice(["published", "found"])
_GRAMMAR = click.Choice(["published", "found"])


@click.command(name="predict", cls=SectionedCommand)
@click.argument("dataset")
@click.option("--root", type=PATH, required=True, help="Folder of the dataset.")
@click.option("--out", type=_PREDICTIONS, required=True, help="File of predictions to write (JSON Lines).")
@click.option("--videos", type=PATH, help="Folder of the videos, if elsewhere.")
@click.option("--annotation", type=PATH, help="File of the human ADs, if elsewhere.")
@click.option("--shard", metavar="I/N", help="Only part I of N, counted from 1.")
@click.option("--gpus", metavar="N", help="Work on N graphics cards at once, or on all (all).")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N ADs.")
@click.option("--ids", type=PATH, help="Only the ADs in this file, one id per line.")
@click.option("--films", metavar="ID,…", multiple=True, help="Only the ADs of these films; repeatable.")
@engine_option
@click.option(
    "--shots", type=_SHOTS, help="Shots of the dataset (default if it has any), or found by shotad."
)
@click.option(
    "--grammar", type=_GRAMMAR, help="Shot scales and threads published with the dataset, or found (default)."
)
@click.option("--candidates", type=int, metavar="N", help="Lines to choose from for each AD, 1 to 10.")
@sampling_option
@click.option("--cast-bank", type=PATH, help="Character bank of all films (.json, .pkl), to name people.")
@click.option("--cast-photos", type=PATH, help="Profile pictures of the character bank.")
@click.option("--keep-work", type=PATH, help="Folder to keep the work folder of each clip in.")
@settings_options
@strict_option
@console_options
@dataset_names_in_help
def command(console: Console, dataset: str, **options: Any) -> None:
    """Describe the videos of DATASET ({datasets}, or a file that describes one).

    The time of each human AD is a slot. Its line goes to --out as one JSON line with the id of the AD.
    Run the same command again to continue where it stopped, and to redo what changed settings, prompts or
    videos made stale. With --gpus a worker process for each card does a part of the clips. Shards can run at
    the same time, on other machines too, each with its own --out; join their files with cat.
    The settings of the dataset are added to --config. The metrics of evaluate are made for English: lines in
    another language can be written (--set language=de), but not scored as reliably.

    If a video is missing or broken, the lines of its clip fail and the run goes on. Exit code 1 if every
    line failed; 0 if only some did (3 with --strict).
    """
    from shotad.engines import privacy_notice

    shard = evaluation.Shard.parse(options["shard"] or "1/1")
    data = evaluation.load_dataset(dataset, options["root"], annotation=options["annotation"])
    if data.description is None:
        message = f"{dataset} is a plain file of human ADs, which does not say where videos are."
        raise UsageError(message, "Name a dataset, or a file that describes one, as in configs/datasets.")
    films = [film.strip() for text in options["films"] for film in text.split(",") if film.strip()]
    ids = None
    if options["ids"] is not None:
        lines = text_of("--ids", options["ids"], "Write the ids of ADs into it, one a line.").splitlines()
        ids = frozenset(line.strip() for line in lines if line.strip())
    tasks = evaluation.choose_clips(data, shard, ids=ids, films=set(films) or None, limit=options["limit"])
    # With the dataset's own numbers, on what every benchmark wants
    own = [data.config] if data.config and data.config not in options["config"] else []
    config = load_config(
        [*options["config"], *own],
        options["assignments"],
        engine=options["engine"],
        stage2__candidates=options["candidates"],
        stage2__draw=options["sampling"],
    )
    for name in ("videos", "keep_work"):
        place: Path | None = options[name]
        if place is not None and place.exists() and not place.is_dir():
            raise UsageError(f"--{name.replace('_', '-')} {place} is a file.", "Name a folder.")
    if options["videos"] is not None and not options["videos"].is_dir():
        message = f"There is no folder {options['videos']} (--videos)."
        raise UsageError(message, "Check the path.", usage=False)
    gpus = () if options["gpus"] is None else evaluation.chosen_gpus(options["gpus"], config)
    job = _job(data, config, options, console)
    for line in (
        *privacy_notice(job.engines.stage1, job.engines.stage2),
        *_opening(job, len(tasks), options),
    ):
        console.note(line)
    for warning in evaluation.english_only_warning(config.language):
        console.note(warning)
    done = evaluation.predict_on_gpus(job, tasks, gpus) if gpus else evaluation.predict(job, tasks)
    out = str(options["out"])
    console.result(evaluation.prediction_text(done, out), evaluation.prediction_as_json(done, out))
    reasons = [line.failure for line in done.lines if line.text is None]
    total = len(done.lines)
    report_failures(reasons, total, "lines", all_failed=len(reasons) == total, strict=options["strict"])


def _job(
    data: evaluation.Dataset, config: Config, options: dict[str, Any], console: Console
) -> evaluation.Job:
    from shotad.description import Engines

    if options["shots"] == "published" and not data.shots:
        raise UsageError(
            f"{data.title} has no published shots below {data.root}.", "Use --shots found, or add the file."
        )
    grammar = None
    if options["grammar"] == "published":
        if options["shots"] == "found" or not data.shots:
            raise UsageError("--grammar published goes with the published shots.", "Leave out --shots found.")
        grammar = evaluation.read_published_grammar(data)
    engines = Engines.of(config)
    engines.check_machine(config)
    bank = None
    if options["cast_bank"] is not None:
        bank = evaluation.read_bank_of_films(options["cast_bank"], options["cast_photos"])
    elif options["cast_photos"] is not None:
        raise UsageError("--cast-photos needs --cast-bank.")
    return evaluation.Job(
        data,
        config,
        engines,
        options["out"],
        options["videos"],
        published=options["shots"] != "found",
        bank=bank,
        grammar=grammar,
        work=options["keep_work"],
        progress=console,
    )


def _opening(job: evaluation.Job, clips: int, options: dict[str, Any]) -> list[str]:
    """What is about to be done, and what is not there."""
    part = f", shard {options['shard']}" if options["shard"] else ""
    whose = "published shots" if job.published and job.dataset.shots else "shots found by the detector"
    if job.grammar is not None:
        whose += ", published scales and threads"
    lines = [f"{job.dataset.title}: {plural(clips, 'clip')}{part}, {whose}."]
    # A run by the paper's prompts says it among what differs from the paper.
    if job.bank is not None and not job.differences():
        films = {ad.film for ad in job.dataset.ads}
        without = sum(job.bank.key_of(film, job.dataset.films.get(film, "")) is None for film in films)
        if without:
            lines.append(f"The bank lacks {without:,} of {len(films):,} films: nobody is named in them.")
    return lines
