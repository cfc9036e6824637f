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
from shotad.core.types import Role, ShotScale
from shotad.description import (
    Attempt,
    Stage1Answer,
    Stage2Answer,
)
from shotad.description.pipeline import ADDED
from shotad.engines import stage_engines
from shotad.review.english_sentences import notice_message, reason_message
from shotad.review.messages import Message, Seconds, Sentence, both, joined, message, sentence_view
from shotad.review.session import Session
from shotad.review.session_files import WatchedFile
from shotad.script import (
    Cue,
    CueStatus,
    EditField,
)
from shotad.script.cue import REDO
from shotad.script.reasons import SEPARATOR, is_reason

Note = dict[str, Any]
"""A remark as the page shows it: a ``title``, and a ``text`` of one sentence or several."""

_BROKEN = (KeyError, ValueError, TypeError, AttributeError, IndexError)
"""What reading a record raises that a person has changed."""

_FACTORS = {
    "face": message("note.factor.face"),
    "object": message("note.factor.object"),
    "environment": message("note.factor.environment"),
}
"""What Stage I is asked about besides people and what they do, by shot scale."""


def of_records(cue: Cue, stage1: Stage1Answer | None, stage2: Stage2Answer | None) -> Iterator[Note]:
    """What the answers of both stages tell of the line, and what is not recorded."""
    if not cue.slot_id:
        yield note(message("note.machine_part"), message("note.no_slot"))
        return
    if stage1 is None and stage2 is None:
        yield note(message("note.machine_part"), message("note.not_asked"))
        return
    if stage1 is None:
        yield note(message("note.saw"), message("note.saw_nothing"))
    else:
        yield from _grammar_notes(stage1)
        yield from _people_notes(stage1)
        yield from _tries("note.described_times", stage1.attempts)
    if stage2 is None:
        yield note(message("note.wrote"), message("note.wrote_nothing"))
    else:
        unseen = [
            message("note.candidate_unseen", number=number, words="; ".join(candidate.unseen))
            for number, candidate in enumerate(stage2.candidates, 1)
            if candidate.unseen
        ]
        if unseen:
            yield note(message("note.unseen"), *unseen)
        yield from _tries("note.wrote_times", stage2.attempts)
    if cue.provenance is not None:
        provenance = cue.provenance
        makers = "; ".join(
            f"{maker.engine} {maker.model} {maker.revision}".strip() for maker in provenance.makers
        )
        title = message("note.settings")
        seed = str(provenance.seed)
        if provenance.prompt_hash:
            yield note(
                title, message("note.made_with", engines=makers, prompts=provenance.prompt_hash, seed=seed)
            )
        else:
            yield note(title, message("note.made_without_prompts", engines=makers, seed=seed))


def _grammar_notes(stage1: Stage1Answer) -> Iterator[Note]:
    """Threads and shot scales, with the shots called by the numbers painted on them."""
    shots = [shot.number for shot in stage1.shots]
    current = [shot.number for shot in stage1.shots if shot.role is Role.CURRENT]
    sentences = [message("note.clip", shots=_shots(shots), current=_shots(current))]
    # Without letters: those of the film's threads, which the time line shows, may be others.
    for thread in stage1.threads:
        sentences.append(message("note.thread", shots=_shots(thread)))
    if stage1.scales:
        scales = [
            message("note.scale", number=number, scale=message(_SCALES[scale]))
            for number, scale in stage1.scales.items()
        ]
        sentences.append(message("note.scales", scales=scales))
    if stage1.factors:
        factors = [_FACTORS.get(factor, factor) for factor in stage1.factors]
        sentences.append(message("note.factors", factors=factors))
    yield note(message("note.grammar"), *sentences)


_SCALES = {
    ShotScale.EXTREME_CLOSE_UP: "scale.extreme_close_up",
    ShotScale.CLOSE_UP: "scale.close_up",
    ShotScale.MEDIUM: "scale.medium",
    ShotScale.FULL: "scale.full",
    ShotScale.LONG: "scale.long",
}


def _shots(numbers: Sequence[int]) -> Message:
    if not numbers:
        return message("note.no_shot")
    if len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return message("note.shot_range", first=numbers[0], last=numbers[-1])
    names = [str(number) for number in numbers]
    return message("note.shots", count=len(numbers), shots=names)


def _people_notes(stage1: Stage1Answer) -> Iterator[Note]:
    names_by_title = {
        "note.recognised": [person.called for person in stage1.people],
        "note.near_by": [nearby.name for nearby in stage1.nearby_names],
        "note.invented": list(stage1.invented),
    }
    for key, names in names_by_title.items():
        if names:
            yield note(message(key), f"{', '.join(dict.fromkeys(names))}.")


def _tries(title_key: str, attempts: Sequence[Attempt]) -> Iterator[Note]:
    """How often an engine was asked, and what was wrong with its answers."""
    if len(attempts) < 2:
        return
    complaints = [complaint for attempt in attempts for complaint in attempt.complaints]
    sentences: list[Sentence] = [message("note.fewest_faults")]
    if complaints:
        sentences.append(message("note.wrong", complaints=" ".join(dict.fromkeys(complaints))))
    yield note(message(title_key, count=len(attempts)), *sentences)


def note(title: Sentence, *sentences: Sentence) -> Note:
    return {"title": sentence_view(title), "text": [sentence_view(each) for each in sentences]}


def first(text: str) -> str:
    return text[:1].upper() + text[1:]


_STATUS = {
    CueStatus.DROPPED: message("note.why_dropped"),
    CueStatus.FAILED: message("note.why_failed"),
    CueStatus.SILENT: message("note.why_silent"),
    CueStatus.SHORTENED: message("note.remarks"),
    CueStatus.PLACED: message("note.remarks"),
}

_CHANGED = {
    EditField.TEXT: message("note.changed.text"),
    EditField.TIME: message("note.changed.time"),
    EditField.STATUS: message("note.changed.status"),
    EditField.VOICE: message("note.changed.voice"),
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
        "made": made_by(cue).view(),
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
    text: Sentence = description.text or description.raw
    if stage1.error is not None:
        text = message("note.stage1_failed", problem=reason_message(stage1.error))
    return {
        "text": sentence_view(text),
        "engine": sentence_view(engine_title(stage1.maker.engine, stage1.maker.model)),
        "steps": steps,
    }


def stage2_view(stage2: Stage2Answer) -> dict[str, Any]:
    """What Stage II answered, letter for letter."""
    raw: Sentence = stage2.raw
    if stage2.error is not None:
        raw = both(message("note.stage2_failed", problem=reason_message(stage2.error)), stage2.raw)
    engine = engine_title(stage2.maker.engine, stage2.maker.model)
    return {"raw": sentence_view(raw), "engine": sentence_view(engine)}


def redo_view(row: Record) -> dict[str, Any]:
    """One time that the slot was described again."""
    number, before, after = row.get("number", 1), str(row.get("before") or ""), row.get("after")
    hint = str(row.get("note") or "").strip()
    reason = str(row.get("reason") or "")
    if after:
        outcome = message("note.redo", number=number, text=str(after))
    elif reason:
        outcome = message("note.redo_none", number=number, reason=reason_message(reason))
    else:
        outcome = message("note.redo_silent", number=number)
    sentences: Sentence = outcome
    if before:
        sentences = both(sentences, message("note.redo_before", text=before))
    if hint:
        sentences = both(sentences, message("note.redo_told", text=hint))
    return {"said": sentence_view(sentences)}


def made_by(cue: Cue) -> Message:
    """Which engines, or who, made the line."""
    provenance = cue.provenance
    if provenance is None or not provenance.makers:
        if cue.edited is not None and cue.edited.machine is None:
            return message("note.made.person")
        if cue.text:
            return message("note.made.unknown")
        return message("note.made.nobody")
    engine, *others = (engine_title(maker.engine, maker.model) for maker in provenance.makers)
    is_redone = cue.edited is not None and cue.edited.source == REDO
    if not others:
        if is_redone:
            return message("note.made.one_again", engine=engine)
        return message("note.made.one", engine=engine)
    if is_redone:
        return message("note.made.two_again", engine=engine, writer=others[0])
    return message("note.made.two", engine=engine, writer=others[0])


def _of_line(cue: Cue) -> Iterator[Note]:
    """What became of the line."""
    steps = SEPARATOR.join(cue.fit_steps)
    reason = cue.reason
    if cue.heard and steps and reason.startswith(steps):
        reason = reason.removeprefix(steps).lstrip(SEPARATOR)
    if not cue.heard and is_reason(reason, ADDED):
        yield note(message("note.by_hand"), message("note.by_hand_hint"))
    elif reason:
        yield note(_STATUS[cue.status], _ended(reason))
    if steps:
        yield note(message("note.fit"), *map(_ended, cue.fit_steps))
    edit, review = cue.edited, cue.review
    if edit is not None and edit.source == REDO:
        yield note(message("note.again"), message("note.again_hint"))
    elif edit is not None:
        parts = [_CHANGED[field] for field in edit.fields if field in _CHANGED]
        change, source = message("note.person_accepted"), reason_message(edit.source)
        if EditField.ADDED in edit.fields:
            change = message("note.person_added", source=source)
        elif EditField.REMOVED in edit.fields:
            change = message("note.person_removed", source=source)
        elif parts:
            change = message("note.person_changed", parts=parts, source=source)
        yield note(message("note.by_person"), change)
    own = edit.machine if edit is not None else None
    if own is not None and own.text and own.text != cue.text:
        yield note(message("note.machine_line"), own.text)
    if review is not None:
        by = message("note.accepted_by", name=review.by) if review.by else message("note.accepted_unnamed")
        yield note(message("note.accepted"), by)
    yield from _as_spoken(cue)


def _ended(reason: str) -> Sentence:
    """A reason as a sentence."""
    said = reason_message(reason)
    return message("note.reason", reason=said) if isinstance(said, Message) else f"{first(reason)}."


def _as_spoken(cue: Cue) -> Iterator[Note]:
    take = cue.spoken
    if take is None:
        return
    if take.interval is None:
        title = message("note.not_spoken")
        if take.steps:
            reason = reason_message(SEPARATOR.join(take.steps))
            if not isinstance(reason, Message):  # a message begins as its sentence does
                reason = first(reason)
            yield note(title, message("note.not_spoken_why", reason=reason, voice=take.voice))
        else:
            yield note(title, message("note.no_place", voice=take.voice))
        return
    length = Seconds(take.interval.duration - take.pause)
    sentences = [message("note.spoken_by", length=length, voice=take.voice)]
    if take.speed != 1:
        sentences.append(message("note.spoken_pace", pace=round(take.speed, 2)))
    if take.pause:
        sentences.append(message("note.spoken_pause", length=Seconds(take.pause)))
    if take.steps:
        sentences.append(message("note.spoken_fit", steps=reason_message(SEPARATOR.join(take.steps))))
    if take.text != cue.text:
        sentences.append(message("note.spoken_text", text=take.text))
    yield note(message("note.spoken"), *sentences)


_NAMES = {"qwen2-vl": "Qwen2-VL", "llama3": "Llama 3"}
"""Names of engines that people know better than those of the settings."""

_TITLES = {
    "observer": message("engine.observer"),
    "narrator": message("engine.narrator"),
    "fake": message("engine.fake"),
}
"""Engines whose models are many small ones, or rules, whose names say nothing to people."""

HERE = frozenset({"fake", "llama3", "narrator", "observer", "qwen2-vl"})
"""Engines that send nothing anywhere; they need not be made to know that, which may take a while. Any other
is made and asked."""

_READ_NO_QUESTIONS = frozenset({"fake", "narrator", "observer"})
"""Engines of `HERE` that answer no questions."""

LOCAL = message("notice.local")


def engine_title(engine: str, model: str = "") -> Sentence:
    """An engine as people call it: ``the embedded observer``, ``openai (gpt-4o)``."""
    if engine in _TITLES:
        return _TITLES[engine]
    title = _NAMES.get(engine, engine)
    return f"{title} ({model})" if model else title


def engines_view(config: Config) -> dict[str, Any]:
    """Both engines of these settings, whether all stays on this machine, and if not, what leaves it; whether
    who writes reads a person's ``notes``, and whether either ``answers`` questions about the film.

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
            answers = not {names.stage1, names.stage2} <= _READ_NO_QUESTIONS
        else:
            from shotad.description import Engines  # Stage I and II: not loaded for a page alone
            from shotad.engines import privacy_notice

            engines = Engines.of(config)
            leaves = privacy_notice(engines.stage1, engines.stage2)
            identities = (engines.stage1.identity, engines.stage2.identity)
            stage1, stage2 = (engine_title(identity.engine, identity.model) for identity in identities)
            converses = engines.stage2.abilities.converses
            answers = converses or engines.stage1.abilities.converses
    except ShotadError as error:
        missing = {"stage1": None, "stage2": None, "local": False, "notice": str(error)}
        return {**missing, "notes": True, "answers": True}
    notice = joined(map(notice_message, leaves)) if leaves else LOCAL
    return {
        "stage1": sentence_view(stage1),
        "stage2": sentence_view(stage2),
        "local": not leaves,
        "notice": sentence_view(notice),
        "notes": converses,
        "answers": answers,
    }


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
