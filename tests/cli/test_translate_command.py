"""``shotad translate``: a server that answers in German, and one that misbehaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.core import readable_json, slot_rows
from shotad.script import load_track, save_track, to_json
from tests.bad_server import Act, BadServer, Seen, answer, status
from tests.cli.program import Shotad
from tests.translating.germans import GERMAN, IDS, LINES, slots_of, track_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    place = tmp_path / "movie.shotad"
    place.mkdir()
    save_track(track_of(), place, "movie.mp4")
    (place / "slots.json").write_text(readable_json({"slots": slot_rows(slots_of(track_of()))}))
    return place


def rows(seen: Seen) -> dict[str, str]:
    found = (json.loads(row) for row in seen.question.splitlines() if row.startswith('{"id"'))
    return {row["id"]: row["line"] for row in found}


def german(seen: Seen) -> Act:
    said = {name: GERMAN[line] for name, line in rows(seen).items()}
    return answer(json.dumps(said, ensure_ascii=False))


def words(folder: Path, server: BadServer, *more: str) -> tuple[object, ...]:
    own = (
        "--set", f"openai.base_url={server.url}", "--set", "openai.model=tiny", "--set", "openai.retries=0",
    )  # fmt: skip
    return ("translate", folder, "--to", "de", "--engine", "openai", *own, *more)


def test_a_track_is_translated_by_a_server(shotad: Shotad, folder: Path) -> None:
    with BadServer(german) as server:
        said = shotad(*words(folder, server))
        assert said.code == 0, said.err
        assert len(server.requests) == 1
        assert shotad(*words(folder, server)).code == 0
        assert len(server.requests) == 1
    assert "Lines in German: 5 to be spoken; asked for 5, translated before 0." in said.out
    assert "Used by Stage II, openai" in said.out
    assert "leave this machine" not in said.err  # the server is on this machine
    track = load_track(folder / "track.de.json")
    assert [cue.text for cue in track.heard] == list(GERMAN.values())
    assert (folder / "movie.de.ad.vtt").is_file()
    assert load_track(folder / "track.json") == track_of()
    assert "translated into de" in (folder / "log.txt").read_text()


def test_lines_that_stay_english_are_told_with_their_reason(shotad: Shotad, folder: Path) -> None:
    def stubborn(seen: Seen) -> Act:
        said = {name: line if name == IDS[2] else GERMAN[line] for name, line in rows(seen).items()}
        return answer(f"Here you go:\n```json\n{json.dumps(said)}\n```")

    with BadServer(stubborn) as server:
        said = shotad(*words(folder, server, "--json"))
        strictly = shotad(*words(folder, server, "--strict"))
    assert (said.code, strictly.code) == (0, 3)
    assert "1 of 5 lines failed: " in said.err
    told = json.loads(said.out)
    assert [one["id"] for one in told["failed"]] == [IDS[2]]
    assert "another language" in told["failed"][0]["reason"]
    assert LINES[2] not in (folder / "movie.de.ad.vtt").read_text()
    assert told["used"]["calls"] == 3


def test_a_server_that_is_gone_stops_the_run_and_writes_no_track(shotad: Shotad, folder: Path) -> None:
    with BadServer([status(401, "bad key")]) as server:
        said = shotad(*words(folder, server))
    assert said.code == 1
    assert said.err.count("Error:") == 1
    assert not (folder / "track.de.json").exists()


def test_an_estimate_sends_nothing(shotad: Shotad, folder: Path) -> None:
    with BadServer(german) as server:
        said = shotad(*words(folder, server, "--estimate"))
        assert server.requests == []
    assert said.code == 0, said.err
    assert "calls: 1, at most 3" in said.out
    assert not (folder / "track.de.json").exists()


def test_it_may_go_elsewhere_from_a_file(shotad: Shotad, folder: Path, tmp_path: Path) -> None:
    track, place = tmp_path / "mine.json", tmp_path / "out"
    track.write_text(to_json(track_of()), encoding="utf-8")
    (folder / "slots.json").rename(tmp_path / "slots.json")
    with BadServer(german) as server:
        said = shotad(*words(track, server, "--out", str(place)))
    assert said.code == 0, said.err
    assert (place / "track.de.json").is_file()
    assert not (folder / "track.de.json").exists()


def test_names_of_the_cast_and_the_note_go_along(shotad: Shotad, folder: Path, tmp_path: Path) -> None:
    cast, note = tmp_path / "cast.yaml", tmp_path / "note.txt"
    cast.write_text("people:\n  - {id: ann, name: Ann}\n", encoding="utf-8")
    note.write_text("Ann is a thief.", encoding="utf-8")
    with BadServer(german) as server:
        said = shotad(*words(folder, server, "--cast", str(cast), "--note", str(note)))
        assert said.code == 0, said.err
        question = server.requests[0].question
    assert "Names of people stay as they are: <material>Ann</material>." in question
    assert "Ann is a thief." in question


@pytest.mark.parametrize(
    ("how", "kept"), [(("--quotes", "keep"), True), (("--set", "translate.quotes=keep"), True), ((), False)]
)
def test_what_becomes_of_text_on_the_screen_is_a_flag_and_a_setting(shotad, folder, how, kept):
    with BadServer(german) as server:
        shotad(*words(folder, server, *how))
        question = server.requests[0].question
    assert ("Leave them in their own language" in question) is kept
