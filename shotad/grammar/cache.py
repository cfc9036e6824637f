"""The grammar of clips: frames to features to scores, middle frames to scales, and what is known already.

Known is kept for the film, shot by shot and pair by pair. Who does not know yet which clips will follow
reads one clip at a time, in the order of the film: features are made once for a frame and held until a clip
begins after it, so that a feature film needs no more memory than its longest clip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from typing import Any, cast, get_args

import numpy as np
from array_api_compat import array_namespace

from shotad.core import Grammar, Image, ShotScale
from shotad.core.config.sight import ThreadSettings
from shotad.core.model_loading import hold_model_loading
from shotad.core.profiling import time_items, time_step
from shotad.core.types import thread_name
from shotad.film import Pictures
from shotad.film.sampling import Moment, ShotMoments
from shotad.grammar.features import FeatureMaker, Features, ScaleGuess, ScaleReader, merged
from shotad.grammar.threads import (
    FramePosition,
    joined,
    matching_of,
    positions_for,
    shot_scores,
    threads_of,
    whole_scores,
)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ShotSample:
    """A shot as its grammar is read.

    ``slot`` is empty where the whole shot is looked at, so that all clips share it; else the sample is of
    the part that the clip of that slot shows.
    """

    shot: int
    moments: ShotMoments
    slot: str = ""


@dataclass(slots=True)
class GrammarCache:
    """Guesses of scale by sample, and matching scores by pair of samples, the earlier first.

    A sample with guess None was looked at, and nothing can be told.
    """

    guesses: dict[ShotSample, ScaleGuess | None] = field(default_factory=dict)
    scores: dict[tuple[ShotSample, ShotSample], float] = field(default_factory=dict)

    def keep(self, clips: Iterable[Sequence[ShotSample]]) -> None:
        """Forget what none of ``clips`` shows."""
        clips = list(clips)
        samples = {sample for clip in clips for sample in clip}
        pairs = {pair for clip in clips for pair in pairs_of(clip)}
        self.guesses = {sample: guess for sample, guess in self.guesses.items() if sample in samples}
        self.scores = {pair: score for pair, score in self.scores.items() if pair in pairs}


def pairs_of(clip: Sequence[ShotSample]) -> list[tuple[ShotSample, ShotSample]]:
    """All pairs of a clip's samples, the earlier first."""
    pairs: list[tuple[ShotSample, ShotSample]] = []
    for place, later in enumerate(clip):
        pairs += [(earlier, later) for earlier in clip[:place]]
    return pairs


def grammar_of(
    cache: GrammarCache, clip: Sequence[ShotSample], numbers: Mapping[int, int], threshold: float
) -> Grammar:
    """The grammar of one clip by painted number; ``numbers`` maps a shot's index to it.

    Threads are connected components over all shots of the clip, also those that are not painted
    (equation 5 of Shot-by-Shot); threads with fewer than two painted shots are left out.
    """
    scales: dict[int, ShotScale] = {}
    for sample in clip:
        guess = cache.guesses.get(sample)
        if guess is not None and sample.shot in numbers:
            scales[numbers[sample.shot]] = guess.scale
    scores = np.eye(len(clip), dtype=np.float32)  # 0 where none is known
    for j, later in enumerate(clip):
        for i, earlier in enumerate(clip[:j]):
            scores[i, j] = scores[j, i] = cache.scores.get((earlier, later), 0.0)
    threads: list[tuple[int, ...]] = []
    for places in threads_of(scores, threshold):
        shots = [clip[place].shot for place in places]
        painted = tuple(numbers[shot] for shot in shots if shot in numbers)
        if len(painted) > 1:
            threads.append(painted)
    return Grammar(scales=scales, threads=tuple(threads))


def thread_letters(cache: GrammarCache, threshold: float) -> dict[int, str]:
    """A letter for each shot of the film that shares a set-up with another, by shot index.

    Threads are named A, B, … Z, AA, … in the order in which they begin.
    """
    # Not by a matrix of the film's shots, which grows with their square: 360 MB at 7,200.
    pairs = [
        (earlier.shot, later.shot) for (earlier, later), score in cache.scores.items() if score > threshold
    ]
    letters: dict[int, str] = {}
    for number, thread in enumerate(joined(sorted({shot for pair in pairs for shot in pair}), pairs)):
        letters |= dict.fromkeys(thread, thread_name(number))
    return letters


def sample_rows(cache: GrammarCache, samples: Iterable[ShotSample], threshold: float) -> list[Json]:
    """One row for each sample, by shot, as it stands in ``grammar.json``."""
    letters = thread_letters(cache, threshold)
    rows: list[Json] = []
    for sample in sorted(set(samples), key=lambda sample: (sample.shot, sample.slot)):
        guess = cache.guesses.get(sample)
        row: Json = {"index": sample.shot}
        if sample.slot:
            row["slot"] = sample.slot
        row |= asdict(sample.moments)
        row["thread"] = letters.get(sample.shot)
        row["scale"] = None if guess is None else guess.scale.value
        row["probabilities"] = None if guess is None else list(guess.probabilities)
        rows.append(row)
    return rows


def pair_rows(cache: GrammarCache, samples: Iterable[ShotSample]) -> list[list[Any]]:
    """Shot, later shot, score of the pairs among ``samples``; and the slot where they are of one clip."""
    wanted_samples = set(samples)
    pairs = [pair for pair in cache.scores if wanted_samples.issuperset(pair)]
    rows: list[list[Any]] = []
    for earlier, later in sorted(pairs, key=lambda pair: (pair[0].shot, pair[1].shot, pair[0].slot)):
        row: list[Any] = [earlier.shot, later.shot, cache.scores[earlier, later]]
        if earlier.slot:
            row.append(earlier.slot)
        rows.append(row)
    return rows


def read_grammar_rows(
    rows: Iterable[Mapping[str, Any]], pairs: Iterable[Sequence[Any]], *, has_scales: bool
) -> GrammarCache:
    """What `sample_rows` and `pair_rows` wrote; ``has_scales``: whether scales had been read."""
    cache = GrammarCache()
    samples: dict[tuple[str, int], ShotSample] = {}
    """By slot and shot."""
    for row in rows:
        moments = ShotMoments(**{name: row[name] for name in get_args(Moment)})
        sample = ShotSample(row["index"], moments, row.get("slot", ""))
        samples[sample.slot, sample.shot] = sample
        if has_scales:
            probabilities = row["probabilities"]
            cache.guesses[sample] = ScaleGuess(tuple(probabilities)) if probabilities else None
    for earlier_shot, later_shot, score, *rest in pairs:
        slot = rest[0] if rest else ""
        cache.scores[samples[slot, earlier_shot], samples[slot, later_shot]] = score
    return cache


SURE = 0.8
"""Chance of a scale from which a shot's other frames are not looked at: of 36 labelled none changes."""
DECIMALS = 6
"""Of the scores, so that a record reads back as it was."""


@dataclass(frozen=True, slots=True)
class GrammarModels:
    """What reads grammar: ``features`` for threads and ``scales``, each None where it is not wanted.

    Loaded models stay as long as this is held.
    """

    features: FeatureMaker | None
    scales: ScaleReader | None
    warnings: tuple[str, ...] = ()
    """What had to be left out, in sentences for the user."""

    @property
    def names(self) -> tuple[str | None, str | None]:
        """The identities of both, as keys and records have them; None for what is not wanted."""
        features, scales = self.features, self.scales
        return features.identity if features else None, scales.identity if scales else None


def threshold_of(models: GrammarModels, settings: ThreadSettings) -> float:
    """The score above which shots are joined: the one that is set, else that of the features."""
    if settings.threshold is not None:
        return settings.threshold
    return models.features.threshold if models.features else 1.0


@dataclass(frozen=True, slots=True)
class _Missing:
    """What is not known of a clip: the samples without a guess of scale, and the seconds of which features,
    and of which guesses of scale, are needed."""

    samples: tuple[ShotSample, ...]
    feature_moments: frozenset[float]
    scale_moments: frozenset[float]

    @property
    def moments(self) -> frozenset[float]:
        """All seconds of which frames are needed."""
        return self.feature_moments | self.scale_moments


class ClipReader:
    """Adds to ``cache`` what it lacks of clips, one after the other; a clip is the samples of its shots.

    Frames go through the models in groups of up to ``batch``, never of more than one clip, so that what came
    before changes no bit.
    """

    def __init__(
        self, cache: GrammarCache, models: GrammarModels, settings: ThreadSettings, batch: int = 8
    ) -> None:
        self.cache, self.models = cache, models
        self._settings, self._batch = settings, batch
        self._features: dict[float, Features] = {}
        self._guesses: dict[float, ScaleGuess | None] = {}

    def lacks(self, clip: Sequence[ShotSample]) -> bool:
        """Whether there is anything to read of ``clip``."""
        missing = self._missing(clip)
        return bool(missing.samples or missing.feature_moments)

    def moments(self, clips: Iterable[Sequence[ShotSample]]) -> list[float]:
        """The seconds of which frames are needed to read ``clips``, ascending."""
        moments: set[float] = set()
        for clip in clips:
            moments |= self._missing(clip).moments
        return sorted(moments)

    def read(self, clip: Sequence[ShotSample], pictures: Pictures) -> None:
        """Add what the cache lacks of ``clip``; a sample of which no frame could be had matches nothing."""
        missing = self._missing(clip)
        if not missing.moments:
            return
        # Clips come in the order of the film: what lies before this one is never asked for again.
        first = min(missing.moments)
        self._features = {m: features for m, features in self._features.items() if m >= first}
        self._guesses = {m: guess for m, guess in self._guesses.items() if m >= first}
        new_feature_moments = missing.feature_moments - self._features.keys()
        new_scale_moments = missing.scale_moments - self._guesses.keys()
        new_moments = sorted(new_feature_moments | new_scale_moments)
        images = {picture.wanted: picture.image for picture in time_items("frames", pictures(new_moments))}
        with time_step("grammar"), hold_model_loading():
            self._read_features(new_feature_moments, images)
            self._read_scales(missing.samples, images)
            if missing.feature_moments:
                self._score_pairs(clip)
        for sample in missing.samples:
            self.cache.guesses[sample] = self._scale_guess(sample)

    def _missing(self, clip: Sequence[ShotSample]) -> _Missing:
        """What the cache lacks of a clip."""
        feature_moments: set[float] = set()
        has_unscored_pairs = any(pair not in self.cache.scores for pair in pairs_of(clip))
        if self.models.features is not None and has_unscored_pairs:
            for sample in clip:
                feature_moments.update(self._feature_moments(sample))
        samples: list[ShotSample] = []
        scale_moments: set[float] = set()
        if self.models.scales is not None:
            samples = [sample for sample in clip if sample not in self.cache.guesses]
            for sample in samples:
                scale_moments.update(self._scale_moments(sample))
        return _Missing(tuple(samples), frozenset(feature_moments), frozenset(scale_moments))

    def _feature_moments(self, sample: ShotSample) -> list[float]:
        """The moments that the choice of frames compares."""
        return [getattr(sample.moments, place) for place in positions_for(self._settings.frames)]

    def _scale_moments(self, sample: ShotSample) -> list[float]:
        """The moments that the reader of scale looks at, in this order."""
        scales = cast("ScaleReader", self.models.scales)
        return [getattr(sample.moments, place) for place in scales.moments]

    def _read_features(self, moments: Set[float], images: Mapping[float, Image]) -> None:
        """Make the features of the frames of these moments, as far as there are ``images`` of them."""
        maker = cast("FeatureMaker", self.models.features)
        for group in self._groups(images.keys() & moments):
            features = maker.of([images[moment] for moment in group])
            for k, moment in enumerate(group):
                self._features[moment] = Features(
                    features.patches[k : k + 1], features.whole[k : k + 1], features.grid
                )

    def _read_scales(self, samples: Sequence[ShotSample], images: Mapping[float, Image]) -> None:
        """Guess the scales of ``samples``; a next moment is looked at where those before leave doubt."""
        reader = cast("ScaleReader", self.models.scales)
        while True:
            next_moments = {self._next_moment(sample) for sample in samples}
            unread_moments = {moment for moment in next_moments if moment is not None}
            if not unread_moments:
                return
            self._guesses |= dict.fromkeys(unread_moments)
            for group in self._groups(images.keys() & unread_moments):
                guesses = reader.of([images[moment] for moment in group])
                self._guesses |= zip(group, guesses, strict=True)

    def _next_moment(self, sample: ShotSample) -> float | None:
        """The moment to look at next for the scale of a sample; None where those read leave no doubt, or
        there is none left."""
        guesses: list[ScaleGuess | None] = []
        for moment in self._scale_moments(sample):
            if moment not in self._guesses:
                return moment
            guesses.append(self._guesses[moment])
            if _is_sure(merged(guesses)):
                return None
        return None

    def _scale_guess(self, sample: ShotSample) -> ScaleGuess | None:
        """The guess of a sample whose moments have been read, as its record reads back."""
        guesses: list[ScaleGuess | None] = []
        for moment in self._scale_moments(sample):
            guesses.append(self._guesses[moment])
            if _is_sure(merged(guesses)):
                break
        guess = merged(guesses)
        if guess is None:
            return None
        a, b, c, d, e = (round(float(p), DECIMALS) for p in guess.probabilities)
        return ScaleGuess((a, b, c, d, e))

    def _score_pairs(self, clip: Sequence[ShotSample]) -> None:
        """Score the pairs of a clip that have no score; 0 where frames could not be had."""
        with_features: set[ShotSample] = set()
        for sample in clip:
            if self._features.keys() >= set(self._feature_moments(sample)):
                with_features.add(sample)
        for pair in pairs_of(clip):
            if pair not in self.cache.scores:
                score = self._score(pair) if with_features.issuperset(pair) else 0.0
                self.cache.scores[pair] = round(score, DECIMALS)

    def _score(self, pair: tuple[ShotSample, ShotSample]) -> float:
        """How well two samples match, by patches or as wholes.

        Each pair is scored by itself: products of other sizes round otherwise, and a score would depend on
        which clip was read first.
        """
        settings = self._settings
        features_by_place: dict[FramePosition, Features] = {}
        for place in positions_for(settings.frames):
            both = [self._features[getattr(sample.moments, place)] for sample in pair]
            patches, wholes, grid = [f.patches for f in both], [f.whole for f in both], both[0].grid
            # The library's own numpy imports all of it, its tools for Fortran too.
            xp = np if isinstance(patches[0], np.ndarray) else array_namespace(patches[0])
            features_by_place[place] = Features(xp.concat(patches), xp.concat(wholes), grid)
        if settings.match == "whole":
            return float(whole_scores(features_by_place, settings.frames)[0, 1])
        maker = cast("FeatureMaker", self.models.features)
        matching = matching_of(maker, grid, settings.by_rules.both_ways)
        return float(shot_scores(features_by_place, matching, settings.frames)[0, 1])

    def _groups(self, moments: Iterable[float]) -> Iterator[list[float]]:
        """The moments, ascending, as many at a time as the models take."""
        ascending = sorted(moments)
        return (ascending[k : k + self._batch] for k in range(0, len(ascending), self._batch))


def _is_sure(guess: ScaleGuess | None) -> bool:
    """Whether no other frame of the shot needs to be looked at."""
    return guess is not None and max(guess.probabilities) >= SURE
