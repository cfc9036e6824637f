"""What is said for what is written: the lexicon, then all rules in their order. Pure but for the
language's words.

A lexicon is a list of ``word = as it is said``, from a file or from the cast. Abbreviations and Roman
numerals become words; titles in capitals are read as words, initials by their letters; dashes, brackets,
markup, addresses and symbols are said or left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from shotad.core import Member
from shotad.core.errors import VoiceError, quoted
from shotad.sound.quantities import (
    ENDS_SENTENCE,
    FIRST_MARK,
    LAST_MARK,
    MARKS,
    NAME,
    Words,
    any_of,
    cardinal,
    key_of,
    ordinal,
    quantities_said,
    roman,
    words_of,
)
from shotad.sound.voice_engines import Reading

_ANY_MARK = re.compile(f"[{MARKS}]")

_LONGEST = 200
"""Characters of a word or its saying."""


@dataclass(frozen=True)
class Lexicon:
    """Sayings by word; a word may be several.

    Whole words are found, the longest first, also with a possessive ``'s`` behind. A word that is written
    small is found in any case; one with capitals as it is written or all in capitals.
    """

    sayings: Mapping[str, str]

    def joined(self, other: Lexicon) -> Lexicon:
        return Lexicon({**self.sayings, **other.sayings})

    def marked(self, text: str) -> tuple[str, tuple[str, ...]]:
        """The text with a mark in place of each known word, and the sayings of the marks in their order."""
        plain = _ANY_MARK.sub("", text)
        if self._pattern is None:
            return plain, ()
        said: list[str] = []

        def mark(match: re.Match[str]) -> str:
            word = _straight(match.group())
            written = (word, word.lower(), self._shouted.get(word, ""))
            saying = next((self._straight[one] for one in written if one in self._straight), None)
            if saying is None or len(said) > LAST_MARK - FIRST_MARK:
                return match.group()
            said.append(saying)
            return chr(FIRST_MARK + len(said) - 1)

        return self._pattern.sub(mark, plain), tuple(said)

    @cached_property
    def _straight(self) -> dict[str, str]:
        return {_straight(word): saying for word, saying in self.sayings.items()}

    @cached_property
    def _shouted(self) -> dict[str, str]:
        return {word.upper(): word for word in self._straight}

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        words = sorted(self._straight, key=lambda word: (-len(word), word))
        if not words:
            return None
        any_of = "|".join(re.escape(word).replace("'", "['’]").replace(r"\ ", r"\s+") for word in words)
        return re.compile(rf"(?<![\w'’])(?:{any_of})(?!\w)", re.IGNORECASE)


EMPTY_LEXICON = Lexicon({})


def parse_lexicon(text: str, source: str = "lexicon") -> Lexicon:
    """A lexicon from lines ``word = as it is said``; ``#`` begins a comment, at the start or after a space.

    Raises VoiceError, with ``source`` and the line, for one that cannot be meant.
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
        elif not any(c.isalnum() for c in word) or len(word) > _LONGEST:
            trouble = f"{quoted(word)} is no word"
        else:
            trouble = saying_trouble(saying) or (f"{quoted(word)} stands twice" if word in sayings else "")
        if trouble:
            raise VoiceError(f"{source}, line {number}: {trouble}.", "Write: Sintel = Sin-TELL")
        sayings[word] = saying
    return Lexicon(sayings)


def lexicon_of(people: Iterable[Member]) -> Lexicon:
    """How the names of a cast are said, where their entries tell (``say_as``)."""
    return Lexicon({person.says: person.say_as for person in people if person.says and person.say_as})


def saying_trouble(saying: str) -> str:
    """Why a saying cannot be said; empty for one that can."""
    if not any(c.isalpha() for c in saying):
        return f"{quoted(saying)} has no letter to say"
    if len(saying) > _LONGEST:
        return f"a saying has {_LONGEST} characters at most, got {len(saying)}"
    odd = next((c for c in saying if c in "[]{}<>|\\/=_*" or unicodedata.category(c)[0] == "C"), None)
    return f"{quoted(odd)} cannot be said" if odd is not None else ""


def _straight(text: str) -> str:
    return " ".join(text.replace("’", "'").split())


def spoken_text(
    text: str, language: str, lexicon: Lexicon = EMPTY_LEXICON, reads: Reading = Reading.WORDS
) -> str:
    """The text as it is sent to a voice that turns ``reads`` into words by itself.

    Words of the lexicon are settled first, and no other rule touches their sayings.

    >>> said("SINTEL & Dr. Lee read “Chapter II”.", "en", parse_lexicon("Sintel = Sin-TELL"))
    'Sin-TELL and Doctor Lee read “Chapter two”.'
    """
    words = words_of(language)
    marked, sayings = lexicon.marked(text)
    # On one line, without pictures and markup; where a line ended without a stop is a comma.
    line = _LINE_END.sub(lambda m: f"{m[1]}, " if m[1] else " ", unicodedata.normalize("NFC", marked))
    kept = "".join(c if unicodedata.category(c) not in _SILENT or c in "°\t" else " " for c in line)
    marked = abbreviations_said(" ".join(_MARKUP.sub(" ", kept).split()), words)
    marked = romans_said(marked, words, language)
    marked = quantities_said(marked, words, language, reads)
    marked = capitals_said(signs_said(marked, words), words, reads)
    # Rules leave double commas and spaces behind.
    marked = _COMMAS.sub(",", marked)
    for pattern in (_BEFORE_END, _SPACE_BEFORE, _AFTER_END, _LEADING):
        marked = pattern.sub("", marked)
    tidy = " ".join(marked.split()).rstrip(" ,;-–")
    smaller = re.sub(f"(?<=[{MARKS}])(['’])S\\b", r"\1s", tidy)
    return _ANY_MARK.sub(lambda match: sayings[ord(match.group()) - FIRST_MARK], smaller)


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
_SILENT = frozenset({"So", "Cf", "Cc", "Cn", "Cs", "Sk"})
"""Kinds of characters that nobody says: pictures, marks of formatting, controls. (Those of private use are
the marks of a lexicon.)"""


def signs_said(text: str, words: Words) -> str:
    """Signs as words, and those that only part a sentence as commas."""
    if words.dot:
        text = _ADDRESS.sub(lambda m: m[1].removeprefix("www.").replace(".", f" {words.dot} "), text)
    if words.signs:
        found = any_of(words.signs)
        text = re.sub(
            rf"(?<![\w/]){found}(?!/)|{found}(?=\s|\d|$)",
            lambda m: f" {words.signs[key_of(m.group(), words.signs)]} ",
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
_SHORT = 3
"""Letters up to which a single word in capitals is taken for initials (SUV, TJ), if it is not known."""


def capitals_said(text: str, words: Words, reads: Reading) -> str:
    """``SINTEL → Sintel``, ``TEARS OF STEEL → Tears Of Steel``, ``FBI → F.B.I.`` (as it is, for a voice that
    reads capitals by their letters)."""
    # Scripts without capitals (Arabic, Chinese) never shout; _LETTER knows small letters of Latin-1 alone.
    found = [match for match in _SHOUTED.finditer(text) if match[0].isupper()]
    parts, at = [], 0
    for index, match in enumerate(found):
        # Whether the next or the last word is in capitals too, with nothing but a space between.
        pairs = [(found[index - 1], match)] if index else []
        pairs += [(match, found[index + 1])] if index + 1 < len(found) else []
        near = any(not re.search(r"[^\s,'’&:-]", text[one.end() : other.start()]) for one, other in pairs)
        word, at, before = match.group(), match.end(), text[at : match.start()]
        plain = word if word[1] in "'’" else re.split(r"['’]", word)[0]
        alone = not near and any(c.islower() for c in text)
        short = len(plain) <= _SHORT and plain not in words.spoken and alone
        if plain not in words.spelled and _VOWEL.search(plain) and (not short or "-" in plain):
            pieces = re.split(r"(['’-])", word)
            said = [piece[:1] + piece[1:].lower() for piece in pieces]
            if len(pieces) > 2 and pieces[-2] in "'’" and len(pieces[-1]) <= 2:
                said[-1] = pieces[-1].lower()
            word = "".join(said)
        elif reads is Reading.WORDS:
            # ``FBI → F.B.I.``, ``CIA's → C.I.A.'s``; before a full stop without a second one.
            letters, mark, rest = re.match(r"([^'’-]+)(['’-]?)(.*)", word, re.DOTALL).groups()  # type: ignore[union-attr]
            word = ".".join(letters) + ("" if text[at : at + 1] == "." else ".") + mark + rest.lower()
        parts += [before, word]
    return "".join([*parts, text[at:]])


_NUMERAL = r"([IVXLC]+)"
_BEHIND_NAME = re.compile(rf"(?<!^)(?<![\w'’]){NAME}[\w'’]*\s+$")
_SMALL = r"([IVX]{2,})"
"""Of a sequel (``Rocky II``): with L, C, D and M too many are words (MIX, CIVIL) or initials."""


def abbreviations_said(text: str, words: Words) -> str:
    """``Mr. Lee → Mister Lee``, ``Main St. → Main Street``, ``No. 5 → number 5``."""
    if words.before_name:
        shouted = {key.upper(): value for key, value in words.before_name.items() if len(key) > 2}
        table = {**shouted, **words.before_name}
        keys = {key.rstrip("."): value for key, value in table.items()}
        pair = rf"|{re.escape(words.signs['&'])}\s+{any_of(keys)}\.?\s" if "&" in words.signs else ""
        found = rf"(?<![\w.'’])({any_of(keys)})(?P<stop>\.)?(?=\s+(?:{NAME}{pair}))"
        text = re.sub(found, lambda m: _title(m, keys, words), text)
    if words.before_number:
        found = rf"(?<![\w.])({any_of(words.before_number)})\s*(?=\d)"
        text = re.sub(found, lambda m: words.before_number[key_of(m[1], words.before_number)] + " ", text)
    if words.after_name:
        found = (
            rf"(?<!\w)({NAME}[\w'’]{{0,99}},?\s+)({any_of(words.after_name)})(?P<end>{ENDS_SENTENCE})?(?!\w)"
        )
        text = re.sub(found, lambda m: m[1] + _ended(m, 2, words.after_name), text)
    if words.anywhere:
        found = rf"(?<![\w.])({any_of(words.anywhere)})(?P<end>{ENDS_SENTENCE})?(?!\w)"
        text = re.sub(found, lambda m: _ended(m, 1, words.anywhere), text)
    if words.within:
        found = rf"(?<![\w.])({any_of(words.within)})(?!\w)"
        text = re.sub(found, lambda m: words.within[key_of(m[1], words.within)], text)
    return text


def _title(match: re.Match[str], table: dict[str, str], words: Words) -> str:
    """A title of one letter is one only with its stop: ``M. Dupont``, not the M of initials. What may also be
    a street is one behind a name and before a new sentence: ``on Main St. She waves``."""
    key = key_of(match[1], table)
    # Looked at word by word: a line may be one title after the other.
    behind = match.string[match.end() : match.end() + _LONGEST].split(maxsplit=1)
    before = match.string[max(0, match.start() - _LONGEST) : match.start()]
    street = key + "." in words.after_name and _BEHIND_NAME.search(before)
    if (street and behind and behind[0].strip(",") in words.starts) or (len(key) == 1 and not match["stop"]):
        return match.group()
    return table[key]


def _ended(match: re.Match[str], group: int, table: dict[str, str]) -> str:
    """The word for an abbreviation; its full stop stays where it ends the sentence, too."""
    key = key_of(match[group], table)
    return table[key] + ("." if match["end"] is not None and key.endswith(".") else "")


def romans_said(text: str, words: Words, language: str) -> str:
    """``Henry VIII → Henry the eighth``, ``Chapter III → Chapter three``, ``Rocky II → Rocky two``.

    Behind any other name only numerals of two letters and more are taken for numbers: ``Malcolm X`` stays.
    """
    rule = words.roman
    stop = r"\.?" if rule.dotted else ""
    if rule.counted:
        found = rf"(?<!\w)({any_of(rule.counted)}\s+){_NUMERAL}(?![\w.]\w|\w)"
        text = re.sub(found, lambda m: m[1] + _counted(m[2], language), text, flags=0)
    if rule.titles:
        found = rf"(?i:(?<!\w){any_of(rule.titles)})\s+{NAME}[\w'’-]{{0,99}}\s+(?=[IVXLC])"
        text = re.sub(
            rf"({found}){_NUMERAL}{stop}(?!\w)", lambda m: m[1] + _ranked(m[2], words, language), text
        )
    if rule.names:
        found = rf"(?<!\w)({any_of(rule.names)}\s+){_NUMERAL}{stop}(?!\w)"
        text = re.sub(found, lambda m: m[1] + _ranked(m[2], words, language), text)
    found = rf"(?<!\w)({NAME}(?=\w*[^\W\dA-Z]|[^\w])[\w'’-]{{0,99}}\s+){_SMALL}(?!\w)"
    return re.sub(found, lambda m: m[1] + _counted(m[2], language), text)


def _counted(numeral: str, language: str) -> str:
    number = roman(numeral)
    return numeral if number is None else cardinal(str(number), language) or str(number)


def _ranked(numeral: str, words: Words, language: str) -> str:
    rule, number = words.roman, roman(numeral)
    if number is None or number > rule.up_to:
        return numeral
    if rule.said != "ordinal" or number > rule.ordinals_to:
        return _counted(numeral, language)
    word = ordinal(number, language)
    if word is None:
        return numeral
    return rule.as_.format(word[:1].upper() + word[1:] if rule.capital else word)
