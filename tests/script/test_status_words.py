"""What people write into the column status of a table, in any language."""

from __future__ import annotations

import unicodedata

import pytest

from shotad.core.errors import ScriptError
from shotad.script.document import lines_of_table
from shotad.script.formats import parse_script

DROPPED = ("dropped", "deleted", "gestrichen", "Gelöscht", "weglassen", "supprimé", "supprimée", "eliminada")
HEARD = ("", "placed", "gesetzt", "leer", "angenommen", " Shortened ")


def texts_of_csv(status: str) -> list[str]:
    table = f"start;end;text;status;stamp\n1;2;Ein Hund bellt.;{status};\n3;4;Er rennt.;;\n"
    return [cue.text for cue in parse_script(table.encode(), "hof.csv").cues]


@pytest.mark.parametrize("status", [*DROPPED, unicodedata.normalize("NFD", "gelöscht")])
def test_words_for_dropped_leave_the_line_out(status: str) -> None:
    assert texts_of_csv(status) == ["", "Er rennt."]


@pytest.mark.parametrize("status", HEARD)
def test_words_for_spoken_keep_the_line(status: str) -> None:
    assert texts_of_csv(status) == ["Ein Hund bellt.", "Er rennt."]


def test_another_word_is_refused() -> None:
    with pytest.raises(ScriptError) as refused:
        texts_of_csv("vielleicht")
    for words in ("hof.csv, line 2", "status", "'vielleicht'", "gestrichen", "gesetzt"):
        assert words in str(refused.value)
    rows = iter([["Von", "Bis", "Text", "Status", "Stamp"], ["1", "2", "Ein Hund bellt.", "vielleicht", ""]])
    with pytest.raises(ScriptError, match=r"hof.xlsx, row 2: .*'vielleicht'"):
        lines_of_table(rows, "hof.xlsx")
