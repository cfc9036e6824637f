"""What the page shows of a film and of its lines, as JSON values."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from shotad import __version__
from shotad.config import Config
from shotad.plan.slots import word_budget
from shotad.prepare import Prepared
from shotad.rendering.wanted import FILMS, MEANINGS, SOUNDS, Kind
from shotad.review.editing.acts_slots import SlotsChanged
from shotad.review.editing.scene import Scene, room_of
from shotad.review.editing.session import Session, stamp_of
from shotad.review.kinds import Done, Json
from shotad.review.showing.engineview import engines_view
from shotad.review.showing.findings import Findings, finding_view
from shotad.script.cue import Cue, LineState, count_words, milliseconds
from shotad.script.pace import Budget, budget_in, spoken_words
from shotad.script.text import ALL_FORMATS
from shotad.script.track import Track
from shotad.threadnames import thread_number
from shotad.types import Interval, ShotScale, Slot

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
    "hls": "HLS: tells streaming players of the description",
    "dash": "DASH: tells streaming players of the description",
}
"""What a format is for, in a few words."""


@dataclass(frozen=True, slots=True)
class Board:
    """A track made ready for being shown. ``shown`` is what was shown of lines that are still the same
    objects, by id; it goes from one board of a session to the next."""

    config: Config
    scene: Scene
    prepared: Prepared
    shown: dict[str, tuple[Cue, dict[str, Any]]]

    @staticmethod
    def of(session: Session) -> Board:
        """The board of what a session has now."""
        old, prepared = _BOARDS.get(session), session.prepared
        if old is not None and old.scene.track is session.track and old.prepared is prepared:
            return old
        known = old.shown if old is not None and old.prepared is prepared else {}
        scene = session.scene()
        board = Board(
            session.config, scene, prepared, {n: one for n, one in known.items() if n in scene.cues}
        )
        _BOARDS[session] = board
        return board

    def allowed(self, cue: Cue) -> Budget:
        """How long the line may be: its slot's words; of a line without one those of its own time."""
        slot = self.scene.slots.get(cue.slot_id or "")
        words = slot.max_words if slot else word_budget(cue.interval.duration, self.config.slots)
        return budget_in(cue.language, words)

    def seconds(self, cue: Cue) -> float | None:
        """How long the line takes to say: as it was spoken, else as words are reckoned; None: it has none."""
        spoken = cue.spoken
        if spoken is not None and spoken.interval is not None:
            return spoken.interval.duration - spoken.pause
        words = spoken_words(cue.text, cue.language)
        return words * self.config.slots.seconds_per_word if words else None

    def line(self, cue: Cue, findings: Findings) -> dict[str, Any]:
        """One line as the page shows it."""
        known = self.shown.get(cue.id)
        if known is None or known[0] is not cue:
            known = self.shown[cue.id] = (cue, self._by_itself(cue))
        room = room_of(self.scene, cue)
        return {
            **known[1],
            "room": None if room is None else _span(room),
            "room_seconds": _rounded(None if room is None else max(0.0, room.end - cue.interval.start)),
            "findings": [finding_view(found) for found in findings.of(cue.id)],
        }

    def _by_itself(self, cue: Cue) -> dict[str, Any]:
        """All of a line that depends on no other."""
        allowed, review = self.allowed(cue), cue.review
        return {
            "id": cue.id,
            "stamp": stamp_of(cue),
            "start": _ms(cue.interval.start),
            "end": _ms(cue.interval.end),
            "text": cue.text,
            "kind": cue.kind.value,
            "language": cue.language,
            "status": cue.status.value,
            "heard": cue.heard,
            "reason": cue.reason,
            "state": cue.state.value,
            "by": review.by if review is not None else "",
            "slot": cue.slot_id if cue.slot_id in self.scene.slots else None,
            "words": words_in(cue.text, allowed),
            "allowed": allowed.number,
            "unit": allowed.unit,
            "seconds": _rounded(self.seconds(cue)),
            "candidates": list(cue.candidates),
            "chosen": cue.chosen,
            "fit_steps": list(cue.fit_steps),
            "spoken": _spoken(cue),
            "machine": _machine(cue),
            "hold": [] if cue.edited is None else [field.value for field in cue.edited.fields],
        }


_BOARDS: WeakKeyDictionary[Session, Board] = WeakKeyDictionary()
"""The last board of each session: what is shown of most lines stays as it was."""


def film_view(
    session: Session,
    *,
    findings: Findings,
    playable: Json,
    voice: Json,
    jobs: Sequence[Json] = (),
    cast: Sequence[Json] = (),
) -> dict[str, Any]:
    """Everything that the page needs at its start. ``jobs`` and ``cast`` are as their rooms show them."""
    board, track, prepared, film = Board.of(session), session.track, session.prepared, session.film
    by_hand = {slot.id for slot in prepared.added}
    return {
        "version": __version__,
        "film": {
            "name": film.name,
            "title": Path(film.name).stem,
            "duration": _ms(prepared.end),
            "frame_rate": float(film.frame_rate or Fraction(25)),
            "has_sound": bool(film.audio),
        },
        "language": track.language,
        "reviewer": session.reviewer,
        "playable": dict(playable),
        "voice": dict(voice),
        "shots": shots_view(session),
        "speech": [
            {"start": _ms(u.interval.start), "end": _ms(u.interval.end), "kind": u.kind.value}
            for u in prepared.speech
        ],
        "slots": [slot_view(slot, by_hand) for slot in prepared.slots],
        "free": [_span(gap) for gap in prepared.gaps],
        "lines": [board.line(cue, findings) for cue in track.cues],
        "progress": progress_view(track),
        "history": history_view(session),
        "findings": findings.summary(),
        "revision": session.revision,
        "jobs": [dict(job) for job in jobs],
        "formats": [{"name": name, "title": FORMAT_TITLES.get(name, name)} for name in ALL_FORMATS],
        "makes": makes_view(),
        "engines": engines_view(session.config),
        "cast": [dict(person) for person in cast],
    }


def line_view(session: Session, cue: Cue, findings: Findings) -> dict[str, Any]:
    """One line as the page shows it; of several lines `Board.line` spares the making ready."""
    return Board.of(session).line(cue, findings)


def changed_view(session: Session, done: Done, findings: Findings) -> dict[str, Any]:
    """What a change came to: the lines that changed, and their neighbours, whose room it changes."""
    change, track = done.change, session.track
    touched = {cue.id for cue in change.cues}
    board = Board.of(session)
    by_hand = {slot.id for slot in session.prepared.added}
    view: dict[str, Any] = {
        "revision": done.revision,
        "said": change.said,
        "lines": [board.line(cue, findings) for cue in _with_neighbours(track, touched, change.gone)],
        "gone": list(change.gone),
        "focus": change.focus,
        "progress": progress_view(track),
        "history": history_view(session),
        "origin": done.origin,
    }
    if isinstance(change, SlotsChanged):
        view["slots"] = [slot_view(slot, by_hand) for slot in session.prepared.slots]
    return view


def conflict_view(session: Session, ids: Iterable[str], findings: Findings) -> list[dict[str, Any]]:
    """These lines as they are now, those that are there."""
    board, wanted = Board.of(session), set(ids)
    return [board.line(cue, findings) for cue in session.track.cues if cue.id in wanted]


def progress_view(track: Track) -> dict[str, Any]:
    """How far the review has come; ``lines`` counts those that are heard, ``dropped`` all others."""
    heard = track.heard
    states = [cue.state for cue in heard]
    people = dict.fromkeys(cue.review.by for cue in heard if cue.review is not None and cue.review.by)
    return {
        "lines": len(heard),
        **{state.value: states.count(state) for state in LineState},
        "dropped": len(track.cues) - len(heard),
        "by": list(people),
    }


def history_view(session: Session) -> dict[str, str | None]:
    """What an undo and a redo would take back and do again."""
    return {"undo": session.undo_label, "redo": session.redo_label}


def shots_view(session: Session) -> list[dict[str, Any]]:
    """The shots with their threads, counted from 0, and their scales, as film grammar was read."""
    known = _grammar(session.folder / "grammar.json")
    return [
        {
            "index": shot.index,
            "start": _ms(shot.interval.start),
            "end": _ms(shot.interval.end),
            **known.get(shot.index, _UNREAD),
        }
        for shot in session.prepared.shots
    ]


_UNREAD: Json = {"thread": None, "scale": None}


def _grammar(path: Path) -> dict[int, Json]:
    """Thread and scale by shot; empty where film grammar was not read, or its record is damaged."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["shots"]
        return {int(row["index"]): _grammar_view(row) for row in reversed(rows)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _grammar_view(row: Json) -> Json:
    letters, scale = row.get("thread"), row.get("scale")
    return {
        "thread": None if letters is None else thread_number(letters),
        "scale": None if scale is None else ShotScale(scale).value,
    }


def slot_view(slot: Slot, by_hand: Container[str]) -> dict[str, Any]:
    """A slot; ``by_hand`` are the ids of those that a person added."""
    return {
        "id": slot.id,
        "start": _ms(slot.interval.start),
        "end": _ms(slot.interval.end),
        "words": slot.max_words,
        "by_hand": slot.id in by_hand,
    }


def makes_view() -> list[dict[str, Any]]:
    """What can be rendered, and into which files."""
    return [
        {"kind": kind.value, "title": MEANINGS[kind], "endings": list(FILMS if kind.is_film else SOUNDS)}
        for kind in Kind
    ]


def words_in(text: str, allowed: Budget) -> int:
    """How long a text is, in the unit in which its length is limited: words, or characters."""
    return count_words(text) if allowed.unit == "word" else sum(char.isalnum() for char in text)


def _with_neighbours(track: Track, touched: Container[str], gone: Sequence[str]) -> list[Cue]:
    """The lines ``touched``, and those that are heard just before and after them and after lines that are
    gone, in order of time."""
    cues = track.cues
    places = [place for place, cue in enumerate(cues) if cue.id in touched]
    wanted: set[int | None] = set(places)
    # An id tells where a line began: nothing else is known of one that is gone.
    starts = [cue.interval.start for cue in cues] if gone else []
    around = [(at - 1, at + 1) for at in places]
    around += [(at - 1, at) for name in gone for at in [bisect_left(starts, int(name[1:]) / 1000)]]
    for before, after in around:
        wanted.add(next((at for at in range(before, -1, -1) if cues[at].heard), None))
        wanted.add(next((at for at in range(after, len(cues)) if cues[at].heard), None))
    return [cues[at] for at in sorted(at for at in wanted if at is not None)]


def _spoken(cue: Cue) -> dict[str, Any] | None:
    made = cue.spoken
    if made is None:
        return None
    at = None if made.interval is None else _span(made.interval)
    return {"at": at, "text": made.text, "speed": made.speed, "steps": list(made.steps)}


def _machine(cue: Cue) -> dict[str, Any] | None:
    """The machine's own version, where a person has another."""
    own = cue.edited.machine if cue.edited is not None else None
    if own is None:
        return None
    return {
        "start": _ms(own.interval.start),
        "end": _ms(own.interval.end),
        "text": own.text,
        "status": own.status.value,
        "reason": own.reason,
    }


def _span(time: Interval) -> list[float]:
    return [_ms(time.start), _ms(time.end)]


def _ms(seconds: float) -> float:
    """To the millisecond, as tracks have it."""
    return milliseconds(seconds) / 1000


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)
