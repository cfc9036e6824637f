"""Tiny networks of the same classes as the real ones, with random weights."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import Dinov2Config, Dinov2Model


def make_backbone(folder: Path, hidden: int, blocks: int, heads: int) -> Path:
    """A DINOv2 with random weights, in ``folder`` as save_pretrained writes it."""
    torch.manual_seed(0)
    model = Dinov2Model(
        Dinov2Config(
            hidden_size=hidden, num_hidden_layers=blocks, num_attention_heads=heads, image_size=112,
            mlp_ratio=2,
        )
    )  # fmt: skip
    with torch.no_grad():
        # What is frozen must at least let places and edges through: positions as strong as what the patches
        # bring, and three of four filters blind to the mean colour, which drowns all else in random ones.
        model.embeddings.position_embeddings.normal_(std=0.3)
        filters = model.embeddings.patch_embeddings.projection.weight[hidden // 4 :]
        filters.sub_(filters.mean(dim=(2, 3), keepdim=True)).mul_(3)
    model.save_pretrained(folder)
    return folder
