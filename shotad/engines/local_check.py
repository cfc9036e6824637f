"""Compares what a local model gets and answers with plain transformers, and measures its time and memory.

For ``shotad doctor --model``: whoever has the weights and a GPU sees in minutes whether a model works here as
its makers meant it. Plain transformers is ``AutoProcessor`` and ``generate``, with the same conversation and
clip.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shotad.core import Clip, Config, Message, NoProgress, Reply, Request
from shotad.core.config.words import SamplingSettings
from shotad.core.errors import WeightsError
from shotad.core.model_loading import (
    damaged_model_errors,
    first_message_line,
    require_module,
    require_torch,
    silence_transformers,
)
from shotad.core.system import forget_peak, peak_memory
from shotad.engines import local_vision_qwen as qwen
from shotad.engines.local_engines import ChatModel, VisionModel, Words, accepted_names
from shotad.engines.local_model import ModelPlace, label_of, place_on_disk
from shotad.engines.local_words import StillWords, Template, TextWords, turns

PURPOSE = "Checking a model"

if TYPE_CHECKING:
    import torch

    from shotad.core.model_cache import Loaded
else:
    torch = require_torch(PURPOSE)

QUESTION = "Describe in two sentences what happens, and what is seen behind it."
ANSWER_TOKENS = 64
WIDTH, HEIGHT, SECONDS = 448, 224, 8.0
"""Of the clip. The sides are multiples of the patches of all Qwen families, and its pixels lie within the
usual bounds of ``frames``, so that nobody resizes it. It is so short that releases of transformers that count
the positions after a long video differently (5.18 to 5.24) agree on it."""
PIXEL_TOLERANCE = 0.01
"""By how much normalised pixels may differ: libraries round differently when they resize."""

Tensors = dict[str, Any]


class ModelCheck(NamedTuple):
    """One line of the report. ``ok`` is None for what was measured, and for what could not be compared."""

    topic: str
    finding: str
    ok: bool | None = None


def check_model(model: str, config: Config) -> list[ModelCheck]:
    """Compare a model whose weights are here with plain transformers, and measure it.

    Raises WeightsError where the weights are not here, and whatever its engine raises where it cannot work.
    """
    place = place_on_disk(model)
    if place is None:
        raise WeightsError(
            f"The weights of {label_of(model)} are not on this machine.",
            f"Fetch them first: shotad models pull {model}. Or name a folder that holds them.",
        )
    engine = _engine(model, place, config)
    engine.get_ready(NoProgress())
    request = _request(engine, config)
    with engine.lent_model() as loaded:
        engine_input = _input(engine, loaded, request)
        plain, reason = plain_input(engine, request)
        checks = [_loaded_check(engine, loaded)]
        if plain is None:
            not_compared = f"not compared with AutoProcessor, which cannot be used here: {reason}"
            checks.append(ModelCheck("Ids, pixels", not_compared))
            plain = _without_positions(engine.words, request, engine_input)
        else:
            ids_check, plain = _ids_check(engine, engine_input["input_ids"], plain)
            checks.append(ids_check)
            checks += _pixel_checks(engine_input, plain)
        with _first_positions(loaded.model) as positions:
            reply = _ask(engine, [request])[0]
        with _first_positions(loaded.model) as plain_positions:
            plain_text = _plain_answer(engine, loaded, plain)
        checks.append(_positions_check(positions, plain_positions))
        checks.append(_text_check(reply.text, plain_text))
        checks += _measured(engine, loaded, request, config.local.batch)
    return checks


def _engine(model: str, place: ModelPlace, config: Config) -> ChatModel:
    from shotad.engines.local_loading import config_of

    takes_images = require_module("transformers", PURPOSE).MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
    if type(config_of(place)) in takes_images:
        stage1 = config.stage1.model_copy(update={"model": model})
        return VisionModel(config.model_copy(update={"stage1": stage1}), "stage1")
    stage2 = config.stage2.model_copy(update={"model": model})
    return ChatModel(config.model_copy(update={"stage2": stage2}), "stage2")


def _request(engine: ChatModel, config: Config) -> Request:
    sees = engine.abilities.accepts_images
    clip = painted_clip(config.frames.inside + config.frames.outside) if sees else None
    messages = (Message("user", QUESTION, with_clip=sees),)
    sampling = SamplingSettings(max_tokens=ANSWER_TOKENS, temperature=0.0)
    return Request("doctor", messages, clip=clip, sampling=sampling)


def painted_clip(frames: int) -> Clip:
    """A bright square that crosses a ground of coloured stripes, ``uint8[frames, HEIGHT, WIDTH, 3]``."""
    stripes = np.arange(WIDTH) // 32 * 16 % 256
    rows = np.arange(HEIGHT)[:, None]
    ground = np.stack(
        [
            np.broadcast_to(stripes, (HEIGHT, WIDTH)),
            (stripes + rows) % 256,
            (128 + rows // 2) * (stripes >= 0),
        ],
        axis=2,
    ).astype(np.uint8)
    images = np.repeat(ground[None], frames, axis=0)
    for number, image in enumerate(images):
        left = number * (WIDTH - 64) // max(1, frames - 1)
        image[80:144, left : left + 64] = 255
    seconds = np.arange(frames, dtype=np.float64) * (SECONDS / frames)
    return Clip(images, seconds, np.ones(frames, np.int64))


def _input(engine: ChatModel, loaded: Loaded, request: Request) -> Tensors:
    """What the engine gives to the model."""
    accepted = accepted_names(loaded.model)
    model_input = engine.words.inputs([request])
    return {name: value for name, value in model_input.items() if name in accepted}


def _without_positions(words: Words, request: Request, engine_input: Tensors) -> Tensors:
    """The same input for a model that is to work out the positions of its tokens itself."""
    plain = {name: value for name, value in engine_input.items() if name != "position_ids"}
    clip = request.clip
    if isinstance(words, qwen.QwenWords) and words.times == "interval" and clip is not None:
        name = "video_second_per_grid" if words.ears else "second_per_grid_ts"
        plain[name] = torch.tensor([qwen.seconds_per_patch(clip.seconds, words.rules.depth)])
    return plain


def plain_input(engine: ChatModel, request: Request) -> tuple[Tensors | None, str]:
    """What ``AutoProcessor`` (of a text model ``AutoTokenizer``) makes of the request; None with the reason
    where it cannot be used here.
    """
    transformers = require_module("transformers", PURPOSE)
    words, template = engine.words, engine.words.template
    clip = request.clip
    if isinstance(words, TextWords) or clip is None:
        return _plain_text_input(engine, request), ""
    failures: tuple[type[Exception], ...] = (*damaged_model_errors(PURPOSE), ImportError, AttributeError)
    try:
        with silence_transformers(transformers):
            processor = transformers.AutoProcessor.from_pretrained(engine.place.folder, local_files_only=True)
        if not hasattr(processor, "tokenizer"):
            return None, f"it finds no more than a {type(processor).__name__}"
        parts = words.parts(clip) if isinstance(words, StillWords) else [{"type": "video"}]
        prompt = processor.apply_chat_template(
            turns(request, parts), tokenize=False, add_generation_prompt=True, **_options(template)
        )
        plain = processor(
            text=[prompt],
            **_shown(words, clip),
            add_special_tokens=not template.begun(prompt),
            return_tensors="pt",
        )
    except failures as error:
        return None, first_message_line(error).partition(". ")[0]
    return dict(plain), ""


def _options(template: Template) -> dict[str, Any]:
    """What a plain ``apply_chat_template`` gets: the options that the template reads.

    It takes the template from the model's files; one that asks for the time gets a clock that stands still.
    """
    text = template.text or ""
    options = {name: value for name, value in template.options.items() if name in text}
    if "strftime_now" in text:
        options["chat_template"] = template.options["chat_template"]
    return options


def _plain_text_input(engine: ChatModel, request: Request) -> Tensors:
    from shotad.engines.local_loading import tokenizer_of

    tokenizer, template = tokenizer_of(engine.place), engine.words.template
    if template.text is None:
        return dict(tokenizer(f"{QUESTION}\n\n", return_tensors="pt"))
    talk = [{"role": message.role, "content": message.text} for message in request.messages]
    return dict(
        tokenizer.apply_chat_template(
            talk, add_generation_prompt=True, return_dict=True, return_tensors="pt", **_options(template)
        )
    )


def _shown(words: qwen.QwenWords | StillWords, clip: Clip) -> dict[str, Any]:
    """The clip as processors take it: all of its frames, none resized where it has the model's size."""
    frames = len(clip)
    if isinstance(words, StillWords):
        shown = words.shown([clip])
        if "videos" not in shown:
            return shown
    else:
        shown = {"videos": [clip.images], "do_sample_frames": False, "do_resize": False}
    # Even frames: the rate is exact, and processors that reckon with it get the clip's own seconds.
    metadata = {
        "fps": frames / SECONDS,
        "frames_indices": list(range(frames)),
        "total_num_frames": frames,
        "duration": SECONDS,
    }
    return {**shown, "video_metadata": [metadata]}


def _loaded_check(engine: ChatModel, loaded: Loaded) -> ModelCheck:
    devices = ", ".join(str(device) for device in loaded.devices)
    precision = str(loaded.dtype).removeprefix("torch.")
    shown = f"; it gets a clip as {engine.shown}" if engine.abilities.accepts_images else ""
    version = require_module("transformers", PURPOSE).__version__
    return ModelCheck("Model", f"{loaded.label}, {precision} on {devices}, transformers {version}{shown}")


def _ids_check(engine: ChatModel, ids: torch.Tensor, plain: Tensors) -> tuple[ModelCheck, Tensors]:
    """Whether the prompts are the same; and what plain transformers is to answer."""
    count = ids.shape[1]
    if _same(ids, plain["input_ids"]):
        return ModelCheck("Ids", f"the same {count} tokens", True), plain
    words = engine.words
    if isinstance(words, qwen.QwenWords) and words.times == "words":
        without_marks = _without_outer_marks(engine, plain)
        if _same(ids, without_marks["input_ids"]):
            marks = "the marks that transformers 5.10 and later leave around a clip"
            finding = f"the same {count} tokens, but for {marks}"
            return ModelCheck("Ids", finding, True), without_marks
    return ModelCheck("Ids", _first_difference(ids[0], plain["input_ids"][0], "token"), False), plain


def _without_outer_marks(engine: ChatModel, plain: Tensors) -> Tensors:
    """The same input without the marks around all frames of a clip, each of which has marks of its own."""
    start, end, video = engine.words.template.tokenizer.convert_tokens_to_ids(
        [qwen.START, qwen.END, qwen.VIDEO]
    )
    ids = plain["input_ids"][0].tolist()
    places = [
        place
        for place, token in enumerate(ids)
        if not (token == start and ids[place + 1 : place + 2] != [video])
        and not (token == end and ids[place - 1] == end)
    ]
    rows = {name for name, value in plain.items() if getattr(value, "shape", ()) == (1, len(ids))}
    return {name: value[:, places] if name in rows else value for name, value in plain.items()}


def _pixel_checks(engine_input: Tensors, plain: Tensors) -> list[ModelCheck]:
    checks = []
    for name, theirs in plain.items():
        ours = engine_input.get(name)
        if not (_holds_pixels(theirs) and isinstance(ours, torch.Tensor)):
            continue
        if ours.shape != theirs.shape:
            shapes = f"{list(ours.shape)} here, {list(theirs.shape)} there"
            checks.append(ModelCheck("Pixels", f"{name} has another shape: {shapes}", False))
            continue
        difference = float((ours.float() - theirs.float()).abs().max())
        is_same = difference <= PIXEL_TOLERANCE
        finding = f"{name} is the same" if is_same else f"{name} differs by up to {difference:.3g}"
        checks.append(ModelCheck("Pixels", finding, is_same))
    return checks


def _holds_pixels(value: Any) -> bool:
    """Whether an input is of frames or sound, and no single figures such as a clip's rate."""
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.ndim > 1


@contextmanager
def _first_positions(model: Any) -> Iterator[list[torch.Tensor]]:
    """The positions of a prompt's tokens, in a list of one once the model has begun to answer.

    The list stays empty for a model that works them out itself.
    """
    positions: list[torch.Tensor] = []
    calls = 0

    def note(_module: Any, _args: Any, options: dict[str, Any]) -> None:
        nonlocal calls
        calls += 1
        position_ids = options.get("position_ids")
        if calls == 1 and position_ids is not None:
            # Families with positions in three directions may have those of plain text in front.
            rows = position_ids[-3:] if position_ids.ndim == 3 else position_ids
            positions.append(rows.reshape(-1, rows.shape[-1]).cpu())

    hook = model.get_decoder().register_forward_pre_hook(note, with_kwargs=True)
    try:
        yield positions
    finally:
        hook.remove()


def _positions_check(ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> ModelCheck:
    if not ours or not theirs:
        return ModelCheck("Positions", "worked out by the model itself")
    if _same(ours[0], theirs[0]):
        return ModelCheck("Positions", f"the same, up to {int(ours[0].max())}", True)
    if ours[0].shape != theirs[0].shape:
        shapes = f"{list(ours[0].shape)} here, {list(theirs[0].shape)} there"
        return ModelCheck("Positions", f"another shape: {shapes}", False)
    row = next(number for number in range(len(ours[0])) if not _same(ours[0][number], theirs[0][number]))
    return ModelCheck(
        "Positions", _first_difference(ours[0][row], theirs[0][row], "position of token"), False
    )


def _ask(engine: ChatModel, requests: Sequence[Request]) -> list[Reply]:
    """The engine's replies. Raises WeightsError with the reason where the first one failed."""
    replies = engine.generate(requests)
    if replies[0].error is not None:
        raise WeightsError(
            f"{engine.identity.model} gave no answer: {replies[0].error}.",
            "If memory ran out, try local.quantise or a smaller model; else install what it names.",
        )
    return replies


def _plain_answer(engine: ChatModel, loaded: Loaded, plain: Tensors) -> str:
    """What ``generate`` alone answers, the likeliest token at each step.

    It ends where the model's own configuration or its template says, not where the engine ends.
    """
    from shotad.engines.local_answers import text_of

    template, accepted = engine.words.template, accepted_names(loaded.model)
    ends = loaded.model.generation_config.eos_token_id
    ends = list(ends) if isinstance(ends, list | tuple) else [ends]
    ends.append(template.tokenizer.get_added_vocab().get(template.turn_end))
    end_ids = [token for token in ends if token is not None]
    placed = {name: value for name, value in plain.items() if name in accepted}
    for name, value in placed.items():
        if isinstance(value, torch.Tensor):
            placed[name] = value.to(loaded.device, loaded.dtype if _holds_pixels(value) else None)
    pad = template.tokenizer.pad_token_id
    with torch.inference_mode():
        ids = loaded.model.generate(
            **placed,
            max_new_tokens=ANSWER_TOKENS,
            do_sample=False,
            eos_token_id=end_ids or None,
            pad_token_id=0 if pad is None else pad,
        )
    answer = ids[0, placed["input_ids"].shape[1] :].tolist()
    end = next((place for place, token in enumerate(answer) if token in end_ids), None)
    return text_of(template.tokenizer, answer[:end]).strip()


def _text_check(ours: str, theirs: str) -> ModelCheck:
    if ours == theirs:
        return ModelCheck("Text", f"the same: {_cut(ours)!r}", True)
    return ModelCheck("Text", f"{_cut(ours)!r} here, {_cut(theirs)!r} there", False)


def _measured(engine: ChatModel, loaded: Loaded, request: Request, most: int) -> list[ModelCheck]:
    """Seconds and memory of one answer, and how many go together."""
    forget_peak()
    for card in loaded.cards:
        torch.cuda.reset_peak_memory_stats(card)
    began = time.perf_counter()
    (reply,) = _ask(engine, [request])
    seconds = time.perf_counter() - began
    usage = reply.usage
    subject = "clip" if request.clip is not None else "prompt"
    speed = f"{seconds:.1f} s a {subject} ({usage.tokens_in} tokens in, {usage.tokens_out} out)"
    peaks = {str(card): torch.cuda.max_memory_allocated(card) for card in loaded.cards}
    memory = ", ".join(f"{size / 1e9:.1f} GB on {card}" for card, size in peaks.items())
    memory = memory or f"{peak_memory() / 1e9:.1f} GB of this process"
    if loaded.cards:
        replies = _ask(engine, [replace(request, slot_id=f"doctor{number}") for number in range(most)])
        batch = f"{max(1, len(replies[-1].batch))} of {most} {subject}s at once"
    else:
        from shotad.core.model_batches import TOKENS

        rows = min(most, max(1, TOKENS // (usage.tokens_in + ANSWER_TOKENS)))
        batch = f"up to {rows} {subject}s at once; not tried without a GPU"
    return [ModelCheck("Speed", speed), ModelCheck("Memory", memory), ModelCheck("Batch", batch)]


def _same(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    return ours.shape == theirs.shape and bool((ours == theirs).all())


def _first_difference(ours: torch.Tensor, theirs: torch.Tensor, subject: str) -> str:
    """Where two rows differ first, and by what."""
    rows = ours.tolist(), theirs.tolist()
    place = next(
        (place for place, (one, other) in enumerate(zip(*rows, strict=False)) if one != other),
        min(map(len, rows)),
    )
    values = [row[place] if place < len(row) else "none" for row in rows]
    lengths = f" ({len(rows[0])} and {len(rows[1])} in all)" if len(rows[0]) != len(rows[1]) else ""
    return f"{subject} {place + 1} is {values[0]} here, {values[1]} in plain transformers{lengths}"


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"
