"""What the page needs of a film at its start, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.core import ShotScale, WorkFolderError, printable, read_record, thread_number
from shotad.review.editing.session import Session
from shotad.review.kinds import Json
from shotad.review.showing.board import (
    Board,
    history_view,
    progress_view,
    slot_view,
    span_view,
    times_view,
    to_the_millisecond,
)
from shotad.review.showing.engineview import engines_view
from shotad.review.showing.findings import Findings
from shotad.script import ALL_FORMATS
from shotad.sound import FILMS, MEANINGS, SOUNDS, Kind

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
    """Everything that the page needs at its start. ``jobs`` and ``cast`` are as their rooms show them; jobs
    that are not among these have versions above ``jobs_version``, or are forgotten."""
    board = Board.of(session)
    head = _without_lines(session, board, findings, playable, voice, (jobs, jobs_version), cast)
    return {**head, "lines": [board.line(cue, findings) for cue in board.scene.track.cues]}


def film_text(
    session: Session,
    *,
    findings: Findings,
    playable: Json,
    voice: Json,
    jobs: Sequence[Json] = (),
    jobs_version: int = 0,
    cast: Sequence[Json] = (),
) -> str:
    """`film_view` as JSON. Lines that are as they were when it was last asked for are not encoded anew."""
    board = Board.of(session)
    head = _without_lines(session, board, findings, playable, voice, (jobs, jobs_version), cast)
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":"))
    return f'{text[:-1]},"lines":[{_lines_text(board, findings)}]}}'


def lines_text(session: Session, findings: Findings) -> str:
    """The lines as `film_text` has them; the next one is ready sooner."""
    return _lines_text(Board.of(session), findings)


def _lines_text(board: Board, findings: Findings) -> str:
    return ",".join(board.line_text(cue, findings) for cue in board.scene.track.cues)


def _without_lines(
    session: Session,
    board: Board,
    findings: Findings,
    playable: Json,
    voice: Json,
    jobs: tuple[Sequence[Json], int],
    cast: Sequence[Json],
) -> dict[str, Any]:
    track, prepared, film = board.scene.track, board.prepared, session.film
    by_hand = {slot.id for slot in prepared.added}
    return {
        "version": __version__,
        "film": {
            "name": printable(film.name),
            "title": printable(Path(film.name).stem),
            "duration": to_the_millisecond(prepared.end),
            "frame_rate": float(film.frame_rate or Fraction(25)),
            "has_sound": bool(film.audio),
        },
        "language": track.language,
        "reviewer": session.reviewer,
        "playable": dict(playable),
        "voice": dict(voice),
        "shots": shots_view(session),
        "speech": [
            {
                "start": to_the_millisecond(u.interval.start),
                "end": to_the_millisecond(u.interval.end),
                "kind": u.kind.value,
            }
            for u in prepared.speech
        ],
        "slots": [slot_view(slot, by_hand) for slot in prepared.slots],
        "free": [span_view(gap) for gap in prepared.gaps],
        "progress": progress_view(track),
        "history": history_view(session),
        "findings": findings.summary(),
        "revision": session.revision,
        "jobs": [dict(job) for job in jobs[0]],
        "jobs_version": jobs[1],
        "formats": formats_view(),
        "makes": makes_view(),
        "engines": engines_view(session.config),
        "cast": [dict(person) for person in cast],
    }


def formats_view() -> list[dict[str, Any]]:
    """The formats of a script; ``ready`` whether they can be written here, else ``why`` they cannot."""
    return [
        {"name": name, "title": FORMAT_TITLES.get(name, name), "ready": not why, "why": why}
        for name in ALL_FORMATS
        for why in [_missing(name)]
    ]


def _missing(name: str) -> str:
    module, package = _PACKAGES.get(name, ("", ""))
    if not module or find_spec(module) is not None:
        return ""
    return f'Needs {package}: pip install "shotad[documents]".'


def shots_view(session: Session) -> list[dict[str, Any]]:
    """The shots with their threads, counted from 0, and their scales, as film grammar was read."""
    known = _grammar(session.folder / "grammar.json")
    return [
        {
            "index": shot.index,
            **times_view(shot.interval),
            **known.get(shot.index, _UNREAD),
        }
        for shot in session.prepared.shots
    ]


_UNREAD: Json = {"thread": None, "scale": None}


def _grammar(path: Path) -> dict[int, Json]:
    """Thread and scale by shot; empty where film grammar was not read, or its record is damaged."""
    try:
        record = read_record(path)
    except WorkFolderError:
        return {}
    return {row["index"]: _grammar_view(row) for row in reversed(record["shots"])} if record else {}


def _grammar_view(row: Json) -> Json:
    letters, scale = row.get("thread"), row.get("scale")
    return {
        "thread": None if letters is None else thread_number(letters),
        "scale": None if scale is None else ShotScale(scale).value,
    }


def makes_view() -> list[dict[str, Any]]:
    """What can be rendered, and into which files."""
    return [
        {"kind": kind.value, "title": MEANINGS[kind], "endings": list(FILMS if kind.is_film else SOUNDS)}
        for kind in Kind
    ]
