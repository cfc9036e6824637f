"""Subtitles as utterances: from a file, or from the text tracks inside a film.

`read_subtitles` takes files of the formats in `subtitle_files`; `embedded_track` reads mov_text, SubRip, ASS
and WebVTT tracks and chooses the one to be trusted as a record of all that is said.

A cue says spoken words, sung words, or only a sound (`read_turns`). Captions for deaf people name sounds in
brackets and mark songs with notes (the BBC's and Netflix's subtitle guides; older British files use ``#`` for
a note). Only words keep a describer silent. Where a cue can be read either way it counts as speech: a line
over dialogue is worse than a gap missed.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from shotad.core import (
    FilmError,
    Interval,
    SpeechKind,
    SubtitleError,
    Utterance,
    is_tar,
    plural,
    printable,
    read_text_file,
    seen,
)
from shotad.film.container import TEXT_CODECS, exact_start, find_media, legible, packets_of
from shotad.film.speakers import marked, of_actor, pieces
from shotad.film.subtitle_files import UnknownFrameRate, parse_subtitle_text, read_clock

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.subtitles.stream import SubtitleStream

_PARTIAL_TITLE = re.compile(
    r"forced|signs|songs|comment|descri|karaoke|lyric|foreign parts|trivia", re.IGNORECASE
)  # fmt: skip
_WHOLE_TITLE = re.compile(r"\bfull\b|dialog|\bsdh\b|complete", re.IGNORECASE)
"""What makes of ``Dialogue, Signs & Songs`` a whole track again."""
_CAPTIONS_TITLE = re.compile(r"\b(?:sdh|cc|hoh|hearing)\b", re.IGNORECASE)
_WHOLE_SHARE = 0.6
"""A track with this share of the cues of the fullest one counts as whole."""
_FEWEST_PER_MINUTE = 0.5
"""Cues a minute below which a track of a long film is a few foreign lines and signs, not its speech."""
_LONG_FILM = 600.0


def embedded_track(path: Path) -> tuple[Subtitles, str] | None:
    """The text track inside a film that best tells all speech, and why this one; None if there is none.

    Times count from the container's start time. Forced tracks, signs, songs, commentary and
    descriptions are left out, then tracks with far fewer cues than the fullest; of the rest the
    language of the sound is preferred, then captions for deaf people (they mark songs and keep the
    short words that subtitles drop), then the default track, then the first. Picture tracks are not read.
    Raises FilmError for an unreadable film.
    """
    import av

    # A folder or tar of numbered frames can hold no subtitles
    if path.is_dir() or (path.is_file() and is_tar(path)):
        return None
    try:
        with find_media(path).open() as container:
            subtitles = enumerate(container.streams.subtitles)
            streams = {n: s for n, s in subtitles if s.codec_context.name in TEXT_CODECS}
            if not streams:
                return None
            heard, undecoded = _read_tracks(container, streams)
            audio = container.streams.best("audio")
            language = legible(audio.metadata).get("language", "") if audio is not None else ""
            duration = (container.duration or 0) / 1_000_000
            marks = [_marks(stream, language) for stream in streams.values()]
    except av.error.FFmpegError as error:
        raise FilmError(f"The subtitles inside {path} cannot be read: {error.strerror}.", HINT) from None
    tracks = zip(streams, heard, marks, strict=True)
    whole = [(number, said, known) for number, said, known in tracks if said and known is not None]
    fullest = max((len(said) for _, said, _ in whole), default=0)
    if fullest == 0 or (duration >= _LONG_FILM and fullest < _FEWEST_PER_MINUTE * duration / 60):
        return None
    whole = [track for track in whole if len(track[1]) >= _WHOLE_SHARE * fullest]
    number, said, known = min(whole, key=lambda track: ([not has for has in track[2].values()], track[0]))
    why = ", ".join(mark for mark, has in known.items() if mark and has) or "the first"
    reason = f"{len(whole)} of {len(streams)} text tracks hold all speech; chosen: {why}"
    lost = undecoded.get(number, 0)
    notes = (f"{plural(lost, 'subtitle')} of text track {number} cannot be decoded.",) if lost else ()
    return Subtitles(said, notes), reason if len(streams) > 1 else "the only text track"


def end_of_sound_and_picture(path: Path) -> float | None:
    """Second at which the last picture or sound ends, as far as the container says it.

    Subtitles of another film, muxed in, make the container longer than the film. Raises FilmError.
    """
    import av

    ends: list[float] = []
    try:
        with find_media(path).open() as container:
            zero = exact_start(container)
            for stream in (*container.streams.video, *container.streams.audio):
                length: float | None = None
                if stream.duration and stream.time_base:
                    begin = (stream.start_time or 0) * stream.time_base - zero
                    length = float(begin + stream.duration * stream.time_base)
                elif _CLOCK_TAG.fullmatch(legible(stream.metadata).get("DURATION", "")):
                    # Matroska's statistics tag; it counts from the container's start.
                    length = read_clock(legible(stream.metadata)["DURATION"])
                if length is not None:
                    ends.append(length)
    except av.error.FFmpegError as error:
        raise FilmError(f"{path} cannot be read: {error.strerror}.", HINT) from None
    return max(ends, default=None)


_CLOCK_TAG = re.compile(r"\d{1,3}:\d{2}:\d{2}(?:\.\d{1,9})?")


def _read_tracks(
    container: InputContainer, streams: dict[int, SubtitleStream]
) -> tuple[list[tuple[Utterance, ...]], Counter[int]]:
    """What each of ``streams`` says, in one pass over the film; and how many of its packets do not decode."""
    import av

    zero = float(exact_start(container))
    heard: dict[int, list[Utterance]] = {stream.index: [] for stream in streams.values()}
    numbers = {stream.index: number for number, stream in streams.items()}
    undecoded: Counter[int] = Counter()
    for packet in packets_of(container, *streams.values()):
        if packet.pts is None or not packet.time_base:
            continue
        start = float(packet.pts * packet.time_base) - zero
        end = start + float((packet.duration or 0) * packet.time_base)
        try:
            lines = packet.decode()
        except av.error.InvalidDataError:
            undecoded[numbers[packet.stream_index]] += 1
            continue
        for line in lines:
            event = bytes(getattr(line, "ass", b"")).decode("utf-8", "replace")
            _, _, style, actor, *_, text = event.split(",", 8)
            written = bytes(packet).decode("utf-8", "replace")
            if packet.stream.codec_context.name == "webvtt" and "<v" in written:
                text = written  # the decoder drops voice tags
            heard[packet.stream_index] += utterances_in(text, start, end, style=style, actor=actor)
    return [ordered(utterances) for utterances in heard.values()], undecoded


def _marks(stream: SubtitleStream, language: str) -> dict[str, bool] | None:
    """What may speak for a track, the weightiest first, and whether it does; None for one that holds only a
    part of what is said. ``language`` is that of the sound."""
    from av.stream import Disposition

    told, flags = legible(stream.metadata), stream.disposition
    title = told.get("title", "")
    partial = Disposition.forced | Disposition.comment | Disposition.lyrics | Disposition.karaoke
    partial |= Disposition.descriptions | Disposition.visual_impaired
    if flags & partial or (_PARTIAL_TITLE.search(title) and not _WHOLE_TITLE.search(title)):
        return None
    captions = flags & (Disposition.hearing_impaired | Disposition.captions)
    return {
        f"language {language} of the sound" if language else "": told.get("language", "") == language,
        "captions for deaf people": bool(captions or _CAPTIONS_TITLE.search(title)),
        "default track": bool(flags & Disposition.default),
    }


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
    r"encoded)\b[^\n]{0,40}\bby\b|\bopen-?subtitles\b|\bosdb\.link\b|\byts\.\w|\byify\b|\baddic7ed\b",
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
    # The subtitlers' own credit; an address inside a longer sentence may be spoken
    if not text or _MAKER.search(text) or (_ADDRESS.search(text) and len(text.split()) <= 4):
        return None
    sung = bool(_NOTE.search(text) or _HASH_SONG.match(text))
    bare, captions = _split_captions(text)
    words = _clean_lines(bare, keep_label=sung or not captions)
    if words and not sung:
        return Said(words, SpeechKind.SPEECH)
    if words and not _HASH_SONG.match(bare) and _clean_lines(_SUNG.sub("\n", bare)):
        return Said(words, SpeechKind.SPEECH)
    if words and (_PERSONAL.search(words) or _SINGING.search(words) or not _TUNE.search(words)):
        return Said(words, SpeechKind.LYRICS)
    # ``[speaking French]`` has a voice to be heard, though no words; ``[indistinct chatter]`` has none.
    for caption in captions:
        is_sung = _SINGING.search(caption)
        if not _BACKGROUND.search(caption) and (is_sung or _SPEAKING.search(caption)):
            return Said("", SpeechKind.LYRICS if is_sung else SpeechKind.SPEECH)
    return None


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
        # Words in brackets that are spoken, such as an aside: ``(I told you so.)``
        if len(inner.split()) >= 3 and inner[-1:] in ".!?" and _PERSONAL.search(inner):
            return inner
        captions.append(inner)
        return " "

    previous = ""
    while previous != text:
        previous, text = text, _BRACKETED.sub(take, text)
    return text, captions


def _clean_lines(text: str, *, keep_label: bool = True) -> str:
    """The words of all lines; a label without words (they follow in the next cue) stays if ``keep_label``."""
    found: list[str] = []
    for raw in text.split("\n"):
        line = re.sub(r"^\s*#\s|\s#\s*$", " ", re.sub(rf"[{_NOTES}]+", " ", raw))
        line = _LEAD.sub("", _MIXED_LABEL.sub("", line))
        unlabelled = _LEAD.sub("", _LABEL.sub("", line))
        found.append(" ".join((unlabelled if _WORD.search(unlabelled) or not keep_label else line).split()))
    return " ".join(filter(_WORD.search, found))


HINT = (
    "Give SubRip (SRT), WebVTT, ASS, SSA, TTML, SAMI, SBV, SubViewer or MicroDVD, "
    "or leave --subtitles out to listen to the sound."
)
_SIGN_STYLE = re.compile(
    r"(?<![a-z])signs?(?![a-z])|typeset|(?<!sub)titles?\b|on-?screen|(?<![a-z])notes?\b|logo|credit",
    re.IGNORECASE,
)
_SONG_STYLE = re.compile(r"\b(?:op|ed)\b|song|karaoke|lyric|romaji|kanji|insert", re.IGNORECASE)

MOST_LINES_NAMED = 50
"""Numbers of unread lines that a note lists; a file with more is damaged all over, and the count says it."""


@dataclass(frozen=True, slots=True)
class Subtitles:
    """What is spoken or sung according to subtitles, by start time, in seconds of the film."""

    utterances: tuple[Utterance, ...]
    notes: tuple[str, ...] = ()
    """What a person should know: lines that could not be read, and an encoding that was guessed."""


def read_subtitles(
    path: str | Path, *, encoding: str | None = None, frame_rate: Fraction | None = None
) -> Subtitles:
    """All that is spoken or sung according to a subtitle file.

    Sound captions, tunes, on-screen signs and the subtitlers' own credits are no utterances. A cue
    that ends before it starts lasts as long as its words take. ``encoding`` None: found from the bytes.
    ``frame_rate`` is the film's, for files that count frames. Raises SubtitleError; UsageError for an
    ``encoding`` that is not known.
    """
    file = read_text_file(path, "subtitles", SubtitleError, hint=HINT, encoding=encoding)
    subtitles = parse_subtitles(file.text, str(path), frame_rate)
    if not file.note:
        return subtitles
    note = f"{path} {file.note}."
    if file.detected:
        note += " If its words look wrong, name the encoding: --encoding."
    return replace(subtitles, notes=(note, *subtitles.notes))


def parse_subtitles(text: str, name: str = "subtitles", frame_rate: Fraction | None = None) -> Subtitles:
    """`read_subtitles` for text that is already in memory; ``name`` stands in errors."""
    if not text.strip():
        raise SubtitleError(f"The subtitles {name} are empty.", HINT)
    try:
        parsed = parse_subtitle_text(text, frame_rate)
    except UnknownFrameRate as trouble:
        hint = "Give the film with them, or write {1}{1}25 as the first line, with its frames a second."
        raise SubtitleError(f"{name} cannot be read: {trouble}.", hint) from None
    if parsed is None:
        raise SubtitleError(f"{name} is in no known subtitle format.", HINT)
    unread = _unread_lines(parsed.unread)
    # A WebVTT file with no cue at all is valid, and says that nobody speaks.
    if not parsed.events and (unread or parsed.format != "vtt"):
        reason = f": {unread}" if unread else ""
        raise SubtitleError(f"{name} holds no subtitle that can be read{reason}.", HINT)
    utterances: list[Utterance] = []
    for event in parsed.events:
        utterances += utterances_in(event.text, event.start, event.end, style=event.style, actor=event.actor)
    return Subtitles(ordered(utterances), (f"{name}: {unread}.",) if unread else ())


def _unread_lines(unread: Sequence[tuple[int, str]]) -> str:
    """``2 lines look like times and are not read: lines 5 and 9 ('0:0x --> 0:06')``; empty for none."""
    if not unread:
        return ""
    numbers = [str(number) for number, _ in unread[:MOST_LINES_NAMED]]
    listed = numbers[0] if len(numbers) == 1 else f"{', '.join(numbers[:-1])} and {numbers[-1]}"
    if len(unread) > MOST_LINES_NAMED:
        listed = f"{', '.join(numbers)} and {len(unread) - MOST_LINES_NAMED} more"
    shown = printable(unread[0][1].strip()[:80])
    if len(unread) == 1:
        return f"line {listed} looks like a time and is not read: {shown!r}"
    return f"{len(unread)} lines look like times and are not read: {listed}; the first is {shown!r}"


def ordered(utterances: Iterable[Utterance]) -> tuple[Utterance, ...]:
    """By start, each only once (typeset ASS repeats a line in several layers)."""
    return tuple(sorted(dict.fromkeys(utterances), key=lambda u: (u.interval, u.text)))


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
    if end <= start:  # as long as the words take
        end = start + max(1.0, 0.4 * sum(len(said.text.split()) for said in turns))
    whole = Interval(start, end)
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
