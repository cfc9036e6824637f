"""Answers of a tiny model: batches against one at a time, ends, lengths, memory that runs out."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, strategies as st

from shotad.core import ComputeSettings, EngineError, LocalSettings, Reply, Request, SamplingSettings
from shotad.engines.local_answers import answers, end_tokens, groups, pad_token, padded
from shotad.engines.local_loading import Loaded, tokenizer_of
from shotad.engines.local_model import resolve
from tests.language_models import TEXT_END, TURN_END, load, make_llama

CPU = ComputeSettings(device="cpu", precision="float32")
TEXTS = [
    "The rain", "A woman in a red coat crosses the square", "He", "They run up the stairs while", "looks",
]  # fmt: skip
SAYS = "He opens the door."


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("models")
    return {
        "random": make_llama(root / "random", ends=(TEXT_END, "a")),
        "teller": make_llama(root / "teller", says=SAYS),
    }


class Teller:
    """A loaded model, its tokenizer, and a short way to ask it."""

    def __init__(self, folder: Path) -> None:
        place = resolve(str(folder))
        self.loaded: Loaded = load(place, "text", CPU, LocalSettings())
        self.tokenizer: Any = tokenizer_of(place)
        self.collated: list[list[int]] = []

    def ask(
        self, requests: Sequence[Request], texts: Sequence[str], tokens: int = 10_000, most: int = 16
    ) -> list[Reply]:
        rows = [self.tokenizer(text)["input_ids"] for text in texts]

        def collate(places: Sequence[int]) -> dict[str, torch.Tensor]:
            self.collated.append(list(places))
            return padded([rows[place] for place in places], pad_token(self.loaded, self.tokenizer))

        lengths = [len(row) for row in rows]
        return answers(self.loaded, self.tokenizer, requests, lengths, collate, tokens=tokens, most=most)

    def fails(self, when: Callable[[torch.Tensor], Exception | None]) -> None:
        """Let ``generate`` raise what ``when`` returns for its input ids."""
        works = self.loaded.model.generate

        def generate(input_ids: torch.Tensor, **rest: Any) -> Any:
            if (error := when(input_ids)) is not None:
                raise error
            return works(input_ids=input_ids, **rest)

        self.loaded.model.generate = generate


@pytest.fixture
def random(folders: dict[str, Path]) -> Teller:
    return Teller(folders["random"])


@pytest.fixture
def teller(folders: dict[str, Path]) -> Teller:
    return Teller(folders["teller"])


def request(number: int, temperature: float = 0.6, max_tokens: int = 12) -> Request:
    sampling = SamplingSettings(temperature=temperature, top_p=0.9, max_tokens=max_tokens)
    return Request(f"s{number}", (), sampling=sampling, seed=number + 100)


REQUESTS = [request(n, temperature) for n, temperature in enumerate((0.6, 0.0, 1.5, 0.6, 3.0))]


def test_a_batch_says_what_each_says_alone(random: Teller) -> None:
    together = random.ask(REQUESTS, TEXTS)
    alone = [random.ask([one], [text])[0] for one, text in zip(REQUESTS, TEXTS, strict=True)]
    assert [reply.text for reply in together] == [reply.text for reply in alone]
    assert [reply.usage for reply in together] == [reply.usage for reply in alone]
    assert all(reply.batch == ("s0", "s1", "s2", "s3", "s4") for reply in together)
    assert all(reply.batch == () for reply in alone)
    assert len({reply.text for reply in together}) == len(TEXTS)
    small = random.ask(REQUESTS, TEXTS, tokens=60, most=2)
    assert [reply.text for reply in small] == [reply.text for reply in together]
    assert {reply.batch for reply in small} != {reply.batch for reply in together}


def test_the_model_s_own_settings_do_not_leak_in(random: Teller) -> None:
    """Its generation config has a repetition penalty, top_k and a length; greedy must be plain greedy."""
    ids = random.tokenizer(TEXTS[1])["input_ids"]
    ends = end_tokens(random.loaded, random.tokenizer)
    written: list[int] = []
    with torch.inference_mode():
        while len(written) < 30 and not (written and written[-1] in ends):
            scores = random.loaded.model(torch.tensor([ids + written])).logits[0, -1]
            written.append(int(scores.argmax()))
    reply = random.ask([request(0, 0.0, max_tokens=30)], [TEXTS[1]])[0]
    kept = [word for word in written if word not in ends]
    assert reply.text == random.tokenizer.decode(kept, skip_special_tokens=True).strip()
    assert reply.usage.tokens_out == len(written)
    assert len(written) > 12


def test_the_end_of_a_turn_ends_the_answer(teller: Teller) -> None:
    """The model's configuration names the end of text alone, as the first Llama 3 did."""
    named = teller.loaded.model.generation_config.eos_token_id
    turn_end = teller.tokenizer.convert_tokens_to_ids(TURN_END)
    assert turn_end not in (named if isinstance(named, list) else [named])
    assert turn_end in end_tokens(teller.loaded, teller.tokenizer)
    reply = teller.ask([request(0, 0.0, 40)], ["\n\n"])[0]
    words = teller.tokenizer(SAYS, add_special_tokens=False)["input_ids"]
    assert (reply.text, reply.finish) == (SAYS, "stop")
    assert reply.usage.tokens_out == len(words) + 1


def test_long_prompts_and_lost_gpus_are_told(random: Teller) -> None:
    replies = random.ask([request(0), request(1)], ["rain " * 600, "The rain"])
    assert replies[0].finish == "error"
    assert "the 512 that random takes" in str(replies[0].error)
    assert replies[1].finish != "error"
    assert replies[1].batch == ()
    # A GPU that is gone stops the run.
    random.fails(lambda ids: RuntimeError("CUDA error: device-side assert triggered\nmore"))
    with pytest.raises(EngineError, match="device-side assert triggered"):
        random.ask(REQUESTS, TEXTS)


def test_memory_that_runs_out_makes_smaller_batches_from_then_on(random: Teller) -> None:
    wanted = [reply.text for reply in random.ask(REQUESTS * 2, TEXTS * 2, most=5)]
    sizes: list[int] = []

    def full(ids: torch.Tensor) -> Exception | None:
        sizes.append(len(ids))
        return torch.OutOfMemoryError("CUDA out of memory. Tried to allocate") if len(ids) > 2 else None

    random.fails(full)
    replies = random.ask(REQUESTS * 2, TEXTS * 2, most=5)
    assert [reply.text for reply in replies] == wanted
    assert all(len(reply.batch) <= 2 for reply in replies)
    assert sizes[0] == 5
    assert sum(size > 2 for size in sizes) <= 3, "it does not run into it again and again"
    assert random.loaded.limit is not None
    sizes.clear()
    random.ask(REQUESTS, TEXTS, most=5)
    assert max(sizes) <= 3, "and it is remembered"


def test_what_does_not_fit_alone_is_tried_once_more_and_is_then_a_failed_reply(random: Teller) -> None:
    tries: list[int] = []
    held: list[weakref.ref[torch.Tensor]] = []

    def full(ids: torch.Tensor) -> Exception | None:
        assert not any(ref() is not None for ref in held), "a failed try holds its tensors"
        held.append(weakref.ref(ids))
        tries.extend([ids.shape[1]] * (len(ids) == 1))
        return RuntimeError("CUDA out of memory.") if ids.shape[1] > 8 else None

    random.fails(full)
    replies = random.ask(REQUESTS, TEXTS)
    lengths = [len(random.tokenizer(text)["input_ids"]) for text in TEXTS]
    assert [reply.finish == "error" for reply in replies] == [length > 8 for length in lengths]
    assert "memory ran out on a prompt of" in str(replies[1].error)
    assert {tries.count(length) for length in lengths if length > 8} == {2}


def test_what_the_model_s_code_fails_on_takes_no_other_along(random: Teller) -> None:
    bad = random.tokenizer(TEXTS[3])["input_ids"]
    wanted = [reply.text for reply in random.ask(REQUESTS, TEXTS)]

    def breaks(ids: torch.Tensor) -> Exception | None:
        return IndexError("odd") if any(bad == row[-len(bad) :].tolist() for row in ids) else None

    random.fails(breaks)
    replies = random.ask(REQUESTS, TEXTS)
    assert replies[3].error == "IndexError: odd"
    assert [r.text for n, r in enumerate(replies) if n != 3] == [t for n, t in enumerate(wanted) if n != 3]


@given(
    st.lists(st.integers(1, 500), max_size=40), st.integers(0, 100), st.integers(1, 3000), st.integers(1, 16)
)
def test_all_are_in_one_group_that_fits(lengths: list[int], answer: int, tokens: int, most: int) -> None:
    found = groups(lengths, answer, tokens, most)
    assert sorted(index for group in found for index in group) == list(range(len(lengths)))
    for group in found:
        size = (max(lengths[index] for index in group) + answer) * len(group)
        assert len(group) == 1 or size <= tokens
        assert len(group) <= most
    walked = [lengths[index] for group in found for index in group]
    assert walked == sorted(lengths, reverse=True)
