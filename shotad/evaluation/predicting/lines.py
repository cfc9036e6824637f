"""One line of a file of predictions: what was said for one AD, what it depends on; what came of all.

What a line depends on is kept as hashes: a line whose hash is the same need not be made again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from shotad.core import Config, ConfigError, Interval, Stage, data_root, file_sha256, key_of, plural, seconds
from shotad.description import Engines, StageUsed, Used, identity_record
from shotad.evaluation.datasets.dataset import Ad

Shots = Literal["published", "one", "found", ""]
"""Where the shots came from: the dataset's list; an empty list of it, which is one shot; the detector."""


_WHERE = ("id", "film", "clip")
_SAID = (
    "text", "failure", "status", "reason", "words", "candidates", "description", "scale", "threaded", "shots",
    "engines", "again", "terms",
)  # fmt: skip
"""Fields of a line before and after its times, in the file's order."""


@dataclass(frozen=True, slots=True)
class PredictedLine:
    """What was predicted for the AD ``id``.

    ``interval`` is its slot, in seconds of the video. ``text`` None: it failed, ``failure`` says why, and
    ``again`` whether another run may do better; a system that chose to say nothing has the empty text.
    ``status`` is the cue's (placed, shortened, silent, dropped, failed), ``reason`` what it says of it.
    ``words`` is how many it was allowed. ``scale``, ``threaded``, ``description``: the effective scale,
    whether Stage I was told of a thread, and what it said. ``terms`` and ``key`` are hashes: of what is the
    same for all lines of a run, and of all that changes this one.
    """

    id: str
    film: str
    clip: str
    interval: Interval
    text: str | None
    status: str
    terms: str
    key: str
    failure: str = ""
    reason: str = ""
    again: bool = False
    words: int | None = None
    candidates: tuple[str, ...] = ()
    description: str | None = None
    scale: float | None = None
    threaded: bool | None = None
    shots: Shots = ""
    engines: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.text is None) != bool(self.failure):
            raise ValueError(f"line {self.id!r} must have a text or a failure, and not both")

    def to_json(self) -> dict[str, Any]:
        """The line's fields as JSON, in a constant order; without its key."""
        times = {"start": seconds(self.interval.start), "end": seconds(self.interval.end)}
        where = {name: getattr(self, name) for name in _WHERE}
        said = {name: getattr(self, name) for name in _SAID}
        return {**where, **times, **said, "candidates": list(self.candidates)}


def line_of(record: Mapping[str, Any]) -> PredictedLine:
    """The line that `PredictedLine.to_json` wrote, with its key. Raises KeyError, TypeError or ValueError for
    what is none."""
    fields = {name: record[name] for name in (*_WHERE, *_SAID, "key")}
    interval = Interval(float(record["start"]), float(record["end"]))
    return PredictedLine(**{**fields, "candidates": tuple(record["candidates"])}, interval=interval)


_NO_MATTER: dict[str, Any] = {
    "measures": True,
    "discover": True,
    "engine": True,
    **dict.fromkeys(("voice", "fit", "mix", "container", "extended", "lint", "translate"), True),
    "compute": dict.fromkeys(("device", "batch"), True),
    "local": dict.fromkeys(("batch", "tokens", "attention"), True),
    "openai": dict.fromkeys(
        ("base_url", "model", "key_name", "in_flight", "timeout", "retries", "longest_pause", "price_in",
         "price_out"), True
    ),
    "stage1": dict.fromkeys(("engine", "model", "revision", "base_url", "attempts"), True),
    "stage2": dict.fromkeys(("engine", "model", "revision", "base_url"), True),
}  # fmt: skip
"""Settings that change no line, or that say who answers: for that stands the engines' own identity, whatever
name they were asked for by."""

_PROMPTS = ("stage1", "stage2", "story", "verify")


def terms_of(config: Config, engines: Engines) -> str:
    """Hash of what is the same for all lines of a run: settings, prompts, and who answers.

    The engines must be ready, so that their identities are final. Raises ConfigError for a file of examples
    that cannot be read.
    """
    settings = config.with_former(_NO_MATTER)
    who = [identity_record(engine.identity) for engine in (engines.looks, engines.writes)]
    folder = data_root() / "prompts"
    files = sorted(file for room in _PROMPTS for file in (folder / room).glob("*.txt"))
    prompts = key_of([[f"{file.parent.name}/{file.name}", _hash(file)] for file in files])
    examples = None if config.prompt.example_file is None else _hash(Path(config.prompt.example_file))
    return key_of("predict/1", settings, who, prompts, examples)


def line_key(
    terms: str,
    ad: Ad,
    fingerprint: str,
    *,
    shots: Sequence[Interval] | None,
    cast: Any = None,
    beside: Sequence[Ad] = (),
) -> str:
    """Hash of all that changes the line of ``ad``.

    ``fingerprint`` is the video's, ``shots`` are those given (None: they are found), ``cast`` is what is
    known of whom to name, ``beside`` are the ADs of the clip that are described with this one, where it
    depends on them.
    """
    given = None if shots is None else [[shot.start, shot.end] for shot in shots]
    others = [[o.id, o.slot.start, o.slot.end, o.interval.duration] for o in beside]
    times = [ad.slot.start, ad.slot.end, ad.interval.duration]
    return key_of(terms, ad.id, ad.clip, fingerprint, times, given, cast, others)


def _hash(file: Path) -> str:
    try:
        return file_sha256(file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.", "Look for it.") from None


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
            old = self.stages.get(stage)
            if old is None:
                self.stages[stage] = more
            else:
                both = StageUsed(old.terms, old.calls + more.calls, old.tokens + more.tokens)
                self.stages[stage] = both

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
