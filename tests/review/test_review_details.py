"""How a line came about, as far as it is recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Facts, Interval
from shotad.review.details import RecordIndex, line_detail
from shotad.review.session import Session
from shotad.script import CueStatus, Maker, Provenance, Voiced, line_stamp
from tests.redo.redoing import again, run
from tests.review.boardfilm import Tabs, cues_of, make_folder, open_session
from tests.review.sessions import session_of
from tests.test_facts import person

STAGE1: dict[str, Any] = {
    "key": "k1", "slot": "s00009000", "start": 9.0, "end": 13.0,
    "shots": [
        {"number": 0, "shot": 4, "role": "past"}, {"number": 1, "shot": 5, "role": "current"},
        {"number": 2, "shot": 6, "role": "current"}, {"number": 3, "shot": 7, "role": "future"},
    ],
    "scales": {"1": "close-up", "2": "medium"}, "threads": [[0, 2]], "factors": ["face", "object"],
    "maker": {"engine": "qwen2-vl", "model": "qwen2-vl-7b", "revision": "r"}, "seed": 1,
    "characters": [{"called": "Anna", "mark": "A", "current": True}], "heard": [{"name": "Tom"}],
    "invented": ["Bo"], "error": None,
    "tries": [{"raw": "", "complaints": ["No actions."]}, {"raw": "x", "complaints": []}],
    "steps": {"Main characters": "A woman.", "Actions": "She opens a door."},
    "explanation": "Shots 0 and 2 share the camera.", "raw": "raw", "notes": {},
}  # fmt: skip
STAGE2: dict[str, Any] = {
    "key": "k2", "slot": "s00009000", "maker": {"engine": "llama3", "model": "llama3-8b", "revision": ""},
    "raw": '{"summarized_AD": "She opens the old door."}', "error": None, "tries": [{"raw": "", "complaints": []}],
    "candidates": ["She opens the old door.", "B"], "unseen": {"1": ["a lamp"]}, "notes": {},
}  # fmt: skip


def write(place: Path, name: str, *rows: Mapping[str, Any]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (place / f"{name}.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    one, two, three = cues_of({1.0: "A cat.", 9.0: "She opens the old door.", 20.0: "Rain."})
    makers = (Maker("Stage I", "qwen2-vl", "qwen2-vl-7b", "r"), Maker("Stage II", "llama3", "llama3-8b"))
    made = replace(two, provenance=Provenance(makers, "abc", 7))
    place = make_folder(tmp_path / "w", cues=(one, made, three))
    write(place, "stage1", STAGE1)
    write(place, "stage2", STAGE2)
    return place


@pytest.fixture
def session(place: Path) -> Iterator[Session]:
    session = open_session(place, Tabs())
    yield session
    session.close()


def notes(detail: Mapping[str, Any]) -> dict[str, str]:
    return {note["title"]: note["text"] for note in detail["notes"]}


def test_what_both_stages_said_is_shown(session):
    detail = json.loads(json.dumps(line_detail(session, "s00009000")))
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
    shots = [{"number": number, "shot": number, "role": role} for number, role in enumerate(roles)]
    facts = Facts((0,), people=(person(shot=0, movement="left"),)).to_json()
    more = {"shots": shots, "threads": [], "scales": {}, "factors": [], "notes": facts}
    write(place, "stage1", {**STAGE1, **more})
    found = notes(line_detail(session, "s00009000"))
    assert found["Film grammar"] == told
    assert found["Measured in the frames"].startswith("Shot 0: ")


def test_what_is_not_recorded_is_said_to_be_so(session, place):
    detail = line_detail(session, "s00001000")
    assert (detail["stage1"], detail["stage2"]) == (None, None)
    assert notes(detail)["Stage I and II"].startswith("Not recorded")
    assert detail["made"] == "It is not recorded who wrote this line."
    write(place, "stage1", {"key": "k", "slot": "s00009000", "raw": "words", "tries": "none", "threads": 3})
    detail = line_detail(session, "s00009000")
    assert detail["stage1"]["text"] == "words", "a record of another make, as far as it goes"
    assert "Film grammar" not in notes(detail)
    (place / "stage1.jsonl").unlink()
    detail = line_detail(session, "s00009000")
    assert detail["stage1"] is None
    assert detail["stage2"] is not None
    assert notes(detail)["Stage I"] == "What Stage I said is not recorded."


def test_failures_are_told_with_the_stage(session, place):
    write(place, "stage1", {**STAGE1, "error": "out of memory", "steps": {}})
    write(place, "stage2", {**STAGE2, "error": "no line", "raw": "huh"})
    detail = line_detail(session, "s00009000")
    assert detail["stage1"]["text"] == "Stage I failed: out of memory"
    assert detail["stage2"]["raw"] == "Stage II failed: no line\nhuh"


def test_what_a_person_did_is_told(session):
    session.reviewer = "Ann"
    session.act("write", "s00009000", {"text": "The door opens."})
    session.act("accept", "s00009000", {})
    told = notes(line_detail(session, "s00009000"))
    assert told["Changed by a person"] == "A person changed its words (review page)."
    assert told["The machine's own line"] == "She opens the old door."
    assert told["Accepted"] == "By Ann."
    session.act("accept", "s00001000", {})
    session.act("remove", "s00020000", {})
    accepted, removed = (notes(line_detail(session, name)) for name in ("s00001000", "s00020000"))
    assert accepted["Changed by a person"] == "Nothing but that it was accepted; later runs keep this line."
    assert removed["Changed by a person"] == "A person removed the line (review page)."


def test_a_line_of_a_person_belongs_to_no_engine(session):
    done = session.act("add", "", {"start": 40.0, "end": 43.0, "text": "A dog runs."})
    detail = line_detail(session, done.change.cues[0].id)
    assert detail["made"] == "A person wrote this line; no engine had a part in it."
    assert notes(detail)["Changed by a person"] == "A person added the line (review page)."
    assert notes(detail)["Stage I and II"].startswith("The line belongs to no slot")
    session.act("add_slot", "", {"start": 50.0, "end": 53.0})
    detail = line_detail(session, "s00050000")
    assert detail["made"] == "Nobody has written this line yet."
    assert notes(detail)["Slot by hand"] == "A person added this slot. Write its line, or have it described."


def test_why_a_line_is_not_heard_and_how_it_was_made_to_fit(tmp_path):
    one, two, three = cues_of({1.0: "A cat.", 9.0: "She opens the door.", 20.0: "Rain falls."})
    steps = ("left out: slowly", "left out: old")
    spoken = Voiced(
        "v:x", "She opens it.", Interval(9, 10.5), line_stamp(two.interval, two.text), 1.1, ("cut",), 0.5
    )
    cues = (
        replace(one, text="", status=CueStatus.DROPPED, reason="9 words where 4 fit: A very long one", chosen=None),
        replace(
            two, status=CueStatus.SHORTENED, fit_steps=steps, voiced=spoken,
            reason="left out: slowly; left out: old; named by the model alone: Bo",
        ),
        replace(three, voiced=Voiced("v:x", "", None, line_stamp(three.interval, three.text), steps=("no room",))),
    )  # fmt: skip
    session = open_session(make_folder(tmp_path / "w", cues=cues), Tabs())
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
    path = tmp_path / "stage1.jsonl"
    index = RecordIndex(path)
    assert index.last("a") is None
    path.write_text(
        'nonsense\n[1]\n{"key": "1", "slot": "a", "n": 1}\n{"key": "2", "slot": "b", "n": 2}\n', "utf-8"
    )
    assert index.last("a") == {"key": "1", "slot": "a", "n": 1}
    with path.open("a", encoding="utf-8") as out:
        out.write('{"key": "3", "slot": "a", "n": 3}\n{"key": "4", "slot": "b", "n"')
    assert [row["n"] for row in index.all("a")] == [1, 3]
    assert [row["n"] for row in index.all("b")] == [2]
    with path.open("a", encoding="utf-8") as out:
        out.write(": 4}\n")
    assert [row["n"] for row in index.all("b")] == [2, 4]
    other = tmp_path / "new"
    other.write_text('{"key": "9", "slot": "b", "n": 9}\n', encoding="utf-8")
    other.replace(path)
    assert index.all("a") == ()
    assert [row["n"] for row in index.all("b")] == [9]
    path.unlink()
    assert index.all("b") == ()
