"""What a render is asked to make, and under which names."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import UsageError
from shotad.sound import Kind, Wanted, parse_wanted, wanted_files

HERE = Path("w")


def names(*texts: str, film: str = "movie.mp4", tag: str = "", out: Path | None = None) -> list[str]:
    return [str(one.path) for one in wanted_files(parse_wanted(texts), film, HERE, out=out, tag=tag)]


def test_every_kind_has_a_name_of_its_own() -> None:
    assert names("film", "text", "ad", "mix") == [
        "w/movie.described.mp4",
        "w/movie.descriptions.mp4",
        "w/movie.ad.wav",
        "w/movie.mix.wav",
    ]


@pytest.mark.parametrize(
    ("film", "expected"),
    [
        ("a.webm", "a.described.webm"),
        ("a.MKV", "a.described.mkv"),
        ("a.avi", "a.described.mkv"),
        ("a", "a.described.mkv"),
        ("a.b.ts", "a.b.described.ts"),
    ],
)
def test_a_film_keeps_its_container_where_it_can(film: str, expected: str) -> None:
    assert names("film", film=film) == [f"w/{expected}"]


def test_endings_may_be_chosen_in_any_case_and_with_a_dot() -> None:
    assert names("film:mkv", "AD:.MP3") == ["w/movie.described.mkv", "w/movie.ad.mp3"]


def test_a_translation_has_its_language_in_the_name() -> None:
    assert names("film", "ad", tag="de") == ["w/movie.de.described.mp4", "w/movie.de.ad.wav"]


def test_another_folder_or_the_very_file(tmp_path: Path) -> None:
    assert names("ad", out=tmp_path) == [str(tmp_path / "movie.ad.wav")]
    assert names("ad", "mix", out=Path("new")) == ["new/movie.ad.wav", "new/movie.mix.wav"]
    assert wanted_files([(Kind.MIX, None)], "a.mp4", HERE, out=Path("x.flac")) == (
        Wanted(Kind.MIX, Path("x.flac")),
    )


@pytest.mark.parametrize(
    ("asked", "out", "said"),
    [
        (("ad", "mix"), "x.wav", "one file, but 2"),
        (("ad",), "x.mkv", "^ad cannot be written to x.mkv"),
        (("mix",), "my.folder", "neither a folder nor a file of that kind. Make the folder first"),
        (("film",), "x.wav", "cannot be written to x.wav"),
        (("ad:mp3",), "x.wav", "cannot be written"),
        (("film", "film+text"), None, "would both be written"),
        (("ad", "ad"), None, "would both be written"),
        (("song",), None, "nothing that can be made"),
        (("ad:mkv",), None, "cannot be made as 'mkv'"),
        (("film:wav",), None, "cannot be made as 'wav'"),
        (("",), None, "nothing that can be made"),
    ],
)
def test_what_cannot_be_meant_is_refused(asked: tuple[str, ...], out: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        wanted_files(parse_wanted(asked), "movie.mp4", HERE, out=Path(out) if out else None)
