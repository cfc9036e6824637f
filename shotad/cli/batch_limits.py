"""How ``shotad batch`` works on one machine: films at once, further tries, disk and memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shotad.core import Config, UsageError

if TYPE_CHECKING:
    from shotad.batch import Terms

OFF = "off"
AUTO = "auto"


def terms_of(options: Mapping[str, Any], config: Config, films: int) -> Terms:
    """The terms of a batch of so many films (with ``--watch``: to begin with)."""
    from shotad.batch import Terms

    keep, memory = sizes_of(options)
    count = _as_many_as_go(options, config, films) if options["jobs"] == AUTO else count_of(options["jobs"])
    return Terms(count, options["retries"], keep, memory)


def _as_many_as_go(options: Mapping[str, Any], config: Config, films: int) -> int:
    from shotad.batch import how_many
    from shotad.core import memory_free, processors
    from shotad.engines import ENGINES, stage_engines

    stages = (stage_engines(config).stage1, stage_engines(config).stage2)
    local = any(ENGINES.get(one, one).startswith("shotad.engines.local") for one in stages)
    number = processors() if options["watch"] else films
    return how_many(number, processors(), memory_free(), loads_models=local)


def check_limits(options: Mapping[str, Any]) -> None:
    """Raises UsageError for limits that cannot be meant."""
    sizes_of(options)
    if options["jobs"] != AUTO:
        count_of(options["jobs"])


def sizes_of(options: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Bytes that stay free on disk, and those of memory that a film may take; None: no limit."""
    keep, memory = options["min_free"], options["memory"]
    free = None if keep == OFF else _size("--min-free", keep)
    most = None if memory is None else _size("--memory", memory)
    if most == 0:
        raise UsageError(f"--memory {memory} leaves nothing to a film.", "Write how much each may take: 4GB.")
    return free, most


def _size(option: str, text: str) -> int:
    from shotad.batch import parse_size

    try:
        return parse_size(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.what}", error.hint) from None


def count_of(text: str) -> int:
    """``--jobs`` as a number. Raises UsageError."""
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise UsageError(f"--jobs {text} is no number of films.", "Write 1, 2, … or auto.")
    return int(text)
