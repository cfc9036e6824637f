"""Sound files are written whole, in channels that players know, and what is in them is where it was in the film."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from shotad.core import load_config
from shotad.core.errors import SoundError, WorkFolderError
from shotad.film import open_film
from shotad.sound import OutputFile
from shotad.sound.outputs import SOUNDS, Kind
from shotad.sound.programme import RATE, channel_names
from shotad.sound.render import check_wanted
from tests.disk import largest_file
from tests.rendering.described import rendered, write_folder
from tests.sound.tones import Samples, SoundFilm, aac_configuration, decoded, noise, onset

BURSTS = (0.0, 0.513, 1.7)
SECONDS = 6.0
LINE_STARTS = 4.0


def bursts(channels: int) -> Samples:
    """``float32[n, channels]``: silence with bursts of noise, a different one each time."""
    sound = np.zeros((round(SECONDS * RATE), channels), np.float32)
    for number, second in enumerate(BURSTS):
        at = round(second * RATE)
        sound[at : at + RATE // 5] = burst(number)[:, None] * np.linspace(0.5, 1, channels)
    return sound


def burst(number: int) -> Samples:
    return np.asarray(noise(0.2, 40 + number, low=150)[: RATE // 5, 0] * 0.1, np.float32)


def film_with_bursts(folder: Path, layout: str) -> tuple[Path, Samples]:
    """A film whose sound is in this layout, and that sound."""
    sound = bursts(len(channel_names(layout)))
    film = SoundFilm(sound, layout, codec="flac", seconds=SECONDS).make(folder / "film.mkv")
    return film, np.round(sound * 32767).astype(np.float32) / 32768


def mixed_files(folder: Path, layout: str, *endings: str) -> tuple[dict[str, Path], Samples]:
    """Files with the film's sound and a line near its end, by their endings; and the film's own sound."""
    film, sound = film_with_bursts(folder, layout)
    place = write_folder(folder / "w", film, {LINE_STARTS: "Rain falls."}, speech=(), language="de")
    done, _ = rendered(place, *(f"mix:{ending}" for ending in endings), film=film)
    assert not done.failures
    return {file.output.ending: file.output.path for file in done.made}, sound


@pytest.mark.parametrize("layout", ["mono", "stereo", "5.1", "5.1(side)", "7.1"])
def test_files_hold_what_was_written_where_it_was(layout: str, tmp_path: Path) -> None:
    endings = SOUNDS if layout in ("mono", "stereo", "5.1") else ("wav", "flac")
    files, sound = mixed_files(tmp_path, layout, *endings)
    before_line = round((LINE_STARTS - 0.5) * RATE)
    for ending, path in files.items():
        samples, rate = decoded(path)
        assert rate == RATE
        if ending in ("wav", "flac"):
            assert samples.shape == sound.shape
            assert np.abs(samples[:before_line] - sound[:before_line]).max() <= 2**-23, ending
        assert len(samples) == pytest.approx(len(sound), abs=1025)
        for number, second in enumerate(BURSTS):
            at = onset(samples[:, 0], burst(number), round(second * RATE))
            assert at / RATE == pytest.approx(second, abs=1e-3), ending


@pytest.mark.parametrize(("layout", "configuration"), [("quad", 5), ("6.1", 6), ("7.1", 6)])
def test_aac_has_channels_that_players_know(layout: str, configuration: int, tmp_path: Path) -> None:
    files, _ = mixed_files(tmp_path, layout, "m4a")
    assert aac_configuration(files["m4a"], 0) == configuration


def test_tags_are_written(tmp_path: Path) -> None:
    files, _ = mixed_files(tmp_path, "stereo", *SOUNDS)
    for ending, path in files.items():
        with av.open(str(path)) as container:
            tags = {key.lower(): value for key, value in container.metadata.items()}
            tags |= {key.lower(): value for key, value in container.streams.audio[0].metadata.items()}
        assert tags["title"] == "film: Audiodeskription"  # in the language of the track
        assert tags["language"] in ("de", "deu"), ending
        assert ending != "wav" or b"bext" in path.read_bytes()[:2000]


@pytest.mark.parametrize("name", ["a.wma", "a", "a.mp4"])
def test_an_unknown_ending_is_refused_with_those_that_are_known(name: str, tmp_path: Path) -> None:
    film, _ = film_with_bursts(tmp_path, "stereo")
    with (
        open_film(film) as opened,
        pytest.raises(SoundError, match=r"\.wav, \.flac, \.mp3, \.opus, \.ogg, \.m4a"),
    ):
        check_wanted(opened, [OutputFile(Kind.MIX, tmp_path / name)], load_config(), "en")


def test_a_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    files, _ = mixed_files(tmp_path, "stereo", "wav")
    before = files["wav"].read_bytes()
    with largest_file(len(before) // 2), pytest.raises(WorkFolderError, match="File too large"):
        rendered(tmp_path / "w", "mix:wav", film=tmp_path / "film.mkv", force=True)
    assert files["wav"].read_bytes() == before
    assert [file.name for file in files["wav"].parent.glob("*.wav")] == [files["wav"].name]
    assert not list(files["wav"].parent.glob(".*part*"))
