"""What the batch and its workers tell each other. Each pair has a line of its own, so that one who dies while
it speaks silences nobody else."""

from __future__ import annotations

from dataclasses import dataclass

from shotad.batch.jobs import FilmJob, FilmResult
from shotad.batch.limits import Need


@dataclass(frozen=True, slots=True)
class Take:
    """To a worker: describe this film."""

    job: FilmJob


@dataclass(frozen=True, slots=True)
class Go:
    """To a worker that waits: there is room, begin."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """To a worker that waits: there will be no room."""

    what: str
    hint: str


Order = Take | Go | Refuse | None
"""None: there is no more to do."""


@dataclass(frozen=True, slots=True)
class Wants:
    """The film is open, and its worker waits for room: `Go` or `Refuse`."""

    need: Need


@dataclass(frozen=True, slots=True)
class Begun:
    """A task of the film has begun; see `shotad.core.progress.Progress.task`."""

    number: int
    name: str
    total: float | None
    unit: str


@dataclass(frozen=True, slots=True)
class Advanced:
    """A task has got on."""

    number: int
    amount: float


@dataclass(frozen=True, slots=True)
class Ended:
    """A task has ended."""

    number: int


@dataclass(frozen=True, slots=True)
class Said:
    """A line for people."""

    text: str


@dataclass(frozen=True, slots=True)
class Came:
    """The film has ended, well or not."""

    result: FilmResult


@dataclass(frozen=True, slots=True)
class Died:
    """The worker is no more, without having said what came of its film. ``last`` is what it wrote last."""

    what: str
    hint: str
    kind: str
    last: str = ""


News = Wants | Begun | Advanced | Ended | Said | Came | Died
