"""An engine of Stage I that is at work in a library's native code for a minute, as a model is."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from shotad.core import Reply, Request
from shotad.engines.fake import FakeEngine

MARK = "SHOTAD_TEST_MARK"
"""Names the file that it makes when it has begun."""


class Busy(FakeEngine):
    """Answers as the fake engine does, after a minute."""

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        Path(os.environ[MARK]).touch()
        until, picture = time.monotonic() + 60, np.zeros((300, 300), np.uint8)
        while time.monotonic() < until:
            cv2.fastNlMeansDenoising(picture)
        return super().generate(requests)
