"""Reading the grammar of clips: frames to features to scores, and middle frames to scales.

One ascending pass over the pictures serves all clips. Features are made once for a frame, shared by
all clips that need it, and forgotten after the last of them, so that a feature film needs no more
memory than its longest stretch of overlapping clips.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from array_api_compat import array_namespace

from shotad.config import ThreadSettings
from shotad.film.clips import Pictures
from shotad.film.reader import Picture
from shotad.grammar.base import FeatureMaker, Features, ScaleGuess, ScaleReader, merged
from shotad.grammar.book import Book, Look, pairs_of
from shotad.grammar.threads import Matching, Scores, ShotFeatures, places, shot_scores, whole_scores

DECIMALS = 6
"""Of the scores, so that a record reads back as it was."""


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads: ``features`` for threads and ``scales``, each None where it is not wanted."""

    features: FeatureMaker | None
    scales: ScaleReader | None


def lacks(clip: Sequence[Look], book: Book, readers: Readers) -> bool:
    """True where the readers can add to what ``book`` knows of the clip."""
    want = _want(clip, book, readers)
    return want.paired or bool(want.guessed)


def read_clips(
    clips: Sequence[Sequence[Look]],
    book: Book,
    pictures: Pictures,
    readers: Readers,
    settings: ThreadSettings,
    batch: int = 8,
) -> Iterator[Sequence[Look]]:
    """Add to ``book`` what it lacks of ``clips``, which come in the order of the film.

    Each clip that was read is yielded when it is done. ``pictures`` is asked once, for all moments.
    """
    wants = [want for clip in clips if (want := _want(clip, book, readers)).paired or want.guessed]
    desk = _Desk([_Moments.of(want, readers, settings) for want in wants], pictures, readers, batch)
    for number, want in enumerate(wants):
        desk.fetch(number)
        if want.paired:
            _score(want.clip, book, desk.features, readers, settings)
        for look in want.guessed:
            book.guesses[look] = _guess(look, desk.guesses, readers)
        desk.forget(number)
        yield want.clip


def moments_read(clips: Iterable[Sequence[Look]], readers: Readers, settings: ThreadSettings) -> list[float]:
    """The seconds of which frames are needed to read ``clips`` of which nothing is known, ascending."""
    wants = (_want(clip, Book(), readers) for clip in clips)
    return sorted({moment for want in wants for moment in _Moments.of(want, readers, settings).all})


@dataclass(frozen=True, slots=True)
class _Want:
    """What a clip lacks: whether its pairs are to be scored, and the looks whose scale is unknown."""

    clip: Sequence[Look]
    paired: bool
    guessed: tuple[Look, ...]


def _want(clip: Sequence[Look], book: Book, readers: Readers) -> _Want:
    paired = readers.features is not None and any(pair not in book.scores for pair in pairs_of(clip))
    guessed = tuple(look for look in clip if readers.scales is not None and look not in book.guesses)
    return _Want(clip, paired, guessed)


@dataclass(frozen=True, slots=True)
class _Moments:
    """The seconds of which a clip needs features, and a guess of scale."""

    features: frozenset[float]
    scales: frozenset[float]

    @staticmethod
    def of(want: _Want, readers: Readers, settings: ThreadSettings) -> _Moments:
        needed = [m for look in want.clip for m in _compared(look, settings)] if want.paired else []
        seen = [m for look in want.guessed for m in _guessed_by(look, readers)]
        return _Moments(frozenset(needed), frozenset(seen))

    @property
    def all(self) -> frozenset[float]:
        return self.features | self.scales


def _compared(look: Look, settings: ThreadSettings) -> list[float]:
    """The moments that the choice of frames compares."""
    return [getattr(look.moments, place) for place in places(settings.frames)]


def _guessed_by(look: Look, readers: Readers) -> list[float]:
    """The moments that the reader of scale looks at."""
    return [getattr(look.moments, moment) for moment in readers.scales.moments] if readers.scales else []


@dataclass(slots=True)
class _Desk:
    """The frames in hand: what is known of each moment, until no clip needs it any more."""

    wants: Sequence[_Moments]
    pictures: Pictures
    readers: Readers
    batch: int
    features: dict[float, Features] = field(default_factory=dict)
    guesses: dict[float, ScaleGuess | None] = field(default_factory=dict)
    _for_features: frozenset[float] = field(init=False)
    _for_scales: frozenset[float] = field(init=False)
    _last_use: dict[float, int] = field(init=False)
    _coming: Iterator[Picture] = field(init=False)
    _reached: float = field(default=float("-inf"), init=False)

    def __post_init__(self) -> None:
        self._for_features = frozenset().union(*(want.features for want in self.wants))
        self._for_scales = frozenset().union(*(want.scales for want in self.wants))
        self._last_use = {m: k for k, want in enumerate(self.wants) for m in want.all}
        moments = sorted(self._last_use)
        self._coming = iter(self.pictures(moments) if moments else ())

    def fetch(self, number: int) -> None:
        """Look at the film as far as clip ``number`` needs it."""
        end, pictures = max(self.wants[number].all), []
        while self._reached < end and (picture := next(self._coming, None)):
            self._reached = picture.wanted
            pictures.append(picture)
            if len(pictures) == self.batch:
                self._read(pictures)
                pictures = []
        self._read(pictures)

    def _read(self, pictures: Sequence[Picture]) -> None:
        features, scales = self.readers.features, self.readers.scales
        compared = [p for p in pictures if p.wanted in self._for_features]
        if compared and features:
            made = features.of([picture.image for picture in compared])
            self.features |= {p.wanted: _row(made, k) for k, p in enumerate(compared)}
        guessed = [p for p in pictures if p.wanted in self._for_scales]
        if guessed and scales:
            guesses = scales.of([picture.image for picture in guessed])
            self.guesses |= {p.wanted: guess for p, guess in zip(guessed, guesses, strict=True)}

    def forget(self, number: int) -> None:
        """Let go of what no clip after ``number`` needs."""
        for moment in self.wants[number].all:
            if self._last_use[moment] == number:
                self.features.pop(moment, None)
                self.guesses.pop(moment, None)


def _row(features: Features, k: int) -> Features:
    return Features(features.patches[k : k + 1], features.whole[k : k + 1], features.grid)


def _guess(look: Look, guesses: Mapping[float, ScaleGuess | None], readers: Readers) -> ScaleGuess | None:
    """The guess of a whole shot, as its record reads back."""
    guess = merged([guesses.get(moment) for moment in _guessed_by(look, readers)])
    if guess is None:
        return None
    a, b, c, d, e = (round(float(p), DECIMALS) for p in guess.probabilities)
    return ScaleGuess((a, b, c, d, e))


def threshold_of(readers: Readers, settings: ThreadSettings) -> float:
    """The score above which shots are joined: the one that is set, else that of the features."""
    if settings.threshold is not None:
        return settings.threshold
    return readers.features.threshold if readers.features else 1.0


def _score(
    clip: Sequence[Look],
    book: Book,
    features: Mapping[float, Features],
    readers: Readers,
    settings: ThreadSettings,
) -> None:
    """Score all pairs of the clip; a look of which no frame could be had matches nothing."""
    there = [look for look in clip if all(m in features for m in _compared(look, settings))]
    place = {look: k for k, look in enumerate(there)}
    scores = _scores(there, features, threshold_of(readers, settings), settings)
    for earlier, later in pairs_of(clip):
        known = earlier in place and later in place
        score = float(scores[place[earlier], place[later]]) if known else 0.0
        book.scores.setdefault((earlier, later), round(score, DECIMALS))


def _scores(
    looks: Sequence[Look], features: Mapping[float, Features], threshold: float, settings: ThreadSettings
) -> Scores:
    """``float32[n, n]``: how well the looks match, by patches or as wholes."""
    if not looks:
        return np.zeros((0, 0), np.float32)
    kinds = ShotFeatures(
        **{
            place: _joined([features[getattr(look.moments, place)] for look in looks])
            for place in places(settings.frames)
        }
    )
    if settings.match == "whole":
        return whole_scores(kinds, settings.frames)
    grid = features[_compared(looks[0], settings)[0]].grid
    matching = Matching(
        grid, settings.radius, settings.temperature, settings.both_ways, settings.mend_flat, flat=threshold
    )
    return shot_scores(kinds, matching, settings.frames)


def _joined(features: Sequence[Features]) -> Features:
    xp = array_namespace(features[0].patches)
    return Features(
        xp.concat([f.patches for f in features]), xp.concat([f.whole for f in features]), features[0].grid
    )
