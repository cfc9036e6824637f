"""The long film of cast_film.py as the code that describes films sees it. Used by characters.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cast_actors import PHOTOS
from cast_truth import Judged, Truth, owner_of

from shotad.core import Cast, Config, Given, Member, NoProgress, WorkFolder
from shotad.description import Bench, prepare, understand
from shotad.description.cast_recognition import FaceMatcher
from shotad.film import open_film

QUIET = {"threads": {"features": "none"}, "scale": {"method": "none"}}
"""Film grammar has no part in who somebody is."""


@dataclass(frozen=True)
class Lab:
    """The long film, its truth, the photos of its people, and a folder for what is read."""

    folder: Path
    film: Path
    truth: Truth

    @contextmanager
    def bench(self, work: str, cast: Mapping[str, object] | None = None) -> Iterator[Bench]:
        """The film opened with settings for the cast."""
        config = Config.model_validate(QUIET | ({"cast": dict(cast)} if cast else {}))
        with open_film(self.film) as film, WorkFolder(self.folder / work) as folder:
            yield Bench.of(film, folder, config, Given(), NoProgress())

    @property
    def members(self) -> set[str]:
        """Names of those who can be in a cast."""
        return {name for name, kind in self.truth.kinds.items() if kind == "member"}

    def cast(self, photos: Sequence[str], names: Sequence[str] = ()) -> Cast:
        """A cast of ``names`` (everybody) with these photos of each."""
        return Cast(
            tuple(
                Member(name, name, photos=tuple(self._photo(name, kind) for kind in photos))
                for name in sorted(names or self.members)
            )
        )

    def _photo(self, name: str, kind: str) -> Path:
        return self.folder / "photos" / name / f"{PHOTOS.index(kind)}-{kind}.jpg"


def judged(
    lab: Lab, casts: Mapping[str, Cast], settings: Mapping[str, object] | None = None
) -> dict[str, list[Judged]]:
    """The film's tracks as the desk decides them for each cast."""
    work = f"work-{lab.film.stem}-{'frame' if (settings or {}).get('decide') == 'frame' else 'track'}"
    found = {}
    with lab.bench(work, settings) as bench:
        plans = understand(prepare(bench), bench).plans
        shots = tuple({piece.shot.index: piece.shot for plan in plans for piece in plan.shots}.values())
        owners: dict[tuple[int, int], tuple[str | None, float]] = {}
        for name, cast in casts.items():
            named = FaceMatcher(bench, cast, None).named(plans, shots)
            rows = []
            for index, shot in named.items():
                for number, (track, verdict) in enumerate(shot.tracks):
                    if (index, number) not in owners:
                        owners[index, number] = owner_of(track, lab.truth)
                    rows.append(Judged(track, *owners[index, number], verdict))
            found[name] = rows
    return found
