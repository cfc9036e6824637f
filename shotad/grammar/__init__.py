"""Film grammar: features of shots, threads, shot scale, and training its classifier."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
