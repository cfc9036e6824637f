"""Features: images a second through the whole reader, beside the bare model's forward on ready tensors; and
what threads and scales cost along a film, as they are read there."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from table_parts.contests import Contest, Done, Entrant, Ready, Stage

SMALL = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6, "image_size": 518}
"""The small vision transformer; random weights change no cost."""
FRAME = (480, 854, 3)


def plan(stage: Stage) -> Iterator[Contest]:
    """DINOv2 of the smallest published size, where what surrounds the model weighs most; and the grid."""
    entrants = [
        Entrant("features", "ours", grid, {"images": 128}),
        Entrant("making the frames small alone", "limit", small, {"images": 128}),
    ]
    yield Contest("features", "grid features", entrants, same=("images",))
    yield from stage.growth("threads", "threads and scales of every clip (grid features)", grammar)
    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if missing:
        stage.left_out.append(("features by DINOv2", f"{missing[0]} is not installed"))
        return
    from shotad.core import processors
    from tests.grammar.dino_models import saved

    folder = saved(stage.folder / "dinov2-small", registers=4, **SMALL)
    given = {"folder": str(folder), "images": 32, "batch": 8, "threads": processors()}
    entrants = [
        Entrant("features", "ours", ours, given),
        Entrant("the model's forward alone", "limit", forward, given),
    ]
    yield Contest("features", "DINOv2 small", entrants, same=("images",), turns=3)


# Works


def _frames(count: int) -> list[Any]:
    """Different pictures with something to see: noise made smooth, enlarged."""
    import cv2
    import numpy as np

    rng = np.random.default_rng(1)
    few = [rng.integers(0, 255, (27, 48, 3), np.uint8) for _ in range(count)]
    return [cv2.resize(one, (FRAME[1], FRAME[0]), interpolation=cv2.INTER_CUBIC) for one in few]


def grid(given: Mapping[str, Any], scratch: Path) -> Ready:
    """Features without weights, as they are out of the box."""
    from shotad.grammar.grid_features import GridFeatures

    maker, images = GridFeatures(), _frames(given["images"])
    maker.of(images[:1])

    def run() -> Done:
        for start in range(0, len(images), 8):
            maker.of(images[start : start + 8])
        return Done({"images": len(images)})

    return run


def small(given: Mapping[str, Any], scratch: Path) -> Ready:
    """What any features begin with: cut to 4:3, made small by Pillow."""
    from shotad.grammar.features import THREAD_SIZE, fitted

    images = _frames(given["images"])

    def run() -> Done:
        for image in images:
            fitted(image, long_side=THREAD_SIZE[0], short_side=THREAD_SIZE[1])
        return Done({"images": len(images)})

    return run


def _settings(given: Mapping[str, Any]) -> Any:
    import torch

    from shotad.core import ComputeSettings

    torch.set_num_threads(given["threads"])
    return ComputeSettings(device="cpu", precision="float32", batch=given["batch"])


def ours(given: Mapping[str, Any], scratch: Path) -> Ready:
    """Frames to features: made small, normalised, in batches, patches of length 1."""
    from shotad.grammar.vit_features import DinoV2

    maker = DinoV2.in_folder(Path(given["folder"]), _settings(given))
    images = _frames(given["images"])
    maker.of(images[:2])

    def run() -> Done:
        return Done({"images": len(maker.of(images).patches)})

    return run


def forward(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The model on tensors that lie ready: what cannot be spared."""
    import torch

    from shotad.grammar.vit_features import Runner, load_model

    settings = _settings(given)
    model = Runner(settings).place(load_model(Path(given["folder"])))
    pixels = torch.rand(given["images"], 3, 168, 224)
    with torch.inference_mode():
        model(pixel_values=pixels[:2])

    def run() -> Done:
        with torch.inference_mode():
            shown = sum(
                len(model(pixel_values=part).last_hidden_state) for part in pixels.split(given["batch"])
            )
        return Done({"images": shown})

    return run


def grammar(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The second act after a first that is not counted: frames of shots, features, scores, scales."""
    from shotad.core import Given, NoProgress, WorkFolder, load_config
    from shotad.description import RunContext, prepare, understand
    from shotad.film import open_film

    film, folder = open_film(Path(given["film"])), WorkFolder(scratch / "work")
    folder.__enter__()
    bench = RunContext.of(film, folder, load_config(None, ["threads.features=grid"]), Given(), NoProgress())
    prepared = prepare(bench)

    def run() -> Done:
        return Done({"slots": len(understand(prepared, bench)[0])})

    return run
