"""Work folders as a run leaves them, made up: for tests of what is drawn from their records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core import Interval, slot_id, thread_name
from shotad.film import Picture
from shotad.script import Cue, CueStatus, FilmId, Maker, Track, to_json
from tests.handmade import look

SCALES = ("extreme close-up", "close-up", "medium", "full", "long", None)


@dataclass
class Made:
    """What to put into a folder. Every ``every``-th shot begins a slot with a line."""

    shots: int = 6
    length: float = 4.0
    every: int = 2
    text: str = "A dog runs over the wet road."
    overlay: str | None = "number"
    grammar: bool = True
    status: CueStatus = CueStatus.PLACED
    language: str = "en"
    notes: dict[str, Any] = field(default_factory=dict)
    frames: int = 4
    """Of each shot that is shown."""
    threads: int = 2
    """So many threads take turns: shot ``i`` belongs to thread ``i % threads``; 0: none."""

    def letters(self, shot: int) -> str | None:
        return thread_name(shot % self.threads) if self.threads and self.shots > self.threads else None


def make_folder(folder: Path, made: Made) -> Path:
    """Write the records of ``made`` and return ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    end = made.shots * made.length
    rows = [
        {"index": i, "start": i * made.length, "end": (i + 1) * made.length, "frame": i}
        for i in range(made.shots)
    ]
    _write(folder, "shots", {"film": "film.mp4", "end": end, "damage": None, "shots": rows})
    spoken = [
        {"start": r["start"] + 2.5, "end": r["start"] + 3.5, "kind": kind, "text": f"Words {r['index']}"}
        for r, kind in zip(rows, ["speech", "lyrics"] * made.shots, strict=False)
    ]
    _write(folder, "speech", {"source": "subtitles", "detail": "subtitles film.srt", "speech": spoken})
    starts = [r["start"] + 0.2 for r in rows[:: made.every]]
    slots = [{"id": slot_id(s), "start": s, "end": s + 2, "max_words": 9, "credits": False} for s in starts]
    _write(folder, "slots", {"gaps": [], "slots": slots, "failed": [], "warnings": []})
    clips = [_clip(made, k * made.every) for k in range(len(starts))]
    if made.grammar:
        _write(folder, "grammar", _grammar(made, clips))
    looks = [_look(made, slot, clip) for slot, clip in zip(slots, clips, strict=True)]
    (folder / "stage1.jsonl").write_text("".join(json.dumps(look) + "\n" for look in looks))
    cues = tuple(_cue(made, slot) for slot in slots)
    makers = (Maker("Stage I", "fake", "m1", "r1"), Maker("Stage II", "fake"))
    track = Track(FilmId("film.mp4", "f" * 32, end), made.language, makers, "0.1.0", cues)
    (folder / "track.json").write_text(to_json(track), encoding="utf-8")
    return folder


def _clip(made: Made, shot: int) -> list[tuple[int, str]]:
    around = [(shot - 1, "past"), (shot, "current"), (shot + 1, "future"), (shot + 2, "future")]
    return [(i, role) for i, role in around if 0 <= i < made.shots]


def _grammar(made: Made, clips: list[list[tuple[int, str]]]) -> dict[str, Any]:
    known = sorted({i for clip in clips for i, _ in clip})
    pairs = sorted({(a, b) for clip in clips for a, _ in clip for b, _ in clip if a < b})
    return {
        "features": "grid/1", "threshold": 0.3, "scale_method": "by-face/1",
        "shots": [
            {
                "index": i, "first": i * made.length, "quarter": (i + 0.25) * made.length,
                "middle": (i + 0.5) * made.length, "three_quarters": (i + 0.75) * made.length,
                "last": (i + 1) * made.length - 0.04, "scale": SCALES[i % len(SCALES)],
                "probabilities": None, "thread": made.letters(i),
            }
            for i in known
        ],
        "pairs": [
            [a, b, 0.512 if made.letters(a) and made.letters(a) == made.letters(b) else 0.125]
            for a, b in pairs
        ],
    }  # fmt: skip


def _look(made: Made, slot: dict[str, Any], clip: list[tuple[int, str]]) -> dict[str, Any]:
    numbers = {shot: n for n, (shot, _) in enumerate(clip)}
    threads: dict[str, list[int]] = {}
    for shot, number in numbers.items():
        if made.grammar and (letters := made.letters(shot)):
            threads.setdefault(letters, []).append(number)
    shots = [
        {
            "number": numbers[shot], "shot": shot, "role": role,
            "start": shot * made.length, "end": (shot + 1) * made.length,
            "seconds": [round((shot + (k + 0.5) / made.frames) * made.length, 6) for k in range(made.frames)],
        }
        for shot, role in clip
    ]  # fmt: skip
    scales = {str(n): SCALES[shot % 6] for shot, n in numbers.items() if made.grammar and SCALES[shot % 6]}
    return look(
        slot["id"], start=slot["start"], end=slot["end"], shots=shots, scales=scales, effective_scale=1.5,
        threads=[thread for thread in threads.values() if len(thread) > 1], factors=["face", "object"],
        maker={"engine": "fake", "model": "m1", "revision": "r1"}, overlay=made.overlay, frame_size=[252, 140],
        steps={"Main characters": "A dog.", "Actions": "It <b>runs</b> & jumps."},
        explanation="Shot 1 goes back to Shot 0.", notes=made.notes,
    )  # fmt: skip


def _cue(made: Made, slot: dict[str, Any]) -> Cue:
    heard = made.status.heard
    return Cue(
        slot["id"], slot["id"], Interval(slot["start"], slot["start"] + 1.5), made.text.strip() if heard else "",
        language=made.language, status=made.status, reason="" if heard else "nothing worth saying",
    )  # fmt: skip


@dataclass
class FakeFilm:
    """Gives a picture for each second; ``asked`` are the lists of seconds that were asked for.

    ``lost`` are seconds that it cannot give.
    """

    size: tuple[int, int] = (128, 72)
    lost: Sequence[float] = ()
    asked: list[list[float]] = field(default_factory=list)

    def pictures(self, seconds: Sequence[float]) -> Iterator[Picture]:
        self.asked.append(list(seconds))
        width, height = self.size
        y, x = np.mgrid[:height, :width]
        for second in seconds:
            if second in self.lost:
                continue
            waves = 128 + 90 * np.sin(x / 23 + second) * np.cos(y / 17 - second / 3)
            image = np.stack([waves, np.roll(waves, 9, 0), np.roll(waves, 19, 1)], -1).astype(np.uint8)
            yield Picture(second, second, image)


def _write(folder: Path, name: str, value: dict[str, Any]) -> None:
    (folder / f"{name}.json").write_text(json.dumps({"key": "k", **value}), encoding="utf-8")
