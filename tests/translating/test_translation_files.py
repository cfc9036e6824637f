"""A translation in a work folder: files, a person's edits, scripts that come back, and what is out of date."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Config, RecordLog, WorkFolder, readable_json, slot_rows
from shotad.description import TranslationOutcome, read_source, translate_into
from shotad.description.translation import Source, translate_track
from shotad.script import (
    TRACK,
    CueStatus,
    Track,
    import_into,
    load_track,
    outdated_note,
    read_cues,
    save_track,
    spoken_words,
    translation_of,
)
from shotad.script.dapt_reader import check_dapt
from shotad.script.track_files import outdated
from tests.rendering.described import change
from tests.translating.germans import GERMAN, IDS, LINES, Translator, asked, slots_of, track_of, with_first


def run(
    place: Path, engine: Translator | None = None, track: Track | None = None, *, discard_edits: bool = False
) -> TranslationOutcome:
    track = track or track_of()
    with WorkFolder(place) as folder:
        source = Source(track, slots_of(track), ("Ann",))
        return translate_into(
            folder, source, "de", engine or Translator(), Config(), discard_edits=discard_edits
        )


def test_the_track_and_its_scripts_carry_the_language(tmp_path: Path) -> None:
    outcome = run(tmp_path)
    assert [path.name for path in outcome.files] == [
        "track.de.json", "movie.de.ad.vtt", "movie.de.ad.srt", "movie.de.ad.dapt.xml", "movie.de.ad.csv",
    ]  # fmt: skip
    assert load_track(tmp_path / "track.de.json") == outcome.track
    assert [cue.text for cue in read_cues(tmp_path / "movie.de.ad.vtt")] == list(GERMAN.values())
    assert "Language: de" in (tmp_path / "movie.de.ad.vtt").read_text()
    assert check_dapt((tmp_path / "movie.de.ad.dapt.xml").read_bytes()) == ()
    assert not (tmp_path / "track.json").exists()


def test_what_a_person_changed_stays_when_the_line_is_translated_anew(tmp_path: Path) -> None:
    run(tmp_path)
    opens, tears = (
        f'"text": "{text}",\n      "kind"' for text in (GERMAN[LINES[0]], "Ann reißt die Tür auf.")
    )
    change(tmp_path / "track.de.json", opens, tears)
    kept = run(tmp_path)
    assert kept.track.cues[0].text == "Ann reißt die Tür auf."
    assert kept.kept == (IDS[0],)
    assert kept.warnings == ()
    assert kept.track.cues[0].interval.duration == spoken_words("Ann reißt die Tür auf.", "de") * 0.375
    outcome = run(tmp_path, track=with_first(text=LINES[4]))
    assert outcome.track.cues[0].text == "Ann reißt die Tür auf."
    machine = outcome.track.cues[0].machine
    assert machine is not None
    assert machine.text == GERMAN[LINES[4]]
    assert IDS[0] in outcome.warnings[0]
    assert run(tmp_path, discard_edits=True).track.cues[0].text == GERMAN[LINES[0]]


def test_an_edit_of_the_source_script_is_translated(tmp_path: Path) -> None:
    from shotad.script import save_track

    save_track(track_of(), tmp_path, "movie.mp4")
    change(tmp_path / "movie.ad.vtt", "Ann opens the door.", "They sit down by the fire.")
    source = read_source(tmp_path / "track.json")
    assert source.track.heard[0].text == "They sit down by the fire."
    assert source.track.heard[0].edited is not None


WORDS = st.sampled_from(
    ["Sie", "die", "Tür", "öffnet", "und", "the", "opens", "Ann", "Straßenbahnhaltestelle"]
)
SAID = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=25).map(" ".join))


@given(st.data())
@settings(max_examples=12)
def test_whatever_is_answered_times_and_ids_stay_and_budgets_hold(tmp_path_factory, data):
    track, slots = track_of(), {slot.id: slot for slot in slots_of(track_of(), 3.0)}
    log = RecordLog(tmp_path_factory.mktemp("w") / "translate.de.jsonl")
    engine = Translator(lambda request: json.dumps({name: data.draw(SAID) for name in asked(request)}))
    done = translate_track(Source(track, tuple(slots.values())), "de", engine, Config(), log)
    assert [cue.id for cue in done.track.cues] == [cue.id for cue in track.cues]
    for cue, before in zip(done.track.cues, track.cues, strict=True):
        assert cue.interval.start == before.interval.start
        if cue.heard:
            assert spoken_words(cue.text, "de") <= slots[cue.id].max_words
            assert cue.interval.end <= slots[cue.id].interval.end
            assert cue.text != before.text
        elif before.heard:
            assert cue.status in (CueStatus.FAILED, CueStatus.DROPPED)
            assert (bool(cue.reason), cue.text) == (True, "")


def test_a_review_lapses_where_lines_change(tmp_path: Path) -> None:
    run(tmp_path)
    change(tmp_path / "track.de.json", '"reviewed_by": []', '"reviewed_by": ["Kim"]')
    assert run(tmp_path).track.reviewed_by == ("Kim",)
    outcome = run(tmp_path, track=with_first(text=LINES[4]))
    assert outcome.track.reviewed_by == ()
    assert any("Kim" in warning for warning in outcome.warnings)


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
