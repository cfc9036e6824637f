"""A film that was described in one language is described in another: no track mixes two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.core import Config, Request
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.script import load_track
from tests.cli.program import FAKE, Said, Shotad

GERMAN = "Ein Hund läuft über die nasse Straße."

LINES = {"de": "Anna öffnet die Tür und tritt hinaus.", "fr": "Anna ouvre la porte et sort dans la cour."}
HERE = "tests.cli.test_change_of_language"


class Polyglot(FakeEngine):
    """Writes a line in the language of the settings."""

    def __init__(self, config: Config) -> None:
        self.line = LINES[config.language[:2]]
        super().__init__(config, answer=self._answer)

    def _answer(self, request: Request) -> str:
        if request.schema is None:
            return plain_answer(request)
        return json.dumps(dict.fromkeys(request.schema["properties"], f"{self.line} {request.slot_id}"))


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2]))


def describe(shotad: Shotad, film: Path, language: str, *words: str) -> Said:
    engine = f"stage2.engine={HERE}:Polyglot"
    return shotad("describe", film, *FAKE, "--no-sheet", "--set", engine, "--language", language, *words)


def edit_first_line(film: Path) -> str:
    """Write a German line into the track of ``film``, as an editor does; returns its id."""
    file = film.with_suffix(".shotad") / "track.json"
    first = load_track(file).heard[0]
    file.write_text(file.read_text(encoding="utf-8").replace(first.text, GERMAN), encoding="utf-8")
    return first.id


def test_edited_lines_of_another_language_stop_the_run(film: Path, shotad: Shotad) -> None:
    assert describe(shotad, film, "de").code == 0
    edited = edit_first_line(film)
    track = film.with_suffix(".shotad") / "track.json"
    before = track.read_bytes()
    said = describe(shotad, film, "fr")
    assert said.code != 0
    for words in ("in German", edited, GERMAN, "--to fr", "--out", "--discard-edits"):
        assert words in said.err
    assert track.read_bytes() == before
    # A region is no other language.
    assert describe(shotad, film, "de-AT").code == 0
    assert GERMAN in [cue.text for cue in load_track(track).heard]
    assert describe(shotad, film, "fr", "--discard-edits").code == 0
    written = load_track(track)
    assert {cue.language for cue in written.cues} == {"fr"}
    assert GERMAN not in [cue.text for cue in written.heard]


def test_a_track_without_peoples_lines_is_made_anew(film: Path, shotad: Shotad) -> None:
    assert describe(shotad, film, "de").code == 0
    assert describe(shotad, film, "fr").code == 0
    track = load_track(film.with_suffix(".shotad") / "track.json")
    assert {track.language, *(cue.language for cue in track.cues)} == {"fr"}


@pytest.mark.parametrize("discard", [(), ("--discard-edits",)])
def test_a_part_in_another_language_is_refused(film: Path, shotad: Shotad, discard: tuple[str, ...]) -> None:
    assert describe(shotad, film, "de").code == 0
    last = load_track(film.with_suffix(".shotad") / "track.json").heard[-1]
    said = describe(shotad, film, "fr", "--to", f"{last.interval.start:.2f}", *discard)
    assert said.code != 0
    assert "outside the part" in said.err
    assert last.id in said.err


def test_redo_keeps_to_the_language_of_the_track(film: Path, shotad: Shotad) -> None:
    assert describe(shotad, film, "de").code == 0
    said = shotad("redo", film, "1", "--set", "language=fr", "--no-sheet")
    assert said.code == 2
    assert "shotad translate" in said.err
