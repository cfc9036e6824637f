"""Subtitles as utterances: from a file, or from the text tracks inside a film.

`read_subtitles` reads files of the formats in `subtitle_files`; `embedded_track` reads mov_text, SubRip, ASS
and WebVTT tracks and chooses the one that best covers all speech.

A cue contains spoken words, sung words, or only a sound (`read_turns`). Captions for deaf people name sounds
in brackets and mark songs with notes (the BBC's and Netflix's subtitle guides; older British files use ``#``
for a note). Only words keep a describer silent. Where a cue can be read either way it counts as speech: a
line over dialogue is worse than a gap missed.
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

from shotad.core import Interval, Utterance
from shotad.core.config.languages import language_named
from shotad.core.errors import FilmError, SubtitleError
from shotad.core.progress import (
    plural,
    printable,
    visible_text,
)
from shotad.core.subtitle_files import UnknownFrameRate, parse_subtitle_text, read_clock
from shotad.core.text_files import decode_text, read_file_bytes
from shotad.core.types import SpeechKind
from shotad.core.weight_store import is_tar
from shotad.film.beside import is_description_title
from shotad.film.container import (
    TEXT_CODECS,
    exact_start,
    find_media,
    packets_of,
    readable_metadata,
    track_title,
)
from shotad.film.speakers import marked, of_actor, pieces

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.subtitles.stream import SubtitleStream

_PARTIAL_TITLE = re.compile(
    r"forced|signs|songs|comment|descri|karaoke|lyric|foreign parts|trivia", re.IGNORECASE
)  # fmt: skip
_WHOLE_TITLE = re.compile(r"\bfull\b|dialog|\bsdh\b|complete", re.IGNORECASE)
"""Words that make ``Dialogue, Signs & Songs`` a whole track again."""
_CAPTIONS_TITLE = re.compile(r"\b(?:sdh|cc|hoh|hearing)\b", re.IGNORECASE)
_WHOLE_SHARE = 0.6
"""A track with this share of the cues of the fullest one counts as whole."""
_FEWEST_PER_MINUTE = 0.5
"""Cues a minute below which a track of a long film is a few foreign lines and signs, not its speech."""
_LONG_FILM = 600.0
"""Seconds; in less time too few cues are expected for a rate to say anything."""


@dataclass(frozen=True, slots=True)
class _TextTrack:
    """A text track of a film that is not marked as partial. ``number`` counts subtitle tracks from 0."""

    number: int
    utterances: tuple[Utterance, ...]
    merits: dict[str, bool]
    """The reasons to choose a track, the weightiest first, and whether this one has them."""


def embedded_track(path: Path) -> tuple[Subtitles, str] | None:
    """The text track inside a film that best covers all speech, and the reason for it; None if there is none.

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
    tracks: list[_TextTrack] = []
    try:
        with find_media(path).open() as container:
            streams = {
                number: stream
                for number, stream in enumerate(container.streams.subtitles)
                if stream.codec_context.name in TEXT_CODECS
            }
            if not streams:
                return None
            utterances, undecoded = _read_tracks(container, streams)
            audio = container.streams.best("audio")
            language = readable_metadata(audio.metadata).get("language", "") if audio is not None else ""
            duration = (container.duration or 0) / 1_000_000
            for number, stream in streams.items():
                merits = _merits(stream, language)
                if utterances[number] and merits is not None:
                    tracks.append(_TextTrack(number, utterances[number], merits))
    except av.error.FFmpegError as error:
        raise FilmError(f"The subtitles inside {path} cannot be read: {error.strerror}.", HINT) from None

    fullest = max((len(track.utterances) for track in tracks), default=0)
    if fullest == 0 or (duration >= _LONG_FILM and fullest < _FEWEST_PER_MINUTE * duration / 60):
        return None
    whole_tracks = [track for track in tracks if len(track.utterances) >= _WHOLE_SHARE * fullest]
    # False sorts before True: the track with the weightiest merit comes first.
    chosen = min(whole_tracks, key=lambda track: ([not has for has in track.merits.values()], track.number))

    if len(streams) > 1:
        # A merit without a name is the language where that of the sound is not known.
        merits_of_chosen = [merit for merit, has in chosen.merits.items() if merit and has]
        reason = (
            f"{len(whole_tracks)} of {len(streams)} text tracks hold all speech; chosen: "
            f"{', '.join(merits_of_chosen) or 'the first'}"
        )
    else:
        reason = "the only text track"
    lost = undecoded.get(chosen.number, 0)
    notes = (f"{plural(lost, 'subtitle')} of text track {chosen.number} cannot be decoded.",) if lost else ()
    return Subtitles(chosen.utterances, notes), reason


def forced_track(path: Path, language: str) -> tuple[Subtitles, str] | None:
    """The subtitles in a film that are shown always (forced), for foreign dialogue, and what they are called.

    They are marked as forced, or their title says so. ``language`` is a short code, ``en``; tracks of another
    language are left out, and one of it goes before one of none. Tracks of pictures are not read. None where
    there is none. Raises FilmError for an unreadable film.
    """
    import av
    from av.stream import Disposition

    if path.is_dir() or (path.is_file() and is_tar(path)):
        return None
    try:
        with find_media(path).open() as container:
            streams: dict[int, SubtitleStream] = {}
            for number, stream in enumerate(container.streams.subtitles):
                metadata = readable_metadata(stream.metadata)
                is_forced = stream.disposition & Disposition.forced or _FORCED_TITLE.search(
                    metadata.get("title", "")
                )
                # Containers write three letters; a tag that is not known counts as that of no language.
                named = language_named(metadata.get("language", ""))
                if is_forced and stream.codec_context.name in TEXT_CODECS and named in ("", language):
                    streams[number] = stream
            if not streams:
                return None
            languages = {
                number: language_named(readable_metadata(stream.metadata).get("language", ""))
                for number, stream in streams.items()
            }
            utterances, undecoded = _read_tracks(container, streams)
    except av.error.FFmpegError as error:
        raise FilmError(f"The subtitles inside {path} cannot be read: {error.strerror}.", HINT) from None
    with_text = [number for number in streams if utterances[number]]
    if not with_text:
        return None
    chosen = min(with_text, key=lambda number: (languages[number] != language, number))
    lost = undecoded.get(chosen, 0)
    notes = (f"{plural(lost, 'subtitle')} of text track {chosen} cannot be decoded.",) if lost else ()
    return Subtitles(utterances[chosen], notes), f"the forced subtitle track {chosen}"


_FORCED_TITLE = re.compile(r"\bforced\b|foreign (?:parts|dialog)", re.IGNORECASE)


def end_of_sound_and_picture(path: Path) -> float | None:
    """Second at which the last picture or sound ends, as far as the container states it, else None.

    Subtitles of another film, muxed in, make the container longer than the film. Raises FilmError.
    """
    import av

    ends: list[float] = []
    try:
        with find_media(path).open() as container:
            film_start = exact_start(container)
            for stream in (*container.streams.video, *container.streams.audio):
                end: float | None = None
                if stream.duration and stream.time_base:
                    start = (stream.start_time or 0) * stream.time_base - film_start
                    end = float(start + stream.duration * stream.time_base)
                elif _CLOCK_TAG.fullmatch(readable_metadata(stream.metadata).get("DURATION", "")):
                    # Matroska's statistics tag; it counts from the container's start.
                    end = read_clock(readable_metadata(stream.metadata)["DURATION"])
                if end is not None:
                    ends.append(end)
    except av.error.FFmpegError as error:
        raise FilmError(f"{path} cannot be read: {error.strerror}.", HINT) from None
    return max(ends, default=None)


_CLOCK_TAG = re.compile(r"\d{1,3}:\d{2}:\d{2}(?:\.\d{1,9})?")


def _read_tracks(
    container: InputContainer, streams: dict[int, SubtitleStream]
) -> tuple[dict[int, tuple[Utterance, ...]], Counter[int]]:
    """The utterances of each of ``streams``, and how many packets of it do not decode, by its number.

    One pass over the film for all of them.
    """
    import av

    film_start = float(exact_start(container))
    utterances: dict[int, list[Utterance]] = {number: [] for number in streams}
    undecoded: Counter[int] = Counter()
    # Packets name their stream by its index among all streams of the container.
    numbers = {stream.index: number for number, stream in streams.items()}
    for packet in packets_of(container, *streams.values()):
        if packet.pts is None or not packet.time_base:
            continue
        number = numbers[packet.stream_index]
        start = float(packet.pts * packet.time_base) - film_start
        end = start + float((packet.duration or 0) * packet.time_base)
        try:
            decoded = packet.decode()
        except av.error.InvalidDataError:
            undecoded[number] += 1
            continue
        for subtitle in decoded:
            event = bytes(getattr(subtitle, "ass", b"")).decode("utf-8", "replace")
            _, _, style, actor, *_, text = event.split(",", 8)
            packet_text = bytes(packet).decode("utf-8", "replace")
            if packet.stream.codec_context.name == "webvtt" and "<v" in packet_text:
                text = packet_text  # the decoder drops voice tags
            utterances[number] += utterances_in(text, start, end, style=style, actor=actor)
    return {number: ordered(track) for number, track in utterances.items()}, undecoded


def _merits(stream: SubtitleStream, language: str) -> dict[str, bool] | None:
    """Merits as in `_TextTrack`; None for a track that holds only a part of the speech.

    ``language`` is that of the sound, empty where it is not known.
    """
    from av.stream import Disposition

    metadata, flags = readable_metadata(stream.metadata), stream.disposition
    title = track_title(metadata)
    partial = Disposition.forced | Disposition.comment | Disposition.lyrics | Disposition.karaoke
    partial |= Disposition.descriptions | Disposition.visual_impaired
    if flags & partial or is_description_title(title, is_text=True):
        return None
    if _PARTIAL_TITLE.search(title) and not _WHOLE_TITLE.search(title):
        return None
    captions = flags & (Disposition.hearing_impaired | Disposition.captions)
    return {
        f"language {language} of the sound" if language else "": metadata.get("language", "") == language,
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
class Turn:
    """What one speaker says in a cue, without marks and labels, and whether it is spoken or sung."""

    text: str
    """Empty where the cue has a voice but not its words: ``[speaking French]``."""
    kind: SpeechKind
    speaker: str = ""
    """The speaker's name, where the cue gives it."""


def read_turns(raw: str) -> tuple[Turn, ...]:
    """The words in a cue's text by speaker; empty where nothing is said. ``raw`` as for `read_caption`.

    >>> [(turn.speaker, turn.text) for turn in read_turns("- THOM: Who's there?\\n- ANN: It's me.")]
    [('Thom', "Who's there?"), ('Ann', "It's me.")]
    """
    raw = raw[:LONGEST]
    whole = read_caption(raw)
    if whole is None:
        return ()
    # Voice tags become marks first, for `strip_tags` removes all tags.
    parts = list(pieces(strip_tags(marked(raw))))
    speakers = {speaker for speaker, _ in parts}
    if len(speakers) == 1:
        return (replace(whole, speaker=speakers.pop()),)
    turns: list[Turn] = []
    for speaker, text in parts:
        turn = read_caption(text)
        if turn is not None and turn.text:
            turns.append(Turn(turn.text, SpeechKind.SPEECH, speaker))
    # Where the turns lose or change a word, the cue was not split right.
    if whole.kind is SpeechKind.SPEECH and " ".join(turn.text for turn in turns) == whole.text:
        return tuple(turns)
    return (whole,)


def read_caption(raw: str) -> Turn | None:
    """The words in a cue's text, or None where the cue names a sound, a tune or the subtitles' maker.

    ``raw`` has its lines split by newlines; formatting tags, sound captions, notes, speaker labels
    and dialogue dashes are removed. Characters beyond `LONGEST` are not read. No speaker is named.

    >>> read_caption("[door slams]\\n- JOHN: Who's <i>there</i>?").text
    "Who's there?"
    >>> read_caption("♪ Hello darkness ♪").kind
    <SpeechKind.LYRICS: 'lyrics'>
    """
    text = strip_tags(raw[:LONGEST])
    # The subtitlers' own credit; an address inside a longer sentence may be spoken
    if not text or _MAKER.search(text) or (_ADDRESS.search(text) and len(text.split()) <= 4):
        return None
    has_song = bool(_NOTE.search(text) or _HASH_SONG.match(text))
    bare, captions = _split_captions(text)
    words = _clean_lines(bare, keep_label=has_song or not captions)
    if words and not has_song:
        return Turn(words, SpeechKind.SPEECH)
    # Words outside the notes are spoken, and then the whole cue counts as speech.
    if words and not _HASH_SONG.match(bare) and _clean_lines(_SUNG.sub("\n", bare)):
        return Turn(words, SpeechKind.SPEECH)
    # ``♪ upbeat music playing ♪`` names a tune; lyrics say ``I`` or ``you``, or have no such word.
    if words and (_PERSONAL.search(words) or _SINGING.search(words) or not _TUNE.search(words)):
        return Turn(words, SpeechKind.LYRICS)
    # ``[speaking French]`` has a voice to be heard, though no words; ``[indistinct chatter]`` has none.
    for caption in captions:
        is_sung = _SINGING.search(caption)
        if not _BACKGROUND.search(caption) and (is_sung or _SPEAKING.search(caption)):
            return Turn("", SpeechKind.LYRICS if is_sung else SpeechKind.SPEECH)
    return None


def strip_tags(raw: str) -> str:
    """``raw`` without HTML, WebVTT and ASS formatting, entities resolved, invisible letters removed."""
    text = raw.replace(r"\N", "\n").replace(r"\n", "\n").replace(r"\h", " ")
    text = html.unescape(_TAGS.sub("", text))
    # Zero-width joiners and marks of the writing direction
    text = re.sub("[\u200c-\u200f]", "", visible_text(text))
    return text.replace("\xa0", " ").strip()


def _split_captions(text: str) -> tuple[str, list[str]]:
    """The text outside brackets, and what stands in them: ``"Hi. [sighs]"`` → ``"Hi.  "``, ``["sighs"]``."""
    if _UNCLOSED.match(text):
        # A caption that goes on in the next cue, or has lost one of its brackets.
        return "", [text.strip(" \n[]()（）【】［］")]
    captions: list[str] = []

    def collect(match: re.Match[str]) -> str:
        caption = match.group()[1:-1].strip()
        # Words in brackets that are spoken, such as an aside: ``(I told you so.)``
        if len(caption.split()) >= 3 and caption[-1:] in ".!?" and _PERSONAL.search(caption):
            return caption
        captions.append(caption)
        return " "

    # From the innermost brackets outwards
    previous = ""
    while previous != text:
        previous = text
        text = _BRACKETED.sub(collect, text)
    return text, captions


def _clean_lines(text: str, *, keep_label: bool = True) -> str:
    """The words of all lines, without notes, dashes and speaker labels.

    A label without words (they follow in the next cue) stays if ``keep_label``.
    """
    lines: list[str] = []
    for raw_line in text.split("\n"):
        line = re.sub(rf"[{_NOTES}]+", " ", raw_line)
        line = re.sub(r"^\s*#\s|\s#\s*$", " ", line)
        line = _MIXED_LABEL.sub("", line)
        line = _LEAD.sub("", line)
        unlabelled = _LABEL.sub("", line)
        unlabelled = _LEAD.sub("", unlabelled)
        if _WORD.search(unlabelled) or not keep_label:
            line = unlabelled
        if _WORD.search(line):
            lines.append(" ".join(line.split()))
    return " ".join(lines)


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
    """The utterances of subtitles, by start time, in seconds of the film."""

    utterances: tuple[Utterance, ...]
    notes: tuple[str, ...] = ()
    """Sentences for the user: lines that could not be read, and an encoding that was guessed."""


def read_subtitles(
    path: str | Path, *, encoding: str | None = None, frame_rate: Fraction | None = None
) -> Subtitles:
    """The spoken and sung utterances of a subtitle file.

    Sound captions, tunes, on-screen signs and the subtitlers' own credits are no utterances. A cue
    that ends before it starts lasts as long as its words take. ``encoding`` None: detected from the bytes.
    ``frame_rate`` is the film's, for files that count frames. Raises SubtitleError for a file that cannot
    be read, UsageError for an unknown ``encoding``.
    """
    data = read_file_bytes(path, "subtitles", SubtitleError, hint=HINT)
    foreign_format = _foreign_format(data)
    if foreign_format is not None:
        raise SubtitleError(f"{path} is {foreign_format}, which is not read.", f"Convert it first. {HINT}")
    file = decode_text(data, str(path), SubtitleError, hint=HINT, encoding=encoding)
    subtitles = parse_subtitles(file.text, str(path), frame_rate)
    if not file.note:
        return subtitles
    note = f"{path} {file.note}."
    if file.detected:
        note += " If its words look wrong, name the encoding: --encoding."
    return replace(subtitles, notes=(note, *subtitles.notes))


def _foreign_format(data: bytes) -> str | None:
    """What a subtitle file is that cannot be read here, by its first bytes; None for all others."""
    for begins, name in _FOREIGN_FORMATS:
        if begins.match(data):
            return name
    if data[:4096].lstrip().startswith(b"<") and b"backgroundImage" in data and b"<p" not in data:
        return "TTML of pictures"
    return None


_FOREIGN_FORMATS = (
    (re.compile(rb"\x00\x00\x01\xba"), "VobSub, subtitles as pictures"),
    (re.compile(rb"(?:\xef\xbb\xbf)?# VobSub index file"), "the index of VobSub, subtitles as pictures"),
    (re.compile(rb"PG.{8}[\x14-\x17\x80]", re.DOTALL), "PGS, subtitles as pictures"),
    (re.compile(rb"\d{3}STL\d\d\.\d\d"), "EBU STL"),
    (re.compile(rb"(?:\xef\xbb\xbf)?Scenarist_SCC V"), "SCC, captions as codes"),
)
"""How files begin that hold pictures or codes, and what they are."""


def parse_subtitles(text: str, name: str = "subtitles", frame_rate: Fraction | None = None) -> Subtitles:
    """`read_subtitles` for text that is already in memory; ``name`` stands in errors and notes."""
    if not text.strip():
        raise SubtitleError(f"The subtitles {name} are empty.", HINT)
    try:
        parsed = parse_subtitle_text(text, frame_rate)
    except UnknownFrameRate as error:
        hint = "Give the film with them, or write {1}{1}25 as the first line, with its frames a second."
        raise SubtitleError(f"{name} cannot be read: {error}.", hint) from None
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
    _, first_line = unread[0]
    first_line = printable(first_line.strip()[:80])
    if len(unread) == 1:
        return f"line {numbers[0]} looks like a time and is not read: {first_line!r}"
    if len(unread) > MOST_LINES_NAMED:
        listed = f"{', '.join(numbers)} and {len(unread) - MOST_LINES_NAMED} more"
    else:
        listed = f"{', '.join(numbers[:-1])} and {numbers[-1]}"
    return f"{len(unread)} lines look like times and are not read: {listed}; the first is {first_line!r}"


def ordered(utterances: Iterable[Utterance]) -> tuple[Utterance, ...]:
    """The utterances by start, each only once (typeset ASS repeats a line in several layers)."""
    unique = dict.fromkeys(utterances)
    return tuple(sorted(unique, key=lambda utterance: (utterance.interval, utterance.text)))


def utterances_in(
    text: str, start: float, end: float, *, style: str = "", actor: str = ""
) -> Iterator[Utterance]:
    """The utterances of one cue or ASS event of ``[start, end)`` seconds, none where nothing is said.

    The time of a cue with several speakers is divided among them by their words. ``style`` and ``actor`` are
    those of the ASS event; the actor speaks where the text names nobody.
    """
    turns = _turns_of_event(text, style)
    if not turns:
        return
    if end <= start:
        # As long as the words take to say: 0.4 s each
        word_count = sum(len(turn.text.split()) for turn in turns)
        end = start + max(1.0, 0.4 * word_count)
    cue = Interval(start, end)
    # A turn without words takes time too.
    words = [max(1, len(turn.text.split())) for turn in turns]
    turn_start = cue.start
    for count, turn in enumerate(turns, 1):
        # The cue's own end for the last, which the division may miss by a rounding.
        is_last = count == len(turns)
        turn_end = cue.end if is_last else cue.start + cue.duration * sum(words[:count]) / sum(words)
        speaker = turn.speaker
        if not speaker and len(turns) == 1:
            speaker = of_actor(actor)
        yield Utterance(Interval(turn_start, turn_end), turn.text, turn.kind, speaker)
        turn_start = turn_end


def _turns_of_event(text: str, style: str) -> tuple[Turn, ...]:
    """The turns in a cue or ASS event: none where its style is for signs, one sung where it is for songs."""
    is_drawing = re.search(r"\\p[1-9]", text)
    is_song = _SONG_STYLE.search(style)
    if is_drawing or (_SIGN_STYLE.search(style) and not is_song):
        return ()
    turns = read_turns(text)
    if turns and is_song:
        return (Turn(" ".join(turn.text for turn in turns), SpeechKind.LYRICS),)
    return turns
