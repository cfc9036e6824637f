"""One person of a ``cast.yaml``: what may stand there, what it means, and what must hold between people.

The file is YAML of which every value is a text with a place. Only the structure is YAML's; what a value means
is up to the field it stands in. So ``12:30`` is no number in base sixty, ``No`` and ``007`` are names, and no
value changes by being read and written. Texts are changed by splicing: what is not changed stays as it was
written, comments and all. Ids are names of files, made of names of people.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from typing import Any

import yaml

from shotad.core import (
    NAME_TITLES,
    CastError,
    Member,
    Reveal,
    did_you_mean,
    quoted,
    read_text_file,
    same_film,
    seen,
)
from shotad.script import keys_of, parse_time, timecode

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


def entries_of(text: str, path: Path) -> tuple[Entry, ...]:
    """The people of a file, with an id, made of the name, for those to whom nobody gave one.

    Raises CastError, with the line, also where two share an id or a name: nobody could tell who is meant.
    """
    people = people_of(text, path)
    found = [_entry_of(item, path) for item in (people.value if people else ())]
    taken = [entry.member.id for entry in found if entry.member.id]
    made = iter(distinct_ids((entry.member.name for entry in found if not entry.member.id), taken))
    entries = [e if e.member.id else replace(e, member=replace(e.member, id=next(made))) for e in found]
    _check_apart(entries, path)
    return tuple(entries)


def people_of(text: str, path: Path) -> yaml.SequenceNode | None:
    """The list of people: under ``people``, or the whole document. None where there is none yet."""
    node = compose(text, path)
    if node is None or is_blank(node):
        return None
    if isinstance(node, yaml.MappingNode):
        found = fields_of(node, path, ("people",), "of a cast file").get("people")
        if found is None or is_blank(found):
            return None
        node = found
    if not isinstance(node, yaml.SequenceNode):
        raise wrong(path, node, "a list of people is expected here.", "Write '- name: …' for each person.")
    return node


def _entry_of(node: yaml.Node, path: Path) -> Entry:
    """The person of a node, not yet given an id where none is written. Raises CastError with the line."""
    if not isinstance(node, yaml.MappingNode):
        raise wrong(path, node, f"a person is a list of keys and values, got {_told(node)}.", _EXAMPLE)
    found = fields_of(node, path, KEYS, "of a person")
    read = {key: reader(found[key], path) for key, reader in _READERS.items() if key in found}
    lines = {key: line_of(value) for key, value in found.items()}
    if "photos" in found:
        lines |= {f"photos {i}": line_of(n) for i, n in enumerate(_items(found["photos"]))}
    if "aliases" in found:
        lines |= {f"aliases {tidy(str(n.value))}": line_of(n) for n in _items(found["aliases"])}
    photos = read.pop("photos", ())
    values = {FIELDS.get(key, key): value for key, value in read.items()}
    return Entry(Member(**{"id": "", **values}), photos, line_of(node), lines)


_EXAMPLE = "Write, for example, '- name: Anna'."
FIELDS = {"speak": "spoken", "reveal_at": "reveals"}
"""Keys that have another name in `Member`."""


def fields_of(node: yaml.MappingNode, path: Path, known: tuple[str, ...], of: str) -> dict[str, yaml.Node]:
    """The values by key. Raises CastError for a key that is unknown or stands twice."""
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else None
        if name not in known:
            wanted = str(name).casefold()
            meant = _MEANT.get(wanted, wanted)
            hint = f"{did_you_mean(meant if meant in known else wanted, known)}Known: {', '.join(known)}."
            raise wrong(path, key, f"{quoted(name or _told(key))} is no key {of}.", hint)
        if name in found:
            raise wrong(path, key, f"{quoted(name)} stands twice.", "Keep one of them.")
        found[name] = value
    return found


_MEANT = {
    "spoken": "speak",
    "say": "say_as",
    "pronunciation": "say_as",
    "pronounced": "say_as",
    "sounds_like": "say_as",
    "aka": "aliases",
    "pictures": "photos",
    "images": "photos",
    "faces": "photos",
    "description": "descriptor",
    "extra": "nameless",
    "reveal": "reveal_at",
    "cast": "people",
    "members": "people",
    "persons": "people",
}
"""Words near in meaning, not in spelling."""


def is_blank(node: yaml.Node) -> bool:
    """Whether a value was left out: nothing, ``~`` or ``null`` without quotes."""
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in ("", "~", "null")


def _text(node: yaml.Node, path: Path, what: str = "A text") -> str:
    if is_blank(node):
        return ""
    if not isinstance(node, yaml.ScalarNode):
        raise wrong(path, node, f"{what} is expected here, got {_told(node)}.")
    return tidy(node.value)


def tidy(text: str) -> str:
    """On one line, composed letters, single spaces, without what is not seen."""
    return " ".join(seen(unicodedata.normalize("NFC", text)).split())


def _saying(node: yaml.Node, path: Path) -> str:
    text = _text(node, path)
    odd = [c for c in text if c in _NOT_SAID]
    trouble = f"{quoted(odd[0])} is no sound" if odd else ""
    if len(text) > _LONGEST_SAYING:
        trouble = f"it has more than {_LONGEST_SAYING} characters"
    if not any(c.isalpha() for c in text):
        trouble = "it has no letter"
    if text and trouble:
        raise wrong(path, node, f"{quoted(text)} cannot be said: {trouble}.", "Write it by ear: Sin-TELL.")
    return text


_LONGEST_SAYING = 100
_NOT_SAID = frozenset("[]{}<>|\\/=_*#@&%")


def _texts(node: yaml.Node, path: Path) -> tuple[str, ...]:
    texts = (_text(item, path, "A text or a list of texts") for item in _items(node))
    return tuple(dict.fromkeys(text for text in texts if text))


def _items(node: yaml.Node) -> list[yaml.Node]:
    return [n for n in node.value if not is_blank(n)] if isinstance(node, yaml.SequenceNode) else [node]


def _photos(node: yaml.Node, path: Path) -> tuple[str, ...]:
    """As written: names of files may hold double spaces."""
    for item in _items(node):
        _text(item, path, "A file, a folder, or a list of them")
    return tuple(item.value for item in _items(node) if not is_blank(item))


def _id(node: yaml.Node, path: Path) -> str:
    text = _text(node, path)
    if text and not is_id(text):
        raise wrong(
            path,
            node,
            f"{quoted(text)} cannot be an id.",
            "Ids name files: use letters, digits, '-' and '_', such as anna-lee.",
        )
    return text


def _pronoun(node: yaml.Node, path: Path) -> str:
    text = _text(node, path).casefold()
    found = text.partition("/")[0].strip()
    if found not in ("", *PRONOUNS):
        raise wrong(
            path, node, f"{quoted(text)} is no pronoun that is known.", f"Known: {', '.join(PRONOUNS)}."
        )
    return found


def _truth(node: yaml.Node, path: Path) -> bool:
    text = _text(node, path).casefold()
    if text not in _TRUTHS:
        raise wrong(path, node, f"{quoted(text)} is neither true nor false.", "Write true or false.")
    return _TRUTHS[text]


_TRUTHS = {"": False, "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def _reveals(node: yaml.Node, path: Path) -> tuple[Reveal, ...]:
    if not isinstance(node, yaml.MappingNode):
        text = _text(node, path, "A time, or a time for each film,")
        return (_reveal(text, "", node, path),) if text else ()
    found: dict[str, Reveal] = {}
    for key, value in node.value:
        _text(key, path, "The name of a film")
        film = film_name(str(key.value))
        if any(same_film(film, other) for other in found):
            raise wrong(path, key, f"the film {quoted(key.value)} stands twice.", "Keep one of them.")
        found[film] = _reveal(_text(value, path, "A time"), film, value, path)
    return tuple(found.values())


def film_name(name: str) -> str:
    """A film as `Reveal` knows it: ``movie.mp4 → movie``; nothing for all others."""
    return "" if name == OTHERS else _FILM_ENDINGS.sub("", name)


def _reveal(text: str, film: str, node: yaml.Node, path: Path) -> Reveal:
    try:
        return Reveal(seconds_of(text), film)
    except ValueError:
        raise wrong(path, node, f"{quoted(text)} is no time.", _TIME_HINT) from None


def seconds_of(text: str) -> float:
    """Seconds from ``00:12:30``, ``12:30``, ``750.5`` or ``never`` (infinite). Raises ValueError."""
    return math.inf if text.strip().casefold() == "never" else parse_time(text)


def time_text(seconds: float) -> str:
    """As `seconds_of` reads it: ``750 → 00:12:30``."""
    if math.isinf(seconds):
        return "never"
    text = timecode(seconds)
    return text.removesuffix(".000")


_READERS: dict[str, Callable[[yaml.Node, Path], Any]] = {
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


_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{i}" for port in ("com", "lpt") for i in range(1, 10))}
"""Names that Windows gives no file."""


def id_of(name: str) -> str:
    """``Zoë d'Arcy → zoe-d-arcy``; letters that are not Latin stay; ``person`` where nothing is left."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    latin = "".join(c for c in plain if not unicodedata.combining(c) or ord(c) > 0x36F)
    joined = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", latin)).strip("-")
    found = joined.encode()[:60].decode("utf-8", "ignore") or "person"
    return f"person-{found}" if found in _RESERVED else found


def is_id(text: str) -> bool:
    """Whether a text can be an id: letters, digits, ``-``, ``_`` and ``.`` within, no more than 80."""
    good = re.fullmatch(r"\w(?:[\w.-]*[\w-])?", text) is not None
    return good and len(text.encode()) <= 80 and text.casefold() not in _RESERVED


def distinct_ids(names: Iterable[str], taken: Iterable[str] = ()) -> tuple[str, ...]:
    """An id for each name, different from each other and from those taken: ``Anna, Anna → anna, anna-2``."""
    used = {one.casefold() for one in taken}
    found = []
    for name in names:
        base = id_of(name)
        numbered = (f"{base}-{number}" for number in count(2))
        wanted = next(one for one in chain([base], numbered) if one not in used)
        used.add(wanted)
        found.append(wanted)
    return tuple(found)


def _check_apart(entries: Sequence[Entry], path: Path) -> None:
    ids: dict[str, Entry] = {}
    names: dict[str, tuple[Entry, str]] = {}
    for entry in entries:
        first = ids.setdefault(entry.member.id.casefold(), entry)
        if first is not entry:
            what = f"the id {quoted(entry.member.id)} is that of another person too (line {first.line})."
            raise wrong(path, entry.lines.get("id", entry.line), what, "Give each an id of their own.")
        member = entry.member
        aliases = ((f"aliases {alias}", alias) for alias in member.aliases)
        for key, name in (("name", member.name), ("speak", member.spoken), *aliases):
            if member.nameless or not name:  # extras that nobody names share theirs freely
                continue
            other, _ = names.setdefault(name.casefold(), (entry, key))
            if other is not entry:
                what = f"two people are called {quoted(name)} (the other stands in line {other.line})."
                raise wrong(path, entry.lines.get(key, entry.line), what, ONE_PERSON)


ONE_PERSON = "Give them different names or, if they are one person, join them with shotad cast merge."


def warnings(members: Sequence[Member]) -> tuple[str, ...]:
    """What lets a cast do less than it could."""
    if not members:
        return ("There is nobody in this cast.",)
    found = []
    if ids := [member.id for member in members if not member.says and not member.nameless]:
        found.append(f"Without a name yet, so never named: {_few(ids)}.")
    if without := [called(member) for member in members if not member.photos]:
        found.append(f"Without photos, so never recognised: {_few(without)}.")
    for member in members:
        name, descriptor = called(member), member.descriptor
        late = any(reveal.seconds > 0 for reveal in member.reveals)
        names = (member.name, member.spoken, *member.aliases)
        if late and member.says and not descriptor:
            found.append(f"{name} has a reveal_at but no descriptor, and is not spoken of until then.")
        if late and any(one and _stands_in(one, descriptor) for one in names):
            found.append(f"The descriptor of {name} gives the name away: {quoted(descriptor)}.")
        if descriptor.endswith((".", ",", ";")):
            found.append(
                f"A descriptor is put into sentences; {quoted(descriptor)} ends with a mark of its own."
            )
    first: dict[str, Member] = {}
    for member in members:
        other = first.setdefault(member.descriptor.casefold(), member)
        if member.descriptor and other is not member:
            found.append(
                f"{called(other)} and {called(member)} have the same descriptor: {quoted(other.descriptor)}."
            )
    return tuple(found)


def _stands_in(name: str, text: str) -> bool:
    """Whether a text holds a name, or a word of it that is no title."""
    words = (word for word in name.split() if word[0].isupper() and not NAME_TITLES.issuperset(keys_of(word)))
    return any(re.search(rf"\b{re.escape(word)}\b", text) is not None for word in (name, *words))


def called(member: Member) -> str:
    """For messages."""
    return member.name or member.id


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if names[8:] else "")


NEWLINE = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
"""What PyYAML counts as the end of a line."""


def line_of(node: yaml.Node) -> int:
    """The line that a node begins in, from 1."""
    return int(node.start_mark.line) + 1


def wrong(path: Path, where: yaml.Node | int, what: str, hint: str = "") -> CastError:
    """An error with the file and the line of its cause."""
    line = where if isinstance(where, int) else line_of(where)
    return CastError(f"{path}, line {line}: {what}", hint)


class _Composer(yaml.SafeLoader):
    """Without aliases (``*name``): one text in two places cannot be changed in one of them."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event: Any = self.get_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "references cannot be used here", event.start_mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node


def read_text(path: Path) -> str:
    """The file's text, with its own newlines. Raises CastError where it cannot be read or is no UTF-8."""
    # UTF-8 alone: the file is written again when the cast is edited.
    return read_text_file(path, "cast", CastError, encoding="utf-8").text


@lru_cache(maxsize=4)  # each change asks for the nodes of one text several times
def compose(text: str, path: Path) -> yaml.Node | None:
    """The document's node; None where nothing but comments stands. Raises CastError with the line."""
    try:
        loader = _Composer(text)
        node: yaml.Node | None = loader.get_single_node()
    except yaml.reader.ReaderError as error:
        line = len(NEWLINE.findall(text[: error.position])) + 1
        raise wrong(path, line, f"the character {quoted(chr(error.character))} cannot stand here.") from None
    except RecursionError:
        raise wrong(path, 1, "this is nested too deeply to be read.", "Write it flat.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = (mark.line if mark else 0) + 1
        problem = error.problem or ""
        what = f"this is no YAML ({problem})."
        hint = "Look at the colons, the quotes, and how the lines are indented."
        if "\\t" in problem:
            what, hint = "a tab stands where a line begins.", "Use spaces to indent."
        elif "mapping values are not allowed" in problem:
            what = "a colon stands where none can."
            hint = "Put the text in quotes, or look at how the line is indented."
        raise wrong(path, line, what, hint) from None
    return node


def end_of(node: yaml.Node) -> int:
    """Index behind the last character of a node's own text. (A block's end mark lies before what follows.)"""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return end_of(last[1] if isinstance(last, tuple) else last)


def scalar(value: str) -> str:
    """A text as it can stand anywhere in YAML, quoted where it must be."""
    dumped = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=2**31)
    return dumped.strip()[1:-1]


def newline_of(text: str) -> str:
    """How lines end in the text; that of Unix where there is only one line."""
    found = NEWLINE.search(text)
    return found.group() if found else "\n"
