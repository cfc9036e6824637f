"""``shotad lint`` on scripts of every format, work folders with settings, casts and translations, and on what
cannot be checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from shotad.cli.lint import command
from shotad.core import Given, GivenCast, ShotadError, WorkFolder, load_config, write_settings
from shotad.script import TRACK
from tests.rendering.described import film_with, write_folder

LINES = {
    1.0: "We see a cat by the window.",
    9.0: "Ada opens the old door.",
    14.0: "Rain falls on the street.",
}
CAST = """\
people:
- {id: anna, name: Anna}
- {id: ben, name: Ben Carver, aliases: [Benny], reveal_at: 13}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "film.shotad", film_with(), LINES)


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(command, [*map(str, words), "--set", "lint.parse=words"])
    if isinstance(done.exception, ShotadError):
        raise done.exception
    return done.exit_code, done.stdout


def found(*words: object) -> list[tuple[str, str | None]]:
    return [(row["rule"], row["cue_id"]) for row in json.loads(run(*words, "--json")[1])["findings"]]


def rewrite(folder: Path, *texts: str) -> None:
    text = (folder / TRACK).read_text(encoding="utf-8")
    for old, new in zip(LINES.values(), texts, strict=True):
        text = text.replace(old, new)
    (folder / TRACK).write_text(text, encoding="utf-8")


def test_a_script_in_a_work_folder_has_what_the_folder_knows(folder: Path) -> None:
    script = folder / "mine.srt"
    script.write_text("1\n00:00:05,500 --> 00:00:07,500\nA dog barks.\n", encoding="utf-8")
    (rows,) = [json.loads(run(script, "--json")[1])]
    assert "T1" in [row["rule"] for row in rows["findings"]]
    assert run(script, "--accept", "T1:#1")[0] in (0, 1)
    assert "T1" not in [row["rule"] for row in json.loads(run(script, "--json")[1])["findings"]]


def test_l7_and_l8_with_a_cast_named_and_with_that_of_the_run(folder: Path, tmp_path: Path) -> None:
    cast = tmp_path / "cast.yaml"
    cast.write_text(CAST, encoding="utf-8")
    rewrite(folder, "Benny sits by the window.", "Ada opens the old door.", "Ben Carver and Anna leave.")
    assert not {"L7", "L8"} & {rule for rule, _ in found(folder)}
    named = found(folder, "--cast", cast)
    assert ("L7", "s00001000") in named, "told before the film reveals it"
    assert ("L7", "s00009000") in named, "nobody of the cast"
    with WorkFolder(folder) as place:
        write_settings(place, load_config(None), film_with(), Given(cast=GivenCast(cast)))
    assert found(folder) == named
    cast.unlink()
    skipped = json.loads(run(folder, "--json")[1])["skipped"]
    assert any("L7 and L8" in reason and "cast.yaml" in reason for reason in skipped)


def test_one_of_several_that_cannot_be_read_keeps_not_the_others_from_it(folder, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text('{"a": 1', encoding="utf-8")
    code, text = run(folder, bad, "--skip", "L,T")
    assert code == 1
    assert "0 errors" in text
    assert f"{bad} is not checked:" in text
    rows = json.loads(run(folder, bad, tmp_path / "no.vtt", "--json")[1])
    assert [set(row) >= {"name", "error", "hint"} for row in rows] == [False, True, True]
    assert run(folder, tmp_path / "no.vtt")[0] == 1


def test_an_accepted_finding_on_times_is_told_again_where_the_times_have_changed(folder: Path) -> None:
    def row(rule: str) -> bool:
        return rule in [name for name, _ in found(folder)]

    text = (folder / TRACK).read_text(encoding="utf-8")
    early = text.replace('"start": 9.0', '"start": 7.0')
    (folder / TRACK).write_text(early, encoding="utf-8")
    if not row("T1"):
        pytest.fail("the moved line must be over speech")
    run(folder, "--accept", "T1")
    assert not row("T1")
    (folder / TRACK).write_text(early.replace('"start": 7.0', '"start": 6.5'), encoding="utf-8")
    assert row("T1")
