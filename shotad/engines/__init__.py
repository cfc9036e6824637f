"""Who is asked: small rules and networks of our own, local models, servers, a fake for tests."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
