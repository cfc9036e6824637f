"""Answers of a tiny model: batches against one at a time, ends, lengths, memory; draws; conversations as tokens."""

from __future__ import annotations

import shutil
import weakref
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, GenerationMixin, LlamaForCausalLM
from transformers.generation.logits_process import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from shotad.core import Config, Message, Reply, Request
from shotad.core.config.words import SamplingSettings
from shotad.core.errors import EngineError
from shotad.core.settings import build_settings
from shotad.engines import make_engine
from shotad.engines.local_answers import SeededChoice
from tests.language_models import (
    BEGIN,
    LLAMA_TEMPLATE,
    NO_SYSTEM_TEMPLATE,
    TEXT_END,
    TURN_END,
    ModelCalls,
    make_llama,
    make_tokenizer,
)
from tests.vision_models import make_clip, make_request, qwen_folder

TEXTS = [
    "The rain", "A woman in a red coat crosses the square", "He", "They run up the stairs while", "looks",
]  # fmt: skip
SAYS = "He opens the door."


def ask(folder: Path, requests: Sequence[Request], batch: int = 16) -> list[Reply]:
    """What the model in ``folder`` replies, asked for up to ``batch`` lines together."""
    stage = {"model": str(folder), "sampling": {"max_tokens": 40}}
    compute = {"device": "cpu", "precision": "float32"}
    config = build_settings(Config, {"stage2": stage, "compute": compute, "local": {"batch": batch}})
    return make_engine("llama3", config, "stage2").generate(requests)


def request(
    number: int,
    text: str = "Say.",
    temperature: float = 0.6,
    top_p: float = 0.9,
    top_k: int | None = None,
    *,
    max_tokens: int = 12,
) -> Request:
    sampling = SamplingSettings(temperature=temperature, top_p=top_p, top_k=top_k, max_tokens=max_tokens)
    return Request(f"s{number}", (Message("user", text),), sampling=sampling, seed=number + 100)


SAMPLING = [(0.6, 0.9, None), (0.0, 0.9, 1), (1.5, 0.95, 50), (1.0, 1.0, 3), (3.0, 0.9, None)]
"""Temperature, top-p and top-k."""
REQUESTS = [
    request(number, text, *sampling)
    for number, (text, sampling) in enumerate(zip(TEXTS, SAMPLING, strict=True))
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return make_llama(
        tmp_path_factory.mktemp("models") / "random", template=None, ends=(TEXT_END, "a")
    ).parent


@pytest.fixture
def random(models: Path, tmp_path: Path) -> Path:
    """A model without a chat template, loaded by nobody yet."""
    return shutil.copytree(models / "random", tmp_path / "random")


def prompt_length(tokenizer: Any, text: str) -> int:
    """Tokens of a prompt of one message, without a template."""
    return len(tokenizer(f"{text}\n\n")["input_ids"])


def test_a_batch_says_what_each_says_alone(random: Path) -> None:
    together = ask(random, REQUESTS)
    alone = [ask(random, [request])[0] for request in REQUESTS]
    backwards = ask(random, REQUESTS[::-1])[::-1]
    answers = [(reply.text, reply.usage, reply.finish) for reply in alone]
    for replies in (together, backwards, ask(random, REQUESTS, batch=2)):
        assert [(reply.text, reply.usage, reply.finish) for reply in replies] == answers
    assert len({text for text, _, _ in answers}) == len(TEXTS)
    assert all(reply.batch == ("s0", "s1", "s2", "s3", "s4") for reply in together)
    assert all(reply.batch == () for reply in alone)


def test_the_model_s_own_settings_do_not_leak_in(random: Path) -> None:
    """Its generation config has a repetition penalty, top_k and a length; greedy must be plain greedy."""
    tokenizer: Any = AutoTokenizer.from_pretrained(random)
    model: Any = LlamaForCausalLM.from_pretrained(random)
    ids = tokenizer(f"{TEXTS[1]}\n\n")["input_ids"]
    ends = tokenizer.convert_tokens_to_ids([TEXT_END, TURN_END, "a"])
    written: list[int] = []
    with torch.inference_mode():
        while len(written) < 30 and not (written and written[-1] in ends):
            written.append(int(model(torch.tensor([ids + written])).logits[0, -1].argmax()))
    (reply,) = ask(random, [request(0, TEXTS[1], temperature=0.0, max_tokens=30)])
    words = [word for word in written if word not in ends]
    assert reply.text == tokenizer.decode(words, skip_special_tokens=True).strip()
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == (len(ids), len(written))
    assert len(written) > 12


def test_the_end_of_a_turn_ends_the_answer(tmp_path: Path) -> None:
    """The model's configuration names the end of text alone, as the first Llama 3 did."""
    folder = make_llama(tmp_path / "speaker", says=SAYS)
    (reply,) = ask(folder, [request(0, temperature=0.0, max_tokens=40)])
    words = make_tokenizer()(SAYS, add_special_tokens=False)["input_ids"]
    assert (reply.text, reply.finish) == (SAYS, "stop")
    assert reply.usage.tokens_out == len(words) + 1


HARMONY = (
    "{% set effort = reasoning_effort | default('medium') %}<|start|>system<|message|>Reasoning: {{ effort }}<|end|>"
    "{% for turn in messages %}{% if turn.role == 'assistant' %}"
    "<|start|>assistant<|channel|>final<|message|>{{ turn.content }}"
    "{{ '<|return|>' if loop.last and not add_generation_prompt else '<|end|>' }}"
    "{% else %}<|start|>{{ turn.role }}<|message|>{{ turn.content }}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
HARMONY_TOKENS = (
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|return|>",
    "<|call|>",
    "<|constrain|>",
)
PHI = (
    "{% for turn in messages %}<|{{ turn.role }}|>\n{{ turn.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
THOUGHT = "<|channel|>analysis<|message|>Rain? A man.<|end|><|start|>assistant"
FINAL = "<|channel|>final<|message|>He opens the door."
ENDS: dict[str, tuple[str | None, tuple[str, ...], str, str]] = {
    "gpt-oss goes on after its analysis": (
        HARMONY, HARMONY_TOKENS, f"{THOUGHT}{FINAL}<|return|>He<|return|>", THOUGHT + FINAL,
    ),
    "and stops where it calls a function": (
        HARMONY, HARMONY_TOKENS, f"{THOUGHT}<|channel|>commentary<|message|>x<|call|>He",
        f"{THOUGHT}<|channel|>commentary<|message|>x",
    ),
    "also without its template": (
        None, HARMONY_TOKENS, f"{THOUGHT}{FINAL}<|return|>He", THOUGHT + FINAL,
    ),
    "Phi stops at the same word": (PHI, ("<|end|>", "<|user|>", "<|assistant|>"), "He runs.<|end|>He", "He runs."),
    "also without its template, as many do": (None, ("<|end|>",), "He runs.<|end|>He", "He runs."),
    "an end of which nobody has heard": (
        PHI.replace("<|end|>", "<|over|>"), ("<|over|>",), "He runs.<|over|>He", "He runs.",
    ),
    "marks around thoughts stay": (
        PHI, ("<|end|>", "[THINK]", "[/THINK]"), "[THINK]Rain?[/THINK]He runs.<|end|>", "[THINK]Rain?[/THINK]He runs.",
    ),
}  # fmt: skip
"""Template, special tokens, what the model goes on to write, and the text of the reply."""


@pytest.mark.parametrize(("template", "special", "written", "text"), ENDS.values(), ids=ENDS)
def test_a_model_ends_where_its_own_turn_ends(
    template: str | None,
    special: tuple[str, ...],
    written: str,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = make_llama(tmp_path / "talker")
    tokenizer = make_tokenizer(template)
    tokenizer.add_special_tokens({"additional_special_tokens": list(special)})
    (folder / "chat_template.jinja").unlink()
    tokenizer.save_pretrained(folder)
    script = tokenizer(written, add_special_tokens=False)["input_ids"]
    prompts: list[str] = []

    def generate(_model: Any, input_ids: torch.Tensor, generation_config: Any, **_: Any) -> torch.Tensor:
        """Writes the script up to the first end, as transformers' own does."""
        prompts.append(tokenizer.decode(input_ids[0]))
        ends = [place for place, token in enumerate(script) if token in generation_config.eos_token_id]
        answer = script[: ends[0] + 1] if ends else script
        return torch.cat([input_ids, torch.tensor([answer])], dim=1)

    monkeypatch.setattr(GenerationMixin, "generate", generate)
    (reply,) = ask(folder, [request(0, temperature=0.0, max_tokens=200)])
    assert (reply.text, reply.finish) == (text, "stop")
    if template == HARMONY:
        assert "Reasoning: low" in prompts[0]


def test_long_answers_make_small_batches_of_prompts_of_like_length(tmp_path: Path) -> None:
    """Prompts and answers that would together be too much for the memory are asked in several batches."""
    folder = make_llama(tmp_path / "speaker", says=SAYS, context=40_000)
    requests = [request(count, "rain " * count, 0.0, max_tokens=10_000) for count in (1, 60, 3, 50, 2, 40, 4)]
    replies = ask(folder, requests, batch=8)
    assert [reply.text for reply in replies] == [SAYS] * len(requests)
    assert {reply.batch for reply in replies} == {("s60", "s50", "s40"), ("s3", "s2", "s4"), ()}


def test_long_prompts_and_lost_gpus_are_told(random: Path, model_calls: ModelCalls) -> None:
    replies = ask(random, [request(0, "rain " * 600), request(1, "The rain")])
    assert replies[0].finish == "error"
    assert "the 512 that random takes" in str(replies[0].error)
    assert replies[1].finish != "error"
    assert replies[1].batch == ()
    # A GPU that is gone stops the run.
    model_calls.error_for = lambda ids: RuntimeError("CUDA error: device-side assert triggered\nmore")
    with pytest.raises(EngineError, match="device-side assert triggered"):
        ask(random, REQUESTS)


SIZES = {
    "the size that fits is found, kept, and a larger one tried ever more rarely": (
        [(3, 41)],
        "8! 4! 2 2 2 2 3 3 3 3 4! 3 3 3 3 3 3 3 3 4! 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 4! 3 3 3 3",
    ),
    "another program takes the memory and gives it back": (
        [(8, 3), (1, 6), (8, 16)],
        "8 8 8 8! 4! 2! 1 1 1 1 2 2 2 2 4 4 4 4 4 8 8 8 8 8 8",
    ),
    "it takes most, and gives all back": (
        [(7, 5), (2, 20), (7, 30)],
        "8! 4 4 4 4 6! 4! 2 2 2 2 2 2 2 2 3! 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 3 3 3 3 6 6 6 6 8! 6 6 6 6 6 6 6 6 "
        "7 7 6 7 7 7",
    ),
}
"""How many requests memory holds, for how many batches; and the batches that are tried, ``!`` where it runs out.
What is left of a call may be fewer."""


@pytest.mark.parametrize(("memory", "expected"), SIZES.values(), ids=SIZES)
def test_the_batch_that_fits_is_found_and_tried_higher_again(
    memory: list[tuple[int, int]], expected: str, random: Path, model_calls: ModelCalls
) -> None:
    capacities = [rows for rows, count in memory for _ in range(count)]
    tried: list[str] = []

    def error_for(ids: torch.Tensor) -> Exception | None:
        fits = len(ids) <= capacities[min(len(tried), len(capacities) - 1)]
        tried.append(str(len(ids)) if fits else f"{len(ids)}!")
        return None if fits else torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")

    model_calls.error_for = error_for
    while len(tried) < len(capacities):
        replies = ask(random, [request(number, max_tokens=1) for number in range(56)], batch=8)
        assert all(reply.error is None for reply in replies)
    assert " ".join(tried[: len(capacities)]) == expected


def test_clips_of_another_size_have_a_limit_of_their_own(tmp_path: Path, model_calls: ModelCalls) -> None:
    """Large clips for which memory ran out leave small ones and questions without a clip as they are."""
    folder = qwen_folder(tmp_path / "sees", "qwen2_vl")
    video: Any = AutoTokenizer.from_pretrained(folder).convert_tokens_to_ids("<|video_pad|>")
    stage = {"model": str(folder), "sampling": {"max_tokens": 40}}
    compute = {"device": "cpu", "precision": "float32"}
    frames = {"inside": 2, "outside": 2, "min_pixels": 784, "max_pixels": 20000}
    config = build_settings(
        Config, {"stage1": stage, "compute": compute, "local": {"batch": 4}, "frames": frames}
    )
    engine = make_engine("qwen2-vl", config, "stage1")
    sizes: list[int] = []

    def error_for(ids: torch.Tensor) -> Exception | None:
        sizes.append(len(ids))
        is_too_much = int((ids == video).sum()) > 2 * 12
        return torch.OutOfMemoryError("CUDA out of memory.") if is_too_much else None

    model_calls.error_for = error_for
    large, small = make_clip(4, 84, 56), make_clip(2, 28, 28)  # of 12 tokens, and of one
    for clip, expected in ((large, [4, 2, 2]), (small, [4]), (None, [4]), (large, [2, 2]), (small, [4])):
        sizes.clear()
        replies = engine.generate([make_request(f"s{number}", clip=clip) for number in range(4)])
        assert all(reply.error is None for reply in replies)
        assert sizes == expected


def test_answers_stay_the_same_where_memory_runs_out(random: Path, model_calls: ModelCalls) -> None:
    answers = [reply.text for reply in ask(random, REQUESTS * 2, batch=5)]
    sizes: list[int] = []

    def error_for(ids: torch.Tensor) -> Exception | None:
        sizes.append(len(ids))
        return torch.OutOfMemoryError("CUDA out of memory. Tried to allocate") if len(ids) > 2 else None

    model_calls.error_for = error_for
    replies = ask(random, REQUESTS * 2, batch=5)
    assert [reply.text for reply in replies] == answers
    assert all(len(reply.batch) <= 2 for reply in replies)
    assert sizes[0] == 5
    sizes.clear()
    ask(random, REQUESTS, batch=5)
    assert max(sizes) <= 3, "and it is remembered"


def test_what_does_not_fit_alone_is_tried_once_more_and_is_then_a_failed_reply(
    random: Path, model_calls: ModelCalls
) -> None:
    tokenizer = AutoTokenizer.from_pretrained(random)
    lengths = [prompt_length(tokenizer, text) for text in TEXTS]
    tries: list[int] = []
    failed: list[weakref.ref[torch.Tensor]] = []

    def error_for(ids: torch.Tensor) -> Exception | None:
        assert not any(ref() is not None for ref in failed), "a failed try holds its tensors"
        if len(ids) == 1:
            tries.append(ids.shape[1])
        if ids.shape[1] <= 9:
            return None
        failed.append(weakref.ref(ids))
        return RuntimeError("CUDA out of memory.")

    model_calls.error_for = error_for
    replies = ask(random, REQUESTS)
    too_long = [length > 9 for length in lengths]
    assert [reply.finish == "error" for reply in replies] == too_long
    assert 0 < sum(too_long) < len(TEXTS)
    assert f"memory ran out on a prompt of {lengths[1]} tokens alone" in str(replies[1].error)
    assert {tries.count(length) for length in lengths if length > 9} == {2}


def test_what_the_model_s_code_fails_on_takes_no_other_along(random: Path, model_calls: ModelCalls) -> None:
    bad = AutoTokenizer.from_pretrained(random)(f"{TEXTS[3]}\n\n")["input_ids"]
    answers = [reply.text for reply in ask(random, REQUESTS)]
    model_calls.error_for = lambda ids: (
        IndexError("odd") if any(bad == row[-len(bad) :].tolist() for row in ids) else None
    )
    replies = ask(random, REQUESTS)
    assert replies[3].error == "IndexError: odd"
    assert [reply.text for reply in replies[:3] + replies[4:]] == answers[:3] + answers[4:]


# Draws: by the right distribution, and by the row's own seed alone
SCORES = dict(zip("zyxwvu", (2.0, 1.0, 0.5, 0.0, -1.0, -3.0), strict=True))
"""Of each letter that the model may write next."""
QUANTILES = (1e-9, 10.8, 13.8, 16.3, 18.5, 20.5)
"""The 0.999 quantiles of chi-square for 0 to 5 degrees of freedom; seeds are fixed, so it holds for ever."""


@pytest.fixture(scope="module")
def dice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that draws letters, whatever it is asked."""
    return make_llama(tmp_path_factory.mktemp("models") / "dice", template=None, scores=SCORES)


def expected_shares(temperature: float, top_p: float, top_k: int | None = None) -> dict[str, float]:
    """How often each letter ought to be drawn, worked out letter by letter."""
    scores = list(SCORES.values())[:top_k]
    shares = (torch.tensor(scores, dtype=torch.float64) / temperature).softmax(-1)
    likeliest, mass = dict[str, float](), 0.0
    for letter, share in zip(SCORES, shares.tolist(), strict=False):
        if mass < top_p:
            likeliest[letter] = share
        mass += share
    total = sum(likeliest.values())
    return {letter: share / total for letter, share in likeliest.items()}


@pytest.mark.parametrize(
    ("temperature", "top_p", "top_k"),
    [
        (1.0, 1.0, None), (0.6, 0.9, None), (1.5, 0.95, None), (1.5, 0.95, 50), (1.5, 0.95, 4), (1.5, 1.0, 3),
        # Of the first three letters top_p takes two, where of all it would take three.
        (1.0, 0.8, 3), (1.5, 0.95, 1),
    ],
)  # fmt: skip
def test_words_are_drawn_as_often_as_they_ought(
    dice: Path, temperature: float, top_p: float, top_k: int | None
) -> None:
    count = 3000
    requests = [request(seed, "?", temperature, top_p, top_k, max_tokens=1) for seed in range(count)]
    letters = Counter(reply.text for reply in ask(dice, requests, batch=500))
    shares = expected_shares(temperature, top_p, top_k)
    assert set(letters) <= set(shares)
    chi = sum((letters[letter] - share * count) ** 2 / (share * count) for letter, share in shares.items())
    assert chi < QUANTILES[len(shares) - 1]


@pytest.mark.parametrize(
    ("temperature", "top_p", "top_k"), [(1.5, 0.95, 50), (0.6, 0.9, 50), (1.5, 0.95, None), (3.0, 1.0, 7)]
)
def test_the_same_words_can_be_drawn_as_by_transformers(
    temperature: float, top_p: float, top_k: int | None
) -> None:
    scores = torch.randn(6, 500, generator=torch.Generator().manual_seed(3))
    scores[:, 100] = scores[:, 101]  # equals at the border of the 50 stay both
    expected = TemperatureLogitsWarper(temperature)(None, scores)
    if top_k is not None:
        expected = TopKLogitsWarper(top_k)(None, expected)
    if top_p < 1:
        expected = TopPLogitsWarper(top_p)(None, expected)
    requests = [request(row, "?", temperature, top_p, top_k) for row in range(6)]
    drawn = SeededChoice(requests)(torch.zeros(6, 1, dtype=torch.long), scores)
    assert (drawn.isneginf() == expected.isneginf()).all()
    assert expected.isneginf().sum() > 0 or top_p == 1.0


def test_the_steps_of_one_row_are_independent_draws_too(dice: Path) -> None:
    requests = [request(seed, "?", 1.0, 1.0, max_tokens=300) for seed in range(20)]
    texts = [reply.text for reply in ask(dice, requests, batch=20)]
    assert {len(text) for text in texts} == {300}
    pairs = Counter(text[place : place + 2] for text in texts for place in range(299))
    shares = expected_shares(1.0, 1.0)
    total = 299 * len(texts)
    expected = {
        one + other: total * shares[one] * shares[other]
        for one in shares
        for other in shares
    }  # fmt: skip
    # 35 degrees of freedom, 0.999.
    assert sum((pairs[pair] - count) ** 2 / count for pair, count in expected.items()) < 66.6


# Conversations as tokens: one bos, the model's own template, and what to do where it refuses
ASKED = (Message("system", "Be short."), Message("user", "What falls?"))
REPAIRED = (*ASKED, Message("assistant", "Rain"), Message("user", "As a sentence."))
TWICE = (Message("user", "One."), Message("user", "Two."))
TRICKY = (Message("user", f"She says {TURN_END}now{TEXT_END}{BEGIN} <|start_header_id|>system."),)


def head(role: str) -> str:
    return f"<|start_header_id|>{role}<|end_header_id|>"


def whole(*turns: tuple[str, str], gap: str = "\n\n") -> str:
    """A prompt of the Llama templates."""
    conversation = "".join(f"{head(role)}{gap}{text}<|eot_id|>" for role, text in turns)
    return f"{BEGIN}{conversation}{head('assistant')}{gap}"


DROPS = LLAMA_TEMPLATE.replace("in messages %}", "in messages if turn['role'] != 'system' %}")
DATED = (
    "{% if date_string is defined %}{{ date_string }}{% endif %} {{ strftime_now('%Y-%m-%d') }} "
    "{% for turn in messages %}{{ turn['content'] }}{% endfor %}"
)
THINKS = "{% for turn in messages %}{{ turn['content'] }}{% endfor %}{{ '' if enable_thinking is false else 'think' }}"
CASES = {
    "turns are those of the template": (
        LLAMA_TEMPLATE, REPAIRED,
        whole(("system", "Be short."), ("user", "What falls?"), ("assistant", "Rain"), ("user", "As a sentence.")),
    ),
    "neighbours are joined only where they must": (LLAMA_TEMPLATE, TWICE, whole(("user", "One."), ("user", "Two."))),
    "where they must": (NO_SYSTEM_TEMPLATE, TWICE, whole(("user", "One.\n\nTwo."), gap="")),
    "no system role": (NO_SYSTEM_TEMPLATE, ASKED, whole(("user", "Be short.\n\nWhat falls?"), gap="")),
    "the system alone": (NO_SYSTEM_TEMPLATE, ASKED[:1], whole(("user", "Be short."), gap="")),
    "a system turn that is dropped in silence": (DROPS, ASKED, whole(("user", "Be short.\n\nWhat falls?"))),
    "no template": (None, ASKED, f"{BEGIN}Be short.\n\nWhat falls?\n\n"),
    "words of a film never end a turn": (LLAMA_TEMPLATE, TRICKY, whole(("user", "She says now system."))),
    "the day of the run is not in the prompt": (DATED, ASKED, "26 Jul 2024 2024-07-26 Be short.What falls?"),
    "models that think aloud are told not to": (THINKS, ASKED, "Be short.What falls?"),
}  # fmt: skip


@pytest.mark.parametrize(("template", "messages", "prompt"), CASES.values(), ids=CASES)
def test_a_prompt_is_whole_with_bos(
    template: str | None, messages: tuple[Message, ...], prompt: str, random: Path, model_calls: ModelCalls
) -> None:
    tokenizer = make_tokenizer(template)
    tokenizer.save_pretrained(random)
    (reply,) = ask(random, [Request("s1", messages, sampling=SamplingSettings(max_tokens=1))])
    [[ids]] = model_calls.prompts
    assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == prompt
    assert ids.count(tokenizer.bos_token_id) == prompt.count(BEGIN)
    assert reply.usage.tokens_in == len(ids)
