"""Human scores from files: all shapes that they come in, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import DatasetError, EvaluationError
from shotad.evaluation import read_scores
from shotad.evaluation.human_agreement import HumanScores


def read(tmp_path: Path, text: str, name: str = "scores.csv", encoding: str = "utf-8") -> HumanScores:
    path = tmp_path / name
    path.write_text(text, encoding=encoding)
    return read_scores(path)


def test_one_score_for_each_ad(tmp_path: Path) -> None:
    found = read(tmp_path, "id,score\n7,2\n9,0.5\n")
    assert found.scores == {"7": 2.0, "9": 0.5}
    assert found.by_annotator == {}


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_annotators_are_averaged_and_their_own_scores_are_kept(tmp_path: Path, mark: str) -> None:
    text = "anno_idx,ann,ben,cleo\n1,3,2,1\n2,0,,1\n".replace(",", mark)
    found = read(tmp_path, text, encoding="utf-8-sig")
    assert found.scores == {"1": 2.0, "2": 0.5}
    assert found.by_annotator == {
        "ann": {"1": 3.0, "2": 0.0},
        "ben": {"1": 2.0},
        "cleo": {"1": 1.0, "2": 1.0},
    }


def test_actions_of_an_ad_are_averaged_after_the_annotators(tmp_path: Path) -> None:
    """One action with two annotators, one with one: 2 and 1 make 1.5, not (3 + 1 + 1) / 3."""
    found = read(tmp_path, "id,action,a,b\n1,He runs.,3,1\n1,He falls.,1,\n")
    assert found.scores == {"1": 1.5}


def test_columns_that_hold_words_are_told_and_left_alone(tmp_path: Path) -> None:
    found = read(tmp_path, "id,text,a,b\n1,He runs.,3,1\n2,He is 3.,2,2\n")
    assert found.ignored == ("text",)
    assert found.scores == {"1": 2.0, "2": 2.0}


def test_numbers_that_no_annotator_gave_are_not_averaged(tmp_path: Path) -> None:
    """Such as those of ``items.csv``, to which people add columns of their own."""
    (tmp_path / "s.csv").write_text(
        "id,start,end,cider,llm-ad-eval@openai:gpt-4o,ann,ben\n1,4.5,6,26.3,2,3,5\n2,8,9.5,0,1,1,1\n"
    )
    found = read_scores(tmp_path / "s.csv")
    assert found.scores == {"1": 4.0, "2": 1.0}
    assert found.columns == ("ann", "ben")
    assert found.ignored == ("start", "end", "cider", "llm-ad-eval@openai:gpt-4o")
    (tmp_path / "s.csv").write_text("id,text,start,end\n1,Ann runs.,4.5,6\n")
    with pytest.raises(EvaluationError, match="no column of scores"):
        read_scores(tmp_path / "s.csv")


def test_a_column_called_score_stands_alone(tmp_path: Path) -> None:
    assert read(tmp_path, "id,year,score\n1,1999,3\n").scores == {"1": 3.0}


def test_json_lines(tmp_path: Path) -> None:
    text = '{"id": 1, "score": 2}\n\n{"id": "b", "score": 0}\n'
    assert read(tmp_path, text, "s.jsonl").scores == {"1": 2.0, "b": 0.0}
    text = '{"id": "1", "scores": [1, 2]}\n{"id": "2", "scores": [3, null]}\n'
    found = read(tmp_path, text, "s.jsonl")
    assert found.scores == {"1": 1.5, "2": 3.0}
    assert found.by_annotator == {"annotator 1": {"1": 1.0, "2": 3.0}, "annotator 2": {"1": 2.0}}
    named = read(tmp_path, '{"id": "1", "scores": {"ann": 1, "ben": 2}}\n', "s.jsonl")
    assert named.scores == {"1": 1.5}


def test_lines_without_a_score_are_counted(tmp_path: Path) -> None:
    found = read(tmp_path, "id,a,b\n1,1,1\n2,,\n")
    assert found.scores == {"1": 1.0}
    assert found.empty == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,score\n", "holds no scores"),
        ("id,score\n1,2\n1,3\n", "line 3: AD '1' was scored before, in scores.csv, line 2"),
        ("id,action,score\n1,He runs.,2\n1,He runs.,3\n", "was scored before"),
        ("id,score\n1,good\n", "line 2: score 'good' is no score"),
        ("id,text\n1,good\n", "no column of scores"),
        ("score\n2\n", "names no AD"),
        ("id,score\n1,2,3\n", "3 cells for 2 columns"),
        ('{"id": 1, "score": true}\n', "no score"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises((DatasetError, EvaluationError), match=said):
        read(tmp_path, text)
