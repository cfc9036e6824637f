"""One clip of a dataset through the pipeline: its slots and shots go in, its lines come back by id; what was
said for each AD, what it depends on, and what came of all.

What a line depends on is kept as hashes: a line whose hash is the same need not be made again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from shotad.core import (
    Config,
    Given,
    GivenCast,
    Interval,
    Progress,
    Stage,
    Usage,
    WorkFolder,
    key_of,
    plural,
    quoted,
    seconds,
)
from shotad.description import (
    LINE_STEPS,
    STAGE_PROMPTS,
    Engines,
    GrammarReaders,
    RunContext,
    StageUsed,
    Used,
    WrittenSlots,
    check_cast,
    describe_clips,
    load_examples,
    prepare,
    prompt_hash,
    understand,
    write_slots,
    write_track,
)
from shotad.engines import identity_record
from shotad.evaluation.datasets.dataset import Ad, Dataset
from shotad.evaluation.datasets.loading import touching
from shotad.film import Film, Prepared, word_budget
from shotad.script import CueStatus

Shots = Literal["published", "one", "found", ""]
"""Where the shots came from: the dataset's list; an empty list of it, which is one shot; the detector."""


ClipAds = tuple[Ad, ...]
"""The ADs of one video to describe, in the dataset's order: at least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedLine:
    """What was predicted for the AD ``id``.

    ``start`` and ``end`` are its slot, in seconds of the video. ``text`` None: it failed, ``failure`` says
    why, and ``again`` whether another run may do better; a system that chose to say nothing has the empty
    text. ``status`` and ``reason`` are the cue's; ``words`` is how many it was allowed. ``scale``,
    ``threaded``, ``description``: the effective scale, whether Stage I was told of a thread, and what it
    said. ``terms`` and ``key`` are hashes: of what is the same for all lines of a run, and of all that
    changes this one.
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
    terms: str
    key: str

    def __post_init__(self) -> None:
        if (self.text is None) != bool(self.failure):
            raise ValueError(f"line {quoted(self.id)} must have a text or a failure, and not both")

    def to_json(self) -> dict[str, Any]:
        """The line's fields as JSON, in their order; without its key."""
        return {name: getattr(self, name) for name in _FIELDS} | {"candidates": list(self.candidates)}


_FIELDS = tuple(one.name for one in fields(PredictedLine) if one.name != "key")


def line_of(record: Any) -> PredictedLine | None:
    """The line that `PredictedLine.to_json` wrote, with its key; None for what is none."""
    try:
        told = {name: record[name] for name in (*_FIELDS, "key")}
        return PredictedLine(**{**told, "candidates": tuple(told["candidates"])})
    except (KeyError, TypeError, ValueError):
        return None


_NO_MATTER: dict[str, Any] = {
    "measures": True,
    "engine": True,
    **dict.fromkeys(("voice", "fit", "mix", "container", "extended", "lint", "translate"), True),
    "compute": dict.fromkeys(("device", "batch"), True),
    "local": {"batch": True},
    "openai": dict.fromkeys(
        ("base_url", "model", "key_name", "in_flight", "timeout", "retries", "longest_pause", "price_in",
         "price_out"), True
    ),
    "stage1": dict.fromkeys(("engine", "model", "revision", "base_url", "attempts"), True),
    "stage2": dict.fromkeys(("engine", "model", "revision", "base_url"), True),
}  # fmt: skip
"""Settings that change no line, or that say who answers: for that stands the engines' own identity, whatever
name they were asked for by."""


def terms_of(config: Config, engines: Engines) -> str:
    """Hash of what is the same for all lines of a run: settings, prompts, and who answers. The engines must
    be ready, so that their identities are final. Raises ConfigError for a file that cannot be read."""
    settings = config.model_dump(mode="json", exclude=_NO_MATTER)
    who = [identity_record(engine.identity) for engine in (engines.looks, engines.writes)]
    prompts = prompt_hash(STAGE_PROMPTS)
    return key_of("predict/2", LINE_STEPS, settings, who, prompts, load_examples(config.prompt))


def line_key(
    terms: str,
    ad: Ad,
    fingerprint: str,
    *,
    shots: Sequence[Interval] | None,
    cast: Any = None,
    beside: Sequence[Ad] = (),
) -> str:
    """Hash of all that changes the line of ``ad``. ``fingerprint`` is the video's, ``shots`` are those given
    (None: they are found), ``cast`` is what is known of whom to name, ``beside`` are the ADs of the clip that
    are described with this one, where it depends on them."""
    given = None if shots is None else [[shot.start, shot.end] for shot in shots]
    others = [[o.id, o.slot.start, o.slot.end, o.interval.duration] for o in beside]
    times = [ad.slot.start, ad.slot.end, ad.interval.duration]
    return key_of(terms, ad.id, ad.clip, fingerprint, times, given, cast, others)


LISTED = 10
"""Failures that are listed one by one, clip by clip."""


@dataclass(slots=True)
class Predicted:
    """The lines that were wanted, in the dataset's order; the ids of those that this run ``made``; what its
    engines took."""

    lines: tuple[PredictedLine, ...] = ()
    clips: int = 0
    made: set[str] = field(default_factory=set)
    stages: dict[Stage, StageUsed] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Lines without a text."""
        return sum(line.text is None for line in self.lines)

    @property
    def kept(self) -> int:
        """Lines of earlier runs."""
        return sum(line.text is not None and line.id not in self.made for line in self.lines)

    def add(self, spent: Used | None) -> None:
        """Count what a clip took."""
        for stage, more in spent.stages.items() if spent is not None else ():
            old = self.stages.get(stage, StageUsed(more.terms, 0, Usage()))
            self.stages[stage] = StageUsed(old.terms, old.calls + more.calls, old.tokens + more.tokens)

    def failures(self) -> list[tuple[str, str, int]]:
        """Clip, reason and number of the failed lines, in the dataset's order."""
        counted = Counter((line.clip, line.failure) for line in self.lines if line.text is None)
        return [(clip, reason, count) for (clip, reason), count in counted.items()]


def prediction_text(done: Predicted, out: str) -> str:
    """Plain lines for people."""
    statuses = Counter(line.status for line in done.lines)
    heard = statuses.get("placed", 0) + statuses.get("shortened", 0)
    lines = [f"{heard:,} of {len(done.lines):,} ADs in {plural(done.clips, 'clip')} have a line."]
    if done.kept:
        lines.append(f"From earlier runs: {done.kept:,}.")
    for status, words in _WORDS.items():
        if statuses.get(status):
            lines.append(f"{words}: {statuses[status]:,}.")
    failures = done.failures()
    lines += [f"  {clip} ({count}): {reason}" for clip, reason, count in failures[:LISTED]]
    if len(failures) > LISTED:
        lines.append("  … the others stand in the file.")
    if done.stages:
        lines += Used(done.stages).lines()
    return "\n".join([*lines, f"Predictions: {out}"])


_WORDS = {
    "silent": "Left silent by the engine",
    "dropped": "Dropped, too long for their slot",
    "failed": "Failed, and count as 0",
}


def prediction_as_json(done: Predicted, out: str) -> dict[str, Any]:
    """The same for programs."""
    return {
        "out": out,
        "ads": len(done.lines),
        "clips": done.clips,
        "kept": done.kept,
        "made": len(done.made),
        "failed": done.failed,
        "statuses": dict(sorted(Counter(line.status for line in done.lines).items())),
        "failures": [
            {"clip": clip, "reason": reason, "ads": count} for clip, reason, count in done.failures()
        ],
        "used": Used(done.stages).as_json() if done.stages else None,
    }


LONGEST_FRAME = 1.0
"""Seconds for which the last frame may stand, or the sound may go on, in a file that is whole."""

_SMALL = 1 << 12
"""Pixels of a frame that nobody looks at."""


def describe_clip(
    asked: ClipRequest,
    film: Film,
    folder: WorkFolder,
    config: Config,
    engines: Engines,
    readers: GrammarReaders,
    progress: Progress,
    *,
    scripts: bool = False,
    only_look: bool = False,
) -> tuple[tuple[PredictedLine, ...], Used | None, tuple[str, ...]]:
    """The line of each AD of a clip, in their order; what the engines took; and what is to be told.

    ``only_look``: Stage I alone is asked, whose answers wait in ``folder``; no line is made.
    """
    end, promised = _picture_end(film), film.info.duration
    short = f"The picture ends at {end:.1f} s of {promised:.1f} s: the file is cut off or damaged."
    warnings = (short,) if end != promised else ()
    ads, lines, spent = asked.within(end), dict[str, PredictedLine](), None
    told: tuple[str, ...] = ()
    if ads:
        context = RunContext.of(film, folder, config, asked.given(folder, ads), progress)
        check_cast(context)
        prepared = prepare(context)
        words = {ad.id: word_budget(ad.interval.duration, config.slots) for ad in ads}  # Algorithm 2
        slots = tuple(replace(slot, max_words=words[slot.label]) for slot in prepared.slots)
        prepared = replace(prepared, slots=slots)
        plans, amiss = understand(prepared, context, engines.looks.abilities, readers=readers)
        if only_look:
            spent = describe_clips(plans, context, engines)
            context.close()
            return (), spent, ()
        written = write_slots(plans, len(plans), prepared, context, engines)
        if scripts:
            write_track(written.cues, prepared, context, engines.makers, discard_edits=True)
        context.close()
        spent = written.used
        lines = _lines(asked, prepared, written)
        told = (*warnings, *prepared.warnings, *amiss)
    every = []
    for ad in asked.ads:
        line = lines.get(ad.id)
        if line is None:  # nothing of its slot can be seen
            outside = f"its slot {asked.slot(ad)} lies outside the video, which ends at {end:.3f} s"
            line = asked.line(ad, None, "failed", failure=next(iter(warnings), outside))
        every.append(line)
    return tuple(every), spent, told


def _picture_end(film: Film) -> float:
    """The second at which a video's picture ends; 0: not known. Of a file that is cut off the reader shows
    the last frame at every later moment: what nobody can see must not be described from it. Raises
    FilmError."""
    promised = film.info.duration
    if promised <= 0:
        return promised
    last = next(film.pictures([promised], max_pixels=_SMALL)).seconds
    return last if promised - last > LONGEST_FRAME else promised


def _lines(asked: ClipRequest, prepared: Prepared, written: WrittenSlots) -> dict[str, PredictedLine]:
    """What the run says of each AD that was asked for, by id: the slots carry the ids as labels."""
    ads = {ad.id: ad for ad in asked.ads}
    slots = {slot.id: slot for slot in prepared.slots}
    lines = {}
    for cue, stage1, stage2 in zip(written.cues, written.stage1, written.stage2, strict=True):
        slot = slots[stage1.slot_id]
        engines = {"stage1": identity_record(stage1.maker)}
        if stage2 is not None:
            engines["stage2"] = identity_record(stage2.maker)
        known = {
            "words": slot.max_words,
            "candidates": cue.candidates,
            "description": None if stage1.error is not None else stage1.description.text,
            "scale": stage1.effective_scale,
            "threaded": bool(stage1.threads),
            "engines": engines,
        }
        ad = ads[slot.label]
        if cue.status is CueStatus.FAILED:
            # Another run asks it again.
            again = stage1.error is not None or stage2 is None or stage2.error is not None
            line = asked.line(ad, None, "failed", failure=cue.reason, again=again, **known)
        else:
            text = cue.text if cue.heard else ""
            line = asked.line(ad, text, cue.status.value, reason=cue.reason, **known)
        lines[slot.label] = line
    return lines


SHORTEST = 0.001
"""Seconds of a slot that lie within the video, below which it cannot be described (a line lasts 1 ms)."""


@dataclass(frozen=True, slots=True)
class ClipRequest:
    """A clip whose video is open: what is asked about it, and on what terms. ``shots`` None: they are found.
    ``keys`` are the lines', by id. The video begins at second ``begins`` of the clip."""

    ads: ClipAds
    shots: tuple[Interval, ...] | None
    origin: Shots
    cast: GivenCast | None
    terms: str
    keys: Mapping[str, str]
    begins: float = 0.0

    def slot(self, ad: Ad) -> Interval:
        """The slot of ``ad`` in seconds of the video."""
        return since(self.begins, ad.slot)

    def within(self, duration: float) -> list[Ad]:
        """The ADs of whose slots something can be seen in a video of ``duration`` seconds; where that is 0 it
        is not known beforehand."""
        found = []
        for ad in self.ads:
            slot = self.slot(ad)
            end = min(slot.end, duration) if duration > 0 else slot.end
            if end - max(slot.start, 0.0) >= SHORTEST:
                found.append(ad)
        return found

    def given(self, folder: WorkFolder, ads: Sequence[Ad]) -> Given:
        """The slots of these ADs and the shots, written into ``folder``. Slots are labelled with ids."""
        slots = _written(folder, "asked-slots", ({"id": ad.id, **_times(self.slot(ad))} for ad in ads))
        shots = None if self.shots is None else _written(folder, "asked-shots", map(_times, self.shots))
        return Given(slots=slots, shots=shots, cast=self.cast)

    def line(self, ad: Ad, text: str | None, status: str, **more: Any) -> PredictedLine:
        """The line of ``ad``."""
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
            **more,
        )


def _times(interval: Interval) -> dict[str, str]:
    """To the last digit: it decides whether a slot overlaps a shot or touches it."""
    ends = {"start": max(interval.start, 0.0), "end": interval.end}
    return {name: f"{Decimal(repr(second)):f}" for name, second in ends.items()}


def _written(folder: WorkFolder, name: str, rows: Iterable[Mapping[str, str]]) -> Path:
    folder.write_text(f"{name}.json", json.dumps(list(rows), ensure_ascii=False, indent=1) + "\n")
    return folder.path / f"{name}.json"


GivenShots = tuple[tuple[Interval, ...] | None, Shots]


def published_shots(
    dataset: Dataset, clip: str, duration: float, begins: float = 0.0, *, gaps: bool = False
) -> GivenShots:
    """The shots to be given for a video of ``duration`` seconds that begins at second ``begins`` of its clip,
    in the video's own seconds, and what they are. None where the dataset has no list of the clip, or one of
    which nothing lies within the video. ``gaps``: published shots keep the short gaps between them, for those
    who count touching shots as overlapping."""
    published = dataset.shots.get(clip)
    if published is None or duration <= 0:
        return None, "found"
    if not published:
        return (Interval(0.0, duration),), "one"
    gap = dataset.description.shots.gap if dataset.description is not None else 0.0
    whole = begins + duration
    shots = published if gaps else touching(published, gap, whole)
    part = Interval(begins, whole)
    inside = [cut for shot in shots if (cut := shot.clip(part)) is not None]
    moved = tuple(since(begins, cut) for cut in inside)
    return (moved, "published") if moved else (None, "found")


def since(begins: float, interval: Interval) -> Interval:
    """The interval in seconds of a video that begins at second ``begins``, without the noise of the
    floats."""
    if not begins:  # thirds of a second have no last digit
        return interval
    return Interval(round(interval.start - begins, 9), round(interval.end - begins, 9))
