"""A page as a screen reader meets it."""

from __future__ import annotations

import re
from html.parser import HTMLParser


class Outline(HTMLParser):
    """What a screen reader meets, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.headings: list[int] = []
        self.tables: list[dict[str, int]] = []
        self.images: list[dict[str, str | None]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.language = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.tags.append(tag)
        self.ids += [told["id"] or ""] if "id" in told else []
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        elif tag == "table":
            self.tables.append({"caption": 0, "th": 0, "scoped": 0})
        elif tag in ("caption", "th") and self.tables:
            self.tables[-1][tag] += 1
            self.tables[-1]["scoped"] += tag == "th" and told.get("scope") in ("row", "col")
        elif tag == "img":
            self.images.append(told)
        elif tag == "a":
            self.links.append(told["href"] or "")
        elif tag == "html":
            self.language = told.get("lang") or ""


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    return found
