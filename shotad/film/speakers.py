"""Speakers as subtitles name them: labels, voice tags, names in brackets, actors of ASS events.

The forms are those of the BBC's and Netflix's guides for deaf people's subtitles, of WebVTT's voice spans and
of the column Name of ASS. A label that names a role, a crowd or a sound (``MAN 1``, ``ALL``, ``DOOR SLAMS``)
is nobody's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shotad.core.cast import PARTICLES

_OPEN, _CLOSE = "\ue000", "\ue001"
"""Marks around the speaker of a voice tag while other tags are removed. They are from Unicode's private use
area, which no subtitle needs."""

_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]++([^<>]*)>")
_VOICE_END = re.compile(r"</v\s*>")
_MARK = re.compile(rf"^\s*(?:[-‐–—―•]\s*)?{_OPEN}([^{_CLOSE}]*){_CLOSE}")
_TURN = re.compile(r"^\s*(?:>>+|[-‐–—―•]+)\s*(?=\S)")
_COLON = re.compile(r"^([^\W\d_][^:\n]{0,39}?)\s*:(?=\s+\S|\s*$)")
_BRACKET = re.compile(r"^[\[(（【]\s*+([^\[\]()（）【】\n]{1,40}?)\s*+[\])）】]\s*+:?\s*")
_ASIDE = re.compile(
    r"(?:(?<!\s)\s+)?(?:[\[(（【][^\[(（【\])）】]*[\])）】]|,.*|(?:'s|’s) voice)\s*", re.IGNORECASE
)
_NAME = re.compile(r"[^\W\d_a-zß-öø-ÿ](?:[\w.'’]|-(?=\w))*")
_JOINT = re.compile(r"(?:(?<!\s)\s+)?(?:&|/|\+|\band\b|\bAND\b)\s*")


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ROLES = _word_set(
    """
    man men woman women boy boys girl girls guy guys lady ladies gentleman gentlemen male female kid kids
    child children baby person people crowd all both everyone everybody together group chorus others other
    audience fans team crew students soldiers guards cops police men's women's narrator narration voice
    voices voiceover announcer reporter presenter newsreader anchor anchorman anchorwoman host interviewer
    moderator speaker unknown commentator computer machine robot radio tv television phone recording
    intercom loudspeaker pa gps officer policeman policewoman cop guard soldier driver cabbie pilot nurse
    doctor paramedic surgeon waiter waitress bartender barman maid butler clerk cashier receptionist
    operator dispatcher dispatch caller agent secretary assistant teacher student pupil priest judge
    bailiff lawyer attorney customer passenger stranger neighbour neighbor singer actor director vendor
    salesman shopkeeper worker foreman hostess villager bystander witness thug henchman prisoner inmate
    mother father mum mom dad son daughter brother sister wife husband old young elderly older younger
    first second third fourth another little big tall fat blonde black white voice-over v.o vo o.s os on
    off screen foreign interpreter translator translation subtitle subtitles caption captions lyrics title
    text sign dialogue speech default main alt alternate top bottom italics italic style ntp note notes
    flashback thoughts song singing music narrador narradora narrateur narratrice narratore sprecher
    sprecherin erzähler erzählerin ナレーター homme femme hombre mujer niño niña uomo donna ragazzo ragazza
    mann frau junge mädchen homem mulher garoto garota 男 女
    """
)

_SOUNDS = re.compile(
    r"(?:laugh|sigh|gasp|groan|moan|scream|shout|sob|cries|cry|cough|chuckl|giggl|snort|sniff|grunt|pant|whisper|"
    r"mutter|mumbl|music|applau|cheer|clap|beep|buzz|ring|bark|knock|door|phone|thunder|gunshot|gunfire|explo|"
    r"engine|siren|horn|silence|inaudible|indistinct|chatter|sing|hum|whistl|growl|roar|yell|exhal|inhal|breath|"
    r"click|creak|crash|bang|thud|step|footstep|speak|talk|scoff|clear|gulp|retch|vomit|burp|belch|hiccup|snor|"
    r"squeal|shriek|wail|whimper|whine|yawn|groans|murmur|chant|echo|static|alarm|bell|tick|splash|wind|rain|in|"
    r"on|off|over|to|with|at|by|imitat|mimick|quiet|loud|soft|sarcast|angr|slur|continu|cont'd|pause|beat|theme|"
    r"song|tune|instrumental|bleep|censored|laughter)\w*",
    re.IGNORECASE,
)
"""First words of captions in brackets that name a sound or a manner, not a speaker."""

_NO_SPEAKERS = _word_set(
    """
    note notes nb ps warning attention caution remember reminder listen look see question answer example
    remark conclusion result results summary update breaking news headline date time place subject re from
    to cc title author director producer screenplay cast music story written episode chapter part act
    scene previously today tonight tomorrow yesterday monday tuesday wednesday thursday friday saturday
    sunday yes no well so okay ok but and or then now here there this that these those it i you he she we
    they what who why how when where one two three four five rule step lesson fact facts truth problem
    point correction option plan case in conclusion
    """
)
"""Words before a colon that nobody is called."""


def speaker_of(label: str) -> str:
    """The name in a label, in the usual spelling; several joined with ``and``; empty where it names nobody.

    >>> speaker_of("JOHN O'BRIEN (V.O.)"), speaker_of("Thom, whispering"), speaker_of("MAN 1")
    ("John O'Brien", 'Thom', '')
    """
    label = _ASIDE.sub(" ", label).strip()
    names = [_name_in(part) for part in _JOINT.split(label)]
    return " and ".join(names) if all(names) else ""


_POSSESSIVE = re.compile(r"['’][sS]\Z")
"""``Boon's mother`` is not called so."""
_SHORT = frozenset(("DR", "MR", "MRS", "MS", "ST", "JR", "SR"))


def _name_in(label: str) -> str:
    """The name in a label of one speaker, in the usual spelling; empty where it names nobody."""
    label = label.strip(" :-\t\"'")
    # A stop after two letters ends the label; after one it belongs to an initial.
    words = re.sub(r"(?<=\w\w)\.$", "", label).split()
    if not 1 <= len(words) <= 4:
        return ""
    for word in words:
        # Chinese, Japanese, Arabic: a name cannot be told by its capital.
        is_caseless = word[0].isalpha() and word[0].lower() == word[0].upper()
        if not (_NAME.fullmatch(word) or word.lower() in PARTICLES or is_caseless):
            return ""
    if words[0].lower() in PARTICLES - {"the"}:
        return ""
    roles = _ROLES | PARTICLES
    if all(word.lower().strip(".'’") in roles for word in words) or _POSSESSIVE.search(words[0]):
        return ""
    return " ".join(_with_usual_case(word) for word in words)


def _with_usual_case(word: str) -> str:
    """``JOHN → John``, ``O'BRIEN → O'Brien``, ``McGEE → McGee``; initials and mixed case stay."""
    letters = word.replace(".", "")
    if len(letters) < 2 or (word[:2] in ("Mc", "Ma") and not word.isupper()):
        return re.sub(r"(?<=[a-z][A-Z])([A-Z]+)", lambda m: m[0].lower(), word)
    if not word.isupper() or ("." in word and letters not in _SHORT and len(letters) <= 3):
        return word
    capitalised = re.sub(r"[^\W\d_]+", lambda m: m[0][0] + m[0][1:].lower(), word)
    return re.sub(r"(?<=['’])S$", "s", capitalised)


def marked(raw: str) -> str:
    """``raw`` with its voice tags as marks, which `strip_tags` keeps, each at the begin of a line."""
    text = _VOICE.sub(lambda m: f"\n{_OPEN}{m[1].strip()}{_CLOSE}", raw)
    # After an end tag nobody is named, hence a mark without a name.
    end_mark = f"\n{_OPEN}{_CLOSE}" if _VOICE.search(raw) else ""
    return _VOICE_END.sub(end_mark, text)


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """The speaker (empty: not named) and the text of each turn in a cue.

    ``text`` has been through `marked` and then `strip_tags`. A turn begins at a label or a dialogue dash.
    Labels stay in the text, marks do not.
    """
    lines: list[str] = []
    speaker = ""
    for line in text.split("\n"):
        name, begins_turn = _speaker_in(line)
        if begins_turn:
            if any(previous.strip() for previous in lines):
                yield speaker, "\n".join(lines)
                lines = []
            speaker = name
        lines.append(_MARK.sub("", line))
    if any(previous.strip() for previous in lines):
        yield speaker, "\n".join(lines)


def _speaker_in(line: str) -> tuple[str, bool]:
    """The name at a line's start (empty: none), and whether somebody begins to speak there."""
    mark = _MARK.match(line)
    if mark is not None:
        return speaker_of(mark[1]), True
    dash = _TURN.match(line)
    rest = line[dash.end() :] if dash else line.strip()
    bracket = _BRACKET.match(rest)
    if bracket is not None:
        name = _bracketed_name(bracket[1])
        return (name, True) if name else ("", dash is not None)
    colon = _COLON.match(rest)
    if colon is None:
        return "", dash is not None
    label = colon[1]
    words = label.lower().split()
    if words[0].strip(".,") in _NO_SPEAKERS or (_SOUNDS.fullmatch(words[0]) and len(words) > 1):
        return "", dash is not None
    name = speaker_of(label)
    # A label in capitals begins a turn even of nobody by name: ``MAN 1: Hello.``
    return name, bool(name) or dash is not None or label.isupper()


def _bracketed_name(caption: str) -> str:
    """The name in ``[Thom] Who's there?``; empty for a sound, as in ``(DOOR SLAMS) Who's there?``."""
    words = caption.split(",", maxsplit=1)[0].split()
    if not words or any(_SOUNDS.fullmatch(word) for word in words):
        return ""
    # ``(TYRES SCREECHING)``, ``(DOG RUNS)``: a verb, not a surname
    if len(words) > 1 and caption.isupper() and re.search(r"(?:[^S]S|ING)$", words[-1]):
        return ""
    return speaker_of(caption) if words[0].lower() not in _NO_SPEAKERS else ""


def of_actor(name: str) -> str:
    """The speaker in the column Name of an ASS event; empty where the column holds something else."""
    # Subtitlers write numbers, style names and commands there too.
    is_name = re.search(r"[\d_{}\\]", name) is None
    return speaker_of(name) if is_name else ""
