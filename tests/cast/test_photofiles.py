"""Which files are a person's photos, and casts that are only a folder of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import Cast
from shotad.sight import load_cast
from shotad.sight.castfile import photos_of


def put(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def people(cast: Cast, folder: Path) -> dict[str, list[str]]:
    return {m.name: [photo.relative_to(folder).as_posix() for photo in m.photos] for m in cast}


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["Thom.jpg", "Thom-2.jpg", "Thom (10).jpg", "thom_3.jpg"],
         {"Thom": ["Thom.jpg", "Thom (10).jpg", "Thom-2.jpg", "thom_3.jpg"]}),
        (["BB-8.jpg", "R2D2.png", "Agent 7.jpg"],
         {"Agent 7": ["Agent 7.jpg"], "BB-8": ["BB-8.jpg"], "R2D2": ["R2D2.png"]}),
        (
            [
                "Thom/b.jpg", "Thom/a2.jpg", "Thom/a10.jpg", "Thom/deep/x.jpg", "thom-2.jpg", "Thom/.x.jpg",
                "Thom/n.txt",
            ],
            {"Thom": ["Thom/a2.jpg", "Thom/a10.jpg", "Thom/b.jpg", "Thom/deep/x.jpg", "thom-2.jpg"]},
        ),
        (["A.jpg", "empty/notes.txt", ".git/x.jpg", "__MACOSX/x.jpg", "m.shotad/x.jpg", "list.txt"],
         {"A": ["A.jpg"]}),
        (["person-01/1.jpg", "Person X.jpg"], {"Person X": ["Person X.jpg"], "": ["person-01/1.jpg"]}),
    ],
)  # fmt: skip
def test_a_folder_of_photos_is_a_cast(tmp_path: Path, files: list[str], found: dict[str, list[str]]) -> None:
    cast = load_cast(put(tmp_path, *files))
    assert {name: sorted(photos) for name, photos in people(cast, tmp_path).items()} == {
        name: sorted(photos) for name, photos in found.items()
    }
    assert list(people(cast, tmp_path)) == list(found)
    assert cast.source == tmp_path


def test_pictures_that_are_not_read_are_told_of(tmp_path: Path) -> None:
    cast = load_cast(put(tmp_path, "Thom/1.jpg", "Thom/2.HEIC", "Celia.gif"))
    assert len(cast) == 1
    assert cast.warnings == (
        "Pictures of formats that are not read were left out: Celia.gif, Thom/2.HEIC. Save them as JPEG or PNG.",
    )


def test_files_folders_and_patterns(tmp_path: Path) -> None:
    tmp_path = tmp_path / "of [2024]*"
    put(tmp_path, "a/1.jpg", "a/2.png", "b [1].jpg", "b1.jpg", "c.txt", "e/f.txt")

    def found(spec: str) -> list[str]:
        return [p.relative_to(tmp_path).as_posix() for p in photos_of(spec, tmp_path)]

    assert found("a") == found("a/") == ["a/1.jpg", "a/2.png"]
    assert found("a/*.png") == ["a/2.png"]
    assert found("**/*.jpg") == ["a/1.jpg", "b1.jpg", "b [1].jpg"]
    assert found("b [1].jpg") == ["b [1].jpg"], "a file that is there is no pattern"
    assert found("[ae]") == ["a/1.jpg", "a/2.png"]
    assert found(str(tmp_path / "b1.jpg")) == ["b1.jpg"]
    assert found("e") == []
    for spec in ("gone.jpg", "*.webp", "[x]"):
        with pytest.raises(FileNotFoundError):
            photos_of(spec, tmp_path)
    with pytest.raises(ValueError, match="c.txt"):
        photos_of("c.txt", tmp_path)
