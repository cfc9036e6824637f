"""Example sentences for Stage II: where they come from, and which ten a prompt shows.

Shot-by-Shot shows ten ADs of the training set, any ten by its text, character-free ones of about the
expected length by its code. Ours are our own and stand in ``prompts/stage2/examples.txt``.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from shotad.core import ConfigError, PromptSettings, prompt_text
from shotad.script import count_words

EXAMPLES = "stage2/examples"

COLUMNS = ("text_gt_wo_char", "text", "text_gt")
"""Columns of a CSV file that hold ADs; the first that is there is used, one without characters rather."""


def load_examples(settings: PromptSettings) -> tuple[str, ...]:
    """The AD lines that examples are drawn from: those of ``example_file``, else ours.

    A file is read once for as long as it stays the same. Raises ConfigError for a file that cannot be read
    or holds no line, PromptError for built-in examples that are missing.
    """
    if settings.example_file:
        path = Path(settings.example_file).expanduser()
        try:
            state = path.stat()
        except OSError as error:
            raise _unreadable(path, error) from None
        return _lines_of_file(path, state.st_mtime_ns, state.st_size)
    return tuple(_text_lines(prompt_text(EXAMPLES)))


def draw(pool: Sequence[str], settings: PromptSettings, words: int, chance: random.Random) -> list[str]:
    """``example_count`` lines of ``pool`` for a line of about ``words`` words, by ``example_choice``.

    ``random``: any, each once. ``length``: each once, within one word of the length; where they are too
    few, the nearest lengths come in, one word at a time. ``published``: within one word, drawn with
    replacement, or from all where fewer than the count are.
    """
    count = settings.example_count
    if settings.example_choice == "random":
        return chance.sample(list(pool), min(count, len(pool)))
    if settings.example_choice == "length":
        near = _nearest(pool, words, count)
        return chance.sample(near, min(count, len(near)))
    near = [line for line in pool if abs(count_words(line) - words) <= 1]
    drawn_from = near if len(near) >= count else list(pool)
    return chance.choices(drawn_from, k=count) if drawn_from else []


def _nearest(pool: Sequence[str], words: int, count: int) -> list[str]:
    """The lines within one word of the length, or within as many more as ``count`` lines take."""
    distances = [abs(count_words(line) - words) for line in pool]
    enough = sorted(distances)[:count]
    reach = max(1, enough[-1]) if enough else 1
    return [line for line, distance in zip(pool, distances, strict=True) if distance <= reach]


@lru_cache(maxsize=8)
def _lines_of_file(path: Path, _changed: int, _size: int) -> tuple[str, ...]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from None
    lines = tuple(_csv_lines(path, text) if path.suffix.lower() == ".csv" else _text_lines(text))
    if not lines:
        raise ConfigError(f"The example file {path} holds no line.", _WANTED)
    return lines


def _text_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield " ".join(line.split())


def _csv_lines(path: Path, text: str) -> Iterator[str]:
    header = text.partition("\n")[0]
    separator = max(",;\t", key=header.count)
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise _unreadable(path, error) from None
    columns = [name for name in (rows[0] if rows else ()) if name]
    column = next((name for name in COLUMNS if name in columns), None)
    if rows and column is None:
        raise ConfigError(
            f"The example file {path} has no column of ADs, only: {', '.join(columns)}.",
            f"Name one {' or '.join(COLUMNS)}.",
        )
    for row in rows:
        line = " ".join((row[column or ""] or "").split())
        if line:
            yield line


_WANTED = "Give a text file with an AD in each line, or a CSV file with a column named text."


def _unreadable(path: Path, error: Exception) -> ConfigError:
    return ConfigError(f"The example file {path} cannot be read: {error}.", _WANTED)
