"""Tiny models of each kind that metrics load, in folders."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.evaluation.tiny_parser import make_parser
from tests.language.tiny_encoders import make_bert, make_gte


@dataclass(frozen=True)
class TinyModels:
    """A sentence encoder, a parser and a word encoder, and another of each."""

    settings: dict[str, Any]
    """The settings of measures that name them."""
    others: dict[str, Path]
    """Folders of others, by the group of settings."""


def make_models(folder: Path) -> TinyModels:
    """The models, in folders below this one."""
    encoders = {"embedding": make_gte(folder / "gte"), "recall": make_bert(folder / "bert")}
    settings: dict[str, Any] = {"parser": {"model": str(make_parser(folder / "parser"))}}
    others = {"parser": make_parser(folder / "other parser", version="1.1")}
    for group, model in encoders.items():
        settings[group] = {"model": str(model)}
        others[group] = shutil.copytree(model, folder / f"other {group}")
        # A model with another file is another model.
        with (others[group] / "config.json").open("a", encoding="utf-8") as file:
            file.write("\n")
    return TinyModels(settings, others)
