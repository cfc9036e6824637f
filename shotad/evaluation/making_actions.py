"""``evaluate actions``: texts in, a file of actions in the published format out, and who made them.

An engine makes them in two steps, or rules on a dependency parse do: first people become pronouns, then the
text is taken apart into actions. The two steps and what they keep are those of Shot-by-Shot (appendix B);
words and examples are our own, in ``prompts/actions``. An answer must be made of the text's own words:
models hand examples back, and tell how they went about it. 34 of the 7,314 ADs of CMD-AD with published
actions would be refused, most of them such.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.core import DatasetError, NoProgress, Progress, readable_json, reported, write_text
from shotad.evaluation.datasets.loading import load_dataset
from shotad.evaluation.datasets.tables import counted, csv_text, read_records
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.by_rule import actions_by_rule, without_characters
from shotad.evaluation.metrics.judge import (
    STRING,
    Answer,
    Judge,
    Part,
    Question,
    Steps,
    Unreadable,
    checked_prompts,
    in_groups,
    listing,
    question,
    quoted,
    sentence,
    together,
)
from shotad.evaluation.metrics.judged import says_something
from shotad.evaluation.store import MetricContext, parser_of
from shotad.script import COORDINATING, DETERMINERS, NOMINATIVE, PREPOSITIONS, PRONOUNS, RELATIVE, listed

COLUMNS = ("anno_idx", "imdbid", "text_gt", "text_gt_wo_char", "gt_action", "made_by")
"""The published ones, and who made the row."""
UNKNOWN = "0"
"""What the published files hold where there are no actions."""


@dataclass(frozen=True, slots=True)
class MadeActions:
    """What was made of each AD, and by whom. ``identity`` is all that changes it."""

    ads: tuple[AdText, ...]
    made: tuple[Made, ...]
    made_by: str
    identity: Json

    @property
    def failed(self) -> tuple[tuple[str, str], ...]:
        """The ids of the ADs without actions, each with the reason."""
        pairs = zip(self.ads, self.made, strict=True)
        return tuple((ad.id, one.failure) for ad, one in pairs if one.actions is None)

    @property
    def count(self) -> int:
        """How many actions there are in all."""
        return sum(len(one.actions or ()) for one in self.made)

    @property
    def text(self) -> str:
        """What came of it, for people."""
        known = len(self.ads) - len(self.failed)
        mean = f", {self.count / known:.2f} for each of these" if known else ""
        lines = [
            f"{self.count:,} actions of {known:,} of {len(self.ads):,} ADs{mean}. Made by {self.made_by}."
        ]
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.failed:
            by_reason.setdefault(reason, []).append(name)
        for reason, names in sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0])):
            lines.append(f"No actions for {len(names):,} ADs ({counted(names)}): {reason}")
        return "\n".join(lines)

    def record(self) -> Json:
        """What came of it, as JSON."""
        return {
            "shotad": __version__,
            "n": {"ads": len(self.ads), "failed": len(self.failed), "actions": self.count},
            "made_by": self.made_by,
            "identity": self.identity,
            "failed": [{"id": name, "reason": reason} for name, reason in self.failed],
        }


def make_actions(ads: Sequence[AdText], maker: Maker, progress: Progress | None = None) -> MadeActions:
    """The actions of each AD. What an engine answered is kept on the maker's context as it comes.

    Raises EngineError for what stops an engine.
    """
    made = []
    with reported(progress or NoProgress(), f"Making actions by {maker.made_by}", len(ads), "ADs") as task:
        for one in maker.made([ad.text for ad in ads]):
            made.append(one)
            task.advance(1)
    return MadeActions(tuple(ads), tuple(made), maker.made_by, maker.identity)


def write_actions(made: MadeActions, out: Path) -> tuple[Path, ...]:
    """Write the CSV file (a row for each AD, actions as Python writes a list), and beside it who made it how,
    and what failed. Both paths."""
    about = out.with_suffix(".about.json")
    write_text(about, readable_json(made.record()))
    rows = []
    for ad, one in zip(made.ads, made.made, strict=True):
        actions = UNKNOWN if one.actions is None else repr(list(one.actions))
        rows.append((ad.id, ad.film, ad.text, one.without_names, actions, made.made_by))
    write_text(out, csv_text(COLUMNS, rows))
    return out, about


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


class ByEngine:
    """An engine puts pronouns for people, then takes the text apart. Both answers are read strictly."""

    def __init__(self, name: str, context: MetricContext) -> None:
        """Raises ShotadError for an engine that is unknown or cannot work here."""
        self._prompts = checked_prompts("actions")
        self._judge = Judge(name, context)

    @property
    def identity(self) -> Json:
        """Engine, model, revision, sampling and prompts. Fetches the model."""
        return {"version": 1, **self._judge.identity, "prompts": self._prompts}

    @property
    def made_by(self) -> str:
        """``openai gpt-4o``, with the revision where there is one."""
        who = self._judge.identity
        return " ".join(filter(None, (who["engine"], who["model"], who["revision"])))

    def made(self, texts: Sequence[str]) -> Iterator[Made]:
        """What is made of each text, in order."""
        for group in in_groups(texts, _GROUP):
            yield from together(map(self._made, group))

    def _made(self, text: str) -> Steps[Made]:
        bare: Answer[str] = Answer(None, "it has no words")
        if says_something(text):
            (bare,) = yield self._judge, [names_question(text)]
        if bare.value is None:
            return Made("", None, f"people could not be taken out: {bare.failure}")
        (actions,) = yield self._judge, [split_question(bare.value)]
        wrong = f"the text could not be taken apart: {actions.failure}"
        return Made(bare.value, actions.value, wrong if actions.value is None else "")


class ByRules:
    """Rules on a dependency parse, for data without an engine; see `shotad.evaluation.metrics.by_rule`."""

    def __init__(self, context: MetricContext) -> None:
        self._context = context

    @property
    def identity(self) -> Json:
        """That there was no engine, and the parser."""
        return {"version": 1, "engine": RULES, "parser": parser_of(self._context).identity}

    @property
    def made_by(self) -> str:
        """``rules by en_core_web_sm, no engine``."""
        return f"{RULES} by {self._context.settings.parser.model}, no engine"

    def made(self, texts: Sequence[str]) -> Iterator[Made]:
        """What is made of each text, in order. Raises ShotadError without spaCy or its model."""
        parses = parser_of(self._context).of(texts)
        for text, actions in zip(texts, actions_by_rule(texts, self._context), strict=True):
            if actions:
                yield Made(without_characters(parses[text]), actions)
            else:
                yield Made("", None, "the rules found no action")


Maker = ByEngine | ByRules
"""Makes actions of texts."""


def make_maker(name: str, context: MetricContext) -> Maker:
    """The maker called ``rules``, or an engine by name (`JudgeName`). Raises ShotadError."""
    return ByRules(context) if name == RULES else ByEngine(name, context)


_SMALL = (
    DETERMINERS
    | PRONOUNS
    | NOMINATIVE
    | PREPOSITIONS
    | COORDINATING
    | RELATIVE
    | listed("am is are was were be been being has have had do does did as while when then there so someone")
    | listed("hers theirs own what")
)
"""Words that any sentence may have."""
_SOMEBODY = listed("person persons people")
"""What may stand for somebody where it is not known whether he or she."""
_STEM = 3
"""Letters in which forms of a word agree: open, opens, opening."""
_TOKENS_A_WORD = 3


def names_question(text: str) -> Question[str]:
    """The text with a pronoun for every person."""

    def read(value: Any, key: str) -> str:
        made = sentence(value, key)
        if len(made) > 2 * len(text) + 40:
            raise Unreadable("The rewritten text is much longer than the text.")
        new = [word for word in _words(made) if word not in _SOMEBODY and not _is_in(word, text)]
        if new:
            raise Unreadable(f"The rewritten text says {json.dumps(new[0])}, and the text does not.")
        return made

    asked, parts = {"text": quoted(text)}, {"text": Part('"…"', STRING, read)}
    return question("actions/system-names", "actions/names", asked, parts, tokens=_room(text))


def split_question(text: str) -> Question[tuple[str, ...]]:
    """The actions of a text, each a sentence of one verb phrase."""

    def read(found: tuple[str, ...]) -> tuple[str, ...]:
        for one in found:
            # Most of its words are in no form in the text; one alone may be another form (sat, sits).
            words = _words(one)
            if len(words) > 1 and 2 * sum(not _is_in(word, text) for word in words) > len(words):
                raise Unreadable(f"The text does not say {json.dumps(one, ensure_ascii=False)}.")
        return found

    asked, parts = {"text": quoted(text)}, {"actions": listing(max(3, len(text.split())))}
    return question("actions/system-split", "actions/split", asked, parts, read, _room(text))


def _room(text: str) -> int:
    return 64 + 2 * _TOKENS_A_WORD * len(text.split())


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word not in _SMALL]


def _is_in(word: str, text: str) -> bool:
    return any(one[:_STEM] == word[:_STEM] for one in re.findall(r"\w+", text.lower()))


ID = ("anno_idx", "id")
FILM = ("imdbid", "film", "imdbid_pe", "movie")
TEXT = ("text_gt", "text", "sentence")
"""Names that a column may have."""


@dataclass(frozen=True, slots=True)
class AdText:
    """A human AD by its id, which is unique; ``film`` may be empty."""

    id: str
    film: str
    text: str


def ads_of(source: str, root: Path | None = None, annotation: Path | None = None) -> tuple[AdText, ...]:
    """The ADs of a dataset (``cmd-ad``, or a file that describes one) below ``root``, or of a plain file.

    A plain CSV or JSONL file has a column ``text`` (or ``text_gt``) and ``id`` (or ``anno_idx``); where there
    is no id, it is the row's number from 0, as in the published files. Raises DatasetError.
    """
    path = Path(source)
    if not path.is_file() or path.suffix.lower() in (".yaml", ".yml"):
        if root is None:
            raise DatasetError(
                f"{source} is no file; of a dataset it must be said where it is.",
                "Name its folder by --root, or a CSV or JSONL file with a text for each AD.",
            )
        dataset = load_dataset(source, root, annotation=annotation)
        return tuple(AdText(ad.id, ad.film, ad.text) for ad in dataset.ads)
    records = read_records(path)
    text = records.column(TEXT)
    if text is None:
        what = f"{records.path} has no {' or '.join(TEXT)}."
        raise DatasetError(what, f"It has: {', '.join(records.columns)}.")
    names, film = records.column(ID), records.column(FILM)
    found = []
    for place, row in enumerate(records.rows):
        name = records.text(row, names) if names else str(place)
        if not name:
            raise records.error(row, f"{names} is empty", "Give each AD an id.")
        found.append(AdText(name, records.text(row, film) or "", records.text(row, text) or ""))
    double = sorted(name for name, times in Counter(ad.id for ad in found).items() if times > 1)
    if double:
        what = f"{records.path} has ids that stand several times: {counted(double)}."
        raise DatasetError(what, "Give each AD its own.")
    return tuple(found)
