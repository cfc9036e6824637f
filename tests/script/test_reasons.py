"""Reasons of a track in all languages: each sentence is found again, whatever stands in it."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from shotad.script.reasons import engine_failure, in_english, is_reason, reason_in
from shotad.script.track_texts import text_languages, texts_in

GROUPS = ("reason", "doubt", "silent", "failure", "fault", "pause", "worth", "source")
KEYS = [key for key in texts_in("en").by_key if key.split(".")[0] in GROUPS]
OTHERS = [tag for tag in text_languages() if tag != "en"]
VALUES = {
    "reason": "there is no word in it", "error": "no reason given", "fault": "partly in French",
    "why": "was read out before", "line": "it takes 9 words, and 4 fit into the slot", "worth": "2.5 points: reads out text, 4 words",
    "because": "introduces Ann and Bob, 4 words", "budget": "4 words", "words": "1 word", "language": "German", "names": "Ann and Bob",
    "number": "4", "fitting": "3", "needed": "9", "minutes": "2", "seconds": "1.50", "times": "1.25", "free": "0.75",
    "confidence": "0.71", "points": "2.5", "status": "429", "server": "api.example:443", "limit": "4096", "advice": "empty answer",
}  # fmt: skip


def sentence(key: str) -> str:
    text = texts_in("en").by_key[key]
    names = [name for _, name, _, _ in string.Formatter().parse(text) if name]
    return text.format(**{name: VALUES.get(name, "“Hof; 2: Tor”") for name in names})


@pytest.mark.parametrize("tag", OTHERS)
def test_every_sentence_is_said_in_the_language_and_found_again(tag: str) -> None:
    for key in KEYS:
        english = sentence(key)
        said = reason_in(english, tag)
        assert said != english or (tag, key) == ("fr", "worth.points"), key
        assert reason_in(said, tag) == said, key
        assert reason_in(said, "en") == english, key


def test_several_reasons_are_taken_one_by_one() -> None:
    faster, shorter = (
        in_english("reason.faster", times="1.20"),
        in_english("reason.tried_shorter", text="Er geht."),
    )
    assert (
        reason_in(f"{shorter}; {faster}", "de") == "kürzer versucht: Er geht.; 1,20-mal schneller gesprochen"
    )
    # What is no sentence of this program stays, beside what is.
    assert reason_in(f"{faster}; HTTP 500", "fr") == "dite 1,20 fois plus vite; HTTP 500"
    assert reason_in("HTTP 500; the moon was full", "fr") == "HTTP 500; the moon was full"


def test_a_quoted_line_may_have_semicolons() -> None:
    shorter = in_english("reason.tried_shorter", text="Er geht; sie kommt.")
    assert reason_in(shorter, "de") == "kürzer versucht: Er geht; sie kommt."


def test_languages_are_named_as_far_as_there_are_names() -> None:
    error = in_english("failure.line_language", fault="in Dutch", language="German", text="De hond blaft.")
    failed = in_english("reason.stage2", error=error)
    assert (
        reason_in(failed, "de")
        == "Stufe II misslang: die Zeile ist auf nl, nicht auf Deutsch: De hond blaft."
    )
    assert reason_in(reason_in(failed, "de"), "en") == failed


def test_a_language_without_texts_has_english_ones() -> None:
    assert reason_in("von einem Menschen entfernt", "sv") == "removed by a person"


def test_a_reason_is_known_in_any_language() -> None:
    removed = in_english("reason.removed")
    assert is_reason("supprimée par une personne", removed)
    assert not is_reason("vidée par une personne", removed)


def test_what_a_server_says_stays_quoted_in_a_reason() -> None:
    error = in_english("failure.status", status=500, text="'Internal error; try later'")
    error = in_english("failure.no_answer.other", server="api.example:443", number=3, error=error)
    failed = in_english("reason.stage1", error=engine_failure(error))
    said = (
        "Stufe I misslang: api.example:443 gab keine Antwort, 3-mal gefragt: "
        "die Antwort ist 500: 'Internal error; try later'"
    )
    assert reason_in(failed, "de") == said
    assert reason_in(said, "en") == failed


def test_the_words_of_an_engine_of_somebodys_own_are_quoted() -> None:
    failed = in_english("reason.stage2", error=engine_failure("RuntimeError: no GPU;\nstart again"))
    assert (
        reason_in(failed, "de") == "Stufe II misslang: das Modell meldet 'RuntimeError: no GPU; start again'"
    )


WORD_LISTS = Path(__file__).resolve().parents[2] / "configs" / "words"


def test_what_the_lists_of_residue_say_is_said_in_the_language_of_the_track() -> None:
    """A line that speaks of the task is no line; a track says so in its language, whatever list it was."""
    for path in sorted(WORD_LISTS.glob("*/residue.txt")):
        (says,) = re.findall(r"^@says (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        not_clean = in_english("reason.not_clean", fault=f"{says}: 'Bild 1'", text="Bild 1")
        assert reason_in(not_clean, "de") == "keine saubere Zeile: spricht von der Aufgabe: 'Bild 1': Bild 1"
