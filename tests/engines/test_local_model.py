"""Models of this machine: which is meant, whether it fits, how it is loaded and shared, and the engine llama3."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
import torch
from safetensors.torch import load_file, save_file

from shotad.core import Config, Message, NoProgress, Reply, Request, ShotadError, load_config
from shotad.core.config.words import SamplingSettings
from shotad.core.engine import Stage
from shotad.core.errors import ConfigError, EngineError, WeightsError
from shotad.core.settings import build_settings
from shotad.description import Engines
from shotad.engines import local_model as names, make_engine
from shotad.engines.local_model import ModelPlace, resolve
from tests.bad_server import Act, BadServer
from tests.gpus import show_gpus
from tests.grammar.dino_models import COMMIT, put_in_cache
from tests.language_models import CountedLlama, ModelCalls, add_ballast, make_llama

LLAMA = "meta-llama/Meta-Llama-3-8B-Instruct"
GB = 10**9


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return make_llama(tmp_path_factory.mktemp("models") / "tiny-llama")


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    return shutil.copytree(model, tmp_path / "elsewhere" / "tiny-llama")


# Which model is meant, and what tells it from others
def test_a_folder_is_known_by_its_name_and_its_files(model: Path, copy: Path, tmp_path: Path) -> None:
    place, again = resolve(str(model)), resolve(str(copy))
    assert (place.folder, place.label, place.gguf) == (model, "tiny-llama", None)
    assert place.revision.startswith("files:")
    assert (again.label, again.revision) == (place.label, place.revision)
    assert names.place_on_disk(str(model)) == place
    assert str(tmp_path) not in names.label_of(str(copy)) + again.label + again.revision


def test_a_short_name_is_a_repository_of_the_hub(empty_hub: Path, model: Path) -> None:
    assert names.label_of("llama3-8b") == LLAMA
    assert names.place_on_disk("llama3-8b") is None
    wanted = ModelPlace(put_in_cache(empty_hub, LLAMA, model), LLAMA, COMMIT)
    assert names.place_on_disk("llama3-8b") == names.place_on_disk("llama3-8b", COMMIT) == wanted
    assert resolve("llama3-8b") == resolve(LLAMA) == wanted
    assert names.place_on_disk("llama3-8b", "f" * 40) is None


def test_what_cannot_be_had_says_what_to_do(empty_hub: Path, copy: Path, tmp_path: Path) -> None:
    (copy / "model.safetensors").unlink()
    (tmp_path / "model.bin").write_bytes(b"x")
    for name, revision, what, hint in (
        ("llama3-8b", None, "Meta-Llama-3-8B-Instruct", "accept.*HF_TOKEN|HF_TOKEN.*accept"),
        ("somebody/something", "v1", "somebody/something in revision v1", "Check the name"),
        ("lama3-8b", None, "no model called 'lama3-8b'", r"Did you mean llama3-8b\?.*smollm2"),
        ("silero-vad", None, "no model called 'silero-vad'", ""),
        (str(copy), None, "no whole model", ""),
        (str(tmp_path / "model.bin"), None, "neither a model's folder nor a GGUF", ""),
    ):
        with pytest.raises(WeightsError, match=what) as caught:
            resolve(name, revision)
        assert re.search(hint, caught.value.hint, re.DOTALL), name


def test_a_gguf_file_is_known_by_its_bytes_and_one_of_the_manifest_is_fetched_at_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, changed = tmp_path / "small.Q4_1.gguf", tmp_path / "other" / "small.Q4_1.gguf"
    changed.parent.mkdir()
    path.write_bytes(bytes(200_000))
    changed.write_bytes(bytes(100_000) + b"x" * 100_000)
    place = resolve(str(path))
    assert (place.folder, place.label, place.gguf) == (tmp_path, path.name, path.name)
    assert resolve(str(changed)).revision != place.revision
    content = b"GGUF" + bytes(1000)
    digest = hashlib.sha256(content).hexdigest()
    (tmp_path / "models").mkdir()
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SHOTAD_DATA", str(tmp_path))
    with BadServer(lambda seen: Act(body=content)) as server:
        (tmp_path / "models" / "manifest.yaml").write_text(
            f"schema: 1\nweights:\n  tiny:\n    role: test\n    file: Tiny.Q4_1.gguf\n    sha256: {digest}\n"
            f"    bytes: {len(content)}\n    memory_mb: 1\n    licence: MIT\n    credit: nobody\n"
            f"    sources:\n      - {{kind: url, url: {server.url}/chat/completions}}\n"
        )
        assert names.label_of("tiny") == "tiny"
        assert names.place_on_disk("tiny") is None
        place = resolve("tiny")
        assert names.place_on_disk("tiny") == resolve("tiny") == place
        assert len(server.requests) == 1
    assert (place.gguf, place.revision) == ("Tiny.Q4_1.gguf", f"sha256:{digest[:16]}")
    assert (place.folder / place.gguf).read_bytes() == content


def test_what_is_no_engine_is_told() -> None:
    for name, what in (
        ("os:path", "os:path is no class"), ("builtins:str", "builtins:str is no engine"),
        ("shotad:nothing", "cannot be loaded"), ("no_such_module:Class", "cannot be loaded"),
        ("fakee", "Did you mean fake"),
    ):  # fmt: skip
        with pytest.raises(EngineError) as told:
            make_engine(name, load_config(), "stage1")
        assert what in str(told.value)


# Whether this machine can run it
@pytest.fixture
def set_gpu_memory(
    empty_hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int | None], None]:
    """Gives this machine a GPU with so many bytes, or one that does not tell (None); a large disk; no model
    is here, and none can be fetched."""
    if sys.platform == "darwin" or any(Path(name).exists() for name in ("/dev/kfd", "/dev/dxg")):
        pytest.skip("the GPU of this machine is not one of NVIDIA's own program")
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    usage: Any = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=100 * GB))
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def gpu(memory: int | None) -> None:
        answer = "exit 9" if memory is None else f"echo {memory >> 20}"
        program.write_text(f"#!/bin/sh\n{answer}\n", encoding="ascii")
        program.chmod(0o755)

    return gpu


def test_what_holds_the_larger_is_fit_and_what_does_not_is_refused_before_it_fetches(
    set_gpu_memory: Callable[[int | None], None],
) -> None:
    small = ["stage1.model=qwen2-vl-2b", "stage2.model=llama3.2-3b"]
    fit: list[tuple[int | None, list[str]]] = [
        (24 * GB, []),
        (None, []),  # one that does not tell its memory is tried
        (8 * GB, ["local.quantise=4bit"]),
        (0, small),
        (0, ["compute.device=cpu", *small]),
    ]
    for memory, assignments in fit:
        set_gpu_memory(memory)
        config = load_config(["paper"], assignments)
        Engines.of(config).check_machine(config)
    for memory, lacks in ((0, "there is none"), (8 * GB, "there are 8.0 GB")):
        set_gpu_memory(memory)
        engine: Any = make_engine("llama3", load_config(["paper"]), "stage2")
        with pytest.raises(
            EngineError, match=f"cannot run {re.escape(LLAMA)}.*{lacks}.*would have been 16.1 GB"
        ):
            engine.get_ready(NoProgress())


# Loading: strict, quiet, without code of the model's own
def chat(
    model: Path | str | None,
    device: str = "cpu",
    precision: Any = "float32",
    stage: Stage = "stage2",
    **local: Any,
) -> Any:
    """The engine llama3 with this model."""
    settings = {"model": None if model is None else str(model), "sampling": {"max_tokens": 40}}
    compute = {"device": device, "precision": precision}
    config = build_settings(Config, {"stage2": settings, "compute": compute, "local": local})
    return make_engine("llama3", config, stage)


def ask(model: Path, max_tokens: int = 8) -> Reply:
    """What the model answers, the likeliest word at each step."""
    sampling = SamplingSettings(max_tokens=max_tokens, temperature=0.0)
    (reply,) = chat(model).generate([Request("s1", (Message("user", "What falls?"),), sampling=sampling)])
    return cast(Reply, reply)


def test_tied_weights_are_not_missed(tmp_path: Path) -> None:
    assert ask(make_llama(tmp_path / "tied", tied=True)).finish != "error"


def test_files_that_are_not_whole_are_refused(model: Path, copy: Path) -> None:
    path = copy / "model.safetensors"
    weights = load_file(path)
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(WeightsError, match=r"lacks 1 of its weights, such as model\.layers\.1\.mlp\.up_proj"):
        ask(copy)
    path.write_bytes(path.read_bytes()[:-5000])
    with pytest.raises(WeightsError, match="cannot be loaded"):
        ask(copy)
    ask(model)  # beside which the next would have to fit
    path.write_bytes(b'\x05\x00\x00\x00\x00\x00\x00\x00{"a":')
    with pytest.raises(WeightsError, match=r"model\.safetensors are damaged"):
        ask(copy)
    (copy / "tokenizer.json").unlink()
    (copy / "tokenizer_config.json").unlink()
    with pytest.raises(WeightsError, match="The tokenizer of tiny-llama cannot be loaded"):
        chat(copy).get_ready(NoProgress())


def test_code_that_comes_with_a_model_is_not_run(copy: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (copy / "evil.py").write_text(f"open({str(mark)!r}, 'w')\n")
    config = json.loads((copy / "config.json").read_text())
    config["model_type"] = "evil"
    config["auto_map"] = {"AutoConfig": "evil.EvilConfig", "AutoModelForCausalLM": "evil.Evil"}
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(WeightsError, match="The configuration of tiny-llama cannot be read"):
        ask(copy)
    assert not mark.exists()


def test_weights_in_fewer_bits_need_a_gpu_and_a_library_and_no_gguf(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"local\.quantise = '4bit' cannot be used on cpu"):
        chat(model, quantise="4bit").get_ready(NoProgress())
    show_gpus(monkeypatch, 1)
    for missing in ("bitsandbytes", "accelerate"):
        monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        ShotadError, match=r"needs bitsandbytes and accelerate, which is not installed.*pip install"
    ):
        chat(model, device="auto", quantise="8bit").get_ready(NoProgress())
    for present in ("bitsandbytes", "accelerate"):
        library = ModuleType(present)
        library.__spec__ = ModuleSpec(present, None)
        monkeypatch.setitem(sys.modules, present, library)
    gguf = tmp_path / "a.gguf"
    gguf.write_bytes(b"GGUF")
    with pytest.raises(ConfigError, match=r"GGUF file of a\.gguf"):
        chat(gguf, device="auto", quantise="8bit").get_ready(NoProgress())


# Loaded models are shared, and put away where another does not fit beside them
SAYS = {"a": "He opens the door.", "b": "A woman crosses."}


@pytest.fixture
def speakers(tmp_path: Path) -> Iterator[dict[str, Path]]:
    """Two models that tell their loads, each with an answer of its own."""
    folders = {name: make_llama(tmp_path / name, says=text, counted=True) for name, text in SAYS.items()}
    CountedLlama.loads.clear()
    CountedLlama.most = 100
    yield folders
    CountedLlama.most = 100


def test_models_stay_where_they_fit(speakers: dict[str, Path]) -> None:
    assert [ask(speakers[name], 40).text for name in "aababab"] == [SAYS[name] for name in "aababab"]
    assert CountedLlama.loads == ["a", "b"]


def test_models_give_way_to_one_that_does_not_fit_by_its_files(speakers: dict[str, Path]) -> None:
    add_ballast(speakers["b"])
    ask(speakers["a"])
    assert ask(speakers["b"], 40).text == SAYS["b"]
    assert len(CountedLlama.in_memory) == 1
    assert ask(speakers["a"], 40).text == SAYS["a"]
    assert len(CountedLlama.in_memory) == 2, "the small one fits beside the large one"
    assert CountedLlama.loads == ["a", "b", "a"]


def test_models_give_way_where_memory_runs_out_at_loading(speakers: dict[str, Path]) -> None:
    ask(speakers["a"])
    CountedLlama.most = 1
    CountedLlama.loads.clear()
    assert [ask(speakers[name], 40).text for name in "ba"] == [SAYS[name] for name in "ba"]
    assert CountedLlama.loads == ["b", "b", "a", "a"]


def test_one_that_does_not_fit_is_refused(speakers: dict[str, Path]) -> None:
    CountedLlama.most = 0
    with pytest.raises(EngineError, match=r"b does not fit .* about 0\.0 GB in float32") as caught:
        ask(speakers["b"])
    assert caught.value.hint == "Name a smaller model, or let a server answer."
    CountedLlama.most = 1
    assert ask(speakers["a"], 40).text == SAYS["a"], "and others still answer"


def test_threads_take_turns(speakers: dict[str, Path], model_calls: ModelCalls) -> None:
    ask(speakers["a"])
    CountedLlama.most = 1

    def answers(name: str) -> set[str]:
        return {ask(speakers[name], 40).text for _ in range(8)}

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(answers, "abab")) == [{SAYS[name]} for name in "abab"]
    assert model_calls.most_at_once == 1


# The engine llama3
def test_making_one_is_cheap_and_fetches_nothing(model: Path) -> None:
    program = (
        "import sys\n"
        "from shotad.core.config import Config, Stage2Settings\n"
        "from shotad.engines import make_engine\n"
        f"engine = make_engine('llama3', Config(stage2=Stage2Settings(model={str(model)!r})), 'stage2')\n"
        "print(engine.identity.model, [name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["tiny-llama", "[]"]


def test_who_answers_is_known_once_it_is_ready_which_reads_no_weights(speakers: dict[str, Path]) -> None:
    engine = chat(speakers["a"])
    assert (engine.identity.engine, engine.identity.model) == ("llama3", "a")
    engine.get_ready(NoProgress())
    assert CountedLlama.loads == []
    ready = engine.identity
    assert (ready.revision[:6], ready.revision[-8:]) == ("files:", " float32")
    messages = (Message("system", "Be short."), Message("user", "What does he do?"))
    engine.generate([Request("s1", messages, sampling=SamplingSettings(max_tokens=8))])
    assert CountedLlama.loads == ["a"]
    assert engine.identity == ready
    half = chat(speakers["a"], precision="bfloat16")
    half.get_ready(NoProgress())
    assert half.identity != ready, "another precision gives other answers"
    assert str(speakers["a"].parent) not in f"{ready}"


def test_the_unworkable_is_refused_first(
    model: Path, tmp_path: Path, set_gpu_memory: Callable[[int | None], None]
) -> None:
    with pytest.raises(EngineError, match=r"short takes 128 tokens; stage2.sampling.max_tokens is 40"):
        chat(make_llama(tmp_path / "short", context=128)).get_ready(NoProgress())
    set_gpu_memory(24 * GB)
    with pytest.raises(ConfigError, match="cuda:99"):
        chat(None, device="cuda:99").get_ready(NoProgress())
    with pytest.raises(WeightsError, match="no model called"):
        chat("lama3")
