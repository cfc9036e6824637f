"""The list of clips to tune and to judge by, their labels, and how what is found is held against them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import av
import clips
import cuts
import made_clips
import numpy as np
import PIL.Image
import pytest
import yaml
from clips import LABELS, read_clips
from common import FILMS
from cuts import Truth, count
from statements import FILES, read_verdicts, table
from threads import labelled_clips


def test_halves_of_the_list_are_apart() -> None:
    found = read_clips()
    files = [clip.file for clip in found.values() if clip.file]
    assert len({file.sha256 for file in files}) == len(files) >= 40
    for file in (*files, *clips.read_stills().values()):
        assert re.fullmatch("[0-9a-f]{64}", file.sha256), file
        assert file.licence, file
    # Made clips share no photograph between the halves.
    taken: dict[str, set[str]] = {"tuning": set(), "judging": set()}
    for clip in found.values():
        taken[clip.half] |= {shot.still for shot in clip.made if shot.still}
        assert bool(clip.file) != bool(clip.made)
        assert not clip.made or clip.end == pytest.approx(sum(shot.seconds for shot in clip.made))
    assert not taken["tuning"] & taken["judging"]
    assert taken["tuning"] | taken["judging"] == set(clips.read_stills())


def test_labels_lie_within_their_clips_in_order() -> None:
    known = read_clips()
    for file in ("scenes.yaml", "seen.yaml"):
        labels = yaml.safe_load((LABELS / file).read_text("utf-8"))
        assert set(labels) == set(known), file
        for name, moments in labels.items():
            for start, end, *_ in moments:
                assert known[name].start <= start < end <= known[name].end + 0.05, (name, start)
    for name, truth in cuts.truths().items():
        assert list(truth.hard) == sorted(set(truth.hard)), name
        assert all(first < last for first, last in (*truth.gradual, *truth.either)), name
    for clip in labelled_clips(FILMS):
        assert all(one.end <= other.start for one, other in pairwise(clip.shots)), clip.name
        grouped = [shot for cluster in clip.clusters for shot in cluster]
        assert len(set(grouped)) == len(grouped), clip.name
        assert set(grouped) <= set(range(len(clip.shots))), clip.name
    for file in FILES:
        unseen = yaml.safe_load((LABELS / file).read_text("utf-8"))
        assert len({row["name"] for row in unseen}) == len(unseen), file
        for row in unseen:
            for _, start, statements in row.get("lines", ()):
                assert row["seconds"][0] <= start < row["seconds"][1], (row["name"], start)
                for _, verdict, useful in statements:
                    assert verdict in ("true", "doubtful", "false")
                    assert useful in (0, 1)


def test_sounds_of_songs_are_apart_and_their_films_known() -> None:
    labels = yaml.safe_load((LABELS / "songs.yaml").read_text("utf-8"))
    sounds, films = labels["sounds"], labels["films"]
    assert len({row["sha256"] for row in sounds}) == len(sounds)
    halves: dict[str, set[str]] = {"tuning": set(), "judging": set()}
    for row in sounds:
        # A song and its playback have one name but for the last part.
        halves[row["half"]].add(row["name"].rpartition("-")[0])
    shared = halves["tuning"] & halves["judging"]
    assert shared <= {"speech", "voice-alone"}
    unseen = {row["name"] for row in yaml.safe_load((LABELS / "unseen.yaml").read_text("utf-8"))}
    known = unseen | set(read_clips())
    for name, label in films.items():
        assert name in known or Path(name).suffix, name
        assert set(label) <= {"song", "shout", "unsure"}, name
        for start, end in (pair for stretches in label.values() for pair in stretches):
            assert 0 <= start < end, name


def test_each_label_is_found_by_its_nearest_cut() -> None:
    truth = Truth(hard=[10, 40], gradual=[(60, 80)], either=[(100, 120)])
    found = count([11, 13, 43, 59, 75, 110], truth)
    assert (found.hard, found.hard_found) == (2, 1)
    assert (found.gradual, found.gradual_found) == (1, 1)
    assert found.false == 3
    assert found.wrong == ["missed 40", "false 13", "false 43", "false 75"]
    # The nearest cut takes the label.
    assert count([8, 10, 12], Truth(hard=[10, 12])).wrong == ["false 8"]
    assert count([9, 11], Truth(hard=[10, 13])).wrong == []


def test_kinds_of_statements_stay_by_the_rule() -> None:
    clip = {"lines": [["Words appear.", 1.0, [["title", "true", 1], ["people", "false", 0]]]] * 10}
    reading = read_verdicts([clip, {"name": "never described"}])
    assert (reading.clips, reading.lines, reading.useful_lines) == (1, 10, 10)
    assert (reading.kinds["title"].stays, reading.kinds["people"].stays) == (True, False)
    told = "\n".join(table("clips", reading))
    assert "title      true   10 of    10 = 100.0%" in told
    few = read_verdicts([{"lines": clip["lines"][:9]}])
    assert not few.kinds["title"].stays


def test_a_made_clip_shows_its_plan_and_is_silent(tmp_path: Path) -> None:
    lake = tmp_path / "lake.png"
    PIL.Image.new("RGB", (800, 600), (40, 90, 160)).save(lake)
    shots = [replace(shot, draw={"logo": ("A", 0.9)}) for shot in read_clips()["made-fade-in-out"].made[:2]]
    made_clips.write_clip(shots, {"lake": lake}, tmp_path / "short.mp4")
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
