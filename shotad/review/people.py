"""The cast on the page: who is in the film, in which lines, and what they are called.

A new name changes the cast, and what of the lines it certainly changes. When people are on the screen is
known by what runs have kept of faces; no model is asked.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from shotad.core import (
    CastError,
    Character,
    Config,
    FilmInfo,
    Interval,
    Member,
    Progress,
    ReviewError,
    ShotadError,
    WorkFolder,
    key_of,
    plural,
)
from shotad.description import CHARACTERS, DISCOVERED, PIXELS, rows_of, spoken
from shotad.film import jpeg
from shotad.review.acts import ACTS
from shotad.review.kinds import Change, Json, Picture
from shotad.review.work import (
    OWN,
    cast_place,
    folder_of,
    held,
    opened,
    remember_cast,
    run_with_cast,
    state_of_cast,
    why_not,
)
from shotad.script import Cue, LineState, cast_mentions
from shotad.sight import (
    CastFile,
    Facts,
    FoundPerson,
    Holdings,
    from_row,
    held as cast_held,
    keep_for_undo,
    load_cast,
    load_photo,
    make_face_models,
    merge,
    people_in,
    renew_overview,
    taken_name,
)

if TYPE_CHECKING:
    from shotad.review.session import Session

PICTURE_PIXELS = 240
"""Length of the longer side of a person's picture on the page."""
MOST_PICTURES = 12
SHORTEST = 0.5
"""Seconds for which somebody must be seen in a slot for its line to tell of them."""


@dataclass(frozen=True)
class _Known:
    """The cast as it lies on the disk, and when its members are seen."""

    place: Path | None
    members: tuple[Member, ...] = ()
    spans: Spans | None = None
    facts: Facts = field(default_factory=Facts)
    trouble: str = ""


class People:
    """The people of a session's film. All methods may be called from any thread."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._kept: tuple[object, _Known] | None = None

    def view(self) -> Json:
        """Who is in the cast, as the page shows it."""
        known = self._known()
        why = why_not(known.place)
        return {
            "people": [self._row(member, known) for member in known.members],
            "can_discover": not why,
            "why": known.trouble or why,
        }

    def picture(self, key: str, number: int) -> Picture:
        """A person's picture, counted from 1, small. Raises ReviewError where there is none."""
        member = self._member(key)
        if not 1 <= number <= min(len(member.photos), MOST_PICTURES):
            raise ReviewError(
                f"There is no picture {number} of {key}.", "The cast may have changed meanwhile."
            )
        return _small(member.photos[number - 1])

    def name(
        self,
        progress: Progress,
        person: str,
        name: str = "",
        *,
        descriptor: str | None = None,
        pronoun: str | None = None,
        nameless: bool | None = None,
    ) -> Json:
        """Say who somebody is, as ``shotad cast name`` does, and bring it into the lines where it is certain.

        The result names the lines that tell of them and could be described again with the name (``again``),
        and those that stay because a person wrote or accepted them (``kept``). Raises CastError, ReviewError.
        """
        place = self._place()
        before = self._member(person)
        values = new_values(before, name, descriptor, pronoun, nameless)
        with held(self._session.folder) as folder:
            with cast_held(folder_of(place)):
                file = CastFile.open(place)
                # Raises CastError where somebody else has the name: that is one person, or a mistake
                if (found := taken_name(file.members, before, [name])) is not None:
                    raise CastError(
                        f"{found[0].id} is called {found[1]!r} already.",
                        "If they are one person, merge them; else give one a different name.",
                    )
                file.update(before.id, **values)
                _save(file, place)
            remember_cast(self._session, folder, place)
            folder.note(f"cast on the review page: {before.id} is {name or 'changed'}")
        return self._brought(before, self._member(before.id))

    def merge(self, progress: Progress, person: str, into: str) -> Json:
        """Make two entries one person, as ``shotad cast merge`` does. Raises CastError, ReviewError."""
        place, gone, kept = self._place(), self._member(person), self._member(into)
        with held(self._session.folder) as folder:
            with cast_held(folder_of(place)):
                file = CastFile.open(place)
                merge(file, gone, kept)
                keep_for_undo(file)
                _save(file, place)
            remember_cast(self._session, folder, place)
        told = self._brought(gone, self._member(kept.id))
        return {
            **told,
            "said": f"{called(gone)} and {called(kept)} are one person now. {told['said']}".strip(),
        }

    def discover(self, progress: Progress) -> Json:
        """Look for the people of the film by their faces, as ``shotad cast discover`` does."""
        from shotad.description import RunContext, discover
        from shotad.sight import get_face_models

        session, run = self._session, run_with_cast(self._session)
        place = cast_place(session) or session.folder / OWN
        if why := why_not(place):
            raise ReviewError("People cannot be looked for.", why)
        with held(session.folder) as folder, opened(session, run, run.config) as film:
            get_face_models(run.config.cast, progress)
            given = replace(run.given, start=0.0, end=None)
            found = discover(RunContext.of(film, folder, run.config, given, progress), folder_of(place))
            folder.note(f"looked for people: {len(found.people)}")
        new = sum(one.way == "new" for one in found.people)
        if not found.people:
            said = "No faces were found." if not found.faces else "Nobody was seen long or clearly enough."
        else:
            said = f"{plural(len(found.people), 'person', 'people')} found, {new} new. Say who they are."
        return {"said": said, "people": len(found.people), "new": new, "files": []}

    def _brought(self, before: Member, after: Member) -> Json:
        known = self._known()
        others = [one for one in known.members if one.id not in (before.id, after.id)]
        # Have the lines say somebody's name where that is certain, as one step of undo; what came of it.
        # ``seen`` are ids of lines in whose slots they are on the screen. ``again`` in the result are the
        # lines that tell of them and could be described again with the name, ``kept`` those that stay because
        # a person wrote or accepted them.
        session = self._session
        seen = self._lines(after, known)
        naming = _Naming(before, after, others, session.film.name, frozenset(seen))
        changed: list[str] = []

        def make() -> Change:
            scene = session.scene()
            texts = {cue.id: naming.text(cue) for cue in scene.track.heard if naming.may_change(cue)}
            cues = [
                cue for name, text in texts.items() for cue in ACTS["write"](scene, name, {"text": text}).cues
            ]
            changed.extend(texts)
            return Change(f"{plural(len(texts), 'line says', 'lines say')} {after.says} now.", tuple(cues))

        if any(naming.may_change(cue) for cue in session.track.heard):
            session.change(make, origin="job")
        rest = [cue for cue in session.track.heard if after.says and naming.lacks(cue)]
        again = [cue.id for cue in rest if cue.state is LineState.MACHINE and cue.slot_id]
        kept = [cue.id for cue in rest if cue.id not in again]
        return {
            "said": _told(after, changed, again, kept),
            "person": after.id,
            "name": after.says,
            "changed": changed,
            "again": again,
            "kept": kept,
            "files": [],
        }

    def _row(self, member: Member, known: _Known) -> dict[str, Any]:
        lines = self._lines(member, known)
        found = [one for one in known.facts.in_films(member.id) if one.film == self._session.film.fingerprint]
        key = quote(member.id, safe="")
        return {
            "key": member.id,
            "name": member.name,
            "says": member.says,
            "descriptor": member.descriptor,
            "pronoun": member.pronoun,
            "nameless": member.nameless,
            "lines": lines,
            "pictures": [
                f"/media/person/{key}/{number}.jpg?{key_of(str(photo))[:8]}"
                for number, photo in enumerate(member.photos[:MOST_PICTURES], 1)
            ],
            "seconds": round(sum(one.seconds for one in found), 1),
            "shots": sum(one.shots for one in found),
            "first": min((one.first for one in found), default=None),
            "like": known.facts.like(member.id) if not member.name else "",
        }

    def _lines(self, member: Member, known: _Known) -> list[str]:
        """Ids of the heard lines in whose slots somebody is seen, in order of time."""
        spans = (known.spans or {}).get(member.id, ())
        slots = {slot.id: slot.interval for slot in self._session.prepared.slots}
        return [
            cue.id
            for cue in self._session.track.heard
            if _shared(slots.get(cue.slot_id or "", cue.interval), spans) >= SHORTEST
        ]

    def _member(self, key: str) -> Member:
        known = self._known()
        if known.trouble:
            raise ReviewError(known.trouble)
        found = next((member for member in known.members if member.id == key), None)
        if found is None:
            raise ReviewError(f"The cast has nobody called {key!r}.", "It may have changed meanwhile.")
        return found

    def _place(self) -> Path:
        place = cast_place(self._session)
        if place is None:
            raise ReviewError("There is no cast yet.", "Look for the people of the film first.")
        if why := why_not(place):
            raise ReviewError("This cast cannot be changed here.", why)
        return place

    def _known(self) -> _Known:
        """The cast, read again where a file of it has changed."""
        with self._lock:
            place = cast_place(self._session)
            stamp = state_of_cast(self._session.folder, place)
            if self._kept is None or self._kept[0] != stamp:
                self._kept = (stamp, self._read(place))
            return self._kept[1]

    def _read(self, place: Path | None) -> _Known:
        if place is None:
            return _Known(None)
        session = self._session
        given = run_with_cast(session).given.cast
        try:
            cast = load_cast(place, key=given.key if given else "", photos=given.photos if given else None)
            folder, members = folder_of(place), tuple(cast)
            spans = on_screen(session.folder, folder, members, session.film, session.config)
            return _Known(place, members, spans, Facts.read(folder))
        except ShotadError as error:
            return _Known(place, trouble=f"{error.what} {error.hint}".strip())


def _shared(slot: Interval, spans: Sequence[Interval]) -> float:
    """Seconds of a slot in which somebody is seen; of a shorter slot's half no more is wanted."""
    total = sum(cut.duration for span in spans if (cut := slot.clip(span)) is not None)
    return total if slot.duration >= 2 * SHORTEST else total * 2 * SHORTEST / max(slot.duration, 1e-3)


def _save(file: CastFile, place: Path) -> None:
    file.save()
    renew_overview(folder_of(place))


def _small(path: Path) -> Picture:
    from PIL import Image

    image = Image.fromarray(load_photo(path))
    image.thumbnail((PICTURE_PIXELS, PICTURE_PIXELS))
    key = key_of(str(path), path.stat().st_mtime_ns, PICTURE_PIXELS)
    return Picture("image/jpeg", jpeg(np.asarray(image), 85), key)


_ARTICLE = re.compile(r"\A(?:an?|the)\s+", re.IGNORECASE)


def renamed(
    text: str, before: Member, after: Member, others: Sequence[Member], film: str, at: float, *, seen: bool
) -> str:
    """The line at second ``at`` of ``film`` with somebody called as they are called now.

    Names that they had before become the new one; where they are ``seen`` then, so does their descriptor
    (``the woman in red``). Nobody else's name is changed, and none is said before the film reveals it.
    """
    now = after.character(film, at)
    if now is None or not now.named:
        return text
    was = before.character(film, at)
    old = (was.called, was.full, *was.others) if was is not None and was.named else ()
    person = replace(
        now, others=tuple(dict.fromkeys(name for name in (*now.others, *old) if name != now.called))
    )
    text = spoken(text, [person, *_silent(others, film, at)])
    return _described(text, before.descriptor or after.descriptor, now.called) if seen else text


def names(text: str, member: Member, others: Sequence[Member], film: str, at: float) -> bool:
    own = member.character(film, at)
    if own is None or not own.named:
        return False
    return any(mention.id == own.id for mention in cast_mentions(text, [own, *_silent(others, film, at)]))


def _silent(others: Sequence[Member], film: str, at: float) -> list[Character]:
    """Everybody else, known by their names so that none is taken for somebody else's, but left as written."""
    found = (member.character(film, at) for member in others)
    return [
        replace(one, called="", others=(one.called, *one.others))
        for one in found
        if one is not None and one.named
    ]


def _described(text: str, descriptor: str, name: str) -> str:
    core = _ARTICLE.sub("", " ".join(descriptor.split()).rstrip("."))
    if not core:
        return text
    words = r"\s+".join(re.escape(word) for word in core.split())
    return re.sub(rf"(?<!\w)(?:an?|the)\s+{words}(?!\w)", lambda _: name, text, flags=re.IGNORECASE)


def new_values(
    member: Member, name: str, descriptor: str | None, pronoun: str | None, nameless: bool | None
) -> dict[str, Any]:
    """The fields that change. Raises ReviewError where nothing is said."""
    given: Mapping[str, Any] = {
        "name": " ".join(name.split()) or None,
        "descriptor": None if descriptor is None else " ".join(descriptor.split()),
        "pronoun": pronoun,
    }
    values = {key: value for key, value in given.items() if value is not None}
    if nameless is not None or (values.get("name") and member.nameless):
        values["nameless"] = bool(nameless)
    values = {key: value for key, value in values.items() if value != getattr(member, key)}
    if values.get("name") and member.spoken:
        # What AD said was a form of the old name.
        values["spoken"] = ""
    if not values:
        raise ReviewError(f"Nothing new was said of {called(member)}.", "Give a name.")
    return values


@dataclass(frozen=True)
class _Naming:
    """Somebody as they were and as they are called now in ``film``; ``seen`` are the lines that show them."""

    before: Member
    after: Member
    others: Sequence[Member]
    film: str
    seen: frozenset[str]

    def text(self, cue: Cue) -> str:
        """The line as it would read now."""
        at, seen = cue.interval.start, cue.id in self.seen
        return renamed(cue.text, self.before, self.after, self.others, self.film, at, seen=seen)

    def may_change(self, cue: Cue) -> bool:
        """Whether the line changes without anybody being asked: nobody has accepted it."""
        return cue.state is not LineState.ACCEPTED and self.text(cue) != cue.text

    def lacks(self, cue: Cue) -> bool:
        """Whether the line speaks of them without the name that could be said."""
        at = cue.interval.start
        now = self.after.character(self.film, at)
        if now is None or not now.named:
            return False
        if self.text(cue) != cue.text:
            return True
        return cue.id in self.seen and not names(cue.text, self.after, self.others, self.film, at)


def _told(member: Member, changed: Sequence[str], again: Sequence[str], kept: Sequence[str]) -> str:
    """What a name came to, in one or two sentences."""
    if not member.says:
        return f"{called(member)} is noted in the cast."
    said = [f"{member.id} is {member.says} now."]
    if changed:
        said.append(f"{plural(len(changed), 'line says', 'lines say')} the name.")
    if again:
        said.append(
            f"{plural(len(again), 'more line tells', 'more lines tell')} of {member.says} without a name."
        )
    if kept:
        own = "that you edited or accepted"
        said.append(f"{plural(len(kept), 'line', 'lines')} {own} {'stays' if len(kept) == 1 else 'stay'}.")
    return " ".join(said)


def called(member: Member) -> str:
    return member.says or member.id


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
    for person in people_in(tracks, height, models.join, models.margin):
        name = _whose(person, holdings, info.fingerprint)
        for track in person.tracks if name else ():
            yield name, track.first, track.last + _LOOK


def _whose(person: FoundPerson, holdings: Holdings, film: str) -> str:
    """Who has the pictures that were cut from this person; empty where nobody has."""
    votes = Counter(
        holder
        for picture in holdings.facts.of_film(film)
        if (holder := holdings.holder(picture)) and person.is_seen_at(picture.second, picture.box)
    )
    return max(sorted(votes), key=lambda name: votes[name]) if votes else ""
