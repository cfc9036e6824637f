"""What the grammar of a clip is read from: frames to features to scores, and middle frames to scales."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from array_api_compat import array_namespace

from shotad.core import ThreadSettings
from shotad.grammar.base import FeatureMaker, Features, ScaleGuess, ScaleReader, merged
from shotad.grammar.cache import GrammarCache, Look, pairs_of
from shotad.grammar.threads import Matching, ShotFeatures, places, shot_scores, whole_scores

DECIMALS = 6
"""Of the scores, so that a record reads back as it was."""


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads: ``features`` for threads and ``scales``, each None where it is not wanted."""

    features: FeatureMaker | None
    scales: ScaleReader | None


def lacks(clip: Sequence[Look], book: GrammarCache, readers: Readers) -> bool:
    """True where the readers can add to what ``book`` knows of the clip."""
    want = want_of(clip, book, readers)
    return want.paired or bool(want.guessed)


def moments_read(clips: Iterable[Sequence[Look]], readers: Readers, settings: ThreadSettings) -> list[float]:
    """The seconds of which frames are needed to read ``clips`` of which nothing is known, ascending."""
    wants = (want_of(clip, GrammarCache(), readers) for clip in clips)
    return sorted({moment for want in wants for moment in Moments.of(want, readers, settings).all})


@dataclass(frozen=True, slots=True)
class Want:
    """What a clip lacks: whether its pairs are to be scored, and the looks whose scale is unknown."""

    clip: Sequence[Look]
    paired: bool
    guessed: tuple[Look, ...]


def want_of(clip: Sequence[Look], book: GrammarCache, readers: Readers) -> Want:
    paired = readers.features is not None and any(pair not in book.scores for pair in pairs_of(clip))
    guessed = tuple(look for look in clip if readers.scales is not None and look not in book.guesses)
    return Want(clip, paired, guessed)


@dataclass(frozen=True, slots=True)
class Moments:
    """The seconds of which a clip needs features, and a guess of scale."""

    features: frozenset[float]
    scales: frozenset[float]

    @staticmethod
    def of(want: Want, readers: Readers, settings: ThreadSettings) -> Moments:
        needed = [m for look in want.clip for m in _compared(look, settings)] if want.paired else []
        seen = [m for look in want.guessed for m in _guessed_by(look, readers)]
        return Moments(frozenset(needed), frozenset(seen))

    @property
    def all(self) -> frozenset[float]:
        return self.features | self.scales


def _compared(look: Look, settings: ThreadSettings) -> list[float]:
    """The moments that the choice of frames compares."""
    return [getattr(look.moments, place) for place in places(settings.frames)]


def _guessed_by(look: Look, readers: Readers) -> list[float]:
    """The moments that the reader of scale looks at."""
    return [getattr(look.moments, moment) for moment in readers.scales.moments] if readers.scales else []


def row_of(features: Features, k: int) -> Features:
    return Features(features.patches[k : k + 1], features.whole[k : k + 1], features.grid)


def guess_of(look: Look, guesses: Mapping[float, ScaleGuess | None], readers: Readers) -> ScaleGuess | None:
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


def score_clip(
    clip: Sequence[Look],
    book: GrammarCache,
    features: Mapping[float, Features],
    readers: Readers,
    settings: ThreadSettings,
) -> None:
    """Score the pairs of the clip that the book lacks; a look of which no frame could be had matches nothing.

    Each pair is scored by itself: products of other sizes round otherwise, and a score would hang on which
    clip was read first.
    """
    threshold = threshold_of(readers, settings)
    there = {look for look in clip if all(m in features for m in _compared(look, settings))}
    for pair in pairs_of(clip):
        if pair not in book.scores:
            score = _score(pair, features, threshold, settings) if there.issuperset(pair) else 0.0
            book.scores[pair] = round(score, DECIMALS)


def _score(
    pair: tuple[Look, Look], features: Mapping[float, Features], threshold: float, settings: ThreadSettings
) -> float:
    """How well two looks match, by patches or as wholes."""
    kinds = ShotFeatures(
        **{
            place: _joined([features[getattr(look.moments, place)] for look in pair])
            for place in places(settings.frames)
        }
    )
    if settings.match == "whole":
        return float(whole_scores(kinds, settings.frames)[0, 1])
    grid = features[_compared(pair[0], settings)[0]].grid
    matching = Matching(grid, both_ways=settings.both_ways, mend_flat=settings.mend_flat, flat=threshold)
    return float(shot_scores(kinds, matching, settings.frames)[0, 1])


def _joined(features: Sequence[Features]) -> Features:
    xp = array_namespace(features[0].patches)
    return Features(
        xp.concat([f.patches for f in features]), xp.concat([f.whole for f in features]), features[0].grid
    )
