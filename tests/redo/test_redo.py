"""Single slots described anew, with the fake engine, end to end on a small film: what is kept, and what is refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import (
    Identity,
    Request,
    RunInputs,
    WorkFolder,
)
from shotad.core.errors import (
    EditConflict,
    EngineError,
    UsageError,
    WorkFolderError,
)
from shotad.core.runsettings import read_settings
from shotad.description import Engines, redo
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from shotad.script import CueStatus, Maker
from shotad.script.track import to_json
from tests.media import FilmSpec, make_film
from tests.redo.redoing import Answer, again, by_hand, film_path, fresh, rows, run, track_of
from tests.review.reviewed import reviewed


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run(place := tmp_path_factory.mktemp("redo") / "w")
    return place


@pytest.fixture
def place(described: Path, tmp_path: Path) -> Path:
    """A folder in which all slots were described."""
    return Path(shutil.copytree(described, tmp_path / "w"))


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
    kept = records.keys() - {"track.json", "scripts.json", "answers.jsonl"}
    assert {n for n in kept if (place / n).read_bytes() != records[n]} == set(), "the run's own records stay"
    assert not list(place.glob(".tmp-*"))


def test_each_try_has_a_seed_of_its_own(place: Path) -> None:
    name = track_of(place).cues[1].id
    after = [again(place, name)[0].results[0].after for _ in range(3)]
    lines = [cue.text for cue in after if cue]
    assert [row["number"] for row in rows(place)] == [1, 2, 3]
    asked = {row[stage]["seed"] for row in rows(place) for stage in ("stage1", "stage2")}
    assert len(asked) == len({row["seed"] for row in rows(place)}) == len(set(lines)) == 3
    assert not asked & {row["seed"] for row in rows(place, "stage2")}
    cue = track_of(place).cues[1]
    assert set(lines) <= set(cue.candidates), "no try is lost"
    assert cue.text == lines[-1]


def test_every_later_run_keeps_the_line(place: Path) -> None:
    name = track_of(place).cues[1].id
    again(place, name, identity=Identity("other", "o", "2"))
    redone = track_of(place).cues[1]
    later = run(place, "seed=9")
    kept = next(cue for cue in later.cues if cue.id == name)
    assert (kept.text, kept.interval, kept.provenance) == (redone.text, redone.interval, redone.provenance)
    assert kept.provenance is not None
    assert Maker("Stage II", "other", "o", "2") in kept.provenance.makers
    assert set(redone.candidates) <= set(kept.candidates)
    assert "other (o)" in later.statement
    assert to_json(run(place, "seed=9")) == to_json(later), "and says the same again"


def test_a_hint_reaches_the_prompts_before_the_films_own_note(tmp_path: Path) -> None:
    run(tmp_path / "w", "prompt.note=The film plays in Rome.", "prompt.note_words=5")
    seen: list[str] = []

    def note(request: Request) -> str:
        seen.append(" ".join(" ".join(message.text for message in request.messages).split()))
        return fresh(request)

    again(tmp_path / "w", "1", looks=note, writes=note, note="  Anna\n is  the one with the hat. ")
    assert len(seen) == 2
    for text in seen:
        assert "Anna is the one with the hat." in text
        assert "The film plays in Rome." in text


def test_a_silent_answer_changes_nothing(place: Path) -> None:
    class Mute(FakeEngine):
        def generate(self, requests: Any) -> Any:
            return [replace(reply, text="", finish="silent") for reply in super().generate(requests)]

    before = (place / "track.json").read_bytes()
    told = read_settings(place)
    with open_film(film_path()) as film, WorkFolder(place) as folder:
        done = redo(film, folder, told, ["1"], engines=Engines(FakeEngine(), Mute()), sheet=False)
    assert done.results[0].after is None
    assert "says nothing" in done.results[0].reason
    assert done.files == ()
    assert (place / "track.json").read_bytes() == before
    assert rows(place)[0]["after"] is None, "the try is on record, so that the next has another seed"
    assert again(place, "1")[0].results[0].after is not None
    assert [row["number"] for row in rows(place)] == [1, 2]


def _broken(request: Request) -> str:
    raise RuntimeError("out of luck")


@pytest.mark.parametrize(
    ("looks", "writes"),
    [(_broken, fresh), (plain_answer, _broken), (plain_answer, plain_answer)],
    ids=["looks", "writes", "the same line"],
)
def test_a_failed_answer_and_the_same_line_again_change_nothing(
    place: Path, looks: Answer, writes: Answer
) -> None:
    before = (place / "track.json").read_bytes()
    (result,) = again(place, "1", looks=looks, writes=writes)[0].results
    assert result.same or ("out of luck" in result.reason and "failed" in result.reason)
    assert result.same == (looks is writes)
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

    def answer(request: Request) -> str:
        keys = (request.schema or {})["properties"]
        return json.dumps(dict(zip(keys, (old.text, *others), strict=False)))

    done, _, _ = again(place, "1", writes=answer)
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


def test_a_line_changed_by_hand_is_refused_unless_it_is_given_up(place: Path) -> None:
    name = track_of(place).cues[0].id
    machine = track_of(place).cues[0].text
    by_hand(place, lambda tree: tree["cues"][0].update(text="A person wrote this."))
    with pytest.raises(EditConflict, match=r"changed by a person.*A person wrote this.*--over-edits"):
        again(place, name)
    assert not (place / "redo.jsonl").exists(), "nothing was asked"
    again(place, name, over_edits=True)
    cue = track_of(place).cues[0]
    assert cue.text.startswith("A cat")
    assert "A person wrote this." in cue.candidates
    assert cue.edited is not None
    assert cue.edited.machine is not None
    assert cue.edited.machine.text == machine
    again(place, name)
    assert len(rows(place)) == 2, "a line that was described anew may be so again"


def test_a_slot_whose_time_a_persons_line_has_is_refused(place: Path) -> None:
    first = track_of(place).cues[0]
    start = first.interval.start + 0.5
    bell = {"start": start, "end": start + 1, "text": "A bell."}
    by_hand(place, lambda tree: tree["cues"].append(bell))
    with pytest.raises(EditConflict, match=r"belongs to h\d+, which a person edited: 'A bell\.'"):
        again(place, first.id)
    with pytest.raises(UsageError, match="has no slot"):
        again(place, next(c.id for c in track_of(place).cues if c.id.startswith("h")))


def test_half_of_a_line_is_not_described_anew(place: Path) -> None:
    first = track_of(place).cues[0].id
    with reviewed(place, gone=True) as (_, page):
        split = page.do("split", first, at=5)
    second = next(line["id"] for line in split["lines"] if line["id"].startswith("h"))
    with pytest.raises(EditConflict, match=f"{first} was split: {second} belongs to the same slot"):
        again(place, first, over_edits=True)
    with pytest.raises(UsageError, match="no slot of its own"):
        again(place, second, over_edits=True)
    assert not (place / "redo.jsonl").exists(), "nothing was asked"


def test_the_story_is_told_with_the_note_that_the_run_made(tmp_path):
    """The memory learns section by section, of eight lines each."""
    slots = tmp_path / "slots.csv"
    slots.write_text("start,end\n" + "".join(f"{0.8 * n:.1f},{0.8 * n + 0.8:.1f}\n" for n in range(24)))

    def answer(request: Request) -> str:
        if "facts" in (request.schema or {}).get("properties", {}):
            return json.dumps({"facts": [f"Anna looks for her dog in slot {request.slot_id}."]})
        return fresh(request)

    place = tmp_path / "w"
    how = ("story.on=true", "stage2.fit=none", "stage2.repair=none")
    run(place, *how, given=RunInputs(slots=slots), writes=FakeEngine(answer=answer))
    assert len(rows(place, "story")) == 3
    seen: list[str] = []

    def listen(request: Request) -> str:
        seen.append(request.messages[-1].text)
        return fresh(request)

    before = track_of(place)
    again(place, "1", "18", writes=listen)
    assert len(seen) == 2, "the note itself is not asked for again"
    assert len(before.heard) == 24
    first, second, third = (f"Anna looks for her dog in slot {cue.id}." for cue in before.heard[7::8])
    assert "Anna looks for her dog" not in seen[0], "nothing came before the first line"
    assert first in seen[1]
    assert second in seen[1]
    assert third not in seen[1], "what the film tells later is not known yet"
    assert before.heard[16].text in seen[1]


def test_a_run_over_a_part_does_not_bound_a_redo(tmp_path: Path) -> None:
    place = tmp_path / "w"
    run(place)
    run(place, given=RunInputs(start=6.0, end=14.0))
    assert read_settings(place).given.end == 14.0
    assert again(place, "1")[0].results[0].after is not None


@pytest.mark.parametrize("name", ["shots.json", "speech.json", "slots.json"])
def test_records_that_are_gone_or_damaged_are_told(place: Path, name: str) -> None:
    whole = (place / name).read_bytes()
    (place / name).write_text('{"key": 1}')
    with pytest.raises(WorkFolderError, match=r"shotad describe"):
        again(place, "1")
    (place / name).unlink()
    with pytest.raises(WorkFolderError, match=r"shotad describe"):
        again(place, "1")
    (place / name).write_bytes(whole)
    (place / "track.json").unlink()
    with pytest.raises(WorkFolderError, match="no track"):
        again(place, "1")


def test_edits_of_other_lines_are_kept_a_review_lapses_and_the_worksheet_is_drawn_again(place: Path) -> None:
    with pytest.raises(UsageError, match=r"no line s99999999.*nearest is s"):
        again(place, "1", "s99999999")
    assert not (place / "redo.jsonl").exists(), "nothing was asked"
    by_hand(place, lambda tree: tree["cues"][1].update(text="A person wrote this."))
    by_hand(place, lambda tree: tree.update(reviewed_by=["Ada"]))
    done, _, _ = again(place, "1", sheet=True)
    assert track_of(place).cues[1].text == "A person wrote this."
    assert track_of(place).reviewed_by == ()
    assert any("Ada" in warning for warning in done.warnings)
    assert done.sheet == place / "worksheet.html"
    new = done.results[0].after
    assert new is not None
    assert new.text in done.sheet.read_text(encoding="utf-8")


def test_a_line_may_be_looked_for_in_the_frames(place: Path) -> None:
    asked: list[Request] = []

    def look(request: Request) -> str:
        asked.append(request)
        return plain_answer(request)

    again(place, "1", looks=look, more=("verify.on=true",))
    assert [one for one in asked if one.schema is not None and one.clip is not None]


def test_another_film_is_refused(place: Path) -> None:
    told, engines = read_settings(place), Engines(FakeEngine(), FakeEngine())
    refused = pytest.raises(WorkFolderError, match="another film")
    with open_film(make_film(FilmSpec(frames=200)).path) as film, WorkFolder(place) as folder, refused:
        redo(film, folder, told, ["1"], engines=engines, sheet=False)


def test_no_line_is_written_over_song_or_a_shout_unless_one_is_asked_for(tmp_path: Path) -> None:
    place, song = tmp_path / "w", ("speech.over_lyrics=true",)
    run(place, *song)
    record = json.loads((place / "slots.json").read_text())
    record["slots"][0]["voice"], record["slots"][1]["voice"] = "song", "shout"
    (place / "slots.json").write_text(json.dumps(record))
    sung, shout, *others = run(place, *song).cues
    assert sung.heard
    assert (shout.status, shout.text) == (CueStatus.SILENT, "")
    assert shout.reason.startswith("a shout or speech likely here; ")
    assert all(cue.heard for cue in others)
    done, _, _ = again(place, shout.id)
    assert done.results[0].after is not None
    assert track_of(place).cues[1].text.startswith("A cat sits")
    # Without the setting song is left alone too; what a person asked for stays, whatever is marked.
    run(other := tmp_path / "v")
    record = json.loads((other / "slots.json").read_text())
    record["slots"][0]["voice"] = "song"
    (other / "slots.json").write_text(json.dumps(record))
    assert run(other).cues[0].reason.startswith("song likely here; ")
    assert run(place, *song).cues[1].text.startswith("A cat sits")
