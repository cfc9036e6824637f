"""What the records of both stages tell of a line besides their answers, as notes for the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shotad.core.observations import Facts
from shotad.description.sheet.inwords import in_words
from shotad.review.showing.recordindex import Record
from shotad.script.cue import Cue, Provenance

Note = dict[str, str]

_BROKEN = (KeyError, ValueError, TypeError, AttributeError, IndexError)
"""What reading a record of another make raises."""

_TIMES = {1: "once", 2: "twice"}

_FACTORS = {"face": "faces", "object": "objects", "environment": "the surroundings"}
"""What Stage I is asked about besides people and what they do, by shot scale."""


def of_records(cue: Cue, stage1: Record | None, stage2: Record | None) -> Iterator[Note]:
    """What the records tell of the line, and what they lack."""
    if not cue.slot_id:
        yield note("Stage I and II", "The line belongs to no slot, so no engine was asked about it.")
        return
    if stage1 is None and stage2 is None:
        yield note(
            "Stage I and II", "Not recorded: no engine has been asked about this slot, as far as is known."
        )
        return
    if stage1 is None:
        yield note("Stage I", "What Stage I said is not recorded.")
    else:
        yield from _guarded(_grammar_notes, stage1)
        yield from _guarded(_people_notes, stage1)
        yield from _guarded(_measured, stage1)
        yield from _tries("Stage I", stage1)
    if stage2 is None:
        yield note("Stage II", "What Stage II answered is not recorded.")
    else:
        yield from _guarded(_unseen, stage2)
        yield from _tries("Stage II", stage2)
    if cue.provenance is not None:
        yield note("Settings that reproduce this line", _again(cue.provenance))


def _guarded(notes: Any, record: Record) -> Iterator[Note]:
    """Notes of a record; none where it was made by another shotad that wrote otherwise."""
    try:
        yield from list(notes(record))
    except _BROKEN:
        return


def _grammar_notes(record: Record) -> Iterator[Note]:
    """Threads and shot scales, with the shots called by the numbers painted on them."""
    shots = [row["number"] for row in record["shots"]]
    current = [row["number"] for row in record["shots"] if row["role"] == "current"]
    told = [f"The clip shows {_shots(shots)}, numbered from 0; the line is about {_shots(current)}."]
    # Without letters: those of the film's threads, which the time line shows, may be others.
    told += [
        f"{first(_shots(thread))} are one thread: the camera comes back." for thread in record["threads"]
    ]
    scales = [f"shot {number}: {scale}" for number, scale in record["scales"].items()]
    if scales:
        told.append(f"Shot scales: {', '.join(scales)}.")
    if record.get("factors"):
        asked = [_FACTORS.get(factor, factor) for factor in record["factors"]]
        told.append(f"At such a distance the engine is asked about {' and '.join(asked)} too.")
    if told:
        yield note("Film grammar", " ".join(told))


def _shots(numbers: Sequence[int]) -> str:
    """``shot 2``, ``shots 1 and 4``, ``shots 0 to 8``."""
    if not numbers:
        return "no shot"
    if len(numbers) == 1:
        return f"shot {numbers[0]}"
    if len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"shots {numbers[0]} to {numbers[-1]}"
    return f"shots {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _people_notes(record: Record) -> Iterator[Note]:
    seen = [str(row["called"]) for row in record.get("characters", ())]
    if seen:
        yield note("Recognised", f"{', '.join(dict.fromkeys(seen))}.")
    heard = [str(row["name"]) for row in record.get("heard", ())]
    if heard:
        yield note("Names heard near by", f"{', '.join(dict.fromkeys(heard))}.")
    invented = [str(name) for name in record.get("invented", ())]
    if invented:
        yield note("Named by the model alone", f"{', '.join(invented)}.")


def _measured(record: Record) -> Iterator[Note]:
    """What the embedded observer measured; other engines measure nothing."""
    notes = record.get("notes") or {}
    if "current" not in notes:
        return
    told = [f"Shot {number}: {words}." for number, words in sorted(in_words(Facts.from_json(notes)).items())]
    if told:
        yield note("Measured in the frames", " ".join(told))


def _tries(stage: str, record: Record) -> Iterator[Note]:
    """How often an engine was asked, and what was wrong with its answers."""
    tries = record.get("tries")
    if not isinstance(tries, list) or len(tries) < 2:
        return
    wrong = [str(text) for one in tries if isinstance(one, Mapping) for text in one.get("complaints", ())]
    times = _TIMES.get(len(tries), f"{len(tries)} times")
    why = f" What was wrong: {' '.join(dict.fromkeys(wrong))}" if wrong else ""
    yield note(f"{stage} was asked {times}", f"The answer with the fewest faults was taken.{why}")


def _unseen(record: Record) -> Iterator[Note]:
    told = [
        f"Candidate {int(number) + 1}: {'; '.join(map(str, statements))}."
        for number, statements in sorted((record.get("unseen") or {}).items(), key=lambda one: int(one[0]))
        if statements
    ]
    if told:
        yield note("Not seen in the frames at a second look", " ".join(told))


def _again(made: Provenance) -> str:
    makers = "; ".join(str(maker) for maker in made.makers)
    return f"{makers}; prompts {made.prompt_hash or 'not recorded'}; seed {made.seed}."


def note(title: str, text: str) -> Note:
    """A note with its title."""
    return {"title": title, "text": text}


def first(text: str) -> str:
    """A text with a capital letter."""
    return text[:1].upper() + text[1:]
