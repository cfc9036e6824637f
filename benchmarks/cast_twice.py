"""One film described twice, without and with a cast: do names stand in the right lines, and only there?

Used by characters.py (``--only twice``). The short film of cast_film.py has two people who are named, Clara
and Omar, and strangers. It is described by the embedded engines three times: without a cast, with a photo of
each, and the newcomer's way, by ``cast discover``, ``cast name`` and ``describe``.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cast_actors import PHOTOS
from cast_truth import Truth, read_truth

from shotad.core import Cast, CastSettings, Member
from shotad.sight import load_cast, make_face_models, read_gallery
from shotad.sight.gallery import Embeddings, mean_of

NAMES = {"P003": ("Clara", "she"), "P005": ("Omar", "he")}
ALIKE = 0.5
"""Likeness to somebody's photos from which a person found is taken for them by who names the cast."""


@dataclass(frozen=True)
class Line:
    """What is said in the slot from second ``start`` to ``end``; empty where the engine says nothing."""

    start: float
    end: float
    text: str


def described_twice(folder: Path, film: Path) -> None:
    """Print the lines side by side with who is truly there, and the check of names."""
    truth = read_truth(film.with_suffix(".json"))
    photos, found = folder / "two-photos", folder / "two-found.cast"
    for person, (name, _) in NAMES.items():
        place = photos / name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "photos" / person / f"0-{PHOTOS[0]}.jpg", place / "photo.jpg")
    shutil.rmtree(found, ignore_errors=True)
    _shotad("cast", "discover", film, "--out", folder / "twice-found", "--cast", found)
    _name(found, photos)
    runs: dict[str, Sequence[Line]] = {}
    for words, options in (
        ("without a cast", ()),
        ("a photo each", ("--cast", photos)),
        ("discovered", ("--cast", found)),
    ):
        out = folder / f"twice-{words.split()[-1]}"
        _shotad(
            "describe", film, "--out", out, "--engine", "embedded", "--detail", "rich", "--no-sheet", *options
        )
        runs[words] = _lines(out)
    for words, lines in runs.items():
        check(words, lines, truth)
    side_by_side(runs, truth)


def _shotad(*arguments: object) -> str:
    command = [sys.executable, "-c", "import sys; from shotad.cli.main import main; sys.exit(main())"]
    done = subprocess.run(
        [*command, *map(str, arguments), "--plain"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"shotad {' '.join(map(str, arguments))} failed:\n{done.stderr}")
    return done.stdout


def _name(found: Path, photos: Path) -> None:
    """Fill in the names as somebody would who knows the two."""
    settings = CastSettings()
    known = {m.name: r for m, r in _looks(load_cast(photos), settings)}
    for member, rows in _looks(Cast(load_cast(found).members), settings):
        name = max(known, key=lambda n: float(mean_of(known[n]) @ mean_of(rows)))
        if float(mean_of(known[name]) @ mean_of(rows)) >= ALIKE:
            _shotad("cast", "name", found, member.id, name)


def _looks(cast: Cast, settings: CastSettings) -> list[tuple[Member, Embeddings]]:
    gallery = read_gallery(cast, make_face_models(settings), settings).gallery
    return [(member, gallery.photos[member.id]) for member in cast if member.id in gallery.photos]


def _lines(out: Path) -> list[Line]:
    """One line for each slot, with the time of the slot."""
    track = json.loads((out / "track.json").read_text(encoding="utf-8"))
    slots = json.loads((out / "slots.json").read_text(encoding="utf-8"))["slots"]
    said = {cue["slot"]: cue["text"] for cue in track["cues"]}
    return [Line(slot["start"], slot["end"], said.get(slot["id"], "")) for slot in slots]


def _present(truth: Truth, line: Line) -> set[str]:
    """Who has a face in the shots that a line goes over."""
    shots = (
        s
        for s in truth.shots
        if s.first / truth.rate < line.end - 0.05 and s.end / truth.rate > line.start + 0.05
    )
    return {name for shot in shots for name in shot.people}


def _named(line: Line) -> set[str]:
    return {person for person, (name, _) in NAMES.items() if re.search(rf"\b{name}\b", line.text)}


def check(words: str, lines: Sequence[Line], truth: Truth) -> None:
    """Names in lines whose shots do not show their people, and lines that could have named somebody."""
    right = wrong = missed = 0
    for line in lines:
        there, said = _present(truth, line) & NAMES.keys(), _named(line)
        right, wrong, missed = (
            right + len(said & there),
            wrong + len(said - there),
            missed + len(there - said),
        )
    print(
        f"{words:16} {len(lines)} slots; names said where the person is: {right}, elsewhere: {wrong}; "
        f"not said where they are: {missed}"
    )


def side_by_side(runs: Mapping[str, Sequence[Line]], truth: Truth) -> None:
    """All lines, with who is there by the truth."""
    starts = sorted({line.start for lines in runs.values() for line in lines})
    for start in starts:
        lines = {
            words: next((line for line in lines if line.start == start), None)
            for words, lines in runs.items()
        }
        some = next(line for line in lines.values() if line)
        shots = [
            s.kind
            for s in truth.shots
            if s.first / truth.rate < some.end - 0.05 and s.end / truth.rate > start + 0.05
        ]
        there = [NAMES[n][0] if n in NAMES else "a stranger" for n in sorted(_present(truth, some))]
        print(f"\n{start:6.2f} to {some.end:6.2f}  {'+'.join(shots)}: {', '.join(there) or 'nobody'}")
        for words, line in lines.items():
            print(f"    {words:16}{line.text if line else '-'}")
