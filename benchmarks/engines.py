"""Lines per minute of the local engines, against a plain loop: batch 1, nothing prepared meanwhile.

    python benchmarks/engines.py [--clips 16] [--batch 8 16] [--device auto]

The models have a few million random weights, which change no cost; they are asked about 8 frames of 112 x 112
with short prompts. Such models never end by themselves, so that each request gets the length of its answer
beforehand, drawn as unevenly as real answers are long (from half to one and a half times the mean): a batch
works until its longest is done, as with real answers. Both ways answer the same requests with the same loaded
model, in turns, and the ratio is that of each turn.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
import transformers

from shotad.core import Config, Message, NoProgress, Request, SamplingSettings, load_config
from shotad.engines import local_loading
from shotad.engines.local_answers import pad_token, padded
from shotad.engines.local_chat import ChatModel, prompt_ids
from shotad.engines.local_loading import Loaded
from shotad.engines.local_vision import VisionModel
from tests.vision_models import CHATML, QWEN_MARKS, make_clip, make_tokenizer

FRAMES, SIDE = 8, 112
WORDS = {"stage1": (60, 32), "stage2": (120, 16)}
"""Tokens of words in the prompt, and in the mean answer, of each stage."""
TEXT = {
    "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8,
    "num_key_value_heads": 2, "vocab_size": 512, "max_position_embeddings": 4096,
}  # fmt: skip
MROPE = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [4, 6, 6]}
VISION = {"depth": 4, "embed_dim": 128, "hidden_size": 256, "num_heads": 4, "mlp_ratio": 2}


def make_models(root: Path) -> dict[str, Path]:
    """A folder for the model of each stage."""
    transformers.utils.logging.set_verbosity_error()
    torch.manual_seed(0)
    tokenizer = make_tokenizer(QWEN_MARKS, CHATML, eos="<|im_end|>", pad="<|endoftext|>")
    marks = {"image": "<|image_pad|>", "video": "<|video_pad|>"}
    marks |= {"vision_start": "<|vision_start|>", "vision_end": "<|vision_end|>"}
    ids = {f"{name}_token_id": tokenizer.convert_tokens_to_ids(mark) for name, mark in marks.items()}
    text = {**TEXT, "rope_parameters": MROPE, "tie_word_embeddings": False}
    looks = transformers.Qwen2VLConfig(text_config=text, vision_config=VISION, **ids)
    writes = transformers.LlamaConfig(bos_token_id=None, eos_token_id=None, **TEXT)
    found = {}
    for stage, model in (
        ("stage1", transformers.Qwen2VLForConditionalGeneration(looks)),
        ("stage2", transformers.LlamaForCausalLM(writes)),
    ):
        model.generation_config = transformers.GenerationConfig()
        found[stage] = root / stage
        model.save_pretrained(found[stage])
        tokenizer.save_pretrained(found[stage])
    return found


def asked(stage: str, number: int) -> list[Request]:
    """Requests with texts, frames and lengths of answers of their own."""
    random, (mean, length) = np.random.default_rng(0), WORDS[stage]
    requests = []
    for index in range(number):
        words = int(mean * random.uniform(0.9, 1.1))
        text = "".join(chr(letter) for letter in random.integers(97, 123, words))
        sampling = SamplingSettings(max_tokens=int(length * random.uniform(0.5, 1.5)))
        clip = make_clip(FRAMES, SIDE, SIDE, seed=index) if stage == "stage1" else None
        message = Message("user", text, with_clip=clip is not None)
        requests.append(Request(f"s{index:08d}", (message,), clip=clip, sampling=sampling))
    return requests


def alone(ready: Any, loaded: Loaded, request: Request) -> str:
    """The plain loop's way with a request: prepare, ask, read."""
    tokenizer, words = ready.tokenizer, getattr(ready, "words", None)
    if words is None:
        made = padded([prompt_ids(tokenizer, request.messages)], pad_token(loaded, tokenizer))
    else:
        made = words.inputs([request])
    placed = {
        name: value.to(loaded.device, loaded.dtype if value.is_floating_point() else value.dtype)
        for name, value in made.items()
    }
    with torch.inference_mode():
        ids = loaded.model.generate(
            **placed, do_sample=False, max_new_tokens=request.sampling.max_tokens, eos_token_id=None,
            pad_token_id=pad_token(loaded, tokenizer),
        )  # fmt: skip
    row = ids[0, made["input_ids"].shape[1] :].tolist()
    return str(tokenizer.decode(row, skip_special_tokens=True, clean_up_tokenization_spaces=False)).strip()


def compared(
    engine: VisionModel | ChatModel, requests: Sequence[Request], config: Config, rounds: int
) -> tuple[list[float], int]:
    """Lines a minute by the engine over those by the loop, turn by turn after one of each that does not
    count; and in how many requests both have the same words."""
    ready, batch = engine._prepared(NoProgress()), config.local.batch
    kind = "image-text" if isinstance(engine, VisionModel) else "text"
    with local_loading.lent(ready.place, kind, config.compute, config.local) as loaded:  # type: ignore[arg-type]
        pass

    def ours() -> list[str]:
        parts = (requests[at : at + batch] for at in range(0, len(requests), batch))
        return [reply.text for part in parts for reply in engine.generate(part)]

    def plain() -> list[str]:
        return [alone(ready, loaded, request) for request in requests]

    def seconds(way: Callable[[], object]) -> float:
        begun = time.perf_counter()
        way()
        return time.perf_counter() - begun

    same = sum(map(str.__eq__, ours(), plain()))
    return [seconds(plain) / seconds(ours) for _ in range(rounds)], same


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--device", default="auto")
    words.add_argument("--clips", type=int, default=16)
    words.add_argument("--batch", type=int, nargs="+", default=[8, 16])
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--threads", type=int, default=2, help="1 where other programs keep the cores busy")
    chosen = words.parse_args()
    torch.set_num_threads(chosen.threads)
    with tempfile.TemporaryDirectory() as root:
        folders = make_models(Path(root))
        own = [f"{stage}.model={folder}" for stage, folder in folders.items()]
        own += [f"compute.device={chosen.device}", f"frames.min_pixels={SIDE * SIDE}"]
        own += [f"frames.inside={FRAMES // 2}", f"frames.outside={FRAMES // 2}"]
        for batch in chosen.batch:
            config = load_config(None, [*own, f"local.batch={batch}"])
            engines = {"stage1": VisionModel(config, "stage1"), "stage2": ChatModel(config, "stage2")}
            for stage, engine in engines.items():
                found, same = compared(engine, asked(stage, chosen.clips), config, chosen.rounds)
                local_loading.CACHE.clear()
                print(
                    f"{stage}, batch {batch}, {chosen.clips} requests: {statistics.median(found):.2f} times "
                    f"the plain loop ({min(found):.2f} to {max(found):.2f}); the same words in {same}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
