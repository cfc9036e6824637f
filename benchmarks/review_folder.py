"""A described film of any number of lines, for measuring the review page: made in seconds, without a
model."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from shotad.core import (
    Config,
    Given,
    Interval,
    Shot,
    Slot,
    Utterance,
    WorkFolder,
    shot_rows,
    slot_id,
    slot_rows,
    utterance_rows,
    write_settings,
)
from shotad.film import open_film
from shotad.script import Cue, CueStatus, FilmId, Maker, Provenance, Track, save_track

EVERY = 6.0
"""Seconds from line to line; people speak in the last two of them."""
SHOTS = 1.5
"""Shots for each line."""
LINES = (
    "She opens the old door, and a lamp goes out.",
    "Rain falls on the empty street.",
    "A tall man in a grey coat walks past the burning house.",
    "Close by, a person looks up.",
    "He turns away.",
    "Two children run along the beach towards a small boat.",
    "On the wall hangs a photograph of a soldier.",
)
_PALE = (96, 64)


def make_review_folder(place: Path, lines: int, candidates: int = 5) -> Path:
    """A film ``lines`` * `EVERY` seconds long in ``place``, and its work folder; the work folder."""
    film = place / "film.mp4"
    if not film.exists():
        _write_film(film, lines * EVERY)
    with open_film(film) as opened:
        info = opened.info
    slots = [_slot(i) for i in range(lines)]
    maker = (Maker("stage1", "bench"), Maker("stage2", "bench"))
    cues = [_cue(i, slot, candidates, maker) for i, slot in enumerate(slots)]
    count = round(lines * SHOTS)
    length = info.duration / count
    shots = [Shot(i, Interval(i * length, (i + 1) * length)) for i in range(count)]
    said = [Utterance(Interval(slot.interval.end, slot.interval.end + 1.6), "words") for slot in slots]
    with WorkFolder(place / "film.shotad") as folder:
        write_settings(folder, Config(), film, Given())
        cuts = [round(shot.interval.start) for shot in shots[1:]]
        folder.write_json("shots.json", {"end": info.duration, "shots": shot_rows(shots, cuts)})
        folder.write_json("speech.json", {"key": "k", "speech": utterance_rows(said)})
        folder.write_json("slots.json", {"slots": slot_rows(slots)})
        track = Track(FilmId(film.name, info.fingerprint, info.duration), "en", maker, "0.1.0", tuple(cues))
        save_track(track, folder.path, film.name)
        return folder.path


def _slot(number: int) -> Slot:
    start = number * EVERY + 0.2
    return Slot(slot_id(start), Interval(start, start + 4.0), 10)


def _cue(number: int, slot: Slot, candidates: int, makers: tuple[Maker, ...]) -> Cue:
    said = tuple(f"{LINES[(number + i) % len(LINES)]}" for i in range(candidates))
    span = Interval(slot.interval.start, slot.interval.start + 3.2)
    made = Provenance(makers, "0123456789abcdef", number)
    status = CueStatus.SHORTENED if number % 9 == 0 else CueStatus.PLACED
    reason = "a clause was left out" if status is CueStatus.SHORTENED else ""
    return Cue(
        slot.id, slot.id, span, said[0], status=status, reason=reason, candidates=said, chosen=0,
        spoken_length=3.2, provenance=made,
    )  # fmt: skip


def _write_film(path: Path, seconds: float) -> None:
    """A small picture once a second, and silence."""
    width, height = _PALE
    unfinished = path.with_suffix(".part.mp4")
    with av.open(str(unfinished), "w") as out:
        video: Any = out.add_stream("libx264", rate=1)
        video.width, video.height, video.pix_fmt = width, height, "yuv420p"
        video.options = {"preset": "ultrafast", "g": "10"}
        audio: Any = out.add_stream("aac", rate=8000, layout="mono")
        quiet = np.zeros((1, 8000), np.float32)
        for second in range(round(seconds)):
            shade = np.full((height, width, 3), second * 7 % 256, np.uint8)
            out.mux(
                video.encode(av.VideoFrame.from_ndarray(shade, format="rgb24").reformat(format="yuv420p"))
            )
            sound = av.AudioFrame.from_ndarray(quiet, format="fltp", layout="mono")
            sound.sample_rate, sound.pts, sound.time_base = 8000, second * 8000, Fraction(1, 8000)
            out.mux(audio.encode(sound))
        out.mux(video.encode())
        out.mux(audio.encode())
    unfinished.rename(path)
