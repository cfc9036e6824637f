"""Word lists of the lint rules, read from word files, as patterns over text without its quotations.

The form of the files stands in ``configs/words/README.md``. Gathered from describers' guidelines and from
what models write. Every list was run over human AD; entries that hit it were narrowed or made warnings. A
user's files add to the lists of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from shotad.core import ConfigError, word_files

Case = Literal["any", "exact"]


@dataclass(frozen=True)
class WordList:
    """The words by which one rule is broken.

    ``entries`` and ``sets`` (by name) are lines of a word file, ``allowed`` those that are no fault, without
    their hyphen. Raises ConfigError for an entry that is no pattern, when it is first used.
    """

    name: str
    rule: str
    level: Literal["error", "warning"]
    says: str
    entries: tuple[str, ...]
    allowed: tuple[str, ...] = ()
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    case: Case = "any"
    source: str = ""
    """The file, for messages."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where ``text`` breaks the rule, half-open; ``text`` has straight apostrophes."""
        wanted, allowed = self._patterns
        spared = [match.span() for match in allowed.finditer(text)] if allowed else []
        for match in wanted.finditer(text) if wanted else ():
            start, end = match.span()
            if start < end and not any(start < stop and begin < end for begin, stop in spared):
                yield start, end

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
        return self._any(self.entries), self._any(self.allowed)

    def _any(self, entries: Sequence[str]) -> re.Pattern[str] | None:
        flags = re.IGNORECASE if self.case == "any" else re.NOFLAG
        patterns: list[str] = []
        for entry in dict.fromkeys(entries):
            if len(entry) > 1 and entry.startswith("/") and entry.endswith("/"):
                parts = enumerate(_SET.split(entry[1:-1]))  # every second one is the name of a set
                pattern = "".join(self._set(part, entry) if at % 2 else part for at, part in parts)
            else:
                pattern = rf"(?<!\w){self._plain(entry)}(?!\w)"
            patterns.append(f"(?:{pattern})")
            try:
                re.compile(pattern, flags)
            except re.error as error:
                what = f"{self.source or self.name}: {entry!r} cannot be understood: {error}."
                raise ConfigError(what, _FORM) from None
        return re.compile("|".join(patterns), flags) if patterns else None

    def _plain(self, entry: str) -> str:
        """Words with their marks as a pattern: ``[the] dog[s]`` → ``(?:the )?dog(?:s)?``."""
        marked = _LAST_MAYBE.sub(r"[ (\1)]", _MAYBE.sub(r"\1[(\2) ]", " ".join(entry.split())))
        parts = (part for part in _PART.split(marked) if part)
        return "".join(
            self._set(part[1:-1], entry) if part[0] == "{" else _MARKS.get(part, re.escape(part))
            for part in parts
        )

    def _set(self, name: str, entry: str) -> str:
        if name not in self.sets:
            what = f"{self.source or self.name}: {entry!r} names the set {name!r}, which is not there."
            raise ConfigError(what, f"Write a line: @set {name} = one | two | three.")
        return f"(?:{'|'.join(map(self._plain, self.sets[name]))})"


_FORM = "The form of word files stands in configs/words/README.md."
_SET = re.compile(r"\{([^\W\d][^{}]*)\}")
_MAYBE = re.compile(r"(\A| )\[([^\[\]]*)\] ")
_LAST_MAYBE = re.compile(r" \[([^\[\]]*)\]\Z")
_PART = re.compile(r"(\{[^{}]+\}|[\[\]()|* ])")
_MARKS = {"[": "(?:", "]": ")?", "(": "(?:", ")": ")", "|": "|", "*": r"\w*", " ": r"\s+"}
_DIRECTIVE = re.compile(r"@(?P<key>[a-z]+)\s++(?P<value>.+)")


def parse_words(text: str, name: str, source: str = "") -> WordList:
    """The list in a word file's ``text``; ``rule`` is empty where the file names none.

    Raises ConfigError with the line.
    """
    made = WordList(name, "", "warning", "on your list", (), source=source or name)
    entries: list[str] = []
    allowed: list[str] = []
    sets: dict[str, tuple[str, ...]] = {}
    for number, raw in enumerate(text.replace("’", "'").splitlines(), 1):
        line = raw.strip()
        if line.startswith("@set "):
            key, is_there, words = line.removeprefix("@set ").partition("=")
            key, members = key.strip(), [word.strip() for word in _outer_bars(words) if word.strip()]
            if not is_there or not key or not members:
                what = f"{made.source}, line {number}: {line!r} is no set."
                raise ConfigError(what, "Write @set name = one | two | three.")
            sets[key] = (*sets.get(key, ()), *members)
        elif line.startswith("@"):
            match = _DIRECTIVE.fullmatch(line)
            key, value = (match["key"], match["value"].strip()) if match else ("", "")
            choices = {"rule": (), "says": (), "level": ("error", "warning"), "case": ("any", "exact")}
            if key not in choices or (choices[key] and value not in choices[key]):
                what = f"{made.source}, line {number}: {line!r} cannot be understood."
                hint = "There are @set, @rule, @level (error, warning), @says and @case (any, exact)."
                raise ConfigError(what, hint)
            made = replace(made, **{key: value})  # type: ignore[arg-type]  # one of four strings
        elif line.startswith("-"):
            allowed.append(line[1:].strip())
        elif line and not line.startswith("#"):
            entries.append(line)
    return replace(made, entries=tuple(entries), allowed=tuple(word for word in allowed if word), sets=sets)


def _outer_bars(text: str) -> Iterator[str]:
    """``a | b (c|d)`` → ``a``, ``b (c|d)``: bars within brackets part nothing."""
    depth, last = 0, 0
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "|" and depth == 0:
            yield text[last:at]
            last = at + 1
    yield text[last:]


OWN = "own"
"""The rule of a user's list that names none."""


@lru_cache(maxsize=16)
def packaged(language: str) -> tuple[WordList, ...]:
    """The lists that come with the program for a language (``en-GB``: those of ``en``); none for most."""
    name = language.lower().split("-")[0]
    files = word_files(name) if name.isalpha() else ()
    return tuple(parse_words(path.read_text(encoding="utf-8"), path.stem, path.name) for path in files)


ARTICLES = frozenset(("a", "an", "the"))
"""Words that L9 does not compare."""

SOMEONE = re.compile(
    r"(?:^|(?<=[.!?;] )|(?<=, while )|(?<=, as )|(?<=\bwhile )|(?<=, and ))"
    r"(?P<who>(?:a|an|the) (?:man|woman|boy|girl|guy|lady|person|gentleman))\b(?!'s|-| and\b)",
    re.IGNORECASE,
)
"""Stage II's wish: somebody without a name is "he", "she" or "they" where they act, never "a man"."""

TALK = re.compile(
    r"\b(?:speaks?|talks?|chats?|convers(?:es?|ing)|speaking|talking|chatting|discuss(?:es|ing)?)\b"
    r"(?! show)(?! into\b)(?! window)(?<!small talk)(?<!pep talk)(?<!a talk)(?<!the talk)(?<!a chat)"
    r"(?<!without speaking)(?<!without talking)"
    r"|\b(?:in|into|have|has|having|hold|holds|continues?|through) (?:(?:a|an|their|the|his|her) )?"
    r"(?:\w+ )?conversations?\b"
    r"|\b(?:says|is saying|are saying)\b(?!  |,  )",
    re.IGNORECASE,
)
"""Stage II's wish: no talk about talking, which is heard."""

MARKUP = re.compile(
    r"\*\*|\b__\w|^\s{0,3}#{1,6}\s|```|`[^`]+`|^[^\S\n]*(?:[-*•]|\d{1,2}[.)])\s+\S|<\|?/?[a-z_]+\|?>"
    r"|\[/?(?:INST|SYS)\]|\{\s*[\"'“][\w ]+[\"'”]\s*:|[\"“]\s*\}|\\n|^[^\S\n]*[\[{]|https?://|\ufffd",
    re.MULTILINE | re.IGNORECASE,
)
"""L5: markdown, lists, JSON, tokens of a chat template."""

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-\w+)*", re.IGNORECASE)


def read_words(places: Sequence[str | Path]) -> tuple[UserWords, ...]:
    """The word files at ``places``: files, or folders of them with a folder for each language.

    Raises ConfigError for what is missing, cannot be read, or has no meaning; with the line.
    """
    found: list[UserWords] = []
    for place in map(Path, places):
        if not place.exists():
            raise ConfigError(f"There are no words at {place}.", "Name a word file, or a folder of them.")
        files = sorted(place.rglob("*.txt")) if place.is_dir() else [place]
        if not files:
            raise ConfigError(f"The folder {place} holds no word files.", "Their names end in .txt.")
        for file in files:
            try:
                text = file.read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                what = f"The words {file} cannot be read: {error}."
                raise ConfigError(what, "Save them as UTF-8.") from None
            folder = file.absolute().parent.name
            name = folder.lower().split("-")[0] if _LANGUAGE.fullmatch(folder) else ""
            found.append((name if len(name) == 2 else "", parse_words(text, file.stem, str(file))))
    return tuple(found)


UserWords = tuple[str, WordList]
"""A language, empty where it is for every track, and a user's word file."""


def lists_for(language: str, own: Sequence[UserWords] = ()) -> tuple[WordList, ...]:
    """The lists by which lines of a language are read: a user's entries are added to the list of the same
    name, whose rule and level hold. A list of another name without a rule is ``own``. Every pattern is tried:
    raises ConfigError."""
    name = language.lower().split("-")[0]
    lists = {words.name: words for words in packaged(language)}
    mine = [words for tag, words in own if tag in ("", name)]
    for more in mine:
        base = lists.get(more.name)
        if base is None:
            lists[more.name] = more if more.rule else replace(more, rule=OWN)
            continue
        names = dict.fromkeys((*base.sets, *more.sets))
        lists[more.name] = replace(
            base,
            entries=(*base.entries, *more.entries),
            allowed=(*base.allowed, *more.allowed),
            sets={key: (*base.sets.get(key, ()), *more.sets.get(key, ())) for key in names},
            source=f"{base.source} and {more.source}",
        )
    for words in lists.values() if mine else ():
        tuple(words.spans(""))
    return tuple(lists.values())
