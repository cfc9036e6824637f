"""A work folder or a film that is renamed, removed or replaced while it is in use: an error that says so, no second folder,
nothing lost, and the same command goes on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from shotad.core import (
    RecordLog,
    Reply,
    Request,
    WorkFolder,
)
from shotad.core.errors import FilmChanged, FilmError, WorkFolderError
from shotad.core.files import replace_file, write_text
from shotad.film import open_film
from shotad.script import load_track
from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, make_film
from tests.runs import SPEC, Talker, rows, run

AWAY = "was renamed, removed or replaced while it was in use"


class Meddler(Talker):
    """An engine during whose third answer something happens."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__("looks")
        self._happens = happens

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        replies = super().generate(requests)
        if len(self.asked) <= 3 < len(self.asked) + len(requests) or len(self.asked) == 3:
            self._happens()
        return replies


def remove(folder: Path) -> None:
    shutil.rmtree(folder.rename(folder.with_name("renamed")))  # at once, whatever is written in it meanwhile


def rename(folder: Path) -> None:
    folder.rename(folder.with_name("renamed"))


def replace(folder: Path) -> None:
    folder.rename(folder.with_name("renamed"))
    folder.mkdir()


def replace_by_copy(folder: Path) -> None:
    folder.rename(folder.with_name("renamed"))
    shutil.copytree(folder.with_name("renamed"), folder)


@pytest.mark.parametrize("how", [rename, remove, replace, replace_by_copy])
def test_a_folder_that_moves_during_a_run_is_an_error(tmp_path: Path, how: Callable[[Path], None]) -> None:
    out = tmp_path / "w"
    with pytest.raises(WorkFolderError, match=AWAY):
        run(out, looks=Meddler(lambda: how(out)))
    assert not (out / "track.json").exists()
    assert out.exists() == (how in (replace, replace_by_copy))
    if how is rename:
        assert len(rows(tmp_path / "renamed", "stage1")) >= 1
        (tmp_path / "renamed").rename(out)
    elif out.exists():
        shutil.rmtree(out)
    outcome, looks, _ = run(out)
    assert load_track(out / "track.json") == outcome.track
    if how is rename:
        assert len(looks.asked) < len(outcome.track.cues), "what was answered is kept"


def test_a_folder_that_only_went_away_for_a_moment_is_the_same(tmp_path: Path) -> None:
    out = tmp_path / "w"

    def there_and_back() -> None:
        out.rename(tmp_path / "renamed")
        (tmp_path / "renamed").rename(out)

    run(out, looks=Meddler(there_and_back))
    assert (out / "track.json").exists()


def test_a_folder_above_that_is_renamed_is_noticed_too(tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    with pytest.raises(WorkFolderError, match=AWAY):
        run(tmp_path / "films" / "w", looks=Meddler(lambda: (tmp_path / "films").rename(tmp_path / "old")))
    assert not (tmp_path / "films").exists()


def test_a_link_that_a_person_names_is_their_folder(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "w").symlink_to(tmp_path / "there")
    run(tmp_path / "w")
    assert (tmp_path / "there" / "track.json").exists()


WRITERS: dict[str, Callable[[WorkFolder], object]] = {
    "text": lambda folder: write_text(folder.path / "inner" / "a.txt", ""),
    "record": lambda folder: RecordLog(folder.path / "things.jsonl").add("a", {}),
    "note": lambda folder: folder.note("text"),
    "step": lambda folder: folder.cached("thing", "key", dict, write=dict, read=dict),
    "nothing": lambda _: None,
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_every_way_to_write_notices(tmp_path: Path, write: Callable[[WorkFolder], object]) -> None:
    out = tmp_path / "w"

    def work() -> None:
        with WorkFolder(out) as folder:
            out.rename(tmp_path / "renamed")
            write(folder)

    with pytest.raises(WorkFolderError, match=AWAY):
        work()
    assert not out.exists()
    with WorkFolder(out):  # what was held before is forgotten
        write_text(out / "a.txt", "")


def test_a_folder_of_results_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    def write() -> None:
        with replace_file(tmp_path / "out" / "movie.mp4") as part:
            part.write_bytes(b"film")
            shutil.rmtree(tmp_path / "out")

    with pytest.raises(
        WorkFolderError, match="movie.mp4 cannot be written: its folder was renamed or removed"
    ):
        write()
    assert not (tmp_path / "out").exists()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "movie.mp4"
    shutil.copy(make_film(SPEC).path, path)
    return path


def test_a_film_that_is_replaced_during_a_run_is_an_error(tmp_path: Path, own: Path) -> None:
    other = make_film(FilmSpec(frames=500, cuts=(50, 250))).path
    with pytest.raises(FilmChanged, match="was replaced or changed while it was in use"):
        run(tmp_path / "w", looks=Meddler(lambda: shutil.copy(other, own)), film=own)
    assert not (tmp_path / "w" / "track.json").exists()


def test_a_film_that_is_touched_or_copied_over_itself_is_the_same(tmp_path: Path, own: Path) -> None:
    def again() -> None:
        shutil.copy(own, tmp_path / "copy.mp4")
        (tmp_path / "copy.mp4").replace(own)

    run(tmp_path / "w", looks=Meddler(again), film=own)
    assert (tmp_path / "w" / "track.json").exists()


def test_a_film_that_is_gone_is_said_to_be(own: Path) -> None:
    with open_film(own) as film:
        own.unlink()
        with pytest.raises(FilmError, match="cannot be read any more: No such file.*Put it back"):
            list(film.frames_at([1.0]))


def test_a_refused_run_leaves_nothing(shotad: Shotad, own: Path) -> None:
    folder = own.with_suffix(".shotad")
    said = shotad("describe", own, *FAKE, "--set", "threads.features=nothing-like-it")
    assert said.code != 0
    assert not folder.exists()
    assert shotad("describe", own, *FAKE, "--no-sheet").code == 0
    before = (folder / "settings.json").read_bytes()
    assert shotad("describe", own, *FAKE, "--set", "threads.features=nothing-like-it").code != 0
    assert (folder / "settings.json").read_bytes() == before
