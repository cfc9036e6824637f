"""How a line came about, for the page: what Stage I saw and said, what Stage II answered, what was done to
the line since, each as sentences that a describer understands. What is not recorded is said to be so.

Records of a ``.jsonl`` file are parsed one at a time, when their line is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from shotad.core import Config, ShotadError
from shotad.core.files import open_file
from shotad.core.records import parse_record
from shotad.core.types import Role
from shotad.description import (
    Attempt,
    Stage1Answer,
    Stage2Answer,
)
from shotad.description.pipeline import ADDED
from shotad.engines import stage_engines
from shotad.review.keeping import WatchedFile
from shotad.review.session import Session
from shotad.script import (
    Cue,
    CueStatus,
    EditField,
)
from shotad.script.cue import REDO

Note = dict[str, str]

_BROKEN = (KeyError, ValueError, TypeError, AttributeError, IndexError)
"""What reading a record raises that a person has changed."""

_FACTORS = {"face": "faces", "object": "objects", "environment": "the surroundings"}
"""What Stage I is asked about besides people and what they do, by shot scale."""


def of_records(cue: Cue, stage1: Stage1Answer | None, stage2: Stage2Answer | None) -> Iterator[Note]:
    """What the answers of both stages tell of the line, and what is not recorded."""
    if not cue.slot_id:
        yield note(
            "The machine's part", "The line belongs to no slot, so the machine was not asked about it."
        )
        return
    if stage1 is None and stage2 is None:
        yield note(
            "The machine's part",
            "Not recorded: the machine was not asked about this slot, as far as is known.",
        )
        return
    if stage1 is None:
        yield note("What the machine saw", "It is not recorded.")
    else:
        yield from _grammar_notes(stage1)
        yield from _people_notes(stage1)
        yield from _tries("The machine described the clip", stage1.attempts)
    if stage2 is None:
        yield note("What the machine wrote", "Its answer is not recorded.")
    else:
        unseen = [
            f"Candidate {number}: {'; '.join(candidate.unseen)}."
            for number, candidate in enumerate(stage2.candidates, 1)
            if candidate.unseen
        ]
        if unseen:
            yield note("Not seen in the frames at a second look", " ".join(unseen))
        yield from _tries("The machine wrote lines", stage2.attempts)
    if cue.provenance is not None:
        provenance = cue.provenance
        makers = "; ".join(
            f"{maker.engine} {maker.model} {maker.revision}".strip() for maker in provenance.makers
        )
        prompts = provenance.prompt_hash or "not recorded"
        yield note(
            "Settings that reproduce this line", f"{makers}; prompts {prompts}; seed {provenance.seed}."
        )


def _grammar_notes(stage1: Stage1Answer) -> Iterator[Note]:
    """Threads and shot scales, with the shots called by the numbers painted on them."""
    shots = [shot.number for shot in stage1.shots]
    current = [shot.number for shot in stage1.shots if shot.role is Role.CURRENT]
    sentences = [f"The clip shows {_shots(shots)}, numbered from 0; the line is about {_shots(current)}."]
    # Without letters: those of the film's threads, which the time line shows, may be others.
    for thread in stage1.threads:
        sentences.append(f"{first(_shots(thread))} are one thread: the camera comes back.")
    scales = [f"shot {number}: {scale.value}" for number, scale in stage1.scales.items()]
    if scales:
        sentences.append(f"Shot scales: {', '.join(scales)}.")
    if stage1.factors:
        factors = [_FACTORS.get(factor, factor) for factor in stage1.factors]
        sentences.append(f"At such a distance the engine is asked about {' and '.join(factors)} too.")
    yield note("Film grammar", " ".join(sentences))


def _shots(numbers: Sequence[int]) -> str:
    if not numbers:
        return "no shot"
    if len(numbers) == 1:
        return f"shot {numbers[0]}"
    if len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"shots {numbers[0]} to {numbers[-1]}"
    return f"shots {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _people_notes(stage1: Stage1Answer) -> Iterator[Note]:
    names_by_title = {
        "Recognised": [person.called for person in stage1.people],
        "Names heard near by": [nearby.name for nearby in stage1.nearby_names],
        "Named by the model alone": list(stage1.invented),
    }
    for title, names in names_by_title.items():
        if names:
            yield note(title, f"{', '.join(dict.fromkeys(names))}.")


def _tries(work: str, attempts: Sequence[Attempt]) -> Iterator[Note]:
    """How often an engine was asked, and what was wrong with its answers."""
    if len(attempts) < 2:
        return
    complaints = [complaint for attempt in attempts for complaint in attempt.complaints]
    times = "twice" if len(attempts) == 2 else f"{len(attempts)} times"
    why = f" What was wrong: {' '.join(dict.fromkeys(complaints))}" if complaints else ""
    yield note(f"{work} {times}", f"The answer with the fewest faults was taken.{why}")


def note(title: str, text: str) -> Note:
    return {"title": title, "text": text}


def first(text: str) -> str:
    return text[:1].upper() + text[1:]


_STATUS = {
    CueStatus.DROPPED: "Why it is not heard",
    CueStatus.FAILED: "Why there is no line",
    CueStatus.SILENT: "Why nothing is said",
    CueStatus.SHORTENED: "Remarks",
    CueStatus.PLACED: "Remarks",
}

_CHANGED = {
    EditField.TEXT: "its words",
    EditField.TIME: "its times",
    EditField.STATUS: "whether it is heard",
    EditField.VOICE: "how it is spoken",
}


@lru_cache(maxsize=16)
def records_of(path: Path) -> RecordIndex:
    return RecordIndex(path)


def line_detail(session: Session, line_id: str) -> dict[str, Any]:
    """All that is recorded of how a line came about. Raises ReviewError for a line that is not there."""
    cue = session.cue(line_id)
    slot = cue.slot_id or ""
    tries = records_of(session.folder / "redo.jsonl").all(slot) if slot else ()
    # What both stages recorded of the line: in the redo that it comes from, else in the run
    own = next((row for row in reversed(tries) if row.get("after") and row["after"] == cue.text), None)
    stage1: Stage1Answer | None = None
    stage2: Stage2Answer | None = None
    if own is not None:
        stage1, stage2 = stage1_answer(own.get("stage1")), stage2_answer(own.get("stage2"))
    elif slot:
        stage1 = stage1_answer(records_of(session.folder / "stage1.jsonl").last(slot))
        stage2 = stage2_answer(records_of(session.folder / "stage2.jsonl").last(slot))
    return {
        "id": cue.id,
        "stage1": None if stage1 is None else stage1_view(stage1),
        "stage2": None if stage2 is None else stage2_view(stage2),
        "explanation": "" if stage1 is None else stage1.description.explanation,
        "made": made_by(cue),
        "notes": [*_of_line(cue), *of_records(cue, stage1, stage2)],
        "history": [redo_view(row) for row in tries],
    }


def stage1_answer(record: Any) -> Stage1Answer | None:
    """What Stage I answered, from its record; None where there is none, or a person has broken it."""
    with suppress(*_BROKEN):
        return Stage1Answer.from_json(record)
    return None


def stage2_answer(record: Any) -> Stage2Answer | None:
    """What Stage II answered, from its record; None where there is none, or a person has broken it."""
    with suppress(*_BROKEN):
        return Stage2Answer.from_json(record)
    return None


def stage1_view(stage1: Stage1Answer) -> dict[str, Any]:
    """What Stage I said: its steps, and the whole as text; why there is nothing, where it failed."""
    description = stage1.description
    steps = [{"title": heading, "text": text} for heading, text in description.steps.items()]
    text = description.text or description.raw
    if stage1.error is not None:
        text = f"The film could not be described: {stage1.error}"
    return {"text": text, "engine": engine_title(stage1.maker.engine, stage1.maker.model), "steps": steps}


def stage2_view(stage2: Stage2Answer) -> dict[str, Any]:
    """What Stage II answered, letter for letter."""
    raw = stage2.raw
    if stage2.error is not None:
        raw = f"No line could be written: {stage2.error}" + (f"\n{raw}" if raw else "")
    return {"raw": raw, "engine": engine_title(stage2.maker.engine, stage2.maker.model)}


def redo_view(row: Record) -> dict[str, Any]:
    """One time that the slot was described again."""
    number, before, after = row.get("number", 1), str(row.get("before") or ""), row.get("after")
    hint = str(row.get("note") or "").strip()
    outcome = f"“{after}”" if after else f"no new line: {row.get('reason') or 'nothing was said'}"
    was = f" Before: “{before}”." if before else ""
    return {
        "said": f"Described again, try {number}: {outcome}{'' if after else '.'}{was}"
        + (f" Told: “{hint}”." if hint else "")
    }


def made_by(cue: Cue) -> str:
    """Which engines, or who, made the line, as one sentence."""
    provenance = cue.provenance
    if provenance is None or not provenance.makers:
        if cue.edited is not None and cue.edited.machine is None:
            return "A person wrote this line; no engine had a part in it."
        unknown_maker = "It is not recorded who wrote this line."
        return unknown_maker if cue.text else "Nobody has written this line yet."
    title, *others = (engine_title(maker.engine, maker.model) for maker in provenance.makers)
    sentence = f"{first(title)} described the film" + (f", {others[0]} wrote the line" if others else "")
    if cue.edited is not None and cue.edited.source == REDO:
        sentence += ", again on request"
    return f"{sentence}."


def _of_line(cue: Cue) -> Iterator[Note]:
    """What became of the line."""
    steps = "; ".join(cue.fit_steps)
    reason = cue.reason
    if cue.heard and steps and reason.startswith(steps):
        reason = reason.removeprefix(steps).lstrip("; ")
    if reason == ADDED and not cue.heard:
        yield note("Slot by hand", "A person added this slot. Write its line, or have it described.")
    elif reason:
        yield note(_STATUS[cue.status], f"{first(reason)}.")
    if steps:
        yield note("How it was made to fit", f"{first(steps)}.")
    edit, review = cue.edited, cue.review
    if edit is not None and edit.source == REDO:
        yield note("Described again", "Described again on request; later runs keep this line.")
    elif edit is not None:
        parts = [_CHANGED[field] for field in edit.fields if field in _CHANGED]
        listed = " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)
        sentence = f"A person changed {listed} ({edit.source})."
        if EditField.ADDED in edit.fields:
            sentence = f"A person added the line ({edit.source})."
        elif EditField.REMOVED in edit.fields:
            sentence = f"A person removed the line ({edit.source})."
        elif not parts:
            sentence = "Nothing but that it was accepted; later runs keep this line."
        yield note("Changed by a person", sentence)
    own = edit.machine if edit is not None else None
    if own is not None and own.text and own.text != cue.text:
        yield note("The machine's own line", own.text)
    if review is not None:
        yield note("Accepted", f"By {review.by}." if review.by else "By a person who gave no name.")
    yield from _as_spoken(cue)


def _as_spoken(cue: Cue) -> Iterator[Note]:
    take = cue.spoken
    if take is None:
        return
    if take.interval is None:
        why = "; ".join(take.steps) or "the voice found no room for it"
        yield note("Not spoken", f"{first(why)} (voice {take.voice}).")
        return
    pace = "" if take.speed == 1 else f", at {take.speed:.2f} times its own pace"
    held = f"; the film waits {take.pause:.1f} s for it" if take.pause else ""
    sentence = f"{take.interval.duration - take.pause:.1f} s by the voice {take.voice}{pace}{held}."
    if take.steps:
        sentence += f" To make it fit: {'; '.join(take.steps)}."
    if take.text != cue.text:
        sentence += f" What is said: “{take.text}”"
    yield note("As last spoken", sentence)


TITLES = {
    "observer": "the embedded observer",
    "narrator": "the embedded narrator",
    "qwen2-vl": "Qwen2-VL",
    "llama3": "Llama 3",
    "fake": "the engine for tests",
}
"""What engines are called; others by their own names."""

_OF_MANY = ("observer", "narrator", "fake")
"""Engines whose models are many small ones, or rules, whose names say nothing to people."""

HERE = frozenset({"fake", "llama3", "narrator", "observer", "qwen2-vl"})
"""Engines that send nothing anywhere; they need not be made to know that, which may take a while. Any other
is made and asked."""

LOCAL = "Lines are described again on this machine; nothing of the film is sent anywhere."


def engine_title(engine: str, model: str = "") -> str:
    """An engine as people call it: ``the embedded observer``, ``openai (gpt-4o)``."""
    if engine in _OF_MANY:
        return TITLES[engine]
    title = TITLES.get(engine, engine)
    return f"{title} ({model})" if model else title


def engines_view(config: Config) -> dict[str, Any]:
    """Both engines of these settings, whether all stays on this machine, and if not, what leaves it; and
    whether who writes reads a person's ``notes``.

    Where an engine cannot be had here, ``notice`` says why.
    """
    return dict(_view(config.model_dump_json()))


@lru_cache(maxsize=4)
def _view(settings: str) -> dict[str, Any]:
    config = Config.model_validate_json(settings)
    try:
        names, leaves = stage_engines(config), list[str]()
        if {names.stage1, names.stage2} <= HERE:
            stage1 = engine_title(names.stage1, config.stage1.model or "")
            stage2 = engine_title(names.stage2, config.stage2.model or "")
            converses = names.stage2 != "narrator"
        else:
            from shotad.description import Engines  # Stage I and II: not loaded for a page alone
            from shotad.engines import privacy_notice

            engines = Engines.of(config)
            looks, writes = engines.looks.identity, engines.writes.identity
            leaves = privacy_notice(engines.looks, engines.writes)
            stage1, stage2 = (engine_title(maker.engine, maker.model) for maker in (looks, writes))
            converses = engines.writes.abilities.converses
    except ShotadError as error:
        return {"stage1": None, "stage2": None, "local": False, "notice": str(error), "notes": True}
    text = " ".join(leaves) if leaves else LOCAL
    return {"stage1": stage1, "stage2": stage2, "local": not leaves, "notice": text, "notes": converses}


Record = Mapping[str, Any]

_SLOT = re.compile(rb'"slot": ?"([^"\\]+)"')
_HEAD = 400
"""Bytes at a record's beginning within which its slot stands: it is written first, after the key."""


class RecordIndex:
    """The records of a file by the slot that they are of. The file is looked at before each answer, and read
    again when it has changed. Safe in threads."""

    def __init__(self, path: Path) -> None:
        self._lines = WatchedFile(path, _by_slot)

    def last(self, slot: str) -> Record | None:
        """The newest record of a slot that is whole; None where there is none."""
        return next(iter(reversed(self.all(slot))), None)

    def all(self, slot: str) -> tuple[Record, ...]:
        """The records of a slot that are whole, oldest first."""
        records = (parse_record("", line) for line in self._lines.read().get(slot, ()))
        return tuple(record for record in records if record is not None and record.get("slot") == slot)


def _by_slot(path: Path) -> Mapping[str, list[bytes]]:
    lines_by_slot: dict[str, list[bytes]] = {}
    with open_file(path) as file:
        for line in file:
            if match := _SLOT.search(line[:_HEAD]):
                lines_by_slot.setdefault(match[1].decode("utf-8", "replace"), []).append(line)
    return lines_by_slot
