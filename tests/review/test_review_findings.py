"""Findings as they arise: those of ``shotad lint``, a moment after each change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval, LintSettings, SpeechKind, TextFact, Utterance
from shotad.description import Again, Checker, lint, lint_track
from shotad.review.findings import Findings, finding_view
from shotad.review.jobs import WhenQuiet
from shotad.review.session import Session
from shotad.script import Finding, Level, Material, TrackLine, Voiced, accept_findings, lines_of_track
from shotad.script.checked_lines import FILE as ACCEPTED
from shotad.script.sentence_checks import Read
from tests.review.boardfilm import Tabs, make_folder, open_session

WORDS = (
    "we see",
    "he",
    "Tom",
    "opens the door",
    "was killed",
    "the camera",
    "again",
    "sadly",
    "rain falls",
    "#",
)
SAID = ("the door opens slowly now", "rain falls on us all", "")


@st.composite
def materials(draw: st.DrawFn) -> Material:
    """Lines, speech and texts that lie across each other in all ways."""
    second = st.integers(0, 900).map(lambda tenth: tenth / 10)
    length = st.integers(1, 80).map(lambda tenth: tenth / 10)

    def time() -> Interval:
        start = draw(second)
        return Interval(start, start + draw(length))

    lines = []
    for number, when in enumerate(sorted(time() for _ in range(draw(st.integers(1, 14))))):
        text = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)))
        voiced = Voiced("v", text, time(), "stamp") if draw(st.integers(0, 5)) == 0 else None
        slot = time() if draw(st.booleans()) else None
        lines.append(TrackLine(f"s{number:08d}", when, text, "en", slot, voiced))
    kinds = st.sampled_from(list(SpeechKind))
    speech = [
        Utterance(time(), draw(st.sampled_from(SAID)), draw(kinds)) for _ in range(draw(st.integers(0, 8)))
    ]
    texts = []
    for _ in range(draw(st.integers(0, 4))):
        shown = time()
        kind = draw(st.sampled_from(("subtitle", "title")))
        what = draw(st.sampled_from(SAID)) or "Exit"
        texts.append(TextFact(0, what, kind, shown.start, shown.end, 0.9))
    return Material(
        "film", tuple(lines), draw(st.sampled_from((95.0, 60.0, None))),
        tuple(speech) if draw(st.booleans()) else None, texts=tuple(texts), given=draw(st.booleans()),
    )  # fmt: skip


USUAL = Checker.of(LintSettings(), parse=False)
CHECKERS = tuple(replace(USUAL, limits=replace(USUAL.limits, history=history)) for history in (0, 1, 5))


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


def test_at_the_beginning_all_lines_are_checked_and_told(tmp_path, opened):
    make_folder(tmp_path / "w", "lint.parse=words", lines={1.0: "We see a cat.", 9.0: "Rain falls."})
    _, found, tabs = opened(tmp_path / "w")
    assert rules(found.of("s00001000")) == ["L2"]
    assert found.of("s00009000") == ()
    (told,) = tabs.of("findings")
    assert set(told["lines"]) == {"s00001000"}
    assert told["summary"] == {"done": True, "version": 1}


def test_a_line_that_is_not_there_has_no_findings(tmp_path, opened):
    _, found, _ = opened(words(tmp_path / "w"))
    assert found.of("s99999999") == ()


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


def test_a_slot_that_goes_takes_its_findings_along(tmp_path, opened):
    lines = {1.0: "We see a cat.", 9.0: "Rain falls."}
    make_folder(tmp_path / "w", "lint.parse=words", lines=lines)
    session, found, _ = opened(tmp_path / "w")
    act(session, found, "remove_slot", "s00001000")
    assert found.of("s00001000") == ()


def test_later_is_the_same_as_lint(tmp_path, opened):
    session, found, _ = opened(words(tmp_path / "w"))
    act(session, found, "write", "s00001000", text="We see him: the camera was moved by 20 people, sadly.")
    act(session, found, "write", "s00009000", text="Where is the key to the garden?")
    report = lint_track(session.track, session.folder, session.config)
    for cue in session.track.cues:
        assert found.of(cue.id) == tuple(one for one in report.findings if one.cue_id == cue.id)


def test_what_was_accepted_stays_so_and_comes_back_with_another_text(tmp_path, opened):
    make_folder(tmp_path / "w", "lint.parse=words", lines={1.0: "We see a cat.", 9.0: "Rain falls."})
    session, found, _ = opened(tmp_path / "w")
    (finding,) = found.of("s00001000")
    line = next(one for one in lines_of_track(session.track, {}) if one.id == "s00001000")
    accept_findings(session.folder, [finding], [line])
    act(session, found, "accept", "s00001000")
    assert found.of("s00001000") == ()
    act(session, found, "write", "s00001000", text="We see a dog.")
    assert rules(found.of("s00001000")) == ["L2"]


def test_damaged_records_do_no_harm(tmp_path, opened):
    place = words(tmp_path / "w")
    (place / ACCEPTED).write_text("nonsense\n", encoding="utf-8")
    session, found, _ = opened(place)
    assert found.of("s00001000") == ()
    (place / ACCEPTED).unlink()
    act(session, found, "write", "s00001000", text="We see a cat.")
    assert rules(found.of("s00001000")) == ["L2"]


def test_what_a_render_found_stays_with_its_line(tmp_path, opened):
    place = words(tmp_path / "w")
    row = '{"rule": "A3", "level": "error", "message": "is covered", "cue_id": "s00001000"}'
    (place / "render.json").write_text(f'{{"findings": [{row}]}}', encoding="utf-8")
    session, found, _ = opened(place)
    assert rules(found.of("s00001000")) == ["A3"]
    act(session, found, "write", "s00001000", text="We see a cat.")
    assert rules(found.of("s00001000")) == ["L2", "A3"]


def test_a_finding_is_shown_with_what_to_do():
    view = finding_view(Finding("L2", Level.ERROR, "first or second person: 'We'", "s00001000", (0, 2)))
    assert view["title"] == "first or second person"
    assert view["hint"].startswith("Leave out who watches")
    assert view["level"] == "error"


class Counting:
    """A reader that counts what it is asked, and finds nothing."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read(self, lines: Sequence[TrackLine], events: frozenset[str]) -> Mapping[str, Read]:
        self.asked += [line.text for line in lines]
        return {}


@settings(deadline=None, max_examples=100)
@given(materials(), st.data())
def test_lines_checked_again_are_as_when_all_are_checked(material, data):
    checker, again = data.draw(st.sampled_from(CHECKERS)), Again()
    for _ in range(4):
        each = again.of(material, checker)
        assert lint(material, checker, each=each) == lint(material, checker)
        lines = list(material.lines)
        at = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(("words", "time", "gone", "end"))):
            case "words":
                lines[at] = replace(lines[at], text=data.draw(st.sampled_from(WORDS)))
            case "time":
                lines[at] = replace(lines[at], interval=data.draw(st.sampled_from(lines)).interval)
            case "gone" if len(lines) > 1:
                del lines[at]
            case _:
                material = replace(material, end=data.draw(st.sampled_from((95.0, 99.0))))
        material = replace(material, lines=tuple(lines))


def test_only_what_changed_is_looked_at_again():
    def material(*texts: str) -> Material:
        lines = (TrackLine(f"s{n:08d}", Interval(n, n + 1), text) for n, text in enumerate(texts))
        return Material("film", tuple(lines), 60.0, ())

    reader, again = Counting(), Again()
    checker = replace(CHECKERS[1], reader=reader)  # a line looks back to the one before it
    again.of(material("He was there.", "Rain.", "Snow.", "Wind."), checker)
    reader.asked.clear()
    again.of(material("He was there.", "Hail.", "Snow.", "Wind."), checker)
    assert reader.asked == ["Hail.", "Snow."]
    again.of(material("He was there.", "Hail.", "Snow.", "Wind."), checker)
    assert len(reader.asked) == 2


def test_work_that_is_asked_for_often_is_done_once_when_it_is_quiet():
    done, begun, go = [], threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go.wait(10)
        done.append(1)

    quiet = WhenQuiet(work, 0.0, "test")
    quiet.ask()
    assert begun.wait(10)
    for _ in range(5):
        quiet.ask()
    assert quiet.is_due
    go.set()
    assert quiet.settle(10)
    assert len(done) == 2
    quiet.close()
    quiet.ask()
    assert len(done) == 2


def test_work_that_is_asked_for_without_end_is_done_now_and_then():
    done = threading.Event()
    quiet = WhenQuiet(done.set, 60.0, "test", longest=0.2)
    quiet.ask()
    assert done.wait(10)
    quiet.close()


def test_work_that_is_still_asked_for_is_done_at_the_end_if_wanted():
    done: list[int] = []
    for finish in (False, True):
        quiet = WhenQuiet(lambda: done.append(1), 60.0, "test")
        quiet.ask()
        quiet.close(finish=finish)
        assert len(done) == finish
        quiet.close(finish=True)
        assert len(done) == finish
