"""Findings as they arise: those of ``shotad lint``, a moment after each change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from shotad.description import lint_track
from shotad.review.findings import Findings
from shotad.review.session import Session
from shotad.script import Finding
from shotad.script.guidelines import FILE as ACCEPTED
from tests.review.boardfilm import Tabs, make_folder, open_session


@pytest.fixture
def opened() -> Iterator[Callable[[Path], tuple[Session, Findings, Tabs]]]:
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


def test_a_change_is_checked_with_all_lines_that_it_reaches_and_only_news_are_told(tmp_path, opened):
    session, found, tabs = opened(words(tmp_path / "w"))
    tabs.told.clear()
    act(session, found, "write", "s00009000", text="Rain falls on the empty street.")
    assert rules(found.of("s00020000")) == ["L9"]
    assert found.of("s00009000") == ()
    act(session, found, "write", "s00001000", text="He sleeps by the window.")
    assert rules(found.of("s00001000")) == ["L6"]
    act(session, found, "drop", "s00009000")
    assert found.of("s00020000") == ()
    assert [set(data["lines"]) for data in tabs.of("findings")] == [
        {"s00020000"},
        {"s00001000"},
        {"s00020000"},
    ]
    assert all(data["summary"]["done"] for data in tabs.of("findings"))


def test_lines_checked_again_are_as_when_all_are_checked(tmp_path, opened):
    session, found, _ = opened(words(tmp_path / "w"))
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


def test_damaged_records_do_no_harm(tmp_path, opened):
    place = words(tmp_path / "w")
    (place / ACCEPTED).write_text("nonsense\n", encoding="utf-8")
    session, found, _ = opened(place)
    assert found.of("s00001000") == ()
    (place / ACCEPTED).unlink()
    act(session, found, "write", "s00001000", text="We see a cat.")
    assert rules(found.of("s00001000")) == ["L2"]
