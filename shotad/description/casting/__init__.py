"""Beside the run: the people of a film, found for a new cast; and in it: those of a cast, recognised."""
