"""Training the classifier of shot scale, from labelled shots and a DINOv2 to a checkpoint with its figures.

The recipe of Shot-by-Shot's classifier is not published; ours stands in configs/train-scale.yaml and is
recorded in every checkpoint.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from shotad import __version__
from shotad.core import (
    NoProgress,
    Progress,
    ShotScale,
)
from shotad.core.errors import (
    ConfigError,
    UsageError,
    WeightsError,
    WorkFolderError,
)
from shotad.core.files import write_text
from shotad.core.model_loading import (
    NETWORK_HINT,
    is_model_folder,
    require_torch,
)
from shotad.core.workfolder import readable_json
from shotad.grammar.features import MODELS
from shotad.grammar.scale_data import SPLITS, ScaleData, read_items
from shotad.grammar.scale_net import (
    BackboneShape,
    ScaleDesign,
    ScaleNet,
    load_net,
    load_released,
    released_weights,
    save_net,
)
from shotad.grammar.training_loop import BEST, STATE, Loop, ProcessGroup, Stop
from shotad.grammar.training_records import PUBLISHED, ScaleScores
from shotad.grammar.training_settings import NetSettings, ScaleTraining, what_matters
from shotad.grammar.vit_features import folder_hash, load_model

if TYPE_CHECKING:
    import torch
else:
    torch = require_torch("Training", "train")

REPORT = "report.json"
PICTURE = "confusion.png"


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """A finished training: its best checkpoint, the epoch it is of (from 1), and its scores on test."""

    checkpoint: Path
    epoch: int
    test: ScaleScores
    record: dict[str, Any]


def train_scale(
    data: Path, out: Path, settings: ScaleTraining, *, resume: bool = False, progress: Progress | None = None
) -> TrainingResult:
    """Train on the labelled shots in ``data`` and write all results to the folder ``out``.

    ``resume`` goes on where a training in ``out`` was stopped, and begins where there is none. Raises
    UsageError where ``out`` holds a training and ``resume`` is False, ConfigError where that is of other
    settings or data, DatasetError for data that cannot be used, KeyboardInterrupt (after the state is
    saved) for Ctrl-C.
    """
    crew = ProcessGroup(settings.compute)
    speaks = progress if progress is not None and crew.leads else NoProgress()
    # Before the folder is made: data that cannot be used leave none.
    labelled = read_items(
        data, seed=settings.data.seed, annotation=settings.data.annotation, missing=settings.data.missing
    )
    with _held(out) if crew.leads else nullcontext(), Stop().listening() as stop:
        if not resume and (out / STATE).exists():
            problem = f"{out} holds a training that was begun before."
            raise UsageError(problem, "Go on with --resume, or take another --out.")
        counts = ", ".join(f"{sum(labelled.counts(split).values())} {split}" for split in SPLITS)
        speaks.note(" ".join([f"{labelled.layout}: {counts}.", *labelled.notes]))
        if not crew.leads:
            # The one that leads fetches the backbone; the others find it in the cache.
            crew.wait()
        net, backbone = start_net(settings.net, settings.seed, speaks)
        if crew.leads:
            crew.wait()
        net.to(crew.device)
        about, record = _described(labelled, settings, crew, backbone)
        loop = Loop(net, labelled, settings, crew, out, about, record, speaks, stop)
        try:
            loop.run()
            # Figures of the best epoch on test, into its checkpoint, the report and the picture
            crew.wait()
            best, record = load_net(out / BEST)
            load_released(net, released_weights(best))
            net.to(crew.device)
            test = loop.scored("test", "Testing")
        finally:
            loop.close()
        assert test is not None
        record = {**record, "test": test.record()}
        if crew.leads:
            save_net(out / BEST, best, record)
            rows = [{"name": name, "accuracy": a, "macro_f1": f1} for name, (a, f1) in PUBLISHED.items()]
            write_text(out / REPORT, readable_json({**record, "published": rows}))
            _draw(out / PICTURE, test)
        crew.leave()
        return TrainingResult(out / BEST, record["epoch"], test, record)


@contextmanager
def _held(out: Path) -> Iterator[None]:
    """The folder of results, held by one training at a time."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with FileLock(out / ".lock", timeout=0):
            yield
    except Timeout:
        raise WorkFolderError(
            f"Another training writes to {out}.", "Wait for it, or take another --out."
        ) from None
    except FileExistsError:
        raise UsageError(f"--out {out} is a file.", "Name a folder.") from None


def _described(
    data: ScaleData, settings: ScaleTraining, crew: ProcessGroup, backbone: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a resumed training must have in common, and what checkpoints say of how they were made."""
    named = what_matters(settings)
    named["net"]["backbone"] = backbone
    counts = {split: {scale.value: n for scale, n in data.counts(split).items()} for split in SPLITS}
    libraries = {name: version(name) for name in ("torch", "transformers", "accelerate", "numpy")}
    record = {
        "settings": named,
        "data": {"layout": data.layout, "fingerprint": data.fingerprint, "counts": counts},
        "versions": {"shotad": __version__, "python": platform.python_version(), **libraries},
        "computed": {
            "processes": crew.size,
            "device": crew.device.type,
            "precision": str(crew.precision).removeprefix("torch."),
        },
    }
    return {"settings": named, "data": data.fingerprint}, record


def _draw(path: Path, test: ScaleScores) -> None:
    from shotad.film.palette import matrix_png

    shares = test.confusion / test.confusion.sum(axis=1, keepdims=True).clip(min=1)
    cells = [
        [f"{share:.0%}\n{count}" for share, count in zip(*row, strict=True)]
        for row in zip(shares, test.confusion, strict=True)
    ]
    matrix_png(
        path,
        shares,
        [scale.value for scale in ShotScale],
        title=f"Shot scale on test: accuracy {test.accuracy:.3f}, macro-F1 {test.macro_f1:.3f}",
        row_title="true",
        column_title="predicted",
        cells=cells,
    )


KIND = "dinov2"
_PLAIN = {"hidden_act": "gelu", "layer_norm_eps": 1e-6, "qkv_bias": True, "num_channels": 3}
"""What all published DINOv2 have in common, and a checkpoint therefore does not say."""


def start_net(settings: NetSettings, seed: int, progress: Progress) -> tuple[ScaleNet, str]:
    """A net with the weights of its backbone and a fresh head, and what the backbone is called.

    The name holds a hash of the weights and no place of this machine. Raises ConfigError for a backbone
    that is none, and for a design that does not fit it; WeightsError where it cannot be had.
    """
    known_names = [name for name, model in MODELS.items() if "registers" not in name]
    if settings.backbone in known_names:
        model = replace(
            MODELS[settings.backbone], hint=f"{NETWORK_HINT}, or name a folder: --backbone FOLDER."
        )
        folder, name = model.folder(settings.revision, progress), settings.backbone
    else:
        folder, name = Path(settings.backbone).expanduser(), "folder"
        if not is_model_folder(folder):
            raise ConfigError(
                f"net.backbone = {settings.backbone!r} is neither a name nor a folder with a DINOv2.",
                f"Names: {', '.join(known_names)}. A folder holds config.json and model.safetensors.",
            )
    try:
        kind = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError) as error:
        raise WeightsError(f"{folder / 'config.json'} cannot be read: {error}.", "Fetch it again.") from None
    if kind != KIND:
        raise ConfigError(
            f"net.backbone = {settings.backbone!r} is a {kind}, not a {KIND}.",
            "Take a DINOv2 without registers.",
        )
    loaded = load_model(folder)
    design = _design(settings, loaded.config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = ScaleNet(design, settings.drop_path)
    weights = {k: v for k, v in loaded.state_dict().items() if k != "embeddings.mask_token"}
    net.backbone.load_state_dict(weights)
    return net, f"{name} {folder_hash(folder)}"


def _design(settings: NetSettings, config: Any) -> ScaleDesign:
    strange = [name for name, value in _PLAIN.items() if getattr(config, name) != value]
    if strange:
        differences = ", ".join(f"{name} = {getattr(config, name)!r}" for name in strange)
        raise ConfigError(
            f"net.backbone = {settings.backbone!r} is no usual DINOv2: {differences}.", "Take another."
        )
    try:
        shape = BackboneShape(
            config.hidden_size,
            config.num_hidden_layers,
            config.num_attention_heads,
            config.mlp_ratio,
            config.use_swiglu_ffn,
            config.patch_size,
            config.image_size,
        )
        return ScaleDesign(shape, settings.tuned_blocks, settings.long_side, settings.short_side)
    except ValueError as error:
        raise ConfigError(f"The net cannot be built: {error}.", "Correct the settings of net.") from None
