"""What of the prompt's devices leaked into a description: circles, their colours, shot numbers, the camera.

Stage I marks people with coloured circles and shots with numbers, and asks never to mention them; models do
so all the same. What can be taken out is ("The clip shows a man running" becomes "A man running"); the rest
is named, to be asked again. Things of the story (a gunshot, a red car, a camera in a hand) stay. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from shotad.core import Description
from shotad.core.cast import FrameMark
from shotad.film.overlays import COLOURS
from shotad.script import split_sentences
from shotad.script.rules import quotations

_LONGEST = 1000
"""Characters of a sentence; a model that repeats itself without an end writes longer ones."""

_QUOTED = "\ue000"
"""Stands for a text in quotation marks while the rest is cleaned; `plain` lets no such sign through."""


def clean(
    description: Description,
    *,
    shots: Sequence[int],
    marks: Iterable[FrameMark] = (),
    names: Sequence[str] = (),
    boxes: bool = True,
) -> tuple[Description, tuple[str, ...]]:
    """The description without what leaked into its steps, and what could not be taken out, a phrase each.

    ``shots`` are the numbers painted on the frames, ``marks`` what is drawn around people (none: colour words
    are left alone), ``boxes`` whether it may be boxes; ``names`` of people stay even if they are colours. A
    step of which nothing is left falls out, unless nothing would be left at all.
    """
    called = {word.lower() for name in names for word in name.split()}
    circles = _circles(tuple(marks), frozenset(called), boxes)
    steps: dict[str, str] = {}
    remains: list[str] = []
    for heading, text in description.steps.items():
        cleaned, left = _cleaned(text, circles, [str(shot) for shot in shots])
        if cleaned:
            steps[heading] = cleaned
            remains += left
    if not steps:
        # Nothing but leaks: the description stays, and is complained about.
        phrase = _shortened(" ".join(description.steps.values()))
        return description, (phrase,) if phrase else ()
    return replace(description, steps=steps), tuple(dict.fromkeys(remains))


def _cleaned(text: str, circles: _Circles | None, shots: Sequence[str]) -> tuple[str, list[str]]:
    """A step without what leaked, and what could not be taken out."""
    for pattern in _UNQUOTED:
        text = pattern.sub(lambda match: "".join(filter(None, match.groups())), text)
    # What is quoted is read from the story ("Shot 2" on a label), so nothing is taken out of it.
    quoted, hidden = [text[start:end] for start, end in quotations(text)], text
    for start, end in reversed(quotations(text)):
        hidden = f"{hidden[:start]}{_QUOTED}{hidden[end:]}"
    marks_of: dict[str, list[str]] = {}
    sentences = [_sentence(sentence, circles, shots, marks_of) for sentence in split_sentences(hidden)]
    cleaned = " ".join(filter(None, sentences))
    patterns = [_LABELS]
    if circles and not _PAPER.search(cleaned):
        patterns += circles.remains
    if not _SCREEN.search(cleaned):
        patterns.append(_MEDIA)
    remains = []
    for pattern in patterns:
        remains += [_shortened(match[0]) for match in pattern.finditer(cleaned)]
    next_quoted = iter(quoted)
    return re.sub(_QUOTED, lambda _: next(next_quoted, ""), cleaned), remains


def _sentence(
    sentence: str, circles: _Circles | None, shots: Sequence[str], marks_of: dict[str, list[str]]
) -> str:
    """The sentence without what leaked, or nothing where it was about nothing else.

    ``marks_of`` has, for each word for a person in the step so far ("man"), the marks that went with it.
    """
    if len(sentence) > _LONGEST:
        return sentence
    # A circle on a calendar or a map may be one of the story.
    circles = None if _PAPER.search(sentence) else circles
    if _ABOUT_LABELS.search(sentence) or (circles and circles.about.search(sentence)):
        return ""
    line = sentence
    if circles is not None:
        line = circles.apart.sub(lambda match: _without_mark(match, marks_of), line)
        for pattern, instead in circles.gone:
            line = pattern.sub(instead, line)
    # Numbers of shots alone, as a source is cited: "[2, 3] Ann sits."
    line = re.sub(rf"^[(\[]{any_of(shots)}(?:, ?{any_of(shots)})*[)\]] ", "", line)
    for pattern, instead in _SHOT_TALK if _SCREEN.search(line) else (*_SHOT_TALK, *_MEDIA_TALK):
        before, line = line, pattern.sub(instead, line)
        if line != before:
            line = _capital(line)
    return sentence if line == sentence else _finished(line)


def _without_mark(match: re.Match[str], marks_of: dict[str, list[str]]) -> str:
    """The person in a phrase such as "the man in the red circle", without the mark.

    Where two people are called by the same word, the second becomes "the other man"; more cannot be kept
    apart without their marks, and stay as they are. ``marks_of`` as in `_sentence`.
    """
    person, mark = match["who"], " ".join(re.findall(r"[a-z]{3,}|\d+", match["mark"].lower()))
    marks = marks_of.setdefault(person.lower(), [])
    if mark not in marks:
        marks.append(mark)
    article, number = match["article"] or "", marks.index(mark)
    if number > 1:
        return match[0]
    if number == 1:
        second = {"the": "the other ", "The": "The other ", "a": "another ", "A": "Another "}
        article = second.get(article.strip(), article)
    comma = "," if match[0].endswith(",") and not match["mark"].startswith(",") else ""
    return f"{article}{person}{comma}"


def _capital(line: str) -> str:
    line = line.lstrip(" ,;:–—-")
    return line[:1].upper() + line[1:]


def _finished(line: str) -> str:
    """What is left of a sentence, with a capital and an end; nothing where no word is left."""
    line = re.sub(r"\s+", " ", line)
    line = re.sub(r" ?\(\s?\)| ?\[\s?\]", "", re.sub(r" (?=[,.;:!?])", "", line))
    line = _capital(re.sub(r"(?:[,;:] ?)+(?=[,;:.!?]|$)", "", line).strip())
    if not any(char.isalnum() or char == _QUOTED for char in line):
        return ""
    return line if line.endswith((".", "!", "?", "…", _QUOTED, '"', "'")) else f"{line}."


def _shortened(phrase: str) -> str:
    return " ".join(phrase.split()[:8]).strip(" ,.;:")


def any_of(words: Iterable[str]) -> str:
    """A pattern of any of these words, the longest first; of none it finds nothing."""
    return f"(?:{'|'.join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w))) or '(?!)'})"


_SCREEN = re.compile(
    r"\b(?:screens?|monitors?|televisions?|tvs?|laptops?|tablets?|project(?:or|ed)|tape|watch(?:es|ing)?"
    r"|rewinds?|security camera|phone)\b",
    re.IGNORECASE,
)
"""Where one of these is in the sentence, a video or an image may be a thing of the story."""

_PAPER = re.compile(
    r"\b(?:dates?|days?|calendars?|maps?|words?|articles?|newspapers?|pages?|targets?|lists?|letters?"
    r"|photo(?:graph)?s?|board|charts?|diagrams?|dartboard|bull'?s[- ]eye|blueprints?|advertisements?"
    r"|floor|mat)\b",
    re.IGNORECASE,
)
"""Where one of these is in the sentence, a circle may be drawn in the story."""

_NUMBER = r"(?:\[?[Ss]hots? ?(?:#|number )?\d{1,2}\b\]?)"
_SHOTS = (
    rf"(?:\[?(?:the )?{_NUMBER}(?:(?:,? (?:and|to|through|or|&) |, ?| ?[-–&/] ?)"
    r"\[?(?:[Ss]hots? ?)?#?\d{1,2}\b(?! (?:men|women|people|times|of))\]?){0,8}\]?)"
)
SHOTS = re.compile(_SHOTS)
"""A mention of shots by their numbers: ``[Shot 2, Shot 3]``, ``shots 2 and 3``."""

_IN = r"(?:in|during|throughout|across|from|by|at|within|over|between|for|on|of)"
_PART = r"(?:the (?:very )?(?:start|beginning|end|middle|course|rest|background) of )?"
_ORDINAL = r"(?:first|second|third|fourth|last|final|next|previous|current|opening|same)"
_THING = r"(?:(?:video|film|movie)? ?clips?|videos?|footage|frames?|images?|scenes?|sequences?|shots?)"
_FILM = rf"(?:(?:this|these|the|each|that|both|all) (?:{_ORDINAL} )?{_THING})"
_ADVERB = r"(?:then |also |now |primarily |mainly |first |briefly |slowly |clearly |initially |both )?"
_SHOWS = (
    r"(?:shows?|depicts?|features?|captures?|reveals?|presents?|displays?|portrays?|follows?|highlights?"
    r"|focus(?:es)? on|(?:begins?|starts?|opens?|ends?) (?:with|on)|(?:cuts?|transitions?|shifts?|moves?) to"
    r"|takes? place|(?:is|are) set)"
)
_CAMERA = (
    r"(?:shows?|follows?|tracks?|captures?|reveals?|lingers on|stays? on|focus(?:es)? on|zooms? in on"
    r"|(?:pans?|cuts?|moves?|shifts?|tilts?|turns?|zooms?|pulls?)(?: up| down| in| out| back)?"
    r" (?:to|across|over|around)|is (?:focused|fixed|trained) on)(?: show| reveal)?"
)
_SIZES = r"(?:(?:wide|medium|long|full|tracking|establishing|aerial|overhead|close|extreme|brief|final) )"
_END = r"(?=\s*(?:[,.;]|$)| (?:and|while|as|who|where)\b)"
_UNQUOTED = (
    re.compile(rf"[\"'“‘]({_SHOTS})[\"'”’]"),
    re.compile(r"((?<=[.!?] )|(?<=\) ))\[\s*shots? [^\]]{0,60}\][\s:,–—-]*", re.IGNORECASE),
    re.compile(
        r"[\"'“‘](\w+)[\"'”’](?= (?:circle|ellipse))|(\b(?:tag|tagged|labell?ed) )[\"'“‘](\d+)[\"'”’]"
    ),
)
"""What is no quotation of the story: labels in quotation marks, and between sentences in brackets."""

_MANY_SHOTS = rf"(?:both )?{_SHOTS}(?: (?:to|and|through) {_SHOTS})*"
_SHOT_TALK = tuple(
    (re.compile(pattern, re.IGNORECASE), "")
    for pattern in (
        r"^\[\s*shots? [^\]]{0,60}\][\s:,–—-]*",
        rf"^(?:(?:and|then),? )?(?:{_IN} )?{_PART}{_MANY_SHOTS}(?:\s*[:–—]|,? (?:{_ADVERB}{_SHOWS} )?)\s*",
        rf",? ?\b(?:as )?(?:seen |shown )?{_IN} {_PART}{_MANY_SHOTS},?(?=[\s.;,!?]|$)",
        rf"(?:(?<!\s)\s+)?[(\[][^()\[\]]{{0,80}}{_NUMBER}[^()\[\]]{{0,80}}[)\]]",
    )
)
"""Mentions of shots by number, and what takes their place."""

_MEDIA_TALK = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (rf"^(?:(?:and|then),? )?{_IN} {_PART}{_FILM}, ", ""),
        (rf"^(?:as|when|while|once) (?:{_FILM}|the camera (?!in\b|on\b))[^,]*, ", ""),
        (rf"^(?:then,? )?{_FILM} {_ADVERB}{_SHOWS} (?:that )?", ""),
        (rf"^the camera (?:slowly |then )?{_CAMERA} ", ""),
        (rf"^(?:an? |the )?(?:{_SIZES}*close-ups?|{_SIZES}+(?:shots?|views?)) (?:of|{_SHOWS}) ", ""),
        (r"^(?:here,? )?we (?:can |then |now )?see ", ""),
        (
            r"(?<!\btakes)(?<!\btake)(?<!\btakes )(?<!\btake ),? ?\b(?:as )?(?:seen |shown )?"
            rf"(?:in|during|throughout|across|over|at|by) {_PART}(?:(?:this|these) (?:{_ORDINAL} )?{_THING}"
            rf"|the (?:{_ORDINAL} )?(?:(?:video )?clip|video|footage|frames|sequence|shots|scene)"
            rf"|the {_ORDINAL} (?:shot|frame|image)){_END}",
            "",
        ),
        (r",? ?\b(?:as|while|when|and|with) the camera (?!in\b|on\b|from\b|to his\b|to her\b)[^,.;]*", ""),
        (r"\b(side|cent(?:er|re)|corner|edge|(?:fore|back)ground) of (?:the|this) (?:frame|image)\b", r"\1"),
        (r"\b(enters?|exits?|leaves?|entering|exiting|leaving) the frame\b", r"\1"),
        (r"\b(walk|run|step|move|ride|drive)(s|ing)? out of (?:the )?frame\b", r"\1\2 away"),
        (r"\b(walk|run|step|come|move|ride|drive)(s|ing)? into (?:the )?frame\b", r"\1\2 in"),
    )
)
"""Talk of the film as a film, and what takes its place."""

_ABOUT_LABELS = re.compile(
    rf"(?:\b(?:shot|frame) (?:labels?|numbers?)\b|{_NUMBER}|\blabel(?:led|s)?\b)[^.]{{0,160}}"
    r"\b(?:top[- ]left|corner|caption|overlay|same (?:camera|set-?up|angle|framing))\b"
    r"|^the camera(?: angle| view)? (?:slowly |then |slightly )*"
    r"(?:changes|shifts|pans|zooms|tilts|moves|pulls|cuts|rotates|remains|stays|is)"
    r"(?: (?:in|out|left|right|up|down|back|away|around|slowly|closer|static|still|fixed|steady|to the left"
    r"|to the right))*\W*$",
    re.IGNORECASE,
)
"""Of a sentence that speaks of nothing but labels and the camera."""

_LABELS = re.compile(
    r"\[?(?:\bShots? |(?:(?<=\bin )|(?<=\bof )|(?<=\bfrom )|(?<=\band )|(?<=\bthe ))shots? )#?\d{1,2}\b\]?"
    r"|\b[Ss]hot (?:labels?|numbers?)\b|\b[Ff]rame (?:#|number )?\d+\b"
)
_MEDIA = re.compile(
    rf"\b(?:this|these) (?:{_ORDINAL} )?(?:video|clip|footage|frames?|images?|shots?)\b"
    rf"|\bthe (?:video|clip|footage) (?:{_SHOWS}|begins?|starts?|ends?|opens?|cuts?|continues)\b"
    rf"|\bthe {_ORDINAL} frames?\b|\b(?:in|into|out of|off) frame\b"
    r"|\bthe (?:shot|scene|frame) (?:cuts|shows|changes|shifts|switches|depicts)\b"
    r"|\bclose-ups? (?:shot |view )?of\b|\b(?:wide|medium|long|tracking|establishing|aerial) shots?\b"
    r"|\bthe camera (?:slowly |then )?"
    r"(?:pans?|zooms?|tilts?|focus(?:es)?|cuts?|follows?|moves?|shows?|reveals?|angle)\b",
    re.IGNORECASE,
)
"""What is named where it could not be taken out."""


@dataclass(frozen=True, slots=True)
class _Circles:
    """Patterns for the marks of one clip: sentences, people told by a mark, what goes, what is named."""

    about: re.Pattern[str]
    apart: re.Pattern[str]
    gone: tuple[tuple[re.Pattern[str], str], ...]
    remains: tuple[re.Pattern[str], ...]


_PERSON = (
    r"m[ae]n|wom[ae]n|boys?|girls?|persons?|people|characters?|individuals?|figures?|guys?|lad(?:y|ies)|child"
    r"|children|kids?|soldiers?|officers?|ones?|someone|somebody|actors?|actress(?:es)?|s?he|him|her|the[ym]"
)
_MARKED = (
    r"(?:circled|encircled|marked|highlighted|labell?ed|indicated|outlined|identified|surrounded|enclosed"
    r"|tagged|boxed)"
)
_ROUND = r"(?:circles?|ellipses?|ovals?|outlines?|bounding box(?:es)?)"
_AROUND = r"(?: (?:around|on|over) (?:his|her|their|the|[\w-]+'s) (?:faces?|heads?|bod(?:y|ies)))?"
_NO_THING = r"(?! (?:of|tattoos?|earrings?|scars?|badges?|logos?|stickers?|patch(?:es)?)\b)"
_STYLES = r"(?:dashed|dotted|broken|doubled?|light|dark|bright|solid|thick|thin)(?:[- ]lined)?"
_ALIKE = ("magenta", "purple", "fuchsia", "violet", "turquoise", "teal", "aqua", "light blue", "lime")
"""What models call the colours of marks too."""


@lru_cache(maxsize=64)
def _circles(marks: tuple[FrameMark, ...], called: frozenset[str], boxes: bool) -> _Circles | None:
    """The patterns for such marks; ``called`` are words of people's names."""
    if not marks:
        return None
    mark_colours = list(dict.fromkeys(mark.colour.lower() for mark in marks))
    colour = any_of([*mark_colours, *COLOURS, *_ALIKE])
    tag = any_of(mark.tag for mark in marks if mark.tag)
    bearing = rf"(?:,? (?:(?:and )?(?:with )?(?:the )?(?:tag(?:ged)?|label(?:led)?|number(?:ed)?) )?{tag}\b)?"
    shown = (
        rf"(?:(?:{_STYLES}[- ,]+)?{colour}(?:(?: and |/|, ){colour})?(?:[- ]colou?red)?(?:,? {_STYLES})?"
        rf"|{_STYLES})"
    )
    shape = _ROUND.replace("circles?", "circles?|box(?:es)?") if boxes else _ROUND
    who_is = r",? ?(?:(?:who|which|that) (?:is|are) |whose (?:face|head) is )?"
    marked = (
        rf"{who_is}{_MARKED} (?:in|by|with|as|using)(?: an?| the)? {shown}"
        rf"(?: {shape}|(?=[,.;)]|$| (?:and|who|is|as|while|\w+s)\b)){_AROUND}"
    )
    inside = rf"{who_is}\b(?:in|inside|within|by|with)(?: an?| the)? {shown} {shape}\b{_NO_THING}{_AROUND}"
    tagged = rf"{who_is}(?:with (?:the )?tag|tagged|labell?ed) {tag}\b"
    mark = rf"(?P<mark>(?:{marked}|{inside}){bearing}|{tagged})"
    gone = (
        (rf"\s*[(\[](?:(?:the|an?|in|with|by|{_MARKED}) )*{shown}(?: {shape})?{_AROUND}{bearing}[)\]]", ""),
        (rf"\s*[(\[](?:tag(?:ged)? )?#?{tag}[)\]]", ""),
        (rf" (?:is|are)(?:{marked}|{inside}){bearing}(?:,? and (?:he |she |they )?(?=\w+s\b))?", " "),
        (rf"^(?:in|inside|within) (?:the|an?) {shown} {shape}, ", ""),
        (rf"(?:^|(?<=[.;,] )){shown} {shape} ?[:=–—-] ?", ""),
        (rf" ?[:=–—-] ?{shown} {shape}\b", ""),
        (rf"\b(?:{shown}[- ])?circled (?=(?:{_PERSON})\b)", ""),
    )
    about = (
        rf"^(?:(?:the|an?|these|some) |there (?:is|are) (?:an? |the )?)?(?:{shown} |colou?red ){shape}\b"
        r"(?! ?[:=])[^.]{0,160}\b(?:marks?|indicates?|highlights?|identif\w+|shows?|are|is|around)\b"
        rf"|^(?:the )?(?:tag|label|number) {tag} (?:marks?|indicates|identifies)\b|\bcolou?red {_ROUND}\b"
    )
    person = rf"(?P<article>\b(?:the|an?) )?(?P<who>\b(?:{_PERSON}|(?-i:[A-Z][\w'-]*\w)))"
    colours = [colour_word for colour_word in mark_colours if colour_word not in called]
    # "a white figure" is of the story
    not_white = any_of(colour_word for colour_word in colours if colour_word != "white")
    capitalized = any_of(colour_word.capitalize() for colour_word in colours)
    capital = rf"(?:(?:Dashed|Double) {not_white}|{capitalized})"
    remains = (
        rf"(?i:\b(?:the )?{shown} {_ROUND}\b{_NO_THING}(?! on\b| painted| drawn on))",
        rf"(?i:\b{_MARKED} (?:in|by|with|as) (?:an? |the )?{shown}(?=\s*(?:[,.;)]|$)))",
        rf"\b(?:[Tt]he|[Aa]) (?:(?:dashed|double) )?{not_white} "
        r"(?:character|person|one|individual|figure)s?\b",
        rf"(?:^|(?<=[.;] )){capital}(?= (?:looks?|is|walks?|stands?|sits?|turns?|runs?|and {capital})\b)",
        rf"(?:(?<=\bat )|(?<=\bto )|(?<=\band )){capital}(?=[.,;]|$| [a-z])",
        rf"\b[Tt]ag(?:ged)? (?:number |#)?{tag}\b",
    )
    return _Circles(
        re.compile(about, re.IGNORECASE),
        re.compile(rf"{person}{mark},?(?!\w)", re.IGNORECASE),
        tuple((re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in gone),
        tuple(map(re.compile, remains)),
    )
