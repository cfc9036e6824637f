"""``evaluate actions``: texts in, a file of actions in the published format out, and who made them.

First people become pronouns, then the text is taken apart into actions, as in Shot-by-Shot (appendix B); the
words are our own, in ``prompts/actions``. An answer must be made of the text's own words: models hand
examples back, and tell how they went about it. 34 of the 7,314 ADs of CMD-AD with published actions would be
refused, most of them such.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.core.errors import DatasetError
from shotad.core.files import write_text
from shotad.core.progress import progress_task
from shotad.core.workfolder import readable_json
from shotad.evaluation.datasets.dataset_loader import load_dataset
from shotad.evaluation.datasets.tables import csv_text, first_of, read_records
from shotad.evaluation.metric import Json, says_something
from shotad.evaluation.metrics.by_rule import actions_by_rule, without_characters
from shotad.evaluation.metrics.judge import (
    STRING,
    Judge,
    Part,
    Question,
    Unreadable,
    checked_prompts,
    listing,
    map_items,
    question,
    sentence,
)
from shotad.evaluation.store import MetricContext, parser_of
from shotad.script.english_words import (
    COORDINATING_WORDS,
    DETERMINERS,
    NOMINATIVE_PRONOUNS,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE_WORDS,
    listed,
)

COLUMNS = ("anno_idx", "imdbid", "text_gt", "text_gt_wo_char", "gt_action", "made_by")
"""The published ones, and who made the row."""
UNKNOWN = "0"
"""What the published files hold where there are no actions."""


RULES = "rules"
"""What stands for an engine where there is none."""


@dataclass(frozen=True, slots=True)
class AdText:
    """A human AD by its id, which is unique; ``film`` may be empty. Once its actions are made it has these,
    and the text that they were made of; None: there are none, ``failure`` says why."""

    id: str
    film: str
    text: str
    without_names: str = ""
    actions: tuple[str, ...] | None = None
    failure: str = ""


def make_actions(
    ads: Sequence[AdText], engine: str, context: MetricContext
) -> tuple[tuple[AdText, ...], Json]:
    """The actions of each AD, by the engine of this name (`JudgeName`), whose answers are kept as they come,
    or by ``rules`` on a dependency parse (`shotad.evaluation.metrics.by_rule`); and what came of it, as JSON,
    whose ``identity`` is all that changes it.

    Raises ShotadError for an engine that is unknown or cannot work here, and without spaCy or its model;
    EngineError for what stops an engine.
    """
    if engine == RULES:
        made_by = f"{RULES} by {context.settings.parser.model}, no engine"
        identity: Json = {"version": 1, "engine": RULES, "parser": parser_of(context).identity}
        ads_with_actions = tuple(_make_by_rules(ads, made_by, context))
    else:
        prompts, judge = checked_prompts("actions"), Judge(engine, context)
        maker = judge.identity
        made_by = " ".join(filter(None, (maker["engine"], maker["model"], maker["revision"])))
        identity = {"version": 1, **maker, "prompts": prompts}

        def make(ad: AdText) -> AdText:
            return _make_by_engine(ad, judge)

        ads_with_actions = tuple(map_items(make, ads, [judge], f"Making actions by {made_by}", "ADs"))
    failed = [{"id": ad.id, "reason": ad.failure} for ad in ads_with_actions if ad.actions is None]
    count = sum(len(ad.actions or ()) for ad in ads_with_actions)
    return ads_with_actions, {
        "shotad": __version__,
        "n": {"ads": len(ads_with_actions), "failed": len(failed), "actions": count},
        "made_by": made_by,
        "identity": identity,
        "failed": failed,
    }


def actions_text(record: Json) -> str:
    """What came of it, for people."""
    ads, count = record["n"]["ads"], record["n"]["actions"]
    with_actions = ads - record["n"]["failed"]
    mean = f", {count / with_actions:.2f} for each of these" if with_actions else ""
    lines = [f"{count:,} actions of {with_actions:,} of {ads:,} ADs{mean}. Made by {record['made_by']}."]
    by_reason: dict[str, list[str]] = {}
    for failure in record["failed"]:
        by_reason.setdefault(failure["reason"], []).append(failure["id"])
    for reason, names in sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        lines.append(f"No actions for {len(names):,} ADs ({first_of(names)}): {reason}")
    return "\n".join(lines)


def _make_by_rules(ads: Sequence[AdText], made_by: str, context: MetricContext) -> Iterator[AdText]:
    texts, parser = [ad.text for ad in ads], parser_of(context)
    with progress_task(context.progress, f"Making actions by {made_by}", len(ads), "ADs") as task:
        parses = parser.of(texts)
        for ad, actions in zip(ads, actions_by_rule(texts, context), strict=True):
            bare = without_characters(parses[ad.text]) if actions else ""
            failure = "" if actions else "the rules found no action"
            yield replace(ad, without_names=bare, actions=actions or None, failure=failure)
            task.advance(1)


def _make_by_engine(ad: AdText, judge: Judge) -> AdText:
    """An engine puts pronouns for people, then takes the text apart. Both answers are read strictly."""
    if not says_something(ad.text):
        return replace(ad, failure="people could not be taken out: it has no words")
    without_names = judge.ask(names_question(ad.text))
    if without_names.value is None:
        return replace(ad, failure=f"people could not be taken out: {without_names.failure}")
    actions = judge.ask(split_question(without_names.value))
    failure = f"the text could not be taken apart: {actions.failure}" if actions.value is None else ""
    return replace(ad, without_names=without_names.value, actions=actions.value, failure=failure)


def write_actions(ads: Sequence[AdText], record: Json, out: Path) -> tuple[Path, ...]:
    """Write the CSV file (a row for each AD, actions as Python writes a list), and beside it who made it how,
    and what failed. Both paths."""
    about = out.with_suffix(".about.json")
    write_text(about, readable_json(record))
    rows = []
    for ad in ads:
        actions = UNKNOWN if ad.actions is None else repr(list(ad.actions))
        rows.append((ad.id, ad.film, ad.text, ad.without_names, actions, record["made_by"]))
    write_text(out, csv_text(COLUMNS, rows))
    return out, about


_SMALL_WORDS = (
    DETERMINERS
    | PRONOUNS
    | NOMINATIVE_PRONOUNS
    | PREPOSITIONS
    | COORDINATING_WORDS
    | RELATIVE_WORDS
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
        rewritten = sentence(value, key)
        if len(rewritten) > 2 * len(text) + 40:
            raise Unreadable("The rewritten text is much longer than the text.")
        invented = [
            word
            for word in _content_words(rewritten)
            if word not in _SOMEBODY and not _is_in_text(word, text)
        ]
        if invented:
            raise Unreadable(f"The rewritten text says {json.dumps(invented[0])}, and the text does not.")
        return rewritten

    values, parts = {"text": text}, {"text": Part('"…"', STRING, read)}
    return question("actions-names", values, parts, tokens=_answer_tokens(text))


def split_question(text: str) -> Question[tuple[str, ...]]:
    """The actions of a text, each a sentence of one verb phrase."""

    def read(actions: tuple[str, ...]) -> tuple[str, ...]:
        for action in actions:
            # Most of its words are in no form in the text; one alone may be another form (sat, sits).
            words = _content_words(action)
            invented = sum(not _is_in_text(word, text) for word in words)
            if len(words) > 1 and 2 * invented > len(words):
                raise Unreadable(f"The text does not say {json.dumps(action, ensure_ascii=False)}.")
        return actions

    values, parts = {"text": text}, {"actions": listing(max(3, len(text.split())))}
    return question("actions-split", values, parts, read, _answer_tokens(text))


def _answer_tokens(text: str) -> int:
    return 64 + 2 * _TOKENS_A_WORD * len(text.split())


def _content_words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word not in _SMALL_WORDS]


def _is_in_text(word: str, text: str) -> bool:
    stems = {text_word[:_STEM] for text_word in re.findall(r"\w+", text.lower())}
    return word[:_STEM] in stems


ID = ("anno_idx", "id")
FILM = ("imdbid", "film", "imdbid_pe", "movie")
TEXT = ("text_gt", "text", "sentence")
"""Names that a column may have."""


def ads_of(source: str, root: Path | None = None, annotation: Path | None = None) -> tuple[AdText, ...]:
    """The ADs of a dataset (``cmd-ad``, or a file that describes one) below ``root``, or of a plain CSV or
    JSONL file; where that has no id, it is the row's number from 0, as in the published files. Raises
    DatasetError.
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
        message = f"{records.path} has no {' or '.join(TEXT)}."
        raise DatasetError(message, f"It has: {', '.join(records.columns)}.")
    names, film = records.column(ID), records.column(FILM)
    ads = []
    for place, row in enumerate(records.rows):
        name = row.text(names) if names else str(place)
        if not name:
            raise row.error(f"{names} is empty", "Give each AD an id.")
        ads.append(AdText(name, row.text(film) or "", row.text(text) or ""))
    repeated = sorted(name for name, times in Counter(ad.id for ad in ads).items() if times > 1)
    if repeated:
        message = f"{records.path} has ids that stand several times: {first_of(repeated)}."
        raise DatasetError(message, "Give each AD its own.")
    return tuple(ads)
