"""Word lists for a track: those of the program, with what the user's files add."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad.core import ConfigError
from shotad.script.words import WordList, packaged, parse_words, with_more

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
    language = folder.lower().split("-")[0] if is_named and _is_language(folder) else ""
    return UserWords(language, parse_words(text, file.stem, str(file)))


def _is_language(folder: str) -> bool:
    return bool(_LANGUAGE.fullmatch(folder)) and len(folder.split("-", maxsplit=1)[0]) == 2
