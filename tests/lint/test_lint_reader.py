"""Which lines a parser is asked about, and that it is never fetched unasked."""

from __future__ import annotations

import subprocess
import sys

import pytest

from shotad.core import LintSettings
from shotad.script import ParserModel, Reader, reader_for, sentence_checks as sentences
from shotad.script.sentence_checks import may_matter
from tests.lint.test_lint_rules import line

EVENTS = frozenset(("struck", "hit"))


@pytest.mark.parametrize(
    "text", ["He ran off.", "She walked.", "It will end.", "He's struck.", "They'll go.", "She left."]
)
def test_lines_that_a_parse_may_change(text: str) -> None:
    assert may_matter(text, EVENTS)


@pytest.mark.parametrize(
    "text", ["He runs off.", "A dog barks at the moon.", "They put it down.", "He enters from the left.", ""]
)
def test_lines_that_it_cannot_change(text: str) -> None:
    assert not may_matter(text, EVENTS)


def test_a_track_without_such_lines_loads_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(model: object) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(sentences, "Parser", refuse)
    reader = Reader(ParserModel("none", "0", "nowhere"))
    assert reader.read([line(1, "A dog runs."), line(6, "Er rannte.", language="de")], EVENTS) == {}
    with pytest.raises(AssertionError, match="loaded"):
        reader.read([line(1, "A dog ran.")], EVENTS)


def test_auto_fetches_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sentences.importlib.util, "find_spec", lambda name: "spaCy" if name == "spacy" else None
    )
    monkeypatch.setattr(sentences, "at_hand", lambda name: False)
    reader, note = reader_for(LintSettings())
    assert reader is None
    assert "lint.parse=spacy" in note


def test_the_checks_load_nothing_heavy() -> None:
    heavy = ("cv2", "torch", "onnxruntime", "av", "spacy", "scipy")
    code = f"import sys, shotad.description.lint_check; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
