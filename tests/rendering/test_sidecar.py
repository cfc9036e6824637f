"""The described sound as a file beside the film: its name, its place, and what it says of itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import av
import pytest
from av.stream import Disposition

from shotad.core import NoProgress, WorkFolder, load_config
from shotad.core.errors import UsageError
from shotad.film import open_film
from shotad.sound import run_render
from shotad.sound.mix import resampled
from shotad.sound.outputs import film_to_lie_beside, parse_wanted, wanted_files
from shotad.sound.own_voices import FakeVoice
from tests.media import SoundSpec
from tests.rendering.described import BEEPS, film_with, rendered, write_folder
from tests.sound.tones import Samples, decoded, onset

RATE = 48000


def described(place: Path, sounds: tuple[SoundSpec, ...] | None = None, language: str = "en") -> Path:
    """A folder with a film of its own and its described work folder; the film."""
    film = place / "My film (2024).mkv"
    changes = {} if sounds is None else {"sounds": sounds}
    film.write_bytes(film_with(suffix=".mkv", **changes).read_bytes())
    write_folder(place / "w", film, language=language)
    return film


@pytest.mark.parametrize("codec", ["auto", "opus"])
def test_a_sidecar_lies_beside_the_film_and_is_never_chosen_by_itself(tmp_path: Path, codec: str) -> None:
    film = described(tmp_path)
    config = load_config(None, (f"container.codec={codec}",))
    with open_film(film) as opened, WorkFolder(tmp_path / "w") as folder:
        wanted = wanted_files(
            parse_wanted(["sidecar"]),
            film.name,
            folder.path,
            language="en-GB",
            beside=film_to_lie_beside(opened),
        )
        done = run_render(opened, folder, config, wanted, NoProgress(), voice=FakeVoice())
        duration = opened.info.duration
    path = tmp_path / "My film (2024).en.ad.mka"
    assert [one.output.path for one in done.made] == [path]
    assert not done.findings
    with av.open(str(path)) as container:
        (stream,) = container.streams
        assert stream.type == "audio"
        assert stream.codec_context.name == ("aac" if codec == "auto" else "opus")
        assert stream.metadata["language"] == "eng"
        assert stream.metadata["title"] == "Audio Description"
        assert not stream.disposition & Disposition.default
        assert stream.disposition & Disposition.visual_impaired
        assert container.duration is not None
        assert container.duration / 1e6 == pytest.approx(duration, abs=0.03)
    heard = sound_of_matroska(path)
    assert len(heard) / RATE == pytest.approx(duration, abs=0.03)
    line = done.spoken[0].spoken
    assert line is not None
    assert line.interval is not None
    take = resampled(FakeVoice().speak(line.text, line.speed))
    at = onset(heard, take, round(line.interval.start * RATE), RATE // 2)
    assert at / RATE == pytest.approx(line.interval.start, abs=0.005)


def sound_of_matroska(path: Path) -> Samples:
    samples, rate = decoded(path)
    assert rate == RATE
    mono: Samples = samples.mean(1)
    return mono


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffprobe is not installed")
def test_ffprobe_reads_language_title_and_marks(tmp_path: Path) -> None:
    film = described(tmp_path, (SoundSpec(duration=20.0, beeps=BEEPS, layout="5.1", language="eng"),), "de")
    done, _ = rendered(tmp_path / "w", "sidecar", film=film)
    # Without a place beside the film it goes into the work folder, and says where it belongs.
    path = tmp_path / "w" / "My film (2024).ad.mka"
    assert done.made[0].output.path == path
    assert any("media servers look for it there" in one for one in done.warnings)
    words = ["ffprobe", "-v", "error", "-show_streams", "-show_format", "-of", "json", str(path)]
    told = json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)
    (stream,) = told["streams"]
    assert (stream["tags"]["language"], stream["tags"]["title"]) == ("ger", "Audiodeskription (AD)")
    assert stream["disposition"]["default"] == 0
    assert stream["disposition"]["visual_impaired"] == 1
    assert stream["channels"] == 6
    # AAC ends with a whole packet.
    assert float(told["format"]["duration"]) == pytest.approx(20.0, abs=0.05)


def test_a_sidecar_has_one_ending_and_goes_where_out_says(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="sidecar cannot be made as 'mp3'"):
        parse_wanted(["sidecar:mp3"])
    kinds = parse_wanted(["sidecar"])
    (file,) = wanted_files(
        kinds, "a.mkv", tmp_path, out=tmp_path / "x", language="de", beside=Path("/films/a.mkv")
    )
    assert file.path == tmp_path / "x" / "a.de.ad.mka"
