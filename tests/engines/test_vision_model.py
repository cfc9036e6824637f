"""The engine qwen2-vl with tiny random models of the very classes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from shotad.core import Config, EngineError, NoProgress, Request, Stage, load_config
from shotad.engines import local_loading, make_engine
from tests.vision_models import llava_folder, make_clip, make_request, qwen_folder, split_folder

KINDS = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_5", "llava", "idefics3", "smolvlm")


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # several wait for each other where cores are busy
    yield
    torch.set_num_threads(before)
    local_loading.CACHE.clear()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("models")
    made = {kind: qwen_folder(root / kind, kind) for kind in KINDS[:4]}
    split = {kind: split_folder(root / kind, kind) for kind in KINDS[5:]}
    return {**made, **split, "llava": llava_folder(root / "llava")}


def settings(folder: Path, *more: str, batch: int = 4) -> Config:
    return load_config(
        None,
        [
            f"stage1.model={folder}", f"stage2.model={folder}", "compute.device=cpu",
            "compute.precision=float32", "frames.min_pixels=784", "frames.max_pixels=20000",
            f"local.batch={batch}", *more,
        ],
    )  # fmt: skip


def vision(config: Config, stage: Stage = "stage1") -> Any:
    return make_engine("qwen2-vl", config, stage)


def questions() -> list[Request]:
    return [
        make_request("a", clip=make_clip(4, 56, 56)),
        make_request("b", "Something longer here, please.", clip=make_clip(5, 84, 60, seed=3)),
        make_request("c", "No clip."),
        make_request("d", "No clip at all, is there?"),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_answers_alone_and_in_a_batch_are_the_same(kind: str, folders: dict[str, Path]) -> None:
    engine = vision(settings(folders[kind]))
    asked = questions()
    alone = [engine.generate([request])[0] for request in asked]
    together = engine.generate(asked)
    assert [reply.text for reply in together] == [reply.text for reply in alone]
    assert all(reply.text and reply.error is None for reply in alone)
    assert len({reply.text for reply in alone}) == 4
    assert [reply.batch for reply in together] == [("a", "b"), ("a", "b"), ("c", "d"), ("c", "d")]
    assert [reply.usage for reply in together] == [reply.usage for reply in alone]


def test_a_frame_without_size_and_a_small_model_fail_alone(folders: dict[str, Path], tmp_path: Path) -> None:
    engine = vision(settings(folders["qwen2_vl"]))
    good, bad = make_request("a", clip=make_clip(2)), make_request("b", clip=make_clip(2, 600, 2))
    first, second = engine.generate([good, bad])
    assert first.text
    assert second.error == "a frame of 600 x 2 is more than 200 times as long as broad"
    folder = qwen_folder(tmp_path / "small", "qwen2_vl", max_position_embeddings=900)
    engine = vision(settings(folder))
    with pytest.raises(EngineError, match=r"small takes 900 tokens; a clip takes about \d+ and stage1"):
        engine.get_ready(NoProgress())
    writer = vision(settings(folder), "stage2")
    writer.get_ready(NoProgress())


def test_identity_says_model_precision_and_way_of_showing(folders: dict[str, Path]) -> None:
    engine = vision(settings(folders["llava"]))
    assert (engine.identity.engine, engine.identity.model) == ("qwen2-vl", "llava")
    engine.get_ready(NoProgress())
    assert engine.identity.revision.endswith(" float32")
    foreseen = vision(settings(folders["llava"]))
    foreseen.ready_if_here()
    assert foreseen.identity == engine.identity
    unfetched = vision(Config())
    assert unfetched.identity.model == "Qwen/Qwen2-VL-7B-Instruct"
    assert unfetched.image_tokens(504, 280, 32) == 2880, "estimates need no model"
