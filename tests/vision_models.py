"""Tiny vision-language models of the very classes, with tokenizer, template and processor files, in a folder.

Weights are random, larger than usual so that different frames give different words.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForImageTextToText, PretrainedConfig, PreTrainedTokenizerFast

from shotad.core import (
    Clip,
    Message,
    Request,
)
from shotad.core.config.words import SamplingSettings

CHATML = (
    "{% if messages[0].role != 'system' %}<|im_start|>system\nBe of help.<|im_end|>\n{% endif %}"
    "{% for turn in messages %}<|im_start|>{{ turn.role }}\n"
    "{% if turn.content is string %}{{ turn.content }}{% else %}{% for part in turn.content %}"
    "{% if part.type == 'video' %}<|vision_start|><|video_pad|><|vision_end|>"
    "{% elif part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
PLAIN = (
    "{% for turn in messages %}{{ turn.role | upper }}: "
    "{% for part in turn.content %}{% if part.type == 'image' %}<image>\n"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}\n{% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
QWEN_MARKS = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>",
    "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
SPLIT_MARKS = (
    "<s>", "</s>", "<pad>", "<image>", "<fake_token_around_image>", "<end_of_utterance>", "<global-img>",
    *(f"<row_{row + 1}_col_{column + 1}>" for row in range(6) for column in range(6)),
)  # fmt: skip
PLAIN_MARKS = ("<s>", "</s>", "<pad>", "<image>")

TEXT: dict[str, Any] = {
    "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 4096, "tie_word_embeddings": False,
    "initializer_range": 0.2,
}  # fmt: skip
LLAMA = {"model_type": "llama", "pad_token_id": 258, "bos_token_id": 256, "eos_token_id": 257}


def qwen_folder(folder: Path, kind: str, **text: Any) -> Path:
    """A tiny model of ``kind`` (qwen2_vl, qwen2_5_vl, qwen3_vl, qwen3_5) in ``folder``."""
    tokenizer = make_tokenizer(QWEN_MARKS, CHATML, eos="<|im_end|>", pad="<|endoftext|>")
    newer = kind in ("qwen3_vl", "qwen3_5")
    patch = 16 if newer else 14
    vision: dict[str, Any] = {
        "qwen2_vl": {"depth": 2, "embed_dim": 32, "hidden_size": 64, "num_heads": 2, "mlp_ratio": 2},
        "qwen2_5_vl": {
            "depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 64,
            "fullatt_block_indexes": [1], "window_size": 56, "tokens_per_second": 2,
        },
        "qwen3_vl": {
            "depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 64,
            "num_position_embeddings": 64, "deepstack_visual_indexes": [0],
        },
        "qwen3_5": {
            "depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 64,
            "num_position_embeddings": 64,
        },
    }[kind]  # fmt: skip
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}
    if newer:
        rope["mrope_interleaved"] = True
        text = {"head_dim": 16, **text}
    if kind == "qwen3_5":
        rope["partial_rotary_factor"] = 1.0
        text = {"layer_types": ["full_attention", "linear_attention"], "linear_key_head_dim": 8,
                "linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4, **text}  # fmt: skip
    config = AutoConfig.for_model(
        kind,
        text_config={**TEXT, "vocab_size": len(tokenizer), "rope_parameters": rope, **text},
        vision_config={"patch_size": patch, "spatial_merge_size": 2, "temporal_patch_size": 2, **vision},
        **{
            f"{name}_token_id": tokenizer.convert_tokens_to_ids(mark)
            for name, mark in {
                "image": "<|image_pad|>", "video": "<|video_pad|>", "vision_start": "<|vision_start|>",
                "vision_end": "<|vision_end|>",
            }.items()
        },
    )  # fmt: skip
    settings = {
        "image_processor_type": "Qwen2VLImageProcessor", "patch_size": patch, "merge_size": 2,
        "temporal_patch_size": 2, "image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3],
    }  # fmt: skip
    return _saved(folder, config, tokenizer, settings)


def omni_folder(folder: Path, *, whole: bool = False) -> Path:
    """A tiny Qwen2.5-Omni: its thinker; ``whole``: as it stands in the files of a model that also speaks."""
    named = {"image": "<|IMAGE|>", "video": "<|VIDEO|>", "audio": "<|AUDIO|>", "vision_start": "<|vision_bos|>",
             "vision_end": "<|vision_eos|>", "audio_start": "<|audio_bos|>", "audio_end": "<|audio_eos|>"}  # fmt: skip
    template = CHATML.replace(
        "<|vision_start|><|video_pad|><|vision_end|>",
        "<|vision_bos|><|VIDEO|><|vision_eos|>{% elif part.type == 'audio' %}<|audio_bos|><|AUDIO|><|audio_eos|>",
    ).replace("<|vision_start|><|image_pad|><|vision_end|>", "<|vision_bos|><|IMAGE|><|vision_eos|>")
    marks = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *named.values())
    tokenizer = make_tokenizer(marks, template, eos="<|im_end|>", pad="<|endoftext|>")
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}
    config = AutoConfig.for_model(
        "qwen2_5_omni_thinker",
        text_config={**TEXT, "vocab_size": len(tokenizer), "rope_parameters": rope},
        vision_config={"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2,
                       "out_hidden_size": 64, "fullatt_block_indexes": [1], "window_size": 56},
        audio_config={"num_mel_bins": 16, "encoder_layers": 1, "encoder_attention_heads": 2,
                      "encoder_ffn_dim": 48, "d_model": 32, "n_window": 20, "output_dim": 64},
        **{f"{name}_token_id": tokenizer.convert_tokens_to_ids(mark) for name, mark in named.items()},
    )  # fmt: skip
    made = _saved(folder, config, tokenizer, {"patch_size": 14, "merge_size": 2, "feature_size": 16})
    if whole:
        weights = load_file(folder / "model.safetensors")
        save_file(
            {f"thinker.{name}": one for name, one in weights.items()},
            folder / "model.safetensors",
            {"format": "pt"},
        )
        written = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        (folder / "config.json").write_text(
            json.dumps(
                {"model_type": "qwen2_5_omni", "thinker_config": written, "enable_audio_output": False}
            ),
            encoding="utf-8",
        )
    return made


def llava_folder(folder: Path) -> Path:
    """A tiny LLaVA: a CLIP tower of 4 x 4 patches and a Llama."""
    tokenizer = make_tokenizer(PLAIN_MARKS, PLAIN, eos="</s>", pad="<pad>", bos="<s>")
    config = AutoConfig.for_model(
        "llava",
        text_config={**TEXT, **LLAMA, "vocab_size": len(tokenizer)},
        vision_config={
            "model_type": "clip_vision_model", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
            "num_attention_heads": 2, "image_size": 56, "patch_size": 14, "projection_dim": 32,
        },
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_select_strategy="default",
        vision_feature_layer=-2,
        image_seq_length=16,
    )  # fmt: skip
    settings = {
        "image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 56},
        "crop_size": {"height": 56, "width": 56}, "do_convert_rgb": True,
    }  # fmt: skip
    processor = {
        "processor_class": "LlavaProcessor", "patch_size": 14, "vision_feature_select_strategy": "default",
        "num_additional_image_tokens": 1, "image_token": "<image>",
    }  # fmt: skip
    return _saved(folder, config, tokenizer, settings, processor)


def split_folder(folder: Path, kind: str = "idefics3") -> Path:
    """A tiny Idefics3 or SmolVLM (``idefics3``, ``smolvlm``), whose frames are split into tiles of 28."""
    tokenizer = make_tokenizer(SPLIT_MARKS, PLAIN.replace("\\n", ""), eos="</s>", pad="<pad>", bos="<s>")
    config = AutoConfig.for_model(
        kind,
        text_config={**TEXT, **LLAMA, "vocab_size": len(tokenizer)},
        vision_config={
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
            "image_size": 28, "patch_size": 7,
        },
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        pad_token_id=tokenizer.pad_token_id,
        scale_factor=2,
    )  # fmt: skip
    name = {"idefics3": "Idefics3", "smolvlm": "SmolVLM"}[kind]
    settings = {
        "image_processor_type": f"{name}ImageProcessor", "size": {"longest_edge": 56},
        "max_image_size": {"longest_edge": 28}, "do_image_splitting": True,
    }  # fmt: skip
    processor = {"processor_class": f"{name}Processor", "image_seq_len": 4}
    return _saved(folder, config, tokenizer, settings, processor)


VIDEO_FAMILIES: dict[str, dict[str, Any]] = {
    "glm46v": {
        "marks": {"image": "<|image|>", "video": "<|video|>", "image_start": "<|begin_of_image|>",
                  "image_end": "<|end_of_image|>", "video_start": "<|begin_of_video|>",
                  "video_end": "<|end_of_video|>"},
        "text": {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3],
                                     "partial_rotary_factor": 1.0}},
        "vision": {"depth": 2, "hidden_size": 32, "num_heads": 2, "out_hidden_size": 64, "intermediate_size": 48,
                   "image_size": 56, "patch_size": 14},
        "shown": "<|begin_of_video|><|video|><|end_of_video|>",
        "processor": "Glm46V",
        "image": {"patch_size": 14, "temporal_patch_size": 2, "merge_size": 2,
                  "size": {"shortest_edge": 784, "longest_edge": 200704}},
    },
    "internvl": {
        "marks": {"image": "<IMG_CONTEXT>", "video": "<video>", "start_image": "<img>", "end_image": "</img>",
                  "context_image": "<IMG_CONTEXT>"},
        "text": {},
        "vision": {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
                   "image_size": [28, 28], "patch_size": [7, 7]},
        "config": {"image_seq_length": 4},
        "processor": "InternVL",
        "options": {"image_seq_length": 4},
        "image": {"image_processor_type": "GotOcr2ImageProcessor", "size": {"height": 28, "width": 28},
                  "crop_to_patches": True},
    },
    "minicpmv4_6": {
        "marks": {"image": "<|image_pad|>", "video": "<|video_pad|>", "image_start": "<image>",
                  "image_end": "</image>", "slice_start": "<slice>", "slice_end": "</slice>",
                  "image_id_start": "<image_id>", "image_id_end": "</image_id>"},
        "text": {"head_dim": 16, "layer_types": ["full_attention", "full_attention"]},
        "vision": {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
                   "image_size": 56, "patch_size": 14},
        "config": {"insert_layer_id": 0, "image_size": 56},
        "processor": "MiniCPMV4_6",
        "image": {"scale_resolution": 56, "patch_size": 14},
    },
    "molmo2": {
        "marks": {"still": "<|image|>", "film": "<|video|>", "image_patch": "<im_patch>", "col": "<im_col>",
                  "image_start": "<im_start>", "low_res_image_start": "<low_res_im_start>",
                  "frame_start": "<frame_start>", "image_end": "<im_end>", "frame_end": "<frame_end>",
                  "low": "<im_low>"},
        "text": {"head_dim": 16, "additional_vocab_size": 0},
        "vision": {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
                   "num_key_value_heads": 2, "head_dim": 16, "image_size": [84, 84], "patch_size": 14},
        "config": {"adapter_config": {"vision_feature_layer": [-1, -2], "hidden_size": 32, "head_dim": 16,
                                      "num_attention_heads": 2, "num_key_value_heads": 2,
                                      "intermediate_size": 48, "text_hidden_size": 64}},
        "processor": "Molmo2",
        "image": {"size": {"height": 84, "width": 84}, "patch_size": 14, "overlap_margins": [1, 1]},
    },
    "perception_lm": {
        "marks": {"image": "<|image|>", "video": "<|video|>"},
        "text": LLAMA,
        "vision": {"model_type": "timm_wrapper", "architecture": "vit_pe_lang_large_patch14_448",
                   "model_args": {"embed_dim": 32, "depth": 2, "num_heads": 2, "img_size": [56, 56],
                                  "ref_feat_shape": [4, 4]}},
        "config": {"vision_use_cls_token": True, "projector_pooling_ratio": 2},
        "processor": "PerceptionLM",
        "options": {"patch_size": 14, "pooling_ratio": 2},
        "image": {"tile_size": 56, "size": {"height": 56, "width": 56}},
    },
    "smolvlm": {
        "marks": {"image": "<image>", "video": "<video>", "fake_image": "<fake_token_around_image>",
                  "end_of_utterance": "<end_of_utterance>", "global_image": "<global-img>"},
        "text": {"model_type": "llama", "pad_token_id": 2, "bos_token_id": 0, "eos_token_id": 1},
        "vision": {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
                   "image_size": 28, "patch_size": 7},
        "config": {"scale_factor": 2},
        "processor": "SmolVLM",
        "options": {"image_seq_len": 4},
        "image": {"size": {"longest_edge": 56}, "max_image_size": {"longest_edge": 28}},
    },
    "video_llama_3": {
        "marks": {"image": "<|image_pad|>", "video": "<|video_pad|>"},
        "text": {},
        "vision": {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
                   "patch_size": 14},
        "processor": "VideoLlama3",
        "image": {"patch_size": 14, "min_tokens": 4, "max_tokens": 256},
    },
}  # fmt: skip
"""Families with a video processor, besides Qwen's; of ``marks`` the first is a still's, the second a video's."""

NO_STILLS = ("molmo2", "perception_lm")
"""Those whose processors take no still without torchvision either."""


def has_torchvision() -> bool:
    """Whether there is one that fits torch."""
    try:
        importlib.import_module("torchvision")
    except (ImportError, RuntimeError):
        return False
    return True


def video_folder(folder: Path, kind: str) -> Path:
    """A tiny model of one of `VIDEO_FAMILIES` in ``folder``; skips the test where its tower cannot be made."""
    family = VIDEO_FAMILIES[kind]
    if family["vision"].get("model_type") == "timm_wrapper":
        pytest.importorskip("timm")
    marks: dict[str, str] = family["marks"]
    still, video = list(marks.values())[:2]
    template = PLAIN.replace("<image>\n", still).replace(
        "{% else %}", "{% elif part.type == 'video' %}" + family.get("shown", video) + "{% else %}"
    )
    wanted = ("<s>", "</s>", "<pad>", *dict.fromkeys(marks.values()))
    tokenizer = make_tokenizer(wanted, template, eos="</s>", pad="<pad>", bos="<s>", marks=marks)
    config = AutoConfig.for_model(
        kind,
        text_config={**TEXT, **family["text"], "vocab_size": len(tokenizer)},
        vision_config=family["vision"],
        **{
            f"{name}{end}": tokenizer.convert_tokens_to_ids(mark)
            for name, mark in marks.items()
            for end in ("_id", "_token_id")
        },
        **family.get("config", {}),
    )
    name = family["processor"]
    settings = {"image_processor_type": f"{name}ImageProcessor", **family["image"]}
    made = _saved(
        folder, config, tokenizer, settings,
        {"processor_class": f"{name}Processor", **family.get("options", {})},
    )  # fmt: skip
    film = {**family["image"], "video_processor_type": f"{name}VideoProcessor"}
    (folder / "video_preprocessor_config.json").write_text(json.dumps(film), encoding="utf-8")
    return made


def make_tokenizer(
    wanted: tuple[str, ...],
    template: str | None,
    *,
    eos: str,
    pad: str,
    bos: str | None = None,
    marks: dict[str, str] | None = None,
) -> PreTrainedTokenizerFast:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in wanted])
    named = {f"{name}_token": mark for name, mark in (marks or {}).items()}
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token=eos, pad_token=pad, bos_token=bos, extra_special_tokens=named
    )
    made.chat_template = template
    return made


def make_clip(
    frames: int = 4, width: int = 56, height: int = 56, seed: int = 0, step: float = 0.5, start: float = 100.0
) -> Clip:
    """Noise, ``step`` seconds apart."""
    images = np.random.default_rng(seed).integers(0, 256, (frames, height, width, 3), dtype=np.uint8)
    return Clip(images, start + step * np.arange(frames), np.ones(frames, np.int64))


def make_request(
    slot: str = "s00000001", text: str = "What is seen?", clip: Clip | None = None, **more: Any
) -> Request:
    """A question about ``clip``, with few tokens to answer."""
    sampling = more.pop("sampling", SamplingSettings(max_tokens=more.pop("max_tokens", 8)))
    messages = (Message("user", text, with_clip=clip is not None),)
    return Request(slot, more.pop("messages", messages), clip=clip, sampling=sampling, **more)


def _saved(
    folder: Path,
    config: PretrainedConfig,
    tokenizer: PreTrainedTokenizerFast,
    settings: dict[str, Any],
    processor: dict[str, Any] | None = None,
) -> Path:
    torch.manual_seed(0)
    config.tie_word_embeddings = False
    model = AutoModelForImageTextToText.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0, 0.2)
        # Letters only, and no end: what a model says can then be compared.
        pieces = tokenizer.convert_ids_to_tokens(list(range(256)))
        letters = torch.tensor([one.isascii() and one.isalpha() for one in pieces])
        model.get_output_embeddings().weight[:256][~letters] = 0
        model.get_output_embeddings().weight[256:] = 0
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(settings), encoding="utf-8")
    if processor is not None:
        (folder / "processor_config.json").write_text(json.dumps(processor), encoding="utf-8")
    return folder
