"""Places: what is an address, names, parents, joins, and what of an address may be printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.batch import is_local, local_path
from shotad.batch.places import name_of, shown
from shotad.core import UsageError


def test_a_file_address_is_a_path_of_this_machine(tmp_path: Path) -> None:
    film = tmp_path / "a b%20c.mp4"
    film.touch()
    assert is_local(f"file://{film}")
    assert local_path(f"file://{film}") == film
    assert local_path("file:///films/a%20b.mp4") == Path("/films/a b.mp4")
    with pytest.raises(UsageError, match="not on this machine"):
        local_path("s3://b/x")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("s3://b/films/a b ü.mp4", "a b ü.mp4"),
        ("s3://b/films/what?.mp4", "what?.mp4"),
        ("s3://b/films/50%20.mp4", "50%20.mp4"),
        ("https://h/films/a%20b.mp4?X-Amz-Signature=abc", "a b.mp4"),
        ("https://h/films/a%2Fb.mp4", "a_b.mp4"),
        ("/films/x.mp4", "x.mp4"),
        ("s3://b/ad/x.shotad/", "x.shotad"),
    ],
)
def test_the_name_of_a_place_is_fit_for_a_file(place: str, name: str) -> None:
    assert name_of(place) == name


def test_names_and_addresses_are_fit_to_print() -> None:
    name = name_of(f"s3://b/{'ü' * 400}.mp4")
    assert len(name.encode()) <= 255
    assert name.startswith("üü")
    assert name.endswith(".mp4")
    text = shown("https://me:pw@h/x.mp4?X-Amz-Signature=s1&X-Amz-Credential=c1&part=2")
    assert text == "https://h/x.mp4?X-Amz-Signature=…&X-Amz-Credential=…&part=2"
