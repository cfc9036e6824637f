"""How one film of many is described in this process: placed, opened, described, rendered, marked as done."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from shotad.batch.jobs import FilmJob, FilmResult, earlier_result, error_line, failure, fault_of, mark_done
from shotad.batch.limits import Need, need_of
from shotad.batch.staging import Placed, placed
from shotad.core import (
    NoProgress,
    Progress,
    ShotadError,
    WorkFolder,
)
from shotad.core.errors import EngineError
from shotad.core.memory_errors import memory_error_of
from shotad.core.profiling import lines, profile_steps
from shotad.core.runsettings import write_settings
from shotad.core.system import forget_peak, peak_memory
from shotad.description import DescribeResult, Engines, Inputs
from shotad.film import Film, open_film
from shotad.script import present_track
from shotad.sound import OutputFile, Rendered
from shotad.sound.outputs import parse_wanted, wanted_files

Begin = Callable[[Need], None]
"""Is told what a film needs before work goes into it, and raises ShotadError to refuse it."""


def describe_film(
    job: FilmJob,
    progress: Progress | None = None,
    *,
    engines: Engines | None = None,
    begin: Begin | None = None,
) -> FilmResult:
    """Describe the film of ``job`` in this process, and render it where that is asked for.

    Never raises for a failure of the film's own: that is the result. What is done in the work folder is not
    done again; a film that is finished is skipped. ``engines`` are loaded ones, made for these settings
    (None: they are made). ``begin`` is told what the film will need on disk as soon as it is open, and may
    raise to refuse it.
    """
    progress, clock = progress or NoProgress(), time.monotonic()
    # What is known of the film also where it fails.
    seconds, path = 0.0, None
    forget_peak()
    try:
        before = earlier_result(job)
        if before is not None:
            return before
        with (
            placed(job, progress) as place,
            open_film(place.film, reader=job.config.film.reader, frame_rate=job.frame_rate) as film,
        ):
            seconds = job.seconds_of(film.info.duration)
            outputs: tuple[OutputFile, ...] = ()
            if job.makes:
                kinds, language = parse_wanted(job.makes), job.config.language
                outputs = wanted_files(kinds, film.info.name, place.folder, language=language)
            if begin is not None:
                begin(need_of(job, film.info, place.folder, outputs))
            with WorkFolder(place.folder, force=job.force) as folder:
                path = folder.path
                result = _written(job, progress, engines, place, film, folder, outputs)
    except Exception as error:  # noqa: BLE001  one film's failure must not take the others along
        result = _failed(job, error, path)
    seconds, lasted = seconds or result.film_seconds, time.monotonic() - clock
    return replace(result, film_seconds=seconds, wall_seconds=lasted, peak=peak_memory())


def _failed(job: FilmJob, error: Exception, path: Path | None) -> FilmResult:
    """The failure of a film by ``error``, kept in the folder at ``path`` if nobody foresaw it."""
    full = memory_error_of(error)
    if full is not None:
        less = "Describe fewer films at once (--jobs 1), or at a smaller size (film.grid_height)."
        return failure(job, full.what, less, kind="memory", again=True)
    if isinstance(error, ShotadError):
        return failure(job, error.what, error.hint, kind=type(error).__name__, again=error.again)
    message, hint = fault_of(error), "Please report it."
    if path is not None:
        with suppress(ShotadError, OSError):
            WorkFolder(path).note("".join(traceback.format_exception(error)).rstrip())
            message, hint = f"shotad failed: {error_line(error)}.", f"{path / 'log.txt'} says where."
    return failure(job, message, hint, kind="unexpected", again=True)


def _written(
    job: FilmJob,
    progress: Progress,
    engines: Engines | None,
    place: Placed,
    film: Film,
    folder: WorkFolder,
    outputs: tuple[OutputFile, ...],
) -> FilmResult:
    """The film's result, when its track is written and what else is asked for is made."""
    from shotad.description import describe
    from shotad.description.shorter_lines import shortener
    from shotad.sound import make_voice, run_render
    from shotad.sound.render import check_wanted

    config = job.config
    inputs = Inputs(film.info, config, place.run_inputs, place.notes)
    # What cannot be made, and a voice that cannot speak, is refused before any work goes into the film.
    if outputs:
        check_wanted(film, outputs, config, config.language)
    if any(file.kind.is_heard for file in outputs):
        make_voice(config.voice, config.language)
    present_track(folder, film.info, with_scripts=False)
    engines = engines or Engines.of(config)
    with profile_steps(job.timed) as recorded:
        outcome = describe(
            film,
            folder,
            config,
            inputs,
            engines=engines,
            progress=progress,
            discard_edits=job.discard_edits,
            sheet=job.sheet,
            on_accepted=partial(
                write_settings,
                folder,
                config,
                place.film,
                inputs.run_inputs,
                frame_rate=job.frame_rate,
                configs=job.configs,
                assignments=job.assignments,
            ),
        )
        rendered = None
        if outputs:
            shorten = partial(shortener, engines=engines)
            rendered = run_render(
                film,
                folder,
                config,
                outputs,
                progress,
                shorten=shorten,
                force=job.force,
                privacy_noted=True,
            )
        spent = () if recorded is None else tuple(lines(recorded))
    return replace(finished(job, place.folder, outcome, rendered), spent=spent)


def finished(
    job: FilmJob, folder: Path, outcome: DescribeResult, rendered: Rendered | None = None
) -> FilmResult:
    """The result of a film whose track is written (and rendered); if all went well its folder is marked."""
    counts = outcome.counts
    paths = [] if rendered is None else [file.output.path for file in rendered.made]
    result = FilmResult(
        job.film,
        job.folder,
        "done",
        slots=len(outcome.track.cues) + len(outcome.failed_slots),
        lines=counts["placed"] + counts["shortened"],
        unsaid=counts["silent"] + counts["dropped"],
        amiss=counts["failed"],
        edited=counts["edited"],
        silences=len(outcome.silences),
        film_seconds=outcome.described.duration,
        files=tuple(path.name for path in (*outcome.files, *paths)),
        warnings=outcome.warnings,
        unused=tuple(filter(None, [outcome.unused_subtitles])),
    )
    if outcome.all_failed:
        message = f"None of the {result.slots} slots could be described: {outcome.failures[0]}"
        error = (message, "Describe it again: then they are asked for again.")
        return replace(result, state="failed", kind=EngineError.__name__, error=error, again=True)
    if rendered is not None and rendered.failed:
        failures = [*rendered.failures.values(), *map(str, rendered.findings)]
        message = f"The track is written, but not all that was to be made is good: {next(iter(failures), '')}"
        error = (message, "See render.json in the work folder.")
        return replace(result, state="failed", kind="SoundError", error=error)
    if not result.amiss:
        mark_done(job, folder, result)
    return result
