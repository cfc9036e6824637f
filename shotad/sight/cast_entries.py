"""The entries of a ``cast.yaml``: their keys, the values of these, and what must hold between people.

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
from pathlib import Path
from typing import Any

import yaml

from shotad.core import Member
from shotad.core.cast import (
    NAME_TITLES,
    Reveal,
    same_film,
)
from shotad.core.errors import (
    CastError,
    did_you_mean,
    quoted,
)
from shotad.core.progress import visible_text
from shotad.core.text_files import read_text_file
from shotad.script.cast_members import name_keys
from shotad.script.cue import parse_time, timecode

KEYS: tuple[str, ...] = (
    "id", "name", "speak", "say_as", "aliases", "pronoun", "descriptor", "reveal_at", "photos", "nameless",
)  # fmt: skip
"""Keys of a person, in the order in which they are written."""

PRONOUNS = ("she", "he", "they", "it")
OTHERS = "others"
"""Key in ``reveal_at`` for all films that have no key there."""

_FILM_ENDINGS = re.compile(r"\.(mp4|mkv|webm|mov|avi|m4v|mpe?g|m?2?ts|ogv|wmv)$", re.IGNORECASE)
_TIME_HINT = "Write 00:12:30, 12:30, seconds (750.5), or never."


@dataclass(frozen=True, slots=True)
class CastEntry:
    """A person as the file has them.

    ``photos`` are files, folders and patterns, as written; ``line`` is that of the entry's first key, from 1.
    """

    member: Member
    photos: tuple[str, ...] = ()
    line: int = 0
    lines: Mapping[str, int] = field(default_factory=dict)
    """The line of each key, of each alias as ``aliases NAME``, and of each photo as ``photos 0`` …"""


def entries_of(text: str, path: Path) -> tuple[CastEntry, ...]:
    """The people of the cast file ``path`` with the content ``text``.

    Those without an id get one, made of the name. Raises CastError, with the line, also where two share an
    id or a name: nobody could tell who is meant.
    """
    people = people_of(text, path)
    entries = [_entry_of(node, path) for node in people.value] if people else []
    # Ids that are written come first: one that is made must not take them.
    written_ids = [entry.member.id for entry in entries if entry.member.id]
    names_without_id = [entry.member.name for entry in entries if not entry.member.id]
    new_ids = iter(distinct_ids(names_without_id, written_ids))
    for index, entry in enumerate(entries):
        if not entry.member.id:
            entries[index] = replace(entry, member=replace(entry.member, id=next(new_ids)))
    _check_distinct(entries, path)
    return tuple(entries)


def people_of(text: str, path: Path) -> yaml.SequenceNode | None:
    """The node of the list of people: under ``people``, or the whole document. None where there is none yet.

    Raises CastError with the line of a mistake.
    """
    node = compose(text, path)
    if node is None or is_blank(node):
        return None
    if isinstance(node, yaml.MappingNode):
        people = fields_of(node, path, ("people",), "of a cast file").get("people")
        if people is None or is_blank(people):
            return None
        node = people
    if not isinstance(node, yaml.SequenceNode):
        raise error_at(path, node, "a list of people is expected here.", "Write '- name: …' for each person.")
    return node


def _entry_of(node: yaml.Node, path: Path) -> CastEntry:
    """The person of a node; the id is empty where none is written. Raises CastError with the line."""
    if not isinstance(node, yaml.MappingNode):
        problem = f"a person is a list of keys and values, got {_node_text(node)}."
        raise error_at(path, node, problem, _EXAMPLE)
    nodes = fields_of(node, path, KEYS, "of a person")
    values: dict[str, Any] = {}
    for key, reader in _READERS.items():
        if key in nodes:
            values[FIELDS.get(key, key)] = reader(nodes[key], path)
    photos = values.pop("photos", ())
    lines = {key: line_of(value) for key, value in nodes.items()}
    if "photos" in nodes:
        for number, photo in enumerate(_items(nodes["photos"])):
            lines[f"photos {number}"] = line_of(photo)
    if "aliases" in nodes:
        for alias in _items(nodes["aliases"]):
            lines[f"aliases {tidy(str(alias.value))}"] = line_of(alias)
    return CastEntry(Member(**{"id": "", **values}), photos, line_of(node), lines)


_EXAMPLE = "Write, for example, '- name: Anna'."
FIELDS: dict[str, str] = {"speak": "spoken", "reveal_at": "reveals"}
"""Keys that have another name in `Member`."""


def fields_of(node: yaml.MappingNode, path: Path, keys: tuple[str, ...], owner: str) -> dict[str, yaml.Node]:
    """The values of a node by key, each one of ``keys``; ``owner`` ("of a person") is for the message.

    Raises CastError for a key that is unknown or stands twice.
    """
    values: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else None
        if name not in keys:
            lower = str(name).casefold()
            synonym = _SYNONYMS.get(lower, lower)
            hint = f"{did_you_mean(synonym if synonym in keys else lower, keys)}Known: {', '.join(keys)}."
            raise error_at(path, key, f"{quoted(name or _node_text(key))} is no key {owner}.", hint)
        if name in values:
            raise error_at(path, key, f"{quoted(name)} stands twice.", "Keep one of them.")
        values[name] = value
    return values


_SYNONYMS = {
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
"""What people write for a key that is near in meaning, not in spelling, and the key."""


def is_blank(node: yaml.Node) -> bool:
    """Whether a value was left out: nothing, ``~`` or ``null`` without quotes."""
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in ("", "~", "null")


def _text(node: yaml.Node, path: Path, expected: str = "A text") -> str:
    """The text of a node, tidied; empty where it was left out. Raises CastError where it is no text."""
    if is_blank(node):
        return ""
    if not isinstance(node, yaml.ScalarNode):
        raise error_at(path, node, f"{expected} is expected here, got {_node_text(node)}.")
    return tidy(node.value)


def tidy(text: str) -> str:
    """``text`` on one line, with composed letters and single spaces, without invisible characters."""
    return " ".join(visible_text(unicodedata.normalize("NFC", text)).split())


def _pronunciation(node: yaml.Node, path: Path) -> str:
    """A name spelled for a voice. Raises CastError where no voice could read it."""
    text = _text(node, path)
    symbols = [character for character in text if character in _SILENT]
    problem = f"{quoted(symbols[0])} is no sound" if symbols else ""
    if len(text) > _MAX_PRONUNCIATION:
        problem = f"it has more than {_MAX_PRONUNCIATION} characters"
    if not any(character.isalpha() for character in text):
        problem = "it has no letter"
    if text and problem:
        raise error_at(path, node, f"{quoted(text)} cannot be said: {problem}.", "Write it by ear: Sin-TELL.")
    return text


_MAX_PRONUNCIATION = 100
"""Characters."""
_SILENT = frozenset("[]{}<>|\\/=_*#@&%")
"""Characters that a voice leaves out or spells by their names; some are marks in its text."""


def _texts(node: yaml.Node, path: Path) -> tuple[str, ...]:
    """The distinct texts of a list, or of a single text. Raises CastError."""
    texts = [_text(item, path, "A text or a list of texts") for item in _items(node)]
    return tuple(dict.fromkeys(text for text in texts if text))


def _items(node: yaml.Node) -> list[yaml.Node]:
    """The items of a list that are not left out; a value that is no list stands for a list of one."""
    if isinstance(node, yaml.SequenceNode):
        return [item for item in node.value if not is_blank(item)]
    return [node]


def _photos(node: yaml.Node, path: Path) -> tuple[str, ...]:
    """Files, folders and patterns as written: names of files may hold double spaces. Raises CastError."""
    for item in _items(node):
        _text(item, path, "A file, a folder, or a list of them")
    return tuple(item.value for item in _items(node) if not is_blank(item))


def _id(node: yaml.Node, path: Path) -> str:
    """An id, empty where none is written. Raises CastError where no file can be called so."""
    text = _text(node, path)
    if text and not is_id(text):
        raise error_at(
            path,
            node,
            f"{quoted(text)} cannot be an id.",
            "Ids name files: use letters, digits, '-' and '_', such as anna-lee.",
        )
    return text


def _pronoun(node: yaml.Node, path: Path) -> str:
    """One of `PRONOUNS`, or empty. Raises CastError for another."""
    text = _text(node, path).casefold()
    # Of "she/her" the first
    pronoun = text.partition("/")[0].strip()
    if pronoun not in ("", *PRONOUNS):
        pronouns_hint = f"Known: {', '.join(PRONOUNS)}."
        raise error_at(path, node, f"{quoted(text)} is no pronoun that is known.", pronouns_hint)
    return pronoun


def _boolean(node: yaml.Node, path: Path) -> bool:
    """True or false, the latter where nothing is written. Raises CastError for another word."""
    text = _text(node, path).casefold()
    if text not in _BOOLEANS:
        raise error_at(path, node, f"{quoted(text)} is neither true nor false.", "Write true or false.")
    return _BOOLEANS[text]


_BOOLEANS = {"": False, "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def _reveals(node: yaml.Node, path: Path) -> tuple[Reveal, ...]:
    """When a name becomes known: one time, or one for each film. Raises CastError."""
    if not isinstance(node, yaml.MappingNode):
        text = _text(node, path, "A time, or a time for each film,")
        return (_reveal(text, "", node, path),) if text else ()
    reveals: dict[str, Reveal] = {}
    for key, value in node.value:
        _text(key, path, "The name of a film")
        film = film_name(str(key.value))
        if any(same_film(film, other) for other in reveals):
            raise error_at(path, key, f"the film {quoted(key.value)} stands twice.", "Keep one of them.")
        reveals[film] = _reveal(_text(value, path, "A time"), film, value, path)
    return tuple(reveals.values())


def film_name(name: str) -> str:
    """The name of a film as `Reveal` has it: ``movie.mp4 → movie``; empty for `OTHERS`."""
    return "" if name == OTHERS else _FILM_ENDINGS.sub("", name)


def _reveal(text: str, film: str, node: yaml.Node, path: Path) -> Reveal:
    """The reveal at the time ``text`` of ``film``. Raises CastError, with the line of ``node``."""
    try:
        return Reveal(seconds_of(text), film)
    except ValueError:
        raise error_at(path, node, f"{quoted(text)} is no time.", _TIME_HINT) from None


def seconds_of(text: str) -> float:
    """Seconds from ``00:12:30``, ``12:30``, ``750.5`` or ``never`` (infinite). Raises ValueError."""
    return math.inf if text.strip().casefold() == "never" else parse_time(text)


def time_text(seconds: float) -> str:
    """``seconds`` as `seconds_of` reads it: ``750 → 00:12:30``."""
    if math.isinf(seconds):
        return "never"
    return timecode(seconds).removesuffix(".000")


_READERS: dict[str, Callable[[yaml.Node, Path], Any]] = {
    "id": _id,
    "name": _text,
    "speak": _text,
    "say_as": _pronunciation,
    "aliases": _texts,
    "pronoun": _pronoun,
    "descriptor": _text,
    "reveal_at": _reveals,
    "photos": _photos,
    "nameless": _boolean,
}
"""What turns the node of each key into a value; each raises CastError with the line."""


def _node_text(node: yaml.Node) -> str:
    """What a node holds, for a message: ``a list``, ``keys and values (a, b)``, ``'Anna'``, ``nothing``."""
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    if isinstance(node, yaml.MappingNode):
        return f"keys and values ({', '.join(str(key.value) for key, _ in node.value[:3])})"
    return repr(node.value) if node.value else "nothing"


_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{i}" for port in ("com", "lpt") for i in range(1, 10))}
"""Names that Windows allows no file to have."""


def id_of(name: str) -> str:
    """``Zoë d'Arcy → zoe-d-arcy``; letters that are not Latin stay; ``person`` where nothing is left."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    # Accents of Latin letters go; the marks of other scripts belong to the letters.
    letters = [c for c in decomposed if not unicodedata.combining(c) or ord(c) > 0x36F]
    plain = unicodedata.normalize("NFC", "".join(letters))
    hyphenated = re.sub(r"[\W_]+", "-", plain).strip("-")
    short = hyphenated.encode()[:60].decode("utf-8", "ignore") or "person"
    return f"person-{short}" if short in _RESERVED else short


def is_id(text: str) -> bool:
    """Whether a text can be an id: letters, digits, ``-``, ``_`` and ``.`` within, no more than 80 bytes."""
    has_form = re.fullmatch(r"\w(?:[\w.-]*[\w-])?", text) is not None
    return has_form and len(text.encode()) <= 80 and text.casefold() not in _RESERVED


def distinct_ids(names: Iterable[str], taken: Iterable[str] = ()) -> tuple[str, ...]:
    """An id for each name, different from each other and from ``taken``: ``Anna, Anna → anna, anna-2``."""
    used = {id_.casefold() for id_ in taken}
    ids = []
    for name in names:
        base = id_of(name)
        id_, number = base, 1
        while id_ in used:
            number += 1
            id_ = f"{base}-{number}"
        used.add(id_)
        ids.append(id_)
    return tuple(ids)


def _check_distinct(entries: Sequence[CastEntry], path: Path) -> None:
    """Raise CastError, with the line of the second, where two people share an id or a name."""
    entry_of_id: dict[str, CastEntry] = {}
    entry_of_name: dict[str, CastEntry] = {}
    for entry in entries:
        member = entry.member
        first = entry_of_id.setdefault(member.id.casefold(), entry)
        if first is not entry:
            problem = f"the id {quoted(member.id)} is that of another person too (line {first.line})."
            raise error_at(path, entry.lines.get("id", entry.line), problem, "Give each an id of their own.")
        if member.nameless:  # extras that nobody names share theirs freely
            continue
        names = [("name", member.name), ("speak", member.spoken)]
        names += [(f"aliases {alias}", alias) for alias in member.aliases]
        for key, name in names:
            if not name:
                continue
            other = entry_of_name.setdefault(name.casefold(), entry)
            if other is not entry:
                problem = f"two people are called {quoted(name)} (the other stands in line {other.line})."
                raise error_at(path, entry.lines.get(key, entry.line), problem, ONE_PERSON)


ONE_PERSON = "Give them different names or, if they are one person, join them with shotad cast merge."


def warnings(members: Sequence[Member]) -> tuple[str, ...]:
    """A sentence for each thing that lets a cast do less than it could."""
    if not members:
        return ("There is nobody in this cast.",)
    sentences = []
    if ids := [member.id for member in members if not member.says and not member.nameless]:
        sentences.append(f"Without a name yet, so never named: {_first_few(ids)}.")
    if without_photos := [label_of(member) for member in members if not member.photos]:
        sentences.append(f"Without photos, so never recognised: {_first_few(without_photos)}.")
    for member in members:
        label, descriptor = label_of(member), member.descriptor
        has_reveal = any(reveal.seconds > 0 for reveal in member.reveals)
        names = [name for name in (member.name, member.spoken, *member.aliases) if name]
        if has_reveal and member.says and not descriptor:
            sentences.append(f"{label} has a reveal_at but no descriptor, and is not spoken of until then.")
        if has_reveal and any(_is_named_in(name, descriptor) for name in names):
            sentences.append(f"The descriptor of {label} gives the name away: {quoted(descriptor)}.")
        if descriptor.endswith((".", ",", ";")):
            sentences.append(
                f"A descriptor is put into sentences; {quoted(descriptor)} ends with a mark of its own."
            )
    member_of_descriptor: dict[str, Member] = {}
    for member in members:
        first = member_of_descriptor.setdefault(member.descriptor.casefold(), member)
        if member.descriptor and first is not member:
            both = f"{label_of(first)} and {label_of(member)}"
            sentences.append(f"{both} have the same descriptor: {quoted(first.descriptor)}.")
    return tuple(sentences)


def _is_named_in(name: str, text: str) -> bool:
    """Whether a text holds a name, or a word of it that is no title."""
    words = [name]
    for word in name.split():
        if word[0].isupper() and not NAME_TITLES.issuperset(name_keys(word)):
            words.append(word)
    return any(re.search(rf"\b{re.escape(word)}\b", text) is not None for word in words)


def label_of(member: Member) -> str:
    """The name of a member for messages, the id where there is none."""
    return member.name or member.id


def _first_few(names: Sequence[str]) -> str:
    """The first eight of ``names``, and how many more there are, for a message."""
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if names[8:] else "")


NEWLINE = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
"""What PyYAML counts as the end of a line."""


def line_of(node: yaml.Node) -> int:
    """The line that a node begins in, from 1."""
    return int(node.start_mark.line) + 1


def error_at(path: Path, cause: yaml.Node | int, problem: str, hint: str = "") -> CastError:
    """An error with the file and the line of its ``cause``, a node or the line itself."""
    line = cause if isinstance(cause, int) else line_of(cause)
    return CastError(f"{path}, line {line}: {problem}", hint)


class _Composer(yaml.SafeLoader):
    """A YAML loader without references (``*name``): one text in two places cannot be changed in one of them.

    Raises ComposerError for a reference.
    """

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
    """The node of the YAML document ``text``; None where nothing but comments stands.

    Raises CastError, with the line, for what is no YAML; ``path`` is for the message.
    """
    try:
        loader = _Composer(text)
        node: yaml.Node | None = loader.get_single_node()
    except yaml.reader.ReaderError as error:
        line = len(NEWLINE.findall(text[: error.position])) + 1
        problem = f"the character {quoted(chr(error.character))} cannot stand here."
        raise error_at(path, line, problem) from None
    except RecursionError:
        raise error_at(path, 1, "this is nested too deeply to be read.", "Write it flat.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = (mark.line if mark else 0) + 1
        reason = error.problem or ""
        problem = f"this is no YAML ({reason})."
        hint = "Look at the colons, the quotes, and how the lines are indented."
        if "\\t" in reason:
            problem, hint = "a tab stands where a line begins.", "Use spaces to indent."
        elif "mapping values are not allowed" in reason:
            problem = "a colon stands where none can."
            hint = "Put the text in quotes, or look at how the line is indented."
        raise error_at(path, line, problem, hint) from None
    return node


def end_of(node: yaml.Node) -> int:
    """Index behind the last character of a node's text."""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    # PyYAML ends a block where the next token begins, behind comments and blank lines.
    last = node.value[-1]
    return end_of(last[1] if isinstance(last, tuple) else last)


def scalar(value: str) -> str:
    """``value`` as it can stand anywhere in YAML, quoted where it must be."""
    # As the item of a list in brackets, where PyYAML quotes most; the brackets are cut off again.
    dumped = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=2**31)
    return dumped.strip()[1:-1]


def newline_of(text: str) -> str:
    """The first line end of ``text``; ``\\n`` where there is only one line."""
    newline = NEWLINE.search(text)
    return newline.group() if newline else "\n"
