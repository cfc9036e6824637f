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
"""

from __future__ import annotations

import re
from functools import lru_cache

from shotad.evaluation.caption.characters import BLANK, image
from shotad.evaluation.caption.ptbrules import RULES
from shotad.evaluation.caption.ptbwords import BEFORE_NUMBERS

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
