"""The replies of engines as they are kept: in memory of nothing, or in ``answers.jsonl`` of the work folder.

A reply is kept at once under a key of all that can change it (`answer_key`), with its question in readable
form. A run that is begun again finds it and does not ask, and people can read what was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from shotad.core import Identity, Message, RecordLog, Reply, Request, Usage
from shotad.core.engine import Stage
from shotad.core.workfolder import hash_key


class Memory(Protocol):
    """Keeps replies by key, for this run and later ones. May be called by several threads."""

    def get(self, key: str) -> Reply | None:
        """The reply that was kept, or None. A failed one is asked for again."""
        ...

    def add(self, key: str, stage: Stage, request: Request, identity: Identity, reply: Reply) -> Reply:
        """Keep a reply at once. Returns it as a later run gets it, so that both see the same.

        Raises WorkFolderError for a full disk.
        """
        ...

    def forget(self, keys: Iterable[str]) -> None:
        """Let later runs ask again for the replies with these keys: nothing that can be used came of them."""
        ...


class NoMemory:
    """Keeps nothing: every question goes to the engine."""

    def get(self, key: str) -> Reply | None:
        return None

    def add(self, key: str, stage: Stage, request: Request, identity: Identity, reply: Reply) -> Reply:
        return reply

    def forget(self, keys: Iterable[str]) -> None:
        pass


ANSWERS_RECORD = "answers"
"""The name of ``answers.jsonl`` in the work folder: every question to an engine, with its reply."""


def _sort_key(record: Mapping[str, Any]) -> tuple[str, ...]:
    """By what answers are sorted in the log: slot, purpose, stage, first questions before repeats, key."""
    # A question that is asked again carries the turns before it, so its prompt is longer.
    turns = len(record.get("prompt", ()))
    return (
        str(record.get("slot")),
        str(record.get("purpose")),
        str(record.get("stage")),
        f"{turns:03}",
        str(record["key"]),
    )


DESCRIPTION_PURPOSE = "description"
"""The purpose of the questions by which a film is described."""


class AnswerLog:
    """A `Memory` in a log of records: one line per reply, with its question in readable form.

    ``purpose`` says what the questions are for (``description``, ``translate.de``): several purposes share
    the log, and `tidy` drops only replies of its own. ``anew``: replies of earlier runs are not used; they
    stay until a new one replaces them.
    """

    def __init__(self, log: RecordLog, purpose: str = DESCRIPTION_PURPOSE, *, anew: bool = False) -> None:
        self._log = log
        self._purpose = purpose
        self._anew = anew
        self._used: dict[str, None] = {}

    def get(self, key: str) -> Reply | None:
        record = self._log.get(key)
        if record is None or record.get("error") is not None:
            return None
        if (self._anew or record.get("again")) and key not in self._used:
            return None
        try:
            reply = reply_of(record)
        except (KeyError, TypeError, ValueError):
            return None  # a person has edited the record
        self._used[key] = None
        return reply

    def add(self, key: str, stage: Stage, request: Request, identity: Identity, reply: Reply) -> Reply:
        self._used[key] = None
        record = answer_record(self._purpose, stage, request, identity, reply)
        return reply_of(self._log.add(key, record))

    def forget(self, keys: Iterable[str]) -> None:
        for key in keys:
            record = self._log.get(key)
            if record is not None and not record.get("again"):
                # Marked instead of deleted: people may want to read it.
                self._log.add(key, {**record, "again": True})

    def _is_wanted(self, record: Mapping[str, Any]) -> bool:
        return record["key"] in self._used or record.get("purpose") != self._purpose

    def tidy(self) -> None:
        """Lay aside the replies of this purpose that this run did not use.

        They may have been paid for, and serve when the settings or the engine of an earlier run are chosen
        again. Of those to a question of the same slot, engine and seed the last one is kept. No other
        `AnswerLog` may be in use on the same file: what it has added since would be lost.
        """

        def aside_name(record: Mapping[str, Any]) -> tuple[str, str, str, int] | None:
            if record.get("error") is not None or record.get("again"):
                return None
            slot, stage = str(record.get("slot")), str(record.get("stage"))
            return slot, stage, hash_key(record.get("maker")), record.get("seed", 0)

        kept_records = [record for record in self._log.records() if self._is_wanted(record)]
        kept_records.sort(key=_sort_key)
        self._log.keep([record["key"] for record in kept_records], aside_name)


def answer_record(
    purpose: str, stage: Stage, request: Request, identity: Identity, reply: Reply
) -> dict[str, Any]:
    """The record of a question and its reply in ``answers.jsonl``; `reply_of` reads the reply back."""
    return {
        "purpose": purpose,
        "stage": stage,
        "slot": request.slot_id,
        "maker": identity_record(identity),
        "seed": request.seed,
        "prompt": prompt_record(request.messages),
        **reply_record(reply),
    }


def reply_record(reply: Reply) -> dict[str, Any]:
    """The fields of a record that hold a reply; `reply_of` reads them back."""
    record: dict[str, Any] = {
        "raw": reply.text,
        "finish": reply.finish,
        "error": reply.error,
        "usage": {"tokens_in": reply.usage.tokens_in, "tokens_out": reply.usage.tokens_out},
    }
    if reply.notes:
        record["notes"] = dict(reply.notes)
    if reply.batch:
        record["batch"] = list(reply.batch)
    if reply.calls != 1:
        record["calls"] = reply.calls
    if reply.shown:
        record["shown"] = reply.shown
    return record


def reply_of(record: Mapping[str, Any]) -> Reply:
    """The reply that `reply_record` wrote."""
    return Reply(
        record["raw"],
        record["finish"],
        Usage(**record["usage"]),
        record["error"],
        notes=record.get("notes", {}),
        batch=tuple(record.get("batch", ())),
        calls=record.get("calls", 1),
        shown=record.get("shown", ""),
    )


def prompt_record(messages: Iterable[Message]) -> list[dict[str, str]]:
    """Role and text of each message: the exact prompt, as a record keeps it."""
    return [{"role": message.role, "text": message.text} for message in messages]


def identity_record(identity: Identity) -> dict[str, str]:
    """Engine, model and revision, as a record keeps them."""
    return {"engine": identity.engine, "model": identity.model, "revision": identity.revision}


def answer_key(request: Request, identity: Identity, clip_key: str = "") -> str:
    """The key of a reply: a hash of all that can change it. ``clip_key`` stands for the pixels."""
    scene = request.scene
    scene_values = None
    if scene is not None:
        speech_times = [[speech.interval.start, speech.interval.end] for speech in scene.speech]
        shots = [[s.shot.index, s.role, s.clipped.start, s.clipped.end] for s in scene.context]
        scene_values = [scene.slot.start, scene.slot.end, scene.credits, speech_times, shots]
    return hash_key(
        "ask/1",
        request.slot_id,
        identity_record(identity),
        prompt_record(request.messages),
        clip_key,
        scene_values,
        request.budget,
        list(request.history),
        request.sampling.model_dump(),
        request.seed,
        request.schema,
        request.notes,
        request.timed,
    )
