"""A translation in a work folder: files, a person's edits, scripts that were changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings, strategies as st

from shotad.core import Config, Interval, RecordLog, Request, WorkFolder
from shotad.description import TranslationOutcome, read_source, translate_into
from shotad.description.translation import Source, translate_track
from shotad.script import CueStatus, Track, load_track, read_cues, spoken_words, to_json
from shotad.script.dapt_reader import check_dapt
from tests.translating.germans import GERMAN, IDS, LINES, Translator, asked, slots_of, track_of


def run(
    place: Path, engine: Translator | None = None, track: Track | None = None, *, discard_edits: bool = False
) -> TranslationOutcome:
    track = track or track_of()
    with WorkFolder(place) as folder:
        source = Source(track, slots_of(track), ("Ann",))
        return translate_into(
            folder, source, "de", engine or Translator(), Config(), discard_edits=discard_edits
        )


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_track_and_its_scripts_carry_the_language(tmp_path: Path) -> None:
    outcome = run(tmp_path)
    assert [path.name for path in outcome.files] == [
        "track.de.json",
        "movie.de.ad.vtt",
        "movie.de.ad.srt",
        "movie.de.ad.dapt.xml",
        "movie.de.ad.csv",
    ]
    assert load_track(tmp_path / "track.de.json") == outcome.track
    assert [cue.text for cue in read_cues(tmp_path / "movie.de.ad.vtt")] == list(GERMAN.values())
    assert "Language: de" in (tmp_path / "movie.de.ad.vtt").read_text()
    assert check_dapt((tmp_path / "movie.de.ad.dapt.xml").read_bytes()) == ()
    assert not (tmp_path / "track.json").exists()


def test_the_same_again_changes_no_byte(tmp_path: Path) -> None:
    first = {path.name: path.read_bytes() for path in run(tmp_path).files}
    log = (tmp_path / "translate.de.jsonl").read_bytes()
    again = Translator()
    assert {path.name: path.read_bytes() for path in run(tmp_path, again).files} == first
    assert (tmp_path / "translate.de.jsonl").read_bytes() == log
    assert again.calls == 0


def test_what_a_person_changed_stays_when_the_line_is_translated_anew(tmp_path: Path) -> None:
    run(tmp_path)
    edit(
        tmp_path / "track.de.json",
        '"text": "Ann öffnet die Tür.",\n      "kind"',
        '"text": "Ann reißt die Tür auf.",\n      "kind"',
    )
    kept = run(tmp_path)
    assert kept.track.cues[0].text == "Ann reißt die Tür auf."
    assert kept.kept == (IDS[0],)
    assert kept.warnings == ()
    assert kept.track.cues[0].interval.duration == spoken_words("Ann reißt die Tür auf.", "de") * 0.375
    cues = list(track_of().cues)
    cues[0] = replace(cues[0], text=LINES[4])
    outcome = run(tmp_path, track=replace(track_of(), cues=tuple(cues)))
    assert outcome.track.cues[0].text == "Ann reißt die Tür auf."
    machine = outcome.track.cues[0].machine
    assert machine is not None
    assert machine.text == GERMAN[LINES[4]]
    assert IDS[0] in outcome.warnings[0]
    assert run(tmp_path, discard_edits=True).track.cues[0].text == GERMAN[LINES[0]]


def test_an_edited_script_comes_in(tmp_path: Path) -> None:
    run(tmp_path)
    edit(tmp_path / "movie.de.ad.vtt", "Sie setzen sich ans Feuer.", "Sie setzen sich zum Feuer.")
    outcome = run(tmp_path)
    assert outcome.track.heard[4].text == "Sie setzen sich zum Feuer."
    assert "zum Feuer" in (tmp_path / "movie.de.ad.srt").read_text()


def test_an_edit_of_the_source_script_is_translated(tmp_path: Path) -> None:
    from shotad.script import save_track

    save_track(track_of(), tmp_path, "movie.mp4")
    edit(tmp_path / "movie.ad.vtt", "Ann opens the door.", "They sit down by the fire.")
    source = read_source(tmp_path / "track.json")
    assert source.track.heard[0].text == "They sit down by the fire."
    assert source.track.heard[0].edited is not None


def test_a_review_lapses_where_lines_change(tmp_path: Path) -> None:
    run(tmp_path)
    edit(tmp_path / "track.de.json", '"reviewed_by": []', '"reviewed_by": ["Kim"]')
    assert run(tmp_path).track.reviewed_by == ("Kim",)
    cues = list(track_of().cues)
    cues[0] = replace(cues[0], text=LINES[4])
    outcome = run(tmp_path, track=replace(track_of(), cues=tuple(cues)))
    assert outcome.track.reviewed_by == ()
    assert any("Kim" in warning for warning in outcome.warnings)


def test_a_translation_can_be_translated(tmp_path: Path) -> None:
    run(tmp_path)
    german = load_track(tmp_path / "track.de.json")
    back = {text: line for line, text in GERMAN.items()}
    engine = Translator(lambda request: json.dumps({k: back[v] for k, v in asked(request).items()}))
    log = RecordLog(tmp_path / "translate.en.jsonl")
    done = translate_track(german, "en", engine, Config(), log, slots=slots_of(german))
    assert [cue.text for cue in done.track.heard] == list(LINES)
    assert "Translated from German." in done.track.statement
    assert (german.translated_from, done.track.translated_from) == ("en", "de")


WORDS = st.sampled_from(
    [
        "Sie",
        "er",
        "die",
        "Tür",
        "öffnet",
        "und",
        "rennt",
        "Haus",
        "Feuer",
        "der",
        "the",
        "opens",
        "she",
        "Ann",
        "Straßenbahnhaltestelle",
    ]
)
SAID = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=25).map(" ".join))


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_answered_times_and_ids_stay_and_budgets_hold(
    tmp_path_factory: object, data: st.DataObject
) -> None:
    place = tmp_path_factory.mktemp("w")  # type: ignore[attr-defined]
    track, slots = track_of(), {slot.id: slot for slot in slots_of(track_of(), 3.0)}

    def anything(request: Request) -> str:
        said = {name: data.draw(SAID) for name in asked(request)}
        gone = data.draw(st.sets(st.sampled_from(sorted(said))))
        return data.draw(
            st.sampled_from((json.dumps({k: v for k, v in said.items() if k not in gone}), "no"))
        )

    log: Callable[[], RecordLog] = lambda: RecordLog(place / "translate.de.jsonl")  # noqa: E731
    done = translate_track(track, "de", Translator(anything), Config(), log(), slots=tuple(slots.values()))
    assert [cue.id for cue in done.track.cues] == [cue.id for cue in track.cues]
    for cue, before in zip(done.track.cues, track.cues, strict=True):
        assert cue.interval.start == before.interval.start
        assert cue.language == "de"
        if cue.heard:
            assert spoken_words(cue.text, "de") <= slots[cue.id].max_words
            assert cue.interval.end <= slots[cue.id].interval.end
            assert cue.text != before.text
        elif before.heard:
            assert cue.status in (CueStatus.FAILED, CueStatus.DROPPED)
            assert cue.reason
            assert cue.text == ""
    told = {one.id for one in done.failed}
    assert told == {cue.id for cue in done.track.cues if not cue.heard and cue.id in slots}
    open_ = Translator(lambda request: json.dumps(dict.fromkeys(asked(request), "Er geht.")))
    translate_track(track, "de", open_, Config(), log(), slots=tuple(slots.values()))
    failed = {cue.id for cue in done.track.cues if cue.status is CueStatus.FAILED}
    assert {name for ids in open_.asked for name in ids} == failed


def test_a_line_that_a_person_added_is_translated(tmp_path: Path) -> None:
    path = tmp_path / "track.json"
    path.write_text(to_json(track_of()), encoding="utf-8")
    raw = json.loads(path.read_text())
    raw["cues"].append({"start": 70.0, "end": 73.0, "text": LINES[4]})
    path.write_text(json.dumps(raw), encoding="utf-8")
    outcome = run(tmp_path, track=read_source(path).track)
    added = next(cue for cue in outcome.track.cues if cue.id == "h00070000")
    assert (added.text, added.slot_id) == (GERMAN[LINES[4]], None)
    assert added.interval == Interval(70.0, 73.0)
