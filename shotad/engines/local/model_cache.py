"""The models that are loaded in this process. Engines with the same model share it.

Where another model does not fit beside those that are there, the one that was used longest ago is put
away; that is no setting. A model that is put away is gone for all who still hold its `Loaded`: who uses one
borrows it for a call (`Shelf.lent`), and does not keep it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shotad.core import ComputeSettings, EngineError, LocalSettings
from shotad.engines.local.loading import Kind, Loaded, Way, load_way, way_of, weight_bytes
from shotad.engines.local.memory import MachineMeter, Meter, empty_cache, is_out_of_memory
from shotad.engines.local.names import ModelPlace

_ROOM = 1 << 30
"""Bytes that a model needs to work, besides a tenth of its weights. Too little is no harm: where memory
runs out at work, the others are put away then (`Shelf.keep_only`)."""


class Shelf:
    """Loaded models by the way they are loaded, that used longest ago first. Threads may share it."""

    def __init__(
        self,
        meter: Meter | None = None,
        read: Callable[[Way], Loaded] = load_way,
        size: Callable[[Way], int] = weight_bytes,
    ) -> None:
        self._meter = meter or MachineMeter()
        self._read = read
        self._size = size
        self._loaded: dict[Way, Loaded] = {}
        self._lock = threading.RLock()

    @property
    def labels(self) -> tuple[str, ...]:
        """What stands here, that used longest ago first."""
        return tuple(loaded.label for loaded in self._loaded.values())

    def take(self, place: ModelPlace, kind: Kind, compute: ComputeSettings, local: LocalSettings) -> Loaded:
        """The model, loaded at its first use.

        Raises what `way_of` and `load_way` raise, and EngineError where it does not fit even alone.
        """
        way = way_of(place, kind, compute, local)
        with self._lock:
            found = self._loaded.pop(way, None) or self._brought(way)
            self._loaded[way] = found
            return found

    @contextmanager
    def lent(
        self, place: ModelPlace, kind: Kind, compute: ComputeSettings, local: LocalSettings
    ) -> Iterator[Loaded]:
        """The model for the time of a block, in which no other thread uses or changes the shelf."""
        with self._lock:
            yield self.take(place, kind, compute, local)

    def keep_only(self, loaded: Loaded) -> None:
        """Put away all others, and give back what torch keeps of freed tensors."""
        with self._lock:
            for way in [way for way, one in self._loaded.items() if one is not loaded]:
                self._put_away(way)
            empty_cache()

    def clear(self) -> None:
        """Put away all."""
        with self._lock:
            for way in list(self._loaded):
                self._put_away(way)
            empty_cache()

    def _put_away(self, way: Way) -> None:
        # Whoever has a reference left (a thread that is about to let go of it) must not keep the memory.
        self._loaded.pop(way).model = None

    def _brought(self, way: Way) -> Loaded:
        self._make_room(way)
        for last in (False, True):
            try:
                return self._read(way)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
            # Outside the except block: a caught error keeps its frames, and with them what was read.
            if last or not self._loaded:
                break
            self.clear()
        self.clear()
        raise EngineError(
            f"The model {way.place.label} does not fit into the memory of {way.device} "
            f"(its weights alone take about {self._size(way) / 1e9:.1f} GB in {way.precision}).",
            "Name a smaller model, set local.quantise to 4bit (CUDA), or compute.device to cpu.",
        )

    def _make_room(self, way: Way) -> None:
        if not self._loaded:
            return
        wanted = int(self._size(way) * 1.1) + _ROOM
        while self._loaded and (free := self._meter.free(way.device)) is not None and free < wanted:
            oldest = next((one for one in self._loaded if one.device.type == way.device.type), None)
            if oldest is None:
                return
            self._put_away(oldest)
            empty_cache()


SHELF = Shelf()
"""That of this process."""

take = SHELF.take
lent = SHELF.lent
keep_only = SHELF.keep_only
