"""Who was recognised, on the page, from Stage I's records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shotad.core import Config
from shotad.description import write_sheet
from tests.sheetfolder import FakeFilm, Made, make_folder

THOM = {"id": "thom", "called": "Thom <b>", "mark": "red", "current": True}


def folder_with(path: Path, *people: list[dict[str, Any]]) -> Path:
    """A work folder of three lines, whose records name these people in turn."""
    folder = make_folder(path, Made(shots=6))
    records = [json.loads(line) for line in (folder / "stage1.jsonl").read_text().splitlines()]
    rows = [{**record, "characters": some} for record, some in zip(records, people, strict=False)]
    (folder / "stage1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_the_page_says_who_was_recognised_and_escapes_names(tmp_path: Path) -> None:
    page = write_sheet(folder_with(tmp_path, [THOM], [], []), FakeFilm().pictures, Config())
    text = page.read_text(encoding="utf-8")
    assert "<dt>Recognised</dt><dd>Thom &lt;b&gt; (red)</dd>" in text
    assert text.count("<dt>Recognised</dt>") == 1
    assert "Thom &lt;b&gt; in 1 clip" in text
