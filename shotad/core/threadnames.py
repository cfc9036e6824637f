"""Threads are named by letters, as the columns of a spreadsheet are: A to Z, then AA, AB …"""

from __future__ import annotations


def thread_name(number: int) -> str:
    """Letters of thread ``number``, from 0: ``0 → A``, ``25 → Z``, ``26 → AA``."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def thread_number(name: str) -> int:
    """Place of a thread's letters in their order: ``A → 0``, ``Z → 25``, ``AA → 26``.

    Raises ValueError for anything but capitals from A to Z.
    """
    if not name or not all("A" <= letter <= "Z" for letter in name):
        raise ValueError(f"a thread is named by capitals A to Z, got {name!r}")
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
