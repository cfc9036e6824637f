"""Lint: what each rule finds in a whole track and what it leaves; word files; what a work folder, its track and its
screen add; which lines a parser reads."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import (
    Box,
    Cast,
    Config,
    Interval,
    Utterance,
    load_config,
)
from shotad.core.config.film import SlotSettings
from shotad.core.config.sound import LintSettings
from shotad.core.engine import TextFact
from shotad.core.errors import (
    ConfigError,
    ShotadError,
    UsageError,
    WorkFolderError,
)
from shotad.core.types import SpeechKind
from shotad.description import (
    Checker,
    lint,
    lint_track,
)
from shotad.description.linting.check import LintTargets, lint_paths
from shotad.description.linting.material import RECORD, known_screen_texts, read_screen
from shotad.film import open_film
from shotad.script import (
    RULES,
    Cue,
    Edit,
    EditField,
    Finding,
    Level,
    LintReport,
    Material,
    Track,
    TrackLine,
    save_track,
)
from shotad.script.cue import SpokenTake
from shotad.script.guidelines import (
    report_json,
    report_text,
    rule_hint,
    summary_line,
)
from shotad.script.line_checks import make_sentence_reader, sentence_reader
from shotad.script.parser import Parser, ParserModel
from shotad.script.rules import (
    check_line,
    lists_for,
    parse_words,
    read_words,
)
from shotad.script.track import FilmId
from shotad.sight.text import TextLine
from tests.cli.program import invoke
from tests.evaluation.action.parsed import RecordedParser
from tests.media import FilmSpec, make_film
from tests.rendering.described import LINES, film_with, write_folder

WORDS = Checker.of(LintSettings(parse="words"))


def line(at: float, text: str, **more: object) -> TrackLine:
    return TrackLine(f"s{round(at * 1000):08d}", Interval(at, at + 4), text, **more)  # type: ignore[arg-type]


def said(start: float, end: float, text: str = "") -> Utterance:
    return Utterance(Interval(start, end), text)


def checked(
    *lines: TrackLine,
    checker: Checker = WORDS,
    speech: tuple[Utterance, ...] | None = None,
    texts: tuple[TextFact, ...] | None = None,
    cast: Cast | None = None,
    extra: tuple[Finding, ...] = (),
) -> LintReport:
    return lint(Material("film.mp4", lines, 60.0, speech, cast, texts), checker, extra=extra)


def rules(report: LintReport) -> list[str]:
    return [finding.rule for finding in report.findings]


def by(**more: object) -> Checker:
    return Checker.of(LintSettings(parse="words", **more))  # type: ignore[arg-type]


def tale(*texts: str) -> tuple[TrackLine, ...]:
    return tuple(line(1 + 5 * at, text) for at, text in enumerate(texts))


def text(words: str, kind: str = "title", at: float = 20.0, sure: float = 0.9) -> TextFact:
    return TextFact(0, words, kind, at, at + 2, sure)  # type: ignore[arg-type]


DOG, NOD = line(10, "A dog runs."), line(5.2, "Tom nods.")
VOICED = SpokenTake("v", "A dog runs.", Interval(10, 13), "x")
GUN = {"speech": (said(3, 5, "Put the gun down on the table."),)}
MILL, TITLE, BURNT = text("THE OLD MILL"), "Words appear: “The Old Mill”.", "Where have you been all night?"


@pytest.mark.parametrize(("lines", "more", "found"), [
    # A line may touch speech for a moment; song does not count; the gap is the one that holds most of the line.
    ((DOG,), {"speech": (said(13.7, 20),)}, []),
    ((DOG,), {"speech": (said(13.6, 20),)}, ["T1"]),
    ((DOG,), {"speech": (Utterance(Interval(9, 20), "la", SpeechKind.LYRICS),)}, []),
    ((line(9.8, "A dog runs."),), {"speech": (said(0, 5), said(5.5, 9.9), said(14.2, 60))}, []),
    # Times are those of the voice where it was spoken.
    ((replace(DOG, take=VOICED),), {"speech": (said(13, 20),)}, []),
    ((replace(DOG, take=replace(VOICED, text="word " * 12)),), {}, ["T3"]),
    ((line(0, "A dog runs."), line(10, "Rain falls."), line(12, "A cat sits.")), {}, ["T6", "T6"]),
    # Whom a pronoun means, some lines and seconds back
    (tale("A lamp goes out.", "He freezes."), {}, ["L6"]),
    (tale("Tom digs.", "He rests."), {}, []),
    (tale("Tom digs.", "She watches."), {}, ["L6"]),
    (tale("Zara digs.", "He rests."), {}, []),
    (tale("As he digs, Tom sings."), {}, []),
    (tale("The cat sleeps.", "She wakes."), {}, []),
    (tale("A wall with a clock.", "They kiss."), {}, ["L6"]),
    (tale("Two boys play.", "They laugh."), {}, []),
    (tale("Three cards lie there.", "He takes them."), {}, ["L6"]),
    (tale("Tom digs.", "Rain falls.", "A bell rings.", "He rests."), {}, []),
    (tale("Tom digs.", "Rain falls.", "A bell rings.", "A cart rolls.", "He rests."), {}, ["L6"]),
    ((line(1, "Tom digs."), line(90, "He rests.")), {}, []),
    ((line(1, "Tom digs."), line(96, "He rests.")), {}, ["L6"]),
    # A line that says again is no copy, unless both do.
    (tale("A dog runs.", "A dog runs again."), {}, []),
    (tale("A dog runs again.", "A dog runs again."), {}, ["L9"]),
    # What is said anyway
    ((NOD, line(10, "He tells him to put the gun down on the table.")), GUN, ["L10"]),
    ((NOD, line(10, "Put the gun down!")), GUN, ["L10"]),
    ((line(30, "Put the gun down!"),), GUN, ["L10"]),
    ((line(30.1, "Put the gun down!"),), GUN, []),
    ((NOD, line(10, "The gun.")), GUN, []),
    ((NOD, line(10, "Down on the")), GUN, []),
    # Text that nobody reads
    ((line(19, "A wheel turns."),), {"texts": (MILL,)}, ["L11"]),
    ((line(19, TITLE),), {"texts": (MILL,)}, []),
    ((line(19, "A wheel turns."),), {"texts": (text("THE OLD MILL", "credit"),)}, []),
    ((line(19, "A wheel turns."),), {"texts": (text("THE OLD MILL", "subtitle"),)}, []),
    ((line(19, "A wheel turns."),), {"texts": (text("THE OLD MILL", sure=0.5),)}, []),
    ((line(19, TITLE),), {"texts": (text("THE OLD MILL", at=50),)}, ["L11"]),
    ((line(19, "A wheel turns."),), {"texts": (text("1943"),)}, []),
    ((line(1, "A wheel turns."),), {"texts": (MILL,), "speech": (said(30, 58, "Look, the old mill."),)}, []),
    # Subtitles of the picture
    ((line(24, "Mother waits at night."),), {"texts": (text(BURNT, "subtitle"),)}, []),
    ((line(24, BURNT),), {"texts": (text(BURNT, "subtitle"),)}, ["L2", "L12"]),
    ((line(85, BURNT),), {"texts": (text(BURNT, "subtitle"),)}, ["L2"]),
])  # fmt: skip
def test_what_breaks_a_rule_and_what_does_not(
    lines: tuple[TrackLine, ...], more: dict[str, Any], found: list[str]
) -> None:
    assert [rule for rule in rules(checked(*lines, **more)) if rule != "T5"] == found


def test_t4_measured_voice_against_its_room() -> None:
    speech, slot = (said(0, 9.5), said(14.5, 60)), Interval(10, 14)

    def told(end: float, **more: float) -> list[str]:
        voiced = SpokenTake("v", "A dog.", Interval(9.5, end), "x", **more)
        return rules(checked(line(10, "A dog runs.", slot=slot, take=voiced), speech=speech))

    assert (told(14.5), told(14.6), told(14.6, pause=1.0)) == ([], ["T4"], [])
    unheard = line(10, "A dog runs.", take=SpokenTake("v", "", None, "x", steps=("dropped: no room",)))
    (found,) = checked(unheard).findings
    assert (found.rule, found.level) == ("T4", Level.ERROR)
    assert "dropped: no room" in found.message


def test_t5_and_l11_are_told_once_with_their_time() -> None:
    assert rules(checked(line(1, "A dog runs."))) == [], "where it is not known whether somebody speaks"
    (found,) = checked(line(1, "A dog runs."), speech=()).findings
    assert (found.rule, found.cue_id, found.when) == ("T5", None, Interval(5, 60))
    (found,) = checked(line(1, "A wheel turns."), texts=(MILL, text("THE OLD MILL", at=23))).findings
    assert (found.rule, found.when) == ("L11", Interval(20, 25))


@pytest.mark.parametrize("recorded", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("text", "found"), [
    ("The man walked slowly to the window.", True),
    ("They had left the house.", True),
    ("Bells rang.", True),
    ("A hand touched her face.", True),
    ("The boat dragged by two men turns over.", False),
    ("He's tired and cut the rope.", False),
    ("The old woman will open the box.", True),
    ("He's knocked out by a ball.", True),
    ("The window is smashed with a brick.", True),
    ("Michael indicates that he was just joking.", False),
    ("The lanes ahead are blocked by more squad cars.", False),
    ("The hills are covered in snow.", False),
    ("His face pressed to the glass, he waits.", False),
    ("Will walks to the window.", False),
    ("A sign reads “It was here”.", False),
])  # fmt: skip
def test_l1_by_sentences(text: str, *, found: bool, recorded: bool) -> None:
    if recorded:
        checker = replace(WORDS, reader=sentence_reader(RecordedParser))
    else:
        checker = Checker.of(LintSettings(parse="spacy"))
    report = checked(line(1, text), checker=checker)
    assert [rule for rule in rules(report) if rule == "L1"] == (["L1"] if found else [])
    for finding in report.findings:
        assert finding.span is not None
        assert text[slice(*finding.span)].strip()


def test_what_cannot_be_checked_is_told_and_languages_without_words_are_read_for_times_and_markup_only() -> (
    None
):
    told = " ".join(checked(line(1, "A dog runs.")).skipped)
    assert all(rule in told for rule in ("T1", "T2", "T5", "L10", "T4", "L7", "L8", "L11", "L12"))
    full = checked(line(1, "A dog runs."), speech=(said(30, 31, "No."),), texts=(), cast=Cast((), Path(), ()))
    assert [reason[:2] for reason in full.skipped] == ["T4"]
    polish = checked(line(1, "We see **on** i ty.", language="pl"), line(6, "On idzie.", language="pl"))
    assert "no words for them in pl" in " ".join(polish.skipped)
    assert set(rules(polish)) == {"L5"}


def test_german_lines_are_read_by_german_words_and_by_all_rules_on_times() -> None:
    german = checked(
        line(1, "We see **er** und du.", language="de"),
        line(6, "Die Kamera schwenkt über das Dorf.", language="de-AT"),
        line(8, "Er öffnete die Tür.", language="de"),
        line(20, "wort " * 40, language="de"),
        speech=(said(7, 9, "Und dann ist er in den Wald."),),
    )
    assert {(f.rule, f.cue_id) for f in german.findings if f.rule[0] == "L"} == {
        ("L5", "s00001000"),
        ("L2", "s00001000"),
        ("L3", "s00006000"),
        ("L1", "s00008000"),
    }
    assert {"T1", "T3"} <= set(rules(german))
    assert any(reason.startswith("L6") and reason.endswith("de.") for reason in german.skipped)
    # Four words that both have, but only function words: chance.
    chance = line(10, "Und dann ist er in der Küche.", language="de")
    assert "L10" not in rules(checked(chance, speech=(said(4, 6, "Und dann ist er in den Wald."),)))
    same = line(10, "Der alte Hund bellt laut.", language="de")
    assert "L10" in rules(checked(same, speech=(said(4, 6, "Der alte Hund bellt."),)))


def test_levels_ignored_findings_and_those_of_others() -> None:
    bad = line(1, "We see a beautiful dog.")
    assert rules(checked(bad)) == ["L2", "L4"]
    assert rules(checked(bad, checker=by(levels={"L2": "off"}))) == ["L4"]
    assert checked(bad, checker=by(levels={"L4": "error"})).errors == 2
    assert rules(checked(bad, checker=by(ignore=("l4",)))) == ["L2"]
    assert rules(checked(bad, checker=by(ignore=("L4:s00001000", "L2:s00009000")))) == ["L2"]
    assert rules(checked(bad, checker=by(ignore=("L",)))) == []
    fast = line(1, "word " * 40)
    assert rules(checked(fast)) == ["T3"]
    assert rules(checked(fast, checker=by(rate_error=0))) == []
    mix = Finding("A3", Level.ERROR, "2.0 LU over the film", "s00001000")
    assert rules(checked(bad, extra=(mix, mix))) == ["L2", "L4", "A3"]


def test_every_rule_has_a_hint_and_the_text_names_what_is_needed() -> None:
    assert all(rule.hint and rule.why and rule.source for rule in RULES.values())
    report = checked(line(1, "We see a dog."), speech=())
    told = report_text(report)
    assert "00:00:01.000 s00001000: We see a dog." in told
    assert "error L2: first or second person: 'We'." in told
    assert rule_hint("L2") in told
    assert "00:00:05.000 no line" in told
    assert "L2" in report_text(report, warnings=False)
    assert "T5: [" not in report_text(report, warnings=False)
    assert summary_line(report) == "1 error (L2 1), 1 warning (T5 1) in 1 line."
    rows = report_json(report)["findings"]
    told = [(row["rule"], row["start"], row["text"]) for row in rows]
    assert told == [("L2", 1.0, "We see a dog."), ("T5", 5.0, None)]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_gets_the_same_answer_twice_with_spans_inside(one: str, other: str) -> None:
    lines = (line(1, one), line(9, other))
    speech = (said(5, 6, other), said(20, 22, one))
    first, again = (checked(*lines, speech=speech, texts=(text(other or "x", "subtitle"),)) for _ in range(2))
    assert first == again
    texts = {each.id: each.text for each in lines}
    for finding in first.findings:
        if finding.span is not None:
            start, end = finding.span
            assert 0 <= start < end <= len(texts[finding.cue_id or ""])


@pytest.mark.parametrize("words", ["Dr. ", "A-B ", "II ", "only ", "is seen "])
def test_a_line_of_the_same_words_is_checked_in_linear_time(words: str) -> None:
    def seconds(letters: int, times: int) -> float:
        start = time.process_time()
        for _ in range(times):
            checked(line(10, words * (letters // len(words))))
        return time.process_time() - start

    seconds(100, 1)  # word lists are read
    assert seconds(4_800, 3) < 3 * seconds(480, 30)


def test_slots_of_a_benchmark_have_other_minima_and_rates() -> None:
    material = Material("film.mp4", (line(6, "word " * 14),), 20.0, (said(0, 5.9), said(7.8, 20)))
    assert rules(lint(material, WORDS)) == ["T1", "T2", "T3"]
    report = lint(replace(material, is_benchmark=True), WORDS)
    assert rules(report) == ["T1"]
    assert any(reason.startswith("T2 and T3") for reason in report.skipped)


def test_t2_warns_under_the_minimum_of_the_settings() -> None:
    material = Material("film.mp4", (line(792.8, "A dog."),), 900.0, (said(0, 792.7), said(796.031, 900)))
    assert "T2" not in rules(lint(material, WORDS))
    words_only = LintSettings(parse="words")
    longer = Checker.of(words_only, slots=SlotSettings(minimum=4))
    (found,) = (one for one in lint(material, longer).findings if one.rule == "T2")
    assert (found.level, found.message) == (
        Level.WARNING,
        "This gap is 3.3 s (13:12 to 13:16); lines need 4 s",
    )
    # Two seconds are the least whatever the minimum says, as for slots.
    shorter = replace(material, speech=(said(0, 792.7), said(794.6, 900)))
    (found,) = (one for one in lint(shorter, Checker.of(words_only, slots=SlotSettings(minimum=0.5))).findings
                if one.rule == "T2")  # fmt: skip
    assert (found.level, found.message[:20]) == (Level.ERROR, "This gap is 1.9 s (1")


def test_t7_is_an_error_of_the_machine_and_a_hint_for_a_person() -> None:
    for by_hand, level in ((False, Level.ERROR), (True, Level.WARNING)):
        early = line(10, "A dog runs.", seen_from=13.5, by_hand=by_hand)
        (found,) = checked(early).findings
        assert (found.rule, found.level, found.cue_id) == ("T7", level, early.id)
        assert found.message == "This line is spoken 3.5 s before what it describes is seen (0:13.5)"
    # A line may begin a second before, and the voice's time counts.
    voiced = SpokenTake("v", "A dog runs.", Interval(9, 12), "x")
    for seen, voice, broken in ((11.0, None, []), (11.01, None, ["T7"]), (10.5, voiced, ["T7"])):
        assert rules(checked(line(10, "A dog runs.", seen_from=seen, take=voice, by_hand=False))) == broken


@pytest.mark.parametrize(("at", "words", "levels"), [
    (16.0, 'Words appear: "The next morning."', [Level.WARNING]),
    (19.2, 'Words appear: "The next morning."', []),
    (21.0, 'Words appear: "The next morning."', []),
    (16.0, "The next morning, a dog runs.", []),
    (16.0, 'A sign reads: "Closed."', []),
])  # fmt: skip
def test_t7_a_person_who_reads_a_text_early_gets_a_hint(at: float, words: str, levels: list[Level]) -> None:
    found = checked(line(at, words), texts=(text("THE NEXT MORNING"),)).findings
    assert [one.level for one in found if one.rule == "T7"] == levels


def found_in(text: str, entries: str) -> list[str]:
    words = parse_words(entries, "mine")
    return [text[start:end] for start, end in words.spans(text)]


@pytest.mark.parametrize(("entry", "text", "hit"), [
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
])  # fmt: skip
def test_an_entry_means_what_the_readme_says(entry: str, text: str, hit: list[str]) -> None:
    assert found_in(text, entry) == hit


def test_sets_exceptions_and_case() -> None:
    entries = "@set size = wide | very long\n@set size = close\n{size} shot[s]\n-very long shot\n"
    assert found_in("A wide shot, a very long shot, close shots.", entries) == ["wide shot", "close shots"]
    assert found_in("May us, US", "@case exact\nUS\n") == ["US"]
    assert found_in("# anything goes", "# anything goes\n\n") == []
    assert found_in("a wide day", "@set size = wide\n/{size} \\w{3}/") == ["wide day"]


@pytest.mark.parametrize(("entries", "says"), [
    ("/(/", "cannot be understood"),
    ("{no} shot", "names the set 'no'"),
    ("@level fatal", "line 1"),
    ("# x\n@nothing here", "line 2"),
    ("@set size", "is no set"),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused(entries: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        found_in("x", entries)


def test_a_users_words_come_to_those_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "camera.txt").write_text("drone view\n-wide shot\n", encoding="utf-8")
    (tmp_path / "house.txt").write_text("@says not in our house\nkid[s]\n", encoding="utf-8")
    lists = lists_for("en", read_words([tmp_path]))
    told = check_line("A drone view of two kids in a wide shot. The camera pans.", lists=lists)
    assert {(f.rule, f.message) for f in told} == {
        ("L3", "of the camera: 'drone view'"),
        ("L3", "of the camera: 'The camera pans'"),
        ("own", "not in our house: 'kids'"),
    }


def test_a_folder_of_a_language_is_for_that_language(tmp_path: Path) -> None:
    (tmp_path / "de").mkdir()
    (tmp_path / "de" / "house.txt").write_text("Kamera\n", encoding="utf-8")
    own = read_words([tmp_path])
    (only,) = check_line("Eine Kamera.", language="de", lists=lists_for("de-AT", own))
    assert only.rule == "own"
    assert check_line("Die Kamera.", lists=lists_for("en", own)) == ()
    for place in (tmp_path / "de", tmp_path / "de" / "house.txt"):
        assert lists_for("de", read_words([place])) == lists_for("de", own)


def test_missing_and_unreadable_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no words at"):
        read_words([tmp_path / "none.txt"])
    with pytest.raises(ConfigError, match="holds no word files"):
        read_words([tmp_path])
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(ConfigError, match="is not UTF-16"):
        read_words([tmp_path / "bad.txt"])


@pytest.mark.parametrize(
    "text", ["He ran off.", "She walked.", "It will end.", "He's struck.", "They'll go."]
)
def test_only_lines_that_a_parse_may_change_load_a_parser(text: str) -> None:
    read, events = (
        sentence_reader(lambda: Parser(ParserModel("none", "0", "nowhere"))),
        frozenset(("struck", "hit")),
    )
    plain = ("He runs off.", "They put it down.", "He enters from the left.", "")
    lines = [line(1 + 5 * at, one) for at, one in enumerate(plain)]
    assert read([*lines, line(30, "Er rannte.", language="de")], events) == {}
    with pytest.raises(ShotadError):
        read([line(1, text)], events)


@pytest.mark.parametrize(
    ("missing", "told"),
    [("en_core_web_sm", "--set lint.parse=spacy gets it"), ("spacy", 'pip install "shotad[evaluate]"')],
)
def test_auto_fetches_nothing_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str, told: str
) -> None:
    pytest.importorskip("spacy")
    modules: Any = sys.modules
    monkeypatch.setitem(modules, missing, None)  # as if it were not installed
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path))
    reader, note = make_sentence_reader(LintSettings())
    assert reader is None
    assert told in note


def test_the_checks_load_nothing_heavy() -> None:
    heavy = ("cv2", "torch", "onnxruntime", "av", "spacy", "scipy")
    code = f"import sys, shotad.description.linting.check; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def cue(at: float, text: str, **more: object) -> Cue:
    name = f"s{round(at * 1000):08d}"
    return Cue(name, name, Interval(at, at + 4), text, candidates=(text,), chosen=0, **more)  # type: ignore[arg-type]


def test_t7_by_what_a_track_says_of_its_lines_and_of_a_script_beside_it(tmp_path: Path) -> None:
    config, film = load_config(None, ["lint.parse=words"]), FilmId("sample.mp4", "abc", 45.0)
    person = cue(13.0, "Close by, a person stays still.", seen_from=16.5)
    words = cue(23.5, 'Words appear: "THE NEXT MORNING" as a person enters.', seen_from=23.5)
    script = tmp_path / "sample.ad.vtt"

    def early(report: object) -> list[tuple[str | None, Level]]:
        assert isinstance(report, LintReport)
        return [(one.cue_id, one.level) for one in report.findings if one.rule == "T7"]

    def of_track(*cues: Cue) -> list[tuple[str | None, Level]]:
        return early(lint_track(Track(film, "en", (), "1", cues), tmp_path, config))

    def of_script() -> list[tuple[str | None, Level]]:
        (report,) = lint_paths([script], lambda _: config, LintTargets())
        return early(report)

    assert of_track(person, words) == [("s00013000", Level.ERROR)]
    moved = replace(person, edited=Edit((EditField.TIME,), "track.json", person.machine))
    assert of_track(moved) == [("s00013000", Level.WARNING)]
    save_track(Track(film, "en", (), "1", (person,)), tmp_path, film.name)
    assert [level for _, level in of_script()] == [Level.ERROR]
    script.write_text(script.read_text().replace("a person", "somebody"))
    assert [level for _, level in of_script()] == [Level.WARNING]


class Reads:
    """A reader that sees one title from the fourth to the eighth frame."""

    times = 0

    def __init__(self, settings: object = None) -> None: ...

    def read_all(self, images: object) -> object:
        Reads.times += 1
        title = TextLine("THE OLD MILL", Box(0.3, 0.4, 0.7, 0.55), 0.99)
        for number, image in enumerate(images):  # type: ignore[arg-type, var-annotated]
            assert isinstance(image, np.ndarray)
            yield (title,) if 4 <= number <= 8 else ()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("shotad.sight.TextReader", Reads)
    Reads.times = 0
    return write_folder(tmp_path / "film.shotad", film_with())


def linted(*words: object) -> tuple[list[str], str]:
    """The rules that the command finds broken, and what it says that it cannot check."""
    done = invoke("lint", *words, "--json", "--set", "lint.parse=words")
    found = json.loads(done.stdout[done.stdout.index("{") :])
    return [row["rule"] for row in found["findings"]], " ".join(found["skipped"])


def test_the_screen_is_read_once_and_only_when_asked_and_of_a_named_film(folder, tmp_path):
    before, skipped = linted(folder)
    assert "L11" not in before
    assert "--read-screen" in skipped
    assert (Reads.times, (folder / RECORD).exists()) == (0, False)
    for words in (("--read-screen",), ("--read-screen",), ()):
        assert "L11" in linted(folder, *words)[0]
    assert Reads.times == 1
    script = tmp_path / "lines.srt"
    script.write_text(f"1\n00:00:01,000 --> 00:00:04,000\n{LINES[1.0]}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="--film FILM"):
        linted(script, "--read-screen")
    assert "L11" in linted(script, "--film", film_with(), "--read-screen")[0]


def test_the_record_is_of_its_film(folder: Path) -> None:
    film = film_with()
    with open_film(film) as opened:
        fingerprint = opened.info.fingerprint
    (found,) = read_screen(film, folder, Config())
    assert (found.text, found.kind, found.first, found.last) == ("THE OLD MILL", "title", 2.0, 4.0)
    assert known_screen_texts(folder, fingerprint) == (found,)
    assert known_screen_texts(folder, "another") is None
    assert known_screen_texts(folder, fingerprint, "other settings") is None
    (folder / RECORD).write_text(f'{{"film": "{fingerprint}", "texts": 1}}', encoding="utf-8")
    with pytest.raises(WorkFolderError, match="damaged"):
        known_screen_texts(folder, fingerprint)


def test_subtitles_that_count_in_frames_are_read_at_the_rate_of_the_film(tmp_path: Path) -> None:
    script, subtitles = tmp_path / "movie.srt", tmp_path / "movie.sub"
    script.write_text("1\n00:00:01,000 --> 00:00:02,500\nA door opens.\n", encoding="utf-8")
    subtitles.write_text("{25}{75}Hello there.\n", encoding="utf-8")
    film = make_film(FilmSpec(frames=250, rate=Fraction(25))).path
    (report,) = lint_paths(
        [script], lambda _: load_config(None), LintTargets(speech=subtitles, film=film, only=("T1",))
    )
    assert isinstance(report, LintReport)
    assert [finding.rule for finding in report.findings] == ["T1"]
