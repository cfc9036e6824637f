"""The loop of training: steps, epochs, what is saved when, and how it is stopped without loss.

Where a training stands is in one file, so that it goes on in the middle of an epoch as if never stopped.
The file holds what is tuned, not the frozen part: that is the backbone's own, whose hash is compared. Rates
of learning go by layer, as BEiT and MAE fine-tune, and by step. Several processes train together, one for
each GPU, through accelerate; one process is a crew too.
"""

from __future__ import annotations

import itertools
import math
import os
import pickle
import random
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from shotad.core import (
    Progress,
    ShotadError,
    Task,
)
from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import ConfigError, WorkFolderError
from shotad.core.files import replace_file
from shotad.core.model_loading import (
    device_of,
    dtype_of,
    require_module,
    require_torch,
)
from shotad.core.progress import progress_task
from shotad.grammar.scale_data import ScaleData, Split
from shotad.grammar.scale_net import ScaleNet, save_net
from shotad.grammar.training_feed import Feed, Pick, TrainingPiece, epoch_order, in_batches, share_of
from shotad.grammar.training_records import MetricLog, ScaleScores
from shotad.grammar.training_settings import OptimSettings, ScaleTraining

if TYPE_CHECKING:
    import torch
else:
    torch = require_torch("Training", "train")

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


SCHEMA = 1
_REMEDY = "Start again in another folder (--out), or remove this one."


@dataclass(eq=False)
class Loop:
    """A training that is under way: ``position`` counts the steps done of epoch ``epoch`` (from 0), ``step``
    those of all epochs; the best epoch is that with the highest macro-F1 on val."""

    net: ScaleNet
    data: ScaleData
    settings: ScaleTraining
    crew: ProcessGroup
    out: Path
    about: Mapping[str, Any]
    """What is trained, on what and how, as JSON: a resumed run must be of the same."""
    record: Mapping[str, Any]
    """The same for the checkpoints, with what is only worth knowing."""
    progress: Progress
    stop: Stop

    def __post_init__(self) -> None:
        self._train = self.data.of("train")
        self._steps_per_epoch = math.ceil(len(self._train) / self.settings.batch)
        self._total = self._steps_per_epoch * self.settings.epochs
        self._module = self.crew.joined(self.net)
        self._optimizer = make_optimizer(self.net, self.settings.optim)
        self._feed = Feed(self.settings)
        # Weight of a picture of each class, 1 as the mean over all pictures
        counts = self.data.counts("train").values()
        even = self.settings.optim.class_weights == "none"
        self._weights = [1.0 if even else sum(counts) / (len(counts) * count) for count in counts]
        self.epoch = self.position = self.step = 0
        self.best: float | None = None
        self.best_epoch: int | None = None
        # This process's losses since the last row of the log, and of the epoch; and of how many steps
        self._losses = torch.zeros(2, device=self.crew.device)
        self._window = self._epoch_steps = 0
        self._log: MetricLog | None = None

    def close(self) -> None:
        """End the processes that read pictures."""
        self._feed.close()

    def _is_over(self) -> bool:
        """True after the last epoch, and after ``patience`` epochs without a better one."""
        best, patience = self.best_epoch, self.settings.patience
        tired = patience is not None and best is not None and self.epoch - 1 - best >= patience
        return self.epoch >= self.settings.epochs or tired

    def run(self) -> None:
        """Train to the end, from the state in ``out`` where there is one.

        Raises KeyboardInterrupt after the state is saved, where that is asked for, ConfigError where the
        state is of other settings, data or backbone, WorkFolderError where it cannot be read.
        """
        after = None
        if (self.out / STATE).is_file():
            self._load()
            # The row of an epoch's last step is written after validation, which is still to come.
            pending = self.position == self._steps_per_epoch and self._window > 0
            after = self.step - pending
        board = self.settings.tensorboard
        self._log = MetricLog(self.out, resume_after=after, tensorboard=board) if self.crew.leads else None
        with self._log or nullcontext():
            if self._log and self._log.note:
                self.progress.note(self._log.note)
            left = 0 if self._is_over() else self._total - self.step
            with progress_task(self.progress, "Training", left, "steps") as task:
                while not self._is_over():
                    self._end_epoch(self._steps(task))
        if self.epoch < self.settings.epochs:
            best, patience = (self.best_epoch or 0) + 1, self.settings.patience
            self.progress.note(f"Stopped early: no better epoch than {best} in {patience} epochs.")

    def _steps(self, task: Task) -> torch.Tensor | None:
        """Take the steps that are left of the epoch, and do what is due between them: log, state, stop.

        Gives the norm of the last one's gradient.
        """
        self.net.train()
        crew, settings, train = self.crew, self.settings, self._train
        order = epoch_order([item.key for item in train], settings.seed, self.epoch)
        batches = in_batches(order, settings.batch)[self.position :]
        plans = []
        for batch in batches:  # what this process sees of it, in pieces that fit its device
            mine = share_of(batch, crew.rank, crew.size)
            pieces = in_batches(mine or batch[:1], settings.compute.batch)
            plans.append([[Pick(train[k], self.epoch, counts=bool(mine)) for k in piece] for piece in pieces])
        fed = self._feed.pieces([picks for plan in plans for picks in plan])
        norm = None
        for batch, plan in zip(batches, plans, strict=True):
            weight = sum(self._weights[train[place].scale.number] for place in batch)
            norm = self._step(weight, itertools.islice(fed, len(plan)), len(plan))
            task.advance()
            if self.position == self._steps_per_epoch:
                break
            logs, saves = self.step % settings.log_every == 0, self.step % settings.save_every == 0
            # Asking the others costs time, so that several processes do it as often as they log.
            stops = self.stop.asked if crew.size == 1 else logs and crew.any(self.stop.asked)
            if logs:
                self._write(self._window_values(norm))
            if saves or stops:
                self.save()
            if stops:
                self._say_stopped()
        return norm

    def _step(self, weight: float, pieces: Iterator[TrainingPiece], count: int) -> torch.Tensor:
        """One step of the optimiser, by ``count`` pieces of this process; ``weight`` is the whole step's.

        Gives the norm of the gradient.
        """
        optim = self.settings.optim
        set_rates(self._optimizer, rate_factor(self.step, self._total, optim.warmup, optim.floor))
        # The only chance inside the net is that of skipped blocks; seeded by step, it needs no saving.
        chance = random.Random(f"{self.settings.seed}:{self.step}:{self.crew.rank}")
        torch.manual_seed(chance.getrandbits(63))
        piece_losses = []
        for number, held in enumerate(pieces, 1):
            piece = held.to(self.crew.device)
            with self.crew.alone(self._module, last=number == count):
                with self.crew.mixed():
                    logits = self._module(*piece.groups)
                losses = torch.nn.functional.cross_entropy(
                    logits.float(),
                    piece.labels,
                    weight=torch.tensor(self._weights, device=logits.device),
                    label_smoothing=optim.label_smoothing,
                    reduction="none",
                )
                loss = (losses * piece.counts).sum() / weight
                (loss * self.crew.size).backward()
            piece_losses.append(loss.detach())
        tuned = [p for group in self._optimizer.param_groups for p in group["params"]]
        norm: torch.Tensor = torch.nn.utils.clip_grad_norm_(tuned, optim.clip)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self._losses += torch.stack(piece_losses).sum()
        self._window, self._epoch_steps = self._window + 1, self._epoch_steps + 1
        self.position, self.step = self.position + 1, self.step + 1
        return norm

    def _say_stopped(self) -> NoReturn:
        self.progress.note(f"Stopped after step {self.step} of {self._total}: --resume goes on.")
        raise KeyboardInterrupt

    def _window_values(self, norm: torch.Tensor | None) -> dict[str, float]:
        """The figures of the steps since the last row."""
        loss = float(self.crew.sum(self._losses)[0]) / self._window
        if not math.isfinite(loss):
            raise ShotadError(
                f"The loss is {loss} at step {self.step}.",
                "Lower optim.lr, or take compute.precision=float32; --resume goes on from the last state.",
            )
        self._losses[0] = 0
        self._window = 0
        values = {"train/loss": loss, "train/lr": self._optimizer.param_groups[0]["lr"]}
        return values if norm is None else {**values, "train/gradient": float(norm)}

    def _write(self, values: Mapping[str, float]) -> None:
        if self._log is not None:
            self._log.add(self.step, values)

    def save(self) -> None:
        """Save the state of a moment between two steps; an older one is replaced only by a whole one."""
        window, epoch = self.crew.sum(self._losses).tolist()
        if not self.crew.leads:
            return
        tree = {
            "schema": SCHEMA,
            "about": dict(self.about),
            "standing": {
                "epoch": self.epoch,
                "position": self.position,
                "step": self.step,
                "best": self.best,
                "best_epoch": self.best_epoch,
            },
            "window": {"loss": window, "steps": self._window},
            "epoch": {"loss": epoch, "steps": self._epoch_steps},
            "tuned": {name: p.detach() for name, p in self.net.named_parameters() if p.requires_grad},
            "optimizer": self._optimizer.state_dict(),
        }
        with replace_file(self.out / STATE) as part, part.open("wb") as stream:
            torch.save(tree, stream)

    def _load(self) -> None:
        """Go on from the state, which `save` wrote."""
        path = self.out / STATE
        try:
            tree = torch.load(path, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
            problem = f"{path} cannot be read as a state of training: {error}."
            raise WorkFolderError(problem, _REMEDY) from None
        if not isinstance(tree, dict) or tree.get("schema") != SCHEMA:
            raise WorkFolderError(f"{path} is not a state of training of this version.", _REMEDY)
        if differences := _differences(tree["about"], self.about):
            problem = f"{path} was begun otherwise: {'; '.join(differences)}."
            raise ConfigError(problem, f"Undo that. {_REMEDY}")
        with torch.no_grad():
            for name, parameter in self.net.named_parameters():
                if parameter.requires_grad:
                    parameter.copy_(tree["tuned"][name])
        self._optimizer.load_state_dict(tree["optimizer"])
        window, epoch = tree["window"], tree["epoch"]
        vars(self).update(tree["standing"])
        self._window, self._epoch_steps = window["steps"], epoch["steps"]
        if self.crew.leads:
            self._losses += torch.tensor([window["loss"], epoch["loss"]], device=self.crew.device)

    def _end_epoch(self, norm: torch.Tensor | None) -> None:
        """Score the epoch on val, write its figures and checkpoints, and go to the next."""
        # One process alone may be stopped on the way: all steps of the epoch are saved.
        val = self.scored("val", "Validating", self.stop if self.crew.size == 1 else None)
        if val is None:
            self.save()
            self._say_stopped()
        loss = float(self.crew.sum(self._losses)[1]) / self._epoch_steps
        values = {} if not self._window else self._window_values(norm)
        on_val = {"val/loss": val.loss, "val/accuracy": val.accuracy, "val/macro_f1": val.macro_f1}
        self._write({**values, "epoch/loss": loss, **on_val})
        number, is_best = self.epoch + 1, self.best is None or val.macro_f1 > self.best
        if self.crew.leads:
            record = {**self.record, "epoch": number, "steps": self.step, "val": val.record()}
            for name in (BEST, LAST) if is_best else (LAST,):
                save_net(self.out / name, self.net, record)
        self.progress.note(
            f"Epoch {number} of {self.settings.epochs}: loss {loss:.4f}; on val accuracy "
            f"{val.accuracy:.3f}, macro-F1 {val.macro_f1:.3f}{' (best so far)' if is_best else ''}."
        )
        if is_best:
            self.best, self.best_epoch = val.macro_f1, self.epoch
        self.epoch, self.position = number, 0
        self._losses.zero_()
        self._window = self._epoch_steps = 0
        self.save()
        if self.crew.any(self.stop.asked) and not self._is_over():
            self._say_stopped()

    def scored(self, split: Split, name: str, stop: Stop | None = None) -> ScaleScores | None:
        """Scores of the net on a split, of which each process sees its share; None where ``stop`` asks."""
        crew, items = self.crew, self.data.of(split)
        mine = share_of(range(len(items)), crew.rank, crew.size)
        picks = [[Pick(items[k]) for k in batch] for batch in in_batches(mine, self.settings.compute.batch)]
        self.net.train(False)
        confusion = np.zeros((5, 5), np.int64)
        loss = 0.0
        with progress_task(self.progress, name, len(mine), "images") as task:
            for piece in self._feed.pieces(picks):
                if stop is not None and stop.asked:
                    return None
                on_device = piece.to(crew.device)
                with torch.inference_mode(), crew.mixed():
                    logits = self.net(*on_device.groups).float()
                loss += float(torch.nn.functional.cross_entropy(logits, on_device.labels, reduction="sum"))
                guesses = logits.argmax(-1).cpu().numpy()
                np.add.at(confusion, (piece.labels.numpy(), guesses), 1)
                task.advance(len(guesses))
        local = torch.tensor([*confusion.ravel().tolist(), loss], device=crew.device)
        *counts, total = crew.sum(local).tolist()
        return ScaleScores(np.array(counts, np.int64).reshape(5, 5), total / len(items))


def _differences(then: Mapping[str, Any], now: Mapping[str, Any], prefix: str = "") -> list[str]:
    """What differs, as ``optim.lr was 0.1, is 0.2``."""
    differences = []
    for key in sorted(set(then) | set(now)):
        old, new = then.get(key), now.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            differences += _differences(old, new, f"{prefix}{key}.")
        elif old != new:
            differences.append(f"{prefix}{key} was {old!r}, is {new!r}")
    return differences


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


class ProcessGroup:
    """This process among those that train: who it is, where it computes, and what they do together."""

    def __init__(self, compute: ComputeSettings) -> None:
        """Join the processes that ``accelerate launch`` or torchrun started, or be alone."""
        accelerate = require_module("accelerate", "Training", "train")
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
