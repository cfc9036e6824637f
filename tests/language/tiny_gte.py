"""A tiny Qwen2 with random weights, kept as gte-Qwen2-7B-instruct is: last word, unit length, code of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import Qwen2Config, Qwen2ForCausalLM
from transformers.utils import logging

END = "<|endoftext|>"
_OWN = "sentence_transformers.models"


def make_gte(folder: Path, *, both_ways: bool = True, wants_end: bool = True) -> Path:
    """The model in ``folder``; its own code must never run."""
    folder.mkdir(parents=True)
    size = _make_tokenizer(folder, wants_end)
    _make_model(folder, size, both_ways)
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    rows = [{"idx": k, "name": str(k), "path": p, "type": f"{_OWN}.{t}"} for k, (p, t) in enumerate(modules)]
    _write(folder / "modules.json", rows)
    (folder / "1_Pooling").mkdir()
    pooling = {
        "word_embedding_dimension": 32,
        "pooling_mode_mean_tokens": False,
        "pooling_mode_lasttoken": True,
    }
    _write(folder / "1_Pooling" / "config.json", pooling)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 512, "do_lower_case": False})
    return folder


def _make_tokenizer(folder: Path, wants_end: bool) -> int:
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    inner.train_from_iterator(["He opens the door. She runs away. Instruct: Query:"], trainer)
    inner.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "Qwen2Tokenizer",
        "add_eos_token": wants_end,
        "eos_token": END,
        "pad_token": END,
    }
    config["auto_map"] = {"AutoTokenizer": ["tokenization_qwen.Qwen2Tokenizer", None]}
    _write(folder / "tokenizer_config.json", config)
    return int(inner.get_vocab_size())


def _make_model(folder: Path, words: int, both_ways: bool) -> None:
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=words,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.5,
        eos_token_id=0,
        is_causal=not both_ways,
    )
    logging.disable_progress_bar()
    Qwen2ForCausalLM(config).save_pretrained(folder)
    kept = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    _write(folder / "config.json", {**kept, "auto_map": {"AutoModel": "modeling_qwen.Qwen2Model"}})
    for name in ("modeling_qwen.py", "tokenization_qwen.py"):
        (folder / name).write_text("raise SystemExit('ran')", encoding="utf-8")


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")
