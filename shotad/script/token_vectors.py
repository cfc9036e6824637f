"""Words in their sentence as vectors: what a layer of an encoder (BERT, RoBERTa …) makes of each token.

Only safetensors are loaded, and no code that comes with a model is run. Texts of the same number of tokens
are encoded together, so that nothing is padded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import (
    WANTED_WITH_WORDS,
    ComputeSettings,
    Identity,
    NoProgress,
    Progress,
    WeightsError,
    broken,
    device_of,
    fingerprint,
    is_model_folder,
    loading_quiet,
    manifest,
    model_folder,
    need,
    reason,
    weight_files,
    weights,
    weights_folder,
)

EXTRA = "language"
"""The extra of the package that this room needs."""
_PURPOSE = "Comparing words in their sentences"
_ENGINE = "token vectors"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_WHOLE = "Give a folder or repository with a whole encoder and its tokenizer, saved as safetensors."
_SPACED = ("roberta", "gpt2")
"""Models that tell a word at the beginning of a text from the same word behind a space. As bert_score 0.3.13
does with transformers 4, which its baselines fit, texts begin with a space for them."""


_USUAL = 512
"""Tokens that a text may have where a model sets no limit (T5, XLNet)."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """A text. ``vectors`` float32[t, d], a unit vector to each token; ``words`` bool[t], False for the marks
    of beginning and end (``[CLS]``, ``[SEP]``)."""

    vectors: npt.NDArray[np.float32]
    words: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class EncoderPlace:
    """An encoder that is on this machine: its folder, what it is called in records, and how many layers it
    has."""

    folder: Path
    identity: Identity
    layers: int


def check_name(name: str) -> None:
    """Raise ShotadError where ``name`` can be no encoder, or the extra is missing; nothing is fetched."""
    need("transformers", _PURPOSE, EXTRA)
    folder = Path(name).expanduser()
    if name in manifest() or _REPOSITORY.fullmatch(name) or is_model_folder(folder):
        return
    if folder.is_dir():
        raise WeightsError(f"The folder {name} holds no config.json with all of its safetensors.", _WHOLE)
    raise WeightsError(
        f"There is no encoder {name!r}.", "Known: minilm, a folder, or a repository of the hub (owner/name)."
    )


def locate(name: str, progress: Progress | None = None) -> EncoderPlace:
    """The encoder called ``name``: weights of the manifest, a folder, or a repository of the hub.

    Fetches weights that are not here. Raises ShotadError without the extra, WeightsError for a model that
    cannot be had.
    """
    check_name(name)
    folder, identity = _found(name, progress or NoProgress())
    config = _config(need("transformers", _PURPOSE, EXTRA), folder)
    layers = getattr(config, "num_hidden_layers", None)
    if not isinstance(layers, int):
        raise WeightsError(f"The model in {folder} is no encoder with layers ({config.model_type}).", _WHOLE)
    return EncoderPlace(folder, identity, layers)


class TokenEncoder:
    """A loaded encoder that stops behind ``layer`` (0: what the embeddings give).

    Counts in float32 unless the settings ask for bfloat16 by name: ranks hang on small differences. Raises
    WeightsError for a layer that the model has not, and for a model that cannot be loaded.
    """

    def __init__(
        self, place: EncoderPlace, layer: int, compute: ComputeSettings | None = None, batch: int = 64
    ) -> None:
        if not 0 <= layer <= place.layers:
            raise WeightsError(
                f"The model {place.identity.model} has no layer {layer}.", f"Name one of 0 to {place.layers}."
            )
        self._torch = need("torch", _PURPOSE, EXTRA)
        self._device = device_of(compute or ComputeSettings())
        half = compute is not None and compute.precision == "bfloat16"
        dtype = self._torch.bfloat16 if half else self._torch.float32
        self._tokenizer, model, config = _loaded(place.folder, layer, dtype)
        self._model = model.to(self._device)
        self._longest = _longest(self._tokenizer, config)
        self._marks = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id} - {None}
        self._spaced = config.model_type in _SPACED
        self._batch = batch

    def of(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The vectors of each text, in order. What is longer than the model takes is cut off."""
        if not texts:
            return []
        tokens = self._ids(texts)
        order = sorted((i for i in range(len(texts)) if tokens[i]), key=lambda i: (len(tokens[i]), tokens[i]))
        found = [TokenVectors(np.zeros((0, 0), np.float32), np.zeros(0, np.bool_))] * len(texts)
        for places in _batches(order, [len(ids) for ids in tokens], self._batch):
            vectors = self._encoded([tokens[i] for i in places])
            for i, rows in zip(places, vectors, strict=True):
                words = np.array([token not in self._marks for token in tokens[i]], np.bool_)
                found[i] = TokenVectors(rows, words)
        return found

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        bare = [text.strip() for text in texts]
        if self._spaced:
            bare = [f" {text}" if text else text for text in bare]
        ids: list[list[int]] = self._tokenizer(bare, truncation=True, max_length=self._longest)["input_ids"]
        return ids

    def _encoded(self, rows: list[list[int]]) -> npt.NDArray[np.float32]:
        """float32[n, t, d] of ``n`` rows of ``t`` tokens each."""
        torch = self._torch
        ids = torch.tensor(rows, device=self._device)
        with torch.inference_mode():
            out = self._model(ids, attention_mask=torch.ones_like(ids))[0].float()
            out = torch.nn.functional.normalize(out, dim=-1)
        return np.ascontiguousarray(out.cpu().numpy(), np.float32)


def _batches(order: Sequence[int], lengths: Sequence[int], size: int) -> list[list[int]]:
    """Runs of one length, of at most ``size``."""
    found: list[list[int]] = []
    for i in order:
        if not found or len(found[-1]) == size or lengths[found[-1][0]] != lengths[i]:
            found.append([])
        found[-1].append(i)
    return found


def _found(name: str, progress: Progress) -> tuple[Path, Identity]:
    if name in manifest():
        return weights_folder(name, progress), Identity(_ENGINE, name, weights(name).sha256[:16])
    folder = Path(name).expanduser()
    if folder.is_dir():
        words = [p for p in sorted(folder.iterdir()) if p.suffix in (".json", ".txt", ".model")]
        return folder, Identity(_ENGINE, folder.resolve().name, fingerprint(words, weight_files(folder)))
    found = model_folder(name, None, progress, wanted=WANTED_WITH_WORDS)
    return found, Identity(_ENGINE, name, found.name[:16])


def _config(transformers: Any, folder: Path) -> Any:
    try:
        with loading_quiet(transformers):
            return transformers.AutoConfig.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
    except broken(_PURPOSE) as error:
        raise WeightsError(f"The model in {folder} cannot be read: {reason(error)}.", _WHOLE) from None


def _loaded(folder: Path, layer: int, dtype: Any) -> tuple[Any, Any, Any]:
    """Tokenizer, model and its config; layers behind ``layer`` are not even read."""
    transformers = need("transformers", _PURPOSE, EXTRA)
    config = _config(transformers, folder)
    config.num_hidden_layers = layer
    here = {"local_files_only": True, "trust_remote_code": False}
    try:
        with loading_quiet(transformers):
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **here)
            model = transformers.AutoModel.from_pretrained(
                str(folder), config=config, dtype=dtype, use_safetensors=True, **here
            )
    except broken(_PURPOSE) as error:
        raise WeightsError(f"The model in {folder} cannot be loaded: {reason(error)}.", _WHOLE) from None
    encoder = model.get_encoder() if config.is_encoder_decoder else model
    return tokenizer, encoder.eval(), config


def _longest(tokenizer: Any, config: Any) -> int:
    """Tokens that a text may have: RoBERTa counts its places from behind the padding's number."""
    places = getattr(config, "max_position_embeddings", None) or 0
    places = places if places > 0 else _USUAL
    roberta = "roberta" in config.model_type or config.model_type == "camembert"
    return int(min(tokenizer.model_max_length, places - ((config.pad_token_id or 0) + 1 if roberta else 0)))
