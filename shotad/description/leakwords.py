"""How models speak of the marks on frames: patterns, and how coloured circles are taken out of a text.

For a text in which somebody was told apart by colour, the colour stays between private signs (`TAGGED`) until
the whole step is cleaned, so that two men with two colours do not become one. While a text is cleaned, a
style and its colour (``dashed red``) are joined by a sign that no text holds (`leaks.plain` lets none
through), so that the patterns for ``red`` serve for them too and two people marked in red stay two;
`MarkWords.parted` undoes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from shotad.core import Mark
from shotad.film import COLOURS

_I = re.IGNORECASE

SCREEN = re.compile(
    r"\b(?:screens?|monitors?|televisions?|tvs?|laptops?|tablets?|projector|projected|tape|watch(?:es|ing)?|"
    r"rewinds?|security camera|phone)\b",
    _I,
)
"""Where one of these is in the sentence, a video or an image may be a thing of the story."""

_ORDINAL = (
    r"(?:first|second|third|fourth|fifth|sixth|last|final|next|previous|following|current|opening"
    r"|initial|subsequent|other|same)"
)
_NUMBER = r"(?:\[?[Ss]hots? ?(?:#|no\. ?|number )?\d{1,2}\b\]?)"
_MORE = (
    r"(?:(?:,? (?:and|to|through|or|until|&) |, ?| ?[-–&/] ?)\[?(?:[Ss]hots? ?)?#?\d{1,2}\b(?! (?:men"
    r"|women|people|times|of))\]?){0,8}"
)
_SHOTS = rf"(?:\[?(?:the )?{_NUMBER}{_MORE}\]?)"
SHOTS = re.compile(_SHOTS)
"""A mention of shots by their numbers: ``[Shot 2, Shot 3]``, ``shots 2 and 3``."""
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
    r"is (?:focused|fixed|trained|centered|centred) on|remains? on|pulls? back to(?: show| reveal)?)"
)
_SIZES = (
    r"(?:(?:wide|medium|long|full|tracking|establishing|aerial|overhead|low-angle|high-angle|wide-angle"
    r"|close|extreme|"
    r"brief|quick|slow|opening|final) )"
)
_VIEW = rf"(?:{_SIZES}*close-ups?(?: (?:shots?|views?))?|{_SIZES}+(?:shots?|views?))"
_OF_FRAME = (
    r"(?:[- ]hand)?(?: side| corner| edge| half| part)?) of (?:the|this|each) (?:frame|image|shot|video"
    r"|clip)\b"
)
PLACES = (
    (
        re.compile(
            rf"\b(?:on|at|in|to|from) (?P<side>the (?:(?:far|lower|upper|bottom|top) )?"
            rf"(?:left|right|top|bottom|edge){_OF_FRAME}",
            _I,
        ),
        r"on \g<side>",
    ),
    (
        re.compile(
            rf"\b(?:on|at|in) (?P<side>the (?:cent(?:er|re)|middle|corner|foreground|background){_OF_FRAME}",
            _I,
        ),
        r"in \g<side>",
    ),
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

_NOT_TAKES = r"(?<!\btakes)(?<!\btake)(?<!\btaking)(?<!\btakes )(?<!\btake )(?<!\btaking )"
"""He takes in the scene."""
_MEDIA_END = r"(?=\s*(?:[,.;]|$)| (?:and|while|as|who|where)\b)"
MEDIA_ASIDES = (
    re.compile(
        rf"{_NOT_TAKES},? ?\b(?:as (?:seen|shown|depicted) |seen |shown |visible |present )?(?:in"
        rf"|during|throughout"
        rf"|within|across|over) "
        rf"{_PART}(?:this|these) (?:{_ORDINAL} )?(?:few |two |three )?{_THING}{_MEDIA_END}",
        _I,
    ),
    re.compile(
        rf"{_NOT_TAKES},? ?\b(?:as (?:seen|shown|depicted) |seen |shown |visible )?(?:in|during"
        rf"|throughout|within"
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
    r"|\bclose-ups? (?:shot |view )?(?:of|on|shot|view)\b|\b(?:wide|medium|long|tracking|establishing"
    r"|overhead"
    r"|aerial) shots?\b"
    r"|\bthe camera (?:slowly |then |slightly |gently )?(?:pans?|zooms?|tilts?|focus(?:es)?|cuts?"
    r"|follows?|tracks?|"
    r"moves?|shows?|reveals?|lingers|angle|shifts?|captures?|pulls|view)\b",
    _I,
)


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
    set_in: re.Pattern[str]
    """``The scene takes place in a forest``."""
    label_within: re.Pattern[str]
    remains: tuple[re.Pattern[str], ...]


@lru_cache(maxsize=64)
def patterns(shots: tuple[int, ...]) -> Patterns:
    """The patterns for a clip on whose frames these shot numbers are painted."""
    then = r"(?:(?:Then|Next|Finally|And),? )?"
    return Patterns(
        label_in_quotes=re.compile(rf"[\"'“‘]({_SHOTS})[\"'”’]"),
        about_marks=_about_marks(),
        openings=_openings(shots),
        asides=_asides(),
        presents=re.compile(
            rf"^{then}(?:(?:{_MEDIA}|the (?:movie|film)) {_ADVERB}{_PRESENTS}"
            rf"|The camera {_ADVERB}{_CAMERA_PRESENTS}"
            r"|The camera [^,.;]*?,? (?:revealing|showing|capturing|following|to show|to reveal)"
            rf"|(?:There (?:is|are) )?(?:an? |the )?{_VIEW} (?:of|{_PRESENTS})"
            rf"|(?:Here,? )?[Ww]e (?:can |then |now )?see) (?P<rest>.+)$",
            _I,
        ),
        numbered_presents=re.compile(
            rf"^{then}{_SHOTS} (?:both |all |each )?{_ADVERB}{_PRESENTS} (?P<rest>.+)$", _I
        ),
        set_in=re.compile(
            rf"^(?:{_MEDIA}|{_SHOTS}) {_ADVERB}(?:takes? place|is set|are set|unfolds?|occurs?|happens?)"
            r" (?P<where>.+)$",
            _I,
        ),
        label_within=re.compile(r"(?:(?<=[.!?] )|(?<=\) ))\[\s*shots? [^\]]{0,60}\][\s:,–—-]*", _I),
        remains=(
            re.compile(
                r"\[?(?:\bShots? |(?:(?<=\bin )|(?<=\bof )|(?<=\bfrom )|(?<=\bto )|(?<=\band )"
                r"|(?<=\bthe ))shots? )#?\d{1,2}\b\]?"
            ),
            re.compile(r"\bshot (?:labels?|numbers?)\b", _I),
            re.compile(r"\bframe (?:#|number )?\d+\b", _I),
        ),
    )


def _about_marks() -> re.Pattern[str]:
    said = (
        rf"{_SHOTS}[^.]{{0,160}}\b(?:label|corner|caption|overlay|appears? (?:at|in|on) the|number)",
        r"\b(?:the )?(?:shot|frame) (?:labels?|numbers?)\b[^.]{0,160}\b(?:corner|top|left|frame|appear|is|are"
        r"|read|show)",
        r"\blabel(?:led|s)?\b[^.]{0,160}\btop[- ]left\b",
        rf"{_SHOTS}[^.]{{0,160}}\b(?:share|have|has|same)\b[^.]{{0,160}}\b(?:camera|set-?up|angle|framing"
        rf"|composition)\b",
        r"^the camera(?: angle| view| perspective| position)? (?:slowly |then |slightly |gently |also )*"
        r"(?:changes|shifts|pans|zooms|tilts|moves|pulls|pushes|cuts|rotates|remains|stays|is)"
        r"(?: (?:in|out|left|right|up|down|back|away|around|slowly|closer|slightly|static|still"
        r"|stationary|fixed|steady"
        r"|to the left|to the right|to a different angle|between (?:them|the (?:two )?characters)))*\W*$",
    )
    return re.compile("|".join(said), _I)


def _openings(shots: Sequence[int]) -> tuple[re.Pattern[str], ...]:
    at = r"(?:in|during|throughout|across|from|by|at|within|over|between|for|on)"
    found = [
        re.compile(rf"^(?:And |Then,? )?[\W_]*{_SHOTS}[\W_]*[:–—][\s*]*", _I),
        re.compile(r"^\[\s*shots? [^\]]{0,60}\][\s:,–—-]*", _I),
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
        bare = any_of([str(n) for n in shots])
        found.append(re.compile(rf"^[(\[]{bare}(?:, ?{bare})*[)\]] "))
    return tuple(found)


def _asides() -> tuple[re.Pattern[str], ...]:
    where = r"(?:in|during|throughout|across|from|of|within|between|over|at|by)"
    return (
        re.compile(rf"(?:(?<!\s)\s+)?[(\[][^()\[\]]{{0,80}}{_NUMBER}[^()\[\]]{{0,80}}[)\]]", _I),
        re.compile(
            rf",? ?\b(?:as )?(?:seen |shown |visible |depicted |present )?{where} {_PART}(?:both "
            rf"|all )?{_SHOTS}"
            rf"(?: (?:to|and|through|until) {_SHOTS})*,?(?=[\s.;,!?]|$)",
            _I,
        ),
    )


def any_of(words: Sequence[str]) -> str:
    """A pattern of any of these words, the longest first."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w))) + ")"


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


HOLD = "\ue010"
"""Stands between a style and its colour."""

_SAID = {
    "dashed": r"(?:dashed|dotted|broken|dash(?:ed)?[- ]lined?)",
    "double": r"(?:doubled?|double[- ]lined?|concentric|twin)",
}
_ALIKE = {
    "pink": ("magenta", "purple", "fuchsia", "violet"),
    "cyan": ("turquoise", "teal", "aqua", "light blue"),
    "green": ("lime", "lime green"),
}
"""What models call these colours too; like the colours of other marks taken only together with a circle."""

_BEFORE_TAG = ("tag", "tagged", "label", "labelled", "labeled", "number", "numbered")

ROUND = r"(?:circles?|ellipses?|ovals?|outlines?|bounding box(?:es)?)"
"""Shapes that are hardly ever things of a film."""


@dataclass(frozen=True, slots=True)
class MarkWords:
    """``colours`` of the marks, lower case; ``alike`` are further words for these; ``styles`` and ``tags``
    those of the marks; ``boxes`` where people are marked by boxes.
    """

    colours: tuple[str, ...]
    alike: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    boxes: bool = True

    @property
    def shown(self) -> tuple[str, ...]:
        """Everything that may stand before ``circle``, styles and colours held together."""
        plain = (*self.colours, *self.alike)
        held = tuple(f"{style}{HOLD}{colour}" for style, colour in product(self.styles, ("", *plain)))
        return (*plain, *held)

    def join(self, text: str) -> str:
        """The text with each style held to its colour, or to nothing where only the style is named."""
        for pattern, instead in _joining(self):
            text = pattern.sub(instead, text)
        return text

    def unquoted(self, text: str) -> str:
        """The text with no quotation marks around a colour before a circle, and around a tag after "tag"."""
        for pattern in _quoted(self):
            text = pattern.sub(r"\g<bare>", text)
        return text


def parted(text: str) -> str:
    """Undoes `MarkWords.join`."""
    return text.replace(f"{HOLD} ", " ").replace(HOLD, " ")


def mark_words(marks: Iterable[Mark], colours: Sequence[str] = (), *, boxes: bool = True) -> MarkWords:
    """The words for these marks, and for plain ``colours``."""
    given = list(marks)
    names = dict.fromkeys(colour.lower() for colour in (*(mark.colour for mark in given), *colours))
    said = (other for colour in names for other in _ALIKE.get(colour, ()))
    alike = dict.fromkeys(other for other in (*said, *COLOURS) if given and other not in names)
    styles = dict.fromkeys(mark.style for mark in given if mark.style != "solid")
    tags = dict.fromkeys(mark.tag for mark in given if mark.tag)
    return MarkWords(tuple(names), tuple(alike), tuple(styles), tuple(tags), boxes)


@lru_cache(maxsize=64)
def _joining(words: MarkWords) -> tuple[tuple[re.Pattern[str], str], ...]:
    """``dashed red`` everywhere; other orders and words only beside a shape, since they are not put back."""
    found: list[tuple[str, str]] = []
    colour = any_of((*words.colours, *words.alike)) if words.colours else ""
    shape = rf"(?:{ROUND}|borders?|boxes|box|rings?)"
    for style in words.styles if colour else ():
        said = _SAID[style]
        found += [
            (rf"\b({style}) (?={colour}\b)", rf"\1{HOLD}"),
            (rf"\b{said}(?:[- ]|, )(?P<c>{colour})(?=[- ](?:colou?red )?{shape}\b)", rf"{style}{HOLD}\g<c>"),
            (rf"(?<!{HOLD})\b(?P<c>{colour})(?:[- ]|, ){said}(?= {shape}\b|[)\]])", rf"{style}{HOLD}\g<c>"),
            (rf"\b({style})(?= {ROUND}\b)", rf"\1{HOLD}"),
        ]
    return tuple((re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in found)


@lru_cache(maxsize=64)
def _quoted(words: MarkWords) -> tuple[re.Pattern[str], ...]:
    start, end = "[\"'“‘]", "[\"'”’]"
    found = []
    if words.colours:
        colour = any_of((*words.colours, *words.alike))
        found.append(rf"{start}(?P<bare>{colour}){end}(?= {ROUND}\b)")
    if words.tags:
        tag = any_of(words.tags)
        found += [rf"(?<=\b{said} ){start}(?P<bare>{tag}){end}" for said in _BEFORE_TAG]
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in found)
