"""Described films: every container with every kind of film, all tracks there, marked, the same and in time; what rule A2 finds
wrong with one; what is refused, what a failure leaves behind, and films that have AD already."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from av.stream import Disposition

from shotad.core import Interval
from shotad.core.config.sound import ContainerSettings
from shotad.core.errors import ShotadError, SoundError
from shotad.film import SoundBlock, open_film, sound_blocks
from shotad.script import Level
from shotad.sound.programme import channel_names
from tests.disk import largest_file
from tests.media import FilmSpec, SoundSpec, make_film, media_folder
from tests.sound.muxmedia import (
    CUES,
    H264,
    RATE,
    TWO,
    VP8,
    burst_shifts,
    checked,
    copied,
    describe_tracks,
    film_for,
    findings_on,
    frame_seconds,
    rich_film,
    written,
)
from tests.sound.tones import aac_configuration, blocks, whole

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
    described_film = written(source, target, layout)
    with open_film(source) as film:
        before = film.info
        assert checked(target, film, described_film) == ()
    with open_film(target) as film:
        after = film.info
        # In MPEG-TS the libraries guess it; `check_film` has counted it.
        assert abs(after.duration - before.duration) <= (2 * FRAME if ending == ".ts" else FRAME)
        own = after.audio[-1]
        assert (own.language, own.descriptive) == ("eng", True)
        assert own.channels == (6 if name == "5.1" else 2)
        assert len(after.audio) == len(before.audio) + 1
        assert own.default == (not before.audio and ending != ".ts")
    late = np.array(frame_seconds(target)) - frame_seconds(source)
    # MPEG-TS cannot hide the 256 samples that the film's own AC-3 begins with.
    assert abs(late[0]) < (0.006 if ending == ".ts" else 0.0006)
    assert np.ptp(late) < 0.0011
    assert max(abs(off - late[0]) for off in burst_shifts(target, len(before.audio))) < 0.001
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
    described_film = written(source, target, default_track=True)
    with open_film(source) as film:
        assert checked(target, film, described_film) == ()
        unstarted = checked(target, film, described_film, settings=ContainerSettings())
    starts = {"default"} if ending != ".ts" else set()
    assert [finding.rule for finding in unstarted] == ["A2"] * len(starts)
    tracks = describe_tracks(target)
    sound, text = MARKS[ending]
    own, voice = (t for t in tracks if t.kind == "audio")
    assert "default" not in own.marks
    assert (voice.number, set(voice.marks), voice.language) == (2, sound | starts, "eng")
    assert voice.title == ("" if ending == ".ts" else "Audio Description")
    assert voice.handler == ("Audio Description" if ending in (".mp4", ".mov") else "")
    words = [(t.title, set(t.marks)) for t in tracks if t.kind == "subtitle"]
    assert words == ([] if text is None else [("Audio Description (text)", text)])
    assert any("mark" in warning for warning in described_film.warnings) == (sound == set())
    assert any("text track" in warning for warning in described_film.warnings) == (text is None)


def test_subtitles_in_text_are_converted_and_the_rest_is_named(tmp_path: Path) -> None:
    import av

    target = tmp_path / "described.mp4"
    described_film = written(rich_film(), target)
    assert len(described_film.warnings) == 1
    assert "font.ttf" in described_film.warnings[0]
    with av.open(str(target)) as film:
        stream = film.streams.subtitles[0]
        assert (stream.codec_context.name, stream.metadata["language"]) == ("mov_text", "eng")
        cues = [(float(p.pts * p.time_base), bytes(p)) for p in film.demux(stream) if p.size > 2]
        assert [at for at, _ in cues] == [0.4, 1.3]
        assert b"Oh & no" in cues[0][1]
        assert b"Two\nlines" in cues[1][1]
        assert film.metadata["comment"] == "Audio description made by machine.; reviewer: Ann"
    written(target, tmp_path / "again.mkv")
    back = [t for t in describe_tracks(tmp_path / "again.mkv") if t.kind == "subtitle"]
    assert [(t.codec, t.title) for t in back] == [("subrip", "SDH"), ("subrip", "Audio Description (text)")]


@pytest.fixture
def source() -> Path:
    return film_for("plain", ".mkv")


@pytest.fixture
def described_film(source: Path, tmp_path: Path) -> Any:
    described_film = written(source, tmp_path / "described.mkv")
    assert findings_on(source, described_film.path, described_film) == []
    return described_film


@pytest.mark.parametrize(("change", "says"), [
    ({"language": "de"}, "the AD track is in eng, not de"),
    ({"language": "fr"}, "the AD track is called 'Audio Description', not 'Audiodescription (AD)'"),
    ({"settings": ContainerSettings(default_track=True)}, "the AD track does not start by itself"),
    ({"language": "nl"}, "the text track is called 'Audio Description (text)'"),
    ({"text": CUES[:1]}, "the text track has 2 cues, the script 1"),
    ({"text": (CUES[0], (CUES[1][0], "They go."))}, "in the script 'They go.'"),
    ({"text": (CUES[0], (Interval(1.3, 1.75), CUES[1][1]))}, "stands from 1.250 to 1.750 s"),
])  # fmt: skip
def test_what_is_not_as_it_was_to_be(
    change: dict[str, Any], says: str, source: Path, described_film: Any
) -> None:
    messages = findings_on(source, described_film.path, described_film, **change)
    assert any(says in message for message in messages), messages


def test_a_film_without_its_ad_or_its_marks(source: Path, described_film: Any, tmp_path: Path) -> None:
    for number, missing in ((2, "the track of audio description"), (3, "the text track of descriptions")):
        bare = copied(
            described_film.path, tmp_path / f"{number}.mkv", keep=lambda s, gone=number: s.index != gone
        )
        assert findings_on(source, bare, described_film) == [f"{missing} is missing."]
    assert (
        findings_on(source, source, described_film, text=None)[0]
        == "the track of audio description is missing."
    )

    def unmark(_: Any, tracks: dict[int, Any]) -> None:
        for track in tracks.values():
            track.disposition = 0

    options = {"default_mode": "passthrough"}
    assert findings_on(
        source, copied(described_film.path, tmp_path / "u.mkv", add=unmark, options=options), described_film
    ) == [
        "the AD track is not marked for people who do not see.",
        "the text track is not marked as descriptions.",
        "players start with one sound, and 0 are marked for it.",
    ]


def test_packets_that_are_missing_differ_or_moved(source: Path, described_film: Any, tmp_path: Path) -> None:
    import av

    seen = {"count": 0}

    def lose_one(packet: Any) -> Any:
        seen["count"] += packet.stream.index == 1
        return None if packet.stream.index == 1 and seen["count"] == 20 else packet

    def change_one(packet: Any) -> Any:
        if packet.stream.index != 1 or abs(float(packet.pts * packet.time_base) - 1.0) > 0.012:
            return packet
        data = bytearray(bytes(packet))
        data[-1] ^= 1
        changed = av.Packet(bytes(data))
        changed.pts, changed.dts, changed.duration = packet.pts, packet.dts, packet.duration
        changed.time_base = packet.time_base
        return changed

    def later(packet: Any) -> Any:
        if packet.stream.index == 0:
            packet.pts += 40
            packet.dts = None if packet.dts is None else packet.dts + 40
        return packet

    for change, *says in (
        (lose_one, "packets, in the film"),
        (change_one, "audio track 1 (eng, aac) is not what it is in the film: its packets differ."),
        (later, "moved against each other by 40 ms"),
        (
            lambda p: p if float(p.pts * p.time_base) < 1.5 else None,
            "it lasts 1.5",
            "the AD track ends at 1.5",
        ),
    ):
        messages = findings_on(
            source, copied(described_film.path, tmp_path / "changed.mkv", change), described_film
        )
        assert all(any(words in message for message in messages) for words in says), messages
        assert change is not change_one or len(messages) == 1


def test_a_file_that_is_no_film(source: Path, described_film: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.mkv").write_bytes(b"\0" * 5000)
    for name in ("broken.mkv", "none.mkv"):
        assert "cannot be read back" in findings_on(source, tmp_path / name, described_film)[0]


def test_a_title_and_a_language_that_a_track_lost(tmp_path: Path) -> None:
    source = make_film(TWO).path
    described_film = written(source, tmp_path / "described.mkv")

    def untold(stream: Any) -> bool:
        if stream.index == 1:
            del stream.metadata["title"], stream.metadata["language"]
        return True

    assert findings_on(
        source, copied(described_film.path, tmp_path / "u.mkv", keep=untold), described_film
    ) == [
        "audio track 1 (ger, Deutsch, ac3) of the film is now in no language.",
        "audio track 1 (ger, Deutsch, ac3) of the film is now called ''.",
    ]


def test_a_film_whose_edits_hide_its_beginning_begins_later_elsewhere(tmp_path: Path) -> None:
    """Pictures before the first that is shown are needed to decode it, so they go along and are seen in MKV."""

    def earlier(packet: Any) -> Any:
        shift = round(Fraction(1, 2) / packet.time_base)
        packet.pts, packet.dts = packet.pts - shift, packet.dts - shift
        return packet

    origin = make_film(FilmSpec(gop=50, sounds=(SoundSpec(codec="aac"),))).path
    cut = copied(origin, tmp_path / "cut.mp4", earlier)
    with open_film(cut) as film:
        assert film.info.start == 0
        described_film = written(cut, tmp_path / "described.mkv")
        findings = checked(described_film.path, film, described_film, text=None)
    late = [finding for finding in findings if "later than in its own file" in finding.message]
    assert [finding.level for finding in late] == [Level.WARNING]


def test_text_alone_and_an_ending_that_means_no_container_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SoundError, match="no text track") as error:
        written(film_for("plain", ".mp4"), tmp_path / "described.ts", with_sound=False)
    assert error.value.hint == "Write .mp4 or .mkv or .mov or .webm instead."
    with pytest.raises(SoundError, match=r"as \.avi.*\.mp4.*\.webm"):
        written(make_film().path, tmp_path / "described.avi", with_sound=False)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_on_the_way_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "described.mp4"
    target.write_bytes(b"an older one")

    def failing() -> Iterator[SoundBlock]:
        yield SoundBlock(0.0, np.zeros((RATE, 2), np.float32))
        raise SoundError("The mix broke.")

    with pytest.raises(SoundError, match="The mix broke"):
        written(film_for("plain", ".mp4"), target, parts=failing())
    assert target.read_bytes() == b"an older one"
    assert [p.name for p in tmp_path.iterdir()] == [target.name]
    written(film_for("plain", ".mp4"), target)
    assert len(describe_tracks(target)) == 4


def test_a_disk_that_is_full_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    source = film_for("plain", ".mp4")
    for ending in (".mp4", ".mkv", ".ts"):
        target = tmp_path / f"described{ending}"
        with largest_file(20_000), pytest.raises(ShotadError) as error:
            written(source, target)
        assert error.value.what == f"{target} cannot be written: File too large."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("codec", "ending"),
    [("eac3", ".mkv"), ("flac", ".mkv"), ("mp3", ".mkv"), ("mp2", ".ts"), ("opus", ".mp4")],
)
def test_a_codec_that_is_asked_for_is_as_exact(codec: str, ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"described{ending}"
    described_film = written(film_for("plain", ending), target, codec=codec)
    assert described_film.coding is not None
    assert described_film.coding.codec == codec.removeprefix("lib")
    assert max(map(abs, burst_shifts(target, 1))) < 0.001


def test_a_codec_that_cannot_be_is_refused_with_those_that_can(tmp_path: Path) -> None:
    source = film_for("plain", ".mp4")
    with pytest.raises(SoundError, match=r"MP4 cannot hold a track of truehd"):
        written(source, tmp_path / "described.mp4", codec="truehd")
    with pytest.raises(SoundError, match=r"mp2 cannot be written with 5\.1"):
        written(source, tmp_path / "described.ts", "5.1", codec="mp2")


@pytest.mark.parametrize(("layout", "goes_to"), [
    ("mono", {}), ("5.1(side)", {"SL": ["BL"], "SR": ["BR"]}), ("5.0(side)", {"SL": ["BL"], "SR": ["BR"]}), ("4.0", {}),
    # Players know no number for these in AAC.
    ("quad", {}),
    ("7.1", {"SL": ["BL"], "SR": ["BR"]}),
    ("6.1", {"BC": ["BL", "BR"], "SL": ["BL"], "SR": ["BR"]}),
])  # fmt: skip
def test_channels_stay_where_they_are_or_go_where_they_are_heard_alike(layout, goes_to, tmp_path):
    names = channel_names(layout)
    target, source = tmp_path / "described.mp4", film_for("plain", ".mp4")
    samples = np.zeros((2 * RATE, len(names)), np.float32)

    def turn(number: int, first: float, last: float) -> slice:
        """Samples of the time in which this channel alone sounds, from ``first`` to ``last`` second of it."""
        return slice(round((number * 0.2 + first) * RATE), round((number * 0.2 + last) * RATE))

    for number, name in enumerate(names):
        place = turn(number, 0, 0.15)
        # The bass is too low for it to be cut.
        tone = 60 if name == "LFE" else 440
        samples[place, number] = 0.4 * np.sin(2 * np.pi * tone * np.arange(place.stop - place.start) / RATE)
    written(source, target, layout, parts=blocks(samples))
    with open_film(target) as film:
        targets = channel_names(film.info.audio[1].layout)
        back = whole(sound_blocks(film, 1, RATE, "native"))
    for number, name in enumerate(names):
        loudness = np.sqrt((back[turn(number, 0.05, 0.1)] ** 2).mean(0))
        loud = [targets[index] for index in np.flatnonzero(loudness > 0.1)]
        assert loud == goes_to.get(name, [name])
        assert (loudness**2).sum() == pytest.approx(0.4**2 / 2, rel=0.55)


@pytest.mark.parametrize("layout", ["6.1", "7.1"])
def test_sound_at_full_level_in_all_channels_is_not_cut_where_several_become_one(layout, tmp_path):
    full = np.random.default_rng(0).uniform(-1, 1, (RATE, len(channel_names(layout)))).astype(np.float32)
    target = tmp_path / "described.mp4"
    written(film_for("plain", ".mp4"), target, layout, parts=blocks(full))
    with open_film(target) as film:
        back = whole(sound_blocks(film, 1, RATE, "native"))
    # Together the channels would reach 2; a coder moves peaks by a dB or two.
    assert back.shape[1] == 6
    assert np.abs(back).max() < 1.25


@pytest.mark.parametrize(
    ("layout", "usual"),
    [
        ("2.1", 6), ("quad", 5), ("quad(side)", 5), ("3.1", 6), ("5.1(side)", 6), ("6.1", 6), ("7.0", 5),
        ("7.1", 6), ("7.1(wide)", 6), ("hexagonal", 5),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", [".mp4", ".ts"])
def test_aac_has_channels_that_players_know(layout: str, usual: int, ending: str, tmp_path: Path) -> None:
    source, target = film_for("plain", ending), tmp_path / f"described{ending}"
    described_film = written(source, target, layout)
    assert findings_on(source, target, described_film) == []
    assert aac_configuration(target, 1) == usual
    # The bursts, on all channels alike, are where they were.
    assert max(map(abs, burst_shifts(target, 1))) < 0.001


def test_a_track_of_aac_that_describes_its_channels_itself_is_found(tmp_path: Path) -> None:
    source, target = film_for("silent", ".mp4"), tmp_path / "described.mp4"
    described_film = written(source, target)
    data = target.read_bytes()
    # AAC-LC, 48 kHz, two channels; then none.
    assert data.count(b"\x05\x80\x80\x80\x05\x11\x90") == 1
    target.write_bytes(data.replace(b"\x05\x80\x80\x80\x05\x11\x90", b"\x05\x80\x80\x80\x05\x11\x80"))
    with open_film(source) as film:
        assert "AAC configuration 0" in " ".join(
            finding.message for finding in checked(target, film, described_film)
        )


# Films that have audio description already
def described(source: Path, target: Path, language: str = "en", **settings: Any) -> Any:
    """Written and checked."""
    described_film = written(source, target, language=language, **settings)
    with open_film(source) as film:
        assert checked(target, film, described_film) == ()
    return described_film


@functools.cache
def broadcast() -> Path:
    """A film with a describer's own AD in English."""

    def mark(_: Any, tracks: dict[int, Any]) -> None:
        tracks[2].disposition = Disposition.visual_impaired

    sounds = (SoundSpec(language="eng", default=True), SoundSpec(language="eng", title="Narrated"))
    film = make_film(FilmSpec(suffix=".mkv", sounds=sounds)).path
    return copied(film, media_folder() / "broadcast.mkv", add=mark)


def titles(path: Path) -> list[tuple[str, str, str]]:
    return [(t.kind, t.language, t.title) for t in describe_tracks(path) if t.kind != "video"]


def sounds(path: Path) -> list[str]:
    return [title for kind, _, title in titles(path) if kind == "audio"]


def remarks(path: Path) -> list[str | None]:
    """What the file says of itself, then what each of its tracks does."""
    with av.open(str(path)) as film:
        tags = [film.metadata, *(stream.metadata for stream in film.streams)]
        return [
            {key.lower(): value for key, value in track_tags.items()}.get("comment") for track_tags in tags
        ]


@pytest.mark.parametrize("ending", [".mp4", ".mkv", ".mov", ".webm"])
def test_a_described_film_that_is_described_again_has_one_ad(ending: str, tmp_path: Path) -> None:
    first, again = tmp_path / f"first{ending}", tmp_path / f"again{ending}"
    assert described(film_for("plain", ending), first).replaced == ()
    described_film = described(first, again)
    assert described_film.replaced == (2, 3)
    assert titles(again) == titles(first)
    assert remarks(again) == remarks(first)
    assert remarks(again)[1:] == [None, None, *["Audio description made with shotad."] * 2]
    replaced = [warning for warning in described_film.warnings if "already" in warning]
    assert len(replaced) == 2
    assert all("(made with shotad): the new one takes its place" in warning for warning in replaced)


@pytest.mark.parametrize("ending", [".mp4", ".mkv"])
def test_in_another_language_both_stay(ending: str, tmp_path: Path) -> None:
    first, again = tmp_path / f"first{ending}", tmp_path / f"again{ending}"
    described(film_for("plain", ending), first)
    described_film = described(first, again, language="de")
    assert described_film.replaced == ()
    assert sorted(language for kind, language, title in titles(again) if title) in (
        ["deu", "deu", "eng", "eng"],
        ["eng", "eng", "ger", "ger"],
    )
    assert all("stays beside the new one." in warning for warning in described_film.warnings)
    # The first one is known again even in its copy.
    assert len(described(again, tmp_path / f"third{ending}").replaced) == 2


def test_what_people_made_stays_unless_it_is_wished(tmp_path: Path) -> None:
    target = tmp_path / "described.mkv"
    for existing in ("auto", "keep"):
        described_film = described(broadcast(), target, existing=existing)
        assert described_film.replaced == ()
        assert "audio track 2 (eng, Narrated, aac)" in described_film.warnings[0]
        assert "container.existing: replace" in described_film.warnings[0]
        assert sounds(target) == ["", "Narrated", "Audio Description"]
    assert described(broadcast(), target, existing="replace").replaced == (2,)
    assert sounds(target) == ["", "Audio Description"]


def test_the_only_sound_of_a_film_is_never_left_out(tmp_path: Path) -> None:
    spec = FilmSpec(suffix=".mkv", sounds=(SoundSpec(language="eng", title="Audio description"),))
    described_film = described(make_film(spec).path, tmp_path / "described.mkv", existing="replace")
    assert described_film.replaced == ()
    assert sounds(tmp_path / "described.mkv") == ["Audio description", "Audio Description"]
