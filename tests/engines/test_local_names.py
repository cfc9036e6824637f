"""Which model is meant, and what tells it from others."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from shotad.core import EngineError, WeightsError, load_config
from shotad.engines import local_model as names, make_engine
from tests.language_models import make_llama

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_llama(tmp_path_factory.mktemp("models") / "tiny-llama")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, and no network."""
    from huggingface_hub import constants

    cache = tmp_path / "hub"
    cache.mkdir()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.file_download.constants.HF_HUB_CACHE", str(cache))
    return cache


def put_in_cache(hub: Path, repo: str, model: Path) -> Path:
    place = hub / f"models--{repo.replace('/', '--')}"
    shutil.copytree(model, place / "snapshots" / COMMIT)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(COMMIT)
    return place / "snapshots" / COMMIT


def test_a_folder_is_known_by_its_name_and_its_files(model: Path, tmp_path: Path) -> None:
    place = names.resolve(str(model))
    assert (place.folder, place.label, place.gguf) == (model, "tiny-llama", None)
    assert place.revision.startswith("files:")
    copy = shutil.copytree(model, tmp_path / "elsewhere" / "tiny-llama")
    again = names.resolve(str(copy))
    assert (again.label, again.revision) == (place.label, place.revision)
    assert names.at_hand(str(model)) == place
    assert str(tmp_path) not in names.label_of(str(copy)) + again.label + again.revision


def test_a_short_name_is_a_repository_of_the_hub(hub: Path, model: Path) -> None:
    assert names.label_of("llama3-8b") == "meta-llama/Meta-Llama-3-8B-Instruct"
    assert names.at_hand("llama3-8b") is None
    folder = put_in_cache(hub, "meta-llama/Meta-Llama-3-8B-Instruct", model)
    wanted = names.ModelPlace(folder, "meta-llama/Meta-Llama-3-8B-Instruct", COMMIT)
    assert names.at_hand("llama3-8b") == wanted
    assert names.resolve("llama3-8b") == wanted
    assert names.resolve("meta-llama/Meta-Llama-3-8B-Instruct") == wanted
    assert names.at_hand("llama3-8b", COMMIT) == wanted
    assert names.at_hand("llama3-8b", "f" * 40) is None


def test_what_cannot_be_had_says_what_to_do(hub: Path, model: Path, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="Meta-Llama-3-8B-Instruct") as caught:
        names.resolve("llama3-8b")
    assert "HF_TOKEN" in caught.value.hint
    assert "accept" in caught.value.hint
    with pytest.raises(WeightsError, match=r"somebody/something in revision v1") as other:
        names.resolve("somebody/something", "v1")
    assert "Check the name" in other.value.hint
    # A wrong name is answered with the nearest.
    with pytest.raises(WeightsError, match="no model called 'lama3-8b'") as caught:
        names.label_of("lama3-8b")
    assert "Did you mean llama3-8b?" in caught.value.hint
    assert "smollm2" in caught.value.hint
    with pytest.raises(WeightsError, match="no model called 'silero-vad'"):
        names.resolve("silero-vad")
    # A folder that is not whole is refused.
    copy = shutil.copytree(model, tmp_path / "half")
    (copy / "model.safetensors").unlink()
    with pytest.raises(WeightsError, match="no whole model"):
        names.resolve(str(copy))
    (tmp_path / "model.bin").write_bytes(b"x")
    with pytest.raises(WeightsError, match="neither a model's folder nor a GGUF"):
        names.resolve(str(tmp_path / "model.bin"))


def test_a_gguf_file_is_known_by_its_name_and_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "small.Q4_1.gguf"
    path.write_bytes(bytes(200_000))
    place = names.resolve(str(path))
    assert (place.folder, place.label, place.gguf) == (tmp_path, "small.Q4_1.gguf", "small.Q4_1.gguf")
    (tmp_path / "other").mkdir()
    changed = tmp_path / "other" / path.name
    changed.write_bytes(bytes(100_000) + b"x" * 100_000)
    assert names.resolve(str(changed)).revision != place.revision


def test_a_name_of_the_manifest_is_fetched_at_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path))
    assert names.label_of("smollm2") == "smollm2"
    assert names.at_hand("smollm2") is None
    fetched: list[str] = []

    def weights_file(name: str, progress: object) -> Path:
        fetched.append(name)
        return tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"

    monkeypatch.setattr(names, "weights_file", weights_file)
    place = names.resolve("smollm2")
    assert fetched == ["smollm2"]
    assert place.gguf == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert place.revision.startswith("sha256:b179c9523d0e6a0f")


# Engines by name: what is no engine is told as an error, whatever it is.
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("os:path", "os:path is no class"),
        ("builtins:str", "builtins:str is no engine"),
        ("shotad:nothing", "cannot be loaded"),
        ("no_such_module:Class", "cannot be loaded"),
        ("fakee", "Did you mean fake"),
    ],
)
def test_what_is_no_engine_is_told(name: str, what: str) -> None:
    with pytest.raises(EngineError) as told:
        make_engine(name, load_config(), "stage1")
    assert what in str(told.value)
