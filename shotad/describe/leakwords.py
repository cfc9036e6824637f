"""Patterns of what leaks from Stage I's prompt into its answer, and of what only looks so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_I = re.IGNORECASE

SCREEN = re.compile(
    r"\b(?:screens?|monitors?|televisions?|tvs?|laptops?|tablets?|projector|projected|tape|watch(?:es|ing)?|"
    r"rewinds?|security camera|phone)\b",
    _I,
)
"""Where one of these is in the sentence, a video or an image may be a thing of the story."""

PAPER = re.compile(
    r"\b(?:dates?|days?|calendars?|maps?|words?|articles?|newspapers?|pages?|targets?|lists?|letters?|"
    r"photo(?:graph)?s?|board|charts?|diagrams?|dartboard|bull'?s[- ]eye|blueprints?|advertisements?"
    r"|floor|mat)\b",
    _I,
)
"""Where one of these is in the sentence, a circle may be drawn in the story."""

_ORDINAL = (
    r"(?:first|second|third|fourth|fifth|sixth|last|final|next|previous|following|current|opening"
    r"|initial|subsequent|other|same)"
)
_NUMBER = r"(?:\[?[Ss]hots? ?(?:#|no\. ?|number )?\d{1,2}\b\]?)"
_MORE = (
    r"(?:(?:,? (?:and|to|through|or|until|&) |, ?| ?[-–&/] ?)\[?(?:[Ss]hots? ?)?#?\d{1,2}\b(?! (?:men"
    r"|women|people|times|of))\]?)*"
)
_SHOTS = rf"(?:\[?(?:the )?{_NUMBER}{_MORE}\]?)"
_THING = (
    r"(?:video|clip|footage|frames?|images?|scenes?|sequences?|segment|shots?|film clip|movie clip"
    r"|video clip|excerpt)"
)
_MEDIA = (
    rf"(?:(?:this|these|the|each|that|both|all|every) (?:{_ORDINAL} )?(?:few |two |three |given "
    rf"|provided )?{_THING})"
)
_PART = r"(?:the (?:very )?(?:start|beginning|end|middle|course|rest|background) of )?"
_ADVERB = (
    r"(?:then |also |now |primarily |mainly |first |next |briefly |slowly |clearly |initially |mostly "
    r"|simply )?"
)
_PRESENTS = (
    r"(?:shows?|depicts?|features?|captures?|reveals?|presents?|displays?|portrays?|contains?|includes?|"
    r"focus(?:es)? on|cent(?:er|re)s? (?:on|around)|begins? with|starts? with|opens? (?:with|on)|ends? with|"
    r"cuts? to|transitions? to|shifts? (?:to|focus to)|switch(?:es)? to|concludes? with|continues? with|"
    r"zooms? in on|highlights?|illustrates?|returns? to|moves? to|follows?|has|consists? of)"
)
_CAMERA_PRESENTS = (
    r"(?:focus(?:es)? on|shows?|follows?|tracks?|zooms? (?:in|out) (?:on|to)(?: show| reveal)?|zooms? in on|"
    r"pans? (?:to|across|over|around)(?: show| reveal)?|cuts? to|captures?|reveals?|moves? to|shifts? to|"
    r"tilts? (?:up|down) to(?: show| reveal)?|lingers? on|closes? in on|switch(?:es)? to|turns? to|stays? on|"
    r"remains? on|pulls? back to(?: show| reveal)?)"
)
_PERSON = (
    r"(?:m[ae]n|wom[ae]n|boys?|girls?|persons?|people|characters?|individuals?|figures?|guys?|lad(?:y"
    r"|ies)|child|"
    r"children|kids?|soldiers?|officers?|ones?|someone|somebody|actors?|actress(?:es)?|teenagers?|"
    r"[Hh]e|[Ss]he|[Hh]im|[Hh]er|[Tt]hey|[Tt]hem)"
)
_MARKED = (
    r"(?:circled|encircled|marked|highlighted|labell?ed|indicated|outlined|identified|surrounded"
    r"|enclosed|framed|"
    r"denoted|designated|tagged|annotated|represented|boxed)"
)
_SHAPE = (
    r"(?:circles?|ellipses?|ovals?|outlines?|borders?|markers?|markings?|bounding box(?:es)?|box(?:es)?"
    r"|rings?|halos?)"
)
_ROUND = r"(?:circles?|ellipses?|ovals?|outlines?|bounding box(?:es)?)"

PLACES = (
    (
        re.compile(
            r"\b(?:on|at|in|to|from) (?P<side>the (?:(?:far|lower|upper|bottom|top) )?"
            r"(?:left|right|top|bottom|cent(?:er|re)|middle|corner|edge|foreground|background)"
            r"(?:[- ]hand)?(?: side| corner| edge| half| part)?) of (?:the|this|each) (?:frame|image"
            r"|shot|video|clip)\b",
            _I,
        ),
        r"on \g<side>",
    ),
    (re.compile(r"\bon the (foreground|background|cent(?:er|re)|middle)\b"), r"in the \1"),
    (re.compile(r"\b(enters?|exits?|leaves?|entering|exiting|leaving) the frame\b", _I), r"\1"),
    (
        re.compile(r"\b(walk|run|step|move|ride|drive|crawl)(s|ing)? out of (?:the )?frame\b", _I),
        r"\1\2 away",
    ),
    (
        re.compile(r"\b(walk|run|step|come|move|ride|drive|crawl)(s|ing)? into (?:the )?frame\b", _I),
        r"\1\2 in",
    ),
)
"""Places and ways that are given by the frame, and how to say them without it."""

_MEDIA_END = r"(?=\s*(?:[,.;]|$)| (?:and|while|as|who|where)\b)"
MEDIA_ASIDES = (
    re.compile(
        rf",? ?\b(?:as (?:seen|shown|depicted) |seen |shown |visible |present )?(?:in|during|throughout"
        rf"|within|across|over) "
        rf"{_PART}(?:this|these) (?:{_ORDINAL} )?(?:few |two |three )?{_THING}{_MEDIA_END}",
        _I,
    ),
    re.compile(
        rf",? ?\b(?:as (?:seen|shown|depicted) |seen |shown |visible )?(?:in|during|throughout|within"
        rf"|across|over|at|by) "
        rf"{_PART}the (?:{_ORDINAL} )?(?:few |two |three )?(?:clip|video|video clip|footage|frames"
        rf"|sequences?|shots|scene)"
        rf"{_MEDIA_END}",
        _I,
    ),
    re.compile(rf",? ?\bin the {_ORDINAL} (?:few )?(?:shot|frame|image){_MEDIA_END}", _I),
    re.compile(
        r",? ?\b(?:as|while|when|and|before|until|with) the camera (?!in\b|on\b|from\b|to his\b"
        r"|to her\b)[^,.;]*",
        _I,
    ),
)

MEDIA_REMAINS = re.compile(
    rf"\b(?:this|these) (?:{_ORDINAL} )?(?:video|clip|footage|frames?|images?|shots?)\b"
    rf"|\bthe (?:{_ORDINAL} )?(?:video|clip|video clip|footage|film clip) (?:{_PRESENTS}|begins?"
    rf"|starts?|ends?|opens?|cuts?|progresses|continues)\b"
    rf"|\bthe {_ORDINAL} frames?\b|\b(?:in|into|out of|off) frame\b"
    r"|\bthe (?:shot|scene|frame) (?:cuts|shows|changes|shifts|transitions|switches|depicts|begins"
    r"|opens|ends)\b"
    r"|\bclose-up (?:shot|view)?\b(?! photo)|\b(?:wide|medium|long|tracking|establishing|overhead"
    r"|aerial) shots?\b"
    r"|\bthe camera (?:slowly |then |slightly |gently )?(?:pans?|zooms?|tilts?|focus(?:es)?|cuts?"
    r"|follows?|tracks?|"
    r"moves?|shows?|reveals?|lingers|angle|shifts?|captures?|pulls|view)\b",
    _I,
)

TAGGED = re.compile(r"(?P<article>\b(?:[Tt]he|[Aa]n?) )?(?P<who>[\w-]+)\ue001(?P<colour>\w+)\ue002")
"""Somebody and the colour by which a model told them, between private signs while a step is cleaned."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """What to take out for one clip; see the names."""

    label_in_quotes: re.Pattern[str]
    about_marks: re.Pattern[str]
    """Of a sentence that tells of nothing but marks and labels."""
    openings: tuple[re.Pattern[str], ...]
    asides: tuple[re.Pattern[str], ...]
    presents: re.Pattern[str]
    numbered_presents: re.Pattern[str]
    circles: tuple[tuple[re.Pattern[str], str], ...]
    remains: tuple[re.Pattern[str], ...]
    circle_remains: tuple[re.Pattern[str], ...]


@lru_cache(maxsize=64)
def patterns(shots: tuple[int, ...], colours: tuple[str, ...]) -> Patterns:
    """The patterns for a clip with these shot numbers and these colours of circles."""
    return Patterns(
        re.compile(rf"[\"'“‘]({_SHOTS})[\"'”’]"),
        _about_marks(colours),
        _openings(shots),
        _asides(),
        re.compile(
            rf"^(?:(?:Then|Next|Finally|And),? )?(?:(?:{_MEDIA}|the (?:movie|film)) {_ADVERB}{_PRESENTS}"
            rf"|The camera {_ADVERB}{_CAMERA_PRESENTS}|The camera [^,.;]*?,? (?:revealing|showing"
            rf"|capturing|following)"
            rf"|(?:Here,? )?[Ww]e (?:can |then |now )?see) (?P<rest>.+)$",
            _I,
        ),
        re.compile(
            rf"^(?:(?:Then|Next|Finally|And),? )?{_SHOTS} (?:both |all "
            rf"|each )?{_ADVERB}{_PRESENTS} (?P<rest>.+)$",
            _I,
        ),
        _circles(colours),
        (
            re.compile(
                r"\[?(?:\bShots? |(?:(?<=\bin )|(?<=\bof )|(?<=\bfrom )|(?<=\bto )|(?<=\band )"
                r"|(?<=\bthe ))shots? )#?\d{1,2}\b\]?"
            ),
            re.compile(r"\bshot (?:labels?|numbers?)\b", _I),
            re.compile(r"\bframe (?:#|number )?\d+\b", _I),
        ),
        _circle_remains(colours),
    )


def _about_marks(colours: Sequence[str]) -> re.Pattern[str]:
    said = [
        rf"{_SHOTS}[^.]*\b(?:label|corner|caption|overlay|appears? (?:at|in|on) the|number)",
        r"\b(?:the )?(?:shot|frame) (?:labels?|numbers?)\b[^.]*\b(?:corner|top|left|frame|appear|is|are"
        r"|read|show)",
        r"\blabel(?:led|s)?\b[^.]*\btop[- ]left\b",
        rf"{_SHOTS}[^.]*\b(?:share|have|has|same)\b[^.]*\b(?:camera|set-?up|angle|framing|composition)\b",
    ]
    if colours:
        colour = _any(colours)
        said += [
            rf"^(?:the|an?|these|some|coloured|colored)?\s*(?:(?:{colour}"
            rf"|colou?red)(?:,? (?:and )?)?)+ {_SHAPE}\b[^.]*"
            r"\b(?:marks?|indicat\w+|highlights?|identif\w+|shows?|surrounds?|denot\w+|are|is|around"
            r"|represents?|follows?|mean|help)\b",
            rf"^[^,.;]* (?:is|are) {_MARKED} (?:in|by|with|using) (?:an? |the )?(?:(?:{colour}"
            rf"|colou?red)(?:,? (?:and )?)?)+(?: {_SHAPE})?"
            r"(?: around [^,.;]*)?\W*$",
            rf"\bcoloure?d {_ROUND}\b",
        ]
    return re.compile("|".join(said), _I)


def _openings(shots: Sequence[int]) -> tuple[re.Pattern[str], ...]:
    at = r"(?:in|during|throughout|across|from|by|at|within|over|between|for|on)"
    found = [
        re.compile(rf"^(?:And |Then,? )?[\W_]*{_SHOTS}[\W_]*[:–—][\s*]*", _I),
        re.compile(r"^\[\s*shots? [^\]]*\][\s:,–—-]*", _I),
        re.compile(
            rf"^(?:(?:And|Then),? )?{at} {_PART}{_SHOTS}(?: (?:to|and|through|until) {_SHOTS})*,? ", _I
        ),
        re.compile(rf"^(?:(?:And|Then),? )?{at} {_PART}(?:{_MEDIA}|the (?:film|movie)), ", _I),
        re.compile(
            rf"^(?:as|when|while|once) (?:{_MEDIA}|the (?:film|movie)|{_SHOTS}) {_ADVERB}"
            r"(?:begins?|starts?|opens?|progress(?:es)?|continues?|unfolds?|ends?|moves? on"
            r"|transitions?|cuts?|shifts?|changes?)"
            r"[^,]*, ",
            _I,
        ),
        re.compile(r"^(?:as|when|while|once) the camera (?!in\b|on\b)[^,]*, ", _I),
    ]
    if shots:
        bare = _any([str(n) for n in shots])
        found.append(re.compile(rf"^[(\[]{bare}(?:, ?{bare})*[)\]] "))
    return tuple(found)


def _asides() -> tuple[re.Pattern[str], ...]:
    where = r"(?:in|during|throughout|across|from|of|within|between|over|at|by)"
    return (
        re.compile(rf"\s*[(\[][^()\[\]]*{_NUMBER}[^()\[\]]*[)\]]", _I),
        re.compile(
            rf",? ?\b(?:as )?(?:seen |shown |visible |depicted |present )?{where} {_PART}(?:both "
            rf"|all )?{_SHOTS}"
            rf"(?: (?:to|and|through|until) {_SHOTS})*,?(?=[\s.;,!?]|$)",
            _I,
        ),
    )


def _circles(colours: Sequence[str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    if not colours:
        return ()
    one = _any(colours)
    colour = rf"(?:(?:light|dark|bright)[- ])?(?P<colour>{one})(?:(?: and |/|, ){one})?(?:[- ]colou?red)?"
    around = r"(?: (?:around|on|over|drawn (?:around|on)) (?:his|her|their|the|its|\w+'s) (?:faces?|heads?))?"
    tag = "\ue001\\g<colour>\ue002"
    marked = (
        rf"{_MARKED} (?:in|by|with|using|inside|within|as)(?: an?| the)? {colour}(?: {_SHAPE}"
        rf"|(?=[\s,.;)]|$)){around}"
    )
    inside = rf"(?:in|inside|within|with|by|under|behind)(?: an?| the| his| her)? {colour} {_SHAPE}{around}"
    who = rf"(?P<who>\b(?:{_PERSON}|(?-i:[A-Z][\w'-]*[\w])))"
    return (
        (
            re.compile(
                rf"\s*[(\[](?:who is |the |in |with |{_MARKED} )*(?:in |with |by )?(?:an? "
                rf"|the )?{colour}(?: {_SHAPE})?{around}[)\]]",
                _I,
            ),
            "",
        ),
        (re.compile(rf" (?:is|are) {marked} and (?=\w)", _I), " "),
        (re.compile(rf"{who},? (?:who (?:is|are) |that is )?{marked},?", _I), rf"\g<who>{tag}"),
        (
            re.compile(rf"{who},? (?:who (?:is|are) |that is )?{inside}(?:,(?= \w+ed\b))?", _I),
            rf"\g<who>{tag}",
        ),
        (re.compile(rf",? (?:who (?:is|are) )?{marked}(?P<end>,?)", _I), ""),
        (re.compile(rf", (?:who (?:is|are) )?{inside},?", _I), ""),
        (re.compile(rf", the {colour} {_ROUND},", _I), ""),
        (re.compile(rf"\b{colour}[- ]circled (?P<who>\w+)", _I), rf"\g<who>{tag}"),
        (re.compile(rf"(?:^|(?<=[.;,] )){colour} {_ROUND} ?[:=–—-] ?", _I), ""),
        (re.compile(rf" ?[:=–—-] ?{colour} {_ROUND}\b", _I), ""),
    )


def _circle_remains(colours: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    if not colours:
        return ()
    lower, capital = _any(colours), _any([colour.capitalize() for colour in colours])
    verbs = (
        r"(?:looks?|is|walks?|stands?|sits?|turns?|runs?|holds?|takes?|opens|speaks?|talks?|smiles?"
        r"|nods?|has|and "
        rf"(?:{capital})|stares?|gazes?|watches|reaches|moves?|leans?|points?|grabs?|then|appears?"
        rf"|enters?|leaves?|follows?)"
    )
    return (
        re.compile(rf"\bthe {lower} (?:{_ROUND}|outline)\b(?! on\b| of\b| painted| drawn on)", _I),
        re.compile(
            rf"\b{lower} {_ROUND} (?:around|over|on) (?:his|her|their|the|\w+'s) (?:face|head)s?\b", _I
        ),
        re.compile(rf"\bthe {lower} (?:character|person|one|individual|figure)s?\b"),
        re.compile(rf"\b(?:character|person|individual) {lower}\b(?! \w+ed\b)"),
        re.compile(rf"(?:^|(?<=[.;] )){capital}(?= {verbs}\b)"),
        re.compile(rf"(?<=[a-z] ){capital}(?=[\s.,;']|$)(?! (?:[A-Z]|Cross|House|Sea|Army|Square))"),
        re.compile(r"\bcolou?red circles?\b", _I),
    )


def _any(words: Sequence[str]) -> str:
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w))) + ")"
