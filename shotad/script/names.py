"""Names in lines: of anybody, in English, and of a film's cast; and the rules on names, L7 and L8.

`names_in` reads the names in use from lines and from the user's note. `people_named` tells names of people
from those of places, makes and titles by the words around them; rather one too few than one too many.

`cast_mentions` finds the cast as `shotad.script.line_mentions` does, so that a part of somebody else's longer
name (``Mary Smith`` where the cast has ``Celia Smith``) or of a thing's (``Smith Street``) is not taken for
it. Text in quotation marks is not searched, but names that may not be said yet are found there too, unless
the text is read from the screen, and in small letters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import combinations

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
    continues_name,
    find_mentions,
    index_names,
    precedes_name_part,
    tokens_of,
)
from shotad.script.rules import Finding, Level, quotations, without_quotations

SENTENCE_START = re.compile(r"(?:\A|[.!?…:])[\s\"“”'‘’(\[*•–—-]*\Z|\n(?:[^\S\n]|[\"“”'‘’(\[*•–—-])*\Z")

_Run = tuple[NameToken, ...]
"""Words with a capital letter side by side."""


def _runs(text: str) -> Iterator[_Run]:
    """The runs of a text; a full stop ends one where it ends a sentence, and not a title."""
    line = tokens_of(text)
    run: list[NameToken] = []
    for position, token in enumerate(line):
        is_capital = token.text[0].isupper()
        if run and not (is_capital and continues_name(line, position)):
            yield tuple(run)
            run = []
        if is_capital and (run or token.gap != "-"):
            run.append(token)
    if run:
        yield tuple(run)


def quotations_only(text: str) -> str:
    """``text`` with blanks for all but the quotations that are not read from the screen.

    >>> quotations_only("'Ann' waves; a sign reads 'Bo'.").strip()
    'Ann'
    """
    letters = [" "] * len(text)
    for start, end in quotations(text):
        is_read = _BEFORE_READ_TEXT.search(text[:start]) or _AFTER_READ_TEXT.match(text[end:])
        if not is_read:
            letters[start + 1 : end - 1] = text[start + 1 : end - 1]
    return "".join(letters)


_BEFORE_READ_TEXT = re.compile(
    r"\b(?:reads?|reading|spells?|spelling|words?|headlines?|messages?|labels?|labell?ed|motto|logo|titles?|"
    r"titled|captions?|subtitles?|credits?|writes?|written|signs?|signed|signature|marked|text|letters|"
    r"lettering|inscriptions?|inscribed|engraved|printed|(?:name)?plates?|name ?tags?|badge|poster|"
    r"card|cover|tombstone|gravestone|screen)\b[^.!?\"“”]*\Z",
    re.IGNORECASE,
)
"""Stands before text that is read from the screen, in the same sentence."""
_AFTER_READ_TEXT = re.compile(
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
    candidates = [name for name, is_sure in _names(note) if is_sure]
    for entry in _ENTRY.findall(note):
        for run in _runs(entry):
            candidates += _name(run, entry)
    candidates.sort(key=note.find)
    # In how many lines each name acts that is not sure.
    lines_with_name: Counter[str] = Counter()
    for line in lines:
        lines_with_name.update({name for name, is_sure in _names(line) if not is_sure})
    for line in reversed(lines):
        candidates += [name for name, is_sure in _names(line) if is_sure or lines_with_name[name] > 1]
    names: list[str] = []
    for name in dict.fromkeys(candidates):
        if not any(set(name.split()) <= set(longer_name.split()) for longer_name in names):
            names.append(name)
    return tuple(names)


@lru_cache(maxsize=8192)
def _names(text: str) -> tuple[tuple[str, bool], ...]:
    """Names, and whether they are ones for sure: the others begin a sentence and act, as rain may too."""
    unquoted_text = without_quotations(text)
    names: list[tuple[str, bool]] = []
    for run in _runs(unquoted_text):
        before, after = unquoted_text[: run[0].start], unquoted_text[run[-1].end :]
        if _BEFORE_TITLE_PART.search(before) or _AFTER_TITLE_PART.match(after):
            continue
        has_title = run[0].key in TITLES and len(run) > 1
        is_mid_sentence = not SENTENCE_START.search(before)
        is_joined_to_name = _AND_NAME.match(after) is not None
        is_sure = has_title or is_mid_sentence or run[-1].possessive or is_joined_to_name
        first_word = run[0].key
        is_thing = first_word in en.NO_ARTICLE or first_word.endswith(("ing", "light", "thing", "body"))
        if is_sure or (_goes_on_with_verb(after) and not is_thing):
            names += [(name, is_sure) for name in _name(run, unquoted_text)]
    return tuple(names)


def _name(run: _Run, text: str) -> Iterator[str]:
    """The name in a run, without titles; none in one with an abbreviation or with a word that is no name."""
    words = [text[token.start : token.end] for token in run]
    is_no_name = [word in NO_NAMES or word.startswith(("I'", "I’")) for word in words]
    first = 0
    while first < len(run) and (is_no_name[first] or run[first].key in TITLES):
        first += 1
    name_words = words[first:]
    if name_words and not any(is_no_name[first:]) and not any(map(str.isupper, name_words)):
        yield text[run[first].start : run[-1].end]


IsKnownWord = Callable[[str], bool]
"""Whether a word, in small letters, is one that the caller knows."""

_BEFORE_PLACES = listed(
    "in into inside within across through throughout over above below under underneath outside around near "
    "beyond along on onto via aboard of enter enters entering leaves surrounding"
)
"""A name after one of these is mostly that of a place or a thing, unless it owns what follows."""

_VERBS_OF_STAYING = listed(
    "is are back arrive arrives appear appears stay stays stop stops meet meets live lives works"
)
"""Before ``at`` and a place."""

_POSSESSIONS = listed_in("what_people_have")
"""What people have; ``London's`` is followed by other things."""

_NOUNS_OF_NAMES = listed_in("nouns_of_names")
"""Words of names of places, makes and bodies."""

_WORDS_LIKE_NAMES = listed(
    "dad daddy mom mommy mum mummy mama papa pa ma son kid boss chef medic security cowboy santa yeti orc"
)
"""Words that stand for a name, but are of anybody."""

_PLACES = listed_in("places")

_NEVER_IN_NAMES = _NOUNS_OF_NAMES | _WORDS_LIKE_NAMES | _PLACES | en.FUNCTION_WORDS | SENTENCE_STARTERS

_READ_WITHOUT_QUOTES = re.compile(
    r"\b(?:reads?|reading|says|spells?|spelling|words?|headline|message|label|motto|logo|titles?|caption|"
    r"subtitles?|writes|signs?)\b,? ?(?=[A-Z\d])[^.!?]*"
)
"""What is read from the screen and stands in no quotation marks: ``A sign reads, Dos Cabezas, Arizona.``"""


def people_named(text: str, is_known: IsKnownWord = lambda key: False) -> tuple[tuple[int, int], ...]:
    """Half-open spans of names that, by the words around them, are of people; not those with a known word.

    A name is one that acts (``Ann smiles``), owns what people have (``Ann's hand``), has a title, or is acted
    on (``looks at Ann``). Not taken are names behind an article or another determiner, behind prepositions of
    place, before a noun (``Coke can``), those with a word of places or makes, and abbreviations. A word that
    begins a sentence is a name only where it acts or owns, and no word of the language as far as known here.
    Text in quotation marks is not looked at.
    """
    text_to_search = without_quotations(text)
    text_to_search = _READ_WITHOUT_QUOTES.sub(lambda match: " " * len(match[0]), text_to_search)
    spans: list[tuple[int, int]] = []
    for run in _runs(text_to_search):
        before = text_to_search[: run[0].start]
        # A word that begins the sentence may have its capital letter from there: ``Then Ann smiles``.
        begins_with_word = len(run) > 1 and SENTENCE_START.search(before) and _is_word(run[0].key)
        name = run[1:] if begins_with_word else run
        if not any(is_known(token.key) for token in name) and _is_person(name, text_to_search):
            spans.append((name[0].start, name[-1].end))
    return tuple(spans)


def _is_person(run: _Run, text: str) -> bool:
    """Whether a run of ``text`` is the name of a person; see `people_named` for the rules."""
    before, after = text[: run[0].start], text[run[-1].end :]
    name_words = [token.key for token in run if token.key not in TITLES]
    if not name_words or not all(_is_spelt_out(token, text) for token in run):
        return False
    if any(word in _NEVER_IN_NAMES or word.capitalize() in NO_NAMES for word in name_words):
        return False
    if _BEFORE_TITLE_PART.search(before) or _AFTER_TITLE_PART.match(after):
        return False
    has_title = len(name_words) < len(run)
    if has_title:
        return True
    is_one_word = len(name_words) == 1 or all(token.gap == "-" for token in run[1:])
    if is_one_word and SENTENCE_START.search(before):
        may_be_name = name_words[0] in GIVEN_NAMES or not _is_word(name_words[0])
        return may_be_name and (_owns(after) or _goes_on_with_verb(after))
    # Up to four words in front, in the same clause.
    clause = re.split(r"[.,;:!?—–()\n]", before)[-1]
    words_before = [word.lower() for word in re.findall(r"[\w'’-]+", clause)[-4:]]
    if _follows_determiner(words_before) or _precedes_noun(after):
        return False
    if _owns(after) or not words_before:
        return True
    # ``She lives at Tara``: a place. ``She looks at Tara``: a person.
    is_at_place = len(words_before) > 1 and words_before[-1] == "at" and words_before[-2] in _VERBS_OF_STAYING
    return not (is_at_place or words_before[-1] in _BEFORE_PLACES)


def _is_spelt_out(token: NameToken, text: str) -> bool:
    """False for abbreviations, ``TV`` and ``FBI``, and for what holds a figure."""
    word = text[token.start : token.end].rstrip(".")
    # An apostrophe behind the first letter is that of O'Brien or D'Arcy.
    if word[1:2] in ("'", "’"):
        return word[0] in "OD" and len(word) > 4
    is_abbreviation = word.isupper() and len(word) <= 4
    return not is_abbreviation and not any(char.isdigit() for char in word)


def _is_word(key: str) -> bool:
    """Whether a word of the language, as far as known here, that may begin a sentence."""
    return (
        key in SENTENCE_STARTERS | en.NO_ARTICLE | en.IRREGULAR_PLURALS | en.SAYING_WHEN | WORD_NAMES
        or key in en.LEMMAS
        or key in en.ADJECTIVES
        or key.endswith(("ing", "light", "thing", "body", "ly", "ness", "ment", "tion"))
    )


def _follows_determiner(words_before: list[str]) -> bool:
    """``the Bronx``, ``a black Mercedes``, ``her friend Ann``: articles and possessives with adjectives."""
    for position in reversed(range(len(words_before))):
        word = words_before[position]
        if word in en.DETERMINERS or word.endswith(("'s", "’s")):
            return True
        # A participle is an adjective only directly behind a determiner: ``the waiting Ann``.
        if word.endswith(("ing", "ed")):
            return position > 0 and words_before[position - 1] in en.DETERMINERS
        if word in en.FUNCTION_WORDS or word in en.THIRD_PERSON_VERBS:
            return False
    return False


def _owns(after: str) -> bool:
    """Whether the text behind a name goes on with what people have: ``'s left hand``."""
    owned = re.match(r"['’]s? ((?:\w+ ){0,2}\w+)", after)
    return owned is not None and any(word in _POSSESSIONS for word in owned[1].lower().split())


def _goes_on_with_verb(after: str) -> bool:
    """Whether the text behind a name says what is done: ``slowly turns away``, ``and Olga walk on``.

    Not ``reflect`` behind ``Coloured lights``.
    """
    second_name = re.match(r" and (?:the )?[A-Z][\w'’-]+(?= )", after)
    words = re.findall(r"[\w'’-]+|[^\w\s]", after[second_name.end() if second_name else 0 :])[:4]
    if words[:1] == [","]:
        del words[0]
    while words and (words[0].endswith("ly") or words[0] in en.ADVERBS):
        del words[0]
    if not words:
        return False
    verb = words[0]
    # ``lights reflect``: a form in -s before another verb is a noun.
    following = words[1] if len(words) > 1 else ""
    if verb in en.NOUNS_TOO and following in en.LEMMAS and not following.endswith("ing"):
        return False
    return verb in en.THIRD_PERSON_VERBS or (second_name is not None and verb in en.LEMMAS)


def _precedes_noun(after: str) -> bool:
    """``Coke can``, ``Nazi soldiers``: a noun follows."""
    word = re.match(r"[ ]([a-zà-ÿ][\w-]*)", after)
    if word is None:
        return False
    return not (word[1] in _NO_NOUNS or word[1] in en.LEMMAS or word[1].endswith(("ly", "ing", "ed")))


_NO_NOUNS = en.FUNCTION_WORDS | en.ADVERBS | listed("is are has also")

_AND_NAME = re.compile(r" and [A-Z]")
_BEFORE_TITLE_PART = re.compile(r"(?<!\w)[A-Z]\w+ of (?:the )?\Z")
_AFTER_TITLE_PART = re.compile(r" of (?:the )?[A-Z]")
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
    mentions = list(_mentions_in(without_quotations(text), text, cast))
    if any(member.forms[0].is_secret for member in _index_of(tuple(cast))[0]):
        mentions += [mention for mention in _mentions_in(quotations_only(text), text, cast) if mention.hidden]
    return tuple(sorted(mentions, key=lambda mention: mention.start))


def words_of(cast: Sequence[Character]) -> frozenset[str]:
    """All words of all names of the cast, as `name_keys` gives them."""
    return _index_of(tuple(cast))[1].words


def _mentions_in(text_to_search: str, text: str, cast: Sequence[Character]) -> Iterator[CastMention]:
    """Names in ``text_to_search``, which is ``text`` with a part of it blanked out."""
    members, index, literal_names = _index_of(tuple(cast))
    secret_places = {place for place, member in enumerate(members) if member.forms[0].is_secret}
    line = tokens_of(text_to_search)
    # Start, end and the positions of those in the cast whose name it may be.
    spans: list[tuple[int, int, tuple[int, ...]]] = []
    for match in literal_names.finditer(text_to_search):
        owners = index.forms.get(name_keys(match[0]), ())
        places = tuple(place for place, form in owners if form.is_full)
        spans.append((match.start(), match.end(), places))
    for mention in find_mentions(line, members, index) if members else ():
        if mention.kind != "cast":
            continue
        has_article = line[mention.start].key == "the" and not mention.key.startswith("the ")
        end_token = mention.end
        # A secret name is told by the beginning of a longer name too.
        if secret_places.issuperset(mention.members):
            while precedes_name_part(line, end_token, index):
                end_token += 1
        last = line[end_token - 1]
        start, end = line[mention.start + has_article].start, last.end
        # It ends behind the full stop of ``T.J.`` where no sentence ends with it.
        has_initials = len(last.key) == 1 or "." in last.text
        if has_initials and re.match(r"\.(?=[,;:'’]| [^\W_A-Z])", text_to_search[end:]):
            end += 1
        if not any(start < other_end and other_start < end for other_start, other_end, _ in spans):
            spans.append((start, end, mention.members))
    for start, end, places in spans:
        # A name that several have says of none that they are meant.
        if len({members[place].name for place in places}) == 1:
            character_id = members[places[0]].name
            yield CastMention(character_id, start, end, text[start:end], secret_places.issuperset(places))


@lru_cache(maxsize=512)
def _index_of(cast: tuple[Character, ...]) -> tuple[tuple[Member, ...], NameIndex, re.Pattern[str]]:
    """All names of a cast. Somebody's names that may not be said are those of a member of their own.

    The pattern is of names with other words in small letters, or letters that are neither small nor capital;
    of those that may not be said the spelling in small letters too, where that is no word.
    """
    members: list[Member] = []
    # Matches nothing, where the cast has no such name.
    literal_names: list[str] = [r"(?!)"]
    for character in cast:
        open_names = (character.called, character.full, *character.others) if character.named else ()
        for names, is_secret in ((open_names, False), (character.hidden, True)):
            forms: dict[Form, None] = {}
            for name in names:
                forms |= dict.fromkeys(_forms_of_name(name, character, is_secret))
                words = [word for word in name.split() if word not in PARTICLES]
                if not all(word[0].isupper() or word[0].isdigit() for word in words):
                    literal_names.append(_literal_pattern(name))
            if forms:
                # Whose pronoun is not known is neither Mr. nor Mrs.: that may be a wife or a husband.
                pronoun = character.pronoun.lower() or "unknown"
                members.append(Member(character.id, tuple(forms), pronoun))
        for name in character.hidden:
            # In small letters too: the first, unless it is a word, and longer ones.
            keys = name_keys(name)
            is_word = not keys or len(keys[0]) < 3 or keys[0] in WORD_NAMES | TITLES | SENTENCE_STARTERS
            if len(keys) > 1 or (name == character.hidden[0] and not is_word):
                literal_names.append(_literal_pattern(name.lower()))
    pattern = re.compile("|".join(sorted(literal_names, key=len, reverse=True)))
    return tuple(members), index_names(members, ()), pattern


def _forms_of_name(name: str, character: Character, is_secret: bool) -> Iterator[Form]:
    """The name in full, and what may stand for it: some of its words, not only titles and initials."""
    keys = name_keys(name)
    telling_words = {word for word in keys if word not in TITLES | PARTICLES and len(word) > 1}
    if "doctor" in keys:
        yield Form(("doc",), False, is_secret=is_secret)
    for size in range(len(keys), 0, -1):
        for part in combinations(keys, size):
            is_full = part == keys
            is_telling = bool(telling_words & set(part)) and part[-1] not in PARTICLES
            if is_telling or (is_full and not PARTICLES.issuperset(part)):
                is_sure = is_full and (is_secret or name == character.called)
                yield Form(part, is_full, is_sure=is_sure, is_secret=is_secret)


def _literal_pattern(name: str) -> str:
    """A pattern of a name as it is written; in scripts without spaces (from U+2E80 on) with any letters
    beside it."""
    words = r"\s+".join(re.escape(word) for word in name.split())
    if any(char >= "\u2e80" for char in name):
        return words
    any_article = re.sub(r"\A[Tt]he(?=\\s)", "[Tt]he", words)
    return rf"(?<![\w'’-]){any_article}(?![\w-])"


CastAt = Callable[[float], Sequence[Character]]
"""Everybody of the cast as they may be spoken of at a second of the film."""

FindPeople = Callable[[str, Callable[[str], bool]], Sequence[tuple[int, int]]]
"""Spans of a line that are names of people, without those that have a known word (in small letters)."""

_MIN_SIMILARITY = 0.75
"""Of an unknown name to one of the cast, from which that one may be meant (`difflib`)."""


def check_names(
    lines: Sequence[tuple[float, str]], cast_at: CastAt, find_people: FindPeople | None = None
) -> tuple[tuple[Finding, ...], ...]:
    """What is wrong with the names of a track: findings of each of ``lines`` (start second, text).

    L7, an error: somebody is named before the film reveals it, or (with ``find_people``, which finds names
    of people in the line's language) a name is nobody's of the cast. L8, a warning: somebody has another
    name than in most lines; a longer name that holds the usual one is no fault where they are first named.
    An empty cast knows nobody, and nothing is found.
    """
    casts = [tuple(cast_at(second)) for second, _ in lines]
    mentions_of_lines = [cast_mentions(text, cast) for (_, text), cast in zip(lines, casts, strict=True)]
    usual_names = _usual_names(mentions_of_lines, casts)
    named_before: set[str] = set()
    findings_of_lines: list[tuple[Finding, ...]] = []
    for (_, text), cast, mentions in zip(lines, casts, mentions_of_lines, strict=True):
        findings: list[Finding] = []
        for mention in mentions:
            if mention.hidden:
                message = f"named before the film reveals it: {mention.text!r}"
                findings.append(Finding("L7", Level.ERROR, message, span=(mention.start, mention.end)))
        if find_people is not None and cast:
            names = [character.called for character in cast if character.named]
            for start, end in find_people(text, words_of(cast).__contains__):
                similar = get_close_matches(text[start:end], names, 1, _MIN_SIMILARITY)
                question = f"; is it {similar[0]!r}?" if similar else ""
                message = f"not in the cast: {text[start:end]!r}{question}"
                findings.append(Finding("L7", Level.ERROR, message, span=(start, end)))
        findings += _check_usual_names(mentions, usual_names, named_before)
        findings_of_lines.append(tuple(findings))
        named_before |= {mention.id for mention in mentions}
    return tuple(findings_of_lines)


def _usual_names(
    mentions_of_lines: Sequence[Sequence[CastMention]], casts: Sequence[Sequence[Character]]
) -> dict[str, str]:
    """By a character's id, what they are called most often; of equals the name to speak, then the first."""
    names_to_speak: dict[str, str] = {}
    for cast in casts:
        for character in cast:
            if character.named:
                names_to_speak[character.id] = _compared_name(character.called)
    counts: dict[str, Counter[str]] = {}
    for mentions in mentions_of_lines:
        for mention in mentions:
            if not mention.hidden:
                counts.setdefault(mention.id, Counter())[_compared_name(mention.text)] += 1
    usual_names: dict[str, str] = {}
    for character_id, times in counts.items():
        name_to_speak = names_to_speak.get(character_id)
        usual_names[character_id] = max(times, key=lambda name: (times[name], name == name_to_speak))
    return usual_names


def _compared_name(name: str) -> str:
    """A name as it is compared, without titles: ``Inspector Hubbard`` is no other name than ``Hubbard``."""
    words = name_keys(name)
    return " ".join([word for word in words if word not in TITLES] or words)


def _check_usual_names(
    mentions: Sequence[CastMention], usual_names: dict[str, str], named_before: set[str]
) -> list[Finding]:
    """L8 for the mentions of one line; ``named_before`` are the ids of characters in the lines before."""
    findings: list[Finding] = []
    already_named = set(named_before)
    for mention in mentions:
        if mention.hidden:
            continue
        name, usual_name = _compared_name(mention.text), usual_names[mention.id]
        is_introduced = mention.id not in already_named and set(usual_name.split()) <= set(name.split())
        if name != usual_name and not is_introduced:
            message = f"{mention.text!r} has another name in most lines: {usual_name.title()!r}"
            findings.append(Finding("L8", Level.WARNING, message, span=(mention.start, mention.end)))
        already_named.add(mention.id)
    return findings
