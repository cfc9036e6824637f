"""``shotad describe``, here or as a process of its own, on a tiny film with given slots, and what it leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.program import Said, Shotad
from tests.media import FilmSpec, make_film
from tests.python_path import python_path

FILM = FilmSpec(frames=300, cuts=(60, 130, 200, 250))
SLOTS = ((0.5, 3.0), (3.5, 6.0), (6.5, 9.0), (9.5, 11.5))
"""Seconds of the slots that are described, as a rule the first few."""

SECRET = "sk-0c0ffee0-never-to-be-written-down"
"""What stands in the environment as the key of the endpoint."""

PLAIN = (
    "speech.source=none", "shots.detector=adaptive", "slots.find_credits=false", "scale.method=none", "frames.min_pixels=12544",
    "frames.max_pixels=25088", "frames.inside=3", "frames.outside=2",
)  # fmt: skip
"""Few and small frames, and nothing that needs weights."""

_ROOT = Path(__file__).resolve().parent.parent
_WAIT = 400.0


@dataclass(frozen=True)
class Run:
    """A command that can be run again and again, always the same, into the folder ``out``."""

    out: Path
    settings: tuple[str, ...]
    slots: int = 3

    @property
    def words(self) -> list[str]:
        """The command line."""
        given = self.out.with_suffix(".csv")
        rows = "".join(f"{start},{end}\n" for start, end in SLOTS[: self.slots])
        given.write_text(f"start,end\n{rows}")
        words = ["describe", str(make_film(FILM).path), "--out", str(self.out), "--slots", str(given)]
        words += [word for setting in (*PLAIN, *self.settings) for word in ("--set", setting)]
        return [*words, "--no-sheet"]

    def start(self, *more: str) -> subprocess.Popen[str]:
        """Starts it; the caller waits for it."""
        command = [sys.executable, "-c", "from shotad.cli.main import main; main()", *self.words, *more]
        return subprocess.Popen(
            command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def report(self, shotad: Shotad, *more: str) -> dict[str, Any]:
        """Runs it here to its end, which must be a good one; what it says to programs."""
        return report_of(shotad(*self.words, "--json", *more))

    def records(self, stage: str) -> dict[str, dict[str, Any]]:
        """The whole records of a stage so far, by slot. A line that is being written does not count."""
        path = self.out / f"{stage}.jsonl"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        rows = [json.loads(line) for line in lines if line.endswith("\n")]
        return {row["slot"]: row for row in rows}

    def wait_for(self, process: subprocess.Popen[str], ready: Callable[[], bool]) -> bool:
        """Waits until something is so, or the process has ended; whether it is so while that still runs."""
        deadline = time.monotonic() + _WAIT
        while process.poll() is None and not ready():
            assert time.monotonic() < deadline, "nothing happens"
            time.sleep(0.005)
        return process.poll() is None

    def holds(self, secret: str) -> list[str]:
        """Names of the files that hold ``secret``, in the whole folder."""
        files = [path for path in self.out.rglob("*") if path.is_file()]
        return [path.name for path in files if secret.encode() in path.read_bytes()]


def report_of(said: Said) -> dict[str, Any]:
    """What a run said to programs, at a good end: exit code 1 where every line failed, else 0."""
    assert said.code in (0, 1), said.err[-3000:]
    assert said.out, said.err[-3000:]
    found: dict[str, Any] = json.loads(said.out)
    states = [line["status"] for line in found.get("lines", ())]
    assert said.code == int(bool(states) and set(states) == {"failed"}), said.err[-3000:]
    return found


def ended(process: subprocess.Popen[str], wait: float = _WAIT) -> Said:
    """Waits for the end of a process, `wait` seconds at most."""
    out, err = process.communicate(timeout=wait)
    return Said(process.returncode, out, err)


def tokens(records: Mapping[str, Mapping[str, Any]]) -> tuple[int, int]:
    """Tokens in and out of all their calls."""
    usages = [one["usage"] for record in records.values() for one in record["tries"]]
    return sum(u["tokens_in"] for u in usages), sum(u["tokens_out"] for u in usages)


def good(records: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Those with an answer that can be used; others are asked for again by the next run."""
    return {slot: record for slot, record in records.items() if record["error"] is None}


def lost(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Lines of which nobody can say what became of them: neither heard nor with a reason."""
    heard = ("placed", "shortened")
    return [
        line for line in report["lines"] if not (line["text"] if line["status"] in heard else line["reason"])
    ]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    ours = {"OPENAI_API_KEY": SECRET, "PYTHONPATH": python_path(), "OMP_NUM_THREADS": "2"}
    return {**kept, **ours, "OMP_WAIT_POLICY": "PASSIVE", "PYTHONWARNINGS": "ignore"}
