"""What browsers play, and whether a browser agrees."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Config
from shotad.film import open_film
from shotad.review.playable import Playable, browser_kind
from tests.browserfilm import shown
from tests.media import FilmSpec, Made, SoundSpec, make_film, make_stills

SOUND = SoundSpec()
PLAYED = {
    "H.264 and AAC": FilmSpec(sounds=(SOUND,)),
    "frames that refer forward": FilmSpec(b_frames=3, sounds=(SOUND,)),
    "1001-based rate": FilmSpec(rate=Fraction(24000, 1001), b_frames=2, sounds=(SOUND,)),
    "uneven frames": FilmSpec(
        time_base=Fraction(1, 1000), times=tuple(i / 25 + (0.4 if i > 20 else 0) for i in range(50))
    ),
    "late sound": FilmSpec(sounds=(SoundSpec(start=0.5),)),
    "QuickTime": FilmSpec(suffix=".mov", sounds=(SOUND,)),
    "silent": FilmSpec(b_frames=2),
    "turned": FilmSpec(turn=90),
    "wide pixels": FilmSpec(pixel_aspect=Fraction(4, 3)),
    "WebM, VP8": FilmSpec(suffix=".webm", codec="libvpx", sounds=(SoundSpec(codec="libopus"),)),
    "WebM, VP9": FilmSpec(suffix=".webm", codec="libvpx-vp9", sounds=(SoundSpec(codec="libopus"),)),
}
UNPLAYED = {
    "Matroska": (FilmSpec(suffix=".mkv", sounds=(SOUND,)), "Matroska"),
    "transport stream": (FilmSpec(suffix=".ts", sounds=(SOUND,)), "MPEG-TS"),
    "AVI": (FilmSpec(suffix=".avi", codec="mpeg4"), "AVI"),
    "MPEG-4 part 2": (FilmSpec(codec="mpeg4"), "mpeg4"),
    "10 bits": (FilmSpec(pixels="yuv420p10le"), "yuv420p10le"),
    "Opus in MP4": (FilmSpec(sounds=(SoundSpec(codec="libopus"),)), "opus"),
    "AC-3": (FilmSpec(sounds=(SoundSpec(codec="ac3"),)), "ac3"),
    "late clock": (FilmSpec(shift=5.0), "5.00 s"),
    "late clock, WebM": (FilmSpec(suffix=".webm", codec="libvpx", shift=5.0), "5.00 s"),
}


def kind(made: Made, config: Config | None = None) -> Playable:
    with open_film(made.path) as film:
        return browser_kind(film.info, config)


@pytest.mark.parametrize("name", PLAYED)
def test_played(name: str) -> None:
    found = kind(make_film(PLAYED[name]))
    assert found.plays is True
    assert found.why == ""
    assert found.media_type == ("video/webm" if "WebM" in name else "video/mp4")


@pytest.mark.parametrize("name", UNPLAYED)
def test_unplayed(name: str) -> None:
    spec, word = UNPLAYED[name]
    found = kind(make_film(spec))
    assert found.plays is False
    assert word in found.why


def test_another_audio_track_than_the_first_needs_a_copy() -> None:
    spec = FilmSpec(sounds=(SOUND, SoundSpec(beeps=(1.0,), language="fra")))
    config = Config.model_validate({"film": {"audio_track": 1}})
    assert kind(make_film(spec)).plays is True
    found = kind(make_film(spec), config)
    assert found.plays is False
    assert "1 (fra" in found.why


def test_numbered_frames_need_a_copy_and_a_film_that_is_gone_is_not_played(tmp_path: Path) -> None:
    with open_film(make_stills(tmp_path / "frames", 3), frame_rate=Fraction(2)) as film:
        assert browser_kind(film.info).plays is False
    here = tmp_path / "film.mp4"
    here.write_bytes(make_film(FilmSpec()).path.read_bytes())
    with open_film(here) as film:
        here.unlink()
        assert browser_kind(film.info).plays is False


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYED)
def test_the_browser_shows_the_frame_of_each_second(browser: Any, name: str) -> None:
    """What is said to be played is, and its clock is the film's."""
    made = make_film(PLAYED[name])
    found = kind(made)
    with open_film(made.path) as film:
        seconds = [frame.seconds for frame in film.frames()]
        size = [film.info.width, film.info.height]
    wanted = [0, 1, 5, 11, 12, 13, 23, 24, 30, 48]
    moments = [seconds[number] + 0.001 for number in wanted]
    assert shown(browser, made.path, found.media_type, moments) == (size, wanted)
