"""All script formats in one table: writing a track, reading any script back, checking one.

A format NAME has ``write_NAME`` and ``read_NAME`` in a module that is loaded when a script is written or read
in it. Slots and shots that the user gives are read here too, from any script.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from shotad.core import (
    EditConflict,
    FileKind,
    Interval,
    ScriptError,
    Shot,
    decode_text,
    plural,
    quoted,
    read_file_bytes,
    size_text,
    time_range,
    write_bytes,
    write_text,
)
from shotad.script.cue import Script, ScriptCue, line_stamp, track_stamp
from shotad.script.dapt import TT, Violation
from shotad.script.edits import import_script
from shotad.script.rules import check_times
from shotad.script.track import Track, to_json
from shotad.script.worksheet import Worksheet


@dataclass(frozen=True, slots=True)
class Format:
    """A script format: its name, the ending of our files (``film.ad.vtt``), and the ``module`` that has its
    writer and its reader of text.

    ``reader`` is a module whose reader takes bytes in its place. ``rate`` are the frames a second of one that
    counts in frames, where they are named.
    """

    name: str
    ending: str
    module: str
    reader: str = ""
    rate: Fraction | None = None

    @property
    def has_material(self) -> bool:
        """Whether it shows the material of a worksheet beside the lines."""
        return self.name in ("docx", "xlsx")

    def encode(self, track: Track, worksheet: Worksheet | None = None) -> bytes:
        """The script as it stands in a file; with the material of ``worksheet`` in formats that show it."""
        material = {"worksheet": worksheet} if self.has_material else {}
        written: str | bytes = _load(self.module, f"write_{self.name}")(track, **self._frames, **material)
        return written.encode("utf-8") if isinstance(written, str) else written

    def write(self, track: Track) -> str:
        """The script as text, for formats that are (DOCX and XLSX are not)."""
        return self.encode(track).decode("utf-8")

    def read(self, data: bytes, file_name: str, language: str | None = None) -> Script:
        """What a file of that name holds, in ``language`` (a tag) where it has several.

        Raises ScriptError with file and line.
        """
        is_document = self.name in ("docx", "xlsx")  # which have limits of their own, and may hold pictures
        if len(data) > LARGEST_TEXT and not is_document:
            has = f"{file_name} has {size_text(len(data))}; at most {size_text(LARGEST_TEXT)} are read."
            raise ScriptError(has, "Is it a script?")
        content: bytes | str = data if self.reader else _text_of(data, file_name)
        read = _load(self.reader or self.module, f"read_{self.name}")
        # The only format that says of each text which language it is in.
        languages = {"language": language} if self.name == "dapt" else {}
        try:
            script: Script = read(content, file_name, **self._frames, **languages)
        except ScriptError as error:
            if file_name in error.what:
                raise
            # A line that is too long, say, knows its time and not its file.
            raise ScriptError(f"{file_name}: {error.what}", error.hint, error.clause) from None
        return script

    @property
    def _frames(self) -> dict[str, Fraction]:
        return {} if self.rate is None else {"frame_rate": self.rate}


LARGEST_TEXT = 16_000_000
"""Bytes of a script that is text: a track of 3,000 lines with all its records has 5 MB as JSON."""


def _check_readable(data: bytes, file_name: str) -> None:
    """Raise ScriptError for a file without content, and for one of a kind that is no script."""
    if not data.strip(b" \t\r\n\x00\xef\xbb\xbf"):
        what = f"{file_name} is empty." if not data else f"{file_name} holds nothing but blanks."
        raise ScriptError(what, "Was it cut off when it was saved? Export the script again.")
    kind = _other_kind(data[:4096])
    if kind is not None:
        what = f"{file_name} is {kind}, which shotad does not read as a script."
        raise ScriptError(what, "Save it as SRT, WebVTT, CSV, DOCX or XLSX.")


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
"""Files that are taken for scripts by mistake: how they begin, in small letters."""


def _other_kind(head: bytes) -> str | None:
    """What a file is that no format here reads, as far as its beginning shows it."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for pattern, kind in _OTHER_KINDS:
        if re.match(pattern, start, re.DOTALL):
            return kind
    return None


def _text_of(data: bytes, file_name: str) -> str:
    """The text of a script, which must be UTF-8, or UTF-16 with a mark: it is merged with other texts."""
    text_file = decode_text(data, file_name, ScriptError, hint="Save it as UTF-8.", encoding="utf-8")
    if text_file.damaged:
        what = f"{file_name} {text_file.note.replace('UTF-8', text_file.encoding.upper())}."
        raise ScriptError(what, "Save it as UTF-8.")
    return text_file.text


def script_format(name: str) -> Format:
    """The format of that name, out of `ALL_FORMATS`.

    ``frazier`` may name its frames a second: ``frazier@24``, ``frazier@30000/1001``.
    """
    plain, at, rate = name.partition("@")
    if plain not in ALL_FORMATS or (at and plain != "frazier"):
        known = ", ".join(ALL_FORMATS)
        raise ScriptError(f"There is no script format {quoted(name)}.", f"Choose one of {known}.", usage=True)
    if not at:
        return ALL_FORMATS[plain]
    try:
        frames = Fraction(rate)
        if not 1 <= frames <= 100:
            raise ValueError(rate)
    except (ValueError, ZeroDivisionError):
        what = f"{quoted(name)} names no frames a second from 1 to 100."
        raise ScriptError(what, "Write frazier@24 or frazier@30000/1001.") from None
    return replace(ALL_FORMATS[plain], rate=frames)


def read_cues(path: Path, kind: FileKind = "script") -> tuple[ScriptCue, ...]:
    """The lines of any script file, of which ``kind`` says how large it may be. Raises ScriptError with file
    and line."""
    return read_script(path, kind=kind).cues


def read_script(
    path: Path, name: str | None = None, language: str | None = None, *, kind: FileKind = "script"
) -> Script:
    """What a script file holds; the format is found by ending and content unless ``name`` gives it.

    ``language`` (a tag) is the one that is read where the file has several. Raises ScriptError with file and
    line.
    """
    data = read_file_bytes(path, kind, ScriptError)
    _check_readable(data, path.name)
    return script_format(name or detect_format(path.name, data)).read(data, path.name, language)


def detect_format(file_name: str, data: bytes) -> str:
    """The format's name: by the content where it is plain, else by the ending."""
    if data.startswith(b"PK") and (package := _load("document", "kind_of")(data)) is not None:
        return str(package)
    head = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    first = head.decode("utf-8", "replace").partition("\n")[0].strip()
    signs = {
        "dash": b"AdaptationSet" in head and TT.encode() not in head,
        "vtt": head.startswith(b"WEBVTT"),
        "dapt": head.startswith(b"<"),
        "json": head.startswith((b"{", b"[")),
        "hls": head.startswith(b"#EXTM3U") or b"\n#EXT-X-MEDIA:" in head,
    }
    found = next((name for name, is_so in signs.items() if is_so), None)
    tables = (name for name in ("reaper", "frazier") if _load("sheet", f"is_{name}")(first))
    found = found or next(tables, None) or _BY_ENDING.get(file_name.lower().rpartition(".")[2])
    return found or ("srt" if b"-->" in head else "csv")


def check_script(path: Path) -> tuple[Violation, ...]:
    """What makes a script unusable: broken syntax, broken clauses in DAPT, times out of order (T6)."""
    data = read_file_bytes(path, "script", ScriptError)
    try:
        _check_readable(data, path.name)
    except ScriptError as error:
        return (Violation("file", error.what),)
    name = detect_format(path.name, data)
    if name in SIGNALS:
        found: tuple[Violation, ...] = _load("signalling", f"check_{name}")(data)
        return found
    if name == "dapt" and (violations := _load("dapt_reader", "check_dapt")(data)):
        return tuple(violations)
    try:
        cues = ALL_FORMATS[name].read(data, path.name).cues
    except ScriptError as error:
        return (Violation(error.clause or f"{name} syntax", error.what),)
    deviations: tuple[Violation, ...] = ()
    if name == "vtt":
        lines = _load("subtitle_formats", "check_vtt")(_text_of(data, path.name), path.name)
        deviations = tuple(Violation("vtt syntax", what, line) for line, what in lines)
    times = (Violation(found.rule, f"{found.cue_id}: {found.message}") for found in check_times(cues))
    counts = Counter(cue.id for cue in cues if cue.id is not None)
    ids = (Violation("ids", f"{count} cues have the id {key}") for key, count in counts.items() if count > 1)
    return (*deviations, *times, *ids)


def _load(module: str, name: str) -> Any:
    return getattr(import_module(f"shotad.script.{module}"), name)


FORMATS = {
    form.name: form
    for form in (
        Format("vtt", "ad.vtt", "subtitle_formats"),
        Format("srt", "ad.srt", "subtitle_formats"),
        Format("dapt", "ad.dapt.xml", "dapt", reader="dapt_reader"),
        Format("csv", "ad.csv", "sheet"),
        Format("json", "ad.json", "sheet"),
    )
}
"""What a track is written in unless other formats are named: they lose nothing that is heard."""

EXCHANGE = {
    form.name: form
    for form in (
        Format("frazier", "ad.frazier.csv", "sheet"),
        Format("reaper", "ad.reaper.csv", "sheet"),
        Format("docx", "ad.docx", "document", reader="document"),
        Format("xlsx", "ad.xlsx", "workbook", reader="workbook"),
    )
}
"""What describers send each other; each says in its module what it loses."""

SIGNALS = {
    name: Format(name, ending, "signalling", reader="signalling")
    for name, ending in (("hls", "ad.hls.m3u8"), ("dash", "ad.dash.xml"))
}
"""What tells players of description; written only."""

ALL_FORMATS = {**FORMATS, **EXCHANGE, **SIGNALS}

_BY_ENDING = {
    **{form.ending.rpartition(".")[2]: form.name for form in reversed(ALL_FORMATS.values())},
    "ttml": "dapt", "tsv": "csv", "mpd": "dash", "m3u8": "hls",
}  # fmt: skip

TRACK_ENDING = ".json"
"""Of the whole track, with all that is known of each line."""

_ENDINGS = {
    **{f.ending.removeprefix("ad"): f.name for f in ALL_FORMATS.values() if f.name != "json"},
    ".ttml": "dapt",
    ".xml": "dapt",
}
"""How a file's name may end → the format."""


def script_file(track: Track, form: Format, folder: Path, *, is_translation: bool = False) -> Path:
    """Where a track goes in one format: ``FOLDER/movie.ad.vtt``; a translation ``FOLDER/movie.de.ad.vtt``."""
    stem = Path(track.film.name).stem or track.film.name
    return folder / f"{stem}{f'.{track.language}' if is_translation else ''}.{form.ending}"


def write_format(
    track: Track, form: Format, path: Path, *, worksheet: Worksheet | None = None, overwrite: bool = False
) -> Path:
    """Write the heard lines in one format; ``path``. ``overwrite``: whatever stands in a file there.

    Raises ScriptError where a library that the format needs is not installed, WorkFolderError, and
    EditConflict as `check_unchanged`.
    """
    data = form.encode(track, worksheet)
    if not overwrite:
        check_unchanged(track, form, path)
    write_bytes(path, [data])
    return path


def check_unchanged(track: Track, form: Format, path: Path) -> None:
    """Raise EditConflict where a script stands at ``path`` that somebody changed after it was written, and
    whose changes the track does not have: they would be lost."""
    if not path.exists() or form.name in SIGNALS:
        return
    hint = f"Bring the changes in with shotad import, move {path.name} away, or add --overwrite."
    try:
        script = form.read(read_file_bytes(path, "script", ScriptError), path.name)
        if _is_as_written(script):
            return
        done = import_script(track, script, path.name)
    except (ScriptError, EditConflict) as error:
        what = f"{path} is there already and may hold somebody's changes: {error.what} Nothing was written."
        raise EditConflict(what, hint) from None
    count = len(done.changed) + len(done.added) + len(done.removed)
    if count:
        lines = plural(count, "line was", "lines were")
        raise EditConflict(f"{path}: {lines} changed there by somebody. Nothing was written.", hint)


def _is_as_written(script: Script) -> bool:
    """Whether a script says by its stamps that nobody changed it, of whatever state of the track it is."""
    lines = [cue for cue in script.cues if cue.text]
    now = [(cue.id, line_stamp(cue.interval, cue.text)) for cue in lines if cue.id is not None]
    if len(now) < len(lines):
        return False
    if script.line_stamps:
        return dict(now) == dict(script.line_stamps) and len(now) == len(script.line_stamps)
    return script.stamp is not None and script.stamp == track_stamp(now)


def save_as(track: Track, path: Path) -> Path:
    """Write a track in the format that the file's name ends in (`Track.save`); ``path``."""
    name = path.name.lower()
    if name.endswith(TRACK_ENDING):
        write_text(path, to_json(track))
        return path
    # The longest, for .reaper.csv is no .csv.
    ending = max((one for one in _ENDINGS if name.endswith(one)), key=len, default=None)
    if ending is None:
        known = ", ".join([TRACK_ENDING, *_ENDINGS])
        what = f"No format of scripts ends in {quoted(path.suffix or path.name)}."
        raise ScriptError(what, f"Choose of {known}.")
    return write_format(track, script_format(_ENDINGS[ending]), path, overwrite=True)


def slot_cues(path: Path) -> list[tuple[str | None, Interval]]:
    """Id (None where there is none) and interval of each slot in a VTT, SRT, CSV or JSON file."""
    return [(cue.id, cue.interval) for cue in _cues(path, "slots")]


def given_shots(path: Path, end: float) -> tuple[Shot, ...]:
    """The shots in a CSV or JSON file (``shotad shots --json`` writes one), numbered from 0.

    Shots ascend and do not overlap; what reaches beyond ``end`` seconds (0: not known) is cut off.
    """
    parts = [cue.interval for cue in _cues(path, "shots")]
    if end > 0:
        film = Interval(0.0, end)
        parts = [part for interval in parts if (part := interval.clip(film))]
    for one, two in pairwise(parts):
        if two.start < one.end:
            shots = f"{time_range(one, 3)} and {time_range(two, 3)}"
            what = f"{path}: the shots {shots} overlap or are out of order."
            raise ScriptError(what, "Correct the times.")
    if not parts:
        what = f"{path} holds no shot inside the film, which lasts {end:.3f} s."
        raise ScriptError(what, "Give start and end of each shot in seconds.")
    return tuple(Shot(number, part) for number, part in enumerate(parts))


def _cues(path: Path, kind: Literal["slots", "shots"]) -> tuple[ScriptCue, ...]:
    cues = read_cues(path, kind)
    if not cues:
        raise ScriptError(f"{path} holds no {kind}.", "Give start and end of each in seconds.")
    return cues
