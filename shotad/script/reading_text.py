"""The description as plain text that people read: with a screen reader, on a braille display, on paper.

Deafblind people read a film this way, and others read up what they missed. The text is what programs that
make braille take (Duxbury, BrailleBlaster, liblouisutdml): UTF-8, a paragraph on one line,
blank lines between, no signs but those of the sentences. They know the braille of the reader's language, its
contractions, cells and pages; a file in braille (BRF) from here would know none of it. Nothing that is well
kept brings liblouis to Python by a package index (2026: ``pylouis`` of 2020 lacks library and tables).

A heading begins each ten minutes in which there are lines; it has the time from which on they are. Each line
has the time at which it begins, without the hundredths that nobody reads. So ends and ids are lost, and the
text is not read back: edits are made in Word or on the review page.
"""

from __future__ import annotations

import hashlib
from itertools import groupby
from pathlib import PurePath

from shotad.core.errors import ScriptError
from shotad.core.progress import duration
from shotad.script.cue import Cue, Script, one_line
from shotad.script.track import Track
from shotad.script.track_texts import texts_in

SECTION_SECONDS = 600
"""Of film in a section: some twenty lines, a few minutes of reading."""


def write_txt(track: Track) -> str:
    """The heard lines with the times at which they begin, in sections of ten minutes.

    Headings begin with ``#``, as in Markdown, so that they can be searched for. By the last line a reader
    knows that nothing is missing; the hash in it is that of the text above (`is_as_written`).
    """
    paragraphs = [f"# {one_line(PurePath(track.film.name).stem or track.film.name)}", track.statement]
    for number, cues in groupby(track.heard, key=_section):
        paragraphs.append(f"## {_clock(number * SECTION_SECONDS)}")
        paragraphs += [f"{_clock(cue.interval.start)} {one_line(cue.text)}" for cue in cues]
    texts = texts_in(track.language)
    count = texts.count("count.lines", len(track.heard))
    end = texts("script.end_of_text", lines=count, length=duration(track.film.duration))
    text = "\n\n".join(paragraphs)
    return f"{text}\n\n{end} ({_hash(text)})\n"


def is_as_written(data: bytes) -> bool:
    """Whether nobody changed the text in a file since `write_txt` wrote it, from whatever track."""
    text, _, last_line = data.decode("utf-8", "replace").rpartition("\n\n")
    return last_line.endswith(f" ({_hash(text)})\n")


def read_txt(text: str, file_name: str) -> Script:
    """Raises ScriptError: the text has neither ends nor ids of lines, so that edits cannot be brought in."""
    if "shotad" not in text:
        raise ScriptError(
            f"{file_name} is text without the times of its lines.",
            "Save the lines with their times: as SRT or WebVTT, or as a table with the heads In, Out and "
            "Line (CSV, DOCX, XLSX).",
        )
    raise ScriptError(
        f"{file_name} is the description as text to read, which holds only where its lines begin.",
        "Edit the lines in Word (--format docx), in a table (csv), or on the review page.",
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]


def _section(cue: Cue) -> int:
    """The number of the ten minutes in which a line begins, from 0."""
    return int(cue.interval.start // SECTION_SECONDS)


def _clock(seconds: float) -> str:
    """``3723.9 → 1:02:03``."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
