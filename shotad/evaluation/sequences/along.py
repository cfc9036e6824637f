"""Lines along a film: which were heard before one, and what of it they said already. Pure logic."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shotad.evaluation.measure.items import Corpus, Item

Said = Callable[[Item], str | None]
"""What is read along the film: the predictions, or the human ADs."""

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


FUNCTION_WORDS = _listed(
    """
    a an the and or but as so than then that which who whom whose this these those there here not no nor
    he him his himself she her hers herself it its itself they them their theirs themselves we us our you
    your i me my one another other each both all some any
    is are was were be been being am has have had having do does did can could will would may might must
    at by for from in into of off on onto out over to up with without about above across after against along
    around away back before behind below beneath beside between beyond down inside near outside past through
    toward towards under until upon within while when where if because
    """
)
"""Words that any line may share with any other: by themselves they repeat nothing (``out of the``)."""


def predicted(item: Item) -> str | None:
    """The line that a system says here."""
    return item.prediction


def human(item: Item) -> str | None:
    """The line of the dataset's own AD."""
    return item.reference


def words_of(text: str | None) -> tuple[str, ...]:
    """The words of a line in small letters.

    >>> words_of("Ann's T-shirt: red!")
    ("ann's", 't-shirt', 'red')
    """
    return tuple(word.lower().replace("’", "'") for word in _WORD.findall(text or ""))


def before_of(corpus: Corpus, reach: int, said: Said) -> list[tuple[str, ...]]:
    """For each item the last ``reach`` lines of its film before it, oldest first.

    Lines without words are none: nobody hears them, and a system that falls silent is held against what it
    said before.
    """
    found: list[tuple[str, ...]] = [()] * len(corpus.items)
    for places in corpus.films().values():
        heard: list[str] = []
        for place in places:
            found[place] = tuple(heard[-reach:])
            line = said(corpus.items[place])
            if line is not None and words_of(line):
                heard.append(line)
    return found


@dataclass(frozen=True, slots=True)
class Repeated:
    """Runs of words of a line that were said before, out of all that count."""

    runs: tuple[str, ...]
    total: int


def repeated(line: str, before: Sequence[str], order: int) -> Repeated:
    """Which runs of ``order`` words of a line stand in a line before it.

    A shorter line is one run of all its words. Runs of `FUNCTION_WORDS` alone do not count. A run that the
    line says twice counts twice.

    >>> repeated("She smiles at Bob.", ["He turns.", "Ann smiles at Bob again."], 3)
    Repeated(runs=('smiles at bob',), total=2)
    """
    words = words_of(line)
    size = min(order, len(words))
    runs = [run for run in _runs(words, size) if not FUNCTION_WORDS.issuperset(run)]
    heard = {run for other in before for run in _runs(words_of(other), size)}
    return Repeated(tuple(" ".join(run) for run in runs if run in heard), len(runs))


def _runs(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)] if size else []
