"""Reading a script in TTML that is no DAPT document: EBU-TT, DFXP, IMSC, what subtitle editors save.

Its times and words are those that subtitles in TTML have (`shotad.core.subtitle_files`). What could not be
read there is an error here: a script is a person's work, of which no line may be lost in silence.
"""

from __future__ import annotations

from shotad.core import Interval
from shotad.core.errors import ScriptError, quoted
from shotad.core.subtitle_files import parse_subtitle_text
from shotad.script.cue import Script, ScriptCue, check_line_count, clean_text
from shotad.script.dapt import Violation
from shotad.script.dapt_reader import parse_dapt


def read_ttml(document: bytes, file_name: str) -> Script:
    """The texts of a TTML document and the times at which they are shown.

    Raises ScriptError with file and line for a document that is damaged or declares entities, for a time that
    cannot be read, and for a text without times.
    """
    root = parse_dapt(document)
    if isinstance(root, Violation):
        message = f"{file_name}, line {root.line}: {root.message}."
        raise ScriptError(message, "Save it again as XML in UTF-8.", root.clause)
    parsed = parse_subtitle_text(document.decode("utf-8"))
    if parsed is None or parsed.format != "ttml":
        raise ScriptError(f"{file_name} is no TTML.", "Export it again.")
    if parsed.unread:
        number, line = parsed.unread[0]
        message = f"{file_name}, line {number}: {quoted(line.strip())} has no time that can be read."
        raise ScriptError(message, "Correct it, or save the script as SRT or WebVTT.")
    cues: list[ScriptCue] = []
    for event in parsed.events:
        if not event.text.strip():
            continue
        try:
            interval = Interval(event.start, event.end)
        except ValueError as error:
            message = f"{file_name}: the times of {quoted(event.text.strip())}: {error}."
            raise ScriptError(message, "Correct the times.") from None
        # A line break in the document ends a line on the screen, with blanks around it.
        words = "\n".join(" ".join(line.split()) for line in event.text.split("\n"))
        cues.append(ScriptCue(None, interval, clean_text(words)))
        check_line_count(cues, file_name)
    if not cues:
        raise ScriptError(f"{file_name} holds no text with times.", "Export it again.")
    cues.sort(key=lambda cue: cue.interval)
    return Script(tuple(cues), is_proven=True)
