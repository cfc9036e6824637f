"""The cast on the page: who is in the film, in which lines, and what they are called.

A new name changes the cast, and what of the lines it certainly changes. When people are on the screen is
known by what runs have kept of faces; no model is asked.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from PIL import Image

from shotad.core import (
    Character,
    Config,
    FilmInfo,
    Interval,
    Member,
    Progress,
    ShotadError,
    WorkFolder,
)
from shotad.core.errors import (
    CastError,
    ReviewError,
    quoted,
)
from shotad.core.types import clip_all
from shotad.core.workfolder import hash_key
from shotad.description.casting.discovery import MAX_PIXELS
from shotad.description.casting.recognition import CHARACTERS, DISCOVERED
from shotad.description.slot_redo import read_rows
from shotad.description.slotplan import with_spoken_names
from shotad.description.worksheet.people import OWN_CAST, find_cast
from shotad.film.palette import jpeg
from shotad.review.acts import ACTS
from shotad.review.events import Json
from shotad.review.messages import Sentence, both, message, refusal, sentence_view, with_texts
from shotad.review.session import Session
from shotad.review.timeline import Change
from shotad.review.work import (
    folder_of,
    held,
    opened,
    remember_cast,
    run_with_cast,
    state_of_cast,
    why_not,
)
from shotad.script import Cue, LineState
from shotad.script.names import cast_mentions
from shotad.sight import (
    CastFile,
    CastPictures,
    DiscoveryRecord,
    FaceModels,
    get_face_models,
    group_people,
    load_cast,
    merge,
)
from shotad.sight.castfile import conflicting_name
from shotad.sight.castfolder import (
    keep_for_undo,
    locked as cast_held,
    update_overview,
)
from shotad.sight.facetracks import track_from_json
from shotad.sight.photos import load_photo

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
    spans: Spans = field(default_factory=dict)
    facts: DiscoveryRecord = field(default_factory=DiscoveryRecord)
    trouble: str = ""


class CastEditor:
    """The people of a session's film. All methods may be called from any thread."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._kept: tuple[object, _Known] | None = None

    def view(self) -> Json:
        """Who is in the cast, as the page shows it."""
        cast_state = self._known()
        why, people = why_not(cast_state.place), []
        for member in cast_state.members:
            appearances = [
                appearance
                for appearance in cast_state.facts.in_films(member.id)
                if appearance.film == self._session.film.fingerprint
            ]
            key = quote(member.id, safe="")
            person = {
                "key": member.id,
                "name": member.name,
                "says": member.says,
                "descriptor": member.descriptor,
                "pronoun": member.pronoun,
                "nameless": member.nameless,
                "lines": self._lines(member, cast_state),
                "pictures": [
                    f"/media/person/{key}/{number}.jpg?{hash_key(str(photo))[:8]}"
                    for number, photo in enumerate(member.photos[:MOST_PICTURES], 1)
                ],
                "seconds": round(sum(appearance.seconds for appearance in appearances), 1),
                "shots": sum(appearance.shots for appearance in appearances),
                "first": min((appearance.first for appearance in appearances), default=None),
                "like": cast_state.facts.like(member.id) if not member.name else "",
            }
            people.append(person)
        return {
            "people": people,
            "can_discover": not why,
            "why": cast_state.trouble or sentence_view(why or ""),
        }

    def picture(self, key: str, number: int) -> bytes:
        """A person's picture, counted from 1, small, as JPEG. Raises ReviewError where there is none."""
        member = self._member(key)
        if not 1 <= number <= min(len(member.photos), MOST_PICTURES):
            raise refusal("cast.no_such_picture", number=number, person=quoted(key))
        image = Image.fromarray(load_photo(member.photos[number - 1]))
        image.thumbnail((PICTURE_PIXELS, PICTURE_PIXELS))
        return jpeg(np.asarray(image), 85)

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
        place, before = self._place(), self._member(person)
        given_values: dict[str, Any] = {
            "name": " ".join(name.split()) or None,
            "descriptor": None if descriptor is None else " ".join(descriptor.split()),
            "pronoun": pronoun,
        }
        if nameless is not None or (given_values["name"] and before.nameless):
            given_values["nameless"] = bool(nameless)
        values = {k: value for k, value in given_values.items() if value not in (None, getattr(before, k))}
        if values.get("name") and before.spoken:
            # What AD said was a form of the old name.
            values["spoken"] = ""
        if not values:
            raise refusal("cast.nothing_new", person=called(before))
        with self._changing(place, f"cast on the review page: {before.id} is {name or 'changed'}") as file:
            # That is one person, or a mistake.
            if (conflict := conflicting_name(file.members, before, [name])) is not None:
                raise with_texts(CastError, "cast.name_taken", person=conflict[0].id, name=repr(conflict[1]))
            file.update(before.id, **values)
        renaming, said = self._brought(before, self._member(before.id))
        return {**renaming, "said": sentence_view(said)}

    def merge(self, progress: Progress, person: str, into: str) -> Json:
        """Make two entries one person, as ``shotad cast merge`` does. Raises CastError, ReviewError."""
        place, gone, remaining = self._place(), self._member(person), self._member(into)
        with self._changing(place) as file:
            merge(file, gone, remaining)
            keep_for_undo(file)
        renaming, renaming_text = self._brought(gone, self._member(remaining.id))
        merged = message("cast.merged", person=called(gone), other=called(remaining))
        return {**renaming, "said": sentence_view(both(merged, renaming_text))}

    @contextmanager
    def _changing(self, place: Path, note: str = "") -> Iterator[CastFile]:
        """The file of the cast, saved at the end of the block; from then on the run knows it."""
        with held(self._session.folder) as folder:
            with cast_held(folder_of(place)):
                file = CastFile.open(place)
                yield file
                file.save()
                update_overview(folder_of(place))
            remember_cast(self._session, folder, place)
            if note:
                folder.note(note)

    def discover(self, progress: Progress) -> Json:
        """Look for the people of the film by their faces, as ``shotad cast discover`` does."""
        from shotad.description import RunContext, discover

        session, run = self._session, run_with_cast(self._session)
        place = find_cast(session.folder, session.film.path) or session.folder / OWN_CAST
        if why := why_not(place):
            raise refusal("cast.cannot_look", reason=why)
        with held(session.folder) as folder, opened(session, run, run.config) as film:
            get_face_models(run.config.cast, progress)
            run_inputs = replace(run.given, start=0.0, end=None)
            discovery = discover(
                RunContext.of(film, folder, run.config, run_inputs, progress), folder_of(place)
            )
            folder.note(f"looked for people: {len(discovery.people)}")
        new = sum(person.way == "new" for person in discovery.people)
        if not discovery.people:
            said = message("cast.no_faces")
            if discovery.faces:
                said = message("cast.not_clear")
        else:
            said = message(
                "cast.found",
                count=len(discovery.people),
                new=new,
            )
        return {"said": said.view(), "people": len(discovery.people), "new": new, "files": []}

    def _brought(self, before: Member, after: Member) -> tuple[Json, Sentence]:
        """Have the lines say somebody's name where that is certain, as one step of undo.

        Returns what came of it, as JSON and in words.

        ``again`` in the result are the lines that tell of them and could be described again with the name,
        ``kept`` those that stay because a person wrote or accepted them.
        """
        session, cast_state = self._session, self._known()
        changed: list[str] = []
        others = [member for member in cast_state.members if member.id not in (before.id, after.id)]
        film = session.film.name
        lines_that_show_them = frozenset(self._lines(after, cast_state))

        def text(cue: Cue) -> str:
            """The line as it would read now."""
            at = cue.interval.start
            return renamed(cue.text, before, after, others, film, at, is_shown=cue.id in lines_that_show_them)

        def may_change(cue: Cue) -> bool:
            """Whether the line changes without anybody being asked: nobody has accepted it."""
            return cue.state is not LineState.ACCEPTED and text(cue) != cue.text

        def lacks(cue: Cue) -> bool:
            """Whether the line speaks of them without the name that could be said."""
            at = cue.interval.start
            now = after.character(film, at)
            if now is None or not now.named:
                return False
            if text(cue) != cue.text:
                return True
            return cue.id in lines_that_show_them and not is_named_in(cue.text, now, others, film, at)

        def make() -> Change:
            timeline = session.timeline()
            texts = {cue.id: text(cue) for cue in timeline.track.heard if may_change(cue)}
            cues = [
                cue
                for name, now in texts.items()
                for cue in ACTS["write"](timeline, name, {"text": now}).cues
            ]
            changed.extend(texts)
            said = message("cast.lines_say", count=len(texts), name=after.says)
            return Change(said, tuple(cues))

        if any(may_change(cue) for cue in session.track.heard):
            session.change(make, origin="job")
        rest = [cue for cue in session.track.heard if after.says and lacks(cue)]
        again = [cue.id for cue in rest if cue.state is LineState.MACHINE and cue.slot_id]
        unchanged_lines = [cue.id for cue in rest if cue.id not in again]
        renaming = {
            "person": after.id,
            "name": after.says,
            "changed": changed,
            "again": again,
            "kept": unchanged_lines,
            "files": [],
        }
        return renaming, _naming_text(after, changed, again, unchanged_lines)

    def _lines(self, member: Member, cast_state: _Known) -> list[str]:
        """Ids of the heard lines in whose slots somebody is seen, in order of time."""
        spans = cast_state.spans.get(member.id, ())
        slots = {slot.id: slot.interval for slot in self._session.prepared.slots}
        line_ids = []
        for cue in self._session.track.heard:
            slot = slots.get(cue.slot_id or "", cue.interval)
            shared = sum(part.duration for part in clip_all(spans, slot))
            if slot.duration < 2 * SHORTEST:  # half of it is enough
                shared *= 2 * SHORTEST / max(slot.duration, 1e-3)
            if shared >= SHORTEST:
                line_ids.append(cue.id)
        return line_ids

    def _member(self, key: str) -> Member:
        cast_state = self._known()
        if cast_state.trouble:
            raise ReviewError(cast_state.trouble)
        member_with_key = next((member for member in cast_state.members if member.id == key), None)
        if member_with_key is None:
            raise refusal("cast.nobody_called", person=quoted(key))
        return member_with_key

    def _place(self) -> Path:
        place = find_cast(self._session.folder, self._session.film.path)
        if place is None:
            raise refusal("cast.none_yet")
        if why := why_not(place):
            raise refusal("cast.cannot_change", reason=why)
        return place

    def _known(self) -> _Known:
        """The cast, read again where a file of it has changed."""
        with self._lock:
            session = self._session
            place = find_cast(session.folder, session.film.path)
            stamp = state_of_cast(session.folder, place)
            if self._kept is not None and self._kept[0] == stamp:
                return self._kept[1]
            cast_state, run_cast = _Known(place), None if place is None else run_with_cast(session).given.cast
            try:
                if place is not None:
                    key, photos = ("", None) if run_cast is None else (run_cast.key, run_cast.photos)
                    folder, members = folder_of(place), tuple(load_cast(place, key=key, photos=photos))
                    spans = on_screen(session.folder, folder, members, session.film, session.config)
                    cast_state = _Known(place, members, spans, DiscoveryRecord.read(folder))
            except ShotadError as error:
                cast_state = _Known(place, trouble=f"{error.what} {error.hint}".strip())
            self._kept = (stamp, cast_state)
            return cast_state


def renamed(
    text: str,
    before: Member,
    after: Member,
    others: Sequence[Member],
    film: str,
    at: float,
    *,
    is_shown: bool,
) -> str:
    """The line at second ``at`` of ``film`` with somebody called as they are called now.

    Names that they had before become the new one; where they are shown then, so does their descriptor
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
    text = with_spoken_names(text, [person, *_silent(others, film, at)])
    descriptor = " ".join((before.descriptor or after.descriptor).split()).rstrip(".")
    core = re.sub(r"\A(?:an?|the)\s+", "", descriptor, flags=re.IGNORECASE)
    if not is_shown or not core:
        return text
    words = r"\s+".join(re.escape(word) for word in core.split())
    return re.sub(rf"(?<!\w)(?:an?|the)\s+{words}(?!\w)", lambda _: now.called, text, flags=re.IGNORECASE)


def is_named_in(text: str, person: Character, others: Sequence[Member], film: str, at: float) -> bool:
    """Whether the line at second ``at`` of ``film`` calls somebody by name."""
    people = [person, *_silent(others, film, at)]
    return any(mention.id == person.id for mention in cast_mentions(text, people))


def _silent(others: Sequence[Member], film: str, at: float) -> list[Character]:
    """Everybody else, known by their names so that none is taken for somebody else's, but left as written."""
    silent: list[Character] = []
    for member in others:
        character = member.character(film, at)
        if character is not None and character.named:
            silent.append(replace(character, called="", others=(character.called, *character.others)))
    return silent


def _naming_text(
    member: Member, changed: Sequence[str], again: Sequence[str], unchanged_lines: Sequence[str]
) -> Sentence:
    """What a name came to, in one sentence or some."""
    if not member.says:
        return message("cast.noted", person=called(member))
    said: Sentence = message("cast.named", person=member.id, name=member.says)
    if changed:
        said = both(said, message("cast.say_name", count=len(changed)))
    if again:
        said = both(said, message("cast.without_name", count=len(again), name=member.says))
    if unchanged_lines:
        said = both(said, message("cast.stay", count=len(unchanged_lines)))
    return said


def called(member: Member) -> str:
    return member.says or member.id


_LOOK = 0.34
"""Seconds for which somebody counts as seen around a single look."""

Spans = Mapping[str, tuple[Interval, ...]]


def on_screen(folder: Path, cast: Path, members: Sequence[Member], info: FilmInfo, config: Config) -> Spans:
    """When each member is seen, by id, ascending; as recognised by a run, and as discovery found them."""
    spans: dict[str, set[tuple[float, float]]] = defaultdict(set)
    work, models = WorkFolder(folder), FaceModels(config.cast)
    for row in (work.read_json(f"{CHARACTERS}.json") or {}).get("tracks", ()):
        if row["person"]:
            spans[row["person"]].add((row["first"], max(row["last"], row["first"] + _LOOK)))
    # The same people as discovery made of its faces; whose they are its pictures tell
    last_rows = {row.get("key"): row for row in read_rows(work, DISCOVERED)}
    rows = [row for row in last_rows.values() if row.get("models") == models.identity]
    tracks = [
        track_from_json(track)
        for row in sorted(rows, key=lambda row: int(row["shot"]))
        for track in row["tracks"]
    ]
    holdings = CastPictures(cast, tuple(members), DiscoveryRecord.read(cast))
    height = info.size_within(max_pixels=MAX_PIXELS)[1]
    for person in group_people(tracks, height, models.join, models.margin) if tracks else ():
        votes = Counter(
            holder
            for picture in holdings.facts.of_film(info.fingerprint)
            if (holder := holdings.holder(picture)) and person.is_seen_at(picture.second, picture.box)
        )
        if votes:
            name = max(sorted(votes), key=lambda name: votes[name])
            spans[name].update((track.first, track.last + _LOOK) for track in person.tracks)
    return {name: tuple(Interval(*span) for span in sorted(intervals)) for name, intervals in spans.items()}
