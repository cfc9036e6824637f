"""Screenplays from files and into files: one table of formats, by name (docs/story.md).

``fountain`` (fountain.io/syntax) is own, since no parser of it on PyPI both reads and writes what
`Screenplay` holds. Read, a screenplay of another program loses sections, synopses, notes, comments, emphasis,
page breaks, scene numbers, a speaker's extension (``(V.O.)``), and which dialogues are spoken at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from shotad.core.errors import EvaluationError
from shotad.core.records import first_error_message
from shotad.core.text_files import read_text_file
from shotad.evaluation.screenplay import Element, Scene, Screenplay, read_cml, write_cml
from shotad.script.cue import timecode

NOBODY = "UNKNOWN"
"""The character of a dialogue whose speaker is not known."""
OPENING = "OPENING"
"""The heading of what stands before the first heading."""

_HEADING = re.compile(r"(?:INT|EXT|EST|INT\.?/EXT|EXT\.?/INT|I/E)[. ]", re.IGNORECASE)
_TITLE_KEY = re.compile(r"([^\W\d_][^:\n]*):(.*)")
_SIGNS = re.compile(r"[\\*_#()^]|(?<=\[)\[|(?<=\])\]")
"""What would be read as a sign, within a text."""
_ESCAPE_OR_EMPHASIS = re.compile(r"\\(.)|((?<=\w)_(?=\w)|(?<!\S)[*_]+(?!\S))|[*_]+")


def write_fountain(play: Screenplay) -> str:
    """The screenplay as Fountain."""
    blocks = [
        f"Title: {_escaped(play.title)}" + (f"\nLanguage: {_escaped(play.language)}" if play.language else "")
    ]
    for number, scene in enumerate(play.scenes, 1):
        heading = _escaped(scene.heading) or f"SCENE {number}"
        blocks.append(heading if _HEADING.match(heading) else "." + _escaped_start(heading))
        for element in scene.elements:
            if not element.text.strip():
                continue
            text, name = _escaped(element.text), _escaped(element.character)
            if element.kind == "action":
                plain = re.match(r"[^\W_]", text) and not _reads_otherwise(text)
                blocks.append(text if plain else f"!{text}")
                continue
            plain = not name or (name == name.upper() and name[0].isalpha() and not _reads_otherwise(name))
            cue = (name or NOBODY) if plain and name != NOBODY else f"@{name}"
            manner = [f"({_escaped(element.manner)})"] if element.manner.strip() else []
            blocks.append("\n".join([cue, *manner, _escaped_start(text)]))
    return "\n\n".join(blocks) + "\n"


def _reads_otherwise(text: str) -> bool:
    """Whether a text that begins with a letter would be read as a heading or a transition."""
    return bool(_HEADING.match(text)) or _is_transition(text)


def _is_transition(line: str) -> bool:
    return line.endswith("TO:") and line == line.upper()


def _escaped(text: str) -> str:
    """A text on one line, with a backslash before what would be read as a sign."""
    return _SIGNS.sub(r"\\\g<0>", " ".join(text.split()))


def _escaped_start(text: str) -> str:
    """A text that begins with a letter, digit or backslash: a sign in front gets one."""
    return text if not text or text[0].isalnum() or text[0] == "\\" else f"\\{text}"


def _unescaped(text: str) -> str:
    """What is meant by a text as it is written: without emphasis, and signs as themselves."""
    unmarked = _ESCAPE_OR_EMPHASIS.sub(lambda match: match[1] or match[2] or "", text)
    return " ".join(unmarked.split())


def read_fountain(text: str) -> Screenplay:
    """The screenplay in a text of Fountain; every text can be read as one."""
    text = _without_between(_without_between(text.removeprefix("\ufeff"), "/*", "*/"), "[[", "]]")
    blocks = [block.split("\n") for block in re.split(r"\n[ \t]*\n", text.strip()) if block.strip()]
    head: dict[str, str] = {}
    if blocks and _TITLE_KEY.match(blocks[0][0]) and not _HEADING.match(blocks[0][0]):
        head = _title_page(blocks.pop(0))
    scenes: list[tuple[str, list[Element]]] = []
    for block in blocks:
        lines: list[str] = []
        for line in filter(None, map(str.strip, block)):
            heading = None if lines else _heading_on(line)
            if heading is not None:
                scenes.append((heading, []))
            elif lines or line[0] not in "#=":  # no section, synopsis or page break
                lines.append(line)
        block_elements = list(_block_elements(lines)) if lines else []
        if block_elements and not scenes:
            scenes.append((OPENING, []))
        if block_elements:
            scenes[-1][1].extend(block_elements)
    finished_scenes = tuple(Scene(heading, tuple(elements)) for heading, elements in scenes)
    return Screenplay(head.get("title", ""), finished_scenes, head.get("language", ""))


def _without_between(text: str, opens: str, closes: str) -> str:
    """A text without what stands between two signs; one that is not closed is text."""
    parts, position = [], 0
    while (begin := text.find(opens, position)) >= 0 and (end := text.find(closes, begin + len(opens))) >= 0:
        parts.append(text[position:begin])
        position = end + len(closes)
    return "".join([*parts, text[position:]])


def without_extension(name: str) -> str:
    """A speaker's name without what stands behind it: ``ANN (V.O.)``; also without the sign of dialogues that
    are spoken at once, ``^``."""
    name = name.rstrip()
    if name.endswith("^") and not name.endswith("\\^"):
        name = name[:-1].rstrip()
    begin = name.rfind("(")
    is_extension = name.endswith(")") and begin >= 0 and "\\" not in name[begin - 1 : begin] + name[-2:]
    return name[:begin].rstrip() if is_extension else name


def _title_page(lines: Sequence[str]) -> dict[str, str]:
    """The title page by its keys; a value may go on in lines below."""
    lines_by_key: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        match = None if line[:1].isspace() else _TITLE_KEY.match(line)
        if match:
            key = match[1].strip().lower()
        lines_by_key.setdefault(key, []).append(match[2] if match else line)
    return {key: _unescaped(" ".join(values)) for key, values in lines_by_key.items()}


def _heading_on(line: str) -> str | None:
    """The heading on a line, without its scene's number: ``INT. HALL #12A#``; None where there is none."""
    if not _HEADING.match(line):
        if not line.startswith(".") or line.startswith("..") or len(line) == 1:
            return None
        line = line[1:]
    heading, sign, number = line.rstrip().removesuffix("#").rpartition("#")
    is_number = line.rstrip().endswith("#") and sign and "\\" not in heading[-1:] + number
    return _unescaped(heading if is_number else line)


def _block_elements(lines: Sequence[str]) -> Iterator[Element]:
    """The elements of a block that has no heading: an action, or what is said under a cue, one for each
    manner that it is said in."""
    cue, name = lines[0], without_extension(lines[0].removeprefix("@"))
    is_name = name == name.upper() and any(sign.isalpha() for sign in name)
    is_cue = cue.startswith("@") or (is_name and cue[0] not in "!>~" and not _is_transition(cue))
    if len(lines) == 1 or not is_cue:
        sign = cue[0] if cue[0] in "!>~" else ""
        text = " ".join([cue[len(sign) :], *lines[1:]])
        action = _unescaped(text.removesuffix("<") if sign == ">" else text)
        if action:
            yield Element("action", action)
        return
    character = "" if cue == NOBODY else _unescaped(name)
    manner, speech_lines = "", list[str]()
    for line in [*lines[1:], "()"]:
        if not (line.startswith("(") and line.endswith(")")):
            speech_lines.append(line.removeprefix("~"))
            continue
        text = _unescaped(" ".join(speech_lines))
        if text:
            yield Element("dialogue", text, character, manner)
        manner, speech_lines = _unescaped(line[1:-1]), []


SCHEMA_VERSION = 1


def write_screenplay(play: Screenplay, name: str) -> str:
    """The screenplay in the format of that name. Raises EvaluationError for one that cannot be written."""
    if name not in WRITTEN:
        message = f"No screenplay is written as {name!r}."
        raise EvaluationError(message, f"Choose {', '.join(WRITTEN)}.", usage=True)
    return WRITTEN[name](play)


def read_screenplay(path: Path) -> Screenplay:
    """The screenplay in a file; its format is found by content. Raises EvaluationError for a file that cannot
    be read, and for one that is damaged or holds no scene."""
    text = read_text_file(path, "screenplay", EvaluationError, hint=_HINT, encoding="utf-8").text
    name = {"{": "json", "[": "stage", "<": "cml"}.get(text.lstrip()[:1], "fountain")
    try:
        play = READ[name](text)
    except (ValueError, RecursionError) as error:
        raise EvaluationError(f"The screenplay {path} is damaged: {error}.", _HINT) from None
    if not play.scenes:
        raise EvaluationError(f"The screenplay {path} has no scenes.", _HINT)
    return play


_HINT = "Give a screenplay in Fountain, CML, JSON of shotad screenplay, or STAGE's script.json, in UTF-8."


_FORM = TypeAdapter(Screenplay)


def write_json(play: Screenplay) -> str:
    """Our own JSON; what is empty is left out."""
    content = _FORM.dump_python(play, mode="json", exclude_defaults=True)
    return json.dumps({"schema_version": SCHEMA_VERSION, **content}, ensure_ascii=False, indent=1) + "\n"


def read_json(text: str) -> Screenplay:
    """Back from `write_json`."""
    content = json.loads(text)
    version = content.pop("schema_version", None) if isinstance(content, dict) else None
    if version != SCHEMA_VERSION:
        raise ValueError(f"its schema_version is {version!r}, and {SCHEMA_VERSION} is read")
    try:
        return _FORM.validate_python(content)
    except ValidationError as error:
        raise ValueError(first_error_message(error)) from None


def write_plain(play: Screenplay) -> str:
    """A text for people: headings with their times, dialogue after its speaker, actions in brackets."""
    blocks = [play.title] if play.title else []
    for scene in play.scenes:
        at = f"  ({timecode(scene.interval.start)[:8]})" if scene.interval else ""
        blocks.append("\n".join([scene.heading + at, *map(plain_line, scene.elements)]))
    return "\n\n".join(blocks) + "\n"


def plain_line(element: Element) -> str:
    """``[Ann opens the door.]``, ``ANN (softly): Who is it?``, ``- Who is it?`` where nobody says who speaks.

    >>> plain_line(Element("dialogue", "Who is it?", "Ann", "softly"))
    'ANN (softly): Who is it?'
    """
    text = " ".join(element.text.split())
    if element.kind == "action":
        return f"[{text}]"
    manner = f" ({element.manner})" if element.manner else ""
    return f"{element.character.upper()}{manner}: {text}" if element.character else f"-{manner} {text}"


_NUMBER = re.compile(r"^\d+\s*[、.．]\s*")
_SPOKEN = re.compile(r"([^\s:：.!?。！？，,△(（][^:：.!?。！？，,]{0,29})\s*[:：]\s*(\S.*)")
_MANNER = re.compile(r"[(（](.*)[)）]")
_NO_NAME = re.compile(
    r" -|^\W|\b(?:SHOT|ANGLE|CLOSE|CLOSER|POV|INSERT|CUT|FADE|DISSOLVE|CONTINUED|OMITTED|LATER|INT|EXT)\b"
)
"""Of lines in capitals those that are of the camera, not of a speaker."""
_WIDTHS = (40, 52, 64)
"""Characters of a line at most: of dialogue in a script that was typed (3.5 inches of ten characters each),
of dialogue in wider print, and of any line that was broken at the margin. The files have no empty lines that
would tell where a dialogue ends; a line that is too wide for it does."""
_MANY = 0.2
"""Share of the lines under names that shows how wide dialogue is here."""


def read_stage(text: str) -> Screenplay:
    """STAGE's ``script.json``: a list of scenes, each with ``title``, ``subtitle`` and ``content``, in which
    a dialogue is ``NAME: words`` on one line, or a name in capitals above its lines. Where the script is
    broken into lines, what is told in short ones right after a dialogue is read as part of it."""
    scenes = json.loads(text)
    if not isinstance(scenes, list) or not all(
        isinstance(scene, Mapping) and "content" in scene for scene in scenes
    ):
        raise ValueError("it is no list of scenes with content")
    contents = [[line.strip() for line in str(scene["content"] or "").split("\n")] for scene in scenes]
    # Characters of a line of dialogue; 0 where each paragraph is one line, however long.
    line_pairs = pairwise(line for lines in contents for line in lines if line)
    dialogue_widths = [
        len(line) for name, line in line_pairs if _is_name(name) and not _MANNER.fullmatch(line)
    ]

    def is_wider_than(width: int) -> bool:
        return sum(size > width for size in dialogue_widths) > _MANY * len(dialogue_widths)

    typed_width, print_width, margin_width = _WIDTHS
    if is_wider_than(margin_width):
        width = 0
    elif is_wider_than(typed_width):
        width = print_width
    else:
        width = typed_width
    read_scenes = []
    for number, (row, lines) in enumerate(zip(scenes, contents, strict=True), 1):
        title = _NUMBER.sub("", str(row.get("title") or "").strip())
        heading = " - ".join(filter(None, (title, str(row.get("subtitle") or "").strip())))
        # Lines of one dialogue, and of one action, are one element.
        typed = groupby(
            _typed_elements(filter(None, lines), width), lambda element: replace(element, text="")
        )
        elements = []
        for element_without_text, same_element in typed:
            words = " ".join(element.text for element in same_element)
            elements.append(replace(element_without_text, text=words))
        read_scenes.append(Scene(heading or f"SCENE {number}", tuple(elements)))
    return Screenplay("", tuple(read_scenes))


def _typed_elements(lines: Iterable[str], width: int) -> Iterator[Element]:
    """An element for each line: what is said by whom, or what is told."""
    speaker, manner = "", ""
    for line in lines:
        spoken = _SPOKEN.fullmatch(line)
        aside = _MANNER.fullmatch(line)
        if spoken and spoken[1] == spoken[1].upper():  # "On the screen: a ship." is told
            speaker = ""
            yield Element("dialogue", spoken[2], spoken[1].strip())
        elif _is_name(line):
            speaker, manner = without_extension(without_extension(line)), ""  # ANN (V.O.) (CONT'D)
        elif speaker and aside:
            manner = aside[1]
        elif speaker and (not width or len(line) <= width):
            yield Element("dialogue", line, speaker, manner)
            speaker = speaker if width else ""
        else:
            speaker = ""
            yield Element("action", line)


def _is_name(line: str) -> bool:
    """Whether a line is a speaker's name in capitals: ``COMPUTER VOICE``, ``A CADET``."""
    is_capital = line == line.upper() and line != line.lower() and line[-1] not in ".!?:-,"
    return is_capital and len(line) <= _WIDTHS[0] and not _NO_NAME.search(line)


WRITTEN: Mapping[str, Callable[[Screenplay], str]] = {
    "fountain": write_fountain,
    "json": write_json,
    "text": write_plain,
    "cml": write_cml,
}
READ: Mapping[str, Callable[[str], Screenplay]] = {
    "fountain": read_fountain,
    "json": read_json,
    "cml": lambda text: read_cml(text)[0],
    "stage": read_stage,
}
"""How a screenplay is written and read, by the format's name. A reader raises ValueError with what is wrong,
and where."""
