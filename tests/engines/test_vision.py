"""Vision-language models, tiny random ones of the very classes: frames, prompts, times, sound, answers."""

from __future__ import annotations

import importlib
import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
import transformers
from PIL import Image

from shotad.core import Clip, Config, Message, NoProgress, load_config
from shotad.core.errors import EngineError
from shotad.core.types import HEARING_RATE
from shotad.engines import make_engine
from shotad.engines.local_vision_qwen import PatchRules, fit_frames, smart_size
from shotad.film import resize_images
from tests.language_models import ModelCalls, make_llama
from tests.vision_models import (
    CHATML,
    NO_STILLS,
    PLAIN,
    QWEN_MARKS,
    VIDEO_FAMILIES,
    has_torchvision,
    llava_folder,
    make_clip,
    make_request,
    make_tokenizer,
    omni_folder,
    qwen_folder,
    split_folder,
    video_folder,
)

# Of transformers' own processors of GLM-4.6V and MiniCPM-V.
pytestmark = pytest.mark.filterwarnings("ignore:__array_.* must|__array__ impl:DeprecationWarning")

FILMED = [kind for kind in VIDEO_FAMILIES if has_torchvision() or kind not in NO_STILLS]
"""Families with a video processor, which wants torchvision: without it those that can show stills do."""
QWENS = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_5")
PATCH, MERGE, DEPTH = 14, 2, 2
"""Of Qwen2-VL: a patch's side in pixels, patches in each direction of a token, frames in a patch."""
MEAN, STD = (0.4, 0.5, 0.6), (0.2, 0.25, 0.3)
"""Of the tiny models' colours."""


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # several wait for each other where cores are busy
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("models")

    def make(kind: str) -> Path:
        if kind in QWENS:
            return qwen_folder(root / kind, kind)
        if kind in VIDEO_FAMILIES:
            return video_folder(root / kind, kind)
        return {"llava": llava_folder, "idefics3": split_folder, "omni": omni_folder}[kind](root / kind)

    return cache(make)


def vision(folder: Path | None, *more: str, stage: Any = "stage1") -> Any:
    small = (
        "compute.device=cpu",
        "compute.precision=float32",
        "frames.min_pixels=784",
        "frames.max_pixels=20000",
    )
    models = () if folder is None else (f"stage1.model={folder}", f"stage2.model={folder}")
    config: Config = load_config(
        None, [*models, *small, "local.batch=4", "frames.inside=2", "frames.outside=2", *more]
    )
    return make_engine("qwen2-vl", config, stage)


def prompt_of(calls: ModelCalls, folder: Path) -> str:
    """The words of the last prompt that a model was given, those tokens too that stand for a picture."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return cast(str, tokenizer.decode(calls.prompts[-1][0]))


def loose(kind: type) -> Any:
    """A class of processors that takes whatever parts it is given."""
    return type(kind.__name__, (kind,), {"check_argument_for_proper_class": lambda *_: None})


# Frames for Qwen's towers: against a formula in plain loops, and against the published processor
def patch_values(pair: list[np.ndarray], top: int, left: int) -> list[float]:
    """A patch of two frames: colour by colour, frame by frame, line by line."""
    return [
        (float(frame[top + v, left + u, channel]) / 255 - MEAN[channel]) / STD[channel]
        for channel in range(3)
        for frame in pair
        for v in range(PATCH)
        for u in range(PATCH)
    ]


def patches_by_loops(images: np.ndarray) -> np.ndarray:
    """Row by row and value by value, as the order of Qwen's patches is described."""
    frames = [*images]
    while len(frames) % DEPTH:
        frames.append(frames[-1])
    high, wide = images.shape[1] // PATCH, images.shape[2] // PATCH
    rows = []
    for first in range(0, len(frames), DEPTH):
        pair = frames[first : first + DEPTH]
        for top in range(0, high, MERGE):
            for left in range(0, wide, MERGE):
                places = [
                    (y * PATCH, x * PATCH) for y in range(top, top + MERGE) for x in range(left, left + MERGE)
                ]
                rows += [patch_values(pair, y, x) for y, x in places]
    return np.array(rows)


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_patches_of_a_video_are_those_of_the_formula(
    frames: int, folder_of: Any, model_calls: ModelCalls
) -> None:
    clip = make_clip(frames, 84, 56)
    (reply,) = vision(folder_of("qwen2_vl")).generate([make_request(clip=clip)])
    assert reply.error is None
    (given,) = model_calls.inputs
    assert given["video_grid_thw"].tolist() == [[(frames + 1) // 2, 4, 6]]
    assert given["pixel_values_videos"].dtype == torch.float32
    np.testing.assert_allclose(given["pixel_values_videos"], patches_by_loops(clip.images), atol=2e-6)


def test_single_frames_and_sizes_are_those_of_the_published_processor(
    folder_of: Any, model_calls: ModelCalls
) -> None:
    pil = pytest.importorskip("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl")
    processor = pil.Qwen2VLImageProcessorPil(
        image_mean=list(MEAN), image_std=list(STD), min_pixels=3136, max_pixels=40000
    )
    bounds = ("frames.min_pixels=3136", "frames.max_pixels=40000")
    for width, height in ((504, 280), (123, 457), (30, 20)):
        clip = make_clip(1, width, height)
        theirs = processor([clip.images[0]], return_tensors="np", input_data_format="channels_last")
        vision(folder_of("qwen2_vl"), *bounds).generate([make_request(clip=clip)])
        ours = model_calls.inputs[-1]
        assert ours["video_grid_thw"].tolist() == theirs["image_grid_thw"].tolist()
        np.testing.assert_allclose(ours["pixel_values_videos"], theirs["pixel_values"], atol=2e-6)
    random = np.random.default_rng(1)
    for low, high in ((784, 20_000), (3136, 40_000), (100_352, 151_200), (200_000, 900_000)):
        engine = vision(None, f"frames.min_pixels={low}", f"frames.max_pixels={high}")
        for width, height in random.integers(20, 3000, (500, 2)).tolist():
            tokens = math.prod(pil.smart_resize(height, width, 28, low, high)) // 28**2
            assert engine.image_tokens(width, height, 1) == tokens, (width, height)


SIZES = ((196, 84), (500, 280), (123, 457), (84, 61), (28, 28))
"""Of frames: right as they are, too large, upright, too small."""


@pytest.mark.parametrize("patch", [14, 16])
def test_frames_are_resized_as_by_the_authors_package(patch: int) -> None:
    try:
        package = importlib.import_module("qwen_vl_utils")
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"qwen-vl-utils wants torchvision, in a build that fits torch: {error}")
    for width, height in SIZES:
        images = make_clip(3, width, height).images
        size = smart_size(width, height, 2 * patch, 4 * (2 * patch) ** 2, 40_000)
        part = {"type": "image", "resized_width": size[0], "resized_height": size[1]}
        turn = {"role": "user", "content": [{**part, "image": Image.fromarray(image)} for image in images]}
        theirs, _ = package.process_vision_info([turn], image_patch_size=patch)
        assert np.array_equal(np.stack([np.asarray(frame) for frame in theirs]), resize_images(images, size))
        assert np.array_equal(fit_frames(images, size, PatchRules(patch)), resize_images(images, size))


@pytest.mark.parametrize("kind", ["qwen2_vl", "qwen3_vl"])
def test_the_authors_package_resizes_where_it_is_installed(
    kind: str, folder_of: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for it notes what it is asked for."""
    clips = [make_clip(4, 84, 56), make_clip(3, 150, 90, seed=1)]
    requests = [make_request(str(number), clip=clip) for number, clip in enumerate(clips)]
    before = [reply.text for reply in vision(folder_of(kind)).generate(requests)]
    (tmp_path / "qwen_vl_utils.py").write_text(
        "asked = []\n"
        "def process_vision_info(conversations, image_patch_size=14):\n"
        "    parts = [part for turn in conversations for part in turn['content']]\n"
        "    asked.append((len(parts), image_patch_size))\n"
        "    sizes = [(part['resized_width'], part['resized_height']) for part in parts]\n"
        "    return [part['image'].resize(size) for part, size in zip(parts, sizes)], None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "qwen_vl_utils", raising=False)
    assert [reply.text for reply in vision(folder_of(kind)).generate(requests)] == before
    package = importlib.import_module("qwen_vl_utils")
    patch = 16 if kind == "qwen3_vl" else 14
    assert sorted(package.asked) == [(3, patch), (4, patch)]
    # One that cannot be imported, for want of torchvision, is as none.
    (tmp_path / "qwen_vl_utils.py").write_text("raise ImportError('no torchvision')\n")
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "qwen_vl_utils")
    assert [reply.text for reply in vision(folder_of(kind)).generate(requests)] == before


def write_settings(folder: Path, file: str = "preprocessor_config.json", **settings: Any) -> None:
    (folder / file).write_text(json.dumps(settings), encoding="utf-8")


def test_frame_rules_are_read_wherever_they_stand(tmp_path: Path, model_calls: ModelCalls) -> None:
    means = {"image_mean": [0.1, 0.2, 0.3], "image_std": [1.0, 1.0, 1.0]}
    files: list[tuple[str, dict[str, Any]]] = [
        ("preprocessor_config.json", means),
        ("video_preprocessor_config.json", means),
        ("processor_config.json", {"video_processor": means}),
    ]
    black = Clip(np.zeros((1, 32, 64, 3), np.uint8), np.zeros(1), np.ones(1, np.int64))
    for file, settings in files:
        folder = qwen_folder(tmp_path / file, "qwen3_vl")
        write_settings(folder, file, **settings)
        engine = vision(folder)
        engine.generate([make_request(clip=black)])
        given = model_calls.inputs[-1]
        assert given["video_grid_thw"].tolist() == [[1, 2, 4]], "patches of 16 pixels"
        values = given["pixel_values_videos"].reshape(8, 3, -1).mean((0, 2)).tolist()
        assert values == pytest.approx([-0.1, -0.2, -0.3]), file
        assert engine.image_tokens(504, 280, 1) == 160 // 32 * 96 // 32, "few pixels, as the settings say"
    write_settings(folder, do_normalize=False, do_rescale=False)
    (folder / "processor_config.json").unlink()
    engine = vision(folder, "frames.short_side=336")
    engine.generate([make_request(clip=make_clip(2))])
    assert engine.image_tokens(597, 336, 1) == 608 // 32 * 320 // 32
    assert model_calls.inputs[-1]["pixel_values_videos"].max() == 255


# What models are given: prompts, placeholders, times, stills
def test_times_in_words_are_those_of_the_published_processor(folder_of: Any, model_calls: ModelCalls) -> None:
    """With even frames, of which alone it knows; ours stand in place of the template's marks."""
    folder = folder_of("qwen3_vl")
    tokenizer = make_tokenizer(QWEN_MARKS, CHATML, eos="<|im_end|>", pad="<|endoftext|>")
    parts = SimpleNamespace(merge_size=2, temporal_patch_size=2)
    official = loose(transformers.Qwen3VLProcessor)(parts, tokenizer, parts)
    for frames in (4, 5):
        clip = make_clip(frames, 64, 96, step=0.75)
        metadata = SimpleNamespace(fps=4.0, frames_indices=[3 * i for i in range(frames)])
        grid = torch.tensor([[(frames + 1) // 2, 6, 4]])
        theirs = official.replace_video_token({"video_grid_thw": grid, "video_metadata": [metadata]}, 0)
        vision(folder).generate([make_request(clip=clip)])
        assert f"user\n{theirs}What" in prompt_of(model_calls, folder)


def test_times_in_one_figure_are_the_mean_of_uneven_frames(folder_of: Any, model_calls: ModelCalls) -> None:
    clip = replace(make_clip(5), seconds=np.array([7.0, 7.5, 9.0, 10.5, 11.0]))
    vision(folder_of("qwen2_5_vl")).generate([make_request(clip=clip)])
    (given,) = model_calls.inputs
    in_time = given["position_ids"][1, 0, given["mm_token_type_ids"][0] == 2]
    per_second = 2  # of the tiny model's configuration
    assert (in_time - in_time[0]).unique().tolist() == [0, 2 * per_second, 4 * per_second]


def test_smolvlm_has_the_words_of_its_own_processor(tmp_path: Path, model_calls: ModelCalls) -> None:
    pytest.importorskip("num2words", reason="its own processor wants it, for videos only")
    from transformers.models.smolvlm import processing_smolvlm

    folder = split_folder(tmp_path, "smolvlm")
    requests = [make_request(clip=make_clip(2, 90, 70)), make_request(text="Now?", clip=make_clip(2, 60, 80))]
    vision(folder, "prompt.rules=paper").generate(requests)
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    images = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
    official = loose(processing_smolvlm.SmolVLMProcessor)(images, tokenizer, None, image_seq_len=4)
    prompts = []
    for request in requests:
        text = {"type": "text", "text": request.messages[0].text}
        turns = [{"role": "user", "content": [{"type": "image"}, {"type": "image"}, text]}]
        prompts.append(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))
    theirs = official(
        images=[list(request.clip.images) for request in requests if request.clip],
        text=prompts,
        padding=True, padding_side="left", return_tensors="pt", input_data_format="channels_last",
        do_image_splitting=False,
    )  # fmt: skip
    (ours,) = model_calls.inputs
    for name in ("input_ids", "attention_mask", "pixel_values"):
        torch.testing.assert_close(theirs[name], ours[name])


def test_what_cannot_be_shown_is_refused_at_once(tmp_path: Path) -> None:
    def refusal(folder: Path) -> str:
        with pytest.raises(EngineError) as caught:
            vision(folder).get_ready(NoProgress())
        return caught.value.what

    folder = llava_folder(tmp_path / "llava")
    (folder / "chat_template.jinja").write_text(PLAIN.replace("<image>", ""), encoding="utf-8")
    shows_none = r"llava cannot be asked about a clip: .* shows 0 of 2 frames"
    assert re.match(shows_none, refusal(folder))
    strings_only = "{% for turn in messages %}{{ turn.role + ': ' + turn.content }}\n{% endfor %}"
    (folder / "chat_template.jinja").write_text(strings_only, encoding="utf-8")
    assert re.match(
        r"llava cannot be asked about a clip: the chat template of llava cannot be used", refusal(folder)
    )
    (folder / "preprocessor_config.json").write_text("{", encoding="utf-8")
    assert re.match(r"The processor of llava \(LlavaProcessor\) cannot be used here", refusal(folder))
    write_settings(folder, "processor_config.json", processor_class="NoSuchProcessor")
    assert re.match(r"llava \(llava\) has no processor in transformers", refusal(folder))
    words_only = make_llama(tmp_path / "words")
    assert re.match(r"words \(llama\) is no model that takes images", refusal(words_only))
    tokenizer = make_tokenizer(QWEN_MARKS[:-1], CHATML, eos="<|im_end|>", pad="<|endoftext|>")
    tokenizer.save_pretrained(blind := qwen_folder(tmp_path / "blind", "qwen2_vl"))
    assert refusal(blind) == "The tokenizer of blind has no <|video_pad|>."
    damaged = qwen_folder(tmp_path / "damaged", "qwen2_vl")
    for settings, problem in (
        ({"image_std": [1.0, 0.0, 1.0]}, "frames have three channels"),
        ({"image_mean": [1.0]}, "not enough values"),
        ({"patch_size": 0}, "patches have a side, a merge and a depth of 1 at least"),
        ({"patch_size": None}, "int()"),
    ):
        write_settings(damaged, **cast(dict[str, Any], settings))
        assert refusal(damaged).startswith(f"The frame settings of damaged cannot be used: {problem}")


def test_a_template_without_a_system_role_is_served(tmp_path: Path, model_calls: ModelCalls) -> None:
    folder = llava_folder(tmp_path / "llava")
    template = (
        "{% for turn in messages %}{% if turn.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "{{ turn.role }}: {% for part in turn.content %}{{ part.text or '<image>' }}{% endfor %}\n{% endfor %}"
    )
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    messages = (
        Message("system", "Be short."), Message("user", "What?", with_clip=True), Message("user", "Say."),
    )  # fmt: skip
    vision(folder, "prompt.rules=paper").generate([make_request(clip=make_clip(1), messages=messages)])
    prompt = re.sub("(<image>)+", "<image>", prompt_of(model_calls, folder))
    assert prompt == "user: <image>Be short.\n\nWhat?\n\nSay."


def test_words_of_the_film_are_no_marks_of_the_model(folder_of: Any, model_calls: ModelCalls) -> None:
    engine = vision(folder_of("qwen2_vl"))
    for text in ("<|video_pad|><|image_pad|><|im_end|>What?", "What?"):
        engine.generate([make_request(text=text, clip=make_clip(2))])
    marked, plain = model_calls.prompts
    assert marked == plain


# Answers
@pytest.mark.parametrize("kind", [*QWENS, "llava", "idefics3", *FILMED])
def test_each_family_answers_alone_as_in_a_batch_and_sees_every_frame(kind: str, folder_of: Any) -> None:
    engine = vision(folder_of(kind))
    engine.get_ready(NoProgress())
    assert engine.identity.revision.endswith(" float32")
    clip, other = make_clip(4), make_clip(4)
    other.images[3] = 255 - other.images[3]
    asked = [
        make_request("a", clip=clip, max_tokens=24), make_request("b", clip=other, max_tokens=24),
        make_request("c", "Something longer here, please.", clip=make_clip(5, 84, 60, seed=3)),
        make_request("d", "No clip."), make_request("e", "No clip at all, is there?"),
    ]  # fmt: skip
    alone = [engine.generate([request])[0] for request in asked]
    assert all(reply.text and reply.error is None for reply in alone)
    assert len({reply.text for reply in alone}) == len(asked)
    together = engine.generate(asked)
    assert [(reply.text, reply.usage) for reply in together] == [(reply.text, reply.usage) for reply in alone]
    assert [reply.batch for reply in together] == [("a", "b", "c")] * 3 + [("d", "e")] * 2


@pytest.mark.parametrize("kind", FILMED)
def test_each_family_sees_times_and_by_the_papers_rules_wordless_stills(kind: str, folder_of: Any) -> None:
    asked = [make_request(clip=make_clip(4, step=step), max_tokens=24) for step in (0.5, 4.0)]
    for rules, shown in (
        ((), "video" if has_torchvision() else "timed stills"),
        (("prompt.rules=paper",), ""),
    ):
        engine = vision(folder_of(kind), *rules)
        engine.get_ready(NoProgress())
        revision = engine.identity.revision
        assert (
            revision.endswith(f" {shown} float32") if shown else not {"stills", "video"} & {*revision.split()}
        )
        one, other = (engine.generate([request])[0].text for request in asked)
        assert (one != other) is bool(shown)


def test_who_it_is_and_what_it_cannot(folder_of: Any, tmp_path: Path) -> None:
    engine, foreseen = vision(folder_of("llava")), vision(folder_of("llava"))
    assert (engine.identity.engine, engine.identity.model) == ("qwen2-vl", "llava")
    engine.get_ready(NoProgress())
    foreseen.ready_if_here()
    assert foreseen.identity == engine.identity
    unfetched = make_engine("qwen2-vl", Config(), "stage1")
    assert unfetched.identity.model == "Qwen/Qwen2-VL-7B-Instruct"
    assert unfetched.image_tokens(504, 280, 32) == 2880, "estimates need no model"  # type: ignore[attr-defined]
    # A frame without size and a small model fail alone.
    engine = vision(folder_of("qwen2_vl"))
    good, bad = make_request("a", clip=make_clip(2)), make_request("b", clip=make_clip(2, 600, 2))
    first, second = engine.generate([good, bad])
    assert first.text
    assert second.error == "a frame of 600 x 2 is more than 200 times as long as broad"
    folder = qwen_folder(tmp_path / "small", "qwen2_vl", max_position_embeddings=600)
    with pytest.raises(EngineError, match=r"small takes 600 tokens; a clip takes about \d+ and stage1"):
        vision(folder).get_ready(NoProgress())
    vision(folder, stage="stage2").get_ready(NoProgress())


def test_the_sound_has_as_many_tokens_as_the_published_rule_gives(folder_of: Any) -> None:
    from transformers.models.qwen2_5_omni.processing_qwen2_5_omni import _get_feat_extract_output_lengths

    sound = np.random.default_rng(0).normal(0, 0.2, 3 * HEARING_RATE // 2).astype(np.float32)
    engine, clip = vision(folder_of("omni")), make_clip(4)
    engine.get_ready(NoProgress())
    asked = [make_request(clip=one) for one in (clip, replace(clip, sound=sound))]
    silent, loud = (engine.generate([request])[0].usage.tokens_in for request in asked)
    marks = 2
    assert loud - silent == marks + _get_feat_extract_output_lengths(150)
