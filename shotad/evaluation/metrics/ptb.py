"""Penn Treebank tokens in Python, equal to the chain of the COCO caption tools.

That chain is Stanford's Java tokeniser (CoreNLP 3.4.1, lines kept, lower case) and a list of punctuation that
is thrown away. Here too the rule that reads farthest wins at each place of the text, what must follow counted
in; of rules that read equally far, the first. The tests hold the rules against the Java tool, where it can be
run.

Rules are written for ASCII and a few stand-ins: each other character is looked at as the stand-in of its
kind (any accented letter as ``é``). A text and this image of it are equally long.

What looks odd in the chain is done here too: brackets stay, as ``-lrb-`` and ``-rrb-``, ``£`` becomes ``#``.
But each text is read by itself. The chain reads all as the lines of one file: there the end of ``a yellow
X.`` is ``x`` or ``x.`` by the text that comes next (``x.`` here; 2 of CMD-AD's 7,316), and a text with a line
break of an unusual kind in it shifts all that follow (a blank here).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

VERSION = "ptb-1"
"""Changes whenever any text may get other tokens."""

REMOVED = frozenset(("''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", *".?!,:;-", "--", "..."))
"""What the COCO tools take for punctuation."""


def tokens(text: str) -> tuple[str, ...]:
    """Tokens of one text, in lower case, without punctuation.

    A token may hold non-breaking spaces (``1\xa01/2``), as in the chain.
    """
    line = _BREAKS.sub(" ", text) + " \n"
    shape = image(line)
    all_tokens: list[str] = []
    place = 0
    while place < len(line) - 1:
        if not place or line[place - 1] == " ":
            end = line.index(" ", place)
            parts = _by_itself(line[place:end])
            if parts is not None and shape[end + 1] not in _BLANKS:
                all_tokens.extend(parts)
                place = end + 1
                continue
        place, token = _next(line, shape, place)
        if token and token not in REMOVED:
            all_tokens.append(token)
    return tuple(" ".join(all_tokens).rstrip().split(" ")) if all_tokens else ()


@lru_cache(maxsize=1 << 17)
def _by_itself(chunk: str) -> tuple[str, ...] | None:
    """Tokens of what stands between two blanks, where no neighbour can matter; else None."""
    if chunk and (not _BY_ITSELF.fullmatch(chunk) or _OPEN_ENDED.search(chunk)):
        return None
    line = chunk + " \n"
    found_tokens, place = [], 0
    while place < len(chunk):
        place, token = _next(line, line, place)
        found_tokens.append(token)
    return tuple(token for token in found_tokens if token not in REMOVED)


def _next(line: str, shape: str, place: int) -> tuple[int, str]:
    """Where the token that begins at ``place`` ends, and how it is written; empty for a blank."""
    farthest, end, token = place, place + 1, ""
    for pattern, written in RULES:
        match = pattern.match(shape, place)
        if match is not None and match.end() > farthest:
            farthest, end = match.end(), match.end("token")
            token = written(line[place:end])
    return end, token.lower()


LETTER = "é"
CAPITAL = "É"
MARK = "ˆ"
"""Accents that stand by themselves and vowel signs: part of a plain word, of nothing with hyphens."""
DIGIT = "٠"
CURRENCY = "¢"
HIGH = "²"
LOW = "₂"
FRACTION = "½"
SYMBOL = "§"
"""Always a token of its own."""
CLOSING = "’"
"""A curly quotation mark that is also an apostrophe."""
OPENING = "‘"
"""One that may stand in a word by mistake."""
QUOTE = "“"
"""Any other curly or angular one."""
DASH = "–"
HYPHEN = "‐"
BLANK = "\u2003"
ODD_NEWLINE = "\u2028"
DROPPED = "\u200b"
"""Invisible ones that part tokens and are no part of any; and all that the tokeniser does not know."""

_SINGLE = {
    CLOSING: "\x92’",
    OPENING: "\x91‘‛",
    QUOTE: "\x93\x94«»‚“”„‟‹›",
    DASH: "\x96\x97–—―",
    HYPHEN: "\u058a‐\u2011",
    CURRENCY: "\x80¢£¤¥؋฿₠₤€￠￡￥￦",
    HIGH: "¹²³⁰⁴⁵⁶⁷⁸⁹",
    LOW: "₀₁₂₃₄₅₆₇₈₉",
    ODD_NEWLINE: "\x0b\x0c\x85\u2028\u2029",
    SYMBOL: "¡¿\u037e\u0589\u061f\u06d4\u0700\u0701\u0702\u07fa。¦§¨©¬®¯°±´¶·¸×÷\u0387\u05be\u05c0\u05c3"
    "\u05c6\u05f3\u05f4\u0600\u0601\u0602\u0603\u0606\u0607\u0608\u0609"
    "\u060a\u060c\u0614\u061b\u061e\u066a\u066d\u07f6\u07f7\u07f8"
    "।॥๏\u1fbd‖‗†‡•‣‰‱′″‴‵‶‷‸※‾‿⁀⁁⁂⁼⁽⁾₌₍₎〒・",
}
_RANGES = (
    (BLANK, 0x2000, 0x200A),
    (BLANK, 0x3000, 0x3000),
    (FRACTION, 0xBC, 0xBE),
    (FRACTION, 0x2153, 0x215E),
    (SYMBOL, 0x0703, 0x070D),
    (SYMBOL, 0x2100, 0x214F),
    (SYMBOL, 0x2190, 0x2BFF),
    (SYMBOL, 0xFF01, 0xFF0F),
    (SYMBOL, 0xFF1A, 0xFF20),
    (SYMBOL, 0xFF3B, 0xFF40),
    (SYMBOL, 0xFF5B, 0xFF65),
)
_AS_THEY_ARE = "\u00a0\u00ad\u2026\u2044\u3001\u066b\u066c\u207a\u207b\u208a\u208b"
_LAST = 0xFFFF
"""Java's tokeniser reads characters beyond as two that it does not know."""
_LAST_MARK = 0x0ECD
"""Marks of later scripts are not known to be part of words."""


def image(text: str) -> str:
    """The text with each character beyond ASCII replaced by the stand-in of its kind."""
    return text if text.isascii() and text.isprintable() else text.translate(_KINDS)


class _Kinds(dict[int, str]):
    """A table for `str.translate` that finds the stand-in of a character when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if character in "\x0b\x0c":
            stand_in = ODD_NEWLINE
        elif code < 0x80:
            stand_in = character if character.isprintable() or character in "\t\n\r" else DROPPED
        elif character in _AS_THEY_ARE:
            stand_in = character
        elif character in _ONE_BY_ONE:
            stand_in = _ONE_BY_ONE[character]
        elif code > _LAST:
            stand_in = DROPPED
        elif category[0] == "L":
            stand_in = CAPITAL if category == "Lu" else LETTER
        elif category == "Nd":
            stand_in = DIGIT
        elif category in {"Mn", "Mc", "Sk"} and code <= _LAST_MARK:
            stand_in = MARK
        else:
            stand_in = next((kind for kind, first, last in _RANGES if first <= code <= last), DROPPED)
        self[code] = stand_in
        return stand_in


_ONE_BY_ONE = {member: kind for kind, members in _SINGLE.items() for member in members}
_KINDS = _Kinds()


def _any(*lines: str) -> str:
    """Any of these words, the longer first."""
    return "|".join(sorted(" ".join(lines).split(), key=lambda word: (-len(word), word)))


def _with_a_capital(*lines: str) -> str:
    """Any of these words; the first letter only as it is here."""
    return "|".join(f"{word[0]}(?i:{word[1:]})" for word in " ".join(lines).split())


COUNTRY_PAIRS = r"(?i:(?:Canada|Sino|Korean|EU|Japan|non)-U\.S|U\.S\.-(?:U\.K|U\.S\.S\.R))"
"""Names of several states that are one token before a full stop."""

_MOSTLY_LAST = _any(
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thurs Fri",
    "Ala Ariz Calif Colo Conn Ct Dak Fla Ga Ind Kan Kans Ky Md Mich Minn Mo Mont Neb Nev Okla Penn Tenn Va",
    "Vt Wis Wisc Wyo Inc Co Cos Corp Ltd Plc Rt Bancorp Bhd Assn Univ Intl Sys",
    "tel est ext sq Jr Sr Bros Blvd Rd Esq etc al seq Bldg Ed\\.D Ph\\.D",
)
_STATES = _with_a_capital("Ark Az Del Ill La Mass Miss Ore Pa Tex Wash")
"""Common words too, unless written with a capital."""
ABBREVIATIONS = f"(?i:{_MOSTLY_LAST})|{_STATES}|[Pp]?[Pp](?i:t)[ye]s?"
"""Keep their full stop, though a sentence may end with them."""

_NEVER_LAST = _any(
    "Mr Mrs Ms Dr Drs Prof Profs Sen Sens Rep Reps Atty Attys Lt Col Gen Messrs Gov Govs Adm Rev Maj Sgt Cpl",
    "Pvt Mt Capt St Ste Ave Pres Lieut Hon Brig Cmdr Comdr Pfc Spc Supt Supts Det Ft Adj Adv Asst Assoc Ens",
    "Insp Mlle Mme Msgr Sfc Ph Dept Invt Elec Natl vs Alex Wm Jos Cie cf TREAS a\\.k\\.a",
)
TITLES = f"(?i:{_NEVER_LAST})|[Mm][ft](?i:g)|{_with_a_capital('Miss')}"
"""Keep their full stop, and no sentence ends with them."""

BEFORE_NUMBERS = _any("ca fig figs prop no nos art bldg pp op")
"""Keep their full stop before a number only."""

SENTENCE_BEGINS = _with_a_capital(
    "A About According Additionally After An As At But Earlier He Her Here However If In It Last Many More",
    "Mr\\. Ms\\. Now Once One Other Our She Since So Some Such That The Their Then There These They This We",
    "What When While Yet You",
)
"""Words that begin a new sentence after initials."""

FILE_ENDINGS = _any(
    "bat bmp c class cgi cpp dll doc docx exe gif gz h htm html jar java jpeg jpg mov mp3 pdf php pl png ppt",
    "ps py sql tar txt wav x xml zip",
)

TELEPHONE = (
    r"(?:\([0-9]{2,3}\)[ \xa0]?|(?:\+\+?)?(?:[0-9]{2,4}[\- \xa0])?[0-9]{2,4}[\- \xa0])"
    r"[0-9]{3,4}[\- \xa0]?[0-9]{3,5}|(?:(?:\+\+?)?[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5}"
)

FACE = (
    r"[\^x=~<>]\.\[\^[xX]=[^<\n]*<>\]|[\-\^x=~<>']_[\-\^x=~<>']"
    r"|\([\-\^x=~<>'][_.]?[\-\^x=~<>']\)|\([\^x=~<>']-[\^x=~<>'`]\)"
)
"""Faces made of signs, read upright."""


_LETTER = f"A-Za-z{LETTER}{CAPITAL}"
_DIGIT = f"0-9{DIGIT}"
_APOSTROPHE = f"(?:['{CLOSING}]|(?i:&apos;))"
_INNER_APOSTROPHE = f"(?:['{CLOSING}{OPENING}`]|(?i:&apos;))"
_WITH_APOSTROPHES = (
    f"{_APOSTROPHE}(?i:n){_APOSTROPHE}?|(?i:Dunkin|somethin|ol){_APOSTROPHE}|{_APOSTROPHE}(?i:em)"
    f"|[A-HJ-XZn]{_INNER_APOSTROPHE}[{_LETTER}]{{2}}[{_LETTER}]*|{_APOSTROPHE}[2-9]0(?i:s)"
    f"|{_APOSTROPHE}(?i:till?)|[{_LETTER}]+[aeiouyAEIOUY]{_INNER_APOSTROPHE}[aeiouA-Z][{_LETTER}]*"
    f"|{_APOSTROPHE}(?i:cause)|(?i:o){_INNER_APOSTROPHE}(?i:o)|[lLdDjJ]{_APOSTROPHE}"
    r"|(?i:cont'd\.?|nor'easter|c'mon|e'er|s'mores|ev'ry|li'l|nat'l)"
)
"""Words that an apostrophe is part of."""
_BLANK = f"[ \t\xa0{BLANK}]"
_GAP = f"[ \t\xa0\n{BLANK}]"
_AMPERSAND = "(?:&|(?i:&amp;))"
_SPECIAL = (
    f"-(?i:[LR][RCS]B)-|(?i:C\\.D\\.s|pro-|anti-)|(?i:S){_AMPERSAND}(?i:P-500|Ls)"
    f"|(?i:cap){_APOSTROPHE}(?i:n)|(?i:c){_APOSTROPHE}(?i:est)"
)
"""Single ones that no rule makes."""
_WORD_LETTER = f"(?:[{_LETTER}{MARK}\xad]|&[aeiouAEIOU](?i:acute|grave|uml);)"
_WORD_PART = f"{_WORD_LETTER}(?:{_WORD_LETTER}|[{_DIGIT}])*"
_STEM = f"(?:{_WORD_LETTER}|[{_DIGIT}])+"
_WORD = f"{_WORD_PART}(?:[.!?]{_WORD_PART})*"
_ENDING = f"{_APOSTROPHE}(?:[msdMSD]|(?i:re|ve|ll))"
_NEGATION = f"(?i:n){_INNER_APOSTROPHE}(?i:t)"
_BETWEEN = "[.:,\xad\u066b\u066c]"
_NUMBER = f"(?:[{_DIGIT}]+(?:{_BETWEEN}[{_DIGIT}]+)*|(?:{_BETWEEN}[{_DIGIT}]+)+)"
_INITIALS = f"(?:[A-Za-z](?:\\.[A-Za-z])*|{COUNTRY_PAIRS})"
_SEVERAL_INITIALS = f"(?:[A-Za-z](?:\\.[A-Za-z])+|{COUNTRY_PAIRS})"
_PARTICLE = f"(?:[dDoOlL]{_INNER_APOSTROPHE}[{_LETTER}{_DIGIT}])?[{_LETTER}{_DIGIT}]+"
_JOINED = f"{_PARTICLE}(?:[-_{HYPHEN}]{_PARTICLE})*"
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


Write = Callable[[str], str]
"""Makes of a token, as it stands in the text, the one of the Treebank."""


_as_it_is = str


def _always(written: str) -> Write:
    return lambda _: written


def _mapped(*pairs: tuple[str, str]) -> Write:
    """Each of the characters of the first string is written as the second."""
    table = str.maketrans({character: after for before, after in pairs for character in before})
    return lambda token: token.translate(table)


def _without_soft_hyphens(token: str) -> str:
    return token.replace("\xad", "") or "-"


def _with_ampersand(token: str) -> str:
    return re.sub("(?i)&amp;", "&", token)


_CURLY = (("\x91‘‛‹", "`"), ("\x92’›", "'"), ("\x93“«", "``"), ("\x94”»", "''"))


def _quotes(*straight: tuple[str, str]) -> Write:
    mapped = _mapped(*straight, *_CURLY)
    return lambda token: mapped(token.replace("&apos;", "'").replace("&quot;", '"'))


_opening = _quotes(("'", "`"), ('"', "``"))
_closing = _quotes(('"', "''"))
_in_one = _mapped((" ", "\xa0"))
_brackets = _mapped(("(", "-LRB-"), (")", "-RRB-"))

_PARTED = (("can", "not"), ("'t", "was|is"), ("gon|wan", "na"), ("got", "ta"), ("lem|gim", "me"))
_BRACKETS = (("{", "LCB"), ("}", "RCB"), ("[", "LSB"), ("]", "RSB"), ("(", "LRB"), (")", "RRB"))
_TABLE: tuple[tuple[str, str, Write], ...] = (
    # What must be parted within one word.
    (r"(?i:c\+\+|[cf]#)", "", _as_it_is),
    *((f"(?i:{first})", f"(?i:{then})", _as_it_is) for first, then in _PARTED),
    # Marks of the web.
    (_TAG, "", _in_one),
    (f"(?i:&(?:MD|mdash|ndash);)|{DASH}", "", _always("--")),
    ("(?i:&amp;)", "", _always("&")),
    ("(?i:&(?:HT|TL|UR|LR|QC|QL|QR|odq|cdq|#[0-9]+);)", "", _as_it_is),
    # Words, and what is left of them before an ending.
    (_WORD, _ENDING, _without_soft_hyphens),
    ("[A-Za-z\xad]*[A-MO-Za-mo-z]\xad*", _NEGATION, _without_soft_hyphens),
    (_WORD, "", _without_soft_hyphens),
    (_WITH_APOSTROPHES, "", _as_it_is),
    (f"(?i:y){_APOSTROPHE}", f"[{_LETTER}]", _as_it_is),
    (rf"(?i:https?)://[^{_NOT_URL}]+{_URL_END}", "", _as_it_is),
    (rf"{_SITE}(?:/[^{_NOT_URL}]+{_URL_END})?", "", _as_it_is),
    (_MAIL, "", _as_it_is),
    (f"@[a-zA-Z_][a-zA-Z_0-9]*|#{_WORD_LETTER}+", "", _as_it_is),
    (f"{_ENDING}|{_NEGATION}", r"[^A-Za-z]", _closing),
    # Numbers.
    (rf"[{_DIGIT}]{{1,2}}[\-/][{_DIGIT}]{{1,2}}[\-/][{_DIGIT}]{{2,4}}", "", _as_it_is),
    (f"[+-]?{_NUMBER}", "", _without_soft_hyphens),
    (rf"[\u207a\u207b\u208a\u208b]?(?:{HIGH}+|{LOW}+)", "", _as_it_is),
    (_FRACTION, "", _in_one),
    (FRACTION, "", _mapped(("¼", "1/4"), ("½", "1/2"), ("¾", "3/4"), ("⅓", "1/3"), ("⅔", "2/3"))),
    (_SPECIAL, "", _with_ampersand),
    (_SLASHED, "", _as_it_is),
    (r"[A-Z]*\$|#", "", _as_it_is),
    (CURRENCY, "", _mapped(("¢", "cents"), ("£", "#"), ("\x80¤₠€", "$"))),
    # Abbreviations.
    (r"[A-Za-z]", rf"\.{_GAP}+(?:{SENTENCE_BEGINS}|{_TAG}){_GAP}", _as_it_is),
    (rf"{_SEVERAL_INITIALS}\.", rf"{_GAP}+(?:{SENTENCE_BEGINS}|{_TAG}){_GAP}", _as_it_is),
    (rf"(?i:{BEFORE_NUMBERS})\.", f"{_GAP}?[{_DIGIT}]", _as_it_is),
    (r"(?i:pt[ey]|co)\.", f"{_BLANK}(?i:ltd|lim)", _as_it_is),
    (rf"(?:{ABBREVIATIONS})\.", r"(?s:..)?", _as_it_is),
    (rf"(?:{TITLES}|{_INITIALS})\.", "", _as_it_is),
    (rf"(?:{TITLES}|{_INITIALS})", _BLANK, _as_it_is),
    (_SEVERAL_INITIALS, _GAP, _as_it_is),
    (f"{_APOSTROPHE}[0-9][0-9]", _GAP, _as_it_is),
    (rf"{_STEM}(?:\.{_STEM})*\.(?i:{FILE_ENDINGS})", f"{_GAP}|[.?!,]", _as_it_is),
    (rf"{_WORD}\.", "[,;:、]", _without_soft_hyphens),
    (TELEPHONE, "", _mapped((" ", "\xa0"), ("(", "-LRB-"), (")", "-RRB-"))),
    # Signs.
    (r"\"|(?i:&quot;)", "[A-Za-z0-9$]", _opening),
    (r"\"|(?i:&quot;)", "", _closing),
    ("<|(?i:&lt;)", "", _always("<")),
    (">|(?i:&gt;)", "", _always(">")),
    (r"[<>]?[:;=][\-o*']?[()DPdpO\\{@|\[\]]", "[^A-Za-z0-9]", _brackets),
    (FACE, "", _brackets),
    *((re.escape(sign), "", _always(f"-{name}-")) for sign, name in _BRACKETS),
    ("-+", "", lambda token: "--" if 3 <= len(token) <= 4 else token),
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
    (f"''|[`{CLOSING}{OPENING}{QUOTE}]{{1,2}}|{_APOSTROPHE}", "", _closing),
    (rf"[+%&~^|\\{SYMBOL}\u2044\u207a\u207b\u208a\u208b]", "", _as_it_is),
    (f"(?i:&nbsp;)|{_BLANK}+|[\n{ODD_NEWLINE}]|{DROPPED}", "", _always("")),
)


RULES = tuple((re.compile(f"(?P<token>{token})(?:{after})"), written) for token, after, written in _TABLE)
"""Patterns of a token (their group ``token``) with what must follow, and how it is written; of rules that
read equally far, the first wins."""

_BLANKS = f"\t\xa0{BLANK}"
_BREAKS = re.compile("[\r\n\x0b\x0c\x85\u2028\u2029]")
_BY_ITSELF = re.compile(r"[\"']?[A-Za-z]+(?:['-][A-Za-z]+)*(?:[,;:!?\"']*|(?<=[A-Za-z]{2})\.[\"']?)")
_OPEN_ENDED = re.compile(rf"(?i:{BEFORE_NUMBERS}|co|pt[ey])\.")
"""Whether the full stop belongs to them depends on the next word."""
