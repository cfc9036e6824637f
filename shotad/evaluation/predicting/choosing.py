"""Which ADs of a dataset are described, which clips are a shard's, and whom to name in each film."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad.core import CastError, GivenCast, UsageError, key_of
from shotad.evaluation.datasets.dataset import Ad, Dataset

_NAMED = 5
"""How many unknown names an error lists."""


ClipAds = tuple[Ad, ...]
"""The ADs of one video to describe, in the dataset's order: at least one."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number`` of ``of`` parts; numbers count from 1."""

    number: int = 1
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError(f"a shard is one of {self.of}, got {self.number}")

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that ``2/8`` names. Raises UsageError."""
        match = re.fullmatch(r"(\d+)/(\d+)", text.strip())
        with suppress(ValueError):
            if match is not None:
                return cls(int(match[1]), int(match[2]))
        raise UsageError(f"--shard {text!r} is no shard.", "Write the second of eight as 2/8.")

    def of_groups(self, sizes: Mapping[str, int]) -> set[str]:
        """Its groups, of these names and sizes, the largest first: each is dealt to the part that has the
        least so far, so that all machines come to the same division."""
        loads, mine = [0] * self.of, set()
        for name, size in sizes.items():
            least = loads.index(min(loads))
            loads[least] += size
            if least == self.number - 1:
                mine.add(name)
        return mine

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def choose(
    dataset: Dataset,
    shard: Shard | None = None,
    *,
    ids: Set[str] | None = None,
    films: Set[str] | None = None,
    limit: int | None = None,
) -> tuple[ClipAds, ...]:
    """The clips of the shard, with those of their ADs that are wanted, in the dataset's order: with these
    ``ids``, of these ``films`` (None: all), and of what is left the first ``limit``.

    Clips are whole: the shards of what is wanted have no clip in common, and together all of them.
    Raises UsageError for ids and films that the dataset has not.
    """
    _check("ids", ids, (ad.id for ad in dataset.ads), dataset)
    _check("films", films, (ad.film for ad in dataset.ads), dataset)
    ads = [ad for ad in dataset.ads if (ids is None or ad.id in ids) and (films is None or ad.film in films)]
    clips: dict[str, list[Ad]] = {}
    for ad in ads[:limit]:
        clips.setdefault(ad.clip, []).append(ad)
    mine = set(clips)
    if shard is not None:
        largest = sorted(clips, key=lambda clip: -len(clips[clip]))
        mine = shard.of_groups({clip: len(clips[clip]) for clip in largest})
    return tuple(tuple(own) for clip, own in clips.items() if clip in mine)


def _check(what: str, asked: Set[str] | None, there: Iterable[str], dataset: Dataset) -> None:
    unknown = sorted((asked or frozenset()) - set(there))
    if unknown:
        some = ", ".join(unknown[:_NAMED]) + (", …" if len(unknown) > _NAMED else "")
        raise UsageError(
            f"{dataset.title} has not all of the {what} asked for: {some} ({len(unknown)} in all).",
            f"shotad datasets check {dataset.name} says what there is.",
        )


@dataclass(frozen=True, slots=True)
class Bank:
    """A bank of many films: ``rows`` are its entries, by the film's key."""

    path: Path
    photos: Path | None
    rows: dict[str, Any]

    def cast_of(self, film: str) -> GivenCast | None:
        """The film's cast; None for a film that the bank has not, in which nobody is named."""
        return GivenCast(self.path, film, self.photos) if film in self.rows else None

    def known_of(self, film: str) -> str | None:
        """Hash of what is known of the film's cast, its pictures by name and size; None: nothing."""
        if film not in self.rows:
            return None
        found = []
        for name in {str(row.get("id")) for row in self.rows[film] if isinstance(row, dict)}:
            if self.photos is not None:
                folder = self.photos / name
                files = [*self.photos.glob(f"{name}.*"), *(folder.iterdir() if folder.is_dir() else ())]
                found += [
                    [str(one.relative_to(self.photos)), one.stat().st_size] for one in files if one.is_file()
                ]
        return key_of(self.rows[film], sorted(found))


def read_bank_of_films(path: Path, photos: Path | None) -> Bank:
    """The bank in a JSON file, ``{film: [{id, name, role}, …]}``. Raises CastError.

    What a film's own entries are is looked at when the film is described.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CastError(f"The bank {path} cannot be read: {error.strerror}.", "Look for it.") from None
    except ValueError as error:
        raise CastError(f"The bank {path} is no JSON: {error}.", "Fetch it again.") from None
    if not isinstance(rows, dict) or not all(isinstance(cast, list) for cast in rows.values()):
        raise CastError(f"{path} is no bank of films.", 'Give a file with {"film": [{"id": …, "role": …}]}.')
    if photos is not None and not photos.is_dir():
        raise CastError(f"There is no folder of pictures {photos}.", "Name the one that goes with the bank.")
    return Bank(path, photos, rows)
