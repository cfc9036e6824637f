"""CML-Bench's published averages and tables, from its published per-film tables."""

from __future__ import annotations

from pathlib import Path

import cml_bench
import pytest

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "cml-bench"


@pytest.fixture
def data() -> Path:
    if not DATA.is_dir():
        pytest.skip("needs ../shared/data/cml-bench, which is no part of the project")
    return DATA


def test_tables_agree_with_the_published_ones(data: Path, tmp_path: Path) -> None:
    rows = [row for row in cml_bench.published_averages(data) if row[3] is not None]
    equal = [
        (file, name)
        for file, name, cells, own in rows
        if all(repr(own[key]) == cell for key, cell in cells.items())  # type: ignore[index]
    ]
    others = {(file, name) for file, name, *_ in rows} - {*equal}
    assert len(equal) == 24
    assert {file for file, _ in others} == {"average_score.csv"}
    assert all(name.endswith("_base.csv") for _, name in others), "an earlier run with the base prompt"
    cells = cml_bench.table_1(data)
    assert len(cells) == 105
    assert [(cell.row, cell.column) for cell in cells if not cell.agrees] == [
        ("o4-mini-base", "DC2"), ("llama-4-maverick-base", "CC3"), ("o3-mini-instr", "DC2"),
        ("llama-4-scout-instr", "DC2"), ("llama-4-scout-instr", "CC1"),
    ]  # fmt: skip
    pytest.importorskip("scipy")
    cells = cml_bench.table_2(data)
    assert (sum(cell.agrees for cell in cells), len(cells)) == (37, 45)
    assert max(abs(cell.found - float(cell.published)) for cell in cells) < 0.011
    rho = cml_bench.correlations(data)
    assert [round(value, 3) for value in rho.values()] == [0.804, 0.806, 0.781]
    path = tmp_path / "table.csv"
    names = [*cml_bench.COLUMNS, "regex_parsing_successful"]
    rows = [",".join([value] * len(names)) for value in ("0.1", "0.2", "0.3")]
    path.write_text("\n".join([",".join(names), *rows, ""]), encoding="utf-8")
    assert cml_bench.averages(path)["pr1_scene_similarity"] == (0.1 + 0.2 + 0.3) / 3
