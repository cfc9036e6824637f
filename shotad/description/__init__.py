"""From a film to its lines; `pipeline` is the whole run, and its modules stand beside it here.

What is around the run has a folder each: `linting`, `translation`, `casting` and `worksheet`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
