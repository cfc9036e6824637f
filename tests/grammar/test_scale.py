"""Shot scale: the rule by face, and the classifier with its checkpoint."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from common import FILMS, ROOT
from hypothesis import given, strategies as st
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from scales import compare, guesses_of, read_labels

from shotad.core import Image, ShotScale
from shotad.core.config.sight import ComputeSettings, ScaleSettings
from shotad.core.errors import WeightsError, WorkFolderError
from shotad.film import open_film
from shotad.grammar import make_scale_reader
from shotad.grammar.by_face import Measure, SmallFace, guess_from, measure_face
from shotad.grammar.features import fitted, normalised
from shotad.grammar.scale_net import (
    FORMAT,
    BackboneShape,
    ScaleClassifier,
    ScaleDesign,
    ScaleNet,
    from_released,
    load_net,
    save_net,
    to_released,
)

measures = st.builds(Measure, st.floats(0.02, 40), st.floats(0, 1))


def face(height: float, *, top: float = 0.1, score: float = 0.9, eyes_to_mouth: float = 0.38) -> SmallFace:
    return SmallFace(top, min(top + height, 1.0), eyes_to_mouth * height, score)


def scale_of(*faces: SmallFace) -> ShotScale | None:
    guess = guess_from([measure_face(one) for one in faces])
    return guess.scale if guess else None


def test_a_face_tells_how_much_of_the_body_fits_into_the_picture() -> None:
    for height, scale in (
        (0.98, ShotScale.EXTREME_CLOSE_UP),
        (0.6, ShotScale.CLOSE_UP),  # the head
        (0.4, ShotScale.CLOSE_UP),  # head and shoulders
        (0.25, ShotScale.MEDIUM),  # to the waist
        (0.13, ShotScale.MEDIUM),  # to the knees
        (0.09, ShotScale.FULL),  # to the feet
        (0.04, ShotScale.LONG),
    ):
        assert scale_of(face(height, top=0.03)) is scale


def test_a_face_that_the_picture_cuts_off_is_measured_by_eyes_and_mouth() -> None:
    assert measure_face(face(0.7, top=0.1, eyes_to_mouth=0.6)).stature == pytest.approx(7.0)
    assert measure_face(face(0.7, top=0.0, eyes_to_mouth=0.6)).stature == pytest.approx(7.0 * 0.6 / 0.4)


def test_the_closest_face_decides_and_doubtful_ones_tell_nothing() -> None:
    near, far, phantom = face(0.4), face(0.04), face(0.9, score=0.65)
    assert scale_of(near, far) is scale_of(near)
    assert scale_of(far, phantom) is ShotScale.LONG
    assert scale_of(phantom) is None
    assert scale_of() is None


def test_scales_change_at_the_borders() -> None:
    for border, scales in zip((9.5, 3.6, 1.05, 0.5), pairwise(ShotScale), strict=True):
        guesses = [guess_from([Measure(border * factor, 1.0)]) for factor in (1.05, 0.95)]
        assert [guess and guess.scale for guess in guesses] == list(scales)


@given(st.lists(measures, min_size=1, max_size=5), st.data(), st.floats(1.0, 5.0))
def test_coming_closer_never_makes_scales_longer(
    people: list[Measure], data: st.DataObject, factor: float
) -> None:
    who = data.draw(st.integers(0, len(people) - 1))
    closer = [replace(m, stature=m.stature * factor) if i == who else m for i, m in enumerate(people)]
    before, after = guess_from(people), guess_from(closer)
    assert (before is None) == (after is None)
    if before and after:
        first, second = (sum(k * p for k, p in enumerate(guess.probabilities)) for guess in (before, after))
        assert second <= first + 1e-9


def by_face() -> Any:
    return make_scale_reader(ScaleSettings(method="by-face"), ComputeSettings())


# With YuNet's weights, on the sample film: photographs of faces, and shots without anybody.
@pytest.mark.slow
def test_scales_of_the_sample_and_of_pictures_without_a_face() -> None:
    reader, folder = by_face(), ROOT / "tests/sample"
    shots = json.loads((folder / "sample.truths.json").read_text(encoding="utf-8"))["shots"]
    with open_film(folder / "sample.mp4") as film:
        pictures = [picture.image for picture in film.pictures([sum(s["seconds"]) / 2 for s in shots])]
    guesses = reader.of(pictures)
    told = [(shot.get("scale"), guess.scale) for shot, guess in zip(shots, guesses, strict=True) if guess]
    assert sum(label == scale for label, scale in told) >= 3
    assert all(label and abs(ShotScale(label).number - scale.number) <= 1 for label, scale in told)
    # Black bars are no part of the picture, and a strip, an upright picture and a pixel are pictures too.
    barred = np.zeros((pictures[2].shape[0] * 4 // 3, *pictures[2].shape[1:]), np.uint8)
    above = (len(barred) - len(pictures[2])) // 2
    barred[above : above + len(pictures[2])] = pictures[2]
    assert reader.of([barred])[0].scale is guesses[2].scale  # type: ignore[union-attr]
    for size in ((1, 1), (3, 900), (900, 3), (640, 360)):
        for level in (0, 90, 255):
            assert reader.of([np.full((*size, 3), level, np.uint8)]) == [None]


# Shot scales by face on the supplied films, against labels made by eye (tests/labels/scales.json).
@pytest.mark.skipif(not FILMS.is_dir(), reason=f"the labelled films are not at {FILMS}")
@pytest.mark.long
@pytest.mark.slow
def test_scales_of_the_films() -> None:
    """Floors a few stills below what was measured; the borders were not fitted to these films."""
    films, reader = read_labels("films"), by_face()
    stills = [still for of_film in films.values() for still in of_film]
    guesses = [guess for name, own in films.items() for guess in guesses_of(reader, own, FILMS / name)]
    found = compare(stills, guesses)
    print(f"\nall stills: {found}")
    assert found.guessed >= 0.22 * found.stills
    assert found.false == 0
    assert found.right >= 0.85 * found.guessed
    assert found.admissible >= 0.95 * found.guessed


# The classifier and its checkpoint: what is tuned, what it computes, what it refuses
SHAPE = BackboneShape(hidden=32, blocks=3, heads=2, side=56)
DESIGN = ScaleDesign(SHAPE, tuned_blocks=2, long_side=112, short_side=84)
PLAIN = ComputeSettings(device="cpu", precision="float32", batch=2)


@pytest.fixture
def net() -> ScaleNet:
    torch.manual_seed(3)
    made = ScaleNet(DESIGN)
    with torch.no_grad():
        made.head.weight.normal_()
    return made


def pictures(*sizes: tuple[int, int]) -> list[Image]:
    random = np.random.default_rng(5)
    return [random.integers(0, 256, (h, w, 3), dtype=np.uint8) for h, w in sizes]


def test_guesses_are_the_softmax_in_the_order_of_the_images(net: ScaleNet) -> None:
    images = pictures((90, 160), (160, 90), (120, 160), (200, 100), (90, 160))
    guesses = ScaleClassifier(net, PLAIN).of(images)
    for image, guess in zip(images, guesses, strict=True):
        pixels = torch.from_numpy(normalised([fitted(image, 112, 84)]))
        with torch.no_grad():
            logits = net.head(net.backbone(pixels).last_hidden_state[:, 0])[0]
        assert guess is not None
        assert guess.probabilities == pytest.approx(logits.softmax(0).tolist(), abs=1e-5)
    assert len({guess.probabilities for guess in guesses if guess}) == 5
    assert ScaleClassifier(net, PLAIN).of([]) == []


def test_a_checkpoint_comes_back_whole(net: ScaleNet, tmp_path: Path) -> None:
    path = tmp_path / "scale.safetensors"
    save_net(path, net, {"epochs": 3, "data": {"train": 7}})
    loaded, record = load_net(path)
    assert record == {"epochs": 3, "data": {"train": 7}}
    assert loaded.design == net.design
    assert not loaded.training
    assert [p.requires_grad for p in loaded.parameters()] == [p.requires_grad for p in net.parameters()]
    images = torch.from_numpy(np.stack(pictures((84, 112), (84, 112))))
    assert torch.equal(loaded(images), net(images))
    assert [p.name for p in tmp_path.iterdir()] == ["scale.safetensors"]


def test_the_gated_mlp_of_the_giant_model_is_joined_and_parted(tmp_path: Path) -> None:
    net = ScaleNet(ScaleDesign(BackboneShape(32, 1, 2, 4, True, 14, 56), 1, 112, 84))
    own = net.backbone.state_dict()
    released = to_released(own)
    mlp = net.backbone.encoder.layer[0].mlp
    assert torch.equal(
        released["blocks.0.mlp.w12.weight"], torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])
    )
    back = from_released(released, own)
    assert all(torch.equal(back[name], value) for name, value in own.items())
    save_net(tmp_path / "x.safetensors", net, {})
    assert load_net(tmp_path / "x.safetensors")[0].design.backbone.gated


Change = Callable[[dict[str, Any], dict[str, torch.Tensor]], object]

CHANGES: dict[str, tuple[Change, str]] = {
    "later schema": (lambda about, _: about.update(schema=2), "is of schema 2.*Update shotad"),
    "no schema": (lambda about, _: about.pop("schema"), "describes itself wrongly"),
    "broken design": (lambda about, _: about.update(design="{"), "describes itself wrongly"),
    "no training": (lambda about, _: about.pop("training"), "describes itself wrongly"),
    "other classes": (lambda about, _: about["design"]["classes"].reverse(), "classes must be"),
    "unknown field": (lambda about, _: about["design"]["backbone"].update(registers=4), "'registers'"),
    "weight missing": (lambda _, weights: weights.pop("backbone.norm.bias"), "backbone.norm.bias is one"),
    "weight too many": (lambda _, weights: weights.update(extra=torch.zeros(1)), "extra is one"),
    "wrong shape": (lambda _, weights: weights.update({"head.bias": torch.zeros(4)}), "head.bias is one"),
    "half floats": (
        lambda _, weights: weights.update({"head.bias": torch.zeros(5).half()}), "head.bias is one",
    ),
    "not a number": (
        lambda _, weights: weights.update({"head.bias": torch.full((5,), torch.nan)}), "head.bias is one",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_checkpoint_is_refused_by_name(net: ScaleNet, tmp_path: Path, name: str) -> None:
    path = tmp_path / "scale.safetensors"
    save_net(path, net, {})
    with safe_open(path, "pt") as file:
        found: dict[str, Any] = json.loads(file.metadata()[FORMAT])
    about, weights = found, load_file(path)
    change, message = CHANGES[name]
    change(about, weights)
    save_file(weights, path, metadata={FORMAT: json.dumps(about)})
    with pytest.raises(WeightsError, match=message) as refusal:
        load_net(path)
    assert str(path) in refusal.value.what
    assert refusal.value.hint


def test_what_is_no_checkpoint_is_refused(net: ScaleNet, tmp_path: Path) -> None:
    path = tmp_path / "scale.safetensors"
    with pytest.raises(WeightsError, match="There is no file"):
        load_net(path)
    path.write_text("hello, this is no checkpoint at all")
    with pytest.raises(WeightsError, match="cannot be read as safetensors"):
        load_net(path)
    for metadata in (None, {"format": "pt"}):
        save_file({"head.bias": torch.zeros(5)}, path, metadata=metadata)
        with pytest.raises(WeightsError, match="is not a checkpoint of shot scale"):
            load_net(path)
    save_net(path, net, {})
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(WeightsError, match="cannot be read as safetensors"):
        load_net(path)


def test_a_failed_save_leaves_the_old(net: ScaleNet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scale.safetensors"
    save_net(path, net, {"n": 1})

    def fail(weights: object, file: Path, metadata: object) -> None:
        file.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", fail)
    with pytest.raises(WorkFolderError, match="No space"):
        save_net(path, net, {"n": 2})
    assert load_net(path)[1] == {"n": 1}
    assert len(list(tmp_path.iterdir())) == 1
