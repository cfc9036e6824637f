"""Labels of cuts, and how found cuts are held against them."""

from __future__ import annotations

from benchmarks import clips, cuts
from benchmarks.cuts import Truth, count


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
