"""The track file: what it holds, what it refuses, and how a person's changes are found in it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval
from shotad.core.errors import ScriptError
from shotad.script import (
    Cue,
    CueKind,
    CueStatus,
    Doubt,
    Edit,
    EditField,
    Maker,
    Provenance,
    Track,
    Translation,
    load_track,
)
from shotad.script.cue import (
    Derived,
    accept,
    clean_text,
    mark_edit,
    short_hash,
    spoken_interval,
)
from shotad.script.table_formats import write_csv
from shotad.script.track import (
    FilmId,
    from_json,
    to_json,
)

MAKERS = (Maker("stage1", "observer", "shotad", "0.1"), Maker("stage2", "narrator"))


def cue(start: float = 10.0, text: str = "A dog runs.", **more: Any) -> Cue:
    name = f"s{round(start * 1000):08d}"
    return Cue(name, name, Interval(start, start + 2.5), text, **more)


def track(*cues: Cue, **more: Any) -> Track:
    return Track(FilmId("film.mp4", "abc123", 70.5), "en", MAKERS, "0.1.0", cues, **more)


def edited_by_hand(before: Track, change: Callable[[dict[str, Any]], None]) -> Track:
    tree = json.loads(to_json(before))
    change(tree)
    return from_json(json.dumps(tree))


def test_round_trip_keeps_everything() -> None:
    full = cue(
        12.345, "Words appear:\n“SINTEL” & <more>", kind=CueKind.TEXT, language="en-GB",
        status=CueStatus.SHORTENED, reason="too long", candidates=("a", "b"), chosen=1,
        edited=Edit((EditField.TEXT,), "my.vtt", Derived(Interval(12.0, 14.0), "b", CueStatus.PLACED)),
        spoken_length=2.25, fit_steps=("faster", "clauses"), provenance=Provenance(MAKERS, "9f8e", 42),
        translation=Translation("Sie geht.", "She walks on.", "1a2b", 2),
    )  # fmt: skip
    before = track(cue(), full, cue(20.0, "", status=CueStatus.SILENT), reviewed_by=("Ada",))
    assert from_json(to_json(before)) == before
    assert to_json(from_json(to_json(before))) == to_json(before)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: cue(text=""), "placed but has no text"),
    (lambda: cue(text="a\n\nb"), "blank lines"),
    (lambda: cue(chosen=0), "chose 0 of 0"),
    (lambda: Cue("x1", None, Interval(0, 1), "a"), "'x1'"),
    (lambda: track(cue(20.0), cue(10.0)), "ascend"),
    (lambda: track(cue(), cue(text="B")), "'A dog runs.' and 'B'"),
])  # fmt: skip
def test_records_refuse_wrong_values_and_name_them(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


SILENT = cue(text="", status=CueStatus.SILENT, reason="nothing to say")
TWO = cue(candidates=("A dog runs.", "A hound races."), chosen=0)


@pytest.mark.parametrize(("before", "change", "fields", "after"), [
    (cue(), {"text": "A cat runs."}, (EditField.TEXT,), {"text": "A cat runs."}),
    (cue(), {"start": 10.001}, (EditField.TIME,), {"interval": Interval(10.001, 12.5)}),
    (cue(), {"status": "dropped"}, (EditField.STATUS,), {"status": CueStatus.DROPPED}),
    (cue(), {"text": ""}, (EditField.TEXT, EditField.STATUS), {"reason": "emptied by a person"}),
    (TWO, {"chosen": 1}, (EditField.TEXT,), {"text": "A hound races."}),
    (SILENT, {"text": "A dog."}, (EditField.TEXT, EditField.STATUS), {"status": CueStatus.PLACED, "reason": ""}),
])  # fmt: skip
def test_a_change_in_the_file_is_found_as_an_edit_and_given_back_by_null(before, change, fields, after):
    edited = edited_by_hand(track(before), lambda tree: tree["cues"][0].update(change))
    (line,) = edited.cues
    assert line.edited == Edit(fields, "track.json", before.machine)
    assert {name: getattr(line, name) for name in after} == after
    assert from_json(to_json(edited)) == edited
    back = edited_by_hand(edited, lambda tree: tree["cues"][0].update(edited=None))
    assert back.cues[0].edited is None


def test_an_added_line_needs_no_more_than_times_and_text_and_a_copy_no_id() -> None:
    def add(tree: dict[str, Any]) -> None:
        tree["cues"].append({"start": 10.0, "end": 11, "text": " A bell. "})
        tree["cues"].append({key: value for key, value in tree["cues"][0].items() if key != "id"})

    after = edited_by_hand(track(cue()), add)
    assert sorted((c.id, c.text) for c in after.cues) == [
        ("h00010000", "A bell."), ("h00010001", "A dog runs."), ("s00010000", "A dog runs.")
    ]  # fmt: skip
    assert [c.edited == Edit((EditField.ADDED,), "track.json", None) for c in after.cues].count(True) == 2
    with pytest.raises(ScriptError, match="'A dog runs.' and 'A cat runs.'"):
        edited_by_hand(track(cue()), lambda t: t["cues"].append({**t["cues"][0], "text": "A cat runs."}))


@pytest.mark.parametrize(("change", "message"), [
    (lambda t: t.update(schema_version=2), "schema_version 2; this shotad reads up to 1"),
    (lambda t: t["cues"][0].update(txt="A"), "cue s00010000 has an unknown key 'txt'. Did you mean text"),
    (lambda t: t["cues"][0].update(start="10"), "start must be a number of seconds, got '10'"),
    (lambda t: t["cues"][0].update(end=3), "start before it ends"),
    (lambda t: t["cues"][0].update(status="gone"), "'gone'"),
    (lambda t: t["cues"][0].update(seen_from="soon"), "seen_from must be a number of seconds, got 'soon'"),
    (lambda t: t["film"].update(duration=-1), "duration must be positive"),
    (lambda t: t.update(written=["s1"]), "'s1'"),
    (lambda t: t.update(translated_from="German!"), "translated_from must be a language's tag"),
    (lambda t: t.update(translated_form="de"), "Did you mean translated_from"),
])  # fmt: skip
def test_a_wrong_file_is_refused_with_place_and_value(change, message):
    with pytest.raises(ScriptError, match=message):
        edited_by_hand(track(cue()), change)


def test_broken_json_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "track.json"
    path.write_text(to_json(track(cue())).replace('"kind": "action",', '"kind": "action"'), encoding="utf-8")
    line = 1 + next(i for i, s in enumerate(path.read_text().splitlines(), 1) if '"kind"' in s)
    with pytest.raises(ScriptError, match=f"track.json, line {line},"):
        load_track(path)
    with pytest.raises(ScriptError, match="cannot be read"):
        load_track(tmp_path / "none.json")


def test_statement_says_machine_engines_edits_review_and_of_which_language_it_is_a_translation() -> None:
    plain, german = track(cue()), track(cue(), translated_from="de")
    made = "Audio description made by machine: shotad 0.1.0 (stage1: observer (shotad); stage2: narrator)."
    assert plain.statement == f"{made} Not reviewed by a person."
    touched = mark_edit(cue(text="B"), cue(), (EditField.TEXT,), "x")
    said = track(touched, reviewed_by=("Ada",)).statement
    assert said.endswith(" 1 line edited by a person. Reviewed by Ada.")
    assert "translated_from" not in to_json(plain)
    assert from_json(to_json(german)) == german
    assert "narrator). Translated from German. Not reviewed" in german.statement
    assert "Translated from qqx." in replace(german, translated_from="qqx").statement


@pytest.mark.parametrize(("slot", "words", "expected"), [
    (Interval(10, 20), 8, Interval(10, 13)),
    (Interval(10, 12), 8, Interval(10, 12)),
    (Interval(0, 5), 4, Interval(0.1, 1.6)),
    (Interval(10, 20), 0, Interval(10, 10.375)),
])  # fmt: skip
def test_spoken_interval(slot: Interval, words: int, expected: Interval) -> None:
    assert spoken_interval(slot, words, 0.375) == expected


@given(st.text(alphabet=st.characters(), max_size=40))
def test_clean_text_is_stable_and_good_for_a_cue(text: str) -> None:
    clean = clean_text(text)
    assert clean_text(clean) == clean
    assert "\n\n" not in clean
    if clean:
        assert from_json(to_json(track(cue(text=clean)))).cues[0] == cue(text=clean)


json_values: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.just([]) | st.just({})
)


@given(st.data())
def test_any_wrong_value_is_a_script_error(data: st.DataObject) -> None:
    full = cue(candidates=("a",), chosen=0, provenance=Provenance(MAKERS))
    tree = json.loads(to_json(track(mark_edit(full, full, (EditField.TEXT,), "x"))))
    place = data.draw(st.sampled_from([tree, tree["film"], tree["made_by"], tree["made_by"]["makers"][0],
                                       tree["cues"][0], tree["cues"][0]["machine"], tree["cues"][0]["edited"],
                                       tree["cues"][0]["provenance"]]))  # fmt: skip
    key = data.draw(st.sampled_from(sorted(place)))
    if data.draw(st.booleans()):
        place[key] = data.draw(json_values)
    else:
        del place[key]
    said = "track.json"
    try:
        from_json(json.dumps(tree))
    except ScriptError as error:
        said = error.what
    assert "track.json" in said


def test_doubt_is_of_the_words_it_was_told_of() -> None:
    plain = cue()
    doubted = replace(plain, stored_doubt=Doubt(0.4235, ("text read at 0.71",), short_hash(plain.text)))
    (read,) = from_json(to_json(track(doubted))).cues
    assert read.doubt == Doubt(0.42, ("text read at 0.71",), short_hash(plain.text))
    assert replace(read, text="Somebody else wrote this.").doubt is None
    assert accept(read, "Ann", "review").doubt is None
    assert replace(read, status=CueStatus.DROPPED).doubt is None
    assert '"doubt"' not in to_json(track(plain))
    rows = list(csv.DictReader(io.StringIO(write_csv(track(doubted, cue(20.0))).lstrip("\ufeff"))))
    assert [row["doubt"] for row in rows] == ["0.42", ""]
    assert "doubt 0.42: text read at 0.71" in rows[0]["remarks"]
    with pytest.raises(ScriptError, match="from 0 to 1"):
        from_json(to_json(track(doubted)).replace('"value": 0.42', '"value": 4.2'))


@pytest.mark.parametrize(("key", "value"), [
    ("language", "../../x"), ("language", "de/../../x"), ("name", "/home/user/private.mp4"),
    ("name", "../private.mp4"), ("name", ".."),
])  # fmt: skip
def test_a_track_names_no_folder(tmp_path: Path, key: str, value: str) -> None:
    """It may have come from elsewhere, and files are found and called by its film and language."""
    head = json.loads(to_json(track()))
    (head if key == "language" else head["film"])[key] = value
    (tmp_path / "track.json").write_text(json.dumps(head))
    with pytest.raises(ScriptError, match=re.escape(repr(value))):
        load_track(tmp_path / "track.json")
