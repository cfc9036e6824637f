"""The published DINOv2 models, by name."""

from __future__ import annotations

from shotad.core import NETWORK, HubModel

HINT = (
    f"{NETWORK}, give a folder that holds the model (--set threads.features=FOLDER), or use features "
    "without weights: --set threads.features=grid."
)


def _published(part: str, size: int) -> list[HubModel]:
    about = ("features for threads", "Apache-2.0", "Meta AI, DINOv2")
    plain, registers = f"dinov2-{part}", f"dinov2-{part}-registers"
    return [
        HubModel(plain, f"facebook/dinov2-{part}", size, *about, hint=HINT),
        HubModel(registers, f"facebook/dinov2-with-registers-{part}", size, *about, hint=HINT),
    ]


MODELS: dict[str, HubModel] = {
    model.name: model
    for model in (
        *_published("small", 88_226_304),
        *_published("base", 346_321_920),
        *_published("large", 1_217_474_560),
        *_published("giant", 4_545_923_072),
    )
}
"""``dinov2-small`` … ``dinov2-giant-registers``, by name. Bytes are those of float32."""
