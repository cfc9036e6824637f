"""Lines are spoken, fitted to their slots, mixed with the film's sound, and muxed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
