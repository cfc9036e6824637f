"""shotad: audio description for films, shot by shot."""

__version__ = "0.1.0"
__all__ = ["__version__"]
