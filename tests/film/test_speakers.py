"""Who speaks is read from subtitles where they say so, and no role or sound is taken for a name."""

from __future__ import annotations

import pytest

from shotad.film.subtitles import parse_subtitles, read_caption, read_turns


@pytest.mark.parametrize(
    ("raw", "speaker"),
    [
        ("JOHN: Hello", "John"),
        ("JOHN SMITH (V.O.): Hello", "John Smith"),
        (">> John: Hello", "John"),
        ("- JOHN: Hello", "John"),
        ("John: Hello", "John"),
        ("John (whispering): Hello", "John"),
        ("[Thom] Who's there?", "Thom"),
        ("(THOM) Who's there?", "Thom"),
        ("[Thom]\nWho's there?", "Thom"),
        ("[Thom, whispering] Hi", "Thom"),
        ("[James] Hi", "James"),
        ("(Mr. Smith) Hello", "Mr. Smith"),
        ("DR. McGEE: No", "Dr. McGee"),
        ("O'BRIEN: No", "O'Brien"),
        ("ROSE'S VOICE: Hi", "Rose"),
        ("THOM AND ANN: Yes!", "Thom and Ann"),
        ("<v Thom>Hi</v>", "Thom"),
        ("<v.loud Thom Lee><i>Hi</i></v>", "Thom Lee"),
        ("<v नमस्ते>हाँ", "नमस्ते"),
        # A label over several lines is of all of them.
        ("THOM: Hello,\nhow are you?", "Thom"),
        ("THOM: [sighs] No.", "Thom"),
        # Roles, crowds, sounds and other words are nobody's names.
        ("NARRATOR: Hello", ""),
        ("MAN 1: Hello", ""),
        ("MAN 2 [on phone]: Hello", ""),
        ("POLICE OFFICER: Stop", ""),
        ("WOMAN ON TV: Hi", ""),
        ("BOON'S MOTHER: Hi", ""),
        ("<v Narrator>Hi", ""),
        ("(DOOR SLAMS) Hey!", ""),
        ("(LAUGHS) I know", ""),
        ("[Sighs] Hi", ""),
        ("[MUSIC] Hi", ""),
        ("[Thom laughs] Hi", ""),
        ("(IN FRENCH) Oui", ""),
        ("[both] Hi", ""),
        ("Note: at 5:30", ""),
        ("Remember: go", ""),
        ("He said this: go.", ""),
        ("The truth: no", ""),
        ("5:30: go", ""),
        ("Hello", ""),
    ],
)
def test_speaker_of_a_cue(raw: str, speaker: str) -> None:
    (said,) = read_turns(raw)
    whole = read_caption(raw)
    assert whole is not None
    assert (said.speaker, said.text, said.kind) == (speaker, whole.text, whole.kind)


@pytest.mark.parametrize(
    ("raw", "turns"),
    [
        ("- THOM: Hi.\n- ANN: Ho.", [("Thom", "Hi."), ("Ann", "Ho.")]),
        ("- [Thom] Hi.\n- [Ann] Ho.", [("Thom", "Hi."), ("Ann", "Ho.")]),
        ("- Hello.\n- THOM: Hi", [("", "Hello."), ("Thom", "Hi")]),
        ("- THOM: Hi\n- Hello.", [("Thom", "Hi"), ("", "Hello.")]),
        ("THOM: Hi,\nhow are you?\nANN: Ho.", [("Thom", "Hi, how are you?"), ("Ann", "Ho.")]),
        ("<v Thom>Hi</v> <v Ann>Ho</v>", [("Thom", "Hi"), ("Ann", "Ho")]),
        # The same voice twice, or none named, is one turn.
        ("- THOM: Hi.\n- THOM: Ho.", [("Thom", "Hi. Ho.")]),
        ("- Hi.\n- Ho.", [("", "Hi. Ho.")]),
    ],
)
def test_several_speakers_in_one_cue(raw: str, turns: list[tuple[str, str]]) -> None:
    assert [(said.speaker, said.text) for said in read_turns(raw)] == turns


def test_a_label_in_the_text_goes_before_the_actor() -> None:
    text = """[Script Info]
ScriptType: v4.00+

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.00,Default,Thom,0,0,0,,Hi.
Dialogue: 0,0:00:03.00,0:00:04.00,Default,Thom,0,0,0,,ANN: Ho.
Dialogue: 0,0:00:05.00,0:00:07.00,Default,Thom,0,0,0,,- Hi.\\N- BO: Ho.
"""
    assert [u.speaker for u in parse_subtitles(text)] == ["Thom", "Ann", "", "Bo"]
