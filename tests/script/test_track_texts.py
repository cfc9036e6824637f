"""The files with the texts of each language: whole, and each text with the values that it needs."""

from __future__ import annotations

import json
import string
from pathlib import Path

import pytest

import shotad
from shotad.script.table_formats import UNHEARD
from shotad.script.track_texts import has_texts, in_all_languages, text_languages, texts_in

OTHERS = [tag for tag in text_languages() if tag != "en"]
REGIONS = {"pt-PT"}
SAME_AS_ENGLISH = {
    *("head.id", "number.decimal", "sheet.length", "script.film", "office.about_film", "sheet.face_slots"),
    *("line.reads", "sheet.shot_details", "statement.tag", "head.status", "head.material", "head.note"),
    *("sheet.damaged", "remark.doubt", "office.script", "script.title", "office.table", "script.text_of"),
    *("script.text", "sheet.person", "count.slots", "office.about_use", "sheet.in_the_line", "sheet.space"),
    *("worth.points", "fault.language"),
    *("state.machine", "kind.title", "sheet.from_to", "script.title_with_language", "count.words"),
}
"""Texts that may be spelt alike, or hold no word at all."""

OF_RESIDUE = "speaks of the task"
"""What ``configs/words`` says of the residue of a question."""


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("tag", OTHERS)
def test_every_language_has_every_text_with_the_same_values(tag: str) -> None:
    english, texts = texts_in("en").by_key, texts_in(tag).by_key
    assert set(texts) == set(english)
    for key, text in texts.items():
        assert placeholders(text) == placeholders(english[key]), key
        assert text.strip() == text, key
        assert "<" not in text, key
        if key.removesuffix(".one").removesuffix(".other") not in SAME_AS_ENGLISH:
            assert text != english[key], key
    assert {key for key in texts if key.endswith(".one")} == {
        f"{key.removesuffix('.other')}.one" for key in texts if key.endswith(".other")
    }


def test_a_region_has_only_what_differs() -> None:
    folder = Path(shotad.__file__).parent / "script" / "texts"
    for tag in REGIONS:
        own = json.loads((folder / f"{tag}.json").read_text(encoding="utf-8"))
        usual = texts_in(tag.split("-")[0]).by_key
        assert own
        assert {key for key, text in own.items() if usual[key] == text} == set()


def test_every_text_is_used() -> None:
    """By its whole key, or by the beginning of keys that are put together; or a word list says it."""
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in Path(shotad.__file__).parent.rglob("*")
        if path.suffix in (".py", ".j2")
    )
    for key in texts_in("en").by_key:
        whole = key.removesuffix(".one").removesuffix(".other")
        group = whole.split(".")[0]
        assert (
            f'"{whole}' in source
            or f'f"{group}.{{' in source
            or f'"{whole.removesuffix("_marked")}' in source
            or texts_in("en").by_key[key] == f"{OF_RESIDUE}: {{text}}"
        ), key


def test_tags_find_their_texts() -> None:
    assert texts_in("DE_at").tag == "de"
    assert texts_in("pt-BR").tag == texts_in("pt").tag == "pt"
    assert texts_in("pt-PT").tag == "pt-PT"
    assert texts_in("zh-Hant").tag == texts_in("sr-Latn").tag == "en"
    assert [has_texts(tag) for tag in ("de-CH", "en-GB", "fr", "sv", "zh-Hant")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_numbers_take_the_form_of_their_language() -> None:
    assert [texts_in("fr").count("count.lines", number) for number in (0, 1, 2)] == [
        "0 phrase", "1 phrase", "2 phrases",
    ]  # fmt: skip
    assert [texts_in("de").count("count.lines", number) for number in (0, 1, 2)] == [
        "0 Zeilen", "1 Zeile", "2 Zeilen",
    ]  # fmt: skip
    assert (texts_in("de").decimal(4.25, 2), texts_in("en").decimal(4.25, 2)) == ("4,25", "4.25")
    assert texts_in("es").listed(["Ana", "Eva", "Leo"]) == "Ana, Eva y Leo"


def test_no_status_of_a_spoken_line_looks_like_one_that_is_not_spoken() -> None:
    for status in ("placed", "shortened", "empty"):
        assert UNHEARD.isdisjoint(in_all_languages(f"status.{status}"))
    for tag in text_languages():
        assert texts_in(tag)("status.dropped") not in texts_in(tag)("status.dropped_words").split(", ")
    for column in ("in", "out", "line", "status", "note", "id", "stamp"):
        others = {"in", "out", "line", "status", "note", "id", "stamp"} - {column}
        for other in others:
            assert set(in_all_languages(f"head.{column}")).isdisjoint(in_all_languages(f"head.{other}"))
