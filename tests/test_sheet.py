"""The sheet as a whole: what is written, from what is asked of the film, and a page that all can read."""

from __future__ import annotations

import base64
import itertools
import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from shotad.core import Clip, Config, Interval, OverlaySettings, Role, WorkFolderError
from shotad.description import write_sheet
from shotad.description.overview_data import Piece, SlotView
from shotad.description.overview_page import as_seen
from shotad.film import Picture, fit, paint
from shotad.script import CueStatus
from tests.sheetfolder import FakeFilm, Made, make_folder

VOID = {"img", "meta", "br", "link", "input", "hr"}


@dataclass
class Element:
    """A tag with its attributes, and the text inside."""

    tag: str
    attributes: dict[str, str | None]
    inside: list[str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A page taken apart; tags that are not closed or closed twice fail."""

    source: str
    elements: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Element] = []
        self.feed(self.source)
        self.close()
        assert not self._open, f"never closed: {[e.tag for e in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute twice in {tag}"
        element = Element(tag, dict(attrs), [e.tag for e in self._open])
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, *tags: str) -> list[Element]:
        return [element for element in self.elements if element.tag in tags]


def sheet(folder: Path, made: Made, film: FakeFilm | None = None) -> Path:
    return write_sheet(make_folder(folder, made), (film or FakeFilm()).pictures, Config())


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    made = Made(shots=6, text='Anna says "no" & <leaves>.', language="de")
    return Page(sheet(tmp_path_factory.mktemp("page"), made).read_text(encoding="utf-8"))


def sources(page: Page) -> set[str]:
    return {str(image.attributes["src"]) for image in page.all("img")}


def test_the_page_and_its_pictures_are_all_that_is_written_or_stand_in_one_file(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, Made(shots=6))
    before = set(tmp_path.rglob("*"))
    beside = write_sheet(folder, FakeFilm().pictures, Config())
    assert beside == tmp_path / "overview.html"
    named = [tmp_path / name for name in sources(Page(beside.read_text(encoding="utf-8")))]
    assert set(tmp_path.rglob("*")) - before == {beside, tmp_path / "overview", *named}
    files = sorted(name.read_bytes() for name in named)
    page = write_sheet(folder, FakeFilm().pictures, Config(), single_file=True)
    assert not (tmp_path / "overview").exists()
    within = sources(Page(page.read_text(encoding="utf-8")))
    assert sorted(base64.b64decode(one.removeprefix("data:image/webp;base64,")) for one in within) == files
    page.unlink()
    page.mkdir()
    with pytest.raises(WorkFolderError, match="cannot be written"):
        write_sheet(folder, FakeFilm().pictures, Config())


def test_the_page_needs_nothing_but_itself_and_can_be_read_by_all(page: Page) -> None:
    assert page.source.startswith("<!DOCTYPE html>")
    assert not page.all("script", "link", "iframe", "leaves", "b")
    assert "http" not in page.source
    assert "It &lt;b&gt;runs&lt;/b&gt; &amp; jumps." in page.source
    assert not any(name.startswith("on") for element in page.elements for name in element.attributes)
    for img in page.all("img"):
        assert re.fullmatch(r"overview/[\w-]+\.webp", str(img.attributes["src"]))
        assert img.attributes["loading"] == "lazy"
    assert page.all("html")[0].attributes["lang"] == "en"
    assert page.all("a")[0].attributes["href"] == f"#{page.all('main')[0].attributes['id']}"
    levels = [int(e.tag[1]) for e in page.all("h1", "h2", "h3", "h4")]
    assert (levels[0], levels.count(1), page.all("h2")[0].text) == (1, 1, "Lines")
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all("details" in e.inside for e in page.all("h4"))
    ids = Counter(e.attributes["id"] for e in page.elements if "id" in e.attributes)
    links = {str(e.attributes["href"]).removeprefix("#") for e in page.all("a")}
    labels = {
        str(e.attributes[name])
        for e in page.elements
        for name in ("aria-labelledby",)
        if name in e.attributes
    }
    assert (max(ids.values()), links | labels <= set(ids)) == (1, True)
    assert len(page.all("caption")) == len(page.all("table")) == 4 + 3
    assert all(e.attributes.get("scope") in ("row", "col") for e in page.all("th"))
    for element in page.elements:
        if "scroll" in str(element.attributes.get("class", "")).split():
            assert (element.attributes["tabindex"], bool(element.attributes["aria-label"])) == ("0", True)


def test_frames_that_cannot_be_read_are_shown_as_lost(tmp_path: Path) -> None:
    page = Page(sheet(tmp_path, Made(shots=3), FakeFilm(lost=(2.0, 6.0, 10.0, 2.5))).read_text())
    assert (
        page.source.count("no picture") == 3 + 1
    )  # three shots on the strip, and the frame of the first line
    assert len(page.all("img")) == 1
    # A line costs the page a bearable number of bytes.
    folders = [make_folder(tmp_path / str(shots), Made(shots=shots, frames=30)) for shots in (2, 4)]
    film = FakeFilm((480, 270)).pictures
    few, more = (len(write_sheet(f, film, Config(), single_file=True).read_bytes()) for f in folders)
    assert 10_000 < more - few < 80_000


@pytest.mark.parametrize(
    "made",
    [
        Made(shots=1),
        Made(shots=3, length=3000.0),
        Made(shots=3, grammar=False, overlay=None),
        Made(shots=3, status=CueStatus.SILENT, overlay="box"),
        Made(shots=3, text="Собака бежит по мокрой дороге. 一只狗", language="ru"),
        Made(shots=40, length=0.04, every=20, threads=30),
    ],
)
def test_films_of_all_kinds(tmp_path: Path, made: Made) -> None:
    page = Page(sheet(tmp_path, made, FakeFilm(size=(90, 160))).read_text(encoding="utf-8"))
    assert len(page.all("h3")) == len(range(0, made.shots, made.every))
    assert len([e for e in page.all("li") if "ol" in e.inside[-1:]]) >= made.shots


@pytest.mark.parametrize("label", ["number", "box", "none"])
@pytest.mark.parametrize("role", [Role.CURRENT, Role.PAST])
def test_frames_are_painted_as_in_the_run(label: str, role: Role) -> None:
    image = np.random.default_rng(3).integers(0, 256, (180, 320, 3), np.uint8)
    piece = Piece(4, 9, role, Interval(0, 2), (1.0,), 1)
    look = SlotView((piece,), (), None, (), (), "", "fake", "", label, (252, 140))  # type: ignore[arg-type]
    seen = np.asarray(as_seen(Picture(1.0, 1.0, image), piece, look, Config()))
    clip = Clip(fit(image[None], (252, 140)), np.array([1.0]), np.array([4], np.int64))
    current = (4,) if role is Role.CURRENT else ()
    assert (seen == paint(clip, OverlaySettings(label=label), current=current).images[0]).all()  # type: ignore[arg-type]


def test_pictures_have_words_and_sizes_and_what_a_describer_asks_is_there(page: Page) -> None:
    images = page.all("img")
    assert len(images) == 6 + 3
    for img in images:
        assert img.attributes["alt"] is not None
        assert int(str(img.attributes["width"])) > 0
        assert int(str(img.attributes["height"])) > 0
    for figure in [k for k, e in enumerate(page.elements) if e.tag == "figure"]:
        inside = [e for e in page.elements[figure : figure + 40] if e.tag == "img"]
        assert inside[0].attributes["alt"]
    drawn = [e for e in page.elements if e.attributes.get("role") == "img"]
    assert [e.attributes["aria-label"] for e in drawn] == [
        "00:00.0 to 00:15.0: shots 0 to 3, 3.5 s of speech, 2 slots, 2 spoken lines.",
        "00:15.0 to 00:24.0: shots 3 to 5, 2.5 s of speech, 1 slot, 1 spoken line.",
    ]
    text = page.all("main")[0].text
    for words in (
        "extreme close-up 1, close-up 1, medium 1, full 1, long 1, unknown 1",
        "effective scale 1.50, factors face, object",
        "thread B: Shot 0 and Shot 2; thread A: Shot 1 and Shot 3",
        "nobody yet",
        "Shot 1 goes back to Shot 0.",
        "in frames of 252 x 140 pixels that carry the number of their shot",
        "Shot 0: 0.500, 1.500, 2.500, 3.500 s",
        "0.51 +",
    ):
        assert words in re.sub(r"\s+", " ", text), words
