"""What the commands share: options, what they mean, and what the user sees.

A terminal gets bars; where output is no terminal, or with ``--plain``, plain lines that a screen
reader can follow. Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.interface import is_off
from shotad.cli.lazy import FilmPath, HerePath
from shotad.core import (
    Config,
    ShotadError,
    load_config,
)
from shotad.core.errors import (
    UsageError,
    WorkFolderError,
    quoted,
)
from shotad.core.files import refuse_special, write_text
from shotad.core.progress import (
    Display,
    ProgressMode,
    display_mode,
    terminal_text,
)
from shotad.core.redaction import redact_sent_secrets
from shotad.core.settings import assignments_of, dataset_names
from shotad.core.text_files import read_text_file
from shotad.core.types import frame_rate_of
from shotad.script.cue import parse_time

if TYPE_CHECKING:
    from shotad.core import WorkFolder
    from shotad.description import Inputs
    from shotad.evaluation import MetricContext
    from shotad.film import Film

Command = Callable[..., Any]

PATH = HerePath(path_type=Path)

DETAIL = click.Choice(["brief", "normal", "rich"])
SELECT = click.Choice(["single", "sequence", "engine"])


class FiniteRange(click.FloatRange):
    """A decimal number in a range. Unlike click's, it refuses NaN, which no bound keeps out."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


_SECTIONS = {
    "Film": "lists only_failed existing subtitles encoding audio_track start end film_file speech",
    "Data": "root annotation actions casts videos predictions ids films limit shard",
    "Description": "engine target language detail quotes note context verify candidates select estimate "
    "shown_slot",
    "Cast": "cast cast_folder cast_bank cast_photos cast_key",
    "Sound": "voice makes loudness extended subtitles_spoken subtitle_voice sayings track_file default_track",
    "Metrics": "metrics expert judge analyst baseline planted people missing system compare",
    "Rules": "level only skip ignore accept listing words read_screen",
    "Many films": "jobs watch settle dry_run report_file no_beside",
    "Cluster": "address ray_files scratch",
    "Output": "instruction out force discard_edits no_sheet",
    "Advanced": "config assignments slots shots frame_rate sampling retries min_free memory ask "
    "keep_work id_column text_column descriptions cache timed",
}
"""Options by what they are about, in the order of the help; the rest are General."""


class SectionedCommand(click.Command):
    """A command with so many options that its help lists them in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        left = {option.name: row for option in options if (row := option.get_help_record(ctx))}
        for title, names in [*_SECTIONS.items(), ("General", "")]:
            rows = [left.pop(name) for name in names.split() or list(left) if name in left]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def dataset_names_in_help(function: Command) -> Command:
    """Put the names of the known datasets into a command's help, in place of ``{datasets}``."""
    *names, last = dataset_names()
    text = f"{', '.join(names)} or {last}" if names else last
    function.__doc__ = (function.__doc__ or "").replace("{datasets}", text)
    return function


def console_options(function: Command) -> Command:
    """Add ``--plain``, ``--json`` and ``--quiet``; the command gets a `Console` for them."""

    @click.option("--plain", is_flag=True, help="Plain lines instead of progress bars.")
    @click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    @click.option("--quiet", is_flag=True, help="Print errors only.")
    @functools.wraps(function)
    def wrapped(*args: Any, plain: bool, as_json: bool, quiet: bool, **kwargs: Any) -> Any:
        flags: dict[ProgressMode, bool] = {"json": as_json, "quiet": quiet, "plain": plain}
        if sum(flags.values()) > 1:
            raise UsageError("--plain, --json and --quiet exclude each other.", "Give one of them.")
        mode = next((mode for mode, is_given in flags.items() if is_given), display_mode())
        return function(*args, console=Console(mode), **kwargs)

    return wrapped


def combine_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """One decorator that adds several options."""

    def added(function: Command) -> Command:
        for option in reversed(options):
            function = option(function)
        return function

    return added


_SETTING = "Change one setting (docs/settings.md); repeatable."
set_option = click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help=_SETTING)
settings_options = combine_options(
    click.option("--config", metavar="NAME|FILE", multiple=True, help="Preset or YAML file; repeatable."),
    set_option,
)
encoding_option = click.option(
    "--encoding",
    metavar="NAME",
    help="Encoding of subtitles that are not in Unicode: cp1251, gbk (default: detected).",
)


def _film_options(kind: HerePath) -> Callable[[Command], Command]:
    """FILM of this kind, and how it is read."""
    return combine_options(
        click.argument("film", type=kind),
        click.option("--out", type=PATH, help="Output folder (default: FILM.shotad next to the film)."),
        click.option(
            "--subtitles",
            type=PATH,
            metavar="FILE|off",
            help="The film's subtitles (default: those beside it, else inside it; off: the sound alone).",
        ),
        encoding_option,
        click.option(
            "--audio-track", type=int, metavar="N", help="Audio track to listen to, counted from 0."
        ),
        click.option("--frame-rate", metavar="RATE", help="Frame rate of numbered frames: 3 or 24000/1001."),
        settings_options,
    )


film_options = _film_options(PATH)
"""FILM, and how it is read."""
film_or_address_options = _film_options(FilmPath(path_type=Path))
"""The same, where FILM may also be a web address."""
film_file_option = click.option("--film", "film_file", type=PATH, help="The film, if it has moved.")
strict_option = click.option("--strict", is_flag=True, help="Exit with code 3, not 0, if some parts failed.")
"""See `report_failures`."""
answer_options = combine_options(
    click.option("--cache", type=PATH, help="File that keeps the answers."),
    click.option("--force", is_flag=True, help="Ask for everything again."),
)
"""See `metric_context`."""
engine_option = click.option(
    "--engine",
    metavar="NAME",
    help="Models to use: auto, embedded, small, paper, ollama:MODEL, openai or gpt-4o.",
)
existing_option = click.option(
    "--existing",
    type=click.Choice(["stop", "complete", "ignore"]),
    help="If the film has a description already: stop (default), complete it, or ignore it.",
)
sampling_option = click.option(
    "--sampling",
    type=click.Choice(["joint", "independent"]),
    help="Ask for all candidates at once, or one by one.",
)


def settings(options: Mapping[str, Any], **more: Any) -> Config:
    """The settings that the options ask for, and ``more`` of them by dotted key (as in `load_config`)."""
    return load_config(options["config"], options["assignments"], **_flags(options), **more)


def explicit_settings(options: Mapping[str, Any], **more: Any) -> tuple[str, ...]:
    """The settings that options of their own name (``--set`` and flags, not ``--config``) as ``KEY=VALUE``;
    ``more`` as in `settings`."""
    flags = {**_flags(options), **more}
    values = {name.replace("__", "."): value for name, value in flags.items() if value is not None}
    return (*options["assignments"], *assignments_of(values))


def _flags(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "engine": options.get("engine"),
        "language": options.get("language"),
        "existing": options.get("existing"),
        "film__audio_track": options["audio_track"],
        "speech__encoding": options.get("encoding"),
        "speech__source": "sound" if is_off(options.get("subtitles")) else None,
        "slots__detail": options.get("detail"),
    }


AGAIN = "Run the same command again: what is done is kept, and what failed is tried again."
SLOTS_OUTSIDE = "Correct their times in the file of slots."
"""What to do where slots failed only because they lie outside the film: to run again would change nothing."""


def report_failures(
    reasons: Sequence[str], total: int, unit: str, *, all_failed: bool, strict: bool, hint: str = AGAIN
) -> None:
    """End a command that has worked: say on standard error how many slots or lines failed, and how to go on.

    ``reasons`` has one for each of those, of ``total``. Raises ShotadError (exit code 1) where all failed,
    and Exit with code 3 where some did and ``strict`` is set.
    """
    if not reasons:
        return
    first = reasons[0].rstrip(".")
    if all_failed:
        raise ShotadError(f"{len(reasons)} of {total} {unit} failed: {first}.", hint)
    verb = "failed" if len(reasons) == 1 else "failed; the first"
    click.echo(f"{len(reasons)} of {total} {unit} {verb}: {first}. {hint}", err=True)
    if strict:
        raise click.exceptions.Exit(3)


def text_of(option: str, path: Path, hint: str) -> str:
    """The text in a file that an option names. Raises UsageError, for an empty one with ``hint``."""
    error = functools.partial(UsageError, usage=False)
    file = read_text_file(path, "note", error, hint=f"{option}: name a text file.")
    if file.note:
        click.echo(f"{path} {file.note}.", err=True)
    text = file.text.strip()
    if not text:
        raise UsageError(f"{option} {path} is empty.", hint)
    return text


def note_text(path: Path | None) -> str | None:
    """The note in the file of ``--note``; None without one, and for ``off``. Raises UsageError."""
    hint = "Write names, place and tone of the film into it."
    return None if path is None or is_off(path) else text_of("--note", path, hint)


def track_folder(path: Path) -> Path:
    """The work folder meant by a film or by the folder itself."""
    from shotad.core.workfolder import work_folder_of
    from shotad.script.track_files import TRACK

    for folder in (path, work_folder_of(path)):
        refuse_special(folder / TRACK)
        if (folder / TRACK).is_file():
            return folder
    beside = "" if path.suffix == ".shotad" else f" or in {work_folder_of(path)}"
    message = f"{path} has no track: there is no {TRACK} in it{beside}."
    raise WorkFolderError(message, "Run shotad describe first, or name the work folder.")


def track_file(path: Path) -> Path:
    """The track meant by its own file (a translation's too), by a film, or by the work folder."""
    from shotad.script.track_files import TRACK

    return path if path.is_file() and path.suffix.lower() == ".json" else track_folder(path) / TRACK


@contextmanager
def open_work(
    options: Mapping[str, Any], config: Config, *, describes: bool = False
) -> Iterator[tuple[Film, WorkFolder, Inputs]]:
    """The film, its work folder, and what was given, read and checked. Raises as `work_on`."""
    from shotad.cli.interface import work_on
    from shotad.core import RunInputs
    from shotad.core.runsettings import GivenCast

    start = parse_time_option(options["start"]) if options.get("start") else 0.0
    end = parse_time_option(options["end"]) if options.get("end") else None
    if end is not None and end <= start:
        raise UsageError(f"--to {options['end']} does not lie after --from {options.get('start') or 0}.")
    path, key, photos = (options.get(name) for name in ("cast", "cast_key", "cast_photos"))
    if path is None and (key is not None or photos is not None):
        raise UsageError("--cast-key and --cast-photos say more of a cast, but there is no --cast.")
    cast = None if path is None else GivenCast(path, key or "", photos)
    subtitles = options.get("subtitles")
    subtitles = None if is_off(subtitles) else subtitles
    run_inputs = RunInputs(subtitles, options.get("slots"), options.get("shots"), start, end, cast)
    rate, force = frame_rate_of(options["frame_rate"]), bool(options.get("force"))
    with work_on(
        options["film"],
        config,
        options["out"],
        run_inputs=run_inputs,
        frame_rate=rate,
        force=force,
        describes=describes,
    ) as run:
        yield run


@contextmanager
def metric_context(console: Console, config: Config, options: Mapping[str, Any]) -> Iterator[MetricContext]:
    """What an evaluation works with; what is computed is kept in the file of ``--cache``, and what is there
    is not used with ``--force``."""
    from shotad.evaluation import MetricContext, Store
    from shotad.evaluation.store import store_file

    with Store(options["cache"] or store_file(), forget=options.get("force", False)) as store:
        yield MetricContext(config, store, console)


def write_files(console: Console, folder: Path | None, files: Mapping[str, str]) -> None:
    """Write these texts into the folder of ``--out``, where there is one, and tell it."""
    if folder is not None:
        for name, text in files.items():
            write_text(folder / name, text)
        console.note(f"Written: {', '.join(str(folder / name) for name in files)}")


class Console(Display):
    """A front end for progress and results."""

    def result(self, text: str, value: Any) -> None:
        """The command's result: text for people, or JSON; with ``--quiet`` nothing."""
        if self.mode == "json":
            text = redact_sent_secrets(json.dumps(value, ensure_ascii=False, indent=2))
            # JSON has a way of its own to write what is not seen, and programs read the same.
            is_seen = terminal_text(text) == text
            click.echo(text if is_seen else redact_sent_secrets(json.dumps(value, indent=2)))
        elif self.mode != "quiet":
            click.echo(terminal_text(text))


def parse_time_option(text: str) -> float:
    """Seconds from ``83.5``, ``1:23.5`` or ``0:01:23,5``. Raises UsageError."""
    try:
        seconds = parse_time(text)
    except ValueError:
        seconds = math.inf
    if not math.isfinite(seconds):  # also thousands of digits
        raise UsageError(f"{quoted(text)} is no time.", "Write seconds (83.5), 1:23.5 or 0:01:23.5.")
    return seconds


def confirm(question: str, nothing: str, hint: str, *, plan: str) -> None:
    """Ask on the terminal whether to do ``plan``. Raises UsageError without a terminal, ShotadError for no;
    both say that ``nothing`` was done."""
    if not sys.stdin.isatty():
        raise UsageError(f"{plan} {nothing}: there is no terminal to ask on.", hint)
    if not click.confirm(f"{plan} {question}", err=True):
        raise ShotadError(f"{nothing}.")
