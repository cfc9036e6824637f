"""Side files that tell players where the film stands still.

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
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shotad.core import FilmInfo, SoundError
from shotad.sound.extended.kinds import Extension
from shotad.sound.extended.timemap import TimeMap

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
