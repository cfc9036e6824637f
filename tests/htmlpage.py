"""Pages taken apart, and what holds of each that shotad writes: anybody can read it, and it needs no other machine."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

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

    def each(self, name: str, *tags: str) -> list[str]:
        """An attribute of all that has it."""
        found = self.all(*tags) if tags else self.elements
        return [str(one.attributes[name]) for one in found if name in one.attributes]


def check_readable(page: Page) -> None:
    """Headings in order under one title, tables with captions and heads, links that lead somewhere on the page, and
    neither scripts nor anything from elsewhere."""
    assert page.each("lang", "html") == ["en"]
    levels = [int(one.tag[1]) for one in page.elements if re.fullmatch("h[1-6]", one.tag)]
    assert levels[0] == levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = Counter(page.each("id"))
    assert max(ids.values()) == 1
    links = {link.removeprefix("#") for link in page.each("href", "a")}
    assert {*links, *page.each("aria-labelledby")} <= set(ids)
    assert len(page.all("caption")) == len(page.all("table"))
    assert all("table" in one.inside for one in page.all("caption"))
    scopes = {one.attributes.get("scope") for one in page.all("th")}
    assert scopes == ({"row", "col"} if page.all("table") else set())
    assert not page.all("script")
    assert not [link for link in page.each("href", "link") if link]
    assert not any(name.startswith("on") for one in page.elements for name in one.attributes)
    assert "@import" not in page.source
