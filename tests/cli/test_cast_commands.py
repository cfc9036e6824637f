"""``shotad cast`` as a user meets it: discover, show, name, merge, forget."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.program import FAKE, Said, Shotad
from tests.painted_faces import Head, Take, paint_film, photo

CAST = """\
# Season one.
people:
  - id: person-01
    name: Ann Lee  # sure
    speak: Ann
    pronoun: she
    photos: person-01
  - id: person-02
    name:
    photos: [person-02, bo.png]
  - id: person-03
    nameless: true
"""


@pytest.fixture
def cast(tmp_path: Path) -> Path:
    folder = tmp_path / "my cast"
    faces = {"person-01/1.jpg": "ann", "person-01/2.jpg": "cy", "person-02/1.jpg": "bo", "bo.png": "bo"}
    for name, who in faces.items():
        photo(folder / name, who)
    (folder / "cast.yaml").write_text(CAST)
    return folder


def text_of(cast: Path) -> str:
    return (cast / "cast.yaml").read_text()


def test_who_is_in_a_cast_is_said_line_by_line(shotad: Shotad, cast: Path) -> None:
    said = shotad("cast", "show", cast)
    assert said == Said(0, said.out, "")
    assert said.out.splitlines() == [
        f"{cast / 'cast.yaml'}: 3 people.",
        "1. person-01: Ann Lee, AD says Ann. Pronoun she. 2 photos.",
        "2. person-02: no name yet. 2 photos.",
        "3. person-03: extra, never named. No photos.",
        "Note: Without a name yet, so never named: person-02.",
        "Note: Without photos, so never recognised: person-03.",
    ]


def test_programs_get_it_as_json(shotad: Shotad, cast: Path) -> None:
    shotad("cast", "name", cast, "2", "Bo", "--reveal-at", "ep1=never", "--reveal-at", "5")
    value = json.loads(shotad("cast", "show", cast, "--json").out)
    assert value["source"] == str(cast / "cast.yaml")
    assert len(value["warnings"]) == 2
    assert value["people"][1] == {
        "number": 2, "id": "person-02", "name": "Bo", "says": "Bo", "say_as": "", "aliases": [],
        "pronoun": "", "descriptor": "",
        "reveal_at": [{"film": "ep1", "seconds": None}, {"film": None, "seconds": 5.0}],
        "photos": [str(cast / "person-02/1.jpg"), str(cast / "bo.png")], "nameless": False,
    }  # fmt: skip


def test_a_bank_is_shown_with_its_pictures(shotad: Shotad, tmp_path: Path) -> None:
    bank = tmp_path / "bank.json"
    bank.write_text('{"tt1": [{"id": "nm1", "role": "Queen"}], "tt2": []}')
    photo(tmp_path / "faces" / "nm1.jpg", "ann")
    said = shotad("cast", "show", bank, "--cast-key", "tt1", "--cast-photos", tmp_path / "faces")
    assert said.out.splitlines()[1:] == ["1. nm1: Queen. 1 photo."]
    assert "--cast-key: tt1, tt2" in shotad("cast", "show", bank).err
    assert "only read" in shotad("cast", "name", bank, "1", "x").err


def test_how_a_name_is_said_is_filled_in_and_cleared_and_extras_are_made_and_unmade(shotad, cast):
    said = shotad("cast", "name", cast, "1", "--say-as", "AN lee").out
    assert said == "1. person-01: Ann Lee, AD says Ann. Said as AN lee. Pronoun she. 2 photos.\n"
    assert "say_as: AN lee" in text_of(cast)
    assert said in shotad("cast", "show", cast).out
    assert json.loads(shotad("cast", "show", cast, "--json").out)["people"][0]["say_as"] == "AN lee"
    assert "Said as" not in shotad("cast", "name", cast, "1", "--say-as", "").out
    said = shotad("cast", "name", cast, "person-02", "--nameless").out
    assert said == "2. person-02: extra, never named. 2 photos.\n"
    assert "3. person-03: Cy. No photos." in shotad("cast", "name", cast, "3", "Cy").out


def test_two_entries_become_one_person(shotad: Shotad, cast: Path) -> None:
    shotad("cast", "name", cast, "2", "Doctor Lee", "--descriptor", "the doctor")
    said = shotad("cast", "merge", cast, "doctor lee", "person-01", "--yes")
    assert said.out == (
        "1. person-01: Ann Lee, AD says Ann. Also Doctor Lee. Pronoun she. 4 photos. "
        "Without the name: the doctor.\n"
    )
    assert text_of(cast) == (
        CAST[: CAST.index("    pronoun")]
        + "    aliases: [Doctor Lee]\n    pronoun: she\n    descriptor: the doctor\n"
        "    photos: [person-01, person-02, bo.png]\n  - id: person-03\n    nameless: true\n"
    )


def test_a_name_that_two_extras_share_is_nobodys(shotad: Shotad, cast: Path) -> None:
    (cast / "cast.yaml").write_text(
        f"{CAST}  - {{id: x-1, name: Guard, nameless: true}}\n  - {{id: x-2, name: Guard, nameless: true}}\n"
    )
    said = shotad("cast", "name", cast, "guard", "Bo")
    assert (said.code, said.out) == (1, "")
    assert "Several people of the cast are called 'guard'. Give the id: x-1, x-2." in said.err


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1), ("", 2)])
def test_two_who_both_have_names_are_not_merged_unasked(shotad, cast, typed, code):
    shotad("cast", "name", cast, "2", "Bo")
    before = text_of(cast)
    said = shotad("cast", "merge", cast, "2", "1", typed=typed)
    assert said.code == code
    assert "person-02 is called Bo, and person-01 is called Ann Lee." in said.err
    assert ("Add --yes" in said.err or "add --yes" in said.err) == (code == 2)
    assert (text_of(cast) == before) == bool(code)
    assert (cast / "merged.json").exists() == (code == 0)


def test_a_merge_is_undone_unless_the_file_was_changed_since(shotad: Shotad, cast: Path) -> None:
    # Also in a folder of photos alone.
    (cast / "cast.yaml").unlink()
    before = shotad("cast", "show", cast).out
    shotad("cast", "merge", cast, "1", "2", "--yes")
    assert (cast / "cast.yaml").exists()
    assert shotad("cast", "merge", cast, "--undo").code == 0
    assert shotad("cast", "show", cast).out == before
    (cast / "cast.yaml").write_text(CAST)
    shotad("cast", "merge", cast, "2", "1")
    assert text_of(cast) != CAST
    said = shotad("cast", "merge", cast, "--undo")
    assert said == Said(0, f"The last merge of {cast / 'cast.yaml'} is undone.\n", "")
    assert text_of(cast) == CAST
    assert shotad("cast", "merge", cast, "--undo").code == 1, "once"
    shotad("cast", "merge", cast, "2", "1")
    shotad("cast", "name", cast, "1", "Anna")
    now = text_of(cast)
    said = shotad("cast", "merge", cast, "--undo")
    assert (said.code, text_of(cast)) == (1, now)
    assert "was changed since the merge" in said.err
    assert json.loads((cast / "merged.json").read_text())["before"] == CAST
    shotad("cast", "forget", cast, "Anna", "--yes")
    assert not (cast / "merged.json").exists(), "it holds the entry"


def test_a_person_is_forgotten_on_the_overview_too(shotad: Shotad, cast: Path, tmp_path: Path) -> None:
    (cast / "overview.html").write_text("<h2>Ann Lee (person-01)</h2>")
    outside = photo(tmp_path / "family.png", "stranger")
    text = CAST.replace("photos: person-01", f"photos: [person-01, '{outside}']") + "# Ann Lee again\n"
    (cast / "cast.yaml").write_text(text)
    said = shotad("cast", "forget", cast, "ann", "--yes")
    assert said.code == 0
    assert said.out.splitlines() == [
        "Forgotten: person-01 (Ann Lee).",
        "2 photos deleted.",
        f"Note: Not deleted (outside the cast folder, or another person's too): {outside}",
        f"Note: The name Ann Lee is still in {cast / 'cast.yaml'}, line 8.",
    ]
    assert not (cast / "person-01").exists()
    assert outside.exists()
    assert (cast / "person-02" / "1.jpg").exists()
    assert "person-01" not in text_of(cast)
    page = (cast / "overview.html").read_text()
    assert "person-02" in page
    assert "Ann Lee" not in page
    assert "person-01/" not in page, "no picture"


def test_one_is_asked_first(shotad: Shotad, cast: Path) -> None:
    for typed, code in (("n\n", 1), ("\n", 1), ("y\n", 0)):
        heard = shotad("cast", "forget", cast, "2", typed=typed)
        assert (heard.code, "Nothing was deleted." in heard.err) == (code, bool(code))
        assert "To forget person-02: 2 photos and the entry will be deleted. This cannot be" in heard.err
        assert (cast / "bo.png").exists() == bool(code)


@pytest.mark.usefixtures("painted_faces")
def test_work_folders_elsewhere_are_known_and_names_go_from_what_was_compared(shotad, tmp_path):
    takes = tuple(Take(2, (Head(who),)) for who in ("ann", "bo", "cy"))
    (tmp_path / "films").mkdir()
    film, cast = paint_film(tmp_path / "films" / "film.mp4", takes), tmp_path / "people" / "cast"
    for who in ("ann", "bo", "stranger"):
        photo(cast / f"{who}.png", who)
    runs = [tmp_path / "out" / name for name in ("one", "two")]
    for run in runs:
        said = shotad("describe", film, *FAKE, "--cast", cast, "--out", run, "--no-sheet", "--quiet")
        assert said == Said(0, "", "")
    told = shotad("cast", "forget", cast, "stranger", "--yes", "--film-folder", runs[0])
    assert f"These work folders still hold face data: {runs[1]}." in told.out
    assert f"{runs[0]}: material.json removed, cast-faces.json changed, characters.json changed" in told.out
    assert "stranger" not in (runs[0] / "characters.json").read_text()
    # Whom nobody recognised is named there too.
    assert "stranger" in (runs[1] / "characters.json").read_text()
    rows = json.loads((runs[0] / "characters.json").read_text())
    rows["tracks"][2]["reason"] = "ann is too near to bo"
    (runs[0] / "characters.json").write_text(json.dumps(rows))
    shotad("cast", "forget", cast, "bo", "--yes", "--film-folder", runs[0])
    assert '"bo' not in (left := (runs[0] / "characters.json").read_text())
    assert "too near" not in left
    done = shotad("cast", "forget", cast, "--all", "--yes", *(w for r in runs for w in ("--film-folder", r)))
    assert done.code == 0
    assert not (cast / ".used-in").exists()


def test_faces_go_where_the_cast_is_a_bank(shotad: Shotad, tmp_path: Path) -> None:
    bank, work = tmp_path / "bank.json", tmp_path / "film.shotad"
    bank.write_text('{"tt1": [{"id": "a", "name": "A", "role": "Ann"}]}')
    work.mkdir()
    for name in ("faces.jsonl", "cast-faces.json", "characters.json", "track.json"):
        (work / name).write_text("{}")
    assert "--film-folder" in shotad("cast", "forget", bank, "--all", "--yes").err
    assert shotad("cast", "forget", bank, "Ann", "--film-folder", work, "--yes").code == 2
    said = shotad("cast", "forget", bank, "--all", "--film-folder", work, "--yes")
    assert said.code == 0, said.err
    assert said.out.startswith(f"{work}: faces.jsonl removed, cast-faces.json removed")
    assert sorted(p.name for p in work.iterdir() if p.name != ".lock") == ["track.json"]
    assert bank.exists()


TAKES = (
    Take(2.0, (Head("ann", (0.25, 0.5), (0.4, 0.5)),)),
    Take(1.5, (Head("bo", (0.75, 0.5), (0.75, 0.5)),)),
    Take(1.5, (Head("ann", (0.7, 0.5), (0.7, 0.5)),)),
)


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    paint_film(folder / "ep one.mp4", TAKES)
    paint_film(folder / "empty.mp4", (Take(1.0), Take(1.0)))
    return folder


@pytest.mark.usefixtures("painted_faces")
def test_the_three_commands_of_a_newcomer_begin_here(shotad: Shotad, films: Path, tmp_path: Path) -> None:
    # The cast is beside the film and called as it is.
    film, cast = tmp_path / "movie.part.mp4", tmp_path / "movie.part.cast"
    shutil.copyfile(films / "ep one.mp4", film)
    words = ("cast", "discover", film, "--out", tmp_path / "work")
    assert shotad(*words).code == 0
    assert shotad("cast", "name", cast, "person-01", "Ann Lee").code == 0
    assert "Ann Lee" in (cast / "overview.html").read_text()
    again = shotad(*words)
    assert "as before; Ann Lee" in again.out
    assert "2 known before, 0 new" in again.out
    assert f"shotad cast name {cast} person-02" in again.out


@pytest.mark.usefixtures("painted_faces")
def test_no_face_is_no_error_and_a_bank_is_refused(shotad: Shotad, films: Path, tmp_path: Path) -> None:
    empty, cast, out = films / "empty.mp4", tmp_path / "x.cast", tmp_path / "w"
    said = shotad("cast", "discover", empty, "--cast", cast, "--out", out, "--plain")
    assert said.code == 0
    assert "No faces were found in empty.mp4" in said.out
    assert not cast.exists()
    (tmp_path / "bank.json").write_text("{}")
    said = shotad("cast", "discover", films / "ep one.mp4", "--cast", tmp_path / "bank.json", "--out", out)
    assert said.code == 1
    assert "is no cast folder" in said.err
