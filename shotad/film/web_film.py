"""A film at a web address, downloaded by yt-dlp (https://github.com/yt-dlp/yt-dlp, the extra ``web``).

Nothing is downloaded that was not looked up and named before. yt-dlp is called as a library, so that settings
of its program, which may run other programs, are not read.
"""

from __future__ import annotations

import glob
import json
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from shotad.core import NoProgress, Progress
from shotad.core.errors import FilmError
from shotad.core.files import is_disk_error, write_text
from shotad.core.installation import install_command
from shotad.core.progress import address_without_secrets, duration, printable, size_text
from shotad.core.workfolder import hash_key
from shotad.film.beside import is_film_name

WEB_ADDRESS = re.compile(r"https?://", re.IGNORECASE)

_NAME = "%(title).120B"
"""The file's name, of at most 120 bytes, without its ending."""
_SOURCE = ".source.json"
"""Ending of the record of where a film came from, in place of the film's own."""
_WITH_MERGE = "bv*[height<=1080]+ba/b[height<=1080]/b"
_WITHOUT_MERGE = "b[height<=1080]/b"
"""Picture and sound apart are joined by ffmpeg, which may not be there; then one file that has both is taken.
More than 1080 lines help no describer."""
_SECONDS_TO_WAIT = 30
_RETRIES = 3


@dataclass(frozen=True, slots=True)
class WebFilm:
    """What a page says of its film, before anything is downloaded. ``seconds`` and ``size`` (bytes) are None
    where it does not say; ``subtitles`` are the tags of languages that people wrote subtitles in."""

    address: str
    title: str
    seconds: float | None
    size: int | None
    licence: str
    subtitles: tuple[str, ...]

    def __str__(self) -> str:
        """``“Sintel”, 14 min 48 s, 129 MB, licence: CC BY``."""
        facts = [f"“{printable(self.title)[:80]}”"]
        facts += [duration(self.seconds)] if self.seconds else []
        facts += [size_text(self.size)] if self.size else []
        facts.append(f"licence: {printable(self.licence)[:60]}" if self.licence else "no licence is named")
        return ", ".join(facts)


def look_up(address: str) -> WebFilm:
    """What there is at a web address; downloads nothing of the film.

    Raises FilmError where yt-dlp is not installed, for a page without a film, a list of films, a live stream,
    and where the site refuses.
    """
    info = _extract(address, {}, download=False)
    if info.get("_type") in ("playlist", "multi_video"):
        count = len(list(info.get("entries") or ()))
        raise FilmError(
            f"{address_without_secrets(address)} is a list of {count} films, not one film.",
            "Give the address of one of them.",
        )
    if info.get("is_live") or info.get("live_status") == "is_upcoming":
        raise FilmError(
            f"{address_without_secrets(address)} is a live stream.", "Give a film that has been recorded."
        )
    return WebFilm(
        address=address,
        title=str(info.get("title") or "film"),
        seconds=info.get("duration"),
        size=info.get("filesize") or info.get("filesize_approx"),
        licence=str(info.get("license") or ""),
        subtitles=tuple(sorted(info.get("subtitles") or {})),
    )


def downloaded_film(address: str, folder: Path) -> Path | None:
    """The film that was downloaded whole from a web address into ``folder`` before; None where there is none.

    Nothing is looked up: its record beside it says where it came from.
    """
    for record_file in sorted(folder.glob(f"*{_SOURCE}")):
        record = _read_source(record_file)
        if record.get("address") == address_without_secrets(address) and record.get("file"):
            path = folder / Path(str(record["file"])).name
            if path.is_file():
                return path
    return None


def download_film(film: WebFilm, folder: Path, language: str, progress: Progress | None = None) -> Path:
    """The film as a file in ``folder``, with its subtitles in ``language`` beside it where people wrote some.

    It is called as its title; another film of that name keeps it. A download that broke off is gone on with;
    a file that is there whole is not fetched again. Where it came from is written beside it,
    ``NAME.source.json``. Raises FilmError as `look_up`, where the file cannot be written, and where it is no
    film: a page that asks for a login, or the beginning of a film; WorkFolderError for a full disk.
    """
    name = _free_name(film, folder)
    source = folder / f"{name}{_SOURCE}"
    record: dict[str, Any] = {**asdict(film), "address": address_without_secrets(film.address)}
    # Now too, without the file: what is there of it belongs to this address when the download breaks off.
    write_text(source, _source_text(record))
    options: dict[str, Any] = {
        "paths": {"home": str(folder)},
        "outtmpl": {"default": f"{name.replace('%', '%%')}.%(ext)s"},
        "windowsfilenames": True,
        "format": _WITH_MERGE if shutil.which("ffmpeg") else _WITHOUT_MERGE,
        "merge_output_format": "mkv",
        "continuedl": True,
        "overwrites": False,
        "writesubtitles": True,
        "subtitleslangs": [rf"{re.escape(language.partition('-')[0])}(-.*)?"],
        "subtitlesformat": "vtt/srt/best",
    }
    task = (progress or NoProgress()).task("Downloading the film", film.size, "bytes")
    bytes_shown = 0

    def advance(state: Mapping[str, Any]) -> None:
        nonlocal bytes_shown
        received = int(state.get("downloaded_bytes") or 0)
        task.advance(max(0, received - bytes_shown))
        bytes_shown = max(bytes_shown, received)

    try:
        info = _extract(film.address, {**options, "progress_hooks": [advance]}, download=True)
    finally:
        task.done()
    downloads: list[dict[str, Any]] = info.get("requested_downloads") or [{}]
    path = Path(downloads[0].get("filepath") or "")
    if not path.is_file():
        raise FilmError(
            f"{address_without_secrets(film.address)} was not downloaded.", "Try again, or update yt-dlp."
        )
    _refuse_no_film(path, film.address)
    write_text(source, _source_text({**record, "file": path.name}))
    return path


def _refuse_no_film(path: Path, address: str) -> None:
    """Raise FilmError where what an address sent cannot be read as a film. Its file stays."""
    from shotad.film.pyav_reader import open_film

    try:
        open_film(path).close()
    except FilmError as error:
        raise FilmError(
            f"{address_without_secrets(address)} sent no film that can be read: {error.what}",
            "Check the address in a browser; it may ask for a login. Delete "
            f"{path} before you try again: a file that is there is not downloaded again.",
        ) from error


def _free_name(film: WebFilm, folder: Path) -> str:
    """The name of the film's file without its ending: its title, or, where another film in ``folder`` has
    that, with a mark of its address."""
    import yt_dlp  # it is there: the film was looked up with it

    with yt_dlp.YoutubeDL({"quiet": True, "windowsfilenames": True}) as downloader:
        name = downloader.prepare_filename({"title": film.title}, outtmpl=_NAME)
    address = address_without_secrets(film.address)
    source = folder / f"{name}{_SOURCE}"
    if source.exists():
        is_free = _read_source(source).get("address") == address
    else:
        is_free = not any(is_film_name(path.name) for path in folder.glob(f"{glob.escape(name)}.*"))
    return name if is_free else f"{name}-{hash_key(address)[:8]}"


def _source_text(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _read_source(path: Path) -> dict[str, Any]:
    """What was written of where a film came from; nothing where that cannot be read."""
    with suppress(OSError, ValueError):
        record = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record, dict):
            return record
    return {}


def _extract(address: str, options: Mapping[str, Any], *, download: bool) -> dict[str, Any]:
    """What yt-dlp says of an address, after it has downloaded it if asked."""
    try:
        import yt_dlp
    except ModuleNotFoundError as error:
        raise FilmError(
            "A film at a web address is downloaded by yt-dlp, which is not installed.",
            f"Type: {install_command('shotad[web]')}. Or download the film yourself, and name the file.",
        ) from error
    common = {
        "quiet": True,
        "no_warnings": True,
        "noprogress": True,
        "noplaylist": True,
        "extract_flat": "in_playlist",
        "socket_timeout": _SECONDS_TO_WAIT,
        "retries": _RETRIES,
        "logger": _Silence(),
    }
    try:
        with yt_dlp.YoutubeDL({**common, **options}) as downloader:
            info = downloader.extract_info(address, download=download)
            return dict(downloader.sanitize_info(info) or {})
    except yt_dlp.utils.DownloadError as error:
        reason = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).removeprefix("ERROR: ")
        # What yt-dlp advises to its own users is of options that are not ours.
        reason = reason.partition("; please report")[0].partition(" Use --")[0].strip().rstrip(".")
        raise _refusal(address, reason, may_pass=_may_pass(error)) from error
    except Exception as error:
        # yt-dlp wraps most errors, but not those of a redirect to ftp: or of a length that is no number.
        if is_disk_error(error):
            raise
        raise _refusal(address, f"{type(error).__name__}: {error}") from error


def _refusal(address: str, reason: str, *, may_pass: bool = False) -> FilmError:
    """The error for a film that cannot be downloaded; ``may_pass``: the next try may succeed."""
    hint = (
        "Check the address in a browser. A film that only you may see, or that is protected, must be "
        "downloaded by other means."
    )
    if may_pass:
        hint = (
            "Try again later; what has arrived is kept. If it happens again, open the address in a browser."
        )
    problem = f"{address_without_secrets(address)} cannot be downloaded: {printable(reason)[:300]}."
    return FilmError(problem, hint, again=may_pass)


def _may_pass(error: BaseException) -> bool:
    """Whether a download failed because the server was busy or silent, or the connection broke."""
    from yt_dlp.networking.exceptions import HTTPError, TransportError

    if "Giving up after" in str(error):
        return True
    cause: BaseException | None = error
    causes_seen: list[BaseException] = []
    while cause is not None and cause not in causes_seen:
        if isinstance(cause, HTTPError):
            return cause.status in (408, 429) or cause.status >= 500
        if isinstance(cause, TransportError):
            return True
        causes_seen.append(cause)
        # yt-dlp keeps the error behind its own as `exc_info` or `cause`.
        info = getattr(cause, "exc_info", None) or (None, None)
        cause = info[1] or getattr(cause, "cause", None) or cause.__cause__
    return False


class _Silence:
    """Takes what yt-dlp would print; its errors are raised too."""

    def debug(self, text: str) -> None:
        """Take it."""

    def info(self, text: str) -> None:
        """Take it."""

    def warning(self, text: str) -> None:
        """Take it."""

    def error(self, text: str) -> None:
        """Take it."""
