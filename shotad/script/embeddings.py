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

LANGUAGE_EXTRA = "language"
"""The extra of the package that brings sentence-transformers and torch."""
DEFAULT_EMBEDDER = "minilm"
"""all-MiniLM-L6-v2 of the manifest, 384 dimensions (Wang et al. 2020; sentence-transformers)."""

PURPOSE = "Comparing sentences by meaning"
_ENGINE = "embeddings"
_MODULES = "modules.json"
_LIBRARY_CLASSES = "sentence_transformers."
_SMALL = 1 << 30
"""Bytes of weights."""
_MODEL_HINT = "Give a folder or repository with a whole sentence-transformers model, saved as safetensors."


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
    library = require_module("sentence_transformers", PURPOSE, LANGUAGE_EXTRA)
    folder, name_and_revision = _find_model(name, progress)
    _check_modules(folder)
    compute = compute or ComputeSettings()
    device = device_of(compute)
    # What is set; where that is ``auto``, float32 for small models, which are quick enough in it.
    if compute.precision == "auto" and sum(path.stat().st_size for path in weight_files(folder)) < _SMALL:
        compute = compute.model_copy(update={"precision": "float32"})
    try:
        with silence_transformers(require_module("transformers", PURPOSE, LANGUAGE_EXTRA)):
            model = library.SentenceTransformer(
                str(folder),
                device=str(device),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": dtype_of(compute, device), "use_safetensors": True},
            )
    except damaged_model_errors(PURPOSE) as error:
        raise WeightsError(
            f"The model in {folder} cannot be loaded: {first_message_line(error)}.", _MODEL_HINT
        ) from None
    identity = Identity(_ENGINE, **name_and_revision)
    return Embedder(model.eval(), identity, batch, missing_end_token(folder))


def check_installed() -> None:
    """Raise ShotadError that names the extra where it is missing; nothing is imported if it is there."""
    if importlib.util.find_spec("sentence_transformers") is None:
        require_module("sentence_transformers", PURPOSE, LANGUAGE_EXTRA)


class Embedder:
    """A loaded model that turns texts into vectors.

    Texts are sorted by length and cut into batches, then put back in order. ``end_token`` is put after each
    text, where the model's tokenizer leaves it out.
    """

    def __init__(self, model: Any, identity: Identity, batch: int, end_token: str = "") -> None:
        self._model, self.identity, self._batch, self._end_token = model, identity, batch, end_token

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        """float32[n, d], a unit vector to each text, in order.

        ``prompt`` is put before each text, for models that need to know what the vectors are for.
        """
        if not texts:
            # The number of dimensions is that of any text.
            return self.of([""])[:0]
        encoded = self._model.encode(
            [text + self._end_token for text in texts],
            prompt=prompt or None,
            batch_size=self._batch,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        vectors = np.asarray(encoded, np.float32)
        # Here and not in the model, which may count in bfloat16, where a norm is right to 1 % only.
        norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return np.ascontiguousarray(vectors / norms, np.float32)


def _check_modules(folder: Path) -> None:
    """Refuse a folder whose loading would guess how words become a sentence, run code or read a pickle.

    sentence-transformers takes the mean of all words where ``modules.json`` is missing, which is wrong
    for models that use the last one; and of a local folder it would load module classes by any name.
    """
    path = folder / _MODULES
    try:
        modules = json.loads(path.read_text(encoding="utf-8"))
        class_names = [str(module["type"]) for module in modules]
        module_folders = [folder / module["path"] for module in modules]
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{path} cannot be read: {first_message_line(error)}."
        raise WeightsError(message, _MODEL_HINT) from None
    for class_name in class_names:
        if not class_name.startswith(_LIBRARY_CLASSES):
            message = f"The model in {folder} brings code of its own ({class_name}), which is not run."
            raise WeightsError(message, "Choose a model that sentence-transformers can load without.")
    for module_folder in module_folders:
        # Weights in a .bin file are a pickle, which runs code when it is read.
        if any(module_folder.glob("*.bin")) and not any(module_folder.glob("*.safetensors")):
            raise WeightsError(f"The model in {module_folder} has no safetensors.", _MODEL_HINT)
    if not weight_files(folder):
        raise WeightsError(f"The model in {folder} has no safetensors.", _MODEL_HINT)


_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_HASHED_SUFFIXES = (".json", ".safetensors", ".txt", ".model")


def embedding_model(name: str, progress: Progress | None = None) -> dict[str, str]:
    """Name and revision of the model, the same on every machine.

    The revision is the manifest's hash, the hub's commit (the model is fetched first if it is not here), or a
    hash over a folder's files. Raises WeightsError for a model that cannot be had.
    """
    if name in manifest():
        return {"model": name, "revision": weights(name).sha256[:16]}
    _, name_and_revision = _find_model(name, progress)
    return name_and_revision


def _find_model(name: str, progress: Progress | None) -> tuple[Path, dict[str, str]]:
    """The model's folder, fetched first if it is not here, and its name and revision."""
    folder = Path(name).expanduser()
    if name in manifest():
        return weights_folder(name, progress), embedding_model(name)
    if folder.is_dir():
        # 16 digits over the files that make the vectors.
        digest = hashlib.sha256()
        for path in sorted(folder.rglob("*")):
            if path.suffix in _HASHED_SUFFIXES and path.is_file():
                content = bytes.fromhex(file_sha256(path))
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + content)
        return folder, {"model": folder.resolve().name, "revision": digest.hexdigest()[:16]}
    if not _REPOSITORY.fullmatch(name):
        raise WeightsError(
            f"There is no model {name!r}.",
            f"Known: {DEFAULT_EMBEDDER}, a folder with a model, or a repository of the hub (owner/name).",
        )
    folder = model_folder(name, None, progress, patterns=TEXT_MODEL_FILES)
    return folder, {"model": name, "revision": folder.name[:16]}


def missing_end_token(folder: Path) -> str:
    """What must be put after each text: the end token where the model wants one and its tokenizer, as it is
    loaded without the model's own code, puts none; else nothing. Raises WeightsError."""
    path = folder / "tokenizer_config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} cannot be read: {first_message_line(error)}.") from None
    if not config.get("add_eos_token", False):
        return ""
    transformers = require_module("transformers", PURPOSE, LANGUAGE_EXTRA)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"The tokenizer in {folder} cannot be loaded: {first_message_line(error)}."
        raise WeightsError(message) from None
    has_end_token = tokenizer("a")["input_ids"][-1] == tokenizer.eos_token_id
    return "" if has_end_token or tokenizer.eos_token is None else str(tokenizer.eos_token)


_WORDS_PURPOSE = "Comparing words in their sentences"
_WORDS_ENGINE = "token vectors"
_ENCODER_HINT = "Give a folder or repository with a whole encoder and its tokenizer, saved as safetensors."
_MODELS_WITH_SPACE = ("roberta", "gpt2")
"""Models that tell a word at the beginning of a text from the same word behind a space. As bert_score 0.3.13
does with transformers 4, which its baselines fit, texts begin with a space for them."""

_DEFAULT_MAX_TOKENS = 512
"""Tokens that a text may have where a model sets no limit (T5, XLNet)."""


TokenVectors = tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]
"""A text: float32[t, d], a unit vector to each token; bool[t], whether the token is of a word and not a mark
of beginning or end (``[CLS]``, ``[SEP]``)."""


@dataclass(frozen=True, slots=True)
class LocalEncoder:
    """An encoder that is on this machine, not loaded: its folder, its name and revision in records, and its
    number of layers."""

    folder: Path
    identity: Identity
    layers: int


def check_encoder_name(name: str) -> None:
    """Raise ShotadError where ``name`` can be no encoder, or the extra is missing; nothing is fetched."""
    require_module("transformers", _WORDS_PURPOSE, LANGUAGE_EXTRA)
    folder = Path(name).expanduser()
    if name in manifest() or _REPOSITORY.fullmatch(name) or is_model_folder(folder):
        return
    if folder.is_dir():
        message = f"The folder {name} holds no config.json with all of its safetensors."
        raise WeightsError(message, _ENCODER_HINT)
    message = f"There is no encoder {name!r}."
    raise WeightsError(message, "Known: minilm, a folder, or a repository of the hub (owner/name).")


def find_encoder(name: str, progress: Progress | None = None) -> LocalEncoder:
    """The encoder called ``name``: weights of the manifest, a folder, or a repository of the hub.

    Fetches weights that are not here. Raises ShotadError without the extra, WeightsError for a model that
    cannot be had.
    """
    check_encoder_name(name)
    folder, name_and_revision = _find_model(name, progress)
    config = _load_config(require_module("transformers", _WORDS_PURPOSE, LANGUAGE_EXTRA), folder)
    layers = getattr(config, "num_hidden_layers", None)
    if not isinstance(layers, int):
        message = f"The model in {folder} is no encoder with layers ({config.model_type})."
        raise WeightsError(message, _ENCODER_HINT)
    return LocalEncoder(folder, Identity(_WORDS_ENGINE, **name_and_revision), layers)


class TokenEncoder:
    """A loaded encoder that stops behind ``layer`` (0: what the embeddings give).

    Counts in float32 unless the settings ask for bfloat16 by name: ranks depend on small differences. Raises
    WeightsError for a layer that the model has not, and for a model that cannot be loaded.
    """

    def __init__(
        self, local: LocalEncoder, layer: int, compute: ComputeSettings | None = None, batch: int = 64
    ) -> None:
        if not 0 <= layer <= local.layers:
            message = f"The model {local.identity.model} has no layer {layer}."
            raise WeightsError(message, f"Name one of 0 to {local.layers}.")
        self._torch = require_module("torch", _WORDS_PURPOSE, LANGUAGE_EXTRA)
        self._device = device_of(compute or ComputeSettings())
        is_half = compute is not None and compute.precision == "bfloat16"
        dtype = self._torch.bfloat16 if is_half else self._torch.float32
        transformers = require_module("transformers", _WORDS_PURPOSE, LANGUAGE_EXTRA)
        config = _load_config(transformers, local.folder)
        # Layers behind are not even read.
        config.num_hidden_layers = layer
        options = {"local_files_only": True, "trust_remote_code": False}
        source = str(local.folder)
        try:
            with silence_transformers(transformers):
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
                model = transformers.AutoModel.from_pretrained(
                    source, config=config, dtype=dtype, use_safetensors=True, **options
                )
        except damaged_model_errors(_WORDS_PURPOSE) as error:
            message = f"The model in {local.folder} cannot be loaded: {first_message_line(error)}."
            raise WeightsError(message, _ENCODER_HINT) from None
        encoder = model.get_encoder() if config.is_encoder_decoder else model
        self._model = encoder.eval().to(self._device)
        self._max_tokens = _max_tokens(self._tokenizer, config)
        self._marks = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id} - {None}
        self._begins_with_space = config.model_type in _MODELS_WITH_SPACE
        self._batch = batch

    def of(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The vectors of each text, in order. What is longer than the model takes is cut off."""
        if not texts:
            return []
        stripped = [text.strip() for text in texts]
        if self._begins_with_space:
            stripped = [f" {text}" if text else text for text in stripped]
        tokenized = self._tokenizer(stripped, truncation=True, max_length=self._max_tokens)
        tokens: list[list[int]] = tokenized["input_ids"]
        # Texts by their number of tokens, so that those in a batch need no padding.
        order = sorted(
            (text for text in range(len(texts)) if tokens[text]),
            key=lambda text: (len(tokens[text]), tokens[text]),
        )
        no_vectors: TokenVectors = (np.zeros((0, 0), np.float32), np.zeros(0, np.bool_))
        vectors_of_texts = [no_vectors] * len(texts)
        for _, group in groupby(order, key=lambda text: len(tokens[text])):
            same_length = list(group)
            for start in range(0, len(same_length), self._batch):
                batch = same_length[start : start + self._batch]
                vectors_of_batch = self._encode([tokens[text] for text in batch])
                for text, vectors in zip(batch, vectors_of_batch, strict=True):
                    is_word = np.array([token not in self._marks for token in tokens[text]], np.bool_)
                    vectors_of_texts[text] = vectors, is_word
        return vectors_of_texts

    def _encode(self, rows: list[list[int]]) -> npt.NDArray[np.float32]:
        """float32[n, t, d], a unit vector to each token, of ``n`` rows of ``t`` tokens each."""
        torch = self._torch
        token_ids = torch.tensor(rows, device=self._device)
        with torch.inference_mode():
            vectors = self._model(token_ids, attention_mask=torch.ones_like(token_ids))[0].float()
            vectors = torch.nn.functional.normalize(vectors, dim=-1)
        return np.ascontiguousarray(vectors.cpu().numpy(), np.float32)


def _load_config(transformers: Any, folder: Path) -> Any:
    """The model's configuration (a transformers ``PretrainedConfig``). Raises WeightsError."""
    try:
        with silence_transformers(transformers):
            return transformers.AutoConfig.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
    except damaged_model_errors(_WORDS_PURPOSE) as error:
        message = f"The model in {folder} cannot be read: {first_message_line(error)}."
        raise WeightsError(message, _ENCODER_HINT) from None


def _max_tokens(tokenizer: Any, config: Any) -> int:
    """How many tokens a text may have."""
    positions = getattr(config, "max_position_embeddings", None) or 0
    if positions <= 0:
        positions = _DEFAULT_MAX_TOKENS
    # RoBERTa counts its positions from behind the padding's number.
    if "roberta" in config.model_type or config.model_type == "camembert":
        positions -= (config.pad_token_id or 0) + 1
    return int(min(tokenizer.model_max_length, positions))
