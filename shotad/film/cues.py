"""Subtitle files as utterances: SRT, WebVTT, ASS and SSA, through pysubs2."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from shotad.core.errors import SubtitleError
from shotad.core.types import Interval, SpeechKind, Utterance
from shotad.film.captions import Said, read_turns
from shotad.film.speakers import of_actor

LARGEST_FILE = 16 << 20
"""Bytes; the subtitles of a long film have about 0.2 MB, so a larger file is something else."""
HINT = "Give an SRT, WebVTT, ASS or SSA file, or leave --subtitles out to listen to the sound."
_SIGN_STYLE = re.compile(
    r"(?<![a-z])signs?(?![a-z])|typeset|(?<!sub)titles?\b|on-?screen|(?<![a-z])notes?\b|logo|credit",
    re.IGNORECASE,
)
_SONG_STYLE = re.compile(r"\b(?:op|ed)\b|song|karaoke|lyric|romaji|kanji|insert", re.IGNORECASE)


def read_subtitles(path: str | Path) -> tuple[Utterance, ...]:
    """All that is spoken or sung according to a subtitle file, by start time; seconds of the film.

    Sound captions, tunes, on-screen signs and the subtitlers' own credits are no utterances. A cue
    that ends before it starts lasts as long as its words take. Raises SubtitleError.
    """
    path = Path(path)
    return parse_subtitles(_decode(_read_bytes(path), path), str(path))


def parse_subtitles(text: str, name: str = "subtitles") -> tuple[Utterance, ...]:
    """`read_subtitles` for text that is already in memory; ``name`` stands in errors."""
    import pysubs2

    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    kind = _format_of(text, name)
    options = {"keep_html_tags": True} if kind in ("srt", "vtt") else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            subs = pysubs2.SSAFile.from_string(
                _vtt_cues(text) if kind == "vtt" else text, format_=kind, **options
            )
    except (pysubs2.exceptions.Pysubs2Error, ValueError, KeyError, IndexError) as error:
        raise SubtitleError(f"{name} is damaged: {error}.", HINT) from None
    if not subs.events and kind != "vtt":
        raise SubtitleError(f"{name} holds no subtitle.", HINT)
    return ordered(said for event in subs.events for said in _utterances(event))


def ordered(utterances: Iterable[Utterance]) -> tuple[Utterance, ...]:
    """By start, each only once (typeset ASS repeats a line in several layers)."""
    return tuple(sorted(dict.fromkeys(utterances), key=lambda u: (u.interval, u.text)))


def _read_bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise SubtitleError(f"{path} has {path.stat().st_size} bytes, too many for subtitles.", HINT)
        data = path.read_bytes()
    except OSError as error:
        raise SubtitleError(f"The subtitles {path} cannot be read: {error.strerror}.", HINT) from None
    if not data.strip():
        raise SubtitleError(f"The subtitles {path} are empty.", HINT)
    return data


def _decode(data: bytes, path: Path) -> str:
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    head = data[:4096]
    if head.count(0) > len(head) // 4:
        text = data.decode(
            "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be", "replace"
        )
        if "-->" in text or "Dialogue:" in text:
            return text
    if 0 in data:
        raise SubtitleError(f"{path} is no text.", HINT)
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _format_of(text: str, name: str) -> str:
    if text.lstrip().startswith("WEBVTT"):
        return "vtt"
    if re.search(r"^[^\S\n]*\[(?:Script Info|V4\+? Styles|Events)\]", text, re.MULTILINE | re.IGNORECASE):
        return "ssa" if re.search(r"^[^\S\n]*\[V4 Styles\]", text, re.MULTILINE | re.IGNORECASE) else "ass"
    if re.search(r"^[^\S\n]*\d+:\d+:\d+[,.:]\d+\s*-->", text, re.MULTILINE):
        return "srt"
    raise SubtitleError(f"{name} is in no known subtitle format.", HINT)


def _vtt_cues(text: str) -> str:
    """WebVTT with nothing but its cues: pysubs2 would read a note or a named cue id as words.

    Time tags go too, for two of them in one line look like the times of a cue.
    """
    cues = []
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").split("\n")
        at = next((i for i, line in enumerate(lines[:2]) if "-->" in line), None)
        if at is not None and not lines[0].startswith(("NOTE", "STYLE", "REGION")):
            payload = [re.sub(r"<[\d:.]+>", "", line) for line in lines[at + 1 :]]
            cues.append("\n".join([lines[at], *payload]))
    return "WEBVTT\n\n" + "\n\n".join(cues) + "\n"


def _utterances(event: object) -> Iterator[Utterance]:
    text, style = str(getattr(event, "text", "")), str(getattr(event, "style", ""))
    if getattr(event, "is_comment", False) or getattr(event, "is_drawing", False):
        return
    start, end = getattr(event, "start", 0) / 1000, getattr(event, "end", 0) / 1000
    yield from utterances_in(text, start, end, style=style, actor=str(getattr(event, "name", "")))


def utterances_in(
    text: str, start: float, end: float, *, style: str = "", actor: str = ""
) -> Iterator[Utterance]:
    """What is said in one cue or ASS event of ``[start, end)`` seconds, none where nothing is.

    A cue of several speakers is shared out among them by their words. ``style`` as in `said_in`; ``actor`` is
    who speaks where the text does not say.
    """
    turns = said_in(text, style)
    if not turns:
        return
    whole = spoken_interval(start, end, " ".join(said.text for said in turns))
    words = [max(1, len(said.text.split())) for said in turns]
    at = whole.start
    for i, said in enumerate(turns, 1):
        until = whole.end if i == len(turns) else whole.start + whole.duration * sum(words[:i]) / sum(words)
        speaker = said.speaker or (of_actor(actor) if len(turns) == 1 else "")
        yield Utterance(Interval(at, until), said.text, said.kind, speaker)
        at = until


def said_in(text: str, style: str) -> tuple[Said, ...]:
    """The words of an ASS event or cue; a style named for signs is text on screen, one for songs sung."""
    if re.search(r"\\p[1-9]", text) or (_SIGN_STYLE.search(style) and not _SONG_STYLE.search(style)):
        return ()
    turns = read_turns(text)
    if turns and _SONG_STYLE.search(style):
        return (Said(" ".join(said.text for said in turns), SpeechKind.LYRICS),)
    return turns


def spoken_interval(start: float, end: float, text: str) -> Interval:
    """``[start, end)``, or as long as the words take where the cue ends before it starts."""
    if end <= start:
        end = start + max(1.0, 0.4 * len(text.split()))
    return Interval(start, end)
