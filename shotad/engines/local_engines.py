"""Models of this machine as engines: any chat model of transformers, and any that sees.

By default they are those of Shot-by-Shot, Meta-Llama-3-8B-Instruct and Qwen2-VL-7B-Instruct. The published
system shows Qwen2-VL the clip as one video before the prompt's text, without a frame rate, leaves the system
prompt to the chat template and takes the likeliest word at each step (section 3.2 and its code).
Temperature, top-p and length come with each request, the seed is that of the slot.
"""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from shotad.core import (
    Abilities,
    Config,
    Identity,
    Message,
    NoProgress,
    Progress,
    Reply,
    Request,
)
from shotad.core.config.film import FrameSettings
from shotad.core.engine import Stage
from shotad.core.errors import EngineError
from shotad.core.model_cache import need_of
from shotad.core.model_loading import (
    SMALL_FILES,
    HubModel,
    damaged_model_errors,
    first_message_line,
    is_model_folder,
    read_settings,
    require_module,
    require_torch,
)
from shotad.engines import local_vision_qwen as qwen
from shotad.engines.local_model import (
    ModelPlace,
    check_fits,
    label_of,
    listed,
    place_on_disk,
    resolve,
    to_fetch,
)
from shotad.engines.local_words import (
    StillWords,
    Template,
    TextWords,
    UnfitPrompt,
    VideoWords,
    black_clip,
    make_processor,
)
from shotad.film import vlm_size

if TYPE_CHECKING:
    from shotad.core.model_cache import Loaded, ModelNeed

_INSTEAD = "A server can answer in its place: openai."
PROMPT_TOKENS = 200
"""Tokens that the shortest prompts of both stages have."""


class ChatModel:
    """A chat model of transformers, words only, by its own chat template. Threads may share it in turns.

    Making one is cheap and fetches nothing; `get_ready` fetches, and refuses what cannot work. The weights
    are read at the first question. With one request at a time the same requests give the same bytes on
    one machine; in a batch the last bits may differ, and with them a word, but never by chance.
    """

    name = "llama3"
    default = "llama3-8b"
    """The model that is taken where the settings name none."""
    kind: ClassVar[Literal["text", "image-text"]] = "text"

    def __init__(self, config: Config, stage: Stage) -> None:
        """The model that the settings of ``stage`` name. Raises WeightsError for a name that is none."""
        settings: Any = getattr(config, stage)
        self._config, self._stage = config, stage
        self._model: str = settings.model or self.default
        self._revision: str | None = settings.revision
        self._answer: int = settings.sampling.max_tokens
        self._lock, self._is_ready = threading.Lock(), False
        # What is read besides the weights, once the engine is ready
        self.place: ModelPlace
        self.words: Words
        self.shown: str
        place = place_on_disk(self._model, self._revision)
        revision = place.revision if place else self._revision or ""
        self.identity = Identity(self.name, place.label if place else label_of(self._model), revision)
        self.abilities = Abilities(accepts_images=self.kind != "text", batch=config.local.batch)

    @classmethod
    def for_stage(cls, config: Config, stage: Stage) -> Self:
        """The engine of one of the stages."""
        return cls(config, stage)

    def get_ready(self, progress: Progress) -> None:
        """Fetch the model if it is not here, and refuse what cannot work; reads no weights.

        Raises EngineError for a model that this machine cannot run, before it is fetched, or that takes too
        few tokens or no images where it is to look; ShotadError without torch or transformers, ConfigError
        for a wrong device, WeightsError for a model that cannot be had or read.
        """
        check_fits(self.to_fetch, self._config, _INSTEAD)
        self._prepare(progress)

    @property
    def to_fetch(self) -> tuple[HubModel, ...]:
        """The published model that `get_ready` fetches; none where it is here or its size is not known."""
        model = None if self._is_ready else to_fetch(self._model, self._revision)
        return () if model is None else (model,)

    def needs(self) -> tuple[ModelNeed, ...]:
        """What the model takes in memory: by its files, else by the published size; nothing where that is not
        known before it is fetched.

        Raises EngineError as `get_ready` for a model that is to be fetched and cannot run here, ShotadError
        without torch, ConfigError for a wrong device.
        """
        from shotad.engines import local_loading

        check_fits(self.to_fetch, self._config, _INSTEAD)
        compute, local = self._config.compute, self._config.local
        place = self.place if self._is_ready else place_on_disk(self._model, self._revision)
        if place is not None:
            plan = local_loading.loading_plan(place, self.kind, compute, local)
            return (need_of(plan, divides=local_loading.can_divide(plan)),)
        return tuple(local_loading.need_of_published(model, compute, local) for model in self.to_fetch)

    def ready_if_here(self) -> None:
        """As `get_ready` where the model is on this machine; else nothing happens."""
        if place_on_disk(self._model, self._revision) is not None:
            self._prepare(NoProgress())

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order; those with a clip go through a model that sees apart from
        those without. A prompt that cannot be put into words, or is too long, is a failed reply.
        """
        self._prepare(NoProgress())
        from shotad.engines.local_answers import answers

        lengths: dict[int, int] = {}
        replies: dict[int, Reply] = {}
        for index, request in enumerate(requests):
            try:
                lengths[index] = self.words.length(request)
            except (UnfitPrompt, ValueError) as error:
                replies[index] = Reply("", "error", error=str(error))
        sees = [self.abilities.accepts_images and request.clip is not None for request in requests]
        with self.lent_model() as loaded:
            # Its ``generate`` refuses all others.
            accepted = accepted_names(loaded.model)

            def collate(chosen: Sequence[Request], places: Sequence[int]) -> dict[str, Any]:
                model_input = self.words.inputs([chosen[place] for place in places])
                return {name: value for name, value in model_input.items() if name in accepted}

            for with_clip in (True, False):
                places = [index for index in lengths if sees[index] is with_clip]
                chosen_requests = [requests[index] for index in places]
                prompt_lengths = [lengths[index] for index in places]
                collate_chosen = partial(collate, chosen_requests)
                new_replies = answers(
                    loaded,
                    self.words.template.tokenizer,
                    chosen_requests,
                    prompt_lengths,
                    collate_chosen,
                    most=self._config.local.batch,
                    turn_end=self.words.template.turn_end,
                )
                replies.update(zip(places, new_replies, strict=True))
        return [
            replace(replies[index], shown=self.shown) if with_clip else replies[index]
            for index, with_clip in enumerate(sees)
        ]

    @contextmanager
    def lent_model(self) -> Iterator[Loaded]:
        """The loaded model for the time of a block, see `ModelCache.lent`; the engine is ready."""
        from shotad.engines import local_loading

        with local_loading.lent(self.place, self.kind, self._config.compute, self._config.local) as loaded:
            yield loaded

    def _prepare(self, progress: Progress) -> None:
        """Read what is needed besides the weights, once; sets the final ``identity``."""
        with self._lock:
            if self._is_ready:
                return
            require_torch(f"The engine {self.name}")
            require_module("transformers", f"The engine {self.name}")
            from shotad.engines import local_loading

            settings = self._config
            # What the machine lacks and what is wrong with the model is told before many GB are fetched.
            local_loading.check_machine(settings.compute, settings.local)
            local_loading.check_libraries()
            place = resolve(self._model, self._revision, progress, files=SMALL_FILES)
            if (to_fetch_now := listed(place)) is not None:
                check_fits([to_fetch_now], settings, _INSTEAD)
            local_loading.loading_plan(place, self.kind, settings.compute, settings.local)
            config, tokenizer = local_loading.config_of(place), local_loading.tokenizer_of(place)
            local_loading.import_class(place, self.kind)
            words: Words = TextWords(Template(tokenizer, None, place.label, words_only=True))
            if self.kind != "text":
                words = make_words(place, config, tokenizer, settings.frames, times=settings.prompt.times)
            context, clip = local_loading.context_of(config), self._clip_tokens(words)
            if context is not None and context < clip + self._answer + PROMPT_TOKENS:
                takes = f"a clip takes about {clip} and " if clip else ""
                hint = "Lower frames.inside and frames.outside, or n" if clip else "Lower that number, or n"
                raise EngineError(
                    f"{place.label} takes {context} tokens; "
                    f"{takes}{self._stage}.sampling.max_tokens is {self._answer}.",
                    f"{hint}ame a model that takes more.",
                    again=False,
                )
            if place.gguf is None and not is_model_folder(place.folder):
                # Of the same version as the small files
                place = resolve(self._model, place.folder.name, progress)
            plan = local_loading.loading_plan(place, self.kind, settings.compute, settings.local)
            timed = "timed stills" if isinstance(words, StillWords) and words.timed else ""
            shown = "video" if isinstance(words, VideoWords) else timed
            revision = " ".join(filter(None, [place.revision, shown, plan.precision]))
            self.identity = Identity(self.name, place.label, revision)
            self.abilities = replace(
                self.abilities, hears=isinstance(words, qwen.QwenWords) and bool(words.ears)
            )
            self.place, self.words = place, words
            self.shown = shown or ("video" if isinstance(words, qwen.QwenWords) else "stills")
            self._is_ready = True

    def _clip_tokens(self, words: Words) -> int:
        """Of a clip of a wide film, reckoned from two frames; 0 where none is shown."""
        if self._stage != "stage1" or isinstance(words, TextWords):
            return 0
        settings = self._config.frames
        two = words.image_tokens(*vlm_size(1920, 1080, settings), 2)
        return two * (settings.inside + settings.outside) // 2


class VisionModel(ChatModel):
    """An image-text model that answers questions about clips, and questions without one.

    Models of Qwen's family (2-VL, 2.5-VL, 3-VL, 3.5) see a clip as one video, as they were trained and as
    the paper shows it, others as stills in a row. With ``prompt.rules: ours`` these are told the frames'
    times, and those with a video processor see one video where torchvision is here.
    """

    name = "qwen2-vl"
    default = "qwen2-vl-7b"
    kind = "image-text"

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """Tokens of a clip of ``frames`` frames of this size: 2880 for Qwen2-VL with 32 of 504 x 280.

        For an estimate nothing is fetched: before `get_ready` the rules are those of Qwen2-VL.
        """
        if self._is_ready and isinstance(self.words, qwen.QwenWords | StillWords):
            return self.words.image_tokens(width, height, frames)
        rules = qwen.PatchRules.of({}, frames=self._config.frames)
        return qwen.tokens_in(qwen.grid_of(*rules.size(width, height), frames, rules), rules)


def accepted_names(model: Any) -> set[str]:
    """The names of what a model of transformers takes as input."""
    takes = (model.prepare_inputs_for_generation, model.forward)
    return {name for method in takes for name in inspect.signature(method).parameters}


Words = TextWords | qwen.QwenWords | StillWords
"""What makes a model's input out of requests."""


def make_words(
    place: ModelPlace, config: Any, tokenizer: Any, frames: FrameSettings, *, times: bool = False
) -> qwen.QwenWords | StillWords:
    """What makes the input of the model in ``place``. ``times``: models other than Qwen's, too, are told when
    each frame stands, and get a video where their processor can make one here.

    Raises EngineError for a model that takes no images, or whose processor cannot be made here.
    """
    if (
        type(config)
        not in require_module("transformers", "A local model").MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
    ):
        raise EngineError(
            f"{place.label} ({config.model_type}) is no model that takes images and answers in words.",
            "Choose one that does, such as qwen2-vl-7b.",
            again=False,
        )
    text = _template(place.folder)
    if config.model_type in qwen.FAMILY:
        words: qwen.QwenWords | StillWords = _qwen(place, config, tokenizer, text, frames)
    else:
        processor = make_processor(place.folder, config, tokenizer, text, place.label, videos=times)
        marks = [getattr(processor, name, None) for name in ("image_token", "video_token")]
        template = Template(tokenizer, text, place.label, [mark for mark in marks if mark])
        if getattr(processor, "video_processor", None) is not None:
            video = VideoWords(template, processor)
            # Templates older than a family's videos have no place for one.
            with contextlib.suppress(UnfitPrompt):
                _try(video, place.label)
                return video
        words = StillWords(template, processor, timed=times)
    try:
        _try(words, place.label)
    except UnfitPrompt as error:
        raise EngineError(
            f"{place.label} cannot be asked about a clip: {error}.", "Choose another model.", again=False
        ) from None
    return words


def _try(words: qwen.QwenWords | StillWords, label: str) -> None:
    """See that frames can be shown at all. Raises EngineError, and UnfitPrompt where the template cannot."""
    failures: tuple[type[Exception], ...] = (*damaged_model_errors(label), ImportError, NameError)
    try:
        words.prompt(Request("", (Message("user", "What is seen?", with_clip=True),), black_clip(56, 56, 2)))
        words.image_tokens(56, 56, 2)
    except failures as error:
        raise EngineError(
            f"The processor of {label} cannot be used here: {first_message_line(error)}.",
            "If it names a package, install that; else choose another model.",
            again=False,
        ) from None


def _qwen(
    place: ModelPlace, config: Any, tokenizer: Any, text: str | None, frames: FrameSettings
) -> qwen.QwenWords:
    hears = hasattr(config, "audio_config")
    marks = (qwen.OMNI_VIDEO, qwen.OMNI_IMAGE, qwen.SOUND) if hears else (qwen.VIDEO, qwen.IMAGE)
    template = Template(tokenizer, text, place.label, marks)
    missing = [mark for mark in marks if mark not in tokenizer.get_vocab()]
    if missing:
        raise EngineError(
            f"The tokenizer of {place.label} has no {' and no '.join(missing)}.",
            "Fetch or save it again, whole.",
            again=False,
        )
    transformers = require_module("transformers", "A local model")
    bins = config.audio_config.num_mel_bins if hears else 0
    ears = transformers.WhisperFeatureExtractor(feature_size=bins) if hears else None
    # The settings of the video processor; of the image processor where there are none
    whole = read_settings(place.folder / "processor_config.json")
    settings = (
        read_settings(place.folder / "video_preprocessor_config.json")
        or whole.get("video_processor")
        or read_settings(place.folder / "preprocessor_config.json")
        or whole.get("image_processor")
        or {}
    )
    try:
        rules = qwen.PatchRules.of(settings, getattr(config, "vision_config", None), frames)
    except (TypeError, ValueError) as error:
        raise EngineError(
            f"The frame settings of {place.label} cannot be used: {error}.",
            "Fetch or save it again, whole.",
            again=False,
        ) from None
    # Qwen2.5-VL and Qwen2.5-Omni name the same figure in two ways; the others have none.
    per_second = getattr(config.vision_config, "tokens_per_second", 1.0)
    pad = tokenizer.pad_token_id
    return qwen.QwenWords(
        template,
        qwen.FAMILY[config.model_type],
        rules,
        pad=0 if pad is None else pad,
        positions_per_second=getattr(config, "position_id_per_seconds", per_second),
        ears=ears,
    )


def _template(folder: Path) -> str | None:
    """The processor's own chat template; None leaves it to the tokenizer's."""
    for file in ("chat_template.jinja", "chat_template.json", "processor_config.json"):
        path = folder / file
        if path.suffix == ".jinja" and path.is_file():
            return path.read_text(encoding="utf-8")
        template = read_settings(path).get("chat_template")
        if isinstance(template, str):
            return template
    return None
