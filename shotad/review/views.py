"""What the page shows of a film, of its lines, of changes to them and of what is wrong with them.

Findings arise as somebody works: all rules are looked at, in a thread, when nothing has changed for a moment;
lines that are the same are not looked at again. What a person accepted with ``shotad lint --accept`` stays
accepted.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.core import Interval, ShotadError, WorkFolderError, printable, read_record, thread_number
from shotad.description import Again, Checker, kept_findings, lint, track_material
from shotad.film import Prepared, SlotChange, word_budget
from shotad.review.acts import why_apart
from shotad.review.details import engines_view
from shotad.review.events import Json, Tabs
from shotad.review.jobs import WhenQuiet
from shotad.review.keeping import Signature, signatures
from shotad.review.session import Session
from shotad.review.timeline import Change, Timeline, free_interval_of, is_added
from shotad.script import (
    ALL_FORMATS,
    Cue,
    Finding,
    Level,
    LineState,
    Material,
    Track,
    budget_in,
    content_stamp,
    count_words,
    has_blanks,
    hint_of,
    lines_of_track,
    milliseconds,
    spoken_words,
    title_of,
)
from shotad.sound import FILMS, MEANINGS, SOUNDS, Kind


def line_view(timeline: Timeline, cue: Cue, findings: Findings) -> dict[str, Any]:
    """One line as the page shows it."""
    room, apart = free_interval_of(timeline, cue), why_apart(timeline, cue)
    # How long the line may be: its slot's words; of a line without one, and of one that a person added to it,
    # those of its own time
    slot = None if is_added(cue) else timeline.slots.get(cue.slot_id or "")
    words = slot.max_words if slot else word_budget(cue.interval.duration, timeline.settings)
    review, doubt, made = cue.review, cue.doubt, cue.spoken
    # The machine's own version, where a person has another
    own, machine = cue.edited.machine if cue.edited is not None else None, None
    if own is not None:
        rest = {"text": own.text, "status": own.status.value, "reason": own.reason}
        machine = {**times_view(own.interval), **rest}
    # How long it takes to say: as it was spoken, else as words are reckoned
    at, seconds = None if made is None else made.interval, None
    if made is not None and at is not None:
        seconds = at.duration - made.pause
    elif count := spoken_words(cue.text, cue.language):
        seconds = count * timeline.settings.seconds_per_word
    return {
        "id": cue.id,
        "stamp": content_stamp(cue),
        **times_view(cue.interval),
        "text": cue.text,
        "kind": cue.kind.value,
        "language": cue.language,
        "status": cue.status.value,
        "heard": cue.heard,
        "reason": cue.reason,
        "doubt": {"value": doubt.value, "reasons": list(doubt.reasons)} if doubt else None,
        "state": cue.state.value,
        "by": review.by if review is not None else "",
        "slot": cue.slot_id if cue.slot_id in timeline.slots else None,
        "voice": "" if slot is None or slot.voice is None else slot.voice.words,
        "words": words_in(cue.text, cue.language),
        "allowed": budget_in(cue.language, words),
        "unit": "word" if has_blanks(cue.language) else "character",
        "seconds": _rounded(seconds),
        "candidates": list(cue.candidates),
        "chosen": cue.chosen,
        "fit_steps": list(cue.fit_steps),
        "spoken": None if made is None else {"at": None if at is None else span_view(at), "text": made.text},
        "machine": machine,
        "hold": [] if cue.edited is None else [field.value for field in cue.edited.fields],
        "apart": "" if apart is None else " ".join(apart).strip(),
        "room": None if room is None else span_view(room),
        "room_seconds": _rounded(None if room is None else max(0.0, room.end - cue.interval.start)),
        "findings": [finding_view(found) for found in findings.of(cue.id)],
    }


def changed_view(session: Session, change: Change, origin: str, findings: Findings) -> dict[str, Any]:
    """What a change came to: the lines that changed, and their neighbours, whose room it changes.

    ``origin`` names the tab that asked, ``disk`` a change that was found there, ``job`` one that a job made.
    """
    track, timeline = session.track, session.timeline()
    cues, touched = track.cues, {cue.id for cue in change.cues}
    # Also those that are heard just before and after them, and around lines that are gone
    places = [place for place, cue in enumerate(cues) if cue.id in touched]
    wanted: set[int | None] = set(places)
    # An id says where a line began: nothing else is known of one that is gone.
    starts = [cue.interval.start for cue in cues] if change.removed_ids else []
    around = [(at - 1, at + 1) for at in places]
    around += [
        (at - 1, at) for name in change.removed_ids for at in [bisect_left(starts, int(name[1:]) / 1000)]
    ]
    for before, after in around:
        wanted.add(next((at for at in range(before, -1, -1) if cues[at].heard), None))
        wanted.add(next((at for at in range(after, len(cues)) if cues[at].heard), None))
    shown = [cues[at] for at in sorted(at for at in wanted if at is not None)]
    view: dict[str, Any] = {
        "revision": session.revision,
        "said": change.message,
        "lines": [line_view(timeline, cue, findings) for cue in shown],
        "gone": list(change.removed_ids),
        "focus": change.focus,
        "progress": progress_view(track),
        "history": session.next_steps,
        "origin": origin,
    }
    if change.slots != SlotChange():
        view["slots"] = slots_view(session.prepared)
    return view


def conflict_view(session: Session, line: str, findings: Findings) -> list[dict[str, Any]]:
    """A line as it is now, where it is there."""
    timeline = session.timeline()
    return [line_view(timeline, timeline.cues[line], findings)] if line in timeline.cues else []


def progress_view(track: Track) -> dict[str, Any]:
    """How far the review has come; ``lines`` counts those that are heard, ``dropped`` all others."""
    heard = track.heard
    states = Counter(cue.state for cue in heard)
    people = dict.fromkeys(cue.review.by for cue in heard if cue.review is not None and cue.review.by)
    return {
        "lines": len(heard),
        **{state.value: states[state] for state in LineState},
        "dropped": len(track.cues) - len(heard),
        "by": list(people),
    }


def slots_view(prepared: Prepared) -> list[dict[str, Any]]:
    by_hand = {slot.id for slot in prepared.added}
    return [
        {
            "id": slot.id,
            **times_view(slot.interval),
            "words": slot.max_words,
            "by_hand": slot.id in by_hand,
            "voice": "" if slot.voice is None else slot.voice.words,
        }
        for slot in prepared.slots
    ]


def words_in(text: str, language: str) -> int:
    """How long a text is, in the unit in which its language is counted: words, or characters."""
    return count_words(text) if has_blanks(language) else sum(char.isalnum() for char in text)


def span_view(time: Interval) -> list[float]:
    return [to_the_millisecond(time.start), to_the_millisecond(time.end)]


def times_view(time: Interval) -> dict[str, float]:
    return {"start": to_the_millisecond(time.start), "end": to_the_millisecond(time.end)}


def to_the_millisecond(seconds: float) -> float:
    return milliseconds(seconds) / 1000


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)


FORMAT_TITLES: Mapping[str, str] = {
    "vtt": "WebVTT: descriptions for players and web pages",
    "srt": "SRT: subtitles that any player shows",
    "dapt": "DAPT: W3C's format for audio description scripts",
    "csv": "CSV: a table for any spreadsheet",
    "json": "JSON: for programs",
    "frazier": "Frazier: a table for recording studios",
    "reaper": "Reaper: regions for recording",
    "docx": "Word: a script to print and to read",
    "xlsx": "Excel: a spreadsheet",
    "hls": "HLS: announces the description to streaming players",
    "dash": "DASH: announces the description to streaming players",
}
"""What a format is for, in a few words."""


_PACKAGES = {"docx": ("docx", "python-docx"), "xlsx": ("openpyxl", "openpyxl")}
"""Formats that need a package: its module, and what it is called where it is fetched."""


def film_view(
    session: Session,
    *,
    findings: Findings,
    playable: Json,
    voice: Json,
    jobs: Sequence[Json] = (),
    jobs_version: int = 0,
    cast: Sequence[Json] = (),
) -> dict[str, Any]:
    """Everything that the page needs at its start.

    ``jobs`` and ``cast`` are as their rooms show them; jobs that are not among these have versions above
    ``jobs_version``, or are forgotten.
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
        "speech": [{**times_view(u.interval), "kind": u.kind.value} for u in prepared.speech],
        "slots": slots_view(prepared),
        "free": [span_view(gap) for gap in prepared.gaps],
        "progress": progress_view(track),
        "history": session.next_steps,
        "findings": findings.summary(),
        "revision": session.revision,
        "jobs": [dict(job) for job in jobs],
        "jobs_version": jobs_version,
        "formats": formats_view(),
        # What can be rendered, and into which files
        "makes": [
            {"kind": kind.value, "title": MEANINGS[kind], "endings": list(FILMS if kind.is_film else SOUNDS)}
            for kind in Kind
        ],
        "engines": engines_view(session.config),
        "cast": [dict(person) for person in cast],
        "lines": [line_view(timeline, cue, findings) for cue in track.cues],
    }


def formats_view() -> list[dict[str, Any]]:
    """The formats of a script; ``ready`` whether they can be written here, else ``why`` they cannot."""
    formats = []
    for name in ALL_FORMATS:
        module, package = _PACKAGES.get(name, ("", ""))
        ready = not module or find_spec(module) is not None
        why = "" if ready else f'Needs {package}: pip install "shotad[documents]".'
        formats.append({"name": name, "title": FORMAT_TITLES.get(name, name), "ready": ready, "why": why})
    return formats


def shots_view(session: Session) -> list[dict[str, Any]]:
    """The shots with their threads, counted from 0, and their scales, as film grammar was read; both None
    where it was not, or its record is damaged."""
    known: dict[int, tuple[str | None, str | None]] = {}
    with suppress(WorkFolderError):
        record = read_record(session.folder / "grammar.json") or {"shots": ()}
        known = {row["index"]: (row["thread"], row["scale"]) for row in reversed(record["shots"])}
    shots = []
    for shot in session.prepared.shots:
        letters, scale = known.get(shot.index, (None, None))
        thread = None if letters is None else thread_number(letters)
        shots.append({"index": shot.index, **times_view(shot.interval), "thread": thread, "scale": scale})
    return shots


_SOURCES = ("slots.json", "speech.json", "settings.json", "stage1.jsonl", "screen.json")
"""Files of the work folder that lines are checked by."""

_LOG = logging.getLogger(__name__)

PAUSE = 0.5
"""Seconds without a change after which lines are checked."""

FIRST = 1.5
"""The same at the beginning: a page that is just opened comes first."""


def finding_view(finding: Finding) -> dict[str, Any]:
    """A finding as the page shows it."""
    return {
        "rule": finding.rule,
        "title": title_of(finding.rule),
        "level": finding.level.value,
        "text": finding.message,
        "hint": hint_of(finding.rule),
    }


class Findings:
    """Findings of all lines, kept up to date. Safe in threads; `close` ends the one that it has."""

    def __init__(self, session: Session, tabs: Tabs, *, pause: float = PAUSE, first: float = FIRST) -> None:
        """``pause`` is as `PAUSE`; ``first`` are the seconds until lines are checked at the beginning."""
        self._session, self._tabs = session, tabs
        self._lines: Mapping[str, tuple[Finding, ...]] = {}
        self.version = 0
        # What lines are checked by, and the state of the files that it comes from
        self._known: tuple[tuple[Signature, ...], Material] | None = None
        self._checker: Checker | None = None
        self.foresee: Callable[[Track], Sequence[Finding]] | None = None
        """What a render would leave unspoken (`Hearing.foresee`); None where there is no film to render."""
        self._again = Again()
        self._later = WhenQuiet(self._look, pause, "findings")
        self.update(first)

    def of(self, line_id: str) -> tuple[Finding, ...]:
        """What is wrong with a line, as far as it is known by now."""
        return self._lines.get(line_id, ())

    def summary(self) -> Json:
        """``done``: whether there is no more to come until something changes; ``version``: how often news
        were told, lines that are read after it hold all of them."""
        version = self.version
        return {"done": version > 0 and not self._later.is_due, "version": version}

    def update(self, pause: float | None = None) -> None:
        """Have all lines checked, for something has changed."""
        self._later.ask(pause)

    def settle(self, timeout: float = 60.0) -> bool:
        """Wait until lines were checked since the last change; False where that took too long."""
        return self._later.settle(timeout)

    def close(self) -> None:
        """Look at nothing any more."""
        self._later.close()

    def _look(self) -> None:
        """Check all lines, and tell of which something else is found than before."""
        session, config, before = self._session, self._session.config, self._lines
        try:
            folder, track = session.folder, session.track
            state = signatures(folder / name for name in _SOURCES)
            if self._known is None or self._known[0] != state:
                self._known = (state, track_material(track, folder)[0])
            checker = self._checker = self._checker or Checker.of(config.lint, config.fit, config.slots)
            slots = {slot.id: slot.interval for slot in session.prepared.slots}
            material = replace(self._known[1], lines=lines_of_track(track, slots))
            each = self._again.of(material, checker)
            extra = kept_findings(folder, track)
            if self.foresee is not None:
                # What lines would come to now goes before what they came to in the last render.
                foreseen = self.foresee(track)
                lost = {one.cue_id for one in foreseen if one.level is Level.ERROR}
                each = tuple(one for one in each if one.rule != "T4" or one.cue_id not in lost)
                extra = (*(one for one in extra if one.rule != "T4"), *foreseen)
            found: dict[str, tuple[Finding, ...]] = {}
            for one in lint(material, checker, extra=extra, folder=folder, each=each).findings:
                if one.cue_id is not None:
                    found[one.cue_id] = (*found.get(one.cue_id, ()), one)
            self._lines = found
        except ShotadError as error:
            _LOG.warning("The lines cannot be checked: %s", error)
        except Exception:  # noqa: BLE001  whatever a rule stumbles over, the page goes on
            _LOG.exception("The lines cannot be checked")
        self.version += 1
        changed = [name for name in {**before, **self._lines} if before.get(name) != self._lines.get(name)]
        lines = {name: [finding_view(one) for one in self.of(name)] for name in changed}
        self._tabs.send("findings", {"lines": lines, "summary": self.summary()})
