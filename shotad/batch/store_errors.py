"""What went wrong with a store, in plain words, and whether it may be over in a moment.

Storage libraries raise what they like: errors of the system, of botocore, of aiohttp. They are told by the
names of their classes and by the codes of the service, so that none of these libraries must be imported.
"""

from __future__ import annotations

import errno
import secrets
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from shotad.batch.places import scheme_of, shown
from shotad.core import ShotadError, StorageError, without_secrets

T = TypeVar("T")

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
    for one in _chain(error):
        response = getattr(one, "response", None)
        if isinstance(response, dict):
            return str(response.get("Error", {}).get("Code", ""))
        status = getattr(one, "status", None)
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

    Raises FileNotFoundError and FileExistsError as they are, `Refused` for a condition that does not hold,
    else StorageError.
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
                    raise Refused(place) from error
                raise explained(error, place) from error
        time.sleep(pause * (0.75 + secrets.randbelow(500) / 1000))
        pause = min(2 * pause, _LONGEST_PAUSE)


class Refused(Exception):  # noqa: N818  no error: what the asker wanted to know
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
    extras = {
        "s3": "pip install 'shotad[s3]'",
        "s3a": "pip install 'shotad[s3]'",
        "gs": "pip install gcsfs",
        "gcs": "pip install gcsfs",
        "az": "pip install adlfs",
        "abfs": "pip install adlfs",
        "http": "pip install 'shotad[s3]'",
        "https": "pip install 'shotad[s3]'",
    }
    hint = extras.get(scheme, "Install the library that fsspec names for it")
    return StorageError(f"What reads {scheme}:// is not installed ({_plain(error)}).", f"{hint}.")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _names(error: BaseException) -> set[str]:
    return {kind.__name__ for one in _chain(error) for kind in type(one).__mro__}


def _plain(error: BaseException) -> str:
    """The message of a library, which may run over lines and quote an address with its keys."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return without_secrets(" ".join(str(text).split()))[:300].rstrip(".:")
