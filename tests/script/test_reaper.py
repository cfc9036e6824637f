"""Reaper's regions and markers: the layout, and files as Reaper and others write them."""

from __future__ import annotations

import pytest

from shotad.core import Interval, ScriptError
from shotad.script import Cue, FilmId, Maker, Track
from shotad.script.formats import detect_format
from shotad.script.importing import Import, import_script
from shotad.script.studio_formats import read_reaper, write_reaper


def cue(start: float, end: float, text: str) -> Cue:
    return Cue(f"s{round(start * 1000):08d}", None, Interval(start, end), text)


TRACK = Track(
    FilmId("f.mp4", "x", 40_000.0), "en", (Maker("stage2", "fake"),), "0.1.0",
    (cue(1.003, 3.011, 'A dog, "Rex", runs.'), cue(62.5, 63.25, "Words:\n- stop"), cue(36_000.1, 36_002.0, "Night.")),
)  # fmt: skip


def test_the_layout() -> None:
    head, statement, *lines = write_reaper(TRACK).split("\n")
    assert head == "#,Name,Start,End,Length"
    assert statement.startswith(
        "M1,Audio description made by machine: shotad 0.1.0 (stage2: fake). Not reviewed"
    )
    assert statement.endswith(f"[track {TRACK.stamp}],0:00.000,,")
    assert lines == [
        'R1,"A dog, ""Rex"", runs. [s00001003]",0:01.003,0:03.011,0:02.008',
        "R2,Words: \u2028- stop [s00062500],1:02.500,1:03.250,0:00.750",
        "R3,Night. [s36000100],10:00:00.100,10:00:02.000,0:01.900",
        "",
    ]


def test_an_untouched_file_changes_nothing_and_an_edit_comes_back() -> None:
    written = write_reaper(TRACK)
    script = read_reaper(written, "x")
    assert script.stamp == TRACK.stamp
    assert import_script(TRACK, script, "x") == Import(TRACK)
    done = import_script(TRACK, read_reaper(written.replace("Night.", "Nightfall."), "x"), "x")
    assert (done.changed, done.track.cues[2].text) == (("s36000100",), "Nightfall.")


def test_regions_numbered_anew_and_a_region_taken_out() -> None:
    rows = write_reaper(TRACK).replace("R3,", "R7,").split("\n")
    done = import_script(TRACK, read_reaper("\n".join([rows[0], rows[1], rows[2], rows[4]]), "x"), "x")
    assert done.removed == ("s00062500",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "#,Name,Start,End,Length,Color\nR1,Hello,0:01.500,0:03.000,0:01.500,00FF00\nM1,verse,0:02.000,,,\n",
            [(1.5, 3.0, "Hello")],
        ),
        ('"#";"Name";"Start";"End";"Length"\n"R1";"A; B";"1.5";"3";"1.5"\n', [(1.5, 3.0, "A; B")]),
        ("#,Name,Start\nM2,It rains,4.000\nM1,One two three four,1:02:03.000\n", [(4.0, 4.75, "It rains"), (3723.0, 3724.5, "One two three four")]),
        ("#,Name,Start,End,Length\nM1,a b c d e f,1.0,,\nM2,x,2.0,,\n", [(1.0, 2.0, "a b c d e f"), (2.0, 2.375, "x")]),
    ],
)  # fmt: skip
def test_files_of_other_programs_are_read(text: str, expected: list[tuple[float, float, str]]) -> None:
    assert detect_format("x.csv", text.encode()) == "reaper"
    assert [(c.interval.start, c.interval.end, c.text) for c in read_reaper(text, "x").cues] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#,Name,Start,End,Length\nR1,a,5.1.00,9.1.00,4.0.00\n", "x, line 2: '5.1.00' is in measures"),
        ("#,Name,Start,End,Length\nR1,a,0:00:01:12,0:00:02:00,\n", "x, line 2: '0:00:01:12' is in frames"),
        ("#,Name,Start,End,Length\nR1,a,0:03,0:02,\n", r"x, line 2: .*\[3.0, 2.0\)"),
        ("#,Start,End\nR1,1,2\n", "x, line 1: .* Name and Start are missing"),
        ('#,Name,Start\nR1,"a" b,1\n', "x, line 2"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        read_reaper(text, "x")


def test_a_text_that_looks_like_an_id_or_a_formula_stays_a_text() -> None:
    track = TRACK.with_cues([cue(1, 2, "=SUM(1) [s00000001]"), cue(3, 4, "x [track 1a2b3c4d]")])
    script = read_reaper(write_reaper(track), "x")
    assert [(c.id, c.text) for c in script.cues] == [(c.id, c.text) for c in track.heard]
    assert ",'=SUM" in write_reaper(track)
