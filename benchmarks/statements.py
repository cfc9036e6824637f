"""What the embedded engine says of unseen clips: true, false, useful, in time; both halves apart.

    python benchmarks/statements.py --half tuning|judging [--runs FOLDER] [--new] [name ...]
    python benchmarks/statements.py --first-readings

Describes the clips of tests/labels/clips.yaml into FOLDER (gone on with where it is there) and holds each
statement of each line against tests/labels/statements.yaml: [line, begins, verdicts, useful, in time], by eye
beside the pictures, then verdicts and use by a second labeller, who did not know the first's. A line that was
changed counts as not labelled, and ``--new`` prints it as an entry to fill in. Useful is a true line that
says something of what scenes.yaml says there. A slot in which something can be told is one that scenes.yaml
says something of, up to a second after its end.

``--first-readings`` counts tests/labels/unseen.yaml by kind of statement: what was said, once, of clips that
had been labelled before any run on them.

What a draft is worth: the words that a describer inserts, deletes or replaces to turn the line of a slot into
what scenes.yaml says there for the longest time, against the words of writing that where there is no line.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import yaml
from clips import LABELS, Clip, Half, chosen
from common import Share, command_line, words_changed

import shotad

VERDICTS = ("true", "false", "doubtful")


@dataclass(frozen=True, slots=True)
class Said:
    """A line, when it begins, and how many statements it makes."""

    text: str
    start: float
    statements: int


@dataclass(frozen=True, slots=True)
class Described:
    """A clip as it was described: its lines, and its slots in seconds."""

    clip: Clip
    lines: tuple[Said, ...]
    slots: tuple[tuple[float, float], ...]


def describe(clip: Clip, out: Path) -> Described:
    """Describes one clip with the embedded engine, or takes what was described before."""
    span = {"start": clip.start, "end": clip.end}
    track = shotad.describe(clip.path, engine="embedded", out=out, **span, progress=False)
    record = out / "stage2.jsonl"
    told = record.read_text("utf-8").splitlines() if record.is_file() else []
    notes = {row["slot"]: row["notes"] for row in map(json.loads, told)}
    lines = tuple(
        Said(cue.text, round(cue.start, 2), len(notes[cue.id]["said"][cue.chosen or 0]))
        for cue in track.heard
    )
    slots = json.loads((out / "slots.json").read_text("utf-8"))["slots"]
    return Described(clip, lines, tuple((slot["start"], slot["end"]) for slot in slots))


def interval(right: int, of: int) -> str:
    """ "right of n: share (low to high)", by Wilson."""
    low, high = Share(right, of).interval
    return f"{right} of {of}: {right / of:.0%} ({low:.0%} to {high:.0%})" if of else "0 of 0"


def figures(described: list[Described], labels: dict[str, Any], scenes: dict[str, Any]) -> Iterator[str]:
    verdicts: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for one in described:
        known = {(row[0], float(row[1])): row for row in labels.get(one.clip.name, [])}
        good: list[float] = []
        for said in one.lines:
            if (row := known.get((said.text, said.start))) is None:
                count["unlabelled"] += 1
                continue
            _, _, told, useful, timely, *again = row
            verdicts.update(told.split())
            count.update(lines=1, useful=useful, timely=timely)
            if again:
                pairs = list(zip(told.split(), again[0].split(), strict=True))
                count.update(twice=len(pairs), same=sum(a == b for a, b in pairs))
                count.update(twice_lines=1, same_use=again[1] == useful)
            if useful and set(told.split()) == {"true"}:
                good.append(said.start)
        for start, end in one.slots:
            if any(a < end + 1 and b > start for a, b, _ in scenes.get(one.clip.name, [])):
                count.update(able=1, reached=any(start <= second < end for second in good))

    def part(name: str, of: str) -> str:
        return interval(count[name], count[of])

    total = verdicts.total()
    yield f"  statements {total}; true {interval(verdicts['true'], total)}"
    yield (
        f"  false {verdicts['false']}, doubtful {verdicts['doubtful']};"
        f" not labelled: {count['unlabelled']} lines"
    )
    yield f"  lines in time {part('timely', 'lines')}; useful {part('useful', 'lines')}"
    yield f"  labelled twice: the same verdict {part('same', 'twice')}; use {part('same_use', 'twice_lines')}"
    yield f"  slots in which something can be told, with a true and useful line {part('reached', 'able')}"


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text.lower())


def worth(described: list[Described], scenes: dict[str, Any]) -> str:
    """The words of a describer who begins with the lines, against one who begins with nothing."""
    count: Counter[str] = Counter()
    for one in described:
        for start, end in one.slots:
            told = [(min(b, end + 1) - max(a, start), text) for a, b, text in scenes.get(one.clip.name, [])]
            longest, wanted = max(told, default=(0.0, ""))
            if longest <= 0:
                continue
            draft = next((said.text for said in one.lines if start <= said.start < end), "")
            words, changes = len(words_of(wanted)), words_changed(words_of(draft), words_of(wanted))
            count.update(slots=1, written=words, whole=changes)
            if draft:
                count.update(drafts=1, saved=words - changes)
    return (
        f"  a draft: {count['whole']} words changed or written from the lines, {count['written']} written "
        f"from nothing, in {count['slots']} slots; in the {count['drafts']} with a line "
        f"{count['saved']:+} words saved"
    )


def first_readings(clips: list[dict[str, Any]]) -> Iterator[str]:
    """The table by kind: statements, those that are true, and those that a professional would leave in."""
    verdicts_by_kind: dict[str, list[tuple[bool, bool]]] = {}
    lines = 0
    for clip in clips:
        for _line, _second, statements in clip["lines"]:
            lines += 1
            for kind, verdict, useful in statements:
                verdicts_by_kind.setdefault(kind, []).append((verdict == "true", bool(useful)))
    yield f"{len(clips)} clips, {lines} lines"
    for kind, verdicts in sorted(verdicts_by_kind.items()):
        yield f"  {kind}: {first_reading(verdicts)}"
    yield f"  all: {first_reading([verdict for kind in verdicts_by_kind.values() for verdict in kind])}"


def first_reading(verdicts: list[tuple[bool, bool]]) -> str:
    true = sum(is_true for is_true, _ in verdicts)
    useful = sum(is_useful for _, is_useful in verdicts)
    return f"true {interval(true, len(verdicts))}; useful {interval(useful, len(verdicts))}"


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("names", nargs="*", metavar="name")
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--half", choices=get_args(Half))
    wanted.add_argument("--first-readings", action="store_true", help="count the labels of unseen clips")
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--new", action="store_true", help="print lines that have no label")
    asked = parser.parse_args()
    if asked.first_readings:
        print("\n".join(first_readings(yaml.safe_load((LABELS / "unseen.yaml").read_text("utf-8")))))
        return 0
    folder = asked.runs or Path(tempfile.mkdtemp())
    labels = yaml.safe_load((LABELS / "statements.yaml").read_text("utf-8")) or {}
    scenes = yaml.safe_load((LABELS / "scenes.yaml").read_text("utf-8"))
    described = [describe(clip, folder / clip.name) for clip in chosen(asked.half, asked.names)]
    for one in described:
        known = {(row[0], float(row[1])) for row in labels.get(one.clip.name, [])}
        new = [said for said in one.lines if (said.text, said.start) not in known]
        if asked.new and new:
            print(f"{one.clip.name}:")
        for said in new if asked.new else ():
            print(f"- [{json.dumps(said.text)}, {said.start}, {' '.join(['true'] * said.statements)}, 0, 1]")
    for kind in ("real", "made"):
        part = [one for one in described if (one.clip.file is None) == (kind == "made")]
        print(f"{asked.half}, {kind}: {len(part)} clips, {sum(len(one.lines) for one in part)} lines")
        print("\n".join(figures(part, labels, scenes)))
        print(worth(part, scenes))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
