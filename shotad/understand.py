"""The second act: from slots to clips, with their frames, their film grammar and who is in them.

What is known of the grammar stands in ``grammar.json``, which grows clip by clip and is taken up again
by a later run; it is read once for a shot, however many clips show it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from shotad.casting.recognise import check_cast, recognise
from shotad.config import Config
from shotad.describe.slotplan import SlotPlan, shown_shots
from shotad.errors import ConfigError, WeightsError
from shotad.grammar.book import Book, Look, book_of, grammar_of, look_rows, pair_rows
from shotad.grammar.features import make_feature_maker
from shotad.grammar.reading import Readers, lacks, read_clips, threshold_of
from shotad.grammar.scale import make_scale_reader, scale_weights
from shotad.plan.context import context_shots
from shotad.plan.moments import ShotMoments, moments_of, published_moments_of
from shotad.plan.sampling import plan_frames
from shotad.prepare import Bench, Given, Prepared, prepare
from shotad.progress import Progress, reported
from shotad.types import ContextShot, Grammar, Interval, Seconds, Slot
from shotad.weights import weights_file
from shotad.workfolder import WorkFolder, key_of

FALLBACK_RATE = Fraction(24)
"""Frames a second where a container tells none; the reader still delivers the frame of each moment."""

SAVE_EVERY = 16
"""Clips after which ``grammar.json`` is written, so that a killed run loses little."""


@dataclass(frozen=True, slots=True)
class Understood:
    """What the second act found: a plan for each slot, and what it could not do."""

    plans: tuple[SlotPlan, ...]
    warnings: tuple[str, ...] = ()
    recognised: tuple[tuple[str, int], ...] | None = None
    """Who of the cast was recognised, and in how many shots; None without a cast."""


@dataclass(frozen=True, slots=True)
class _Sketch:
    """A slot's clip before its grammar is known."""

    plan: SlotPlan
    context: tuple[ContextShot, ...]


@dataclass(frozen=True, slots=True)
class GrammarReaders:
    """Who reads the film's grammar, and what had to be left out; of use for any number of films.

    Models that they have loaded stay loaded as long as they are held.
    """

    readers: Readers
    warnings: tuple[str, ...] = ()


def understand(
    prepared: Prepared,
    bench: Bench,
    density: float = 0.0,
    *,
    run: WorkFolder | None = None,
    readers: GrammarReaders | None = None,
) -> Understood:
    """What is to be shown and asked for each slot of the part that is to be described.

    ``density`` is the number of frames a second of the slot that the engine wants at least; ``run`` as in
    `shotad.casting.recognise.recognise`. ``readers`` None: they are made for this film, and let go.
    """
    stamps, rate = bench.frames.stamps(prepared.end), prepared.info.frame_rate or FALLBACK_RATE
    sketches = [
        _sketch(slot, prepared, bench.config, density, (stamps, rate))
        for slot in wanted(prepared.slots, bench.given)
    ]
    given = readers or make_readers(bench.config, bench.progress)
    understood = _with_grammar(sketches, bench, (stamps, rate), given)
    known = recognise(understood.plans, prepared, bench, run)
    return Understood(known.plans, (*understood.warnings, *known.warnings), known.shots)


def wanted(slots: Sequence[Slot], given: Given) -> list[Slot]:
    """The slots that begin between ``given.start`` and ``given.end``; they are those of a full run."""
    end = float("inf") if given.end is None else given.end
    return [slot for slot in slots if given.start <= slot.interval.start < end]


Clock = tuple[Seconds | None, Fraction]
"""Where frames stand: on these stamps, or this far apart."""


def _sketch(slot: Slot, prepared: Prepared, config: Config, density: float, clock: Clock) -> _Sketch:
    inside = max(config.frames.inside, math.ceil(slot.interval.duration * density))
    context = context_shots(slot.interval, prepared.shots, config.context)
    settings = config.frames.model_copy(update={"inside": inside})
    frames = plan_frames(slot.interval, context, settings, clock[1], stamps=clock[0])
    clip = Interval(min(c.clipped.start for c in context), max(c.clipped.end for c in context))
    spoken = tuple(part for u in prepared.speech if (part := u.interval.clip(clip)))
    return _Sketch(SlotPlan(slot, shown_shots(context, frames), frames, Grammar(), spoken), tuple(context))


def _with_grammar(
    sketches: Sequence[_Sketch], bench: Bench, clock: Clock, given: GrammarReaders
) -> Understood:
    config, readers = bench.config, given.readers
    clips = [_looks(sketch, config, clock) for sketch in sketches]
    book = _read(clips, readers, bench)
    plans = []
    for sketch, clip in zip(sketches, clips, strict=True):
        numbers = {piece.shot.index: n for n, piece in enumerate(sketch.plan.shots)}
        grammar = grammar_of(book, clip, numbers, threshold_of(readers, config.threads), config.scale.value)
        plans.append(replace(sketch.plan, grammar=grammar))
    return Understood(tuple(plans), given.warnings)


def study(bench: Bench) -> Understood:
    """Both first acts, for those who want no lines: what the film's shots, slots and grammar are."""
    get_ready(bench)
    return understand(prepare(bench), bench)


def get_ready(bench: Bench) -> None:
    """Refuse settings that cannot be meant and fetch what is wanted, before any work goes into the film.

    Raises CastError, and what `check_readers` raises.
    """
    check_cast(bench)
    check_readers(bench.config, bench.progress)


def check_readers(config: Config, progress: Progress) -> None:
    """`get_ready` for what reads the film's grammar: nothing is read from the weights.

    Raises ConfigError, WeightsError, and ShotadError where an extra is not installed.
    """
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
        if not _ours_to_choose(config):
            raise


def _ours_to_choose(config: Config) -> bool:
    """Whether scales may be left out where they cannot be read: nobody asked for them by name."""
    return config.scale.method == "auto" and config.scale.checkpoint is None


def make_readers(config: Config, progress: Progress) -> GrammarReaders:
    """Who reads threads and scales. Where the choice is ours, scales that cannot be read are left out.

    Raises what `check_readers` raises.
    """
    scales = None
    warnings: tuple[str, ...] = ()
    try:
        scales = make_scale_reader(config.scale, config.compute, config.observer, progress)
    except WeightsError as error:
        if not _ours_to_choose(config):
            raise
        warnings = (f"Shot scales were not read, so Stage I asks as for medium shots. {error}",)
    maker = make_feature_maker(config.threads, config.compute, progress)
    return GrammarReaders(Readers(maker, scales), warnings)


def _looks(sketch: _Sketch, config: Config, clock: Clock) -> list[Look]:
    """The looks at the shots of a clip; a shot shorter than the grid of frames has none."""
    looks = []
    for piece in sketch.context:
        whole = config.threads.span == "shot"
        moments = _moments(piece, whole=whole, clock=clock)
        if moments is not None:
            looks.append(Look(piece.shot.index, moments, "" if whole else sketch.plan.slot.id))
    return looks


def _moments(piece: ContextShot, *, whole: bool, clock: Clock) -> ShotMoments | None:
    stamps, rate = clock
    if whole:
        return moments_of(piece.shot.interval, rate, stamps=stamps)
    return published_moments_of(piece.clipped)


def _read(clips: Sequence[Sequence[Look]], readers: Readers, bench: Bench) -> Book:
    """What is known of ``clips``, from ``grammar.json`` and from the film; all of it written down."""
    settings, batch = bench.config.threads, bench.config.compute.batch
    matching = settings.model_dump(exclude={"features", "revision", "threshold", "span"})
    flat = threshold_of(readers, settings) if settings.mend_flat else None
    key = key_of("grammar/1", bench.film_key, bench.frames.key, matching, flat, _names(readers))
    known = bench.folder.known("grammar", key) or {"shots": [], "pairs": []}
    book = book_of(known["shots"], known["pairs"], guessed=readers.scales is not None)
    book.keep(clips)

    def save() -> None:
        bench.folder.write_json("grammar.json", {"key": key, **_record(clips, book, readers, bench.config)})

    lacking = [clip for clip in clips if lacks(clip, book, readers)]
    with reported(bench.progress, "Reading film grammar", len(lacking), "clips") as task:
        reading = read_clips(lacking, book, bench.frames.pictures, readers, settings, batch)
        for count, _ in enumerate(reading, 1):
            task.advance()
            if count % SAVE_EVERY == 0:
                save()
    save()
    return book


def _names(readers: Readers) -> list[str | None]:
    return [reader.identity if reader else None for reader in (readers.features, readers.scales)]


def _record(clips: Sequence[Sequence[Look]], book: Book, readers: Readers, config: Config) -> dict[str, Any]:
    """The content of ``grammar.json``: what is known of the clips that have been read to the end."""
    features, scale_method = _names(readers)
    threshold = threshold_of(readers, config.threads)
    looks = [look for clip in clips if not lacks(clip, book, readers) for look in clip]
    return {
        "features": features,
        "threshold": threshold,
        "scale_method": scale_method,
        "shots": look_rows(book, looks, threshold),
        "pairs": pair_rows(book, looks),
    }
