"""Who speaks is read from subtitles where they say so, and no role or sound is taken for a name."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest

from shotad.core import Interval, SpeechKind, Utterance, utterance_rows, utterances_of
from shotad.film import embedded_track, read_subtitles
from shotad.film.speakers import of_actor, speaker_of
from shotad.film.subtitles import parse_subtitles, read_caption, read_turns

SHARED = Path(__file__).parents[3] / "shared" / "data"


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


def test_a_sound_has_no_turns() -> None:
    assert read_turns("THOM: [sighs]") == ()
    assert read_turns("[door slams]") == ()


def test_what_is_sung_stays_whole() -> None:
    (said,) = read_turns("♪ THOM: la la ♪\n♪ ANN: lu lu ♪")
    assert (said.kind, said.text) == (SpeechKind.LYRICS, "la la lu lu")


def test_time_is_shared_out_by_words() -> None:
    text = "1\n00:00:01,000 --> 00:00:05,000\n- THOM: One two three.\n- ANN: Four.\n"
    assert parse_subtitles(text) == (
        Utterance(Interval(1, 4), "One two three.", speaker="Thom"),
        Utterance(Interval(4, 5), "Four.", speaker="Ann"),
    )


@pytest.mark.parametrize(
    ("label", "name"),
    [("JOHN", "John"), ("D.J.", "D.J."), ("J.R. EWING", "J.R. Ewing"), ("Ludwig van Beck", "Ludwig van Beck"),
     ("MARY-ANN", "Mary-Ann"), ("McGee", "McGee"), ("", ""), ("A WHOLE LINE OF WORDS", ""), ("john", "")],
)  # fmt: skip
def test_names_are_spelt_as_usual(label: str, name: str) -> None:
    assert speaker_of(label) == name


@pytest.mark.parametrize(
    ("actor", "name"), [("Thom", "Thom"), ("NTP", ""), ("Default", ""), ("Man 1", ""), ("", ""), ("{x}", "")]
)
def test_actors_of_ass_events(actor: str, name: str) -> None:
    assert of_actor(actor) == name


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


def test_records_keep_the_speaker_and_old_records_are_read() -> None:
    said = (Utterance(Interval(1, 2), "Hi", speaker="Thom"), Utterance(Interval(3, 4), "Ho"))
    rows = utterance_rows(said)
    assert utterances_of(rows) == said
    assert utterances_of([{"start": 1, "end": 2, "kind": "speech", "text": "Hi"}])[0].speaker == ""


def film(path: Path, codec: str, cue: bytes) -> Path:
    """A film of nothing but one cue of 2 s."""
    with av.open(str(path), "w") as container:
        sound: Any = container.add_stream("flac", rate=8000)
        sound.layout = "mono"
        stream: Any = container.add_stream(codec)
        stream.codec_context.time_base = stream.time_base = Fraction(1, 1000)
        stream.codec_context.subtitle_header = b"[Script Info]\n"
        packet = av.Packet(cue)
        packet.stream, packet.time_base = stream, Fraction(1, 1000)
        packet.pts = packet.dts = 1000
        packet.duration = 2000
        container.mux(packet)
    return path


@pytest.mark.parametrize(
    ("codec", "cue"),
    [
        ("srt", b"THOM: Hi there"),
        ("ass", b"0,0,Default,Thom,0,0,0,,Hi there"),
        ("webvtt", b"<v Thom>Hi there</v>"),
    ],
)
def test_speakers_of_embedded_tracks(tmp_path: Path, codec: str, cue: bytes) -> None:
    found = embedded_track(film(tmp_path / "a.mkv", codec, cue))
    assert found is not None
    assert [(u.speaker, u.text) for u in found.utterances] == [("Thom", "Hi there")]


@pytest.mark.skipif(not SHARED.exists(), reason="the supplied captions are not beside the repository")
def test_speakers_of_supplied_captions() -> None:
    people = {
        u.speaker for u in read_subtitles(SHARED / "ad-text" / "able-player" / "itaccess_captions_en.vtt")
    }
    assert people - {""} == {
        "Michael Young", "Tracy Mitrano", "Pablo Molina", "Edward Ray", "Gerry Hanley", "Pablo Molinda",
        "Bruce Maas",
    }  # fmt: skip
    dream = read_subtitles(SHARED / "ad-text" / "elephants-dream" / "captions.en.vtt")
    assert {u.speaker for u in dream} == {""}
