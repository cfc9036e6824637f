"""What metrics share: settings, what is kept from earlier runs, and models that are loaded once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

from shotad.core import Config, MeasureSettings, NoProgress, Progress
from shotad.evaluation.measure.store import Store

T = TypeVar("T")


@dataclass(slots=True)
class Bench:
    """``store`` keeps what was computed of texts, between metrics and between runs. ``once`` makes what
    several metrics use (a parser, an embedder, an engine) when the first of them asks."""

    config: Config
    store: Store
    progress: Progress = field(default_factory=NoProgress)
    _made: dict[str, object] = field(default_factory=dict)

    @property
    def settings(self) -> MeasureSettings:
        """Those of the metrics."""
        return self.config.measures

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What ``make`` gives, made once in this run under this name."""
        if name not in self._made:
            self._made[name] = make()
        return cast("T", self._made[name])
