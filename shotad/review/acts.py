"""What a person can do to lines and slots on the page: the functions of `ACTS`, by the names the page sends.

Each is a pure function: it takes the timeline, the id of a line and the arguments of the request, and returns
a `Change` with a message on what happened. It raises ReviewError where the act is impossible.

Every act marks the line as a person's (`shotad.script.edits`), so no later run overwrites it. An acceptance
is void once the text, the times or the status change (`Cue.review` sees to that). No act puts a line over
another heard line, or over speech that it did not cover before. Times are whole milliseconds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace

from shotad.core.errors import ReviewError, quoted
from shotad.description.pipeline import ADDED, empty_line
from shotad.film import SlotChange
from shotad.film.slot_records import new_slot
from shotad.review import voice_acts
from shotad.review.events import Json
from shotad.review.messages import Message, Seconds, Sentence, Time, both, message, refusal
from shotad.review.timeline import (
    SOURCE,
    Change,
    LineTimeline,
    Span,
    as_saved,
    cut_to_free_time,
    free_interval_of,
    interval_of,
    is_added,
    number_in,
    require_free_span,
    span_of,
    text_in,
    with_line_end,
    with_span,
    with_words,
)
from shotad.script import (
    Cue,
    CueStatus,
    Edit,
    EditField,
    LineState,
)
from shotad.script.cue import (
    EARLIEST_CUE,
    MAX_NOTE_LENGTH,
    LineNote,
    accept as accepted_by,
    clean_text,
    hand_id,
    mark_edit,
    milliseconds,
    unaccept as unaccepted,
)
from shotad.script.edits import machine_version
from shotad.script.pace import has_blanks, spoken_words
from shotad.script.reasons import in_english, is_reason, reason_in
from shotad.script.track import EMPTIED, REMOVED

EditAction = Callable[[LineTimeline, str, Json], Change]
"""An act: timeline, id of a line, arguments → change. Raises ReviewError."""

DROPPED = in_english("reason.dropped")
"""Reason of a line that a person left out (`Cue.reason`)."""


def choose(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Take candidate ``number`` (from 1) as the text of the line."""
    cue, number = timeline.cue(line_id), int(number_in(args, "number"))
    if not 1 <= number <= len(cue.candidates):
        if not cue.candidates:
            raise refusal("act.no_candidates", number=number)
        raise refusal("act.no_candidate", number=number, total=len(cue.candidates))
    text = clean_text(cue.candidates[number - 1])
    if not text:
        raise refusal("act.candidate_empty", number=number)
    if cue.heard and cue.text == text and cue.chosen == number - 1:
        return Change(message("act.candidate_already", number=number), focus=cue.id)
    changed = _with_text(timeline, cue, text, number - 1)
    return Change(message("act.chosen", number=number), (changed,), focus=cue.id)


def write(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Give the line another ``text``; an empty one drops the line."""
    cue, text = timeline.cue(line_id), clean_text(text_in(args))
    if text == cue.text and (cue.heard or not text):
        return Change(message("act.text_same"), focus=cue.id)
    if not text:
        reason = reason_in(EMPTIED, cue.language)
        dropped = replace(cue, text="", status=CueStatus.DROPPED, reason=reason, chosen=None, fit_steps=())
        changed = mark_edit(dropped, cue, (EditField.TEXT, EditField.STATUS), SOURCE)
        return Change(message("act.emptied"), (as_saved(changed),), focus=cue.id)
    announcement = message("act.written") if cue.heard else message("act.written_heard")
    return Change(announcement, (_with_text(timeline, cue, text),), focus=cue.id)


def replace_text(timeline: LineTimeline, _: str, args: Json) -> Change:
    """Put ``text`` for each ``find`` in all heard lines.

    ``match_case`` and ``whole_words`` narrow what is found. A line that would have no words left stays as it
    is. Raises ReviewError where nothing is found.
    """
    find, by = args.get("find"), text_in(args)
    if not isinstance(find, str) or not find.strip():
        raise refusal("act.nothing_to_find")
    pattern = re.escape(find)
    if args.get("whole_words"):
        pattern = rf"(?<!\w){pattern}(?!\w)"
    search = re.compile(pattern, 0 if args.get("match_case") else re.IGNORECASE)
    changed: list[Cue] = []
    places = 0
    for cue in timeline.track.heard:
        text, count = search.subn(lambda _: by, cue.text)
        text = clean_text(text_in({"text": text}))
        if count and text and text != cue.text:
            places += count
            changed.append(_with_text(timeline, cue, text))
    if not changed:
        raise refusal("act.not_found", words=quoted(find))
    lines = message("act.replaced_lines", count=len(changed))
    announcement = message("act.replaced", count=places, lines=lines)
    return Change(announcement, tuple(changed), focus=changed[0].id)


def accept(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Mark the line as read and found good by the reviewer. Raises ReviewError where it is not heard."""
    cue = timeline.cue(line_id)
    if not cue.heard:
        raise refusal("act.not_heard_accept")
    name = timeline.reviewer
    if cue.review is not None and cue.review.by == name:
        announcement = message("act.accepted_already")
        if name:
            announcement = message("act.accepted_already_by", name=name)
        return Change(announcement, focus=cue.id)
    announcement = message("act.accepted_by", name=name) if name else message("act.accepted")
    return Change(announcement, (as_saved(accepted_by(cue, name, SOURCE)),), focus=cue.id)


def unaccept(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Remove the acceptance; nothing else of the line changes."""
    cue = timeline.cue(line_id)
    if cue.state is not LineState.ACCEPTED:
        return Change(message("act.not_accepted"), focus=cue.id)
    return Change(message("act.unaccepted"), (as_saved(unaccepted(cue)),), focus=cue.id)


def drop(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Leave the line out of the audio description; its text stays in the track."""
    cue = timeline.cue(line_id)
    if not cue.heard:
        return Change(message("act.dropped_already"), focus=cue.id)
    return Change(message("act.dropped"), (_dropped(cue, DROPPED, EditField.STATUS),), focus=cue.id)


def restore(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Let a line that was left out be heard again.

    Its text is the one it has, else the machine's, else the first candidate. Raises ReviewError where there
    is none of them, or where its time is taken.
    """
    cue = timeline.cue(line_id)
    if cue.heard:
        return Change(message("act.heard_already"), focus=cue.id)
    machine_text = cue.machine.text if cue.machine is not None else ""
    candidates = [clean_text(candidate) for candidate in cue.candidates]
    text = next((text for text in (cue.text, machine_text, *candidates) if text), "")
    if not text:
        raise refusal("act.no_words")
    chosen = cue.chosen
    if text != cue.text:
        chosen = cue.candidates.index(text) if text in cue.candidates else None
    before = _without_removal(cue)
    restored = replace(before, text=text, chosen=chosen, status=CueStatus.PLACED, reason="")
    fields = (EditField.STATUS,) if text in (machine_text, cue.text) else (EditField.TEXT, EditField.STATUS)
    changed = cut_to_free_time(timeline, mark_edit(restored, before, fields, SOURCE))
    return Change(message("act.restored"), (as_saved(changed),), focus=cue.id)


def remove(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Take the line out of the track if a person added it; one of the machine stays there, dropped."""
    cue = timeline.cue(line_id)
    if is_added(cue):
        line_ids = list(timeline.cues)
        index = line_ids.index(cue.id)
        # Select the next line; after the last one, the line before it.
        neighbours = line_ids[index + 1 : index + 2] or line_ids[max(0, index - 1) : index]
        focus = neighbours[0] if neighbours else None
        return Change(message("act.removed"), removed_ids=(cue.id,), focus=focus)
    if not cue.heard and is_reason(cue.reason, REMOVED):
        return Change(message("act.removed_already"), focus=cue.id)
    return Change(message("act.removed"), (_dropped(cue, REMOVED, EditField.REMOVED),), focus=cue.id)


def machine(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Undo all edits of the line: the machine's text, times and status.

    Raises ReviewError where no machine wrote it, or where its own times are taken by another line.
    """
    cue = timeline.cue(line_id)
    if cue.edited is None:
        return Change(message("act.machine_already"), focus=cue.id)
    machine_cue = machine_version(cue)
    if machine_cue is None:
        raise refusal("act.no_machine")
    overlapping = timeline.heard_in(span_of(machine_cue.interval))
    lines_in_the_way = [line.id for line in overlapping if line.id != cue.id]
    if machine_cue.heard and lines_in_the_way:
        raise refusal("act.machine_over", line=lines_in_the_way[0])
    return Change(message("act.given_back"), (as_saved(machine_cue),), focus=cue.id)


def note(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Give the line a note to a colleague with the ``text`` of ``args``; an empty one removes it.

    The line itself, its acceptance too, stays as it is.
    """
    cue, text = timeline.cue(line_id), clean_text(text_in(args))
    if len(text) > MAX_NOTE_LENGTH:
        raise refusal("act.note_too_long", number=len(text), most=MAX_NOTE_LENGTH)
    if text == (cue.note.text if cue.note is not None else ""):
        return Change(message("act.note_same"), focus=cue.id)
    changed = replace(cue, note=LineNote.of(text, timeline.reviewer))
    announcement = message("act.note_saved") if text else message("act.note_removed")
    return Change(announcement, (as_saved(changed),), focus=cue.id)


def _with_text(timeline: LineTimeline, cue: Cue, text: str, chosen: int | None = None) -> Cue:
    """The line with another text, heard from now on, its end moved to fit the text.

    ``chosen`` is the index of the candidate that the text is; None: found by comparing. Raises ReviewError
    where a line that was not heard finds its time taken.
    """
    fields: tuple[EditField, ...] = (EditField.TEXT,) if cue.heard else (EditField.TEXT, EditField.STATUS)
    before = _without_removal(cue)
    ends_with_words = is_added(cue) and _ends_with_its_words(timeline, cue)
    after = with_words(timeline, before, text)
    if chosen is not None:
        # Comparing finds no candidate whose text was cleaned, and the wrong one of two that are the same.
        after = replace(after, chosen=chosen)
    after = with_line_end(timeline, mark_edit(after, before, fields, SOURCE))
    if ends_with_words:
        after = with_span(after, _span_of_words(timeline, after))
    if not cue.heard:
        after = cut_to_free_time(timeline, after)
    return as_saved(after)


def _ends_with_its_words(timeline: LineTimeline, cue: Cue) -> bool:
    """Whether a line ends when its words are spoken, or has none yet; not where it was given an end."""
    return not cue.text or span_of(cue.interval) == _span_of_words(timeline, cue)


def _span_of_words(timeline: LineTimeline, cue: Cue) -> Span:
    """The time of a line from its start until its words are spoken, or until the free time around it ends."""
    start, end = span_of(cue.interval)
    free_interval = free_interval_of(timeline, cue)
    latest = end if free_interval is None else span_of(free_interval).end
    spoken_end = start + milliseconds(cue.spoken_length or 0.0)
    return Span(start, max(min(spoken_end, latest), start + timeline.shortest))


def _dropped(cue: Cue, reason: str, field: EditField) -> Cue:
    """The line left out for ``reason``; ``field`` is how the edit is marked."""
    dropped = replace(cue, status=CueStatus.DROPPED, reason=reason_in(reason, cue.language))
    return as_saved(mark_edit(dropped, cue, (field,), SOURCE))


def _without_removal(cue: Cue) -> Cue:
    """The line without the mark that a person removed it."""
    if cue.edited is None or EditField.REMOVED not in cue.edited.fields:
        return cue
    fields = tuple(field for field in cue.edited.fields if field is not EditField.REMOVED)
    # The line is still a person's, so at least its status is marked as edited.
    fields = fields or (EditField.STATUS,)
    return replace(cue, edited=Edit(fields, cue.edited.source, cue.edited.machine))


_LONGEST_PAUSE_JOINED = 2000
"""Milliseconds between two lines that can still be joined. A longer pause separates two events."""

JOINED = message("act.joined")

_ZERO_WIDTH_JOINER = "\u200d"
"""Makes one visible character of the two around it."""


def move(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Set the start, the end, or both, as near to the request as the free time around the line allows.

    Arguments: ``start`` and ``end`` in seconds of the film, or ``start_by`` and ``end_by`` in seconds from
    the present ones. A start after the line's end alone, or an end before its start, moves the whole line.
    Raises ReviewError where none is given, or nothing can move.
    """
    cue = timeline.cue(line_id)
    old = span_of(cue.interval)
    start, end = _requested_time(args, "start", old.start), _requested_time(args, "end", old.end)
    if start is None and end is None:
        raise refusal("act.no_times")
    length = old.end - old.start
    if end is None and start is not None and start >= old.end:
        return _moved_whole(timeline, cue, Span(start, start + length))
    if start is None and end is not None and end <= old.start:
        return _moved_whole(timeline, cue, Span(end - length, end))
    requested = Span(old.start if start is None else start, old.end if end is None else end)
    free_span = require_free_span(timeline, cue)
    new = _clamped(requested, free_span, timeline.shortest, moves_start=start is not None)
    return _moved(timeline, cue, new, requested)


def _moved_whole(timeline: LineTimeline, cue: Cue, requested: Span) -> Change:
    """The line at another time, as long as before where there is room for that.

    Raises ReviewError where somebody speaks there, or other lines are spoken.
    """
    gap = timeline.gap_of(requested)
    if gap is None:
        raise refusal("act.speech_at", time=Time(requested.start / 1000))
    placed = with_span(cue, _clamped_whole(requested, gap, timeline.shortest))
    free_span = require_free_span(timeline, placed, shared=True)
    return _moved(timeline, cue, _clamped_whole(requested, free_span, timeline.shortest), requested)


def _clamped_whole(requested: Span, free_span: Span, shortest: int) -> Span:
    """The span within ``free_span`` that is nearest to ``requested`` and as long, if there is room."""
    low, high = free_span
    length = max(shortest, min(requested.end - requested.start, high - low))
    start = min(max(requested.start, low), high - length)
    return Span(start, start + length)


def _requested_time(args: Json, key: str, old: int) -> int | None:
    """The time in milliseconds that ``args`` ask for under ``key`` or ``key_by``; None where they do not."""
    if f"{key}_by" in args:
        return old + milliseconds(number_in(args, f"{key}_by"))
    return milliseconds(number_in(args, key)) if key in args else None


def shift(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Move the whole line ``by`` seconds, as far as the free time around it allows."""
    cue, by = timeline.cue(line_id), milliseconds(number_in(args, "by"))
    (start, end), (low, high) = span_of(cue.interval), require_free_span(timeline, cue)
    step = max(min(by, high - end), 0) if by > 0 else min(max(by, low - start), 0)
    return _moved(timeline, cue, Span(start + step, end + step), Span(start + by, end + by))


def shift_from(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Move this line and all heard ones after it ``by`` seconds.

    Each goes as far as the speech around its new time and the lines beside it allow. Raises ReviewError where
    none of them can move.
    """
    cue, by = timeline.cue(line_id), milliseconds(number_in(args, "by"))
    lines = [line for line in timeline.track.heard if line.start >= cue.start]
    cue_start = span_of(cue.interval).start
    earlier_ends = [line.end for line in timeline.heard if line.start < cue_start]
    # The first that moves has nothing of the moved ones in its way: the last line, if all go later.
    in_turn = reversed(lines) if by > 0 else lines
    lowest = max(earlier_ends, default=milliseconds(EARLIEST_CUE))
    highest = milliseconds(timeline.track.film.duration)
    changed: list[Cue] = []
    hindered = 0
    for line in in_turn:
        old = span_of(line.interval)
        requested = Span(old.start + by, old.end + by)
        low, high = timeline.gap_of(requested) or timeline.gap_of(old) or old
        # A line that lies over speech already may stay where it is.
        low, high = max(lowest, min(low, old.start)), min(highest, max(high, old.end))
        new = old
        if high - low >= timeline.shortest:
            new = _clamped_whole(requested, Span(low, high), timeline.shortest)
        if by > 0:
            highest = new.start
        else:
            lowest = new.end
        hindered += new != requested
        if new != old:
            changed.append(as_saved(mark_edit(with_span(line, new), line, (EditField.TIME,), SOURCE)))
    if not changed:
        raise refusal("act.none_moves")
    count, seconds = len(changed), abs(by) / 1000
    announcement: Sentence
    if by > 0:
        announcement = message("act.shifted_later", count=count, seconds=seconds)
    else:
        announcement = message("act.shifted_earlier", count=count, seconds=seconds)
    if hindered:
        rest = message("act.hindered", number=hindered, total=len(lines))
        announcement = both(announcement, rest)
    return Change(announcement, tuple(changed), focus=cue.id)


def split(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Make two lines of one, at the gap between words that is nearest to character ``at`` of its text.

    The first keeps the line's id and candidates, both keep its slot; the time is divided by words. Raises
    ReviewError where the line is not heard, has only one word, or is too short.
    """
    cue, at = timeline.cue(line_id), int(number_in(args, "at"))
    if not cue.heard:
        raise refusal("act.not_heard_split")
    text, at = cue.text, min(max(at, 0), len(cue.text))
    halves = _nearest_halves(text, at, cue.language)
    if halves is None:
        raise refusal("act.no_words_to_part")
    first_text, second_text = halves
    start, end = span_of(cue.interval)
    if end - start < 2 * timeline.shortest:
        raise refusal("act.too_short_split")
    first_words = spoken_words(first_text, cue.language)
    second_words = spoken_words(second_text, cue.language)
    middle = start + round((end - start) * first_words / (first_words + second_words))
    middle = min(max(middle, start + timeline.shortest), end - timeline.shortest)
    first = with_span(with_words(timeline, cue, first_text), Span(start, middle))
    first = mark_edit(first, cue, (EditField.TEXT, EditField.TIME), SOURCE)
    second = _added_line(timeline, Span(middle, end), second_text, cue)
    return Change(message("act.split", time=Time(middle / 1000)), (as_saved(first), second), focus=cue.id)


def _nearest_halves(text: str, at: int, language: str) -> tuple[str, str] | None:
    """The text parted at the blank nearest to character ``at``; None where a half would have no words.

    In a language without blanks it is parted at that character itself.
    """
    cuts = [match.span() for match in re.finditer(r"\s+", text)]
    if not has_blanks(language):
        # Go back to where no letter is separated from its accents and sound marks.
        while 0 < at < len(text):
            is_joined = _ZERO_WIDTH_JOINER in text[at - 1 : at + 1]
            is_mark = unicodedata.category(text[at]).startswith("M")
            if not is_joined and not is_mark:
                break
            at -= 1
        cuts = [(at, at)]
    cuts.sort(key=lambda cut: abs(at - cut[1]))
    for blank_start, blank_end in cuts:
        first, second = clean_text(text[:blank_start]), clean_text(text[blank_end:])
        # A half that is only punctuation is not spoken.
        if spoken_words(first, language) and spoken_words(second, language):
            return first, second
    return None


def join(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Make one line of this and the next heard one, which is removed as by `remove`.

    It ends where the second did, or where its text is spoken if that end is not free. Raises ReviewError
    for lines that cannot be joined (`why_apart`).
    """
    cue = timeline.cue(line_id)
    following, problem = timeline.following(cue), why_apart(timeline, cue)
    if following is None or problem is not None:
        raise problem or refusal("act.no_next")
    blank = " " if has_blanks(cue.language) else ""
    text = text_in({"text": f"{cue.text}{blank}{following.text}"})
    # The time of the following line is free for the joined one.
    other_cues = [other for other in timeline.track.cues if other.id != following.id]
    without_following = replace(timeline, track=timeline.track.with_cues(other_cues))
    low, high = require_free_span(without_following, cue)
    start, end = cue.interval.start, max(cue.interval.end, following.interval.end)
    if milliseconds(end) > high:
        spoken_end = start + timeline.spoken_seconds(text, cue.language)
        end = min(high / 1000, max(cue.interval.end, spoken_end))
    # The text of the first line stays among the candidates, unless it is only half of a line that was split.
    is_half = is_added(following) and following.slot_id is not None and following.slot_id == cue.slot_id
    candidates = cue.candidates
    if not is_half and cue.text not in candidates:
        candidates = (*candidates, cue.text)
    joined = with_words(timeline, replace(cue, candidates=candidates), text)
    joined_span = Span(milliseconds(start), milliseconds(end))
    span = _clamped(joined_span, Span(low, high), timeline.shortest)
    joined = mark_edit(with_span(joined, span), cue, (EditField.TEXT, EditField.TIME), SOURCE)
    if following.note is not None:
        both = following.note if cue.note is None else cue.note.joined(following.note)
        joined = replace(joined, note=both)
    if is_added(following):
        return Change(JOINED, (as_saved(joined),), (following.id,), focus=cue.id)
    dropped = _dropped(following, REMOVED, EditField.REMOVED)
    return Change(JOINED, (as_saved(joined), dropped), focus=cue.id)


def why_apart(timeline: LineTimeline, cue: Cue) -> ReviewError | None:
    """Why a line cannot be joined with the next heard one; None where it can.

    The joined line is spoken in one go, so no speech and no long pause may be between the two.
    """
    if not cue.heard:
        return refusal("act.not_heard_join")
    following = timeline.following(cue)
    if following is None:
        return refusal("act.no_next")
    pause_start, pause_end = span_of(cue.interval).end, span_of(following.interval).start
    if not timeline.are_free(pause_start, pause_end):
        return refusal("act.speech_between", start=Time(pause_start / 1000), end=Time(pause_end / 1000))
    if pause_end - pause_start > _LONGEST_PAUSE_JOINED:
        seconds, most = (pause_end - pause_start) / 1000, _LONGEST_PAUSE_JOINED / 1000
        return refusal("act.too_far_join", length=Seconds(seconds), most=most)
    return None


def add(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Add a line with a ``text``, from ``start`` to ``end`` (seconds), or as long as its text takes to say.

    Raises ReviewError where the text is empty, or the time is outside the film or not free.
    """
    text, start = clean_text(text_in(args)), number_in(args, "start")
    length = timeline.spoken_seconds(text, timeline.track.language)
    end = number_in(args, "end") if args.get("end") is not None else start + length
    if not text:
        raise refusal("act.needs_words")
    if start < 0:
        raise refusal("act.negative_start", seconds=round(start, 3))
    if start >= timeline.track.film.duration:
        raise refusal("act.after_end", time=Time(start), end=Time(timeline.track.film.duration))
    if end <= start:
        raise refusal("act.end_before_start", end=Time(end), start=Time(start))
    span_start = milliseconds(max(start, EARLIEST_CUE))
    span_end = max(milliseconds(end), span_start + timeline.shortest)
    cue = _added_line(timeline, Span(span_start, span_end), text, None)
    gap = timeline.gap_of(span_of(cue.interval))
    if gap is None:
        raise refusal("act.speech_at_added", time=Time(cue.interval.start))
    # Cut to the gap first: the line's own time would count as free although somebody speaks in it.
    low, high = max(gap.start, milliseconds(cue.interval.start)), min(gap.end, milliseconds(cue.interval.end))
    cue = replace(cue, interval=interval_of(Span(low, max(high, low + 1))))
    cue = cut_to_free_time(timeline, cue)
    # The id says when a line starts, so it is given last.
    cue = replace(cue, id=hand_id(cue.interval.start, timeline.cues))
    announcement = message("act.added", time=Time(cue.interval.start))
    if milliseconds(cue.interval.start) != span_start:
        announcement = message("act.added_elsewhere", time=Time(cue.interval.start), wanted=Time(start))
    return Change(announcement, (as_saved(cue),), focus=cue.id)


_BREATH = 250
"""Milliseconds between the line before and one that is added right after it."""

_SHORTEST_ADDED = 1000
"""Milliseconds that must be free for a line in a slot that has one already: two or three words."""


def insert(timeline: LineTimeline, _: str, args: Json) -> Change:
    """Add an empty line in the slot at ``start`` (seconds), beside the lines that are there already.

    It begins at that second if the slot has a second or more free from there, else as soon after the line
    that is spoken then as there is as much. Raises ReviewError where there is no slot, or no time left in it.
    """
    requested_start = milliseconds(number_in(args, "start"))
    slots = timeline.slots.values()
    slot = next((slot for slot in slots if _holds(span_of(slot.interval), requested_start)), None)
    if slot is None:
        raise refusal("act.no_slot_at", time=Time(requested_start / 1000))
    start = requested_start
    end = span_of(slot.interval).end
    for line in timeline.heard:
        if line.end + _BREATH <= start or line.start >= end:
            continue
        if line.start - start >= _SHORTEST_ADDED:
            end = line.start
            break
        start = max(start, line.end + _BREATH)
    if end - start < _SHORTEST_ADDED:
        raise refusal("act.slot_full", time=Time(slot.interval.end))
    cue = Cue(
        hand_id(start / 1000, timeline.cues),
        slot.id,
        interval_of(Span(start, end)),
        "",
        language=timeline.track.language,
        status=CueStatus.SILENT,
        reason=reason_in(ADDED, timeline.track.language),
        edited=Edit((EditField.ADDED,), SOURCE, None),
    )
    time, length = Time(start / 1000), Seconds((end - start) / 1000)
    announcement = message("act.inserted", time=time, length=length)
    if start != requested_start:
        announcement = message("act.inserted_after", time=time, length=length)
    return Change(announcement, (as_saved(cue),), focus=cue.id)


def _holds(span: Span, moment: int) -> bool:
    return span.start <= moment < span.end


def _added_line(timeline: LineTimeline, span: Span, text: str, model: Cue | None) -> Cue:
    """A new line, marked as a person's; its kind, language and slot are those of ``model``, if given."""
    language = timeline.track.language if model is None else model.language
    cue = Cue(
        id=hand_id(span.start / 1000, timeline.cues),
        slot_id=None,
        interval=interval_of(span),
        text=text,
        language=language,
        edited=Edit((EditField.ADDED,), SOURCE, None),
        spoken_length=timeline.spoken_seconds(text, language),
    )
    return cue if model is None else replace(cue, kind=model.kind, slot_id=model.slot_id)


def _moved(timeline: LineTimeline, cue: Cue, new: Span, requested: Span) -> Change:
    """The change that gives a line the times ``new``; ``requested`` are those that were asked for.

    Raises ReviewError where others than the present ones were asked for and the line cannot move at all.
    """
    old = span_of(cue.interval)
    if requested == old == new:
        return Change(message("act.times_same"), focus=cue.id)
    if new == old:
        raise _why_stuck(timeline, cue, requested)
    start_shift, end_shift = new.start - old.start, new.end - old.end
    start, end = Time(new.start / 1000), Time(new.end / 1000)
    if start_shift == end_shift:
        move = message("act.move.whole", time=start, shift=_shift_text(timeline, start_shift))
    elif not end_shift:
        move = message("act.move.start", time=start, shift=_shift_text(timeline, start_shift))
    elif not start_shift:
        move = message("act.move.end", time=end, shift=_shift_text(timeline, end_shift))
    else:
        move = message("act.move.both", start=start, end=end)
    moved = as_saved(mark_edit(with_span(cue, new), cue, (EditField.TIME,), SOURCE))
    announcement = message("act.moved", move=move)
    if new != requested:
        announcement = message("act.moved_as_far", move=move)
    return Change(announcement, (moved,), focus=cue.id)


def _shift_text(timeline: LineTimeline, ms: int) -> Message:
    """``2 frames earlier`` for whole frames up to ten, else ``0.5 s later``."""
    frames = round(abs(ms) / 1000 / timeline.frame)
    if 1 <= frames <= 10 and abs(abs(ms) - frames * timeline.frame * 1000) <= 1:
        if ms < 0:
            return message("act.shift.frames_earlier", count=frames)
        return message("act.shift.frames_later", count=frames)
    if ms < 0:
        return message("act.shift.earlier", seconds=abs(ms) / 1000)
    return message("act.shift.later", seconds=ms / 1000)


def _why_stuck(timeline: LineTimeline, cue: Cue, requested: Span) -> ReviewError:
    """Why a line cannot move at all towards ``requested``."""
    low, high = require_free_span(timeline, cue)
    start, end = span_of(cue.interval)
    if requested.start >= start and requested.end <= end:
        return refusal("act.shortest")
    moves_later = requested.end > end
    edge = high if moves_later else low
    time = Time(edge / 1000)
    for line in timeline.heard:
        if line.id == cue.id or edge != (line.start if moves_later else line.end):
            continue
        if moves_later:
            return refusal("act.line_begins", line=line.id, time=time)
        return refusal("act.line_ends", line=line.id, time=time)
    if edge <= milliseconds(EARLIEST_CUE) or edge >= milliseconds(timeline.track.film.duration):
        return refusal("act.film_ends") if moves_later else refusal("act.film_begins")
    if moves_later:
        return refusal("act.speech_begins", time=time)
    return refusal("act.speech_ends", time=time)


def _clamped(requested: Span, free_span: Span, shortest: int, *, moves_start: bool = False) -> Span:
    """The span nearest to ``requested`` that is within ``free_span`` and not below ``shortest``.

    Where it would be too short, the edge that was asked to move gives way first: the start with
    ``moves_start``, else the end.
    """
    low, high = free_span
    start, end = min(max(requested.start, low), high), min(max(requested.end, low), high)
    if end - start >= shortest:
        return Span(start, end)
    if moves_start:
        start = max(low, end - shortest)
    return Span(start, min(high, max(end, start + shortest)))


def add_slot(timeline: LineTimeline, _: str, args: Json) -> Change:
    """Add a slot from ``start`` to ``end`` (seconds) with an empty line.

    Raises ReviewError where that time is not free, or a line with the slot's id is in use.
    """
    lines_without_slot = [(cue.id, cue.interval) for cue in timeline.track.heard if cue.slot_id is None]
    slot = new_slot(
        number_in(args, "start"),
        number_in(args, "end"),
        free=timeline.free,
        slots=tuple(timeline.slots.values()),
        lines=lines_without_slot,
        film=timeline.end,
        settings=timeline.settings,
    )
    # Slots and their lines are named after their start, so an old line may have this name. One that is not
    # heard and that nobody edited is replaced.
    existing = next((cue for cue in timeline.track.cues if cue.id == slot.id), None)
    if existing is not None and (existing.heard or existing.edited is not None):
        raise refusal("act.slot_of_old_line", line=existing.id)
    time, length = Time(slot.interval.start), Seconds(slot.interval.duration)
    announcement = message("act.slot_added", time=time, count=slot.max_words, length=length)
    cue = empty_line(slot, timeline.track.language)
    return Change(announcement, (cue,), focus=slot.id, slots=SlotChange((slot,)))


def remove_slot(timeline: LineTimeline, slot_id: str, _: Json) -> Change:
    """Remove a slot and its lines. Raises ReviewError where there is no such slot."""
    slot = timeline.slots.get(slot_id)
    if slot is None:
        raise refusal("act.no_such_slot", slot=quoted(slot_id))
    removed_ids = tuple(cue.id for cue in timeline.track.cues if cue.slot_id == slot.id)
    remaining = [cue for cue in timeline.track.cues if cue.id not in removed_ids]
    # Select the next line; after the last slot, the last line.
    later = [cue for cue in remaining if cue.interval.start >= slot.interval.start]
    focus = None
    if remaining:
        focus = later[0].id if later else remaining[-1].id
    time = Time(slot.interval.start)
    announcement = message("act.slot_removed", time=time)
    if removed_ids:
        announcement = message("act.slot_and_line_removed", time=time)
    return Change(announcement, removed_ids=removed_ids, focus=focus, slots=SlotChange((), (slot,)))


_LINE_ACTS = (
    choose, write, accept, unaccept, drop, restore, split, join, move, shift, add, insert, remove, machine,
    note,
)  # fmt: skip
_MANY_LINES_ACTS = (shift_from,)
_SLOT_ACTS = (add_slot, remove_slot)
_VOICE_ACTS = (
    voice_acts.record,
    voice_acts.keep_recording,
    voice_acts.discard_recording,
    voice_acts.voice,
    voice_acts.pace,
)
ACTS: Mapping[str, EditAction] = {
    **{act.__name__: act for act in (*_LINE_ACTS, *_MANY_LINES_ACTS, *_SLOT_ACTS, *_VOICE_ACTS)},
    "replace": replace_text,
}
"""All acts by name."""
