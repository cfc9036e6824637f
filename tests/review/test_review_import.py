"""A script is brought in on the page: what it would change is seen first, and what is wanted is one step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from shotad.script import load_track, script_format
from shotad.script.track_files import TRACK
from tests.review.asgi import Answer
from tests.review.reviewed import Page, reviewed


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "film.shotad"


@pytest.fixture
def page(place: Path) -> Iterator[Page]:
    with reviewed(place) as (_, page):
        yield page


def give(page: Page, name: str, data: bytes | str, **changed: str | None) -> Answer:
    """A file, as the page uploads it."""
    content = data.encode() if isinstance(data, str) else data
    headers = {"content_type": "application/octet-stream", **changed}
    return page.post(f"/api/import?name={quote(name)}", content, **headers)


def kinds(plan: Any) -> list[tuple[str, str, bool]]:
    return [(line["id"], line["kind"], line["wanted"]) for line in plan["lines"]]


def written(place: Path, name: str) -> bytes:
    return script_format(name).encode(load_track(place / TRACK))


def texts(place: Path) -> list[str]:
    return [cue.text for cue in load_track(place / TRACK).heard]


@pytest.mark.parametrize("name", ["srt", "vtt", "dapt", "csv"])
def test_what_a_file_changes_is_shown_first_and_then_done_as_one_step(
    page: Page, place: Path, name: str
) -> None:
    first, second, third = load_track(place / TRACK).heard
    data = written(place, name).replace(first.text.encode(), b"A hound runs.")
    if name == "srt":
        data += b"1\n00:00:18,000 --> 00:00:19,000\nNight falls.\n\n"
    before = (place / TRACK).read_bytes()
    plan = give(page, f"C:\\files\\mine.{script_format(name).ending}", data).json
    assert plan["name"] == f"mine.{script_format(name).ending}"
    assert (plan["lines"][0]["old"]["text"], plan["lines"][0]["new"]["text"]) == (first.text, "A hound runs.")
    added = ["h00018000"] if name == "srt" else []
    assert kinds(plan) == [(first.id, "changed", True), *((line, "added", True) for line in added)]
    assert (plan["unchanged"], (place / TRACK).read_bytes()) == (2, before)
    body = {"token": plan["token"], "lines": [first.id, *added], "tab": "here"}
    answer = page.post("/api/import/apply", body)
    assert answer.status == 200, answer.text
    assert texts(place)[:3] == ["A hound runs.", second.text, third.text]
    assert answer.json["said"]["text"].endswith(
        "1 line changed and 1 line added." if added else "1 line changed."
    )
    assert page.post("/api/import/apply", body).status == 400, "it is done once"
    page.act("undo", "")
    assert texts(place) == [first.text, second.text, third.text]


def test_an_import_can_be_undone_after_a_restart(place: Path) -> None:
    with reviewed(place) as (_, page):
        before = texts(place)
        plan = give(
            page, "mine.srt", written(place, "srt").replace(before[1].encode(), b"Somebody walks.")
        ).json
        page.post("/api/import/apply", {"token": plan["token"], "lines": [plan["lines"][0]["id"]]})
        assert texts(place)[1] == "Somebody walks."
    with reviewed(place) as (_, page):
        page.act("undo", "")
    assert texts(place) == before


def test_a_partial_file_removes_nothing_unasked(page: Page, place: Path) -> None:
    first, second, third = load_track(place / TRACK).heard
    part = f"1\n00:00:0{first.start:.3f} --> 00:00:04,000\nA hound runs.\n".replace(".", ",", 1)
    part = "1\n00:00:01,000 --> 00:00:04,000\nA hound runs.\n"
    plan = give(page, "part.srt", part).json
    assert kinds(plan) == [
        (first.id, "changed", True), (second.id, "missing", False), (third.id, "missing", False),
    ]  # fmt: skip
    page.post("/api/import/apply", {"token": plan["token"], "lines": [first.id]})
    assert texts(place) == ["A hound runs.", second.text, third.text]
    plan = give(page, "part.srt", part).json
    page.post("/api/import/apply", {"token": plan["token"], "lines": [third.id]})
    assert texts(place) == ["A hound runs.", second.text]


def test_only_what_both_sides_changed_is_a_conflict(page: Page, place: Path) -> None:
    first, second, _ = load_track(place / TRACK).heard
    page.act("write", first.id, {"text": "A dog barks loudly."})
    page.act("write", second.id, {"text": "She leaves now."})
    data = written(place, "csv").replace(b"A dog barks loudly.", b"A hound barks.")
    page.act("write", first.id, {"text": "A cat meows."})
    page.act("write", second.id, {"text": "He leaves."})
    plan = give(page, "mine.csv", data).json
    assert kinds(plan) == [(first.id, "conflict", False)]
    assert plan["counts"] == {"conflict": 1, "kept": 1}
    page.post("/api/import/apply", {"token": plan["token"], "lines": [first.id]})
    assert texts(place)[:2] == ["A hound barks.", "He leaves."]


def test_a_line_that_changes_meanwhile_is_not_written_over(page: Page, place: Path) -> None:
    first, *_ = load_track(place / TRACK).heard
    plan = give(page, "mine.srt", written(place, "srt").replace(first.text.encode(), b"A hound runs.")).json
    page.act("write", first.id, {"text": "A cat meows."})
    answer = page.post("/api/import/apply", {"token": plan["token"], "lines": [first.id]})
    assert answer.status == 400
    assert "has changed since you saw" in answer.text
    assert texts(place)[0] == "A cat meows."


@pytest.mark.parametrize(("changed", "status"), [
    ({"content_type": "application/json"}, 415), ({"content_type": "multipart/form-data"}, 415),
    ({"content_type": None}, 415), ({"x_shotad": None}, 403), ({"origin": "http://elsewhere"}, 403),
    ({"cookie": None}, 401), ({"content_length": "40000001"}, 413), ({"content_length": "x"}, 413),
])  # fmt: skip
def test_a_file_from_elsewhere_is_not_read(page: Page, changed: dict[str, str | None], status: int) -> None:
    assert give(page, "a.srt", "1\n00:00:01,000 --> 00:00:02,000\nA.\n", **changed).status == status


def test_a_file_that_cannot_be_read_is_refused_with_its_place(page: Page) -> None:
    answer = give(page, "a.srt", "1\n00:00:01,000 --> later\nA.\n")
    assert (answer.status, "a.srt, line 2" in answer.json["error"]["what"]) == (400, True)
    assert "is empty" in give(page, "a.srt", "").json["error"]["what"]
    assert "a PDF document" in give(page, "\x00../a.srt", "%PDF-1.4").json["error"]["what"]
    large = b" " * 40_000_001
    assert give(page, "a.srt", large, content_length=None).status == 413
    for body in ({"token": "x", "lines": ["s00001000"]}, {"token": 1, "lines": []}, {"lines": "a"}):
        assert page.post("/api/import/apply", body).status == 400
