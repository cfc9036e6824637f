"""A track to translate, and engines that translate it, well and badly."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shotad.core import (
    Interval,
    Request,
    Slot,
)
from shotad.core.types import slot_id
from shotad.engines.fake import FakeEngine
from shotad.script import (
    Cue,
    CueStatus,
    Maker,
    Track,
)
from shotad.script.track import FilmId

GERMAN: Mapping[str, str] = {
    "Ann opens the door.": "Ann öffnet die Tür.",
    'A sign says "Exit".': "Auf einem Schild steht „Ausgang“.",
    "He runs, stumbles and falls.": "Er rennt, stolpert und stürzt.",
    "Rain falls on the roofs of the town.": "Regen fällt auf die Dächer der Stadt.",
    "They sit down by the fire.": "Sie setzen sich ans Feuer.",
}
LINES = tuple(GERMAN)
IDS = tuple(f"s{second:05d}000" for second in (10, 20, 30, 40, 50))


def track_of(lines: Sequence[str] = LINES) -> Track:
    """Lines at 10, 20, 30 … seconds, each half a second a word, and one slot that stayed silent."""
    cues = [
        Cue(slot_id(at), slot_id(at), Interval(at, at + 0.375 * len(text.split())), text)
        for at, text in zip(itertools.count(10.0, 10.0), lines, strict=False)
    ]
    silent = Cue(
        "s99000000", "s99000000", Interval(990.0, 995.0), "", status=CueStatus.SILENT, reason="nothing"
    )
    makers = (Maker("Stage II", "openai", "tiny"),)
    return Track(FilmId("movie.mp4", "f1", 1000.0), "en", makers, "1", (*cues, silent))


def slots_of(track: Track, seconds: float = 5.0) -> tuple[Slot, ...]:
    """A slot of so many seconds for each line that is heard."""
    words = int(seconds / 0.375 + 1e-9)
    return tuple(
        Slot(cue.id, Interval(cue.interval.start, cue.interval.start + seconds), words) for cue in track.heard
    )


def asked(request: Request) -> dict[str, str]:
    """The lines of a request by id, as the prompt has them."""
    rows = [json.loads(row) for row in request.messages[-1].text.splitlines() if row.startswith('{"id"')]
    return {row["id"]: row["line"] for row in rows}


def german(request: Request) -> str:
    """Translates what it knows."""
    return json.dumps({name: GERMAN[line] for name, line in asked(request).items()}, ensure_ascii=False)


def with_first(**changes: Any) -> Track:
    """The track with its first line changed."""
    first, *rest = track_of().cues
    return replace(track_of(), cues=(replace(first, **changes), *rest))


class Translator(FakeEngine):
    """Answers each request by the next of ``acts``, the last for ever; keeps the requests."""

    def __init__(self, *acts: Callable[[Request], str]) -> None:
        super().__init__(answer=self._next)
        self.requests: list[Request] = []
        self._acts = acts or (german,)

    def _next(self, request: Request) -> str:
        self.requests.append(request)
        return self._acts[min(len(self.requests), len(self._acts)) - 1](request)

    @property
    def asked(self) -> list[list[str]]:
        """The ids that each request asked for."""
        return [list(asked(request)) for request in self.requests]


def saying(change: Callable[[dict[str, str]], object]) -> Callable[[Request], str]:
    """A translation with something changed in it."""

    def answer(request: Request) -> str:
        said = json.loads(german(request))
        change(said)
        return json.dumps(said, ensure_ascii=False)

    return answer


def complaints(request: Request) -> str:
    """What a prompt says was wrong before."""
    found = re.search(r"this was wrong:\n(.*?)\nTranslate them anew", request.messages[-1].text, re.DOTALL)
    return found[1] if found else ""
