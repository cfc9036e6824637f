"""Screenplays: read back as written, of other programs, cut into scenes; CML-Bench: tags, formulas by hand, figures of files."""

from __future__ import annotations

import json
import math
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval, Shot
from shotad.core.errors import EvaluationError
from shotad.evaluation import (
    Screenplay,
    evaluate_cml,
    make_screenplay,
    read_screenplay,
)
from shotad.evaluation.cml import (
    CML_METRICS,
    ScriptText,
    adjacent_similarity,
    alignment,
    central_similarity,
    cml_instruction,
    cml_text,
    creativity,
    emotional_stability,
    innovation,
    mutual_similarity,
    originality,
    paired_similarity,
    read_scripts,
    topic_concentration,
)
from shotad.evaluation.screenplay import (
    Element,
    FilmSigns,
    Scene,
    read_cml,
    write_cml,
)
from shotad.evaluation.screenplay_files import READ, write_screenplay
from tests.evaluation.cml.script_reader import GEMMA, MUTE, PUBLISHED, QWQ, READER, SCRIPT, word_context
from tests.evaluation.standins import Words

# --- markup
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1).map(str.strip).filter(bool)
ACTION = st.builds(Element, st.just("action"), TEXT)
DIALOGUE = st.builds(Element, st.just("dialogue"), TEXT, st.just("") | TEXT, st.just("") | TEXT)
SCENE = st.builds(Scene, TEXT, st.lists(ACTION | DIALOGUE, max_size=4).map(tuple))
UNTITLED = st.builds(Scene, st.just(""), st.lists(ACTION | DIALOGUE, min_size=1, max_size=4).map(tuple))


@given(
    st.builds(Screenplay, TEXT, st.lists(SCENE | UNTITLED, min_size=1, max_size=3).map(tuple), st.just("en"))
)
def test_what_is_written_reads_back_equal(play: Screenplay) -> None:
    read_back, form = read_cml(write_cml(play), play.title, play.language)
    assert (form, read_back) == ("tags", play)


def test_a_script_in_tags() -> None:
    screenplay, form = read_cml(f"Here is your script:\n```xml\n{SCRIPT}\n```\nEnjoy!", "Light")
    assert form == "tags"
    first, second, third = screenplay.scenes
    assert (screenplay.title, first.heading) == ("Light", "INT. LIGHTHOUSE - NIGHT")
    assert [element.kind for element in second.elements] == ["action", "dialogue", "action"]
    assert first.elements[2] == Element("dialogue", "I let the boat go, and I hate it.", "TOM", "quietly")
    assert len(third.elements) == 1


def test_what_models_do_to_tags() -> None:
    text = """<SCENE type="1"><Stage_Direction>INT. BARN</stage_direction>
    <scene_description>A <b>lamp</b> &amp; a cow.
    <character>IDA<dialogue>So.<parenthetical>(beat)</parenthetical><dialogue>Well.</dialogue>
    <parenthetical>laughs</parenthetical>
    <character>OLE</character><parenthetical>sighs</parenthetical>
    <action>He leaves.</action><stage_direction>Dark.</stage_direction>"""
    elements = (
        Element("action", "A lamp & a cow."), Element("dialogue", "So.", "IDA"),
        Element("dialogue", "Well.", "IDA", "beat, laughs"), Element("action", "(sighs)"),
        Element("action", "He leaves."), Element("action", "Dark."),
    )  # fmt: skip
    assert read_cml(text)[0].scenes == (Scene("INT. BARN", elements),)


def test_scripts_without_scenes() -> None:
    screenplay, form = read_cml("<character>IDA</character><dialogue>Alone.</dialogue>")
    assert form == "tags"
    assert screenplay.scenes == (Scene("", (Element("dialogue", "Alone.", "IDA"),)),)
    for text in ("", " \n", "<script><scene></scene></script>", "<dialogue> </dialogue>"):
        screenplay, form = read_cml(text)
        assert (form, screenplay.scenes) == ("none", ()), text


def test_a_plain_script() -> None:
    text = "**INT. BARN - NIGHT**\n\nA lamp.\nA cow.\n\nIDA: So.\nOLE: **Well.**\n\nExt. yard\nNote: rain.\n\n\nLater."
    screenplay, form = read_cml(text)
    assert form == "text"
    night = (
        Element("action", "A lamp. A cow."),
        Element("dialogue", "So.", "IDA"),
        Element("dialogue", "Well.", "OLE"),
    )
    assert screenplay.scenes == (
        Scene("INT. BARN - NIGHT", night),
        Scene("Ext. yard", (Element("action", "Note: rain."),)),
        Scene("", (Element("action", "Later."),)),
    )


# --- formulas
X, Y = [1.0, 0.0], [0.0, 1.0]
BETWEEN = [3.0, 3.0]
HALF = math.sqrt(0.5)
ROWS = np.array([X, BETWEEN, Y])
"""Cosines: HALF between neighbours, 0 between the first and the last. Lengths do not matter."""


def test_negative_cosines_count_unless_they_are_clipped() -> None:
    rows = np.array([X, [-1.0, 0.0], [-1.0, 0.0]])
    assert adjacent_similarity(rows) == pytest.approx(0.0)
    assert adjacent_similarity(rows, clipped=True) == pytest.approx(0.5)
    assert adjacent_similarity(np.array([X, [0.0, 0.0], X])) == 0.0, "a row of zeros is like nothing"


def test_originality_innovation_and_alignment() -> None:
    alike = 2 * HALF / 3
    assert originality(ROWS, [0.8, 0.6, 0.7]) == pytest.approx(0.5 * (1 - alike) + 0.5 * 0.7)
    central = central_similarity(ROWS)
    assert central is not None
    assert innovation(ROWS) == pytest.approx(1 - (alike + central) / 2)
    # Alignment takes the best action from a place on.
    intentions, actions = np.array([X, Y]), np.array([X, BETWEEN])
    assert alignment(intentions, actions, [0, 0]) == pytest.approx((1 + HALF) / 2)
    assert alignment(intentions, actions, [1, 1]) == pytest.approx(HALF)
    assert alignment(intentions, actions, [2, 0]) == pytest.approx(HALF / 2), "no action follows the first: 0"


def test_concentration_and_stability() -> None:
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    concentration = topic_concentration([["boat", "fog"], ["Boat"], ["boat"]])
    assert concentration == pytest.approx(1 - entropy / math.log(2))
    assert topic_concentration([["a", "b"], ["c"]]) == pytest.approx(0.0)
    assert topic_concentration([["a"], ["a"]]) == 1.0
    assert emotional_stability([0, 1, 1, -1]) == pytest.approx(1 - (0.5 + 0 + 1) / 3)


def test_what_is_not_defined() -> None:
    one_row, no_rows = ROWS[:1], ROWS[:0]
    assert [f(one_row) for f in (adjacent_similarity, mutual_similarity, creativity, innovation)] == [
        None
    ] * 4
    assert paired_similarity(no_rows, no_rows) is central_similarity(no_rows) is None
    assert (
        originality(one_row, [0.5])
        is alignment(no_rows, ROWS, [])
        is alignment(one_row, no_rows, [0])
        is None
    )
    assert topic_concentration([[], []]) is emotional_stability([1]) is None


# --- scores
def scored(*texts: str, judge: str = READER, analyst: str = READER, model: str = "words") -> dict[str, Any]:
    scripts = [ScriptText(f"tt{k}", "Light", "films", text) for k, text in enumerate(texts)]
    return evaluate_cml(scripts, judge, analyst, word_context(model=model))


def values(report: dict[str, Any]) -> dict[str, float]:
    return {name: score["value"] for name, score in report["scripts"][0]["scores"].items()}


def cosine(first: str, second: str) -> float:
    a, b = Words().of([first, second])
    return float(a @ b)


def mutual(texts: list[str]) -> float:
    return float(np.mean([cosine(*pair) for pair in combinations(texts, 2)]))


def test_the_metrics_are_those_of_code_and_paper() -> None:
    scores = values(scored(SCRIPT.replace("action>", "scene_description>")))
    assert {name: scores[name] for name in PUBLISHED} == pytest.approx(PUBLISHED, abs=1e-6)
    scores = values(scored(SCRIPT))
    spoken = [
        "Who let the boat go out tonight?", "I let the boat go, and I hate it.",
        "I will ring the harbour bell.", "Will the bell bring the boat home?",
        "Bells love the fog, the fog loves nobody.", "I will tie the boat to the wall.",
    ]  # fmt: skip
    neighbours = [cosine(*pair) for pair in pairwise(spoken)]
    assert scores["dc1"] == pytest.approx(np.mean(neighbours), abs=1e-6)
    assert scores["cc1"] == 0.75, "MARA: 0, 0, 1; TOM: -1, 0, 0"
    rings, ties = "Mara rings the harbour bell.", "Tom ties a rope to an iron ring."
    later = (rings, "The boat drifts to the harbour wall. The bell rings and rings.", ties)
    last = (ties, "Mara sleeps beside the lens. Tom puts out the lamp.")
    kept = [max(cosine(spoken[2], text) for text in later), max(cosine(spoken[5], text) for text in last)]
    assert scores["cc3"] == pytest.approx(np.mean(kept), abs=1e-6)
    speakers = zip(("MARA", "TOM", "MARA"), spoken, strict=False)
    assert scores["dc3"] == pytest.approx(
        1 - mutual([f'It plays with "Of {speaker}: {line}".' for speaker, line in speakers]), abs=1e-6
    )
    voices = [f"It plays with Of {line}." for line in (spoken[0], spoken[1])]
    own = [mutual(spoken[first::2]) for first in (0, 1)]
    assert scores["cc2"] == pytest.approx((1 - cosine(*voices)) / 2 + np.mean(own) / 2, abs=1e-6)
    assert all(0 < scores[name] < 1 for name in ("dc2", "pr1", "pr2", "pr3"))


def test_what_cannot_be_counted_is_0_and_says_why() -> None:
    report = scored("Nobody speaks here, and no tag stands anywhere.", "")
    (plain, nothing) = report["scripts"]
    assert (plain["read"], nothing["read"]) == ("text", "none")
    for result in report["scripts"]:
        assert {score["value"] for score in result["scores"].values()} == {0.0}
        assert all(score["reason"] for score in result["scores"].values())
    assert plain["scores"]["dc1"]["reason"] == "fewer than 2 turns"
    assert report["n"]["failed"] == 0
    assert "Read: 1 of 2 (50.0%), 0 by their tags, 1 as plain text." in cml_text(report)
    assert report["sources"][0]["read"] == 1


def test_an_engine_that_fails_is_told_and_not_passed_over() -> None:
    report = scored(SCRIPT, judge=MUTE)
    (result,) = report["scripts"]
    scores = result["scores"]
    assert report["n"]["failed"] == 1
    assert result["features"]["failures"]["turns"].startswith("6 of 6 answers: The answer does not begin")
    assert scores["cc1"]["value"] == 0
    assert scores["cc1"]["reason"].startswith("engine: 6 of 6")
    assert scores["dc1"]["value"] > 0 < scores["pr2"]["value"]
    assert "Engine failed: tt0, turns: 6 of 6" in cml_text(report)


def test_figures_are_comparable_only_with_the_papers_models() -> None:
    mine = scored(SCRIPT)
    assert not any(metric["comparable"] for metric in mine["metrics"])
    assert "CC2*" in cml_text(mine)
    assert "judge reader r1, the paper's is gemma-2-2b-it" in cml_text(mine)
    # The record has what the figures come from.
    mine = json.loads(json.dumps(mine))
    assert [metric["name"] for metric in mine["metrics"]] == list(CML_METRICS)
    (script,) = mine["scripts"]
    assert script["n"] == {"scenes": 3, "turns": 6, "actions": 5, "characters": 2}
    turn = {"keywords": ["boat", "hate"], "question": False, "emotion": -1, "intention": False}
    assert script["features"]["turns"][1] == turn
    assert script["features"]["lists"]["events"][1] == "The boat drifts to the harbour wall."
    assert mine["sources"][0]["means"]["cc1"] == 0.75
    theirs = scored(SCRIPT, judge=GEMMA, analyst=QWQ, model="google/gemma-2-2b-it")
    odd = {metric["name"]: metric["why_not"] for metric in theirs["metrics"] if not metric["comparable"]}
    assert list(odd) == ["cc2", "pr3"]
    assert odd["pr3"] == ["λ1 to λ4 of CC2 and PR3 are 0.5 here, and not published"]


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "notes.md").write_text("no script", encoding="utf-8")
    rows = [
        {"movie_name": "Light", "imdb_id": "tt9", "response": SCRIPT}, {"imdb_id": "tt8", "response": None},
    ]  # fmt: skip
    (tmp_path / "o3-mini.json").write_text(json.dumps(rows), encoding="utf-8")
    lines = json.dumps({"movie_name": "Light", "imdb_id": "tt9", "script_segment": SCRIPT})
    (tmp_path / "people.jsonl").write_text(lines + "\n", encoding="utf-8")
    scripts = {(script.source, script.id, bool(script.text)) for script in read_scripts([tmp_path])}
    people = {("o3-mini", "tt9", True), ("o3-mini", "tt8", False), ("people", "tt9", True)}
    assert scripts == {*people, (tmp_path.name, "one", True)}
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(EvaluationError, match=r"bad\.txt: the text is not UTF-16"):
        read_scripts([tmp_path / "bad.txt"])
    (tmp_path / "empty").mkdir()
    for name, why in (("absent", "no file or folder"), ("empty", "No screenplay in")):
        with pytest.raises(EvaluationError, match=why):
            read_scripts([tmp_path / name])


def test_the_instruction_shows_the_form_that_is_read() -> None:
    prompt = cml_instruction("Light", "Two keepers wait for a boat. It costs $5.")
    assert "Title: Light" in prompt
    assert "It costs $5." in prompt
    screenplay, form = read_cml(prompt[prompt.index("<script>\n") : prompt.index("</script>\n")])
    assert form == "tags"
    assert len(screenplay.scenes) == 2
    assert screenplay.scenes[0].elements[1].manner == "not looking at the boat"


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

    def kept(element: Element) -> Element:
        speaker = (flat(element.character), flat(element.manner)) if element.kind == "dialogue" else ("", "")
        return Element(element.kind, flat(element.text), *speaker)

    scenes = []
    for n, scene in enumerate(play.scenes, 1):
        elements = tuple(kept(element) for element in scene.elements if flat(element.text))
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


def begins(
    signs: FilmSigns, dialogue: tuple[Element, ...] = SAID, described: tuple[Element, ...] = ()
) -> list[float]:
    scenes = make_screenplay(described, dialogue, signs, "film").scenes
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
