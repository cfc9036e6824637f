"""Names of films as people have them: ends of lines, orders to the terminal, bytes that are no UTF-8."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from shotad.batch import Planner, Report, Row, Wishes, as_lines, gather, labels, read_report

LATIN = os.fsdecode(b"caf\xe9.mp4")


@pytest.mark.skipif(sys.platform == "darwin", reason="names must be UTF-8 there")
def test_a_name_that_is_no_text_is_the_trouble_of_its_film_alone(tmp_path: Path) -> None:
    for name in (LATIN, "new\nline.mp4", "plain.mp4"):
        (tmp_path / name).write_bytes(b"film")
    planned = gather([str(tmp_path)]).planned(Planner(Wishes(out=str(tmp_path / "out"))))
    assert len(planned) == 3
    by_name = {film.name: film for film in planned}
    trouble = by_name[LATIN].trouble
    assert trouble is not None
    assert trouble.error is not None
    assert "caf\\xe9.mp4 is not in UTF-8" in trouble.error[0]
    assert by_name["plain.mp4"].trouble is by_name["new\nline.mp4"].trouble is None
    rows = [Row(name, film, film.trouble) for name, film in zip(labels(planned), planned, strict=True)]
    text = as_lines(rows, 1)
    assert len(text.encode().splitlines()) == 4
    report = Report(tmp_path / "r.json")
    report.write(lambda: rows, 1, ended=True)
    assert report.trouble is None
    # Programs get the name by which the file is found again.
    names = [Path(row["film"]).name for row in read_report(report.path)]
    assert all((tmp_path / name).exists() for name in names)
    assert json.loads(report.path.read_text(encoding="utf-8"))["ended"]
