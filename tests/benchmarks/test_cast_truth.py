"""The truth that the measurements of characters are counted by."""

import json
from pathlib import Path

import numpy as np
import pytest
from cast_truth import Judged, Share, Truth, owner_of, precision, read_truth, shot_pairs, true_pairs

from shotad.core import Box
from shotad.sight import Face, FaceTrack, Verdict

LEFT, RIGHT = [100.0, 100.0, 150.0, 170.0], [400.0, 100.0, 450.0, 170.0]
"""Boxes of faces in pixels of 640 x 360."""


@pytest.fixture
def truth(tmp_path: Path) -> Truth:
    """Two shots of a second: Anna beside a stranger, then Anna alone."""
    first = [
        {"name": "anna", "kind": "member", "faces": [[f, *LEFT, 1.0] for f in range(24)]},
        {"name": "x", "kind": "stranger", "faces": [[f, *RIGHT, 1.0] for f in range(24)]},
    ]
    second = [{"name": "anna", "kind": "member", "faces": [[24 + f, *RIGHT, 0.4] for f in range(24)]}]
    shots = [{"first": 0, "end": 24, "people": first}, {"first": 24, "end": 48, "people": second}]
    path = tmp_path / "truth.json"
    path.write_text(json.dumps({"rate": 24, "shots": shots}))
    return read_truth(path)


def track(shot: int, corners: list[float], *seconds: float) -> FaceTrack:
    left, top, right, bottom = corners
    box = Box(left / 640, top / 360, right / 640, bottom / 360)
    points = tuple((box.centre[0], box.centre[1]) for _ in range(5))
    faces = tuple(Face(box, second, 0.9, points, 0.0) for second in seconds)
    return FaceTrack(shot, faces, np.ones((1, 1), np.float32), (0,))


def test_intervals_and_names_of_the_truth(truth: Truth) -> None:
    low, high = Share(0, 480).interval
    assert low == 0.0
    assert high == pytest.approx(0.00794, abs=1e-4)
    assert Share(9, 10).interval == (pytest.approx(0.596, abs=1e-3), pytest.approx(0.982, abs=1e-3))
    assert Share(0, 0).interval == (0.0, 1.0)
    assert owner_of(track(0, LEFT, 0.1, 0.5), truth) == ("anna", 1.0)
    assert owner_of(track(0, RIGHT, 0.1, 0.5), truth) == ("x", 1.0)
    assert owner_of(track(0, [200, 100, 250, 170], 0.1), truth) == (None, 1.0)
    assert owner_of(track(0, RIGHT, 0.1, 0.5, 1.5), truth) == ("x", pytest.approx(2 / 3))
    right = Judged(track(0, LEFT, 0.1), "anna", 1.0, Verdict("anna", "anna"))
    wrong = Judged(track(0, RIGHT, 0.1), "x", 1.0, Verdict("ben", "ben"))
    said = shot_pairs([right, wrong], truth)
    assert said == {(0, "anna"), (0, "ben")}
    assert precision(said, truth) == Share(1, 2)
    assert true_pairs(truth, {"anna"}) == {(0, "anna"), (1, "anna")}
