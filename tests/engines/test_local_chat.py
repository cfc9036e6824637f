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
    Engine,
    EngineError,
    LocalSettings,
    Message,
    NoProgress,
    Reply,
    Request,
    SamplingSettings,
    Stage2Settings,
    WeightsError,
)
from shotad.core.config import Stage1Settings
from shotad.engines import local_loading, make_engine
from shotad.engines.local_engines import ChatModel
from tests.language_models import NO_SYSTEM_TEMPLATE, make_llama

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
    name = None if model is None else str(model)
    return Config(
        stage1=Stage1Settings.model_validate({"model": name, "sampling": {"max_tokens": 40}}),
        stage2=Stage2Settings(model=name, sampling=SamplingSettings(temperature=0.6, max_tokens=40)),
        compute=compute,
        local=LocalSettings(**local),
    )


def request(number: int, messages: tuple[Message, ...] = ASKED, temperature: float = 0.6) -> Request:
    sampling = SamplingSettings(temperature=temperature, top_p=0.9, max_tokens=24)
    return Request(f"s{number}", messages, sampling=sampling, seed=number)


def test_it_answers_with_its_model(root: Path) -> None:
    engine = make_engine("llama3", config(root / "teller"), "stage2")
    assert isinstance(engine, Engine)
    reply = engine.generate([request(1, temperature=0.0)])[0]
    assert (reply.text, reply.finish, reply.error) == (SAYS, "stop", None)
    assert reply.usage.tokens_in > 20


def test_for_an_estimate_it_is_made_ready_only_where_it_is_here(root: Path) -> None:
    engine, ready = (ChatModel(config(root / "random")) for _ in range(2))
    ready.get_ready(NoProgress())
    assert engine.identity != ready.identity
    engine.ready_if_here()
    assert engine.identity == ready.identity
    away = ChatModel(config("nobody/has-this-model"))
    before = away.identity
    away.ready_if_here()
    assert away.identity == before


def test_the_same_requests_give_the_same_bytes(root: Path) -> None:
    requests = [request(number) for number in range(5)]

    def run() -> list[Reply]:
        local_loading.CACHE.clear()
        return ChatModel(config(root / "random", batch=1)).generate(requests)

    first = run()
    assert first == run()
    assert len({reply.text for reply in first}) == 5
    assert all(reply.batch == () for reply in first)
    batched = ChatModel(config(root / "random", batch=16)).generate(requests)
    assert [reply.text for reply in batched] == [reply.text for reply in first]
    assert all(len(reply.batch) == 5 for reply in batched)


@pytest.mark.slow
def test_bytes_are_the_same_in_another_process(root: Path) -> None:
    program = (
        "import torch; torch.set_num_threads(1)\n"
        "from tests.engines.test_local_chat import ChatModel, config, request\n"
        f"print(ascii(ChatModel(config({str(root / 'random')!r})).generate([request(3)])))"
    )
    here = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=here, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ascii(ChatModel(config(root / "random")).generate([request(3)]))


def test_a_broken_request_takes_no_other_along(root: Path, tmp_path: Path) -> None:
    folder = make_llama(tmp_path / "strict", template=NO_SYSTEM_TEMPLATE)
    engine = ChatModel(config(folder))
    first_assistant = (Message("assistant", "Well."), Message("user", "Go on."))
    long = (Message("user", "rain " * 700),)
    replies = engine.generate([request(1), request(2, first_assistant), request(3, long), request(4)])
    assert [reply.finish == "error" for reply in replies] == [False, True, True, False]
    assert "turns must alternate" in str(replies[1].error)
    assert "the 512 that strict takes" in str(replies[2].error)
    assert replies[0] == ChatModel(config(folder)).generate([request(1), request(4)])[0]


def test_making_one_is_cheap_and_fetches_nothing(root: Path) -> None:
    program = (
        "import sys\n"
        "from shotad.core.config import Config, Stage2Settings\n"
        "from shotad.engines.table import make_engine\n"
        f"engine = make_engine('llama3', Config(stage2=Stage2Settings(model={str(root / 'random')!r})), 'stage2')\n"
        "print(engine.identity.model, [name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    here = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=here, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["random", "[]"]


def test_who_answers_is_known_once_it_is_ready(root: Path) -> None:
    engine = ChatModel(config(root / "random"))
    assert (engine.identity.engine, engine.identity.model) == ("llama3", "random")
    engine.get_ready(NoProgress())
    ready = engine.identity
    assert ready.revision.startswith("files:")
    assert ready.revision.endswith(" float32")
    engine.generate([request(1)])
    assert engine.identity == ready
    half = ChatModel(config(root / "random", ComputeSettings(device="cpu", precision="bfloat16")))
    half.get_ready(NoProgress())
    assert half.identity != ready, "another precision gives other answers"
    assert str(root) not in f"{ready}"


def test_getting_ready_reads_no_weights(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    monkeypatch.setattr(local_loading, "load_way", read.append)
    local_loading.CACHE.clear()
    ChatModel(config(root / "random")).get_ready(NoProgress())
    assert read == []
    assert local_loading.CACHE.labels == ()


def test_the_stage_s_own_model_is_taken(root: Path) -> None:
    both = Config(
        stage1=Stage1Settings(model=str(root / "random")), stage2=Stage2Settings(model=str(root / "teller"))
    )
    assert ChatModel.for_stage(both, "stage1").identity.model == "random"
    assert ChatModel.for_stage(both, "stage2").identity.model == "teller"
    assert ChatModel.for_stage(Config(), "stage2").identity.model == "meta-llama/Meta-Llama-3-8B-Instruct"


def test_engines_with_the_same_model_share_it(root: Path) -> None:
    local_loading.CACHE.clear()
    for stage in ("stage1", "stage2"):
        make_engine("llama3", config(root / "random"), stage).generate([request(1)])  # type: ignore[arg-type]
    assert local_loading.CACHE.labels == ("random",)


def test_a_context_that_leaves_no_room_is_refused_before(root: Path, tmp_path: Path) -> None:
    folder = make_llama(tmp_path / "short", context=128)
    with pytest.raises(EngineError, match=r"short takes 128 tokens; stage2.sampling.max_tokens is 40"):
        ChatModel(config(folder)).get_ready(NoProgress())


def test_what_cannot_work_is_refused_before_anything_is_fetched(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(*_: object) -> None:
        raise AssertionError("fetched")

    monkeypatch.setattr("shotad.engines.local_engines.resolve", resolve)
    with pytest.raises(ConfigError, match="cuda:99"):
        ChatModel(config(None, ComputeSettings(device="cuda:99"))).get_ready(NoProgress())
    with pytest.raises(ConfigError, match="cannot be used on cpu"):
        ChatModel(config(root / "random", quantise="4bit")).get_ready(NoProgress())
    with pytest.raises(WeightsError, match="no model called"):
        ChatModel(config("lama3"))
