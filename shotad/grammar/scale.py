"""Which reader of shot scale the settings ask for."""

from __future__ import annotations

import difflib
from pathlib import Path

from shotad.core import ComputeSettings, ConfigError, Progress, ScaleSettings, manifest, weights_file
from shotad.grammar.base import ScaleReader

ROLE = "shot scale"
"""What a manifest entry says it is for where it may be used as ``scale.checkpoint``."""


def make_scale_reader(
    scale: ScaleSettings,
    compute: ComputeSettings,
    progress: Progress | None = None,
) -> ScaleReader | None:
    """The reader that ``scale.method`` names, its weights fetched; None for ``none``.

    Raises ConfigError for a classifier without a checkpoint, and for a checkpoint that is neither a file
    nor a name in the manifest; WeightsError where weights cannot be had or are damaged.
    """
    method = method_of(scale)
    if method == "none":
        return None
    if method == "classifier":
        file = _checkpoint_file(scale, progress)  # first: what is wrong with it needs no torch to be said
        from shotad.grammar.scale_net import ScaleClassifier

        classifier: ScaleReader = ScaleClassifier.load(file, compute)
        return classifier
    from shotad.grammar.by_face import ByFace

    return ByFace(progress)


def method_of(scale: ScaleSettings) -> str:
    """The method that is used: ``classifier``, ``by-face`` or ``none``."""
    if scale.method == "auto":
        return "by-face" if scale.checkpoint is None else "classifier"
    return scale.method


def scale_weights(scale: ScaleSettings) -> tuple[str, ...]:
    """Names in the manifest of the weights that the reader needs; none for a checkpoint that is a file.

    Raises ConfigError as `make_scale_reader` does.
    """
    method = method_of(scale)
    if method == "by-face":
        from shotad.grammar.by_face import by_face_weights

        return by_face_weights()
    if method == "classifier":
        name = _checkpoint(scale)
        return () if isinstance(name, Path) else (name,)
    return ()


def _checkpoint_file(scale: ScaleSettings, progress: Progress | None) -> Path:
    found = _checkpoint(scale)
    return found if isinstance(found, Path) else weights_file(found, progress)


def _checkpoint(scale: ScaleSettings) -> Path | str:
    """The checkpoint's file, or its name in the manifest."""
    if scale.checkpoint is None:
        raise ConfigError(
            "scale.method = classifier needs a checkpoint, and scale.checkpoint is not set.",
            "Set scale.checkpoint to a file made by `shotad train scale`, or take scale.method = by-face, "
            "which needs none.",
        )
    path = Path(scale.checkpoint).expanduser()
    if path.is_file():
        return path
    entries = manifest()
    if scale.checkpoint not in entries:
        raise ConfigError(
            f"scale.checkpoint = {scale.checkpoint!r} is neither a file nor a name in the manifest.",
            _advice(scale.checkpoint, [name for name, entry in entries.items() if entry.role == ROLE]),
        )
    role = entries[scale.checkpoint].role
    if role != ROLE:
        raise ConfigError(
            f"scale.checkpoint = {scale.checkpoint!r} names weights for {role}, not for {ROLE}.",
            "Name a file made by `shotad train scale`.",
        )
    return scale.checkpoint


def _advice(wanted: str, known: list[str]) -> str:
    """The nearest names: of files beside the one wanted, and in the manifest."""
    folder = Path(wanted).expanduser().parent
    beside = sorted(str(p) for p in folder.glob("*.safetensors")) if folder.is_dir() else []
    near = difflib.get_close_matches(wanted, [*known, *beside], n=3, cutoff=0.4)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    names = f"Names in the manifest: {', '.join(known)}. " if known else ""
    return f"{names}Name a file made by `shotad train scale`."
