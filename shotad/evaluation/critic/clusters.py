"""From clusters of mentions, as a coreference model gives them, to whom each sentence means. Pure logic.

The document is laid out as in the code published with AutoAD III: the cast list as a first sentence, then the
film's lines, all joined by blanks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from shotad.evaluation.critic.document import Document, People

Span = tuple[int, int]
"""Characters of a text, half-open."""
Cluster = Sequence[Span]
"""All mentions of one person or thing."""
Names = Sequence[Sequence[tuple[int, int, str]]]
"""For each sentence the names in it: begin, end, whose."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A text for the model, and where in it each sentence stands; ``first`` is the number of the first."""

    text: str
    spans: tuple[Span, ...]
    first: int = 0


def layout(sentences: Sequence[str], cast: Sequence[str], first: int = 0) -> Layout:
    """The cast list and the sentences as one text.

    >>> layout(["Ann waves.", "She sits."], ["Ann Lee", "Bo"])
    Layout(text='Ann Lee and Bo. Ann waves. She sits.', spans=((16, 26), (27, 36)), first=0)
    """
    start = f"{', '.join(cast[:-1])}{' and ' if len(cast) > 1 else ''}{cast[-1]}." if cast else ""
    spans: list[Span] = []
    at = len(start) + 1
    for sentence in sentences:
        spans.append((at, at + len(sentence)))
        at += len(sentence) + 1
    return Layout(" ".join([start, *sentences]), tuple(spans), first)


def parts(document: Document, fits: Callable[[str], bool]) -> list[Layout]:
    """The document in one piece where it fits what the model reads, else in runs of whole sentences, each
    with the cast list, as few as can be and of about equal length."""
    sentences = document.sentences
    count = 1
    while True:
        bounds = [round(len(sentences) * part / count) for part in range(count + 1)]
        pieces = [layout(sentences[start:end], document.cast, start) for start, end in pairwise(bounds)]
        if count >= max(1, len(sentences)) or all(fits(piece.text) for piece in pieces):
            return pieces
        count += 1


def meant_exactly(piece: Layout, clusters: Iterable[Cluster], cast: Sequence[str]) -> list[set[str]]:
    """Whom each sentence of a piece means, as the published code counts: a cluster is somebody if exactly one
    name of the cast is among its mentions, letter for letter; a sentence means them if a mention stands
    wholly in it."""
    known = set(cast)
    meant: list[set[str]] = [set() for _ in piece.spans]
    for cluster in clusters:
        names = {piece.text[start:end] for start, end in cluster} & known
        if len(names) == 1:
            for number in _sentences(piece, cluster):
                meant[number] |= names
    return meant


def meant(piece: Layout, clusters: Iterable[Cluster], cast: Sequence[str], names: Names) -> list[set[str]]:
    """The same, with names in part as well: a cluster is also somebody's whose name is one of its mentions,
    however it is written (``names``), if it is nobody else's too; and who is named is meant in any case."""
    written = {
        (piece.spans[number][0] + start, piece.spans[number][0] + end): name
        for number in range(len(piece.spans))
        for start, end, name in names[piece.first + number]
    }
    found = [{name for _, _, name in names[piece.first + number]} for number in range(len(piece.spans))]
    for cluster in clusters:
        exact = {piece.text[start:end] for start, end in cluster} & set(cast)
        owners = exact | {
            written[span] for span in (_bare(piece.text, *span) for span in cluster) if span in written
        }
        if len(owners) == 1:
            for number in _sentences(piece, cluster):
                found[number] |= owners
    return found


def _bare(text: str, start: int, end: int) -> Span:
    """A mention without the possessive s."""
    return start, end - 2 if text[start:end].endswith(("'s", "’s")) else end


def _sentences(piece: Layout, cluster: Cluster) -> Iterator[int]:
    """The sentences in which mentions of a cluster stand wholly."""
    for start, end in cluster:
        for number, (begin, stop) in enumerate(piece.spans):
            if begin <= start and end <= stop:
                yield number


def people(sets: Iterable[set[str]]) -> tuple[People, ...]:
    """Each sentence's names, sorted."""
    return tuple(tuple(sorted(names)) for names in sets)
