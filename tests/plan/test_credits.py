"""End credits are told from titles, signs and subtitles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shotad.core import Box, Interval, Sighting
from shotad.film import credits_interval


def text(second: float, lines: int) -> list[Sighting]:
    boxes = [Box(0.2, 0.1 + 0.1 * k, 0.8, 0.15 + 0.1 * k) for k in range(lines)]
    return [Sighting("name", box, second, 0.95) for box in boxes]


def test_credits_are_the_text_at_the_end() -> None:
    moments = [2.0 * k for k in range(150)]
    seen = [s for m in moments if m >= 250 and m not in (262, 280) for s in text(m, 4)] + text(30, 3)
    roll = credits_interval(seen, moments, Interval(0, 300))
    assert roll == Interval(250, 300)


def test_titles_and_subtitles_are_no_credits() -> None:
    moments = [2.0 * k for k in range(150)]
    subtitles = [Sighting("said", Box(0.2, y, 0.8, y + 0.05), m, 0.95) for m in moments for y in (0.85, 0.92)]
    assert credits_interval(subtitles, moments, Interval(0, 300)) is None
    title = [s for m in moments if 10 <= m < 40 for s in text(m, 4)]
    assert credits_interval(title, moments, Interval(0, 300)) is None
    assert credits_interval([], moments, Interval(0, 300)) is None
    assert credits_interval([], [], Interval(0, 300)) is None


@pytest.mark.parametrize(("rows", "found"), [(6, True), (3, False)])
def test_a_short_roll_counts_at_the_very_end_if_it_shows_many_lines(rows: int, found: bool) -> None:
    film = Interval(0, 44.5)
    moments = [22.25 + i for i in range(22)]
    seen = [
        Sighting(f"Name {i}", Box(0.3, 0.1 + i / 10, 0.7, 0.15 + i / 10), moment, 0.99)
        for moment in moments
        if moment >= 39
        for i in range(rows)
    ]
    assert credits_interval(seen, moments, film) == (Interval(39.25, 44.5) if found else None)


def test_large_words_on_several_lines_are_titles_of_a_trailer() -> None:
    moments = [26.0 + k for k in range(26)]
    large = [
        Sighting("SPACE", Box(0.2, y, 0.8, y + 0.16), m, 0.99)
        for m in moments
        if m < 44
        for y in (0.2, 0.4, 0.6)
    ]
    assert credits_interval(large, moments, Interval(0, 52)) is None
    small = [replace(s, box=Box(0.2, s.box.top, 0.8, s.box.top + 0.1)) for s in large]
    assert credits_interval(small, moments, Interval(0, 52)) is not None
