"""Which films a batch takes and when, what lies beside them, what they need, and what is said before they begin."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from shotad.batch import (
    BatchReport,
    FilmJob,
    FilmRow,
    PlannedFilm,
    Planner,
    PrivacyNotices,
    StoredObject,
    Watch,
    as_lines,
    auto_jobs,
    describe_film,
    film_labels,
    find_films,
    read_list,
    read_report,
)
from shotad.core import load_config
from shotad.core.errors import (
    DiskFull,
    FilmError,
    StorageError,
)


def touched(folder: Path, *names: str) -> list[str]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    return [str(folder / name) for name in names]


def names(gathered: Sequence[StoredObject], folder: Path) -> list[str]:
    return [os.path.relpath(film.place, folder) for film in gathered if not film.lost]


def test_folders_patterns_and_lists_give_films_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touched(tmp_path, "b.mp4", "deep/down/a.mkv", "deep/c.txt", "b.shotad/b.described.mp4", ".hidden.mp4")
    assert names(find_films([str(tmp_path)]), tmp_path) == ["b.mp4", "deep/down/a.mkv"]
    again = find_films([str(tmp_path / "b.mp4"), str(tmp_path / "*.mp4"), str(tmp_path)])
    assert names(again, tmp_path) == ["b.mp4", "deep/down/a.mkv"]
    # A folder of numbered frames is a film where a rate is given.
    touched(tmp_path, "frames/00001.jpg")
    assert find_films([str(tmp_path / "frames")]) == ()
    (film,) = find_films([str(tmp_path / "frames")], rate="3")
    assert film.place == str(tmp_path / "frames")
    # Lists hold comments and paths beside them.
    touched(tmp_path, "films/a.mp4", "here/b.mp4")
    monkeypatch.chdir(tmp_path / "here")
    text = "# films\n\n  a.mp4  \nb.mp4\n/abs/c.mp4\ns3://bucket/d.mp4\nnowhere.mp4\n"
    assert read_list(str(tmp_path / "films" / "list.txt"), text) == [
        str(tmp_path / "films" / "a.mp4"), "b.mp4", "/abs/c.mp4", "s3://bucket/d.mp4",
        str(tmp_path / "films" / "nowhere.mp4"),
    ]  # fmt: skip
    assert read_list("-", "a.mp4\n") == ["a.mp4"]
    assert read_list("s3://bucket/x/list.txt", "a.mp4\n") == ["s3://bucket/x/a.mp4"]


def test_what_is_named_and_not_there_is_an_error_but_of_a_list_only_its_own_film(tmp_path: Path) -> None:
    (film,) = touched(tmp_path, "a.mp4")
    with pytest.raises(FilmError, match=r"nothing\.mp4"):
        find_films([str(tmp_path / "nothing.mp4")])
    found = find_films([], [film, str(tmp_path / "nothing.mp4")])
    assert names(found, tmp_path) == ["a.mp4"]
    planned = Planner(FilmJob("-", "-")).plan(found)
    assert [film.trouble and film.trouble.kind for film in planned] == [None, "FilmError"]


def folders_of(films: Sequence[str], out: object = None) -> list[str]:
    """The work folders that films get, beside them or in ``out``."""
    return planned_folders(planner(out), films)


def planner(out: object) -> Planner:
    return Planner(FilmJob("-", "-"), None if out is None else str(out), alone=True)


def planned_folders(planner: Planner, films: Sequence[str]) -> list[str]:
    return [film.job.folder for film in planner.plan([StoredObject(film) for film in films])]


def base_names(folders: Sequence[str]) -> list[str]:
    return [os.path.basename(folder) for folder in folders]


def test_films_of_one_name_get_folders_apart(tmp_path: Path) -> None:
    films = touched(tmp_path, "a/movie.mp4", "a/movie.mkv", "b/movie.mp4", "b/other.mp4")
    beside = folders_of(films)
    assert [os.path.relpath(folder, tmp_path) for folder in beside] == [
        "a/movie.shotad", "a/movie.mkv.shotad", "b/movie.shotad", "b/other.shotad",
    ]  # fmt: skip
    assert base_names(folders_of(films, tmp_path / "out")) == [
        "movie.shotad", "movie.mkv.shotad", "b-movie.shotad", "other.shotad",
    ]  # fmt: skip


def taken(folder: Path, film: str) -> None:
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps({"film": {"path": film}}))


def test_a_film_that_moves_or_is_copied_with_its_work_folder_keeps_it(tmp_path: Path) -> None:
    (film,) = touched(tmp_path, "moved/film.mp4")
    taken(tmp_path / "ad" / "film.shotad", str(tmp_path / "before" / "film.mp4"))
    assert base_names(folders_of([film], tmp_path / "ad")) == ["film.shotad"]
    old, new = touched(tmp_path, "old/movie.mp4", "new/movie.mp4")
    taken(tmp_path / "new" / "movie.shotad", old)
    assert base_names(folders_of([new])) == ["movie.shotad"]
    # Not where both are films of one batch, nor where it is another film of the same name.
    out = tmp_path / "out"
    taken(out / "movie.shotad", old)
    assert base_names(folders_of([new, old], out)) == ["new-movie.shotad", "movie.shotad"]
    Path(old).write_bytes(b"another")
    assert base_names(folders_of([new], out)) == ["new-movie.shotad"]


@settings(max_examples=40)
@given(
    st.lists(
        st.sampled_from([f"/f/{d}/{n}" for d in "abc" for n in ("m.mp4", "m.mkv", "m.mp4.avi", "n.mp4")]),
        unique=True,
    ),
    st.booleans(),
)
def test_no_two_films_ever_share_a_folder(films: list[str], out: bool) -> None:
    plans = planner("/out" if out else None)
    half = len(films) // 2
    first_folders = planned_folders(plans, films[:half])
    assert len(set(planned_folders(plans, films))) == len(films)
    assert planned_folders(plans, films[:half]) == first_folders


@pytest.mark.parametrize(("beside", "chosen"), [
    (["movie.srt", "movie.en.srt", "movie.vtt"], "movie.srt"),
    (["movie.de.vtt", "movie.en.srt"], "movie.en.srt"),
    (["movie.fr.srt", "movie.de.srt"], "movie.de.srt"),
    (["movie.eng.srt", "movie.eng.sdh.srt"], "movie.eng.sdh.srt"),
    (["movie.ad.vtt", "movie.forced.srt", "movie.en.signs.ass", "movie.commentary.srt"], None),
    (["movie.part.srt"], None),
    (["movies.srt", "movie.txt"], None),
    (["movies.srt", "MOVIE.srt"], "MOVIE.srt"),
    (["movie.pt-BR.srt"], "movie.pt-BR.srt"),
    (["movie.two.srt", "movie.two.mp4"], None),
    (["movie.EN.SRT"], "movie.EN.SRT"),
])  # fmt: skip
def test_subtitles_beside_a_film(tmp_path: Path, beside: list[str], chosen: str | None) -> None:
    assert subtitles_chosen(tmp_path, beside, "en") == chosen


def test_files_beside_a_film_match_however_their_accents_are_written(tmp_path: Path) -> None:
    film, *_ = touched(
        tmp_path, "Ame\u0301lie.mp4", "Am\xe9lie.srt", "Am\xe9lie.note.txt", "Amz.srt", "Am.srt"
    )
    (plan,) = Planner(FilmJob("-", "-", load_config(None))).plan([StoredObject(film, 1, None)])
    assert [unicodedata.normalize("NFC", name) for name in plan.uses] == [
        "Am\xe9lie.srt",
        "Am\xe9lie.note.txt",
    ]


def subtitles_chosen(folder: Path, beside: Sequence[str], language: str) -> str | None:
    """Which of the files beside movie.mp4 are its subtitles."""
    film, *_ = touched(folder, "movie.mp4", *beside)
    shared = FilmJob("-", "-", load_config(None, (), language=language))
    (plan,) = Planner(shared).plan([StoredObject(film, 1, None)])
    return plan.job.subtitles and os.path.basename(plan.job.subtitles)


def test_files_in_folders_of_subtitles_are_told_of_the_film_whose_name_they_have(tmp_path: Path) -> None:
    films = touched(tmp_path, "One.mp4", "two.mp4")
    touched(
        tmp_path, "SUBS/one.de.srt", "SUBS/one.fr.srt", "SUBS/TWO/2_English.srt", "SUBS/three.srt", "one.wav"
    )
    found = [StoredObject(film, 1, None) for film in sorted(films)]
    plans = Planner(FilmJob("-", "-", load_config(None, (), language="fr"))).plan(found)
    assert [plan.uses for plan in plans] == [("one.fr.srt",), ("2_English.srt",)]
    (note,) = plans[0].job.notes
    assert "SUBS/one.de.srt (SUBS/one.fr.srt goes first)" in note
    assert "one.wav (its name does not say that it is a description)" in note
    assert "three" not in note
    assert plans[1].job.notes == ()


def test_what_lies_nearer_to_a_film_goes_before_what_is_said_of_all(tmp_path: Path) -> None:
    films = touched(tmp_path, "a/one.mp4", "a/two.mp4", "b/three.mp4")
    (tmp_path / "a" / "shotad.yaml").write_text("language: fr\nslots: {detail: rich}\n")
    (tmp_path / "a" / "one.yaml").write_text("language: de\n")
    (tmp_path / "a" / "one.note.txt").write_text("A film about a cat.\n")
    touched(tmp_path, "a/one.srt", "a/cast/cast.yaml", "a/one.cast.yaml")
    wishes = FilmJob("-", "-", config=load_config(None, ["slots.minimum=3"], language="en"), cast="/all/cast")
    one, two, three = Planner(wishes).plan([StoredObject(film, 1, None) for film in films])
    assert [film.job.config.language for film in (one, two, three)] == ["de", "fr", "en"]
    assert [film.job.config.slots.detail for film in (one, two, three)] == ["rich", "rich", "normal"]
    assert {film.job.config.slots.minimum for film in (one, two, three)} == {3.0}
    assert one.job.config.prompt.note == "A film about a cat."
    assert two.job.config.prompt.note == ""
    assert one.job.subtitles == films[0].replace(".mp4", ".srt")
    assert [film.job.cast for film in (one, two, three)] == [
        str(tmp_path / "a" / "one.cast.yaml"), str(tmp_path / "a" / "cast"), "/all/cast",
    ]  # fmt: skip
    assert one.uses == ("shotad.yaml", "one.yaml", "one.srt", "one.cast.yaml", "one.note.txt")
    assert two.uses == ("shotad.yaml", "cast")
    assert three.uses == ()


def test_settings_beside_a_film_are_that_films(tmp_path: Path) -> None:
    films = touched(tmp_path, "one.mp4", "two.mp4")
    (tmp_path / "one.yaml").write_text("languge: de\n")
    one, two = Planner(FilmJob("-", "-")).plan([StoredObject(film, 1, None) for film in films])
    assert one.trouble is not None
    assert (one.trouble.kind, "language" in str(one.trouble.error)) == ("ConfigError", True)
    assert two.trouble is None
    # Nothing beside a film is used where that is not wished.
    films = touched(tmp_path, "one.mp4", "one.srt")
    (tmp_path / "one.yaml").write_text("language: de\n")
    (one,) = Planner(FilmJob("-", "-"), alone=True).plan([StoredObject(films[0], 1, None)])
    assert (one.job.subtitles, one.job.config.language, one.uses) == (None, "en", ())
    # A bank of casts is asked by the film's name.
    (one,) = Planner(FilmJob("-", "-", cast="/bank.json")).plan([StoredObject(films[0], 1, None)])
    assert one.job.cast_key == "one"
    # Subtitles in the language of the description come first.
    beside = ["movie.en.srt", "movie.ger.srt"]
    assert subtitles_chosen(tmp_path / "austria", beside, "de-AT") == "movie.ger.srt"


LATIN = os.fsdecode(b"caf\xe9.mp4")


@pytest.mark.skipif(sys.platform == "darwin", reason="names must be UTF-8 there")
def test_a_name_that_is_no_text_is_the_trouble_of_its_film_alone(tmp_path: Path) -> None:
    for name in (LATIN, "new\nline.mp4", "plain.mp4"):
        (tmp_path / name).write_bytes(b"film")
    planned = Planner(FilmJob("-", "-"), str(tmp_path / "out")).plan(find_films([str(tmp_path)]))
    assert len(planned) == 3
    by_name = {Path(film.job.film).name: film for film in planned}
    assert by_name[LATIN].trouble is not None
    assert "caf\\xe9.mp4 is not in UTF-8" in by_name[LATIN].trouble.error[0]
    assert by_name["plain.mp4"].trouble is by_name["new\nline.mp4"].trouble is None
    rows = [
        FilmRow(name, film, film.trouble) for name, film in zip(film_labels(planned), planned, strict=True)
    ]
    text = as_lines(rows, 1)
    assert len(text.encode().splitlines()) == 4
    report = BatchReport(tmp_path / "r.json")
    report.write(lambda: rows, 1, ended=True)
    assert report.trouble is None
    # Programs get the name by which the file is found again.
    names = [Path(row["film"]).name for row in read_report(report.path)]
    assert all((tmp_path / name).exists() for name in names)
    assert json.loads(report.path.read_text(encoding="utf-8"))["ended"]


def version(size: int, changed: int = 0) -> StoredObject:
    return StoredObject("/films/a.mp4", size, datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=changed))


class Place:
    """A folder at each time, which is watched."""

    def __init__(self, settle: float) -> None:
        self.now = 0.0
        self.films: list[StoredObject] = []
        self.trouble: StorageError | None = None
        self.watch = Watch(self.look, settle, lambda: self.now)

    def look(self) -> list[StoredObject]:
        if self.trouble is not None:
            raise self.trouble
        return self.films

    def at(self, second: float, film: StoredObject) -> list[str]:
        self.now, self.films = second, [film]
        return [film.place for film in self.watch.settled()]


def test_a_film_is_taken_once_it_has_stayed_the_same() -> None:
    place = Place(10)
    assert place.at(0, version(100, 0)) == []
    assert [place.at(second, version(200, 6)) for second in (6, 12)] == [[], []]
    assert place.at(17, version(200, 6)) == ["/films/a.mp4"]
    assert place.at(30, version(200, 6)) == []
    # An empty file is no film yet.
    place = Place(1)
    assert [place.at(second, version(0)) for second in (0, 10, 20)] == [[], [], []]
    # A place that cannot be read for a while loses nothing.
    place = Place(0)
    place.trouble = StorageError("The network is gone.")
    assert place.at(0, version(5)) == []
    assert place.watch.trouble == "The network is gone."
    place.trouble = None
    assert place.at(10, version(5)) == ["/films/a.mp4"]
    assert place.watch.trouble is None


def test_two_hours_need_some_gigabytes_and_a_part_needs_no_more(tmp_path: Path) -> None:
    frames = tmp_path / "frames"
    frames.mkdir()
    for number in range(8):
        cv2.imwrite(str(frames / f"{number:05d}.jpg"), np.zeros((1080, 1920, 3), np.uint8))
    job = FilmJob(str(frames), str(tmp_path / "w"), load_config(None, ["engine=fake"]), rate="1/900")

    def needed(job: FilmJob) -> tuple[float, int]:
        """Seconds and bytes that a film will need, as it is let in or refused."""
        needs = []

        def refuse(need: Any) -> None:
            needs.append((need.film_seconds, need.disk))
            raise DiskFull("There is no room.")

        assert describe_film(job, begin=refuse).kind == "DiskFull"
        return needs[0]

    seconds, disk = needed(job)
    assert seconds == 7200
    assert 1e9 < disk < 6e9
    assert needed(replace(job, start=60, end=120))[1] <= disk
    assert needed(replace(job, makes=("mix:wav",)))[1] > disk + 1e9


@pytest.mark.parametrize(("films", "cores", "memory", "models", "count"), [
    (100, 16, 64_000_000_000, False, 8),
    (3, 16, 64_000_000_000, False, 3),
    (100, 16, 5_000_000_000, False, 2),
    (100, 1, 1_000_000_000, False, 1),
    (100, 16, 64_000_000_000, True, 1),
    (0, 16, None, False, 1),
])  # fmt: skip
def test_as_many_as_fit_at_once(films: int, cores: int, memory: int | None, models: bool, count: int) -> None:
    assert auto_jobs(films, cores, memory, loads_models=models) == count


def test_a_voice_is_told_of_where_something_is_to_be_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    spoken = ("engine=fake", "voice.name=openai:any", "voice.base_url=https://speech.example/v1")
    films = [
        PlannedFilm(FilmJob(f"/{n}.mp4", f"/{n}.shotad", load_config(None, spoken), makes=makes))
        for n, makes in enumerate(((), ("text",), ("ad",)))
    ]
    leaving = PrivacyNotices()
    assert leaving.of(films[:2]) == []
    (line,) = leaving.of(films[2:])
    assert "speech.example" in line
