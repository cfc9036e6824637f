"""What is counted of lines that were held against the pictures."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml

from benchmarks.clips import LABELS, read_clips
from benchmarks.statements import VERDICTS, Described, Said, figures

LABELLED = yaml.safe_load((LABELS / "statements.yaml").read_text("utf-8"))


def test_lines_slots_and_verdicts_are_counted() -> None:
    clip = read_clips()["squats"]
    lines = (
        Said("Someone squats down.", 1.8, 1), Said("A person enters and waves.", 8.0, 2),
        Said("New.", 11.0, 1),
    )  # fmt: skip
    one = Described(clip, lines, ((0.2, 6.0), (7.0, 10.0), (11.0, 12.0)))
    labels = {
        "squats": [
            ["Someone squats down.", 1.8, "true", 1, 1],
            ["A person enters and waves.", 8.0, "true false", 0, 0, "true true", 0],
        ]
    }
    scenes = {"squats": [[1.5, 3, "She squats."], [7.5, 9, "She rises."]]}
    told = "\n".join(figures([one], labels, scenes))
    assert "statements 3; true 2 of 3: 67%" in told
    assert "false 1, doubtful 0; not labelled: 1 lines" in told
    assert "lines in time 1 of 2: 50%" in told
    assert "useful 1 of 2: 50%" in told
    assert "labelled twice: the same verdict 1 of 2: 50%" in told
    assert "use 1 of 1: 100%" in told
    assert "with a true and useful line 1 of 2: 50%" in told


@pytest.mark.parametrize("name", LABELLED)
def test_each_label_has_its_form(name: str) -> None:
    assert name in read_clips()
    for text, start, verdicts, useful, timely, *second in LABELLED[name]:
        if second:
            again, useful_too = second
            assert len(again.split()) == len(verdicts.split())
            assert set(again.split()) <= set(VERDICTS)
            assert useful_too in (0, 1)
        assert text.endswith((".", '"'))
        assert read_clips()[name].start <= start < read_clips()[name].end
        assert set(Counter(verdicts.split())) <= set(VERDICTS)
        assert {useful, timely} <= {0, 1}
