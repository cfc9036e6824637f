"""Coloured circles in a description: how models speak of them, and how to take that out.

For a text in which somebody was told apart by colour, the colour stays between private signs (`TAGGED`)
until the whole step is cleaned, so that two men with two colours do not become one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from shotad.describe.leakwords import any_of

PAPER = re.compile(
    r"\b(?:dates?|days?|calendars?|maps?|words?|articles?|newspapers?|pages?|targets?|lists?|letters?|"
    r"photo(?:graph)?s?|board|charts?|diagrams?|dartboard|bull'?s[- ]eye|blueprints?|advertisements?"
    r"|floor|mat)\b",
    re.IGNORECASE,
)
"""Where one of these is in the sentence, a circle may be drawn in the story."""

TAGGED = re.compile(r"(?P<article>\b(?:[Tt]he|[Aa]n?) )?(?P<who>[\w'-]{1,40})\ue001(?P<colour>\w+)\ue002")
"""Somebody and the colour by which a model told them, while a step is cleaned."""

_TAG = "\ue001\\g<colour>\ue002"
_PERSON = (
    r"(?:m[ae]n|wom[ae]n|boys?|girls?|persons?|people|characters?|individuals?|figures?|guys?|lad(?:y"
    r"|ies)|child|"
    r"children|kids?|soldiers?|officers?|ones?|someone|somebody|actors?|actress(?:es)?|teenagers?|"
    r"he|she|him|her|they|them)"
)
_MARKED = (
    r"(?:circled|encircled|marked|highlighted|labell?ed|indicated|outlined|identified|surrounded"
    r"|enclosed|framed|"
    r"denoted|designated|tagged|annotated|represented|boxed)"
)
_SHAPE = (
    r"(?:circles?|ellipses?|ovals?|outlines?|borders?|markers?|markings?|bounding box(?:es)?|box(?:es)?"
    r"|rings?"
    r"|halos?)"
)
_ROUND = r"(?:circles?|ellipses?|ovals?|outlines?|bounding box(?:es)?)"
_AROUND = (
    r"(?: (?:around|on|over|drawn (?:around|on)) (?:his|her|their|the|its|[\w-]+'s) (?:faces?|heads?"
    r"|bod(?:y|ies)))?"
)
_WHO_IS = r"(?:who (?:is|are) |that (?:is|are) |which is )?"


@dataclass(frozen=True, slots=True)
class CirclePatterns:
    """For circles of certain colours."""

    about: re.Pattern[str]
    """Of a sentence about circles and nothing else."""
    only_marked: re.Pattern[str]
    """Of a sentence that says of somebody (``who``) only that they are marked."""
    gone: tuple[tuple[re.Pattern[str], str], ...]
    """What is taken out, and what is put in its place."""
    remains: tuple[re.Pattern[str], ...]


@lru_cache(maxsize=64)
def circle_patterns(colours: tuple[str, ...], called: tuple[str, ...]) -> CirclePatterns | None:
    """The patterns for circles of ``colours``; ``called`` are those of them that are also people's names."""
    if not colours:
        return None
    one = any_of(colours)
    colour = rf"(?:(?:light|dark|bright)[- ])?(?P<colour>{one})(?:(?: and |/|, ){one})?(?:[- ]colou?red)?"
    several = rf"(?:(?:{one}|colou?red)(?:,? (?:and )?)?){{1,6}}"
    marked = (
        rf"{_MARKED} (?:in|by|with|using|inside|within|as)(?: an?| the)? {colour}"
        rf"(?: {_SHAPE}|(?=[\s,.;)]|$)){_AROUND}"
    )
    inside = rf"(?:in|inside|within|with|by|under|behind)(?: an?| the| his| her)? {colour} {_SHAPE}{_AROUND}"
    about = rf"^(?:the|an?|these|some|coloured|colored)?\s*{several} {_SHAPE}\b[^.]{{0,160}}" + (
        r"\b(?:marks?|indicat\w+|highlights?|identif\w+|shows?|surrounds?|denot\w+|are|is|around|represents?"
        r"|follows?|mean|help)\b"
    )
    there = rf"^there (?:is|are) (?:an? |the )?{several} {_ROUND}\b"
    return CirclePatterns(
        re.compile(rf"{about}|{there}|\bcoloure?d {_ROUND}\b", re.IGNORECASE),
        re.compile(
            rf"^(?P<who>[^,.;]{{1,120}}?) (?P<be>is|are) (?:(?:shown|seen) )?(?:{marked}"
            rf"|{inside.replace('colour>', 'c2>')})\W*$",
            re.IGNORECASE,
        ),
        _gone(colour, marked, inside),
        _remains(colours, called),
    )


def _gone(colour: str, marked: str, inside: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    who = rf"(?P<who>\b(?:{_PERSON}|(?-i:[A-Z][\w'-]*[\w])))"
    bracket = (
        rf"\s*[(\[](?:who is |the |in |with |{_MARKED} )*(?:in |with |by )?(?:an? "
        rf"|the )?{colour}(?: {_SHAPE})?"
        rf"{_AROUND}[)\]]"
    )
    both = rf"(?:{marked}|{inside.replace('colour>', 'other>')})"
    found = (
        (bracket, ""),
        (rf" (?:is|are) {marked},? and (?:he |she |they )?(?=\w)(?!(?-i:[A-Z])|the |an? )", " "),
        (rf"{who}, {_WHO_IS}{marked},", rf"\g<who>{_TAG}"),
        (rf"{who}, {_WHO_IS}{inside},", rf"\g<who>{_TAG}"),
        (rf"{who},? {_WHO_IS}{marked}", rf"\g<who>{_TAG}"),
        (rf"{who},? {_WHO_IS}{inside}", rf"\g<who>{_TAG}"),
        (rf"(?<! is)(?<! are), {_WHO_IS}{both},?", ""),
        (rf"(?<! is)(?<! are) {marked}", ""),
        (rf", the {colour} {_ROUND},", ""),
        (rf"\b{colour}[- ]circled (?P<who>\w+)", rf"\g<who>{_TAG}"),
        (rf"\bcircled (?={_PERSON}\b)", ""),
        (rf"(?:^|(?<=[.;,] )){colour} {_ROUND} ?[:=–—-] ?", ""),
        (rf" ?[:=–—-] ?{colour} {_ROUND}\b", ""),
    )
    return tuple((re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in found)


def _remains(colours: Sequence[str], called: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    one = any_of(colours)
    named = [colour.capitalize() for colour in colours if colour not in called]
    found = [
        re.compile(
            rf"\b(?:the )?{one} (?:{_ROUND}|outline)s?\b(?! on\b| of\b| painted| drawn on)", re.IGNORECASE
        ),
        re.compile(
            rf"\b{one} {_ROUND} (?:around|over|on) (?:his|her|their|the|[\w-]+'s) (?:face|head)s?\b",
            re.IGNORECASE,
        ),
        re.compile(rf"\b{_MARKED} (?:in|by|with|as) (?:an? |the )?{one}\b(?: {_SHAPE})?", re.IGNORECASE),
        re.compile(rf"\b(?:[Tt]he|[Aa]) {one} (?:character|person|one|individual|figure)s?\b"),
        re.compile(rf"\b(?:[Cc]haracter|[Pp]erson|[Ii]ndividual) {one}\b(?! \w+ed\b)"),
        re.compile(r"\bcolou?red circles?\b", re.IGNORECASE),
    ]
    if named:
        capital = any_of(named)
        verbs = (
            r"(?:looks?|is|walks?|stands?|sits?|turns?|runs?|holds?|takes?|opens|speaks?|talks?|smiles?"
            r"|nods?|has"
            rf"|and {capital}|stares?|gazes?|watches|reaches|moves?|leans?|points?|grabs?|then|appears?"
            rf"|enters?"
            r"|leaves?|follows?|kneels?|says?|puts?|gives?|picks?)"
        )
        place = "Cross|House|Sea|Army|Square|Lion|Street|Room|Bay|Line|Planet"
        found += [
            re.compile(rf"(?:^|(?<=[.;] )){capital}(?= {verbs}\b)"),
            re.compile(rf"\b[a-z][a-z']* (?P<leak>{capital})(?=[\s.,;']|$)(?! (?:[A-Z]\w|{place}))"),
        ]
    return tuple(found)
