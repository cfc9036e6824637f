"""What is known of a film's grammar, shot by shot and pair by pair, and what it says of one clip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from shotad.core import Grammar, thread_name
from shotad.film import Moment, ShotMoments
from shotad.grammar.base import ScaleGuess
from shotad.grammar.threads import joined, threads_of

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Look:
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

    guesses: dict[Look, ScaleGuess | None] = field(default_factory=dict)
    scores: dict[tuple[Look, Look], float] = field(default_factory=dict)

    def keep(self, clips: Iterable[Sequence[Look]]) -> None:
        """Forget what none of ``clips`` shows."""
        clips = list(clips)
        looks = {look for clip in clips for look in clip}
        pairs = {pair for clip in clips for pair in pairs_of(clip)}
        self.guesses = {look: guess for look, guess in self.guesses.items() if look in looks}
        self.scores = {pair: score for pair, score in self.scores.items() if pair in pairs}

    def scores_of(self, clip: Sequence[Look]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """``float32[n, n]``: the scores among the looks of a clip, 1 with itself, 0 where none is known."""
        found = np.eye(len(clip), dtype=np.float32)
        for j, later in enumerate(clip):
            for i, earlier in enumerate(clip[:j]):
                found[i, j] = found[j, i] = self.scores.get((earlier, later), 0.0)
        return found


def pairs_of(clip: Sequence[Look]) -> list[tuple[Look, Look]]:
    """All pairs of a clip's looks, the earlier first."""
    return [(earlier, later) for j, later in enumerate(clip) for earlier in clip[:j]]


def grammar_of(
    book: GrammarCache,
    clip: Sequence[Look],
    numbers: Mapping[int, int],
    threshold: float,
    value: Literal["class", "expected"] = "class",
) -> Grammar:
    """The grammar of one clip by painted number; ``numbers`` maps a shot's index to it.

    Threads are connected components over all shots of the clip, also those that are not painted
    (equation 5 of Shot-by-Shot); threads with fewer than two painted shots are left out.
    """
    shown = {look.shot: guess for look in clip if (guess := book.guesses.get(look)) and look.shot in numbers}
    threads = [
        tuple(numbers[clip[k].shot] for k in thread if clip[k].shot in numbers)
        for thread in threads_of(book.scores_of(clip), threshold)
    ]
    return Grammar(
        scales={numbers[shot]: guess.scale for shot, guess in shown.items()},
        threads=tuple(thread for thread in threads if len(thread) > 1),
        expected={numbers[shot]: guess.expected for shot, guess in shown.items() if value == "expected"},
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


def look_rows(book: GrammarCache, looks: Iterable[Look], threshold: float) -> list[Json]:
    """One row for each look, by shot, as it stands in ``grammar.json``."""
    letters = thread_letters(book, threshold)
    return [
        {
            **_name(look),
            **asdict(look.moments),
            "thread": letters.get(look.shot),
            "scale": guess.scale.value if (guess := book.guesses.get(look)) else None,
            "probabilities": list(guess.probabilities) if guess else None,
        }
        for look in sorted(set(looks), key=lambda look: (look.shot, look.slot))
    ]


def pair_rows(book: GrammarCache, looks: Iterable[Look]) -> list[list[Any]]:
    """Shot, later shot, score of the pairs among ``looks``; and the slot of looks that are one clip's."""
    known = set(looks)
    pairs = [(a, b, score) for (a, b), score in book.scores.items() if a in known and b in known]
    ordered = sorted(pairs, key=lambda pair: (pair[0].shot, pair[1].shot, pair[0].slot))
    return [[a.shot, b.shot, score, *([a.slot] if a.slot else [])] for a, b, score in ordered]


def book_of(
    looks: Iterable[Mapping[str, Any]], pairs: Iterable[Sequence[Any]], *, guessed: bool
) -> GrammarCache:
    """The book that `look_rows` and `pair_rows` wrote; ``guessed``: whether scales had been read."""
    book, by_name = GrammarCache(), {}
    for row in looks:
        moments = ShotMoments(**{name: row[name] for name in get_args(Moment)})
        look = Look(row["index"], moments, row.get("slot", ""))
        by_name[look.slot, look.shot] = look
        if guessed:
            sure = row["probabilities"]
            book.guesses[look] = ScaleGuess(tuple(sure)) if sure else None
    for earlier, later, score, *slot in pairs:
        place = slot[0] if slot else ""
        book.scores[by_name[place, earlier], by_name[place, later]] = score
    return book


def _name(look: Look) -> Json:
    return {"index": look.shot, **({"slot": look.slot} if look.slot else {})}
