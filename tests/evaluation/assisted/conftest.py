"""The fixture ``shotad``, as for all commands."""

from tests.cli.conftest import shotad

__all__ = ["shotad"]
