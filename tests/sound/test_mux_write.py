"""Writing a described film: what is refused, what a failure leaves behind, and what comes out the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import ContainerSettings, SoundError
from shotad.film import SoundBlock, open_film, sound_blocks
from shotad.sound.ad_tracks import AdSound
from shotad.sound.mux_film import Assembly, write_film
from tests.media import make_film
from tests.sound.muxmedia import H264, METADATA, RATE, TEXT, blocks, describe_tracks, film_for, heard, written


def write(source: Path, target: Path, sound: AdSound | None = None) -> Any:
    with open_film(source) as film:
        return write_film(
            film, target, sound=sound, text=TEXT, settings=ContainerSettings(), metadata=METADATA
        )


def planned(source: Path, target: Path) -> Assembly:
    """As it is looked at before voice and mix."""
    with open_film(source) as film:
        assert film.media is not None
        with film.media.open() as opened:
            return Assembly(film, target, opened, None, TEXT, ContainerSettings())


def test_text_alone_and_an_ending_that_means_no_container_are_refused(tmp_path: Path) -> None:
    for act in (planned, write):
        with pytest.raises(SoundError, match="no text track") as error:
            act(make_film(H264["plain"]).path, tmp_path / "described.ts")
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
        write(make_film(H264["plain"]).path, target, AdSound(failing(), "stereo", RATE, "en", "AD"))
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
try:
    written(Path(sys.argv[1]), Path(sys.argv[2]))
except ShotadError as error:
    print(error.what)
"""


@pytest.mark.parametrize("ending", [".mp4", ".mkv", ".ts"])
def test_a_disk_that_is_full_is_said_and_nothing_is_left(ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"described{ending}"
    source = film_for("plain", ending)
    told = subprocess.run(
        [sys.executable, "-c", _FULL, str(source), str(target)], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == f"{target} cannot be written: File too large."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".mp4", ".mkv", ".ts", ".mov", ".webm"])
def test_the_same_again_is_the_same_bytes(ending: str, tmp_path: Path) -> None:
    source = film_for("plain", ending)
    for name in ("one", "two"):
        written(source, tmp_path / f"{name}{ending}")
    assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()


@pytest.mark.parametrize(
    ("codec", "ending"),
    [("eac3", ".mkv"), ("flac", ".mkv"), ("mp3", ".mkv"), ("mp2", ".ts"), ("opus", ".mp4")],
)
def test_a_codec_that_is_asked_for_is_as_exact(codec: str, ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"described{ending}"
    made = written(film_for("plain", ending), target, codec=codec)
    assert made.codec == codec.removeprefix("lib")
    assert max(map(abs, heard(target, 1))) < 0.001


def test_a_codec_that_cannot_be_is_refused_with_those_that_can(tmp_path: Path) -> None:
    source = film_for("plain", ".mp4")
    with pytest.raises(SoundError, match=r"MP4 cannot hold a track of truehd"):
        written(source, tmp_path / "described.mp4", codec="truehd")
    with pytest.raises(SoundError, match=r"mp2 cannot be written with 5\.1"):
        written(source, tmp_path / "described.ts", "5.1", codec="mp2")


@pytest.mark.parametrize("layout", ["mono", "5.1(side)", "7.1"])
def test_channels_stay_where_they_are(layout: str, tmp_path: Path) -> None:
    from av import AudioLayout

    count = AudioLayout(layout).nb_channels
    target = tmp_path / "described.mp4"
    source = film_for("plain", ".mp4")
    samples = np.zeros((2 * RATE, count), np.float32)
    # Each channel alone for a while, the bass (number 3) too low for it to be cut.
    for channel in range(count):
        at = slice(round(channel * 0.2 * RATE), round((channel * 0.2 + 0.15) * RATE))
        tone = 60 if channel == 3 else 440
        samples[at, channel] = 0.4 * np.sin(2 * np.pi * tone * np.arange(at.stop - at.start) / RATE)
    write(source, target, AdSound(blocks(samples), layout, RATE, "en", "AD"))
    with open_film(target) as film:
        assert film.info.audio[1].channels == count
        back = np.concatenate([b.samples for b in sound_blocks(film, 1, RATE, "native")])
    for channel in range(count):
        at = slice(round((channel * 0.2 + 0.05) * RATE), round((channel * 0.2 + 0.1) * RATE))
        loud = np.sqrt((back[at] ** 2).mean(0))
        assert int(loud.argmax()) == channel
        assert loud[channel] == pytest.approx(0.4 / 2**0.5, rel=0.1)
