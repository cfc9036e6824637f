"""Coloured circles in a description: how models speak of them, and how to take that out.

For a text in which somebody was told apart by colour, the colour stays between private signs (`TAGGED`)
until the whole step is cleaned, so that two men with two colours do not become one. ``dashed red`` is a
colour of its own (`markwords`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from shotad.description.leakwords import any_of
from shotad.description.markwords import ROUND, MarkWords

PAPER = re.compile(
    r"\b(?:dates?|days?|calendars?|maps?|words?|articles?|newspapers?|pages?|targets?|lists?|letters?|"
    r"photo(?:graph)?s?|board|charts?|diagrams?|dartboard|bull'?s[- ]eye|blueprints?|advertisements?"
    r"|floor|mat)\b",
    re.IGNORECASE,
)
"""Where one of these is in the sentence, a circle may be drawn in the story."""

TAGGED = re.compile(
    r"(?P<article>\b(?:[Tt]he|[Aa]n?) )?(?P<who>[\w'-]{1,40})"
    r"\ue001(?P<colour>[^\ue002\ue003]+)\ue003(?P<tag>[^\ue002]*)\ue002"
)
"""Somebody and the colour by which a model told them, while a step is cleaned."""

_TOLD = "\ue001\\g<colour>\ue003\\g<tag>\ue002"
_TOLD_BY_TAG = "\ue001tagged\ue003\\g<tag>\ue002"
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
_SHAPE_NO_BOX = _SHAPE.replace("|box(?:es)?", "")
_AROUND = (
    r"(?: (?:around|on|over|drawn (?:around|on)) (?:his|her|their|the|its|[\w-]+'s) (?:faces?|heads?"
    r"|bod(?:y|ies)))?"
)
_NO_THING = r"(?! (?:of|tattoos?|earrings?|scars?|badges?|logos?|stickers?|patch(?:es)?|birthmarks?)\b)"
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
def circle_patterns(words: MarkWords, called: tuple[str, ...]) -> CirclePatterns | None:
    """The patterns for such marks; ``called`` are those of their colours that are also people's names."""
    if not words.colours:
        return None
    one = any_of(words.shown)
    shape = _SHAPE if words.boxes else _SHAPE_NO_BOX
    colour = (
        rf"(?:(?:light|dark|bright|solid|thick|thin)[- ])?(?P<colour>{one})(?:(?: and |/|, ){one})?"
        r"(?:[- ]colou?red)?"
    )
    several = rf"(?:(?:{one}|colou?red)(?:,? (?:and )?)?){{1,6}}"
    tag = _tag_after(words.tags)
    marked = (
        rf"{_MARKED} (?:in|by|with|using|inside|within|as)(?: an?| the)? {colour}"
        rf"(?: {shape}|(?=[\s,.;)]|$)){_AROUND}{tag}"
    )
    inside = rf"{_within(colour, words.boxes)}{tag}"
    about = rf"^(?:the|an?|these|some|coloured|colored)?\s*{several} {shape}\b[^.]{{0,160}}" + (
        r"\b(?:marks?|indicat\w+|highlights?|identif\w+|shows?|surrounds?|denot\w+|are|is|around|represents?"
        r"|follows?|mean|help)\b"
    )
    if words.tags:
        tags = any_of(words.tags)
        about += rf"|^(?:the )?(?:tag|label|number) {tags} (?:marks?|indicates|identifies|is|shows)\b"
    there = rf"^there (?:is|are) (?:an? |the )?{several} {ROUND}\b"
    return CirclePatterns(
        re.compile(rf"{about}|{there}|\bcoloure?d {ROUND}\b", re.IGNORECASE),
        re.compile(
            rf"^(?P<who>[^,.;]{{1,120}}?) (?P<be>is|are) (?:(?:shown|seen) )?(?:{marked}"
            rf"|{_again(inside)})\W*$",
            re.IGNORECASE,
        ),
        _gone(colour, marked, inside, shape, words.tags),
        _remains(words, shape, called),
    )


def _within(colour: str, boxes: bool) -> str:
    """Where somebody stands who is marked; what people wear (a ring, a halo of hair) is not meant."""
    worn = (
        r"(?:borders?|markers?|rings?|halos?|box(?:es)?)" if boxes else r"(?:borders?|markers?|rings?|halos?)"
    )
    borne = rf"with(?=[^,.;]{{0,40}}\b(?:{ROUND}|faces?|heads?|body|bodies)\b)"
    return (
        rf"(?:in|inside|within|by|under|behind|{borne})(?: an?| the| his| her)? {colour} "
        rf"(?:{ROUND}|{worn}){_NO_THING}{_AROUND}"
    )


def _tag_after(tags: Sequence[str]) -> str:
    """Of a tag that is told together with the circle; the group ``tag`` is there in any case."""
    if not tags:
        return r"(?P<tag>)"
    return (
        r"(?:,? (?:and )?(?:(?:with|bearing|by) )?(?:the |an? )?"
        r"(?:tag(?:ged)?|label(?:led|ed)?|number(?:ed)?)"
        rf"(?: as| with| reading)?(?: the)?(?: tag| number)? #?(?P<tag>{any_of(tags)})\b)?"
    )


def _again(pattern: str) -> str:
    """The pattern with other names for its groups, to stand beside one that has the same."""
    return pattern.replace("colour>", "other>").replace("tag>", "other_tag>")


def _gone(
    colour: str, marked: str, inside: str, shape: str, tags: Sequence[str]
) -> tuple[tuple[re.Pattern[str], str], ...]:
    who = rf"(?P<who>\b(?:{_PERSON}|(?-i:[A-Z][\w'-]*[\w])))"
    number = rf"(?:{_tag_after(tags)}|,? ?#?{any_of(tags)})" if tags else ""
    bracket = (
        rf"\s*[(\[](?:who is |the |in |with |{_MARKED} )*(?:in |with |by )?(?:an? "
        rf"|the )?{colour}(?: {shape})?"
        rf"{_AROUND}{number}[)\]]"
    )
    both = rf"(?:{marked}|{_again(inside)})"
    found = [
        (bracket, ""),
        (rf" (?:is|are) {marked},? and (?:he |she |they )?(?=\w)(?!(?-i:[A-Z])|the |an? )", " "),
        (rf"{who}, {_WHO_IS}{marked},", rf"\g<who>{_TOLD}"),
        (rf"{who}, {_WHO_IS}{inside},", rf"\g<who>{_TOLD}"),
        (rf"{who},? {_WHO_IS}{marked}", rf"\g<who>{_TOLD}"),
        (rf"{who},? {_WHO_IS}{inside}", rf"\g<who>{_TOLD}"),
        (rf"(?<! is)(?<! are), {_WHO_IS}{both},?", ""),
        (rf"(?<! is)(?<! are) {marked}", ""),
        (rf",? whose (?:face|head|body) is (?:{marked}|{_again(inside)}),?", ""),
        (rf"^(?:in|inside|within) (?:the|an?) {colour} {ROUND}, ", ""),
        (rf", the {colour} {ROUND},", ""),
        (rf"\b{colour}[- ]circled (?P<who>\w+)(?P<tag>)", rf"\g<who>{_TOLD}"),
        (rf"\bcircled (?={_PERSON}\b)", ""),
        (rf"(?:^|(?<=[.;,] )){colour} {ROUND} ?[:=–—-] ?", ""),
        (rf" ?[:=–—-] ?{colour} {ROUND}\b", ""),
    ]
    if tags:
        found += _tags_gone(tags, who)
    return tuple((re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in found)


def _tags_gone(tags: Sequence[str], who: str) -> list[tuple[str, str]]:
    """Of tags that are told without a colour; a number alone goes only between brackets."""
    tag = rf"(?:number |no\. ?|#)?(?P<tag>{any_of(tags)})\b"
    said = rf"(?:in (?:the|an?) {ROUND},? )?(?:with (?:the |an? )?tag|tagged|labell?ed)(?: as| with)? {tag}"
    return [
        (rf"\s*[(\[](?:(?:the |with )*tag(?:ged)?:? )?{tag}[)\]]", ""),
        (rf"{who}, {_WHO_IS}{said},", rf"\g<who>{_TOLD_BY_TAG}"),
        (rf"{who},? {_WHO_IS}{said}", rf"\g<who>{_TOLD_BY_TAG}"),
    ]


_OF_PEOPLE = ("white",)
"""Colours by which a story speaks of people: ``a white figure``."""


def _remains(words: MarkWords, shape: str, called: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    shown = any_of(words.shown)
    named = [colour.capitalize() for colour in words.colours if colour not in called]
    told = [colour for colour in words.colours if colour not in _OF_PEOPLE]
    held = [colour for colour in words.shown if colour not in (*words.colours, *words.alike)]
    found = [
        re.compile(
            rf"\b(?:the )?{shown} (?:{ROUND}|outline)s?\b{_NO_THING}(?! on\b| painted| drawn on)",
            re.IGNORECASE,
        ),
        re.compile(
            rf"\b{shown} {ROUND} (?:around|over|on) (?:his|her|their|the|[\w-]+'s) (?:face|head)s?\b",
            re.IGNORECASE,
        ),
        re.compile(
            rf"\b{_MARKED} (?:in|by|with|as) (?:an? |the )?{shown}\b"
            rf"(?: {shape}\b|(?=\s*(?:[,.;)]|$)|\s(?:and|who|is|as|while)\b))",
            re.IGNORECASE,
        ),
        re.compile(r"\bcolou?red circles?\b", re.IGNORECASE),
    ]
    if told or held:
        one = any_of([*told, *held])
        found += [
            re.compile(rf"\b(?:[Tt]he|[Aa]) {one} (?:character|person|one|individual|figure)s?\b"),
            re.compile(rf"\b(?:[Cc]haracter|[Pp]erson|[Ii]ndividual) {one}\b(?! \w+ed\b)"),
        ]
    if words.tags:
        found.append(re.compile(rf"\b[Tt]ag(?:ged)? (?:number |no\. ?|#)?{any_of(words.tags)}\b"))
    if named:
        capital = any_of([*named, *(colour.capitalize() for colour in held)])
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
