"""Words of a script and words that were heard: brought to one spelling, and laid side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from num2words import num2words

NEAR = 0.6
"""How alike a name and what was heard for it must be (1: the same letters): names are spelled freely."""

_SIGNS = {"&": " and ", "%": " percent ", "+": " plus ", "=": " equals "}
_SHORT = {"mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint", "ok": "okay", "tv": "television"}


@dataclass(frozen=True, slots=True)
class Match:
    """Word ``wanted`` of the script was heard as words ``[first, last]``; ``near``: a name, by its sound."""

    wanted: int
    first: int
    last: int
    near: bool = False


def plain_words(text: str) -> list[str]:
    """Small letters, no marks, numbers as words, one spelling of English: ``Grey-eyed Tom, 21.`` becomes
    ``gray eyed tom twenty one``."""
    for sign, word in _SIGNS.items():
        text = text.replace(sign, word)
    text = re.sub(r"(?<=\d)[,](?=\d{3}\b)", "", text.lower().replace("’", "'"))
    text = re.sub(
        r"\b(\d+)(st|nd|rd|th)\b", lambda found: _plain(num2words(int(found[1]), to="ordinal")), text
    )
    text = re.sub(r"\d+", lambda found: f" {spelled(int(found[0]))} ", text)
    words = re.findall(r"[^\W_]+", text.replace("'", ""))
    return [_one_spelling(word) for word in words]


def spelled(number: int) -> str:
    """A number in words: ``21 → twenty one``, ``1999 → nineteen ninety nine`` (as years are said)."""
    if number >= 1_000_000:
        return " ".join(num2words(int(digit)) for digit in str(number))
    year = 1100 <= number < 2000 and number % 100 >= 10
    return _plain(num2words(number, to="year" if year else "cardinal"))


def _plain(words: str) -> str:
    return words.replace(" and ", " ").replace(",", "").replace("-", " ")


def _one_spelling(word: str) -> str:
    word = _SHORT.get(word, word)
    if len(word) > 4:
        word = re.sub(r"our", "or", word)
        word = re.sub(r"is(e|ed|es|ing)$", r"iz\1", word)
        word = re.sub(r"tre$", "ter", word)
        word = word.replace("ll", "l")
    return word.replace("grey", "gray")


def side_by_side(wanted: Sequence[str], heard: Sequence[str], names: Sequence[str] = ()) -> list[Match]:
    """The longest common run of words, in order; of ways equally long, that with the fewest names by sound.

    Two words that were heard as one, or one as two, count where their letters are the same (``door way``).
    ``names`` may be heard as something like them.
    """
    known = {word for name in names for word in plain_words(name)}
    best: dict[tuple[int, int], tuple[float, tuple[Match, ...]]] = {}
    for i in range(len(wanted), -1, -1):
        for j in range(len(heard), -1, -1):
            ways = [(0.0, ()), *(best[later] for later in ((i + 1, j), (i, j + 1)) if later in best)]
            for taken, given in ((1, 1), (1, 2), (2, 1)):
                if (after := best.get((i + taken, j + given))) is None:
                    continue
                one, other = "".join(wanted[i : i + taken]), "".join(heard[j : j + given])
                near = one != other
                if not near or (taken == 1 and one in known and _alike(one, other)):
                    here = (Match(i + k, j, j + given - 1, near) for k in range(taken))
                    ways.append((after[0] + taken * (0.5 if near else 1.0), (*here, *after[1])))
            best[i, j] = max(ways, key=lambda way: way[0])
    return list(best[0, 0][1])


def _alike(name: str, heard: str) -> bool:
    return SequenceMatcher(None, name, heard, autojunk=False).ratio() >= NEAR
