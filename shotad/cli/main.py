"""The command line: ``shotad COMMAND``. Commands are loaded when they are called.

Errors become text in one place, `main`; also those that are our own, whose details go into a file.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
import tempfile
import threading
import traceback

import click

from shotad import __version__
from shotad.cli.lazy import LazyGroup
from shotad.core import ShotadError
from shotad.core.errors import WorkFolderError
from shotad.core.files import disk_error, is_disk_error
from shotad.core.installation import missing_library_error
from shotad.core.memory_errors import memory_error_of
from shotad.core.progress import printable, terminal_text
from shotad.core.system import (
    exit_process,
    interruptible,
    quoted,
    use_one_heap,
)

_COMMANDS = {
    "align": ("shotad.cli.align", "Fit a described recording to a film."),
    "ask": ("shotad.cli.ask", "Ask something about a film at a moment."),
    "batch": ("shotad.cli.batch", "Describe many films."),
    "cast": ("shotad.cli.cast", "Find, name and forget the people of a film."),
    "datasets": ("shotad.cli.evaluate:datasets", "Check the files of AD datasets."),
    "describe": ("shotad.cli.describe", "Write an audio-description track of a film."),
    "doctor": ("shotad.cli.doctor", "Show what this machine can do."),
    "evaluate": ("shotad.cli.evaluate", "Score AD against what people made."),
    "export": ("shotad.cli.scripts:export_command", "Write a track as scripts, or check scripts."),
    "files": ("shotad.cli.files:files_command", "List the files that come with shotad, or copy some."),
    "grammar": ("shotad.cli.analysis:grammar_command", "Find threads of shots, and how close each shot is."),
    "import": ("shotad.cli.scripts:import_command", "Bring an edited script back into the track."),
    "lint": ("shotad.cli.lint", "Check a track against describers' guidelines."),
    "models": ("shotad.cli.models:models", "List, fetch and check model weights; their licences."),
    "predict": ("shotad.cli.predict", "Describe the videos of a dataset."),
    "record": ("shotad.cli.record", "Have lines heard in your own recording."),
    "redo": ("shotad.cli.redo", "Describe single slots again."),
    "render": ("shotad.cli.render", "Speak the lines, and write the described film."),
    "review": ("shotad.cli.review", "Choose, edit and hear the lines in your browser."),
    "sample": ("shotad.cli.files:sample_command", "Copy the sample film here, to try shotad with."),
    "screenplay": ("shotad.cli.stories:screenplay_command", "Write a described film as a screenplay."),
    "sheet": ("shotad.cli.analysis:sheet_command", "Draw a film on one page."),
    "shots": ("shotad.cli.analysis:shots_command", "Find the shots of a film."),
    "slots": ("shotad.cli.analysis:slots_command", "Find speech, and slots for AD."),
    "train": ("shotad.cli.train", "Train shot scale, and convert files for training."),
    "transcribe": ("shotad.cli.transcribe", "Write down dialogue that has no subtitles."),
    "translate": ("shotad.cli.translate", "Translate a track."),
    "voices": ("shotad.cli.voices", "List the voices, and hear them."),
}

_SECTIONS = {
    "From film to description": "describe review render",
    "People's names": "cast",
    "More for a film": "ask align redo record transcribe translate lint export import screenplay voices",
    "Many films": "batch",
    "Single steps": "shots slots grammar sheet",
    "Research": "datasets predict evaluate train",
    "This machine": "doctor models sample files",
}


@click.group(
    cls=LazyGroup,
    table=_COMMANDS,
    sections=_SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="shotad")
def cli() -> None:
    """Turn a film into audio description for blind and low-vision people."""


PROGRAM = "program"
"""What commands find as ``obj`` of their context where the whole process is theirs."""


def main() -> None:
    """The program. Exit code 0 on success, 2 for a command that cannot be meant, 1 for other errors,
    70 for a fault of its own, 130 after an interruption (Ctrl-C or SIGTERM).

    Where another program calls it, signals stay that program's.
    """
    own = getattr(sys.modules["__main__"], "main", None) is main
    if own and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        interruptible()
    if own:
        use_one_heap()
    try:
        code = _run(own=own)
    except KeyboardInterrupt:  # once more, while the first was told
        code = 130
    if own and (code == 130 or threading.active_count() > 1):
        exit_process(code)
    sys.exit(code)


def _run(*, own: bool) -> int:
    """Run the command line, with its errors as text; the exit code. ``own``: this process is for it alone."""
    os.environ.setdefault("OPENCV_LOG_LEVEL", "ERROR")
    if own and logging.lastResort is not None:
        # Warnings and errors on standard error, as Python does where nobody has set up logging.
        logging.getLogger("shotad").addHandler(logging.lastResort)
    if own:
        # For NumPy's products, all small here. OpenBLAS's threads spin while they wait for each other: a
        # quarter of the processor time of the search for cuts.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names may hold what the terminal's encoding has no sign for; standard error does so already.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return cli.main(standalone_mode=False, obj=PROGRAM if own else None) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("Stopped. What is done is kept; run the same command again to continue.", err=True)
        return 130
    except BrokenPipeError:
        _lose_output()
        return 1
    except OSError as error:
        if not is_disk_error(error):
            click.echo(terminal_text(_own_fault(error)), err=True)
            return 70
        click.echo(terminal_text(f"Error: {_disk_fault(error)}"), err=True)
        return 1
    except Exception as error:  # noqa: BLE001  the last resort
        # Where memory ran out, a library's own words lead astray: a model "cannot be loaded".
        cause = memory_error_of(error) or missing_library_error(error) or error
        if isinstance(cause, ShotadError):
            click.echo(terminal_text(f"Error: {cause}"), err=True)
            return cause.exit_code
        click.echo(terminal_text(_own_fault(error)), err=True)
        return 70


def _disk_fault(error: OSError) -> WorkFolderError:
    """What to say where a disk is full, read-only or broken; standard output may lead to one."""
    place = printable(str(error.filename)) if error.filename else "The output"
    try:
        sys.stdout.flush()
    except OSError:
        _lose_output()
    return disk_error(error, f"{place} cannot be written")


def _lose_output() -> None:
    """Send what is still to be printed nowhere: Python would try again at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _own_fault(error: Exception) -> str:
    """What to say of an error that nobody foresaw; its details are written to a file."""
    message = " ".join(f"{type(error).__name__}: {error}".split())
    details = f"shotad {__version__}, Python {sys.version}\n{quoted(sys.argv)}\n\n{traceback.format_exc()}"
    try:
        file, name = tempfile.mkstemp(prefix="shotad-error-", suffix=".txt")
        with open(file, "w", encoding="utf-8", errors="backslashreplace") as out:
            out.write(details)
    except OSError:
        return details
    return (
        f"Error: shotad has a bug, and it is not your fault ({message[:200]}). The details are in "
        f"{name}: please report them. What is done is kept."
    )


if __name__ == "__main__":
    main()
