"""Memory that runs out: told as such, whatever a library says, with the step and what helps."""

from __future__ import annotations

import errno
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

import shotad
from shotad.batch import describe_film
from shotad.batch.jobs import FilmJob
from shotad.core import (
    Config,
    Reply,
    Request,
    load_config,
    memory_errors,
)
from shotad.core.errors import OutOfMemory, WeightsError
from shotad.core.memory_errors import is_out_of_memory, memory_error_of
from shotad.engines import AskingPool
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from tests.cli.program import FAKE
from tests.media import FilmSpec, make_film
from tests.test_python_interface import FAST


class Full(FakeEngine):
    """An engine for which there is no memory."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, plain_answer)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        raise np._core._exceptions._ArrayMemoryError((9, 9), np.dtype(float))


FULL = "tests.test_memory_errors:Full"


class BoomError(Exception):
    """An error of a library that nobody knows."""


def load_model() -> None:
    try:
        raise MemoryError("Unable to allocate 9 GiB")
    except MemoryError:
        raise WeightsError("The model cannot be loaded.", "Fetch it again.") from None


def library_error(module: str, text: str) -> Exception:
    kind = type("SomeError", (Exception,), {"__module__": module})
    found: Exception = kind(text)
    return found


MEMORY = [
    MemoryError(),
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    av.error.MemoryError(errno.ENOMEM, "Cannot allocate memory", "film.mp4"),
    av.error.BlockingIOError(errno.EAGAIN, 'Resource temporarily unavailable: avcodec_open2("h264", {})'),
    cv2.error(
        "OpenCV(5.0.0) alloc.cpp:73: error: (-4:Insufficient memory) Failed to allocate 25690112 bytes"
    ),
    RuntimeError("std::bad_alloc"),
    RuntimeError("can't start new thread"),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: you tried"),
    RuntimeError("DataLoader worker (pid 3) is killed by signal: Killed."),
    ImportError("libdav1d.so.7: failed to map segment from shared object"),
    library_error(
        "onnxruntime.capi.onnxruntime_pybind11_state", "Failed to allocate memory for requested buffer"
    ),
    library_error("onnxruntime.capi.onnxruntime_pybind11_state", "6 : RUNTIME_EXCEPTION : std::bad_alloc"),
]
OTHER = [
    ValueError("out of memory"),
    BoomError("out of memory"),
    RuntimeError("shapes do not fit"),
    OSError(errno.ENOSPC, "No space left on device"),
    ImportError("No module named 'torch'"),
    cv2.error("error: (-215:Assertion failed) !_src.empty()"),
    av.error.InvalidDataError(1, "Invalid data found"),
    WeightsError("The model a.onnx cannot be loaded: it is damaged.", "Fetch it again."),
]


@pytest.mark.parametrize("error", MEMORY, ids=repr)
def test_what_libraries_say_is_understood(error: Exception) -> None:
    assert is_out_of_memory(error)
    told = memory_error_of(error)
    assert told is not None
    assert told.what.startswith("Memory ran out")
    assert "close other programs" in told.hint
    assert isinstance(told, MemoryError)


@pytest.mark.parametrize("error", OTHER, ids=repr)
def test_other_errors_stay_what_they_are(error: Exception) -> None:
    assert not is_out_of_memory(error)
    assert memory_error_of(error) is None


def test_an_error_that_hides_it_is_seen_through() -> None:
    with pytest.raises(WeightsError) as caught:
        load_model()
    told = memory_error_of(caught.value)
    assert told is not None
    assert "9 GiB" in told.what
    assert "Fetch" not in str(told)


def test_an_engine_that_finds_no_memory_ends_the_run() -> None:
    engine = Full(load_config(None, FAST))
    with pytest.raises(MemoryError), AskingPool({"stage1": engine}) as pool:
        pool.ask("stage1", Request("s00001000", ()))


@pytest.fixture(scope="module")
def film() -> Path:
    return make_film(FilmSpec(frames=300, cuts=(100, 200))).path


def test_it_is_told_in_python_with_the_step(film: Path, tmp_path: Path) -> None:
    settings = {**FAST, "stage1.engine": FULL}
    with pytest.raises(
        shotad.ShotadError, match="Memory ran out while a model was at work .Unable to allocate"
    ) as caught:
        shotad.describe(film, settings=settings, out=tmp_path / "x", worksheet=False)
    assert isinstance(caught.value, OutOfMemory)
    assert "what is done is kept" in caught.value.hint
    assert (tmp_path / "x" / "shots.json").is_file()


def test_it_is_told_in_a_batch(film: Path, tmp_path: Path) -> None:
    config = load_config(None, {**FAST, "stage1.engine": FULL})
    result = describe_film(FilmJob(str(film), str(tmp_path / "x"), config=config, sheet=False))
    assert (result.state, result.kind) == ("failed", "memory")
    assert result.error is not None
    assert result.error[0].startswith("Memory ran out while a model was at work")
    assert "--jobs 1" in result.error[1]


def test_the_command_says_no_bug(film: Path, tmp_path: Path) -> None:
    words = ["describe", film, *FAKE, "--set", f"stage1.engine={FULL}", "--no-sheet", "--out", tmp_path / "x"]
    done = subprocess.run(
        [sys.executable, "-m", "shotad", *map(str, words)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Error: Memory ran out while" in done.stderr
    assert "has a bug" not in done.stderr


def test_frames_for_which_there_is_no_memory_are_no_damage(
    film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would be left out in silence, with what follows."""
    from shotad.film import decoder

    def no_room(*_: Any) -> Iterator[Any]:
        raise av.error.MemoryError(errno.ENOMEM, "Cannot allocate memory")
        yield

    with open_film(film) as opened:
        monkeypatch.setattr(decoder, "packets_of", no_room)
        with pytest.raises(MemoryError):
            list(opened.frames())


def test_every_step_that_an_error_names_is_a_module() -> None:
    for module in memory_errors._STEPS:
        assert importlib.util.find_spec(module) is not None, module
