"""Tracks that are fitted to a voice without a film: their lines, the speech around them, and how long a text takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from shotad.core import Config, FilmInfo, Interval, Shot, Slot
from shotad.core.config.sound import ExtendedSettings, FitSettings
from shotad.core.settings import build_settings
from shotad.film import Prepared
from shotad.script import Cue, Edit, EditField, Track
from shotad.script.fit import Shorten
from shotad.script.track import FilmId
from shotad.sound import EstimatingStudio, Fitting, fit_track

BY_PERSON = Edit((EditField.TEXT,), "track.json", None)
CLEAR = 0.1
"""Seconds that are kept free before speech, beyond the margin."""


def cue(start: float, end: float, text: str = "He walks to the door.", name: str = "", **more: object) -> Cue:
    """A line of the script in a slot of its own; with a ``name`` like ``h00010000`` one that a person added."""
    own = name or f"s{round(start * 1000):08d}"
    return Cue(own, own if own.startswith("s") else None, Interval(start, end), text, **more)  # type: ignore[arg-type]


def track_of(*cues: Cue, duration: float = 200.0, language: str = "en") -> Track:
    return Track(FilmId("film.mp4", "abc", duration), language, (), "1", ()).with_cues(cues)


def speech_around(start: float, end: float, duration: float = 200.0) -> list[Interval]:
    """Speech that leaves free just ``[start, end)``, where no margin is kept."""
    return [Interval(0, start), Interval(end + CLEAR, duration)]


def seconds_by_letters(pace: float = 0.1, odd: Mapping[str, float] | None = None) -> Callable[[str], float]:
    """How long texts take: ``pace`` seconds a letter; the ``odd`` ones as long as is said there."""
    return lambda text: (odd or {}).get(text, sum(char.isalpha() for char in text) * pace)


def prepared_of(
    track: Track, cuts: Iterable[float] = (), slots: Mapping[str, Interval] | None = None
) -> Prepared:
    """What a run found of the track's film."""
    duration = track.film.duration
    info = FilmInfo("film.mp4", None, "ab" * 16, duration, 320, 240, Fraction(25), None, "h264", Fraction(0))
    edges = pairwise([0.0, *cuts, duration])
    shots = tuple(Shot(number, Interval(*pair)) for number, pair in enumerate(edges))
    planned = tuple(Slot(slot_id, interval, 20) for slot_id, interval in (slots or {}).items())
    return Prepared(info, duration, shots, (), (), planned)


def fitted(
    track: Track,
    speech: Sequence[Interval],
    seconds: Callable[[str], float],
    fit: FitSettings,
    *,
    margin: float = 0.0,
    slots: Mapping[str, Interval] | None = None,
    cuts: Iterable[float] = (),
    extended: ExtendedSettings | None = None,
    shorten: Shorten | None = None,
) -> Fitting:
    """Each line of a track in its place, spoken by a voice that takes so many ``seconds`` for a text."""
    tree = {"fit": fit.model_dump(), "speech": {"margin": margin}}
    if extended is not None:
        tree["extended"] = extended.model_dump()
    prepared = prepared_of(track, cuts, slots)
    studio = EstimatingStudio(None, seconds)
    return fit_track(track, speech, prepared, studio, build_settings(Config, tree), shorten=shorten)
