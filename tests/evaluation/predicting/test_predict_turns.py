"""Two real models that do not fit into the memory together: loaded in turn for every clip, or once for many."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import load_config
from shotad.description import Engines
from shotad.evaluation import Job, Wanted, choose, predict
from tests.evaluation.predicting.minidataset import Runs, make_cmd
from tests.shotad_process import PLAIN

pytestmark = pytest.mark.slow

BRIEF = (
    "threads.features=grid", "compute.device=cpu", "prompt.example_count=0", "stage1.attempts=1",
    "stage2.attempts=1", "stage1.sampling.max_tokens=16", "stage2.sampling.max_tokens=16",
)  # fmt: skip


def test_the_models_are_loaded_once_for_many_clips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shotad.engines.local_loading import CACHE
    from tests.language_models import make_llama
    from tests.vision_models import qwen_folder

    sees, writes = qwen_folder(tmp_path / "sees", "qwen2_vl"), make_llama(tmp_path / "writes", context=4096)
    loads: list[str] = []
    real = CACHE._read
    monkeypatch.setattr(CACHE, "_left", lambda device: 0)  # there is never room for another
    monkeypatch.setattr(CACHE, "_read", lambda way: (loads.append(way.place.label), real(way))[1])
    runs = Runs(make_cmd(tmp_path / "root"), tmp_path / "unused")
    names = (
        "stage1.engine=qwen2-vl", f"stage1.model={sees}", "stage2.engine=llama3", f"stage2.model={writes}",
    )  # fmt: skip
    config = load_config("cmd-ad", (*names, *BRIEF, *PLAIN))
    files = []
    for ahead in (1, 9):
        CACHE.clear()
        loads.append(f"{ahead} ahead")
        out = tmp_path / f"{ahead}.jsonl"
        job = Job(runs.dataset, config, Engines.of(config), out, ahead=ahead)
        done = predict(job, choose(runs.dataset, Wanted()))
        assert sum(line.description is not None for line in done.lines) > 0
        files.append(out.read_bytes())
    CACHE.clear()
    assert loads == ["1 ahead", "sees", "writes", "sees", "writes", "9 ahead", "sees", "writes"]
    assert files[0] == files[1]
