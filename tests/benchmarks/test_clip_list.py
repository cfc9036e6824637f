"""The list of clips to tune and to judge by, and how they are fetched."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import av
import clips
import made_clips
import numpy as np
import PIL.Image
import pytest
import yaml


def test_halves_of_the_list_are_apart() -> None:
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
    # Made clips share no photograph between the halves.
    made = {clip.name: clip for clip in clips.read_clips().values() if clip.file is None}
    assert set(made) == set(made_clips.PLANS)
    taken: dict[str, set[str]] = {"tuning": set(), "judging": set()}
    for name, plan in made_clips.PLANS.items():
        assert (made[name].start, made[name].end) == (0, plan.seconds)
        assert 8 <= plan.seconds <= 20
        taken[made[name].half] |= {shot.still for shot in plan.shots if shot.still}
    assert not taken["tuning"] & taken["judging"]
    assert taken["tuning"] | taken["judging"] == set(clips.read_stills())
    # All clips are labelled within their part.
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
