"""What a person can do to a line: each act is pure, and says in one sentence what happened.

Every act leaves the line marked as a person's (`shotad.script.edits`), so no later run writes over it. A line
whose words, times or hearing change is no longer what somebody accepted (`Cue.review`), which needs no act.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from shotad.core import ReviewError
from shotad.review.editing.acts_time import add, join, move, shift, split
from shotad.review.editing.scene import (
    Scene,
    at_own_pace,
    fitted,
    is_added,
    neighbour,
    number_in,
    room_of,
    settled,
    span_of,
    text_in,
    with_words,
)
from shotad.review.kinds import SOURCE, Change, Json
from shotad.script import (
    EMPTIED,
    REMOVED,
    Cue,
    CueStatus,
    Edit,
    EditField,
    LineState,
    accept as accepted_by,
    clean_text,
    given_back,
    mark_edit,
    unaccept as unaccepted,
)

__all__ = ["ACTS", "DROPPED", "Act", "Scene", "is_added", "room_of"]

Act = Callable[[Scene, str, Json], Change]
"""An act: what is known, the id of a line, arguments → what changes. Raises ReviewError."""

DROPPED = "dropped by a person"


def choose(scene: Scene, name: str, args: Json) -> Change:
    """Take a candidate, ``number`` from 1, as the line."""
    cue, number = scene.cue(name), int(number_in(args, "number"))
    if not 1 <= number <= len(cue.candidates):
        there = f"it has {len(cue.candidates)}" if cue.candidates else "it has none"
        raise ReviewError(f"This line has no candidate {number}: {there}.", "Choose one that is shown.")
    text = clean_text(cue.candidates[number - 1])
    if not text:
        raise ReviewError(f"Candidate {number} has no words.", "Choose another, or write the line.")
    if cue.heard and cue.text == text and cue.chosen == number - 1:
        return Change(f"Candidate {number} is the line already.", focus=cue.id)
    return Change(f"Candidate {number} chosen.", (_retold(scene, cue, text, number - 1),), focus=cue.id)


def write(scene: Scene, name: str, args: Json) -> Change:
    """Give the line other words; without any it is dropped."""
    cue, text = scene.cue(name), clean_text(text_in(args, "text"))
    if text == cue.text and (cue.heard or not text):
        return Change("The text is as it was.", focus=cue.id)
    if not text:
        gone = replace(cue, text="", status=CueStatus.DROPPED, reason=EMPTIED, chosen=None, fit_steps=())
        changed = mark_edit(gone, cue, (EditField.TEXT, EditField.STATUS), SOURCE)
        return Change("Text emptied: the line is dropped.", (settled(changed),), focus=cue.id)
    chosen = cue.candidates.index(text) if text in cue.candidates else None
    said = "Text changed." if cue.heard else "Text changed: the line is heard again."
    return Change(said, (_retold(scene, cue, text, chosen),), focus=cue.id)


def accept(scene: Scene, name: str, args: Json) -> Change:
    """Say that the line has been read and is good."""
    cue = scene.cue(name)
    if not cue.heard:
        raise ReviewError(
            "A line that is not heard cannot be accepted.",
            "Restore it, choose a candidate or write it first; or leave it: it needs no acceptance.",
        )
    by = f" by {scene.reviewer}" if scene.reviewer else ""
    if cue.review is not None and cue.review.by == scene.reviewer:
        return Change(f"Accepted already{by}.", focus=cue.id)
    return Change(f"Accepted{by}.", (settled(accepted_by(cue, scene.reviewer, SOURCE)),), focus=cue.id)


def unaccept(scene: Scene, name: str, args: Json) -> Change:
    """Take the acceptance back; the line stays as it is."""
    cue = scene.cue(name)
    if cue.state is not LineState.ACCEPTED:
        return Change("This line is not accepted, so there is nothing to take back.", focus=cue.id)
    return Change("No longer accepted.", (settled(unaccepted(cue)),), focus=cue.id)


def drop(scene: Scene, name: str, args: Json) -> Change:
    """Leave the line out; its words stay in the track."""
    cue = scene.cue(name)
    if not cue.heard:
        return Change("It is not heard as it is.", focus=cue.id)
    return Change("Dropped.", (_unheard(cue, DROPPED, EditField.STATUS),), focus=cue.id)


def restore(scene: Scene, name: str, args: Json) -> Change:
    """Let a line that was left out be heard, with the words it has or had."""
    cue = scene.cue(name)
    if cue.heard:
        return Change("It is heard as it is.", focus=cue.id)
    own = cue.machine.text if cue.machine is not None else ""
    text = next((text for text in (cue.text, own, *map(clean_text, cue.candidates)) if text), "")
    if not text:
        raise ReviewError("This line has no words.", "Write some, or have it described anew.")
    chosen = cue.chosen
    if text != cue.text:
        chosen = cue.candidates.index(text) if text in cue.candidates else None
    held = _without_removed(cue)
    back = replace(held, text=text, chosen=chosen, status=CueStatus.PLACED, reason="")
    fields = (EditField.STATUS,) if text in (own, cue.text) else (EditField.TEXT, EditField.STATUS)
    changed = fitted(scene, mark_edit(back, held, fields, SOURCE))
    return Change("Restored.", (settled(changed),), focus=cue.id)


def remove(scene: Scene, name: str, args: Json) -> Change:
    """Take a line that a person added out of the track; one of the machine stays there, unheard."""
    cue = scene.cue(name)
    if is_added(cue):
        return Change("Line removed.", gone=(cue.id,), focus=neighbour(scene, cue))
    if not cue.heard and cue.reason == REMOVED:
        return Change("It is removed already.", focus=cue.id)
    return Change("Line removed.", (_unheard(cue, REMOVED, EditField.REMOVED),), focus=cue.id)


def machine(scene: Scene, name: str, args: Json) -> Change:
    """Give the line back to the machine: its own words, times and status."""
    cue = scene.cue(name)
    if cue.edited is None:
        return Change("It is the machine's own line.", focus=cue.id)
    back = given_back(cue)
    if back is None:
        raise ReviewError(
            "No machine wrote this line.", "Remove it, or undo; describing the film again may bring one."
        )
    there = next((other for _, _, other in scene.heard_in(span_of(back.interval)) if other != cue.id), None)
    if back.heard and there is not None:
        raise ReviewError(
            f"The machine's own line would be spoken over {there}.", "Move or drop that line first."
        )
    return Change("Given back to the machine.", (settled(back),), focus=cue.id)


def _retold(scene: Scene, cue: Cue, text: str, chosen: int | None) -> Cue:
    """The line with other words, heard from now on, its end with them."""
    fields: tuple[EditField, ...] = (EditField.TEXT,) if cue.heard else (EditField.TEXT, EditField.STATUS)
    held = _without_removed(cue)
    told = replace(with_words(scene, held, text), chosen=chosen)
    after = at_own_pace(scene, mark_edit(told, held, fields, SOURCE))
    return settled(after if cue.heard else fitted(scene, after))


def _unheard(cue: Cue, reason: str, field: EditField) -> Cue:
    gone = replace(cue, status=CueStatus.DROPPED, reason=reason)
    return settled(mark_edit(gone, cue, (field,), SOURCE))


def _without_removed(cue: Cue) -> Cue:
    """A line of which nothing says any more that a person removed it."""
    if cue.edited is None or EditField.REMOVED not in cue.edited.fields:
        return cue
    left = tuple(field for field in cue.edited.fields if field is not EditField.REMOVED)
    return replace(cue, edited=Edit(left or (EditField.STATUS,), cue.edited.source, cue.edited.machine))


ACTS: Mapping[str, Act] = {
    "choose": choose,
    "write": write,
    "accept": accept,
    "unaccept": unaccept,
    "drop": drop,
    "restore": restore,
    "split": split,
    "join": join,
    "move": move,
    "shift": shift,
    "add": add,
    "remove": remove,
    "machine": machine,
}
"""All acts on lines by name."""
