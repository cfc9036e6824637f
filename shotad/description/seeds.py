"""Seeds of the questions to engines."""

from __future__ import annotations

import hashlib


def slot_seed(seed: int, name: str) -> int:
    """The seed of one question, 32 bits, from the run's seed and a name of the question: the slot's id, or
    that with what is asked. No line depends on those before it by its seed."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:4], "big")
