"""Training the classifier of shot scale, from labelled shots and a DINOv2 to a checkpoint with its figures.

The recipe of Shot-by-Shot's classifier is not published; ours stands in configs/train-scale.yaml and is
recorded in every checkpoint.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
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
from shotad.core.weight_store import file_sha256
from shotad.core.workfolder import readable_json
from shotad.grammar.features import MODELS
from shotad.grammar.scale_data import SPLITS, ClipFile, ScaleData, Split, read_items
from shotad.grammar.scale_net import (
    BackboneShape,
    ScaleDesign,
    ScaleNet,
    load_net,
    load_released,
    released_weights,
    save_net,
)
from shotad.grammar.training_feed import Feed, clip_frames, keep_frames, share_of, worker_count
from shotad.grammar.training_loop import BEST, STATE, ProcessGroup, TrainingLoop, predict_split
from shotad.grammar.training_records import (
    RECIPE_DIFFERENCE,
    ScalePredictions,
    ScaleScores,
    differences_from_paper,
    paper_record,
)
from shotad.grammar.training_settings import NetSettings, ScaleTraining, result_settings
from shotad.grammar.training_stop import Stop
from shotad.grammar.vit_features import folder_hash, load_model

if TYPE_CHECKING:
    import torch
else:
    torch = require_torch("Training", "train")

REPORT = "report.json"
PICTURE = "confusion.png"
PREDICTIONS = "test.csv"
MOST_NAMED = 10
"""Clips that cannot be read of which the run says why."""


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """A checkpoint and its scores on test: after a training its best one, of ``epoch`` (from 1).

    ``differences`` says in what it differs from the paper's classifier, a clause for each.
    """

    checkpoint: Path
    epoch: int | None
    test: ScaleScores
    record: dict[str, Any]
    differences: tuple[str, ...]


def train_scale(
    data: Path, out: Path, settings: ScaleTraining, *, resume: bool = False, progress: Progress | None = None
) -> TrainingResult:
    """Train on the labelled shots in ``data`` and write all results to the folder ``out``.

    ``resume`` goes on where a training in ``out`` was stopped, and begins where there is none. Raises
    UsageError where ``out`` holds a training and ``resume`` is False, ConfigError where that is of other
    settings or data, DatasetError for data that cannot be used, KeyboardInterrupt (after the state is
    saved) for Ctrl-C.
    """
    processes = ProcessGroup(settings.compute)
    progress = progress if progress is not None and processes.leads else NoProgress()
    # Before the folder is made: data that cannot be used leave none.
    labelled = _labelled(data, settings)
    with (
        _locked(out) if processes.leads else nullcontext(),
        processes.explain_lost_process(),
        Stop().listening() as stop,
    ):
        if not resume and (out / STATE).exists():
            problem = f"{out} holds a training that was begun before."
            raise UsageError(problem, "Go on with --resume, or take another --out.")
        labelled = _readable(labelled, SPLITS, settings, out, processes, progress, stop)
        _note_data(labelled, progress)
        if not processes.leads:
            # The one that leads fetches the backbone; the others find it in the cache.
            processes.wait()
        net, backbone = start_net(settings.net, settings.seed, progress)
        if processes.leads:
            processes.wait()
        net.to(processes.device)
        identity, record = _training_records(labelled, settings, processes, backbone)
        differences = [*differences_from_paper(labelled, net.design, backbone), RECIPE_DIFFERENCE]
        feed = Feed(settings, out, processes.device)
        try:
            loop = TrainingLoop(
                net, labelled, settings, processes, out, feed, identity, record, progress, stop
            )
            loop.run()
            # The best epoch's net, for its figures on test
            processes.wait()
            best, record = load_net(out / BEST)
            load_released(net, released_weights(best))
            net.to(processes.device)
            predictions = _test_predictions(net, labelled, settings, feed, processes, progress, stop)
        finally:
            feed.close()
        test = predictions.scores()
        record = {**record, "test": test.record(), "paper": paper_record(test, differences)}
        if processes.leads:
            save_net(out / BEST, best, record)
            _write_results(out, record, predictions, labelled)
        processes.leave()
        return TrainingResult(out / BEST, record["epoch"], test, record, tuple(differences))


def evaluate_scale(
    data: Path, checkpoint: Path, out: Path, settings: ScaleTraining, *, progress: Progress | None = None
) -> TrainingResult:
    """Score a checkpoint on the test split of ``data``, and write the results to the folder ``out``.

    The net is the checkpoint's; of the settings ``data`` and ``compute`` count. Raises WeightsError for a
    file that is no checkpoint, DatasetError for data that cannot be used, UsageError where ``out`` holds a
    training.
    """
    processes = ProcessGroup(settings.compute)
    progress = progress if progress is not None and processes.leads else NoProgress()
    labelled = _labelled(data, settings)
    net, training = load_net(checkpoint)
    sides = {"long_side": net.design.long_side, "short_side": net.design.short_side}
    settings = settings.model_copy(update={"net": settings.net.model_copy(update=sides)})
    with (
        _locked(out) if processes.leads else nullcontext(),
        processes.explain_lost_process(),
        Stop().listening() as stop,
    ):
        if (out / STATE).exists():
            raise UsageError(f"{out} holds a training.", "Take another --out.")
        labelled = _readable(labelled, ("test",), settings, out, processes, progress, stop)
        _note_data(labelled, progress)
        net.to(processes.device)
        feed = Feed(settings, out, processes.device)
        try:
            predictions = _test_predictions(net, labelled, settings, feed, processes, progress, stop)
        finally:
            feed.close()
        test = predictions.scores()
        backbone = training.get("settings", {}).get("net", {}).get("backbone")
        differences = differences_from_paper(labelled, net.design, backbone)
        record = {
            "checkpoint": {"sha256": file_sha256(checkpoint), "training": training},
            "data": _data_record(labelled),
            "versions": _versions(),
            "computed": _computed(processes),
            "test": test.record(),
            "paper": paper_record(test, differences),
        }
        if processes.leads:
            _write_results(out, record, predictions, labelled)
        processes.leave()
        return TrainingResult(checkpoint, training.get("epoch"), test, record, tuple(differences))


def _labelled(data: Path, settings: ScaleTraining) -> ScaleData:
    reading = settings.data
    return read_items(data, seed=reading.seed, annotation=reading.annotation, missing=reading.missing)


def _readable(
    data: ScaleData,
    splits: Sequence[Split],
    settings: ScaleTraining,
    out: Path,
    processes: ProcessGroup,
    progress: Progress,
    stop: Stop,
) -> ScaleData:
    """The data without clips of the ``splits`` that cannot be read; the frames of their others are kept.

    Each process takes the frames of its share of the clips.
    """
    frames = clip_frames(settings, out)
    clips = [item for item in data.items if item.split in splits and isinstance(item.source, ClipFile)]
    if frames is None or not clips:
        return data
    mine = share_of(range(len(clips)), processes.rank, processes.size)
    workers = worker_count(settings.data)
    problems = keep_frames(frames, [clips[place] for place in mine], workers, progress, stop)
    is_broken = torch.zeros(len(clips), device=processes.device)
    is_broken[[mine[place] for place in problems]] = 1
    broken = [clips[place] for place in processes.sum(is_broken).nonzero().flatten().tolist()]
    for problem in [*problems.values()][:MOST_NAMED]:
        progress.note(problem)
    return data.without(broken, settings.data.missing)


def _note_data(data: ScaleData, progress: Progress) -> None:
    counts = ", ".join(f"{sum(data.counts(split).values())} {split}" for split in SPLITS)
    progress.note(" ".join([f"{data.layout}: {counts}.", *data.notes]))


def _test_predictions(
    net: ScaleNet,
    data: ScaleData,
    settings: ScaleTraining,
    feed: Feed,
    processes: ProcessGroup,
    progress: Progress,
    stop: Stop,
) -> ScalePredictions:
    """What the net says of the test split. Raises KeyboardInterrupt where ``stop`` asks."""
    predictions = predict_split(
        net,
        data.of("test"),
        feed,
        processes,
        settings.compute.batch,
        progress=progress,
        name="Testing",
        # One process of several cannot stop alone: the others would wait for it.
        stop=stop if processes.size == 1 else None,
    )
    if predictions is None:
        progress.note("Stopped while the test split was scored.")
        raise KeyboardInterrupt
    return predictions


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """The folder of results, used by one training at a time."""
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


def _training_records(
    data: ScaleData, settings: ScaleTraining, processes: ProcessGroup, backbone: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a resumed training must have in common, and what checkpoints say of how they were made."""
    used_settings = result_settings(settings)
    used_settings["net"]["backbone"] = backbone
    record = {
        "settings": used_settings,
        "data": _data_record(data),
        "versions": _versions(),
        "computed": _computed(processes),
    }
    return {"settings": used_settings, "data": data.fingerprint}, record


def _data_record(data: ScaleData) -> dict[str, Any]:
    counts = {split: {scale.value: n for scale, n in data.counts(split).items()} for split in SPLITS}
    return {"layout": data.layout, "fingerprint": data.fingerprint, "counts": counts}


def _versions() -> dict[str, str]:
    libraries = {name: version(name) for name in ("torch", "transformers", "accelerate", "numpy")}
    return {"shotad": __version__, "python": platform.python_version(), **libraries}


def _computed(processes: ProcessGroup) -> dict[str, Any]:
    is_gpu = processes.device.type == "cuda"
    return {
        "processes": processes.size,
        "device": torch.cuda.get_device_name(processes.device) if is_gpu else processes.device.type,
        "precision": str(processes.precision).removeprefix("torch."),
    }


def _write_results(
    out: Path, record: Mapping[str, Any], predictions: ScalePredictions, data: ScaleData
) -> None:
    """The report, what was predicted of each shot, and the picture of the confusion matrix."""
    write_text(out / REPORT, readable_json(record))
    predictions.write(out / PREDICTIONS, data.of("test"))
    _draw(out / PICTURE, predictions.scores())


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


MODEL_TYPE = "dinov2"
_COMMON_CONFIG = {"hidden_act": "gelu", "layer_norm_eps": 1e-6, "qkv_bias": True, "num_channels": 3}
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
        model_type = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError) as error:
        raise WeightsError(f"{folder / 'config.json'} cannot be read: {error}.", "Fetch it again.") from None
    if model_type != MODEL_TYPE:
        raise ConfigError(
            f"net.backbone = {settings.backbone!r} is a {model_type}, not a {MODEL_TYPE}.",
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
    unusual = [name for name, value in _COMMON_CONFIG.items() if getattr(config, name) != value]
    if unusual:
        differences = ", ".join(f"{name} = {getattr(config, name)!r}" for name in unusual)
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
