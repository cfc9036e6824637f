"""The processes that train together, one for each GPU, through accelerate. One process is a crew too."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from shotad.core import ComputeSettings, ConfigError, device_of, dtype_of, need, need_torch

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch("Training", "train")


class Crew:
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
