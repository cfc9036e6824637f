"""The folder with a small film in which the tests of the Python interface run."""

from __future__ import annotations

from tests.test_python_interface import here

__all__ = ["here"]
