"""A worker for each card: its clips on its card, one file as without them, and what a killed one leaves is done."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shotad.core import load_config
from shotad.core.errors import UsageError
from shotad.evaluation import chosen_gpus
from tests.cli.program import Said, Shotad
from tests.evaluation.predicting.gpu_engine import NAME, VARIABLE
from tests.evaluation.predicting.minidataset import INSIDE, make_cmd
from tests.gpus import show_gpus
from tests.shotad_process import PLAIN
from tests.tiny import make_backbone


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what the engine does; there are the cards 4 and 7."""
    folder = tmp_path / "calls"
    folder.mkdir()
    monkeypatch.setenv(VARIABLE, str(folder))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4, 7")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_cmd(tmp_path / "root")


def command(root: Path, out: Path) -> list[str]:
    settings = (f"stage1.engine={NAME}", f"stage2.engine={NAME}", "threads.features=grid", *PLAIN)
    sets = [word for setting in settings for word in ("--set", setting)]
    return ["predict", "cmd-ad", "--root", str(root), "--out", str(out), *sets]


@pytest.fixture
def predict(shotad: Shotad, root: Path) -> Callable[..., Said]:
    """``shotad predict`` over the dataset into a file, by the engine that writes down its calls."""
    return lambda out, *words: shotad(*command(root, out), *words)


def cards(calls: Path) -> dict[str, set[str]]:
    """The processes of each card that asked."""
    processes: dict[str, set[str]] = {}
    for line in (calls / "calls").read_text().splitlines():
        card, process, _ = line.split()
        processes.setdefault(card, set()).add(process)
    return processes


def test_each_card_has_a_worker_and_there_is_one_file(
    predict: Callable[..., Said], calls: Path, tmp_path: Path
) -> None:
    alone, shared = tmp_path / "alone.jsonl", tmp_path / "shared.jsonl"
    assert predict(alone).code == 0
    (calls / "calls").unlink()
    done = predict(shared, "--gpus", "all")
    assert done.code == 0, done.err
    assert shared.read_bytes() == alone.read_bytes()
    processes = cards(calls)
    assert set(processes) == {"4", "7"}
    assert all(len(of_card) == 1 for of_card in processes.values())
    assert str(os.getpid()) not in {name for names in processes.values() for name in names}
    assert {path.name for path in tmp_path.glob("shared.shotad/*.log")} == {"gpu-4.log", "gpu-7.log"}
    (calls / "calls").unlink()
    again = predict(shared, "--gpus", "2", "--json")
    assert not (calls / "calls").exists(), "lines of the run before are taken"
    assert json.loads(again.out)["kept"] == INSIDE
    assert shared.read_bytes() == alone.read_bytes()


def test_what_a_killed_worker_leaves_is_done_by_the_other(
    predict: Callable[..., Said], calls: Path, tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    predict(whole)
    (calls / "calls").unlink()
    (calls / "kill-4").touch()
    done = predict(out, "--gpus", "all")
    assert done.code == 0, done.err
    assert re.search(
        r"GPU 4: its worker was (killed \(SIGKILL\)|ended by force); the others do its", done.err
    )
    assert out.read_bytes() == whole.read_bytes()
    asked = (calls / "calls").read_text().splitlines()
    assert len(asked) == 2 * INSIDE, "what was answered before is not asked again"


def test_where_all_workers_are_killed_the_same_command_goes_on(
    predict: Callable[..., Said], calls: Path, tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    predict(whole)
    (calls / "kill-4").touch()
    (calls / "kill-7").touch()
    # The second dies at the latest when it does what the first left.
    done = predict(out, "--gpus", "all")
    assert done.code == 1
    assert "there is no other" in done.err
    assert "gpu-" in done.err
    assert predict(out, "--gpus", "all").code == 0
    assert out.read_bytes() == whole.read_bytes()


def test_an_engine_that_is_gone_ends_the_run(
    predict: Callable[..., Said], calls: Path, tmp_path: Path
) -> None:
    (calls / "fail").touch()
    done = predict(tmp_path / "out.jsonl", "--gpus", "all")
    assert done.code == 1
    assert "The engine is gone." in done.err
    assert "GPU " in done.err


def test_a_card_that_is_not_there_is_no_reason_to_work_on_the_processor(
    predict: Callable[..., Said], calls: Path, tmp_path: Path
) -> None:
    if pytest.importorskip("torch").cuda.is_available():
        pytest.skip("there is a card")
    model = make_backbone(tmp_path / "tiny", hidden=48, blocks=1, heads=3)
    done = predict(tmp_path / "out.jsonl", "--gpus", "all", "--set", f"threads.features={model}")
    assert done.code == 1
    assert "'cuda' cannot be used" in done.err
    assert not (calls / "calls").exists()


def wait_for(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def is_alive(process: str) -> bool:
    # One that has ended and whose parent is gone may still have an entry, without a command.
    try:
        return bool(Path("/proc", process, "cmdline").read_bytes())
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_worker_and_goes_on(
    number: int, predict: Callable[..., Said], root: Path, calls: Path, tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "stopped.jsonl"
    predict(whole)
    (calls / "calls").unlink()
    (calls / "hold").touch()
    words = [sys.executable, "-m", "shotad", *command(root, out), "--gpus", "all"]
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: (calls / "calls").exists() and len(cards(calls)) == 2)
    run.send_signal(number)
    # Calls under way have some seconds to end.
    run.communicate(timeout=120)
    assert run.returncode != 0
    processes = [process for of_card in cards(calls).values() for process in of_card]
    wait_for(lambda: not any(is_alive(process) for process in processes))
    (calls / "hold").unlink()
    assert predict(out, "--gpus", "all").code == 0
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("visible", "wanted", "cards"),
    [
        ("0,1,2", "all", ("0", "1", "2")),
        ("3,1", "1", ("3",)),
        ("GPU-8f3a,GPU-11", "2", ("GPU-8f3a", "GPU-11")),
        ("0,-1,2", "all", ("0",)),
    ],
)
def test_the_cards_are_those_that_cuda_may_use(
    visible: str, wanted: str, cards: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert chosen_gpus(wanted, load_config(None, [])) == cards


def test_without_the_variable_they_are_all_that_torch_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    show_gpus(monkeypatch, 8)
    assert chosen_gpus("all", load_config(None, [])) == tuple("01234567")
    assert chosen_gpus("2", load_config(None, [])) == ("0", "1")
    for wanted in ("9", "0", "-1", "two", "1.5", ""):
        with pytest.raises(UsageError, match="--gpus"):
            chosen_gpus(wanted, load_config(None, []))
    show_gpus(monkeypatch, 0)
    with pytest.raises(UsageError, match="0 cards"):
        chosen_gpus("all", load_config(None, []))


def test_a_card_that_is_named_by_a_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    with pytest.raises(UsageError, match="cuda:1"):
        chosen_gpus("all", load_config(None, ["compute.device=cuda:1"]))
