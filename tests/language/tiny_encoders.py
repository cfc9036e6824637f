"""Tiny models with tokenizers: a BERT and a RoBERTa whose weights are the same on every machine, a Qwen2."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import BertConfig, BertModel, Qwen2Config, Qwen2ForCausalLM, RobertaConfig, RobertaModel
from transformers.utils import logging

_SIZE = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
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
    inner = _pairs_of_bytes(_ROBERTA_TEXT, 330, "<s>", "<pad>", "</s>", "<unk>", "<mask>")
    pairs = json.loads(inner.to_str())["model"]
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in pairs["merges"]]
    (folder / "vocab.json").write_text(json.dumps(pairs["vocab"]), encoding="utf-8")
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")
    _describe(folder, "RobertaTokenizer")
    config = RobertaConfig(
        vocab_size=len(pairs["vocab"]), max_position_embeddings=66, pad_token_id=1, bos_token_id=0,
        eos_token_id=2, type_vocab_size=1, **_SIZE,
    )  # fmt: skip
    return _saved(RobertaModel(config), folder)


def _pairs_of_bytes(text: str, size: int, *special: str) -> Tokenizer:
    """A tokenizer of bytes in pairs that has read the text."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[*special], initial_alphabet=alphabet, show_progress=False
    )
    inner.train_from_iterator([text] * 3, trainer)
    return inner


def _describe(folder: Path, tokenizer: str) -> None:
    record = {"tokenizer_class": tokenizer, "do_lower_case": True, "model_max_length": 64}
    write(folder / "tokenizer_config.json", record)


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


END = "<|endoftext|>"
_OWN = "sentence_transformers.models"


def make_gte(folder: Path, *, both_ways: bool = True, wants_end: bool = True) -> Path:
    """As gte-Qwen2-7B-instruct is kept: last word, unit length, code of its own, which must never run."""
    folder.mkdir(parents=True)
    inner = _pairs_of_bytes("He opens the door. She runs away. Instruct: Query:", 300, END)
    inner.save(str(folder / "tokenizer.json"))
    own = {"AutoTokenizer": ["tokenization_qwen.Qwen2Tokenizer", None]}
    marks = {"add_eos_token": wants_end, "eos_token": END, "pad_token": END}
    write(folder / "tokenizer_config.json", {"tokenizer_class": "Qwen2Tokenizer", "auto_map": own, **marks})
    size = int(inner.get_vocab_size())
    _make_model(folder, size, both_ways)
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    rows = [{"idx": k, "name": str(k), "path": p, "type": f"{_OWN}.{t}"} for k, (p, t) in enumerate(modules)]
    write(folder / "modules.json", rows)
    pooling = {
        "word_embedding_dimension": 32,
        "pooling_mode_lasttoken": True,
        "pooling_mode_mean_tokens": False,
    }
    write(folder / "1_Pooling" / "config.json", pooling)
    write(folder / "sentence_bert_config.json", {"max_seq_length": 512, "do_lower_case": False})
    return folder


def _make_model(folder: Path, words: int, both_ways: bool) -> None:
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=words, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=512, initializer_range=0.5, eos_token_id=0,
        is_causal=not both_ways,
    )  # fmt: skip
    logging.disable_progress_bar()
    Qwen2ForCausalLM(config).save_pretrained(folder)
    kept = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    write(folder / "config.json", {**kept, "auto_map": {"AutoModel": "modeling_qwen.Qwen2Model"}})
    for name in ("modeling_qwen.py", "tokenization_qwen.py"):
        (folder / name).write_text("raise SystemExit('ran')", encoding="utf-8")


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
