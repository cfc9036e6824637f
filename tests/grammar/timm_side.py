"""The half of the comparison that runs where timm can be imported: features by timm, to a file.

    python timm_side.py FOUND.npz

The registry's torchvision, which timm imports, is built for another torch than the CPU build of the
tests (``+cpu``): its operators do not load, and it then fails at declaring shapes for them. Their schemas, declared
here, let the rest of it load; nothing that makes features uses them.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np
import torch

LIBRARY = torch.library.Library("torchvision", "DEF")
for operator in ("nms", "qnms") if torch.__version__.endswith("+cpu") else ():
    LIBRARY.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

import timm  # noqa: E402

from shotad.core.config.sight import ThreadSettings  # noqa: E402
from shotad.grammar import make_feature_maker  # noqa: E402
from tests.grammar.test_vit_features import Pair, features_of  # noqa: E402


def maker_of(pair: Pair) -> Any:
    maker: Any = make_feature_maker(ThreadSettings(features=f"timm:{pair.name}"), pair.compute)
    maker.of([np.zeros((200, 340, 3), np.uint8)])
    print(type(maker._model).__module__, maker.identity, maker.threshold)
    return maker


if __name__ == "__main__":
    torch.set_num_threads(2)
    timm.create_model = functools.partial(timm.create_model, embed_dim=96, depth=3, num_heads=3)
    np.savez(sys.argv[1], **features_of(maker_of))
