"""Word files: what their lines mean, what a user's files add, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import ConfigError
from shotad.script import check_line, lists_for, read_words
from shotad.script.rules import parse_words


def found(text: str, entries: str) -> list[str]:
    words = parse_words(entries, "mine")
    return [text[start:end] for start, end in words.spans(text)]


@pytest.mark.parametrize(
    ("entry", "text", "hit"),
    [
        ("door frame", "The Door  frame is red.", ["Door  frame"]),
        ("door frame", "The doors framed it.", []),
        ("zoom[s] (in|out)", "It zooms in, they zoom out.", ["zooms in", "zoom out"]),
        ("[the] camera moves", "Camera moves; the camera moves.", ["Camera moves", "the camera moves"]),
        ("a [big|tall] dog", "A dog, a tall dog, a wet dog.", ["A dog", "a tall dog"]),
        ("goes [away]", "He goes. She goes away.", ["goes", "goes away"]),
        ("symboli*", "It symbolises hope, a symbol.", ["symbolises"]),
        (r"/\bthree \w+/", "Three dogs.", ["Three dogs"]),
        ("it's", "It's late.", ["It's"]),
        ("c++", "In c++ code", ["c++"]),
    ],
)
def test_an_entry_means_what_the_readme_says(entry: str, text: str, hit: list[str]) -> None:
    assert found(text, entry) == hit


def test_sets_exceptions_and_case() -> None:
    entries = "@set size = wide | very long\n@set size = close\n{size} shot[s]\n-very long shot\n"
    assert found("A wide shot, a very long shot, close shots.", entries) == ["wide shot", "close shots"]
    assert found("May us, US", "@case exact\nUS\n") == ["US"]
    assert found("# anything goes", "# anything goes\n\n") == []
    assert found("a wide day", "@set size = wide\n/{size} \\w{3}/") == ["wide day"]


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ("/(/", "cannot be understood"),
        ("{no} shot", "names the set 'no'"),
        ("@level fatal", "line 1"),
        ("# x\n@nothing here", "line 2"),
        ("@set size", "is no set"),
    ],
)
def test_what_cannot_be_meant_is_refused(entries: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        found("x", entries)


def test_a_users_words_come_to_those_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "camera.txt").write_text("drone view\n-wide shot\n", encoding="utf-8")
    (tmp_path / "house.txt").write_text("@says not in our house\nkid[s]\n", encoding="utf-8")
    lists = lists_for("en", read_words([tmp_path]))
    rules = {
        (f.rule, f.message)
        for f in check_line("A drone view of two kids in a wide shot. The camera pans.", lists=lists)
    }
    assert rules == {
        ("L3", "of the camera: 'drone view'"),
        ("L3", "of the camera: 'The camera pans'"),
        ("own", "not in our house: 'kids'"),
    }


def test_a_folder_of_a_language_is_for_that_language(tmp_path: Path) -> None:
    (tmp_path / "de").mkdir()
    (tmp_path / "de" / "camera.txt").write_text("@rule L3\n@level error\nKamera\n", encoding="utf-8")
    own = read_words([tmp_path])
    assert [
        f.rule for f in check_line("Die Kamera fährt.", language="de", lists=lists_for("de-AT", own))
    ] == ["L3"]
    assert check_line("Die Kamera.", lists=lists_for("en", own)) == ()
    assert lists_for("de", read_words([tmp_path / "de"])) == lists_for("de", own)
    assert lists_for("de", read_words([tmp_path / "de" / "camera.txt"])) == lists_for("de", own)


def test_missing_and_unreadable_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no words at"):
        read_words([tmp_path / "none.txt"])
    with pytest.raises(ConfigError, match="holds no word files"):
        read_words([tmp_path])
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_words([tmp_path / "bad.txt"])
