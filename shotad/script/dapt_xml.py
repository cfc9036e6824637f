"""Reading a DAPT document's XML safely, and finding one's way in it.

Documents are read without resolving entities, fetching or huge trees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from lxml import etree

from shotad.script.dapt_terms import DAPTM, TT, TTM, TTP, XML

Element = etree._Element


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule: its clause, what is wrong with the value, and the line (0: the whole document)."""

    clause: str
    message: str
    line: int = 0

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.message} [{self.clause}]"


def parse_dapt(document: bytes) -> Element | Violation:
    """The root of a document that is well-formed XML 1.0 in UTF-8 without entities, else what is wrong."""
    clause = "#serialization"
    # Recovery lets a wrong or repeated xml:id through, another clause's matter; all else is refused.
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True
    )
    try:
        document.decode("utf-8")
        root = etree.fromstring(document, parser)
    except UnicodeDecodeError as error:
        return Violation(clause, f"the document is not UTF-8: {error}")
    except (etree.XMLSyntaxError, ValueError) as error:
        return Violation(clause, f"the document is not XML: {error}")
    for entry in parser.error_log:
        if entry.level_name != "WARNING" and not entry.type_name.startswith(("DTD_XMLID", "DTD_ID_")):
            return Violation(clause, f"the document is not well-formed XML: {entry.message}", entry.line)
    return _serialization(root) or root


def _serialization(root: Element) -> Violation | None:
    info = root.getroottree().docinfo
    wrong = {
        f"the declared encoding is {info.encoding}, not UTF-8": (info.encoding or "UTF-8").upper() != "UTF-8",
        f"the document is XML {info.xml_version}, not 1.0": info.xml_version != "1.0",
        "the document declares entities": info.internalDTD is not None
        and _declares_entities(info.internalDTD),
        "the document refers to an entity": any(isinstance(node, etree._Entity) for node in root.iter()),
    }
    return next((Violation("#serialization", message, 1) for message, is_so in wrong.items() if is_so), None)


def _declares_entities(dtd: etree.DTD) -> bool:
    return any(True for _ in dtd.iterentities())  # type: ignore[attr-defined]  # missing in lxml-stubs


def frame_rate(root: Element) -> Fraction | None:
    """Frames a second that the root declares, multiplier included; None without a usable one."""
    rate = root.get(f"{{{TTP}}}frameRate", "")
    factors = root.get(f"{{{TTP}}}frameRateMultiplier", "1 1").split()
    if not is_positive(rate) or len(factors) != 2 or not all(map(is_positive, factors)):
        return None
    return Fraction(int(rate)) * Fraction(int(factors[0]), int(factors[1]))


def tick_rate(root: Element) -> int | None:
    """Ticks a second that the root declares."""
    rate = root.get(f"{{{TTP}}}tickRate", "")
    return int(rate) if is_positive(rate) else None


def inherited(element: Element, name: str) -> str | None:
    """The attribute of the element or of its nearest ancestor that has it."""
    at: Element | None = element
    while at is not None:
        if (value := at.get(name)) is not None:
            return value
        at = at.getparent()
    return None


def is_script_event(div: Element) -> bool:
    """A div is a Script Event if it has an ``xml:id`` and holds no further div."""
    return div.get(xml_name("id")) is not None and div.find(tt_name("div")) is None


def tt_name(name: str) -> str:
    """A name in TTML's own namespace, as lxml spells it."""
    return f"{{{TT}}}{name}"


def ttm_name(name: str) -> str:
    """A name in the TTML metadata namespace."""
    return f"{{{TTM}}}{name}"


def daptm_name(name: str) -> str:
    """A name in the DAPT metadata namespace."""
    return f"{{{DAPTM}}}{name}"


def xml_name(name: str) -> str:
    """``xml:id``, ``xml:lang``, ``xml:space``."""
    return f"{{{XML}}}{name}"


def is_positive(text: str) -> bool:
    """A whole number above 0."""
    return re.fullmatch(r"0*[1-9]\d*", text.strip()) is not None


def elements(root: Element) -> Iterator[Element]:
    """All elements of the document, in order, without comments and instructions."""
    return (node for node in root.iter() if isinstance(node.tag, str))


def violation(clause: str, message: str, element: Element) -> Violation:
    """A broken rule at the element's line."""
    line = element.sourceline
    return Violation(clause, message, line if isinstance(line, int) else 0)
