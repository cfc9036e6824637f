"""Engines as judges: what is asked of them, how their answers are read, and the metrics made of these."""
