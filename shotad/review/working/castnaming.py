"""A name that somebody gets on the page: what of the cast changes, and what of the lines.

What a line says once somebody in it has a name, where that is certain. Pure logic.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shotad.core import CastError, Character, Member, ReviewError
from shotad.description import spoken
from shotad.review.editing.acts import ACTS
from shotad.review.kinds import Change, Json
from shotad.script import Cue, LineState, cast_mentions
from shotad.sight import taken_name

if TYPE_CHECKING:
    from shotad.review.editing.session import Session

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
    """Whether a line says somebody's name."""
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


def check_free(members: Sequence[Member], member: Member, name: str) -> None:
    """Raises CastError where somebody else has the name: that is one person, or a mistake."""
    if (found := taken_name(members, member, [name])) is not None:
        raise CastError(
            f"{found[0].id} is called {found[1]!r} already.",
            "If they are one person, merge them; else give one a name that tells them apart.",
        )


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
        """Whether the line tells of them without the name that could be said."""
        at = cue.interval.start
        now = self.after.character(self.film, at)
        if now is None or not now.named:
            return False
        if self.text(cue) != cue.text:
            return True
        return cue.id in self.seen and not names(cue.text, self.after, self.others, self.film, at)


def bring_in(
    session: Session, before: Member, after: Member, others: Sequence[Member], seen: Collection[str]
) -> Json:
    """Have the lines say somebody's name where that is certain, as one step of undo; what came of it.

    ``seen`` are ids of lines in whose slots they are on the screen. ``again`` in the result are the lines
    that tell of them and could be described anew with the name, ``kept`` those that stay because a person
    wrote or accepted them.
    """
    naming = _Naming(before, after, others, session.film.name, frozenset(seen))
    changed: list[str] = []

    def make() -> Change:
        scene = session.scene()
        texts = {cue.id: naming.text(cue) for cue in scene.track.heard if naming.may_change(cue)}
        cues = [
            cue for name, text in texts.items() for cue in ACTS["write"](scene, name, {"text": text}).cues
        ]
        changed.extend(texts)
        return Change(f"{count(len(texts), 'line says', 'lines say')} {after.says} now.", tuple(cues))

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


def _told(member: Member, changed: Sequence[str], again: Sequence[str], kept: Sequence[str]) -> str:
    """What a name came to, in one or two sentences."""
    if not member.says:
        return f"{called(member)} is noted in the cast."
    said = [f"{member.id} is {member.says} now."]
    if changed:
        said.append(f"{count(len(changed), 'line says', 'lines say')} the name.")
    if again:
        said.append(
            f"{count(len(again), 'more line tells', 'more lines tell')} of {member.says} without a name."
        )
    if kept:
        own = "that you edited or accepted"
        said.append(f"{count(len(kept), 'line', 'lines')} {own} {'stays' if len(kept) == 1 else 'stay'}.")
    return " ".join(said)


def called(member: Member) -> str:
    """What somebody is called on the page."""
    return member.says or member.id


def count(number: int, one: str, many: str) -> str:
    """``1 line``, ``2 lines``."""
    return f"{number} {one if number == 1 else many}"
