"""The rough search: which seconds of a recording sound like which seconds of a film.

Windows of the recording are looked for in the whole film, at several speeds. Of the places that are alike the
chain is kept that goes forward in both and holds the most (as programs chain seeds when they align genomes).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.sound.alignment.fingerprints import FRAMES_PER_SECOND, Matrix

COARSE = 5
"""Frames of a fingerprint that the search takes as one: 50 ms."""
COARSE_PER_SECOND = FRAMES_PER_SECOND // COARSE

_CHUNK = 4096
"""Coarse frames of the film that are compared at once."""
_PLACES = 4
"""Places in the film that are kept for each window."""
_APART = 0.4
"""Seconds by which two places of a window differ at least."""
MIN_LIKENESS = 3.5
"""Standard deviations above the window's other places, from which a place counts. Chance gives as much in
long films (4.4 in 100,000 places), but not for one window after the other on a line."""
_JUMP = 7.0
"""What it costs a chain to leave its line."""
_TOLERANCE, _DRIFT = 0.15, 0.008
"""Seconds by which the next match may leave the line, and more of them for each second between the two: the
search tries speeds in steps of 1 %."""


@dataclass(frozen=True, slots=True)
class Match:
    """A window of the recording and a place in the film that sounds like it; seconds of their middles.

    ``likeness`` is in standard deviations above the other places of the window, ``speed`` is the film seconds
    in a second of the recording that were tried.
    """

    film: float
    recording: float
    likeness: float
    speed: float


def coarse_frames(frames: Matrix) -> Matrix:
    """Means of `COARSE` frames each: coarse frame i stands at ``(i + 0.5) / COARSE_PER_SECOND`` seconds, less
    half a frame of the fingerprint."""
    count = len(frames) // COARSE
    means = frames[: count * COARSE].reshape(count, COARSE, -1).mean(axis=1)
    return np.asarray(means, np.float32)


def find_matches(
    film: Matrix,
    recording: Matrix,
    starts: Sequence[float],
    length: float,
    speeds: Sequence[float],
    least: float = MIN_LIKENESS,
    places: int = _PLACES,
) -> list[Match]:
    """Where the windows of the recording that begin at ``starts`` are found in the film, best places first.

    ``film`` and ``recording`` are coarse frames, ``length`` is seconds of a window, ``least`` the likeness
    from which a place counts, ``places`` how many of them are kept for a window. A window without sound, or
    that is longer than the film, has no match.
    """
    matches: list[Match] = []
    for speed in speeds:
        count = round(length * COARSE_PER_SECOND * speed)
        if count > len(film):
            continue
        windows = np.stack([_window_at_speed(recording, start, length, count) for start in starts])
        for start, likeness in zip(starts, _likenesses(film, windows), strict=True):
            for place in _best_places(likeness, least, places):
                middle = (place + count / 2) / COARSE_PER_SECOND
                matches.append(Match(middle, start + length / 2, float(likeness[place]), speed))
    return matches


def _window_at_speed(recording: Matrix, start: float, length: float, count: int) -> Matrix:
    """``count`` frames, evenly from ``length`` seconds of the recording."""
    span = length * COARSE_PER_SECOND
    positions = start * COARSE_PER_SECOND + (np.arange(count) + 0.5) * (span / count) - 0.5
    below = np.clip(np.floor(positions).astype(np.int64), 0, len(recording) - 1)
    above = np.minimum(below + 1, len(recording) - 1)
    part = np.clip(positions - below, 0, 1).astype(np.float32)[:, None]
    return np.asarray(recording[below] * (1 - part) + recording[above] * part, np.float32)


def _likenesses(film: Matrix, windows: npt.NDArray[np.float32]) -> Iterator[Matrix]:
    """For each of ``windows`` (``float32[n, count, bands]``) how alike each place of the film is.

    In standard deviations above the median of all places; zeros where the window is silent.
    """
    count = windows.shape[1]
    places = len(film) - count + 1
    size = min(_CHUNK, 1 << int(np.ceil(np.log2(len(film)))))
    size = max(size, 1 << int(np.ceil(np.log2(2 * count))))
    step = size - count + 1
    spectra = [np.fft.rfft(film[first : first + size], size, axis=0) for first in range(0, places, step)]
    power = np.concatenate([[0.0], np.cumsum(np.square(film).sum(axis=1), dtype=np.float64)])
    film_power = power[count:] - power[:-count]
    # Without a floor two silences would be as alike as can be.
    film_norm = np.sqrt(film_power + 0.1 * film_power.mean() + 1e-9)
    for window in windows:
        norm = float(np.sqrt(np.square(window).sum()))
        if norm < 1e-6:
            yield np.zeros(places, np.float32)
            continue
        window_spectrum = np.conj(np.fft.rfft(window, size, axis=0))
        products = [
            np.fft.irfft((spectrum * window_spectrum).sum(axis=1), size)[:step] for spectrum in spectra
        ]
        correlation = np.concatenate(products)[:places] / (norm * film_norm)
        median = np.median(correlation)
        # From the middle half, so that true matches do not count.
        spread = 1.4826 * np.median(np.abs(correlation - median)) + 1e-6
        # Few places in a short film say little about how much chance gives.
        least = 0.6 / np.sqrt(count)
        yield np.asarray((correlation - median) / max(float(spread), float(least)), np.float32)


def _best_places(likeness: Matrix, least: float, most: int) -> list[int]:
    """Up to ``most`` places that are most alike, ``least`` at the least, and lie apart."""
    candidates = np.flatnonzero(likeness >= least)
    places: list[int] = []
    for place in candidates[np.argsort(-likeness[candidates])].tolist():
        if all(abs(place - other) > _APART * COARSE_PER_SECOND for other in places):
            places.append(place)
        if len(places) == most:
            break
    return places


def best_chain(matches: Sequence[Match], least: float = MIN_LIKENESS) -> list[list[Match]]:
    """The matches that go forward in both film and recording and together are most alike.

    They are in groups: the matches of one lie on a line, one speed and one offset. ``least`` is the likeness
    from which they were taken.
    """
    ordered = sorted(matches, key=lambda match: (match.recording, match.film))
    if not ordered:
        return []
    film = np.array([match.film for match in ordered])
    recording = np.array([match.recording for match in ordered])
    speed = np.array([match.speed for match in ordered])
    worth = np.array([match.likeness - least + 0.5 for match in ordered])
    best = worth.copy() - _JUMP
    before = np.full(len(ordered), -1)
    on_line = np.zeros(len(ordered), bool)
    for number in range(1, len(ordered)):
        seconds = recording[number] - recording[:number]
        film_seconds = film[number] - film[:number]
        difference = np.abs(film_seconds - seconds * speed[number])
        # On a line only with matches that are near, else a slow drift of the speed would be hidden in one.
        straight = (difference <= _TOLERANCE + _DRIFT * seconds) & (speed[:number] == speed[number])
        totals = best[:number] - np.where(straight, 0.0, _JUMP) + worth[number]
        totals[(seconds <= 0) | (film_seconds <= 0)] = -np.inf
        previous = int(totals.argmax())
        if totals[previous] > best[number]:
            best[number], before[number] = totals[previous], previous
            on_line[number] = straight[previous]
    groups: list[list[Match]] = []
    number = int(best.argmax())
    if best[number] <= 0:
        return []
    group: list[Match] = []
    while number >= 0:
        group.append(ordered[number])
        if not on_line[number]:
            groups.append(group[::-1])
            group = []
        number = int(before[number])
    return groups[::-1]
