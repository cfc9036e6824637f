"""Sound files are written whole, read back as they were, and their lines are where they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest

from shotad.core.errors import SoundError, WorkFolderError
from shotad.film import SoundBlock
from shotad.sound.files import SOUND_KINDS, write_sound
from shotad.sound.layouts import aac_configuration
from shotad.sound.programme import RATE
from tests.sound.tones import Samples, blocks, decoded, noise, onset

BURSTS = (0.0, 0.513, 1.7)


def bursts(channels: int = 2, seconds: float = 2.5) -> Samples:
    """Silence with bursts of noise, a different one each time."""
    sound = np.zeros((round(seconds * RATE) + 7, channels), np.float32)
    for number, second in enumerate(BURSTS):
        at = round(second * RATE)
        sound[at : at + RATE // 5] = burst(number)[:, None] * np.linspace(0.5, 1, channels)
    return sound


def burst(number: int) -> Samples:
    return np.asarray(noise(0.2, 40 + number, low=150)[: RATE // 5, 0] * 0.1, np.float32)


FORMS = (("mono", 1), ("stereo", 2), ("5.1", 6))
LOSSLESS = (("5.1(side)", 6), ("7.1", 8))
OTHERS = {"quad": 5, "6.1": 6, "7.1": 6}
"""Channels that a layout has in AAC, which knows no number for it."""
CASES = [
    (end, *form) for end in SOUND_KINDS for form in (*FORMS, *(LOSSLESS if end in (".wav", ".flac") else ()))
]


@pytest.mark.parametrize("layout", OTHERS)
def test_aac_has_channels_that_players_know(layout, tmp_path):
    count = av.AudioLayout(layout).nb_channels
    path = write_sound(tmp_path / "a.m4a", blocks(bursts(count)), layout=layout)
    with av.open(str(path)) as container:
        context = container.streams.audio[0].codec_context
        assert aac_configuration(bytes(context.extradata), b"") == OTHERS[layout]


@pytest.mark.parametrize(("ending", "layout", "channels"), CASES)
def test_files_hold_what_was_written_where_it_was(ending, layout, channels, tmp_path):
    sound = bursts(channels)
    path = write_sound(tmp_path / f"a{ending}", blocks(sound), layout=layout)
    found, rate = decoded(path)
    assert rate == RATE
    if ending in (".wav", ".flac"):
        assert found.shape == sound.shape
        assert np.abs(found - sound).max() <= 2**-23
    assert len(found) == pytest.approx(len(sound), abs=1025)
    for number, second in enumerate(BURSTS):
        heard = onset(found[:, 0], burst(number), round(second * RATE))
        assert heard / RATE == pytest.approx(second, abs=1e-3)


@pytest.mark.parametrize("ending", SOUND_KINDS)
def test_tags_are_written(ending: str, tmp_path: Path) -> None:
    tags = {"title": "Film: audio description", "language": "de", "comment": "made by machine"}
    path = write_sound(tmp_path / f"a{ending}", blocks(bursts()), layout="stereo", tags=tags)
    with av.open(str(path)) as container:
        found = {key.lower(): value for key, value in container.metadata.items()}
        found |= {key.lower(): value for key, value in container.streams.audio[0].metadata.items()}
    assert found["title"] == tags["title"]
    assert found["comment"] == tags["comment"]
    assert found["language"] in ("de", "deu")
    assert ending != ".wav" or b"bext" in path.read_bytes()[:2000]


@pytest.mark.parametrize("name", ["a.wma", "a", "a.mp4"])
def test_an_unknown_ending_is_refused_with_those_that_are_known(name: str, tmp_path: Path) -> None:
    with pytest.raises(SoundError, match=r"\.wav, \.flac, \.mp3, \.opus, \.ogg, \.m4a"):
        write_sound(tmp_path / name, blocks(bursts()), layout="stereo")
    assert list(tmp_path.iterdir()) == []


def test_a_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"before")

    def broken() -> Iterator[SoundBlock]:
        yield from blocks(bursts())
        raise OSError("the film is gone")

    with pytest.raises((OSError, WorkFolderError)):
        write_sound(path, broken(), layout="stereo")
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["a.wav"]
