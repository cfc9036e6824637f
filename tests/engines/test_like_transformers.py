"""Tiny models of each family against plain transformers: tokens, positions and answers, alone and in batches, in
float32 and in float16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
import transformers
from safetensors.torch import load_file, save_file

from shotad.core import Clip, NoProgress, Reply, Request, load_config
from shotad.core.errors import EngineError
from shotad.core.types import HEARING_RATE
from shotad.engines import make_engine
from shotad.engines.local_vision_qwen import token_positions
from tests.language_models import ModelCalls
from tests.vision_models import (
    VIDEO_FAMILIES,
    llava_folder,
    make_clip,
    make_request,
    omni_folder,
    qwen_folder,
    split_folder,
    video_folder,
)

# Of transformers' own processors of GLM-4.6V and MiniCPM-V.
pytestmark = pytest.mark.filterwarnings("ignore:__array_.* must|__array__ impl:DeprecationWarning")

QWENS = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_5", "omni")
OTHERS = ("llava", "idefics3", "smolvlm", "glm46v", "internvl", "minicpmv4_6", "video_llama_3")
POSITIONS_PER_SECOND = {"qwen2_5_vl": 2, "omni": 25}
"""As the configurations of the tiny models have it."""
START = {"omni": "<|vision_bos|>"}
END = {"omni": "<|vision_eos|>"}
VIDEO = {"omni": "<|VIDEO|>"}
"""Marks of models that have others than Qwen-VL."""
PIXELS = 28
"""Sides of the clips here are multiples of it; a token of Qwen3's models has 32 pixels a side."""


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # several wait for each other where cores are busy
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("models")

    def make(kind: str) -> Path:
        if kind == "omni":
            return omni_folder(root / kind)
        if kind in QWENS:
            return qwen_folder(root / kind, kind)
        if kind in VIDEO_FAMILIES:
            return video_folder(root / kind, kind)
        return llava_folder(root / kind) if kind == "llava" else split_folder(root / kind, kind)

    return cache(make)


def engine_of(folder: Path, precision: str = "float32", *more: str) -> Any:
    """The engine qwen2-vl with this model, on the CPU."""
    settings = [
        f"stage1.model={folder}", "compute.device=cpu", f"compute.precision={precision}",
        "frames.min_pixels=784", "frames.max_pixels=20000", "frames.inside=2", "frames.outside=2",
        "local.batch=4", *more,
    ]  # fmt: skip
    return make_engine("qwen2-vl", load_config(None, settings), "stage1")


def unequal_requests(kind: str) -> list[Request]:
    """Clips of other lengths, sizes and times, some longer in time than they are high or wide."""
    long = replace(make_clip(24, 56, 56, seed=1), seconds=100 + 20 * np.linspace(0, 1, 24) ** 1.1)
    sound = np.random.default_rng(0).normal(0, 0.2, HEARING_RATE).astype(np.float32)
    heard = (
        replace(make_clip(4, 56, 84, seed=2), sound=sound) if kind == "omni" else make_clip(4, 56, 84, seed=2)
    )
    return [
        make_request("a", clip=make_clip(5, 84, 56, step=0.37)),
        make_request("b", "Something longer here, please.", clip=long, max_tokens=16),
        make_request("c", "And now?", clip=heard),
    ]


def ask(engine: Any, requests: Sequence[Request]) -> list[Reply]:
    replies: list[Reply] = engine.generate(requests)
    assert [reply.error for reply in replies] == [None] * len(requests)
    return replies


# Positions
def positions_by_loops(kinds: Sequence[bool], grid: tuple[int, int, int], step: float) -> list[list[int]]:
    """Token by token. A token of text stands one further than all before it. Those of a video stand where the
    text would go on: each frame ``step`` further in time, each line one further down, each column to the right.
    """
    _, high, wide = grid
    places: list[tuple[int, int, int]] = []
    start = seen = 0
    for number, in_video in enumerate(kinds):
        if not in_video or not kinds[number - 1]:
            start, seen = max((max(place) for place in places), default=-1) + 1, 0
        if in_video:
            frame, within = divmod(seen, high * wide)
            row, column = divmod(within, wide)
            places.append((start + math.floor(frame * step), start + row, start + column))
            seen += 1
        else:
            places.append((start, start, start))
    return [list(line) for line in zip(*places, strict=True)]


def grid_and_step(kind: str, clip: Clip) -> tuple[tuple[int, int, int], float]:
    """Tokens of a clip in time, height and width, and how far apart two of them stand in time."""
    side = 32 if kind.startswith("qwen3") else PIXELS
    grid = (math.ceil(len(clip) / 2), round(clip.images.shape[1] / side), round(clip.images.shape[2] / side))
    if kind not in POSITIONS_PER_SECOND:
        return grid, 1.0
    interval = (clip.seconds[-1] - clip.seconds[0]) / (len(clip) - 1)
    return grid, POSITIONS_PER_SECOND[kind] * 2 * interval


def test_text_goes_on_after_all_frames_of_a_long_video() -> None:
    # 32 frames over 20 seconds at 504 x 280 in Qwen2.5-VL, after 45 tokens of text
    frames, high, wide = grid = (16, 10, 18)
    kinds = [False] * 45 + [True] * (frames * high * wide) + [False] * 3
    positions = token_positions(kinds, grid, interval=2 * 20 / 31, per_second=2)
    assert (positions[0, 45], positions[0, -4]) == (45, 83)
    assert positions[:, -3:].tolist() == [[84, 85, 86]] * 3
    assert positions.tolist() == positions_by_loops(kinds, grid, 2 * 2 * 20 / 31)


@pytest.mark.parametrize("kind", QWENS)
def test_positions_are_those_of_the_formula(kind: str, folder_of: Any, model_calls: ModelCalls) -> None:
    requests = unequal_requests(kind)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder_of(kind))
    video = tokenizer.convert_tokens_to_ids(VIDEO.get(kind, "<|video_pad|>"))
    ask(engine_of(folder_of(kind)), requests)
    (given,) = model_calls.inputs
    for row, request in enumerate(requests):
        assert request.clip is not None
        grid, step = grid_and_step(kind, request.clip)
        there = given["attention_mask"][row].bool()
        kinds = [token == video for token in given["input_ids"][row, there].tolist()]
        assert sum(kinds) == math.prod(grid)
        ours = given["position_ids"][:, row, there].tolist()
        assert ours == [list(range(len(kinds))), *positions_by_loops(kinds, grid, step)]
        assert min(ours[1][-10:]) > max(
            place for place, in_video in zip(ours[1], kinds, strict=True) if in_video
        )


@pytest.mark.parametrize("kind", QWENS)
def test_positions_are_those_of_transformers_where_it_counts_right(
    kind: str, folder_of: Any, model_calls: ModelCalls
) -> None:
    """Always in Qwen3's models and in Omni; in the others where no video is longer than it is high or wide."""
    requests = unequal_requests(kind)
    if kind in ("qwen2_vl", "qwen2_5_vl"):
        requests = [
            make_request("a", clip=make_clip(5, 112, 84, step=0.37)),
            make_request("b", "No?", clip=make_clip(2)),
        ]
    ask(engine_of(folder_of(kind)), requests)
    (given,) = model_calls.inputs
    model = plain_model(folder_of(kind), torch.float32)
    intervals = [2 * float(np.ptp(one.clip.seconds)) / (len(one.clip) - 1) for one in requests if one.clip]
    more: dict[str, Any] = {"mm_token_type_ids": given.get("mm_token_type_ids")}
    if kind == "qwen2_5_vl":
        more["second_per_grid_ts"] = intervals
    if kind == "omni":
        sounds = given["feature_attention_mask"].sum(-1)
        more = {
            "second_per_grids": torch.tensor(intervals),
            "audio_seqlens": sounds,
            "use_audio_in_video": False,
        }
    counts = model if kind == "omni" else model.model
    theirs, _ = counts.get_rope_index(
        given["input_ids"],
        video_grid_thw=given["video_grid_thw"],
        attention_mask=given["attention_mask"],
        **more,
    )
    there = given["attention_mask"].bool()
    assert given["position_ids"][1:, there].tolist() == theirs[:, there].long().tolist()


# Tokens and answers
def plain_model(folder: Path, dtype: torch.dtype) -> Any:
    """The model as transformers alone loads it."""
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder, dtype=dtype)
    return model.eval()


def shortfalls(model: Any, given: dict[str, Any], written: Sequence[Sequence[int]]) -> list[list[float]]:
    """By how much each token of the answers is less likely than the likeliest, row by row: 0 where it is that.

    The model reads prompts and answers at once, without ``generate`` and what that keeps between tokens.
    """
    longest = max(len(row) for row in written)
    answers = torch.tensor([[*row, *[0] * (longest - len(row))] for row in written])
    batch = {name: value for name, value in given.items() if isinstance(value, torch.Tensor)}
    for name, value in batch.items():
        if value.is_floating_point():
            batch[name] = value.to(model.get_input_embeddings().weight.dtype)
    batch["input_ids"] = torch.cat([batch["input_ids"], answers], 1)
    batch["attention_mask"] = torch.cat([batch["attention_mask"], torch.ones_like(answers)], 1)
    if "mm_token_type_ids" in batch:
        batch["mm_token_type_ids"] = torch.cat([batch["mm_token_type_ids"], torch.zeros_like(answers)], 1)
    if "position_ids" in batch:
        further = 1 + torch.arange(longest) + batch["position_ids"][..., -1:]
        batch["position_ids"] = torch.cat([batch["position_ids"], further], -1)
    with torch.no_grad():
        scores = model(**batch, use_cache=False).logits[:, -longest - 1 : -1].float()
    chosen = scores.gather(-1, answers[..., None])[..., 0]
    return [line[: len(row)] for line, row in zip((scores.amax(-1) - chosen).tolist(), written, strict=True)]


@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("kind", [*QWENS, *OTHERS])
def test_answers_are_those_of_plain_transformers(
    kind: str, precision: str, folder_of: Any, model_calls: ModelCalls
) -> None:
    engine, requests = engine_of(folder_of(kind), precision), unequal_requests(kind)
    engine.get_ready(NoProgress())
    assert engine.identity.revision.endswith(f" {precision}")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder_of(kind))
    model = plain_model(folder_of(kind), getattr(torch, precision))
    # Scores reach over several units; of 11 digits that float16 has, the last may differ.
    tolerance = 1e-4 if precision == "float32" else 0.05
    texts: list[str] = []
    for batch in [*([request] for request in requests), requests]:
        earlier = len(model_calls.inputs)
        replies = ask(engine, batch)
        waiting = list(zip(batch, replies, strict=True))
        # Some processors cannot pad videos of several lengths: these are then asked about one after the other.
        for given in model_calls.inputs[earlier:]:
            together, waiting = waiting[: len(given["input_ids"])], waiting[len(given["input_ids"]) :]
            written = [tokenizer(reply.text)["input_ids"] for _, reply in together]
            lacks = shortfalls(model, given, written)
            for (request, _), row, row_lacks in zip(together, written, lacks, strict=True):
                assert len(row) == request.sampling.max_tokens
                assert max(row_lacks) <= tolerance
        assert not waiting
        texts += [reply.text for reply in replies]
    assert len(set(texts[:3])) == 3, "each clip has an answer of its own"


@pytest.mark.parametrize("kind", QWENS)
def test_prompts_are_the_tokens_of_the_template(kind: str, folder_of: Any, model_calls: ModelCalls) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder_of(kind))
    requests = unequal_requests("without sound")
    ask(engine_of(folder_of(kind)), requests)
    (given,) = model_calls.inputs
    video = VIDEO.get(kind, "<|video_pad|>")
    for row, request in enumerate(requests):
        assert request.clip is not None
        turns = [
            {
                "role": "user",
                "content": [{"type": "video"}, {"type": "text", "text": request.messages[0].text}],
            }
        ]
        text = str(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))
        (frames, high, wide), _ = grid_and_step(kind, request.clip)
        whole = START.get(kind, "<|vision_start|>") + video + END.get(kind, "<|vision_end|>")
        block = whole.replace(video, video * (frames * high * wide))
        if kind.startswith("qwen3"):
            moments = (
                np.append(request.clip.seconds, request.clip.seconds[-1:])[: 2 * frames]
                - request.clip.seconds[0]
            )
            block = "".join(
                f"<{moment:.1f} seconds>{whole.replace(video, video * (high * wide))}"
                for moment in moments.reshape(frames, 2).mean(1)
            )
        expected = tokenizer(text.replace(whole, block))["input_ids"]
        assert given["input_ids"][row, given["attention_mask"][row].bool()].tolist() == expected


# Half precision
def test_a_vision_tower_whose_numbers_float16_cannot_hold_sees_as_in_float32(
    tmp_path: Path, model_calls: ModelCalls
) -> None:
    folder = qwen_folder(tmp_path / "large", "qwen2_5_vl")
    weights = load_file(folder / "model.safetensors")
    for name, weight in weights.items():
        if "visual.blocks.1.mlp" in name and "weight" in name:
            weights[name] = weight * 400
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    requests = [
        make_request(name, clip=make_clip(4, seed=seed), max_tokens=3) for seed, name in enumerate("abc")
    ]
    whole = [reply.text for reply in ask(engine_of(folder), requests)]
    assert [reply.text for reply in ask(engine_of(folder, "float16"), requests)] == whole
    model = plain_model(folder, torch.float16)
    pixels = model_calls.inputs[-1]
    features = model.model.visual(pixels["pixel_values_videos"].half(), grid_thw=pixels["video_grid_thw"])
    assert not torch.isfinite(features.pooler_output).all(), "which float16 alone cannot"


def test_a_language_model_that_overflows_in_float16_says_so(tmp_path: Path) -> None:
    folder = qwen_folder(tmp_path / "large", "qwen2_vl")
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in weights if name.endswith("layers.1.mlp.down_proj.weight"))
    weights[name] = weights[name] * 1e5
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    requests = unequal_requests("qwen2_vl")
    ask(engine_of(folder), requests)
    with pytest.raises(EngineError, match="numbers of large become too large for float16") as caught:
        engine_of(folder, "float16").generate(requests)
    assert "compute.precision" in caught.value.hint
