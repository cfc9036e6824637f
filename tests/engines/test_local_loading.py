"""Loading: strict, quiet, without code of the model's own, in the precision and with the attention asked for."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from shotad.core import (
    ComputeSettings,
    ConfigError,
    LocalSettings,
    ShotadError,
    WeightsError,
    memory_total,
)
from shotad.engines import local_loading
from shotad.engines.local_loading import (
    config_of,
    context_of,
    load_way,
    tokenizer_of,
    way_of,
    weight_bytes,
)
from shotad.engines.local_model import ModelPlace, resolve
from tests.language_models import TEXT_END, load, make_llama

CPU = ComputeSettings(device="cpu", precision="float32")
LOCAL = LocalSettings()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return make_llama(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    return shutil.copytree(model, tmp_path / "tiny")


def test_a_model_is_ready_to_answer(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loaded = load(resolve(str(model)), "text", CPU, LOCAL)
    assert type(loaded.model).__name__ == "LlamaForCausalLM"
    assert not loaded.model.training
    assert (loaded.device.type, loaded.dtype, loaded.label) == ("cpu", torch.float32, "tiny")
    assert loaded.model.dtype == torch.float32
    assert loaded.context == 512
    assert loaded.model.config._attn_implementation == "sdpa"
    assert capfd.readouterr() == ("", "")


def test_only_special_tokens_are_left_of_its_generation_config(model: Path) -> None:
    place = resolve(str(model))
    own = load(place, "text", CPU, LOCAL).model.generation_config
    assert own.eos_token_id == [tokenizer_of(place).convert_tokens_to_ids(TEXT_END)]
    changed = {name for name, value in own.to_diff_dict().items() if value is not None}
    assert changed <= {
        "bos_token_id",
        "eos_token_id",
        "pad_token_id",
        "transformers_version",
        "_from_model_config",
    }


def test_precision_is_obeyed(model: Path) -> None:
    place = resolve(str(model))
    half = ComputeSettings(device="cpu", precision="bfloat16")
    assert load(place, "text", half, LOCAL).model.dtype == torch.bfloat16
    assert way_of(place, "text", half, LOCAL).precision == "bfloat16"


def test_tied_weights_are_not_missed(tmp_path: Path) -> None:
    loaded = load(resolve(str(make_llama(tmp_path / "tied", tied=True))), "text", CPU, LOCAL)
    assert torch.equal(loaded.model.lm_head.weight, loaded.model.model.embed_tokens.weight)


def test_a_missing_weight_is_refused(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(WeightsError, match=r"lacks 1 of its weights, such as model\.layers\.1\.mlp\.up_proj"):
        load(resolve(str(copy)), "text", CPU, LOCAL)


def test_a_weight_of_another_shape_is_refused(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    weights["model.norm.weight"] = torch.ones(32)
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(WeightsError, match="tiny cannot be loaded"):
        load(resolve(str(copy)), "text", CPU, LOCAL)


def test_a_damaged_file_is_refused(copy: Path) -> None:
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(WeightsError, match="cannot be loaded"):
        load(resolve(str(copy)), "text", CPU, LOCAL)
    path.write_bytes(b'\x05\x00\x00\x00\x00\x00\x00\x00{"a":')
    with pytest.raises(WeightsError, match=r"model\.safetensors are damaged"):
        weight_bytes(way_of(resolve(str(copy)), "text", CPU, LOCAL))


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


def test_a_text_model_is_no_vision_model(model: Path) -> None:
    with pytest.raises(WeightsError, match="tiny cannot be loaded") as caught:
        load(resolve(str(model)), "image-text", CPU, LOCAL)
    assert "a vision-language model" in caught.value.hint


def test_a_missing_tokenizer_is_said(copy: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (copy / name).unlink()
    with pytest.raises(WeightsError, match="The tokenizer of tiny cannot be loaded"):
        tokenizer_of(resolve(str(copy)))


def test_bytes_are_counted_from_the_files(model: Path) -> None:
    place = resolve(str(model))
    loaded = load(place, "text", CPU, LOCAL)
    counted = sum(weight.numel() for weight in loaded.model.parameters()) * 4
    assert weight_bytes(way_of(place, "text", CPU, LOCAL)) == counted
    half = ComputeSettings(device="cpu", precision="bfloat16")
    assert weight_bytes(way_of(place, "text", half, LOCAL)) * 2 == counted


def test_the_context_is_that_of_the_words(model: Path) -> None:
    from transformers import GPT2Config, MambaConfig, Qwen2VLConfig

    assert context_of(config_of(resolve(str(model)))) == 512
    assert context_of(GPT2Config(n_positions=77)) == 77
    words = {"max_position_embeddings": 99, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}
    assert context_of(Qwen2VLConfig(text_config=words)) == 99
    assert context_of(MambaConfig()) is None


def test_fewer_bits_need_a_gpu_and_safetensors(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"local\.quantise = '4bit' cannot be used on cpu"):
        way_of(resolve(str(model)), "text", CPU, LocalSettings(quantise="4bit"))
    gguf = ModelPlace(tmp_path, "a.gguf", "files:1", "a.gguf")
    with pytest.raises(ConfigError, match=r"GGUF file of a\.gguf"):
        way_of(gguf, "text", CPU, LocalSettings(quantise="8bit"))


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch, model: Path) -> None:
    real = importlib.util.find_spec
    absent = {"bitsandbytes"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in absent else real(name))
    monkeypatch.setattr(local_loading, "device_of", lambda compute: torch.device("cuda"))
    with pytest.raises(ShotadError, match=r"needs bitsandbytes, which is not installed.*pip install"):
        way_of(resolve(str(model)), "text", CPU, LocalSettings(quantise="8bit"))


def test_flash_attention_that_fails_gives_way_to_another(
    monkeypatch: pytest.MonkeyPatch, model: Path
) -> None:
    tried: list[str | None] = []
    real = local_loading._from_pretrained

    def from_pretrained(way: local_loading.Way, attention: str | None) -> object:
        tried.append(attention)
        if attention == "flash_attention_2":
            raise ImportError("flash_attn was built for another torch")
        return real(way, attention)

    monkeypatch.setattr(local_loading, "_attentions", lambda way: ("flash_attention_2", None))
    monkeypatch.setattr(local_loading, "_from_pretrained", from_pretrained)
    loaded = load(resolve(str(model)), "text", CPU, LOCAL)
    assert tried == ["flash_attention_2", None]
    assert loaded.model.config._attn_implementation == "sdpa"


def test_memory_that_runs_out_while_loading_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch, model: Path
) -> None:
    def full(way: local_loading.Way, attention: str | None) -> object:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(local_loading, "_from_pretrained", full)
    with pytest.raises(torch.OutOfMemoryError):
        load_way(way_of(resolve(str(model)), "text", CPU, LOCAL))


def test_what_a_device_says_when_it_is_full() -> None:
    full = [
        torch.OutOfMemoryError("whatever"),
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"),
    ]
    assert all(local_loading.is_out_of_memory(error) for error in full)
    others = [
        RuntimeError("CUDA error: device-side assert triggered"),
        ValueError("out of memory"),
        KeyError(1),
    ]
    assert not any(local_loading.is_out_of_memory(error) for error in others)


def test_the_cpu_s_allocator_is_known_by_its_own_words() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert local_loading.is_out_of_memory(caught.value)


def test_free_memory_is_measured() -> None:
    total, free = memory_total(), local_loading.memory_left(torch.device("cpu"))
    assert total is not None
    if free is not None:
        assert 0 < free <= total
