"""Choosing along the film: each time the candidate that adds most to what has been said.

The idea is CoherentAD's (Khandelwal et al. 2025, arXiv 2510.25440): several candidates for each slot, of
which one is taken after the other, each in view of those taken before. There a language model scores
them; here either sentence embeddings do, by relevance less redundancy (maximal marginal relevance, Carbonell
and Goldstein 1998) over a memory that fades, or the engine of Stage II is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import Config, Identity, Message, Progress, Reply, Request, SamplingSettings, key_of
from shotad.description.ask import identity_record, prompt_record, request_record, slot_seed, usage_record
from shotad.description.blocks import material, question
from shotad.description.choice import (
    FADING,
    LAST,
    ByRules,
    Chooser,
    Line,
    Situation,
    coverage,
    repeats,
    soundest,
)
from shotad.description.choosing import choice_in
from shotad.description.templates import render
from shotad.script import Embedder, check_installed, make_embedder

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts → float32[n, d], a unit vector to each."""

Known = Callable[[str], Mapping[str, Any] | None]
"""The record of a question that was answered before, by its key."""

Keep = Callable[[str, Mapping[str, Any]], None]
"""Keeps the record of a question, by its key."""

REDUNDANCY = 0.5
"""What a line's likeness to what was said weighs, against its relevance."""
COVERAGE = 0.2
"""What the words of the description that a line says weigh beside its meaning: embeddings alone do not
tell a line from its first half."""
WARNING = 0.05
"""What each warning takes off a line's worth."""
MEMORY = 40
"""Lines back that are remembered; older ones count less than 0.2 % of the last."""
UNKNOWN = Identity("")
"""Who is asked, where that is not told; the settings of Stage II stand for it in the record's key."""
ANSWER = SamplingSettings(temperature=0.0, top_p=1.0, max_tokens=64)
"""How a choice is drawn: the likeliest answer, which is short."""


@dataclass(frozen=True, slots=True)
class BySequence:
    """Chooses by embeddings. Lines that break more rules which a line must not break are out, and so are near
    copies of the last ten lines where others are left.

    A line's worth is its relevance (its cosine to the description, and 0.2 times its coverage of it as in
    `ByRules`) less 0.5 times its redundancy (the greatest cosine to a line that was said, each counting
    0.85 times the one after it), less 0.05 for each warning. Of equals the first is taken.
    """

    embed: Embed
    redundancy: float = REDUNDANCY
    fading: float = FADING

    def choose(self, lines: Sequence[Line], situation: Situation) -> int:
        """Index of the line with the greatest worth."""
        able = soundest(lines)
        able = tuple(i for i in able if not repeats(lines[i], situation.said)) or able
        if len(able) == 1:
            return able[0]
        worth = self.worths([lines[i].text for i in able], situation)
        for place, index in enumerate(able):
            worth[place] -= WARNING * lines[index].warnings
        # Rounded, so that the last bits of a batch decide nothing.
        return able[int(np.argmax(worth.round(5)))]

    def worths(self, texts: Sequence[str], situation: Situation) -> npt.NDArray[np.float64]:
        """float64[n]: relevance less redundancy of each text."""
        body = body_of(situation.description)
        said = situation.said[-MEMORY:]
        vectors = self.embed([*texts, body, *said]).astype(np.float64)
        own, described, heard = np.split(vectors, [len(texts), len(texts) + 1])
        worth = COVERAGE * np.array(coverage(texts, body))
        if body:
            worth += own @ described[0]
        if said:
            ages = np.arange(len(said) - 1, -1, -1)
            worth -= self.redundancy * (np.clip(own @ heard.T, 0, None) * self.fading**ages).max(axis=1)
        return worth


def body_of(description: str) -> str:
    """The description without numbers and headings: ``2. Actions: Ann sits. → Ann sits.``"""
    return " ".join(filter(None, (_HEADING.sub("", step).strip() for step in description.splitlines())))


_HEADING = re.compile(r"^\s*\d+\.\s+[A-Z][\w ]{0,40}:\s*")


@dataclass(frozen=True, slots=True)
class ByEngine:
    """Chooses by asking the engine of Stage II, which sees the last lines and the numbered candidates.

    Lines that break more rules than others which a line must not break, and near copies of the last lines
    where there are others, are not shown; where one line is left nothing is asked. Each question and
    answer is kept under its key, so that a second run asks only where the call had failed. Where the answer
    names no candidate, `ByRules` chooses, and the record says so.
    """

    ask: Callable[[Request], Reply]
    known: Known
    keep: Keep
    config: Config
    identity: Identity = UNKNOWN
    otherwise: Chooser = field(default_factory=ByRules)

    def choose(self, lines: Sequence[Line], situation: Situation) -> int:
        """Index of the line that the engine chose."""
        able = soundest(lines)
        able = tuple(i for i in able if not repeats(lines[i], situation.said)) or able
        if len(able) == 1:
            return able[0]
        request = self.question([lines[i] for i in able], situation)
        key = self._key(request)
        record = self.known(key)
        if record is None or record.get("error") is not None:
            record = self._asked(request, [lines[i].text for i in able])
            self.keep(key, record)
        chosen = record["chosen"]
        return self.otherwise.choose(lines, situation) if chosen is None else able[chosen]

    def question(self, lines: Sequence[Line], situation: Situation) -> Request:
        """What is asked about these lines, numbered from 1."""
        said = situation.said[-LAST:]
        before = (
            render("stage2/choose-before", lines=material(_listed(said)))
            if said
            else render("stage2/choose-first")
        )
        text = render(
            "stage2/choose",
            description=situation.description,
            before=before,
            lines="\n".join(f"{number}. {line.text}" for number, line in enumerate(lines, 1)),
            template=json.dumps({"choice": 1}),
        )
        system = render("stage2/choose-system", medium=self.config.prompt.medium)
        slot = situation.slot.id
        return Request(
            slot_id=slot,
            messages=(Message("system", system), question(text)),
            sampling=ANSWER,
            seed=slot_seed(self.config.seed, f"{slot}/choice"),
            schema=_schema(len(lines)),
        )

    def _key(self, request: Request) -> str:
        stage = self.config.stage2
        settings = [self.config.engine, stage.engine, stage.model, stage.revision]
        who = settings if self.identity == UNKNOWN else []
        return key_of("choice", request_record(request, self.identity), who)

    def _asked(self, request: Request, texts: Sequence[str]) -> dict[str, Any]:
        reply = self.ask(request)
        said_nothing = reply.error is not None or reply.finish == "refused"
        chosen = None if said_nothing else choice_in(reply.text, texts)
        note = "" if chosen is not None else "no candidate was named; the rules for a single slot chose"
        return {
            "slot": request.slot_id,
            "maker": identity_record(self.identity),
            "seed": request.seed,
            "prompt": prompt_record(request.messages),
            "raw": reply.text,
            "finish": reply.finish,
            "usage": usage_record([reply]),
            "error": reply.error,
            "chosen": chosen,
            "note": note,
        }


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _schema(number: int) -> dict[str, Any]:
    choice = {"type": "integer", "minimum": 1, "maximum": number}
    return {
        "type": "object",
        "properties": {"choice": choice},
        "required": ["choice"],
        "additionalProperties": False,
    }


def make_chooser(
    config: Config,
    ask: Callable[[Request], Reply],
    known: Known,
    keep: Keep,
    progress: Progress | None = None,
    *,
    identity: Identity = UNKNOWN,
) -> Chooser:
    """The chooser of ``stage2.select``. ``identity`` is that of the engine behind ``ask``.

    A model of embeddings is loaded at the first choice that needs it; where its library is not installed,
    ShotadError is raised at once.
    """
    if config.stage2.select == "engine":
        return ByEngine(ask, known, keep, config, identity)
    if config.stage2.select == "sequence":
        check_installed()
        return BySequence(_Lazy(config, progress))
    return ByRules()


class _Lazy:
    """Embeddings by a model that is loaded when they are first wanted; each text is embedded once."""

    def __init__(self, config: Config, progress: Progress | None) -> None:
        self._config, self._progress = config, progress
        self._embedder: Embedder | None = None
        self._made: dict[str, npt.NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if self._embedder is None:
            self._embedder = make_embedder(compute=self._config.compute, progress=self._progress)
        new = [text for text in dict.fromkeys(texts) if text not in self._made]
        if new:
            self._made.update(zip(new, self._embedder.of(new), strict=True))
        return np.stack([self._made[text] for text in texts])
