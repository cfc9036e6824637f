"""CML-Bench's published figures, computed again from its published per-film tables.

    python benchmarks/cml_bench.py [--data ../shared/data/cml-bench]

The tables are the ``scripts`` folder of the published code (``results`` and ``average_*.csv``, MIT licence):
eight metrics of 99 or 100 films for people's screenplays and for seven models with two prompts. Three things
are compared: their averages with the published averages, to the last digit; Table 1 of the paper, to two
decimals; Table 2 and its correlation with people. Table 1's other eight rows, and its columns CC2 and PR3,
have no published tables.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
from common import DATA, command_line

from shotad.evaluation.report.comparison import coefficient

PUBLISHED = DATA / "cml-bench"
COLUMNS = (
    *("dc1_adjacent_similarity", "dc2_qa_relevance", "dc3_topic_concentration"),
    *("cc1_emotional_stability", "cc2_linguistic_consistency", "cc3_action_intention_alignment"),
    *("pr1_scene_similarity", "pr2_event_coherence"),
)
IN_TABLE_1 = tuple(name for name in COLUMNS if not name.startswith("cc2"))
"""The paper's CC2 is another metric than the tables'; its DC2 and DC3 are the tables', under other names."""
FILES = {
    "gt": "output_benchmark_v4_gt_100",
    "o3-mini": "o3-mini",
    "o4-mini": "o4-mini-2025-04-16",
    "llama-4-maverick": "meta_llama-4-maverick-17b-128e-instruct",
    "llama-4-scout": "meta_llama-4-scout-17b-16e-instruct",
    "gemini-flash": "gemini-2.0-flash-001",
    "gemini-flash-lite": "gemini-2.0-flash-lite-001",
    "internlm3-8b": "internlm3-8b-instruct",
}
TABLE_1, TABLE_2 = (
    {row.split()[0]: row.split()[1:] for row in table.splitlines() if not row.startswith("#")}
    for table in Path(__file__).with_name("cml-published.txt").read_text(encoding="utf-8").split("\n\n")
)
"""The paper's tables, by row: of the first those rows that have a published table (DC1 to DC3, CC1, CC3, PR1,
PR2), of the second DC, CC and PR by CML-Bench, then by people."""


@dataclass(frozen=True)
class Cell:
    """A published cell and what the tables give for it."""

    row: str
    column: str
    published: str
    found: float

    @property
    def agrees(self) -> bool:
        return f"{self.found:.2f}" == self.published


def table_of(data: Path, row: str) -> Path:
    """The per-film table of a row of Table 1: ``gt``, ``o3-mini-base``, ``o3-mini-instr``."""
    if row == "gt":
        return data / "results" / "gt" / f"{FILES[row]}.csv"
    model, _, prompt = row.rpartition("-")
    kind = "instruction" if prompt == "instr" else "base"
    return data / "results" / kind / f"{FILES[model]}_{kind}.csv"


def averages(path: Path) -> dict[str, float]:
    """The mean of each metric over the films of a table, added up in their order as the published ones."""
    with path.open(encoding="utf-8", newline="") as file:
        films = list(csv.DictReader(file))
    names = (*COLUMNS, "regex_parsing_successful")
    # sum() is more exact from Python 3.12 on, and ends in other digits.
    return {name: reduce(add, (float(film[name]) for film in films)) / len(films) for name in names}


def published_averages(data: Path) -> Iterator[tuple[str, str, Mapping[str, str], dict[str, float] | None]]:
    """File, row, its cells, and our averages; None where the row's per-film table is not published."""
    tables = {path.name: path for path in data.glob("results/*/*.csv")}
    for path in sorted(data.glob("average_*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                name = row.pop("file")
                yield path.name, name, row, averages(tables[name]) if name in tables else None


def table_1(data: Path) -> list[Cell]:
    """All cells of Table 1 that have a published table: 15 rows of 7."""
    found = []
    for row, cells in TABLE_1.items():
        own = averages(table_of(data, row))
        pairs = zip(IN_TABLE_1, cells, strict=True)
        found += [Cell(row, name[:3].upper(), cell, own[name]) for name, cell in pairs]
    return found


def table_2(data: Path) -> list[Cell]:
    """The cells of Table 2 by CML-Bench in rows that have a published table: 15 rows of 3 means."""
    found = []
    for row in TABLE_1:
        own = averages(table_of(data, row))
        for kind, cell in zip(("DC", "CC", "PR"), TABLE_2[row], strict=False):
            values = [own[name] for name in COLUMNS if name.startswith(kind.lower())]
            found.append(Cell(row, kind, cell, sum(values) / len(values)))
    return found


def correlation(rows: Mapping[str, list[float]]) -> float:
    """Spearman's rho of the mean of the first three numbers of each row and that of the last three."""
    table = np.array([*rows.values()])
    return coefficient("spearman", table[:, :3].mean(axis=1), table[:, 3:].mean(axis=1))


def correlations(data: Path) -> dict[str, float]:
    """The correlation with people by Table 2 as printed, by its 15 rows with a table, and by these tables."""
    printed = {row: [float(cell) for cell in cells] for row, cells in TABLE_2.items()}
    counted: dict[str, list[float]] = {}
    for cell in table_2(data):
        counted.setdefault(cell.row, []).append(cell.found)
    tables = {
        "Table 2 as printed, 23 rows": printed,
        "Table 2 as printed, 15 rows": {row: printed[row] for row in counted},
        "per-film tables, 15 rows": {row: own + printed[row][3:] for row, own in counted.items()},
    }
    return {title: correlation(rows) for title, rows in tables.items()}


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--data", type=Path, default=PUBLISHED, help="folder with results/ and average_*.csv")
    data = parser.parse_args().data
    if not (data / "results").is_dir():
        sys.exit(f"There is no {data / 'results'}. Name the scripts folder of the published code by --data.")
    print("Averages, to the last digit:")
    for file, name, cells, own in published_averages(data):
        differ = [] if own is None else [key for key, cell in cells.items() if repr(own[key]) != cell]
        said = "no per-film table" if own is None else f"differ: {', '.join(differ)}" if differ else "equal"
        print(f"  {file}: {name}: {said}")
    for title, those in (("Table 1", table_1(data)), ("Table 2", table_2(data))):
        print(f"{title}, to two decimals: {sum(cell.agrees for cell in those)} of {len(those)} agree.")
        for cell in those:
            if not cell.agrees:
                print(f"  {cell.row} {cell.column}: printed {cell.published}, found {cell.found:.4f}")
    print("Spearman's rho with people (the paper: 0.80):")
    for title, rho in correlations(data).items():
        print(f"  {title}: {rho:.3f}")


if __name__ == "__main__":
    main()
