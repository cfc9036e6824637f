"""Names of a film's cast in a text, where they stand and whose they are; and the rules on names, L7 and L8.

Names are found as `shotad.script.line_mentions` finds them, so that a part of a longer name that is somebody
else's (``Mary Smith`` where the cast has ``Celia Smith``) or something else's (``Smith Street``) is not taken
for it. Text in quotation marks, which is read from the screen, is not looked at; names that may not be said
yet are found there too, unless it is told to be read, and in small letters. Pure logic.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import combinations

from shotad.core import PARTICLES, STARTERS, WORD_NAMES, Character
from shotad.script.cast_members import TITLES, Form, Member, keys_of
from shotad.script.english_names import quoted
from shotad.script.line_mentions import NameIndex, book_of, goes_on, mentions, tokens_of
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
    found = list(_found(without_quotations(text), text, cast))
    if any(member.forms[0].secret for member in _index_of(tuple(cast))[0]):
        found += [mention for mention in _found(quoted(text), text, cast) if mention.hidden]
    return tuple(sorted(found, key=lambda mention: mention.start))


def words_of(cast: Sequence[Character]) -> frozenset[str]:
    """All words of all names of the cast, as `keys_of` gives them."""
    return _index_of(tuple(cast))[1].words


def _found(bare: str, text: str, cast: Sequence[Character]) -> Iterator[CastMention]:
    """Names in ``bare``, which is ``text`` with a part of it blanked out."""
    members, names, literal = _index_of(tuple(cast))
    secret = {place for place, member in enumerate(members) if member.forms[0].secret}
    line = tokens_of(bare)
    spans = []
    for match in literal.finditer(bare):
        whole = (place for place, form in names.forms.get(keys_of(match[0]), ()) if form.whole)
        spans.append((match.start(), match.end(), tuple(whole)))
    for mention in mentions(line, members, names) if members else ():
        article = line[mention.start].key == "the" and not mention.key.startswith("the ")
        behind = mention.end
        # What may not be said is told by the beginning of a longer name too.
        while mention.members and secret.issuperset(mention.members) and goes_on(line, behind, names):
            behind += 1
        start, last = line[mention.start + article].at, line[behind - 1]
        # It ends behind the full stop of ``T.J.`` where no sentence ends with it.
        initials = len(last.key) == 1 or "." in last.text
        stop = initials and re.match(r"\.(?=[,;:'’]| [^\W_A-Z])", bare[last.end :]) is not None
        end = last.end + stop
        if mention.kind == "cast" and not any(start < stop and begin < end for begin, stop, _ in spans):
            spans.append((start, end, mention.members))
    for start, end, places in spans:
        if len({members[place].name for place in places}) == 1:
            owner = members[places[0]].name
            yield CastMention(owner, start, end, text[start:end], secret.issuperset(places))


@lru_cache(maxsize=512)
def _index_of(cast: tuple[Character, ...]) -> tuple[tuple[Member, ...], NameIndex, re.Pattern[str]]:
    """All names of a cast. Somebody's names that may not be said are those of a member of their own.

    The pattern is of names with other words in small letters, or letters that are neither small nor capital;
    of those that may not be said the spelling in small letters too, where that is no word.
    """
    members: list[Member] = []
    literal: list[str] = [r"(?!)"]
    for one in cast:
        names = (one.called, one.full, *one.others) if one.named else ()
        for written, secret in ((names, False), (one.hidden, True)):
            forms = tuple(dict.fromkeys(form for name in written for form in _forms(name, one, secret)))
            if forms:
                # Whose pronoun is not known is neither Mr. nor Mrs.: that may be a wife or a husband.
                members.append(Member(one.id, forms, one.pronoun.lower() or "unknown"))
            for name in written:
                words = [word for word in name.split() if word not in PARTICLES]
                if not all(word[0].isupper() or word[0].isdigit() for word in words):
                    literal.append(_pattern(name))
        for name in one.hidden:
            # In small letters too: the first, unless it is a word, and longer ones.
            keys = keys_of(name)
            word = not keys or len(keys[0]) < 3 or keys[0] in WORD_NAMES | TITLES | STARTERS
            if len(keys) > 1 or (name == one.hidden[0] and not word):
                literal.append(_pattern(name.lower()))
    pattern = re.compile("|".join(sorted(literal, key=len, reverse=True)))
    return tuple(members), book_of(members, ()), pattern


def _forms(name: str, one: Character, secret: bool) -> Iterator[Form]:
    """The name in full, and what may stand for it: some of its words, not only titles and initials."""
    keys = keys_of(name)
    core = {word for word in keys if word not in TITLES | PARTICLES and len(word) > 1}
    if "doctor" in keys:
        yield Form(("doc",), False, secret=secret)
    for size in range(len(keys), 0, -1):
        for part in combinations(keys, size):
            whole = part == keys
            if (core & set(part) and part[-1] not in PARTICLES) or (whole and not PARTICLES.issuperset(part)):
                yield Form(part, whole, sure=whole and (secret or name == one.called), secret=secret)


def _pattern(written: str) -> str:
    """A name as it is written; in scripts without spaces (from U+2E80 on) with any letters beside it."""
    words = r"\s+".join(re.escape(word) for word in written.split())
    if any(char >= "\u2e80" for char in written):
        return words
    the = re.sub(r"\A[Tt]he(?=\\s)", "[Tt]he", words)
    return rf"(?<![\w'’-]){the}(?![\w-])"


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
        wrong = [
            Finding("L7", Level.ERROR, f"named before the film reveals it: {m.text!r}", span=(m.start, m.end))
            for m in those
            if m.hidden
        ]
        for start, end in people(text, words_of(then).__contains__) if people is not None and then else ():
            known = [character.called for character in then if character.named]
            near = get_close_matches(text[start:end], known, 1, _MISSPELT)
            meant = f"; is it {near[0]!r}?" if near else ""
            what = f"not in the cast: {text[start:end]!r}{meant}"
            wrong.append(Finding("L7", Level.ERROR, what, span=(start, end)))
        found.append((*wrong, *_two_names(those, usual, first)))
        first |= {mention.id for mention in those}
    return tuple(found)


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
    words = keys_of(name)
    return " ".join([word for word in words if word not in TITLES] or words)


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
