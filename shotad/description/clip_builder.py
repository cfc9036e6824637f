"""The second part of a run: from slots to clips, with their frames, their film grammar and who is in them.

What is known of the grammar stands in ``grammar.json``, which grows clip by clip and serves later runs; it is
read once for a shot. Plans come one by one, so that Stage I can begin while others are made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from shotad.core import (
    Abilities,
    Config,
    ContextShot,
    Grammar,
    Interval,
    Progress,
    Shot,
    Slot,
    WorkFolder,
)
from shotad.core.config.film import FrameSettings
from shotad.core.errors import (
    ConfigError,
    WeightsError,
    WorkFolderError,
)
from shotad.core.progress import progress_task
from shotad.core.types import Role, Seconds
from shotad.core.weight_store import weights_file
from shotad.core.workfolder import hash_key
from shotad.description.casting.recognition import RecognisedMember, check_cast, recognise
from shotad.description.preparation import RunContext, film_shots
from shotad.description.slotplan import SlotPlan, shown_shots
from shotad.description.worksheet.records import shots_in
from shotad.film import (
    Prepared,
    context_shots,
    moments_of,
    plan_frames,
)
from shotad.film.sampling import ShotMoments, published_moments_of
from shotad.grammar import (
    ClipReader,
    GrammarModels,
    ShotSample,
    grammar_of,
    make_feature_maker,
    make_scale_reader,
    pair_rows,
    read_grammar_rows,
    sample_rows,
    scale_weights,
    threshold_of,
)

FALLBACK_RATE = Fraction(24)
"""Frames a second where a container gives none; the reader still delivers the frame of each moment."""

GRAMMAR_STEP = "grammar/2"
"""The step that measures threads and shot scales, and its version (see `hash_key`)."""

SAVE_EVERY = 16
"""Clips after which ``grammar.json`` is written, so that a killed run loses little."""


_NO_ABILITIES = Abilities()


@dataclass(frozen=True, slots=True)
class FrameClock:
    """When the film's frames are shown: at these ``stamps``, ascending, or ``1 / rate`` s apart."""

    stamps: Seconds | None
    rate: Fraction


def plan_clips(
    prepared: Prepared,
    context: RunContext,
    abilities: Abilities = _NO_ABILITIES,
    *,
    run: WorkFolder | None = None,
    models: GrammarModels | None = None,
) -> tuple[tuple[SlotPlan, ...], tuple[str, ...]]:
    """What to show and ask for each slot of the part to describe, and what could not be done.

    ``abilities`` are those of Stage I's engine; ``run`` as in `recognition.recognise`; ``models`` read the
    grammar (None: they are made for this film, and let go).
    """
    builder = ClipBuilder(context, abilities, models)
    outline = builder.outline(prepared, run)
    return tuple(builder.plans(outline)), outline.warnings


@dataclass(frozen=True, slots=True)
class ClipOutline:
    """All clips of the part to describe, in order: their frames are final, their grammar is still to come.

    ``plans`` are the slots'; ``shots`` their context by slot, shots of which no frame is shown among them.
    ``end`` is that of the film in seconds. ``recognised`` is who of the cast is in them, None without a cast;
    ``warnings`` are what a person should know.
    """

    plans: tuple[SlotPlan, ...]
    shots: Mapping[str, tuple[ContextShot, ...]]
    end: float
    recognised: tuple[RecognisedMember, ...] | None
    warnings: tuple[str, ...]


class ClipBuilder:
    """Plans the clips of one film: what is known of their grammar is looked up, the rest is read."""

    def __init__(
        self,
        context: RunContext,
        abilities: Abilities = _NO_ABILITIES,
        models: GrammarModels | None = None,
    ) -> None:
        self._context, self._abilities = context, abilities
        self._models = models or make_grammar_models(context.config, context.progress)
        # The features are in the names of the models; the threshold only judges what was measured.
        matching = context.config.threads.model_dump(mode="json", exclude={"features", "threshold"})
        self._key = hash_key(GRAMMAR_STEP, context.film_key, context.frames.key, matching, self._models.names)
        # Earlier runs may have measured these clips, or some of them.
        record = context.folder.record_under_key("grammar", self._key) or {"shots": [], "pairs": []}
        has_scales = self._models.scales is not None
        cache = read_grammar_rows(record["shots"], record["pairs"], has_scales=has_scales)
        self._reader = ClipReader(cache, self._models, context.config.threads, context.config.compute.batch)
        self._stamps: dict[float, Seconds | None] = {}
        self._has_noted_limit = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """What had to be left out of the grammar, in sentences for the user."""
        return self._models.warnings

    def _sketch(self, slot: Slot, context: tuple[ContextShot, ...], prepared: Prepared) -> SlotPlan:
        """The clip of one slot, without its grammar; ``context`` are the shots around it."""
        config, clock = self._context.config, self._clock(prepared.end)
        wanted_frames = math.ceil(slot.interval.duration * self._abilities.frames_per_second)
        inside = max(config.frames.inside, wanted_frames)
        settings = config.frames.model_copy(update={"inside": inside})
        settings = self._within_limit(settings)
        frames = plan_frames(slot.interval, context, settings, clock.rate, stamps=clock.stamps)
        # Speech is kept for the whole clip, context shots included: an engine may be told what is said.
        clip = Interval(min(c.clipped.start for c in context), max(c.clipped.end for c in context))
        spoken = tuple(
            replace(utterance, interval=part)
            for utterance in prepared.speech
            if (part := utterance.interval.clip(clip))
        )
        return SlotPlan(slot, shown_shots(context, frames), frames, Grammar(), spoken)

    def _within_limit(self, settings: FrameSettings) -> FrameSettings:
        """As many frames as the engine takes, inside and outside in the same proportion; reported once."""
        most = self._abilities.max_images
        # The published code takes as many outside as inside.
        outside = settings.inside if settings.sampling == "reference" else settings.outside
        total = settings.inside + outside
        if most is None or total <= most:
            return settings
        inside = max(
            1, most // 2 if settings.sampling == "reference" else round(most * settings.inside / total)
        )
        if not self._has_noted_limit:
            self._has_noted_limit = True
            self._context.progress.note(
                f"Stage I's engine takes {most} images: each clip is shown in {most} frames, not {total}."
            )
        return settings.model_copy(update={"inside": inside, "outside": most - inside})

    def outline(self, prepared: Prepared, run: WorkFolder | None = None) -> ClipOutline:
        """The clips of the slots that begin in the part to describe, with who is in them."""
        run_inputs, settings = self._context.run_inputs, self._context.config.context
        sketches: list[SlotPlan] = []
        shots: dict[str, tuple[ContextShot, ...]] = {}
        for slot in prepared.slots:
            start = slot.interval.start
            if run_inputs.start <= start and (run_inputs.end is None or start < run_inputs.end):
                shots[slot.id] = tuple(context_shots(slot.interval, prepared.shots, settings))
                sketches.append(self._sketch(slot, shots[slot.id], prepared))
        clips = [self._samples(shots[sketch.slot.id], sketch, prepared.end) for sketch in sketches]
        # All frames are known now: the decoder keeps them when it passes them on its way to others.
        self._context.frames.keep_along(self._moments_looked_at(sketches, clips, prepared))
        recognition = recognise(
            sketches, prepared, self._context, run, lately=not self._abilities.wants_overlay
        )
        return ClipOutline(
            plans=recognition.plans,
            shots=shots,
            end=prepared.end,
            recognised=recognition.members,
            warnings=(*self.warnings, *recognition.warnings),
        )

    def _moments_looked_at(
        self, sketches: Sequence[SlotPlan], clips: Sequence[Sequence[ShotSample]], prepared: Prepared
    ) -> set[float]:
        """The moments of which this run shows frames to its readers and engines and on its worksheet."""
        moments = set(self._reader.moments(clip for clip in clips if self._reader.lacks(clip)))
        for sketch in sketches:
            for frame_plan in sketch.frames_for(self._abilities):
                moments.update(frame_plan.seconds.tolist())
        for slot in prepared.slots:
            for shot in shots_in(slot.interval, prepared.shots):
                moments.update(shot.pictures)
        return moments

    def plans(self, outline: ClipOutline) -> Iterator[SlotPlan]:
        """The plan of each clip as soon as its grammar is known, in order; what was read is written down."""
        clips = [self._samples(outline.shots[plan.slot.id], plan, outline.end) for plan in outline.plans]
        for number in self._read(clips, "clips"):
            yield self._plan(outline.plans[number], clips[number])

    def read_all_shots(self, shots: Sequence[Shot], end: float) -> None:
        """Read the grammar of every shot, to second ``end``; pairs as near as in a slot's clip are scored."""
        context, clock = self._context.config.context, self._clock(end)
        samples = _samples_of([ContextShot(shot, Role.CURRENT, shot.interval) for shot in shots], clock)
        shots_in_clip = context.past + 1 + context.future
        windows = [samples[first : first + shots_in_clip] for first in range(len(samples))]
        for _ in self._read(windows, "shots"):
            pass

    def _read(self, clips: Sequence[Sequence[ShotSample]], unit: str) -> Iterator[int]:
        """The number of each clip as soon as its grammar is known, in order; the next is read meanwhile."""
        self._reader.cache.keep(clips)
        lacking = {number for number, clip in enumerate(clips) if self._reader.lacks(clip)}

        def read(number: int) -> int:
            if number in lacking:
                self._reader.read(clips[number], self._context.frames.pictures)
                task.advance()
                # Not after each clip: the whole record is written each time.
                if number % SAVE_EVERY == SAVE_EVERY - 1:
                    self._save(clips)
            return number

        grammar_task = progress_task(self._context.progress, "Reading film grammar", len(lacking), unit)
        try:
            with grammar_task as task, ThreadPoolExecutor(1, "reading grammar") as pool:
                next_clip = pool.submit(read, 0)
                for number in range(1, len(clips) + 1):
                    # The next clip is read while the caller works with this one.
                    this_clip, next_clip = next_clip, pool.submit(read, number)
                    yield this_clip.result()
        except BaseException:
            # Keep what was read before the stop. A full disk has raised its own error already.
            with suppress(OSError, WorkFolderError):
                self._save(clips)
            raise
        self._save(clips)

    def _samples(self, shots: Sequence[ContextShot], plan: SlotPlan, end: float) -> list[ShotSample]:
        """The samples of the shots of a clip; a shot shorter than the grid of frames has none."""
        of_whole_shots = self._context.config.threads.by_rules.span == "shot"
        return _samples_of(shots, self._clock(end), "" if of_whole_shots else plan.slot.id)

    def _plan(self, sketch: SlotPlan, clip: Sequence[ShotSample]) -> SlotPlan:
        numbers = {piece.shot.index: number for number, piece in enumerate(sketch.shots)}
        threshold = threshold_of(self._models, self._context.config.threads)
        grammar = grammar_of(self._reader.cache, clip, numbers, threshold)
        return replace(sketch, grammar=grammar)

    def _clock(self, end: float) -> FrameClock:
        """The film's frames up to ``end``; one more than there are changes nothing before it."""
        if end not in self._stamps:
            self._stamps[end] = self._context.frames.stamps(end)
        return FrameClock(self._stamps[end], self._context.film.info.frame_rate or FALLBACK_RATE)

    def _save(self, clips: Sequence[Sequence[ShotSample]]) -> None:
        # The content of ``grammar.json``: what is known of the clips that have been read to the end.
        cache, (features, scale_method) = self._reader.cache, self._models.names
        threshold = threshold_of(self._models, self._context.config.threads)
        samples: list[ShotSample] = []
        for clip in clips:
            if not self._reader.lacks(clip):
                samples += clip
        record = {
            "key": self._key,
            "features": features,
            "threshold": threshold,
            "scale_method": scale_method,
            "shots": sample_rows(cache, samples, threshold),
            "pairs": pair_rows(cache, samples),
        }
        self._context.folder.write_json("grammar.json", record)


def read_grammar(context: RunContext, shots: Sequence[Shot] | None = None) -> tuple[str, ...]:
    """Read the grammar of all shots into ``grammar.json``; returns what users should know."""
    prepare_grammar(context)
    builder = ClipBuilder(context)
    if shots is None:
        detected = film_shots(context)
        builder.read_all_shots(detected.shots, detected.end)
    else:
        builder.read_all_shots(shots, max((shot.end for shot in shots), default=0.0))
    return builder.warnings


def prepare_grammar(context: RunContext) -> None:
    """Refuse wrong settings and fetch the weights they need. Raises CastError, and as `check_readers`."""
    check_cast(context)
    check_readers(context.config, context.progress)


def check_readers(config: Config, progress: Progress) -> None:
    """`prepare_grammar` for what reads the film's grammar. Raises ConfigError, WeightsError, ShotadError."""
    if config.threads.match == "whole" and config.threads.threshold is None:
        raise ConfigError(
            "threads.match = whole has no usual threshold, and threads.threshold is not set.",
            "Set it; shotad evaluate threads --match whole finds the best for labels of yours.",
        )
    make_feature_maker(config.threads, config.compute, progress)
    try:
        for name in scale_weights(config.scale):
            weights_file(name, progress)
    except WeightsError:
        if not _may_leave_scales_out(config):
            raise


def _may_leave_scales_out(config: Config) -> bool:
    """Whether scales may be left out where they cannot be read: nobody asked for them by name."""
    return config.scale.method == "auto" and config.scale.checkpoint is None


def make_grammar_models(config: Config, progress: Progress) -> GrammarModels:
    """What reads threads and scales, these only if they can be read or must. Raises as `check_readers`."""
    scales = None
    warnings: tuple[str, ...] = ()
    try:
        scales = make_scale_reader(config.scale, config.compute, progress)
    except WeightsError as error:
        if not _may_leave_scales_out(config):
            raise
        warnings = (f"Shot scales were not read, so Stage I asks as for medium shots. {error}",)
    features = make_feature_maker(config.threads, config.compute, progress)
    return GrammarModels(features, scales, warnings)


def _samples_of(pieces: Sequence[ContextShot], clock: FrameClock, slot: str = "") -> list[ShotSample]:
    """The samples of whole shots, or with the id of a ``slot`` of what its clip shows of them; a shot shorter
    than the grid of frames has none."""
    samples = []
    for piece in pieces:
        moments: ShotMoments | None
        if slot:
            moments = published_moments_of(piece.clipped)
        else:
            # Frames of a dissolve show two shots, which would be joined by them.
            moments = moments_of(piece.shot.unmixed or piece.shot.interval, clock.rate, stamps=clock.stamps)
        if moments is not None:
            samples.append(ShotSample(piece.shot.index, moments, slot))
    return samples
