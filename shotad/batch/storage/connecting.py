"""Connecting: from an address to what fsspec has for its store."""

from __future__ import annotations

from typing import Any

from shotad.batch.storage.places import scheme_of, shown
from shotad.batch.storage.trouble import CREDENTIALS, missing_library
from shotad.core import StorageError

S3 = ("s3", "s3a")
WEB = ("http", "https")
"""Schemes of stores that have ways of their own."""

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
        known = ", ".join(f"{name}://" for name in ("s3", "gs", "az", "https"))
        raise StorageError(f"There is no such kind of address: {shown(place)}.", f"Known are {known} …")
    try:
        return fsspec.filesystem(scheme, **_options(scheme))
    except ImportError as error:
        raise missing_library(place, error) from None


def _options(scheme: str) -> dict[str, Any]:
    if scheme not in S3:
        return {"use_listings_cache": False} if scheme in WEB else {}
    from fsspec.config import conf

    own = conf.get("s3", {}).get("config_kwargs", {})
    # With more than one at a time it asks for the size before each reading; parts are read side by side here.
    return {"use_listings_cache": False, "max_concurrency": 1, "config_kwargs": {**_OWN_TRIES, **own}}
