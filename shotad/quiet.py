"""Keeps native libraries' chatter off the user's terminal.

OpenCV, LiteRT and onnxruntime write to file descriptor 2 directly, past ``sys.stderr``.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.RLock()


@contextmanager
def native_quiet() -> Iterator[None]:
    """Send what native code writes to standard error nowhere, for the time of loading a model.

    Python's own ``sys.stderr`` is flushed before; errors raised by the libraries still come through.
    """
    with _lock:
        sys.stderr.flush()
        saved = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 2)
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            os.close(nowhere)
