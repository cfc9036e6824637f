"""Office documents as packages: zip files of XML parts, read with care and written the same every time.

A file that somebody sends may be a bomb (kilobytes that unpack to gigabytes) or name entities that read
other files. What is over these limits, or declares anything, is refused before any part of it is read.
"""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Mapping
from xml.sax.saxutils import escape

from lxml import etree

from shotad.core import ScriptError, read_limited
from shotad.script.cue import clean_text
from shotad.script.track import Track

LARGEST = 64 * 2**20
"""Bytes of all parts together, unpacked: pictures may be among them."""
LARGEST_PART = 16 * 2**20
"""Bytes of a part that is parsed. 3,000 lines need 5 MiB; 16 MiB of empty elements take 0.6 GB of memory."""
MOST_PARTS = 1000

DOCUMENT = "word/document.xml"
WORKBOOK = "xl/workbook.xml"

_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, EOFError, OSError,
    ValueError,
)  # fmt: skip
_CORE = "docProps/core.xml"
_TIME = (1980, 1, 1, 0, 0, 0)
_NOT_TEXT = (".jpeg", ".jpg", ".png", ".gif", ".emf", ".wmf", ".bin", ".ttf", ".odttf")


def open_package(data: bytes, name: str) -> zipfile.ZipFile:
    """The parts of a document. Raises ScriptError for one that is damaged, locked, too large or not safe."""
    try:
        package = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
        raise ScriptError(
            f"{name} is no Office document: {error}.", "Save it as DOCX or XLSX, without a password."
        ) from None
    parts = package.infolist()
    size = sum(part.file_size for part in parts)
    if len(parts) > MOST_PARTS or size > LARGEST:
        raise ScriptError(
            f"{name} would unpack to {len(parts)} parts of {size} bytes; at most {MOST_PARTS} parts of "
            f"{LARGEST} bytes together are read.",
            "Take pictures and other contents out of it.",
        )
    if any(part.flag_bits & 1 for part in parts):
        raise ScriptError(f"{name} is locked with a password.", "Save it without one.")
    return package


def read_part(package: zipfile.ZipFile, part: str, name: str) -> bytes:
    """One part. Raises ScriptError if it is absent, damaged, or declares a document type (XXE)."""
    is_text = not part.lower().endswith(_NOT_TEXT)
    try:
        size, most = package.getinfo(part).file_size, LARGEST_PART if is_text else LARGEST
        if size > most:
            raise ScriptError(f"{name} has {size} bytes in {part}; at most {most} are read.")
        with package.open(part) as stream:
            data = read_limited(stream, most)
    except KeyError:
        raise ScriptError(f"{name} has no part {part}.", "Save it as DOCX or XLSX.") from None
    except _DAMAGE as error:
        raise ScriptError(f"{name} is damaged at {part}: {error}.") from None
    if is_text and _declares(data):
        raise ScriptError(f"{name} declares a document type in {part}, which no Office program writes.")
    return data


def read_xml(package: zipfile.ZipFile, part: str, name: str) -> etree._Element:
    """One part as XML, without entities and without fetching. Raises ScriptError."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(read_part(package, part, name), parser)
    except etree.XMLSyntaxError as error:
        raise ScriptError(f"{name} is damaged at {part}: {error}.") from None


def checked_package(data: bytes, name: str) -> bytes:
    """The same document with parts that are as large as it says, for programs that read it without limits.

    Raises ScriptError as `open_package` and `read_part`.
    """
    out = io.BytesIO()
    with open_package(data, name) as package, zipfile.ZipFile(out, "w") as new:
        for part in package.namelist():
            new.writestr(part, read_part(package, part, name))
    return out.getvalue()


def kind_of(data: bytes) -> str | None:
    """``docx`` or ``xlsx`` by what is in the package, None for anything else."""
    if not data.startswith(b"PK\x03\x04"):
        return None
    try:
        names = set(zipfile.ZipFile(io.BytesIO(data)).namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError):
        return None
    return "docx" if DOCUMENT in names else "xlsx" if WORKBOOK in names else None


def sealed(data: bytes, track: Track) -> bytes:
    """The package with the track's properties and without times: the same track gives the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        replaced: Mapping[str, bytes] = {_CORE: core_properties(track)}
        for name in old.namelist():
            part = zipfile.ZipInfo(name, _TIME)
            part.compress_type = zipfile.ZIP_DEFLATED
            part.external_attr = 0o600 << 16
            new.writestr(part, replaced.get(name) or old.read(name))
    return out.getvalue()


def core_properties(track: Track) -> bytes:
    """Title, author, language, subject and keywords, which screen readers announce and libraries index."""
    values = {
        "dc:title": f"Audio description: {track.film.name}",
        "dc:subject": "Audio description script",
        "dc:creator": ", ".join((f"shotad {track.version}", *track.reviewed_by)),
        "cp:keywords": "audio description, machine made",
        "dc:description": track.statement,
        "dc:language": track.language,
        "cp:lastModifiedBy": f"shotad {track.version}",
    }
    body = "".join(f"<{key}>{escape(clean_text(value))}</{key}>" for key, value in values.items())
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<cp:coreProperties '
        'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{body}</cp:coreProperties>'
    ).encode()


def _declares(data: bytes) -> bool:
    """Whether XML in any usual encoding declares a document type; its text would have to escape the sign."""
    plain = data.replace(b"\x00", b"")
    return b"<!DOCTYPE" in plain or b"<!ENTITY" in plain
