"""Forgetting people: photos of a cast folder, and records of faces in work folders."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from filelock import FileLock

from shotad.core import Box, Member
from shotad.core.errors import UsageError, WorkFolderError
from shotad.description.cast_removal import (
    RemovedFaces,
    clear_all,
    clear_person,
    delete_photos,
    folders_with_faces,
    photos_to_forget,
    run_folder,
)
from shotad.description.casting import recognition as kept
from shotad.sight import Face, FaceTrack
from shotad.sight.facetracks import track_to_json

Row = npt.NDArray[np.float32]

ANN = Member("ann", "Ann")


LIKE_ANN, LIKE_BO, TURNED_ANN = (np.array(v, np.float32) for v in ((1, 0, 0), (0, 1, 0), (0.287, 0, 0.958)))


def track(shot: int, look: Row) -> dict[str, Any]:
    faces = (Face(Box(0.1, 0.1, 0.3, 0.3), float(shot), 0.9, ((0.1, 0.1),) * 5, 0.0),)
    return track_to_json(FaceTrack(shot, faces, look[None], (0,)))


def records(path: Path, shots: Sequence[Sequence[Row]]) -> None:
    rows = [
        {"key": f"k{i}", "shot": i, "models": "m", "frames": [], "tracks": [track(i, r) for r in looks]}
        for i, looks in enumerate(shots)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def shots_in(path: Path) -> list[int]:
    return [json.loads(line)["shot"] for line in path.read_text().splitlines()]


def embedding(row: Row) -> dict[str, str]:
    return {"embedding": base64.b64encode(row.astype("<f4").tobytes()).decode()}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A work folder of six shots: Ann, Bo, both, nobody, Ann turned away, Bo."""
    place = tmp_path / "movie.shotad"
    place.mkdir()
    shots = [[LIKE_ANN], [LIKE_BO], [LIKE_BO, LIKE_ANN], [], [TURNED_ANN], [LIKE_BO]]
    records(place / "faces.jsonl", shots)
    records(place / "discovered.jsonl", shots)
    photos = {"pa": embedding(LIKE_ANN), "pb": embedding(LIKE_BO), "px": {"trouble": "no face"}}
    (place / "cast-faces.json").write_text(json.dumps({"key": "k", "photos": photos}))
    tracks = [
        {"shot": 0, "person": "ann", "named": "ann"}, {"shot": 1, "person": "bo", "named": "bo"},
        {"shot": 2, "person": "bo", "named": "bo"}, {"shot": 2, "person": "ann", "named": None},
        {"shot": 4, "person": None, "named": None}, {"shot": 5, "person": "ann", "named": None},
    ]  # fmt: skip
    cast = [{"id": "ann", "name": "Ann", "shots": [0]}, {"id": "bo", "name": "Bo", "shots": [1, 2]}]
    tracks = [{**row, "first": row["shot"], "last": row["shot"], "looks": 1} for row in tracks]
    (place / "characters.json").write_text(json.dumps({"cast": cast, "tracks": tracks}))
    (place / "track.json").write_text("{}")
    return place


def test_of_one_person_go_the_shots_with_a_face_that_is_or_could_be_theirs(run: Path) -> None:
    found = clear_person(run, ANN, {"pa", "px"})
    assert found == RemovedFaces(run, (), ("cast-faces.json", "characters.json"), 4 + 3)
    # 5 goes too: there she was recognised, whatever it looks like.
    assert shots_in(run / "faces.jsonl") == [1, 3]
    assert shots_in(run / "discovered.jsonl") == [1, 3, 5]
    assert list(json.loads((run / "cast-faces.json").read_text())["photos"]) == ["pb"]
    left = json.loads((run / "characters.json").read_text())
    assert [row["id"] for row in left["cast"]] == ["bo"]
    assert [row["shot"] for row in left["tracks"]] == [1, 2, 4]
    assert "ann" not in (run / "characters.json").read_text()
    # Nothing tells whose the discovered are any more.
    assert clear_person(run, ANN, {"pa", "px"}).records == 3


def test_records_laid_aside_go_too_and_all_faces_where_nothing_tells_whose_they_are(run: Path) -> None:
    (run / "faces.jsonl").rename(run / "faces.aside.jsonl")
    assert clear_person(run, ANN, {"pa"}).records == 4 + 3
    assert shots_in(run / "faces.jsonl") == [1, 3]
    assert (run / "faces.aside.jsonl").read_text() == ""
    for name in ("characters.json", "discovered.jsonl"):
        (run / name).unlink()
    assert clear_person(run, ANN, {"pb"}) == RemovedFaces(run, (), ("cast-faces.json",), 2)
    assert shots_in(run / "faces.jsonl") == []


def test_everybody_takes_every_record_that_holds_faces(run: Path) -> None:
    names = {v for n, v in vars(kept).items() if n.isupper() and n[0] != "_" and isinstance(v, str)}
    assert names == {"faces", "discovered", "cast-faces", "characters"}
    assert {Path(name).stem for name in clear_all(run).removed} == names
    assert [p.name for p in run.iterdir() if p.name != ".lock"] == ["track.json"]
    assert clear_all(run) == clear_person(run, ANN, {"pa"}) == RemovedFaces(run)


def test_work_folders_are_found_and_left_alone_in_use(run: Path) -> None:
    (run.parent / "other.shotad").mkdir()
    assert run_folder(run) == run_folder(run.parent / "movie.mp4") == run
    assert folders_with_faces(run.parent / "cast") == (run,)
    with pytest.raises(UsageError, match="no work folder"):
        run_folder(run.parent)
    before = (run / "faces.jsonl").read_bytes()
    with FileLock(run / ".lock"), pytest.raises(WorkFolderError, match="in use"):
        clear_all(run)
    assert (run / "faces.jsonl").read_bytes() == before


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(path.name)
    return path


def test_photos_in_the_cast_folder_go_and_others_stay(tmp_path: Path) -> None:
    cast = tmp_path / "cast"
    mine = [put(cast / "ann" / name) for name in ("1.jpg", "2.jpg")]
    phone = put(cast / "ann" / "3.heic")
    outside, both = put(tmp_path / "family" / "ann.jpg"), put(cast / "both.jpg")
    link = cast / "link.jpg"
    link.symlink_to(outside)
    ann = Member("ann", photos=(*mine, outside, both, link))
    going, staying = photos_to_forget([ann], [Member("bo", photos=(both,))], cast)
    assert going == (*mine, link, phone)
    assert staying == (outside, both)
    delete_photos(going, cast)
    assert sorted(p.name for p in cast.rglob("*")) == ["both.jpg"]
    assert outside.read_text() == "ann.jpg"
    # Folders with something else in them stay.
    deep, notes = put(cast / "bo" / "deep" / "1.jpg"), put(cast / "bo" / "notes.txt")
    delete_photos([deep], cast)
    assert [p.name for p in (cast / "bo").rglob("*")] == [notes.name]
