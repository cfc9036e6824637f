"""The films that questions are asked about: what is said in each, its descriptions, its script; and what of
that a reader is given under each condition."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shotad.core import EvaluationError, Slot, read_record, slot_id, slots_of, work_folder_of
from shotad.description import slot_seed
from shotad.evaluation.datasets.tables import counted, read_records
from shotad.evaluation.screenplay import Element, described_elements, recorded_speech, said_elements
from shotad.evaluation.screenplay_files import read_screenplay
from shotad.film import read_subtitles
from shotad.script import TRACK, load_track, read_cues

Elements = tuple[Element, ...]

CONDITIONS: Mapping[str, str] = {
    "nothing": "nothing",
    "dialogue": "dialogue",
    "ad": "dialogue + this AD",
    "other": "dialogue + another film's AD",
    "shuffled": "dialogue + shuffled AD",
    "human": "dialogue + human AD",
    "script": "full script",
}
"""What a reader is given, by name, and in words; in the order in which they are asked."""


@dataclass(frozen=True, slots=True)
class StoryFilm:
    """A film: what is said in it, its AD under test, a human AD, and its script as one row of elements.

    ``slots`` is None where it is not known where lines could stand.
    """

    name: str
    ad: Elements = ()
    dialogue: Elements = ()
    human: Elements = ()
    script: Elements = ()
    slots: tuple[Slot, ...] | None = None


def read_film(
    name: str,
    ad: Path | None = None,
    subtitles: Path | None = None,
    human: Path | None = None,
    script: Path | None = None,
) -> StoryFilm:
    """A film from its files. ``ad`` is a film, a work folder, or a script of AD in any format.

    Without ``subtitles`` the dialogue is that of the work folder, else of the script. Raises ShotadError.
    """
    folder = _work_folder(ad)
    told: Elements = ()
    slots = None
    if folder is not None:
        told = tuple(described_elements(load_track(folder / TRACK)))
        record = read_record(folder / "slots.json")
        slots = None if record is None else slots_of(record["slots"])
    elif ad is not None:
        if not ad.is_file() or ad.stat().st_size > _LARGEST:
            what = f"{ad} is no script of AD, and has no track: there is no {TRACK} in {work_folder_of(ad)}."
            raise EvaluationError(what, "Run shotad describe on the film first, or name a script.")
        told = _script_lines(ad)
    written: list[Element] = []
    for scene in read_screenplay(script).scenes if script else ():
        written += [Element("action", scene.heading, interval=scene.interval), *scene.elements]
    if subtitles is not None:
        said = said_elements(read_subtitles(subtitles))
    elif folder is not None:
        said = said_elements(recorded_speech(folder))
    else:
        said = [one for one in written if one.kind == "dialogue"]
    return StoryFilm(name, told, tuple(said), _script_lines(human) if human else (), tuple(written), slots)


_LARGEST = 16 << 20
"""Bytes; the AD of a long film has about 0.2 MB. A larger file is the film itself."""


def _work_folder(ad: Path | None) -> Path | None:
    """The work folder meant by itself or by its film."""
    places = () if ad is None else (ad, work_folder_of(ad))
    return next((place for place in places if (place / TRACK).is_file()), None)


def _script_lines(path: Path) -> Elements:
    cues = read_cues(path)
    return tuple(
        Element("action", cue.text, interval=cue.interval, cue=cue.id or slot_id(cue.interval.start))
        for cue in cues
    )


FILES = ("ad", "subtitles", "human", "script")


def read_films(table: Path) -> tuple[StoryFilm, ...]:
    """The films of a table (CSV or JSON Lines) with the columns film, ad, subtitles, human, script.

    Paths count from the table's folder; a cell may be empty. Raises ShotadError.
    """
    rows = read_records(table)
    name = rows.needed(("film",), "films")
    films = []
    for row in rows.rows:
        cells = {column: rows.text(row, column) for column in FILES}
        paths = {column: table.parent / cell for column, cell in cells.items() if cell}
        films.append(read_film(rows.text(row, name) or "", **paths))
    names = [film.name for film in films]
    double = sorted({one for one in names if names.count(one) > 1 or not one})
    if double or not films:
        raise EvaluationError(
            f"{table} must have films with a name each, got {counted(double) or 'none'} several times.",
            "Columns: film, ad, subtitles, human, script.",
        )
    return tuple(films)


def given_lines(condition: str, film: StoryFilm, films: Sequence[StoryFilm], seed: int) -> Elements | None:
    """What a reader is given of a film, in order; None where there is nothing to give.

    ``other`` is the AD of the next film that has one, at its own times. ``shuffled`` is the human AD (where
    there is none, this AD) with its lines in each other's places: the same words without their order.
    """
    if condition in ("nothing", "dialogue"):
        return () if condition == "nothing" else film.dialogue
    if condition == "script":
        return film.script or None
    described = {
        "ad": film.ad,
        "human": film.human,
        "other": _next_ad(film, films),
        "shuffled": _shuffled(film.human or film.ad, slot_seed(seed, f"shuffled/{film.name}")),
    }[condition]
    if not described:
        return None
    return tuple(
        sorted((*film.dialogue, *described), key=lambda one: one.interval.start if one.interval else 0.0)
    )


def _next_ad(film: StoryFilm, films: Sequence[StoryFilm]) -> Elements:
    place = next(number for number, one in enumerate(films) if one.name == film.name)
    others = (*films[place + 1 :], *films[:place])
    return next((one.ad for one in others if one.ad), ())


def _shuffled(elements: Elements, seed: int) -> Elements:
    order = list(elements)
    random.Random(seed).shuffle(order)
    return tuple(replace(one, interval=place.interval) for one, place in zip(order, elements, strict=True))
