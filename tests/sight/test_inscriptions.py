"""Lines followed from frame to frame, on made-up readings."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from shotad.core import Box
from shotad.sight import FrameText
from shotad.sight.inscriptions import best_spelling, follow, joined_rows, likeness
from shotad.sight.text import TextLine


def line(text: str, x: float = 0.5, y: float = 0.5, height: float = 0.06, score: float = 0.98) -> TextLine:
    """A line whose middle is at ``x``, ``y``; as wide as its letters need in a 16:9 picture."""
    half = 0.5 * height * 0.3 * len(text)
    return TextLine(text, Box(x - half, y - height / 2, x + half, y + height / 2), score)


def frames(*lines: Sequence[TextLine], step: float = 0.5) -> list[FrameText]:
    return [FrameText(0, i * step, tuple(each)) for i, each in enumerate(lines)]


def test_spelling_and_the_detectors_cuts_are_mended() -> None:
    assert likeness("SINTEL", "SINTEL") == 1.0
    assert likeness("", "") == 1.0
    assert likeness("abc", "xyz") == 0.0
    assert likeness("NO ENTRY", "NOENTRY") == pytest.approx((1 - 1 / 8 + 1) / 2)
    assert likeness("kitten", "sitting") == pytest.approx(1 - 3 / 7)
    # The detector's cut in a line is mended.
    left = TextLine("THE", Box(0.33, 0.40, 0.40, 0.46), 1.0)
    right = TextLine("BLENDER FOUNDATION", Box(0.41, 0.40, 0.66, 0.46), 0.9)
    (row,) = joined_rows([right, left])
    assert row.text == "THE BLENDER FOUNDATION"
    assert (row.box.left, row.box.right) == (0.33, 0.66)
    assert row.score == pytest.approx((3 * 1.0 + 17 * 0.9) / 20)
    # Columns other sizes and other levels stay apart.
    role, name = line("Director", 0.3), line("Anna Kovacs", 0.7)
    assert len(joined_rows([role, name])) == 2
    big = TextLine("BIG", Box(0.10, 0.40, 0.30, 0.60), 1.0)
    small = TextLine("small print", Box(0.31, 0.48, 0.50, 0.52), 1.0)
    assert len(joined_rows([big, small])) == 2


def test_a_line_is_followed_over_misreadings_and_gaps_and_no_further() -> None:
    found = follow(frames([line("peesents")], [line("presents")], [], [], [line("presents")]))
    assert [(one.text, len(one.frames), one.first, one.last) for one in found] == [("presents", 3, 0.0, 2.0)]
    assert len(follow(frames([line("presents")], [], [], [], [line("presents")]))) == 2
    # Another text in the same place is another line.
    found = follow(frames([line("Directed by")], [line("Produced by")]))
    assert [one.text for one in found] == ["Directed by", "Produced by"]
    # The same word elsewhere after a gap or in another size is another line.
    assert len(follow(frames([line("SINTEL")], [], [line("SINTEL", y=0.2)]))) == 2
    assert len(follow(frames([line("SINTEL", height=0.14)], [line("SINTEL", y=0.2, height=0.1)]))) == 2
    # Two lines never become one in a frame.
    pair = [line("HA HA", y=0.48), line("HA HA", y=0.54)]
    found = follow(frames(pair, pair))
    assert [len(one.frames) for one in found] == [2, 2]
    # A rolling line is one and its drift is known.
    (one,) = follow(frames(*([line("Anna Kovacs", y=0.9 - 0.1 * i)] for i in range(8))))
    assert len(one.frames) == 8
    assert one.drift[1] == pytest.approx(-0.7)
    assert one.drift[0] == pytest.approx(0)


@pytest.mark.parametrize(
    ("readings", "best"),
    [
        ([("presents", 0.9), ("peesents", 0.8), ("prezents", 0.8)], "presents"),
        ([("SINTEL", 0.99)] * 5 + [("SINTE L", 0.99)], "SINTEL"),
        ([("They", 1.0), ("They never", 1.0), ("They never came", 1.0), ("They never came back", 1.0)], None),
        ([("THE LAS", 0.95), ("THE LAST HARBOUR", 0.97)], "THE LAST HARBOUR"),
    ],
)
def test_the_best_spelling_is_what_most_say(readings: list[tuple[str, float]], best: str | None) -> None:
    assert best_spelling([line(text, score=score) for text, score in readings]) == (best or readings[-1][0])


def test_unrest_is_seen_around_a_line_that_stays() -> None:
    def lit(*around: float) -> TextLine:
        one = line("AMSTERDAM")
        return TextLine(one.text, one.box, one.score, around=around)

    still, busy = (follow(frames([lit(10, 10)], [lit(*then)]))[0].unrest for then in ((10, 10), (60, 90)))
    assert still == 0
    assert busy > 20
