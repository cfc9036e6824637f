"""The loop of training: steps, epochs, what is saved when, and how it is stopped without loss.

Where a training stands is in one file, so that it goes on in the middle of an epoch as if never stopped.
The file holds what is tuned, not the frozen part: that is the backbone's own, whose hash is compared. Rates
of learning go by layer, as BEiT and MAE fine-tune, and by step. Several processes train together, one for
each GPU, through accelerate; one process is a crew too.
"""

from __future__ import annotations

import math
import os
import pickle
import random
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from shotad.core import (
    ComputeSettings,
    ConfigError,
    Progress,
    ShotadError,
    ShotScale,
    WorkFolderError,
    device_of,
    dtype_of,
    need,
    need_torch,
    replacing,
    reported,
)
from shotad.grammar.scale_data import ScaleData, ScaleItem
from shotad.grammar.scale_net import ScaleNet, save_net
from shotad.grammar.training_feed import Feed, Pick, Piece, epoch_order, in_batches, share_of
from shotad.grammar.training_records import MetricLog, Scores
from shotad.grammar.training_settings import OptimSettings, ScaleTraining

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch("Training", "train")

BEST = "best.safetensors"
LAST = "last.safetensors"
STATE = "state.pt"


class Stop:
    """Whether somebody asked this process to end: by Ctrl-C, or as a machine does that shuts down."""

    asked = False

    @contextmanager
    def listening(self) -> Iterator[Stop]:
        """The first request is noted, so that the step at hand is finished and the state saved; the second
        interrupts at once. Signals reach the main thread only; elsewhere nothing is listened to."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = {kind: signal.signal(kind, self._ask) for kind in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield self
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def _ask(self, kind: int, frame: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@dataclass(frozen=True, slots=True)
class Parts:
    """What a training is made of. ``module`` is the net as the crew trains it; ``about`` and ``record`` say
    what is trained, for the state and for the checkpoints."""

    net: ScaleNet
    module: Any
    optimizer: torch.optim.AdamW
    feed: Feed
    data: ScaleData
    settings: ScaleTraining
    crew: ProcessGroup
    out: Path
    about: Mapping[str, Any]
    record: Mapping[str, Any]


class Loop:
    """A training that is under way."""

    def __init__(
        self, parts: Parts, saved: Saved, log: MetricLog | None, progress: Progress, stop: Stop
    ) -> None:
        """Go on from ``saved``. ``log`` is that of the leading process, None elsewhere."""
        self._parts, self._log, self._progress, self._stop = parts, log, progress, stop
        self._crew, self._settings = parts.crew, parts.settings
        self._train = parts.data.of("train")
        kind = parts.settings.optim.class_weights
        self._weights = class_weights(parts.data.counts("train"), kind)
        self.standing = saved.standing
        mine = float(parts.crew.leads)
        self._losses = torch.tensor(
            [saved.window.loss * mine, saved.epoch.loss * mine], device=parts.crew.device
        )
        self._window, self._epoch_steps = saved.window.steps, saved.epoch.steps

    @property
    def _steps_per_epoch(self) -> int:
        return math.ceil(len(self._train) / self._settings.batch)

    @property
    def _total(self) -> int:
        return self._steps_per_epoch * self._settings.epochs

    def run(self) -> TrainingPosition:
        """Train to the end. Raises KeyboardInterrupt after the state is saved, where that is asked for."""
        settings = self._settings
        left = 0 if self._is_over() else self._total - self.standing.step
        with reported(self._progress, "Training", left, "steps") as task:
            while not self._is_over():
                self._parts.net.train()
                norm = None
                for weight, pieces in self._steps():
                    loss, norm = self._step(weight, pieces)
                    self._count(loss)
                    task.advance()
                    if self.standing.position < self._steps_per_epoch:
                        self._between_steps(norm)
                self._end_epoch(norm)
        if self.standing.epoch < settings.epochs:
            best = (self.standing.best_epoch or 0) + 1
            self._progress.note(f"Stopped early: no better epoch than {best} in {settings.patience} epochs.")
        return self.standing

    def _is_over(self) -> bool:
        return self.standing.is_over(self._settings.epochs, self._settings.patience)

    def _steps(self) -> Iterator[tuple[float, Iterator[Piece]]]:
        """Of each step that is left of the epoch: its whole weight, and this process's pieces."""
        keys = [item.key for item in self._train]
        order = epoch_order(keys, self._settings.seed, self.standing.epoch)
        batches = in_batches(order, self._settings.batch)[self.standing.position :]
        plans = [self._plan(batch) for batch in batches]
        fed = self._parts.feed.pieces([picks for plan in plans for picks in plan])
        for batch, plan in zip(batches, plans, strict=True):
            weight = sum(self._weights[self._train[place].scale.number] for place in batch)
            yield weight, self._take(fed, len(plan))

    def _take(self, fed: Iterator[Piece], count: int) -> Iterator[Piece]:
        for _ in range(count):
            yield next(fed).to(self._crew.device)

    def _plan(self, batch: Sequence[int]) -> list[list[Pick]]:
        """What this process sees of a batch, in pieces that fit its device."""
        epoch = self.standing.epoch
        mine = share_of(batch, self._crew.rank, self._crew.size)
        picks = [Pick(self._train[place], epoch) for place in mine]
        picks = picks or [Pick(self._train[batch[0]], epoch, counts=False)]
        at_once = self._settings.compute.batch
        return [picks[start : start + at_once] for start in range(0, len(picks), at_once)]

    def _step(self, weight: float, pieces: Iterator[Piece]) -> tuple[torch.Tensor, torch.Tensor]:
        """One step of the optimiser: this process's part of the mean loss, and the norm of the gradient."""
        optim, step = self._settings.optim, self.standing.step
        set_rates(self._parts.optimizer, rate_factor(step, self._total, optim.warmup, optim.floor))
        # The only chance inside the net is that of skipped blocks; seeded by step, it needs no saving.
        torch.manual_seed(random.Random(f"{self._settings.seed}:{step}:{self._crew.rank}").getrandbits(63))
        losses = []
        for piece, last in _with_last(pieces):
            with self._crew.alone(self._parts.module, last=last):
                loss = self._loss(piece) / weight
                (loss * self._crew.size).backward()
            losses.append(loss.detach())
        tuned = [p for group in self._parts.optimizer.param_groups for p in group["params"]]
        norm = torch.nn.utils.clip_grad_norm_(tuned, optim.clip)
        self._parts.optimizer.step()
        self._parts.optimizer.zero_grad(set_to_none=True)
        return torch.stack(losses).sum(), norm

    def _loss(self, piece: Piece) -> torch.Tensor:
        """Sum of the weighted losses of a piece."""
        with self._crew.mixed():
            logits = self._parts.module(*piece.groups)
        losses = torch.nn.functional.cross_entropy(
            logits.float(),
            piece.labels,
            weight=torch.tensor(self._weights, device=logits.device),
            label_smoothing=self._settings.optim.label_smoothing,
            reduction="none",
        )
        return (losses * piece.counts).sum()

    def _count(self, loss: torch.Tensor) -> None:
        self._losses += loss
        self._window += 1
        self._epoch_steps += 1
        now = self.standing
        self.standing = replace(now, position=now.position + 1, step=now.step + 1)

    def _between_steps(self, norm: torch.Tensor) -> None:
        """What is due after a step that is not the last of its epoch: log, state, stop."""
        step = self.standing.step
        logs, saves = step % self._settings.log_every == 0, step % self._settings.save_every == 0
        # Asking the others costs time, so that several processes do it as often as they log.
        stops = self._stop.asked if self._crew.size == 1 else logs and self._crew.any(self._stop.asked)
        if logs:
            self._write(step, self._window_values(norm))
        if saves or stops:
            self.save()
        if stops:
            self._say_stopped()

    def _say_stopped(self) -> NoReturn:
        self._progress.note(f"Stopped after step {self.standing.step} of {self._total}: --resume goes on.")
        raise KeyboardInterrupt

    def _window_values(self, norm: torch.Tensor | None) -> dict[str, float]:
        """The figures of the steps since the last row."""
        loss = float(self._crew.sum(self._losses)[0]) / self._window
        if not math.isfinite(loss):
            raise ShotadError(
                f"The loss is {loss} at step {self.standing.step}.",
                "Lower optim.lr, or take compute.precision=float32; --resume goes on from the last state.",
            )
        values = {
            "train/loss": loss,
            "train/lr": self._parts.optimizer.param_groups[0]["lr"],
            **({} if norm is None else {"train/gradient": float(norm)}),
        }
        self._losses[0] = 0
        self._window = 0
        return values

    def _write(self, step: int, values: Mapping[str, float]) -> None:
        if self._log is not None:
            self._log.add(step, values)

    def save(self) -> None:
        """Save the state of a moment between two steps."""
        window, epoch = self._crew.sum(self._losses).tolist()
        if self._crew.leads:
            saved = Saved(self.standing, Tally(window, self._window), Tally(epoch, self._epoch_steps))
            parts = self._parts
            # Write the state; an older one is replaced only by a whole one. ``about`` says what is trained,
            # on what and how, as JSON: a resumed run must be of the same.
            path = parts.out / STATE
            tree = {
                "schema": SCHEMA,
                "about": dict(parts.about),
                "standing": asdict(saved.standing),
                "window": asdict(saved.window),
                "epoch": asdict(saved.epoch),
                "tuned": {name: p.detach() for name, p in parts.net.named_parameters() if p.requires_grad},
                "optimizer": parts.optimizer.state_dict(),
            }
            with replacing(path) as part, part.open("wb") as stream:
                torch.save(tree, stream)

    def _end_epoch(self, norm: torch.Tensor | None) -> None:
        # Scores on val. One process alone may be stopped on the way: all steps of the epoch are saved.
        for_one = self._stop if self._crew.size == 1 else None
        val = scored(self._parts, self._parts.data.of("val"), self._progress, "Validating", for_one)
        if val is None:
            self.save()
            self._say_stopped()
        loss = float(self._crew.sum(self._losses)[1]) / self._epoch_steps
        values = {} if not self._window else self._window_values(norm)
        on_val = {"val/loss": val.loss, "val/accuracy": val.accuracy, "val/macro_f1": val.macro_f1}
        self._write(self.standing.step, {**values, "epoch/loss": loss, **on_val})
        self._adopt(val, loss)
        self._losses.zero_()
        self._window = self._epoch_steps = 0
        self.save()
        if self._crew.any(self._stop.asked) and not self._is_over():
            self._say_stopped()

    def _adopt(self, val: Scores, loss: float) -> None:
        """Write the checkpoints of an epoch, and go to the next."""
        now, number = self.standing, self.standing.epoch + 1
        is_best = now.best is None or val.macro_f1 > now.best
        if self._crew.leads:
            record = {**self._parts.record, "epoch": number, "steps": now.step, "val": val.record()}
            for name in (BEST, LAST) if is_best else (LAST,):
                save_net(self._parts.out / name, self._parts.net, record)
        self._progress.note(
            f"Epoch {number} of {self._settings.epochs}: loss {loss:.4f}; on val accuracy "
            f"{val.accuracy:.3f}, macro-F1 {val.macro_f1:.3f}{' (best so far)' if is_best else ''}."
        )
        self.standing = TrainingPosition(
            number,
            0,
            now.step,
            val.macro_f1 if is_best else now.best,
            now.epoch if is_best else now.best_epoch,
        )


def scored(
    parts: Parts, items: Sequence[ScaleItem], progress: Progress, name: str, stop: Stop | None = None
) -> Scores | None:
    """Scores of the net on ``items``, of which each process sees its share; None where ``stop`` asks."""
    crew, at_once = parts.crew, parts.settings.compute.batch
    mine = share_of(range(len(items)), crew.rank, crew.size)
    picks = [[Pick(items[place]) for place in batch] for batch in in_batches(mine, at_once)]
    parts.net.train(False)
    found = np.zeros((5, 5), np.int64)
    loss = 0.0
    with reported(progress, name, len(mine), "images") as task:
        for piece in parts.feed.pieces(picks):
            if stop is not None and stop.asked:
                return None
            there = piece.to(crew.device)
            with torch.inference_mode(), crew.mixed():
                logits = parts.net(*there.groups).float()
            loss += float(torch.nn.functional.cross_entropy(logits, there.labels, reduction="sum"))
            guesses = logits.argmax(-1).cpu().numpy()
            np.add.at(found, (piece.labels.numpy(), guesses), 1)
            task.advance(len(guesses))
    local = torch.tensor([*found.ravel().tolist(), loss], device=crew.device)
    *counts, total = crew.sum(local).tolist()
    return Scores(np.array(counts, np.int64).reshape(5, 5), total / len(items))


def _with_last(pieces: Iterator[Piece]) -> Iterator[tuple[Piece, bool]]:
    held = next(pieces)
    for piece in pieces:
        yield held, False
        held = piece
    yield held, True


SCHEMA = 1


@dataclass(frozen=True, slots=True)
class TrainingPosition:
    """How far a training has come. ``position`` counts the steps done of epoch ``epoch`` (from 0), ``step``
    those of all epochs; the best epoch is that with the highest macro-F1 on val."""

    epoch: int = 0
    position: int = 0
    step: int = 0
    best: float | None = None
    best_epoch: int | None = None

    def is_over(self, epochs: int, patience: int | None) -> bool:
        """True after the last epoch, and after ``patience`` epochs without a better one."""
        tired = patience is not None and self.best_epoch is not None
        return self.epoch >= epochs or (tired and self.epoch - 1 - (self.best_epoch or 0) >= (patience or 0))


@dataclass(frozen=True, slots=True)
class Tally:
    """Sum of the losses of some steps, and how many they are."""

    loss: float = 0.0
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Saved:
    """What a state file brings back, but for weights: they are in place already."""

    standing: TrainingPosition
    window: Tally
    epoch: Tally


def load_state(
    path: Path, net: ScaleNet, optimizer: torch.optim.Optimizer, about: Mapping[str, Any]
) -> Saved:
    """Put the saved weights into net and optimizer, and say where training stood.

    Raises ConfigError where the state is of other settings, data or backbone, WorkFolderError where it
    cannot be read.
    """
    remedy = "Start again in another folder (--out), or remove this one."
    try:
        tree = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise WorkFolderError(f"{path} cannot be read as a state of training: {error}.", remedy) from None
    if not isinstance(tree, dict) or tree.get("schema") != SCHEMA:
        raise WorkFolderError(f"{path} is not a state of training of this version.", remedy)
    differences = _differences(tree["about"], about)
    if differences:
        raise ConfigError(f"{path} was begun otherwise: {'; '.join(differences)}.", f"Undo that. {remedy}")
    tuned = {name: p for name, p in net.named_parameters() if p.requires_grad}
    with torch.no_grad():
        for name, parameter in tuned.items():
            parameter.copy_(tree["tuned"][name])
    optimizer.load_state_dict(tree["optimizer"])
    return Saved(TrainingPosition(**tree["standing"]), Tally(**tree["window"]), Tally(**tree["epoch"]))


def _differences(then: Mapping[str, Any], now: Mapping[str, Any], prefix: str = "") -> list[str]:
    """What differs, as ``optim.lr was 0.1, is 0.2``."""
    found = []
    for key in sorted(set(then) | set(now)):
        old, new = then.get(key), now.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            found += _differences(old, new, f"{prefix}{key}.")
        elif old != new:
            found.append(f"{prefix}{key} was {old!r}, is {new!r}")
    return found


def rate_factor(step: int, total: int, warmup: float, floor: float) -> float:
    """The part of its highest rate with which step ``step`` of ``total`` (from 0) is taken.

    It rises evenly to 1 at the last of ``ceil(warmup * total)`` steps, then falls by a cosine to ``floor``
    at the last step of all.
    """
    rising = math.ceil(warmup * total)
    if step < rising:
        return (step + 1) / rising
    way = (step - rising + 1) / max(total - rising, 1)
    return floor + (1 - floor) * (1 + math.cos(math.pi * way)) / 2


def parameter_groups(net: ScaleNet, settings: OptimSettings) -> list[dict[str, Any]]:
    """What is tuned, from the head back to the first tuned block, matrices apart from the rest.

    Each group has ``params``, ``name``, ``weight_decay``, and ``top``: its highest rate.
    """
    layers: list[tuple[str, torch.nn.Module, float]] = [
        ("head", net.head, settings.lr * settings.head_factor)
    ]
    first = net.design.backbone.blocks - net.design.tuned_blocks
    for back, block in enumerate(reversed(net.tuned)):
        number = first + net.design.tuned_blocks - 1 - back
        layers.append((f"block {number}", block, settings.lr * settings.layer_decay**back))
    groups = []
    for name, layer, top in layers:
        matrices = [p for p in layer.parameters() if p.ndim > 1]
        others = [p for p in layer.parameters() if p.ndim <= 1]
        groups += [
            {"params": matrices, "name": name, "weight_decay": settings.weight_decay, "top": top},
            {"params": others, "name": f"{name}, no decay", "weight_decay": 0.0, "top": top},
        ]
    return groups


def make_optimizer(net: ScaleNet, settings: OptimSettings) -> torch.optim.AdamW:
    """AdamW over `parameter_groups`; `set_rates` sets the rates of each step."""
    on_gpu = net.head.weight.device.type == "cuda"
    return torch.optim.AdamW(parameter_groups(net, settings), lr=0.0, fused=on_gpu or None)


def set_rates(optimizer: torch.optim.AdamW, factor: float) -> None:
    """Give each group ``factor`` of its highest rate."""
    for group in optimizer.param_groups:
        group["lr"] = group["top"] * factor


def class_weights(counts: Mapping[ShotScale, int], kind: str) -> tuple[float, ...]:
    """Weight of a picture of each class: 1, or for ``inverse`` total / (classes * items of the class).

    The mean over all pictures is 1.
    """
    if kind == "none":
        return (1.0,) * len(ShotScale)
    total = sum(counts.values())
    return tuple(total / (len(ShotScale) * counts[scale]) for scale in ShotScale)


class ProcessGroup:
    """This process among those that train: who it is, where it computes, and what they do together."""

    def __init__(self, compute: ComputeSettings) -> None:
        """Join the processes that ``accelerate launch`` or torchrun started, or be alone."""
        accelerate = need("accelerate", "Training", "train")
        several = int(os.environ.get("WORLD_SIZE", "1")) > 1
        device = device_of(compute)
        if several and device.index is not None:
            raise ConfigError(
                f"compute.device = {compute.device!r} names one device for several processes.",
                f"Take {device.type}: each process gets its own.",
            )
        self._accelerator = accelerate.Accelerator(cpu=device.type == "cpu", mixed_precision="no")
        self.device: torch.device = self._accelerator.device if several else device
        self.rank: int = self._accelerator.process_index
        self.size: int = self._accelerator.num_processes
        self.precision: torch.dtype = dtype_of(compute, self.device)

    @property
    def leads(self) -> bool:
        """True for the one process that writes and speaks."""
        return self.rank == 0

    def joined(self, net: torch.nn.Module) -> Any:
        """The net with gradients that are means over all processes."""
        return self._accelerator.prepare(net) if self.size > 1 else net

    def alone(self, net: Any, *, last: bool) -> AbstractContextManager[Any]:
        """A backward pass inside this is kept to oneself unless it is the ``last`` of a step."""
        return nullcontext() if last or self.size == 1 else self._accelerator.no_sync(net)

    def mixed(self) -> AbstractContextManager[Any]:
        """Matrix products in bfloat16, where that is the precision."""
        bf16 = self.precision is torch.bfloat16
        context: AbstractContextManager[Any] = torch.autocast(self.device.type, torch.bfloat16, enabled=bf16)
        return context

    def sum(self, values: torch.Tensor) -> torch.Tensor:
        """The sum over all processes."""
        if self.size == 1:
            return values
        total: torch.Tensor = self._accelerator.reduce(values, reduction="sum")
        return total

    def any(self, here: bool) -> bool:
        """True in all processes where it is in one."""
        return bool(self.sum(torch.tensor(float(here), device=self.device)))

    def wait(self) -> None:
        """Until all are here."""
        self._accelerator.wait_for_everyone()

    def leave(self) -> None:
        """The end of what is done together."""
        if self.size > 1:
            self.wait()
            self._accelerator.end_training()


def end_process() -> None:
    """End one process of several at once, after all is written; where there is one only, do nothing.

    A net that was trained by several holds on to their group, whose threads abort the process now and then
    when the interpreter is taken down around them (pytorch/pytorch#179291, #190489).
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
