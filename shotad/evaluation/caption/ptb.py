"""Penn Treebank tokens in Python, equal to the chain of the COCO caption tools.

That chain is Stanford's Java tokeniser (CoreNLP 3.4.1, its own rules, lines kept, lower case) and a list of
punctuation that is thrown away. This is a tokeniser of its own that gives the same tokens: at each place
of the text the rule that reads farthest wins, what must follow counted in; of rules that read equally far,
the first. It is held against the Java tool in the tests, where that can be run.

What the chain does is done here too: brackets stay, as ``-lrb-`` and ``-rrb-`` (the list has them in
capitals, the tokens are in lower case), ``£`` becomes ``#``, and so on. Each text is read by itself. The
chain reads all texts as the lines of one file: there the end of ``a yellow X.`` is ``x`` or ``x.`` by the
text that happens to come next (``x.`` here; 2 of CMD-AD's 7,316), and a text with a line break of an unusual
kind in it shifts all that follow (a blank here).

Rules of the Penn Treebank tokeniser, over images of texts (`shotad.evaluation.caption.characters`).

Each says what a token looks like, what must follow it, and how it is written. Which tokens there are was
found by comparing with the Java tokeniser of the COCO chain, CoreNLP 3.4.1, on texts of all kinds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from shotad.evaluation.caption import characters as c, ptbwords as words
from shotad.evaluation.caption.characters import BLANK, image
from shotad.evaluation.caption.ptbwords import BEFORE_NUMBERS

_LETTER = f"A-Za-z{c.LETTER}{c.CAPITAL}"
_DIGIT = f"0-9{c.DIGIT}"
_APOSTROPHE = f"(?:['{c.CLOSING}]|(?i:&apos;))"
_INNER_APOSTROPHE = f"(?:['{c.CLOSING}{c.OPENING}`]|(?i:&apos;))"
_BLANK = f"[ \t\xa0{c.BLANK}]"
_GAP = f"[ \t\xa0\n{c.BLANK}]"
_AMPERSAND = "(?:&|(?i:&amp;))"
_WORD_LETTER = f"(?:[{_LETTER}{c.MARK}\xad]|&[aeiouAEIOU](?i:acute|grave|uml);)"
_WORD_PART = f"{_WORD_LETTER}(?:{_WORD_LETTER}|[{_DIGIT}])*"
_STEM = f"(?:{_WORD_LETTER}|[{_DIGIT}])+"
_WORD = f"{_WORD_PART}(?:[.!?]{_WORD_PART})*"
_ENDING = f"{_APOSTROPHE}(?:[msdMSD]|(?i:re|ve|ll))"
_NEGATION = f"(?i:n){_INNER_APOSTROPHE}(?i:t)"
_BETWEEN = "[.:,\xad\u066b\u066c]"
_NUMBER = f"(?:[{_DIGIT}]+(?:{_BETWEEN}[{_DIGIT}]+)*|(?:{_BETWEEN}[{_DIGIT}]+)+)"
_INITIALS = f"(?:[A-Za-z](?:\\.[A-Za-z])*|{words.COUNTRY_PAIRS})"
_SEVERAL_INITIALS = f"(?:[A-Za-z](?:\\.[A-Za-z])+|{words.COUNTRY_PAIRS})"
_PARTICLE = f"(?:[dDoOlL]{_INNER_APOSTROPHE}[{_LETTER}{_DIGIT}])?[{_LETTER}{_DIGIT}]+"
_JOINED = f"{_PARTICLE}(?:[-_{c.HYPHEN}]{_PARTICLE})*"
_HYPHENED = f"[A-Za-z0-9][A-Za-z0-9.,\xad]*(?:-(?:{_SEVERAL_INITIALS}\\.|[A-Za-z0-9\xad]+))+"
_CAPITALS = "[A-Z]+(?:(?:[+&]|(?i:&amp;))[A-Z]+)+"
_SLASHED = r"[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}(?:\\?/[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}){1,2}"
_FRACTION = f"(?:[{_DIGIT}]{{1,4}}[- \xa0])?[{_DIGIT}]{{1,4}}(?:\\\\?/|\u2044)[{_DIGIT}]{{1,4}}"
_NAMED = r"[A-Za-z][A-Za-z0-9_:.\-]*"
_QUOTED = r"(?:'[^'\r\n]*'|\"[^\"\r\n]*\")"
_ATTRIBUTE = f"(?:{_NAMED}(?:[ ]*=[ ]*{_QUOTED})?|{_QUOTED}|/)"
_TAG = rf"<(?:[!?][A-Za-z\-][^>\r\n]*|/{_NAMED}|{_NAMED}(?:[ ]+{_ATTRIBUTE})*)[ ]*/?[ ]*>"
_NOT_URL = r" \t\n\f\r\"<>|()"
_URL_END = rf"[^{_NOT_URL}.!?{{}},\-]"
_SITE = (
    rf"(?:www\.(?:[^{_NOT_URL}.!?{{}},]+\.)+[a-zA-Z]{{2,4}}"
    rf"|(?:[^{_NOT_URL}`'.!?{{}},-_$]+\.)+(?i:com|net|org|edu))"
)
_NOT_MAIL = rf"{_NOT_URL}\xa0{{}}"
_MAIL = rf"(?:<|(?i:&lt;))?[a-zA-Z0-9][^{_NOT_MAIL}]*@(?:[^{_NOT_MAIL}.]+\.)*[^{_NOT_MAIL}.]+(?:>|(?i:&gt;))?"


@dataclass(frozen=True, slots=True)
class Rule:
    """``pattern`` matches a token (its group ``token``) with what must follow; ``written`` makes of the token
    as it stands in the text the one of the Treebank."""

    pattern: re.Pattern[str]
    written: Callable[[str], str]


def _as_it_is(token: str) -> str:
    return token


def _always(written: str) -> Callable[[str], str]:
    return lambda _: written


def _mapped(*pairs: tuple[str, str]) -> Callable[[str], str]:
    """Each of the characters of the first string is written as the second."""
    table = str.maketrans({character: after for before, after in pairs for character in before})
    return lambda token: token.translate(table)


def _without_soft_hyphens(token: str) -> str:
    return token.replace("\xad", "") or "-"


def _with_ampersand(token: str) -> str:
    return re.sub("(?i)&amp;", "&", token)


def _hyphens(token: str) -> str:
    return "--" if 3 <= len(token) <= 4 else token


_CURLY = (("\x91‘‛‹", "`"), ("\x92’›", "'"), ("\x93“«", "``"), ("\x94”»", "''"))
_curly_opening = _mapped(("'", "`"), ('"', "``"), *_CURLY)
_curly_closing = _mapped(('"', "''"), *_CURLY)


def _opening(token: str) -> str:
    return _curly_opening(token.replace("&apos;", "'").replace("&quot;", '"'))


def _closing(token: str) -> str:
    return _curly_closing(token.replace("&apos;", "'").replace("&quot;", '"'))


_in_one = _mapped((" ", "\xa0"))
_brackets = _mapped(("(", "-LRB-"), (")", "-RRB-"))
_telephone = _mapped((" ", "\xa0"), ("(", "-LRB-"), (")", "-RRB-"))
_currency = _mapped(("¢", "cents"), ("£", "#"), ("\x80¤₠€", "$"))
_vulgar = _mapped(("¼", "1/4"), ("½", "1/2"), ("¾", "3/4"), ("⅓", "1/3"), ("⅔", "2/3"))

_TABLE: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    # What must be parted within one word.
    (r"(?i:c\+\+|[cf]#)", "", _as_it_is),
    ("(?i:can)", "(?i:not)", _as_it_is),
    ("(?i:'t)", "(?i:was|is)", _as_it_is),
    ("(?i:gon)", "(?i:na)", _as_it_is),
    ("(?i:wan)", "(?i:na)", _as_it_is),
    ("(?i:got)", "(?i:ta)", _as_it_is),
    ("(?i:lem|gim)", "(?i:me)", _as_it_is),
    # Marks of the web.
    (_TAG, "", _in_one),
    (f"(?i:&(?:MD|mdash|ndash);)|{c.DASH}", "", _always("--")),
    ("(?i:&amp;)", "", _always("&")),
    ("(?i:&(?:HT|TL|UR|LR|QC|QL|QR|odq|cdq|#[0-9]+);)", "", _as_it_is),
    # Words, and what is left of them before an ending.
    (_WORD, _ENDING, _without_soft_hyphens),
    ("[A-Za-z\xad]*[A-MO-Za-mo-z]\xad*", _NEGATION, _without_soft_hyphens),
    (_WORD, "", _without_soft_hyphens),
    (words.with_apostrophes(_APOSTROPHE, _INNER_APOSTROPHE, _LETTER), "", _as_it_is),
    (f"(?i:y){_APOSTROPHE}", f"[{_LETTER}]", _as_it_is),
    (rf"(?i:https?)://[^{_NOT_URL}]+{_URL_END}", "", _as_it_is),
    (rf"{_SITE}(?:/[^{_NOT_URL}]+{_URL_END})?", "", _as_it_is),
    (_MAIL, "", _as_it_is),
    (f"@[a-zA-Z_][a-zA-Z_0-9]*|#{_WORD_LETTER}+", "", _as_it_is),
    (f"{_ENDING}|{_NEGATION}", r"[^A-Za-z]", _closing),
    # Numbers.
    (rf"[{_DIGIT}]{{1,2}}[\-/][{_DIGIT}]{{1,2}}[\-/][{_DIGIT}]{{2,4}}", "", _as_it_is),
    (f"[+-]?{_NUMBER}", "", _without_soft_hyphens),
    (rf"[\u207a\u207b\u208a\u208b]?(?:{c.HIGH}+|{c.LOW}+)", "", _as_it_is),
    (_FRACTION, "", _in_one),
    (c.FRACTION, "", _vulgar),
    (words.special(_APOSTROPHE, _AMPERSAND), "", _with_ampersand),
    (_SLASHED, "", _as_it_is),
    (r"[A-Z]*\$|#", "", _as_it_is),
    (c.CURRENCY, "", _currency),
    # Abbreviations.
    (r"[A-Za-z]", rf"\.{_GAP}+(?:{words.SENTENCE_BEGINS}|{_TAG}){_GAP}", _as_it_is),
    (rf"{_SEVERAL_INITIALS}\.", rf"{_GAP}+(?:{words.SENTENCE_BEGINS}|{_TAG}){_GAP}", _as_it_is),
    (rf"(?i:{words.BEFORE_NUMBERS})\.", f"{_GAP}?[{_DIGIT}]", _as_it_is),
    (r"(?i:pt[ey]|co)\.", f"{_BLANK}(?i:ltd|lim)", _as_it_is),
    (rf"(?:{words.ABBREVIATIONS})\.", r"(?s:..)?", _as_it_is),
    (rf"(?:{words.TITLES}|{_INITIALS})\.", "", _as_it_is),
    (rf"(?:{words.TITLES}|{_INITIALS})", _BLANK, _as_it_is),
    (_SEVERAL_INITIALS, _GAP, _as_it_is),
    (f"{_APOSTROPHE}[0-9][0-9]", _GAP, _as_it_is),
    (
        rf"{_STEM}(?:\.{_STEM})*\.(?i:{words.FILE_ENDINGS})",
        f"{_GAP}|[.?!,]",
        _as_it_is,
    ),
    (rf"{_WORD}\.", "[,;:、]", _without_soft_hyphens),
    (words.TELEPHONE, "", _telephone),
    # Signs.
    (r"\"|(?i:&quot;)", "[A-Za-z0-9$]", _opening),
    (r"\"|(?i:&quot;)", "", _closing),
    ("<|(?i:&lt;)", "", _always("<")),
    (">|(?i:&gt;)", "", _always(">")),
    (r"[<>]?[:;=][\-o*']?[()DPdpO\\{@|\[\]]", "[^A-Za-z0-9]", _brackets),
    (words.FACE, "", _brackets),
    (r"\{", "", _always("-LCB-")),
    (r"\}", "", _always("-RCB-")),
    (r"\[", "", _always("-LSB-")),
    (r"\]", "", _always("-RSB-")),
    (r"\(", "", _always("-LRB-")),
    (r"\)", "", _always("-RRB-")),
    ("-+", "", _hyphens),
    (r"\.{3,5}|(?:\.[ \xa0]){2,4}\.|…", "", _always("...")),
    (r"@+|#+|_+|\*+|(?:\\\*){1,3}", "", _as_it_is),
    (r"[,;:、]|[?!]+|[.=/]|<<|>>", "", _as_it_is),
    (rf"(?:{_HYPHENED})\.", "[,;:、]", _without_soft_hyphens),
    (_HYPHENED, "", _without_soft_hyphens),
    (rf"(?:{_JOINED})\.", "[,;:、]", _as_it_is),
    (_JOINED, "", _as_it_is),
    (rf"(?:{_CAPITALS})\.", "[,;:、]", _with_ampersand),
    (_CAPITALS, "", _with_ampersand),
    ("'", r"[A-Za-z][^ \t\n\r\xa0]", _opening),
    (f"{_ENDING}|{_NEGATION}", "", _closing),
    (f"''|[`{c.CLOSING}{c.OPENING}{c.QUOTE}]{{1,2}}|{_APOSTROPHE}", "", _closing),
    (rf"[+%&~^|\\{c.SYMBOL}\u2044\u207a\u207b\u208a\u208b]", "", _as_it_is),
    (f"(?i:&nbsp;)|{_BLANK}+|[\n{c.ODD_NEWLINE}]|{c.DROPPED}", "", _always("")),
)


def _rules(table: Iterable[tuple[str, str, Callable[[str], str]]]) -> tuple[Rule, ...]:
    return tuple(
        Rule(re.compile(f"(?P<token>{token})(?:{after})"), written) for token, after, written in table
    )


RULES = _rules(_TABLE)
"""In order: of rules that read equally far, the first wins."""


VERSION = "ptb-1"
"""Changes whenever any text may get other tokens."""

REMOVED = frozenset(("''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", *".?!,:;-", "--", "..."))
"""What the COCO tools take for punctuation."""

_BLANKS = f"\t\xa0{BLANK}"
_BREAKS = re.compile("[\r\n\x0b\x0c\x85\u2028\u2029]")
_BY_ITSELF = re.compile(r"[\"']?[A-Za-z]+(?:['-][A-Za-z]+)*(?:[,;:!?\"']*|(?<=[A-Za-z]{2})\.[\"']?)")
_OPEN_ENDED = re.compile(rf"(?i:{BEFORE_NUMBERS}|co|pt[ey])\.")
"""Whether the full stop belongs to them depends on the next word."""


def tokens(text: str) -> tuple[str, ...]:
    """Tokens of one text, in lower case, without punctuation.

    A token may hold non-breaking spaces (``1\xa01/2``), as in the chain.
    """
    line = _BREAKS.sub(" ", text) + " \n"
    shape = image(line)
    found: list[str] = []
    place = 0
    while place < len(line) - 1:
        if not place or line[place - 1] == " ":
            end = line.index(" ", place)
            known = _by_itself(line[place:end])
            if known is not None and shape[end + 1] not in _BLANKS:
                found.extend(known)
                place = end + 1
                continue
        place, token = _next(line, shape, place)
        if token and token not in REMOVED:
            found.append(token)
    return tuple(" ".join(found).rstrip().split(" ")) if found else ()


@lru_cache(maxsize=1 << 17)
def _by_itself(chunk: str) -> tuple[str, ...] | None:
    """Tokens of what stands between two blanks, where no neighbour can matter; else None."""
    if chunk and (not _BY_ITSELF.fullmatch(chunk) or _OPEN_ENDED.search(chunk)):
        return None
    line = chunk + " \n"
    found, place = [], 0
    while place < len(chunk):
        place, token = _next(line, line, place)
        found.append(token)
    return tuple(token for token in found if token not in REMOVED)


def _next(line: str, shape: str, place: int) -> tuple[int, str]:
    """Where the token that begins at ``place`` ends, and how it is written; empty for a blank."""
    farthest, end, token = place, place + 1, ""
    for rule in RULES:
        found = rule.pattern.match(shape, place)
        if found is not None and found.end() > farthest:
            farthest, end = found.end(), found.end("token")
            token = rule.written(line[place:end])
    return end, token.lower()
