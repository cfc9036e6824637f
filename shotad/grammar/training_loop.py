"""The loop of training: steps, epochs, what is saved when, and how it is stopped without loss.

The state of a training is one file, so that it goes on in the middle of an epoch as if never stopped. The
file holds what is tuned, not the frozen part: that is the backbone's own, whose hash is compared. Rates of
learning go by layer, as BEiT and MAE fine-tune, and by step. Several processes train together, one for each
GPU, through accelerate, which takes torch's DistributedDataParallel; one process is a group too.
"""

from __future__ import annotations

import itertools
import math
import os
import pickle
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from shotad.core import (
    Progress,
    ShotadError,
    ShotScale,
    Task,
)
from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import ConfigError, WorkFolderError
from shotad.core.files import replace_file
from shotad.core.model_loading import (
    device_of,
    dtype_of,
    first_message_line,
    require_module,
    require_torch,
)
from shotad.core.progress import progress_task
from shotad.grammar.scale_data import ScaleData, ScaleItem
from shotad.grammar.scale_net import ScaleNet, save_net
from shotad.grammar.training_feed import Feed, MicroBatch, Pick, epoch_order, in_batches, share_of
from shotad.grammar.training_records import MetricLog, ScalePredictions
from shotad.grammar.training_settings import OptimSettings, ScaleTraining
from shotad.grammar.training_stop import Stop

if TYPE_CHECKING:
    import torch
else:
    torch = require_torch("Training", "train")

BEST = "best.safetensors"
LAST = "last.safetensors"
STATE = "state.pt"

SCHEMA = 2
"""Of the state; one of another schema is refused."""
_REMEDY = "Start again in another folder (--out), or remove this one."


@dataclass(eq=False)
class TrainingLoop:
    """A training that is under way: ``position`` counts the steps done of epoch ``epoch`` (from 0), ``step``
    those of all epochs; the best epoch is that with the highest macro-F1 on val."""

    net: ScaleNet
    data: ScaleData
    settings: ScaleTraining
    processes: ProcessGroup
    out: Path
    feed: Feed
    identity: Mapping[str, Any]
    """What is trained, on what and how, as JSON: a resumed run must be of the same."""
    record: Mapping[str, Any]
    """The same for the checkpoints, with what is only worth knowing."""
    progress: Progress
    stop: Stop

    def __post_init__(self) -> None:
        self._train = self.data.of("train")
        self._steps_per_epoch = math.ceil(len(self._train) / self.settings.batch)
        self._total = self._steps_per_epoch * self.settings.epochs
        self._module = self.processes.joined(self.net)
        self._optimizer = make_optimizer(self.net, self.settings.optim)
        # Gradients in float16 are scaled up, for small ones would be 0; else this passes all on as it is.
        self._scaler = torch.amp.GradScaler(
            self.processes.device.type, enabled=self.processes.precision is torch.float16
        )
        # Weight of a picture of each class, 1 as the mean over all pictures
        counts = self.data.counts("train").values()
        even = self.settings.optim.class_weights == "none"
        self._weights = [1.0 if even else sum(counts) / (len(counts) * count) for count in counts]
        self._weight_of_class = torch.tensor(self._weights, device=self.processes.device)
        self.epoch = self.position = self.step = 0
        self.best: float | None = None
        self.best_epoch: int | None = None
        # This process's losses since the last row of the log, and of the epoch; and of how many steps
        self._losses = torch.zeros(2, device=self.processes.device)
        self._window = self._epoch_steps = 0
        self._log: MetricLog | None = None

    def _is_over(self) -> bool:
        """True after the last epoch, and after ``patience`` epochs without a better one."""
        best, patience = self.best_epoch, self.settings.patience
        out_of_patience = patience is not None and best is not None and self.epoch - 1 - best >= patience
        return self.epoch >= self.settings.epochs or out_of_patience

    def run(self) -> None:
        """Train to the end, from the state in ``out`` where there is one.

        Raises KeyboardInterrupt after the state is saved, where that is asked for, ConfigError where the
        state is of other settings, data or backbone, WorkFolderError where it cannot be read.
        """
        last_logged = None
        if (self.out / STATE).is_file():
            self._load()
            # The row of an epoch's last step is written after validation, which is still to come.
            is_row_pending = self.position == self._steps_per_epoch and self._window > 0
            last_logged = self.step - is_row_pending
            self.progress.note(f"Going on after step {self.step} of {self._total}.")
        if self.processes.leads:
            board = self.settings.tensorboard
            self._log = MetricLog(self.out, resume_after=last_logged, tensorboard=board)
        with self._log or nullcontext():
            if self._log and self._log.note:
                self.progress.note(self._log.note)
            remaining = 0 if self._is_over() else self._total - self.step
            with progress_task(self.progress, "Training", remaining, "steps") as task:
                while not self._is_over():
                    began, waited, images = time.perf_counter(), self.feed.waited, self._images_done()
                    norm = self._steps(task)
                    seconds, waited = time.perf_counter() - began, self.feed.waited - waited
                    self._end_epoch(norm, Speed(self._images_done() - images, seconds, waited))
        if self.epoch < self.settings.epochs:
            best, patience = (self.best_epoch or 0) + 1, self.settings.patience
            self.progress.note(f"Stopped early: no better epoch than {best} in {patience} epochs.")

    def _images_done(self) -> int:
        """How many pictures of the epoch were trained on, by all processes."""
        return min(self.position * self.settings.batch, len(self._train))

    def _steps(self, task: Task) -> torch.Tensor | None:
        """Take the steps that are left of the epoch, and do what is due between them: log, state, stop.

        Gives the norm of the last one's gradient.
        """
        self.net.train()
        processes, settings, train = self.processes, self.settings, self._train
        order = epoch_order([item.key for item in train], settings.seed, self.epoch)
        batches = in_batches(order, settings.batch)[self.position :]
        plans = []
        for batch in batches:  # what this process sees of it, in parts that fit its device
            mine = share_of(batch, processes.rank, processes.size)
            parts = in_batches(mine or batch[:1], settings.compute.batch)
            plans.append([[Pick(train[k], self.epoch, counts=bool(mine)) for k in part] for part in parts])
        micro_batches = self.feed.micro_batches([picks for plan in plans for picks in plan])
        norm = None
        for batch, plan in zip(batches, plans, strict=True):
            weight = sum(self._weights[train[place].scale.number] for place in batch)
            norm = self._step(weight, itertools.islice(micro_batches, len(plan)), len(plan))
            task.advance()
            if self.position == self._steps_per_epoch:
                break
            logs, saves = self.step % settings.log_every == 0, self.step % settings.save_every == 0
            # Asking the others costs time, so that several processes do it as often as they log.
            stops = self.stop.is_asked if processes.size == 1 else logs and processes.any(self.stop.is_asked)
            if logs:
                self._write(self._window_values(norm))
            if saves or stops:
                self.save()
            if stops:
                self._interrupt()
        return norm

    def _step(self, weight: float, micro_batches: Iterator[MicroBatch], count: int) -> torch.Tensor:
        """One step of the optimiser, by ``count`` micro-batches of this process; ``weight`` is the whole
        step's.

        Gives the norm of the gradient; in float16 it is not finite where the step was left out.
        """
        optim = self.settings.optim
        set_rates(self._optimizer, rate_factor(self.step, self._total, optim.warmup, optim.floor))
        # The only chance inside the net is that of skipped blocks; seeded by step, it needs no saving.
        rng = random.Random(f"{self.settings.seed}:{self.step}:{self.processes.rank}")
        torch.manual_seed(rng.getrandbits(63))
        losses_of_parts = []
        for number, loaded in enumerate(micro_batches, 1):
            micro_batch = loaded.to(self.processes.device)
            with self.processes.alone(self._module, last=number == count):
                with self.processes.mixed():
                    logits = self._module(*micro_batch.images)
                losses = torch.nn.functional.cross_entropy(
                    logits.float(),
                    micro_batch.labels,
                    weight=self._weight_of_class,
                    label_smoothing=optim.label_smoothing,
                    reduction="none",
                )
                loss = (losses * micro_batch.counts).sum() / weight
                # Gradients become means over the processes; what is wanted is their sum.
                self._scaler.scale(loss * self.processes.size).backward()
            losses_of_parts.append(loss.detach())
        self._scaler.unscale_(self._optimizer)
        tuned = [p for group in self._optimizer.param_groups for p in group["params"]]
        norm: torch.Tensor = torch.nn.utils.clip_grad_norm_(tuned, optim.clip)
        self._scaler.step(self._optimizer)
        self._scaler.update()
        self._optimizer.zero_grad(set_to_none=True)
        self._losses += torch.stack(losses_of_parts).sum()
        self._window, self._epoch_steps = self._window + 1, self._epoch_steps + 1
        self.position, self.step = self.position + 1, self.step + 1
        return norm

    def _interrupt(self) -> NoReturn:
        """End the run as Ctrl-C does, after the state was saved."""
        self.progress.note(f"Stopped after step {self.step} of {self._total}: --resume goes on.")
        raise KeyboardInterrupt

    def _window_values(self, norm: torch.Tensor | None) -> dict[str, float]:
        """The figures of the steps since the last row."""
        loss = float(self.processes.sum(self._losses)[0]) / self._window
        if not math.isfinite(loss):
            raise ShotadError(
                f"The loss is {loss} at step {self.step}.",
                "Lower optim.lr, or take compute.precision=float32; --resume goes on from the last state.",
            )
        self._losses[0] = 0
        self._window = 0
        values = {"train/loss": loss, "train/lr": self._optimizer.param_groups[0]["lr"]}
        if norm is not None:
            values["train/gradient"] = float(norm)
        if self._scaler.is_enabled():
            values["train/loss_scale"] = self._scaler.get_scale()
        return values

    def _write(self, values: Mapping[str, float]) -> None:
        if self._log is not None:
            self._log.add(self.step, values)

    def save(self) -> None:
        """Save the state of a moment between two steps; an older one is replaced only by a whole one."""
        window, epoch = self.processes.sum(self._losses).tolist()
        if not self.processes.leads:
            return
        tree = {
            "schema": SCHEMA,
            "identity": dict(self.identity),
            "position": {
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
            "scaler": self._scaler.state_dict(),
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
        if differences := _differences(tree["identity"], self.identity):
            problem = f"{path} was begun otherwise: {'; '.join(differences)}."
            raise ConfigError(problem, f"Undo that. {_REMEDY}")
        with torch.no_grad():
            for name, parameter in self.net.named_parameters():
                if parameter.requires_grad:
                    parameter.copy_(tree["tuned"][name])
        self._optimizer.load_state_dict(tree["optimizer"])
        window, epoch = tree["window"], tree["epoch"]
        # A training that goes on in float16 after another precision begins with a scale of its own.
        if self._scaler.is_enabled() and tree["scaler"]:
            self._scaler.load_state_dict(tree["scaler"])
        vars(self).update(tree["position"])
        self._window, self._epoch_steps = window["steps"], epoch["steps"]
        if self.processes.leads:
            self._losses += torch.tensor([window["loss"], epoch["loss"]], device=self.processes.device)

    def _end_epoch(self, norm: torch.Tensor | None, speed: Speed) -> None:
        """Score the epoch on val, write its figures and checkpoints, and go to the next."""
        # One process alone may be stopped on the way: all steps of the epoch are saved.
        predictions = predict_split(
            self.net,
            self.data.of("val"),
            self.feed,
            self.processes,
            self.settings.compute.batch,
            progress=self.progress,
            name="Validating",
            stop=self.stop if self.processes.size == 1 else None,
        )
        if predictions is None:
            self.save()
            self._interrupt()
        val = predictions.scores()
        loss = float(self.processes.sum(self._losses)[1]) / self._epoch_steps
        values = {} if not self._window else self._window_values(norm)
        self._write({**values, "epoch/loss": loss, **speed.values(), **val.values("val")})
        number, is_best = self.epoch + 1, self.best is None or val.macro_f1 > self.best
        if self.processes.leads:
            record = {**self.record, "epoch": number, "steps": self.step, "val": val.record()}
            for name in (BEST, LAST) if is_best else (LAST,):
                save_net(self.out / name, self.net, record)
        self.progress.note(
            f"Epoch {number} of {self.settings.epochs}: loss {loss:.4f}; on val accuracy "
            f"{val.accuracy:.3f}, macro-F1 {val.macro_f1:.3f}{' (best so far)' if is_best else ''}.{speed}"
        )
        if is_best:
            self.best, self.best_epoch = val.macro_f1, self.epoch
        self.epoch, self.position = number, 0
        self._losses.zero_()
        self._window = self._epoch_steps = 0
        self.save()
        if self.processes.any(self.stop.is_asked) and not self._is_over():
            self._interrupt()


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast the steps of an epoch were that were taken since the program began.

    ``images`` over all processes; ``waited`` are the seconds in which this process waited for pictures.
    """

    images: int
    seconds: float
    waited: float

    def values(self) -> dict[str, float]:
        """For the log; empty where all steps had been taken before."""
        if not self.images:
            return {}
        return {
            "epoch/images_per_second": self.images / self.seconds,
            "epoch/waiting": self.waited / self.seconds,
        }

    def __str__(self) -> str:
        if not self.images:
            return ""
        waiting = self.waited / self.seconds
        return f" {self.images / self.seconds:.3g} images/s, {waiting:.0%} of the time waiting for pictures."


def predict_split(
    net: ScaleNet,
    items: Sequence[ScaleItem],
    feed: Feed,
    processes: ProcessGroup,
    batch: int,
    *,
    progress: Progress,
    name: str,
    stop: Stop | None = None,
) -> ScalePredictions | None:
    """What the net says of the middle frame of each item, of which each process sees its share.

    All processes get the whole. ``name`` is what the progress is called. None where ``stop`` asks.
    """
    mine = in_batches(share_of(range(len(items)), processes.rank, processes.size), batch)
    log_probabilities = torch.zeros(len(items), len(ShotScale), device=processes.device)
    net.train(False)
    with progress_task(progress, name, sum(map(len, mine)), "images") as task:
        loaded = feed.micro_batches([[Pick(items[k]) for k in part] for part in mine])
        for part, micro_batch in zip(mine, loaded, strict=True):
            if stop is not None and stop.is_asked:
                return None
            places = torch.tensor(part)[micro_batch.places].to(processes.device)
            images = micro_batch.to(processes.device).images
            with torch.inference_mode(), processes.mixed():
                logits = net(*images).float()
            log_probabilities[places] = logits.log_softmax(-1)
            task.advance(len(part))
    # Each row is that of one process, and zero in all others.
    gathered = processes.sum(log_probabilities).cpu().numpy()
    labels = np.array([item.scale.number for item in items], np.int64)
    return ScalePredictions(labels, gathered)


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
    fallen = (step - rising + 1) / max(total - rising, 1)
    return floor + (1 - floor) * (1 + math.cos(math.pi * fallen)) / 2


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


_FLOAT16_CAPABILITY = (7, 0)
"""The CUDA capability from which on GPUs multiply float16 faster than float32: Volta, the first with tensor
cores (NVIDIA, "Train with mixed precision")."""


def training_dtype(compute: ComputeSettings, device: torch.device) -> torch.dtype:
    """The precision of the matrix products of a training; weights and gradients' sums stay in float32.

    Of the settings, or with ``auto`` by what torch says of the device: bfloat16 where `dtype_of` takes it,
    else float16 on a GPU that gains by it (V100, T4, RTX 20), else float32.
    """
    if compute.precision == "float16":
        return torch.float16
    dtype = dtype_of(compute, device)
    if compute.precision == "auto" and device.type == "cuda" and dtype is torch.float32:
        has_float16 = torch.cuda.get_device_capability(device) >= _FLOAT16_CAPABILITY
        return torch.float16 if has_float16 else dtype
    return dtype


def _is_of_other_process(error: RuntimeError) -> bool:
    """True for what torch raises where other processes are not there. Gloo has no class of its own for it."""
    return isinstance(error, torch.distributed.DistError) or "gloo" in str(error).lower()


class ProcessGroup:
    """The processes that train together, as this one sees them: where it computes, and what they share."""

    def __init__(self, compute: ComputeSettings) -> None:
        """Join the processes that ``accelerate launch`` or torchrun started, or be alone.

        Raises ConfigError for one device that is named for several processes.
        """
        accelerate = require_module("accelerate", "Training", "train")
        are_several = int(os.environ.get("WORLD_SIZE", "1")) > 1
        device = device_of(compute)
        if are_several and device.index is not None:
            raise ConfigError(
                f"compute.device = {compute.device!r} names one device for several processes.",
                f"Take {device.type}: each process gets its own.",
            )
        try:
            self._accelerator = accelerate.Accelerator(cpu=device.type == "cpu", mixed_precision="no")
        except RuntimeError as error:
            if not (are_several and _is_of_other_process(error)):
                raise
            # After a restart torchrun may hand out addresses of processes that are gone (pytorch#135712).
            raise ShotadError(
                f"The processes of this training do not reach each other: {first_message_line(error)}.",
                "Start again with --resume. For restarts set TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1, and give "
                "torchrun --standalone (on several machines --rdzv-backend=c10d).",
            ) from None
        self.device: torch.device = self._accelerator.device if are_several else device
        self.rank: int = self._accelerator.process_index
        self.size: int = self._accelerator.num_processes
        self.precision: torch.dtype = training_dtype(compute, self.device)

    @contextmanager
    def explain_lost_process(self) -> Iterator[None]:
        """Raise ShotadError in place of what torch raises in the block where another process ended."""
        try:
            yield
        except RuntimeError as error:
            if self.size == 1 or not _is_of_other_process(error):
                raise
            raise ShotadError(
                f"Another process of this training ended, so process {self.rank} ends too: "
                f"{first_message_line(error)}.",
                "The message of that process says why. --resume goes on from the last state.",
            ) from None

    @property
    def leads(self) -> bool:
        """True for the one process that writes files and messages."""
        return self.rank == 0

    def joined(self, net: torch.nn.Module) -> Any:
        """The net with gradients that are means over all processes."""
        return self._accelerator.prepare(net) if self.size > 1 else net

    def alone(self, net: Any, *, last: bool) -> AbstractContextManager[Any]:
        """Inside this a backward pass shares its gradients only if it is the ``last`` of a step."""
        return nullcontext() if last or self.size == 1 else self._accelerator.no_sync(net)

    def mixed(self) -> AbstractContextManager[Any]:
        """Matrix products in 16 bits, where that is the precision."""
        is_mixed = self.precision is not torch.float32
        context: AbstractContextManager[Any] = torch.autocast(
            self.device.type, self.precision if is_mixed else torch.bfloat16, enabled=is_mixed
        )
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
        """Wait until all processes are here."""
        self._accelerator.wait_for_everyone()

    def leave(self) -> None:
        """Leave the group, when all are done."""
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
