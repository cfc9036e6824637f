"""A report with troubles of all kinds, and the folder it was written into."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.evaluation import Corpus, ReportInput, write_report
from tests.evaluation.report.fakes import made_item, made_result, made_run


def with_trouble() -> ReportInput:
    """Predictions that are missing, failed, odd; a metric that says nothing of some."""
    odd = {
        3: {"prediction": None, "failure": "no prediction"},
        4: {"prediction": None, "failure": "the video is damaged"}, 5: {"prediction": "=1+1"},
        6: {"prediction": "<script>alert(1)</script> | *bold*"}, 7: {"prediction": "東京へ行く\nneu"},
    }  # fmt: skip
    items = tuple(made_item(k, f"tt{k % 3}", **odd.get(k, {})) for k in range(30))
    corpus = Corpus(items, dataset="cmd-ad")
    critic = made_result(corpus, "critic", seed=4, title="CRITIC")
    mute = {"value": None, "sums": (0.0, 0.0)}
    changes: dict[str, dict[str, Any]] = {"1": mute, "2": mute, "9": {"failure": "the resolver failed"}}
    rows = tuple(replace(row, **changes.get(row.id, {})) for row in critic.rows)
    told = {"films": {"tt0": "Die Brücke & Co"}, "extra": 2, "doubled": 1, "title": "CMD-AD"}
    left = (("spice", "Java is missing."),)
    results = (made_result(corpus, title="CIDEr"), replace(critic, rows=rows))
    return made_run(corpus, results, left_out=left, configs=("paper",), **told)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report")
    write_report(place, with_trouble(), plots=False)
    return place
