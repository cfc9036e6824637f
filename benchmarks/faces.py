"""How often a stranger is given a name, and how often somebody of the cast theirs, on made tracks.

    python benchmarks/faces.py [--threshold T] [--margin M]

The people of portraits.py are shown as a film would show them (facelooks.py): faces of 20 to 120 pixels,
turned a little, soft, dark and compressed, four looks to a track. Casts of ten are made of them: the ten of
OpenPeople with two photos each, the forty of ORL ten at a time, and fake-avatars ten at a time, whose only
picture is their photo; everybody else is a stranger to a cast. Printed are, as shotad decides with and
without the film's own bank, tracks of strangers that are given a name (with the 95 % interval, drawn over
people) and those of the cast named rightly and wrongly. Reading all pictures takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import facelooks
from facelooks import Looks
from portraits import portraits

from shotad.core import Box, CastSettings
from shotad.sight import Face, FaceModels, FaceTrack, Gallery, identify, make_face_models
from tests.rules import ruled

LEAST = 30
"""Height of the smallest faces that count, in pixels."""
CAST_PHOTOS = ("studio_portrait", "amateur_selfie")
NOT_ASKED = {*CAST_PHOTOS, "studio_posture", "amateur_posture", "portrait", "1", "2", "3", "4"}
"""Pictures that may be photos: nobody is asked about their tracks, but in a film they fill the bank."""

Rows = npt.NDArray[np.float32]
Photos = Mapping[tuple[str, str], Rows]
"""The embedding ``float32[d]`` of each picture as it is, by person and kind."""


@dataclass(frozen=True)
class Decision:
    """Whose a track is, who that was taken for, and whether they are of the cast."""

    person: str
    member: str | None
    of_cast: bool


def casts(photos: Photos) -> list[tuple[str, dict[str, Rows]]]:
    """All casts of ten, by the set they are of: photos ``float32[n, d]`` by person."""
    people = list(dict.fromkeys(person for person, _ in photos))
    found = []
    for name, start, kinds in (
        ("openpeople", "P", CAST_PHOTOS),
        ("orl-faces", "orl", ("1", "2")),
        ("fake-avatars", "avatar", ("portrait",)),
    ):
        own = [person for person in people if person.startswith(start)]
        for first in range(0, len(own) - 9, 10):
            rows = {
                p: [photos[p, kind] for kind in kinds if (p, kind) in photos] for p in own[first : first + 10]
            }
            found.append((name, {person: np.stack(some) for person, some in rows.items() if some}))
    return found


def decided(
    cast: Mapping[str, Rows], tracks: Sequence[Looks], settings: CastSettings, models: FaceModels
) -> list[Decision]:
    """The whole decision of shotad for one cast, in a film in which all tracks are shots of their own."""
    shown = [t for t in tracks if t.height >= LEAST and len(t.embeddings)]
    verdicts = identify([_track(t, i) for i, t in enumerate(shown)], Gallery(dict(cast)), settings, models)
    return [
        Decision(track.person, verdict.member, track.person in cast)
        for track, verdict in zip(shown, verdicts, strict=True)
        if track.person not in cast or NOT_ASKED.isdisjoint(track.kinds)
    ]


def _track(looks: Looks, shot: int) -> FaceTrack:
    box = Box(0.2, 0.1, 0.3, 0.1 + looks.height / facelooks.FRAME[1])
    points = ((0.22, 0.15), (0.28, 0.15), (0.25, 0.2), (0.23, 0.25), (0.27, 0.25))
    count = len(looks.embeddings)
    faces = tuple(Face(box, n / 4, 0.9, points, 0.0) for n in range(count))
    return FaceTrack(shot, faces, looks.embeddings, tuple(range(count)))


def told(decisions: Sequence[Decision]) -> str:
    """Strangers that are named, and the cast named rightly and wrongly, in words."""
    strangers = [d for d in decisions if not d.of_cast]
    cast = [d for d in decisions if d.of_cast]
    named = np.array([d.member is not None for d in strangers])
    low, high = interval(named, [d.person for d in strangers])
    right = sum(d.member == d.person for d in cast)
    wrong = sum(d.member not in (None, d.person) for d in cast)
    mine = f"  {right:4} and {wrong} of {len(cast):4} ({right / len(cast):.1%})" if cast else ""
    return f"{named.sum():5} of {len(named):6} {named.mean():.3%} ({low:.3%} to {high:.3%}){mine}"


def interval(named: npt.NDArray[np.bool_], persons: Sequence[str], draws: int = 2000) -> tuple[float, float]:
    """95 % interval of the share that is named, drawn over persons; 3 / n above where nobody is."""
    names, at = np.unique(np.array(persons), return_inverse=True)
    hits, sizes = np.bincount(at, named, len(names)), np.bincount(at, minlength=len(names))
    if hits.sum() == 0:
        return 0.0, 3 / len(names)
    drawn = np.random.default_rng(1).integers(0, len(names), (draws, len(names)))
    low, high = np.quantile(hits[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)


def read_all(models: FaceModels) -> tuple[list[Looks], Photos]:
    """Every picture, clean and in tracks."""
    pictures = [p for name in ("openpeople", "orl-faces", "fake-avatars") for p in portraits(name, models)]
    tracks: list[Looks] = []
    photos: dict[tuple[str, str], Rows] = {}
    for person, group in groupby(pictures, key=lambda p: p.person):
        own = list(group)
        photos |= {(person, kind): row for kind, row in facelooks.clean(own, models).items()}
        heights = facelooks.HEIGHTS if person.startswith("P") else (30, 70)
        tracks += facelooks.read_tracks(own, models, heights)
    return tracks, photos


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--threshold", type=float, help="instead of that of the models")
    parser.add_argument("--margin", type=float, help="instead of that of the models")
    options = parser.parse_args()
    models = make_face_models(ruled(CastSettings(threshold=options.threshold), margin=options.margin))
    tracks, photos = read_all(models)
    print(f"{len({t.person for t in tracks})} people, {len(tracks)} tracks")
    print("strangers named (95 % interval), cast rightly, wrongly")
    for from_film in (False, True):
        settings = ruled(CastSettings(), from_film=from_film, smallest=LEAST / facelooks.FRAME[1] * 0.8)
        found = [(name, decided(cast, tracks, settings, models)) for name, cast in casts(photos)]
        for name in (*dict.fromkeys(name for name, _ in found), "all"):
            some = [d for of, ds in found if name in (of, "all") for d in ds]
            print(f"{name:13} bank {'on ' if from_film else 'off'} {told(some)}")


if __name__ == "__main__":
    main()
