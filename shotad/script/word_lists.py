"""Word lists of the lint rules, read from word files, as patterns over text without its quotations.

The form of the files stands in ``configs/words/README.md``. Gathered from describers' guidelines and from
what models write. Every list was run over human AD; entries that hit it were narrowed or made warnings. A
user's files add to the lists of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        if self._found is None:
            return
        spared = [match.span() for match in self._spared.finditer(text)] if self._spared else []
        for match in self._found.finditer(text):
            start, end = match.span()
            if start < end and not any(start < stop and begin < end for begin, stop in spared):
                yield start, end

    @cached_property
    def _found(self) -> re.Pattern[str] | None:
        return self._any(self.entries)

    @cached_property
    def _spared(self) -> re.Pattern[str] | None:
        return self._any(self.allowed)

    def _any(self, entries: Sequence[str]) -> re.Pattern[str] | None:
        if not entries:
            return None
        flags = re.IGNORECASE if self.case == "any" else re.NOFLAG
        parts: list[str] = []
        for entry in dict.fromkeys(entries):
            pattern = self._pattern(entry)
            parts.append(f"(?:{pattern})")
            try:
                re.compile(pattern, flags)
            except re.error as error:
                what = f"{self.source or self.name}: {entry!r} cannot be understood: {error}."
                raise ConfigError(what, _FORM) from None
        return re.compile("|".join(parts), flags)

    def _pattern(self, entry: str) -> str:
        if len(entry) > 1 and entry.startswith("/") and entry.endswith("/"):
            return _SET.sub(lambda match: self._set(match[1], entry), entry[1:-1])
        return rf"(?<!\w){self._plain(entry)}(?!\w)"

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
            made = _directed(made, line, f"{made.source}, line {number}")
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


def _directed(made: WordList, line: str, where: str) -> WordList:
    match = _DIRECTIVE.fullmatch(line)
    key, value = (match["key"], match["value"].strip()) if match else ("", "")
    choices: Mapping[str, Sequence[str]] = {"level": ("error", "warning"), "case": ("any", "exact")}
    if key not in ("rule", "level", "says", "case") or value not in choices.get(key, (value,)):
        hint = "There are @set, @rule, @level (error, warning), @says and @case (any, exact)."
        raise ConfigError(f"{where}: {line!r} cannot be understood.", hint)
    return replace(made, **{key: value})  # type: ignore[arg-type]  # one of four strings, checked above


def with_more(lists: Sequence[WordList], more: Iterable[WordList]) -> tuple[WordList, ...]:
    """``lists`` with the entries of ``more`` added to those of the same name; others stand at the end.

    What an added list says of rule and level holds for a list of its own only; without a rule it is ``own``.
    """
    found = {words.name: words for words in lists}
    for extra in more:
        base = found.get(extra.name)
        if base is None:
            found[extra.name] = extra if extra.rule else replace(extra, rule=OWN)
            continue
        names = dict.fromkeys((*base.sets, *extra.sets))
        sets = {name: (*base.sets.get(name, ()), *extra.sets.get(name, ())) for name in names}
        found[extra.name] = replace(
            base,
            entries=(*base.entries, *extra.entries),
            allowed=(*base.allowed, *extra.allowed),
            sets=sets,
            source=f"{base.source} and {extra.source}",
        )
    return tuple(found.values())


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


@dataclass(frozen=True, slots=True)
class UserWords:
    """A user's word file, read; ``language`` is empty where it is for every track."""

    language: str
    words: WordList


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
        found += [_read(file, place) for file in files]
    return tuple(found)


def lists_for(language: str, own: Sequence[UserWords] = ()) -> tuple[WordList, ...]:
    """The lists by which lines of a language are read. Every pattern is tried: raises ConfigError."""
    name = language.lower().split("-")[0]
    mine = [user.words for user in own if user.language in ("", name)]
    lists = with_more(packaged(language), mine)
    if mine:
        for words in lists:
            tuple(words.spans(""))
    return lists


def _read(file: Path, place: Path) -> UserWords:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The words {file} cannot be read: {error}.", "Save them as UTF-8.") from None
    folder = file.absolute().parent.name
    is_named = file.parent != place or place.is_file() or _LANGUAGE.fullmatch(folder)
    name = folder.lower().split("-")[0]
    language = name if is_named and len(name) == 2 and _LANGUAGE.fullmatch(folder) else ""
    return UserWords(language, parse_words(text, file.stem, str(file)))
