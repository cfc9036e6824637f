"""Loads language models through transformers: which class, where, how precisely.

Only safetensors and GGUF are read, and no code that comes with a model is run. Engines with the same model
share it: they borrow it from the cache of this process for a call (`lent`), and do not keep it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shotad.core import ShotadError
from shotad.core.config.sight import ComputeSettings
from shotad.core.config.words import LocalSettings
from shotad.core.errors import (
    ConfigError,
    EngineError,
    WeightsError,
)
from shotad.core.installation import install_command
from shotad.core.memory_errors import is_out_of_memory
from shotad.core.model_cache import CACHE, DeviceMap, Loaded, ModelNeed, cards_for
from shotad.core.model_loading import (
    HubModel,
    damaged_model_errors,
    device_of,
    first_message_line,
    is_library_error,
    language_model_dtype,
    require_module,
    require_torch,
    silence_transformers,
    tensor_sizes,
    unusable_library,
    weight_files,
)
from shotad.core.system import memory_total
from shotad.engines.local_model import MEMORY_FACTOR, ModelPlace

PURPOSE = "A local model"

if TYPE_CHECKING:
    import torch
else:
    torch = require_torch(PURPOSE)

ModelKind = Literal["text", "image-text"]
"""What a model takes."""

_CLASSES: dict[ModelKind, str] = {"text": "AutoModelForCausalLM", "image-text": "AutoModelForImageTextToText"}
_MAPPINGS: dict[ModelKind, str] = {
    "text": "MODEL_FOR_CAUSAL_LM_MAPPING",
    "image-text": "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING",
}
"""Of the classes by the model's configuration."""

_SENSES = (
    "visual", "vision_tower", "vision_model", "audio_tower", "multi_modal_projector", "projector", "merger",
    "connector",
)  # fmt: skip
"""Modules of image-text models that see or hear, and that turn what is seen or heard into tokens."""

_UNQUANTISED_MODULES = ("lm_head", *_SENSES)
"""Modules that stay as they are where weights are put in fewer bits: the last layer, and what sees."""

_TOO_LARGE_FOR_FLOAT16 = frozenset(
    {"gemma2", "gemma3", "gemma3_text", "gemma3n", "gemma3n_text", "glm4", "plamo2"}
)
"""Types of language models whose numbers leave the range of float16, which ends at 65,504: vLLM's list
(``_FLOAT16_NOT_SUPPORTED_MODELS`` in its ``config/model.py``; activations of Gemma 3 reach 800,000: unsloth
#4014), and Gemma 3n, which is built as Gemma 3."""

_BYTES_PER_QUANTISED_WEIGHT = {"none": None, "8bit": 1.1, "4bit": 0.65}
"""Bytes of a quantised weight, on average, with what stays whole."""

_DAMAGED_HINT = "Fetch or save it again, whole."


@dataclass(frozen=True, slots=True)
class LoadingPlan:
    """A model and how it is loaded: all by which one loaded model differs from another."""

    place: ModelPlace
    kind: ModelKind
    device: torch.device
    dtype: torch.dtype
    quantise: Literal["none", "8bit", "4bit"] = "none"

    @property
    def label(self) -> str:
        """The model's name in records and messages; never a path."""
        return self.place.label

    @property
    def precision(self) -> str:
        """Such as ``bfloat16``, or ``bfloat16 4bit``; part of an engine's identity."""
        name = str(self.dtype).removeprefix("torch.")
        return name if self.quantise == "none" else f"{name} {self.quantise}"

    @property
    def smaller(self) -> str:
        """What to do where the model does not fit."""
        return smaller_models(self.device)

    def weight_bytes(self) -> int:
        """As `weight_bytes`; but weights that were published in fewer bits (FP8, GPTQ, AWQ) stay as they are
        in their files."""
        place = self.place
        if place.gguf is None and getattr(config_of(place), "quantization_config", None) is not None:
            return sum(path.stat().st_size for path in weight_files(place.folder))
        return weight_bytes(self)

    def load(self, device_map: DeviceMap) -> Loaded:
        """See `load_model`."""
        return load_model(self, device_map)

    def spread(self, bytes_needed: int, free: Mapping[torch.device, int]) -> DeviceMap | None:
        """See `spread`."""
        return spread(self, bytes_needed, free)


def smaller_models(device: torch.device) -> str:
    """What to do where a language model does not fit on ``device``."""
    if device.type == "cpu":
        return "Name a smaller model, or let a server answer."
    smaller = "Name a smaller model, set local.quantise to 4bit (CUDA), or compute.device to cpu."
    if len(cards_for(device)) > 1 and not _has_accelerate():
        how = install_command("accelerate")
        return f"{smaller} With accelerate a model can be spread over several GPUs: {how}."
    return smaller


def can_divide(plan: LoadingPlan) -> bool:
    """Whether the model can be spread over several GPUs, see `spread`."""
    return plan.place.gguf is None and _has_accelerate()


def need_of_published(model: HubModel, compute: ComputeSettings, local: LocalSettings) -> ModelNeed:
    """What a published model takes of this machine, which is not here. Raises as `check_machine`.

    ``model.bytes`` are those of 2 for each weight.
    """
    device = check_machine(compute, local)
    dtype = language_model_dtype(compute, device)
    share = _BYTES_PER_QUANTISED_WEIGHT[local.quantise]
    size = int(model.bytes / 2 * (share or dtype.itemsize))
    precision = str(dtype).removeprefix("torch.")
    if local.quantise != "none":
        precision = f"{precision} {local.quantise}"
    return ModelNeed(
        model.repo,
        device,
        precision,
        size,
        download=model.bytes,
        smaller=smaller_models(device),
        divides=_has_accelerate(),
    )


def lent(
    place: ModelPlace, kind: ModelKind, compute: ComputeSettings, local: LocalSettings
) -> AbstractContextManager[Loaded]:
    """The model for the time of a block, see `ModelCache.lent`. Raises also as `loading_plan`."""
    return CACHE.lent(loading_plan(place, kind, compute, local))


def loading_plan(
    place: ModelPlace, kind: ModelKind, compute: ComputeSettings, local: LocalSettings
) -> LoadingPlan:
    """How to load a model by these settings; reads no weights. Raises ConfigError, ShotadError."""
    require_module("transformers", PURPOSE)
    if place.gguf is not None:
        require_module("gguf", f"The GGUF file of {place.label}")
        require_module("accelerate", f"The GGUF file of {place.label}")
    if local.quantise != "none" and place.gguf is not None:
        raise ConfigError(
            f"local.quantise = {local.quantise!r} is not for the GGUF file of {place.label}.",
            "Set it to none, or name the folder of a model in safetensors.",
        )
    device = check_machine(compute, local)
    return LoadingPlan(place, kind, device, _dtype(place, compute, device), local.quantise)


def _dtype(place: ModelPlace, compute: ComputeSettings, device: torch.device) -> torch.dtype:
    """The precision of the model's weights on ``device``. Raises ConfigError where it cannot be as set.

    Where the precision is ours to choose, a model that fails in float16 gets float32, and one that is too
    large for this machine's memory in float32 gets bfloat16, which a processor may have to emulate, slowly.
    """
    dtype = language_model_dtype(compute, device)
    if dtype is torch.float16 and (unfit := _types(place) & _TOO_LARGE_FOR_FLOAT16):
        if compute.precision == "float16":
            raise ConfigError(
                f"compute.precision = 'float16' cannot be used for {place.label} ({min(unfit)}): "
                "its numbers become too large for float16.",
                "Set it to auto, bfloat16 or float32.",
            )
        return torch.float32
    if device.type == "cpu" and compute.precision == "auto" and dtype is torch.float32:
        memory = memory_total()
        in_float32 = sum(weight_counts(place)) * torch.float32.itemsize * MEMORY_FACTOR
        if memory is not None and in_float32 > memory:
            return torch.bfloat16
    return dtype


@cache
def _types(place: ModelPlace) -> frozenset[str]:
    """The types of a model and of the language model in it, such as ``gemma3`` and ``gemma3_text``."""
    config = config_of(place)
    return frozenset({config.model_type, config.get_text_config().model_type})


def check_machine(compute: ComputeSettings, local: LocalSettings) -> torch.device:
    """The device that the settings mean. Raises ConfigError, ShotadError where a library is missing."""
    device = device_of(compute)
    if local.quantise == "none":
        return device
    if device.type != "cuda":
        raise ConfigError(
            f"local.quantise = {local.quantise!r} cannot be used on {device.type}.",
            "It needs a CUDA GPU; set it to none, or name a smaller model.",
        )
    missing = [name for name in ("bitsandbytes", "accelerate") if importlib.util.find_spec(name) is None]
    if missing:
        raise ShotadError(
            f"local.quantise = {local.quantise!r} needs {' and '.join(missing)}, which is not installed.",
            f"Install it: {install_command(*missing)}. Or set local.quantise to none.",
        )
    return device


def check_libraries() -> None:
    """Import what every model of transformers is made of, before one is fetched.

    Raises ShotadError where a library forbids it, such as a torchvision that does not fit torch: transformers
    imports it for all models, also for those that do without.
    """
    transformers = require_module("transformers", PURPOSE)
    try:
        _ = transformers.PreTrainedModel
    except (ImportError, RuntimeError, OSError) as error:
        raise unusable_library(f"{PURPOSE} needs transformers", error) from None


def import_class(place: ModelPlace, kind: ModelKind) -> None:
    """Import the class of the model in ``place``; reads no weights. Raises ShotadError where it cannot be."""
    transformers = require_module("transformers", PURPOSE)
    classes = getattr(transformers, _MAPPINGS[kind])
    config = config_of(place)
    try:
        # A model that is not of this kind is refused with its name, later.
        _ = classes.get(type(config), None)
    except (ImportError, RuntimeError, OSError) as error:
        raise unusable_library(
            f"The model {place.label} ({config.model_type}) needs a library", error
        ) from None


def load_model(plan: LoadingPlan, device_map: DeviceMap) -> Loaded:
    """The model, on its devices. Raises WeightsError for damaged files; want of memory passes."""
    try:
        model, report = _from_pretrained(plan, device_map)
    except _loading_errors() as error:
        if is_out_of_memory(error):
            raise
        if is_library_error(error):
            raise unusable_library(f"The model {plan.place.label} needs a library", error) from None
        takes = "vision-language" if plan.kind == "image-text" else "text"
        raise WeightsError(
            f"The model {plan.place.label} cannot be loaded: {first_message_line(error)}.",
            f"{_DAMAGED_HINT} It must be a {takes} model that transformers knows without code of its own.",
        ) from None
    missing = sorted(report["missing_keys"])
    if missing:
        problem = f"The model {plan.place.label} lacks {len(missing)} of its weights, such as {missing[0]}."
        raise WeightsError(problem, _DAMAGED_HINT)
    own = model.generation_config
    model.generation_config = type(own)(
        bos_token_id=own.bos_token_id, eos_token_id=own.eos_token_id, pad_token_id=own.pad_token_id
    )
    if plan.dtype is torch.float16:
        _run_senses_in_float32(model)
        _watch_for_overflow(model, plan.place.label)
    devices = tuple(dict.fromkeys(device_map.values()))
    return Loaded(model, model.device, plan.dtype, plan.place.label, devices)


def _run_senses_in_float32(model: Any) -> None:
    """Have what sees and hears in a float16 model count in float32.

    Of several families the language model works in float16 but the vision tower does not: its numbers grow
    beyond 65,504, and every answer is one token over and over (Qwen2.5-VL: vllm #13968, llama.cpp #17534;
    Gemma 4: vllm #40290; Molmo 2: mlx-vlm #1163). These modules are small: 0.7 of the 8.3 billion weights of
    Qwen2-VL-7B. What they hand on is cut to float16's range, as vLLM cuts it.

    Their weights become float32 for the time of a call: some models ask their vision tower for the precision
    of all else (SmolVLM).
    """
    from torch.utils._pytree import tree_map_only  # where transformers registers its models' outputs

    largest = torch.finfo(torch.float16).max

    def raised(value: torch.Tensor) -> torch.Tensor:
        return value.float() if value.is_floating_point() else value

    def lowered(value: torch.Tensor) -> torch.Tensor:
        return value.clamp(-largest, largest).half() if value.is_floating_point() else value

    def begin(module: Any, args: Any, kwargs: Any) -> Any:
        module.float()
        return tree_map_only(torch.Tensor, raised, (args, kwargs))

    def end(module: Any, _args: Any, output: Any) -> Any:
        module.half()
        return tree_map_only(torch.Tensor, lowered, output)

    outermost: list[str] = []
    for name, module in model.named_modules():
        is_within = any(name.startswith(f"{outer}.") for outer in outermost)
        if name.rpartition(".")[2] in _SENSES and not is_within:
            outermost.append(name)
            module.register_forward_pre_hook(begin, with_kwargs=True)
            # Also after an error: the next call may come with less to do.
            module.register_forward_hook(end, always_call=True)


def _watch_for_overflow(model: Any, label: str) -> None:
    """Have a float16 model raise EngineError where its numbers leave float16's range.

    That would else go unseen: of scores that are no numbers the greatest is the first, so that every token of
    the answer is the first of the vocabulary.
    """

    def check(_module: Any, _args: Any, scores: torch.Tensor) -> None:
        # Only the last place of each row: what stands at the padding before it may be anything.
        if not bool(torch.isfinite(scores[:, -1]).all()):
            raise EngineError(
                f"The numbers of {label} become too large for float16.",
                "Set compute.precision to bfloat16 (slow on this device), or to float32 (twice the memory).",
                again=False,
            )

    if (last_layer := model.get_output_embeddings()) is not None:
        last_layer.register_forward_hook(check)


def config_of(place: ModelPlace) -> Any:
    """The model's configuration; of one that also speaks the part that thinks. Raises WeightsError."""
    transformers = require_module("transformers", PURPOSE)
    try:
        with silence_transformers(transformers):
            whole = transformers.AutoConfig.from_pretrained(place.folder, **_local_options(place))
            return getattr(whole, "thinker_config", whole)
    except _loading_errors() as error:
        if is_library_error(error):
            raise unusable_library(f"The configuration of {place.label} needs a library", error) from None
        problem = f"The configuration of {place.label} cannot be read: {first_message_line(error)}."
        raise WeightsError(problem, _DAMAGED_HINT) from None


def context_of(config: Any) -> int | None:
    """Most tokens that a model of this configuration takes; None where it does not say."""
    limit = getattr(config.get_text_config(), "max_position_embeddings", None)
    return limit if isinstance(limit, int) and limit > 0 else None


def tokenizer_of(place: ModelPlace) -> Any:
    """The model's tokenizer. Raises WeightsError where there is none or it cannot be read."""
    transformers = require_module("transformers", PURPOSE)
    try:
        with silence_transformers(transformers):
            return transformers.AutoTokenizer.from_pretrained(place.folder, **_local_options(place))
    except _loading_errors() as error:
        if is_library_error(error):
            raise unusable_library(f"The tokenizer of {place.label} needs a library", error) from None
        raise WeightsError(
            f"The tokenizer of {place.label} cannot be loaded: {first_message_line(error)}.",
            "Its files (tokenizer.json, tokenizer_config.json …) belong beside the weights.",
        ) from None


def weight_bytes(plan: LoadingPlan) -> int:
    """What the weights will take in memory, roughly: their number, by their files, times the bytes of one.

    In float16 what sees and hears takes twice that at work (`_run_senses_in_float32`). Raises WeightsError
    for damaged files.
    """
    language, senses = weight_counts(plan.place)
    share = _BYTES_PER_QUANTISED_WEIGHT[plan.quantise]
    in_memory = (language + senses) * (share or plan.dtype.itemsize)
    if plan.dtype is torch.float16:
        in_memory += senses * (torch.float32.itemsize - torch.float16.itemsize)
    return int(in_memory)


def weight_counts(place: ModelPlace) -> tuple[int, int]:
    """How many weights a model has, by its files: those of the language, and those of what sees and hears."""
    if place.gguf is not None:
        return _numbers_in_gguf(place.folder / place.gguf), 0
    language = senses = 0
    for name, count in tensor_sizes(place.folder).items():
        if set(name.split(".")).isdisjoint(_SENSES):
            language += count
        else:
            senses += count
    return language, senses


def _from_pretrained(plan: LoadingPlan, device_map: DeviceMap) -> tuple[Any, dict[str, Any]]:
    transformers = require_module("transformers", PURPOSE)
    options: dict[str, Any] = {"dtype": plan.dtype, **_local_options(plan.place)}
    if plan.place.gguf is None:
        options["use_safetensors"] = True
        if (part := config_of(plan.place)).model_type.endswith("_thinker"):
            options["config"] = part
    if plan.quantise != "none":
        options["quantization_config"] = transformers.BitsAndBytesConfig(
            load_in_8bit=plan.quantise == "8bit",
            load_in_4bit=plan.quantise == "4bit",
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=plan.dtype,
            llm_int8_skip_modules=list(_UNQUANTISED_MODULES),
        )
    # Parts go to their device as they are read; without accelerate to the CPU, and from there as a whole.
    is_placed = plan.device.type != "cpu" and _has_accelerate()
    if is_placed:
        options["device_map"] = device_map
    with silence_transformers(transformers):
        model, report = getattr(transformers, _CLASSES[plan.kind]).from_pretrained(
            plan.place.folder, output_loading_info=True, **options
        )
        if not is_placed:
            model = model.to(device_map[""])
    return model.eval(), report


def _has_accelerate() -> bool:
    return importlib.util.find_spec("accelerate") is not None


def spread(plan: LoadingPlan, bytes_needed: int, free: Mapping[torch.device, int]) -> DeviceMap | None:
    """The parts of a model over several GPUs, evenly; None where they do not fit. Reads no weights.

    ``bytes_needed`` are those of the weights, ``free`` those of each GPU that they may take. The model is
    built without weights (on torch's device ``meta``), and accelerate's ``get_balanced_memory`` and
    ``infer_auto_device_map`` place its layers. What fits nowhere they would put on the disk.
    """
    if not can_divide(plan):
        return None
    transformers = require_module("transformers", PURPOSE)
    modeling = require_module("accelerate.utils.modeling", PURPOSE)
    config = config_of(plan.place)
    try:
        with silence_transformers(transformers), torch.device("meta"):
            model = getattr(transformers, _CLASSES[plan.kind]).from_config(config, dtype=plan.dtype)
            model.tie_weights()
    except _loading_errors():
        return None  # loading tells what is wrong with it
    # Weights in fewer bits are reckoned as if each took the average share.
    scale = modeling.compute_module_sizes(model)[""] / bytes_needed
    most = {card.index: int(size * scale) for card, size in free.items() if size > 0}
    unsplit = list(model._no_split_modules or ())
    balanced = modeling.get_balanced_memory(model, most, unsplit)
    parts = modeling.infer_auto_device_map(model, balanced, unsplit)
    if not all(isinstance(place, int) for place in parts.values()):
        return None
    return {name: torch.device("cuda", place) for name, place in parts.items()}


def _loading_errors() -> tuple[type[Exception], ...]:
    return (*damaged_model_errors(PURPOSE), ImportError)


def _local_options(place: ModelPlace) -> dict[str, Any]:
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    return options if place.gguf is None else {**options, "gguf_file": place.gguf}


@cache
def _numbers_in_gguf(path: Path) -> int:
    # Kept, for the reader takes seconds to walk through the words that come before the tensors.
    return sum(int(tensor.n_elements) for tensor in require_module("gguf", PURPOSE).GGUFReader(path).tensors)
