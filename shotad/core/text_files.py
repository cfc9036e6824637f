"""Read a text file that a person gave: subtitles, slots, shots, notes, scripts, word lists.

Such a file may be anything. A named pipe would hang the program, ``/dev/zero`` never ends, a film named by
mistake fills the memory, and old subtitles are in Windows-1251 or GBK. All of that is decided here, once.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from shotad.core.errors import ShotadError, UsageError, did_you_mean
from shotad.core.progress import plural, size_text

FileKind = Literal[
    "cast", "lexicon", "list", "note", "prompt", "screenplay", "script", "settings", "shots", "slots",
    "subtitles", "table", "words",
]  # fmt: skip

MB = 1_000_000
SIZE_LIMITS: dict[FileKind, int] = {
    # The subtitles of a long film have 0.2 MB; ASS with typeset signs and embedded fonts has a few MB.
    "subtitles": 16 * MB,
    # A track of 3,000 lines with all its records has 5 MB; documents with pictures have more.
    "script": 64 * MB,
    # 10,000 shots or slots, as JSON, have 2 MB.
    "shots": 16 * MB,
    "slots": 16 * MB,
    # A character bank may hold the casts of thousands of films.
    "cast": 64 * MB,
    # What is measured: the largest dataset of AD has 60 MB.
    "table": 2000 * MB,
    # A million films or ids, one a line.
    "list": 100 * MB,
    # A screenplay has 0.3 MB; JSON with its scenes and their embeddings has more.
    "screenplay": 16 * MB,
    # Every word of a language, with its forms, has 5 MB.
    "words": 16 * MB,
    "lexicon": 16 * MB,
    # These go into every prompt, or are read by people: 1 MB is a book of 180,000 words.
    "note": MB,
    "prompt": MB,
    "settings": MB,
}
"""Most bytes that are read of each kind of file."""

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""How the file begins that a clone without Git LFS holds for each large one (git-lfs, docs/spec.md)."""

BYTE_ORDER_MARKS = (
    # UTF-32 first: its mark in little-endian order begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

LIKELY_ENCODINGS = (
    "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255",
    "windows-1256", "windows-1257", "windows-874", "koi8-r", "koi8-u", "cp866", "iso-8859-2",
    "iso-8859-5", "iso-8859-7", "iso-8859-9", "tis-620", "gb2312", "gbk", "gb18030", "big5",
    "big5hkscs", "shift_jis", "shift_jis_2004", "cp932", "euc-jp", "euc_jis_2004", "iso2022_jp_2", "euc-kr",
    "cp949",
)  # fmt: skip
"""Encodings in which subtitles are found. The detector knows 90 more, of mainframes and of old Macs, and
takes short Russian subtitles for Mac Cyrillic where it may choose among all."""

USUAL_ENCODING = "cp1252"
NEARLY_AS_LIKELY = 0.76
"""Windows-1252 is taken where the detector holds it for this much as likely as the likeliest: it is by far
the most frequent of one byte a letter, and three accents in an English or French text are little evidence."""

_NOT_REGULAR = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a pipe, not a file"),
    (stat.S_ISCHR, "it is a device, not a file"),
    (stat.S_ISBLK, "it is a device, not a file"),
    (stat.S_ISSOCK, "it is a socket, not a file"),
)

MakeError = Callable[[str, str], ShotadError]
"""Makes an error from what happened and a hint: a class of errors, for instance."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file, without a byte order mark, and the encoding it was read in."""

    text: str
    encoding: str = "utf-8"
    detected: bool = False
    """Whether the encoding was guessed from the bytes: neither a mark, nor UTF-8, nor given by the user."""
    damaged: int = 0
    """How many places are no valid UTF-8, in a file that is UTF-8 otherwise. They are read as U+FFFD."""

    @property
    def note(self) -> str:
        """What a person should know of the encoding; empty for UTF-8, and for one that is certain.

        >>> TextFile("…", "windows-1251", detected=True).note
        'is not UTF-8 and was read as windows-1251'
        """
        if self.damaged:
            return f"has {plural(self.damaged, 'place')} not in UTF-8"
        return f"is not UTF-8 and was read as {self.encoding}" if self.detected else ""


def read_text_file(
    path: str | os.PathLike[str],
    kind: FileKind,
    error: MakeError = ShotadError,
    *,
    hint: str = "",
    encoding: str | None = None,
) -> TextFile:
    """The text of a file that a person gave, with the encoding it was read in.

    The encoding is that of a byte order mark; else ``encoding``; else UTF-8 or UTF-16 where the bytes are
    that; else the one that a detector finds, and `TextFile.note` says so. Where a file has to be UTF-8
    because it is written again, give ``encoding="utf-8"``.

    Raises ``error``, with ``hint``, for a file that is missing, is no regular file, is larger than
    `SIZE_LIMITS` allows for its ``kind``, holds NUL characters, or is not in ``encoding``. Raises UsageError
    for an ``encoding`` that is not known.
    """
    data = read_file_bytes(path, kind, error, hint=hint)
    return decode_text(data, str(path), error, hint=hint, encoding=encoding)


def read_file_bytes(
    path: str | os.PathLike[str], kind: FileKind, error: MakeError = ShotadError, *, hint: str = ""
) -> bytes:
    """The content of a regular file, for formats that are not text, such as DOCX.

    Raises as `read_text_file` does, and for a pointer of Git LFS, whose content was not fetched.
    """
    limit = SIZE_LIMITS[kind]

    def refused(reason: str) -> ShotadError:
        return error(f"The {kind} {path} cannot be read: {reason}.", hint or "Check the name of the file.")

    try:
        # Checked before it is opened: opening a device can do something, opening a pipe waits for a writer.
        _check_regular(os.stat(path), refused)
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as stream:
            # Again, for it may have been exchanged in between.
            status = os.fstat(descriptor)
            _check_regular(status, refused)
            if status.st_size > limit:
                raise refused(f"it has {size_text(status.st_size)}, at most {size_text(limit)} are read")
            data = stream.read(limit + 1)
    except OSError as trouble:
        raise refused(trouble.strerror or str(trouble)) from None
    except ValueError:  # a NUL character in the path
        raise refused("this cannot be a file name") from None
    # Files of /proc have a size of 0 and are read all the same.
    if len(data) > limit:
        raise refused(f"it has more than {size_text(limit)}")
    if data.startswith(LFS_POINTER):
        raise error(
            f"The {kind} {path} cannot be read: it is only the pointer that Git LFS leaves in its place.",
            "Fetch its content: run git lfs pull in the repository that it is from.",
        )
    return data


def _check_regular(status: os.stat_result, refused: Callable[[str], ShotadError]) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    for is_kind, reason in _NOT_REGULAR:
        if is_kind(status.st_mode):
            raise refused(reason)
    raise refused("it is not a regular file")


def decode_text(
    data: bytes,
    name: str,
    error: MakeError = ShotadError,
    *,
    hint: str = "",
    encoding: str | None = None,
) -> TextFile:
    """The text in ``data``, the content of a file called ``name``; as `read_text_file`."""
    if encoding is not None:
        check_encoding(encoding)
    text_file = _decode(data, name, error, hint, encoding)
    position = text_file.text.find("\0")
    if position >= 0:
        line = text_file.text.count("\n", 0, position) + 1
        raise error(f"{name} is not text: line {line} holds a NUL character.", hint)
    return text_file


def _decode(data: bytes, name: str, error: MakeError, hint: str, encoding: str | None) -> TextFile:
    for mark, marked_encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            # A mark is certain, an option may be meant for the other files of a batch; browsers do the same.
            text, damaged = _with_replacements(data, marked_encoding)
            if damaged and encoding is not None:
                shown = marked_encoding.removesuffix("-sig").upper()
                raise error(f"{name}: the text is not {shown}, as which it is marked.", hint)
            return TextFile(text, marked_encoding, damaged=damaged)
    if encoding is not None:
        try:
            return TextFile(data.decode(encoding), encoding)
        except UnicodeError as trouble:
            start = trouble.start if isinstance(trouble, UnicodeDecodeError) else 0
            line = data.count(b"\n", 0, start) + 1
            shown = "UTF-8" if encoding == "utf-8" else encoding
            advice = hint or f"Save the file as {shown}."
            raise error(f"{name}, line {line}: the text is not {shown}.", advice) from None
    return _decode_unmarked(data)


def _decode_unmarked(data: bytes) -> TextFile:
    # Before UTF-8: English in UTF-16 is valid UTF-8 as well, with a NUL character after every letter.
    wide = _utf16_without_mark(data)
    if wide is not None:
        return TextFile(_with_replacements(data, wide)[0], wide, detected=True)
    if b"\x1b$" in data:  # the shift of ISO 2022, whose Japanese is all in ASCII
        try:
            return TextFile(data.decode("iso2022_jp_2"), "iso2022_jp", detected=True)
        except UnicodeDecodeError:
            pass
    try:
        return TextFile(data.decode("utf-8"))
    except UnicodeDecodeError:
        pass
    text, damaged = _with_replacements(data, "utf-8")
    # Bytes of other encodings are hardly ever valid UTF-8: a file with far more valid than invalid characters
    # beyond ASCII is UTF-8 that was cut, or into which a line in another encoding was pasted.
    valid = sum(1 for character in text if character > "\x7f") - damaged
    if valid >= 8 * damaged:
        return TextFile(text, damaged=damaged)
    return _detected(data)


def _with_replacements(data: bytes, encoding: str) -> tuple[str, int]:
    text = data.decode(encoding, "replace")
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return text, max(1, text.count("\ufffd"))
    return text, 0


def _utf16_without_mark(data: bytes) -> str | None:
    """The order of bytes in UTF-16 without a mark, by the zeros: the high byte of an ASCII character is 0."""
    head = data[:4096]
    at_even, at_odd = head[::2].count(0), head[1::2].count(0)
    # Even in Chinese subtitles half of the characters are ASCII: numbers, times, line ends.
    least = 1 + len(head) // 8
    if at_odd > least and at_odd > 4 * at_even:
        return "utf-16-le"
    if at_even > least and at_even > 4 * at_odd:
        return "utf-16-be"
    return None


_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-9": "cp1254",
}
"""What is read as what: in the rest of a file may stand what only the larger encoding has."""


def _detected(data: bytes) -> TextFile:
    import chardet

    results = chardet.detect_all(
        data,
        prefer_superset=False,  # it takes ISO 8859-2, of Poland, for Windows-1250
        compat_names=False,
        include_encodings=LIKELY_ENCODINGS,
        no_match_encoding=USUAL_ENCODING,
    )
    likelihood: dict[str, float] = {}
    for result in results:
        name = result["encoding"] or USUAL_ENCODING
        name = _SUPERSETS.get(name, name)
        likelihood[name] = max(likelihood.get(name, 0.0), result["confidence"])
    encoding = max(likelihood, key=lambda name: likelihood[name])
    if likelihood.get(USUAL_ENCODING, 0.0) >= NEARLY_AS_LIKELY * likelihood[encoding]:
        encoding = USUAL_ENCODING
    # What was detected fits the first 200,000 bytes; a single odd byte later on must not lose the file.
    return TextFile(data.decode(encoding, "replace"), encoding, detected=True)


def check_encoding(name: str) -> None:
    """Raises UsageError unless ``name`` is an encoding of text that Python knows."""
    try:
        # Not of b"": Python does not look up the encoding for it.
        b"a".decode(name)
        return
    except UnicodeDecodeError:
        return  # one of two bytes a letter
    except (LookupError, ValueError):
        pass
    near = did_you_mean(name, LIKELY_ENCODINGS)
    raise UsageError(
        f"There is no encoding {name[:80]!r}.", f"{near}Name one such as cp1251, gbk or shift_jis."
    )
