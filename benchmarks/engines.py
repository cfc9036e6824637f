"""Local models at true size with random weights: seconds a clip, peak memory, the batch that fits.

    python benchmarks/engines.py                # on a GPU: at most ten minutes, 20 GB of disk
    python benchmarks/engines.py --tiny         # tiny models on the CPU, to try the script

Nothing is fetched: a model is made from its configuration alone, saved, and loaded and asked as in a run.
What it says means nothing, but takes as long. Compared are several clips at once with one at a time, float16
with bfloat16, and the engine with transformers' own ``generate`` on the same input.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from common import command_line

from shotad.core import Config, Message, NoProgress, Request
from shotad.core.config.words import SamplingSettings
from shotad.core.settings import build_settings
from shotad.core.system import forget_peak, peak_memory
from shotad.engines import make_engine
from shotad.engines.local_check import painted_clip

LIMIT = 600.0
"""Seconds; models that would begin later are left out."""

QWEN_ROPE = {"rope_type": "default", "mrope_section": [16, 24, 24], "rope_theta": 1_000_000.0}
SIZES: dict[str, dict[str, Any]] = {
    "qwen2-vl-7b": {
        "kind": "qwen2_vl",
        "text_config": {
            "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
            "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064,
            "max_position_embeddings": 32768, "tie_word_embeddings": False, "rope_parameters": QWEN_ROPE,
        },
        "vision_config": {
            "depth": 32, "embed_dim": 1280, "hidden_size": 3584, "num_heads": 16, "patch_size": 14,
        },
    },
    "qwen3-vl-2b": {
        "kind": "qwen3_vl",
        "text_config": {
            "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 28,
            "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
            "max_position_embeddings": 262144, "tie_word_embeddings": True,
            "rope_parameters": {
                **QWEN_ROPE, "mrope_section": [24, 20, 20], "mrope_interleaved": True,
                "rope_theta": 5_000_000.0,
            },
        },
        "vision_config": {
            "depth": 24, "hidden_size": 1024, "intermediate_size": 4096, "num_heads": 16, "patch_size": 16,
            "out_hidden_size": 2048, "num_position_embeddings": 2304, "deepstack_visual_indexes": [5, 11, 17],
        },
        "tie_word_embeddings": True,
    },
    "llama3-8b": {
        "kind": "llama",
        "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192,
        "tie_word_embeddings": False, "rope_parameters": {"rope_type": "default", "rope_theta": 500_000.0},
    },
}  # fmt: skip
"""The published configurations, as far as they count for size and speed."""

_TINY_TEXT = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
              "num_key_value_heads": 2, "vocab_size": 512}  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """One model in one precision. Seconds are those of one request."""

    model: str
    precision: str
    loading: float
    alone: float
    together: float
    plain: float
    batch: int
    peak: int
    tokens: int

    @property
    def line(self) -> str:
        """What is printed."""
        speedup = f"{self.alone / self.together:.1f} times as fast"
        parts = [
            f"{self.model:12} {self.precision:9} {self.tokens} tokens in",
            f"{self.alone:.2f} s alone ({self.alone / self.plain:.2f} of plain generate)",
            f"{self.together:.2f} s with {self.batch} together ({speedup})",
            f"peak {self.peak / 1e9:.1f} GB",
            f"loaded in {self.loading:.0f} s",
        ]
        return "; ".join(parts)


def make_tiny(size: dict[str, Any]) -> dict[str, Any]:
    """The same configuration with few and small layers."""
    if "text_config" not in size:
        return {**size, **_TINY_TEXT}
    text = {**size["text_config"], **_TINY_TEXT}
    text["rope_parameters"] = {**text["rope_parameters"], "mrope_section": [2, 3, 3]}
    vision = {**size["vision_config"], "depth": 2, "hidden_size": 32, "num_heads": 2}
    if size["kind"] == "qwen2_vl":
        vision |= {"embed_dim": 32, "hidden_size": 64}
    else:
        text["head_dim"] = 16
        vision |= {"intermediate_size": 48, "out_hidden_size": 64, "num_position_embeddings": 64,
                   "deepstack_visual_indexes": [0]}  # fmt: skip
    return {**size, "text_config": text, "vision_config": vision}


def save_model(folder: Path, size: dict[str, Any], device: str) -> Path:
    """A model of this configuration with random weights, in bfloat16, with a tokenizer of bytes."""
    import torch
    import transformers

    from tests.vision_models import CHATML, QWEN_MARKS, make_tokenizer

    options = dict(size)
    kind = options.pop("kind")
    sees = "vision_config" in options
    template = CHATML if sees else CHATML_OF_WORDS
    tokenizer = make_tokenizer(QWEN_MARKS, template, eos="<|im_end|>", pad="<|endoftext|>")
    ids = {mark: tokenizer.convert_tokens_to_ids(mark) for mark in QWEN_MARKS}
    if sees:
        for name in ("image", "video"):
            options[f"{name}_token_id"] = ids[f"<|{name}_pad|>"]
        for name in ("vision_start", "vision_end"):
            options[f"{name}_token_id"] = ids[f"<|{name}|>"]
        options["vision_config"] = {
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            **size["vision_config"],
        }
    ends = {"bos_token_id": None, "eos_token_id": ids["<|im_end|>"], "pad_token_id": ids["<|endoftext|>"]}
    if sees:
        options["text_config"] = {**size["text_config"], **ends}
    else:
        options |= ends
    config = transformers.AutoConfig.for_model(kind, **options)
    name = "AutoModelForImageTextToText" if sees else "AutoModelForCausalLM"
    with torch.device(device):
        model = getattr(transformers, name).from_config(config, dtype=torch.bfloat16)
    model.generation_config.eos_token_id = ends["eos_token_id"]
    model.save_pretrained(folder, max_shard_size="4GB")
    del model
    tokenizer.save_pretrained(folder)
    patch = size["vision_config"]["patch_size"] if sees else 0
    if sees:
        settings = {"patch_size": patch, "merge_size": 2, "temporal_patch_size": 2}
        (folder / "preprocessor_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


CHATML_OF_WORDS = (
    "{% for turn in messages %}<|im_start|>{{ turn.role }}\n{{ turn.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def seconds(work: Callable[[], object]) -> float:
    """By the clock."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(
    name: str, folder: Path, precision: Literal["bfloat16", "float16", "float32"], *, tiny: bool
) -> Measured:
    """Load the model and ask it, as a run does."""
    import torch

    from shotad.core.model_cache import CACHE
    from shotad.engines.local_engines import accepted_names

    sees = name.startswith("qwen")
    stage: Literal["stage1", "stage2"] = "stage1" if sees else "stage2"
    count, answer, frames = (4, 4, 4) if tiny else (16, 64, 32)
    config = build_settings(
        Config,
        {
            stage: {"model": str(folder), "sampling": {"max_tokens": answer}},
            "compute": {"device": "cpu" if tiny else "auto", "precision": precision},
            "local": {"batch": count},
        },
    )
    engine: Any = make_engine("qwen2-vl" if sees else "llama3", config, stage)
    engine.get_ready(NoProgress())
    # Stage II's prompts have about 600 tokens; here a letter is a token.
    words = "What happens? " * (4 if tiny else 45)
    request = Request(
        "s0",
        (Message("user", words, with_clip=sees),),
        clip=painted_clip(frames) if sees else None,
        sampling=SamplingSettings(max_tokens=answer, temperature=0.0),
    )
    requests = [replace(request, slot_id=f"s{number}") for number in range(count)]

    def ask(chosen: list[Request]) -> list[Any]:
        replies: list[Any] = engine.generate(chosen)
        errors = [reply.error for reply in replies if reply.error]
        if errors:
            sys.exit(f"{name}: {errors[0]}")
        return replies

    loading = seconds(lambda: ask(requests[:1]))  # with the first kernels
    alone = seconds(lambda: ask(requests[:1]))
    forget_peak()
    with engine.lent_model() as loaded:
        cards = loaded.cards
        for card in cards:
            torch.cuda.reset_peak_memory_stats(card)
        ask(requests)  # the batch that fits is found
        replies: list[Any] = []
        together = seconds(lambda: replies.extend(ask(requests))) / count
        peak = sum(torch.cuda.max_memory_allocated(card) for card in cards) or peak_memory()
        accepted = accepted_names(loaded.model)

        def plain() -> None:
            model_input = {}
            for key, value in engine.words.inputs([request]).items():
                if key in accepted:
                    is_tensor = isinstance(value, torch.Tensor)
                    dtype = loaded.dtype if is_tensor and value.is_floating_point() else None
                    model_input[key] = value.to(loaded.device, dtype) if is_tensor else value
            with torch.inference_mode():
                loaded.model.generate(**model_input, max_new_tokens=answer, do_sample=False)

        plain_seconds = seconds(plain)
    CACHE.clear()
    return Measured(
        name,
        precision,
        loading,
        alone,
        together,
        plain_seconds,
        max(1, len(replies[0].batch)),
        peak,
        replies[0].usage.tokens_in,
    )


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each model and precision, and how the precisions compare."""
    parser = command_line(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny models on the CPU")
    parser.add_argument("--only", choices=SIZES, action="append", help="these models; repeatable")
    parser.add_argument("--out", type=Path, help="write what was measured into this JSON file")
    given = parser.parse_args(arguments)
    import torch

    if not given.tiny and not torch.cuda.is_available():
        print("There is no GPU that torch can use; try --tiny.", file=sys.stderr)
        return 1
    precisions = ("float32", "bfloat16") if given.tiny else ("bfloat16", "float16")
    began, results = time.monotonic(), []
    for name in given.only or SIZES:
        if time.monotonic() - began > LIMIT * 0.7:
            print(f"{name}: left out, {LIMIT:.0f} s would not be enough")
            continue
        size = make_tiny(SIZES[name]) if given.tiny else SIZES[name]
        with tempfile.TemporaryDirectory() as temporary:
            folder = save_model(Path(temporary, name), size, "cpu" if given.tiny else "cuda")
            pair = [measure(name, folder, precision, tiny=given.tiny) for precision in precisions]
        for result in pair:
            print(result.line, flush=True)
        first, second = pair
        ratio = second.together / first.together
        print(f"{name}: {second.precision} takes {ratio:.2f} of the time of {first.precision}", flush=True)
        results += pair
    if given.out is not None:
        rows = [vars(result) for result in results]
        given.out.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
