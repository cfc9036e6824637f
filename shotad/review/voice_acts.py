"""How one line is spoken: acts for a person's own recording of it, its voice, and its pace.

They are as those of `shotad.review.acts`, which lists them in its table.
"""

from __future__ import annotations

from dataclasses import replace

from shotad.core.errors import quoted
from shotad.review.events import Json
from shotad.review.messages import Seconds, Sentence, message, refusal
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
        raise refusal("act.not_heard_record")
    try:
        recording = Recording(str(args.get("file")), str(args.get("stamp")), number_in(args, "seconds"))
    except ValueError:
        raise refusal("act.no_recording") from None
    if not recording.file.startswith(f"{cue.id}-"):
        raise refusal("act.recording_of_other")
    changed = with_recording(cue, recording, SOURCE)
    if changed.recording is None:
        said = message("act.recorded_other_words")
    else:
        said = message("act.recorded", length=Seconds(recording.seconds))
    return Change(said, (as_saved(changed),), focus=cue.id)


def keep_recording(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Use the line's recording although it was of other words. Raises ReviewError where there is none."""
    cue = timeline.cue(line_id)
    if cue.stored_recording is None:
        raise refusal("act.not_recorded")
    if cue.recording is not None:
        return Change(message("act.recording_fits"), focus=cue.id)
    changed = as_saved(kept_for_new_words(cue, SOURCE))
    return Change(message("act.recording_kept"), (changed,), focus=cue.id)


def discard_recording(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Have the line spoken by the voice again. The file stays, so that it can be undone."""
    cue = timeline.cue(line_id)
    if cue.stored_recording is None:
        return Change(message("act.not_recorded"), focus=cue.id)
    changed = replace(
        with_recording(cue, None, SOURCE),
        spoken_length=timeline.spoken_seconds(cue.text, cue.language) if cue.heard else cue.spoken_length,
    )
    said = message("act.recording_removed")
    return Change(said, (as_saved(changed),), focus=cue.id)


def voice(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Have another voice of this machine speak the line: its ``name``, empty for the film's own.

    Raises ReviewError for the name of a voice that sends lines away, or of none.
    """
    cue, name = timeline.cue(line_id), str(args.get("name", ""))
    name = "" if name == AUTO else name
    if name == cue.voice:
        return Change(message("act.voice_same"), focus=cue.id)
    try:
        changed = replace(cue, voice=name)
    except ValueError:
        raise refusal("act.no_such_voice", voice=quoted(name)) from None
    said = message("act.voice", voice=name) if name else message("act.voice_of_film")
    return _changed(changed, cue, said)


def pace(timeline: LineTimeline, line_id: str, args: Json) -> Change:
    """Have the line spoken ``times`` as fast as the film's others: 0.8 to 1.3. Raises ReviewError."""
    cue, times = timeline.cue(line_id), round(number_in(args, "times"), 2)
    if not MIN_LINE_PACE <= times <= MAX_LINE_PACE:
        raise refusal("act.pace_out", pace=times, least=MIN_LINE_PACE, most=MAX_LINE_PACE)
    if times == cue.pace:
        return Change(message("act.pace_same"), focus=cue.id)
    said = message("act.pace_of_film") if times == 1 else message("act.pace", pace=times)
    return _changed(replace(cue, pace=times), cue, said)


def _changed(cue: Cue, before: Cue, said: Sentence) -> Change:
    marked = as_saved(mark_voice_edit(cue, before, SOURCE))
    return Change(said, (marked,), focus=cue.id)
