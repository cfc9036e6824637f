"""What the page shows of film and lines, and findings as they arise."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Config, Interval, load_config
from shotad.description import lint_track
from shotad.review.details import LOCAL, engines_view
from shotad.review.findings import Findings
from shotad.review.session import Session
from shotad.review.views import changed_view, film_view, formats_view, line_view
from shotad.script import Finding, Voiced, line_stamp
from shotad.script.guidelines import FILE as ACCEPTED
from tests.review.boardfilm import Tabs, cues_of, make_folder, open_session

Opened = tuple[Session, Findings]


def opened_at(place: Path) -> Iterator[Opened]:
    session = open_session(place, Tabs(), reviewer="Ann")
    found = Findings(session, Tabs(), pause=0.0, first=0.0)
    assert found.settle()
    yield session, found
    found.close()
    session.close()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    yield from opened_at(make_folder(tmp_path / "w", "lint.parse=words", "engine=embedded"))


def film_of(opened: Opened) -> dict[str, object]:
    session, found = opened
    return film_view(session, findings=found, playable={"state": "none"}, voice={"name": "v"})


def line_of(opened: Opened, name: str = "s00009000") -> dict[str, object]:
    return line_view(opened[0].scene(), opened[0].cue(name), opened[1])


def test_the_film_is_all_that_the_page_needs_and_json(opened):
    view = json.loads(json.dumps(film_of(opened)))
    assert view["film"] == {
        "name": "a film.mp4", "title": "a film", "duration": 60.0, "frame_rate": 25.0,
    }  # fmt: skip
    assert view["reviewer"] == "Ann"
    assert [line["id"] for line in view["lines"]] == ["s00001000", "s00009000", "s00020000"]
    assert view["speech"][0] == {"start": 6.0, "end": 8.0, "kind": "speech"}
    assert view["free"] == [[0.0, 5.75], [8.25, 29.75], [33.25, 60.0]]
    assert view["slots"][1] == {"id": "s00009000", "start": 9.0, "end": 13.0, "words": 10, "by_hand": False}
    assert view["progress"] == {"lines": 3, "machine": 3, "edited": 0, "accepted": 0, "dropped": 0, "by": []}
    assert view["history"] == {"undo": None, "redo": None, "undo_line": None, "redo_line": None}
    assert view["engines"] == {
        "stage1": "the embedded observer", "stage2": "the embedded narrator", "local": True, "notice": LOCAL,
        "notes": False,
    }  # fmt: skip
    opened[0].act("accept", "s00009000", {})
    assert film_of(opened)["progress"] == {
        "lines": 3, "machine": 2, "edited": 0, "accepted": 1, "dropped": 0, "by": ["Ann"],
    }  # fmt: skip


@pytest.mark.parametrize("text", [None, "{", '{"shots": [{"index": 0, "thread": "a", "scale": "medium"}]}'])
def test_without_film_grammar_shots_are_bare(opened, text):
    path = opened[0].folder / "grammar.json"
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    assert {(shot["thread"], shot["scale"]) for shot in film_of(opened)["shots"]} == {(None, None)}


def test_a_format_whose_package_is_missing_is_told_to_be(monkeypatch):
    assert all(form["ready"] and form["why"] == "" for form in formats_view())
    monkeypatch.setitem(sys.modules, "docx", None)
    formats = {form["name"]: form for form in formats_view()}
    assert not formats["docx"]["ready"]
    assert "python-docx" in formats["docx"]["why"]
    assert "shotad[documents]" in formats["docx"]["why"]
    assert formats["xlsx"]["ready"]
    assert formats["vtt"]["ready"]


def test_a_spoken_line_tells_how_long_its_voice_took_and_other_languages_count_as_they_are_written(tmp_path):
    one, *others = cues_of({1.0: "A cat sleeps.", 9.0: "Rain falls."})
    made = Voiced("v", "A cat.", Interval(1.0, 2.2), line_stamp(one.interval, one.text), 1.1, ("cut",))
    place = make_folder(tmp_path / "w", "lint.parse=words", cues=(replace(one, voiced=made), *others))
    for opened in opened_at(place):
        view = line_of(opened, "s00001000")
        assert view["seconds"] == 1.2
        assert view["spoken"] == {"at": [1.0, 2.2], "text": "A cat."}
    cues = cues_of({1.0: "她打开门。"}, "zh")
    place = make_folder(tmp_path / "zh", "lint.parse=words", "language=zh", lines={1.0: "x"}, cues=cues)
    for opened in opened_at(place):
        view = line_of(opened, "s00001000")
        assert (view["words"], view["unit"]) == (4, "character")
        assert view["allowed"] > 4


def test_slots_that_come_and_go_are_told_with_the_change(opened):
    session, found = opened
    done = session.act("add_slot", "", {"start": 40.0, "end": 43.0})
    view = changed_view(session, done, found)
    assert [slot["id"] for slot in view["slots"] if slot["by_hand"]] == ["s00040000"]
    line = next(line for line in view["lines"] if line["id"] == "s00040000")
    assert (line["status"], line["heard"], line["reason"]) == ("silent", False, "added by a person")
    assert (line["slot"], line["words"], line["allowed"], line["seconds"]) == ("s00040000", 0, 8, None)
    done = session.act("remove_slot", "s00009000", {})
    view = changed_view(session, done, found)
    assert view["gone"] == ["s00009000"]
    assert "s00009000" not in {slot["id"] for slot in view["slots"]}
    assert [line["id"] for line in view["lines"]] == ["s00001000", "s00020000"]
    back = changed_view(session, session.undo(), found)
    assert "s00009000" in {slot["id"] for slot in back["slots"]}
    assert "s00009000" in {line["id"] for line in back["lines"]}


def test_a_server_is_named_before_pictures_go_there():
    def served_at(url: str) -> dict[str, object]:
        return engines_view(load_config(None, ("engine=openai", f"openai.base_url={url}", "openai.model=m")))

    view = served_at("https://api.example.org/v1")
    assert (view["local"], view["stage1"]) == (False, "openai (m)")
    assert "Frames of the film" in view["notice"]
    assert "api.example.org" in view["notice"]
    assert served_at("http://localhost:8000/v1")["local"] is True
    view = engines_view(Config(engine="nobody"))
    assert (view["stage1"], view["local"]) == (None, False)
    assert "nobody" in view["notice"]


@pytest.fixture
def opened_at_place() -> Iterator[Callable[[Path], tuple[Session, Findings, Tabs]]]:
    """Opens a folder and its findings; all are closed at the end."""
    made: list[tuple[Findings, Session]] = []

    def make(place: Path) -> tuple[Session, Findings, Tabs]:
        tabs = Tabs()
        session = open_session(place, tabs)
        found = Findings(session, tabs, pause=0.0, first=0.0)
        made.append((found, session))
        assert found.settle()
        return session, found, tabs

    yield make
    for found, session in made:
        found.close()
        session.close()


def words(place: Path) -> Path:
    return make_folder(place, "lint.parse=words")


def rules(found: Sequence[Finding]) -> list[str]:
    return [one.rule for one in found]


def act(session: Session, found: Findings, name: str, line: str, **args: object) -> None:
    session.act(name, line, args)
    found.update()
    assert found.settle()


def test_a_change_is_checked_with_all_lines_that_it_reaches_and_only_news_are_told(tmp_path, opened_at_place):
    session, found, tabs = opened_at_place(words(tmp_path / "w"))
    tabs.told.clear()
    act(session, found, "write", "s00009000", text="Rain falls on the empty street.")
    assert rules(found.of("s00020000")) == ["L9"]
    assert found.of("s00009000") == ()
    act(session, found, "write", "s00001000", text="He sleeps by the window.")
    assert rules(found.of("s00001000")) == ["L6"]
    act(session, found, "drop", "s00009000")
    assert found.of("s00020000") == ()
    told = [list(data["lines"]) for data in tabs.of("findings")]
    assert told == [["s00020000"], ["s00001000"], ["s00020000"]]
    assert all(data["summary"]["done"] for data in tabs.of("findings"))


def test_lines_checked_again_are_as_when_all_are_checked(tmp_path, opened_at_place):
    session, found, _ = opened_at_place(words(tmp_path / "w"))
    for name, line, args in (
        ("write", "s00001000", {"text": "We see him: the camera was moved by 20 people, sadly."}),
        ("write", "s00009000", {"text": "Where is the key to the garden?"}),
        ("write", "s00020000", {"text": "He opens the door again."}),
        ("move", "s00009000", {"start": 10.0, "end": 10.5}),
        ("add", "", {"start": 40.0, "text": "She sees him, and the camera pans."}),
        ("drop", "s00001000", {}),
        ("restore", "s00001000", {}),
    ):
        act(session, found, name, line, **args)
        report = lint_track(session.track, session.folder, session.config)
        each = {
            cue.id: [one for one in report.findings if one.cue_id == cue.id] for cue in session.track.cues
        }
        assert {cue.id: list(found.of(cue.id)) for cue in session.track.cues} == each, name
    assert any(each.values())


def test_damaged_records_do_no_harm(tmp_path, opened_at_place):
    place = words(tmp_path / "w")
    (place / ACCEPTED).write_text("nonsense\n", encoding="utf-8")
    session, found, _ = opened_at_place(place)
    assert found.of("s00001000") == ()
    (place / ACCEPTED).unlink()
    act(session, found, "write", "s00001000", text="We see a cat.")
    assert rules(found.of("s00001000")) == ["L2"]
