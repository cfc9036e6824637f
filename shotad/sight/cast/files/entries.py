"""One person of a ``cast.yaml``: what may stand there, and what it means. Pure logic."""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from shotad.core import Member, Reveal, same_film, seen
from shotad.script import parse_time, timecode
from shotad.sight.cast.files.ids import distinct_ids, is_id
from shotad.sight.cast.files.yamltext import Source

KEYS = (
    "id", "name", "speak", "say_as", "aliases", "pronoun", "descriptor", "reveal_at", "photos", "nameless",
)  # fmt: skip
"""What may be said of a person, in the order in which it is written."""

PRONOUNS = ("she", "he", "they", "it")
OTHERS = "others"
"""In ``reveal_at``: the films that are not named."""

_FILM_ENDINGS = re.compile(r"\.(mp4|mkv|webm|mov|avi|m4v|mpe?g|m?2?ts|ogv|wmv)$", re.IGNORECASE)
_TIME_HINT = "Write 00:12:30, 12:30, seconds (750.5), or never."


@dataclass(frozen=True, slots=True)
class Entry:
    """A person as the file has them. ``photos`` are files, folders and patterns, as written."""

    member: Member
    photos: tuple[str, ...] = ()
    line: int = 0
    lines: Mapping[str, int] = field(default_factory=dict)
    """The line of each key, of each alias as ``aliases NAME``, and of each photo as ``photos 0`` …"""


def entry_of(node: yaml.Node, source: Source) -> Entry:
    """The person of a node, not yet given an id where none is written. Raises CastError with the line."""
    if not isinstance(node, yaml.MappingNode):
        raise source.error(node, f"a person is a list of keys and values, got {_told(node)}.", _EXAMPLE)
    found = fields_of(node, source, KEYS, "of a person")
    read = {key: reader(found[key], source) for key, reader in _READERS.items() if key in found}
    lines = {key: source.line(value) for key, value in found.items()}
    if "photos" in found:
        lines |= {f"photos {i}": source.line(n) for i, n in enumerate(_items(found["photos"]))}
    if "aliases" in found:
        lines |= {f"aliases {tidy(str(n.value))}": source.line(n) for n in _items(found["aliases"])}
    photos = read.pop("photos", ())
    values = {_FIELDS.get(key, key): value for key, value in read.items()}
    return Entry(Member(**{"id": "", **values}), photos, source.line(node), lines)


_EXAMPLE = "Write, for example, '- name: Anna'."
_FIELDS = {"speak": "spoken", "reveal_at": "reveals"}


def fields_of(
    node: yaml.MappingNode, source: Source, known: tuple[str, ...], of: str
) -> dict[str, yaml.Node]:
    """The values by key. Raises CastError for a key that is unknown or stands twice."""
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else None
        if name not in known:
            raise source.error(key, f"{name or _told(key)!r} is no key {of}.", _nearest(str(name), known))
        if name in found:
            raise source.error(key, f"{name!r} stands twice.", "Keep one of them.")
        found[name] = value
    return found


def _nearest(name: str, known: tuple[str, ...]) -> str:
    meant = [key for key in _MEANT.get(name.casefold(), []) if key in known]
    near = meant or difflib.get_close_matches(name.casefold(), known, n=1)
    return f"{f'Did you mean {near[0]}? ' if near else ''}Known: {', '.join(known)}."


_MEANT = {
    "spoken": ["speak"],
    "say": ["say_as"],
    "pronunciation": ["say_as"],
    "pronounced": ["say_as"],
    "sounds_like": ["say_as"],
    "aka": ["aliases"],
    "pictures": ["photos"],
    "images": ["photos"],
    "faces": ["photos"],
    "description": ["descriptor"],
    "extra": ["nameless"],
    "reveal": ["reveal_at"],
    "cast": ["people"],
    "members": ["people"],
    "persons": ["people"],
}
"""Words near in meaning, not in spelling."""


def with_ids(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The same, with an id for those whom nobody gave one, made of the name."""
    taken = [e.member.id for e in entries if e.member.id]
    without = [e for e in entries if not e.member.id]
    made = iter(distinct_ids((e.member.name for e in without), taken))
    return tuple(e if e.member.id else replace(e, member=replace(e.member, id=next(made))) for e in entries)


def is_blank(node: yaml.Node) -> bool:
    """Whether a value was left out: nothing, ``~`` or ``null`` without quotes."""
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in ("", "~", "null")


def _text(node: yaml.Node, source: Source, what: str = "A text") -> str:
    if is_blank(node):
        return ""
    if not isinstance(node, yaml.ScalarNode):
        raise source.error(node, f"{what} is expected here, got {_told(node)}.")
    return tidy(node.value)


def tidy(text: str) -> str:
    """On one line, composed letters, single spaces, without what is not seen."""
    return " ".join(seen(unicodedata.normalize("NFC", text)).split())


def _saying(node: yaml.Node, source: Source) -> str:
    text = _text(node, source)
    trouble = _saying_trouble(text) if text else ""
    if trouble:
        raise source.error(node, f"{text!r} cannot be said: {trouble}.", "Write it by ear: Sin-TELL.")
    return text


def _saying_trouble(text: str) -> str:
    if not any(c.isalpha() for c in text):
        return "it has no letter"
    if len(text) > _LONGEST_SAYING:
        return f"it has more than {_LONGEST_SAYING} characters"
    odd = next((c for c in text if c in _NOT_SAID), "")
    return f"{odd!r} is no sound" if odd else ""


_LONGEST_SAYING = 100
_NOT_SAID = frozenset("[]{}<>|\\/=_*#@&%")


def _texts(node: yaml.Node, source: Source) -> tuple[str, ...]:
    texts = (_text(item, source, "A text or a list of texts") for item in _items(node))
    return tuple(dict.fromkeys(text for text in texts if text))


def _items(node: yaml.Node) -> list[yaml.Node]:
    return [n for n in node.value if not is_blank(n)] if isinstance(node, yaml.SequenceNode) else [node]


def _photos(node: yaml.Node, source: Source) -> tuple[str, ...]:
    """As written: names of files may hold double spaces."""
    for item in _items(node):
        _text(item, source, "A file, a folder, or a list of them")
    return tuple(item.value for item in _items(node) if not is_blank(item))


def _id(node: yaml.Node, source: Source) -> str:
    text = _text(node, source)
    if text and not is_id(text):
        raise source.error(
            node,
            f"{text!r} cannot be an id.",
            "Ids name files: use letters, digits, '-' and '_', such as anna-lee.",
        )
    return text


def _pronoun(node: yaml.Node, source: Source) -> str:
    text = _text(node, source).casefold()
    found = text.partition("/")[0].strip()
    if found not in ("", *PRONOUNS):
        raise source.error(node, f"{text!r} is no pronoun that is known.", f"Known: {', '.join(PRONOUNS)}.")
    return found


def _truth(node: yaml.Node, source: Source) -> bool:
    text = _text(node, source).casefold()
    if text not in _TRUTHS:
        raise source.error(node, f"{text!r} is neither true nor false.", "Write true or false.")
    return _TRUTHS[text]


_TRUTHS = {"": False, "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def _reveals(node: yaml.Node, source: Source) -> tuple[Reveal, ...]:
    if not isinstance(node, yaml.MappingNode):
        text = _text(node, source, "A time, or a time for each film,")
        return (_reveal(text, "", node, source),) if text else ()
    found: dict[str, Reveal] = {}
    for key, value in node.value:
        _text(key, source, "The name of a film")
        film = film_name(str(key.value))
        if any(same_film(film, other) for other in found):
            raise source.error(key, f"the film {key.value!r} stands twice.", "Keep one of them.")
        found[film] = _reveal(_text(value, source, "A time"), film, value, source)
    return tuple(found.values())


def film_name(name: str) -> str:
    """A film as `Reveal` knows it: ``movie.mp4 → movie``; nothing for all others."""
    return "" if name == OTHERS else _FILM_ENDINGS.sub("", name)


def _reveal(text: str, film: str, node: yaml.Node, source: Source) -> Reveal:
    try:
        return Reveal(seconds_of(text), film)
    except ValueError:
        raise source.error(node, f"{text!r} is no time.", _TIME_HINT) from None


def seconds_of(text: str) -> float:
    """Seconds from ``00:12:30``, ``12:30``, ``750.5`` or ``never`` (infinite). Raises ValueError."""
    return math.inf if text.strip().casefold() == "never" else parse_time(text)


def time_text(seconds: float) -> str:
    """As `seconds_of` reads it: ``750 → 00:12:30``."""
    if math.isinf(seconds):
        return "never"
    text = timecode(seconds)
    return text.removesuffix(".000")


_READERS: dict[str, Callable[[yaml.Node, Source], Any]] = {
    "id": _id,
    "name": _text,
    "speak": _text,
    "say_as": _saying,
    "aliases": _texts,
    "pronoun": _pronoun,
    "descriptor": _text,
    "reveal_at": _reveals,
    "photos": _photos,
    "nameless": _truth,
}


def _told(node: yaml.Node) -> str:
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    if isinstance(node, yaml.MappingNode):
        return f"keys and values ({', '.join(str(key.value) for key, _ in node.value[:3])})"
    return repr(node.value) if node.value else "nothing"
