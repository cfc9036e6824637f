"""A person's work is never lost: not by a later run, not by an import, not by another person's file."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from shotad.core import EditConflict, Interval
from shotad.script import (
    REDO,
    Cue,
    CueStatus,
    EditField,
    FilmId,
    Maker,
    Provenance,
    Track,
    derive,
    from_json,
    is_by_hand,
    redone,
    respeak,
    to_json,
)
from shotad.script.edits import without_edits

FILM = FilmId("film.mp4", "abc", 100.0)
MAKERS = (Maker("stage2", "narrator"),)


def cue(start: float, text: str, length: float = 3.0, **more: object) -> Cue:
    name = f"s{round(start * 1000):08d}"
    return Cue(name, name, Interval(start, start + length), text, **more)  # type: ignore[arg-type]


def track(*cues: Cue, film: FilmId = FILM) -> Track:
    return Track(film, "en", MAKERS, "0.1.0", cues)


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
    return texts(derive(edited, new).track)


def without(index: int) -> Track:
    tree = json.loads(to_json(FIRST))
    del tree["cues"][index]
    return from_json(json.dumps(tree))


def test_what_nobody_changed_is_the_new_runs_and_a_changed_text_survives_beside_it() -> None:
    assert derive(None, SECOND).track == derive(on_disk(FIRST), SECOND).track == SECOND
    result = derive(on_disk(FIRST, (1, "text", "It pours.")), SECOND)
    assert texts(result.track) == ["A hound runs.", "It pours.", "A gate opens."]
    assert result.kept == ("s00020000",)
    line = result.track.cues[1]
    assert line.edited is not None
    assert (line.edited.machine, line.candidates) == (SECOND.cues[1].machine, ("Rain falls.",))
    gone = track(cue(10, "A hound runs."))  # also where its slot is gone
    assert after(on_disk(FIRST, (1, "text", "It pours.")), gone) == ["A hound runs.", "It pours."]


def test_times_and_states_that_a_person_chose_survive() -> None:
    moved = derive(on_disk(FIRST, (1, "start", 20.5)), SECOND)
    assert moved.track.cues[1].interval == Interval(20.5, 23.0)
    assert after(on_disk(FIRST, (1, "status", "dropped"))) == ["A hound runs.", "A gate opens."]
    before = track(cue(10, "A dog runs.", status=CueStatus.DROPPED, reason="too long"))
    assert after(on_disk(before, (0, "status", "placed")), before) == ["A dog runs."]


def test_a_deleted_line_stays_away_and_shows_what_it_would_say() -> None:
    result = derive(without(1), SECOND)
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
    result = derive(from_json(json.dumps(tree)), later)
    assert texts(result.track)[-1] == "A bell rings."
    assert result.yielded == ("s00042000",)
    yielded = next(c for c in result.track.cues if c.id == "s00042000")
    assert (yielded.status, yielded.text) == (CueStatus.DROPPED, "A cat sits.")
    assert yielded.reason == "its time belongs to h00040000, which a person edited"
    assert yielded.edited is None


def test_a_run_over_a_part_leaves_the_rest_alone() -> None:
    result = derive(on_disk(FIRST), track(cue(20, "Rain falls.")), covered=Interval(15, 25))
    assert texts(result.track) == ["A dog runs.", "Rain falls.", "A door opens."]
    whole = derive(on_disk(FIRST), track(cue(20, "Rain falls.")))
    assert texts(whole.track) == ["Rain falls."]


def test_edits_are_thrown_away_only_on_demand_also_those_outside_the_part_that_ran() -> None:
    assert derive(on_disk(FIRST, (1, "text", "It pours.")), SECOND, discard_edits=True).track == SECOND
    tree = json.loads(to_json(on_disk(FIRST, (2, "text", "A gate falls."))))
    tree["cues"].append({"start": 50, "end": 52, "text": "A bell."})
    part = track(cue(20, "Rain falls."))
    result = derive(from_json(json.dumps(tree)), part, covered=Interval(15, 25), discard_edits=True)
    assert texts(result.track) == ["A dog runs.", "Rain falls.", "A door opens."]
    assert all(c.edited is None for c in result.track.cues)


def test_edits_of_another_film_are_refused() -> None:
    other = track(*SECOND.cues, film=replace(FILM, fingerprint="xyz", name="other.mp4"))
    with pytest.raises(EditConflict, match=r"1 edits? for 'film.mp4'.*'other.mp4'"):
        derive(on_disk(FIRST, (1, "text", "It pours.")), other)
    assert derive(on_disk(FIRST), other, covered=Interval(15, 25)).track == other


def test_a_review_lapses_when_what_is_heard_changes() -> None:
    reviewed = replace(FIRST, reviewed_by=("Ada",))
    assert derive(reviewed, FIRST).track.reviewed_by == ("Ada",)
    result = derive(reviewed, SECOND)
    assert (result.track.reviewed_by, result.lapsed) == ((), ("Ada",))
    again = replace(RUN, reviewed_by=("Ada",))
    assert redone(again, [by_machine(20, "Rain falls.")]).lapsed == ("Ada",)
    assert redone(again, [by_machine(20, "It rains.")]).track.reviewed_by == ("Ada",)


def test_respeak_gives_a_retold_line_its_spoken_end_within_its_slot() -> None:
    slots = {"s00020000": Interval(20, 24)}
    long = on_disk(FIRST, (1, "text", "One two three four five six seven eight nine ten."))
    assert respeak(long, slots, 0.375).cues[1].interval == Interval(20, 23.75)
    assert respeak(long, slots, 0.5).cues[1].interval == Interval(20, 24)
    assert respeak(long, {}, 0.5).cues[1].interval == Interval(20, 23)
    own_time = on_disk(long, (1, "end", 29.0))
    assert respeak(own_time, slots, 0.375).cues[1].interval == Interval(20, 29)
    assert respeak(FIRST, slots, 0.375) == FIRST
    edit = from_json(to_json(respeak(long, slots, 0.375))).cues[1].edited
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
        current = from_json(to_json(derive(current, new).track))
        heard = {c.id: c.text for c in current.heard}
        assert {key: heard.get(key) for key in wrote} == wrote


OLD = Provenance((Maker("Stage II", "narrator"),), "hash", 1)
NEW = Provenance((Maker("Stage II", "other", "m"),), "else", 2)


def by_machine(start: float, text: str, made: Provenance = OLD) -> Cue:
    return cue(start, text, candidates=(text,), chosen=0, provenance=made)


RUN = track(by_machine(10, "A dog runs."), by_machine(20, "It rains."))
ANEW = redone(RUN, [by_machine(20, "Rain falls.", NEW)]).track
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
    assert ANEW.makers == (*MAKERS, *NEW.makers)
    assert "other (m)" in ANEW.statement
    back = without_edits(ANEW).cues[1]
    assert (back.text, back.edited, back.provenance) == ("It rains.", None, None)
    assert back.candidates[back.chosen or 0] == "It rains."
    assert derive(ANEW, RUN, discard_edits=True).track == RUN


def test_a_silent_slot_that_was_redone_is_heard() -> None:
    silent = track(cue(20, "", status=CueStatus.SILENT, reason="nothing"))
    line = redone(silent, [by_machine(20, "Rain falls.")]).track.cues[0]
    assert line.edited is not None
    assert line.edited.fields == (EditField.TEXT, EditField.STATUS)
    assert line.candidates == ("Rain falls.",)
    later = derive(from_json(to_json(redone(silent, [by_machine(20, "Rain falls.")]).track)), silent)
    assert texts(later.track) == ["Rain falls."]
    assert texts(derive(later.track, silent, discard_edits=True).track) == []
