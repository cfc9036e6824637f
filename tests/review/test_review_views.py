"""What the page shows of film and lines, findings as they arise, and how a line came about, as far as it is recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Interval, load_config
from shotad.description import lint_track
from shotad.review.english_sentences import finding_message
from shotad.review.messages import message
from shotad.review.views import LineViews
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
from tests.rendering.described import LINES, fake_voice, film_with, retrack, track_of, write_folder
from tests.review.asgi import Listener
from tests.review.reviewed import Page, in_english, reviewed

CAT, DOOR, RAIN = "s00001000", "s00009000", "s00014000"
SETTINGS = ("lint.parse=words", "engine=embedded")
LOCAL = "Lines are described again on this machine; nothing of the film is sent anywhere."


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "w", settings=SETTINGS)


@pytest.fixture
def page(place: Path) -> Iterator[Page]:
    with reviewed(place, gone=True, reviewer="Ann") as (_, page):
        yield page


def test_the_film_is_all_that_the_page_needs(page):
    view, name = page.film(), film_with().name
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
    assert in_english(view["engines"]) == {
        "stage1": "the embedded observer", "stage2": "the embedded narrator", "local": True, "notice": str(LOCAL),
        "notes": False,
        "answers": False,
    }  # fmt: skip
    page.do("accept", DOOR)
    assert page.film()["progress"] == {
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
def test_without_film_grammar_shots_are_bare(
    place: Path, page: Page, text: str | None, shown: tuple[object, object]
) -> None:
    if text is not None:
        (place / "grammar.json").write_text(text, encoding="utf-8")
    first, *others = [(shot["thread"], shot["scale"]) for shot in page.film()["shots"]]
    assert first == shown
    assert set(others) == {(None, None)}


def test_every_format_says_what_it_is_for(page):
    formats = page.film()["formats"]
    assert formats == list(ALL_FORMATS)
    assert all(str(message(f"export.format.{name}")) != f"export.format.{name}" for name in formats)


def test_a_spoken_line_tells_how_long_its_voice_took(place):
    def spoken(cue: Cue) -> Cue:
        stamp = line_stamp(cue.interval, cue.text)
        return replace(cue, stored_take=SpokenTake("v", "A cat.", Interval(1.0, 2.2), stamp, 1.1, ("cut",)))

    with reviewed(retrack(place, spoken), gone=True) as (_, page):
        line = page.line(CAT)
    assert line["seconds"] == 1.2
    assert line["spoken"] == {"at": [1.0, 2.2], "text": "A cat."}


def test_the_one_budget_is_the_slots_time_as_this_voice_speaks(place):
    # Sixteen words, so that the voice has spoken thirty with those of the two other lines.
    long_text = "A cat sleeps by the window and hears the rain and the wind in the garden"
    with reviewed(fake_voice(place)) as (_, page):
        line = page.line(CAT)
        assert (line["seconds"], line["room_seconds"]) == (2.25, 5.0)
        page.do("move", CAT, start=2.0)
        assert page.line(CAT)["room_seconds"] == 4.0, "from where the line starts to the end of its slot"
        page.do("write", CAT, text=long_text)
        planned = page.checked()["unit_seconds"]
        estimated = page.line(CAT)["seconds"]
        with Listener(page) as tab:
            for name in (CAT, DOOR, RAIN):
                assert page.get(f"/api/hear/{name}?kind=voice").status == 200
            page.checked()
            told = {name: seconds for event in tab.of("lengths") for name, seconds in event["lines"].items()}
        lines = {row["id"]: row["seconds"] for row in page.film()["lines"]}
        assert lines[CAT] != estimated, "the voice has spoken it"
        assert told == lines
        pace = page.film()["unit_seconds"]
        assert pace == pytest.approx(sum(lines.values()) / 31, rel=0.1)
        assert pace != planned
        page.do("write", CAT, text="A cat sleeps here.")
        assert page.line(CAT)["seconds"] == pytest.approx(4 * pace, abs=0.02), "its pace is that of the voice"


def test_other_languages_count_as_they_are_written(tmp_path):
    folder = write_folder(tmp_path / "zh", lines={1.0: "她打开门。"}, language="zh")
    with reviewed(folder) as (_, page):
        film = page.film()
    assert film["unit"] == "character"
    assert film["lines"][0]["seconds"] == pytest.approx(4 * film["unit_seconds"], rel=0.15)


def test_slots_that_come_and_go_are_told_with_the_change(page):
    view = page.do("remove_slot", DOOR)
    assert view["gone"] == [DOOR]
    assert DOOR not in {slot["id"] for slot in view["slots"]}
    assert [line["id"] for line in view["lines"]] == [CAT, RAIN]
    view = page.do("add_slot", start=10.0, end=13.0)
    assert [slot["id"] for slot in view["slots"] if slot["by_hand"]] == ["s00010000"]
    line = next(line for line in view["lines"] if line["id"] == "s00010000")
    assert (line["status"], line["heard"], line["reason"]["text"]) == ("silent", False, "added by a person")
    assert (line["slot"], line["seconds"], line["room_seconds"]) == ("s00010000", None, 3.0)
    gone = page.do("undo")
    assert gone["gone"] == ["s00010000"]
    assert "s00010000" not in {slot["id"] for slot in gone["slots"]}
    back = page.do("undo")
    for row in ("slots", "lines"):
        assert DOOR in {entry["id"] for entry in back[row]}
    page.do("redo")
    again = page.do("redo")
    assert [slot["id"] for slot in again["slots"]] == [CAT, "s00010000", RAIN]


def test_a_server_is_named_before_pictures_go_there(tmp_path):
    def engines(name: str, *settings: str) -> Any:
        """What the page says of the engines of a run with these settings."""
        with reviewed(write_folder(tmp_path / name, settings=settings), gone=True) as (_, page):
            return page.film()["engines"]

    def served_at(name: str, url: str) -> Any:
        return engines(name, "engine=openai", f"openai.base_url={url}", "openai.model=m")

    view = served_at("far", "https://api.example.org/v1")
    assert (view["local"], view["stage1"]) == (False, "openai (m)")
    assert "Frames of the film" in view["notice"]["text"]
    assert "api.example.org" in view["notice"]["text"]
    assert served_at("near", "http://localhost:8000/v1")["local"] is True
    view = engines("unknown", "engine=nobody")
    assert (view["stage1"], view["local"]) == (None, False)
    assert "nobody" in view["notice"]


def rules(page: Page, line: str) -> list[str]:
    return [finding["rule"] for finding in page.findings(line)]


def test_a_change_is_checked_with_all_lines_that_it_reaches_and_only_news_are_told(page):
    page.checked()
    with Listener(page) as tab:
        page.do("write", DOOR, text=LINES[14.0])
        assert (rules(page, DOOR), rules(page, RAIN)) == ([], ["L9"])
        page.do("write", CAT, text="He sleeps by the window.")
        assert rules(page, CAT) == ["L6"]
        page.do("drop", DOOR)
        assert rules(page, RAIN) == []
        told = tab.until("findings", 3)
    assert [list(event["lines"]) for event in told] == [[RAIN], [CAT], [RAIN]]
    assert all(event["summary"]["done"] for event in told)


def test_what_changes_while_the_film_is_answered_is_not_passed_off_as_known(page, monkeypatch):
    page.checked()
    all_lines, later = LineViews.all, iter([LINES[14.0]])

    def all_and_then_a_change(views: LineViews) -> Sequence[Any]:
        lines = all_lines(views)
        for text in later:
            page.do("write", DOOR, text=text)
            page.checked()
        return lines

    monkeypatch.setattr(LineViews, "all", all_and_then_a_change)
    old, new = page.film(), page.film()
    assert [line["text"] for line in old["lines"] if line["id"] == DOOR] == [LINES[9.0]]
    assert old["revision"] < new["revision"]
    assert old["findings"]["version"] < new["findings"]["version"]
    assert rules(page, RAIN) == ["L9"]


def test_lines_checked_again_are_as_when_all_are_checked(place, page):
    config = load_config(None, SETTINGS)
    for name, line, args in (
        ("write", CAT, {"text": "We see him: the camera was moved by 20 people, sadly."}),
        ("write", DOOR, {"text": "Where is the key to the garden?"}),
        ("write", RAIN, {"text": "He opens the door again."}),
        ("move", DOOR, {"start": 10.0, "end": 10.5}),
        ("add", "", {"start": 17.0, "text": "She sees him, and the camera pans."}),
        ("drop", CAT, {}),
        ("restore", CAT, {}),
    ):
        page.do(name, line, **args)
        shown = {
            row["id"]: [(finding["rule"], finding["text"]) for finding in row["findings"]]
            for row in in_english(page.checked()["lines"])
        }
        # The pace (T3) is told as the budget of a line, in seconds.
        lint_findings = lint_track(track_of(place), place, config).findings
        all_findings = [finding for finding in lint_findings if finding.rule != "T3"]
        assert shown == {
            line_id: [
                (found.rule, str(finding_message(found.message)))
                for found in all_findings
                if found.cue_id == line_id
            ]
            for line_id in shown
        }, name
    assert any(shown.values())


def test_damaged_records_do_no_harm(place):
    (place / ACCEPTED).write_text("nonsense\n", encoding="utf-8")
    with reviewed(place, gone=True) as (_, page):
        assert rules(page, CAT) == []
        (place / ACCEPTED).unlink()
        page.do("write", CAT, text="We see a cat.")
        assert rules(page, CAT) == ["L2"]


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
def recorded(place: Path) -> Iterator[Page]:
    """The page of a folder whose second line has records of both stages."""
    makers = (Maker("Stage I", "qwen2-vl", "qwen2-vl-7b", "r"), Maker("Stage II", "llama3", "llama3-8b"))
    provenance = Provenance(makers, "abc", 7)
    retrack(place, lambda cue: replace(cue, provenance=provenance) if cue.id == DOOR else cue)
    write(place, "stage1", STAGE1)
    write(place, "stage2", STAGE2)
    with reviewed(place, gone=True, reviewer="Ann") as (_, page):
        yield page


def detail_of(page: Page, line: str) -> Any:
    answer = page.get(f"/api/lines/{line}")
    assert answer.status == 200, answer.text
    return in_english(answer.json)


def notes(page: Page, line: str) -> dict[str, str]:
    all_notes = detail_of(page, line)["notes"]
    return {note["title"]: " ".join(note["text"]) for note in all_notes}


def test_what_both_stages_said_is_shown(recorded):
    detail = detail_of(recorded, DOOR)
    assert detail["stage1"]["text"] == "1. Main characters: A woman.\n2. Actions: She opens a door."
    assert detail["stage1"]["steps"][1] == {"title": "Actions", "text": "She opens a door."}
    assert detail["stage1"]["engine"] == "Qwen2-VL (qwen2-vl-7b)"
    assert detail["stage2"] == {"raw": STAGE2["raw"], "engine": "Llama 3 (llama3-8b)"}
    assert detail["explanation"] == "Shots 0 and 2 share the camera."
    assert detail["made"] == (
        "The film was described by Qwen2-VL (qwen2-vl-7b), the line was written by Llama 3 (llama3-8b)."
    )
    assert detail["history"] == []


@pytest.mark.parametrize(
    ("roles", "note"),
    [
        (("current",), "The clip shows shot 0, numbered from 0; the line is about shot 0."),
        (("past", "past"), "The clip shows shots 0 and 1, numbered from 0; the line is about no shot."),
    ],
)
def test_shots_are_counted_in_words(recorded, place, roles, note):
    shots = [shot(number, role) for number, role in enumerate(roles)]
    more = {"shots": shots, "threads": [], "scales": {}, "factors": []}
    write(place, "stage1", {**STAGE1, **more})
    assert notes(recorded, DOOR)["Film grammar"] == note


def test_what_is_not_recorded_is_said_to_be_so(recorded, place):
    detail = detail_of(recorded, CAT)
    assert (detail["stage1"], detail["stage2"]) == (None, None)
    assert notes(recorded, CAT)["The machine's part"].startswith("Not recorded")
    assert detail["made"] == "It is not recorded who wrote this line."
    write(place, "stage1", {**STAGE1, "threads": 3})
    assert detail_of(recorded, DOOR)["stage1"] is None, "a person has broken the record"
    assert "Film grammar" not in notes(recorded, DOOR)
    (place / "stage1.jsonl").unlink()
    detail = detail_of(recorded, DOOR)
    assert detail["stage1"] is None
    assert detail["stage2"] is not None
    assert notes(recorded, DOOR)["What the machine saw"] == "It is not recorded."


def test_failures_are_told_with_the_stage(recorded, place):
    write(place, "stage1", {**STAGE1, "error": "out of memory", "steps": {}})
    write(place, "stage2", {**STAGE2, "error": "no line", "raw": "huh"})
    detail = detail_of(recorded, DOOR)
    assert detail["stage1"]["text"] == "The film could not be described: out of memory"
    assert detail["stage2"]["raw"] == "No line could be written: no line huh"


def test_what_a_person_did_is_told(recorded):
    recorded.do("write", DOOR, text="The door opens.")
    recorded.do("accept", DOOR)
    of_door = notes(recorded, DOOR)
    assert of_door["Changed by a person"] == "A person changed its words (review page)."
    assert of_door["The machine's own line"] == LINES[9.0]
    assert of_door["Accepted"] == "By Ann."
    recorded.do("accept", CAT)
    recorded.do("remove", RAIN)
    accepted, removed = notes(recorded, CAT), notes(recorded, RAIN)
    assert accepted["Changed by a person"] == "Nothing but that it was accepted; later runs keep this line."
    assert removed["Changed by a person"] == "A person removed the line (review page)."


def test_a_line_of_a_person_belongs_to_no_engine(recorded):
    added = recorded.do("add", start=16.5, end=18.5, text="A dog runs.")["focus"]
    assert detail_of(recorded, added)["made"] == "A person wrote this line; no engine had a part in it."
    assert notes(recorded, added)["Changed by a person"] == "A person added the line (review page)."
    assert notes(recorded, added)["The machine's part"].startswith("The line belongs to no slot")
    recorded.do("remove_slot", DOOR)
    recorded.do("add_slot", start=10.0, end=13.0)
    assert detail_of(recorded, "s00010000")["made"] == "Nobody has written this line yet."
    slot_note = notes(recorded, "s00010000")["Slot by hand"]
    assert slot_note == "A person added this slot. Write its line, or have it described."


def test_why_a_line_is_not_heard_and_how_it_was_made_to_fit(place):
    def fitted(cue: Cue) -> Cue:
        stamp = line_stamp(cue.interval, cue.text)
        if cue.id == CAT:
            return replace(
                cue, text="", status=CueStatus.DROPPED, reason="9 words where 4 fit: A very long one"
            )
        if cue.id == RAIN:
            return replace(cue, stored_take=SpokenTake("v:x", "", None, stamp, steps=("no room",)))
        steps = ("left out: slowly", "left out: old")
        take = SpokenTake("v:x", "She opens it.", Interval(9, 10.5), stamp, 1.1, ("cut",), 0.5)
        why = "left out: slowly; left out: old; named by the model alone: Bo"
        return replace(cue, status=CueStatus.SHORTENED, fit_steps=steps, stored_take=take, reason=why)

    with reviewed(retrack(place, fitted), gone=True) as (_, page):
        dropped, shortened, lost = (notes(page, name) for name in (CAT, DOOR, RAIN))
    assert dropped["Why it is not heard"] == "9 words where 4 fit: A very long one."
    assert shortened["How it was made to fit"] == "Left out: slowly. Left out: old."
    assert shortened["Remarks"] == "Named by the model alone: Bo."
    assert shortened["As last spoken"] == (
        "1.0 s by the voice v:x. At 1.1 times its own pace. The film waits 0.5 s for it. To make it fit: cut. "
        "What is said: “She opens it.”"
    )
    assert lost["Not spoken"] == "No room (voice v:x)."


def test_lines_described_anew_are_told_with_hint_and_the_line_before(tmp_path):
    place = tmp_path / "w"
    line = run(place).cues[0]
    again(place, line.id, note="Anna is in it")
    with reviewed(place, gone=True) as (_, page):
        detail = detail_of(page, line.id)
        text = page.line(line.id)["text"]
    (row,) = detail["history"]
    assert row["said"] == f"Described again, try 1: “{text}” Before: “{line.text}”. Told: “Anna is in it”."
    assert text in detail["stage2"]["raw"]
    assert "again on request" in detail["made"]


def test_a_file_is_read_on_where_it_grows_and_anew_where_it_is_replaced(place, page):
    path, other = place / "stage2.jsonl", place / "new"

    def raw_of(line: str) -> str | None:
        answer = detail_of(page, line)["stage2"]
        return None if answer is None else answer["raw"]

    def row(line: str, raw: str) -> str:
        return json.dumps({**STAGE2, "slot": line, "key": f"k{raw}", "raw": raw})

    def grow(text: str) -> None:
        with path.open("a", encoding="utf-8") as out:
            out.write(text)

    assert raw_of(CAT) is None
    grow(f"nonsense\n[1]\n{row(CAT, 'one')}\n{row(DOOR, 'two')}\n")
    assert (raw_of(CAT), raw_of(DOOR)) == ("one", "two")
    begun = row(DOOR, "four")
    grow(f"{row(CAT, 'three')}\n{begun[:-5]}")
    assert (raw_of(CAT), raw_of(DOOR)) == ("three", "two")
    grow(f"{begun[-5:]}\n")
    assert (raw_of(CAT), raw_of(DOOR)) == ("three", "four")
    other.write_text(f"{row(DOOR, 'nine')}\n", encoding="utf-8")
    other.replace(path)
    assert (raw_of(CAT), raw_of(DOOR)) == (None, "nine")
    path.unlink()
    assert raw_of(DOOR) is None
