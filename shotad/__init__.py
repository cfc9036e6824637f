"""shotad: audio description for films, shot by shot. docs/python.md shows how these functions are used."""

import logging

import lazy_loader

# A library's log is shown where the program wants it, and nowhere else (docs/python.md).
logging.getLogger(__name__).addHandler(logging.NullHandler())

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
