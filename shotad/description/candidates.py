"""Candidates of one slot: which of them are lines of their own, and which are kept where there are too many.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shotad.description.wording import content_of, head_of, words_of
from shotad.script import similarity

NEAR = 0.8
"""Share of common words from which two lines are near copies, as in rule L9."""


def distinct(lines: Sequence[str], limit: float = NEAR) -> tuple[int, ...]:
    """Indices of the lines that are no near copies of an earlier one, in order.

    >>> distinct(["He opens the door.", "The door he opens.", "She opens the door."])
    (0, 2)
    """
    kept: list[int] = []
    for index, line in enumerate(lines):
        if not any(is_near_copy(line, lines[earlier], limit) for earlier in kept):
            kept.append(index)
    return tuple(kept)


def is_near_copy(one: str, other: str, limit: float = NEAR) -> bool:
    """Whether two lines say the same in nearly the same words, in whatever order.

    They share ``limit`` of their words (`similarity`), and neither the one who acts nor the main verb is
    another: ``Ann watches Bob leave`` and ``Bob watches Ann leave`` share all words and are no copies.
    """
    if similarity(one, other) < limit:
        return False
    return not _another_verb(one, other) and not _another_subject(one, other)


def merged(attempts: Sequence[Sequence[str]], faults: Callable[[str], int], number: int) -> tuple[str, ...]:
    """The lines of all attempts as at most ``number`` distinct ones, in the order in which they came.

    Of near copies the one with the fewest faults stands for all, the earliest among equals. Where still
    more than ``number`` are left, those with the most faults go, the latest first.
    """
    if number < 1:
        raise ValueError(f"at least one line must be kept, got number = {number}")
    pool = [line for attempt in attempts for line in attempt]
    counted = {line: faults(line) for line in pool}
    by_faults = sorted(range(len(pool)), key=lambda i: (counted[pool[i]], i))
    chosen = [by_faults[k] for k in distinct([pool[i] for i in by_faults])][:number]
    return tuple(pool[i] for i in sorted(chosen))


def _another_verb(one: str, other: str) -> bool:
    """Whether a main verb is one that the other line does not have at all."""
    (_, verb), (_, second) = head_of(one), head_of(other)
    if not verb or not second or verb == second:
        return False
    return verb not in _lemmas(other) or second not in _lemmas(one)


def _another_subject(one: str, other: str) -> bool:
    (subject, _), (second, _) = head_of(one), head_of(other)
    if not subject or not second or subject == second:
        return False
    if subject not in _lemmas(other) or second not in _lemmas(one):
        return True
    # Both lines have both words. They changed places only if nothing but their order differs.
    turned = _order(one, subject, second) != _order(other, subject, second)
    return turned and content_of(one) == content_of(other)


def _order(line: str, one: str, other: str) -> bool:
    lemmas = _lemmas(line)
    return lemmas.index(one) < lemmas.index(other)


def _lemmas(line: str) -> list[str]:
    return [word.lemma for word in words_of(line)]
