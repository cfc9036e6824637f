"""Example sentences: ours are good AD, a user's own are read, and ten of the right length are drawn."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from shotad.core import ConfigError, PromptSettings
from shotad.description.prompts import COLUMNS, draw, load_examples
from shotad.script import count_words

POOL = [" ".join(["go"] * n) + f" {n}{k}." for n in range(1, 20) for k in "abcd"]
"""Four lines of each length from 2 to 20 words."""


def settings(choice: str, count: int = 10, **more: object) -> PromptSettings:
    rules = {"length": "ours", "random": "paper", "published": "code"}[choice]
    return PromptSettings.model_validate({"rules": rules, "example_count": count, **more})


def lengths(lines: list[str]) -> list[int]:
    return sorted(count_words(line) for line in lines)


# Drawn


@pytest.mark.parametrize(("words", "count", "expected"), [
    (10, 10, {9, 10, 11}),
    (10, 12, {9, 10, 11}),
    (10, 13, {8, 9, 10, 11, 12}),
    (2, 10, {2, 3, 4}),
    (1, 4, {2}),
    (30, 4, {20}),
    (30, 6, {19, 20}),
])  # fmt: skip
def test_lengths_are_widened_a_word_at_a_time(words: int, count: int, expected: set[int]) -> None:
    """12 lines lie within a word of 10; of those of 2 words (1 to 3) there are 8."""
    seen: set[int] = set()
    for seed in range(60):
        drawn = draw(POOL, settings("length", count), words, random.Random(seed))
        assert len(set(drawn)) == count
        seen |= set(lengths(drawn))
    assert seen == expected


def test_published_draws_with_replacement_and_from_all_where_few_qualify() -> None:
    near = draw(POOL, settings("published", 12), 10, random.Random(1))
    assert set(lengths(near)) <= {9, 10, 11}
    assert len(set(near)) < len(near) == 12
    far = draw(POOL, settings("published", 13), 10, random.Random(1))
    assert not set(lengths(far)) <= {8, 9, 10, 11, 12}, "12 qualify, 13 are wanted"


# A user's own


def own(tmp_path: Path, name: str, text: str, encoding: str = "utf-8") -> PromptSettings:
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return PromptSettings(example_file=str(path))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("column", COLUMNS)
def test_csv_file_has_a_column_of_lines(tmp_path: Path, column: str, separator: str) -> None:
    path = tmp_path / "ads.CSV"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerows(
            [["id", column], ["1", "She runs, he falls; all\nsee it."], ["2", ""], ["3", "Rain."]]
        )
    assert load_examples(PromptSettings(example_file=str(path))) == (
        "She runs, he falls; all see it.",
        "Rain.",
    )


@pytest.mark.parametrize(("name", "content", "complaint"), [
    ("ads.txt", b"\n# nothing\n", "holds no line"),
    ("ads.csv", b"text\n", "holds no line"),
    ("ads.csv", b"id,line\n1,She runs.\n", "no column of ADs, only: id, line"),
    ("ads.txt", "Der Mann läuft.".encode("latin-1"), "cannot be read"),
    ("ads.txt", None, r"ads\.txt cannot be read"),
])  # fmt: skip
def test_file_without_lines_is_refused(tmp_path, name, content, complaint):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=complaint) as caught:
        load_examples(PromptSettings(example_file=str(tmp_path / name)))
    assert str(tmp_path / name) in caught.value.what
    assert "text" in caught.value.hint
