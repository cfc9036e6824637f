"""What a batch says of what leaves the machine: each line once, whatever settings the films have."""

from __future__ import annotations

import pytest

from shotad.batch import Leaving, Planned
from shotad.batch.jobs import FilmJob, failure
from shotad.core import Config, load_config

SENT = ("engine=openai", "openai.base_url=https://models.example/v1", "openai.model=any")
SPOKEN = ("engine=fake", "voice.name=openai:any", "voice.base_url=https://speech.example/v1")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def film(name: str, *settings: str, makes: tuple[str, ...] = (), note: str = "light") -> Planned:
    config = load_config(None, (*settings, f"prompt.note={note}")) if settings else Config()
    return Planned(FilmJob(f"/{name}.mp4", f"/{name}.shotad", config, makes=makes))


def test_each_line_is_said_once() -> None:
    leaving = Leaving()
    first = leaving.of([film("a"), film("b", *SENT), film("c", *SENT, note="dark")])
    assert len(first) == 1
    assert "models.example" in first[0]
    assert leaving.of([film("d", *SENT)]) == []
    assert leaving.of([film("e", *SENT, "seed=7")]) == []


def test_a_voice_is_told_of_where_something_is_to_be_heard() -> None:
    leaving = Leaving()
    assert leaving.of([film("a", *SPOKEN), film("b", *SPOKEN, makes=("text",))]) == []
    (line,) = leaving.of([film("c", *SPOKEN, makes=("ad",))])
    assert "speech.example" in line


def test_of_a_film_that_fails_by_itself_nothing_is_said() -> None:
    lost = film("a", *SENT)
    gone = Planned(lost.job, trouble=failure(lost.job, "It is gone.", kind="FilmError"))
    nobody = film("b", "engine=fake", "voice.name=nobody", makes=("ad",))
    assert Leaving().of([gone, nobody]) == []
