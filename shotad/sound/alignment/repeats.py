"""Sound that comes back in a film, such as its music: which of several places a line belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shotad.core import Interval
from shotad.sound.alignment.fingerprints import FRAMES_PER_SECOND, Fingerprint, Matrix
from shotad.sound.alignment.lines import Line, Numbers, fitted_line, measured_offsets
from shotad.sound.alignment.search import coarse_frames, find_matches

_WINDOW = 10.0
"""Seconds of a window that is looked for elsewhere in the film."""
_MOST_WINDOWS = 8
"""Windows of a line that are looked for."""
_SAME_PLACE = 0.3
"""Seconds by which places of windows may differ and still be one place of the line."""
_OVERLAP = 4.0
"""Seconds by which a line may reach into its neighbours in the film: nearly a window of the search."""
_SHARE_ELSEWHERE = 0.6
"""Share of the windows that have to be found at another place. Where fewer are, the rest of the line says
where it belongs."""
_MOST_PLACES = 20
"""Places in the film that are compared for a window."""
_AS_GOOD = 0.6
"""Share of the best place's evidence from which another place may be the right one."""
_CLEAR = 3.0
"""Standard deviations from which the best place is more alike than another, whatever the evidence of both."""
_ALIKE_FRAMES = 10
"""Neighbouring frames that say the same."""


def placed_lines(
    film: Fingerprint, recording: Fingerprint, lines: Sequence[Line]
) -> tuple[list[Line], list[Interval]]:
    """The lines, each at the place of the film where it belongs; and the parts of the recording, in its
    seconds, that fit several places.

    Of places that are equally alike the one counts that goes on where a neighbour ends. Without such a
    place the line is left out.
    """
    coarse_film, coarse_recording = coarse_frames(film.frames), coarse_frames(recording.frames)
    placed: list[Line] = []
    ambiguous: list[Interval] = []
    for number, line in enumerate(lines):
        earlier = placed[-1] if placed else None
        later = lines[number + 1] if number + 1 < len(lines) else None
        other_places = _other_places(film, recording, line, coarse_film, coarse_recording)
        other_places += _on_neighbours(film, recording, line, earlier, later)
        places = [line, *(place for place in other_places if _is_between(earlier, place, later))]
        alike = _most_alike(film, recording, places)
        if len(alike) > 1:
            ambiguous.append(Interval(line.start, line.end))
            alike = [place for place in alike if _goes_on(earlier, place) or _goes_on(place, later)][:1]
        placed += alike
    return placed, ambiguous


def _other_places(
    film: Fingerprint, recording: Fingerprint, line: Line, coarse_film: Matrix, coarse_recording: Matrix
) -> list[Line]:
    """The line moved to other places of the film at which most of its windows are found too."""
    length = min(_WINDOW, line.span)
    count = int(np.clip(2 * line.span / length - 1, 1, _MOST_WINDOWS))
    starts = np.linspace(max(0.0, line.start), line.end - length, count).tolist()
    matches = find_matches(coarse_film, coarse_recording, starts, length, [line.speed], places=_MOST_PLACES)
    distances = np.array([match.film - line.film_second(match.recording) for match in matches])
    middles = np.array([match.recording for match in matches])
    places: list[Line] = []
    while len(distances):
        is_here = np.abs(distances - distances[0]) <= _SAME_PLACE
        distance = float(np.median(distances[is_here]))
        windows = len(np.unique(middles[is_here]))
        if abs(distance) > _SAME_PLACE and windows >= _SHARE_ELSEWHERE * count:
            places.append(_fitted(film, recording, replace(line, at=line.at + distance)))
        distances, middles = distances[~is_here], middles[~is_here]
    return places


def _on_neighbours(
    film: Fingerprint, recording: Fingerprint, line: Line, earlier: Line | None, later: Line | None
) -> list[Line]:
    """The neighbours of a line, each instead of it, where they are not the same line."""
    middle = (line.start + line.end) / 2
    places: list[Line] = []
    for neighbour in (earlier, later):
        if neighbour is not None:
            distance = abs(neighbour.film_second(middle) - line.film_second(middle))
            if distance > _SAME_PLACE:
                moved = replace(neighbour, start=line.start, end=line.end)
                places.append(_fitted(film, recording, moved))
    return places


def _fitted(film: Fingerprint, recording: Fingerprint, line: Line) -> Line:
    return fitted_line(line, measured_offsets(film, recording, line), turn=False)


def _is_between(earlier: Line | None, place: Line, later: Line | None) -> bool:
    """Whether a line lies between its neighbours in the film as it does in the recording."""
    # Neighbours may overlap by what a window of the search takes too much.
    start = place.start if earlier is None else max(place.start, earlier.end)
    end = place.end if later is None else min(place.end, later.start)
    after_earlier = earlier is None or place.film_second(start) > earlier.last_point.film - _OVERLAP
    before_later = later is None or place.film_second(end) < later.first_point.film + _OVERLAP
    return bool(after_earlier and before_later)


def _most_alike(film: Fingerprint, recording: Fingerprint, places: Sequence[Line]) -> list[Line]:
    """Of the places of a line those than which none is clearly more alike."""
    if len(places) == 1:
        return list(places)
    numbers = np.arange(round(places[0].start * FRAMES_PER_SECOND), round(places[0].end * FRAMES_PER_SECOND))
    own = recording.at(numbers.astype(np.float64))
    likenesses: list[Numbers] = []
    for place in places:
        film_frames = film.at(place.film_second(numbers / FRAMES_PER_SECOND) * FRAMES_PER_SECOND)
        likenesses.append((own * film_frames).sum(axis=1).astype(np.float64))
    best = max(range(len(places)), key=lambda number: places[number].evidence)
    is_best_within_film = _lies_within(film, places[best])
    alike: list[Line] = []
    for place, likeness in zip(places, likenesses, strict=True):
        # Of a film that repeats itself from end to end only its own place holds all of its recording.
        if is_best_within_film and not _lies_within(film, place):
            continue
        difference = likenesses[best] - likeness
        chance = float(np.sqrt(np.square(difference).sum() * _ALIKE_FRAMES))
        is_as_good = place.evidence >= _AS_GOOD * places[best].evidence
        if is_as_good and difference.sum() <= _CLEAR * chance:
            alike.append(place)
    return alike


def _lies_within(film: Fingerprint, place: Line) -> bool:
    """Whether the film holds the whole line there."""
    begins_in_film = place.first_point.film >= -_SAME_PLACE
    return begins_in_film and place.last_point.film <= film.duration + _SAME_PLACE


def _goes_on(earlier: Line | None, later: Line | None) -> bool:
    return earlier is not None and later is not None and earlier.goes_on_in(later)
