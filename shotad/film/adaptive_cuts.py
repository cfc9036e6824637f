"""Cuts by PySceneDetect's AdaptiveDetector. Loads scenedetect, which takes a fifth of a second."""

from __future__ import annotations

from typing import Any

from scenedetect.common import FrameTimecode
from scenedetect.detectors import AdaptiveDetector

from shotad.core import Image
from shotad.core.config.film import ShotSettings
from shotad.film.shot_scores import LEAST_CONTENT


class AdaptiveCutFinder:
    """PySceneDetect's AdaptiveDetector, fed with scores that were measured elsewhere.

    It knows of no slow ``changes``.
    """

    def __init__(self, settings: ShotSettings) -> None:
        self.changes: list[tuple[int, int]] = []
        self._detector = _ScoredDetector(
            adaptive_threshold=settings.adaptive_threshold,
            min_scene_len=settings.min_scene_len,
            window_width=settings.window_width,
            min_content_val=LEAST_CONTENT,
        )

    def add(self, index: int, score: float, picture: Image) -> list[int]:
        """Frame numbers of cuts that are found now: one at most, some frames before ``index``."""
        # The rate is never used: the detector counts in frames here.
        return [cut.frame_num for cut in self._detector.process_frame(FrameTimecode(index, fps=1.0), score)]

    def finish(self) -> list[int]:
        """Cuts among the last frames: none."""
        return []


class _ScoredDetector(AdaptiveDetector):  # type: ignore[misc]  # scenedetect has no types
    def _calculate_frame_score(self, timecode: Any, frame_img: float) -> float:
        return frame_img
