"""Makes ``from tests.media import make_film`` work from any folder, with or without an installed package."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from hypothesis import settings

# Times depend on what else the machine does.
settings.register_profile("shotad", deadline=None)
settings.load_profile("shotad")

ROOT = str(Path(__file__).resolve().parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)


def _hear_interruptions() -> None:
    """Shells start background jobs with SIGINT ignored, and programs started by tests would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_hear_interruptions()
