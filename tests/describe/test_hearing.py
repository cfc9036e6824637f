"""A model that hears gets the clip's sound with its frames; nobody else does, and nothing leaves unsaid."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.runs import rows, run


def test_shots_are_told_in_words_where_nothing_is_painted(tmp_path: Path) -> None:
    _, looks, _ = run(tmp_path, "overlay.label=text")
    _, plain, _ = run(tmp_path / "plain", "overlay.label=none")
    for asked, other in zip(looks.asked, plain.asked, strict=True):
        np.testing.assert_array_equal(asked.clip.images, other.clip.images)
        text, numbers = asked.messages[0].text, asked.clip.shot_numbers
        for number in set(numbers.tolist()):
            frames = np.flatnonzero(numbers == number)
            told = f"Shot {number} is frames {frames[0] + 1} to {frames[-1] + 1}"
            assert told in text
    assert {row["overlay"] for row in rows(tmp_path, "stage1")} == {"text"}
