"""Lines as they come: ``on_cue`` and ``iter_cues``."""

from __future__ import annotations

import gc
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import shotad
from shotad.core import Request
from shotad.core.cancellation import pause
from shotad.engines.fake import FakeEngine, plain_answer
from tests.test_python_interface import FAST

pytestmark = pytest.mark.usefixtures("here")


class Counting(FakeEngine):
    """The fake engine, which notes what it is asked in any run."""

    asked: ClassVar[list[str]] = []

    def __init__(self, config: shotad.Config) -> None:
        super().__init__(config, self.answer)

    def answer(self, request: Request) -> str:
        self.asked.append(f"{request.slot_id} {request.schema is None}")
        return plain_answer(request)


class InTurn(Counting):
    """One that is told the lines before each line."""

    def __init__(self, config: shotad.Config) -> None:
        super().__init__(config)
        self.abilities = replace(self.abilities, uses_history=True)


class Stuck(Counting):
    """One that writes one line, and does not come back from the second before it is stopped."""

    def answer(self, request: Request) -> str:
        if request.schema is not None and any("False" in question for question in self.asked):
            pause(3600)
        return super().answer(request)


COUNTED = {**FAST, "stage1.engine": f"{__name__}:Counting", "stage2.engine": f"{__name__}:Counting"}
STUCK = {**FAST, "stage1.engine": f"{__name__}:Counting", "stage2.engine": f"{__name__}:Stuck"}
OPTIONS: dict[str, Any] = {"settings": FAST, "worksheet": False}


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    Counting.asked.clear()


def test_each_line_comes_once_in_order_and_in_the_callers_thread() -> None:
    cues: list[shotad.Cue] = []
    threads: set[threading.Thread] = set()

    def on_cue(cue: shotad.Cue) -> None:
        cues.append(cue)
        threads.add(threading.current_thread())

    track = shotad.describe("movie.mp4", on_cue=on_cue, **OPTIONS)
    assert [cue.id for cue in cues] == [cue.id for cue in track.cues]
    assert [cue.text for cue in cues] == [cue.text for cue in track.cues]
    assert threads == {threading.current_thread()}


def test_a_line_comes_before_the_next_is_written() -> None:
    asked_at_first: list[int] = []

    def on_cue(_cue: shotad.Cue) -> None:
        asked_at_first.append(sum("False" in question for question in Counting.asked))

    settings = {**COUNTED, "stage2.engine": f"{__name__}:InTurn"}
    shotad.describe("movie.mp4", settings=settings, worksheet=False, on_cue=on_cue)
    assert asked_at_first == list(range(1, len(asked_at_first) + 1))


def test_what_the_callback_raises_is_raised_and_what_was_answered_is_kept() -> None:
    class FullError(Exception):
        pass

    def on_cue(_cue: shotad.Cue) -> None:
        raise FullError

    with pytest.raises(FullError):
        shotad.describe("movie.mp4", settings=COUNTED, worksheet=False, on_cue=on_cue)
    assert not Path("movie.shotad/track.json").exists()
    before = list(Counting.asked)
    assert before
    track = shotad.describe("movie.mp4", settings=COUNTED, worksheet=False)
    assert track.heard
    assert len(set(Counting.asked)) == len(Counting.asked), "nothing is asked twice"


def test_a_persons_edits_are_in_the_track_and_not_yet_in_the_lines() -> None:
    shotad.describe("movie.mp4", **OPTIONS)
    file = Path("movie.shotad/track.json")
    record = json.loads(file.read_text("utf-8"))
    record["cues"][0]["text"] = "A cat."
    file.write_text(json.dumps(record), encoding="utf-8")
    texts: list[str] = []
    track = shotad.describe("movie.mp4", on_cue=lambda cue: texts.append(cue.text), **OPTIONS)
    assert track.cues[0].text == "A cat."
    assert texts[0] != "A cat."
    assert len(texts) == len(track.cues)


def test_the_iterator_yields_what_the_callback_gets_and_has_the_track() -> None:
    texts: list[str] = []
    shotad.describe("movie.mp4", on_cue=lambda cue: texts.append(cue.text), **OPTIONS)
    with shotad.iter_cues("movie.mp4", out="other", **OPTIONS) as cues:
        assert [cue.text for cue in cues] == texts
        assert list(cues) == []
        assert [cue.text for cue in cues.result().cues] == texts
    assert cues.result().cues, "also after the block"


def test_the_track_may_be_waited_for_without_taking_the_lines() -> None:
    with shotad.iter_cues("movie.mp4", **OPTIONS) as cues:
        assert cues.result().heard
        assert next(cues).text


def test_leaving_the_loop_stops_the_run_and_the_next_continues() -> None:
    with shotad.iter_cues("movie.mp4", settings=STUCK, worksheet=False) as cues:
        for cue in cues:
            assert cue.text
            break
    assert not running()
    assert next(cues, None) is None
    with pytest.raises(shotad.Cancelled):
        cues.result()
    assert shotad.describe("movie.mp4", settings=COUNTED, worksheet=False).heard
    assert len(set(Counting.asked)) == len(Counting.asked)


def test_an_iterator_that_nobody_holds_stops_its_run() -> None:
    cues = shotad.iter_cues("movie.mp4", settings=STUCK, worksheet=False)
    next(cues)
    del cues
    gc.collect()
    assert not running()


def test_errors_come_from_the_iterator_and_from_its_result() -> None:
    with shotad.iter_cues("none.mp4") as cues:
        for _ in range(2):
            with pytest.raises(shotad.FilmError, match="none.mp4"):
                next(cues)
        with pytest.raises(shotad.FilmError, match="none.mp4"):
            cues.result()


def test_a_token_stops_the_iterator() -> None:
    token = shotad.CancelToken()
    with shotad.iter_cues("movie.mp4", settings=STUCK, worksheet=False, cancel=token) as cues:
        assert next(cues).text
        token.cancel()
        with pytest.raises(shotad.Cancelled):
            next(cues)


def test_it_may_be_closed_from_another_thread() -> None:
    with shotad.iter_cues("movie.mp4", settings=STUCK, worksheet=False) as cues:
        texts: list[str] = []
        reader = threading.Thread(target=lambda: texts.extend(cue.text for cue in cues))
        reader.start()
        while not texts and reader.is_alive():
            pause(0.05)
        cues.close()
        reader.join()
    assert len(texts) == 1


def running() -> list[threading.Thread]:
    """The threads that still describe."""
    return [thread for thread in threading.enumerate() if thread.name == "describing"]
