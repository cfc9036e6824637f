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
from pathlib import Path

import numpy as np
from common import DATA, command_line

from shotad.evaluation.report.comparing import coefficient

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
TABLE_1 = """
gt                      0.85 0.85 0.91 0.71 0.90 0.92 0.90
o3-mini-base            0.00 0.00 0.00 0.00 0.00 0.00 0.90
o4-mini-base            0.03 0.03 0.03 0.01 0.02 0.01 0.90
llama-4-maverick-base   0.59 0.42 0.63 0.39 0.43 0.24 0.91
llama-4-scout-base      0.63 0.40 0.66 0.40 0.41 0.23 0.86
gemini-flash-base       0.43 0.05 0.45 0.20 0.09 0.60 0.90
gemini-flash-lite-base  0.08 0.00 0.09 0.01 0.03 0.11 0.90
internlm3-8b-base       0.21 0.13 0.22 0.11 0.12 0.38 0.82
o3-mini-instr           0.89 0.77 0.95 0.62 0.89 0.95 0.90
o4-mini-instr           0.87 0.86 0.93 0.66 0.88 0.95 0.90
llama-4-maverick-instr  0.87 0.83 0.94 0.63 0.89 0.95 0.91
llama-4-scout-instr     0.87 0.86 0.94 0.68 0.88 0.93 0.91
gemini-flash-instr      0.88 0.87 0.94 0.64 0.89 0.94 0.90
gemini-flash-lite-instr 0.86 0.85 0.93 0.65 0.88 0.94 0.90
internlm3-8b-instr      0.89 0.87 0.94 0.58 0.86 0.89 0.90
"""
"""The rows of the paper's Table 1 that have a published table: DC1 to DC3, CC1, CC3, PR1, PR2."""
TABLE_2 = """
gt                      0.87 0.84 0.91 3.00 2.66 3.33
o3-mini-base            0.00 0.00 0.45 1.67 1.21 1.21
o4-mini-base            0.03 0.02 0.46 1.46 1.33 1.21
llama-4-maverick-base   0.55 0.43 0.58 1.42 1.29 1.25
llama-4-scout-base      0.56 0.43 0.55 1.13 1.04 1.42
gemini-flash-base       0.31 0.14 0.75 1.46 1.33 1.29
gemini-flash-lite-base  0.06 0.01 0.51 1.29 1.21 1.25
internlm3-8b-base       0.19 0.12 0.60 1.25 1.67 1.21
qwen2.5-32b-base        0.23 0.18 0.50 1.49 1.57 1.46
qwen3-30b-base          0.70 0.32 0.64 1.51 1.82 1.55
deepseek-v3-base        0.46 0.22 0.56 1.78 1.63 1.36
deepseek-r1-base        0.63 0.46 0.45 1.66 1.79 1.48
o3-mini-instr           0.86 0.76 0.93 3.50 3.33 3.25
o4-mini-instr           0.89 0.82 0.93 3.58 3.58 3.33
llama-4-maverick-instr  0.88 0.81 0.93 3.50 3.42 3.50
llama-4-scout-instr     0.89 0.83 0.92 3.42 3.42 3.50
gemini-flash-instr      0.90 0.82 0.92 3.50 3.42 3.58
gemini-flash-lite-instr 0.88 0.82 0.92 3.42 3.50 3.50
internlm3-8b-instr      0.90 0.77 0.90 3.17 3.25 3.42
qwen2.5-32b-instr       0.87 0.61 0.91 3.42 3.39 3.44
qwen3-30b-instr         0.89 0.69 0.93 3.49 3.35 3.51
deepseek-v3-instr       0.87 0.63 0.92 3.51 3.48 3.42
deepseek-r1-instr       0.87 0.63 0.92 3.57 3.55 3.39
"""
"""The paper's Table 2: DC, CC and PR by CML-Bench, then by people."""


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


def rows_of(table: str) -> dict[str, list[str]]:
    lines = (line.split() for line in table.strip().splitlines())
    return {name: cells for name, *cells in lines}


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
    found = {}
    for name in (*COLUMNS, "regex_parsing_successful"):
        total = 0.0  # sum() is more exact from Python 3.12 on, and ends in other digits
        for film in films:
            total += float(film[name])
        found[name] = total / len(films)
    return found


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
    found = {row: averages(table_of(data, row)) for row in rows_of(TABLE_1)}
    return [
        Cell(row, name[:3].upper(), cell, found[row][name])
        for row, cells in rows_of(TABLE_1).items()
        for name, cell in zip(IN_TABLE_1, cells, strict=True)
    ]


def table_2(data: Path) -> list[Cell]:
    """The cells of Table 2 by CML-Bench in rows that have a published table: 15 rows of 3 means."""
    found = []
    for row in rows_of(TABLE_1):
        own = averages(table_of(data, row))
        for kind, cell in zip(("DC", "CC", "PR"), rows_of(TABLE_2)[row], strict=False):
            values = [own[name] for name in COLUMNS if name.startswith(kind.lower())]
            found.append(Cell(row, kind, cell, sum(values) / len(values)))
    return found


def correlation(rows: Mapping[str, list[float]]) -> float:
    """Spearman's rho of the mean of the first three numbers of each row and that of the last three."""
    table = np.array([*rows.values()])
    return coefficient("spearman", table[:, :3].mean(axis=1), table[:, 3:].mean(axis=1))


def correlations(data: Path) -> dict[str, float]:
    """The correlation with people by Table 2 as printed, by its 15 rows with a table, and by these tables."""
    printed = {row: [float(cell) for cell in cells] for row, cells in rows_of(TABLE_2).items()}
    counted: dict[str, list[float]] = {}
    for cell in table_2(data):
        counted.setdefault(cell.row, []).append(cell.found)
    return {
        "Table 2 as printed, 23 rows": correlation(printed),
        "Table 2 as printed, 15 rows": correlation({row: printed[row] for row in counted}),
        "per-film tables, 15 rows": correlation(
            {row: own + printed[row][3:] for row, own in counted.items()}
        ),
    }


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
