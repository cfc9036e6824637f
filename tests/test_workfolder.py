"""The work folder: keys, atomic files, half-written records, the lock, errors in words; and what a run was asked to do,
kept for a later redo: whole, without secrets, and read back as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from shotad.core import (
    Config,
    RecordLog,
    RunInputs,
    RunSettings,
    WorkFolder,
    load_config,
)
from shotad.core.errors import (
    CastError,
    ConfigError,
    WorkFolderError,
)
from shotad.core.files import replace_file, write_text
from shotad.core.progress import Display, address_without_secrets
from shotad.core.runsettings import (
    GivenCast,
    config_with_changes,
    read_settings,
    with_cast,
    write_settings,
)


def kept(folder: WorkFolder, key: str, value: object) -> object:
    """What the step "thing" comes to, which makes ``value``."""
    return folder.cached(
        "thing", key, lambda: value, write=lambda made: {"value": made}, read=lambda record: record["value"]
    )


def test_a_step_is_made_once_for_a_key(tmp_path: Path) -> None:
    for key, value, force, wanted in (
        ("k1", "one", False, "one"), ("k1", "again", False, "one"), ("k2", "two", False, "two"), ("k2", "three", True, "three"),
    ):  # fmt: skip
        with WorkFolder(tmp_path / "w", force=force) as folder:
            assert kept(folder, key, value) == wanted


def test_a_record_with_another_key_is_made_again_whatever_it_holds(tmp_path: Path) -> None:
    """Of a version that wrote otherwise, say: what has our key is held against its shape."""
    file = tmp_path / "speech.json"
    file.write_text('{"key": "speech/3", "heard": "in another way"}')
    with WorkFolder(tmp_path) as folder:
        assert folder.record_under_key("speech", "speech/4") is None
        with pytest.raises(WorkFolderError, match=r"speech\.json is damaged"):
            folder.record_under_key("speech", "speech/3")


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"key": "k1", "va', b"\xff\xfe"])
def test_a_damaged_step_is_refused_and_made_again_where_it_is_deleted(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "thing.json").write_bytes(damage)
    with WorkFolder(tmp_path) as folder:
        with pytest.raises(WorkFolderError, match=r"thing\.json is damaged: .*Correct it there, or delete"):
            kept(folder, "k1", 1)
        assert (tmp_path / "thing.json").read_bytes() == damage, "it may hold a person's work"
        (tmp_path / "thing.json").unlink()
        assert kept(folder, "k1", 1) == 1
        assert folder.read_json("thing.json") == {"key": "k1", "value": 1}


def test_records_survive_a_half_written_last_line(tmp_path: Path) -> None:
    path = tmp_path / "things.jsonl"
    log = RecordLog(path)
    log.add("a", {"n": 1})
    log.add("b", {"n": 2})
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        found = RecordLog(path)
        first_line_ends = whole.index(b"\n")
        assert (found.get("a") is not None) == (cut > first_line_ends)
        assert found.get("b") is None
        found.add("c", {"n": 3})
        lines = path.read_text().splitlines()
        assert [json.loads(line)["key"] for line in lines] == (["a", "c"] if cut > first_line_ends else ["c"])


def test_a_record_that_finds_no_room_leaves_its_line_to_the_next(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="files cannot be limited here")
    path = tmp_path / "things.jsonl"
    log = RecordLog(path)
    log.add("a", {"text": "first"})
    size = path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
    try:
        with pytest.raises(WorkFolderError, match=r"things\.jsonl cannot be written"):
            log.add("b", {"text": "there is room for half of this only"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.stat().st_size == size
    assert log.get("b") is None
    log.add("c", {"text": "an answer that was under way"})
    assert [record["key"] for record in RecordLog(path).records()] == ["a", "c"]


def test_a_second_process_is_told_and_stops(tmp_path: Path) -> None:
    code = f"from pathlib import Path; from shotad.core import WorkFolder; WorkFolder(Path({str(tmp_path)!r})).__enter__()"
    with WorkFolder(tmp_path):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert "in use by another shotad" in done.stderr
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


_WRITER = """
import sys
from pathlib import Path
from shotad.core.files import replace_file
with replace_file(Path(sys.argv[1])) as part:
    part.write_text("whole")
    print(part.name, flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("killed", [False, True])
def test_what_a_living_process_writes_is_not_swept_away(tmp_path: Path, killed: bool) -> None:
    target = tmp_path / "slots.hand.json"
    command = [sys.executable, "-c", _WRITER, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        part = tmp_path / writer.stdout.readline().strip()
        if killed:
            writer.kill()
            writer.wait()
        with WorkFolder(tmp_path):
            assert part.exists() != killed
        writer.communicate("\n" if not killed else None)
    assert target.exists() != killed
    assert not part.exists()


def test_what_another_thread_of_the_same_process_writes_is_not_swept_away(tmp_path: Path) -> None:
    recycled = f".tmp-01234567-{os.getpid()}-abcdef01"
    (tmp_path / recycled).write_text("of a killed process that had our number")
    with replace_file(tmp_path / "film.json") as part:
        part.write_text("{}")
        with WorkFolder(tmp_path):
            assert part.exists()
            assert not (tmp_path / recycled).exists()
    assert (tmp_path / "film.json").read_text() == "{}"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no place here where no folder can be")
def test_a_place_where_no_folder_can_be_is_explained() -> None:
    with pytest.raises(WorkFolderError, match="cannot be made"), WorkFolder(Path("/proc/nowhere/w")):
        pass
    with pytest.raises(WorkFolderError, match="cannot be written"):
        write_text(Path("/proc/nowhere/r.json"), "")


def test_what_was_written_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = load_config(["gpt-4o", "tv-ad"], ["story.on=true", "prompt.note=Anna läuft."])
    given = RunInputs(Path("a.srt"), Path("slots.csv"), None, 12.5, 80.0)
    with WorkFolder(tmp_path / "w") as folder:
        more = {"configs": ["gpt-4o", "tv-ad"], "assignments": ["story.on=true"]}
        write_settings(folder, config, Path("clip.tar"), given, frame_rate=Fraction(24000, 1001), **more)
    for path in (tmp_path / "w", tmp_path / "w" / "settings.json"):
        run = read_settings(path)
        assert run.config == config
        assert run.film == tmp_path / "clip.tar", "a later command may run elsewhere"
        assert run.given == RunInputs(tmp_path / "a.srt", tmp_path / "slots.csv", None, 12.5, 80.0)
        assert run.frame_rate == Fraction(24000, 1001)
        assert (run.configs, run.assignments) == (("gpt-4o", "tv-ad"), ("story.on=true",))


def test_settings_that_there_are_not_are_refused(tmp_path: Path) -> None:
    file = written_settings(tmp_path)
    record = json.loads(file.read_text())
    record["config"]["stage2"]["novelty"] = 3
    file.write_text(json.dumps(record))
    with pytest.raises(WorkFolderError, match=r"settings\.json cannot be used.*stage2\.novelty"):
        read_settings(file)


def written_settings(folder: Path) -> Path:
    """The settings record of a work folder."""
    with WorkFolder(folder) as opened:
        write_settings(opened, Config(), None, RunInputs())
    return folder / "settings.json"


def test_a_work_folder_of_another_format_is_refused_unless_all_is_made_again(tmp_path: Path) -> None:
    file = written_settings(tmp_path)
    record = json.loads(file.read_text())
    for version, maker, remedy in ((1, "an older shotad", "--force"), (99, "a newer shotad", "--out")):
        # Settings that are there no more are no matter: the folder as a whole is told.
        other = {**record, "schema_version": version, "config": {"text": {"threads": 4}}}
        file.write_text(json.dumps(other))
        for refused in (lambda: WorkFolder(tmp_path).__enter__(), lambda: read_settings(tmp_path)):
            with pytest.raises(WorkFolderError, match=rf"was made by {maker} \(format {version};") as caught:
                refused()
            assert remedy in caught.value.hint
            assert "in use" not in caught.value.what
    assert json.loads(file.read_text()) == other, "nothing is changed"
    with WorkFolder(tmp_path, force=True) as folder:
        write_settings(folder, Config(), None, RunInputs())
    assert read_settings(tmp_path).config == Config()


def test_no_secret_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    address = "https://me:hunter2@models.example/v1?api_key=abc123&api-version=2"
    config = load_config(None, [f"openai.base_url={address}", f"stage2.base_url={address}"])
    with WorkFolder(tmp_path / "w") as folder:
        write_settings(folder, config, None, RunInputs(), assignments=[f"openai.base_url={address}"])
    text = (tmp_path / "w" / "settings.json").read_text()
    for secret in ("sk-very-secret", "hunter2", "abc123", "me:"):
        assert secret not in text
    assert read_settings(tmp_path / "w").config.openai.key_name == "OPENAI_API_KEY"
    assert "models.example/v1" in text


def test_a_key_that_comes_to_light_on_the_way_is_not_written_or_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = 'sk-0123456789/abc"def'
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with WorkFolder(tmp_path) as folder:
        folder.note(f"It is {key}.")
        folder.write_json("a.json", {"text": key})
        assert folder.log_of_records("b").add("k", {"text": f"It is {key}."})["text"] == "It is [secret]."
    Display("plain").note(f"It is {key}.")
    assert capsys.readouterr().err == "It is [secret].\n"
    for name in ("log.txt", "a.json", "b.jsonl"):
        assert "[secret]" in (tmp_path / name).read_text()
    # What any server takes for a key is a word as well.
    monkeypatch.setenv("OPENAI_API_KEY", "ollama")
    Display("plain").note("ollama does not answer.")
    assert capsys.readouterr().err == "ollama does not answer.\n"


def test_addresses_lose_what_is_secret_in_them() -> None:
    for text, clean in (
        ("https://me:pw@host/v1", "https://host/v1"),
        ("https://me:p@ss@host/v1", "https://host/v1"),
        ("https://host/v1?key=x&api-version=2", "https://host/v1?key=…&api-version=2"),
        ("https://host/v1?v=2&access_token=x", "https://host/v1?v=2&access_token=…"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("Who? anna@example.org", "Who? anna@example.org"),
    ):
        assert address_without_secrets(text) == clean


def test_a_damaged_record_is_told(tmp_path: Path) -> None:
    for text in ("", "[]", "{}", '{"schema_version": 99}', '{"schema_version": 1, "film": 3, "given": {}}'):
        (tmp_path / "settings.json").write_text(text)
        with pytest.raises(WorkFolderError, match=r"settings\.json"):
            read_settings(tmp_path)


def test_what_holds_for_the_whole_film_cannot_be_changed() -> None:
    for assignment in ("slots.minimum=3", "film.grid_height=240", "shots.path=exact", "speech.margin=1"):
        with pytest.raises(ConfigError, match="whole film"):
            config_with_changes(Config(), assignments=[assignment])
    with pytest.raises(ConfigError, match="no setting"):
        config_with_changes(Config(), assignments=["slot.minimum=3"])


def test_a_cast_that_has_moved_is_asked_for(tmp_path: Path) -> None:
    bank = GivenCast(tmp_path / "bank.json", "tt1", tmp_path / "pictures")
    run = RunSettings(Config(), None, RunInputs(cast=bank))
    with pytest.raises(CastError, match="bank.json") as told:
        with_cast(run, None)
    assert "--cast" in (told.value.hint or "")
    (tmp_path / "new.json").write_text("{}")
    moved = with_cast(run, tmp_path / "new.json")
    assert moved.given.cast == GivenCast(tmp_path / "new.json", "tt1", tmp_path / "pictures")
    assert with_cast(moved, None) is moved
    assert with_cast(run, tmp_path).given.cast == GivenCast(tmp_path)
    nobody = RunSettings(Config(), None, RunInputs())
    assert with_cast(nobody, None) is nobody
    assert with_cast(nobody, tmp_path).given.cast == GivenCast(tmp_path)


def test_settings_of_another_program_are_not_replaced(tmp_path: Path) -> None:
    other, ours = b'{"editor.fontSize": 14}\n', tmp_path / "settings.json"
    ours.write_bytes(other)
    with WorkFolder(tmp_path) as folder:
        with pytest.raises(WorkFolderError, match=r"was not written by shotad.*Name another folder"):
            write_settings(folder, Config(), None, RunInputs())
        assert ours.read_bytes() == other
        for mine in (b"", b"\0" * 40, b'{\n "schema_version": 1,\n "shotad": "0.1.0",\n "fi'):
            ours.write_bytes(mine)
            write_settings(folder, Config(), None, RunInputs())
            assert read_settings(tmp_path).config == Config()
