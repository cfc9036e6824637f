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
from dataclasses import dataclass, field
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
    scenes = _tagged(text)
    form: ScriptForm = "tags"
    if not scenes:
        scenes, form = _plain(_OTHER_TAG.sub("", _TAG.sub("\n", text))), "text"
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


def _tagged(text: str) -> list[Scene]:
    """The scenes of a text with tags; none where no tag holds anything."""
    reader = _Reader()
    _, *parts = _TAG.split(text)
    for end, tag, content in zip(parts[0::3], parts[1::3], parts[2::3], strict=True):
        name = tag.lower()
        if name in ("scene", "script"):
            reader.end_scene()
        elif not end:
            reader.take(name, html.unescape(_OTHER_TAG.sub("", content)).strip())
    reader.end_scene()
    return reader.scenes


@dataclass(slots=True)
class _Reader:
    """The scene that is being read. ``manners`` wait for the dialogue that they belong to."""

    scenes: list[Scene] = field(default_factory=list)
    heading: str = ""
    elements: list[Element] = field(default_factory=list)
    character: str = ""
    manners: list[str] = field(default_factory=list)

    def take(self, tag: str, text: str) -> None:
        if tag == "character":
            self._settle()
            self.character = text
        elif not text:
            return
        elif tag == "parenthetical":
            self.manners.append(text[1:-1].strip() if text[0] + text[-1] == "()" else text)
        elif tag == "dialogue":
            self.elements.append(Element("dialogue", text, self.character, ", ".join(self.manners)))
            self.manners = []
        else:
            self._settle()
            if tag == "stage_direction" and not self.heading and not self.elements:
                self.heading = text
            else:
                self.elements.append(Element("action", text))

    def end_scene(self) -> None:
        self._settle()
        if self.heading or self.elements:
            self.scenes.append(Scene(self.heading, tuple(self.elements)))
        self.heading, self.elements, self.character = "", [], ""

    def _settle(self) -> None:
        """What no dialogue follows belongs to the speaker's last one; without a speaker it is an action."""
        if not self.manners:
            return
        told, self.manners = ", ".join(self.manners), []
        last = self.elements[-1] if self.elements else None
        if last is not None and last.kind == "dialogue" and last.character == self.character:
            manner = f"{last.manner}, {told}" if last.manner else told
            self.elements[-1] = Element("dialogue", last.text, last.character, manner)
        else:
            self.elements.append(Element("action", f"({told})"))


def _plain(text: str) -> list[Scene]:
    """The scenes of a text without tags, line by line; adjacent lines without a name are one action."""
    reader, action, empty = _Reader(), list[str](), 0

    def settle() -> None:
        if action:
            reader.take("action", " ".join(action))
            action.clear()

    for raw in html.unescape(text).splitlines():
        line = raw.strip(_MARKDOWN)
        if not line:
            settle()
            empty += 1
            continue
        heading = line.upper().startswith(_HEADINGS)
        if heading or empty > 1:
            settle()
            reader.end_scene()
        empty = 0
        name, colon, said = line.partition(":")
        if heading:
            reader.take("stage_direction", line)
        elif colon and said.strip(_MARKDOWN) and name.isupper() and len(name.split()) <= _LONGEST_CUE:
            settle()
            reader.take("character", name.strip(_MARKDOWN))
            reader.take("dialogue", said.strip(_MARKDOWN))
        else:
            action.append(line)
    settle()
    reader.end_scene()
    return reader.scenes
