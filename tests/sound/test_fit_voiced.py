"""What became of lines, on the track."""

from __future__ import annotations

from shotad.core import FitSettings, Interval
from shotad.script import Cue, CueStatus, FilmId, Track
from shotad.sound.fitting import fit
from shotad.sound.kinds import Fitting
from shotad.sound.placing import lines_of
from shotad.sound.voicing import UNTRIED, apply
from tests.sound.speaking import Slow

SPEECH = [Interval(0, 9), Interval(15.5, 19), Interval(21, 30)]


def cue(start: float, end: float, text: str, status: CueStatus = CueStatus.PLACED) -> Cue:
    name = f"s{round(start * 1000):08d}"
    return Cue(name, name, Interval(start, end), text, status=status)


TRACK = Track(FilmId("film.mp4", "abc", 60.0), "en", (), "1", ()).with_cues(
    [
        cue(10, 15, "He walks to the door, opens it and looks out into the dark street. A dog barks."),
        cue(19.3, 20, "Ann and Bo and Cid climb the old stairs."),
        cue(31, 33, "Ann sits."),
        cue(40, 44, "", CueStatus.DROPPED),
    ]
)


def fitted(track: Track) -> Fitting:
    return fit(lines_of(track, SPEECH, {}, FitSettings(), margin=0.25), Slow(), FitSettings())


def test_the_track_says_how_each_line_was_spoken() -> None:
    fitting = fitted(TRACK)
    made = apply(TRACK, fitting, "fake:slow")
    long, short, plain, dropped = made.cues
    assert long.spoken is not None
    assert long.spoken.interval is not None
    assert long.spoken.text == fitting.spoken[0].text
    assert long.spoken.interval.end <= 15.15
    assert long.spoken.speed > 1
    assert long.spoken_length == round(fitting.spoken[0].take.seconds, 3)
    assert short.spoken is not None
    assert short.spoken.interval is None
    assert short.spoken.steps[-1].startswith("not spoken: it takes")
    assert plain.spoken is not None
    assert plain.spoken.steps == ()
    assert dropped.voiced is None


def test_fitting_twice_is_fitting_once() -> None:
    once = apply(TRACK, fitted(TRACK), "fake:slow")
    assert apply(once, fitted(once), "fake:slow") == once


def test_a_line_that_was_not_fitted_says_so() -> None:
    made = apply(TRACK, Fitting(()), "fake:slow")
    assert [one.voiced.steps for one in made.heard if one.voiced] == [(UNTRIED,)] * 3
