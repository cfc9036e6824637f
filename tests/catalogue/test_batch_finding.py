"""Which films a batch takes, which folders they get, and what lies beside them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from shotad.batch import Found, Gathered, Planner, Wishes, gather, read_list
from shotad.batch.films import choose_subtitles
from shotad.batch.planning import Folders
from shotad.core import FilmError, load_config


def touched(folder: Path, *names: str) -> list[str]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    return [str(folder / name) for name in names]


def names(gathered: Gathered, folder: Path) -> list[str]:
    return [os.path.relpath(film.place, folder) for film in gathered.found]


def test_folders_patterns_and_films_are_taken_once_each(tmp_path: Path) -> None:
    touched(tmp_path, "b.mp4", "deep/down/a.mkv", "deep/c.txt", "b.shotad/b.described.mp4", ".hidden.mp4")
    assert names(gather([str(tmp_path)]), tmp_path) == ["b.mp4", "deep/down/a.mkv"]
    again = gather([str(tmp_path / "b.mp4"), str(tmp_path / "*.mp4"), str(tmp_path)])
    assert names(again, tmp_path) == ["b.mp4", "deep/down/a.mkv"]


def test_what_is_named_and_not_there_is_an_error_but_of_a_list_only_its_own_film(tmp_path: Path) -> None:
    (film,) = touched(tmp_path, "a.mp4")
    with pytest.raises(FilmError, match=r"nothing\.mp4"):
        gather([str(tmp_path / "nothing.mp4")])
    found = gather([], [film, str(tmp_path / "nothing.mp4")])
    assert names(found, tmp_path) == ["a.mp4"]
    planned = found.planned(Planner(Wishes()))
    assert planned[0].trouble is None
    assert planned[1].trouble is not None
    assert planned[1].trouble.kind == "FilmError"


def test_a_folder_of_numbered_frames_is_a_film_where_a_rate_is_given(tmp_path: Path) -> None:
    touched(tmp_path, "frames/00001.jpg")
    assert gather([str(tmp_path / "frames")]).found == ()
    (film,) = gather([str(tmp_path / "frames")], rate="3").found
    assert film.place == str(tmp_path / "frames")


def test_lists_hold_comments_and_paths_beside_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched(tmp_path, "films/a.mp4", "here/b.mp4")
    monkeypatch.chdir(tmp_path / "here")
    text = "# films\n\n  a.mp4  \nb.mp4\n/abs/c.mp4\ns3://bucket/d.mp4\nnowhere.mp4\n"
    assert read_list(str(tmp_path / "films" / "list.txt"), text) == [
        str(tmp_path / "films" / "a.mp4"),
        "b.mp4",
        "/abs/c.mp4",
        "s3://bucket/d.mp4",
        str(tmp_path / "films" / "nowhere.mp4"),
    ]
    assert read_list("-", "a.mp4\n") == ["a.mp4"]
    assert read_list("s3://bucket/x/list.txt", "a.mp4\n") == ["s3://bucket/x/a.mp4"]


def own(folders: list[str]) -> list[str]:
    return [os.path.basename(one) for one in folders]


def test_films_of_one_name_get_folders_apart(tmp_path: Path) -> None:
    films = touched(tmp_path, "a/movie.mp4", "a/movie.mkv", "b/movie.mp4", "b/other.mp4")
    beside = Folders().of(films)
    assert [os.path.relpath(one, tmp_path) for one in beside] == [
        "a/movie.shotad",
        "a/movie.mkv.shotad",
        "b/movie.shotad",
        "b/other.shotad",
    ]
    assert own(Folders(str(tmp_path / "out")).of(films)) == [
        "movie.shotad",
        "movie.mkv.shotad",
        "b-movie.shotad",
        "other.shotad",
    ]


def taken(folder: Path, film: str) -> None:
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps({"film": {"path": film}}))


def test_a_film_keeps_its_folder_when_others_of_its_name_come(tmp_path: Path) -> None:
    first, second = touched(tmp_path, "z/movie.mp4", "a/movie.mp4")
    out = tmp_path / "out"
    taken(out / "movie.shotad", first)
    # Sorted before it, yet later.
    assert own(Folders(str(out)).of([second, first])) == ["a-movie.shotad", "movie.shotad"]
    folders = Folders(str(out))
    assert own(folders.of([first])) == ["movie.shotad"]
    assert own(folders.of([second, first])) == ["a-movie.shotad", "movie.shotad"]


def test_the_folder_of_a_film_that_has_moved_goes_with_it(tmp_path: Path) -> None:
    (film,) = touched(tmp_path, "new/movie.mp4")
    taken(tmp_path / "out" / "movie.shotad", str(tmp_path / "old" / "movie.mp4"))
    assert own(Folders(str(tmp_path / "out")).of([film])) == ["movie.shotad"]


def test_a_library_that_is_copied_with_its_work_folders_keeps_them(tmp_path: Path) -> None:
    old, new = touched(tmp_path, "old/movie.mp4", "new/movie.mp4")
    taken(tmp_path / "new" / "movie.shotad", old)
    assert own(Folders().of([new])) == ["movie.shotad"]
    # Not where both are films of one batch, nor where it is another film of the same name.
    out = tmp_path / "out"
    taken(out / "movie.shotad", old)
    assert own(Folders(str(out)).of([new, old])) == ["new-movie.shotad", "movie.shotad"]
    Path(old).write_bytes(b"another")
    assert own(Folders(str(out)).of([new])) == ["new-movie.shotad"]


@settings(max_examples=40)
@given(
    st.lists(
        st.sampled_from([f"/f/{d}/{n}" for d in "abc" for n in ("m.mp4", "m.mkv", "m.mp4.avi", "n.mp4")]),
        unique=True,
    ),
    st.booleans(),
)
def test_no_two_films_ever_share_a_folder(films: list[str], out: bool) -> None:
    folders = Folders("/out" if out else None)
    half = len(films) // 2
    given_first = folders.of(films[:half])
    assert len(set(folders.of(films))) == len(films)
    assert folders.of(films[:half]) == given_first


@pytest.mark.parametrize(
    ("beside", "chosen"),
    [
        (["movie.srt", "movie.en.srt", "movie.vtt"], "movie.srt"),
        (["movie.de.vtt", "movie.en.srt"], "movie.en.srt"),
        (["movie.fr.srt", "movie.de.srt"], "movie.de.srt"),
        (["movie.eng.srt", "movie.eng.sdh.srt"], "movie.eng.sdh.srt"),
        (["movie.ad.vtt", "movie.forced.srt", "movie.en.signs.ass", "movie.commentary.srt"], None),
        (["movie.part.srt"], None),
        (["movies.srt", "movie.txt", "MOVIE.srt"], None),
        (["movie.pt-BR.srt"], "movie.pt-BR.srt"),
        (["movie.two.srt", "movie.two.mp4"], None),
        (["movie.EN.SRT"], "movie.EN.SRT"),
    ],
)  # fmt: skip
def test_subtitles_beside_a_film(beside: list[str], chosen: str | None) -> None:
    assert choose_subtitles("movie", beside, "en") == chosen


def test_subtitles_in_the_language_of_the_description_come_first() -> None:
    assert choose_subtitles("movie", ["movie.en.srt", "movie.ger.srt"], "de-AT") == "movie.ger.srt"


def test_what_lies_nearer_to_a_film_goes_before_what_is_said_of_all(tmp_path: Path) -> None:
    films = touched(tmp_path, "a/one.mp4", "a/two.mp4", "b/three.mp4")
    (tmp_path / "a" / "shotad.yaml").write_text("language: fr\nslots: {detail: rich}\n")
    (tmp_path / "a" / "one.yaml").write_text("language: de\n")
    (tmp_path / "a" / "one.note.txt").write_text("A film about a cat.\n")
    touched(tmp_path, "a/one.srt", "a/cast/cast.yaml", "a/one.cast.yaml")
    wishes = Wishes(config=load_config(None, ["slots.minimum=3"], language="en"), cast="/all/cast")
    one, two, three = Planner(wishes).plan([Found(film, 1, None) for film in films])
    assert [film.job.config.language for film in (one, two, three)] == ["de", "fr", "en"]
    assert [film.job.config.slots.detail for film in (one, two, three)] == ["rich", "rich", "normal"]
    assert {film.job.config.slots.minimum for film in (one, two, three)} == {3.0}
    assert one.job.config.prompt.note == "A film about a cat."
    assert two.job.config.prompt.note == ""
    assert one.job.subtitles == films[0].replace(".mp4", ".srt")
    assert [film.job.cast for film in (one, two, three)] == [
        str(tmp_path / "a" / "one.cast.yaml"),
        str(tmp_path / "a" / "cast"),
        "/all/cast",
    ]
    assert one.uses == ("shotad.yaml", "one.yaml", "one.srt", "one.cast.yaml", "one.note.txt")
    assert two.uses == ("shotad.yaml", "cast")
    assert three.uses == ()


def test_settings_beside_a_film_that_cannot_be_are_that_films_failure(tmp_path: Path) -> None:
    films = touched(tmp_path, "one.mp4", "two.mp4")
    (tmp_path / "one.yaml").write_text("languge: de\n")
    one, two = Planner(Wishes()).plan([Found(film, 1, None) for film in films])
    assert one.trouble is not None
    assert one.trouble.kind == "ConfigError"
    assert one.trouble.error is not None
    assert "language" in one.trouble.error[1]
    assert two.trouble is None


def test_nothing_beside_a_film_is_used_where_that_is_not_wished(tmp_path: Path) -> None:
    films = touched(tmp_path, "one.mp4", "one.srt")
    (tmp_path / "one.yaml").write_text("language: de\n")
    (one,) = Planner(Wishes(alone=True)).plan([Found(films[0], 1, None)])
    assert (one.job.subtitles, one.job.config.language, one.uses) == (None, "en", ())


def test_a_bank_of_casts_is_asked_by_the_films_name(tmp_path: Path) -> None:
    films = touched(tmp_path, "0001_Movie.mp4")
    (one,) = Planner(Wishes(cast="/bank.json")).plan([Found(films[0], 1, None)])
    assert one.job.cast_key == "0001_Movie"
