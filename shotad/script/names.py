"""Names in lines: of anybody, in English, and of a film's cast; and the rules on names, L7 and L8.

`names_in` reads the names in use from lines and from the user's note. `people_named` tells names of people
from those of places, makes and titles by what stands around them; rather one too few than one too many.

`cast_mentions` finds the cast as `shotad.script.line_mentions` does, so that a part of somebody else's longer
name (``Mary Smith`` where the cast has ``Celia Smith``) or of a thing's (``Smith Street``) is not taken for
it. Text in quotation marks is not looked at; names that may not be said yet are found there too, unless
it is read from the screen, and in small letters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import combinations, takewhile

from shotad.core import Character
from shotad.core.cast import (
    PARTICLES,
    SENTENCE_STARTERS,
    WORD_NAMES,
)
from shotad.script import english_words as en
from shotad.script.cast_members import GIVEN_NAMES, TITLES, Form, Member, name_keys
from shotad.script.english_words import listed, listed_in
from shotad.script.line_mentions import (
    NameIndex,
    NameToken,
    find_mentions,
    goes_on,
    index_names,
    joins,
    tokens_of,
)
from shotad.script.rules import Finding, Level, quotations, without_quotations

SENTENCE_START = re.compile(r"(?:\A|[.!?…:])[\s\"“”'‘’(\[*•–—-]*\Z|\n(?:[^\S\n]|[\"“”'‘’(\[*•–—-])*\Z")

_Run = tuple[NameToken, ...]
"""Words with a capital letter side by side."""


def _runs(bare: str) -> Iterator[_Run]:
    """The runs of a text; a full stop ends one where it ends a sentence, and not a title."""
    line = tokens_of(bare)
    run: list[NameToken] = []
    for at, token in enumerate(line):
        capital = token.text[0].isupper()
        if run and not (capital and joins(line, at)):
            yield tuple(run)
            run = []
        if capital and (run or token.gap != "-"):
            run.append(token)
    if run:
        yield tuple(run)


def quoted(text: str) -> str:
    """``text`` with all blanked out but what stands in quotation marks and is not told to be read.

    >>> quoted("'Ann' waves; a sign reads 'Bo'.").strip()
    'Ann'
    """
    kept = [" "] * len(text)
    for start, end in quotations(text):
        if not (_READ.search(text[:start]) or _READ_AFTER.match(text[end:])):
            kept[start + 1 : end - 1] = text[start + 1 : end - 1]
    return "".join(kept)


_READ = re.compile(
    r"\b(?:reads?|reading|spells?|spelling|words?|headlines?|messages?|labels?|labell?ed|motto|logo|titles?|"
    r"titled|captions?|subtitles?|credits?|writes?|written|signs?|signed|signature|marked|text|letters|"
    r"lettering|inscriptions?|inscribed|engraved|printed|(?:name)?plates?|name ?tags?|badge|poster|"
    r"card|cover|tombstone|gravestone|screen)\b[^.!?\"“”]*\Z",
    re.IGNORECASE,
)
"""Before what is read from the screen, in the same sentence."""
_READ_AFTER = re.compile(
    r"\A,? (?:appears?|fades?|(?:is|are|stands?) (?:written|printed|carved|engraved|painted|shown|on)\b|"
    r"on (?:an?|the|his|her|their|its) (?:\w+ )?"
    r"(?:screen|sign|door|poster|page|cover|card|wall|plate|stone|board|badge)\b)",
    re.IGNORECASE,
)

_NAME = r"(?:[OD]['’]|Mc)?[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+(?:['’-][A-ZÀ-ÖØ-Þ]?[a-zß-öø-ÿ]+)*"
_ENTRY = re.compile(
    rf"^[ \t*•–—-]*+({_NAME}(?:[ \t]+{_NAME}){{0,3}})"
    r"(?=\s*+(?:[:=(]|[–—]|-\s|,\s+(?:an?|the|his|her|their|aged?|\d)\b|(?<=\s)is\b))",
    re.MULTILINE,
)
"""A line of a cast list: ``Ann: a thief``, ``Bo (her brother)``, ``Ann is a thief``."""

NO_NAMES = listed_in("capitals")
"""Words with a capital letter that are no names of people or places, at a line's start or within it."""


def names_in(lines: Sequence[str], note: str = "") -> tuple[str, ...]:
    """Names in the note, in its order, then those in the lines, the latest first; each once.

    Sure are words with a capital letter in the middle of a sentence, those that own something or are joined
    to a name, and in the note those that begin an entry of a cast list. A word with a capital letter that
    only ever begins sentences is one where it acts, in two lines at least. Text in quotation marks, which is
    read from the screen, is not looked at; titles are left out. A first name of somebody whose full name the
    note has is not listed again.

    >>> names_in(["Ann hides.", "The guard looks at Captain Bo Lee."], "The thief is called Ann.")
    ('Ann', 'Bo Lee')
    """
    found = [name for name, is_sure in _names(note) if is_sure]
    for entry in _ENTRY.findall(note):
        found += [name for run in _runs(entry) for name in _name(run, entry)]
    found.sort(key=note.find)
    acting = Counter(name for line in lines for name, is_sure in set(_names(line)) if not is_sure)
    for line in reversed(lines):
        found += [name for name, is_sure in _names(line) if is_sure or acting[name] > 1]
    known: list[str] = []
    for name in dict.fromkeys(found):
        if not any(set(name.split()) <= set(longer.split()) for longer in known):
            known.append(name)
    return tuple(known)


@lru_cache(maxsize=8192)
def _names(text: str) -> tuple[tuple[str, bool], ...]:
    """Names, and whether they are ones for sure: the others begin a sentence and act, as rain may too."""
    bare = without_quotations(text)
    found: list[tuple[str, bool]] = []
    for run in _runs(bare):
        front, after = bare[: run[0].at], bare[run[-1].end :]
        if _TITLE_OF.search(front) or _OF_TITLE.match(after):
            continue
        titled = run[0].key in TITLES and len(run) > 1
        is_sure = titled or not SENTENCE_START.search(front) or run[-1].possessive or _AND_NAME.match(after)
        first = run[0].key
        thing = first in en.NO_ARTICLE or first.endswith(("ing", "light", "thing", "body"))
        if is_sure or (_acts(after) and not thing):
            found += ((name, bool(is_sure)) for name in _name(run, bare))
    return tuple(found)


def _name(run: _Run, bare: str) -> Iterator[str]:
    """The name in a run, without titles; none in one with an abbreviation or with a word that is no name."""
    words = [bare[token.at : token.end] for token in run]
    none = [word in NO_NAMES or word.startswith(("I'", "I’")) for word in words]
    first = sum(1 for _ in takewhile(lambda i: none[i] or run[i].key in TITLES, range(len(run))))
    if words[first:] and not any(none[first:]) and not any(map(str.isupper, words[first:])):
        yield bare[run[first].at : run[-1].end]


Known = Callable[[str], bool]
"""Whether a word, in small letters, is known to whoever asks."""

_PLACED = listed(
    "in into inside within across through throughout over above below under underneath outside around near "
    "beyond along on onto via aboard of enter enters entering leaves surrounding"
)
"""A name after one of these is mostly that of a place or a thing, unless it owns what follows."""

_BEING = listed("is are back arrive arrives appear appears stay stays stop stops meet meets live lives works")
"""Before ``at`` and a place."""

_BODY = listed_in("what_people_have")
"""What people have; ``London's`` is followed by other things."""

_THINGS = listed_in("nouns_of_names")
"""Words of names of places, makes and bodies."""

_KIN = listed(
    "dad daddy mom mommy mum mummy mama papa pa ma son kid boss chef medic security cowboy santa yeti orc"
)
"""Words that stand for a name, but are of anybody."""

_PLACES = listed_in("places")

_NEVER = _THINGS | _KIN | _PLACES | en.FUNCTION_WORDS | SENTENCE_STARTERS

_READ_OUT = re.compile(
    r"\b(?:reads?|reading|says|spells?|spelling|words?|headline|message|label|motto|logo|titles?|caption|"
    r"subtitles?|writes|signs?)\b,? ?(?=[A-Z\d])[^.!?]*"
)
"""What is read from the screen and stands in no quotation marks: ``A sign reads, Dos Cabezas, Arizona.``"""


def people_named(text: str, known: Known = lambda key: False) -> tuple[tuple[int, int], ...]:
    """Spans of names that are, for all that stands around them, of people; those with a known word are not.

    A name is one that acts (``Ann smiles``), owns what people have (``Ann's hand``), has a title, or is acted
    on (``looks at Ann``). Not taken are names behind an article or another determiner, behind prepositions of
    place, before a noun (``Coke can``), those with a word of places or makes, and abbreviations. A word that
    begins a sentence is a name only where it acts or owns, and no word of the language as far as known here.
    Text in quotation marks is not looked at.
    """
    bare = _READ_OUT.sub(lambda match: " " * len(match[0]), without_quotations(text))
    found: list[tuple[int, int]] = []
    for run in _runs(bare):
        # Without the word that has its capital letter from the sentence it begins.
        begins = len(run) > 1 and SENTENCE_START.search(bare[: run[0].at]) and _is_word(run[0].key)
        name = run[1:] if begins else run
        if not any(known(token.key) for token in name) and _is_person(name, bare):
            found.append((name[0].at, name[-1].end))
    return tuple(found)


def _is_person(run: _Run, bare: str) -> bool:
    front, after = bare[: run[0].at], bare[run[-1].end :]
    core = [token.key for token in run if token.key not in TITLES]
    if (
        not core
        or any(key in _NEVER or key.capitalize() in NO_NAMES for key in core)
        or not all(_spelt_out(token, bare) for token in run)
    ):
        return False
    if _TITLE_OF.search(front) or _OF_TITLE.match(after):
        return False
    if len(core) < len(run):
        return True
    if SENTENCE_START.search(front) and (len(core) == 1 or all(token.gap == "-" for token in run[1:])):
        return (core[0] in GIVEN_NAMES or not _is_word(core[0])) and (_owns(after) or _acts(after))
    # Up to four words in front, in the same clause.
    clause = re.split(r"[.,;:!?—–()\n]", front)[-1]
    before = [word.lower() for word in re.findall(r"[\w'’-]+", clause)[-4:]]
    if _follows_determiner(before) or _is_attribute(after):
        return False
    is_there = before[-1:] == ["at"] and before[-2:-1] and before[-2] in _BEING
    return _owns(after) or not before or not (is_there or before[-1] in _PLACED)


def _spelt_out(token: NameToken, bare: str) -> bool:
    """False for abbreviations, ``TV`` and ``FBI``, and for what holds a figure."""
    word = bare[token.at : token.end].rstrip(".")
    if "'" in word.replace("’", "'")[1:2]:
        return word[0] in "OD" and len(word) > 4
    return not ((word.isupper() and len(word) <= 4) or any(c.isdigit() for c in word))


def _is_word(key: str) -> bool:
    """Whether a word of the language, as far as known here, that may begin a sentence."""
    return (
        key in SENTENCE_STARTERS | en.NO_ARTICLE | en.IRREGULAR_PLURALS | en.SAYING_WHEN | WORD_NAMES
        or key in en.LEMMAS
        or key in en.ADJECTIVES
        or key.endswith(("ing", "light", "thing", "body", "ly", "ness", "ment", "tion"))
    )


def _follows_determiner(before: list[str]) -> bool:
    """``the Bronx``, ``a black Mercedes``, ``her friend Ann``: articles and possessives with adjectives."""
    for i in reversed(range(len(before))):
        word = before[i]
        if word in en.DETERMINERS or word.endswith(("'s", "’s")):
            return True
        if word.endswith(("ing", "ed")):
            return i > 0 and before[i - 1] in en.DETERMINERS
        if word in en.FUNCTION_WORDS or word in en.THIRD_PERSON_VERBS:
            return False
    return False


def _owns(after: str) -> bool:
    owned = re.match(r"['’]s? ((?:\w+ ){0,2}\w+)", after)
    return owned is not None and any(word in _BODY for word in owned[1].lower().split())


def _acts(after: str) -> bool:
    """``slowly turns away``, ``and Olga walk on``; not ``Coloured lights reflect``."""
    several = re.match(r" and (?:the )?[A-Z][\w'’-]+(?= )", after)
    words = re.findall(r"[\w'’-]+|[^\w\s]", after[several.end() if several else 0 :])[:4]
    if words[:1] == [","]:
        del words[0]
    while words and (words[0].endswith("ly") or words[0] in en.ADVERBS):
        del words[0]
    if not words:
        return False
    noun = words[0] in en.NOUNS_TOO and words[1:2] and words[1] in en.LEMMAS and not words[1].endswith("ing")
    return not noun and (words[0] in en.THIRD_PERSON_VERBS or (several is not None and words[0] in en.LEMMAS))


def _is_attribute(after: str) -> bool:
    """``Coke can``, ``Nazi soldiers``: a noun follows."""
    word = re.match(r"[ ]([a-zà-ÿ][\w-]*)", after)
    if word is None:
        return False
    return not (word[1] in _NO_NOUNS or word[1] in en.LEMMAS or word[1].endswith(("ly", "ing", "ed")))


_NO_NOUNS = en.FUNCTION_WORDS | en.ADVERBS | listed("is are has also")

_AND_NAME = re.compile(r" and [A-Z]")
_TITLE_OF, _OF_TITLE = re.compile(r"(?<!\w)[A-Z]\w+ of (?:the )?\Z"), re.compile(r" of (?:the )?[A-Z]")
"""``Tears of Steel``: names that ``of`` joins are a title or a place."""


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
    """All words of all names of the cast, as `name_keys` gives them."""
    return _index_of(tuple(cast))[1].words


def _found(bare: str, text: str, cast: Sequence[Character]) -> Iterator[CastMention]:
    """Names in ``bare``, which is ``text`` with a part of it blanked out."""
    members, names, literal = _index_of(tuple(cast))
    secret = {place for place, member in enumerate(members) if member.forms[0].secret}
    line = tokens_of(bare)
    spans = []
    for match in literal.finditer(bare):
        whole = (place for place, form in names.forms.get(name_keys(match[0]), ()) if form.whole)
        spans.append((match.start(), match.end(), tuple(whole)))
    for mention in find_mentions(line, members, names) if members else ():
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
            keys = name_keys(name)
            word = not keys or len(keys[0]) < 3 or keys[0] in WORD_NAMES | TITLES | SENTENCE_STARTERS
            if len(keys) > 1 or (name == one.hidden[0] and not word):
                literal.append(_pattern(name.lower()))
    pattern = re.compile("|".join(sorted(literal, key=len, reverse=True)))
    return tuple(members), index_names(members, ()), pattern


def _forms(name: str, one: Character, secret: bool) -> Iterator[Form]:
    """The name in full, and what may stand for it: some of its words, not only titles and initials."""
    keys = name_keys(name)
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
    words = name_keys(name)
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
