"""Predictions in the form in which Shot-by-Shot publishes and evaluates them, and in ours.

Its scripts write CSV (stage1/main_qwen2vl.py, stage2/main_llama3.py), and its action score joins the rows to
the human ADs by their place in the file (action_score/get_action_score.py): the CSV has a row for each AD of
the dataset, in its order, with an empty text where there is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Literal

from shotad.core import Interval
from shotad.core.records import seconds
from shotad.evaluation.datasets.dataset import Ad, Dataset
from shotad.evaluation.datasets.tables import csv_text
from shotad.evaluation.metric import Item

STAGE1_COLUMNS = ("anno_idx", "imdbid", "start", "end", "text_gt", "text_gen")
"""Without start_ and end_, the borders of the clip shown, which no script reads."""
STAGE2_COLUMNS = ("imdbid", "start", "end", "text_gt", "text_gen", "anno_idx")


def published_table(
    dataset: Dataset, items: Sequence[Item], stage: Literal["stage1", "stage2"] = "stage2"
) -> str:
    """The predictions as a published CSV file: the lines of Stage II, or the descriptions of Stage I.

    ``items`` are the dataset's ADs with their predictions, in its order. Several candidates stand in one
    cell, as a list in Python's form, as the assistant mode writes them.
    """
    columns = STAGE1_COLUMNS if stage == "stage1" else STAGE2_COLUMNS
    rows = []
    for ad, item in zip(dataset.ads, items, strict=True):
        text = item.description if stage == "stage1" else item.prediction
        if stage == "stage2" and len(item.candidates) > 1:
            text = repr(list(item.candidates))
        interval = _published_interval(dataset, ad)
        cells = {
            "anno_idx": ad.id,
            "imdbid": ad.film,
            "start": round(interval.start, 3),
            "end": round(interval.end, 3),
            "text_gt": ad.text,
            "text_gen": text or "",
        }
        rows.append([cells[name] for name in columns])
    return csv_text(columns, rows)


def _published_interval(dataset: Dataset, ad: Ad) -> Interval:
    """The AD's time as the scripts write it: in seconds of the video, of TV-AD in those of the episode."""
    is_frames = dataset.description is not None and dataset.description.slot.kind == "frames"
    return ad.interval if is_frames else ad.slot


def our_lines(dataset: Dataset, items: Sequence[Item]) -> Iterator[str]:
    """The predictions as JSON Lines with the keys of `shotad predict`, as far as they are known.

    ADs without a prediction are left out.
    """
    for ad, item in zip(dataset.ads, items, strict=True):
        if item.failure == "no prediction":
            continue
        line = {
            "id": ad.id,
            "film": ad.film,
            "clip": ad.clip,
            "start": seconds(ad.slot.start),
            "end": seconds(ad.slot.end),
            "text": item.prediction,
            "failure": item.failure,
            "candidates": list(item.candidates),
            "description": item.description,
        }
        yield json.dumps(line, ensure_ascii=False) + "\n"
