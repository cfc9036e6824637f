"""Which requests go through a model together, and what happens where they do not fit.

Pure: what memory is and how it runs out is told by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def groups(lengths: Sequence[int], answer: int, tokens: int, most: int) -> list[list[int]]:
    """Indices of ``lengths`` in groups of like length, the longest first (as lm-evaluation-harness has it:
    memory that will run out does so at once).

    All of a group are padded to its longest; that and ``answer`` more tokens each, times their number, is
    at most ``tokens``, and their number at most ``most``. One that alone is above ``tokens`` is alone.

    >>> groups([5, 90, 6, 80], answer=10, tokens=200, most=8)
    [[1, 3], [2, 0]]
    """
    found: list[list[int]] = []
    room = 0
    for index in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if not found or len(found[-1]) >= room:
            found.append([])
            room = min(most, max(1, tokens // max(1, lengths[index] + answer)))
        found[-1].append(index)
    return found


def in_groups(
    items: Sequence[_Item],
    work: Callable[[list[_Item]], list[_Result]],
    is_out_of_memory: Callable[[Exception], bool],
    failed: Callable[[_Item, str], _Result],
    relieve: Callable[[list[_Item]], None] = lambda _: None,
) -> list[_Result]:
    """``work(items)``, in halves where memory runs out; a result for each item, in order.

    ``relieve(items)`` is called after each time that memory ran out, to free what can be freed. What does
    not fit alone is tried once more after that, then becomes ``failed(item, why)``. Other exceptions pass.
    """
    for last in (False, True) if len(items) == 1 else (True,):
        try:
            return work(list(items))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            why = str(error).partition("\n")[0]
        # Outside the except block: a caught error keeps its frames, and with them their tensors.
        relieve(list(items))
        if last and len(items) == 1:
            return [failed(items[0], why)]
    middle = (len(items) + 1) // 2
    halves = (items[:middle], items[middle:])
    return [result for half in halves for result in in_groups(half, work, is_out_of_memory, failed, relieve)]
