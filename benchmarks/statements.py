"""First readings of what the embedded engine says, kind by kind, on clips that nobody had seen.

    python benchmarks/statements.py

Counts the verdicts of tests/labels/unseen.yaml, unseen2.yaml and unseen3.yaml. Each clip was labelled before
any run on it, then described once; each statement of each line was held against the pictures by eye. A
statement is true, doubtful or false, and useful where a professional would leave it in the script. A kind
stays in the engine where at least nine of ten are true and at least half are useful, in ten cases or more.

Of unseen.yaml the lines are those of the engine as it was before the rule: text and names were mended since,
and are judged by the other two files, of which the last table is the sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from common import LABELS, Share, command_line

FILES = ("unseen.yaml", "unseen2.yaml", "unseen3.yaml")
LEAST_CASES, LEAST_TRUE, LEAST_USEFUL = 10, 0.9, 0.5
"""What a kind of statement must have to stay."""


@dataclass(slots=True)
class Count:
    """How many statements of one kind there are, and how many of them are true, and useful."""

    statements: int = 0
    true: int = 0
    useful: int = 0

    def add(self, verdict: str, is_useful: bool) -> None:
        self.statements += 1
        self.true += verdict == "true"
        self.useful += is_useful

    @property
    def stays(self) -> bool:
        enough = self.statements >= LEAST_CASES
        return (
            enough
            and self.true >= LEAST_TRUE * self.statements
            and self.useful >= LEAST_USEFUL * self.statements
        )

    def __str__(self) -> str:
        true, useful = Share(self.true, self.statements), Share(self.useful, self.statements)
        return f"true {true}; useful {useful}"


@dataclass(slots=True)
class Reading:
    """The verdicts on one file of clips."""

    clips: int = 0
    lines: int = 0
    useful_lines: int = 0
    kinds: dict[str, Count] = field(default_factory=dict)
    total: Count = field(default_factory=Count)


def read_verdicts(clips: Sequence[Mapping[str, Any]]) -> Reading:
    """The verdicts on the lines of ``clips``; clips that were never described do not count."""
    reading = Reading()
    for clip in clips:
        if "lines" not in clip:
            continue
        reading.clips += 1
        for _text, _second, statements in clip["lines"]:
            reading.lines += 1
            reading.useful_lines += any(useful for _, _, useful in statements)
            for kind, verdict, useful in statements:
                for count in (reading.kinds.setdefault(kind, Count()), reading.total):
                    count.add(verdict, bool(useful))
    return reading


def table(name: str, reading: Reading) -> Iterator[str]:
    yield f"{name}: {reading.clips} clips, {reading.lines} lines, {reading.useful_lines} of them with use"
    for kind, count in sorted(reading.kinds.items(), key=lambda item: -item[1].statements):
        yield f"  {kind:10} {count}; by the rule it {'stays' if count.stays else 'goes'}"
    yield f"  {'all':10} {reading.total}"


def main() -> int:
    command_line(__doc__).parse_args()
    files = {name: yaml.safe_load((LABELS / name).read_text("utf-8")) for name in FILES}
    _, *now = FILES
    for name, clips in files.items():
        print("\n".join(table(name, read_verdicts(clips))))
    together = [clip for name in now for clip in files[name]]
    print("\n".join(table(" and ".join(now), read_verdicts(together))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
