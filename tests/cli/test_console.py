"""What the user reads: modes, plain progress, times."""

from __future__ import annotations

import pytest

from shotad.cli.options import asked_time
from shotad.core import duration, progress as room


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_task_of_unknown_length_says_something_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    time = Clock()
    lines = room._Lines("Fetching weights", None, "B", time)
    for _ in range(25):
        time.now += 1
        lines.advance(1e6)
    said = capsys.readouterr().err.splitlines()
    assert said == ["Fetching weights.", "Fetching weights: 10.0 MB.", "Fetching weights: 20.0 MB."]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("83.5", 83.5), ("1:23.5", 83.5), ("0:01:23,5", 83.5), ("1:00:00", 3600), (" 7 ", 7)],
)
def test_times_are_read(text: str, seconds: float) -> None:
    assert asked_time(text) == seconds


def test_times_are_written() -> None:
    assert [duration(s) for s in (0, 59.6, 74, 3720)] == ["0 s", "1 min 0 s", "1 min 14 s", "1 h 2 min"]
