"""Screenplays in and out of CML tags, and plain ones."""

from __future__ import annotations

from hypothesis import given, strategies as st

from shotad.evaluation import Element, Scene, Screenplay, read_cml, write_cml
from tests.evaluation.cml.script_reader import SCRIPT

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1).map(str.strip).filter(bool)
ACTION = st.builds(Element, st.just("action"), TEXT)
DIALOGUE = st.builds(Element, st.just("dialogue"), TEXT, st.just("") | TEXT, st.just("") | TEXT)
SCENE = st.builds(Scene, TEXT, st.lists(ACTION | DIALOGUE, max_size=4).map(tuple))
UNTITLED = st.builds(Scene, st.just(""), st.lists(ACTION | DIALOGUE, min_size=1, max_size=4).map(tuple))


@given(
    st.builds(Screenplay, TEXT, st.lists(SCENE | UNTITLED, min_size=1, max_size=3).map(tuple), st.just("en"))
)
def test_what_is_written_reads_back_equal(play: Screenplay) -> None:
    found, form = read_cml(write_cml(play), play.title, play.language)
    assert (form, found) == ("tags", play)


def test_a_script_in_tags() -> None:
    found, form = read_cml(f"Here is your script:\n```xml\n{SCRIPT}\n```\nEnjoy!", "Light")
    assert form == "tags"
    first, second, third = found.scenes
    assert (found.title, first.heading) == ("Light", "INT. LIGHTHOUSE - NIGHT")
    assert [one.kind for one in second.elements] == ["action", "dialogue", "action"]
    assert first.elements[2] == Element("dialogue", "I let the boat go, and I hate it.", "TOM", "quietly")
    assert len(third.elements) == 1


def test_what_models_do_to_tags() -> None:
    text = """<SCENE type="1"><Stage_Direction>INT. BARN</stage_direction>
    <scene_description>A <b>lamp</b> &amp; a cow.
    <character>IDA<dialogue>So.<parenthetical>(beat)</parenthetical><dialogue>Well.</dialogue>
    <parenthetical>laughs</parenthetical>
    <character>OLE</character><parenthetical>sighs</parenthetical>
    <action>He leaves.</action><stage_direction>Dark.</stage_direction>"""
    (scene,) = read_cml(text)[0].scenes
    assert scene == Scene(
        "INT. BARN",
        (
            Element("action", "A lamp & a cow."), Element("dialogue", "So.", "IDA"),
            Element("dialogue", "Well.", "IDA", "beat, laughs"), Element("action", "(sighs)"),
            Element("action", "He leaves."), Element("action", "Dark."),
        ),
    )  # fmt: skip


def test_scripts_without_scenes() -> None:
    found, form = read_cml("<character>IDA</character><dialogue>Alone.</dialogue>")
    assert form == "tags"
    assert found.scenes == (Scene("", (Element("dialogue", "Alone.", "IDA"),)),)
    for text in ("", " \n", "<script><scene></scene></script>", "<dialogue> </dialogue>"):
        found, form = read_cml(text)
        assert (form, found.scenes) == ("none", ()), text


def test_a_plain_script() -> None:
    text = "**INT. BARN - NIGHT**\n\nA lamp.\nA cow.\n\nIDA: So.\nOLE: **Well.**\n\nExt. yard\nNote: rain.\n\n\nLater."
    found, form = read_cml(text)
    assert form == "text"
    assert found.scenes == (
        Scene(
            "INT. BARN - NIGHT",
            (
                Element("action", "A lamp. A cow."), Element("dialogue", "So.", "IDA"),
                Element("dialogue", "Well.", "OLE"),
            ),
        ),
        Scene("Ext. yard", (Element("action", "Note: rain."),)),
        Scene("", (Element("action", "Later."),)),
    )  # fmt: skip
