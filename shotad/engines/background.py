"""Calls in other threads, which the program's end does not wait for.

Those of a `concurrent.futures` pool are joined when the program ends: after an interruption it would last
until a server has answered, or has kept silent for as long as it may.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def in_order(work: Callable[[_Item], _Result], items: Sequence[_Item], number: int) -> list[_Result]:
    """The result of each item, in order; up to ``number`` are worked on at once.

    After an exception no further item is begun; it is raised when those under way have ended. After an
    interruption nothing is waited for.
    """
    found: list[Future[_Result]] = [Future() for _ in items]
    left = deque(zip(found, items, strict=True))

    def work_through() -> None:
        while left:
            try:
                result, item = left.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                result.set_result(work(item))
            except BaseException as error:  # noqa: BLE001  handed over to who waits
                left.clear()
                result.set_exception(error)

    threads = [
        threading.Thread(target=work_through, name="asking", daemon=True)
        for _ in range(min(number, len(items)))
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:
        left.clear()
    for result in found:
        # What was not begun after an exception has no result, and waits for none.
        if result.done():
            result.result()
    return [result.result() for result in found]
