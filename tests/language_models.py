"""Tiny text models with tokenizers, made from nothing: of the classes of the real ones, with random weights."""

from __future__ import annotations

import itertools
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils import logging

from shotad.core.config.sight import ComputeSettings
from shotad.core.config.words import LocalSettings
from shotad.engines.local_loading import Loaded, ModelKind, load_way, way_of
from shotad.engines.local_model import ModelPlace

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


def make_tokenizer(template: str | None = LLAMA_TEMPLATE) -> PreTrainedTokenizerFast:
    """Byte-level BPE that puts a bos token before every text, as that of Llama 3 does."""
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
    if template is not None:
        tokenizer.chat_template = template
    return tokenizer


def make_llama(
    folder: Path,
    *,
    template: str | None = LLAMA_TEMPLATE,
    seed: int = 0,
    context: int = 512,
    ends: tuple[str, ...] = (TEXT_END,),
    says: str | None = None,
    tied: bool = False,
) -> Path:
    """A Llama with random weights and its tokenizer, in ``folder`` as save_pretrained writes them.

    ``ends`` are the tokens that its generation config names as ends; that config also carries settings that
    must not leak into our answers. With ``says`` it answers a prompt of `LLAMA_TEMPLATE` with that text and
    the end of turn, and goes on wherever in that text a prompt stops; no token of it may come twice.
    """
    tokenizer = make_tokenizer(template)
    torch.manual_seed(seed)
    config = LlamaConfig(
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
    model = LlamaForCausalLM(config)
    if says is not None:
        _teach(model, tokenizer("\n\n" + says + TURN_END, add_special_tokens=False)["input_ids"])
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
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        places = model.model.embed_tokens.weight
        model.lm_head.weight.mul_(0.01)
        for word, following in itertools.pairwise(words):
            model.lm_head.weight[following] = 4 * places[word] / places[word].norm()


def load(place: ModelPlace, kind: ModelKind, compute: ComputeSettings, local: LocalSettings) -> Loaded:
    """The model in ``place``, not shared."""
    return load_way(way_of(place, kind, compute, local))
