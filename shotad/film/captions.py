"""What a subtitle cue says: spoken words, sung words, or only a sound.

Captions for deaf people name sounds in brackets and mark songs with notes (the BBC's and Netflix's
subtitle guides; older British files use ``#`` for a note). Only words keep a describer silent.
Where a cue can be read either way it counts as speech: a line over dialogue is worse than a gap missed.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace

from shotad.core.printable import seen
from shotad.core.types import SpeechKind
from shotad.film.speakers import marked, pieces

_TAGS = re.compile(r"</?\s*[A-Za-z.][^<>]*>|<\d[\d:.]*>|<\s*+(?:/\s*+)?>|\{\\[^{}]*\}")
_BRACKETED = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|（[^（）]*）|【[^【】]*】|［[^［］]*］|\*[^*\n]+\*")
_UNCLOSED = re.compile(r"^\s*[\[(（【［](?:[^\s\])）】］]++\s*+){1,8}$|^[^\[【［]*[\]】］]\s*$")
_NOTES = "♪♫♬♩"
_NOTE = re.compile(rf"[{_NOTES}]")
_SUNG = re.compile(rf"[{_NOTES}][^{_NOTES}]*(?:[{_NOTES}]|$)", re.DOTALL)
_HASH_SONG = re.compile(r"^\s*#\s.*#\s*$", re.DOTALL)
_LABEL = re.compile(
    r"^\s*(?:>>+\s*)?(?:[^\W\d_a-zß-öø-ÿ][^\Wa-zß-öø-ÿ]*(?:[ .'#&-]+[^\Wa-zß-öø-ÿ]+){0,3}\s*:(?=\s|$))"
)
_MIXED_LABEL = re.compile(r"^\s*>>+\s*[^:\n]{1,30}:\s")
_LEAD = re.compile(r"^\s*(?:>>+|[-‐–—―•]+)\s*")
_WORD = re.compile(r"\w")
_TUNE = re.compile(
    r"^(?-i:[a-z])[^.!?]*\b(?:music|musical|tune|melody|theme|song|instrumental|orchestra\w*|piano|guitar|drum\w*|"
    r"fanfare|score|jingle)\b|\b(?:music|tune|melody|theme|song)\s+(?:\w+\s+){0,2}(?:play\w*|continu\w*|fad\w*|"
    r"swell\w*|stop\w*|end\w*|start\w*|begin\w*|intensif\w*|resum\w*)\b",
    re.IGNORECASE,
)
_SINGING = re.compile(
    r"\b(?:sing|sings|singing|sung|chant\w*|rap|raps|rapping|vocali[sz]\w*)\b", re.IGNORECASE
)
_SPEAKING = re.compile(
    r"\b(?i:speak|speaks|speaking|spoken|talk|talks|talking|says|saying|whisper\w*|narrat\w*|announc\w*|recit\w*|"
    r"pray|prays|praying|reads aloud|reading aloud|continues in)\b|\bin [A-Z][a-z]+(?:ese|ish|ian|an|ic|ch)\b"
)  # fmt: skip
_BACKGROUND = re.compile(
    r"\b(?:indistinct\w*|inaudibl\w*|background|distant|muffled|crowd|chatter\w*)\b", re.IGNORECASE
)
_PERSONAL = re.compile(r"\b(?:I|I'm|I'll|I've|you|you're|we|we're|let's|don't|can't)\b")
_MAKER = re.compile(
    r"^\W*(?:subtitle[sd]?|caption(?:s|ed|ing)?|sync(?:ed|hroni[sz]ed)?|transcript|ripped|corrected|translated|"
    r"encoded)\b[^\n]{0,40}\bby\b|\bopensubtitles\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://|\bwww\.|\b[\w-]+\.(?:com|org|net)\b", re.IGNORECASE)


LONGEST = 2_000
"""Characters of a cue that are read: two minutes of talk. Nobody could read more of one from a screen."""


@dataclass(frozen=True, slots=True)
class Said:
    """The words of one cue, free of marks and labels, and whether they are spoken or sung."""

    text: str
    kind: SpeechKind
    speaker: str = ""
    """Who, where the cue says so."""


def read_turns(raw: str) -> tuple[Said, ...]:
    """What `read_caption` reads, by speaker: as several where a cue names more than one.

    >>> [(said.speaker, said.text) for said in read_turns("- THOM: Who's there?\\n- ANN: It's me.")]
    [('Thom', "Who's there?"), ('Ann', "It's me.")]
    """
    raw = raw[:LONGEST]
    whole = read_caption(raw)
    if whole is None:
        return ()
    turns = list(pieces(strip_tags(marked(raw))))
    speakers = list(dict.fromkeys(speaker for speaker, _ in turns))
    if len(speakers) == 1:
        return (replace(whole, speaker=speakers[0]),)
    said = [replace(one, speaker=who) for who, text in turns if (one := read_caption(text)) and one.text]
    if whole.kind is SpeechKind.SPEECH and " ".join(one.text for one in said) == whole.text:
        return tuple(replace(one, kind=SpeechKind.SPEECH) for one in said)
    return (whole,)


def read_caption(raw: str) -> Said | None:
    """The words in a cue's text, or None where the cue names a sound, a tune or the subtitles' maker.

    ``raw`` has its lines split by newlines; formatting tags, sound captions, notes, speaker labels
    and dialogue dashes are taken off. What a cue has beyond `LONGEST` characters is left out.

    >>> read_caption("[door slams]\\n- JOHN: Who's <i>there</i>?").text
    "Who's there?"
    >>> read_caption("♪ Hello darkness ♪").kind
    <SpeechKind.LYRICS: 'lyrics'>
    """
    text = strip_tags(raw[:LONGEST])
    if not text or _is_advert(text):
        return None
    sung = bool(_NOTE.search(text) or _HASH_SONG.match(text))
    bare, captions = _split_captions(text)
    if sung:
        return _sung(bare, captions)
    words = _clean_lines(bare, keep_label=not captions)
    if words:
        return Said(words, SpeechKind.SPEECH)
    return _voiced_caption(captions)


def _is_advert(text: str) -> bool:
    """True for the subtitlers' own credit; an address inside a longer sentence may be spoken."""
    return bool(_MAKER.search(text) or (_ADDRESS.search(text) and len(text.split()) <= 4))


def strip_tags(raw: str) -> str:
    """``raw`` without HTML, WebVTT and ASS formatting, entities resolved."""
    text = raw.replace(r"\N", "\n").replace(r"\n", "\n").replace(r"\h", " ")
    text = html.unescape(_TAGS.sub("", text))
    return re.sub("[\u200c-\u200f]", "", seen(text)).replace("\xa0", " ").strip()


def _split_captions(text: str) -> tuple[str, list[str]]:
    if _UNCLOSED.match(text):
        # A caption that goes on in the next cue, or has lost one of its brackets.
        return "", [text.strip(" \n[]()（）【】［］")]
    captions: list[str] = []

    def take(match: re.Match[str]) -> str:
        inner = match.group()[1:-1].strip()
        if _is_sentence(inner):
            return inner
        captions.append(inner)
        return " "

    previous = ""
    while previous != text:
        previous, text = text, _BRACKETED.sub(take, text)
    return text, captions


def _is_sentence(inner: str) -> bool:
    """True for words in brackets that are spoken, such as an aside: ``(I told you so.)``."""
    return len(inner.split()) >= 3 and inner[-1:] in ".!?" and bool(_PERSONAL.search(inner))


def _sung(bare: str, captions: list[str]) -> Said | None:
    spoken = _clean_lines(_SUNG.sub("\n", bare)) if not _HASH_SONG.match(bare) else ""
    if spoken:
        return Said(_clean_lines(bare), SpeechKind.SPEECH)
    words = _clean_lines(bare)
    if words and (_PERSONAL.search(words) or _SINGING.search(words) or not _TUNE.search(words)):
        return Said(words, SpeechKind.LYRICS)
    return _voiced_caption(captions)


def _voiced_caption(captions: list[str]) -> Said | None:
    """``[speaking French]`` has a voice to be heard, though no words; ``[indistinct chatter]`` has none."""
    for caption in captions:
        if _BACKGROUND.search(caption):
            continue
        if _SINGING.search(caption):
            return Said("", SpeechKind.LYRICS)
        if _SPEAKING.search(caption):
            return Said("", SpeechKind.SPEECH)
    return None


def _clean_lines(text: str, *, keep_label: bool = True) -> str:
    lines = (_clean_line(line, keep_label) for line in text.split("\n"))
    return " ".join(line for line in lines if _WORD.search(line))


def _clean_line(line: str, keep_label: bool) -> str:
    """The line's words; a label without words (they follow in the next cue) stays if ``keep_label``."""
    line = re.sub(rf"[{_NOTES}]+", " ", line)
    line = re.sub(r"^\s*#\s|\s#\s*$", " ", line)
    line = _LEAD.sub("", _MIXED_LABEL.sub("", line))
    unlabelled = _LEAD.sub("", _LABEL.sub("", line))
    return " ".join((unlabelled if _WORD.search(unlabelled) or not keep_label else line).split())
