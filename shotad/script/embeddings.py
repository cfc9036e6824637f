"""Sentences as vectors, and words in their sentence as vectors, by models by name or from a folder.

Only safetensors are loaded, and no code that comes with a model is run: a model that brings some runs with
the library's own class. For the action score's, gte-Qwen2-7B-instruct, that class knows the attention both
ways (``is_causal``), but its tokenizer passes over ``add_eos_token`` (transformers 5.23): the end token,
whose vector is taken, is put after each text here.

Words are what a layer of an encoder (BERT, RoBERTa …) makes of each token. Texts of the same number of tokens
are encoded together, so that nothing is padded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import Identity, Progress
from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import WeightsError
from shotad.core.model_loading import (
    TEXT_MODEL_FILES,
    damaged_model_errors,
    device_of,
    dtype_of,
    first_message_line,
    is_model_folder,
    model_folder,
    require_module,
    silence_transformers,
    weight_files,
)
from shotad.core.weight_store import (
    file_sha256,
    manifest,
    weights,
    weights_folder,
)

Vectors = npt.NDArray[np.float32]
"""float32[n, d], a unit vector to each text."""

EXTRA = "language"
"""The extra of the package that this module needs."""
DEFAULT_EMBEDDER = "minilm"
"""all-MiniLM-L6-v2 of the manifest, 384 dimensions (Wang et al. 2020; sentence-transformers)."""

PURPOSE = "Comparing sentences by meaning"
_ENGINE = "embeddings"
_MODULES = "modules.json"
_OWN = "sentence_transformers."
_SMALL = 1 << 30
"""Bytes of weights."""
_WHOLE = "Give a folder or repository with a whole sentence-transformers model, saved as safetensors."


def make_embedder(
    name: str = DEFAULT_EMBEDDER,
    compute: ComputeSettings | None = None,
    progress: Progress | None = None,
    *,
    batch: int = 32,
) -> Embedder:
    """The embedder ``name``: weights of the manifest, a local folder, or a repository of the hub.

    Fetches weights that are not here, and loads them. Raises ShotadError without the extra, WeightsError
    for a model that cannot be had or loaded.
    """
    library = require_module("sentence_transformers", PURPOSE, EXTRA)
    folder, named = _found(name, progress)
    _check(folder)
    compute = compute or ComputeSettings()
    device = device_of(compute)
    # What is set; where that is ``auto``, float32 for small models, which are quick enough in it.
    if compute.precision == "auto" and sum(path.stat().st_size for path in weight_files(folder)) < _SMALL:
        compute = compute.model_copy(update={"precision": "float32"})
    try:
        with silence_transformers(require_module("transformers", PURPOSE, EXTRA)):
            model = library.SentenceTransformer(
                str(folder),
                device=str(device),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": dtype_of(compute, device), "use_safetensors": True},
            )
    except damaged_model_errors(PURPOSE) as error:
        raise WeightsError(
            f"The model in {folder} cannot be loaded: {first_message_line(error)}.", _WHOLE
        ) from None
    return Embedder(model.eval(), Identity(_ENGINE, **named), batch, ending(folder))


def check_installed() -> None:
    """Raise ShotadError that names the extra where it is missing; nothing is imported if it is there."""
    if importlib.util.find_spec("sentence_transformers") is None:
        require_module("sentence_transformers", PURPOSE, EXTRA)


class Embedder:
    """A loaded model that turns texts into vectors. Its lists are sorted by length and cut into batches, then
    put back in order.

    ``ending`` stands after each text: an end token that its tokenizer leaves out.
    """

    def __init__(self, model: Any, identity: Identity, batch: int, ending: str = "") -> None:
        self._model, self.identity, self._batch, self._ending = model, identity, batch, ending

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        """float32[n, d], a unit vector to each text, in order.

        ``prompt`` is put before each text, for models that are told what the vectors are for.
        """
        if not texts:
            return self.of([""])[:0]
        found = self._model.encode(
            [text + self._ending for text in texts],
            prompt=prompt or None,
            batch_size=self._batch,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        vectors = np.asarray(found, np.float32)
        # Here and not in the model, which may count in bfloat16, where a norm is right to 1 % only.
        norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return np.ascontiguousarray(vectors / norms, np.float32)


def _check(folder: Path) -> None:
    """Refuse a folder whose loading would guess how words become a sentence, run code or read a pickle.

    sentence-transformers takes the mean of all words where ``modules.json`` is missing, which is wrong
    for models that use the last one; and of a local folder it would load module classes by any name.
    """
    path = folder / _MODULES
    try:
        modules = json.loads(path.read_text(encoding="utf-8"))
        kinds = [str(module["type"]) for module in modules]
        places = [folder / module["path"] for module in modules]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{path} cannot be read: {first_message_line(error)}.", _WHOLE) from None
    foreign = [kind for kind in kinds if not kind.startswith(_OWN)]
    if foreign:
        what = f"The model in {folder} brings code of its own ({foreign[0]}), which is not run."
        raise WeightsError(what, "Choose a model that sentence-transformers can load without.")
    pickles = [place for place in places if any(place.glob("*.bin")) and not any(place.glob("*.safetensors"))]
    if pickles or not weight_files(folder):
        raise WeightsError(f"The model in {(pickles or [folder])[0]} has no safetensors.", _WHOLE)


_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_COUNTED = (".json", ".safetensors", ".txt", ".model")


def embedding_model(name: str, progress: Progress | None = None) -> dict[str, str]:
    """Name and revision of the model, the same on every machine.

    The revision is the manifest's hash, the hub's commit (the model is fetched first if it is not here), or a
    hash over a folder's files. Raises WeightsError for a model that cannot be had.
    """
    if name in manifest():
        return {"model": name, "revision": weights(name).sha256[:16]}
    return _found(name, progress)[1]


def _found(name: str, progress: Progress | None) -> tuple[Path, dict[str, str]]:
    """The model's folder, fetched first if it is not here, and its name and revision."""
    folder = Path(name).expanduser()
    if name in manifest():
        return weights_folder(name, progress), embedding_model(name)
    if folder.is_dir():
        # 16 digits over the files that make the vectors.
        digest = hashlib.sha256()
        for path in sorted(folder.rglob("*")):
            if path.suffix in _COUNTED and path.is_file():
                content = bytes.fromhex(file_sha256(path))
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + content)
        return folder, {"model": folder.resolve().name, "revision": digest.hexdigest()[:16]}
    if not _REPOSITORY.fullmatch(name):
        raise WeightsError(
            f"There is no model {name!r}.",
            f"Known: {DEFAULT_EMBEDDER}, a folder with a model, or a repository of the hub (owner/name).",
        )
    folder = model_folder(name, None, progress, wanted=TEXT_MODEL_FILES)
    return folder, {"model": name, "revision": folder.name[:16]}


def ending(folder: Path) -> str:
    """What must be put after each text: the end token where the model wants one and its tokenizer, as it is
    loaded without the model's own code, puts none; else nothing."""
    path = folder / "tokenizer_config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} cannot be read: {first_message_line(error)}.") from None
    if not config.get("add_eos_token", False):
        return ""
    transformers = require_module("transformers", PURPOSE, EXTRA)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(
            f"The tokenizer in {folder} cannot be loaded: {first_message_line(error)}."
        ) from None
    ended = tokenizer("a")["input_ids"][-1] == tokenizer.eos_token_id
    return "" if ended or tokenizer.eos_token is None else str(tokenizer.eos_token)


_WORDS_PURPOSE = "Comparing words in their sentences"
_WORDS_ENGINE = "token vectors"
_ENCODERS = "Give a folder or repository with a whole encoder and its tokenizer, saved as safetensors."
_SPACED = ("roberta", "gpt2")
"""Models that tell a word at the beginning of a text from the same word behind a space. As bert_score 0.3.13
does with transformers 4, which its baselines fit, texts begin with a space for them."""

_USUAL = 512
"""Tokens that a text may have where a model sets no limit (T5, XLNet)."""


TokenVectors = tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]
"""A text: float32[t, d], a unit vector to each token; bool[t], whether the token is of a word and not a mark
of beginning or end (``[CLS]``, ``[SEP]``)."""


@dataclass(frozen=True, slots=True)
class EncoderPlace:
    """An encoder that is on this machine: its folder, what it is called in records, and how many layers it
    has."""

    folder: Path
    identity: Identity
    layers: int


def check_name(name: str) -> None:
    """Raise ShotadError where ``name`` can be no encoder, or the extra is missing; nothing is fetched."""
    require_module("transformers", _WORDS_PURPOSE, EXTRA)
    folder = Path(name).expanduser()
    if name in manifest() or _REPOSITORY.fullmatch(name) or is_model_folder(folder):
        return
    if folder.is_dir():
        raise WeightsError(f"The folder {name} holds no config.json with all of its safetensors.", _ENCODERS)
    what = f"There is no encoder {name!r}."
    raise WeightsError(what, "Known: minilm, a folder, or a repository of the hub (owner/name).")


def locate(name: str, progress: Progress | None = None) -> EncoderPlace:
    """The encoder called ``name``: weights of the manifest, a folder, or a repository of the hub.

    Fetches weights that are not here. Raises ShotadError without the extra, WeightsError for a model that
    cannot be had.
    """
    check_name(name)
    folder, named = _found(name, progress)
    config = _config(require_module("transformers", _WORDS_PURPOSE, EXTRA), folder)
    layers = getattr(config, "num_hidden_layers", None)
    if not isinstance(layers, int):
        what = f"The model in {folder} is no encoder with layers ({config.model_type})."
        raise WeightsError(what, _ENCODERS)
    return EncoderPlace(folder, Identity(_WORDS_ENGINE, **named), layers)


class TokenEncoder:
    """A loaded encoder that stops behind ``layer`` (0: what the embeddings give).

    Counts in float32 unless the settings ask for bfloat16 by name: ranks depend on small differences. Raises
    WeightsError for a layer that the model has not, and for a model that cannot be loaded.
    """

    def __init__(
        self, place: EncoderPlace, layer: int, compute: ComputeSettings | None = None, batch: int = 64
    ) -> None:
        if not 0 <= layer <= place.layers:
            what = f"The model {place.identity.model} has no layer {layer}."
            raise WeightsError(what, f"Name one of 0 to {place.layers}.")
        self._torch = require_module("torch", _WORDS_PURPOSE, EXTRA)
        self._device = device_of(compute or ComputeSettings())
        half = compute is not None and compute.precision == "bfloat16"
        dtype = self._torch.bfloat16 if half else self._torch.float32
        transformers = require_module("transformers", _WORDS_PURPOSE, EXTRA)
        config = _config(transformers, place.folder)
        config.num_hidden_layers = layer  # those behind are not even read
        options = {"local_files_only": True, "trust_remote_code": False}
        source = str(place.folder)
        try:
            with silence_transformers(transformers):
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
                model = transformers.AutoModel.from_pretrained(
                    source, config=config, dtype=dtype, use_safetensors=True, **options
                )
        except damaged_model_errors(_WORDS_PURPOSE) as error:
            what = f"The model in {place.folder} cannot be loaded: {first_message_line(error)}."
            raise WeightsError(what, _ENCODERS) from None
        encoder = model.get_encoder() if config.is_encoder_decoder else model
        self._model = encoder.eval().to(self._device)
        self._longest = _longest(self._tokenizer, config)
        self._marks = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id} - {None}
        self._spaced = config.model_type in _SPACED
        self._batch = batch

    def of(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The vectors of each text, in order. What is longer than the model takes is cut off."""
        if not texts:
            return []
        bare = [text.strip() for text in texts]
        if self._spaced:
            bare = [f" {text}" if text else text for text in bare]
        tokens: list[list[int]] = self._tokenizer(bare, truncation=True, max_length=self._longest)[
            "input_ids"
        ]
        order = sorted((i for i in range(len(texts)) if tokens[i]), key=lambda i: (len(tokens[i]), tokens[i]))
        found = [(np.zeros((0, 0), np.float32), np.zeros(0, np.bool_))] * len(texts)
        for _, group in groupby(order, key=lambda i: len(tokens[i])):
            alike = list(group)
            for first in range(0, len(alike), self._batch):
                places = alike[first : first + self._batch]
                vectors = self._encoded([tokens[i] for i in places])
                for i, rows in zip(places, vectors, strict=True):
                    words = np.array([token not in self._marks for token in tokens[i]], np.bool_)
                    found[i] = rows, words
        return found

    def _encoded(self, rows: list[list[int]]) -> npt.NDArray[np.float32]:
        """float32[n, t, d] of ``n`` rows of ``t`` tokens each."""
        torch = self._torch
        ids = torch.tensor(rows, device=self._device)
        with torch.inference_mode():
            out = self._model(ids, attention_mask=torch.ones_like(ids))[0].float()
            out = torch.nn.functional.normalize(out, dim=-1)
        return np.ascontiguousarray(out.cpu().numpy(), np.float32)


def _config(transformers: Any, folder: Path) -> Any:
    try:
        with silence_transformers(transformers):
            return transformers.AutoConfig.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
    except damaged_model_errors(_WORDS_PURPOSE) as error:
        raise WeightsError(
            f"The model in {folder} cannot be read: {first_message_line(error)}.", _ENCODERS
        ) from None


def _longest(tokenizer: Any, config: Any) -> int:
    """Tokens that a text may have: RoBERTa counts its places from behind the padding's number."""
    places = getattr(config, "max_position_embeddings", None) or 0
    places = places if places > 0 else _USUAL
    roberta = "roberta" in config.model_type or config.model_type == "camembert"
    return int(min(tokenizer.model_max_length, places - ((config.pad_token_id or 0) + 1 if roberta else 0)))
