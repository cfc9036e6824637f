"""``shotad evaluate …``: how good the parts are, measured against what people say.

One line in `_KINDS` for each kind of evaluation: predicted ADs, an expert's choice among candidates, two
reports, reports of shards, threads, and the actions that the action score needs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.datasets import dataset_options, prediction_options
from shotad.cli.lazy import LazyGroup
from shotad.cli.options import PATH, Console, console_options, settings_options, together
from shotad.core import Config, UsageError, load_config, readable_json, write_text

if TYPE_CHECKING:
    from shotad.evaluation import Corpus, Inputs, Report, ReportInput, Result, Version

_KINDS = {
    "ad": ("shotad.cli.evaluate:ad_command", "Predicted ADs, against those of people."),
    "actions": (
        "shotad.cli.evaluate:actions_command",
        "Make the actions of human ADs, for the action score.",
    ),
    "agreement": ("shotad.cli.evaluate:agreement_command", "A metric, against scores that people gave."),
    "assisted": (
        "shotad.cli.evaluate:assisted_command",
        "Several candidates for each AD, with an expert's choice.",
    ),
    "compare": ("shotad.cli.evaluate:compare_command", "Two reports, film by film: is one better?"),
    "inter-rater": (
        "shotad.cli.evaluate:interrater_command",
        "Two human ADs of one film, against each other.",
    ),
    "merge": ("shotad.cli.evaluate:merge_command", "Reports of shards, made one."),
    "threads": (
        "shotad.cli.evaluate:threads_command",
        "Threads of shots, against clusters that people made.",
    ),
}


@click.group(name="evaluate", cls=LazyGroup, table=_KINDS)
def command() -> None:
    """Measure AD and the parts that make it, against what people made."""


measuring_options = together(
    click.option(
        "--judge",
        multiple=True,
        metavar="ENGINE[:MODEL]",
        help="An engine that judges, such as openai:gpt-4o; repeatable, all judge everything.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["zero", "skip"]),
        help="What has no prediction counts as 0 (the default), or is left out.",
    ),
    click.option("--system", metavar="NAME", default="", help="What the report calls the predictions."),
    click.option("--cache", type=PATH, help="The file that keeps what is computed of texts."),
    click.option("--force", is_flag=True, help="Compute everything again."),
)


unit_option = click.option(
    "--unit",
    type=click.Choice(["film", "ad"]),
    help="What intervals are over: films (default), or single ADs, which is too narrow for other films.",
)


@click.command(name="ad")
@dataset_options
@prediction_options
@click.option(
    "--metrics",
    default="all",
    metavar="NAME,…",
    help="all (what can be measured here), or cider, cider-plain, bleu-1 to bleu-4, rouge-l, meteor, spice, "
    "action, action-description, critic, recall, llm-ad-eval, llm-action, story-recall, repetition, "
    "repetition-meaning, names-kept.",
)
@measuring_options
@click.option(
    "--shard", metavar="K/N", help="Only the K-th of N parts of the films; evaluate merge joins them."
)
@click.option("--out", type=PATH, help="The report's folder (default: FILE.eval).")
@click.option("--compare", type=PATH, help="An earlier report to hold this one against.")
@settings_options
@console_options
def ad_command(console: Console, **options: Any) -> None:
    """Measure predicted ADs against the human ones of DATASET.

    DATASET is cmd-ad, mad-eval or tv-ad, a file (YAML) that describes another, or a file with human ADs of
    your own (CSV or JSON Lines: id, text or references, film, start, end, actions). Predictions are joined
    by id; what is missing or failed counts as 0.

    The report goes to FILE.eval beside the predictions, or --out: report.html, report.md, report.json, and
    items.csv with each AD's values. What is computed is kept: a second run computes what has changed.
    """
    from shotad.evaluation import WHOLE, Shard, check_folder, evaluate, write_report

    names = listed(options["metrics"])
    shard = Shard.parse(options["shard"]) if options["shard"] else WHOLE
    folder = options["out"] or beside(options["predictions"][0], "eval")
    check_folder(folder)
    inputs = given(options)
    earlier = _earlier(options["compare"], inputs.joined.corpus)
    run = evaluate(inputs, names, console, shard=shard, cache=options["cache"], force=options["force"])
    names = [*(result.name for result in run.results), *(left.metric for left in run.left_out)]
    if options["judge"] and not any("@" in name for name in names):
        console.note("No metric that was asked for needs a judge: --judge was not used.")
    _tell(console, run, write_report(folder, run), earlier)


def _earlier(path: Path | None, corpus: Corpus) -> Report | None:
    """The report to compare with: read before anything is scored, and before it may be written over."""
    from shotad.evaluation import check_same_dataset, read_report

    if path is None:
        return None
    report = read_report(path)
    check_same_dataset(report, corpus.items, "these predictions")
    return report


def _tell(console: Console, run: ReportInput, files: Sequence[Path], earlier: Report | None) -> None:
    from shotad.evaluation import compare, comparison_text, read_report, terminal_text, write_comparison

    folder = files[0].parent
    report = read_report(folder)
    text, value = terminal_text(run), dict(report.head)
    if earlier is not None:
        comparison = compare(earlier, report, run.config.measures.report)
        files = [*files, *write_comparison(folder, comparison)]
        text = f"{text}\n\n{comparison_text(comparison)}"
        value["comparison"] = comparison.record()
    shown = [str(path) for path in files if path.suffix != ".png"]
    console.result("\n".join([text, "", "Files:", *(f"  {name}" for name in shown)]), value)


@click.command(name="assisted")
@dataset_options
@prediction_options
@click.option(
    "--metrics", default="all", metavar="NAME,…", help="What the choice is measured by; see evaluate ad."
)
@click.option(
    "--expert", default="cider,action", metavar="NAME,…", help="Metrics whose mean the expert goes by."
)
@measuring_options
@click.option("--out", type=PATH, help="The report's folder (default: FILE.assisted).")
@settings_options
@console_options
def assisted_command(console: Console, **options: Any) -> None:
    """Let an expert choose among the candidates of each AD, and measure the choice.

    The expert is the rule of the Shot-by-Shot paper: the candidate with the highest mean of CIDEr and action
    score. Beside the choice stand the first candidate, a random one on average, and the best possible by
    each metric. Metrics that ask an engine are counted of the choice alone.

    The folder gets assisted.json, choices.jsonl with each AD's choice, and the report of the chosen lines.
    """
    from shotad.evaluation import (
        MetricContext,
        Store,
        as_json,
        assist,
        check_folder,
        expert_words,
        kept_file,
        render,
        report_input,
        write_report,
    )

    names, expert = listed(options["metrics"]), listed(options["expert"])
    predictions: Path = options["predictions"][0]
    folder = options["out"] or beside(predictions, "assisted")
    check_folder(folder)
    inputs = given(options)
    for finding in inputs.findings:
        console.note(finding)

    def tell(role: str, result: Result) -> None:
        value = "not defined" if result.value is None else f"{result.value:.2f}"
        console.note(f"{result.title}, {role}: {value} ({result.seconds:.1f} s).")

    with Store(options["cache"] or kept_file(), forget=options["force"]) as store:
        bench = MetricContext(inputs.config, store, console)
        done = assist(inputs.joined.corpus, names, bench, expert=expert, done=tell)
    said = f"The line of each AD is the candidate with the highest mean of {expert_words(done)}."
    run = report_input(inputs, done.corpus, done.measured, protocol="assisted", notes=(said,))
    written = write_report(folder, run)
    write_text(folder / "assisted.json", json.dumps(as_json(done), ensure_ascii=False, indent=1) + "\n")
    rows = (json.dumps(choice.record(), ensure_ascii=False) + "\n" for choice in done.choices)
    write_text(folder / "choices.jsonl", "".join(rows))
    shown = [folder / "assisted.json", folder / "choices.jsonl", *(f for f in written if f.suffix != ".png")]
    text = render(done, options["system"] or predictions.name)
    console.result("\n".join([text, "", "Files:", *(f"  {path}" for path in shown)]), as_json(done))


@click.command(name="compare")
@click.argument("a", type=PATH)
@click.argument("b", type=PATH)
@click.option("--out", type=PATH, help="Folder for compare.json, .md and .html.")
@unit_option
@settings_options
@console_options
def compare_command(console: Console, a: Path, b: Path, out: Path | None, **options: Any) -> None:
    """Is B better than A? Both are folders that shotad evaluate ad has written.

    Nothing is scored again. ADs are joined by id; those that only one of the two has are named and left out.
    Differences are taken film by film. --out writes the lines that gained and lost most, too.
    """
    from shotad.evaluation import compare, comparison_text, read_report, write_comparison

    comparison = compare(read_report(a), read_report(b), _settings(options).measures.report)
    if out is not None:
        for path in write_comparison(out, comparison):
            console.note(f"Written: {path}")
    console.result(comparison_text(comparison), comparison.record())


@click.command(name="merge")
@click.argument("shards", nargs=-1, required=True, type=PATH)
@click.option("--out", type=PATH, required=True, help="The folder of the one report.")
@console_options
def merge_command(console: Console, shards: tuple[Path, ...], out: Path) -> None:
    """Make one report of those of shards.

    SHARDS are folders that shotad evaluate ad --shard K/N has written, each once. Numbers are those of a run
    over all of it at once; nothing is scored again.
    """
    from shotad.evaluation import merge, read_report, terminal_text, write_report

    run = merge([read_report(shard) for shard in shards])
    for path in write_report(out, run):
        console.note(f"Written: {path}")
    console.result(terminal_text(run), read_report(out).head)


@click.command(name="threads")
@click.argument("labels", metavar="DIR", type=PATH)
@click.option("--films", type=PATH, help="Clips are relative to this folder.")
@click.option("--out", type=PATH, help="The folder for scores and figures.")
@click.option("--features", metavar="NAME", help="auto, grid, dinov2-small to dinov2-giant-registers, …")
@click.option("--frames", type=click.Choice(["side", "mid", "all"]), help="Which frames are compared.")
@click.option("--match", type=click.Choice(["patches", "whole"]), help="Patch by patch, or whole frames.")
@click.option("--threshold", type=float, metavar="X", help="Score above which two shots are joined.")
@click.option("--table", is_flag=True, help="All rows of the paper's Table 1: side, mid, all, whole.")
@click.option("--force", is_flag=True, help="Score every clip again.")
@settings_options
@console_options
def threads_command(console: Console, **options: Any) -> None:
    """Measure how well threads are found in the clips that DIR has labels of.

    DIR holds JSON files, one for each clip or with a list of them: "clip" is the film's path relative to
    the file, "shots" are [start, end] in seconds, "clusters" are lists of shot numbers, from 0, that share
    a camera set-up. tools/thread_safe.py makes them of other annotations.

    Scores go to DIR.shotad beside DIR, or --out, clip by clip: the same command goes on where it stopped.
    Exit code 1 if a clip failed; failed clips count as nothing found.
    """
    from shotad.core import WorkFolder, work_folder_of
    from shotad.evaluation import evaluate_threads, feature_maker, read_thread_labels

    named = {f"threads__{name}": options[name] for name in ("features", "frames", "match", "threshold")}
    config = load_config(options["config"], options["assignments"], **named)
    setups = _setups(options, config)
    folder: Path = options["labels"]
    out = options["out"] or work_folder_of(folder.resolve())
    labels = read_thread_labels(folder, outside=out, films=options["films"])
    if labels.ignored:
        console.note(f"No labels, left alone: {', '.join(labels.ignored)}")
    maker = feature_maker(config, console)
    with WorkFolder(out, force=options["force"]) as place:
        console.note(f"Results: {out}")
        evaluation = evaluate_threads(labels, setups, config, place, maker, console)
    console.result(evaluation.text, evaluation.record())
    if evaluation.failed:
        click.get_current_context().exit(1)


def _setups(options: dict[str, Any], config: Config) -> tuple[Any, ...]:
    from shotad.evaluation import TABLE, Setup

    if not options["table"]:
        return (Setup(config.threads.frames, config.threads.match),)
    if options["frames"] or options["match"]:
        raise UsageError("--table compares all frames and matches.", "Leave out --frames and --match.")
    return TABLE


@click.command(name="actions")
@click.argument("source", metavar="DATASET|FILE")
@click.option("--root", type=PATH, help="The dataset's folder.")
@click.option("--annotation", type=PATH, help="Its table of ADs, if it lies elsewhere.")
@click.option(
    "--engine",
    required=True,
    metavar="NAME",
    help="openai:MODEL, llama3:MODEL, or rules for none: by a dependency parse, less exact.",
)
@click.option(
    "--out", type=PATH, default=Path("gt_action.csv"), show_default=True,
    help="The CSV file; .about.json beside it says who made it, and what failed.",
)  # fmt: skip
@click.option("--cache", type=PATH, help="What was answered; default: beside --out.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N ADs.")
@click.option("--force", is_flag=True, help="Ask everything again.")
@settings_options
@console_options
def actions_command(console: Console, **options: Any) -> None:
    """Make the human ADs' actions, by which the action score counts, for data that has none.

    An engine puts a pronoun for every person, and then takes each AD apart into sentences of one verb phrase.
    DATASET is cmd-ad, tv-ad, mad-eval or a file that describes yours; FILE is CSV or JSONL with "id" and
    "text".

    Answers are kept: the same command goes on where it stopped. Exit code 1 if an AD was left without
    actions.
    """
    from shotad.evaluation import (
        MetricContext,
        Store,
        ads_of,
        make_actions,
        make_maker,
        write_actions,
    )

    config = load_config(options["config"], options["assignments"])
    out: Path = options["out"]
    ads = ads_of(options["source"], options["root"], options["annotation"])[: options["limit"]]
    with Store(options["cache"] or out.with_suffix(".answers.sqlite"), forget=options["force"]) as store:
        maker = make_maker(options["engine"], MetricContext(config, store, console))
        made = make_actions(ads, maker, console)
    console.note(f"Actions: {', '.join(map(str, write_actions(made, out)))}")
    console.result(made.text, made.record())
    if made.failed:
        click.get_current_context().exit(1)


def given(options: Mapping[str, Any]) -> Inputs:
    """The human ADs, the predictions joined to them, and the settings that the options ask for."""
    from shotad.evaluation import read_inputs

    names = ("root", "annotation", "actions", "casts", "id_column", "text_column", "descriptions")
    return read_inputs(
        options["dataset"],
        options["predictions"],
        configs=options["config"],
        assignments=options["assignments"],
        missing=options["missing"],
        judges=options["judge"],
        system=options["system"],
        **{name: options[name] for name in names},
    )


def _settings(options: Mapping[str, Any]) -> Config:
    return load_config(options["config"], options["assignments"], measures__report__unit=options.get("unit"))


def listed(text: str) -> list[str]:
    """``"cider, action" → ["cider", "action"]``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def beside(predictions: Path, ending: str) -> Path:
    """The folder of a report beside the predictions: ``preds.jsonl → preds.eval``."""
    return predictions.with_name(f"{predictions.stem}.{ending}")


@click.command(name="agreement")
@click.argument("report", type=PATH)
@click.option("--scores", type=PATH, required=True, help="Human scores: CSV or JSONL.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="One of the report's; repeatable.")
@click.option("--out", type=PATH, help="Folder for agreement.json.")
@unit_option
@settings_options
@console_options
def agreement_command(console: Console, report: Path, out: Path | None, **options: Any) -> None:
    """Do metrics agree with people?

    REPORT is a folder that shotad evaluate ad has written. FILE has a line for each AD, or for each action of
    it: id, action where an AD has several, and score or a column for each annotator. Annotators are averaged,
    then actions. Correlations are over ADs: Pearson, Spearman, and Kendall's tau-b.
    """
    from shotad.evaluation import agreement, read_report, read_scores

    scores, settings = read_scores(options["scores"]), _settings(options)
    found = agreement(read_report(report), scores, settings.measures.report, names=options["metrics"])
    if out is not None:
        write_text(out / "agreement.json", readable_json(found.record()))
        console.note(f"Written: {out / 'agreement.json'}")
    console.result(found.text, found.record())


@click.command(name="inter-rater")
@click.argument("scripts", nargs=-1, required=True, type=PATH, metavar="A B | TABLE")
@click.option(
    "--tiou",
    default="0.5,0.8,0.9,0.95",
    show_default=True,
    metavar="X,…",
    help="Overlaps in time, each a row.",
)
@click.option(
    "--metrics", metavar="NAME,…", help="Default: cider, bleu-1, rouge-l, meteor, action and recall."
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    metavar="WPM",
    help="Reckon where lines end from their words, at so many a minute, not from their cues.",
)
@click.option("--out", type=PATH, help="Folder for inter-rater.json.")
@click.option("--cache", type=PATH, help="The file that keeps what is computed of texts.")
@settings_options
@console_options
def interrater_command(console: Console, scripts: tuple[Path, ...], out: Path | None, **options: Any) -> None:
    """How well do two human ADs of the same film agree?

    A and B are scripts of one film (WebVTT, SRT, DAPT, CSV, JSON). TABLE is one CSV of both versions of many
    films: film, rater, start, end, text. Lines are paired by overlap in time (tIoU), one to one; then each
    version is scored as a prediction of the other: what a system can hope for.
    """
    from shotad.evaluation import (
        MetricContext,
        Store,
        at_rate,
        inter_rater,
        interrater_record,
        interrater_text,
        kept_file,
    )

    thresholds, names = _thresholds(options["tiou"]), listed(options["metrics"] or "")
    versions = _versions(scripts)
    if options["rate"] is not None:
        versions = [at_rate(version, options["rate"]) for version in versions]
    with Store(options["cache"] or kept_file()) as store:
        bench = MetricContext(_settings(options), store, console)
        found = inter_rater(versions[0], versions[1], thresholds, bench, names)
    if out is not None:
        write_text(out / "inter-rater.json", readable_json(interrater_record(found)))
        console.note(f"Written: {out / 'inter-rater.json'}")
    console.result(interrater_text(found), interrater_record(found))


def _thresholds(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--tiou {text} holds no numbers.", "Write 0.8 or 0.5,0.8.") from None


def _versions(scripts: tuple[Path, ...]) -> list[Version]:
    from shotad.evaluation import from_scripts, from_table

    if len(scripts) > 2:
        raise UsageError(f"{len(scripts)} files were given.", "Name two scripts, or one table.")
    return list(from_scripts(*scripts) if len(scripts) == 2 else from_table(scripts[0]))
