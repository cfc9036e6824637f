"""How a text is spoken: words of the lexicon, then all rules in their order (`spoken_text`). Pure functions
but for the files of each language's words.

A lexicon is a list of ``word = how it is spoken``, from a file or from the cast. Abbreviations and Roman
numerals become words; titles in capitals are read as words, initials by their letters; dashes, brackets,
markup, addresses and symbols become words or commas, or are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from shotad.core import Member
from shotad.core.errors import VoiceError, quoted
from shotad.sound.quantities import (
    ENDS_SENTENCE,
    FIRST_MARK,
    LAST_MARK,
    MARKS,
    NAME_START,
    LanguageWords,
    any_of_pattern,
    cardinal,
    feminine_ordinal,
    matching_key,
    ordinal,
    roman_value,
    spell_out_quantities,
    words_of,
)
from shotad.sound.voice_engines import Reading

_ANY_MARK = re.compile(f"[{MARKS}]")

_MAX_CHARACTERS = 200
"""Characters that a word or its saying may have."""


@dataclass(frozen=True)
class Lexicon:
    """How words are spoken: ``sayings`` by word, which may be several words.

    Whole words are matched, the longest first, also with a possessive ``'s`` behind. A word that is written
    small is matched in any case; one with capitals as it is written or all in capitals.
    """

    sayings: Mapping[str, str]

    def joined(self, other: Lexicon) -> Lexicon:
        """Both lexicons as one; where a word is in both, the saying of ``other``."""
        return Lexicon({**self.sayings, **other.sayings})

    def marked(self, text: str) -> tuple[str, tuple[str, ...]]:
        """The text with a mark in place of each known word, and the sayings of the marks in their order."""
        without_marks = _ANY_MARK.sub("", text)
        if self._pattern is None:
            return without_marks, ()
        sayings: list[str] = []

        def mark(match: re.Match[str]) -> str:
            word = _normalised(match.group())
            for spelling in (word, word.lower(), self._by_capitals.get(word, "")):
                # There are only so many marks: words beyond them stay as they are written.
                if spelling in self._normalised_sayings and len(sayings) <= LAST_MARK - FIRST_MARK:
                    sayings.append(self._normalised_sayings[spelling])
                    return chr(FIRST_MARK + len(sayings) - 1)
            return match.group()

        return self._pattern.sub(mark, without_marks), tuple(sayings)

    @cached_property
    def _normalised_sayings(self) -> dict[str, str]:
        return {_normalised(word): saying for word, saying in self.sayings.items()}

    @cached_property
    def _by_capitals(self) -> dict[str, str]:
        """The words by how they look all in capitals."""
        return {word.upper(): word for word in self._normalised_sayings}

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        """A pattern for any of the words, the longest first; None for an empty lexicon."""
        words = sorted(self._normalised_sayings, key=lambda word: (-len(word), word))
        if not words:
            return None
        any_word = "|".join(re.escape(word).replace("'", "['’]").replace(r"\ ", r"\s+") for word in words)
        return re.compile(rf"(?<![\w'’])(?:{any_word})(?!\w)", re.IGNORECASE)


EMPTY_LEXICON: Lexicon = Lexicon({})


def parse_lexicon(text: str, source: str = "lexicon") -> Lexicon:
    """A lexicon from lines ``word = how it is spoken``; ``#`` begins a comment, at the start or after
    a space.

    Raises VoiceError, with ``source`` and the number of the line, for a line that is none of these.
    """
    sayings: dict[str, str] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        content = re.sub(r"(?:^|\s)#.*$", "", line).strip()
        if not content:
            continue
        word, equals, saying = (
            " ".join(unicodedata.normalize("NFC", part).split()) for part in content.partition("=")
        )
        if not equals:
            trouble = f"there is no '=' in {quoted(word)}"
        elif not any(c.isalnum() for c in word) or len(word) > _MAX_CHARACTERS:
            trouble = f"{quoted(word)} is no word"
        else:
            trouble = saying_trouble(saying) or (f"{quoted(word)} stands twice" if word in sayings else "")
        if trouble:
            raise VoiceError(f"{source}, line {number}: {trouble}.", "Write: Sintel = Sin-TELL")
        sayings[word] = saying
    return Lexicon(sayings)


def lexicon_of(people: Iterable[Member]) -> Lexicon:
    """How the names of a cast are spoken, for members whose entry has ``say_as``."""
    return Lexicon({person.says: person.say_as for person in people if person.says and person.say_as})


def saying_trouble(saying: str) -> str:
    """Why a saying cannot be spoken; empty for one that can."""
    if not any(c.isalpha() for c in saying):
        return f"{quoted(saying)} has no letter to say"
    if len(saying) > _MAX_CHARACTERS:
        return f"a saying has {_MAX_CHARACTERS} characters at most, got {len(saying)}"
    odd = next((c for c in saying if c in "[]{}<>|\\/=_*" or unicodedata.category(c)[0] == "C"), None)
    return f"{quoted(odd)} cannot be said" if odd is not None else ""


def _normalised(text: str) -> str:
    """With straight apostrophes, and one space between words."""
    return " ".join(text.replace("’", "'").split())


def spoken_text(
    text: str, language: str, lexicon: Lexicon = EMPTY_LEXICON, reads: Reading = Reading.WORDS
) -> str:
    """The text as it is sent to a voice that turns ``reads`` into words by itself.

    Words of the lexicon are replaced first, and no other rule touches their sayings.

    >>> spoken_text("SINTEL & Dr. Lee read “Chapter II”.", "en", parse_lexicon("Sintel = Sin-TELL"))
    'Sin-TELL and Doctor Lee read “Chapter two”.'
    """
    words = words_of(language)
    marked, sayings = lexicon.marked(text)
    # On one line, without pictures and markup; where a line ended without a stop is a comma.
    line = _LINE_END.sub(lambda m: f"{m[1]}, " if m[1] else " ", unicodedata.normalize("NFC", marked))
    characters: list[str] = []
    for character in line:
        is_spoken = unicodedata.category(character) not in _UNSPOKEN_CATEGORIES or character in "°\t"
        characters.append(character if is_spoken else " ")
    one_line = " ".join(_MARKUP.sub(" ", "".join(characters)).split())
    # Abbreviations before numerals, and both before capitals: MR. and VIII are capitals, too.
    marked = spell_out_abbreviations(one_line, words)
    marked = spell_out_romans(marked, words, language)
    marked = spell_out_quantities(marked, words, language, reads)
    marked = respell_capitals(spell_out_signs(marked, words), words, reads)
    # Rules leave double commas and spaces behind.
    marked = _COMMAS.sub(",", marked)
    for pattern in (_BEFORE_END, _SPACE_BEFORE, _AFTER_END, _LEADING):
        marked = pattern.sub("", marked)
    tidy = " ".join(marked.split()).rstrip(" ,;-–")
    # ``SINTEL'S`` is a marked name with a capital S left behind it.
    tidy = re.sub(f"(?<=[{MARKS}])(['’])S\\b", r"\1s", tidy)
    return _ANY_MARK.sub(lambda match: sayings[ord(match.group()) - FIRST_MARK], tidy)


_LINE_END = re.compile(r"(\w[\"”’']?)?(?:(?<!\s)\s*)?\n\s*")
_DASH = re.compile(
    r"(?<!\s)\s+(?:-{1,3}|[–—―])\s+|(?:(?<!\s)\s+)?(?:[—―]|--+)\s*|(?<=[^\W\d])\s*–\s*(?=[^\W\d])"
)
_BRACKETS = re.compile(r"(?:(?<!\s)\s+)?[()\[\]{}]\s*")
_DOTS = re.compile(r"(?:(?<!\s)\s+)?(?:…|\.{2,})(?:\s*(?:…|\.{2,}))*+")
_LEADING = re.compile(r"^[\s,;:.…!?)\-–—]+")
_MARKUP = re.compile(r"[*_~^|\\<>`]+")
_SLASH = re.compile(r"(?<=[^\W\d])\s*/\s*(?=[^\W\d])")
_ADDRESS = re.compile(
    r"(?<![\w@-])(?<![\w-]\.)(?:https?://)?((?:[\w-]+\.)+(?:com|org|net|edu|gov|info|tv|io|eu|de|fr|es|it|nl|uk|us|ch|at))"
    r"(?:/[\w/.-]*)?(?!\w|\.\w)",
    re.IGNORECASE,
)
_COMMAS = re.compile(r"(?:(?<!\s)\s+)?,(?:\s*,)++")
_BEFORE_END = re.compile(r"(?<![\s,;])[\s,;]+(?=[.!?…:](?!\d))")
_SPACE_BEFORE = re.compile(r"(?<!\s)\s+(?=[,.;!?:…](?!\d))")
_AFTER_END = re.compile(r"(?<=[.!?…:])(?<![A-Z]\.),")
_UNSPOKEN_CATEGORIES = frozenset({"So", "Cf", "Cc", "Cn", "Cs", "Sk"})
"""Unicode categories of characters that are not spoken: pictures, formatting, controls. (Characters of
private use are the marks of a lexicon.)"""


def spell_out_signs(text: str, words: LanguageWords) -> str:
    """``text`` with signs as words (``& → and``), and dashes and brackets as commas."""
    if words.dot:
        text = _ADDRESS.sub(lambda m: m[1].removeprefix("www.").replace(".", f" {words.dot} "), text)
    if words.signs:
        pattern = any_of_pattern(words.signs)
        text = re.sub(
            rf"(?<![\w/]){pattern}(?!/)|{pattern}(?=\s|\d|$)",
            lambda m: f" {words.signs[matching_key(m.group(), words.signs)]} ",
            text,
        )
    text = _SLASH.sub(" ", text)
    text = _BRACKETS.sub(", ", _DASH.sub(", ", text))
    return _DOTS.sub("…", text)


_LETTER = r"[^\W\d_a-zß-öø-ÿ]"
_SHOUTED = re.compile(
    rf"(?<![\w.&'’-])(?:{_LETTER}['’])?{_LETTER}{{2,}}(?:['’-]{_LETTER}+)*(?![\w&])(?!\.\w)"
)
"""A word all in capitals. With a digit or a small letter in it (R2D2, TVs) it is left alone."""
_VOWEL = re.compile(r"[AEIOUYÀ-ÆÈ-ÏÒ-ÖØÙ-ÝŒАЕЁИОУЫЭЮЯΑΕΗΙΟΥΩ]")
_MAX_INITIALS = 3
"""Letters up to which a single word in capitals is taken for initials (SUV, TJ), if it is not known."""


def respell_capitals(text: str, words: LanguageWords, reads: Reading) -> str:
    """``SINTEL → Sintel``, ``TEARS OF STEEL → Tears Of Steel``, ``FBI → F.B.I.`` (as it is, for a voice that
    reads capitals by their letters)."""
    # Scripts without capitals (Arabic, Chinese) have none; _LETTER knows small letters of Latin-1 alone.
    matches = [match for match in _SHOUTED.finditer(text) if match[0].isupper()]
    parts: list[str] = []
    done = 0
    for index, match in enumerate(matches):
        before, word = text[done : match.start()], match.group()
        done = match.end()
        without_ending = word if word[1] in "'’" else re.split(r"['’]", word)[0]
        is_alone = not _has_neighbour(matches, index) and any(c.islower() for c in text)
        is_short = len(without_ending) <= _MAX_INITIALS and without_ending not in words.spoken and is_alone
        is_word = without_ending not in words.spelled and _VOWEL.search(without_ending)
        if is_word and (not is_short or "-" in without_ending):
            word = _capitalised(word)
        elif reads is Reading.WORDS:
            # ``FBI → F.B.I.``, ``CIA's → C.I.A.'s``; before a full stop without a second one.
            letters, mark, ending = re.match(r"([^'’-]+)(['’-]?)(.*)", word, re.DOTALL).groups()  # type: ignore[union-attr]
            last_stop = "" if text[done : done + 1] == "." else "."
            word = ".".join(letters) + last_stop + mark + ending.lower()
        parts += [before, word]
    return "".join([*parts, text[done:]])


def _has_neighbour(matches: Sequence[re.Match[str]], index: int) -> bool:
    """Whether the word before or after a match is in capitals too, with hardly more than a space between."""
    for left, right in pairwise(matches[max(0, index - 1) : index + 2]):
        between = left.string[left.end() : right.start()]
        if not re.search(r"[^\s,'’&:-]", between):
            return True
    return False


def _capitalised(word: str) -> str:
    """``SPIDER-MAN'S → Spider-Man's``."""
    pieces = re.split(r"(['’-])", word)
    respelled = [piece[:1] + piece[1:].lower() for piece in pieces]
    # An ending of one or two letters is no name of its own: 's, 'll.
    if len(pieces) > 2 and pieces[-2] in "'’" and len(pieces[-1]) <= 2:
        respelled[-1] = pieces[-1].lower()
    return "".join(respelled)


_NUMERAL = r"([IVXLC]+)"
_BEHIND_NAME = re.compile(rf"(?<!^)(?<![\w'’]){NAME_START}[\w'’]*\s+$")
_SEQUEL_NUMERAL = r"([IVX]{2,})"
"""Of a sequel (``Rocky II``): with L, C, D and M too many are words (MIX, CIVIL) or initials."""


def spell_out_abbreviations(text: str, words: LanguageWords) -> str:
    """``Mr. Lee → Mister Lee``, ``Main St. → Main Street``, ``No. 5 → number 5``."""
    if words.before_name:
        in_capitals = {key.upper(): value for key, value in words.before_name.items() if len(key) > 2}
        table = {**in_capitals, **words.before_name}
        keys = {key.rstrip("."): value for key, value in table.items()}
        # ``Mr. & Mrs. Lee``: a title before another one.
        pair = rf"|{re.escape(words.signs['&'])}\s+{any_of_pattern(keys)}\.?\s" if "&" in words.signs else ""
        pattern = rf"(?<![\w.'’])({any_of_pattern(keys)})(?P<stop>\.)?(?=\s+(?:{NAME_START}{pair}))"
        text = re.sub(pattern, lambda m: _spelled_out_title(m, keys, words), text)
    if words.before_number:
        pattern = rf"(?<![\w.])({any_of_pattern(words.before_number)})\s*(?=\d)"
        text = re.sub(
            pattern, lambda m: words.before_number[matching_key(m[1], words.before_number)] + " ", text
        )
    if words.after_name:
        name, abbreviation = rf"{NAME_START}[\w'’]{{0,99}},?\s+", any_of_pattern(words.after_name)
        pattern = rf"(?<!\w)({name})({abbreviation})(?P<end>{ENDS_SENTENCE})?(?!\w)"
        text = re.sub(pattern, lambda m: m[1] + _spelled_out_abbreviation(m, 2, words.after_name), text)
    if words.anywhere:
        pattern = rf"(?<![\w.])({any_of_pattern(words.anywhere)})(?P<end>{ENDS_SENTENCE})?(?!\w)"
        text = re.sub(pattern, lambda m: _spelled_out_abbreviation(m, 1, words.anywhere), text)
    if words.word_ends:
        pattern = rf"(?<=\w)({any_of_pattern(words.word_ends)})(?!\w)"
        text = re.sub(pattern, lambda m: words.word_ends[matching_key(m[1], words.word_ends)], text)
    if words.within:
        pattern = rf"(?<![\w.])({any_of_pattern(words.within)})(?!\w)"
        text = re.sub(pattern, lambda m: words.within[matching_key(m[1], words.within)], text)
    return text


def _spelled_out_title(match: re.Match[str], table: dict[str, str], words: LanguageWords) -> str:
    """The word for a title, or the text as it is where it is no title.

    A single letter is a title only with its stop: ``M. Dupont``, not the M of initials. What may also be a
    street is one behind a name and before a new sentence: ``on Main St. She waves``.
    """
    key = matching_key(match[1], table)
    # Looked at word by word: a line may be one title after the other.
    behind = match.string[match.end() : match.end() + _MAX_CHARACTERS].split(maxsplit=1)
    before = match.string[max(0, match.start() - _MAX_CHARACTERS) : match.start()]
    may_be_street = key + "." in words.after_name and _BEHIND_NAME.search(before)
    is_street = may_be_street and behind and behind[0].strip(",") in words.starts
    is_initial = len(key) == 1 and not match["stop"]
    if is_street or is_initial:
        return match.group()
    return table[key]


def _spelled_out_abbreviation(match: re.Match[str], group: int, table: dict[str, str]) -> str:
    """The word for an abbreviation; its full stop stays where it ends the sentence, too."""
    key = matching_key(match[group], table)
    return table[key] + ("." if match["end"] is not None and key.endswith(".") else "")


def spell_out_romans(text: str, words: LanguageWords, language: str) -> str:
    """``Henry VIII → Henry the eighth``, ``Chapter III → Chapter three``, ``Rocky II → Rocky two``.

    Behind any other name only numerals of two letters and more are taken for numbers: ``Malcolm X`` stays.
    """
    rule = words.roman
    stop = r"(?P<stop>\.)?" if rule.dotted else "(?P<stop>)"
    if rule.ordinal_before:
        pattern = rf"(?<!\w)([IVXLC]+)(?=\s({any_of_pattern(rule.ordinal_before)})\b)"
        text = re.sub(pattern, lambda m: _roman_ordinal_before(m[1], m[2], words, language), text)
    if rule.counted:
        # L and C alone are letters: ``Part C``.
        pattern = rf"(?<!\w)({any_of_pattern(rule.counted)}\s+)(?![LC]\b){_NUMERAL}(?![\w.]\w|\w)"
        text = re.sub(pattern, lambda m: m[1] + _roman_cardinal(m[2], language), text)
    for titles, names, form in (
        (rule.feminine_titles, rule.feminine_names, rule.as_feminine),
        (rule.titles, rule.names, rule.as_),
    ):
        is_feminine = titles is rule.feminine_titles

        def ordinal_behind(match: re.Match[str], form: str = form, is_feminine: bool = is_feminine) -> str:
            form = _form_behind(match.string[: match.start()], words, is_feminine=is_feminine) or form
            in_words = _roman_ordinal(match[2], words, language, form, is_feminine=is_feminine)
            # "Ludwig XIV. Er lächelt.": the full stop ends the sentence, too.
            next_words = match.string[match.end() : match.end() + _MAX_CHARACTERS].split(maxsplit=1)
            ends_sentence = match["stop"] and (not next_words or next_words[0].strip(",") in words.starts)
            return match[1] + in_words + ("." if ends_sentence else "")

        if titles:
            # Up to three names: ``Papst Johannes Paul II.``
            name_pattern = rf"(?:{NAME_START}[\w'’-]{{0,99}}\s+){{1,3}}?"
            pattern = (
                rf"((?i:(?<!\w){any_of_pattern(titles)})\s+{name_pattern})(?=[IVXLC]){_NUMERAL}{stop}(?!\w)"
            )
            text = re.sub(pattern, ordinal_behind, text)
        if names:
            pattern = rf"(?<!\w)({any_of_pattern(names)}\s+){_NUMERAL}{stop}(?!\w)"
            text = re.sub(pattern, ordinal_behind, text)
        if names and rule.as_genitive and not is_feminine:
            pattern = rf"(?<!\w)({any_of_pattern(names)}s\s+){_NUMERAL}{stop}(?!\w)"
            text = re.sub(
                pattern, lambda m: m[1] + _roman_ordinal(m[2], words, language, rule.as_genitive), text
            )
    pattern = rf"(?<!\w)({NAME_START}(?=\w*[^\W\dA-Z]|[^\w])[\w'’-]{{0,99}}\s+){_SEQUEL_NUMERAL}(?!\w)"
    return re.sub(pattern, lambda m: m[1] + _roman_cardinal(m[2], language), text)


def _form_behind(text_before: str, words: LanguageWords, *, is_feminine: bool) -> str:
    """The form of an ordinal by the preposition before the name; empty where none stands there.

    A title may stand between: ``von König Ludwig XIV.``
    """
    rule, agreement = words.roman, words.agreement
    last_words = [word.lower() for word in text_before[-_MAX_CHARACTERS:].split()[-2:]]
    titles = {title.lower() for title in (*rule.titles, *rule.feminine_titles)}
    if last_words and last_words[-1] in titles:
        last_words.pop()
    preposition = last_words[-1] if last_words else ""
    if preposition in agreement.dative_behind:
        return rule.as_dative[is_feminine]
    return rule.as_accusative[is_feminine] if preposition in agreement.accusative_behind else ""


def _roman_ordinal_before(numeral: str, noun: str, words: LanguageWords, language: str) -> str:
    """``XIX secolo → diciannovesimo secolo``."""
    number = roman_value(numeral)
    word = ordinal(number, language) if number else None
    if word is None:
        return numeral
    gender = words.roman.ordinal_before[matching_key(noun, words.roman.ordinal_before)]
    return feminine_ordinal(word, words) if gender == "feminine" else word


def _roman_cardinal(numeral: str, language: str) -> str:
    """``III → three``; text that is no numeral as it is."""
    number = roman_value(numeral)
    if number is None:
        return numeral
    return cardinal(str(number), language) or str(number)


def _roman_ordinal(
    numeral: str, words: LanguageWords, language: str, form: str, *, is_feminine: bool = False
) -> str:
    """``VIII → the eighth``, or the cardinal where the language's rule wants it; else text as it is.

    ``form`` holds the ordinal, ``{}``; empty: that of `Roman.as_`.
    """
    rule, number = words.roman, roman_value(numeral)
    if number is None or number > rule.up_to:
        return numeral
    if rule.said != "ordinal" or number > rule.ordinals_to:
        return _roman_cardinal(numeral, language)
    word = ordinal(number, language)
    if word is None:
        return numeral
    if is_feminine:
        word = feminine_ordinal(word, words)
    return (form or rule.as_).format(word[:1].upper() + word[1:] if rule.capital else word)
