"""Runs that are interrupted while they wait for a server, while a model is at work, and while code is made."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import busy_engine
from tests.bad_server import Act, BadServer, Seen, answer, hang
from tests.shotad_process import Run, ended, good

pytestmark = pytest.mark.slow

SLOTS = 3
"""Of which the first is answered and the second under way when the run is interrupted."""
SETTINGS = (
    "stage1.engine=fake", "stage2.engine=openai", "stage2.attempts=1", "prompt.example_count=0",
    "openai.in_flight=1", "openai.retries=1", "openai.longest_pause=0.5",
)  # fmt: skip


@pytest.mark.parametrize("in_flight", [1, 2])
def test_a_run_that_waits_can_be_interrupted(tmp_path: Path, in_flight: int) -> None:
    """Also while a server says nothing at all, long before its time is up."""

    def act(seen: Seen) -> Act:
        return hang() if seen.number else answer(json.dumps({"summarized_AD": "She opens the door."}))

    patient = ("openai.model=tiny", "openai.timeout=3600", f"openai.in_flight={in_flight}")
    with BadServer(act) as bad:
        run = Run(tmp_path / "w", (*SETTINGS, f"openai.base_url={bad.url}", *patient), slots=SLOTS)
        process = run.start()
        waits = run.wait_for(process, lambda: bool(run.records("stage2")) and len(bad.requests) > in_flight)
        assert waits, ended(process).err
        process.send_signal(signal.SIGINT)
        try:
            said = ended(process, wait=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert said.code == 130
    assert "Traceback" not in said.err
    assert "run the same command again" in said.err
    assert len(good(run.records("stage2"))) == 1


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_run_ends_amid_work(kind: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is torn down under the thread that is in the model's native code: that would abort."""
    mark = tmp_path / "begun"
    monkeypatch.setenv(busy_engine.MARK, str(mark))
    run = Run(tmp_path / "w", ("stage1.engine=tests.busy_engine:Busy", "stage2.engine=fake"), slots=1)
    process = run.start()
    assert run.wait_for(process, mark.exists), ended(process).err
    process.send_signal(kind)
    said = ended(process)
    assert said.code == 130
    assert said.err.strip().endswith("run the same command again to continue.")


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_code_is_made_is_one_like_any(kind: signal.Signals) -> None:
    """Python remembers one that came while it ran a text as code (data classes are made so), and kills itself."""
    code = (
        "import os\n"
        "from shotad.cli import main as program\n"
        "from shotad.cli.main import main\n"
        f"text = 'os.kill(os.getpid(), {int(kind)})\\nwhile True: pass'\n"
        "program.cli.main = lambda **_: exec(text)\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
