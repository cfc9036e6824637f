"""Who makes actions: an engine in two steps, or rules on a dependency parse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from shotad.description import check_templates, prompt_hash
from shotad.evaluation.judges import asking
from shotad.evaluation.judges.asking import Answer, Judge
from shotad.evaluation.judges.verdicts import says_something
from shotad.evaluation.making import questions
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.rows import Json

RULES = "rules"
"""What stands for an engine where there is none."""
_GROUP = 64
"""Texts that go through both steps together."""


@dataclass(frozen=True, slots=True)
class Made:
    """What was made of one text. ``actions`` None: nothing, ``failure`` says why."""

    without_names: str
    actions: tuple[str, ...] | None
    failure: str = ""


class Maker(Protocol):
    """Makes actions of texts."""

    @property
    def identity(self) -> Json:
        """All that changes what is made of a text."""
        ...

    @property
    def made_by(self) -> str:
        """Who it is, in a few words for people."""
        ...

    def made(self, texts: Sequence[str]) -> Iterator[Made]:
        """What is made of each text, in order, as soon as it is known."""
        ...


class ByEngine:
    """An engine puts pronouns for people, then takes the text apart. Both answers are read strictly."""

    def __init__(self, name: str, bench: Bench) -> None:
        """Raises ShotadError for an engine that is unknown or cannot work here."""
        check_templates({**questions.TEMPLATES, **asking.TEMPLATES})
        self._judge = Judge(name, bench)

    @property
    def identity(self) -> Json:
        """Engine, model, revision, sampling and prompts. Fetches the model."""
        prompts = prompt_hash([*questions.TEMPLATES, *asking.TEMPLATES])
        return {"version": 1, **self._judge.identity, "prompts": prompts}

    @property
    def made_by(self) -> str:
        """``openai gpt-4o``, with the revision where there is one."""
        who = self._judge.identity
        return " ".join(filter(None, (who["engine"], who["model"], who["revision"])))

    def made(self, texts: Sequence[str]) -> Iterator[Made]:
        """What is made of each text, in order."""
        for first in range(0, len(texts), _GROUP):
            yield from self._group(texts[first : first + _GROUP])

    def _group(self, texts: Sequence[str]) -> Iterator[Made]:
        asked = list(dict.fromkeys(text for text in texts if says_something(text)))
        named = self._judge.answers([questions.names_question(text) for text in asked])
        bare = dict(zip(asked, named, strict=True))
        known = list(dict.fromkeys(one.value for one in bare.values() if one.value is not None))
        coming = zip(
            known, self._judge.answers([questions.split_question(one) for one in known]), strict=True
        )
        split: dict[str, Answer[tuple[str, ...]]] = {}
        for text in texts:
            one = bare.get(text, Answer(None, "it has no words"))
            while one.value is not None and one.value not in split:
                split.update([next(coming)])
            yield _made(one, split)


def _made(named: Answer[str], split: dict[str, Answer[tuple[str, ...]]]) -> Made:
    if named.value is None:
        return Made("", None, f"people could not be taken out: {named.failure}")
    actions = split[named.value]
    wrong = f"the text could not be taken apart: {actions.failure}" if actions.value is None else ""
    return Made(named.value, actions.value, wrong)


class ByRules:
    """Rules on a dependency parse, for data without an engine; see `shotad.evaluation.action.by_rule`."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    @property
    def identity(self) -> Json:
        """That there was no engine, and the parser."""
        from shotad.evaluation.measure.texts import parser_of

        return {"version": 1, "engine": RULES, "parser": parser_of(self._bench).identity}

    @property
    def made_by(self) -> str:
        """``rules by en_core_web_sm, no engine``."""
        return f"{RULES} by {self._bench.settings.parser.model}, no engine"

    def made(self, texts: Sequence[str]) -> Iterator[Made]:
        """What is made of each text, in order. Raises ShotadError without spaCy or its model."""
        from shotad.evaluation.action.by_rule import actions_by_rule
        from shotad.evaluation.action.removing import without_characters
        from shotad.evaluation.measure.texts import parser_of

        parses = parser_of(self._bench).of(texts)
        for text, actions in zip(texts, actions_by_rule(texts, self._bench), strict=True):
            if actions:
                yield Made(without_characters(parses[text]), actions)
            else:
                yield Made("", None, "the rules found no action")


def make_maker(name: str, bench: Bench) -> Maker:
    """The maker called ``rules``, or an engine by name (`JudgeName`). Raises ShotadError."""
    return ByRules(bench) if name == RULES else ByEngine(name, bench)
