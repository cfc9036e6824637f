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
