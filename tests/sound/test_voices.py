"""What is said for what is written; voices: their table, the fake and the built-in one, takes, and takes stretched in time."""

from __future__ import annotations

import csv
import re
import socket
import subprocess
import sys
import time
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Member
from shotad.core.config.sound import LOCAL_VOICES, VoiceSettings
from shotad.core.errors import VoiceError
from shotad.core.settings import data_root
from shotad.film import Samples
from shotad.sound import (
    CachingStudio,
    Lexicon,
    Take,
    make_voice,
    voices,
)
from shotad.sound.own_voices import VERSION, FakeVoice, installed_version
from shotad.sound.pronunciation import EMPTY_LEXICON, lexicon_of, parse_lexicon, spoken_text
from shotad.sound.takes import stretched, to_length
from shotad.sound.voice_engines import VOICE_KINDS, Reading, split_into_pieces
from tests.bad_server import Act, BadServer
from tests.speech_server import coded, tone, wav

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
    assert spoken_text(text, "en") == spoken


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
    ("B-52, C3PO, 25-year-old", "B-52, C3PO, twenty-five-year-old"),
])  # fmt: skip
def test_numbers_in_english(text: str, spoken: str) -> None:
    assert spoken_text(text, "en") == spoken


@in_words
@pytest.mark.parametrize(("language", "text", "spoken"), [
    ("de", "Hr. Müller um 15:30 Uhr.", "Herr Müller um fünfzehn Uhr dreißig."),
    ("de", "1995: 3,5 Mio. €", "neunzehnhundertfünfundneunzig: drei Komma fünf Millionen Euro"),
    ("de", "Heinrich VIII. lacht.", "Heinrich der Achte lacht."),
    ("de", "z. B. 20.000 Leute, der 3. Mann", "zum Beispiel zwanzigtausend Leute, der dritte Mann"),
    ("de", "Am 3. Oktober 1990, in der 3. Reihe", "Am dritten Oktober neunzehnhundertneunzig, in der dritten Reihe"),
    ("de", "3. Mai 1945", "dritter Mai neunzehnhundertfünfundvierzig"),
    # A full stop behind a number ends the sentence, or makes it an ordinal; where neither is sure it stays.
    ("de", "Er kommt am 3. Sie wird 21. Er lacht.", "Er kommt am dritten. Sie wird einundzwanzig. Er lacht."),
    ("de", "Zimmer 12. Anna zahlt 99. Tom geht.", "Zimmer zwölf. Anna zahlt neunundneunzig. Tom geht."),
    ("de", "Ihr 99. Sieg, 1. Akt, Nach 40. Versuch", "Ihr 99. Sieg, erster Akt, Nach 40. Versuch"),
    ("de", "Es kostet 1,01 €. Er geht.", "Es kostet ein Euro eins. Er geht."),
    ("de", "0,50 €, 0,01 £", "fünfzig Cent, ein Penny"),
    ("fr", "0,50 €, 0,01 €, 2,05 €", "cinquante centimes, un centime, deux euros cinq"),
    ("es", "0,50 €, 0,21 €", "cincuenta céntimos, veintiún céntimos"),
    ("it", "0,50 €", "cinquanta centesimi"),
    ("nl", "0,50 €", "vijftig cent"),
    ("fr", "1 h 30, 21 h 01, 0 h 05", "une heure trente, vingt et une heures une, zéro heure cinq"),
    ("es", "1:30", "una y treinta"),
    ("de", "Um 1:30 Uhr", "Um ein Uhr dreißig"),
    ("fr", "chapitre IV, acte III, la partie C", "chapitre quatre, acte trois, la partie C"),
    ("fr", "-5 °C, puis −3", "moins cinq degrés Celsius, puis moins trois"),
    ("de", "–5 °C, 3–5, 3 -5", "minus fünf Grad Celsius, drei bis fünf, drei bis fünf"),
    ("en", "-5, 5 − 3", "minus five, five minus three"),
    ("de", "Tel. 030-123456", "Telefon null drei null eins zwei drei vier fünf sechs"),
    ("de", "am 24.12.1944", "am vierundzwanzigsten zwölften neunzehnhundertvierundvierzig"),
    ("de", "der 1.3.2020, 3/4 Liter", "der erste dritte zweitausendzwanzig, drei viertel Liter"),
    ("de", "Im 19. Jh., 1920er, 20er", "Im neunzehnten Jahrhundert, neunzehnhundertzwanziger, zwanziger"),
    ("de", "Um 14.30 Uhr, 3 Mio. Menschen", "Um vierzehn Uhr dreißig, drei Millionen Menschen"),
    ("de", "Königin Elisabeth II., Wilhelms II. Hut", "Königin Elisabeth die Zweite, Wilhelms des Zweiten Hut"),
    ("de", "König Friedrich Wilhelm IV. reitet.", "König Friedrich Wilhelm der Vierte reitet."),
    ("de", "1 Mann, 1 Lehrerin, 1 km, Hauptstr. 5", "ein Mann, eine Lehrerin, ein Kilometer, Hauptstraße fünf"),
    ("de", "S. 12, § 5, Prof. Dr. h. c. Klein", "Seite zwölf, Paragraf fünf, Professor Doktor honoris causa Klein"),
    ("fr", "le 1er mai, la 1re fois, la 2e", "le premier mai, la première fois, la deuxième"),
    ("fr", "au XXe siècle, François Ier. Le roi", "au vingtième siècle, François premier. Le roi"),
    ("fr", "14 h 30, 8 h, § 5, 1 200 €", "quatorze heures trente, huit heures, paragraphe cinq, mille deux cents euros"),
    ("fr", "21 femmes, 21 ans, 1 et 2", "vingt et une femmes, vingt et un ans, un et deux"),
    ("es", "el 3er piso, la 2.ª puerta, el 1.º", "el tercer piso, la segunda puerta, el primero"),
    ("es", "Isabel II, siglo XX, C/ Mayor 5", "Isabel segunda, siglo veinte, calle Mayor cinco"),
    ("es", "21 hombres, 500 mujeres, 1 día, 1 y 2", "veintiún hombres, quinientas mujeres, un día, uno y dos"),
    ("it", "Elisabetta II", "Elisabetta seconda"),
    ("fr", "Mme Lee à 15h30, 20 €", "Madame Lee à quinze heures trente, vingt euros"),
    ("fr", "Louis XIV", "Louis quatorze"),
    ("es", "Sr. López: 3,5 km", "señor López: tres coma cinco kilómetros"),
    ("es", "Felipe II, Luis XIV", "Felipe segundo, Luis catorce"),
    ("it", "Luigi XIV, n. 5", "Luigi quattordicesimo, numero cinque"),
    ("nl", "Dhr. Jansen om 15.30 uur", "de heer Jansen om vijftien uur dertig"),
    ("de-AT", "50 %", "fünfzig Prozent"),
    ("fr", "10 000 €", "dix mille euros"),
    ("fr", "2\u00a0000 personnes", "deux mille personnes"),
    ("fr", "De 1\u202f000 à 3 200 km", "De mille à trois mille deux cents kilomètres"),
    ("de", "10 000 Leute", "zehntausend Leute"),
    ("it", "2 000 000 €", "due milioni di euro"),
])  # fmt: skip
def test_other_languages_say_theirs(language: str, text: str, spoken: str) -> None:
    assert spoken_text(text, language) == spoken


def test_a_language_without_words_here_is_left_to_the_voice() -> None:
    assert spoken_text("W 1995 r. 3,5 km", "pl") == "W 1995 r. 3,5 km"
    assert spoken_text("彼は1995年に来た。", "ja") == "彼は1995年に来た。"


@in_words
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_with_words_says_signs_money_ranges_and_addresses(language: str) -> None:
    spoken = spoken_text("5 % & 3 + 4 @ 10–15, www.a.org, £20, $5, EXIT.", language)
    assert not set("%&+@–£$") & set(spoken)
    assert not any(character.isdigit() for character in spoken)
    assert "a.org" not in spoken
    assert spoken.endswith("Exit.")


@in_words
def test_roman_numerals() -> None:
    text = "Chapter I, Chapter IV, Chapter XIV, Chapter XLVIII"
    assert spoken_text(text, "en") == "Chapter one, Chapter four, Chapter fourteen, Chapter forty-eight"
    no_numerals = "Chapter IIII, Chapter VX, Chapter ABC, Chapter IC"
    assert spoken_text(no_numerals, "en") == "Chapter Iiii, Chapter V.X., Chapter A.B.C., Chapter I.C."


@pytest.mark.skipif(not SHARED.is_file(), reason="../shared/data/cmd-ad is not here")
def test_human_lines_are_hardly_touched() -> None:
    with SHARED.open(encoding="utf-8", newline="") as file:
        lines = [" ".join(row["text"].split()) for row in csv.DictReader(file)][::5]
    changed = [
        line for line in lines if spoken_text(line, "en", reads=Reading.UNITS).replace("…", "...") != line
    ]
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
    assert spoken_text(text, "en", Lexicon(sayings)) == said_so


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


@pytest.mark.parametrize("text", [
    "Dr. " * 1200, "1," * 2400, "7" * 4900, "A'" * 2400, "St. " * 1200, "10:" * 1600, "AB-" * 1600, "1,000" * 900, " - " * 1600,
    "www." * 1200, "King A " * 700, "$1 " * 1600, "IV " * 1600,
])  # fmt: skip
@pytest.mark.parametrize("reads", Reading)
def test_a_line_of_one_thing_is_written_out_at_once(text: str, reads: Reading) -> None:
    spoken_text("Dr. 1", "en", reads=reads)
    before = time.process_time()
    spoken_text(text[:5000], "en", reads=reads)
    assert time.process_time() - before < 0.5


@pytest.mark.parametrize(("text", "longest", "pieces"), [
    ("He runs.", 20, ["He runs."]),
    ("He runs. She sleeps, he sits.", 16, ["He runs.", "She sleeps,", "he sits."]),
    ("He runs and runs and runs", 12, ["He runs and", "runs and", "runs"]),
    ("他跑。她睡，他坐。", 5, ["他跑。", "她睡，", "他坐。"]),
    ("x" * 25, 10, ["x" * 10, "x" * 10, "x" * 5]),
    ("One. ... ... ... ... two", 8, ["One.", "two"]),
])  # fmt: skip
def test_long_text_is_parted_where_it_pauses(text: str, longest: int, pieces: list[str]) -> None:
    split = split_into_pieces(text, longest)
    assert all(len(piece) <= longest for piece in split)
    assert [piece.strip(". ") for piece in split] == [piece.strip(". ") for piece in pieces]


def test_a_long_line_is_spoken_in_pieces_and_an_endless_one_is_refused(tmp_path: Path) -> None:
    class Short(FakeVoice):
        longest = 40

    voice = Short()
    take = voice.speak("A man walks down the road. " * 5)
    assert all(len(text) <= 40 for text, _ in voice.calls)
    assert take.seconds == pytest.approx(
        5 * FakeVoice().speak("A man walks down the road.").seconds + 1, abs=0.2
    )
    studio = CachingStudio(Short(), tmp_path, VoiceSettings(), "en")
    with pytest.raises(VoiceError, match="would take 1. minutes to say") as error:
        studio.say("Dr. " * 1200)
    assert len(str(error.value)) < 300


@given(
    st.text(alphabet="Aa1 .,:-–%£$&/()'IVXm5k0", max_size=40) | st.text(max_size=80),
    st.sampled_from(["en", "de", "fr", "nl"]),
)
def test_no_text_breaks_it_and_the_empty_lexicon_adds_nothing(text: str, language: str) -> None:
    marked, sayings = EMPTY_LEXICON.marked(text)
    assert sayings == ()
    assert set(marked) <= set(text)
    spoken = spoken_text(text, language, Lexicon({"the": "thee"}))
    assert spoken == spoken_text(text, language, Lexicon({"the": "thee"}))
    assert not any(sign in spoken for sign in ("\ue000", "\n", "  "))


def test_listing_loads_no_model() -> None:
    code = (
        "import sys; from shotad.sound.voice_engines import voices; voices();"
        "print([m for m in ('onnxruntime', 'hibari', 'torch', 'piper') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


TEXT = "A woman climbs the snowy ridge, leaning on a spear."
RATE = 24000


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE))


needs_client = pytest.mark.skipif(
    find_spec("httpx") is None, reason="the endpoint's client is not installed: pip install .[openai]"
)


def take_of(answer: bytes, monkeypatch: pytest.MonkeyPatch, kind: str = "audio/wav") -> Samples:
    """The samples of the take that a voice makes of a server's answer."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with BadServer([Act(200, answer, kind=kind)]) as server:
        voice = make_voice(VoiceSettings(name="openai:x", base_url=server.url), "en")
        take = voice.speak("Anna runs.")
    assert take.rate == RATE
    return take.samples


def exact_wav(samples: np.ndarray) -> bytes:
    """A WAV of floating-point samples, which may pass full scale."""
    return coded("wav", "pcm_f32le", samples, RATE)


@needs_client
def test_a_take_is_cut_to_a_breath_without_offset_and_below_full_scale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sound = np.concatenate([silence(0.7), tone(0.3), silence(0.5), tone(0.2), silence(1.0)])
    take = take_of(wav(sound), monkeypatch)
    assert take.dtype == np.float32
    assert 1.0 <= take.size / RATE <= 1.03, "the pause within stays"
    loud = np.flatnonzero(np.abs(take) > 0.05)
    assert loud[0] / RATE <= 0.012
    assert take.size - loud[-1] <= 0.025 * RATE
    # A consonant that is far softer than the vowels is not cut off.
    hiss = np.random.default_rng(1).standard_normal(round(0.1 * RATE)) * 0.5 * 10 ** (-46 / 20)
    soft_ends = np.concatenate([silence(0.4), hiss, tone(0.3), hiss, silence(0.4)])
    assert take_of(exact_wav(soft_ends), monkeypatch).size / RATE == pytest.approx(0.5, abs=0.03)
    assert abs(float(take_of(wav(tone(0.5) * 0.5 + 0.2), monkeypatch).mean())) < 1e-3
    assert float(np.abs(take_of(exact_wav(tone(0.5) * 4), monkeypatch)).max()) <= 0.9801
    assert float(np.abs(take_of(wav(tone(0.5)), monkeypatch)).max()) == pytest.approx(0.5, abs=0.01)


NO_SOUND = [silence(1.0), np.full(100, np.nan), np.full(RATE, 0.3)]
NO_FILE = [b"", b"RIFF", b"hello", wav(tone(0.0))]


@needs_client
@pytest.mark.parametrize("answer", [*map(exact_wav, NO_SOUND), *NO_FILE])
def test_sound_without_a_sound_and_files_that_are_none_are_clear_errors(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(VoiceError, match="The voice openai:x gave"):
        take_of(answer, monkeypatch)


@needs_client
def test_bare_samples_of_which_there_are_none_are_no_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(VoiceError, match="gave no sound"):
        take_of(b"", monkeypatch, "audio/pcm")


needs_it = pytest.mark.skipif(
    installed_version() != VERSION,
    reason=f"hibari-tts {VERSION} is not installed: shotad[voice]",
)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a connection fails the test."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("name", ["hibari:emma", "hibari:bella", "hibari:../x"])
def test_other_voices_which_it_would_fetch_are_refused_before_it_is_loaded(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "hibari", None)
    with pytest.raises(VoiceError, match="no hibari voice called") as error:
        make_voice(VoiceSettings(name=name), "en")
    assert "would be fetched" in error.value.hint


def test_without_its_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(VoiceError, match="not installed") as error:
        make_voice(VoiceSettings(name="hibari"), "en")
    assert "shotad[voice]" in error.value.hint
    info = next(info for info in voices("en") if info.kind == "hibari")
    assert not info.installed
    # Neither a server nor the fake voice takes its place.
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    for name in ("SHOTAD_PIPER_VOICES", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(VoiceError) as error:
        make_voice(VoiceSettings(), "en")
    assert error.value.what == "No voice that speaks 'en' is installed."
    assert re.search(r"shotad\[voice\].* Or: Install espeak-ng", error.value.hint)
    assert error.value.hint.endswith("shotad voices lists all.")


def test_another_version_of_its_package_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    about = tmp_path / "hibari_tts-9.9.dist-info" / "METADATA"
    about.parent.mkdir()
    about.write_text("Metadata-Version: 2.1\nName: hibari-tts\nVersion: 9.9\n", encoding="utf-8")
    (tmp_path / "hibari.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(VoiceError, match=r"hibari-tts 9\.9 is installed"):
        make_voice(VoiceSettings(name="hibari"), "en")


@needs_it
@pytest.mark.usefixtures("offline")
def test_it_speaks_without_a_network_the_same_way_every_time_and_takes_no_orders(tmp_path, monkeypatch):
    monkeypatch.setenv("HIBARI_HOME", str(tmp_path / "cache"))
    voice = make_voice(VoiceSettings(), "en-GB")
    take, again, fast = voice.speak(TEXT), voice.speak(TEXT), voice.speak(TEXT, 1.15)
    assert (voice.name, voice.reads, take.rate) == ("hibari:heart", Reading.NUMBERS, 24000)
    assert np.array_equal(take.samples, again.samples)
    assert 2 < take.seconds < 5
    assert 0.05 < float(np.abs(take.samples).max()) < 1
    assert not (tmp_path / "cache").exists()
    # Its own speed is used, and brackets in a line are no orders to it.
    assert take.seconds / fast.seconds == pytest.approx(1.12, abs=0.06)
    assert voice.speak("Anna runs.", 5.0).speed == pytest.approx(2.0 / 0.81)
    assert voice.speak("[Anna](/zzz/) runs.").seconds > voice.speak("Anna runs.").seconds


@needs_it
@pytest.mark.parametrize(("text", "words"), [
    ("A woman in an orange suit 微笑着 smiles.", ("微笑着",)),
    ("A sign reads “出口”, then “出口” again.", ("出口",)),
    ("A suit微笑着smiles.", ("微笑着",)),
    ("हिन्दी and 한국.", ("हिन्दी", "한국")),
    ("Eine Frau lächelt in Łódź.", ()),
    ("Dr. Lee pays $5 & 3.5% at 7:30 – R2D2's naïve café, x → y.", ()),
])  # fmt: skip
def test_it_says_which_words_it_has_no_sound_for(text: str, words: tuple[str, ...]) -> None:
    voice = make_voice(VoiceSettings(name="hibari"), "en")
    assert voice.left_out(spoken_text(text, "en", reads=voice.reads)) == words


SLOW_RATE = 16000


def vowel(seconds: float, pitch: float = 120.0, glide: float = 0.1) -> Samples:
    """Something like a vowel that glides and swells."""
    t = np.arange(int(seconds * SLOW_RATE)) / SLOW_RATE
    phase = 2 * np.pi * np.cumsum(pitch * (1 + glide * np.sin(2 * np.pi * 1.5 * t))) / SLOW_RATE
    tone = sum(np.sin(k * phase) / k for k in range(1, 12))
    swell = 0.5 - 0.5 * np.cos(2 * np.pi * 3 * t)
    return (0.2 * tone * swell).astype(np.float32)


def stretch(samples: Samples, rate: int, factor: float) -> Samples:
    return stretched(samples, rate, max(1, round(samples.size / factor)))


def pitches(samples: Samples) -> float:
    """Median pitch in Hz, by autocorrelation."""
    size, pitches_found = SLOW_RATE // 20, []
    for at in range(0, samples.size - 2 * size, size // 2):
        piece = samples[at : at + 2 * size].astype(np.float64)
        if np.mean(piece**2) < 1e-3:
            continue
        spectrum = np.abs(np.fft.rfft(piece * np.hanning(2 * size), 4 * size)) ** 2
        likeness = np.fft.irfft(spectrum)[:size]
        low, high = SLOW_RATE // 300, SLOW_RATE // 60
        pitches_found.append(SLOW_RATE / (low + int(np.argmax(likeness[low:high]))))
    return float(np.median(pitches_found))


@given(st.integers(1, 6000), st.floats(0.7, 1.5), st.sampled_from([8000, 16000, 22050, 24000, 48000]))
@settings(max_examples=60, deadline=None)
def test_the_length_is_exact(number: int, factor: float, rate: int) -> None:
    samples = np.random.default_rng(number).uniform(-0.5, 0.5, number).astype(np.float32)
    before = samples.copy()
    result = stretch(samples, rate, factor)
    assert abs(result.size - number / factor) <= max(1, rate // 1000)
    assert result.dtype == np.float32
    assert np.all(np.isfinite(result))
    assert np.abs(result).max() <= np.abs(samples).max() * 1.001
    assert np.array_equal(samples, before)
    assert np.array_equal(result, stretch(samples, rate, factor))


@pytest.mark.parametrize(("pitch", "factor"), [(90.0, 1.3), (120.0, 1.05), (210.0, 0.9)])
def test_the_pitch_stays(pitch: float, factor: float) -> None:
    samples = vowel(2.0, pitch, glide=0.0)
    assert pitches(stretch(samples, SLOW_RATE, factor)) == pytest.approx(pitches(samples), rel=0.01)


@pytest.mark.parametrize("factor", [1.03, 1.4])
def test_the_ends_are_those_of_the_original_and_nothing_clicks(factor: float) -> None:
    samples = vowel(2.0)
    result = stretch(samples, SLOW_RATE, factor)
    assert result[:20] == pytest.approx(samples[:20], abs=1e-3)
    assert result[-20:] == pytest.approx(samples[-20:], abs=1e-3)
    assert np.abs(np.diff(result)).max() <= np.abs(np.diff(samples)).max() * 1.1


def test_a_take_of_a_length_is_never_longer() -> None:
    take = Take(vowel(1.0), SLOW_RATE)
    result = to_length(take, 0.9)
    assert result.samples.size == 14400
    assert result.speed == pytest.approx(1.0 / 0.9, rel=1e-3)
    assert to_length(take, 0.90009).seconds <= 0.90009
    assert to_length(take, take.seconds) is take
    with pytest.raises(ValueError, match="one sample"):
        to_length(take, 0.0)


def test_the_kinds_that_speak_here_are_those_that_a_received_folder_may_choose() -> None:
    for name, kind in VOICE_KINDS.items():
        sends_lines_away = name == "openai"
        assert bool(re.fullmatch(LOCAL_VOICES, name)) != sends_lines_away, name
        assert not (kind.in_auto and sends_lines_away), name
