"""What cannot be made is refused before anything is spoken, and nothing of anybody's is lost by it."""

from __future__ import annotations

import os
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from shotad.core import (
    FilmError,
    NoProgress,
    ShotadError,
    SoundError,
    UsageError,
    WorkFolder,
    WorkFolderError,
    load_config,
)
from shotad.film import open_film
from shotad.sound import Kind, OutputFile, check_wanted, run_render
from shotad.sound.own_voices import FakeVoice
from tests.media import SoundSpec, make_stills
from tests.rendering.described import BEEPS, film_with, rendered, track_of, write_folder

VP9 = {
    "codec": "libvpx-vp9",
    "suffix": ".webm",
    "sounds": (SoundSpec(duration=20.0, beeps=BEEPS, layout="stereo", codec="libopus", rate=48000),),
    "options": (("deadline", "realtime"), ("cpu-used", "8")),
}


@pytest.mark.parametrize(
    ("makes", "settings", "error", "told"),
    [
        (("ad", "film:ts"), (), SoundError, "MPEG-TS cannot hold video track 0"),
        (("text:ts",), (), SoundError, "MPEG-TS"),
        (("film",), ("container.codec=aac",), SoundError, "WebM cannot hold a track of aac"),
        (("mix", "film"), ("film.audio_track=7",), FilmError, "no audio track 7"),
    ],
)
def test_what_a_container_cannot_hold_is_known_before_a_word_is_spoken(
    tmp_path: Path, makes: tuple[str, ...], settings: tuple[str, ...], error: type[ShotadError], told: str
) -> None:
    film = film_with(**VP9)
    place = write_folder(tmp_path / "w", film)
    voice, before = FakeVoice(), (place / "track.json").read_bytes()
    with pytest.raises(error, match=told):
        rendered(place, *makes, film=film, voice=voice, settings=settings)
    assert voice.calls == []
    assert (place / "track.json").read_bytes() == before
    assert not list(place.glob("*.ad.wav"))


def test_a_film_that_might_have_paused_is_refused_before_the_mix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = film_with(**VP9)
    monkeypatch.setattr("shotad.sound.making.prepare_mix", None)
    with pytest.raises(SoundError, match="MPEG-TS cannot hold"):
        rendered(write_folder(tmp_path / "w", film), "film:ts", film=film, settings=("extended.on=true",))


def test_numbered_frames_give_sound_and_no_film(tmp_path: Path) -> None:
    stills = make_stills(tmp_path / "stills", 60)
    with open_film(stills, frame_rate=Fraction(3)) as film:
        config = load_config(None, ())
        check_wanted(film, [OutputFile(Kind.AD, tmp_path / "a.wav")], config, "en")
        with pytest.raises(SoundError, match=r"series of pictures.* --make ad"):
            check_wanted(film, [OutputFile(Kind.FILM, tmp_path / "a.mkv")], config, "en")


def refused(place: Path, film: Path, target: Path, kind: Kind = Kind.FILM) -> str:
    """Why a render to ``target`` is refused."""
    voice, wanted = FakeVoice(), [OutputFile(kind, target)]
    with open_film(film) as opened, WorkFolder(place) as folder, pytest.raises(UsageError) as refusal:
        run_render(opened, folder, load_config(None, ()), wanted, NoProgress(), voice=voice)
    assert voice.calls == []
    return str(refusal.value)


def test_the_film_itself_is_never_written_over(tmp_path: Path) -> None:
    film = Path(shutil.copy(film_with(), tmp_path / "movie.mp4"))
    place = write_folder(tmp_path / "movie.shotad", film)
    copy = Path(shutil.copy(film, tmp_path / "other name.mp4"))
    (tmp_path / "link.mp4").symlink_to(film)
    content = film.read_bytes()
    for target in (film, copy, tmp_path / "link.mp4"):
        assert "is the film itself" in refused(place, film, target)
        assert target.read_bytes() == content


def test_places_that_are_none(tmp_path: Path) -> None:
    place, film = write_folder(tmp_path / "w"), film_with()
    (tmp_path / "file").touch()
    (tmp_path / "folder.mp4").mkdir()
    assert "is a file, not a folder" in refused(place, film, tmp_path / "file" / "deep" / "a.wav", Kind.MIX)
    assert "is a folder" in refused(place, film, tmp_path / "folder.mp4")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_made(tmp_path: Path) -> None:
    place = write_folder(tmp_path / "w")
    (tmp_path / "locked").mkdir(mode=0o500)
    target = OutputFile(Kind.AD, tmp_path / "locked" / "new" / "a.wav")
    with (
        open_film(film_with()) as opened,
        WorkFolder(place) as folder,
        pytest.raises(WorkFolderError, match="cannot be made"),
    ):
        run_render(opened, folder, load_config(None, ()), [target], NoProgress(), voice=FakeVoice())


def test_a_film_replaced_by_another_of_its_name_is_told_so(tmp_path: Path) -> None:
    film = Path(shutil.copy(film_with(), tmp_path / "movie.mp4"))
    place = write_folder(tmp_path / "movie.shotad", film)
    shutil.copy(film_with(frames=300, sounds=()), film)
    with pytest.raises(WorkFolderError, match=r"has the name of the film .* and is another"):
        rendered(place, "ad", film=film)


def test_a_film_that_was_renamed_keeps_its_scripts_and_their_edits(tmp_path: Path) -> None:
    """The first name is as long as disks allow."""
    film = Path(shutil.copy(film_with(), tmp_path / f"{'ü' * 125}.mp4"))
    place = write_folder(tmp_path / "w", film)
    done, _ = rendered(place, "film+text", "ad", "mix:opus", film=film)
    assert all(one.wanted.path.is_file() for one in done.made)
    other = film.rename(tmp_path / "the movie.mp4")
    rendered(place, "ad", film=other)
    (script,) = place.glob("*.ad.vtt")
    assert script.name.startswith("üü")
    script.write_text(script.read_text().replace("A cat", "A dog"))
    rendered(place, "ad", film=other)
    assert track_of(place).cues[0].text.startswith("A dog")
