"""Every container with every kind of film: all tracks are there, marked, the same, and in time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shotad.film import open_film
from tests.sound.muxmedia import (
    H264,
    VP8,
    checked,
    describe_tracks,
    film_for,
    heard,
    rich_film,
    shown,
    written,
)

ENDINGS = (".mp4", ".mkv", ".ts", ".mov", ".webm")
CASES = [
    (ending, name)
    for ending in ENDINGS
    for name in (*(VP8 if ending == ".webm" else H264), *(() if ending == ".webm" else ("two",)))
]
FRAME = 0.033


@pytest.mark.parametrize(("ending", "name"), CASES)
def test_everything_is_there_and_in_time(ending: str, name: str, tmp_path: Path) -> None:
    source = film_for(name, ending)
    target = tmp_path / f"described{ending}"
    layout = "5.1" if name == "5.1" else "stereo"
    made = written(source, target, layout)
    with open_film(source) as film:
        before = film.info
        assert checked(target, film, made) == ()
    with open_film(target) as film:
        after = film.info
        # In MPEG-TS the libraries guess it; `check_film` has counted it.
        assert abs(after.duration - before.duration) <= (2 * FRAME if ending == ".ts" else FRAME)
        own = after.audio[-1]
        assert (own.language, own.descriptive) == ("eng", True)
        assert own.channels == (6 if name == "5.1" else 2)
        assert len(after.audio) == len(before.audio) + 1
        assert own.default == (not before.audio and ending != ".ts")
    late = np.array(shown(target)) - shown(source)
    # MPEG-TS cannot hide the 256 samples that the film's own AC-3 begins with.
    assert abs(late[0]) < (0.006 if ending == ".ts" else 0.0006)
    assert np.ptp(late) < 0.0011
    assert max(abs(off - late[0]) for off in heard(target, len(before.audio))) < 0.001
    assert [p.name for p in tmp_path.iterdir()] == [target.name]
    if name == "plain":
        written(source, tmp_path / f"again{ending}")
        assert (tmp_path / f"again{ending}").read_bytes() == target.read_bytes()


MARKS = {
    ".mp4": ({"visual_impaired", "descriptions"}, {"visual_impaired", "descriptions"}),
    ".mov": ({"visual_impaired", "descriptions"}, {"visual_impaired", "descriptions"}),
    ".mkv": ({"visual_impaired"}, {"descriptions"}),
    ".webm": (set(), {"descriptions"}),
    ".ts": ({"visual_impaired", "descriptions"}, None),
}
"""Which marks of AD survive on sound and on text."""


@pytest.mark.parametrize("ending", ENDINGS)
def test_marks_and_names_that_survive_where_the_ad_is_to_start_by_itself(ending: str, tmp_path: Path) -> None:
    source, target = film_for("plain", ending), tmp_path / f"described{ending}"
    made = written(source, target, default_track=True)
    with open_film(source) as film:
        assert checked(target, film, made, default=True) == ()
        found = checked(target, film, made)
    starts = {"default"} if ending != ".ts" else set()
    assert [f.rule for f in found] == ["A2"] * len(starts)
    tracks = describe_tracks(target)
    sound, text = MARKS[ending]
    own, voice = (t for t in tracks if t.kind == "audio")
    assert "default" not in own.marks
    assert (voice.number, set(voice.marks), voice.language) == (2, sound | starts, "eng")
    assert voice.title == ("" if ending == ".ts" else "Audio Description")
    assert voice.handler == ("Audio Description" if ending in (".mp4", ".mov") else "")
    words = [(t.title, set(t.marks)) for t in tracks if t.kind == "subtitle"]
    assert words == ([] if text is None else [("Descriptions", text)])
    assert any("mark" in warning for warning in made.warnings) == (sound == set())
    assert any("text track" in warning for warning in made.warnings) == (text is None)


def test_subtitles_in_text_are_converted_and_the_rest_is_named(tmp_path: Path) -> None:
    import av

    target = tmp_path / "described.mp4"
    made = written(rich_film(), target)
    assert len(made.warnings) == 1
    assert "font.ttf" in made.warnings[0]
    with av.open(str(target)) as film:
        stream = film.streams.subtitles[0]
        assert (stream.codec_context.name, stream.metadata["language"]) == ("mov_text", "eng")
        found = [(float(p.pts * p.time_base), bytes(p)) for p in film.demux(stream) if p.size > 2]
        assert [at for at, _ in found] == [0.4, 1.3]
        assert b"Oh & no" in found[0][1]
        assert b"Two\nlines" in found[1][1]
        assert film.metadata["comment"] == "Audio description made by machine.; reviewer: Ann"
    written(target, tmp_path / "again.mkv")
    back = [t for t in describe_tracks(tmp_path / "again.mkv") if t.kind == "subtitle"]
    assert [(t.codec, t.title) for t in back] == [("subrip", "SDH"), ("subrip", "Descriptions")]
