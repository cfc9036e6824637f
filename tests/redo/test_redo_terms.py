"""Describing slots anew: what is refused, what others have done, and what the run had asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shotad.core import EditConflict, Given, Request, UsageError, WorkFolder, WorkFolderError, read_settings
from shotad.description import Engines, redo, understand
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from tests.media import FilmSpec, make_film
from tests.redo.redoing import again, by_hand, fresh, rows, run, track_of
from tests.review.sessions import session_of


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
    session = session_of(place)
    first, second = session.act("split", track_of(place).cues[0].id, {"at": 5}).change.cues
    session.close()
    with pytest.raises(EditConflict, match=f"{first.id} was split: {second.id} belongs to the same slot"):
        again(place, first.id, over_edits=True)
    with pytest.raises(UsageError, match="no slot of its own"):
        again(place, second.id, over_edits=True)
    assert not (place / "redo.jsonl").exists(), "nothing was asked"


def test_the_story_is_told_with_the_note_that_the_run_made(tmp_path, monkeypatch):
    monkeypatch.setattr("shotad.description.story.RENEW_EVERY", 1)

    def answer(request: Request) -> str:
        if "facts" in (request.schema or {}).get("properties", {}):
            return json.dumps({"facts": [f"Anna looks for her dog in slot {request.slot_id}."]})
        return fresh(request)

    place = tmp_path / "w"
    run(place, "story.on=true", writes=FakeEngine(answer=answer))
    assert rows(place, "story")
    seen: list[str] = []

    def listen(request: Request) -> str:
        seen.append(request.messages[-1].text)
        return fresh(request)

    before = track_of(place)
    again(place, "1", "3", writes=listen)
    assert len(seen) == 2, "the note itself is not asked for again"
    first, second, third = (f"Anna looks for her dog in slot {cue.id}." for cue in before.heard[:3])
    assert "Anna looks for her dog" not in seen[0], "nothing came before the first line"
    assert first in seen[1]
    assert second in seen[1]
    assert third not in seen[1], "what the film tells later is not known yet"
    assert before.heard[1].text in seen[1]


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

    monkeypatch.setattr("shotad.description.slot_redo.understand", noted)
    again(place, track_of(place).cues[0].id)
    assert found == [sorted({*before, place / ".lock"})]


@pytest.mark.parametrize("name", ["shots.json", "speech.json", "slots.json"])
@pytest.mark.parametrize("content", [None, '{"key": 1}'])
def test_records_that_are_gone_or_damaged_are_told(place: Path, name: str, content: str | None) -> None:
    (place / name).unlink()
    if content is not None:
        (place / name).write_text(content)
    with pytest.raises(WorkFolderError, match=r"shotad describe"):
        again(place, "1")


def test_a_folder_without_a_track_is_refused(place: Path) -> None:
    (place / "track.json").unlink()
    with pytest.raises(WorkFolderError, match="no track"):
        again(place, "1")


def test_edits_of_other_lines_are_kept_a_review_lapses_and_the_overview_is_drawn_again(place: Path) -> None:
    with pytest.raises(UsageError, match=r"no line s99999999.*nearest is s"):
        again(place, "1", "s99999999")
    assert not (place / "redo.jsonl").exists(), "nothing was asked"
    by_hand(place, lambda tree: tree["cues"][1].update(text="A person wrote this."))
    by_hand(place, lambda tree: tree.update(reviewed_by=["Ada"]))
    done, _, _ = again(place, "1", sheet=True)
    assert track_of(place).cues[1].text == "A person wrote this."
    assert track_of(place).reviewed_by == ()
    assert any("Ada" in warning for warning in done.warnings)
    assert done.sheet == place / "overview.html"
    new = done.results[0].after
    assert new is not None
    assert new.text in done.sheet.read_text(encoding="utf-8")


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


def test_another_film_is_refused(place: Path) -> None:
    told, engines = read_settings(place), Engines(FakeEngine(), FakeEngine())
    refused = pytest.raises(WorkFolderError, match="another film")
    with open_film(make_film(FilmSpec(frames=200)).path) as film, WorkFolder(place) as folder, refused:
        redo(film, folder, told, ["1"], engines=engines, sheet=False)
