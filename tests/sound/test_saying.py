"""What is said for what is written, and words that are said in their own way."""

from __future__ import annotations

import csv
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core import Member, data_root
from shotad.sound import NOTHING, Lexicon, said
from shotad.sound.pronunciation import lexicon_of, parse_lexicon
from shotad.sound.quantities import roman, words_of
from shotad.sound.voice_engines import Reading

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "cmd-ad" / "cmdad_anno.csv"
LANGUAGES = sorted(path.stem for path in (data_root() / "configs" / "saying").glob("*.yaml"))
in_words = pytest.mark.skipif(
    find_spec("num2words") is None, reason="num2words is not installed: pip install .[voice]"
)


@pytest.mark.parametrize(("text", "spoken"), [
    # Abbreviations.
    ("Mr. Lee and Mrs. Lee", "Mister Lee and Missis Lee"),
    ("MR. SMITH", "Mister Smith"),
    ("Dr Lee nods.", "Doctor Lee nods."),
    ("The dr. nods.", "The dr. nods."),
    ("St. John waits on Main St. She waves.", "Saint John waits on Main Street. She waves."),
    ("He lives on Main St.", "He lives on Main Street."),
    ("Guns, knives, etc. He runs.", "Guns, knives, et cetera. He runs."),
    ("No. He runs.", "No. He runs."),
    ("M. Dupont, M Dupont", "Monsieur Dupont, M Dupont"),
    ("G. Smith and J. K. Lee", "G. Smith and J. K. Lee"),
    # Capitals.
    ("The title SINTEL appears.", "The title Sintel appears."),
    ("A sign: EXIT.", "A sign: Exit."),
    ("O'BRIEN'S BAR", "O'Brien's Bar"),
    ("the CIA.", "the C.I.A."),
    ("An SUV, TJ's van", "An S.U.V., T.J.'s van"),
    ("THE FBI FILES", "The F.B.I. Files"),
    ("A SWAT team, NASA", "A Swat team, Nasa"),
    ("XKCD", "X.K.C.D."),
    ("I am. A cat.", "I am. A cat."),
    ("R2-D2, TVs, iPhone", "R2-D2, TVs, iPhone"),
    ("C.I.A. men", "C.I.A. men"),
    # Signs.
    ("Anna — asleep — turns", "Anna, asleep, turns"),
    ("Anna (asleep) turns.", "Anna, asleep, turns."),
    ("Anna - the girl -- runs", "Anna, the girl, runs"),
    ("A well-known, red-haired girl", "A well-known, red-haired girl"),
    ("He reads: “Open...”", "He reads: “Open…”"),
    ("...and falls…", "and falls…"),
    ("Emo & Proog", "Emo and Proog"),
    ("www.tearsofsteel.org", "tearsofsteel dot org"),
    ("**bold** and _so_", "bold and so"),
    ("Title one\nTitle two.\nThree", "Title one, Title two. Three"),
    ("🙂 He smiles ©", "He smiles"),
    ("and/or", "and or"),
    ("yes,, no , then", "yes, no, then"),
])  # fmt: skip
def test_abbreviations_capitals_and_signs(text: str, spoken: str) -> None:
    assert said(text, "en") == spoken


@in_words
@pytest.mark.parametrize(("text", "spoken"), [
    ("Henry VIII and Louis XIV's hat", "Henry the eighth and Louis the fourteenth's hat"),
    ("Chapter III, Part I, World War II", "Chapter three, Part one, World War two"),
    ("Rocky IV wins", "Rocky four wins"),
    ("Malcolm X", "Malcolm X"),
    ("Mr. Dix, a CIVIL man, MIX", "Mister Dix, a Civil man, M.I.X."),
    ("at 3:15 a.m.", "at three fifteen a.m."),
    ("10:00, 14:30, 07:05, 12:05 PM", "ten o'clock, fourteen thirty, seven oh five, twelve oh five p.m."),
    ("7 p.m. sharp", "seven p.m. sharp"),
    ("£20, $5m, $3.50, £1, $0.50", "twenty pounds, five million dollars, three dollars fifty, one pound, fifty cents"),
    ("$5.00, 1234567890123456.5", "five dollars, 1234567890123456.5"),
    ("King Zog LX", "King Zog L.X."),
    ("50%, 5°C, 90°", "fifty per cent, five degrees Celsius, ninety degrees"),
    ("5 km, 1 km, a 6-ft fence", "five kilometres, one kilometre, a six foot fence"),
    ("10–15 men", "ten to fifteen men"),
    ("In 1995, 2005, 2010", "In nineteen ninety-five, two thousand and five, twenty ten"),
    ("the 1980s and the '90s", "the nineteen eighties and the nineties"),
    ("2nd, 21st, May 5, 5th of May", "second, twenty-first, May fifth, fifth of May"),
    ("20,000 men, 3.5, .45", "twenty thousand men, three point five, point four five"),
    ("007 calls 555-1234", "zero zero seven calls five five five one two three four"),
    ("No. 5, #3", "number five, number three"),
    ("1/2 mile, 9/11", "one half mile, nine eleven"),
    ("B-52, C3PO, 25-year-old", "B-52, C3PO, 25-year-old"),
])  # fmt: skip
def test_numbers_in_english(text: str, spoken: str) -> None:
    assert said(text, "en") == spoken


@in_words
@pytest.mark.parametrize(("language", "text", "spoken"), [
    ("de", "Hr. Müller um 15:30 Uhr.", "Herr Müller um fünfzehn Uhr dreißig."),
    ("de", "1995: 3,5 Mio. €", "neunzehnhundertfünfundneunzig: drei Komma fünf Millionen Euro"),
    ("de", "Heinrich VIII. lacht.", "Heinrich der Achte lacht."),
    ("de", "z. B. 20.000 Leute, der 3. Mann", "zum Beispiel zwanzigtausend Leute, der 3. Mann"),
    ("fr", "Mme Lee à 15h30, 20 €", "Madame Lee à quinze heures trente, vingt euros"),
    ("fr", "Louis XIV", "Louis quatorze"),
    ("es", "Sr. López: 3,5 km", "señor López: tres coma cinco kilómetros"),
    ("es", "Felipe II, Luis XIV", "Felipe segundo, Luis catorce"),
    ("it", "Luigi XIV, n. 5", "Luigi quattordicesimo, numero cinque"),
    ("nl", "Dhr. Jansen om 15.30 uur", "de heer Jansen om vijftien uur dertig"),
    ("de-AT", "50 %", "fünfzig Prozent"),
])  # fmt: skip
def test_other_languages_say_theirs(language: str, text: str, spoken: str) -> None:
    assert said(text, language) == spoken


def test_a_language_without_words_here_is_left_to_the_voice() -> None:
    assert said("W 1995 r. 3,5 km", "pl") == "W 1995 r. 3,5 km"
    assert said("彼は1995年に来た。", "ja") == "彼は1995年に来た。"


@pytest.mark.parametrize("language", LANGUAGES)
def test_word_files_are_whole(language: str) -> None:
    words = words_of(language)
    assert {"&", "+", "@"} <= set(words.signs)
    assert "%" in words.units
    assert all((words.money, words.range, words.dot, words.point, words.before_name, words.roman.names))
    assert words.spoken
    assert not words.spelled & words.spoken
    assert {word.upper() for word in words.spelled | words.spoken} == words.spelled | words.spoken


def test_roman_numerals() -> None:
    assert [roman(text) for text in ("I", "IV", "XIV", "XLVIII", "MCMXCIV")] == [1, 4, 14, 48, 1994]
    assert [roman(text) for text in ("", "IIII", "VX", "ABC", "IC")] == [None] * 5


@pytest.mark.skipif(not SHARED.is_file(), reason="../shared/data/cmd-ad is not here")
def test_human_lines_are_hardly_touched() -> None:
    with SHARED.open(encoding="utf-8", newline="") as file:
        lines = [" ".join(row["text"].split()) for row in csv.DictReader(file)][::5]
    changed = [line for line in lines if said(line, "en", reads=Reading.UNITS).replace("…", "...") != line]
    assert len(changed) < 0.02 * len(lines), changed[:10]


@pytest.mark.parametrize(("text", "sayings", "said_so"), [
    # Whole words, with their possessives and capitals; the longest first.
    ("Sintel meets Sintelia; sintel, (Sintel).", {"Sintel": "Sin-TELL"}, "Sin-TELL meets Sintelia; sintel, Sin-TELL."),
    ("Sintel's dragon, Sintel’s spear", {"Sintel": "Sin-TELL"}, "Sin-TELL's dragon, Sin-TELL’s spear"),
    ("SINTEL'S END", {"Sintel": "Sin-TELL"}, "Sin-TELL's End"),
    ("Anna Lee and Anna", {"Anna": "AH-na", "Anna Lee": "AH-na LEE"}, "AH-na LEE and AH-na"),
    # With a capital as written or shouted, a small word in any case.
    ("Will will WILL", {"Will": "Wil"}, "Wil will Wil"),
    ("Gif gif GIF", {"gif": "jiff"}, "jiff jiff jiff"),
    # No other rule touches a saying or looks past it.
    ("St. Clair", {"St. Clair": "Sinclair"}, "Sinclair"),
    ("Dr. Nkemelu III", {"Nkemelu": "n'keh-MEH-loo"}, "Doctor n'keh-MEH-loo three"),
    ("The FBI", {"FBI": "the FEDS"}, "The the FEDS"),
    ("Sintel & Co", {"Sintel": "Sin & TELL"}, "Sin & TELL and Co"),
    # Signs are no patterns, characters of private use nobody's mark.
    ("so c++ then", {"c++": "see"}, "so see then"),
    ("a \ue000 b Sintel \ue001", {"Sintel": "Sin-TELL"}, "a b Sin-TELL"),
])  # fmt: skip
def test_words_are_said_in_their_own_way(text: str, sayings: dict[str, str], said_so: str) -> None:
    assert said(text, "en", Lexicon(sayings)) == said_so


def test_a_cast_says_its_names_as_its_entries_tell() -> None:
    people = [
        Member("sintel", "Sintel Ishtar", spoken="Sintel", say_as="Sin-TELL"),
        Member("thom", "Thom"),
        Member("extra", "Extra", nameless=True, say_as="x"),
    ]
    assert lexicon_of(people) == Lexicon({"Sintel": "Sin-TELL"})


def test_comments_and_order_of_a_file() -> None:
    text = "\ufeff# names\n\nSintel = Sin-TELL # ours\nC# = see sharp\nAnna  Lee=AH-na Lee\n"
    assert parse_lexicon(text).sayings == {"Sintel": "Sin-TELL", "C#": "see sharp", "Anna Lee": "AH-na Lee"}


@given(
    st.text(alphabet="Aa1 .,:-–%£$&/()'IVXm5k0", max_size=40) | st.text(max_size=80),
    st.sampled_from(["en", "de", "fr", "nl"]),
)
def test_no_text_breaks_it_and_the_empty_lexicon_adds_nothing(text: str, language: str) -> None:
    marked, sayings = NOTHING.marked(text)
    assert sayings == ()
    assert set(marked) <= set(text)
    found = said(text, language, Lexicon({"the": "thee"}))
    assert found == said(text, language, Lexicon({"the": "thee"}))
    assert not any(sign in found for sign in ("\ue000", "\n", "  "))
