"""Files as players and browsers ask for them: by ranges of bytes, and only where they have changed.

Starlette's FileResponse does the work. As of 1.10 it refuses with 400 or 416 what the standard wants ignored
(RFC 9110, 14.2: another unit, an inverted range), and older releases mark several ranges wrongly; players
then show no film at all. So one plain range reaches it, and any other is left out: the whole file is sent.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import FileResponse
from starlette.staticfiles import NotModifiedResponse

from shotad.core import ReviewError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_NO_FILE = "There is no such file."
_RANGE = re.compile(
    r"\s*bytes\s*=\s*(?:(\d{1,18})\s*-\s*(\d{0,18})|-\s*\d{1,18})\s*", re.ASCII | re.IGNORECASE
)


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


class FileAnswer(FileResponse):
    """The answer that is a file, or those of its bytes that were asked for. ``cache`` is what browsers may
    keep, ``download`` the name under which they save it. Raises ReviewError where there is no such file."""

    chunk_size = 1 << 18

    def __init__(
        self, path: Path, media_type: str, cache: str = "private, no-cache", download: str = ""
    ) -> None:
        try:
            state = path.stat()
        except OSError as trouble:
            raise ReviewError(f"{path.name} cannot be read: {trouble.strerror}.") from None
        if not stat.S_ISREG(state.st_mode):
            raise ReviewError(f"{path.name} is no file.")
        super().__init__(
            path,
            media_type=media_type,
            headers={"cache-control": cache},
            filename=download or None,
            stat_result=state,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = Headers(scope=scope)
        known = (tag.strip().removeprefix("W/") for tag in asked.get("if-none-match", "").split(","))
        if any(tag in (self.headers["etag"], "*") for tag in known):
            await NotModifiedResponse(self.headers)(scope, receive, send)
            return
        if scope["method"] != "GET" or not _is_plain(asked.get("range", "")):
            scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"range"]}
        await super().__call__(scope, receive, send)


def _is_plain(header: str) -> bool:
    """Whether a Range header asks for one range of bytes that is not inverted."""
    match = _RANGE.fullmatch(header)
    return match is not None and not (match[1] and match[2] and int(match[2]) < int(match[1]))
