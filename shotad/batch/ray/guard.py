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
from contextlib import suppress

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
        if is_gone(parent):
            end_all()
        time.sleep(_LOOK)
    return code


# Nothing of shotad is loaded, so what differs by system stands here and not in shotad.core.system.
if sys.platform == "win32":
    import psutil

    def is_gone(parent: int) -> bool:
        """Whether the process with the number ``parent``, which started this one, has ended."""
        # Not by who this process's parent is: in a virtual environment that is a launcher.
        return not psutil.pid_exists(parent)

    def end_all() -> None:
        """End all that this process has started, and itself."""
        for member in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                member.kill()
        os._exit(1)

else:

    def is_gone(parent: int) -> bool:
        """Whether the process with the number ``parent``, which started this one, has ended."""
        return os.getppid() != parent

    def end_all() -> None:
        """End this process group."""
        os.killpg(0, signal.SIGTERM)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[2:], int(sys.argv[1])))
