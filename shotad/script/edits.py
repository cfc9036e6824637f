"""Who owns a line: what a person changed outlives every later run.

A machine never writes over a person: an edited line stays as it is, and what the machine now says is
kept beside it (`Edit.machine`, `Cue.candidates`). A line that was described again because a person wanted
it so is the person's choice in the same way (`redone`), though a machine's words. How edits are found is
said in `shotad.script.track`, how a script comes back with them in `shotad.script.importing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from shotad.core import EditConflict, Interval
from shotad.script.cue import REDO, Cue, CueStatus, Edit, EditField, LineState, spoken_interval
from shotad.script.pace import spoken_words
from shotad.script.track import Track


@dataclass(frozen=True, slots=True)
class Derivation:
    """A new run's track with people's edits in it.

    ``kept``: ids of edited lines; ``yielded``: ids of new lines dropped because a person's line has their
    time; ``lapsed``: names of reviewers whose review no longer holds, since a line that is heard changed.
    """

    track: Track
    kept: tuple[str, ...] = ()
    yielded: tuple[str, ...] = ()
    lapsed: tuple[str, ...] = ()

    @property
    def news(self) -> tuple[str, ...]:
        """What the user should know of edits that met new lines."""
        left_out = f"{len(self.yielded)} new lines left out, for a person's line has their time."
        again = f"Lines changed since the review by {', '.join(self.lapsed)}: review again."
        return (left_out,) * bool(self.yielded) + (again,) * bool(self.lapsed)


def derive(
    previous: Track | None, new: Track, *, covered: Interval | None = None, discard_edits: bool = False
) -> Derivation:
    """Lay the edits of ``previous``, the track as people left it, over ``new``, the machine's.

    - An edited line keeps all that it has; the machine's new version goes into its edit and candidates.
    - An edited line whose slot is gone stays too, and so does one that a person added or removed.
    - A new line that shares time with a person's line which is heard, or at least half of itself with
      one that a person removed, is dropped, with the reason.
    - ``covered`` (None: the whole film) is the part that ``new`` describes; lines elsewhere stay.
    - ``discard_edits`` first gives every line of ``previous`` back to the machine.

    Raises EditConflict if ``previous`` belongs to another film and holds edits.
    """
    if previous is None or _other_film(previous, new, discard_edits=discard_edits):
        return Derivation(new)
    if discard_edits:
        previous = without_edits(previous)
    # How a line was last spoken holds where it is still the same.
    voiced = {cue.id: cue.voiced for cue in previous.cues}
    spoken = ((cue, replace(cue, voiced=voiced.get(cue.id))) for cue in new.cues)
    new = new.with_cues(with_voice if with_voice.spoken else cue for cue, with_voice in spoken)
    fresh = {cue.id: cue for cue in new.cues}
    kept = {cue.id: _over(cue, fresh.get(cue.id)) for cue in previous.cues if cue.edited is not None}
    beyond = [] if covered is None else [c for c in previous.cues if not covered.contains(c.interval.start)]
    elsewhere = [cue for cue in beyond if cue.id not in fresh and cue.id not in kept]
    lines, yielded = [], []
    for cue in new.cues:
        owner = None if cue.id in kept else _owner_of_time(cue, kept.values())
        if owner is None:
            lines.append(kept.get(cue.id, cue))
        else:
            reason = f"its time belongs to {owner.id}, which a person edited"
            lines.append(replace(cue, status=CueStatus.DROPPED, reason=reason))
            yielded.append(cue.id)
    present = {cue.id for cue in lines}
    orphans = [cue for cue in kept.values() if cue.id not in present]
    track, lapsed = _with_names(new.with_cues([*lines, *orphans, *elsewhere]), previous)
    return Derivation(track, tuple(kept), tuple(yielded), lapsed)


def redone(track: Track, fresh: Sequence[Cue]) -> Derivation:
    """The track with ``fresh`` lines, described again, in place of those with the same ids.

    Each is a person's choice from now on; the line before it stays among its candidates, and the machine's
    own version as it was. Raises KeyError for a line that the track does not have.
    """
    before = {cue.id: cue for cue in track.cues}
    taken: dict[str, Cue] = {}
    for cue in fresh:
        old = before[cue.id]
        earlier = dict.fromkeys((*old.candidates, *((old.text,) if old.text else ())))
        fields: tuple[EditField, ...] = (EditField.TEXT,)
        if old.machine is not None and old.machine.status.heard != cue.heard:
            fields = (EditField.TEXT, EditField.STATUS)
        candidates = cue.candidates + tuple(text for text in earlier if text not in cue.candidates)
        taken[cue.id] = replace(cue, candidates=candidates, edited=Edit(fields, REDO, old.machine))
    changed, lapsed = _with_names(track.with_cues(taken.get(cue.id, cue) for cue in track.cues), track)
    return Derivation(changed, kept=tuple(taken), lapsed=lapsed)


def is_by_hand(cue: Cue) -> bool:
    """Whether a person changed the line, other than by having it described again, or accepted it."""
    if cue.edited is None:
        return False
    return cue.edited.source != REDO or cue.state is LineState.ACCEPTED


def respeak(track: Track, slots: Mapping[str, Interval], seconds_per_word: float) -> Track:
    """The track with a new spoken end for each line whose text a person changed and whose times not.

    The end stays within the line's slot (``slots`` by id; without one, within the line's own time) and
    before the next line that is heard. A line that somebody accepted stays as they read it.
    """
    following: list[float | None] = []
    later: list[Cue] = []
    for cue in reversed(track.cues):
        while later and later[-1].interval.start <= cue.interval.start:
            later.pop()
        following.append(later[-1].interval.start if later else None)
        if cue.heard:
            later.append(cue)
    cues = zip(track.cues, reversed(following), strict=True)
    return replace(
        track, cues=tuple(respoken(cue, slots, seconds_per_word, until=until) for cue, until in cues)
    )


def respoken(
    cue: Cue, slots: Mapping[str, Interval], seconds_per_word: float, *, until: float | None = None
) -> Cue:
    """As `respeak`, for one line; ``until`` is when the next one starts that is heard."""
    fields = cue.edited.fields if cue.edited is not None else ()
    if EditField.TEXT not in fields or EditField.TIME in fields or EditField.ADDED in fields:
        return cue
    if cue.review is not None:
        return cue
    limit = slots.get(cue.slot_id or "", cue.interval).end
    if until is not None:
        limit = min(limit, until)
    words = spoken_words(cue.text, cue.language)
    room = Interval(cue.interval.start, max(limit, cue.interval.start + 0.001))
    return replace(
        cue,
        interval=spoken_interval(room, words, seconds_per_word),
        spoken_length=words * seconds_per_word,
    )


def without_edits(track: Track) -> Track:
    """The track with the machine's own version of each edited line; lines that a person added are gone."""
    lines = map(given_back, track.cues)
    return track.with_cues(line for line in lines if line is not None)


def given_back(cue: Cue) -> Cue | None:
    """The line as the machine itself has it; None where no machine wrote it. Nobody accepted that."""
    cue = replace(cue, accepted=None)
    if cue.edited is None:
        return cue
    if (old := cue.edited.machine) is None:
        return None
    back = replace(
        cue, interval=old.interval, text=old.text, status=old.status, reason=old.reason, edited=None
    )
    if old.text == cue.text:
        return back
    chosen = cue.candidates.index(old.text) if old.text in cue.candidates else None
    made = None if _is_own_choice(cue) else cue.provenance
    length = old.interval.duration if old.status.heard else None
    seen = cue.seen_from if made is not None else None
    return replace(back, chosen=chosen, provenance=made, spoken_length=length, fit_steps=(), seen_from=seen)


def _other_film(previous: Track, new: Track, *, discard_edits: bool) -> bool:
    if previous.film.fingerprint == new.film.fingerprint:
        return False
    edits = sum(cue.edited is not None for cue in previous.cues)
    if edits and not discard_edits:
        raise EditConflict(
            f"The track on disk has {edits} edits for {previous.film.name!r}, which is another film "
            f"than {new.film.name!r}.",
            "Use another work folder, or throw the edits away: shotad describe --discard-edits.",
        )
    return True


def _over(cue: Cue, fresh: Cue | None) -> Cue:
    """The person's line with the machine's newest version beside it; a removed one shows what it dropped."""
    if cue.edited is None or fresh is None:
        return cue
    said = fresh.candidates or ((fresh.text,) if fresh.text else ())
    older = tuple(text for text in cue.candidates if text not in said)
    chosen = None if cue.chosen is None else (said + older).index(cue.candidates[cue.chosen])
    edit = Edit(cue.edited.fields, cue.edited.source, fresh.machine)
    blank = EditField.REMOVED in cue.edited.fields and not cue.text
    own = cue.machine.text if cue.machine is not None else None
    # It says what the machine writes now, or a person changed it from that.
    tells = blank or fresh.text in (cue.text, own)
    # It says what the machine wrote earlier, and would not write now: it was accepted, say, or only moved.
    earlier = cue.text == own != fresh.text
    return replace(
        cue,
        edited=edit,
        slot_id=fresh.slot_id,
        text=fresh.text if blank else cue.text,
        candidates=said + older,
        chosen=chosen,
        provenance=cue.provenance if _is_own_choice(cue) or earlier else fresh.provenance,
        seen_from=fresh.seen_from if tells else cue.seen_from,
        doubted=fresh.doubted if blank or fresh.text == cue.text else cue.doubted,
    )


def _is_own_choice(cue: Cue) -> bool:
    """Whether a person holds on to a machine's line that another run has written than the last one.

    It is one that was described again, also where its times were changed by hand afterwards: its text is
    still the candidate that was chosen, and not the machine's own of the last run.
    """
    if cue.edited is None or cue.edited.source == REDO:
        return cue.edited is not None
    own = cue.edited.machine
    kept = cue.chosen is not None and cue.text == cue.candidates[cue.chosen]
    return kept and own is not None and cue.text != own.text


def _with_names(track: Track, before: Track) -> tuple[Track, tuple[str, ...]]:
    """The track with the makers of lines that other engines than the run's own wrote, and with those who
    reviewed ``before`` while all that is heard is still the same; the reviewers where it is not."""
    others = (
        maker
        for cue in track.heard
        if _is_own_choice(cue) and cue.provenance is not None
        for maker in cue.provenance.makers
    )
    makers = tuple(dict.fromkeys((*track.makers, *others)))
    lapsed = before.reviewed_by if track.stamp != before.stamp else ()
    return replace(track, makers=makers, reviewed_by=() if lapsed else before.reviewed_by), lapsed


def _owner_of_time(cue: Cue, owned: Iterable[Cue]) -> Cue | None:
    for owner in owned:
        shared = cue.interval.clip(owner.interval)
        if shared is None or not cue.heard:
            continue
        if owner.heard or shared.duration * 2 >= cue.interval.duration:
            return owner
    return None
