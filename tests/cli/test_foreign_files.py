"""A work folder of somebody else: a link, a pipe or a device in the place of one of our files is refused at once, nothing
is followed, and only what was written is removed."""

from __future__ import annotations

import os
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shotad.core import (
    Config,
    RecordLog,
    WorkFolder,
)
from shotad.core.errors import WorkFolderError
from shotad.core.files import (
    inner_folder,
    own_files,
    read_file,
)
from shotad.core.workfolder import read_record
from shotad.film import Frames, open_film
from shotad.sight.castfolder import note_use
from tests.cli.program import FAKE, Said, Shotad, invoke
from tests.media import FilmSpec, make_film


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("foreign")
    shutil.copy(make_film(FilmSpec(frames=300, cuts=(100, 200))).path, place / "movie.mp4")
    done = invoke("describe", place / "movie.mp4", *FAKE)
    assert done.exit_code == 0, done.output
    return place / "movie.shotad"


@pytest.fixture
def folder(described: Path, tmp_path: Path) -> Path:
    shutil.copy(described.with_suffix(".mp4"), tmp_path)
    return Path(shutil.copytree(described, tmp_path / "movie.shotad"))


def fifo(path: Path) -> None:
    os.mkfifo(path)


def plug(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def directory(path: Path) -> None:
    path.mkdir()


def dangling(path: Path) -> None:
    path.symlink_to(path.parent.parent / "nowhere")


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def link(path: Path) -> None:
    outside = path.parent.parent / "outside" / path.name
    outside.parent.mkdir(exist_ok=True)
    outside.write_bytes(b'{"mine": true}\n')
    path.symlink_to(outside)


def commands(folder: Path) -> Iterator[list[object]]:
    film, script = folder.with_suffix(".mp4"), folder.parent / "script.vtt"
    yield ["describe", film, *FAKE, "--no-sheet", "--force"]
    yield ["redo", folder, "1"]
    yield ["render", film, "--voice", "fake", "--make", "ad"]
    yield ["import", folder, script]
    yield ["lint", folder]
    yield ["export", folder]
    yield ["review", folder, "--no-open"]


def within_seconds(shotad: Shotad, words: list[object]) -> Said:
    """What a command says; one that hangs fails the test."""
    said: list[Said] = []
    thread = threading.Thread(target=lambda: said.append(shotad(*words)), daemon=True)
    thread.start()
    thread.join(20)
    assert said, f"{words[0]} hangs"
    return said[0]


@pytest.mark.parametrize("make", [fifo, plug, directory, dangling, device, link])
def test_a_track_that_is_no_file_is_refused_by_all(
    shotad: Shotad, folder: Path, make: Callable[[Path], None]
) -> None:
    track = folder / "track.json"
    shutil.copy(folder / "movie.ad.vtt", folder.parent / "script.vtt")
    track.unlink()
    make(track)
    for words in commands(folder):
        said = within_seconds(shotad, words)
        assert said.code == 1, words
        (error,) = [line for line in said.err.splitlines() if line.startswith("Error:")]
        assert str(track) in error
        assert "is a" in error
    assert not (folder.parent / "nowhere").exists()


RECORDS = ("log.txt", "stage2.jsonl", "shots.json", "scripts.json", "slots.hand.json", "movie.ad.srt", ".lock", "frames.pack",
           "review.jsonl", "settings.json", "worksheet.html", "material.json", "redo.jsonl", "stage1.aside.jsonl")  # fmt: skip


@pytest.mark.parametrize("make", [fifo, link, dangling])
@pytest.mark.parametrize("name", RECORDS)
def test_a_run_refuses_what_is_no_file(
    shotad: Shotad, folder: Path, name: str, make: Callable[[Path], None]
) -> None:
    (folder / name).unlink(missing_ok=True)
    make(folder / name)
    said = within_seconds(shotad, next(commands(folder)))
    assert said.code == 1
    assert f"Error: {folder / name} is a" in said.err
    assert not (folder.parent / "nowhere").exists()
    if make is link:
        assert (folder.parent / "outside" / name).read_bytes() == b'{"mine": true}\n'


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("worksheet", ["describe", "FILM", *FAKE]),
        ("worksheet", ["sheet", "FOLDER"]),
        ("voice", ["render", "FILM", "--voice", "fake", "--make", "ad", "--force"]),
        ("review", ["review", "FOLDER", "--no-open"]),
    ],
)
def test_a_folder_of_ours_that_is_a_link_is_not_entered(
    shotad: Shotad, folder: Path, name: str, words: list[str]
) -> None:
    outside = folder.parent / "pictures"
    outside.mkdir()
    for file in ("holiday.jpg", "000000200.jpg", "song.flac", f"{'0' * 16}.flac", ".tmp-mine"):
        (outside / file).write_bytes(b"mine")
    shutil.rmtree(folder / name, ignore_errors=True)
    (folder / name).symlink_to(outside)
    places = {"FILM": folder.with_suffix(".mp4"), "FOLDER": folder}
    said = within_seconds(shotad, [places.get(word, word) for word in words])
    assert said.code == 1
    assert f"Error: {folder / name} is a link to {str(outside)[:80]}" in said.err
    assert len(list(outside.iterdir())) == 5
    assert all(file.read_bytes() == b"mine" for file in outside.iterdir())


def test_only_pictures_and_takes_that_we_wrote_are_removed(shotad: Shotad, folder: Path) -> None:
    film = folder.with_suffix(".mp4")
    assert shotad("render", film, "--voice", "fake", "--make", "ad").code == 0
    mine = [folder / "worksheet" / "holiday.jpg", folder / "voice" / "song.flac"]
    stale = [folder / "worksheet" / "000099999.jpg", folder / "voice" / f"{'0' * 16}.flac"]
    linked = folder / "worksheet" / "000099998.jpg"
    for path in (*mine, *stale):
        path.write_bytes(b"")
    linked.symlink_to(film)
    assert shotad("sheet", folder).code == 0
    assert shotad("render", film, "--voice", "fake", "--make", "ad", "--force").code == 0
    assert all(path.exists() for path in (*mine, linked))
    assert not any(path.exists() for path in stale)


def test_a_backup_by_hard_links_stays_as_it_is(tmp_path: Path) -> None:
    place, backup = tmp_path / "w", tmp_path / "backup"
    with WorkFolder(place) as folder:
        folder.note("one")
        RecordLog(place / "things.jsonl").add("a", {})
    backup.mkdir()
    for name in ("log.txt", "things.jsonl"):
        os.link(place / name, backup / name)
    before = {path.name: path.read_bytes() for path in backup.iterdir()}
    with WorkFolder(place) as folder:
        folder.note("two")
        RecordLog(place / "things.jsonl").add("b", {})
    assert {path.name: path.read_bytes() for path in backup.iterdir()} == before
    assert [record["key"] for record in RecordLog(place / "things.jsonl").records()] == ["a", "b"]
    assert (place / "log.txt").read_text().count("\n") == 2


def test_a_link_in_place_of_a_frame_store_is_not_written_to(tmp_path: Path) -> None:
    outside = tmp_path / "mine"
    outside.write_bytes(b"mine")
    with open_film(make_film(FilmSpec(frames=50)).path) as film:
        list(Frames(film, WorkFolder(tmp_path), Config(), exact=False).pictures([0.5]))
        for name in ("frames.pack", "frames.index"):
            (tmp_path / name).unlink()
            (tmp_path / name).symlink_to(outside)
            list(Frames(film, WorkFolder(tmp_path), Config(), exact=False).pictures([0.5]))
    assert outside.read_bytes() == b"mine"


def test_a_link_in_place_of_what_a_cast_notes_is_not_written_to(tmp_path: Path) -> None:
    outside = tmp_path / "mine"
    outside.write_bytes(b"mine")
    (tmp_path / "cast").mkdir()
    (tmp_path / "cast" / ".used-in").symlink_to(outside)
    note_use(tmp_path / "cast", tmp_path / "w")
    assert outside.read_bytes() == b"mine"


def test_what_is_read_is_a_file(tmp_path: Path) -> None:
    for number, (make, kind) in enumerate(
        (
            (fifo, "a named pipe"),
            (plug, "a socket"),
            (directory, "a folder"),
            (link, "a link to "),
            (device, "a link to /dev/zero"),
        )
    ):
        path = tmp_path / str(number) / "shots.json"
        path.parent.mkdir()
        make(path)
        for read in (read_file, read_record):
            with pytest.raises(WorkFolderError, match=f"shots.json is {kind}"):
                read(path)
    with pytest.raises(WorkFolderError, match="is a device, not a file"):
        read_file(Path("/dev/zero"), follow=True)
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkFolderError, match="is a file, not a folder"):
        inner_folder(tmp_path, "file")
    assert own_files(tmp_path / "none", re.compile(".*")) == []
