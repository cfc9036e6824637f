"""A store behind an address: what is there, reading by ranges, writing under conditions, and what goes wrong.

One class for every kind of store that fsspec knows. What only some of them can is asked of them and, where
they cannot, done as well as it goes without: a write under a condition becomes a look and a write.

Storage libraries raise what they like: errors of the system, of botocore, of aiohttp. They are told by the
names of their classes and by the codes of the service, so that none of these libraries must be imported.
"""

from __future__ import annotations

import errno
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from shotad.batch.places import S3, WEB, is_local, scheme_of, shown
from shotad.core import ShotadError
from shotad.core.errors import StorageError
from shotad.core.installation import install_command
from shotad.core.progress import address_without_secrets
from shotad.core.system import can_be_named

T = TypeVar("T")

PATIENCE = 300.0
"""Seconds for which a request is tried again while the network or the store is not well."""

_AT_FIRST = 20.0
"""As long as nothing has ever been answered: the address is wrong, rather than the network ill."""

PART = 16 << 20
_SIDE_BY_SIDE = 4
"""Bytes of one part of a large file that is sent, and parts at a time: all of these are held in memory."""
_MOST_PARTS = 9_000
"""S3 takes 10,000 parts of an object."""

_heeding: set[tuple[str, str]] = set()
"""Stores and buckets that were seen to heed conditions."""


class Store:
    """The store that an address lies in. Raises StorageError for what cannot be done, with the address."""

    def __init__(self, place: str, *, patience: float | None = None) -> None:
        self.scheme = scheme_of(place)
        self.patience = PATIENCE if patience is None else patience
        self._files = file_system(place)
        self.keeps_conditions = self.scheme in S3
        """Whether the store itself refuses a write under a condition that does not hold."""
        self._met = False

    def find(self, place: str) -> StoredObject | None:
        """What is known of one object; None where there is no such object."""

        def ask() -> Mapping[str, Any]:
            try:
                info: Mapping[str, Any] = self._files.info(self._inner(place), **self._fresh)
            except FileNotFoundError as error:
                # Of a web address this is said whatever went wrong.
                if (
                    error.__cause__ is not None
                    and self.scheme in WEB
                    and code_of(error) not in ("404", "410")
                ):
                    raise error.__cause__ from None
                raise
            return info

        try:
            info = self._asked(place, ask)
        except FileNotFoundError:
            return None
        return None if info.get("type") == "directory" else entry_of(place, info)

    def entries(self, place: str) -> list[StoredObject]:
        """All objects below a place, at any depth, sorted by address; none where there are none."""
        inner = self._inner(place)
        none: Mapping[str, Mapping[str, Any]] = {}
        infos = self._if_there(place, lambda: self._files.find(inner, detail=True, **self._fresh), none)
        top = inner.rstrip("/")
        body = place.rstrip("/") if place.split("://", 1)[1].strip("/") else place
        below = {name: info for name, info in infos.items() if name.startswith(f"{top}/") or not top}
        names = {name: name[len(top) :] if top else name.lstrip("/") for name in below}
        entries = (entry_of(f"{body}{names[name]}", info) for name, info in below.items())
        return sorted(
            (entry for entry in entries if not entry.place.endswith("/")), key=lambda entry: entry.place
        )

    def names(self, place: str) -> list[str]:
        """Names of the objects and folders in a folder, without what is below these; none where none are."""
        inner = self._inner(place)
        none: list[str] = []
        paths = self._if_there(place, lambda: self._files.ls(inner, detail=False, **self._fresh), none)
        top = f"{inner.rstrip('/')}/"
        below = (name.rstrip("/")[len(top) :] for name in paths if name.startswith(top))
        return sorted({name for name in below if name})

    def read(self, place: str, start: int | None = None, end: int | None = None) -> bytes:
        """The content, or bytes ``[start, end)`` of it. Raises FileNotFoundError where there is none."""
        inner = self._inner(place)
        data: bytes = self._asked(place, lambda: self._files.cat_file(inner, start=start, end=end))
        return data

    def gives_ranges(self, place: str) -> bool:
        """Whether parts of an object can be read by themselves: some web servers always send all of it."""
        if self.scheme not in WEB:
            return True
        from fsspec.asyn import sync

        files, headers = self._files, {"Range": "bytes=0-15"}

        async def ask() -> bool:
            session = await files.set_session()
            async with session.get(files.encode_url(place), **{**files.kwargs, "headers": headers}) as answer:
                return bool(answer.status == 206)

        return self._asked(place, lambda: bool(sync(files.loop, ask)))

    def fetch_whole(self, place: str, target: Path, advance: Callable[[float], None]) -> None:
        """The content into a file, in one stream, for stores that give no ranges."""
        inner = self._inner(place)
        self._asked(place, lambda: self._files.get_file(inner, str(target), callback=_counted(advance)))

    def write(self, place: str, data: bytes, *, over: str | None) -> str:
        """Write an object in place of the one whose mark is ``over`` (None: none); its new mark.

        Raises `WriteRefused` where the one there is another.
        """
        condition = {"IfMatch": f'"{over}"'} if over else {"mode": "create"}
        if self.keeps_conditions:
            try:
                return self._put(place, data, condition)
            except StorageError as trouble:
                if trouble.__cause__ is None or not is_unable(trouble.__cause__):
                    raise
                self.keeps_conditions = False
        self._check(place, over)
        return self._put(place, data, {})

    def send(self, file: Path, place: str, *, over: str | None, note: Mapping[str, str], done: Any) -> str:
        """As `write`, for a large file, in parts; ``note`` is kept with it, ``done(bytes)`` counts."""
        self._check(place, over)
        inner = self._inner(place)
        more: dict[str, Any] = {}
        if self.scheme in S3:
            part = max(PART, -(-file.stat().st_size // _MOST_PARTS))
            more = {"Metadata": dict(note), "chunksize": part, "max_concurrency": _SIDE_BY_SIDE}
        try:
            more["callback"] = _counted(done)
            self._asked(place, lambda: self._files.put_file(str(file), inner, **more))
        except FileNotFoundError:
            raise self._nowhere(place) from None
        return self._mark(place)

    def note_of(self, place: str) -> dict[str, str]:
        """What was kept with an object by `send`."""
        if self.scheme not in S3:
            return {}
        inner = self._inner(place)
        metadata: Mapping[str, str] = self._asked(place, lambda: self._files.metadata(inner, refresh=True))
        return dict(metadata)

    def remove(self, place: str) -> None:
        """Remove one object; nothing where it is gone."""
        inner = self._inner(place)
        self._if_there(place, lambda: self._files.rm_file(inner), None)

    def age(self, place: str) -> float | None:
        """Seconds since an object was written, by the store's own clock where that can be asked; None: it is
        not there, or nothing is told."""
        if self.scheme in S3:
            bucket, key, _ = self._files.split_path(self._inner(place))
            try:
                head = self._asked(place, lambda: self._files.call_s3("head_object", Bucket=bucket, Key=key))
            except FileNotFoundError:
                return None
            now = head["ResponseMetadata"]["HTTPHeaders"].get("date")
            clock = parsedate_to_datetime(now) if now else datetime.now(UTC)
            return float((clock - head["LastModified"]).total_seconds())
        entry = self.find(place)
        if entry is None or entry.changed is None:
            return None
        return (datetime.now(UTC) - entry.changed).total_seconds()

    def missing(self, place: str) -> StorageError:
        """The error for an object that is not there: it says whether its bucket is."""
        if not self.has_bucket(place):
            return missing_bucket(place)
        return StorageError(f"There is no {shown(place)}.", "Check the address; letters count as they are.")

    def has_bucket(self, place: str) -> bool:
        """Whether the bucket of an address is there; True also where that is not told."""
        if self.scheme in S3:
            bucket, _, _ = self._files.split_path(self._inner(place))
            try:
                self._asked(place, lambda: self._files.call_s3("head_bucket", Bucket=bucket))
            except FileNotFoundError:
                return False
            except StorageError:
                return True
        return True

    def check_conditions(self, place: str) -> None:
        """Find out whether conditions hold: some stores take them and pay no heed.

        An object that is there is asked to be written as if it were not; it is of the asker's own making.
        """
        if not self.keeps_conditions or self._bucket(place) in _heeding:
            return
        data = self.read(place)
        try:
            self._put(place, data, {"mode": "create"})
        except WriteRefused:
            _heeding.add(self._bucket(place))
        except StorageError as trouble:
            if trouble.__cause__ is None or not is_unable(trouble.__cause__):
                raise
            self.keeps_conditions = False
        else:
            self.keeps_conditions = False

    def _nowhere(self, place: str) -> StorageError:
        """The error for an object that cannot be written since what it would lie in is not there."""
        if self.scheme in S3:
            return missing_bucket(place)
        return StorageError(
            f"{shown(place)} cannot be written: there is nothing that it could lie in.", "Check the address."
        )

    def _bucket(self, place: str) -> tuple[str, str]:
        return str(getattr(self._files, "endpoint_url", "")), place.split("://", 1)[1].partition("/")[0]

    @property
    def _fresh(self) -> dict[str, bool]:
        return {"refresh": True} if self.scheme in S3 else {}

    def _put(self, place: str, data: bytes, condition: Mapping[str, Any]) -> str:
        inner = self._inner(place)
        kind = _TYPES.get(PurePosixPath(place).suffix.lower()) if self.scheme in S3 else None
        more = {"ContentType": kind} if kind else {}
        try:
            out = self._asked(place, lambda: self._files.pipe_file(inner, data, **condition, **more))
        except FileNotFoundError:
            if "IfMatch" in condition:
                raise WriteRefused(place) from None
            raise self._nowhere(place) from None
        tag = out.get("ETag") if isinstance(out, Mapping) else None
        return tag.strip('"') if tag else self._mark(place)

    def _check(self, place: str, over: str | None) -> None:
        entry = self.find(place)
        if (entry.mark if entry else None) != over:
            raise WriteRefused(place)

    def _mark(self, place: str) -> str:
        entry = self.find(place)
        return entry.mark if entry else ""

    def _inner(self, place: str) -> str:
        return str(self._files._strip_protocol(place))

    def _if_there(self, place: str, call: Callable[[], T], otherwise: T) -> T:
        try:
            return self._asked(place, call)
        except FileNotFoundError:
            return otherwise

    def _asked(self, place: str, call: Callable[[], T]) -> T:
        try:
            answer = patiently(call, place, self.patience if self._met else min(self.patience, _AT_FIRST))
        except (FileNotFoundError, WriteRefused):
            self._met = True
            raise
        self._met = True
        return answer


def _counted(advance: Callable[[float], None]) -> Any:
    """fsspec's callback that counts what was moved; the size is known."""
    from fsspec.callbacks import Callback

    callback = Callback()
    callback.relative_update = advance
    return callback


_OWN_TRIES = {"retries": {"max_attempts": 1}, "connect_timeout": 10, "read_timeout": 60}
"""Of the client below: trying again is done here, where it is known how long it may take."""


def file_system(place: str) -> Any:
    """fsspec's view of the store that an address lies in, with no memory of listings: others write there too.

    Raises StorageError where its library is missing, or nobody knows such an address.
    """
    scheme = scheme_of(place)
    if scheme in S3 and "@" in place.split("://", 1)[1].partition("/")[0]:
        raise StorageError(
            f"{shown(place)} was given with credentials in it.", f"Leave them out. {CREDENTIALS}"
        )
    try:
        import fsspec
    except ImportError as error:
        raise missing_library(place, error) from None
    if scheme not in fsspec.available_protocols():
        kinds = ", ".join(f"{name}://" for name in ("s3", "gs", "az", "https"))
        raise StorageError(f"There is no such kind of address: {shown(place)}.", f"Known are {kinds} …")
    options: dict[str, Any] = {"use_listings_cache": False} if scheme in (*S3, *WEB) else {}
    if scheme in S3:
        from fsspec.config import conf

        # With more than one at a time it asks for the size before each reading; parts are read side by side
        # here.
        own = conf.get("s3", {}).get("config_kwargs", {})
        options |= {"max_concurrency": 1, "config_kwargs": {**_OWN_TRIES, **own}}
    try:
        return fsspec.filesystem(scheme, **options)
    except ImportError as error:
        raise missing_library(place, error) from None


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object, or a film: its path or address, size in bytes (None: not told), when it was written, and its
    mark.

    The mark, which only stores have, is another whenever the content is: the ETag where the store has one.
    ``lost``: why there is nothing, of a film that a list names. ``is_page``: it is a page of the web, by what
    its server says.
    """

    place: str
    size: int | None = None
    changed: datetime | None = None
    mark: str = ""
    lost: ShotadError | None = None
    is_page: bool = False


def entry_of(place: str, info: Mapping[str, Any]) -> StoredObject:
    """What fsspec says of an object, in whichever words its driver has for it."""
    size = info.get("size")
    dates = (info.get(name) for name in ("LastModified", "last_modified", "updated", "mtime", "created"))
    value: Any = next((value for value in dates if value), info.get("Last-Modified"))
    # A moment, seconds since 1970, ISO 8601, or as in headers of the web.
    if isinstance(value, int | float):
        value = datetime.fromtimestamp(value, UTC)
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        if isinstance(value, str):
            with suppress(ValueError):
                value = read(value)
    changed = None
    if isinstance(value, datetime):
        changed = value if value.tzinfo else value.replace(tzinfo=UTC)
    tag = str(info.get("ETag") or info.get("etag") or "").strip('"')
    mark = tag or f"{size}-{changed.isoformat() if changed else ''}"
    is_page = info.get("mimetype") == "text/html"
    return StoredObject(place, None if size is None else int(size), changed, mark, is_page=is_page)


def names_below(entries: list[StoredObject], place: str) -> Iterator[tuple[str, StoredObject]]:
    """Each entry with its name relative to the folder ``place``: what could lead out of it is left out."""
    top = f"{place.rstrip('/')}/"
    for entry in entries:
        name = entry.place[len(top) :] if entry.place.startswith(top) else ""
        parts = name.split("/")
        if name and not any(part in ("", ".", "..") or not can_be_named(part) for part in parts):
            yield name, entry


def check_kind(place: str) -> None:
    """Refuse a kind of place that cannot be written to, or cannot be opened here. Raises StorageError."""
    if is_local(place):
        return
    if scheme_of(place) in WEB:
        raise StorageError(
            f"Nothing can be written to an address of the web ({shown(place).partition('?')[0]}).",
            "Name a folder, or one on object storage, for the work folders: --out.",
        )
    if scheme_of(place) in S3 and not place.split("://", 1)[1].partition("/")[0]:
        raise StorageError(f"{shown(place)} names no bucket.", "Write s3://bucket/folder.")
    file_system(place)


def check_target(place: str) -> None:
    """As `check_kind`; also refuse a bucket that is not there."""
    check_kind(place)
    if not is_local(place) and not Store(place).has_bucket(place):
        raise missing_bucket(place)


_TYPES = {
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".txt": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".vtt": "text/vtt; charset=utf-8",
    ".srt": "application/x-subrip; charset=utf-8",
    ".xml": "application/ttml+xml; charset=utf-8",
    ".png": "image/png",
    ".jpg": "image/jpeg",
}
"""What a store is told that a file is, so that players and browsers take it."""


_PASSING = {
    "HTTPClientError", "ConnectionError", "TimeoutError", "FSTimeoutError", "ClientConnectionError",
    "ClientPayloadError", "ServerDisconnectedError", "ResponseParserError", "IncompleteRead",
    "IncompleteReadError",
}  # fmt: skip
_PASSING_CODES = {
    "SlowDown", "Throttling", "RequestTimeout", "InternalError", "ServiceUnavailable", "OperationAborted",
    "ConditionalRequestConflict", "409", "429", "500", "502", "503", "504",
}  # fmt: skip
_PASSING_ERRNO = {
    errno.EBUSY, errno.ECONNRESET, errno.ETIMEDOUT, errno.EPIPE, errno.EHOSTUNREACH, errno.ENETUNREACH,
    errno.ENETDOWN, getattr(errno, "EREMOTEIO", errno.EBUSY),
}  # fmt: skip
_NO_CREDENTIALS = {
    "NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "NoAuthTokenError",
    "SSOError", "TokenRetrievalError", "ProfileNotFound", "DefaultCredentialsError",
}  # fmt: skip
_WRONG_CREDENTIALS = {
    "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "RequestTimeTooSkewed",
}  # fmt: skip
_CONDITION = {"PreconditionFailed", "412"}
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 20.0

CREDENTIALS = (
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; for a bucket that is open to all "
    "FSSPEC_S3_ANON=true (docs/storage.md)."
)


def code_of(error: BaseException) -> str:
    """The service's own code for an error, such as ``NoSuchBucket``; empty where there is none."""
    for cause in _chain(error):
        response = getattr(cause, "response", None)
        if isinstance(response, dict):
            return str(response.get("Error", {}).get("Code", ""))
        status = getattr(cause, "status", None)
        if isinstance(status, int):
            return str(status)
    return ""


def is_passing(error: BaseException) -> bool:
    """Whether the same request may well succeed a moment later."""
    code = code_of(error)
    if code:
        return code in _PASSING_CODES
    if isinstance(error, OSError) and error.errno in _PASSING_ERRNO:
        return True
    return bool(_names(error) & _PASSING)


def is_unable(error: BaseException) -> bool:
    """Whether a store does not know the condition that a write was made under."""
    return code_of(error) in ("NotImplemented", "501") or isinstance(error, TypeError | NotImplementedError)


def patiently(call: Callable[[], T], place: str, patience: float) -> T:
    """What ``call`` gives, tried again for ``patience`` seconds while the trouble is of the passing kind.

    Raises FileNotFoundError and FileExistsError as they are, `WriteRefused` for a condition that does not
    hold, else StorageError.
    """
    pause, until = _FIRST_PAUSE, time.monotonic() + patience
    while True:
        try:
            return call()
        except Exception as error:
            if not is_passing(error) or time.monotonic() + pause > until:
                if isinstance(error, ShotadError | FileNotFoundError):
                    raise
                if isinstance(error, FileExistsError) or code_of(error) in _CONDITION:
                    raise WriteRefused(place) from error
                raise explained(error, place) from error
        time.sleep(pause * (0.75 + secrets.randbelow(500) / 1000))
        pause = min(2 * pause, _LONGEST_PAUSE)


class WriteRefused(Exception):  # noqa: N818  no error: what the asker wanted to know
    """A write under a condition that does not hold: another has written the object, or it is gone."""


def explained(error: BaseException, place: str) -> StorageError:
    """The error for people: what happened at which place, and what to do."""
    code, named, where = code_of(error), _names(error), shown(place)
    if named & _NO_CREDENTIALS:
        return StorageError(f"There are no credentials for {where} ({type(error).__name__}).", CREDENTIALS)
    if code in _WRONG_CREDENTIALS:
        return StorageError(f"The credentials for {where} are not accepted ({code}).", CREDENTIALS)
    if isinstance(error, PermissionError) or code in ("AccessDenied", "401", "403"):
        return StorageError(
            f"{where} may not be read or written: access is denied.",
            "Check the name, your key and its rights; many stores answer so too for what is not there.",
        )
    if code == "NoSuchBucket":
        return missing_bucket(place)
    if is_passing(error):
        return StorageError(
            f"{where} cannot be reached ({_plain(error)}).",
            "Check the network and the address of the store; run again: what is done is kept.",
            again=True,
        )
    hint = "Check the name of the bucket." if "ParamValidationError" in named else "Check the address."
    return StorageError(f"{where} cannot be used ({_plain(error)}).", hint)


def missing_bucket(place: str) -> StorageError:
    """The error for a place in a bucket that is not there."""
    bucket = place.split("://", 1)[-1].partition("/")[0]
    return StorageError(
        f"There is no bucket {bucket} ({shown(place)}).",
        "Check its name, its region and the address of the store; shotad makes no buckets.",
    )


def missing_library(place: str, error: BaseException) -> StorageError:
    """The error for an address whose library is not installed."""
    scheme = scheme_of(place)
    packages = {
        "s3": "shotad[s3]",
        "s3a": "shotad[s3]",
        "gs": "gcsfs",
        "gcs": "gcsfs",
        "az": "adlfs",
        "abfs": "adlfs",
        "http": "shotad[s3]",
        "https": "shotad[s3]",
    }
    package = packages.get(scheme)
    hint = install_command(package) if package else "Install the library that fsspec names for it"
    return StorageError(f"What reads {scheme}:// is not installed ({_plain(error)}).", f"{hint}.")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _names(error: BaseException) -> set[str]:
    return {kind.__name__ for cause in _chain(error) for kind in type(cause).__mro__}


def _plain(error: BaseException) -> str:
    """The message of a library, which may run over lines and quote an address with its keys."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return address_without_secrets(" ".join(str(text).split()))[:300].rstrip(".:")
