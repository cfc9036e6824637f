"""What a render is asked to make, who is asked for shorter lines, and what is said before."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import UsageError, WorkFolder, load_config
from shotad.description import shortener
from shotad.film import open_film
from shotad.sound import parse_wanted, run_render, wanted_files
from shotad.sound.own_voices import FakeVoice
from tests.rendering.described import film_with, write_folder
from tests.runs import Heard


@pytest.mark.parametrize("told", [False, True])
def test_what_leaves_the_machine_is_said_before_a_word_is_spoken(tmp_path, monkeypatch, told):
    place, film, voice, progress = write_folder(tmp_path / "w"), film_with(), FakeVoice(), Heard()
    voice.sends_to = "speech.example"
    monkeypatch.setattr("shotad.sound.render.make_voice", lambda *_: voice)
    with open_film(film) as opened, WorkFolder(place) as folder:
        wanted = wanted_files(parse_wanted(("ad",)), film.name, place)
        run_render(opened, folder, load_config(), wanted, progress, shorten=shortener, told=told)
    said = [text for text in progress.notes if "speech.example" in text]
    assert said == ([] if told else progress.notes[:1])
    assert len(said) == (not told)
    assert voice.calls
    assert "rendered" in (place / "log.txt").read_text()


HERE = Path("w")


def names(*texts: str, film: str = "movie.mp4", tag: str = "", out: Path | None = None) -> list[str]:
    return [str(one.path) for one in wanted_files(parse_wanted(texts), film, HERE, out=out, tag=tag)]


def test_every_kind_has_a_name_of_its_own() -> None:
    kinds = ("described.mp4", "descriptions.mp4", "ad.wav", "mix.wav")
    assert names("film", "text", "ad", "mix") == [f"w/movie.{kind}" for kind in kinds]
    assert names("film:mkv", "AD:.MP3") == ["w/movie.described.mkv", "w/movie.ad.mp3"]
    assert names("film", "ad", tag="de") == ["w/movie.de.described.mp4", "w/movie.de.ad.wav"]


@pytest.mark.parametrize(("film", "expected"), [
    ("a.webm", "a.described.webm"),
    ("a.MKV", "a.described.mkv"),
    ("a.avi", "a.described.mkv"),
    ("a", "a.described.mkv"),
    ("a.b.ts", "a.b.described.ts"),
])  # fmt: skip
def test_a_film_keeps_its_container_where_it_can(film: str, expected: str) -> None:
    assert names("film", film=film) == [f"w/{expected}"]


@pytest.mark.parametrize(("asked", "out", "said"), [
    (("ad", "mix"), "x.wav", "one file, but 2"),
    (("ad",), "x.mkv", "^ad cannot be written to x.mkv"),
    (("mix",), "my.folder", "neither a folder nor a file of that kind. Make the folder first"),
    (("ad:mp3",), "x.wav", "cannot be written"),
    (("film", "film+text"), None, "would both be written"),
    (("song",), None, "nothing that can be made"),
    (("ad:mkv",), None, "cannot be made as 'mkv'"),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused(asked: tuple[str, ...], out: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        wanted_files(parse_wanted(asked), "movie.mp4", HERE, out=Path(out) if out else None)
