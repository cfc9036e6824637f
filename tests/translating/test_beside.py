"""Translations beside a track: their scripts come back, and what is out of date is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.core import Config, WorkFolder, readable_json, slot_rows
from shotad.description import read_source, translate_into
from shotad.script import (
    TRACK,
    Track,
    import_into,
    load_track,
    outdated_note,
    save_track,
    spoken_words,
    translation_of,
)
from shotad.script.track_files import outdated
from tests.rendering.described import change
from tests.translating.germans import GERMAN, IDS, Translator, asked, slots_of, track_of


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A work folder with a track and its German translation."""
    save_track(track_of(), tmp_path, "movie.mp4")
    slots = slot_rows(slots_of(track_of()))
    (tmp_path / "slots.json").write_text(readable_json({"slots": slots}))
    translated(tmp_path)
    return tmp_path


def translated(place: Path, engine: Translator | None = None) -> Track:
    with WorkFolder(place) as folder:
        source = read_source(place / TRACK)
        return translate_into(folder, source, "de", engine or Translator(), Config()).track


def stale(place: Path) -> tuple[str, ...]:
    return outdated(load_track(place / "track.de.json"), WorkFolder(place))


def test_a_script_is_imported_into_the_translation_that_it_is_of(place: Path) -> None:
    script = place / "movie.de.ad.vtt"
    change(script, "Ann öffnet die Tür.", "Ann reißt die Tür auf.")
    change(place / "movie.de.ad.csv", "Er rennt, stolpert und stürzt.", "Er rennt und stürzt.")
    assert translation_of(script, place) == place / "track.de.json"
    assert translation_of(place / "movie.ad.vtt", place) is None
    before = (place / TRACK).read_bytes()
    done = import_into(place / "track.de.json", script, None, reviewers=("Kim",))
    assert done.changed == (IDS[0],)
    saved = load_track(place / "track.de.json")
    assert [cue.text for cue in saved.cues[:3:2]] == ["Ann reißt die Tür auf.", "Er rennt und stürzt."]
    assert saved.reviewed_by == ("Kim",)
    assert saved.cues[0].interval.duration == spoken_words("Ann reißt die Tür auf.", "de") * 0.375
    assert (place / TRACK).read_bytes() == before
    assert "Er rennt und stürzt." in script.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", [TRACK, "movie.ad.vtt"])
def test_a_line_that_was_retold_is_outdated_until_it_is_translated_again(place: Path, file: str) -> None:
    change(place / file, "They sit down by the fire.", "They sit by a fire.")
    assert stale(place) == (IDS[4],)
    note = outdated_note(load_track(place / "track.de.json"), WorkFolder(place))
    assert note == (
        f"1 line was changed in the source since this was translated ({IDS[4]}): run shotad translate with "
        "--to de again; only these are asked for."
    )
    known = {**GERMAN, "They sit by a fire.": "Sie sitzen am Feuer."}
    engine = Translator(lambda request: json.dumps({k: known[v] for k, v in asked(request).items()}))
    translated(place, engine)
    assert engine.asked == [[IDS[4]]]
    assert stale(place) == ()


def test_without_its_source_nothing_is_said(place: Path) -> None:
    change(place / TRACK, "They sit down by the fire.", "They sit by a fire.")
    (place / TRACK).rename(place / "elsewhere.json")
    assert stale(place) == ()
    (place / TRACK).write_text("{")
    assert stale(place) == ()


def test_a_translation_of_a_translation_takes_its_edited_scripts_along(place: Path) -> None:
    change(place / "movie.de.ad.srt", "Ann öffnet die Tür.", "Ann reißt die Tür auf.")
    source = read_source(place / "track.de.json")
    assert source.track.cues[0].text == "Ann reißt die Tür auf."
