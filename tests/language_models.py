"""Tiny text models with tokenizers, made from nothing: of the classes of the real ones, with random weights.

`ModelCalls` keeps what models of transformers are given, and lets them fail.
"""

from __future__ import annotations

import itertools
import json
import struct
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    GenerationConfig,
    GenerationMixin,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)
from transformers.utils import logging

from shotad.core.system import memory_free

BEGIN, HEAD, HEAD_END, TURN_END, TEXT_END = (
    "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|end_of_text|>",
)  # fmt: skip
SPECIAL = (BEGIN, HEAD, HEAD_END, TURN_END, TEXT_END)

LLAMA_TEMPLATE = (
    "{{ bos_token }}"
    "{% for turn in messages %}"
    "<|start_header_id|>{{ turn['role'] }}<|end_header_id|>\n\n{{ turn['content'] | trim }}<|eot_id|>"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
"""Begins with the bos token itself, as that of Llama 3 does."""

NO_SYSTEM_TEMPLATE = (
    "{{ bos_token }}"
    "{% for turn in messages %}"
    "{% if turn['role'] == 'system' %}{{ raise_exception('no system role here') }}{% endif %}"
    "{% if (turn['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('turns must alternate') }}"
    "{% endif %}"
    "<|start_header_id|>{{ turn['role'] }}<|end_header_id|>{{ turn['content'] }}<|eot_id|>"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>{% endif %}"
)
"""One that refuses a system role, and turns that do not alternate."""

_WORDS = (
    "A woman in a red coat crosses the square and looks back at the tower. He opens the door. "
    "They run up the stairs while the rain falls on the empty street. Summarise the description in one line."
)


def make_tokenizer(
    template: str | None = LLAMA_TEMPLATE, marks: Sequence[str] = (), words: Sequence[str] = ()
) -> PreTrainedTokenizerFast:
    """Byte-level BPE that puts a bos token before every text, as that of Llama 3 does. ``marks`` are special
    tokens too; each of ``words`` is one token."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator([_WORDS], trainer)
    inner.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(
                single=f"{BEGIN} $A", special_tokens=[(BEGIN, inner.token_to_id(BEGIN))]
            ),
        ]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token=BEGIN,
        eos_token=TEXT_END,
        additional_special_tokens=[HEAD, HEAD_END, TURN_END],
    )
    tokenizer.add_tokens([AddedToken(mark, special=True) for mark in marks])
    tokenizer.add_tokens([AddedToken(word, normalized=False) for word in words])
    if template is not None:
        tokenizer.chat_template = template
    return tokenizer


class CountedConfig(LlamaConfig):
    """Of a `CountedLlama`."""

    model_type = "counted_llama"


class CountedLlama(LlamaForCausalLM):
    """A Llama that notes by its folder's name each time it is loaded.

    Memory runs out for one that would be more than ``most`` at once.
    """

    config_class = CountedConfig
    loads: ClassVar[list[str]] = []
    most: ClassVar[int] = 100
    in_memory: ClassVar[weakref.WeakSet[LlamaForCausalLM]] = weakref.WeakSet()

    def __init__(self, config: CountedConfig) -> None:
        if folder := config.name_or_path:
            self.loads.append(Path(folder).name)
            if len(self.in_memory) >= self.most:
                raise torch.OutOfMemoryError("CUDA out of memory.")
        super().__init__(config)
        if folder:
            self.in_memory.add(self)


AutoConfig.register(CountedConfig.model_type, CountedConfig)
AutoModelForCausalLM.register(CountedConfig, CountedLlama)


def add_ballast(folder: Path, size: int | None = None, *, of_bytes: bool = False) -> None:
    """Give the model's file a tensor of which nobody knows, of ``size`` bytes, by default as large as all memory
    that is free (no disk). With ``of_bytes`` its numbers take one byte each there, so that large models have
    files that small machines can map."""
    path = folder / "model.safetensors"
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    tensors, values = json.loads(content[8 : 8 + length]), content[8 + length :]
    free = memory_free() if size is None else size
    if free is None:
        pytest.skip("this system does not tell its free memory")
    kind, each = ("U8", 1) if of_bytes else ("F32", 4)
    end = len(values) + free // each * each
    tensors["ballast"] = {"dtype": kind, "shape": [free // each], "data_offsets": [len(values), end]}
    header = json.dumps(tensors).encode()
    with path.open("wb") as stream:
        stream.write(struct.pack("<Q", len(header)) + header + values)
        stream.truncate(8 + len(header) + end)


def make_llama(
    folder: Path,
    *,
    template: str | None = LLAMA_TEMPLATE,
    seed: int = 0,
    context: int = 512,
    ends: tuple[str, ...] = (TEXT_END,),
    says: str | None = None,
    scores: Mapping[str, float] | None = None,
    tied: bool = False,
    counted: bool = False,
    marks: Sequence[str] = (),
    words: Sequence[str] = (),
) -> Path:
    """A Llama with random weights and its tokenizer, in ``folder`` as save_pretrained writes them.

    ``ends`` are the tokens that its generation config names as ends; that config also carries settings that
    must not leak into our answers. With ``says`` it answers a prompt of `LLAMA_TEMPLATE` with that text and
    the end of turn, and goes on wherever in that text a prompt stops; no token of it may come twice. With
    ``scores`` every next token is one of these, with these scores, whatever came before. ``counted`` makes it
    a `CountedLlama`. ``marks`` are special tokens beside those of Llama 3, and each of ``words`` is
    one token.
    """
    tokenizer = make_tokenizer(template, marks, words)
    torch.manual_seed(seed)
    config = (CountedConfig if counted else LlamaConfig)(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        initializer_range=0.6,
        bos_token_id=tokenizer.convert_tokens_to_ids(BEGIN),
        eos_token_id=tokenizer.convert_tokens_to_ids(TEXT_END),
        tie_word_embeddings=tied,
    )
    model = (CountedLlama if counted else LlamaForCausalLM)(config)
    if says is not None:
        _teach(model, tokenizer("\n\n" + says + TURN_END, add_special_tokens=False)["input_ids"])
    if scores is not None:
        _fix_scores(model, {tokenizer.convert_tokens_to_ids(token): score for token, score in scores.items()})
    model.generation_config = GenerationConfig(
        bos_token_id=config.bos_token_id,
        eos_token_id=[tokenizer.convert_tokens_to_ids(end) for end in ends],
        do_sample=True,
        top_k=3,
        temperature=0.1,
        repetition_penalty=1.9,
        max_length=20,
    )
    logging.disable_progress_bar()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _teach(model: LlamaForCausalLM, words: list[int]) -> None:
    """Each of ``words`` is followed by the next, whatever came before: the layers add nothing any more."""
    while words[0] == words[1]:  # a token for each of the two line ends
        words = words[1:]
    assert len(set(words)) == len(words), "a token comes twice"
    _silence_layers(model)
    with torch.no_grad():
        places = model.model.embed_tokens.weight
        model.lm_head.weight.mul_(0.01)
        for word, following in itertools.pairwise(words):
            model.lm_head.weight[following] = 4 * places[word] / places[word].norm()


def _fix_scores(model: LlamaForCausalLM, scores: Mapping[int, float]) -> None:
    """Give the tokens with these ids these scores, and all others none to speak of."""
    _silence_layers(model)
    with torch.no_grad():
        model.model.embed_tokens.weight.fill_(1.0)
        model.lm_head.weight.fill_(-1000.0)
        for token, score in scores.items():
            model.lm_head.weight[token] = score / model.config.hidden_size


def _silence_layers(model: LlamaForCausalLM) -> None:
    """Let the layers add nothing to a token's embedding."""
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()


class ModelCalls:
    """The calls of ``generate`` of all models: the tensors of each in ``inputs``.

    ``most_at_once`` of them ran at the same time. ``error_for`` gives the error that a call with these input ids raises; None lets it pass.
    """

    def __init__(self) -> None:
        self.inputs: list[dict[str, Any]] = []
        self.most_at_once = 0
        self._now = 0
        self.error_for: Callable[[torch.Tensor], Exception | None] = lambda ids: None
        self._generate = GenerationMixin.generate

    def generate(self, model: Any, **options: Any) -> Any:
        """Stands in the place of transformers' own method."""
        if (error := self.error_for(options["input_ids"])) is not None:
            raise error
        tensors = (int, float, list, torch.Tensor)
        self.inputs.append({name: value for name, value in options.items() if isinstance(value, tensors)})
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            return self._generate(model, **options)
        finally:
            self._now -= 1

    @property
    def prompts(self) -> list[list[list[int]]]:
        """The ids of the tokens of each call, row by row."""
        return [call["input_ids"].tolist() for call in self.inputs]
