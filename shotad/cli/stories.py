"""Screenplays and stories: ``shotad evaluate cml``, ``stage`` and ``story``, and ``shotad screenplay``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad import evaluation
from shotad.cli.options import (
    PATH,
    Console,
    SectionedCommand,
    answer_options,
    console_options,
    encoding_option,
    metric_context,
    settings_options,
    text_of,
    track_file,
    write_files,
)
from shotad.core import load_config
from shotad.core.errors import UsageError
from shotad.core.files import write_text
from shotad.core.progress import plural
from shotad.core.workfolder import readable_json

_WHO_ANSWERS = "Who answers: openai:MODEL or llama3:MODEL."


@click.command(name="cml", cls=SectionedCommand)
@click.argument("scripts", nargs=-1, type=PATH)
@click.option("--judge", metavar="ENGINE[:MODEL]", help="Engine that finds features, such as openai:gpt-4o.")
@click.option(
    "--analyst", metavar="ENGINE[:MODEL]", help="Engine for events and analyses (default: --judge)."
)
@click.option("--instruction", type=PATH, metavar="FILE", help="Print a prompt for the summary in FILE.")
@click.option("--out", type=PATH, help="Folder for cml.json.")
@click.option("--cache", type=PATH, help="File that keeps answers and vectors.")
@click.option("--force", is_flag=True, help="Compute everything again.")
@settings_options
@console_options
def cml_command(console: Console, scripts: tuple[Path, ...], **options: Any) -> None:
    """Score screenplays by CML-Bench: dialogue, characters, plot.

    SCRIPTS are files in CML tags or plain screenplays (.xml, .cml, .txt), JSON files of many as in the
    published dataset (movie_name, imdb_id, response or script_segment), or folders of these. The metrics are
    those of the paper, and those of its published code, which differ.

    --instruction prints a prompt that asks a language model for a screenplay in CML; FILE holds the summary,
    its name is the title.

    Run the same command again to continue where it stopped. Exit code 1 if an engine's answer failed.
    """
    if options["instruction"]:
        file: Path = options["instruction"]
        prompt = evaluation.cml.cml_instruction(
            file.stem, text_of("--instruction", file, "Write the film's summary into it.")
        )
        console.result(prompt, {"title": file.stem, "prompt": prompt})
        return
    if not scripts or not options["judge"]:
        missing = "No engine is named." if scripts else "No screenplay is named."
        raise UsageError(missing, "Write shotad evaluate cml FOLDER --judge openai:gpt-4o, say.")
    if options["out"] is not None:
        evaluation.check_folder(options["out"])
    config, texts = (
        load_config(options["config"], options["assignments"]),
        evaluation.cml.read_scripts(scripts),
    )
    with metric_context(console, config, options) as context:
        report = evaluation.evaluate_cml(
            texts, options["judge"], options["analyst"] or options["judge"], context
        )
    write_files(console, options["out"], {"cml.json": readable_json(report)})
    console.result(evaluation.cml.cml_text(report), report)
    if report["n"]["failed"]:
        click.get_current_context().exit(1)


@click.command(name="stage")
@click.argument("folder", type=PATH)
@click.option("--task", type=click.Choice(["timelines", "questions", "role-play"]), help="What to ask.")
@click.option("--engine", metavar="NAME", help=_WHO_ANSWERS)
@click.option("--judge", metavar="NAME", default="", help="Who judges (default: --engine).")
@click.option(
    "--memory",
    metavar="NAME",
    multiple=True,
    help="What is given: none, full, bm25 (default), dense; questions: hybrid, pageindex, graph too; "
    "timelines: full (default) or cards. Repeatable.",
)
@click.option(
    "--top",
    type=click.IntRange(1, 1000),
    help="How many are given (default: 4; 8 by hybrid, pageindex and graph).",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N of what is asked.")
@click.option("--check", is_flag=True, help="Check counts and ids; ask nothing.")
@click.option("--estimate", is_flag=True, help="Print how much would be asked; send nothing.")
@click.option("--out", type=PATH, help="Folder for stage.json and stage.txt.")
@answer_options
@settings_options
@console_options
def stage_command(console: Console, folder: Path, **options: Any) -> None:
    """Score a language model on STAGE: timelines, questions or role-play.

    FOLDER is one film of STAGE's release, a language, or the whole. Timelines and arcs are written from the
    whole screenplay or scene by scene; questions are answered five times each; characters are played in one
    turn and in three. A judge compares with what people found, and gives reasons.

    --check prints what is there beside the release's counts, and ids that lead nowhere. Exit code 1 if
    something is missing, or an id is loose that is not so in the release.

    Run the same command again to continue where it stopped.
    """
    films = evaluation.stage.read_stage(folder)
    if options["check"]:
        check = evaluation.stage.check_stage(films)
        console.result(evaluation.stage.check_stage_text(check), check)
        if not check["whole"]:
            click.get_current_context().exit(1)
        return
    for name in ("task",) if options["estimate"] else ("task", "engine"):
        if not options[name]:
            raise UsageError(f"--{name} is missing.", "Name it, or check the folder by --check.")
    if options["top"] and options["task"] == "timelines":
        raise UsageError("--top has no meaning with timelines.", "Leave it out.")
    if options["estimate"]:
        usual = ("full",) if options["task"] == "timelines" else ("bm25",)
        sizes = {name: options[name] for name in ("top", "limit")}
        estimate = evaluation.stage_estimate.estimate_stage(
            films, options["task"], options["memory"] or usual, **sizes
        )
        console.result(evaluation.stage_estimate.estimate_text(estimate), estimate)
        return
    if options["out"]:
        evaluation.check_folder(options["out"])
    config = load_config(options["config"], options["assignments"])
    evaluate = {
        "timelines": evaluation.evaluate_timelines,
        "questions": evaluation.evaluate_questions,
        "role-play": evaluation.evaluate_role_play,
    }[options["task"]]
    more = {name: options[name] for name in ("judge", "limit", "memory") if options[name]}
    if options["top"]:
        more["top"] = options["top"]
    with metric_context(console, config, options) as context:
        run = evaluate(films, options["engine"], context, **more)
    files = {"stage.json": readable_json(run.record()), "stage.txt": run.text + "\n"}
    write_files(console, options["out"], files)
    console.result(run.text, run.record())


@click.command(name="story")
@click.argument("source", metavar="FILM|WORKFOLDER|TABLE", type=PATH)
@click.option("--questions", multiple=True, type=PATH, help="File of questions; repeatable.")
@click.option("--engine", required=True, metavar="NAME", help=_WHO_ANSWERS)
@click.option("--judge", metavar="NAME", default="", help="Who checks open answers (default: --engine).")
@click.option("--subtitles", type=PATH, help="The film's subtitles (default: those of the run).")
@encoding_option
@click.option("--human", type=PATH, help="Human AD of the film, in any script format.")
@click.option("--script", type=PATH, help="The film's script: Fountain, JSON, STAGE's script.json.")
@click.option("--conditions", metavar="NAME,…", help="Only these: ad, other, shuffled, human, script.")
@click.option(
    "--tries", type=click.IntRange(1, 1000), default=5, show_default=True, help="Answers per question."
)
@click.option("--anyway", is_flag=True, help="Use questions that fail their examination.")
@click.option(
    "--make", type=PATH, metavar="FILE", help="Write questions made of human AD or script; ask nothing."
)
@click.option("--estimate", is_flag=True, help="Print how much would be asked; send nothing.")
@click.option("--out", type=PATH, help="Folder for the report (default: SOURCE.story).")
@answer_options
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
    config = load_config(options["config"], options["assignments"], speech__encoding=options["encoding"])
    files = {name: options[name] for name in ("subtitles", "human", "script")}
    named = [f"--{name}" for name, path in files.items() if path]
    is_table = source.suffix.lower() in (".csv", ".tsv", ".jsonl")
    if is_table and named:
        message = f"{named[0]} has no meaning with a table."
        raise UsageError(message, "Write the file into the table's column.")
    encoding = config.speech.encoding
    films = (
        evaluation.story_questions.read_films(source, encoding=encoding)
        if is_table
        else (evaluation.story_questions.read_film(source.stem, source, **files, encoding=encoding),)
    )
    for note in (note for film in films for note in film.notes):
        console.note(note)
    if options["make"]:
        with metric_context(console, config, options) as context:
            new_questions = evaluation.story_questions.make_story_questions(films, options["engine"], context)
        write_text(options["make"], evaluation.story_questions.write_questions(new_questions))
        counts = f"{plural(len(new_questions), 'question')} on {plural(len(films), 'film')}"
        hint = "Read them before you use them: drop what is not answered by the film."
        value = {"questions": len(new_questions), "file": str(options["make"])}
        console.result(f"{options['make']}: {counts}. {hint}", value)
        return
    if not options["questions"]:
        raise UsageError("There are no questions.", "Name a file by --questions, or make one by --make FILE.")
    questions = evaluation.story_questions.read_questions(options["questions"])
    more = {"tries": options["tries"]}
    if options["conditions"]:
        more["conditions"] = [name.strip() for name in options["conditions"].split(",") if name.strip()]
    if options["estimate"]:
        estimate = evaluation.story.estimate_story(films, questions, config.seed, **more)
        text = (
            f"At most {estimate['answers']:,} answers with {estimate['characters'] / 1e6:,.1f} million "
            f"characters of lines, and {estimate['checks']:,} checks of open answers. What is kept from "
            "earlier runs is not asked again."
        )
        console.result(text, estimate)
        return
    folder = options["out"] or source.with_name(f"{source.stem}.story")
    evaluation.check_folder(folder)
    more |= {name: options[name] for name in ("judge", "anyway")}
    with metric_context(console, config, options) as context:
        story = evaluation.evaluate_story(films, questions, options["engine"], context, **more)
    written = evaluation.story.write_story(folder, story)
    listed = ["", "Files:", *(f"  {path}" for path in written)]
    console.result(
        "\n".join([evaluation.story.story_text(story), *listed]), evaluation.story.story_record(story)
    )


@click.command(name="screenplay")
@click.argument("path", metavar="FILM|WORKFOLDER", type=PATH)
@click.option("--subtitles", type=PATH, help="The film's subtitles (default: those of the run).")
@encoding_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["fountain", "json", "text", "cml"]),
    help="Format (default: that of the file's name, else fountain).",
)
@click.option("-o", "--out", type=PATH, metavar="FILE", help="File to write (default: print it).")
@console_options
def screenplay_command(
    console: Console,
    path: Path,
    subtitles: Path | None,
    encoding: str | None,
    form: str | None,
    out: Path | None,
) -> None:
    """Write a described film as a screenplay: its AD as actions, its subtitles as dialogue.

    Scenes end where a pause in the dialogue meets a cut that no thread of shots joins; shots, threads and
    people come from the work folder as far as they are there. JSON keeps the time of each line and the id of
    its cue; Fountain, which screenwriting programs read, has no place for them.
    """
    from shotad.film import read_subtitles
    from shotad.script import load_track

    file = track_file(path)
    track = load_track(file)
    if subtitles is None:
        utterances = evaluation.screenplay.recorded_speech(file.parent)
    else:
        read = read_subtitles(subtitles, encoding=encoding)
        utterances = read.utterances
        for note in read.notes:
            console.note(note)
    dialogue = evaluation.screenplay.said_elements(utterances)
    if not dialogue:
        console.note("No dialogue: the run had no subtitles. Name them by --subtitles.")
    signs = evaluation.screenplay.FilmSigns.of(file.parent)
    play = evaluation.make_screenplay(
        evaluation.screenplay.described_elements(track),
        dialogue,
        signs,
        Path(track.film.name).stem,
        track.language,
    )
    name = form or {".json": "json", ".txt": "text", ".cml": "cml"}.get(out.suffix if out else "", "fountain")
    text = evaluation.screenplay_files.write_screenplay(play, name)
    value = {"scenes": len(play.scenes), "actions": len(track.heard), "dialogue": len(dialogue)}
    if out is None:
        console.result(text.rstrip("\n"), {**value, "file": None, "screenplay": text})
        return
    write_text(out, text)
    counts = "{scenes} scenes, {actions} actions, {dialogue} lines of dialogue".format(**value)
    console.result(f"{out}: {counts}.", {**value, "file": str(out)})
