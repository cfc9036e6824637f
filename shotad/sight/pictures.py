"""Small helpers for pictures and for the models that look at them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from shotad.core import Box, Image

M = TypeVar("M")


def cut(image: Image, box: Box) -> Image:
    """The part of the picture inside ``box``, at least one pixel; a view where nothing is clipped."""
    height, width = image.shape[:2]
    x, y = int(box.left * width), int(box.top * height)
    right, bottom = max(x + 1, round(box.right * width)), max(y + 1, round(box.bottom * height))
    return image[y:bottom, x:right]


_opened: WeakValueDictionary[tuple[Any, Path], Any] = WeakValueDictionary()
_opening = Lock()


def shared(make: Callable[[Path], M], path: Path) -> M:
    """What ``make`` gives for a file: one for all who hold it at the same time."""
    with _opening:
        model: M | None = _opened.get((make, path))
        if model is None:
            model = _opened[make, path] = make(path)
    return model
