"""Names of the cast in a text, where they stand and whose they are; and the rules on names, L7 and L8.

Names are read from runs of words with a capital letter, so that a part of a longer name that is somebody
else's (``Mary Smith`` where the cast has ``Celia Smith``) or something else's (``Smith Street``) is not taken
for it. Text in quotation marks, which is read from the screen, is not looked at; names that may not be said
yet are found there too, unless it is told to be read, and in small letters. Pure logic.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import takewhile

from shotad.core import HER_TITLES, HIS_TITLES, NAME_TITLES, PARTICLES, STARTERS, WORD_NAMES, Character
from shotad.script.english_names import SENTENCE_START, Token, key_of, keys_of, quoted, runs
from shotad.script.rules import Finding, Level, without_quotations


@dataclass(frozen=True, slots=True)
class CastMention:
    """Somebody's name in a text: ``text[start:end]``, titles included, the possessive s left out.

    ``id`` is the character's, ``text`` what stands there. ``hidden``: it may not be said yet.
    """

    id: str
    start: int
    end: int
    text: str
    hidden: bool


def cast_mentions(text: str, cast: Sequence[Character]) -> tuple[CastMention, ...]:
    """Names of the cast in ``text``, in order.

    Found are the names in full, those to be spoken, aliases, and parts of a full name that only one of the
    cast has, each with any titles before it; ``Mr.`` and ``Mrs.`` tell people of one surname apart by their
    pronouns.
    """
    index = _index_of(tuple(cast))
    if not index.names:
        return ()
    found = _found(without_quotations(text), text, index)
    if any(name.hidden for name in index.names):
        found += [mention for mention in _found(quoted(text), text, index) if mention.hidden]
    return tuple(_joined(sorted(found, key=lambda mention: mention.start), text))


def _found(bare: str, text: str, index: _NameIndex) -> list[CastMention]:
    """Names in ``bare``, which is ``text`` with a part of it blanked out."""
    found: list[CastMention] = []
    for match in index.literal.finditer(bare) if index.literal else ():
        owners = index.whole(tuple(keys_of(match[0])))
        if len(owners) == 1:
            found.append(index.mention(owners[0], match.start(), match.end(), text))
    for run in runs(bare):
        found += [
            m
            for m in _in_run(run, text, index)
            if not any(m.start < o.end and o.start < m.end for o in found)
        ]
    return found


def _joined(found: Sequence[CastMention], text: str) -> Iterator[CastMention]:
    """``Thomas`` and ``van Beek`` side by side as one, where the same person has both names."""
    last: CastMention | None = None
    for mention in found:
        if last is not None and last.id == mention.id and not text[last.end : mention.start].strip():
            last = replace(last, end=mention.end, text=text[last.start : mention.end])
            continue
        if last is not None:
            yield last
        last = mention
    if last is not None:
        yield last


def words_of(cast: Sequence[Character]) -> frozenset[str]:
    """All words of all names of the cast, as `key_of` gives them."""
    return _index_of(tuple(cast)).words


@dataclass(frozen=True, slots=True)
class _Name:
    """One of somebody's names as its words; ``hidden`` as in `Mention`."""

    owner: Character
    keys: tuple[str, ...]
    hidden: bool

    @property
    def is_alias(self) -> bool:
        """Whether it is another name than the one to speak."""
        return self.keys != tuple(keys_of(self.owner.called))

    @property
    def core(self) -> tuple[str, ...]:
        """The words that may stand for the whole: no titles, initials and particles."""
        return tuple(k for k in self.keys if k not in NAME_TITLES | PARTICLES and len(k.rstrip(".")) > 1)


@dataclass(frozen=True, slots=True)
class _NameIndex:
    """All names of a cast."""

    names: tuple[_Name, ...]
    words: frozenset[str]
    literal: re.Pattern[str] | None
    """Names with a word in small letters (``the Dude``), which are no runs; of names that may not be said the
    spelling in small letters too, where that is no word."""

    def whole(self, keys: tuple[str, ...]) -> tuple[_Name, ...]:
        """The names that are just these words, one for each owner."""
        return _one_each(name for name in self.names if name.keys == keys)

    def part(self, keys: tuple[str, ...]) -> tuple[_Name, ...]:
        """The names of several words of which these are some, in order."""
        return _one_each(
            name
            for name in self.names
            if len(name.keys) > 1 and _within(keys, name.keys) and set(keys) & set(name.core)
        )

    def is_first(self, mention: CastMention) -> bool:
        """Whether a mention begins with what is never a later word of that person's names."""
        key = next(keys_of(mention.text))
        names = [name.keys for name in self.names if name.owner.id == mention.id]
        return any(keys[0] == key for keys in names) and not any(key in keys[1:] for keys in names)

    def tells(self, mention: CastMention) -> bool:
        """Whether a mention gives somebody away whatever stands before it: it is a whole name and no word."""
        keys = tuple(keys_of(mention.text))
        return bool(self.whole(keys)) and (len(keys) > 1 or _is_no_word(keys[0]))

    def mention(self, name: _Name, start: int, end: int, text: str) -> CastMention:
        return CastMention(name.owner.id, start, end, text[start:end], name.hidden)


def _one_each(names: Iterator[_Name]) -> tuple[_Name, ...]:
    return tuple({name.owner.id: name for name in names}.values())


@lru_cache(maxsize=512)
def _index_of(cast: tuple[Character, ...]) -> _NameIndex:
    names: list[_Name] = []
    literal: list[str] = []
    for character in cast:
        open_names = (character.called, character.full, *character.others) if character.named else ()
        for written, hidden in [*((n, False) for n in open_names), *((n, True) for n in character.hidden)]:
            keys = tuple(keys_of(written))
            if keys and not any(n.keys == keys and n.owner.id == character.id for n in names):
                names.append(_Name(character, keys, hidden))
                if not all(word[0].isupper() for word in written.split()) or keys[0] == "the":
                    literal.append(_pattern(written))
                if hidden and (len(keys) > 1 or (written == character.hidden[0] and _is_no_word(keys[0]))):
                    literal.append(_pattern(written.lower()))
    literal.sort(key=len, reverse=True)
    pattern = re.compile("|".join(literal)) if literal else None
    return _NameIndex(tuple(names), frozenset(key for name in names for key in name.keys), pattern)


def _is_no_word(key: str) -> bool:
    return len(key) > 2 and key not in WORD_NAMES | NAME_TITLES | STARTERS


def _pattern(written: str) -> str:
    """A name as it is written; in scripts without spaces (from U+2E80 on) with any letters beside it."""
    words = r"\s+".join(re.escape(word) for word in written.split())
    if any(char >= "\u2e80" for char in written):
        return words
    the = re.sub(r"\A[Tt]he(?=\\s)", "[Tt]he", words)
    return rf"(?<![\w'’-]){the}(?![\w-])"


def _within(keys: tuple[str, ...], name: tuple[str, ...]) -> bool:
    rest = iter(name)
    return all(key in rest for key in keys)


def _in_run(run: tuple[Token, ...], text: str, index: _NameIndex) -> Iterator[CastMention]:
    """The cast's names in one run; a neighbour that is no title and nobody's makes another name of it."""
    pieces = list(_pieces(run, text, index))
    for i, piece in enumerate(pieces):
        if not isinstance(piece, CastMention):
            continue
        before = pieces[i - 1] if i else None
        after = pieces[i + 1] if i + 1 < len(pieces) else None
        joined = isinstance(before, Token) and not _starts(before, text, index.is_first(piece))
        if not joined and not isinstance(after, Token):
            yield piece
        elif piece.hidden and (not joined or index.tells(piece)):
            yield _with_following(piece, pieces[i + 1 :], text)


def _with_following(name: CastMention, pieces: Sequence[CastMention | Token], text: str) -> CastMention:
    """A name that may not be said, with the words behind it that are nobody's: its beginning tells it."""
    end = name.end
    for piece in takewhile(lambda piece: isinstance(piece, Token), pieces):
        end = piece.end
    return replace(name, end=end, text=text[name.start : end])


def _starts(token: Token, text: str, before_first: bool) -> bool:
    """Whether a word has its capital letter from the sentence that it begins: ``Behind Smith``.

    Before a first name it may be any word: ``Hey Celia``, where nobody is called Hey.
    """
    word = before_first or token.key in STARTERS or token.key.endswith(("ing", "ly"))
    return word and bool(SENTENCE_START.search(text[: token.start]))


def _pieces(run: tuple[Token, ...], text: str, index: _NameIndex) -> Iterator[CastMention | Token]:
    at = 0
    while at < len(run):
        for end in range(len(run), at, -1):
            name = _owner(run[at:end], text, index)
            if name is not None:
                yield index.mention(
                    name, _with_particle(run[at], name, text), _with_dot(run[end - 1], text), text
                )
                at = end
                break
        else:
            yield run[at]
            at += 1


def _owner(tokens: tuple[Token, ...], text: str, index: _NameIndex) -> _Name | None:
    keys = tuple(token.key for token in tokens)
    may_be_word = keys[0] in WORD_NAMES and SENTENCE_START.search(text[: tokens[0].start]) is not None
    whole = index.whole(keys)
    if whole:
        sure = len(whole) == 1 and not (
            may_be_word and len(keys) == 1 and whole[0].is_alias and not whole[0].hidden
        )
        return whole[0] if sure else None
    titles = next((i for i, key in enumerate(keys) if key not in NAME_TITLES), len(keys))
    core, title = keys[titles:], keys[:titles]
    if not core:
        return None
    if len(keys) == 1 and may_be_word:
        return None
    owners = [
        name for name in (index.whole(core) if title else ()) or index.part(core) if _suits(title, name.owner)
    ]
    return owners[0] if len(owners) == 1 else None


def _suits(title: tuple[str, ...], owner: Character) -> bool:
    """Whether a title does not speak against somebody: ``Mrs. Smith`` may be the wife of Smith, so that only
    her pronoun tells that she is meant."""
    own = {"he": HIS_TITLES, "she": HER_TITLES}.get(owner.pronoun.lower(), frozenset())
    return not set(title) & ((HIS_TITLES | HER_TITLES) - own)


def _with_dot(token: Token, text: str) -> int:
    """Where the name ends: behind the full stop of ``T.J.`` where no sentence ends with it."""
    initials = len(token.key) == 1 or "." in token.key
    return token.end + (initials and re.match(r"\.(?=[,;:'’]| [^\W_A-Z])", text[token.end :]) is not None)


def _with_particle(token: Token, name: _Name, text: str) -> int:
    """Where the name begins: with the ``van`` before it where that is part of it, and a title before that."""
    start = token.start
    while before := re.search(r"(?<!\w)(\w+)\.? \Z", text[:start]):
        particle = before[1] in PARTICLES and before[1] in name.keys
        title = start < token.start and before[1][0].isupper() and before[1].lower() in NAME_TITLES
        if not particle and not title:
            break
        start = before.start()
    return start


CastAt = Callable[[float], Sequence[Character]]
"""Everybody of the cast as they may be spoken of at a second of the film."""

PeopleIn = Callable[[str, Callable[[str], bool]], Sequence[tuple[int, int]]]
"""Spans of a line that are names of people, without those that have a known word (in small letters)."""

_MISSPELT = 0.75


def check_names(
    lines: Sequence[tuple[float, str]], cast: CastAt, people: PeopleIn | None = None
) -> tuple[tuple[Finding, ...], ...]:
    """What is wrong with the names of a track: findings of each of ``lines`` (start second, text).

    L7, an error: somebody is named before the film reveals it, or (with ``people``, which finds names of
    people in the line's language) a name is nobody's of the cast. L8, a warning: somebody has another name
    than in most lines; a longer name that holds the usual one is no fault where they are first named. An
    empty cast knows nobody, and nothing is found.
    """
    casts = [tuple(cast(second)) for second, _ in lines]
    named = [cast_mentions(text, people_then) for (_, text), people_then in zip(lines, casts, strict=True)]
    usual = _usual(named, casts)
    first: set[str] = set()
    found: list[tuple[Finding, ...]] = []
    for (_, text), then, those in zip(lines, casts, named, strict=True):
        unknown = _nobodys(text, then, people) if people is not None and then else []
        found.append((*_too_early(those), *unknown, *_two_names(those, usual, first)))
        first |= {mention.id for mention in those}
    return tuple(found)


def _too_early(found: Sequence[CastMention]) -> list[Finding]:
    return [
        Finding("L7", Level.ERROR, f"named before the film reveals it: {m.text!r}", span=(m.start, m.end))
        for m in found
        if m.hidden
    ]


def _nobodys(text: str, cast: Sequence[Character], people: PeopleIn) -> list[Finding]:
    names = [character.called for character in cast if character.named]
    found: list[Finding] = []
    for start, end in people(text, words_of(cast).__contains__):
        near = get_close_matches(text[start:end], names, 1, _MISSPELT)
        meant = f"; is it {near[0]!r}?" if near else ""
        found.append(
            Finding("L7", Level.ERROR, f"not in the cast: {text[start:end]!r}{meant}", span=(start, end))
        )
    return found


def _usual(named: Sequence[Sequence[CastMention]], casts: Sequence[Sequence[Character]]) -> dict[str, str]:
    """What each is called most often; of equals the name to speak, then the first."""
    says = {c.id: _core(c.called) for cast in casts for c in cast if c.named}
    count: dict[str, Counter[str]] = {}
    for mention in (mention for those in named for mention in those if not mention.hidden):
        count.setdefault(mention.id, Counter())[_core(mention.text)] += 1
    return {
        person: max(names, key=lambda name: (names[name], name == says.get(person)))
        for person, names in count.items()
    }


def _core(name: str) -> str:
    """A name as it is compared, without titles: ``Inspector Hubbard`` is no other name than ``Hubbard``."""
    words = key_of(name).split()
    return " ".join([word for word in words if word not in NAME_TITLES] or words)


def _two_names(found: Sequence[CastMention], usual: dict[str, str], first: set[str]) -> list[Finding]:
    findings: list[Finding] = []
    seen = set(first)
    for mention in (mention for mention in found if not mention.hidden):
        name, wanted = _core(mention.text), usual[mention.id]
        introduces = mention.id not in seen and set(wanted.split()) <= set(name.split())
        if name != wanted and not introduces:
            message = f"{mention.text!r} has another name in most lines: {wanted.title()!r}"
            findings.append(Finding("L8", Level.WARNING, message, span=(mention.start, mention.end)))
        seen.add(mention.id)
    return findings
