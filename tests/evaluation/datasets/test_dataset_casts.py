"""Casts by file, in both published forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import DatasetError
from shotad.evaluation.datasets.loading import casts_of, read_casts


def cast(folder: Path, text: str) -> Path:
    file = folder / "cast.json"
    file.write_text(text, encoding="utf-8")
    return file


def test_names_and_roles(tmp_path: Path) -> None:
    text = '{"tt1": ["Zoë", "Cop", "Cop"], "1005_Signs": [{"id": "nm1", "role": "Robert(as Alan  Marshall)", "name": "A"}, {"id": "nm2", "role": "", "name": "B"}]}'
    read = read_casts(cast(tmp_path, text))
    assert read == {"tt1": ("Zoë", "Cop"), "1005_Signs": ("Robert",)}
    assert casts_of({"tt5": "1005_Signs", "tt1": "Other", "tt9": ""}, read) == {
        "tt5": ("Robert",),
        "tt1": ("Zoë", "Cop"),
    }


def test_a_role_of_two_is_kept_whole(tmp_path: Path) -> None:
    """Remarks go, what belongs to the role stays."""
    read = read_casts(
        cast(tmp_path, '{"a": ["Mr. Quinn / Voice of the Fish", "Kate (young)", "Bob (uncredited)"]}')
    )
    assert read == {"a": ("Mr. Quinn / Voice of the Fish", "Kate (young)", "Bob")}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "has no films"),
        ('{"a": "Bob"}', "film 'a': 'Bob' is no list"),
        ('{"a": [7]}', "film 'a': 7 is no name"),
        ('{"a": [{"name": "Bob"}]}', "is no name"),
        ("{", "cannot be read"),
    ],
)
def test_what_is_no_cast_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(DatasetError, match=says):
        read_casts(cast(tmp_path, text))
