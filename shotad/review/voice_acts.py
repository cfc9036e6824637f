"""How one line is spoken: acts for a person's own recording of it, its voice, and its pace.

They are as those of `shotad.review.acts`, which lists them in its table.
"""

from __future__ import annotations

from dataclasses import replace

from shotad.core.errors import ReviewError, quoted
from shotad.review.events import Json
from shotad.review.timeline import SOURCE, Change, LineTimeline, as_saved, number_in
from shotad.script import Cue
from shotad.script.cue import Recording
from shotad.sound.recordings import kept_for_new_words, mark_voice_edit, with_recording
from shotad.sound.voice_engines import AUTO

MIN_LINE_PACE, MAX_LINE_PACE = 0.8, 1.3
"""Times the film's pace that the page offers; beyond it a line stands out among its neighbours."""


def record(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Have the line heard in a recording that was kept: its ``file``, ``stamp`` and ``seconds``.

    Raises ReviewError for a line that is not heard, and for what is no recording of it.
    """
    cue = timeline.cue(line_id)
    if not cue.heard:
        raise ReviewError("A line that is not heard cannot be recorded.", "Write it, or restore it, first.")
    try:
        recording = Recording(str(args.get("file")), str(args.get("stamp")), number_in(args, "seconds"))
    except ValueError:
        raise ReviewError("That is no recording.", "Record the line once more.") from None
    if not recording.file.startswith(f"{cue.id}-"):
        raise ReviewError("That is the recording of another line.", "Record the line once more.")
    changed = with_recording(cue, recording, SOURCE)
    if changed.recording is None:
        message = "Recorded, but the words have changed since: the voice speaks the line until you keep it."
    else:
        message = f"Recorded: {recording.seconds:.1f} s in your own voice."
    return Change(message, (as_saved(changed),), focus=cue.id)


def keep_recording(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Use the line's recording although it was of other words. Raises ReviewError where there is none."""
    cue = timeline.cue(line_id)
    if cue.stored_recording is None:
        raise ReviewError("This line has no recording.", "Record it first.")
    if cue.recording is not None:
        return Change("The recording is of these words already.", focus=cue.id)
    changed = as_saved(kept_for_new_words(cue, SOURCE))
    return Change("Your recording is used for the new words.", (changed,), focus=cue.id)


def discard_recording(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Have the line spoken by the voice again. The file stays, so that it can be undone."""
    cue = timeline.cue(line_id)
    if cue.stored_recording is None:
        return Change("This line has no recording.", focus=cue.id)
    changed = replace(
        with_recording(cue, None, SOURCE),
        spoken_length=timeline.spoken_seconds(cue.text, cue.language) if cue.heard else cue.spoken_length,
    )
    message = "Recording removed: the voice speaks the line."
    return Change(message, (as_saved(changed),), focus=cue.id)


def voice(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Have another voice of this machine speak the line: its ``name``, empty for the film's own.

    Raises ReviewError for the name of a voice that sends lines away, or of none.
    """
    cue, name = timeline.cue(line_id), str(args.get("name", ""))
    name = "" if name == AUTO else name
    if name == cue.voice:
        return Change("The voice is as it was.", focus=cue.id)
    try:
        changed = replace(cue, voice=name)
    except ValueError:
        raise ReviewError(
            f"{quoted(name)} is no voice of this machine.", "shotad voices lists the names."
        ) from None
    message = f"Spoken by {name}." if name else "Spoken by the film's voice."
    return _changed(changed, cue, message)


def pace(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Have the line spoken ``times`` as fast as the film's others: 0.8 to 1.3. Raises ReviewError."""
    cue, times = timeline.cue(line_id), round(number_in(args, "times"), 2)
    if not MIN_LINE_PACE <= times <= MAX_LINE_PACE:
        raise ReviewError(
            f"A line cannot be spoken {times:g} times as fast.",
            f"Give {MIN_LINE_PACE:g} to {MAX_LINE_PACE:g}; 1 is the film's pace.",
        )
    if times == cue.pace:
        return Change("The pace is as it was.", focus=cue.id)
    message = "Spoken at the film's pace." if times == 1 else f"Spoken {times:g} times as fast."
    return _changed(replace(cue, pace=times), cue, message)


def _changed(cue: Cue, before: Cue, message: str) -> Change:
    marked = as_saved(mark_voice_edit(cue, before, SOURCE))
    return Change(message, (marked,), focus=cue.id)
