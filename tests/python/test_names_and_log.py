"""What ``import shotad`` offers, and what it writes: nothing but to its logger."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

import shotad
from shotad.core import errors
from tests.cli.program import invoke
from tests.test_python_interface import FAST, described

ROOT = Path(__file__).resolve().parents[2]

NEVER_RAISED = {
    "ReviewError", "OutdatedLine",  # by the review page
    "MissingLines",  # by shotad import
    "StorageError", "DiskFull",  # by shotad batch
    "RefusalError", "OnlyThoughts",  # an answer that becomes a failed slot
}  # fmt: skip
"""Errors that no function of ``import shotad`` raises."""


def test_the_names_are_those_of_the_page() -> None:
    page = (ROOT / "docs/api.md").read_text("utf-8")
    documented = re.findall(r"^::: shotad\.(\w+)", page, re.MULTILINE)
    assert len(set(documented)) == len(documented)
    assert set(dir(shotad)) == set(documented)


def test_every_error_that_can_be_met_can_be_imported() -> None:
    classes = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, shotad.ShotadError | shotad.ShotadWarning)
    }
    assert classes > NEVER_RAISED
    offered = {name for name in dir(shotad) if name in classes}
    assert offered == classes - NEVER_RAISED


def test_the_errors_that_docstrings_name_can_be_imported() -> None:
    functions = (
        shotad.describe, shotad.iter_cues, shotad.render, shotad.open_film, shotad.detect_shots,
        shotad.find_threads, shotad.shot_scales, shotad.evaluate, shotad.load_track, shotad.load_config,
        shotad.Track.save,
    )  # fmt: skip
    for function in functions:
        raises = (function.__doc__ or "").partition("Raises:")[2]
        names = re.findall(r"^\s+(\w+): |``(\w+)``(?: for|: )", raises, re.MULTILINE)
        assert names, function
        for name in {first or second for first, second in names}:
            assert issubclass(getattr(shotad, name), shotad.ShotadError), (function, name)


def test_the_log_has_what_the_command_prints(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "shotad")
    (here / "some.csv").write_text("start,end\n2,6\n90,95\n", encoding="utf-8")
    with pytest.warns(shotad.ShotadWarning, match="1 of 2 slots failed"):
        described(slots="some.csv", worksheet=False)
    lines = {(record.levelname, record.name, record.getMessage()) for record in caplog.records}
    assert ("INFO", "shotad", "Work folder: movie.shotad") in lines
    assert ("DEBUG", "shotad", "Finding shots") in lines
    assert any(level == "WARNING" and "1 of 2 slots failed" in text for level, _, text in lines)
    caplog.clear()
    described(out="shown", worksheet=False, progress=True)
    assert not [record for record in caplog.records if record.name == "shotad"], "it is shown already"


def test_the_log_holds_no_key(
    here: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-0123456789abcdefghij"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    caplog.set_level(logging.DEBUG, "shotad")
    described(out=here / key, worksheet=False)
    assert "Work folder: " in caplog.text
    assert key not in caplog.text


@pytest.mark.usefixtures("here")
def test_a_command_writes_nothing_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "shotad")
    done = invoke("shots", "movie.mp4", "--set", "shots.detector=adaptive")
    assert done.exit_code == 0
    assert not [record for record in caplog.records if record.name.startswith("shotad")]


PROGRAM = f"""
import logging, sys, warnings
{{setup}}
import shotad
warnings.simplefilter("ignore")
shotad.describe("movie.mp4", settings={FAST!r}, worksheet=False, out=sys.argv[1])
logging.getLogger("shotad").warning("said by a logger of shotad")
"""


@pytest.mark.parametrize(
    ("setup", "shown"),
    [("", []), ("logging.basicConfig(level=logging.INFO)", ["INFO:shotad:Work folder: out", "WARNING:shotad:said"])],
)  # fmt: skip
@pytest.mark.usefixtures("here")
def test_a_program_that_sets_up_no_logging_sees_nothing(setup: str, shown: list[str]) -> None:
    program = [sys.executable, "-c", PROGRAM.replace("{setup}", setup), "out"]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    if not shown:
        assert done.stderr == ""
    for line in shown:
        assert line in done.stderr
