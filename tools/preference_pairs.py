"""Turn lines that people rewrote into preference pairs for training, in the JSON Lines that TRL reads.

    python tools/preference_pairs.py movie.shotad … > pairs.jsonl

One object for each accepted line whose words a person changed: ``prompt`` (what Stage II was asked),
``chosen`` (the accepted line), ``rejected`` (the machine's draft), and beside them ``film``, ``start`` and
``end`` of the line and ``seconds`` of the frames that Stage I saw. Training on them is up to you.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import shotad


def records(folder: Path, stage: str) -> dict[str, dict[str, Any]]:
    """The newest record of each slot."""
    lines = (folder / f"{stage}.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["slot"]: record for record in map(json.loads, lines)}


def pairs(folder: Path) -> Iterator[dict[str, Any]]:
    """The pairs of a work folder."""
    track = shotad.load_track(folder / "track.json")
    looked, written = records(folder, "stage1"), records(folder, "stage2")
    for cue in track.heard:
        draft, question = cue.machine, written.get(cue.slot_id or "")
        if cue.state.value != "accepted" or draft is None or question is None or draft.text in ("", cue.text):
            continue
        shots = looked.get(question["slot"], {}).get("shots", [])
        yield {
            "prompt": question["prompt"],
            "chosen": [{"role": "assistant", "content": cue.text}],
            "rejected": [{"role": "assistant", "content": draft.text}],
            "film": track.film.name,
            "start": cue.start,
            "end": cue.end,
            "seconds": sorted(second for shot in shots for second in shot["seconds"]),
        }


def main() -> int:
    """Print the pairs of all folders."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="WORKFOLDER")
    for folder in parser.parse_args().folders:
        for pair in pairs(folder):
            pair["prompt"] = [{"role": turn["role"], "content": turn["text"]} for turn in pair["prompt"]]
            print(json.dumps(pair, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
