"""What a line depends on, as hashes: a line whose hash is the same need not be made again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shotad.core import Config, ConfigError, Interval, data_root, key_of
from shotad.description import Engines, identity_record
from shotad.evaluation.datasets.ads import Ad

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
    return key_of("predict/1", settings, who, _prompts_hash(), _examples_hash(config))


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


def leans_on_others(config: Config, engines: Engines, *, cast: bool) -> bool:
    """Whether a clip's lines depend on which of its slots are described: by the lines before them, by the
    choice among candidates along the film, or by faces that the film lends to the cast."""
    return cast or config.stage2.candidates > 1 or engines.in_turn(config)


def _prompts_hash() -> str:
    """Of the texts of all prompts that the pipeline may use."""
    folder = data_root() / "prompts"
    files = sorted(file for room in _PROMPTS for file in (folder / room).glob("*.txt"))
    return key_of([[f"{file.parent.name}/{file.name}", _hash(file)] for file in files])


def _examples_hash(config: Config) -> str | None:
    return None if config.prompt.example_file is None else _hash(Path(config.prompt.example_file))


def _hash(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.", "Look for it.") from None
