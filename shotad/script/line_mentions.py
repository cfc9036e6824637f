"""People in one line of AD: names of the cast, other names, nouns and pronouns. Pure logic.

Published AD texts were written down by speech recognition: the cast's Ronny is Ronnie there, Margot Margo. So
names that are spelt otherwise than in the cast list, by ear or shortened, are found too (`respell_names`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, takewhile
from typing import Literal

from shotad.core.cast import (
    HER_TITLES,
    HIS_TITLES,
    PARTICLES,
    SENTENCE_STARTERS,
    WORD_NAMES,
)
from shotad.script.cast_members import (
    GENERIC_NOUNS,
    GIVEN_NAMES,
    HE,
    HER_NAMES,
    HER_NOUNS,
    HIS_NAMES,
    HIS_NOUNS,
    IS_OR_DOES,
    NAME_FUNCTION_WORDS,
    PEOPLE_NOUNS,
    PLURAL_NOUNS,
    SHE,
    SHORTENED,
    THEY,
    TITLES,
    WORD,
    Form,
    Keys,
    Member,
    word_key,
)
from shotad.script.english_words import DETERMINERS
from shotad.script.rules import without_quotations

Kind = Literal["cast", "name", "noun", "group", "pronoun"]
_MAX_CAST_NAME_WORDS = 6
_NOT_IN_NAMES = TITLES | SENTENCE_STARTERS
_VERBS_AND_FUNCTION_WORDS = NAME_FUNCTION_WORDS | IS_OR_DOES


@dataclass(frozen=True, slots=True)
class Mention:
    """Somebody in a line: ``tokens[start:end]``, articles and titles included.

    ``members`` are the positions in the cast of those who may be meant (``cast``; more than one where a name
    is shared). ``key`` tells others apart: ``mike``, ``man``, or the pronoun. ``pronoun`` is ``he`` or
    ``she`` where the words say so.
    """

    kind: Kind
    start: int
    end: int
    key: str
    pronoun: str = ""
    members: tuple[int, ...] = ()
    possessive: bool = False


@dataclass(frozen=True, slots=True)
class NameIndex:
    """The names of a cast, and words of the film's lines that help to tell names from other words.

    ``forms``: by its words, whose a name is (positions in the cast) and as which form. ``words``: all words
    of these names. ``lower_case_words`` stand in small letters somewhere in the lines; ``acting_words`` are
    others that stand there like somebody's name; ``mid_sentence_words`` have a capital letter and begin no
    sentence.
    """

    forms: dict[Keys, tuple[tuple[int, Form], ...]]
    words: frozenset[str]
    lower_case_words: frozenset[str] = frozenset()
    acting_words: frozenset[str] = frozenset()
    mid_sentence_words: frozenset[str] = frozenset()


def index_names(cast: Sequence[Member], lines: Sequence[Sequence[NameToken]]) -> NameIndex:
    """The index of the names of a cast, for reading ``lines``."""
    forms: dict[Keys, list[tuple[int, Form]]] = {}
    for place, member in enumerate(cast):
        for form in member.forms:
            forms.setdefault(form.keys, []).append((place, form))
    words = frozenset(word for keys in forms for word in keys)
    lower_case_words: set[str] = set()
    mid_sentence_words: set[str] = set()
    acting_words: set[str] = set()
    acting_first_words: Counter[str] = Counter()
    for line in lines:
        for position, token in enumerate(line):
            if not token.is_capitalized:
                lower_case_words.add(token.key)
            elif not token.begins_sentence:
                mid_sentence_words.add(token.key)
                if token.possessive or is_followed_by_verb(line, position):
                    acting_words.add(token.key)
        if line and is_followed_by_verb(line, 0):
            acting_first_words[line[0].key] += 1
    # A line's first word has a capital letter anyway: it is a name where it stands as one elsewhere too, or
    # acts twice.
    for word, times in acting_first_words.items():
        is_name = word in mid_sentence_words or (times > 1 and word not in WORD_NAMES)
        if is_name and word not in lower_case_words:
            acting_words.add(word)
    return NameIndex(
        {keys: tuple(owners) for keys, owners in forms.items()},
        words,
        frozenset(lower_case_words),
        frozenset(acting_words) - PEOPLE_NOUNS,
        frozenset(mid_sentence_words),
    )


def find_mentions(line: Sequence[NameToken], cast: Sequence[Member], index: NameIndex) -> tuple[Mention, ...]:
    """Everybody in a line, in order; spans do not overlap."""
    mentions: list[Mention] = []
    position = 0
    while position < len(line):
        mention = (
            _pronoun_at(line, position)
            or _cast_name_at(line, position, cast, index, mentions)
            or _other_name_at(line, position, index)
            or _noun_at(line, position)
        )
        if mention is None:
            position += 1
        else:
            mentions.append(mention)
            position = mention.end
    return tuple(mentions)


def _pronoun_at(line: Sequence[NameToken], position: int) -> Mention | None:
    """The pronoun at ``position``, also in a short form: ``he's``."""
    word = line[position].text.lower().replace("’", "'")
    word = SHORTENED.get(word, word)
    for pronoun, forms in (("he", HE), ("she", SHE), ("they", THEY)):
        if word in forms:
            return Mention("pronoun", position, position + 1, word, pronoun)
    return None


def _cast_name_at(
    line: Sequence[NameToken],
    start: int,
    cast: Sequence[Member],
    index: NameIndex,
    earlier_mentions: Sequence[Mention],
) -> Mention | None:
    """The longest name of somebody of the cast that begins at ``start``."""
    if line[start].key not in index.words and line[start].key not in TITLES:
        return None
    previous_key = line[start - 1].key if start and continues_name(line, start) else ""
    for end in range(min(len(line), start + _MAX_CAST_NAME_WORDS), start, -1):
        if any(not continues_name(line, position) for position in range(start + 1, end)):
            continue
        keys = tuple(token.key for token in line[start:end])
        forms = index.forms.get(keys, ())
        if keys not in index.forms and keys[0] in TITLES:
            # Its titles may be others than in the cast.
            name_without_titles = tuple(dropwhile(TITLES.__contains__, keys))
            forms = tuple(
                (place, form) for place, form in index.forms.get(name_without_titles, ()) if not form.is_role
            )
        titles_pronoun = _pronoun_of_title((previous_key, *keys))
        owners: list[tuple[int, Form]] = []
        for place, form in forms:
            if not _is_written_like(form, line, start, end, earlier_mentions, index):
                continue
            # A title does not speak against somebody whose own title says she or he.
            is_own_title = form.keys == keys and keys[0] in TITLES
            if is_own_title or not titles_pronoun or cast[place].pronoun in ("", titles_pronoun):
                owners.append((place, form))
        if not owners:
            continue
        is_secret = any(form.is_secret for _, form in owners)
        # A secret name is found even as a part of a longer name, unless its one word is common or short.
        is_telling_word = len(keys[0]) > 2 and keys[0] not in WORD_NAMES | _NOT_IN_NAMES
        is_told_by_part = is_secret and (end - start > 1 or is_telling_word)
        if not is_told_by_part and _follows_name_part(line, start, index):
            continue
        if not is_secret and precedes_name_part(line, end, index):
            continue
        with_full_name = [place for place, form in owners if form.is_full]
        places = tuple(dict.fromkeys(with_full_name or [place for place, _ in owners]))
        has_article = start > 0 and line[start - 1].key == "the"
        return Mention(
            "cast",
            start - has_article,
            end,
            " ".join(keys),
            _pronoun_of_title(keys),
            places,
            line[end - 1].possessive,
        )
    return None


def continues_name(line: Sequence[NameToken], position: int) -> bool:
    """Whether a word may go on with the name before it: ``Anne-Marie``, ``Dr. Brown``, ``John H. Watson``."""
    token = line[position]
    return not token.begins_sentence and token.gap in (" ", "-", ". ") and not line[position - 1].possessive


def _is_written_like(
    form: Form,
    line: Sequence[NameToken],
    start: int,
    end: int,
    earlier_mentions: Sequence[Mention],
    index: NameIndex,
) -> bool:
    """Whether the words ``line[start:end]`` are written as ``form`` is: with capitals, or a known role."""
    token = line[start]
    if all(word.is_capitalized or word.key in PARTICLES for word in line[start:end]):
        if not token.begins_sentence or end - start > 1:
            return True
        # It begins a sentence: a name, or a word that has its capital letter from there.
        is_word = token.key in index.lower_case_words or (
            token.key in WORD_NAMES and token.key not in index.mid_sentence_words
        )
        if form.is_sure or (not form.is_role and not is_word):
            return True
        following = line[start + 1] if start + 1 < len(line) else None
        if token.possessive or is_followed_by_verb(line, start):
            return True
        if following is None or following.begins_sentence or "," in following.gap:
            return True
        if following.key == "and" and start + 2 < len(line) and line[start + 2].is_capitalized:
            return True
    is_lower_case_role = form.is_role and form.may_be_lower_case
    return is_lower_case_role and _is_known_person(line, start, end, earlier_mentions)


def _is_known_person(
    line: Sequence[NameToken], start: int, end: int, earlier_mentions: Sequence[Mention]
) -> bool:
    """Whether words in small letters mean somebody whom one knows: ``the judge``, ``the man and boy``."""
    if start == 0 or line[start].gap != " " or line[start].begins_sentence:
        return False
    previous = earlier_mentions[-1] if earlier_mentions else None
    is_joined = line[start - 1].key == "and" and previous is not None and previous.end == start - 1
    is_joined_to_cast = is_joined and previous is not None and previous.kind == "cast"
    if line[start - 1].key != "the" and not is_joined_to_cast:
        return False
    following = line[end] if end < len(line) and line[end].gap == " " else None
    if following is None:
        return True
    # ``the man in black``: one is told apart by what follows, and not known by the noun.
    if line[end - 1].key in GENERIC_NOUNS and following.key in ("in", "with", "who", "whose", "from"):
        return False
    return is_joined or not _is_attribute(line, end)


def _is_attribute(line: Sequence[NameToken], end: int) -> bool:
    """Whether the word before ``end`` only says what kind of thing follows: ``the guard tower``."""
    if end >= len(line) or line[end].gap not in (" ", "-"):
        return False
    following = line[end]
    if following.begins_sentence or line[end - 1].possessive:
        return False
    if following.gap == "-":
        return True
    may_be_verb = following.key in _VERBS_AND_FUNCTION_WORDS or following.key.endswith(
        ("s", "ing", "ed", "ly")
    )
    return not may_be_verb and not following.is_capitalized


def precedes_name_part(line: Sequence[NameToken], end: int, index: NameIndex) -> bool:
    """Whether the word at ``end`` makes another name of the one before it: ``Smith Street``."""
    following = line[end] if end < len(line) else None
    if following is None or not following.is_capitalized or following.begins_sentence:
        return False
    if following.gap not in (" ", "-") or line[end - 1].possessive:
        return False
    return following.gap == "-" or following.key not in index.words | TITLES


def _follows_name_part(line: Sequence[NameToken], start: int, index: NameIndex) -> bool:
    """Whether the word before makes another name of it: ``Mary Smith`` where the cast has Celia Smith."""
    if start == 0 or line[start].begins_sentence or line[start].gap not in (" ", "-"):
        return False
    previous = line[start - 1]
    if not previous.is_capitalized or previous.possessive or previous.key in _NOT_IN_NAMES:
        return False
    if previous.key in index.words:
        return line[start].gap == "-"
    # A word that begins a sentence may have its capital letter from there.
    return not previous.begins_sentence or previous.key in GIVEN_NAMES or previous.key in index.acting_words


def _pronoun_of_title(keys: Keys) -> str:
    """``he`` or ``she`` by the first title that says so; empty without one. The last word is no title."""
    for word in keys[:-1]:
        if word in HIS_TITLES | HER_TITLES:
            return "he" if word in HIS_TITLES else "she"
    return ""


_MAX_OTHER_NAME_WORDS = 12
"""Of somebody who is not in the cast, titles included."""


def _other_name_at(line: Sequence[NameToken], start: int, index: NameIndex) -> Mention | None:
    """The name at ``start`` of somebody who is not in the cast."""
    token = line[start]
    if not token.is_capitalized or token.text[0].isdigit():
        return None
    if token.key in SENTENCE_STARTERS or token.text == "I":
        return None
    end = start + 1
    # In a line in capitals every word would be read as often as there are words before it.
    limit = min(len(line), start + _MAX_OTHER_NAME_WORDS)
    while end < limit and line[end].is_capitalized and continues_name(line, end):
        if line[end].key in index.words:
            break
        end += 1
    keys = tuple(token.key for token in line[start:end])
    without_titles = [word for word in keys if word not in TITLES] or list(keys)
    first = without_titles[0]
    acts_or_owns = token.possessive or is_followed_by_verb(line, end - 1)
    may_be_word = first in WORD_NAMES and token.begins_sentence and not acts_or_owns
    is_given_name = first in GIVEN_NAMES and not may_be_word
    names_in_lines = index.acting_words - index.words
    is_name_in_lines = (
        any(word in names_in_lines for word in without_titles) and first not in index.lower_case_words
    )
    has_title = len(without_titles) < len(keys)
    if not (is_given_name or is_name_in_lines or has_title):
        return None
    pronoun = _pronoun_of_title(keys)
    if not pronoun:
        pronoun = "he" if first in HIS_NAMES else "she" if first in HER_NAMES else ""
    return Mention("name", start, end, without_titles[-1], pronoun, possessive=line[end - 1].possessive)


_MAX_DETERMINER_DISTANCE = 4
"""Words from a determiner to its noun: ``the big old angry man``."""


def _noun_at(line: Sequence[NameToken], position: int) -> Mention | None:
    """``a young man``, ``the others``, ``his wife``: ``position`` is that of the noun."""
    token = line[position]
    word = token.key
    if word not in PEOPLE_NOUNS or (token.is_capitalized and not token.begins_sentence):
        return None
    # Back to a determiner or somebody's possessive; a comma or the like ends the search.
    start, has_determiner = position, False
    for before in range(position - 1, max(position - 1 - _MAX_DETERMINER_DISTANCE, -1), -1):
        is_determiner = line[before].key in DETERMINERS
        if is_determiner or line[before].possessive:
            # The mention begins after somebody's name: ``Ann's | brother``.
            start, has_determiner = before + line[before].possessive, True
            break
        if line[before + 1].gap != " ":
            break
    if word in PLURAL_NOUNS:
        is_possessive = token.text.endswith(("'", "’"))
        return Mention("group", start, position + 1, word, "they", possessive=is_possessive)
    if _is_attribute(line, position + 1):
        return None
    if not has_determiner and not (token.begins_sentence and is_followed_by_verb(line, position)):
        return None
    pronoun = "he" if word in HIS_NOUNS else "she" if word in HER_NOUNS else ""
    return Mention("noun", start, position + 1, word, pronoun, possessive=token.possessive)


_IRREGULAR_SHORT_NAMES = {
    "andrew": "drew", "anthony": "tony", "antonio": "tony", "catherine": "kate kathy katie cathy",
    "charles": "chuck", "edward": "ted teddy ned", "eugene": "gene",
    "elizabeth": "liz lizzie beth betty betsy bess", "francis": "frank", "harold": "harry hal",
    "henry": "harry hank", "james": "jim jimmy jamie", "jonathan": "jon", "joseph": "joe joey",
    "katherine": "kate kathy katie kitty", "laurence": "larry", "lawrence": "larry", "leonard": "lenny",
    "margaret": "meg maggie peggy marge", "mary": "molly", "michael": "mike mick mickey", "mohamed": "mo",
    "nicholas": "nick nicky", "patricia": "trish patsy", "richard": "dick rick ricky",
    "robert": "bob bobby rob robbie", "sarah": "sally", "theodore": "ted teddy", "thomas": "tom tommy",
    "victoria": "vicky", "william": "bill billy will willy",
}  # fmt: skip
"""Short names that are not the beginning of the long one."""
_SOUNDS = (
    (r"(?<=[aeiouy])t$(?<=ot)", ""), (r"ph|v", "f"), (r"chr", "kr"), (r"^(?:kn|gn)", "n"), (r"^wr", "r"),
    (r"sch|sh", "S"), (r"ch", "C"), (r"th", "t"), (r"ck|q", "k"), (r"c(?=[eiy])", "s"), (r"c", "k"),
    (r"x", "ks"), (r"z", "s"), (r"h", ""), (r"(?:ie|ey|ee|ea|y|ii)$", "i"), (r"au|aw|ow|oa|ou", "o"),
    (r"ee|ea|ie|y", "i"), (r"oo|eu|ew", "u"), (r"ai|ay|ei|ey|ae", "e"), (r"(?<=[^aeiou])e$", ""),
    (r"(.)\1+", r"\1"),
)  # fmt: skip
_MIN_LETTERS_TO_DIFFER = 5
"""Letters from which on a name may differ in one sound."""


def sound_of(word: str) -> str:
    """About how a word sounds, in letters.

    >>> sound_of("laurie") == sound_of("lori"), sound_of("margot") == sound_of("margo")
    (True, True)
    """
    for pattern, letters in _SOUNDS:
        word = re.sub(pattern, letters, word)
    return word


def similar_names(word: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that ``word`` may be a misspelling or short form of, the best kind only.

    Names that sound the same come before those that it is short for, or that differ in one sound.
    """
    if len(word) < 3:
        return ()
    names_of_other_gender = HER_NAMES if word in HIS_NAMES else HIS_NAMES if word in HER_NAMES else ()
    candidates = [
        name for name in dict.fromkeys(names) if len(name) > 2 and name not in names_of_other_gender
    ]
    by_ear = tuple(name for name in candidates if sound_of(name) == sound_of(word))
    if by_ear:
        return by_ear
    if word in GIVEN_NAMES:
        return tuple(name for name in candidates if is_short_for(word, name))
    if len(word) < _MIN_LETTERS_TO_DIFFER:
        return ()
    return tuple(name for name in candidates if _differ_in_one_letter(sound_of(word), sound_of(name)))


def is_short_for(short: str, name: str) -> bool:
    """Whether one given name is short for another: ``manny`` for ``manfred``, ``bob`` for ``robert``."""
    if short in _IRREGULAR_SHORT_NAMES.get(name, "").split():
        return True
    # ``manny → man``, ``charlie → charl``; what is left must begin the long name.
    stem = re.sub(r"(.)\1(?:ie|y|i)$", r"\1", short)
    if stem == short:
        stem = re.sub(r"(?<=....)(?:ie|y|i)$", "", short)
    is_beginning = len(stem) > 2 and len(name) > len(stem) + 1 and name.startswith(stem)
    return is_beginning and name in GIVEN_NAMES


def _differ_in_one_letter(first: str, second: str) -> bool:
    """Whether two words differ in one letter at most, and not in the first; not for short ones."""
    pairs = zip(first, second, strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if not common or max(len(first), len(second)) < _MIN_LETTERS_TO_DIFFER:
        return False
    first_end, second_end = first[common:], second[common:]
    is_replaced = first_end[1:] == second_end[1:]
    return is_replaced or first_end[1:] == second_end or first_end == second_end[1:]


_NEVER_NAMES = TITLES | SENTENCE_STARTERS | PEOPLE_NOUNS
"""Words that are nobody's name with a capital letter either."""


@dataclass(frozen=True, slots=True)
class NameToken:
    """A word of a line.

    ``key`` is the word as it is compared, ``gap`` what stands between it and the word before. ``start`` is
    where it begins in the line, in characters.
    """

    text: str
    key: str
    gap: str
    begins_sentence: bool
    start: int = 0

    @property
    def end(self) -> int:
        """Where it ends in the line, a possessive s left out."""
        return self.start + len(re.sub(r"['’]s?$", "", self.text, flags=re.IGNORECASE))

    @property
    def is_capitalized(self) -> bool:
        """Whether it is written like a name: with a capital letter or a digit first."""
        return self.text[0].isupper() or self.text[0].isdigit()

    @property
    def possessive(self) -> bool:
        """Whether it ends like somebody's."""
        return self.text.endswith(("'s", "’s", "s'", "s’"))


def tokens_of(text: str) -> tuple[NameToken, ...]:
    """The words of a line, without those in quotation marks."""
    tokens: list[NameToken] = []
    without_quotes = without_quotations(text)
    end = 0
    for match in WORD.finditer(without_quotes):
        gap = without_quotes[end : match.start()]
        has_stop = re.search(r"[.!?…]", gap) is not None
        # The full stop of a title or an initial ends no sentence: ``Dr. Brown``, ``John H. Watson``.
        previous = tokens[-1] if tokens else None
        may_abbreviate = previous is not None and (previous.key in TITLES or len(previous.text) == 1)
        is_abbreviation = may_abbreviate and gap == ". "
        begins_sentence = previous is None or (has_stop and not is_abbreviation)
        tokens.append(NameToken(match[0], word_key(match[0]), gap, begins_sentence, match.start()))
        end = match.end()
    return tuple(token for token in tokens if token.key)


_MAX_ADVERBS = 4


def _breaks_off(token: NameToken) -> bool:
    """Whether a word does not go on with the one before it."""
    return token.begins_sentence or token.is_capitalized or re.search(r"[,;:()]", token.gap) is not None


def is_followed_by_verb(line: Sequence[NameToken], position: int) -> bool:
    """Whether a verb of one person follows a word: ``Rose steps back``, and not ``Rose petals fall``."""
    # Adverbs between them, ``Rose slowly steps back``; nobody writes more than a few.
    next_position = position + 1
    for _ in range(_MAX_ADVERBS):
        if next_position + 1 >= len(line):
            break
        if _breaks_off(line[next_position]) or not line[next_position].key.endswith("ly"):
            break
        next_position += 1
    if next_position >= len(line) or _breaks_off(line[next_position]):
        return False
    verb = line[next_position]
    if verb.key in IS_OR_DOES:
        return True
    if not verb.key.endswith("s") or verb.key.endswith("ss") or verb.possessive:
        return False
    # A word in -s may be a plural noun; what follows a verb hardly ever follows one.
    following = line[next_position + 1] if next_position + 1 < len(line) else None
    if following is None or following.gap != " " or following.begins_sentence or following.is_capitalized:
        return True
    return following.key in NAME_FUNCTION_WORDS or following.key.endswith(("ly", "ing"))


def respell_names(
    cast: Sequence[Member], lines: Sequence[tuple[NameToken, ...]]
) -> list[tuple[NameToken, ...]]:
    """The lines with names as the cast has them, where they are spelt otherwise (see `similar_names`).

    Not for a word that somewhere stands beside the name that it is like: these are two people.
    """
    cast_words = {word for member in cast for form in member.forms for word in form.keys}
    single_names: list[str] = []
    for member in cast:
        single_names += [form.keys[0] for form in member.forms if len(form.keys) == 1 and not form.is_role]
    lower_case_words: set[str] = set()
    possible_names: set[str] = set()
    for line in lines:
        for position, token in enumerate(line):
            if not token.is_capitalized:
                lower_case_words.add(token.key)
                continue
            # The first word of a sentence has a capital letter anyway.
            is_name_anywhere = not token.begins_sentence or token.possessive or token.key in GIVEN_NAMES
            if is_name_anywhere or is_followed_by_verb(line, position):
                possible_names.add(token.key)
    words_of_lines = [{token.key for token in line} for line in lines]
    spellings: dict[str, str] = {}
    for word in sorted(possible_names - cast_words - lower_case_words - _NEVER_NAMES):
        similar = similar_names(word, single_names)
        if len(similar) != 1:
            continue
        if not any({word, similar[0]} <= words for words in words_of_lines):
            spellings[word] = similar[0]
    respelled: list[tuple[NameToken, ...]] = []
    for line in lines:
        tokens: list[NameToken] = []
        for token in line:
            is_misspelt = token.is_capitalized and token.key in spellings
            tokens.append(replace(token, key=spellings[token.key]) if is_misspelt else token)
        respelled.append(tuple(tokens))
    return respelled
