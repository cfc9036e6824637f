"""What the two stages answered about a slot, as types: parsed once, and written as records that people read.

``stage1.jsonl`` and ``stage2.jsonl`` hold one such record a line, made again by every run from the engines'
replies (``answers.jsonl``). Whoever reads them back does it here, by ``from_json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from shotad.core import (
    Description,
    Identity,
    Interval,
    Message,
    Reply,
    ShotScale,
    Usage,
)
from shotad.core.engine import Facts
from shotad.core.records import seconds
from shotad.core.types import Role
from shotad.description.slotplan import NearbyName, ShownPerson, SlotPlan
from shotad.engines.answer_log import identity_record, prompt_record, reply_of, reply_record

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reply of an engine, and what was wrong with it, as the engine was told."""

    reply: Reply
    complaints: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        record = reply_record(self.reply)
        record.pop("notes", None)  # those of the reply that was taken stand in the answer itself
        return {**record, "complaints": list(self.complaints)}

    @staticmethod
    def from_json(record: Json) -> Attempt:
        """Raises KeyError, TypeError for what `to_json` did not write."""
        return Attempt(reply_of(record), tuple(record["complaints"]))


@dataclass(frozen=True, slots=True)
class ShownShot:
    """A shot of a slot's clip, by its painted ``number``: the part that is shown, and the seconds of its
    frames. ``index`` counts the shots of the film."""

    number: int
    index: int
    role: Role
    interval: Interval
    seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a line, as the narrator notes it: its ``kind`` and how sure it is
    (0 to 1); between which film seconds it is seen, and after how many words of the line it is said."""

    kind: str
    sure: float
    since: float | None = None
    until: float | None = None
    words_before: int = 0

    @staticmethod
    def from_json(record: Json) -> Statement:
        since, until = record.get("since"), record.get("until")
        return Statement(str(record["what"]), float(record["sure"]), since, until, record.get("after", 0))


@dataclass(frozen=True, slots=True)
class Stage1Answer:
    """What Stage I said of one slot, what it was shown and asked, and how it went.

    ``scales`` and ``threads`` go by painted numbers; ``effective_scale`` is 0 to 4. ``overlay`` is how shots
    are marked on the frames (None: they are shown as they are). ``nearby_names`` are those in the dialogue
    around the clip. ``leaks`` are marks that were found in the
    description, ``invented`` names that the model gave by itself. ``error`` is None, or why there is no
    description.
    """

    slot_id: str
    interval: Interval
    shots: tuple[ShownShot, ...]
    scales: Mapping[int, ShotScale]
    threads: tuple[tuple[int, ...], ...]
    effective_scale: float
    factors: tuple[str, ...]
    maker: Identity
    seed: int
    prompt: tuple[Message, ...]
    overlay: str | None
    people: tuple[ShownPerson, ...]
    nearby_names: tuple[NearbyName, ...]
    attempts: tuple[Attempt, ...]
    finish: str
    leaks: tuple[str, ...]
    invented: tuple[str, ...]
    error: str | None
    description: Description

    @property
    def facts(self) -> Facts | None:
        """What the engine measured in the clip; None for one that measures nothing."""
        notes = self.description.notes
        return Facts.from_json(notes) if "current" in notes else None

    def to_json(self) -> dict[str, Any]:
        """The record, as it stands in ``stage1.jsonl``; times to the microsecond."""
        tokens = sum((attempt.reply.usage for attempt in self.attempts), Usage())
        return {
            "slot": self.slot_id,
            "start": self.interval.start,
            "end": self.interval.end,
            "shots": [
                {
                    "number": shot.number,
                    "shot": shot.index,
                    "role": shot.role.value,
                    "start": seconds(shot.interval.start),
                    "end": seconds(shot.interval.end),
                    "seconds": [seconds(second) for second in shot.seconds],
                }
                for shot in self.shots
            ],
            "scales": {str(number): scale.value for number, scale in self.scales.items()},
            "threads": [list(thread) for thread in self.threads],
            "effective_scale": self.effective_scale,
            "factors": list(self.factors),
            "maker": identity_record(self.maker),
            "seed": self.seed,
            "prompt": prompt_record(self.prompt),
            "overlay": self.overlay,
            "characters": [person.to_json() for person in self.people],
            "heard": [
                {"name": nearby.name, "how": nearby.how, "seconds": seconds(nearby.seconds)}
                for nearby in self.nearby_names
            ],
            "finish": self.finish,
            "usage": {"tokens_in": tokens.tokens_in, "tokens_out": tokens.tokens_out},
            "tries": [attempt.to_json() for attempt in self.attempts],
            "leaks": list(self.leaks),
            "invented": list(self.invented),
            "error": self.error,
            "steps": dict(self.description.steps),
            "explanation": self.description.explanation,
            "raw": self.description.raw,
            "engine": self.description.engine,
            "notes": dict(self.description.notes),
        }

    @staticmethod
    def from_json(record: Json) -> Stage1Answer:
        """The answer that `to_json` wrote. Raises KeyError, TypeError, ValueError for what it did not."""
        description = Description(
            record["slot"],
            {str(heading): str(text) for heading, text in record["steps"].items()},
            record["explanation"],
            record["raw"],
            record["engine"],
            record["notes"],
        )
        answer = Stage1Answer(
            slot_id=record["slot"],
            interval=Interval(record["start"], record["end"]),
            shots=tuple(
                ShownShot(
                    int(row["number"]),
                    int(row["shot"]),
                    Role(row["role"]),
                    Interval(row["start"], row["end"]),
                    tuple(float(second) for second in row["seconds"]),
                )
                for row in record["shots"]
            ),
            scales={int(number): ShotScale(scale) for number, scale in record["scales"].items()},
            threads=tuple(tuple(int(number) for number in thread) for thread in record["threads"]),
            effective_scale=float(record["effective_scale"]),
            factors=tuple(record["factors"]),
            maker=Identity(**record["maker"]),
            seed=record["seed"],
            prompt=messages_of(record["prompt"]),
            overlay=record["overlay"],
            people=tuple(ShownPerson.from_json(row) for row in record["characters"]),
            nearby_names=tuple(
                NearbyName(
                    str(row["name"]), cast(Literal["spoken", "speaker"], row["how"]), float(row["seconds"])
                )
                for row in record["heard"]
            ),
            attempts=tuple(Attempt.from_json(row) for row in record["tries"]),
            finish=record["finish"],
            leaks=tuple(record["leaks"]),
            invented=tuple(str(name) for name in record["invented"]),
            error=record["error"],
            description=description,
        )
        answer.facts  # noqa: B018  measured facts that are none are refused here
        return answer


def shown_shots_of(plan: SlotPlan) -> tuple[ShownShot, ...]:
    """What the clip of a plan shows."""
    return tuple(
        ShownShot(
            frames.number, piece.shot.index, piece.role, piece.clipped, tuple(map(float, frames.seconds))
        )
        for piece, frames in zip(plan.shots, plan.frames, strict=True)
    )


def messages_of(rows: Sequence[Json]) -> tuple[Message, ...]:
    """The messages that `prompt_record` wrote."""
    return tuple(Message(row["role"], row["text"]) for row in rows)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line that may be spoken in a slot: what is wrong with it, what of it the frames do not show, and, of
    a narrator's line, its statements."""

    text: str
    complaints: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage2Answer:
    """The lines that Stage II wrote for one slot, what it was asked, and how it went.

    ``max_words`` is the slot's budget; ``history`` are the lines before it, oldest first. ``looks``
    are the second looks of Stage I's engine at what the lines state, ``unlooked`` says why the last
    of them failed (empty: it did not). ``error`` is None, or why there is no line. ``is_silent``: the engine
    found nothing worth saying. ``raw`` is the last reply, letter for letter, ``notes`` are the engine's own.
    """

    slot_id: str
    max_words: int | None
    history: tuple[str, ...]
    maker: Identity
    seed: int
    prompt: tuple[Message, ...]
    attempts: tuple[Attempt, ...]
    raw: str
    candidates: tuple[Candidate, ...]
    error: str | None = None
    is_silent: bool = False
    looks: tuple[Attempt, ...] = ()
    unlooked: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """Why the engine found nothing worth saying; empty where it does not say."""
        return str(self.notes.get("reason", ""))

    def to_json(self) -> dict[str, Any]:
        """The record, as it stands in ``stage2.jsonl``."""
        replies = [attempt.reply for attempt in (*self.attempts, *self.looks)]
        tokens = sum((reply.usage for reply in replies), Usage())
        last_finish = self.attempts[-1].reply.finish if self.attempts else "stop"
        record: dict[str, Any] = {
            "slot": self.slot_id,
            "budget": self.max_words,
            "history": list(self.history),
            "maker": identity_record(self.maker),
            "seed": self.seed,
            "prompt": prompt_record(self.prompt),
            "raw": self.raw,
            "finish": "error" if self.error else last_finish,
            "usage": {"tokens_in": tokens.tokens_in, "tokens_out": tokens.tokens_out},
            "tries": [attempt.to_json() for attempt in self.attempts],
        }
        if self.looks:
            record["looks"] = [attempt.to_json() for attempt in self.looks]
        if self.unlooked:
            record["unlooked"] = self.unlooked
        lines = list(enumerate(self.candidates))
        return {
            **record,
            "error": self.error,
            "candidates": [line.text for line in self.candidates],
            "complaints": {str(n): list(line.complaints) for n, line in lines if line.complaints},
            "unseen": {str(n): list(line.unseen) for n, line in lines if line.unseen},
            "notes": dict(self.notes),
        }

    @staticmethod
    def from_json(record: Json) -> Stage2Answer:
        """The answer that `to_json` wrote. Raises KeyError, TypeError, ValueError for what it did not."""
        statements = record["notes"].get("said", ())
        candidates = []
        for number, text in enumerate(record["candidates"]):
            candidate = Candidate(
                str(text),
                tuple(str(complaint) for complaint in record["complaints"].get(str(number), ())),
                tuple(str(claim) for claim in record["unseen"].get(str(number), ())),
                statements_of_line(statements, number),
            )
            candidates.append(candidate)
        return Stage2Answer(
            slot_id=record["slot"],
            max_words=record["budget"],
            history=tuple(record["history"]),
            maker=Identity(**record["maker"]),
            seed=record["seed"],
            prompt=messages_of(record["prompt"]),
            attempts=tuple(Attempt.from_json(row) for row in record["tries"]),
            raw=record["raw"],
            candidates=tuple(candidates),
            error=record["error"],
            is_silent=record["finish"] == "silent",
            looks=tuple(Attempt.from_json(row) for row in record.get("looks", ())),
            unlooked=record.get("unlooked", ""),
            notes=record["notes"],
        )


def statements_of_line(notes_of_lines: Sequence[Sequence[Json]], number: int) -> tuple[Statement, ...]:
    """The statements of line ``number``, from the narrator's notes on its lines; none without notes."""
    if number >= len(notes_of_lines):
        return ()
    return tuple(Statement.from_json(row) for row in notes_of_lines[number])
