"""Public names of a package that are imported when they are asked for (PEP 562)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

Load = Callable[[str], Any]
Names = Callable[[], list[str]]


def lazy_names(package: str, modules: Mapping[str, str]) -> tuple[Load, Names]:
    """``__getattr__`` and ``__dir__`` for a package whose public names lie in these ``modules``.

    ``modules`` maps a name to the module that holds it under the same name. So one name loads only what it
    needs::

        __getattr__, __dir__ = lazy_names(__name__, {"Track": "shotad.script.track"})
    """

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(modules[name]), name)

    return load, lambda: sorted(modules)
