"""The track and its cues, edits, script formats, guidelines, and the English that lines are made of."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
