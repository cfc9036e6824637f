"""DAPT's rules for the root of a document: languages, profiles, what and which kind of script it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin

from shotad.script import dapt_terms as terms
from shotad.script.dapt_terms import TTP
from shotad.script.dapt_xml import (
    Element,
    Violation,
    daptm_name,
    elements,
    is_positive,
    tt_name,
    violation,
    xml_name,
)

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
