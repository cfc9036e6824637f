"""Described films: every container with every kind of film, all tracks there, marked, the same and in time; what rule A2 finds
wrong with one; what is refused, what a failure leaves behind, and films that have AD already."""

from __future__ import annotations

import functools
import subprocess
import sys
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
from shotad.core.errors import SoundError
from shotad.film import SoundBlock, open_film, sound_blocks
from shotad.script import Level
from shotad.sound.ad_tracks import AdSound
from shotad.sound.containers import MADE_HERE
from shotad.sound.layouts import aac_configuration, remix_matrix, remixed, usual_layout
from shotad.sound.mux_film import Assembly, write_film
from shotad.sound.programme import channel_names
from tests.media import FilmSpec, SoundSpec, make_film, media_folder
from tests.sound.muxmedia import (
    CUES,
    H264,
    METADATA,
    RATE,
    TWO,
    VP8,
    checked,
    copied,
    describe_tracks,
    film_for,
    heard,
    rich_film,
    shown,
    written,
)
from tests.sound.tones import blocks, whole

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
        assert checked(target, film, made) == ()
        found = checked(target, film, made, settings=ContainerSettings())
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
    assert words == ([] if text is None else [("Audio Description (text)", text)])
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
    assert [(t.codec, t.title) for t in back] == [("subrip", "SDH"), ("subrip", "Audio Description (text)")]


def found(source: Path, target: Path, made: Assembly, **more: Any) -> list[str]:
    with open_film(source) as film:
        findings = checked(target, film, made, **more)
    assert all(finding.rule == "A2" for finding in findings)
    return [finding.message for finding in findings]


@pytest.fixture
def source() -> Path:
    return film_for("plain", ".mkv")


@pytest.fixture
def made(source: Path, tmp_path: Path) -> Assembly:
    made = written(source, tmp_path / "described.mkv")
    assert found(source, made.path, made) == []
    return made


@pytest.mark.parametrize(("change", "says"), [
    ({"language": "de"}, "the AD track is in eng, not de"),
    ({"language": "fr"}, "the AD track is called 'Audio Description', not 'Audiodescription (AD)'"),
    ({"settings": ContainerSettings(default_track=True)}, "the AD track does not start by itself"),
    ({"language": "nl"}, "the text track is called 'Audio Description (text)'"),
    ({"text": CUES[:1]}, "the text track has 2 cues, the script 1"),
    ({"text": (CUES[0], (CUES[1][0], "They go."))}, "in the script 'They go.'"),
    ({"text": (CUES[0], (Interval(1.3, 1.75), CUES[1][1]))}, "stands from 1.250 to 1.750 s"),
])  # fmt: skip
def test_what_is_not_as_it_was_to_be(change: dict[str, Any], says: str, source: Path, made: Assembly) -> None:
    messages = found(source, made.path, made, **change)
    assert any(says in message for message in messages), messages


def test_a_film_without_its_ad_or_its_marks(source: Path, made: Assembly, tmp_path: Path) -> None:
    for number, missing in ((2, "the track of audio description"), (3, "the text track of descriptions")):
        bare = copied(made.path, tmp_path / f"{number}.mkv", keep=lambda s, gone=number: s.index != gone)
        assert found(source, bare, made) == [f"{missing} is missing."]
    assert found(source, source, made, text=None)[0] == "the track of audio description is missing."

    def unmark(_: Any, tracks: dict[int, Any]) -> None:
        for track in tracks.values():
            track.disposition = 0

    options = {"default_mode": "passthrough"}
    assert found(source, copied(made.path, tmp_path / "u.mkv", add=unmark, options=options), made) == [
        "the AD track is not marked for people who do not see.",
        "the text track is not marked as descriptions.",
        "players start with one sound, and 0 are marked for it.",
    ]


def test_packets_that_are_missing_differ_or_moved(source: Path, made: Assembly, tmp_path: Path) -> None:
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
        made = av.Packet(bytes(data))
        made.pts, made.dts, made.duration = packet.pts, packet.dts, packet.duration
        made.time_base = packet.time_base
        return made

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
        messages = found(source, copied(made.path, tmp_path / "changed.mkv", change), made)
        assert all(any(one in message for message in messages) for one in says), messages
        assert change is not change_one or len(messages) == 1


def test_a_file_that_is_no_film(source: Path, made: Assembly, tmp_path: Path) -> None:
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

    assert found(source, copied(made.path, tmp_path / "u.mkv", keep=untold), made) == [
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
        made = written(cut, tmp_path / "described.mkv")
        findings = checked(made.path, film, made, text=None)
    late = [finding for finding in findings if "later than in its own file" in finding.message]
    assert [finding.level for finding in late] == [Level.WARNING]


def write(source: Path, target: Path, sound: AdSound | None = None) -> Any:
    with open_film(source) as film:
        return write_film(
            film,
            target,
            sound=sound,
            text=CUES,
            language="en",
            settings=ContainerSettings(),
            metadata=METADATA,
        )


def planned(source: Path, target: Path) -> Assembly:
    """As it is looked at before voice and mix."""
    with open_film(source) as film:
        assert film.media is not None
        with film.media.open() as opened:
            return Assembly(film, target, opened, None, CUES, "en", ContainerSettings())


def test_text_alone_and_an_ending_that_means_no_container_are_refused(tmp_path: Path) -> None:
    for act in (planned, write):
        with pytest.raises(SoundError, match="no text track") as error:
            act(film_for("plain", ".mp4"), tmp_path / "described.ts")
        assert error.value.hint == "Write .mp4 or .mkv or .mov or .webm instead."
    with pytest.raises(SoundError, match=r"as \.avi.*\.mp4.*\.webm"):
        write(make_film().path, tmp_path / "described.avi")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_on_the_way_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "described.mp4"
    target.write_bytes(b"an older one")

    def failing() -> Iterator[SoundBlock]:
        yield SoundBlock(0.0, np.zeros((RATE, 2), np.float32))
        raise SoundError("The mix broke.")

    with pytest.raises(SoundError, match="The mix broke"):
        write(film_for("plain", ".mp4"), target, AdSound(failing(), "stereo", RATE))
    assert target.read_bytes() == b"an older one"
    assert [p.name for p in tmp_path.iterdir()] == [target.name]
    written(film_for("plain", ".mp4"), target)
    assert len(describe_tracks(target)) == 4


_FULL = """
import resource, signal, sys
from pathlib import Path
from shotad.core.errors import ShotadError
from tests.sound.muxmedia import written
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
for target in sys.argv[2:]:
    try:
        written(Path(sys.argv[1]), Path(target))
    except ShotadError as error:
        print(error.what)
"""


def test_a_disk_that_is_full_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    targets = [str(tmp_path / f"described{ending}") for ending in (".mp4", ".mkv", ".ts")]
    command = [sys.executable, "-c", _FULL, str(film_for("plain", ".mp4")), *targets]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == [f"{name} cannot be written: File too large." for name in targets]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("codec", "ending"),
    [("eac3", ".mkv"), ("flac", ".mkv"), ("mp3", ".mkv"), ("mp2", ".ts"), ("opus", ".mp4")],
)
def test_a_codec_that_is_asked_for_is_as_exact(codec: str, ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"described{ending}"
    made = written(film_for("plain", ending), target, codec=codec)
    assert made.coding is not None
    assert made.coding.codec == codec.removeprefix("lib")
    assert max(map(abs, heard(target, 1))) < 0.001


def test_a_codec_that_cannot_be_is_refused_with_those_that_can(tmp_path: Path) -> None:
    source = film_for("plain", ".mp4")
    with pytest.raises(SoundError, match=r"MP4 cannot hold a track of truehd"):
        written(source, tmp_path / "described.mp4", codec="truehd")
    with pytest.raises(SoundError, match=r"mp2 cannot be written with 5\.1"):
        written(source, tmp_path / "described.ts", "5.1", codec="mp2")


@pytest.mark.parametrize("layout", ["mono", "5.1(side)", "5.0(side)", "4.0"])
def test_channels_stay_where_they_are(layout: str, tmp_path: Path) -> None:
    count = av.AudioLayout(layout).nb_channels
    target, source = tmp_path / "described.mp4", film_for("plain", ".mp4")
    samples = np.zeros((2 * RATE, count), np.float32)
    # Each channel alone for a while, the bass (number 3) too low for it to be cut.
    for channel in range(count):
        at = slice(round(channel * 0.2 * RATE), round((channel * 0.2 + 0.15) * RATE))
        tone = 60 if channel == 3 else 440
        samples[at, channel] = 0.4 * np.sin(2 * np.pi * tone * np.arange(at.stop - at.start) / RATE)
    write(source, target, AdSound(blocks(samples), layout, RATE))
    with open_film(target) as film:
        assert film.info.audio[1].channels == count
        back = whole(sound_blocks(film, 1, RATE, "native"))
    for channel in range(count):
        at = slice(round((channel * 0.2 + 0.05) * RATE), round((channel * 0.2 + 0.1) * RATE))
        loud = np.sqrt((back[at] ** 2).mean(0))
        assert int(loud.argmax()) == channel
        assert loud[channel] == pytest.approx(0.4 / 2**0.5, rel=0.1)


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
    made = written(source, target, layout)
    with open_film(source) as film:
        assert checked(target, film, made) == ()
    with av.open(str(target)) as container:
        stream = container.streams.audio[1]
        packet = next(packet for packet in container.demux(stream) if packet.size)
        extra = stream.codec_context.extradata
        assert aac_configuration(None if extra is None else bytes(extra), bytes(packet)) == usual
    # The bursts, on all channels alike, are where they were.
    assert max(map(abs, heard(target, 1))) < 0.001


@pytest.mark.parametrize(("layout", "goes_to"), [
    ("quad", {"FL": ["FL"], "FR": ["FR"], "BL": ["BL"], "BR": ["BR"]}),
    ("7.1", {"FL": ["FL"], "FC": ["FC"], "LFE": ["LFE"], "SL": ["BL"], "BL": ["BL"], "SR": ["BR"]}),
    ("6.1", {"BC": ["BL", "BR"], "SL": ["BL"], "FR": ["FR"]}),
])  # fmt: skip
def test_channels_that_players_do_not_know_go_where_they_are_heard_alike(layout, goes_to):
    names, wanted = channel_names(layout), usual_layout(layout)
    matrix, targets = remix_matrix(layout, wanted), channel_names(wanted)
    for name, places in goes_to.items():
        row = matrix[names.index(name)]
        assert [targets[i] for i in np.flatnonzero(row)] == places
        assert (row**2).sum() == pytest.approx(1.0, abs=0.51)
    # Sound that is at full level in all channels is not cut.
    full = np.random.default_rng(0).uniform(-1, 1, (RATE, len(names))).astype(np.float32)
    loud = np.concatenate([block.samples for block in remixed(blocks(full), layout, wanted)])
    assert loud.shape == (RATE, len(targets))
    assert np.abs(loud).max() <= 1.0


def test_a_track_of_aac_that_describes_its_channels_itself_is_found(tmp_path: Path) -> None:
    source, target = film_for("silent", ".mp4"), tmp_path / "described.mp4"
    made = written(source, target)
    data = target.read_bytes()
    # AAC-LC, 48 kHz, two channels; then none.
    assert data.count(b"\x05\x80\x80\x80\x05\x11\x90") == 1
    target.write_bytes(data.replace(b"\x05\x80\x80\x80\x05\x11\x90", b"\x05\x80\x80\x80\x05\x11\x80"))
    with open_film(source) as film:
        assert "AAC configuration 0" in " ".join(finding.message for finding in checked(target, film, made))


# Films that have audio description already
def described(source: Path, target: Path, language: str = "en", **settings: Any) -> Assembly:
    """Written and checked."""
    made = written(source, target, language=language, **settings)
    with open_film(source) as film:
        assert checked(target, film, made) == ()
    return made


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
        found = [film.metadata, *(stream.metadata for stream in film.streams)]
        return [{key.lower(): value for key, value in one.items()}.get("comment") for one in found]


@pytest.mark.parametrize("ending", [".mp4", ".mkv", ".mov", ".webm"])
def test_a_described_film_that_is_described_again_has_one_ad(ending: str, tmp_path: Path) -> None:
    first, again = tmp_path / f"first{ending}", tmp_path / f"again{ending}"
    assert described(film_for("plain", ending), first).replaced == ()
    made = described(first, again)
    assert made.replaced == (2, 3)
    assert titles(again) == titles(first)
    assert remarks(again) == remarks(first)
    assert remarks(again)[1:] == [None, None, MADE_HERE, MADE_HERE]
    told = [warning for warning in made.warnings if "already" in warning]
    assert len(told) == 2
    assert all("(made with shotad): the new one takes its place" in warning for warning in told)


@pytest.mark.parametrize("ending", [".mp4", ".mkv"])
def test_in_another_language_both_stay(ending: str, tmp_path: Path) -> None:
    first, again = tmp_path / f"first{ending}", tmp_path / f"again{ending}"
    described(film_for("plain", ending), first)
    made = described(first, again, language="de")
    assert made.replaced == ()
    assert sorted(language for kind, language, title in titles(again) if title) in (
        ["deu", "deu", "eng", "eng"],
        ["eng", "eng", "ger", "ger"],
    )
    assert all("stays beside the new one." in warning for warning in made.warnings)
    # The first one is known again even in its copy.
    assert len(described(again, tmp_path / f"third{ending}").replaced) == 2


def test_what_people_made_stays_unless_it_is_wished(tmp_path: Path) -> None:
    target = tmp_path / "described.mkv"
    for existing in ("auto", "keep"):
        made = described(broadcast(), target, existing=existing)
        assert made.replaced == ()
        assert "audio track 2 (eng, Narrated, aac)" in made.warnings[0]
        assert "container.existing: replace" in made.warnings[0]
        assert sounds(target) == ["", "Narrated", "Audio Description"]
    assert described(broadcast(), target, existing="replace").replaced == (2,)
    assert sounds(target) == ["", "Audio Description"]


def test_the_only_sound_of_a_film_is_never_left_out(tmp_path: Path) -> None:
    spec = FilmSpec(suffix=".mkv", sounds=(SoundSpec(language="eng", title="Audio description"),))
    made = described(make_film(spec).path, tmp_path / "described.mkv", existing="replace")
    assert made.replaced == ()
    assert sounds(tmp_path / "described.mkv") == ["Audio description", "Audio Description"]
