"""The guideline rules on words and times: what breaks them, and what only looks as if it did; lines by what people call
them, and names of a cast found in a text."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core import (
    Cast,
    Character,
    Interval,
    Member,
)
from shotad.core.cast import Reveal
from shotad.core.config.film import SlotSettings
from shotad.core.errors import UsageError
from shotad.film.slots import subtract
from shotad.script import (
    Cue,
    CueStatus,
    Level,
    Track,
    TrackLine,
)
from shotad.script.cue import SpokenTake
from shotad.script.line_checks import IntervalIndex, check_pace
from shotad.script.names import (
    cast_mentions,
    check_names,
    people_named,
)
from shotad.script.rules import (
    BENCHMARK_LIMITS,
    Limits,
    check_line,
    check_order,
    check_silence,
    similarity,
)
from shotad.script.track import FilmId, find_lines

SHARED = Path(__file__).parents[3] / "shared" / "data"


def rules(text: str, level: Level | None = None, **more: object) -> set[str]:
    found = check_line(text, **more)  # type: ignore[arg-type]
    return {finding.rule for finding in found if level is None or finding.level is level}


def errors(text: str) -> set[str]:
    return rules(text, Level.ERROR)


GOOD = (
    "A man in a space suit runs to the left.",
    "Words appear: “THE BLENDER FOUNDATION”.",
    "A shot rings out. He fires a long shot glass across the bar.",
    "He leans on the door frame, then hangs a picture in a frame.",
    "He takes a close-up black and white photo of English.",
    "A portrait of Elizabeth I hangs beside a US flag.",
    "A sign reads “We are open - you may come in”.",
    'Words appear: "I am your father".',
    "Words appear: 'Your camera zooms in', she's gone.",
    "The dogs' sign ‘It’s us we see’ hangs beside «We see you» and “He’s seen",
    "Room 12. He knocks.",
)


@pytest.mark.parametrize("text", GOOD)
def test_good_lines_have_no_error(text: str) -> None:
    assert errors(text) == set()


@pytest.mark.parametrize(("text", "rule"), [
    ("We see a man on a bridge.", "L2"),
    ("He turns and looks at us.", "L2"),
    ("It’s our hero, and you’re next.", "L2"),
    ("The camera pans over the city.", "L3"),
    ("Seen from a low angle, he draws a sword.", "L3"),
    ("The image shows a man with a sword.", "L5"),
    ("I'm sorry, but I can't help with that.", "L5"),
    ("Actions: A man runs.", "L5"),
    ("He runs to the \ufffd\ufffd.", "L5"),
    ("Sure, here is the description.", "L5"),
    ("Audio description: A dog runs.", "L5"),
    ("**A dog** runs.", "L5"),
    ('{"summarized_AD": "A dog runs."}', "L5"),
    ("A dog runs.<|im_end|>", "L5"),
])  # fmt: skip
def test_errors_are_found(text: str, rule: str) -> None:
    assert errors(text) == {rule} or (rule == "L5" and rule in errors(text))


@pytest.mark.parametrize(("text", "rule"), [
    ("He smiles at the camera.", "L3"),
    ("She seems to know him.", "L4"),
    ("An ominous tower stands on a hill.", "L4"),
    ("Nervously he turns.", "L4"),
    ("She decides to leave.", "L4"),
    ("He walked to the door.", "L1"),
    ("They will fall.", "L1"),
    ("He is hit by a car.", "L1"),
])  # fmt: skip
def test_warnings_are_found_and_are_no_errors(text: str, rule: str) -> None:
    assert rules(text, Level.WARNING) == {rule}
    assert errors(text) == set()


@pytest.mark.parametrize("text", [
    "He runs back in the direction he came from.",
    "Will reads the will of his father.",
    "The wounded lie in rows.",
    "A sign reads “I was here”.",
])  # fmt: skip
def test_states_and_looks_back_are_present_tense(text: str) -> None:
    assert "L1" not in rules(text)


GOOD_IN_OTHER_LANGUAGES = (
    ("de", "Sie hat die Augen geschlossen. Er ist an den Stuhl gefesselt."),
    ("de", "Die Tür wird aufgestoßen, und ein Band fällt zu Boden."),
    ("de", "Er legt die Kamera auf den Tisch. Auf dem Schild steht: „Wir sehen uns.“"),
    ("de", "Sie blickt auf das Foto, das er ihr gegeben hatte. Die Sonne scheint."),
    ("de", "Zwei alte Männer warten am Stand. Anna richtet sich auf."),
    ("de", "Auf dem Display erscheint die Nachricht: »Wo bist du?«"),
    ("de", "Auf zwei Zetteln: »Sag ‚mein‘ Wort« und ›Ich hab’s‹. Eine Notiz: ‚Ich hab’s‘"),
    ("de", "Er drückt die Du-Taste. Der Ich-Erzähler schläft. Das Wir-Gefühl wächst."),
    ("fr", "Ses mains sont liées. On frappe à la porte."),
    ("fr", "Elle sourit. L'esprit saisit un tee-shirt. Ils tirent et jurent."),
    ("fr", "Les enfants espèrent. Elle se tait, un ton rouge sur les joues."),
    ("fr", "Il pose la caméra et va sauter. Un panneau : « Vous êtes ici »."),
    ("fr", "Elle regarde la photo qu'il lui avait laissée. Ils ont rendez-vous."),
    ("es", "Le sirve vino. Todavía es de día. Lucía se ve en el espejo."),
    ("es", "Graba con la cámara y acaba en el sofá. «Nos vemos en el cielo»."),
    ("es", "Mira la foto que él le había dado."),
)


@pytest.mark.parametrize(("language", "text"), GOOD_IN_OTHER_LANGUAGES)
def test_good_lines_in_other_languages_have_no_finding(language: str, text: str) -> None:
    assert [str(finding) for finding in check_line(text, language=language)] == []


@pytest.mark.parametrize(("language", "text", "rule", "level"), [
    ("de", "Er öffnete die Tür.", "L1", Level.WARNING),
    ("de", "Der Alte stand am Fenster und rauchte.", "L1", Level.WARNING),
    ("de", "Anna lächelte ihn an.", "L1", Level.WARNING),
    ("de", "Man sieht das Dorf.", "L2", Level.ERROR),
    ("de", "bist du?« Wir gehen.", "L2", Level.ERROR),
    ("de", "»Komm!« Wir gehen. »Halt!«", "L2", Level.ERROR),
    ("fr", "ici. » Nous partons. « Halte »", "L2", Level.ERROR),
    ("es", "Lee: «Salida» y nos mira.", "L2", Level.ERROR),
    ("de", "Es scheint, als wäre er traurig.", "L4", Level.WARNING),
    ("de", "Er wirkt sehr müde.", "L4", Level.WARNING),
    ("de", "Sie sieht erschöpft aus.", "L4", Level.WARNING),
    ("de", "In einer Totalen das Meer.", "L3", Level.WARNING),
    ("de", "Die Einstellung zeigt das Meer.", "L3", Level.WARNING),
    ("de-AT", "Nun erkennen wir ihn.", "L2", Level.ERROR),
    ("de", "Ein Turm ist zu sehen.", "L2", Level.WARNING),
    ("de", "Die Kamera schwenkt über die Dächer.", "L3", Level.WARNING),
    ("de", "Offenbar kennt er sie.", "L4", Level.WARNING),
    ("de", "Das Bild zeigt einen Mann.", "L5", Level.ERROR),
    ("de", "Das Telefon klingelt.", "L14", Level.WARNING),
    ("fr", "Il ouvrit la porte.", "L1", Level.WARNING),
    ("fr", "L’homme s’assit.", "L1", Level.WARNING),
    ("fr", "Elle conduisit lentement.", "L1", Level.WARNING),
    ("fr", "Elles prirent le train.", "L1", Level.WARNING),
    ("fr", "Vue aérienne de Paris.", "L3", Level.ERROR),
    ("fr", "La femme marchait vers la fenêtre.", "L1", Level.WARNING),
    ("fr", "Ils ont traversé la rivière.", "L1", Level.WARNING),
    ("fr", "Elle tombera.", "L1", Level.WARNING),
    ("fr", "Nous découvrons le village.", "L2", Level.ERROR),
    ("fr", "On distingue une tour.", "L2", Level.ERROR),
    ("fr-CA", "Gros plan sur une main.", "L3", Level.ERROR),
    ("fr", "Il est très triste.", "L4", Level.WARNING),
    ("fr", "Voici la description : un homme court.", "L5", Level.ERROR),
    ("fr", "Le téléphone sonne.", "L14", Level.WARNING),
    ("es", "Abrió la puerta.", "L1", Level.WARNING),
    ("es", "Los niños corrían por la plaza.", "L1", Level.WARNING),
    ("es", "Luego bajará al sótano.", "L1", Level.WARNING),
    ("es", "Podemos ver una torre.", "L2", Level.ERROR),
    ("es-MX", "Se ve el pueblo.", "L2", Level.WARNING),
    ("es", "Fundido a negro.", "L3", Level.WARNING),
    ("es", "Una mujer hermosa entra.", "L4", Level.WARNING),
    ("es", "La imagen muestra a un hombre.", "L5", Level.ERROR),
    ("es", "Suena el teléfono.", "L14", Level.WARNING),
])  # fmt: skip
def test_findings_in_other_languages(language: str, text: str, rule: str, level: Level) -> None:
    assert {(finding.rule, finding.level) for finding in check_line(text, language=language)} == {
        (rule, level)
    }


def test_english_words_say_nothing_of_other_languages_nor_theirs_of_english() -> None:
    for language, text in GOOD_IN_OTHER_LANGUAGES:
        assert check_line(text, language="pl") == ()
        assert "L3" not in {finding.rule for finding in check_line(text)}, language
    assert check_line("A man was seen in the camera shot.", language="de") == ()


@pytest.mark.parametrize(("one", "other", "copy"), [
    ("A man walks to the door.", "The man walks to a door.", True),
    ("He avoids a tree.", "He avoids a fallen tree.", True),
    ("Stephen stands.", "Stephen stands.", True),
    ("He looks at her.", "She looks at him.", False),
    ("The man enters the room.", "The man leaves the room.", False),
    ("A dog runs.", "A dog runs across the lawn to a boy with a ball.", False),
    ("Words appear: “COMING SOON”.", "Words appear: “SINTEL”.", False),
    ("", "", False),
])  # fmt: skip
def test_near_copies(one: str, other: str, copy: bool) -> None:
    assert rules(other, previous=["A bird sings in a tree.", one]) == ({"L9"} if copy else set())
    assert rules(other, previous=[one]) == ({"L9"} if copy else set())
    assert not copy or similarity(one, other) == similarity(other, one) >= 0.8


def test_only_the_last_lines_count() -> None:
    others = ["A bird sings.", "It rains.", "Snow falls.", "A cat sits.", "A bell rings."]
    assert rules("A dog runs.", previous=["A dog runs.", *others]) == set()
    assert rules("A dog runs.", previous=["A dog runs.", *others[:4]]) == {"L9"}


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_gets_an_answer(one: str, other: str) -> None:
    assert 0 <= similarity(one, other) <= 1
    for finding in check_line(one, interval=Interval(1, 2), previous=[other]):
        if finding.span is not None:
            assert 0 <= finding.span[0] < finding.span[1] <= len(one)


@pytest.mark.skipif(not (SHARED / "cmd-ad").is_dir(), reason="needs ../shared/data/cmd-ad")
def test_human_ad_of_98_films_is_seldom_in_error() -> None:
    with (SHARED / "cmd-ad/cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    hits = Counter(rule for text in texts for rule in errors(text))
    assert len(texts) == 7316
    assert hits["L2"] <= 30
    assert hits["L3"] <= 5
    assert hits["L5"] == 0


def test_t2_short_gaps() -> None:
    (found,) = check_line("A dog.", gap=Interval(10, 11.999))
    assert (found.rule, found.level) == ("T2", Level.ERROR)
    assert found.message == "This gap is 1.9 s (0:10.0 to 0:11.9); lines need 2 s"
    assert check_line("A dog.", gap=Interval(10, 11.999), limits=BENCHMARK_LIMITS) == ()
    # What planned slots may use is long enough for lint.
    assert check_line("A dog.", gap=Interval(10, 10 + SlotSettings().minimum)) == ()
    (found,) = check_line("A dog.", gap=Interval(10, 13), limits=Limits(gap_warning=4))
    assert (found.rule, found.level) == ("T2", Level.WARNING)


def test_findings_on_times_are_told_in_minutes_and_seconds() -> None:
    """No half-open intervals, and no thousandths where nobody needs them."""
    line, long_speech = Interval(3600, 3604.5), Interval(3603, 3605)
    told = [one.message for one in check_line("A dog.", interval=line, speech=[long_speech])]
    assert told == ["This line (1:00:00 to 1:00:04) lies over speech (1:00:03 to 1:00:05) for 1.5 s"]
    told = [one.message for one in check_line("A dog.", interval=Interval(-0.5, 2))]
    assert told == ["This line starts 0.500 s before the film"]
    (found,) = check_order(Interval(10, 14), Interval(13.25, 15), "a")
    assert found.message == "This line starts at 0:13.250, before the line above it ends (0:14.000)"
    (found,) = check_order(Interval(10, 14), Interval(9, 10), "a")
    assert found.message == "This line starts at 0:09.000, earlier than the line above it (0:10.000)"


@pytest.mark.parametrize(("words", "level"), [(9, None), (10, Level.WARNING), (11, Level.ERROR)])
def test_t3_rate_on_the_spoken_length(words: int, level: Level | None) -> None:
    found = check_line("word " * words, interval=Interval(10, 13))
    assert [(f.rule, f.level) for f in found] == ([] if level is None else [("T3", level)])
    assert check_line("word " * words, interval=Interval(10, 13), limits=BENCHMARK_LIMITS) == ()


def test_t5_stretches_without_speech_or_ad() -> None:
    free = subtract(Interval(0, 200.0), [Interval(60, 110)])
    found = check_silence([Interval(40, 41), Interval(150, 152)], free, Limits())
    assert [f.message for f in found] == ["48 s without speech or AD (2:32 to 3:20)"]
    found = list(check_silence([], free, Limits()))
    assert [f.when for f in found] == [Interval(0, 60), Interval(110, 200)]
    assert {f.level for f in found} == {Level.WARNING}
    assert list(check_silence([], free, Limits(max_silence=math.inf))) == []
    speech = [Interval(5, 6), Interval(0, 1), Interval(0.5, 5), Interval(8, 12)]
    assert subtract(Interval(0, 10), speech) == (Interval(6, 8),)


def level(text: str, seconds: float, *, voiced: bool = True, language: str = "en") -> Level | None:
    when = Interval(10, 10 + seconds)
    spoken = SpokenTake("v", text, when, "x") if voiced else None
    line = TrackLine("s00010000", when, text, language, None, spoken)
    return next((finding.level for finding in check_pace(line, Limits())), None)


@pytest.mark.parametrize(("text", "seconds"), [
    # As a voice speaks them that says 165 words a minute over many lines.
    ("Darkness gives way to light.", 1.68),
    ("Out of the dark, someone appears.", 1.88),
    ("A person in black appears, then a face appears up close.", 3.6),
])  # fmt: skip
def test_a_natural_pace_is_no_fault(text: str, seconds: float) -> None:
    assert level(text, seconds) is None
    assert level(text, seconds / 1.6) is Level.ERROR


INTERVALS = st.builds(
    lambda start, length: Interval(start / 4, (start + length) / 4), st.integers(0, 80), st.integers(1, 40)
)


@given(st.lists(INTERVALS, max_size=12), INTERVALS, st.integers(0, 8))
def test_nothing_near_is_left_out(items: list[Interval], time: Interval, window: int) -> None:
    found = IntervalIndex(items, lambda item: item).near(time, window)
    wide = Interval(max(0, time.start - window), time.end + window)
    assert [item for item in found if item.overlaps(wide)] == sorted(
        (item for item in items if item.overlaps(wide)), key=lambda item: item.start
    )


def cue(start: float, end: float, status: CueStatus = CueStatus.PLACED) -> Cue:
    name = f"s{round(start * 1000):08d}"
    return Cue(name, name, Interval(start, end), "A line." if status.heard else "", status=status)


CUES = (
    cue(2.0, 5.0),
    cue(10.0, 14.0, CueStatus.SILENT),
    cue(83.12, 88.0),
    cue(120.2, 120.4),
    cue(120.6, 121.5),
)
TRACK = Track(FilmId("film.mp4", "abc", 200.0), "en", (), "0.1.0", CUES)


@pytest.mark.parametrize(("name", "start"), [
    ("s00083120", 83.12),
    ("1:23", 83.12),
    ("1:23.12", 83.12),
    ("87.9", 83.12),
    ("0:12", 10.0),
    ("1", 2.0),
    ("2", 83.12),
    ("2:00.7", 120.6),
])  # fmt: skip
def test_a_line_is_found(name: str, start: float) -> None:
    assert [cue.interval.start for cue in find_lines(TRACK, [name])] == [start]


@pytest.mark.parametrize(("name", "words"), [
    ("s00083121", "no line s00083121. The nearest is s00083120, at 00:01:23.120"),
    ("s1", "The nearest is s00002000"),
    ("1:28", "no line at 1:28. The nearest is s00083120"),
    ("5", "no line 5: 4 lines are heard"),
    ("2:00", "more than one line: s00120200 (00:02:00.200) and s00120600"),
    ("first", "'first' is neither an id nor a time nor a number"),
    ("1:99", "'1:99' is neither"),
])  # fmt: skip
def test_what_is_no_line_is_refused_with_the_nearest(name: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_lines(TRACK, [name])
    assert words in str(caught.value)


def test_several_come_in_the_order_of_the_film_each_once() -> None:
    found = find_lines(TRACK, ["1:23", "1", "s00083120"])
    assert [line.interval.start for line in found] == [2.0, 83.12]
    with pytest.raises(UsageError, match="no lines"):
        find_lines(TRACK.with_cues([]), ["s00000001"])


CAST = Cast(
    (
        Member("ann", "Ann Lee", "Ann", ("Annie",), "she"),
        Member("bo", "Bo Hill", "Bo", (), "he", "the man in grey", (Reveal(100.0),)),
        Member("cy", nameless=True),
    )
)


def cast(at: float) -> Sequence[Character]:
    return CAST.characters("film", at)


def test_a_name_before_the_film_reveals_it_is_an_error() -> None:
    early, late = check_names([(99.9, "Ann sees Bo Hill."), (100.0, "Ann sees Bo Hill.")], cast)
    (finding,) = early
    assert (finding.rule, str(finding.level)) == ("L7", "error")
    assert finding.span == (9, 16)
    assert "'Bo Hill'" in finding.message
    assert late == ()


@pytest.mark.parametrize(("lines", "found"), [
    (["Ann runs.", "Annie falls.", "Ann and Lee wait.", "Ann sits."], [[], ["L8"], ["L8"], []]),
    # A track may use another name throughout, a full name may introduce somebody, a title is none.
    (["Lee runs.", "Lee falls.", "Ann sits."], [[], [], ["L8"]]),
    (["Ann Lee runs.", "Ann falls.", "Ann Lee sits.", "Ann hides."], [[], [], ["L8"], []]),
    (["Ann runs.", "Dr. Ann falls.", "Ann sits."], [[], [], []]),
    ([], []),
])  # fmt: skip
def test_two_names_for_one_person_are_a_warning(lines: list[str], found: list[list[str]]) -> None:
    told = check_names(list(enumerate(lines, 1)), cast, people_named)
    assert [[f.rule for f in one] for one in told] == found
    assert {str(f.level) for one in told for f in one} <= {"warning"}
    assert all("'Ann'" in f.message or "'Lee'" in f.message for one in told for f in one)
    assert check_names([(1, text) for text in lines], lambda at: (), people_named) == tuple(() for _ in lines)


PEOPLE = (
    Character("celia", "Celia", "Celia Smith", ("Dr. Smith", "the Doc"), pronoun="she"),
    Character("thom", "Thom", "Thomas Q. van Beek", pronoun="he"),
    Character("louis", "Louis", "Louis Roy", pronoun="he"),
    Character("maria", "Maria", "Maria Roy", pronoun="she"),
    Character("jones", "Jones", "Indiana Jones"),
    Character("will", "Will", "Will Brown", ("Black",)),
    Character("dude", "the Dude", "Jeff Lebowski"),
    Character("bo", "the man in grey", "the man in grey", (), ("Bo", "Captain Bo Hill"), named=False),
)


def mentioned(text: str) -> list[tuple[str, str]]:
    return [(mention.id, mention.text) for mention in cast_mentions(text, PEOPLE)]


@pytest.mark.parametrize(("text", "names"), [
    ("He sees Celia Smith's hat.", [("celia", "Celia Smith")]),
    ("Dr. Smith, Dr Celia Smith and Dr. Celia wait.",
     [("celia", "Dr. Smith"), ("celia", "Dr Celia Smith"), ("celia", "Dr. Celia")]),
    ("Smith runs. Behind Smith a door opens.", [("celia", "Smith"), ("celia", "Smith")]),
    ("Hey Celia! Watching Smith, he waits.", [("celia", "Celia"), ("celia", "Smith")]),
    ("The Doc looks at the Doc.", [("celia", "The Doc"), ("celia", "the Doc")]),
    ("Thomas van Beek, Mr. van Beek and Beek sit.",
     [("thom", "Thomas van Beek"), ("thom", "Mr. van Beek"), ("thom", "Beek")]),
    ("She meets Captain Hill and Bo.", [("bo", "Captain Hill"), ("bo", "Bo")]),
    ("The man in grey runs.", []),
    # Two of one name: a title tells them apart, nothing else does.
    ("Mr. Roy kisses Mrs. Roy. Roy nods.", [("louis", "Mr. Roy"), ("maria", "Mrs. Roy")]),
    # Whose spouse it may be.
    ("Mr. Smith waits for Mrs. Jones and Mr. Jones.", []),
    # Another's name, or something else's.
    ("Mary Smith waits on Smith Street.", []),
    ("He sees Smith-Jones and the Smiths.", []),
    ("He reads 'Celia Smith' on the door.", []),
    # A word of the language where a sentence begins.
    ("Brown leaves fall. Black smoke rises.", []),
    ("He hits Brown and Black.", [("will", "Brown"), ("will", "Black")]),
])  # fmt: skip
def test_mentions(text: str, names: list[tuple[str, str]]) -> None:
    assert mentioned(text) == names


def test_spans_are_those_of_the_text_and_names_that_may_not_be_said_are_marked() -> None:
    text = "Then Dr. Celia Smith’s bag falls."
    (mention,) = cast_mentions(text, PEOPLE)
    assert text[mention.start : mention.end] == "Dr. Celia Smith"
    assert [mention.hidden for mention in cast_mentions("Bo sees Celia.", PEOPLE)] == [True, False]
    # Also where it may be a word.
    rose = Character("r", "the woman in red", "the woman in red", (), ("Rose",), "she", named=False)
    assert [mention.id for mention in cast_mentions("Rose walks in.", [rose])] == ["r"]
