"""Where the time goes: a room says when it works, when it waits and for what; a recording adds it up.

While nothing records, saying so costs next to nothing, so the marks stay in the product for good.
"""

from shotad.core.profiling.keeping import profiled
from shotad.core.profiling.marks import counted, in_room, recording, span, spanned, waiting
from shotad.core.profiling.recorder import Recording
from shotad.core.profiling.table import Row, Table

__all__ = [
    "Recording",
    "Row",
    "Table",
    "counted",
    "in_room",
    "profiled",
    "recording",
    "span",
    "spanned",
    "waiting",
]
