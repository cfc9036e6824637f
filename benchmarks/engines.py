"""Lines per minute of the local engines, against a plain loop: batch 1, nothing prepared meanwhile.

    python benchmarks/engines.py                   # on a GPU the paper's models, else small ones
    python benchmarks/engines.py --size full --device cuda --clips 32 --batch 16
    python benchmarks/engines.py --size tiny --json

Weights are random and made on the device: they change no cost. ``full`` has the shapes of Qwen2-VL-7B and
Meta-Llama-3-8B in bfloat16, clips of 32 frames of 504 x 280 (2880 tokens) and prompts as long as the
published ones; ``tiny`` has models of a few million weights, 8 frames of 112 x 112 and short prompts. Such
models never end by themselves, so that each request gets the length of its answer beforehand, drawn as
unevenly as real answers are long (from half to one and a half times the mean): a batch works until its
longest is done, as with real answers.

Both ways answer the same requests with the same loaded model, in turns, and the ratio is that of each turn.
``busy`` is the share of the wall time inside ``generate`` (on a GPU between CUDA events); on a GPU
``kernels`` is the share in which one of its kernels ran, by torch's profiler, over one call of each way.
"""

from __future__ import annotations

import argparse
import functools
import json
import platform
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
import transformers

from shotad.core import (
    ComputeSettings,
    Config,
    Message,
    NoProgress,
    Reply,
    Request,
    SamplingSettings,
    device_of,
    load_config,
)
from shotad.engines import local_loading as shelf
from shotad.engines.local_answers import pad_token, padded
from shotad.engines.local_chat import ChatModel, prompt_ids
from shotad.engines.local_loading import Loaded, Way
from shotad.engines.local_vision import VisionModel
from tests.vision_models import CHATML, QWEN_MARKS, make_clip, make_tokenizer

MROPE = {"rope_type": "default", "rope_theta": 1e6}


@dataclass(frozen=True)
class Task:
    """What a stage is asked: tokens of words in the prompt and in the mean answer, frames and their size."""

    words: int
    answer: int
    frames: int = 0
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class Size:
    """Shapes of both models, and what they are asked."""

    looks: dict[str, Any]
    writes: dict[str, Any]
    stage1: Task
    stage2: Task


FULL = Size(
    looks={
        "text_config": {
            "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
            "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064,
            "max_position_embeddings": 32768,
            "rope_parameters": {**MROPE, "mrope_section": [16, 24, 24]}, "tie_word_embeddings": False,
        },
        "vision_config": {
            "depth": 32, "embed_dim": 1280, "hidden_size": 3584, "num_heads": 16, "mlp_ratio": 4,
        },
    },
    writes={
        "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192,
        "rope_parameters": {"rope_type": "default", "rope_theta": 5e5},
    },
    stage1=Task(words=430, answer=260, frames=32, width=504, height=280),
    stage2=Task(words=900, answer=45),
)  # fmt: skip

TINY = Size(
    looks={
        "text_config": {
            "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8,
            "num_key_value_heads": 2, "vocab_size": 512, "max_position_embeddings": 4096,
            "rope_parameters": {**MROPE, "mrope_section": [4, 6, 6]}, "tie_word_embeddings": False,
        },
        "vision_config": {"depth": 4, "embed_dim": 128, "hidden_size": 256, "num_heads": 4, "mlp_ratio": 2},
    },
    writes={
        "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8,
        "num_key_value_heads": 2, "vocab_size": 512, "max_position_embeddings": 4096,
    },
    stage1=Task(words=60, answer=32, frames=8, width=112, height=112),
    stage2=Task(words=120, answer=16),
)  # fmt: skip


@dataclass
class Clock:
    """Seconds inside ``generate`` since `start`."""

    device: torch.device
    seconds: float = 0.0
    events: list[tuple[Any, Any]] = field(default_factory=list)

    def wrap(self, model: Any) -> None:
        """Have the model's calls counted."""
        real = model.generate

        @functools.wraps(real)
        def timed(*args: Any, **options: Any) -> Any:
            if self.device.type == "cuda":
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                found = real(*args, **options)
                end.record()
                self.events.append((begin, end))
                return found
            start = time.perf_counter()
            found = real(*args, **options)
            self.seconds += time.perf_counter() - start
            return found

        model.generate = timed

    def taken(self) -> float:
        """Seconds since the last call of this."""
        if self.events:
            torch.cuda.synchronize(self.device)
            self.seconds += sum(begin.elapsed_time(end) for begin, end in self.events) / 1000
        found, self.seconds, self.events = self.seconds, 0.0, []
        return found


def make_folders(size: Size, root: Path) -> tuple[Path, Path]:
    """Folders with configurations and words, and weights that are not read."""
    transformers.utils.logging.set_verbosity_error()
    tokenizer = make_tokenizer(QWEN_MARKS, CHATML, eos="<|im_end|>", pad="<|endoftext|>")
    marks = {"image": "<|image_pad|>", "video": "<|video_pad|>"}
    marks |= {"vision_start": "<|vision_start|>", "vision_end": "<|vision_end|>"}
    ids = {f"{name}_token_id": tokenizer.convert_tokens_to_ids(mark) for name, mark in marks.items()}
    configs = (
        transformers.AutoConfig.for_model("qwen2_vl", **size.looks, **ids),
        transformers.AutoConfig.for_model("llama", bos_token_id=None, eos_token_id=None, **size.writes),
    )
    folders = (root / "looks", root / "writes")
    for folder, config in zip(folders, configs, strict=True):
        tokenizer.save_pretrained(folder)
        config.save_pretrained(folder)
        (folder / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    return folders


def made(way: Way) -> Loaded:
    """A model with random weights, made where it works."""
    config = transformers.AutoConfig.from_pretrained(way.place.folder)
    kind = "AutoModelForImageTextToText" if way.kind == "image-text" else "AutoModelForCausalLM"
    torch.manual_seed(0)
    with torch.device(way.device):
        model = getattr(transformers, kind).from_config(config, dtype=way.dtype).eval()
    model.generation_config = transformers.GenerationConfig()
    return Loaded(model.to(way.device), way.device, way.dtype, way.place.label)


@contextmanager
def own_shelf() -> Iterator[None]:
    """The engines take their models from `made` meanwhile."""
    before, mine = shelf.lent, shelf.Shelf(read=made, size=lambda _: 0)
    shelf.lent = mine.lent  # type: ignore[method-assign]
    try:
        yield
    finally:
        shelf.lent = before  # type: ignore[method-assign]
        mine.clear()


def asked(task: Task, number: int) -> list[Request]:
    """Requests with texts, frames and lengths of answers of their own."""
    random = np.random.default_rng(0)
    requests = []
    for index in range(number):
        words = int(task.words * random.uniform(0.9, 1.1))
        text = "".join(chr(letter) for letter in random.integers(97, 123, words))
        answer = int(task.answer * random.uniform(0.5, 1.5))
        clip = make_clip(task.frames, task.width, task.height, seed=index) if task.frames else None
        message = Message("user", text, with_clip=clip is not None)
        sampling = SamplingSettings(max_tokens=answer)
        requests.append(Request(f"s{index:08d}", (message,), clip=clip, sampling=sampling))
    return requests


def by_engine(engine: VisionModel | ChatModel, requests: Sequence[Request], batch: int) -> list[Reply]:
    """As a run asks it: up to a batch at once."""
    return [
        reply for at in range(0, len(requests), batch) for reply in engine.generate(requests[at : at + batch])
    ]


def by_loop(engine: VisionModel | ChatModel, loaded: Loaded, requests: Sequence[Request]) -> list[Reply]:
    """One after the other: prepare, ask, read."""
    ready = engine._prepared(NoProgress())
    return [_one(ready, loaded, request) for request in requests]


def _one(ready: Any, loaded: Loaded, request: Request) -> Reply:
    tokenizer = ready.tokenizer
    words = getattr(ready, "words", None)
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
    return Reply(tokenizer.decode(row, skip_special_tokens=True, clean_up_tokenization_spaces=False).strip())


def measured(
    engine: VisionModel | ChatModel, task: Task, config: Config, number: int, rounds: int
) -> dict[str, Any]:
    """Both ways in turns, after one of each that does not count."""
    ready = engine._prepared(NoProgress())
    kind = "image-text" if isinstance(engine, VisionModel) else "text"
    with shelf.lent(ready.place, kind, config.compute, config.local) as loaded:  # type: ignore[arg-type]
        pass
    clock = Clock(loaded.device)
    clock.wrap(loaded.model)
    requests, batch = asked(task, number), config.local.batch
    ways: dict[str, Callable[[], list[Reply]]] = {
        "engine": lambda: by_engine(engine, requests, batch),
        "loop": lambda: by_loop(engine, loaded, requests),
    }
    texts = {name: [reply.text for reply in way()] for name, way in ways.items()}
    found: dict[str, Any] = {name: {"per_minute": [], "busy": []} for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            _fresh(loaded.device)
            clock.taken()
            start = time.perf_counter()
            way()
            inside = clock.taken()
            wall = time.perf_counter() - start
            found[name]["per_minute"].append(60 * number / wall)
            found[name]["busy"].append(inside / wall)
            found[name]["gib"] = _peak(loaded.device)
    return {
        "requests": number,
        "precision": str(loaded.dtype).removeprefix("torch."),
        "same_words": sum(map(str.__eq__, texts["engine"], texts["loop"])),
        "ratio": statistics.median(
            ours / theirs
            for ours, theirs in zip(found["engine"]["per_minute"], found["loop"]["per_minute"], strict=True)
        ),
        **{name: _summed(row) for name, row in found.items()},
        **({"kernels": kernels(ways)} if loaded.device.type == "cuda" else {}),
        "limit": loaded.limit,
    }


def _summed(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: statistics.median(value) if isinstance(value, list) else value for name, value in row.items()
    }


def _fresh(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)


def _peak(device: torch.device) -> float:
    """GiB on the GPU; on a CPU, of the whole process since it began."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def kernels(ways: dict[str, Callable[[], list[Reply]]]) -> dict[str, float]:
    """The share of the wall time in which a kernel of the GPU ran."""
    found = {}
    for name, way in ways.items():
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            start = time.perf_counter()
            way()
            torch.cuda.synchronize()
            wall = time.perf_counter() - start
        found[name] = sum(one.self_device_time_total for one in profile.key_averages()) / 1e6 / wall
    return found


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--size", choices=["auto", "tiny", "full"], default="auto")
    words.add_argument("--device", default="auto")
    words.add_argument("--precision", choices=["auto", "float32", "bfloat16"], default="auto")
    words.add_argument("--clips", type=int, default=16)
    words.add_argument("--batch", type=int, nargs="+", default=[8, 16])
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--threads", type=int, default=2, help="1 where other programs keep the cores busy")
    words.add_argument("--stage", choices=["1", "2", "both"], default="both")
    words.add_argument("--json", action="store_true")
    chosen = words.parse_args()
    torch.set_num_threads(chosen.threads)
    device = device_of(ComputeSettings(device=chosen.device))
    full = chosen.size == "full" or (chosen.size == "auto" and device.type == "cuda")
    size = FULL if full else TINY
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    print(
        f"{'full' if full else 'tiny'} on {name}, torch {torch.__version__}, transformers "
        f"{transformers.__version__}, {torch.get_num_threads()} threads",
        file=sys.stderr,
    )
    with tempfile.TemporaryDirectory() as root:
        looks, writes = make_folders(size, Path(root))
        rows = [
            {"stage": stage, "batch": batch, **found}
            for batch in chosen.batch
            for stage, found in stages(size, (looks, writes), chosen, device, batch)
        ]
    print(json.dumps(rows, indent=2) if chosen.json else "\n".join(map(told, rows)))


def stages(
    size: Size, folders: tuple[Path, Path], chosen: argparse.Namespace, device: torch.device, batch: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each stage with its own model, which is put away after it."""
    config = load_config(
        None,
        [
            f"stage1.model={folders[0]}", f"stage2.model={folders[1]}", f"compute.device={device}",
            f"compute.precision={chosen.precision}",
            f"local.batch={batch}",
            f"frames.min_pixels={min(100352, size.stage1.width * size.stage1.height)}",
            f"frames.inside={size.stage1.frames // 2}", f"frames.outside={size.stage1.frames // 2}",
        ],
    )  # fmt: skip
    for stage, engine, task in (
        ("1", VisionModel(config, "stage1"), size.stage1),
        ("2", ChatModel(config, "stage2"), size.stage2),
    ):
        if chosen.stage in (stage, "both"):
            with own_shelf():
                yield stage, measured(engine, task, config, chosen.clips, chosen.rounds)


def told(row: dict[str, Any]) -> str:
    engine, loop = row["engine"], row["loop"]
    lines = [
        f"Stage {'I' if row['stage'] == '1' else 'II'}, {row['precision']}, batch {row['batch']}, "
        f"{row['requests']} requests: "
        f"{row['ratio']:.2f} times the plain loop (the same words in {row['same_words']})"
    ]
    for name, one in (("engine", engine), ("loop", loop)):
        ran = f", a kernel ran {row['kernels'][name]:.0%}" if "kernels" in row else ""
        lines.append(
            f"  {name:6} {one['per_minute']:8.1f} a minute, {one['busy']:.0%} of the time in generate{ran}, "
            f"peak {one['gib']:.2f} GiB"
        )
    if row["limit"] is not None:
        lines.append(f"  memory ran out: batches were cut to {row['limit']} tokens")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
