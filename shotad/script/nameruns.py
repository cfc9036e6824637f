"""Words with a capital letter side by side, from which names are read. Pure logic."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from shotad.core import NAME_TITLES
from shotad.script.rules import quotations


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a run. ``key`` is what is compared, without possessive s, dot and the like."""

    key: str
    start: int
    end: int
    """Where the word ends, the possessive s left out."""


def _capitals() -> str:
    """All capital letters below U+2000, Greek and Cyrillic among them, as ranges for a character class."""
    codes = [code for code in range(0x2000) if chr(code).isupper()]
    ends = [i for i, code in enumerate(codes) if i + 1 == len(codes) or codes[i + 1] != code + 1]
    starts = [0, *(end + 1 for end in ends[:-1])]
    return "".join(f"{chr(codes[a])}-{chr(codes[b])}" for a, b in zip(starts, ends, strict=True))


_UPPER = _capitals()
_CAPITAL = rf"(?:[{_UPPER}]\.(?!\w)|[{_UPPER}][\w]*(?:[-'’.][\w]+)*)"
RUN = re.compile(rf"(?<![\w'’-]){_CAPITAL}(?:(?:\.[ \t]|[ \t]){_CAPITAL})*")
"""Words with a capital letter side by side; a full stop within is looked at again in `runs`."""
_WORD = re.compile(rf"[{_UPPER}]\.(?!\w)|[\w]+(?:[-'’.][\w]+)*")
_POSSESSIVE = re.compile(r"['’]s\Z", re.IGNORECASE)
SENTENCE_START = re.compile(r"(?:\A|[.!?…:])[\s\"“”'‘’(\[*•–—-]*\Z|\n(?:[^\S\n]|[\"“”'‘’(\[*•–—-])*\Z")


def plain(text: str) -> str:
    """``text`` with what stands in quotation marks blanked out."""
    for start, end in quotations(text):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


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


def runs(text: str) -> Iterator[tuple[Token, ...]]:
    """Runs of words with a capital letter, split where a full stop ends a sentence and not a title."""
    for match in RUN.finditer(text):
        run: list[Token] = []
        for word in _WORD.finditer(match[0]):
            token = _token(word[0], match.start() + word.start())
            if run and "." in text[run[-1].end : token.start] and not _abbreviates(run[-1].key):
                yield tuple(run)
                run = []
            run.append(token)
            if text[token.end : match.start() + word.end()].strip("."):
                yield tuple(run)
                run = []
        if run:
            yield tuple(run)


def key_of(name: str) -> str:
    """A name as it is compared: ``Dr. Smith's → dr smith``."""
    return " ".join(keys_of(name))


def keys_of(written: str) -> Iterator[str]:
    """The words of a name as they are compared.

    >>> list(keys_of("Dr. O’Brien's"))
    ['dr', "o'brien"]
    """
    for word in _WORD.finditer(written):
        yield _token(word[0], 0).key


def _token(word: str, start: int) -> Token:
    """``Smith's`` → ``smith``; ``Dr.`` → ``dr``; a full stop is left out of the span as well."""
    bare = _POSSESSIVE.sub("", word).rstrip(".")
    return Token(_without_accents(bare).replace("’", "'").casefold(), start, start + len(bare))


def _without_accents(word: str) -> str:
    """``Zoë → Zoe``: models leave accents out as they like. Signs of other scripts that make another letter
    (U+3099 makes ``か`` to ``が``) stay."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", apart))


def _abbreviates(key: str) -> bool:
    return key in NAME_TITLES or len(key) == 1
