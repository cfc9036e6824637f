"""The work folder: keys, atomic files, half-written records, the lock, errors in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shotad.core import RecordLog, WorkFolder, WorkFolderError, replacing, write_text


def test_a_step_is_made_once_for_a_key(tmp_path: Path) -> None:
    made: list[str] = []

    def make(value: str) -> dict[str, str]:
        made.append(value)
        return {"value": value}

    for _ in range(2):
        with WorkFolder(tmp_path / "w") as folder:
            assert folder.step("thing", "k1", lambda: make("one"))["value"] == "one"
    with WorkFolder(tmp_path / "w") as folder:
        assert folder.step("thing", "k2", lambda: make("two"))["value"] == "two"
    with WorkFolder(tmp_path / "w", force=True) as folder:
        folder.step("thing", "k2", lambda: make("three"))
    assert made == ["one", "two", "three"]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"key": "k1", "va', b"\xff\xfe"])
def test_a_damaged_step_is_refused_and_made_again_where_it_is_deleted(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "thing.json").write_bytes(damage)
    with WorkFolder(tmp_path) as folder:
        with pytest.raises(WorkFolderError, match=r"thing\.json is damaged: .*Correct it there, or delete"):
            folder.step("thing", "k1", lambda: {"value": 1})
        assert (tmp_path / "thing.json").read_bytes() == damage, "it may hold a person's work"
        (tmp_path / "thing.json").unlink()
        assert folder.step("thing", "k1", lambda: {"value": 1}) == {"key": "k1", "value": 1}


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
    code = f"""
from pathlib import Path
from shotad.core.workfolder import WorkFolder
with WorkFolder(Path({str(tmp_path)!r})):
    pass
"""
    with WorkFolder(tmp_path):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert "in use by another shotad" in done.stderr
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


_WRITER = """
import sys, time
from pathlib import Path
from shotad.core.workfolder import replacing
with replacing(Path(sys.argv[1])) as part:
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
    with replacing(tmp_path / "film.json") as part:
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
