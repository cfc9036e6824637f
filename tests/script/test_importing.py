"""A script edited elsewhere comes back: merged by its stamps, refused with both texts where hands cross."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shotad.core import EditConflict, Interval, ScriptError
from shotad.script import (
    FORMATS,
    Cue,
    CueStatus,
    EditField,
    FilmId,
    Maker,
    Track,
    derive,
    from_json,
    mark_edit,
    to_json,
)
from shotad.script.edits import Import, import_script
from tests.script_text import write_script


def cue(start: float, text: str) -> Cue:
    name = f"s{round(start * 1000):08d}"
    return Cue(name, name, Interval(start, start + 3), text)


TRACK = Track(
    FilmId("film.mp4", "abc", 100.0), "en", (Maker("stage2", "narrator"),), "0.1.0",
    (cue(10, "A dog runs."), cue(20, "It rains."), cue(30, "A door opens.")),
)  # fmt: skip
RERUN = TRACK.with_cues([cue(10, "A hound runs."), cue(20, "Rain falls."), cue(30, "A gate opens.")])


def bring(
    track: Track, text: str, fmt: str = "vtt", source: str = "my.vtt", *, overwrite: bool = False
) -> Import:
    script = FORMATS[fmt].read(text.encode(), source)
    return import_script(track, script, source, overwrite=overwrite)


def by_hand(track: Track, index: int, text: str) -> Track:
    old = track.cues[index]
    new = mark_edit(replace(old, text=text), old, (EditField.TEXT,), "track.json")
    return track.with_cues(new if c.id == new.id else c for c in track.cues)


def texts(of: Import) -> list[str]:
    return [c.text for c in of.track.heard]


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_changed_line_becomes_an_edit_which_the_same_file_may_change_again_or_take_back(fmt: str) -> None:
    own = write_script(TRACK, fmt)
    assert bring(TRACK, own, fmt) == Import(TRACK)
    script = own.replace("It rains.", "It pours.")
    result = bring(TRACK, script, fmt)
    assert texts(result) == ["A dog runs.", "It pours.", "A door opens."]
    assert (result.changed, result.added, result.removed) == (("s00020000",), (), ())
    edit = result.track.cues[1].edited
    assert edit is not None
    assert (edit.fields, edit.source, edit.machine) == ((EditField.TEXT,), "my.vtt", TRACK.cues[1].machine)
    assert "It pours." in [c.text for c in derive(from_json(to_json(result.track)), RERUN).track.heard]
    assert bring(from_json(to_json(result.track)), script, fmt).track == result.track
    assert texts(bring(result.track, own, fmt)) == texts(Import(TRACK))
    if fmt != "json":
        assert texts(bring(result.track, own.replace("It rains.", "Hail falls."), fmt))[1] == "Hail falls."


@pytest.mark.parametrize("fmt", ["vtt", "srt", "csv", "dapt"])
def test_two_hands_on_one_line_are_refused_with_both_texts(fmt: str) -> None:
    script = write_script(TRACK, fmt).replace("It rains.", "It pours.")
    mine = by_hand(TRACK, 1, "Hail falls.")
    with pytest.raises(EditConflict, match=r"s00020000 is 'Hail falls.' .* and 'It pours.'"):
        bring(mine, script, fmt)
    assert texts(bring(mine, script, fmt, overwrite=True))[1] == "It pours."


@pytest.mark.parametrize("fmt", ["vtt", "srt", "csv", "dapt"])
def test_a_script_older_than_an_edit_does_not_undo_it(fmt: str) -> None:
    script = write_script(TRACK, fmt).replace("A dog runs.", "A dog races.")
    result = bring(by_hand(TRACK, 1, "Hail falls."), script, fmt)
    assert texts(result) == ["A dog races.", "Hail falls.", "A door opens."]
    assert result.kept == ("s00020000",)
    if fmt != "srt":
        rerun = bring(RERUN, script, fmt)
        assert texts(rerun) == ["A dog races.", "Rain falls.", "A gate opens."]
        assert rerun.changed == ("s00010000",)


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_line_left_out_is_dropped_and_its_text_stays(fmt: str) -> None:
    whole = FORMATS[fmt].read(write_script(TRACK, fmt).encode(), "x")
    result = import_script(TRACK, replace(whole, cues=whole.cues[:1] + whole.cues[2:]), "x")
    assert result.removed == ("s00020000",)
    gone = result.track.cues[1]
    assert (gone.status, gone.text, gone.reason) == (CueStatus.DROPPED, "It rains.", "left out of x")
    assert texts(import_script(result.track, whole, "x")) == ["A dog runs.", "It rains.", "A door opens."]
    if fmt == "vtt":
        assert bring(TRACK, write_script(TRACK, fmt).replace("It rains.\n", "")).removed == ("s00020000",)


def test_a_line_newer_than_the_script_is_not_taken_for_left_out() -> None:
    script = write_script(TRACK, "vtt")
    result = bring(TRACK.with_cues([*TRACK.cues, cue(40, "A cat sits.")]), script)
    assert (texts(result)[-1], result.kept) == ("A cat sits.", ("s00040000",))
    less = script.replace("s00020000\n00:00:20.000 --> 00:00:23.000\nIt rains.\n\n", "")
    assert less != script
    result = bring(by_hand(TRACK, 1, "Hail falls."), less)
    assert (texts(result)[1], result.kept) == ("Hail falls.", ("s00020000",))


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
    assert texts(bring(mine, script)) == ["A dog runs.", "A door opens."]
    with pytest.raises(EditConflict, match="'It rains.' .* 'It pours.'"):
        bring(mine, script.replace("It rains.", "It pours."))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("s00020000,20000,23000,It rains.", r"20000.000 s, but the film ends at 100.000 s.*thousands"),
        ("s00020000,20,23,One.\ns00020000,40,43,Two.", "'One.' and 'Two.'"),
    ],
)
def test_a_line_beyond_the_film_and_an_id_used_twice_are_refused(rows: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        bring(TRACK, f"id,start,end,text\n{rows}\n", "csv")
