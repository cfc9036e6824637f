"""Engines whose models run on this machine, through transformers."""
