"""Tables as plain lines."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> list[str]:
    """Lines of a table in columns; those whose places are in ``numbers`` end at the right.

    >>> aligned(("name", "n"), [("a", "10"), ("bcdef", "9")], [1])
    ['name    n', 'a      10', 'bcdef   9']
    """
    table = [tuple(heads), *map(tuple, rows)]
    widths = [max(len(row[place]) for row in table) for place in range(len(heads))]
    return [
        "  ".join(
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
