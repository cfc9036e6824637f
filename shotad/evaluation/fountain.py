"""Screenplays in Fountain (fountain.io/syntax), the plain text that screenwriting programs read and write.

Own and small, since no parser of Fountain on PyPI both reads and writes what `Screenplay` holds: the one with
the most users (screenplain) writes none and brings a PDF library.

Written, a screenplay loses what Fountain has no sign for: times, ids of cues, line breaks and runs of spaces
within a text, and elements without a text. All else reads back equal. A speaker whom nobody names is written
as ``UNKNOWN``, a scene without a heading gets its number as one.

Read, a screenplay of another program loses sections, synopses, notes, comments, emphasis, page breaks,
scene numbers, a speaker's extension (``(V.O.)``), and which dialogues are spoken at once. Transitions stay,
as actions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shotad.evaluation.screenplay import Element, Scene, Screenplay

NOBODY = "UNKNOWN"
"""The character of a dialogue whose speaker is not known."""
OPENING = "OPENING"
"""The heading of what stands before the first heading."""

_HEADING = re.compile(r"(?:INT|EXT|EST|INT\.?/EXT|EXT\.?/INT|I/E)[. ]", re.IGNORECASE)
_TITLE_KEY = re.compile(r"([^\W\d_][^:\n]*):(.*)")
_SIGNS = re.compile(r"[\\*_#()^]|(?<=\[)\[|(?<=\])\]")
"""What would be read as a sign, within a text."""
_WRITTEN = re.compile(r"\\(.)|((?<=\w)_(?=\w)|(?<!\S)[*_]+(?!\S))|[*_]+")


def write_fountain(play: Screenplay) -> str:
    """The screenplay as Fountain."""
    blocks = [
        f"Title: {_shown(play.title)}" + (f"\nLanguage: {_shown(play.language)}" if play.language else "")
    ]
    for number, scene in enumerate(play.scenes, 1):
        heading = _shown(scene.heading) or f"SCENE {number}"
        blocks.append(heading if _HEADING.match(heading) else "." + _begun(heading))
        blocks += [_block(one) for one in scene.elements if one.text.strip()]
    return "\n\n".join(blocks) + "\n"


def _block(element: Element) -> str:
    text = _shown(element.text)
    if element.kind == "action":
        return text if re.match(r"[^\W_]", text) and not _reads_otherwise(text) else f"!{text}"
    name = _shown(element.character)
    plain = not name or (name == name.upper() and name[0].isalpha() and not _reads_otherwise(name))
    cue = (name or NOBODY) if plain and name != NOBODY else f"@{name}"
    manner = [f"({_shown(element.manner)})"] if element.manner.strip() else []
    return "\n".join([cue, *manner, _begun(text)])


def _reads_otherwise(text: str) -> bool:
    """Whether a text that begins with a letter would be read as a heading or a transition."""
    return bool(_HEADING.match(text)) or _is_transition(text)


def _is_transition(line: str) -> bool:
    return line.endswith("TO:") and line == line.upper()


def _shown(text: str) -> str:
    """A text on one line, with a backslash before what would be read as a sign."""
    return _SIGNS.sub(r"\\\g<0>", " ".join(text.split()))


def _begun(text: str) -> str:
    """A text that begins with a letter, digit or backslash: a sign in front gets one."""
    return text if not text or text[0].isalnum() or text[0] == "\\" else f"\\{text}"


def _meant(text: str) -> str:
    """What is meant by a text as it is written: without emphasis, and signs as themselves."""
    said = _WRITTEN.sub(lambda match: match[1] or match[2] or "", text)
    return " ".join(said.split())


def read_fountain(text: str) -> Screenplay:
    """The screenplay in a text of Fountain; every text can be read as one."""
    text = _without(_without(text.removeprefix("\ufeff"), "/*", "*/"), "[[", "]]")
    blocks = [block.split("\n") for block in re.split(r"\n[ \t]*\n", text.strip()) if block.strip()]
    head: dict[str, str] = {}
    if blocks and _TITLE_KEY.match(blocks[0][0]) and not _HEADING.match(blocks[0][0]):
        head = _head(blocks.pop(0))
    scenes: list[tuple[str, list[Element]]] = []
    for block in blocks:
        lines: list[str] = []
        for line in filter(None, map(str.strip, block)):
            heading = None if lines else _heading(line)
            if heading is not None:
                scenes.append((heading, []))
            elif lines or line[0] not in "#=":  # no section, synopsis or page break
                lines.append(line)
        found = list(_elements(lines)) if lines else []
        if found and not scenes:
            scenes.append((OPENING, []))
        if found:
            scenes[-1][1].extend(found)
    told = tuple(Scene(heading, tuple(elements)) for heading, elements in scenes)
    return Screenplay(head.get("title", ""), told, head.get("language", ""))


def _without(text: str, opens: str, closes: str) -> str:
    """A text without what stands between two signs; one that is not closed is text."""
    parts, at = [], 0
    while (begin := text.find(opens, at)) >= 0 and (end := text.find(closes, begin + len(opens))) >= 0:
        parts.append(text[at:begin])
        at = end + len(closes)
    return "".join([*parts, text[at:]])


def _unnumbered(heading: str) -> str:
    """A heading without the number of its scene: ``INT. HALL #12A#``."""
    rest, sign, number = heading.rstrip().removesuffix("#").rpartition("#")
    is_number = heading.rstrip().endswith("#") and sign and "\\" not in rest[-1:] + number
    return rest if is_number else heading


def without_extension(name: str) -> str:
    """A speaker's name without what stands behind it: ``ANN (V.O.)``; also without the sign of dialogues that
    are spoken at once, ``^``."""
    name = name.rstrip()
    if name.endswith("^") and not name.endswith("\\^"):
        name = name[:-1].rstrip()
    begin = name.rfind("(")
    is_extension = name.endswith(")") and begin >= 0 and "\\" not in name[begin - 1 : begin] + name[-2:]
    return name[:begin].rstrip() if is_extension else name


def _head(lines: Sequence[str]) -> dict[str, str]:
    """The title page by its keys; a value may go on in lines below."""
    found: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        match = None if line[:1].isspace() else _TITLE_KEY.match(line)
        if match:
            key = match[1].strip().lower()
        found.setdefault(key, []).append(match[2] if match else line)
    return {key: _meant(" ".join(values)) for key, values in found.items()}


def _heading(line: str) -> str | None:
    """The heading on a line, without scene number; None where there is none."""
    if _HEADING.match(line):
        return _meant(_unnumbered(line))
    if line.startswith(".") and not line.startswith("..") and len(line) > 1:
        return _meant(_unnumbered(line[1:]))
    return None


def _elements(lines: Sequence[str]) -> Iterator[Element]:
    """The elements of a block that has no heading."""
    first = lines[0]
    if len(lines) > 1 and _is_cue(first):
        yield from _dialogue(first, lines[1:])
    else:
        sign = first[0] if first[0] in "!>~" else ""
        text = " ".join([first[len(sign) :], *lines[1:]])
        said = _meant(text.removesuffix("<") if sign == ">" else text)
        if said:
            yield Element("action", said)


def _is_cue(line: str) -> bool:
    if line.startswith("@"):
        return True
    name = without_extension(line)
    is_plain = name == name.upper() and any(sign.isalpha() for sign in name)
    return is_plain and line[0] not in "!>~" and not _is_transition(line)


def _dialogue(cue: str, lines: Sequence[str]) -> Iterator[Element]:
    """What is said under a cue: an element for each manner that it is said in."""
    name = without_extension(cue.removeprefix("@"))
    character = "" if cue == NOBODY else _meant(name)
    manner, said = "", list[str]()
    for line in [*lines, "()"]:
        if not (line.startswith("(") and line.endswith(")")):
            said.append(line.removeprefix("~"))
            continue
        text = _meant(" ".join(said))
        if text:
            yield Element("dialogue", text, character, manner)
        manner, said = _meant(line[1:-1]), []
