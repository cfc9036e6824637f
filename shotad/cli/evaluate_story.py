"""``shotad evaluate story``: can the story be followed from the description?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.options import PATH, Console, console_options, settings_options
from shotad.core import Config, UsageError, load_config, plural, write_text

if TYPE_CHECKING:
    from shotad.evaluation import StoryFilm

_TABLES = (".csv", ".tsv", ".jsonl")


@click.command(name="story")
@click.argument("source", metavar="FILM|WORKFOLDER|TABLE", type=PATH)
@click.option("--questions", multiple=True, type=PATH, help="File of questions; repeatable.")
@click.option("--engine", required=True, metavar="NAME", help="Who answers: openai:MODEL or llama3:MODEL.")
@click.option("--judge", metavar="NAME", default="", help="Who checks open answers (default: --engine).")
@click.option("--subtitles", type=PATH, help="The film's subtitles (default: those of the run).")
@click.option("--human", type=PATH, help="Human AD of the film, in any script format.")
@click.option("--script", type=PATH, help="The film's script: Fountain, JSON, STAGE's script.json.")
@click.option("--conditions", metavar="NAME,…", help="Only these: ad, other, shuffled, human, script.")
@click.option("--tries", type=click.IntRange(1), default=5, show_default=True, help="Answers per question.")
@click.option("--anyway", is_flag=True, help="Use questions that fail their examination.")
@click.option(
    "--make", type=PATH, metavar="FILE", help="Write questions made of human AD or script; ask nothing."
)
@click.option("--estimate", is_flag=True, help="Print how much would be asked; send nothing.")
@click.option("--out", type=PATH, help="Folder for the report (default: SOURCE.story).")
@click.option("--cache", type=PATH, help="File that keeps the answers.")
@click.option("--force", is_flag=True, help="Ask for everything again.")
@settings_options
@console_options
def story_command(console: Console, source: Path, **options: Any) -> None:
    """Can the story be followed from the description?

    An engine answers questions about the film: from nothing, from the dialogue, from the dialogue and this AD
    (another film's, shuffled, human AD), and from the full script, as far as they are there. The report shows
    what the AD adds to the dialogue, whether the questions tell good AD from bad, and what the AD lacks.

    TABLE is a CSV file with the columns film, ad, subtitles, human, script. Questions are CSV or JSON Lines:
    film, question, answer, options, start, end; or STAGE's task_2_question_answering.csv.

    Run the same command again to continue where it stopped.
    """
    from shotad.evaluation import (
        MetricContext,
        Store,
        check_folder,
        evaluate_story,
        kept_file,
        read_questions,
        story_record,
        story_text,
        write_story,
    )

    config = load_config(options["config"], options["assignments"])
    films = _films(source, options)
    if options["make"]:
        _make(console, films, config, options)
        return
    if not options["questions"]:
        raise UsageError("There are no questions.", "Name a file by --questions, or make one by --make FILE.")
    questions = read_questions(options["questions"])
    more = {"tries": options["tries"]}
    if options["conditions"]:
        more["conditions"] = [name.strip() for name in options["conditions"].split(",") if name.strip()]
    if options["estimate"]:
        _estimate(console, films, questions, config, more)
        return
    folder = options["out"] or source.with_name(f"{source.stem}.story")
    check_folder(folder)
    with Store(options["cache"] or kept_file(), forget=options["force"]) as store:
        context = MetricContext(config, store, console)
        judge, anyway = options["judge"], options["anyway"]
        story = evaluate_story(
            films, questions, options["engine"], context, judge=judge, anyway=anyway, **more
        )
    written = write_story(folder, story)
    files = ["", "Files:", *(f"  {path}" for path in written)]
    console.result("\n".join([story_text(story), *files]), story_record(story))


def _films(source: Path, options: dict[str, Any]) -> tuple[StoryFilm, ...]:
    from shotad.evaluation import read_film, read_films

    files = {name: options[name] for name in ("subtitles", "human", "script")}
    if source.suffix.lower() not in _TABLES:
        return (read_film(source.stem, source, **files),)
    named = [f"--{name}" for name, path in files.items() if path]
    if named:
        raise UsageError(
            f"{named[0]} has no meaning with a table.", "Write the file into the table's column."
        )
    return read_films(source)


def _make(console: Console, films: tuple[StoryFilm, ...], config: Config, options: dict[str, Any]) -> None:
    from shotad.evaluation import MetricContext, Store, kept_file, make_story_questions, write_questions

    with Store(options["cache"] or kept_file(), forget=options["force"]) as store:
        made = make_story_questions(films, options["engine"], MetricContext(config, store, console))
    write_text(options["make"], write_questions(made))
    hint = "Read them before you use them: drop what is not answered by the film."
    counts = f"{plural(len(made), 'question')} on {plural(len(films), 'film')}"
    console.result(
        f"{options['make']}: {counts}. {hint}", {"questions": len(made), "file": str(options["make"])}
    )


def _estimate(
    console: Console, films: tuple[StoryFilm, ...], questions: Any, config: Config, more: dict[str, Any]
) -> None:
    from shotad.evaluation import estimate_story

    found = estimate_story(films, questions, config.seed, **more)
    text = (
        f"At most {found.asked:,} answers with {found.characters / 1e6:,.1f} million characters of lines, "
        f"and {found.judged:,} checks of open answers. What is kept from earlier runs is not asked again."
    )
    value = {"answers": found.asked, "characters": found.characters, "checks": found.judged}
    console.result(text, value)
