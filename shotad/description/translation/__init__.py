"""Beside the run: a track in another language, line by line."""
