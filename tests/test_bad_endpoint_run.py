"""Whole runs against a server that misbehaves on purpose: of every line is said what became of it."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bad_server import Act, Backwards, BadServer, Script, Seen, answer, die, drop, echo, html, status
from tests.cli.program import Shotad
from tests.shotad_process import SECRET, SLOTS, Run, good, lost, report_of, tokens

pytestmark = pytest.mark.slow

SETTINGS = (
    "engine=openai", "openai.model=tiny", "openai.in_flight=2", "openai.retries=2",
    "openai.longest_pause=0.05", "openai.timeout=5", "stage1.attempts=2", "stage2.attempts=2",
)  # fmt: skip

DESCRIBED = (
    "Description:\n1. Main characters: A woman in a red coat.\n2. Actions: She opens the door and walks out.\n"
    "3. Interactions: She waves to a boy.\n4. Key objects: A door."
)


def is_stage1(seen: Seen) -> bool:
    return bool(seen.pictures)


def well(seen: Seen) -> Act:
    """A proper answer to either stage."""
    if is_stage1(seen):
        return answer(DESCRIBED)
    return answer(json.dumps({"summarized_AD": "She opens the door."}))


class ForClips:
    """Plays ``act`` for whatever is asked about the first ``number`` clips, and answers well else."""

    def __init__(self, act: Act, number: int) -> None:
        self._act, self._number, self._lock = act, number, threading.Lock()
        self._clips: list[str] = []

    def __call__(self, seen: Seen) -> Act:
        if not is_stage1(seen):
            return well(seen)
        clip = "".join(seen.pictures)
        with self._lock:
            if clip not in self._clips:
                self._clips.append(clip)
            return self._act if self._clips.index(clip) < self._number else well(seen)


class AtFirst:
    """Plays ``act`` at the first time that a question comes, and answers it well after that."""

    def __init__(self, act: Act) -> None:
        self._act, self._lock = act, threading.Lock()
        self._seen: Counter[str] = Counter()

    def __call__(self, seen: Seen) -> Act:
        with self._lock:
            question = json.dumps(seen.body["messages"])
            self._seen[question] += 1
            return self._act if self._seen[question] == 1 else well(seen)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)


def run_at(server: BadServer, out: Path, *settings: str) -> Run:
    return Run(out, (*SETTINGS, f"openai.base_url={server.url}", *settings), slots=len(SLOTS))


def checked(shotad: Shotad, run: Run) -> dict[str, Any]:
    """A run to its good end; of each line is said what became of it, and the key stands nowhere."""
    said = shotad(*run.words, "--json")
    report = report_of(said)
    assert len(report["lines"]) == run.slots
    assert lost(report) == []
    assert run.holds(SECRET) == []
    assert SECRET not in said.out + said.err
    return report


def states(report: dict[str, Any]) -> Counter[str]:
    return Counter(line["status"] for line in report["lines"])


@pytest.mark.parametrize(
    "script",
    [AtFirst(status(429, "slow down", headers={"Retry-After": "0"})), AtFirst(drop()), Backwards(2, well)],
    ids=["429", "hung up", "backwards"],
)
def test_trouble_that_passes_leaves_no_trace(shotad: Shotad, tmp_path: Path, script: Script) -> None:
    with BadServer(script) as server:
        run = run_at(server, tmp_path / "w")
        report = checked(shotad, run)
    assert states(report) == {"placed": len(SLOTS)}
    assert all(len(record["tries"]) == 1 for record in run.records("stage2").values())
    assert {line["text"] for line in report["lines"]} == {"She opens the door."}


def test_a_run_of_ones_own_is_gone_on_with_at_its_server_and_nobody_elses(
    shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with BadServer(well) as server:
        run = run_at(server, tmp_path / "w")
        name = checked(shotad, run)["lines"][0]["id"]
        asked = len(server.requests)
        assert shotad("redo", run.out, name, "--no-sheet").code in (0, 1)
        assert len(server.requests) > asked
        # The same folder, as somebody else has it
        monkeypatch.setenv("SHOTAD_CONFIG", str(tmp_path / "another"))
        asked = len(server.requests)
        said = shotad("redo", run.out, name, "--no-sheet")
        assert (said.code, len(server.requests)) == (2, asked)
        assert "This run asked engine = 'openai'" in said.err
        words = ("--engine", "openai", "--set", f"openai.base_url={server.url}")
        said = shotad("redo", run.out, name, "--no-sheet", *words)
        assert "Say where it is: --film FILM." in said.err, "it lies nowhere near the folder"
        film = ("--film", run.words[1])
        assert shotad("redo", run.out, name, "--no-sheet", *words, *film).code in (0, 1)
        assert len(server.requests) > asked


def test_a_server_that_takes_five_images_gets_five_frames_of_each_clip(
    shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with BadServer(well) as server:
        # It answers for Groq, as the proxy through which calls go.
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
        frames = ("frames.inside=16", "frames.outside=16", "overlay.label=text")
        run = Run(
            tmp_path / "w", (*SETTINGS, "openai.base_url=http://api.groq.com/openai/v1", *frames), len(SLOTS)
        )
        said = shotad(*run.words)
        questions = [seen.question for seen in server.requests if is_stage1(seen)]
        shown = [len(seen.pictures) for seen in server.requests if is_stage1(seen)]
    assert said.code == 0, said.err
    assert shown == [5] * len(SLOTS)
    assert said.err.count("takes 5 images: each clip is shown in 5 frames, not 32") == 1
    assert all(re.search(r"frames? \d to 5\b", question) for question in questions), "the prompt counts five"
    for record in run.records("stage1").values():
        assert sum(len(shot["seconds"]) for shot in record["shots"]) == 5
        assert record["tries"][0]["shown"] == "timed stills"


@pytest.mark.parametrize("depth", [1, 2])
def test_a_key_in_escapes_reaches_no_line(shotad: Shotad, tmp_path: Path, depth: int) -> None:
    """``depth`` 1: the server escapes it in its answer, 2: in the line within its answer."""
    escaped = "".join(f"\\u{ord(one):04x}" for one in SECRET)

    def script(seen: Seen) -> Act:
        line = "She opens the door marked KEY."
        act = answer(f"{DESCRIBED} KEY") if is_stage1(seen) else answer(json.dumps({"summarized_AD": line}))
        assert isinstance(act.body, str)
        return replace(
            act, body=act.body.replace("KEY", escaped if depth == 1 else escaped.replace("\\", "\\\\"))
        )

    with BadServer(script) as server:
        run = run_at(server, tmp_path / "w", "stage2.repair=failed")
        report = checked(shotad, run)
    assert any("[secret]" in line["text"] for line in report["lines"])


@pytest.mark.parametrize(("stage", "repair"), [("both", "all"), ("the second", "failed")])
def test_a_server_that_echoes_writes_no_line(shotad: Shotad, tmp_path: Path, stage: str, repair: str) -> None:
    def script(seen: Seen) -> Act:
        return well(seen) if is_stage1(seen) and stage != "both" else echo(seen)

    with BadServer(script) as server:
        run = run_at(server, tmp_path / "w", f"stage2.repair={repair}")
        said = shotad(*run.words, "--json")
    report = json.loads(said.out)
    assert states(report) == {"failed": len(SLOTS)}
    assert [line["text"] for line in report["lines"]] == [""] * len(SLOTS)
    if stage != "both":
        assert all(record["candidates"] == [] for record in run.records("stage2").values())


NO_LINES = {
    "half": answer('{"summarized_AD": '), "refused": answer(None, message={"refusal": "I cannot describe violence."}),
}  # fmt: skip


@pytest.mark.parametrize("bad", NO_LINES)
def test_answers_that_are_none_are_failed_lines_with_a_reason(
    shotad: Shotad, tmp_path: Path, bad: str
) -> None:
    with BadServer(lambda seen: well(seen) if is_stage1(seen) else NO_LINES[bad]) as server:
        report = checked(shotad, run_at(server, tmp_path / "w"))
    assert states(report) == {"failed": len(SLOTS)}
    if bad == "refused":
        assert all("refused" in line["reason"] and "violence" in line["reason"] for line in report["lines"])
    with BadServer(well) as server:
        cured = checked(shotad, run_at(server, tmp_path / "w"))
        # Stage I was well, and is not asked again.
        assert [seen for seen in server.requests if is_stage1(seen)] == []
    assert states(cured) == {"placed": len(SLOTS)}


@pytest.mark.parametrize("number", [1, 4], ids=["one slot", "every slot"])
def test_a_server_of_nonsense_fails_a_slot_or_stops_the_run(
    shotad: Shotad, tmp_path: Path, number: int
) -> None:
    """Nonsense about one slot is that slot's failure; nonsense always is a server that is not well."""
    with BadServer(ForClips(html(), number)) as server:
        run = run_at(server, tmp_path / "w")
        if number == 1:
            assert states(checked(shotad, run)) == {"failed": 1, "placed": 3}
        else:
            said = shotad(*run.words, "--json")
            assert said.code == 1
            assert "no chat completion" in said.err
            assert SECRET not in said.err
    with BadServer(well) as server:
        cured = checked(shotad, run_at(server, tmp_path / "w"))
        assert sum(is_stage1(seen) for seen in server.requests) == number
    assert states(cured) == {"placed": len(SLOTS)}


def test_what_stage_one_could_not_tell_is_a_failed_line_too(shotad: Shotad, tmp_path: Path) -> None:
    with BadServer(ForClips(answer("I'm sorry, I can't help with that."), 3)) as server:
        report = checked(shotad, run_at(server, tmp_path / "w"))
    assert states(report) == {"failed": 3, "placed": 1}
    assert all("Stage I" in line["reason"] for line in report["lines"] if line["status"] == "failed")
    with BadServer(well) as server:
        report = checked(shotad, run_at(server, tmp_path / "w"))
        assert sum(is_stage1(seen) for seen in server.requests) == 3
    assert states(report) == {"placed": len(SLOTS)}


def test_bad_answers_are_paid_for_and_counted(shotad: Shotad, tmp_path: Path) -> None:
    with BadServer(lambda seen: well(seen) if is_stage1(seen) else answer("{}")) as server:
        run = run_at(server, tmp_path / "w")
        used = checked(shotad, run)["used"]
        looks = sum(is_stage1(seen) for seen in server.requests)
        writes = len(server.requests) - looks
    assert used["stages"]["stage1"]["calls"] == looks
    assert used["stages"]["stage2"]["calls"] == writes > len(SLOTS)
    paid = (used["stages"]["stage2"]["tokens_in"], used["stages"]["stage2"]["tokens_out"])
    assert paid == tokens(run.records("stage2"))
    assert used["stages"]["stage2"]["tokens_in"] == 11 * writes


@pytest.mark.parametrize("act", [status(401, "Incorrect API key provided"), die()], ids=["refused", "gone"])
def test_what_makes_all_calls_useless_stops_the_run_for_now(shotad: Shotad, tmp_path: Path, act: Act) -> None:
    first = 6  # Stage I has seen all four slots, and the first line is written
    one = ("openai.in_flight=1",)
    with BadServer(lambda seen: well(seen) if seen.number < first - 1 else act) as server:
        run = run_at(server, tmp_path / "w", *one)
        said = shotad(*run.words, "--json")
    assert said.code not in (0, 130)
    assert said.err.startswith("Error: ") or "\nError: " in said.err
    assert "Traceback" not in said.err
    assert SECRET not in said.err
    kept = {stage: run.records(stage) for stage in ("stage1", "stage2")}
    assert (len(kept["stage1"]), len(kept["stage2"])) == (4, 1)
    with BadServer(well) as server:
        run = run_at(server, tmp_path / "w", *one)
        report = checked(shotad, run)
        assert len(server.requests) == 3
    assert states(report) == {"placed": len(SLOTS)}
    for stage, records in kept.items():
        assert {slot: run.records(stage)[slot] for slot in records} == good(records) == records
