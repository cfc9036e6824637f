"""A film as a screenplay: scenes, in them what is done and what is said; made of its AD and its dialogue, or
read from text.

Where a scene ends is inferred from cuts, threads (shots of one camera set-up) and pauses of the dialogue
(`borders_of`); no labels of scenes were here to measure the rule with.

As text it has CML tags, those of CML-Bench (Zheng et al. 2025, appendix D.1) and of MovieSum, or it is a
plain screenplay. Language models leave tags open, write them in capitals and talk around them, so reading is
lenient: an open tag ends where the next one begins, and what stands outside is no part of the screenplay.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import Literal

from shotad.core import (
    Interval,
    Shot,
    Utterance,
)
from shotad.core.errors import quoted
from shotad.core.records import shots_of, utterances_of
from shotad.core.types import slot_id
from shotad.core.workfolder import read_record
from shotad.script import Track


@dataclass(frozen=True, slots=True)
class Element:
    """What is told or said at once. An action has no ``character``; ``manner`` is how a dialogue is spoken.
    ``interval`` is its place in the film, ``cue`` the id of the AD line or subtitle that it comes from; both
    only where they are known."""

    kind: Literal["action", "dialogue"]
    text: str
    character: str = ""
    manner: str = ""
    interval: Interval | None = None
    cue: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """A scene under its ``heading``, such as ``INT. KITCHEN - DAY``."""

    heading: str
    elements: tuple[Element, ...]
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Screenplay:
    """Scenes in the order in which they are told; ``language`` is a BCP 47 code, empty if unknown."""

    title: str
    scenes: tuple[Scene, ...]
    language: str = ""


REACH = 8
"""Shots on each side of a cut among which a thread joins it: in a conversation a set-up comes back after one
or two shots, in a group after some more; what comes back much later is another scene at the same place."""
PAUSE = 2.0
"""Seconds without speech around a cut that no thread joins. Within a scene talk goes over most cuts (the
sound often leads), while the first words of a new scene follow its first picture."""
LONG_PAUSE = 10.0
"""The same where threads are not known. A breath of a conversation is shorter; of the slots for AD, which
lie within scenes, few are as long."""
SHORTEST = 15.0
"""Seconds of a scene at least. Scenes of films last a minute or two; what is shorter is mostly a look at
something else, and belongs to the scene before."""


@dataclass(frozen=True, slots=True)
class FilmSigns:
    """What tells of scenes: shots by time, the thread of a shot by its index (None: it has none), and who is
    recognised in it. A shot that ``threads`` does not have was not looked at."""

    shots: tuple[Shot, ...] = ()
    threads: Mapping[int, str | None] = field(default_factory=dict)
    people: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> FilmSigns:
        """What the records of a work folder tell; empty where they are not there. Raises WorkFolderError."""
        shots, grammar, cast = (
            read_record(folder / f"{name}.json") or {} for name in ("shots", "grammar", "characters")
        )
        threads: dict[int, str | None] = {}
        for look in grammar.get("shots", ()):
            threads[look["index"]] = threads.get(look["index"]) or look["thread"]
        people: dict[int, list[str]] = {}
        for member in cast.get("cast", ()):
            for shot in member["shots"]:
                people.setdefault(shot, []).append(member.get("name") or member["id"])
        named = {shot: tuple(names) for shot, names in people.items()}
        return cls(shots_of(shots.get("shots", ())), threads, named)


def make_screenplay(
    described: Iterable[Element],
    dialogue: Iterable[Element],
    signs: FilmSigns,
    title: str,
    language: str = "",
) -> Screenplay:
    """A screenplay of what is described and said, each element with its interval, in scenes whose headings
    have their number and the people recognised in them: ``SCENE 3 - ANN, BO``."""
    elements = sorted((*described, *dialogue), key=_start)
    speech = [element.interval for element in elements if element.kind == "dialogue" and element.interval]
    borders = borders_of(elements, speech, signs)
    scenes = []
    groups = groupby(elements, lambda element: bisect_right(borders, _start(element)))
    for number, (_, group) in enumerate(groups, 1):
        scene_elements = tuple(group)
        spans = [element.interval for element in scene_elements if element.interval]
        interval = Interval(spans[0].start, max(span.end for span in spans))
        shots = (shot.index for shot in signs.shots if interval.contains(shot.interval.middle))
        names_seen = dict.fromkeys(name.upper() for shot in shots for name in signs.people.get(shot, ()))
        people = ", ".join(names_seen)
        heading = f"SCENE {number} - {people}" if people else f"SCENE {number}"
        scenes.append(Scene(heading, scene_elements, interval))
    return Screenplay(title, tuple(scenes), language)


def _start(element: Element) -> float:
    if element.interval is None:
        raise ValueError(f"an element of a film needs its interval, and {quoted(element.text)} has none")
    return element.interval.start


def borders_of(elements: Sequence[Element], speech: Sequence[Interval], signs: FilmSigns) -> list[float]:
    """The seconds at which a new scene begins, ascending; without the film's start. A scene ends at a cut
    where nobody speaks for `PAUSE` seconds and no thread joins the shots around it; where threads are not
    known, at the first cut of a pause of `LONG_PAUSE`; without shots where nothing is said or described for
    so long."""
    intervals = [element.interval for element in elements if element.interval]
    candidates: list[float] = []
    if not signs.shots:
        ends = accumulate((interval.end for interval in intervals), max)
        for interval, end in zip(intervals[1:], ends, strict=False):
            if interval.start - end >= LONG_PAUSE:
                candidates.append(interval.start)
    starts = [span.start for span in sorted(speech)]
    ends_of_speech = list(accumulate((span.end for span in sorted(speech)), max))
    last_pause = -1.0
    for before, after in pairwise(signs.shots):
        cut = after.interval.start
        place = bisect_left(starts, cut)
        begin = ends_of_speech[place - 1] if place else float("-inf")
        end = starts[place] if place < len(starts) else float("inf")
        has_threads = before.index in signs.threads and after.index in signs.threads
        if begin > cut or end - begin < (PAUSE if has_threads else LONG_PAUSE):
            continue
        if has_threads:
            # Not a cut that a thread joins, with shots on both sides of it and not far away.
            near = range(before.index - REACH + 1, before.index + REACH + 1)
            threads_before = {signs.threads.get(shot) for shot in near[:REACH]}
            threads_after = {signs.threads.get(shot) for shot in near[REACH:]}
            is_border = not threads_before & threads_after - {None}
        else:
            is_border = begin != last_pause
        if is_border:
            candidates.append(cut)
        last_pause = begin
    borders: list[float] = []
    scene_start = intervals[0].start if intervals else 0.0
    for second in candidates:
        if second - scene_start >= SHORTEST:
            borders.append(second)
            scene_start = second
    return borders


def described_elements(track: Track) -> list[Element]:
    """The heard lines of a track as actions, each with its cue's id."""
    return [Element("action", cue.text, interval=cue.interval, cue=cue.id) for cue in track.heard]


def said_elements(utterances: Iterable[Utterance]) -> list[Element]:
    """What is said in words as dialogue. ``cue`` names the subtitle by its start: ``d00083120``."""
    return [
        Element(
            "dialogue",
            utterance.text,
            utterance.speaker,
            interval=utterance.interval,
            cue=f"d{slot_id(utterance.interval.start)[1:]}",
        )
        for utterance in utterances
        if utterance.text.strip()
    ]


def recorded_speech(folder: Path) -> tuple[Utterance, ...]:
    """What is said according to the records of a work folder; without words where only sound was heard."""
    record = read_record(folder / "speech.json") or {}
    return utterances_of(record.get("speech", ()))


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


def read_cml(text: str, title: str = "", language: str = "") -> tuple[Screenplay, ScriptForm]:
    """The screenplay in a text, and how it was read: by its CML tags, else as a plain one, which has a scene
    for each heading (``INT.``, ``EXT.``) and behind two empty lines, and dialogue in the form ``NAME: text``.
    It has no scenes where it could not be read at all.

    >>> play, _ = read_cml("<scene><character>ANN</character><dialogue>Stay.</dialogue></scene>")
    >>> play.scenes[0].elements[0].character, play.scenes[0].elements[0].text
    ('ANN', 'Stay.')
    """
    scenes = _scenes_of_tags(_tagged_texts(text))
    form: ScriptForm = "tags" if scenes else "text"
    if not scenes:
        scenes = _scenes_of_tags(_plain_texts(_OTHER_TAG.sub("", _TAG.sub("\n", text))))
    return Screenplay(title, tuple(scenes), language), form if scenes else "none"


def write_cml(screenplay: Screenplay) -> str:
    """The screenplay in CML tags, which have no place for title, language, intervals and cues."""
    lines = ["<script>"]
    for scene in screenplay.scenes:
        lines.append("  <scene>")
        if scene.heading:
            lines.append(_tag_line("stage_direction", scene.heading))
        for element in scene.elements:
            if element.kind == "action":
                lines.append(_tag_line("scene_description", element.text))
                continue
            lines.append(_tag_line("character", element.character))
            if element.manner:
                lines.append(_tag_line("parenthetical", f"({element.manner})"))
            lines.append(_tag_line("dialogue", element.text))
        lines.append("  </scene>")
    return "\n".join([*lines, "</script>", ""])


def _tag_line(tag: str, text: str) -> str:
    return f"    <{tag}>{html.escape(text, quote=False)}</{tag}>"


def _tagged_texts(text: str) -> Iterator[tuple[str, str]]:
    """Tag by tag what a text holds; ``scene`` wherever a scene begins or ends."""
    _, *parts = _TAG.split(text)
    for end, tag, content in zip(parts[0::3], parts[1::3], parts[2::3], strict=True):
        if tag.lower() in ("scene", "script"):
            yield "scene", ""
        elif not end:
            yield tag.lower(), html.unescape(_OTHER_TAG.sub("", content)).strip()


def _plain_texts(text: str) -> Iterator[tuple[str, str]]:
    """The same of a text without tags, line by line; adjacent lines without a name are one action."""
    action, empty = list[str](), 0
    for raw in (*html.unescape(text).splitlines(), ""):
        line = raw.strip(_MARKDOWN)
        heading = line.upper().startswith(_HEADINGS)
        name, _, spoken_text = (part.strip(_MARKDOWN) for part in line.partition(":"))
        spoken = spoken_text and name.isupper() and len(name.split()) <= _LONGEST_CUE
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
            yield "dialogue", spoken_text
        else:
            action.append(line)


def _scenes_of_tags(tagged_texts: Iterable[tuple[str, str]]) -> list[Scene]:
    """The scenes of texts with their tags; none where no tag holds anything."""
    scenes, heading, elements, character, manners = [], "", list[Element](), "", list[str]()
    for tag, text in (*tagged_texts, ("scene", "")):
        if not text and tag not in ("scene", "character"):
            continue
        if manners and tag not in ("parenthetical", "dialogue"):
            # What no dialogue follows belongs to the speaker's last one; without a speaker it is an action.
            manner_text, manners = ", ".join(manners), []
            last = elements[-1] if elements else None
            if last is not None and last.kind == "dialogue" and last.character == character:
                elements[-1] = replace(last, manner=", ".join(filter(None, (last.manner, manner_text))))
            else:
                elements.append(Element("action", f"({manner_text})"))
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
