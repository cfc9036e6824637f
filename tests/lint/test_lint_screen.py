"""Reading the screen on demand: what is kept, when it is read again, and that it is not done unasked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from shotad.cli.lint import command
from shotad.core import Box, Config, UsageError, WorkFolderError
from shotad.description.lint_material import RECORD, kept_texts, read_screen
from shotad.film import open_film
from shotad.sight.text import TextLine
from tests.rendering.described import LINES, film_with, write_folder


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
