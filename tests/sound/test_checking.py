"""Rule A2 finds what is wrong with a described film, and only that."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from shotad.core import ContainerSettings, Interval
from shotad.film import open_film
from shotad.script import Level
from shotad.sound.mux_film import Written, write_film
from tests.media import FilmSpec, SoundSpec, make_film
from tests.sound.muxmedia import CUES, TEXT, TWO, ad_sound, checked, film_for, written


def found(source: Path, target: Path, made: Written, **more: Any) -> list[str]:
    with open_film(source) as film:
        findings = checked(target, film, made, **more)
    assert all(finding.rule == "A2" for finding in findings)
    return [finding.message for finding in findings]


@pytest.fixture
def source() -> Path:
    return film_for("plain", ".mkv")


@pytest.fixture
def made(source: Path, tmp_path: Path) -> Written:
    made = written(source, tmp_path / "described.mkv")
    assert found(source, made.path, made) == []
    return made


def remuxed(
    path: Path, target: Path, change: Callable[[Any], Any], keep: Callable[[Any], bool] | None = None
) -> Path:
    """A copy of a file through PyAV with each packet changed (None: left out), of the tracks that are kept."""
    import av

    with av.open(str(path)) as old, av.open(str(target), "w") as new:
        ways = {}
        for stream in old.streams:
            if keep is None or keep(stream):
                way = new.add_stream_from_template(stream, opaque=True)
                way.disposition = stream.disposition
                way.metadata.update(stream.metadata)
                ways[stream.index] = way
        for packet in old.demux():
            if packet.size and packet.stream.index in ways:
                made = change(packet)
                if made is not None:
                    made.stream = ways[packet.stream.index]
                    new.mux(made)
    return target


@pytest.mark.parametrize(("change", "says"), [
    ({"language": "de"}, "the AD track is in eng, not de"),
    ({"title": "Bildbeschreibung"}, "the AD track is called 'Audio Description', not 'Bildbeschreibung'"),
    ({"default": True}, "the AD track does not start by itself"),
    ({"text_title": "Other"}, "the text track is called 'Descriptions'"),
    ({"cues": CUES[:1]}, "the text track has 2 cues, the script 1"),
    ({"cues": (CUES[0], (CUES[1][0], "They go."))}, "in the script 'They go.'"),
    ({"cues": (CUES[0], (Interval(1.3, 1.75), CUES[1][1]))}, "stands from 1.250 to 1.750 s"),
])  # fmt: skip
def test_what_is_not_as_it_was_to_be(change: dict[str, Any], says: str, source: Path, made: Written) -> None:
    messages = found(source, made.path, made, **change)
    assert any(says in message for message in messages), messages


def test_a_film_without_its_ad(source: Path, made: Written, tmp_path: Path) -> None:
    bare = remuxed(made.path, tmp_path / "bare.mkv", lambda p: p, lambda s: s.index in (0, 1, 3))
    assert found(source, bare, made) == ["the track of audio description is missing."]
    silent = remuxed(made.path, tmp_path / "silent.mkv", lambda p: p, lambda s: s.index in (0, 1, 2))
    assert found(source, silent, made) == ["the text track of descriptions is missing."]
    assert found(source, source, made, cues=None)[0] == "the track of audio description is missing."


def test_a_mark_that_is_missing(source: Path, made: Written, tmp_path: Path) -> None:
    import av

    plain = tmp_path / "plain.mkv"
    passed = {"default_mode": "passthrough"}
    with av.open(str(made.path)) as old, av.open(str(plain), "w", options=passed) as new:
        ways = {s.index: new.add_stream_from_template(s, opaque=True) for s in old.streams}
        for stream in old.streams:
            ways[stream.index].metadata.update(stream.metadata)
            ways[stream.index].disposition = 0
        for packet in old.demux():
            if packet.size:
                packet.stream = ways[packet.stream.index]
                new.mux(packet)
    assert found(source, plain, made) == [
        "the AD track is not marked for people who do not see.",
        "the text track is not marked as descriptions.",
        "players start with one sound, and 0 are marked for it.",
    ]


def test_packets_that_are_missing_or_differ(source: Path, made: Written, tmp_path: Path) -> None:
    import av

    seen = {"count": 0}

    def lose_one(packet: Any) -> Any:
        seen["count"] += packet.stream.index == 1
        return None if packet.stream.index == 1 and seen["count"] == 20 else packet

    messages = found(source, remuxed(made.path, tmp_path / "a.mkv", lose_one), made)
    assert any("packets, in the film" in message for message in messages), messages

    def change_one(packet: Any) -> Any:
        if packet.stream.index != 1 or abs(float(packet.pts * packet.time_base) - 1.0) > 0.012:
            return packet
        data = bytearray(bytes(packet))
        data[-1] ^= 1
        made = av.Packet(bytes(data))
        made.pts, made.dts, made.duration = packet.pts, packet.dts, packet.duration
        made.time_base = packet.time_base
        return made

    changed = found(source, remuxed(made.path, tmp_path / "b.mkv", change_one), made)
    assert changed == ["audio track 1 (eng, aac) is not what it is in the film: its packets differ."]


def test_tracks_that_moved_against_each_other(source: Path, made: Written, tmp_path: Path) -> None:
    def later(packet: Any) -> Any:
        if packet.stream.index == 0:
            packet.pts += 40
            packet.dts = None if packet.dts is None else packet.dts + 40
        return packet

    messages = found(source, remuxed(made.path, tmp_path / "moved.mkv", later), made)
    assert any("moved against each other by 40 ms" in message for message in messages), messages


def test_a_film_that_is_cut_off_or_is_none(source: Path, made: Written, tmp_path: Path) -> None:
    short = remuxed(made.path, tmp_path / "s.mkv", lambda p: p if float(p.pts * p.time_base) < 1.5 else None)
    messages = found(source, short, made)
    assert any("it lasts 1.5" in message for message in messages), messages
    assert any("the AD track ends at 1.5" in message for message in messages)
    (tmp_path / "broken.mkv").write_bytes(b"\0" * 5000)
    for name in ("broken.mkv", "none.mkv"):
        assert "cannot be read back" in found(source, tmp_path / name, made)[0]


def test_a_title_and_a_language_that_a_track_lost(tmp_path: Path) -> None:
    source = make_film(TWO).path
    made = written(source, tmp_path / "described.mkv")

    def untold(stream: Any) -> bool:
        if stream.index == 1:
            del stream.metadata["title"], stream.metadata["language"]
        return True

    assert found(source, remuxed(made.path, tmp_path / "u.mkv", lambda p: p, untold), made) == [
        "audio track 1 (ger, Deutsch, ac3) of the film is now in no language.",
        "audio track 1 (ger, Deutsch, ac3) of the film is now called ''.",
    ]


def test_a_film_whose_edits_hide_its_beginning_begins_later_elsewhere(tmp_path: Path) -> None:
    """Pictures before the first that is shown are needed to decode it, so they go along and are seen in MKV."""
    import av

    origin = make_film(FilmSpec(gop=50, sounds=(SoundSpec(codec="aac"),))).path
    cut = tmp_path / "cut.mp4"
    with av.open(str(origin)) as old, av.open(str(cut), "w") as new:
        ways = {s.index: new.add_stream_from_template(s, opaque=True) for s in old.streams}
        for packet in old.demux():
            if packet.size:
                shift = round(Fraction(1, 2) / packet.time_base)
                packet.pts, packet.dts = packet.pts - shift, packet.dts - shift
                packet.stream = ways[packet.stream.index]
                new.mux(packet)
    with open_film(cut) as film:
        assert film.info.start == 0
        target = tmp_path / "described.mkv"
        settings = ContainerSettings()
        made = write_film(film, target, sound=ad_sound(film), text=TEXT, settings=settings, metadata={})
        findings = checked(target, film, made, cues=None)
    late = [finding for finding in findings if "later than in its own file" in finding.message]
    assert [finding.level for finding in late] == [Level.WARNING]
