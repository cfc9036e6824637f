"""A line is recorded on the page: sent, kept, heard, undone; what is no recording is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shotad.sound.programme import RATE
from shotad.sound.takes import wav
from tests.rendering.described import rendered
from tests.rendering.test_own_voice import CAT, DOOR, read_line
from tests.review.reviewed import Page, reviewed


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with reviewed(tmp_path / "film.shotad") as (_, page):
        yield page


def sent(page: Page, line: str, data: bytes, **headers: str) -> Any:
    seen = page.line(line)["stamp"]
    named = {"content_type": "application/octet-stream", **headers}
    return page.post(f"/api/lines/{line}/recording?seen={seen}&tab=here", data, **named)


def test_a_recording_is_kept_heard_and_undone_in_one_step(page: Page, tmp_path: Path) -> None:
    data = wav(read_line().samples, RATE)
    answer = sent(page, CAT, data)
    assert answer.status == 200, answer.text
    assert answer.json["warnings"] == []
    assert answer.json["changed"]["said"]["text"].startswith("Recorded: 1.")
    line = page.line(CAT)
    assert (line["recording"]["fits"], line["state"]) == (True, "edited")
    sound = page.get(f"/media/recordings/{CAT}")
    assert (sound.status, sound.headers["content-type"], sound.body[:4]) == (200, "audio/flac", b"fLaC")
    done, _ = rendered(tmp_path / "film.shotad", "ad")
    assert len(done.recorded) == 1
    page.film()
    assert page.ask({"act": "undo"}).status == 200
    assert page.line(CAT)["recording"] is None
    assert page.get(f"/media/recordings/{CAT}").status == 404
    assert page.ask({"act": "redo"}).status == 200
    assert page.line(CAT)["recording"]["fits"]


def test_other_words_make_it_outdated_until_it_is_kept_or_discarded(page: Page) -> None:
    sent(page, CAT, wav(read_line().samples, RATE))
    page.act("write", CAT, {"text": "A dog sleeps by the window."})
    assert page.line(CAT)["recording"]["fits"] is False
    assert page.act("keep_recording", CAT).json["said"]["text"] == "Your recording is used for the new words."
    assert page.line(CAT)["recording"]["fits"]
    assert (
        page.act("discard_recording", CAT).json["said"]["text"]
        == "Recording removed: the voice speaks the line."
    )
    assert page.line(CAT)["recording"] is None
    page.ask({"act": "undo"})
    assert page.line(CAT)["recording"]["fits"]
    # What is given back to the machine has its voice too.
    page.act("machine", CAT)
    assert page.line(CAT)["recording"] is None


def test_what_is_no_recording_is_refused(page: Page) -> None:
    silent = wav(read_line().samples * 0, RATE)
    answer = sent(page, CAT, silent)
    assert (answer.status, answer.json["error"]["what"]) == (400, "Nothing can be heard in the recording.")
    assert sent(page, CAT, b"{}", content_type="application/json").status == 415
    assert sent(page, CAT, b"x" * 60_000_000).status == 413
    assert page.post("/api/acts", b"RIFF", content_type="audio/wav").status == 415
    good = wav(read_line().samples, RATE)
    assert (
        page.post(
            f"/api/lines/{CAT}/recording?seen=older", good, content_type="application/octet-stream"
        ).status
        == 400
    )
    assert sent(page, CAT, good, x_shotad="").status == 403
    assert (
        page.post("/api/lines/s99999999/recording", good, content_type="application/octet-stream").status
        == 400
    )
    forged = {"file": "../../x", "stamp": "0", "seconds": 1}
    assert page.act("record", CAT, forged).status == 400
    other = f"{DOOR}-01234567-0123456789abcdef.flac"
    assert page.act("record", CAT, {"file": other, "stamp": "01234567", "seconds": 1}).status == 400
    assert page.line(CAT)["recording"] is None


def test_a_line_has_a_voice_and_pace_of_its_own(page: Page) -> None:
    assert page.act("voice", CAT, {"name": "fake:deep"}).json["said"]["text"] == "Spoken by fake:deep."
    assert page.act("pace", CAT, {"times": 1.2}).json["said"]["text"] == "Spoken 1.2 times as fast."
    line = page.line(CAT)
    assert (line["own_voice"], line["pace"], line["state"]) == ("fake:deep", 1.2, "edited")
    assert page.act("pace", CAT, {"times": 3}).status == 400
    assert page.act("voice", CAT, {"name": "openai:nova"}).status == 400
    page.act("voice", CAT, {"name": ""})
    page.act("pace", CAT, {"times": 1})
    assert page.line(CAT)["state"] == "machine"


def test_only_the_page_itself_may_use_the_microphone(page: Page) -> None:
    policy = page.get("/").headers["permissions-policy"]
    assert "microphone=(self)" in policy
    assert "camera=()" in policy


def test_how_a_word_is_said_is_kept_for_the_film(page: Page, tmp_path: Path) -> None:
    assert page.get("/api/sayings").json == {"sayings": []}
    answer = page.post("/api/sayings", {"word": "cat", "saying": "katt"})
    assert answer.json["said"]["text"] == "“cat” is said as “katt” in this film."
    assert page.get("/api/sayings").json == {"sayings": [{"word": "cat", "saying": "katt", "own": True}]}
    assert (tmp_path / "film.shotad" / "pronunciation.txt").read_text() == "cat = katt\n"
    refused = page.post("/api/sayings", {"word": "cat", "saying": "12"})
    assert (refused.status, "no letter to say" in refused.json["error"]["what"]) == (400, True)
    page.post("/api/sayings", {"word": "cat", "saying": ""})
    assert page.get("/api/sayings").json == {"sayings": []}


def test_the_page_offers_a_sidecar_and_speaks_forced_subtitles(page: Page, tmp_path: Path) -> None:
    makes = {row["kind"]: row["endings"] for row in page.film()["makes"]}
    assert makes["sidecar"] == ["mka"]
    job = page.job(kind="render", makes=["sidecar:mka"], voice="fake", subtitles=True)
    assert job["state"] == "failed"
    assert "No forced subtitles" in job["error"]["what"]
    job = page.job(kind="render", makes=["sidecar:mka"], voice="fake")
    assert job["state"] == "done", job["error"]
    assert job["result"]["files"][0]["name"].endswith(".en.ad.mka")
