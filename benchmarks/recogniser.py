"""A speech recogniser for measuring only: Whisper's tiny.en, read without its own package.

The weights come out of the manifest (`whisper-tiny-en`, `whisper-words`) and into transformers' model under
the names that it has for them; words get their times from the attention to the sound, as Whisper's authors do
it (Radford and others 2022; alignment heads of their release). English only. Small: it mishears one word in
six to twenty by itself, so that what it does not find was not necessarily unclear.
"""

from __future__ import annotations

import base64
import re
import zipfile
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shotad.core import weights_file

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


class Recogniser(Protocol):
    """Whoever writes down what is said."""

    def hear(self, samples: Samples) -> list[Word]:
        """The words in ``float32[n]`` of mono sound at `RATE`, at most `LONGEST` seconds."""
        ...


class Whisper:
    """tiny.en on two threads, without chance: the likeliest word each time."""

    def __init__(self) -> None:
        import torch
        from transformers.utils import logging

        logging.set_verbosity_error()  # It warns of its own arguments.
        torch.set_num_threads(2)
        self._model, self._features = _model(), _features()

    def hear(self, samples: Samples) -> list[Word]:
        """The words of up to half a minute; what is longer is refused."""
        import torch

        if len(samples) > LONGEST * RATE:
            raise ValueError(f"at most {LONGEST:g} s can be heard at once, got {len(samples) / RATE:.1f} s")
        with torch.inference_mode():
            heard = self._features(
                samples, sampling_rate=RATE, return_tensors="pt", return_attention_mask=True
            )
            frames = min(3000, max(2, 2 * round(len(samples) / RATE * 50)))
            found = self._model.generate(
                heard.input_features,
                attention_mask=heard.attention_mask,
                num_frames=frames,
                return_token_timestamps=True,
                return_dict_in_generate=True,
                max_new_tokens=200,
                do_sample=False,
                num_beams=1,
            )
        tokens = found["sequences"][0].tolist()
        times = found["token_timestamps"][0].tolist()
        return words_of(tokens, times, vocabulary(), len(samples) / RATE)


def words_of(tokens: list[int], times: list[float], pieces: list[bytes], end: float) -> list[Word]:
    """Tokens joined to words: a piece that begins with a space begins a word; marks are no pieces.

    ``times`` are the seconds at which each token begins.
    """
    groups: list[list[tuple[bytes, float]]] = []
    ends = end
    for token, second in zip(tokens, times, strict=True):
        if token >= len(pieces):
            if token == _END and groups:
                ends = second
                break
            continue
        if not groups or pieces[token].startswith(b" "):
            groups.append([])
        groups[-1].append((pieces[token], second))
    starts = [group[0][1] for group in groups]
    words = [b"".join(piece for piece, _ in group).decode("utf-8", "replace").strip() for group in groups]
    stops = [*starts[1:], max(ends, starts[-1])] if starts else []
    return [Word(*word) for word in zip(words, starts, stops, strict=True) if word[0]]


@cache
def vocabulary() -> list[bytes]:
    """What each of the tokens stands for: GPT-2's pieces by their rank."""
    lines = weights_file("whisper-words").read_text(encoding="ascii").splitlines()
    pairs = (line.split() for line in lines if line)
    pieces = {int(rank): base64.b64decode(piece) for piece, rank in pairs}
    return [pieces[rank] for rank in range(len(pieces))]


_BLOCK = (
    *("mlp_ln.weight", "mlp_ln.bias", "mlp.0.weight", "mlp.0.bias", "mlp.2.weight", "mlp.2.bias"),
    *("attn_ln.weight", "attn_ln.bias", "attn.query.weight", "attn.query.bias", "attn.key.weight"),
    *("attn.value.weight", "attn.value.bias", "attn.out.weight", "attn.out.bias"),
)
_CROSS = tuple(part.replace("attn", "cross_attn") for part in _BLOCK if part.startswith("attn"))
_CONVOLUTIONS = tuple(f"encoder.conv{i}.{part}" for i in (1, 2) for part in ("weight", "bias"))
_LAYERS, _HEADS, _WIDTH, _LONGEST_TEXT = 4, 6, 384, 448


def stored_order() -> list[str]:
    """The release's tensors in the order in which its zip numbers them (``archive/data/0`` …)."""
    decoder = [f"decoder.blocks.{i}.{part}" for i in range(_LAYERS) for part in (*_BLOCK, *_CROSS)]
    encoder = [f"encoder.blocks.{i}.{part}" for i in range(_LAYERS) for part in _BLOCK]
    return [
        *("decoder.positional_embedding", "encoder.positional_embedding", "decoder.token_embedding.weight"),
        *(*decoder, "decoder.ln.weight", "decoder.ln.bias", *_CONVOLUTIONS),
        *(*encoder, "encoder.ln_post.weight", "encoder.ln_post.bias"),
    ]


def read_tensor(archive: zipfile.ZipFile, number: int, name: str, shape: tuple[int, ...]) -> Samples:
    """One tensor of the release, ``float32``. The matrices of its blocks are stored column by column.

    Raises ValueError where its size is not that of ``shape``.
    """
    numbers = np.frombuffer(archive.read(f"archive/data/{number}"), "<f2").astype(np.float32)
    turned = ".blocks." in name and len(shape) == 2
    return numbers.reshape(shape[::-1]).T.copy() if turned else numbers.reshape(shape)


_NAMES = (
    (r"\.blocks\.", ".layers."),
    (r"\.mlp\.0\.", ".fc1."),
    (r"\.mlp\.2\.", ".fc2."),
    (r"\.mlp_ln\.", ".final_layer_norm."),
    (r"\.cross_attn\.", ".encoder_attn."),
    (r"\.cross_attn_ln\.", ".encoder_attn_layer_norm."),
    (r"\.attn\.", ".self_attn."),
    (r"\.attn_ln\.", ".self_attn_layer_norm."),
    (r"\.query\.", ".q_proj."),
    (r"\.key\.", ".k_proj."),
    (r"\.value\.", ".v_proj."),
    (r"attn\.out\.", "attn.out_proj."),
    (r"\.positional_embedding$", ".embed_positions.weight"),
    (r"\.token_embedding\.", ".embed_tokens."),
    (r"^encoder\.ln_post\.", "encoder.layer_norm."),
    (r"^decoder\.ln\.", "decoder.layer_norm."),
)
"""Names in the release, and in transformers."""


def theirs(name: str) -> str:
    """``encoder.blocks.0.attn.query.weight → model.encoder.layers.0.self_attn.q_proj.weight``."""
    for ours, other in _NAMES:
        name = re.sub(ours, other, name)
    return f"model.{name}"


def _model() -> Any:
    """The model with the release's numbers; of the release's pickle nothing is run."""
    import torch
    from transformers import GenerationConfig, WhisperConfig, WhisperForConditionalGeneration

    config = WhisperConfig(
        vocab_size=51864,
        num_mel_bins=80,
        d_model=_WIDTH,
        encoder_layers=_LAYERS,
        encoder_attention_heads=_HEADS,
        encoder_ffn_dim=4 * _WIDTH,
        decoder_layers=_LAYERS,
        decoder_attention_heads=_HEADS,
        decoder_ffn_dim=4 * _WIDTH,
        max_source_positions=1500,
        max_target_positions=_LONGEST_TEXT,
        **{f"{kind}_token_id": _END for kind in ("bos", "eos", "pad")},
        decoder_start_token_id=_START,
        attn_implementation="eager",
    )
    model = WhisperForConditionalGeneration(config)
    wanted = model.state_dict()
    with zipfile.ZipFile(weights_file("whisper-tiny-en")) as archive:
        named = {
            (to := theirs(name)): torch.from_numpy(read_tensor(archive, i, name, tuple(wanted[to].shape)))
            for i, name in enumerate(stored_order())
        }
    named["proj_out.weight"] = named["model.decoder.embed_tokens.weight"]
    model.load_state_dict(named, strict=True)
    model.generation_config = GenerationConfig(
        decoder_start_token_id=_START,
        **{f"{kind}_token_id": _END for kind in ("bos", "eos", "pad")},
        no_timestamps_token_id=_NO_TIMES,
        alignment_heads=_ALIGNED,
        median_filter_width=7,
        is_multilingual=False,
        max_length=_LONGEST_TEXT,
        begin_suppress_tokens=[220, _END],
        suppress_tokens=[_START, *range(_START + 1, _NO_TIMES)],
    )
    return model.eval()


def _features() -> Any:
    from transformers import WhisperFeatureExtractor

    return WhisperFeatureExtractor(feature_size=80, sampling_rate=RATE, padding_value=0.0)
