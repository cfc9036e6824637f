"""Whisper models of the hub: as the release's own model hears it, and in several languages."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core.config.film import TranscriptSettings
from shotad.core.errors import ConfigError, WeightsError
from shotad.film import open_film, sound_blocks
from shotad.film.transcript import RATE, Samples, make_recogniser
from shotad.film.whisper import HubWhisper, TinyEnglish, vocabulary

FILMS = Path(__file__).resolve().parents[3] / "shared" / "data" / "films"
TRAILER = FILMS / "sintel-trailer.mp4"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        importlib.util.find_spec("transformers") is None, reason='needs pip install "shotad[transcript]"'
    ),
    pytest.mark.skipif(not TRAILER.is_file(), reason="the clips are not here"),
]


def byte_letters() -> dict[int, str]:
    """The letter that stands for each byte in GPT-2's vocabularies."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(others)}


def save_processor(folder: Path) -> None:
    """A tokenizer with GPT-2's pieces and Whisper's marks after them, and the maker of spectra."""
    from transformers import WhisperFeatureExtractor, WhisperProcessor, WhisperTokenizer

    letters = byte_letters()
    pieces = {"".join(letters[byte] for byte in piece): rank for rank, piece in enumerate(vocabulary())}
    tokenizer = WhisperTokenizer(vocab={**pieces, "<|endoftext|>": len(pieces)}, merges=[])
    extractor = WhisperFeatureExtractor(feature_size=80, sampling_rate=RATE, padding_value=0.0)
    WhisperProcessor(extractor, tokenizer).save_pretrained(folder)


def sound() -> Samples:
    """Five seconds of the trailer, in which somebody speaks."""
    with open_film(TRAILER) as film:
        blocks = [block.samples for block in sound_blocks(film, rate=RATE)]
    return np.concatenate(blocks)[40 * RATE : 45 * RATE]


def test_a_folder_with_the_same_model_hears_the_same(tmp_path: Path) -> None:
    tiny = TinyEnglish()
    samples = sound()
    words = tiny.hear(samples)
    assert "alone" in [word.text for word in words]
    assert tiny._loaded is not None
    model = tiny._loaded[0]
    model.save_pretrained(tmp_path)
    save_processor(tmp_path)
    recogniser = make_recogniser(TranscriptSettings(recogniser=str(tmp_path)))
    assert isinstance(recogniser, HubWhisper)
    assert recogniser.missing() == ""
    assert recogniser.hear(samples) == words
    with pytest.raises(ValueError, match="at most 30 s"):
        recogniser.hear(samples.repeat(7))


def save_multilingual(folder: Path) -> None:
    """A tiny model with random weights that is told the language, as the multilingual ones are."""
    from transformers import GenerationConfig, WhisperConfig, WhisperForConditionalGeneration

    end = len(vocabulary())
    marks: dict[str, Any] = {
        **{f"{kind}_token_id": end for kind in ("bos", "eos", "pad")},
        "decoder_start_token_id": end + 1,
    }
    layers = {
        f"{part}_{name}": 2 for part in ("encoder", "decoder") for name in ("layers", "attention_heads")
    }
    config = WhisperConfig(
        vocab_size=end + 1600, d_model=16, encoder_ffn_dim=16, decoder_ffn_dim=16, **layers, **marks
    )
    model = WhisperForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        **marks,
        is_multilingual=True,
        lang_to_id={"<|en|>": end + 2, "<|de|>": end + 3},
        task_to_id={"transcribe": end + 5, "translate": end + 4},
        no_timestamps_token_id=end + 9,
        alignment_heads=[[0, 0], [1, 1]],
        median_filter_width=7,
        max_length=448,
        suppress_tokens=[*range(end + 1, end + 9)],
    )
    model.save_pretrained(folder)
    save_processor(folder)


def test_a_multilingual_model_is_told_the_language(tmp_path: Path) -> None:
    save_multilingual(tmp_path)
    samples = sound()
    for language in ("auto", "de"):
        recogniser = make_recogniser(TranscriptSettings(recogniser=str(tmp_path), language=language))
        words = recogniser.hear(samples)
        assert words
        assert all(0 <= word.start <= word.end <= 30.5 for word in words)
    with pytest.raises(ConfigError, match="cannot transcribe this film"):
        make_recogniser(TranscriptSettings(recogniser=str(tmp_path), language="fr")).hear(samples)


def test_a_damaged_model_and_an_unknown_one_are_said(tmp_path: Path) -> None:
    save_multilingual(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        make_recogniser(TranscriptSettings(recogniser=str(tmp_path))).hear(sound())
    with pytest.raises(ConfigError, match="understands English only"):
        make_recogniser(TranscriptSettings(language="fr"))
