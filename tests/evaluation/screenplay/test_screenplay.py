"""Screenplays: read back as they were written, read from other programs, and cut into scenes."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core import EvaluationError, Interval, Shot
from shotad.evaluation import (
    Element,
    FilmSigns,
    Scene,
    Screenplay,
    make_screenplay,
    read_screenplay,
    write_screenplay,
)
from shotad.evaluation.screenplay_files import READ

ODD = ("INT. A", "CUT TO:", "UNKNOWN", "Author: b", "(x)", "[[a]]", "/* a */", "FADE TO:", "INT. ROOM #1#")
TEXTS = st.one_of(
    st.text(max_size=12),
    st.text(alphabet="ABab .:!@#=>~<()[]*_\\/^-\n1\u2028", max_size=14),
    st.sampled_from(ODD),
)
TIMES = st.none() | st.tuples(st.floats(0, 9000), st.floats(0.001, 60)).map(
    lambda t: Interval(t[0], t[0] + t[1])
)
ELEMENTS = st.builds(Element, st.sampled_from(["action", "dialogue"]), TEXTS, TEXTS, TEXTS, TIMES, TEXTS)
SCENES = st.builds(Scene, TEXTS, st.lists(ELEMENTS, max_size=3).map(tuple), TIMES)
LANGUAGES = st.sampled_from(["", "en", "zh-Hant"])
PLAYS = st.builds(Screenplay, TEXTS, st.lists(SCENES, max_size=3).map(tuple), LANGUAGES)


def back(play: Screenplay, name: str) -> Screenplay:
    return READ[name](write_screenplay(play, name))


@given(PLAYS)
def test_json_reads_back_equal(play: Screenplay) -> None:
    assert back(play, "json") == play


def flat(text: str) -> str:
    return " ".join(text.split())


def as_fountain_holds(play: Screenplay) -> Screenplay:
    """Without times and ids, each text on one line."""

    def kept(one: Element) -> Element:
        who = (flat(one.character), flat(one.manner)) if one.kind == "dialogue" else ("", "")
        return Element(one.kind, flat(one.text), *who)

    scenes = []
    for n, scene in enumerate(play.scenes, 1):
        elements = tuple(kept(one) for one in scene.elements if flat(one.text))
        scenes.append(Scene(flat(scene.heading) or f"SCENE {n}", elements))
    return Screenplay(flat(play.title), tuple(scenes), play.language)


@given(PLAYS)
def test_fountain_reads_back_all_that_it_can_hold(play: Screenplay) -> None:
    assert back(play, "fountain") == as_fountain_holds(play)


FOUNTAIN = """Title:
\t_**The Door**_
Credit: Written by

INT. KITCHEN - DAY #12#

Ann opens *the* door.
Snow blows in.

/* a comment
over lines */
@McAnn (V.O.) ^
(softly)
Who is it? [[a note]]
(loud)
WHO?

# Act two
= A synopsis.

.A ROOF

CUT TO:

!BANG
~

BO
No.
"""


def read(text: str, tmp_path: Path, name: str = "play") -> Screenplay:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_screenplay(path)


def test_fountain_of_another_program(tmp_path: Path) -> None:
    play = read(FOUNTAIN, tmp_path)
    kitchen = (
        Element("action", "Ann opens the door. Snow blows in."),
        Element("dialogue", "Who is it?", "McAnn", "softly"), Element("dialogue", "WHO?", "McAnn", "loud"),
    )  # fmt: skip
    roof = (Element("action", "CUT TO:"), Element("action", "BANG ~"), Element("dialogue", "No.", "BO"))
    assert play == Screenplay("The Door", (Scene("INT. KITCHEN - DAY", kitchen), Scene("A ROOF", roof)))
    # What stands before the first heading has a scene.
    assert read("Snow falls.", tmp_path).scenes == (Scene("OPENING", (Element("action", "Snow falls."),)),)


STAGE = [
    {
        "_id": 1,
        "title": "1、INT. BRIDGE",
        "subtitle": "",
        "content": "The crew at stations;\nall is dim.\nSULU\n(calm)\nLeaving Section Fourteen for\nSection Fifteen.\n"
        "Screen verifies this. Saavik makes an agonized choice.\nSAAVIK\nDamn.",
    },
    {
        "_id": 2, "title": "2、教室 内 日", "subtitle": "次日", "content": "教室里哄乱一片。\n老师画外音：起立。\n三角裤: 敬礼。",
    },
]  # fmt: skip


def test_script_json_of_stage(tmp_path: Path) -> None:
    play = read(json.dumps(STAGE), tmp_path)
    bridge = (
        Element("action", "The crew at stations; all is dim."),
        Element("dialogue", "Leaving Section Fourteen for Section Fifteen.", "SULU", "calm"),
        Element("action", "Screen verifies this. Saavik makes an agonized choice."),
        Element("dialogue", "Damn.", "SAAVIK"),
    )
    school = (
        Element("action", "教室里哄乱一片。"), Element("dialogue", "起立。", "老师画外音"), Element("dialogue", "敬礼。", "三角裤"),
    )  # fmt: skip
    assert play.scenes == (Scene("INT. BRIDGE", bridge), Scene("教室 内 日 - 次日", school))
    # A paragraph may be one line.
    words = "I have been cutting you out of my life, and so we have not talked for what must be a great many years."
    content = f"TIFFANY (CONT'D)\n{words}\nThe phone rings.\nCLOSE SHOT\nThe phone.\nTED\n{words}"
    (scene,) = read(json.dumps([{"title": "A", "content": content}]), tmp_path).scenes
    assert scene.elements == (
        Element("dialogue", words, "TIFFANY"), Element("action", "The phone rings. CLOSE SHOT The phone."),
        Element("dialogue", words, "TED"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"schema_version": 2, "title": "", "scenes": []}', "schema_version is 2"),
        ('{"schema_version": 1, "title": "", "scenes": [{"heading": "A"}]}',
         "scenes, entry 1, elements: Field"),
        ('{"schema_version": 1', "is damaged"),
        ('[{"text": "x"}]', "no list of scenes with content"),
        ("", "has no scenes"),
    ],
)  # fmt: skip
def test_files_that_are_no_screenplays(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=said):
        read(text, tmp_path)
    with pytest.raises(EvaluationError, match="fountain, json, text"):
        write_screenplay(Screenplay("", ()), "stage")


def speech(start: float, end: float) -> Element:
    return Element("dialogue", f"From {start:g}.", interval=Interval(start, end))


def shots(*cuts: float) -> tuple[Shot, ...]:
    return tuple(Shot(n, Interval(*times)) for n, times in enumerate(pairwise((0.0, *cuts))))


SAID = (speech(1, 20), speech(24, 40), speech(44, 60))


def begins(signs: FilmSigns, said: tuple[Element, ...] = SAID, told: tuple[Element, ...] = ()) -> list[float]:
    scenes = make_screenplay(told, said, signs, "film").scenes
    return [scene.interval.start for scene in scenes if scene.interval]


def test_scenes_end_at_cuts_in_pauses_or_at_long_silences() -> None:
    film, nowhere = shots(10, 22, 30, 42, 60), dict.fromkeys(range(5))
    assert begins(FilmSigns(film, nowhere)) == [1, 24, 44]
    assert begins(FilmSigns(film, {**nowhere, 1: "A", 2: "A"})) == [1, 44]
    assert begins(FilmSigns(film, {**nowhere, 0: "A", 4: "A"})) == [1]
    assert begins(FilmSigns(film)) == [1]
    later = (speech(1, 20), speech(40, 60))
    assert begins(FilmSigns(shots(10, 22, 30, 34, 42, 60)), later) == [1, 40]
    assert begins(FilmSigns(), later) == [1, 40]
    action = Element("action", "At 24.", interval=Interval(24, 36), cue="s24")
    assert begins(FilmSigns(), later, (action,)) == [1]
    # An element without a time has no place in a film.
    with pytest.raises(ValueError, match="'Snow.'"):
        make_screenplay([Element("action", "Snow.")], [], FilmSigns(), "film")
