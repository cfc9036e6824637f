"""Reading DAPT: the document's XML, the rules that make it valid, and the lines in it.

Documents are read without resolving entities, fetching or huge trees. Every rule that is broken is named by
its clause: the feature and extension designators of the DAPT content profile (``#agent``), as in the
validation tests of W3C.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any
from urllib.parse import urljoin

from lxml import etree

from shotad.core import Interval
from shotad.core.errors import ScriptError, quoted
from shotad.script import dapt as terms
from shotad.script.cue import Script, ScriptCue, clean_text, is_language
from shotad.script.dapt import DAPTM, SHOTAD, TT, TTA, TTM, TTP, XML, Violation


def read_dapt(document: bytes, file_name: str, language: str | None = None) -> Script:
    """The Script Events of a valid DAPT document, their times counted from its start.

    An event may hold its text in several languages, an original and its translation. The one in ``language``
    (a tag; None: that of the document) is read, or else the first.

    Raises ScriptError with file, line and clause where the document is not valid or an event has no end.
    """
    violations = check_dapt(document)
    if violations:
        first = violations[0]
        raise ScriptError(f"{file_name}, {first}.", "The document is not valid DAPT.", first.clause)
    root = parse_dapt(document)
    assert not isinstance(root, Violation)
    cues: list[ScriptCue] = []
    stamps: dict[str, str] = {}
    languages = [tag for tag in (language, root.get(_LANGUAGE)) if tag]
    for div in filter(is_script_event, root.iter(f"{{{TT}}}div")):
        paragraphs = _in_one_language(list(div.iter(f"{{{TT}}}p")), languages)
        start, end = _spoken_times(div, paragraphs, root)
        key = div.get(f"{{{XML}}}id")
        place = f"{file_name}, line {div.sourceline}: event {quoted(key)}"
        if end is None:
            raise ScriptError(f"{place} has no end.", "Give it begin and end.")
        try:
            interval = Interval(float(start), float(end))
        except ValueError as error:
            raise ScriptError(f"{place}: {error}.", "Correct the times.") from None
        lines: list[str] = []
        for paragraph in paragraphs:
            # White space runs as one space, line by line, as TTML presents text that does not preserve it.
            keeps_space = _keeps_space(paragraph)
            lines += [
                line if keeps_space else " ".join(line.split()) for line in _text(paragraph).split("\n")
            ]
        descriptions = div.findall(f"{{{TTM}}}desc")
        notes = [str(desc.text or "") for desc in descriptions if not desc.get(f"{{{DAPTM}}}descType")]
        cues.append(ScriptCue(key, interval, clean_text("\n".join(lines)), clean_text("\n".join(notes))))
        if key and (stamp := div.get(f"{{{SHOTAD}}}stamp")):
            stamps[key] = stamp
    return Script(tuple(cues), root.findtext(f".//{{{SHOTAD}}}stamp"), stamps, is_proven=True)


def _in_one_language(paragraphs: list[etree._Element], languages: list[str]) -> list[etree._Element]:
    """The paragraphs in the first language of ``wanted`` that any of them is in, or in that of the first."""
    by_language: dict[str, list[etree._Element]] = {}
    for paragraph in paragraphs:
        if "".join(map(str, paragraph.itertext())).strip():
            tag = (inherited(paragraph, _LANGUAGE) or "").lower()
            by_language.setdefault(tag, []).append(paragraph)
    if len(by_language) < 2:
        return paragraphs
    for tag in map(str.lower, languages):
        if tag in by_language:
            return by_language[tag]
        # en for en-GB, and en-US where there is no other English.
        for document_tag, in_language in by_language.items():
            if document_tag.partition("-")[0] == tag.partition("-")[0]:
                return in_language
    return next(iter(by_language.values()))


def _spoken_times(
    div: etree._Element, paragraphs: list[etree._Element], root: etree._Element
) -> tuple[Fraction, Fraction | None]:
    """Start and end of an event's words in seconds; the end is None where nothing says it.

    An event may last longer than its words, to lower the programme around them.
    """
    starts: list[Fraction] = []
    ends: list[Fraction] = []
    for paragraph in paragraphs:
        for element in paragraph.iter(f"{{{TT}}}p", f"{{{TT}}}span"):
            if not _direct_text(element):
                continue
            start, end = _active_times(element, root)
            if end is None:
                return _active_times(div, root)
            starts.append(start)
            ends.append(end)
    if not starts:
        return _active_times(div, root)
    return min(starts), max(ends)


def _direct_text(element: etree._Element) -> str:
    """The text that stands in the element itself, not in its children, without blanks around it."""
    return "".join([element.text or "", *(child.tail or "" for child in element)]).strip()


def _active_times(element: etree._Element, root: etree._Element) -> tuple[Fraction, Fraction | None]:
    """When an element is active, in seconds: its times count from its parent's, and it ends with it."""
    parent = element.getparent()
    origin, limit = (Fraction(0), None) if parent is None else _active_times(parent, root)
    rates = frame_rate(root), tick_rate(root)
    begin, end, dur = (
        None if (value := element.get(key)) is None else terms.seconds(value, *rates)
        for key in ("begin", "end", "dur")
    )
    start = origin + (begin or 0)
    # Whichever comes first: its own end, its duration, or the end of its parent.
    ends = [] if limit is None else [limit]
    if end is not None:
        ends.append(origin + end)
    if dur is not None:
        ends.append(start + dur)
    return start, min(ends, default=None)


def _text(element: etree._Element) -> str:
    """The words of a paragraph: text and spans, ``br`` as a line break."""
    keep = _keeps_space(element)
    parts = [_on_one_line(element.text, keep=keep)]
    for child in element:
        if child.tag == f"{{{TT}}}br":
            parts.append("\n")
        elif child.tag == f"{{{TT}}}span":
            parts.append(_text(child))
        parts.append(_on_one_line(child.tail, keep=keep))
    return "".join(parts)


def _keeps_space(element: etree._Element) -> bool:
    return inherited(element, f"{{{XML}}}space") == "preserve"


def _on_one_line(text: str | None, *, keep: bool) -> str:
    return (text or "") if keep else re.sub(r"\s+", " ", text or "")


_CHILDREN = {
    "tt": ("head", "body"),
    "head": ("metadata", "resources", "styling", "layout", "animation", "profile"),
    "body": ("metadata", "div", "animate", "set", "audio"),
    "div": ("metadata", "div", "p", "animate", "set", "audio", "image"),
    "p": ("metadata", "span", "br", "animate", "set", "audio", "image"),
    "span": ("metadata", "span", "br", "animate", "set", "audio", "image"),
    "br": ("metadata", "animate", "set"),
    "audio": ("metadata", "source", "data", "animate", "set"),
    "source": ("metadata", "data"),
    "data": ("metadata", "chunk", "source"),
}
"""TT children of each element (TTML2, 7.1); metadata and other namespaces may stand anywhere."""
_TEXT_IN = ("p", "span", "data", "chunk", "metadata")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
_TIME_ATTRIBUTES = ("begin", "end", "dur", "clipBegin", "clipEnd")


def check_dapt(document: bytes) -> tuple[Violation, ...]:
    """All rules that ``document`` breaks, in order of the rules; empty for a valid document."""
    root = parse_dapt(document)
    if isinstance(root, Violation):
        return (root,)
    if root.tag != f"{{{TT}}}tt":
        return (violation("#structure", f"the root is {root.tag}, not tt of {TT}", root),)
    rules = (
        _attributes, _structure, _ids, _represents, _agents, _actors, _origin_timecode, _times,
        _audio, _audio_styles,
    )  # fmt: skip
    violations: list[Violation] = []
    for rule in rules:
        violations += rule(root)
    return tuple(violations)


def is_positive(text: str) -> bool:
    """A whole number above 0."""
    return re.fullmatch(r"0*[1-9]\d*", text.strip()) is not None


def _names_dapt(profiles: str) -> bool:
    names = re.sub(r"^\s*all\((.*)\)\s*$", r"\1", profiles).split()
    return terms.PROFILE in [urljoin(terms.PROFILE_BASE, name) for name in names]


_AttributeRule = tuple[str, Callable[[str], bool], str]
"""Clause, whether a value is allowed, and the end of the message about one that is not."""

_LANGUAGE = f"{{{XML}}}lang"
_NO_LANGUAGE_TAG = "not a language tag"
_INNER_LANGUAGE: _AttributeRule = ("#xmlLang", lambda tag: not tag or is_language(tag), _NO_LANGUAGE_TAG)
_REQUIRED_OF_ROOT: dict[str, _AttributeRule] = {
    _LANGUAGE: ("#xmlLang-root", is_language, _NO_LANGUAGE_TAG),
    f"{{{TTP}}}contentProfiles": ("#contentProfiles-root", _names_dapt, "without DAPT's"),
    f"{{{DAPTM}}}scriptRepresents": (
        "#scriptRepresents",
        lambda value: bool(value.split()) and all(map(terms.is_descriptor, value.split())),
        "no list of content descriptors",
    ),
    f"{{{DAPTM}}}scriptType": (
        "#scriptType-root",
        lambda value: value.strip() in terms.SCRIPT_TYPES,
        f"none of {', '.join(terms.SCRIPT_TYPES)}",
    ),
}
"""Attributes that the root must have."""

_OPTIONAL_OF_ROOT: dict[str, _AttributeRule] = {
    "frameRate": ("#frameRate", is_positive, "not a whole number above 0"),
    "tickRate": ("#tickRate", is_positive, "not a whole number above 0"),
    "frameRateMultiplier": (
        "#frameRateMultiplier",
        lambda value: len(value.split()) == 2 and all(map(is_positive, value.split())),
        "not as 1000 1001",
    ),
}
"""Parameters that the root may have."""

_PROHIBITED = ("clockMode", "dropMode", "markerMode", "subFrameRate")

_OF_ANY_ELEMENT: dict[str, _AttributeRule] = {
    f"{{{DAPTM}}}langSrc": ("#textLanguageSource", is_language, _NO_LANGUAGE_TAG),
    f"{{{DAPTM}}}onScreen": ("#onScreen", lambda value: value.strip() in terms.ON_SCREEN, "not registered"),
    f"{{{DAPTM}}}descType": (
        "#descType",
        lambda value: value in terms.DESC_TYPES or re.fullmatch(r"x-\S+", value) is not None,
        "neither registered nor x-",
    ),
    "timeContainer": ("#timeContainer", lambda value: value == "par", "not par"),
}
"""Attributes of any element."""


def _attribute_violations(element: Element, name: str, rule: _AttributeRule) -> Iterator[Violation]:
    """The violation of ``rule`` by the attribute ``name``; nothing where the element does not have it."""
    clause, is_allowed, fault = rule
    value = element.get(name)
    if value is not None and not is_allowed(value):
        yield violation(clause, f"{etree.QName(name).localname} is {quoted(value)}, {fault}", element)


def _attributes(root: Element) -> Iterator[Violation]:
    """Violations by attributes of the root, then of all elements, and by what is prohibited."""
    for name, rule in _REQUIRED_OF_ROOT.items():
        if root.get(name) is None:
            yield violation(rule[0], f"tt has no {etree.QName(name).localname}", root)
        yield from _attribute_violations(root, name, rule)
    for name, rule in _OPTIONAL_OF_ROOT.items():
        yield from _attribute_violations(root, f"{{{TTP}}}{name}", rule)
    for name, clause in (("profile", "#profile-root"), *((name, f"#{name}") for name in _PROHIBITED)):
        yield from _attribute_violations(root, f"{{{TTP}}}{name}", (clause, lambda _: False, "prohibited"))
    base = root.get(f"{{{TTP}}}timeBase", "media")
    if base != "media":
        clause = f"#timeBase-{base}" if base in ("smpte", "clock") else "#timing"
        yield violation(clause, f"timeBase is {quoted(base)}, not media", root)
    for element in elements(root):
        for name, rule in _OF_ANY_ELEMENT.items():
            yield from _attribute_violations(element, name, rule)
        if element is not root:
            yield from _attribute_violations(element, _LANGUAGE, _INNER_LANGUAGE)
        if element.get(f"{{{DAPTM}}}descType") is not None and element.tag != f"{{{TTM}}}desc":
            yield violation("#descType", f"descType on {etree.QName(element).localname}", element)
        if element.tag == f"{{{TT}}}animation":
            yield violation("#animation-out-of-line", "animation in the head is prohibited", element)


def _structure(root: Element) -> Iterator[Violation]:
    """Elements and text in places where they must not stand."""
    for element in elements(root):
        name = etree.QName(element)
        if name.namespace != TT or name.localname not in _CHILDREN:
            continue
        for child in element:
            if not isinstance(child.tag, str):
                continue
            inner = etree.QName(child)
            if inner.namespace == TT and inner.localname not in _CHILDREN[name.localname]:
                yield violation("#structure", f"{inner.localname} inside {name.localname}", child)
        text = _direct_text(element)
        if text and name.localname not in _TEXT_IN:
            yield violation("#structure", f"text {quoted(text)} directly inside {name.localname}", element)
    for name_once in ("head", "body"):
        if len(root.findall(f"{{{TT}}}{name_once}")) > 1:
            yield violation("#structure", f"tt has more than one {name_once}", root)
    children = [child.tag for child in root if child.tag in (f"{{{TT}}}head", f"{{{TT}}}body")]
    if children != sorted(children, reverse=True):
        yield violation("#structure", "head stands after body", root)


def _ids(root: Element) -> Iterator[Violation]:
    """Ids that are no XML name, or used twice."""
    used_ids: set[str] = set()
    for element in elements(root):
        value = element.get(f"{{{XML}}}id")
        if value is None:
            continue
        clause = "#agent" if element.tag == f"{{{TTM}}}agent" else "#structure"
        if not terms.NCNAME.fullmatch(value):
            yield violation(clause, f"xml:id {quoted(value)} is no name", element)
        if value in used_ids:
            yield violation(clause, f"xml:id {quoted(value)} is used twice", element)
        used_ids.add(value)


def _represents(root: Element) -> Iterator[Violation]:
    """Events that do not say what they represent, or say what the document does not allow."""
    name = f"{{{DAPTM}}}represents"
    allowed = [
        descriptor
        for descriptor in root.get(f"{{{DAPTM}}}scriptRepresents", "").split()
        if terms.is_descriptor(descriptor)
    ]
    for element in elements(root):
        value = element.get(name)
        if value is None:
            is_event = element.tag == f"{{{TT}}}div" and is_script_event(element)
            if is_event and inherited(element, name) is None:
                event = element.get(f"{{{XML}}}id")
                yield violation("#represents", f"Script Event {quoted(event)} represents nothing", element)
        elif not terms.is_descriptor(value):
            yield violation(
                "#represents", f"daptm:represents is {quoted(value)}, no content descriptor", element
            )
        elif allowed and not any(
            value == allowed_descriptor or value.startswith(f"{allowed_descriptor}.")
            for allowed_descriptor in allowed
        ):
            yield violation(
                "#represents",
                f"daptm:represents {quoted(value)} is no subtype of {' or '.join(allowed)}",
                element,
            )


def _agents(root: Element) -> Iterator[Violation]:
    for agent in root.iter(f"{{{TTM}}}agent"):
        if agent.get(f"{{{XML}}}id") is None:
            yield violation("#agent", "an agent has no xml:id", agent)
        if agent.get("type") not in terms.AGENT_TYPES:
            yield violation("#agent", f"an agent's type is {quoted(agent.get('type'))}", agent)
        names = agent.findall(f"{{{TTM}}}name")
        if not any("".join(map(str, name.itertext())).strip() for name in names):
            yield violation("#agent", "an agent has no name", agent)
        for name in names:
            if name.get("type") not in terms.NAME_TYPES:
                yield violation("#agent", f"the type of an agent's name is {quoted(name.get('type'))}", name)


def _actors(root: Element) -> Iterator[Violation]:
    agents = list(root.iter(f"{{{TTM}}}agent"))
    declared = {agent.get(f"{{{XML}}}id") for agent in agents} - {None}
    for agent in agents:
        actors = agent.findall(f"{{{TTM}}}actor")
        if len(actors) > 1:
            yield violation("#agent", "an agent has more than one actor", agent)
        for actor in actors:
            target = actor.get("agent")
            if target not in declared:
                yield violation("#agent", f"actor {quoted(target)} is no declared agent", actor)
            elif target == agent.get(f"{{{XML}}}id"):
                yield violation("#agent", f"agent {quoted(target)} is its own actor", actor)
    for element in elements(root):
        for target in element.get(f"{{{TTM}}}agent", "").split():
            if target not in declared:
                yield violation("#agent", f"ttm:agent {quoted(target)} is no declared agent", element)


def _origin_timecode(root: Element) -> Iterator[Violation]:
    clause, timecode_elements = "#daptOriginTimecode", list(root.iter(f"{{{DAPTM}}}daptOriginTimecode"))
    rate = frame_rate(root)
    if len(timecode_elements) > 1:
        yield violation(clause, f"there are {len(timecode_elements)} origin timecodes", timecode_elements[1])
    for element in timecode_elements:
        value = (element.text or "").strip()
        timecode = terms.TIMECODE.fullmatch(value)
        if timecode is None:
            yield violation(clause, f"origin timecode is {quoted(value)}, not as 10:01:20:12", element)
        elif rate is None:
            yield violation(clause, f"origin timecode {quoted(value)} without ttp:frameRate", element)
        elif int(timecode["frames"]) >= rate:
            yield violation(clause, f"origin timecode {quoted(value)} at {rate} frames a second", element)
        parent, head = element.getparent(), root.find(f"{{{TT}}}head")
        if parent is None or parent.tag != f"{{{TT}}}metadata" or parent.getparent() is not head:
            yield violation(clause, "the origin timecode stands outside of the head's metadata", element)


def _times(root: Element) -> Iterator[Violation]:
    """Times that cannot be read, and ends before their beginnings."""
    rates = frame_rate(root), tick_rate(root)
    for element in elements(root):
        values = {name: value for name in _TIME_ATTRIBUTES if (value := element.get(name)) is not None}
        if etree.QName(element).namespace != TT:
            continue
        usable: dict[str, Fraction] = {}
        for name, value in values.items():
            clause = terms.time_clause(value, *rates)
            if clause is None:
                usable[name] = terms.seconds(value, *rates)
            else:
                message = f"{name} is {quoted(value)}: no media time, or its rate is missing"
                yield violation(clause, message, element)
        for first, last in (("begin", "end"), ("clipBegin", "clipEnd")):
            if first in usable and last in usable and usable[first] > usable[last]:
                yield violation("#timing", f"{first} {values[first]} is after {last} {values[last]}", element)


def _audio(root: Element) -> Iterator[Violation]:
    """The languages of audio, then its sources."""
    clause, name = "#xmlLang-audio-nonMatching", f"{{{XML}}}lang"
    resource_elements = root.iterfind(f"{{{TT}}}head/{{{TT}}}resources/*")
    kinds = (f"{{{TT}}}audio", f"{{{TT}}}data")
    head_resources = [element for element in resource_elements if element.tag in kinds]
    resources = {resource.get(f"{{{XML}}}id", ""): resource for resource in head_resources}
    for audio in root.iter(f"{{{TT}}}audio"):
        parent, language = audio.getparent(), inherited(audio, name)
        if parent is not None and language != inherited(parent, name):
            spoken = inherited(parent, name)
            yield violation(clause, f"audio is in {quoted(language)}, its text in {quoted(spoken)}", audio)
        for source in (audio, *audio.findall(f"{{{TT}}}source")):
            data = resources.get(source.get("src", "").removeprefix("#"))
            for part in (source, data) if data is not None else (source,):
                if inherited(part, name) != language:
                    yield violation(
                        clause, f"a source of audio in {quoted(language)} is in another language", part
                    )
    for data in root.iter(f"{{{TT}}}data"):
        if data.find(f"{{{TT}}}source") is not None:
            yield violation("#source-data", "data holds a source", data)
    for audio in root.iter(f"{{{TT}}}audio"):
        for source in (audio, *audio.findall(f"{{{TT}}}source")):
            link = source.get("src", "")
            if source is not audio and audio.get("src") is not None:
                yield violation("#audio", "audio has both a src and a source", source)
            if link.startswith("#") and link[1:] not in resources:
                yield violation("#embedded-audio", f"src {quoted(link)} is no resource in the head", source)


def _audio_styles(root: Element) -> Iterator[Violation]:
    """Gains and pans are numbers, pans from -1 to 1; only ``animate`` may have several, with semicolons."""
    for element in elements(root):
        for name in ("gain", "pan"):
            value = element.get(f"{{{TTA}}}{name}")
            if value is None:
                continue
            parts = value.split(";") if element.tag == f"{{{TT}}}animate" else [value]
            numbers = [float(part) for part in parts if _NUMBER.fullmatch(part.strip())]
            if len(numbers) < len(parts):
                requirement = "no list of numbers" if len(parts) > 1 else "no number"
                yield violation(f"#{name}", f"tta:{name} is {quoted(value)}, {requirement}", element)
            elif name == "pan" and not all(-1 <= number <= 1 for number in numbers):
                yield violation("#pan", f"tta:pan is {quoted(value)}, not from -1 to 1", element)


Element = etree._Element


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
    info = root.getroottree().docinfo
    dtd: Any = info.internalDTD
    wrong = {
        f"the declared encoding is {info.encoding}, not UTF-8": (info.encoding or "UTF-8").upper() != "UTF-8",
        f"the document is XML {info.xml_version}, not 1.0": info.xml_version != "1.0",
        "the document declares entities": dtd is not None and any(True for _ in dtd.iterentities()),
        "the document refers to an entity": any(isinstance(node, etree._Entity) for node in root.iter()),
    }
    return next((Violation(clause, message, 1) for message, is_so in wrong.items() if is_so), root)


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
    for node in (element, *element.iterancestors()):
        value = node.get(name)
        if value is not None:
            return value
    return None


def is_script_event(div: Element) -> bool:
    """A div is a Script Event if it has an ``xml:id`` and holds no further div."""
    return div.get(f"{{{XML}}}id") is not None and div.find(f"{{{TT}}}div") is None


def elements(root: Element) -> Iterator[Element]:
    """All elements of the document, in order, without comments and instructions."""
    return (node for node in root.iter() if isinstance(node.tag, str))


def violation(clause: str, message: str, element: Element) -> Violation:
    """A broken rule at the element's line."""
    line = element.sourceline
    return Violation(clause, message, line if isinstance(line, int) else 0)
