"""How the people whose names are known are spoken of: by name, as possessors, and as he, she, they or it.

A pronoun is said only of the person with whom the last line began, where nobody else in it could be meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shotad.core import Character, Named
from shotad.engines.embedded.words import number

SEVERAL = 4
"""From so many on, a detector's number is not to be trusted to the unit."""
CROWD = 8

_POSSESSIVES = {"he": "his", "she": "her", "they": "their", "it": "its"}
_SOMEBODY = re.compile(
    r"\b(?:some(?:one|body)|any(?:one|body)|another|(?<!each )others?|person|people|figures?|"
    r"(?:an?|the) faces?|crowd|strangers?|m[ae]n|wom[ae]n|boys?|girls?|child|children|guys?|"
    r"he|him|his|she|her|they|them|their)\b",
    re.IGNORECASE,
)
"""Words for people who have no name in a line."""
_SETTING = r"(?:(?:In|Out|Up|Close)\b[^,\"]{0,24}, )?"
"""An adverbial that may open a line: "In dim light, "."""
_QUOTED = re.compile(r'"[^"]*"')
_QUOTED_PART = re.compile(r'("[^"]*")')
_OTHER_NAME = re.compile(r"(?<=[\w,;:'’] )[A-Z]\w")
_PARTED = re.compile(r"[,;\"]|\b(?:and|as|while|then)\b")
_PRONOUN = re.compile(r"\b(?:(he|she|they|it)\b|(his|her|their|its) face\b)", re.IGNORECASE)


def called_together(names: Sequence[Named], unknown: int) -> str:
    """People of whom some are known: "Thom and Celia", "Thom and another person"."""
    return _listed([*(name.called for name in names), *_others(len(names) + unknown, unknown)])


def face_of(named: Named) -> str:
    """ "Thom's face", "the face of the woman in red"."""
    return f"{named.called}'s face" if named.named else f"the face of {named.called}"


def by_pronoun(subject: str, named: Named) -> str:
    """A subject with the pronoun for the name: "Thom" is "he", "Thom's face" is "his face"."""
    if subject == face_of(named):
        return f"{_POSSESSIVES[named.pronoun]} face"
    return named.pronoun if subject == named.called else subject


def stands_for(named: Named, line: str, cast: Sequence[Character]) -> bool:
    """True where, after ``line``, the pronoun can be of nobody but ``named``.

    ``cast`` are all whose names a line may have; their pronouns tell them apart.
    """
    if named.pronoun not in _POSSESSIVES or not re.match(_SETTING + _pattern(named.called), line):
        return False
    rest = _QUOTED.sub("", re.sub(_SETTING + _pattern(named.called) + r"(?:'s face)?", "", line, count=1))
    if named.pronoun in ("they", "it") and _PARTED.search(rest):
        return False
    for character in cast:
        rest = _without(rest, character, named)
    return not _SOMEBODY.search(rest) and not _OTHER_NAME.search(rest)


def resolved(line: str, before: str, known: Sequence[Named], cast: Sequence[Character]) -> str:
    """The line with its first pronoun as the name that it stands for, where one of ``known`` is meant."""
    found = _PRONOUN.search(_QUOTED.sub(lambda quoted: " " * len(quoted[0]), line))
    if found is None:
        return line
    said = found[0].lower().removesuffix(" face")
    forms = {name: _POSSESSIVES.get(name.pronoun) if found[2] else name.pronoun for name in known}
    meant = [name for name in known if forms[name] == said and stands_for(name, before, cast)]
    if not meant:
        return line
    told = face_of(meant[0]) if found[2] else meant[0].called
    return f"{line[: found.start()]}{told}{line[found.end() :]}"


def without_names(text: str, names: Sequence[Named]) -> str:
    """The text with a plain name for each, so that no name is taken for an ordinary word."""
    for name in names:
        if name.named:
            text = re.sub(_pattern(name.called), "Anna", text)
    return text


def without_cast(line: str, cast: Sequence[Character]) -> str:
    """The line without the names of the cast; words that are read aloud keep theirs."""
    parts = _QUOTED_PART.split(line)
    called = {name for c in cast for name in (c.called, c.full, *c.others, *c.hidden) if name}
    for name in sorted(called, key=lambda name: (-len(name), name)):
        parts[::2] = [re.sub(_pattern(name), "", part) for part in parts[::2]]
    return "".join(parts)


def _others(count: int, unknown: int) -> list[str]:
    if unknown < 2:
        return ["another person"] * unknown
    if unknown < SEVERAL:
        return [f"{number(unknown)} other people"]
    return ["many others" if count >= CROWD else "several others"]


def _listed(nouns: Sequence[str]) -> str:
    *before, last = nouns
    return f"{', '.join(before)} and {last}" if before else last


def _pattern(called: str) -> str:
    """A name as it stands in a line; a descriptor may open it, with a capital."""
    first, rest = called[:1], called[1:]
    letters = f"[{first.lower()}{first.upper()}]" if first.isalpha() else re.escape(first)
    return rf"(?<!\w){letters if first.islower() else re.escape(first)}{re.escape(rest)}(?!\w)"


def _without(rest: str, character: Character, named: Named) -> str:
    """The rest of a line without a name that the pronoun cannot mean."""
    apart = character.id == named.id or (character.pronoun not in ("", named.pronoun))
    names = (character.called, character.full, *character.others, *character.hidden)
    for name in sorted({name for name in names if name}, key=len, reverse=True):
        rest = re.sub(_pattern(name), "" if apart else "another", rest)
    return rest
