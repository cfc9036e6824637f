"""The character bank of MAD-Eval as AutoAD-Zero and Shot-by-Shot publish it: a pickle of pandas' frames.

A pickle is a program: ``pickle.load`` calls whatever it names. Here nothing is looked up and nothing called:
each name of pandas, of numpy, and of the few others that frames need stands for a class of `_Record`, which
only keeps what it is given. Any other name ends the reading. So neither pandas nor the version that wrote the
file is needed. The layout of the records is that of pandas 0.25 to 2.2, and of 3 where texts are objects
(``BlockManager.__reduce__`` and ``__setstate__`` in pandas/_libs/internals.pyx; before 1.3
``__getstate__`` in pandas/core/internals/managers.py), and of numpy's ``ndarray.__reduce__``.

The published file is ``{film: frame}``; the first row of each frame has the film's cast, the actors' ids in
``charbank_nmids`` and their roles in ``charbank_roles`` (stage1/dataloader.py of Shot-by-Shot).
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from shotad.core.errors import CastError, quoted
from shotad.core.text_files import read_file_bytes

PICKLED = (".pkl", ".pickle")
"""Endings of the names of pickles."""

IDS, ROLES = "charbank_nmids", "charbank_roles"
"""Columns of the frames: the ids and the roles of a film's cast, a list in each cell."""

_LIBRARIES = ("pandas", "numpy")
_OTHER_NAMES = {
    "builtins.slice", "__builtin__.slice", "builtins.bytearray", "__builtin__.bytearray", "_codecs.encode",
}  # fmt: skip
"""What frames of plain values name beside the two libraries; ``__builtin__`` in protocols before 3."""


class _Record:
    """Stands for an object of a pickle: keeps what it was made of (``args``) and its ``state``."""

    name = ""
    """The class or function that the pickle names."""
    args: tuple[Any, ...]
    state: Any

    def __new__(cls, *args: Any) -> Self:
        record = super().__new__(cls)
        record.args, record.state = args, None
        return record

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Unpickler(pickle.Unpickler):
    """Reads a pickle into `_Record`, and looks nothing up."""

    def find_class(self, module: str, name: str) -> type[_Record]:
        full_name = f"{module}.{name}"
        if module.partition(".")[0] not in _LIBRARIES and full_name not in _OTHER_NAMES:
            raise pickle.UnpicklingError(f"it names {full_name}, which a frame of plain values does not need")
        # A class, for pickles make objects of classes in another way than they call functions.
        return type("_Record", (_Record,), {"name": full_name})

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it names objects outside of the file")


def read_pickled_bank(path: Path) -> dict[str, list[dict[str, str]]]:
    """``{film: [{"id": …, "role": …}, …]}``, in the order of each cast. Nothing in the file is executed.

    Raises CastError for a file that is no such bank, and for one that names anything but frames.
    """
    data = read_file_bytes(path, "cast", CastError)
    try:
        films = _Unpickler(io.BytesIO(data)).load()
    except Exception as error:  # noqa: BLE001  the machine of pickle raises any error for a damaged file
        raise CastError(
            f"The bank {path} is not read: {error}.",
            f"Take the file as published. {_AS_JSON}",
        ) from None
    if not isinstance(films, Mapping) or not films:
        raise CastError(f"The bank {path} holds no films by name.", f"Is it the published file? {_AS_JSON}")
    return {str(film): _cast_of(frame, str(film), path) for film, frame in films.items()}


_AS_JSON = 'A bank may also be JSON: {"film": [{"id": "nm…", "role": "…"}]}.'


def _cast_of(frame: Any, film: str, path: Path) -> list[dict[str, str]]:
    try:
        cells = _first_cells(frame, (IDS, ROLES))
        ids, roles = _texts(cells[IDS]), _texts(cells[ROLES])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise CastError(
            f"The bank {path} has no frame with {IDS} and {ROLES} for the film {quoted(film)} "
            f"({type(error).__name__}: {error}).",
            f"Is it the published file? {_AS_JSON}",
        ) from None
    if len(ids) != len(roles):
        message = f"The bank {path}, film {quoted(film)}: {len(ids)} ids and {len(roles)} roles."
        raise CastError(message, _AS_JSON)
    return [{"id": actor, "role": role} for actor, role in zip(ids, roles, strict=True)]


def _first_cells(frame: _Record, columns: Sequence[str]) -> dict[str, Any]:
    """The cells of these columns in the first row. Raises KeyError and others for what is no such frame."""
    manager = frame.state["_mgr"] if "_mgr" in frame.state else frame.state["_data"]
    if manager.args:
        # pandas 1.3 and later: BlockManager((_unpickle_block(values, places, ndim), …), axes)
        blocks, axes = manager.args
        parts = [block.args[:2] for block in blocks]
    else:
        # Before: a state whose last part holds the others again, by name.
        whole = manager.state[3]["0.14.1"]
        axes = whole["axes"]
        parts = [(block["values"], block["mgr_locs"]) for block in whole["blocks"]]
    # The axis of the columns: _new_Index(class, {"data": names, …})
    names = _items(axes[0].args[1]["data"])
    cells = {}
    for values, places in parts:
        for row, place in enumerate(_places(places)):
            # Other blocks may hold numbers, which nobody asks for.
            if names[place] in columns:
                cells[names[place]] = _row(values, row)[0]
    return cells


def _places(places: _Record) -> list[int]:
    """The columns that a block holds: slice(first, end, step), or an array of whole numbers."""
    if places.name.endswith(".slice"):
        first, end, step = places.args
        return list(range(first, end, 1 if step is None else step))
    return _items(places)


def _row(array: _Record, row: int) -> list[Any]:
    """A row of a two-dimensional array of objects."""
    (height, width), is_fortran = array.state[1], array.state[3]
    items = _items(array)
    return items[row::height] if is_fortran else items[row * width : (row + 1) * width]


def _items(array: Any) -> list[Any]:
    """All items of a list, or of an array of objects, of texts or of whole numbers, as they are stored."""
    if isinstance(array, list | tuple):
        return list(array)
    if array.name.endswith("._frombuffer"):
        # Protocol 5: _frombuffer(bytes, dtype, shape, order)
        content, dtype = array.args[:2]
    else:
        _version, _shape, dtype, _is_fortran, content = array.state
    if isinstance(content, list):
        return content
    data, kind = _bytes(content), str(dtype.args[0])
    if kind == "i8":
        return [int.from_bytes(data[at : at + 8], "little", signed=True) for at in range(0, len(data), 8)]
    if kind[0] == "U":
        # Texts of one length, filled up with zeros, 4 bytes a letter
        size = 4 * int(kind[1:])
        return [data[at : at + size].decode("utf-32-le").rstrip("\0") for at in range(0, len(data), size)]
    raise ValueError(f"an array of {quoted(kind)} where texts or whole numbers are expected")


def _bytes(content: Any) -> bytes:
    """Bytes, which pickles also write as bytearray(bytes) or, in protocol 2, as encode(letters, "latin1")."""
    if isinstance(content, _Record):
        inner = content.args[0]
        return inner.encode("latin-1") if isinstance(inner, str) else _bytes(inner)
    return bytes(content)


def _texts(cell: Any) -> list[str]:
    """The texts of a cell with a list. Raises TypeError for other values."""
    values = _items(cell)
    if not all(isinstance(value, str) for value in values):
        raise TypeError("a value is no text")
    return [" ".join(value.split()) for value in values]
