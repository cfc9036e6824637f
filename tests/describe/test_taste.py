"""``--taste``: several tracks from one look at the film."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shotad
from shotad.core.errors import ConfigError
from shotad.description.english_words import with_own_words
from shotad.script import load_track
from tests.cli.program import FAKE, Shotad
from tests.describe.slot_run import ScriptedSlot, lines_json, run_slots
from tests.media import FilmSpec, make_film

SETTINGS = [word for word in FAKE if "=" in word]
OWN = "slots:\n  detail: brief\n  seconds_per_word: 0.5\nprompt:\n  own_words: {fake: made-up, Thom: Dad}\n"


@pytest.fixture
def film(tmp_path: Path) -> Path:
    path = tmp_path / "a [film].mp4"
    path.write_bytes(make_film(FilmSpec(frames=750, cuts=(100, 200, 400, 600))).path.read_bytes())
    return path


def looks_at(folder: Path) -> set[str]:
    """The keys of what Stage I was asked."""
    lines = (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [json.loads(line) for line in lines]
    return {answer["key"] for answer in answers if answer["stage"] == "stage1"}


def test_three_tracks_come_from_one_look(film: Path, tmp_path: Path, shotad: Shotad) -> None:
    own = tmp_path / "our-family.yaml"
    own.write_text(OWN, encoding="utf-8")
    assert shotad("describe", film, *FAKE, "--detail", "rich", "--no-sheet", "--quiet").code == 0
    usual = film.with_suffix(".shotad")
    looks = looks_at(usual)
    tracks = {"usual": load_track(usual / "track.json")}
    for taste in ("brief", str(own)):
        said = shotad("describe", film, *FAKE, "--no-sheet", "--taste", taste)
        assert said.code == 0, said.err
        assert str(usual) in said.err, "it says where the look came from"
        folder = film.with_name(f"{film.stem}.{Path(taste).stem}.shotad")
        assert looks_at(folder)
        assert looks_at(folder) <= looks, "nothing was looked at again"
        tracks[taste] = load_track(folder / "track.json")
    counts = {taste: len(track.heard) for taste, track in tracks.items()}
    assert counts["brief"] < counts["usual"]
    assert counts[str(own)] <= counts["brief"]
    slots = {taste: {cue.id for cue in track.cues} for taste, track in tracks.items()}
    assert slots["brief"] < slots["usual"]
    assert "fake" not in " ".join(cue.text for cue in tracks[str(own)].heard)


def test_python_has_tastes_too(film: Path) -> None:
    track = shotad.describe(film, engine="fake", settings=SETTINGS, taste="brief", worksheet=False)
    assert track.heard
    assert (film.parent / "a [film].brief.shotad" / "track.json").is_file()


def test_a_second_run_of_a_taste_keeps_edits(film: Path, shotad: Shotad) -> None:
    words = ("describe", film, *FAKE, "--no-sheet", "--taste", "brief")
    assert shotad(*words).code == 0
    script = film.parent / "a [film].brief.shotad" / "a [film].ad.vtt"
    text = script.read_text(encoding="utf-8")
    line = load_track(script.parent / "track.json").heard[0].text
    script.write_text(text.replace(line, "A line of mine."), encoding="utf-8")
    assert shotad(*words).code == 0
    assert load_track(script.parent / "track.json").heard[0].text == "A line of mine."


@pytest.mark.parametrize("taste", ["breif", "tastes/kid", "./my", "../.."])
def test_an_unknown_taste_is_refused_with_the_names(film: Path, shotad: Shotad, taste: str) -> None:
    said = shotad("describe", film, *FAKE, "--taste", taste)
    assert said.code == 2, said.err
    assert "brief, rich, or your YAML file" in said.err
    assert "paper" not in said.err, "configs that are no tastes"
    assert not list(film.parent.glob("*.shotad"))


def test_python_refuses_an_unknown_taste(film: Path) -> None:
    with pytest.raises(ConfigError, match="brief, rich"):
        shotad.describe(film, engine="fake", settings=SETTINGS, taste="./my")


def test_a_taste_named_without_the_ending_of_its_file(film: Path, shotad: Shotad) -> None:
    own = film.with_name("my.yaml")
    own.write_text(OWN, encoding="utf-8")
    said = shotad("describe", film, *FAKE, "--taste", own.with_suffix(""))
    assert said.code == 2
    assert f"--taste {own}" in said.err


@pytest.mark.parametrize(
    ("text", "problem"),
    [("slots: {detail: brif}", "slots.detail = 'brif'"), ("slots: {detal: rich}", "no setting slots.detal")],
)
def test_an_error_in_a_taste_names_its_file(film: Path, shotad: Shotad, text: str, problem: str) -> None:
    own = film.with_name("my.yaml")
    own.write_text(text, encoding="utf-8")
    said = shotad("describe", film, *FAKE, "--taste", own)
    assert said.code == 2
    assert f"In {own}: " in said.err
    assert problem in said.err
    of_option = shotad("describe", film, *FAKE, "--set", "slots.detail=brif")
    assert "In " not in of_option.err


def test_stage_two_is_told_the_focus_and_stage_one_is_not() -> None:
    slot = ScriptedSlot(writes=(lines_json("Thom waves."),))
    run = run_slots(slot, how=("prompt.focus=[text,people]", 'prompt.own_words={"Thom": "Dad"}'))
    assert (
        "words that can be read on the screen; then of who is there"
        in run.writes.requests[0].messages[-1].text
    )
    assert "listeners want" not in "".join(message.text for message in run.looks.requests[0].messages)


@pytest.mark.parametrize(
    ("line", "own_words", "expected"),
    [
        ("Thom's dog barks.", {"Thom": "Dad"}, "Dad's dog barks."),
        ("Thomas waves.", {"Thom": "Dad"}, "Thomas waves."),
        ('Words appear: "THOM".', {"Thom": "Dad"}, 'Words appear: "THOM".'),
        ("They will go to Will.", {"Will": "Uncle"}, "They will go to Uncle."),
        (
            "The boy runs to the boy next door.",
            {"the boy": "Ben", "the boy next door": "Max"},
            "Ben runs to Max.",
        ),
        ("Ann waves.", {}, "Ann waves."),
        ("Zoë (Zoë) waves.", {"Zoë": "Mum"}, "Mum (Mum) waves."),
    ],
)
def test_own_words(line: str, own_words: dict[str, str], expected: str) -> None:
    assert with_own_words(line, own_words) == expected


def test_empty_words_are_refused() -> None:
    with pytest.raises(ConfigError, match="own_words"):
        shotad.load_config(None, {"prompt.own_words": {"": "Dad"}})


def test_a_taste_takes_nothing_from_a_film_that_is_called_nearly_the_same(film: Path, shotad: Shotad) -> None:
    other = film.with_name("a [film].2.mp4")
    other.write_bytes(make_film(FilmSpec(frames=300, cuts=(100, 200))).path.read_bytes())
    assert shotad("describe", other, *FAKE, "--no-sheet", "--quiet").code == 0
    said = shotad("describe", film, *FAKE, "--no-sheet", "--taste", "brief")
    assert said.code == 0, said.err
    assert "a [film].2.shotad" not in said.err
    # Another taste of the same film may give what it has.
    said = shotad("describe", film, *FAKE, "--no-sheet", "--taste", "rich")
    assert "a [film].brief.shotad" in said.err


@pytest.mark.parametrize("name", ["brief.yaml", "Rich.yml"])
def test_a_file_called_as_a_taste_of_ours_is_refused(film: Path, tmp_path: Path, name: str) -> None:
    own = tmp_path / name
    own.write_text(OWN, encoding="utf-8")
    with pytest.raises(ConfigError, match="share a folder"):
        shotad.describe(film, engine="fake", taste=own)


def test_words_of_a_listener_stand_once(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("prompt:\n  own_words: {Thom: Dad, thom: Papa}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="'Thom' and 'thom' are one word"):
        shotad.load_config(str(own))
