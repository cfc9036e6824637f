"""The third act with engines that talk: story, second looks, candidates, choices, estimates, batches, stops."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import EngineError, Facts, Given, Progress, Reply, Request, WorkFolder, load_config
from shotad.description import Engines, Outcome, describe, foresee
from shotad.engines.fake import FakeEngine
from shotad.film import open_film
from tests.cli.conftest import shotad as shotad  # noqa: PLC0414  a fixture
from tests.cli.program import Shotad
from tests.media import make_film
from tests.runs import QUICK as KINDS, SMALL, SPEC, Talker, rows, run

QUICK = (*KINDS, *SMALL, "speech.source=none")
SUBTITLES = "WEBVTT\n\n00:00:05.400 --> 00:00:06.400\nWhere is the key, Nora?\n"


def lines(outcome: Outcome) -> list[str]:
    return [cue.text for cue in outcome.track.cues]


def foreseen(out: Path, engines: Any, *settings: str) -> tuple[Any, Outcome, Any]:
    """The estimate before a run, which asks nothing; the run; the estimate after it."""
    config = load_config(None, (*QUICK, *settings))
    with open_film(make_film(SPEC).path) as film, WorkFolder(out) as folder:
        before = foresee(film, folder, config, engines=engines)
        assert engines.looks.asked == engines.writes.asked == []
        outcome = describe(film, folder, config, engines=engines, sheet=False)
        return before, outcome, foresee(film, folder, config, engines=engines)


def test_the_story_is_told_from_line_to_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shotad.description.story.RENEW_EVERY", 2)
    subtitles = tmp_path / "film.vtt"
    subtitles.write_text(SUBTITLES)
    settings = ("story.on=true",)
    outcome, _, writes = run(tmp_path / "w", *settings, given=Given(subtitles=subtitles))
    asked = [r for r in writes.asked if r.schema and "facts" not in r.schema["properties"]]
    prompts = [r.messages[-1].text for r in asked]
    heard = lines(outcome)
    assert len(heard) >= 3
    assert heard[0] not in prompts[0]
    assert heard[0] in prompts[1]
    assert "Where is the key, Nora?" in prompts[0]
    assert "Somebody searches a house for a key." in prompts[2]
    assert len(rows(tmp_path / "w", "story")) == len(heard) // 2
    again, _, silent = run(tmp_path / "w", *settings, given=Given(subtitles=subtitles))
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


class Measures(Talker):
    """What measures for a second look, and sees nobody."""

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        self.asked += requests
        return [Reply("", notes=Facts((0,)).to_json()) for _ in requests]


def test_for_a_second_look_the_frames_are_measured_as_they_are(tmp_path: Path) -> None:
    measures = Measures("measures", wants_overlay=False, converses=False)
    outcome, looks, _ = run(tmp_path / "w", "verify.on=true", measures=measures)
    track = outcome.track
    assert len(measures.asked) == len(track.heard) > 0
    assert all(request.scene is not None and request.clip is not None for request in measures.asked)
    assert not np.array_equal(measures.asked[0].clip.images, looks.asked[0].clip.images)  # type: ignore[union-attr]
    people = [cue for cue in track.heard if re.match("She|He|They", cue.text)]
    assert people
    assert all(cue.doubt and "the detectors saw nobody" in cue.doubt.reasons for cue in people)
    again, _, _ = run(tmp_path / "w", "verify.on=true")
    doubts = [cue.doubt for cue in again.track.heard if cue.doubt]
    assert not any("nobody" in reason for doubt in doubts for reason in doubt.reasons)


def test_lines_are_sought_before_too_many_are_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shotad.description.slot_writer.UNLOOKED", 2)

    class Dies(Talker):
        def answer(self, request: Request) -> str:
            if "summarized" in str(request.schema) and len(self.asked) > 2:
                raise EngineError("The GPU has stopped working.")
            return super().answer(request)

    with pytest.raises(EngineError, match="GPU"):
        run(tmp_path / "w", "verify.on=true", looks=Talker("looks"), writes=Dies("writes"))
    assert len(rows(tmp_path / "w", "stage2")) == 2


def test_independent_candidates_and_an_engine_that_chooses(tmp_path: Path) -> None:
    settings = ("stage2.candidates=3", "stage2.draw=independent", "stage2.select=engine")
    outcome, _, writes = run(tmp_path / "w", *settings)
    chosen = rows(tmp_path / "w", "choices")
    assert chosen
    assert all(row["chosen"] == 1 for row in chosen)
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


@pytest.mark.parametrize("stage", ["looks", "writes"])
def test_what_failed_before_is_asked_last(tmp_path: Path, stage: str) -> None:
    class Fails(Talker):
        def answer(self, request: Request) -> str:
            if len(self.asked) == 1:
                raise RuntimeError("a bad moment")
            return super().answer(request)

    run(tmp_path / "w", **{stage: Fails(stage)}, given=Given(end=14.0))
    outcome, looks, writes = run(tmp_path / "w")
    asked = {"looks": looks, "writes": writes}[stage].asked
    assert asked[-1].slot_id == outcome.track.cues[0].id
    assert len(asked) > 1
    assert all(cue.heard for cue in outcome.track.cues)


def test_engines_that_read_no_prompts_are_refused_what_needs_one(tmp_path: Path) -> None:
    for setting in ("verify.on", "story.on"):
        with pytest.raises(EngineError, match=setting):
            run(tmp_path / "w", f"{setting}=true", looks=FakeEngine(), writes=FakeEngine())


def test_an_estimate_asks_nothing_and_is_kept_to(tmp_path: Path) -> None:
    engines: Any = Engines(Talker("looks"), Talker("writes"))
    settings = ("stage2.candidates=3", "stage2.draw=independent", "verify.on=true")
    before, outcome, after = foreseen(tmp_path / "w", engines, *settings)
    slots = len(lines(outcome))
    looks, writes = before.stages
    assert looks.likely.calls == 2 * slots == len(engines.looks.asked)
    assert writes.likely.calls == 3 * slots
    assert len(engines.writes.asked) <= writes.most.calls
    assert looks.likely.frames == sum(len(r.clip) for r in engines.looks.asked if r.clip is not None)
    assert after.stages == ()


def test_an_estimate_knows_what_was_measured_and_the_answers_of_engines_that_know_themselves_late(
    tmp_path: Path,
) -> None:
    class Late(Talker):
        def ready_if_here(self) -> None:
            self.identity = replace(self.identity, revision="1 bfloat16")

        def get_ready(self, progress: Progress) -> None:
            self.ready_if_here()

    measures = Measures("measures", wants_overlay=False, converses=False)
    engines = Engines(Late("looks"), Late("writes"), measures)
    assert foreseen(tmp_path / "w", engines, "verify.on=true")[2].stages == ()
    assert measures.asked
    for engine in (engines.looks, engines.writes):
        engine.identity = replace(engine.identity, revision="1")
    config = load_config(None, (*QUICK, "verify.on=true"))
    with open_film(make_film(SPEC).path) as film, WorkFolder(tmp_path / "w") as folder:
        assert foresee(film, folder, config, engines=engines).stages == ()


def test_an_estimate_counts_the_story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shotad.description.story.RENEW_EVERY", 2)
    engines: Any = Engines(Talker("looks"), Talker("writes"))
    with open_film(make_film(SPEC).path) as film, WorkFolder(tmp_path / "plain") as folder:
        plain = foresee(film, folder, load_config(None, QUICK), engines=engines).stages[1].likely
    before, outcome, _ = foreseen(tmp_path / "w", engines, "story.on=true")
    story = before.stages[1].likely
    assert story.calls == len(engines.writes.asked) == len(lines(outcome)) + len(lines(outcome)) // 2
    assert story.tokens_in > plain.tokens_in + 100 * plain.calls


def test_the_command_prints_an_estimate_and_sends_nothing(
    tmp_path: Path, shotad: Shotad, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    endpoint = ("openai.base_url=http://127.0.0.1:9/v1", "openai.model=some-model")
    settings = (*QUICK[1:], *endpoint, "openai.price_in=2.5", "openai.price_out=10")
    words = ["describe", make_film(SPEC).path, "--out", tmp_path / "w", "--engine", "openai", "--estimate"]
    said = shotad(*words, *(word for setting in settings for word in ("--set", setting)))
    assert said.code == 0
    assert "Stage I, openai (some-model):" in said.out
    assert re.search(r"calls: .*Cost: about \d", said.out, re.DOTALL)
    assert not (tmp_path / "w" / "stage1.jsonl").exists()
