"""Where a training stands, in one file, so that it goes on in the middle of an epoch as if never stopped.

The file holds what is tuned, not the frozen part: that is the backbone's own, whose hash is compared.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import ConfigError, WorkFolderError, need_torch, replacing
from shotad.grammar.scale_net import ScaleNet

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch("Training", "train")

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Standing:
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

    standing: Standing
    window: Tally
    epoch: Tally


def save_state(
    path: Path,
    saved: Saved,
    net: ScaleNet,
    optimizer: torch.optim.Optimizer,
    about: Mapping[str, Any],
) -> None:
    """Write the state; an older one is replaced only by a whole one. ``about`` says what is trained, on what
    and how, as JSON: a resumed run must be of the same."""
    tree = {
        "schema": SCHEMA,
        "about": dict(about),
        "standing": asdict(saved.standing),
        "window": asdict(saved.window),
        "epoch": asdict(saved.epoch),
        "tuned": {name: p.detach() for name, p in net.named_parameters() if p.requires_grad},
        "optimizer": optimizer.state_dict(),
    }
    with replacing(path) as part, part.open("wb") as stream:
        torch.save(tree, stream)


def load_state(
    path: Path, net: ScaleNet, optimizer: torch.optim.Optimizer, about: Mapping[str, Any]
) -> Saved:
    """Put the saved weights into net and optimizer, and say where training stood.

    Raises ConfigError where the state is of other settings, data or backbone, WorkFolderError where it
    cannot be read.
    """
    remedy = "Begin anew in another folder (--out), or remove this one."
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
    return Saved(Standing(**tree["standing"]), Tally(**tree["window"]), Tally(**tree["epoch"]))


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
