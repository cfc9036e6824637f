"""WebVTT for ``<track kind="descriptions">`` (W3C WebVTT: file structure and cue text), and SubRip.

SubRip knows numbers only, so a cue's number is its id: ``s00083120`` is 100083120, ``h`` takes 2. Players
ignore the numbers; other people's files count from 1 and never get there. An editor that renumbers loses
them, and import then finds lines by their times. SubRip has no comments: whatever stands in a cue is shown
and spoken by some player, style overrides too, so a file of ours holds the words of the lines and nothing
else. Lost: the statement that a machine made the script, and how each line was written; import works that
out from the versions of the lines that were written before (`shotad.script.edits`).

A file of ours that was cut off must not be taken for one in which a person deleted lines. WebVTT ends with a
note that lists every line as it was written, and the stamp in its head is the hash of that list. In SubRip
the number of the last cue begins with 3, or 4 for ``h`` (`number_of`), and an empty line follows its text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from shotad.core.errors import ScriptError, quoted
from shotad.script.cue import (
    Script,
    ScriptCue,
    check_line_count,
    clean_text,
    incomplete_error,
    line_stamp,
    looks_like_timing,
    milliseconds,
    one_line,
    parse_interval,
    timecode,
    track_stamp,
)
from shotad.script.track import Track
from shotad.script.track_texts import texts_in

_TIMING = re.compile(r"\s*+(?P<start>[\d:.,]++)\s*+-->\s*+(?P<end>[\d:.,]++)(?:\s.*)?")
_VTT_TIME = re.compile(r"(?:\d{2,}:)?[0-5]\d:[0-5]\d\.\d{3}")
_TAG = re.compile(r"<[^>]*(?:>|$)")
_STAMP = re.compile(r"^Stamp: (\w+)[ \t]*$", re.MULTILINE)
_LINE_STAMP = re.compile(r"^([sh]\d{8,}) ([0-9a-f]{8}-[0-9a-f]{8})[ \t]*$", re.MULTILINE)
_LIST_HEAD = "NOTE Lines as written, for shotad import"
"""By it a file is known again, so it is the same in all languages."""
_OWN_ID = re.compile(r"[sh]\d{8,}")
_OTHER_BLOCKS = ("NOTE", "STYLE", "REGION")


def write_vtt(track: Track) -> str:
    """The heard lines as WebVTT. One at 0.000 is moved to 0.001: players would fire it before they play."""
    texts = texts_in(track.language)
    film = texts("script.film", film=track.film.name)
    note = f"{track.statement}\n{film}\nStamp: {track.stamp}".replace("-->", "->")
    head = f"WEBVTT {texts('script.title')}\nKind: descriptions\nLanguage: {track.language}\n\nNOTE\n{note}\n"
    cues = stamps = ""
    for cue in track.heard:
        start, end = cue.interval.start, cue.interval.end
        times = f"{timecode(max(start, 0.001) if milliseconds(end) > 1 else start)} --> {timecode(end)}"
        if cue.note is not None:
            # On one line, so that none of its lines looks like a stamp.
            key = "script.to_colleague_by" if cue.note.by else "script.to_colleague"
            note = texts(key, name=cue.note.by, id=cue.id, text=one_line(cue.note.text))
            cues += f"\nNOTE {note}\n".replace("-->", "->")
        cues += f"\n{cue.id}\n{times}\n{html.escape(cue.text, quote=False)}\n"
        stamps += f"{cue.id} {line_stamp(cue.interval, cue.text)}\n"
    return head + cues + (f"\n{_LIST_HEAD}\n{stamps}" if stamps else "")


def read_vtt(text: str, file_name: str) -> Script:
    """The cues of any WebVTT, tags taken off and character references resolved.

    Blocks are parted as the parser of W3C parts them: by an empty line, or by the times of the next cue. Text
    after an empty line belongs to the cue before it: an editor's slip that players would not show. Decimal
    commas and missing milliseconds are read. Raises ScriptError with file and line where a cue is malformed
    or text stands before the first, and for a file of ours of which the end is missing.
    """
    return _parse_vtt(text, file_name).script


def check_vtt(text: str, file_name: str) -> list[tuple[int, str]]:
    """Faults that `read_vtt` accepts although WebVTT does not allow them: line numbers and messages.

    Raises as `read_vtt`.
    """
    return _parse_vtt(text, file_name).deviations


@dataclass(slots=True)
class _VttFile:
    """The content of a WebVTT file; ``deviations`` as `check_vtt` returns them."""

    script: Script
    deviations: list[tuple[int, str]]


@dataclass(slots=True)
class _Block:
    """Lines of a WebVTT file that belong together: from ``first`` up to, not including, ``last``.

    ``timing`` is the line with the times, None for a block that is no cue. ``cue_id`` is None where the cue
    has none. ``is_parted``: an empty line stands before it.
    """

    first: int
    last: int
    timing: int | None
    cue_id: str | None
    is_parted: bool


def _parse_vtt(text: str, file_name: str) -> _VttFile:
    written_lines = _split_lines(text)
    # A line of blanks stands between cues where an editor left it there; in a text nobody needs one.
    lines = [line if line.strip() else "" for line in written_lines]
    if not re.fullmatch(r"WEBVTT(?:[ \t].*)?", lines[0]):
        raise ScriptError(f"{file_name}, line 1: a WebVTT file starts with WEBVTT, got {quoted(lines[0])}.")
    cues: list[ScriptCue] = []
    deviations: list[tuple[int, str]] = []
    stamp: str | None = None
    line_stamps: dict[str, str] = {}
    parted_id: str | None = None
    for block in _vtt_blocks(lines, written_lines):
        if block.timing is not None:
            if parted_id is not None:
                deviations.append(
                    (block.timing + 1, f"an empty line parts {quoted(parted_id)} from its times")
                )
                block.cue_id = block.cue_id or parted_id
            parted_id = None
            if block.timing > 0 and "-->" in lines[block.timing - 1]:
                # Read as two cues the first would have no text, and look like one that a person emptied.
                place = f"{file_name}, line {block.timing + 1}"
                message = f"{place}: {quoted(lines[block.timing])} stands below other times."
                raise ScriptError(message, "Leave one of the two lines, or write the text between them.")
            cues.append(_vtt_cue(lines, block, file_name))
            check_line_count(cues, file_name)
            deviations += _vtt_deviations(lines, block)
            continue
        filled = lines[block.first : block.last]
        if len(filled) == 1 and _OWN_ID.fullmatch(filled[0].strip()):
            parted_id = filled[0].strip()
            continue
        if filled[0].split(" ")[0].split("\t")[0] in _OTHER_BLOCKS:
            note = "\n".join(filled)
            if (own_stamp := _STAMP.search(note)) is not None:
                stamp = own_stamp[1]
            line_stamps |= dict(_LINE_STAMP.findall(note))
        elif cues:
            _check_has_times(["", *filled], file_name, block.first)
            cues[-1] = replace(cues[-1], text=clean_text(f"{cues[-1].text}\n{_without_tags(filled)}"))
        else:
            raise ScriptError(
                f"{file_name}, line {block.first + 1}: {quoted(filled[0])} stands outside of any cue."
            )
    # A stamp is the hash of all lines as they were written, which the note at the end lists.
    if stamp is not None and stamp != track_stamp(line_stamps.items()):
        raise incomplete_error(
            file_name,
            "the list of its lines that stands at its end is not there, or not whole",
            "If a program left out the notes at its end and the file is whole, delete the line that begins "
            "with Stamp:",
        )
    return _VttFile(Script(tuple(cues), stamp, line_stamps, is_proven=stamp is not None), deviations)


def _split_lines(text: str) -> list[str]:
    """The lines of a file. Two CR before an LF are one line end that was converted twice."""
    return re.split(r"\r{0,2}\n|\r", text.removeprefix("\ufeff"))


def _vtt_blocks(lines: Sequence[str], written_lines: Sequence[str]) -> Iterator[_Block]:
    """The blocks after the header, by W3C's algorithm "collect a WebVTT block".

    A line with an arrow is the timing of a cue where it is the first of its block, or the second after an id.
    Anywhere else it ends the block and begins the next, and so does the head of the list that ends a file of
    ours. ``written_lines`` are those of the file, in which blanks may stand where ``lines`` are empty.
    """
    index = 1
    while index < len(lines) and lines[index] and "-->" not in lines[index]:
        index += 1
    cue_id: str | None = None
    while index < len(lines):
        if not lines[index]:
            index += 1
            continue
        first, timing = index, None
        is_parted = not written_lines[index - 1]
        while index < len(lines) and lines[index]:
            if index > first and lines[index].rstrip() == _LIST_HEAD:
                break
            if "-->" in lines[index]:
                if timing is not None or index - first > 1:
                    break
                timing = index
            index += 1
        if timing is not None and timing > first:
            cue_id = lines[first].strip()
        last = index
        next_id: str | None = None
        text_begins = first if timing is None else timing + 1
        if index < len(lines) and lines[index] and index > text_begins:
            # Times follow without an empty line: what stands right before them may be the id of that cue.
            is_after_blank = index - 1 > text_begins and not lines[index - 2].strip()
            if is_after_blank or _is_cue_id(lines[index - 1], like=cue_id):
                next_id = lines[index - 1].strip()
                last = index - 1
        yield _Block(first, last, timing, cue_id, is_parted)
        cue_id = next_id


def _is_cue_id(line: str, like: str | None) -> bool:
    """Whether a line that stands before times is their id and not text; ``like``: the id before, if any."""
    line = line.strip()
    if _OWN_ID.fullmatch(line) or line.isdecimal():
        return True
    return like is not None and bool(line) and len(line.split()) == 1


def _vtt_cue(lines: Sequence[str], block: _Block, file_name: str) -> ScriptCue:
    assert block.timing is not None
    place = f"{file_name}, line {block.timing + 1}"
    match = _TIMING.fullmatch(lines[block.timing])
    if match is None:
        message = f"{quoted(lines[block.timing])} is no timing such as 00:01:02.500 --> 00:01:05.000"
        raise ScriptError(f"{place}: {message}.")
    _check_whole_timing(match["start"], match["end"], place, is_last_line=block.timing + 1 == len(lines))
    interval = parse_interval(match["start"], match["end"], place)
    text_lines = lines[block.timing + 1 : block.last]
    _check_no_timing(text_lines, file_name, block.timing + 2)
    _check_no_id(text_lines, file_name, block.timing + 2)
    return ScriptCue(block.cue_id, interval, clean_text(_without_tags(text_lines)))


def _vtt_deviations(lines: Sequence[str], block: _Block) -> Iterator[tuple[int, str]]:
    assert block.timing is not None
    if not block.is_parted:
        yield block.first + 1, "an empty line must stand before a cue"
    match = _TIMING.fullmatch(lines[block.timing])
    assert match is not None
    for time in (match["start"], match["end"]):
        if not _VTT_TIME.fullmatch(time):
            yield block.timing + 1, f"{quoted(time)} is no time of WebVTT, such as 00:01:02.500"


def _without_tags(lines: Sequence[str]) -> str:
    return html.unescape(_TAG.sub("", "\n".join(lines)))


def _check_whole_timing(start: str, end: str, place: str, *, is_last_line: bool) -> None:
    """Raise ScriptError for ``00:00:13,000 --> 00:00:1`` at the end of a file: its rest was cut off.

    A whole one is spelled as the start is; slots, which have no text, may end with it.
    """
    if is_last_line and _digits_as_zero(start) != _digits_as_zero(end):
        raise incomplete_error(place, f"it ends within a timing, {quoted(f'{start} --> {end}')}")


def _digits_as_zero(time: str) -> str:
    return re.sub(r"\d", "0", time)


def _check_no_id(text_lines: Sequence[str], file_name: str, first_number: int) -> None:
    """Raise ScriptError for an id of ours, or its number in SubRip, among the words of a cue."""
    for number, line in enumerate(text_lines, first_number):
        if _OWN_ID.fullmatch(line.strip()) or id_of_number(line.strip()) is not None:
            message = (
                f"{file_name}, line {number}: the id {quoted(line.strip())} stands in the text of a cue."
            )
            raise ScriptError(message, "Write it in the line before the times of its own cue, or delete it.")


def _check_has_times(text_lines: Sequence[str], file_name: str, first_number: int) -> None:
    """Raise ScriptError for the id of a cue, behind an empty line, that words follow and no times: they would
    be spoken with the cue before."""
    for position, (empty, cue_id, words) in enumerate(
        zip(text_lines, text_lines[1:], text_lines[2:], strict=False)
    ):
        if not empty.strip() and words.strip() and _is_cue_id(cue_id, like=None):
            place = f"{file_name}, line {first_number + position + 1}"
            message = f"{place}: behind {quoted(cue_id)} there are no times."
            raise ScriptError(message, "Write the times of the cue in the line after it.")


_HALF_TIMING = re.compile(r"\s*\d{1,3}:\d{2}(?::\d{2})?[.,]\d{1,3}\s*+-{0,3}>?\s*")
"""What is left of a timing line; where an empty line or an id stands before it, it is no text."""


def _check_no_timing(text_lines: Sequence[str], file_name: str, first_number: int) -> None:
    """Raise ScriptError for text in which the times of another cue stand."""
    previous = "words"
    for number, line in enumerate(text_lines, first_number):
        may_begin_cue = not previous.strip() or _is_cue_id(previous, like=None)
        previous = line
        if looks_like_timing(line) or (may_begin_cue and _HALF_TIMING.fullmatch(line)):
            place = f"{file_name}, line {number}"
            message = f"{place}: {quoted(line)} stands in the text of a cue, but looks like times."
            raise ScriptError(message, "A cue must have an empty line before it.")


_SRT_TIMING = re.compile(
    r"\s*+(?P<start>[\d:]++(?:[,.]\d*+)?)\s*+-->\s*+(?P<end>[\d:]++(?:[,.]\d*+)?)(?:\s.*)?"
)
_MARKUP = re.compile(r"</?(?:i|b|u|s|font)(?:\s[^<>]*)?>|\{\\[^{}]*\}", re.IGNORECASE)
_DIGIT_TO_LETTER = {"1": "s", "2": "h"}
_LAST_DIGIT_TO_LETTER = {"3": "s", "4": "h"}


def write_srt(track: Track) -> str:
    """The heard lines as SubRip."""
    heard = track.heard
    blocks: list[str] = []
    for cue in heard:
        number = number_of(cue.id, is_last=cue is heard[-1])
        times = f"{timecode(cue.interval.start, ',')} --> {timecode(cue.interval.end, ',')}"
        blocks.append(f"{number}\n{times}\n{cue.text}\n\n")
    return "".join(blocks)


def read_srt(text: str, file_name: str) -> Script:
    """The cues of any SubRip file; in other people's, style markup is taken off.

    Raises ScriptError with file and line where a timing is malformed or text stands outside of cues, where
    text looks like a timing, and for a file of ours of which the end is missing.
    """
    lines = [line.rstrip() for line in _split_lines(text)]
    timings = [i for i in range(len(lines)) if _starts_cue(lines, i)]
    heads = [_number_line(lines, i) for i in timings]
    for i, line in enumerate(lines[: min(heads, default=len(lines))]):
        if line:
            raise ScriptError(f"{file_name}, line {i + 1}: {quoted(line)} stands outside of any cue.")
    check_line_count(timings, file_name)
    bodies = [lines[i + 1 : j] for i, j in zip(timings, [*heads[1:], len(lines)], strict=False)]
    numbers = [lines[head].strip() if head < i else "" for head, i in zip(heads, timings, strict=True)]
    # Only we number lines by their ids; somebody else's file shows nothing at its end.
    is_ours = any(id_of_number(number) for number in numbers)
    if is_ours and not any(map(is_number_of_last, numbers)):
        raise incomplete_error(
            file_name,
            "no number begins with 3 or 4, as that of the last line does",
            "If the file is whole, write 3 in place of the 1 that begins the last number, or 4 for 2",
        )
    # The text of the last line may have several, so that only the empty line after it says that it is whole.
    if is_ours and (len(lines) < 2 or lines[-1] or lines[-2]):
        raise incomplete_error(
            file_name, "no empty line stands at its end", "If the file is whole, add an empty line"
        )
    cues = tuple(
        _srt_cue(lines, timing, id_of_number(number), body, file_name, is_ours=is_ours)
        for timing, number, body in zip(timings, numbers, bodies, strict=True)
    )
    return Script(cues, is_proven=is_ours)


def without_added_markup(text: str, own_text: str) -> str:
    """A text from a script without the markup that an editor of subtitles put around it: italics, a place on
    the screen. It stays where ``own_text``, the line in the track, has some too."""
    return text if _MARKUP.search(own_text) else clean_text(_MARKUP.sub("", text))


def number_of(cue_id: str, *, is_last: bool = False) -> str:
    """An id as a number, for formats that have nothing else: ``s00083120 → 100083120``; 300083120 for the
    last line of a file, where nothing else can show that no line is missing behind it."""
    kinds = _LAST_DIGIT_TO_LETTER if is_last else _DIGIT_TO_LETTER
    kind = next(number for number, letter in kinds.items() if cue_id.startswith(letter))
    return kind + cue_id[1:]


def id_of_number(number: str) -> str | None:
    """The id in a number that `number_of` returned; None for any other number."""
    if len(number) >= 9 and number.isascii() and number.isdecimal():
        letter = (_DIGIT_TO_LETTER | _LAST_DIGIT_TO_LETTER).get(number[0])
        return letter + number[1:] if letter else None
    return None


def is_number_of_last(number: str) -> bool:
    """Whether `number_of` returned ``number`` for the last line of a file."""
    return id_of_number(number) is not None and number[0] in _LAST_DIGIT_TO_LETTER


def _starts_cue(lines: list[str], i: int) -> bool:
    """True where line ``i`` holds an arrow and follows an empty line, or a number that follows one."""
    if "-->" not in lines[i]:
        return False
    if i == 0 or not lines[i - 1]:
        return True
    return lines[i - 1].strip().isdecimal() and (i == 1 or not lines[i - 2])


def _number_line(lines: list[str], timing: int) -> int:
    """The line with the number of the cue whose times are in line ``timing``; that line where it has none.

    An editor may leave empty lines between the two.
    """
    if timing and lines[timing - 1]:
        return timing - 1
    index = timing - 1
    while index >= 0 and not lines[index]:
        index -= 1
    is_number = index >= 0 and lines[index].strip().isdecimal() and (index == 0 or not lines[index - 1])
    return index if is_number else timing


def _srt_cue(
    lines: list[str], timing_index: int, cue_id: str | None, body: list[str], file_name: str, *, is_ours: bool
) -> ScriptCue:
    place = f"{file_name}, line {timing_index + 1}"
    match = _SRT_TIMING.fullmatch(lines[timing_index])
    if match is None:
        message = (
            f"{place}: {quoted(lines[timing_index])} is no timing such as 00:01:02,500 --> 00:01:05,000."
        )
        raise ScriptError(message)
    _check_whole_timing(match["start"], match["end"], place, is_last_line=timing_index + 1 == len(lines))
    _check_no_timing(body, file_name, timing_index + 2)
    _check_has_times(body, file_name, timing_index + 2)
    if is_ours:
        _check_no_id(body, file_name, timing_index + 2)
    interval = parse_interval(match["start"], match["end"], place)
    # Ours holds texts as they are, whatever stands in them; others' have markup.
    text = "\n".join(body)
    return ScriptCue(cue_id, interval, clean_text(text if is_ours else _MARKUP.sub("", text)))
