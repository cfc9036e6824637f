"""Whisper through transformers: the small English model from the manifest, or any Whisper model of the hub.

`TinyEnglish` reads the release of OpenAI's tiny.en as it is (``whisper-tiny-en``, ``whisper-words`` of the
manifest) into transformers' model; nothing of a pickle is run. Words get their times from the attention to
the sound, as Whisper's authors do it (Radford and others 2022; alignment heads of their release). It is
small: it mishears one word in six to twenty.

`HubWhisper` is for other languages and for fewer mistakes: ``openai/whisper-small`` and others.
"""

from __future__ import annotations

import base64
import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from shotad.core.config.film import TranscriptSettings
from shotad.core.config.languages import language_of
from shotad.core.errors import ConfigError, WeightsError
from shotad.core.installation import install_command
from shotad.core.model_loading import (
    TEXT_MODEL_FILES,
    damaged_model_errors,
    first_message_line,
    is_model_folder,
    model_folder,
    require_module,
    silence_transformers,
)
from shotad.core.weight_store import weights_file
from shotad.film.transcript import MAX_SECONDS, RATE, Samples, Word

_PURPOSE = "Transcribing dialogue"
_EXTRA = "transcript"
_MAX_TOKENS = 200
"""Word pieces that half a minute of speech may have."""


def missing_modules() -> str:
    """What to install before a Whisper model can be used, in a sentence; empty: nothing."""
    absent = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if not absent:
        return ""
    return f"{_PURPOSE} needs {' and '.join(absent)}: {install_command(f'shotad[{_EXTRA}]')}"


def _refuse_long(samples: Samples) -> float:
    """The seconds of the sound. Raises ValueError where they are more than a model hears at once."""
    seconds = len(samples) / RATE
    if seconds > MAX_SECONDS:
        raise ValueError(f"at most {MAX_SECONDS:g} s can be heard at once, got {seconds:.1f} s")
    return seconds


def _frames(seconds: float) -> int:
    """Spectra of the sound (100 a second), even, of the 3000 that the model reads; the rest is padding."""
    return min(3000, max(2, 2 * round(seconds * 50)))


def _timed_tokens(
    torch: Any, model: Any, spectra: Any, seconds: float, **language_options: Any
) -> tuple[list[int], list[float]]:
    """The tokens that the model writes for some sound, the likeliest each time, and the second of each."""
    with torch.inference_mode():
        generated = model.generate(
            spectra.input_features,
            attention_mask=spectra.attention_mask,
            num_frames=_frames(seconds),
            return_token_timestamps=True,
            return_dict_in_generate=True,
            max_new_tokens=_MAX_TOKENS,
            do_sample=False,
            num_beams=1,
            **language_options,
        )
    return generated["sequences"][0].tolist(), generated["token_timestamps"][0].tolist()


# The English model of the manifest

_END, _START, _NO_TIMES = 50256, 50257, 50362
_ALIGNED = [[1, 0], [2, 0], [2, 5], [3, 0], [3, 1], [3, 2], [3, 3], [3, 4]]
"""Layers and heads of tiny.en's decoder whose attention follows the sound, by its authors' release."""


class TinyEnglish:
    """tiny.en, without chance: the likeliest word each time. It takes everything for English."""

    name = "tiny.en"

    def __init__(self, settings: TranscriptSettings | None = None) -> None:
        language = "auto" if settings is None else settings.language
        if language != "auto" and language_of(language).tag.partition("-")[0] != "en":
            raise ConfigError(
                f"The recogniser tiny.en understands English only, not {language!r}.",
                "Name another Whisper model: --set transcript.recogniser=openai/whisper-small",
            )
        self._loaded: tuple[Any, Any] | None = None

    def missing(self) -> str:
        return missing_modules()

    def hear(self, samples: Samples) -> list[Word]:
        """The words of up to half a minute; what is longer is refused. Raises WeightsError."""
        torch = require_module("torch", _PURPOSE, _EXTRA)
        seconds = _refuse_long(samples)
        if self._loaded is None:
            self._loaded = _tiny_model()
        model, extractor = self._loaded
        spectra = extractor(samples, sampling_rate=RATE, return_tensors="pt", return_attention_mask=True)
        tokens, times = _timed_tokens(torch, model, spectra, seconds)
        return words_of(tokens, times, seconds)


def words_of(tokens: Sequence[int], times: Sequence[float], end: float) -> list[Word]:
    """Tokens joined to words: a piece that begins with a space begins a word; marks are no pieces.

    ``times`` are the seconds at which each token begins; ``end`` is when the sound ends.
    """
    pieces = vocabulary()
    words: list[tuple[bytes, float]] = []
    for token, second in zip(tokens, times, strict=True):
        if token == _END and words:
            end = second
            break
        if token < len(pieces):
            if not words or pieces[token].startswith(b" "):
                words.append((b"", second))
            words[-1] = (words[-1][0] + pieces[token], words[-1][1])
    return _timed([(text.decode("utf-8", "replace"), start) for text, start in words], end)


def _timed(words: Sequence[tuple[str, float]], end: float) -> list[Word]:
    """Words with their starts; each ends where the next begins, the last at ``end``. Empty ones go."""
    starts = [start for _, start in words]
    stops = [*starts[1:], max(end, starts[-1])] if starts else []
    timed = zip(words, stops, strict=True)
    return [Word(text.strip(), start, stop) for (text, start), stop in timed if text.strip()]


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


def transformers_name(name: str) -> str:
    """``encoder.blocks.0.attn.query.weight → model.encoder.layers.0.self_attn.q_proj.weight``."""
    for release_part, part in _NAMES.items():
        name = name.replace(release_part, part)
    return f"model.{name}"


def _tiny_model() -> tuple[Any, Any]:
    """The model and what turns sound into its spectra. Raises WeightsError."""
    torch = require_module("torch", _PURPOSE, _EXTRA)
    transformers = require_module("transformers", _PURPOSE, _EXTRA)
    marks = {f"{kind}_token_id": _END for kind in ("bos", "eos", "pad")} | {"decoder_start_token_id": _START}
    sizes = {"layers": 4, "attention_heads": 6, "ffn_dim": 1536}
    config = transformers.WhisperConfig(
        vocab_size=51864,
        d_model=384,
        max_target_positions=448,
        attn_implementation="eager",
        **{f"{part}_{name}": size for part in ("encoder", "decoder") for name, size in sizes.items()},
        **marks,
    )
    path = weights_file("whisper-tiny-en")
    with silence_transformers(transformers):
        model = transformers.WhisperForConditionalGeneration(config)
    # Plain numbers only: no code of the file is run.
    stored = torch.load(path, weights_only=True)["model_state_dict"]
    tensors = {transformers_name(name): numbers.float() for name, numbers in stored.items()}
    tensors["proj_out.weight"] = tensors["model.decoder.embed_tokens.weight"]
    model.load_state_dict(tensors, strict=True)
    model.generation_config = transformers.GenerationConfig(
        **marks,
        no_timestamps_token_id=_NO_TIMES,
        alignment_heads=_ALIGNED,
        median_filter_width=7,
        is_multilingual=False,
        max_length=448,
        begin_suppress_tokens=[220, _END],
        suppress_tokens=[_START, *range(_START + 1, _NO_TIMES)],
    )
    transformers.utils.logging.set_verbosity_error()  # It warns of its own arguments.
    extractor = transformers.WhisperFeatureExtractor(feature_size=80, sampling_rate=RATE, padding_value=0.0)
    return model.eval(), extractor


# Models of the hub


class HubWhisper:
    """A Whisper model of the hub, or in a folder, in the language of the settings, else the one it hears."""

    def __init__(self, settings: TranscriptSettings) -> None:
        self.name = settings.recogniser
        self._language = None if settings.language == "auto" else language_of(settings.language).tag
        self._loaded: tuple[Any, Any] | None = None

    def missing(self) -> str:
        return missing_modules()

    def hear(self, samples: Samples) -> list[Word]:
        """The words of up to half a minute. Raises WeightsError, ConfigError for a language it lacks."""
        torch = require_module("torch", _PURPOSE, _EXTRA)
        seconds = _refuse_long(samples)
        if self._loaded is None:
            self._loaded = self._load()
        model, processor = self._loaded
        spectra = processor(samples, sampling_rate=RATE, return_tensors="pt", return_attention_mask=True)
        language_options: dict[str, Any] = {}
        if getattr(model.generation_config, "is_multilingual", False):
            language_options["task"] = "transcribe"
            if self._language:
                language_options["language"] = self._language.partition("-")[0]
        try:
            tokens, times = _timed_tokens(torch, model, spectra, seconds, **language_options)
        except ValueError as error:
            reason = first_message_line(error)
            raise ConfigError(f"{self.name} cannot transcribe this film: {reason}.") from None
        return hub_words(processor.tokenizer, tokens, times, seconds)

    def _load(self) -> tuple[Any, Any]:
        transformers = require_module("transformers", _PURPOSE, _EXTRA)
        folder = Path(self.name)
        if not is_model_folder(folder):
            folder = model_folder(self.name, patterns=TEXT_MODEL_FILES)
        try:
            with silence_transformers(transformers):
                model = transformers.WhisperForConditionalGeneration.from_pretrained(
                    folder, use_safetensors=True, attn_implementation="eager", local_files_only=True
                )
                processor = transformers.WhisperProcessor.from_pretrained(folder, local_files_only=True)
        except damaged_model_errors(_PURPOSE) as error:
            raise WeightsError(
                f"The Whisper model {self.name} cannot be loaded: {first_message_line(error)}.",
                "Fetch or save it again, whole.",
            ) from None
        transformers.utils.logging.set_verbosity_error()
        return model.eval(), processor


def hub_words(tokenizer: Any, tokens: Sequence[int], times: Sequence[float], end: float) -> list[Word]:
    """Tokens joined to words; a letter may be spread over several tokens, and is whole before it is read."""
    special = set(tokenizer.all_special_ids)
    words: list[tuple[str, float]] = []
    pending: list[int] = []
    pending_start = 0.0
    for token, second in zip(tokens, times, strict=True):
        if token == tokenizer.eos_token_id and words:
            end = second
            break
        if token in special or token >= tokenizer.vocab_size:
            continue
        pending_start = pending_start if pending else second
        pending.append(token)
        piece = tokenizer.decode(pending)
        if "�" in piece:
            continue
        if not words or piece.startswith(" "):
            words.append((piece, pending_start))
        else:
            words[-1] = (words[-1][0] + piece, words[-1][1])
        pending = []
    return _timed(words, end)
