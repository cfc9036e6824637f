"""Single slots described anew, with the fake engine, end to end on a small film."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import EngineError, Identity, Request, WorkFolder, read_settings
from shotad.description import Engines, redo
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from shotad.script import CueStatus, Maker, to_json
from tests.redo.redoing import again, film_path, fresh, rows, run, says, track_of


def test_the_new_line_takes_the_place_of_the_old_and_the_rest_stays(place: Path) -> None:
    before = track_of(place)
    records = {p.name: p.read_bytes() for p in place.iterdir() if p.suffix in (".jsonl", ".json")}
    done, looks, writes = again(place, before.cues[1].id)
    after = track_of(place)
    old, new = before.cues[1], after.cues[1]
    assert (looks.calls, writes.calls) == (1, 1)
    assert new.text.startswith("A cat sits")
    assert old.text in new.candidates
    assert new.candidates[new.chosen or 0] == new.text
    assert new.edited is not None
    assert (new.edited.source, new.edited.machine) == ("redo", old.machine)
    assert [c for c in after.cues if c.id != new.id] == [c for c in before.cues if c.id != old.id]
    assert [one.after for one in done.results] == [new]
    assert {path.suffix for path in done.files} == {".json", ".vtt", ".srt", ".xml", ".csv"}
    assert all(new.text in path.read_text(encoding="utf-8") for path in done.files)
    (row,) = rows(place)
    assert (row["slot"], row["number"], row["after"]) == (new.id, 1, new.text)
    assert row["stage1"]["prompt"][0]["text"]
    assert row["stage2"]["candidates"] == [new.text]
    kept = records.keys() - {"track.json", "scripts.json"}
    assert {n for n in kept if (place / n).read_bytes() != records[n]} == set(), "the run's own records stay"
    assert not list(place.glob(".tmp-*"))


def test_each_try_has_a_seed_of_its_own(place: Path) -> None:
    name = track_of(place).cues[1].id
    lines = []
    for _ in range(3):
        done, _, _ = again(place, name)
        assert done.results[0].after is not None
        lines.append(done.results[0].after.text)
    assert len({row["seed"] for row in rows(place)}) == 3
    assert [row["number"] for row in rows(place)] == [1, 2, 3]
    original = {row["seed"] for row in rows(place, "stage2")}
    asked = {row["stage2"]["seed"] for row in rows(place)} | {row["stage1"]["seed"] for row in rows(place)}
    assert len(asked) == 3
    assert not asked & original
    assert len(set(lines)) == 3
    cue = track_of(place).cues[1]
    assert set(lines) <= set(cue.candidates), "no try is lost"
    assert cue.text == lines[-1]


@pytest.mark.parametrize("more", [(), ("seed=9",)], ids=["as before", "with another seed"])
def test_every_later_run_keeps_the_line(place: Path, more: tuple[str, ...]) -> None:
    name = track_of(place).cues[1].id
    again(place, name, identity=Identity("other", "o", "2"))
    redone = track_of(place).cues[1]
    later = run(place, *more)
    kept = next(cue for cue in later.cues if cue.id == name)
    assert (kept.text, kept.interval, kept.provenance) == (redone.text, redone.interval, redone.provenance)
    assert kept.provenance is not None
    assert Maker("Stage II", "other", "o", "2") in kept.provenance.makers
    assert set(redone.candidates) <= set(kept.candidates)
    assert "other (o)" in later.statement
    assert to_json(run(place, *more)) == to_json(later), "and says the same again"


@pytest.mark.parametrize("hint", ["Anna is the one with the hat.", "  Anna\n is  the one with the hat. "])
def test_a_hint_reaches_the_prompts_before_the_films_own_note(tmp_path: Path, hint: str) -> None:
    place = tmp_path / "w"
    run(place, "prompt.note=The film plays in Rome.", "prompt.note_words=5")
    seen: list[str] = []

    def note(request: Request) -> str:
        seen.append(" ".join(message.text for message in request.messages))
        return fresh(request)

    again(place, "1", looks=note, writes=note, note=hint)
    assert len(seen) == 2
    for text in seen:
        assert "Anna is the one with the hat." in text
        assert "The film plays in Rome." in " ".join(text.split())


def test_a_silent_answer_changes_nothing(place: Path) -> None:
    class Mute(FakeEngine):
        def generate(self, requests: Any) -> Any:
            return [replace(reply, text="", finish="silent") for reply in super().generate(requests)]

    before = (place / "track.json").read_bytes()
    told = read_settings(place)
    with open_film(film_path()) as film, WorkFolder(place) as folder:
        done = redo(film, folder, told, ["1"], engines=Engines(FakeEngine(), Mute()), sheet=False)
    assert done.results[0].after is None
    assert "silent" in done.results[0].reason
    assert done.files == ()
    assert (place / "track.json").read_bytes() == before
    assert rows(place)[0]["after"] is None, "the try is on record, so that the next has another seed"
    assert again(place, "1")[0].results[0].after is not None
    assert [row["number"] for row in rows(place)] == [1, 2]


def _broken(request: Request) -> str:
    raise RuntimeError("out of luck")


@pytest.mark.parametrize("stage", ["looks", "writes", "neither"])
def test_a_failed_answer_and_the_same_line_again_change_nothing(place: Path, stage: str) -> None:
    before = (place / "track.json").read_bytes()
    acts = {
        "looks": (_broken, fresh),
        "writes": (plain_answer, _broken),
        "neither": (plain_answer, plain_answer),
    }
    looks, writes = acts[stage]
    (result,) = again(place, "1", looks=looks, writes=writes)[0].results
    if stage == "neither":
        assert result.same
    else:
        assert "out of luck" in result.reason
        assert "failed" in result.reason
    assert (place / "track.json").read_bytes() == before


def test_what_is_done_when_an_engine_stops_the_run_is_kept(place: Path) -> None:
    class Spent(FakeEngine):
        def generate(self, requests: Any) -> Any:
            if self.calls:
                raise EngineError("The quota is spent.")
            return super().generate(requests)

    before, told, quota = track_of(place), read_settings(place), pytest.raises(EngineError, match="quota")
    engines = Engines(FakeEngine(), Spent(answer=fresh))
    with open_film(film_path()) as film, WorkFolder(place) as folder, quota:
        redo(film, folder, told, ["1", "2"], engines=engines, sheet=False)
    after = track_of(place)
    assert after.cues[0].text.startswith("A cat sits")
    assert after.cues[1:] == before.cues[1:]
    assert len(rows(place)) == 1
    assert after.cues[0].text in next(place.glob("*.srt")).read_text()


def test_what_was_seen_before_a_redo_was_stopped_is_not_asked_for_again(place: Path) -> None:
    def stops(request: Request) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        again(place, "1", "2", writes=stops)
    done, looks, writes = again(place, "1", "2", "3")
    assert (looks.calls, writes.calls) == (1, 3)
    assert len(done.files) > 0
    assert all(one.after for one in done.results)
    assert again(place, "1")[1].calls == 1, "what is done is asked for anew"
    assert not (place / "redo-looks.jsonl").exists()


def test_of_several_new_candidates_another_than_the_old_line_is_taken(tmp_path: Path) -> None:
    place = tmp_path / "w"
    run(place, "stage2.candidates=3")
    old = track_of(place).cues[0]
    others = ("A dog barks at a bird.", "Rain falls on the roof.")
    done, _, _ = again(place, "1", writes=says(old.text, *others))
    new = done.results[0].after
    assert new is not None
    assert new.text in others
    assert {old.text, *others, *old.candidates} == set(new.candidates)


def test_a_slot_that_failed_gets_a_line(tmp_path: Path) -> None:
    place = tmp_path / "w"
    run(place, writes=FakeEngine(answer=_broken))
    failed = track_of(place).cues[0]
    assert failed.status is CueStatus.FAILED
    again(place, failed.id)
    cue = track_of(place).cues[0]
    assert cue.heard
    assert cue.edited is not None
    assert [field.value for field in cue.edited.fields] == ["text", "status"]
    assert next(c for c in run(place).cues if c.id == failed.id).text == cue.text
