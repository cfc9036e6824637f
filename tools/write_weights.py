"""Writes the table of weights and licences in docs/weights.md: ``python tools/write_weights.py``.

It stands below the page's last heading. A test holds that it is what this writes.
"""

from __future__ import annotations

from pathlib import Path

from shotad.cli.models import licences
from shotad.core.progress import size_text
from shotad.core.weight_sources import WeightsSource
from shotad.core.weight_store import manifest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "weights.md"
HEADING = "## Licences\n"


def page(text: str) -> str:
    """The text of the page with the table as it should be."""
    head, _, _ = text.partition(HEADING)
    return f"{head}{HEADING}\n{table()}\n"


def place_of(source: WeightsSource) -> str:
    """A source in a few words, with its address behind them where it has one."""
    return f"[{source.place}]({source.url})" if source.url else source.place


def table() -> str:
    """The weights that have names, one row each: those of the manifest, then those of the hub."""
    lines = ["| name | for | licence | author | size | from |", "|---|---|---|---|---|---|"]
    entries = manifest()
    for row in licences():
        entry = entries.get(row.name)
        places = [place_of(source) for source in entry.sources] if entry else [f"<{row.sources[0]}>"]
        cells = (
            f"`{row.name}`",
            row.role,
            row.licence,
            row.author,
            size_text(row.bytes),
            ", ".join(places),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
