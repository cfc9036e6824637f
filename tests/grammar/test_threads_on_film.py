"""Does the whole chain find the threads that people see? Floors for features without weights.

Measured with ``grid:2`` in November 2026 (`benchmarks/threads.py`): sample film precision 0.500, recall 1.000, AP 1.000;
battle 1.000, 0.667, 1.000. The features' few constants were chosen on these very clips.
"""

from __future__ import annotations

import pytest

from benchmarks.common import FILMS
from benchmarks.threads import Figures, Labelled, judged, labelled_clips, line, sample_clip
from shotad.grammar.grid_features import GridFeatures

needs_films = pytest.mark.skipif(not FILMS.is_dir(), reason=f"the labelled films are not at {FILMS}")
BATTLE = "tears-of-steel-battle.webm"


def figures(clip: Labelled, maker: GridFeatures | None = None) -> Figures:
    """Side frames, pairs within reach, printed."""
    made = judged(clip, maker or GridFeatures())
    print(line(clip.name, made))
    return made


def test_the_threads_of_the_sample_film_are_found() -> None:
    made = figures(sample_clip())
    assert made.pairs.recall == 1
    assert made.ap == 1
    # Shot 6 has the rocket of shots 1 and 8 behind it, closer by: one photograph, looked at differently.
    assert made.pairs.wrong <= 2


@needs_films
@pytest.mark.slow
def test_the_threads_of_the_battle_are_found() -> None:
    made = figures(next(clip for clip in labelled_clips(FILMS) if clip.name == BATTLE))
    assert made.pairs.right >= 2
    assert made.pairs.wrong == 0
    assert made.ap is not None
    assert made.ap > 0.9
    assert made.purity > 0.95
