"""Calls that are cancelled from another thread: they stop wherever they are, and keep what is done."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

import shotad
from shotad.core import NoProgress, Task
from shotad.core.cancellation import (
    Stoppable,
    StopRequested,
    cancellable,
    in_context,
    pause,
    raise_if_cancelled,
    result_of,
    run_process,
)
from tests.bad_server import BadServer, hang
from tests.test_python_interface import FAST, described

pytestmark = pytest.mark.usefixtures("here")


class CancelsAt(NoProgress):
    """Cancels a token as soon as a task of this name is announced."""

    def __init__(self, token: shotad.CancelToken, name: str) -> None:
        self._token, self._name = token, name
        self.names: list[str] = []

    def task(self, name: str, total: float | None, unit: str) -> Task:
        self.names.append(name)
        if name.startswith(self._name):
            # From another thread, as a program with windows does it.
            canceller = threading.Thread(target=self._token.cancel)
            canceller.start()
            canceller.join()
        return super().task(name, total, unit)


Call = Callable[[shotad.CancelToken, shotad.Progress], object]
CALLS: dict[str, tuple[str, Call]] = {
    "describe": (
        "Finding shots",
        lambda token, shown: described(cancel=token, progress=shown),
    ),
    "lines": (
        "Looking at the film",
        lambda token, shown: described(cancel=token, progress=shown),
    ),
    "detect_shots": (
        "Finding shots",
        lambda token, shown: shotad.detect_shots("movie.mp4", settings=FAST, cancel=token, progress=shown),
    ),
    "find_threads": (
        "Reading film grammar",
        lambda token, shown: shotad.find_threads("movie.mp4", settings=FAST, cancel=token, progress=shown),
    ),
    "shot_scales": (
        "Finding shots",
        lambda token, shown: shotad.shot_scales("movie.mp4", settings=FAST, cancel=token, progress=shown),
    ),
    "render": (
        "Speaking",
        lambda token, shown: shotad.render(
            "movie.mp4", "lines.json", voice="fake", settings=FAST, cancel=token, progress=shown
        ),
    ),
    "evaluate": (
        "Scoring",
        lambda token, shown: shotad.evaluate(
            "predictions.jsonl", "human.csv", metrics="bleu-1", cancel=token, progress=shown
        ),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_long_function_stops_where_it_is_and_goes_on_at_the_next_call(name: str) -> None:
    step, call = CALLS[name]
    if name.startswith("render"):
        described(out="elsewhere", worksheet=False).save("lines.json")
    token = shotad.CancelToken()
    with pytest.raises(shotad.Cancelled) as caught:
        call(token, CancelsAt(token, step))
    assert token.is_cancelled
    assert "Call it again" in caught.value.hint
    assert isinstance(caught.value, shotad.ShotadError)
    assert call(shotad.CancelToken(), NoProgress()) is not None


def test_a_token_that_was_cancelled_before_stops_a_call_at_once() -> None:
    token = shotad.CancelToken()
    token.cancel()
    token.cancel()
    for name, (_, call) in CALLS.items():
        with pytest.raises(shotad.Cancelled):
            call(token, NoProgress())
        assert not Path("movie.shotad").exists(), name


def test_it_stops_while_a_server_is_awaited() -> None:
    token = shotad.CancelToken()
    with BadServer(lambda _: hang_after(token)) as server:
        settings = {
            **FAST,
            "engine": "openai",
            "openai": {"base_url": server.url, "model": "tiny", "timeout": 3600},
        }
        with pytest.raises(shotad.Cancelled):
            shotad.describe("movie.mp4", settings=settings, cancel=token)
    names = [thread.name for thread in threading.enumerate()]
    assert "asking" not in names, "the call has been given up"
    assert described().heard, "the folder is free"


def test_it_stops_while_a_voice_is_awaited() -> None:
    described(worksheet=False)
    token = shotad.CancelToken()
    with BadServer(lambda _: hang_after(token)) as server:
        settings = {"voice.base_url": server.url}
        with pytest.raises(shotad.Cancelled):
            shotad.render("movie.mp4", voice="openai:alloy", settings=settings, cancel=token)
    assert shotad.render("movie.mp4", make="ad", voice="fake").made


def hang_after(token: shotad.CancelToken) -> Any:
    token.cancel()
    return hang()


def test_a_callback_may_cancel_its_own_run_and_call_other_functions() -> None:
    token = shotad.CancelToken()

    def on_cue(_cue: shotad.Cue) -> None:
        assert shotad.detect_shots("movie.mp4", settings=FAST)
        token.cancel()
        shotad.detect_shots("movie.mp4", settings=FAST)
        pytest.fail("a call inside one that was cancelled goes on")

    with pytest.raises(shotad.Cancelled):
        described(cancel=token, on_cue=on_cue)


def test_a_call_inside_another_is_cancelled_alone() -> None:
    outer, inner = shotad.CancelToken(), shotad.CancelToken()
    inner.cancel()

    def on_cue(_cue: shotad.Cue) -> None:
        with pytest.raises(shotad.Cancelled):
            shotad.detect_shots("movie.mp4", settings=FAST, cancel=inner)

    assert described(cancel=outer, on_cue=on_cue).heard


def test_waits_end_when_the_token_is_cancelled() -> None:
    waits: dict[str, Callable[[], object]] = {
        "pause": lambda: pause(3600),
        "future": lambda: result_of(Future[None]()),
        "future, patiently": lambda: result_of(Future[None](), patience=0.2),
        "program": lambda: run_process([sys.executable, "-c", "import time; time.sleep(3600)"]),
    }
    for name, wait in waits.items():
        token = shotad.CancelToken()
        threading.Timer(0.2, token.cancel).start()
        with pytest.raises(shotad.Cancelled), cancellable(token):
            assert wait() is name, "it must not come back"


def test_a_reply_that_comes_soon_after_is_taken() -> None:
    token, reply = shotad.CancelToken(), Future[str]()
    with cancellable(token):
        token.cancel()
        threading.Timer(0.2, reply.set_result, ["A cat."]).start()
        assert result_of(reply, patience=60) == "A cat."


def test_without_a_token_waits_end_as_ever() -> None:
    pause(0.01)
    done = Future[int]()
    done.set_result(7)
    assert result_of(done) == 7
    with pytest.raises(TimeoutError):
        result_of(Future[int](), timeout=0.1)
    copy = "import sys; sys.stdout.write(sys.stdin.read().upper()); sys.exit(3)"
    run = run_process([sys.executable, "-c", copy], data=b"a" * 300_000, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (3, "A" * 300_000, "")
    with pytest.raises(subprocess.TimeoutExpired):
        run_process([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.3)


def test_threads_of_the_work_stop_too() -> None:
    token = shotad.CancelToken()
    outcomes: list[str] = []

    def work() -> None:
        try:
            raise_if_cancelled()
        except StopRequested:
            outcomes.append("stopped")
        else:
            outcomes.append("went on")

    def begin_threads() -> None:
        task = Stoppable(NoProgress()).task("Counting", 2, "steps")
        token.cancel()
        for target in (work, in_context(work)):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        task.advance()

    with pytest.raises(shotad.Cancelled), cancellable(token):
        begin_threads()
    assert outcomes == ["went on", "stopped"]
