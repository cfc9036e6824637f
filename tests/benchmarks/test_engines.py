"""The script that measures local models at true size, here with tiny ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import engines
import torch
from transformers import AutoConfig


def test_tiny_models_are_loaded_asked_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # several wait for each other where cores are busy
    out = tmp_path / "measured.json"
    assert engines.main(["--tiny", "--only", "qwen3-vl-2b", "--only", "llama3-8b", "--out", str(out)]) == 0
    torch.set_num_threads(before)
    printed = capsys.readouterr().out
    rows = json.loads(out.read_text(encoding="utf-8"))
    pairs = [(row["model"], row["precision"], row["batch"]) for row in rows]
    assert pairs == [
        (name, precision, 4) for name in ("qwen3-vl-2b", "llama3-8b") for precision in ("float32", "bfloat16")
    ]
    assert all(row["alone"] > 0 and row["peak"] > 0 and row["tokens"] > 50 for row in rows)
    assert "llama3-8b: bfloat16 takes " in printed
    assert printed.count("times as fast") == 4


@pytest.mark.parametrize(
    ("name", "billions"), [("qwen2-vl-7b", 8.29), ("qwen3-vl-2b", 2.13), ("llama3-8b", 8.03)]
)
def test_the_models_have_the_size_of_the_published_ones(name: str, billions: float) -> None:
    """Weights as the hub counts them."""
    size = dict(engines.SIZES[name])
    kind = size.pop("kind")
    import transformers

    auto = (
        transformers.AutoModelForImageTextToText
        if "vision_config" in size
        else transformers.AutoModelForCausalLM
    )
    with torch.device("meta"):
        model = auto.from_config(AutoConfig.for_model(kind, **size))
    assert sum(weight.numel() for weight in model.parameters()) / 1e9 == pytest.approx(billions, abs=0.01)
