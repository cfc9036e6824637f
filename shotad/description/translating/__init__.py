"""A track in another language."""
