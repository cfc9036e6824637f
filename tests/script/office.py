"""Tracks for tests of the Word document and of the workbook, and what holds for both."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from shotad.core import Interval
from shotad.script import Cue, FilmId, Maker, Track, clean_text, line_stamp

Lines = list[tuple[int, int, str]]
"""First millisecond, length in milliseconds, text."""


def cue(start: float, text: str, **more: object) -> Cue:
    return replace(Cue(f"s{round(start * 1000):08d}", None, Interval(start, start + 2.5), text), **more)  # type: ignore[arg-type]


def make_track(*cues: Cue, **more: object) -> Track:
    track = Track(FilmId("a & <b>.mp4", "x", 40_000.0), "en", (Maker("stage2", "fake"),), "0.1.0", ())
    return replace(track.with_cues(cues), **more)  # type: ignore[arg-type]


def parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        return {name: package.read(name) for name in package.namelist()}


def changed(data: bytes, part: str, old: bytes, new: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts(data).items():
            assert name != part or old in content
            package.writestr(name, content.replace(old, new, 1) if name == part else content)
    return out.getvalue()


def lines_with(odd: Sequence[str]) -> st.SearchStrategy[Lines]:
    """Up to four lines whose texts hold what is ``odd`` in the format, between other characters."""
    texts = st.lists(st.sampled_from(odd) | st.text(max_size=6), min_size=1, max_size=6)
    clean = texts.map("".join).map(clean_text).filter(bool)
    line = st.tuples(st.integers(1, 9**8), st.integers(1, 9000), clean)
    return st.lists(line, max_size=4, unique_by=lambda one: one[0])


def check_coming_back(
    encode: Callable[[Track], bytes], read: Callable[[bytes, str], Any], lines: Lines
) -> None:
    """Ids, times, texts and stamps."""
    cues = [Cue(f"h{a:08d}", None, Interval(a / 1000, (a + n) / 1000), text) for a, n, text in lines]
    track = make_track(*cues)
    script = read(encode(track), "x")
    assert [(c.id, c.interval, c.text) for c in script.cues] == [
        (c.id, c.interval, c.text) for c in track.heard
    ]
    assert script.stamp == track.stamp
    assert script.line_stamps == {c.id: line_stamp(c.interval, c.text) for c in track.heard}


def check_same_bytes(encode: Callable[[Track], bytes], track: Track) -> None:
    """A track gives the same bytes each time, with no time of day in them."""
    assert encode(track) == encode(track)
    with zipfile.ZipFile(io.BytesIO(encode(track))) as package:
        assert {part.date_time for part in package.infolist()} == {(1980, 1, 1, 0, 0, 0)}
