"""The vocabulary of DAPT: namespaces, registered words, and the spelling of values.

Sources: W3C DAPT (Candidate Recommendation) with its registries, TTML2, RFC 5646 for languages.

Reading a DAPT document's XML safely, and finding one's way in it.

Documents are read without resolving entities, fetching or huge trees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from lxml import etree

TT = "http://www.w3.org/ns/ttml"
TTM = f"{TT}#metadata"
TTP = f"{TT}#parameter"
TTA = f"{TT}#audio"
DAPTM = f"{TT}/profile/dapt#metadata"
XML = "http://www.w3.org/XML/1998/namespace"
PROFILE = f"{TT}/profile/dapt1.0/content"
PROFILE_BASE = f"{TT}/profile/"

SCRIPT_TYPES = ("originalTranscript", "translatedTranscript", "preRecording", "asRecorded")
ON_SCREEN = ("ON", "OFF", "ON_OFF", "OFF_ON")
DESC_TYPES = ("pronunciationNote", "scene", "plotSignificance")
DESCRIPTORS = frozenset(
    (
        "audio", "audio.dialogue", "audio.nonDialogueSounds", "visual", "visual.dialogue", "visual.nonText",
        "visual.text", "visual.text.title", "visual.text.credit", "visual.text.location",
    )
)  # fmt: skip
AGENT_TYPES = ("person", "character", "group", "organization", "other")
NAME_TYPES = ("full", "family", "given", "alias", "other")

_START = (
    "A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_INNER = rf"{_START}\-0-9\u00b7\u0300-\u036f\u203f\u2040"
_NCNAME = re.compile(rf"[{_START}][{_INNER}.]*")
_DESCRIPTOR_TOKEN = re.compile(rf"[{_INNER}]+")
_EXTENSION = re.compile(r"x-\S+")

_LANGUAGE = re.compile(
    r"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4}|[a-z]{5,8})"
    r"(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?P<variants>(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*)"
    r"(?P<extensions>(?:-[a-wyz\d](?:-[a-z\d]{2,8})+)*)(?:-x(?:-[a-z\d]{1,8})+)?"
    r"|x(?:-[a-z\d]{1,8})+",
    re.IGNORECASE,
)
_OLD_LANGUAGES = re.compile(
    "en-gb-oed|i-(?:ami|bnn|default|enochian|hak|klingon|lux|mingo|navajo|pwn|tao|tay|tsu)|sgn-be-(?:fr|nl)"
    "|sgn-ch-de|art-lojban|cel-gaulish|no-(?:bok|nyn)|zh-(?:guoyu|hakka|min|min-nan|xiang)",
    re.IGNORECASE,
)

_CLOCK = re.compile(r"(?P<h>\d{2,}):(?P<m>[0-5]\d):(?P<s>[0-5]\d|60)(?P<f>\.\d+)?")
_OFFSET = re.compile(r"(?P<n>\d+(?:\.\d+)?)(?P<unit>h|ms|m|s|f|t)")
_CLOCK_FRAMES = re.compile(r"\d{2,}:\d{2}:\d{2}:\d{2,}(?:\.\d+)?")
_TIMECODE = re.compile(r"\d{2,}:[0-5]\d:[0-5]\d:(?P<frames>\d{2,})")
_UNITS = {"h": Fraction(3600), "m": Fraction(60), "s": Fraction(1), "ms": Fraction(1, 1000)}


def is_ncname(value: str) -> bool:
    """A name that ``xml:id`` may hold."""
    return _NCNAME.fullmatch(value) is not None


def is_language(value: str) -> bool:
    """A well-formed language tag (RFC 5646, 2.1), no variant or singleton twice; case does not matter."""
    match = _LANGUAGE.fullmatch(value)
    if match is None:
        return _OLD_LANGUAGES.fullmatch(value) is not None
    variants = (match["variants"] or "").lower().split("-")[1:]
    singles = [part for part in (match["extensions"] or "").lower().split("-") if len(part) == 1]
    return len(variants) == len(set(variants)) and len(singles) == len(set(singles))


def is_descriptor(value: str) -> bool:
    """A registered content descriptor, or one that extends a registered one by ``x-`` parts."""
    parts = value.split(".")
    if not all(_DESCRIPTOR_TOKEN.fullmatch(part) for part in parts):
        return False
    own = next((i for i, part in enumerate(parts) if part.startswith("x-") and len(part) > 2), len(parts))
    return own == 0 or ".".join(parts[:own]) in DESCRIPTORS


def is_subtype(value: str, of: str) -> bool:
    """True for the descriptor itself and for those below it: visual.text is a subtype of visual."""
    return value == of or value.startswith(f"{of}.")


def is_extension(value: str) -> bool:
    """A user's own value: ``x-`` and more."""
    return _EXTENSION.fullmatch(value) is not None


def time_clause(value: str) -> str | None:
    """The clause that a time expression breaks, or None for a clock or an offset time."""
    if _CLOCK.fullmatch(value) or _OFFSET.fullmatch(value):
        return None
    if _CLOCK_FRAMES.fullmatch(value):
        return "#time-clock-with-frames"
    return "#time-wall-clock" if value.startswith("wallclock") else "#timing"


def time_unit(value: str) -> str:
    """The unit of an offset time (h, m, s, ms, f, t); empty for a clock time."""
    match = _OFFSET.fullmatch(value)
    return match["unit"] if match else ""


def seconds(value: str, frame_rate: Fraction | None, tick_rate: int | None) -> Fraction:
    """A valid time expression in seconds. Raises ValueError if it is not valid or lacks its rate."""
    if match := _CLOCK.fullmatch(value):
        whole = int(match["h"]) * 3600 + int(match["m"]) * 60 + int(match["s"])
        return whole + Fraction((match["f"] and f"0{match['f']}") or 0)
    match = _OFFSET.fullmatch(value)
    units = dict(_UNITS)
    if frame_rate:
        units["f"] = 1 / frame_rate
    if tick_rate:
        units["t"] = Fraction(1, tick_rate)
    if match is None or match["unit"] not in units:
        raise ValueError(
            f"{value!r} is no time such as 00:01:23.120 or 83.12s, or lacks its frame or tick rate"
        )
    return Fraction(match["n"]) * units[match["unit"]]


def timecode_frames(value: str) -> int | None:
    """The frames of a timecode ``10:01:20:12``; None if it is none."""
    match = _TIMECODE.fullmatch(value)
    return int(match["frames"]) if match else None


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
