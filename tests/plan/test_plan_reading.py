"""How frames are had at the least cost, by estimate."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.core import Interval
from shotad.film.zones import Costs, KeyFrames, how_to_share, roll_of, zones_to_keep

EVERY_2 = KeyFrames(np.arange(0.0, 600.0, 2.0))
EVERY_10 = KeyFrames(np.arange(0.0, 600.0, 10.0))
LARGE = Costs.of(1920 * 1080, 24.0, 854 * 480)
GAIN = 0.5


def test_a_pass_seeks_where_the_index_says_that_it_spares_decoding() -> None:
    assert roll_of([1.0, 2.0, 9.5], KeyFrames(np.array([0.0, 4.0, 8.0])), GAIN).seconds == 3.5
    dense = roll_of(np.arange(0, 60, 0.5).tolist(), EVERY_10, GAIN)
    assert (dense.seconds, dense.seeks) == (59.5, 0)


def test_a_film_that_cannot_be_sought_is_decoded_through() -> None:
    roll = roll_of([500.0], KeyFrames(EVERY_2.seconds, seekable=False), GAIN)
    assert (roll.seconds, roll.seeks) == (500.0, 0)


def test_without_an_index_only_long_gaps_are_sought() -> None:
    near, far = (roll_of([10.0, 10.0 + gap], KeyFrames(), GAIN).seeks for gap in (3.0, 90.0))
    assert (near, far) == (1, 2)


def test_readers_of_the_same_moments_share_a_pass() -> None:
    moments = np.arange(0, 60, 0.25).tolist()
    choice = how_to_share({"grammar": moments[::4], "clips": moments}, EVERY_2, LARGE, gain=GAIN)
    assert choice.way == "together"
    assert choice.seconds == pytest.approx(moments[-1])


def test_readers_of_other_parts_of_the_film_keep_nothing_for_each_other() -> None:
    early, late = np.arange(0, 10, 0.25).tolist(), np.arange(500, 510, 0.25).tolist()
    choice = how_to_share({"grammar": early, "clips": late}, EVERY_2, LARGE, gain=GAIN)
    assert choice.size == 0


def test_where_keeping_costs_more_than_decoding_everyone_decodes() -> None:
    thumb = Costs.of(64 * 36, 10.0, 854 * 480, lossless=True)
    moments = np.arange(0, 60, 0.25).tolist()
    assert how_to_share({"a": moments, "b": moments}, EVERY_2, thumb, gain=GAIN).way == "apart"


def test_what_would_not_fit_on_the_disk_is_decoded_again() -> None:
    lossless = Costs.of(1920 * 1080, 24.0, 854 * 480, lossless=True)
    moments = np.arange(0, 5400, 0.25).tolist()
    assert how_to_share({"a": moments, "b": moments}, EVERY_2, lossless, gain=GAIN).way == "apart"


def test_one_reader_and_none_share_nothing() -> None:
    assert how_to_share({"a": [1.0]}, EVERY_2, LARGE, gain=GAIN).way == "apart"
    assert how_to_share({"a": []}, EVERY_2, LARGE, gain=GAIN).way == "none"


def test_long_groups_of_pictures_make_it_cheaper_to_keep_the_rest_of_the_film_along_the_way() -> None:
    zones = [Interval(0.0, 60.0)]
    long_, short = (
        zones_to_keep(zones, 600.0, keys, LARGE, rate=8, gain=GAIN)
        for keys in (EVERY_10, KeyFrames(np.arange(0.0, 600.0, 0.125)))
    )
    assert long_.kept is None
    assert short.kept == tuple(zones)
    assert long_.rest.costs["along"] < long_.rest.costs["together"]


def test_without_an_overview_only_the_parts_with_lines_are_kept() -> None:
    zones = [Interval(0.0, 60.0)]
    found = zones_to_keep(zones, 600.0, EVERY_10, LARGE, rate=8, gain=GAIN, overview=False)
    assert found.kept == tuple(zones)
    assert found.rest.way == "none"


def test_a_film_without_parts_to_look_at_keeps_nothing() -> None:
    assert zones_to_keep([], 600.0, EVERY_2, LARGE, rate=8, gain=GAIN).kept == ()
