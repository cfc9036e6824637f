"""A session on a described folder that needs no film: records and lines of our own."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.core import (
    AudioTrack,
    Config,
    FilmInfo,
    Given,
    Interval,
    Shot,
    Slot,
    Utterance,
    WorkFolder,
    load_config,
    read_settings,
    shot_rows,
    slot_id,
    slot_rows,
    utterance_rows,
    write_settings,
)
from shotad.film import word_budget
from shotad.review.session import Session
from shotad.script import Cue, FilmId, Track, save_track

END = 60.0

LINES: Mapping[float, str] = {
    1.0: "A cat sleeps by the window.",
    9.0: "She opens the old door.",
    20.0: "Rain falls on the empty street.",
}

SPEECH = (
    Utterance(Interval(6.0, 8.0), "Where is the key to the garden?"),
    Utterance(Interval(30.0, 33.0), "I left it on the table."),
)


class Tabs:
    """A hub that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Mapping[str, Any]]] = []

    def tell(self, kind: str, data: Mapping[str, Any]) -> None:
        self.told.append((kind, data))

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        return [data for name, data in self.told if name == kind]


def film_info(place: Path) -> FilmInfo:
    sound = AudioTrack(0, "eng", None, "aac", 2, "stereo", 48000, default=True)
    return FilmInfo(
        "a film.mp4", place.parent / "a film.mp4", "f" * 32, END, 640, 360, Fraction(25), None, "h264",
        Fraction(0), audio=(sound,),
    )  # fmt: skip


def planned(lines: Mapping[float, str], config: Config) -> tuple[Slot, ...]:
    times = (Interval(at, at + 4) for at in sorted(lines))
    return tuple(Slot(slot_id(time.start), time, word_budget(time.duration, config.slots)) for time in times)


def cues_of(lines: Mapping[float, str], language: str = "en") -> tuple[Cue, ...]:
    return tuple(
        Cue(
            slot_id(at), slot_id(at), Interval(at, at + 2.5), text,
            candidates=(text, "Another line."), chosen=0, language=language,
        )
        for at, text in sorted(lines.items())
    )  # fmt: skip


def grammar_row(
    index: int, middle: float, thread: str | None = None, scale: str | None = None
) -> dict[str, Any]:
    """What ``grammar.json`` says of a shot."""
    moments = dict.fromkeys(("first", "quarter", "middle", "three_quarters", "last"), middle)
    return {"index": index, **moments, "thread": thread, "scale": scale, "probabilities": None}


def grammar_record(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The content of ``grammar.json``."""
    made = {"features": "grid:1", "threshold": 0.3, "scale_method": None}
    return {"key": "k", **made, "shots": rows, "pairs": []}


def make_folder(
    place: Path,
    *settings: str,
    lines: Mapping[float, str] = LINES,
    cues: tuple[Cue, ...] | None = None,
    speech: tuple[Utterance, ...] = SPEECH,
) -> Path:
    """A folder as a run would leave it."""
    config, info = load_config(None, settings), film_info(place)
    shots = tuple(Shot(i, Interval(i * 10.0, i * 10.0 + 10)) for i in range(6))
    grammar = [grammar_row(i, 10.0 * i + 5, "B" if i in (1, 3) else None, "medium") for i in range(5)]
    with WorkFolder(place) as folder:
        write_settings(folder, config, info.path, Given())
        folder.write_json("shots.json", {"end": END, "shots": shot_rows(shots, (1, 2, 3, 4, 5))})
        folder.write_json("speech.json", {"source": "subtitles", "speech": utterance_rows(speech)})
        folder.write_json("slots.json", {"key": "k", "slots": slot_rows(planned(lines, config))})
        folder.write_json("grammar.json", grammar_record(grammar))
        own = cues if cues is not None else cues_of(lines, config.language)
        film = FilmId(info.name, info.fingerprint, END)
        save_track(Track(film, config.language, (), "0.1.0", ()).with_cues(own), place, info.name)
    return place


def open_session(place: Path, hub: Tabs | None = None, reviewer: str = "") -> Session:
    return Session(place, film_info(place), read_settings(place), reviewer=reviewer, hub=hub)
