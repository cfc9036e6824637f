"""shotad: audio description for films, shot by shot. docs/python.md shows how these functions are used."""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
