"""Who is in which clip, on films of painted heads: the whole way of ``describe --cast`` with a fake engine; and the faces of
shots, each picture read once, again only where it has to be."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    Interval,
    NoProgress,
    RecordLog,
    RunInputs,
    RunSettings,
    Shot,
    WorkFolder,
    load_config,
)
from shotad.core.runsettings import GivenCast
from shotad.description import DescribeResult, Engines, redo
from shotad.description.casting.recognition import (
    FaceSearch,
    RecognisedMember,
    known_faces,
    read_faces,
    ticks_in,
)
from shotad.film import Picture, open_film
from tests.painted_faces import (
    HEADS,
    Head,
    PaintedFaces,
    Take,
    paint_film,
    photo,
)
from tests.runs import QUICK, SMALL, Talker, rows, run

TAKES = (
    Take(4, (Head("ann", (0.2, 0.5), (0.6, 0.5)),)), Take(4, (Head("bo"),)),
    Take(4, (Head("ann", (0.3, 0.5), (0.3, 0.5)), Head("stranger", (0.75, 0.5), (0.75, 0.5)))),
    Take(4, (Head("stranger"),)), Take(4),
)  # fmt: skip
CUTS = (0, 4, 8, 12, 16, 20)
ALONE = ("threads.features=none", "context.past=0", "context.future=0")
SLOTS = "start,end\n" + "\n".join(f"{a + 0.5},{b - 0.5}" for a, b in itertools.pairwise(CUTS)) + "\n"


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return paint_film(tmp_path_factory.mktemp("film") / "heads.mp4", TAKES)


def cast_in(folder: Path, **more: str) -> GivenCast:
    """Ann and Bo with a photo each, and whatever else is to stand under them."""
    for who in ("ann", "bo"):
        photo(folder / f"{who}.png", who)
    entries = [
        f"  - id: {who}\n    name: {name}\n    photos: {who}.png\n{more.get(who, '')}"
        for who, name in (("ann", "Ann Lee"), ("bo", "Bo"))
    ]
    (folder / "cast.yaml").write_text("people:\n" + "".join(entries))
    return GivenCast(folder / "cast.yaml")


def described(
    film: Path, out: Path, cast: GivenCast | None, *how: str, **given: Any
) -> tuple[DescribeResult, Talker]:
    slots = out.parent / "slots.csv"
    slots.write_text(SLOTS)
    asked = RunInputs(slots=slots, cast=cast, **given)
    outcome, looks, _ = run(out, *ALONE, *how, film=film, given=asked)
    return outcome, looks


def prompt_of(record: dict[str, Any]) -> str:
    return str(record["prompt"][-1]["text"])


def test_names_stand_in_the_prompts_of_clips_that_show_them_and_nothing_else_changes(
    film, tmp_path, painted_faces
):
    outcome, _ = described(film, tmp_path / "w", None)
    assert painted_faces.shown == 0
    assert outcome.recognised is None
    assert not [*(tmp_path / "w").glob("*faces.json*"), *(tmp_path / "w").glob("characters.json")]
    before = {record["slot"]: record["key"] for record in rows(tmp_path / "w", "stage1")}
    outcome, looks = described(film, tmp_path / "w", cast_in(tmp_path))
    named = [[c["called"] for c in record["characters"]] for record in rows(tmp_path / "w", "stage1")]
    assert named == [["Ann Lee"], ["Bo"], ["Ann Lee"], [], []]
    told = ["Ann" in prompt_of(record) for record in rows(tmp_path / "w", "stage1")]
    assert told == [name == ["Ann Lee"] for name in named]
    assert outcome.recognised == (RecognisedMember("Ann Lee", 2), RecognisedMember("Bo", 1))
    after = {record["slot"]: record["key"] for record in rows(tmp_path / "w", "stage1")}
    changed = [slot for slot in before if before[slot] != after[slot]]
    assert changed == ["s00000500", "s00004500", "s00008500"]
    assert len(looks.asked) == 3


def test_marks_are_painted_around_the_heads(film: Path, tmp_path: Path, painted_faces: PaintedFaces) -> None:
    plain, marked = (
        described(
            film, tmp_path / name, cast_in(tmp_path), f"overlay.characters={how}", "overlay.label=none"
        )[1]
        for name, how in (("plain", "none"), ("marked", "ellipses"))
    )
    assert plain.asked
    assert len(plain.asked) == len(marked.asked)
    for one, other in zip(plain.asked, marked.asked, strict=True):
        assert one.clip is not None
        assert other.clip is not None
        differ = np.abs(one.clip.images.astype(int) - other.clip.images.astype(int)).max(axis=3) > 30
        # Ann in the first and the third slot, Bo in the second; a stranger and an empty room stay as they are.
        seen = one.slot_id in ("s00000500", "s00004500", "s00008500")
        assert differ.any() == seen, one.slot_id
        if not seen:
            continue
        head = HEADS["bo" if one.slot_id == "s00004500" else "ann"]
        for image, change in zip(one.clip.images, differ, strict=True):
            painted = np.nonzero(change)
            of_head = np.nonzero(np.abs(image.astype(int) - np.array(head)).max(axis=2) < 60)
            assert len(painted[0]) > 0
            for axis in (0, 1):
                middle = (painted[axis].min() + painted[axis].max()) / 2
                assert middle == pytest.approx((of_head[axis].min() + of_head[axis].max()) / 2, abs=4)


@pytest.mark.usefixtures("painted_faces")
def test_a_name_waits_until_the_film_reveals_it_and_a_line_that_does_not_is_told(film, tmp_path):
    cast = cast_in(tmp_path, ann='    reveal_at: "0:07"\n    descriptor: the woman in red\n')
    clean, _ = described(film, tmp_path / "w", cast)
    assert not [warning for warning in clean.warnings if warning.startswith("L7")]
    first, _, third, *_ = rows(tmp_path / "w", "stage1")
    assert [c["called"] for c in first["characters"]] == ["the woman in red"]
    assert "Ann" not in prompt_of(first)
    assert [c["called"] for c in third["characters"]] == ["Ann Lee"]
    track = tmp_path / "w" / "track.json"
    edited = json.loads(track.read_text())
    edited["cues"][0]["text"] = "Ann Lee waves."
    edited["cues"][2]["text"] = "Ann Lee sits down."
    track.write_text(json.dumps(edited))
    outcome, _ = described(film, tmp_path / "w", cast)
    (told,) = [warning for warning in outcome.warnings if warning.startswith("L7")]
    assert "00:00:00.500" in told
    assert "Ann Lee" in told


@pytest.mark.usefixtures("painted_faces")
def test_a_nameless_one_is_nobodys_double_and_a_reveal_of_another_film_is_told(film, tmp_path):
    cast = cast_in(tmp_path, ann="    reveal_at: {episode-2: never}\n")
    text = (tmp_path / "cast.yaml").read_text().replace("name: Bo\n", "name:\n")
    (tmp_path / "cast.yaml").write_text(text)
    outcome, _ = described(film, tmp_path / "w", cast)
    assert outcome.recognised == (RecognisedMember("Ann Lee", 2),)
    assert any("episode-2" in warning and "heads" in warning for warning in outcome.warnings)
    assert [len(record["characters"]) for record in rows(tmp_path / "w", "stage1")] == [1, 0, 1, 0, 0]
    tracks = json.loads((tmp_path / "w" / "characters.json").read_text())["tracks"]
    assert [(row["shot"], row["person"], row["named"]) for row in tracks] == [
        (0, "ann", "ann"), (1, "bo", None), (2, "ann", "ann"), (2, None, None), (3, None, None),
    ]  # fmt: skip
    assert all(row["reason"] for row in tracks if row["named"] is None)


def test_a_redo_sees_the_same_people_alone(film: Path, tmp_path: Path, painted_faces: PaintedFaces) -> None:
    cast = cast_in(tmp_path)
    outcome, _ = described(film, tmp_path / "w", cast)
    records = {p: (tmp_path / "w" / p).read_bytes() for p in ("faces.jsonl", "characters.json")}
    painted_faces.shown = 0
    config = load_config(None, (*QUICK, *SMALL, *ALONE, "speech.source=none"))
    looks = Talker("looks")
    engines = Engines(looks, Talker("writes"))
    settings = RunSettings(config, film, RunInputs(slots=tmp_path / "slots.csv", cast=cast))
    with open_film(film) as opened, WorkFolder(tmp_path / "w") as folder:
        redo(opened, folder, settings, [outcome.track.cues[2].id], engines=engines, sheet=False)
    assert painted_faces.shown == 0
    (asked,) = looks.asked
    assert "Ann Lee" in asked.messages[-1].text
    assert records == {p: (tmp_path / "w" / p).read_bytes() for p in records}


def test_frames_decided_singly_are_the_same_and_names_in_subtitles_are_offered(film, tmp_path, painted_faces):
    subtitles = tmp_path / "film.srt"
    subtitles.write_text("1\n00:00:00,100 --> 00:00:00,400\nCY: Where is Bo?\n")
    how = ("cast.rules=paper", "cast.threshold=0.2", "speech.source=auto")
    described(film, tmp_path / "w", cast_in(tmp_path), *how, subtitles=subtitles)
    assert "Bo" in [heard["name"] for heard in rows(tmp_path / "w", "stage1")[0]["heard"]]
    named = [[c["called"] for c in record["characters"]] for record in rows(tmp_path / "w", "stage1")]
    assert named == [["Ann Lee"], ["Bo"], ["Ann Lee"], [], []]
    shown = sum(len(set(s["seconds"])) for r in rows(tmp_path / "w", "stage1") for s in r["shots"])
    assert painted_faces.shown <= shown + 2


SHORT = (
    Take(2, (Head("ann", (0.3, 0.5), (0.6, 0.5)),)), Take(2, (Head("bo"),)), Take(2),
    Take(2, (Head("ann", (0.3, 0.5), (0.3, 0.5)), Head("cy", (0.7, 0.5), (0.7, 0.5)))),
)  # fmt: skip
SHOTS = [Shot(i, Interval(2.0 * i, 2.0 * i + 2)) for i in range(4)]


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return paint_film(tmp_path_factory.mktemp("film") / "short.mp4", SHORT)


def wanted(rate: float = 4.0, frames: Sequence[float] = ()) -> list[FaceSearch]:
    return [
        FaceSearch(
            shot,
            tuple(ticks_in(shot.interval.start, shot.interval.end, rate)),
            tuple(second for second in frames if shot.interval.contains(second)),
        )
        for shot in SHOTS
    ]


def test_each_shot_has_its_faces_and_the_moments_at_which_frames_came_up(short: Path, tmp_path: Path) -> None:
    models, asked = PaintedFaces(), []

    with open_film(short) as opened:

        def pictures(seconds: Sequence[float]) -> Iterator[Picture]:
            asked.append(list(seconds))
            return opened.pictures(seconds)

        log = RecordLog(tmp_path / "faces.jsonl")
        wants = wanted(frames=(0.1, 0.53, 3.99))
        found = list(read_faces(wants, pictures, "film", models, log, NoProgress()))
    assert len(asked) == 1
    assert asked[0] == sorted(set(asked[0]))
    assert models.shown == 4 * 8  # the frames that are only shown are not looked at
    assert [len(one.tracks) for one in found] == [1, 1, 0, 2]
    assert found[0].frame_times == pytest.approx({0.1: 2 / 24, 0.53: 12 / 24})
    box = found[0].tracks[0].box_at(12 / 24)
    assert box is not None
    assert box.centre[0] == pytest.approx(0.3 + 0.3 * 12 / 47, abs=0.02)


def test_a_killed_run_goes_on_and_stale_records_go(short: Path, tmp_path: Path) -> None:
    log = tmp_path / "faces.jsonl"
    with open_film(short) as opened:
        pictures = opened.pictures
        half = read_faces(wanted(), pictures, "film", PaintedFaces(), RecordLog(log), NoProgress())
        next(half), next(half)
        half.close()
        models = PaintedFaces()
        list(read_faces(wanted(), pictures, "film", models, RecordLog(log), NoProgress()))
        assert models.shown == 2 * 8
        list(read_faces(wanted(2.0)[:1], pictures, "film", models, RecordLog(log), NoProgress(), tidy=False))
        assert len(log.read_text().splitlines()) == 5
        assert len(known_faces(RecordLog(log), SHOTS, models)) == 5
        list(read_faces(wanted(2.0)[:1], pictures, "film", models, RecordLog(log), NoProgress()))
    assert len(log.read_text().splitlines()) == 1
