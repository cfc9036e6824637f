"""``shotad evaluate stage``: the benchmark STAGE, on stories that change over a whole screenplay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.options import PATH, Console, console_options, settings_options
from shotad.core import UsageError, load_config, readable_json, write_text

TASKS = ("timelines", "questions", "role-play")


@click.command(name="stage")
@click.argument("folder", type=PATH)
@click.option("--task", type=click.Choice(TASKS), help="What to ask.")
@click.option("--engine", metavar="NAME", help="Who answers: openai:MODEL or llama3:MODEL.")
@click.option("--judge", metavar="NAME", default="", help="Who judges (default: --engine).")
@click.option(
    "--memory",
    metavar="NAME",
    multiple=True,
    default=("bm25",),
    help="Memories or scenes that are given: none, full, bm25 (default), dense; repeatable.",
)
@click.option(
    "--top", type=click.IntRange(1), default=4, show_default=True, help="How many bm25 or dense give."
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N of what is asked.")
@click.option("--check", is_flag=True, help="Check counts and ids; ask nothing.")
@click.option("--out", type=PATH, help="Folder for stage.json and stage.txt.")
@click.option("--cache", type=PATH, help="File that keeps the answers.")
@click.option("--force", is_flag=True, help="Ask for everything again.")
@settings_options
@console_options
def stage_command(console: Console, folder: Path, **options: Any) -> None:
    """Score a language model on STAGE: timelines, questions or role-play.

    FOLDER is one film of STAGE's release, a language, or the whole. Timelines and arcs are written from the
    whole screenplay; questions are answered five times each; characters are played in one turn and in three.
    A judge compares with what people found, and gives reasons.

    --check prints what is there beside the release's counts, and ids that lead nowhere. Exit code 1 if
    something is missing, or an id is loose that is not so in the release.

    Run the same command again to continue where it stopped.
    """
    from shotad.evaluation import check_folder, check_stage, read_stage

    films = read_stage(folder)
    if options["check"]:
        check = check_stage(films)
        console.result(check.text, check.record())
        if not check.whole:
            click.get_current_context().exit(1)
        return
    for name in ("task", "engine"):
        if not options[name]:
            raise UsageError(f"--{name} is missing.", "Name it, or check the folder by --check.")
    if options["out"]:
        check_folder(options["out"])
    run = _run(console, films, options)
    if options["out"]:
        write_text(options["out"] / "stage.json", readable_json(run.record()))
        write_text(options["out"] / "stage.txt", run.text + "\n")
        console.note(f"Written: {options['out'] / 'stage.json'}, {options['out'] / 'stage.txt'}")
    console.result(run.text, run.record())


def _run(console: Console, films: Any, options: dict[str, Any]) -> Any:
    from shotad.evaluation import (
        MetricContext,
        Store,
        evaluate_questions,
        evaluate_role_play,
        evaluate_timelines,
        kept_file,
    )

    config = load_config(options["config"], options["assignments"])
    more = {"judge": options["judge"], "limit": options["limit"]}
    given = {"memory": options["memory"], "top": options["top"]}
    with Store(options["cache"] or kept_file(), forget=options["force"]) as store:
        context = MetricContext(config, store, console)
        if options["task"] == "timelines":
            return evaluate_timelines(films, options["engine"], context, **more)
        evaluate = evaluate_questions if options["task"] == "questions" else evaluate_role_play
        return evaluate(films, options["engine"], context, **more, **given)
