"""Screenplays as text: CML tags in and out, and plain screenplays where a text has no tags.

The tags are those of CML-Bench (Zheng et al. 2025, appendix D.1) and of MovieSum: ``<script>``, ``<scene>``,
``<stage_direction>`` for the heading, ``<scene_description>`` or ``<action>``, ``<character>``,
``<parenthetical>``, ``<dialogue>``. Language models leave tags open, write them in capitals and talk around
them, so reading is lenient: an open tag ends where the next one begins, and what stands outside is no part of
the screenplay.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from shotad.evaluation.screenplay import Element, Scene, Screenplay

ScriptForm = Literal["tags", "text", "none"]
"""How a text was read: by its tags, as a plain screenplay, or not at all."""

_TAG = re.compile(
    r"<(/?)(script|scene|stage_direction|scene_description|action|character|dialogue|parenthetical)\b[^<>]*>",
    re.IGNORECASE,
)
_OTHER_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_HEADINGS = ("INT.", "EXT.", "INT ", "EXT ", "INT/", "EXT/", "I/E", "FADE IN", "FADE OUT")
_MARKDOWN = "*#_` \t"
_LONGEST_CUE = 5
"""Words that the name before a colon may have."""


@dataclass(frozen=True, slots=True)
class ReadScript:
    """A screenplay and how its text was read; a screenplay without scenes where ``form`` is ``none``."""

    screenplay: Screenplay
    form: ScriptForm


def read_cml(text: str, title: str = "", language: str = "") -> ReadScript:
    """The screenplay in a text: by its CML tags, else as a plain screenplay.

    A plain one has a scene for each heading (``INT.``, ``EXT.``) and behind two empty lines, dialogue in the
    form ``NAME: text``, and all else is action. Text without a heading and without a name is one action: that
    is a screenplay too, as in the published code, but nearly all its scores are 0.

    >>> play = read_cml("<scene><character>ANN</character><dialogue>Stay.</dialogue></scene>").screenplay
    >>> play.scenes[0].elements[0].character, play.scenes[0].elements[0].text
    ('ANN', 'Stay.')
    """
    scenes = _scenes(_tagged(text))
    form: ScriptForm = "tags" if scenes else "text"
    if not scenes:
        scenes = _scenes(_plain(_OTHER_TAG.sub("", _TAG.sub("\n", text))))
    return ReadScript(Screenplay(title, tuple(scenes), language), form if scenes else "none")


def write_cml(screenplay: Screenplay) -> str:
    """The screenplay in CML tags.

    `read_cml`, told title and language, gives an equal screenplay, as long as its texts have no space around
    them and no scene is empty. CML has no place for intervals and cues.
    """
    lines = ["<script>"]
    for scene in screenplay.scenes:
        lines.append("  <scene>")
        if scene.heading:
            lines.append(_line("stage_direction", scene.heading))
        for element in scene.elements:
            if element.kind == "action":
                lines.append(_line("scene_description", element.text))
                continue
            lines.append(_line("character", element.character))
            if element.manner:
                lines.append(_line("parenthetical", f"({element.manner})"))
            lines.append(_line("dialogue", element.text))
        lines.append("  </scene>")
    return "\n".join([*lines, "</script>", ""])


def _line(tag: str, text: str) -> str:
    return f"    <{tag}>{html.escape(text, quote=False)}</{tag}>"


def _tagged(text: str) -> Iterator[tuple[str, str]]:
    """Tag by tag what a text holds; ``scene`` wherever a scene begins or ends."""
    _, *parts = _TAG.split(text)
    for end, tag, content in zip(parts[0::3], parts[1::3], parts[2::3], strict=True):
        if tag.lower() in ("scene", "script"):
            yield "scene", ""
        elif not end:
            yield tag.lower(), html.unescape(_OTHER_TAG.sub("", content)).strip()


def _plain(text: str) -> Iterator[tuple[str, str]]:
    """The same of a text without tags, line by line; adjacent lines without a name are one action."""
    action, empty = list[str](), 0
    for raw in (*html.unescape(text).splitlines(), ""):
        line = raw.strip(_MARKDOWN)
        heading = line.upper().startswith(_HEADINGS)
        name, _, said = (part.strip(_MARKDOWN) for part in line.partition(":"))
        spoken = said and name.isupper() and len(name.split()) <= _LONGEST_CUE
        if action and (not line or heading or spoken):
            yield "action", " ".join(action)
            action = []
        if not line:
            empty += 1
            continue
        if heading or empty > 1:
            yield "scene", ""
        empty = 0
        if heading:
            yield "stage_direction", line
        elif spoken:
            yield "character", name
            yield "dialogue", said
        else:
            action.append(line)


def _scenes(told: Iterable[tuple[str, str]]) -> list[Scene]:
    """The scenes of what is told tag by tag; none where no tag holds anything."""
    scenes, heading, elements, character, manners = [], "", list[Element](), "", list[str]()
    for tag, text in (*told, ("scene", "")):
        if not text and tag not in ("scene", "character"):
            continue
        if manners and tag not in ("parenthetical", "dialogue"):
            # What no dialogue follows belongs to the speaker's last one; without a speaker it is an action.
            more, manners = ", ".join(manners), []
            last = elements[-1] if elements else None
            if last is not None and last.kind == "dialogue" and last.character == character:
                elements[-1] = replace(last, manner=", ".join(filter(None, (last.manner, more))))
            else:
                elements.append(Element("action", f"({more})"))
        if tag == "scene":
            if heading or elements:
                scenes.append(Scene(heading, tuple(elements)))
            heading, elements, character = "", [], ""
        elif tag == "character":
            character = text
        elif tag == "parenthetical":
            manners.append(text[1:-1].strip() if text[0] + text[-1] == "()" else text)
        elif tag == "dialogue":
            elements.append(Element("dialogue", text, character, ", ".join(manners)))
            manners = []
        elif tag == "stage_direction" and not heading and not elements:
            heading = text
        else:
            elements.append(Element("action", text))
    return scenes
