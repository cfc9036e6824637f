"""Subtitle files as timed events, in every form that people have, and the lines that could not be read.

What is not read of subtitles counts as silence, and a line of AD would lie over dialogue. So everything that
can be meant as a time is read as one, and `ParsedSubtitles.unread` numbers the lines that look like times
and are not. Libraries read a standard and pass over the rest without a word: pysubs2 1.8 reads
``100:00:05,000`` as 5 s, and skips WebVTT times with commas, or without milliseconds, with the words under
them. They are the reason why this is read here.

| format | how it is recognised |
|---|---|
| WebVTT | begins with ``WEBVTT`` |
| ASS, SSA | ``[Script Info]`` |
| TTML, DFXP | ``<tt`` |
| SAMI | ``<SAMI>`` |
| MicroDVD | ``{100}{200}text``, in frames |
| MPL2 | ``[100][200]text``, in tenths of a second |
| LRC | ``[00:04.40]text`` |
| TMPlayer | ``00:00:04:text`` |
| SubRip, SubViewer, SBV | a line of two times |
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, zip_longest
from statistics import median

USUAL_FRAME_RATE = Fraction(25)
"""Frames a second of times such as ``00:00:04:12`` where nothing says how many. A wrong guess is wrong by
less than 0.2 s, since only the part of a second is counted in frames."""

_NTSC_RATES = tuple(Fraction(1000 * nominal, 1001) for nominal in (24, 30, 48, 60, 120))
_RATE_TOLERANCE = Fraction(1, 3000)
"""23.98 and 29.97, as people write them, are nearer to 24000/1001 and 30000/1001; 24 and 25 are not."""


def exact_rate(frame_rate: Fraction) -> Fraction:
    """Frames a second as they are meant: ``23.98 → 24000/1001``.

    >>> exact_rate(Fraction("29.97")), exact_rate(Fraction(24))
    (Fraction(30000, 1001), Fraction(24, 1))
    """
    near = (rate for rate in _NTSC_RATES if abs(frame_rate / rate - 1) < _RATE_TOLERANCE)
    return next(near, frame_rate)


def timecode_seconds(
    seconds: int, frames: Fraction, frame_rate: Fraction, *, nominal_rate: int, dropped: int = 0
) -> float:
    """The second of a time code ``seconds`` and ``frames``, by the frames that were counted until then.

    A time code counts ``nominal_rate`` frames in each second, of which ``frame_rate`` are shown: at 29.97 one
    of an hour is 3.6 s late. ``dropped`` numbers of frames were left out. Source: SMPTE ST 12-1; TTML2, the
    semantics of time expressions.
    """
    counted = seconds * nominal_rate + frames - dropped
    return round(float(counted / frame_rate), 6)


LONGEST_TIMING = 300
"""Characters; a longer line is no timing, and is not matched against patterns."""


@dataclass(frozen=True, slots=True)
class SubtitleEvent:
    """A text and the seconds for which it is shown; ``end`` is ``start`` where the file has no end."""

    start: float
    end: float
    text: str
    style: str = ""
    actor: str = ""


@dataclass(slots=True)
class ParsedSubtitles:
    """The events of a file in its order, and the lines that look like times and could not be read as such."""

    format: str
    events: list[SubtitleEvent] = field(default_factory=list)
    unread: list[tuple[int, str]] = field(default_factory=list)
    """Line number, from 1, and the line."""


class UnknownFrameRate(ValueError):  # noqa: N818  said of the file
    """Times are in frames, and neither the file nor the caller says how many there are in a second."""


def parse_subtitle_text(text: str, frame_rate: Fraction | None = None) -> ParsedSubtitles | None:
    """The events of a subtitle file; None where it is in no format known here.

    ``frame_rate`` is the film's, for times that are counted in frames. Raises UnknownFrameRate.
    """
    # Files that were joined have byte order marks inside. Two CR before an LF are one line end that was
    # converted twice: as two it would put a blank line after every line, which ends a WebVTT cue.
    text = text.replace("\ufeff", "").replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    format_name = _format_of(text)
    if format_name is None:
        return None
    lines = text.split("\n")
    match format_name:
        case "ass":
            parsed = _parse_ass(lines)
        case "ttml":
            parsed = _parse_ttml(text)
        case "sami":
            parsed = _parse_sami(text)
        case "microdvd":
            parsed = _parse_microdvd(lines, frame_rate)
        case "mpl2":
            parsed = _parse_mpl2(lines)
        case "lrc" | "tmp":
            parsed = _parse_start_only(lines, format_name)
        case _:
            parsed = _parse_cues(lines, format_name, frame_rate or USUAL_FRAME_RATE)
    return parsed


_ASS_SECTION = re.compile(
    r"^[^\S\n]*\[(?:Script Info|V4\+? Styles|Events)\]|^Dialogue:[^,\n]{0,80},\s*\d+:\d",
    re.MULTILINE | re.IGNORECASE,
)
_GAP = r"\s{0,9}"
"""Blanks, not without end: two unlimited gaps in a row would take quadratic time."""
_MICRODVD = re.compile(rf"^{_GAP}\{{{_GAP}(\d{{1,9}}){_GAP}\}}{_GAP}\{{{_GAP}(\d{{0,9}}){_GAP}\}}(.*)")
_MPL2 = re.compile(rf"^{_GAP}\[{_GAP}(-?\d{{1,9}}){_GAP}\]{_GAP}\[{_GAP}(-?\d{{0,9}}){_GAP}\](.*)")
_START_ONLY = {
    "lrc": re.compile(r"^\s*((?:\[\d{1,4}:\d{1,2}(?:[.:,]\d{1,3})?\]\s*)+)(.*)"),
    "tmp": re.compile(r"^\s*(\d{1,3}:\d{2}:\d{2})[:=](?!\d)(.*)"),
}
_DETECTED_LINES = 200
"""Lines in which the first event stands: before it are headers, credits and empty lines."""


def _format_of(text: str) -> str | None:
    head = text.lstrip()[:2000]
    if head.startswith("WEBVTT"):
        return "vtt"
    if re.search(r"<(?:\w{1,20}:)?tt[\s>]", head):
        return "ttml"
    if re.search(r"<sami[\s>]|<sync\s", head, re.IGNORECASE):
        return "sami"
    if _ASS_SECTION.search(text):
        return "ass"
    lines = [line for line in text.split("\n") if line.strip()]
    return _format_of_lines(lines)


def _format_of_lines(lines: list[str]) -> str | None:
    patterns = {"microdvd": _MICRODVD, "mpl2": _MPL2, **_START_ONLY}
    for line in lines[:_DETECTED_LINES]:
        if read_timing(line) is not None:
            return "srt"
        for name, pattern in patterns.items():
            if pattern.match(line):
                return name
    return "srt" if any(looks_like_timing(line) for line in lines) else None


# One time. Blanks around the colons and any number of digits: what people and OCR write.
_SIGN = r"[-\u2212]?"
_CLOCK = rf"{_SIGN}\s?(?:\d{{1,9}}\s?:\s?){{1,3}}\d{{1,9}}(?:\s?[.,;]\s?\d{{1,9}})?"
_SECONDS = rf"{_SIGN}\d{{1,9}}(?:[.,]\d{{1,9}})?(?:\s?s)?"
_EXACT_CLOCK = rf"{_SIGN}(?:\d{{1,9}}\s?:\s?){{2}}\d{{1,9}}\s?[.,:;]\s?\d{{1,9}}"
# ``-->`` and what editors, word processors and HTML make of it.
_ARROW = r"(?:[-\u2010-\u2015\u2212=~]\s?){1,4}(?:>|&gt;)|[\u2192\u2794\u279c\u21d2]"
# No part of a time stands behind the second one: ``00:0O:12,200`` is not 0 minutes and no seconds.
_TIMING = re.compile(
    rf"{_GAP}({_CLOCK}|{_SECONDS}){_GAP}({_ARROW}){_GAP}({_CLOCK}|{_SECONDS})(?![\w:;]|[.,]\w)(.*)"
)
_ARROWLESS_TIMING = re.compile(
    rf"{_GAP}({_EXACT_CLOCK}){_GAP}([,;|~\s\u2010-\u2015-]){_GAP}({_EXACT_CLOCK})({_GAP})$"
)
"""SBV and SubViewer have a comma between two times. Only a whole line of two exact times: in words, ``from
5:30 - 6:30`` is none."""
_HALF_TIMING = re.compile(
    rf"{_GAP}(?:(?:\d{{1,9}}{_GAP}:{_GAP}){{2}}\d{{1,9}}(?:{_GAP}[.,]{_GAP}\d{{1,9}})?|\d{{1,3}}:\d{{2}}[.,]\d{{1,3}})"
    rf"{_GAP}(?:{_ARROW}|[-\u2010-\u2015]{{1,3}})?{_GAP}$"
)
_CUE_SETTINGS = re.compile(r"(?:\s+[A-Za-z]\w{0,20}:\S+)*\s*$")


_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Timing:
    """The two times of a line, in seconds, and words that stand behind them on the same line."""

    start: float
    end: float
    words: str = ""


def read_timing(line: str, frame_rate: Fraction = USUAL_FRAME_RATE) -> Timing | None:
    """The times of a timing line; None where it is no such line.

    >>> read_timing("00:00:04,400 --> 00:00:06 align:start")
    Timing(start=4.4, end=6.0, words='')
    """
    if len(line) > LONGEST_TIMING or _DIGIT.search(line) is None:
        return None
    plain = _plain_times(line)
    match = _TIMING.match(plain) or _ARROWLESS_TIMING.match(plain) or _TIMING.match(_without_ocr_slips(plain))
    if match is None or not (_has_clock_fields(match[1]) and _has_clock_fields(match[3])):
        return None
    if match[2] != "-->" and ":" not in match[1] + match[3]:
        return None  # ``1 -> 2`` may be words
    start, end = read_clock(match[1], frame_rate), read_clock(match[3], frame_rate)
    words = "" if _CUE_SETTINGS.match(match[4]) else match[4].strip()
    return Timing(start, end, words)


def _has_clock_fields(time: str) -> bool:
    """Whether the numbers of a time are as long as they can be: in ``00:01:06400`` and ``00:0106,4`` a sign
    was lost, and nobody knows which time is meant. Hours have any length, as in ``100:00:05``."""
    fields = re.split(r"\s?:\s?", re.sub(r"[.,;].*", "", time.strip().lstrip("-\u2212")))
    if len(fields) == 1:
        return True
    longest_first = 3 if len(fields) == 2 else 9
    return len(fields[0]) <= longest_first and all(len(number.strip()) <= 2 for number in fields[1:3])


_BRACKETED_TIMES = re.compile(r"\s*\[([^\[\]]*-->[^\[\]]*)\](.*)", re.DOTALL)
_SEMICOLONS = re.compile(r"(?<![\d;])(\d{1,3});(\d{2});(\d{2})(?=[;:.,]\d)")


def _plain_times(line: str) -> str:
    """A line with its times in plain characters, as far as it holds some.

    Digits and colons of full width, blanks of other widths, the decimal sign of Arabic, and marks of
    direction, which stand around each line of a right-to-left file, become the usual ones or go. Whisper
    prints times in brackets; Premiere has semicolons throughout where frames are dropped.
    """
    plain = unicodedata.normalize("NFKC", line).replace("\u066b", ".").replace("\u060c", ",")
    if not plain.isascii():
        plain = "".join(character for character in plain if unicodedata.category(character) != "Cf")
    plain = _SEMICOLONS.sub(r"\1:\2:\3", plain)
    bracketed = _BRACKETED_TIMES.fullmatch(plain)
    return f"{bracketed[1]} {bracketed[2]}" if bracketed is not None else plain


_OCR_DIGIT = r"[\dOoIl|]"
_OCR_POINT = r"\s?[.,:;'\u2019\u00b4`]\s?"
# With three digits at its end a time is clear whatever signs part its numbers.
_OCR_CLOCK = (
    rf"(?:{_OCR_DIGIT}{{1,3}}\s?(?P<mark%d>[:;.])\s?{_OCR_DIGIT}{{2}}\s?(?P=mark%d)\s?{_OCR_DIGIT}{{2}}"
    rf"(?:{_OCR_POINT}{_OCR_DIGIT}{{1,3}})?"
    rf"|{_OCR_DIGIT}{{1,3}}(?:\s?[:;.]\s?{_OCR_DIGIT}{{2}}){{2}}{_OCR_POINT}{_OCR_DIGIT}{{3}})"
)
_OCR_TIMING = re.compile(
    rf"({_GAP})({_OCR_CLOCK % (1, 1)})({_GAP}(?:{_ARROW}){_GAP})({_OCR_CLOCK % (2, 2)})(?=\s|$)(.*)"
)
_OCR_DIGITS = str.maketrans("OoIl|", "00111")


def _without_ocr_slips(line: str) -> str:
    """A timing line with digits for the letters, and the usual signs for those, that text recognition makes
    of them: ``00.0O:l2'200``; any other line as it is."""
    match = _OCR_TIMING.fullmatch(line)
    if match is None:
        return line
    clocks: list[str] = []
    for clock in (match[2], match[5]):
        numbers = re.split(r"[^\d]+", clock.translate(_OCR_DIGITS))
        part = f",{numbers[3]}" if len(numbers) > 3 else ""
        clocks.append(":".join(numbers[:3]) + part)
    return f"{match[1]}{clocks[0]}{match[4]}{clocks[1]}{match[7]}"


def read_clock(text: str, frame_rate: Fraction = USUAL_FRAME_RATE) -> float:
    """Seconds of a time that matches a pattern here: ``1:02:03.5``, ``02:03,500``, ``01:02:03:12``, ``3.5s``.

    After a semicolon, or as a fourth number of one or two digits, stand frames (SMPTE); after a dot or a
    comma the part of a second as a decimal, however many digits there are. At 23.976, 29.97 and 59.94 frames
    a second a time with frames is a time code: behind a semicolon numbers were dropped.
    """
    text = re.sub(r"\s", "", text).rstrip("s")
    sign = -1.0 if text.startswith(("-", "\u2212")) else 1.0
    text = text.lstrip("-\u2212")
    whole, mark, part = text, "", ""
    for candidate in ";.,":
        if candidate in text:
            whole, mark, part = text.partition(candidate)
            break
    fields = whole.split(":")
    if len(fields) == 4:
        mark, part = ":", fields.pop()
    seconds = 0
    for number in fields:
        seconds = 60 * seconds + int(number)
    if not part:
        return sign * seconds
    is_frames = mark in ";:" and len(part) <= 2 and int(part) < frame_rate
    if not is_frames:
        return sign * round(seconds + float(f"0.{part}"), 6)
    rate = exact_rate(frame_rate)
    if rate not in _NTSC_RATES:
        return sign * round(seconds + float(int(part) / frame_rate), 6)
    nominal = math.ceil(rate)
    minutes = seconds // 60
    # Two numbers at 29.97, four at 59.94, in each minute but every tenth; at 23.976 none are dropped.
    dropped = nominal // 15 * (minutes - minutes // 10) if mark == ";" and nominal % 30 == 0 else 0
    return sign * timecode_seconds(seconds, Fraction(part), rate, nominal_rate=nominal, dropped=dropped)


def looks_like_timing(line: str) -> bool:
    """Whether a line that `read_timing` cannot read is meant for one, all the same."""
    if _DIGIT.search(line) is None:
        return False
    plain = _plain_times(line[: 2 * LONGEST_TIMING])
    if _HALF_TIMING.match(plain) or _looks_like_two_clocks(plain):
        return True
    has_clock = re.search(r"\d\s*:\s*\w|\w\s*:\s*\d", plain) is not None
    if "-->" in plain:
        before, _, after = plain.partition("-->")
        return has_clock or (re.search(r"\d", before) is not None and re.search(r"\d", after) is not None)
    arrow = re.search(_ARROW, plain)
    return arrow is not None and re.search(r"\d\s*:\s*\d", plain[: arrow.start()]) is not None


def _looks_like_two_clocks(line: str) -> bool:
    """Whether a line holds hardly more than two times, damaged perhaps: ``0:01:a6.400,0:01:08.000``."""
    letters = sum(character.isalpha() for character in line)
    digits = sum(character.isdigit() for character in line)
    return digits >= 8 and letters <= 2 and line.count(":") >= 3


_VTT_COMMENT = re.compile(r"NOTE(?:\s|$)|(?:STYLE|REGION)\s*$")


def _parse_cues(lines: list[str], format_name: str, frame_rate: Fraction) -> ParsedSubtitles:
    """SubRip, WebVTT, SBV and SubViewer: a line of times, then the words up to the next one.

    In WebVTT a truly empty line ends a cue; a line of one blank, as in automatic captions, does not. In the
    others an empty line may stand inside a cue.
    """
    parsed = ParsedSubtitles(format_name)
    timing: Timing | None = None
    payload: list[str] = []
    in_comment = False

    def end_cue(next_begins: bool) -> None:
        nonlocal timing
        words = list(payload)
        # The number of the next cue, or its name in WebVTT, stands before the next line of times.
        while next_begins and words and not words[-1].strip():
            words.pop()
        if next_begins and words and re.fullmatch(r"\s*\d{1,9}\s*", words[-1]):
            words.pop()
        if timing is not None:
            text = "\n".join([timing.words, *words]).strip()
            parsed.events.append(SubtitleEvent(timing.start, timing.end, text.replace("[br]", "\n")))
        timing = None
        payload.clear()

    previous = ""
    for number, line in enumerate(lines, 1):
        begins_block = previous == ""
        previous = line
        if format_name == "vtt":
            if in_comment:
                in_comment = line != ""
                continue
            if begins_block and _VTT_COMMENT.match(line):
                end_cue(next_begins=False)
                in_comment = True
                continue
        new_timing = read_timing(line, frame_rate)
        if new_timing is not None:
            end_cue(next_begins=True)
            timing = new_timing
        elif looks_like_timing(line) and not (timing is not None and _is_clock_in_words(line, payload)):
            # Its words belong to no cue, least of all to the one before.
            end_cue(next_begins=True)
            parsed.unread.append((number, line))
        elif line == "" and format_name == "vtt" and any(piece.strip() for piece in payload):
            end_cue(next_begins=False)
        elif timing is not None:
            payload.append(line)
    end_cue(next_begins=False)
    return parsed


def _is_clock_in_words(line: str, words_before: list[str]) -> bool:
    """Whether a line such as ``10:30:15`` belongs to the words of a cue, of which ``words_before`` are known.

    Half a timing line stands at the beginning of a cue: behind an empty line, or the number of the cue.
    """
    if re.search(_ARROW, line):
        return False
    last = words_before[-1].strip() if words_before else "words"
    return last != "" and not last.isdecimal()


_ASS_FIELDS = ("layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text")
_ASS_COMMA_TIMES = re.compile(
    r"^(\s*Dialogue:[^,]{0,80},\s*)(\d+:\d+:\d+),(\d{1,3})(\s*,\s*)(\d+:\d+:\d+),(\d{1,3})(?=\s*,)",
    re.IGNORECASE,
)
_WHOLE_CLOCK = re.compile(rf"\s*{_CLOCK}\s*")


def _is_clock(text: str) -> bool:
    return _WHOLE_CLOCK.fullmatch(text) is not None and _has_clock_fields(text)


def _parse_ass(lines: list[str]) -> ParsedSubtitles:
    parsed = ParsedSubtitles("ass")
    fields: tuple[str, ...] = _ASS_FIELDS
    in_events = False
    for number, line in enumerate(lines, 1):
        key, _, value = line.strip().partition(":")
        key = key.lower()
        if key.startswith("["):
            in_events = key.startswith("[events")
        elif key == "format" and in_events:
            names = tuple(name.strip().lower() for name in value.split(","))
            # The words have to be last: they may hold commas.
            fields = names if {"start", "end"} <= set(names) and names[-1] == "text" else fields
        elif key == "dialogue":
            # ``0:00:09,00`` would be two fields.
            line = _ASS_COMMA_TIMES.sub(r"\1\2.\3\4\5.\6", line)  # noqa: PLW2901
            values = line.strip().partition(":")[2].split(",", len(fields) - 1)
            row = dict(zip(fields, values, strict=False))
            times = [unicodedata.normalize("NFKC", row.get(name, "")) for name in ("start", "end")]
            if "text" not in row or not all(map(_is_clock, times)):
                parsed.unread.append((number, line))
                continue
            start, end = (read_clock(time) for time in times)
            style, actor = row.get("style", "").strip(), row.get("name", row.get("actor", "")).strip()
            parsed.events.append(SubtitleEvent(start, end, row["text"], style, actor))
    return parsed


def _parse_microdvd(lines: list[str], frame_rate: Fraction | None) -> ParsedSubtitles:
    parsed = ParsedSubtitles("microdvd")
    rows = list(_numbered(lines, _MICRODVD, parsed))
    # By custom the first line may say the rate: ``{1}{1}23.976``.
    if rows and rows[0][1] == rows[0][2] and re.fullmatch(r"\s*\d{2,3}(?:[.,]\d{1,4})?\s*", rows[0][3]):
        frame_rate = exact_rate(Fraction(rows.pop(0)[3].strip().replace(",", ".")))
    if not frame_rate:
        raise UnknownFrameRate("its times are counted in frames, and it does not say how many a second has")
    for _, start, end, text in rows:
        words = re.sub(r"\{[A-Za-z]:[^{}]*\}", "", text).replace("|", "\n")
        begin, stop = int(start) / float(frame_rate), int(end or start) / float(frame_rate)
        parsed.events.append(SubtitleEvent(begin, stop, words))
    return parsed


def _parse_mpl2(lines: list[str]) -> ParsedSubtitles:
    parsed = ParsedSubtitles("mpl2")
    for _, start, end, text in _numbered(lines, _MPL2, parsed):
        words = "\n".join(line.strip().removeprefix("/") for line in text.split("|"))
        parsed.events.append(SubtitleEvent(int(start) / 10, int(end or start) / 10, words))
    return parsed


def _numbered(
    lines: list[str], pattern: re.Pattern[str], parsed: ParsedSubtitles
) -> Iterator[tuple[int, str, str, str]]:
    for number, line in enumerate(lines, 1):
        match = pattern.match(line)
        if match is not None:
            yield number, match[1], match[2], match[3]
        elif re.match(r"\s*[\[{]\s*\d|.{0,20}(?:\}\s?\{|\]\s?\[)", line):
            parsed.unread.append((number, line))


def _parse_start_only(lines: list[str], format_name: str) -> ParsedSubtitles:
    """LRC and TMPlayer say only when a text begins: it stays until the next, at most as long as it takes."""
    parsed = ParsedSubtitles(format_name)
    has_hours = format_name == "lrc" and _lrc_has_hours(lines)
    begun: list[tuple[float, str]] = []
    for number, line in enumerate(lines, 1):
        match = _START_ONLY[format_name].match(line)
        if match is None:
            if re.match(r"\s*\[?\d+:\d", line):
                parsed.unread.append((number, line))
            continue
        for clock in re.findall(r"[\d:.,]+", match[1]):
            # In LRC the third number is the part of a second: ``[01:02:50]``.
            fields = clock.split(":")
            is_lrc_part = format_name == "lrc" and len(fields) == 3 and not has_hours
            start = read_clock(f"{fields[0]}:{fields[1]}.{fields[2]}" if is_lrc_part else clock)
            begun.append((start, match[2].replace("|", "\n")))
    begun.sort(key=lambda row: row[0])
    for (start, words), next_text in zip_longest(begun, begun[1:]):
        end = start + 1.0 + 0.5 * len(words.split())
        if next_text is not None:
            end = min(end, next_text[0])
        parsed.events.append(SubtitleEvent(start, end, words))
    return parsed


_FEWEST_WITH_HOURS = 2
"""Times such as ``[00:00:04]`` from which on they are taken for hours, minutes and seconds."""


LONGEST_USUAL_PAUSE = 60
"""Seconds between two lines of a transcript, in the median."""


def _lrc_has_hours(lines: list[str]) -> bool:
    """Whether ``[00:01:02]`` is a minute and two seconds, as transcription programs write it, and not 1.02 s.

    Of hundredths some are over 59, and the first number counts minutes, of which a song has a few. Somebody
    speaks, or sings, at least once a minute for most of the time.
    """
    triples: list[tuple[int, int, int]] = []
    for line in lines:
        match = _START_ONLY["lrc"].match(line)
        for hours, minutes, seconds in re.findall(
            r"\[(\d{1,4}):(\d{1,2}):(\d{1,2})[\].]", match[1] if match else ""
        ):
            triples.append((int(hours), int(minutes), int(seconds)))
    if len(triples) < _FEWEST_WITH_HOURS:
        return False
    clocks_are_possible = max(triples)[0] == 0 and all(seconds < 60 for _, _, seconds in triples)
    times = [60 * minutes + seconds for _, minutes, seconds in triples]
    pauses = [following - start for start, following in pairwise(times)]
    return clocks_are_possible and min(pauses) >= 0 and median(pauses) <= LONGEST_USUAL_PAUSE


_SYNC = re.compile(r"<sync\b([^<>]{0,200})>", re.IGNORECASE)


def _parse_sami(text: str) -> ParsedSubtitles:
    """SAMI: each ``<SYNC Start=4400>`` replaces the text before it; one with a blank text ends it."""
    parsed = ParsedSubtitles("sami")
    syncs = list(_SYNC.finditer(text))
    begun: list[tuple[float, str]] = []
    line, counted_to = 1, 0
    for sync, following in zip_longest(syncs, syncs[1:]):
        line += text.count("\n", counted_to, sync.start())
        counted_to = sync.start()
        start_match = re.search(r"""\bstart\s{0,9}=\s{0,9}["']?\s{0,9}(-?\d{1,10})""", sync[1], re.IGNORECASE)
        if start_match is None:
            parsed.unread.append((line, sync[0]))
            continue
        words = text[sync.end() : following.start() if following else len(text)]
        words = re.sub(r"<br\s*/?>", "\n", words, flags=re.IGNORECASE)
        words = html.unescape(re.sub(r"<[^<>]*>", "", words))
        begun.append(
            (int(start_match[1]) / 1000, "\n".join(line.strip() for line in words.split("\n")).strip())
        )
    for (start, words), next_text in zip_longest(begun, begun[1:]):
        if words:
            end = start if next_text is None else next_text[0]
            parsed.events.append(SubtitleEvent(start, end, words))
    return parsed


_OFFSET = re.compile(r"\s*(\d{1,12}(?:\.\d{1,9})?)\s*(h|ms|m|s|f|t)\s*")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def _parse_ttml(text: str) -> ParsedSubtitles:
    """TTML and DFXP: every ``p``, or the timed parts of it. Times of elements around it are added."""
    from lxml import etree

    parsed = ParsedSubtitles("ttml")
    # No entities, nothing from outside. ``recover``: a file that was cut still has its first cues.
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=True,
        huge_tree=False,
    )
    # The declaration may name another encoding than that in which the text was read.
    text = re.sub(r"^\s*<\?xml[^>]{0,200}\?>", "", text)
    root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    # What the parser passed over may have held a time. A prefix that is not declared, or an entity, has none.
    shown_lines = text.split("\n")
    damaged = {
        error.line
        for error in parser.error_log
        if error.level_name == "FATAL" and "ENTITY" not in error.type_name
    }
    parsed.unread += [(number, "".join(shown_lines[number - 1 : number])) for number in sorted(damaged)]
    if root is None:
        return parsed
    attributes = {str(name).rpartition("}")[2]: str(value) for name, value in root.attrib.items()}
    seconds_of = _ttml_clock(attributes)

    def time_of(element: etree._Element, name: str) -> float | None:
        value = element.get(name)
        if value is None:
            return None
        seconds = seconds_of(str(value))
        if seconds is None:
            line: int | None = element.sourceline  # type: ignore[assignment]
            parsed.unread.append((line or 0, f'{name}="{value}"'))
        return seconds

    def walk(element: etree._Element, around: float, end_around: float | None) -> float:
        """The second at which an element ends that begins at ``around``, but for its own ``begin``.

        ``end_around`` is when what is around it ends, None where that does not say.
        """
        if not isinstance(element.tag, str):  # a comment
            return around
        begin, end, length = (time_of(element, name) for name in ("begin", "end", "dur"))
        start = round(around + (begin or 0.0), 6)
        stop = round(start + (length or 0.0) if end is None else around + end, 6)
        is_timed = begin is not None or end is not None or length is not None
        inner_is_timed = any(
            isinstance(inner.tag, str) and inner.get("begin") is not None
            for inner in element.iterdescendants()
        )
        name = str(element.tag).rpartition("}")[2]
        if is_timed and name in ("p", "span") and not inner_is_timed:
            if element.get("begin") is not None and begin is None:
                return around  # told in time_of
            parsed.events.append(SubtitleEvent(start, stop, _ttml_words(element)))
            return stop
        if name == "p" and not inner_is_timed and (words := _ttml_words(element)):
            # It is shown as long as what is around it.
            if end_around is not None:
                parsed.events.append(SubtitleEvent(start, end_around, words))
                return end_around
            line: int | None = element.sourceline  # type: ignore[assignment]
            parsed.unread.append((line or 0, words))
            return around
        has_end = end is not None or length is not None
        is_sequence = element.get("timeContainer") == "seq"
        last_end = start
        inner_end_around = stop if has_end else end_around
        if begin is not None and not has_end:
            inner_end_around = start  # not known: the words are shown as long as they take
        for inner in element:
            # In a sequence each element begins where the one before it ends.
            inner_end = walk(inner, last_end if is_sequence else start, inner_end_around)
            last_end = inner_end if is_sequence else max(last_end, inner_end)
        return stop if has_end else last_end

    programme_start = 0.0
    for element in root.iter():
        name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
        if name == "documentStartOfProgramme":
            # EBU-TT: the time code of the film's first frame, 10:00:00:00 for example.
            programme_start = seconds_of((element.text or "").strip()) or 0.0
        elif name == "body":
            walk(element, -programme_start, None)
    return parsed


def _ttml_words(element: object) -> str:
    words: list[str] = []
    for inner in element.iter():  # type: ignore[attr-defined]
        name = str(inner.tag).rpartition("}")[2] if isinstance(inner.tag, str) else ""
        if name == "br":
            words.append("\n")
        if name and name != "metadata":
            words.append(" ".join((inner.text or "").split()) + " ")
        if inner is not element:
            words.append(" ".join((inner.tail or "").split()) + " ")
    return "".join(words).strip()


_TTML_CLOCK = re.compile(
    r"\s*(\d{1,9}):(\d{1,2}):(\d{1,2})(?:\.(?P<part>\d{1,9})|:(?P<frames>\d{1,3})(?:\.(?P<inner>\d{1,3}))?)?\s*"
)


def _ttml_clock(attributes: dict[str, str]) -> Callable[[str], float | None]:
    """Reads a time by the parameters of the root: rates of frames and ticks, and how time codes are counted.

    With ``timeBase="smpte"`` a clock time is the number of a frame, else it is a time and a part of a second.
    Source: TTML2, 7.2 and the semantics of time expressions.
    """

    def number(name: str, default: Fraction) -> Fraction:
        try:
            return Fraction(attributes.get(name, "")) or default
        except (ValueError, ZeroDivisionError):
            return default

    nominal = number("frameRate", Fraction(30))
    # DFXP had a colon between the two numbers of the multiplier.
    up, _, down = attributes.get("frameRateMultiplier", "1 1").strip().replace(":", " ").partition(" ")
    rate = nominal
    if up.isdigit() and down.strip().isdigit() and int(up) and int(down):
        rate *= Fraction(int(up), int(down))
    inner_frames = number("subFrameRate", Fraction(1))
    ticks = number("tickRate", rate * inner_frames if "frameRate" in attributes else Fraction(1))
    is_timecode = attributes.get("timeBase", "").strip() == "smpte"
    drop_mode = attributes.get("dropMode", "").strip()

    def dropped_until(minutes: int) -> int:
        """Numbers of frames that were left out: two in each minute but every tenth (``dropNTSC``), four in
        each second minute but every twentieth (``dropPAL``), as many more at 60 frames a second."""
        if drop_mode == "dropNTSC":
            return 2 * (minutes - minutes // 10) * max(1, round(nominal / 30))
        if drop_mode == "dropPAL":
            return 4 * (minutes // 2 - minutes // 20) * max(1, round(nominal / 30))
        return 0

    def seconds_of(value: str) -> float | None:
        offset = _OFFSET.fullmatch(value)
        if offset is not None:
            count = float(offset[1])
            if offset[2] in "ft":
                return count / float(rate if offset[2] == "f" else ticks)
            return count * _UNITS[offset[2]]
        clock = _TTML_CLOCK.fullmatch(value)
        if clock is None:
            return read_clock(value, rate) if _is_clock(value) else None
        minutes = 60 * int(clock[1]) + int(clock[2])
        whole_seconds = 60 * minutes + int(clock[3])
        frames = Fraction(clock["frames"] or 0) + Fraction(clock["inner"] or 0) / inner_frames
        part = Fraction(f"0.{clock['part']}") if clock["part"] else Fraction(0)
        if not is_timecode:
            return round(float(whole_seconds + part + frames / rate), 6)
        dropped = dropped_until(minutes)
        frames += part * nominal
        return timecode_seconds(whole_seconds, frames, rate, nominal_rate=math.ceil(nominal), dropped=dropped)

    return seconds_of
