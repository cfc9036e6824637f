"""A forced run on a cluster takes away what earlier ones were told, on this machine and in a store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.batch import done_before
from shotad.batch.describing import describe_film
from shotad.batch.jobs import FilmJob
from shotad.batch.ray.cluster import RaySettings, Register
from shotad.batch.ray.preparing import Preparing, begin_anew
from shotad.batch.ray.rows import Parts
from shotad.core import load_config
from tests.media import FilmSpec, make_film

SETTINGS = (
    *("engine=fake", "speech.source=none", "slots.find_credits=false", "scale.method=none"),
    *("threads.features=grid", "frames.min_pixels=12544", "frames.max_pixels=25088"),
)
TOLD = {"stage1.jsonl", "stage1.aside.jsonl", "stage2.jsonl", "done.json"}
SPOKEN = {"render.json", "shorter.jsonl", "voice/a.flac"}
KEPT = {"track.json", "shots.json", "cast.yaml"}


def filled(folder: Path) -> None:
    for name in (*TOLD, *SPOKEN, *KEPT):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}\n")


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_was_spoken_goes_only_where_it_is_spoken_anew(tmp_path: Path) -> None:
    job = FilmJob("film.mp4", str(tmp_path))
    filled(tmp_path)
    Parts(job.folder).add("s1", "k", {"slot": "s1", "error": None})
    begin_anew(job, tmp_path)
    assert files(tmp_path) == SPOKEN | KEPT
    begin_anew(FilmJob("film.mp4", str(tmp_path), makes=("film",)), tmp_path)
    assert files(tmp_path) == KEPT


def test_a_folder_in_a_store_loses_the_same_as_its_copy(tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason='a store needs fsspec: pip install "shotad[s3]"')
    from shotad.batch.store import Store

    place = f"memory://anew-{tmp_path.name}/film.shotad"
    store = Store(place)
    for name in (*TOLD, *SPOKEN, *KEPT):
        store.write(f"{place}/{name}", b"{}\n", over=None)
    filled(tmp_path)
    begin_anew(FilmJob("film.mp4", place, makes=("film",)), tmp_path)
    assert {entry.place.removeprefix(f"{place}/") for entry in store.entries(place)} == KEPT
    assert files(tmp_path) == KEPT


@pytest.mark.slow
def test_preparing_begins_anew_once_and_an_attempt_after_a_lost_one_keeps_what_was_told(
    tmp_path: Path,
) -> None:
    pytest.importorskip("pyarrow", reason='rows are packed by pyarrow: pip install "shotad[ray]"')
    film = str(make_film(FilmSpec(frames=250, cuts=(60, 110, 200))).path)
    job = FilmJob(film, str(tmp_path / "w"), config=load_config((), SETTINGS), force=True)
    assert describe_film(job).state == "done"
    assert done_before(replace(job, force=False)) is not None
    register: Any = Register()

    first = [row.question for row in Preparing(register, RaySettings()).rows(0, job)]
    asked = [question for question in first if question is not None]
    assert asked
    assert all(question.clip is not None and not question.known for question in asked), "all is asked again"
    assert done_before(replace(job, force=False)) is None, "who finishes the film would leave it alone"

    slot = asked[0].plan.slot.id
    assert not (tmp_path / "w/stage1.jsonl").exists()
    Parts(job.folder).add(slot, "told on this run", {"slot": slot, "error": None})
    again = [row.question for row in Preparing(register, RaySettings()).rows(0, job)]
    assert [one.known for one in again if one is not None and one.known] == [("told on this run",)]
