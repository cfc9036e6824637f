"""The whole way: with the fake engine what is written, kept and redone; and with engines that talk: story, second looks,
candidates, choices, estimates, batches, stops."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import (
    NoProgress,
    Progress,
    Request,
    RunInputs,
    WorkFolder,
    load_config,
)
from shotad.core.errors import EngineError
from shotad.core.settings import data_root
from shotad.description import (
    DescribeResult,
    Engines,
    RunContext,
    describe,
    estimate_run,
    plan_clips,
    prepare,
    show_prompts,
)
from shotad.description.preparation import film_shots, film_speech
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from tests.cli.program import Shotad
from tests.decodes import counted_decodes
from tests.media import make_film, read_number
from tests.runs import QUICK, SMALL, SPEC, Talker, rows, run, slots, tree

QUIET = (*QUICK, *SMALL, "speech.source=none")


def film_path() -> Path:
    return make_film(SPEC).path


def ran(out: Path, *assignments: str, **options: Any) -> tuple[DescribeResult, FakeEngine, FakeEngine]:
    """One run with fake engines, which count their calls."""
    return run(out, *assignments, **{"looks": FakeEngine(), "writes": FakeEngine(), **options})


First = tuple[Path, DescribeResult, FakeEngine, FakeEngine]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> First:
    """The folder of a run with nothing set, what it came to, and its engines."""
    out = tmp_path_factory.mktemp("first") / "w"
    return out, *ran(out)


@pytest.fixture
def w(first: First, tmp_path: Path) -> Path:
    """A copy of that folder, to be changed."""
    return Path(shutil.copytree(first[0], tmp_path / "w"))


def test_a_run_writes_the_track_its_scripts_and_the_records(first: First) -> None:
    out, outcome, looks, writes = first
    names, stem = {p.name for p in out.iterdir()}, film_path().stem
    assert {"shots.json", "speech.json", "slots.json", "stage1.jsonl", "stage2.jsonl", "track.json"} <= names
    assert {f"{stem}.ad.vtt", f"{stem}.ad.srt", f"{stem}.ad.dapt.xml", f"{stem}.ad.csv"} <= names
    shots = json.loads((out / "shots.json").read_text())["shots"]
    assert {0, 100, 330} <= {row["frame"] for row in shots}
    assert looks.calls == writes.calls == len(slots(out)) == len(outcome.track.cues) >= 2
    assert all(cue.heard for cue in outcome.track.cues)


@pytest.mark.parametrize(
    ("given", "context"),
    [(False, True), (True, False)],
    ids=["planned slots, on the grid", "given slots, exact"],
)
def test_frames_are_those_of_the_planned_moments(tmp_path: Path, given: bool, context: bool) -> None:
    made = make_film(SPEC)
    seen: dict[str, Request] = {}

    def remember(request: Request) -> str:
        seen[request.slot_id] = request
        return plain_answer(request)

    def shown(second: float) -> int:
        return made.number_at(second if given else math.floor(second * 8 + 0.5) / 8)

    (tmp_path / "slots.csv").write_text("start,end\n1.0,1.5\n4.0,7.0\n")
    fixed = RunInputs(slots=tmp_path / "slots.csv") if given else None
    engine = FakeEngine(answer=remember)
    engine.abilities = replace(engine.abilities, wants_context=context)
    ran(tmp_path / "w", "overlay.label=none", looks=engine, given=fixed)
    for record in rows(tmp_path / "w", "stage1"):
        clip = seen[record["slot"]].clip
        assert clip is not None
        told = [shot for shot in record["shots"] if context or shot["role"] == "current"]
        assert context or len(told) < len(record["shots"])
        wanted = [shown(second) for shot in told for second in shot["seconds"]]
        assert [read_number(image) for image in clip.images] == wanted
    assert not list((tmp_path / "w").glob("frames.*"))


def test_a_second_run_does_nothing_twice_also_where_the_film_was_copied(w: Path, tmp_path: Path) -> None:
    before = tree(w)
    _, looks, writes = ran(w)
    assert (looks.calls, writes.calls) == (0, 0)
    assert tree(w) == before
    _, looks, _ = ran(w, film=Path(shutil.copy(film_path(), tmp_path / "copy.mp4")))
    assert looks.calls == 0


@pytest.mark.parametrize(
    ("change", "redone"),
    [
        ("seed=7", (True, True)),
        ("prompt.verbs=[jump]", (False, True)),
        ("overlay.label=box", (True, False)),
        ("stage2.history=3", (False, False)),
    ],
)
def test_a_change_redoes_what_depends_on_it_alone(w: Path, change: str, redone: tuple[bool, bool]) -> None:
    _, looks, writes = ran(w, change)
    assert (looks.calls > 0, writes.calls > 0) == redone


@pytest.mark.parametrize(
    ("name", "old", "redone"),
    [
        ("stage1", "Say who does what", (True, False)),
        ("stage2", "Condense it into", (False, True)),
        ("stage2-again", "Correct this", (False, False)),
        ("stage1-again", "Describe it once more", (False, False)),
        ("translate", "Translate the lines", (False, False)),
    ],
)
def test_a_changed_sentence_of_a_prompt_asks_its_stage_again_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, old: str, redone: tuple[bool, bool]
) -> None:
    # A folder with this one file; all others are the program's.
    own = tmp_path / "data" / "prompts" / f"{name}.j2"
    own.parent.mkdir(parents=True)
    shutil.copy(data_root() / "prompts" / own.name, own)
    monkeypatch.setenv("SHOTAD_DATA", str(tmp_path / "data"))
    run(tmp_path / "w")
    text = own.read_text(encoding="utf-8")
    assert text.count(old) == 1
    own.write_text(text.replace(old, f"Please. {old}"), encoding="utf-8")
    _, looks, writes = run(tmp_path / "w")
    assert (bool(looks.asked), bool(writes.asked)) == redone


def test_the_prompts_shown_of_each_slot_hold_the_story_that_the_run_told(tmp_path: Path) -> None:
    settings = ("story.on=true", "prompt.note=Ann is a thief.")
    _, looks, writes = run(tmp_path / "w", *settings)
    sent = {
        request.slot_id: request.messages for request in writes.asked if "story" not in str(request.schema)
    }
    config = load_config(None, (*QUIET, *settings))
    with open_film(film_path()) as film, WorkFolder(tmp_path / "w") as folder:
        for request in looks.asked:
            name = request.slot_id
            shown = show_prompts(film, folder, config, slot=name, engines=Engines(looks, writes))
            assert shown.is_described
            assert (shown.stage1, shown.stage2) == (request.messages, sent[name])
    assert "oldest first:\n" in shown.stage2[1].text


def test_a_failed_answer_is_a_failed_line_and_asked_again(first: First, tmp_path: Path) -> None:
    def stumble(request: Request) -> str:
        if request.slot_id == bad:
            raise RuntimeError("out of luck")
        return plain_answer(request)

    bad = rows(first[0], "stage1")[1]["slot"]
    outcome, _, writes = ran(tmp_path / "w", looks=FakeEngine(answer=stumble))
    cue = next(cue for cue in outcome.track.cues if cue.slot_id == bad)
    assert cue.status.value == "failed"
    assert "out of luck" in cue.reason
    assert outcome.counts["failed"] == 1
    assert writes.calls == len(outcome.track.cues) - 1
    outcome, looks, writes = ran(tmp_path / "w")
    assert (looks.calls, writes.calls) == (1, 1)
    assert outcome.counts["failed"] == 0
    assert tree(tmp_path / "w") == tree(first[0])


def test_the_last_record_of_a_slot_is_that_of_the_last_run(tmp_path: Path) -> None:
    part = RunInputs(start=6.0, end=14.0)  # whose records are not tidied
    for settings in ((), ("seed=7",), ()):
        outcome, _, _ = ran(tmp_path / "w", *settings, given=part)
    last = {row["slot"]: row for row in rows(tmp_path / "w", "stage1")}
    assert {row["seed"] for row in last.values()} == {
        cue.provenance.seed for cue in outcome.track.cues if cue.provenance is not None
    }


def test_only_the_part_asked_for_is_described_with_the_same_slots(
    first: First, w: Path, tmp_path: Path
) -> None:
    whole, half = first[1].track.cues, RunInputs(start=6.0, end=14.0)
    part, looks, _ = ran(tmp_path / "b", given=half)
    expected = [cue.id for cue in whole if 6 <= cue.interval.start < 14]
    assert [cue.id for cue in part.track.cues] == expected
    assert looks.calls == len(expected) > 0
    rest, looks, _ = ran(tmp_path / "b")
    assert looks.calls == len(whole) - len(expected)
    assert [cue.id for cue in rest.track.cues] == [cue.id for cue in whole]
    trial, _, _ = ran(w, "seed=9", given=half)
    assert [cue.id for cue in trial.track.cues] == [cue.id for cue in whole], "the lines of the rest are kept"


def test_edits_survive_a_second_run_and_a_changed_engine(first: First, w: Path) -> None:
    outcome = first[1]
    path = w / "track.json"
    old = outcome.track.cues[0].text
    path.write_text(path.read_text().replace(f'"text": {json.dumps(old)}', '"text": "A person wrote this."'))
    assert "A person wrote this." in path.read_text()
    for assignments in ((), ("seed=5",)):
        outcome, _, _ = ran(w, *assignments)
        assert outcome.track.cues[0].text == "A person wrote this."
        assert outcome.track.cues[0].edited is not None
    assert "A person wrote this." in (w / f"{film_path().stem}.ad.vtt").read_text()
    outcome, _, _ = ran(w, force=True)
    assert outcome.track.cues[0].text == "A person wrote this."
    replaced = w / f"{film_path().stem}.ad.vtt"
    replaced.write_text(replaced.read_text().replace("A person wrote this.", "A person wrote that."))
    outcome, _, _ = ran(w, discard_edits=True)
    assert outcome.track.cues[0].text == old
    assert "A person wrote this." in (w / "discarded-track.json").read_text()
    assert "A person wrote that." in (w / f"discarded-{replaced.name}").read_text()
    assert "1 edited line thrown away; copies are kept: discarded-track.json and " in outcome.warnings[-1]


def test_given_slots_and_shots_are_used_as_they_are(tmp_path: Path) -> None:
    given = RunInputs(slots=tmp_path / "slots.csv", shots=tmp_path / "shots.csv")
    (tmp_path / "shots.csv").write_text("start,end\n0,10\n10,20\n")
    (tmp_path / "slots.csv").write_text("id,start,end\nfirst,1.0,1.5\n,4.0,7.0\n,19.0,25.0\n,30,31\n")
    outcome, _, _ = ran(tmp_path / "w", given=given)
    assert len(json.loads((tmp_path / "w" / "shots.json").read_text())["shots"]) == 2
    assert [cue.id for cue in outcome.track.cues] == ["s00001000", "s00004000", "s00019000"]
    assert [slot.id for slot in outcome.failed_slots] == ["s00030000"]
    rows = json.loads((tmp_path / "w" / "slots.json").read_text())["slots"]
    assert [row.get("label", "") for row in rows] == ["first", "", ""]
    assert any("cut to" in warning for warning in outcome.warnings)


def test_what_was_given_is_read_once_before_the_film(tmp_path: Path) -> None:
    """Files that go or change while the film is read make no difference; later they are another input."""
    files = {
        "subtitles": ("said.vtt", "WEBVTT\n\n00:00:05.400 --> 00:00:06.400\nWhere is the key?\n"),
        "shots": ("shots.csv", "start,end\n0,10\n10,20\n"),
        "slots": ("slots.csv", "start,end\n1.0,1.5\n8.0,9.5\n"),
    }
    for name, text in files.values():
        (tmp_path / name).write_text(text)
    given = RunInputs(**{kind: tmp_path / name for kind, (name, _) in files.items()})
    whole, _, _ = ran(tmp_path / "whole", given=given)

    gone: list[str] = []

    def vanish() -> None:
        for name, _ in files.values():
            (tmp_path / name).unlink()
            gone.append(name)

    outcome, _, _ = ran(tmp_path / "w", given=given, on_accepted=vanish)
    assert len(gone) == 3
    assert lines(outcome) == lines(whole)
    for record in ("speech.json", "shots.json", "slots.json"):
        assert (tmp_path / "w" / record).read_text() == (tmp_path / "whole" / record).read_text()


def test_steps_that_are_asked_again_give_the_same(tmp_path: Path) -> None:
    config = load_config(None, QUICK)
    with open_film(film_path()) as film, WorkFolder(tmp_path / "w") as folder:
        context = RunContext.of(film, folder, config, RunInputs(), NoProgress())
        shots, speech = film_shots(context), film_speech(context)
        before = tree(tmp_path / "w")
        assert (film_shots(context), film_speech(context)) == (shots, speech)
        prepared = prepare(context)
        assert prepare(context) == prepared
        assert prepared.shots == shots.shots
        plans, warnings = plan_clips(prepared, context)
        plans_again, warnings_again = plan_clips(prepared, context)
        assert warnings_again == warnings
        assert [(plan.slot, plan.shots, plan.grammar) for plan in plans_again] == [
            (plan.slot, plan.shots, plan.grammar) for plan in plans
        ]
    assert before.items() <= tree(tmp_path / "w").items()


def test_what_a_killed_run_has_kept_is_used(tmp_path: Path) -> None:
    def stop(request: Request) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ran(tmp_path / "w", looks=FakeEngine(answer=stop))
    assert (tmp_path / "w" / "frames.pack").stat().st_size > 0
    with counted_decodes() as decodes:
        outcome, looks, _ = ran(tmp_path / "w")
    assert decodes.frames == 0
    assert looks.calls == len(outcome.track.heard) > 0
    assert not list((tmp_path / "w").glob("frames.*"))


# With engines that talk
SUBTITLES = "WEBVTT\n\n00:00:05.400 --> 00:00:06.400\nWhere is the key, Nora?\n"


def lines(outcome: DescribeResult) -> list[str]:
    return [cue.text for cue in outcome.track.cues]


def foreseen(
    out: Path, engines: Any, *settings: str, given: RunInputs | None = None
) -> tuple[Any, DescribeResult, Any]:
    """The estimate before a run, which asks nothing; the run; the estimate after it."""
    config = load_config(None, (*QUIET, *settings))
    with open_film(make_film(SPEC).path) as film, WorkFolder(out) as folder:
        before = estimate_run(film, folder, config, given, engines=engines)
        assert engines.stage1.asked == engines.stage2.asked == []
        outcome = describe(film, folder, config, given, engines=engines, sheet=False)
        return before, outcome, estimate_run(film, folder, config, given, engines=engines)


SECTION = 8
"""Lines after which the story is told anew."""


class Brief(Talker):
    """Writes a line of four words for each slot."""

    def answer(self, request: Request) -> str:
        if "summarized" in str(request.schema):
            return json.dumps({"summarized_AD": f"She opens door {int(request.slot_id[1:]) // 1000}."})
        return super().answer(request)


def many_slots(folder: Path) -> Path:
    """A file of slots for one more line than a section of the story has."""
    rows = "".join(f"{2 * number},{2 * number + 1.9}\n" for number in range(SECTION + 1))
    (folder / "slots.csv").write_text(f"start,end\n{rows}")
    return folder / "slots.csv"


def test_the_story_is_told_from_line_to_line(tmp_path: Path) -> None:
    subtitles = tmp_path / "film.vtt"
    subtitles.write_text(SUBTITLES)
    settings = ("story.on=true",)
    given = RunInputs(subtitles=subtitles, slots=many_slots(tmp_path))
    outcome, _, writes = run(tmp_path / "w", *settings, given=given, writes=Brief("writes"))
    asked = [r for r in writes.asked if r.schema and "facts" not in r.schema["properties"]]
    prompts = [r.messages[-1].text for r in asked]
    heard = lines(outcome)
    assert len(heard) == SECTION + 1
    assert heard[0] not in prompts[0]
    assert heard[0] in prompts[1]
    assert "Where is the key, Nora?" in prompts[3]
    facts = "Somebody searches a house for a key."
    assert [facts in prompt for prompt in prompts] == [False] * SECTION + [True]
    assert len(rows(tmp_path / "w", "story")) == 1
    again, _, silent = run(tmp_path / "w", *settings, given=given, writes=Brief("writes"))
    assert (lines(again), silent.asked) == (heard, [])


def test_a_second_look_has_the_clip_and_its_answer_counts(tmp_path: Path) -> None:
    class Doubts(Talker):
        def answer(self, request: Request) -> str:
            if request.schema and request.clip is not None:
                assert request.clip.images.shape[1:3] == self.asked[0].clip.images.shape[1:3]  # type: ignore[union-attr]
                return json.dumps(dict.fromkeys(request.schema["properties"], "no"))
            return super().answer(request)

    outcome, looks, writes = run(tmp_path / "w", "verify.on=true", looks=Doubts("looks"))
    slots = len(lines(outcome))
    assert all("not seen in the frames" in cue.reason for cue in outcome.track.cues)
    assert sum(request.schema is not None for request in looks.asked) >= slots
    assert any("The frames do not show" in text for text in writes.texts())
    sure, _, _ = run(tmp_path / "sure", "verify.on=true")
    assert not any("not seen" in cue.reason for cue in sure.track.cues)


def test_lines_are_sought_before_too_many_are_lost(tmp_path: Path) -> None:
    class Dies(Talker):
        def answer(self, request: Request) -> str:
            if "summarized" in str(request.schema) and len(self.asked) > 64:
                raise EngineError("The GPU has stopped working.")
            return super().answer(request)

    slots = tmp_path / "slots.csv"
    slots.write_text("start,end\n" + "".join(f"{n / 4},{n / 4 + 0.2}\n" for n in range(4, 70)))
    settings, given = ("verify.on=true", "stage2.attempts=1"), RunInputs(slots=slots)
    with pytest.raises(EngineError, match="GPU"):
        run(tmp_path / "w", *settings, looks=Talker("looks"), writes=Dies("writes"), given=given)
    assert len(rows(tmp_path / "w", "stage2")) == 64


def test_independent_candidates_and_an_engine_that_chooses(tmp_path: Path) -> None:
    settings = ("stage2.candidates=3", "stage2.draw=independent", "stage2.select=engine")
    outcome, _, writes = run(tmp_path / "w", *settings)
    chosen = [row for row in rows(tmp_path / "w", "answers") if '"choice"' in row["raw"]]
    assert chosen
    several = [cue for cue in outcome.track.cues if len(cue.candidates) > 1]
    assert len(several) == len(chosen)
    assert all(cue.text in cue.candidates for cue in outcome.track.cues)
    again, _, silent = run(tmp_path / "w", *settings)
    assert (lines(again), silent.asked) == (lines(outcome), [])
    assert outcome.used is not None
    assert outcome.used.calls == len(writes.asked) + len(rows(tmp_path / "w", "stage1"))


def test_a_persons_choice_among_the_candidates_wins_for_ever(tmp_path: Path) -> None:
    outcome, _, _ = run(tmp_path / "w", "stage2.candidates=3")
    cue = outcome.track.cues[0]
    other = next(n for n in range(3) if n != cue.chosen)
    path = tmp_path / "w" / "track.json"
    text = path.read_text()
    path.write_text(text.replace(f'"chosen": {cue.chosen}', f'"chosen": {other}', 1))
    for settings in (("stage2.candidates=3", "seed=7"), ("stage2.candidates=2",)):
        again, _, _ = run(tmp_path / "w", *settings)
        assert again.track.cues[0].text == cue.candidates[other]


def test_a_trial_of_another_engine_throws_no_answer_away(tmp_path: Path) -> None:
    first, _, _ = run(tmp_path / "w")
    trial, _, _ = run(tmp_path / "w", looks=FakeEngine(), writes=FakeEngine())
    assert lines(trial) != lines(first)
    assert {row["maker"]["engine"] for row in rows(tmp_path / "w", "stage1")} == {"fake"}
    again, looks, writes = run(tmp_path / "w")
    assert (lines(again), looks.asked, writes.asked) == (lines(first), [], [])
    forced, looks, _ = run(tmp_path / "w", looks=Talker("looks"), force=True)
    assert len(looks.asked) == len(lines(forced))


def test_engines_that_read_no_prompts_are_refused_what_needs_one(tmp_path: Path) -> None:
    for setting in ("verify.on", "story.on"):
        with pytest.raises(EngineError, match=setting):
            run(tmp_path / "w", f"{setting}=true", looks=FakeEngine(), writes=FakeEngine())


def test_an_estimate_asks_nothing_and_is_kept_to(tmp_path: Path) -> None:
    engines: Any = Engines(Talker("looks"), Talker("writes"))
    settings = ("stage2.candidates=3", "stage2.draw=independent", "verify.on=true")
    before, outcome, after = foreseen(tmp_path / "w", engines, *settings)
    slots = len(lines(outcome))
    looks, writes = before
    assert looks.likely.calls == 2 * slots == len(engines.stage1.asked)
    assert writes.likely.calls == 3 * slots
    assert len(engines.stage2.asked) <= writes.most.calls
    assert looks.likely.frames == sum(len(r.clip) for r in engines.stage1.asked if r.clip is not None)
    assert after == []


def test_an_estimate_knows_the_answers_of_engines_that_know_themselves_late(tmp_path: Path) -> None:
    class Late(Talker):
        def ready_if_here(self) -> None:
            self.identity = replace(self.identity, revision="1 bfloat16")

        def get_ready(self, progress: Progress) -> None:
            self.ready_if_here()

    engines = Engines(Late("looks"), Late("writes"))
    assert foreseen(tmp_path / "w", engines, "verify.on=true")[2] == []
    for engine in (engines.stage1, engines.stage2):
        engine.identity = replace(engine.identity, revision="1")
    config = load_config(None, (*QUIET, "verify.on=true"))
    with open_film(make_film(SPEC).path) as film, WorkFolder(tmp_path / "w") as folder:
        assert estimate_run(film, folder, config, engines=engines) == []


def test_an_estimate_counts_the_story(tmp_path: Path) -> None:
    given = RunInputs(slots=many_slots(tmp_path))
    engines: Any = Engines(Talker("looks"), Brief("writes"))
    with open_film(make_film(SPEC).path) as film, WorkFolder(tmp_path / "plain") as folder:
        plain = estimate_run(film, folder, load_config(None, QUIET), given, engines=engines)[1].likely
    before, outcome, _ = foreseen(tmp_path / "w", engines, "story.on=true", given=given)
    story = before[1].likely
    assert story.calls == len(engines.stage2.asked) == len(lines(outcome)) + 1 == SECTION + 2
    assert story.tokens_in > plain.tokens_in + 100 * plain.calls


def test_the_command_prints_an_estimate_and_sends_nothing(
    tmp_path: Path, shotad: Shotad, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    endpoint = ("openai.base_url=http://127.0.0.1:9/v1", "openai.model=some-model")
    settings = (*QUIET[1:], *endpoint, "openai.price_in=2.5", "openai.price_out=10")
    words = ["describe", make_film(SPEC).path, "--out", tmp_path / "w", "--engine", "openai", "--estimate"]
    said = shotad(*words, *(word for setting in settings for word in ("--set", setting)))
    assert said.code == 0
    assert "Stage I, openai (some-model):" in said.out
    assert re.search(r"calls: .*Cost: about \d", said.out, re.DOTALL)
    assert not (tmp_path / "w" / "stage1.jsonl").exists()
