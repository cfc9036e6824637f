"""What ended a film, as a value that travels: kind, what and hint."""

from __future__ import annotations

import traceback
from pathlib import Path

from shotad.batch.ray.register import Error
from shotad.core import ShotadError

_KEPT = "What is done is kept: the same command goes on from there."


def error_of(trouble: Exception) -> Error:
    """The error that a film has failed by."""
    if isinstance(trouble, ShotadError):
        return {"kind": type(trouble).__name__, "what": trouble.what, "hint": trouble.hint}
    if isinstance(trouble, MemoryError):
        less = "Give preparing fewer workers on a node (preparing.cpus), or read smaller frames."
        return {"kind": "memory", "what": "There was not enough memory.", "hint": less}
    place = traceback.extract_tb(trouble.__traceback__)
    at = f" ({Path(place[-1].filename).name}, line {place[-1].lineno})" if place else ""
    text = " ".join(str(trouble).split())[:300]
    what = f"shotad failed: {type(trouble).__name__}: {text}{at}."
    return {"kind": "unexpected", "what": what, "hint": "Please report it."}


def lost(what: str, times: int) -> Error:
    """The error of a film whose worker was lost again and again over ``what``."""
    number = "once" if times == 1 else f"{times} times"
    return {
        "kind": "killed",
        "what": f"The worker that was {what} was lost {number}.",
        "hint": f"It was killed, or ran out of memory: try the film alone, with shotad describe. {_KEPT}",
    }


def halted(error: Error) -> Error:
    """The error of a film that was not begun because the run ended on ``error``."""
    return {"kind": "stopped", "what": f"The run was ended: {error['what']}", "hint": error["hint"] or _KEPT}
