"""Where memory ran out: told apart from faults of ours and of files, with the step it was at and what to do.

Every library has its own words for it, and some errors hide it: a model that cannot be loaded for want of
memory looks like a damaged file, a library that cannot be mapped like one that is not installed.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from shotad.core.errors import OutOfMemory

_SIGNS = (
    "out of memory",  # CUDA, ROCm, MPS, torch
    "allocate memory",  # the C library, torch's allocator, onnxruntime: "Cannot …", "can't …", "Failed to …"
    "bad allocation",  # C++
    "bad_alloc",
    "insufficient memory",  # OpenCV
    "unable to allocate",  # numpy
    "cublas_status_alloc_failed",
    "invalid buffer size",  # MPS, for one tensor that is too large
    "failed to map segment from shared object",  # the dynamic linker, while a library is imported
    "can't start new thread",  # its stack finds no room
    "killed by signal: killed",  # torch, of a process that read data for it
)
"""What libraries say, in small letters."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What a part of the program is at, and how it takes less memory."""

    doing: str
    remedy: str = ""


_SMALLER_PICTURES = "keep smaller pictures (--set film.grid_height=240)"
_SMALLER_MODEL = "ask for less at once (--set local.batch=1, --set frames.inside=8), use a smaller model"

_STEPS = {
    "shotad.film.audio": _Step("listening to the film's sound"),
    "shotad.film.speech": _Step("listening to the film's sound"),
    "shotad.film.adaptive_cuts": _Step("finding shots", _SMALLER_PICTURES),
    "shotad.film.cut_net": _Step("finding shots", _SMALLER_PICTURES),
    "shotad.film.shot_scores": _Step("finding shots", _SMALLER_PICTURES),
    "shotad.film.shots": _Step("finding shots", _SMALLER_PICTURES),
    "shotad.film": _Step("reading the film", _SMALLER_PICTURES),
    "shotad.grammar.scale_training": _Step("training", "make steps smaller (--set compute.batch=8)"),
    "shotad.grammar": _Step("reading film grammar", "take fewer pictures at once (--set compute.batch=1)"),
    "shotad.sight.text": _Step("reading text on the screen", _SMALLER_PICTURES),
    "shotad.sight.inscriptions": _Step("reading text on the screen", _SMALLER_PICTURES),
    "shotad.sight": _Step("looking for people and things", _SMALLER_PICTURES),
    "shotad.engines": _Step("a model was at work", _SMALLER_MODEL),
    "shotad.sound": _Step("speaking and mixing"),
    "shotad.description.worksheet": _Step("drawing the worksheet", "leave it out (--no-sheet)"),
    "shotad.description": _Step("describing", _SMALLER_PICTURES),
    "shotad.script.embeddings": _Step("comparing texts by meaning", "use a smaller model"),
    "shotad.script": _Step("reading or writing scripts"),
    "shotad.evaluation": _Step("scoring"),
    "shotad.review": _Step("serving the review page"),
}
"""By the beginning of a module's name; the longest that fits counts."""


def is_out_of_memory(error: BaseException) -> bool:
    """True for what Python and the libraries raise where memory runs out, on any device."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    # FFmpeg finds no room for the stacks of a decoder's threads.
    if isinstance(error, BlockingIOError) and "avcodec_open2" in str(error):
        return True
    if not isinstance(error, (RuntimeError, ImportError, OSError)) and not _is_of_library(error):
        return False
    words = str(error).lower()
    return any(sign in words for sign in _SIGNS)


def _is_of_library(error: BaseException) -> bool:
    # cv2.error, onnxruntime's and av's have no common class with others.
    return type(error).__module__.partition(".")[0] in ("cv2", "onnxruntime", "av", "torch")


def memory_error_of(error: BaseException) -> OutOfMemory | None:
    """The error to tell a person where memory ran out: ``error`` itself, or in what led to it; else None."""
    visited: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in visited:
        visited.add(id(link))
        if isinstance(link, OutOfMemory):
            return link
        if is_out_of_memory(link):
            return _told(link, error)
        # Also what was raised `from None`: the message is another one, the cause the same.
        link = link.__cause__ or link.__context__
    return None


def _told(cause: BaseException, raised: BaseException) -> OutOfMemory:
    step = _step_of(cause) or _step_of(raised)
    doing = "" if step is None else f" while {step.doing}"
    words = " ".join(str(cause).split())[:200].rstrip(".")
    reason = f" ({words})" if words else ""
    ways = [step.remedy] if step is not None and step.remedy else []
    ways += ["close other programs"]
    hint = f"To get on, {' or '.join(ways)}, and run it again: what is done is kept."
    return OutOfMemory(f"Memory ran out{doing}{reason}.", hint)


def _step_of(error: BaseException) -> _Step | None:
    """What the innermost module of ours was at when ``error`` was raised."""
    step: _Step | None = None
    trace = error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        fitting = [name for name in _STEPS if module.startswith(name)]
        if fitting:
            step = _STEPS[max(fitting, key=len)]
        trace = trace.tb_next
    return step


@contextmanager
def explain_memory_errors() -> Iterator[None]:
    """Raise OutOfMemory in place of whatever is raised in the block because memory ran out."""
    try:
        yield
    except Exception as error:
        memory_error = memory_error_of(error)
        if memory_error is None or memory_error is error:
            raise
        raise memory_error from error
