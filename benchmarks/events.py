"""What the action score and the event score lose by changes that are planted into human ADs.

    python benchmarks/events.py [--half tuning|judging|humans] [--data ../shared/data] [--cache FILE]

The tuning half is CMD-AD, the judging half TV-AD. A line is taken where a verb of it has a synonym in the
list below and a noun that takes part. The prediction is the human AD without names; other words are drawn by
seed from those of the lines. Printed is the mean score, and what is lost against the unchanged line with an
interval by 2,000 bootstrap draws of films.

``humans``: the two human ADs of Elephants Dream, paired by overlap in time: in how many of 100 cases the line
of the same moment scores more than one of another moment (equal scores count half).
"""

from __future__ import annotations

import argparse
import csv
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from common import DATA, command_line

from shotad.core import Config
from shotad.evaluation import (
    Corpus,
    Item,
    MetricContext,
    Store,
    load_dataset,
)
from shotad.evaluation.evaluation_run import measure
from shotad.evaluation.interrater import from_scripts, pairs
from shotad.evaluation.metrics.by_rule import actions_by_rule
from shotad.evaluation.store import parser_of
from shotad.script.english_words import listed, third_person_form
from shotad.script.parser import Parse

SYNONYMS = dict(
    pair.split("/")
    for pair in listed(
        "break/smash call/phone carry/lug chase/pursue climb/ascend close/shut cry/weep cut/slice drink/sip "
        "drop/release eat/devour embrace/hug examine/inspect fix/repair gaze/look give/hand glance/peek "
        "grab/seize hit/strike hold/clutch hurry/rush jump/leap lift/raise look/gaze notice/spot pat/tap "
        "pull/tug push/shove put/place run/dash shoot/fire shout/yell show/display slap/smack smile/grin "
        "stare/gaze step/stride study/examine take/grab talk/speak throw/toss touch/feel trip/stumble "
        "walk/stroll watch/observe wipe/mop"
    )
)
"""Written before any score was looked at."""
HALVES = {"tuning": "cmd-ad", "judging": "tv-ad"}
METRICS = ("action", "events", "event-verbs", "event-participants")
KINDS = ("unchanged", "synonym", "other noun", "other verb", "denied", "order", "other scene")
DRAWS = 2_000


def planted(
    text: str, parse: Parse, verbs: Sequence[str], nouns: Sequence[str], chance: random.Random
) -> dict[str, str] | None:
    """The changed lines of one, by kind; None where it cannot be changed in all ways."""
    tokens = parse.tokens

    def changed(at: int, word: str) -> str:
        words = (word if spot == at else token.text for spot, token in enumerate(tokens))
        return "".join(one + " " * token.space for one, token in zip(words, tokens, strict=True))

    for place, token in enumerate(tokens):
        if token.tag != "VBZ" or token.pos != "VERB" or token.lemma not in SYNONYMS:
            continue
        after = (child for child in parse.subtree(place) if child > place and tokens[child].tag == "NN")
        taking = next((child for child in after if tokens[child].dep in ("dobj", "pobj")), None)
        if taking is None:
            continue
        own = {token.lemma, SYNONYMS[token.lemma]}
        own |= {one for one, other in SYNONYMS.items() if other == token.lemma}
        noun = chance.choice([one for one in nouns if one != tokens[taking].text])
        verb = chance.choice([one for one in verbs if one not in own])
        return {
            "unchanged": text,
            "synonym": changed(place, third_person_form(SYNONYMS[token.lemma])),
            "other noun": changed(taking, noun),
            "other verb": changed(place, third_person_form(verb)),
            "denied": changed(place, f"does not {token.lemma}"),
        }
    return None


def scored(
    items: Sequence[Item], told: Sequence[str], metrics: Sequence[str], context: MetricContext, **more: Any
) -> dict[str, dict[str, float | None]]:
    """What each metric gives each item, by its id, where this is told."""
    row = tuple(replace(item, prediction=text) for item, text in zip(items, told, strict=True))
    results = measure(Corpus(row, **more), metrics, context)[0]
    return {result.name: {one.id: one.value for one in result.rows} for result in results}


def humans(folder: Path, context: MetricContext) -> None:
    """Print in how many of 100 cases each metric knows the other describer's line of the same moment."""
    one, other = from_scripts(folder / "descriptions.en.vtt", folder / "descriptions-jjhunt.en.vtt")
    met = pairs(one, other, 0.3)
    print(f"{len(met)} pairs of {len(one.items)} and {len(other.items)} lines")
    for name in METRICS[:2]:
        won, count = 0.0, 0
        for ours, theirs in ((0, 1), (1, 0)):
            lines = [pair[ours] for pair in met]
            made = actions_by_rule([line.reference for line in lines], context)
            items = [replace(line, actions=own or None) for line, own in zip(lines, made, strict=True)]
            told = [pair[theirs].reference for pair in met]
            turned = ([*told[shift:], *told[:shift]] for shift in range(len(met)))
            same, *others = (scored(items, row, (name,), context)[name] for row in turned)
            for values in others:
                for place, value in same.items():
                    if value is not None:
                        won += (value > values[place]) + 0.5 * (value == values[place])
                        count += 1
        print(f"{name:22}{100 * won / count:.1f} of 100 ({count} cases)")


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--half", choices=(*HALVES, "humans"), default="tuning")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--cache", type=Path, help="keep what is computed of texts here")
    parser.add_argument("--lines", type=int, default=400)
    args = parser.parse_args()
    with Store(args.cache) as store:
        context = MetricContext(Config(), store)
        if args.half == "humans":
            humans(args.data / "ad-text" / "elephants-dream", context)
        else:
            plant(HALVES[args.half], args, context)


def plant(name: str, args: argparse.Namespace, context: MetricContext) -> None:
    """Print what each metric gives, and what it loses by each kind of change."""
    dataset = load_dataset(name, args.data / name)
    with dataset.files["actions"].open(encoding="utf-8", newline="") as file:
        bare = {row["anno_idx"]: row["text_gt_wo_char"] for row in csv.DictReader(file)}
    chance = random.Random(20261123)
    ads = [ad for ad in dataset.ads if ad.actions]
    chance.shuffle(ads)
    parses = parser_of(context).of({bare[ad.id] for ad in ads})
    tokens = [token for parse in parses.values() for token in parse.tokens]
    verbs = sorted({t.lemma for t in tokens if t.tag == "VBZ" and t.pos == "VERB" and t.lemma.isalpha()})
    nouns = sorted({t.text for t in tokens if t.tag == "NN" and t.dep == "dobj" and t.text.isalpha()})
    items, lines = [], []
    for ad in ads:
        found = planted(bare[ad.id], parses[bare[ad.id]], verbs, nouns, chance)
        if found is None or len(items) == args.lines:
            continue
        others = [one for one in ads if one.film != ad.film]
        back = " ".join(reversed(ad.actions or ())) if len(ad.actions or ()) > 1 else ""
        lines.append({**found, "order": back, "other scene": bare[chance.choice(others).id]})
        items.append(Item(ad.id, ad.film, ad.interval, (ad.text,), actions=ad.actions))
    films = sorted({item.film for item in items})
    print(f"{name}: {len(items)} lines of {len(films)} films")
    more = {"casts": dict(dataset.casts), "dataset": name}
    scores = {kind: scored(items, [line[kind] for line in lines], METRICS, context, **more) for kind in KINDS}
    draws = np.random.default_rng(1).multinomial(len(films), np.full(len(films), 1 / len(films)), DRAWS)
    print(f"{'':22}" + "".join(f"{kind:>25}" for kind in KINDS))
    for metric in METRICS:
        cells = []
        for kind in KINDS:
            lost, count, values = np.zeros(len(films)), np.zeros(len(films)), []
            for item, line in zip(items, lines, strict=True):
                before, after = (scores[one][metric][item.id] for one in ("unchanged", kind))
                if before is not None and after is not None and line[kind]:
                    lost[films.index(item.film)] += before - after
                    count[films.index(item.film)] += 1
                    values.append(after)
            low, high = np.percentile((draws @ lost) / (draws @ count), (2.5, 97.5))
            share = f"{lost.sum() / count.sum():.1f} ({low:.1f} to {high:.1f})"
            cells.append(f"{np.mean(values):.1f}" if kind == "unchanged" else share)
        print(f"{metric:22}" + "".join(f"{cell:>25}" for cell in cells))


if __name__ == "__main__":
    main()
