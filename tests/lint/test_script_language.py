"""``shotad lint`` takes the language of a script from the file, its name or its words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import Shotad

GERMAN = ("Wir sehen die Kamera im Hof.", "Er öffnet die Tür und tritt hinaus auf die nasse Straße.")
ENGLISH = ("She opens the door.", "He walks down to the river and sits on the old bench with his dog.")


def vtt(lines: tuple[str, ...], head: str = "WEBVTT") -> str:
    cues = (
        f"00:00:{10 * number:02d}.000 --> 00:00:{10 * number + 6:02d}.000\n{line}"
        for number, line in enumerate(lines, 1)
    )
    return "\n\n".join([head, *cues]) + "\n"


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        ("hof.vtt", vtt(GERMAN, "WEBVTT\nKind: descriptions\nLanguage: de-AT"), "German (Austria) (from the file)"),
        ("hof.de.ad.vtt", vtt(GERMAN), "German (from the file's name)"),
        ("hof.vtt", vtt(GERMAN), "German (from its words)"),
        ("hof.fr.vtt", vtt(GERMAN), "German (from its words)"),
        ("hof.json", json.dumps({"language": "de", "cues": [{"start": 1, "end": 4, "text": GERMAN[0]}]}), "German (from the file)"),
    ],
)  # fmt: skip
def test_a_german_script_is_checked_as_german(
    name: str, text: str, note: str, tmp_path: Path, shotad: Shotad
) -> None:
    script = tmp_path / name
    script.write_text(text, encoding="utf-8")
    said = shotad("lint", script, "--json")
    report = json.loads(said.out)
    assert f"Checked as {note}; --language names another." in report["notes"]
    assert "Wir sehen" in str(report["findings"]), report
    assert f"Checked as {note}" in shotad("lint", script).out


@pytest.mark.parametrize("name", ["yard.vtt", "what.to.do.vtt", "yard.en.vtt"])
def test_an_english_script_needs_no_note(name: str, tmp_path: Path, shotad: Shotad) -> None:
    script = tmp_path / name
    script.write_text(vtt(ENGLISH), encoding="utf-8")
    said = shotad("lint", script, "--json")
    assert "Checked as" not in said.out


def test_the_language_given_goes_first(tmp_path: Path, shotad: Shotad) -> None:
    script = tmp_path / "hof.de.vtt"
    script.write_text(vtt(GERMAN), encoding="utf-8")
    assert "Checked as" not in shotad("lint", script, "--language", "en", "--json").out
