"""A script in Windows-1252, as German Excel saves CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.script import load_track
from tests.cli.program import FAKE, Shotad

LINE = "Anna öffnet die Tür."


@pytest.mark.parametrize("ending", ["csv", "srt"])
def test_a_script_of_another_encoding(film: Path, shotad: Shotad, tmp_path: Path, ending: str) -> None:
    assert shotad("describe", film, *FAKE, "--no-sheet").code == 0
    folder, script = film.with_suffix(".shotad"), tmp_path / f"movie.{ending}"
    first = load_track(folder / "track.json").heard[0]
    assert shotad("export", folder, "--format", ending, "--out", script).code == 0
    text = script.read_text(encoding="utf-8-sig").replace(first.text, LINE)
    script.write_bytes(text.encode("cp1252", "replace"))
    said = shotad("import", folder, script)
    assert said.code != 0
    for words in (script.name, "CSV UTF-8", "--encoding cp1252"):
        assert words in said.err
    assert shotad("import", folder, script, "--encoding", "cp99999").code == 2
    said = shotad("import", folder, script, "--encoding", "cp1252")
    assert said.code == 0, said.err
    assert load_track(folder / "track.json").heard[0].text == LINE
