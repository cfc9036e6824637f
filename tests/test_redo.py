"""Single slots described anew, with the fake engine, end to end on a small film."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.config import Config, load_config
from shotad.engines.base import Engine, Identity, Request
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.errors import ConfigError, EditConflict, EngineError, FilmError, UsageError, WorkFolderError
from shotad.film.reader import open_film
from shotad.pipeline import describe
from shotad.prepare import Given
from shotad.redo import Redone, film_of, redo
from shotad.redo.desk import other_than
from shotad.runsettings import RunSettings, changed, read_settings, write_settings
from shotad.script.cue import CueStatus, Maker
from shotad.script.track import Track, load_track, to_json
from shotad.understand import understand
from shotad.workfolder import WorkFolder
from shotad.writing import Engines
from tests.media import FilmSpec, make_film

SPEC = FilmSpec(frames=500, cuts=(100, 210, 330, 420))
SETTINGS = (
    "engine=fake",
    "speech.source=none",
    "slots.find_credits=false",
    "scale.method=none",
    "threads.features=grid",
    "frames.min_pixels=12544",
    "frames.max_pixels=25088",
)

Answer = Callable[[Request], str]


def film_path() -> Path:
    return make_film(SPEC).path


def settings(*more: str) -> Config:
    return load_config(None, (*SETTINGS, *more))


def run(
    place: Path, *more: str, given: Given | None = None, writes: Engine | None = None, **options: Any
) -> Track:
    """A run of describe into ``place``, with its settings kept."""
    config, given = settings(*more), given or Given()
    engines = Engines(FakeEngine(), writes or FakeEngine())
    with open_film(film_path()) as film, WorkFolder(place) as folder:
        write_settings(folder, config, film_path(), given, assignments=more)
        return describe(film, folder, config, given, engines=engines, sheet=False, **options).track


def again(
    place: Path,
    *names: str,
    looks: Answer | None = None,
    writes: Answer | None = None,
    identity: Identity | None = None,
    more: tuple[str, ...] = (),
    sheet: bool = False,
    **options: Any,
) -> tuple[Redone, FakeEngine, FakeEngine]:
    """A redo in ``place``; what came of it and both engines."""
    told = read_settings(place)
    engines = Engines(FakeEngine(answer=looks or plain_answer), FakeEngine(answer=writes or fresh))
    if identity is not None:
        engines.writes.identity = identity
    config = changed(told.config, assignments=more)
    with open_film(film_path()) as film, WorkFolder(place) as folder:
        done = redo(film, folder, told, names, config=config, engines=engines, sheet=sheet, **options)
    return done, engines.looks, engines.writes  # type: ignore[return-value]


def fresh(request: Request) -> str:
    """A line that tells the seed."""
    if request.schema is None:
        return plain_answer(request)
    return json.dumps(dict.fromkeys(request.schema["properties"], f"A cat sits by {request.seed}."))


def says(*lines: str) -> Answer:
    def answer(request: Request) -> str:
        keys = request.schema["properties"] if request.schema else ()
        return json.dumps(dict(zip(keys, lines, strict=False)))

    return answer


def rows(place: Path, name: str = "redo") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place / f"{name}.jsonl").read_text().splitlines()]


def track_of(place: Path) -> Track:
    return load_track(place / "track.json")


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("redo") / "w"
    run(place)
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
    kept = {name for name in records if name != "track.json"}
    assert {n for n in kept if (place / n).read_bytes() != records[n]} == set(), "the run's own records stay"
    assert not list(place.glob(".tmp-*"))


def test_scripts_are_written_again_and_carry_the_new_line(place: Path) -> None:
    done, _, _ = again(place, "1")
    text = done.results[0].after
    assert text is not None
    assert {path.suffix for path in done.files} == {".json", ".vtt", ".srt", ".xml", ".csv"}
    for path in done.files:
        assert text.text in path.read_text(encoding="utf-8")


def test_the_spoken_end_is_that_of_the_new_line(place: Path) -> None:
    old = track_of(place).cues[0]
    again(place, old.id, writes=says("Two words."))
    new = track_of(place).cues[0]
    assert new.interval.start == old.interval.start
    assert new.interval.duration == pytest.approx(2 * 0.375)
    again(place, old.id, writes=says("These are now rather more words."))
    assert track_of(place).cues[0].interval.duration == pytest.approx(6 * 0.375)


def test_the_record_holds_both_stages_in_full(place: Path) -> None:
    name = track_of(place).cues[1].id
    again(place, name, identity=Identity("other", "o", "2"), note="It is Anna.")
    (row,) = rows(place)
    assert (row["slot"], row["number"], row["note"]) == (name, 1, "It is Anna.")
    assert "Somebody" in row["stage1"]["raw"]
    assert row["stage1"]["prompt"][0]["text"]
    assert row["stage2"]["candidates"] == [row["after"]]
    assert row["stage2"]["maker"] == {"engine": "other", "model": "o", "revision": "2"}
    assert row["before"] != row["after"]


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


def test_slots_do_not_share_seeds(place: Path) -> None:
    names = [cue.id for cue in track_of(place).cues[:2]]
    again(place, *names)
    assert len({row["seed"] for row in rows(place)}) == 2


def test_a_redone_line_is_the_same_from_the_same_start(place: Path, tmp_path: Path) -> None:
    twin = Path(shutil.copytree(place, tmp_path / "twin"))
    for folder in (place, twin):
        again(folder, "1", "2")
    assert (place / "track.json").read_bytes() == (twin / "track.json").read_bytes()
    assert (place / "redo.jsonl").read_bytes() == (twin / "redo.jsonl").read_bytes()


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
    assert "other (o 2)" in later.statement
    assert to_json(run(place, *more)) == to_json(later), "and says the same again"


def test_a_later_run_asks_nothing_again(place: Path) -> None:
    again(place, "1")
    writes = FakeEngine()
    run(place, writes=writes)
    assert writes.calls == 0


def test_discarding_edits_gives_the_machines_line_back(place: Path) -> None:
    before = track_of(place)
    again(place, "1")
    assert run(place, discard_edits=True) == before


def test_the_old_line_can_be_chosen_again_by_hand(place: Path) -> None:
    old = track_of(place).cues[0]
    again(place, old.id)
    tree = json.loads((place / "track.json").read_text())
    tree["cues"][0]["chosen"] = tree["cues"][0]["candidates"].index(old.text)
    (place / "track.json").write_text(json.dumps(tree))
    assert track_of(place).cues[0].text == old.text
    assert run(place).cues[0].text == old.text


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


@pytest.mark.parametrize("stage", ["looks", "writes"])
def test_a_failed_answer_changes_nothing_and_says_why(place: Path, stage: str) -> None:
    before = (place / "track.json").read_bytes()
    looks, writes = (_broken, fresh) if stage == "looks" else (plain_answer, _broken)
    done, _, _ = again(place, "1", looks=looks, writes=writes)
    assert "out of luck" in done.results[0].reason
    assert "failed" in done.results[0].reason
    assert (place / "track.json").read_bytes() == before


def test_a_failure_takes_no_other_slot_along(place: Path) -> None:
    bad = track_of(place).cues[0].id

    def stumble(request: Request) -> str:
        return _broken(request) if request.slot_id == bad else fresh(request)

    done, _, _ = again(place, "1", "2", writes=stumble)
    assert [one.after is None for one in done.results] == [True, False]
    assert track_of(place).cues[1].text.startswith("A cat")


def test_what_is_done_when_an_engine_stops_the_run_is_kept(place: Path) -> None:
    class Spent(FakeEngine):
        def generate(self, requests: Any) -> Any:
            if self.calls:
                raise EngineError("The quota is spent.")
            return super().generate(requests)

    before = track_of(place)
    told = read_settings(place)
    engines = Engines(FakeEngine(), Spent(answer=fresh))
    with (
        open_film(film_path()) as film,
        WorkFolder(place) as folder,
        pytest.raises(EngineError, match="quota"),
    ):
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


def test_a_line_too_long_is_left_out(place: Path) -> None:
    done, _, _ = again(place, "1", writes=says("word " * 60))
    assert "dropped" in done.results[0].reason


def test_the_same_line_again_is_no_change(place: Path) -> None:
    before = (place / "track.json").read_bytes()
    done, _, _ = again(place, "1", writes=plain_answer)
    assert done.results[0].same
    assert (place / "track.json").read_bytes() == before


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


def test_candidates_that_say_the_old_line_are_left_out_with_what_is_noted_of_them() -> None:
    record = {"candidates": ["A.", "B.", "C."], "unseen": {"0": ["a"], "2": ["c"]}, "more": 1}
    assert other_than(record, "A.") == {"candidates": ["B.", "C."], "unseen": {"1": ["c"]}, "more": 1}
    assert other_than(record, "D.") is record
    only = {"candidates": ["A."]}
    assert other_than(only, "A.") is only


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
    tree = json.loads((place / "track.json").read_text())
    machine = tree["cues"][0]["text"]
    tree["cues"][0]["text"] = "A person wrote this."
    (place / "track.json").write_text(json.dumps(tree))
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
    tree = json.loads((place / "track.json").read_text())
    start = first.interval.start + 0.5
    tree["cues"].append({"start": start, "end": start + 1, "text": "A bell."})
    (place / "track.json").write_text(json.dumps(tree))
    with pytest.raises(EditConflict, match=r"belongs to h\d+, which a person edited: 'A bell\.'"):
        again(place, first.id)
    with pytest.raises(UsageError, match="has no slot"):
        again(place, next(c.id for c in track_of(place).cues if c.id.startswith("h")))


def test_edits_of_other_lines_are_kept(place: Path) -> None:
    tree = json.loads((place / "track.json").read_text())
    tree["cues"][1]["text"] = "A person wrote this."
    (place / "track.json").write_text(json.dumps(tree))
    again(place, "1")
    assert [cue.text for cue in track_of(place).cues][1] == "A person wrote this."


def test_a_review_lapses(place: Path) -> None:
    tree = json.loads((place / "track.json").read_text())
    tree["reviewed_by"] = ["Ada"]
    (place / "track.json").write_text(json.dumps(tree))
    done, _, _ = again(place, "1")
    assert track_of(place).reviewed_by == ()
    assert any("Ada" in warning for warning in done.warnings)


def test_an_unknown_slot_is_refused_before_anything_is_asked(place: Path) -> None:
    with pytest.raises(UsageError, match=r"no line s99999999.*nearest is s"):
        again(place, "1", "s99999999")
    assert not (place / "redo.jsonl").exists()


def test_an_engine_that_knows_the_last_lines_is_told_those_before_the_slot(place: Path) -> None:
    heard: list[tuple[str, ...]] = []

    class Remembers(FakeEngine):
        def __init__(self) -> None:
            super().__init__(answer=fresh)
            self.abilities = replace(self.abilities, uses_history=True)

        def generate(self, requests: Any) -> Any:
            heard.extend(request.history for request in requests)
            return super().generate(requests)

    track = track_of(place)
    told = read_settings(place)
    with open_film(film_path()) as film, WorkFolder(place) as folder:
        done = redo(film, folder, told, ["2", "3"], engines=Engines(FakeEngine(), Remembers()), sheet=False)
    new = done.results[0].after
    assert new is not None
    assert heard == [(track.heard[0].text,), (track.heard[0].text, new.text)]


def test_the_story_is_told_with_the_note_that_the_run_made(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        if request.schema is not None:
            return fresh(request)
        return "Anna looks for her dog."

    place = tmp_path / "w"
    run(place, "story.on=true", "story.renew_every=1", writes=FakeEngine(answer=answer))
    assert rows(place, "story")
    seen: list[str] = []

    def listen(request: Request) -> str:
        seen.append(request.messages[-1].text)
        return fresh(request)

    before = track_of(place)
    again(place, "1", "3", writes=listen)
    assert len(seen) == 2, "the note itself is not asked for again"
    assert "Anna looks for her dog." not in seen[0], "nothing came before the first line"
    assert "Anna looks for her dog." in seen[1]
    assert before.heard[1].text in seen[1]


def test_a_line_may_be_looked_for_in_the_frames(place: Path) -> None:
    asked: list[int] = []

    def look(request: Request) -> str:
        if request.schema is None:
            return plain_answer(request)
        asked.append(0 if request.clip is None else len(request.clip))
        return plain_answer(request)

    again(place, "1", looks=look, more=("verify.on=true",))
    assert asked
    assert min(asked) > 0


def test_given_slots_are_described_anew_as_they_were_given(tmp_path: Path) -> None:
    slots = tmp_path / "slots.csv"
    slots.write_text("start,end\n1.0,1.5\n4.0,7.0\n")
    place = tmp_path / "w"
    run(place, given=Given(slots=slots))
    slots.unlink()
    before = (place / "slots.json").read_bytes()
    done, _, _ = again(place, "0:04", writes=says("A cat."))
    assert done.results[0].after is not None
    assert done.results[0].after.id == "s00004000"
    assert (place / "slots.json").read_bytes() == before


def test_a_run_over_a_part_does_not_bound_a_redo(tmp_path: Path) -> None:
    place = tmp_path / "w"
    run(place)
    run(place, given=Given(start=6.0, end=14.0))
    assert read_settings(place).given.end == 14.0
    assert again(place, "1")[0].results[0].after is not None


def test_nothing_for_a_while_stands_in_the_work_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed redo would leave it there, and the next run would stumble over it."""
    before = sorted(place.iterdir())
    found: list[list[Path]] = []

    def noted(*given: Any, **named: Any) -> Any:
        found.append(sorted(place.iterdir()))
        return understand(*given, **named)

    monkeypatch.setattr("shotad.redo.understand", noted)
    again(place, track_of(place).cues[0].id)
    assert found == [sorted({*before, place / ".lock"})]


def test_the_overview_is_drawn_again(place: Path) -> None:
    done, _, _ = again(place, "1", sheet=True)
    assert (place / "overview.html") in done.sheet
    new = done.results[0].after
    assert new is not None
    assert new.text in (place / "overview.html").read_text(encoding="utf-8")


def test_a_folder_without_a_track_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "w"
    run(place)
    (place / "track.json").unlink()
    with pytest.raises(WorkFolderError, match="no track"):
        again(place, "1")


@pytest.mark.parametrize("name", ["shots.json", "speech.json", "slots.json"])
@pytest.mark.parametrize("content", [None, '{"key": 1}'])
def test_records_that_are_gone_or_damaged_are_told(place: Path, name: str, content: str | None) -> None:
    (place / name).unlink()
    if content is not None:
        (place / name).write_text(content)
    with pytest.raises(WorkFolderError, match=r"shotad describe"):
        again(place, "1")


def test_another_film_is_refused(place: Path) -> None:
    other = make_film(FilmSpec(frames=200)).path
    told = read_settings(place)
    with (
        open_film(other) as film,
        WorkFolder(place) as folder,
        pytest.raises(WorkFolderError, match="another film"),
    ):
        redo(film, folder, told, ["1"], engines=Engines(FakeEngine(), FakeEngine()), sheet=False)


def test_the_film_is_found_where_it_was_or_beside_the_folder(tmp_path: Path) -> None:
    place = tmp_path / "movie.shotad"
    place.mkdir()
    told = RunSettings(Config(), tmp_path / "gone" / "movie.mp4", Given())
    with pytest.raises(FilmError, match=r"neither at .*gone.* nor at .*movie\.mp4.*--film"):
        film_of(place, told, "movie.mp4")
    (tmp_path / "movie.mp4").touch()
    assert film_of(place, told, "movie.mp4") == tmp_path / "movie.mp4"
    assert film_of(place, replace(told, film=None), "movie.mp4") == tmp_path / "movie.mp4"
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "movie.mp4").touch()
    assert film_of(place, told, "movie.mp4") == tmp_path / "gone" / "movie.mp4"


def test_settings_that_plan_slots_cannot_be_changed_for_one() -> None:
    with pytest.raises(ConfigError, match="settings of slots"):
        changed(Config(), assignments=["slots.seconds_per_word=0.2"])
