"""From seconds of the film to seconds of the copy that pauses, and the side files that tell players of
the pauses.

`pauses.json` (`PausesFile`) says all that is known. `pauses_vtt` is for players that pause the original film
by themselves and play the spoken lines beside it: a WebVTT track of ``kind="metadata"`` on the film's own
time, whose cues are JSON on one line, ``{"pause": 2.5, "line": "s00012300", "starts": 11.9}``: when a cue
comes up, pause for so many seconds; the line's own sound begins at film second ``starts``.

Able Player knows no such file: its metadata tracks know only ``pause`` without an end. It takes extended AD
as a second film, named by ``data-desc-src`` beside the original (the described copy serves there), or pauses
for each cue of a descriptions track that it reads aloud itself (``data-desc-pause-default="true"``).
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shotad.core import FilmInfo, Interval, SoundError
from shotad.sound.kinds import Fitting, Spoken
from shotad.sound.pauses import Extension, Pause


@dataclass(frozen=True, slots=True)
class TimeMap:
    """Film time and the time of the copy. ``pauses`` ascend; several may be at one second.

    A second of the film is one of the copy, but for that of a pause, which is a stretch of it: `early` is
    where the stretch begins and `late` where it ends. With 2 s of pause at 10 s: ``early(10) = 10``,
    ``late(10) = 12``, both take 9 to 9 and 11 to 13; `film` takes 10, 11 and 12 to 10, and 13 to 11.
    """

    pauses: tuple[Pause, ...] = ()

    def __post_init__(self) -> None:
        seconds = [pause.at for pause in self.pauses]
        if seconds != sorted(seconds):
            raise ValueError(f"pauses must ascend, got {seconds}")

    @property
    def total(self) -> float:
        """Seconds of all pauses together."""
        return self._waited(len(self.pauses))

    def early(self, second: float) -> float:
        """Where a film second is reached: for ends of what is shown or heard."""
        return second + self._waited(bisect_left(self.pauses, second, key=_at))

    def late(self, second: float) -> float:
        """Where the film goes on from a second: for starts, and for all that the film itself holds."""
        return second + self._waited(bisect_right(self.pauses, second, key=_at))

    def interval(self, interval: Interval) -> Interval:
        """What stretches over a pause lasts through it; what ends or begins at one does not."""
        return Interval(self.late(interval.start), self.early(interval.end))

    def pause(self, number: int) -> Interval:
        """Pause ``number`` on the copy's time."""
        start = self._begins()[number]
        return Interval(start, start + self.pauses[number].length)

    def line(self, line: Spoken) -> Spoken:
        """A line on the copy's time; it sounds there in one piece, and asks for no pause any more.

        One with a pause of its own begins as far from the pause's beginning as it does from `pause_at` on
        film time.
        """
        number = next((i for i, pause in enumerate(self.pauses) if pause.cue_id == line.id), None)
        if number is None or not line.pause:
            return replace(line, start=self.late(line.start), pause=0.0, pause_at=0.0)
        start = self._begins()[number] + (line.start - self.pauses[number].at)
        return replace(line, start=start, pause=0.0, pause_at=0.0)

    def fitting(self, fitting: Fitting) -> Fitting:
        """All lines on the copy's time, where they ascend and do not overlap."""
        moved = sorted((self.line(line) for line in fitting.spoken), key=lambda line: line.start)
        return Fitting(tuple(moved), fitting.unspoken)

    def _waited(self, count: int) -> float:
        """Seconds of the first ``count`` pauses."""
        return sum(pause.length for pause in self.pauses[:count])

    def _begins(self) -> list[float]:
        waited = accumulate((pause.length for pause in self.pauses), initial=0.0)
        return [pause.at + before for pause, before in zip(self.pauses, waited, strict=False)]


def _at(pause: Pause) -> float:
    return pause.at


_SHOWN = 0.5
"""Seconds for which a cue stays up, so that a player that looks four times a second sees it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FilmPart(_Part):
    """The film that pauses."""

    name: str
    fingerprint: str = Field(description="of the film's content, 32 hex digits")
    duration: float = Field(ge=0, description="seconds")


class PausePart(_Part):
    """One pause. Seconds of the original film, but for those of the copy."""

    line: str = Field(description="id of the AD line that the film waits for")
    at: float = Field(ge=0, description="film second at which the film stands still")
    length: float = Field(gt=0, description="seconds for which it does")
    starts: float = Field(
        ge=0,
        description="film second at which the line's sound begins; after `at`: so much into the pause",
    )
    spoken: float = Field(gt=0, description="seconds that the line's sound lasts")
    copy_start: float = Field(ge=0, description="second of the copy at which the pause begins")
    copy_end: float = Field(gt=0, description="second of the copy at which the film goes on")
    copy_starts: float = Field(ge=0, description="second of the copy at which the line's sound begins")
    text: str


class PausesFile(_Part):
    """What `pauses.json` holds. ``PausesFile.model_json_schema()`` is its JSON schema."""

    schema_version: Literal[1] = 1
    film: FilmPart
    copy_duration: float = Field(ge=0, description="seconds of the film with its pauses")
    language: str = Field(description="of the lines, BCP 47")
    voice: str
    pauses: tuple[PausePart, ...]


def pauses_file(info: FilmInfo, extension: Extension, language: str, voice: str) -> PausesFile:
    """The pauses of a film, in its order."""
    times = TimeMap(extension.pauses)
    by_id = {line.id: line for line in extension.fitting.spoken}
    parts = []
    for number, pause in enumerate(extension.pauses):
        line, waits = by_id[pause.cue_id], times.pause(number)
        parts.append(
            PausePart(
                line=line.id,
                at=round(pause.at, 3),
                length=round(pause.length, 3),
                starts=round(line.start, 3),
                spoken=round(line.take.seconds, 3),
                copy_start=round(waits.start, 3),
                copy_end=round(waits.end, 3),
                copy_starts=round(times.line(line).start, 3),
                text=line.text,
            )
        )
    return PausesFile(
        film=FilmPart(name=info.name, fingerprint=info.fingerprint, duration=round(info.duration, 3)),
        copy_duration=round(info.duration + times.total, 3),
        language=language,
        voice=voice,
        pauses=tuple(parts),
    )


def pauses_json(file: PausesFile) -> str:
    """The text of `pauses.json`."""
    return json.dumps(file.model_dump(), ensure_ascii=False, indent=1) + "\n"


def read_pauses(path: Path) -> PausesFile:
    """What `pauses_json` wrote. Raises SoundError."""
    try:
        return PausesFile.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise SoundError(f"The pauses in {path} cannot be read: {error}.") from None


def pauses_vtt(file: PausesFile) -> str:
    """A WebVTT metadata track on the original film's time; see the module's own words."""
    blocks = ["WEBVTT", "NOTE Pauses for extended audio description, one JSON object a cue."]
    for pause in file.pauses:
        values: Mapping[str, object] = {"pause": pause.length, "line": pause.line, "starts": pause.starts}
        words = json.dumps(values)
        blocks.append(f"{pause.line}\n{_clock(pause.at)} --> {_clock(pause.at + _SHOWN)}\n{words}")
    return "\n\n".join(blocks) + "\n"


def _clock(seconds: float) -> str:
    """``83.12 → 00:01:23.120``."""
    minutes, milliseconds = divmod(round(seconds * 1000), 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{milliseconds // 1000:02d}.{milliseconds % 1000:03d}"
