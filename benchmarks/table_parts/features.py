"""Features: images a second through the whole reader, beside the bare model's forward on ready tensors; and
what threads and scales cost along a film, as they are read there."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from table_parts.contests import Contest, Done, Entrant, Stage, Steps

SMALL = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6, "image_size": 518}
"""The small vision transformer; random weights change no cost."""
BATCH = 8


def plan(stage: Stage) -> Iterator[Contest]:
    """DINOv2 of the smallest published size, where what surrounds the model weighs most; and the grid."""
    entrants = [
        Entrant("features", "ours", grid, {"count": 128}),
        Entrant("making the frames small alone", "limit", small, {"count": 128}),
    ]
    yield Contest("features", "grid features", entrants, same=("images",))
    yield from stage.growth("threads", "threads and scales of every clip (grid features)", grammar)
    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if missing:
        stage.left_out.append(("features by DINOv2", f"{missing[0]} is not installed"))
        return
    from tests.grammar.dino_models import saved

    given = {"folder": saved(stage.folder / "dinov2-small", registers=4, **SMALL), "count": 32}
    entrants = [
        Entrant("features", "ours", dino, given),
        Entrant("the model's forward alone", "limit", forward, given),
    ]
    yield Contest("features", "DINOv2 small", entrants, same=("images",), turns=3)


# Works


def _images(count: int) -> list[Any]:
    """Different pictures with something to see: noise made smooth, enlarged."""
    import cv2
    import numpy as np

    rng = np.random.default_rng(1)
    few = [rng.integers(0, 255, (27, 48, 3), np.uint8) for _ in range(count)]
    return [cv2.resize(one, (854, 480), interpolation=cv2.INTER_CUBIC) for one in few]


def grid(scratch: Path, count: int) -> Steps:
    """Features without weights, as they are out of the box."""
    from shotad.grammar.grid_features import GridFeatures

    maker, images = GridFeatures(), _images(count)
    maker.of(images[:1])
    yield None
    for start in range(0, count, BATCH):
        maker.of(images[start : start + BATCH])
    yield Done({"images": count})


def small(scratch: Path, count: int) -> Steps:
    """What any features begin with: cut to 4:3, made small by Pillow."""
    from shotad.grammar.features import THREAD_SIZE, fitted

    images = _images(count)
    yield None
    for image in images:
        fitted(image, long_side=THREAD_SIZE[0], short_side=THREAD_SIZE[1])
    yield Done({"images": count})


def _settings() -> Any:
    import torch

    from shotad.core import ComputeSettings, processors

    torch.set_num_threads(processors())
    return ComputeSettings(device="cpu", precision="float32", batch=BATCH)


def dino(scratch: Path, folder: str, count: int) -> Steps:
    """Frames to features: made small, normalised, in batches, patches of length 1."""
    from shotad.grammar.vit_features import DinoV2

    maker, images = DinoV2.in_folder(Path(folder), _settings()), _images(count)
    maker.of(images[:2])
    yield None
    yield Done({"images": len(maker.of(images).patches)})


def forward(scratch: Path, folder: str, count: int) -> Steps:
    """The model on tensors that lie ready: what cannot be spared."""
    import torch

    from shotad.grammar.vit_features import Runner, load_model

    model = Runner(_settings()).place(load_model(Path(folder)))
    pixels = torch.rand(count, 3, 168, 224)
    with torch.inference_mode():
        model(pixel_values=pixels[:2])
        yield None
        shown = sum(len(model(pixel_values=part).last_hidden_state) for part in pixels.split(BATCH))
    yield Done({"images": shown})


def grammar(scratch: Path, film: str) -> Steps:
    """The second act after a first that is not counted: frames of shots, features, scores, scales."""
    from shotad.core import Given, NoProgress, WorkFolder, load_config
    from shotad.description import RunContext, prepare, understand
    from shotad.film import open_film

    config = load_config(None, ["threads.features=grid"])
    with open_film(Path(film)) as opened, WorkFolder(scratch / "work") as folder:
        bench = RunContext.of(opened, folder, config, Given(), NoProgress())
        prepared = prepare(bench)
        yield None
        yield Done({"slots": len(understand(prepared, bench)[0])})
