"""DINOv2 features: the right tokens of the right frames, by the code that loads the real models."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import ComputeSettings, WeightsError
from shotad.grammar.vit_features import DinoV2, folder_hash
from tests.grammar.dino_models import pictures, saved, tiny

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from shotad.grammar.features import THREAD_SIZE, fitted, normalised  # noqa: E402

EXACT = ComputeSettings(device="cpu", precision="float32", batch=3)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Number of registers → folder of a saved model."""
    torch.set_num_threads(2)
    return {n: saved(tmp_path_factory.mktemp(f"dino{n}"), n) for n in (0, 4)}


def direct(model: Any, images: list[Any], first: int) -> tuple[Any, Any]:
    """Patches from token ``first`` on and the CLS token, straight from the model, of length 1."""
    with torch.no_grad():
        tokens = model(
            pixel_values=torch.from_numpy(normalised([fitted(image, *THREAD_SIZE) for image in images]))
        ).last_hidden_state.numpy()
    unit = tokens / np.linalg.norm(tokens, axis=-1, keepdims=True)
    return unit[:, first:], unit[:, 0]


@pytest.mark.parametrize("registers", [0, 4])
def test_patches_without_cls_and_registers(folders: dict[int, Path], registers: int) -> None:
    images = pictures(4)
    found = DinoV2.in_folder(folders[registers], EXACT).of(images)
    patches, whole = direct(tiny(registers), images, 1 + registers)
    assert found.grid == (12, 16)
    assert found.patches.shape == (4, 192, 96)
    assert found.patches.dtype == found.whole.dtype == torch.float32
    np.testing.assert_allclose(found.patches.numpy(), patches, atol=1e-5)
    np.testing.assert_allclose(found.whole.numpy(), whole, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found.patches.numpy(), axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found.whole.numpy(), axis=-1), 1, atol=1e-5)
    assert not found.patches.requires_grad
    assert not found.patches.is_inference()


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


@pytest.mark.parametrize(
    ("kind", "changes", "first", "grid"),
    [
        ("DINOv3ViT", {"patch_size": 16, "num_register_tokens": 4}, 5, (12, 16)),
        ("DINOv3ViT", {"patch_size": 16, "num_register_tokens": 0}, 1, (12, 16)),
        ("DINOv3ViT", {"patch_size": 8, "num_register_tokens": 2}, 3, (21, 28)),
        ("ViT", {"patch_size": 16, "image_size": 64}, 1, (12, 16)),
    ],
)
def test_other_networks_of_patches(
    tmp_path: Path, kind: str, changes: dict[str, Any], first: int, grid: tuple[int, int]
) -> None:
    model = _small(kind, **changes)
    model.save_pretrained(tmp_path)
    maker = DinoV2.in_folder(tmp_path, EXACT)
    assert not maker.identity.startswith("dinov2")
    rows, columns = grid
    for height, width, wanted in ((120, 200, grid), (200, 120, (columns, rows))):
        images = pictures(2, height=height, width=width)
        found = maker.of(images)
        assert found.grid == wanted
        size = (columns * changes["patch_size"], rows * changes["patch_size"])
        asked = {"interpolate_pos_encoding": True} if kind == "ViT" else {}
        with torch.no_grad():
            tokens = model(
                pixel_values=torch.from_numpy(normalised([fitted(image, *size) for image in images])), **asked
            ).last_hidden_state
        unit = torch.nn.functional.normalize(tokens, dim=-1)
        torch.testing.assert_close(found.patches, unit[:, first:], rtol=0, atol=1e-5)
        torch.testing.assert_close(found.whole, unit[:, 0], rtol=0, atol=1e-5)


def test_a_missing_weight_is_an_error_and_no_random_number(folders: dict[int, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(folders[0], tmp_path / "model")
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["layernorm.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(WeightsError, match=r"lacks 1 of its weights, such as layernorm\.weight"):
        DinoV2.in_folder(folder, EXACT).of(pictures(1))


def _edit(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("changes", "needle"),
    [
        ({"model_type": "vit"}, "cannot be loaded"),
        ({"patch_size": 16}, "cannot be loaded"),
        ({"hidden_size": 48}, "cannot be loaded"),
        ({"hidden_size": "wide"}, "is not the config of a model"),
        ({"num_hidden_layers": 4}, "lacks"),
    ],
)
def test_unfit_config(folders: dict[int, Path], tmp_path: Path, changes: dict[str, Any], needle: str) -> None:
    folder = shutil.copytree(folders[0], tmp_path / "model")
    _edit(folder, **changes)
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
    # Networks whose tokens are no patches are refused.
    _small("IJepa", patch_size=16, image_size=64).save_pretrained(tmp_path)
    with pytest.raises(WeightsError, match="not a CLS token, 0 registers and 192 patches"):
        DinoV2.in_folder(tmp_path, EXACT).of(pictures(1))
    (tmp_path / "config.json").write_text('{"model_type": "dinov3_convnext"}')
    with pytest.raises(WeightsError, match="is a dinov3_convnext, which has no patches"):
        DinoV2.in_folder(tmp_path, EXACT)
