"""A BERT and a RoBERTa of three tiny layers with tokenizers, whose weights are the same on every machine."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

_SIZE = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}
_BERT_WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] ann opens a door bob sits the man walks up stairs ##s slow ##ly . , she he "
    "waits quick"
)
_ROBERTA_TEXT = "Ann opens a door and walks up the stairs. Bob sits. A man waits slowly."


def make_bert(folder: Path) -> Path:
    """Small letters only, word pieces."""
    folder.mkdir(parents=True)
    words = _BERT_WORDS.split()
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    _describe(folder, "BertTokenizer")
    config = BertConfig(vocab_size=len(words), max_position_embeddings=64, **_SIZE)
    return _saved(BertModel(config), folder)


def make_roberta(folder: Path) -> Path:
    """Bytes in pairs, with the space before a word."""
    folder.mkdir(parents=True)
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    inner.train_from_iterator([_ROBERTA_TEXT] * 3, trainer)
    pairs = json.loads(inner.to_str())["model"]
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in pairs["merges"]]
    (folder / "vocab.json").write_text(json.dumps(pairs["vocab"]), encoding="utf-8")
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")
    _describe(folder, "RobertaTokenizer")
    config = RobertaConfig(
        vocab_size=len(pairs["vocab"]),
        max_position_embeddings=66,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        type_vocab_size=1,
        **_SIZE,
    )
    return _saved(RobertaModel(config), folder)


def _describe(folder: Path, tokenizer: str) -> None:
    record = {"tokenizer_class": tokenizer, "do_lower_case": True, "model_max_length": 64}
    (folder / "tokenizer_config.json").write_text(json.dumps(record), encoding="utf-8")


def _saved(model: torch.nn.Module, folder: Path) -> Path:
    """Weights by their names and not by the order in which a version of the library makes them."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            random = np.random.default_rng(zlib.crc32(name.encode()))
            mean = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            values = random.normal(mean, 0.1 if "LayerNorm" in name or "bias" in name else 0.5, weight.shape)
            weight.copy_(torch.from_numpy(values))
    model.save_pretrained(folder)
    return folder
