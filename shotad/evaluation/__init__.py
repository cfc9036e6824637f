"""Datasets, predictions, metrics, judges and reports."""
