"""The matching scores among the shots of one clip, as a table and as a picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

from shotad.description.sheet.subject import Line, Look, Subject
from shotad.film import matrix_image


@dataclass(frozen=True, slots=True)
class Score:
    """One cell: None where the two shots were not compared; ``joined`` where they share a set-up."""

    value: float | None
    joined: bool = False

    @property
    def words(self) -> str:
        return "" if self.value is None else f"{self.value:.2f}"


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores of a clip: ``cells[i][j]`` is that of the shots with painted numbers ``numbers[i]``, ``[j]``."""

    numbers: tuple[int, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[Score, ...], ...]
    threshold: float | None


def score_table(line: Line, subject: Subject) -> ScoreTable | None:
    """The scores of the clip of ``line``; None where not one pair of its shots was compared."""
    look = line.look
    if look is None:
        return None
    slot = line.cue.slot_id or ""
    shots = {piece.number: piece.shot for piece in look.pieces}
    cells = tuple(
        tuple(_cell(subject, slot, shots[a], shots[b]) if a != b else Score(None) for b in shots)
        for a in shots
    )
    if all(score.value is None for row in cells for score in row):
        return None
    return ScoreTable(tuple(shots), _names(look), cells, subject.threshold)


def score_picture(table: ScoreTable, title: str) -> Image.Image:
    """The same as a picture; pairs that share a set-up are framed."""
    values = np.array(
        [[np.nan if s.value is None else s.value for s in row] for row in table.cells], dtype=np.float64
    )
    joined = np.array([[score.joined for score in row] for row in table.cells])
    note = ""
    if table.threshold is not None:
        note = f"Framed: above {table.threshold:g}, so both shots share a camera set-up."
    return matrix_image(
        values,
        table.names,
        table.names,
        title=title,
        cells=[[score.words for score in row] for row in table.cells],
        marks=joined,
        note=note,
        low=0.0,
        high=1.0,
        text=18,
    )


def _cell(subject: Subject, slot: str, one: int, other: int) -> Score:
    value = subject.score(one, other, slot)
    if value is None:
        return Score(None)
    return Score(value, subject.threshold is not None and value > subject.threshold)


def _names(look: Look) -> tuple[str, ...]:
    return tuple(
        f"Shot {piece.number}" + (f" {piece.thread}" if piece.thread else "") for piece in look.pieces
    )
