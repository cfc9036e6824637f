"""Training the classifier of shot scale, from labelled shots and a DINOv2 to a checkpoint with its figures.

The recipe of Shot-by-Shot's classifier is not published; ours stands in configs/train-scale.yaml and is
recorded in every checkpoint.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from shotad import __version__
from shotad.core import (
    NETWORK,
    ConfigError,
    NoProgress,
    Progress,
    ShotScale,
    UsageError,
    WeightsError,
    WorkFolderError,
    is_model_folder,
    need_torch,
    readable_json,
    write_text,
)
from shotad.grammar.features import MODELS
from shotad.grammar.movieshots import read_items
from shotad.grammar.scale_data import SPLITS, ScaleData
from shotad.grammar.scale_net import (
    BackboneShape,
    ScaleDesign,
    ScaleNet,
    load_net,
    load_released,
    released_weights,
    save_net,
)
from shotad.grammar.training_feed import Feed
from shotad.grammar.training_loop import (
    BEST,
    STATE,
    Loop,
    Parts,
    ProcessGroup,
    Saved,
    Stop,
    Tally,
    TrainingPosition,
    load_state,
    make_optimizer,
    scored,
)
from shotad.grammar.training_records import MetricLog, Scores, published_rows
from shotad.grammar.training_settings import NetSettings, ScaleTraining, what_matters
from shotad.grammar.vit_features import folder_hash, load_model

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch("Training", "train")

REPORT = "report.json"
PICTURE = "confusion.png"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished training: its best checkpoint, the epoch it is of (from 1), and its scores on test."""

    checkpoint: Path
    epoch: int
    test: Scores
    record: dict[str, Any]


def train_scale(
    data: Path, out: Path, settings: ScaleTraining, *, resume: bool = False, progress: Progress | None = None
) -> Outcome:
    """Train on the labelled shots in ``data`` and write all results to the folder ``out``.

    ``resume`` goes on where a training in ``out`` was stopped, and begins where there is none. Raises
    UsageError where ``out`` holds a training and ``resume`` is False, ConfigError where that is of other
    settings or data, DatasetError for data that cannot be used, KeyboardInterrupt (after the state is
    saved) for Ctrl-C.
    """
    crew = ProcessGroup(settings.compute)
    speaks = progress if progress is not None and crew.leads else NoProgress()
    with _held(out, crew), Stop().listening() as stop:
        if not resume and (out / STATE).exists():
            what = f"{out} holds a training that was begun before."
            raise UsageError(what, "Go on with --resume, or take another --out.")
        labelled = read_items(
            data, seed=settings.data.seed, annotation=settings.data.annotation, missing=settings.data.missing
        )
        speaks.note(_said(labelled))
        parts = _parts(labelled, out, settings, crew, speaks)
        try:
            _train(parts, speaks, stop)
            # Figures of the best epoch on test, into its checkpoint, the report and the picture
            parts.crew.wait()
            best = parts.out / BEST
            net, record = load_net(best)
            load_released(parts.net, released_weights(net))
            parts.net.to(parts.crew.device)
            test = scored(parts, parts.data.of("test"), speaks, "Testing")
            assert test is not None
            record = {**record, "test": test.record()}
            if parts.crew.leads:
                save_net(best, net, record)
                write_text(parts.out / REPORT, readable_json({**record, "published": published_rows()}))
                _draw(parts.out / PICTURE, test)
            outcome = Outcome(best, record["epoch"], test, record)
        finally:
            parts.feed.close()
        crew.leave()
        return outcome


@contextmanager
def _held(out: Path, crew: ProcessGroup) -> Iterator[None]:
    """The folder of results, held by one training at a time."""
    if not crew.leads:
        yield
        return
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


def _said(data: ScaleData) -> str:
    counts = ", ".join(f"{sum(data.counts(split).values())} {split}" for split in SPLITS)
    return " ".join([f"{data.layout}: {counts}.", *data.notes])


def _parts(
    data: ScaleData, out: Path, settings: ScaleTraining, crew: ProcessGroup, progress: Progress
) -> Parts:
    if not crew.leads:
        # The one that leads fetches the backbone; the others find it in the cache.
        crew.wait()
    net, backbone = start_net(settings.net, settings.seed, progress)
    if crew.leads:
        crew.wait()
    net.to(crew.device)
    named = what_matters(settings)
    named["net"]["backbone"] = backbone
    about = {"settings": named, "data": data.fingerprint}
    counts = {split: {scale.value: n for scale, n in data.counts(split).items()} for split in SPLITS}
    libraries = {name: version(name) for name in ("torch", "transformers", "accelerate", "numpy")}
    record = {
        **about,
        "data": {"layout": data.layout, "fingerprint": data.fingerprint, "counts": counts},
        "versions": {"shotad": __version__, "python": platform.python_version(), **libraries},
        "computed": {
            "processes": crew.size,
            "device": crew.device.type,
            "precision": str(crew.precision).removeprefix("torch."),
        },
    }
    return Parts(
        net=net,
        module=crew.joined(net),
        optimizer=make_optimizer(net, settings.optim),
        feed=Feed(settings),
        data=data,
        settings=settings,
        crew=crew,
        out=out,
        about=about,
        record=record,
    )


def _train(parts: Parts, progress: Progress, stop: Stop) -> None:
    saved, after = _saved(parts)
    if not parts.crew.leads:
        Loop(parts, saved, None, progress, stop).run()
        return
    with MetricLog(parts.out, resume_after=after, tensorboard=parts.settings.tensorboard) as log:
        if log.note:
            progress.note(log.note)
        Loop(parts, saved, log, progress, stop).run()


def _saved(parts: Parts) -> tuple[Saved, int | None]:
    """Where to go on, and the last step whose row in the log stands."""
    state = parts.out / STATE
    if not state.is_file():
        return Saved(TrainingPosition(), Tally(), Tally()), None
    saved = load_state(state, parts.net, parts.optimizer, parts.about)
    # The row of an epoch's last step is written after validation, which is still to come.
    pending = saved.standing.position > 0 and saved.window.steps > 0
    full = -(-len(parts.data.of("train")) // parts.settings.batch)
    return saved, saved.standing.step - (pending and saved.standing.position == full)


def _draw(path: Path, test: Scores) -> None:
    from shotad.film import matrix_png

    names = [scale.value for scale in ShotScale]
    shares = test.confusion / test.confusion.sum(axis=1, keepdims=True).clip(min=1)
    cells = [
        [f"{share:.0%}\n{count}" for share, count in zip(*row, strict=True)]
        for row in zip(shares, test.confusion, strict=True)
    ]
    matrix_png(
        path,
        shares,
        names,
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
    folder, name = _folder(settings, progress)
    try:
        kind = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError) as error:
        raise WeightsError(f"{folder / 'config.json'} cannot be read: {error}.", "Fetch it again.") from None
    if kind != KIND:
        raise ConfigError(
            f"net.backbone = {settings.backbone!r} is a {kind}, not a {KIND}.",
            "Take a DINOv2 without registers.",
        )
    model = load_model(folder)
    design = _design(settings, model.config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = ScaleNet(design, settings.drop_path)
    weights = {k: v for k, v in model.state_dict().items() if k != "embeddings.mask_token"}
    net.backbone.load_state_dict(weights)
    return net, f"{name} {folder_hash(folder)}"


def _folder(settings: NetSettings, progress: Progress) -> tuple[Path, str]:
    known = [name for name, model in MODELS.items() if "registers" not in name]
    if settings.backbone in known:
        model = replace(MODELS[settings.backbone], hint=f"{NETWORK}, or name a folder: --backbone FOLDER.")
        return model.folder(settings.revision, progress), settings.backbone
    folder = Path(settings.backbone).expanduser()
    if not is_model_folder(folder):
        raise ConfigError(
            f"net.backbone = {settings.backbone!r} is neither a name nor a folder with a DINOv2.",
            f"Names: {', '.join(known)}. A folder holds config.json and model.safetensors.",
        )
    return folder, "folder"


def _design(settings: NetSettings, config: Any) -> ScaleDesign:
    strange = [name for name, value in _PLAIN.items() if getattr(config, name) != value]
    if strange:
        said = ", ".join(f"{name} = {getattr(config, name)!r}" for name in strange)
        raise ConfigError(
            f"net.backbone = {settings.backbone!r} is no usual DINOv2: {said}.", "Take another."
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
