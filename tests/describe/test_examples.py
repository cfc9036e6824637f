"""Example sentences: ours are good AD, a user's own are read, and ten of the right length are drawn."""

from __future__ import annotations

import csv
import os
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from shotad.core import ConfigError, Description, PromptSettings, prompt_text
from shotad.description.prompts import COLUMNS, EXAMPLES, draw, load_examples, stage2_messages
from shotad.script import PLAIN, THIRD, check_line, count_words, similarity

OURS = load_examples(PromptSettings())
POOL = [" ".join(["go"] * n) + f" {n}{k}." for n in range(1, 20) for k in "abcd"]
"""Four lines of each length from 2 to 20 words."""

POSSIBLE_LENGTHS = range(3, 21)


def settings(choice: str, count: int = 10, **more: object) -> PromptSettings:
    rules = {"length": "ours", "random": "paper", "published": "code"}[choice]
    return PromptSettings.model_validate({"rules": rules, "example_count": count, **more})


def lengths(lines: list[str]) -> list[int]:
    return sorted(count_words(line) for line in lines)


# Ours


def test_ours_are_the_files_lines() -> None:
    assert list(OURS) == prompt_text(EXAMPLES).splitlines()
    assert len(set(OURS)) == len(OURS)


@pytest.mark.parametrize("words", POSSIBLE_LENGTHS)
def test_ours_are_at_least_twenty_of_each_length(words: int) -> None:
    assert sum(count_words(line) == words for line in OURS) >= 20


def test_ours_break_no_rule() -> None:
    assert {line: found for line in OURS if (found := check_line(line))} == {}


def test_ours_name_nobody() -> None:
    """One sentence, no capital letter after the first, no figure; nobody by role or as "a man"."""
    assert [line for line in OURS if not re.fullmatch(r"[A-Z][a-z]*[a-z', -]*[a-z]\.", line)] == []
    roles = r"\b(?:man|men|woman|women|boys?|girls?|child|children|doctor|guard|soldiers?|teacher|waiter)\b"
    assert [line for line in OURS if re.search(roles, line.replace("guard dog", "dog"), re.IGNORECASE)] == []


def test_ours_are_no_near_copies_of_each_other() -> None:
    beginnings = [{word[:3] for word in re.findall(r"[a-z]+", line.lower())} for line in OURS]
    pairs = [
        (OURS[a], OURS[b])
        for a in range(len(OURS))
        for b in range(a)
        if 2 * len(beginnings[a] & beginnings[b]) >= min(len(beginnings[a]), len(beginnings[b]))
    ]
    assert len(pairs) > 100, "pairs that share half of the shorter line's words"
    assert [pair for pair in pairs if similarity(*pair) >= 0.65] == []


def test_ours_use_the_papers_verbs_and_many_others() -> None:
    words = [re.findall(r"[a-z]+", line.lower()) for line in OURS]
    for verb in PromptSettings().verbs:
        forms = {verb, f"{verb}s", f"{verb}es"}
        assert sum(bool(forms & set(line)) for line in words) >= 10, verb
    used = Counter(word for line in words for word in line if word in THIRD | PLAIN)
    assert len(used) > 250


def test_ours_are_in_the_order_of_their_length() -> None:
    """So that somebody who adds a line sees where it belongs."""
    assert [count_words(line) for line in OURS] == sorted(map(count_words, OURS))


# Drawn


@pytest.mark.parametrize("words", POSSIBLE_LENGTHS)
def test_ten_of_ours_lie_within_one_word_and_differ(words: int) -> None:
    drawn = draw(OURS, settings("length"), words, random.Random(1))
    assert len(set(drawn)) == 10
    assert all(abs(count_words(line) - words) <= 1 for line in drawn)


@pytest.mark.parametrize(
    ("words", "count", "expected"),
    [
        (10, 10, {9, 10, 11}),
        (10, 12, {9, 10, 11}),
        (10, 13, {8, 9, 10, 11, 12}),
        (2, 10, {2, 3, 4}),
        (1, 4, {2}),
        (30, 4, {20}),
        (30, 6, {19, 20}),
    ],
)
def test_lengths_are_widened_a_word_at_a_time(words: int, count: int, expected: set[int]) -> None:
    """12 lines lie within a word of 10; of those of 2 words (1 to 3) there are 8."""
    seen: set[int] = set()
    for seed in range(60):
        drawn = draw(POOL, settings("length", count), words, random.Random(seed))
        assert len(set(drawn)) == count
        seen |= set(lengths(drawn))
    assert seen == expected


def test_random_is_any_length_each_once() -> None:
    drawn = draw(POOL, settings("random", 40), 3, random.Random(1))
    assert len(set(drawn)) == 40
    assert max(lengths(drawn)) > 10


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


def test_text_file_has_a_line_each(tmp_path: Path) -> None:
    text = "\ufeff# mine\r\nShe  runs.\r\n\r\n  He falls.\t\r\n"
    assert load_examples(own(tmp_path, "ads.txt", text)) == ("She runs.", "He falls.")


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


def test_column_without_characters_goes_first(tmp_path: Path) -> None:
    text = "text_gt,text,text_gt_wo_char\nAnn runs.,Ann ran.,She runs.\n"
    assert load_examples(own(tmp_path, "ads.csv", text)) == ("She runs.",)
    text = "text_gt,text\nAnn runs.,She runs.\n"
    assert load_examples(own(tmp_path, "more.csv", text)) == ("She runs.",)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("ads.txt", "\n# nothing\n", "holds no line"),
        ("ads.csv", "", "holds no line"),
        ("ads.csv", "text\n", "holds no line"),
        ("ads.csv", "id,line\n1,She runs.\n", "no column of ADs, only: id, line"),
    ],
)
def test_file_without_lines_is_refused(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as caught:
        load_examples(own(tmp_path, name, text))
    assert str(tmp_path / name) in caught.value.what
    assert "text" in caught.value.hint


def test_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.txt cannot be read"):
        load_examples(PromptSettings(example_file=str(tmp_path / "none.txt")))
    with pytest.raises(ConfigError, match="cannot be read"):
        load_examples(PromptSettings(example_file=str(tmp_path)))
    with pytest.raises(ConfigError, match="cannot be read"):
        load_examples(own(tmp_path, "ads.txt", "Der Mann läuft über die Straße.", "latin-1"))


def test_changed_file_is_read_again(tmp_path: Path) -> None:
    asked = own(tmp_path, "ads.txt", "She runs.")
    assert load_examples(asked) is load_examples(asked)
    path = tmp_path / "ads.txt"
    path.write_text("He hops.", encoding="utf-8")
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))
    assert load_examples(asked) == ("He hops.",)


def test_prompt_shows_the_files_lines(tmp_path: Path) -> None:
    described = Description("s00001000", {"Actions": "Ann runs."}, "", "", "vlm")
    asked = own(tmp_path, "ads.txt", 'She reads "Exit".')
    text = stage2_messages(described, 5, asked, seed=1).messages[1].text
    assert r'{"summarized_AD": "She reads \"Exit\"."}' in text
    several = stage2_messages(described, 5, asked, seed=1, candidates=3).messages[1].text
    assert several.endswith('looked like this:\nShe reads "Exit".')
