"""What `load_cast` takes for what: folders of photos, and published character banks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shotad.core import Member
from shotad.core.errors import CastError
from shotad.sight import load_cast, photos as photo_files
from shotad.sight.castfile import photos_of


def put(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["Thom.jpg", "Thom-2.jpg", "Thom (10).jpg", "thom_3.jpg"],
         {"Thom": ["Thom.jpg", "Thom (10).jpg", "Thom-2.jpg", "thom_3.jpg"]}),
        (["BB-8.jpg", "R2D2.png", "Agent 7.jpg"],
         {"Agent 7": ["Agent 7.jpg"], "BB-8": ["BB-8.jpg"], "R2D2": ["R2D2.png"]}),
        (["Thom/a2.jpg", "Thom/a10.jpg", "Thom/deep/x.jpg", "thom-2.jpg", "Thom/.x.jpg", "Thom/n.txt"],
         {"Thom": ["Thom/a2.jpg", "Thom/a10.jpg", "Thom/deep/x.jpg", "thom-2.jpg"]}),
        (["A.jpg", "empty/n.txt", ".git/x.jpg", "__MACOSX/x.jpg", "m.shotad/x.jpg"], {"A": ["A.jpg"]}),
        (["person-01/1.jpg", "Person X.jpg"], {"Person X": ["Person X.jpg"], "": ["person-01/1.jpg"]}),
    ],
)  # fmt: skip
def test_a_folder_of_photos_is_a_cast(tmp_path: Path, files: list[str], found: dict[str, list[str]]) -> None:
    cast = load_cast(put(tmp_path, *files))
    there = {m.name: {photo.relative_to(tmp_path).as_posix() for photo in m.photos} for m in cast}
    assert list(there.items()) == [(name, {*photos}) for name, photos in found.items()]
    assert cast.source == tmp_path


def test_pictures_that_are_not_read_are_told_of(tmp_path: Path) -> None:
    cast = load_cast(put(tmp_path, "Thom/1.jpg", "Thom/2.NEF", "Celia.psd"))
    assert len(cast) == 1
    assert cast.warnings == (
        "Pictures of formats that are not read were left out: Celia.psd, Thom/2.NEF. Save pictures as JPEG or PNG.",
    )


@pytest.fixture
def without_heif(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As where pillow-heif is not installed."""
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    for known in (photo_files.reads_heif, photo_files.photo_endings):
        known.cache_clear()
    yield
    monkeypatch.undo()
    for known in (photo_files.reads_heif, photo_files.photo_endings):
        known.cache_clear()


@pytest.mark.usefixtures("without_heif")
def test_a_folder_of_nothing_but_heic_says_what_to_do(tmp_path: Path) -> None:
    way_out = r'Save pictures as JPEG or PNG, or have HEIC read: pip install "shotad\[heic\]"'
    with pytest.raises(CastError, match=rf"none that can be read: Ann/1\.HEIC, Bo\.heif\. {way_out}"):
        load_cast(put(tmp_path / "a", "Ann/1.HEIC", "Bo.heif", "notes.txt"))
    # In a cast file: a folder, and a file.
    put(tmp_path / "b", "Ann/1.heic")
    (tmp_path / "b" / "cast.yaml").write_text(
        "people:\n  - {id: a, name: Ann, photos: Ann}\n", encoding="utf-8"
    )
    assert any("left out: 1.heic" in warning for warning in load_cast(tmp_path / "b").warnings)
    (tmp_path / "b" / "cast.yaml").write_text("people:\n  - {id: a, name: Ann, photos: Ann/1.heic}\n")
    with pytest.raises(CastError, match=f"line 2.*no picture that can be read.*{way_out}"):
        load_cast(tmp_path / "b")
    # In the pictures of a bank.
    with pytest.raises(CastError, match=rf"none that can be read: nm1\.heic\. {way_out}"):
        load_cast(bank(tmp_path), key="tt1", photos=put(tmp_path / "faces", "nm1.heic"))
    # Called otherwise.
    path = tmp_path / "Ann.jpg"
    path.write_bytes(b"\0\0\0\x1cftypheic\0\0\0\0mif1heic" + bytes(40))
    with pytest.raises(CastError, match=rf"Ann\.jpg cannot be read: it is a HEIC picture\. {way_out}"):
        photo_files.load_photo(path)


def test_many_unread_pictures_are_not_all_listed(tmp_path: Path) -> None:
    with pytest.raises(CastError, match=r"0\.nef, 1\.nef, 2\.nef, 3\.nef, 4\.nef and 95 others") as caught:
        load_cast(put(tmp_path, *(f"{number}.nef" for number in range(100))))
    assert len(str(caught.value)) < 400


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


BANK = {
    "tt1": [
        {"id": "nm1", "name": "Ann Actor", "role": "Queen  Anne"},
        {"id": "nm2", "name": "Bo Player", "role": "Guard"},
        {"id": "nm3", "name": "Cy Player", "role": "Guard"},
        {"id": "nm4", "name": "Di Double", "role": "Twin One"},
        {"id": "nm4", "name": "Di Double", "role": "Twin Two"},
        {"id": "nm5", "name": "Ed Extra", "role": ""},
    ],
    "tt2": [{"id": "nm1", "name": "Ann Actor", "role": "Herself"}],
}


def bank(folder: Path, text: str = "") -> Path:
    path = folder / "bank.json"
    path.write_text(text or json.dumps(BANK, indent=1), encoding="utf-8")
    return path


def test_people_are_called_by_their_roles(tmp_path: Path) -> None:
    photos = put(tmp_path / "faces", "nm1.jpg", "nm2/b.png", "nm2/a.jpg", "nm3.txt", "nm9.jpg")
    cast = load_cast(bank(tmp_path), key="tt1", photos=photos)
    assert cast.members == (
        Member("nm1", "Queen Anne", photos=(photos / "nm1.jpg",)),
        Member("nm2", "Guard", photos=(photos / "nm2/a.jpg", photos / "nm2/b.png")), Member("nm3", "Guard"),
        Member("nm4", nameless=True), Member("nm5"),
    )  # fmt: skip
    assert cast.warnings == (
        "nm4 plays Twin One and Twin Two: faces cannot tell which, so neither is named.",
        "Several people are called alike, and told apart by their faces only: Guard (2).",
        "Without a name yet, so never named: nm5.",
        "Without photos, so never recognised: Guard, nm4, nm5.",
    )


@pytest.mark.parametrize(
    ("text", "needles"),
    [
        ('{"x": [\n{"role": "A"},\n{"role": "B",}\n]}', ("line 3: this is no JSON",)),
        ('{"x": [\n{"role": "A"},\n\n{"name": "B"}\n]}', ("line 4: the character has no 'role', only name",)),
        ('{"x":\n [{"id": 5, "role": "A"}]}', ("line 2: 'id' must be a text, got 5",)),
        ('{\n"x": {"A": "B"}}', ("line 2: a list of characters is expected",)),
        ('{"x": ["A"],\n"x": ["B"]}', ("line 2: the film 'x' stands twice",)),
        ('{"x": ["A",\n7]}', ("line 2: a character is a name, or has id, name and role, got 7",)),
        ("[]", ("line 1: a bank of films",)),
        ('{"a": [], "b": []}', ("characters of 2 films", "--cast-key: a, b.")),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, text: str, needles: tuple[str, ...]) -> None:
    with pytest.raises(CastError) as error:
        load_cast(bank(tmp_path, text))
    for needle in needles:
        assert needle in str(error.value)


def test_a_cast_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(CastError, match="cannot be read: Permission denied"):
        load_cast(tmp_path)


def test_who_has_a_descriptor_alone_is_spoken_of_by_it() -> None:
    member = Member("person-01", descriptor="the woman in red", pronoun="she")
    assert member.says == "the woman in red"
    character = member.character("film.mp4", 5.0)
    assert character is not None
    assert (character.called, character.named, character.pronoun) == ("the woman in red", False, "she")
    assert Member("person-02", descriptor="the guard", nameless=True).character("film.mp4", 5.0) is None
    named = Member("person-03", "Ann Lee", descriptor="the woman in red").character("film.mp4", 5.0)
    assert named is not None
    assert (named.called, named.named) == ("Ann Lee", True)
