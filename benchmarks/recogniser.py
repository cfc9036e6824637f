"""A speech recogniser for measuring only: Whisper's tiny.en, read without its own package.

The weights come out of the manifest (`whisper-tiny-en`, `whisper-words`) and into transformers' model under
the names that it has for them; words get their times from the attention to the sound, as Whisper's authors do
it (Radford and others 2022; alignment heads of their release). English only. Small: it mishears one word in
six to twenty by itself, so that what it does not find was not necessarily unclear.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core.weight_store import weights_file

RATE = 16000
LONGEST = 30.0
"""Seconds that it hears at once."""

_END, _START, _NO_TIMES, _FIRST_TIME = 50256, 50257, 50362, 50363
_ALIGNED = [[1, 0], [2, 0], [2, 5], [3, 0], [3, 1], [3, 2], [3, 3], [3, 4]]
"""Layers and heads of tiny.en's decoder whose attention follows the sound, by its authors' release."""

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Word:
    """A word that was heard, and when it begins and ends, in seconds of what was listened to."""

    text: str
    start: float
    end: float


class Whisper:
    """tiny.en on two threads, without chance: the likeliest word each time."""

    def __init__(self) -> None:
        import torch
        from transformers import WhisperFeatureExtractor
        from transformers.utils import logging

        logging.set_verbosity_error()  # It warns of its own arguments.
        torch.set_num_threads(2)
        self._model = _model()
        self._features = WhisperFeatureExtractor(feature_size=80, sampling_rate=RATE, padding_value=0.0)

    def hear(self, samples: Samples) -> list[Word]:
        """The words of up to half a minute; what is longer is refused."""
        import torch

        seconds = len(samples) / RATE
        if seconds > LONGEST:
            raise ValueError(f"at most {LONGEST:g} s can be heard at once, got {seconds:.1f} s")
        with torch.inference_mode():
            heard = self._features(
                samples, sampling_rate=RATE, return_tensors="pt", return_attention_mask=True
            )
            found = self._model.generate(
                heard.input_features,
                attention_mask=heard.attention_mask,
                num_frames=min(3000, max(2, 2 * round(seconds * 50))),
                return_token_timestamps=True,
                return_dict_in_generate=True,
                max_new_tokens=200,
                do_sample=False,
                num_beams=1,
            )
        return words_of(found["sequences"][0].tolist(), found["token_timestamps"][0].tolist(), seconds)


def words_of(tokens: list[int], times: list[float], end: float) -> list[Word]:
    """Tokens joined to words: a piece that begins with a space begins a word; marks are no pieces.

    ``times`` are the seconds at which each token begins.
    """
    pieces, words = vocabulary(), list[tuple[bytes, float]]()
    for token, second in zip(tokens, times, strict=True):
        if token == _END and words:
            end = second
            break
        if token < len(pieces):
            if not words or pieces[token].startswith(b" "):
                words.append((b"", second))
            words[-1] = (words[-1][0] + pieces[token], words[-1][1])
    starts = [start for _, start in words]
    stops = [*starts[1:], max(end, starts[-1])] if starts else []
    texts = (text.decode("utf-8", "replace").strip() for text, _ in words)
    return [Word(*word) for word in zip(texts, starts, stops, strict=True) if word[0]]


@cache
def vocabulary() -> list[bytes]:
    """What each of the tokens stands for: GPT-2's pieces by their rank."""
    lines = weights_file("whisper-words").read_text(encoding="ascii").splitlines()
    pairs = (line.split() for line in lines if line)
    pieces = {int(rank): base64.b64decode(piece) for piece, rank in pairs}
    return [pieces[rank] for rank in range(len(pieces))]


_NAMES = {
    ".blocks.": ".layers.", ".mlp.0.": ".fc1.", ".mlp.2.": ".fc2.", ".mlp_ln.": ".final_layer_norm.",
    ".cross_attn.": ".encoder_attn.", ".cross_attn_ln.": ".encoder_attn_layer_norm.",
    ".attn.": ".self_attn.", ".attn_ln.": ".self_attn_layer_norm.", ".query.": ".q_proj.",
    ".key.": ".k_proj.", ".value.": ".v_proj.", "attn.out.": "attn.out_proj.",
    ".positional_embedding": ".embed_positions.weight", ".token_embedding.": ".embed_tokens.",
    "encoder.ln_post.": "encoder.layer_norm.", "decoder.ln.": "decoder.layer_norm.",
}  # fmt: skip
"""Parts of names in the release, and in transformers."""


def theirs(name: str) -> str:
    """``encoder.blocks.0.attn.query.weight → model.encoder.layers.0.self_attn.q_proj.weight``."""
    for ours, other in _NAMES.items():
        name = name.replace(ours, other)
    return f"model.{name}"


def _model() -> Any:
    import torch
    from transformers import GenerationConfig, WhisperConfig, WhisperForConditionalGeneration

    marks = {f"{kind}_token_id": _END for kind in ("bos", "eos", "pad")} | {"decoder_start_token_id": _START}
    sizes = {"layers": 4, "attention_heads": 6, "ffn_dim": 1536}
    config = WhisperConfig(
        vocab_size=51864,
        d_model=384,
        max_target_positions=448,
        attn_implementation="eager",
        **{f"{part}_{name}": size for part in ("encoder", "decoder") for name, size in sizes.items()},
        **marks,
    )
    model = WhisperForConditionalGeneration(config)
    stored = torch.load(weights_file("whisper-tiny-en"), weights_only=True)["model_state_dict"]
    named = {theirs(name): numbers.float() for name, numbers in stored.items()}
    named["proj_out.weight"] = named["model.decoder.embed_tokens.weight"]
    model.load_state_dict(named, strict=True)
    model.generation_config = GenerationConfig(
        **marks,
        no_timestamps_token_id=_NO_TIMES,
        alignment_heads=_ALIGNED,
        median_filter_width=7,
        is_multilingual=False,
        max_length=448,
        begin_suppress_tokens=[220, _END],
        suppress_tokens=[_START, *range(_START + 1, _NO_TIMES)],
    )
    return model.eval()
