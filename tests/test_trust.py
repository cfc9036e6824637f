"""What a file that came with a film may choose, and what not: nothing is sent, run or read by its word."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from shotad.batch import FilmJob, PlannedFilm, Planner, StoredObject
from shotad.core import (
    Config,
    RunInputs,
    RunSettings,
    WorkFolder,
    load_config,
)
from shotad.core.errors import (
    CastError,
    ConfigError,
    DatasetError,
    UsageError,
)
from shotad.core.runsettings import (
    GivenCast,
    read_settings,
    record_cast,
    run_config_with_changes,
    with_cast,
    write_settings,
)
from shotad.core.settings import data_root
from shotad.core.trust import (
    distrust,
    is_trusted,
    refuse_foreign,
    setting_marks,
    trust,
)
from shotad.evaluation.datasets.dataset import read_description
from tests.bad_server import BadServer, answer
from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, make_film

KEY = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLE"
"""What stands in the environment and must not leave the machine."""


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who trusts nothing yet, and has a secret."""
    monkeypatch.setenv("SHOTAD_CONFIG", str(tmp_path / "user"))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)


def planned(folder: Path, *explicit: str, **options: Any) -> PlannedFilm:
    """The plan for the film ``movie.mp4`` of a folder."""
    film = folder / "movie.mp4"
    film.parent.mkdir(parents=True, exist_ok=True)
    film.touch()
    job = FilmJob("-", "-", config=load_config(None, explicit))
    (plan,) = Planner(job, explicit=explicit, **options).plan([StoredObject(str(film), 1, None)])
    return plan


def settings_beside(folder: Path, text: str, name: str = "movie.yaml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_of_every_setting_of_text_it_is_said_who_may_choose_it() -> None:
    found = dict(setting_marks(Config))
    assert not [name for name, mark in found.items() if mark is None], (
        "mark it: Annotated[str, UserOnly()] if it decides what is sent, run or read, else ANY_FILE"
    )
    assert {"openai.base_url", "openai.key_name", "voice.base_url", "lint.words"} <= found.keys()


def test_configs_of_shotad_may_be_built_on_but_for_one_that_sends_frames_away() -> None:
    names = sorted(path.stem for path in (data_root() / "configs").glob("*.yaml"))
    refused = []
    for name in names:
        if name == "train-scale":  # of other settings
            continue
        try:
            refuse_foreign(Config(), load_config(name), f"{name}.yaml", "/films")
        except ConfigError:
            refused.append(name)
    assert refused == ["gpt-4o"]


SENDS = (
    "engine: openai", "engine: gpt-4o", "engine: 'ollama:qwen2.5vl:7b'", "engine: 'vllm:any'",
    "stage1: {engine: openai}", "stage2: {engine: openai-sound}", "stage1: {engine: ollama}",
    "openai: {base_url: 'http://evil.example/v1'}", "openai: {key_name: AWS_SECRET_ACCESS_KEY}",
    "stage1: {base_url: 'http://evil.example/v1'}", "stage2: {base_url: 'http://localhost:9/v1'}",
    "voice: {base_url: 'http://evil.example/v1'}", "voice: {name: openai}", "voice: {name: 'openai:alloy'}",
    "measures: {judge: {engines: ['openai:gpt-4o']}}",
)  # fmt: skip
RUNS = (
    "stage1: {engine: 'os:system'}", "stage2: {engine: 'evil.module:Class'}", "engine: 'evil:Class'",
    "measures: {critic: {resolver: 'evil:Class'}}", "measures: {parser: {model: evil_package}}",
)  # fmt: skip
LOADS = (
    "stage1: {model: owner/repository}", "stage2: {model: /elsewhere/model}", "stage1: {model: ../model}",
    "stage1: {revision: refs/pr/1}", "threads: {features: 'hub:owner/name'}", "threads: {features: 'timm:x'}",
    "scale: {checkpoint: /elsewhere/scale.pt}", "measures: {embedding: {model: owner/name}}",
    "measures: {recall: {model: owner/name}}", "measures: {critic: {model: owner/name}}",
)  # fmt: skip
READS = (
    "voice: {lexicon: /etc/passwd}", "prompt: {example_file: /etc/passwd}", "lint: {words: [/etc]}",
    "voice: {name: 'piper:/elsewhere/voice.onnx'}", "voice: {name: 'piper:../voice'}",
)  # fmt: skip


@pytest.mark.parametrize("text", [*SENDS, *RUNS, *LOADS, *READS])
@pytest.mark.parametrize("name", ["movie.yaml", "shotad.yaml"])
def test_a_file_beside_a_film_may_not_choose_what_is_sent_run_or_read(
    tmp_path: Path, name: str, text: str
) -> None:
    file = settings_beside(tmp_path / "films", text, name)
    plan = planned(tmp_path / "films")
    ((_, value),) = yaml.safe_load(text).items()
    key = text.partition(":")[0] if isinstance(value, str) else next(iter(value))
    assert plan.trouble is not None
    assert plan.trouble.kind == "ConfigError"
    what, hint = plan.trouble.error or ("", "")
    assert str(file) in what
    assert key in what
    assert f"shotad doctor --trust {file.parent}" in hint
    assert plan.job.config == Config()
    # Once the user says that the folder is theirs, it is as they wrote it.
    trust(str(tmp_path))
    assert planned(tmp_path / "films").trouble is None


@pytest.mark.parametrize("text", [
    "language: de", "prompt: {note: 'A long way.', verbs: [go]}", "engine: embedded", "engine: paper",
    "stage1: {engine: observer, model: qwen2-vl-7b}", "slots: {detail: rich}", "openai: {model: Owner/Model}",
    "voice: {name: 'espeak-ng:en-gb+f3', speed: 1.2}", "voice: {name: 'piper:en_US-joe-medium#3'}",
    "base: paper", "base: [reference-code, tv-ad]",
])  # fmt: skip
def test_all_else_may_be_chosen_by_a_file_beside_a_film(tmp_path: Path, text: str) -> None:
    settings_beside(tmp_path, text)
    plan = planned(tmp_path)
    assert plan.trouble is None
    assert plan.job.config != Config()


def test_what_is_refused_is_shown_without_passwords_and_cut(tmp_path: Path) -> None:
    address = f"https://me:hunter2@evil.example/{'x' * 200}"
    settings_beside(tmp_path, f"openai: {{base_url: '{address}'}}")
    what, _ = planned(tmp_path).trouble.error  # type: ignore[union-attr,misc]
    assert "evil.example" in what
    assert "hunter2" not in what
    assert "x" * 80 not in what


def test_a_file_of_the_folder_itself_may_be_named_and_a_link_out_of_it_not(tmp_path: Path) -> None:
    films = tmp_path / "films"
    settings_beside(films, "word = as it is said\n", "lexicon.txt")
    settings_beside(films, f"voice: {{lexicon: '{films / 'lexicon.txt'}'}}")
    assert planned(films).trouble is None
    (films / "out.txt").symlink_to("/etc/passwd")
    settings_beside(films, f"voice: {{lexicon: '{films / 'out.txt'}'}}")
    assert planned(films).trouble is not None
    settings_beside(films, f"voice: {{lexicon: '{films}/../else.txt'}}")
    assert planned(films).trouble is not None


@pytest.mark.parametrize("name", ["movie.note.txt", "movie.cast", "cast"])
def test_a_note_or_a_cast_beside_a_film_is_no_link_to_somewhere_else(tmp_path: Path, name: str) -> None:
    films, private = tmp_path / "films", tmp_path / "private"
    films.mkdir()
    secret = private / "secret"
    if "cast" in name:
        secret.mkdir(parents=True)
    else:
        private.mkdir()
        secret.write_text(f"secret_access_key = {KEY}\n")
    (films / name).symlink_to(secret)
    trouble = planned(films).trouble
    assert trouble is not None
    assert "is a link out of the folder" in (trouble.error or ("", ""))[0]
    assert KEY not in str(trouble)
    # Film and note that lie elsewhere together, only linked here, are a library of links.
    (private / "movie.mp4").touch()
    (films / "movie.mp4").unlink()
    (films / "movie.mp4").symlink_to(private / "movie.mp4")
    assert planned(films).trouble is None
    (films / "movie.mp4").unlink()
    trust(str(films))
    assert planned(films).trouble is None


def test_a_file_builds_on_files_of_its_folder_alone(tmp_path: Path) -> None:
    films = tmp_path / "films"
    settings_beside(tmp_path, "language: de\n", "mine.yaml")
    for base in (f"{tmp_path}/mine.yaml", "../mine.yaml", "sub/up.yaml", "/dev/zero.yaml"):
        settings_beside(films / "sub", "base: ../../mine.yaml\n", "up.yaml")
        settings_beside(films, f"base: {base}\n")
        assert planned(films).trouble is not None
    settings_beside(films, "language: de\n", "near.yaml")
    settings_beside(films, "base: ./near.yaml\n")
    assert planned(films).job.config.language == "de"
    settings_beside(films, "openai: {key_name: AWS_SECRET_ACCESS_KEY}\n", "near.yaml")
    assert planned(films).trouble is not None


def test_what_an_option_names_no_file_changes_not_even_a_trusted_one(tmp_path: Path) -> None:
    settings_beside(tmp_path, "engine: openai\nlanguage: de\nslots: {detail: rich}\n", "shotad.yaml")
    settings_beside(tmp_path, "stage1: {engine: openai}\nopenai: {key_name: AWS_SECRET_ACCESS_KEY}\n")
    trust(str(tmp_path))
    config = planned(tmp_path, "language=fr", "engine=embedded").job.config
    assert (config.engine, config.stage1.engine, config.language) == ("embedded", None, "fr")
    assert config.slots.detail == "rich"
    assert planned(tmp_path, "language=fr").job.config.stage1.engine == "openai"
    assert planned(tmp_path, "engine=fake", "stage1.engine=observer").job.config.stage1.engine == "observer"
    assert planned(tmp_path, "openai.key_name=MINE").job.config.openai.key_name == "MINE"
    distrust(str(tmp_path))
    # What an option settles is nothing that the file chooses.
    settings_beside(tmp_path, "engine: openai\n")
    settings_beside(tmp_path, "", "shotad.yaml")
    assert planned(tmp_path, "engine=embedded").trouble is None


def test_options_of_the_command_win_over_files_beside_films(shotad: Shotad, tmp_path: Path) -> None:
    films = tmp_path / "films"
    settings_beside(films, "engine: openai\nopenai: {model: m, base_url: 'https://models.example/v1'}\n")
    (films / "movie.mp4").write_bytes(b"film")
    (films / "other.mp4").write_bytes(b"film")
    words = ("batch", films, "--dry-run", "--plain")
    said = shotad(*words, "--engine", "embedded")
    assert "Engine: embedded." in said.err
    assert "openai.base_url = 'https://models.example/v1'" in said.out
    trust(str(films))
    said = shotad(*words, "--engine", "embedded")
    assert "models.example" not in said.err + said.out
    # Which engine really runs, and for which film
    said = shotad(*words)
    assert "movie.mp4: Engine: openai (m)." in said.err
    assert "other.mp4: Engine: embedded." in said.err
    assert "movie.mp4: Frames of the film, and descriptions of it, leave this machine" in said.err


def test_trust_holds_for_a_folder_and_all_below_it_until_it_is_taken_back(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    (mine / "sub").mkdir(parents=True)
    other.mkdir()
    assert not is_trusted(mine)
    trust(str(mine))
    trust("s3://bucket/films/")
    assert is_trusted(mine / "sub" / "movie.yaml")
    assert not is_trusted(tmp_path / "mine2" / "movie.yaml")
    assert is_trusted("s3://bucket/films/a/movie.yaml")
    assert not is_trusted("s3://bucket/films2/movie.yaml")
    assert not is_trusted("s3://bucket/films/../evil/movie.yaml")
    (mine / "link").symlink_to(other)
    assert not is_trusted(mine / "link" / "movie.yaml"), "a link makes nothing trusted"
    (mine / "own.yaml").touch()
    (other / "movie.yaml").symlink_to(mine / "own.yaml")
    assert not is_trusted(other / "movie.yaml"), "nor is it trusted for what it points to"
    distrust(str(mine))
    assert not is_trusted(mine)
    with pytest.raises(UsageError, match="not among the trusted"):
        distrust(str(mine))
    with pytest.raises(UsageError, match="no folder"):
        trust(str(tmp_path / "none"))


def test_doctor_trusts_a_folder(shotad: Shotad, tmp_path: Path) -> None:
    films = tmp_path / "films"
    films.mkdir()
    assert shotad("doctor", "--trust", films).out.split() == ["-", "Trusted", "folders", str(films)]
    assert is_trusted(films)
    assert str(films) not in shotad("doctor", "--distrust", films).out
    assert shotad("doctor", "--trust", tmp_path / "none").code == 2


def recorded(work: Path, *settings: str, film: Path | None = None, **given: Any) -> Path:
    """A work folder with the settings of a run."""
    with WorkFolder(work) as folder:
        write_settings(folder, load_config(None, settings), film, RunInputs(**given))
    return work


FOREIGN = (
    "engine=openai", "openai.base_url=http://evil.example/v1", "openai.key_name=AWS_SECRET_ACCESS_KEY",
    "openai.model=m", "voice.name=openai:alloy", "voice.base_url=http://evil.example/v1", "language=de",
)  # fmt: skip


def of_another_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHOTAD_CONFIG", str(tmp_path / "another"))


def test_a_run_of_ones_own_goes_on_as_it_was_asked_also_where_its_folder_moves(tmp_path: Path) -> None:
    work = recorded(tmp_path / "movie.shotad", *FOREIGN)
    run = read_settings(work)
    assert run.config == load_config(None, FOREIGN)
    assert run.warning is None
    work.rename(tmp_path / "moved.shotad")
    assert (
        run_config_with_changes(read_settings(tmp_path / "moved.shotad")).openai.base_url
        == "http://evil.example/v1"
    )
    assert (tmp_path / "user" / "seal.key").stat().st_mode & 0o077 == 0


def test_of_a_work_folder_that_was_received_no_server_key_or_voice_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = recorded(tmp_path / "movie.shotad", *FOREIGN)
    of_another_user(monkeypatch, tmp_path)
    run = read_settings(work)
    assert run.config == load_config(None, ["openai.model=m", "language=de"])
    assert "openai.key_name = 'AWS_SECRET_ACCESS_KEY'" in (run.warning or "")
    assert f"shotad doctor --trust {work}" in (run.warning or "")
    # Nobody else is asked in place of whom the run asked.
    with pytest.raises(ConfigError, match="This run asked engine = 'openai'"):
        run_config_with_changes(run)
    with pytest.raises(ConfigError, match="This run asked"):
        run_config_with_changes(run, assignments=["openai.base_url=http://localhost:9/v1"])
    assert run_config_with_changes(run, engine="fake").openai.key_name == "OPENAI_API_KEY"
    trust(str(work))
    assert read_settings(work).config == load_config(None, FOREIGN)


@pytest.mark.parametrize("change", ["value", "gone", "copied", "none", "odd"])
def test_settings_that_somebody_changed_are_not_ones_own_any_more(tmp_path: Path, change: str) -> None:
    work = recorded(tmp_path / "movie.shotad", "engine=fake")
    file = work / "settings.json"
    record = json.loads(file.read_text())
    record["config"]["openai"]["base_url"] = "http://evil.example/v1"
    if change == "gone":
        del record["seal"]
    elif change == "copied":
        other = json.loads((recorded(tmp_path / "b.shotad", "engine=openai") / "settings.json").read_text())
        record["seal"] = other["seal"]
    elif change != "value":
        record["seal"] = None if change == "none" else {"config": 3, "files": "é"}
    file.write_text(json.dumps(record))
    run = read_settings(work)
    assert run.config.openai.base_url is None
    assert set(run.withheld) == {"openai.base_url"}


def test_of_files_elsewhere_a_received_work_folder_names_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, private = tmp_path / "received", tmp_path / "private"
    for folder in (home / "movie.cast", private / "cast"):
        folder.mkdir(parents=True)
    for file in (home / "movie.mp4", home / "movie.srt", private / "film.mp4", private / "text.srt"):
        file.touch()
    near = recorded(
        home / "movie.shotad", film=home / "movie.mp4", subtitles=home / "movie.srt",
        cast=GivenCast(home / "movie.cast"),
    )  # fmt: skip
    far = recorded(
        home / "b.shotad", film=private / "film.mp4", subtitles=private / "text.srt",
        cast=GivenCast(private / "cast"),
    )  # fmt: skip
    assert read_settings(far).film == private / "film.mp4"
    of_another_user(monkeypatch, tmp_path)
    run = read_settings(near)
    assert (run.film, run.given.subtitles) == (home / "movie.mp4", home / "movie.srt")
    assert (run.given.cast, run.warning) == (GivenCast(home / "movie.cast"), None)
    run = read_settings(far)
    assert (run.film, run.given) == (None, RunInputs())
    assert set(run.withheld) == {"given.subtitles", "given.cast"}
    with pytest.raises(CastError, match="--cast CAST"):
        with_cast(run, None)
    assert with_cast(run, home / "movie.cast").given.cast == GivenCast(home / "movie.cast")


def test_a_cast_that_is_named_for_a_received_folder_makes_no_other_choice_of_it_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = recorded(tmp_path / "movie.shotad", *FOREIGN, subtitles=Path("/etc/passwd"))
    of_another_user(monkeypatch, tmp_path)
    with WorkFolder(work) as folder:
        record_cast(folder, read_settings(work), tmp_path / "elsewhere" / "cast")
    run = read_settings(work)
    assert run.given == RunInputs(cast=GivenCast(tmp_path / "elsewhere" / "cast"))
    assert run.config.openai.base_url is None
    assert "openai.base_url" in run.withheld
    monkeypatch.setenv("SHOTAD_CONFIG", str(tmp_path / "user"))
    assert read_settings(work).config == load_config(None, FOREIGN), "whose it is finds it as it was"


def test_passwords_of_addresses_are_not_shown(shotad: Shotad, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://me:hunter2@models.example/v1?api_key=abc123")
    said = shotad("doctor")
    assert "https://models.example/v1" in said.out
    assert not any(secret in said.out + said.err for secret in ("hunter2", "abc123"))


def test_where_no_seal_can_be_kept_runs_are_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SHOTAD_CONFIG", str(tmp_path / "file" / "config"))
    run = read_settings(recorded(tmp_path / "movie.shotad", *FOREIGN))
    assert run.config.openai.base_url is None


def test_a_received_folder_and_files_beside_films_send_no_key(
    shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    films = tmp_path / "films"
    films.mkdir()
    film = make_film(FilmSpec(frames=300, cuts=(60, 130, 200))).path
    for name in ("movie.mp4", "other.mp4"):
        (films / name).write_bytes(film.read_bytes())
    with BadServer([answer("A cat sleeps.")]) as server:
        settings_beside(
            films,
            f"""
            stage1: {{engine: openai}}
            openai: {{base_url: '{server.url}', key_name: AWS_SECRET_ACCESS_KEY, model: m}}
            """,
        )
        said = shotad("batch", films, *FAKE, "--no-sheet", "--plain", "--report", tmp_path / "report.json")
        assert said.code == 1
        assert "movie.mp4: failed." in said.err
        assert "other.mp4: done" in said.err
        # A work folder that came with such settings
        work = films / "other.shotad"
        record = json.loads((work / "settings.json").read_text())
        record["config"]["stage1"] |= {"engine": "openai"}
        record["config"]["openai"] |= {
            "base_url": server.url, "key_name": "AWS_SECRET_ACCESS_KEY", "model": "m",
        }  # fmt: skip
        record["config"]["voice"] |= {"name": "openai:alloy", "base_url": server.url}
        (work / "settings.json").write_text(json.dumps(record))
        name = json.loads((work / "track.json").read_text())["cues"][0]["id"]
        said = shotad("redo", work, name, "--no-sheet", "--plain")
        assert said.code == 2
        assert "This run asked stage1.engine = 'openai'" in said.err
        said = shotad("redo", work, name, "--no-sheet", "--plain", "--engine", "fake")
        assert said.code in (0, 1)
        assert "was not written by you on this machine" in said.err
        said = shotad("render", work, "--make", "ad:wav", "--voice", "fake", "--plain")
        assert said.code == 0, said.err
        assert "was not written by you on this machine" in said.err
        assert shotad("translate", work, "--to", "de", "--plain").code == 2
        assert server.requests == []
        # The same folder once it is trusted: the file's choice counts, and is told with the key's name.
        trust(str(films))
        told = shotad("batch", films, "--dry-run", "--plain").err
        assert "AWS_SECRET_ACCESS_KEY" not in told, "a server of this machine gets nothing off it"
    assert KEY not in (work / "settings.json").read_text()


def test_the_notice_names_host_and_key(shotad: Shotad, tmp_path: Path) -> None:
    (tmp_path / "movie.mp4").write_bytes(b"film")
    words = ("batch", tmp_path, "--dry-run", "--plain", "--engine", "openai", "--set", "openai.model=m")
    address = ("--set", "openai.base_url=https://models.example/v1")
    key = ("--set", "openai.key_name=AWS_SECRET_ACCESS_KEY")
    assert (
        "sent to models.example, with the key in AWS_SECRET_ACCESS_KEY." in shotad(*words, *address, *key).err
    )
    assert "sent to models.example." in shotad(*words, *address, "--set", "openai.key_name=NOBODY_HAS_IT").err
    assert KEY not in shotad(*words, *address, *key).err


def test_a_dataset_stays_in_its_folder_and_chooses_no_server(tmp_path: Path) -> None:
    plain = {"annotation": {"files": ["ads.csv"]}}

    def described(**more: Any) -> Any:
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump({**plain, **more}))
        return read_description(str(tmp_path / "mine.yaml"))

    settings_beside(tmp_path, "openai: {base_url: 'http://evil.example/v1'}\n", "own.yaml")
    settings_beside(tmp_path, "slots: {seconds_per_word: 0.3}\n", "fine.yaml")
    for more in (
        {"annotation": {"files": ["/etc/passwd"]}}, {"folders": ["../.."]}, {"folders": ["/"]},
        {"videos": {"films": ["../{clip}"]}}, {"casts": {"files": ["../casts.json"]}},
        {"config": "/etc/passwd"}, {"config": "gpt-4o"}, {"config": str(tmp_path / "own.yaml")},
    ):  # fmt: skip
        with pytest.raises((DatasetError, ConfigError)):
            described(**more)
    assert described(config="paper").config == "paper"
    assert described(config=str(tmp_path / "fine.yaml"), folders=["a/b"]).folders == ("a/b",)
    trust(str(tmp_path))
    assert described(config=str(tmp_path / "own.yaml"), folders=["/"]).folders == ("/",)


PICKLE = 'import pathlib; pathlib.Path("owned").touch()\n'


def test_no_module_that_lies_among_films_is_run(tmp_path: Path) -> None:
    """Workers are Python processes that begin in the folder of the command."""
    films = tmp_path / "films"
    films.mkdir()
    (films / "movie.mp4").write_bytes(b"no film")
    for name in ("pickle", "socket", "signal"):
        (films / f"{name}.py").write_text(PICKLE)
    root = str(Path(__file__).resolve().parents[1])
    # As the installed command begins: the current folder is not among the places of modules.
    code = f"import sys; sys.path.insert(0, {root!r}); from shotad.cli.main import main; main()"
    (tmp_path / "shotad_command.py").write_text(f"if __name__ == '__main__':\n    {code}\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "shotad_command.py"), "batch", ".", "--plain", *FAKE],
        cwd=films, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "movie.mp4: failed." in done.stderr, done.stderr
    assert not (films / "owned").exists()


def test_a_run_that_was_read_from_no_file_withholds_nothing() -> None:
    assert RunSettings(Config(), None, RunInputs()).warning is None
