"""Runs a command while the process that started it lives: ``python guard.py PROCESS COMMAND…``.

It is run as a file, so that it loads nothing of shotad: it stays in memory for as long as the server does.
A worker that is killed cannot end its model server, which would keep the GPU from the next one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

_LOOK = 0.5
"""Seconds between two looks."""


def main(command: Sequence[str], parent: int) -> int:
    """The command's exit code; when ``parent`` is gone, it and all of this process group are ended."""
    try:
        process = subprocess.Popen(command)
    except OSError as trouble:
        print(f"{command[0]} cannot be started: {trouble.strerror}.", file=sys.stderr)  # noqa: T201
        return 127
    while (code := process.poll()) is None:
        if os.getppid() != parent:
            os.killpg(0, signal.SIGTERM)
        time.sleep(_LOOK)
    return code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[2:], int(sys.argv[1])))
