"""Published character banks, and what `load_cast` takes for what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shotad.core import CastError, Member
from shotad.sight import load_cast

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "cmd-ad" / "cast.json"

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


def bank(folder: Path, value: Any = None, text: str = "") -> Path:
    path = folder / "bank.json"
    path.write_text(text or json.dumps(BANK if value is None else value, indent=1), encoding="utf-8")
    return path


def pictures(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def test_people_are_called_by_their_roles(tmp_path: Path) -> None:
    photos = pictures(tmp_path / "faces", "nm1.jpg", "nm2/b.png", "nm2/a.jpg", "nm3.txt", "nm9.jpg")
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
        ('{"x": ["A",\n7]}', ("line 2: a character is a name, or has id, name and role, got 7",)),
        ('{\n"x": {"A": "B"}}', ("line 2: a list of characters is expected",)),
        ('{"x": ["A"],\n"x": ["B"]}', ("line 2: the film 'x' stands twice",)),
        ("[]", ("line 1: a bank of films",)),
        ("{}", ("line 1: a bank of films",)),
        ('{"a": [], "b": []}', ("characters of 2 films", "--cast-key: a, b.")),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, text: str, needles: tuple[str, ...]) -> None:
    with pytest.raises(CastError) as error:
        load_cast(bank(tmp_path, text=text))
    for needle in needles:
        assert needle in str(error.value)


@pytest.mark.parametrize(
    ("key", "needle"),
    [("", "characters of 98 films. Say which with --cast-key: tt0042208,"), ("tt004220", "98: tt0042208,")],
)
@pytest.mark.skipif(not SHARED.exists(), reason=f"there is no {SHARED}")
def test_of_a_bank_of_many_films_one_must_be_named(key: str, needle: str) -> None:
    with pytest.raises(CastError) as error:
        load_cast(SHARED, key=key)
    assert needle in str(error.value)


def test_what_is_no_cast_is_told(tmp_path: Path) -> None:
    (tmp_path / "cast.yaml").write_text("- name: A\n")
    (tmp_path / "film.mp4").touch()
    (tmp_path / "Thom.jpg").touch()
    with pytest.raises(CastError, match="There is no cast .*gone"):
        load_cast(tmp_path / "gone")
    with pytest.raises(CastError, match="film.mp4 is no cast"):
        load_cast(tmp_path / "film.mp4")
    with pytest.raises(CastError, match="Name the folder that it is in"):
        load_cast(tmp_path / "Thom.jpg")
    with pytest.raises(CastError, match="A key was given"):
        load_cast(tmp_path, key="x")
    with pytest.raises(CastError, match="profile pictures was given"):
        load_cast(tmp_path / "cast.yaml", photos=tmp_path)
    # Pictures that show nobody of the bank are a mistake.
    photos = pictures(tmp_path / "faces", "nm9.jpg")
    with pytest.raises(CastError, match=r"no picture of anybody in bank.json.*nm1.jpg"):
        load_cast(bank(tmp_path), key="tt2", photos=photos)
    with pytest.raises(CastError, match="is not there"):
        load_cast(bank(tmp_path), key="tt2", photos=tmp_path / "gone")


def test_a_cast_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(CastError, match="cannot be read: Permission denied"):
        load_cast(tmp_path)
