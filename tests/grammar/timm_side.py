"""The half of the comparison that runs where timm can be imported: features by timm, to a file.

    python timm_side.py JOB.json

The registry's torchvision, which timm imports, is built for another torch than the CPU build of the
tests: its operators do not load, and it then fails at declaring shapes for them. Their schemas, declared
here, let the rest of it load; nothing that makes features uses them.
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path

import numpy as np
import torch


def declare_operators() -> torch.library.Library:
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library


def main(job: Path) -> None:
    torch.set_num_threads(2)
    library = declare_operators()
    import timm

    from shotad.core import ComputeSettings, ThreadSettings
    from shotad.grammar import make_feature_maker

    orders = json.loads(job.read_text())
    images = np.load(job.with_suffix(".npz"))
    create = timm.create_model
    found = {}
    for order in orders:
        timm.create_model = functools.partial(create, **order["size"])
        compute = ComputeSettings(device="cpu", precision=order["precision"], batch=2)
        maker = make_feature_maker(ThreadSettings(features=f"timm:{order['name']}"), compute)
        assert maker is not None
        for view in ("broad", "upright", "broad"):
            features = maker.of(list(images[view]))
            found[f"{order['key']}.{view}.patches"] = features.patches.numpy()
            found[f"{order['key']}.{view}.whole"] = features.whole.numpy()
            found[f"{order['key']}.{view}.grid"] = np.array(features.grid)
        print(type(maker._model).__module__, maker.identity, maker.threshold)  # type: ignore[attr-defined]
    np.savez(job.with_suffix(".found.npz"), **found)
    del library


if __name__ == "__main__":
    main(Path(sys.argv[1]))
