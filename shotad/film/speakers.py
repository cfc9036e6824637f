"""Who speaks, as subtitles write it: labels, voice tags, names in brackets, actors of ASS events.

The ways are those of the BBC's and Netflix's guides for deaf people's subtitles, of WebVTT's voice spans and
of the column Name of ASS. A label that names a role, a crowd or a sound (``MAN 1``, ``ALL``, ``DOOR SLAMS``)
is nobody's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shotad.core import PARTICLES

_OPEN, _CLOSE = "\ue000", "\ue001"
"""Around the speaker of a voice tag, until the other tags are gone."""

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


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ROLES = _listed(
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
"""First words of what stands in brackets and is no name."""

_NO_SPEAKERS = _listed(
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
    """The name in a label, in the usual spelling, or nothing where it names nobody.

    >>> speaker_of("JOHN O'BRIEN (V.O.)"), speaker_of("Thom, whispering"), speaker_of("MAN 1")
    ("John O'Brien", 'Thom', '')
    """
    names = [_one(part) for part in _JOINT.split(_ASIDE.sub(" ", label).strip())]
    return " and ".join(names) if all(names) else ""


_POSSESSIVE = re.compile(r"['’][sS]\Z")
"""``Boon's mother`` is not called so."""
_SHORT = frozenset(("DR", "MR", "MRS", "MS", "ST", "JR", "SR"))


def _one(label: str) -> str:
    words = re.sub(r"(?<=\w\w)\.$", "", label.strip(" :-\t\"'")).split()
    if not 1 <= len(words) <= 4:
        return ""
    for word in words:
        is_caseless = word[0].isalpha() and word[0].lower() == word[0].upper()
        if not (_NAME.fullmatch(word) or word.lower() in PARTICLES or is_caseless):
            return ""
    if words[0].lower() in PARTICLES - {"the"}:
        return ""
    roles = _ROLES | PARTICLES
    if all(word.lower().strip(".'’") in roles for word in words) or _POSSESSIVE.search(words[0]):
        return ""
    return " ".join(_spelt(word) for word in words)


def _spelt(word: str) -> str:
    """``JOHN → John``, ``O'BRIEN → O'Brien``, ``McGEE → McGee``; initials and mixed case stay."""
    bare = word.replace(".", "")
    if len(bare) < 2 or (word[:2] in ("Mc", "Ma") and not word.isupper()):
        return re.sub(r"(?<=[a-z][A-Z])([A-Z]+)", lambda m: m[0].lower(), word)
    if not word.isupper() or ("." in word and bare not in _SHORT and len(bare) <= 3):
        return word
    spelt = re.sub(r"[^\W\d_]+", lambda m: m[0][0] + m[0][1:].lower(), word)
    return re.sub(r"(?<=['’])S$", "s", spelt)


def marked(raw: str) -> str:
    """``raw`` with its voice tags as marks that outlive `strip_tags` and begin lines."""
    text = _VOICE.sub(lambda m: f"\n{_OPEN}{m[1].strip()}{_CLOSE}", raw)
    return _VOICE_END.sub(f"\n{_OPEN}{_CLOSE}" if _VOICE.search(raw) else "", text)


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Who speaks and what, of a cue that `marked` and then `strip_tags` have been through.

    A piece begins at a label or a dialogue dash. Labels stay in the text, marks do not.
    """
    at: list[str] = []
    speaker = ""
    for line in text.split("\n"):
        said, begins = _speaker_in(line)
        if begins and any(part.strip() for part in at):
            yield speaker, "\n".join(at)
            at = []
        if begins:
            speaker = said
        at.append(_MARK.sub("", line))
    if any(part.strip() for part in at):
        yield speaker, "\n".join(at)


def _speaker_in(line: str) -> tuple[str, bool]:
    """Who is named at a line's start, and whether somebody begins to speak there."""
    mark = _MARK.match(line)
    if mark is not None:
        return speaker_of(mark[1]), True
    turn = _TURN.match(line)
    rest = line[turn.end() :] if turn else line.strip()
    bracket = _BRACKET.match(rest)
    if bracket is not None:
        name = _bracketed(bracket[1])
        return (name, True) if name else ("", turn is not None)
    colon = _COLON.match(rest)
    if colon is None:
        return "", turn is not None
    words = colon[1].lower().split()
    if words[0].strip(".,") in _NO_SPEAKERS or (_SOUNDS.fullmatch(words[0]) and len(words) > 1):
        return "", turn is not None
    name = speaker_of(colon[1])
    return name, bool(name) or turn is not None or colon[1].isupper()


def _bracketed(inner: str) -> str:
    """``[Thom] Who's there?`` names somebody, ``(DOOR SLAMS) Who's there?`` a sound."""
    words = inner.split(",", maxsplit=1)[0].split()
    if not words or any(_SOUNDS.fullmatch(word) for word in words):
        return ""
    if len(words) > 1 and inner.isupper() and re.search(r"(?:[^S]S|ING)$", words[-1]):
        return ""
    return speaker_of(inner) if words[0].lower() not in _NO_SPEAKERS else ""


def of_actor(name: str) -> str:
    """The speaker in the column Name of an ASS event, which is often put to other uses."""
    return speaker_of(name) if not re.search(r"[\d_{}\\]", name) else ""
