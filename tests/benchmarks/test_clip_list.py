"""The list of clips to tune and to judge by, and how they are fetched."""

from __future__ import annotations

import hashlib
import itertools
import re
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import PIL.Image
import pytest
import yaml

from benchmarks import clips, made_clips
from shotad.core import NoProgress, WeightsError, weight_store


def test_the_list_is_whole_and_its_halves_are_apart() -> None:
    found = list(clips.read_clips().values())
    files = [clip.file for clip in found if clip.file]
    assert len({file.sha256 for file in files}) == len(files) >= 40
    for half in ("tuning", "judging"):
        mine = [clip for clip in found if clip.half == half]
        assert len(mine) >= 20
        assert {clip.kind for clip in mine} == {clip.kind for clip in found}
    for clip in found:
        assert 0 <= clip.start < clip.end <= 300, clip
    for file in (*files, *clips.read_stills().values()):
        assert re.fullmatch("[0-9a-f]{64}", file.sha256), file
        assert file.bytes > 10_000, file
        assert file.licence, file


def test_made_clips_share_no_photograph_between_the_halves() -> None:
    made = {clip.name: clip for clip in clips.read_clips().values() if clip.file is None}
    assert set(made) == set(made_clips.PLANS)
    taken: dict[str, set[str]] = {"tuning": set(), "judging": set()}
    for name, plan in made_clips.PLANS.items():
        assert (made[name].start, made[name].end) == (0, plan.seconds)
        assert 8 <= plan.seconds <= 20
        taken[made[name].half] |= {shot.still for shot in plan.shots if shot.still}
    assert not taken["tuning"] & taken["judging"]
    assert taken["tuning"] | taken["judging"] == set(clips.read_stills())


def test_made_clips_are_labelled_as_they_are_drawn() -> None:
    scenes = yaml.safe_load((clips.LABELS / "scenes.yaml").read_text("utf-8"))
    seen = yaml.safe_load((clips.LABELS / "seen.yaml").read_text("utf-8"))
    for name in made_clips.PLANS:
        assert (scenes[name], seen[name]) == made_clips.labels(name), name


def test_a_made_clip_shows_its_plan_and_is_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = tmp_path / "lake.png"
    PIL.Image.new("RGB", (800, 600), (40, 90, 160)).save(lake)
    plan = made_clips.PLANS["made-fade-in-out"]
    monkeypatch.setitem(
        made_clips.PLANS, "short", replace(plan, shots=plan.shots[:2], draw=made_clips.logo("A", 0.9))
    )
    made_clips.write_clip("short", {"lake": lake}, tmp_path / "short.mp4")
    with av.open(str(tmp_path / "short.mp4")) as film:
        pictures = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    with av.open(str(tmp_path / "short.mp4")) as film:
        sound = np.concatenate([frame.to_ndarray()[0] for frame in film.decode(audio=0)])
    assert len(pictures) == 4 * made_clips.RATE
    assert abs(len(sound) / 48000 - 4) < 0.1
    assert not sound.any()
    blue = np.array([picture[200, 100, 2] for picture in pictures], float)
    assert blue[:50].max() < 5
    assert abs(blue[75] - 80) < 12
    assert abs(blue[-1] - 160) < 12
    assert all(picture[30, 530].min() > 200 for picture in pictures), "the logo stands all the time"


def test_a_clip_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path))
    clip = clips.read_clips()["made-growing-light"]
    written: list[str] = []

    def write(name: str, stills: dict[str, Path], target: Path) -> None:
        assert not stills
        target.write_bytes(name.encode())
        written.append(name)

    monkeypatch.setattr(made_clips, "write_clip", write)
    assert clips.film_of(clip, NoProgress()) == clips.film_of(clip, NoProgress()) == clip.path
    assert written == [clip.path.read_text()] == ["made-growing-light"]


def test_only_the_named_file_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path / "cache"))
    film = tmp_path / "film.mp4"
    film.write_bytes(b"a film")
    row = {
        "name": "one",
        "half": "tuning",
        "kind": "x",
        "seconds": [0, 1],
        "git": "a/b@1",
        "path": "c d/e.mp4",
    }
    listed = tmp_path / "clips.yaml"
    listed.write_text(yaml.safe_dump([{**row, "sha256": "0" * 64, "bytes": 6, "licence": "CC0"}]))
    clip = clips.read_clips(listed)["one"]
    assert clip.file
    assert str(clip.file.sources[0]) == "https://raw.githubusercontent.com/a/b/1/c%20d/e.mp4"
    here = replace(clip.file, sources=(replace(clip.file.sources[0], url=film.as_uri()),))
    with pytest.raises(WeightsError, match="wanted 000"):
        weight_store.checked_file(here, NoProgress())
    right = replace(here, sha256=hashlib.sha256(b"a film").hexdigest())
    assert weight_store.checked_file(right, NoProgress()).read_bytes() == b"a film"


def test_a_source_that_is_not_known_is_refused(tmp_path: Path) -> None:
    (tmp_path / "clips.yaml").write_text(
        "- {name: one, half: tuning, kind: x, seconds: [0, 1], torrent: x, path: y}"
    )
    with pytest.raises(ValueError, match="one: give pypi, npm, git or made"):
        clips.read_clips(tmp_path / "clips.yaml")


MORE = {
    "people": None,
    "person": None,
    "posture": None,
    "thing": None,
    "text": {"title", "card", "sign", "caption", "credits", "logo", "screen"},
    "place": None,
    "light": None,
    "comes": {"left", "right", "above", "below"},
    "goes": {"left", "right", "above", "below"},
    "camera": None,
    "cut": None,
    "scale": {"extreme close-up", "close-up", "medium", "full", "long"},
}
"""Kinds of facts in seen.yaml, with the fifth words that they may have, where these are few."""
VALUES = {
    "person": {"man", "woman", "boy", "girl", "child", "person"},
    "place": {"indoors", "outdoors"},
    "light": {
        "day",
        "night",
        "lamps",
        "dim",
        "black",
        "fade from black",
        "fade to black",
        "fade to white",
        "dissolve",
        "flash",
    },
    "camera": {"left", "right", "up", "down", "closer", "away", "along", "round", "to and fro"},
    "cut": {"hard", "none"},
    "scale": MORE["scale"],
}


def test_all_clips_are_labelled_within_their_part() -> None:
    by_name = clips.read_clips()
    for file in ("scenes.yaml", "seen.yaml"):
        labels = yaml.safe_load((clips.LABELS / file).read_text("utf-8"))
        assert set(labels) == set(by_name), file
        for name, moments in labels.items():
            for moment in moments:
                start, end = moment[:2]
                assert by_name[name].start <= start < end <= by_name[name].end + 0.05, (name, moment)
            if file == "scenes.yaml":
                assert all(len(moment) == 3 and moment[2] for moment in moments), name
                assert [moment[0] for moment in moments] == sorted(moment[0] for moment in moments), name


def test_facts_are_of_known_kinds_and_do_not_contradict_each_other() -> None:
    for name, facts in yaml.safe_load((clips.LABELS / "seen.yaml").read_text("utf-8")).items():
        for fact in facts:
            _, _, kind, value, *more = fact
            assert value in VALUES.get(kind, {value}), (name, fact)
            assert value not in ("", None), (name, fact)
            assert len(more) == 1 if kind == "text" else len(more) <= 1, (name, fact)
            assert set(more) <= (MORE[kind] or set(more)), (name, fact)
            assert kind != "people" or value == "many" or isinstance(value, int), (name, fact)
        for kind in ("people", "scale", "cut"):
            spans = sorted(fact[:2] for fact in facts if fact[2] == kind)
            assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans)), (name, kind)
