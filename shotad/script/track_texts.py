"""The texts that this program itself writes into a track, its scripts, its worksheet and the described film.

They are in the language of the track. ``texts/de.json`` holds those in German, by keys that say where a text
stands; ``texts/pt-PT.json`` only what differs from ``texts/pt.json``. In a language without a file they are
English. What programs read stays as it is: names of columns in CSV, of fields in JSON, of attributes in XML.

Singular and plural are two keys, ``KEY.one`` and ``KEY.other``, by the rules of Unicode's CLDR for these
languages. No text depends on whether somebody is a man or a woman.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "texts"
_DEFAULT = "en"
_ONE_FOR_NOTHING = frozenset({"fr", "pt"})
"""Languages in which nothing, too, takes the singular: ``0 phrase``."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one language by their keys. ``tag`` names the language that they are written in."""

    tag: str
    by_key: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """The text of ``key`` with ``values`` for the names in braces. Raises KeyError for an unknown key."""
        return self.by_key[key].format(**values)

    def count(self, key: str, number: int, **values: object) -> str:
        """The text of ``key`` for so many: ``count("count.lines", 1)`` → ``1 line``."""
        is_singular = number == 1 or (number == 0 and self.tag.split("-")[0] in _ONE_FOR_NOTHING)
        return self(f"{key}.{'one' if is_singular else 'other'}", number=number, **values)

    def listed(self, parts: Sequence[str]) -> str:
        """``a, b and c``."""
        if len(parts) < 2:
            return "".join(parts)
        return self("list.and", before=", ".join(parts[:-1]), last=parts[-1])

    def decimal(self, value: float, digits: int = 1) -> str:
        """A number with a decimal point or comma: ``4.2``, in German ``4,2``."""
        return f"{value:.{digits}f}".replace(".", self("number.decimal"))

    def language(self, tag: str) -> str:
        """What a language is called; its tag where these texts have no name for it."""
        return self.by_key.get(f"language.{tag.split('-', maxsplit=1)[0].lower()}", tag)


def texts_in(language: str) -> Texts:
    """The texts for a track in ``language`` (a tag); English ones where there are none in it.

    >>> texts_in("de-AT")("script.title"), texts_in("sv")("script.title")
    ('Audiodeskription', 'Audio description')
    """
    code, _, rest = language.replace("_", "-").partition("-")
    code, region = code.lower(), rest.split("-")[-1].upper()
    for tag in (f"{code}-{region}", code):
        if tag in text_languages():
            return _read_texts(tag)
    return _read_texts(_DEFAULT)


def has_texts(language: str) -> bool:
    """Whether there are texts in ``language`` (a tag)."""
    return texts_in(language).tag.split("-")[0] == language.replace("_", "-").split("-")[0].lower()


@cache
def text_languages() -> tuple[str, ...]:
    """The tags of all languages that have texts, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


@cache
def in_all_languages(key: str) -> tuple[str, ...]:
    """The text of ``key`` in each language, each once, for finding it in a file again."""
    return tuple(dict.fromkeys(_read_texts(tag).by_key[key] for tag in text_languages()))


@cache
def _read_texts(tag: str) -> Texts:
    by_key: dict[str, str] = json.loads((_FOLDER / f"{tag}.json").read_text(encoding="utf-8"))
    code = tag.split("-", maxsplit=1)[0]
    if tag != code:
        by_key = {**_read_texts(code).by_key, **by_key}
    return Texts(tag, by_key)
