"""Is this a valid DAPT document? Every rule that is broken is named by its clause.

Clauses are the feature and extension designators of the DAPT content profile (``#agent``), as in the
validation tests of W3C.

DAPT's rules for the root of a document: languages, profiles, what and which kind of script it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from urllib.parse import urljoin

from lxml import etree

from shotad.script import dapt_terms as terms
from shotad.script.dapt_terms import (
    TT,
    TTA,
    TTP,
    Element,
    Violation,
    daptm_name,
    elements,
    frame_rate,
    inherited,
    is_positive,
    is_script_event,
    parse_dapt,
    tick_rate,
    tt_name,
    ttm_name,
    violation,
    xml_name,
)

__all__ = ["Violation", "check_dapt"]

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
_TIMES = ("begin", "end", "dur", "clipBegin", "clipEnd")


def check_dapt(document: bytes) -> tuple[Violation, ...]:
    """All rules that ``document`` breaks, in order of the rules; empty for a valid document."""
    root = parse_dapt(document)
    if isinstance(root, Violation):
        return (root,)
    if root.tag != tt_name("tt"):
        return (violation("#structure", f"the root is {root.tag}, not tt of {TT}", root),)
    rules = (
        *ROOT_RULES, _structure, _ids, _languages, _language_sources, _represents, _agents, _actors,
        _origin_timecode, _desc_types, _on_screen, _times, _audio_languages, _audio_sources, _audio_styles,
    )  # fmt: skip
    return tuple(found for rule in rules for found in rule(root))


def _structure(root: Element) -> Iterator[Violation]:
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
        text = "".join([element.text or "", *(child.tail or "" for child in element)]).strip()
        if text and name.localname not in _TEXT_IN:
            yield violation("#structure", f"text {text[:40]!r} directly inside {name.localname}", element)
    for name_once in ("head", "body"):
        if len(root.findall(tt_name(name_once))) > 1:
            yield violation("#structure", f"tt has more than one {name_once}", root)
    if (children := [c.tag for c in root if c.tag in (tt_name("head"), tt_name("body"))]) != sorted(
        children, reverse=True
    ):
        yield violation("#structure", "head stands after body", root)


def _ids(root: Element) -> Iterator[Violation]:
    seen: set[str] = set()
    for element in elements(root):
        value = element.get(xml_name("id"))
        if value is None:
            continue
        clause = "#agent" if element.tag == ttm_name("agent") else "#structure"
        if not terms.is_ncname(value):
            yield violation(clause, f"xml:id {value!r} is no name", element)
        if value in seen:
            yield violation(clause, f"xml:id {value!r} is used twice", element)
        seen.add(value)


def _languages(root: Element) -> Iterator[Violation]:
    for element in elements(root):
        value = element.get(xml_name("lang"))
        if element is not root and value and not terms.is_language(value):
            yield violation("#xmlLang", f"xml:lang is {value!r}, not a language tag", element)


def _language_sources(root: Element) -> Iterator[Violation]:
    for element in elements(root):
        value = element.get(daptm_name("langSrc"))
        if value is not None and not terms.is_language(value):
            yield violation("#textLanguageSource", f"daptm:langSrc is {value!r}, not a language tag", element)


def _represents(root: Element) -> Iterator[Violation]:
    name = daptm_name("represents")
    allowed = [d for d in root.get(daptm_name("scriptRepresents"), "").split() if terms.is_descriptor(d)]
    for element in elements(root):
        value = element.get(name)
        if value is None:
            if (
                element.tag == tt_name("div")
                and is_script_event(element)
                and inherited(element, name) is None
            ):
                event = element.get(xml_name("id"))
                yield violation("#represents", f"Script Event {event!r} represents nothing", element)
        elif not terms.is_descriptor(value):
            yield violation("#represents", f"daptm:represents is {value!r}, no content descriptor", element)
        elif allowed and not any(terms.is_subtype(value, of) for of in allowed):
            yield violation(
                "#represents", f"daptm:represents {value!r} is no subtype of {' or '.join(allowed)}", element
            )


def _agents(root: Element) -> Iterator[Violation]:
    for agent in root.iter(ttm_name("agent")):
        if agent.get(xml_name("id")) is None:
            yield violation("#agent", "an agent has no xml:id", agent)
        if agent.get("type") not in terms.AGENT_TYPES:
            yield violation("#agent", f"an agent's type is {agent.get('type')!r}", agent)
        names = agent.findall(ttm_name("name"))
        if not any("".join(map(str, name.itertext())).strip() for name in names):
            yield violation("#agent", "an agent has no name", agent)
        for name in names:
            if name.get("type") not in terms.NAME_TYPES:
                yield violation("#agent", f"the type of an agent's name is {name.get('type')!r}", name)


def _actors(root: Element) -> Iterator[Violation]:
    agents = {agent.get(xml_name("id")) for agent in root.iter(ttm_name("agent"))} - {None}
    for agent in root.iter(ttm_name("agent")):
        actors = agent.findall(ttm_name("actor"))
        if len(actors) > 1:
            yield violation("#agent", "an agent has more than one actor", agent)
        for actor in actors:
            target = actor.get("agent")
            if target not in agents:
                yield violation("#agent", f"actor {target!r} is no declared agent", actor)
            elif target == agent.get(xml_name("id")):
                yield violation("#agent", f"agent {target!r} is its own actor", actor)
    for element in elements(root):
        for target in element.get(ttm_name("agent"), "").split():
            if target not in agents:
                yield violation("#agent", f"ttm:agent {target!r} is no declared agent", element)


def _origin_timecode(root: Element) -> Iterator[Violation]:
    clause, found = "#daptOriginTimecode", list(root.iter(daptm_name("daptOriginTimecode")))
    rate = frame_rate(root)
    if len(found) > 1:
        yield violation(clause, f"there are {len(found)} origin timecodes", found[1])
    for element in found:
        value = (element.text or "").strip()
        frames = terms.timecode_frames(value)
        if frames is None:
            yield violation(clause, f"origin timecode is {value!r}, not as 10:01:20:12", element)
        elif rate is None:
            yield violation(clause, f"origin timecode {value!r} without ttp:frameRate", element)
        elif frames >= rate:
            yield violation(clause, f"origin timecode {value!r} at {rate} frames a second", element)
        parent = element.getparent()
        if (
            parent is None
            or parent.tag != tt_name("metadata")
            or parent.getparent() is not root.find(tt_name("head"))
        ):
            yield violation(clause, "the origin timecode stands outside of the head's metadata", element)


def _desc_types(root: Element) -> Iterator[Violation]:
    for element in elements(root):
        value = element.get(daptm_name("descType"))
        if value is None:
            continue
        if element.tag != ttm_name("desc"):
            yield violation("#descType", f"daptm:descType on {etree.QName(element).localname}", element)
        elif value not in terms.DESC_TYPES and not terms.is_extension(value):
            yield violation("#descType", f"daptm:descType is {value!r}, neither registered nor x-", element)


def _on_screen(root: Element) -> Iterator[Violation]:
    for element in elements(root):
        value = element.get(daptm_name("onScreen"))
        if value is not None and value.strip() not in terms.ON_SCREEN:
            yield violation("#onScreen", f"daptm:onScreen is {value!r}", element)


def _times(root: Element) -> Iterator[Violation]:
    rates = frame_rate(root), tick_rate(root)
    for element in elements(root):
        values = {name: value for name in _TIMES if (value := element.get(name)) is not None}
        if etree.QName(element).namespace != TT:
            continue
        usable: dict[str, Fraction] = {}
        for name, value in values.items():
            clause = terms.time_clause(value) or _rate_clause(value, *rates)
            if clause is None:
                usable[name] = terms.seconds(value, *rates)
            else:
                yield violation(
                    clause, f"{name} is {value!r}: no media time, or its rate is missing", element
                )
        for first, last in (("begin", "end"), ("clipBegin", "clipEnd")):
            if first in usable and last in usable and usable[first] > usable[last]:
                yield violation("#timing", f"{first} {values[first]} is after {last} {values[last]}", element)


def _rate_clause(value: str, frames: Fraction | None, ticks: int | None) -> str | None:
    unit = terms.time_unit(value)
    if unit == "f" and frames is None:
        return "#time-offset-with-frames"
    return "#time-offset-with-ticks" if unit == "t" and ticks is None else None


def _audio_languages(root: Element) -> Iterator[Violation]:
    clause, name, resources = "#xmlLang-audio-nonMatching", xml_name("lang"), _resources(root)
    for audio in root.iter(tt_name("audio")):
        parent, language = audio.getparent(), inherited(audio, name)
        if parent is not None and language != inherited(parent, name):
            spoken = inherited(parent, name)
            yield violation(clause, f"audio is in {language!r}, its text in {spoken!r}", audio)
        for source in (audio, *audio.findall(tt_name("source"))):
            data = resources.get(source.get("src", "").removeprefix("#"))
            for part in (source, data) if data is not None else (source,):
                if inherited(part, name) != language:
                    yield violation(clause, f"a source of audio in {language!r} is in another language", part)


def _audio_sources(root: Element) -> Iterator[Violation]:
    resources = _resources(root)
    for data in root.iter(tt_name("data")):
        if data.find(tt_name("source")) is not None:
            yield violation("#source-data", "data holds a source", data)
    for audio in root.iter(tt_name("audio")):
        for source in (audio, *audio.findall(tt_name("source"))):
            link = source.get("src", "")
            if source is not audio and audio.get("src") is not None:
                yield violation("#audio", "audio has both a src and a source", source)
            if link.startswith("#") and link[1:] not in resources:
                yield violation("#embedded-audio", f"src {link!r} is no resource in the head", source)


def _audio_styles(root: Element) -> Iterator[Violation]:
    """Gains and pans are numbers, pans from -1 to 1; only ``animate`` may have several, with semicolons."""
    for element in elements(root):
        for name in ("gain", "pan"):
            value = element.get(f"{{{TTA}}}{name}")
            if value is None:
                continue
            parts = value.split(";") if element.tag == tt_name("animate") else [value]
            numbers = [float(part) for part in parts if _NUMBER.fullmatch(part.strip())]
            if len(numbers) < len(parts):
                what = "no list of numbers" if len(parts) > 1 else "no number"
                yield violation(f"#{name}", f"tta:{name} is {value!r}, {what}", element)
            elif name == "pan" and not all(-1 <= number <= 1 for number in numbers):
                yield violation("#pan", f"tta:pan is {value!r}, not from -1 to 1", element)


def _resources(root: Element) -> dict[str, Element]:
    """Audio and data in the head's resources, by their ids."""
    found = root.iterfind(f"{tt_name('head')}/{tt_name('resources')}/*")
    return {r.get(xml_name("id"), ""): r for r in found if r.tag in (tt_name("audio"), tt_name("data"))}


_BANNED = ("clockMode", "dropMode", "markerMode", "subFrameRate")


def root_language(root: Element) -> Iterator[Violation]:
    """``xml:lang`` is there and a language tag."""
    language = root.get(xml_name("lang"))
    if language is None:
        yield violation("#xmlLang-root", "tt has no xml:lang", root)
    elif not terms.is_language(language):
        yield violation("#xmlLang-root", f"xml:lang of tt is {language!r}, not a language tag", root)


def content_profiles(root: Element) -> Iterator[Violation]:
    """``ttp:contentProfiles`` names DAPT, and ``ttp:profile`` is absent."""
    value = root.get(f"{{{TTP}}}contentProfiles")
    if value is None:
        yield violation("#contentProfiles-root", "tt has no ttp:contentProfiles", root)
    else:
        names = re.sub(r"^\s*all\((.*)\)\s*$", r"\1", value).split()
        if terms.PROFILE not in [urljoin(terms.PROFILE_BASE, name) for name in names]:
            yield violation(
                "#contentProfiles-root", f"ttp:contentProfiles is {value!r}, without DAPT's", root
            )
    if root.get(f"{{{TTP}}}profile") is not None:
        yield violation("#profile-root", "tt has the attribute ttp:profile, which is prohibited", root)


def script_represents(root: Element) -> Iterator[Violation]:
    """``daptm:scriptRepresents`` lists content descriptors."""
    value = root.get(daptm_name("scriptRepresents"))
    if value is None or not value.split():
        yield violation("#scriptRepresents", "tt has no daptm:scriptRepresents", root)
        return
    for descriptor in value.split():
        if not terms.is_descriptor(descriptor):
            yield violation(
                "#scriptRepresents", f"daptm:scriptRepresents has {descriptor!r}, no content descriptor", root
            )


def script_type(root: Element) -> Iterator[Violation]:
    """``daptm:scriptType`` is one of the four."""
    value = root.get(daptm_name("scriptType"))
    if value is None:
        yield violation("#scriptType-root", "tt has no daptm:scriptType", root)
    elif value.strip() not in terms.SCRIPT_TYPES:
        known = ", ".join(terms.SCRIPT_TYPES)
        yield violation("#scriptType-root", f"daptm:scriptType is {value!r}, none of {known}", root)


def banned_parameters(root: Element) -> Iterator[Violation]:
    """No parameter, time container or animation that the profile prohibits."""
    base = root.get(f"{{{TTP}}}timeBase", "media")
    if base != "media":
        clause = f"#timeBase-{base}" if base in ("smpte", "clock") else "#timing"
        yield violation(clause, f"ttp:timeBase is {base!r}, not media", root)
    for name in _BANNED:
        if root.get(f"{{{TTP}}}{name}") is not None:
            yield violation(f"#{name}", f"tt has the attribute ttp:{name}, which is prohibited", root)
    for element in elements(root):
        if element.get("timeContainer", "par") != "par":
            yield violation(
                "#timeContainer", f"timeContainer is {element.get('timeContainer')!r}, not par", element
            )
        if element.tag == tt_name("animation"):
            yield violation("#animation-out-of-line", "animation in the head is prohibited", element)


def rates(root: Element) -> Iterator[Violation]:
    """Frame and tick rates are numbers above 0."""
    for name in ("frameRate", "tickRate"):
        value = root.get(f"{{{TTP}}}{name}")
        if value is not None and not is_positive(value):
            yield violation(f"#{name}", f"ttp:{name} is {value!r}, not a whole number above 0", root)
    factors = root.get(f"{{{TTP}}}frameRateMultiplier")
    if factors is not None and (len(factors.split()) != 2 or not all(map(is_positive, factors.split()))):
        yield violation(
            "#frameRateMultiplier", f"ttp:frameRateMultiplier is {factors!r}, not as 1000 1001", root
        )


ROOT_RULES = (root_language, content_profiles, script_represents, script_type, banned_parameters, rates)
