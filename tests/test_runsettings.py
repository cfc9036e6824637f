"""What a run was asked to do, kept for a later redo: whole, without secrets, and read back as it was."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from shotad.core import (
    CastError,
    Config,
    ConfigError,
    Given,
    GivenCast,
    RunSettings,
    WorkFolder,
    WorkFolderError,
    changed,
    load_config,
    read_settings,
    with_cast,
    without_secrets,
    write_settings,
)


def kept(place: Path, config: Config, film: Path | None = None, given: Given | None = None) -> Path:
    with WorkFolder(place) as folder:
        write_settings(folder, config, film, given or Given())
    return place / "settings.json"


def test_what_was_written_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = load_config(["gpt-4o", "tv-ad"], ["story.on=true", "prompt.note=Anna läuft."])
    given = Given(Path("a.srt"), Path("slots.csv"), None, 12.5, 80.0)
    with WorkFolder(tmp_path / "w") as folder:
        write_settings(
            folder,
            config,
            Path("clip.tar"),
            given,
            frame_rate=Fraction(24000, 1001),
            configs=["gpt-4o", "tv-ad"],
            assignments=["story.on=true"],
        )
    for path in (tmp_path / "w", tmp_path / "w" / "settings.json"):
        run = read_settings(path)
        assert run.config == config
        assert run.film == tmp_path / "clip.tar", "a later command may run elsewhere"
        assert run.given == Given(tmp_path / "a.srt", tmp_path / "slots.csv", None, 12.5, 80.0)
        assert run.frame_rate == Fraction(24000, 1001)
        assert (run.configs, run.assignments) == (("gpt-4o", "tv-ad"), ("story.on=true",))


def test_a_record_of_other_settings_is_read_and_told(tmp_path: Path) -> None:
    file = kept(tmp_path / "w", Config())
    record = json.loads(file.read_text())
    record["config"]["slots"] |= {"breath": 0.5, "snap": 1}
    record["config"] |= {"text": {"threads": 1}}
    file.write_text(json.dumps(record))
    assert read_settings(file).config == Config()
    record["config"]["text"]["threads"] = 4
    file.write_text(json.dumps(record))
    with pytest.raises(WorkFolderError, match=r"text.threads = 4 cannot be set any more: it is always 1"):
        read_settings(file)
    path = kept(tmp_path / "w", Config())
    record = json.loads(path.read_text())
    record["config"]["stage2"]["novelty"] = 3
    path.write_text(json.dumps(record))
    with pytest.raises(WorkFolderError, match=r"another shotad.*stage2\.novelty"):
        read_settings(path)


def test_no_secret_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    address = "https://me:hunter2@models.example/v1?api_key=abc123&api-version=2"
    config = load_config(None, [f"openai.base_url={address}", f"stage2.base_url={address}"])
    with WorkFolder(tmp_path / "w") as folder:
        write_settings(folder, config, None, Given(), assignments=[f"openai.base_url={address}"])
    text = (tmp_path / "w" / "settings.json").read_text()
    for secret in ("sk-very-secret", "hunter2", "abc123", "me:"):
        assert secret not in text
    assert read_settings(tmp_path / "w").config.openai.key_name == "OPENAI_API_KEY"
    assert "models.example/v1" in text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://me:pw@host/v1", "https://host/v1"),
        ("https://me:p@ss@host/v1", "https://host/v1"),
        ("https://host/v1?code=x&api-version=2", "https://host/v1?code=…&api-version=2"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://host/v1?key=x&v=2", "https://host/v1?key=…&v=2"),
        ("https://host/v1?v=2&access_token=x", "https://host/v1?v=2&access_token=…"),
        ("write to anna@example.org", "write to anna@example.org"),
        ("Who? Anna.", "Who? Anna."),
    ],
)
def test_addresses_lose_what_is_secret_in_them(text: str, clean: str) -> None:
    assert without_secrets(text) == clean


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "{}", '{"schema_version": 99}', '{"schema_version": 1, "film": 3, "given": {}}', "\x00"],
)
def test_a_damaged_record_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "settings.json").write_text(text)
    with pytest.raises(WorkFolderError, match=r"settings\.json"):
        read_settings(tmp_path)


def test_what_holds_for_the_whole_film_cannot_be_changed() -> None:
    for assignment in ("slots.minimum=3", "film.grid_height=240", "shots.path=exact", "speech.margin=1"):
        with pytest.raises(ConfigError, match="whole film"):
            changed(Config(), assignments=[assignment])
    with pytest.raises(ConfigError, match="no setting"):
        changed(Config(), assignments=["slot.minimum=3"])


def test_a_cast_that_has_moved_is_asked_for(tmp_path: Path) -> None:
    bank = GivenCast(tmp_path / "bank.json", "tt1", tmp_path / "pictures")
    run = RunSettings(Config(), None, Given(cast=bank))
    with pytest.raises(CastError, match="bank.json") as told:
        with_cast(run, None)
    assert "--cast" in (told.value.hint or "")
    (tmp_path / "new.json").write_text("{}")
    moved = with_cast(run, tmp_path / "new.json")
    assert moved.given.cast == GivenCast(tmp_path / "new.json", "tt1", tmp_path / "pictures")
    assert with_cast(moved, None) is moved
    assert with_cast(run, tmp_path).given.cast == GivenCast(tmp_path)
    nobody = RunSettings(Config(), None, Given())
    assert with_cast(nobody, None) is nobody
    assert with_cast(nobody, tmp_path).given.cast == GivenCast(tmp_path)
