"""The embedded Stage II: one AD sentence from measured facts, by a small grammar, without a model.

What it says was measured; what it does not know it does not say.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from shotad.core import Abilities, Config, EngineError, Facts, Identity, Named, Reply, Request, Usage, key_of
from shotad.engines.narrator_phrases import Statement
from shotad.engines.narrator_sentence import Memory, Sentence, Timing, lines, plans
from shotad.engines.narrator_statements import find_statements
from shotad.engines.narrator_words import without_names
from shotad.engines.table import ENGINES, stage_engines
from shotad.script import check_line

REVISION = "10"
"""Raise it with every change to the grammar that changes a line: records depend on it."""
SURE = 0.5
"""Facts less sure than this are not said: they are as likely wrong as right."""
LEAST_WORTH = 20.0
"""Silence below this (title 100, someone enters 60, someone is there 10; less when just said)."""
STATEMENTS = 3
"""Statements that one sentence may join; with four it is not followed by ear."""
_UNLIMITED = 60
"""Words to plan for where a request sets no budget."""


class Narrator:
    """Composes sentences in English from the observer's facts; the same request gets the same answer."""

    def __init__(self, settings: Config) -> None:
        if settings.language.split("-")[0] != "en":
            raise EngineError(
                f"The embedded narrator writes English, not language = {settings.language!r}.",
                "Describe in English, then let a language model translate the track: shotad translate FILM "
                f"--to {settings.language}. Or choose another engine, as --engine openai.",
            )
        looks = stage_engines(settings).stage1
        if looks in ENGINES and looks != "observer":
            raise EngineError(
                f"The embedded narrator writes of what the observer measures, not of the words of {looks}.",
                "Let a language model write (stage2.engine = openai), or take both: --engine embedded.",
                again=False,
            )
        known = key_of(settings.narrator, settings.slots.seconds_per_word)
        self.identity = Identity("narrator", "grammar", f"{REVISION}-{known}")
        self.abilities = Abilities(accepts_images=False, uses_history=True, converses=False)
        self._settings = settings.narrator
        self._pace = settings.slots.seconds_per_word

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order."""
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        # The fields that the answer must have as JSON; none for plain text
        names = list((request.schema or {}).get("properties", {}))
        try:
            made, notes = self._tell(request, max(len(names), 1))
        except (KeyError, TypeError, ValueError) as error:
            return Reply("", "error", error=f"The facts cannot be read: {type(error).__name__}: {error}")
        texts = [text for text, _ in made]
        usage = Usage(tokens_out=sum(len(text.split()) for text in texts))
        if not texts:
            return Reply("", "silent", notes=notes)
        if not names:
            return Reply(texts[0], usage=usage, notes=notes)
        answer = dict(zip(names, [*texts, *[""] * (len(names) - len(texts))], strict=True))
        return Reply(json.dumps(answer, ensure_ascii=False), usage=usage, notes=notes)

    def _tell(self, request: Request, number: int) -> tuple[list[Sentence], dict[str, Any]]:
        """The lines; what each states and how surely, or why there is none; texts that are not read."""
        facts = Facts.from_json(request.notes)
        memory = _memory(request, facts)
        room = _UNLIMITED if request.budget is None else request.budget
        # When lines can be spoken; None where the slot is not known
        scene, timing = request.scene, None
        if scene is not None:
            starts = {shot: piece.clipped.start for shot, piece in enumerate(scene.context)}
            timing = Timing(scene.slot, self._pace, starts)
        statements, unread = find_statements(facts, memory, room, SURE, timing)
        able = [s for s in statements if s.worth >= LEAST_WORTH]
        found = self._lines(able, memory, request, timing, number)
        if not found and self._settings.always:
            able = statements
            found = self._lines(able, memory, request, timing, 1, again=True)
        notes: dict[str, Any] = {"unread": unread} if unread else {}
        if found:
            said = [[_said(statement, after) for statement, after in told] for _, told in found]
            return found, {"said": said, **notes}
        late = timing is not None and self._lines(able, memory, request, None, 1)
        if late:
            reason = "what there is to tell comes too late in the slot for a line"
        elif unread:
            reason = f"text on screen is not read: {unread[0]['reason']}"
        elif able:
            reason = f"nothing that is new fits into {request.budget} words"
        elif any(memory.lines_since_any(s.clauses) is not None for s in statements):
            reason = "what can be said was said in the last lines"
        else:
            reason = "nothing was measured that is worth a line"
        return [], {"reason": reason, **notes}

    def _lines(
        self,
        able: Sequence[Statement],
        memory: Memory,
        request: Request,
        timing: Timing | None,
        number: int,
        *,
        again: bool = False,
    ) -> list[Sentence]:
        """As many different lines as are wanted, or can be made in time; ``again``: copies too."""
        found: list[Sentence] = []
        groups = list(plans(able, STATEMENTS))
        if number > 1:  # each alone comes early
            groups = [*groups[:1], *(group for group in groups if len(group) == 1), *groups[1:]]
        once: dict[frozenset[Statement], tuple[Statement, ...]] = {}
        for group in groups:
            once.setdefault(frozenset(group), group)
        for group in once.values():
            made = lines(group, memory, request.budget)
            in_time = (line for line in made if timing is None or timing.allows(line))
            line = next((line for line in in_time if _fit(line, request, again=again)), None)
            if line and all(line[0] != text for text, _ in found):
                found.append(line)
            if len(found) == number:
                break
        return found


def _memory(request: Request, facts: Facts) -> Memory:
    """The last lines, and who can be meant in them."""
    scene = request.scene
    cast = scene.presence.cast if scene else ()
    known = {name.id: name for fact in facts.people for name in fact.names}
    known |= {c.id: Named(c.id, c.called, c.pronoun, c.named) for c in cast if c.called and c.id not in known}
    spoken = scene is not None and any(speech.start < scene.slot.start for speech in scene.speech)
    return Memory(request.history, request.seed, tuple(known.values()), cast, spoken)


def _fit(line: Sentence, request: Request, *, again: bool = False) -> bool:
    """True where no rule is broken; names that look like words break none, nor does a copy with ``again``."""
    text, told = line
    words = check_line(without_names(text, [name for statement, _ in told for name in statement.names]))
    copies = not again and any(f.rule == "L9" for f in check_line(text, previous=request.history))
    return not words and not copies


def _said(statement: Statement, after: int) -> dict[str, Any]:
    """``since`` and ``until`` are the seconds between which it is to be seen, ``after`` is how many words of
    the line come before it, ``who`` are the ids of those it names, where it names somebody."""
    said: dict[str, Any] = {"what": statement.key, "shot": statement.shot, "sure": round(statement.sure, 3)}
    if statement.since is not None:
        until = None if statement.until is None else round(statement.until, 3)
        said |= {"since": round(statement.since, 3), "until": until, "after": after}
    return {**said, "who": [name.id for name in statement.names]} if statement.names else said
