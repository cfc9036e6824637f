"""The JSON that the page gets of a film, its lines and their changes; and `Findings`, the check of all lines.

Lines are checked in a thread when nothing has changed for a moment; those that are the same are not checked
again. What a person accepted with ``shotad lint --accept`` stays accepted.
"""

from __future__ import annotations

import logging
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.core import Interval, ShotadError
from shotad.core.errors import WorkFolderError
from shotad.core.progress import printable
from shotad.core.types import thread_number
from shotad.core.workfolder import read_record
from shotad.description import Checker, lint
from shotad.description.linting.check import CachedLineFindings
from shotad.description.linting.material import recorded_findings, track_material
from shotad.film import Prepared, SlotChange
from shotad.review.acts import why_apart
from shotad.review.details import engines_view
from shotad.review.english_sentences import finding_message, reason_message, reason_views
from shotad.review.events import Json, Tabs
from shotad.review.jobs import Debouncer
from shotad.review.messages import fault_view, sentence_view
from shotad.review.session import Session
from shotad.review.session_files import Signature, signatures
from shotad.review.timeline import Change, LineTimeline, free_interval_of, is_added
from shotad.script import (
    ALL_FORMATS,
    Cue,
    Finding,
    Level,
    LineState,
    Material,
    Track,
    lines_of_track,
)
from shotad.script.cue import milliseconds
from shotad.script.guidelines import rule_hint, rule_title
from shotad.script.newer import content_stamp
from shotad.script.pace import (
    budget_in_language_units,
    has_blanks,
)
from shotad.sound.outputs import Kind


def line_view(timeline: LineTimeline, cue: Cue, findings: Findings) -> dict[str, Any]:
    """One line as the page shows it: JSON values."""
    free_interval, why_not_joined = free_interval_of(timeline, cue), why_apart(timeline, cue)
    # A line that a person added beside the slot's own, or without a slot, may be as long as its own time
    # allows.
    slot = None if is_added(cue) else timeline.slots.get(cue.slot_id or "")
    review, doubt, spoken = cue.review, cue.doubt, cue.spoken
    # The machine's own version, where a person has another
    machine_version = cue.edited.machine if cue.edited is not None else None
    machine_view = None
    if machine_version is not None:
        machine_view = {
            **times_view(machine_version.interval),
            "text": machine_version.text,
            "status": machine_version.status.value,
            "reason": sentence_view(reason_message(machine_version.reason)),
        }
    spoken_interval = None if spoken is None else spoken.interval
    spoken_view = None
    if spoken is not None:
        at = None if spoken_interval is None else span_view(spoken_interval)
        spoken_view = {"at": at, "text": spoken.text}
    return {
        "id": cue.id,
        "stamp": content_stamp(cue),
        **times_view(cue.interval),
        "text": cue.text,
        "kind": cue.kind.value,
        "language": cue.language,
        "status": cue.status.value,
        "heard": cue.heard,
        "reason": sentence_view(reason_message(cue.reason)),
        "note": None if cue.note is None else {"text": cue.note.text, "by": cue.note.by},
        "doubt": {"value": doubt.value, "reasons": reason_views(doubt.reasons)} if doubt else None,
        "state": cue.state.value,
        "by": review.by if review is not None else "",
        "slot": cue.slot_id if cue.slot_id in timeline.slots else None,
        "voice": "" if slot is None or slot.voice is None else slot.voice.value,
        "seconds": _rounded(spoken_seconds(timeline, cue)),
        "candidates": list(cue.candidates),
        "chosen": cue.chosen,
        "fit_steps": reason_views(cue.fit_steps),
        "spoken": spoken_view,
        "recording": recording_view(cue),
        "own_voice": cue.voice,
        "pace": cue.pace,
        "machine": machine_view,
        "hold": [] if cue.edited is None else [field.value for field in cue.edited.fields],
        "apart": None if why_not_joined is None else fault_view(why_not_joined),
        "room": None if free_interval is None else span_view(free_interval),
        "room_seconds": _rounded(budget_seconds(timeline, cue, free_interval)),
        "findings": [finding_view(finding) for finding in findings.of(cue.id)],
    }


def spoken_seconds(timeline: LineTimeline, cue: Cue) -> float | None:
    """Seconds that the line takes to say, as it was spoken, else estimated; None for no words."""
    spoken = cue.spoken
    if spoken is not None and spoken.interval is not None:
        return spoken.interval.duration - spoken.pause
    return timeline.spoken_seconds(cue.text, cue.language) or None


def unit_seconds(timeline: LineTimeline) -> float:
    """Seconds that the voice needs for a word, or a character in a language written without blanks."""
    units_of_hundred_words = budget_in_language_units(timeline.track.language, 100)
    return timeline.settings.seconds_per_word * 100 / units_of_hundred_words


def budget_seconds(timeline: LineTimeline, cue: Cue, free_interval: Interval | None) -> float | None:
    """The seconds that a line has, from its start: to the end of its slot, or of the free time around it.

    What lies behind the slot belongs to other lines or to the quiet of the film, though a render may lend
    it. A person's own line beside that of a slot has the free time alone. None where nothing is free.
    """
    slot = None if is_added(cue) else timeline.slots.get(cue.slot_id or "")
    if slot is not None and slot.interval.start <= cue.start < slot.interval.end:
        return slot.interval.end - cue.start
    return None if free_interval is None else max(0.0, free_interval.end - cue.start)


def recording_view(cue: Cue) -> dict[str, Any] | None:
    """A person's recording of a line; ``fits``: it is of the line's present words, and used."""
    stored = cue.stored_recording
    if stored is None:
        return None
    return {"seconds": stored.seconds, "fits": cue.recording is not None, "name": stored.file}


def changed_view(session: Session, change: Change, origin: str, findings: Findings) -> dict[str, Any]:
    """A saved change as JSON: the lines that changed, and their neighbours, whose free time it changes.

    ``origin``: the tab that asked, ``disk`` for a change by another program, ``job`` for one by a job.
    """
    track, timeline = session.track, session.timeline()
    view: dict[str, Any] = {
        "revision": session.revision,
        "said": sentence_view(change.message),
        "lines": [line_view(timeline, cue, findings) for cue in _affected_cues(track, change)],
        "gone": list(change.removed_ids),
        "focus": change.focus,
        "progress": progress_view(track),
        "history": session.next_steps,
        "origin": origin,
    }
    if change.slots != SlotChange():
        view["slots"] = slots_view(session.prepared)
    return view


def _affected_cues(track: Track, change: Change) -> list[Cue]:
    """The lines of a change, and the heard ones just before and after each of them and each removed one."""
    cues = track.cues
    changed_ids = {cue.id for cue in change.cues}
    changed = [index for index, cue in enumerate(cues) if cue.id in changed_ids]
    # Where the search for the neighbours begins, backwards and forwards
    search_from = [(index - 1, index + 1) for index in changed]
    if change.removed_ids:
        starts = [cue.interval.start for cue in cues]
        for line_id in change.removed_ids:
            # The id says where a line began, in milliseconds; nothing else is known of a removed one.
            index = bisect_left(starts, int(line_id[1:]) / 1000)
            search_from.append((index - 1, index))
    affected = set(changed)
    for backwards_from, forwards_from in search_from:
        before, after = backwards_from, forwards_from
        while before >= 0 and not cues[before].heard:
            before -= 1
        if before >= 0:
            affected.add(before)
        while after < len(cues) and not cues[after].heard:
            after += 1
        if after < len(cues):
            affected.add(after)
    return [cues[index] for index in sorted(affected)]


def conflict_view(session: Session, line_id: str, findings: Findings) -> list[dict[str, Any]]:
    """The line as it is now, in a list; an empty one where it was removed."""
    timeline = session.timeline()
    cue = timeline.cues.get(line_id)
    return [] if cue is None else [line_view(timeline, cue, findings)]


def progress_view(track: Track) -> dict[str, Any]:
    """How far the review has come; ``lines`` counts those that are heard, ``dropped`` all others."""
    heard = track.heard
    states = Counter(cue.state for cue in heard)
    reviewers = dict.fromkeys(cue.review.by for cue in heard if cue.review is not None and cue.review.by)
    return {
        "lines": len(heard),
        **{state.value: states[state] for state in LineState},
        "dropped": len(track.cues) - len(heard),
        "by": list(reviewers),
    }


def slots_view(prepared: Prepared) -> list[dict[str, Any]]:
    """The slots as the page shows them; ``by_hand``: a person added it."""
    added_ids = {slot.id for slot in prepared.added}
    return [
        {
            "id": slot.id,
            **times_view(slot.interval),
            "words": slot.max_words,
            "by_hand": slot.id in added_ids,
            "voice": "" if slot.voice is None else slot.voice.value,
        }
        for slot in prepared.slots
    ]


def span_view(interval: Interval) -> list[float]:
    """Start and end in seconds, to 1 ms."""
    return [to_the_millisecond(interval.start), to_the_millisecond(interval.end)]


def times_view(interval: Interval) -> dict[str, float]:
    """The same as ``start`` and ``end``."""
    return {"start": to_the_millisecond(interval.start), "end": to_the_millisecond(interval.end)}


def to_the_millisecond(seconds: float) -> float:
    """Seconds, rounded to 1 ms as in the track's file."""
    return milliseconds(seconds) / 1000


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)


def film_view(
    session: Session,
    *,
    revision: int,
    findings: Json,
    lines: Sequence[Json],
    playable: Json,
    voice: Json,
    jobs: Sequence[Json] = (),
    jobs_version: int = 0,
    transcript: Json | None = None,
) -> dict[str, Any]:
    """Everything that the page needs at its start, as JSON values.

    revision, findings: `Session.revision` and `Findings.summary`, both taken before ``lines``: what is
    changed or checked in between may be missing in these, and the page must see that it is.
    lines: `LineViews.all`. playable: state of the copy for the browser (`Proxy.state`).
    voice: `LinePreview.voices`. jobs: `Jobs.views`.
    jobs_version: taken before ``jobs``, so a job that is not among them is newer than this, or forgotten.
    transcript: `shotad.review.work.transcript_view`; None: not offered.
    """
    timeline, film, prepared = session.timeline(), session.film, session.prepared
    track = timeline.track
    return {
        "version": __version__,
        "film": {
            "name": printable(film.name),
            "title": printable(Path(film.name).stem),
            "duration": to_the_millisecond(prepared.end),
            "frame_rate": float(film.frame_rate or Fraction(25)),
        },
        "language": track.language,
        "reviewer": session.reviewer,
        "playable": dict(playable),
        "voice": dict(voice),
        "shots": shots_view(session),
        "speech": [
            {
                **times_view(utterance.interval),
                "kind": utterance.kind.value,
                "text": printable(utterance.text),
                "speaker": printable(utterance.speaker),
            }
            for utterance in prepared.speech
        ],
        # In which unit the length of a text is told, and how many seconds the voice needs for one
        "unit": "word" if has_blanks(track.language) else "character",
        "unit_seconds": unit_seconds(timeline),
        "slots": slots_view(prepared),
        "free": [span_view(gap) for gap in prepared.gaps],
        "progress": progress_view(track),
        "history": session.next_steps,
        "findings": dict(findings),
        "revision": revision,
        "trouble": session.trouble,
        "jobs": [dict(job) for job in jobs],
        "jobs_version": jobs_version,
        "formats": list(ALL_FORMATS),
        # What can be rendered, and into which files
        "makes": [{"kind": kind.value, "endings": list(kind.endings)} for kind in Kind],
        "engines": engines_view(session.config),
        # Whether dialogue without words can be transcribed
        "transcript": transcript,
        "lines": list(lines),
    }


class LineViews:
    """The views of all lines, kept while nothing of what they show has changed: those of a long film take
    half a second. May be used by several threads."""

    def __init__(self, session: Session, findings: Findings, lengths: Callable[[], object]) -> None:
        """``lengths`` returns another object when the voice has spoken more (`LinePreview.lengths`)."""
        self._session, self._findings, self._lengths = session, findings, lengths
        self._lock = threading.Lock()
        self._kept: tuple[tuple[object, ...], Sequence[Json]] | None = None

    def all(self) -> Sequence[Json]:
        """All lines in order of time."""
        session = self._session
        with self._lock:
            # Before the lines are read: what changes meanwhile makes another key at the next call.
            key = (session.track, session.prepared, self._lengths(), self._findings.version)
            if self._kept is None or any(now is not was for now, was in zip(key, self._kept[0], strict=True)):
                timeline = session.timeline()
                views = [line_view(timeline, cue, self._findings) for cue in timeline.track.cues]
                self._kept = (key, views)
            return self._kept[1]


def shots_view(session: Session) -> list[dict[str, Any]]:
    """The shots with the number of their thread, from 0, and their scale; both None where film grammar was
    not read, or its record is damaged."""
    grammar: dict[int, tuple[str | None, str | None]] = {}
    with suppress(WorkFolderError):
        record = read_record(session.folder / "grammar.json") or {"shots": ()}
        # Reversed: of a shot that is there twice the first row counts.
        grammar = {row["index"]: (row["thread"], row["scale"]) for row in reversed(record["shots"])}
    shots = []
    for shot in session.prepared.shots:
        letters, scale = grammar.get(shot.index, (None, None))
        thread = None if letters is None else thread_number(letters)
        shots.append({"index": shot.index, **times_view(shot.interval), "thread": thread, "scale": scale})
    return shots


_MATERIAL_FILES = ("slots.json", "speech.json", "settings.json", "stage1.jsonl", "screen.json")
"""Files of the work folder that the rules of lint look at."""

_LOG = logging.getLogger(__name__)

CHECK_DELAY = 0.5
"""Seconds without a change after which lines are checked."""

FIRST_CHECK_DELAY = 1.5
"""Seconds before the first check: the page that is being opened goes first."""


def finding_view(finding: Finding) -> dict[str, Any]:
    """A finding of lint as the page shows it."""
    return {
        "rule": finding.rule,
        "title": rule_title(finding.rule),
        "level": finding.level.value,
        "text": sentence_view(finding_message(finding.message)),
        "hint": rule_hint(finding.rule),
    }


class Findings:
    """The findings of all lines, kept up to date in a thread that `close` ends.

    Methods may be called from any thread.
    """

    def __init__(self, session: Session, tabs: Tabs) -> None:
        self._session, self._tabs = session, tabs
        self._by_line: Mapping[str, tuple[Finding, ...]] = {}
        self._seconds: Mapping[str, float | None] = {}
        self.version = 0
        # What lines are checked against, with the signatures of the files that it was read from
        self._material: tuple[tuple[Signature, ...], Material] | None = None
        self._checker: Checker | None = None
        self.foresee: Callable[[Track], Sequence[Finding]] | None = None
        """What a render would leave unspoken (`LinePreview.foresee`); None without a film to render."""
        self._again = CachedLineFindings()
        self._check_later = Debouncer(self._check, CHECK_DELAY, "findings")
        self.update(FIRST_CHECK_DELAY)

    def of(self, line_id: str) -> tuple[Finding, ...]:
        """The findings of a line in the last check."""
        return self._by_line.get(line_id, ())

    def summary(self) -> Json:
        """``version``: the number of the last check; ``done``: whether no check is due after it."""
        # First: a check that ends in between makes the version too low, and the page asks again.
        version = self.version
        return {"done": version > 0 and self._check_later.is_idle, "version": version}

    def update(self, delay: float | None = None) -> None:
        """Have all lines checked after ``delay`` seconds (None: as set), since something has changed."""
        self._check_later.schedule(delay)

    def close(self) -> None:
        """Check nothing any more."""
        self._check_later.close()

    def _check(self) -> None:
        """Check all lines, and send the findings of those where they changed to the tabs."""
        session, before = self._session, self._by_line
        try:
            self._by_line = self._findings_by_line(session.track)
        except ShotadError as error:
            _LOG.warning("The lines cannot be checked: %s", error)
        except Exception:  # noqa: BLE001  an error in a rule must not end the page
            _LOG.exception("The lines cannot be checked")
        self.version += 1
        line_ids = {**before, **self._by_line}
        changed = [line_id for line_id in line_ids if before.get(line_id) != self._by_line.get(line_id)]
        lines = {line_id: [finding_view(finding) for finding in self.of(line_id)] for line_id in changed}
        # This check is the last one, unless another is due already.
        summary = {"done": not self._check_later.is_due, "version": self.version}
        self._tabs.send("findings", {"lines": lines, "summary": summary})
        self._tell_lengths()

    def _tell_lengths(self) -> None:
        """Send the lines whose length is another than was known: the voice has spoken meanwhile."""
        timeline = self._session.timeline()
        before = self._seconds
        self._seconds = {cue.id: _rounded(spoken_seconds(timeline, cue)) for cue in timeline.track.heard}
        changed = {
            line_id: seconds for line_id, seconds in self._seconds.items() if before.get(line_id) != seconds
        }
        if changed:
            self._tabs.send("lengths", {"lines": changed, "unit_seconds": unit_seconds(timeline)})

    def _findings_by_line(self, track: Track) -> Mapping[str, tuple[Finding, ...]]:
        """All findings that are about a line, by its id."""
        session, config = self._session, self._session.config
        folder = session.folder
        file_signatures = signatures(folder / name for name in _MATERIAL_FILES)
        if self._material is None or self._material[0] != file_signatures:
            self._material = (file_signatures, track_material(track, folder)[0])
        if self._checker is None:
            self._checker = Checker.of(config.lint, config.fit, config.slots)
        slots = {slot.id: slot.interval for slot in session.prepared.slots}
        material = replace(self._material[1], lines=lines_of_track(track, slots))
        line_findings = self._again.findings(material, self._checker)
        extra = recorded_findings(folder, track)
        if self.foresee is not None:
            # T4, a line that the render did not speak: what a render would do now replaces what the last
            # one did.
            foreseen = self.foresee(track)
            unspoken_ids = {finding.cue_id for finding in foreseen if finding.level is Level.ERROR}
            line_findings = tuple(
                finding
                for finding in line_findings
                if finding.rule != "T4" or finding.cue_id not in unspoken_ids
            )
            extra = (*(finding for finding in extra if finding.rule != "T4"), *foreseen)
        by_line: dict[str, tuple[Finding, ...]] = {}
        for finding in lint(
            material, self._checker, extra=extra, folder=folder, line_findings=line_findings
        ).findings:
            # The page tells the pace of a line (T3) as its one budget, in seconds of the real voice.
            if finding.cue_id is not None and finding.rule != "T3":
                by_line[finding.cue_id] = (*by_line.get(finding.cue_id, ()), finding)
        return by_line
