"""When the people of a cast are on the screen, by what runs have kept of faces; no model is asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from shotad.core import Config, FilmInfo, Interval, Member, WorkFolder
from shotad.description import CHARACTERS, DISCOVERED, PIXELS, join_of, rows_of
from shotad.sight import FaceTrack, Facts, FoundPerson, Holdings, from_row, make_face_models, people_in

_LOOK = 0.34
"""Seconds for which somebody counts as seen around a single look."""

Spans = Mapping[str, tuple[Interval, ...]]


def on_screen(folder: Path, cast: Path, members: Sequence[Member], info: FilmInfo, config: Config) -> Spans:
    """When each member is seen, by id, ascending; as recognised by a run, and as discovery found them."""
    spans: dict[str, set[tuple[float, float]]] = defaultdict(set)
    for name, first, last in (*_recognised(folder), *_discovered(folder, cast, members, info, config)):
        spans[name].add((first, max(last, first + _LOOK)))
    return {name: tuple(Interval(*span) for span in sorted(found)) for name, found in spans.items()}


def _recognised(folder: Path) -> Iterator[tuple[str, float, float]]:
    record = WorkFolder(folder).read_json(f"{CHARACTERS}.json") or {}
    for row in record.get("tracks", ()):
        if row.get("person"):
            yield str(row["person"]), float(row["first"]), float(row["last"])


def _discovered(
    folder: Path, cast: Path, members: Sequence[Member], info: FilmInfo, config: Config
) -> Iterator[tuple[str, float, float]]:
    """The same people as discovery made of its faces; whose they are its pictures tell."""
    models = make_face_models(config.cast)
    kept = {row.get("key"): row for row in rows_of(WorkFolder(folder), DISCOVERED)}
    rows = [row for row in kept.values() if row.get("models") == models.identity]
    tracks = [
        from_row(track) for row in sorted(rows, key=lambda row: int(row["shot"])) for track in row["tracks"]
    ]
    if not tracks:
        return
    holdings = Holdings(cast, tuple(members), Facts.read(cast))
    height = info.size_within(max_pixels=PIXELS)[1]
    for person in people_in(tracks, height, join_of(models, config), models.margin):
        name = _whose(person, holdings, info.fingerprint)
        for track in person.tracks if name else ():
            yield name, track.first, _end(track)


def _end(track: FaceTrack) -> float:
    return track.last + _LOOK


def _whose(person: FoundPerson, holdings: Holdings, film: str) -> str:
    """Who has the pictures that were cut from this person; empty where nobody has."""
    votes = Counter(
        holder
        for picture in holdings.facts.of_film(film)
        if (holder := holdings.holder(picture)) and person.is_seen_at(picture.second, picture.box)
    )
    return max(sorted(votes), key=lambda name: votes[name]) if votes else ""
