"""The order in which a track and its scripts go up, safe to be cut off at any place.

``scripts.json`` says how scripts were written, and one that is not so is somebody's work. So it goes up first
with the hashes of what is there and of what is coming, then the scripts, then it alone as it is, and the
track last: who finds that finds all it rests on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from shotad.batch.storage.kinds import Kind, kind_of
from shotad.core import readable_json

Texts = Mapping[str, bytes]
"""Track, scripts and ``scripts.json``, by name."""


def in_order(texts: Texts, there: Callable[[str], bytes | None]) -> Iterator[tuple[str, bytes]]:
    """What is to be written, one after the other; ``there`` gives what is in the store now."""
    first: dict[str, bytes] = {}
    for name in sorted(texts):
        if kind_of(name) is Kind.WRITTEN:
            before = there(name)
            first[name] = texts[name] if before is None else _both(texts[name], before)
            yield name, first[name]
    for name in sorted(texts, key=lambda name: (kind_of(name) or 0, name)):
        if first.get(name) != texts[name]:
            yield name, texts[name]


def is_as_written(name: str, script: bytes, records: Iterable[bytes]) -> bool:
    """Whether a script is as one of the ``scripts.json`` says that it was written: nobody's own work."""
    digest = hashlib.sha256(script).hexdigest()
    return any(digest in hashes for record in records for hashes in (_hashes(record).get(name, set()),))


def _both(new: bytes, old: bytes) -> bytes:
    """``scripts.json`` that knows scripts both as they are and as they will be."""
    coming, known = _hashes(new), _hashes(old)
    if not coming:
        return new
    scripts: dict[str, Any] = json.loads(new)["scripts"]
    before = {name: sorted((coming[name] | known.get(name, set())) - {scripts[name]}) for name in scripts}
    return readable_json({"scripts": scripts, "before": before}).encode()


def _hashes(record: bytes) -> dict[str, set[str]]:
    """All hashes that a script may have, by its name; none where the record cannot be read."""
    try:
        tree = json.loads(record)
        before = tree.get("before", {})
        return {name: {value, *before.get(name, ())} for name, value in tree["scripts"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
