"""Files by byte ranges, as players and browsers ask for them (RFC 9110, sections 13 and 14).

Starlette's FileResponse comes near, but as of 1.10 it refuses a request with 400 or 416 where the standard
wants a range ignored (another unit, an inverted range, one of several beyond the end), and older releases
mark several ranges wrongly; players then show no film at all.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import anyio.to_thread

from shotad.core import ReviewError
from shotad.review.events import until_gone

Span = tuple[int, int]
"""First byte and the one behind the last."""

_NO_FILE = "There is no such file."
_PIECE = 1 << 18
_MOST_RANGES = 16
_SPEC = re.compile(r"\s*+(\d*+)\s*+-\s*+(\d*+)\s*", re.ASCII)
_MOST_DIGITS = 18


def asked_spans(header: str, size: int) -> tuple[Span, ...] | None:
    """Which bytes of a file of ``size`` a Range header asks for, in order and without overlaps.

    Empty: none of them are there (416). None: the header is to be ignored, for it is malformed, of another
    unit, or asks for more pieces than any player does.
    """
    unit, found, rest = header.partition("=")
    parts = [part for part in rest.split(",") if part.strip()]
    if not found or unit.strip().lower() != "bytes" or not 0 < len(parts) <= _MOST_RANGES:
        return None
    spans = []
    for part in parts:
        match = _SPEC.fullmatch(part)
        if match is None or not any(match.groups()) or max(map(len, match.groups())) > _MOST_DIGITS:
            return None
        first, last = match.groups()
        if first and last and int(last) < int(first):
            return None
        if not first:
            spans.append((max(0, size - int(last)), size))
        else:
            spans.append((int(first), min(int(last) + 1, size) if last else size))
    return _merged([span for span in spans if span[0] < span[1]])


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for first, end in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((first, end))
    return tuple(merged)


def inside(folder: Path, name: str) -> Path:
    """The file called ``name`` in ``folder``, as in ``export/film.vtt``. Raises ReviewError for anything else
    that a name could lead to: another place, a link, a hidden file, no file."""
    parts, path = name.split("/"), folder
    try:
        for number, part in enumerate(parts, 1):
            path = path / part
            mode = path.lstat().st_mode
            is_wanted = stat.S_ISREG(mode) if number == len(parts) else stat.S_ISDIR(mode)
            if not part or part.startswith(".") or "\\" in part or not is_wanted:
                raise ReviewError(_NO_FILE)
    except (OSError, ValueError):
        raise ReviewError(_NO_FILE) from None
    return path


@dataclass(frozen=True)
class FileAnswer:
    """The answer that is a file, or those of its bytes that were asked for; an ASGI application.

    ``cache``: what browsers may keep. The file stays open while it is sent, so one that is replaced meanwhile
    is sent to its end as it was. Raises ReviewError where it cannot be opened.
    """

    path: Path
    media_type: str
    cache: str = "private, no-cache"
    download: str = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        handle, size, tag = await anyio.to_thread.run_sync(_open, self.path)
        try:
            asked = {name: value.decode("latin-1") for name, value in scope["headers"]}
            plan = self._plan(asked, scope["method"], size, tag)
            await send({"type": "http.response.start", "status": plan.status, "headers": plan.headers})
            if scope["method"] != "HEAD":
                await _send(handle, plan.pieces, receive, send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            os.close(handle)

    def _plan(self, asked: dict[bytes, str], method: str, size: int, tag: str) -> _Plan:
        cache = (b"cache-control", self.cache.encode())
        headers = [(b"accept-ranges", b"bytes"), (b"etag", tag.encode()), cache]
        if self.download:
            headers.append((b"content-disposition", _disposition(self.download)))
        if _has(asked.get(b"if-none-match", ""), tag):
            return _Plan(304, headers)
        # A part may be asked for under the condition that the file is still the same.
        wanted = method == "GET" and asked.get(b"if-range", tag) == tag
        spans = asked_spans(asked.get(b"range", ""), size) if wanted else None
        if spans is None:
            more = [(b"content-type", self.media_type.encode()), (b"content-length", b"%d" % size)]
            return _Plan(200, headers + more, ((0, size),))
        if not spans:
            return _Plan(416, [*headers, (b"content-range", b"bytes */%d" % size), (b"content-length", b"0")])
        if len(spans) == 1:
            return _one(headers, self.media_type, spans[0], size)
        return _several(headers, self.media_type, spans, size)


@dataclass(frozen=True)
class _Plan:
    status: int
    headers: list[tuple[bytes, bytes]]
    pieces: tuple[bytes | Span, ...] = ()
    """Bytes to send as they are, and spans of the file."""


def _one(headers: list[tuple[bytes, bytes]], kind: str, span: Span, size: int) -> _Plan:
    more = [
        (b"content-type", kind.encode()),
        (b"content-range", b"bytes %d-%d/%d" % (span[0], span[1] - 1, size)),
        (b"content-length", b"%d" % (span[1] - span[0])),
    ]
    return _Plan(206, headers + more, (span,))


def _several(headers: list[tuple[bytes, bytes]], kind: str, spans: Sequence[Span], size: int) -> _Plan:
    mark = secrets.token_hex(16).encode()
    pieces: list[bytes | Span] = []
    for first, end in spans:
        head = b"--%s\r\nContent-Type: %s\r\nContent-Range: bytes %d-%d/%d\r\n\r\n"
        pieces += [head % (mark, kind.encode(), first, end - 1, size), (first, end), b"\r\n"]
    pieces.append(b"--%s--\r\n" % mark)
    length = sum(len(piece) if isinstance(piece, bytes) else piece[1] - piece[0] for piece in pieces)
    more = [
        (b"content-type", b"multipart/byteranges; boundary=" + mark),
        (b"content-length", b"%d" % length),
    ]
    return _Plan(206, headers + more, tuple(pieces))


async def _send(handle: int, pieces: Sequence[bytes | Span], receive: Any, send: Any) -> None:
    """Send until all is sent or the other side has gone: players end a connection as soon as they seek."""
    gone = asyncio.ensure_future(until_gone(receive))
    try:
        for piece in _cut(pieces):
            body = piece if isinstance(piece, bytes) else await _read(handle, piece)
            if gone.done():
                return
            await send({"type": "http.response.body", "body": body, "more_body": True})
    finally:
        gone.cancel()


async def _read(handle: int, span: Span) -> bytes:
    data = await anyio.to_thread.run_sync(partial(os.pread, handle, span[1] - span[0], span[0]))
    if len(data) != span[1] - span[0]:
        raise ConnectionError("a file became shorter while it was sent")
    return data


def _cut(pieces: Sequence[bytes | Span]) -> Iterator[bytes | Span]:
    for piece in pieces:
        if isinstance(piece, bytes):
            yield piece
        else:
            for first in range(piece[0], piece[1], _PIECE):
                yield first, min(first + _PIECE, piece[1])


def _open(path: Path) -> tuple[int, int, str]:
    """An open file, its size, and a tag that changes when it does."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as trouble:
        raise ReviewError(f"{path.name} cannot be read: {trouble.strerror}.") from None
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode):
        os.close(handle)
        raise ReviewError(f"{path.name} is no file.")
    words = f"{state.st_dev} {state.st_ino} {state.st_mtime_ns} {state.st_size}"
    return handle, state.st_size, f'"{hashlib.sha256(words.encode()).hexdigest()[:20]}"'


def _has(header: str, tag: str) -> bool:
    """Whether a list of tags, strong or weak, names this one."""
    return any(word.strip().removeprefix("W/") in (tag, "*") for word in header.split(","))


def _disposition(name: str) -> bytes:
    """For browsers to save under this name (RFC 6266)."""
    return f"attachment; filename*=UTF-8''{quote(name, safe='')}".encode()
