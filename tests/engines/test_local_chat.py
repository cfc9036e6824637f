"""The engine llama3 on tiny models of its own class."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from shotad.core import (
    ComputeSettings,
    Config,
    ConfigError,
    EngineError,
    LocalSettings,
    Message,
    NoProgress,
    Request,
    SamplingSettings,
    Stage,
    WeightsError,
    build_settings,
)  # fmt: skip
from shotad.engines import local_loading, make_engine
from tests.language_models import make_llama

SAYS = "He opens the door."
ASKED = (Message("system", "Be short."), Message("user", "What does he do?"))
CPU = ComputeSettings(device="cpu", precision="float32")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("models")
    make_llama(root / "teller", says=SAYS)
    make_llama(root / "random")
    return root


def config(model: Path | str | None, compute: ComputeSettings = CPU, **local: Any) -> Config:
    tree = {"model": None if model is None else str(model), "sampling": {"max_tokens": 40}}
    made = build_settings(Config, {"stage1": tree, "stage2": tree})
    return made.model_copy(update={"compute": compute, "local": LocalSettings(**local)})


def chat(config: Config, stage: Stage = "stage2") -> Any:
    return make_engine("llama3", config, stage)


def request(number: int, messages: tuple[Message, ...] = ASKED, temperature: float = 0.6) -> Request:
    sampling = SamplingSettings(temperature=temperature, top_p=0.9, max_tokens=24)
    return Request(f"s{number}", messages, sampling=sampling, seed=number)


def test_making_one_is_cheap_and_fetches_nothing(root: Path) -> None:
    program = (
        "import sys\n"
        "from shotad.core.config import Config, Stage2Settings\n"
        "from shotad.engines.table import make_engine\n"
        f"engine = make_engine('llama3', Config(stage2=Stage2Settings(model={str(root / 'random')!r})), 'stage2')\n"
        "print(engine.identity.model, [name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    command, here = [sys.executable, "-c", program], Path(__file__).resolve().parents[2]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["random", "[]"]


def test_who_answers_is_known_once_it_is_ready_which_reads_no_weights(root: Path) -> None:
    local_loading.CACHE.clear()
    engine = chat(config(root / "random"))
    assert (engine.identity.engine, engine.identity.model) == ("llama3", "random")
    engine.get_ready(NoProgress())
    assert local_loading.CACHE._loaded == {}
    ready = engine.identity
    assert (ready.revision[:6], ready.revision[-8:]) == ("files:", " float32")
    engine.generate([request(1)])
    assert engine.identity == ready
    half = chat(config(root / "random", ComputeSettings(device="cpu", precision="bfloat16")))
    half.get_ready(NoProgress())
    assert half.identity != ready, "another precision gives other answers"
    assert str(root) not in f"{ready}"


def test_the_unworkable_is_refused_first(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_llama(tmp_path / "short", context=128)
    with pytest.raises(EngineError, match=r"short takes 128 tokens; stage2.sampling.max_tokens is 40"):
        chat(config(folder)).get_ready(NoProgress())
    monkeypatch.setattr("shotad.engines.local_engines.resolve", lambda *_: pytest.fail("fetched"))
    with pytest.raises(ConfigError, match="cuda:99"):
        chat(config(None, ComputeSettings(device="cuda:99"))).get_ready(NoProgress())
    with pytest.raises(ConfigError, match="cannot be used on cpu"):
        chat(config(root / "random", quantise="4bit")).get_ready(NoProgress())
    with pytest.raises(WeightsError, match="no model called"):
        chat(config("lama3"))
