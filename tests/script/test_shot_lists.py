"""Shots in the lists of other programs: PySceneDetect's scene list, EDL, QP files."""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core.errors import ScriptError
from shotad.script.formats import given_shots
from tests.conftest import needed

needed("scenedetect")

HEADS = (
    "Scene Number,Start Frame,Start Timecode,Start Time (seconds),End Frame,End Timecode,End Time (seconds),"
    "Length (frames),Length (timecode),Length (seconds)"
)
ROWS = (
    "1,1,00:00:00.000,0.000,90,00:00:03.754,3.754,90,00:00:03.754,3.754\n"
    "2,91,00:00:03.754,3.754,210,00:00:08.759,8.759,120,00:00:05.005,5.005\n"
    "3,211,00:00:08.759,8.759,259,00:00:10.802,10.802,49,00:00:02.044,2.044\n"
)
FILM_RATE = Fraction(24000, 1001)
FILM_END = 10.802


def shots_in(
    folder: Path, text: str, end: float = FILM_END, rate: Fraction | None = FILM_RATE, name: str = "shots.csv"
) -> list[tuple[float, float]]:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    shots = given_shots(file, end, rate)
    assert [shot.index for shot in shots] == list(range(len(shots)))
    return [(round(shot.start, 3), round(shot.end, 3)) for shot in shots]


@pytest.mark.parametrize(
    "before",
    ["", "Timecode List:,00:00:03.754,00:00:08.759\n", "00:00:03.754,00:00:08.759\n", "\n", "\ufeff", "Timecode List:\r\n"],
)  # fmt: skip
def test_a_scene_list_is_read_with_and_without_the_row_of_cuts(tmp_path: Path, before: str) -> None:
    expected = [(0.0, 3.754), (3.754, 8.759), (8.759, 10.802)]
    assert shots_in(tmp_path, f"{before}{HEADS}\n{ROWS}") == expected
    assert shots_in(tmp_path, f"{before}{HEADS}\n{ROWS}".replace(",", ";")) == expected


@settings(max_examples=20)
@given(
    lengths=st.lists(st.integers(2, 500), min_size=1, max_size=12),
    rate=st.sampled_from([Fraction(24000, 1001), Fraction(24), Fraction(25), Fraction(30000, 1001)]),
    with_cuts=st.booleans(),
)
def test_what_pyscenedetect_writes_is_read(
    lengths: Sequence[int], rate: Fraction, *, with_cuts: bool
) -> None:
    import tempfile

    from scenedetect import FrameTimecode
    from scenedetect.output import write_scene_list

    bounds = [sum(lengths[:count]) for count in range(len(lengths) + 1)]
    codes = [FrameTimecode(bound, float(rate)) for bound in bounds]
    scenes = list(itertools.pairwise(codes))
    out = io.StringIO()
    write_scene_list(out, scenes, include_cut_list=with_cuts)
    with tempfile.TemporaryDirectory() as folder:
        found = shots_in(Path(folder), out.getvalue(), float(bounds[-1] / rate), rate)
    for (start, end), first, last in zip(found, bounds[:-1], bounds[1:], strict=True):
        assert start == pytest.approx(float(first / rate), abs=0.0011)
        assert end == pytest.approx(float(last / rate), abs=0.0011)


EDL = """TITLE: movie
FCM: NON-DROP FRAME

001  AX       V     C        00:00:00:00 00:00:03:18 01:00:00:00 01:00:03:18
* FROM CLIP NAME: movie.mp4
001  AX       A     C        00:00:00:00 00:00:03:18 01:00:00:00 01:00:03:18
002  AX       V     C        00:00:03:18 00:00:08:18 01:00:03:18 01:00:08:18
003  AX       V     C        00:00:08:18 00:00:10:19 01:00:08:18 01:00:10:19
"""


def test_an_edl_is_read_in_record_time_from_the_full_hour(tmp_path: Path) -> None:
    expected = [(0.0, 3.754), (3.754, 8.759), (8.759, 10.802)]
    assert shots_in(tmp_path, EDL, name="movie.edl") == expected
    assert shots_in(tmp_path, EDL.replace(" 01:00:", " 00:00:"), name="movie.edl") == expected
    later = EDL.replace("01:00:00:00 01:00:03:18", "01:00:01:00 01:00:03:18")
    assert shots_in(tmp_path, later, name="movie.edl")[0] == (pytest.approx(1.001), 3.754)


def test_drop_frame_time_code_leaves_numbers_out(tmp_path: Path) -> None:
    edl = (
        "FCM: DROP FRAME\n"
        "001  AX  V  C  00:00:00:00 00:01:00:02 00:00:00:00 00:01:00:02\n"
        "002  AX  V  C  00:01:00:02 00:02:00:02 00:01:00:02 00:02:00:02\n"
    )
    rate = Fraction(30000, 1001)
    expected = [(0.0, 60.06), (60.06, round(3598 * 1001 / 30000, 3))]
    assert shots_in(tmp_path, edl, 120.1, rate) == expected
    with pytest.raises(ScriptError, match="drop-frame time code at 25"):
        shots_in(tmp_path, edl, 120.1, Fraction(25))


def test_a_dissolve_is_cut_in_its_middle(tmp_path: Path) -> None:
    edl = (
        "TITLE: movie\n"
        "001  AX   V  C        00:00:00:00 00:00:04:00 00:00:00:00 00:00:04:00\n"
        "002  AX   V  C        00:00:04:00 00:00:04:00 00:00:04:00 00:00:04:00\n"
        "002  BX   V  D    012 00:00:00:00 00:00:06:00 00:00:04:00 00:00:10:00\n"
    )
    assert shots_in(tmp_path, edl, 10.0, Fraction(24)) == [(0.0, 4.25), (4.25, 10.0)]


def test_a_qp_file_is_read_from_its_first_frames(tmp_path: Path) -> None:
    assert shots_in(tmp_path, "0 I -1\n90 I -1\n210 I -1\n") == [
        (0.0, 3.754),
        (3.754, 8.759),
        (8.759, 10.802),
    ]
    assert shots_in(tmp_path, "90 I -1\n") == [(0.0, 3.754), (3.754, 10.802)]


@pytest.mark.parametrize(
    ("text", "end", "rate", "what"),
    [
        (f"{HEADS}\n{ROWS}", 10.802, Fraction(25), "23.98 frames a second, and the film has 25.00"),
        (f"{HEADS}\n{ROWS}", 5.0, FILM_RATE, "and the film lasts 5.000 s"),
        (f"{HEADS}\n{ROWS.replace('3.754,3.754', 'x,y')}", 10.802, FILM_RATE, "line 2"),
        (f"{HEADS}\n", 10.802, FILM_RATE, "holds no shot"),
        (f"{HEADS}\n{ROWS}{ROWS}", 10.802, FILM_RATE, "overlap or are out of order"),
        (HEADS.replace("Start Time (seconds)", "Beginning") + f"\n{ROWS}", 10.802, FILM_RATE, "no column start time"),
        (EDL, 5.0, FILM_RATE, "and the film lasts 5.000 s"),
        (EDL, 10.802, None, "the film has no frame rate"),
        (EDL.replace("03:18", "03:24"), 10.802, FILM_RATE, "is no time code at 24 frames"),
        (EDL.replace(" V  ", " A  "), 10.802, FILM_RATE, "no event of a picture"),
        (EDL.replace("01:00:10:19", "01:00:07:00"), 10.802, FILM_RATE, "ends before it starts"),
        ("0 I -1\n9000 I -1\n", 10.802, FILM_RATE, "behind the film's end"),
        ("0 I -1\nninety I\n", 10.802, FILM_RATE, "line 2"),
        ("0 I -1\n90 I -1\n", 0.0, FILM_RATE, "length is not known"),
        ('{\n  "OTIO_SCHEMA": "Timeline.1", "name": "cut"}', 10.802, FILM_RATE, "is an OpenTimelineIO timeline"),
        ('<?xml version="1.0"?>\n<fcpxml version="1.10"/>', 10.802, FILM_RATE, "is an FCPXML timeline"),
        ('<?xml version="1.0"?>\n<xmeml version="5"/>', 10.802, FILM_RATE, "is an XML timeline"),
    ],
)  # fmt: skip
def test_lists_that_do_not_fit_the_film_are_refused(
    tmp_path: Path, text: str, end: float, rate: Fraction | None, what: str
) -> None:
    with pytest.raises(ScriptError, match=what) as caught:
        shots_in(tmp_path, text, end, rate, name="list.txt")
    assert "list.txt" in caught.value.what
    assert caught.value.hint
