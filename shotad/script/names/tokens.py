"""The words of a line of AD, and names in them that are spelt otherwise than in the cast list. Pure logic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from shotad.core.namewords import STARTERS
from shotad.script.nameruns import plain
from shotad.script.names.givennames import GIVEN_NAMES
from shotad.script.names.members import TITLES, WORD, Member, key
from shotad.script.names.soundalike import alike
from shotad.script.names.words import AUXILIARIES, FUNCTION_WORDS, PEOPLE_NOUNS

_NEVER = TITLES | STARTERS | PEOPLE_NOUNS
"""Words in capital letters that are nobody's name."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word. ``gap`` is what stands between it and the word before; ``opens`` says that it begins a
    sentence; ``at`` is where it begins in the line, in characters."""

    text: str
    key: str
    gap: str
    opens: bool
    at: int = 0

    @property
    def end(self) -> int:
        """Where it ends in the line, a possessive s left out."""
        return self.at + len(re.sub(r"['’]s?$", "", self.text, flags=re.IGNORECASE))

    @property
    def capital(self) -> bool:
        """Whether it is written like a name."""
        return self.text[0].isupper() or self.text[0].isdigit()

    @property
    def possessive(self) -> bool:
        """Whether it ends like somebody's."""
        return self.text.endswith(("'s", "’s", "s'", "s’"))


def tokens_of(text: str) -> tuple[Token, ...]:
    """The words of a line, without what stands in quotation marks."""
    found: list[Token] = []
    bare = plain(text)
    end = 0
    for match in WORD.finditer(bare):
        gap = bare[end : match.start()]
        stop = re.search(r"[.!?…]", gap) is not None
        abbreviated = bool(found) and gap == ". " and (found[-1].key in TITLES or len(found[-1].text) == 1)
        found.append(
            Token(match[0], key(match[0]), gap, not found or (stop and not abbreviated), match.start())
        )
        end = match.end()
    return tuple(token for token in found if token.key)


def acts(line: Sequence[Token], at: int) -> bool:
    """Whether a verb of one person follows a word: ``Rose steps back``, and not ``Rose petals fall``."""
    after = line[at + 1] if at + 1 < len(line) else None
    if after is None or after.opens or after.capital or re.search(r"[,;:()]", after.gap):
        return False
    if after.key in AUXILIARIES:
        return True
    if after.key.endswith("ly") and at + 2 < len(line):
        return acts(line, at + 1)
    if not after.key.endswith("s") or after.key.endswith("ss") or after.possessive:
        return False
    then = line[at + 2] if at + 2 < len(line) else None
    return (
        then is None
        or then.gap != " "
        or then.opens
        or then.capital
        or then.key in FUNCTION_WORDS
        or then.key.endswith(("ly", "ing"))
    )


def respelt(
    cast: Sequence[Member], lines: Sequence[tuple[Token, ...]]
) -> tuple[list[tuple[Token, ...]], dict[str, str]]:
    """The lines with names as the cast has them, where they are spelt otherwise (see `soundalike`), and which
    words were taken for which.

    Not for a word that somewhere stands beside the name that it is like: these are two people.
    """
    own = {word for one in cast for form in one.forms for word in form.keys}
    parts = [form.keys[0] for one in cast for form in one.forms if len(form.keys) == 1 and not form.role]
    lower = {token.key for line in lines for token in line if not token.capital}
    found: dict[str, str] = {}
    for word in sorted({word for line in lines for word in _nameable(line)} - own - lower - _NEVER):
        near = alike(word, parts)
        if len(near) == 1 and not any({word, near[0]} <= {token.key for token in line} for line in lines):
            found[word] = near[0]
    if not found:
        return list(lines), found
    return [
        tuple(
            replace(token, key=found[token.key]) if token.capital and token.key in found else token
            for token in line
        )
        for line in lines
    ], found


def _nameable(line: Sequence[Token]) -> Iterator[str]:
    """Words that may be names: in capitals within a sentence, or where somebody acts or owns at its start."""
    for at, token in enumerate(line):
        if token.capital and (
            not token.opens or token.possessive or acts(line, at) or token.key in GIVEN_NAMES
        ):
            yield token.key
