"""Training the classifier of shot scale, from labelled shots to a checkpoint with its figures.

The recipe of Shot-by-Shot's classifier is not published; ours stands in configs/train-scale.yaml and is
recorded in every checkpoint.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from shotad import __version__
from shotad.core import (
    NoProgress,
    Progress,
    ShotScale,
    UsageError,
    WorkFolderError,
    readable_json,
    write_text,
)
from shotad.grammar.scale_net import load_net, load_released, released_weights, save_net
from shotad.grammar.training.backbone import start_net
from shotad.grammar.training.data import SPLITS, ScaleData
from shotad.grammar.training.distributed import Crew
from shotad.grammar.training.feed import Feed
from shotad.grammar.training.items import read_items
from shotad.grammar.training.logs import MetricLog
from shotad.grammar.training.loop import BEST, STATE, Loop, Parts, Stop, scored
from shotad.grammar.training.optim import make_optimizer
from shotad.grammar.training.scores import Scores, published_rows
from shotad.grammar.training.settings import ScaleTraining, what_matters
from shotad.grammar.training.state import Saved, Standing, Tally, load_state

REPORT = "report.json"
PICTURE = "confusion.png"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished training: its best checkpoint, the epoch it is of (from 1), and its scores on test."""

    checkpoint: Path
    epoch: int
    test: Scores
    record: dict[str, Any]


def train_scale(
    data: Path,
    out: Path,
    settings: ScaleTraining,
    *,
    resume: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Train on the labelled shots in ``data`` and write all results to the folder ``out``.

    ``resume`` goes on where a training in ``out`` was stopped, and begins where there is none. Raises
    UsageError where ``out`` holds a training and ``resume`` is False, ConfigError where that is of other
    settings or data, DatasetError for data that cannot be used, KeyboardInterrupt (after the state is
    saved) for Ctrl-C.
    """
    crew = Crew(settings.compute)
    speaks = progress if progress is not None and crew.leads else NoProgress()
    with _held(out, crew), Stop().listening() as stop:
        _check_fresh(out, resume)
        labelled = read_items(
            data,
            seed=settings.data.seed,
            annotation=settings.data.annotation,
            missing=settings.data.missing,
        )
        speaks.note(_said(labelled))
        parts = _parts(labelled, out, settings, crew, speaks)
        try:
            _train(parts, speaks, stop)
            outcome = _tested(parts, speaks)
        finally:
            parts.feed.close()
        crew.leave()
        return outcome


@contextmanager
def _held(out: Path, crew: Crew) -> Iterator[None]:
    """The folder of results, held by one training at a time."""
    if not crew.leads:
        yield
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
        with FileLock(out / ".lock", timeout=0):
            yield
    except Timeout:
        raise WorkFolderError(
            f"Another training writes to {out}.", "Wait for it, or take another --out."
        ) from None
    except FileExistsError:
        raise UsageError(f"--out {out} is a file.", "Name a folder.") from None


def _check_fresh(out: Path, resume: bool) -> None:
    if not resume and (out / STATE).exists():
        raise UsageError(
            f"{out} holds a training that was begun before.", "Go on with --resume, or take another --out."
        )


def _said(data: ScaleData) -> str:
    counts = ", ".join(f"{sum(data.counts(split).values())} {split}" for split in SPLITS)
    return " ".join([f"{data.layout}: {counts}.", *data.notes])


def _parts(data: ScaleData, out: Path, settings: ScaleTraining, crew: Crew, progress: Progress) -> Parts:
    if not crew.leads:
        # The one that leads fetches the backbone; the others find it in the cache.
        crew.wait()
    net, backbone = start_net(settings.net, settings.seed, progress)
    if crew.leads:
        crew.wait()
    net.to(crew.device)
    named = what_matters(settings)
    named["net"]["backbone"] = backbone
    about = {"settings": named, "data": data.fingerprint}
    record = {**about, "data": _data_record(data), "versions": _versions(), "computed": _computed(crew)}
    return Parts(
        net=net,
        module=crew.joined(net),
        optimizer=make_optimizer(net, settings.optim),
        feed=Feed(settings, pin=crew.device.type == "cuda"),
        data=data,
        settings=settings,
        crew=crew,
        out=out,
        about=about,
        record=record,
    )


def _data_record(data: ScaleData) -> dict[str, Any]:
    counts = {split: {scale.value: n for scale, n in data.counts(split).items()} for split in SPLITS}
    return {"layout": data.layout, "fingerprint": data.fingerprint, "counts": counts}


def _versions() -> dict[str, str]:
    found = {name: version(name) for name in ("torch", "transformers", "accelerate", "numpy")}
    return {"shotad": __version__, "python": platform.python_version(), **found}


def _computed(crew: Crew) -> dict[str, Any]:
    precision = str(crew.precision).removeprefix("torch.")
    return {"processes": crew.size, "device": crew.device.type, "precision": precision}


def _train(parts: Parts, progress: Progress, stop: Stop) -> None:
    saved, after = _saved(parts)
    if not parts.crew.leads:
        Loop(parts, saved, None, progress, stop).run()
        return
    with MetricLog(parts.out, resume_after=after, tensorboard=parts.settings.tensorboard) as log:
        if log.note:
            progress.note(log.note)
        Loop(parts, saved, log, progress, stop).run()


def _saved(parts: Parts) -> tuple[Saved, int | None]:
    """Where to go on, and the last step whose row in the log stands."""
    state = parts.out / STATE
    if not state.is_file():
        return Saved(Standing(), Tally(), Tally()), None
    saved = load_state(state, parts.net, parts.optimizer, parts.about)
    # The row of an epoch's last step is written after validation, which is still to come.
    pending = saved.standing.position > 0 and saved.window.steps > 0
    full = -(-len(parts.data.of("train")) // parts.settings.batch)
    return saved, saved.standing.step - (pending and saved.standing.position == full)


def _tested(parts: Parts, progress: Progress) -> Outcome:
    """Figures of the best epoch on test, into its checkpoint, the report and the picture."""
    parts.crew.wait()
    best = parts.out / BEST
    net, record = load_net(best)
    load_released(parts.net, released_weights(net))
    parts.net.to(parts.crew.device)
    test = scored(parts, parts.data.of("test"), progress, "Testing")
    assert test is not None
    record = {**record, "test": test.record()}
    if parts.crew.leads:
        save_net(best, net, record)
        write_text(parts.out / REPORT, readable_json({**record, "published": published_rows()}))
        _draw(parts.out / PICTURE, test)
    return Outcome(best, record["epoch"], test, record)


def _draw(path: Path, test: Scores) -> None:
    from shotad.film import matrix_png

    names = [scale.value for scale in ShotScale]
    shares = test.confusion / test.confusion.sum(axis=1, keepdims=True).clip(min=1)
    cells = [
        [f"{share:.0%}\n{count}" for share, count in zip(*row, strict=True)]
        for row in zip(shares, test.confusion, strict=True)
    ]
    matrix_png(
        path,
        shares,
        names,
        names,
        title=f"Shot scale on test: accuracy {test.accuracy:.3f}, macro-F1 {test.macro_f1:.3f}",
        row_title="true",
        column_title="predicted",
        cells=cells,
    )
