"""Both stages at once: what overlaps, told by the order of events, and that it changes no byte of what is written."""

from __future__ import annotations

import functools
import json
import multiprocessing
import os
import signal
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from shotad.core import (
    Engine,
    Identity,
    NoProgress,
    Progress,
    Request,
    RunInputs,
    Task,
)
from shotad.core.errors import EngineError, WorkFolderError
from shotad.description import DescribeResult
from tests.disk import largest_file
from tests.media import FilmSpec, make_film
from tests.runs import Talker, rows, run as talked, slots, tree

ROOT = Path(__file__).parent.parent / "shotad"
SPEC = FilmSpec(frames=200, rate=Fraction(5), cuts=tuple(range(12, 200, 12)))
"""Forty seconds in shots of 2.4 s: five slots."""
SPOKEN = tuple(range(7, 40, 8))
"""Seconds at which somebody speaks for one."""
SETTINGS = ("threads.features=grid", "frames.inside=2", "frames.outside=2", "slots.detail=rich")
WAIT = 60
"""Seconds after which what was to happen has not."""


class Scripted(Talker):
    """Tells all who listen when it was asked about what, and may wait for something before it answers."""

    def __init__(self, name: str, told: list[tuple[str, str]], **abilities: Any) -> None:
        super().__init__(name, **abilities)
        self.identity = Identity(name, name, "1")
        self.before: Callable[[Request], None] = lambda _: None
        self._told = told

    def answer(self, request: Request) -> str:
        self._told.append((self.identity.model, request.slot_id))
        self.before(request)
        return super().answer(request)

    def first_line(self, request: Request) -> int:
        """Of the length of what is told before it, so that a line depends on those."""
        return sum(map(len, request.history)) + sum(len(message.text) for message in request.messages)


def subtitles(folder: Path, words: str) -> Path:
    path = folder.parent / "spoken.vtt"
    cues = (f"00:00:{s:02d}.000 --> 00:00:{s + 1:02d}.000\n{words}\n" for s in SPOKEN)
    path.write_text("\n".join(["WEBVTT\n", *cues]))
    return path


def run(
    out: Path,
    looks: Engine,
    writes: Engine,
    *settings: str,
    film: Path | None = None,
    words: str = "Well, well.",
    progress: Progress | None = None,
) -> DescribeResult:
    given, film = RunInputs(subtitles=subtitles(out, words)), film or make_film(SPEC).path
    engines = {"looks": looks, "writes": writes}
    return talked(out, *SETTINGS, *settings, **engines, given=given, film=film, progress=progress)[0]


@functools.cache
def whole() -> dict[str, bytes]:
    """What a run writes that nothing disturbs, by models of this machine, which take turns: one stage after the other."""
    with tempfile.TemporaryDirectory() as folder:
        told, *both = engines()
        run(Path(folder) / "w", *both)
        names = [name for name, _ in told]
        assert names == sorted(names)
        return tree(Path(folder) / "w")


Told = list[tuple[str, str]]


def engines(looks: Any = (), writes: Any = ()) -> tuple[Told, Scripted, Scripted]:
    """What both are asked, and both."""
    told: Told = []
    return told, Scripted("eyes", told, **dict(looks)), Scripted("pen", told, **dict(writes))


FAR = {"sends_to": "somewhere"}


def ours() -> list[str]:
    """Threads of the pool that are still there."""
    names = ("one item", "asking")
    return [thread.name for thread in threading.enumerate() if thread.name in names]


def goes_on(out: Path, looks: Any = ()) -> int:
    """The next run asks for all that is not kept and for nothing else, and ends as if nothing had been. How much was kept."""
    answers = [row for row in rows(out, "answers") if row["error"] is None]
    kept = {name: sum(row["stage"] == name for row in answers) for name in ("stage1", "stage2")}
    told, eyes, pen = engines(looks)
    run(out, eyes, pen)
    asked, number = [name for name, _ in told], len(slots(out))
    assert asked.count("eyes") == number - kept["stage1"]
    assert asked.count("pen") == number - kept["stage2"]
    assert tree(out) == whole()
    return sum(kept.values())


@pytest.mark.parametrize(
    ("looks", "writes", "settings"),
    [
        ({"in_flight": 3}, {"in_flight": 2}, ("stage2.candidates=3", "stage2.select=engine")),
        ({"batch": 3, "sends_to": "somewhere"}, {"batch": 4}, ()),
        ({"in_flight": 3}, {"uses_history": True}, ()),
        ({"sends_to": "somewhere"}, {"in_flight": 2}, ("story.on=true",)),
        ({"in_flight": 2}, {"in_flight": 3}, ("verify.on=true",)),
    ],
    ids=["in flight", "batches", "history", "story", "verified"],
)
def test_what_is_done_at_once_changes_no_byte(
    tmp_path: Path, looks: dict[str, Any], writes: dict[str, Any], settings: tuple[str, ...]
) -> None:  # fmt: skip
    # So much is said that the story is asked about in the middle of the film.
    words = "Well, well. " * 60
    plain, *one_by_one = engines(writes={"uses_history": writes.get("uses_history", False)})
    run(tmp_path / "plain", *one_by_one, *settings, words=words)
    told, *together = engines(looks, writes)
    run(tmp_path / "w", *together, *settings, words=words)
    assert bool(rows(tmp_path / "w", "story")) == ("story.on=true" in settings)
    assert tree(tmp_path / "w") == tree(tmp_path / "plain")
    assert sorted(told) == sorted(plain)
    assert ours() == []


def test_stage_two_begins_before_stage_one_is_done(tmp_path: Path) -> None:
    _, looks, writes = engines(FAR)
    written = threading.Event()

    def until_written(request: Request) -> None:
        if len(looks.slots) == 3:
            assert written.wait(WAIT), "Stage II waited for Stage I's last answer"

    looks.before = until_written
    writes.before = lambda _: written.set()
    run(tmp_path / "w", looks, writes)
    assert all(record["error"] is None for record in rows(tmp_path / "w", "stage1"))
    assert looks.slots == writes.slots == slots(tmp_path / "w")


class AfterClips(NoProgress):
    """A front end that calls ``then`` when the grammar of so many clips was read."""

    def __init__(self, clips: int, then: Callable[[], None]) -> None:
        self._left, self._then = clips, then
        self._reads_grammar = False

    def task(self, name: str, total: float | None, unit: str) -> Task:
        task = AfterClips(self._left, self._then)
        task._reads_grammar = name == "Reading film grammar"
        return task

    def advance(self, amount: float = 1) -> None:
        if self._reads_grammar:
            self._left -= 1
            if self._left == 0:
                self._then()


def test_grammar_is_measured_while_stage_one_answers(tmp_path: Path) -> None:
    _, looks, writes = engines(FAR)
    asked, clips = threading.Event(), []
    looks.before = lambda _: asked.set()

    def wait() -> None:
        clips.append(3)
        assert asked.wait(WAIT), "Stage I waited for the film grammar of all clips"

    run(tmp_path / "w", looks, writes, progress=AfterClips(3, wait))
    assert clips
    assert len(slots(tmp_path / "w")) > 4


@pytest.mark.parametrize(
    ("which", "error"),
    [
        ("eyes", EngineError("The quota is spent.")),
        ("pen", KeyboardInterrupt()),
        ("pen", MemoryError()),
        ("grammar", MemoryError()),
    ],
)
def test_whatever_stops_a_run_costs_no_answer_and_leaves_no_thread(
    tmp_path: Path, which: str, error: BaseException
) -> None:
    _, looks, writes = engines(FAR)
    dying = {"eyes": looks, "pen": writes}.get(which)
    progress = None

    def die(*_: Any) -> None:
        if dying is None or len(dying.slots) == 3:
            raise error

    if dying is not None:
        dying.before = die
    else:
        progress = AfterClips(1, die)
    with pytest.raises(type(error)):
        run(tmp_path / "w", looks, writes, progress=progress)
    assert ours() == []
    goes_on(tmp_path / "w")


def test_a_disk_that_takes_no_more_stops_all_and_loses_nothing(tmp_path: Path) -> None:
    _, looks, writes = engines({"in_flight": 2})
    answers = tmp_path / "w" / "answers.jsonl"
    with ExitStack() as limits:

        def fill(_: Request) -> None:
            if len(looks.slots) == 4:
                limits.enter_context(largest_file(answers.stat().st_size + 10))

        looks.before = fill
        with pytest.raises(WorkFolderError, match="File too large"):
            run(tmp_path / "w", looks, writes)
    assert ours() == []
    assert 2 <= goes_on(tmp_path / "w") < 2 * 5, "some of both stages' answers are kept"


def killed(film: Path, out: Path) -> None:
    """A run that kills its own process when its pen is asked for the third time."""
    _, looks, writes = engines(FAR)

    def die(_: Request) -> None:
        if len(writes.slots) == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    writes.before = die
    run(out, looks, writes, film=film)


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    given = (make_film(SPEC).path, tmp_path / "w")
    process = multiprocessing.get_context("spawn").Process(target=killed, args=given)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert sum(row["stage"] == "stage2" for row in rows(tmp_path / "w", "answers")) == 2
    goes_on(tmp_path / "w", FAR)


def test_a_film_that_is_damaged_in_the_middle_is_described_the_same_whatever_overlaps(tmp_path: Path) -> None:
    data = bytearray(make_film(SPEC).path.read_bytes())
    half, twentieth = len(data) // 2, len(data) // 20
    data[half : half + twentieth] = bytes(twentieth)
    film = tmp_path / "damaged.mp4"
    film.write_bytes(data)
    for name, looks in (("in turn", ()), ("at once", FAR)):
        run(tmp_path / name, *engines(looks)[1:], film=film)
    assert tree(tmp_path / "at once") == tree(tmp_path / "in turn")
    assert json.loads((tmp_path / "in turn" / "shots.json").read_text())["damage"]


def test_an_interruption_waits_for_no_answer_for_long(tmp_path: Path) -> None:
    (_, looks, writes), enough = engines({"in_flight": 2}), threading.Event()

    def hang(_: Request) -> None:
        if len(looks.slots) == 1:
            assert enough.wait(WAIT)
        raise KeyboardInterrupt

    looks.before = hang
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "w", looks, writes)
    left = [thread for thread in threading.enumerate() if thread.name == "asking"]
    assert left, "the answer has come, so nothing was given up"
    enough.set()
    for thread in left:
        thread.join(WAIT)
    assert ours() == []
    assert rows(tmp_path / "w", "stage1") == [], "who has left the folder writes nothing more"
    goes_on(tmp_path / "w")


def test_an_engines_error_leads_back_to_the_slot_and_the_command(tmp_path: Path) -> None:
    (_, looks, writes) = engines()

    def fail(_: Request) -> None:
        raise EngineError("The quota is spent.")

    looks.before = fail
    with pytest.raises(EngineError) as raised:
        run(tmp_path / "w", looks, writes)
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    way = ["describe", "write_slots", "describe_clip", "ask", "generate"]
    places = [names.index(name) for name in way]
    assert places == sorted(places), names
