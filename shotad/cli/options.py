"""What the commands share: options, what they mean, and what the user sees.

A terminal gets bars; where output is no terminal, or with ``--plain``, plain lines that a screen
reader can follow. Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.lazy import HerePath
from shotad.core import (
    Config,
    Display,
    Mode,
    ShotadError,
    UsageError,
    WorkFolderError,
    display_mode,
    frame_rate_of,
    load_config,
    on_terminal,
)
from shotad.script import parse_time

if TYPE_CHECKING:
    from shotad.core import Given, GivenCast, WorkFolder
    from shotad.film import Film

Command = Callable[..., Any]

PATH = HerePath(path_type=Path)

DETAIL = click.Choice(["brief", "normal", "rich"])


def console_options(function: Command) -> Command:
    """Add ``--plain``, ``--json`` and ``--quiet``; the command gets a `Console` for them."""

    @click.option("--plain", is_flag=True, help="Plain lines instead of bars.")
    @click.option("--json", "as_json", is_flag=True, help="The result as JSON on standard output.")
    @click.option("--quiet", is_flag=True, help="Say nothing but errors.")
    @functools.wraps(function)
    def wrapped(*args: Any, plain: bool, as_json: bool, quiet: bool, **kwargs: Any) -> Any:
        console = Console(mode_of(plain=plain, as_json=as_json, quiet=quiet))
        return function(*args, console=console, **kwargs)

    return wrapped


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """One decorator that adds several options."""

    def added(function: Command) -> Command:
        for option in reversed(options):
            function = option(function)
        return function

    return added


set_option = click.option(
    "--set", "assignments", metavar="KEY=VALUE", multiple=True, help="One setting; repeatable."
)
settings_options = together(
    click.option(
        "--config", metavar="NAME|FILE", multiple=True, help="Settings by name or YAML file; repeatable."
    ),
    set_option,
)
film_options = together(
    click.argument("film", type=PATH),
    click.option("--out", type=PATH, help="The work folder itself."),
    click.option("--subtitles", type=PATH, help="Subtitles: SRT, WebVTT or ASS."),
    click.option("--audio-track", type=int, metavar="N", help="The audio track to listen to, from 0."),
    click.option("--frame-rate", metavar="RATE", help="Frames a second of numbered frames: 3 or 24000/1001."),
    settings_options,
)
"""FILM, and how it is read."""
strict_option = click.option("--strict", is_flag=True, help="Exit code 3 if a part failed, not 0.")
"""See `tell_failures`."""
sampling_option = click.option(
    "--sampling",
    type=click.Choice(["joint", "independent"]),
    help="Candidates in one answer, or each in a run of its own.",
)


def settings(options: Mapping[str, Any], **more: Any) -> Config:
    """The settings that the options ask for, and ``more`` of them by dotted key (as in `load_config`)."""
    return load_config(
        options["config"],
        options["assignments"],
        engine=options.get("engine"),
        language=options.get("language"),
        film__audio_track=options["audio_track"],
        slots__detail=options.get("detail"),
        **more,
    )


AGAIN = "Run the same command again: what is done is kept, and what failed is tried again."


def tell_failures(
    reasons: Sequence[str], of: int, unit: str, *, all_failed: bool, strict: bool, hint: str = AGAIN
) -> None:
    """End a command that has worked: say on standard error how many slots or lines failed, and how to go on.

    ``reasons`` has one for each of those, of so many. Raises ShotadError (exit code 1) where all failed, and
    Exit with code 3 where some did and ``strict`` is set.
    """
    if not reasons:
        return
    first = reasons[0].rstrip(".")
    if all_failed:
        raise ShotadError(f"{len(reasons)} of {of} {unit} failed: {first}.", hint)
    told = "failed" if len(reasons) == 1 else "failed; the first"
    click.echo(f"{len(reasons)} of {of} {unit} {told}: {first}. {hint}", err=True)
    if strict:
        raise click.exceptions.Exit(3)


def text_of(option: str, path: Path, hint: str) -> str:
    """The text in a file that an option names. Raises UsageError, for an empty one with ``hint``."""
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        what = f"{option} {path} cannot be read: {error}."
        raise UsageError(what, "Name a text file in UTF-8.", usage=False) from None
    if not text:
        raise UsageError(f"{option} {path} is empty.", hint)
    return text


def note_text(path: Path | None) -> str | None:
    """The note on the film in the file of ``--note``; None where there is none. Raises UsageError."""
    hint = "Write names, place and tone of the film into it."
    return None if path is None else text_of("--note", path, hint)


def track_folder(path: Path) -> Path:
    """The work folder meant by a film or by the folder itself."""
    from shotad.core import work_folder_of
    from shotad.script import TRACK

    for folder in (path, work_folder_of(path)):
        if (folder / TRACK).is_file():
            return folder
    what = f"{path} has no track: there is no {TRACK} in it or in {work_folder_of(path)}."
    raise WorkFolderError(what, "Run shotad describe first, or name the work folder.")


def track_file(path: Path) -> Path:
    """The track meant by its own file (a translation's too), by a film, or by the work folder."""
    from shotad.script import TRACK

    return path if path.is_file() and path.suffix.lower() == ".json" else track_folder(path) / TRACK


@contextmanager
def opened(options: Mapping[str, Any], config: Config) -> Iterator[tuple[Film, WorkFolder, Given]]:
    """The film, its work folder, and the files given, ready for use.

    A command that writes lines leaves there what it was asked to do, for a later redo. Raises as `work_on`.
    """
    from shotad.cli.interface import work_on
    from shotad.core import write_settings

    given = _given(options)
    rate, force = frame_rate_of(options["frame_rate"]), bool(options.get("force"))
    with work_on(options["film"], config, options["out"], frame_rate=rate, force=force) as (film, folder):
        if "engine" in options and not options.get("estimate"):
            write_settings(
                folder,
                config,
                options["film"],
                given,
                frame_rate=rate,
                configs=options["config"],
                assignments=options["assignments"],
            )
        yield film, folder, given


def _given(options: Mapping[str, Any]) -> Given:
    from shotad.core import Given

    start = asked_time(options["start"]) if options.get("start") else 0.0
    end = asked_time(options["end"]) if options.get("end") else None
    if end is not None and end <= start:
        raise UsageError(f"--to {options['end']} does not lie after --from {options.get('start') or 0}.")
    files = (options.get("subtitles"), options.get("slots"), options.get("shots"))
    return Given(*files, start, end, _cast(options))


def _cast(options: Mapping[str, Any]) -> GivenCast | None:
    from shotad.core import GivenCast

    path, key, photos = (options.get(name) for name in ("cast", "cast_key", "cast_photos"))
    if path is not None:
        return GivenCast(path, key or "", photos)
    if key is not None or photos is not None:
        raise UsageError("--cast-key and --cast-photos say more of a cast, but there is no --cast.")
    return None


def mode_of(*, plain: bool, as_json: bool, quiet: bool) -> Mode:
    """How to speak, from the flags and from whether a person's terminal listens."""
    if sum((plain, as_json, quiet)) > 1:
        raise UsageError("--plain, --json and --quiet exclude each other.", "Give one of them.")
    if as_json:
        return "json"
    if quiet:
        return "quiet"
    return "plain" if plain else display_mode()


@dataclass(frozen=True, slots=True)
class Console(Display):
    """A front end for progress and results."""

    def result(self, text: str, value: Any) -> None:
        """The command's result: text for people, or JSON; with ``--quiet`` nothing."""
        if self.mode == "json":
            text = json.dumps(value, ensure_ascii=False, indent=2)
            # JSON has a way of its own to write what is not seen, and programs read the same.
            click.echo(text if on_terminal(text) == text else json.dumps(value, indent=2))
        elif self.mode != "quiet":
            click.echo(on_terminal(text))


def asked_time(text: str) -> float:
    """Seconds from ``83.5``, ``1:23.5`` or ``0:01:23,5``. Raises UsageError."""
    try:
        return parse_time(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no time: {error}.", "Write seconds (83.5), 1:23.5 or 0:01:23.5."
        ) from None
