"""What the action score and the event score lose by changes that are planted into human ADs.

    python benchmarks/events.py [--half tuning|judging|humans] [--data ../shared/data] [--cache FILE]

The tuning half is CMD-AD, the judging half TV-AD. A line is taken where a verb of it has a synonym in the
list below and a noun that takes part. The prediction is the human AD without names; planted are a synonym,
another noun, another verb, the same verb denied, the line's actions in the opposite order, and the line of
another film. Other words are drawn by seed from those of the lines. Printed is the mean score, and what is
lost against the unchanged line with an interval by 2,000 bootstrap draws of films.

``humans``: the two human ADs of Elephants Dream, paired by overlap in time. Printed is in how many of 100
cases the line of the same moment scores more than one of another moment (equal scores count half).
"""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import DATA, command_line

from shotad.core import Config
from shotad.evaluation import Corpus, Item, MetricContext, Store, from_scripts, load_dataset
from shotad.evaluation.interrater import pairs
from shotad.evaluation.metrics.by_rule import actions_by_rule
from shotad.evaluation.running import measure
from shotad.evaluation.store import parser_of
from shotad.script import Parse, listed, third

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
    for place, token in enumerate(parse.tokens):
        if token.tag != "VBZ" or token.pos != "VERB" or token.lemma not in SYNONYMS:
            continue
        taking = [
            child
            for child in parse.subtree(place)
            if (found := parse.tokens[child]).tag == "NN" and found.dep in ("dobj", "pobj") and child > place
        ]
        if not taking:
            continue
        own = {
            token.lemma,
            SYNONYMS[token.lemma],
            *(one for one, other in SYNONYMS.items() if other == token.lemma),
        }
        noun = chance.choice([one for one in nouns if one != parse.tokens[taking[0]].text])
        verb = chance.choice([one for one in verbs if one not in own])

        def changed(at: int, word: str) -> str:
            row = [
                (word if spot == at else one.text) + " " * one.space for spot, one in enumerate(parse.tokens)
            ]
            return "".join(row)

        return {
            "unchanged": text,
            "synonym": changed(place, third(SYNONYMS[token.lemma])),
            "other noun": changed(taking[0], noun),
            "other verb": changed(place, third(verb)),
            "denied": changed(place, f"does not {token.lemma}"),
        }
    return None


def humans(folder: Path, context: MetricContext) -> None:
    """Print in how many of 100 cases each metric knows the other describer's line of the same moment."""
    one, other = from_scripts(folder / "descriptions.en.vtt", folder / "descriptions-jjhunt.en.vtt")
    met = pairs(one, other, 0.3)
    print(f"{len(met)} pairs of {len(one.items)} and {len(other.items)} lines")
    for name in METRICS[:2]:
        won, count = 0.0, 0
        for ours, theirs in ((0, 1), (1, 0)):
            lines = [pair[:2][ours] for pair in met]
            made = actions_by_rule([line.reference for line in lines], context)
            items = [replace(line, actions=own or None) for line, own in zip(lines, made, strict=True)]
            told = [pair[:2][theirs].reference for pair in met]
            values = []
            for shift in range(len(met)):
                turned = [*told[shift:], *told[:shift]]
                row = [replace(item, prediction=text) for item, text in zip(items, turned, strict=True)]
                result = measure(Corpus(tuple(row)), (name,), context)[0][0]
                values.append({one.id: one.value for one in result.rows})
            for shift in values[1:]:
                for place, value in values[0].items():
                    if value is not None:
                        won += (value > shift[place]) + 0.5 * (value == shift[place])
                        count += 1
        print(f"{name:22}{100 * won / count:.1f} of 100 ({count} cases)")


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--half", choices=(*HALVES, "humans"), default="tuning")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--cache", type=Path, help="keep what is computed of texts here")
    parser.add_argument("--lines", type=int, default=400)
    args = parser.parse_args()
    if args.half == "humans":
        with Store(args.cache) as store:
            humans(args.data / "ad-text" / "elephants-dream", MetricContext(Config(), store))
        return
    name = HALVES[args.half]
    dataset = load_dataset(name, args.data / name)
    with dataset.files["actions"].open(encoding="utf-8", newline="") as file:
        bare = {row["anno_idx"]: row["text_gt_wo_char"] for row in csv.DictReader(file)}
    chance = random.Random(20261123)
    ads = [ad for ad in dataset.ads if ad.actions]
    chance.shuffle(ads)
    with Store(args.cache) as store:
        context = MetricContext(Config(), store)
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
            several = len(ad.actions or ()) > 1
            back = " ".join(reversed(ad.actions or ())) if several else ""
            lines.append({**found, "order": back, "other scene": bare[chance.choice(others).id]})
            items.append(Item(ad.id, ad.film, ad.interval, (ad.text,), actions=ad.actions))
        print(f"{name}: {len(items)} lines of {len({item.film for item in items})} films")
        scores = {}
        for kind in KINDS:
            told = tuple(
                replace(item, prediction=line[kind]) for item, line in zip(items, lines, strict=True)
            )
            results = measure(Corpus(told, dict(dataset.casts), name), METRICS, context)[0]
            for result in results:
                scores[result.name, kind] = {row.id: row.value for row in result.rows}
    films = sorted({item.film for item in items})
    of = {item.id: films.index(item.film) for item in items}
    draws = np.random.default_rng(1).multinomial(len(films), np.full(len(films), 1 / len(films)), DRAWS)
    print(f"{'':22}" + "".join(f"{kind:>25}" for kind in KINDS))
    for metric in METRICS:
        cells = []
        for kind in KINDS:
            pairs = [
                (of[name], before, after)
                for (name, before), line in zip(scores[metric, "unchanged"].items(), lines, strict=True)
                if (after := scores[metric, kind][name]) is not None and before is not None and line[kind]
            ]
            lost, count = np.zeros(len(films)), np.zeros(len(films))
            for film, before, after in pairs:
                lost[film] += before - after
                count[film] += 1
            low, high = np.percentile((draws @ lost) / (draws @ count), (2.5, 97.5))
            mean = sum(after for _, _, after in pairs) / len(pairs)
            share = (
                f"{mean:.1f}"
                if kind == "unchanged"
                else f"{lost.sum() / count.sum():.1f} ({low:.1f} to {high:.1f})"
            )
            cells.append(f"{share:>25}")
        print(f"{metric:22}" + "".join(cells))


if __name__ == "__main__":
    main()
