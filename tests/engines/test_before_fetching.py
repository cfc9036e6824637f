"""What is found out before the weights of a model are fetched or read: what this machine can hold, in which precision,
whether the libraries fit each other, and whether the model is of the right kind.
"""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import huggingface_hub
import torch
import transformers

from shotad.core import NoProgress, ShotadError, load_config
from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import ConfigError, EngineError
from shotad.core.model_cache import CACHE
from shotad.core.model_loading import dtype_of
from shotad.core.system import gpu_memories, gpu_memory
from shotad.description import Engines
from shotad.engines import make_engine
from tests.gpus import show_gpus
from tests.language_models import make_llama
from tests.vision_models import qwen_folder

GB = 10**9
T4, V100, CARD_OF_24 = 15_843_721_216, 34_089_730_048, 25_438_126_080
"""Bytes of memory as CUDA tells them."""
QWEN_7B = 16_582_751_232
COMMIT = "0123456789abcdef0123456789abcdef01234567"

ShowCards = Callable[..., None]


@pytest.fixture
def large_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is space for every model."""
    usage: Any = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=100 * GB))


@pytest.fixture
def cards(empty_hub: Path, large_disk: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ShowCards:
    """Gives this machine so many GPUs, by NVIDIA's program; no model is here."""
    if sys.platform == "darwin" or any(Path(name).exists() for name in ("/dev/kfd", "/dev/dxg")):
        pytest.skip("the GPU of this machine is not one of NVIDIA's own program")
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def show(*memories: int) -> None:
        lines = " ".join(str(memory >> 20) for memory in memories)
        program.write_text(f'#!/bin/sh\nfor card in {lines}; do echo "$card"; done\n', encoding="ascii")
        program.chmod(0o755)

    return show


def have_memory(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """The machine has ``size`` bytes of memory, or what its groups allow if that is less."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=size))


def refusal(*settings: str) -> str:
    """What the paper's models are refused for with these settings; empty where they are not."""
    config = load_config(["paper"], ["stage2.model=qwen2.5-7b", *settings])
    try:
        Engines.of(config).check_machine(config)
    except EngineError as error:
        return f"{error.what} {error.hint}"
    return ""


# Memory
def test_a_gpu_without_bfloat16_needs_no_more_memory_than_others(cards: ShowCards) -> None:
    cards(V100)
    assert refusal() == ""
    assert "39.8 GB of memory in float32 (there are 34.1 GB; with compute.precision=auto 19.9" in refusal(
        "compute.precision=float32"
    )
    cards(T4)
    assert "19.9 GB of memory (there are 15.8 GB; with local.quantise=4bit 6.6 GB are enough)" in refusal()
    assert refusal("local.quantise=4bit") == ""
    assert refusal("stage1.model=qwen3-vl-4b", "stage2.model=qwen3-vl-4b") == ""


def test_two_cards_hold_together_what_one_does_not(cards: ShowCards, monkeypatch: pytest.MonkeyPatch) -> None:
    cards(T4, T4)
    assert gpu_memories() == [T4 >> 20 << 20] * 2
    assert refusal() == refusal("compute.device=cuda") == ""
    assert "19.9 GB of memory (there are 15.8 GB" in refusal("compute.device=cuda:1")
    assert "on 2 GPUs together" in refusal("compute.precision=float32")
    cards(T4, CARD_OF_24)
    assert refusal("compute.device=cuda:1") == ""
    assert refusal("compute.device=cuda:7") == "", "which torch refuses"
    for visible, memories in (
        ("1", [CARD_OF_24]),
        ("1,0", [CARD_OF_24, T4]),
        ("GPU-a1b2", [T4, CARD_OF_24]),
        ("", []),
    ):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert gpu_memories() == [memory >> 20 << 20 for memory in memories]
        assert gpu_memory() == sum(memory >> 20 << 20 for memory in memories)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert "there are 15.8 GB" in refusal()


def test_a_processor_holds_it_in_bfloat16_at_least(cards: ShowCards, monkeypatch: pytest.MonkeyPatch) -> None:
    cards()
    have_memory(monkeypatch, 24 * GB)
    assert refusal("compute.device=cpu") == ""
    assert "39.8 GB of memory in float32 (there are 24.0 GB)" in refusal(
        "compute.device=cpu", "compute.precision=float32"
    )
    have_memory(monkeypatch, 16 * GB)
    assert "19.9 GB of memory (there are 16.0 GB)" in refusal("compute.device=cpu")


def test_a_mac_has_one_memory_for_all(
    empty_hub: Path, large_disk: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    have_memory(monkeypatch, 16 * GB)
    assert "19.9 GB of memory (there are 16.0 GB)" in refusal()
    have_memory(monkeypatch, 32 * GB)
    assert refusal() == ""


# Precision
def precision_of(folder: Path, *settings: str) -> str:
    """In which precision the model would be loaded, as it stands in the engine's identity. Reads no weights."""
    config = load_config(None, [f"stage2.model={folder}", "stage2.sampling.max_tokens=40", *settings])
    engine: Any = make_engine("llama3", config, "stage2")
    engine.get_ready(NoProgress())
    return str(engine.identity.revision).rpartition(" ")[2]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_llama(tmp_path_factory.mktemp("models") / "tiny")


@pytest.mark.parametrize(
    ("capability", "precision"),
    [((6, 1), "float16"), ((7, 0), "float16"), ((7, 5), "float16"), ((8, 6), "bfloat16")],
)
def test_a_gpu_loads_in_sixteen_bits(
    capability: tuple[int, int], precision: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_gpus(monkeypatch, 1, capability=capability)
    assert precision_of(model) == precision
    assert precision_of(model, "compute.precision=float32") == "float32"
    assert precision_of(model, "compute.precision=bfloat16") == "bfloat16"
    assert precision_of(model, "compute.device=cpu", "compute.precision=float16") == "float16"


@pytest.mark.parametrize("kind", ["gemma2", "gemma3_text", "glm4"])
def test_a_model_that_fails_in_float16_gets_float32(
    kind: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(model, tmp_path / kind)
    size = {
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
    }
    config = transformers.AutoConfig.for_model(
        kind, vocab_size=400, intermediate_size=96, pad_token_id=0, **size
    )
    config.save_pretrained(folder)
    show_gpus(monkeypatch, 1, capability=(7, 5))
    assert precision_of(folder) == "float32"
    with pytest.raises(
        ConfigError, match=rf"'float16' cannot be used for {kind} \({kind}\): its numbers"
    ) as caught:
        precision_of(folder, "compute.precision=float16")
    assert "float32" in caught.value.hint
    show_gpus(monkeypatch, 1, capability=(8, 0))
    assert precision_of(folder) == "bfloat16"


def test_a_processor_loads_in_bfloat16_what_it_cannot_hold_in_float32(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = str(dtype_of(ComputeSettings(), torch.device("cpu"))).removeprefix("torch.")
    assert precision_of(model, "compute.device=cpu") == best
    have_memory(monkeypatch, 4 * (model / "model.safetensors").stat().st_size)
    assert precision_of(model, "compute.device=cpu") == best
    have_memory(monkeypatch, (model / "model.safetensors").stat().st_size)
    assert precision_of(model, "compute.device=cpu") == "bfloat16"
    assert precision_of(model, "compute.device=cpu", "compute.precision=float32") == "float32"


def test_a_processor_reads_no_weights_that_it_cannot_hold(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(
        None,
        [
            f"stage2.model={model}",
            "compute.device=cpu",
            "compute.precision=float32",
            "stage2.sampling.max_tokens=40",
        ],
    )
    engine: Any = make_engine("llama3", config, "stage2")
    CACHE.clear()
    have_memory(monkeypatch, (model / "model.safetensors").stat().st_size // 2)
    with pytest.raises(
        EngineError, match=r"tiny does not fit: .* in float32, and this machine has .* Nothing"
    ):
        engine.generate([])


# Libraries that do not fit each other
def in_another_process(program: str, *paths: Path, **environment: str) -> str:
    """What a Python program prints, with these folders before all others."""
    path = os.pathsep.join([*map(str, paths), *filter(None, [os.environ.get("PYTHONPATH")]), os.getcwd()])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path, **environment}, check=True,
    )  # fmt: skip
    return done.stdout


ASK_BOTH = """
import sys
from shotad.core import NoProgress, ShotadError, load_config
from shotad.engines import make_engine
config = load_config(None, ["compute.device=cpu", *sys.argv[1:], {settings}])
for name, stage in (("qwen2-vl", "stage1"), ("llama3", "stage2")):
    try:
        make_engine(name, config, stage).get_ready(NoProgress())
    except ShotadError as error:
        print(error.what, error.hint)
"""


@pytest.mark.parametrize(
    ("line", "is_here"),
    [
        ("raise RuntimeError('operator torchvision::nms does not exist')", False),
        ("raise ImportError('/usr/lib/torchvision/_C.so: undefined symbol: _ZN3c104cuda9SetDevice')", True),
    ],
)
def test_a_torchvision_that_does_not_fit_is_named_before_anything_is_fetched(
    line: str, is_here: bool, model: Path, tmp_path: Path
) -> None:
    package = tmp_path / "broken" / "torchvision"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(line + "\n")
    metadata = tmp_path / "broken" / "torchvision-0.21.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: torchvision\nVersion: 0.21.0\n")
    names = [qwen_folder(tmp_path / "seer", "qwen2_vl"), model] if is_here else ["qwen2-vl-2b", "qwen3-vl-2b"]
    settings = ", ".join(repr(f"stage{number}.model={name}") for number, name in enumerate(names, 1))
    program = ASK_BOTH.replace("{settings}", settings)
    hub = tmp_path / "hub"
    hub.mkdir()
    output = in_another_process(program, package.parent, HF_HUB_CACHE=str(hub), HF_HUB_OFFLINE="1")
    messages = output.splitlines()
    assert len(messages) == 2
    for message in messages:
        assert "the torchvision that is installed does not fit torch" in message
        assert "pip uninstall torchvision" in message
        assert 'pip install "torchvision==0.' in message
        assert "again" not in message
    assert list(hub.iterdir()) == []


def test_no_error_of_a_library_is_taken_for_damaged_weights(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(
        None, [f"stage2.model={model}", "compute.device=cpu", "stage2.sampling.max_tokens=40"]
    )

    def missing(*args: Any, **options: Any) -> Any:
        raise ModuleNotFoundError("No module named 'flash_attn'", name="flash_attn")

    def load() -> None:
        engine: Any = make_engine("llama3", config, "stage2")
        engine.get_ready(NoProgress())
        engine.generate([])

    load()
    CACHE.clear()
    for loader in (transformers.AutoModelForCausalLM, transformers.AutoTokenizer):
        monkeypatch.setattr(loader, "from_pretrained", missing)
        with pytest.raises(
            ShotadError, match="tiny needs a library, .* not installed .*flash_attn"
        ) as caught:
            load()
        assert "again" not in caught.value.hint


# Small files first
class Hub:
    """The hub's own function is replaced: it brings those files of ``source`` that are asked for."""

    def __init__(self, cache: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[str | None, bool]] = []
        """Of each call the revision, and whether it was for the weights too."""

        def bring(repo: str, *, revision: str | None, allow_patterns: Sequence[str], tqdm_class: type) -> str:
            folder = cache / f"models--{repo.replace('/', '--')}"
            snapshot = folder / "snapshots" / COMMIT
            snapshot.mkdir(parents=True, exist_ok=True)
            (folder / "refs").mkdir(exist_ok=True)
            (folder / "refs" / "main").write_text(COMMIT)
            for file in source.iterdir():
                if any(fnmatch.fnmatch(file.name, pattern) for pattern in allow_patterns):
                    shutil.copy(file, snapshot)
            self.asked.append((revision, "*.safetensors" in allow_patterns))
            return str(snapshot)

        monkeypatch.setattr(huggingface_hub, "snapshot_download", bring)


def ready(name: str, *settings: str) -> Any:
    config = load_config(
        None, [f"stage1.model={name}", "compute.device=cpu", "compute.precision=float32", *settings]
    )
    engine: Any = make_engine("qwen2-vl", config, "stage1")
    engine.get_ready(NoProgress())
    return engine


def test_a_model_of_the_wrong_kind_is_refused_before_its_weights_are_fetched(
    empty_hub: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub(empty_hub, model, monkeypatch)
    with pytest.raises(EngineError, match="somebody/words .llama. is no model that takes images"):
        ready("somebody/words")
    assert hub.asked == [(None, False)]
    assert not list(empty_hub.rglob("*.safetensors"))


def test_a_model_that_will_do_is_fetched_in_the_version_that_was_looked_at(
    empty_hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub(empty_hub, qwen_folder(tmp_path / "seer", "qwen2_vl"), monkeypatch)
    engine = ready("somebody/seer", "frames.inside=2", "frames.outside=2")
    assert hub.asked == [(None, False), (COMMIT, True)]
    assert (engine.identity.model, engine.identity.revision) == ("somebody/seer", f"{COMMIT} float32")
    ready("somebody/seer", "frames.inside=2", "frames.outside=2")
    assert len(hub.asked) == 2, "it is here now"


def test_a_model_without_a_short_name_is_too_large_by_its_list_of_weights(
    cards: ShowCards, empty_hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = qwen_folder(tmp_path / "large", "qwen2_vl")
    config = json.loads((folder / "config.json").read_text())
    index = {
        "metadata": {"total_size": 2 * QWEN_7B},
        "weight_map": {"lm_head.weight": "model-00001.safetensors"},
    }
    (folder / "model.safetensors").rename(folder / "model-00001.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    hub = Hub(empty_hub, folder, monkeypatch)
    cards()
    for dtype, needed in (
        ("float32", "39.8 GB of memory in float32"),
        ("bfloat16", "79.6 GB of memory in float32"),
    ):
        have_memory(monkeypatch, 24 * GB)
        (folder / "config.json").write_text(json.dumps({**config, "dtype": dtype}))
        with pytest.raises(EngineError, match=f"cannot run somebody/large. Missing: {needed}"):
            ready("somebody/large")
    assert hub.asked == [(None, False)] * 2
