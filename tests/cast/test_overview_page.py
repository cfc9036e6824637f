"""The overview of a cast: for eyes, for ears, by keyboard, on any machine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from shotad.core import Member
from shotad.sight import (
    Appearance,
    DiscoveryRecord,
    write_overview,
)
from shotad.sight.castfolder import OVERVIEW_FILE, update_overview
from tests.htmlpage import Page, check_readable
from tests.painted_faces import photo

FOUND = (
    Appearance("person-01", "f1", "ep1.mp4", 12, 83.5, 3723.0), Appearance("person-01", "f2", "ep2.mp4", 1, 3.4, 5.0),
    Appearance("person-02", "f1", "ep1.mp4", 1, 1.0, 62.2, "person-01"),
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cast folder with a name that is hard to write, and hard names in it."""
    return tmp_path_factory.mktemp("people") / "my cast & co"


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    one = tuple(photo(folder / "person-01" / name, "ann") for name in ("a #1.png", "b?.png"))
    two = photo(folder / "person-02" / "c.png", "bo")
    outside = photo(folder.parent / "elsewhere" / "d.png", "cy")
    members = (
        Member("person-01", 'Ann "<b>" O\'Hara', photos=one), Member("person-02", photos=(two,)),
        Member("person-03", descriptor="the man in grey", photos=(outside,)),
        Member("person-04", nameless=True),
    )  # fmt: skip
    path = write_overview(folder, members, DiscoveryRecord(FOUND))
    assert path == folder / OVERVIEW_FILE
    return Page(path.read_text(encoding="utf-8"))


def test_everybody_is_told_with_what_was_seen_of_them(page: Page) -> None:
    for words in (
        "4 people, seen in ep1.mp4, ep2.mp4; 2 of them have no name yet.", 'Ann "<b>" O\'Hara (person-01)',
        "13 shots, 1 min 27 s in view in 2 films.", "ep1.mp4: 12 shots, 1 min 24 s in view, first at 01:02:03",
        "Looks like person-01.", "Called “the man in grey” while the name may not be said.",
        "There is no picture, so person-04 cannot be recognised.",
    ):  # fmt: skip
        assert words in page.all("body")[0].text


def test_pictures_are_told_and_found_from_where_the_page_is(page: Page, folder: Path) -> None:
    pictures = [image.attributes for image in page.all("img")]
    assert [image["alt"] for image in pictures][:3] == [
        'Ann "<b>" O\'Hara, picture 1 of 2', 'Ann "<b>" O\'Hara, picture 2 of 2', "person-02, picture 1 of 1",
    ]  # fmt: skip
    for image in pictures:
        assert not str(image["src"]).startswith(("/", "file:"))
        assert (folder / unquote(str(image["src"]))).is_file()
        assert int(image["width"] or 0) * int(image["height"] or 0) > 0


def test_a_screen_reader_finds_its_way(page: Page) -> None:
    check_readable(page)
    assert len(page.all("h3")) == 4


def test_the_page_is_written_anew_where_there_is_one(tmp_path: Path) -> None:
    photo(tmp_path / "Ann" / "1.png", "ann")
    update_overview(tmp_path)
    assert not (tmp_path / OVERVIEW_FILE).exists()
    write_overview(tmp_path, (), DiscoveryRecord())
    update_overview(tmp_path)
    assert "Ann (ann)" in (tmp_path / OVERVIEW_FILE).read_text()
    # A picture that cannot be read breaks nothing.
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    broken = Member("a", photos=(tmp_path / "broken.jpg",))
    page = Page(write_overview(tmp_path, (broken,), DiscoveryRecord()).read_text())
    assert page.all("img")[0].attributes["alt"] == "a, picture 1 of 1"
