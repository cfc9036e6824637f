"""Whether a place may be one for work folders, told before any film is begun."""

from __future__ import annotations

from shotad.batch.storage.connecting import S3, WEB, file_system
from shotad.batch.storage.places import is_local, scheme_of, shown
from shotad.batch.storage.store import Store
from shotad.batch.storage.trouble import missing_bucket
from shotad.core import StorageError


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
