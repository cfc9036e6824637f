"""The grammar of clips: frames to features to scores, middle frames to scales, and what is known already.

Known is kept for the film, shot by shot and pair by pair. Who does not know yet which clips will follow
reads one clip at a time, in the order of the film: features are made once for a frame and held until a clip
begins after it, so that a feature film needs no more memory than its longest clip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast, get_args

import numpy as np
from array_api_compat import array_namespace

from shotad.core import Grammar
from shotad.core.config.sight import ThreadSettings
from shotad.core.model_loading import hold_model_loading
from shotad.core.profiling import time_items, time_step
from shotad.core.types import thread_name
from shotad.film import Pictures
from shotad.film.sampling import Moment, ShotMoments
from shotad.grammar.features import FeatureMaker, Features, ScaleGuess, ScaleReader, merged
from shotad.grammar.threads import joined, matching_of, positions_for, shot_scores, threads_of, whole_scores

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ShotSample:
    """A shot as its grammar is read.

    ``slot`` is empty where the whole shot is looked at, so that all clips share it; else the look is of
    the part that the clip of that slot shows.
    """

    shot: int
    moments: ShotMoments
    slot: str = ""


@dataclass(slots=True)
class GrammarCache:
    """Guesses of scale by look, and matching scores by pair of looks, the earlier first.

    A look with guess None was looked at, and nothing can be told.
    """

    guesses: dict[ShotSample, ScaleGuess | None] = field(default_factory=dict)
    scores: dict[tuple[ShotSample, ShotSample], float] = field(default_factory=dict)

    def keep(self, clips: Iterable[Sequence[ShotSample]]) -> None:
        """Forget what none of ``clips`` shows."""
        clips = list(clips)
        looks = {look for clip in clips for look in clip}
        pairs = {pair for clip in clips for pair in pairs_of(clip)}
        self.guesses = {look: guess for look, guess in self.guesses.items() if look in looks}
        self.scores = {pair: score for pair, score in self.scores.items() if pair in pairs}


def pairs_of(clip: Sequence[ShotSample]) -> list[tuple[ShotSample, ShotSample]]:
    """All pairs of a clip's looks, the earlier first."""
    return [(earlier, later) for j, later in enumerate(clip) for earlier in clip[:j]]


def grammar_of(
    book: GrammarCache, clip: Sequence[ShotSample], numbers: Mapping[int, int], threshold: float
) -> Grammar:
    """The grammar of one clip by painted number; ``numbers`` maps a shot's index to it.

    Threads are connected components over all shots of the clip, also those that are not painted
    (equation 5 of Shot-by-Shot); threads with fewer than two painted shots are left out.
    """
    scores = np.eye(len(clip), dtype=np.float32)  # 0 where none is known
    for j, later in enumerate(clip):
        for i, earlier in enumerate(clip[:j]):
            scores[i, j] = scores[j, i] = book.scores.get((earlier, later), 0.0)
    shown = {look.shot: guess for look in clip if (guess := book.guesses.get(look)) and look.shot in numbers}
    threads = [
        tuple(numbers[clip[k].shot] for k in thread if clip[k].shot in numbers)
        for thread in threads_of(scores, threshold)
    ]
    return Grammar(
        scales={numbers[shot]: guess.scale for shot, guess in shown.items()},
        threads=tuple(thread for thread in threads if len(thread) > 1),
    )


def thread_letters(book: GrammarCache, threshold: float) -> dict[int, str]:
    """A letter for each shot of the film that shares a set-up with another, by shot index.

    Threads are named A, B, … Z, AA, … in the order in which they begin.
    """
    # Not by a matrix of the film's shots, which grows with their square: 360 MB at 7,200.
    pairs = [
        (earlier.shot, later.shot) for (earlier, later), score in book.scores.items() if score > threshold
    ]
    threads = joined(sorted({shot for pair in pairs for shot in pair}), pairs)
    return {shot: thread_name(n) for n, thread in enumerate(threads) for shot in thread}


def look_rows(book: GrammarCache, looks: Iterable[ShotSample], threshold: float) -> list[Json]:
    """One row for each look, by shot, as it stands in ``grammar.json``."""
    letters = thread_letters(book, threshold)
    return [
        {
            "index": look.shot,
            **({"slot": look.slot} if look.slot else {}),
            **asdict(look.moments),
            "thread": letters.get(look.shot),
            "scale": guess.scale.value if (guess := book.guesses.get(look)) else None,
            "probabilities": list(guess.probabilities) if guess else None,
        }
        for look in sorted(set(looks), key=lambda look: (look.shot, look.slot))
    ]


def pair_rows(book: GrammarCache, looks: Iterable[ShotSample]) -> list[list[Any]]:
    """Shot, later shot, score of the pairs among ``looks``; and the slot of looks that are one clip's."""
    wanted_looks = set(looks)
    pairs = [
        (a, b, score) for (a, b), score in book.scores.items() if a in wanted_looks and b in wanted_looks
    ]
    ordered = sorted(pairs, key=lambda pair: (pair[0].shot, pair[1].shot, pair[0].slot))
    return [[a.shot, b.shot, score, *([a.slot] if a.slot else [])] for a, b, score in ordered]


def read_grammar_rows(
    looks: Iterable[Mapping[str, Any]], pairs: Iterable[Sequence[Any]], *, guessed: bool
) -> GrammarCache:
    """The book that `look_rows` and `pair_rows` wrote; ``guessed``: whether scales had been read."""
    book, by_name = GrammarCache(), {}
    for row in looks:
        moments = ShotMoments(**{name: row[name] for name in get_args(Moment)})
        look = ShotSample(row["index"], moments, row.get("slot", ""))
        by_name[look.slot, look.shot] = look
        if guessed:
            sure = row["probabilities"]
            book.guesses[look] = ScaleGuess(tuple(sure)) if sure else None
    for earlier, later, score, *slot in pairs:
        place = slot[0] if slot else ""
        book.scores[by_name[place, earlier], by_name[place, later]] = score
    return book


SURE = 0.8
"""Chance of a scale from which a shot's other frames are not looked at: of 36 labelled none changes."""
DECIMALS = 6
"""Of the scores, so that a record reads back as it was."""


@dataclass(frozen=True, slots=True)
class GrammarModels:
    """Who reads: ``features`` for threads and ``scales``, each None where it is not wanted."""

    features: FeatureMaker | None
    scales: ScaleReader | None


def threshold_of(readers: GrammarModels, settings: ThreadSettings) -> float:
    """The score above which shots are joined: the one that is set, else that of the features."""
    if settings.threshold is not None:
        return settings.threshold
    return readers.features.threshold if readers.features else 1.0


ClipLooks = Sequence[ShotSample]
"""The looks at the shots of one clip."""


class ClipReader:
    """Adds to ``book`` what it lacks of clips, one after the other. Frames go through the models in groups of
    up to ``batch``, never of more than one clip, so that what came before changes no bit."""

    def __init__(
        self, book: GrammarCache, readers: GrammarModels, settings: ThreadSettings, batch: int = 8
    ) -> None:
        self.book, self.readers = book, readers
        self._settings, self._batch = settings, batch
        self._features: dict[float, Features] = {}
        self._guesses: dict[float, ScaleGuess | None] = {}

    def lacks(self, clip: ClipLooks) -> bool:
        """Whether there is anything to read of ``clip``."""
        guessed, features, _ = self._want(clip)
        return bool(guessed or features)

    def moments(self, clips: Iterable[ClipLooks]) -> list[float]:
        """The seconds of which frames are needed to read ``clips``, ascending."""
        return sorted({m for clip in clips for moments in self._want(clip)[1:] for m in moments})

    def read(self, clip: ClipLooks, pictures: Pictures) -> None:
        """Add what the book lacks of ``clip``; a look of which no frame could be had matches nothing."""
        guessed, feature_moments, scale_moments = self._want(clip)
        if not feature_moments | scale_moments:
            return
        # Clips come in the order of the film: what lies before this one is never asked for again.
        first = min(feature_moments | scale_moments)
        self._features = {m: features for m, features in self._features.items() if m >= first}
        self._guesses = {m: guess for m, guess in self._guesses.items() if m >= first}
        missing = (feature_moments - self._features.keys()) | (scale_moments - self._guesses.keys())
        shown = {p.wanted: p.image for p in time_items("frames", pictures(sorted(missing)))}
        with time_step("grammar"), hold_model_loading():
            for group in self._groups(shown.keys() & feature_moments - self._features.keys()):
                features = cast("FeatureMaker", self.readers.features).of([shown[moment] for moment in group])
                self._features |= {
                    moment: Features(features.patches[k : k + 1], features.whole[k : k + 1], features.grid)
                    for k, moment in enumerate(group)
                }
            # A shot's next moment is looked at where those before leave doubt.
            while unread_moments := {
                moment for look in guessed if (moment := self._guess(look)[1]) is not None
            }:
                self._guesses |= dict.fromkeys(unread_moments)
                for group in self._groups(shown.keys() & unread_moments):
                    guesses = cast("ScaleReader", self.readers.scales).of([shown[moment] for moment in group])
                    self._guesses |= zip(group, guesses, strict=True)
            looks_with_features = {
                look for look in clip if self._features.keys() >= set(self._compared(look))
            }
            for pair in pairs_of(clip) if feature_moments else ():
                if pair not in self.book.scores:
                    score = self._score(pair) if looks_with_features.issuperset(pair) else 0.0
                    self.book.scores[pair] = round(score, DECIMALS)
        self.book.guesses |= {look: self._guess(look)[0] for look in guessed}

    def _want(self, clip: ClipLooks) -> tuple[list[ShotSample], set[float], set[float]]:
        """What a clip lacks: the looks whose scale is unknown, and the seconds of which features, and of
        which guesses of scale, are needed."""
        book, readers = self.book, self.readers
        paired = readers.features is not None and any(pair not in book.scores for pair in pairs_of(clip))
        features = {m for look in clip for m in self._compared(look)} if paired else set()
        guessed = [look for look in clip if readers.scales is not None and look not in book.guesses]
        return guessed, features, {m for look in guessed for m in self._guessed_by(look)}

    def _compared(self, look: ShotSample) -> list[float]:
        """The moments that the choice of frames compares."""
        return [getattr(look.moments, place) for place in positions_for(self._settings.frames)]

    def _guessed_by(self, look: ShotSample) -> list[float]:
        """The moments that the reader of scale looks at."""
        return [getattr(look.moments, moment) for moment in cast("ScaleReader", self.readers.scales).moments]

    def _score(self, pair: tuple[ShotSample, ShotSample]) -> float:
        """How well two looks match, by patches or as wholes.

        Each pair is scored by itself: products of other sizes round otherwise, and a score would depend on
        which clip was read first.
        """
        settings, kinds = self._settings, {}
        for place in positions_for(settings.frames):
            two = [self._features[getattr(look.moments, place)] for look in pair]
            patches, whole, grid = [f.patches for f in two], [f.whole for f in two], two[0].grid
            # The library's own numpy imports all of it, its tools for Fortran too.
            xp = np if isinstance(patches[0], np.ndarray) else array_namespace(patches[0])
            kinds[place] = Features(xp.concat(patches), xp.concat(whole), grid)
        if settings.match == "whole":
            return float(whole_scores(kinds, settings.frames)[0, 1])
        maker = cast("FeatureMaker", self.readers.features)
        matching = matching_of(maker, grid, settings.by_rules.both_ways)
        return float(shot_scores(kinds, matching, settings.frames)[0, 1])

    def _guess(self, look: ShotSample) -> tuple[ScaleGuess | None, float | None]:
        """The guess of a shot, as its record reads back, and the moment to look at before, if any."""
        guesses: list[ScaleGuess | None] = []
        for moment in self._guessed_by(look):
            if moment not in self._guesses:
                return None, moment
            guesses.append(self._guesses[moment])
            if (guess := merged(guesses)) and max(guess.probabilities) >= SURE:
                break
        if (guess := merged(guesses)) is None:
            return None, None
        a, b, c, d, e = (round(float(p), DECIMALS) for p in guess.probabilities)
        return ScaleGuess((a, b, c, d, e)), None

    def _groups(self, moments: Iterable[float]) -> Iterator[list[float]]:
        ascending = sorted(moments)
        return (ascending[k : k + self._batch] for k in range(0, len(ascending), self._batch))
