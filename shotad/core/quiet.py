"""Keeps libraries' chatter off the user's terminal.

OpenCV, LiteRT and onnxruntime write to file descriptor 2 directly, past ``sys.stderr``; transformers draws
bars and prints reports while it loads a model.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.RLock()
_loading = threading.RLock()


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


@contextmanager
def loading_quiet(transformers: Any) -> Iterator[None]:
    """No bars and no reports of transformers while a model is loaded; what matters is raised."""
    logging = transformers.utils.logging
    # One at a time: torch's usual precision and standard error are those of all threads.
    with _loading:
        level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity(logging.CRITICAL)
        logging.disable_progress_bar()
        try:
            # Weights of GGUF are counted by a bar that obeys neither.
            with contextlib.redirect_stderr(io.StringIO()):
                yield
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()


@contextmanager
def while_nothing_is_loaded() -> Iterator[None]:
    """For a model at work while another thread may load one, under another precision of torch's."""
    with _loading:
        yield
