"""Translations beside a track: their scripts come back, and what is out of date is known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Config, WorkFolder, readable_json, slot_rows
from shotad.description import read_source, translate_into
from shotad.script import (
    TRACK,
    CueKind,
    Track,
    import_into,
    is_translation,
    load_track,
    outdated_note,
    save_track,
    save_translation,
    spoken_words,
    translation_of,
    with_translation_scripts,
)
from shotad.script.track_files import outdated
from tests.translating.germans import GERMAN, IDS, Translator, asked, saying, slots_of, track_of


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


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def stale(place: Path) -> tuple[str, ...]:
    return outdated(load_track(place / "track.de.json"), WorkFolder(place))


def test_a_translation_is_known_by_its_name_and_language(place: Path) -> None:
    track = load_track(place / "track.de.json")
    assert track.translated_from == "en"
    assert is_translation(place / "track.de.json", track)
    assert not is_translation(place / TRACK, load_track(place / TRACK))
    assert not is_translation(place / "track.fr.json", track)


def test_a_script_that_was_changed_comes_back_and_is_saved(place: Path) -> None:
    change(place / "movie.de.ad.vtt", "Ann öffnet die Tür.", "Ann reißt die Tür auf.")
    folder, track = WorkFolder(place), load_track(place / "track.de.json")
    brought = with_translation_scripts(track, folder, {}, 0.375)
    assert brought.changed == {"movie.de.ad.vtt": 1}
    assert brought.track.cues[0].text == "Ann reißt die Tür auf."
    save_translation(brought.track, folder)
    saved = load_track(place / "track.de.json")
    assert saved == brought.track
    assert with_translation_scripts(saved, folder, {}, 0.375).changed == {}


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


def test_nothing_is_outdated_where_nothing_was_changed(place: Path) -> None:
    assert stale(place) == ()
    assert outdated_note(load_track(place / "track.de.json"), WorkFolder(place)) is None
    assert outdated(load_track(place / TRACK), WorkFolder(place)) == ()


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
    engine = Translator(
        lambda request: json.dumps({k: known[v] for k, v in asked(request).items()}, ensure_ascii=False)
    )
    translated(place, engine)
    assert engine.asked == [[IDS[4]]]
    assert stale(place) == ()


def test_a_line_that_was_taken_out_is_outdated(place: Path) -> None:
    tree = json.loads((place / TRACK).read_text())
    tree["cues"] = [cue for cue in tree["cues"] if cue["id"] != IDS[1]]
    (place / TRACK).write_text(json.dumps(tree))
    assert stale(place) == (IDS[1],)


def test_a_line_that_a_person_added_to_the_translation_is_not(place: Path) -> None:
    tree = json.loads((place / "track.de.json").read_text())
    tree["cues"].append({"start": 70.0, "end": 72.0, "text": "Es schneit."})
    (place / "track.de.json").write_text(json.dumps(tree))
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


def test_a_line_cut_before_what_it_reads_is_no_text_any_more(place: Path) -> None:
    track = track_of()
    cues = tuple(replace(cue, kind=CueKind.TEXT) if cue.id == IDS[1] else cue for cue in track.cues)
    save_track(replace(track, cues=cues), place, "movie.mp4")
    long = "Er steht dort. Ganz groß und rot leuchtet in der dunklen Nacht vor ihm: „Ausgang“."
    (place / "translate.de.jsonl").unlink()
    assert translated(place).cues[1].kind is CueKind.TEXT
    (place / "translate.de.jsonl").unlink()
    engine = Translator(saying(lambda said: said.update({k: long for k in said if k == IDS[1]})))
    cut = translated(place, engine)
    assert (cut.cues[1].text, cut.cues[1].kind) == ("Er steht dort.", CueKind.ACTION)
