"""Free time is exactly what no utterance, widened by the margin, covers."""

from __future__ import annotations

import itertools

from hypothesis import given, strategies as st

from shotad.core import Interval, SpeechKind, SpeechSettings, Utterance
from shotad.film import free_time


def spoken(*bounds: tuple[float, float], kind: SpeechKind = SpeechKind.SPEECH) -> list[Utterance]:
    return [Utterance(Interval(start, end), kind=kind) for start, end in bounds]


def test_lyrics_are_kept_free_unless_allowed() -> None:
    song = spoken((5, 7), kind=SpeechKind.LYRICS) + spoken((12, 13))
    quiet = SpeechSettings(margin=0.5)
    assert [gap.start for gap in free_time(song, 20, quiet)] == [0, 7.5, 13.5]
    over = SpeechSettings(margin=0.5, over_lyrics=True)
    assert [gap.start for gap in free_time(song, 20, over)] == [0, 13.5]


BOUNDS = st.tuples(st.integers(-20, 1300), st.integers(1, 200)).map(
    lambda pair: (pair[0] / 10, (pair[0] + pair[1]) / 10)
)


@given(st.lists(BOUNDS, max_size=30), st.integers(1, 1200), st.sampled_from([0.0, 0.25, 1.0]))
def test_every_moment_is_free_or_near_speech_and_never_both(bounds, tenths, margin):
    duration = tenths / 10
    found = free_time(spoken(*bounds), duration, SpeechSettings(margin=margin))
    assert list(found) == sorted(found)
    assert all(a.end < b.start for a, b in itertools.pairwise(found))
    for moment in (k * duration / 97 + 0.003 for k in range(97)):
        if moment >= duration:
            continue
        taken = any(start - margin <= moment < end + margin for start, end in bounds)
        assert taken != any(gap.contains(moment) for gap in found)
