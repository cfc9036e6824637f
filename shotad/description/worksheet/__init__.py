"""Beside the run: the worksheet, which shows a describer each slot with all that was measured."""
