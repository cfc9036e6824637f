"""From a film to its lines: prepare, clips, Stage I, Stage II, checks, redo, translation, worksheet."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
