"""Tags of languages, how long lines take in them, and whether a line is in the one that was asked for."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core import UsageError, is_english, language_of, languages
from shotad.description.language_id import looks_english, other_language
from shotad.script import budget_in, count_words, fit_spoken, own_signs, rate_of, read_cues, spoken_words

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.mark.parametrize(
    ("tag", "usual", "name", "codes"),
    [
        ("de", "de", "German", ("deu", "ger")),
        ("DE_ch", "de-CH", "German (Switzerland)", ("deu", "ger")),
        ("pt-BR", "pt-BR", "Portuguese (Brazil)", ("por", "por")),
        ("zh-hans", "zh-Hans", "Chinese (Simplified)", ("zho", "chi")),
        ("sr-Latn-rs", "sr-Latn-RS", "Serbian (Latin, Serbia)", ("srp", "srp")),
        ("es-419", "es-419", "Spanish (Latin America)", ("spa", "spa")),
        ("de-1996", "de-1996", "German", ("deu", "ger")),
        ("yue", "yue", "Cantonese", ("yue", "yue")),
    ],
)
def test_tags_are_understood(tag: str, usual: str, name: str, codes: tuple[str, str]) -> None:
    found = language_of(tag)
    assert (found.tag, found.name, (found.alpha3, found.bibliographic)) == (usual, name, codes)


@pytest.mark.parametrize(
    ("tag", "near"),
    [
        ("german", "de"), ("Deutsch", "de"), ("deu", "de"), ("ger", "de"), ("portugese", "pt"), ("jp", "ja"),
        ("chinese", "zh"), ("中文", "zh"), ("de-", "de"), ("zh-Hanz", "zh-Han"), ("de-XX", "de"), ("eng-US", "en"),
    ],
)  # fmt: skip
def test_a_tag_that_is_none_is_refused_with_the_nearest(tag: str, near: str) -> None:
    with pytest.raises(UsageError) as refused:
        language_of(tag)
    assert repr(tag) in refused.value.what
    assert f"Did you mean {near}" in refused.value.hint or f"Write {near} for" in refused.value.hint


def test_all_two_letter_codes_have_a_name_of_their_own() -> None:
    known = languages()
    assert sum(len(code) == 2 for code in known) >= 180
    assert len(set(known.values())) == len(known)
    assert all(re.fullmatch(r"[a-z]{2,3}", code) for code in known)
    assert all(len(language_of(code).alpha3) == 3 for code in known)


@given(st.text(max_size=12))
def test_no_tag_brings_it_down(tag: str) -> None:
    try:
        found = language_of(tag)
    except UsageError:
        return
    assert language_of(found.tag) == found
    assert is_english(found.tag) == found.english


@given(st.text(max_size=80))
def test_english_is_counted_in_words(text: str) -> None:
    assert spoken_words(text, "en-GB") == count_words(text)


@pytest.mark.parametrize(
    ("text", "tag", "english"),
    [
        ("Sie öffnet die Haustür und tritt hinaus.", "de", 8),
        ("Elle ouvre la porte et sort.", "fr", 5),
        ("她打开门，走了出去。", "zh-Hans", 7),
        ("彼女はドアを開けて外に出る。", "ja", 8),
        ("เธอเปิดประตูและเดินออกไป", "th", 8),
        ("그녀는 문을 열고 나간다.", "ko", 7),
        ("Она открывает дверь и выходит.", "ru", 6),
        ("वह दरवाज़ा खोलती है।", "hi", 5),
    ],
)
def test_a_line_takes_about_as_long_as_its_english(text: str, tag: str, english: int) -> None:
    """Six or seven English words: She opens the (front) door and goes out."""
    assert spoken_words(text, tag) == english
    assert 4 <= english <= 9


@pytest.mark.parametrize(
    ("tag", "told"),
    [("en", "16 words"), ("de-CH", "12 words"), ("fr", "13 words"), ("es", "15 words"), ("zh", "17 characters"),
     ("ja", "25 characters"), ("th", "39 characters"), ("sw", "12 words"), ("fi", "11 words")],
)  # fmt: skip
def test_budgets_are_told_in_the_unit_of_the_language(tag: str, told: str) -> None:
    assert str(budget_in(tag, 16)) == told


def test_a_budget_is_never_nothing() -> None:
    assert all(budget_in(tag, 1).number >= 1 for tag in languages())
    assert all(rate_of(tag).letters > 0 for tag in languages())
    assert str(budget_in("de", 1)) == "1 word"


def test_long_compounds_count_as_what_they_are() -> None:
    assert spoken_words("Donaudampfschifffahrtsgesellschaft", "de") == 8
    assert spoken_words("", "de") == spoken_words("–!", "ja") == 0
    assert spoken_words("1985", "de") > spoken_words("Jahr", "de")


@given(st.text(max_size=60), st.sampled_from(sorted(languages())))
def test_more_text_takes_no_less(text: str, tag: str) -> None:
    assert spoken_words(text + " Abc", tag) >= spoken_words(text, tag)


def test_a_line_is_made_to_fit_by_its_time() -> None:
    long = "Er rennt den ganzen Weg hinunter zum Hafen der Stadt, während die Leute ihm nachsehen."
    fitted = fit_spoken(long, 13, language="de")
    assert fitted is not None
    assert fitted.text == "Er rennt den ganzen Weg hinunter zum Hafen der Stadt."
    chinese = fit_spoken("她打开门，走了出去。外面正下着大雨。", 8, language="zh")
    assert chinese is not None
    assert (chinese.text, chinese.steps) == ("她打开门，走了出去。", ("dropped sentences",))
    shorter = fit_spoken("她打开门，走了出去。", 4, language="zh")
    assert shorter is not None
    assert shorter.text == "她打开门。"
    assert fit_spoken("她打开门", 1, language="zh") is None


@pytest.mark.parametrize(
    ("text", "tag", "own"),
    [
        ("他打开门, 走进去.", "zh-Hans", "他打开门，走进去。"),
        ("彼女は立ち, 歩く.", "ja", "彼女は立ち、歩く。"),
        ("वह खोलती है।.", "hi", "वह खोलती है।"),
        ('Devant " Chez Paul ".', "fr", 'Devant "Chez Paul".'),
        ("He waits, then goes.", "en", "He waits, then goes."),
    ],
)
def test_lines_have_the_signs_of_their_script(text: str, tag: str, own: str) -> None:
    assert own_signs(text, tag) == own


@pytest.mark.parametrize(
    ("text", "tag", "found"),
    [
        ("Ann nods.", "de", "English"),
        ("She looks at the map.", "fr", "English"),
        ("The man is in the room.", "nl", "English"),
        ("He opens the door.", "ru", "English"),
        ("Sie sieht die Karte an.", "de", None),
        ("Sie sieht die Karte an und geht in das Haus.", "fr", "German"),
        ("Hun ser på kartet og går inn i huset.", "da", None),
        ("Она открывает дверь.", "ru", None),
        ("Она открывает дверь.", "de", "Cyrillic letters"),
        ("彼女はドアを開ける。", "zh", "Japanese"),
        ("她打开门，走了出去。", "ja", "Chinese"),
        ("她打开门，走了出去。", "zh-Hant", None),
        ("On otvara vrata.", "sr", None),
        ("Он отвара врата.", "sr", None),
        ("On otvara vrata.", "sr-Cyrl", "another script"),
        ('Auf dem Schild steht: "The end of the world is here".', "de", None),
        ("Kim Lee.", "de", None),
        ("No.", "es", None),
        ("", "de", None),
        ("Ein Mann in einem Auto.", "en", "German"),
    ],
)
def test_another_language_is_found(text: str, tag: str, found: str | None) -> None:
    assert other_language(text, tag) == found


def test_names_are_left_out_of_the_test() -> None:
    assert other_language("Stands With A Fist nickt.", "de", ["Stands With A Fist"]) is None


def test_examples_are_seen_to_be_english() -> None:
    assert looks_english(["She nods slowly.", "He opens the door.", "A phone glows."])
    assert not looks_english(["Sie nickt.", "Er öffnet die Tür.", "Ein Telefon leuchtet."])
    assert not looks_english([])


@pytest.mark.skipif(not DATA.exists(), reason="the supplied data is not here")
def test_human_ad_and_captions_are_told_apart() -> None:
    """95 of 100 English AD lines are found; of captions in eight languages hardly any is doubted."""
    lines: list[str] = []
    for path in sorted((DATA / "cmd-ad").glob("*.csv")):
        with path.open(encoding="utf-8") as rows:
            lines += [row["text_gt"] for row in csv.DictReader(rows) if row.get("text_gt")]
    lines = lines[::7]
    if not lines:
        pytest.skip("the lines of CMD-AD are not here")
    for tag in ("de", "fr", "es", "it", "ru"):
        found = sum(other_language(line, tag) is not None for line in lines)
        assert found >= 0.93 * len(lines), tag
    assert sum(other_language(line, "en") is not None for line in lines) <= 1
    doubted = total = 0
    for path in sorted((DATA / "ad-text" / "able-player").glob("*.vtt")):
        named = re.search(r"_([a-z]{2}(?:-br)?)\.vtt$", path.name)
        if named and named[1] != "en":
            texts = [cue.text for cue in read_cues(path)]
            total += len(texts)
            doubted += sum(other_language(text, named[1]) is not None for text in texts)
    assert total > 400
    assert doubted <= 2
