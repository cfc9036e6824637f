"""The cast on the page: who is in the film, in which lines, and what they are called."""

from __future__ import annotations

import io
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from shotad.core import Interval, Member, Progress, ReviewError, ShotadError, key_of
from shotad.review.kinds import Json, Picture
from shotad.review.working.castnaming import bring_in, called, check_free, count, new_values
from shotad.review.working.castplace import (
    OWN,
    cast_place,
    folder_of,
    remember_cast,
    run_with_cast,
    stamp_of_cast,
    why_not,
)
from shotad.review.working.holding import held, opened
from shotad.review.working.onscreen import Spans, on_screen
from shotad.sight import (
    CastFile,
    Facts,
    held as cast_held,
    keep_for_undo,
    load_cast,
    load_photo,
    merge,
    renew_overview,
)

if TYPE_CHECKING:
    from shotad.review.editing.session import Session

PIXELS = 240
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
        self._kept: tuple[str, _Known] | None = None

    def view(self) -> Json:
        """Who is in the cast, as the page shows it."""
        known = self._known()
        why = why_not(known.place)
        return {
            "people": [self._row(member, known) for member in known.members],
            "can_discover": not why,
            "why": known.trouble or why,
            "can_name": not why and known.place is not None,
            "place": "" if known.place is None else str(known.place),
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

        The result names the lines that tell of them and could be described anew with the name (``again``),
        and those that stay because a person wrote or accepted them (``kept``). Raises CastError, ReviewError.
        """
        place = self._place()
        before = self._member(person)
        values = new_values(before, name, descriptor, pronoun, nameless)
        with held(self._session.folder) as folder:
            with cast_held(folder_of(place)):
                file = CastFile.open(place)
                check_free(file.members, before, name)
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
        from shotad.description import Bench, discover
        from shotad.sight import get_face_models

        session, run = self._session, run_with_cast(self._session)
        place = cast_place(session) or session.folder / OWN
        if why := why_not(place):
            raise ReviewError("People cannot be looked for.", why)
        with held(session.folder) as folder, opened(session, run, run.config) as film:
            get_face_models(run.config.cast, progress)
            given = replace(run.given, start=0.0, end=None)
            found = discover(Bench.of(film, folder, run.config, given, progress), folder_of(place))
            folder.note(f"looked for people: {len(found.people)}")
        new = sum(one.way == "new" for one in found.people)
        if not found.people:
            said = "No faces were found." if not found.faces else "Nobody was seen long or clearly enough."
        else:
            said = f"{count(len(found.people), 'person', 'people')} found, {new} new. Say who they are."
        left = {"brief": found.brief, "unclear": found.unclear, "dismissed": found.dismissed}
        return {"said": said, "people": len(found.people), "new": new, "left_out": left, "files": []}

    def _brought(self, before: Member, after: Member) -> Json:
        known = self._known()
        others = [one for one in known.members if one.id not in (before.id, after.id)]
        return bring_in(self._session, before, after, others, self._lines(after, known))

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
            "aliases": list(member.aliases),
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
            stamp = stamp_of_cast(self._session.folder, place)
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
    image.thumbnail((PIXELS, PIXELS))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=85)
    return Picture("image/jpeg", out.getvalue(), key_of(str(path), path.stat().st_mtime_ns, PIXELS))
