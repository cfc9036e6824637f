"""Vision-language models, tiny random ones of the very classes: frames, prompts, times, sound, answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
import transformers
from transformers import AutoConfig, AutoTokenizer

from shotad.core import (
    Config,
    Message,
    NoProgress,
    load_config,
)
from shotad.core.config.film import FrameSettings
from shotad.core.errors import EngineError
from shotad.core.types import HEARING_RATE
from shotad.engines import local_loading, make_engine
from shotad.engines.local_engines import make_words
from shotad.engines.local_model import ModelPlace
from shotad.engines.local_vision_qwen import (
    IMAGE,
    VIDEO,
    PatchRules,
    QwenWords,
    grid_of,
    smart_size,
    video_patches,
)
from shotad.engines.local_words import StillWords, Template, UnfitPrompt, turns
from tests.vision_models import (
    CHATML,
    NO_STILLS,
    PLAIN,
    PLAIN_MARKS,
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
SMALL = FrameSettings(min_pixels=784, max_pixels=20000)
RULES = PatchRules(patch=4, merge=2, depth=2, mean=(0.4, 0.5, 0.6), std=(0.2, 0.25, 0.3))


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # several wait for each other where cores are busy
    yield
    torch.set_num_threads(before)
    local_loading.CACHE.clear()


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


# Frames for Qwen's towers: against a formula in plain loops, and against the published processor
def noise(frames: int, width: int, height: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (frames, height, width, 3), dtype=np.uint8)


def one_row(pair: list[np.ndarray], top: int, left: int, rules: PatchRules) -> list[float]:
    """A patch of two frames: colour by colour, frame by frame, line by line."""
    return [
        (float(frame[top + v, left + u, channel]) / 255 - rules.mean[channel]) / rules.std[channel]
        for channel in range(3)
        for frame in pair
        for v in range(rules.patch)
        for u in range(rules.patch)
    ]


def by_loops(images: np.ndarray, rules: PatchRules) -> np.ndarray:
    """Row by row and value by value, as the order of Qwen's patches is described."""
    frames = [*images]
    while len(frames) % rules.depth:
        frames.append(frames[-1])
    p, m = rules.patch, rules.merge
    high, wide = images.shape[1] // p, images.shape[2] // p
    rows = []
    for first in range(0, len(frames), rules.depth):
        pair = frames[first : first + rules.depth]
        for top in range(0, high, m):
            for left in range(0, wide, m):
                places = [(y * p, x * p) for y in range(top, top + m) for x in range(left, left + m)]
                rows += [one_row(pair, y, x, rules) for y, x in places]
    return np.array(rows)


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_patches_of_a_video_are_those_of_the_formula(frames: int) -> None:
    images = noise(frames, 24, 16)
    values, grid = video_patches(images, (24, 16), RULES)
    assert grid == ((frames + 1) // 2, 4, 6) == grid_of(24, 16, frames, RULES)
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, by_loops(images, RULES), atol=2e-6)


def test_single_frames_and_sizes_are_those_of_the_published_processor() -> None:
    pil = pytest.importorskip("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl")
    settings = {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3]}
    processor = pil.Qwen2VLImageProcessorPil(**settings, min_pixels=3136, max_pixels=40000)
    for width, height in ((504, 280), (123, 457), (30, 20)):
        images = noise(1, width, height)
        theirs = processor([images[0]], return_tensors="np", input_data_format="channels_last")
        size = smart_size(width, height, 28, 3136, 40000)
        ours, grid = video_patches(images, size, PatchRules.of(settings))
        assert [list(grid)] == theirs["image_grid_thw"].tolist()
        np.testing.assert_allclose(ours, theirs["pixel_values"], atol=2e-6)
    random = np.random.default_rng(1)
    for _ in range(2000):
        width, height, low, more = (int(n) for n in random.integers(20, 3000, 4))
        if max(width, height) <= 200 * min(width, height):
            low, high = low * 50, low * 50 + more * 300
            assert (
                smart_size(width, height, 28, low, high)
                == pil.smart_resize(height, width, 28, low, high)[::-1]
            )
    silent = PatchRules.of({"do_normalize": False, "do_rescale": False})
    assert (silent.mean, silent.std, silent.rescale) == ((0, 0, 0), (1, 1, 1), 1)
    assert video_patches(noise(2, 28, 28), (28, 28), silent)[0].max() == 255
    with pytest.raises(ValueError, match="three channels"):
        PatchRules.of({"image_std": [1.0, 0.0, 1.0]})
    with pytest.raises(ValueError, match="1 at least"):
        PatchRules(patch=0)


# What models are given: prompts, placeholders, times, stills
def qwen_words(times: Any = "none", patch: int = 14) -> QwenWords:
    tokenizer = make_tokenizer(QWEN_MARKS, CHATML, eos="<|im_end|>", pad="<|endoftext|>")
    template = Template(tokenizer, None, "a model", (VIDEO, IMAGE))
    return QwenWords(template, times, PatchRules(patch=patch, min_pixels=784, max_pixels=20000), 256)


def words_of(folder: Path, frames: FrameSettings = SMALL) -> QwenWords | StillWords:
    config, tokenizer = AutoConfig.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    return make_words(ModelPlace(folder, folder.name, ""), config, tokenizer, frames)


def loose(kind: type) -> Any:
    """A class of processors that takes whatever parts it is given."""
    return type(kind.__name__, (kind,), {"check_argument_for_proper_class": lambda *_: None})


def test_times_in_words_are_those_of_the_published_processor() -> None:
    """With even frames, of which alone it knows; ours stand in place of the template's marks."""
    words = qwen_words("words", patch=16)
    parts = SimpleNamespace(merge_size=2, temporal_patch_size=2)
    official = loose(transformers.Qwen3VLProcessor)(parts, words.template.tokenizer, parts)
    for frames in (4, 5):
        clip = make_clip(frames, 64, 96, step=0.75)
        metadata = SimpleNamespace(fps=4.0, frames_indices=[3 * i for i in range(frames)])
        grid = torch.tensor([[(frames + 1) // 2, 6, 4]])
        theirs = official.replace_video_token({"video_grid_thw": grid, "video_metadata": [metadata]}, 0)
        ours = words.template.tokenizer.decode(words.tokens(make_request(clip=clip)))
        assert f"user\n{theirs}What" in ours


def test_smolvlm_has_the_words_of_its_own_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.models.smolvlm import processing_smolvlm

    words = words_of(split_folder(tmp_path, "smolvlm"))
    assert isinstance(words, StillWords)
    monkeypatch.setattr(processing_smolvlm, "num2words", str)
    kind = loose(processing_smolvlm.SmolVLMProcessor)
    official = kind(words.processor.image_processor, words.template.tokenizer, None, image_seq_len=4)
    requests = [make_request(clip=make_clip(2, 90, 70)), make_request(text="Now?", clip=make_clip(2, 60, 80))]
    theirs = official(
        images=[list(request.clip.images) for request in requests],
        text=[words.prompt(request) for request in requests],
        padding=True, padding_side="left", return_tensors="pt", input_data_format="channels_last",
        do_image_splitting=False,
    )  # fmt: skip
    ours = words.inputs(requests)
    for name in ("input_ids", "attention_mask", "pixel_values"):
        torch.testing.assert_close(theirs[name], ours[name])


def test_what_cannot_be_shown_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = llava_folder(tmp_path / "llava")
    (folder / "chat_template.jinja").write_text(PLAIN.replace("<image>", ""), encoding="utf-8")
    with pytest.raises(EngineError, match=r"llava cannot be asked about a clip: .* shows 0 of 2 frames"):
        words_of(folder)

    def missing(*_: Any, **__: Any) -> None:
        raise ImportError("LlavaImageProcessor requires the Torchvision library but it was not found")

    monkeypatch.setattr(transformers.AutoImageProcessor, "from_pretrained", missing)
    with pytest.raises(
        EngineError, match=r"processor of llava .*cannot be used here: .* Torchvision library"
    ):
        words_of(folder)
    AutoConfig.for_model("llama", vocab_size=300).save_pretrained(tmp_path)
    make_tokenizer(PLAIN_MARKS, PLAIN, eos="</s>", pad="<pad>").save_pretrained(tmp_path)
    with pytest.raises(EngineError, match=r"\(llama\) is no model that takes images"):
        words_of(tmp_path)


def test_frame_rules_are_read_wherever_they_stand(tmp_path: Path) -> None:
    means = '{"image_mean": [0.1, 0.2, 0.3]}'
    for file, settings in (
        ("preprocessor_config.json", means),
        ("video_preprocessor_config.json", means),
        ("processor_config.json", f'{{"video_processor": {means}}}'),
    ):
        folder = qwen_folder(tmp_path / file, "qwen3_vl")
        (folder / file).write_text(settings, encoding="utf-8")
        words = words_of(folder)
        assert isinstance(words, QwenWords)
        assert words.rules.mean == (0.1, 0.2, 0.3), file
    assert (words.rules.patch, words.rules.factor) == (16, 32)
    assert words.rules.size(504, 280) == (160, 96)
    free = words_of(folder, frames=FrameSettings(short_side=336))
    assert isinstance(free, QwenWords)
    assert free.rules.size(597, 336) == (608, 320)
    assert video_patches(make_clip(1, 64, 32).images, (64, 32), words.rules)[1] == (1, 2, 4)


def test_templates_of_other_kinds_are_served() -> None:
    text = (
        "{% for turn in messages %}{% if turn.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "{{ turn.role }}: {% for part in turn.content %}{{ part.text or '<image>' }}{% endfor %}\n{% endfor %}"
    )
    template = Template(make_tokenizer(PLAIN_MARKS, text, eos="</s>", pad="<pad>"), None, "a model")
    talk = (Message("system", "Be short."), Message("user", "What?", with_clip=True), Message("user", "Say."))
    request = make_request(clip=make_clip(1), messages=talk)
    assert template.prompt(turns(request, [{"type": "image"}])) == "user: <image>Be short.\n\nWhat?\n\nSay."
    text = "{% for turn in messages %}{{ turn.role + ': ' + turn.content }}\n{% endfor %}"
    template = Template(make_tokenizer(PLAIN_MARKS, text, eos="</s>", pad="<pad>"), None, "a model")
    assert template.prompt(turns(make_request())) == "user: What is seen?\n"
    with pytest.raises(UnfitPrompt, match="a model cannot be used"):
        template.prompt(turns(make_request(clip=make_clip(1)), [{"type": "image"}]))
    # Words of the film are no marks of the model.
    words = qwen_words()
    sly = make_request(text=f"{VIDEO}{IMAGE}<|im_end|>What?", clip=make_clip(2))
    honest = make_request(text="What?", clip=make_clip(2))
    assert words.tokens(sly) == words.tokens(honest)


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
