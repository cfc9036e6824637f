"""The overview of a cast: for eyes, for ears, by keyboard, on any machine."""

from __future__ import annotations

import itertools
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from shotad.core import Member
from shotad.sight import PAGE, Facts, Found, renew_overview, write_overview
from tests.painted_faces import photo

VOID = {"img", "meta", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """A page taken apart; tags that are not closed fail."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.words += data

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag in tags]


FOUND = (
    Found("person-01", "f1", "ep1.mp4", 12, 83.5, 3723.0), Found("person-01", "f2", "ep2.mp4", 1, 3.4, 5.0),
    Found("person-02", "f1", "ep1.mp4", 1, 1.0, 62.2, "person-01"),
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cast folder with a name that is hard to write, and hard names in it."""
    return tmp_path / "my cast & co"


@pytest.fixture
def members(folder: Path) -> tuple[Member, ...]:
    one = [photo(folder / "person-01" / name, "ann") for name in ("a #1.png", "b?.png")]
    two = [photo(folder / "person-02" / "c.png", "bo")]
    outside = [photo(folder.parent / "elsewhere" / "d.png", "cy")]
    return (
        Member("person-01", 'Ann "<b>" O\'Hara', photos=tuple(one)),
        Member("person-02", photos=tuple(two)),
        Member("person-03", descriptor="the man in grey", photos=tuple(outside)),
        Member("person-04", nameless=True),
    )


@pytest.fixture
def page(folder: Path, members: tuple[Member, ...]) -> Page:
    path = write_overview(folder, members, Facts(FOUND))
    assert path == folder / PAGE
    return Page(path.read_text(encoding="utf-8"))


def test_everybody_is_told_with_what_was_seen_of_them(page: Page) -> None:
    assert "4 people, seen in ep1.mp4, ep2.mp4; 2 of them have no name yet." in page.words
    assert 'Ann "<b>" O\'Hara (person-01)' in page.words
    assert "13 shots, 1 min 27 s in view in 2 films." in page.words
    assert "ep1.mp4: 12 shots, 1 min 24 s in view, first at 01:02:03" in page.words
    assert "Looks like person-01." in page.words
    assert "Called “the man in grey” while the name may not be said." in page.words
    assert "There is no picture, so person-04 cannot be recognised." in page.words


def test_pictures_are_told_and_found_from_where_the_page_is(page: Page, folder: Path) -> None:
    pictures = page.all("img")
    assert [image["alt"] for image in pictures][:3] == [
        'Ann "<b>" O\'Hara, picture 1 of 2', 'Ann "<b>" O\'Hara, picture 2 of 2', "person-02, picture 1 of 1",
    ]  # fmt: skip
    for image in pictures:
        address = image["src"]
        assert address is not None
        assert not address.startswith(("/", "file:"))
        assert (folder / unquote(address)).is_file()
        assert int(image["width"] or 0) > 0
        assert int(image["height"] or 0) > 0


def test_a_screen_reader_finds_its_way(page: Page) -> None:
    assert page.all("html")[0]["lang"] == "en"
    levels = [int(tag[1]) for tag, _ in page.found if tag in ("h1", "h2", "h3")]
    assert levels[0] == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))
    assert levels.count(3) == 4
    ids = [attributes["id"] for _, attributes in page.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        assert (link["href"] or "").removeprefix("#") in ids
    labels = [
        attributes["aria-labelledby"] for _, attributes in page.found if "aria-labelledby" in attributes
    ]
    assert set(labels) <= set(ids)
    assert all("scope" in cell for cell in page.all("th"))
    assert page.all("caption")
    assert not page.all("script")
    assert not [link for link in page.all("link") if link.get("href")]


def test_the_page_is_written_anew_where_there_is_one(tmp_path: Path) -> None:
    photo(tmp_path / "Ann" / "1.png", "ann")
    renew_overview(tmp_path)
    assert not (tmp_path / PAGE).exists()
    write_overview(tmp_path, (), Facts())
    renew_overview(tmp_path)
    assert "Ann (ann)" in (tmp_path / PAGE).read_text()
    # A picture that cannot be read breaks nothing.
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    page = Page(
        write_overview(tmp_path, (Member("a", photos=(tmp_path / "broken.jpg",)),), Facts()).read_text()
    )
    assert page.all("img")[0]["alt"] == "a, picture 1 of 1"
