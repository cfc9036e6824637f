"""The whole way with the fake engine: what is written, what is kept, what is redone."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Config, Given, Request, WorkFolder, WorkFolderError, load_config
from shotad.description import Engines, Outcome, describe
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from shotad.script import load_track
from tests.media import FilmSpec, make_film, read_number

SPEC = FilmSpec(frames=500, cuts=(100, 210, 330, 420))
SILENT = ("engine=fake", "speech.source=none", "slots.find_credits=false", "scale.method=none")
SMALL = ("frames.min_pixels=12544", "frames.max_pixels=25088")
"""Small frames, for what does not depend on their size."""


def film_path() -> Path:
    return make_film(SPEC).path


def run(
    out: Path,
    *assignments: str,
    given: Given | None = None,
    looks: FakeEngine | None = None,
    writes: FakeEngine | None = None,
    **options: Any,
) -> tuple[Outcome, FakeEngine, FakeEngine]:
    """One run into ``out``; the outcome and both engines, which count their calls."""
    config: Config = load_config(None, (*SILENT, *SMALL, *assignments))
    engines = Engines(looks or FakeEngine(), writes or FakeEngine())
    force = bool(options.pop("force", False))
    with open_film(film_path()) as film, WorkFolder(out, force=force) as folder:
        outcome = describe(film, folder, config, given, engines=engines, **options)
    return outcome, engines.looks, engines.writes  # type: ignore[return-value]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def tree(folder: Path) -> dict[str, bytes]:
    """All files but the log (which holds clock times) and the lock."""
    return {
        p.name: p.read_bytes()
        for p in sorted(folder.iterdir())
        if p.is_file() and p.name not in ("log.txt", ".lock")
    }


def test_a_run_writes_the_track_its_scripts_and_the_records(tmp_path: Path) -> None:
    outcome, looks, writes = run(tmp_path / "w")
    names = {p.name for p in (tmp_path / "w").iterdir()}
    stem = film_path().stem
    assert {"shots.json", "speech.json", "slots.json", "stage1.jsonl", "stage2.jsonl", "track.json"} <= names
    assert {f"{stem}.ad.vtt", f"{stem}.ad.srt", f"{stem}.ad.dapt.xml", f"{stem}.ad.csv"} <= names
    shots = json.loads((tmp_path / "w" / "shots.json").read_text())["shots"]
    assert {0, 100, 330} <= {row["frame"] for row in shots}
    slots = json.loads((tmp_path / "w" / "slots.json").read_text())["slots"]
    assert len(slots) >= 2
    assert looks.calls == writes.calls == len(slots) == len(outcome.track.cues)
    assert all(cue.heard for cue in outcome.track.cues)


def test_the_records_say_what_was_shown_and_asked(tmp_path: Path) -> None:
    run(tmp_path / "w", "frames.min_pixels=100352", "frames.max_pixels=151200")
    for record in records(tmp_path / "w" / "stage1.jsonl"):
        assert sum(len(shot["seconds"]) for shot in record["shots"]) == 32
        assert [shot["number"] for shot in record["shots"]] == list(range(len(record["shots"])))
        asked = record["prompt"][-1]["text"]
        current = [shot["number"] for shot in record["shots"] if shot["role"] == "current"]
        assert ", ".join(f"Shot {number}" for number in current) in asked
        assert "$" not in asked
        assert record["frame_size"] == [448, 252]
        assert record["factors"] == ["object"]
    for record in records(tmp_path / "w" / "stage2.jsonl"):
        assert record["prompt"][0]["role"] == "system"
        assert f"{record['budget']} word" in record["prompt"][1]["text"]


@pytest.mark.parametrize("given", [False, True], ids=["planned slots, on the grid", "given slots, exact"])
def test_frames_are_those_of_the_planned_moments(tmp_path: Path, given: bool) -> None:
    made = make_film(SPEC)
    seen: dict[str, Request] = {}

    def remember(request: Request) -> str:
        seen[request.slot_id] = request
        return plain_answer(request)

    def shown(second: float) -> int:
        return made.number_at(second if given else math.floor(second * 8 + 0.5) / 8)

    slots = tmp_path / "slots.csv"
    slots.write_text("start,end\n1.0,1.5\n4.0,7.0\n")
    fixed = Given(slots=slots) if given else None
    run(tmp_path / "w", "overlay.label=none", looks=FakeEngine(answer=remember), given=fixed)
    for record in records(tmp_path / "w" / "stage1.jsonl"):
        clip = seen[record["slot"]].clip
        assert clip is not None
        wanted = [shown(second) for shot in record["shots"] for second in shot["seconds"]]
        assert [read_number(image) for image in clip.images] == wanted
    assert not list((tmp_path / "w").glob("frames.*"))


def test_a_second_run_does_nothing_twice_and_changes_nothing(tmp_path: Path) -> None:
    run(tmp_path / "w")
    before = tree(tmp_path / "w")
    _, looks, writes = run(tmp_path / "w")
    assert (looks.calls, writes.calls) == (0, 0)
    assert tree(tmp_path / "w") == before


def test_two_runs_elsewhere_are_byte_identical(tmp_path: Path) -> None:
    run(tmp_path / "a")
    run(tmp_path / "b")
    assert tree(tmp_path / "a") == tree(tmp_path / "b")


def test_a_film_that_was_copied_and_renamed_keeps_its_records(tmp_path: Path) -> None:
    run(tmp_path / "w")
    copy = tmp_path / "copy.mp4"
    shutil.copy(film_path(), copy)
    engines = Engines(FakeEngine(), FakeEngine())
    with open_film(copy) as film, WorkFolder(tmp_path / "w") as folder:
        describe(film, folder, load_config(None, (*SILENT, *SMALL)), engines=engines)
    assert engines.looks.calls == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "redone"),
    [
        ("seed=7", (True, True)),
        ("prompt.medium=TV series", (True, True)),
        ("prompt.verbs=[jump]", (False, True)),
        ("overlay.label=box", (True, False)),
        ("stage2.sampling.temperature=1.5", (False, True)),
        ("frames.inside=8", (True, True)),
        ("stage2.history=3", (False, False)),
    ],
)
def test_a_change_redoes_what_depends_on_it_and_nothing_else(
    tmp_path: Path, change: str, redone: tuple[bool, bool]
) -> None:
    run(tmp_path / "w")
    _, looks, writes = run(tmp_path / "w", change)
    assert (looks.calls > 0, writes.calls > 0) == redone


def test_a_changed_prompt_file_redoes_its_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shotad.core import data_root

    data = tmp_path / "data"
    for name in ("prompts", "configs", "models"):
        shutil.copytree(data_root() / name, data / name)
    monkeypatch.setenv("SHOTAD_DATA", str(data))
    run(tmp_path / "w")
    system = data / "prompts" / "stage2" / "system.txt"
    system.write_text(system.read_text() + "\nBe kind.\n")
    _, looks, writes = run(tmp_path / "w")
    assert looks.calls == 0
    assert writes.calls > 0


def test_another_engine_redoes_its_stage_only(tmp_path: Path) -> None:
    from dataclasses import replace

    run(tmp_path / "w")
    other = FakeEngine()
    other.identity = replace(other.identity, revision="2")
    _, looks, writes = run(tmp_path / "w", writes=other)
    assert looks.calls == 0
    assert writes.calls > 0


def test_a_failed_answer_is_a_failed_line_and_asked_again(tmp_path: Path) -> None:
    def stumble(request: Request) -> str:
        if request.slot_id == bad:
            raise RuntimeError("out of luck")
        return plain_answer(request)

    run(tmp_path / "probe")
    bad = records(tmp_path / "probe" / "stage1.jsonl")[1]["slot"]
    outcome, _, writes = run(tmp_path / "w", looks=FakeEngine(answer=stumble))
    cue = next(cue for cue in outcome.track.cues if cue.slot_id == bad)
    assert cue.status.value == "failed"
    assert "out of luck" in cue.reason
    assert outcome.counts["failed"] == 1
    assert writes.calls == len(outcome.track.cues) - 1
    outcome, looks, writes = run(tmp_path / "w")
    assert (looks.calls, writes.calls) == (1, 1)
    assert outcome.counts["failed"] == 0
    assert tree(tmp_path / "w") == tree(tmp_path / "probe")


def test_an_answer_that_cannot_be_read_is_a_failed_line(tmp_path: Path) -> None:
    outcome, _, _ = run(tmp_path / "w", writes=FakeEngine(answer=lambda request: ""))
    assert outcome.counts["failed"] == len(outcome.track.cues)


def test_a_line_too_long_is_shortened_or_dropped(tmp_path: Path) -> None:
    def long_line(request: Request) -> str:
        if request.schema is None:
            return plain_answer(request)
        tail = "word " * 60
        text = f"Somebody runs, {tail}." if int(request.slot_id[1:]) < 5000 else f"Somebody {tail}."
        return json.dumps({"summarized_AD": text})

    outcome, _, _ = run(tmp_path / "w", writes=FakeEngine(answer=long_line))
    counts = outcome.counts
    assert counts["shortened"] + counts["dropped"] == len(outcome.track.cues)
    assert counts["dropped"] > 0


def test_only_the_part_asked_for_is_described_with_the_same_slots(tmp_path: Path) -> None:
    whole, _, _ = run(tmp_path / "a")
    part, looks, _ = run(tmp_path / "b", given=Given(start=6.0, end=14.0))
    expected = [cue for cue in whole.track.cues if 6 <= cue.interval.start < 14]
    assert [cue.id for cue in part.track.cues] == [cue.id for cue in expected]
    assert looks.calls == len(expected) > 0
    rest, looks, _ = run(tmp_path / "b")
    assert looks.calls == len(whole.track.cues) - len(expected)
    assert [cue.id for cue in rest.track.cues] == [cue.id for cue in whole.track.cues]


def test_a_trial_of_a_part_keeps_the_lines_of_the_rest(tmp_path: Path) -> None:
    whole, _, _ = run(tmp_path / "w")
    part, _, _ = run(tmp_path / "w", "seed=9", given=Given(start=6.0, end=14.0))
    assert [cue.id for cue in part.track.cues] == [cue.id for cue in whole.track.cues]


def test_five_candidates_are_kept_and_one_is_chosen(tmp_path: Path) -> None:
    outcome, _, _ = run(tmp_path / "w", "stage2.candidates=5")
    for cue in outcome.track.cues:
        assert len(cue.candidates) == 5
        assert cue.chosen is not None
        assert cue.text == cue.candidates[cue.chosen]


def test_edits_survive_a_second_run_and_a_changed_engine(tmp_path: Path) -> None:
    outcome, _, _ = run(tmp_path / "w")
    path = tmp_path / "w" / "track.json"
    old = outcome.track.cues[0].text
    path.write_text(path.read_text().replace(f'"text": {json.dumps(old)}', '"text": "A person wrote this."'))
    assert "A person wrote this." in path.read_text()
    for assignments in ((), ("seed=5",)):
        outcome, _, _ = run(tmp_path / "w", *assignments)
        assert outcome.track.cues[0].text == "A person wrote this."
        assert outcome.track.cues[0].edited is not None
    assert "A person wrote this." in (tmp_path / "w" / f"{film_path().stem}.ad.vtt").read_text()
    outcome, _, _ = run(tmp_path / "w", force=True)
    assert outcome.track.cues[0].text == "A person wrote this."
    outcome, _, _ = run(tmp_path / "w", discard_edits=True)
    assert outcome.track.cues[0].text == old


def test_a_deleted_line_stays_deleted(tmp_path: Path) -> None:
    outcome, _, _ = run(tmp_path / "w")
    path = tmp_path / "w" / "track.json"
    tree_ = json.loads(path.read_text())
    gone = tree_["cues"].pop(1)["id"]
    path.write_text(json.dumps(tree_))
    outcome, _, _ = run(tmp_path / "w")
    assert gone not in [cue.id for cue in outcome.track.heard]
    assert len(load_track(path).heard) == len(tree_["cues"])


def test_the_track_of_another_film_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "w")
    with (
        open_film(make_film(FilmSpec(frames=200)).path) as film,
        WorkFolder(tmp_path / "w") as folder,
        pytest.raises(WorkFolderError, match="another film"),
    ):
        describe(film, folder, load_config(None, SILENT))


def test_given_slots_are_used_as_they_are(tmp_path: Path) -> None:
    slots = tmp_path / "slots.csv"
    slots.write_text("id,start,end\nfirst,1.0,1.5\n,4.0,7.0\n,19.0,25.0\n,30,31\n")
    outcome, _, _ = run(tmp_path / "w", given=Given(slots=slots))
    assert [cue.id for cue in outcome.track.cues] == ["s00001000", "s00004000", "s00019000"]
    assert [name for name, _ in outcome.failed_slots] == ["s00030000"]
    rows = json.loads((tmp_path / "w" / "slots.json").read_text())["slots"]
    assert [row.get("label", "") for row in rows] == ["first", "", ""]
    assert any("cut to" in warning for warning in outcome.warnings)


def test_given_shots_are_used_as_they_are(tmp_path: Path) -> None:
    shots = tmp_path / "shots.csv"
    shots.write_text("start,end\n0,10\n10,20\n")
    run(tmp_path / "w", given=Given(shots=shots))
    assert len(json.loads((tmp_path / "w" / "shots.json").read_text())["shots"]) == 2


def test_speech_from_subtitles_keeps_lines_away(tmp_path: Path) -> None:
    subtitles = tmp_path / "film.srt"
    subtitles.write_text("1\n00:00:02,000 --> 00:00:09,000\nHello there.\n")
    outcome, _, _ = run(tmp_path / "w", "speech.source=auto", given=Given(subtitles=subtitles))
    assert outcome.track.heard
    for cue in outcome.track.heard:
        assert cue.interval.start >= 9.25 or cue.interval.end <= 1.75


KILLED = """
import sys
from pathlib import Path
from shotad.core.config import load_config
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film.pyav_reader import open_film
from shotad.description.pipeline import Engines, describe
from shotad.core.workfolder import WorkFolder
import time

def slow(request):
    time.sleep(0.15)
    return plain_answer(request)

with open_film(sys.argv[1]) as film, WorkFolder(Path(sys.argv[2])) as folder:
    config = load_config(None, sys.argv[3:])
    describe(film, folder, config, engines=Engines(FakeEngine(answer=slow), FakeEngine(answer=slow)))
"""


def test_what_was_kept_on_the_way_and_what_is_decoded_later_give_the_same(tmp_path: Path) -> None:
    """A resumed run has lost the kept frames; its records must be those of an undisturbed one."""
    run(tmp_path / "whole")
    run(tmp_path / "resumed", looks=FakeEngine(answer=_stumble))
    run(tmp_path / "resumed")
    assert tree(tmp_path / "resumed") == tree(tmp_path / "whole")


def test_what_a_killed_run_has_kept_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shotad.film.pyav_reader import PyavFilm

    def stop(request: Request) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "w", looks=FakeEngine(answer=stop))
    assert (tmp_path / "w" / "frames.pack").stat().st_size > 0
    monkeypatch.setattr(PyavFilm, "frames_at", lambda self, seconds: iter(()))
    outcome, looks, _ = run(tmp_path / "w")
    assert looks.calls == len(outcome.track.heard) > 0
    assert not list((tmp_path / "w").glob("frames.*"))


def _stumble(request: Request) -> str:
    raise RuntimeError("stopped")


_KILLS = 6
"""After so many the run is left alone: each costs the start of a program."""


@pytest.mark.slow
@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "interrupt"])
def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: Path, signal_: signal.Signals) -> None:
    # Engines with an answer of their own, as in the other process: how they are asked is in the records' keys.
    run(tmp_path / "whole", looks=FakeEngine(answer=plain_answer), writes=FakeEngine(answer=plain_answer))
    out = tmp_path / "w"
    kills = 0
    for number in range(_KILLS + 1):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(film_path()), str(out), *SILENT, *SMALL],
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        )
        deadline = time.monotonic() + 60
        before = _progress(out)
        while process.poll() is None and (
            number == _KILLS or (_progress(out) <= before and time.monotonic() < deadline)
        ):
            time.sleep(0.01)
        if process.poll() is not None:
            break
        time.sleep(0.02 * (number % 5))
        _kill(process, signal_)
        kills += 1
    assert kills >= 3
    assert process.returncode == 0
    assert tree(out) == tree(tmp_path / "whole")


def _kill(process: subprocess.Popen[bytes], signal_: signal.Signals) -> None:
    """As people do: Python loses an interruption that comes in the middle of a C callback, so it is repeated."""
    while process.poll() is None:
        process.send_signal(signal_)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)


def _progress(out: Path) -> int:
    return sum(p.stat().st_size for p in out.glob("*.json*")) if out.exists() else 0
