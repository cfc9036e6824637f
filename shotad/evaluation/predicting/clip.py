"""Predicts the lines of one clip of a dataset: its ADs' slots and its shots go through the pipeline.

Each line is stored with hashes of everything that it depends on: where they are the same, the next run does
not make the line again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from shotad.core import (
    Config,
    Grammar,
    Interval,
    Progress,
    RunInputs,
    WorkFolder,
)
from shotad.core.engine import Stage
from shotad.core.errors import quoted
from shotad.core.progress import plural
from shotad.core.records import seconds
from shotad.core.runsettings import GivenCast
from shotad.core.workfolder import hash_key
from shotad.description import (
    Engines,
    RunContext,
    WrittenSlots,
    check_cast,
    prepare,
    write_slots,
    write_track,
)
from shotad.description.clip_builder import ClipBuilder
from shotad.description.engine_pair import EngineUsage, StageUsed
from shotad.description.pipeline import LINE_STEPS
from shotad.description.prompts import STAGE_PROMPTS, load_examples
from shotad.description.slotplan import SlotPlan
from shotad.description.templates import prompt_hash
from shotad.engines import AskingPool
from shotad.engines.answer_log import identity_record
from shotad.evaluation.datasets.dataset import Ad, Dataset
from shotad.evaluation.datasets.dataset_loader import touching
from shotad.evaluation.datasets.published_grammar import AdGrammar
from shotad.film import Film, Prepared, word_budget
from shotad.grammar import GrammarModels
from shotad.script import CueStatus
from shotad.script.reasons import reason_in

Shots = Literal["published", "one", "found", ""]
"""Origin of the shots: the dataset's list (``published``); an empty list of it, so the clip is one shot
(``one``); the detector (``found``)."""


ClipAds = tuple[Ad, ...]
"""The ADs of one video to describe, in the dataset's order: at least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedLine:
    """The prediction for the AD ``id``; raises ValueError unless it has either a text or a failure.

    ``start`` and ``end`` are its slot, in seconds of the clip. ``text`` None: it failed, ``failure`` says
    why, and ``again`` whether another run may do better; a system that chose to say nothing has the empty
    text. ``status`` and ``reason`` are the cue's; ``words`` is the number of words that were allowed.
    ``scale`` is the effective shot scale, ``threaded`` whether Stage I was told of a thread, ``description``
    its text. ``differs`` says what is not as in the paper (`differences_from_paper`): it stands in each line,
    so that it stays with them when files are joined. ``terms`` and ``key`` are hashes: of what is the same
    for all lines of a run (`terms_of`), and of all that changes this line (`line_key`).
    """

    id: str
    film: str
    clip: str
    start: float
    end: float
    text: str | None
    failure: str = ""
    status: str
    reason: str = ""
    words: int | None = None
    candidates: tuple[str, ...] = ()
    description: str | None = None
    scale: float | None = None
    threaded: bool | None = None
    shots: Shots = ""
    engines: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    again: bool = False
    differs: tuple[str, ...] = ()
    terms: str
    key: str

    def __post_init__(self) -> None:
        if (self.text is None) != bool(self.failure):
            raise ValueError(f"line {quoted(self.id)} must have a text or a failure, and not both")

    def to_json(self) -> dict[str, Any]:
        """The line's fields as JSON, in their order; without its key, which `RecordLog` adds."""
        record = {name: getattr(self, name) for name in _FIELDS}
        return record | {"candidates": list(self.candidates), "differs": list(self.differs)}


_FIELDS = tuple(field.name for field in fields(PredictedLine) if field.name != "key")


def line_of(record: Any) -> PredictedLine | None:
    """The line that `PredictedLine.to_json` wrote, with its key; None for any other record."""
    try:
        values = {name: record[name] for name in (*_FIELDS, "key")}
        values |= {"candidates": tuple(values["candidates"]), "differs": tuple(values["differs"])}
        return PredictedLine(**values)
    except (KeyError, TypeError, ValueError):
        return None


IRRELEVANT_SETTINGS: dict[str, Any] = {
    "measures": True,
    "engine": True,
    **dict.fromkeys(("voice", "fit", "mix", "container", "extended", "lint", "translate"), True),
    "compute": dict.fromkeys(("device", "batch"), True),
    # Its lines are part of the terms, wherever the file stands.
    "prompt": {"example_file": True},
    "local": {"batch": True},
    "openai": dict.fromkeys(
        ("base_url", "model", "key_name", "in_flight", "timeout", "retries", "longest_pause", "price_in",
         "price_out"), True
    ),
    "stage1": dict.fromkeys(("engine", "model", "revision", "base_url", "attempts"), True),
    "stage2": dict.fromkeys(("engine", "model", "revision", "base_url"), True),
}  # fmt: skip
"""Settings that change no line, and those that choose the engines: `terms_of` has the engines' identities
instead, since one engine may be chosen by several names."""


def terms_of(config: Config, engines: Engines) -> str:
    """Hash of what is the same for all lines of a run: settings, prompts and engines.

    The engines must be ready, so that their identities are final. Raises ConfigError for a file that cannot
    be read.
    """
    settings = config.model_dump(mode="json", exclude=IRRELEVANT_SETTINGS)
    identities = [identity_record(engine.identity) for engine in (engines.stage1, engines.stage2)]
    prompts = prompt_hash(STAGE_PROMPTS)
    return hash_key("predict/2", LINE_STEPS, settings, identities, prompts, load_examples(config.prompt))


def line_key(
    terms: str,
    ad: Ad,
    fingerprint: str,
    *,
    shots: Sequence[Interval] | None,
    grammar: Any = None,
    cast: Any = None,
    beside: Sequence[Ad] = (),
) -> str:
    """Hash of all that changes the line of ``ad``.

    ``fingerprint`` is the video's; ``shots`` are the dataset's (None: they are detected), as is the AD's
    ``grammar`` (None: it is read from the frames); ``cast`` is a hash of the cast; ``beside`` are the ADs of
    the clip that are described together with this one, where its line depends on them.
    """
    shot_times = None if shots is None else [[shot.start, shot.end] for shot in shots]
    times = [ad.slot.start, ad.slot.end, ad.interval.duration]
    others = []
    for other in beside:
        others.append([other.id, other.slot.start, other.slot.end, other.interval.duration])
    return hash_key(terms, ad.id, ad.clip, fingerprint, times, shot_times, grammar, cast, others)


LISTED = 10
"""Failures that `prediction_text` lists, one for each clip and reason."""


@dataclass(slots=True)
class Predicted:
    """Result of a run: the requested lines in the dataset's order, the number of their clips, the ids of the
    lines that are new in this run, the calls and tokens of each stage, and what is not as in the paper."""

    lines: tuple[PredictedLine, ...] = ()
    clips: int = 0
    new_ids: set[str] = field(default_factory=set)
    stages: Mapping[Stage, StageUsed] = field(default_factory=dict)
    differs: tuple[str, ...] = ()

    @property
    def failed(self) -> int:
        """Number of lines without a text."""
        return sum(line.text is None for line in self.lines)

    @property
    def kept(self) -> int:
        """Number of lines from earlier runs."""
        return sum(line.text is not None and line.id not in self.new_ids for line in self.lines)

    def failures(self) -> list[tuple[str, str, int]]:
        """Clip, reason and number of the failed lines, in the dataset's order."""
        counts = Counter((line.clip, line.failure) for line in self.lines if line.text is None)
        return [(clip, reason, count) for (clip, reason), count in counts.items()]


def prediction_text(done: Predicted, out: str) -> str:
    """The result as lines of text; ``out`` is the file of the predictions."""
    statuses = Counter(line.status for line in done.lines)
    spoken = statuses.get("placed", 0) + statuses.get("shortened", 0)
    lines = [f"{spoken:,} of {len(done.lines):,} ADs in {plural(done.clips, 'clip')} have a line."]
    if done.kept:
        lines.append(f"From earlier runs: {done.kept:,}.")
    for status, label in _STATUS_LABELS.items():
        if statuses.get(status):
            lines.append(f"{label}: {statuses[status]:,}.")
    failures = done.failures()
    lines += [f"  {clip} ({count}): {reason}" for clip, reason, count in failures[:LISTED]]
    if len(failures) > LISTED:
        lines.append("  … the others stand in the file.")
    if done.stages:
        lines += EngineUsage(done.stages).lines()
    return "\n".join([*lines, f"Predictions: {out}"])


_STATUS_LABELS = {
    "silent": "Left silent by the engine",
    "dropped": "Dropped, too long for their slot",
    "failed": "Failed, and count as 0",
}


def prediction_as_json(done: Predicted, out: str) -> dict[str, Any]:
    """The result as JSON; ``out`` is the file of the predictions."""
    failures = [{"clip": clip, "reason": reason, "ads": count} for clip, reason, count in done.failures()]
    return {
        "out": out,
        "ads": len(done.lines),
        "clips": done.clips,
        "kept": done.kept,
        "made": len(done.new_ids),
        "failed": done.failed,
        "statuses": dict(sorted(Counter(line.status for line in done.lines).items())),
        "failures": failures,
        "differs_from_paper": list(done.differs),
        "used": EngineUsage(done.stages).as_json() if done.stages else None,
    }


LONGEST_FRAME = 1.0
"""Seconds by which the picture of an undamaged file may end before its duration: the last frame is long, or
the sound goes on."""

_SMALL_FRAME = 1 << 12
"""Pixels of a frame that is decoded for its time alone."""


@dataclass(frozen=True, slots=True)
class RunTools:
    """What a run describes all its clips with.

    ``grammar_models`` makes what reads film grammar for the first clip, and returns the same for all.
    ``preparing`` lets few clips at once be decoded and measured.
    """

    config: Config
    engines: Engines
    pool: AskingPool
    grammar_models: Callable[[], GrammarModels]
    preparing: AbstractContextManager[None]


def describe_clip(
    request: ClipRequest,
    film: Film,
    folder: WorkFolder,
    tools: RunTools,
    progress: Progress,
    *,
    scripts: bool = False,
) -> tuple[tuple[PredictedLine, ...], tuple[str, ...]]:
    """The line of each AD of a clip, in their order, and warnings.

    ``scripts``: the track is written into ``folder`` too. Raises ShotadError, and RunStopped where the run
    has been stopped.
    """
    lines_by_id: dict[str, PredictedLine] = {}
    with tools.preparing:
        end, duration = _picture_end(film), film.info.duration
    cut_off = ""
    if end != duration:
        cut_off = f"The picture ends at {end:.1f} s of {duration:.1f} s: the file is cut off or damaged."
    warnings: list[str] = []
    ads = request.within(end)
    if ads:
        inputs = request.given(folder, ads)
        with RunContext.of(film, folder, tools.config, inputs, progress) as context:
            with tools.preparing:
                check_cast(context)
                prepared = _with_human_budgets(prepare(context), ads, tools.config)
                builder = ClipBuilder(context, tools.engines.stage1.abilities, tools.grammar_models())
                outline = builder.outline(prepared)
            plans = _limited(builder.plans(outline), tools.preparing)
            if request.grammar is not None:
                plans = (replace(plan, grammar=request.grammar_of(plan, tools.config)) for plan in plans)
            number = len(outline.plans)
            written = write_slots(plans, number, prepared, context, tools.engines, films=tools.pool)
            if scripts:
                makers = tools.engines.makers
                write_track(written.cues, prepared, context, makers, discard_edits=True)
        lines_by_id = _lines_of_slots(request, prepared, written)
        if cut_off:
            warnings.append(cut_off)
        warnings += [*prepared.warnings, *outline.warnings]
    lines = []
    for ad in request.ads:
        line = lines_by_id.get(ad.id)
        if line is None:
            # Nothing of its slot lies within the picture, so the pipeline was not given it.
            outside = f"its slot {request.slot(ad)} lies outside the video, which ends at {end:.3f} s"
            line = request.line(ad, None, "failed", failure=cut_off or outside)
        lines.append(line)
    return tuple(lines), tuple(warnings)


def _with_human_budgets(prepared: Prepared, ads: Sequence[Ad], config: Config) -> Prepared:
    """The slots with the number of words that Algorithm 2 of Shot-by-Shot allows: by the length of the human
    AD, not of the slot."""
    words = {ad.id: word_budget(ad.interval.duration, config.slots) for ad in ads}
    slots = tuple(replace(slot, max_words=words[slot.label]) for slot in prepared.slots)
    return replace(prepared, slots=slots)


def _limited(plans: Iterator[SlotPlan], preparing: AbstractContextManager[None]) -> Iterator[SlotPlan]:
    """The same plans; each is made when no more clips than allowed are decoded and measured."""
    try:
        while True:
            with preparing:
                plan = next(plans, None)
            if plan is None:
                return
            yield plan
    finally:
        if isinstance(plans, Generator):
            plans.close()


def _picture_end(film: Film) -> float:
    """The second at which a video's picture ends; 0 where it is not known. Raises FilmError.

    In a file that is cut off, the reader repeats the last frame up to the duration in the header: no line may
    be made from that.
    """
    duration = film.info.duration
    if duration <= 0:
        return duration
    last_frame = next(film.pictures([duration], max_pixels=_SMALL_FRAME))
    return last_frame.seconds if duration - last_frame.seconds > LONGEST_FRAME else duration


def _lines_of_slots(
    request: ClipRequest, prepared: Prepared, written: WrittenSlots
) -> dict[str, PredictedLine]:
    """The line of each slot, by the AD's id, which is the slot's label."""
    ads = {ad.id: ad for ad in request.ads}
    slots = {slot.id: slot for slot in prepared.slots}
    lines = {}
    for described, cue in zip(written.slots, written.cues, strict=True):
        stage1, stage2 = described.stage1, described.stage2
        slot = slots[stage1.slot_id]
        engines = {"stage1": identity_record(stage1.maker)}
        if stage2 is not None:
            engines["stage2"] = identity_record(stage2.maker)
        details = {
            "words": slot.max_words,
            "candidates": cue.candidates,
            "description": None if stage1.error is not None else stage1.description.text,
            "scale": stage1.effective_scale,
            "threaded": bool(stage1.threads),
            "engines": engines,
        }
        ad = ads[slot.label]
        if cue.status is CueStatus.FAILED:
            # Another run may do better only where an engine failed to answer.
            again = stage1.error is not None or stage2 is None or stage2.error is not None
            line = request.line(
                ad, None, "failed", failure=reason_in(cue.reason, "en"), again=again, **details
            )
        else:
            text = cue.text if cue.heard else ""
            line = request.line(ad, text, cue.status.value, reason=reason_in(cue.reason, "en"), **details)
        lines[slot.label] = line
    return lines


SHORTEST = 0.001
"""Seconds of a slot within the video below which it is not described: a line lasts at least 1 ms."""


@dataclass(frozen=True, slots=True)
class ClipRequest:
    """The ADs of a clip whose video is open, with what the pipeline is given for them.

    ``shots`` None: they are detected. ``terms`` and ``keys`` (by the AD's id) are the hashes of the lines.
    The video begins at second ``begins`` of the clip. ``grammar`` has the published scales and threads by the
    AD's id (None: they are read from the frames), and ``differs`` what is not as in the paper.
    """

    ads: ClipAds
    shots: tuple[Interval, ...] | None
    origin: Shots
    cast: GivenCast | None
    terms: str
    keys: Mapping[str, str]
    begins: float = 0.0
    grammar: Mapping[str, AdGrammar] | None = None
    differs: tuple[str, ...] = ()

    def grammar_of(self, plan: SlotPlan, config: Config) -> Grammar:
        """The published grammar of the shots that a clip shows, as far as the settings want it; empty for an
        AD of which none is published."""
        ad_grammar = (self.grammar or {}).get(plan.slot.label)
        if ad_grammar is None:
            return Grammar()
        grammar = ad_grammar.of_clip(plan.shots, self.begins)
        return Grammar(
            scales={} if config.scale.method == "none" else grammar.scales,
            threads=() if config.threads.features == "none" else grammar.threads,
        )

    def slot(self, ad: Ad) -> Interval:
        """The slot of ``ad`` in seconds of the video."""
        return in_video_seconds(self.begins, ad.slot)

    def within(self, duration: float) -> list[Ad]:
        """The ADs whose slots overlap a video of ``duration`` seconds (0: not known) by `SHORTEST`."""
        ads = []
        for ad in self.ads:
            slot = self.slot(ad)
            end = min(slot.end, duration) if duration > 0 else slot.end
            if end - max(slot.start, 0.0) >= SHORTEST:
                ads.append(ad)
        return ads

    def given(self, folder: WorkFolder, ads: Sequence[Ad]) -> RunInputs:
        """The slots of these ADs, labelled with their ids, and the shots, both written into ``folder``."""
        slot_rows = [{"id": ad.id, **_times(self.slot(ad))} for ad in ads]
        slots = _write_rows(folder, "asked-slots", slot_rows)
        shots = None
        if self.shots is not None:
            shots = _write_rows(folder, "asked-shots", [_times(shot) for shot in self.shots])
        return RunInputs(slots=slots, shots=shots, cast=self.cast)

    def line(self, ad: Ad, text: str | None, status: str, **details: Any) -> PredictedLine:
        """The line of ``ad``; ``details`` are further fields of `PredictedLine`."""
        return PredictedLine(
            id=ad.id,
            film=ad.film,
            clip=ad.clip,
            start=seconds(ad.slot.start),
            end=seconds(ad.slot.end),
            text=text,
            status=status,
            terms=self.terms,
            key=self.keys[ad.id],
            shots=self.origin,
            differs=self.differs,
            **details,
        )


def _times(interval: Interval) -> dict[str, str]:
    """``start`` and ``end`` in seconds, not before 0 and not rounded.

    The last digit decides whether a slot overlaps a shot or only touches it.
    """
    start = max(interval.start, 0.0)
    return {"start": f"{Decimal(repr(start)):f}", "end": f"{Decimal(repr(interval.end)):f}"}


def _write_rows(folder: WorkFolder, name: str, rows: Sequence[Mapping[str, str]]) -> Path:
    """Write the rows as JSON into ``folder``, and return the file's path."""
    folder.write_text(f"{name}.json", json.dumps(list(rows), ensure_ascii=False, indent=1) + "\n")
    return folder.path / f"{name}.json"


GivenShots = tuple[tuple[Interval, ...] | None, Shots]
"""Shots of a video in its own seconds (None: they are to be detected), and their origin."""


def published_shots(
    dataset: Dataset, clip: str, duration: float, begins: float = 0.0, *, gaps: bool = False
) -> GivenShots:
    """The dataset's shots of a video of ``duration`` seconds that begins at second ``begins`` of its clip.

    They are in seconds of the video. None where the dataset has no list of the clip, or one that lies outside
    the video. ``gaps``: the short gaps between published shots are kept, for rules that count touching shots
    as overlapping.
    """
    published = dataset.shots.get(clip)
    if published is None or duration <= 0:
        return None, "found"
    if not published:
        return (Interval(0.0, duration),), "one"
    gap = dataset.description.shots.gap if dataset.description is not None else 0.0
    video = Interval(begins, begins + duration)
    shots = published if gaps else touching(published, gap, video.end)
    shots_of_video = []
    for shot in shots:
        overlap = shot.clip(video)
        if overlap is not None:
            shots_of_video.append(in_video_seconds(begins, overlap))
    return (tuple(shots_of_video), "published") if shots_of_video else (None, "found")


def in_video_seconds(begins: float, interval: Interval) -> Interval:
    """``interval`` of a clip in seconds of a video that begins at second ``begins`` of it."""
    if not begins:
        return interval  # not rounded: thirds of a second have no last digit
    # Rounded, since the difference of two decimal fractions has a tail of binary digits.
    return Interval(round(interval.start - begins, 9), round(interval.end - begins, 9))
