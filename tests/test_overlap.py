"""Both stages at once: what overlaps, told by the order of events, and that it changes no byte of what is written."""

from __future__ import annotations

import functools
import importlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest

import shotad
from shotad.cli.main import main
from shotad.core import (
    Abilities,
    Engine,
    EngineError,
    Given,
    Identity,
    Recording,
    Reply,
    Request,
    Usage,
    WorkFolder,
    load_config,
    profiled,
)
from shotad.description import Engines, Outcome, describe
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from tests.media import FilmSpec, make_film

ROOT = Path(shotad.__file__).parent
SPEC = FilmSpec(frames=600, rate=Fraction(10), cuts=tuple(range(24, 600, 24)))
"""A minute in shots of 2.4 s."""
SPOKEN = tuple(range(7, 60, 8))
"""Seconds at which somebody speaks for one."""
SETTINGS = (
    "engine=fake", "slots.find_credits=false", "scale.method=none", "threads.features=grid",
    "frames.min_pixels=12544", "frames.max_pixels=25088", "frames.inside=2", "frames.outside=2",
    "slots.detail=rich",
)  # fmt: skip
WAIT = 60
"""Seconds after which what was to happen has not."""


class Scripted:
    """An engine that tells when it was asked about what, and may wait for something before it answers."""

    def __init__(self, name: str, told: list[tuple[str, str]], **abilities: Any) -> None:
        self.identity = Identity(name, name, "1")
        self.abilities = Abilities(accepts_images=True, **abilities)
        self.before: Callable[[Request], None] = lambda _: None
        self.sizes: list[int] = []
        self._told = told

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        self.sizes.append(len(requests))
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        self._told.append((self.identity.engine, request.slot_id))
        self.before(request)
        return Reply(self._text(request), usage=Usage(100, 10))

    def _text(self, request: Request) -> str:
        keys = list((request.schema or {}).get("properties", {}))
        if not keys:
            return plain_answer(request) if request.clip is not None else "Somebody searches a house."
        if keys == ["choice"]:
            return json.dumps({"choice": 1})
        if not keys[0].startswith("summarized"):
            return json.dumps(dict.fromkeys(keys, "yes"))
        # So that a line depends on those before it where it is told of them.
        told = sum(map(len, request.history)) + sum(len(message.text) for message in request.messages)
        return json.dumps({key: _LINES[(told + n) % len(_LINES)] for n, key in enumerate(keys)})

    def asked(self) -> list[str]:
        return [slot for name, slot in self._told if name == self.identity.engine]


_LINES = ("She lifts a lantern.", "He climbs the ladder.", "A cat jumps off the wall.", "They row across a lake.",
          "A clock falls from its hook.", "She folds the letter.", "He kicks the door shut.")  # fmt: skip


def subtitles(folder: Path) -> Path:
    path = folder.parent / "spoken.vtt"
    cues = (f"00:00:{s:02d}.000 --> 00:00:{s + 1:02d}.000\nWell, well.\n" for s in SPOKEN)
    path.write_text("\n".join(["WEBVTT\n", *cues]))
    return path


def run(out: Path, looks: Engine, writes: Engine, *settings: str, film: Path | None = None) -> Outcome:
    config = load_config(None, (*SETTINGS, *settings))
    given = Given(subtitles=subtitles(out))
    with open_film(film or make_film(SPEC).path) as film_, WorkFolder(out) as folder:
        return describe(film_, folder, config, given, engines=Engines(looks, writes), sheet=False)


def tree(folder: Path) -> dict[str, bytes]:
    """All files but the log, which holds clock times, and the lock."""
    left_out = ("log.txt", ".lock")
    return {
        p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file() and p.name not in left_out
    }


def slots(folder: Path) -> list[str]:
    return [row["id"] for row in json.loads((folder / "slots.json").read_text())["slots"]]


@functools.cache
def whole() -> dict[str, bytes]:
    """What a run writes that nothing disturbs, by models that take turns: one stage after the other."""
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder) / "w", Scripted("eyes", []), Scripted("pen", []))
        return tree(Path(folder) / "w")


def records(folder: Path, name: str) -> list[dict[str, Any]]:
    path = folder / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def ours() -> list[str]:
    """Threads of the scheduler that are still there."""
    names = ("reading ahead", "asking")
    return [thread.name for thread in threading.enumerate() if thread.name in names]


@pytest.mark.parametrize(
    ("looks", "writes", "settings"),
    [
        ({"in_flight": 3}, {"in_flight": 2}, ("stage2.candidates=3", "stage2.select=engine")),
        ({"batch": 3, "sends_to": "somewhere"}, {"batch": 4}, ()),
        ({"in_flight": 3}, {"uses_history": True}, ()),
        ({"sends_to": "somewhere"}, {"in_flight": 2}, ("story.on=true",)),
        ({"in_flight": 2}, {"in_flight": 3}, ("verify.on=true",)),
        ({"batch": 2}, {"batch": 2}, ("verify.on=true",)),
    ],
    ids=["in flight", "batches", "history", "story", "verified in flight", "verified in turn"],
)
def test_what_is_done_at_once_changes_no_byte(
    tmp_path: Path,
    looks: dict[str, Any],
    writes: dict[str, Any],
    settings: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shotad.description.story.RENEW_EVERY", 3)
    plain: list[tuple[str, str]] = []
    one_by_one = {"uses_history": writes.get("uses_history", False)}
    run(tmp_path / "plain", Scripted("eyes", plain), Scripted("pen", plain, **one_by_one), *settings)
    told: list[tuple[str, str]] = []
    run(tmp_path / "w", Scripted("eyes", told, **looks), Scripted("pen", told, **writes), *settings)
    assert tree(tmp_path / "w") == tree(tmp_path / "plain")
    assert sorted(told) == sorted(plain)
    assert ours() == []


def test_stage_two_begins_before_stage_one_is_done(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    written = threading.Event()
    looks, writes = Scripted("eyes", told, sends_to="somewhere"), Scripted("pen", told)

    def until_written(request: Request) -> None:
        if len(looks.asked()) == 3:
            assert written.wait(WAIT), "Stage II waited for Stage I's last answer"

    looks.before = until_written
    writes.before = lambda _: written.set()
    run(tmp_path / "w", looks, writes)
    assert all(record["error"] is None for record in records(tmp_path / "w", "stage1"))
    assert looks.asked() == writes.asked() == slots(tmp_path / "w")


@pytest.mark.parametrize("abilities", [{}, {"in_flight": 2}, {"uses_history": True}])
def test_what_stage_two_waits_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abilities: dict[str, Any]
) -> None:
    told: list[tuple[str, str]] = []
    looks, writes = Scripted("eyes", told, sends_to="somewhere"), Scripted("pen", told, **abilities)
    looks.before = lambda _: time.sleep(0.02)
    waited, mark = set(), Recording.mark

    def noted(self: Recording, doing: tuple[str, str | None]) -> Any:
        if doing == ("stage2", "stage1"):
            waited.add(threading.get_ident())
        return mark(self, doing)

    monkeypatch.setattr(Recording, "mark", noted)
    with profiled() as found:
        run(tmp_path / "w", looks, writes)
    assert found is not None
    stage2 = next(row for row in found.table().rows if row.room == "stage2")
    assert [what for what, _ in stage2.waited] == ["stage1"]
    assert len(waited) == 1, "one thread waits"


def test_grammar_is_measured_while_stage_one_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, str]] = []
    looks, writes = Scripted("eyes", told, sends_to="somewhere"), Scripted("pen", told)
    asked = threading.Event()
    looks.before = lambda _: asked.set()
    from shotad.description.clip_builder import ClipReader

    read, count = ClipReader.read, 0

    def slowly(self: ClipReader, *given: Any) -> None:
        nonlocal count
        count += 1
        if count == 6:
            assert asked.wait(WAIT), "Stage I waited for the film grammar of all clips"
        read(self, *given)

    monkeypatch.setattr(ClipReader, "read", slowly)
    run(tmp_path / "w", looks, writes)
    assert count > 6


def test_two_models_of_this_machine_take_turns(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    run(tmp_path / "w", Scripted("eyes", told), Scripted("pen", told))
    names = [name for name, _ in told]
    assert names == sorted(names)


@pytest.mark.parametrize("which", ["eyes", "pen", "grammar"])
@pytest.mark.parametrize("error", [EngineError("The quota is spent."), KeyboardInterrupt(), MemoryError()])
def test_whatever_stops_a_run_costs_no_answer_and_leaves_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str, error: BaseException
) -> None:
    told: list[tuple[str, str]] = []
    looks, writes = Scripted("eyes", told, sends_to="somewhere"), Scripted("pen", told)
    dying = {"eyes": looks, "pen": writes}.get(which)

    def die(*_: Any) -> None:
        if dying is None or len(dying.asked()) == 3:
            raise error

    if dying is not None:
        dying.before = die
    else:
        monkeypatch.setattr("shotad.description.clip_builder.ClipReader.read", die)
    if isinstance(error, MemoryError) and dying is not None:
        # A failure of one slot, which takes nothing else along.
        run(tmp_path / "w", looks, writes)
    else:
        with pytest.raises(type(error)):
            run(tmp_path / "w", looks, writes)
    assert ours() == []
    monkeypatch.undo()
    kept = {
        name: sum(r["error"] is None for r in records(tmp_path / "w", name)) for name in ("stage1", "stage2")
    }
    again: list[tuple[str, str]] = []
    run(tmp_path / "w", Scripted("eyes", again), Scripted("pen", again))
    number = len(slots(tmp_path / "w"))
    assert [name for name, _ in again].count("eyes") == number - kept["stage1"]
    assert [name for name, _ in again].count("pen") == number - kept["stage2"]
    assert tree(tmp_path / "w") == whole()


def test_a_disk_that_is_full_stops_all_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shotad.core import RecordLog, WorkFolderError

    add, count = RecordLog.add, 0

    def full(self: RecordLog, *given: Any) -> Any:
        nonlocal count
        count += 1
        if count > 5:
            raise WorkFolderError("The disk is full.", "Free some space.")
        return add(self, *given)

    monkeypatch.setattr(RecordLog, "add", full)
    with pytest.raises(WorkFolderError, match="disk is full"):
        run(tmp_path / "w", Scripted("eyes", [], in_flight=2), Scripted("pen", []))
    assert ours() == []
    monkeypatch.undo()
    assert len(records(tmp_path / "w", "stage1")) + len(records(tmp_path / "w", "stage2")) == 5
    told: list[tuple[str, str]] = []
    run(tmp_path / "w", Scripted("eyes", told), Scripted("pen", told))
    assert len(told) == 2 * len(slots(tmp_path / "w")) - 5
    assert tree(tmp_path / "w") == whole()


def killed(film: Path, out: Path, sends_to: str, which: str) -> None:
    """A run that kills its own process when ``which`` is asked for the third time."""
    told: list[tuple[str, str]] = []
    looks, writes = Scripted("eyes", told, sends_to=sends_to), Scripted("pen", told)
    dying = looks if which == "eyes" else writes

    def die(_: Request) -> None:
        if len(dying.asked()) == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    dying.before = die
    run(out, looks, writes, film=film)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["eyes", "pen"])
@pytest.mark.parametrize("sends_to", ["somewhere", ""], ids=["at once", "in turn"])
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, sends_to: str, which: str) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=killed, args=(make_film(SPEC).path, tmp_path / "w", sends_to, which)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    kept = {name: len(records(tmp_path / "w", name)) for name in ("stage1", "stage2")}
    assert kept["stage1" if which == "eyes" else "stage2"] == 2
    again: list[tuple[str, str]] = []
    run(tmp_path / "w", Scripted("eyes", again, sends_to=sends_to), Scripted("pen", again))
    number = len(slots(tmp_path / "w"))
    assert [name for name, _ in again].count("eyes") == number - kept["stage1"]
    assert [name for name, _ in again].count("pen") == number - kept["stage2"]
    assert tree(tmp_path / "w") == whole()


def test_a_film_that_is_damaged_in_the_middle_is_described_the_same_whatever_overlaps(
    tmp_path: Path,
) -> None:
    data = bytearray(make_film(SPEC).path.read_bytes())
    half, twentieth = len(data) // 2, len(data) // 20
    data[half : half + twentieth] = bytes(twentieth)
    film = tmp_path / "damaged.mp4"
    film.write_bytes(data)
    for name, sends_to in (("in turn", ""), ("at once", "somewhere")):
        run(tmp_path / name, Scripted("eyes", [], sends_to=sends_to), Scripted("pen", []), film=film)
    assert tree(tmp_path / "at once") == tree(tmp_path / "in turn")
    assert json.loads((tmp_path / "in turn" / "shots.json").read_text())["damage"]


def test_an_interruption_waits_for_no_answer_for_long(tmp_path: Path) -> None:
    looks, enough = Scripted("eyes", [], in_flight=2), threading.Event()

    def hang(_: Request) -> None:
        if len(looks.asked()) == 1:
            assert enough.wait(WAIT)
        raise KeyboardInterrupt

    looks.before = hang
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "w", looks, Scripted("pen", []))
    left = [thread for thread in threading.enumerate() if thread.name == "asking"]
    assert left, "the answer has come, so nothing was given up"
    enough.set()
    for thread in left:
        thread.join(WAIT)
    assert ours() == []
    assert records(tmp_path / "w", "stage1") == [], "who has left the folder writes nothing more"
    run(tmp_path / "w", Scripted("eyes", []), Scripted("pen", []))
    assert tree(tmp_path / "w") == whole()


class Counting(FakeEngine):
    """Keeps the frames of this program from the command to its own ``generate``, whatever threads they are in."""

    found: ClassVar[list[list[tuple[str, str]]]] = []

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        until = time.monotonic() + WAIT
        while (command := _frames(threading.main_thread()))[-1][1] != "__next__":
            assert time.monotonic() < until, command
            time.sleep(0.01)
        here = _frames(threading.current_thread())
        begun = next(
            n for n, (file, name) in enumerate(command) if (file, name) == ("describe.py", "command")
        )
        self.found.append([*command[begun:], *here, ("test_overlap.py", "generate")])
        return super().generate(requests)


def _frames(thread: threading.Thread) -> list[tuple[str, str]]:
    """File and name of each frame of a thread that is the program's, the outermost first."""
    assert thread.ident is not None
    stack = traceback.extract_stack(sys._current_frames()[thread.ident])
    return [(Path(f.filename).name, f.name) for f in stack if Path(f.filename).is_relative_to(ROOT)]


def test_few_frames_lead_from_the_command_to_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = f"{__name__}:Counting"
    settings = (*SETTINGS[1:], "speech.source=none", f"stage1.engine={engine}", f"stage2.engine={engine}")
    words = [word for setting in settings for word in ("--set", setting)]
    words = [
        "shotad",
        "describe",
        str(make_film(SPEC).path),
        "--out",
        str(tmp_path / "w"),
        "--no-sheet",
        *words,
    ]
    monkeypatch.setattr(sys, "argv", words)
    module = importlib.import_module(__name__)
    module.Counting.found.clear()
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert len(module.Counting.found) == 2 * len(slots(tmp_path / "w"))
    for frames in module.Counting.found:
        assert len(frames) <= 6, frames
        assert len({file for file, _ in frames}) <= 6, frames
