"""What a file of predictions holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from shotad.evaluation.datasets.ads import Finding


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a system says for one AD. ``text`` None: it failed, ``failure`` says why. ``description`` is
    Stage I's text, ``candidates`` all lines that were offered, ``scale`` the effective shot scale,
    ``threaded`` whether the clip has a thread."""

    id: str
    text: str | None
    failure: str = ""
    candidates: tuple[str, ...] = ()
    description: str | None = None
    scale: float | None = None
    threaded: bool | None = None


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """A prediction where it stands, and what else the file tells of its AD.

    ``prediction.id`` is empty in a file without ids. ``start`` and ``end`` are seconds as the file has them;
    ``reference`` is the human AD that the file repeats.
    """

    where: str
    prediction: Prediction
    film: str = ""
    clip: str = ""
    start: float | None = None
    end: float | None = None
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Predictions:
    """A file's predictions. ``columns`` says under which name each kind of thing stood."""

    paths: tuple[Path, ...]
    rows: tuple[PredictionRow, ...]
    columns: dict[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def name(self) -> str:
        """The files' names, for messages."""
        return ", ".join(path.name for path in self.paths)
