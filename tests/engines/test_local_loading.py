"""Loading: strict, quiet, without code of the model's own, in the precision and with the attention asked for."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from shotad.core import ComputeSettings, ConfigError, LocalSettings, ShotadError, WeightsError
from shotad.engines import local_loading
from shotad.engines.local_loading import config_of, load_way, tokenizer_of, way_of, weight_bytes
from shotad.engines.local_model import ModelPlace, resolve
from tests.language_models import load, make_llama

CPU = ComputeSettings(device="cpu", precision="float32")
LOCAL = LocalSettings()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return make_llama(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    return shutil.copytree(model, tmp_path / "tiny")


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
    with pytest.raises(WeightsError, match="The tokenizer of tiny cannot be loaded"):
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
    absent = {"bitsandbytes"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in absent else real(name))
    monkeypatch.setattr(local_loading, "device_of", lambda compute: torch.device("cuda"))
    with pytest.raises(ShotadError, match=r"needs bitsandbytes, which is not installed.*pip install"):
        way_of(resolve(str(model)), "text", CPU, LocalSettings(quantise="8bit"))

    # Memory that runs out at loading is not hidden.
    def full(way: local_loading.Way) -> object:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(local_loading, "_from_pretrained", full)
    with pytest.raises(torch.OutOfMemoryError):
        load_way(way_of(resolve(str(model)), "text", CPU, LOCAL))


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (torch.OutOfMemoryError("whatever"), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"), True),
        (RuntimeError("CUDA error: device-side assert triggered"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_what_a_device_says_when_it_is_full(error: Exception, full: bool) -> None:
    assert local_loading.is_out_of_memory(error) is full
