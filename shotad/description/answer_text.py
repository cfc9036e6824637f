"""Text that engines answered, cleaned: no HTML, no Markdown, nothing unseen; and whether it says anything.

Models, and the servers between them and us, escape signs for HTML, print values of a programming language in
place of text, or copy the placeholder of the form they were given. None of that may be spoken.
"""

from __future__ import annotations

import html
import re
import unicodedata

from shotad.core.progress import visible_text
from shotad.engines import after_thoughts

_TEMPLATE_TOKENS = re.compile(
    r"<[|｜][\w.:▁-]{2,30}[|｜]>|<\|?(?:turn|channel)\|?>|</?(?:s|material)>|\[/?INST\]|<(?:start|end)_of_turn>"
    r"|<(?:unk|pad|bos|eos|mask)>|\[(?:UNK|PAD|MASK|CLS|SEP|BOS|EOS)\]",
    re.IGNORECASE,
)
"""Signs of a chat template that a server did not take out, and marks of our prompts."""

_ENTITY = re.compile(
    r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});"
    # The commonest are written without their end too.
    r"|&(?:amp|lt|gt|quot|apos|nbsp|#39|#34)\b",
    re.IGNORECASE,
)
_MOST_ESCAPED = 5
"""Times that a text may have been escaped: ``&amp;amp;`` was twice."""

_TAG = re.compile(
    r"</?(?:a|b|big|blockquote|br|center|code|dd|del|div|dl|dt|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre"
    r"|q|s|small|span|strike|strong|sub|sup|table|tbody|td|th|thead|tr|tt|u|ul)"
    r"(?:\s[^<>=]{1,40}=[^<>]{0,300})?\s{0,9}/?>",
    re.IGNORECASE,
)
_LINE_TAG = re.compile(r"<(?:br|hr)\b|</?(?:p|div|li|tr|td|h[1-6]|blockquote|pre)\b", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{1,300}\)")
_ESCAPED_LETTER = re.compile(r"\\u([0-9a-f]{4})|\\x([0-9a-f]{2})", re.IGNORECASE)
_ESCAPED_BLANK = re.compile(r"\\[nrt]")
_HEADING_SIGNS = re.compile(r"^[ \t]*+#{2,6}|(?<!\S)#+(?!\S)", re.MULTILINE)
_LOOKS_EMPTY = re.compile("[\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0f]")
"""Letters and signs that look like a blank, and marks that choose another look of the character before."""
_LONE_JOINER = re.compile(
    "(?<![\u0250-\uffff\U00010000-\U0010ffff])[\u200c-\u200f]|[\u200c-\u200f](?=[\x00-\u024f]|\\Z)"
)
"""Joiners and marks of direction beside Latin letters; Persian, Hindi and emoji are written with them."""

_VALUES = (
    r"none|null|nil|nan|true|false|undefined|[-+]?inf(?:inity)?|n/?a|n\.a\.?|nonetype|\(?null pointer\)?"
    r"|not a number|empty string|void 0"
)
"""What programs print in place of a text that they do not have."""
_PLACEHOLDERS = (
    r"string|str|text|value|placeholder|to ?do|tbd|tba|tbc|sentence|sentences?(?: \d)?|lorem ipsum\b[^.]*"
    r"|summari[sz]ed?[_ ]?ads?(?:[_ ]?\d)?|(?:audio )?descriptions?(?: here)?|ad"
    r"|(?:your|the|a|an|insert|write|put|enter|add|fill in|one|first|second|third)(?: \w+){0,4}? "
    r"(?:sentence|answer|text|audio description|ad|line|description|translation|summary)(?: \w+){0,3}? here"
    r"|(?:your|insert) (?:\w+ ){0,3}(?:sentence|answer|text|audio description|line|description|translation"
    r"|summary)"
    r"|(?:same|see|as) (?:as )?above"
)
"""What stands in a form for what is to be filled in."""
_OBJECT = r"\[object \w+\]|<(?:class|function|object|bound method)\b[^<>]*>|<[^<>]{0,80}>|function ?\(\)[^.]*"
_NOTHING_TO_TELL = (
    r"(?:there (?:is|are) )?(?:no|not any) "
    r"(?:(?:significant|notable|visible|visual|further|new|additional|audio|other|major|relevant) ){0,3}"
    r"(?:ads?|(?:ad )?lines?|descriptions?|changes?|content|information|sentences?)"
    r"(?: (?:is |are )?(?:needed|required|necessary|available|provided|possible|given|here))?"
    r"|(?:nothing|none)(?: is)? (?:(?:significant|new|visible|else) )?"
    r"(?:to (?:describe|report|add|say|summari[sz]e)|needed|required|necessary|available|provided)"
    r"|(?:here(?:'s| is) )?(?:the |an? |your )?"
    r"(?:summary|answer|output|result|response|(?:audio )?description|ad)"
    r"|no (?:comment|response|answer|output)"
)
"""What a model says that has nothing to tell, or that does not get beyond announcing it."""
_SAYS_NOTHING = re.compile(rf"(?:{_OBJECT}|{_VALUES}|{_PLACEHOLDERS})", re.IGNORECASE)
_SHORT_ANSWER = re.compile(
    r"no|yes|ok(?:ay)?|unknown|unclear|nothing|empty|not (?:applicable|available|provided|specified|found)"
    rf"|{_NOTHING_TO_TELL}",
    re.IGNORECASE,
)
_VALUE = re.compile(_VALUES, re.IGNORECASE)
_BETWEEN_PARTS = re.compile(r"[.!?](?=\s)|[;,|\n]")
_LONGEST_PLACEHOLDER = 200


def without_thoughts(text: str) -> str:
    """An answer without what a model thought aloud, and without signs of its template.

    Thoughts go first, for signs of the template tell where they end.
    """
    return _TEMPLATE_TOKENS.sub("\n", after_thoughts(text.encode("utf-8", "ignore").decode("utf-8")))


def without_entities(text: str) -> str:
    """``text`` with characters for HTML's names and numbers of them, also where it was escaped twice.

    >>> without_entities("Ann &amp;amp; Bo &#39;run&#x27; &lt;b&gt; AT&T &foo;")
    "Ann & Bo 'run' <b> AT&T &foo;"
    """
    for _ in range(_MOST_ESCAPED):
        decoded = _ENTITY.sub(_character, text)
        if decoded == text:
            break
        text = decoded
    return text


def _character(entity: re.Match[str]) -> str:
    written = entity[0] if entity[0].endswith(";") else f"{entity[0]};"
    # Names are told apart by the case of their letters, but for those that people shout: &AMP; &Quot;
    decoded = html.unescape(written)
    if decoded == written:
        decoded = html.unescape(written.lower())
    return entity[0] if decoded == written.lower() else decoded


def visible(text: str) -> str:
    """``text`` without what nobody sees: control characters, halves of a pair, marks without a width."""
    shown = _LONE_JOINER.sub("", _LOOKS_EMPTY.sub(" ", visible_text(text)))
    return "".join(c for c in shown if c == "\n" or unicodedata.category(c) not in ("Cc", "Co", "Cn", "Cs"))


def without_markup(text: str) -> str:
    """``text`` as it is read: HTML's entities decoded and its tags gone, no Markdown, letters for escapes.

    Line ends stay; blanks are single.

    >>> without_markup("- A **woman** &amp; a [man](http://a.b) <i>smile</i>.")
    'A woman & a man smile.'
    """
    text = without_entities(text)
    text = _ESCAPED_LETTER.sub(lambda m: chr(int(m[1] or m[2], 16)), text)
    text = visible(_ESCAPED_BLANK.sub(" ", text))
    text = _TAG.sub(lambda tag: "\n" if _LINE_TAG.match(tag[0]) else "", text)
    text = _LINK.sub(r"\1", text)
    text = re.sub(r"[*`]+|~~+|(?<!\w)_+|_+(?!\w)", "", _HEADING_SIGNS.sub("", text))
    # A table's row has a bar at both ends.
    text = re.sub(r"^[ \t]*+\|[ \t]*+([^\n|]*)\|[ \t]*$", r"\1", text, flags=re.MULTILINE)
    text = re.sub(r"^[ \t]*(?:[-•>]+[ \t]+)?", "", text, flags=re.MULTILINE)
    return re.sub(r"[ \t]+", " ", text).strip()


def is_placeholder(text: str) -> bool:
    """True for text in place of an answer: nothing but signs, a program's value, or a form's placeholder.

    >>> [is_placeholder(text) for text in ("NaN", "None. None.", "[object Object]", "...", "Nan waves.")]
    [True, True, True, True, False]
    """
    return _consists_of(text, _SAYS_NOTHING)


def is_nothing(text: str) -> bool:
    """True for text that says nothing: as `is_placeholder`, or a word alone like ``no`` and ``unknown``."""
    return is_placeholder(text) or _consists_of(text, _SHORT_ANSWER)


_ERROR_PAGE = re.compile(r"\s*<(?:!doctype\s|html\b|\?xml\b)", re.IGNORECASE)
_ERROR_KEY = re.compile(r"\s*\{\s*\"(?:error|errors|exception|traceback)\"\s*:", re.IGNORECASE)
_ERROR_WORDS = re.compile(
    r"[\s\"'{]*(?:(?:\w*error|exception)\s?:\s|traceback \(most recent|http(?: error)? [45]\d\d\b"
    r"|error code\b|(?:internal )?server error\b|bad gateway\b|service unavailable\b|gateway time-?out\b"
    r"|too many requests\b|rate limit\b|(?:cuda )?out of memory\b|upstream \w+ error\b)",
    re.IGNORECASE,
)
_ERROR_NUMBER = re.compile(
    r"[\s\"'{]*[45]\d\d (?:bad|unauthori[sz]ed|payment|forbidden|not found|method|request|too many|internal"
    r"|not implemented|service|gateway)\b",
    re.IGNORECASE,
)
_OWNER = r"(?:an?|the|his|her|their|\w+['’]s)"
_COLOUR = r"(?:red|green|white|blue|yellow|orange)"
_READ_OUT = re.compile(
    r"[^\n{}]{1,120}?(?:"
    r"\b(?:glows?|flash(?:es)?|blinks?|flickers?|scrolls?|shines?|fades?|hangs?|stands|appears|pops up"
    r"|lights up|is (?:displayed|shown|written|painted|printed))"
    rf"(?:\W*\Z|,| {_COLOUR}\b| (?:\w+ )?(?:on|across|over|above|below|beneath|behind|beside"
    rf"|in (?:{_OWNER}|{_COLOUR}|large|big|small|bold))\b)"
    rf"|\b(?:fills|covers|lights) {_OWNER} |, (?:reads?|says?) {_OWNER} )",
    re.IGNORECASE,
)
"""A line that reads an error from a screen: ``404 Not Found glows on her laptop.``"""
_MOST_WORDS_READ_OUT = 20
"""Words of such a line; what servers say of an error is longer, or has no such verb."""
_CALL_KEYS = re.compile(r"\s*\{[^{}]{0,200}\"(?:arguments|tool_calls|function_call)\"\s*:")


def is_error_report(text: str) -> bool:
    """True for what a server or a program says in place of an answer: a page, an error, a call of a function.

    >>> [is_error_report(text) for text in ('{"error": "overloaded"}', "Internal Server Error")]
    [True, True]
    >>> [is_error_report(text) for text in ("404 Not Found glows on her laptop.", "500 people cheer.")]
    [False, False]
    """
    if _ERROR_PAGE.match(text) or _ERROR_KEY.match(text) or _CALL_KEYS.match(text):
        return True
    if len(text.split()) <= _MOST_WORDS_READ_OUT and _READ_OUT.match(text):
        return False
    return _ERROR_WORDS.match(text) is not None or _ERROR_NUMBER.match(text) is not None


def _consists_of(text: str, pattern: re.Pattern[str]) -> bool:
    """Whether each part of a short text, between its full stops and commas, is ``pattern`` or only signs."""
    if len(text) > _LONGEST_PLACEHOLDER:
        return not re.search(r"\w", text)
    bare = _bare(text)
    if not re.search(r"\w", bare) or pattern.fullmatch(bare):
        return True
    if all(_VALUE.fullmatch(word) for word in bare.split()):
        return True  # ``nan nan nan``
    parts = [_bare(part) for part in _BETWEEN_PARTS.split(bare)]
    return all(not part or pattern.fullmatch(part) for part in parts)


_SIGNS_AROUND = " \t\n.;:,!?*#\"'`“”‘’«»„"


def _bare(part: str) -> str:
    """``part`` without quotation marks, brackets that close nothing else, and full stops around it."""
    bare = part.strip(_SIGNS_AROUND)
    while len(bare) > 1 and bare[0] + bare[-1] in ("()", "{}"):
        bare = bare[1:-1].strip(_SIGNS_AROUND)
    if len(bare) > 1 and bare[0] + bare[-1] == "[]" and not bare.lower().startswith("[object "):
        bare = bare[1:-1].strip()
    return bare
