"""What embedding models made of language models want, and what the library alone does not see to.

gte-Qwen2-7B-instruct, the action score's model, looks both ways and takes the vector of an end token that its
own code puts after each text. That code is not run here. Attention both ways is the library's since
transformers 5.2, by ``is_causal`` in the model's config; older ones look back only and say nothing. The end
token is left to us: the library's Qwen2 tokenizer passes over ``add_eos_token`` (seen in transformers
5.23), and the vector would be that of a full stop.
"""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

from shotad.core import WeightsError, need, reason

_PURPOSE = "Comparing sentences by meaning"
_BOTH_WAYS = (5, 2)
"""The first transformers that heed ``is_causal`` (its pull request 43705)."""


def check_both_ways(folder: Path) -> None:
    """Raise WeightsError where the model looks both ways and the installed library would not let it."""
    if _read(folder / "config.json").get("is_causal", True):
        return
    version = importlib.metadata.version("transformers")
    if tuple(int(part) for part in version.split(".")[:2]) < _BOTH_WAYS:
        raise WeightsError(
            f"The model in {folder} looks both ways (is_causal is false), and transformers {version} does "
            "not heed that: its vectors would be noise.",
            'Install a newer one: pip install "transformers>=5.2".',
        )


def ending(folder: Path) -> str:
    """What must be put after each text: the end token where the model wants one and its tokenizer, as it is
    loaded without the model's own code, puts none; else nothing."""
    if not _read(folder / "tokenizer_config.json").get("add_eos_token", False):
        return ""
    transformers = need("transformers", _PURPOSE, "language")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"The tokenizer in {folder} cannot be loaded: {reason(error)}.") from None
    ended = tokenizer("a")["input_ids"][-1] == tokenizer.eos_token_id
    return "" if ended or tokenizer.eos_token is None else str(tokenizer.eos_token)


def _read(path: Path) -> dict[str, Any]:
    """A JSON file of a model; empty where there is none."""
    if not path.is_file():
        return {}
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} cannot be read: {reason(error)}.") from None
    return found
