"""What is said of a run that has ended: long stretches without speech and AD."""

from __future__ import annotations

from shotad.core import Interval
from shotad.description.overview_data import long_silences
from shotad.script import Cue, FilmId, Track


def track(*starts: float) -> Track:
    cues = tuple(Cue(f"s{round(s * 1000):08d}", None, Interval(s, s + 2), "A line.") for s in starts)
    return Track(FilmId("film.mp4", "f", 300.0), "en", (), "0", cues)


def test_stretches_without_speech_and_ad_are_named_within_what_was_described() -> None:
    found = long_silences(track(10, 120), [Interval(60, 70)], Interval(0, 300))
    assert found == (Interval(12, 60), Interval(70, 120), Interval(122, 300))
    assert long_silences(track(), [], Interval(100, 140)) == ()
    assert long_silences(track(), [], Interval(100, 150)) == (Interval(100, 150),)
