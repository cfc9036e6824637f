"""Labels of cuts, of shots that share a camera set-up and of lines, and how what is found is held against them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import clips
import cuts
import pytest
import yaml
from clips import LABELS, read_clips
from common import FILMS
from cuts import Truth, count
from statements import VERDICTS, Described, Said, figures
from threads import known_clips, labelled_clips


def test_each_label_is_found_by_its_nearest_cut() -> None:
    truth = Truth(hard=[10, 40], gradual=[(60, 80)], either=[(100, 120)])
    found = count([11, 13, 43, 59, 75, 110], truth)
    assert (found.hard, found.hard_found) == (2, 1)
    assert (found.gradual, found.gradual_found) == (1, 1)
    assert found.false == 3
    assert found.wrong == ["missed 40", "false 13", "false 43", "false 75"]
    # The nearest cut takes the label.
    assert count([8, 10, 12], Truth(hard=[10, 12])).wrong == ["false 8"]
    assert count([9, 11], Truth(hard=[10, 13])).wrong == []


def test_every_real_clip_has_labels_in_order() -> None:
    known, real = clips.read_clips(), cuts.truths()
    assert {name for name, clip in known.items() if clip.file} <= set(real)
    for name, truth in real.items():
        assert list(truth.hard) == sorted(set(truth.hard)), name
        for first, last in (*truth.gradual, *truth.either):
            assert first < last, name
    hard = dict.fromkeys(("tuning", "judging"), 0)
    for name, truth in real.items():
        hard[known[name].half if name in known else "tuning"] += len(truth.hard)
    assert min(hard.values()) >= 30


# Labels of shots that share a camera set-up.
def test_the_labels_fit_their_clips_in_each_half() -> None:
    known, clips = known_clips(), labelled_clips(FILMS)
    assert len({clip.name for clip in clips}) == len(clips) >= 27
    for clip in clips:
        assert all(one.end <= other.start for one, other in pairwise(clip.shots)), clip.name
        grouped = [shot for cluster in clip.clusters for shot in cluster]
        assert len(set(grouped)) == len(grouped), clip.name
        assert set(grouped) <= set(range(len(clip.shots))), clip.name
        for i, j in clip.doubtful:
            assert 0 <= i < j < len(clip.shots), clip.name
            assert clip.truth[i] != clip.truth[j], clip.name
        if clip.name in known:
            assert clip.half == known[clip.name].half
            assert clip.shots[-1].end <= known[clip.name].end + 0.1, clip.name
    together = {"tuning": 0, "judging": 0}
    for clip in labelled_clips(FILMS):
        same = clip.truth[:, None] == clip.truth[None, :]
        together[clip.half] += int((same & clip.counted()).sum()) if not clip.made else 0
    assert together["tuning"] >= 8
    assert together["judging"] >= 40


# What is counted of lines that were held against the pictures.
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
