"""A render as every command does it: who is asked for shorter lines, and what is said before."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from shotad.core import NoProgress, WorkFolder, load_config
from shotad.description import Engines, shortener
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from shotad.sound import parse_wanted, run_render, wanted_files
from shotad.sound.fake_voice import FakeVoice
from tests.rendering.described import film_with, write_folder

TOO_LONG = {
    1.0: f"The{' very' * 30} old man crosses the empty street.",
    9.0: "A cat sleeps by the window.",
}
"""The first line takes longer than it is until somebody speaks, and has nothing that could go."""


class Told(NoProgress):
    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)


def calls(place: Path, writes: FakeEngine | None, *settings: str, file: Path | None = None) -> int:
    """How often the engine that wrote the lines is asked while they are spoken."""
    film = film_with()
    config = load_config(None if file is None else str(file), ("voice.name=fake", *settings))
    engines = None if writes is None else Engines(FakeEngine(), writes)
    with open_film(film) as opened, WorkFolder(place) as folder:
        wanted = wanted_files(parse_wanted(("ad",)), film.name, place)
        shorten = partial(shortener, engines=engines)
        run_render(opened, folder, config, wanted, NoProgress(), shorten=shorten)
    return 0 if writes is None else writes.calls


def test_a_model_that_has_written_the_lines_is_asked_for_shorter_ones(tmp_path: Path) -> None:
    place = write_folder(tmp_path / "w", lines=TOO_LONG)
    assert calls(place, FakeEngine(answer=plain_answer)) > 0
    assert (place / "shorter.jsonl").exists()


@pytest.mark.parametrize(
    ("answer", "settings"),
    [(plain_answer, ("fit.ask=false",)), (None, ())],
    ids=["not where the settings forbid it", "not an engine that reads nothing"],
)
def test_who_is_not_asked(tmp_path: Path, answer: object, settings: tuple[str, ...]) -> None:
    place = write_folder(tmp_path / "w", lines=TOO_LONG)
    writes = FakeEngine(answer=plain_answer if answer else None)
    assert calls(place, writes, *settings) == 0
    assert not (place / "shorter.jsonl").exists()


def test_a_settings_file_forbids_it_as_an_option_does(tmp_path: Path) -> None:
    (tmp_path / "quiet.yaml").write_text("fit: {ask: false}\n")
    place, writes = write_folder(tmp_path / "w", lines=TOO_LONG), FakeEngine(answer=plain_answer)
    assert calls(place, writes, file=tmp_path / "quiet.yaml") == 0


@pytest.mark.parametrize("told", [False, True])
def test_what_leaves_the_machine_is_said_before_a_word_is_spoken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    place, film, voice, progress = write_folder(tmp_path / "w"), film_with(), FakeVoice(), Told()
    voice.sends_to = "speech.example"
    monkeypatch.setattr("shotad.sound.render.make_voice", lambda *_: voice)
    with open_film(film) as opened, WorkFolder(place) as folder:
        wanted = wanted_files(parse_wanted(("ad",)), film.name, place)
        run_render(opened, folder, load_config(), wanted, progress, shorten=shortener, told=told)
    said = [text for text in progress.said if "speech.example" in text]
    assert said == ([] if told else progress.said[:1])
    assert len(said) == (not told)
    assert voice.calls
    assert "rendered" in (place / "log.txt").read_text()
