"""What a person can do to lines and slots: each act is pure, and says in one sentence what happened.

Every act leaves the line marked as a person's (`shotad.script.edits`), so no later run writes over it. A line
whose words, times or hearing change is no longer what somebody accepted (`Cue.review`), which needs no act.
A line never comes to lie over another that is heard, nor over speech where it did not before. Times are
whole milliseconds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace

from shotad.core import ReviewError, plural, quoted
from shotad.description import empty_line
from shotad.film import SlotChange, new_slot
from shotad.review.events import Json
from shotad.review.scene import (
    SOURCE,
    Change,
    Scene,
    Span,
    at_own_pace,
    clock,
    fitted,
    interval_of,
    is_added,
    number_in,
    room_or_refuse,
    settled,
    span_of,
    text_in,
    timed,
    with_words,
)
from shotad.script import (
    EARLIEST,
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
    hand_id,
    has_blanks,
    mark_edit,
    milliseconds,
    spoken_words,
    unaccept as unaccepted,
)

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
    cue, text = scene.cue(name), clean_text(text_in(args))
    if text == cue.text and (cue.heard or not text):
        return Change("The text is as it was.", focus=cue.id)
    if not text:
        gone = replace(cue, text="", status=CueStatus.DROPPED, reason=EMPTIED, chosen=None, fit_steps=())
        changed = mark_edit(gone, cue, (EditField.TEXT, EditField.STATUS), SOURCE)
        return Change("Text emptied: the line is dropped.", (settled(changed),), focus=cue.id)
    said = "Text changed." if cue.heard else "Text changed: the line is heard again."
    return Change(said, (_retold(scene, cue, text),), focus=cue.id)


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
        return Change("It is left out already.", focus=cue.id)
    return Change("Dropped.", (_unheard(cue, DROPPED, EditField.STATUS),), focus=cue.id)


def restore(scene: Scene, name: str, args: Json) -> Change:
    """Let a line that was left out be heard, with the words it has or had."""
    cue = scene.cue(name)
    if cue.heard:
        return Change("It is heard already.", focus=cue.id)
    own = cue.machine.text if cue.machine is not None else ""
    text = next((text for text in (cue.text, own, *map(clean_text, cue.candidates)) if text), "")
    if not text:
        raise ReviewError("This line has no words.", "Write some, or describe the slot again.")
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
        names = list(scene.cues)
        at = names.index(cue.id)
        # The line after it, or before the last; None where it is the only one
        beside = next(iter(names[at + 1 : at + 2] or names[max(0, at - 1) : at]), None)
        return Change("Line removed.", gone=(cue.id,), focus=beside)
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


def _retold(scene: Scene, cue: Cue, text: str, chosen: int | None = None) -> Cue:
    """The line with other words, heard from now on, its end with them; ``chosen``: that candidate."""
    fields: tuple[EditField, ...] = (EditField.TEXT,) if cue.heard else (EditField.TEXT, EditField.STATUS)
    held = _without_removed(cue)
    told = with_words(scene, held, text)
    told = told if chosen is None else replace(told, chosen=chosen)
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


_FARTHEST = 2000
"""Milliseconds between two lines that can be joined, at most: a longer pause parts two events."""

JOINED = "Joined with the next line."

_JOINER = "\u200d"
"""Makes one sign of two."""


def move(scene: Scene, name: str, args: Json) -> Change:
    """Set the start, the end, or both (seconds), as near to what is asked as the line's room allows;
    ``start_by`` and ``end_by`` say by how much they go later."""
    cue = scene.cue(name)
    old, room = span_of(cue.interval), room_or_refuse(scene, cue)
    start, end = _wanted(args, "start", old[0]), _wanted(args, "end", old[1])
    if start is None and end is None:
        raise ReviewError("Neither a start nor an end was given.", "Say where the line shall go.")
    wanted = (old[0] if start is None else start, old[1] if end is None else end)
    new = _clamped(wanted, room, scene.shortest, moves_start=start is not None)
    return _moved(scene, cue, new, wanted)


def _wanted(args: Json, key: str, old: int) -> int | None:
    """The millisecond that is asked for, by itself or from the ``old`` one; None: none is."""
    if f"{key}_by" in args:
        return old + milliseconds(number_in(args, f"{key}_by"))
    return milliseconds(number_in(args, key)) if key in args else None


def shift(scene: Scene, name: str, args: Json) -> Change:
    """Move the whole line ``by`` seconds, as far as its room allows."""
    cue, by = scene.cue(name), milliseconds(number_in(args, "by"))
    (start, end), (low, high) = span_of(cue.interval), room_or_refuse(scene, cue)
    step = max(min(by, high - end), 0) if by > 0 else min(max(by, low - start), 0)
    return _moved(scene, cue, (start + step, end + step), (start + by, end + by))


def split(scene: Scene, name: str, args: Json) -> Change:
    """Make two lines of one, ``at`` a character of its text or the nearest gap between words.

    The first keeps the line's id and candidates, both its slot; its time is divided by words.
    """
    cue, at = scene.cue(name), int(number_in(args, "at"))
    if not cue.heard:
        raise ReviewError("A line that is not heard cannot be split.", "Restore it first.")
    text, at = cue.text, min(max(at, 0), len(cue.text))
    cuts = [match.span() for match in re.finditer(r"\s+", text)]
    if not has_blanks(cue.language):
        # At or before it, where no letter is parted from its accents and sound marks
        while 0 < at < len(text) and (
            _JOINER in text[at - 1 : at + 1] or unicodedata.category(text[at]).startswith("M")
        ):
            at -= 1
        cuts = [(at, at)]
    cuts.sort(key=lambda cut: abs(at - cut[1]))
    parts = ((clean_text(text[:before]), clean_text(text[after:])) for before, after in cuts)
    texts = next((both for both in parts if all(spoken_words(one, cue.language) for one in both)), None)
    if texts is None:
        raise ReviewError("There are no words to part here.", "Put the cursor between two words.")
    start, end = span_of(cue.interval)
    if end - start < 2 * scene.shortest:
        raise ReviewError("The line is too short to be split.", "Give it more time first.")
    words = [spoken_words(text, cue.language) for text in texts]
    middle = start + round((end - start) * words[0] / sum(words))
    middle = min(max(middle, start + scene.shortest), end - scene.shortest)
    first = timed(with_words(scene, cue, texts[0]), (start, middle))
    first = mark_edit(first, cue, (EditField.TEXT, EditField.TIME), SOURCE)
    second = _by_hand(scene, (middle, end), texts[1], cue)
    return Change(f"Split at {clock(middle / 1000)}.", (settled(first), second), focus=cue.id)


def join(scene: Scene, name: str, args: Json) -> Change:
    """Make one line of this and the next that is heard, which leaves the track or stays in it unheard.

    It ends where the second did, or where its words do if there is no time up to there. Raises ReviewError
    for lines that do not belong together (`why_apart`).
    """
    cue = scene.cue(name)
    other, apart = scene.following(cue), why_apart(scene, cue)
    if other is None or apart is not None:
        raise ReviewError(*(apart or ("There is no line after this one.",)))
    blank = " " if has_blanks(cue.language) else ""
    text = text_in({"text": f"{cue.text}{blank}{other.text}"})
    rest = replace(
        scene, track=scene.track.with_cues(each for each in scene.track.cues if each.id != other.id)
    )
    low, high = room_or_refuse(rest, cue)
    start, end = cue.interval.start, max(cue.interval.end, other.interval.end)
    if milliseconds(end) > high:
        end = min(high / 1000, max(cue.interval.end, start + scene.spoken_seconds(text, cue.language)))
    is_half = is_added(other) and other.slot_id is not None and other.slot_id == cue.slot_id
    kept = cue.candidates if is_half or cue.text in cue.candidates else (*cue.candidates, cue.text)
    together = with_words(scene, replace(cue, candidates=kept), text)
    span = _clamped((milliseconds(start), milliseconds(end)), (low, high), scene.shortest)
    joined = mark_edit(timed(together, span), cue, (EditField.TEXT, EditField.TIME), SOURCE)
    if is_added(other):
        return Change(JOINED, (settled(joined),), (other.id,), focus=cue.id)
    left = _unheard(other, REMOVED, EditField.REMOVED)
    return Change(JOINED, (settled(joined), left), focus=cue.id)


def why_apart(scene: Scene, cue: Cue) -> tuple[str, str] | None:
    """Why a line cannot be joined with the next that is heard, and what to do; None: it can.

    The joined line is spoken in one go, so no speech and no long pause may lie between the two. Where it is
    not known when somebody speaks, slots that do not touch show it: the time between them was not free.
    """
    if not cue.heard:
        return "A line that is not heard cannot be joined.", "Restore it first."
    other = scene.following(cue)
    if other is None:
        return "There is no line after this one.", "Join the line before it instead."
    end, start = span_of(cue.interval)[1], span_of(other.interval)[0]
    between = f"between {clock(end / 1000)} and {clock(start / 1000)}, where the next line begins"
    if not scene.are_free(end, start):
        return f"Somebody speaks {between}: lines are not joined over speech.", "Leave them as two lines."
    if start - end > _FARTHEST:
        seconds, most = (start - end) / 1000, _FARTHEST / 1000
        what = f"The next line begins {seconds:.1f} s after this one ends: more than {most:g} s is too far."
        return what, "Move one of them nearer to the other first, or leave them as two lines."
    slots = [scene.slots.get(one.slot_id or "") for one in (cue, other)]
    if scene.free is None and slots[0] and slots[1] and slots[0].interval.end < slots[1].interval.start:
        return f"The slot of this line ends {between}.", "Leave them as two lines."
    return None


def add(scene: Scene, name: str, args: Json) -> Change:
    """A line of a person's own, from ``start`` to ``end`` or as long as its ``text`` takes."""
    text, start = clean_text(text_in(args)), number_in(args, "start")
    length = scene.spoken_seconds(text, scene.track.language)
    end = number_in(args, "end") if args.get("end") is not None else start + length
    if not text:
        raise ReviewError("A line needs words.", "Write what shall be said.")
    if start < 0:
        raise ReviewError(f"A line cannot start at {start:.3f} s.", "Give a second of the film.")
    if start >= scene.track.film.duration:
        over = clock(scene.track.film.duration)
        raise ReviewError(f"{clock(start)} is after the film's end at {over}.", "Give a second of the film.")
    if end <= start:
        raise ReviewError(f"A line cannot end at {clock(end)} before it starts at {clock(start)}.")
    span = (milliseconds(max(start, EARLIEST)), milliseconds(end))
    line = _by_hand(scene, (span[0], max(span[1], span[0] + scene.shortest)), text, None)
    gap = scene.gap_of(span_of(line.interval))
    if gap is None:
        raise ReviewError(
            f"Somebody speaks at {clock(line.interval.start)}.", "Put the line where nobody speaks."
        )
    low, high = max(gap[0], milliseconds(line.interval.start)), min(gap[1], milliseconds(line.interval.end))
    inside = replace(line, interval=interval_of((low, max(high, low + 1))))
    there = fitted(scene, inside)
    there = replace(there, id=hand_id(there.interval.start, scene.cues))
    return Change(f"Line added at {clock(there.interval.start)}.", (settled(there),), focus=there.id)


def _by_hand(scene: Scene, span: Span, text: str, like: Cue | None) -> Cue:
    """A line that a person added; of the kind, the language and the slot of ``like``."""
    language = scene.track.language if like is None else like.language
    line = Cue(
        id=hand_id(span[0] / 1000, scene.cues),
        slot_id=None,
        interval=interval_of(span),
        text=text,
        language=language,
        edited=Edit((EditField.ADDED,), SOURCE, None),
        spoken_length=scene.spoken_seconds(text, language),
    )
    return line if like is None else replace(line, kind=like.kind, slot_id=like.slot_id)


def _moved(scene: Scene, cue: Cue, new: Span, wanted: Span) -> Change:
    old = span_of(cue.interval)
    if wanted == old == new:
        return Change("The times are as they were.", focus=cue.id)
    if new == old:
        raise ReviewError(*_why_not(scene, cue, wanted))
    ahead, behind = new[0] - old[0], new[1] - old[1]
    start, end = clock(new[0] / 1000), clock(new[1] / 1000)
    if ahead == behind:
        said = f"Moved to {start}, {_how_far(scene, ahead)}"
    elif not behind:
        said = f"Start at {start}, {_how_far(scene, ahead)}"
    elif not ahead:
        said = f"End at {end}, {_how_far(scene, behind)}"
    else:
        said = f"Moved to {start} to {end}"
    moved = settled(mark_edit(timed(cue, new), cue, (EditField.TIME,), SOURCE))
    short = "" if new == wanted else ", as far as there is room"
    return Change(f"{said}{short}.", (moved,), focus=cue.id)


def _how_far(scene: Scene, ms: int) -> str:
    frames = round(abs(ms) / 1000 / scene.frame)
    way = "earlier" if ms < 0 else "later"
    if 1 <= frames <= 10 and abs(abs(ms) - frames * scene.frame * 1000) <= 1:
        return f"{frames} frame{'s' if frames > 1 else ''} {way}"
    return f"{abs(ms) / 1000:g} s {way}"


def _why_not(scene: Scene, cue: Cue, wanted: Span) -> tuple[str, str]:
    """Why a line stays where it is, and what to do."""
    low, high = room_or_refuse(scene, cue)
    start, end = span_of(cue.interval)
    if wanted[0] >= start and wanted[1] <= end:
        return "The line cannot be shorter: it lasts a frame at least.", "Drop it instead."
    later = wanted[1] > end
    edge = high if later else low
    touching = [other for other in scene.heard if other[2] != cue.id and edge == other[0 if later else 1]]
    if touching:
        word = "begins" if later else "ends"
        return f"{touching[0][2]} {word} there, at {clock(edge / 1000)}.", "Move or drop that line first."
    if edge <= milliseconds(EARLIEST) or edge >= milliseconds(scene.track.film.duration):
        return f"The film {'ends' if later else 'begins'} there.", ""
    word = "begins" if later else "ends"
    return f"Speech {word} there, at {clock(edge / 1000)}.", "Lines stay where nobody speaks."


def _clamped(wanted: Span, room: Span, shortest: int, *, moves_start: bool = False) -> Span:
    """The nearest time within ``room`` that is not too short; what was not asked to move yields last."""
    start, end = (min(max(each, room[0]), room[1]) for each in wanted)
    if end - start >= shortest:
        return start, end
    if moves_start:
        start = max(room[0], end - shortest)
    return start, min(room[1], max(end, start + shortest))


def add_slot(scene: Scene, _: str, args: Json) -> Change:
    """A slot from ``start`` to ``end`` with an empty line. Raises ReviewError where it cannot be."""
    loose = [(cue.id, cue.interval) for cue in scene.track.heard if cue.slot_id is None]
    slot = new_slot(
        number_in(args, "start"),
        number_in(args, "end"),
        free=scene.free,
        slots=tuple(scene.slots.values()),
        lines=loose,
        film=scene.end,
        settings=scene.settings,
    )
    known = next((cue for cue in scene.track.cues if cue.id == slot.id), None)
    if known is not None and (known.heard or known.edited is not None):
        what = f"The line {known.id} begins at that very moment and belongs to a slot that is gone."
        raise ReviewError(what, "Begin a little later.")
    words = plural(slot.max_words, "word")
    said = f"Slot added at {clock(slot.interval.start)}: {words} fit into {slot.interval.duration:.1f} s."
    return Change(said, (empty_line(slot, scene.track.language),), focus=slot.id, slots=SlotChange((slot,)))


def remove_slot(scene: Scene, line: str, _: Json) -> Change:
    """The slot ``line`` goes, and so does its line. Raises ReviewError where there is none."""
    slot = scene.slots.get(line)
    if slot is None:
        raise ReviewError(
            f"There is no slot {quoted(line)}.", "A line that belongs to no slot is removed by itself."
        )
    own = tuple(cue.id for cue in scene.track.cues if cue.slot_id == slot.id)
    others = [cue for cue in scene.track.cues if cue.id not in own]
    after = next((cue for cue in others if cue.interval.start >= slot.interval.start), None)
    focus = after or (others[-1] if others else None)
    with_line = " and its line" if own else ""
    said = f"Slot at {clock(slot.interval.start)}{with_line} removed."
    return Change(said, gone=own, focus=None if focus is None else focus.id, slots=SlotChange((), (slot,)))


_ALL = (choose, write, accept, unaccept, drop, restore, split, join, move, shift, add, remove, machine)
ACTS: Mapping[str, Act] = {act.__name__: act for act in (*_ALL, add_slot, remove_slot)}
"""All acts by name."""
