"""Reading film grammar one clip at a time, for who does not know yet which clips will follow.

Clips come in the order of the film. Features are made once for a frame and held until a clip begins after
it, so that a feature film needs no more memory than its longest clip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shotad.core import ThreadSettings, span, spanned, while_nothing_is_loaded
from shotad.film import Picture, Pictures
from shotad.grammar.base import Features, ScaleGuess
from shotad.grammar.cache import GrammarCache, Look
from shotad.grammar.reading import Moments, Readers, guess_of, lacks, row_of, score_clip, want_of

Clip = Sequence[Look]
"""The looks at the shots of one clip."""


class ClipReader:
    """Adds to ``book`` what it lacks of clips, one after the other. Frames go through the models in groups of
    up to ``batch``, never of more than one clip, so that what came before changes no bit."""

    def __init__(
        self, book: GrammarCache, readers: Readers, settings: ThreadSettings, batch: int = 8
    ) -> None:
        self.book, self.readers = book, readers
        self._settings, self._batch = settings, batch
        self._features: dict[float, Features] = {}
        self._guesses: dict[float, ScaleGuess | None] = {}

    def lacks(self, clip: Clip) -> bool:
        """Whether there is anything to read of ``clip``."""
        return lacks(clip, self.book, self.readers)

    def moments(self, clips: Iterable[Clip]) -> list[float]:
        """The seconds of which frames are needed to read ``clips``, ascending."""
        return sorted({moment for clip in clips for moment in self._needed(clip).all})

    def read(self, clip: Clip, pictures: Pictures) -> None:
        """Add what the book lacks of ``clip``."""
        want, needed = want_of(clip, self.book, self.readers), self._needed(clip)
        if not needed.all:
            return
        self._forget(min(needed.all))
        missing = (needed.features - self._features.keys()) | (needed.scales - self._guesses.keys())
        for group in _groups(spanned("frames", pictures(sorted(missing))), self._batch):
            self._look(group, needed)
        with span("grammar"):
            if want.paired:
                score_clip(want.clip, self.book, self._features, self.readers, self._settings)
            for look in want.guessed:
                self.book.guesses[look] = guess_of(look, self._guesses, self.readers)

    def _needed(self, clip: Clip) -> Moments:
        return Moments.of(want_of(clip, self.book, self.readers), self.readers, self._settings)

    def _look(self, pictures: Sequence[Picture], needed: Moments) -> None:
        features, scales = self.readers.features, self.readers.scales
        compared = [p for p in pictures if p.wanted in needed.features and p.wanted not in self._features]
        guessed = [p for p in pictures if p.wanted in needed.scales and p.wanted not in self._guesses]
        with span("grammar"), while_nothing_is_loaded():
            if compared and features:
                made = features.of([picture.image for picture in compared])
                self._features |= {p.wanted: row_of(made, k) for k, p in enumerate(compared)}
            if guessed and scales:
                guesses = scales.of([picture.image for picture in guessed])
                self._guesses |= {p.wanted: guess for p, guess in zip(guessed, guesses, strict=True)}

    def _forget(self, before: float) -> None:
        self._features = {m: made for m, made in self._features.items() if m >= before}
        self._guesses = {m: guess for m, guess in self._guesses.items() if m >= before}


class Sweep:
    """Pictures of many clips by one pass over the film, though each clip asks for its own (`Pictures`).

    ``moments`` are those of all clips that will come, ascending. What a later clip needs is held until it
    asks; what has gone by is read once more.
    """

    def __init__(self, moments: Sequence[float], pictures: Pictures) -> None:
        self._pictures = pictures
        self._coming = iter(pictures(moments) if moments else ())
        self._held: dict[float, Picture] = {}
        self._ahead = set(moments)

    def __call__(self, seconds: Sequence[float]) -> Iterator[Picture]:
        """The pictures of one clip; a moment after the film's last frame has none."""
        if seconds:
            self._held = {m: picture for m, picture in self._held.items() if m >= seconds[0]}
        for moment in seconds:
            if moment not in self._held and moment in self._ahead:
                self._go_to(moment, seconds[0])
            picture = self._held.get(moment)
            if picture is not None:
                yield picture
            elif moment not in self._ahead:
                yield from self._pictures([moment])

    def _go_to(self, moment: float, first: float) -> None:
        """Read on to ``moment``; what lies before the ``first`` of the clip no clip after it needs."""
        for picture in self._coming:
            self._ahead.discard(picture.wanted)
            if picture.wanted >= first:
                self._held[picture.wanted] = picture
            if picture.wanted >= moment:
                return


def _groups(pictures: Iterable[Picture], number: int) -> Iterator[list[Picture]]:
    group: list[Picture] = []
    for picture in pictures:
        group.append(picture)
        if len(group) == number:
            yield group
            group = []
    if group:
        yield group
