"""MAD-Eval's character bank, a pickle of pandas' frames, read without running it and without pandas."""

from __future__ import annotations

import builtins
import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from shotad.core.errors import CastError
from shotad.sight import load_cast, read_films_of_bank
from tests.sight.bankpickles import CAST, PICKLES


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    return tmp_path / "madeval_charbank.pkl"


@pytest.mark.parametrize("writer", PICKLES, ids=str)
def test_what_pandas_wrote_is_read(bank: Path, writer: tuple[str, int]) -> None:
    bank.write_bytes(PICKLES[writer])
    assert read_films_of_bank(bank) == CAST
    cast = load_cast(bank, key="1005_Signs")
    assert [(member.id, member.name) for member in cast.members] == [
        ("nm0000154", "Graham Hess"), ("nm0001618", "Merrill Hess"),
    ]  # fmt: skip
    with pytest.raises(CastError, match="has no film '1006_Sings'"):
        load_cast(bank, key="1006_Sings")


class Trap:
    """Calls a function where a pickle of it is loaded."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("protocol", range(2, 6))
def test_nothing_that_a_pickle_names_is_called(bank: Path, protocol: int) -> None:
    mark = bank.with_name("called")
    traps = {
        "os": Trap(os.mkdir, str(mark)),
        "builtins": Trap(builtins.exec, f"open({str(mark)!r}, 'w')"),
        "in a frame": {"1005_Signs": [Trap(os.mkdir, str(mark))]},
    }
    for trap in traps.values():
        bank.write_bytes(pickle.dumps({"1005_Signs": trap}, protocol))
        with pytest.raises(
            CastError, match=r"it names (posix|nt|builtins|__builtin__)\.(mkdir|exec), which a frame"
        ):
            read_films_of_bank(bank)
        assert not mark.exists()


def test_functions_of_numpy_are_not_called_either(bank: Path) -> None:
    numpy = pytest.importorskip("numpy")
    mark = bank.with_name("called")
    bank.write_bytes(pickle.dumps({"1005_Signs": Trap(numpy.save, str(mark), [1])}))
    with pytest.raises(CastError, match="no frame with charbank_nmids"):
        read_films_of_bank(bank)
    assert list(bank.parent.iterdir()) == [bank]


@pytest.mark.parametrize("size", [0, 1, 5, 100, 700, -1])
def test_a_file_that_is_cut_off_is_refused(bank: Path, size: int) -> None:
    bank.write_bytes(PICKLES["1.5.3", 4][:size])
    with pytest.raises(CastError, match=r"madeval_charbank\.pkl is not read"):
        read_films_of_bank(bank)


@pytest.mark.parametrize(
    "content", [[], {}, {"1005_Signs": {"charbank_nmids": 1}}, {"1005_Signs": None}, "text", 7]
)
def test_a_pickle_of_something_else_is_refused(bank: Path, content: Any) -> None:
    bank.write_bytes(pickle.dumps(content))
    with pytest.raises(CastError, match=r"madeval_charbank\.pkl"):
        read_films_of_bank(bank)


def test_changed_bytes_are_an_error_of_the_bank_or_another_text(bank: Path) -> None:
    """Whatever a byte is changed into: no other error comes, and nothing is called."""
    whole = PICKLES["1.5.3", 4]
    for place in range(0, len(whole), 3):
        for value in (0, 0x2E, 0x52, 0x81, 0xFF):
            bank.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
            with suppress(CastError):
                assert all(isinstance(cast, list) for cast in read_films_of_bank(bank).values())
