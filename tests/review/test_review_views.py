"""What the page shows of film and lines, findings as they arise, and how a line came about, as far as it is recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Config, Interval, load_config
from shotad.description import lint_track
from shotad.review.details import LOCAL, RecordIndex, engines_view, line_detail
from shotad.review.session import Session
from shotad.review.views import Findings, changed_view, film_view, formats_view, line_view
from shotad.script import (
    ALL_FORMATS,
    Cue,
    CueStatus,
    Maker,
    Provenance,
)
from shotad.script.cue import SpokenTake, line_stamp
from shotad.script.guidelines import ACCEPTED_FILE as ACCEPTED
from tests.handmade import line as line_record, look
from tests.redo.redoing import again, run
from tests.rendering.described import LINES, film_with, retrack, write_folder
from tests.review.reviewed import reviewed
from tests.review.sessions import Tabs, session_of

CAT, DOOR, RAIN = "s00001000", "s00009000", "s00014000"
SETTINGS = ("lint.parse=words", "engine=embedded")
Opened = tuple[Session, Findings, Tabs]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "w", settings=SETTINGS)


@pytest.fixture
def opened_at() -> Iterator[Callable[[Path], Opened]]:
    """Opens a folder and its findings; all are closed at the end."""
    made: list[Opened] = []

    def make(place: Path) -> Opened:
        tabs = Tabs()
        session = session_of(place, tabs=tabs)
        found = Findings(session, tabs, delay=0.0, first_delay=0.0)  # type: ignore[arg-type]
        made.append((session, found, tabs))
        assert found.wait()
        return made[-1]

    yield make
    for session, found, _ in made:
        found.close()
        session.close()


@pytest.fixture
def opened(opened_at: Callable[[Path], Opened], place: Path) -> Opened:
    return opened_at(place)


def film_of(opened: Opened) -> dict[str, Any]:
    session, found, _ = opened
    return film_view(session, findings=found, playable={"state": "none"}, voice={"name": "v"})


def line_of(opened: Opened, name: str = CAT) -> dict[str, Any]:
    return line_view(opened[0].timeline(), opened[0].cue(name), opened[1])


def test_the_film_is_all_that_the_page_needs_and_json(opened):
    view, name = json.loads(json.dumps(film_of(opened))), film_with().name
    assert view["film"] == {
        "name": name, "title": name.removesuffix(".mp4"), "duration": 20.0, "frame_rate": 25.0,
    }  # fmt: skip
    assert view["reviewer"] == "Ann"
    assert [line["id"] for line in view["lines"]] == [CAT, DOOR, RAIN]
    words = {"text": "Where is the key to the garden?", "speaker": ""}
    assert view["speech"] == [{"start": 6.0, "end": 8.0, "kind": "speech", **words}]
    assert view["free"] == [[0.0, 5.75], [8.25, 20.0]]
    assert view["slots"][1] == {
        "id": DOOR, "start": 9.0, "end": 14.0, "words": 20, "by_hand": False, "voice": "",
    }  # fmt: skip
    assert view["progress"] == {"lines": 3, "machine": 3, "edited": 0, "accepted": 0, "dropped": 0, "by": []}
    assert view["history"] == {"undo": None, "redo": None, "undo_line": None, "redo_line": None}
    assert view["engines"] == {
        "stage1": "the embedded observer", "stage2": "the embedded narrator", "local": True, "notice": LOCAL,
        "notes": False,
    }  # fmt: skip
    opened[0].act("accept", DOOR, {})
    assert film_of(opened)["progress"] == {
        "lines": 3, "machine": 2, "edited": 0, "accepted": 1, "dropped": 0, "by": ["Ann"],
    }  # fmt: skip


MOMENTS = dict.fromkeys(("first", "quarter", "middle", "three_quarters", "last"), 2.0)
SHOT = {"index": 0, "thread": "B", "scale": "medium"}
GRAMMAR = {"key": "k", "features": "grid:1", "threshold": 0.3, "scale_method": None, "pairs": []}


@pytest.mark.parametrize(("text", "shown"), [
    (json.dumps({**GRAMMAR, "shots": [{**SHOT, **MOMENTS, "probabilities": None}]}), (1, "medium")),
    (json.dumps({"shots": [SHOT]}), (None, None)),
    ("{", (None, None)),
    (None, (None, None)),
])  # fmt: skip
def test_without_film_grammar_shots_are_bare(opened: Opened, text: str | None, shown: object) -> None:
    if text is not None:
        (opened[0].folder / "grammar.json").write_text(text, encoding="utf-8")
    first, *others = [(shot["thread"], shot["scale"]) for shot in film_of(opened)["shots"]]
    assert first == shown
    assert set(others) == {(None, None)}


def test_every_format_says_what_it_is_for():
    formats = {form["name"]: form["title"] for form in formats_view()}
    assert list(formats) == list(ALL_FORMATS)
    assert all(title != name for name, title in formats.items())


def test_a_spoken_line_tells_how_long_its_voice_took(opened_at, place):
    def spoken(cue: Cue) -> Cue:
        stamp = line_stamp(cue.interval, cue.text)
        return replace(cue, stored_take=SpokenTake("v", "A cat.", Interval(1.0, 2.2), stamp, 1.1, ("cut",)))

    view = line_of(opened_at(retrack(place, spoken)))
    assert view["seconds"] == 1.2
    assert view["spoken"] == {"at": [1.0, 2.2], "text": "A cat."}


def test_the_one_budget_is_the_slots_time_as_this_voice_speaks(place):
    with reviewed(place) as (review, page):
        line = page.line(CAT)
        assert (line["seconds"], line["room_seconds"]) == (2.25, 5.0)
        page.act("move", CAT, {"start": 2.0})
        assert page.line(CAT)["room_seconds"] == 4.0, "from where the line starts to the end of its slot"
        review.session.seconds_per_word = lambda: 0.5
        assert page.line(CAT)["seconds"] == 3.0
        assert page.film()["unit_seconds"] == 0.5
        review.session.take_seconds = {"A cat sleeps by the window.": 1.9}.get
        assert page.line(CAT)["seconds"] == 1.9, "the voice has spoken it"


def test_other_languages_count_as_they_are_written(tmp_path):
    folder = write_folder(tmp_path / "zh", lines={1.0: "她打开门。"}, language="zh")
    with reviewed(folder) as (_, page):
        film = page.film()
    assert film["unit"] == "character"
    assert film["lines"][0]["seconds"] == pytest.approx(4 * film["unit_seconds"], rel=0.15)


def test_slots_that_come_and_go_are_told_with_the_change(opened):
    session, found, _ = opened
    view = changed_view(session, session.act("remove_slot", DOOR, {}), "", found)
    assert view["gone"] == [DOOR]
    assert DOOR not in {slot["id"] for slot in view["slots"]}
    assert [line["id"] for line in view["lines"]] == [CAT, RAIN]
    view = changed_view(session, session.act("add_slot", "", {"start": 10.0, "end": 13.0}), "", found)
    assert [slot["id"] for slot in view["slots"] if slot["by_hand"]] == ["s00010000"]
    line = next(line for line in view["lines"] if line["id"] == "s00010000")
    assert (line["status"], line["heard"], line["reason"]) == ("silent", False, "added by a person")
    assert (line["slot"], line["seconds"], line["room_seconds"]) == ("s00010000", None, 3.0)
    gone = changed_view(session, session.undo(), "", found)
    assert gone["gone"] == ["s00010000"]
    assert "s00010000" not in {slot["id"] for slot in gone["slots"]}
    back = changed_view(session, session.undo(), "", found)
    for row in ("slots", "lines"):
        assert DOOR in {one["id"] for one in back[row]}
    session.redo()
    again = changed_view(session, session.redo(), "", found)
    assert [one["id"] for one in again["slots"]] == [CAT, "s00010000", RAIN]


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


def rules(found: Findings, line: str) -> list[str]:
    return [one.rule for one in found.of(line)]


def act(opened: Opened, name: str, line: str, **args: object) -> None:
    opened[0].act(name, line, args)
    opened[1].update()
    assert opened[1].wait()


def test_a_change_is_checked_with_all_lines_that_it_reaches_and_only_news_are_told(opened):
    _, found, tabs = opened
    tabs.events.clear()
    act(opened, "write", DOOR, text=LINES[14.0])
    assert (rules(found, DOOR), rules(found, RAIN)) == ([], ["L9"])
    act(opened, "write", CAT, text="He sleeps by the window.")
    assert rules(found, CAT) == ["L6"]
    act(opened, "drop", DOOR)
    assert rules(found, RAIN) == []
    assert [list(data["lines"]) for data in tabs.of("findings")] == [[DOOR, RAIN], [CAT], [RAIN]]
    assert all(data["summary"]["done"] for data in tabs.of("findings"))


def test_lines_checked_again_are_as_when_all_are_checked(opened):
    session, found, _ = opened
    for name, line, args in (
        ("write", CAT, {"text": "We see him: the camera was moved by 20 people, sadly."}),
        ("write", DOOR, {"text": "Where is the key to the garden?"}),
        ("write", RAIN, {"text": "He opens the door again."}),
        ("move", DOOR, {"start": 10.0, "end": 10.5}),
        ("add", "", {"start": 17.0, "text": "She sees him, and the camera pans."}),
        ("drop", CAT, {}),
        ("restore", CAT, {}),
    ):
        act(opened, name, line, **args)
        told = lint_track(session.track, session.folder, session.config).findings
        each = {cue.id: [one for one in told if one.cue_id == cue.id] for cue in session.track.cues}
        assert {cue.id: list(found.of(cue.id)) for cue in session.track.cues} == each, name
    assert any(each.values())


def test_damaged_records_do_no_harm(opened_at, place):
    (place / ACCEPTED).write_text("nonsense\n", encoding="utf-8")
    opened = opened_at(place)
    assert rules(opened[1], CAT) == []
    (place / ACCEPTED).unlink()
    act(opened, "write", CAT, text="We see a cat.")
    assert rules(opened[1], CAT) == ["L2"]


# How a line came about


def shot(number: int, role: str) -> dict[str, Any]:
    return {"number": number, "shot": number + 4, "role": role, "start": 9.0, "end": 10.0, "seconds": [9.5]}


def tried(raw: str, *complaints: str) -> dict[str, Any]:
    usage = {"tokens_in": 1, "tokens_out": 1}
    return {"raw": raw, "finish": "stop", "error": None, "usage": usage, "complaints": list(complaints)}


STAGE1: dict[str, Any] = look(
    DOOR, key="k1", start=9.0, end=13.0,
    shots=[shot(number, role) for number, role in enumerate(("past", "current", "current", "future"))],
    scales={"1": "close-up", "2": "medium"}, threads=[[0, 2]], factors=["face", "object"],
    maker={"engine": "qwen2-vl", "model": "qwen2-vl-7b", "revision": "r"},
    characters=[{"id": "anna", "called": "Anna", "mark": "A", "current": True}],
    heard=[{"name": "Tom", "how": "spoken", "seconds": 9.0}], invented=["Bo"],
    tries=[tried("", "No actions."), tried("x")],
    steps={"Main characters": "A woman.", "Actions": "She opens a door."},
    explanation="Shots 0 and 2 share the camera.", raw="raw",
)  # fmt: skip
STAGE2: dict[str, Any] = line_record(
    DOOR, key="k2", maker={"engine": "llama3", "model": "llama3-8b", "revision": ""},
    raw='{"summarized_AD": "She opens the old door."}', tries=[tried("")],
    candidates=["She opens the old door.", "B"], unseen={"1": ["a lamp"]},
)  # fmt: skip


def write(place: Path, name: str, *rows: Mapping[str, Any]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (place / f"{name}.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def session(place: Path) -> Iterator[Session]:
    """Of which the second line has records of both stages."""
    makers = (Maker("Stage I", "qwen2-vl", "qwen2-vl-7b", "r"), Maker("Stage II", "llama3", "llama3-8b"))
    made = Provenance(makers, "abc", 7)
    retrack(place, lambda cue: replace(cue, provenance=made) if cue.id == DOOR else cue)
    write(place, "stage1", STAGE1)
    write(place, "stage2", STAGE2)
    session = session_of(place)
    yield session
    session.close()


def notes(detail: Mapping[str, Any]) -> dict[str, str]:
    return {note["title"]: note["text"] for note in detail["notes"]}


def test_what_both_stages_said_is_shown(session):
    detail = json.loads(json.dumps(line_detail(session, DOOR)))
    assert detail["stage1"]["text"] == "1. Main characters: A woman.\n2. Actions: She opens a door."
    assert detail["stage1"]["steps"][1] == {"title": "Actions", "text": "She opens a door."}
    assert detail["stage1"]["engine"] == "Qwen2-VL (qwen2-vl-7b)"
    assert detail["stage2"] == {"raw": STAGE2["raw"], "engine": "Llama 3 (llama3-8b)"}
    assert detail["explanation"] == "Shots 0 and 2 share the camera."
    assert detail["made"] == "Qwen2-VL (qwen2-vl-7b) described the film, Llama 3 (llama3-8b) wrote the line."
    assert detail["history"] == []


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        (("current",), "The clip shows shot 0, numbered from 0; the line is about shot 0."),
        (("past", "past"), "The clip shows shots 0 and 1, numbered from 0; the line is about no shot."),
    ],
)
def test_shots_are_counted_in_words(session, place, roles, told):
    shots = [shot(number, role) for number, role in enumerate(roles)]
    more = {"shots": shots, "threads": [], "scales": {}, "factors": []}
    write(place, "stage1", {**STAGE1, **more})
    found = notes(line_detail(session, DOOR))
    assert found["Film grammar"] == told


def test_what_is_not_recorded_is_said_to_be_so(session, place):
    detail = line_detail(session, CAT)
    assert (detail["stage1"], detail["stage2"]) == (None, None)
    assert notes(detail)["Stage I and II"].startswith("Not recorded")
    assert detail["made"] == "It is not recorded who wrote this line."
    write(place, "stage1", {**STAGE1, "threads": 3})
    detail = line_detail(session, DOOR)
    assert detail["stage1"] is None, "a person has broken the record"
    assert "Film grammar" not in notes(detail)
    (place / "stage1.jsonl").unlink()
    detail = line_detail(session, DOOR)
    assert detail["stage1"] is None
    assert detail["stage2"] is not None
    assert notes(detail)["Stage I"] == "What Stage I said is not recorded."


def test_failures_are_told_with_the_stage(session, place):
    write(place, "stage1", {**STAGE1, "error": "out of memory", "steps": {}})
    write(place, "stage2", {**STAGE2, "error": "no line", "raw": "huh"})
    detail = line_detail(session, DOOR)
    assert detail["stage1"]["text"] == "Stage I failed: out of memory"
    assert detail["stage2"]["raw"] == "Stage II failed: no line\nhuh"


def test_what_a_person_did_is_told(session):
    session.act("write", DOOR, {"text": "The door opens."})
    session.act("accept", DOOR, {})
    told = notes(line_detail(session, DOOR))
    assert told["Changed by a person"] == "A person changed its words (review page)."
    assert told["The machine's own line"] == LINES[9.0]
    assert told["Accepted"] == "By Ann."
    session.act("accept", CAT, {})
    session.act("remove", RAIN, {})
    accepted, removed = (notes(line_detail(session, name)) for name in (CAT, RAIN))
    assert accepted["Changed by a person"] == "Nothing but that it was accepted; later runs keep this line."
    assert removed["Changed by a person"] == "A person removed the line (review page)."


def test_a_line_of_a_person_belongs_to_no_engine(session):
    done = session.act("add", "", {"start": 16.5, "end": 18.5, "text": "A dog runs."})
    detail = line_detail(session, done.cues[0].id)
    assert detail["made"] == "A person wrote this line; no engine had a part in it."
    assert notes(detail)["Changed by a person"] == "A person added the line (review page)."
    assert notes(detail)["Stage I and II"].startswith("The line belongs to no slot")
    session.act("remove_slot", DOOR, {})
    session.act("add_slot", "", {"start": 10.0, "end": 13.0})
    detail = line_detail(session, "s00010000")
    assert detail["made"] == "Nobody has written this line yet."
    assert notes(detail)["Slot by hand"] == "A person added this slot. Write its line, or have it described."


def test_why_a_line_is_not_heard_and_how_it_was_made_to_fit(place):
    def told(cue: Cue) -> Cue:
        stamp = line_stamp(cue.interval, cue.text)
        if cue.id == CAT:
            return replace(
                cue, text="", status=CueStatus.DROPPED, reason="9 words where 4 fit: A very long one"
            )
        if cue.id == RAIN:
            return replace(cue, stored_take=SpokenTake("v:x", "", None, stamp, steps=("no room",)))
        steps = ("left out: slowly", "left out: old")
        voiced = SpokenTake("v:x", "She opens it.", Interval(9, 10.5), stamp, 1.1, ("cut",), 0.5)
        why = "left out: slowly; left out: old; named by the model alone: Bo"
        return replace(cue, status=CueStatus.SHORTENED, fit_steps=steps, stored_take=voiced, reason=why)

    session = session_of(retrack(place, told))
    dropped, shortened, lost = (notes(line_detail(session, cue.id)) for cue in session.track.cues)
    session.close()
    assert dropped["Why it is not heard"] == "9 words where 4 fit: A very long one."
    assert shortened["How it was made to fit"] == "Left out: slowly; left out: old."
    assert shortened["Remarks"] == "Named by the model alone: Bo."
    assert shortened["As last spoken"] == (
        "1.0 s by the voice v:x, at 1.10 times its own pace; the film waits 0.5 s for it. To make it fit: cut. "
        "What is said: “She opens it.”"
    )
    assert lost["Not spoken"] == "No room (voice v:x)."


def test_lines_described_anew_are_told_with_hint_and_the_line_before(tmp_path):
    place = tmp_path / "w"
    name = run(place).cues[0].id
    before = run(place).cues[0].text
    again(place, name, note="Anna is in it")
    session = session_of(place)
    detail = line_detail(session, name)
    text = session.cue(name).text
    session.close()
    (row,) = detail["history"]
    assert row["said"] == f"Described again, try 1: “{text}” Before: “{before}”. Told: “Anna is in it”."
    assert text in detail["stage2"]["raw"]
    assert "again on request" in detail["made"]


def test_a_file_is_read_on_where_it_grows_and_anew_where_it_is_replaced(tmp_path):
    path, other = tmp_path / "stage1.jsonl", tmp_path / "new"
    index = RecordIndex(path)

    def rows(slot: str, more: str = "") -> list[int]:
        with path.open("a", encoding="utf-8") as out:
            out.write(more)
        return [row["n"] for row in index.all(slot)]

    assert index.last("a") is None
    assert rows(
        "a", 'nonsense\n[1]\n{"key": "1", "slot": "a", "n": 1}\n{"key": "2", "slot": "b", "n": 2}\n'
    ) == [1]
    assert rows("a", '{"key": "3", "slot": "a", "n": 3}\n{"key": "4", "slot": "b", "n"') == [1, 3]
    assert rows("b") == [2]
    assert rows("b", ": 4}\n") == [2, 4]
    assert index.last("b") == {"key": "4", "slot": "b", "n": 4}
    other.write_text('{"key": "9", "slot": "b", "n": 9}\n', encoding="utf-8")
    other.replace(path)
    assert (rows("a"), rows("b")) == ([], [9])
    path.unlink()
    assert index.all("b") == ()
