"""How near one file of actions comes to another."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import DatasetError
from shotad.evaluation import actions_in, compare_actions

THEIRS = {"1": ("He opens the door.", "He walks in."), "2": ("Rain falls.",), "3": None, "4": ("She nods.",)}


def test_a_file_is_equal_to_itself() -> None:
    found = compare_actions(THEIRS, THEIRS)
    assert (found.both, found.only_first, found.only_second, found.same_number) == (3, 0, 0, 3)
    assert (found.precision, found.recall, found.verb_precision, found.verb_recall) == (1, 1, 1, 1)


def test_words_are_compared_as_lemmas_and_verbs_apart() -> None:
    mine = {"1": ("He opened the doors.",), "2": ("Rain pours.",), "3": ("A cat.",), "4": None}
    found = compare_actions(mine, THEIRS)
    assert (found.both, found.only_first, found.only_second, found.same_number) == (2, 1, 1, 1)
    assert found.actions == (2, 3)
    assert found.verb_precision == pytest.approx(1 / 2), "opens, of opens and pours"
    assert found.verb_recall == pytest.approx(1 / 3), "opens, of opens, walks and falls"
    assert found.precision > found.recall
    assert "1.000 and 1.500" in found.text
    assert found.record()["verbs"]["recall"] == pytest.approx(1 / 3)


def test_nothing_in_common_is_told() -> None:
    found = compare_actions({"1": None}, {"1": ("He sits.",)})
    assert (found.both, found.only_second) == (0, 1)
    assert found.text == "0 ADs have actions in both files; 0 in the first alone, 1 in the second alone."


def test_the_order_of_actions_does_not_matter() -> None:
    turned = {name: actions and actions[::-1] for name, actions in THEIRS.items()}
    assert compare_actions(turned, THEIRS) == compare_actions(THEIRS, THEIRS)


def test_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('anno_idx,gt_action\n1,"[\'He sits.\', ""He\'s up.""]"\n2,0\n', encoding="utf-8")
    assert actions_in(path) == {"1": ("He sits.", "He's up."), "2": None}
    path.write_text("anno_idx,gt_action\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="has no actions"):
        actions_in(path)
