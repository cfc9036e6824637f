"""``shotad batch`` from a bucket to a bucket, as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shotad.batch.describing import describe_film
from shotad.batch.jobs import FilmJob
from shotad.core import Config, NoProgress, load_settings
from tests.catalogue.storage_server import Server, serving
from tests.media import FilmSpec, make_film
from tests.shotad_process import PLAIN

pytest.importorskip("s3fs")
pytest.importorskip("moto.server")
pytestmark = pytest.mark.slow

SETTINGS = ("engine=fake", *PLAIN)
PATHS_OR_TIMES = {"log.txt", "settings.json", "done.json"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        for bucket in ("films", "described"):
            server.client.create_bucket(Bucket=bucket)
        yield server


def batch(scratch: Path) -> tuple[int, dict[str, str], str]:
    """The exit code of a run, what became of each film, and all that was said."""
    command = [sys.executable, "-c", "from shotad.cli.main import main; main()", "batch", "s3://films/in"]
    command += [
        "--out",
        "s3://described/ad",
        "--scratch",
        str(scratch / "scratch"),
        "--jobs",
        "1",
        "--min-free",
        "off",
    ]
    command += ["--report", str(scratch / "report.json"), "--no-sheet"]
    command += [word for setting in SETTINGS for word in ("--set", setting)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=scratch, timeout=300)
    said = done.stdout + done.stderr
    assert (scratch / "report.json").exists(), said
    rows = json.loads((scratch / "report.json").read_text())["films"]
    return done.returncode, {row["film"]: row["state"] for row in rows}, said


def test_a_batch_from_bucket_to_bucket_is_as_on_disk_and_is_not_done_twice(
    server: Server, tmp_path: Path
) -> None:
    film = make_film(FilmSpec(frames=120, cuts=(60,))).path
    name = f"in/a film ü{film.suffix}"
    server.put(name, film.read_bytes(), "films")
    server.put("in/broken.mp4", "no film", "films")
    code, states, said = batch(tmp_path)
    assert states == {f"s3://films/{name}": "done", "s3://films/in/broken.mp4": "failed"}, said
    assert code != 0, "a film failed"
    assert "hidden-secret" not in said + (tmp_path / "report.json").read_text()

    local = tmp_path / f"a film ü{film.suffix}"
    local.write_bytes(film.read_bytes())
    config = load_settings(Config, (), SETTINGS)
    result = describe_film(FilmJob(str(local), str(tmp_path / "ad"), config, sheet=False), NoProgress())
    assert result.state == "done", result.error
    there = {one.removeprefix("ad/a film ü.shotad/"): one for one in server.names() if "/a film" in one}
    here = {path.relative_to(tmp_path / "ad").as_posix(): path for path in (tmp_path / "ad").rglob("*")}
    kept = {one for one, path in here.items() if path.is_file() and not one.startswith((".", "frames."))}
    assert set(there) == kept
    for one in kept - PATHS_OR_TIMES:
        assert server.get(there[one]) == here[one].read_bytes(), one

    written = {
        one: server.client.head_object(Bucket="described", Key=one)["LastModified"] for one in server.names()
    }
    code, states, said = batch(tmp_path)
    assert states[f"s3://films/{name}"] == "skipped", said
    again = {
        one: server.client.head_object(Bucket="described", Key=one)["LastModified"] for one in there.values()
    }
    assert again == {one: written[one] for one in there.values()}
    assert [path for path in (tmp_path / "scratch").rglob("*") if path.name != ".lock"] == []
