"""``shotad evaluate …``: how good the parts are, measured against what people say; ``shotad datasets check``.

One line in `_KINDS` for each kind of evaluation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click

from shotad import evaluation
from shotad.cli.lazy import HerePath, LazyGroup
from shotad.cli.options import (
    PATH,
    Console,
    SectionedCommand,
    answer_options,
    combine_options,
    console_options,
    dataset_names_in_help,
    metric_context,
    settings_options,
    write_files,
)
from shotad.core import Config, load_config
from shotad.core.errors import UsageError
from shotad.core.files import write_text
from shotad.core.workfolder import readable_json

_DATASETS = {"check": ("shotad.cli.evaluate:check_command", "Check the files of a dataset.")}


@click.group(name="datasets", cls=LazyGroup, table=_DATASETS)
def datasets() -> None:
    """Check the files of AD datasets."""


@click.command(name="check")
@click.argument("name", metavar="NAME|FILE")
@click.option("--root", type=PATH, default=Path(), help="Folder of the dataset (default: this one).")
@click.option("--annotation", type=PATH, help="File of the human ADs.")
@click.option("--actions", type=PATH, help="File of the actions in the human ADs.")
@click.option("--shots", type=PATH, help="File of the shots.")
@click.option("--casts", type=PATH, help="Character names by film (JSON).")
@click.option("--video-root", type=PATH, help="Folder of the videos, if elsewhere.")
@click.option("--videos", is_flag=True, help="Also open every video.")
@console_options
@dataset_names_in_help
def check_command(console: Console, **options: Any) -> None:
    """Check the files of a dataset: what is there, missing, or malformed.

    NAME is {datasets}; FILE describes your own dataset, like those in configs/datasets. It
    looks below --root, also in the folders of the published repositories.

    Exit code 0 if everything that evaluation needs can be read, else 1. Prediction also needs the videos.
    """
    files = {name: options[name] for name in ("annotation", "actions", "shots", "casts")}
    dataset = evaluation.load_dataset(options["name"], options["root"], **files, strict=False)
    check = evaluation.check_dataset(
        dataset, console, videos=options["video_root"], need_videos=options["videos"]
    )
    console.result(evaluation.check_text(check), check)
    if not check["whole"]:
        click.get_current_context().exit(1)


dataset_options = combine_options(
    click.argument("dataset", metavar="DATASET"),
    click.option("--root", type=PATH, help="Dataset folder (default: $SHOTAD_DATASETS/DATASET or here)."),
    click.option("--annotation", type=PATH, help="File of the human ADs, if elsewhere."),
    click.option("--actions", type=PATH, help="File of the actions in the human ADs, if elsewhere."),
    click.option("--casts", type=PATH, help="Character names by film (JSON), if elsewhere."),
)
"""DATASET, and where its files are."""

prediction_options = combine_options(
    click.option(
        "--predictions",
        type=PATH,
        multiple=True,
        required=True,
        help="Predictions, CSV or JSON Lines; repeatable for shards.",
    ),
    click.option("--id-column", metavar="NAME", help="Column of the ids in the predictions."),
    click.option("--text-column", metavar="NAME", help="Column of the texts in the predictions."),
    click.option("--descriptions", type=PATH, help="Texts of Stage I, if in a separate file."),
)


_KINDS = {
    "ad": ("shotad.cli.evaluate:ad_command", "Score predicted ADs against human ADs."),
    "actions": ("shotad.cli.evaluate:actions_command", "Extract actions of human ADs, for the action score."),
    "agreement": ("shotad.cli.evaluate:agreement_command", "Correlate metrics with human scores."),
    "assisted": ("shotad.cli.evaluate:assisted_command", "Score the best of several candidates per AD."),
    "cml": ("shotad.cli.stories:cml_command", "Score screenplays by CML-Bench."),
    "compare": ("shotad.cli.evaluate:compare_command", "Compare two reports, film by film."),
    "convert": ("shotad.cli.evaluate:convert_command", "Convert predictions to the published CSV, or back."),
    "inter-rater": ("shotad.cli.evaluate:interrater_command", "Compare two human ADs of the same film."),
    "merge": ("shotad.cli.evaluate:merge_command", "Merge the reports of shards."),
    "story": ("shotad.cli.stories:story_command", "Ask what can be followed of a film's story."),
    "steps": ("shotad.cli.evaluate:steps_command", "Judge how-to scripts, or AD, as lists of steps."),
    "stage": ("shotad.cli.stories:stage_command", "Score a language model on STAGE's screenplays."),
    "thread-labels": ("shotad.cli.thread_labels", "Turn an annotation of threads into labels."),
    "threads": ("shotad.cli.evaluate:threads_command", "Score threads of shots against labels."),
}


@click.group(name="evaluate", cls=LazyGroup, table=_KINDS)
def command() -> None:
    """Score AD, and the parts that make it, against what people made."""


_JUDGE = "LLM judge, such as openai:gpt-4o; repeatable, each judges everything."
_MISSING = "ADs without a prediction: count them as 0 (default), or skip them."
measuring_options = combine_options(
    click.option("--judge", multiple=True, metavar="ENGINE[:MODEL]", help=_JUDGE),
    click.option("--missing", type=click.Choice(["zero", "skip"]), help=_MISSING),
    click.option("--system", metavar="NAME", default="", help="Name of the system in the report."),
    click.option("--cache", type=PATH, help="File that keeps computed values."),
    click.option("--force", is_flag=True, help="Compute everything again."),
)


unit_option = click.option(
    "--unit",
    type=click.Choice(["film", "ad"]),
    help="Intervals over films (default), or over ADs, which are too narrow for other films.",
)


@click.command(name="ad", cls=SectionedCommand)
@dataset_options
@prediction_options
@click.option(
    "--metrics",
    default="all",
    metavar="NAME,…",
    help="all (that can run here), or cider, cider-plain, bleu-1 to bleu-4, rouge-l, meteor, spice, "
    "action, action-description, events, event-verbs, event-participants, critic, recall, llm-ad-eval, "
    "llm-action, story-recall, repetition, repetition-meaning, names-kept.",
)
@measuring_options
@click.option("--shard", metavar="K/N", help="Only part K of N of the films; join with evaluate merge.")
@click.option("--out", type=PATH, help="Folder for the report (default: FILE.eval).")
@click.option("--compare", type=PATH, help="Earlier report to compare with.")
@click.option("--estimate", is_flag=True, help="Print the models' work and time; score and send nothing.")
@settings_options
@console_options
@dataset_names_in_help
def ad_command(console: Console, **options: Any) -> None:
    """Score predicted ADs against the human ADs of DATASET.

    DATASET is {datasets}, a YAML file that describes another dataset, or your own human ADs
    (CSV or JSON Lines: id, text or references, film, start, end, actions). Predictions and ADs are matched
    by id. A missing or failed prediction counts as 0. The metrics are made for English; data in another
    language is scored all the same, with a warning.

    The report goes to FILE.eval next to the predictions, or to --out: report.html, report.md, report.json,
    and items.csv with the values of each AD. A second run computes only what has changed. Exit code 1 if of a
    judge no answer could be used.
    """
    names = names_in(options["metrics"])
    shard = evaluation.Shard.parse(options["shard"] or "1/1")
    folder = options["out"] or report_folder(options["predictions"][0], "eval")
    if options["estimate"]:
        work = evaluation.estimate_evaluation(
            read_inputs(options, names), names, shard=shard, cache=options["cache"], force=options["force"]
        )
        lines = [*evaluation.model_work.work_lines(work), *evaluation.model_work.left_out_lines(work)]
        console.result("\n".join(lines), evaluation.model_work.work_json(work))
        return
    evaluation.check_folder(folder)
    inputs = read_inputs(options, names)
    # Read before anything is scored, and before it may be written over
    earlier = evaluation.read_report(options["compare"]) if options["compare"] is not None else None
    if earlier is not None:
        evaluation.check_same_dataset(earlier, inputs.corpus.items, "these predictions")
    run = evaluation.evaluate(
        inputs, names, console, shard=shard, cache=options["cache"], force=options["force"]
    )
    names = [*(result.name for result in run.results), *(metric.name for metric in run.not_measured)]
    if options["judge"] and not any("@" in name for name in names):
        console.note("None of these metrics needs a judge: --judge was not used.")
    files = list(evaluation.write_report(folder, run))
    report = evaluation.read_report(files[0].parent)
    text, value = evaluation.terminal_text(run), dict(report.head)
    if earlier is not None:
        comparison, comparison_report = evaluation.compare(earlier, report, run.config.measures.report)
        files += evaluation.write_comparison(files[0].parent, comparison, comparison_report)
        text = f"{text}\n\n{evaluation.comparison_text(comparison_report)}"
        value["comparison"] = comparison
    shown = [str(path) for path in files if path.suffix != ".png"]
    console.result("\n".join([text, "", "Files:", *(f"  {name}" for name in shown)]), value)
    if any(metric.reason.startswith(evaluation.JUDGE_FAILED) for metric in run.not_measured):
        click.get_current_context().exit(1)


@click.command(name="assisted", cls=SectionedCommand)
@dataset_options
@prediction_options
@click.option("--metrics", default="all", metavar="NAME,…", help="Metrics, as for evaluate ad.")
@click.option(
    "--expert", default="cider,action", metavar="NAME,…", help="Metrics whose mean decides (cider,action)."
)
@measuring_options
@click.option("--out", type=PATH, help="Folder for the report (default: FILE.assisted).")
@settings_options
@console_options
def assisted_command(console: Console, **options: Any) -> None:
    """Let an "expert" choose among the candidates of each AD, and score the choice.

    The expert is the rule of the Shot-by-Shot paper: the candidate with the highest mean of CIDEr and action
    score. The report also shows the first candidate, the mean of a random one, and the best possible one by
    each metric. LLM judges score only the choice.

    The folder gets assisted.json, choices.jsonl with each choice, and the report of the chosen lines.
    """
    names, expert = names_in(options["metrics"]), names_in(options["expert"])
    predictions: Path = options["predictions"][0]
    folder = options["out"] or report_folder(predictions, "assisted")
    evaluation.check_folder(folder)
    inputs = read_inputs(options, [*names, *expert])
    for finding in inputs.findings:
        console.note(finding)

    def tell(role: str, result: evaluation.Result) -> None:
        value = "not defined" if result.value is None else f"{result.value:.2f}"
        console.note(f"{result.title}, {role}: {value} ({result.seconds:.1f} s).")

    with metric_context(console, inputs.config, options) as context:
        done = evaluation.assisted_choice.choose_assisted(
            inputs.corpus, names, context, expert=expert, done=tell
        )
    written = evaluation.write_report(folder, done.report(inputs))
    write_text(
        folder / "assisted.json",
        json.dumps(evaluation.assisted_choice.assisted_json(done), ensure_ascii=False, indent=1) + "\n",
    )
    rows = (json.dumps(choice, ensure_ascii=False) + "\n" for choice in done.choices)
    write_text(folder / "choices.jsonl", "".join(rows))
    shown = [folder / "assisted.json", folder / "choices.jsonl", *(f for f in written if f.suffix != ".png")]
    text = evaluation.assisted_choice.assisted_text(done, options["system"] or predictions.name)
    console.result(
        "\n".join([text, "", "Files:", *(f"  {path}" for path in shown)]),
        evaluation.assisted_choice.assisted_json(done),
    )


@click.command(name="convert", cls=SectionedCommand)
@dataset_options
@prediction_options
@click.option(
    "--stage", type=click.Choice(["1", "2"]), default="2", help="Whose texts a CSV file gets (default: 2)."
)
@click.option(
    "--out",
    type=HerePath(path_type=Path, dir_okay=False),
    required=True,
    help="File to write, .csv or .jsonl.",
)
@console_options
@dataset_names_in_help
def convert_command(console: Console, **options: Any) -> None:
    """Convert predictions to the published CSV form, or back.

    DATASET is {datasets}, or a file that describes another. --out X.csv writes what the scripts
    published with Shot-by-Shot read: a row for each AD of the dataset, in its order, with an empty text
    where there is none. With --stage 1 it has the descriptions of Stage I. --out X.jsonl writes JSON Lines
    like those of shotad predict.
    """
    out: Path = options["out"]
    suffix = out.suffix.lower()
    if suffix not in (".csv", ".jsonl"):
        raise UsageError(f"--out {out} is neither .csv nor .jsonl.", "The ending says which form is wanted.")
    files = {name: options[name] for name in ("annotation", "actions", "casts")}
    dataset = evaluation.load_dataset(options["dataset"], options["root"], **files)
    predictions = evaluation.read_predictions(
        *options["predictions"], text_column=options["text_column"], id_column=options["id_column"]
    )
    descriptions = options["descriptions"]
    joined = evaluation.join(
        dataset, predictions, evaluation.read_predictions(descriptions) if descriptions else None
    )
    for finding in joined.findings:
        console.note(f"{finding.where}: {finding.what}")
    items = joined.corpus.items
    if suffix == ".csv":
        text = evaluation.published_table(dataset, items, "stage1" if options["stage"] == "1" else "stage2")
    else:
        text = "".join(evaluation.our_lines(dataset, items))
    write_text(out, text)
    predicted = sum(item.prediction is not None for item in items)
    message = f"{predicted:,} of {len(items):,} ADs have a prediction. Written: {out}"
    console.result(message, {"out": str(out), "ads": len(items), "predicted": predicted})


@click.command(name="compare")
@click.argument("a", type=PATH)
@click.argument("b", type=PATH)
@click.option("--out", type=PATH, help="Folder for compare.json, .md and .html.")
@unit_option
@settings_options
@console_options
def compare_command(console: Console, a: Path, b: Path, out: Path | None, **options: Any) -> None:
    """Is B better than A? Both are report folders of shotad evaluate ad.

    It scores nothing again. It matches ADs by id, lists those that only one report has, and compares film by
    film. With --out it also writes the lines that gained and lost most.
    """
    if out is not None:
        evaluation.check_folder(out)
    comparison, comparison_report = evaluation.compare(
        evaluation.read_report(a), evaluation.read_report(b), _settings(options).measures.report
    )
    if out is not None:
        for path in evaluation.write_comparison(out, comparison, comparison_report):
            console.note(f"Written: {path}")
    console.result(evaluation.comparison_text(comparison_report), comparison)


@click.command(name="merge")
@click.argument("shards", nargs=-1, required=True, type=PATH)
@click.option("--out", type=PATH, required=True, help="Folder for the merged report.")
@console_options
def merge_command(console: Console, shards: tuple[Path, ...], out: Path) -> None:
    """Merge the reports of shards into one.

    SHARDS are the report folders of shotad evaluate ad --shard K/N, each once. The numbers equal those of one
    run over everything; nothing is scored again.
    """
    run = evaluation.merge([evaluation.read_report(shard) for shard in shards])
    for path in evaluation.write_report(out, run):
        console.note(f"Written: {path}")
    console.result(evaluation.terminal_text(run), evaluation.read_report(out).head)


@click.command(name="threads")
@click.argument("labels", metavar="DIR", type=PATH)
@click.option("--films", type=PATH, help="Folder of the clips (default: that of each file).")
@click.option("--out", type=PATH, help="Folder for scores and figures (default: DIR.shotad).")
@click.option("--features", metavar="NAME", help="auto, grid, dinov2-small to dinov2-giant-registers, …")
@click.option("--frames", type=click.Choice(["side", "mid", "all"]), help="Frames to compare.")
@click.option("--match", type=click.Choice(["patches", "whole"]), help="Compare by patches, or as a whole.")
@click.option("--threshold", type=float, metavar="X", help="Join two shots whose score is above this.")
@click.option("--table", is_flag=True, help="All rows of the paper's Table 1: side, mid, all, whole.")
@click.option("--force", is_flag=True, help="Score every clip again.")
@settings_options
@console_options
def threads_command(console: Console, **options: Any) -> None:
    """Score the threads that shotad finds against the labels in DIR.

    DIR holds JSON files, each for one clip or a list of clips: "clip" is the film's path relative to the
    file, "shots" are [start, end] in seconds, "clusters" are lists of shot numbers, from 0, that share a
    camera set-up. shotad evaluate thread-labels converts other annotations.

    Run the same command again to continue where it stopped. Exit code 1 if a clip failed; a failed clip
    counts as nothing found.
    """
    from shotad.core import WorkFolder
    from shotad.core.workfolder import work_folder_of

    named = {f"threads__{name}": options[name] for name in ("features", "frames", "match", "threshold")}
    config = load_config(options["config"], options["assignments"], **named)
    setups = (
        evaluation.threads.THREAD_SETUPS
        if options["table"]
        else (evaluation.threads.ThreadSetup(config.threads.frames, config.threads.match),)
    )
    if options["table"] and (options["frames"] or options["match"]):
        raise UsageError("--table compares all frames and matches.", "Leave out --frames and --match.")
    folder: Path = options["labels"]
    out = options["out"] or work_folder_of(folder.resolve())
    clips, ignored = evaluation.thread_labels.read_thread_labels(folder, outside=out, films=options["films"])
    if ignored:
        console.note(f"No labels, left alone: {', '.join(ignored)}")
    maker = evaluation.threads.feature_maker(config, console)
    with WorkFolder(out, force=options["force"]) as place:
        console.note(f"Results: {out}")
        record = evaluation.evaluate_threads(clips, setups, config, place, maker, console)
    console.result(evaluation.threads.threads_text(record), record)
    if record["n"]["failed"]:
        click.get_current_context().exit(1)


@click.command(name="actions")
@click.argument("source", metavar="DATASET|FILE")
@click.option("--root", type=PATH, help="Folder of the dataset.")
@click.option("--annotation", type=PATH, help="File of the human ADs, if elsewhere.")
@click.option(
    "--engine",
    required=True,
    metavar="NAME",
    help="openai:MODEL, llama3:MODEL, or rules (no model, less exact).",
)
@click.option("--out", type=PATH, default=Path("gt_action.csv"), show_default=True, help="CSV file to write.")
@click.option("--cache", type=PATH, help="File that keeps the answers (default: next to --out).")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N ADs.")
@click.option("--force", is_flag=True, help="Ask for everything again.")
@settings_options
@console_options
@dataset_names_in_help
def actions_command(console: Console, **options: Any) -> None:
    """Extract the actions of human ADs, which the action score needs.

    An engine replaces each person by a pronoun, then splits each AD into sentences of one verb phrase.
    DATASET is {datasets}, or a file that describes yours; FILE is CSV or JSONL with "id" and
    "text". A file .about.json next to the result says who made it and what failed.

    Run the same command again to continue where it stopped. Exit code 1 if an AD has no actions.
    """
    config = load_config(options["config"], options["assignments"])
    out: Path = options["out"]
    evaluation.check_folder(out.parent)
    ads = evaluation.making_actions.ads_of(options["source"], options["root"], options["annotation"])[
        : options["limit"]
    ]
    with evaluation.Store(
        options["cache"] or out.with_suffix(".answers.sqlite"), forget=options["force"]
    ) as store:
        context = evaluation.MetricContext(config, store, console)
        actions, record = evaluation.make_actions(ads, options["engine"], context)
    console.note(
        f"Actions: {', '.join(map(str, evaluation.making_actions.write_actions(actions, record, out)))}"
    )
    console.result(evaluation.making_actions.actions_text(record), record)
    if record["failed"]:
        click.get_current_context().exit(1)


@click.command(name="steps", cls=SectionedCommand)
@click.argument("files", nargs=-1, required=True, type=PATH, metavar="FILE...")
@click.option("--judge", multiple=True, metavar="ENGINE[:MODEL]", help=_JUDGE)
@click.option("--baseline", is_flag=True, help="Ask also one judge for all criteria at once.")
@click.option(
    "--planted",
    metavar="rules|ENGINE",
    default="",
    help="Plant faults, by rules or by an engine, and count which the judge sees.",
)
@click.option("--people", type=PATH, help="File of human labels: CSV or JSONL.")
@click.option("--out", type=PATH, help="Folder for steps.json.")
@answer_options
@settings_options
@console_options
def steps_command(console: Console, files: tuple[Path, ...], out: Path | None, **options: Any) -> None:
    """Judge lists of steps by ABSEval: four agents, seven criteria.

    FILE holds how-to scripts: CSV or JSON with goal, steps, and perhaps constraint, id, system. Or it is a
    work folder, a track, a script with times, or predictions: their lines are the steps, two minutes or
    twelve lines to a script. Name several files to compare systems on the same tasks or the same film.

    People's labels have a row per script: id, system, annotator, and a column for each criterion
    (no-missing, no-redundant, no-duplicate, executable, constraint, goal, order), 1 where it holds.

    Run the same command again to continue where it stopped. Exit code 1 if an answer could not be read.
    """
    config = _settings(options)
    judges = dict.fromkeys(options["judge"] or config.measures.judge.engines)
    if not judges:
        raise UsageError("No judge is named.", "Add --judge openai:gpt-4o, or set measures.judge.engines.")
    if out is not None:
        evaluation.check_folder(out)
    scripts = evaluation.steps.read_steps(files)
    labels = evaluation.steps.read_labels(options["people"]) if options["people"] else None
    with metric_context(console, config, options) as context:
        trials = {"baseline": options["baseline"], "planted": options["planted"], "labels": labels}
        results = [evaluation.evaluate_steps(scripts, judge, context, **trials) for judge in judges]
    record = {"schema": 1, "judges": results}
    write_files(console, out, {"steps.json": readable_json(record)})
    console.result("\n\n".join(map(evaluation.steps.steps_text, results)), record)
    all_figures = [
        figures for result in results for figures in (*result["scores"], *chain(*result["faults"].values()))
    ]
    if any(figures["unread"] for figures in all_figures):
        click.get_current_context().exit(1)


def read_inputs(options: Mapping[str, Any], metrics: Sequence[str]) -> evaluation.Report:
    """The human ADs, the predictions joined to them, and the settings that the options ask for; with what is
    wrong with the parts of the dataset that these metrics use."""

    names = ("root", "annotation", "actions", "casts", "id_column", "text_column", "descriptions")
    return evaluation.read_inputs(
        options["dataset"],
        options["predictions"],
        configs=options["config"],
        assignments=options["assignments"],
        missing=options["missing"],
        judges=options["judge"],
        system=options["system"],
        metrics=metrics,
        **{name: options[name] for name in names},
    )


def _settings(options: Mapping[str, Any]) -> Config:
    return load_config(options["config"], options["assignments"], measures__report__unit=options.get("unit"))


def names_in(text: str) -> list[str]:
    """``"cider, action" → ["cider", "action"]``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def report_folder(predictions: Path, ending: str) -> Path:
    """The folder of a report beside the predictions: ``preds.jsonl → preds.eval``."""
    return predictions.with_name(f"{predictions.stem}.{ending}")


@click.command(name="agreement")
@click.argument("report", type=PATH)
@click.option("--scores", type=PATH, required=True, help="File of human scores: CSV or JSONL.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric; repeatable.")
@click.option("--out", type=PATH, help="Folder for agreement.json.")
@unit_option
@settings_options
@console_options
def agreement_command(console: Console, report: Path, out: Path | None, **options: Any) -> None:
    """Do metrics agree with people?

    REPORT is a report folder of shotad evaluate ad. The file of scores has one row per AD, or per action of
    an AD: id, action (if an AD has several), and score or one column per annotator. The mean is taken over
    annotators, then over actions. Correlations are over ADs: Pearson, Spearman, and Kendall's tau-b.
    """
    if out is not None:
        evaluation.check_folder(out)
    scores, settings = evaluation.read_scores(options["scores"]), _settings(options)
    agreement = evaluation.agreement(
        evaluation.read_report(report), scores, settings.measures.report, names=options["metrics"]
    )
    write_files(console, out, {"agreement.json": readable_json(agreement)})
    console.result(evaluation.agreement_text(agreement, scores), agreement)


@click.command(name="inter-rater")
@click.argument("scripts", nargs=-1, required=True, type=PATH, metavar="A B | TABLE")
@click.option(
    "--tiou", default="0.5,0.8,0.9,0.95", show_default=True, metavar="X,…", help="Overlaps in time to report."
)
@click.option(
    "--metrics",
    metavar="NAME,…",
    help="Metrics (default: cider, bleu-1, rouge-l, meteor, action, events, recall).",
)
@click.option("--out", type=PATH, help="Folder for inter-rater.json.")
@click.option("--cache", type=PATH, help="File that keeps computed values.")
@settings_options
@console_options
def interrater_command(console: Console, scripts: tuple[Path, ...], out: Path | None, **options: Any) -> None:
    """How well do two human ADs of the same film agree?

    A and B are scripts of one film (WebVTT, SRT, DAPT, CSV, JSON). TABLE is a CSV file with both versions of
    many films: film, rater, start, end, text. Lines are paired one to one by overlap in time (tIoU). Each
    version is then scored as a prediction of the other: the score that a system can hope for.
    """
    if out is not None:
        evaluation.check_folder(out)
    try:
        thresholds = [float(part) for part in options["tiou"].split(",")]
    except ValueError:
        raise UsageError(f"--tiou {options['tiou']} holds no numbers.", "Write 0.8 or 0.5,0.8.") from None
    names = names_in(options["metrics"] or "")
    if len(scripts) > 2:
        raise UsageError(f"{len(scripts)} files were given.", "Name two scripts, or one table.")
    versions = list(
        evaluation.interrater.from_scripts(*scripts)
        if len(scripts) == 2
        else evaluation.interrater.from_table(scripts[0])
    )
    with metric_context(console, _settings(options), options) as context:
        agreement = evaluation.inter_rater(versions[0], versions[1], thresholds, context, names)
    write_files(console, out, {"inter-rater.json": readable_json(agreement)})
    console.result(evaluation.interrater.interrater_text(agreement, *versions), agreement)
