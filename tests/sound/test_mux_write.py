"""Writing a described film: what is refused, what a failure leaves behind, and films that have AD already."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from av.stream import Disposition

from shotad.core import ContainerSettings, SoundError
from shotad.film import SoundBlock, open_film, sound_blocks
from shotad.sound.ad_tracks import AdSound
from shotad.sound.containers import MADE_HERE
from shotad.sound.mux_film import Assembly, write_film
from tests.media import FilmSpec, SoundSpec, make_film, media_folder
from tests.sound.muxmedia import (
    CUES,
    METADATA,
    RATE,
    checked,
    copied,
    describe_tracks,
    film_for,
    heard,
    written,
)
from tests.sound.tones import blocks, whole


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


@pytest.mark.parametrize("layout", ["mono", "5.1(side)", "7.1"])
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
