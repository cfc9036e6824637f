"""What the frames show: text, people, objects, faces, and whose they are (the cast)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
