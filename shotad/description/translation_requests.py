"""Asking for a few lines together until each has a translation that can be used, or no attempt is left.

What was good is kept; only what was wrong is asked for again, with what was wrong. After an answer that could
not be read, or a refusal, lines are asked for one by one: one line must not take others along. Answers are
read by id, out of JSON, broken JSON, or a bare line where one was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from shotad.core import Engine, RefusalError, Reply, Request, SamplingSettings, ScriptError
from shotad.description.answers import is_nothing, is_refusal, quoted, refuses, unescaped, without_thoughts
from shotad.description.conversation import ask_all, slot_seed, try_record
from shotad.description.translation_prompt import (
    MISSING,
    REPEATED,
    Around,
    Fault,
    SourceLine,
    Task,
    faults_of,
    messages,
    repeats,
    schema,
)
from shotad.script import clean_text, own_signs

_PAIRS = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"))
_RETRY = "Run again: only what is missing is asked for."


def read_answer(text: str, ids: Sequence[str]) -> dict[str, str]:
    """The translations of an answer by id, of those asked for (``ids``); others are left out.

    Raises RefusalError where a model will not translate, ScriptError where nothing can be read.
    """
    body = without_thoughts(text)
    pairs: list[tuple[str, str]] = []
    for name in ids:
        # An id and its text in JSON: whole, broken, or cut off behind it; also as an object with the id
        after = rf"[\"']?{re.escape(name)}[\"']?\s*+(?:[:=]\s*+|,\s*+\"\w+\"\s*+:\s*+)"
        if (match := re.search(rf'{after}"((?:[^"\\]|\\.)*+)"', body, re.DOTALL)) is not None:
            pairs.append((name, unescaped(match[1])))
    lines = [line.strip() for line in body.replace("```", "\n").splitlines() if line.strip()]
    if not pairs and len(ids) == len(lines) == 1 and not re.search(r"[{}\[\]]", lines[0]):
        # Nothing but a line, where a single one was asked for
        pairs.append((ids[0], re.sub(rf"^{re.escape(ids[0])}\s*[:=]\s*", "", lines[0])))
    found = {name: line for name, said in pairs if (line := one_line(said))}
    found = {name: line for name, line in found.items() if not is_nothing(line) and not is_refusal(line)}
    if found:
        return found
    if refuses(body):
        raise RefusalError(f"The model refused to translate: {quoted(text)}.", _RETRY)
    raise ScriptError(f"No translation can be read: {quoted(text)}.", _RETRY)


def one_line(text: str) -> str:
    """A translation as it can be spoken: one line, without emphasis."""
    plain = re.sub(r"\*\*|__(?=\w)|(?<=\w)__|`", "", clean_text(text))
    return " ".join(plain.split())


def unwrapped(text: str, source: str) -> str:
    """The translation without quotation marks around the whole of it, where the line has none."""
    bare = source.strip()
    if any(bare.startswith(first) and bare.endswith(last) for first, last in _PAIRS):
        return text
    for first, last in _PAIRS:
        inner = text[1:-1]
        wrapped = len(text) > 2 and text[0] == first and text[-1] == last
        if wrapped and first not in inner and last not in inner:
            return inner.strip()
    return text


ATTEMPTS = 3
"""How often a line is asked for, where its translation cannot be used."""
_UNREADABLE = Fault("missing", "Your answer did not have the form asked for.")
_REFUSED = Fault("refused", "This is audio description of a published film. Translate it in plain words.")


@dataclass(slots=True)
class Attempted:
    """How far a line has come: its best translation so far, what is wrong with it, what was wrong last."""

    line: SourceLine
    text: str = ""
    faults: tuple[Fault, ...] = (MISSING,)
    last: tuple[Fault, ...] = ()
    """Empty: not asked yet."""
    said: str = ""
    """What came last."""
    error: str = ""
    """Why there was no answer: the engine's own word."""
    given_up: bool = False
    softly: bool = False
    """Whether it was asked for again because of faults that may stay."""

    @property
    def usable(self) -> bool:
        """Whether the translation can be spoken, if only shortened."""
        return bool(self.text) and all(fault.soft or fault.fits_not for fault in self.faults)

    @property
    def why(self) -> str:
        """Why there is no translation, for people; empty where there is one."""
        if self.usable:
            return ""
        if self.error and not self.said:
            return self.error
        told = f": {quoted(self.said)}" if self.said else ""
        return f"{_WHY[(self.last or (MISSING,))[0].kind]}{told}"

    @property
    def open(self) -> bool:
        """Whether to ask for it again."""
        if self.given_up:
            return False
        return any(not fault.soft for fault in self.faults) or (bool(self.faults) and not self.softly)

    def take(self, text: str, faults: tuple[Fault, ...]) -> None:
        """Note another translation, and keep it where it is the best so far."""
        self.last, self.said = faults, text
        if not self.text or _badness(faults) < _badness(self.faults):
            self.text, self.faults = text, faults


_WHY = {
    "missing": "the answers held no translation of it",
    "refused": "the model refused to translate it",
    "language": "the translation is in another language",
    "copied": "the line came back untranslated",
    "markup": "the translation holds markup",
    "length": "the translation is too long",
    "name": "a name is missing",
    "repeated": "the same sentence came for other lines",
    "quote": "what is read from the screen is missing",
}


def _badness(faults: Sequence[Fault]) -> tuple[int, int, int]:
    hard = sum(not fault.soft and not fault.fits_not for fault in faults)
    return hard, sum(fault.fits_not for fault in faults), sum(fault.soft for fault in faults)


@dataclass(slots=True)
class Batch:
    """A few consecutive lines that are asked for together. ``tries`` are the calls made for them."""

    lines: tuple[SourceLine, ...]
    task: Task
    around: Around
    sampling: SamplingSettings
    seed: int
    tries: list[dict[str, Any]] = field(default_factory=list)

    def requests(self, groups: Sequence[Sequence[Attempted]], attempt: int) -> list[Request]:
        """The questions of one attempt, one about each group of lines."""
        found = []
        for group in groups:
            lines, wrong = [one.line for one in group], []
            for one in group:
                if one.last:
                    said = f"You wrote {quoted(one.said)}. " if one.said else ""
                    faults = " ".join(dict.fromkeys(fault.text for fault in one.last))
                    wrong.append((one.line.id, said + faults))
            found.append(
                Request(
                    slot_id=lines[0].id,
                    messages=messages(lines, self.task, self.around, wrong),
                    budget=sum(line.words for line in lines),
                    sampling=self.sampling,
                    seed=slot_seed(self.seed, f"{lines[0].id}/translate/{self.task.target.tag}/{attempt}"),
                    schema=schema(lines),
                )
            )
        return found


def translated(batch: Batch, engine: Engine) -> list[Attempted]:
    """The lines of the batch with their best translations. Raises what an engine raises to stop a run."""
    every = [Attempted(line) for line in batch.lines]
    apart = False
    for attempt in range(ATTEMPTS):
        open_ = [one for one in every if one.open]
        if not open_:
            break
        for one in open_:
            one.softly = one.softly or bool(one.last)
        groups = [[one] for one in open_] if apart else [open_]
        for group, reply in zip(groups, ask_all(engine, batch.requests(groups, attempt)), strict=True):
            apart = not _answered(group, reply, batch, every) or apart
    return every


def _answered(group: Sequence[Attempted], reply: Reply, batch: Batch, every: Sequence[Attempted]) -> bool:
    """Takes what a reply holds; False where it could not be read at all. ``every`` are the batch's lines."""
    if reply.error is not None:
        # What fails for several lines may go well for each, so only a line that fails alone is given up.
        for one in group:
            one.error = reply.error
            one.given_up = len(group) == 1
        batch.tries.append(try_record(reply))
        return False
    try:
        if reply.finish == "refused":
            raise RefusalError(reply.text or "refused")
        found = read_answer(reply.text, [one.line.id for one in group])
    except ScriptError as trouble:
        fault = _REFUSED if isinstance(trouble, RefusalError) else _UNREADABLE
        for one in group:
            one.take("", (fault,))
        batch.tries.append(try_record(reply, [trouble.what]))
        return False
    complaints = []
    texts = {
        one.line.id: own_signs(unwrapped(found.get(one.line.id, ""), one.line.text), batch.task.target.tag)
        for one in group
    }
    told = {one.line.id: (one.line.text, texts.get(one.line.id, one.text)) for one in every}
    for one in group:
        text = texts[one.line.id]
        faults = faults_of(text, one.line, batch.task) if text else (MISSING,)
        others = [pair for name, pair in told.items() if name != one.line.id]
        if text and repeats(text, one.line.text, [*batch.around.before, *others]):
            faults = (REPEATED, *faults)
        one.take(text, faults)
        complaints += [f"{one.line.id}: {fault.text}" for fault in faults]
    batch.tries.append(try_record(reply, complaints))
    return True
