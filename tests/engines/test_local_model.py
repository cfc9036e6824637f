"""Models of this machine: which is meant, whether it fits, how it is loaded and shared, and the engine llama3."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from shotad.core import (
    Config,
    Message,
    NoProgress,
    Request,
    ShotadError,
    load_config,
)
from shotad.core.config.sight import ComputeSettings
from shotad.core.config.words import LocalSettings, SamplingSettings
from shotad.core.errors import (
    ConfigError,
    EngineError,
    WeightsError,
)
from shotad.core.settings import build_settings
from shotad.description import Engines
from shotad.engines import local_loading, local_model as names, make_engine
from shotad.engines.local_loading import (
    Loaded,
    LoadingWay,
    ModelCache,
    config_of,
    load_way,
    tokenizer_of,
    way_of,
    weight_bytes,
)
from shotad.engines.local_model import ModelPlace, resolve
from tests.grammar.dino_models import COMMIT, put_in_cache
from tests.language_models import load, make_llama

CPU = ComputeSettings(device="cpu", precision="float32")
LOCAL = LocalSettings()
LLAMA = "meta-llama/Meta-Llama-3-8B-Instruct"
GB = 10**9


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return make_llama(tmp_path_factory.mktemp("models") / "tiny-llama")


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    return shutil.copytree(model, tmp_path / "elsewhere" / "tiny-llama")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, and no network."""
    cache = tmp_path / "hub"
    cache.mkdir()
    for module in ("huggingface_hub.constants", "huggingface_hub.file_download.constants"):
        monkeypatch.setattr(f"{module}.HF_HUB_CACHE", str(cache))
        monkeypatch.setattr(f"{module}.HF_HUB_OFFLINE", True)
    return cache


# Which model is meant, and what tells it from others
def test_a_folder_is_known_by_its_name_and_its_files(model: Path, copy: Path, tmp_path: Path) -> None:
    place, again = resolve(str(model)), resolve(str(copy))
    assert (place.folder, place.label, place.gguf) == (model, "tiny-llama", None)
    assert place.revision.startswith("files:")
    assert (again.label, again.revision) == (place.label, place.revision)
    assert names.at_hand(str(model)) == place
    assert str(tmp_path) not in names.label_of(str(copy)) + again.label + again.revision


def test_a_short_name_is_a_repository_of_the_hub(hub: Path, model: Path) -> None:
    assert names.label_of("llama3-8b") == LLAMA
    assert names.at_hand("llama3-8b") is None
    wanted = ModelPlace(put_in_cache(hub, LLAMA, model), LLAMA, COMMIT)
    assert names.at_hand("llama3-8b") == names.at_hand("llama3-8b", COMMIT) == wanted
    assert resolve("llama3-8b") == resolve(LLAMA) == wanted
    assert names.at_hand("llama3-8b", "f" * 40) is None


def test_what_cannot_be_had_says_what_to_do(hub: Path, copy: Path, tmp_path: Path) -> None:
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
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path))
    assert names.label_of("smollm2") == "smollm2"
    assert names.at_hand("smollm2") is None
    fetched: list[str] = []

    def weights_file(name: str, progress: object) -> Path:
        fetched.append(name)
        return tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"

    monkeypatch.setattr(names, "weights_file", weights_file)
    place = resolve("smollm2")
    assert (fetched, place.gguf) == (["smollm2"], "SmolLM2-135M-Instruct.Q4_1.gguf")
    assert place.revision.startswith("sha256:b179c9523d0e6a0f")


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
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A machine with all that the paper's models want; no model is here, and none can be fetched."""
    has: dict[str, Any] = {"gpu": 24 * GB, "memory": 64 * GB, "disk": 100 * GB}
    monkeypatch.setattr(names, "gpu_memory", lambda: has["gpu"])
    monkeypatch.setattr(names, "memory_total", lambda: has["memory"])
    usage: Any = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=has["disk"]))
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setattr("shotad.core.model_loading.cached_model_folder", lambda *_: None)
    monkeypatch.setattr(names, "cached_model_folder", lambda *_: None)
    return has


def test_what_holds_the_larger_is_fit_and_what_does_not_is_refused_before_it_fetches(
    machine: dict[str, Any],
) -> None:
    fit: list[tuple[dict[str, Any], list[str]]] = [
        ({}, []),
        ({"gpu": None}, []),  # one that does not tell its memory is tried
        ({"gpu": 8 * GB}, ["local.quantise=4bit"]),
        ({"gpu": 0}, ["stage1.model=qwen2-vl-2b", "stage2.model=llama3.2-3b"]),
        ({"gpu": 0}, ["compute.device=cpu"]),
    ]
    for has, assignments in fit:
        machine.update(has)
        config = load_config(["paper"], assignments)
        Engines.of(config).check_machine(config)
    engine: Any = make_engine("llama3", load_config(["paper"]), "stage2")
    with pytest.raises(EngineError, match=f"cannot run {re.escape(LLAMA)}.*would have been 16.1 GB"):
        engine.get_ready(NoProgress())


# Loading: strict, quiet, without code of the model's own
def test_tied_weights_are_not_missed(tmp_path: Path) -> None:
    loaded = load(resolve(str(make_llama(tmp_path / "tied", tied=True))), "text", CPU, LOCAL)
    assert torch.equal(loaded.model.lm_head.weight, loaded.model.model.embed_tokens.weight)


def test_files_that_are_not_whole_are_refused(copy: Path) -> None:
    path = copy / "model.safetensors"
    weights = load_file(path)
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(WeightsError, match=r"lacks 1 of its weights, such as model\.layers\.1\.mlp\.up_proj"):
        load(resolve(str(copy)), "text", CPU, LOCAL)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(WeightsError, match="cannot be loaded"):
        load(resolve(str(copy)), "text", CPU, LOCAL)
    path.write_bytes(b'\x05\x00\x00\x00\x00\x00\x00\x00{"a":')
    with pytest.raises(WeightsError, match=r"model\.safetensors are damaged"):
        weight_bytes(way_of(resolve(str(copy)), "text", CPU, LOCAL))
    (copy / "tokenizer.json").unlink()
    (copy / "tokenizer_config.json").unlink()
    with pytest.raises(WeightsError, match="The tokenizer of tiny-llama cannot be loaded"):
        tokenizer_of(resolve(str(copy)))


def test_code_that_comes_with_a_model_is_not_run(copy: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (copy / "evil.py").write_text(f"open({str(mark)!r}, 'w')\n")
    config = json.loads((copy / "config.json").read_text())
    config["model_type"] = "evil"
    config["auto_map"] = {"AutoConfig": "evil.EvilConfig", "AutoModelForCausalLM": "evil.Evil"}
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(WeightsError):
        load(resolve(str(copy)), "text", CPU, LOCAL)
    with pytest.raises(WeightsError):
        config_of(resolve(str(copy)))
    assert not mark.exists()


def test_what_cannot_be_loaded_is_told(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"local\.quantise = '4bit' cannot be used on cpu"):
        way_of(resolve(str(model)), "text", CPU, LocalSettings(quantise="4bit"))
    gguf = ModelPlace(tmp_path, "a.gguf", "files:1", "a.gguf")
    with pytest.raises(ConfigError, match=r"GGUF file of a\.gguf"):
        way_of(gguf, "text", CPU, LocalSettings(quantise="8bit"))
    # Missing libraries are named.
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "bitsandbytes" else real(name)
    )
    monkeypatch.setattr(local_loading, "device_of", lambda compute: torch.device("cuda"))
    with pytest.raises(ShotadError, match=r"needs bitsandbytes, which is not installed.*pip install"):
        way_of(resolve(str(model)), "text", CPU, LocalSettings(quantise="8bit"))

    # Memory that runs out at loading is not hidden.
    def full(way: LoadingWay) -> object:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(local_loading, "_from_pretrained", full)
    with pytest.raises(torch.OutOfMemoryError):
        load_way(way_of(resolve(str(model)), "text", CPU, LOCAL))
    for error, is_full in (
        (torch.OutOfMemoryError("whatever"), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"), True),
        (RuntimeError("CUDA error: device-side assert triggered"), False),
        (ValueError("out of memory"), False),
    ):
        assert local_loading.is_out_of_memory(error) is is_full, error


# Loaded models are shared, and put away where another does not fit beside them
class Model:
    """Takes memory while it lives."""


class Machine:
    """Models take the memory that their size says, and give it back when they die."""

    def __init__(self, total: int, told: bool = True, **sizes: int) -> None:
        self.total_bytes, self.sizes, self.told = total * GB, sizes, told
        self.loads = ""
        self._alive: list[tuple[weakref.ref[Model], int]] = []
        self.cache = ModelCache(self.read, self.size, lambda _: self.left() if self.told else None)

    def size(self, way: LoadingWay) -> int:
        return self.sizes[way.place.label] * GB

    def read(self, way: LoadingWay) -> Loaded:
        self.loads += way.place.label
        if self.size(way) > self.left():
            raise torch.OutOfMemoryError("CUDA out of memory.")
        model = Model()
        self._alive.append((weakref.ref(model), self.size(way)))
        return Loaded(model, way.device, way.dtype, way.place.label)

    def left(self) -> int:
        return self.total_bytes - sum(size for model, size in self._alive if model() is not None)

    def take(self, label: str) -> Loaded:
        return self.cache.take(place_of(label), "text", CPU, LOCAL)


def place_of(label: str) -> ModelPlace:
    return ModelPlace(Path("/models") / label, label, "1")


@pytest.mark.parametrize(
    ("machine", "taken", "loads"),
    [
        (Machine(100, a=16, b=16), "aababab", "ab"),
        (Machine(24, a=16, b=16), "aba", "aba"),
        (Machine(24, told=False, a=16, b=16), "ab", "abb"),  # memory runs out at loading
    ],
)
def test_models_stay_where_they_fit_and_give_way_elsewhere(machine: Machine, taken: str, loads: str) -> None:
    assert [machine.take(label).label for label in taken] == list(taken)
    assert machine.loads == loads


def test_one_that_does_not_fit_is_refused_and_other_errors_pass() -> None:
    machine = Machine(24, a=16, g=140)
    machine.take("a")
    with pytest.raises(EngineError, match=r"g does not fit .* about 140\.0 GB in float32") as caught:
        machine.take("g")
    assert "4bit" in caught.value.hint
    assert machine.take("a").label == "a", "and the cache still works"

    def broken(way: LoadingWay) -> Loaded:
        raise ValueError("no model")

    with pytest.raises(ValueError, match="no model"):
        ModelCache(broken, lambda way: 1).take(place_of("a"), "text", CPU, LOCAL)


def test_threads_take_turns() -> None:
    cache = Machine(24, a=16, b=16).cache
    busy, most, wrong = [0], [0], []

    def use(label: str) -> None:
        for _ in range(30):
            with cache.lent(place_of(label), "text", CPU, LOCAL) as loaded:
                busy[0] += 1
                most[0] = max(most[0], busy[0])
                if loaded.model is None or loaded.label != label:
                    wrong.append(label)
                busy[0] -= 1

    threads = [threading.Thread(target=use, args=(label,)) for label in "abab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, wrong) == ([1], [])


# The engine llama3
def chat(model: Path | str | None, compute: ComputeSettings = CPU, **local: Any) -> Any:
    stage = {"model": None if model is None else str(model), "sampling": {"max_tokens": 40}}
    made = build_settings(Config, {"stage1": stage, "stage2": stage})
    return make_engine(
        "llama3", made.model_copy(update={"compute": compute, "local": LocalSettings(**local)}), "stage2"
    )


def test_making_one_is_cheap_and_fetches_nothing(model: Path) -> None:
    program = (
        "import sys\n"
        "from shotad.core.config import Config, Stage2Settings\n"
        "from shotad.engines.table import make_engine\n"
        f"engine = make_engine('llama3', Config(stage2=Stage2Settings(model={str(model)!r})), 'stage2')\n"
        "print(engine.identity.model, [name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["tiny-llama", "[]"]


def test_who_answers_is_known_once_it_is_ready_which_reads_no_weights(model: Path) -> None:
    local_loading.CACHE.clear()
    engine = chat(model)
    assert (engine.identity.engine, engine.identity.model) == ("llama3", "tiny-llama")
    engine.get_ready(NoProgress())
    assert local_loading.CACHE._loaded == {}
    ready = engine.identity
    assert (ready.revision[:6], ready.revision[-8:]) == ("files:", " float32")
    asked = (Message("system", "Be short."), Message("user", "What does he do?"))
    engine.generate([Request("s1", asked, sampling=SamplingSettings(max_tokens=8))])
    assert engine.identity == ready
    half = chat(model, ComputeSettings(device="cpu", precision="bfloat16"))
    half.get_ready(NoProgress())
    assert half.identity != ready, "another precision gives other answers"
    assert str(model.parent) not in f"{ready}"


def test_the_unworkable_is_refused_first(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EngineError, match=r"short takes 128 tokens; stage2.sampling.max_tokens is 40"):
        chat(make_llama(tmp_path / "short", context=128)).get_ready(NoProgress())
    monkeypatch.setattr("shotad.engines.local_engines.resolve", lambda *_: pytest.fail("fetched"))
    with pytest.raises(ConfigError, match="cuda:99"):
        chat(None, ComputeSettings(device="cuda:99")).get_ready(NoProgress())
    with pytest.raises(ConfigError, match="cannot be used on cpu"):
        chat(model, quantise="4bit").get_ready(NoProgress())
    with pytest.raises(WeightsError, match="no model called"):
        chat("lama3")
