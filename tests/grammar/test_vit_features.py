"""DINOv2 features: the right tokens of the right frames, by the code that loads the real models, and as timm's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

from shotad.core import ShotadError  # noqa: E402
from shotad.core.config.sight import ComputeSettings, ThreadSettings  # noqa: E402
from shotad.core.errors import ConfigError, WeightsError  # noqa: E402
from shotad.grammar import make_feature_maker  # noqa: E402
from shotad.grammar.features import (  # noqa: E402
    MEAN,
    STD,
    THREAD_SIZE,
    all_upright,
    centre_crop,
    fitted,
    grid_of,
    normalised,
)
from shotad.grammar.vit_features import (  # noqa: E402
    DinoV2,
    check_name,
    folder_hash,
    load_timm_model,
    resampled,
)
from tests.grammar.dino_models import pictures, put_in_cache, saved, tiny  # noqa: E402

EXACT = ComputeSettings(device="cpu", precision="float32", batch=3)


# Frames: which part, how large, which numbers
def noise(height: int, width: int, seed: int = 0) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def test_the_middle_is_cut_to_4_by_3() -> None:
    for height, width, rows, columns in (
        (720, 1280, slice(0, 720), slice(160, 1120)),
        (332, 800, slice(0, 332), slice(178, 621)),  # 332 * 4 / 3 = 442.7
        (1200, 1280, slice(120, 1080), slice(0, 1280)),
        (480, 640, slice(0, 480), slice(0, 640)),
        (1280, 720, slice(160, 1120), slice(0, 720)),
        (2, 1000, slice(0, 2), slice(498, 501)),
        (1, 1, slice(0, 1), slice(0, 1)),
    ):
        image = noise(height, width)
        np.testing.assert_array_equal(centre_crop(image), image[rows, columns])


def test_frames_are_fitted_and_normalised_by_the_formula_and_nothing_of_the_caller_changes() -> None:
    for longer, shorter in (THREAD_SIZE, (448, 336)):
        for image, size in ((noise(90, 160), (shorter, longer)), (noise(160, 90), (longer, shorter))):
            assert fitted(image, longer, shorter).shape == (*size, 3)
            assert grid_of(image, longer, shorter) == (size[0] // 14, size[1] // 14)
    images = [noise(6, 8, seed) for seed in range(3)]
    before = [image.copy() for image in images]
    found = normalised(images)
    wanted = np.stack([((i / 255 - np.array(MEAN)) / np.array(STD)).transpose(2, 0, 1) for i in images])
    assert found.dtype == np.float32
    assert found.flags["C_CONTIGUOUS"]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(images, before)
    # What cannot go together.
    with pytest.raises(ValueError, match="1 upright among 2"):
        all_upright([noise(90, 160), noise(160, 90)])
    with pytest.raises(ValueError, match="got none"):
        all_upright([])
    with pytest.raises(ValueError, match="one shape"):
        normalised([noise(6, 8), noise(9, 12)])
    for wrong in (np.zeros((6, 8, 3), np.float32), np.zeros((6, 8), np.uint8)):
        with pytest.raises(ValueError, match=r"uint8\[H, W, 3\]"):
            centre_crop(wrong)  # type: ignore[arg-type]


# Tokens
@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Number of registers → folder of a saved model."""
    torch.set_num_threads(2)
    return {n: saved(tmp_path_factory.mktemp(f"dino{n}"), n) for n in (0, 4)}


@pytest.mark.parametrize("registers", [0, 4])
def test_patches_of_one_row_lie_side_by_side(folders: dict[int, Path], registers: int) -> None:
    """With a model of no layers a patch's token depends on its own pixels and its place alone."""
    flat = tiny(registers, num_hidden_layers=0)
    folder = folders[registers].parent / f"flat{registers}"
    flat.save_pretrained(folder)
    maker = DinoV2.in_folder(folder, EXACT)
    for height, width in ((168, 224), (224, 168)):
        plain = np.full((height, width, 3), 90, np.uint8)
        dotted = plain.copy()
        dotted[28:42, 70:84] = 250  # row 2, column 5
        found = maker.of([plain, dotted])
        rows, columns = found.grid
        assert (rows, columns) == (height // 14, width // 14)
        moved = (found.patches[0] - found.patches[1]).abs().amax(-1) > 1e-3
        assert torch.nonzero(moved).flatten().tolist() == [2 * columns + 5]


def _small(kind: str, **changes: Any) -> Any:
    """A tiny random network of another kind, by the name of its classes in transformers."""
    import transformers

    size = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 96}
    config = getattr(transformers, f"{kind}Config")(**size, **changes)
    torch.manual_seed(3)
    return getattr(transformers, f"{kind}Model")(config).eval()


NETWORKS: dict[str, tuple[Callable[[], Any], int, int, tuple[int, int]]] = {
    "dinov2": (tiny, 14, 1, (12, 16)),
    "dinov2 with registers": (partial(tiny, 4), 14, 5, (12, 16)),
    "dinov3": (partial(_small, "DINOv3ViT", patch_size=16, num_register_tokens=4), 16, 5, (12, 16)),
    "dinov3, small patches": (
        partial(_small, "DINOv3ViT", patch_size=8, num_register_tokens=2),
        8,
        3,
        (21, 28),
    ),
    "vit": (partial(_small, "ViT", patch_size=16, image_size=64), 16, 1, (12, 16)),
}
"""How to make one, the pixels of its patches, the first token of a patch, and the patches of a broad frame."""


@pytest.mark.parametrize("name", NETWORKS)
def test_patches_without_cls_and_registers(tmp_path: Path, name: str) -> None:
    make, pixels, first, (rows, columns) = NETWORKS[name]
    model = make()
    model.save_pretrained(tmp_path)
    maker = DinoV2.in_folder(tmp_path, EXACT)
    assert maker.identity.startswith("dinov2") is name.startswith("dinov2")
    for height, width, grid in ((120, 200, (rows, columns)), (200, 120, (columns, rows))):
        images = pictures(4, height=height, width=width)
        found = maker.of(images)
        assert found.grid == grid
        inputs = torch.from_numpy(
            normalised([fitted(image, columns * pixels, rows * pixels) for image in images])
        )
        with torch.no_grad():
            asked = {"interpolate_pos_encoding": True} if name == "vit" else {}
            tokens = model(pixel_values=inputs, **asked).last_hidden_state
        unit = torch.nn.functional.normalize(tokens, dim=-1)
        torch.testing.assert_close(found.patches, unit[:, first:], rtol=0, atol=1e-5)
        torch.testing.assert_close(found.whole, unit[:, 0], rtol=0, atol=1e-5)
        assert not found.patches.requires_grad
        assert not found.patches.is_inference()


@pytest.mark.parametrize(
    ("changes", "needle"),
    [
        ({"model_type": "vit"}, "cannot be loaded"),
        ({"hidden_size": 48}, "cannot be loaded"),
        ({"hidden_size": "wide"}, "is not the config of a model"),
        ({"num_hidden_layers": 4}, "lacks"),
    ],
)
def test_unfit_config(folders: dict[int, Path], tmp_path: Path, changes: dict[str, Any], needle: str) -> None:
    folder = shutil.copytree(folders[0], tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))
    with pytest.raises(WeightsError, match=needle):
        DinoV2.in_folder(folder, EXACT).of(pictures(1))


def test_a_model_in_several_files(folders: dict[int, Path], tmp_path: Path) -> None:
    tiny().save_pretrained(tmp_path, max_shard_size="200KB")
    shards = sorted(tmp_path.glob("model-*.safetensors"))
    assert len(shards) > 1
    found = DinoV2.in_folder(tmp_path, EXACT).of(pictures(1))
    assert torch.equal(found.patches, DinoV2.in_folder(folders[0], EXACT).of(pictures(1)).patches)
    before = folder_hash(tmp_path)
    shards[-1].write_bytes(shards[-1].read_bytes()[:-1] + b"\1")
    assert folder_hash(tmp_path) != before
    shards[0].unlink()
    with pytest.raises(WeightsError, match="holds no model"):
        DinoV2.in_folder(tmp_path, EXACT)


def test_folders_of_no_model_or_no_patches_are_refused(folders: dict[int, Path], tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"config\.json and model\.safetensors are needed"):
        DinoV2.in_folder(tmp_path, EXACT)
    folder = shutil.copytree(folders[0], tmp_path / "model")
    (folder / "config.json").write_text("{")
    with pytest.raises(WeightsError, match="is not the config of a model"):
        DinoV2.in_folder(folder, EXACT)
    (folder / "config.json").unlink()
    with pytest.raises(WeightsError, match="holds no model"):
        DinoV2.in_folder(folder, EXACT)
    # A missing weight is an error and no random number.
    folder = shutil.copytree(folders[0], tmp_path / "part")
    weights = load_file(folder / "model.safetensors")
    del weights["layernorm.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(WeightsError, match=r"lacks 1 of its weights, such as layernorm\.weight"):
        DinoV2.in_folder(folder, EXACT).of(pictures(1))
    # Networks whose tokens are no patches are refused.
    _small("IJepa", patch_size=16, image_size=64).save_pretrained(tmp_path)
    with pytest.raises(WeightsError, match="not a CLS token, 0 registers and 192 patches"):
        DinoV2.in_folder(tmp_path, EXACT).of(pictures(1))
    (tmp_path / "config.json").write_text('{"model_type": "dinov3_convnext"}')
    with pytest.raises(WeightsError, match="is a dinov3_convnext, which has no patches"):
        DinoV2.in_folder(tmp_path, EXACT)


# timm, where the weights are the same
@pytest.mark.parametrize("registers", [0, 4])
@pytest.mark.parametrize("grid", [(12, 16), (5, 5), (24, 32)])
def test_positions_are_resampled_as_transformers_does(registers: int, grid: tuple[int, int]) -> None:
    embeddings = tiny(registers).embeddings
    rows, columns = grid
    empty = torch.zeros(1, 1 + rows * columns, 96)
    with torch.no_grad():
        wanted = embeddings.interpolate_pos_encoding(empty, rows * 14, columns * 14)
        stored = embeddings.position_embeddings
        found = resampled(stored, grid, prefix=1, antialias=bool(registers))
        without_cls = resampled(stored[:, 1:], grid, prefix=0, antialias=bool(registers))
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-6)
    torch.testing.assert_close(without_cls, wanted[:, 1:], rtol=0, atol=1e-6)


def test_a_name_that_is_none_and_a_missing_timm_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ["vit_small_patch14_dinov2.lvd142m", "vit_base_patch14_dinov2.lvd142m"]
    check_name(known[0], known)
    with pytest.raises(ConfigError, match=r"Nearest: timm:vit_small_patch14_dinov2\.lvd142m"):
        check_name("vit_smal_patch14_dinov2", known)
    with pytest.raises(ConfigError, match="none of timm's DINOv2 models"):
        check_name("resnet50", known)
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(ShotadError, match=r'needs timm.*pip install "shotad\[timm\]"'):
        make_feature_maker(ThreadSettings(features="timm:x"), ComputeSettings(device="cpu"))


def test_weights_of_another_model_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of one weight in timm's place: what is missing or unknown in the file must not pass."""

    class Timm:
        @staticmethod
        def create_model(name: str, **options: Any) -> Any:
            return torch.nn.Linear(3, 3, bias=False)

    monkeypatch.setitem(sys.modules, "timm", Timm)
    (tmp_path / "config.json").write_text("{}")
    file = tmp_path / "model.safetensors"
    for weights in ({"weight": (3, 3), "extra": (1,)}, {"other": (3, 3)}, {"weight": (3, 4)}):
        save_file({name: torch.zeros(shape) for name, shape in weights.items()}, file)
        with pytest.raises(WeightsError, match="cannot be loaded"):
            load_timm_model("vit", tmp_path)
    file.write_bytes(b"no such thing")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        load_timm_model("vit", tmp_path)
    save_file({"weight": torch.ones(3, 3, dtype=torch.float16)}, file)
    assert load_timm_model("vit", tmp_path).weight.dtype == torch.float32


@dataclass(frozen=True)
class Pair:
    """One model in both backends, tiny: timm's name, how many registers, how precise."""

    name: str
    registers: int = 0
    precision: str = "float32"

    @property
    def key(self) -> str:
        return f"{self.name.partition('.')[0]}-{self.precision}"

    @property
    def compute(self) -> ComputeSettings:
        return ComputeSettings(device="cpu", precision=self.precision, batch=2)


PAIRS = [
    Pair("vit_base_patch14_dinov2.lvd142m"),
    Pair("vit_base_patch14_dinov2.lvd142m", precision="bfloat16"),
    Pair("vit_giant_patch14_reg4_dinov2.lvd142m", registers=4),
]


def features_of(maker_of: Callable[[Pair], Any]) -> dict[str, npt.NDArray[Any]]:
    """All features of broad and upright pictures by the makers of all pairs."""
    views = {"broad": pictures(3, 200, 340), "upright": pictures(3, 340, 200, seed=1)}
    found = {}
    for pair in PAIRS:
        maker = maker_of(pair)
        for view in ("broad", "upright", "broad"):
            made = maker.of(views[view])
            parts = {
                "patches": made.patches.numpy(),
                "whole": made.whole.numpy(),
                "grid": np.array(made.grid),
            }
            found |= {f"{pair.key}.{view}.{part}": values for part, values in parts.items()}
    return found


def timm_weights(model: Any) -> dict[str, Any]:
    """The weights of transformers' model under timm's names.

    timm calls the gated MLP's matrices fc1 and fc2, adds the CLS token's position to the CLS token where
    there are registers, and has no mask token.
    """
    from shotad.grammar.scale_net import to_released

    weights = dict(model.state_dict())
    weights.pop("embeddings.mask_token")
    registers = weights.pop("embeddings.register_tokens", None)
    found = {
        name.replace("mlp.w12", "mlp.fc1").replace("mlp.w3", "mlp.fc2"): value
        for name, value in to_released(weights).items()
    }
    if registers is not None:
        found["reg_token"] = registers
        found["cls_token"] = found["cls_token"] + found["pos_embed"][:, :1]
        found["pos_embed"] = found["pos_embed"][:, 1:]
    return {name: value.detach().clone().contiguous() for name, value in found.items()}


@pytest.fixture(scope="module")
def timm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """timm and the torchvision made for this torch, without what they would bring, in a folder of their own."""
    folder = tmp_path_factory.mktemp("timm")
    torchvision = f"torchvision==0.{int(torch.__version__.split('.')[1]) + 15}.*"  # 0.28 goes with torch 2.13
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-input"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--retries", "1"]
    command += ["--target", str(folder)]
    done = subprocess.run([*command, "timm", torchvision], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"timm could not be had from the package index: {done.stderr.strip()[-200:]}")
    return folder


@pytest.mark.slow
def test_both_backends_give_the_same_features(timm_folder: Path, tmp_path: Path) -> None:
    torch.set_num_threads(2)

    def maker_of(pair: Pair) -> DinoV2:
        model = tiny(pair.registers, image_size=518, use_swiglu_ffn=bool(pair.registers))
        model.save_pretrained(tmp_path / pair.key)
        as_timm = tmp_path / "timm" / pair.key
        as_timm.mkdir(parents=True)
        (as_timm / "config.json").write_text("{}")
        save_file(timm_weights(model), as_timm / "model.safetensors", metadata={"format": "pt"})
        if not (tmp_path / "hub" / f"models--timm--{pair.name}").exists():
            put_in_cache(tmp_path / "hub", f"timm/{pair.name}", as_timm)
        return DinoV2.in_folder(tmp_path / pair.key, pair.compute)

    wanted = features_of(maker_of)
    found = _ask_timm(timm_folder, tmp_path)
    for pair in PAIRS:
        first, second = wanted[f"{pair.key}.broad.patches"][:2]
        assert np.abs(first - second).max() > 0.1, "the features must depend on the frames"
    assert sorted(found) == sorted(wanted)
    for key, value in wanted.items():
        tolerance = 0.02 if "bfloat16" in key else 1e-5
        np.testing.assert_allclose(found[key], value, rtol=0, atol=tolerance, err_msg=key)


def _ask_timm(folder: Path, place: Path) -> dict[str, npt.NDArray[np.float32]]:
    root, side = Path(__file__).resolve().parents[2], Path(__file__).with_name("timm_side.py")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(root), str(folder))),
        "HF_HUB_CACHE": str(place / "hub"),
        "HF_HUB_OFFLINE": "1",
    }
    command = [sys.executable, str(side), str(place / "found.npz")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    for pair, line in zip(PAIRS, done.stdout.splitlines(), strict=True):
        model, identity, threshold = line.split()
        assert model.startswith("timm.models.")
        assert identity.startswith(f"timm:{pair.name}@")
        assert identity.endswith(f":{pair.precision}")
        assert threshold == "0.3"
    with np.load(place / "found.npz") as found:
        return dict(found)
