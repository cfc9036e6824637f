"""All script formats in one table: write a track, read a script back, check one.

A format NAME has ``write_NAME`` and ``read_NAME`` in a module that is imported when a script is written or
read. The user's own slots and shots are read here too, from any script.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from shotad.core import Interval, Shot
from shotad.core.errors import (
    EditConflict,
    ScriptError,
    quoted,
)
from shotad.core.files import write_bytes, write_text
from shotad.core.progress import plural, size_text
from shotad.core.text_files import (
    FileKind,
    decode_text,
    read_file_bytes,
)
from shotad.core.types import clip_all, time_range
from shotad.script import shot_lists
from shotad.script.cue import Script, ScriptCue, line_stamp, track_stamp
from shotad.script.dapt import TT, Violation
from shotad.script.edits import LineVersions, import_script
from shotad.script.frame_count import FilmFrames
from shotad.script.rules import check_times
from shotad.script.track import Track, to_json
from shotad.script.worksheet import Worksheet


@dataclass(frozen=True, slots=True)
class Format:
    """A script format.

    Its module has ``write_NAME(track) -> str | bytes`` and ``read_NAME(text, file_name) -> Script``. Every
    format must hold to this, so that an import never takes a damaged file for a person's edits:

    - The file marks its own end (a closing bracket, a list of its lines, a last marker). The reader raises
      ScriptError (`shotad.script.cue.incomplete_error`) for a file of ours without it, and otherwise returns
      ``is_proven=True``. For somebody else's file without such a mark it returns False: import then does not
      take an empty text for a line that a person deleted.
    - Lines carry their ids, else import has to find them by their times.
    - The file carries the stamp of the track, and each line's own where there is room for it
      (`shotad.script.cue.line_stamp`): by them import detects what a person changed.
    - The reader raises ScriptError with file and line for what it cannot read, and skips nothing.

    Attributes:
        name: ``vtt``; begins the names of writer and reader.
        ending: The ending of its files, without the first dot: ``ad.vtt``.
        module: The module of this package with its writer, and its reader of text.
        bytes_reader_module: A module whose reader takes bytes instead of text; empty for a reader of text.
        frame_rate: Frames a second of a format that counts in frames, where the user gave them.
        frames: The count of the film's frames, for markers, where it is known.
    """

    name: str
    ending: str
    module: str
    bytes_reader_module: str = ""
    frame_rate: Fraction | None = None
    frames: FilmFrames | None = None

    def counting(self, frames: FilmFrames | None) -> Format:
        """The same format with the count of a film's frames, where it needs one."""
        return replace(self, frames=frames) if self.needs_frames else self

    @property
    def needs_frames(self) -> bool:
        """Whether it counts in the film's frames, of which nothing is known yet."""
        return self.name in MARKERS and self.frames is None

    @property
    def has_statement(self) -> bool:
        """Whether its files say who made the lines (`Track.statement`)."""
        return self.name not in ("srt", "frazier", "edl")

    @property
    def has_material(self) -> bool:
        """Whether it shows a worksheet (pictures, dialogue, people) beside the lines."""
        return self.name in ("docx", "xlsx")

    def encode(self, track: Track, worksheet: Worksheet | None = None) -> bytes:
        """The bytes of the script file; with the material of ``worksheet`` in formats that show it."""
        options = self._frame_options
        if self.has_material:
            options["worksheet"] = worksheet
        write = _load_function(self.module, f"write_{self.name}")
        script: str | bytes = write(track, **options)
        return script.encode("utf-8") if isinstance(script, str) else script

    def write(self, track: Track) -> str:
        """The script as text, for formats that are text (DOCX and XLSX are not)."""
        return self.encode(track).decode("utf-8")

    def read(self, data: bytes, file_name: str, language: str | None = None) -> Script:
        """The script in ``data``, the content of the file called ``file_name``.

        ``language`` (a tag) is the one that is read from a file with several. Raises ScriptError with file
        and line.
        """
        # Documents have limits of their own, and may hold pictures.
        is_document = self.name in ("docx", "xlsx")
        if len(data) > LARGEST_TEXT and not is_document:
            message = f"{file_name} has {size_text(len(data))}; at most {size_text(LARGEST_TEXT)} are read."
            raise ScriptError(message, "Is it a script?")
        content: bytes | str = data if self.bytes_reader_module else _text_of(data, file_name)
        read = _load_function(self.bytes_reader_module or self.module, f"read_{self.name}")
        options = self._frame_options
        # The only format that names the language of each text.
        if self.name == "dapt":
            options["language"] = language
        try:
            script: Script = read(content, file_name, **options)
        except ScriptError as error:
            if file_name in error.what:
                raise
            # An error in a single cue, such as a too long text, names its time only.
            raise ScriptError(f"{file_name}: {error.what}", error.hint, error.clause) from None
        return script

    @property
    def _frame_options(self) -> dict[str, Any]:
        """The keyword argument of writer and reader that says how frames are counted, where that is known."""
        if self.frames is not None:
            return {"frames": self.frames}
        return {} if self.frame_rate is None else {"frame_rate": self.frame_rate}


LARGEST_TEXT = 16_000_000
"""Bytes of a script that is text: a track of 3,000 lines with all its records has 5 MB as JSON."""


def _check_readable(data: bytes, file_name: str) -> None:
    """Raise ScriptError for a file without content, and for one of a kind that is no script."""
    if not data.strip(b" \t\r\n\x00\xef\xbb\xbf"):
        message = f"{file_name} is empty." if not data else f"{file_name} holds nothing but blanks."
        raise ScriptError(message, "Was it cut off when it was saved? Export the script again.")
    kind = _other_kind(data[:4096])
    if kind is not None:
        message = f"{file_name} is {kind}, which shotad does not read as a script."
        raise ScriptError(message, "Save it as SRT, WebVTT, CSV, DOCX or XLSX.")


_OTHER_KINDS = (
    (rb"\[(?:script info|v4\+? styles|events)\]", "an ASS or SSA subtitle file"),
    (rb"\{\\rtf", "an RTF document"),
    (rb"\{\d+\}\{\d*\}", "a MicroDVD subtitle file"),
    (rb"\[\d+:\d+(?:[.:]\d+)?\]", "an LRC lyrics file"),
    (rb"\[\d+\]\[\d*\]", "an MPL2 subtitle file"),
    (rb"\[[a-z]+:[^\]\n]*\]", "an LRC lyrics file"),
    (rb"\d+:\d\d:\d\d\.\d{3},\d+:\d\d:\d\d\.\d{3}\r?\n", "an SBV subtitle file"),
    (rb"scenarist_scc", "an SCC caption file"),
    (rb"<sami", "a SAMI subtitle file"),
    (rb"<(?:!doctype )?html", "a web page"),
    (rb"%pdf-", "a PDF document"),
    (rb"\xd0\xcf\x11\xe0", "a document of an old Office program (DOC, XLS)"),
    (rb"pk\x03\x04.{26}mimetypeapplication/vnd\.oasis", "an OpenDocument file"),
    (rb"\d{3}stl\d\d\.\d\d", "an EBU STL subtitle file"),
)
"""Files that people give as scripts by mistake: how they begin, in lower case, and what they are."""


def _other_kind(head: bytes) -> str | None:
    """The kind of a file that no format here reads; None where its beginning shows none."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for pattern, kind in _OTHER_KINDS:
        if re.match(pattern, start, re.DOTALL):
            return kind
    return None


_SAVE_AS_UTF8 = (
    "Save it as UTF-8 (in Excel: Save As, CSV UTF-8), or name its encoding: shotad import --encoding cp1252."
)


def _text_of(data: bytes, file_name: str) -> str:
    """The text of a script, which must be UTF-8, or UTF-16 with a mark: it is merged with other texts."""
    text_file = decode_text(data, file_name, ScriptError, hint=_SAVE_AS_UTF8, encoding="utf-8")
    if text_file.damaged:
        message = f"{file_name} {text_file.note.replace('UTF-8', text_file.encoding.upper())}."
        raise ScriptError(message, _SAVE_AS_UTF8)
    return text_file.text


def script_format(name: str) -> Format:
    """The format of that name, one of `ALL_FORMATS`. Raises ScriptError for another name.

    ``frazier`` may name its frames a second: ``frazier@24``, ``frazier@30000/1001``; ``edl`` and ``fcpxml``
    how the film's are counted: ``edl@29.97df+01:00:00;00`` (`FilmFrames.parse`).
    """
    base_name, at_sign, rate_text = name.partition("@")
    if base_name not in ALL_FORMATS or (at_sign and base_name not in ("frazier", *MARKERS)):
        names = ", ".join(ALL_FORMATS)
        raise ScriptError(f"There is no script format {quoted(name)}.", f"Choose one of {names}.", usage=True)
    if not at_sign:
        return ALL_FORMATS[base_name]
    if base_name in MARKERS:
        try:
            return replace(ALL_FORMATS[base_name], frames=FilmFrames.parse(rate_text))
        except (ValueError, ZeroDivisionError) as error:
            hint = f"Write {base_name}@25, {base_name}@29.97df or {base_name}@24+01:00:00:00."
            raise ScriptError(f"{quoted(name)}: {error}.", hint, usage=True) from None
    try:
        frame_rate = Fraction(rate_text)
        if not 1 <= frame_rate <= 100:
            raise ValueError(rate_text)
    except (ValueError, ZeroDivisionError):
        message = f"{quoted(name)} names no frames a second from 1 to 100."
        raise ScriptError(message, "Write frazier@24 or frazier@30000/1001.") from None
    return replace(ALL_FORMATS[base_name], frame_rate=frame_rate)


def read_cues(path: Path, kind: FileKind = "script") -> tuple[ScriptCue, ...]:
    """The lines of any script file; ``kind`` determines its maximum size. Raises ScriptError with file and
    line."""
    return read_script(path, kind=kind).cues


def read_script(
    path: Path,
    name: str | None = None,
    language: str | None = None,
    *,
    kind: FileKind = "script",
    encoding: str | None = None,
) -> Script:
    """The script in a file; its format is detected unless ``name`` gives it.

    ``language`` (a tag) is the one that is read from a file with several, ``kind`` determines the maximum
    size, ``encoding`` is that of a file of text (None: UTF-8). Raises ScriptError with file and line,
    UsageError for an ``encoding`` that is not known.
    """
    data = read_file_bytes(path, kind, ScriptError)
    # DAPT and FCPXML name their encoding themselves, the packages of Office hold no text.
    if encoding is not None and not data.startswith(b"PK") and not data.lstrip().startswith(b"<"):
        data = decode_text(data, path.name, ScriptError, encoding=encoding).text.encode("utf-8")
    return parse_script(data, path.name, name, language)


def parse_script(data: bytes, file_name: str, name: str | None = None, language: str | None = None) -> Script:
    """The script in ``data``, the content of the file called ``file_name``; otherwise as `read_script`."""
    _check_readable(data, file_name)
    name = name or detect_format(file_name, data)
    file_format = READ_ONLY.get(name) or script_format(name)
    return file_format.read(data, file_name, language)


def detect_format(file_name: str, data: bytes) -> str:
    """The format's name: by the content where that is clear, else by the ending."""
    # The packages of Office are ZIP files.
    if data.startswith(b"PK"):
        package_format = _load_function("document", "office_format")(data)
        if package_format is not None:
            return str(package_format)
    head = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    first_line = head.decode("utf-8", "replace").partition("\n")[0].strip()
    # In this order: a DASH manifest is XML too, as DAPT is.
    signs = {
        "dash": b"AdaptationSet" in head and TT.encode() not in head,
        "vtt": head.startswith(b"WEBVTT"),
        "fcpxml": head.startswith(b"<") and b"<fcpxml" in head,
        "ttml": head.startswith(b"<") and is_plain_ttml(data),
        "dapt": head.startswith(b"<"),
        "json": head.startswith((b"{", b"[")),
        "hls": head.startswith(b"#EXTM3U") or b"\n#EXT-X-MEDIA:" in head,
        "txt": head.startswith(b"# ") and b"\nAudio description made by machine: shotad" in head,
    }
    for name, has_sign in signs.items():
        if has_sign:
            return name
    # Tables with a head of their own; all other tables are plain CSV.
    for name in ("reaper", "frazier"):
        if _load_function("table_formats", f"is_{name}")(first_line):
            return name
    ending = file_name.lower().rpartition(".")[2]
    if ending in _FORMAT_BY_EXTENSION:
        return _FORMAT_BY_EXTENSION[ending]
    if b"-->" in head:
        return "srt"
    # Words alone are no table, which the error of one would not say.
    return "csv" if _TIME_OR_DECIMAL.search(head) else "txt"


_TIME_OR_DECIMAL = re.compile(rb"\d:\d\d|\d[.,;\t]\s?\d|start", re.IGNORECASE)
"""What stands in each table of lines or shots: times, or the heads of their columns."""


_HEAD_OF_TTML = 1 << 16
"""Bytes in which the root of a TTML document begins; a licence may stand before it."""


def is_plain_ttml(data: bytes) -> bool:
    """Whether a document is TTML and does not name DAPT, whose rules it would have to keep."""
    head = data[:_HEAD_OF_TTML]
    has_root = re.search(rb"<(?:\w{1,20}:)?tt[\s>]", head) is not None
    return has_root and b"ns/ttml/profile/dapt" not in head


def check_script(path: Path) -> tuple[Violation, ...]:
    """What makes a script unusable: invalid syntax, violated clauses of DAPT, times out of order (T6).

    Raises ScriptError for a file that cannot be read at all.
    """
    data = read_file_bytes(path, "script", ScriptError)
    try:
        _check_readable(data, path.name)
    except ScriptError as error:
        return (Violation("file", error.what),)
    name = detect_format(path.name, data)
    if name in SIGNALS:
        signal_violations: tuple[Violation, ...] = _load_function("signalling", f"check_{name}")(data)
        return signal_violations
    if name == "dapt":
        dapt_violations = _load_function("dapt_reader", "check_dapt")(data)
        if dapt_violations:
            return tuple(dapt_violations)
    try:
        cues = (READ_ONLY.get(name) or ALL_FORMATS[name]).read(data, path.name).cues
    except ScriptError as error:
        return (Violation(error.clause or f"{name} syntax", error.what),)
    violations: list[Violation] = []
    if name == "vtt":
        # The reader accepts these deviations from WebVTT; players may not.
        deviations = _load_function("subtitle_formats", "check_vtt")(_text_of(data, path.name), path.name)
        violations += [Violation("vtt syntax", message, line) for line, message in deviations]
    for finding in check_times(cues):
        violations.append(Violation(finding.rule, f"{finding.cue_id}: {finding.message}"))
    counts = Counter(cue.id for cue in cues if cue.id is not None)
    for cue_id, count in counts.items():
        if count > 1:
            violations.append(Violation("ids", f"{count} cues have the id {cue_id}"))
    return tuple(violations)


def _load_function(module: str, name: str) -> Any:
    """A function of a module of this package, imported now: some need large libraries."""
    return getattr(import_module(f"shotad.script.{module}"), name)


FORMATS = {
    default_format.name: default_format
    for default_format in (
        Format("vtt", "ad.vtt", "subtitle_formats"),
        Format("srt", "ad.srt", "subtitle_formats"),
        Format("dapt", "ad.dapt.xml", "dapt", bytes_reader_module="dapt_reader"),
        Format("csv", "ad.csv", "table_formats"),
        Format("json", "ad.json", "table_formats"),
    )
}
"""The default formats of a track: they lose nothing of the spoken lines."""

EXCHANGE = {
    exchange_format.name: exchange_format
    for exchange_format in (
        Format("frazier", "ad.frazier.csv", "table_formats"),
        Format("reaper", "ad.reaper.csv", "table_formats"),
        Format("docx", "ad.docx", "document", bytes_reader_module="document"),
        Format("xlsx", "ad.xlsx", "workbook", bytes_reader_module="workbook"),
    )
}
"""The formats that describers exchange; each module documents what its format loses."""

SIGNALS = {
    name: Format(name, ending, "signalling", bytes_reader_module="signalling")
    for name, ending in (("hls", "ad.hls.m3u8"), ("dash", "ad.dash.xml"))
}
"""Lines for playlists and manifests that announce the description to players; they hold no script."""

MARKERS = {
    marker_format.name: marker_format
    for marker_format in (
        Format("edl", "ad.edl", "markers"),
        Format("fcpxml", "ad.fcpxml", "markers", bytes_reader_module="markers"),
    )
}
"""The lines as markers for editing programs."""

READING = {"txt": Format("txt", "ad.txt", "reading_text")}
"""The lines as text for people; they hold too little of the track to be read back."""

ALL_FORMATS = {**FORMATS, **EXCHANGE, **SIGNALS, **MARKERS, **READING}

READ_ONLY = {"ttml": Format("ttml", "ttml", "plain_ttml", bytes_reader_module="plain_ttml")}
"""Formats of other programs that are read and not written: DAPT is the TTML that shotad writes."""

_FORMAT_BY_EXTENSION = {
    **{
        each.ending.rpartition(".")[2]: each.name
        for each in reversed(ALL_FORMATS.values())
        if each.name not in READING
    },
    "ttml": "dapt", "tsv": "csv", "mpd": "dash", "m3u8": "hls",
}  # fmt: skip
"""Format by the last part of a file's name, to detect the format of a file that is read. Reversed, so that
``csv`` is the plain table, not one of the exchange formats that end so too."""

TRACK_ENDING = ".json"
"""The ending of a file with the whole track, candidates and provenance of each line included."""

_FORMAT_BY_ENDING = {
    **{each.ending.removeprefix("ad"): each.name for each in ALL_FORMATS.values() if each.name != "json"},
    ".ttml": "dapt",
    ".xml": "dapt",
}
"""Format by the ending of a file that is written."""


def script_file(track: Track, file_format: Format, folder: Path, *, is_translation: bool = False) -> Path:
    """The path of a script: ``FOLDER/movie.ad.vtt``; of a translation ``FOLDER/movie.de.ad.vtt``."""
    stem = Path(track.film.name).stem or track.film.name
    language = f".{track.language}" if is_translation else ""
    return folder / f"{stem}{language}.{file_format.ending}"


def write_format(
    track: Track,
    file_format: Format,
    path: Path,
    *,
    worksheet: Worksheet | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the spoken lines in one format; returns ``path``.

    ``overwrite``: also over a script there that somebody changed. Raises ScriptError for a text that
    the format cannot hold, WorkFolderError, and EditConflict as `check_unchanged`.
    """
    data = file_format.encode(track, worksheet)
    if not overwrite:
        check_unchanged(track, file_format, path)
    write_bytes(path, [data])
    return path


def check_unchanged(
    track: Track,
    file_format: Format,
    path: Path,
    *,
    exported: Container[str] = (),
    versions: LineVersions | None = None,
) -> None:
    """Raise EditConflict if the script at ``path`` has changes that the track does not have.

    Writing over it would lose them. Nothing is raised where there is no file. ``exported`` are the hashes
    (SHA-256) of scripts as they were exported, ``versions`` as in `import_script`.
    """
    if not path.exists() or file_format.name in SIGNALS:
        return
    hint = f"Bring the changes in with shotad import, move {path.name} away, or add --overwrite."
    if file_format.name in READING:
        hint = f"Move {path.name} away, or add --overwrite."
    try:
        data = read_file_bytes(path, "script", ScriptError)
        if hashlib.sha256(data).hexdigest() in exported:
            return
        # It cannot be read back to be compared line by line.
        if file_format.name in READING and _load_function(file_format.module, "is_as_written")(data):
            return
        script = file_format.read(data, path.name)
        if _is_as_written(script) and not _has_new_notes(script, track):
            return
        result = import_script(track, script, path.name, versions=versions)
    except (ScriptError, EditConflict) as error:
        message = (
            f"{path} is there already and may hold somebody's changes: {error.what} Nothing was written."
        )
        raise EditConflict(message, hint) from None
    count = len({*result.changed, *result.added, *result.removed, *result.noted})
    if count:
        lines = plural(count, "line was", "lines were")
        raise EditConflict(f"{path}: {lines} changed there by somebody. Nothing was written.", hint)


def _has_new_notes(script: Script, track: Track) -> bool:
    """Whether a script has notes to colleagues that the track does not have."""
    notes = {cue.id: cue.note.text for cue in track.cues if cue.note is not None}
    return any(line.note and line.note not in notes.get(line.id or "", "") for line in script.cues)


def _is_as_written(script: Script) -> bool:
    """Whether the stamps in a script show that nobody changed it since it was written, from any version of
    the track."""
    lines = [cue for cue in script.cues if cue.text]
    stamps = [(cue.id, line_stamp(cue.interval, cue.text)) for cue in lines if cue.id is not None]
    # A line without an id was added.
    if len(stamps) < len(lines):
        return False
    if script.line_stamps:
        # The count, too: an id that stands twice is one key.
        return dict(stamps) == dict(script.line_stamps) and len(stamps) == len(script.line_stamps)
    return script.stamp is not None and script.stamp == track_stamp(stamps)


def save_as(track: Track, path: Path) -> Path:
    """Write a track in the format of the file's ending (`Track.save`); returns ``path``."""
    name = path.name.lower()
    if name.endswith(TRACK_ENDING):
        write_text(path, to_json(track))
        return path
    # The longest ending that fits: .reaper.csv is not plain .csv.
    endings = [ending for ending in _FORMAT_BY_ENDING if name.endswith(ending)]
    if not endings:
        all_endings = ", ".join([TRACK_ENDING, *_FORMAT_BY_ENDING])
        message = f"No format of scripts ends in {quoted(path.suffix or path.name)}."
        raise ScriptError(message, f"Choose of {all_endings}.")
    ending = max(endings, key=len)
    return write_format(track, script_format(_FORMAT_BY_ENDING[ending]), path, overwrite=True)


def slot_cues(path: Path) -> list[tuple[str | None, Interval]]:
    """Id (None where there is none) and interval of each slot in a VTT, SRT, CSV or JSON file."""
    return [(cue.id, cue.interval) for cue in _slot_or_shot_lines(path, "slots")]


def given_shots(path: Path, end: float, frame_rate: Fraction | None = None) -> tuple[Shot, ...]:
    """The shots in a file, numbered from 0: CSV or JSON (``shotad shots --json`` writes one), a scene list of
    PySceneDetect, an EDL or a QP file, the last two in frames of ``frame_rate`` (None: not known).

    Parts after second ``end`` of the film (0: not known) are cut off. Raises ScriptError where shots overlap
    or do not ascend, where a list of another program ends later than the film, and where none is left.
    """
    intervals = _shot_intervals(path, end, frame_rate)
    if end > 0:
        intervals = clip_all(intervals, Interval(0.0, end))
    for shot, next_shot in pairwise(intervals):
        if next_shot.start < shot.end:
            shots = f"{time_range(shot, 3)} and {time_range(next_shot, 3)}"
            message = f"{path}: the shots {shots} overlap or are out of order."
            raise ScriptError(message, "Correct the times.")
    if not intervals:
        message = f"{path} holds no shot inside the film, which lasts {end:.3f} s."
        raise ScriptError(message, "Give start and end of each shot in seconds.")
    return tuple(Shot(number, interval) for number, interval in enumerate(intervals))


LATEST_END = 1.02
"""Where a list of another program may end, in lengths of the film: containers round theirs."""


def _shot_intervals(path: Path, end: float, frame_rate: Fraction | None) -> list[Interval]:
    """The times of the shots in a file, as they stand there."""
    data = read_file_bytes(path, "shots", ScriptError)
    text = data.decode("utf-8-sig", "replace")
    kind = shot_lists.timeline_kind(text)
    if kind is not None:
        raise ScriptError(
            f"{path} is {kind}, in which shots are not looked for.",
            "Export the video track as EDL, which every editing program can.",
        )
    if shot_lists.is_scene_list(text):
        intervals = shot_lists.read_scene_list(text, path.name, frame_rate)
    elif shot_lists.is_edl(text):
        intervals = shot_lists.read_edl_shots(text, path.name, frame_rate)
    elif shot_lists.is_qp(text):
        return shot_lists.read_qp(text, path.name, frame_rate, end)
    else:
        return [cue.interval for cue in _slot_or_shot_lines(path, "shots")]
    last_end = max((interval.end for interval in intervals), default=0.0)
    if end > 0 and last_end > max(LATEST_END * end, end + 1):
        message = f"{path} has shots up to {last_end:.3f} s, and the film lasts {end:.3f} s."
        raise ScriptError(message, "Is it of another film, or of another frame rate?")
    return intervals


def _slot_or_shot_lines(path: Path, kind: Literal["slots", "shots"]) -> tuple[ScriptCue, ...]:
    """The lines of a file, whose times are those of slots or shots. Raises ScriptError for none."""
    cues = read_cues(path, kind)
    if not cues:
        raise ScriptError(f"{path} holds no {kind}.", "Give start and end of each in seconds.")
    return cues
