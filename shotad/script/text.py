"""All script formats in one table: writing a track, reading any script back, checking one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from shotad.errors import ScriptError
from shotad.script.cue import Script, ScriptCue
from shotad.script.dapt import read_dapt, write_dapt
from shotad.script.dapt_check import Violation, check_dapt
from shotad.script.rules import check_times
from shotad.script.sheet import read_csv, read_json, write_csv, write_json
from shotad.script.srt import read_srt, write_srt
from shotad.script.track import Track
from shotad.script.webvtt import read_vtt, write_vtt


@dataclass(frozen=True, slots=True)
class Format:
    """A script format: its name, the ending of our files (``film.ad.vtt``), a writer and a reader."""

    name: str
    ending: str
    write: Callable[[Track], str]
    read: Callable[[bytes, str], Script]


def write_script(track: Track, name: str) -> str:
    """The heard lines of the track in the format ``name``. Raises ScriptError with the list of formats."""
    return script_format(name).write(track)


def script_format(name: str) -> Format:
    """The format of that name: vtt, srt, dapt, csv or json."""
    if name not in FORMATS:
        raise ScriptError(f"There is no script format {name!r}.", f"Choose one of {', '.join(FORMATS)}.")
    return FORMATS[name]


def read_cues(path: Path, name: str | None = None) -> tuple[ScriptCue, ...]:
    """The lines of any script file; the format is found by ending and content unless ``name`` gives it.

    Raises ScriptError with file and line.
    """
    return read_script(path, name).cues


def read_script(path: Path, name: str | None = None) -> Script:
    """As `read_cues`, with the stamp of the track that the file was written from, if it has one."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ScriptError(f"The script {path} cannot be read: {error}.") from None
    return script_format(name or detect_format(path.name, data)).read(data, path.name)


def detect_format(file_name: str, data: bytes) -> str:
    """The format's name: by the content where it is plain, else by the ending."""
    head = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    marks = ((b"WEBVTT", "vtt"), (b"<", "dapt"), (b"{", "json"), (b"[", "json"))
    found = next((name for mark, name in marks if head.startswith(mark)), None)
    if found is not None:
        return found
    ending = file_name.lower().rpartition(".")[2]
    by_ending = {
        **{fmt.ending.rpartition(".")[2]: fmt.name for fmt in FORMATS.values()},
        "ttml": "dapt",
        "tsv": "csv",
    }
    if ending in by_ending:
        return by_ending[ending]
    return "srt" if b"-->" in head else "csv"


def check_script(path: Path) -> tuple[Violation, ...]:
    """What makes a script unusable: broken syntax, broken clauses in DAPT, times out of order (T6)."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ScriptError(f"The script {path} cannot be read: {error}.") from None
    name = detect_format(path.name, data)
    if name == "dapt" and (violations := check_dapt(data)):
        return violations
    try:
        cues = FORMATS[name].read(data, path.name).cues
    except ScriptError as error:
        return (Violation(error.clause or f"{name} syntax", error.what),)
    times = (Violation(found.rule, f"{found.cue_id}: {found.message}") for found in check_times(cues))
    return (*times, *_repeated_ids(cues))


def _repeated_ids(cues: tuple[ScriptCue, ...]) -> list[Violation]:
    counts = Counter(cue.id for cue in cues if cue.id is not None)
    return [Violation("ids", f"{count} cues have the id {key}") for key, count in counts.items() if count > 1]


def _as_text(read: Callable[[str, str], Script]) -> Callable[[bytes, str], Script]:
    def reader(data: bytes, name: str) -> Script:
        try:
            text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise ScriptError(f"{name}, line {line}: the text is not UTF-8.", "Save it as UTF-8.") from None
        return read(text, name)

    return reader


FORMATS = {
    fmt.name: fmt
    for fmt in (
        Format("vtt", "ad.vtt", write_vtt, _as_text(read_vtt)),
        Format("srt", "ad.srt", write_srt, _as_text(read_srt)),
        Format("dapt", "ad.dapt.xml", write_dapt, read_dapt),
        Format("csv", "ad.csv", write_csv, _as_text(read_csv)),
        Format("json", "ad.json", write_json, _as_text(read_json)),
    )
}
