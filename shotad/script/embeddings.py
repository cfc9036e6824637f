"""Sentences as vectors, and words in their sentence as vectors, by models by name or from a folder.

Only safetensors are loaded, and no code that comes with a model is run: a model that brings some runs with
the library's own class. For the action score's, gte-Qwen2-7B-instruct, that class knows the attention both
ways (``is_causal``), but its tokenizer passes over ``add_eos_token`` (transformers 5.23): the end token,
whose vector is taken, is put after each text here.

Words are what a layer of an encoder (BERT, RoBERTa …) makes of each token. Texts of the same number of tokens
are encoded together, so that nothing is padded.

Models are borrowed from the cache of this process (`shotad.core.model_cache`) for each call, so that a large
one makes room for the next. How many texts go together follows from the memory that is free. A text's vector
depends on its batch by rounding alone (sentence-transformers #2312, #1453; measured in benchmarks/LOG.md).
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shotad.core import Identity, Progress
from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import WeightsError
from shotad.core.memory_errors import is_out_of_memory
from shotad.core.model_cache import CACHE, DeviceMap, Loaded, ModelNeed, run_in_batches
from shotad.core.model_loading import (
    SMALL_FILES,
    TEXT_MODEL_FILES,
    cached_model_folder,
    damaged_model_errors,
    device_of,
    dtype_of,
    fingerprint,
    first_message_line,
    is_model_folder,
    model_folder,
    read_settings,
    require_module,
    silence_transformers,
    tensor_sizes,
    weight_files,
)
from shotad.core.weight_store import (
    is_fetched,
    manifest,
    weights,
    weights_folder,
)

if TYPE_CHECKING:
    import torch

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
_AT_ONCE_ON_CPU, _AT_ONCE_ON_GPU = 64, 256
"""Texts that go through a model together at most. On a CPU more are no faster; a GPU is busy with these."""

_PUBLISHED_WEIGHTS: dict[str, tuple[int, int]] = {
    "Alibaba-NLP/gte-Qwen2-7B-instruct": (7_613_000_000, 4),
    "Alibaba-NLP/gte-Qwen2-1.5B-instruct": (1_776_000_000, 4),
    "FacebookAI/roberta-large": (355_000_000, 4),
}
"""How many weights models of the hub have, and how many bytes each takes there. Sources: MTEB's ModelMeta
(``n_parameters`` and ``memory_usage_mb``); the RoBERTa paper. Of others the list of their files is read."""


def make_embedder(
    name: str = DEFAULT_EMBEDDER,
    compute: ComputeSettings | None = None,
    progress: Progress | None = None,
    *,
    smaller: str = "",
) -> Embedder:
    """The embedder ``name``: weights of the manifest, a local folder, or a repository of the hub.

    Fetches weights that are not here, and loads them. ``smaller`` says what to do where it does not fit.
    Raises ShotadError without the extra, WeightsError for a model that cannot be had or loaded, EngineError
    for one that does not fit.
    """
    require_module("sentence_transformers", PURPOSE, LANGUAGE_EXTRA)
    folder, name_and_revision = _find_model(name, progress)
    _check_modules(folder)
    plan = _sentence_plan(folder, name_and_revision, compute or ComputeSettings(), smaller)
    with CACHE.lent(plan):
        pass  # a damaged model is an error now
    return Embedder(plan, Identity(_ENGINE, **name_and_revision), missing_end_token(folder))


@dataclass(frozen=True, slots=True)
class EncoderPlan:
    """How an encoder is loaded: a `ModelPlan`.

    With ``layer`` None it is a sentence-transformers model; else the layers of a transformers model up to
    this one.
    """

    folder: Path
    label: str
    revision: str
    device: torch.device
    dtype: torch.dtype
    layer: int | None = None
    smaller: str = field(default="", compare=False)

    @property
    def precision(self) -> str:
        """``float32`` or ``bfloat16``."""
        return str(self.dtype).removeprefix("torch.")

    def weight_bytes(self) -> int:
        """Bytes of all weights in this precision. Raises WeightsError for damaged files."""
        try:
            weights = sum(tensor_sizes(self.folder).values())
        except WeightsError as error:
            problem = f"The model in {self.folder} cannot be loaded: {first_message_line(error)}."
            raise WeightsError(problem, error.hint) from None
        return weights * int(self.dtype.itemsize)

    def load(self, device_map: DeviceMap) -> Loaded:
        """The model on its device. Raises WeightsError."""
        model = (
            _load_sentences(self, device_map[""]) if self.layer is None else _load_words(self, device_map[""])
        )
        return Loaded(model, model.device, self.dtype, self.label, tuple(device_map.values()))

    def spread(self, bytes_needed: int, free: Mapping[torch.device, int]) -> DeviceMap | None:
        """None: these models are not divided."""
        return None


def _sentence_plan(
    folder: Path, name_and_revision: Mapping[str, str], compute: ComputeSettings, smaller: str
) -> EncoderPlan:
    device = device_of(compute)
    dtype = dtype_of(_precise(compute, _file_bytes(folder)), device)
    label, revision = name_and_revision["model"], name_and_revision["revision"]
    return EncoderPlan(folder, label, revision, device, dtype, smaller=smaller)


def _precise(compute: ComputeSettings, size: int) -> ComputeSettings:
    """The precision as it is set; where that is ``auto``, float32 for models of less than `_SMALL` bytes,
    which are quick enough in it."""
    if compute.precision == "auto" and size < _SMALL:
        return compute.model_copy(update={"precision": "float32"})
    return compute


def _file_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in weight_files(folder))


def _load_sentences(plan: EncoderPlan, device: torch.device) -> Any:
    library = require_module("sentence_transformers", PURPOSE, LANGUAGE_EXTRA)
    try:
        with silence_transformers(require_module("transformers", PURPOSE, LANGUAGE_EXTRA)):
            model = library.SentenceTransformer(
                str(plan.folder),
                device=str(device),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": plan.dtype, "use_safetensors": True},
            )
    except damaged_model_errors(PURPOSE) as error:
        if is_out_of_memory(error):
            raise
        raise WeightsError(
            f"The model in {plan.folder} cannot be loaded: {first_message_line(error)}.", _MODEL_HINT
        ) from None
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    if config is not None and getattr(config, "use_cache", False):
        # Keys and values are for writing on: of gte-Qwen2-7B they would take 57 kB for each token.
        config.use_cache = False
    return model.eval()


def embedder_need(
    name: str, compute: ComputeSettings, progress: Progress | None = None, smaller: str = ""
) -> ModelNeed | None:
    """What the embedder ``name`` takes of this machine, by its files or by what is published of it.

    Of a model that is not here at most the small files are fetched. None for models that are small, and for
    those of which nothing is known before they are fetched. Raises WeightsError for one that cannot be had.
    """
    return _need(name, compute, progress, smaller, is_precise=False)


def encoder_need(
    name: str, compute: ComputeSettings, progress: Progress | None = None, smaller: str = ""
) -> ModelNeed | None:
    """The same of an encoder of words (`TokenEncoder`)."""
    return _need(name, compute, progress, smaller, is_precise=True)


def _need(
    name: str, compute: ComputeSettings, progress: Progress | None, smaller: str, *, is_precise: bool
) -> ModelNeed | None:
    if name in manifest():
        return None  # all of these are small
    folder = _folder_here(name)
    if folder is not None:
        if _file_bytes(folder) < _SMALL:
            return None
        weights, download = sum(tensor_sizes(folder).values()), 0
        label = name if _REPOSITORY.fullmatch(name) else folder.resolve().name
    elif (published := _published_weights(name, progress)) is not None:
        weights, bytes_there = published
        download, label = weights * bytes_there, name
    else:
        return None
    device = device_of(compute)
    dtype = _word_dtype(compute) if is_precise else dtype_of(compute, device)
    precision = str(dtype).removeprefix("torch.")
    return ModelNeed(label, device, precision, weights * dtype.itemsize, download, smaller)


def is_model_here(name: str) -> bool:
    """Whether the model ``name`` need not be fetched."""
    return is_fetched(name) if name in manifest() else _folder_here(name) is not None


def _folder_here(name: str) -> Path | None:
    """The folder of a model that is no name of the manifest, where it is on this machine."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    return cached_model_folder(name) if _REPOSITORY.fullmatch(name) else None


def _published_weights(name: str, progress: Progress | None) -> tuple[int, int] | None:
    """How many weights a model of the hub has that is not here, and the bytes of each there; None where its
    files do not list them."""
    if name in _PUBLISHED_WEIGHTS or not _REPOSITORY.fullmatch(name):
        return _PUBLISHED_WEIGHTS.get(name)
    folder = model_folder(name, None, progress, patterns=SMALL_FILES)
    metadata = read_settings(folder / "model.safetensors.index.json").get("metadata")
    size = metadata.get("total_size") if isinstance(metadata, dict) else None
    if not isinstance(size, int):
        return None
    config = read_settings(folder / "config.json")
    bytes_there = 4 if config.get("dtype", config.get("torch_dtype")) == "float32" else 2
    return size // bytes_there, bytes_there


def embedding_precision(name: str, compute: ComputeSettings) -> str:
    """The precision in which the embedder ``name``, which is here, counts on this machine."""
    if name in manifest():
        compute = _precise(compute, 0)
    else:
        folder, _ = _find_model(name, None)
        compute = _precise(compute, _file_bytes(folder))
    if compute.precision != "auto":
        # Others than these two are for language models that write (`dtype_of`).
        return "bfloat16" if compute.precision == "bfloat16" else "float32"
    return str(dtype_of(compute, device_of(compute))).removeprefix("torch.")


def check_installed() -> None:
    """Raise ShotadError that names the extra where it is missing; nothing is imported if it is there."""
    if importlib.util.find_spec("sentence_transformers") is None:
        require_module("sentence_transformers", PURPOSE, LANGUAGE_EXTRA)


class Embedder:
    """Turns texts into vectors by a model that it borrows from the cache for each call.

    Texts are sorted by length and cut into batches, then put back in order. ``end_token`` is put after each
    text, where the model's tokenizer leaves it out.
    """

    def __init__(self, plan: EncoderPlan, identity: Identity, end_token: str = "") -> None:
        self.plan, self.identity, self._end_token = plan, identity, end_token

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        """float32[n, d], a unit vector to each text, in order.

        ``prompt`` is put before each text, for models that need to know what the vectors are for. Raises
        EngineError where memory runs out on a text alone.
        """
        if not texts:
            # The number of dimensions is that of any text.
            return self.of([""])[:0]
        rows = [text + self._end_token for text in texts]
        vectors_by_place: dict[int, npt.NDArray[Any]] = {}
        with CACHE.lent(self.plan) as loaded:

            def encode(places: Sequence[int]) -> None:
                encoded = loaded.model.encode(
                    [rows[place] for place in places],
                    prompt=prompt or None,
                    batch_size=len(places),
                    convert_to_numpy=True,
                    show_progress_bar=False,
                )
                vectors_by_place.update(zip(places, encoded, strict=True))

            lengths = _token_counts(loaded.model, [prompt + row for row in rows])
            most = _AT_ONCE_ON_CPU if self.plan.device.type == "cpu" else _AT_ONCE_ON_GPU
            run_in_batches(loaded, lengths, most, encode)
        vectors = np.stack([vectors_by_place[place] for place in range(len(rows))]).astype(np.float32)
        # Here and not in the model, which may count in bfloat16, where a norm is right to 1 % only.
        norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return np.ascontiguousarray(vectors / norms, np.float32)


def _token_counts(model: Any, texts: Sequence[str]) -> list[int]:
    """How many tokens of each text a sentence-transformers model reads."""
    tokenizer, longest = model.tokenizer, model.max_seq_length or math.inf
    if hasattr(tokenizer, "encode_batch"):  # of tokenizers, as a static embedding has it
        counts = [len(encoding.ids) for encoding in tokenizer.encode_batch(list(texts))]
    else:
        counts = [len(ids) for ids in tokenizer(list(texts))["input_ids"]]
    return [int(min(count, longest)) for count in counts]


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
_SMALL_SUFFIXES = (".json", ".txt", ".model")


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
        # Over the files that make the vectors.
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        small = [path for path in files if path.suffix in _SMALL_SUFFIXES]
        large = [path for path in files if path.suffix == ".safetensors"]
        return folder, {"model": folder.resolve().name, "revision": fingerprint(small, large)}
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
    """Turns texts into vectors of their words by an encoder that stops behind ``layer`` (0: what the
    embeddings give), which it borrows from the cache for each call.

    Counts in float32 unless the settings ask for bfloat16 by name: ranks depend on small differences. Raises
    WeightsError for a layer that the model has not, and for a model that cannot be loaded; EngineError for
    one that does not fit, with ``smaller`` as what to do.
    """

    def __init__(
        self,
        local: LocalEncoder,
        layer: int,
        compute: ComputeSettings | None = None,
        batch: int = 64,
        smaller: str = "",
    ) -> None:
        if not 0 <= layer <= local.layers:
            message = f"The model {local.identity.model} has no layer {layer}."
            raise WeightsError(message, f"Name one of 0 to {local.layers}.")
        compute = compute or ComputeSettings()
        name = local.identity
        device, dtype = device_of(compute), _word_dtype(compute)
        self.plan = EncoderPlan(local.folder, name.model, name.revision, device, dtype, layer, smaller)
        transformers = require_module("transformers", _WORDS_PURPOSE, LANGUAGE_EXTRA)
        config = _load_config(transformers, local.folder)
        try:
            with silence_transformers(transformers):
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(
                    str(local.folder), local_files_only=True, trust_remote_code=False
                )
        except damaged_model_errors(_WORDS_PURPOSE) as error:
            raise _unloadable_encoder(local.folder, error) from None
        with CACHE.lent(self.plan):
            pass  # a damaged model is an error now
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
        with CACHE.lent(self.plan) as loaded:
            for _, group in groupby(order, key=lambda text: len(tokens[text])):
                same_length = list(group)

                def encode(places: Sequence[int], same_length: Sequence[int] = same_length) -> None:
                    texts_of_batch = [same_length[place] for place in places]
                    vectors_of_batch = _encode(loaded, [tokens[text] for text in texts_of_batch])
                    for text, vectors in zip(texts_of_batch, vectors_of_batch, strict=True):
                        is_word = np.array([token not in self._marks for token in tokens[text]], np.bool_)
                        vectors_of_texts[text] = vectors, is_word

                run_in_batches(loaded, [len(tokens[text]) for text in same_length], self._batch, encode)
        return vectors_of_texts


def _encode(loaded: Loaded, rows: list[list[int]]) -> npt.NDArray[np.float32]:
    """float32[n, t, d], a unit vector to each token, of ``n`` rows of ``t`` tokens each."""
    torch = require_module("torch", _WORDS_PURPOSE, LANGUAGE_EXTRA)
    token_ids = torch.tensor(rows, device=loaded.device)
    with torch.inference_mode():
        vectors = loaded.model(token_ids, attention_mask=torch.ones_like(token_ids))[0].float()
        vectors = torch.nn.functional.normalize(vectors, dim=-1)
    return np.ascontiguousarray(vectors.cpu().numpy(), np.float32)


def _word_dtype(compute: ComputeSettings) -> torch.dtype:
    library = require_module("torch", _WORDS_PURPOSE, LANGUAGE_EXTRA)
    dtype: torch.dtype = library.bfloat16 if compute.precision == "bfloat16" else library.float32
    return dtype


def _load_words(plan: EncoderPlan, device: torch.device) -> Any:
    transformers = require_module("transformers", _WORDS_PURPOSE, LANGUAGE_EXTRA)
    config = _load_config(transformers, plan.folder)
    # Layers behind are not even read.
    config.num_hidden_layers = plan.layer
    try:
        with silence_transformers(transformers):
            model = transformers.AutoModel.from_pretrained(
                str(plan.folder),
                config=config,
                dtype=plan.dtype,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
            )
    except damaged_model_errors(_WORDS_PURPOSE) as error:
        if is_out_of_memory(error):
            raise
        raise _unloadable_encoder(plan.folder, error) from None
    encoder = model.get_encoder() if config.is_encoder_decoder else model
    return encoder.eval().to(device)


def _unloadable_encoder(folder: Path, error: Exception) -> WeightsError:
    problem = f"The model in {folder} cannot be loaded: {first_message_line(error)}."
    return WeightsError(problem, _ENCODER_HINT)


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
