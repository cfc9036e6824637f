"""Lint in a work folder: which lines a parser reads, the screen on demand, T7 by the track."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shotad.cli.lint import command
from shotad.core import Box, Config, Interval, LintSettings, UsageError, WorkFolderError, load_config
from shotad.description import LintTargets, checked_paths, lint_track
from shotad.description.lint_material import RECORD, kept_texts, read_screen
from shotad.film import open_film
from shotad.script import (
    Cue,
    Edit,
    EditField,
    FilmId,
    Finding,
    Level,
    Maker,
    ParserModel,
    Reader,
    Report,
    Track,
    line_checks as sentences,
    reader_for,
    save_track,
)
from shotad.script.line_checks import may_matter
from shotad.sight.text import TextLine
from tests.lint.test_lint_rules import line
from tests.rendering.described import LINES, film_with, write_folder

EVENTS = frozenset(("struck", "hit"))


def test_which_lines_a_parse_may_change() -> None:
    for text in ("He ran off.", "She walked.", "It will end.", "He's struck.", "They'll go.", "She left."):
        assert may_matter(text, EVENTS)
    for text in (
        "He runs off.",
        "A dog barks at the moon.",
        "They put it down.",
        "He enters from the left.",
        "",
    ):
        assert not may_matter(text, EVENTS)


def test_a_track_without_such_lines_loads_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(model: object) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(sentences, "Parser", refuse)
    reader = Reader(ParserModel("none", "0", "nowhere"))
    assert reader.read([line(1, "A dog runs."), line(6, "Er rannte.", language="de")], EVENTS) == {}
    with pytest.raises(AssertionError, match="loaded"):
        reader.read([line(1, "A dog ran.")], EVENTS)


@pytest.mark.parametrize(
    ("here", "told"), [("spacy", "--set lint.parse=spacy gets it"), ("", "pip install 'shotad[evaluate]'")]
)
def test_auto_fetches_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch, here: str, told: str) -> None:
    monkeypatch.setattr(sentences.importlib.util, "find_spec", lambda name: name if name == here else None)
    monkeypatch.setattr(sentences, "at_hand", lambda name: False)
    reader, note = reader_for(LintSettings())
    assert reader is None
    assert told in note


def test_the_checks_load_nothing_heavy() -> None:
    heavy = ("cv2", "torch", "onnxruntime", "av", "spacy", "scipy")
    code = f"import sys, shotad.description.lint_check; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


CONFIG = load_config(None, ["lint.parse=words"])
MAKERS = (Maker("Stage I", "observer"), Maker("Stage II", "narrator", "grammar"))


def cue(at: float, text: str, **more: object) -> Cue:
    name = f"s{round(at * 1000):08d}"
    return Cue(name, name, Interval(at, at + 4), text, candidates=(text,), chosen=0, **more)  # type: ignore[arg-type]


def track(*cues: Cue) -> Track:
    return Track(FilmId("sample.mp4", "abc", 45.0), "en", MAKERS, "1", cues)


PERSON, WORDS = "Close by, a person stays still.", 'Words appear: "THE NEXT MORNING" as a person enters.'


def early(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.rule == "T7"]


def test_a_track_that_says_it_itself_needs_no_records(tmp_path: Path) -> None:
    lines = cue(13.0, PERSON, seen_from=16.5), cue(23.5, WORDS, seen_from=23.5)
    (found,) = early(lint_track(track(*lines), tmp_path, CONFIG))
    assert (found.cue_id, found.level) == ("s00013000", Level.ERROR)
    moved = replace(lines[0], edited=Edit((EditField.TIME,), "track.json", lines[0].machine))
    (found,) = early(lint_track(track(moved), tmp_path, CONFIG))
    assert found.level is Level.WARNING


def test_a_script_in_the_folder_is_judged_by_its_track(tmp_path: Path) -> None:
    written = track(cue(13.0, PERSON, seen_from=16.5))
    save_track(written, tmp_path, "sample.mp4")
    script = tmp_path / "sample.ad.vtt"

    def levels() -> list[Level]:
        (report,) = checked_paths([script], lambda _: CONFIG, LintTargets())
        assert isinstance(report, Report)
        return [finding.level for finding in early(report)]

    assert levels() == [Level.ERROR]
    script.write_text(script.read_text().replace("a person", "somebody"))
    assert levels() == [Level.WARNING]


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
    monkeypatch.setattr(Reads, "times", 0)
    return write_folder(tmp_path / "film.shotad", film_with())


def lint(*words: object) -> dict[str, object]:
    from click.testing import CliRunner

    done = CliRunner().invoke(command, [*map(str, words), "--json", "--set", "lint.parse=words"])
    if isinstance(done.exception, Exception):
        raise done.exception
    found: dict[str, object] = json.loads(done.stdout[done.stdout.index("{") :])
    return found


def rules(report: dict[str, object]) -> list[str]:
    return [row["rule"] for row in report["findings"]]  # type: ignore[attr-defined]


def test_the_screen_is_read_once_and_only_when_asked(folder: Path) -> None:
    before = lint(folder)
    assert "L11" not in rules(before)
    assert any("--read-screen" in reason for reason in before["skipped"])  # type: ignore[attr-defined]
    assert (Reads.times, (folder / RECORD).exists()) == (0, False)
    assert "L11" in rules(lint(folder, "--read-screen"))
    assert "L11" in rules(lint(folder, "--read-screen"))
    assert "L11" in rules(lint(folder))
    assert Reads.times == 1


def test_a_script_elsewhere_needs_its_film_named(folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "lines.srt"
    script.write_text(f"1\n00:00:01,000 --> 00:00:04,000\n{LINES[1.0]}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="--film FILM"):
        lint(script, "--read-screen")
    film = film_with()
    assert "L11" in rules(lint(script, "--film", film, "--read-screen"))


def test_the_record_is_of_its_film(folder: Path) -> None:
    film = film_with()
    with open_film(film) as opened:
        fingerprint = opened.info.fingerprint
    (found,) = read_screen(film, folder, Config())
    assert (found.text, found.kind, found.first, found.last) == ("THE OLD MILL", "title", 2.0, 4.0)
    assert kept_texts(folder, fingerprint) == (found,)
    assert kept_texts(folder, "another") is None
    assert kept_texts(folder, fingerprint, "other settings") is None
    (folder / RECORD).write_text(f'{{"film": "{fingerprint}", "texts": 1}}', encoding="utf-8")
    with pytest.raises(WorkFolderError, match="damaged"):
        kept_texts(folder, fingerprint)
