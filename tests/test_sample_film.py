"""The sample film against its truths: they agree with each other, and the shots are found."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import ShotSettings
from shotad.film import open_film, read_subtitles, sound_blocks, survey
from shotad.film.shots import ShotList

FOLDER = Path(__file__).parent / "sample"
FILM = FOLDER / "sample.mp4"
HERTZ = 16000


@pytest.fixture(scope="module")
def truths() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / "sample.truths.json").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def sound() -> npt.NDArray[np.float32]:
    with open_film(FILM) as film:
        return np.concatenate([block.samples for block in sound_blocks(film, rate=HERTZ)])


def find(path: str) -> ShotList:
    with open_film(FILM) as film:
        return survey(film, ShotSettings(detector="adaptive", path=path))  # type: ignore[arg-type]


def loudness(sound: npt.NDArray[np.float32], start: float, end: float) -> float:
    """Root mean square in dB below full scale."""
    part = sound[round(start * HERTZ) : round(end * HERTZ)]
    return float(20 * np.log10(np.sqrt(np.mean(part.astype(np.float64) ** 2)) + 1e-9))


def test_the_truths_agree_and_the_captions_say_what_is_said(truths: dict[str, Any]) -> None:
    shots = truths["shots"]
    assert shots[0]["frames"][0] == 0
    assert shots[-1]["frames"][1] == truths["frames"]
    assert all(one["frames"][1] == two["frames"][0] for one, two in pairwise(shots))
    for shot in shots:
        assert shot["seconds"] == pytest.approx([n / truths["frame_rate"] for n in shot["frames"]], abs=1e-5)
    cuts = [shot["frames"][0] for shot in shots if shot["begins_with"] == "cut"]
    assert truths["cuts"] == cuts
    for entry in truths["texts"] + truths["figures"]:
        start, end = shots[entry["shot"]]["seconds"]
        assert start <= entry["seconds"][0] < entry["seconds"][1] <= end
    lines = read_subtitles(FOLDER / "sample.en.vtt")
    assert [line.text for line in lines] == [line["text"] for line in truths["speech"]]
    for line, truth in zip(lines, truths["speech"], strict=True):
        assert [line.interval.start, line.interval.end] == pytest.approx(truth["seconds"], abs=0.002)


@pytest.mark.parametrize("path", ["exact", "fast"])
def test_its_shots_are_found(truths: dict[str, Any], path: str) -> None:
    found = find(path)
    assert found.frame_count == truths["frames"]
    dark = next(fade["seconds"] for fade in truths["fades"] if fade["kind"] == "out")
    by_fade = {
        cut for cut in found.cuts if dark[0] <= cut / truths["frame_rate"] <= dark[1]
    }  # the way into black has no frame of its own for the border
    assert set(found.cuts) - by_fade == set(truths["cuts"])
    starts = [shot.interval.start for shot in found.shots[1:]]
    assert starts == pytest.approx([cut / truths["frame_rate"] for cut in found.cuts], abs=1e-4)


def test_sound_is_heard_where_somebody_speaks(truths: dict[str, Any], sound: npt.NDArray[np.float32]) -> None:
    for line in truths["speech"]:
        assert loudness(sound, *line["seconds"]) > -25
    first, second = truths["speech"][:2]
    assert loudness(sound, first["seconds"][1] + 0.1, second["seconds"][0] - 0.1) < -50
