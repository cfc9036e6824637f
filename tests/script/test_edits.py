"""A person's work is never lost: not by a later run, not by an import, not by another person's file; accepted lines are
kept and told, undo gives back the very track, and a script edited elsewhere is merged by its stamps."""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval
from shotad.core.errors import (
    EditConflict,
    ScriptError,
)
from shotad.script import (
    ALL_FORMATS,
    FORMATS,
    Cue,
    CueStatus,
    Edit,
    EditField,
    LineState,
    Maker,
    Provenance,
    Track,
    load_track,
    merge_edits,
    script_format,
)
from shotad.script.cue import (
    REDO,
    LineNote,
    Script,
    ScriptCue,
    accept,
    mark_edit,
)
from shotad.script.edits import (
    Import,
    import_script,
    is_by_hand,
    update_spoken_ends,
    with_redone_lines,
    without_edits,
)
from shotad.script.formats import read_script
from shotad.script.track import (
    FilmId,
    from_json,
    to_json,
)
from shotad.script.track_files import TRACK as TRACK_FILE
from tests.rendering.described import write_folder
from tests.review.reviewed import Page, reviewed
from tests.script_text import write_script

FILM = FilmId("film.mp4", "abc", 100.0)
MAKERS = (Maker("stage2", "narrator"),)


def cue(start: float, text: str, length: float = 3.0, **more: object) -> Cue:
    name = f"s{round(start * 1000):08d}"
    return Cue(name, name, Interval(start, start + length), text, **more)  # type: ignore[arg-type]


def track(*cues: Cue, film: FilmId = FILM, **more: Any) -> Track:
    return Track(film, "en", MAKERS, "0.1.0", cues, **more)


def on_disk(before: Track, *changes: tuple[int, str, object]) -> Track:
    tree = json.loads(to_json(before))
    for index, key, value in changes:
        tree["cues"][index][key] = value
    return from_json(json.dumps(tree))


FIRST = track(cue(10, "A dog runs."), cue(20, "It rains."), cue(30, "A door opens."))
SECOND = track(cue(10, "A hound runs."), cue(20, "Rain falls."), cue(30, "A gate opens."))


def texts(of: Track) -> list[str]:
    return [c.text for c in of.heard]


def after(edited: Track, new: Track = SECOND) -> list[str]:
    return texts(merge_edits(edited, new).track)


def without(index: int) -> Track:
    tree = json.loads(to_json(FIRST))
    del tree["cues"][index]
    return from_json(json.dumps(tree))


def test_what_nobody_changed_is_the_new_runs_and_a_changed_text_survives_beside_it() -> None:
    assert merge_edits(None, SECOND).track == merge_edits(on_disk(FIRST), SECOND).track == SECOND
    result = merge_edits(on_disk(FIRST, (1, "text", "It pours.")), SECOND)
    assert texts(result.track) == ["A hound runs.", "It pours.", "A gate opens."]
    assert result.kept == ("s00020000",)
    line = result.track.cues[1]
    assert line.edited is not None
    assert (line.edited.machine, line.candidates) == (SECOND.cues[1].machine, ("Rain falls.",))
    gone = track(cue(10, "A hound runs."))  # also where its slot is gone
    assert after(on_disk(FIRST, (1, "text", "It pours.")), gone) == ["A hound runs.", "It pours."]


def test_times_and_states_that_a_person_chose_survive() -> None:
    moved = merge_edits(on_disk(FIRST, (1, "start", 20.5)), SECOND)
    assert moved.track.cues[1].interval == Interval(20.5, 23.0)
    assert after(on_disk(FIRST, (1, "status", "dropped"))) == ["A hound runs.", "A gate opens."]
    before = track(cue(10, "A dog runs.", status=CueStatus.DROPPED, reason="too long"))
    assert after(on_disk(before, (0, "status", "placed")), before) == ["A dog runs."]


def test_a_deleted_line_stays_away_and_shows_what_it_would_say() -> None:
    result = merge_edits(without(1), SECOND)
    assert texts(result.track) == ["A hound runs.", "A gate opens."]
    gone = result.track.cues[1]
    assert (gone.text, gone.status, gone.reason) == ("Rain falls.", CueStatus.DROPPED, "removed by a person")
    assert after(from_json(to_json(result.track)), FIRST) == ["A dog runs.", "A door opens."]
    # Also where its slot moved a little.
    assert after(without(1), track(cue(20.2, "Rain falls."))) == []


def test_an_added_line_survives_and_a_new_machine_line_yields_to_it() -> None:
    tree = json.loads(to_json(FIRST))
    tree["cues"].append({"start": 40, "end": 43, "text": "A bell rings."})
    later = track(*SECOND.cues, cue(42, "A cat sits."))
    result = merge_edits(from_json(json.dumps(tree)), later)
    assert texts(result.track)[-1] == "A bell rings."
    assert result.dropped == ("s00042000",)
    yielded = next(c for c in result.track.cues if c.id == "s00042000")
    assert (yielded.status, yielded.text) == (CueStatus.DROPPED, "A cat sits.")
    assert yielded.reason == "its time belongs to h00040000, which a person edited"
    assert yielded.edited is None


def test_edits_are_thrown_away_only_on_demand_also_those_outside_the_part_that_ran() -> None:
    assert merge_edits(on_disk(FIRST, (1, "text", "It pours.")), SECOND, discard_edits=True).track == SECOND
    tree = json.loads(to_json(on_disk(FIRST, (2, "text", "A gate falls."))))
    tree["cues"].append({"start": 50, "end": 52, "text": "A bell."})
    part = track(cue(20, "Rain falls."))
    result = merge_edits(from_json(json.dumps(tree)), part, covered=Interval(15, 25), discard_edits=True)
    assert texts(result.track) == ["A dog runs.", "Rain falls.", "A door opens."]
    assert all(c.edited is None for c in result.track.cues)


def test_edits_of_another_film_are_refused() -> None:
    other = track(*SECOND.cues, film=replace(FILM, fingerprint="xyz", name="other.mp4"))
    with pytest.raises(EditConflict, match=r"1 edits? for 'film.mp4'.*'other.mp4'"):
        merge_edits(on_disk(FIRST, (1, "text", "It pours.")), other)
    assert merge_edits(on_disk(FIRST), other, covered=Interval(15, 25)).track == other


def test_a_review_lapses_when_what_is_heard_changes() -> None:
    reviewed = replace(FIRST, reviewed_by=("Ada",))
    assert merge_edits(reviewed, FIRST).track.reviewed_by == ("Ada",)
    result = merge_edits(reviewed, SECOND)
    assert (result.track.reviewed_by, result.lapsed) == ((), ("Ada",))
    again = replace(RUN, reviewed_by=("Ada",))
    assert with_redone_lines(again, [by_machine(20, "Rain falls.")]).lapsed == ("Ada",)
    assert with_redone_lines(again, [by_machine(20, "It rains.")]).track.reviewed_by == ("Ada",)


def test_respeak_gives_a_retold_line_its_spoken_end_within_its_slot() -> None:
    slots = {"s00020000": Interval(20, 24)}
    long = on_disk(FIRST, (1, "text", "One two three four five six seven eight nine ten."))
    assert update_spoken_ends(long, slots, 0.375).cues[1].interval == Interval(20, 23.75)
    assert update_spoken_ends(long, slots, 0.5).cues[1].interval == Interval(20, 24)
    assert update_spoken_ends(long, {}, 0.5).cues[1].interval == Interval(20, 23)
    own_time = on_disk(long, (1, "end", 29.0))
    assert update_spoken_ends(own_time, slots, 0.375).cues[1].interval == Interval(20, 29)
    assert update_spoken_ends(FIRST, slots, 0.375) == FIRST
    edit = from_json(to_json(update_spoken_ends(long, slots, 0.375))).cues[1].edited
    assert edit is not None
    assert edit.fields == (EditField.TEXT,)


@given(
    edits=st.lists(st.tuples(st.integers(0, 2), st.text("ab c", min_size=1, max_size=5)), max_size=4),
    runs=st.lists(
        st.lists(st.tuples(st.sampled_from([10, 15, 20, 21, 30]), st.sampled_from("xyz"))), max_size=3
    ),
)
def test_no_series_of_runs_loses_a_text_that_a_person_wrote(edits, runs):
    current, wrote = FIRST, {}
    for index, text in edits:
        if text.strip():
            current = on_disk(current, (index, "text", text))
            wrote[current.cues[index].id] = current.cues[index].text
    for run in runs:
        new = track(*(cue(start, text, 2.0) for start, text in sorted(dict(run).items())))
        current = from_json(to_json(merge_edits(current, new).track))
        heard = {c.id: c.text for c in current.heard}
        assert {key: heard.get(key) for key in wrote} == wrote


OLD = Provenance((Maker("Stage II", "narrator"),), "hash", 1)
NEW = Provenance((Maker("Stage II", "other", "m"),), "else", 2)


def by_machine(start: float, text: str, made: Provenance = OLD) -> Cue:
    return cue(start, text, candidates=(text,), chosen=0, provenance=made)


RUN = track(by_machine(10, "A dog runs."), by_machine(20, "It rains."))
ANEW = with_redone_lines(RUN, [by_machine(20, "Rain falls.", NEW)]).track
"""The second line described anew by another engine."""


def test_a_redone_line_takes_the_place_of_the_old_one_which_may_be_given_back_in_every_field() -> None:
    line = ANEW.cues[1]
    assert texts(ANEW) == ["A dog runs.", "Rain falls."]
    assert (line.candidates, line.chosen, line.provenance) == (("Rain falls.", "It rains."), 0, NEW)
    assert line.edited is not None
    assert (line.edited.fields, line.edited.source) == ((EditField.TEXT,), REDO)
    assert line.edited.machine == RUN.cues[1].machine
    assert ANEW.cues[0] == RUN.cues[0]
    assert not is_by_hand(line)
    assert line.state is LineState.MACHINE
    moved = mark_edit(line, line, (EditField.TIME,), "track.json")
    assert moved.state is LineState.EDITED
    assert ANEW.makers == (*MAKERS, *NEW.makers)
    assert "other (m)" in ANEW.statement
    back = without_edits(ANEW).cues[1]
    assert (back.text, back.edited, back.provenance) == ("It rains.", None, None)
    assert back.candidates[back.chosen or 0] == "It rains."
    assert merge_edits(ANEW, RUN, discard_edits=True).track == RUN


TRACK = Track(
    FilmId("film.mp4", "abc", 100.0), "en", (Maker("stage2", "narrator"),), "0.1.0",
    (cue(10, "A dog runs."), cue(20, "It rains."), cue(30, "A door opens.")),
)  # fmt: skip
RERUN = TRACK.with_cues([cue(10, "A hound runs."), cue(20, "Rain falls."), cue(30, "A gate opens.")])


def test_a_later_run_keeps_notes_and_says_which_have_no_line_any_more() -> None:
    noted = TRACK.with_cues(replace(c, note=LineNote(f"On {c.text}", "Ann")) for c in TRACK.cues)
    assert from_json(to_json(noted)) == noted
    merged = merge_edits(noted, RERUN.with_cues(RERUN.cues[1:]))
    assert [c.note and c.note.text for c in merged.track.cues] == ["On It rains.", "On A door opens."]
    assert merged.warnings == ("A note has no line any more: 'On A dog runs.'.",)
    assert merge_edits(noted, RERUN, discard_edits=True).track == RERUN
    assert with_redone_lines(noted, [RERUN.cues[0]]).track.cues[0].note == noted.cues[0].note


def bring(
    track: Track, text: str, fmt: str = "vtt", source: str = "my.vtt", *, overwrite: bool = False
) -> Import:
    script = FORMATS[fmt].read(text.encode(), source)
    return import_script(track, script, source, overwrite=overwrite)


def by_hand(track: Track, index: int, text: str) -> Track:
    old = track.cues[index]
    new = mark_edit(replace(old, text=text), old, (EditField.TEXT,), "track.json")
    return track.with_cues(new if c.id == new.id else c for c in track.cues)


def told(of: Import) -> list[str]:
    return texts(of.track)


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_changed_line_becomes_an_edit_which_the_same_file_may_change_again_or_take_back(fmt: str) -> None:
    own = write_script(TRACK, fmt)
    assert bring(TRACK, own, fmt) == Import(TRACK)
    script = own.replace("It rains.", "It pours.")
    result = bring(TRACK, script, fmt)
    assert told(result) == ["A dog runs.", "It pours.", "A door opens."]
    assert (result.changed, result.added, result.removed) == (("s00020000",), (), ())
    edit = result.track.cues[1].edited
    assert edit is not None
    assert (edit.fields, edit.source, edit.machine) == ((EditField.TEXT,), "my.vtt", TRACK.cues[1].machine)
    assert "It pours." in [c.text for c in merge_edits(from_json(to_json(result.track)), RERUN).track.heard]
    assert bring(from_json(to_json(result.track)), script, fmt).track == result.track
    assert told(bring(result.track, own, fmt)) == told(Import(TRACK))
    if fmt != "json":
        assert told(bring(result.track, own.replace("It rains.", "Hail falls."), fmt))[1] == "Hail falls."


@pytest.mark.parametrize("fmt", ["vtt", "srt", "csv", "dapt", "frazier", "reaper"])
@pytest.mark.parametrize(("written", "moved"), [
    ("A dog runs\nacross the road.", "A dog runs across\nthe road."), ("It is dark.", "It is\ndark."),
    ("一只狗在跑。", "一只狗\n在跑。"), ("หมาวิ่ง", "หมา\nวิ่ง"),
])  # fmt: skip
def test_moved_line_breaks_are_no_edit(fmt: str, written: str, moved: str) -> None:
    track = TRACK.with_cues(replace(c, text=written) for c in TRACK.cues)
    script = ALL_FORMATS[fmt].read(ALL_FORMATS[fmt].encode(track), "x")
    rewrapped = replace(script, cues=tuple(replace(line, text=moved) for line in script.cues))
    assert import_script(track, rewrapped, "x") == Import(track)
    # Also where the track was changed since: what the script has is still as it was written.
    mine = by_hand(track, 1, "Hail falls.")
    assert import_script(mine, rewrapped, "x").kept == ("s00020000",)
    edited = replace(rewrapped, cues=(replace(rewrapped.cues[0], text="Apart."), *rewrapped.cues[1:]))
    assert import_script(track, edited, "x").changed == ("s00010000",)


def test_moved_line_breaks_in_the_track_file_are_no_edit() -> None:
    text = to_json(TRACK.with_cues([replace(TRACK.cues[0], text="A dog runs\nhome.")]))
    (line,) = from_json(text.replace("A dog runs\\nhome.", "A dog\\nruns home.")).cues
    assert (line.text, line.edited) == ("A dog\nruns home.", None)


@pytest.mark.parametrize("times", ["same", "ascending", "whole"])
def test_a_script_of_thousands_of_lines_is_brought_in_quickly(times: str) -> None:
    number = 10_000
    spans = {
        "same": [(5.0, 7.0)] * number,
        "ascending": [(i * 0.01, i * 0.01 + 2) for i in range(number)],
        "whole": [(0.2, 99.0)] * number,
    }[times]
    lines = [ScriptCue(None, Interval(*span), f"Line {i}.") for i, span in enumerate(spans)]
    start = time.process_time()
    done = import_script(TRACK, Script(tuple(lines)), "x")
    assert len(done.added) > number - 4
    assert time.process_time() - start < 8


@pytest.mark.parametrize("fmt", ["vtt", "srt", "csv", "dapt"])
def test_two_hands_on_one_line_are_refused_with_both_texts(fmt: str) -> None:
    script = write_script(TRACK, fmt).replace("It rains.", "It pours.")
    mine = by_hand(TRACK, 1, "Hail falls.")
    with pytest.raises(EditConflict, match=r"s00020000 is 'Hail falls.' .* and 'It pours.'"):
        bring(mine, script, fmt)
    assert told(bring(mine, script, fmt, overwrite=True))[1] == "It pours."


@pytest.mark.parametrize("fmt", ["vtt", "srt", "csv", "dapt"])
def test_a_script_older_than_an_edit_does_not_undo_it(fmt: str) -> None:
    script = write_script(TRACK, fmt).replace("A dog runs.", "A dog races.")
    result = bring(by_hand(TRACK, 1, "Hail falls."), script, fmt)
    assert told(result) == ["A dog races.", "Hail falls.", "A door opens."]
    assert result.kept == ("s00020000",)
    if fmt != "srt":
        rerun = bring(RERUN, script, fmt)
        assert told(rerun) == ["A dog races.", "Rain falls.", "A gate opens."]
        assert rerun.changed == ("s00010000",)


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_line_left_out_is_dropped_and_its_text_stays(fmt: str) -> None:
    whole = FORMATS[fmt].read(write_script(TRACK, fmt).encode(), "x")
    result = import_script(TRACK, replace(whole, cues=whole.cues[:1] + whole.cues[2:]), "x")
    assert result.removed == ("s00020000",)
    gone = result.track.cues[1]
    assert (gone.status, gone.text, gone.reason) == (CueStatus.DROPPED, "It rains.", "left out of x")
    assert told(import_script(result.track, whole, "x")) == ["A dog runs.", "It rains.", "A door opens."]
    if fmt == "vtt":
        assert bring(TRACK, write_script(TRACK, fmt).replace("It rains.\n", "")).removed == ("s00020000",)


def test_a_line_newer_than_the_script_is_not_taken_for_left_out() -> None:
    script = write_script(TRACK, "vtt")
    result = bring(TRACK.with_cues([*TRACK.cues, cue(40, "A cat sits.")]), script)
    assert (told(result)[-1], result.kept) == ("A cat sits.", ("s00040000",))
    less = script.replace("s00020000\n00:00:20.000 --> 00:00:23.000\nIt rains.\n\n", "")
    assert less != script
    result = bring(by_hand(TRACK, 1, "Hail falls."), less)
    assert (told(result)[1], result.kept) == ("Hail falls.", ("s00020000",))


def test_lines_without_ids_are_found_by_start_and_by_text() -> None:
    srt = (
        "1\n00:00:10,000 --> 00:00:13,000\nA dog races.\n\n2\n00:00:25,000 --> 00:00:28,000\nIt rains.\n\n"
        "3\n00:00:30,000 --> 00:00:33,000\nA door opens.\n"
    )
    result = bring(TRACK, srt, "srt", "my.srt")
    assert result.changed == ("s00010000", "s00020000")
    assert result.track.cues[1].interval == Interval(25, 28)


def test_a_line_that_a_person_dropped_comes_back_only_by_a_change() -> None:
    old = TRACK.cues[1]
    dropped = mark_edit(replace(old, status=CueStatus.DROPPED), old, (EditField.STATUS,), "track.json")
    mine = TRACK.with_cues([TRACK.cues[0], dropped, TRACK.cues[2]])
    script = write_script(TRACK, "vtt")
    assert told(bring(mine, script)) == ["A dog runs.", "A door opens."]
    with pytest.raises(EditConflict, match="'It rains.' .* 'It pours.'"):
        bring(mine, script.replace("It rains.", "It pours."))


@pytest.mark.parametrize(("rows", "message"), [
    ("s00020000,20000,23000,It rains.", r"20000.000 s, but the film ends at 100.000 s.*thousands"),
    ("s00020000,20,23,One.\ns00020000,40,43,Two.", "'One.' and 'Two.'"),
])  # fmt: skip
def test_a_line_beyond_the_film_and_an_id_used_twice_are_refused(rows: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        bring(TRACK, f"id,start,end,text\n{rows}\n", "csv")


CAT, RAIN = (
    cue(at, text, 2.0, candidates=(text, "Or this."), chosen=0)
    for at, text in ((1.0, "A cat sleeps."), (9.0, "Rain falls."))
)
ANN = accept(CAT, "Ann", "review page")


def test_an_accepted_line_outlives_a_run_and_keeps_its_end_but_not_being_described_anew() -> None:
    other = replace(CAT, text="A dog.", candidates=("A dog.",))
    kept = merge_edits(track(ANN, RAIN), track(other, RAIN)).track.cues[0]
    assert (kept.text, kept.state) == ("A cat sleeps.", LineState.ACCEPTED)
    assert kept.machine is not None
    assert kept.machine.text == "A dog."
    assert "A dog." in kept.candidates
    new = with_redone_lines(track(ANN, RAIN), [other]).track.cues[0]
    assert new.state is LineState.MACHINE
    assert not is_by_hand(new)
    assert is_by_hand(accept(new, "Ann", "review page"))
    assert accept(new, "Ann", "x").edited == Edit((EditField.TEXT, EditField.ACCEPTED), REDO, new.machine)
    own = replace(CAT, text="One two three four five six.", edited=Edit((EditField.TEXT,), "x", None))
    slots = {CAT.id: Interval(1.0, 5.0)}
    assert update_spoken_ends(track(own), slots, 0.375).cues[0].interval.end == 1 + 6 * 0.375
    assert update_spoken_ends(track(accept(own, "", "x")), slots, 0.375).cues[0].interval.end == 3.0


@pytest.mark.parametrize(("cues", "reviewed", "says"), [
    ((CAT, RAIN), (), "Not reviewed by a person."),
    ((ANN, RAIN), (), "1 of 2 lines accepted by Ann."),
    ((ANN, accept(RAIN, "Bob", "x")), (), "Reviewed line by line by Ann, Bob."),
    ((ANN, RAIN), ("Cy",), "1 of 2 lines accepted by Ann. Reviewed by Cy."),
    ((ANN, replace(RAIN, status=CueStatus.DROPPED)), (), "Reviewed line by line by Ann."),
])  # fmt: skip
def test_the_statement_says_who_read_what(cues, reviewed, says):
    statement = track(*cues, reviewed_by=reviewed).statement
    assert statement.endswith(f"). {says}")
    assert "edited" not in statement


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_script_of_accepted_lines_comes_back_as_it_is(name: str, tmp_path: Path) -> None:
    own = track(ANN, accept(RAIN, "=Eve", "review page"))
    form = script_format(name)
    path = tmp_path / f"a.{form.ending}"
    path.write_bytes(form.encode(own))
    done = import_script(own, read_script(path, name), path.name)
    assert (done.track, done.changed) == (own, ())


TIMES = st.floats(0, 25, allow_nan=False)
ARGS = st.fixed_dictionaries(
    {
        "number": st.integers(0, 3), "at": st.integers(-2, 60), "by": st.floats(-9, 9, allow_nan=False),
        "text": st.sampled_from(["", "Smoke.", "One two three four five six seven eight.", "A cat sleeps.", "Ä\n=b"]),
        "start": TIMES, "end": TIMES,
    }
)  # fmt: skip
NAMES = st.sampled_from(
    ["choose", "write", "accept", "unaccept", "drop", "restore", "split", "join", "move", "shift", "add",
     "remove", "machine", "undo", "redo"]
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("acts") / "w", settings=("lint.parse=words",))


def steps(page: Page, direction: str) -> int:
    """Undo or redo all steps; how many there were."""
    count = 0
    while page.film()["history"][direction]:
        page.do(direction)
        count += 1
    return count


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(NAMES, st.integers(0, 9), ARGS), max_size=14))
def test_any_acts_undone_give_back_the_very_track(folder: Path, acts: list[Any]) -> None:
    (folder / "review.jsonl").unlink(missing_ok=True)
    first = (folder / TRACK_FILE).read_bytes()
    with reviewed(folder, gone=True) as (_, page):
        for name, number, args in acts:
            cues = load_track(folder / TRACK_FILE).cues
            line = "" if name in ("add", "undo", "redo") else cues[number % len(cues)].id
            group = "g" if name == "write" else ""
            answer = page.act(name, line, args, seen=None, group=group)
            assert answer.status in (200, 400, 409), answer.text
            heard = load_track(folder / TRACK_FILE).heard
            spans = sorted((cue.interval.start, cue.interval.end) for cue in heard)
            assert all(span[1] <= following[0] for span, following in itertools.pairwise(spans))
        shown = {row["id"]: (row["start"], row["text"]) for row in page.film()["lines"]}
        cues = load_track(folder / TRACK_FILE).cues
        assert shown == {cue.id: (pytest.approx(cue.interval.start, abs=0.001), cue.text) for cue in cues}
        last = (folder / TRACK_FILE).read_bytes()
        undone = steps(page, "undo")
        assert (folder / TRACK_FILE).read_bytes() == first
        for _ in range(undone):
            page.do("redo")
        assert (folder / TRACK_FILE).read_bytes() == last
        steps(page, "undo")
